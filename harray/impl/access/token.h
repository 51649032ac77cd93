/* Tokens: locks that outlive their access.
 *
 * The holder of the access stays in the array's table, noted as nobody's own (HA_TOKEN_): so its
 * thread is refused as others have to wait, and no deadlock is looked for through it. Ending a token is
 * closing, from any thread; at another queue's position it leaves one more operation behind. */
#ifndef HARRAY_IMPL_ACCESS_TOKEN_H
#define HARRAY_IMPL_ACCESS_TOKEN_H

#include "open.h"
#include "../../token.h"

/* Who waits for the access waits for a token now. */
HA_IN_ void ha_detach_wake(void) {
    pthread_mutex_lock(&ha_slow.lock);
    ha_wake_queued();
    pthread_mutex_unlock(&ha_slow.lock);
}

ha_status ha_detach_(ha_token *t, ha_access *x, const char *site) {
    site = ha_from(site);
    ha_status s = ha_enter_briefly("ha_detach");
    if (s) return s;
    if (!t) return ha_fail(HA_ERR_ARGUMENT, "ha_detach", "%s: no token", site);
    if (!x) return ha_no_access("ha_detach");
    ha_array *a = x->array;
    (void)ha_held(); /* so that not too much has to be noted for a thread that never waits */
    if (t->array) return ha_fail(HA_ERR_STATE, "ha_detach", "%s: the token is in use", site);
    if (!a) return ha_fail_closed("ha_detach", a, 0);
    ha_lock(a);
    ha_holder *h = ha_access_find(a, x->ticket);
    int foreign = h && h->thread != ha_self.id;
    if (h && !foreign) {
        __atomic_fetch_add(&ha_slow.tokens, 1, __ATOMIC_RELEASE);
        h->thread |= HA_TOKEN_;
        h->site = site;
    }
    uint32_t waiters = a->waiters & HA_WAITING;
    ha_unlock(a);
    if (!h || foreign) return ha_fail_closed("ha_detach", a, foreign);
    if (waiters) ha_detach_wake();
    *t = (ha_token){a, x->context, x->ticket};
    x->data = NULL;
    x->size = 0;
    x->array = NULL;
    return HA_OK;
}

/* ---- ending -------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_token_check(const ha_token *t, const char *operation) {
    ha_status s = ha_enter(operation);
    if (!s && !t) return ha_fail(HA_ERR_ARGUMENT, operation, "%s: no token", operation);
    if (s || t->array) return s;
    return ha_fail(HA_ERR_STATE, operation, "%s: the token is not in use", operation);
}

HA_IN_ ha_status ha_token_fail_ended(const char *operation) {
    return ha_fail(HA_ERR_STATE, operation, "the token has ended already, through a copy of it");
}

/* There is room. What may still work on what the token covered: its own context up
 * to `own`, and another queue up to `other`. Nothing orders the second behind the first, so it does
 * not take its place, as ha_ops_note would have it. */
HA_IN_ void ha_token_note(ha_array *a, const ha_holder *h, ha_timepoint own, ha_timepoint other)
    HA_REQUIRES_(a->lock) {
    ha_incarnation *in = ha_incarnation_find(a, h->context->memory);
    if (ha_is_empty(h->range)) return;
    if (h->context->ops) {
        in->ops.promised--;
        ha_note_closed(&in->ops, h, own.seq);
    }
    if (other.queue)
        ha_ops_list(&in->ops)[in->ops.n++] = (ha_operation){other, h->range, h->writes, h->site,
                                                            HA_NO_ACCESS_};
}

/* HA_ERR_STATE, untold, when it has ended already. The array may be gone when this returns. */
HA_IN_ ha_status ha_token_release(ha_token *t, ha_timepoint own, ha_timepoint other) {
    ha_array *a = t->array;
    ha_debug_close(a, t->ticket, HA_TOKEN_, other);
    ha_lock(a);
    ha_holder *h = ha_holder_find(a, t->ticket);
    if (!h || !(h->thread & HA_TOKEN_)) {
        ha_unlock(a);
        return HA_ERR_STATE;
    }
    const uint64_t thread = h->thread & ~HA_TOKEN_;
    ha_token_note(a, h, own, other);
    __atomic_fetch_sub(&ha_slow.tokens, 1, __ATOMIC_RELEASE);
    ha_holder_end(a, h);
    ha_held_less(thread);
    memset(t, 0, sizeof *t);
    return HA_OK;
}

