/* Loops over views: each index once and in order of memory, in every layout and for odd extents;
 * regions of every kind; leaving a loop; neighbours; parts for threads. */
#define HA_LAYOUT_IMPLEMENTATION
#include "../../layout.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

typedef struct cell {
    float u, w;
    int c;
} cell;
#define cell_FIELDS (float, u), (float, w), (int, c)
HA_RECORD(cell)

/* clang-format off */
#define VIEWS(X) \
    X(soa1, 1, HA_SOA, HA_ROW) X(b4_1, 1, HA_AOSOA(4), HA_ROW) X(b7_1, 1, HA_AOSOA(7), HA_ROW) X(r2_1, 1, HA_AOSOA(2, HA_ROWS), HA_ROW) \
    X(aos2, 2, HA_AOS, HA_ROW) X(b4_2, 2, HA_AOSOA(4), HA_ROW) X(b4_2c, 2, HA_AOSOA(4), HA_COL) X(r4_2, 2, HA_AOSOA(4, HA_ROWS), HA_ROW) \
    X(r2_2c, 2, HA_AOSOA(2, HA_ROWS), HA_COL) X(m2, 2, HA_SOA, HA_MORTON) X(mb2, 2, HA_AOSOA(4), HA_MORTON) \
    X(pk3, 3, HA_AOS_PACKED, HA_ROW) X(b4_3, 3, HA_AOSOA(4), HA_ROW) X(r4_3, 3, HA_AOSOA(4, HA_ROWS), HA_ROW) X(soa3c, 3, HA_SOA, HA_COL) X(m3, 3, HA_AOS, HA_MORTON) \
    X(b4_4, 4, HA_AOSOA(4), HA_ROW) X(r4_4c, 4, HA_AOSOA(4, HA_ROWS), HA_COL)
#define N_1(n) n[0]
#define N_2(n) n[0], n[1]
#define N_3(n) n[0], n[1], n[2]
#define N_4(n) n[0], n[1], n[2], n[3]
/* clang-format on */

static bool inside(int rank, const ptrdiff_t *i, ha_region box) {
    for (int d = 0; d < rank; d++)
        if (i[d] < box.first[d] || i[d] >= box.last[d]) return false;
    return true;
}

static const ptrdiff_t extents[][4] = {{5, 7, 3, 2}, {1, 9, 2, 1}, {13, 1, 4, 2}, {17, 2, 1, 3},
                                       {8, 8, 4, 1}, {0, 3, 2, 2}, {3, 0, 1, 1}};

/* Boxes inside these extents: all, without the edges, parts that begin and end within blocks, nothing. */
static ha_region box_of(int rank, const ptrdiff_t *n, int which) {
    ha_region all = ha_box4(0, n[0], 0, rank > 1 ? n[1] : 1, 0, rank > 2 ? n[2] : 1, 0,
                            rank > 3 ? n[3] : 1);
    if (which == 1) return ha_inside(all, rank, 1);
    for (int d = 0; d < rank && which > 1; d++) {
        all.first[d] = which == 4 ? n[d] : ha_min_(n[d], which - 1);
        all.last[d] = which == 2 ? n[d] : ha_min_(n[d], all.first[d] + 3);
    }
    return all;
}
enum { BOXES = 5 };

/* A test of one view. Every loop adds one to what it visits; then each index inside has been visited
 * once, and none outside. */
