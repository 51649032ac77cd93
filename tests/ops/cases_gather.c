/* Operations by index, on every context: against loops over elements one by one, over views of all kinds; and what is
 * refused, which changes nothing. */
#include "sparing.h"

HA_ARRAY(double, 2);

typedef struct pair {
    int32_t a, b;
} pair;
HARRAY(pair);
typedef struct triple {
    int32_t a, b, c;
} triple;
HARRAY(triple);
HA_OPS(double);

#include "known_indices.h"

static values of_x, of_y, of_at;

/* ---- what a fake driver knows: one kernel of each rank and kind --------------------------------- */

static void know_scatter(int op, darray y, ha_dtype at) {
    ha_op_key key = {.make = ha_scatter_make};
    if (!is_fake(C)) return;
    SUCCEEDS(ha_context_finish(C));
    know_check(at);
    SUCCEEDS(ha_scatter_line(&y, op, &key));
    key.of[0] = (int)ha_dtype_size(at);
    for (int rank = 0; rank < HA_MAPPING_RANK; rank++)
        for (int rest = 0; rest < HA_MAPPING_RANK; rest++) {
            key.rank = 1 + rank + HA_INDEX_RANK * (1 + rest);
            know_key(4 + rank + HA_MAPPING_RANK * rest, &key);
        }
}

/* Where indices are sorted. */
static void know_runs(int op, darray y, ha_dtype at) {
    ha_op_key key = {.make = ha_scatter_run_make};
    if (!is_fake(C)) return;
    know_sorting(at, HA_ASCENDING, sizeof(uint32_t));
    know_check(at);
    SUCCEEDS(ha_scatter_line(&y, op, &key));
    key.of[0] = (int)ha_dtype_size(at);
    key.rank = 1 + HA_INDEX_RANK;
    know_key(4, &key);
}

static void know_inverse(ha_dtype y, ha_dtype at) {
    if (!is_fake(C)) return;
    SUCCEEDS(ha_context_finish(C));
    know_check(at);
    ha_op_key key = {.rank = 1,
                     .make = ha_inverse_make,
                     .of = {(int)(ha_dtype_size(at) + 16 * ha_dtype_size(y)), HA_INVERSE_PUT}};
    know_key(4, &key);
    key.of[1] = HA_INVERSE_CHECK;
    know_key(5, &key);
}

/* ---- random views -------------------------------------------------------------------------------- */

/* Indices below n. */
static darray some_indices(ha_dtype type, int rank, const int64_t *extent, int64_t n,
                           int may_repeat) {
    const darray at = some_view(type, rank, extent, may_repeat);
    ha_access v;
    SUCCEEDS(ha_open(&v, at.array, H, HA_WRITE, 0, HA_END));
    for (size_t i = 0; i < v.size; i++) {
        const ha_dvalue number = wrapped(type, n ? (wide)draw((uint32_t)n) : 0);
        memcpy((char *)(uintptr_t)v.data + i * ha_dtype_size(type), number.bytes,
               ha_dtype_size(type));
    }
    SUCCEEDS(ha_close(&v));
    return at;
}

typedef struct some_arrays {
    darray at, x, all; /* x is indexed, all has the extents of both */
    int64_t rest;
} some_arrays;

static some_arrays some_arrays_of(ha_dtype type, ha_dtype index, int writes_all) {
    int64_t of_indices[4], of_indexed[4], of_both[8];
    const int rank = (int)draw(4), others = (int)draw((uint32_t)(4 - rank));
    some_arrays a = {.rest = 1};
    for (int d = 0; d < rank; d++) of_both[d] = of_indices[d] = draw(12) ? 1 + draw(5) : 0;
    of_indexed[0] = 1 + draw(6);
    for (int d = 0; d < others; d++) {
        of_both[rank + d] = of_indexed[1 + d] = draw(12) ? 1 + draw(5) : 0;
        a.rest *= of_indexed[1 + d];
    }
    a.at = some_indices(index, rank, of_indices, of_indexed[0], 1);
    a.x = some_view(type, 1 + others, of_indexed, writes_all);
    a.all = some_view(type, rank + others, of_both, !writes_all);
    read_values(a.at, &of_at);
    return a;
}

static void drop_some(some_arrays *a) {
    drop_array(a->at.array), drop_array(a->x.array), drop_array(a->all.array);
}

static void gather_some(ha_dtype type, ha_dtype index) {
    some_arrays a = some_arrays_of(type, index, 1);
    read_values(a.x, &of_x);
    know_gather(ha_dtype_size(type), index);
    put_there(a.x);
    SUCCEEDS(ha_gather(a.all, a.x, a.at, C));
    expect_there(a.x);
    of_y.n = 0;
    for (int i = 0; i < of_at.n; i++)
        for (int64_t r = 0; r < a.rest; r++)
            of_y.at[of_y.n++] = of_x.at[(int64_t)wide_of(of_at.at[i]) * a.rest + r];
    expect_elements(a.all, &of_y, 1, "gather", 0);
    drop_some(&a);
}

/* What overflows in complex numbers on the way is any of several. */
static int all_are_small(const values *x) {
    int are = 1;
    for (int i = 0; i < x->n; i++) are &= cabs(complex_of(x->at[i])) < 1e30;
    return are;
}