HA_IN_ ha_timepoint ha_token_position(const ha_token *t) {
    return (ha_timepoint){t->context, t->context->ops ? ha_sequence_of(t->context) : 0};
}

/* The token is a copy of bytes (array/copy.h). Nothing was enqueued for it but the copy, which notes itself. */
HA_IN_ ha_status ha_token_arrive(ha_token *t, const char *operation) {
    ha_array *a = t->array;
    const ha_timepoint nothing = {t->context, 0}, no_other = {NULL, 0};
    if (ha_token_release(t, nothing, no_other)) return ha_token_fail_ended(operation);
    return a->arrive(a, ha_from(operation));
}

HA_IN_ ha_status ha_token_refuse_position(const ha_token *t, const char *operation) {
    if (!t->array->arrive) return HA_OK;
    return ha_fail(HA_ERR_UNSUPPORTED, operation,
                   "%s: bytes are being copied, which is over when they are there: ha_token_wait",
                   operation);
}

ha_status ha_token_finish(ha_token *t) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_token_check(t, "ha_token_finish");
    if (s) return s;
    if (t->array->arrive) return ha_token_arrive(t, "ha_token_finish");
    s = ha_token_release(t, ha_token_position(t), (ha_timepoint){NULL, 0});
    return s ? ha_token_fail_ended("ha_token_finish") : HA_OK;
}

ha_status ha_token_wait(ha_token *t) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_token_check(t, "ha_token_wait");
    if (s) return s;
    if (t->array->arrive) return ha_token_arrive(t, "ha_token_wait");
    ha_label label = ha_label_of(t->array);
    ha_context *c = t->context;
    ha_timepoint own = ha_token_position(t);
    if (c->ops) s = ha_wait_at(own, ha_from("ha_token_wait"));
    if (ha_token_release(t, own, (ha_timepoint){NULL, 0}))
        return ha_token_fail_ended("ha_token_wait");
    if (!s) return HA_OK;
    return ha_fail(s, "ha_token_wait", "array %s at %s: waiting for its work failed", label.text,
                   c->name);
}

void ha_token_close_scope_(ha_token *t) {
    if (t->array) HA_IGNORE_(ha_token_wait(t));
}

/* ---- ending at a position of another queue ------------------------------------------------- */

/* With room for the position, which only the thread that has the array busy can make. */
HA_IN_ ha_status ha_token_end_behind(ha_token *t, ha_timepoint other, const char *operation) {
    ha_array *a = t->array;
    ha_label label = ha_label_of(a);
    ha_context *c = t->context;
    if (ha_busy_begin(a, 0, NULL)) return ha_token_fail_ended(operation); /* it was freed since */
    ha_incarnation *in = ha_incarnation_find(a, c->memory);
    ha_status s = in ? ha_ops_reserve(a, &in->ops, 1) : HA_ERR_STATE;
    if (!s) s = ha_token_release(t, ha_token_position(t), other);
    ha_busy_end(a);
    if (s == HA_ERR_STATE) return ha_token_fail_ended(operation);
    if (!s) return HA_OK;
    return ha_fail(s, operation, "array %s at %s: no memory for its records", label.text, c->name);
}

ha_status ha_token_end_at(ha_token *t, ha_context *c) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_token_check(t, "ha_token_end_at");
    if (s || (s = ha_token_refuse_position(t, "ha_token_end_at"))) return s;
    c = ha_resolve(c);
    if (ha_is_host(c) || c == t->context) return ha_token_finish(t);
    return ha_token_end_behind(t, (ha_timepoint){c, ha_sequence_of(c)}, "ha_token_end_at");
}

