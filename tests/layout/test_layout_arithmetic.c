/* Arithmetic with whole views, against a model that goes value by value through ha_mapped_get and
 * ha_mapped_set, and computes in C: every byte of the left side is as it has to be, and the right
 * one is as it was. */
#include "../support/layout_memory.h"

#include "arithmetic_loops.h"
#include "arithmetic_memory.h"
#include "arithmetic_model.h"

/* ---- all types ------------------------------------------------------------------------------- */

static const char *const types[] = {"",    "bool", "i8",  "i16",  "i32", "i64", "u8",  "u16",
                                    "u32", "u64",  "f16", "bf16", "f32", "f64", "c64", "c128"};

static bool is_refused(ha_operator op, ha_dtype left, ha_dtype right) {
    return (left == HA_DTYPE_bool && op != HA_ASSIGN) ||
           (right >= HA_DTYPE_c64 && left < HA_DTYPE_c64);
}

static void check_view(ha_operator op, const char *layout, const ha_record *l, const ha_record *r,
                       const char *what) {
    const int64_t n[] = {300};
    const ha_dtype left_type = l->field[0].type, right_type = r->field[0].type;
    memory left, right, expected, kept;
    ha_error error;
    make_memory(&left, l, layout, 1, n);
    make_memory(&right, r, layout, 1, n);
    copy_memory(&expected, &left, 0);
    copy_memory(&kept, &right, 0);
    const ha_status s = ha_mapped_apply_view(&left.mapped, op, &right.mapped, NULL, &error);
    if (is_refused(op, left_type, right_type)) {
        assert_int_equal(s, HA_ERR_ARGUMENT);
    } else {
        expect(s, &error, what);
        model(&expected, op, &(model_right){.view = &right}, (int64_t[]){0}, n, NULL, NULL);
    }
    check_equal(&left, &expected, what);
    check_equal(&right, &kept, what);
    free_blobs(&expected);
    free_blobs(&kept);
    free_memory(&left);
    free_memory(&right);
}

static void check_scalar(ha_operator op, const char *layout, const ha_record *l, ha_dtype type,
                         const char *what) {
    const int64_t n[] = {77};
    const ha_dtype left_type = l->field[0].type;
    char value[1][16];
    memory left, expected;
    ha_error error;
    any_value(type, value[0]);
    make_memory(&left, l, layout, 1, n);
    copy_memory(&expected, &left, 0);
    const number y = number_of(type, value[0]);
    const bool is_zero = op == HA_DIVIDE && left_type <= HA_DTYPE_uint64_t &&
                         type <= HA_DTYPE_uint64_t && y.integer == 0;
    const ha_status s = ha_mapped_apply_scalar(&left.mapped, op, type, value[0], NULL, &error);
    if (is_refused(op, left_type, type) || is_zero) {
        assert_int_equal(s, HA_ERR_ARGUMENT);
        assert_true(!is_zero || strstr(error.text, "divided by 0") || left_type == HA_DTYPE_bool);
    } else {
        expect(s, &error, what);
        const model_right right = {.type = &type, .value = (const char(*)[16])value};
        model(&expected, op, &right, (int64_t[]){0}, n, NULL, NULL);
    }
    check_equal(&left, &expected, what);
    free_blobs(&expected);
    free_memory(&left);
}

static void test_types(void **state) {
    (void)state;
    for (int l = 1; l < 16; l++)
        for (int r = 1; r < 16; r++) {
            char texts[2][16], what[40];
            snprintf(texts[0], sizeof texts[0], "a:%s", types[l]);
            snprintf(texts[1], sizeof texts[1], "a:%s", types[r]);
            ha_record *left = record_of(texts[0]), *right = record_of(texts[1]);
            for (int op = 0; op < 5; op++) {
                snprintf(what, sizeof what, "%s %c= %s", types[l], " +-*/"[op], types[r]);
                check_view((ha_operator)op, op % 2 ? "soa" : "aosoa(16)", left, right, what);
                for (int k = 0; k < 4; k++)
                    check_scalar((ha_operator)op, "soa", left, (ha_dtype)r, what);
            }
            ha_record_free(left);
            ha_record_free(right);
        }
}

/* ---- all layouts ----------------------------------------------------------------------------- */

static const int64_t extents[][2] = {{1, 70}, {37, 9}, {5, 1}};

