/* Boxes of a grid and sets of them (harray/impl/base/box.h, harray/impl/base/range_set.h,
 * harray/impl/device/queue_copy.h), against sets of elements that are kept one by one. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/share.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define TEST(name) static void name(HA_UNUSED void **state)
enum { MOST = 4096 };

static uint64_t random_state = 1;

static size_t pick(size_t n) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state % n);
}

/* A grid of some rank, with gaps or without. */
static ha_grid random_grid(void) {
    int64_t extent[HA_MOST_RANK], pitch[HA_MOST_RANK];
    const int rank = 1 + (int)pick(4);
    ha_grid g;
    int64_t inner = 1 + (pick(4) == 0);
    for (int d = rank; d-- > 0;) {
        extent[d] = 1 + (int64_t)pick(rank < 3 ? 7 : 4);
        pitch[d] = inner;
        inner = inner * extent[d] + (pick(3) ? 0 : (int64_t)pick(3));
    }
    assert_int_equal(ha_grid_make(&g, rank, extent, pitch), HA_OK);
    assert_true(g.size <= MOST);
    return g;
}

static ha_range random_box(const ha_grid *g) {
    ha_box box;
    for (int d = 0; d < g->rank; d++) {
        box.first[d] = pick(g->extent[d]);
        box.last[d] = box.first[d] + 1 + pick(g->extent[d] - box.first[d]);
    }
    return ha_box_range(g, &box);
}

/* ---- one box --------------------------------------------------------------------------------- */

/* Which elements a box has, by its definition. */
static void spread(const ha_grid *g, ha_range r, unsigned char *in) {
    size_t low[HA_MOST_RANK], high[HA_MOST_RANK];
    memset(in, 0, MOST);
    if (ha_is_empty(r)) return;
    for (int d = 0, first = 0; d < g->rank; d++, first++) {
        low[d] = r.first / g->pitch[d];
        high[d] = (r.last - 1) / g->pitch[d];
        r.first %= g->pitch[d];
        r.last = (r.last - 1) % g->pitch[d] + 1;
    }
    for (size_t i = 0; i < g->size; i++) {
        size_t rest = i;
        int inside = 1;
        for (int d = 0; d < g->rank; d++) {
            const size_t index = rest / g->pitch[d];
            inside &= low[d] <= index && index <= high[d];
            rest %= g->pitch[d];
        }
        in[i] = inside && !rest;
    }
}

static size_t count(const unsigned char *in) {
    size_t n = 0;
    for (size_t i = 0; i < MOST; i++) n += in[i];
    return n;
}

static void check_two(const ha_grid *g, ha_range x, ha_range y) {
    static unsigned char a[MOST], b[MOST], c[MOST], parts[MOST];
    ha_range pieces[HA_MOST_PIECES];
    int overlap = 0, covers = 1;
    spread(g, x, a);
    spread(g, y, b);
    assert_int_equal(ha_elements(g, x), count(a));
    for (size_t i = 0; i < MOST; i++) {
        overlap |= a[i] & b[i];
        covers &= a[i] || !b[i];
    }
    assert_int_equal(ha_overlap(g, x, y), overlap);
    assert_int_equal(ha_covers(g, x, y), covers);
    spread(g, ha_intersect(g, x, y), c);
    for (size_t i = 0; i < MOST; i++) assert_int_equal(c[i], a[i] & b[i]);
    const ha_range around = ha_around(g, x, y);
    assert_true(ha_covers(g, around, x) && ha_covers(g, around, y));
    if (!overlap) return;
    const uint32_t n = ha_box_without(g, x, y, pieces);
    memset(parts, 0, sizeof parts);
    for (uint32_t k = 0; k < n; k++) {
        spread(g, pieces[k], c);
        for (size_t i = 0; i < MOST; i++) parts[i] = (unsigned char)(parts[i] + c[i]);
    }
    for (size_t i = 0; i < MOST; i++) assert_int_equal(parts[i], a[i] & !b[i]); /* each one once */
}

TEST(two_boxes) {
    for (int i = 0; i < share_of(4000); i++) {
        const ha_grid g = random_grid();
        check_two(&g, random_box(&g), random_box(&g));
    }
}

