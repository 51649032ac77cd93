/* Fields of record arrays with those of other ones, on every context and in many layouts, against the same arithmetic with
 * arrays of structs here. */
#include "sparing.h"
#define TRIED_EACH 7
#include "../support/few_kernels.h"
#include "known_apply.h"
#include "two_sides.h"

static void are_expected(const char *what) {
    is_expected_of(&left, what);
    is_expected_of(&right, what);
}

/* One record on the right is there for all. */
static ha_status join_models(ha_operator op, const ha_applying *how, ha_error *error) {
    const ha_mapped to = model_of(&left), from = model_of(&right);
    return ha_records_size(right.records) == 1
               ? ha_mapped_apply_record(&to, op, right.record, right.values, how, error)
               : ha_mapped_apply_view(&to, op, &from, how, error);
}

static void join_there(ha_records *records, ha_operator op, ha_records *other,
                       const ha_applying *how) {
    know_records_with(records, op, other, how);
    assert_int_equal(ha_records_apply_records(records, op, other, how, C), HA_OK);
}

static void join(ha_operator op, const ha_applying *how) {
    ha_error error;
    if (join_models(op, how, &error)) fail_msg("%s", error.text);
    join_there(left.records, op, right.records, how);
}

/* ---- what is computed ---------------------------------------------------------------------------- */

/* Does arithmetic have it, of what kernels compute? */
static int is_operation(int op, int to, int from) {
    if (to < 13 && from >= 13) return 0;
    return op == HA_ASSIGN || (to != 12 && !(op == HA_DIVIDE && to >= 13 && from >= 13));
}

/* A field for each type on the left, and on the right the types that are so many further on. */
TEST(computes_with_every_pair_of_types) {
    static const int64_t extent[] = {37};
    if (is_not_for_it()) skip();
    for (int k = 0; k < TYPES; k++) {
        char fields[2][400], paths[200], what[100];
        for (int s = 0; s < 2; s++) {
            ha_text t = ha_text_into(fields[s], sizeof fields[s]);
            for (int i = 0; i < TYPES; i++)
                ha_print(&t, "%sx%d:%s", i ? " " : "", i, types[(i + s * k) % TYPES]);
        }
        make_sides(fields[0], fields[1], 1, extent);
        HA_CHECK(ha_records_layout(left.records, C, layouts[k % LAYOUTS]));
        HA_CHECK(ha_records_layout(right.records, C, layouts[(k * 3 + 1) % LAYOUTS]));
        for (int op = HA_ASSIGN; op <= HA_DIVIDE; op++) {
            ha_text t = ha_text_into(paths, sizeof paths);
            if (!is_tried_here(0, op, k)) continue;
            for (int i = 0; i < TYPES; i++)
                if (is_operation(op, i, (i + k) % TYPES))
                    ha_print(&t, "%sx%d", t.length ? "+" : "", i);
            fill_side(&left);
            fill_side(&right);
            join((ha_operator)op, &(ha_applying){.paths = paths});
            snprintf(what, sizeof what, "%d types on, operation %d", k, op);
            are_expected(what);
        }
        end_sides();
    }
}

