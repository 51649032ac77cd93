/* The array interfaces: fields from open accesses, and arrays from fields. */
#ifndef HARRAY_IMPL_EXCHANGE_ARRAY_INTERFACE_H
#define HARRAY_IMPL_EXCHANGE_ARRAY_INTERFACE_H

#include "foreign.h"
#include "npy_header.h"
#include "streams.h"
#include "../../dlpack.h"
#include "../../interfaces.h"
#include "../ndarray/all.h"

/* All three begin alike: that part is the first one's. */
enum { HA_INTERFACE_BYTES = offsetof(ha_array_interface, read_only) + sizeof(int) };
_Static_assert(offsetof(ha_cuda_array_interface, read_only) ==
                       offsetof(ha_array_interface, read_only) &&
                   offsetof(ha_sycl_usm_array_interface, read_only) ==
                       offsetof(ha_array_interface, read_only),
               "the interfaces begin alike");

/* ---- of an open access ---------------------------------------------------------------------- */

/* 0: there is none for NumPy. */
HA_IN_ int ha_typestr_of(ha_dtype type, char *text, size_t bytes) {
    int i = 0;
    while (i < HA_NPY_TYPES && ha_npy_types[i].type != type) i++;
    if (i == HA_NPY_TYPES) return 0;
    snprintf(text, bytes, "%c%s", ha_dtype_size(type) == 1 ? '|' : ha_npy_ours,
             ha_npy_types[i].name);
    return 1;
}

typedef struct ha_interface_request {
    const darray *x;
    const ha_access *access;
    int has_place; /* for what comes out */
    size_t unit;   /* of strides, in bytes; 0: an element */
    const char *operation;
} ha_interface_request;

HA_IN_ ha_status ha_interface_fail(const ha_interface_request *r, ha_status s, const char *why) {
    return ha_fail(s, r->operation, "%s: array %s: %s", r->operation, ha_label_of(r->x->array).text,
                   why);
}

/* What the access may do with which elements. */
HA_IN_ ha_status ha_interface_holder(const ha_interface_request *r, ha_range *range, int *writes) {
    ha_array *a = r->x->array;
    if (!r->access->array) return ha_interface_fail(r, HA_ERR_STATE, "the access is not open");
    if (r->access->array != a)
        return ha_interface_fail(r, HA_ERR_ARGUMENT, "the access is one of another array");
    ha_lock(a);
    const ha_holder *h = ha_access_find(a, r->access->ticket);
    if (h) {
        *range = h->range;
        *writes = h->writes;
    }
    ha_unlock(a);
    return h ? HA_OK : ha_interface_fail(r, HA_ERR_STATE, "the access is not open");
}

/* Its place relative to that of the access: all of it is in there. */
HA_IN_ ha_status ha_interface_data(const ha_interface_request *r, ha_range open, void **data) {
    const darray *x = r->x;
    const ha_grid *g = x->array->grid;
    ha_range covered;
    (void)ha_view_cover(g, x, &covered);
    *data = NULL;
    if (ha_is_empty(covered)) return HA_OK;
    if (!ha_covers(g, open, covered))
        return ha_interface_fail(r, HA_ERR_ARGUMENT, "the access does not cover all of the view");
    const int64_t distance = x->offset - (int64_t)r->access->first;
    *data = (char *)r->access->data + distance * (int64_t)ha_dtype_size(x->type);
    return HA_OK;
}

HA_IN_ ha_status ha_interface_strides(const ha_interface_request *r, ha_array_interface *out) {
    const darray *x = r->x;
    const int64_t unit = r->unit ? (int64_t)r->unit : 1;
    out->has_strides = !ha_extents_contiguous(x->rank, x->extent, x->stride, HA_ROW_MAJOR);
    for (int d = 0; d < x->rank; d++)
        if (__builtin_mul_overflow(x->stride[d], unit, &out->strides[d]))
            return ha_interface_fail(r, HA_ERR_MEMORY, "a stride in bytes overflows 64 bits");
    return HA_OK;
}

