/* The steps of a script. Each picks what to do, says by the model what must come of it, does it,
 * and compares. A step that the rules would make wait for another thread is not done, or tried with
 * HA_TRY: there is one real thread. */
#ifndef HARRAY_TESTS_SCHEDULES_MODEL_STEPS_H
#define HARRAY_TESTS_SCHEDULES_MODEL_STEPS_H

#include "model_world.h"

/* What kind of script it is. */
static struct {
    uint32_t elsewhere; /* one in so many openings is anywhere; the others are on [1, near] */
    uint32_t near;
    int small; /* mostly one array, in ranges of one or two elements */
} taste;

/* The call's status, and the error it has recorded, are as they should be. */
static void expect(ha_status got, ha_status wanted) {
    const ha_error error = ha_take_error();
    note(" -> %s (%u)", ha_status_name(got), hb.step);
    if (got != wanted)
        model_fail("step %u: %s instead of %s: %s", hb.step, ha_status_name(got),
                   ha_status_name(wanted), error.text);
    else if (error.status != (wanted == HA_ERR_BUSY ? HA_OK : wanted))
        model_fail("step %u: the error recorded is %s: %s", hb.step, ha_status_name(error.status),
                   error.text);
}

/* ---- picking ------------------------------------------------------------------------------- */

/* In the middle of another step's call, only what does not wait for it. */
static int is_usable(const model_array *a) {
    return a->array != NULL && !a->reserved && !(model.nested && a->array->busy);
}

/* NULL: there is none. */
static model_array *pick_array(void) {
    const uint32_t first = taste.small && pick(10) ? 0 : pick(MODEL_ARRAYS);
    for (uint32_t i = 0; i < MODEL_ARRAYS; i++) {
        model_array *a = &model.array[(first + i) % MODEL_ARRAYS];
        if (is_usable(a)) return a;
    }
    return NULL;
}

static int array_index(const model_array *a) { return (int)(a - model.array); }

static int pick_context(void) {
    if (taste.near == 0 || pick_one_in(taste.elsewhere)) return (int)pick((uint32_t)model.contexts);
    return (int)(1 + pick(taste.near));
}

/* An open access of the current thread; NULL: it has none. */
static model_access *pick_access(void) {
    const uint32_t first = pick(MODEL_ACCESSES);
    for (uint32_t i = 0; i < MODEL_ACCESSES; i++) {
        model_access *x = &model.access[(first + i) % MODEL_ACCESSES];
        if (x->progress == OPEN && x->thread == model.current && !model.array[x->array].reserved)
            return x;
    }
    return NULL;
}

static model_access *free_access(void) {
    for (int i = 0; i < MODEL_ACCESSES; i++)
        if (model.access[i].progress == CLOSED) return &model.access[i];
    return NULL;
}

/* Small ones are more frequent: with a block that is large already, nothing grows. */
static size_t pick_size(void) { return taste.small ? MODEL_MOST : pick(1 + pick(MODEL_MOST + 1)); }

/* For resizing: often just a little more than there is. */
static size_t pick_new_size(size_t size) {
    const size_t more = size + 1 + pick(6);
    return pick(2) && more <= MODEL_MOST ? more : pick_size();
}

/* Inside `size` elements; empty ones, too. */
static ha_range pick_inside(size_t size) {
    const size_t first = pick((uint32_t)size + 1), rest = size - first;
    const size_t most = taste.small && rest > 2 ? 2 : rest;
    return (ha_range){first, first + pick((uint32_t)most + 1)};
}

static ha_range pick_range(const model_array *a) {
    const size_t size = a->is.size;
    const uint32_t kind = pick(taste.small ? 64 : 8);
    if (kind == 0) return (ha_range){pick((uint32_t)size + 1), HA_END};
    if (kind < 4) return (ha_range){0, HA_END};
    if (kind == 4 && pick_one_in(8) && !is_held(array_index(a))) /* not inside the array */
        return pick(2) ? (ha_range){size + 1, size + 1} : (ha_range){1, 0};
    return pick_inside(size);
}

static void note_range(ha_range r) {
    if (r.last == HA_END)
        note(" [%zu, end)", r.first);
    else
        note(" [%zu, %zu)", r.first, r.last);
}

/* ---- opening and closing ------------------------------------------------------------------- */

/* Where a block that is too short is in use, often more than it has is asked for. */
static void prefer_beyond_short(model_opening *o) {
    for (int i = 0; i < MODEL_ACCESSES; i++) {
        const model_access *x = &model.access[i];
        const model_array *a = &model.array[x->array];
        if (x->progress < OPEN || !is_usable(a)) continue;
        const int memory = model.context[x->context].memory;
        if (!is_short_in_use(a, memory) || !pick_one_in(4)) continue;
        o->array = x->array;
        o->context = x->context;
        if (!o->sets_size) o->locked = (ha_range){capacity_in(a, memory), HA_END};
    }
}

