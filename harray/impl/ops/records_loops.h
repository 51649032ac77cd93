/* Loops over records that are open at a context: of the host's memory, or as a function on the queue of a device that
 * runs these. */
#ifndef HARRAY_IMPL_OPS_RECORDS_LOOPS_H
#define HARRAY_IMPL_OPS_RECORDS_LOOPS_H

#include "../records/all.h"

/* What a loop has begins with it. */
typedef struct ha_records_loop {
    void **blob; /* on a queue: room for the blobs' addresses there */
    ha_status status;
    ha_error error; /* its text says why the status is no HA_OK */
} ha_records_loop;

/* The addresses of its blobs on the queue. Returns what is behind them. */
HA_IN_ void **ha_blobs_on_queue(const ha_queue *queue, const ha_records_access *x, void **blob) {
    for (int32_t b = 0; b < x->mapping->blobs; b++) blob[b] = ha_here_(queue, x->blob[b]);
    return blob + x->mapping->blobs;
}

HA_IN_ void ha_loop_fails(ha_records_loop *loop, ha_status status, const char *why) {
    loop->status = status;
    (void)snprintf(loop->error.text, sizeof loop->error.text, "%s", why);
}

/* Runs f on the queue where x is open, with the address of the loop, and waits for it. Both what it allocates and what it frees
 * is the caller's thread's. */
HA_IN_ ha_status ha_loop_on_queue(ha_records_loop *loop, size_t blobs, ha_function f,
                                  ha_records_access *x, ha_context *context, const char *name,
                                  const char *site) {
    loop->blob = (void **)HARRAY_MALLOC((blobs + 1) * sizeof(void *));
    if (!loop->blob) return ha_loop_fails(loop, HA_ERR_MEMORY, "there is no memory"), HA_OK;
    ha_loop_fails(loop, HA_ERR_LOST, "the device has failed");
    ha_status s = ha_records_run_(f, x, &loop, sizeof loop, name, site);
    if (!s) ha_drain((ha_timepoint){context, ha_sequence_of(context)});
    HARRAY_FREE(loop->blob);
    return s;
}

#endif
