/* Mappings as JSON, pictures and device text: what stands in them, how they are cut where the
 * buffer ends, and when there are none. What device text does is shown by test_layout_text. */
#include "../support/layout_memory.h"
#include "../../layout.h"

#include <setjmp.h>
#include <cmocka.h>

typedef int64_t (*writer)(const ha_mapping *m, char *buffer, size_t size);

static int64_t as_json(const ha_mapping *m, char *buffer, size_t size) {
    return ha_mapping_json(m, NULL, buffer, size);
}
static int64_t as_text(const ha_mapping *m, char *buffer, size_t size) {
    return ha_mapping_device_text(m, "sky", buffer, size);
}

static ha_mapping *mapping(const char *record, const char *layout, int rank, const int64_t *extent,
                           ha_record **r) {
    ha_error e;
    *r = ha_record_parse(record, &e);
    if (!*r) fail_msg("%s", e.text);
    ha_mapping *m = ha_mapping_parse(*r, layout, rank, extent, &e);
    if (!m) fail_msg("%s", e.text);
    return m;
}

/* The whole text, to be freed; cut ones are its beginnings. */
static char *whole(writer write, const ha_mapping *m) {
    const int64_t length = write(m, NULL, 0);
    assert_true(length > 0);
    char *text = (char *)malloc((size_t)length + 1), *cut = (char *)malloc((size_t)length + 1);
    assert_int_equal(write(m, text, (size_t)length + 1), length);
    assert_int_equal(strlen(text), length);
    for (size_t size = 1; size <= (size_t)length; size += (size_t)length / 3 + 1) {
        memset(cut, 'x', (size_t)length + 1);
        assert_int_equal(write(m, cut, size), length);
        assert_int_equal(strlen(cut), size - 1);
        assert_memory_equal(cut, text, size - 1);
        assert_true(cut[size] == 'x');
    }
    free(cut);
    return text;
}