/* Fields in another order, some only here or there, arrays of other shapes; parts, shifts, sizes from 0 on. */
static void try_random_case(int k) {
    static const char *const fields[] = {
        "a:f32 b:f64 m[2].e[3]:f32 z[2]:c64 n:i32", "n:i64 m[2].e[3]:f64 a:f32 other:u8 z[2]:c64",
        "z[1]:c64 m[1].e[3]:f32 b:f32 a:f16 n:u16", "m[2].e[2]:i32 a:f64 b:f64"};
    static const char *const paths[] = {NULL, "a", "m", "a+m[0]", "m[0].e[1] + a"};
    const int rank = 1 + random_below(3), one = random_below(4), other = random_below(4);
    const ha_operator op = (ha_operator)random_below(4);
    int64_t extent[2][3], first[3], last[3], shift[3];
    char what[100];
    for (int d = 0; d < 3; d++) {
        extent[0][d] = random_below(12) - 1;
        extent[1][d] = random_below(3) ? extent[0][d] : random_below(12);
        if (extent[0][d] < 0) extent[0][d] = 0;
        if (extent[1][d] < 0) extent[1][d] = 1;
        first[d] = random_below(7) - 3;
        last[d] = random_below(14);
        shift[d] = random_below(3) ? 0 : random_below(9) - 4;
    }
    const ha_applying how = {.paths = paths[random_below(5)],
                             .first = random_below(2) ? first : NULL,
                             .last = random_below(2) ? last : NULL,
                             .shift = random_below(2) ? shift : NULL};
    make_side(&left, fields[one], rank, extent[0]);
    make_side(&right, fields[other], rank, extent[1]);
    HA_CHECK(ha_records_layout(left.records, C, layouts[random_below(LAYOUTS)]));
    HA_CHECK(ha_records_layout(right.records, C, layouts[random_below(LAYOUTS)]));
    fill_side(&left);
    fill_side(&right);
    join(op, &how);
    snprintf(what, sizeof what, "case %d: fields %d and %d, rank %d, operation %d", k, one, other,
             rank, (int)op);
    are_expected(what);
    end_sides();
}

TEST(computes_random_parts_of_random_records) {
    if (is_not_for_it()) skip();
    const int cases = has_few_kernels() ? share_of(8) : 150;
    for (int k = 0; k < cases; k++) {
        random_state = 0x9e3779b97f4a7c15u * (uint64_t)(k + 1);
        for (int i = 0; i < 5; i++) (void)random_bits();
        try_random_case(k);
    }
}

/* Each value with itself, in one access. */
TEST(computes_with_itself) {
    static const int64_t extent[] = {5, 7};
    if (is_not_for_it()) skip();
    make_side(&left, "a:f32 n[2]:i16 z:c64", 2, extent);
    HA_CHECK(ha_records_layout(left.records, C, "soa"));
    fill_side(&left);
    for (int op = HA_ASSIGN; op <= HA_MULTIPLY; op++) {
        if (!is_tried_here(0, op, 0)) continue;
        const ha_mapped model = model_of(&left);
        const ha_applying how = {.paths = "a+n+z", .shift = (const int64_t[]){0, 0}};
        HA_CHECK(ha_mapped_apply_view(&model, (ha_operator)op, &model, &how, NULL));
        join_there(left.records, (ha_operator)op, left.records, &how);
        is_expected_of(&left, "itself");
    }
}

/* Of 64 bits to few: a double in between would be rounded to a number in the middle of two, and that to the even one. */
TEST(rounds_long_integers_once) {
    static const int64_t extent[] = {1}, first[] = {0};
    const int64_t integer = -(INT64_C(1) << 62) - (INT64_C(1) << 54) - 1;
    const uint64_t natural = (UINT64_C(1) << 62) + (UINT64_C(1) << 54) + 1;
    if (is_not_for_it()) skip();
    make_sides("x:bf16 y:bf16 z:f32", "x:i64 y:u64 z:i64", 1, extent);
    fill_side(&left);
    const ha_mapped model = model_of(&right);
    ha_mapped_set(&model, 0, first, &integer);
    ha_mapped_set(&model, 1, first, &natural);
    ha_mapped_set(&model, 2, first, &integer);
    HA_CHECK(ha_records_set(right.records, first, right.values));
    join(HA_ASSIGN, NULL);
    are_expected("once");
}

/* ---- one record for all -------------------------------------------------------------------------- */

