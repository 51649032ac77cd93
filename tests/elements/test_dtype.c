/* Element types known at run time: every pair of them with values at the edges, against numbers of
 * 113 binary digits that hold each value exactly; and literal expectations. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/refusals.h"
#include "../support/exact.h"

/* ---- conversions ---------------------------------------------------------------------------- */

static void check_real(uint64_t pattern, exact x, ha_dtype type) {
    format f = format_of(type);
    exact found = real_of(pattern, type);
    uint64_t sign = UINT64_C(1) << (f.bits - 1);
    if (is_nan(x)) {
        assert_true(is_nan(found));
        return;
    }
    assert_true((pattern & (sign - 1)) == nearest(x, type));
    assert_int_equal(!!(pattern & sign), !!__builtin_signbit((double)x));
}

/* The integer nearest to |x| < 2^100. */
static int128 rounded(exact x) {
    int128 n = (int128)x;
    exact rest = x - (exact)n, r = rest < 0 ? -rest : rest;
    int away = r > (exact)0.5 || (!(r < (exact)0.5) && (n & 1));
    return away ? n + (x < 0 ? -1 : 1) : n;
}

/* What the reference says of this conversion. */
static ha_status expected_status(number n, ha_dtype type) {
    ha_number_kind kind = ha_dtype_kind(type);
    int bits = (int)(8 * ha_dtype_size(type));
    if (kind == HA_KIND_COMPLEX || kind == HA_KIND_BOOL) return HA_OK;
    if (!(n.im == 0)) return HA_ERR_ARGUMENT;
    if (kind == HA_KIND_REAL) return HA_OK;
    if (!(n.re > -0x1p90 && n.re < 0x1p90)) return HA_ERR_ARGUMENT;
    int128 r = rounded(n.re), end = (int128)1 << (kind == HA_KIND_SIGNED ? bits - 1 : bits);
    return r < end && r >= (kind == HA_KIND_SIGNED ? -end : 0) ? HA_OK : HA_ERR_ARGUMENT;
}

static void check_result(const ha_dvalue *from, const ha_dvalue *to) {
    const number a = number_of(from), b = number_of(to);
    size_t size = ha_dtype_size(to->type), half = size / 2;
    switch (ha_dtype_kind(to->type)) {
    case HA_KIND_BOOL:
        assert_true(b.re == (a.re == 0 && a.im == 0 ? 0 : 1));
        break;
    case HA_KIND_REAL:
        check_real(pattern_of(to->bytes, size), a.re, to->type);
        break;
    case HA_KIND_COMPLEX:
        check_real(pattern_of(to->bytes, half), a.re, to->type);
        check_real(pattern_of(to->bytes + half, half), a.im, to->type);
        break;
    default:
        assert_true(b.re == (exact)rounded(a.re));
    }
    for (size_t i = size; i < sizeof to->bytes; i++) assert_int_equal(to->bytes[i], 0);
}

static void check_conversion(const ha_dvalue *from, ha_dtype type) {
    ha_dvalue to = ha_dvalue_of_uint8_t(77);
    unsigned char element[18];
    memset(element, 0xaa, sizeof element);
    ha_status s = ha_dvalue_convert(*from, type, &to);
    assert_int_equal(s, expected_status(number_of(from), type));
    assert_int_equal(ha_take_error().status, s);
    assert_int_equal(ha_dvalue_store(*from, type, element + 1), s);
    (void)ha_take_error();
    size_t size = s ? 0 : ha_dtype_size(type);
    for (size_t i = 0; i < sizeof element; i++)
        if (i < 1 || i > size) assert_int_equal(element[i], 0xaa);
    if (s) {
        assert_true(to.type == HA_DTYPE_uint8_t && to.as_uint8_t == 77);
        return;
    }
    assert_int_equal(to.type, type);
    assert_memory_equal(to.bytes, element + 1, size);
    if (from->type == type)
        assert_memory_equal(to.bytes, from->bytes, size);
    else
        check_result(from, &to);
}

