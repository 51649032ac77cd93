/* Operations by several threads of OpenMP: whatever their number, each result has the bits that one thread computes. Arrays are so
 * long that threads share them, of one dimension and several, with gaps and without; all of their storage is compared, so that what
 * is not theirs is seen to stay. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_OPS_TYPES double, float, int32_t, int64_t, c64, uint8_t
#include "../../harray_ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#ifdef _OPENMP
/* clang's libomp loses some memory of its own when the number of threads changes. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libomp.so"; }

/* ---- what is compared ---------------------------------------------------------------------------- */

typedef struct outcome {
    size_t bytes;
    char *data;
} outcome;
enum { MOST_OUTCOMES = 200, MOST_ARRAYS = 32 };
static outcome outcomes[MOST_OUTCOMES]; /* of one thread */
static int told, is_learning;
static const char *running; /* by whom, for messages */

static void tell(const char *what, int number, const void *data, size_t bytes) {
    assert_in_range(told, 0, MOST_OUTCOMES - 1);
    outcome *o = &outcomes[told++];
    if (is_learning) {
        *o = (outcome){bytes, malloc(bytes + 1)};
        assert_non_null(o->data);
        memcpy(o->data, data, bytes);
    } else if (o->bytes != bytes || memcmp(o->data, data, bytes) != 0) {
        fail_msg("%s %d: not what one thread computes, but by %s", what, number, running);
    }
}

static void forget_outcomes(void) {
    for (int i = 0; i < MOST_OUTCOMES; i++) {
        free(outcomes[i].data);
        outcomes[i].data = NULL;
    }
}

static void tell_array(const char *what, int number, darray x) {
    HA_CHECK(ha_context_finish(ha_host()));
    ha_access v;
    HA_CHECK(ha_open(&v, x.array, ha_host(), HA_READ, 0, HA_END));
    tell(what, number, v.data, v.size * x.array->element);
    HA_CHECK(ha_close(&v));
}

#define NUMBER(what, number, v) tell(what, number, &(v), sizeof(v))

/* ---- arrays -------------------------------------------------------------------------------------- */

static darray arrays[MOST_ARRAYS];
static int made;

/* Zeros, in an array with so many elements more in each dimension. */
static darray view_of(ha_dtype type, int rank, const int64_t *extent, int gap) {
    int64_t room[HA_MOST_RANK];
    for (int d = 0; d < rank; d++) room[d] = extent[d] + gap;
    darray x = darray_zeros(type, rank, room, ha_host());
    assert_non_null(x.array);
    assert_in_range(made, 0, MOST_ARRAYS - 1);
    arrays[made++] = x;
    for (int d = 0; d < rank; d++) x = darray_slice(x, d, 0, extent[d], 1);
    return x;
}

static darray row_of(ha_dtype type, int64_t n) { return view_of(type, 1, &n, 0); }

static void free_arrays(void) {
    while (made > 0) HA_CHECK(darray_free(&arrays[--made]));
}

typedef struct shape {
    int rank, gap;
    int64_t extent[3];
} shape;

static darray array_of(ha_dtype type, const shape *s) {
    return view_of(type, s->rank, s->extent, s->gap);
}

static int64_t size_of(const shape *s) {
    int64_t n = 1;
    for (int d = 0; d < s->rank; d++) n *= s->extent[d];
    return n;
}

/* Numbers in [0, 1), or all that integers have. */
static darray random_of(ha_dtype type, const shape *s, uint64_t seed) {
    const darray x = array_of(type, s);
    HA_CHECK(ha_random(x, seed, NULL));
    return x;
}

/* Where about three of four are not 0. */
static darray mask_of(const shape *s) {
    const darray x = random_of(HA_DTYPE_double, s, 5), mask = array_of(HA_DTYPE_uint8_t, s);
    HA_CHECK(ha_combine_number(HA_IS_GREATER, mask, x, 0.25, NULL));
    return mask;
}

/* So many indices below n. */
static darray indices_of(ha_dtype type, int64_t count, int64_t n) {
    const darray real = row_of(HA_DTYPE_double, count), at = row_of(type, count);
    HA_CHECK(ha_random(real, 3, NULL));
    HA_CHECK(ha_combine_number(HA_MULTIPLY, real, real, n, NULL));
    HA_CHECK(ha_map(HA_FLOOR, real, real, NULL));
    HA_CHECK(darray_copy(at, real, NULL));
    return at;
}