static int count_of(const char *text, const char *what) {
    int n = 0;
    for (; *text; text++) n += *text == *what && !strncmp(text, what, strlen(what));
    return n;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void test_json(void **state) {
    (void)state;
    const int64_t extent[] = {3, 5}, at[] = {2, 1}, wrong[] = {2, 5}, negative[] = {-1, 0};
    ha_record *r;
    ha_mapping *m = mapping("p[2].x:f64 m:bf16", "split(p[0]: null, soa)", 2, extent, &r);
    char text[400];
    const int64_t n = ha_mapping_json(m, at, text, sizeof text);
    assert_string_equal(text,
                        "{\"mapping\": \"split(p[0]: null, soa)\", \"extents\": [3, 5], "
                        "\"blobs\": [120, 30], \"fields\": ["
                        "{\"name\": \"p[0].x\", \"type\": \"f64\", \"blob\": null, \"offset\": "
                        "null}, {\"name\": \"p[1].x\", \"type\": \"f64\", \"blob\": 0, "
                        "\"offset\": 88}, {\"name\": \"m\", \"type\": \"bf16\", \"blob\": 1, "
                        "\"offset\": 22}]}");
    assert_int_equal(n, strlen(text));
    assert_int_equal(ha_mapping_json(m, wrong, text, sizeof text), -1);
    assert_int_equal(ha_mapping_json(m, negative, text, sizeof text), -1);
    free(whole(as_json, m));
    ha_mapping_free(m);
    ha_record_free(r);
}

/* ---- pictures -------------------------------------------------------------------------------- */

static char *picture(const char *record, const char *layout, int rank, const int64_t *extent) {
    ha_record *r;
    ha_mapping *m = mapping(record, layout, rank, extent, &r);
    char *text = whole(ha_mapping_svg, m);
    assert_memory_equal(text, "<svg xmlns=", 11);
    assert_string_equal(text + strlen(text) - 7, "</svg>\n");
    assert_int_equal(count_of(text, "<text"), count_of(text, "</text>"));
    ha_mapping_free(m);
    ha_record_free(r);
    return text;
}

static void check_picture(const char *layout, const char *record, int rank, const int64_t *extent,
                          int lines, const char *const *contains) {
    char *text = picture(record, layout, rank, extent);
    assert_int_equal(count_of(text, "stroke-dasharray"), lines);
    for (; *contains; contains++)
        if (!strstr(text, *contains)) fail_msg("%s has no %s", layout, *contains);
    free(text);
}

static void test_pictures(void **state) {
    (void)state;
    const int64_t line[] = {40}, plane[] = {16, 16}, box[] = {2, 3, 4}, nothing[] = {0, 3};
    const int64_t four[] = {2, 2, 2, 2};
    /* 16 records of 16 bytes in 4 lines; the second field is hatched */
    check_picture(
        "aos", "a:f64 b:f32", 1, line, 4,
        (const char *[]){">aos, extents 40<", ">blob 0: 640 bytes<", ">192<",
                         "<rect x=\"70\" y=\"60\" width=\"120\" height=\"34\" fill=\"#ffd9a0\"",
                         "fill=\"url(#p1)\"", ">15<", NULL});
    /* what lies beside the first records is shown, too: all 40 in the one line of flags */
    check_picture("soa", "a:f64 b:bool", 1, line, 3,
                  (const char *[]){"blob 1: 40 bytes", ">39</tspan>", NULL});
    /* eight of the 16 values of each column: a gap after each line */
    check_picture("soa(single)@col", "x[1]:c128", 2, plane, 4,
                  (const char *[]){"\xe2\x80\xa6", ">x[0]<", ">3,1<", "16 \xc3\x97 16<", NULL});
    /* a value that goes over the end of a line is in both; the end of the blob is the end of its line */
    check_picture("aos(packed)", "a:f64 b:u8 c:f64", 3, box, 4,
                  (const char *[]){">0,0,3<", "408 bytes<", NULL});
    check_picture("one", "a:f64 b:bool", 4, four, 1, (const char *[]){">all<", NULL});
    check_picture("null", "a:f64", 1, line, 0, (const char *[]){">null, extents 40<", NULL});
    check_picture("aos", "a:f64", 2, nothing, 0, (const char *[]){"extents 0 ", NULL});
}

/* Names that are too long are shortened from the left; no more lines than there is room for. */
static void test_large_pictures(void **state) {
    (void)state;
    const int64_t line[] = {100000};
    char *text = picture("a_name_that_is_much_longer_than_a_box[64]:u8 long_also_here:f64", "soa",
                         1, line);
    assert_non_null(strstr(text, ">a_box[63]<"));
    assert_non_null(strstr(text, ">long_also_here<"));
    free(text);
    text = picture("a[600]:f64", "soa", 1, line);
    assert_int_equal(count_of(text, "stroke-dasharray"), HA_SVG_LINES);
    free(text);
    text = picture("a[300]:u8", "soa", 1, line);
    assert_int_equal(count_of(text, "<tspan"), HA_SVG_VALUES);
    free(text);
}

/* Wherever memory is left out, and at the end where values are, there is a sign for that. */
static void check_cut(const char *record, const char *layout, int rank, const int64_t *extent,
                      int signs) {
    char *text = picture(record, layout, rank, extent);
    assert_int_equal(count_of(text, "\xe2\x80\xa6"), signs);
    free(text);
}

static void test_cut_pictures(void **state) {
    (void)state;
    const int64_t few[] = {4}, some[] = {40}, many[] = {100000}, plane[] = {16, 16}, none[] = {0};
    check_cut("a:f64 b:f32", "aos", 1, few, 0);
    check_cut("a:f64 b:f32", "soa", 1, few, 0);
    check_cut("a:f64 b:f32", "aos", 1, none, 0);
    check_cut("a:f64 b:bool", "one", 1, some, 0);
    check_cut("a:f64 b:f32", "aos", 1, some, 1);  /* 4 lines of 10 */
    check_cut("a:f64 b:bool", "soa", 1, some, 1); /* 2 of 5, and 1 of 1 */
    check_cut("a:c128", "soa@col", 2, plane, 4);  /* lines 0, 4, 8 and 12 of 64 */
    check_cut("a:f64 b:f64", "permute(1,0,split(a: soa, soa))", 2, plane, 4 + 4);
    check_cut("a[600]:f64", "soa", 1, many, 512 + 1); /* each blob that is shown, and the others */
    check_cut("a[300]:u8", "soa", 1, (const int64_t[]){64}, 1); /* not all values */
}

/* ---- device text ----------------------------------------------------------------------------- */

static void check_text(const char *record, const char *layout, int rank,
                       const char *const *contains) {
    const int64_t extent[] = {1, 1, 1};
    ha_record *r;
    ha_mapping *m = mapping(record, layout, rank, extent, &r);
    char *text = whole(as_text, m);
    for (; *contains; contains++)
        if (!strstr(text, *contains)) fail_msg("not there: %s in\n%s", *contains, text);
    free(text);
    ha_mapping_free(m);
    ha_record_free(r);
}

static void test_device_text(void **state) {
    (void)state;
    check_text("a[2].b:f64 c:c64", "aosoa(8,rows)", 2,
               (const char *[]){"    return (i0 * ((n1 + 7) / 8 * 8) + i1);\n",
                                "#define sky_a_1_b_blob 0\n",
                                "sky_FN double sky_a_1_b_get(const sky_GLOBAL unsigned char *blob, "
                                "sky_int i0, sky_int i1, sky_int n0, sky_int n1) {\n",
                                "+ 64 + linear / 8 * 192 + linear % 8 * 8;\n",
                                "typedef struct ha_c64 { float re, im; } ha_c64;\n", NULL});
}

static void test_device_parts(void **state) {
    (void)state;
    check_text("a:u8 b:f64 z:c128", "split(a: soa(single), aos)", 1,
               (const char *[]){"    return (sky_end_0(n0) + 7) / 8 * 8;\n",
                                "    return sky_start_1(n0) + (sky_count_0(n0) + 0) / 1 * 24;\n",
                                "typedef struct ha_c128 { double re, im; } ha_c128;\n",
                                "sky_blob_bytes_0(sky_int n0) {\n    return sky_end_1(n0);\n",
                                "#define sky_BLOB_BYTES_0 32\n", "#ifndef sky_GLOBAL\n", NULL});
    check_text("a:i64 b:i32 c:u32 d:u64", "one(packed)@morton", 3,
               (const char *[]){"    return sky_start_0(n0, n1, n2) + 16;\n",
                                "linear |= (i0 >> b & 1) << (b * 3 + 2) | (i1 >> b & 1)",
                                "    return n0 > 0 && n1 > 0 && n2 > 0 ? count : 0;\n", NULL});
    check_text("a:i16 b:bool c:i8 d:u8 e:bf16", "split(a+d: null, soa)", 1,
               (const char *[]){"#define sky_a_blob -1\n", "    short nothing = 0;\n", NULL});
    check_text("a:f64 b:c64 m:f32", "permute(1,0, split(b: null, aos(packed)@morton))", 2,
               (const char *[]){"ha_c64 nothing = {0, 0};\n",
                                "for (int b = 0; b < 8; b++) to[b] = from[b];\n", NULL});
}

/* What is not stored as it is: test_layout_text runs it. */
static void test_device_values(void **state) {
    (void)state;
    check_text("a:f64 z:c64 d:u8", "byteswap(bytesplit(soa))", 1,
               (const char *[]){"#define sky_a_blob_3 3\n", "sky_int sky_a_offset_3(sky_int i0, ",
                                "double sky_a_get(const sky_GLOBAL unsigned char *byte0, ",
                                "    to[4] = byte3[sky_a_offset_3(i0, n0)];\n",
                                "    to[6] = byte5[sky_z_offset_5(i0, n0)];\n",
                                "    byte5[sky_z_offset_5(i0, n0)] = from[6];\n",
                                "sky_d_get(const sky_GLOBAL unsigned char *blob, ", NULL});
    check_text("a:f32 b:i16", "changetype(f32:i8; bytesplit(soa(single)))", 1,
               (const char *[]){"x = sky_of_integer(x, (int)(x >> 63), 8, 23);\n",
                                "        x = sky_widened(x, 8, 23);\n",
                                "        x = sky_whole(x, (sky_unsigned)1 << 7, ~(sky_unsigned)0 "
                                ">> 57);\n",
                                "    float f4[2];\n}", /* and no double */
                                "    to[1] = blob[sky_b_offset_1(i0, n0)];\n", NULL});
    check_text("a:f64 b:u8 c:bool d:f16 e:bool",
               "changetype(f64:bool, u8:u64, bool:f64; byteswap(aos))", 1,
               (const char *[]){"    double f8[2];\n", "x = x << 1 != 0;\n",
                                "        x = x != 0;\n", "        made.i8[0] = x;\n", "from[b ^ 7]",
                                "        x = sky_kept(x, 0, 0, ~(sky_unsigned)0 >> 0);\n", NULL});
    check_text("z:c128", "changetype(c128:c64; aos)", 1,
               (const char *[]){"        stored.i4[1] = (unsigned int)x;\n",
                                "    value.im = made.f8[1];\n", "    given.f8[1] = value.im;\n",
                                "x = sky_narrowed(x, 8, 23);\n", NULL});
    check_text("a:f32", "bitfloat(11,3; aos)", 1,
               (const char *[]){"x = sky_cut(x, 11, 52, 11, 3);\n",
                                "x = sky_uncut(x, 11, 52, 11, 3);\n", NULL});
    check_text("a:f16", "bitfloat(2,3; aos)", 1,
               (const char *[]){"x = sky_cut(x, 5, 10, 2, 3);\n", "given.i2[0] = value;\n", NULL});
    check_text("a:i8 b:u16 c:bool", "bitint(20; soa)", 1,
               (const char *[]){"x = x << 56 >> 56;\n", "x = x << 48 >> 48;\n",
                                "x = x << 44 >> 44;\n", "x = (x & (((sky_unsigned)1 << 19) - 1))",
                                NULL});
}

static void test_no_bytes_device_text(void **state) {
    (void)state;
    const int64_t extent[] = {1};
    ha_record *r;
    ha_mapping *m = mapping("a:i16", "bytesplit(aos)", 1, extent, &r);
    ha_row byte[2];
    ha_mapping other = *m;
    memcpy(byte, m->byte_row, sizeof byte);
    byte[1].section = -1;
    other.byte_row = byte;
    assert_int_equal(ha_mapping_device_text(&other, "sky", NULL, 0), -1);
    ha_mapping_free(m);
    ha_record_free(r);
}

static void check_no_text(const char *record, const char *name) {
    const int64_t extent[] = {1};
    ha_record *r;
    ha_mapping *m = mapping(record, "aos", 1, extent, &r);
    assert_int_equal(ha_mapping_device_text(m, name, NULL, 0), -1);
    ha_mapping_free(m);
    ha_record_free(r);
}

static void test_no_device_text(void **state) {
    (void)state;
    char longest[HA_LONGEST_NAME + 10];
    const int64_t extent[] = {1};
    ha_record *r;
    check_no_text("a:f32", "");
    check_no_text("a:f32", "1a");
    check_no_text("a:f32", "a b");
    check_no_text("a.b:f32 a_b:f32", "sky");
    check_no_text("x:f32 a[3]:f32 a_2:f32", "sky");
    memset(longest, 'a', sizeof longest);
    strcpy(longest + HA_LONGEST_NAME, ":f32");
    check_no_text(longest, "sky");
    ha_mapping *m = mapping(longest + 1, "aos", 1, extent, &r); /* one letter less */
    assert_true(ha_mapping_device_text(m, "sky", NULL, 0) > 4 * HA_LONGEST_NAME);
    ha_row by_hand = m->row[0];
    ha_mapping other = *m;
    by_hand.section = -1;
    other.row = &by_hand;
    assert_int_equal(ha_mapping_device_text(&other, "sky", NULL, 0), -1);
    ha_mapping_free(m);
    ha_record_free(r);
}

static void test_failing_memory(void **state) {
    (void)state;
    const int64_t extent[] = {4};
    ha_record *r;
    ha_mapping *m = mapping("a:f32", "aos", 1, extent, &r);
    until_failure = 0;
    assert_int_equal(ha_mapping_svg(m, NULL, 0), -1);
    until_failure = -1;
    assert_true(ha_mapping_svg(m, NULL, 0) > 0);
    ha_mapping_free(m);
    ha_record_free(r);
    assert_int_equal(allocated, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_large_pictures),
        cmocka_unit_test(test_cut_pictures),
        cmocka_unit_test(test_device_text),
        cmocka_unit_test(test_device_values),
        cmocka_unit_test(test_no_bytes_device_text),
        cmocka_unit_test(test_device_parts),
        cmocka_unit_test(test_no_device_text),
        cmocka_unit_test(test_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
