/* Random work on views of arrays of several dimensions, by one thread, against one plain copy of each
 * array: what every read finds, which openings are refused and why, and how much is moved.
 *
 *     test_view_fuzz [SEED]     one world of that seed
 *     HARRAY_FUZZ_OPS=n         steps, instead of 100,000 (HARRAY_TEST_LONG=1: two millions)
 *     HARRAY_SEED=n             the first seed; a failure prints its own */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "../support/view_expect.h"

/* ---- steps ---------------------------------------------------------------------------------- */

static object *pick_object(void) { return &world.object[pick(WORLD_ARRAYS)]; }

static void pick_opening(opened *x) {
    static const unsigned ways[] = {HA_READ, HA_READ, HA_READ, HA_WRITE, HA_WRITE, HA_OVERWRITE};
    memset(x, 0, sizeof *x);
    x->o = pick_object();
    x->s = pick_view(x->o);
    x->how = x->mode = ways[pick(6)];
    x->context = world.context[pick(WORLD_CONTEXTS)];
    elements_of(&x->s.v, &x->own);
    const int exact = cover_of(&x->s, &x->range, &x->locked);
    if (x->how == HA_OVERWRITE && !exact) x->mode = HA_WRITE;
}

static opened *free_place(void) {
    for (int i = 0; i < OPEN_MOST; i++)
        if (!open_list[i].o) return &open_list[i];
    return NULL;
}

static void use(const opened *x) {
    if (x->mode == HA_READ || !pick(3))
        read_view(x);
    else
        write_view(x);
}

static void close_access(opened *x) {
    if (x->o && x->mode != HA_READ && pick(4)) write_view(x);
    expect(ha_close(&x->access), HA_OK, "close");
    x->o = NULL;
}

static void step_open(void) {
    opened *x = free_place(), o;
    if (!x) return;
    pick_opening(&o);
    const ha_status wanted = expect_opening(&o);
    const toll t = toll_of(&o);
    const uint64_t before = bytes_moved(o.o);
    ha_status s = ha_view_check_opened(&o.s.v, o.how, "test", HA_SITE);
    if (!s) s = ha_open_darray(&o.access, &o.s.v, o.context, o.how, "test", HA_SITE);
    expect(s, wanted, "open");
    if (wanted) return;
    check_toll(&o, t, before);
    check_access(&o);
    apply(&o);
    *x = o;
    use(x);
    if (pick(2)) close_access(x);
}

static void step_use(void) {
    opened *x = &open_list[pick(OPEN_MOST)];
    if (x->o && !pick(6)) expect(ha_wait(&x->access), HA_OK, "wait");
    if (x->o) use(x);
}

/* Where a part of what is between the elements was never written, it is ready all the same. */
static void step_anywhere(void) {
    opened x;
    pick_opening(&x);
    x.how = x.mode = HA_READ;
    const ha_status wanted = expect_opening(&x);
    expect(ha_read_darray_anywhere(&x.access, &x.s.v, x.context, "test", HA_SITE), wanted,
           "anywhere");
    if (wanted) return;
    x.context = x.access.context;
    check_access(&x);
    read_view(&x);
    expect(ha_close(&x.access), HA_OK, "close");
}

static void step_close(void) {
    opened *x = &open_list[pick(OPEN_MOST)];
    if (x->o) close_access(x);
}

/* Elements one behind the other in memory, which lock the smallest box that has all of them. */
static void step_line(void) {
    static const unsigned ways[] = {HA_READ, HA_READ, HA_READ, HA_WRITE, HA_OVERWRITE};
    opened x = {.o = pick_object(), .mode = ways[pick(5)]};
    const ha_array *a = x.o->whole.array;
    elements all = {{0}}; /* rows may begin with some that are aligned away */
    add_range(a, (ha_range){0, x.o->size}, &all);
    const size_t first = pick((uint32_t)x.o->size);
    const size_t last = first + 1 + pick((uint32_t)(x.o->size - first));
    x.how = x.mode;
    x.context = world.context[pick(WORLD_CONTEXTS)];
    x.s.v = (darray){
        .rank = 1, .offset = (int64_t)first, .extent = {(int64_t)(last - first)}, .stride = {1}};
    elements_of(&x.s.v, &x.own);
    if (!all.in[first] || !all.in[last - 1]) return; /* perhaps not on the grid */
    for (size_t i = 0; i < WORLD_MOST; i++) x.own.in[i] &= all.in[i];
    x.range = a->grid ? ha_grid_around(a->grid, first, last - 1) : (ha_range){first, last};
    add_range(a, x.range, &x.locked);
    for (size_t i = 0; i < WORLD_MOST; i++) MUST(x.locked.in[i] >= x.own.in[i], "not covered");
    if (x.how == HA_OVERWRITE && count_of(&x.own) != count_of(&x.locked)) x.mode = HA_WRITE;
    const ha_status wanted = expect_opening(&x);
    const toll t = toll_of(&x);
    const uint64_t before = bytes_moved(x.o);
    ha_request request = {.access = &x.access,
                          .array = x.o->whole.array,
                          .context = x.context,
                          .how = x.how,
                          .first = first,
                          .last = last};
    if (pick(2))
        expect(ha_open(&x.access, x.o->whole.array, x.context, x.how, first, last), wanted, "line");
    else
        expect(ha_open_many(&request, 1), wanted, "one of many");
    if (wanted) return;
    check_toll(&x, t, before);
    apply(&x);
    MUST(x.access.size == last - first && x.access.first == first, "another range");
    expect(ha_close(&x.access), HA_OK, "close");
}

