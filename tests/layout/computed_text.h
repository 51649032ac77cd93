/* Computed layouts as text and by functions, and what is refused. */
#ifndef HARRAY_TESTS_LAYOUT_COMPUTED_TEXT_H
#define HARRAY_TESTS_LAYOUT_COMPUTED_TEXT_H

#include "computed_memory.h"

/* ---- text and functions ---------------------------------------------------------------------- */

static void test_text(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {"changetype(f64:f32, pos.x:f64; aos)", NULL},
        {"changetype(; soa)", NULL},
        {" changetype ( f64 : f32,flags[2]:u8 ; byteswap( bytesplit (soa) ) ) ",
         "changetype(f64:f32, flags[2]:u8; byteswap(bytesplit(soa)))"},
        {"split(separate; flags: bitint( 1 ;soa @col), bitfloat(5 , 10;aos@morton))",
         "split(separate; flags: bitint(1; soa@col), bitfloat(5,10; aos@morton))"},
        {"split(flags:bitint(1;aos@row),byteswap(one))",
         "split(flags: bitint(1; aos), byteswap(one))"},
    };
    const int64_t n[] = {3, 5};
    ha_record *r = ha_record_parse(PARTICLE, NULL);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        ha_error e;
        ha_mapping *m = ha_mapping_parse(r, texts[k][0], 2, n, &e);
        if (!m) fail_msg("%s: %s", texts[k][0], e.text);
        assert_string_equal(m->text, texts[k][texts[k][1] != NULL]);
        ha_mapping *again = ha_mapping_parse(r, m->text, 2, n, &e);
        assert_string_equal(again->text, m->text);
        assert_memory_equal(again->row, m->row, (size_t)m->rows * sizeof *m->row);
        ha_mapping_free(again);
        ha_mapping_free(m);
    }
    ha_record_free(r);
}

static void check_layout(const ha_record *r, const ha_layout *l, const char *text,
                         const char *why) {
    const int64_t n = 10;
    ha_error e;
    ha_mapping *m = ha_mapping_new(r, l, 1, &n, &e);
    if (text) {
        if (!m) fail_msg("%s: %s", text, e.text);
        assert_string_equal(m->text, text);
        ha_mapping *again = ha_mapping_parse(r, text, 1, &n, &e);
        assert_memory_equal(again->row, m->row, (size_t)m->rows * sizeof *m->row);
        ha_mapping_free(again);
    } else {
        if (m) fail_msg("%s is no mistake", m->text);
        if (!strstr(e.text, why)) fail_msg("\"%s\" instead of \"%s\"", e.text, why);
        assert_int_equal(e.code, 0);
    }
    ha_mapping_free(m);
}

