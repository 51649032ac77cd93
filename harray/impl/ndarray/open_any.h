/* Opening what the scopes of access.h open: an array_T_D or a darray, told by their sizes. */
#ifndef HARRAY_IMPL_NDARRAY_OPEN_ANY_H
#define HARRAY_IMPL_NDARRAY_OPEN_ANY_H

#include "darray.h"
#include "open_view.h"

/* The rank of an array_T_D of this size. */
HA_IN_ size_t ha_typed_rank(size_t bytes) {
    return (bytes - offsetof(ha_typed, numbers)) / (3 * sizeof(int64_t));
}

/* The type is the storage's, whose name is as good in messages. Of a typed one, numbers behind the rank
 * are left as they are, for nobody looks at them: setting them, too, would take half of the time. */
HA_IN_ void ha_view_of_any(darray *x, const void *array, size_t bytes) {
    const char *from = (const char *)array;
    if (bytes == sizeof *x) {
        memcpy(x, array, sizeof *x);
        return;
    }
    const int rank = (int)ha_typed_rank(bytes);
    const size_t next = (size_t)rank * sizeof(int64_t);
    memcpy(&x->array, from + offsetof(ha_typed, array), sizeof x->array);
    memcpy(&x->offset, from + offsetof(ha_typed, offset), sizeof x->offset);
    x->type = HA_DTYPE_NONE;
    x->rank = rank;
    from += offsetof(ha_typed, numbers);
    for (int d = 0; d < rank; d++, from += sizeof(int64_t)) {
        memcpy(&x->extent[d], from, sizeof(int64_t));
        memcpy(&x->stride[d], from + next, sizeof(int64_t));
        memcpy(&x->origin[d], from + 2 * next, sizeof(int64_t));
    }
}

/* Each call of an operation asks for that of each array: so its name is looked up once. Beside it stands where that name is: what another
 * thread frees may be an array of another type when it is written. */
HA_IN_ ha_dtype ha_dtype_of_array(ha_array *a) {
    if (!a) return HA_DTYPE_NONE;
    const ha_type type = ha_array_type(a);
    const uint32_t known = __atomic_load_n(&a->known_dtype, __ATOMIC_RELAXED);
    const uint32_t name = (uint32_t)(uintptr_t)type.name << 8;
    if (known % 256 && known - known % 256 == name) return (ha_dtype)(known % 256 - 1);
    const ha_dtype dtype = ha_dtype_quietly(type);
    __atomic_store_n(&a->known_dtype, name + 1 + (uint32_t)dtype, __ATOMIC_RELAXED);
    return dtype;
}

/* Made where the caller wants it, rather than copied there. */
darray darray_of_any_(size_t bytes, const void *array) {
    ha_array *a; /* it stands first in all of them */
    memcpy(&a, array, sizeof a);
    if (bytes == sizeof a)
        return (darray){.array = a,
                        .type = ha_dtype_of_array(a),
                        .rank = 1,
                        .extent = {ha_is_freed(a) ? 0 : (int64_t)ha_array_size(a)},
                        .stride = {1}};
    if (bytes != sizeof(darray))
        return darray_of_typed_(array, ha_dtype_of_array(a), (int)ha_typed_rank(bytes));
    darray x = *(const darray *)array;
    if (a) x.type = ha_dtype_of_array(a);
    return x;
}

/* Where index 0, 0, … would be. */
HA_IN_ char *ha_span_data(const ha_access *x, const darray *view) {
    int64_t lowest = 0;
    if (!x->data) return NULL;
    for (int d = 0; d < view->rank; d++) lowest = ha_go(lowest, view->origin[d], view->stride[d]);
    return (char *)((uintptr_t)x->data - (uintptr_t)lowest * x->array->element);
}

/* The span behind the head of an access: of a typed one, or of one to a darray; ha_access has none. */
HA_IN_ void ha_span_fill(ha_access *x, size_t access_bytes, const darray *view) {
    if (access_bytes == sizeof *x) return;
    char *data = ha_span_data(x, view), *span = (char *)x + sizeof *x;
    if (access_bytes == sizeof(ha_write_darray)) {
        dspan s = {.data = data, .type = view->type, .rank = view->rank};
        memcpy(s.extent, view->extent, sizeof s.extent);
        memcpy(s.stride, view->stride, sizeof s.stride);
        memcpy(s.origin, view->origin, sizeof s.origin);
        memcpy(span, &s, sizeof s);
        return;
    }
    const size_t next = (size_t)view->rank * sizeof(int64_t);
    memcpy(span, &data, sizeof data);
    span += sizeof data;
    for (int d = 0; d < view->rank; d++, span += sizeof(int64_t)) {
        memcpy(span, &view->extent[d], sizeof(int64_t));
        memcpy(span + next, &view->stride[d], sizeof(int64_t));
        memcpy(span + 2 * next, &view->origin[d], sizeof(int64_t));
    }
}

/* Whether an access has a span for this view, or none; the compiler has refused others, but not where a
 * pointer was cast. */
