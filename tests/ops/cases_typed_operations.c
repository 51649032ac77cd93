/* Functions of one type, on every context, as programs of their users put them together: against loops by hand. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"
#include "../support/share.h"

HA_OPS(double);
HA_OPS(float);
HA_OPS(int32_t);
HA_OPS(int64_t);
HA_OPS(uint8_t);
HA_OPS(c64);
HA_OPS(c128);

#include "known_operations.h"

enum { N = 3000, CELLS = 17 };

/* Numbers that are each other's neighbours nowhere. */
static int scrambled(int i) { return (int)((unsigned)i * 2654435761u >> 7) % 1000; }

/* An array that drop_arrays() frees. */
#define KEEP(x)                                                                                    \
    __extension__({                                                                                \
        const __typeof__(x) kept_ = (x);                                                           \
        keep_array(kept_.array);                                                                   \
        kept_;                                                                                     \
    })

static void refused(ha_status got, const char *part, const char *second) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, HA_ERR_ARGUMENT);
    if (!strstr(e.text, part) || !strstr(e.text, second))
        fail_msg("\"%s\" does not say \"%s\", \"%s\"", e.text, part, second);
}

/* ---- particles in the order of their cells ------------------------------------------------------- */

TEST(particles_by_cell) {
    static int in_cell[CELLS];
    harray_int32_t cell = KEEP(harray_int32_t_new(N)), at = KEEP(harray_int32_t_new(N));
    harray_int32_t rank = KEEP(harray_int32_t_new(N));
    harray_int32_t count = KEEP(harray_int32_t_new(CELLS));
    harray_int32_t begin = KEEP(harray_int32_t_new(CELLS + 1));
    harray_double x = KEEP(harray_double_new(N)), sorted = KEEP(harray_double_new(N));
    int64_t outside = -1;
    memset(in_cell, 0, sizeof in_cell);
    HA_WRITING(v, cell, H) for (int i = 0; i < N; i++) v.data[i] = scrambled(i) % CELLS;
    HA_WRITING(v, x, H) for (int i = 0; i < N; i++) v.data[i] = i + 0.5;
    for (int i = 0; i < N; i++) in_cell[scrambled(i) % CELLS]++;

    SUCCEEDS(harray_int32_t_sorting(at, cell, HA_ASCENDING, C));
    SUCCEEDS(harray_double_gather(sorted, x, at, C));
    SUCCEEDS(harray_int32_t_inverse(rank, at, C));
    SUCCEEDS(harray_int32_t_histogram(count, cell, 0, CELLS, &outside, C));
    SUCCEEDS(harray_int32_t_scan_offsets(begin, count, C));
    SUCCEEDS(harray_double_sort_by_key(cell, x, HA_ASCENDING, C));

    assert_int_equal(outside, 0);
    HA_READING(b, begin, H)
    HA_READING(r, rank, H)
    HA_READING(s, sorted, H)
    HA_READING(k, cell, H)
    HA_READING(v, x, H) {
        int to[CELLS];
        assert_int_equal(b.data[0], 0);
        for (int c = 0; c < CELLS; c++) {
            assert_int_equal(b.data[c + 1] - b.data[c], in_cell[c]);
            to[c] = b.data[c];
        }
        for (int i = 0; i < N; i++) {
            const int c = scrambled(i) % CELLS, place = to[c]++;
            assert_int_equal(r.data[i], place);
            assert_true(s.data[place] == i + 0.5 && v.data[place] == i + 0.5);
            assert_int_equal(k.data[place], c);
        }
    }
    drop_arrays();
}

/* ---- a matrix of finite elements: entries that come several times, in any order ------------------ */