static int is_complex(ha_dtype type) { return ha_dtype_kind(type) == HA_KIND_COMPLEX; }
static int is_real(ha_dtype type) { return ha_dtype_kind(type) == HA_KIND_REAL; }

/* ---- operations ---------------------------------------------------------------------------------- */

static void element_by_element(ha_dtype type, const shape *s) {
    const darray x = random_of(type, s, 1), y = random_of(type, s, 2), z = array_of(type, s);
    const darray mask = mask_of(s), other = array_of(HA_DTYPE_uint8_t, s);
    tell_array("random", 0, x);
    HA_CHECK(ha_map(HA_SQUARE, z, x, NULL));
    tell_array("map", HA_SQUARE, z);
    if (is_real(type)) HA_CHECK(ha_map(HA_SQRT, z, x, NULL));
    tell_array("map", HA_SQRT, z);
    HA_CHECK(ha_combine(HA_SUBTRACT, z, x, y, NULL));
    tell_array("combine", HA_SUBTRACT, z);
    HA_CHECK(ha_combine(HA_IS_NOT_EQUAL, other, x, y, NULL));
    tell_array("combine", HA_IS_NOT_EQUAL, other);
    HA_CHECK(ha_combine_number(HA_DIVIDE, z, x, 3, NULL));
    tell_array("combine_number", HA_DIVIDE, z);
    HA_CHECK(ha_axpby(z, 2, x, -3, y, NULL));
    tell_array("axpby", 0, z);
    HA_CHECK(ha_axpy(z, 5, x, NULL));
    tell_array("axpy", 0, z);
    HA_CHECK(ha_where(z, mask, x, y, NULL));
    tell_array("where", 0, z);
    HA_CHECK(ha_sequence(z, 1, 2, NULL));
    tell_array("sequence", 0, z);
    if (!is_complex(type)) HA_CHECK(ha_clip(z, x, 0, 1, NULL));
    tell_array("clip", 0, z);
    if (!is_real(type) && !is_complex(type)) return;
    HA_CHECK(ha_random_normal(z, 7, NULL));
    tell_array("random_normal", 0, z);
}

static void to_numbers(ha_dtype type, const shape *s) {
    const darray x = random_of(type, s, 1), y = random_of(type, s, 2), near_1 = array_of(type, s);
    int64_t count;
    double norm;
    HA_CHECK(ha_sequence(near_1, 1, 0, NULL)); /* so that a product is neither 0 nor infinite */
    if (is_real(type)) HA_CHECK(ha_axpby(near_1, 0.001, x, 0.9995, near_1, NULL));
    for (int op = HA_SUM; op <= HA_MAX_AT; op++) {
        char result[16] = {0};
        const ha_dtype as = op == HA_MIN_AT || op == HA_MAX_AT ? HA_DTYPE_int64_t
                            : is_real(type)                    ? HA_DTYPE_double
                            : is_complex(type)                 ? HA_DTYPE_c128
                                                               : HA_DTYPE_int64_t;
        if (is_complex(type) ? op > HA_PRODUCT
            : is_real(type)  ? op >= HA_AND && op <= HA_XOR
                             : op == HA_SUM_EXACT)
            continue;
        HA_CHECK(
            ha_reduce_((ha_reduction)op, op == HA_PRODUCT ? near_1 : x, as, result, NULL, HA_SITE));
        NUMBER("reduce", op, result);
    }
    HA_CHECK(ha_count(mask_of(s), &count, NULL));
    NUMBER("count", 0, count);
    ha_c128 dot = {0, 0};
    const ha_dtype as = is_real(type)      ? HA_DTYPE_double
                        : is_complex(type) ? HA_DTYPE_c128
                                           : HA_DTYPE_int64_t;
    HA_CHECK(ha_dot_(x, y, as, &dot, NULL, HA_SITE));
    NUMBER("dot", 0, dot);
    for (int kind = HA_NORM_1; kind <= HA_NORM_MAX; kind++) {
        HA_CHECK(ha_norm((ha_norm_kind)kind, x, &norm, NULL));
        NUMBER("norm", kind, norm);
        HA_CHECK(ha_difference((ha_norm_kind)kind, x, y, &norm, NULL));
        NUMBER("difference", kind, norm);
    }
}