/* x op y, as a loop over floats and integers has it; what is divided by 0 is 0. */
static void operate_naively(ha_operator op, const ha_applying *how) {
    const ha_mapped to = model_of(&left), from = model_of(&right);
    static const int64_t only[HA_MAPPING_RANK];
    int64_t index[HA_MAPPING_RANK] = {0};
    float a, b;
    int32_t n, k;
    ha_mapped_get(&from, 1, only, &b);
    ha_mapped_get(&from, 0, only, &k);
    do {
        int is_inside = 1;
        for (int d = 0; d < left.known->rank; d++)
            is_inside &= (!how->first || index[d] >= how->first[d]) &&
                         (!how->last || index[d] < how->last[d]);
        if (!is_inside) continue;
        ha_mapped_get(&to, 0, index, &a);
        ha_mapped_get(&to, 1, index, &n);
        a = op == HA_ASSIGN     ? b
            : op == HA_ADD      ? a + b
            : op == HA_SUBTRACT ? a - b
            : op == HA_MULTIPLY ? a * b
                                : a / b;
        n = op == HA_ASSIGN     ? k
            : op == HA_ADD      ? (int32_t)((uint32_t)n + (uint32_t)k)
            : op == HA_SUBTRACT ? (int32_t)((uint32_t)n - (uint32_t)k)
            : op == HA_MULTIPLY ? (int32_t)((uint32_t)n * (uint32_t)k)
            : k                 ? (int32_t)((int64_t)n / k)
                                : 0;
        ha_mapped_set(&to, 0, index, &a);
        ha_mapped_set(&to, 1, index, &n);
    } while (next_index(left.known, index));
}

static void join_one(ha_operator op, const char *what, const ha_applying *how) {
    ha_applying rest = *how;
    ha_error error;
    rest.paths = op == HA_DIVIDE ? "m+h" : "m+h+z";
    operate_naively(op, how);
    if (join_models(op, &rest, &error)) fail_msg("%s", error.text);
    join_there(left.records, op, right.records, how);
    are_expected(what);
}

/* With records of each rank, and one that has the same, or another one; in all of them and in a part, where a shift changes
 * nothing. */
static void try_one_record(int rank, int one_rank, int layout, int zero) {
    static const int64_t extents[][3] = {{37}, {5, 7}, {3, 4, 5}}, ones[] = {1, 1, 1};
    static const int64_t first[] = {1, -3, 2}, last[] = {30, 6, 4}, shift[] = {1, 0, -9};
    static const int64_t only[3];
    make_side(&left, "a:f32 n:i32 m[2]:f64 h:f16 z:c64", rank, extents[rank - 1]);
    make_side(&right, "n:i32 a:f32 z:c128 other:u8 m[2]:f64 h:f32", one_rank, ones);
    HA_CHECK(ha_records_layout(left.records, C, layouts[layout % LAYOUTS]));
    HA_CHECK(ha_records_layout(right.records, C, layouts[(layout * 3 + 1) % LAYOUTS]));
    fill_side(&left);
    fill_side(&right);
    if (zero) {
        ((int32_t *)(void *)right.values)[0] = 0;
        HA_CHECK(ha_records_set(right.records, only, right.values));
    }
    for (int op = HA_ASSIGN; op <= HA_DIVIDE; op++) {
        const int part = (op + layout) % 2;
        const ha_applying how = {.paths = op == HA_DIVIDE ? "a+n+m+h" : NULL,
                                 .first = part ? first : NULL,
                                 .last = part ? last : NULL,
                                 .shift = part ? shift : NULL};
        char what[100];
        if (has_few_kernels() && op != (layout + rank + 1) % 5) continue;
        snprintf(what, sizeof what, "one record: ranks %d and %d, layout %d, operation %d", rank,
                 one_rank, layout, op);
        join_one((ha_operator)op, what, &how);
    }
    end_sides();
}

TEST(computes_with_one_record) {
    if (is_not_for_it()) skip();
    for (int rank = 1; rank <= 3; rank++)
        for (int l = 0; l < LAYOUTS; l++)
            if (!has_few_kernels() || l == 3 * rank)
                try_one_record(rank, 1 + (rank + l) % 3, l, l % 2 == 0);
}

