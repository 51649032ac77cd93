/* The contexts on which a script runs, and looking at everything between its steps. */
#ifndef HARRAY_TESTS_SCHEDULES_MODEL_WORLD_H
#define HARRAY_TESTS_SCHEDULES_MODEL_WORLD_H

#include "../support/cuda_launch.h"
#include "../support/invariants.h"
#include "model_kernel.h"

/* Names as ha_context_find() knows them; "/": a fork of the last one. */
static const char *const order_world[] = {"host", "order:0", "/", "/", "order:1", "/", "order2:0"};
static const char *const sim_world[] = {"host", "sim:0", "/", "sim:1", "/"};
static const char *const managed_world[] = {"host", "cuda:0", "/", "cuda:1", "/"};
static const char *const launch_world[] = {"host", "launch:0", "/", "launch:1", "/"};

/* Where ha_array_get() puts elements: known to the checker, as if it were an array's. */
static uint32_t world_element[2];

static void world_add(const char *name) {
    model_context *last = &model.context[model.contexts];
    if (*name != '/')
        last->context = ha_context_find(name);
    else
        last->context = ha_context_fork(last[-1].context);
    model.contexts++;
    last->held = 0;
    if (last->context == NULL) {
        model_fail("no context %s: %s", name, ha_take_error().text);
        return;
    }
    if (*name == '/')
        last->memory = last[-1].memory;
    else if (ha_context_is_zero_copy(last->context))
        last->memory = 0; /* the host's */
    else {
        model.alone[model.memories] = !strncmp(name, "order2", 6);
        last->memory = model.memories++;
    }
}

static void world_open(const char *const *names, size_t count) {
    for (size_t i = 0; i < count && !model.failed; i++) world_add(names[i]);
}

static void world_begin_sim(int delays, int shared) {
    const ha_sim_options options = {.delay_ns = delays ? 3000 : 0,
                                    .seed = 1 + pick(200),
                                    .peers = model.peers,
                                    .unified = shared != 0};
    HA_CHECK(ha_sim_configure(&options));
    world_open(sim_world, sizeof sim_world / sizeof *sim_world);
}

/* Over the fake driver; those with functions as kernels are no peers. */
static void world_begin_cuda(int delays, int shared) {
    char options[100];
    const int managed = model.sim == MANAGED_WORLD;
    if (!managed) model.peers = 0;
    snprintf(options, sizeof options, "capacity=64M,delay=%uus,seed=%u,peers=%d,integrated=%d",
             delays ? 3 : 0, 1 + pick(200), model.peers, shared != 0);
    HA_CHECK(cuda_use(managed ? HA_CUDA_MANAGED : HA_CUDA_DEVICE, options));
    for (int i = 0; shared && i < ha_context_count("cuda"); i++) /* the caller's memory, too */
        cuda_fake()->set_attribute(i, HA_CU_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 1);
    if (!managed) HA_CHECK(ha_backend_register(launch_backend_make()));
    world_open(managed ? managed_world : launch_world, sizeof launch_world / sizeof *launch_world);
}

static void world_begin_order(int shared) {
    order_peers = model.peers;
    order_shared = shared;
    HA_CHECK(ha_backend_register(&order_backend));
    HA_CHECK(ha_backend_register(&order2_backend));
    world_open(order_world, sizeof order_world / sizeof *order_world);
}

/* A script begins. shared: a bit for each device that works on the host's memory; on sim, all
 * do. */
static void world_begin(int sim, int delays, int shared) {
    order_reset();
    memset(&model, 0, sizeof model);
    memset(&kernel_wrong, 0, sizeof kernel_wrong);
    model.sim = sim;
    model.peers = sim ? pick_one_in(3) : (int)pick(3);
    if (sim > SIM_WORLD)
        world_begin_cuda(delays, shared);
    else if (sim)
        world_begin_sim(delays, shared);
    else
        world_begin_order(shared);
    if (!hb_block_add(world_element, sizeof world_element, "the caller") ||
        !hb_block_add(model_callers, sizeof model_callers, "the caller"))
        model_fail("no memory for the checker");
}

/* It ends: no arrays live. Everything must be given back. */
static void world_end(void) {
    order_disturb = NULL;
    if (ha_shutdown() != HA_OK) model_fail("shutdown: %s", ha_take_error().text);
    hb_block_forget(world_element);
    hb_block_forget(model_callers);
    if (order_blocks() != 0 || order_events != 0 || order_queue_count != 0 ||
        model_records_left() != 0)
        model_fail("left behind: %d blocks, %d events, %d queues, %zu records", order_blocks(),
                   order_events, order_queue_count, model_records_left());
    if (model.sim > SIM_WORLD && !cuda_fake_is_empty())
        model_fail("left behind in the CUDA driver");
    if (*hb.complaint) model_fail("%s", hb.complaint);
}

/* ---- queues that can be held --------------------------------------------------------------- */

static void world_hold(ha_context *c) {
    if (model.sim == SIM_WORLD)
        HA_CHECK(ha_sim_hold(c));
    else
        cuda_fake()->hold((ha_cu_stream)ha_context_stream(c));
}

static void world_step(ha_context *c, int64_t commands) {
    if (model.sim == SIM_WORLD)
        HA_CHECK(ha_sim_step(c, commands));
    else
        cuda_fake()->step((ha_cu_stream)ha_context_stream(c), commands);
}

/* Before a call that may wait for queues: nobody else would let held ones go on. */
static void world_may_wait(void) {
    for (int c = 0; c < model.contexts; c++) {
        if (model.context[c].held) world_step(model.context[c].context, -1);
        model.context[c].held = 0;
    }
}

/* ---- looking ------------------------------------------------------------------------------- */