/* ha_around is the smallest one, seen corner by corner. */
TEST(around_two_boxes) {
    const int64_t extent[] = {4, 5}, pitch[] = {5, 1};
    ha_grid g;
    assert_int_equal(ha_grid_make(&g, 2, extent, pitch), HA_OK);
    const ha_box a = {{0, 3}, {1, 5}}, b = {{1, 0}, {3, 2}}, both = {{0, 0}, {3, 5}};
    const ha_range r = ha_around(&g, ha_box_range(&g, &a), ha_box_range(&g, &b));
    const ha_range expected = ha_box_range(&g, &both);
    assert_true(r.first == expected.first && r.last == expected.last);
    assert_true(ha_is_whole(ha_around(&g, HA_WHOLE_, expected)));
}

TEST(halves) {
    for (int i = 0; i < share_of(4000); i++) {
        const ha_grid g = random_grid();
        const ha_range r = random_box(&g);
        ha_range half[2];
        if (ha_elements(&g, r) < 2) continue;
        ha_box_halve(&g, r, half);
        assert_false(ha_overlap(&g, half[0], half[1]));
        assert_true(ha_covers(&g, r, half[0]) && ha_covers(&g, r, half[1]));
        assert_int_equal(ha_elements(&g, half[0]) + ha_elements(&g, half[1]), ha_elements(&g, r));
        assert_true(ha_boxes_join(&g, half[0], half[1]));
    }
}

/* All sizes are 64-bit: the division that is none is right for every number. */
TEST(division) {
    for (int i = 0; i < share_of(100000); i++) {
        const int64_t pitch = i < 100 ? i + 1 : (int64_t)(random_state >> (1 + pick(63))) | 1;
        const int64_t extent = 1;
        const size_t shift = pick(64), n = (size_t)(pick(SIZE_MAX) >> shift);
        ha_grid g = {.rank = 0};
        if (ha_grid_make(&g, 1, &extent, &pitch)) continue;
        assert_int_equal(ha_grid_divide(&g, 0, n), n / (size_t)pitch);
        assert_int_equal(ha_grid_divide(&g, 0, SIZE_MAX), SIZE_MAX / (size_t)pitch);
        const size_t multiple = n / (size_t)pitch * (size_t)pitch;
        assert_int_equal(ha_grid_divide(&g, 0, multiple), multiple / (size_t)pitch);
    }
}

TEST(no_grids) {
    const int64_t none[] = {0}, one[] = {1}, rows[] = {3, 4}, tight[] = {3, 1}, up[] = {1, 3};
    const int64_t long_ones[] = {INT64_MAX, INT64_MAX}, far[] = {INT64_MAX, 1};
    ha_grid g;
    assert_int_equal(ha_grid_make(&g, 0, rows, tight), HA_ERR_ARGUMENT);
    assert_int_equal(ha_grid_make(&g, HA_MOST_RANK + 1, rows, tight), HA_ERR_ARGUMENT);
    assert_int_equal(ha_grid_make(&g, 1, none, one), HA_ERR_ARGUMENT);
    assert_int_equal(ha_grid_make(&g, 1, one, none), HA_ERR_ARGUMENT);
    assert_int_equal(ha_grid_make(&g, 2, rows, tight), HA_ERR_ARGUMENT); /* rows overlap */
    assert_int_equal(ha_grid_make(&g, 2, rows, up), HA_ERR_ARGUMENT);
    assert_int_equal(ha_grid_make(&g, 2, long_ones, far), HA_ERR_ARGUMENT);
}

TEST(grids_of_arrays) {
    const int64_t extent[] = {3, 4}, pitch[] = {4, 1}, wide[] = {5, 1}, other[] = {3, 5};
    harray_double x = harray_double_new(12);
    ha_grid a, b;
    assert_int_equal(ha_array_grid(x.array, 2, extent, wide), HA_ERR_ARGUMENT); /* too large */
    assert_int_equal(ha_array_grid(x.array, 0, extent, pitch), HA_ERR_ARGUMENT);
    assert_null(x.array->grid);
    assert_int_equal(ha_array_grid(x.array, 2, extent, pitch), HA_OK);
    assert_int_equal(ha_grid_make(&a, 2, extent, pitch), HA_OK);
    assert_true(ha_grids_equal(x.array->grid, &a));
    assert_false(ha_grids_equal(NULL, &a));
    assert_false(ha_grids_equal(&a, NULL));
    assert_true(ha_grids_equal(NULL, NULL));
    assert_int_equal(ha_grid_make(&b, 2, extent, wide), HA_OK);
    assert_false(ha_grids_equal(&a, &b));
    assert_int_equal(ha_grid_make(&b, 2, other, wide), HA_OK);
    assert_false(ha_grids_equal(&a, &b));
    assert_int_equal(ha_grid_make(&b, 1, extent, pitch), HA_OK);
    assert_false(ha_grids_equal(&a, &b));
    assert_int_equal(harray_double_free(&x), HA_OK);
}

