/* What the arrays should be, said as naively as possible: one copy of the values, a bit for each
 * element and memory where it is valid, a list of the open accesses. model_steps.h compares the
 * library with it. To be included behind model_memory.h, support/order_backend.h and the implementation. */
#ifndef HARRAY_TESTS_SCHEDULES_MODEL_H
#define HARRAY_TESTS_SCHEDULES_MODEL_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_records.h"

enum {
    MODEL_ARRAYS = 4,
    MODEL_MOST = 24, /* elements of an array */
    MODEL_ACCESSES = 8,
    MODEL_THREADS = 3,
    MODEL_CONTEXTS = 7,
    MODEL_MEMORIES = 4
};

static const ha_type model_type = {"uint32_t", sizeof(uint32_t)};

typedef enum { NEVER_WRITTEN, UNDEFINED, KNOWN } model_state; /* undefined: opened for writing */

/* What ha_array_swap() exchanges. */
typedef struct model_contents {
    size_t size;
    uint32_t value[MODEL_MOST];
    model_state state[MODEL_MOST];
    char valid[MODEL_MEMORIES][MODEL_MOST];
} model_contents;

typedef struct model_array {
    ha_array *array;
    model_contents is;
    int first_touch; /* a context */
    int owners;
    int reserved;     /* an operation on the array as a whole is running */
    int raised;       /* its version must have changed since the last look */
    uint64_t version; /* at the last look */
    size_t wrapped;   /* elements of the caller's memory that it is; 0: none */
    int read_only;
} model_array;

typedef enum { CLOSED, OPENING, OPEN, DETACHED, ENDING } model_progress;

typedef struct model_access {
    model_progress progress;
    int array, context, thread, writes;
    ha_range locked; /* as asked for */
    ha_range range;  /* within the size */
    int used;        /* work was enqueued with its data */
    ha_access access;
    ha_token token; /* when detached; `access` is then what it was */
} model_access;

/* What the library keeps for each thread. */
typedef struct model_thread {
    ha_thread self;
    ha_error first_error;
    ha_note note;
    __typeof__(ha_later_error) later_error;
} model_thread;

typedef struct model_context {
    ha_context *context;
    int memory; /* 0: the host's */
    int held;   /* not on the order backends */
} model_context;

/* What the devices are: those of the order backends, else queues run on threads. */
enum { ORDER_WORLD, SIM_WORLD, MANAGED_WORLD, LAUNCH_WORLD };

static struct {
    int sim;                    /* one of those; 0: the order backends */
    int peers;                  /* devices of one kind reach each other */
    char alone[MODEL_MEMORIES]; /* memories of the other kind, of which there is one: no peer */
    int contexts, memories;
    model_context context[MODEL_CONTEXTS];
    model_array array[MODEL_ARRAYS];
    model_access access[MODEL_ACCESSES];
    int current;                        /* thread */
    model_thread thread[MODEL_THREADS]; /* the others */
    int nested;                         /* a step in the middle of another one's call */
    uint32_t steps, operations;         /* operations: steps that did something */
    uint32_t last_value;
    int failed; /* the first failure is in: */
    char failure[400];
} model;

__attribute__((format(printf, 1, 2))) static void model_fail(const char *format, ...) {
    va_list args;
    if (model.failed) return;
    model.failed = 1;
    va_start(args, format);
    vsnprintf(model.failure, sizeof model.failure, format, args);
    va_end(args);
}

/* ---- threads ------------------------------------------------------------------------------- */

/* The program has one thread, which plays several: what the library keeps for each is exchanged. */
static void model_become(int thread) {
    const model_thread *other = &model.thread[thread];
    model.thread[model.current] = (model_thread){ha_self, ha_first_error, ha_backend_note,
                                                 ha_later_error};
    ha_self = other->self;
    ha_first_error = other->first_error;
    ha_backend_note = other->note;
    ha_later_error = other->later_error;
    model.current = thread;
}

/* ---- memories ------------------------------------------------------------------------------ */

static const char *context_name(int c) { return ha_context_name(model.context[c].context); }

static int is_direct(int from, int to) {
    if (from == 0 || to == 0) return 1;
    return model.peers && !model.alone[from] && !model.alone[to];
}

/* The first context of a memory. */
static int memory_context(int memory) {
    int c = 0;
    while (model.context[c].memory != memory) c++;
    return c;
}

/* ---- blocks -------------------------------------------------------------------------------- */

