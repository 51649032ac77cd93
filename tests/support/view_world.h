/* The world of ndarray/test_view_fuzz.c: contexts of several kinds, arrays of one to four
 * dimensions with one plain copy of their elements each, views, and the sets of elements that these
 * are about.
 *
 * The copy is all that there is to compare with: for each element of a storage a value, or that it was
 * never written, or that it counts as written while nobody knows its value. */
#ifndef HARRAY_TESTS_SUPPORT_VIEW_WORLD_H
#define HARRAY_TESTS_SUPPORT_VIEW_WORLD_H

#include "private_backend.h"
#include "invariants.h"

enum { WORLD_CONTEXTS = 6, WORLD_ARRAYS = 4, WORLD_MOST = 2048, WORLD_STEPS = 1500 };

typedef enum element_state { NEVER, UNDEFINED, KNOWN } element_state;

/* A set of the elements of a storage. */
typedef struct elements {
    unsigned char in[WORLD_MOST];
} elements;

typedef struct object {
    darray whole;     /* an owner; array NULL: none */
    uint32_t *memory; /* the caller's, where it is wrapped */
    size_t size;      /* of the storage */
    element_state state[WORLD_MOST];
    uint32_t value[WORLD_MOST];
} object;

/* A view; plain: made of parts and permutations alone, so that it is a box, and known to be one. */
typedef struct shown {
    darray v;
    int plain;
} shown;

static struct {
    uint64_t seed, random;
    uint32_t step;
    ha_context *context[WORLD_CONTEXTS];
    object object[WORLD_ARRAYS];
} world;

static uint32_t pick(uint32_t n) {
    world.random ^= world.random >> 12;
    world.random ^= world.random << 25;
    world.random ^= world.random >> 27;
    return (uint32_t)((world.random * UINT64_C(2685821657736338717) >> 32) * n >> 32);
}

static int64_t pick_between(int64_t low, int64_t high) {
    return low + (int64_t)pick((uint32_t)(high - low + 1));
}

#define MUST(condition, ...)                                                                       \
    do {                                                                                           \
        if (!(condition)) world_failed(__LINE__, __VA_ARGS__);                                     \
    } while (0)