/* ---- sets ------------------------------------------------------------------------------------ */

static void check_set(const ha_set *s, const unsigned char *in) {
    static unsigned char parts[MOST], c[MOST];
    memset(parts, 0, sizeof parts);
    for (uint32_t k = 0; k < s->n; k++) {
        assert_false(ha_is_empty(ha_set_ranges(s)[k]));
        spread(s->grid, ha_set_ranges(s)[k], c);
        for (size_t i = 0; i < MOST; i++) parts[i] = (unsigned char)(parts[i] + c[i]);
    }
    for (size_t i = 0; i < MOST; i++) assert_int_equal(parts[i], in[i]);
}

static void check_questions(const ha_set *s, const unsigned char *in) {
    static unsigned char c[MOST], left[MOST];
    const ha_range r = random_box(s->grid);
    int contains = 1, overlaps = 0;
    ha_set missing = {0};
    spread(s->grid, r, c);
    for (size_t i = 0; i < MOST; i++) {
        contains &= in[i] || !c[i];
        overlaps |= in[i] & c[i];
        left[i] = c[i] & !in[i];
    }
    assert_int_equal(ha_set_contains(s, r), contains);
    assert_int_equal(ha_set_overlaps(s, r), overlaps);
    assert_int_equal(ha_is_empty(ha_set_first_in(s, r)), !overlaps);
    if (overlaps) assert_true(ha_set_contains(s, ha_set_first_in(s, r)));
    assert_int_equal(ha_set_missing(s, r, &missing), HA_OK);
    check_set(&missing, left);
    ha_set_free(&missing);
}

/* Editing stays within the room that ha_set_growth asks for. */
static void edit(ha_set *s, ha_range r, int adding, unsigned char *in) {
    static unsigned char c[MOST];
    assert_int_equal(ha_set_room(s, ha_set_growth(s, r, adding)), HA_OK);
    const uint32_t room = s->heap ? s->capacity : 1;
    ha_range *heap = s->heap, guard = {77, 78};
    if (heap && s->n + ha_set_growth(s, r, adding) < room)
        heap[s->n + ha_set_growth(s, r, adding)] = guard;
    const size_t most = s->n + ha_set_growth(s, r, adding);
    if (adding)
        ha_set_add(s, r);
    else
        ha_set_remove(s, r);
    assert_true(s->n <= most && s->n <= room);
    if (heap && most < room) assert_true(heap[most].first == 77);
    spread(s->grid, r, c);
    for (size_t i = 0; i < MOST; i++)
        in[i] = (unsigned char)(adding ? in[i] | c[i] : in[i] & !c[i]);
}

TEST(sets_of_boxes) {
    static unsigned char in[MOST];
    for (int i = 0; i < share_of(200); i++) {
        const ha_grid g = random_grid();
        ha_set s = {.grid = &g}, copy = {0};
        memset(in, 0, sizeof in);
        for (int k = 0; k < 25; k++) {
            edit(&s, random_box(&g), (int)pick(2), in);
            check_set(&s, in);
            check_questions(&s, in);
        }
        assert_int_equal(ha_set_copy(&copy, &s), HA_OK);
        check_set(&copy, in);
        ha_set_free(&copy);
        ha_set_free(&s);
    }
}

/* What a branch of the index says is true of its boxes; gives their number. */
static uint32_t check_branch(const ha_set *s, uint32_t place) {
    if (!place) return 0;
    const ha_range_node *n = ha_range_node_at(s, place);
    const uint32_t child[] = {n->left, n->right};
    ha_range around = s->heap[place - 1];
    for (int k = 0; k < 2; k++) {
        if (!child[k]) continue;
        const ha_range below = ha_range_node_at(s, child[k])->around;
        const size_t begin = ha_range_begin(s, place), other = ha_range_begin(s, child[k]);
        assert_int_equal(ha_grid_precedes(s->grid, other, begin), k == 0);
        assert_true(ha_range_height(s, child[k]) < ha_range_height(s, place));
        around = ha_around(s->grid, around, below);
    }
    assert_true(n->around.first == around.first && n->around.last == around.last);
    return check_branch(s, n->left) + 1 + check_branch(s, n->right);
}

/* A box that is mostly small, so that many are beside each other; sometimes one that covers many. */
static ha_range scattered_box(const ha_grid *g, size_t most) {
    ha_box box;
    for (int d = 0; d < g->rank; d++) {
        const size_t left = g->extent[d] - (box.first[d] = pick(g->extent[d]));
        box.last[d] = box.first[d] + 1 + pick(left < most ? left : most);
    }
    return ha_box_range(g, &box);
}