static void scatter_some(ha_dtype type, ha_dtype index, int op) {
    some_arrays a = some_arrays_of(type, index, 0);
    const ha_dvalue none = some_number(type);
    read_values(a.x, &of_y);
    read_values(a.all, &of_x);
    know_scatter(op, a.x, index);
    SUCCEEDS(ha_scatter(op, a.x, a.at, a.all, C));
    for (int i = 0; i < of_at.n; i++)
        for (int64_t r = 0; r < a.rest; r++) {
            ha_dvalue *y = &of_y.at[(int64_t)wide_of(of_at.at[i]) * a.rest + r];
            const ha_dvalue x = of_x.at[i * a.rest + r];
            *y = op == HA_ASSIGN ? x : naive(op, *y, x, none, none);
        }
    const int is_complex = ha_dtype_kind(type) == HA_KIND_COMPLEX;
    const int either = op == HA_MINIMUM || op == HA_MAXIMUM, joins = is_complex && op != HA_ASSIGN;
    if (!joins || all_are_small(&of_y))
        expect_elements(a.x, &of_y, joins ? 0 : either ? EITHER_ZERO : EXACT, "scatter", op);
    drop_some(&a);
}

static const int joins[] = {HA_ASSIGN, HA_ADD, HA_MULTIPLY, HA_MINIMUM, HA_MAXIMUM};

TEST(gathered) {
    const int rounds = share_of(12);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++)
            if (is_turn_here(round, t, round, 5)) gather_some(types[t], index_types[draw(4)]);
}

TEST(scattered) {
    const int rounds = share_of(6);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++)
            for (size_t k = 0; k < sizeof joins / sizeof *joins; k++) {
                const int is_complex = ha_dtype_kind(types[t]) == HA_KIND_COMPLEX;
                if (t >= COMPUTED && joins[k] != HA_ASSIGN) continue;
                if (is_complex && joins[k] > HA_DIVIDE) continue;
                if (is_tried_here(round, t, (int)k))
                    scatter_some(types[t], index_types[draw(4)], joins[k]);
            }
}

/* Rows of each kind, in one dimension and two, of which the last index wins. */
TEST(every_loop_by_index) {
    for (size_t k = 0; k < sizeof joins / sizeof *joins && C == H; k++)
        for (int t = 0; t < COMPUTED; t++)
            for (int i = 0; i < 40; i++) {
                if (ha_dtype_kind(types[t]) == HA_KIND_COMPLEX && joins[k] > HA_DIVIDE) continue;
                scatter_some(types[t], index_types[i % 4], joins[k]);
            }
}

/* ---- masks --------------------------------------------------------------------------------------- */

static darray some_mask(int rank, const int64_t *extent, uint32_t one_in) {
    const darray mask = some_view(HA_DTYPE_uint8_t, rank, extent, 1);
    ha_access v;
    SUCCEEDS(ha_open(&v, mask.array, H, HA_WRITE, 0, HA_END));
    for (size_t i = 0; i < v.size; i++)
        ((uint8_t *)(uintptr_t)v.data)[i] = (uint8_t)(draw(one_in) ? 0 : 1 + draw(255));
    SUCCEEDS(ha_close(&v));
    return mask;
}

static int mask_extents(int64_t *extent) {
    const int rank = some_extents(extent);
    if (rank == 2) extent[draw(2)] += draw(2) ? 200 : 0;
    return rank;
}

/* What there is behind the count stays. */
static void find_some(ha_dtype index) {
    int64_t extent[HA_MOST_RANK], count = -1;
    const int rank = mask_extents(extent);
    const darray mask = some_mask(rank, extent, 1 + draw(4));
    read_values(mask, &of_x);
    const int64_t room = of_x.n + (int64_t)draw(3);
    const darray at = some_indices(index, 1, &room, 1000, 0);
    read_values(at, &of_y);
    know_find(HA_FIND_PUT, ha_dtype_size(index));
    SUCCEEDS(ha_find(at, mask, &count, C));
    int64_t n = 0;
    for (int i = 0; i < of_x.n; i++)
        if (of_x.at[i].bytes[0]) of_y.at[n++] = wrapped(index, i);
    assert_true(count == n);
    expect_elements(at, &of_y, 1, "find", 0);
    drop_array(mask.array), drop_array(at.array);
}

static void compact_some(ha_dtype type) {
    int64_t extent[HA_MOST_RANK];
    uint16_t count = 7;
    const int rank = mask_extents(extent);
    const darray mask = some_mask(rank, extent, 1 + draw(4));
    const darray x = some_view(type, rank, extent, 1);
    read_values(mask, &of_at);
    read_values(x, &of_x);
    const int64_t room = of_x.n + (int64_t)draw(3);
    const darray y = some_view(type, 1, &room, 0);
    read_values(y, &of_y);
    know_find(HA_FIND_MOVE, ha_dtype_size(type));
    SUCCEEDS(ha_compact(y, x, mask, &count, C));
    int n = 0;
    for (int i = 0; i < of_x.n; i++)
        if (of_at.at[i].bytes[0]) of_y.at[n++] = of_x.at[i];
    assert_int_equal(count, n);
    expect_elements(y, &of_y, 1, "compact", 0);
    drop_array(mask.array), drop_array(x.array), drop_array(y.array);
}

