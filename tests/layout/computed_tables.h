/* Computed layouts: what else reads tables, and tables by hand. */
#ifndef HARRAY_TESTS_LAYOUT_COMPUTED_TABLES_H
#define HARRAY_TESTS_LAYOUT_COMPUTED_TABLES_H

#include "computed_memory.h"

/* ---- what else reads tables ------------------------------------------------------------------ */

static char *text_of(const ha_mapping *m, const int64_t *index) {
    const int64_t length = index ? ha_mapping_json(m, index, NULL, 0) : ha_mapping_svg(m, NULL, 0);
    char *text = (char *)malloc((size_t)length + 1);
    assert_int_equal(index ? ha_mapping_json(m, index, text, (size_t)length + 1)
                           : ha_mapping_svg(m, text, (size_t)length + 1),
                     length);
    assert_int_equal(strlen(text), length);
    return text;
}

static void test_json(void **state) {
    (void)state;
    static const struct {
        const char *record, *layout, *fields;
    } cases[] = {
        {"x:i32 y:bool", "bitint(3; aos)",
         "{\"name\": \"x\", \"type\": \"i32\", \"blob\": 0, \"bit_offset\": 30, \"bits\": 3}, "
         "{\"name\": \"y\", \"type\": \"bool\", \"blob\": 0, \"bit_offset\": 33, \"bits\": 3}]}"},
        {"x:f64", "changetype(x:f32; bitfloat(5,10; soa))",
         "{\"name\": \"x\", \"type\": \"f64\", \"blob\": 0, \"bit_offset\": 80, \"stored\": "
         "\"f32\", "
         "\"bits\": 16, \"exponent\": 5, \"mantissa\": 10}]}"},
        {"x:u16 y:f64", "byteswap(split(separate; x: bytesplit(soa), changetype(y:f32; aos)))",
         "{\"name\": \"x\", \"type\": \"u16\", \"blob\": null, \"offset\": null, \"bytes\": "
         "[{\"blob\": 0, \"offset\": 5}, {\"blob\": 1, \"offset\": 5}], \"swapped\": true}, "
         "{\"name\": \"y\", \"type\": \"f64\", \"blob\": 2, \"offset\": 20, \"stored\": \"f32\", "
         "\"swapped\": true}]}"},
        {"x:u16", "byteswap(null)",
         "{\"name\": \"x\", \"type\": \"u16\", \"blob\": null, \"offset\": null}]}"},
    };
    const int64_t n = 8, at = 5;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ha_record *r = ha_record_parse(cases[k].record, NULL);
        ha_mapping *m = ha_mapping_parse(r, cases[k].layout, 1, &n, NULL);
        char *text = text_of(m, &at);
        assert_string_equal(strstr(text, "\"fields\": [") + 11, cases[k].fields);
        assert_true(ha_mapping_device_text(m, "name", NULL, 0) > 0);
        free(text);
        ha_mapping_free(m);
        ha_record_free(r);
    }
}

static int count_of(const char *text, const char *what) {
    int n = 0;
    while ((text = strstr(text, what)) != NULL) {
        text++;
        n++;
    }
    return n;
}

/* Boxes of 3 bits are 5 or 6 wide, and have no name; of bytes 15. */
static void test_pictures(void **state) {
    (void)state;
    static const struct {
        const char *layout, *box, *name;
        int boxes;
    } cases[] = {
        {"bitint(3; aos)", "<rect x=\"70\" y=\"60\" width=\"5\" height=\"34\" fill=\"#ffd9a0\"",
         "pos", 20},
        {"bitint(9; soa)", "<rect x=\"70\" y=\"60\" width=\"16\" height=\"34\" fill=\"#ffd9a0\"",
         ">x<", 20},
        {"bitint(5; aos)", "<rect x=\"79\" y=\"60\" width=\"9\" height=\"34\" fill=\"#9cc7e8\"",
         ">y 0<", 20},
        {"bytesplit(aos)", "<rect x=\"130\" y=\"60\" width=\"15\" height=\"34\" fill=\"#9cc7e8\"",
         ">y:0<", 60},
        {"changetype(x:i16; soa)", "<rect x=\"70\" y=\"60\" width=\"30\" height=\"34\"", ">x<", 20},
    };
    const int64_t n = 10;
    ha_record *r = ha_record_parse("x:i32 y:u16", NULL);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ha_mapping *m = ha_mapping_parse(r, cases[k].layout, 1, &n, NULL);
        char *text = text_of(m, NULL);
        if (!strstr(text, cases[k].box)) fail_msg("%s: %s", cases[k].layout, text);
        assert_int_equal(strstr(text, cases[k].name) != NULL, cases[k].name[0] == '>');
        assert_int_equal(count_of(text, "stroke=\"#333\""), cases[k].boxes);
        free(text);
        ha_mapping_free(m);
    }
    ha_record_free(r);
}