static int pick_opening(model_opening *o) {
    const model_array *a = pick_array();
    if (a == NULL) return 0;
    *o = (model_opening){.array = array_index(a), .context = pick_context(), .mode = pick(3)};
    o->sets_size = o->mode == HA_OVERWRITE && pick(2);
    if (o->sets_size) o->size = pick(2) ? a->is.size : pick_size();
    o->locked = o->sets_size ? HA_WHOLE_ : pick_range(a);
    prefer_beyond_short(o);
    return 1;
}

static void note_opening(const model_opening *o, unsigned trying) {
    static const char *const modes[] = {"read", "write", "overwrite"};
    note("%s %s array %d", trying ? "try" : "open", modes[o->mode], o->array);
    if (o->sets_size)
        note(" with %zu elements", o->size);
    else
        note_range(o->locked);
    note(" at %s", context_name(o->context));
}

/* Only the host has to wait when it uses what devices are working on. */
static void opening_may_wait(const model_opening *o) {
    const model_array *a = &model.array[o->array];
    const size_t capacity = ha_array_capacity(a->array, ha_host());
    if (o->context == 0 || (capacity > 0 && capacity < a->is.size)) world_may_wait();
}

static void check_access(const model_access *x) {
    const ha_access *v = &x->access;
    const size_t n = x->range.last - x->range.first;
    if (v->size != n || v->first != x->range.first || (v->data == NULL) != (n == 0) ||
        v->array != model.array[x->array].array || v->status != HA_OK ||
        v->context != model.context[x->context].context)
        model_fail("step %u: the access is not what was asked for", hb.step);
}

static model_access model_access_of(const model_opening *o, model_progress progress) {
    return (model_access){.progress = progress,
                          .array = o->array,
                          .context = o->context,
                          .thread = model.current,
                          .writes = o->mode != HA_READ,
                          .locked = o->locked,
                          .range = opening_range(o)};
}

/* The holder is in place while the library prepares: other threads' steps come in between. Not on
 * an array that gets another size, though: until it has, they would see the old one. */
static void open_access(model_access *x, const model_opening *o, ha_status wanted,
                        unsigned trying) {
    ha_array *array = model.array[o->array].array;
    ha_context *context = model.context[o->context].context;
    ha_status got;
    const int admitted = wanted != HA_ERR_CONFLICT && wanted != HA_ERR_BUSY;
    *x = model_access_of(o, admitted ? OPENING : CLOSED);
    if (wanted == HA_OK) apply_opening(o);
    model.array[o->array].reserved = o->sets_size;
    if (o->sets_size)
        got = ha_overwrite(&x->access, array, context, o->size, trying);
    else
        got = ha_open(&x->access, array, context, o->mode | trying, o->locked.first,
                      o->locked.last);
    model.array[o->array].reserved = 0;
    x->progress = got == HA_OK ? OPEN : CLOSED;
    expect(got, wanted);
    if (got == HA_OK) check_access(x);
}

static void step_open(void) {
    model_access *x = free_access();
    model_opening o;
    if (x == NULL || !pick_opening(&o)) return;
    const ha_status wanted = expect_opening(&o);
    const unsigned trying = wanted == HA_ERR_BUSY || pick(2) ? HA_TRY : HA_WAIT;
    note_opening(&o, trying);
    opening_may_wait(&o);
    open_access(x, &o, wanted, trying);
}

/* ---- openings that fail -------------------------------------------------------------------- */

static void adopt_element(model_array *a, size_t i) {
    int valid = 0;
    for (int m = 0; m < model.memories; m++) {
        const ha_context *c = model.context[memory_context(m)].context;
        a->is.valid[m][i] = (char)ha_array_valid(a->array, c, i, i + 1);
        valid |= a->is.valid[m][i];
    }
    if (!valid) model_fail("step %u: element %zu is lost", hb.step, i);
}

/* What was staged on the host on the way to a failure may stay there. When other threads came to
 * use what the opening brought, that may stay, too. */
static void adopt_valid(model_array *a, int disturbed) {
    for (size_t i = 0; i < a->is.size; i++) {
        if (!is_valid_anywhere(&a->is, i)) continue;
        if (disturbed)
            adopt_element(a, i);
        else if (ha_array_valid(a->array, ha_host(), i, i + 1))
            a->is.valid[0][i] = 1;
    }
}

/* An opening that found no memory on the host went past it in chunks, which leave nothing valid
 * there. */
static void adopt_host(model_array *a) {
    for (size_t i = 0; i < a->is.size; i++) {
        if (!a->is.valid[0][i] || ha_array_valid(a->array, ha_host(), i, i + 1)) continue;
        a->is.valid[0][i] = 0;
        if (!is_valid_anywhere(&a->is, i)) model_fail("step %u: element %zu is lost", hb.step, i);
    }
}

