/* Copies between views: on a device when that is one command, else on the host. Whatever could fail
 * comes before the target changes. */
#ifndef HARRAY_IMPL_NDARRAY_DARRAY_COPY_H
#define HARRAY_IMPL_NDARRAY_DARRAY_COPY_H

#include "open_many.h"

/* ---- what is refused ------------------------------------------------------------------------ */

/* Numbers, or elements of the user's own type. */
HA_IN_ int ha_views_match(const darray *a, const darray *b) {
    const ha_type x = ha_array_type(a->array), y = ha_array_type(b->array);
    if (a->type && b->type) return 1;
    return !a->type && !b->type && x.size == y.size && !strcmp(x.name, y.name);
}

HA_IN_ ha_status ha_copy_check(ha_named_view to, ha_named_view from, const char *operation) {
    const darray *x = to.view, *y = from.view;
    ha_status s = ha_view_check(x, operation);
    if (!s) s = ha_view_check(y, operation);
    if (s) return s;
    if (!ha_extents_equal(x->rank, x->extent, y->rank, y->extent))
        return ha_pair_refuse(to, from, "the extents are not the same (darray_broadcast may help)",
                              operation);
    if (!ha_views_match(x, y))
        return ha_pair_refuse(to, from, "these types cannot be converted", operation);
    return ha_view_check_repeats(x, operation);
}

/* Whether they may have elements in common: as far as accesses tell them apart. */
HA_IN_ int ha_views_meet(const darray *x, const darray *y) {
    ha_range a, b;
    if (x->array != y->array) return 0;
    (void)ha_view_cover(x->array->grid, x, &a);
    (void)ha_view_cover(y->array->grid, y, &b);
    return ha_overlap(x->array->grid, a, b);
}

HA_IN_ int ha_view_is_valid_at(const darray *v, const ha_context *c) {
    ha_range r;
    (void)ha_view_cover(v->array->grid, v, &r);
    ha_lock(v->array);
    const ha_incarnation *in = ha_incarnation_find(v->array, c->memory);
    const int valid = in && ha_set_contains(&in->valid, r);
    ha_unlock(v->array);
    return valid;
}

/* ---- on a device ---------------------------------------------------------------------------- */

/* Pieces that a queue can copy by one command: rows or planes of them, forwards. The data are those
 * of the first elements; NULL: to ask only. */
HA_IN_ int ha_pieces_between(const darray *to, char *to_data, const darray *from,
                             const char *from_data, ha_strided_copy *copy) {
    const size_t size = to->array->element;
    ha_strided s = {.run = size};
    if (!ha_strided_gather(&s, to->rank, to->extent, to->stride, size, from->stride, size))
        return 0;
    *copy = (ha_strided_copy){.to = to_data ? to_data + s.to : NULL,
                              .from = from_data ? from_data + s.from : NULL,
                              .bytes = size};
    for (int k = 0; k < s.rank; k++) {
        const ha_dimension *x = &s.at[k];
        if (x->from <= 0) return 0;
        ha_strided_repeat(copy, (size_t)x->extent, (size_t)x->to, (size_t)x->from);
    }
    return ha_strided_is_pitched(copy);
}

HA_IN_ ha_status ha_move_once(ha_context *c, const ha_strided_copy *copy) {
    ha_mover m = {c, 0, HA_STRIDED_LEVELS};
    if (!c->ops) return HA_ERR_UNSUPPORTED;
    if (copy->levels) return ha_move_at_once(&m, copy);
    return ha_move_piece(&m, copy->to, copy->from, copy->bytes);
}

typedef struct ha_device_copy {
    const darray *to, *from;
} ha_device_copy;

HA_IN_ char *ha_part_data(const ha_open_part *p) {
    return p->opening.in->data + p->opening.at * p->opening.array->element;
}

HA_IN_ ha_status ha_device_copy_work(ha_open_set *t, void *argument) {
    const ha_device_copy *copy = (const ha_device_copy *)argument;
    const int to_first = t->part[0].place == 1;
    ha_open_part *to = &t->part[!to_first], *from = &t->part[to_first];
    ha_strided_copy pieces;
    if (!ha_pieces_between(copy->to, ha_part_data(to), copy->from, ha_part_data(from), &pieces))
        return HA_ERR_UNSUPPORTED;
    t->at = to;
    to->opening.trouble = "copying it failed";
    ha_status status = ha_move_once(to->opening.context, &pieces);
    return status == HA_ERR_LOST ? HA_ERR_BACKEND : status;
}

/* HA_ERR_UNSUPPORTED, untold: not there. */
HA_IN_ ha_status ha_copy_on_device(const darray *to, const darray *from, ha_context *c,
                                   const char *operation, const char *site) {
    ha_device_copy copy = {to, from};
    ha_open_set t = {
        .operation = operation, .work = ha_device_copy_work, .argument = &copy, .views_checked = 1};
    ha_access read, write;
    ha_request requests[] = {
        {.access = &read, .context = c, .how = HA_READ, .view = from},
        {.access = &write, .context = c, .how = HA_OVERWRITE, .view = to},
    };
    ha_status s = ha_open_all(&t, requests, 2, site);
    if (s) return s;
    HA_IGNORE_(ha_close_(&read));
    return ha_close_(&write);
}

