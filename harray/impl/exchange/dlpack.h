/* DLPack: tensors made of open accesses, and arrays made of tensors. */
#ifndef HARRAY_IMPL_EXCHANGE_DLPACK_H
#define HARRAY_IMPL_EXCHANGE_DLPACK_H

#include "foreign.h"
#include "streams.h"
#include "../../dlpack.h"
#include "../ndarray/all.h"

_Static_assert(sizeof(ha_dl_device) == 8 && sizeof(ha_dl_data_type) == 4, "DLPack's layout");
_Static_assert(sizeof(ha_dl_tensor) == 48 && offsetof(ha_dl_tensor, shape) == 24,
               "DLPack's layout");
_Static_assert(offsetof(ha_dl_managed_tensor, deleter) == 56, "DLPack's layout");
_Static_assert(offsetof(ha_dl_managed_tensor_versioned, flags) == 24, "DLPack's layout");
_Static_assert(sizeof(ha_dl_managed_tensor_versioned) == 80, "DLPack's layout");

/* ---- types and devices ---------------------------------------------------------------------- */

static const uint8_t ha_dl_codes[] = {
    [HA_KIND_BOOL] = HA_DL_BOOL,       [HA_KIND_SIGNED] = HA_DL_INT,
    [HA_KIND_UNSIGNED] = HA_DL_UINT,   [HA_KIND_REAL] = HA_DL_FLOAT,
    [HA_KIND_COMPLEX] = HA_DL_COMPLEX,
};

/* Of a type that is one. */
HA_IN_ ha_dl_data_type ha_dl_type_of(ha_dtype type) {
    ha_dl_data_type t = {ha_dl_codes[ha_dtype_kind(type)], (uint8_t)(8 * ha_dtype_size(type)), 1};
    if (type == HA_DTYPE_bfloat16) t.code = HA_DL_BFLOAT;
    return t;
}

/* HA_DTYPE_NONE: there is none for it. */
HA_IN_ ha_dtype ha_dtype_of_dl(ha_dl_data_type t) {
    static const ha_dtype types[] = {
#define HA_DTYPE_ENTRY_(name, T, kind, text) HA_DTYPE_##name,
        HA_DTYPES(HA_DTYPE_ENTRY_)
#undef HA_DTYPE_ENTRY_
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const ha_dl_data_type own = ha_dl_type_of(types[i]);
        if (own.code == t.code && own.bits == t.bits && own.lanes == t.lanes) return types[i];
    }
    return HA_DTYPE_NONE;
}

ha_dl_device ha_context_dl_device(ha_context *c) {
    ha_dl_device device = {HA_DL_CPU, 0};
    c = ha_resolve(c);
    if (ha_is_host(c)) return device;
    device = (ha_dl_device){HA_DL_CUDA, c->number};
    if (!strcmp(c->backend->kind, "cuda")) return device;
    ha_fail(HA_ERR_UNSUPPORTED, "ha_context_dl_device",
            "DLPack has no name for %s: open the array on the host for it", c->name);
    return (ha_dl_device){0, 0};
}

/* The context whose memory a device's is; NULL: told. */
HA_IN_ ha_context *ha_context_of_dl(ha_dl_device device, const char *operation) {
    switch (device.device_type) {
    case HA_DL_CPU:
    case HA_DL_CUDA_HOST:
        return ha_host();
    case HA_DL_CUDA:
    case HA_DL_CUDA_MANAGED:
        return ha_context_get("cuda", device.device_id);
    default:
        ha_fail(HA_ERR_UNSUPPORTED, operation,
                "the tensor is on a device of DLPack's kind %d, which is none of harray's",
                (int)device.device_type);
        return NULL;
    }
}

/* ---- handing out ---------------------------------------------------------------------------- */

/* A tensor, and what belongs to it until its deleter runs. */
typedef struct ha_export {
    union {
        ha_dl_managed_tensor_versioned versioned;
        ha_dl_managed_tensor legacy;
    };
    ha_token token;
    ha_array *array;
    ha_context *behind; /* whose queue the consumer uses; NULL: none's */
    int default_stream; /* that is what the consumer uses */
    int64_t extent[HA_MOST_RANK], stride[HA_MOST_RANK];
} ha_export;

