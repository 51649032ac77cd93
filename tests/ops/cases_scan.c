/* Scans, offsets and differences, on every context: against what their definition says, one element at a time, to the bit, over
 * views of all kinds; and what is refused, which changes nothing. */
#include "sparing.h"

HA_ARRAY(double, 2);

#include "some_views.h"
#include "known_keys.h"

static values of_x, of_y;

static const ha_reduction scans[] = {HA_SUM, HA_PRODUCT, HA_MIN, HA_MAX};
enum { SCANS = sizeof scans / sizeof *scans };

/* ---- what a fake driver knows -------------------------------------------------------------------- */

/* What finds the last numbers, and what puts results, for views of a rank. */
static void know_runs(int place, ha_op_key key, int rank, ha_scan_kind kind) {
    key.rank = rank;
    key.of[0] = HA_SCAN_LASTS;
    know_key(place, &key);
    key.of[0] = HA_SCAN_PUT + (kind == HA_EXCLUSIVE ? HA_SCAN_EXCLUSIVE_ : 0);
    know_key(place + 1, &key);
}

static void know_scan(ha_dtype type, ha_reduction op, int along, ha_scan_kind kind) {
    if (!is_fake(C)) return;
    SUCCEEDS(ha_context_finish(C));
    const ha_op_type *of = ha_op_type_of(type);
    ha_op_key key = {.type = of,
                     .line = ha_op_line_of(&ha_op_joins, of, ha_scan_operation(op)),
                     .make = ha_scan_make};
    for (int rank = 1; rank <= 8 - along; rank++)
        know_runs(2 * rank - 2, key, along ? 1 + 16 * rank : rank, kind);
    key.type = ha_op_type_of(of->number);
    know_runs(16, key, 1 + 16, HA_EXCLUSIVE);
}

/* ---- the definition ------------------------------------------------------------------------------ */

enum { MOST_SCANNED = MOST_VALUES };

static ha_dvalue joined(ha_reduction op, ha_dvalue u, ha_dvalue v) {
    return naive(ha_scan_operation(op), u, v, u, v);
}

/* Numbers of a line in runs of 128; what is before each run is the exclusive scan of the runs' last numbers. */
static void scan_by_definition(ha_reduction op, int n, ha_dvalue *x, int exclusive,
                               ha_dvalue first) {
    const int runs = (n + 127) / 128;
    ha_dvalue *before = malloc((size_t)(runs + 1) * sizeof *before);
    assert_non_null(before);
    before[0] = first;
    for (int r = 0; r < runs; r++) {
        const int end = HA_LESS(n, 128 * r + 128);
        for (int k = 128 * r + 1; k < end; k++) x[k] = joined(op, x[k - 1], x[k]);
        before[r] = x[end - 1];
    }
    if (runs == 1)
        before[0] = first;
    else
        scan_by_definition(op, runs, before, 1, first);
    for (int k = n - 1; k >= 0; k--)
        if (exclusive)
            x[k] = k % 128 ? joined(op, x[k - 1], before[k / 128]) : before[k / 128];
        else
            x[k] = joined(op, x[k], before[k / 128]);
    free(before);
}

/* As what is computed with. */
static ha_dvalue computed(ha_dvalue x) {
    if (x.type != HA_DTYPE_half && x.type != HA_DTYPE_bfloat16) return x;
    return ha_dvalue_of_float((float)real_of(x));
}

/* of_y becomes the scan of of_x, along a dimension of these extents: before it, in it, behind it. */
static void scan_values(ha_reduction op, int before, int n, int behind, int exclusive) {
    static ha_dvalue line[MOST_VALUES];
    const ha_dtype type = of_x.n ? of_x.at[0].type : HA_DTYPE_float;
    const ha_dvalue first = ha_scan_first(ha_op_type_of(type)->number, op);
    of_y.n = of_x.n;
    for (int l = 0; l < before * behind && n; l++) {
        const int at = l / behind * behind * n + l % behind;
        for (int k = 0; k < n; k++) line[k] = computed(of_x.at[at + k * behind]);
        scan_by_definition(op, n, line, exclusive, first);
        for (int k = 0; k < n; k++)
            of_y.at[at + k * behind] = line[k].type == type ? line[k]
                                                            : of_float(type, line[k].as_float);
    }
}