TEST(sparse_assembly) {
    static double dense[1000];
    harray_int32_t at = KEEP(harray_int32_t_new(N)), place = KEEP(harray_int32_t_new(N));
    harray_int32_t index = KEEP(harray_int32_t_filled(N, -1));
    harray_double entry = KEEP(harray_double_new(N)), value = KEEP(harray_double_filled(N, 0));
    int64_t distinct = -1;
    memset(dense, 0, sizeof dense);
    HA_WRITING(v, at, H) for (int i = 0; i < N; i++) v.data[i] = scrambled(i);
    HA_WRITING(v, entry, H) for (int i = 0; i < N; i++) v.data[i] = i % 7 - 2;
    for (int i = 0; i < N; i++) dense[scrambled(i)] += i % 7 - 2;

    SUCCEEDS(harray_double_sort_by_key(at, entry, HA_ASCENDING, C));
    SUCCEEDS(harray_int32_t_unique(index, at, &distinct, C));
    harray_int32_t known = KEEP(harray_int32_t_new((size_t)distinct));
    SUCCEEDS(darray_copy(HA_DARRAY(known), darray_slice(HA_DARRAY(index), 0, 0, distinct, 1), C));
    SUCCEEDS(harray_int32_t_lower_bound(place, known, at, C));
    SUCCEEDS(harray_double_scatter(HA_ADD, value, place, entry, C));

    HA_READING(k, known, H)
    HA_READING(v, value, H) {
        int64_t n = 0;
        for (int i = 0; i < 1000; i++) {
            int there = 0;
            for (int e = 0; e < N && !there; e++) there = scrambled(e) == i;
            if (!there) continue;
            assert_true(n < distinct && k.data[n] == i && v.data[n] == dense[i]);
            n++;
        }
        assert_int_equal(n, distinct);
    }
    drop_arrays();
}

/* ---- two sparse vectors -------------------------------------------------------------------------- */

TEST(sparse_sums) {
    harray_int32_t x_at = KEEP(harray_int32_t_new(N)), y_at = KEEP(harray_int32_t_new(N));
    harray_int32_t z_at = KEEP(harray_int32_t_filled(2 * N, -1));
    harray_float x = KEEP(harray_float_new(N)), y = KEEP(harray_float_filled(N, 100));
    harray_float z = KEEP(harray_float_filled(2 * N, -1));
    int64_t count = -1, n = 0;
    SUCCEEDS(harray_int32_t_sequence(x_at, 0, 2, C)); /* 0, 2, 4, …: 0, 1, 2, … */
    SUCCEEDS(harray_float_sequence(x, 0, 1, C));
    SUCCEEDS(harray_int32_t_sequence(y_at, 0, 3, C));
    SUCCEEDS(harray_float_sparse_combine(HA_SUBTRACT, z_at, z, x_at, x, y_at, y, &count, C));
    HA_READING(k, z_at, H)
    HA_READING(v, z, H)
    for (int i = 0; i < 3 * N; i++) {
        const int in_x = i % 2 == 0 && i < 2 * N, in_y = i % 3 == 0;
        if (!in_x && !in_y) continue;
        assert_int_equal(k.data[n], i);
        assert_true(v.data[n++] == (float)((in_x ? i / 2 : 0) - (in_y ? 100 : 0)));
    }
    assert_int_equal(count, n);
    drop_arrays();
}

/* ---- what a mask leaves of a measurement --------------------------------------------------------- */