__attribute__((format(printf, 2, 3), noreturn)) static void world_failed(int line,
                                                                         const char *format, ...) {
    va_list args;
    fprintf(stderr, "FAILED: seed %llu, step %u, line %d: ", (unsigned long long)world.seed,
            world.step, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n    %s\n", ha_take_error().text);
    abort();
}

static void expect(ha_status got, ha_status wanted, const char *what) {
    const ha_error e = ha_take_error();
    MUST(got == wanted, "%s: %s, not %s: %s", what, ha_status_name(got), ha_status_name(wanted),
         e.text);
    MUST(e.status == wanted, "%s: the error is %s", what, ha_status_name(e.status));
}

/* ---- sets of elements ----------------------------------------------------------------------- */

/* Adds the elements of a view; each is told to `visit` in turn, if that is given. */
typedef void visit_element(size_t at, uint64_t n, void *user);

static void walk(const darray *v, visit_element *visit, void *user) {
    int64_t index[HA_MOST_RANK] = {0}, at = v->offset;
    uint64_t n = 0;
    int d = 0;
    for (d = 0; d < v->rank; d++)
        if (!v->extent[d]) return;
    while (d >= 0) {
        visit((size_t)at, n++, user);
        for (d = v->rank - 1; d >= 0; d--) {
            at += v->stride[d];
            if (++index[d] < v->extent[d]) break;
            at -= v->extent[d] * v->stride[d];
            index[d] = 0;
        }
    }
}

static void add_element(size_t at, uint64_t n, void *user) {
    (void)n;
    MUST(at < WORLD_MOST, "a view reaches to %zu", at);
    ((elements *)user)->in[at] = 1;
}

static void elements_of(const darray *v, elements *e) {
    memset(e, 0, sizeof *e);
    walk(v, add_element, e);
}

/* Of a range of the engine's: a box from one corner to the other, where there is a grid. */
static void add_range(const ha_array *a, ha_range r, elements *e) {
    int64_t low[HA_MOST_RANK];
    darray box = {.rank = 0, .offset = (int64_t)r.first};
    size_t first = r.first, last = (r.last < a->size ? r.last : a->size) - 1;
    if (r.first >= r.last) return;
    for (int d = 0; a->grid && d < a->grid->rank; d++) {
        const size_t pitch = a->grid->pitch[d];
        low[d] = (int64_t)(first / pitch);
        box.extent[d] = (int64_t)(last / pitch) - low[d] + 1;
        box.stride[d] = (int64_t)pitch;
        first %= pitch;
        last %= pitch;
        box.rank++;
    }
    if (!a->grid) box = (darray){.rank = 1, .offset = (int64_t)first, .stride = {1}};
    if (!a->grid) box.extent[0] = (int64_t)(last - first + 1);
    walk(&box, add_element, e);
}

static void valid_at(const ha_array *a, const ha_context *c, elements *e) {
    ha_range list[256];
    const size_t n = ha_array_valid_ranges(a, c, list, 256);
    memset(e, 0, sizeof *e);
    MUST(n <= 256, "%zu valid ranges", n);
    for (size_t i = 0; i < n; i++) add_range(a, list[i], e);
}

static size_t count_of(const elements *e) {
    size_t n = 0;
    for (size_t i = 0; i < WORLD_MOST; i++) n += e->in[i];
    return n;
}

static int have_common(const elements *x, const elements *y) {
    for (size_t i = 0; i < WORLD_MOST; i++)
        if (x->in[i] & y->in[i]) return 1;
    return 0;
}

/* ---- arrays --------------------------------------------------------------------------------- */

static size_t storage_size(const object *o) { return ha_array_size(o->whole.array); }

static void forget_values(object *o) {
    memset(o->state, 0, sizeof o->state);
    memset(o->value, 0, sizeof o->value);
}

typedef struct filling {
    object *o;
    uint32_t seed;
} filling;

static void know_element(size_t at, uint64_t n, void *user) {
    const filling *f = (const filling *)user;
    f->o->state[at] = KNOWN;
    f->o->value[at] = f->seed + (uint32_t)n;
}

static void make_shape(ha_shape *shape) {
    *shape = (ha_shape){.rank = 1 + (int)pick(4),
                        .order = pick(3) ? HA_ROW_MAJOR : HA_COLUMN_MAJOR};
    const int ghosts = !pick(3), padded = !pick(3);
    for (int d = 0; d < shape->rank; d++) {
        shape->extent[d] = pick_between(1, shape->rank < 3 ? 9 : shape->rank < 4 ? 4 : 3);
        if (ghosts) shape->ghost_low[d] = pick_between(0, 1);
        if (ghosts) shape->ghost_high[d] = pick_between(0, 1);
        if (padded) shape->padding[d] = pick_between(0, 1);
    }
    if (!pick(4)) shape->alignment = 16;
}

/* Of the caller's memory, with gaps that must stay as they are. */
static void make_wrapped(object *o) {
    darray v = {.type = HA_DTYPE_uint32_t, .rank = 1 + (int)pick(3)};
    int64_t step = pick_between(1, 2);
    for (int d = v.rank; d-- > 0;) {
        v.extent[d] = pick_between(1, 6);
        v.stride[d] = step;
        step = step * v.extent[d] + pick_between(0, 2);
    }
    o->size = 1;
    for (int d = 0; d < v.rank; d++) o->size += (size_t)((v.extent[d] - 1) * v.stride[d]);
    o->memory = (uint32_t *)malloc(o->size * sizeof *o->memory);
    MUST(o->memory, "no memory");
    for (size_t i = 0; i < o->size; i++) o->memory[i] = 77000 + (uint32_t)i;
    const ha_wrapped piece = {o->memory, ha_host(), 0};
    v.array = ha_array_wrap(ha_dtype_to_type(v.type), o->size, &piece, 1);
    MUST(v.array, "not wrapped");
    expect(ha_array_grid(v.array, v.rank, v.extent, v.stride), HA_OK, "a grid");
    o->whole = v;
    for (size_t i = 0; i < o->size; i++) o->value[i] = o->memory[i];
    elements e;
    elements_of(&v, &e);
    for (size_t i = 0; i < o->size; i++) o->state[i] = e.in[i] ? KNOWN : NEVER;
}

static void make_array(object *o) {
    ha_shape shape;
    memset(o, 0, sizeof *o);
    make_shape(&shape);
    if (!pick(4)) {
        make_wrapped(o);
    } else if (pick(3)) {
        o->whole = darray_make(HA_DTYPE_uint32_t, &shape, world.context[pick(WORLD_CONTEXTS)]);
    } else {
        filling f = {o, 0};
        o->whole = darray_zeros(HA_DTYPE_uint32_t, shape.rank, shape.extent,
                                world.context[pick(WORLD_CONTEXTS)]);
        MUST(o->whole.array, "no array");
        walk(&o->whole, know_element, &f);
        memset(o->value, 0, sizeof o->value);
    }
    MUST(o->whole.array, "no array");
    o->size = storage_size(o);
    MUST(o->size <= WORLD_MOST, "%zu elements", o->size);
}

/* The caller gets the values back, and what lies between them is untouched. */
static void free_array(object *o) {
    ha_array *a = o->whole.array;
    expect(ha_array_free(a), HA_OK, "free");
    o->whole.array = NULL;
    for (size_t i = 0; o->memory && i < o->size; i++) {
        elements e;
        elements_of(&o->whole, &e);
        MUST(e.in[i] ? o->state[i] != KNOWN || o->memory[i] == o->value[i]
                     : o->memory[i] == 77000 + (uint32_t)i,
             "the caller's element %zu is %u", i, o->memory[i]);
    }
    free(o->memory);
    o->memory = NULL;
}

/* ---- views ---------------------------------------------------------------------------------- */

static void cut(shown *s) {
    const int d = (int)pick((uint32_t)s->v.rank);
    const int64_t low = s->v.origin[d], n = s->v.extent[d];
    const int64_t first = pick_between(low, low + n), last = pick_between(first, low + n);
    const int64_t step = pick(3) ? 1 : pick_between(2, 3);
    if (first == last && pick(8)) return;
    if (pick(3) || first == last)
        s->v = darray_slice(s->v, d, first, last, step);
    else
        s->v = darray_slice(s->v, d, last - 1, first - 1, -step);
    s->plain &= step == 1;
}

static void cut_all(shown *s) {
    int64_t low[HA_MOST_RANK], high[HA_MOST_RANK];
    for (int d = 0; d < s->v.rank; d++) {
        const int64_t first = s->v.origin[d], end = first + s->v.extent[d];
        if (first == end) return;
        low[d] = pick_between(first, end - 1);
        high[d] = pick(3) ? pick_between(low[d] + 1, end) : HA_ALL;
        if (!pick(3)) low[d] = high[d] = HA_ALL;
    }
    s->v = darray_part(s->v, low, high);
}

static void shuffle(shown *s) {
    int64_t order[HA_MOST_RANK];
    for (int d = 0; d < s->v.rank; d++) order[d] = d;
    for (int d = s->v.rank; d-- > 1;) {
        const int other = (int)pick((uint32_t)d + 1);
        const int64_t was = order[d];
        order[d] = order[other];
        order[other] = was;
    }
    s->v = darray_permute(s->v, order);
}

/* Where it can be seen so without a copy. */
static void reshape(shown *s) {
    const int64_t n = darray_size(s->v);
    int64_t extent[] = {1, n};
    for (int64_t k = 2; k <= n; k++)
        if (n % k == 0 && pick(2)) extent[0] = k;
    extent[1] = n ? n / extent[0] : 0;
    const darray v = darray_reshape(s->v, 2, extent);
    (void)ha_take_error();
    if (!v.array) return;
    s->v = v;
    s->plain = 0;
}

static void spread(shown *s) {
    int64_t extent[HA_MOST_RANK];
    if (s->v.rank > 3 || !darray_size(s->v)) return;
    extent[0] = 2;
    for (int d = 0; d < s->v.rank; d++) extent[d + 1] = s->v.extent[d];
    s->v = darray_broadcast(s->v, s->v.rank + 1, extent);
}

static void change_view(shown *s) {
    const uint32_t kind = pick(32);
    if (!s->v.rank) return;
    const int d = (int)pick((uint32_t)s->v.rank);
    if (kind < 10)
        cut(s);
    else if (kind < 16)
        cut_all(s);
    else if (kind < 21 && s->v.extent[d])
        s->v = darray_fix(s->v, d,
                          pick_between(s->v.origin[d], s->v.origin[d] + s->v.extent[d] - 1));
    else if (kind < 24)
        shuffle(s);
    else if (kind < 26)
        s->v = darray_flip(s->v, d);
    else if (kind < 28 && s->v.rank > 1) {
        s->v = darray_diagonal(s->v, 0, 1, 0);
        s->plain = 0;
    } else if (kind < 31)
        reshape(s);
    else
        spread(s);
}

static shown pick_view(const object *o) {
    shown s = {o->whole, 1};
    for (uint32_t n = pick(5); n > 0; n--) change_view(&s);
    MUST(s.v.array, "a view was refused");
    MUST(!ha_take_error().status, "an error without a reason");
    return s;
}

/* Whether it has elements in some box, or range. */
static void check_hits(const darray *v, const elements *own) {
    const ha_array *a = v->array;
    const size_t i = pick((uint32_t)a->size), k = pick((uint32_t)a->size);
    elements box = {{0}};
    ha_range r = {i, i + 1};
    if (a->grid && (!ha_is_on_grid(a->grid, i) || !ha_is_on_grid(a->grid, k))) return;
    r = ha_around(a->grid, r, (ha_range){k, k + 1});
    add_range(a, r, &box);
    MUST(have_common(own, &box) == ha_view_hits(a->grid, v, r), "hits [%zu, %zu)", r.first, r.last);
}

/* What a view locks: all of it; of a plain one nothing else, and what is said to be exact is. */
static int cover_of(const shown *s, ha_range *range, elements *locked) {
    elements own;
    const ha_array *a = s->v.array;
    const int exact = ha_view_cover(a->grid, &s->v, range);
    elements_of(&s->v, &own);
    memset(locked, 0, sizeof *locked);
    add_range(a, *range, locked);
    for (size_t i = 0; i < WORLD_MOST; i++)
        MUST(locked->in[i] >= own.in[i], "element %zu of a view is not covered", i);
    if (s->plain && !darray_repeats(s->v)) MUST(exact, "a box is not known to be one");
    if (exact) MUST(count_of(&own) == count_of(locked), "a cover is not exact");
    check_hits(&s->v, &own);
    return exact;
}

/* ---- begin, end ----------------------------------------------------------------------------- */

static void world_begin(uint64_t seed) {
    memset(&world, 0, sizeof world);
    world.seed = seed;
    views_of_lines = 1;
    world.random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    const ha_sim_options options = {.peers = (int)pick(2)};
    expect(ha_sim_configure(&options), HA_OK, "options");
    expect(ha_backend_register(&private_backend), HA_OK, "register");
    world.context[0] = ha_host();
    world.context[1] = ha_context_find("sim:0");
    world.context[2] = ha_context_find("sim:1");
    world.context[3] = ha_context_find("private:0");
    world.context[4] = ha_context_fork(world.context[3]);
    world.context[5] = ha_context_fork(world.context[1]);
    for (int i = 0; i < WORLD_CONTEXTS; i++) MUST(world.context[i], "no context %d", i);
    for (int i = 0; i < WORLD_ARRAYS; i++) make_array(&world.object[i]);
}

static void world_check(void) {
    ha_array *list[WORLD_ARRAYS];
    for (int i = 0; i < WORLD_ARRAYS; i++) list[i] = world.object[i].whole.array;
    check_ledger(list, WORLD_ARRAYS);
}

static void world_end(void) {
    for (int i = 0; i < WORLD_ARRAYS; i++) free_array(&world.object[i]);
    check_ledger(NULL, 0);
    expect(ha_shutdown(), HA_OK, "shutdown");
}

#endif
