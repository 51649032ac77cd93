/* Arrays of n dimensions as text. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"

static char printed[1 << 20];

static const char *text_of(darray x) {
    const size_t length = darray_print(x, printed, sizeof printed);
    assert_int_equal(length, strlen(printed));
    return printed;
}

#define PRINTS(x, expected) assert_string_equal(text_of(x), expected)
#define EXTENT(...)                                                                                \
    (const int64_t[]) { __VA_ARGS__ }

/* 0, 1, 2, ... as elements of a type, first at C. */
static darray counting(ha_dtype type, int rank, const int64_t *extent) {
    darray x = darray_new(type, rank, extent, C);
    ha_write_darray v;
    keep_array(x.array);
    memset(&v, 0, sizeof v);
    SUCCEEDS(ha_open(&v, x.array, ha_host(), HA_OVERWRITE, 0, HA_END));
    for (size_t i = 0; i < v.size; i++)
        assert_int_equal(ha_dvalue_store(ha_dvalue_of_int64_t((int64_t)i), type,
                                         (char *)v.data + i * ha_dtype_size(type)),
                         HA_OK);
    ha_close(&v);
    SUCCEEDS(ha_array_prefetch(x.array, C, 0, HA_END));
    return x;
}

static darray of_doubles(int rank, const int64_t *extent, const double *values) {
    darray x = darray_of(HA_DTYPE_double, rank, extent, values, C);
    keep_array(x.array);
    return x;
}

/* ---- layout --------------------------------------------------------------------------------- */

TEST(printing_a_row) { /* its own format is one number a line */
    darray x = counting(HA_DTYPE_float, 1, EXTENT(4));
    PRINTS(x, "[0 1 2 3]\n");
    drop_array(x.array);
}

TEST(printing_a_matrix) { /* the last index runs along the line */
    const double values[] = {0, 1, 2, 0, 1, 2};
    darray x = of_doubles(2, EXTENT(2, 3), values);
    PRINTS(x, "[[0 1 2]\n"
              " [0 1 2]]\n");
    PRINTS(darray_transpose(x), "[[0 0]\n"
                                " [1 1]\n"
                                " [2 2]]\n");
    drop_array(x.array);
}

TEST(columns_are_aligned_at_the_point) {
    const double values[] = {1, -20.5, 0.25, 1e300, 3, -0.0};
    darray x = of_doubles(2, EXTENT(2, 3), values);
    PRINTS(x, "[[  1    -20.5    0.25]\n"
              " [1e+300   3     -0   ]]\n");
    drop_array(x.array);
}

TEST(what_is_no_number_is_aligned_at_its_end) {
    const double values[] = {__builtin_nan(""), __builtin_inf(), -__builtin_inf(), 1.5};
    darray x = of_doubles(2, EXTENT(2, 2), values);
    PRINTS(x, "[[ nan  inf]\n"
              " [-inf  1.5]]\n");
    drop_array(x.array);
}

TEST(dimensions_are_seen_by_their_brackets) {
    darray x = counting(HA_DTYPE_int32_t, 3, EXTENT(2, 2, 3));
    PRINTS(x, "[[[ 0  1  2]\n"
              "  [ 3  4  5]]\n"
              "\n"
              " [[ 6  7  8]\n"
              "  [ 9 10 11]]]\n");
    PRINTS(darray_reshape(x, 4, EXTENT(1, 2, 1, 6)), "[[[[ 0  1  2  3  4  5]]\n"
                                                     "\n"
                                                     "  [[ 6  7  8  9 10 11]]]]\n");
    PRINTS(darray_fix(darray_fix(darray_fix(x, 0, 1), 0, 1), 0, 2), "11\n");
    drop_array(x.array);
}

TEST(views_print_as_they_are) {
    darray x = counting(HA_DTYPE_uint8_t, 2, EXTENT(3, 4));
    PRINTS(darray_slice(darray_flip(x, 0), 1, 3, HA_ALL, -2), "[[11  9]\n"
                                                              " [ 7  5]\n"
                                                              " [ 3  1]]\n");
    PRINTS(darray_diagonal(x, 0, 1, 1), "[ 1  6 11]\n");
    PRINTS(darray_broadcast(darray_fix(x, 0, 1), 2, EXTENT(2, 4)), "[[4 5 6 7]\n"
                                                                   " [4 5 6 7]]\n");
    drop_array(x.array);
}