/* How many elements the block of an array in a memory has. */
static size_t capacity_in(const model_array *a, int memory) {
    return ha_array_capacity(a->array, model.context[memory_context(memory)].context);
}

/* Whether an access is open on it though it is too short for the array: then it stays where it is.
 * That happens only where a call of the backend has failed. */
static int is_short_in_use(const model_array *a, int memory) {
    if (capacity_in(a, memory) >= a->is.size) return 0;
    for (int i = 0; i < MODEL_ACCESSES; i++) {
        const model_access *x = &model.access[i];
        if (x->progress >= OPEN && &model.array[x->array] == a &&
            x->locked.first < x->locked.last && model.context[x->context].memory == memory)
            return 1;
    }
    return 0;
}

static int is_short_anywhere(const model_array *a) {
    int is_short = 0;
    for (int m = 0; m < model.memories; m++) is_short |= is_short_in_use(a, m);
    return is_short;
}

static int is_valid_anywhere(const model_contents *is, size_t i) {
    int valid = 0;
    for (int m = 0; m < model.memories; m++) valid |= is->valid[m][i];
    return valid;
}

/* ---- what happens to the contents ---------------------------------------------------------- */

/* Element i becomes valid in a memory, if it is anywhere; without a direct path by way of the
 * host, if that has room. */
static void bring_element(model_contents *is, size_t i, int memory, int host_has_room) {
    int direct = 0;
    if (is->valid[memory][i] || !is_valid_anywhere(is, i)) return;
    for (int m = 0; m < model.memories; m++) direct |= is->valid[m][i] && is_direct(m, memory);
    if (!direct && host_has_room) is->valid[0][i] = 1;
    is->valid[memory][i] = 1;
}

static void bring(model_array *a, ha_range r, int memory) {
    const int host_has_room = !is_short_in_use(a, 0);
    for (size_t i = r.first; i < r.last; i++) bring_element(&a->is, i, memory, host_has_room);
}

/* r is written in a memory: valid there alone. */
static void claim(model_contents *is, ha_range r, int memory) {
    for (size_t i = r.first; i < r.last; i++) {
        for (int m = 0; m < model.memories; m++) is->valid[m][i] = m == memory;
        if (is->state[i] == NEVER_WRITTEN) is->state[i] = UNDEFINED;
    }
}

static void become_undefined(model_contents *is, ha_range r) {
    for (size_t i = r.first; i < r.last; i++) is->state[i] = UNDEFINED;
}

/* What is added was never written. */
static void set_size(model_contents *is, size_t n) {
    for (size_t i = n < is->size ? n : is->size; i < MODEL_MOST; i++) {
        is->state[i] = NEVER_WRITTEN;
        for (int m = 0; m < model.memories; m++) is->valid[m][i] = 0;
    }
    is->size = n;
}

static void write_element(model_contents *is, size_t i, uint32_t value) {
    is->value[i] = value;
    is->state[i] = KNOWN;
}

/* ---- conflicts ----------------------------------------------------------------------------- */

static int ranges_meet(ha_range a, ha_range b) {
    const size_t first = a.first > b.first ? a.first : b.first;
    const size_t last = a.last < b.last ? a.last : b.last;
    return first < last;
}

static int is_held(int array) {
    for (int i = 0; i < MODEL_ACCESSES; i++)
        if (model.access[i].progress != CLOSED && model.access[i].array == array) return 1;
    return 0;
}

/* Whether r would need a longer block in place of one that is in use. context: -1: perhaps any. */
static ha_status expect_room(const model_array *a, int context, ha_range r) {
    if (context < 0) return is_short_anywhere(a) ? HA_ERR_BUSY : HA_OK;
    const int memory = model.context[context].memory;
    const size_t last = r.last == HA_END ? a->is.size : r.last;
    ha_status status = HA_OK;
    if (r.first >= last || last <= capacity_in(a, memory) || !is_short_in_use(a, memory))
        return HA_OK;
    for (int i = 0; i < MODEL_ACCESSES; i++) {
        const model_access *x = &model.access[i];
        if (x->progress == CLOSED || &model.array[x->array] != a ||
            x->locked.first >= x->locked.last || model.context[x->context].memory != memory)
            continue;
        if (x->thread == model.current) return HA_ERR_CONFLICT;
        status = HA_ERR_BUSY;
    }
    return status;
}