/* What is to be opened, and for whom. */
typedef struct ha_export_request {
    darray x;
    ha_context *context;
    unsigned how;
    const void *stream;
    int versioned, has_place; /* for the tensor's address */
    const char *operation, *site;
} ha_export_request;

/* Whatever happens, the token has ended when this returns. */
HA_IN_ void ha_export_finish(ha_export *e, const char *operation) {
    if (e->behind)
        HA_IGNORE_(ha_token_end_at(&e->token, e->behind));
    else if (e->default_stream)
        ha_stream_end_token(&e->token, HA_DL_STREAM_LEGACY, operation);
    if (!e->token.array) return;
    if (e->behind) HA_IGNORE_(ha_context_finish(e->behind));
    HA_IGNORE_(ha_token_finish(&e->token));
}

HA_IN_ void ha_export_end(void *manager) {
    static const char operation[] = "the deleter of a DLPack tensor";
    ha_export *e = (ha_export *)manager;
    if (ha_enter(operation)) return;
    ha_export_finish(e, operation);
    HA_IGNORE_(ha_array_free(e->array));
    HARRAY_FREE(e);
}

HA_IN_ void ha_export_delete(ha_dl_managed_tensor_versioned *t) { ha_export_end(t->manager_ctx); }
HA_IN_ void ha_export_delete_legacy(ha_dl_managed_tensor *t) { ha_export_end(t->manager_ctx); }

/* The consumer's stream comes after what the access waits for; if it has none, this does. */
HA_IN_ ha_status ha_export_order(ha_export *e, ha_access *v, const ha_export_request *r) {
    ha_context *c = v->context;
    const void *stream = r->stream;
    if (ha_is_host(c) || stream == HA_DL_STREAM_UNORDERED) return HA_OK;
    if (!ha_knows_streams(c)) return ha_wait_(v, r->site);
    /* Always there, also when no context has it. Where a consumer that names none works, too. */
    e->default_stream = !stream || stream == HA_DL_STREAM_LEGACY;
    if (!stream || stream == HA_DL_STREAM_PER_THREAD) return ha_wait_(v, r->site);
    e->behind = e->default_stream ? NULL : ha_stream_context(c, stream);
    ha_status s = ha_stream_follow(c, stream);
    if (!s) return HA_OK;
    return ha_fail(s, r->operation, "%s: array %s at %s: the consumer's stream cannot wait for it",
                   r->site, ha_label_of(v->array).text, c->name);
}

HA_IN_ void ha_export_fill(ha_export *e, const darray *x, ha_dl_tensor *t, void *data) {
    for (int d = 0; d < x->rank; d++) {
        e->extent[d] = x->extent[d];
        e->stride[d] = x->stride[d];
    }
    t->data = data;
    t->ndim = x->rank;
    t->dtype = ha_dl_type_of(x->type);
    t->shape = e->extent;
    t->strides = e->stride;
    e->array = ha_array_retain(x->array);
}

HA_IN_ ha_status ha_export_open(ha_export *e, const ha_export_request *r, ha_dl_tensor *t) {
    ha_access v = {0};
    ha_status s = ha_open_darray(&v, &r->x, r->context, r->how, r->operation, r->site);
    void *data = v.data;
    if (s) return s;
    s = ha_export_order(e, &v, r);
    if (!s) s = ha_detach_(&e->token, &v, r->site);
    if (!s)
        ha_export_fill(e, &r->x, t, data);
    else
        HA_IGNORE_(ha_close_(&v));
    return s;
}

HA_IN_ ha_status ha_export_refuse(const ha_export_request *r) {
    ha_status s = ha_enter(r->operation);
    if (s) return s;
    if (!r->has_place)
        return ha_fail(HA_ERR_ARGUMENT, r->operation, "%s: no place for the tensor", r->site);
    if (!r->x.array)
        return ha_fail(HA_ERR_ARGUMENT, r->operation, "%s: %s: no array", r->site, r->operation);
    if (!ha_dtype_size(r->x.type))
        return ha_fail(HA_ERR_UNSUPPORTED, r->operation,
                       "%s: array %s: DLPack has no name for elements of a user's type", r->site,
                       ha_label_of(r->x.array).text);
    if (!r->versioned && !(r->how & (HA_WRITE | HA_OVERWRITE)))
        return ha_fail(HA_ERR_UNSUPPORTED, r->operation,
                       "%s: array %s: before version 1, DLPack cannot say that a tensor is for "
                       "reading only: open it for writing, or hand out a versioned one",
                       r->site, ha_label_of(r->x.array).text);
    return ha_view_check_opened(&r->x, r->how, r->operation, r->site);
}