/* The opening itself or a prefetch. */
static ha_status open_or_prefetch(model_access *x, const model_opening *o, int prefetch) {
    ha_array *array = model.array[o->array].array;
    ha_context *context = model.context[o->context].context;
    if (prefetch) return ha_array_prefetch(array, context, o->locked.first, o->locked.last);
    if (o->sets_size) return ha_overwrite(&x->access, array, context, o->size, HA_WAIT);
    return ha_open(&x->access, array, context, o->mode, o->locked.first, o->locked.last);
}

/* All memories are full, or one call of the backend fails, if there are so many. */
static void choose_failure(void) {
    order_full = (int)pick(2);
    order_fail_in = order_full ? 0 : 1 + (int)pick(6);
    if (order_full)
        note("without memory: ");
    else
        note("call %d fails: ", order_fail_in);
}

static ha_status open_and_fail(model_access *x, const model_opening *o, int prefetch, int *failed) {
    model_array *a = &model.array[o->array];
    a->reserved = o->sets_size;
    choose_failure();
    if (prefetch) note("as a prefetch, ");
    note_opening(o, 0);
    const ha_status got = open_or_prefetch(x, o, prefetch);
    *failed = order_fail_in == 0;
    order_full = order_fail_in = 0;
    a->reserved = 0;
    expect(got, !*failed || got == HA_OK || got == HA_ERR_MEMORY ? got : HA_ERR_BACKEND);
    if (!*failed && got != HA_OK) model_fail("step %u: nothing has failed", hb.step);
    return got;
}

/* A block that is too short for the array may serve what lies inside of it: so often that is asked for. */
static void prefer_inside_short(model_opening *o) {
    const model_array *a = &model.array[o->array];
    const size_t capacity = capacity_in(a, model.context[o->context].memory);
    if (!o->sets_size && capacity < a->is.size && pick(2)) o->locked = pick_inside(capacity);
}

/* When the opening fails, nothing has changed. */
static void step_failing_open(void) {
    const uint32_t step = model.steps;
    model_access *x = free_access();
    model_opening o;
    int failed = 0;
    if (model.sim || x == NULL || !pick_opening(&o)) return;
    prefer_inside_short(&o);
    if (expect_opening(&o) != HA_OK) return;
    const int prefetch = o.mode == HA_READ && pick(2);
    *x = model_access_of(&o, OPENING);
    const ha_status got = open_and_fail(x, &o, prefetch, &failed);
    x->progress = got == HA_OK && !prefetch ? OPEN : CLOSED;
    if (got == HA_OK) apply_opening(&o);
    if (got == HA_OK && failed && o.context != 0) adopt_host(&model.array[o.array]);
    if (got != HA_OK) adopt_valid(&model.array[o.array], model.steps != step);
    if (x->progress == OPEN) check_access(x);
}

/* ---- closing ------------------------------------------------------------------------------- */

static void note_access(const model_access *x) {
    note(" array %d", x->array);
    note_range(x->locked);
    note(" at %s", context_name(x->context));
}

static void close_access(model_access *x) {
    note("close");
    note_access(x);
    expect(ha_close(&x->access), HA_OK);
    x->progress = CLOSED;
    if (x->access.array != NULL || x->access.data != NULL) model_fail("closed, but not zeroed");
}

static void step_close(void) {
    model_access *x = pick_access();
    if (x == NULL) return;
    close_access(x);
    if (!pick_one_in(16)) return;
    note(", and again");
    expect(ha_close(&x->access), HA_ERR_STATE);
}

/* By a thread that does not hold it. */
static void step_close_foreign(void) {
    const int me = model.current;
    model_access *x = pick_access();
    if (x == NULL) return;
    model_become((me + 1) % MODEL_THREADS);
    note("close another thread's");
    note_access(x);
    expect(ha_close(&x->access), HA_ERR_STATE);
    model_become(me);
}

/* Whether another access of the array overlaps and one of the two writes: y = f(y). */
static int has_alias(const model_access *x) {
    for (int i = 0; i < MODEL_ACCESSES; i++) {
        const model_access *y = &model.access[i];
        if (y == x || y->progress == CLOSED || y->array != x->array) continue;
        if ((x->writes || y->writes) && ranges_meet(x->locked, y->locked)) return 1;
    }
    return 0;
}

static void step_move(void) {
    const int me = model.current, other = (me + 1) % MODEL_THREADS;
    model_access *x = pick_access();
    ha_access moved;
    if (x == NULL || model.nested || has_alias(x)) return;
    note("to thread %d moves", other);
    note_access(x);
    model_become(other);
    expect(ha_move(&moved, &x->access), HA_OK);
    model_become(me);
    if (x->access.array != NULL) model_fail("moved, but still open");
    x->access = moved;
    x->thread = other;
    check_access(x);
}