/* ---- ending after an event of the caller --------------------------------------------------- */

/* A queue of c's device that does nothing but wait for events: in c itself, later work would wait,
 * too. Each is used again when what it waited for has happened. */
HA_IN_ ha_context *ha_event_queue_take(const ha_context *c, ha_failure *failure) {
    ha_poll_all();
    pthread_mutex_lock(&ha_registry.lock);
    ha_context *q = ha_registry.contexts;
    while (q && !(q->for_events && q->primary == c->primary && !ha_has_failed(q) &&
                  ha_passed(q, q->waits_until)))
        q = q->next;
    ha_context like = ha_context_like(c);
    like.for_events = 1;
    snprintf(like.name, sizeof like.name, "%.30s/events", c->primary->name);
    if (!q) q = ha_context_add(like, failure);
    if (q) q->waits_until = UINT64_MAX; /* taken */
    pthread_mutex_unlock(&ha_registry.lock);
    return q;
}

HA_IN_ void ha_event_queue_give(ha_context *q, uint64_t waits_until) {
    pthread_mutex_lock(&ha_registry.lock);
    q->waits_until = waits_until;
    pthread_mutex_unlock(&ha_registry.lock);
}

/* q waits for the event; *behind: where it has. A fence is made at once: nobody else may ever wait
 * there, and then polling would not learn that the queue is free again. */
HA_IN_ ha_status ha_event_queue_wait(ha_context *q, const ha_event *event, ha_timepoint *behind) {
    ha_fence *fence;
    ha_status s = ha_or_backend(q, q->ops->await(q->queue, event));
    if (s) return s;
    *behind = (ha_timepoint){q, ha_sequence_of(q)};
    s = ha_cover(q, behind->seq, &fence);
    if (!s) ha_fence_release(q, fence);
    return s;
}

/* A queue of c's device that waits for the event, taken; NULL: *failure. */
HA_IN_ ha_context *ha_event_queue_behind(const ha_context *c, const ha_event *event,
                                         ha_timepoint *behind, ha_failure *failure) {
    ha_context *q = ha_event_queue_take(c, failure);
    if (!q) return NULL;
    ha_status s = ha_event_queue_wait(q, event, behind);
    if (!s) return q;
    *failure = (ha_failure){s, "cannot wait for the event"};
    ha_event_queue_give(q, 0);
    return NULL;
}

/* The backend's event may be forgotten when this returns. */
HA_IN_ ha_status ha_token_end_after_event(ha_token *t, const ha_context *c, const ha_event *event,
                                          const char *operation) {
    ha_failure failure = {HA_OK, NULL};
    ha_timepoint behind;
    ha_context *q = ha_event_queue_behind(c, event, &behind, &failure);
    if (!q)
        return ha_fail(failure.status, operation, "array %s: %s: %s", ha_label_of(t->array).text,
                       c->name, failure.why);
    ha_status s = ha_token_end_behind(t, behind, operation);
    ha_event_queue_give(q, behind.seq);
    return s;
}

ha_status ha_token_end_after(ha_token *t, ha_context *c, void *native) {
    HA_TELLS_EVENTS_;
    static const char operation[] = "ha_token_end_after";
    ha_event event;
    ha_status s = ha_token_check(t, operation);
    if (s || (s = ha_token_refuse_position(t, operation))) return s;
    c = ha_resolve(c);
    if (ha_is_host(c)) return ha_token_finish(t);
    if (!HA_HAS_(c->ops, ha_queue_ops, adopt_event))
        return ha_fail(HA_ERR_UNSUPPORTED, operation, "%s knows no events of the caller", c->name);
    if (!native) return ha_fail(HA_ERR_ARGUMENT, operation, "no event");
    if ((s = c->ops->adopt_event(c->queue, native, &event)))
        return ha_fail(s, operation, "array %s: %s: cannot wait for the event",
                       ha_label_of(t->array).text, c->name);
    s = ha_token_end_after_event(t, c, &event, operation);
    if (c->ops->forget) c->ops->forget(&event); /* older than adopt_event */
    return s;
}

#endif