HA_IN_ ha_status ha_interface_fill(const ha_interface_request *r, ha_array_interface *out) {
    const darray *x = r->x;
    ha_range open = {0, 0};
    int writes = 0;
    memset(out, 0, sizeof *out);
    ha_status s = ha_view_check(x, r->operation);
    if (!s && !r->access) s = ha_interface_fail(r, HA_ERR_ARGUMENT, "no access");
    if (!s && !r->has_place) s = ha_interface_fail(r, HA_ERR_ARGUMENT, "no place for the fields");
    if (!s) s = ha_interface_holder(r, &open, &writes);
    if (s) return s;
    if (!ha_typestr_of(x->type, out->typestr, sizeof out->typestr))
        return ha_interface_fail(r, HA_ERR_UNSUPPORTED, "there is no typestr for its elements");
    s = ha_interface_data(r, open, &out->data);
    if (!s) s = ha_interface_strides(r, out);
    out->rank = x->rank;
    out->read_only = !writes;
    for (int d = 0; d < x->rank; d++) out->shape[d] = x->extent[d];
    return s;
}

/* Where no element is. NumPy does not take NULL. */
static const _Alignas(64) char ha_nowhere[64];

ha_status darray_to_array_interface_(darray x, const ha_access *access, ha_array_interface *out) {
    const ha_interface_request r = {&x, access, out != NULL, ha_dtype_size(x.type),
                                    "darray_to_array_interface"};
    ha_array_interface made;
    ha_status s = ha_interface_fill(&r, &made);
    if (!s && access->context->memory != &ha_host_memory)
        s = ha_interface_fail(&r, HA_ERR_ARGUMENT, "the access is on a device, not on the host");
    if (s) return s;
    if (!made.data) made.data = (void *)(uintptr_t)ha_nowhere;
    made.version = HA_ARRAY_INTERFACE_VERSION;
    *out = made;
    return HA_OK;
}

HA_IN_ int ha_is_cuda(const ha_context *c) { return c->ops && !strcmp(c->backend->kind, "cuda"); }

ha_status darray_to_cuda_array_interface_(darray x, const ha_access *access,
                                          ha_cuda_array_interface *out) {
    const ha_interface_request r = {&x, access, out != NULL, ha_dtype_size(x.type),
                                    "darray_to_cuda_array_interface"};
    ha_array_interface made;
    ha_status s = ha_interface_fill(&r, &made);
    if (!s && !ha_is_cuda(access->context))
        s = ha_interface_fail(&r, HA_ERR_ARGUMENT, "the access is not on a CUDA device");
    if (s) return s;
    made.version = HA_CUDA_ARRAY_INTERFACE_VERSION;
    memset(out, 0, sizeof *out);
    memcpy(out, &made, HA_INTERFACE_BYTES);
    out->has_stream = made.data != NULL;
    if (out->has_stream) out->stream = (uintptr_t)ha_context_stream(access->context);
    return HA_OK;
}

ha_status darray_to_sycl_usm_array_interface_(darray x, const ha_access *access,
                                              ha_sycl_usm_array_interface *out) {
    const ha_interface_request r = {&x, access, out != NULL, 0,
                                    "darray_to_sycl_usm_array_interface"};
    ha_array_interface made;
    ha_status s = ha_interface_fill(&r, &made);
    if (s) return s;
    made.version = HA_SYCL_USM_ARRAY_INTERFACE_VERSION;
    memset(out, 0, sizeof *out);
    memcpy(out, &made, HA_INTERFACE_BYTES);
    out->syclobj = ha_context_name(access->context);
    return HA_OK;
}

/* ---- memory of others ----------------------------------------------------------------------- */

/* An interface, and what is not the same in all of them. */
typedef struct ha_interface_taken {
    ha_array_interface in;
    int version;
    int64_t stride[HA_MOST_RANK]; /* of `in`, in elements */
    ha_foreign foreign;
    const char *operation;
} ha_interface_taken;

HA_IN_ ha_status ha_taken_fail(const ha_interface_taken *t, ha_status s, const char *why) {
    return ha_fail(s, t->operation, "version %d, typestr '%.7s': %s", t->in.version, t->in.typestr,
                   why);
}

/* Of extents below 2 they do not matter. */
HA_IN_ ha_status ha_taken_strides(ha_interface_taken *t, size_t unit) {
    for (int d = 0; t->in.has_strides && d < t->in.rank; d++) {
        const int64_t given = t->in.strides[d], bytes = (int64_t)unit;
        if (t->in.shape[d] > 1 && given % bytes)
            return ha_taken_fail(t, HA_ERR_ARGUMENT,
                                 "a stride is no multiple of the element's size");
        t->stride[d] = given / bytes;
    }
    return HA_OK;
}