static void along_one(ha_dtype type, const shape *s, int d) {
    const darray x = random_of(type, s, 1), mask = mask_of(s);
    shape fewer = *s, rest = {.rank = s->rank - 1, .gap = s->gap};
    fewer.extent[d]--;
    for (int e = 0, n = 0; e < s->rank; e++)
        if (e != d) rest.extent[n++] = s->extent[e];
    const darray z = array_of(type, s), less = array_of(type, &fewer);
    const darray y = array_of(type, &rest), at = array_of(HA_DTYPE_int32_t, &rest);
    HA_CHECK(ha_reduce_along(HA_SUM, y, x, d, NULL));
    tell_array("reduce_along: sum,", d, y);
    HA_CHECK(ha_count_along(at, mask, d, NULL));
    tell_array("count_along", d, at);
    HA_CHECK(ha_scan_along(HA_SUM, z, x, d, HA_EXCLUSIVE, NULL));
    tell_array("scan_along", d, z);
    HA_CHECK(ha_differences(less, x, d, NULL));
    tell_array("differences", d, less);
    if (is_complex(type)) return;
    HA_CHECK(ha_reduce_along(HA_MAX_AT, at, x, d, NULL));
    tell_array("reduce_along: place,", d, at);
}

static void along(ha_dtype type, const shape *s) {
    const darray x = random_of(type, s, 1), z = array_of(type, s);
    HA_CHECK(ha_scan(HA_SUM, z, x, HA_INCLUSIVE, NULL));
    tell_array("scan", HA_INCLUSIVE, z);
    HA_CHECK(ha_scan(HA_SUM, z, x, HA_EXCLUSIVE, NULL));
    tell_array("scan", HA_EXCLUSIVE, z);
    free_arrays();
    for (int d = 0; d < s->rank; d++) {
        along_one(type, s, d);
        free_arrays();
    }
    if (is_complex(type)) return;
    for (int64_t parts = 10; parts <= 5000; parts += 4990) {
        const darray counts = row_of(HA_DTYPE_int32_t, parts), y = random_of(type, s, 1);
        int64_t outside;
        HA_CHECK(ha_histogram(counts, y, 0.1, is_real(type) ? 0.8 : 1e9, &outside, NULL));
        tell_array("histogram", (int)parts, counts);
        NUMBER("outside", (int)parts, outside);
    }
}

static void by_index(ha_dtype type, const shape *s) {
    static const int ops[] = {HA_ASSIGN, HA_ADD, HA_MULTIPLY, HA_MAXIMUM};
    shape more = *s;
    const int64_t m = s->extent[0];
    more.extent[0] = 2 * m + 1;
    const darray x = random_of(type, s, 1), y = array_of(type, &more);
    const darray at = indices_of(s->gap ? HA_DTYPE_int64_t : HA_DTYPE_int32_t, 2 * m + 1, m);
    HA_CHECK(ha_gather(y, x, at, NULL));
    tell_array("gather", 0, y);
    for (int i = 0; i < (is_complex(type) ? 3 : 4); i++) {
        const darray z = random_of(type, s, 2);
        HA_CHECK(ha_scatter(ops[i], z, at, y, NULL));
        tell_array("scatter", ops[i], z);
    }
    free_arrays();
    const darray mask = mask_of(s), from = random_of(type, s, 1);
    const darray numbers = row_of(HA_DTYPE_int32_t, size_of(s)), few = row_of(type, size_of(s));
    int64_t count;
    HA_CHECK(ha_find(numbers, mask, &count, NULL));
    tell_array("find", 0, numbers);
    HA_CHECK(ha_compact(few, from, mask, &count, NULL));
    tell_array("compact", 0, few);
    NUMBER("count", 0, count);
}

/* Indices from a mask, and values at some of them. */
static void sparse(ha_dtype type, const shape *s) {
    const int64_t n = size_of(s);
    const darray mask = mask_of(s), at = row_of(HA_DTYPE_int32_t, n), x = row_of(type, n);
    const darray z_at = row_of(HA_DTYPE_int32_t, 2 * n), z = row_of(type, 2 * n);
    int64_t count, all;
    HA_CHECK(ha_random(x, 4, NULL));
    HA_CHECK(ha_find(at, mask, &count, NULL));
    const darray found = darray_slice(at, 0, 0, count, 1), those = darray_slice(x, 0, 0, count, 1);
    HA_CHECK(ha_sparse_combine(HA_ADD, z_at, z, found, those, darray_slice(at, 0, 0, count / 2, 1),
                               darray_slice(x, 0, n - count / 2, n, 1), &all, NULL));
    tell_array("sparse_combine: indices,", HA_ADD, z_at);
    tell_array("sparse_combine", HA_ADD, z);
    NUMBER("sparse_combine: count,", HA_ADD, all);
}