static void check_layouts(const ha_record *r, const char *left_text, const char *right_text,
                          ha_operator op, const int64_t *n) {
    memory left, right, expected;
    ha_error error;
    char what[100];
    snprintf(what, sizeof what, "%d: %s by %s", op, left_text, right_text);
    make_memory(&left, r, left_text, 2, n);
    make_memory(&right, r, right_text, 2, n);
    copy_memory(&expected, &left, 0);
    expect(ha_mapped_apply_view(&left.mapped, op, &right.mapped, NULL, &error), &error, what);
    model(&expected, op, &(model_right){.view = &right}, (int64_t[]){0, 0}, n, NULL, NULL);
    check_equal(&left, &expected, what);
    free_blobs(&expected);
    free_memory(&left);
    free_memory(&right);
}

static void test_layouts(void **state) {
    (void)state;
    unsigned turn = 0;
    for (int k = 0; k < 3; k++) {
        ha_record *r = record_of(records[k]);
        for (int a = 0; a < LAYOUTS; a++)
            for (int b = 0; b < LAYOUTS; b++, turn++)
                check_layouts(r, layouts[a], layouts[b], (ha_operator)(turn % 5),
                              extents[turn / 5 % 3]);
        ha_record_free(r);
    }
}

/* Values of a record, in all of them, then in some fields of a part of them. */
static void check_record(const ha_record *r, const char *text, ha_operator op, const int64_t *n,
                         bool uniform) {
    const int64_t first[] = {1, 3}, last[] = {n[0] - 1, n[1] - 2};
    const bool chosen[] = {false, true, true, true, true, false, false};
    const ha_applying how = {.paths = " c + b", .first = first, .last = last, .threads = 2};
    ha_dtype type[7];
    char value[7][16] = {{0}}, bytes[100] = {0};
    memory left, expected;
    ha_error error;
    make_memory(&left, r, text, 2, n);
    copy_memory(&expected, &left, 0);
    for (int64_t k = 0; k < 7; k++) {
        type[k] = type_of(left.mapping, k);
        do any_value(type[k], value[k]);
        while (number_of(type[k], value[k]).re == 0);
        if (uniform && k > 0 && type[k] == type[0]) memcpy(value[k], value[0], 16);
        memcpy(bytes + r->field[k].offset, value[k], ha_dtype_size(type[k]));
    }
    const model_right right = {.type = type, .value = (const char(*)[16])value};
    expect(ha_mapped_apply_record(&left.mapped, op, r, bytes, NULL, &error), &error, text);
    model(&expected, op, &right, (int64_t[]){0, 0}, n, NULL, NULL);
    check_equal(&left, &expected, "a record");
    expect(ha_mapped_apply_record(&left.mapped, op, r, bytes, &how, &error), &error, text);
    model(&expected, op, &right, first, last, NULL, chosen);
    check_equal(&left, &expected, "a record, in part");
    free_blobs(&expected);
    free_memory(&left);
}

static void test_records(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        ha_record *r = record_of(records[k]);
        for (int a = 0; a < LAYOUTS; a++)
            for (int op = 0; op < 5; op++)
                check_record(r, layouts[a], (ha_operator)op, extents[(a + op) % 3], op == 1);
        ha_record_free(r);
    }
}

/* ---- neighbours ------------------------------------------------------------------------------ */

enum { MOST_NEIGHBOURS = 70 };

/* So many fields of one type that follow each other, all of a record or behind another one: with
 * values, with the same layout, and with arrays. */
