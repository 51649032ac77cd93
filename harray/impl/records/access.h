/* Accesses to record arrays that are open, and moving without one. */
#ifndef HARRAY_IMPL_RECORDS_ACCESS_H
#define HARRAY_IMPL_RECORDS_ACCESS_H

#include "open.h"

HA_IN_ ha_status ha_records_not_open(const ha_records_access *x, const char *operation) {
    if (!x) return ha_no_access(operation);
    return x->records ? HA_OK : ha_fail_closed(operation, NULL, 0);
}

ha_status ha_records_close_(ha_records_access *x) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_enter("ha_records_close");
    if (!s) s = ha_records_not_open(x, "ha_records_close");
    if (s) return s;
    ha_access *part = ha_records_parts(x);
    const ha_record *record = x->mapping->record;
    const ha_unnamed unnamed = ha_named_close(x->mapping, x->context, part);
    for (int i = 0; i < x->parts_ && !s; i++) s = ha_close_(&part[i]); /* all are one thread's */
    if (s) return s;
    if (unnamed.what) s = ha_named_fail(x->records, record, &unnamed);
    if (x->more_) HARRAY_FREE(x->more_);
    x->more_ = NULL; /* other parts say themselves that they are closed */
    size_t closed = offsetof(ha_records_access, part_);
    __asm__("" : "+r"(closed)); /* where gcc knows the size, it zeroes 5 ns more slowly */
    memset(x, 0, closed);
    return s;
}

ha_status ha_records_run_(ha_function f, ha_records_access *x, const void *argument, size_t bytes,
                          const char *name, const char *site) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_enter("ha_records_run");
    if (!s) s = ha_records_not_open(x, "ha_records_run");
    if (!x) return s;
    if (s) return x->status = s;
    s = f && (argument || !bytes) ? ha_enqueue_quietly(x->context, f, argument, bytes, name, site)
                                  : HA_ERR_ARGUMENT;
    if (!s) return HA_OK;
    return x->status = ha_fail(s, "ha_records_run", "records %s at %s: %s",
                               ha_records_label(x->records).text, x->context->name,
                               f ? "the context did not take the function" : "no function");
}

ha_status ha_records_wait_(ha_records_access *x, const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    ha_status s = ha_enter("ha_records_wait");
    if (!s) s = ha_records_not_open(x, "ha_records_wait");
    for (int i = 0; !s && i < x->parts_; i++) s = ha_wait_(&ha_records_parts(x)[i], site);
    return s;
}

/* ---- without an access ----------------------------------------------------------------------- */

/* Moves what there is of a box to a context, with all that shares its bytes there. */
HA_IN_ ha_status ha_records_fetch(ha_array *a, ha_context *c, ha_range range, const char *operation,
                                  const char *site) {
    ha_lock(a);
    const ha_placement *p = ha_placement_find(ha_records_state_of(a), c->memory);
    const ha_shared_bytes *shared = p ? p->shared : NULL;
    ha_unlock(a);
    range = ha_shared_range(shared, a, range);
    ha_opening o = {.array = a,
                    .context = c,
                    .operation = operation,
                    .site = site,
                    .mode = HA_READ,
                    .range = range,
                    .has_target = 1,
                    .count = ha_elements(a->grid, range)};
    return ha_opening_prefetch(&o);
}

ha_status ha_records_prefetch_(ha_records *r, ha_context *c, const char *paths, size_t first,
                               size_t last, const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    static const char operation[] = "ha_records_prefetch";
    const ha_region rows = ha_records_rows_(first, last);
    ha_region box;
    ha_access_spec *spec = NULL;
    ha_array *a;
    ha_status s = ha_records_enter(r, operation, site);
    if (!s) s = ha_records_begin_at(r, operation, &a);
    if (s) return s;
    c = ha_resolve(c);
    s = ha_access_spec_get(r, paths ? paths : "", 1, operation, site, &spec);
    if (!s) s = ha_records_ready(a, c, &rows, &box, operation, site);
    for (int32_t i = 0; !s && a->grid && !ha_region_is_empty(&box) && i < spec->runs; i++)
        s = ha_records_fetch(a, c, ha_records_range(a, &spec->run[i], &box), operation, site);
    ha_access_spec_end(spec);
    ha_records_leave(r);
    return s;
}
#endif