HA_IN_ ha_status ha_span_check(size_t access_bytes, size_t array_bytes, const darray *view,
                               const char *operation) {
    const size_t typed = array_bytes - offsetof(ha_typed, numbers) + sizeof(void *);
    const size_t fits = array_bytes == sizeof *view ? sizeof(ha_write_darray)
                                                    : sizeof(ha_access) + typed;
    if (access_bytes == fits || access_bytes == sizeof(ha_access)) return HA_OK;
    return ha_view_fail(HA_ERR_ARGUMENT, operation, view,
                        "the access is not of its type: it has a span of another rank");
}

/* An access that was not opened has nothing but its status. */
HA_IN_ ha_status ha_span_fail(ha_access *x, size_t access_bytes, ha_status s) {
    memset(x, 0, access_bytes);
    return x->status = s;
}

/* An array_T_D is of another type than ha_typed: so what begins as that does is copied. */
typedef struct ha_typed_head {
    ha_array *array;
    size_t first;
} ha_typed_head;

HA_FAST_ ha_typed_head ha_typed_head_of(const void *array) {
    ha_typed_head head;
    memcpy(&head, array, sizeof head);
    return head;
}

HA_FAST_ const int64_t *ha_typed_numbers(const void *array) {
    return (const int64_t *)(const void *)((const char *)array + offsetof(ha_typed, numbers));
}

/* A span is data, and the numbers of its array_T_D. */
HA_FAST_ int ha_has_span(size_t access_bytes, size_t array_bytes) {
    return access_bytes ==
           array_bytes - offsetof(ha_typed, numbers) + sizeof(ha_access) + sizeof(void *);
}

HA_FAST_ void ha_span_point(ha_access *x, const ha_array *a, int64_t lowest) {
    char *data = (char *)((uintptr_t)x->data - (uintptr_t)lowest * a->element);
    memcpy(x + 1, &data, sizeof data);
}

HA_FAST_ int64_t *ha_span_numbers(ha_access *x) { return (int64_t *)(void *)(x + 1) + 1; }

/* As most are opened: a part of a grid along its dimensions, where everything is valid and nobody is in
 * the way. Else the access may have got numbers already. */
HA_FAST_ int ha_open_typed_fast(ha_access *x, size_t access_bytes, const void *array,
                                size_t array_bytes, ha_context *c, unsigned how, const char *site) {
    const size_t rank = ha_typed_rank(array_bytes);
    const ha_typed_head v = ha_typed_head_of(array);
    ha_array *const a = v.array;
    const int with_span = ha_has_span(access_bytes, array_bytes);
    ha_boxed b = {.span = with_span ? ha_span_numbers(x) : NULL};
    if (!ha_self.id || how > HA_OVERWRITE || !a || ha_is_freed(a)) return 0;
    if (!with_span && access_bytes != sizeof *x) return 0;
    if (!ha_is_box(a->grid, v.first, ha_typed_numbers(array), rank, rank, &b)) return 0;
    if (!ha_open_fast(x, a, ha_resolve(c), how != HA_READ, (ha_range){v.first, b.last}, 1, HA_END,
                      site))
        return 0;
    x->size = b.size;
    if (with_span) ha_span_point(x, a, b.lowest);
    return 1;
}

/* On its own, so that the usual way needs no room for it. */
HA_NOINLINE_ HA_IN_ ha_status ha_open_any_slow(ha_access *x, size_t access_bytes, const void *array,
                                               size_t array_bytes, ha_context *c, unsigned how,
                                               const char *site) {
    const char *const operation = "ha_open";
    darray view;
    ha_view_of_any(&view, array, array_bytes);
    ha_status s = ha_view_check_opened(&view, how, operation, site);
    if (!s) s = ha_span_check(access_bytes, array_bytes, &view, operation);
    if (!s) s = ha_open_darray(x, &view, c, how, operation, site);
    if (s) return ha_span_fail(x, access_bytes, s);
    ha_span_fill(x, access_bytes, &view);
    return HA_OK;
}

ha_status ha_open_any_(ha_access *x, size_t access_bytes, const void *array, size_t array_bytes,
                       ha_context *c, unsigned how, const char *site) {
    HA_MAY_WAIT_();
    if (!x) return ha_no_access("ha_open");
    if (array_bytes < sizeof(darray) &&
        ha_open_typed_fast(x, access_bytes, array, array_bytes, c, how, site))
        return HA_OK;
    return ha_open_any_slow(x, access_bytes, array, array_bytes, c, how, site);
}

ha_status ha_read_anywhere_any_(ha_access *x, size_t access_bytes, const void *array,
                                size_t array_bytes, const char *site) {
    site = ha_from(site);
    const char *const operation = "ha_read_anywhere";
    darray view;
    if (!x) return ha_no_access(operation);
    ha_view_of_any(&view, array, array_bytes);
    ha_status s = ha_view_check(&view, operation);
    if (!s) s = ha_span_check(access_bytes, array_bytes, &view, operation);
    if (!s) s = ha_read_darray_anywhere(x, &view, NULL, operation, site);
    if (s) return ha_span_fail(x, access_bytes, s);
    ha_span_fill(x, access_bytes, &view);
    return HA_OK;
}