static void check_neighbours(const char *type_name, int fields, bool all, const char *text,
                             ha_operator op) {
    const int64_t n[] = {83}, zero[] = {0};
    char description[MOST_NEIGHBOURS * 12], what[100], bytes[MOST_NEIGHBOURS * 8] = {0};
    char value[MOST_NEIGHBOURS][16] = {{0}};
    bool chosen[MOST_NEIGHBOURS];
    ha_dtype type[MOST_NEIGHBOURS];
    memory left, right[2], expected;
    ha_error error;
    const ha_applying how = {.paths = "a"};
    int at = all ? 0 : snprintf(description, sizeof description, "first:%s ", type_name);
    for (int k = 0; k < fields; k++)
        at += snprintf(description + at, sizeof description - (size_t)at, "a.f%d:%s ", k,
                       type_name);
    ha_record *r = record_of(description);
    snprintf(what, sizeof what, "%d x %s in %s, %d", fields, type_name, text, (int)op);
    make_memory(&left, r, text, 1, n);
    make_memory(&right[0], r, text, 1, n);
    make_memory(&right[1], r, "soa", 1, n);
    copy_memory(&expected, &left, 0);
    for (int64_t k = 0; k < left.mapping->rows; k++) {
        type[k] = type_of(left.mapping, k);
        chosen[k] = all || k > 0;
        do any_value(type[k], value[k]);
        while (number_of(type[k], value[k]).re == 0);
        memcpy(bytes + r->field[k].offset, value[k], ha_dtype_size(type[k]));
    }
    expect(ha_mapped_apply_record(&left.mapped, op, r, bytes, &how, &error), &error, what);
    model(&expected, op, &(model_right){.type = type, .value = (const char(*)[16])value}, zero, n,
          NULL, chosen);
    check_equal(&left, &expected, what);
    for (int k = 0; k < 2; k++) {
        expect(ha_mapped_apply_view(&left.mapped, op, &right[k].mapped, &how, &error), &error,
               what);
        model(&expected, op, &(model_right){.view = &right[k]}, zero, n, NULL, chosen);
        check_equal(&left, &expected, what);
        free_memory(&right[k]);
    }
    free_blobs(&expected);
    free_memory(&left);
    ha_record_free(r);
}

static void test_neighbours(void **state) {
    (void)state;
    static const char *const of_type[] = {"u8", "i16", "i32", "u64", "f32", "f64"};
    unsigned turn = 0;
    for (int t = 0; t < 6; t++) {
        for (int fields = 2; fields < 10; fields++)
            for (int all = 0; all < 2; all++, turn++) {
                check_neighbours(of_type[t], fields, all, "aos", (ha_operator)(turn % 5));
                check_neighbours(of_type[t], fields, all, turn % 3 ? "aosoa(8)" : "aosoa(32)",
                                 (ha_operator)(turn / 2 % 5));
            }
        /* more columns than are interleaved at once, and more values than come again */
        check_neighbours(of_type[t], 67, true, "aos", HA_SUBTRACT);
        check_neighbours(of_type[t], 67, false, "aos", HA_ADD);
    }
}

/* Enough for several threads and tiles. */
static void test_threads(void **state) {
    (void)state;
    const char *const some[] = {"aos",         "soa",
                                "aosoa(8)",    "aos@morton",
                                "aosoa(4096)", "split(b: bitint(20; aos), byteswap(aos))"};
    const int64_t n[] = {150, 401}, zeros[] = {0, 0};
    ha_record *r = record_of("a:f32 b:i32 c:f32");
    for (int a = 0; a < 6; a++) {
        memory left, right, expected;
        ha_error error;
        make_memory(&left, r, some[a], 2, n);
        make_memory(&right, r, some[(a + 1) % 6], 2, n);
        copy_memory(&expected, &left, 0);
        const ha_applying how = {.threads = 3};
        expect(ha_mapped_apply_view(&left.mapped, HA_SUBTRACT, &right.mapped, &how, &error), &error,
               some[a]);
        model(&expected, HA_SUBTRACT, &(model_right){.view = &right}, zeros, n, NULL, NULL);
        check_equal(&left, &expected, "threads");
        free_blobs(&expected);
        free_memory(&left);
        free_memory(&right);
    }
    ha_record_free(r);
}

/* ---- other records, windows ------------------------------------------------------------------ */

static void test_matched_by_path(void **state) {
    (void)state;
    ha_record *l = record_of("pos.x:f32 pos.y:f32 mass:f64 n:i32 hue[2]:u8");
    ha_record *r = record_of("hue[3]:f32 n:f64 pos.z:f32 pos.y:f64 mass:f32");
    const int64_t n[] = {50}, from[] = {-1, 5, 6, 3, 0, 1};
    const bool chosen[] = {false, false, true, false, true, true};
    for (int op = 0; op < 5; op++)
        for (int part = 0; part < 2; part++) {
            memory left, right, expected;
            ha_error error;
            make_memory(&left, l, "aosoa(8)", 1, n);
            make_memory(&right, r, "aos", 1, n);
            copy_memory(&expected, &left, 0);
            const ha_applying how = {.paths = part ? "mass+hue" : NULL};
            expect(ha_mapped_apply_view(&left.mapped, (ha_operator)op, &right.mapped, &how, &error),
                   &error, "by path");
            model(&expected, (ha_operator)op, &(model_right){.view = &right, .leaf = from},
                  (int64_t[]){0}, n, NULL, part ? chosen : NULL);
            check_equal(&left, &expected, "by path");
            free_blobs(&expected);
            free_memory(&left);
            free_memory(&right);
        }
    ha_record_free(l);
    ha_record_free(r);
}

