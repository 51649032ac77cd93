/* Extents, strides and indices at random, against models that count one element after the other, or
 * compute in 128 bits. cases_extents.c has literal numbers. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/refusals.h"

static const ha_order orders[] = {HA_ROW_MAJOR, HA_COLUMN_MAJOR};

/* ---- small ones: one element after the other is counted ------------------------------------- */

static uint64_t random_state;
static uint64_t draw(uint64_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

typedef struct shape {
    int rank;
    int64_t extent[HA_MOST_RANK], stride[HA_MOST_RANK];
    ha_order order;
} shape;

/* To the next index in this order; 0 behind the last one. */
static int advance(const shape *s, int64_t *index) {
    for (int n = 0; n < s->rank; n++) {
        int d = s->order == HA_ROW_MAJOR ? s->rank - 1 - n : n;
        if (++index[d] < s->extent[d]) return 1;
        index[d] = 0;
    }
    return 0;
}

static shape small_shape(void) {
    shape s = {.rank = (int)draw(HA_MOST_RANK + 1), .order = orders[draw(2)]};
    for (int d = 0; d < s.rank; d++) s.extent[d] = 1 + (int64_t)draw(s.rank < 5 ? 5 : 3);
    if (s.rank && !draw(20)) s.extent[draw((uint64_t)s.rank)] = 0;
    return s;
}

/* The strides are natural, nearly so, or any. */
static void draw_strides(shape *s) {
    FINE(ha_extents_strides(s->rank, s->extent, s->order, s->stride));
    uint64_t how = draw(4);
    for (int d = 0; how == 1 && d < s->rank; d++)
        if (s->extent[d] == 1) s->stride[d] = (int64_t)draw(100) - 50;
    if (how == 2 && s->rank) s->stride[draw((uint64_t)s->rank)] += (int64_t)draw(3) - 1;
    for (int d = 0; how == 3 && d < s->rank; d++) s->stride[d] = (int64_t)draw(9) - 4;
}

/* Goes through all elements, and counts. */
static void check_by_counting(const shape *s) {
    int64_t index[HA_MOST_RANK] = {0}, back[HA_MOST_RANK], lowest = 0, highest = 0, offset, linear;
    int64_t count = 0, low = 0, high = -1, natural = 1, empty = 0;
    for (int d = 0; d < s->rank; d++) empty |= !s->extent[d];
    if (!empty) do {
            FINE(ha_linear_of_index(s->rank, index, s->extent, s->order, &linear));
            assert_true(linear == count);
            FINE(ha_index_of_linear(s->rank, count, s->extent, s->order, back));
            assert_true(ha_extents_equal(s->rank, back, s->rank, index));
            FINE(ha_offset_checked(s->rank, index, s->extent, s->stride, &offset));
            assert_true(offset == ha_offset(s->rank, index, s->stride));
            natural &= offset == count;
            low = offset < low ? offset : low;
            high = offset > high ? offset : high;
            count++;
        } while (advance(s, index));
    FINE(ha_extents_product(s->rank, s->extent, &linear));
    assert_true(linear == count);
    REFUSED(HA_ERR_ARGUMENT, ha_index_of_linear(s->rank, count, s->extent, s->order, back));
    assert_int_equal(ha_extents_contiguous(s->rank, s->extent, s->stride, s->order), natural);
    FINE(ha_extents_reach(s->rank, s->extent, s->stride, &lowest, &highest));
    assert_true(lowest == low && highest == high);
    FINE(ha_extents_inside(s->rank, s->extent, s->stride, -low, high - low + 1));
    if (empty) return;
    REFUSED(HA_ERR_ARGUMENT, ha_extents_inside(s->rank, s->extent, s->stride, -low, high - low));
    REFUSED(HA_ERR_ARGUMENT,
            ha_extents_inside(s->rank, s->extent, s->stride, -low - 1, high - low + 1));
}

TEST(small_at_random) {
    random_state = 1;
    for (int i = 0; i < 1000; i++) {
        shape s = small_shape();
        draw_strides(&s);
        check_by_counting(&s);
    }
}

/* ---- those at the edges: in 128 bits -------------------------------------------------------- */

__extension__ typedef __int128 wide;

static int fits(wide n) { return n >= INT64_MIN && n <= INT64_MAX; }

/* 2^63 stands for all that is larger, as it does not fit either. */
static wide clamped(wide n) {
    const wide most = (wide)1 << 63;
    return n > most ? most : n < -most - 1 ? -most - 1 : n;
}

static int64_t draw_edge(void) {
    static const int64_t edges[] = {0, 1, 2, 3, INT64_MAX, INT64_MIN, 1 << 30, INT64_C(1) << 31};
    int64_t n = edges[draw(sizeof edges / sizeof *edges)];
    int up = n == INT64_MIN || (n < INT64_MAX && draw(2));
    if (!draw(3)) n = up ? n + (int64_t)draw(3) : n - (int64_t)draw(3);
    if (!draw(3)) n = (int64_t)((uint64_t)draw(1u << 31) << draw(33));
    return draw(3) || n == INT64_MIN ? n : -n;
}

static ha_status outcome(int bad, wide a, wide b) {
    return bad ? HA_ERR_ARGUMENT : fits(a) && fits(b) ? HA_OK : HA_ERR_MEMORY;
}

static void check_wide(const shape *s, const int64_t *index) {
    wide count = 1, above = 1, low = 0, high = 0, parts[2] = {0, 0};
    int64_t n = 7, m = 8, stride[HA_MOST_RANK];
    int negative = 0, empty = 0, outside = 0;
    for (int d = 0; d < s->rank; d++) {
        wide e = s->extent[d], t = s->stride[d];
        negative |= e < 0;
        empty |= e == 0;
        outside |= index[d] < 0 || index[d] >= e;
        if (e) above = clamped(above * e);
        *(t < 0 ? &low : &high) += clamped((e - 1) * t);
        parts[t < 0] += clamped(index[d] * t);
    }
    count = empty ? 0 : above;
    if (empty) low = 0, high = -1;

    ha_status s1 = outcome(negative, count, 0), s2 = outcome(negative, low, high);
    assert_int_equal(ha_extents_product(s->rank, s->extent, &n), s1);
    assert_true(n == (s1 ? 7 : (int64_t)count));
    n = 7;
    assert_int_equal(ha_extents_reach(s->rank, s->extent, s->stride, &n, &m), s2);
    assert_true(n == (s2 ? 7 : (int64_t)low) && m == (s2 ? 8 : (int64_t)high));
    assert_int_equal(ha_extents_strides(s->rank, s->extent, s->order, stride),
                     outcome(negative, above, 0));
    ha_status s3 = outcome(negative || outside, parts[0], parts[1]);
    n = 7;
    assert_int_equal(ha_offset_checked(s->rank, index, s->extent, s->stride, &n), s3);
    assert_true(n == (s3 ? 7 : (int64_t)(parts[0] + parts[1])));
    if (!s2 && !s3) assert_true(n == ha_offset(s->rank, index, s->stride));
    (void)ha_take_error();
}

static void check_linear_wide(const shape *s, const int64_t *index, int64_t linear) {
    int64_t n = 7, count, back[HA_MOST_RANK];
    ha_status counted = ha_extents_product(s->rank, s->extent, &count);
    ha_status there = ha_index_of_linear(s->rank, linear, s->extent, s->order, back);
    assert_int_equal(there, counted                         ? counted
                            : linear >= 0 && linear < count ? HA_OK
                                                            : HA_ERR_ARGUMENT);
    if (!there) {
        assert_int_equal(ha_linear_of_index(s->rank, back, s->extent, s->order, &n), HA_OK);
        assert_true(n == linear);
    }
    ha_status of = ha_linear_of_index(s->rank, index, s->extent, s->order, &n);
    assert_int_equal(of, counted                                   ? counted
                         : ha_contained(s->rank, index, s->extent) ? HA_OK
                                                                   : HA_ERR_ARGUMENT);
    (void)ha_take_error();
}

static void check_elementwise(int rank, const int64_t *a, const int64_t *b) {
    int64_t sum[HA_MOST_RANK] = {0}, product[HA_MOST_RANK] = {0};
    ha_status s1 = HA_OK, s2 = HA_OK;
    for (int d = 0; d < rank; d++) {
        if (!fits((wide)a[d] + b[d])) s1 = HA_ERR_MEMORY;
        if (!fits((wide)a[d] * b[d])) s2 = HA_ERR_MEMORY;
    }
    assert_int_equal(ha_extents_add(rank, a, b, sum), s1);
    assert_int_equal(ha_extents_multiply(rank, a, b, product), s2);
    for (int d = 0; d < rank; d++) {
        assert_true(sum[d] == (s1 ? 0 : a[d] + b[d]));
        assert_true(product[d] == (s2 ? 0 : a[d] * b[d]));
    }
    (void)ha_take_error();
}

TEST(edges_at_random) {
    int64_t index[HA_MOST_RANK];
    random_state = 2;
    for (int i = 0; i < 50000; i++) {
        shape s = {.rank = (int)draw(draw(2) ? 4 : HA_MOST_RANK + 1), .order = orders[draw(2)]};
        uint64_t positive = draw(4);
        for (int d = 0; d < s.rank; d++) {
            int64_t e = draw_edge();
            s.extent[d] = positive && e < 0 ? -(e + 1) : e;
            s.stride[d] = draw_edge();
            index[d] = draw_edge();
            if (s.extent[d] > 0 && positive) index[d] = (index[d] & INT64_MAX) % s.extent[d];
        }
        check_wide(&s, index);
        check_linear_wide(&s, index, draw_edge());
        check_elementwise(s.rank, s.stride, index);
    }
}

/* Strides that are right are contiguous, and no others. */
TEST(contiguity_at_the_edges) {
    random_state = 3;
    for (int i = 0; i < 50000; i++) {
        shape s = {.rank = 1 + (int)draw(HA_MOST_RANK), .order = orders[draw(2)]};
        for (int d = 0; d < s.rank; d++) {
            int64_t e = draw_edge();
            s.extent[d] = e < 0 ? -(e + 1) : draw(2) ? 1 : e;
        }
        if (ha_extents_strides(s.rank, s.extent, s.order, s.stride)) {
            (void)ha_take_error();
            continue;
        }
        int empty = 0, d = (int)draw((uint64_t)s.rank);
        for (int k = 0; k < s.rank; k++) empty |= !s.extent[k];
        assert_true(ha_extents_contiguous(s.rank, s.extent, s.stride, s.order));
        s.stride[d] ^= 1 + (int64_t)draw(1000);
        assert_int_equal(ha_extents_contiguous(s.rank, s.extent, s.stride, s.order),
                         empty || s.extent[d] == 1);
    }
}

#define T(name) cmocka_unit_test(name)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(small_at_random),
        T(edges_at_random),
        T(contiguity_at_the_edges),
    };
    int failed = cmocka_run_group_tests_name("extents", tests, NULL, NULL);
    return failed + (ha_shutdown() != HA_OK);
}
