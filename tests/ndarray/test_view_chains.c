/* Chains of views at random, against a model that knows nothing of strides: for each index, in
 * sequence, the place in the storage. The model decides what is a view at all by looking at every
 * element; what it says is one must be made, and the rest refused. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/refusals.h"

enum { MOST = 400, DEEPEST = 5 }; /* elements and dimensions of a view */

typedef struct model {
    int rank;
    int64_t extent[HA_MOST_RANK], origin[HA_MOST_RANK];
    int64_t count, place[MOST]; /* in row-major sequence */
} model;

static uint64_t random_state;
static int64_t draw(int64_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)below);
}

/* first … last, both included */
static int64_t between(int64_t first, int64_t last) { return first + draw(last - first + 1); }

/* ---- indices in sequence -------------------------------------------------------------------- */

static int64_t count_of(int rank, const int64_t *extent) {
    int64_t count = 1;
    for (int d = 0; d < rank; d++) count *= extent[d];
    return count;
}

/* To the next index; 0 behind the last one. */
static int advance(int rank, const int64_t *extent, ha_order order, int64_t *index) {
    for (int n = 0; n < rank; n++) {
        const int d = order == HA_ROW_MAJOR ? rank - 1 - n : n;
        if (++index[d] < extent[d]) return 1;
        index[d] = 0;
    }
    return 0;
}

/* The place of an index that is counted from 0. */
static int64_t place_of(const model *m, const int64_t *index) {
    int64_t at = 0;
    for (int d = 0; d < m->rank; d++) at = at * m->extent[d] + index[d];
    return m->place[at];
}

/* ---- what a model's elements are ------------------------------------------------------------ */

/* Is there one step for each dimension, whatever the index in the others? */
static int is_affine(const model *m) {
    int64_t index[HA_MOST_RANK] = {0}, step[HA_MOST_RANK] = {0};
    if (!m->count) return 1;
    for (int d = 0; d < m->rank; d++) {
        int64_t next[HA_MOST_RANK] = {0};
        next[d] = 1;
        if (m->extent[d] > 1) step[d] = place_of(m, next) - m->place[0];
    }
    do {
        if (place_of(m, index) != m->place[0] + ha_offset(m->rank, index, step)) return 0;
    } while (advance(m->rank, m->extent, HA_ROW_MAJOR, index));
    return 1;
}

static int is_gapless(const model *m, ha_order order) {
    int64_t index[HA_MOST_RANK] = {0}, expected = m->count ? m->place[0] : 0;
    if (!m->count) return 1;
    do {
        if (place_of(m, index) != expected++) return 0;
    } while (advance(m->rank, m->extent, order, index));
    return 1;
}

static int repeats(const model *m, int64_t size) {
    static unsigned char seen[1 << 16];
    int twice = 0;
    assert_true(size <= (int64_t)sizeof seen);
    memset(seen, 0, (size_t)size);
    for (int64_t i = 0; i < m->count; i++) twice |= seen[m->place[i]]++;
    return twice;
}

static void expect_same(const model *m, darray x) {
    int64_t index[HA_MOST_RANK] = {0};
    assert_non_null(x.array);
    assert_true(ha_extents_equal(x.rank, x.extent, m->rank, m->extent));
    assert_true(ha_extents_equal(x.rank, x.origin, m->rank, m->origin));
    assert_true(darray_size(x) == m->count);
    for (int d = x.rank; d < HA_MOST_RANK; d++)
        assert_true(!x.extent[d] && !x.stride[d] && !x.origin[d]);
    assert_int_equal(darray_is_contiguous(x, HA_ROW_MAJOR), is_gapless(m, HA_ROW_MAJOR));
    assert_int_equal(darray_is_contiguous(x, HA_COLUMN_MAJOR), is_gapless(m, HA_COLUMN_MAJOR));
    assert_int_equal(darray_repeats(x), repeats(m, (int64_t)ha_array_size(x.array)) != 0);
    if (m->count) do
            assert_true(x.offset + ha_offset(x.rank, index, x.stride) == place_of(m, index));
        while (advance(x.rank, x.extent, HA_ROW_MAJOR, index));
}

/* ---- steps: each draws its arguments, and tells what the model says ------------------------- */

/* What a step makes of a model and of a view; possible: whether the model says that it is one. */
typedef struct made {
    model m;
    darray x;
    int possible;
} made;

/* A dimension of the model, or now and then one that it does not have. */
static int draw_dimension(const model *m) {
    return draw(20) ? (int)draw(m->rank ? m->rank : 1) : (int)between(-1, m->rank);
}