static void check_many_boxes(const ha_set *s, const unsigned char *in) {
    if (s->indexed && s->n) assert_int_equal(check_branch(s, s->root), s->n);
    check_set(s, in);
    check_questions(s, in);
}

/* Where a share is enough, one of so many: fewer would not go from none to many and back. */
static int rarely(void) { return test_stride() > 1 ? 5 : 1; }

/* From none to many and back, several times: few are in a table only, many are indexed. */
TEST(sets_of_many_boxes) {
    static const int64_t extents[][3] = {{40, 50}, {12, 13, 14}, {9, 9, 20}, {1000}};
    static unsigned char in[MOST];
    random_state = 1; /* whatever other tests took */
    for (int shape = 0; shape < 4; shape++) {
        const int64_t *extent = extents[shape];
        const int rank = extent[2] ? 3 : extent[1] ? 2 : 1;
        const int64_t pitch[] = {rank == 1   ? 3
                                 : rank == 2 ? 60
                                             : extent[1] * extent[2] + 2,
                                 rank == 2 ? 1 : extent[2], 1};
        uint32_t most = 0, turns = 0;
        ha_grid g;
        assert_int_equal(ha_grid_make(&g, rank, extent, pitch), HA_OK);
        assert_true(g.size <= MOST);
        ha_set s = {.grid = &g}, copy = {0};
        memset(in, 0, sizeof in);
        for (int i = 0; i < 1600; i++) {
            const int growing = i / 200 % 2 == 0, adding = pick(6) ? growing : !growing;
            const uint32_t before = s.indexed;
            edit(&s, scattered_box(&g, growing ? 2 : adding ? 4 : 40), adding, in);
            turns += s.indexed != before;
            if (s.n > most) most = s.n;
            if (i % (8 * rarely()) == 0) check_many_boxes(&s, in);
            if (i % 200 != 150) continue;
            assert_int_equal(ha_set_copy(&copy, &s), HA_OK);
            check_many_boxes(&copy, in);
            ha_set_free(&copy);
        }
        assert_true(most > HA_FEW_RANGES_ + 8);
        assert_true(turns > 2);
        assert_int_equal(ha_set_put(&s, HA_WHOLE_), HA_OK);
        assert_int_equal(s.n, 1);
        assert_int_equal(s.indexed, 0);
        ha_set_free(&s);
    }
}

/* Neighbouring boxes are in one branch mostly: in Z-order a square of 2^k is passed through as a whole. */
TEST(z_order) {
    const int64_t extent[] = {16, 16}, pitch[] = {20, 1};
    ha_grid g;
    assert_int_equal(ha_grid_make(&g, 2, extent, pitch), HA_OK);
    for (int i = 0; i < 4000; i++) {
        size_t at[2], order[2] = {0, 0};
        for (int k = 0; k < 2; k++) {
            const size_t row = pick(16), column = pick(16);
            at[k] = row * 20 + column;
            for (int bit = 0; bit < 4; bit++) /* their bits, one of each in turn */
                order[k] |= (row >> bit & 1) << (2 * bit + 1) | (column >> bit & 1) << (2 * bit);
        }
        assert_int_equal(ha_grid_precedes(&g, at[0], at[1]), order[0] < order[1]);
    }
}

/* Another thread may just have read the pointer to a grid: what is there stays until many others were freed. */
TEST(grids_of_freed_arrays) {
    enum { OTHERS = 300 };
    const int64_t extent[] = {4, 6};
    darray x = darray_new(HA_DTYPE_double, 2, extent, NULL);
    const ha_grid *const g = x.array->grid;
    HA_CHECK(darray_free(&x));
    assert_int_equal(g->size, 24);
    for (int i = 0; i < OTHERS; i++) { /* so that grids are used again */
        darray y = darray_new(HA_DTYPE_double, 2, (int64_t[]){2, 3 + i}, NULL);
        assert_int_equal(y.array->grid->size, 2 * (3 + i));
        assert_ptr_not_equal(y.array->grid, i < HA_KEPT ? g : NULL);
        HA_CHECK(darray_free(&y));
    }
    HA_CHECK(ha_shutdown());
}

/* ---- sets of ranges ------------------------------------------------------------------------- */