/* The one record there is with itself, which is its own value and no other one's. */
TEST(computes_with_itself_alone) {
    static const int64_t one[] = {1, 1};
    if (is_not_for_it()) skip();
    make_side(&left, "a:f32 n[2]:i16", 2, one);
    fill_side(&left);
    const ha_mapped model = model_of(&left);
    HA_CHECK(ha_mapped_apply_view(&model, HA_ADD, &model, NULL, NULL));
    join_there(left.records, HA_ADD, left.records, NULL);
    is_expected_of(&left, "itself alone");
}

/* Of the one record what is asked for moves there, once. */
TEST(moves_one_record_once) {
    static const int64_t extent[] = {100}, one[] = {1, 1};
    if (shares_memory(C) || is_not_for_it() || ha_way_of(C) == HA_WAY_HOST) skip();
    make_side(&left, "a:f32 n:i32", 1, extent);
    make_side(&right, "n:i32 a:f32", 1, one);
    HA_CHECK(ha_records_layout(left.records, C, "soa"));
    HA_CHECK(ha_records_layout(right.records, C, "soa"));
    HA_CHECK(ha_records_layout(right.records, H, "soa"));
    fill_side(&left);
    fill_side(&right);
    HA_CHECK(ha_records_prefetch(left.records, C, NULL, 0, HA_END));
    const uint64_t moved = ha_records_statistics(left.records).transfers;
    join(HA_ADD, &(ha_applying){.paths = "a"});
    join(HA_ADD, &(ha_applying){.paths = "a"});
    assert_int_equal(ha_records_statistics(left.records).transfers, moved);
    assert_int_equal(ha_records_statistics(right.records).bytes, sizeof(float));
    assert_true(ha_records_valid(right.records, H, "a+n", 0, HA_END));
    end_side(&right);
    make_side(&right, "n:i32 a:f32", 2, one); /* the same, of another rank */
    HA_CHECK(ha_records_layout(right.records, C, "soa"));
    fill_side(&right);
    join(HA_ADD, &(ha_applying){.paths = "a"});
    assert_int_equal(ha_records_statistics(left.records).transfers, moved);
    assert_false(ha_records_valid(left.records, H, "a", 0, HA_END));
    are_expected("one record");
}

/* ---- what moves ---------------------------------------------------------------------------------- */

/* The values of a device stay there. */
TEST(moves_nothing_that_is_there) {
    static const int64_t extent[] = {100};
    if (shares_memory(C) || is_not_for_it() || ha_way_of(C) == HA_WAY_HOST) skip();
    make_sides("a:f32 n:i32", "n:i32 a:f64", 1, extent);
    HA_CHECK(ha_records_layout(left.records, C, "soa"));
    fill_side(&left);
    fill_side(&right);
    HA_CHECK(ha_records_prefetch(left.records, C, NULL, 0, HA_END));
    HA_CHECK(ha_records_prefetch(right.records, C, NULL, 0, HA_END));
    const uint64_t moved = ha_records_statistics(left.records).transfers +
                           ha_records_statistics(right.records).transfers;
    join(HA_ADD, NULL);
    join(HA_ASSIGN, &(ha_applying){.paths = "a"});
    assert_int_equal(ha_records_statistics(left.records).transfers +
                         ha_records_statistics(right.records).transfers,
                     moved);
    assert_true(ha_records_valid(left.records, C, "a+n", 0, HA_END));
    assert_false(ha_records_valid(left.records, H, "a", 0, HA_END));
    assert_true(ha_records_valid(right.records, H, "a+n", 0, HA_END));
    are_expected("at the device");
}

/* Of the right side only the fields and the records that meet one of the left, which may be the only ones that have
 * values; what is assigned does not move before. */