TEST(found_and_compacted) {
    const int rounds = share_of(10);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++) {
            if (!is_turn_here(round, t, round, 4)) continue;
            find_some(index_types[t % 4]);
            compact_some(types[t]);
        }
}

/* Another thread writes the mask when it has been counted: there is no place for more. */
TEST(found_in_a_mask_that_changes) {
    enum { ALL = 700, ROOM = 40 };
    for (int moves = 0; moves < 2; moves++) {
        harray_uint8_t mask = harray_uint8_t_zeros(ALL);
        harray_uint32_t x = harray_uint32_t_filled(ALL, 7), y = harray_uint32_t_filled(ROOM, 5);
        keep_array(mask.array), keep_array(x.array), keep_array(y.array);
        const darray result = HA_DARRAY(y), of_mask = HA_DARRAY(mask), moved = HA_DARRAY(x);
        ha_finding f = {.operation = "ha_find",
                        .context = C,
                        .y = result,
                        .mask = of_mask,
                        .x = moves ? &moved : NULL};
        SUCCEEDS(darray_fill(darray_slice(of_mask, 0, 250, 260, 1), HA_DVALUE(1), C));
        know_find(moves ? HA_FIND_MOVE : HA_FIND_PUT, sizeof(uint32_t));
        SUCCEEDS(ha_find_blocks(&f));
        assert_int_equal(f.count, 10);
        SUCCEEDS(ha_fill(mask, 1, C));
        know_find(moves ? HA_FIND_MOVE : HA_FIND_PUT, sizeof(uint32_t));
        SUCCEEDS(ha_find_launch(&f, moves ? HA_FIND_MOVE : HA_FIND_PUT));
        SUCCEEDS(ha_array_free(f.begin));
        read_values(result, &of_at);
        for (int i = 0; i < ROOM; i++)
            assert_int_equal(of_at.at[i].as_uint32_t, i >= 10 ? 5
                                                      : moves ? 7
                                                      : i < 6 ? i
                                                              : 256 + i - 6);
        drop_array(mask.array), drop_array(x.array), drop_array(y.array);
    }
}

/* ---- permutations -------------------------------------------------------------------------------- */

static harray_int32_t shuffled(int n) {
    harray_int32_t p = harray_int32_t_new((size_t)n);
    keep_array(p.array);
    HA_WRITING(v, p, H) {
        for (int i = 0; i < n; i++) v.data[i] = i;
        for (int i = n - 1; i > 0; i--) {
            const uint32_t k = draw((uint32_t)i + 1);
            const int32_t swapped = v.data[i];
            v.data[i] = v.data[k];
            v.data[k] = swapped;
        }
    }
    return p;
}

TEST(inverted) {
    enum { N = 3000 };
    harray_int32_t p = shuffled(N);
    for (int k = 0; k < 16; k++) {
        const ha_dtype from = index_types[k / 4], to = index_types[k % 4];
        const int64_t n = N;
        const darray at = darray_convert(HA_DARRAY(p), from, C), y = darray_new(to, 1, &n, C);
        keep_array(at.array), keep_array(y.array);
        know_inverse(to, from);
        SUCCEEDS(ha_inverse(y, darray_flip(at, 0), C));
        const darray back = darray_convert(y, HA_DTYPE_int32_t, H);
        keep_array(back.array);
        HA_READING(v, p, H)
        HA_READING(w, harray_int32_t_from(back.array), H)
        for (int i = 0; i < N; i++) assert_int_equal(w.data[v.data[N - 1 - i]], i);
        drop_array(back.array), drop_array(y.array), drop_array(at.array);
    }
    drop_array(p.array);
}

/* ---- structs, empty arrays, long ones ------------------------------------------------------------ */

TEST(structs_are_moved) {
    harray_pair x = harray_pair_filled(5, (pair){1, 2}), y = harray_pair_filled(3, (pair){0, 0});
    harray_uint32_t at = harray_uint32_t_filled(3, 4);
    keep_array(x.array), keep_array(y.array), keep_array(at.array);
    HA_WRITING(v, x, H) v.data[4] = (pair){7, 8};
    know_gather(sizeof(pair), HA_DTYPE_uint32_t);
    SUCCEEDS(ha_gather(y, x, at, C));
    HA_READING(v, y, H) assert_true(v.data[2].a == 7 && v.data[2].b == 8);
    drop_array(x.array), drop_array(y.array), drop_array(at.array);
}

TEST(long_ones) {
    enum { N = 100000, BINS = 10 };
    harray_int32_t p = shuffled(N);
    harray_double x = keep(harray_double_new(N)), y = keep(harray_double_new(N));
    harray_double bins = keep(harray_double_filled(BINS, 0.25));
    double expected[BINS];
    HA_WRITING(v, x, H) for (int i = 0; i < N; i++) v.data[i] = 1.0 / (i + 1);
    know_gather(8, HA_DTYPE_int32_t);
    SUCCEEDS(harray_double_gather(y, x, p, C));
    HA_READING(v, y, H)
    HA_READING(w, p, H)
    for (int i = 0; i < N; i++) assert_true(v.data[i] == 1.0 / (w.data[i] + 1));
    for (int i = 0; i < BINS; i++) expected[i] = 0.25;
    HA_WRITING(w, p, H) for (int i = 0; i < N; i++) w.data[i] %= BINS;
    HA_READING(w, p, H)
    HA_READING(v, x, H) for (int i = 0; i < N; i++) expected[w.data[i]] += v.data[i];
    know_runs(HA_ADD, HA_DARRAY(bins), HA_DTYPE_int32_t);
    SUCCEEDS(harray_double_scatter(HA_ADD, bins, p, x, C));
    HA_READING(v, bins, H) for (int i = 0; i < BINS; i++) assert_true(v.data[i] == expected[i]);
    drop(bins), drop(y), drop(x), drop_array(p.array);
}