/* What stands around the tensor. */
HA_IN_ void ha_export_sign(ha_export *e, const ha_export_request *r) {
    if (!r->versioned) {
        e->legacy.manager_ctx = e;
        e->legacy.deleter = ha_export_delete_legacy;
        return;
    }
    e->versioned.version = (ha_dl_version){HA_DL_MAJOR, HA_DL_MINOR};
    e->versioned.manager_ctx = e;
    e->versioned.deleter = ha_export_delete;
    e->versioned.flags = r->how & (HA_WRITE | HA_OVERWRITE) ? 0 : HA_DL_READ_ONLY;
}

/* NULL: *s says why. */
HA_IN_ ha_export *ha_export_make(ha_export_request r, ha_status *s) {
    if ((*s = ha_export_refuse(&r))) return NULL;
    r.context = ha_resolve(r.context);
    const ha_dl_device device = ha_context_dl_device(r.context);
    *s = HA_ERR_UNSUPPORTED;
    if (!device.device_type) return NULL;
    ha_export *e = (ha_export *)HARRAY_MALLOC(sizeof *e);
    if (!e) {
        *s = ha_fail(HA_ERR_MEMORY, r.operation, "%s: array %s: no memory for the tensor", r.site,
                     ha_label_of(r.x.array).text);
        return NULL;
    }
    memset(e, 0, sizeof *e);
    ha_dl_tensor *t = r.versioned ? &e->versioned.dl_tensor : &e->legacy.dl_tensor;
    t->device = device;
    if ((*s = ha_export_open(e, &r, t))) {
        HARRAY_FREE(e);
        return NULL;
    }
    ha_export_sign(e, &r);
    return e;
}

ha_status darray_to_dlpack_(darray x, ha_context *c, unsigned how, const void *stream,
                            ha_dl_managed_tensor_versioned **out, const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    ha_status s;
    ha_export *e = ha_export_make(
        (ha_export_request){x, c, how, stream, 1, out != NULL, "darray_to_dlpack", site}, &s);
    if (out) *out = e ? &e->versioned : NULL;
    return s;
}

ha_status darray_to_dlpack_legacy_(darray x, ha_context *c, unsigned how, const void *stream,
                                   ha_dl_managed_tensor **out, const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    ha_status s;
    ha_export *e = ha_export_make(
        (ha_export_request){x, c, how, stream, 0, out != NULL, "darray_to_dlpack_legacy", site},
        &s);
    if (out) *out = e ? &e->legacy : NULL;
    return s;
}

/* Does a context's stream take part? */
HA_IN_ int ha_dl_is_ordered(const ha_context *c, const void *stream) {
    return !ha_is_host(c) && ha_knows_streams(c) && stream != HA_DL_STREAM_UNORDERED;
}

ha_status ha_dl_before_(ha_context *c, const void *stream) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_enter("ha_dl_before_");
    c = ha_resolve(c);
    if (s || !ha_dl_is_ordered(c, stream)) return s;
    if (!stream || stream == HA_DL_STREAM_PER_THREAD) return ha_context_finish(c);
    s = ha_stream_follow(c, stream);
    if (!s) return HA_OK;
    return ha_fail(s, "ha_dl_before_", "the consumer's stream cannot wait for %s", c->name);
}

/* Other streams than contexts' and the default one may be gone. */
void ha_dl_after_(ha_context *c, const void *stream) {
    HA_TELLS_EVENTS_;
    if (ha_enter("ha_dl_after_")) return;
    c = ha_resolve(c);
    if (!ha_dl_is_ordered(c, stream) || stream == HA_DL_STREAM_PER_THREAD) return;
    if (!stream) stream = HA_DL_STREAM_LEGACY;
    const int is_there = stream == HA_DL_STREAM_LEGACY || ha_stream_context(c, stream);
    if (is_there && ha_stream_lead(c, stream)) ha_stream_drain(c, stream);
}

/* ---- taking --------------------------------------------------------------------------------- */