TEST(moves_what_meets_only) {
    static const int64_t extent[] = {100};
    const float zero[100] = {0};
    if (shares_memory(C) || is_not_for_it() || ha_way_of(C) == HA_WAY_HOST) skip();
    make_sides("a:f32 n:i32", "n:i32 a:f32", 1, extent);
    HA_CHECK(ha_records_layout(right.records, C, "soa"));
    HA_CHECK(ha_records_layout(right.records, H, "soa"));
    fill_side(&left);
    ha_records_access x = {.records = NULL};
    assert_int_equal(ha_records_open(&x, right.records, H, "overwrite a", 15, 25), HA_OK);
    memcpy((float *)x.blob[1] + 15, zero, 10 * sizeof *zero);
    HA_CHECK(ha_records_close(&x));
    const uint64_t before = ha_records_statistics(left.records).bytes;
    const ha_applying how = {.paths = "a",
                             .first = (const int64_t[]){10},
                             .last = (const int64_t[]){20},
                             .shift = (const int64_t[]){5}};
    join(HA_ASSIGN, &how);
    if (ha_way_of(C) == HA_WAY_COMPILED)
        assert_int_equal(ha_records_statistics(left.records).bytes, before);
    assert_int_equal(ha_records_statistics(right.records).bytes, 10 * sizeof(float));
    is_expected_of(&left, "a part");
}

/* What a kernel cannot do: values that share bytes, on either side, and quotients of complex numbers. */
TEST(goes_by_way_of_the_host) {
    static const int64_t extent[] = {30}, one[] = {1};
    make_sides("x:i32 z:c128", "z:c64 x:u8", 1, extent);
    fill_side(&left);
    fill_side(&right);
    join(HA_DIVIDE, &(ha_applying){.paths = "z"});
    are_expected("quotients");
    end_side(&right);
    make_side(&right, "z:c64 x:u8", 1, one);
    fill_side(&right);
    join(HA_DIVIDE, &(ha_applying){.paths = "z"});
    are_expected("quotients by one record");
    end_side(&right);
    make_side(&right, "z:c64 x:u8", 1, extent);
    fill_side(&right);
    HA_CHECK(ha_records_layout(right.records, C, "split(x: bitint(8; soa), aos)"));
    join(HA_ADD, &(ha_applying){.paths = "x"});
    are_expected("bits on the right");
    end_sides();
    make_sides("x:u8", "x:u8", 1, extent);
    HA_CHECK(ha_records_layout(left.records, C, "bitint(8; soa)"));
    fill_side(&left);
    fill_side(&right);
    join(HA_SUBTRACT, NULL);
    are_expected("bits on the left");
}

/* Each byte of a value in another blob. */
TEST(reads_and_writes_bytes_in_several_blobs) {
    static const int64_t extent[] = {4, 5};
    if (is_not_for_it()) skip();
    make_sides("a:f32 h:f16", "h:f32 a:bf16", 2, extent);
    HA_CHECK(ha_records_layout(left.records, C, "bytesplit(soa)"));
    HA_CHECK(ha_records_layout(right.records, C, "bytesplit(aos)"));
    fill_side(&left);
    fill_side(&right);
    join(HA_MULTIPLY, NULL);
    are_expected("bytes");
}

/* More blobs than a kernel has arguments for. */
TEST(has_more_blobs_than_arguments) {
    static const int64_t extent[] = {9};
    make_sides("x[70]:i16", "x[70]:i16", 1, extent);
    HA_CHECK(ha_records_layout(left.records, C, "soa"));
    fill_side(&left);
    fill_side(&right);
    join(HA_ADD, NULL);
    are_expected("many blobs");
}

/* ---- what is refused ----------------------------------------------------------------------------- */

