/* What ndarray/test_view_fuzz.c does on open views, and what it expects of opening them: the
 * accesses that are open, what queues read from them, conflicts, the elements that have to be
 * moved. */
#ifndef HARRAY_TESTS_SUPPORT_VIEW_EXPECT_H
#define HARRAY_TESTS_SUPPORT_VIEW_EXPECT_H

#include "view_world.h"

enum { OPEN_MOST = 6, READS_MOST = 64, MANY_MOST = 3 };

/* An access, open or to be opened. */
typedef struct opened {
    object *o; /* NULL: none */
    shown s;
    unsigned how, mode; /* asked for, and what that comes to */
    ha_context *context;
    elements own, locked;
    ha_range range;
    ha_access access;
} opened;

/* What a queue copies from a view, and what it has to find. */
typedef struct reading {
    size_t n;
    uint32_t found[WORLD_MOST], value[WORLD_MOST];
    element_state state[WORLD_MOST];
} reading;

static opened open_list[OPEN_MOST];
static reading reading_list[READS_MOST];
static size_t readings;

/* ---- work on queues ------------------------------------------------------------------------- */

enum { JOB_READS, JOB_FILLS, JOB_ADDS };

typedef struct job {
    uint32_t *data;
    darray view; /* extents and strides; not followed */
    int kind;
    uint32_t seed;
    uint32_t *result;
} job;

typedef struct job_at {
    const job *j;
    uint32_t *data;
} job_at;

static void do_element(size_t at, uint64_t n, void *user) {
    const job_at *x = (const job_at *)user;
    uint32_t *element = x->data + ((int64_t)at - x->j->view.offset);
    if (x->j->kind == JOB_READS)
        x->j->result[n] = *element;
    else if (x->j->kind == JOB_FILLS)
        *element = x->j->seed + (uint32_t)n;
    else
        *element += x->j->seed;
}

static void run_job(const ha_queue *queue, void *argument) {
    const job *j = (const job *)argument;
    job_at x = {j, HA_HERE(queue, uint32_t, j->data)};
    walk(&j->view, do_element, &x);
}

static void enqueue(const opened *x, int kind, uint32_t seed, uint32_t *result) {
    const job j = {(uint32_t *)x->access.data, x->s.v, kind, seed, result};
    expect(ha_enqueue(x->context, run_job, &j, sizeof j), HA_OK, "enqueue");
}

static void look_at_readings(void) {
    for (int i = 0; i < WORLD_CONTEXTS; i++)
        expect(ha_context_finish(world.context[i]), HA_OK, "finish");
    for (size_t k = 0; k < readings; k++)
        for (size_t i = 0; i < reading_list[k].n; i++)
            MUST(reading_list[k].state[i] != KNOWN ||
                     reading_list[k].found[i] == reading_list[k].value[i],
                 "element %zu of a reading is %u, not %u", i, reading_list[k].found[i],
                 reading_list[k].value[i]);
    readings = 0;
}

typedef struct expecting {
    const object *o;
    reading *r;
} expecting;

static void expect_element(size_t at, uint64_t n, void *user) {
    const expecting *x = (const expecting *)user;
    x->r->state[n] = x->o->state[at];
    x->r->value[n] = x->o->value[at];
    x->r->n = n + 1;
}

static void read_view(const opened *x) {
    if (readings == READS_MOST) look_at_readings();
    reading *r = &reading_list[readings++];
    expecting to_find = {x->o, r};
    r->n = 0;
    if (darray_size(x->s.v) > WORLD_MOST || !x->access.size) return;
    walk(&x->s.v, expect_element, &to_find);
    enqueue(x, JOB_READS, 0, r->found);
}

static void add_to_element(size_t at, uint64_t n, void *user) {
    const filling *f = (const filling *)user;
    (void)n;
    f->o->value[at] += f->seed;
}