static void by_order(ha_dtype type, const shape *s) {
    const int64_t n = size_of(s), more = n + 1;
    const shape row = {1, s->gap, {n}};
    const darray x = random_of(type, &row, 1), y = random_of(type, &row, 1);
    const darray at = array_of(HA_DTYPE_int32_t, &row), back = array_of(HA_DTYPE_int32_t, &row);
    const darray values = random_of(type, s, 2), place = array_of(HA_DTYPE_int32_t, s);
    const darray counts = indices_of(HA_DTYPE_int32_t, n, 9), once = row_of(HA_DTYPE_int32_t, n);
    const darray offsets = row_of(HA_DTYPE_int64_t, more);
    int64_t count;
    HA_CHECK(ha_sorting(at, x, HA_DESCENDING, NULL));
    tell_array("sorting", 0, at);
    HA_CHECK(ha_inverse(back, at, NULL));
    tell_array("inverse", 0, back);
    HA_CHECK(ha_sort(y, HA_ASCENDING, NULL));
    tell_array("sort", 0, y);
    HA_CHECK(ha_lower_bound(place, y, values, NULL));
    tell_array("lower_bound", 0, place);
    HA_CHECK(ha_upper_bound(place, y, x.rank == s->rank ? x : values, NULL));
    tell_array("upper_bound", 0, place);
    HA_CHECK(ha_scan_offsets(offsets, counts, NULL));
    tell_array("scan_offsets", 0, offsets);
    HA_CHECK(ha_sort_by_key(counts, x, HA_ASCENDING, NULL));
    tell_array("sort_by_key", 0, x);
    HA_CHECK(ha_unique(once, counts, &count, NULL));
    tell_array("unique", 0, once);
    assert_int_equal(count, 9);
}

/* So long that threads share the blocks of a line. */
static void long_scans(ha_dtype type, const shape *s) {
    const darray x = random_of(type, s, 1), z = array_of(type, s);
    HA_CHECK(ha_scan(HA_SUM, z, x, HA_INCLUSIVE, NULL));
    tell_array("scan of all", HA_INCLUSIVE, z);
    HA_CHECK(ha_scan(HA_SUM, z, x, HA_EXCLUSIVE, NULL));
    tell_array("scan of all", HA_EXCLUSIVE, z);
    if (!is_complex(type)) HA_CHECK(ha_scan(HA_MAX, z, x, HA_EXCLUSIVE, NULL));
    tell_array("scan of all", HA_MAX, z);
    HA_CHECK(ha_scan_along(HA_SUM, x, x, s->rank - 1, HA_INCLUSIVE, NULL));
    tell_array("scan of each line, in place", 0, x);
}

/* ---- who computes -------------------------------------------------------------------------------- */

typedef void operations(ha_dtype type, const shape *s);

static void run_all(operations *run, ha_dtype type, const shape *s) {
    told = 0;
    run(type, s);
    free_arrays();
}

/* In a region nothing is shared. */
static void run_inside_of_a_region(operations *run, ha_dtype type, const shape *s) {
    running = "one thread of several";
#pragma omp parallel
#pragma omp master
    run_all(run, type, s);
}

enum { PARTS = 5 };
static int shared; /* launches */

static void last_part_first(HA_UNUSED void *user, ha_run_part part, void *launch) {
    shared++;
    for (int i = PARTS; i-- > 0;) part(launch, i, PARTS);
}

/* As by threads of a program's own, but one after the other. */
static void run_in_parts(operations *run, ha_dtype type, const shape *s) {
    running = "parts";
    ha_set_parallel(last_part_first, NULL);
    run_all(run, type, s);
    ha_set_parallel(NULL, NULL);
}