/* Of complex numbers whose products do not overflow, all of the array's. */
static void turn_numbers(darray x) {
    static const double turns[][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    ha_access v;
    SUCCEEDS(ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    for (size_t i = 0; i < v.size; i++) {
        const double *turn = turns[draw(4)];
        const ha_dvalue number = of_complex(x.type, complex_from(turn[0], turn[1]));
        memcpy((char *)(uintptr_t)v.data + i * ha_dtype_size(x.type), number.bytes,
               ha_dtype_size(x.type));
    }
    SUCCEEDS(ha_close(&v));
}

static void scan_some(ha_dtype type, ha_reduction op) {
    int64_t extent[HA_MOST_RANK];
    const int rank = some_extents(extent), whole = (int)draw(2), in_place = draw(4) == 0;
    const int d = (int)draw((uint32_t)rank);
    const ha_scan_kind kind = draw(2) ? HA_EXCLUSIVE : HA_INCLUSIVE;
    int before = 1, behind = 1;
    if (rank <= 2 && draw(2)) extent[draw((uint32_t)rank)] += 70 + draw(140);
    const darray y = some_view(type, rank, extent, 0);
    const darray x = in_place ? y : some_view(type, rank, extent, 1);
    if (op == HA_PRODUCT && ha_dtype_kind(type) == HA_KIND_COMPLEX) turn_numbers(x);
    for (int e = 0; e < rank; e++) *(e < d ? &before : &behind) *= e == d ? 1 : (int)extent[e];
    read_values(x, &of_x);
    know_scan(type, op, !whole, kind);
    put_there(x);
    if (whole) {
        scan_values(op, 1, of_x.n, 1, kind == HA_EXCLUSIVE);
        SUCCEEDS(ha_scan(op, y, x, kind, C));
    } else {
        scan_values(op, before, (int)extent[d], behind, kind == HA_EXCLUSIVE);
        SUCCEEDS(ha_scan_along(op, y, x, d, kind, C));
    }
    expect_there(x);
    const int either = op == HA_MIN || op == HA_MAX; /* of 0 and -0, which are equal */
    const int exact = ha_dtype_kind(type) == HA_KIND_COMPLEX ? 0 : either ? EITHER_ZERO : EXACT;
    expect_elements(y, &of_y, exact, whole ? "scan" : "scan along", (int)op);
    if (!in_place) {
        expect_elements(x, &of_x, 1, "argument of scan", (int)op);
        drop_array(x.array);
    }
    drop_array(y.array);
}

static int has_scan(ha_dtype type, ha_reduction op) {
    const int operation = ha_scan_operation(op);
    return type != HA_DTYPE_bool &&
           ha_op_line_of(&ha_op_joins, ha_op_type_of(type), operation)->text != NULL;
}

TEST(scanned) {
    const int rounds = share_of(16);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++)
            for (int k = 0; k < SCANS; k++)
                if (has_scan(types[t], scans[k]) && is_tried_here(round, t, 2 * k))
                    scan_some(types[t], scans[k]);
}

/* ---- long ones, of all ranks --------------------------------------------------------------------- */

/* Integers one after the other; and reals with the bits of the host. */
TEST(long_ones) {
    enum { N = 300001 };
    harray_int32_t x = harray_int32_t_new(N), y = harray_int32_t_new(N);
    harray_double u = keep(harray_double_new(N)), v = keep(harray_double_new(N)),
                  w = keep(harray_double_new(N));
    keep_array(x.array), keep_array(y.array);
    HA_WRITING(a, x, H)
    for (int i = 0; i < N; i++) a.data[i] = (int32_t)((uint32_t)i * 2654435761u % 1000);
    HA_WRITING(a, u, H) for (int i = 0; i < N; i++) a.data[i] = 1.0 / (1 + i % 1000) - 0.004;
    know_scan(HA_DTYPE_int32_t, HA_SUM, 0, HA_INCLUSIVE);
    SUCCEEDS(ha_scan(HA_SUM, y, x, HA_INCLUSIVE, C));
    int32_t sum = 0;
    HA_READING(a, x, H)
    HA_READING(b, y, H) for (int i = 0; i < N; i++) assert_int_equal(b.data[i], sum += a.data[i]);
    SUCCEEDS(ha_scan(HA_SUM, w, u, HA_EXCLUSIVE, H));
    know_scan(HA_DTYPE_double, HA_SUM, 0, HA_EXCLUSIVE);
    SUCCEEDS(ha_scan(HA_SUM, v, u, HA_EXCLUSIVE, C));
    HA_READING(a, v, H)
    HA_READING(b, w, H) assert_memory_equal(a.data, b.data, N * sizeof(double));
    double near = 0;
    HA_READING(a, u, H)
    HA_READING(b, v, H)
    for (int i = 0; i < N; near += a.data[i++])
        assert_true(fabs(b.data[i] - near) < 1e-9 * (1 + i));
    drop(w), drop(v), drop(u), drop_array(x.array), drop_array(y.array);
}

/* Dimensions of which no two follow each other. */
TEST(eight_dimensions) {
    const int64_t room[] = {3, 3, 3, 3, 3, 3, 3, 3};
    darray x = darray_new(HA_DTYPE_int32_t, 8, room, C);
    keep_array(x.array);
    ha_access v;
    SUCCEEDS(ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    for (size_t i = 0; i < v.size; i++) ((int32_t *)(uintptr_t)v.data)[i] = (int32_t)i;
    SUCCEEDS(ha_close(&v));
    for (int d = 0; d < 8; d++) x = darray_slice(x, d, 0, 2, 1);
    for (int whole = 0; whole < 2; whole++) {
        read_values(x, &of_x);
        know_scan(HA_DTYPE_int32_t, HA_SUM, !whole, HA_INCLUSIVE);
        scan_values(HA_SUM, whole ? 1 : 4, whole ? 256 : 2, whole ? 1 : 32, 0);
        SUCCEEDS(whole ? ha_scan(HA_SUM, x, x, HA_INCLUSIVE, C)
                       : ha_scan_along(HA_SUM, x, x, 2, HA_INCLUSIVE, C));
        expect_elements(x, &of_y, 1, "scan", whole);
    }
    drop_array(x.array);
}

/* ---- offsets ------------------------------------------------------------------------------------- */

/* Three reductions of the counts, and the scan of the offsets. */
static void know_offsets(ha_dtype counts, ha_dtype offsets) {
    static const struct {
        int lane;
        ha_reduction op;
    } used[] = {{HA_LANE_VALUE_, HA_MIN_AT}, {HA_LANE_VALUE_, HA_SUM}, {HA_LANE_ABS_, HA_SUM}};
    const ha_op_type *of = ha_op_type_of(counts), *to = ha_op_type_of(offsets);
    if (!is_fake(C)) return;
    SUCCEEDS(ha_context_finish(C));
    for (int k = 0; k < 6; k++) {
        const ha_op_line *line = line_of(counts, used[k % 3].lane);
        if (!line->text) continue;
        know_key(4 + k, &(const ha_op_key){.type = of,
                                           .line = line,
                                           .rank = k / 3,
                                           .tree = ha_op_tree_of(line->gives, used[k % 3].op),
                                           .make = ha_op_make_reduction});
    }
    ha_op_key key = {
        .type = to, .line = ha_op_line_of(&ha_op_joins, to, HA_ADD), .make = ha_scan_make};
    know_runs(0, key, 1, HA_INCLUSIVE); /* where know_scan has them: a name has one place */
    know_runs(16, key, 1 + 16, HA_EXCLUSIVE);
    for (int k = 0; k < 2; k++) {
        const int as_bytes = k || offsets == counts;
        const ha_dtype bytes = ha_index_moved(ha_dtype_size(offsets))->type;
        know_key(10 + k, &(const ha_op_key){.line = &ha_op_copy_line,
                                            .rank = 1,
                                            .make = ha_op_make_copy,
                                            .of = {(int)(as_bytes ? bytes : counts),
                                                   (int)(as_bytes ? bytes : offsets)}});
    }
}

static darray some_counts(ha_dtype type, int64_t n, uint32_t below) {
    const darray x = some_view(type, 1, &n, 1);
    ha_access v;
    SUCCEEDS(ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    for (size_t i = 0; i < v.size; i++) {
        const ha_dvalue number = wrapped(type, (wide)draw(below));
        memcpy((char *)(uintptr_t)v.data + i * ha_dtype_size(type), number.bytes,
               ha_dtype_size(type));
    }
    SUCCEEDS(ha_close(&v));
    return x;
}

TEST(offsets) {
    static const ha_dtype whole[] = {HA_DTYPE_int32_t,  HA_DTYPE_uint32_t, HA_DTYPE_int64_t,
                                     HA_DTYPE_uint64_t, HA_DTYPE_int8_t,   HA_DTYPE_uint16_t};
    for (int t = 0; t < 6 * 4; t++) {
        const int64_t n = t == 3 ? 0 : 1 + (int64_t)draw(200), more = n + 1;
        const ha_dtype type = whole[t / 4], to = whole[t % 4];
        if (is_of_opencl() && t % 5) continue;
        const darray counts = some_counts(type, n, 100), y = some_view(to, 1, &more, 0);
        know_offsets(type, to);
        SUCCEEDS(ha_scan_offsets(y, counts, C));
        read_values(counts, &of_x), read_values(y, &of_y);
        wide sum = 0;
        for (int i = 0; i <= n; sum += i < n ? wide_of(of_x.at[i]) : 0, i++)
            assert_true(wide_of(of_y.at[i]) == sum);
        drop_array(counts.array), drop_array(y.array);
    }
}

static void refused(ha_status expected, ha_status got, const char *part, const char *second) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, expected);
    assert_int_equal(e.status, expected);
    if (!strstr(e.text, part) || !strstr(e.text, second))
        fail_msg("\"%s\" does not say \"%s\", \"%s\"", e.text, part, second);
}
#define ARGUMENT(call, part, second) refused(HA_ERR_ARGUMENT, call, part, second)

TEST(refused_offsets) {
    harray_int64_t counts = harray_int64_t_filled(6, 3);
    harray_int64_t wide_offsets = harray_int64_t_filled(7, 9);
    harray_int32_t offsets = harray_int32_t_filled(7, 9);
    harray_uint64_t most = harray_uint64_t_filled(6, UINT64_MAX / 4);
    harray_uint64_t all = harray_uint64_t_filled(7, 9);
    harray_double real = keep(harray_double_filled(6, 9));
    keep_array(counts.array), keep_array(wide_offsets.array), keep_array(offsets.array);
    keep_array(most.array), keep_array(all.array);
    ha_array_set_name(counts.array, "sizes");
    HA_WRITING(v, counts, H) v.data[4] = -5;
    know_offsets(HA_DTYPE_int64_t, HA_DTYPE_int32_t);
    ARGUMENT(ha_scan_offsets(offsets, counts, C), "sizes", "at (4) there is -5");
    HA_WRITING(v, counts, H) v.data[4] = INT32_MAX - 14;
    ARGUMENT(ha_scan_offsets(offsets, counts, C), "does not fit its type", "2147483648");
    HA_WRITING(v, counts, H) v.data[4] = v.data[5] = INT64_MAX;
    know_offsets(HA_DTYPE_int64_t, HA_DTYPE_int64_t);
    ARGUMENT(ha_scan_offsets(wide_offsets, counts, C), "does not fit its type", "int64_t (7)");
    know_offsets(HA_DTYPE_uint64_t, HA_DTYPE_uint64_t);
    ARGUMENT(ha_scan_offsets(all, most, C), "does not fit its type", "uint64_t (7)");
    ARGUMENT(ha_scan_offsets(counts, counts, C), "one offset more",
             "offsets, int64_t (6) of array 'sizes', and counts, int64_t (6) of array 'sizes'");
    const darray part = darray_slice(HA_DARRAY(wide_offsets), 0, 0, 6, 1);
    ARGUMENT(ha_scan_offsets(wide_offsets, part, C), "elements of an argument", "int64_t (7)");
    ARGUMENT(ha_scan_offsets(real, counts, C), "an index is of", "double (6)");
    ARGUMENT(ha_scan_offsets(wide_offsets, real, C), "a count is an integer", "double (6)");
    const darray grid = darray_reshape(HA_DARRAY(counts), 2, (int64_t[]){2, 3});
    ARGUMENT(ha_scan_offsets(wide_offsets, grid, C), "one dimension", "sizes");
    ARGUMENT(ha_scan_offsets(grid, counts, C), "one dimension", "sizes");
    const darray same = darray_broadcast(darray_slice(HA_DARRAY(offsets), 0, 0, 1, 1), 1,
                                         (int64_t[]){7});
    ARGUMENT(ha_scan_offsets(same, counts, C), "repeats elements", "int32_t");
    HA_READING(v, offsets, H) for (int i = 0; i < 7; i++) assert_int_equal(v.data[i], 9);
    HA_READING(v, wide_offsets, H) for (int i = 0; i < 7; i++) assert_int_equal(v.data[i], 9);
    HA_READING(v, all, H) for (int i = 0; i < 7; i++) assert_int_equal(v.data[i], 9);
    know_offsets(HA_DTYPE_uint64_t, HA_DTYPE_uint64_t); /* the greatest sum that fits */
    HA_WRITING(v, most, H) for (int i = 0; i < 6; i++) v.data[i] = i < 2 ? UINT64_MAX / 2 : 0;
    HA_WRITING(v, most, H) v.data[5] = 1;
    SUCCEEDS(ha_scan_offsets(all, most, C));
    HA_READING(v, all, H) assert_true(v.data[6] == UINT64_MAX && v.data[5] == UINT64_MAX - 1);
    drop_array(counts.array), drop_array(wide_offsets.array), drop_array(offsets.array);
    drop_array(most.array), drop_array(all.array), drop(real);
}

/* ---- differences --------------------------------------------------------------------------------- */

static void differ_some(ha_dtype type) {
    int64_t extent[HA_MOST_RANK];
    const int rank = some_extents(extent), d = (int)draw((uint32_t)rank);
    extent[d]++;
    const darray x = some_view(type, rank, extent, 1);
    int64_t behind = 1, less[HA_MOST_RANK];
    for (int e = 0; e < rank; e++) less[e] = extent[e] - (e == d);
    const darray y = some_view(type, rank, less, 0);
    for (int e = d + 1; e < rank; e++) behind *= extent[e];
    read_values(x, &of_x), read_values(y, &of_y);
    know_operation(type, &ha_op_subtract, HA_SUBTRACT, 0);
    SUCCEEDS(ha_differences(y, x, d, C));
    for (int k = 0; k < of_y.n; k++) {
        const int64_t at = k / behind / less[d] * behind * extent[d] + k % (behind * less[d]);
        const ha_dvalue u = of_x.at[at + behind], v = of_x.at[at];
        of_y.at[k] = naive(HA_SUBTRACT, u, v, u, v);
    }
    expect_elements(y, &of_y, 1, "differences", d);
    drop_array(x.array), drop_array(y.array);
}

TEST(differences) {
    const int rounds = share_of(10);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < COMPUTED; t++)
            if (is_turn_here(round, t, round, 0)) differ_some(types[t]);
}

