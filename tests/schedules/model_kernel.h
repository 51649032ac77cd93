/* The functions that scripts enqueue. Each looks whether the elements that it reads are what they
 * should be by the order of the steps, and then, perhaps, writes some. */
#ifndef HARRAY_TESTS_SCHEDULES_MODEL_KERNEL_H
#define HARRAY_TESTS_SCHEDULES_MODEL_KERNEL_H

#include "model_script.h"

typedef struct kernel {
    order_touches touches; /* for the order backend, which needs it in front */
    const uint32_t *from;  /* NULL: reads nothing */
    uint32_t *to;          /* NULL: writes nothing; may be `from` */
    uint32_t n, add, step;
    uint32_t expected[MODEL_MOST]; /* of from[] */
    char known[MODEL_MOST];
} kernel;

/* The first wrong value that a function saw; functions may run on threads of the backend. */
static struct {
    atomic_int seen;
    uint32_t step, index, expected, found;
    atomic_int complete;
} kernel_wrong;

static void kernel_complain(const kernel *k, uint32_t i, uint32_t found) {
    if (atomic_exchange(&kernel_wrong.seen, 1)) return;
    kernel_wrong.step = k->step;
    kernel_wrong.index = i;
    kernel_wrong.expected = k->expected[i];
    kernel_wrong.found = found;
    atomic_store(&kernel_wrong.complete, 1);
}

/* Element i becomes what was read, or i, and `add` more. */
static void kernel_run(const ha_queue *queue, void *argument) {
    const kernel *k = (const kernel *)argument;
    const uint32_t *from = HA_HERE(queue, const uint32_t, k->from);
    uint32_t *to = HA_HERE(queue, uint32_t, k->to);
    for (uint32_t i = 0; i < k->n; i++) {
        const uint32_t value = k->from != NULL ? from[i] : i;
        if (k->from != NULL && k->known[i] && value != k->expected[i]) kernel_complain(k, i, value);
        if (k->to != NULL) to[i] = value + k->add;
    }
}

static void kernel_touch(kernel *k, const void *data, int write) {
    const uint32_t i = k->touches.n++;
    k->touches.touch[i].data = data;
    k->touches.touch[i].bytes = k->n * sizeof(uint32_t);
    k->touches.touch[i].write = write;
}

/* Elements [first, first + n) of an array are at `from`, and are as the model has them. */
static void kernel_reads(kernel *k, const model_contents *is, size_t first, const uint32_t *from) {
    k->from = from;
    kernel_touch(k, from, 0);
    for (uint32_t i = 0; i < k->n; i++) {
        k->expected[i] = is->value[first + i];
        k->known[i] = is->state[first + i] == KNOWN;
    }
}

/* What it writes to elements from `first` on; `source` is what it reads, as the model has it. */
static void kernel_writes(kernel *k, model_contents *is, size_t first, uint32_t *to) {
    k->to = to;
    kernel_touch(k, to, 1);
    k->add = ++model.last_value * 100;
    for (uint32_t i = 0; i < k->n; i++)
        if (k->from == NULL)
            write_element(is, first + i, i + k->add);
        else if (k->known[i])
            write_element(is, first + i, k->expected[i] + k->add);
        else
            is->state[first + i] = UNDEFINED;
}

/* On the host it runs now, and the host's use of the bytes is noted here. */
static ha_status kernel_enqueue(kernel *k, int context) {
    k->step = hb.step;
    order_head = sizeof(ha_queued);
    if (context == 0)
        for (uint32_t i = 0; i < k->touches.n; i++)
            hb_touch(HB_HOST, k->touches.touch[i].data, k->touches.touch[i].bytes,
                     k->touches.touch[i].write, "host's use");
    return ha_enqueue(model.context[context].context, kernel_run, k, sizeof *k);
}

#endif