/* So many indices that they are sorted on a device: columns of several, with gaps, and backwards. */
static void scatter_runs(ha_dtype type, ha_dtype index, int op, int64_t width) {
    enum { N = 300, PLACES = 37 };
    const int64_t n = N, of_all[] = {N, width}, of_places[] = {PLACES, width};
    only_rows = 0;
    const darray at = some_indices(index, 1, &n, PLACES, 0), x = some_view(type, 2, of_all, 1);
    const darray y = some_view(type, 2, of_places, 0);
    const ha_dvalue none = some_number(type);
    read_values(at, &of_at);
    read_values(x, &of_x);
    read_values(y, &of_y);
    know_runs(op, y, index);
    SUCCEEDS(ha_scatter(op, y, at, x, C));
    for (int i = 0; i < N; i++)
        for (int64_t r = 0; r < width; r++) {
            ha_dvalue *to = &of_y.at[(int64_t)wide_of(of_at.at[i]) * width + r];
            const ha_dvalue from = of_x.at[i * width + r];
            *to = op == HA_ASSIGN ? from : naive(op, *to, from, none, none);
        }
    const int is_complex = ha_dtype_kind(type) == HA_KIND_COMPLEX;
    const int either = op == HA_MINIMUM || op == HA_MAXIMUM;
    expect_elements(y, &of_y, is_complex ? 0 : either ? EITHER_ZERO : EXACT, "scatter in runs", op);
    drop_array(at.array), drop_array(x.array), drop_array(y.array);
}

TEST(scattered_in_runs) {
    scatter_runs(HA_DTYPE_float, HA_DTYPE_int32_t, HA_ADD, 1);
    scatter_runs(HA_DTYPE_half, HA_DTYPE_uint64_t, HA_ADD, 3);
    scatter_runs(HA_DTYPE_uint16_t, HA_DTYPE_int32_t, HA_ASSIGN, 4);
    scatter_runs(HA_DTYPE_double, HA_DTYPE_int32_t, HA_MULTIPLY, 2);
    scatter_runs(HA_DTYPE_double, HA_DTYPE_int32_t, HA_MINIMUM, 1);
    scatter_runs(HA_DTYPE_int64_t, HA_DTYPE_int32_t, HA_MAXIMUM, 3);
    scatter_runs(HA_DTYPE_int64_t, HA_DTYPE_uint64_t, HA_MULTIPLY, 1);
    scatter_runs(HA_DTYPE_c64, HA_DTYPE_int32_t, HA_ADD, 2);
    scatter_runs(HA_DTYPE_c128, HA_DTYPE_int32_t, HA_MULTIPLY, 1);
}

TEST(of_nothing) {
    harray_double x = keep(harray_double_filled(4, 1)), none = keep(harray_double_new(0));
    harray_int32_t at = harray_int32_t_new(0);
    harray_uint8_t mask = harray_uint8_t_new(0);
    keep_array(at.array), keep_array(mask.array);
    int count = 9;
    SUCCEEDS(ha_gather(none, x, at, C));
    SUCCEEDS(ha_gather(none, none, at, C));
    SUCCEEDS(ha_scatter(HA_ADD, x, at, none, C));
    SUCCEEDS(ha_scatter(HA_ASSIGN, none, at, none, C));
    SUCCEEDS(ha_find(at, mask, &count, C));
    assert_int_equal(count, 0);
    count = 9;
    SUCCEEDS(ha_compact(x, none, mask, &count, C));
    assert_int_equal(count, 0);
    harray_int32_t to = harray_int32_t_new(0);
    keep_array(to.array);
    SUCCEEDS(ha_inverse(to, at, C));
    drop_array(to.array), drop_array(at.array), drop_array(mask.array), drop(none), drop(x);
}

/* ---- what is refused ----------------------------------------------------------------------------- */

static void refused(ha_status expected, ha_status got, const char *part, const char *second) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, expected);
    assert_int_equal(e.status, expected);
    if (!strstr(e.text, part) || !strstr(e.text, second))
        fail_msg("\"%s\" does not say \"%s\", \"%s\"", e.text, part, second);
}
#define ARGUMENT(call, part, second) refused(HA_ERR_ARGUMENT, call, part, second)

typedef struct refusals {
    harray_double x, y, short_one, none;
    harray_float f;
    harray_int32_t at, same;
    harray_uint8_t mask;
} refusals;

