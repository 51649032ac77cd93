/* Random views of random numbers, how a fake driver knows an operation, and how results are compared. */
#ifndef HARRAY_TESTS_OPS_SOME_VIEWS_H
#define HARRAY_TESTS_OPS_SOME_VIEWS_H

#include "../support/few_kernels.h"
#include "naive.h"

/* ---- on the fake driver: any operation ----------------------------------------------------------- */

/* The operation that is next, by the rank of its views. */
static const ha_kernel *launched[HA_MAPPING_RANK + 1];

#define RUN_LAUNCHED(rank)                                                                         \
    static void run_launched_##rank(void **given, const fake_cuda_launch *launch) {                \
        run_known_kernel(launched[rank], given, launch);                                           \
    }
RUN_LAUNCHED(0)
RUN_LAUNCHED(1)
RUN_LAUNCHED(2)
RUN_LAUNCHED(3)
RUN_LAUNCHED(4)
static const fake_cuda_body run_launched[] = {run_launched_0, run_launched_1, run_launched_2,
                                              run_launched_3, run_launched_4};

/* The table of these lanes, and their line of a type. */
static const ha_op_table *table_of(int lane) {
    static const ha_op_table *const tables[] = {
        &ha_op_lanes_of_value,     &ha_op_lanes_of_is_there, &ha_op_lanes_of_size,
        &ha_op_lanes_of_size,      &ha_op_lanes_of_product,  &ha_op_lanes_of_difference,
        &ha_op_lanes_of_difference};
    return tables[lane];
}

HA_UNUSED static const ha_op_line *line_of(ha_dtype type, int lane) {
    return ha_op_line_of(table_of(lane), ha_op_type_of(type), lane);
}

HA_UNUSED static int has_combine(ha_dtype type, int op) {
    return op > HA_ASSIGN && (type != HA_DTYPE_bool || op >= HA_IS_EQUAL) &&
           ha_op_line_of(&ha_op_combines, ha_op_type_of(type), op)->text != NULL;
}

/* Makes the driver know the operation, whatever its views come to. */
static void know_reduction(ha_dtype type, const ha_op_table *table, int n, int by_number,
                           const ha_op_tree *tree) {
    if (!is_fake(C)) return;
    SUCCEEDS(ha_context_finish(C));
    const ha_op_type *of = ha_op_type_of(type);
    const ha_op_line *line = ha_op_line_of(table, of, n);
    if (!line->text) return;
    for (int rank = 0; rank <= HA_MAPPING_RANK; rank++) {
        const ha_op_key key = {.type = of,
                               .line = line,
                               .rank = rank,
                               .by_number = by_number,
                               .tree = tree,
                               .make = tree ? ha_op_make_reduction : NULL};
        launched[rank] = ha_op_kernel_of(&key);
        assert_non_null(launched[rank]);
        know_kernel(&(const known_kernel){launched[rank], run_launched[rank]});
    }
}

HA_UNUSED static void know_operation(ha_dtype type, const ha_op_table *table, int n,
                                     int by_number) {
    know_reduction(type, table, n, by_number, NULL);
}

/* ---- random views -------------------------------------------------------------------------------- */

static uint64_t random_numbers = 1;
static uint32_t draw(uint32_t n) {
    random_numbers = random_numbers * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_numbers >> 32) % n);
}

static const ha_dtype types[] = {
    HA_DTYPE_int32_t, HA_DTYPE_int64_t, HA_DTYPE_uint32_t, HA_DTYPE_uint64_t, HA_DTYPE_float,
    HA_DTYPE_double,  HA_DTYPE_c64,     HA_DTYPE_c128,     HA_DTYPE_half,     HA_DTYPE_bfloat16,
    HA_DTYPE_int8_t,  HA_DTYPE_int16_t, HA_DTYPE_uint8_t,  HA_DTYPE_uint16_t, HA_DTYPE_bool};
enum { TYPES = sizeof types / sizeof *types, COMPUTED = TYPES - 5 };