/* Whether it is worth trying. */
HA_IN_ int ha_copy_fits_device(const darray *to, const darray *from, const ha_context *c) {
    ha_strided_copy pieces;
    return c->ops && to->type == from->type && ha_view_is_valid_at(from, c) &&
           ha_pieces_between(to, NULL, from, NULL, &pieces);
}

/* ---- on the host ---------------------------------------------------------------------------- */

/* Both are open. Neither fails unless the conversion can. */
HA_IN_ ha_status ha_copy_opened(const darray *to, void *to_data, const darray *from,
                                const void *from_data, ha_misfit *misfit) {
    if (to->type)
        return ha_strided_convert(to->rank, to->extent, to_data, to->stride, to->type, from_data,
                                  from->stride, from->type, misfit);
    ha_copy_strided(to->rank, to->extent, to_data, to->stride, from_data, from->stride,
                    to->array->element);
    return HA_OK;
}

HA_IN_ ha_status ha_open_to_copy(const darray *to, ha_access *write, const darray *from,
                                 ha_access *read, const char *operation, const char *site) {
    ha_open_set t = {.operation = operation, .views_checked = 1};
    ha_request requests[] = {
        {.access = read, .context = ha_host(), .how = HA_READ, .view = from},
        {.access = write, .context = ha_host(), .how = HA_OVERWRITE, .view = to},
    };
    return ha_open_many_fast(requests, 2, site) ? HA_OK : ha_open_all(&t, requests, 2, site);
}

HA_IN_ ha_status ha_misfit_fail(const darray *to, const darray *from, const ha_misfit *misfit,
                                const char *operation) {
    int64_t index[HA_MOST_RANK];
    char value[80];
    for (int d = 0; d < from->rank; d++) index[d] = misfit->index[d] + from->origin[d];
    ha_dvalue_print(misfit->value, value, sizeof value);
    return ha_view_fail(
        HA_ERR_ARGUMENT, operation, from, "%s at index (%s) as %s: %s; nothing was written", value,
        ha_show(from->rank, index).text, ha_dtype_name(to->type), misfit->objection);
}

/* They have nothing in common; where the conversion can fail, nobody else knows `to`. */
HA_IN_ ha_status ha_copy_on_host(const darray *to, const darray *from, const char *operation,
                                 const char *site) {
    ha_access read, write;
    ha_misfit misfit;
    ha_status s = ha_open_to_copy(to, &write, from, &read, operation, site);
    if (s) return s;
    s = ha_copy_opened(to, write.data, from, read.data, &misfit);
    HA_IGNORE_(ha_close_(&read));
    const ha_status closed = ha_close_(&write);
    return s ? ha_misfit_fail(to, from, &misfit, operation) : closed;
}

/* ---- by kernels ------------------------------------------------------------------------------ */

/* What harray_ops.h does at devices that compile kernels, where a program has it (ops/copies.h): 1: it is done; 0: it
 * cannot be done so. The views have been checked, and are not empty. */
typedef struct ha_view_kernels {
    int (*fill)(const darray *x, const void *value, ha_context *c);
    /* Views that do not meet. 1 with an objection: nothing was written. */
    int (*copy)(const darray *to, const darray *from, ha_context *c, ha_misfit *misfit);
    int (*equal)(const darray *x, const darray *y, int *equal); /* where both are valid */
    int (*are_there)(ha_context *c);                            /* are there any at this device? */
} ha_view_kernels;
static const ha_view_kernels ha_view_kernels_;

/* HA_ERR_UNSUPPORTED, untold: not so. */
HA_IN_ ha_status ha_copy_by_kernel(const darray *to, const darray *from, ha_context *c,
                                   const char *operation) {
    ha_misfit misfit = {.objection = NULL};
    if (!ha_view_kernels_.copy || ha_is_host(c) || !ha_view_is_valid_at(from, c) ||
        !ha_view_kernels_.copy(to, from, c, &misfit))
        return HA_ERR_UNSUPPORTED;
    return misfit.objection ? ha_misfit_fail(to, from, &misfit, operation) : HA_OK;
}

/* ---- either --------------------------------------------------------------------------------- */

/* Views that have nothing in common; where the conversion can fail, nobody else knows `to`. */
HA_IN_ ha_status ha_copy_disjoint(const darray *to, const darray *from, ha_context *c,
                                  const char *operation, const char *site) {
    ha_status s = HA_ERR_UNSUPPORTED;
    if (ha_copy_fits_device(to, from, c)) s = ha_copy_on_device(to, from, c, operation, site);
    if (s == HA_ERR_UNSUPPORTED) s = ha_copy_by_kernel(to, from, c, operation);
    return s == HA_ERR_UNSUPPORTED ? ha_copy_on_host(to, from, operation, site) : s;
}