static void test_run_of_bits(void **state) {
    (void)state;
    const int64_t n[] = {3, 7}, at[] = {1, 2};
    ha_record *r = ha_record_parse("x:i32 y:i32", NULL);
    ha_mapping *m = ha_mapping_parse(r, "bitint(5; aos)", 2, n, NULL);
    ha_run_of_values s;
    assert_int_equal(ha_mapping_run_of_values(m, 1, at, &s), HA_OK);
    assert_true(s.offset == 95 && s.stride == 10 && s.count == 5 && s.dimension == 1);
    ha_mapping_free(m);
    ha_record_free(r);
}

static void test_no_view(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"bitint(5; soa)", "x is stored as 5 bits: no view has it"},
        {"changetype(y:i8; soa)", "y is stored as i8: no view has it"},
        {"byteswap(aos)", "x is stored as i32, swapped: no view has it"},
        {"bytesplit(soa)", "x is stored as i32, byte by byte: no view has it"},
    };
    const int64_t n = 4;
    ha_record *r = ha_record_parse("x:i32 y:i32", NULL);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ha_mapping *m = ha_mapping_parse(r, cases[k][0], 1, &n, NULL);
        _Alignas(8) char place[8][64];
        void *blob[8];
        ha_matched_ matched;
        char *leaf[2];
        ptrdiff_t stride[4];
        ha_error e;
        for (int b = 0; b < 8; b++) blob[b] = place[b];
        assert_int_equal(ha_view_match_(m, blob, r, 1, -1, &matched, leaf, stride, &e),
                         HA_ERR_ARGUMENT);
        assert_string_equal(e.text, cases[k][1]);
        ha_mapping_free(m);
    }
    ha_record_free(r);
}

/* ---- tables by hand -------------------------------------------------------------------------- */

static void check_wrong(const ha_mapping *m, const char *why) {
    ha_error e;
    assert_int_equal(ha_mapping_check(m, &e), why ? HA_ERR_ARGUMENT : HA_OK);
    if (why && !strstr(e.text, why)) fail_msg("\"%s\" instead of \"%s\"", e.text, why);
}

static void test_wrong_codings(void **state) {
    (void)state;
    static const struct {
        ha_coding coding;
        const char *why;
    } wrong[] = {
        {{.stored = HA_DTYPE_NONE}, "a type that is none"},
        {{.stored = HA_DTYPE_float, .swapped = 2}, "cannot be swapped"},
        {{.stored = HA_DTYPE_uint8_t, .swapped = 1}, "cannot be swapped"},
        {{.stored = HA_DTYPE_float, .swapped = -1}, "cannot be swapped"},
        {{.stored = HA_DTYPE_float, .bits = 5, .exponent = 5, .mantissa = -1},
         "an exponent or a mantissa"},
        {{.stored = HA_DTYPE_int32_t, .bits = -1}, "a number of bits"},
        {{.stored = HA_DTYPE_int32_t, .bits = 65}, "a number of bits"},
        {{.stored = HA_DTYPE_float, .bits = 5, .exponent = 12}, "an exponent or a mantissa"},
        {{.stored = HA_DTYPE_float, .bits = 5, .exponent = -1}, "an exponent or a mantissa"},
        {{.stored = HA_DTYPE_float, .bits = 60, .exponent = 6, .mantissa = 53},
         "an exponent or a mantissa"},
        {{.stored = HA_DTYPE_float, .bits = 5, .mantissa = 4}, "an exponent or a mantissa"},
        {{.stored = HA_DTYPE_float, .bits = 5, .exponent = 3, .mantissa = 2},
         "an exponent or a mantissa"},
        {{.stored = HA_DTYPE_int32_t, .bits = 5, .exponent = 3, .mantissa = 1},
         "do not fit its type"},
        {{.stored = HA_DTYPE_float, .bits = 5}, "do not fit its type"},
        {{.stored = HA_DTYPE_c64, .bits = 5}, "do not fit its type"},
        {{.stored = HA_DTYPE_int32_t, .bits = 5, .swapped = 1}, "bits and something else"},
        {{.stored = HA_DTYPE_int16_t, .bits = 5, .bytes = 2}, "bits and something else"},
        {{.stored = HA_DTYPE_int32_t, .bytes = 2}, "bytes that do not exist"},
        {{.stored = HA_DTYPE_int16_t, .bytes = 2, .byte_row = -1}, "bytes that do not exist"},
        {{.stored = HA_DTYPE_int16_t, .bytes = 2, .byte_row = 2}, "bytes that do not exist"},
        {{.stored = HA_DTYPE_int16_t, .bytes = 2, .byte_row = 1}, "is not stored"},
        {{.stored = HA_DTYPE_c64}, "another type than a"},
        {{.stored = HA_DTYPE_int16_t, .bits = 9}, NULL},
        {{.stored = HA_DTYPE_float, .bits = 9, .exponent = 5, .mantissa = 3}, NULL},
    };
    const ha_row bytes[] = {
        {.lanes = 1, .block_stride = 1}, {.lanes = 1, .block_stride = 1}, {.lanes = 1, .blob = -1}};
    const ha_linearizer linear = {.rank = 1, .stride = {1}, .pad = 1, .count = 3};
    const ha_blob blob = {30, 1};
    ha_coding coding;
    ha_row row = {.lanes = 1, .block_stride = 9, .coding = 1};
    ha_record *r = ha_record_parse("a:i32", NULL);
    ha_mapping m = {.record = r,
                    .rank = 1,
                    .extent = {3, 1, 1, 1},
                    .blobs = 1,
                    .linearizers = 1,
                    .rows = 1,
                    .row = &row,
                    .linearizer = &linear,
                    .blob = &blob,
                    .coding = &coding,
                    .codings = 1,
                    .byte_row = bytes,
                    .byte_rows = 3};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        coding = wrong[k].coding;
        check_wrong(&m, wrong[k].why);
    }
    row.coding = 2;
    check_wrong(&m, "a coding that does not exist");
    row.coding = -1;
    check_wrong(&m, "a coding that does not exist");
    row.coding = 0;
    row.type = HA_DTYPE_float;
    check_wrong(&m, "another type than a");
    /* bits beside bits, and on them */
    row = (ha_row){.lanes = 1, .block_stride = 9, .coding = 1, .type = HA_DTYPE_int32_t};
    coding = (ha_coding){.stored = HA_DTYPE_int32_t, .bits = 10};
    check_wrong(&m, "values of a and of a overlap at byte 1");
    row.block_stride = 115;
    check_wrong(&m, NULL);
    row.base = 1;
    check_wrong(&m, "a takes bytes from 0 to 31 of blob 0, which has 30");
    row.block_stride = INT64_MAX / 2;
    check_wrong(&m, "overflow");
    ha_record_free(r);
}