/* One image over another, in steps from far outside on one side to far outside on the other. */
static void test_windows(void **state) {
    (void)state;
    ha_record *r = record_of(records[0]);
    const int64_t n[] = {9, 21}, sprite[] = {4, 11};
    const int64_t first[] = {-3, 2}, last[] = {7, 1000};
    const int64_t far[] = {INT64_MIN, INT64_MIN + 1, -30, -11, -10, -4, -1, 0, 3, 9, 20, INT64_MAX};
    const char *const texts[] = {"aos",           "soa@col",    "aosoa(8)",
                                 "aosoa(4,rows)", "aos@morton", "bytesplit(soa)"};
    for (int turn = 0; turn < 12 * 12 * 2; turn++) {
        const int64_t shift[] = {far[turn % 12], far[turn / 12 % 12]};
        const ha_applying how = {
            .first = turn % 3 ? first : NULL, .last = turn % 4 ? last : NULL, .shift = shift};
        const int64_t begin[] = {turn % 3 ? 0 : 0, turn % 3 ? 2 : 0};
        const int64_t end[] = {turn % 4 ? 7 : 9, 21};
        const bool outside = shift[0] <= -100 || shift[1] <= -100 || shift[0] > 100 ||
                             shift[1] > 100;
        memory left, right, expected;
        ha_error error;
        make_memory(&left, r, texts[turn % 6], 2, n);
        make_memory(&right, r, texts[turn / 6 % 6], 2, sprite);
        copy_memory(&expected, &left, 0);
        expect(ha_mapped_apply_view(&left.mapped, HA_ADD, &right.mapped, &how, &error), &error,
               "window");
        if (!outside)
            model(&expected, HA_ADD, &(model_right){.view = &right}, begin, end, shift, NULL);
        check_equal(&left, &expected, "window");
        free_blobs(&expected);
        free_memory(&left);
        free_memory(&right);
    }
    ha_record_free(r);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void test_numbers(void **state) {
    (void)state;
    ha_record *r = record_of("a:u8 b:f32 c:c64 d:f16 e:i64");
    const double numbers[] = {0.5, 0.1, 2, -3, 1e300, 1.0 / 0.0, -0x1p63};
    const int64_t n[] = {40}, zeros[] = {0};
    for (int k = 0; k < 7; k++)
        for (int op = 0; op < 5; op++) {
            const double x = numbers[k];
            const float f = (float)x;
            const ha_half h = ha_half_of_double(x);
            const ha_dtype type[] = {HA_DTYPE_double, HA_DTYPE_float, HA_DTYPE_float, HA_DTYPE_half,
                                     HA_DTYPE_double};
            char value[5][16] = {{0}};
            memory left, expected;
            ha_error error;
            make_memory(&left, r, "aos", 1, n);
            copy_memory(&expected, &left, 0);
            for (int l = 0; l < 5; l++)
                memcpy(value[l],
                       type[l] == HA_DTYPE_double  ? (const void *)&x
                       : type[l] == HA_DTYPE_float ? (const void *)&f
                                                   : (const void *)&h,
                       ha_dtype_size(type[l]));
            expect(ha_mapped_apply_number(&left.mapped, (ha_operator)op, x, NULL, &error), &error,
                   "a number");
            model(&expected, (ha_operator)op,
                  &(model_right){.type = type, .value = (const char(*)[16])value}, zeros, n, NULL,
                  NULL);
            check_equal(&left, &expected, "a number");
            free_blobs(&expected);
            free_memory(&left);
        }
    ha_record_free(r);
}

/* Whether the number is whole makes no difference. */
static void test_integers_by_numbers(void **state) {
    (void)state;
    const struct {
        ha_operator operation;
        int8_t before;
        double number;
        int8_t after;
    } cases[] = {
        {HA_ADD, 100, 100, 127},      {HA_ADD, 100, 100.5, 127}, {HA_SUBTRACT, -100, 100, -128},
        {HA_MULTIPLY, 100, -2, -128}, {HA_DIVIDE, 7, 2, 4},      {HA_DIVIDE, 5, 2, 2},
        {HA_DIVIDE, -7, 2, -4},       {HA_MULTIPLY, 7, 0.5, 4},  {HA_ASSIGN, 0, 1000, 127},
        {HA_ASSIGN, 0, 2.5, 2},       {HA_ADD, 3, -1, 2},        {HA_ADD, 3, -0.5, 2}};
    ha_record *r = record_of("a:i8");
    const char *const texts[] = {"soa", "aosoa(4)", "bitint(7; soa)", "byteswap(soa)"};
    const int64_t n = 100;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int l = 0; l < 4; l++) {
            memory m;
            ha_error e;
            int8_t value;
            if (l == 2 && (cases[k].before > 63 || cases[k].before < -64 || cases[k].after > 63))
                continue;
            make_memory(&m, r, texts[l], 1, &n);
            for (int64_t i = 0; i < n; i++) ha_mapped_set(&m.mapped, 0, &i, &cases[k].before);
            expect(ha_mapped_apply_number(&m.mapped, cases[k].operation, cases[k].number, NULL, &e),
                   &e, texts[l]);
            for (int64_t i = 0; i < n; i++) {
                ha_mapped_get(&m.mapped, 0, &i, &value);
                assert_int_equal(value, cases[k].after);
            }
            free_memory(&m);
        }
    ha_record_free(r);
}

