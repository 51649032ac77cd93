/* Errors in functions that may have written elements of an array (device/queue_errors.h): whoever opens
 * these elements next is told, once. */
#ifndef HARRAY_IMPL_STATE_WRITE_ERRORS_H
#define HARRAY_IMPL_STATE_WRITE_ERRORS_H

#include "labels.h"

typedef struct ha_write_error {
    const ha_queue_error *what; /* NULL: none */
    const char *where;          /* the context */
    ha_range range;
} ha_write_error;

/* One in what is valid of r, as far as is known. From now on all that are there count as told. */
HA_IN_ ha_write_error ha_write_error_take(ha_array *a, ha_range r) {
    ha_write_error e = {NULL, NULL, {0, 0}};
    ha_lock(a);
    for (ha_incarnation *in = &a->first; in; in = in->next)
        for (uint32_t i = 0; i < in->ops.n; i++) {
            ha_operation *o = &ha_ops_list(&in->ops)[i];
            const ha_range common = ha_intersect(a->grid, o->range, r);
            if (ha_is_empty(common) || !ha_set_overlaps(&in->valid, common)) continue;
            const ha_queue_error *what = ha_error_in(o);
            if (!what) continue;
            e = (ha_write_error){what, o->at.queue->name, common};
            o->since = HA_NO_ACCESS_;
        }
    ha_unlock(a);
    return e;
}

/* What was wrong in r, which is in a, is overwritten there. */
HA_IN_ void ha_write_errors_end(const ha_array *a, ha_incarnation *in, ha_range r)
    HA_REQUIRES_(a->lock) {
    for (uint32_t i = 0; i < in->ops.n; i++) {
        ha_operation *o = &ha_ops_list(&in->ops)[i];
        const ha_range was = ha_intersect(a->grid, o->range, (ha_range){0, a->size});
        if (ha_is_empty(was) || ha_covers(a->grid, r, was)) o->since = HA_NO_ACCESS_;
    }
}

HA_IN_ ha_status ha_write_error_fail(ha_array *a, const ha_write_error *e, const char *operation,
                                     const char *site) {
    return ha_fail(e->what->error.status, operation, "%s: %s: %s%s may be wrong: %s", site,
                   ha_subject_of(a).text, a->ops ? "" : "elements ",
                   ha_part_label_of(a, e->range).text,
                   ha_queue_error_label_of(e->what, e->where).text);
}

#endif
