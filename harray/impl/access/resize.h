/* Resizing inside an access: to the whole array, to write, and the only one that is open. */
#ifndef HARRAY_IMPL_ACCESS_RESIZE_H
#define HARRAY_IMPL_ACCESS_RESIZE_H

#include "open.h"

/* Why a write access cannot resize; NULL: it can. */
HA_IN_ const char *ha_cannot_resize(ha_array *a, const ha_access *x, ha_status *s)
    HA_REQUIRES_(a->lock) {
    const ha_holder *h = ha_access_find(a, x->ticket);
    *s = HA_ERR_STATE;
    if (!h) return "the access was closed, moved or detached before";
    if (h->thread != ha_self.id) return "another thread holds the access";
    *s = HA_ERR_ARGUMENT;
    if (!h->writes) return "a read access cannot resize";
    if (h->range.first != 0 || h->range.last != HA_END)
        return "only an access to the whole array can resize it";
    *s = HA_ERR_CONFLICT;
    if (a->holders > 1) return "another access is open, and the block might have to move";
    *s = HA_OK;
    return NULL;
}

/* Busy. Room for n elements in the block of an access; *why: why not. */
HA_IN_ ha_status ha_access_grow(const ha_access *x, size_t n, const char **why,
                                ha_attempt *attempt) {
    ha_array *a = x->array;
    ha_status s;
    ha_lock(a);
    *why = ha_cannot_resize(a, x, &s);
    ha_unlock(a);
    if (s) return s;
    *why = "it has a shape, so it keeps its size";
    if (a->grid && n != a->size) return HA_ERR_STATE;
    *why = "its memory is the caller's, and has room for fewer elements";
    if (ha_is_beyond(a, n)) return HA_ERR_STATE;
    *why = "its queue has failed; ha_shutdown ends that";
    if (ha_has_failed(x->context)) return HA_ERR_BACKEND;
    *why = "no memory there";
    ha_incarnation *in = ha_incarnation_find(a, x->context->memory);
    /* What was enqueued in this access is work on the block that may go. As when closing, it takes
     * the place of what was before, also where that has been lost since. */
    if (x->context->ops) {
        if (ha_ops_reserve(a, &in->ops, ha_poisons(x->context) ? 2 : 1)) return HA_ERR_MEMORY;
        ha_lock(a);
        ha_note_operation(&in->ops, x->context, HA_WHOLE_, 1, attempt->site);
        ha_unlock(a);
    }
    if (!(s = ha_settle(a))) s = ha_incarnation_room(a, in, x->context, n, attempt);
    return s ? s : ha_debug_reserve(in, in->block);
}

/* Busy, and there is room. The whole array is this access's. */
HA_IN_ void ha_access_update(ha_access *x, int resizes, size_t n, const char *site) {
    ha_array *a = x->array;
    ha_access before = *x;
    ha_lock(a);
    ha_incarnation *in = ha_incarnation_find(a, x->context->memory);
    const size_t before_size = a->size;
    if (resizes && n != a->size) {
        in->valid.n = 0;
        ha_set_add(&in->valid, (ha_range){0, n});
        a->version++;
        ha_set_size(a, n);
    }
    x->size = a->size;
    x->data = x->size ? in->data : NULL;
    ha_unlock(a);
    const ha_range fresh = {before_size, x->size};
    if (ha_poisons(x->context) && !ha_is_empty(fresh) && ha_may_poison(a, in, x->context, 0)) {
        ha_poison_elements(a, in, x->context, fresh);
        ha_poisoned(a, in, x->context, fresh, site);
    }
    ha_debug_resize(a, in, x, &before, site);
}

/* Room for `room` elements, then size n. */
HA_IN_ ha_status ha_access_room(ha_access *x, size_t room, int resizes, size_t n,
                                const char *operation, const char *site) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_enter(operation);
    ha_attempt attempt = {.site = site};
    const char *why;
    if (s) return s;
    if (!x) return ha_no_access(operation);
    ha_array *a = x->array;
    if (!a) return ha_fail_closed(operation, a, 0);
    do {
        if (ha_busy_begin(a, 0, NULL)) return ha_fail_freed(a, operation, NULL);
        s = ha_access_grow(x, room, &why, &attempt);
        if (!s) ha_access_update(x, resizes, n, site);
        ha_busy_end(a);
        if (s != HA_RETRY_) break;
        why = "waiting for memory failed";
    } while (!(s = ha_attempt_pass(&attempt)));
    if (!s) return HA_OK;
    return ha_fail(s, operation, "%s: array %s at %s: %s (%zu elements)", site, ha_label_of(a).text,
                   x->context->name, why, room);
}

ha_status ha_access_resize_(ha_access *x, size_t n, const char *site) {
    site = ha_from(site);
    return ha_access_room(x, n, 1, n, "ha_access_resize", site);
}

ha_status ha_access_reserve_(ha_access *x, size_t n, const char *site) {
    site = ha_from(site);
    return ha_access_room(x, n, 0, 0, "ha_access_reserve", site);
}

size_t ha_access_capacity_(const ha_access *x) {
    ha_array *a = x ? x->array : NULL;
    if (!a || ha_enter("ha_access_capacity")) return 0;
    ha_lock(a);
    const ha_incarnation *in = ha_incarnation_find(a, x->context->memory);
    size_t n = in ? in->capacity : 0;
    ha_unlock(a);
    return n;
}

#endif