/* ---- refused --------------------------------------------------------------------------------- */

static void refused(ha_status s, const ha_error *error, const char *why) {
    assert_int_equal(s, HA_ERR_ARGUMENT);
    if (!strstr(error->text, why)) fail_msg("%s, not %s", error->text, why);
}

/* What is not there is no number, not even 0. */
static void test_absent(void **state) {
    (void)state;
    const int64_t n[] = {3};
    const float one = 1;
    ha_error e;
    memory a;
    ha_record *r = record_of("a:f32 b:i32");
    make_memory(&a, r, "aos", 1, n);
    char before[24];
    assert_int_equal(a.mapping->blob[0].bytes, sizeof before);
    memcpy(before, a.blob[0], sizeof before);
    refused(ha_mapped_apply_view(&a.mapped, HA_ASSIGN, NULL, NULL, &e), &e,
            "the right side is NULL");
    refused(ha_mapped_apply_record(&a.mapped, HA_ASSIGN, NULL, &one, NULL, &e), &e,
            "the record of the right side is NULL");
    refused(ha_mapped_apply_record(&a.mapped, HA_ASSIGN, r, NULL, NULL, &e), &e,
            "the value of the right side is NULL");
    refused(ha_mapped_apply_scalar(&a.mapped, HA_ASSIGN, HA_DTYPE_float, NULL, NULL, &e), &e,
            "the value of the right side is NULL");
    refused(ha_mapped_apply_view(NULL, HA_ASSIGN, &a.mapped, NULL, &e), &e,
            "the left side is NULL");
    refused(ha_mapped_apply_record(NULL, HA_ASSIGN, r, &one, NULL, &e), &e,
            "the left side is NULL");
    refused(ha_mapped_apply_scalar(NULL, HA_ASSIGN, HA_DTYPE_float, &one, NULL, &e), &e,
            "the left side is NULL");
    refused(ha_mapped_apply_number(NULL, HA_ASSIGN, 1, NULL, &e), &e, "the left side is NULL");
    assert_memory_equal(a.blob[0], before, sizeof before);
    free_memory(&a);
    ha_record_free(r);
}