/* By one thread, by `least` threads and more up to 7, by `step` more each time, and by others. */
static void compare(operations *run, ha_dtype type, const shape *s, int least, int step) {
    char by[40];
    omp_set_num_threads(1);
    is_learning = 1;
    run_all(run, type, s);
    is_learning = 0;
    for (int count = least; count <= 7; count += step) {
        snprintf(by, sizeof by, "%d threads", count);
        running = by;
        omp_set_num_threads(count);
        run_all(run, type, s);
    }
    run_inside_of_a_region(run, type, s);
    run_in_parts(run, type, s);
    forget_outcomes();
}

/* More lanes than threads need; few in the first dimension; few in all but one; whole rows. */
static const shape shapes[] = {
    {1, 0, {10007}},  {1, 1, {9001}},      {2, 0, {2, 4099}},
    {2, 1, {95, 97}}, {3, 0, {3, 7, 401}}, {3, 1, {823, 2, 5}},
};
static const ha_dtype types[] = {HA_DTYPE_double, HA_DTYPE_int32_t, HA_DTYPE_half, HA_DTYPE_c64,
                                 HA_DTYPE_float};
enum { SHAPES = sizeof shapes / sizeof *shapes, TYPES = sizeof types / sizeof *types };

/* Of each shape one type, and two of the numbers of threads. */
static void compare_all(operations *run, int first_type) {
    for (int i = 0; i < SHAPES; i++) {
        const ha_dtype type = types[(first_type + i) % TYPES];
        if (!is_complex(type) || run != by_order) compare(run, type, &shapes[i], 2 + i % 3, 3);
    }
}

#define BY_THREADS(name, first_type)                                                               \
    static void name##_by_threads(void **state) {                                                  \
        (void)state;                                                                               \
        compare_all(name, first_type);                                                             \
    }
BY_THREADS(element_by_element, 0)
BY_THREADS(to_numbers, 1)
BY_THREADS(along, 2)
BY_THREADS(by_index, 3)
BY_THREADS(sparse, 4)
BY_THREADS(by_order, 0)

/* Blocks, as many as they are for the last level of all; whole ones, with gaps; of some lines. */
static void long_scans_by_threads(void **state) {
    enum { BLOCK = HA_SCAN_BLOCK };
    static const shape lines[] = {{1, 0, {5 * BLOCK + 77}},
                                  {1, 1, {4 * BLOCK}},
                                  {2, 1, {2, 3 * BLOCK + 1}},
                                  {1, 0, {140 * BLOCK + 5}}};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int t = 0; t < TYPES; t++) compare(long_scans, types[t], &lines[i], 2 + t % 2, 4);
    compare(long_scans, HA_DTYPE_float, &lines[3], 3, 9);
    assert_true(shared > 0);
}

/* A program's own threads share lines, where there are many, in one launch; blocks of a line, where there are few, in two of each. */
static void launches_of_lines(void **state) {
    static const struct {
        shape lines;
        int launches;
    } of[] = {{{2, 0, {HA_SCAN_MANY_LINES, HA_SCAN_BLOCK + 5}}, 1},
              {{2, 0, {HA_SCAN_MANY_LINES, HA_PARALLEL_LANES / HA_SCAN_MANY_LINES}}, 1},
              {{2, 0, {3, HA_SCAN_BLOCK + HA_PARALLEL_LANES}}, 3 * 2},
              {{2, 0, {3, HA_PARALLEL_LANES / 4}}, 0}};
    (void)state;
    is_learning = 0;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const darray x = random_of(HA_DTYPE_double, &of[i].lines, 1);
        ha_set_parallel(last_part_first, NULL);
        shared = 0;
        HA_CHECK(ha_scan_along(HA_SUM, x, x, 1, HA_INCLUSIVE, NULL));
        ha_set_parallel(NULL, NULL);
        assert_int_equal(shared, of[i].launches);
        free_arrays();
    }
    compare(long_scans, HA_DTYPE_half, &of[0].lines, 2, 9);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(element_by_element_by_threads),
        cmocka_unit_test(to_numbers_by_threads),
        cmocka_unit_test(along_by_threads),
        cmocka_unit_test(by_index_by_threads),
        cmocka_unit_test(sparse_by_threads),
        cmocka_unit_test(by_order_by_threads),
        cmocka_unit_test(long_scans_by_threads),
        cmocka_unit_test(launches_of_lines),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? failed : ha_shutdown() != HA_OK;
}
#else
int main(void) { return 77; }
#endif