TEST(every_type_prints){
#define PRINTS_TYPE(name, T, kind, text)                                                           \
    {                                                                                              \
        darray x = counting(HA_DTYPE_##name, 1, EXTENT(2));                                        \
        PRINTS(x, (kind) == HA_KIND_COMPLEX ? "[0+0i 1+0i]\n" : "[0 1]\n");                        \
        drop_array(x.array);                                                                       \
    }
    HA_DTYPES(PRINTS_TYPE)
#undef PRINTS_TYPE
}

/* ---- what is left out ----------------------------------------------------------------------- */

TEST(ten_are_shown_and_eleven_are_not) {
    darray x = counting(HA_DTYPE_int16_t, 1, EXTENT(11));
    PRINTS(darray_slice(x, 0, 0, 10, 1), "[0 1 2 3 4 5 6 7 8 9]\n");
    PRINTS(x, "int16_t 1 [11]\n"
              "[ 0  1  2  3  4 ...  6  7  8  9 10]\n");
    drop_array(x.array);
}

TEST(
    printing_the_ends_of_much) { /* first the extents; then at most 10 rows and columns, "..." between */
    darray x = counting(HA_DTYPE_int32_t, 2, EXTENT(12, 100));
    PRINTS(x, "int32_t 2 [12, 100]\n"
              "[[   0    1    2    3    4 ...   95   96   97   98   99]\n"
              " [ 100  101  102  103  104 ...  195  196  197  198  199]\n"
              " [ 200  201  202  203  204 ...  295  296  297  298  299]\n"
              " [ 300  301  302  303  304 ...  395  396  397  398  399]\n"
              " [ 400  401  402  403  404 ...  495  496  497  498  499]\n"
              " ...\n"
              " [ 700  701  702  703  704 ...  795  796  797  798  799]\n"
              " [ 800  801  802  803  804 ...  895  896  897  898  899]\n"
              " [ 900  901  902  903  904 ...  995  996  997  998  999]\n"
              " [1000 1001 1002 1003 1004 ... 1095 1096 1097 1098 1099]\n"
              " [1100 1101 1102 1103 1104 ... 1195 1196 1197 1198 1199]]\n");
    drop_array(x.array);
}

static size_t count_of(const char *text, const char *part) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) count++;
    return count;
}

TEST(outer_dimensions_are_left_out_when_it_would_be_much) {
    darray one = counting(HA_DTYPE_int8_t, 1, EXTENT(2));
    darray x = darray_fix(one, 0, 1);
    darray ten = darray_broadcast(x, 3, EXTENT(10, 10, 10)); /* 1000: all of it */
    assert_int_equal(count_of(text_of(ten), "1"), 1000);
    darray more = darray_broadcast(x, 4, EXTENT(2, 10, 10, 10));
    assert_int_equal(count_of(text_of(more), "1"), 400 + 3); /* those of the extents */
    assert_int_equal(count_of(printed, "...\n"), 2);
    darray most = darray_broadcast(x, 8, EXTENT(11, 11, 11, 11, 11, 11, 11, 11));
    assert_int_equal(count_of(text_of(most), "1"), 64 * 100 + 16);
    drop_array(one.array);
}

TEST(extents_may_be_as_large_as_they_are) {
    darray x = counting(HA_DTYPE_int8_t, 1, EXTENT(1));
    PRINTS(darray_broadcast(x, 1, EXTENT(INT64_MAX)), "int8_t 1 [9223372036854775807]\n"
                                                      "[0 0 0 0 0 ... 0 0 0 0 0]\n");
    drop_array(x.array);
}

TEST(without_elements_there_are_extents) {
    darray x = darray_new(HA_DTYPE_double, 2, EXTENT(0, 3), C);
    keep_array(x.array);
    PRINTS(x, "double 2 [0, 3]\n"
              "[]\n");
    drop_array(x.array);
}

