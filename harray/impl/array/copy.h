/* Bytes from one place of the caller's to another: as values of arrays that wrap both for the moment. A copy
 * that was started is such an array, too, which its token keeps until it is ended. */
#ifndef HARRAY_IMPL_ARRAY_COPY_H
#define HARRAY_IMPL_ARRAY_COPY_H

#include "contents.h"
#include "free.h"

static const ha_type ha_byte = {"uint8_t", 1};

typedef struct ha_byte_copy {
    ha_wrapped to, from;
    size_t n;
    const char *operation, *site;
} ha_byte_copy;

/* Inside a memory there are two arrays; else one with a piece in each. */
static inline int ha_bytes_inside(const ha_byte_copy *b) {
    return b->to.context->memory == b->from.context->memory;
}

/* ---- the array ----------------------------------------------------------------------------- */

/* The source goes with the target. */
HA_IN_ void ha_bytes_source_gone(void *user) {
    ha_array *source = (ha_array *)user;
    HA_IGNORE_(ha_discard_(&source, NULL));
}

/* *target: with the bytes, where it is *source; else they are to be copied from there. */
HA_IN_ ha_status ha_bytes_wrap(const ha_byte_copy *b, ha_array **source, ha_array **target) {
    const ha_wrapped pieces[] = {b->from, b->to};
    if (!ha_bytes_inside(b)) {
        ha_status s = ha_wrap_make(ha_byte, b->n, pieces, 2, target);
        *source = *target;
        return s;
    }
    ha_status s = ha_wrap_make(ha_byte, b->n, &b->from, 1, source);
    if (s) return s;
    if ((s = ha_wrap_make(ha_byte, b->n, &b->to, 1, target))) {
        HA_IGNORE_(ha_discard_(source, b->site));
        return s;
    }
    (*target)->release = ha_bytes_source_gone;
    (*target)->release_user = *source;
    return HA_OK;
}

/* Hands all back when the bytes are there. */
HA_IN_ ha_status ha_bytes_arrive(ha_array *a, const char *site) {
    ha_status s = ha_unwrap_(a, site);
    if (s) HA_IGNORE_(ha_discard_(&a, site));
    return s;
}

/* ---- starting ------------------------------------------------------------------------------ */

/* What was enqueued on a piece's context may still work with it: the copy comes after that. */
HA_IN_ ha_status ha_bytes_behind(ha_array *a, const ha_wrapped *piece, int write,
                                 const ha_byte_copy *b) {
    ha_incarnation *in = ha_incarnation_find(a, piece->context->memory);
    if (!in) return HA_OK; /* of no bytes there is none */
    if (ha_ops_reserve(a, &in->ops, 1))
        return ha_fail(HA_ERR_MEMORY, b->operation, "%s: no memory for its records", b->site);
    ha_lock(a);
    ha_note_operation(&in->ops, piece->context, (ha_range){0, b->n}, write, b->site);
    ha_unlock(a);
    return HA_OK;
}

/* Where a copy between memories is read, nothing has to be moved for the access that is the token. */
HA_IN_ ha_status ha_bytes_begin(const ha_byte_copy *b, ha_array *source, ha_array *target,
                                ha_token *token) {
    ha_access x;
    ha_context *c = source == target ? b->from.context : b->to.context;
    ha_status s = ha_bytes_behind(source, &b->from, 1, b);
    if (!s) s = ha_bytes_behind(target, &b->to, 0, b);
    if (!s && source == target)
        s = ha_array_prefetch_(target, b->to.context, 0, HA_END, b->site);
    else if (!s)
        s = ha_array_assign_at(target, source, c);
    if (!s) s = ha_open_(&x, target, c, HA_READ, 0, HA_END, b->site);
    if (s) return s;
    target->arrive = ha_bytes_arrive;
    return ha_detach_(token, &x, b->site);
}

/* ---- copies -------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_bytes_check(const ha_byte_copy *b) {
    ha_status s = ha_enter(b->operation);
    if (!s && b->n && (!b->to.data || !b->from.data))
        s = ha_fail(HA_ERR_ARGUMENT, b->operation, "%s: %s: a pointer is NULL", b->site,
                    b->operation);
    return s;
}

HA_IN_ ha_byte_copy ha_bytes_make(void *to, ha_context *to_context, const void *from,
                                  ha_context *from_context, size_t n, const char *operation,
                                  const char *site) {
    return (ha_byte_copy){
        {to, ha_resolve(to_context), HA_WRAP_UNWRITTEN},
        {(void *)(uintptr_t)from, ha_resolve(from_context), HA_WRAP_CONST | HA_WRAP_COPIED_},
        n,
        operation,
        ha_from(site)};
}

ha_status ha_copy_(void *to, ha_context *to_context, const void *from, ha_context *from_context,
                   size_t n, const char *site) {
    HA_TELLS_EVENTS_;
    const ha_byte_copy b = ha_bytes_make(to, to_context, from, from_context, n, "ha_copy", site);
    ha_array *source, *target;
    ha_status s = ha_bytes_check(&b);
    if (s || !n) return s;
    if ((s = ha_context_finish(b.from.context))) return s;
    if ((s = ha_context_finish(b.to.context))) return s;
    if ((s = ha_bytes_wrap(&b, &source, &target))) return s;
    if (source != target) s = ha_array_assign_at(target, source, b.to.context);
    if (!s) return ha_bytes_arrive(target, b.site);
    HA_IGNORE_(ha_discard_(&target, b.site));
    return s;
}

ha_status ha_copy_start_(ha_token *token, void *to, ha_context *to_context, const void *from,
                         ha_context *from_context, size_t n, const char *site) {
    HA_TELLS_EVENTS_;
    const ha_byte_copy b = ha_bytes_make(to, to_context, from, from_context, n, "ha_copy_start",
                                         site);
    ha_array *source, *target;
    ha_status s = ha_bytes_check(&b);
    if (!s && !token) s = ha_fail(HA_ERR_ARGUMENT, b.operation, "%s: no token", b.site);
    if (!s && token->array)
        s = ha_fail(HA_ERR_STATE, b.operation, "%s: the token is in use", b.site);
    if (s || (s = ha_bytes_wrap(&b, &source, &target))) return s;
    if ((s = ha_bytes_begin(&b, source, target, token))) HA_IGNORE_(ha_discard_(&target, b.site));
    return s;
}

/* ---- looking ------------------------------------------------------------------------------- */

ha_status ha_copy_out_(void *to, ha_context *c, const void *from, size_t bytes, const char *site) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_enter("ha_copy_out");
    if (s || !bytes) return s;
    if (!to || !from) return ha_fail(HA_ERR_ARGUMENT, "ha_copy_out", "%s: NULL", ha_from(site));
    c = ha_resolve(c);
    site = ha_from(site);
    if (!c->ops) return memcpy(to, from, bytes), HA_OK;
    s = ha_download(c, to, from, bytes, site);
    return s ? ha_fail(s, "ha_copy_out", "%s: %zu bytes could not be copied from %s", site, bytes,
                       c->name)
             : HA_OK;
}

#endif
