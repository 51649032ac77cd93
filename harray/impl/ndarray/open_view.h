/* Accesses to views: they lock the box that the view covers, and move what is missing of it. */
#ifndef HARRAY_IMPL_NDARRAY_OPEN_VIEW_H
#define HARRAY_IMPL_NDARRAY_OPEN_VIEW_H

#include "../access/all.h"
#include "view.h"

/* Where everything is valid and nobody is in the way. The view has been checked, but for repeating
 * elements: what goes along dimensions of the grid does not. As ha_hold_fast. */
HA_IN_ int ha_hold_view_fast(ha_access *x, const darray *v, ha_context *c, int write,
                             uint64_t written, const char *site) {
    ha_array *a = v->array;
    const size_t first = (size_t)v->offset;
    ha_range box = {first, 0};
    if (a->grid) box.last = ha_view_end(a->grid, first, v->rank, v->extent, v->stride);
    if (!box.last) {
        if (write && ha_strides_repeat(v->rank, v->extent, v->stride)) return 0;
        (void)ha_view_cover(a->grid, v, &box);
        if (!ha_cover_is_box(a->grid, box)) return 0; /* the slow way refuses both */
    }
    if (!ha_hold_fast(x, a, c, write, box, 1, HA_END, written, site)) return 0;
    x->data = (char *)x->data + (v->offset - (int64_t)box.first) * (int64_t)a->element;
    x->first = (size_t)v->offset;
    x->size = ha_view_size(v);
    return 1;
}

HA_NOINLINE_ HA_IN_ ha_status ha_open_view_slow(ha_access *x, const darray *v, ha_context *c,
                                                unsigned how, const char *operation,
                                                const char *site) {
    ha_array *a = v->array;
    site = ha_from(site);
    ha_opening o = {.array = a,
                    .context = c,
                    .operation = operation,
                    .site = site,
                    .mode = how & ~(unsigned)HA_TRY,
                    .for_user = 1};
    HA_TELLS_EVENTS_;
    memset(x, 0, sizeof *x);
    ha_status s = ha_open_refuse(a, how, operation, site);
    if (s) return x->status = s;
    ha_opening_view(&o, v);
    if ((s = ha_opening_begin(&o, (how & HA_TRY) != 0))) return x->status = s;
    ha_opening_commit(&o, x);
    return HA_OK;
}

/* As ha_open, for what a view covers, which has been checked: x->data is its first element, x->first where that is in the
 * storage, x->size how many it has. */
HA_IN_ ha_status ha_open_darray(ha_access *x, const darray *v, ha_context *c, unsigned how,
                                const char *operation, const char *site) {
    const unsigned mode = how & ~(unsigned)HA_TRY;
    c = ha_resolve(c);
    const int write = mode != HA_READ;
    if (ha_self.id && mode <= HA_OVERWRITE &&
        ha_hold_view_fast(x, v, c, write, (uint64_t)write, site)) {
        ha_self.held++;
        return HA_OK;
    }
    return ha_open_view_slow(x, v, c, how, operation, site);
}

/* As ha_read_anywhere. */
HA_IN_ ha_status ha_read_darray_anywhere(ha_access *x, const darray *v, ha_context *otherwise,
                                         const char *operation, const char *site) {
    HA_TELLS_EVENTS_;
    ha_array *a = v->array;
    ha_opening o = {.array = a,
                    .context = ha_resolve(otherwise),
                    .operation = operation,
                    .site = site,
                    .mode = HA_READ};
    memset(x, 0, sizeof *x);
    ha_status s = ha_open_refuse(a, HA_READ, operation, site);
    if (s) return x->status = s;
    ha_opening_view(&o, v);
    return ha_open_anywhere(x, &o);
}

/* As ha_array_prefetch. */
HA_IN_ ha_status ha_prefetch_darray(const darray *v, ha_context *c, const char *site) {
    HA_TELLS_EVENTS_;
    ha_array *a = v->array;
    ha_opening o = {.array = a,
                    .context = ha_resolve(c),
                    .operation = "darray_prefetch",
                    .site = site,
                    .mode = HA_READ};
    ha_status s = ha_open_refuse(a, HA_READ, o.operation, site);
    if (s) return s;
    ha_opening_view(&o, v);
    return ha_opening_prefetch(&o);
}

#endif