static void look_at_valid(const model_array *a, int memory) {
    ha_range ranges[MODEL_MOST];
    char valid[MODEL_MOST] = {0};
    const ha_context *c = model.context[memory_context(memory)].context;
    const size_t n = ha_array_valid_ranges(a->array, c, ranges, MODEL_MOST);
    for (size_t i = 0; i < n; i++)
        for (size_t k = ranges[i].first; k < ranges[i].last && k < MODEL_MOST; k++) valid[k] = 1;
    if (memcmp(valid, a->is.valid[memory], sizeof valid) != 0)
        model_fail("array %td: other elements are valid at %s than should be", a - model.array,
                   ha_context_name(c));
}

/* The version changes when something is written or resized, and only then. */
static void look_at_version(model_array *a) {
    const uint64_t version = ha_array_version(a->array);
    if (a->raised ? version <= a->version : version != a->version)
        model_fail("array %td: version %llu after %llu", a - model.array,
                   (unsigned long long)version, (unsigned long long)a->version);
    a->version = version;
    a->raised = 0;
}

static void look_at_array(model_array *a) {
    ha_lock(a->array);
    const char *broken = broken_array(a->array, 1);
    ha_unlock(a->array);
    if (broken != NULL) model_fail("array %td: %s", a - model.array, broken);
    if (ha_array_size(a->array) != a->is.size)
        model_fail("array %td: %zu elements, not %zu", a - model.array, ha_array_size(a->array),
                   a->is.size);
    look_at_version(a);
    for (int m = 0; m < model.memories && !model.failed; m++) look_at_valid(a, m);
}

/* A block with an open access does not move, and what it covers stays valid. */
static void look_at_access(const model_access *x) {
    const ha_context *context = model.context[x->context].context;
    const ha_array *array = model.array[x->array].array;
    if (x->access.size == 0) return;
    const ha_incarnation *in = ha_incarnation_find((ha_array *)(uintptr_t)array, context->memory);
    if (in->data + x->range.first * sizeof(uint32_t) != x->access.data)
        model_fail("the block of an open access has moved");
    if (!ha_array_valid(array, context, x->range.first, x->range.last))
        model_fail("what an open access covers is not valid");
}

/* The account of a memory adds up; returns how many blocks it has of the backend. */
static int look_at_memory(ha_memory *m) {
    ha_spin_lock(&m->pool.lock);
    const char *broken = broken_pool(&m->pool, !model.nested);
    const uint64_t blocks = m->pool.allocations - m->pool.releases;
    ha_spin_unlock(&m->pool.lock);
    if (broken != NULL) model_fail("a memory of '%s': %s", m->backend->kind, broken);
    return (int)blocks;
}

static void look_at_memories(void) {
    int blocks = look_at_memory(&ha_host_memory);
    for (ha_memory *m = ha_registry.memories; m != NULL; m = m->next) blocks += look_at_memory(m);
    if (!model.nested && !model.sim && blocks != order_blocks())
        model_fail("%d blocks in the accounts, %d handed out", blocks, order_blocks());
}

/* After every step. */
static void look_at_all(void) {
    look_at_memories();
    for (int i = 0; i < MODEL_ARRAYS && !model.failed; i++)
        if (model.array[i].array != NULL) look_at_array(&model.array[i]);
    for (int i = 0; i < MODEL_ACCESSES && !model.failed; i++)
        if (model.access[i].progress >= OPEN) look_at_access(&model.access[i]);
    if (*hb.complaint) model_fail("%s", hb.complaint);
    if (atomic_load(&kernel_wrong.complete))
        model_fail("the function of step %u found %u instead of %u in its element %u",
                   kernel_wrong.step, kernel_wrong.found, kernel_wrong.expected,
                   kernel_wrong.index);
}

/* Everything that is valid somewhere, looked at there and in place. */
static void look_at_values(model_array *a, int memory) {
    const int c = memory_context(memory);
    const ha_incarnation *in = ha_incarnation_find(a->array, model.context[c].context->memory);
    for (size_t i = 0; in != NULL && i < a->is.size; i++) {
        kernel k = {.n = 1};
        if (!a->is.valid[memory][i]) continue;
        kernel_reads(&k, &a->is, i, (const uint32_t *)(const void *)in->data + i);
        const int strict = model.context[c].context->strict;
        model.context[c].context->strict = 0; /* no access is open */
        if (kernel_enqueue(&k, c) != HA_OK) model_fail("a function was not taken");
        model.context[c].context->strict = strict;
    }
}

/* When everything has happened, whoever asks for memory, a few times, gets back all that was
 * retired. */
static void world_idle(void) {
    order_run_all();
    for (int i = 0; i < 3; i++) ha_memory_sweep(&ha_host_memory);
    if (ha_host_memory.retired != NULL) model_fail("a block of the host is kept for nothing");
    for (ha_memory *m = ha_registry.memories; m != NULL; m = m->next) {
        for (int i = 0; i < 3; i++) ha_memory_sweep(m);
        if (m->retired != NULL) model_fail("a block of a device is kept for nothing");
    }
}

static void world_finish(void) {
    world_may_wait();
    for (int c = 0; c < model.contexts; c++)
        if (ha_context_finish(model.context[c].context) != HA_OK)
            model_fail("finish: %s", ha_take_error().text);
}

/* After everything has happened, all copies must be right. Nobody comes between: this looks past
 * the library. */
static void world_settle(void) {
    void (*disturb)(const char *) = order_disturb;
    order_disturb = NULL;
    world_finish();
    for (int i = 0; i < MODEL_ARRAYS; i++)
        for (int m = 0; m < model.memories && model.array[i].array != NULL; m++)
            look_at_values(&model.array[i], m);
    world_finish();
    order_disturb = disturb;
}

#endif