/* What is wrong with a tensor in itself; NULL: nothing. */
HA_IN_ const char *ha_dl_objection(const ha_dl_tensor *t) {
    if (t->ndim < 0) return "its number of dimensions is negative";
    if (t->ndim && !t->shape) return "it has no shape";
    for (int d = 0; d < t->ndim && d < HA_MOST_RANK; d++)
        if (t->shape[d] < 0) return "an extent is negative";
    if (__builtin_add_overflow((uintptr_t)t->data, t->byte_offset, &(uintptr_t){0}))
        return "its byte offset goes beyond the last address";
    return NULL;
}

HA_IN_ ha_status ha_dl_check(const ha_dl_tensor *t, const char *operation) {
    const char *objection = ha_dl_objection(t);
    if (objection) return ha_fail(HA_ERR_ARGUMENT, operation, "the tensor: %s", objection);
    if (t->ndim > HA_MOST_RANK)
        return ha_fail(HA_ERR_UNSUPPORTED, operation,
                       "the tensor has %d dimensions: %d are the most here", (int)t->ndim,
                       HA_MOST_RANK);
    if (ha_dtype_of_dl(t->dtype)) return HA_OK;
    return ha_fail(HA_ERR_UNSUPPORTED, operation,
                   "there is no element type for the tensor's: DLPack's code %u, %u bits, %u lanes",
                   t->dtype.code, t->dtype.bits, t->dtype.lanes);
}

HA_IN_ darray ha_dl_wrap(const ha_dl_tensor *t, int read_only, ha_context *context,
                         const char *operation) {
    const darray none = {.rank = 0};
    if (ha_enter(operation) || ha_dl_check(t, operation)) return none;
    const ha_foreign f = {.type = ha_dtype_of_dl(t->dtype),
                          .rank = t->ndim,
                          .extent = t->shape,
                          .stride = t->strides,
                          .data = t->data ? (uintptr_t)t->data + t->byte_offset : 0,
                          .place = ha_context_of_dl(t->device, operation),
                          .read_only = read_only,
                          .behind = ha_resolve(context)};
    return f.place ? ha_foreign_wrap(&f, operation) : none;
}

HA_IN_ void ha_dl_delete(void *tensor) {
    ha_dl_managed_tensor_versioned *t = (ha_dl_managed_tensor_versioned *)tensor;
    if (t->deleter) t->deleter(t);
}

HA_IN_ void ha_dl_delete_legacy(void *tensor) {
    ha_dl_managed_tensor *t = (ha_dl_managed_tensor *)tensor;
    if (t->deleter) t->deleter(t);
}

/* The array keeps the tensor; without one it goes at once. */
HA_IN_ darray ha_dl_keep(darray x, void (*release)(void *), void *tensor) {
    if (x.array)
        HA_IGNORE_(ha_array_set_release(x.array, release, tensor));
    else
        release(tensor);
    return x;
}

/* Of another major version nothing may be looked at but the deleter. */
HA_IN_ darray ha_dl_wrap_versioned(const ha_dl_managed_tensor_versioned *t, ha_context *context,
                                   const char *operation) {
    if (t->version.major == HA_DL_MAJOR)
        return ha_dl_wrap(&t->dl_tensor, (t->flags & HA_DL_READ_ONLY) != 0, context, operation);
    ha_fail(HA_ERR_UNSUPPORTED, operation, "the tensor is of DLPack %u.%u, harray knows %d.x",
            t->version.major, t->version.minor, HA_DL_MAJOR);
    return (darray){.rank = 0};
}

HA_IN_ darray ha_dl_no_tensor(const char *operation) {
    ha_fail(HA_ERR_ARGUMENT, operation, "no tensor");
    return (darray){.rank = 0};
}

darray darray_from_dlpack(ha_dl_managed_tensor_versioned *t, ha_context *context) {
    HA_TELLS_EVENTS_;
    static const char operation[] = "darray_from_dlpack";
    if (!t) return ha_dl_no_tensor(operation);
    return ha_dl_keep(ha_dl_wrap_versioned(t, context, operation), ha_dl_delete, t);
}

darray darray_from_dlpack_legacy(ha_dl_managed_tensor *t, ha_context *context) {
    HA_TELLS_EVENTS_;
    static const char operation[] = "darray_from_dlpack_legacy";
    if (!t) return ha_dl_no_tensor(operation);
    return ha_dl_keep(ha_dl_wrap(&t->dl_tensor, 0, context, operation), ha_dl_delete_legacy, t);
}

#endif