/* Rows of bits, bytes and whole values in one blob. */
static void test_mixed_tables(void **state) {
    (void)state;
    const int64_t n = 5;
    ha_record *r = ha_record_parse("a:i32 b:i32 c:u16", NULL);
    ha_mapping *made = ha_mapping_parse(
        r, "split(a: bitint(6; aos), split(b: bytesplit(aos), byteswap(soa(single))))", 1, &n,
        NULL);
    assert_non_null(made);
    ha_row row[3] = {made->row[0], made->row[1], made->row[2]}, byte[4];
    ha_mapping m = *made;
    memcpy(byte, made->byte_row, sizeof byte);
    m.row = row;
    m.byte_row = byte;
    check_wrong(&m, NULL);
    row[2].base -= 1;
    check_wrong(&m, "values of b and of c overlap");
    row[2].base = INT64_MAX / 2;
    check_wrong(&m, "the addresses of c overflow");
    row[2] = made->row[2];
    row[2].lane_stride = INT64_MAX / 2;
    check_wrong(&m, "the addresses of c overflow");
    row[2] = made->row[2];
    row[2].block_stride = INT64_MAX / 2;
    check_wrong(&m, "the addresses of c overflow");
    row[2] = made->row[2];
    ha_blob blob = {INT64_MAX / 2, 8}; /* more bits than numbers count */
    m.blob = &blob;
    check_wrong(&m, NULL);
    m.blob = made->blob;
    byte[2].coding = 1;
    check_wrong(&m, "a byte of a value is not stored");
    byte[2].coding = 0;
    byte[1].base = INT64_MAX;
    check_wrong(&m, "the addresses of b overflow");
    byte[1] = made->byte_row[1];
    byte[3].base = 3;
    check_wrong(&m, "values of a and of b overlap at byte 3");
    byte[3].base = 30;
    check_wrong(&m, "b takes bytes");
    byte[3].lanes = 0;
    check_wrong(&m, "no lanes");
    ha_mapping_free(made);
    ha_record_free(r);
}

/* Trees beside bits: counted in bits, too. */
static void test_mixed_trees(void **state) {
    (void)state;
    const int64_t n = 5;
    ha_record *r = ha_record_parse("a:i32 b:i32 c:u16 d:u8", NULL);
    ha_mapping *made = ha_mapping_parse(
        r, "split(a: bitint(6; aos), split(b: tree(leafonly), tree(movedown(;2))))", 1, &n, NULL);
    assert_non_null(made);
    ha_row row[4];
    ha_mapping m = *made;
    memcpy(row, made->row, sizeof row);
    m.row = row;
    check_wrong(&m, NULL);
    row[1].lane_stride = 3; /* of a tree: the size of its values */
    check_wrong(&m, "a row is not where the tree has it");
    row[1] = made->row[1];
    row[1].base = 2; /* over the bits */
    check_wrong(&m, "values of a and of b overlap");
    row[1] = made->row[1];
    row[2].base = row[1].base; /* a tree over another */
    row[3].base = made->row[3].base + row[1].base - made->row[2].base;
    check_wrong(&m, "overlap");
    ha_mapping_free(made);
    ha_record_free(r);
}

#endif