/* in: what begins as the first of them; NULL: refused. elements: strides are in those. */
HA_IN_ ha_status ha_taken_look(ha_interface_taken *t, const void *in, int elements) {
    int swapped = 0;
    ha_foreign *f = &t->foreign;
    ha_status s = ha_enter(t->operation);
    if (s) return s;
    if (!in) return ha_fail(HA_ERR_ARGUMENT, t->operation, "no interface");
    memcpy(&t->in, in, HA_INTERFACE_BYTES);
    if (t->in.version != t->version)
        return ha_taken_fail(t, HA_ERR_UNSUPPORTED, "that version is not known");
    if (!memchr(t->in.typestr, 0, sizeof t->in.typestr) ||
        !ha_npy_find_type(t->in.typestr, &f->type, &swapped))
        return ha_taken_fail(t, HA_ERR_UNSUPPORTED, "there is no such element type here");
    if (swapped)
        return ha_taken_fail(t, HA_ERR_UNSUPPORTED, "its bytes are in the other order: copy it");
    if (!ha_rank_is_valid(t->in.rank))
        return ha_taken_fail(t, HA_ERR_ARGUMENT, "it does not have 0 ... 8 dimensions");
    f->rank = t->in.rank;
    f->extent = t->in.shape;
    f->stride = t->in.has_strides ? t->stride : NULL;
    f->data = (uintptr_t)t->in.data;
    f->read_only = t->in.read_only;
    f->behind = ha_host();
    return ha_taken_strides(t, elements ? 1 : ha_dtype_size(f->type));
}

HA_IN_ darray ha_taken_wrap(ha_interface_taken *t, ha_status s) {
    return s ? (darray){.rank = 0} : ha_foreign_wrap(&t->foreign, t->operation);
}

darray darray_from_array_interface(const ha_array_interface *in) {
    HA_TELLS_EVENTS_;
    ha_interface_taken t = {.version = HA_ARRAY_INTERFACE_VERSION,
                            .foreign.place = ha_host(),
                            .operation = "darray_from_array_interface"};
    return ha_taken_wrap(&t, ha_taken_look(&t, in, 0));
}

/* Orders the device's queue behind the stream. */
HA_IN_ ha_status ha_taken_stream(ha_interface_taken *t, uintptr_t stream) {
    if (!stream)
        return ha_taken_fail(t, HA_ERR_ARGUMENT, "stream 0 could be one or the other default one");
    if (stream == (uintptr_t)HA_DL_STREAM_PER_THREAD)
        return ha_taken_fail(t, HA_ERR_UNSUPPORTED,
                             "the per-thread default stream is another one in each thread");
    ha_status s = ha_stream_lead(t->foreign.place, (void *)stream);
    if (s) return ha_taken_fail(t, s, "its stream cannot be waited for");
    t->foreign.behind = t->foreign.place;
    return HA_OK;
}

darray darray_from_cuda_array_interface(const ha_cuda_array_interface *in, ha_context *device) {
    HA_TELLS_EVENTS_;
    ha_interface_taken t = {.version = HA_CUDA_ARRAY_INTERFACE_VERSION,
                            .foreign.place = ha_resolve(device),
                            .operation = "darray_from_cuda_array_interface"};
    ha_status s = ha_taken_look(&t, in, 0);
    if (!s && !ha_is_cuda(t.foreign.place))
        s = ha_taken_fail(&t, HA_ERR_ARGUMENT, "the context is not one of a CUDA device");
    if (!s && in->has_stream) s = ha_taken_stream(&t, in->stream);
    return ha_taken_wrap(&t, s);
}

/* The first element is so many elements behind the address. */
HA_IN_ ha_status ha_taken_move(ha_interface_taken *t, int64_t offset) {
    const uintptr_t from = t->foreign.data;
    int64_t bytes = 0;
    if (!from) return HA_OK; /* refused, unless there is no element */
    if (__builtin_mul_overflow(offset, (int64_t)ha_dtype_size(t->foreign.type), &bytes) ||
        __builtin_add_overflow(from, bytes, &t->foreign.data))
        return ha_taken_fail(t, HA_ERR_MEMORY, "its offset in bytes overflows 64 bits");
    return HA_OK;
}

darray darray_from_sycl_usm_array_interface(const ha_sycl_usm_array_interface *in, ha_context *c) {
    HA_TELLS_EVENTS_;
    ha_interface_taken t = {.version = HA_SYCL_USM_ARRAY_INTERFACE_VERSION,
                            .foreign.place = ha_resolve(c),
                            .operation = "darray_from_sycl_usm_array_interface"};
    ha_status s = ha_taken_look(&t, in, 1);
    if (!s) s = ha_taken_move(&t, in->offset);
    return ha_taken_wrap(&t, s);
}

#endif