TEST(masked_reductions) {
    harray_double x = KEEP(harray_double_new(N)), none = KEEP(harray_double_filled(N, 0));
    harray_double good = KEEP(harray_double_filled(N, -1));
    harray_uint8_t mask = KEEP(harray_uint8_t_filled(N, 9));
    harray_int64_t at = KEEP(harray_int64_t_filled(N, -1));
    int64_t marked = -1, left = -1, found = -1, least = -1, greatest = -1, zeros = -1, n = 0;
    int64_t least_known = 0, greatest_known = 0;
    double sum = -1, known = 0;
    HA_WRITING(v, x, H)
    for (int i = 0; i < N; i++) v.data[i] = i % 5 == 3 ? (double)NAN : scrambled(i) - 400;

    SUCCEEDS(harray_double_classify(HA_IS_FINITE, mask, x, C));
    SUCCEEDS(harray_uint8_t_count(mask, &marked, C));
    SUCCEEDS(harray_int64_t_find(at, mask, &found, C));
    SUCCEEDS(harray_double_compact(good, x, mask, &left, C));
    SUCCEEDS(harray_double_where(x, mask, x, none, C));
    SUCCEEDS(harray_double_sum(x, &sum, C));
    SUCCEEDS(harray_double_min_at(x, &least, C));
    SUCCEEDS(harray_double_max_at(x, &greatest, C));
    SUCCEEDS(harray_double_count(x, &zeros, C));

    HA_READING(k, at, H)
    HA_READING(g, good, H)
    HA_READING(v, x, H)
    for (int i = 0; i < N; i++) {
        const int here = i % 5 == 3 ? 0 : scrambled(i) - 400;
        assert_true(v.data[i] == here);
        known += here;
        zeros -= here != 0;
        if (v.data[i] < v.data[least_known]) least_known = i;
        if (v.data[i] > v.data[greatest_known]) greatest_known = i;
        if (i % 5 == 3) continue;
        assert_int_equal(k.data[n], i);
        assert_true(g.data[n++] == here);
    }
    assert_true(marked == n && found == n && left == n && zeros == 0 && sum == known);
    assert_int_equal(least, least_known);
    assert_int_equal(greatest, greatest_known);
    drop_arrays();
}

/* ---- a spectrum ---------------------------------------------------------------------------------- */