static refusals refusals_of(void) {
    refusals r = {keep(harray_double_filled(10, 1)), keep(harray_double_filled(6, 2)),
                  keep(harray_double_filled(1, 2)),  keep(harray_double_new(0)),
                  harray_float_filled(10, 1),        harray_int32_t_filled(6, 3),
                  harray_int32_t_filled(6, 0),       harray_uint8_t_filled(6, 0)};
    keep_array(r.f.array), keep_array(r.at.array);
    keep_array(r.same.array), keep_array(r.mask.array);
    ha_array_set_name(r.at.array, "cells");
    return r;
}

static void drop_refusals(refusals *r) {
    HA_READING(v, r->y, H) for (int i = 0; i < 6; i++) assert_true(v.data[i] == 2);
    HA_READING(v, r->x, H) for (int i = 0; i < 10; i++) assert_true(v.data[i] == 1);
    drop(r->x), drop(r->y), drop(r->short_one), drop(r->none);
    drop_array(r->f.array), drop_array(r->at.array);
    drop_array(r->same.array), drop_array(r->mask.array);
}

TEST(refused_indices) {
    refusals r = refusals_of();
    know_gather(8, HA_DTYPE_int32_t);
    HA_WRITING(v, r.at, H) v.data[2] = 10, v.data[4] = -7;
    ARGUMENT(ha_gather(r.y, r.x, r.at, C), "cells", "at (2) there is 10");
    ARGUMENT(ha_gather(r.y, r.none, r.at, C), "cells", "at (0) there is 3");
    know_scatter(HA_ADD, HA_DARRAY(r.x), HA_DTYPE_int32_t);
    ARGUMENT(ha_scatter(HA_ADD, r.x, r.at, r.y, C), "extent of 10", "at (2) there is 10");
    know_gather(8, HA_DTYPE_int32_t);
    HA_WRITING(v, r.at, H) v.data[2] = 9;
    ARGUMENT(ha_gather(r.y, r.x, r.at, C), "cells", "at (4) there is -7");
    know_gather(8, HA_DTYPE_uint64_t);
    harray_uint64_t far = harray_uint64_t_filled(6, UINT64_MAX);
    keep_array(far.array);
    ARGUMENT(ha_gather(r.y, r.x, far, C), "uint64_t", "there is 18446744073709551615");
    drop_array(far.array);
    const darray grid = darray_reshape(HA_DARRAY(r.at), 2, (int64_t[]){2, 3});
    array_double_2 both = array_double_2_filled(HA_DIM(2, 3), 2, H);
    keep_array(both.array);
    know_gather(8, HA_DTYPE_int32_t);
    ARGUMENT(ha_gather(both, r.x, darray_slice(grid, 1, 1, 3, 1), C), "extents", "");
    ARGUMENT(ha_gather(both, r.x, grid, C), "cells", "at (1, 1) there is -7");
    drop_array(both.array);
    drop_refusals(&r);
}

/* Whether they need not be looked at again, and what for. */
static int known(harray_int32_t at, uint64_t greatest) {
    const ha_known_indices *k = &at.array->indices;
    return k->version == ha_array_version(at.array) + 1 && k->greatest == greatest;
}

/* Indices are looked at once, and again when they may be others, or are to be of fewer. */
TEST(looked_at_when_they_change) {
    refusals r = refusals_of();
    harray_int32_t far = harray_int32_t_filled(6, 12);
    harray_double of_4 = keep(harray_double_filled(4, 1)), two = keep(harray_double_filled(2, 2));
    const darray all = HA_DARRAY(r.at);
    keep_array(far.array);
    know_gather(8, HA_DTYPE_int32_t);
    assert_false(known(r.at, 9));
    SUCCEEDS(ha_gather(r.y, r.x, r.at, C));
    assert_true(known(r.at, 9));
    SUCCEEDS(ha_gather(r.y, r.x, r.at, C));
    HA_WRITING(v, r.at, H) v.data[2] = 9;
    assert_false(known(r.at, 9));
    SUCCEEDS(ha_gather(two, r.x, darray_slice(all, 0, 0, 2, 1), C)); /* 3, 3 */
    ARGUMENT(ha_gather(r.y, of_4, r.at, C), "extent of 4", "at (2) there is 9");
    SUCCEEDS(ha_gather(two, of_4, darray_slice(all, 0, 0, 4, 3), C)); /* 3, 3 */
    ARGUMENT(ha_gather(two, of_4, darray_slice(all, 0, 0, 4, 2), C), "extent of 4",
             "at (1) there is 9");
    ARGUMENT(ha_gather(two, of_4, darray_slice(all, 0, 2, 6, 3), C), "extent of 4",
             "at (0) there is 9");
    SUCCEEDS(ha_gather(r.y, r.x, r.at, C));
    ARGUMENT(ha_gather(r.y, of_4, r.at, C), "extent of 4", "at (2) there is 9");
    assert_true(known(r.at, 9));
    SUCCEEDS(harray_int32_t_swap(r.at, far));
    ARGUMENT(ha_gather(r.y, r.x, r.at, C), "cells", "at (0) there is 12");
    SUCCEEDS(ha_fill(all, 3, C));
    SUCCEEDS(ha_gather(r.y, r.x, r.at, C));
    HA_WRITING(v, r.y, H) for (int i = 0; i < 6; i++) v.data[i] = 2;
    drop(of_4), drop(two), drop_array(far.array);
    drop_refusals(&r);
}

