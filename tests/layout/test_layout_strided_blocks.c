/* Strided blocks (layout/impl/simd/strided_blocks.h): every way to move them that this processor
 * has, with every size, number of leaves and of lanes, at any address and with any strides, does
 * what moving one value after the other does, and touches nothing else. */
#include "../support/layout_memory.h"
#include "../../layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const ha_interleavers *ways[3];
static size_t way_count;

static int find_ways(void **state) {
    (void)state;
    ways[way_count++] = &ha_interleavers_portable;
#if defined __x86_64__ && !defined HARRAY_NO_SIMD
    __builtin_cpu_init();
    if (ha_interleave_avx2()) ways[way_count++] = &ha_interleavers_avx2;
    if (ha_interleave_avx512()) ways[way_count++] = &ha_interleavers_avx512;
#endif
    for (size_t i = 0; i < way_count; i++) printf("# %s\n", ways[i]->name);
    return 0;
}

static uint64_t random_state = 1;
static int64_t random_below(int64_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)n);
}

/* ---- one case -------------------------------------------------------------------------------- */

enum { MOST_LEAVES = 40, ROOM = 1 << 18 };
static _Alignas(64) char source[ROOM], target[ROOM], expected[ROOM];

/* Where the values are on one side; `leaf` without a table. */
typedef struct side {
    int64_t at[MOST_LEAVES]; /* where leaf f begins */
    int64_t leaf, lane, block;
    int64_t bytes; /* that are used of the memory, with something around */
} side;

typedef struct shape {
    int64_t leaves, lanes, blocks;
    int32_t size;
    int32_t has_tables, stream;
} shape;

static int64_t some_gap(void) { return random_below(3) ? random_below(20) : 0; }

/* At the beginning of a line, or anywhere. */
static int64_t some_place(void) { return 64 + (random_below(3) ? random_below(64) : 0); }

/* Leaves next to each other in records; with tables there may be a gap in the middle of them. */
static void lay_records(side *s, const shape *h) {
    const int64_t gap = h->has_tables && random_below(2) ? some_gap() : 0, begin = some_place();
    const int64_t half = h->leaves / 2;
    int64_t first = begin;
    s->leaf = h->size;
    s->lane = h->leaves * h->size + gap + some_gap();
    s->block = h->lanes * s->lane + some_gap();
    s->bytes = begin + h->blocks * s->block + 64;
    if (random_below(8) == 0) { /* the last record first */
        first += (h->lanes - 1) * s->lane;
        s->lane = -s->lane;
    }
    for (int64_t f = 0; f < h->leaves; f++) s->at[f] = first + f * h->size + (f < half ? 0 : gap);
}

/* A row for each leaf; with tables in any order. */
static void lay_rows(side *s, const shape *h) {
    const int64_t first = some_place(), turn = h->has_tables ? random_below(h->leaves) : 0;
    s->lane = h->size;
    s->block = h->lanes * h->size + (h->blocks > 1 ? some_gap() : 0);
    s->leaf = h->blocks * s->block +
              (random_below(3) ? some_gap() : (64 - h->blocks * s->block % 64) % 64);
    for (int64_t f = 0; f < h->leaves; f++) s->at[f] = first + (f + turn) % h->leaves * s->leaf;
    s->bytes = first + h->leaves * s->leaf + 64;
}

static ha_strided_blocks describe(const shape *h, const side *to, const side *from) {
    static char *to_table[MOST_LEAVES];
    static const char *from_table[MOST_LEAVES];
    for (int64_t f = 0; f < h->leaves; f++) {
        to_table[f] = target + to->at[f];
        from_table[f] = source + from->at[f];
    }
    return (ha_strided_blocks){.to = h->has_tables ? NULL : to_table[0],
                               .from = h->has_tables ? NULL : from_table[0],
                               .to_table = h->has_tables ? to_table : NULL,
                               .from_table = h->has_tables ? from_table : NULL,
                               .to_leaf = to->leaf,
                               .to_lane = to->lane,
                               .to_block = to->block,
                               .from_leaf = from->leaf,
                               .from_lane = from->lane,
                               .from_block = from->block,
                               .leaves = h->leaves,
                               .lanes = h->lanes,
                               .blocks = h->blocks,
                               .size = h->size,
                               .stream = h->stream};
}

static void move_one_by_one(const shape *h, const side *to, const side *from) {
    for (int64_t b = 0; b < h->blocks; b++)
        for (int64_t f = 0; f < h->leaves; f++)
            for (int64_t i = 0; i < h->lanes; i++)
                memcpy(expected + to->at[f] + b * to->block + i * to->lane,
                       source + from->at[f] + b * from->block + i * from->lane, (size_t)h->size);
}