/* The runs of the elements that are in, in order: exactly those of the set. */
static void expect_ranges(const ha_set *s, const char *in, size_t size) {
    uint32_t i = ha_set_first(s), count = 0;
    for (size_t first = 0, last; first < size; first = last) {
        for (last = first + 1; last < size && in[last] == in[first];) last++;
        if (!in[first]) continue;
        assert_true(i < s->n);
        assert_int_equal(ha_set_ranges(s)[i].first, first);
        assert_int_equal(ha_set_ranges(s)[i].last, last);
        i = ha_set_next(s, i);
        count++;
    }
    assert_int_equal(i, s->n);
    assert_int_equal(count, s->n);
}

static void expect_lookups(const ha_set *s, const char *in, size_t size) {
    const size_t first = pick(size), last = first + 1 + pick(size - first);
    const char *found = memchr(in + first, 1, last - first);
    const ha_range r = {first, last}, part = ha_set_first_in(s, r);
    ha_set missing = {.heap = NULL};
    char not_in[MOST] = {0};
    assert_int_equal(ha_set_contains(s, r), memchr(in + first, 0, last - first) == NULL);
    assert_int_equal(ha_set_overlaps(s, r), found != NULL);
    if (found) assert_int_equal(part.first, found - in);
    for (size_t i = first; i < last; i++) not_in[i] = !in[i];
    assert_int_equal(ha_set_missing(s, r, &missing), HA_OK);
    expect_ranges(&missing, not_in, size);
    ha_set_free(&missing);
}

/* From none to as many as there can be and back, several times: few are sorted, many indexed. */
TEST(sets_of_ranges) {
    enum { SIZE = 1200 };
    char in[MOST] = {0};
    ha_set s = {.heap = NULL}, copy;
    random_state = 1; /* whatever other tests took */
    uint32_t most = 0, turns = 0;
    for (int round = 0; round < 40; round++)
        for (int i = 0; i < 600; i++) {
            const int adding = pick(8) ? round % 2 == 0 : round % 2;
            const size_t first = pick(SIZE), length = 1 + (pick(adding ? 40 : 4) ? 0 : pick(40));
            const ha_range r = {first, first + length < SIZE ? first + length : SIZE};
            const uint32_t before = s.indexed;
            assert_int_equal(ha_set_room(&s, 1), HA_OK);
            if (adding)
                ha_set_add(&s, r);
            else
                ha_set_remove(&s, i % 100 ? r : (ha_range){SIZE - 3, SIZE_MAX});
            if (!adding && i % 100 == 0)
                memset(in + SIZE - 3, 0, 3);
            else
                memset(in + r.first, adding, r.last - r.first);
            turns += s.indexed != before;
            if (s.n > most) most = s.n;
            if (i % 7 == 0) expect_ranges(&s, in, SIZE);
            if (i % rarely() == 0) expect_lookups(&s, in, SIZE);
            if (i % 50) continue;
            memset(&copy, 0, sizeof copy);
            assert_int_equal(ha_set_copy(&copy, &s), HA_OK);
            expect_ranges(&copy, in, SIZE);
            assert_int_equal(ha_set_put(&copy, r), HA_OK);
            ha_set_free(&copy);
        }
    assert_true(most > 2 * HA_FEW_RANGES_ + 2);
    assert_true(turns > 4);
    s.n = 0; /* as who gives all values up does */
    memset(in, 0, sizeof in);
    expect_lookups(&s, in, SIZE);
    for (size_t k = 0; k < SIZE / 2; k++) {
        const size_t i = k * 263 % (SIZE / 2) * 2;
        assert_int_equal(ha_set_put(&s, (ha_range){i, i + 1}), HA_OK);
        in[i] = 1;
    }
    expect_ranges(&s, in, SIZE);
    harray_double x = harray_double_new(1); /* whose set it might be */
    assert_int_equal(ha_set_reserve(x.array, &s, 2 * s.capacity), HA_OK);
    expect_ranges(&s, in, SIZE);
    expect_lookups(&s, in, SIZE);
    assert_int_equal(harray_double_free(&x), HA_OK);
    ha_set_free(&s);
}

/* What is cut in pieces and put together again is one box. */
TEST(boxes_join_again) {
    const int64_t extent[] = {8, 8, 8}, pitch[] = {64, 8, 1};
    ha_grid g;
    assert_int_equal(ha_grid_make(&g, 3, extent, pitch), HA_OK);
    ha_set s = {.grid = &g};
    for (size_t i = 0; i < 8; i++)
        for (size_t j = 0; j < 8; j += 2) {
            const ha_box tile = {{i, j, 0}, {i + 1, j + 2, 8}};
            assert_int_equal(ha_set_put(&s, ha_box_range(&g, &tile)), HA_OK);
        }
    assert_int_equal(s.n, 1);
    assert_true(s.heap[0].first == 0 && s.heap[0].last == 512);
    ha_set_free(&s);
}