/* ---- using --------------------------------------------------------------------------------- */

static uint32_t *access_element(const model_access *x, size_t index) {
    return (uint32_t *)x->access.data + (index - x->range.first);
}

/* Another access of this thread there, to read [first, first + n) of its array from; NULL: none. */
static model_access *pick_source(const model_access *x, size_t *first, uint32_t n) {
    model_access *y = pick_access();
    if (y == NULL || y == x || y->context != x->context) return NULL;
    if (y->array != x->array) *first = y->range.first;
    return *first >= y->range.first && *first + n <= y->range.last ? y : NULL;
}

static void note_use(const model_access *x, size_t first, const kernel *k) {
    note("%s%s [%zu, %zu) of", k->from != NULL ? "read" : "", k->to != NULL ? "write" : "", first,
         first + k->n);
    note_access(x);
}

static void use_access(model_access *x) {
    kernel k = {.n = 0};
    model_contents *is = &model.array[x->array].is;
    const size_t offset = pick((uint32_t)x->access.size), first = x->range.first + offset;
    k.n = 1 + pick((uint32_t)(x->access.size - offset));
    size_t from = first;
    const uint32_t kind = pick(4); /* 0: sets; 1: takes from another access */
    model_access *y = kind == 1 ? pick_source(x, &from, k.n) : NULL;
    if (y != NULL)
        kernel_reads(&k, &model.array[y->array].is, from, access_element(y, from));
    else if (kind != 0 || !x->writes)
        kernel_reads(&k, is, first, access_element(x, first));
    if (x->writes) kernel_writes(&k, is, first, access_element(x, first));
    note_use(x, first, &k);
    x->used = 1;
    if (y != NULL) y->used = 1;
    expect(kernel_enqueue(&k, x->context), HA_OK);
}

static void step_use(void) {
    model_access *x = pick_access();
    if (x != NULL && x->access.size > 0) use_access(x);
}

/* ---- prefetching --------------------------------------------------------------------------- */

static ha_status expect_prefetch(const model_opening *o) {
    const ha_range r = opening_range(o);
    const ha_status status = expect_admission(o->array, o->context, o->locked, 0, 0);
    if (status != HA_OK) return status;
    return r.first > r.last || r.last > model.array[o->array].is.size ? HA_ERR_ARGUMENT : HA_OK;
}

/* It counts as a reader as long as it prepares. */
static void step_prefetch(void) {
    model_array *a = pick_array();
    model_access *x = free_access();
    if (a == NULL || x == NULL) return;
    model_opening o = {array_index(a), pick_context(), HA_READ, pick_range(a), 0, 0};
    const ha_status wanted = expect_prefetch(&o);
    note("prefetch array %d", o.array);
    note_range(o.locked);
    note(" at %s", context_name(o.context));
    opening_may_wait(&o);
    *x = model_access_of(&o, wanted == HA_OK ? OPENING : CLOSED);
    if (wanted == HA_OK) bring(a, opening_range(&o), model.context[o.context].memory);
    const ha_status got = ha_array_prefetch(a->array, model.context[o.context].context,
                                            o.locked.first, o.locked.last);
    x->progress = CLOSED;
    expect(got, wanted);
}

/* ---- syncing ------------------------------------------------------------------------------- */

/* A reader on the host as long as it moves and waits. */
static void step_sync(void) {
    const model_array *a = pick_array();
    model_access *x = free_access();
    if (a == NULL || x == NULL) return;
    const model_opening o = {array_index(a), 0, HA_READ, HA_WHOLE_, 0, 0};
    const int reads = a->wrapped && !a->read_only;
    const ha_status wanted = reads ? expect_admission(o.array, 0, HA_WHOLE_, 0, 0) : HA_OK;
    if (wanted == HA_ERR_BUSY) return; /* it would wait for another thread */
    note("sync array %d", o.array);
    world_may_wait();
    *x = model_access_of(&o, reads && wanted == HA_OK ? OPENING : CLOSED);
    if (reads && wanted == HA_OK) bring(&model.array[o.array], opening_range(&o), 0);
    expect(ha_sync(a->array), wanted);
    x->progress = CLOSED;
    if (!a->wrapped || wanted != HA_OK) return;
    model_touch_callers(o.array, a->is.size, 0);
    model_look_at_callers(o.array);
}

/* ---- single elements ----------------------------------------------------------------------- */

/* Where ha_array_get and _set may go for element i: the host if it is valid there, else a device
 * where it is, else where the array was first touched. Returns how many. */
static int element_contexts(const model_array *a, size_t i, int *contexts) {
    int n = 0;
    for (int m = 0; m < model.memories; m++) {
        if (!a->is.valid[m][i]) continue;
        contexts[n++] = memory_context(m);
        if (m == 0) return n;
    }
    if (n == 0) contexts[n++] = a->first_touch;
    return n;
}