TEST(only_what_is_shown_moves) {
    darray x = counting(HA_DTYPE_double, 2, EXTENT(100, 100));
    HA_WRITING(v, harray_double_from(x.array), C) {}
    const uint64_t before = ha_array_statistics(x.array).bytes;
    assert_int_equal(count_of(text_of(x), "\n"), 12);
    const uint64_t moved = ha_array_statistics(x.array).bytes - before;
    assert_true(shares_memory(C) ? !moved : moved >= 100 * sizeof(double));
    if (x.array->grid && moved) assert_int_equal(moved, 100 * sizeof(double));
    drop_array(x.array);
}

/* ---- where it goes -------------------------------------------------------------------------- */

TEST(as_snprintf) {
    char text[8] = "#######";
    darray x = counting(HA_DTYPE_int8_t, 1, EXTENT(4));
    assert_int_equal(darray_print(x, NULL, 0), 10);
    assert_int_equal(darray_print(x, text, 5), 10);
    assert_memory_equal(text, "[0 1\0##", 8);
    drop_array(x.array);
}

TEST(into_files) {
    char text[40] = "";
    darray x = counting(HA_DTYPE_int8_t, 1, EXTENT(4));
    FILE *file = tmpfile(), *full = fopen("/dev/full", "w");
    assert_non_null(file);
    SUCCEEDS(darray_fprint(x, file));
    rewind(file);
    assert_int_equal(fread(text, 1, sizeof text, file), 10);
    assert_string_equal(text, "[0 1 2 3]\n");
    fclose(file);
    REFUSED(HA_ERR_ARGUMENT, darray_fprint(x, NULL));
    FILE *read_only = fopen("/dev/null", "r");
    assert_non_null(read_only);
    REFUSED(HA_ERR_BACKEND, darray_fprint(x, read_only));
    fclose(read_only);
    if (full) {
        setvbuf(full, NULL, _IONBF, 0);
        REFUSED(HA_ERR_BACKEND, darray_fprint(x, full));
        fclose(full);
    }
    drop_array(x.array);
}

#define PRINTS_NOTHING(expected, x)                                                                \
    do {                                                                                           \
        char text_[4] = "###";                                                                     \
        assert_int_equal(darray_print(x, text_, sizeof text_), 0);                                 \
        assert_string_equal(text_, "");                                                            \
        assert_int_equal(ha_take_error().status, expected);                                        \
    } while (0)

TEST(what_cannot_be_had_prints_nothing) {
    const darray none = {.rank = 2};
    darray x = darray_new(HA_DTYPE_double, 1, EXTENT(3), C);
    keep_array(x.array);
    PRINTS_NOTHING(HA_ERR_STATE, x);
    REFUSED(HA_ERR_STATE, darray_fprint(x, stderr));
    HA_OVERWRITING_ALL(v, harray_double_from(x.array), C) { PRINTS_NOTHING(HA_ERR_CONFLICT, x); }
    PRINTS_NOTHING(HA_ERR_ARGUMENT, none);
    drop_array(x.array);
}

typedef struct point {
    double x, y;
} point;
HARRAY(point);

TEST(elements_of_ones_own_are_not_known) {
    const ha_shape shape = {.rank = 2, .extent = {2, 3}};
    darray x = darray_make_of(harray_point_type(), &shape, C);
    keep_array(x.array);
    PRINTS_NOTHING(HA_ERR_UNSUPPORTED, x);
    assert_int_equal(darray_print_type(x, printed, sizeof printed), 7);
    assert_string_equal(printed, "point 2");
    drop_array(x.array);
}

/* ---- what it is ----------------------------------------------------------------------------- */