static void expect_same(const shape *h, const side *to, const side *from, const char *what) {
    const ha_strided_blocks s = describe(h, to, from);
    assert_in_range(to->bytes, 1, ROOM);
    assert_in_range(from->bytes, 1, ROOM);
    memset(target, 0x5a, (size_t)to->bytes);
    memset(expected, 0x5a, (size_t)to->bytes);
    move_one_by_one(h, to, from);
    ha_strided_blocks_move(&s);
    ha_end_of_stream();
    if (memcmp(target, expected, (size_t)to->bytes) == 0) return;
    fail_msg("%s, %s: %d bytes, %d leaves, %d lanes, %d blocks, tables %d, stream %d",
             atomic_load(&ha_chosen_interleavers)->name, what, (int)h->size, (int)h->leaves,
             (int)h->lanes, (int)h->blocks, (int)h->has_tables, (int)h->stream);
}

/* From records to rows and back, and between two of a kind. */
static void expect_all_same(int32_t size, int64_t leaves, int64_t lanes) {
    shape h = {.size = size, .leaves = leaves, .lanes = lanes};
    side rows, records, other;
    const int64_t most = ROOM / 2 / (leaves * (lanes * size + 40) + 40 * lanes);
    h.blocks = random_below(3) ? 1 : 1 + random_below(most < 1 ? 1 : most < 3 ? most : 3);
    h.has_tables = (int32_t)random_below(2);
    h.stream = (int32_t)random_below(2);
    lay_rows(&rows, &h);
    lay_records(&records, &h);
    expect_same(&h, &rows, &records, "gathering");
    expect_same(&h, &records, &rows, "scattering");
    if (lanes % 8) return;
    lay_rows(&other, &h);
    expect_same(&h, &other, &rows, "rows");
    lay_records(&other, &h);
    expect_same(&h, &other, &records, "records");
}

/* ---- all cases ------------------------------------------------------------------------------- */

/* Vectors of one processor differ from those of another for 4 and 8 bytes only. */
static void try_size(int32_t size, int64_t leaves, int64_t step, int64_t most_lanes) {
    const size_t n = size == 4 || size == 8 ? way_count : 1;
    for (size_t i = 0; i < n; i++) {
        atomic_store(&ha_chosen_interleavers, ways[i]);
        for (int64_t lanes = 1; lanes <= most_lanes; lanes += step)
            expect_all_same(size, leaves, lanes);
    }
    atomic_store(&ha_chosen_interleavers, NULL);
}

static void test_leaves_and_lanes(void **state) {
    (void)state;
    for (int32_t size = 1; size <= 16; size *= 2)
        for (int64_t leaves = 1; leaves <= 20; leaves++) try_size(size, leaves, 1, 70);
}

/* More leaves than are interleaved at once, and longer rows. */
static void test_many(void **state) {
    (void)state;
    for (int32_t size = 1; size <= 16; size *= 2)
        for (int64_t leaves = 31; leaves <= 40; leaves += 3)
            try_size(size, leaves, 97, 2400 / size);
}

/* The best way that there is, chosen once. */
static void test_choice(void **state) {
    (void)state;
    atomic_store(&ha_chosen_interleavers, NULL);
    assert_ptr_equal(ha_best_interleavers(), ways[way_count - 1]);
    assert_ptr_equal(ha_best_interleavers(), atomic_load(&ha_chosen_interleavers));
}

/* What is written as a whole, at any address and of any length. */
static void test_past_caches(void **state) {
    (void)state;
    for (size_t i = 0; i < way_count; i++) {
        atomic_store(&ha_chosen_interleavers, ways[i]);
        for (int64_t bytes = 0; bytes < 400; bytes++) {
            const int64_t to = 64 + random_below(64), from = random_below(64);
            memset(target, 0x5a, 700);
            memset(expected, 0x5a, 700);
            memcpy(expected + to, source + from, (size_t)bytes);
            ha_move_past_caches(target + to, source + from, bytes);
            ha_end_of_stream();
            assert_memory_equal(target, expected, 700);
        }
    }
    atomic_store(&ha_chosen_interleavers, NULL);
}

static int prepare(void **state) {
    for (size_t i = 0; i < ROOM; i++) source[i] = (char)random_below(256);
    return find_ways(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaves_and_lanes),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_past_caches),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