/* Takes of dimension d those indices, from 0, that are in the list. */
static void take(const model *m, int d, int64_t n, const int64_t *list, model *result) {
    int64_t index[HA_MOST_RANK] = {0}, i = 0;
    *result = *m;
    result->extent[d] = n;
    result->origin[d] = 0;
    result->count = count_of(m->rank, result->extent);
    if (result->count) do {
            int64_t from[HA_MOST_RANK];
            memcpy(from, index, sizeof from);
            from[d] = list[index[d]];
            result->place[i++] = place_of(m, from);
        } while (advance(m->rank, result->extent, HA_ROW_MAJOR, index));
}

/* One after the other, as a loop over them would go. Returns whether all are indices. */
static int list_steps(const model *m, int d, int64_t start, int64_t stop, int64_t step,
                      int64_t *list, int64_t *n) {
    const int64_t low = m->origin[d], high = low + m->extent[d];
    *n = 0;
    if (!step || (step > 0 ? start > stop : start < stop)) return 0;
    if (step > 0 ? start < low || stop > high : start >= high || stop < low - 1) return 0;
    for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) list[(*n)++] = i - low;
    return 1;
}

static void step_slice(const model *m, darray x, made *r) {
    int64_t list[MOST], n, step = between(-3, 3), start, stop, from, to;
    const int d = draw_dimension(m);
    const int there = d >= 0 && d < m->rank;
    const int64_t low = there ? m->origin[d] : 0, high = there ? low + m->extent[d] : 0;
    if (!step && draw(20)) step = 1;
    start = from = between(low - !draw(30), high);
    stop = to = between(low - !draw(30), high);
    if (draw(20) && (step > 0) == (from > to)) {
        start = from = stop;
        stop = to;
    }
    if (!draw(4)) start = HA_ALL, from = step < 0 ? high - 1 : low;
    if (!draw(4)) stop = HA_ALL, to = step < 0 ? low - 1 : high;
    r->possible = there && list_steps(m, d, from, to, step, list, &n);
    if (r->possible) take(m, d, n, list, &r->m);
    r->x = darray_slice(x, d, start, stop, step);
}

static void step_part(const model *m, darray x, made *r) {
    int64_t low[HA_MOST_RANK], high[HA_MOST_RANK], list[MOST], n;
    r->possible = 1;
    r->m = *m;
    for (int d = 0; d < m->rank; d++) {
        const int64_t first = m->origin[d], last = first + m->extent[d];
        const model before = r->m;
        const int whole = !draw(5);
        low[d] = between(first - !draw(100), last);
        high[d] = draw(100) && low[d] >= first ? between(low[d], last) : between(first, last);
        r->possible &= whole || list_steps(m, d, low[d], high[d], 1, list, &n);
        if (whole)
            low[d] = high[d] = HA_ALL;
        else if (r->possible)
            take(&before, d, n, list, &r->m);
    }
    r->x = darray_part(x, low, high);
}

static void remove_dimension(model *m, int d) {
    for (m->rank--; d < m->rank; d++) {
        m->extent[d] = m->extent[d + 1];
        m->origin[d] = m->origin[d + 1];
    }
}

static void step_fix(const model *m, darray x, made *r) {
    const int d = draw_dimension(m);
    const int there = d >= 0 && d < m->rank;
    const int64_t low = there ? m->origin[d] : 0, extent = there ? m->extent[d] : 0;
    const int64_t index = between(low - !draw(20), low + extent - (extent && draw(20)));
    const int64_t at = index - low;
    r->possible = there && at >= 0 && at < extent;
    if (r->possible) {
        take(m, d, 1, &at, &r->m);
        remove_dimension(&r->m, d);
    }
    r->x = darray_fix(x, d, index);
}

static void step_flip(const model *m, darray x, made *r) {
    int64_t list[MOST];
    const int d = draw_dimension(m);
    r->possible = d >= 0 && d < m->rank;
    for (int64_t i = 0; r->possible && i < m->extent[d]; i++) list[i] = m->extent[d] - 1 - i;
    if (r->possible) take(m, d, m->extent[d], list, &r->m);
    r->x = darray_flip(x, d);
}