/* The table in harray/access.h. HA_ERR_BUSY: it would wait for another thread. */
static ha_status expect_rights(int array, int context, ha_range r, int writes, int resizes) {
    ha_status status = HA_OK;
    for (int i = 0; i < MODEL_ACCESSES; i++) {
        const model_access *x = &model.access[i];
        if (x->progress == CLOSED || x->array != array || !(x->writes || writes)) continue;
        if (!ranges_meet(x->locked, r)) continue;
        if (x->thread != model.current)
            status = HA_ERR_BUSY;
        else if (x->writes || x->context != context || resizes || x->progress >= DETACHED)
            return HA_ERR_CONFLICT;
    }
    return status;
}

static ha_status expect_admission(int array, int context, ha_range r, int writes, int resizes) {
    const ha_status status = expect_rights(array, context, r, writes, resizes);
    return status == HA_OK ? expect_room(&model.array[array], context, r) : status;
}

/* ---- the caller's memory -------------------------------------------------------------------- */

/* What each array may wrap, on the host. */
static uint32_t model_callers[MODEL_ARRAYS][MODEL_MOST];

static int is_beyond(const model_array *a, size_t n) { return a->wrapped != 0 && n > a->wrapped; }

/* The caller looks at its memory, or writes it: nobody else may be at it. */
static void model_touch_callers(int array, size_t n, int write) {
    hb_touch(HB_HOST, model_callers[array], n * sizeof(uint32_t), write, "the caller's use");
}

static void model_look_at_callers(int array) {
    const model_contents *is = &model.array[array].is;
    for (size_t i = 0; i < is->size; i++)
        if (is->state[i] == KNOWN && model_callers[array][i] != is->value[i])
            model_fail("the caller's element %zu of array %d is %u, not %u", i, array,
                       model_callers[array][i], is->value[i]);
}

/* ---- openings ------------------------------------------------------------------------------ */

typedef struct model_opening {
    int array, context;
    unsigned mode; /* HA_READ, HA_WRITE, HA_OVERWRITE */
    ha_range locked;
    int sets_size;
    size_t size;
} model_opening;

static ha_range opening_range(const model_opening *o) {
    const size_t size = o->sets_size ? o->size : model.array[o->array].is.size;
    return (ha_range){o->locked.first, o->locked.last == HA_END ? size : o->locked.last};
}

/* What the caller's memory does not allow. */
static ha_status expect_refusal(const model_opening *o) {
    const model_array *a = &model.array[o->array];
    if (o->mode != HA_READ && a->read_only) return HA_ERR_STATE;
    return o->sets_size && is_beyond(a, o->size) ? HA_ERR_STATE : HA_OK;
}

/* Whatever room there is. */
static ha_status expect_holder_anyhow(const model_opening *o) {
    const int resizes = o->sets_size && o->size != model.array[o->array].is.size;
    return expect_rights(o->array, o->context, o->locked, o->mode != HA_READ, resizes);
}

static ha_status expect_holder(const model_opening *o) {
    const ha_status status = expect_holder_anyhow(o);
    if (status != HA_OK) return status;
    return expect_room(&model.array[o->array], o->context, o->locked);
}

static ha_status expect_contents(const model_opening *o) {
    const model_contents *is = &model.array[o->array].is;
    const size_t size = o->sets_size ? o->size : is->size;
    const ha_range r = opening_range(o);
    if (r.first > r.last || r.last > size) return HA_ERR_ARGUMENT;
    for (size_t i = r.first; i < r.last && o->mode == HA_READ; i++)
        if (is->state[i] == NEVER_WRITTEN) return HA_ERR_STATE;
    return HA_OK;
}

static ha_status expect_opening(const model_opening *o) {
    ha_status status = expect_refusal(o);
    if (status == HA_OK) status = expect_holder(o);
    return status == HA_OK ? expect_contents(o) : status;
}

static void apply_opening(const model_opening *o) {
    model_array *a = &model.array[o->array];
    const int memory = model.context[o->context].memory;
    if (o->sets_size) set_size(&a->is, 0);
    if (o->sets_size) set_size(&a->is, o->size);
    const ha_range r = opening_range(o);
    if (o->mode != HA_OVERWRITE) bring(a, r, memory);
    if (o->mode == HA_READ) return;
    claim(&a->is, r, memory);
    if (o->mode == HA_OVERWRITE) become_undefined(&a->is, r);
    a->raised = 1;
}

#endif