#define DEFINE(V, D, M, O)                                                                         \
    HA_VIEW(V, cell, D, M, O)                                                                      \
    static void V##_is(V v, ha_region box, int times) {                                            \
        ptrdiff_t next = 0;                                                                        \
        HA_EACH(V, v, at) {                                                                        \
            ptrdiff_t i[4] = {0};                                                                  \
            for (int d = 0; d < D; d++) i[d] = ha_coordinate(at, d);                               \
            assert_int_equal(ha_index(at), next++);                                                \
            assert_int_equal(*V##_c(v, V##_at(v, N_##D(i))), inside(D, i, box) ? times : 0);       \
            *V##_c(v, at) = 0;                                                                     \
        }                                                                                          \
        assert_int_equal(next, v.count);                                                           \
    }                                                                                              \
    static void V##_left(V v, ha_region box, ptrdiff_t count) {                                    \
        ptrdiff_t visits = 0, last = -1;                                                           \
        HA_EACH_IN(V, v, at, box) {                                                                \
            if (visits == count) break;                                                            \
            if (visits % 2 == 0) {                                                                 \
                visits++;                                                                          \
                continue;                                                                          \
            }                                                                                      \
            visits++;                                                                              \
            last = ha_index(at);                                                                   \
        }                                                                                          \
        assert_true(visits <= count && last < v.count);                                            \
        visits = 0;                                                                                \
        HA_EACH_NEAR(V, v, at, box) {                                                              \
            if (visits == count) break;                                                            \
            visits++;                                                                              \
        }                                                                                          \
        assert_true(visits <= count);                                                              \
    }                                                                                              \
    static void V##_neighbours(V v, const ptrdiff_t *n) {                                          \
        const ha_region box = box_of(D, n, 1);                                                     \
        HA_EACH(V, v, at) * V##_u(v, at) = (float)ha_index(at);                                    \
        HA_EACH_NEAR(V, v, at, box) {                                                              \
            ptrdiff_t i[4] = {0};                                                                  \
            for (int d = 0; d < D; d++) i[d] = ha_coordinate(at, d);                               \
            for (int d = 0; d < D; d++)                                                            \
                for (int k = -1; k <= 1; k++) {                                                    \
                    i[d] += k;                                                                     \
                    const ha_cursor shifted = ha_neighbour(at, d, k), there = V##_at(v, N_##D(i)); \
                    assert_ptr_equal(V##_u(v, shifted), V##_u(v, there));                          \
                    assert_int_equal(ha_index(shifted), ha_index(there));                          \
                    assert_int_equal(ha_coordinate(shifted, d), i[d]);                             \
                    assert_ptr_equal(                                                              \
                        V##_u(v, ha_neighbour(ha_neighbour(shifted, d, -k), D - 1, 0)),            \
                        V##_u(v, at));                                                             \
                    i[d] -= k;                                                                     \
                }                                                                                  \
        }                                                                                          \
    }                                                                                              \
    static void V##_test(const ptrdiff_t *n) {                                                     \
        V v = V##_new(N_##D(n));                                                                   \
        assert_false(V##_null(v));                                                                 \
        for (int b = 0; b < BOXES; b++) {                                                          \
            const ha_region box = box_of(D, n, b);                                                 \
            HA_EACH_IN(V, v, at, box) * V##_c(v, at) += 1;                                         \
            HA_EACH_NEAR(V, v, at, box) * V##_c(v, at) += 1;                                       \
            for (ptrdiff_t p = 0; p < 3; p++)                                                      \
                HA_EACH_IN(V##_const, V##_reading(v), at, ha_part(box, p, 3)) * V##_c(v, at) += 1; \
            V##_is(v, box, 3);                                                                     \
            for (ptrdiff_t count = 0; count < 20; count += 3) V##_left(v, box, count);             \
        }                                                                                          \
        V##_neighbours(v, n);                                                                      \
        V##_free(v);                                                                               \
    }
VIEWS(DEFINE)

static void test_every_loop(void **state) {
    (void)state;
    for (size_t e = 0; e < sizeof extents / sizeof extents[0]; e++) {
#define RUN(V, D, M, O) V##_test(extents[e]);
        VIEWS(RUN)
#undef RUN
    }
}

/* A loop left by break goes on nowhere: neither in the block nor in the row nor in the next row. */
static void test_break_leaves_all(void **state) {
    (void)state;
    const r4_3 v = r4_3_new(3, 4, 10);
    for (ptrdiff_t stop = 0; stop < 120; stop++) {
        ptrdiff_t visits = 0;
        HA_EACH(r4_3, v, at) {
            if (ha_index(at) == stop) break;
            visits++;
        }
        assert_int_equal(visits, stop);
    }
    r4_3_free(v);
}

/* Loops inside loops, and cursors of one view in another. */
static void test_cursors_fit_other_views(void **state) {
    (void)state;
    const b4_2 v = b4_2_new(5, 6);
    const b4_2c w = b4_2c_new(5, 6);
    const r4_2 x = r4_2_new(5, 6);
    const m2 y = m2_new(5, 6);
    int pairs = 0;
    HA_EACH(b4_2c, w, at) {
        const int number = (int)(10 * ha_coordinate(at, 0) + ha_coordinate(at, 1));
        *b4_2_c(v, at) = *b4_2c_c(w, at) = *r4_2_c(x, at) = *m2_c(y, at) = number;
        HA_EACH(r4_2, x, other) pairs += ha_index(other) >= 0;
    }
    assert_int_equal(pairs, 900);
    for (ptrdiff_t i = 0; i < 5; i++)
        for (ptrdiff_t j = 0; j < 6; j++) {
            assert_int_equal(*b4_2_c(v, b4_2_at(v, i, j)), 10 * i + j);
            assert_int_equal(*r4_2_c(x, r4_2_at(x, i, j)), 10 * i + j);
            assert_int_equal(*m2_c(y, m2_at(y, i, j)), 10 * i + j);
        }
    b4_2_free(v);
    b4_2c_free(w);
    r4_2_free(x);
    m2_free(y);
}

/* What a loop keeps for itself has names that are not the user's. */
static void test_names_of_loops(void **state) {
    (void)state;
    const soa1 v = soa1_new(9);
    const int i_0 = 1, i_1 = 2, i_k = 3, i_o = 4, i_q = 5, i_w = 6;
    int sum = 0;
    HA_EACH(soa1, v, i) sum += i_0 + i_1 + i_k + i_o + i_q + i_w;
    HA_EACH_NEAR(soa1, v, i, ha_box1(1, 8)) sum += i_0 + i_1 + i_k + i_o + i_q + i_w;
    assert_int_equal(sum, 16 * 21);
    soa1_free(v);
}

/* Parts are disjoint, one behind the other and all of the region. */
static void test_parts(void **state) {
    (void)state;
    for (ptrdiff_t n = 0; n < 400; n += 7)
        for (ptrdiff_t parts = 1; parts < 7; parts++) {
            ptrdiff_t next = 3;
            for (ptrdiff_t p = 0; p < parts; p++) {
                const ha_region r = ha_part(ha_box1(3, 3 + n), p, parts);
                assert_int_equal(r.first[0], next);
                assert_true(r.last[0] >= r.first[0]);
                next = r.last[0];
                if (n / parts >= 64 && p < parts - 1) assert_int_equal(next % 64, 0);
            }
            assert_int_equal(next, 3 + n);
        }
    const ha_region r = ha_part(ha_box3(0, 2, 0, 3, 0, 90), 1,
                                4); /* the first that is long enough */
    assert_int_equal(r.first[0], 0);
    assert_int_equal(r.last[1], 3);
    assert_int_equal(r.first[2], 23);
    const ha_region few = ha_part(ha_box2(0, 2, 0, 3), 3, 4); /* none is */
    assert_int_equal(few.last[0], 2);
    assert_int_equal(few.first[1], few.last[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_loop),
        cmocka_unit_test(test_break_leaves_all),
        cmocka_unit_test(test_cursors_fit_other_views),
        cmocka_unit_test(test_names_of_loops),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