/* Also those at the ends of a type. */
static ha_dvalue some_number(ha_dtype type) {
    static const double reals[] = {0.0, -0.0, 1, -1, 0.5, 3.25, -7, 1e-3, 100, 1e30, -2.5, 0.1};
    const ha_number_kind kind = ha_dtype_kind(type);
    ha_dvalue x;
    if (type == HA_DTYPE_bool) return ha_dvalue_of_bool(draw(2) != 0);
    if (kind == HA_KIND_SIGNED || kind == HA_KIND_UNSIGNED) {
        static const int64_t ends[] = {0, 1, -1, INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX};
        return wrapped(type, draw(3) ? (wide)draw(200) - 100 : (wide)ends[draw(7)]);
    }
    if (kind == HA_KIND_COMPLEX)
        return of_complex(type, complex_from((double)draw(20) - 10 + 0.5, (double)draw(20) - 10));
    const double special[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    const double number = draw(10) ? reals[draw(12)] : special[draw(3)];
    assert_int_equal(ha_dvalue_convert(ha_dvalue_of_double(number), type, &x), HA_OK);
    return x;
}

/* Nonzero: all views are rows of some elements; so that each kind of loop is run. Those have gaps of which a bit of
 * rows_with_gaps is set: bit 0 is that of the view that is made next. */
static int only_rows;
static unsigned rows_with_gaps;

/* An array in which a view of these extents has room, and the view: with steps, backwards, dimensions in any order,
 * repeated. */
HA_UNUSED static darray some_view(ha_dtype type, int rank, const int64_t *extent, int may_repeat) {
    int64_t order[HA_MOST_RANK], room[HA_MOST_RANK], first[HA_MOST_RANK], step[HA_MOST_RANK];
    int64_t back[HA_MOST_RANK], wanted[HA_MOST_RANK];
    const int plain = only_rows || draw(3) == 0, has_gaps = rows_with_gaps & 1;
    rows_with_gaps >>= 1;
    for (int d = 0; d < rank; d++) order[d] = d;
    for (int d = rank - 1; d > 0 && !plain; d--) {
        const int e = (int)draw((uint32_t)d + 1);
        const int64_t swapped = order[d];
        order[d] = order[e];
        order[e] = swapped;
    }
    for (int d = 0; d < rank; d++) {
        wanted[d] = may_repeat && !plain && draw(4) == 0 ? 1 : extent[d];
        step[d] = only_rows ? 1 + has_gaps : plain || draw(2) ? 1 : (int64_t)draw(2) + 1;
        first[d] = plain ? 0 : (int64_t)draw(2);
        room[order[d]] = first[d] + (wanted[d] - 1) * step[d] + 1 + (plain ? 0 : (int64_t)draw(2));
        if (wanted[d] == 0) room[order[d]] = first[d];
        back[d] = order[d];
    }
    darray x = darray_new(type, rank, room, draw(2) ? C : H);
    keep_array(x.array);
    HA_WRITING(v, x, H) for (size_t i = 0; i < v.size; i++) {
        const ha_dvalue number = some_number(type);
        memcpy((char *)v.data + i * ha_dtype_size(type), number.bytes, ha_dtype_size(type));
    }
    x = darray_permute(x, back);
    for (int d = 0; d < rank; d++) {
        x = darray_slice(x, d, first[d], first[d] + (wanted[d] ? (wanted[d] - 1) * step[d] + 1 : 0),
                         step[d]);
        if (!plain && draw(3) == 0) x = darray_flip(x, d);
    }
    return darray_broadcast(x, rank, extent);
}

/* ---- where they are ------------------------------------------------------------------------------ */

HA_UNUSED static int compiles(void) { return ha_way_of(C) == HA_WAY_COMPILED; }

/* Written there last. */
static void move_to(ha_array *a, ha_context *c) {
    ha_access v;
    SUCCEEDS(ha_open(&v, a, c, HA_WRITE, 0, HA_END));
    SUCCEEDS(ha_close(&v));
}

/* One of two is at C alone before an operation; where kernels read it, it does not move to the host for them. */
static int is_there;
HA_UNUSED static void put_there(darray x) {
    is_there = (int)draw(2);
    if (is_there) move_to(x.array, C);
}
HA_UNUSED static void expect_there(darray x) {
    if (is_there && compiles() && darray_size(x))
        assert_false(ha_array_valid(x.array, H, 0, HA_END));
}

/* A view of eight dimensions of which no two can be taken as one, of 256 elements. */
HA_UNUSED static darray eight_dimensions_of(ha_dtype type) {
    const int64_t room[] = {3, 3, 3, 3, 3, 3, 3, 3};
    darray x = darray_zeros(type, 8, room, C);
    keep_array(x.array);
    for (int d = 0; d < 8; d++) x = darray_slice(x, d, 0, 2, 1);
    return x;
}

enum { MOST_VALUES = 6 * 1200 };
typedef struct values {
    int n;
    ha_dvalue at[MOST_VALUES];
} values;

HA_UNUSED static void read_values(darray x, values *v) {
    int64_t index[HA_MOST_RANK] = {0};
    v->n = 0;
    if (darray_size(x) == 0) return;
    int d;
    do {
        assert_int_equal(darray_get(x, x.rank, index, &v->at[v->n++]), HA_OK);
        d = x.rank - 1;
        while (d >= 0 && ++index[d] == x.extent[d]) index[d--] = 0;
    } while (d >= 0);
    step(); /* once: reading any of them is the same step */
}

/* ---- comparing ----------------------------------------------------------------------------------- */

static void part_of(ha_dvalue x, double *parts) {
    if (ha_dtype_kind(x.type) == HA_KIND_COMPLEX) {
        parts[0] = creal(complex_of(x));
        parts[1] = cimag(complex_of(x));
    } else {
        parts[0] = real_of(x);
        parts[1] = 0;
    }
}

/* With the same bits; with a zero of either sign; or with fewer right digits than usual. */
enum { EXACT = 1, EITHER_ZERO, ROUGH };

static int is_near(ha_dvalue x, ha_dvalue y, int exact) {
    const size_t bytes = ha_dtype_size(x.type);
    double a[2], b[2],
        allowed = x.type == HA_DTYPE_bfloat16                            ? 1e-2
                  : bytes <= 2                                           ? 1e-3
                  : x.type == HA_DTYPE_double || x.type == HA_DTYPE_c128 ? 1e-13
                                                                         : 1e-5;
    if (memcmp(x.bytes, y.bytes, bytes) == 0) return 1;
    if (exact == ROUGH) allowed *= 20, exact = 0;
    const ha_number_kind kind = ha_dtype_kind(x.type);
    if (kind == HA_KIND_SIGNED || kind == HA_KIND_UNSIGNED) return 0;
    part_of(x, a);
    part_of(y, b);
    const double size = fabs(b[0]) + fabs(b[1]);
    for (int i = 0; i < 2; i++) {
        if (isnan(a[i]) && isnan(b[i])) continue;
        if (a[i] == b[i] && (exact != EXACT || signbit(a[i]) == signbit(b[i]))) continue;
        if (exact || !(fabs(a[i] - b[i]) <= allowed * (size + 1e-30))) return 0;
    }
    return 1;
}

HA_UNUSED static void expect_elements(darray z, const values *expected, int exact, const char *what,
                                      int op) {
    static values now;
    read_values(z, &now);
    assert_int_equal(now.n, expected->n);
    for (int i = 0; i < now.n; i++) {
        char here[100], there[100];
        if (is_near(now.at[i], expected->at[i], exact)) continue;
        ha_dvalue_print(now.at[i], here, sizeof here);
        ha_dvalue_print(expected->at[i], there, sizeof there);
        fail_msg("%s %d of %s, rank %d, element %d: %s instead of %s", what, op,
                 ha_dtype_name(z.type), z.rank, i, here, there);
    }
}

HA_UNUSED static int some_extents(int64_t *extent) {
    if (only_rows) {
        extent[0] = 37; /* twice 16, and some */
        return 1;
    }
    const int rank = 1 + (int)draw(4);
    for (int d = 0; d < rank; d++) extent[d] = draw(12) ? 1 + (int64_t)draw(5) : draw(7) ? 1 : 0;
    return rank;
}

#endif