static void step_get(void) {
    model_array *a = pick_array();
    if (a == NULL) return;
    const size_t i = pick((uint32_t)a->is.size + 1);
    uint32_t *value = &world_element[model.nested];
    const ha_range r = {i, i + 1};
    ha_status wanted = HA_ERR_ARGUMENT;
    if (i < a->is.size) {
        wanted = expect_admission(array_index(a), -1, r, 0, 0);
        if (wanted == HA_ERR_BUSY) return;
        if (wanted == HA_OK && a->is.state[i] == NEVER_WRITTEN) wanted = HA_ERR_STATE;
    }
    note("get element %zu of array %d", i, array_index(a));
    world_may_wait();
    hb_touch(HB_HOST, value, sizeof *value, 1, "reset");
    *value = 0xDEADBEEF;
    a->reserved = 1;
    expect(ha_array_get(a->array, i, value), wanted);
    a->reserved = 0;
    hb_touch(HB_HOST, value, sizeof *value, 0, "look");
    if (wanted == HA_OK && a->is.state[i] == KNOWN && *value != a->is.value[i])
        model_fail("step %u: got %u, not %u", hb.step, *value, a->is.value[i]);
}

/* The same for each context where it may go, HA_ERR_BUSY if not. */
static ha_status expect_set(const model_array *a, size_t i, const int *contexts, int n) {
    const ha_range r = {i, i + 1};
    if (a->read_only) return HA_ERR_STATE;
    const ha_status wanted = expect_admission(array_index(a), contexts[0], r, 1, 0);
    for (int k = 1; k < n; k++)
        if (expect_admission(array_index(a), contexts[k], r, 1, 0) != wanted) return HA_ERR_BUSY;
    return wanted;
}

/* Where it has gone: it is valid there alone. */
static int set_memory(const model_array *a, size_t i, const int *contexts, int n) {
    for (int k = 0; k < n; k++)
        if (ha_array_valid(a->array, model.context[contexts[k]].context, i, i + 1))
            return model.context[contexts[k]].memory;
    return 0;
}

static void step_set(void) {
    model_array *a = pick_array();
    int contexts[MODEL_MEMORIES];
    const uint32_t value = ++model.last_value * 100;
    if (a == NULL || a->is.size == 0 || is_short_anywhere(a)) return;
    const size_t i = pick((uint32_t)a->is.size);
    const int n = element_contexts(a, i, contexts);
    const ha_status wanted = expect_set(a, i, contexts, n);
    if (wanted == HA_ERR_BUSY) return;
    note("set element %zu of array %d", i, array_index(a));
    world_may_wait();
    /* The host writes it in the call, but tells nobody: the checker only sees the order of calls.*/
    a->reserved = 1;
    expect(ha_array_set(a->array, i, &value), wanted);
    a->reserved = 0;
    if (wanted != HA_OK) return;
    claim(&a->is, (ha_range){i, i + 1}, set_memory(a, i, contexts, n));
    write_element(&a->is, i, value);
    a->raised = 1;
}

/* ---- arrays as a whole --------------------------------------------------------------------- */

static ha_status expect_alone(const model_array *a) {
    return is_held(array_index(a)) ? HA_ERR_CONFLICT : HA_OK;
}

/* Giving its memory away: not the caller's. */
static ha_status expect_parting(const model_array *a) {
    return a->wrapped ? HA_ERR_STATE : expect_alone(a);
}

/* With n elements afterwards. */
static ha_status expect_change(const model_array *a, size_t n) {
    return a->read_only || is_beyond(a, n) ? HA_ERR_STATE : expect_alone(a);
}

static void step_resize(void) {
    model_array *a = pick_array();
    if (a == NULL) return;
    const size_t n = pick_new_size(a->is.size);
    const ha_status wanted = expect_change(a, n);
    note("resize array %d to %zu", array_index(a), n);
    expect(n == 0 ? ha_array_clear(a->array) : ha_array_resize(a->array, n), wanted);
    if (wanted != HA_OK) return;
    a->raised |= n != a->is.size;
    set_size(&a->is, n);
}

static void step_reserve(void) {
    model_array *a = pick_array();
    if (a == NULL) return;
    ha_context *context = model.context[pick_context()].context;
    const size_t n = pick_size();
    const ha_status wanted = is_beyond(a, n) ? HA_ERR_STATE : expect_alone(a);
    note("reserve %zu for array %d at %s", n, array_index(a), ha_context_name(context));
    if (context == ha_host()) world_may_wait();
    a->reserved = 1;
    expect(ha_array_reserve(a->array, context, n), wanted);
    a->reserved = 0;
    if (wanted == HA_OK && ha_array_capacity(a->array, context) < n)
        model_fail("step %u: no room was made", hb.step);
}

