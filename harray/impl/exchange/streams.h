/* Streams of others, for a moment: who takes or gives memory on a stream says so by its handle, and
 * may destroy it soon after. So they do not become contexts (device/queues.h does that, and waits
 * for their end): a queue is put around the stream, an event passes, and the queue goes again. */
#ifndef HARRAY_IMPL_EXCHANGE_STREAMS_H
#define HARRAY_IMPL_EXCHANGE_STREAMS_H

#include "../access/all.h"

/* The context whose own queue the stream is; NULL: none's. Its queue may go, unless its user keeps
 * it meanwhile; the context stays. */
HA_IN_ ha_context *ha_stream_context(const ha_context *c, const void *stream) {
    pthread_mutex_lock(&ha_registry.lock);
    ha_context *q = ha_registry.contexts;
    for (; q; q = q->next) {
        if (q->primary != c->primary || !q->queue || q->for_events) continue;
        if (HA_HAS_(q->ops, ha_queue_ops, native) && q->ops->native(q->queue) == stream) break;
    }
    pthread_mutex_unlock(&ha_registry.lock);
    return q;
}

HA_IN_ int ha_knows_streams(const ha_context *c) {
    return c->ops && HA_HAS_(c->ops, ha_queue_ops, adopt);
}

/* *queue = one around a stream of c's device. */
HA_IN_ ha_status ha_stream_enter(const ha_context *c, const void *stream, void **queue) {
    pthread_mutex_lock(&ha_registry.lock);
    ha_status s = c->ops->adopt(c->primary->device, (void *)(uintptr_t)stream, queue);
    pthread_mutex_unlock(&ha_registry.lock);
    return s;
}

/* Events that were recorded there are forgotten before. */
HA_IN_ void ha_stream_leave(const ha_context *c, void *queue) {
    pthread_mutex_lock(&ha_registry.lock);
    c->ops->destroy(queue);
    pthread_mutex_unlock(&ha_registry.lock);
}

HA_IN_ void ha_event_forget(const ha_context *c, ha_event *event) {
    if (HA_HAS_(c->ops, ha_queue_ops, forget)) c->ops->forget(event);
}

/* What is enqueued on the stream from now on comes after all that was enqueued on c. */
HA_IN_ ha_status ha_stream_follow(ha_context *c, const void *stream) {
    ha_context *q = ha_stream_context(c, stream);
    void *queue;
    ha_fence *m;
    if (q) return ha_or_backend(q, ha_await(q, (ha_timepoint){c, ha_sequence_of(c)}));
    ha_status s = ha_stream_enter(c, stream, &queue);
    if (s) return s;
    s = ha_cover(c, ha_sequence_of(c), &m);
    if (!s) {
        s = c->ops->await(queue, &m->event);
        ha_fence_release(c, m);
    }
    ha_stream_leave(c, queue);
    return s == HA_ERR_LOST ? HA_ERR_BACKEND : s;
}

/* What is enqueued on c from now on comes after all that was enqueued on the stream. */
HA_IN_ ha_status ha_stream_lead(ha_context *c, const void *stream) {
    ha_context *q = ha_stream_context(c, stream);
    void *queue;
    ha_event event;
    if (q) return ha_or_backend(c, ha_await(c, (ha_timepoint){q, ha_sequence_of(q)}));
    ha_status s = ha_stream_enter(c, stream, &queue);
    if (s) return s;
    s = c->ops->record(queue, &event);
    if (!s) {
        s = ha_or_backend(c, c->ops->await(c->queue, &event));
        ha_event_forget(c, &event);
    }
    ha_stream_leave(c, queue);
    return s == HA_ERR_LOST ? HA_ERR_BACKEND : s;
}

/* Waits until all that was enqueued on the stream has happened. */
HA_IN_ void ha_stream_drain(ha_context *c, const void *stream) {
    ha_context *q = ha_stream_context(c, stream);
    void *queue;
    if (q)
        HA_IGNORE_(ha_context_finish(q));
    else if (!ha_stream_enter(c, stream, &queue)) {
        c->ops->drain(queue);
        ha_stream_leave(c, queue);
    }
}

/* Ends a token when all that was enqueued on the stream has happened; without waiting, if the
 * driver lets it. */
HA_IN_ void ha_stream_end_token(ha_token *t, const void *stream, const char *operation) {
    ha_context *c = t->context;
    void *queue;
    ha_event event;
    if (ha_stream_enter(c, stream, &queue)) {
        ha_forget_note();
        return;
    }
    ha_status s = c->ops->record(queue, &event);
    if (!s) {
        s = ha_token_end_after_event(t, c, &event, operation);
        ha_event_forget(c, &event);
    }
    if (s) c->ops->drain(queue);
    ha_stream_leave(c, queue);
}

#endif