/* ---- what is refused ----------------------------------------------------------------------------- */

TEST(refused_arguments) {
    array_double_2 x = array_double_2_filled(HA_DIM(4, 6), 1, H),
                   y = array_double_2_filled(HA_DIM(4, 6), 5, H);
    harray_double row = keep(harray_double_filled(6, 5));
    harray_int32_t whole = harray_int32_t_filled(6, 5);
    harray_uint8_t small = harray_uint8_t_filled(6, 5);
    keep_array(x.array), keep_array(y.array), keep_array(whole.array), keep_array(small.array);
    ha_array_set_name(y.array, "sums");
    ARGUMENT(ha_scan_along(HA_SUM, y, x, 2, HA_INCLUSIVE, C), "no dimension 2", "double (4, 6)");
    ARGUMENT(ha_scan_along(HA_SUM, y, x, -2, HA_INCLUSIVE, C), "no dimension -2", "");
    ARGUMENT(ha_scan_along(HA_SUM, y, x, -1, HA_INCLUSIVE, C), "no dimension -1", "");
    ARGUMENT(ha_scan(HA_XOR, y, x, HA_INCLUSIVE, C), "HA_XOR is none of ha_scan's", "HA_PRODUCT");
    ARGUMENT(ha_scan(HA_SUM, small, small, HA_INCLUSIVE, C), "there is no HA_SUM of uint8_t", "");
    ARGUMENT(ha_scan(HA_SUM, row, whole, HA_INCLUSIVE, C), "the types are not the same", "double");
    ARGUMENT(ha_scan(HA_SUM, row, x, HA_INCLUSIVE, C), "the extents are not the same",
             "double (6)");
    ARGUMENT(ha_scan(HA_SUM, (darray){0}, x, HA_INCLUSIVE, C), "", "");
    ARGUMENT(ha_scan(HA_SUM, y, (darray){0}, HA_INCLUSIVE, C), "", "");
    const darray upper = darray_slice(HA_DARRAY(y), 0, 0, 3, 1),
                 lower = darray_slice(HA_DARRAY(y), 0, 1, 4, 1);
    ARGUMENT(ha_scan(HA_SUM, upper, lower, HA_INCLUSIVE, C), "elements of an argument",
             "of array 'sums', and x, double (3, 6) of array 'sums'");
    const darray back = darray_flip(HA_DARRAY(y), 0);
    ARGUMENT(ha_scan(HA_SUM, y, back, HA_INCLUSIVE, C), "elements of an argument", "sums");
    const darray same = darray_broadcast(darray_slice(HA_DARRAY(row), 0, 0, 1, 1), 2, x.extent);
    ARGUMENT(ha_scan(HA_SUM, same, x, HA_INCLUSIVE, C), "repeats elements", "double");
    ARGUMENT(ha_differences(y, x, 0, C), "one less", "of array 'sums', and x, double (4, 6)");
    ARGUMENT(ha_differences(y, x, 7, C), "no dimension 7", "");
    ARGUMENT(ha_differences(upper, y, 0, C), "elements of an argument",
             "'sums', and a part of x, double (3, 6)");
    ARGUMENT(ha_differences(upper, (darray){0}, 0, C), "", "");
    ARGUMENT(ha_differences((darray){0}, x, 0, C), "", "");
    HA_READING(v, y, H) for (int i = 0; i < 24; i++) assert_true(v.data[i] == 5);
    drop_array(x.array), drop_array(y.array), drop_array(whole.array), drop_array(small.array);
    drop(row);
}