static void step_permute(const model *m, darray x, made *r) {
    int64_t order[HA_MOST_RANK], index[HA_MOST_RANK] = {0}, i = 0;
    const int transposed = !draw(3);
    for (int d = 0; d < m->rank; d++) order[d] = transposed ? m->rank - 1 - d : d;
    for (int d = 0; d < m->rank && !transposed; d++) {
        const int64_t other = draw(m->rank), kept = order[d];
        order[d] = order[other];
        order[other] = kept;
    }
    r->possible = 1;
    r->m = *m;
    for (int d = 0; d < m->rank; d++) {
        r->m.extent[d] = m->extent[order[d]];
        r->m.origin[d] = m->origin[order[d]];
    }
    if (m->count) do {
            int64_t from[HA_MOST_RANK];
            for (int d = 0; d < m->rank; d++) from[order[d]] = index[d];
            r->m.place[i++] = place_of(m, from);
        } while (advance(m->rank, r->m.extent, HA_ROW_MAJOR, index));
    if (m->rank && !draw(20)) { /* one twice, or one that there is not */
        order[draw(m->rank)] = draw(m->rank + 1);
        for (int d = 0; d < m->rank; d++)
            for (int e = 0; e < d; e++) r->possible &= order[d] != order[e];
        for (int d = 0; d < m->rank; d++) r->possible &= order[d] < m->rank;
        if (r->possible)
            step_permute(m, x, r); /* by chance it is another good one */
        else
            r->x = darray_permute(x, order);
        return;
    }
    r->x = transposed ? darray_transpose(x) : darray_permute(x, order);
}

/* Extents with as many elements, or nearly. */
static int draw_extents(const model *m, int64_t *extent) {
    const int rank = (int)draw(DEEPEST + 1);
    int64_t left = m->count ? m->count : 6;
    for (int d = 0; d < rank; d++) {
        const int64_t most = left < 12 ? left : 12;
        int64_t n = between(1, most);
        while (left % n) n--;
        extent[d] = d < rank - 1 ? n : left;
        left /= extent[d];
    }
    if (rank && !m->count) extent[draw(rank)] = 0;
    if (rank && !draw(20)) extent[draw(rank)]++;
    return rank;
}

static void step_reshape(const model *m, darray x, made *r) {
    int64_t from[HA_MOST_RANK] = {0}, to[HA_MOST_RANK] = {0}, in_row[MOST] = {0};
    const ha_order order = draw(2) ? HA_ROW_MAJOR : HA_COLUMN_MAJOR;
    const int flat = !draw(4);
    r->m = *m;
    r->m.rank = flat ? 1 : draw_extents(m, r->m.extent);
    if (flat) r->m.extent[0] = m->count;
    memset(r->m.origin, 0, sizeof r->m.origin);
    r->possible = count_of(r->m.rank, r->m.extent) == m->count;
    if (r->possible && m->count) {
        do { /* both in the same sequence */
            int64_t at = 0;
            for (int d = 0; d < r->m.rank; d++) at = at * r->m.extent[d] + to[d];
            in_row[at] = place_of(m, from);
            (void)advance(r->m.rank, r->m.extent, order, to);
        } while (advance(m->rank, m->extent, order, from));
        memcpy(r->m.place, in_row, sizeof in_row);
        r->possible = is_affine(&r->m);
    }
    if (flat)
        r->x = order == HA_ROW_MAJOR ? darray_flatten(x) : darray_flatten_in(order, x);
    else
        r->x = order == HA_ROW_MAJOR ? darray_reshape(x, r->m.rank, r->m.extent)
                                     : darray_reshape_in(order, x, r->m.rank, r->m.extent);
}

static void step_broadcast(const model *m, darray x, made *r) {
    int64_t index[HA_MOST_RANK] = {0}, i = 0;
    const int more = m->rank < DEEPEST ? (int)draw(DEEPEST - m->rank + 1) : 0;
    const int less = m->rank && !draw(30);
    r->m = *m;
    r->m.rank = less ? m->rank - 1 : m->rank + more;
    r->possible = !less;
    for (int d = 0; d < r->m.rank; d++) {
        const int64_t old = less || d < more ? 1 : m->extent[d - more];
        r->m.extent[d] = old == 1 ? between(!draw(10) ? 0 : 1, 3) : old;
        if (!draw(30)) r->m.extent[d] = between(1, 4);
        const int same = !less && d >= more && m->extent[d - more] == r->m.extent[d];
        r->possible &= same || old == 1;
        r->m.origin[d] = same ? m->origin[d - more] : 0;
    }
    r->m.count = count_of(r->m.rank, r->m.extent);
    if (r->m.count > MOST) {
        step_broadcast(m, x, r);
        return;
    }
    if (r->possible && r->m.count) do {
            int64_t from[HA_MOST_RANK];
            for (int d = 0; d < m->rank; d++) from[d] = m->extent[d] == 1 ? 0 : index[d + more];
            r->m.place[i++] = place_of(m, from);
        } while (advance(r->m.rank, r->m.extent, HA_ROW_MAJOR, index));
    r->x = darray_broadcast(x, r->m.rank, r->m.extent);
}