TEST(conversions_of_all_pairs) {
    for (int i = 0; i < TYPES; i++) {
        make_edges(types[i]);
        for (int k = 0; k < edge_count; k++)
            for (int j = 0; j < TYPES; j++) check_conversion(&edges[k], types[j]);
    }
}

TEST(conversions) {
    ha_dvalue v = ha_dvalue_of_double(0);
    const struct {
        double x;
        int64_t n;
    } rounds[] = {{2.5, 2}, {3.5, 4}, {-2.5, -2}, {-3.5, -4}, {2.6, 3}, {-0.5, 0}, {0.7, 1}};
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        FINE(ha_dvalue_convert(ha_dvalue_of_double(rounds[i].x), HA_DTYPE_int64_t, &v));
        assert_int_equal(v.as_int64_t, rounds[i].n);
    }
    FINE(ha_dvalue_convert(ha_dvalue_of_double(65519.999), HA_DTYPE_half, &v));
    assert_int_equal(v.as_half.bits, 0x7bff);
    FINE(ha_dvalue_convert(ha_dvalue_of_int64_t(65520), HA_DTYPE_half, &v));
    assert_int_equal(v.as_half.bits, 0x7c00);
    /* by way of float it would be 0x3c02 */
    FINE(ha_dvalue_convert(ha_dvalue_of_double(1 + 0x3p-11 - 0x1p-40), HA_DTYPE_half, &v));
    assert_int_equal(v.as_half.bits, 0x3c01);
    /* by way of double they would be even */
    FINE(ha_dvalue_convert(ha_dvalue_of_int64_t((1LL << 62) + (1LL << 54) + 1), HA_DTYPE_bfloat16,
                           &v));
    assert_int_equal(v.as_bfloat16.bits, 0x5e81);
    FINE(
        ha_dvalue_convert(ha_dvalue_of_int64_t((1LL << 62) + (1LL << 38) + 1), HA_DTYPE_float, &v));
    assert_true(v.as_float > 0x1p62f);
    FINE(ha_dvalue_convert(ha_dvalue_of_bool(77), HA_DTYPE_c64, &v));
    assert_true(v.as_c64.re == 1 && v.as_c64.im == 0);
    FINE(ha_dvalue_convert(ha_dvalue_of_double(-0.25), HA_DTYPE_bool, &v));
    assert_int_equal(v.as_bool, 1);
}

/* The text of an error, which is taken. */
static const char *text_of(ha_status status) {
    static ha_error error;
    error = ha_take_error();
    assert_int_equal(error.status, status);
    return error.text;
}