static void step_prefetch(void) {
    opened x;
    pick_opening(&x);
    x.mode = HA_READ;
    ha_status wanted = HA_OK;
    for (int i = 0; i < OPEN_MOST; i++)
        if (open_list[i].o && conflicts_with(&x, &open_list[i])) wanted = HA_ERR_CONFLICT;
    const toll t = toll_of(&x);
    const uint64_t before = bytes_moved(x.o);
    expect(ha_prefetch_darray(&x.s.v, x.context, HA_SITE), wanted, "prefetch");
    if (!wanted) check_toll(&x, t, before);
}

/* ---- several at once ------------------------------------------------------------------------ */

static int comes_before(const opened *x, const opened *y) {
    const uintptr_t a = (uintptr_t)x->o->whole.array, b = (uintptr_t)y->o->whole.array;
    if (a != b) return a < b;
    return x->mode == HA_READ && y->mode != HA_READ;
}

/* x[first … end) are of one array: all are admitted, then looked at. */
static ha_status expect_group(const opened *x, const int *order, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        if (conflicts(&x[order[i]])) return HA_ERR_CONFLICT;
        for (size_t k = first; k < i; k++)
            if (conflicts_with(&x[order[i]], &x[order[k]])) return HA_ERR_CONFLICT;
    }
    for (size_t i = first; i < end; i++)
        if (x[order[i]].mode == HA_READ && !is_written(&x[order[i]])) return HA_ERR_STATE;
    return HA_OK;
}

static ha_status expect_many(const opened *x, const int *order, size_t count) {
    ha_status s = HA_OK;
    for (size_t i = 0; i < count; i++)
        if (is_refused(&x[i])) return HA_ERR_ARGUMENT;
    for (size_t first = 0, end; first < count && !s; first = end) {
        for (end = first + 1; end < count && x[order[end]].o == x[order[first]].o;) end++;
        s = expect_group(x, order, first, end);
    }
    return s;
}

static void step_many(void) {
    opened x[MANY_MOST];
    ha_request list[MANY_MOST];
    int order[MANY_MOST];
    const size_t count = 2 + pick(MANY_MOST - 1);
    for (size_t i = 0; i < count; i++) {
        pick_opening(&x[i]);
        list[i] = (ha_request){
            .access = &x[i].access, .context = x[i].context, .how = x[i].how, .view = &x[i].s.v};
        size_t k = i;
        for (; k > 0 && comes_before(&x[i], &x[order[k - 1]]); k--) order[k] = order[k - 1];
        order[k] = (int)i;
    }
    const ha_status wanted = expect_many(x, order, count);
    expect(ha_open_many(list, count), wanted, "many");
    if (wanted) return;
    for (size_t i = 0; i < count; i++) check_access(&x[i]);
    for (size_t i = 0; i < count; i++) apply(&x[order[i]]);
    for (size_t i = 0; i < count; i++) {
        opened *place = free_place();
        if (place) *place = x[i];
        use(&x[i]);
        if (!place) close_access(&x[i]);
    }
}

/* ---- arrays as a whole ---------------------------------------------------------------------- */

static int is_open(const object *o, int writes) {
    for (int i = 0; i < OPEN_MOST; i++)
        if (open_list[i].o == o && (!writes || open_list[i].mode != HA_READ) &&
            open_list[i].access.size)
            return 1;
    return 0;
}

static int has_any_open(const object *o) {
    for (int i = 0; i < OPEN_MOST; i++)
        if (open_list[i].o == o) return 1;
    return 0;
}

static void step_clear(void) {
    object *o = pick_object();
    const ha_status wanted = has_any_open(o) ? HA_ERR_CONFLICT : HA_OK;
    if (!o->whole.array->grid || o->memory) return; /* another size; the caller's values */
    expect(ha_array_clear(o->whole.array), wanted, "clear");
    if (!wanted) forget_values(o);
}

static void step_refused(void) {
    object *o = pick_object();
    ha_array *a = o->whole.array;
    const ha_type type = ha_dtype_to_type(HA_DTYPE_uint32_t);
    if (!a->grid || has_any_open(o)) return;
    const ha_error none = ha_take_error();
    MUST(!none.status, "an error is left");
    const ha_status s = ha_array_resize(a, o->size + 1), wanted = s;
    MUST(s, "resized");
    expect(s, wanted, "resize");
    ha_array *other = ha_array_new(type, o->size, ha_host());
    MUST(other, "no array");
    expect(ha_array_swap(a, other), HA_ERR_ARGUMENT, "swap");
    expect(ha_array_take(other, a), HA_ERR_ARGUMENT, "take");
    expect(ha_array_assign(a, other), HA_ERR_ARGUMENT, "assign");
    expect(ha_array_free(other), HA_OK, "free");
}