static void step_diagonal(const model *m, darray x, made *r) {
    const int first = draw_dimension(m), second = draw_dimension(m);
    const int there = first >= 0 && first < m->rank && second >= 0 && second < m->rank;
    const int64_t e1 = there ? m->extent[first] : 0, e2 = there ? m->extent[second] : 0;
    const int64_t shift = between(-e1 - !draw(10), e2 + !draw(10));
    int64_t index[HA_MOST_RANK] = {0}, n = 0, i = 0;
    r->possible = there && first != second && shift >= -e1 && shift <= e2;
    if (r->possible) {
        for (int64_t j = 0; j < e1; j++) n += j + shift >= 0 && j + shift < e2;
        r->m = *m;
        remove_dimension(&r->m, first > second ? first : second);
        remove_dimension(&r->m, first > second ? second : first);
        r->m.extent[r->m.rank] = n;
        r->m.origin[r->m.rank++] = 0;
        r->m.count = count_of(r->m.rank, r->m.extent);
        if (r->m.count) do {
                int64_t from[HA_MOST_RANK];
                const int64_t along = index[r->m.rank - 1] + (shift < 0 ? -shift : 0);
                for (int d = 0, k = 0; d < m->rank; d++)
                    if (d != first && d != second) from[d] = index[k++];
                from[first] = along;
                from[second] = along + shift;
                r->m.place[i++] = place_of(m, from);
            } while (advance(r->m.rank, r->m.extent, HA_ROW_MAJOR, index));
    }
    r->x = darray_diagonal(x, first, second, shift);
}

static void step_expand(const model *m, darray x, made *r) {
    const int d = draw(20) ? (int)between(0, m->rank) : (int)between(-1, m->rank + 1);
    r->possible = d >= 0 && d <= m->rank;
    r->m = *m;
    if (r->possible) {
        r->m.rank++;
        for (int e = m->rank; e > d; e--) {
            r->m.extent[e] = m->extent[e - 1];
            r->m.origin[e] = m->origin[e - 1];
        }
        r->m.extent[d] = 1;
        r->m.origin[d] = 0;
    }
    r->x = darray_expand(x, d);
}

static void step_origin(const model *m, darray x, made *r) {
    r->possible = 1;
    r->m = *m;
    for (int d = 0; d < m->rank; d++) r->m.origin[d] = between(-2, 3);
    r->x = darray_with_origin(x, r->m.origin);
}

static void step_interior(const model *m, darray x, made *r) {
    int64_t list[MOST];
    r->possible = 1;
    r->m = *m;
    for (int d = 0; d < m->rank; d++) {
        const int64_t ghosts = -m->origin[d], n = m->extent[d] - 2 * ghosts;
        const model before = r->m;
        if (ghosts <= 0) continue;
        r->possible &= n >= 0;
        for (int64_t i = 0; i < n; i++) list[i] = i + ghosts;
        if (r->possible) take(&before, d, n, list, &r->m);
    }
    r->x = darray_interior(x);
}

/* ---- chains --------------------------------------------------------------------------------- */

typedef void (*step_function)(const model *, darray, made *);
static const step_function steps[] = {
    step_slice,   step_slice,    step_part,    step_fix,      step_flip,
    step_permute, step_reshape,  step_reshape, step_reshape,  step_broadcast,
    step_origin,  step_diagonal, step_expand,  step_interior,
};
enum { KINDS = sizeof steps / sizeof *steps };

/* Strides with room between the elements, and without. */
static void choose_strides(ha_shape *shape) {
    int64_t next = 1;
    shape->alignment = 0;
    for (int n = 0; n < shape->rank; n++) {
        const int d = shape->order == HA_ROW_MAJOR ? shape->rank - 1 - n : n;
        const int64_t width = shape->extent[d] + shape->ghost_low[d] + shape->ghost_high[d];
        shape->padding[d] = 0;
        shape->stride[d] = next + (int64_t)draw(2);
        next = shape->stride[d] * (width ? width : 1);
    }
}