TEST(refuses_and_changes_nothing) {
    static const int64_t extent[] = {4, 3}, shift[] = {0, 1}, one[] = {1, 1};
    make_sides("a:f32 z:c64 flag:bool", "a:f32 z:c64 flag:bool b:f32", 2, extent);
    fill_side(&left);
    fill_side(&right);
    ha_records_set_name(left.records, "forces");
    ha_records_set_name(right.records, "more");
    const uint64_t version = ha_records_version(left.records);
#define REFUSES(as, why, op, other, ...)                                                           \
    do {                                                                                           \
        const ha_applying how = {__VA_ARGS__};                                                     \
        is_refused(ha_records_apply_records(left.records, op, other, &how, C), as, why);           \
    } while (0)
    REFUSES(HA_ERR_ARGUMENT, "a bool can be assigned only", HA_ADD, right.records, .paths = NULL);
    REFUSES(HA_ERR_ARGUMENT, "no field \"b\"", HA_ADD, right.records, .paths = "a+b");
    REFUSES(HA_ERR_ARGUMENT, "HA_ABS_MAXIMUM is none of ha_records_apply_records's", (ha_operator)9,
            right.records, .paths = "a");
    REFUSES(HA_ERR_ARGUMENT, "no records", HA_ADD, NULL, .paths = "a");
    REFUSES(HA_ERR_ARGUMENT, "forces", HA_ADD, left.records, .paths = "a", .shift = shift);
    is_refused(ha_records_apply_records(NULL, HA_ADD, right.records, NULL, C), HA_ERR_ARGUMENT,
               "no records");
    side third = {.records = NULL};
    make_side(&third, "a:c64 q:f32", 2, extent);
    REFUSES(HA_ERR_ARGUMENT, "a complex number makes no real one", HA_ASSIGN, third.records,
            .threads = 1);
    REFUSES(HA_ERR_ARGUMENT, "and", HA_ASSIGN, third.records, .paths = "q");
    end_side(&third);
    make_side(&third, "a:f32", 1, extent);
    REFUSES(HA_ERR_ARGUMENT, "the left side has rank 2, the right one 1", HA_ADD, third.records,
            .paths = "a");
    end_side(&third);
    make_side(&third, "a:f32", 2, extent);
    know_records_with(left.records, HA_ADD, third.records, &(ha_applying){.paths = "a"});
    REFUSES(HA_ERR_STATE, "a", HA_ADD, third.records, .paths = "a"); /* has no values */
    end_side(&third);
    make_side(&third, "q:f32", 2, extent);
    REFUSES(HA_ERR_ARGUMENT, "no field in common", HA_ADD, third.records, .threads = 1);
    end_side(&third);
    make_side(&third, "a:c64 q:f32", 2, one);
    REFUSES(HA_ERR_ARGUMENT, "forces", HA_ASSIGN, third.records, .threads = 1);
    REFUSES(HA_ERR_ARGUMENT, "makes no real one", HA_ASSIGN, third.records, .shift = shift);
    REFUSES(HA_ERR_ARGUMENT, "no field \"q\"", HA_ADD, third.records, .paths = "q");
    end_side(&third);
    make_side(&third, "a:f32", 1, one);
    know_records_with(left.records, HA_ADD, third.records, &(ha_applying){.paths = "a"});
    REFUSES(HA_ERR_STATE, "a", HA_ADD, third.records, .paths = "a");
    end_side(&third);
    know_records_with(left.records, HA_ADD, right.records, &(ha_applying){.paths = "a"});
    for (int written = 0; written < 2; written++) {
        ha_records_access x = {.records = NULL};
        HA_CHECK(
            ha_records_open(&x, written ? left.records : right.records, H, "write a", 0, HA_END));
        const ha_status held = ha_records_apply_records(left.records, HA_ADD, right.records,
                                                        &(ha_applying){.paths = "a"}, C);
        HA_CHECK(ha_records_close(&x));
        is_refused(held, HA_ERR_CONFLICT, "a");
    }
    assert_int_equal(ha_records_version(left.records), version + 1); /* that of the access */
    are_expected("refused");
}