/* What else has the room for all of `from`, at a device, or on the host. Errors are about what was to be copied. */
HA_IN_ ha_status ha_copy_between(darray *between, const darray *to, const darray *from,
                                 ha_context *c, const char *operation) {
    const ha_type type = ha_array_type(to->array);
    ha_tell_later();
    *between = darray_new_(HA_ROW_MAJOR, type, to->rank, to->extent, c);
    if (!between->array && !ha_is_host(c))
        *between = darray_new_(HA_ROW_MAJOR, type, to->rank, to->extent, ha_host());
    const ha_error e = ha_later_error.error;
    ha_later_error.error.status = HA_OK;
    ha_tell_now();
    if (between->array) {
        between->type = to->type;
        ha_array_set_name(between->array, ha_array_name(from->array));
        return HA_OK;
    }
    ha_backend_report(e.code, NULL);
    return ha_view_fail(e.status, operation, from, "for a copy in between: %.200s", e.text);
}

/* Through a copy of its own: what can fail has then happened, and what is the same storage is not. */
HA_IN_ ha_status ha_copy_through(const darray *to, const darray *from, ha_context *c,
                                 const char *operation, const char *site) {
    darray between;
    ha_status s = ha_copy_between(&between, to, from, c, operation);
    if (s) return s;
    s = ha_copy_disjoint(&between, from, c, operation, site);
    if (!s) s = ha_copy_disjoint(to, &between, c, operation, site);
    HA_IGNORE_(darray_free(&between));
    return s;
}

/* Where a copy in between is made: at the device if what is copied can stay there. */
HA_IN_ ha_context *ha_copy_where(const darray *from, ha_context *c) {
    const int there = !ha_is_host(c) && ha_view_kernels_.are_there && ha_view_is_valid_at(from, c);
    return there && ha_view_kernels_.are_there(c) ? c : ha_host();
}

/* Checked. */
HA_IN_ ha_status ha_copy_views(const darray *to, const darray *from, ha_context *c,
                               const char *operation, const char *site) {
    if (ha_view_is_empty(to)) return HA_OK;
    if (ha_views_meet(to, from))
        return ha_copy_through(to, from, ha_copy_where(from, c), operation, site);
    if (!ha_scalars_may_misfit(from->type, to->type))
        return ha_copy_disjoint(to, from, c, operation, site);
    const ha_status s = ha_copy_by_kernel(to, from, c, operation);
    return s == HA_ERR_UNSUPPORTED ? ha_copy_through(to, from, ha_host(), operation, site) : s;
}

ha_status darray_copy_(darray to, darray from, ha_context *context, const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    HA_CALLED_FROM_(site);
    const char *const operation = "darray_copy";
    const ha_named_view target = {"to", &to}, source = {"from", &from};
    ha_status s = ha_copy_check(target, source, operation);
    return s ? s : ha_copy_views(&to, &from, ha_resolve(context), operation, site);
}

/* ---- new arrays ----------------------------------------------------------------------------- */

/* type and dtype: the storage's, and what the view says of its elements. */
HA_IN_ darray ha_view_copied(const darray *x, ha_type type, ha_dtype dtype, ha_order order,
                             ha_context *c, const char *operation) {
    darray copy = {.rank = 0};
    if (ha_view_check(x, operation)) return copy;
    copy = darray_new_(order, type, x->rank, x->extent, c);
    if (!copy.array) return copy;
    copy.type = dtype;
    const darray moved = ha_view_with_origin(copy, x->origin, operation);
    if (moved.array && !ha_copy_views(&moved, x, ha_resolve(c), operation, operation)) return moved;
    HA_IGNORE_(darray_free(&copy));
    return (darray){.rank = 0};
}

darray darray_contiguous_(darray x, ha_order order, ha_context *context, const char *site) {
    HA_CALLED_FROM_(site);
    HA_TELLS_EVENTS_;
    const char *const operation = "darray_contiguous";
    const ha_type none = {"no type", 0};
    if (ha_order_valid(order, operation)) return (darray){.rank = 0};
    return ha_view_copied(&x, x.array ? ha_array_type(x.array) : none, x.type, order, context,
                          operation);
}

darray darray_convert_(darray x, ha_dtype type, ha_context *context, const char *site) {
    HA_CALLED_FROM_(site);
    HA_TELLS_EVENTS_;
    const char *const operation = "darray_convert";
    if (ha_view_check(&x, operation)) return (darray){.rank = 0};
    if (!x.type || !ha_dtype_size(type))
        return HA_REFUSED(operation, &x, "its elements cannot become %s", ha_dtype_name(type));
    return ha_view_copied(&x, ha_dtype_to_type(type), type, HA_ROW_MAJOR, context, operation);
}

#endif