static void test_functions(void **state) {
    (void)state;
    static const ha_layout aos = {0}, soa = {.kind = HA_LAYOUT_SOA, .order = HA_COL};
    static const ha_layout packed = {.flags = HA_LAYOUT_PACKED}, nothing = {.kind = HA_LAYOUT_NULL};
    static const ha_layout split = {.kind = HA_LAYOUT_BYTESPLIT, .first = &aos};
    static const ha_layout ints = {.kind = HA_LAYOUT_BITINT, .bits = 5, .first = &soa};
    static const ha_layout floats = {
        .kind = HA_LAYOUT_BITFLOAT, .exponent = 5, .mantissa = 10, .first = &aos};
    static const ha_layout change = {
        .kind = HA_LAYOUT_CHANGETYPE, .changes = " x:f32,f32 : i16", .first = &split};
    static const ha_layout swap = {.kind = HA_LAYOUT_BYTESWAP, .first = &change};
    const struct {
        ha_layout layout;
        const char *why;
    } wrong[] = {
        {{.kind = HA_LAYOUT_BYTESPLIT}, "a layout inside is missing"},
        {{.kind = HA_LAYOUT_BYTESWAP, .first = &aos, .second = &aos}, "the second layout"},
        {{.kind = HA_LAYOUT_BYTESWAP, .first = &aos, .flags = 1}, "a flag does not fit"},
        {{.kind = HA_LAYOUT_BYTESWAP, .first = &aos, .order = HA_MORTON}, "the order"},
        {{.kind = HA_LAYOUT_BYTESWAP, .first = &aos, .lanes = 1}, "the number of lanes"},
        {{.kind = HA_LAYOUT_BYTESWAP, .first = &aos, .paths = "x"}, "the paths"},
        {{.kind = HA_LAYOUT_BYTESWAP, .first = &aos, .changes = ""}, "the changes"},
        {{.kind = HA_LAYOUT_CHANGETYPE, .first = &aos}, "the changes"},
        {{.kind = HA_LAYOUT_CHANGETYPE, .first = &aos, .changes = "x:"}, "the changes"},
        {{.kind = HA_LAYOUT_CHANGETYPE, .first = &aos, .changes = "x:f32,"}, "the changes"},
        {{.kind = HA_LAYOUT_CHANGETYPE, .first = &aos, .changes = "x:f32;"}, "the changes"},
        {{.kind = HA_LAYOUT_CHANGETYPE, .first = &aos, .changes = "w:f32"}, "no such field"},
        {{.kind = HA_LAYOUT_AOS, .bits = 1}, "the number of bits"},
        {{.kind = HA_LAYOUT_BITINT, .first = &aos}, "the number of bits"},
        {{.kind = HA_LAYOUT_BITINT, .first = &aos, .bits = 65}, "the number of bits"},
        {{.kind = HA_LAYOUT_BITINT, .first = &aos, .bits = 5, .mantissa = 1}, "or mantissa"},
        {{.kind = HA_LAYOUT_BITINT, .first = &aos, .bits = 5, .exponent = 1}, "of exponent"},
        {{.kind = HA_LAYOUT_BITFLOAT, .first = &aos}, "of exponent"},
        {{.kind = HA_LAYOUT_BITFLOAT, .first = &aos, .exponent = 12}, "of exponent"},
        {{.kind = HA_LAYOUT_BITFLOAT, .first = &aos, .exponent = 1, .mantissa = -1}, "mantissa"},
        {{.kind = HA_LAYOUT_BITFLOAT, .first = &aos, .exponent = 1, .mantissa = 53}, "mantissa"},
        {{.kind = HA_LAYOUT_BITINT, .first = &packed, .bits = 5}, "without options"},
        {{.kind = HA_LAYOUT_BITINT, .first = &nothing, .bits = 5}, "as soa or aos"},
        {{.kind = HA_LAYOUT_BITINT, .first = &aos, .bits = 5}, "x is no integer"},
    };
    ha_record *r = ha_record_parse("x:f64 y:f32", NULL), *i = ha_record_parse("x:i64", NULL);
    check_layout(r, &split, "bytesplit(aos)", NULL);
    check_layout(i, &ints, "bitint(5; soa@col)", NULL);
    check_layout(r, &floats, "bitfloat(5,10; aos)", NULL);
    check_layout(r, &swap, "byteswap(changetype(x:f32, f32:i16; bytesplit(aos)))", NULL);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        check_layout(r, &wrong[k].layout, NULL, wrong[k].why);
    ha_record_free(r);
    ha_record_free(i);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t position;
        const char *why;
    } refused[] = {
        {"byteswap", 8, "expected '('"},
        {"byteswap(aos", 12, "expected ')'"},
        {"bytesplit()", 10, "expected a layout"},
        {"changetype", 10, "expected '('"},
        {"changetype(aos)", 14, "expected ':', '.' or '[', found ')'"},
        {"changetype(8:f32; aos)", 11, "expected a type or a field"},
        {"changetype(d.:f32; aos)", 13, "expected a name"},
        {"changetype(f64; aos)", 14, "expected ':', '.' or '['"},
        {"changetype(f64:; aos)", 15, "expected a type (bool"},
        {"changetype(f64:f31; aos)", 15, "expected a type (bool"},
        {"changetype(f64:f32, ; aos)", 20, "expected a type or a field, found ';'"},
        {"changetype(f64:f32: aos)", 18, "expected ',' or ';', found ':'"},
        {"changetype(f64:f32)", 18, "expected ',' or ';', found ')'"},
        {"changetype(f64:f32; aos", 23, "expected ')'"},
        {"changetype(f64:f32, e:f32; aos)", 20, "there is no such field here"},
        {"split(d: changetype(i:f32; aos), aos)", 20, "there is no such field here"},
        {"changetype(f64:f32, f64:f16; aos)", 20, "it is there already"},
        {"changetype(d:f32, i:i8, d:f16; aos)", 24, "it is there already"},
        {"changetype(f64:c64; aos)", 11, "complex numbers stay complex"},
        {"changetype(c64:f32; aos)", 11, "complex numbers stay complex"},
        {"changetype(c:f32; aos)", 11, "c cannot be it: complex numbers stay complex"},
        {"changetype(i:c64; aos)", 11, "i cannot be it: complex numbers stay complex"},
        {"changetype(d:f32; changetype(f32:f16; aos))", 29, "d is stored already as f32"},
        {"changetype(d:f32; split(d: changetype(d:f16; aos), aos))", 38, "already as f32"},
        {"bitint", 6, "expected '('"},
        {"bitint(0; soa)", 7, "a number of bits, from 1 to 64"},
        {"bitint(65; soa)", 7, "a number of bits, from 1 to 64"},
        {"bitint(soa)", 7, "expected a number of bits"},
        {"bitint(5, soa)", 8, "expected ';'"},
        {"bitint(5; aosoa(4))", 10, "expected soa or aos"},
        {"bitint(5; )", 10, "expected soa or aos"},
        {"bitint(5; soa(single))", 10, "without options"},
        {"bitint(5; aos(packed))", 10, "without options"},
        {"bitint(5; soa@up)", 14, "expected row, col or morton"},
        {"bitint(5; soa", 13, "expected ')'"},
        {"bitfloat(0,3; soa)", 9, "from 1 to 11"},
        {"bitfloat(12,3; soa)", 9, "from 1 to 11"},
        {"bitfloat(3; soa)", 10, "expected ','"},
        {"bitfloat(3,53; soa)", 11, "from 0 to 52"},
        {"bitint(5; aos)", 0, "d is no integer: bitint cannot store f64"},
        {"split(i+b: bitint(33; soa), aos)", 11, "more than 32 bits"},
        {"split(separate; i: soa, bitfloat(5,2; aos))", 24,
         "b is no real number: bitfloat cannot store bool"},
        {"split(c: bitfloat(5,2; soa), soa(single))", 9, "c is no real number"},
        {"split(c: bitint(5; soa), soa(single))", 9, "c is no integer"},
        {"split(f: bitfloat(8,24; soa), soa(single))", 9, "more than 32 bits"},
        {"byteswap(split(i: bitint(5; soa), soa(single)))", 18,
         "i is stored in the other byte order"},
        {"bytesplit(byteswap(aos))", 10, "inside bytesplit"},
        {"bytesplit(bytesplit(aos))", 10, "inside bytesplit"},
        {"bytesplit(changetype(;aos))", 10, "inside bytesplit"},
        {"bytesplit(split(i: bitint(5; soa), aos))", 19, "inside bytesplit"},
        {"bytesplit(split(i: bitfloat(5,5; soa), aos))", 19, "inside bytesplit"},
        {"split(i: bitint(3; soa), soa)", 0, "it needs \"separate;\""},
    };
    ha_record *r = ha_record_parse("d:f64 i:i32 b:bool c:c64 f:f32", NULL);
    const int64_t n = 10;
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        ha_error e;
        ha_mapping *m = ha_mapping_parse(r, refused[k].text, 1, &n, &e);
        if (m) fail_msg("%s is a layout", refused[k].text);
        if (!strstr(e.text, refused[k].why))
            fail_msg("%s: \"%s\" instead of \"%s\"", refused[k].text, e.text, refused[k].why);
        if (e.code != refused[k].position)
            fail_msg("%s: at %lld: %s", refused[k].text, (long long)e.code, e.text);
    }
    ha_record_free(r);
}