HA_NOINLINE_ HA_IN_ ha_status ha_span_of_any(ha_access *x, size_t access_bytes, const void *array,
                                             size_t array_bytes) {
    const char *const operation = "ha_span_of";
    darray view;
    ha_view_of_any(&view, array, array_bytes);
    ha_status s = ha_view_check(&view, operation);
    if (!s) s = ha_span_check(access_bytes, array_bytes, &view, operation);
    if (s) return s;
    if (access_bytes == sizeof *x)
        return ha_view_fail(HA_ERR_ARGUMENT, operation, &view, "a ha_access has no span");
    const size_t first = view.offset < 0 ? SIZE_MAX : (size_t)view.offset;
    if (x->array != view.array || x->size != (size_t)darray_size(view) ||
        (x->size && x->first != first))
        return ha_view_fail(HA_ERR_ARGUMENT, operation, &view, "the access is not open on it");
    ha_span_fill(x, access_bytes, &view);
    return HA_OK;
}

/* Whether a view goes along all dimensions of the grid, in their order, and no further than the storage: where
 * it begins in each is not looked for, as that takes dividing, and it is open. */
HA_FAST_ int ha_is_along(const ha_grid *g, size_t first, const int64_t *numbers, ha_boxed *b) {
    const size_t rank = (size_t)g->rank;
    size_t size = 1, last = first;
    int64_t lowest = 0, end;
    for (size_t d = 0; d < rank; d++) {
        const int64_t extent = numbers[d], stride = numbers[rank + d], from = numbers[2 * rank + d];
        const size_t way = (size_t)extent - 1;
        if ((size_t)stride != g->pitch[d] || way >= g->extent[d]) return 0;
        if (from <= HA_ALL || __builtin_add_overflow(from, extent, &end)) return 0;
        size *= way + 1;
        last += way * g->pitch[d];
        lowest = ha_go(lowest, from, stride);
    }
    b->size = size;
    b->lowest = lowest;
    return last < g->size;
}

/* The same for typed ones along the dimensions of a grid. */
HA_FAST_ int ha_span_of_typed(ha_access *x, size_t access_bytes, const void *array,
                              size_t array_bytes) {
    const size_t rank = ha_typed_rank(array_bytes);
    const ha_typed_head v = ha_typed_head_of(array);
    const int64_t *n = ha_typed_numbers(array);
    const ha_array *const a = v.array;
    int64_t *to = ha_span_numbers(x);
    ha_boxed b = {.span = NULL};
    if (!ha_has_span(access_bytes, array_bytes) || !ha_self.id || !a || x->array != a) return 0;
    if (!a->grid || x->first != v.first) return 0;
    if (!(rank == (size_t)a->grid->rank ? ha_is_along(a->grid, v.first, n, &b)
                                        : ha_is_box(a->grid, v.first, n, rank, rank, &b)))
        return 0;
    if (x->size != b.size) return 0;
    ha_span_point(x, a, b.lowest);
    for (const int64_t *const end = n + rank; n < end; n++, to++) {
        to[0] = n[0];
        to[rank] = n[rank];
        to[2 * rank] = n[2 * rank];
    }
    return 1;
}

ha_status ha_span_of_(ha_access *x, size_t access_bytes, const void *array, size_t array_bytes) {
    if (!x) return ha_no_access("ha_span_of");
    if (array_bytes < sizeof(darray) && ha_span_of_typed(x, access_bytes, array, array_bytes))
        return HA_OK;
    return ha_span_of_any(x, access_bytes, array, array_bytes);
}

/* ---- beside accesses ----------------------------------------------------------------------- */

ha_status darray_prefetch_(darray x, ha_context *c, const char *site) {
    site = ha_from(site);
    HA_CALLED_FROM_(site);
    ha_status s = ha_view_check(&x, "darray_prefetch");
    return s ? s : ha_prefetch_darray(&x, c, site);
}

void *ha_native_(const ha_access *x, const void *data, int rank, const int64_t *extent,
                 const int64_t *stride, const int64_t *origin, int64_t *sizes) {
    const int last = rank - 1;
    int64_t inner = 1;
    int fits = x->array && ha_is_host(x->context) && data &&
               (stride[last] == 1 || (extent[last] <= 1 && !origin[last]));
    for (int d = last - 1; d >= 0; d--) { /* the stride of index 0 alone does not matter */
        const int64_t step = extent[d] > 1 || origin[d] ? stride[d] : inner * extent[d + 1];
        fits = fits && step > 0 && step % inner == 0;
        sizes[d] = fits ? step / inner : 1;
        inner *= sizes[d];
    }
    return fits ? (void *)(uintptr_t)data : NULL;
}

#endif