/* The caller's memory may change without an access. */
TEST(the_callers_are_looked_at_each_time) {
    refusals r = refusals_of();
    int32_t own[6] = {1, 2, 3, 4, 5, 6};
    harray_int32_t at = harray_int32_t_wrap(own, 6);
    know_gather(8, HA_DTYPE_int32_t);
    SUCCEEDS(ha_gather(r.y, r.x, at, H));
    own[4] = 10;
    ARGUMENT(ha_gather(r.y, r.x, at, H), "extent of 10", "at (4) there is 10");
    SUCCEEDS(harray_int32_t_free(&at));
    HA_WRITING(v, r.y, H) for (int i = 0; i < 6; i++) v.data[i] = 2;
    drop_refusals(&r);
}

/* A bad index is told before any are sorted, and nothing is changed. */
TEST(refused_in_runs) {
    harray_int32_t at = harray_int32_t_filled(100, 7);
    harray_double x = keep(harray_double_filled(100, 1)), y = keep(harray_double_filled(7, 2));
    keep_array(at.array);
    know_runs(HA_ADD, HA_DARRAY(y), HA_DTYPE_int32_t);
    ARGUMENT(ha_scatter(HA_ADD, y, at, x, C), "extent of 7", "there is 7");
    HA_READING(v, y, H) for (int i = 0; i < 7; i++) assert_true(v.data[i] == 2);
    drop(x), drop(y), drop_array(at.array);
}

TEST(refused_arguments) {
    refusals r = refusals_of();
    harray_triple t = harray_triple_filled(6, (triple){1, 2, 3});
    keep_array(t.array);
    ARGUMENT(ha_gather(r.y, r.f, r.at, C), "float", "types are not the same");
    ARGUMENT(ha_gather(r.x, r.x, r.at, C), "the extents are not those", "double (10)");
    ARGUMENT(ha_gather(r.y, r.x, r.y, C), "an index is of", "double (6)");
    ARGUMENT(ha_gather(r.y, r.y, r.at, C), "elements of an argument", "double (6)");
    ARGUMENT(ha_gather(r.at, r.same, r.at, C), "elements of an argument",
             "y, int32_t (6) of array 'cells', and at, int32_t (6) of array 'cells'");
    refused(HA_ERR_UNSUPPORTED, ha_gather(t, t, r.at, C), "12 bytes", "");
    const darray number = darray_fix(HA_DARRAY(r.x), 0, 0);
    ARGUMENT(ha_gather(r.y, number, r.at, C), "no dimension", "");
    ARGUMENT(ha_scatter(HA_SUBTRACT, r.x, r.at, r.y, C), "HA_SUBTRACT is none of ha_scatter's",
             "HA_MULTIPLY");
    ARGUMENT(ha_scatter(HA_ADD, r.mask, r.at, r.mask, C), "elements of an argument", "");
    harray_uint8_t bytes = harray_uint8_t_filled(9, 1);
    keep_array(bytes.array);
    ARGUMENT(ha_scatter(HA_ADD, bytes, r.at, r.mask, C), "there is no HA_ADD of uint8_t", "");
    drop_array(bytes.array);
    ARGUMENT(ha_scatter(HA_ADD, r.y, r.at, r.y, C), "elements of an argument", "");
    ARGUMENT(ha_scatter(HA_ADD, r.at, r.at, r.same, C), "elements of an argument", "cells");
    drop_array(t.array);
    drop_refusals(&r);
}

TEST(refused_masks) {
    refusals r = refusals_of();
    int count = 77, *nowhere = NULL;
    int8_t small = 5;
    HA_WRITING(v, r.mask, H) v.data[2] = v.data[3] = 1;
    know_find(HA_FIND_MOVE, 8);
    ARGUMENT(ha_compact(r.short_one, r.y, r.mask, &count, C), "there is no room for 2", "");
    ARGUMENT(ha_compact(r.x, r.x, r.mask, &count, C), "the extents are not the same", "");
    ARGUMENT(ha_compact(r.y, r.y, r.mask, &count, C), "elements of an argument", "and x, double");
    ARGUMENT(ha_compact(r.x, r.y, r.at, &count, C), "a mask is of", "cells");
    ARGUMENT(ha_compact(r.f, r.y, r.mask, &count, C), "types are not the same", "float");
    ARGUMENT(ha_compact(r.mask, r.mask, r.mask, &count, C), "elements of an argument", "");
    ARGUMENT(ha_compact(r.x, r.y, r.mask, nowhere, C), "the pointer to the count is NULL", "");
    know_find(HA_FIND_PUT, 4);
    ARGUMENT(ha_find(r.y, r.mask, &count, C), "an index is of", "double (6)");
    const darray grid = darray_reshape(HA_DARRAY(r.at), 2, (int64_t[]){2, 3});
    ARGUMENT(ha_find(grid, r.mask, &count, C), "one dimension", "cells");
    const darray same = darray_broadcast(darray_slice(HA_DARRAY(r.at), 0, 0, 1, 1), 1,
                                         (int64_t[]){6});
    ARGUMENT(ha_find(same, r.mask, &count, C), "repeats elements", "cells");
    assert_int_equal(count, 77);
    const int64_t many = 300;
    const darray all = darray_broadcast(darray_slice(HA_DARRAY(r.mask), 0, 2, 3, 1), 1, &many);
    const darray room = darray_new(HA_DTYPE_int32_t, 1, &many, C);
    keep_array(room.array);
    ARGUMENT(ha_find(room, all, &small, C), "as int8_t", "does not fit");
    assert_int_equal(small, 5);
    drop_array(room.array);
    drop_refusals(&r);
}