static void check_copy(object *o, ha_array *copy) {
    object of = *o;
    opened x = {.o = &of, .s = {o->whole, 1}, .context = world.context[pick(WORLD_CONTEXTS)]};
    x.s.v.array = copy;
    MUST(ha_array_size(copy) == o->size, "a copy has another size");
    MUST(ha_grids_equal(copy->grid, o->whole.array->grid), "a copy has another grid");
    elements_of(&x.s.v, &x.own);
    const ha_status wanted = is_written(&x) ? HA_OK : HA_ERR_STATE;
    expect(ha_open_darray(&x.access, &x.s.v, x.context, HA_READ, "test", HA_SITE), wanted, "copy");
    if (wanted) return;
    read_view(&x);
    expect(ha_close(&x.access), HA_OK, "close");
}

static void step_copy(void) {
    object *o = pick_object();
    ha_array *copy = ha_array_copy(o->whole.array);
    if (is_open(o, 1)) {
        MUST(!copy, "copied while it is written");
        MUST(ha_take_error().status == HA_ERR_CONFLICT, "another error");
        return;
    }
    MUST(copy, "not copied");
    check_copy(o, copy);
    check_quiet(copy);
    if (o->whole.array->grid && !o->memory && !has_any_open(o) && pick(2))
        expect(ha_array_swap(o->whole.array, copy), HA_OK, "swap");
    expect(ha_array_free(copy), HA_OK, "free");
}

static void step_element(void) {
    object *o = pick_object();
    elements all;
    opened x = {.o = o};
    uint32_t value = 0;
    const size_t i = pick((uint32_t)o->size);
    elements_of(&o->whole, &all);
    if (!all.in[i]) return;
    x.own.in[i] = x.locked.in[i] = 1;
    x.mode = pick(2) ? HA_READ : HA_OVERWRITE;
    for (int k = 0; k < OPEN_MOST; k++)
        if (open_list[k].o == o && open_list[k].locked.in[i] &&
            (x.mode != HA_READ || open_list[k].mode != HA_READ))
            return;
    if (x.mode == HA_READ) {
        expect(ha_array_get(o->whole.array, i, &value), is_written(&x) ? HA_OK : HA_ERR_STATE,
               "get");
        MUST(o->state[i] != KNOWN || value == o->value[i], "element %zu is %u", i, value);
    } else {
        value = pick(1 << 30);
        expect(ha_array_set(o->whole.array, i, &value), HA_OK, "set");
        o->state[i] = KNOWN;
        o->value[i] = value;
    }
}

static void step_renew(void) {
    object *o = pick_object();
    if (has_any_open(o)) return;
    free_array(o);
    make_array(o);
}

static void step_look(void) {
    look_at_readings();
    world_check();
}

/* ---- worlds --------------------------------------------------------------------------------- */

typedef struct step_kind {
    void (*run)(void);
    uint32_t weight;
} step_kind;

static const step_kind kinds[] = {
    {step_open, 50}, {step_use, 20},  {step_close, 25},   {step_line, 6}, {step_prefetch, 6},
    {step_many, 10}, {step_clear, 1}, {step_refused, 1},  {step_copy, 2}, {step_element, 8},
    {step_renew, 2}, {step_look, 2},  {step_anywhere, 6},
};

static void run_step(void) {
    uint32_t sum = 0, i = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) sum += kinds[k].weight;
    uint32_t n = pick(sum);
    while (n >= kinds[i].weight) n -= kinds[i++].weight;
    kinds[i].run();
    for (int k = 0; k < WORLD_ARRAYS; k++) check_quiet(world.object[k].whole.array);
    MUST(!ha_take_error().status, "an error is left");
}

static void run_world(uint64_t seed, uint32_t steps) {
    world_begin(seed);
    for (world.step = 1; world.step <= steps; world.step++) run_step();
    for (int i = 0; i < OPEN_MOST; i++)
        if (open_list[i].o) close_access(&open_list[i]);
    look_at_readings();
    world_end();
}

static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static uint64_t only; /* this seed; 0: all */

static void random_views(HA_UNUSED void **state) {
    const uint64_t usual = getenv("HARRAY_TEST_LONG") ? 2000000 : 100000;
    const uint64_t wanted = from_environment("HARRAY_FUZZ_OPS", usual);
    uint64_t seed = from_environment("HARRAY_SEED", 1);
    if (only) run_world(only, WORLD_STEPS);
    for (uint64_t done = 0; done < wanted && !only; done += WORLD_STEPS)
        run_world(seed++, WORLD_STEPS);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_views)};
    if (argc > 1) only = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests_name("views", tests, NULL, NULL);
}