TEST(refuses_what_is_freed) {
    static const int64_t extent[] = {4};
    make_sides("a:f32", "a:f32", 1, extent);
    ha_records *gone[] = {left.records, right.records};
    fill_side(&left);
    for (int i = 1; i >= 0; i--) {
        HA_CHECK(ha_records_free(gone[i]));
        is_refused(ha_records_apply_records(gone[0], HA_ADD, gone[1], NULL, C), HA_ERR_STATE,
                   "freed");
    }
    left.records = right.records = NULL;
}

/* Types that meet in ways of their own, and fields of several values, as text for a device, which is none that the fake
 * driver runs. */
TEST(computes_what_is_text_for_a_device) {
    static const int64_t extent[] = {3, 5};
    if (is_not_for_it() || is_fake(C)) skip();
    make_sides("a:i32 b:u32 c:f32 d:c64 e:i64 f:u8 g:f32 h:f64 m[3]:f32 k[2][2]:i32 l:f16",
               "k[2][2]:i32 m[3]:f64 a:u32 b:i32 c:i64 d:c128 e:u64 f:f64 g:u64 h:i16 l:i64", 2,
               extent);
    HA_CHECK(ha_records_layout(left.records, C, "soa"));
    fill_side(&left);
    fill_side(&right);
    for (int op = HA_ASSIGN; op <= HA_DIVIDE; op++) {
        const int divides = op == HA_DIVIDE;
        join((ha_operator)op, &(ha_applying){.paths = divides ? "a+b+c+e+f+g+h+m+k+l" : NULL});
        are_expected("as text");
    }
}

/* Each allocation of a call fails in turn: then nothing has changed. */
static void try_without_memory(ha_operator op) {
    const ha_applying how = {.paths = "a+m"};
    ha_status s = HA_ERR_MEMORY;
    fill_side(&left);
    fill_side(&right);
    know_records_with(left.records, op, right.records, &how);
    for (int n = 0; s; n++) {
        until_failure = n;
        s = ha_records_apply_records(left.records, op, right.records, &how, C);
        until_failure = -1;
        const ha_error error = ha_take_error();
        if (s && (!error.status || n > 10000))
            fail_msg("%d: %d, told %d: %s", n, s, error.status, error.text);
        if (s) are_expected("without memory");
    }
    HA_CHECK(join_models(op, &how, NULL));
    are_expected("with memory");
}

TEST(changes_nothing_without_memory) {
    static const int64_t extent[] = {6}, one[] = {1};
    if (is_not_for_it()) skip();
    for (int k = 0; k < 2; k++) {
        make_side(&left, "a:f32 n:i32 m[2]:f64", 1, extent);
        make_side(&right, "n:i32 m[2]:f64 a:f64", 1, k ? one : extent);
        HA_CHECK(ha_records_layout(left.records, C, "soa"));
        if (!k && !is_fake(C)) try_without_memory(HA_ASSIGN);
        try_without_memory(HA_ADD);
        end_sides();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {RECORDS(computes_with_every_pair_of_types),
                                       RECORDS(computes_random_parts_of_random_records),
                                       RECORDS(computes_with_itself),
                                       RECORDS(rounds_long_integers_once),
                                       RECORDS(computes_with_one_record),
                                       RECORDS(computes_with_itself_alone),
                                       RECORDS(moves_nothing_that_is_there),
                                       RECORDS(moves_what_meets_only),
                                       RECORDS(moves_one_record_once),
                                       RECORDS(goes_by_way_of_the_host),
                                       RECORDS(reads_and_writes_bytes_in_several_blobs),
                                       RECORDS(has_more_blobs_than_arguments),
                                       RECORDS(refuses_and_changes_nothing),
                                       RECORDS(refuses_what_is_freed),
                                       RECORDS(computes_what_is_text_for_a_device),
                                       RECORDS(changes_nothing_without_memory)};
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