TEST(of_nothing) {
    harray_double none = keep(harray_double_new(0));
    SUCCEEDS(ha_scan(HA_SUM, none, none, HA_INCLUSIVE, C));
    SUCCEEDS(ha_scan_along(HA_MIN, none, none, 0, HA_EXCLUSIVE, C));
    drop(none);
}

/* Each allocation in turn. */
TEST(without_memory) {
    harray_double x = keep(harray_double_filled(200, 1)), y = keep(harray_double_filled(200, 5));
    harray_int32_t counts = harray_int32_t_filled(200, 1), offsets = harray_int32_t_filled(201, 5);
    keep_array(counts.array), keep_array(offsets.array);
    int failures = 0;
    for (int call = 0; call < 2 && C == H; call++)
        for (int n = 0;; n++) {
            ha_op_kernels_end();
            until_failure = n;
            const ha_status s = call ? ha_scan_offsets(offsets, counts, C)
                                     : ha_scan_along(HA_SUM, y, x, 0, HA_INCLUSIVE, C);
            const int all = until_failure >= 0;
            until_failure = -1;
            if (!s && all) break;
            failures += s != HA_OK;
            if (s) assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
            if (s) HA_READING(v, y, H) assert_true(v.data[0] == (call ? 1 : 5));
            if (s) HA_READING(v, offsets, H) assert_int_equal(v.data[0], 5);
        }
    assert_true(C != H || failures > 2);
    drop_array(counts.array), drop_array(offsets.array), drop(x), drop(y);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        CASE(scanned),           CASE(long_ones),       CASE(eight_dimensions),
        CASE(offsets),           CASE(refused_offsets), CASE(differences),
        CASE(refused_arguments), CASE(of_nothing),      CASE(without_memory),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