/* An array with all that a shape can have, and its model; each element is its place. */
static darray make_array(model *m) {
    ha_shape shape = {.rank = (int)draw(DEEPEST + 1),
                      .order = draw(2) ? HA_ROW_MAJOR : HA_COLUMN_MAJOR,
                      .alignment = draw(3) ? 0 : (size_t)1 << draw(7)};
    for (int d = 0; d < shape.rank; d++) {
        shape.extent[d] = draw(30) ? between(1, shape.rank < 4 ? 4 : 2) : 0;
        if (!draw(4)) shape.ghost_low[d] = shape.ghost_high[d] = 1;
        if (!draw(4)) shape.padding[d] = draw(3);
    }
    if (!draw(4)) choose_strides(&shape);
    darray x = darray_make(HA_DTYPE_int64_t, &shape, NULL);
    int64_t index[HA_MOST_RANK] = {0}, i = 0;
    assert_non_null(x.array);
    m->rank = x.rank;
    memcpy(m->extent, x.extent, sizeof m->extent);
    memcpy(m->origin, x.origin, sizeof m->origin);
    m->count = count_of(x.rank, x.extent);
    if (m->count > MOST) {
        FINE(darray_free(&x));
        return make_array(m);
    }
    HA_OVERWRITING_ALL(v, x, NULL) {
        int64_t *first = (int64_t *)v.data;
        if (m->count) do {
                const int64_t at = ha_offset(x.rank, index, x.stride);
                m->place[i++] = x.offset + at;
                first[at] = x.offset + at;
            } while (advance(x.rank, x.extent, HA_ROW_MAJOR, index));
    }
    else fail();
    return x;
}

/* Through an access: every element is its place. */
static void expect_elements(const model *m, darray x) {
    int64_t index[HA_MOST_RANK] = {0}, shifted[HA_MOST_RANK] = {0};
    HA_READING(v, x, NULL) {
        const int64_t *data = (const int64_t *)v.span.data, *first = (const int64_t *)v.data;
        assert_true((int64_t)v.size == m->count);
        assert_true(v.span.rank == m->rank && v.span.type == HA_DTYPE_int64_t);
        if (!m->count) break;
        do {
            for (int d = 0; d < m->rank; d++) shifted[d] = index[d] + v.span.origin[d];
            const int64_t place = place_of(m, index);
            assert_true(data[ha_offset(m->rank, shifted, v.span.stride)] == place);
            assert_true(first[ha_offset(m->rank, index, v.span.stride)] == place);
        } while (advance(m->rank, m->extent, HA_ROW_MAJOR, index));
    }
    else fail();
    HA_WRITING(w, x, NULL) assert_false(darray_repeats(x));
    else assert_int_equal(w.status, HA_ERR_ARGUMENT);
    assert_true(ha_take_error().status == (darray_repeats(x) ? HA_ERR_ARGUMENT : HA_OK));
}

/* Views of views, until there is none. Returns how often a step was refused. */
static int run_chain(const model *whole, darray array, int length, int *counts) {
    model m = *whole;
    darray x = array;
    int refused = 0;
    for (int i = 0; i < length; i++) {
        made r;
        const int kind = (int)draw(KINDS);
        if (m.rank >= DEEPEST && steps[kind] == step_expand) continue;
        steps[kind](&m, x, &r);
        counts[kind]++;
        assert_int_equal(r.x.array != NULL, r.possible);
        assert_int_equal(ha_take_error().status, r.possible ? HA_OK : HA_ERR_ARGUMENT);
        refused += !r.possible;
        if (!r.possible) continue; /* from where it was */
        m = r.m;
        x = r.x;
        expect_same(&m, x);
    }
    if (!draw(8)) expect_elements(&m, x);
    return refused;
}

TEST(chains) {
    const char *few = getenv("HARRAY_FUZZ_OPS");
    const int chains = few ? atoi(few) : 100000;
    int counts[KINDS] = {0}, refused = 0;
    for (int i = 0; i < chains; i += 10) { /* several of one array */
        model m;
        random_state = (uint64_t)i;
        darray x = make_array(&m);
        expect_same(&m, x);
        expect_elements(&m, x);
        for (int j = 0; j < 10; j++) refused += run_chain(&m, x, (int)between(1, 8), counts);
        FINE(darray_free(&x));
    }
    for (int kind = 0; kind < KINDS; kind++) assert_true(counts[kind] > chains / 10);
    assert_true(refused > chains / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(chains)};
    int failed = cmocka_run_group_tests_name("chains of views", tests, NULL, NULL);
    return failed + (ha_shutdown() != HA_OK);
}