/* Freeing cannot fail, even where no queue can record an event any more. */
static void begin_freeing(void) { order_records_fail = !model.sim && pick_one_in(3); }

static void end_freeing(void) { order_records_fail = 0; }

static void step_purge(void) {
    model_array *a = pick_array();
    if (a == NULL) return;
    const ha_status wanted = expect_parting(a);
    note("purge array %d", array_index(a));
    begin_freeing();
    a->reserved = 1;
    expect(ha_array_purge(a->array), wanted);
    a->reserved = 0;
    end_freeing();
    if (wanted != HA_OK) return;
    set_size(&a->is, 0);
    a->raised = 1;
    for (int c = 0; c < model.contexts; c++)
        if (ha_array_capacity(a->array, model.context[c].context) != 0)
            model_fail("step %u: memory was kept", hb.step);
}

/* Asked in the order of their addresses. */
static ha_status expect_exchange(const model_array *a, const model_array *b) {
    if (a == b) return HA_OK;
    const int swapped = (uintptr_t)a->array > (uintptr_t)b->array;
    const ha_status first = expect_parting(swapped ? b : a);
    return first != HA_OK ? first : expect_parting(swapped ? a : b);
}

static void reserve_both(model_array *a, model_array *b, int reserved) {
    a->reserved = b->reserved = reserved;
}

static void step_swap(void) {
    model_array *a = pick_array(), *b = pick_array();
    if (a == NULL) return;
    const ha_status wanted = expect_exchange(a, b);
    note("swap arrays %d and %d", array_index(a), array_index(b));
    expect(ha_array_swap(a->array, b->array), wanted);
    if (wanted != HA_OK || a == b) return;
    const model_contents is = a->is;
    a->is = b->is;
    b->is = is;
    a->raised = b->raised = 1;
}

static void step_take(void) {
    model_array *to = pick_array(), *from = pick_array();
    if (to == NULL) return;
    const ha_status wanted = expect_exchange(to, from);
    note("array %d takes array %d", array_index(to), array_index(from));
    begin_freeing();
    reserve_both(to, from, 1);
    expect(ha_array_take(to->array, from->array), wanted);
    reserve_both(to, from, 0);
    end_freeing();
    if (wanted != HA_OK || to == from) return;
    to->is = from->is;
    set_size(&from->is, 0);
    to->raised = from->raised = 1;
}

/* Reading all of it for a copy, wherever it is. */
static ha_status expect_copy(const model_array *from) {
    return expect_admission(array_index(from), -1, HA_WHOLE_, 0, 0);
}

/* What an array says after another one's values were written to it at one context. */
static void apply_assign_at(model_array *to, const model_array *from, const model_opening *write) {
    apply_opening(write);
    memcpy(to->is.value, from->is.value, sizeof to->is.value);
    memcpy(to->is.state, from->is.state, sizeof to->is.state);
}

/* everywhere: by ha_array_assign, which does this for the caller's memory. */
static void assign_at(model_array *to, model_array *from, int c, int everywhere) {
    ha_context *context = model.context[c].context;
    const model_opening read = {array_index(from), c, HA_READ, HA_WHOLE_, 0, 0};
    const model_opening write = {array_index(to), c, HA_OVERWRITE, HA_WHOLE_, 1, from->is.size};
    const ha_status first = expect_opening(&read);
    const ha_status wanted = first == HA_OK && to != from ? expect_change(to, from->is.size)
                                                          : first;
    if (first == HA_ERR_BUSY) return;
    note("assign array %d to array %d at %s", array_index(from), array_index(to), context_name(c));
    world_may_wait();
    reserve_both(to, from, 1);
    if (everywhere)
        expect(ha_array_assign(to->array, from->array), wanted);
    else
        expect(ha_array_assign_at(to->array, from->array, context), wanted);
    reserve_both(to, from, 0);
    if (first == HA_OK) apply_opening(&read);
    if (wanted == HA_OK && to != from) apply_assign_at(to, from, &write);
}

static void step_assign_at(void) {
    model_array *to = pick_array(), *from = pick_array();
    if (to != NULL) assign_at(to, from, pick_context(), 0);
}

static void step_assign(void) {
    model_array *to = pick_array(), *from = pick_array();
    if (to == NULL) return;
    if (to != from && to->wrapped) {
        assign_at(to, from, to->first_touch, 1);
        return;
    }
    ha_status wanted = to == from ? HA_OK : expect_copy(from);
    if (wanted == HA_ERR_BUSY) return;
    if (wanted == HA_OK && to != from) wanted = expect_alone(to);
    note("assign array %d to array %d", array_index(from), array_index(to));
    world_may_wait();
    reserve_both(to, from, 1);
    expect(ha_array_assign(to->array, from->array), wanted);
    reserve_both(to, from, 0);
    if (wanted != HA_OK || to == from) return;
    to->is = from->is;
    to->raised = 1;
}