/* Also among many, from whichever side they come. */
TEST(boxes_join_among_many) {
    const int64_t extent[] = {40, 30}, pitch[] = {32, 1};
    const ha_box all = {{22, 5}, {30, 25}};
    uint32_t apart = 0;
    ha_grid g;
    assert_int_equal(ha_grid_make(&g, 2, extent, pitch), HA_OK);
    ha_set s = {.grid = &g};
    for (size_t i = 0; i < 20; i += 2)
        for (size_t j = 0; j < 30; j += 2, apart++)
            assert_int_equal(ha_set_put(&s, (ha_range){32 * i + j, 32 * i + j + 1}), HA_OK);
    assert_int_equal(s.n, apart);
    assert_true(s.indexed);
    for (int way = 0; way < 4; way++) {
        for (size_t i = 0; i < 8; i++)
            for (size_t j = 0; j < 20; j++) {
                const size_t at = 32 * (way & 1 ? 29 - i : 22 + i) + (way & 2 ? 24 - j : 5 + j);
                assert_int_equal(ha_set_put(&s, (ha_range){at, at + 1}), HA_OK);
            }
        assert_int_equal(s.n, apart + 1);
        assert_true(ha_set_contains(&s, ha_box_range(&g, &all)));
        assert_int_equal(ha_set_drop(&s, ha_box_range(&g, &all)), HA_OK);
        assert_int_equal(s.n, apart);
    }
    ha_set_free(&s);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Every element is copied to its place, and nothing else is touched. */
TEST(pieces) {
    static double from[MOST], to[MOST], packed[MOST];
    static unsigned char in[MOST];
    for (int i = 0; i < share_of(4000); i++) {
        const ha_grid g = random_grid();
        const ha_range r = random_box(&g);
        ha_strided_copy copy = ha_box_copy(&g, r, sizeof *from, to + r.first, from + r.first);
        int some;
        for (size_t k = 0; k < MOST; k++) {
            from[k] = (double)k;
            to[k] = packed[k] = -1;
        }
        assert_int_equal(ha_move_copy(ha_host(), &copy, &some), 0);
        spread(&g, r, in);
        for (size_t k = 0; k < MOST; k++) assert_true(to[k] == (in[k] ? (double)k : -1));
        ha_strided_pack(&copy, copy.to_step);
        copy.to = packed;
        assert_int_equal(ha_move_copy(ha_host(), &copy, &some), 0);
        size_t n = 0;
        for (size_t k = 0; k < MOST; k++)
            if (in[k]) assert_true(packed[n++] == (double)k);
        for (; n < MOST; n++) assert_true(packed[n] == -1);
    }
}

/* As few levels as there can be. */
TEST(levels) {
    const int64_t extent[] = {4, 5, 6}, pitch[] = {30, 6, 1};
    ha_grid g;
    assert_int_equal(ha_grid_make(&g, 3, extent, pitch), HA_OK);
    const ha_box all = {{0, 0, 0}, {4, 5, 6}}, planes = {{1, 0, 0}, {3, 5, 6}},
                 rows = {{0, 2, 0}, {4, 3, 6}}, columns = {{0, 0, 2}, {4, 5, 3}},
                 inside = {{1, 1, 1}, {3, 4, 5}};
    ha_strided_copy r = ha_box_copy(&g, ha_box_range(&g, &all), 8, NULL, NULL);
    assert_true(r.levels == 0 && r.bytes == 960);
    r = ha_box_copy(&g, ha_box_range(&g, &planes), 8, NULL, NULL);
    assert_true(r.levels == 0 && r.bytes == 480);
    r = ha_box_copy(&g, ha_box_range(&g, &rows), 8, NULL, NULL);
    assert_true(r.levels == 1 && r.bytes == 48 && r.count[0] == 4 && r.to_step[0] == 240);
    r = ha_box_copy(&g, ha_box_range(&g, &columns), 8, NULL, NULL); /* one distance in all */
    assert_true(r.levels == 1 && r.bytes == 8 && r.count[0] == 20 && r.from_step[0] == 48);
    r = ha_box_copy(&g, ha_box_range(&g, &inside), 8, NULL, NULL);
    assert_true(r.levels == 2 && r.bytes == 32 && r.count[0] == 3 && r.count[1] == 2);
}

/* ---- views ----------------------------------------------------------------------------------- */

/* The box covers the view, is the smallest one where it should be, and `exact` is true. */
static void check_cover(const ha_grid *g, const darray *v) {
    static unsigned char of_view[MOST], of_box[MOST];
    int64_t index[HA_MOST_RANK] = {0};
    ha_range r;
    const int exact = ha_view_cover(g, v, &r);
    memset(of_view, 0, sizeof of_view);
    for (int d = 0; d >= 0 && ha_view_size(v);) {
        of_view[v->offset + ha_offset(v->rank, index, v->stride)] = 1;
        for (d = v->rank - 1; d >= 0 && ++index[d] == v->extent[d]; d--) index[d] = 0;
    }
    spread(g, r, of_box);
    int same = 1;
    for (size_t i = 0; i < MOST; i++) {
        assert_true(!of_view[i] || of_box[i]);
        same &= of_view[i] == of_box[i];
    }
    assert_true(!exact || same);
    if (ha_is_empty(r)) return;
    const ha_range probe = random_box(g);
    int hits = 0;
    spread(g, probe, of_box);
    for (size_t i = 0; i < MOST; i++) hits |= of_view[i] & of_box[i];
    assert_int_equal(ha_view_hits(g, v, probe), hits);
}

static darray random_view(const ha_grid *g) {
    darray v = {.type = HA_DTYPE_double, .rank = g->rank};
    for (int d = 0; d < g->rank; d++) {
        const int64_t first = (int64_t)pick(g->extent[d]), step = 1 + (int64_t)pick(3);
        const int64_t most = ((int64_t)g->extent[d] - 1 - first) / step + 1;
        const int64_t n = 1 + (int64_t)pick((size_t)most), down = pick(3) == 0;
        const int at = pick(2) ? d : 0; /* in some other order */
        const int64_t stride = step * (int64_t)g->pitch[d];
        for (int k = d; k > at; k--) {
            v.extent[k] = v.extent[k - 1];
            v.stride[k] = v.stride[k - 1];
        }
        v.extent[at] = n;
        v.stride[at] = down ? -stride : stride;
        v.offset += first * (int64_t)g->pitch[d] + (down ? (n - 1) * stride : 0);
    }
    return v;
}

TEST(views_are_covered) {
    for (int i = 0; i < share_of(4000); i++) {
        const ha_grid g = random_grid();
        const darray v = random_view(&g);
        check_cover(&g, &v);
    }
}

static ha_range cover(const ha_grid *g, int rank, int64_t offset, const int64_t *extent,
                      const int64_t *stride, int exact) {
    darray v = {.rank = rank, .offset = offset};
    ha_range r;
    memcpy(v.extent, extent, (size_t)rank * sizeof *extent);
    memcpy(v.stride, stride, (size_t)rank * sizeof *stride);
    assert_int_equal(ha_view_cover(g, &v, &r), exact);
    return r;
}

#define COVERS(g, rank, offset, extents, strides, exact, low, high)                                \
    do {                                                                                           \
        const int64_t e_[] = {HA_LIST extents}, s_[] = {HA_LIST strides};                          \
        const ha_range r_ = cover(g, rank, offset, e_, s_, exact);                                 \
        assert_int_equal(r_.first, low);                                                           \
        assert_int_equal(r_.last, (high) + 1);                                                     \
    } while (0)
#define HA_LIST(...) __VA_ARGS__

/* In a grid of 6 rows of 10: element 10 i + j. */
TEST(covers_of_known_views) {
    const int64_t extent[] = {6, 10}, pitch[] = {10, 1};
    ha_grid g;
    assert_int_equal(ha_grid_make(&g, 2, extent, pitch), HA_OK);
    COVERS(&g, 2, 0, (6, 10), (10, 1), 1, 0, 59);     /* all */
    COVERS(&g, 1, 20, (10), (1), 1, 20, 29);          /* a row */
    COVERS(&g, 1, 3, (6), (10), 1, 3, 53);            /* a column */
    COVERS(&g, 2, 59, (6, 10), (-10, -1), 1, 0, 59);  /* backwards */
    COVERS(&g, 2, 11, (3, 4), (1, 10), 1, 11, 43);    /* transposed */
    COVERS(&g, 1, 0, (60), (1), 1, 0, 59);            /* flat */
    COVERS(&g, 1, 10, (20), (1), 1, 10, 29);          /* two rows, flat */
    COVERS(&g, 1, 15, (10), (1), 0, 10, 29);          /* the end of one and the next's beginning */
    COVERS(&g, 2, 0, (3, 10), (20, 1), 0, 0, 49);     /* every other row */
    COVERS(&g, 1, 0, (6), (11), 0, 0, 55);            /* the diagonal */
    COVERS(&g, 1, 5, (6), (9), 0, 0, 59);             /* the other one goes over a row's end */
    COVERS(&g, 2, 7, (4, 3), (0, 1), 1, 7, 9);        /* repeated */
    COVERS(&g, 3, 7, (1, 1, 1), (99, 5, 0), 1, 7, 7); /* one element */
    COVERS(&g, 2, 0, (3, 3), (2, 2), 0, 0, 8);        /* as many as the box has, some twice */
}

/* Where the elements lie one behind the other there are ranges. */
TEST(covers_without_a_grid) {
    COVERS(NULL, 1, 5, (4), (1), 1, 5, 8);
    COVERS(NULL, 2, 0, (3, 4), (4, 1), 1, 0, 11);
    COVERS(NULL, 1, 0, (4), (2), 0, 0, 6);
    COVERS(NULL, 2, 0, (3, 3), (2, 2), 0, 0, 8);
}

/* Between the elements of a grid with gaps. */
TEST(covers_beside_the_grid) {
    const int64_t extent[] = {4}, pitch[] = {2};
    ha_grid g;
    assert_int_equal(ha_grid_make(&g, 1, extent, pitch), HA_OK);
    COVERS(&g, 1, 0, (4), (2), 1, 0, 6);
    COVERS(&g, 1, 0, (3), (3), 0, 0, 6);
}

static int hits(const ha_grid *g, int64_t offset, const int64_t *extent, const int64_t *stride,
                size_t first, size_t last) {
    darray v = {.rank = 2, .offset = offset};
    memcpy(v.extent, extent, 2 * sizeof *extent);
    memcpy(v.stride, stride, 2 * sizeof *stride);
    return ha_view_hits(g, &v, (ha_range){first, last});
}
#define PAIR(...) ((const int64_t[]){__VA_ARGS__})

TEST(views_that_hit) {
    const int64_t extent[] = {6, 10}, pitch[] = {10, 1};
    ha_grid g;
    assert_int_equal(ha_grid_make(&g, 2, extent, pitch), HA_OK);
    assert_true(hits(&g, 0, PAIR(3, 5), PAIR(20, 2), 44, 45));
    assert_false(hits(&g, 0, PAIR(3, 5), PAIR(20, 2), 45, 46));
    assert_true(hits(&g, 0, PAIR(2, 2), PAIR(3, 2), 5, 6)); /* two ways along a row */
    assert_false(hits(&g, 0, PAIR(2, 2), PAIR(3, 2), 4, 5));
    assert_true(hits(&g, 5, PAIR(1, 9), PAIR(1, 1), 13, 14)); /* over a row's end */
    assert_false(hits(&g, 5, PAIR(1, 9), PAIR(1, 1), 14, 15));
    assert_true(hits(&g, 0, PAIR(1, 6), PAIR(1, 11), 33, 34)); /* the diagonal */
    assert_false(hits(&g, 0, PAIR(1, 6), PAIR(1, 11), 34, 35));
    assert_true(hits(NULL, 3, PAIR(1, 4), PAIR(1, 3), 6, 7));
    assert_false(hits(NULL, 3, PAIR(1, 4), PAIR(1, 3), 7, 9));
    assert_false(hits(&g, 0, PAIR(0, 6), PAIR(10, 1), 0, 60));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_boxes),
        cmocka_unit_test(around_two_boxes),
        cmocka_unit_test(halves),
        cmocka_unit_test(division),
        cmocka_unit_test(no_grids),
        cmocka_unit_test(sets_of_boxes),
        cmocka_unit_test(sets_of_ranges),
        cmocka_unit_test(sets_of_many_boxes),
        cmocka_unit_test(z_order),
        cmocka_unit_test(boxes_join_again),
        cmocka_unit_test(boxes_join_among_many),
        cmocka_unit_test(pieces),
        cmocka_unit_test(levels),
        cmocka_unit_test(views_are_covered),
        cmocka_unit_test(covers_of_known_views),
        cmocka_unit_test(covers_without_a_grid),
        cmocka_unit_test(covers_beside_the_grid),
        cmocka_unit_test(views_that_hit),
        cmocka_unit_test(grids_of_arrays),
        cmocka_unit_test(grids_of_freed_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