TEST(refused_permutations) {
    refusals r = refusals_of();
    harray_int64_t y = harray_int64_t_filled(6, 44), longer = harray_int64_t_filled(7, 44);
    keep_array(y.array), keep_array(longer.array);
    know_inverse(HA_DTYPE_int64_t, HA_DTYPE_int32_t);
    HA_WRITING(v, r.at, H) for (int i = 0; i < 6; i++) v.data[i] = i % 4;
    ARGUMENT(ha_inverse(y, r.at, C), "cells", "0 is at (0) and at (4)");
    HA_WRITING(v, r.at, H) v.data[4] = 6;
    ARGUMENT(ha_inverse(y, r.at, C), "cells", "at (4) there is 6");
    ARGUMENT(ha_inverse(longer, r.at, C), "int64_t (7)", "the extents are not the same");
    ARGUMENT(ha_inverse(r.at, r.at, C), "and permutation, int32_t (6) of array 'cells'",
             "elements of an argument");
    ARGUMENT(ha_inverse(r.y, r.at, C), "double", "an index is of");
    ARGUMENT(ha_inverse(y, r.y, C), "double", "an index is of");
    const darray grid = darray_reshape(HA_DARRAY(r.at), 2, (int64_t[]){2, 3});
    ARGUMENT(ha_inverse(grid, y, C), "cells", "one dimension");
    ARGUMENT(ha_inverse(y, grid, C), "cells", "one dimension");
    HA_READING(v, y, H) for (int i = 0; i < 6; i++) assert_true(v.data[i] == 44);
    drop_array(y.array), drop_array(longer.array);
    drop_refusals(&r);
}

/* Of so many dimensions, of which no two follow each other, with numbers below 3. */
static darray gappy(ha_dtype type, int rank) {
    int64_t room[HA_MOST_RANK];
    for (int d = 0; d < rank; d++) room[d] = 3;
    darray a = darray_zeros(type, rank, room, H);
    keep_array(a.array);
    ha_access v;
    SUCCEEDS(ha_open(&v, a.array, H, HA_WRITE, 0, HA_END));
    for (size_t i = 0; i < v.size; i++) {
        const ha_dvalue number = wrapped(type, (wide)draw(3));
        memcpy((char *)(uintptr_t)v.data + i * ha_dtype_size(type), number.bytes,
               ha_dtype_size(type));
    }
    SUCCEEDS(ha_close(&v));
    for (int d = 0; d < rank; d++) a = darray_slice(a, d, 0, 2, 1);
    return a;
}

/* Indices of so many dimensions, and x of `others` behind the one that is indexed. */
static void gather_gappy(int rank, int others) {
    const darray at = gappy(HA_DTYPE_uint32_t, rank), x = gappy(HA_DTYPE_double, 1 + others),
                 y = gappy(HA_DTYPE_double, rank + others);
    const int64_t rest = (int64_t)1 << others;
    if (is_fake(C)) {
        know_key(0, &(const ha_op_key){.rank = rank, .make = ha_index_make_check, .of = {4, 0}});
        know_key(1, &(const ha_op_key){.type = ha_index_moved(8),
                                       .rank = rank + others,
                                       .make = ha_gather_make,
                                       .of = {4, 0}});
    }
    SUCCEEDS(ha_fill(at, 1, H)); /* x has two */
    for (int i = 0; i < rank; i++)
        SUCCEEDS(darray_fill(darray_slice(at, i, 0, 1, 1), HA_DVALUE(i % 2), H));
    read_values(at, &of_at);
    read_values(x, &of_x);
    SUCCEEDS(ha_gather(y, x, at, C));
    of_y.n = 0;
    for (int i = 0; i < of_at.n; i++)
        for (int64_t r = 0; r < rest; r++)
            of_y.at[of_y.n++] = of_x.at[(int64_t)wide_of(of_at.at[i]) * rest + r];
    expect_elements(y, &of_y, 1, "gather of many dimensions", rank);
    drop_array(at.array), drop_array(x.array), drop_array(y.array);
}

static void scatter_gappy(int rank, int others) {
    const darray at = gappy(HA_DTYPE_uint32_t, rank), y = gappy(HA_DTYPE_double, 1 + others),
                 x = gappy(HA_DTYPE_double, rank + others);
    const int64_t rest = (int64_t)1 << others;
    if (is_fake(C)) {
        ha_op_key key = {.make = ha_scatter_make, .of = {4, 0}};
        know_key(0, &(const ha_op_key){.rank = rank, .make = ha_index_make_check, .of = {4, 0}});
        SUCCEEDS(ha_scatter_line(&y, HA_ADD, &key));
        key.rank = rank + HA_INDEX_RANK * (others ? others : 1);
        know_key(1, &key);
    }
    SUCCEEDS(ha_fill(at, 1, H));
    SUCCEEDS(darray_fill(darray_slice(at, 2, 0, 1, 1), HA_DVALUE(0), H));
    read_values(at, &of_at);
    read_values(x, &of_x);
    read_values(y, &of_y);
    SUCCEEDS(ha_scatter(HA_ADD, y, at, x, C));
    for (int i = 0; i < of_at.n; i++)
        for (int64_t r = 0; r < rest; r++)
            of_y.at[(int64_t)wide_of(of_at.at[i]) * rest + r].as_double +=
                of_x.at[i * rest + r].as_double;
    expect_elements(y, &of_y, 1, "scatter of many dimensions", rank);
    drop_array(at.array), drop_array(x.array), drop_array(y.array);
}