TEST(refused) {
    ha_dvalue v, none = {.type = HA_DTYPE_NONE}, wrong = {.type = (ha_dtype)99};
    double x = 7;
    assert_true(ha_dvalue_convert(ha_dvalue_of_int32_t(300), HA_DTYPE_uint8_t, &v));
    assert_string_equal(text_of(HA_ERR_ARGUMENT), "300 (int32_t) as uint8_t: does not fit");
    assert_true(ha_dvalue_convert(ha_dvalue_of_float(__builtin_nanf("")), HA_DTYPE_int64_t, &v));
    assert_string_equal(text_of(HA_ERR_ARGUMENT), "nan (float) as int64_t: does not fit");
    assert_true(ha_dvalue_store(ha_dvalue_of_c128(ha_c128_make(1, -2)), HA_DTYPE_double, &x));
    assert_string_equal(text_of(HA_ERR_ARGUMENT),
                        "1-2i (c128) as double: has an imaginary part that would get lost");
    REFUSED(HA_ERR_ARGUMENT, ha_dvalue_convert(none, HA_DTYPE_double, &v));
    REFUSED(HA_ERR_ARGUMENT, ha_dvalue_convert(wrong, HA_DTYPE_double, &v));
    REFUSED(HA_ERR_ARGUMENT, ha_dvalue_convert(ha_dvalue_of_double(1), HA_DTYPE_NONE, &v));
    REFUSED(HA_ERR_ARGUMENT, ha_dvalue_convert(ha_dvalue_of_double(1), HA_DTYPE_double, NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_dvalue_store(none, HA_DTYPE_double, &x));
    REFUSED(HA_ERR_ARGUMENT, ha_dvalue_store(ha_dvalue_of_double(1), HA_DTYPE_double, NULL));
    assert_true(x == 7);
    assert_int_equal(ha_dvalue_load(HA_DTYPE_NONE, &x).type, HA_DTYPE_NONE);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    assert_int_equal(ha_dvalue_load(HA_DTYPE_double, NULL).type, HA_DTYPE_NONE);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    assert_int_equal(ha_dvalue_compare(none, none), HA_UNORDERED);
    assert_int_equal(ha_dvalue_compare(wrong, ha_dvalue_of_double(1)), HA_UNORDERED);
}

/* ---- comparisons ---------------------------------------------------------------------------- */

static ha_comparison expected_order(number a, number b) {
    if (!(a.im == 0) || !(b.im == 0)) return a.re == b.re && a.im == b.im ? HA_EQUAL : HA_UNORDERED;
    return a.re < b.re    ? HA_LESS
           : a.re > b.re  ? HA_GREATER
           : a.re == b.re ? HA_EQUAL
                          : HA_UNORDERED;
}

TEST(comparisons_of_all_pairs) {
    static ha_dvalue all[TYPES * MOST_EDGES / 4];
    static number numbers[TYPES * MOST_EDGES / 4];
    int count = 0;
    for (int i = 0; i < TYPES; i++) {
        make_edges(types[i]);
        for (int k = 0; k<edge_count; k += edge_count> 90 ? 2 : 1) {
            assert_true(count < TYPES * MOST_EDGES / 4);
            numbers[count] = number_of(&edges[k]);
            all[count++] = edges[k];
        }
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            ha_comparison expected = expected_order(numbers[i], numbers[j]);
            if (ha_dvalue_compare(all[i], all[j]) != expected)
                fail_msg("%s %d, %s %d", ha_dtype_name(all[i].type), i, ha_dtype_name(all[j].type),
                         j);
        }
}

TEST(comparisons) {
    const int64_t n = (1LL << 53) + 1;
    assert_true(ha_dvalue_less(ha_dvalue_of_double(0x1p53), ha_dvalue_of_int64_t(n)));
    assert_false(ha_dvalue_less(ha_dvalue_of_int64_t(n), ha_dvalue_of_double(0x1p53)));
    assert_false(ha_dvalue_equal(ha_dvalue_of_int64_t(n), ha_dvalue_of_double(0x1p53)));
    assert_true(ha_dvalue_equal(ha_dvalue_of_int64_t(n - 1), ha_dvalue_of_double(0x1p53)));
    assert_true(ha_dvalue_less(ha_dvalue_of_int64_t(-1), ha_dvalue_of_uint64_t(UINT64_MAX)));
    assert_true(ha_dvalue_less(ha_dvalue_of_uint64_t(UINT64_MAX), ha_dvalue_of_double(0x1p64)));
    assert_true(ha_dvalue_less(ha_dvalue_of_int8_t(-3), ha_dvalue_of_double(-2.5)));
    assert_true(ha_dvalue_equal(ha_dvalue_of_c64(ha_c64_make(1, 0)), ha_dvalue_of_bool(1)));
    assert_int_equal(ha_dvalue_compare(ha_dvalue_of_c64(ha_c64_make(1, 2)), ha_dvalue_of_bool(1)),
                     HA_UNORDERED);
    assert_true(ha_dvalue_equal(ha_dvalue_of_c64(ha_c64_make(1, 2)),
                                ha_dvalue_of_c128(ha_c128_make(1, 2))));
}

/* ---- types ---------------------------------------------------------------------------------- */

TEST(facts) {
    const struct {
        ha_dtype type;
        const char *name;
        size_t size, alignment;
        ha_number_kind kind;
    } expected[] = {
        {HA_DTYPE_half, "half", 2, 2, HA_KIND_REAL},
        {HA_DTYPE_bfloat16, "bfloat16", 2, 2, HA_KIND_REAL},
        {HA_DTYPE_float, "float", 4, 4, HA_KIND_REAL},
        {HA_DTYPE_double, "double", 8, _Alignof(double), HA_KIND_REAL},
        {HA_DTYPE_int8_t, "int8_t", 1, 1, HA_KIND_SIGNED},
        {HA_DTYPE_int16_t, "int16_t", 2, 2, HA_KIND_SIGNED},
        {HA_DTYPE_int32_t, "int32_t", 4, 4, HA_KIND_SIGNED},
        {HA_DTYPE_int64_t, "int64_t", 8, _Alignof(int64_t), HA_KIND_SIGNED},
        {HA_DTYPE_uint8_t, "uint8_t", 1, 1, HA_KIND_UNSIGNED},
        {HA_DTYPE_uint16_t, "uint16_t", 2, 2, HA_KIND_UNSIGNED},
        {HA_DTYPE_uint32_t, "uint32_t", 4, 4, HA_KIND_UNSIGNED},
        {HA_DTYPE_uint64_t, "uint64_t", 8, _Alignof(uint64_t), HA_KIND_UNSIGNED},
        {HA_DTYPE_bool, "bool", 1, 1, HA_KIND_BOOL},
        {HA_DTYPE_c64, "c64", 8, 4, HA_KIND_COMPLEX},
        {HA_DTYPE_c128, "c128", 16, _Alignof(double), HA_KIND_COMPLEX},
        {HA_DTYPE_NONE, "no type", 0, 0, HA_KIND_NONE},
        {(ha_dtype)99, "no type", 0, 0, HA_KIND_NONE},
    };
    assert_int_equal(sizeof expected / sizeof *expected, TYPES + 2);
    for (int i = 0; i < TYPES + 2; i++) {
        ha_dtype type = expected[i].type, found = HA_DTYPE_NONE;
        assert_string_equal(ha_dtype_name(type), expected[i].name);
        assert_int_equal(ha_dtype_size(type), expected[i].size);
        assert_int_equal(ha_dtype_alignment(type), expected[i].alignment);
        assert_int_equal(ha_dtype_kind(type), expected[i].kind);
        if (i >= TYPES) break;
        FINE(ha_dtype_find(expected[i].name, &found));
        assert_int_equal(found, type);
        found = HA_DTYPE_NONE;
        FINE(ha_dtype_of_type(ha_dtype_to_type(type), &found));
        assert_int_equal(found, type);
    }
}

/* Those of type.h have one each, the same. */
TEST(ready_made_types) {
    const ha_type ready[] = {
#define READY(name, T) {#name, sizeof(T)},
        HA_PREMADE_TYPES(READY)
#undef READY
    };
    for (size_t i = 0; i < sizeof ready / sizeof *ready; i++) {
        ha_dtype dtype = HA_DTYPE_NONE;
        FINE(ha_dtype_of_type(ready[i], &dtype));
        assert_int_equal(ha_dtype_size(dtype), ready[i].size);
        assert_string_equal(ha_dtype_name(dtype),
                            strcmp(ready[i].name, "int") ? ready[i].name : "int32_t");
        ha_dtype found = HA_DTYPE_NONE;
        FINE(ha_dtype_find(ready[i].name, &found));
        assert_int_equal(found, dtype);
    }
    ha_dtype dtype = HA_DTYPE_c64;
    REFUSED(HA_ERR_NOT_FOUND, ha_dtype_of_type((ha_type){"half", 4}, &dtype));
    REFUSED(HA_ERR_NOT_FOUND, ha_dtype_of_type((ha_type){"point", 8}, &dtype));
    REFUSED(HA_ERR_NOT_FOUND, ha_dtype_of_type((ha_type){NULL, 0}, &dtype));
    REFUSED(HA_ERR_NOT_FOUND, ha_dtype_find("no type", &dtype));
    REFUSED(HA_ERR_NOT_FOUND, ha_dtype_find("HALF", &dtype));
    assert_int_equal(ha_dtype_find("f32", &dtype), HA_ERR_NOT_FOUND);
    assert_string_equal(ha_take_error().text,
                        "no element type is called 'f32': there are int8_t int16_t int32_t "
                        "int64_t uint8_t uint16_t uint32_t uint64_t half bfloat16 float double c64 "
                        "c128 bool, and NumPy's names of these");
    REFUSED(HA_ERR_NOT_FOUND, ha_dtype_find(NULL, &dtype));
    assert_int_equal(dtype, HA_DTYPE_c64);
}

TEST(names_of_numpy) {
    const struct {
        const char *name;
        ha_dtype type;
    } expected[] = {
        {"float16", HA_DTYPE_half},    {"float32", HA_DTYPE_float},   {"float64", HA_DTYPE_double},
        {"int8", HA_DTYPE_int8_t},     {"int16", HA_DTYPE_int16_t},   {"int32", HA_DTYPE_int32_t},
        {"int64", HA_DTYPE_int64_t},   {"uint8", HA_DTYPE_uint8_t},   {"uint16", HA_DTYPE_uint16_t},
        {"uint32", HA_DTYPE_uint32_t}, {"uint64", HA_DTYPE_uint64_t}, {"complex64", HA_DTYPE_c64},
        {"complex128", HA_DTYPE_c128}, {"bool", HA_DTYPE_bool},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        ha_dtype found = HA_DTYPE_NONE;
        FINE(ha_dtype_find(expected[i].name, &found));
        assert_int_equal(found, expected[i].type);
    }
    ha_dtype found = HA_DTYPE_c64;
    REFUSED(HA_ERR_NOT_FOUND, ha_dtype_find("float128", &found));
    REFUSED(HA_ERR_NOT_FOUND, ha_dtype_of_type((ha_type){"float32", 4}, &found)); /* the user's */
    assert_int_equal(found, HA_DTYPE_c64);
}

/* A byte that is neither 0 nor 1 is true. */
TEST(bool_of_any_byte) {
    const uint8_t any = 0x80;
    assert_int_equal(ha_dvalue_load(HA_DTYPE_bool, &any).as_bool, 1);
    assert_int_equal(ha_dvalue_of_bool(256).as_bool, 1);
    assert_int_equal(ha_dvalue_of_bool(0).as_bool, 0);
    ha_dvalue odd = {.type = HA_DTYPE_bool, .bytes = {0x80}}, even;
    FINE(ha_dvalue_convert(odd, HA_DTYPE_bool, &even)); /* no element gets such a byte */
    assert_int_equal(even.as_bool, 1);
}

/* ---- text ----------------------------------------------------------------------------------- */

#define PRINTS(expected, value)                                                                    \
    do {                                                                                           \
        char text_[80];                                                                            \
        assert_int_equal(ha_dvalue_print(value, text_, sizeof text_), strlen(expected));           \
        assert_string_equal(text_, expected);                                                      \
    } while (0)

TEST(printing) {
    char text[4] = "???";
    PRINTS("3", ha_dvalue_of_float(3));
    PRINTS("120", ha_dvalue_of_double(120));
    PRINTS("100", ha_dvalue_of_half(ha_half_of_float(100)));
    PRINTS("0.1", ha_dvalue_of_half(ha_half_of_double(0.1)));
    PRINTS("0.1", ha_dvalue_of_bfloat16(ha_bfloat16_of_double(0.1)));
    PRINTS("0.1", ha_dvalue_of_float(0.1f));
    PRINTS("0.1", ha_dvalue_of_double(0.1));
    PRINTS("0.10000000149011612", ha_dvalue_of_double((double)0.1f));
    PRINTS("0.30000000000000004", ha_dvalue_of_double(0.1 + 0.2));
    PRINTS("16777216", ha_dvalue_of_float(16777216));
    PRINTS("123457", ha_dvalue_of_float(123457));
    PRINTS("1e+300", ha_dvalue_of_double(1e300));
    PRINTS("5e-324", ha_dvalue_of_double(0x1p-1074));
    PRINTS("6e-08", ha_dvalue_of_half(ha_half_of_bits(1)));
    PRINTS("-0", ha_dvalue_of_double(-0.0));
    PRINTS("nan", ha_dvalue_of_double(-__builtin_nan("")));
    PRINTS("-inf", ha_dvalue_of_float(-__builtin_inff()));
    PRINTS("inf", ha_dvalue_of_half(ha_half_of_bits(0x7c00)));
    PRINTS("-128", ha_dvalue_of_int8_t(-128));
    PRINTS("-9223372036854775808", ha_dvalue_of_int64_t(INT64_MIN));
    PRINTS("18446744073709551615", ha_dvalue_of_uint64_t(UINT64_MAX));
    PRINTS("1", ha_dvalue_of_bool(5));
    PRINTS("1+2i", ha_dvalue_of_c64(ha_c64_make(1, 2)));
    PRINTS("0.1+0.2i", ha_dvalue_of_c64(ha_c64_make(0.1f, 0.2f)));
    PRINTS("0.1-0i", ha_dvalue_of_c128(ha_c128_make(0.1, -0.0)));
    PRINTS("0+nani", ha_dvalue_of_c64(ha_c64_make(0, -__builtin_nanf(""))));
    PRINTS("no value", ((ha_dvalue){.type = HA_DTYPE_NONE}));
    assert_int_equal(ha_dvalue_print(ha_dvalue_of_double(0.125), text, sizeof text), 5);
    assert_string_equal(text, "0.1");
    assert_int_equal(ha_dvalue_print(ha_dvalue_of_double(0.125), NULL, 0), 5);
}

/* What a locale writes for the point, of one byte or of more. */
TEST(decimal_points) {
    static const char *const texts[][2] = {{"-1,5e-10", "-1.5e-10"},
                                           {"1\xd9\xab"
                                            "25",
                                            "1.25"},
                                           {"120", "120"},
                                           {"1.5e+300", "1.5e+300"},
                                           {"1e+300", "1e+300"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[20];
        snprintf(text, sizeof text, "%s", texts[i][0]);
        ha_point_decimals(text);
        assert_string_equal(text, texts[i][1]);
    }
}

/* Texts of reals are read back as what they were. */
TEST(read_back) {
    for (int i = 0; i < TYPES; i++) {
        if (ha_dtype_kind(types[i]) != HA_KIND_REAL) continue;
        make_edges(types[i]);
        for (int k = 0; k < edge_count; k++) {
            char text[80];
            ha_dvalue v = ha_dvalue_of_double(0);
            if (!ha_dvalue_equal(edges[k], edges[k])) continue; /* NaN */
            ha_dvalue_print(edges[k], text, sizeof text);
            FINE(ha_dvalue_convert(ha_dvalue_of_double(strtod(text, NULL)), types[i], &v));
            assert_memory_equal(v.bytes, edges[k].bytes, sizeof v.bytes);
        }
    }
}

#define T(name) cmocka_unit_test(name)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(conversions_of_all_pairs),
        T(conversions),
        T(refused),
        T(comparisons_of_all_pairs),
        T(comparisons),
        T(facts),
        T(ready_made_types),
        T(names_of_numpy),
        T(bool_of_any_byte),
        T(printing),
        T(decimal_points),
        T(read_back),
    };
    int failed = cmocka_run_group_tests_name("dtype", tests, NULL, NULL);
    return failed + (ha_shutdown() != HA_OK);
}