static void test_too_large(void **state) {
    (void)state;
    static const struct {
        const char *record, *layout;
        int64_t n;
        int fits;
    } cases[] = {
        {"a:i64", "bitint(8; soa)", (int64_t)1 << 59, 1},
        {"a:i64", "bitint(8; soa)", (int64_t)1 << 60, 0},
        {"a:i64", "bitint(64; soa)", (int64_t)1 << 60, 0},
        {"a:i64", "bitint(1; soa)", INT64_MAX, 0},
        {"a:i64 b:i8", "split(b: soa, bitint(1; soa))", (int64_t)1 << 60, 0},
        {"a:i64", "bitint(64; soa@morton)", (int64_t)1 << 60, 0},
        {"a:i64", "bytesplit(soa)", (int64_t)1 << 61, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ha_record *r = ha_record_parse(cases[k].record, NULL);
        ha_error e;
        ha_mapping *m = ha_mapping_parse(r, cases[k].layout, 1, &cases[k].n, &e);
        assert_int_equal(m != NULL, cases[k].fits);
        if (!m) assert_int_equal(e.status, HA_ERR_MEMORY);
        if (m) assert_int_equal(ha_mapping_check(m, &e), HA_OK);
        ha_mapping_free(m);
        ha_record_free(r);
    }
}

static void test_failing_memory(void **state) {
    (void)state;
    const int64_t n = 10;
    const char *text = "byteswap(changetype(f64:f32; split(separate; pos: bytesplit(soa), aos)))";
    ha_record *r = ha_record_parse(PARTICLE, NULL);
    const long before = allocated;
    ha_mapping *m = NULL;
    ha_error e;
    for (long k = 0; !m; k++) {
        until_failure = k;
        m = ha_mapping_parse(r, text, 1, &n, &e);
        until_failure = -1;
        if (!m) assert_int_equal(e.status, HA_ERR_MEMORY);
        if (!m) assert_int_equal(allocated, before);
        assert_true(k < 10);
    }
    ha_mapping_free(m);
    assert_int_equal(allocated, before);
    ha_record_free(r);
}

#endif