TEST(printing_type_and_rank) { /* type and rank */
    static const struct {
        ha_dtype type;
        int rank;
        const char *text;
    } cases[] = {{HA_DTYPE_float, 2, "float 2"},
                 {HA_DTYPE_int32_t, 1, "int32_t 1"},
                 {HA_DTYPE_double, 3, "double 3"},
                 {HA_DTYPE_half, 4, "half 4"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        darray x = counting(cases[i].type, cases[i].rank, EXTENT(1, 1, 1, 1));
        assert_int_equal(darray_print_type(x, printed, sizeof printed), strlen(cases[i].text));
        assert_string_equal(printed, cases[i].text);
        drop_array(x.array);
    }
    const darray none = {.rank = 2};
    assert_int_equal(darray_print_type(none, printed, sizeof printed), 8);
    assert_string_equal(printed, "no array");
    assert_int_equal(darray_print_type(none, NULL, 0), 8);
}

#define IS_DESCRIBED(x, expected)                                                                  \
    do {                                                                                           \
        assert_int_equal(darray_describe(x, printed, sizeof printed), strlen(expected));           \
        assert_string_equal(printed, expected);                                                    \
    } while (0)

TEST(described_in_a_line) {
    const darray none = {.rank = 2};
    darray x = darray_new(HA_DTYPE_double, 2, EXTENT(3, 4), ha_host());
    keep_array(x.array);
    IS_DESCRIBED(x, "double 2 [3, 4], strides [4, 1], row-major, valid nowhere");
    HA_OVERWRITING_ALL(v, harray_double_from(x.array), ha_host()) {}
    ha_array_set_name(x.array, "u");
    IS_DESCRIBED(x, "'u': double 2 [3, 4], strides [4, 1], row-major, valid on host");
    IS_DESCRIBED(darray_transpose(x),
                 "'u': double 2 [4, 3], strides [1, 4], column-major, valid on host");
    IS_DESCRIBED(darray_fix(x, 0, 1),
                 "'u': double 1 [4], strides [1], without gaps, offset 4, valid on host");
    IS_DESCRIBED(darray_with_origin(darray_slice(x, 1, 0, 4, 2), EXTENT(-1, 0)),
                 "'u': double 2 [3, 2], strides [4, 2], with gaps, origin [-1, 0], valid on host");
    IS_DESCRIBED(darray_flip(x, 1),
                 "'u': double 2 [3, 4], strides [4, -1], without gaps, offset 3, valid on host");
    IS_DESCRIBED(darray_flip(darray_flip(x, 0), 1),
                 "'u': double 2 [3, 4], strides [-4, -1], without gaps, offset 11, valid on host");
    IS_DESCRIBED(darray_flip(darray_slice(x, 1, 0, 4, 2), 0),
                 "'u': double 2 [3, 2], strides [-4, 2], with gaps, offset 8, valid on host");
    IS_DESCRIBED(
        darray_broadcast(darray_fix(x, 0, 1), 2, EXTENT(2, 4)),
        "'u': double 2 [2, 4], strides [0, 1], repeating elements, offset 4, valid on host");
    darray cube = darray_zeros(HA_DTYPE_double, 3, EXTENT(2, 3, 4), ha_host());
    keep_array(cube.array);
    IS_DESCRIBED(darray_permute(cube, EXTENT(1, 0, 2)),
                 "double 3 [3, 2, 4], strides [4, 12, 1], without gaps, valid on host");
    drop_array(cube.array);
    IS_DESCRIBED(none, "no array");
    if (!shares_memory(C)) {
        snprintf(printed, sizeof printed, "%s", ha_context_name(C));
        HA_READING(v, harray_double_from(x.array), C) {}
        darray_describe(x, printed, sizeof printed);
        assert_non_null(strstr(printed, ", valid on host, "));
        assert_non_null(strstr(printed, ha_context_name(C)));
    }
    drop_array(x.array);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(printing_a_row),
        CASE(printing_a_matrix),
        CASE(columns_are_aligned_at_the_point),
        CASE(what_is_no_number_is_aligned_at_its_end),
        CASE(dimensions_are_seen_by_their_brackets),
        CASE(views_print_as_they_are),
        CASE(every_type_prints),
        CASE(ten_are_shown_and_eleven_are_not),
        CASE(printing_the_ends_of_much),
        CASE(outer_dimensions_are_left_out_when_it_would_be_much),
        CASE(extents_may_be_as_large_as_they_are),
        CASE(without_elements_there_are_extents),
        CASE(only_what_is_shown_moves),
        CASE(as_snprintf),
        CASE(into_files),
        CASE(what_cannot_be_had_prints_nothing),
        CASE(elements_of_ones_own_are_not_known),
        CASE(printing_type_and_rank),
        CASE(described_in_a_line),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
