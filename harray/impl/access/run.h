/* Functions on a queue. What they do wrong is kept until somebody asks (queue_errors.h). */
#ifndef HARRAY_IMPL_ACCESS_RUN_H
#define HARRAY_IMPL_ACCESS_RUN_H

#include "reach.h"

/* What is enqueued: this, the argument behind it, and behind that (at the next address that is aligned as
 * this) what a function on a strict device may touch. */
typedef struct ha_queued {
    _Alignas(max_align_t) ha_function f;
    ha_context *context;
    uint64_t epoch;    /* at which it was enqueued */
    const char *site;  /* of the call that enqueued it */
    size_t bytes;      /* of the argument; 0: none */
    int strict;        /* the device was, then */
    size_t touchables; /* if so; there may be none */
} ha_queued;

/* Of the argument, up to what comes behind it. */
HA_IN_ size_t ha_queued_room(size_t bytes) {
    const size_t unit = _Alignof(max_align_t);
    return (bytes + unit - 1) / unit * unit;
}

HA_IN_ void ha_queued_call(const ha_queue *here, ha_queued *q) {
    void *argument = q->bytes ? q + 1 : NULL;
    const char *behind = (const char *)(q + 1) + ha_queued_room(q->bytes);
    const ha_touchables touchables = {(const ha_touchable *)(const void *)behind, q->touchables,
                                      q->context->name, q->site};
    if (q->strict)
        ha_window_run(&q->context->window, here, &touchables, q->f, argument);
    else
        q->f(here, argument);
}

/* Runs on the queue's own thread, whose first error is nobody else's. */
HA_IN_ void ha_queued_run(const ha_queue *here, void *message) {
    ha_queued *q = (ha_queued *)message;
    ha_error before = {.status = HA_OK};
    if (ha_first_error.status) before = ha_take_error();
    ha_queued_call(here, q);
    if (ha_first_error.status) ha_queue_error_add(q->context, q->epoch, q->site, &ha_first_error);
    if (ha_first_error.status || before.status) ha_first_error = before;
}

/* On the host: at once, with a copy of the argument as everywhere. Its errors are this thread's. */
HA_IN_ ha_status ha_call_here(ha_function f, const void *argument, size_t bytes) {
    static const ha_queue nowhere = {0, 0, 0};
    _Alignas(max_align_t) char small[256];
    void *copy = small;
    if (bytes > sizeof small && !(copy = HARRAY_MALLOC(bytes))) return HA_ERR_MEMORY;
    if (bytes) memcpy(copy, argument, bytes);
    ha_queue_run(f, &nowhere, bytes ? copy : NULL);
    if (copy != small) HARRAY_FREE(copy);
    return HA_OK;
}

/* The queue copies once more. Here the usual argument is put on the stack. */
HA_IN_ ha_status ha_call_there(const ha_queued *head, const void *argument,
                               const ha_touchable *touchable) {
    ha_context *c = head->context;
    _Alignas(max_align_t) char small[8192];
    const size_t room = touchable ? ha_queued_room(head->bytes) : head->bytes;
    const size_t bytes = sizeof *head + room + head->touchables * sizeof *touchable;
    char *message = small, *behind;
    if (bytes < head->bytes) return HA_ERR_MEMORY;
    if (bytes > sizeof small && !(message = (char *)HARRAY_MALLOC(bytes))) return HA_ERR_MEMORY;
    behind = message + sizeof *head;
    memcpy(message, head, sizeof *head);
    if (argument) memcpy(behind, argument, head->bytes);
    if (head->touchables) memcpy(behind + room, touchable, head->touchables * sizeof *touchable);
    ha_status s = ha_queue_status(c, c->ops->call(c->queue, ha_queued_run, message, bytes));
    if (message != small) HARRAY_FREE(message);
    return s;
}

/* With what is open there now. */
HA_IN_ ha_status ha_call_strictly(ha_queued *head, const void *argument) {
    ha_touchable_list list = {.n = 0};
    ha_status s = ha_touchable_refuse(head->context, argument, head->bytes);
    if (!s) s = ha_touchable_list_make(&list, head->context);
    head->touchables = list.n;
    if (!s) s = ha_call_there(head, argument, list.touchable);
    HARRAY_FREE(list.touchable);
    return s;
}

HA_IN_ ha_status ha_call(ha_context *c, ha_function f, const void *argument, size_t bytes,
                         const char *site) {
    if (ha_is_host(c)) return ha_call_here(f, argument, bytes);
    ha_queued head = {
        .f = f, .context = c, .epoch = ha_function_epoch(c), .site = site, .bytes = bytes};
    head.strict = c->strict;
    return c->strict ? ha_call_strictly(&head, argument) : ha_call_there(&head, argument, NULL);
}

/* Tells nothing: the caller knows more. name: for those who watch; NULL: it is nothing of the user's. */
HA_IN_ ha_status ha_enqueue_quietly(ha_context *c, ha_function f, const void *argument,
                                    size_t bytes, const char *name, const char *site) {
    ha_work w = {name, ha_from(site), 0};
    ha_work_begin(&w, c);
    const ha_status s = ha_call(c, f, argument, bytes, site);
    ha_work_end(&w, c, s);
    return s;
}

ha_status ha_enqueue_(ha_context *c, ha_function f, const void *argument, size_t bytes,
                      const char *name, const char *site) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_enter("ha_enqueue");
    if (s) return s;
    c = ha_resolve(c);
    if (!f || (bytes && !argument))
        return ha_fail(HA_ERR_ARGUMENT, "ha_enqueue", "%s: %s: no %s", site, c->name,
                       f ? "argument" : "function");
    if ((s = ha_enqueue_quietly(c, f, argument, bytes, name, site)))
        return ha_fail(s, "ha_enqueue", "%s: %s did not take a function with %zu bytes of argument",
                       site, c->name, bytes);
    return HA_OK;
}

#endif