TEST(of_many_dimensions) {
    gather_gappy(5, 0);
    gather_gappy(5, 2);
    gather_gappy(3, 4);
    scatter_gappy(5, 0);
    scatter_gappy(5, 2);
    scatter_gappy(7, 0);
}

/* Dimensions that no two of follow each other. */
TEST(refused_ranks) {
    const int64_t room[] = {3, 3, 3, 3, 3}, five[] = {2, 2, 2, 2, 2};
    const darray at = darray_zeros(HA_DTYPE_int32_t, 5, room, C),
                 mask = darray_zeros(HA_DTYPE_uint8_t, 5, room, C);
    darray of[] = {at, mask};
    int count = 6;
    for (int k = 0; k < 2; k++) {
        keep_array(of[k].array);
        for (int d = 0; d < 5; d++) of[k] = darray_slice(of[k], d, 0, five[d], 1);
    }
    const darray many = gappy(HA_DTYPE_uint32_t, 8), one = gappy(HA_DTYPE_double, 1),
                 all = gappy(HA_DTYPE_double, 8), few = gappy(HA_DTYPE_uint32_t, 1),
                 six = gappy(HA_DTYPE_double, 6), other = gappy(HA_DTYPE_double, 6);
    refused(HA_ERR_UNSUPPORTED, ha_gather(all, one, many, C), "more than 7 dimensions", "");
    refused(HA_ERR_UNSUPPORTED, ha_scatter(HA_ADD, one, many, all, C), "more than 7", "");
    refused(HA_ERR_UNSUPPORTED, ha_scatter(HA_ADD, six, few, other, C), "more than 4", "");
    if (is_fake(C)) {
        ha_op_key key = {.rank = 5, .make = ha_find_make, .of = {8, HA_FIND_COUNT}};
        know_key(0, &key);
        key.of[0] = 4, key.of[1] = HA_FIND_PUT;
        know_key(1, &key);
    }
    SUCCEEDS(darray_fill(darray_slice(of[1], 3, 1, 2, 1), HA_DVALUE(1), C));
    SUCCEEDS(ha_find(darray_flatten(at), of[1], &count, C)); /* any rank */
    assert_int_equal(count, 16);
    read_values(darray_slice(darray_flatten(at), 0, 0, 16, 1), &of_at);
    for (int i = 0; i < 16; i++) assert_int_equal(of_at.at[i].as_int32_t, i / 2 * 4 + 2 + i % 2);
    drop_array(many.array), drop_array(one.array), drop_array(all.array);
    drop_array(few.array), drop_array(six.array), drop_array(other.array);
    for (int k = 0; k < 2; k++) drop_array(of[k].array);
}

/* Each allocation in turn; afterwards all is as it was, and the same call succeeds. */
TEST(without_memory) {
    refusals r = refusals_of();
    harray_int64_t y = harray_int64_t_filled(6, 44);
    keep_array(y.array);
    HA_WRITING(v, r.at, H) for (int i = 0; i < 6; i++) v.data[i] = 5 - i;
    HA_WRITING(v, r.mask, H) v.data[2] = 1;
    int failures = 0, count = 3;
    if (C == H)
        for (int call = 0; call < 4; call++)
            for (int n = 0;; n++) {
                ha_op_kernels_end(); /* they are made again */
                until_failure = n;
                const ha_status s = call == 0   ? ha_gather(r.y, r.x, r.at, C)
                                    : call == 1 ? ha_scatter(HA_ADD, r.x, r.at, r.y, C)
                                    : call == 2 ? ha_find(r.same, r.mask, &count, C)
                                                : ha_inverse(y, r.at, C);
                const int all = until_failure >= 0;
                until_failure = -1;
                if (!s && all) break;
                failures += s != HA_OK;
                if (s) assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
            }
    assert_true(C != H || failures > 4);
    drop_array(y.array);
    HA_WRITING(v, r.x, H) for (int i = 0; i < 10; i++) v.data[i] = 1;
    HA_WRITING(v, r.y, H) for (int i = 0; i < 6; i++) v.data[i] = 2;
    drop_refusals(&r);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        CASE(gathered),
        CASE(scattered),
        CASE(scattered_in_runs),
        CASE(every_loop_by_index),
        CASE(found_in_a_mask_that_changes),
        CASE(found_and_compacted),
        CASE(inverted),
        CASE(structs_are_moved),
        CASE(long_ones),
        CASE(of_nothing),
        CASE(refused_indices),
        CASE(looked_at_when_they_change),
        CASE(the_callers_are_looked_at_each_time),
        CASE(refused_in_runs),
        CASE(refused_arguments),
        CASE(refused_masks),
        CASE(refused_permutations),
        CASE(of_many_dimensions),
        CASE(refused_ranks),
        CASE(without_memory),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
