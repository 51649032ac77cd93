/* Bytes from one place of the caller's to another: as values of arrays that wrap both for the moment. */
#ifndef HARRAY_IMPL_ARRAY_COPY_H
#define HARRAY_IMPL_ARRAY_COPY_H

#include "contents.h"
#include "free.h"

static const ha_type ha_byte = {"uint8_t", 1};

/* Hands the target back when the bytes are there. s: what came before. */
HA_IN_ ha_status ha_bytes_arrive(ha_array *a, ha_status s, const char *site) {
    if (!s) s = ha_unwrap_(a, site);
    if (s) HA_IGNORE(ha_discard_(&a, site));
    return s;
}

/* Between memories: one array with a piece in each, of which one has the values. */
HA_IN_ ha_status ha_bytes_between(const ha_wrapped *to, const ha_wrapped *from, size_t bytes,
                                  const char *site) {
    const ha_wrapped pieces[] = {*from, *to};
    ha_array *a;
    ha_status s = ha_wrap_make(ha_byte, bytes, pieces, 2, &a);
    return s ? s : ha_bytes_arrive(a, HA_OK, site);
}

/* Inside a memory: from one array to another. */
HA_IN_ ha_status ha_bytes_inside(const ha_wrapped *to, const ha_wrapped *from, size_t bytes,
                                 const char *site) {
    ha_array *source, *target;
    ha_status s = ha_wrap_make(ha_byte, bytes, from, 1, &source);
    if (s) return s;
    s = ha_wrap_make(ha_byte, bytes, to, 1, &target);
    if (!s) s = ha_bytes_arrive(target, ha_array_assign_at(target, source, to->context), site);
    HA_IGNORE(ha_discard_(&source, site));
    return s;
}

ha_status ha_copy_(void *to, ha_context *to_context, const void *from, ha_context *from_context,
                   size_t bytes, const char *site) {
    HA_TELLS_EVENTS_;
    const ha_wrapped target = {to, ha_resolve(to_context), HA_WRAP_UNWRITTEN};
    const ha_wrapped source = {(void *)(uintptr_t)from, ha_resolve(from_context), HA_WRAP_CONST};
    const int is_inside = target.context->memory == source.context->memory;
    site = ha_from(site);
    ha_status s = ha_enter("ha_copy");
    if (!s && bytes && (!to || !from))
        s = ha_fail(HA_ERR_ARGUMENT, "ha_copy", "%s: %s: a pointer is NULL", site, "ha_copy");
    if (s || !bytes) return s;
    if ((s = ha_context_finish(source.context))) return s;
    if ((s = ha_context_finish(target.context))) return s;
    return is_inside ? ha_bytes_inside(&target, &source, bytes, site)
                     : ha_bytes_between(&target, &source, bytes, site);
}

#endif