/* ---- resizing inside an access ------------------------------------------------------------- */

static ha_status expect_access_resize(const model_access *x, size_t n) {
    if (!x->writes || x->locked.first != 0 || x->locked.last != HA_END) return HA_ERR_ARGUMENT;
    for (int i = 0; i < MODEL_ACCESSES; i++) {
        const model_access *y = &model.access[i];
        if (y != x && y->progress != CLOSED && y->array == x->array) return HA_ERR_CONFLICT;
    }
    return is_beyond(&model.array[x->array], n) ? HA_ERR_STATE : HA_OK;
}

static void apply_access_resize(model_access *x, size_t n) {
    model_array *a = &model.array[x->array];
    a->raised |= n != a->is.size;
    set_size(&a->is, n);
    claim(&a->is, (ha_range){0, n}, model.context[x->context].memory);
    x->range = (ha_range){0, n};
}

static void step_access_resize(void) {
    model_access *x = pick_access();
    if (x == NULL) return;
    model_array *a = &model.array[x->array];
    const size_t n = pick_one_in(4) ? 0 : pick_new_size(a->is.size);
    const int resizes = pick(3) != 0;
    const ha_status wanted = expect_access_resize(x, n);
    note("%s to %zu of", resizes ? "resize" : "reserve", n);
    note_access(x);
    if (x->context == 0) world_may_wait();
    a->reserved = 1;
    if (resizes)
        expect(ha_access_resize(&x->access, n), wanted);
    else
        expect(ha_access_reserve(&x->access, n), wanted);
    a->reserved = 0;
    if (wanted != HA_OK) return;
    if (resizes) apply_access_resize(x, n);
    check_access(x);
    if (ha_access_capacity(&x->access) < n) model_fail("step %u: no room was made", hb.step);
}

/* ---- making and freeing -------------------------------------------------------------------- */

static ha_array *new_array(uint32_t kind, size_t n, ha_context *context) {
    uint32_t values[MODEL_MOST];
    for (uint32_t i = 0; i < MODEL_MOST; i++) values[i] = 1 + i;
    switch (kind) {
    case 0:
        return ha_array_new(model_type, n, context);
    case 1:
        return ha_array_zeros(model_type, n, context);
    case 2:
        return ha_array_filled(model_type, n, values, context);
    default:
        return ha_array_of(model_type, n, values, context);
    }
}

enum { WRAPPED = 4, ARRAY_KINDS };

/* Over the caller's memory: whatever it was before, it can be written now. */
static ha_array *wrap_array(model_array *a, size_t n, unsigned flags) {
    const ha_wrapped piece = {model_callers[array_index(a)], ha_host(), flags};
    for (uint32_t i = 0; i < n; i++) model_callers[array_index(a)][i] = 1 + i;
    model_touch_callers(array_index(a), n, 1);
    a->first_touch = 0;
    a->wrapped = n;
    a->read_only = n > 0 && flags == HA_WRAP_CONST;
    note(", flags %u", flags);
    return ha_array_wrap(model_type, n, &piece, 1);
}

/* Puts a new array into a free place. */
static void make_array(model_array *a) {
    const uint32_t kind = pick(ARRAY_KINDS);
    const unsigned flags = kind == WRAPPED ? pick(HA_WRAP_UNWRITTEN + 1) : 0;
    const size_t n = pick_size();
    *a = (model_array){.first_touch = pick_context(), .owners = 1};
    note("new array %d: %zu of kind %u at %s", array_index(a), n, kind,
         context_name(a->first_touch));
    world_may_wait();
    a->reserved = 1;
    ha_array *made = kind == WRAPPED ? wrap_array(a, n, flags)
                                     : new_array(kind, n, model.context[a->first_touch].context);
    a->reserved = 0;
    expect(made != NULL ? HA_OK : HA_ERR_MEMORY, HA_OK);
    if (made == NULL) return;
    a->array = made;
    a->version = ha_array_version(made);
    set_size(&a->is, 0);
    set_size(&a->is, n);
    if (kind == 0 || (flags & HA_WRAP_UNWRITTEN)) return;
    claim(&a->is, (ha_range){0, n}, model.context[a->first_touch].memory);
    for (size_t i = 0; i < n; i++)
        write_element(&a->is, i, kind == 1 ? 0 : kind == 2 ? 1 : 1 + (uint32_t)i);
}

static int can_be_freed(const model_array *a) { return a->owners == 1 && !is_held(array_index(a)); }

/* Handing the caller's memory back waits; once it is synced, it cannot fail either. */
static void begin_unwrapping(const model_array *a) {
    world_may_wait();
    if (pick(2) == 0) return;
    expect(ha_sync(a->array), HA_OK);
    begin_freeing();
}