#define SPECTRUM(Z, R)                                                                             \
    static void spectrum_of_##Z(void) {                                                            \
        harray_##R x = KEEP(harray_##R##_new(N)), y = KEEP(harray_##R##_new(N));                   \
        harray_##R power = KEEP(harray_##R##_new(N)), back = KEEP(harray_##R##_new(N));            \
        harray_##Z z = KEEP(harray_##Z##_new(N));                                                  \
        int64_t peak = -1, known = 0;                                                              \
        HA_WRITING(v, x, H) for (int i = 0; i < N; i++) v.data[i] = (R)(3 * (i % 50));             \
        HA_WRITING(v, y, H) for (int i = 0; i < N; i++) v.data[i] = (R)(-4 * (i % 50));            \
        SUCCEEDS(harray_##Z##_complex(z, x, y, C));                                                \
        HA_READING(v, z, H)                                                                        \
        for (int i = 0; i < N; i++)                                                                \
            assert_true(v.data[i].re == (R)(3 * (i % 50)) && v.data[i].im == (R)(-4 * (i % 50)));  \
        SUCCEEDS(harray_##Z##_part(HA_ABS, power, z, C));                                          \
        SUCCEEDS(harray_##R##_max_at(power, &peak, C));                                            \
        HA_READING(v, power, H)                                                                    \
        for (int i = 0; i < N; i++) {                                                              \
            assert_true(v.data[i] == (R)(5 * (i % 50)));                                           \
            if (v.data[i] > v.data[known]) known = i;                                              \
        }                                                                                          \
        assert_int_equal(peak, known);                                                             \
        SUCCEEDS(harray_##Z##_part(HA_REAL_PART, back, z, C));                                     \
        HA_READING(v, back, H)                                                                     \
        for (int i = 0; i < N; i++) assert_true(v.data[i] == (R)(3 * (i % 50)));                   \
        SUCCEEDS(harray_##Z##_part(HA_IMAGINARY_PART, back, z, C));                                \
        HA_READING(v, back, H)                                                                     \
        for (int i = 0; i < N; i++) assert_true(v.data[i] == (R)(-4 * (i % 50)));                  \
        drop_arrays();                                                                             \
    }
SPECTRUM(c128, double)
SPECTRUM(c64, float)

TEST(spectra) {
    spectrum_of_c128();
    spectrum_of_c64();
}

/* ---- what is refused ------------------------------------------------- */

TEST(refused_by_name) {
    harray_int32_t twice = KEEP(harray_int32_t_filled(3, 1)),
                   to = KEEP(harray_int32_t_filled(3, 7));
    harray_int32_t counts = KEEP(harray_int32_t_filled(2, -1));
    harray_c64 z = KEEP(harray_c64_filled(3, ha_c64_make(1, 1)));
    harray_float shorter = KEEP(harray_float_filled(2, 0));
    int64_t at = 5;
    refused(harray_int32_t_inverse(to, twice, C), "harray_int32_t_inverse", "1");
    refused(harray_int32_t_scan_offsets(to, counts, C), "harray_int32_t_scan_offsets", "-1");
    refused(harray_c64_part(HA_ABS, shorter, z, C), "harray_c64_part", "float (2)");
    refused(harray_c64_min_at(z, &at, C), "harray_c64_min_at", "c64");
    assert_int_equal(at, 5);
    HA_READING(v, to, H) for (int i = 0; i < 3; i++) assert_int_equal(v.data[i], 7);
    drop_arrays();
}

/* ---- lines of the caller ---------------------------------------------------------------------- */

static void begins_with(const char *start) {
    const ha_error e = ha_take_error();
    if (strncmp(e.text, start, strlen(start)) != 0 || e.text[strlen(start)] != ':')
        fail_msg("not from %s: %s", start, e.text);
    if (strstr(e.text + strlen(start), __FILE__)) fail_msg("twice: %s", e.text);
}

/* A call of no array: in a check its text begins with the check's line, in HA_FROM with that one's, and else with
 * the name of the function. */
#define NAMES_ITS_LINE(function, ...)                                                              \
    do {                                                                                           \
        char line[300];                                                                            \
        snprintf(line, sizeof line, "%s:%d", __FILE__, __LINE__);                                  \
        HA_IGNORE(function(__VA_ARGS__, C));                                                       \
        begins_with(line);                                                                         \
        HA_FROM("main.c:7") HA_IGNORE(function(__VA_ARGS__, C));                                   \
        begins_with("main.c:7");                                                                   \
        HA_FROM(HA_SITE) assert_int_equal(function(__VA_ARGS__, C), HA_ERR_ARGUMENT);              \
        begins_with(line);                                                                         \
        assert_int_equal(function(__VA_ARGS__, C), HA_ERR_ARGUMENT);                               \
        begins_with(#function);                                                                    \
    } while (0)

TEST(lines_of_functions_of_one_type) {
    const harray_double x = {NULL};
    const harray_float part = {NULL};
    const harray_int32_t at = {NULL};
    const harray_int64_t far_at = {NULL};
    const harray_uint8_t mask = {NULL};
    const harray_c64 z = {NULL};
    double number;
    int64_t count;
    NAMES_ITS_LINE(harray_double_fill, x, 1);
    NAMES_ITS_LINE(harray_double_sequence, x, 0, 1);
    NAMES_ITS_LINE(harray_double_random, x, 1);
    NAMES_ITS_LINE(harray_double_random_normal, x, 1);
    NAMES_ITS_LINE(harray_double_map, HA_SQRT, x, x);
    NAMES_ITS_LINE(harray_double_combine, HA_ADD, x, x, x);
    NAMES_ITS_LINE(harray_double_combine_number, HA_ADD, x, x, 1);
    NAMES_ITS_LINE(harray_double_axpy, x, 2, x);
    NAMES_ITS_LINE(harray_double_axpby, x, 2, x, 3, x);
    NAMES_ITS_LINE(harray_double_clip, x, x, 0, 1);
    NAMES_ITS_LINE(harray_double_clip, x, x, 1, 0);
    NAMES_ITS_LINE(harray_double_sparse_combine, HA_ADD, at, x, at, x, at, x, &count);
    NAMES_ITS_LINE(harray_double_compare, HA_IS_LESS, mask, x, x);
    NAMES_ITS_LINE(harray_double_compare_number, HA_IS_LESS, mask, x, 1);
    NAMES_ITS_LINE(harray_double_classify, HA_IS_NAN, mask, x);
    NAMES_ITS_LINE(harray_double_where, x, mask, x, x);
    NAMES_ITS_LINE(harray_double_compact, x, x, mask, &count);
    NAMES_ITS_LINE(harray_double_reduce, HA_SUM, x, &number);
    NAMES_ITS_LINE(harray_double_sum, x, &number);
    NAMES_ITS_LINE(harray_double_min, x, &number);
    NAMES_ITS_LINE(harray_double_max, x, &number);
    NAMES_ITS_LINE(harray_double_min_at, x, &count);
    NAMES_ITS_LINE(harray_double_max_at, x, &count);
    NAMES_ITS_LINE(harray_double_count, x, &count);
    NAMES_ITS_LINE(harray_double_dot, x, x, &number);
    NAMES_ITS_LINE(harray_double_norm, HA_NORM_2, x, &number);
    NAMES_ITS_LINE(harray_double_difference, HA_NORM_2, x, x, &number);
    NAMES_ITS_LINE(harray_double_gather, x, x, at);
    NAMES_ITS_LINE(harray_double_scatter, HA_ADD, x, at, x);
    NAMES_ITS_LINE(harray_double_sort, x, HA_ASCENDING);
    NAMES_ITS_LINE(harray_double_sorting, at, x, HA_ASCENDING);
    NAMES_ITS_LINE(harray_double_sort_by_key, at, x, HA_ASCENDING);
    NAMES_ITS_LINE(harray_double_unique, x, x, &count);
    NAMES_ITS_LINE(harray_double_lower_bound, at, x, x);
    NAMES_ITS_LINE(harray_double_upper_bound, at, x, x);
    NAMES_ITS_LINE(harray_double_scan, HA_SUM, x, x, HA_INCLUSIVE);
    NAMES_ITS_LINE(harray_double_differences, x, x);
    NAMES_ITS_LINE(harray_double_histogram, at, x, 0, 1, &count);
    NAMES_ITS_LINE(harray_int64_t_find, far_at, mask, &count);
    NAMES_ITS_LINE(harray_int64_t_inverse, far_at, far_at);
    NAMES_ITS_LINE(harray_int64_t_scan_offsets, far_at, far_at);
    NAMES_ITS_LINE(harray_c64_part, HA_ABS, part, z);
    NAMES_ITS_LINE(harray_c64_complex, z, part, part);
}

/* What is found out when arrays are opened, or by looking at elements, has the line, too; and functions have addresses. */
TEST(lines_of_what_is_found_late) {
    const harray_double x = KEEP(harray_double_filled(3, 1)), never = KEEP(harray_double_new(3));
    const harray_int32_t twice = KEEP(harray_int32_t_filled(3, 1)),
                         to = KEEP(harray_int32_t_filled(3, 7));
    ha_status (*const by_address)(harray_double, double, harray_double,
                                  ha_context *) = harray_double_axpy;
    char line[300];
    snprintf(line, sizeof line, "%s:%d", __FILE__, __LINE__ + 1);
    HA_IGNORE(by_address(x, 2, never, C));
    begins_with(line);
    snprintf(line, sizeof line, "%s:%d", __FILE__, __LINE__ + 1);
    HA_IGNORE(harray_int32_t_inverse(to, twice, C));
    begins_with(line);
    HA_CHECK(by_address(x, 2, x, C));
    HA_READING(v, x, H) assert_true(v.data[2] == 3);
    else fail();
    drop_arrays();
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        OPERATIONS(particles_by_cell),
        OPERATIONS(sparse_assembly),
        OPERATIONS(sparse_sums),
        OPERATIONS(masked_reductions),
        OPERATIONS(spectra),
        OPERATIONS(refused_by_name),
        CASE(lines_of_functions_of_one_type),
        CASE(lines_of_what_is_found_late),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