static void write_view(const opened *x) {
    filling f = {x->o, pick(1 << 30)};
    const int fills = pick(3) != 0;
    if (!x->access.size) return;
    enqueue(x, fills ? JOB_FILLS : JOB_ADDS, f.seed, NULL);
    walk(&x->s.v, fills ? know_element : add_to_element, &f);
}

/* ---- what is expected ----------------------------------------------------------------------- */

/* With which of the open accesses it conflicts; `also`: not open, but taken for so. */
static int conflicts_with(const opened *x, const opened *other) {
    const int writes = x->mode != HA_READ, its = other->mode != HA_READ;
    if (other->o != x->o || !(writes | its) || !have_common(&x->locked, &other->locked)) return 0;
    return its || other->context != x->context;
}

static int conflicts(const opened *x) {
    for (int i = 0; i < OPEN_MOST; i++)
        if (open_list[i].o && conflicts_with(x, &open_list[i])) return 1;
    return 0;
}

static int is_written(const opened *x) {
    for (size_t i = 0; i < x->o->size; i++)
        if (x->own.in[i] && x->o->state[i] == NEVER) return 0;
    return 1;
}

static int is_refused(const opened *x) { return x->how != HA_READ && darray_repeats(x->s.v); }

/* Alone. */
static ha_status expect_opening(const opened *x) {
    if (is_refused(x)) return HA_ERR_ARGUMENT;
    if (conflicts(x)) return HA_ERR_CONFLICT;
    return x->mode == HA_READ && !is_written(x) ? HA_ERR_STATE : HA_OK;
}

/* What is written counts as written; what is overwritten has no values until then. */
static void apply(const opened *x) {
    for (size_t i = 0; i < x->o->size; i++) {
        if (!x->locked.in[i] || x->mode == HA_READ) continue;
        if (x->mode == HA_OVERWRITE || x->o->state[i] == NEVER) x->o->state[i] = UNDEFINED;
    }
}

/* Elements that have to be moved for it, and how many of these the host does not have. */
typedef struct toll {
    size_t missing, far;
} toll;

static toll toll_of(const opened *x) {
    elements here, host, anywhere, there;
    toll t = {0, 0};
    if (x->mode == HA_OVERWRITE) return t;
    valid_at(x->o->whole.array, x->context, &here);
    valid_at(x->o->whole.array, ha_host(), &host);
    anywhere = host;
    for (int i = 1; i < 4; i++) {
        valid_at(x->o->whole.array, world.context[i], &there);
        for (size_t k = 0; k < WORLD_MOST; k++) anywhere.in[k] |= there.in[k];
    }
    for (size_t k = 0; k < WORLD_MOST; k++) {
        const int missing = x->locked.in[k] & anywhere.in[k] & !here.in[k];
        t.missing += (size_t)missing;
        t.far += (size_t)(missing && !host.in[k] && x->context != ha_host());
    }
    return t;
}

static uint64_t bytes_moved(const object *o) { return ha_array_statistics(o->whole.array).bytes; }

/* By way of the host, it counts twice; with peers it may not. */
static void check_toll(const opened *x, toll t, uint64_t before) {
    const uint64_t bytes = bytes_moved(x->o) - before, least = t.missing * sizeof(uint32_t);
    MUST(bytes >= least && bytes <= least + t.far * sizeof(uint32_t),
         "%llu bytes moved for %zu elements, %zu of which are not on the host",
         (unsigned long long)bytes, t.missing, t.far);
}

static void check_access(const opened *x) {
    const ha_incarnation *in = ha_incarnation_find(x->o->whole.array, x->context->memory);
    MUST(x->access.size == (size_t)darray_size(x->s.v), "an access has another size");
    MUST(x->access.context == x->context && x->access.array == x->o->whole.array,
         "an access to something else");
    if (!x->access.size) return;
    MUST(x->access.first == (size_t)x->s.v.offset, "an access begins elsewhere");
    if (HA_DEBUGGING_ && ha_is_host(x->context)) return; /* users have their own mapping */
    MUST(x->access.data == in->data + x->access.first * sizeof(uint32_t), "a wrong pointer");
}

#endif