static void test_refused(void **state) {
    (void)state;
    const int64_t n[] = {4, 3};
    ha_error e;
    memory a, b, one, flat;
    ha_record *r = record_of("a:i32 b:bool c:f32 z:c64"), *s = record_of("q:f32 a:i32");
    ha_record *t = record_of("q:f32");
    make_memory(&a, r, "aos", 2, n);
    make_memory(&b, s, "soa", 2, n);
    make_memory(&one, s, "one", 2, n);
    make_memory(&flat, s, "soa", 1, n);
    const char zeros[32] = {0};
    const float complex_one[2] = {1, 0};
    refused(ha_mapped_apply_number(&a.mapped, HA_ADD, 1, NULL, &e), &e,
            "b: a bool can be assigned");
    refused(ha_mapped_apply_number(&a.mapped, (ha_operator)5, 1, NULL, &e), &e, "no operation 5");
    refused(ha_mapped_apply_number(&a.mapped, (ha_operator)-1, 1, NULL, &e), &e, "no operation -1");
    refused(ha_mapped_apply_number(&a.mapped, HA_DIVIDE, 0, &(ha_applying){.paths = "a"}, &e), &e,
            "a: an integer cannot be divided by 0");
    refused(
        ha_mapped_apply_record(&a.mapped, HA_DIVIDE, r, zeros, &(ha_applying){.paths = "c+a"}, &e),
        &e, "a: an integer cannot be divided by 0");
    refused(ha_mapped_apply_number(&a.mapped, HA_ADD, 1, &(ha_applying){.paths = "a+w"}, &e), &e,
            "paths: at character 2: there is no field \"w\" in the record");
    refused(ha_mapped_apply_view(&a.mapped, HA_ADD, &b.mapped, &(ha_applying){.paths = "c"}, &e),
            &e, "paths: at character 0: there is no field \"c\" in both records");
    refused(ha_mapped_apply_scalar(&a.mapped, HA_ADD, HA_DTYPE_c64, complex_one,
                                   &(ha_applying){.paths = "c"}, &e),
            &e, "c: a complex number makes no real one");
    refused(ha_mapped_apply_scalar(&a.mapped, HA_ADD, HA_DTYPE_NONE, zeros, NULL, &e), &e, "none");
    refused(ha_mapped_apply_view(&a.mapped, HA_ADD, &flat.mapped, NULL, &e), &e, "rank 2");
    refused(ha_mapped_apply_record(&a.mapped, HA_ADD, t, zeros, NULL, &e), &e,
            "no field in common");
    refused(ha_mapped_apply_view(&one.mapped, HA_ADD, &b.mapped, NULL, &e), &e,
            "q: the left side has one place");
    refused(ha_mapped_apply_record(&a.mapped, HA_ADD, &(ha_record){0}, zeros, NULL, &e), &e,
            "no fields");
    void *none[2] = {NULL, NULL};
    const ha_mapped nothing = {a.mapping, none}, nowhere = {b.mapping, none};
    refused(ha_mapped_apply_number(&nothing, HA_ADD, 1, &(ha_applying){.paths = "a"}, &e), &e,
            "a: its blob on the left side is NULL");
    refused(ha_mapped_apply_view(&a.mapped, HA_ADD, &nowhere, NULL, &e), &e,
            "a: its blob on the right side is NULL");
    const int64_t no_records[] = {0, 0}; /* which need no memory */
    expect(ha_mapped_apply_number(&nothing, HA_ADD, 1,
                                  &(ha_applying){.paths = "a", .last = no_records}, &e),
           &e, "no records");
    assert_int_equal(ha_mapped_apply_number(&a.mapped, HA_ADD, 1, NULL, NULL), HA_ERR_ARGUMENT);
    /* one place for all is no matter on the right, nor where there is one record */
    expect(ha_mapped_apply_view(&b.mapped, HA_ADD, &one.mapped, NULL, &e), &e, "one");
    const int64_t last[] = {1, 1};
    expect(ha_mapped_apply_view(&one.mapped, HA_ADD, &b.mapped, &(ha_applying){.last = last}, &e),
           &e, "one record");
    free_memory(&a);
    free_memory(&b);
    free_memory(&one);
    free_memory(&flat);
    ha_record_free(r);
    ha_record_free(s);
    ha_record_free(t);
}

static void test_no_memory(void **state) {
    (void)state;
    const int64_t n[] = {9};
    ha_error error;
    memory left, expected;
    ha_record *r = record_of(records[0]);
    const float values[] = {1, 2, 3, 4, 5, 6, 7};
    make_memory(&left, r, "aos", 1, n);
    copy_memory(&expected, &left, 0);
    for (long steps = 0;; steps++) {
        const long before = allocated;
        until_failure = steps;
        const ha_status s = ha_mapped_apply_record(&left.mapped, HA_ADD, r, values, NULL, &error);
        until_failure = -1;
        assert_int_equal(allocated, before);
        if (s == HA_OK) {
            assert_int_equal(steps, 3);
            break;
        }
        assert_int_equal(s, HA_ERR_MEMORY);
        check_equal(&left, &expected, "no memory");
    }
    free_blobs(&expected);
    free_memory(&left);
    ha_record_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),      cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_records),    cmocka_unit_test(test_threads),
        cmocka_unit_test(test_windows),    cmocka_unit_test(test_matched_by_path),
        cmocka_unit_test(test_numbers),    cmocka_unit_test(test_integers_by_numbers),
        cmocka_unit_test(test_itself),     cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_views),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_absent),     cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_neighbours), cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_forms),      cmocka_unit_test(test_orders),
        cmocka_unit_test(test_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