static void free_array(model_array *a) {
    const int unwraps = a->wrapped && pick(2);
    note("%s array %d", unwraps ? "unwrap" : "free", array_index(a));
    a->reserved = 1;
    if (a->wrapped)
        begin_unwrapping(a);
    else
        begin_freeing();
    expect(unwraps ? ha_unwrap(a->array) : ha_array_free(a->array), HA_OK);
    a->array = NULL;
    end_freeing();
    if (!a->wrapped) return;
    model_touch_callers(array_index(a), a->wrapped, 1);
    model_look_at_callers(array_index(a));
}

static void step_renew(void) {
    model_array *a = pick_array();
    if (a == NULL || !can_be_freed(a)) return;
    free_array(a);
    note("; ");
    make_array(a);
}

static void step_copy(void) {
    model_array *to = pick_array(), *from = pick_array();
    if (to == NULL || to == from || !can_be_freed(to)) return;
    const ha_status wanted = expect_copy(from);
    if (wanted == HA_ERR_BUSY) return;
    note("copy array %d in place of %d: ", array_index(from), array_index(to));
    world_may_wait();
    reserve_both(to, from, 1);
    ha_array *copy = ha_array_copy(from->array);
    expect(copy != NULL ? HA_OK : HA_ERR_CONFLICT, wanted);
    if (copy != NULL) {
        free_array(to);
        *to = (model_array){copy, from->is, from->first_touch, 1, 0, 0, ha_array_version(copy),
                            0,    0};
    }
    reserve_both(to, from, 0);
}

/* One owner more or less; the last one is refused while accesses are open. */
static void step_owners(void) {
    model_array *a = pick_array();
    if (a == NULL) return;
    if (pick(2) && (a->owners > 1 || is_held(array_index(a)))) {
        note("one owner less of array %d", array_index(a));
        expect(ha_array_free(a->array), a->owners > 1 ? HA_OK : HA_ERR_CONFLICT);
        if (a->owners > 1) a->owners--;
    } else if (a->wrapped && a->owners > 1 && pick(2)) {
        note("unwrap array %d, which has other owners", array_index(a));
        expect(ha_unwrap(a->array), is_held(array_index(a)) ? HA_ERR_CONFLICT : HA_ERR_STATE);
    } else if (a->owners < 3) {
        note("one more owner of array %d", array_index(a));
        if (ha_array_retain(a->array) != a->array) model_fail("retained another array");
        a->owners++;
    }
}

/* ---- queues -------------------------------------------------------------------------------- */

static void step_finish(void) {
    const int c = pick_context();
    note("finish %s", context_name(c));
    world_may_wait();
    expect(ha_context_finish(model.context[c].context), HA_OK);
}

/* A queue of the order backend. */
static order_queue *pick_queue(void) {
    order_queue *queue = order_queues;
    for (uint32_t n = pick((uint32_t)order_queue_count); n > 0; n--) queue = queue->next;
    return queue;
}

static void step_advance(void) {
    const uint32_t commands = 1 + pick(6);
    if (model.sim) {
        const model_context *c = &model.context[pick_context()];
        if (!c->held) return;
        note("%u steps of %s", commands, ha_context_name(c->context));
        world_step(c->context, commands);
        return;
    }
    order_queue *queue = pick_queue();
    note("%u steps of queue %u", commands, queue->agent);
    for (uint32_t i = 0; i < commands; i++) order_advance(queue);
}

static void step_hold(void) {
    if (model.sim) {
        model_context *c = &model.context[1 + pick((uint32_t)model.contexts - 1)];
        note("hold %s", ha_context_name(c->context));
        world_hold(c->context);
        c->held = 1;
        return;
    }
    order_queue *queue = pick_queue();
    queue->held = !queue->held;
    note("%s queue %u", queue->held ? "hold" : "let go", queue->agent);
}

/* What the cache of a memory keeps changes, in between or for good. */
static void step_cache(void) {
    static const uint64_t most[] = {0, 300, UINT64_MAX};
    ha_context *c = model.context[pick_context()].context;
    const uint64_t bytes = most[pick(3)];
    if (pick(2)) {
        note("trim %s to %llu bytes", ha_context_name(c), (unsigned long long)bytes);
        (void)ha_memory_trim(c, bytes);
        if (ha_context_memory(c).cached > bytes) model_fail("trimming left more");
        return;
    }
    note("%s may cache %llu bytes", ha_context_name(c), (unsigned long long)bytes);
    expect(ha_memory_set_cache(c, bytes), HA_OK);
}

static void step_idle(void) {
    if (model.nested || model.sim) return;
    note("idle");
    world_idle();
}

static void step_settle(void) {
    if (model.nested) return;
    note("settle");
    world_settle();
}

#endif
