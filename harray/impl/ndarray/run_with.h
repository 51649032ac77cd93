/* Functions and kernels of the caller's with all that they need: arrays are opened, pointers to them put into a
 * copy of a struct, and that is handed on; or nothing is. */
#ifndef HARRAY_IMPL_NDARRAY_RUN_WITH_H
#define HARRAY_IMPL_NDARRAY_RUN_WITH_H

#include "open_any.h"
#include "open_many.h"

typedef enum ha_use_kind { HA_USE_POINTER, HA_USE_SPAN, HA_USE_DSPAN } ha_use_kind;

/* A member of the struct, for who finds it on a queue. */
typedef struct ha_use_place {
    size_t offset, element; /* bytes of one element */
    ha_use_kind kind;
    int rank;
    void (*here)(const ha_queue *queue, void *view); /* of a view of records; else NULL */
} ha_use_place;

/* What is enqueued; behind it the struct, then the places. */
typedef struct ha_with {
    _Alignas(max_align_t) ha_function f; /* NULL: it is launched */
    size_t bytes, count;
} ha_with;

typedef struct ha_using {
    const char *operation, *name, *site;
    ha_context *context;
    ha_with *with;
    size_t with_bytes;
    const ha_use *use;
    ha_request *request;
    ha_access *access;
    darray *view;
    const ha_launch *launch;      /* of the caller's kernel; NULL: it is a function */
    ha_kernel_argument *launched; /* its only argument: the struct */
} ha_using;

HA_IN_ int ha_is_use_of_records(const ha_use *use) { return !use->array_bytes; }

HA_IN_ char *ha_with_argument(ha_with *w) { return (char *)(w + 1); }

HA_IN_ ha_use_place *ha_with_places(ha_with *w) {
    return (ha_use_place *)(void *)(ha_with_argument(w) + ha_queued_room(w->bytes));
}

/* ---- where it runs ------------------------------------------------------------------------------- */

/* A pointer that was put in, for this queue. Members need not be aligned. */
HA_IN_ void ha_use_shift(const ha_queue *q, const ha_use_place *p, char *member) {
    int64_t numbers[3 * HA_MOST_RANK];
    const size_t before = p->kind == HA_USE_DSPAN ? offsetof(dspan, extent) : sizeof(void *);
    const size_t step = sizeof(int64_t) *
                        (size_t)(p->kind == HA_USE_DSPAN ? HA_MOST_RANK : p->rank);
    void *data;
    if (p->here) {
        p->here(q, member);
        return;
    }
    memcpy(&data, member, sizeof data);
    if (p->kind == HA_USE_POINTER)
        data = ha_here_(q, data);
    else {
        memcpy(numbers, member + before + step, sizeof(int64_t) * (size_t)p->rank);
        memcpy(numbers + p->rank, member + before + 2 * step, sizeof(int64_t) * (size_t)p->rank);
        if (data) data = ha_span_here_(q, data, p->element, p->rank, numbers + p->rank, numbers);
    }
    memcpy(member, &data, sizeof data);
}

HA_IN_ void ha_with_run(const ha_queue *q, void *message) {
    ha_with *w = (ha_with *)message;
    char *argument = ha_with_argument(w);
    for (size_t i = 0; i < w->count; i++) {
        const ha_use_place *p = &ha_with_places(w)[i];
        ha_use_shift(q, p, argument + p->offset);
    }
    w->f(q, w->bytes ? argument : NULL);
}

/* ---- what is asked for --------------------------------------------------------------------------- */

HA_IN_ ha_status ha_use_fail(const ha_using *u, size_t i, const char *what) {
    return ha_fail(HA_ERR_ARGUMENT, u->operation, "%s: %s: %s", u->site, u->use[i].member, what);
}

/* What the member is, of the array that it is for. */
HA_IN_ ha_status ha_use_find(const ha_using *u, size_t i) {
    const ha_use *use = &u->use[i];
    ha_use_place *p = &ha_with_places(u->with)[i];
    const int is_view = use->array_bytes != sizeof(ha_array *);
    darray *v = &u->view[i];
    size_t span = 0;
    if (is_view) ha_view_of_any(v, use->array, use->array_bytes);
    if (!is_view) memcpy(&v->array, use->array, sizeof v->array);
    if (!v->array) return ha_use_fail(u, i, "no array");
    if (is_view) span = sizeof(void *) + 3 * sizeof(int64_t) * (size_t)v->rank;
    *p = (ha_use_place){use->offset, v->array->element, HA_USE_POINTER, is_view ? v->rank : 0,
                        NULL};
    if (is_view && use->array_bytes == sizeof(darray) && use->bytes == sizeof(dspan))
        p->kind = HA_USE_DSPAN;
    else if (is_view && use->bytes == span)
        p->kind = HA_USE_SPAN;
    else if (use->bytes != sizeof(void *))
        return ha_use_fail(u, i, "it is no pointer, and no span of this array's rank");
    u->request[i] = (ha_request){.access = &u->access[i],
                                 .array = v->array,
                                 .context = u->context,
                                 .how = use->how,
                                 .last = HA_END,
                                 .view = is_view ? v : NULL};
    return HA_OK;
}

/* ---- putting pointers in ------------------------------------------------------------------------- */

HA_IN_ void ha_use_put(const ha_using *u, size_t i) {
    const ha_access *x = &u->access[i];
    const darray *v = &u->view[i];
    const ha_use_place *p = &ha_with_places(u->with)[i];
    char *member = ha_with_argument(u->with) + p->offset;
    struct {
        ha_access access;
        char span[sizeof(dspan)];
    } opened = {.access = *x};
    const size_t bytes = p->kind == HA_USE_DSPAN
                             ? sizeof(dspan)
                             : sizeof(void *) + 3 * sizeof(int64_t) * (size_t)p->rank;
    if (p->kind == HA_USE_POINTER) {
        memcpy(member, &x->data, sizeof x->data);
        return;
    }
    ha_span_fill(&opened.access,
                 p->kind == HA_USE_DSPAN ? sizeof(ha_write_darray) : sizeof(ha_access) + bytes, v);
    memcpy(member, opened.span, bytes);
}

/* All are open, or about to be. */
HA_IN_ void ha_uses_put(const ha_using *u) {
    for (size_t i = 0; i < u->with->count; i++) ha_use_put(u, i);
}

HA_IN_ ha_status ha_uses_enqueue(const ha_using *u) {
    ha_context *c = u->context;
    if (!u->launch)
        return ha_enqueue_quietly(c, ha_with_run, u->with, u->with_bytes, u->name, u->site);
    ha_work w = {u->name, u->site, 0};
    u->launched->value = ha_with_argument(u->with);
    ha_work_begin(&w, c);
    const ha_status s = ha_queue_status(c, c->ops->launch_native(c->queue, u->launch));
    ha_work_end(&w, c, s);
    return s;
}

HA_IN_ ha_status ha_uses_enqueue_all(const ha_using *u) {
    const ha_status s = ha_uses_enqueue(u);
    if (!s) return HA_OK;
    return ha_fail(s, u->operation, "%s: %s did not take the %s", u->site, u->context->name,
                   u->launch ? "kernel" : "function");
}

HA_IN_ ha_status ha_uses_work(void *argument) {
    const ha_using *u = (const ha_using *)argument;
    ha_uses_put(u);
    return ha_uses_enqueue_all(u);
}

/* On the host the function has returned; its errors are this thread's. */
HA_IN_ void ha_uses_call_here(const ha_using *u) {
    static const ha_queue nowhere = {0, 0, 0};
    ha_work w = {u->name, u->site, 0};
    ha_work_begin(&w, u->context);
    ha_queue_run(ha_with_run, &nowhere, u->with);
    ha_work_end(&w, u->context, HA_OK);
}

HA_IN_ ha_status ha_uses_run_here(const ha_using *u) {
    const ha_status s = ha_open_many_(u->request, u->with->count, u->site);
    if (s) return s;
    ha_uses_put(u);
    ha_uses_call_here(u);
    return ha_close_many(u->request, u->with->count);
}

HA_IN_ ha_status ha_uses_open_records(const ha_using *u) {
    if (ha_for_records.run_with) return ha_for_records.run_with(u);
    return ha_fail(HA_ERR_ARGUMENT, u->operation, "%s: no array", u->site);
}

HA_IN_ ha_status ha_uses_open(ha_using *u) {
    const size_t n = u->with->count;
    ha_status s = HA_OK;
    for (size_t i = 0; i < n; i++)
        if (ha_is_use_of_records(&u->use[i])) return ha_uses_open_records(u);
    for (size_t i = 0; i < n && !s; i++) s = ha_use_find(u, i);
    if (s) return s;
    if (ha_is_host(u->context)) return ha_uses_run_here(u);
    ha_open_work work = {ha_uses_work, u, HA_OK};
    s = ha_open_to_use(u->request, n, u->operation, &work, u->context, u->site);
    return s ? s : ha_close_many(u->request, n);
}

/* ---- the calls ----------------------------------------------------------------------------------- */

/* One block for all; 0: there is no memory. */
HA_IN_ int ha_uses_make(ha_using *u, ha_function f, const void *argument, size_t bytes, size_t n) {
    const size_t each = sizeof(ha_use_place) + sizeof(darray) + sizeof(ha_access) +
                        sizeof(ha_request);
    const size_t head = sizeof(ha_with) + ha_queued_room(bytes);
    size_t all;
    if (head < bytes || __builtin_mul_overflow(n, each, &all) ||
        __builtin_add_overflow(all, head, &all) || all > PTRDIFF_MAX)
        return 0;
    u->with = (ha_with *)HARRAY_MALLOC(all);
    if (!u->with) return 0;
    *u->with = (ha_with){f, bytes, n};
    if (bytes) memcpy(ha_with_argument(u->with), argument, bytes);
    u->with_bytes = head + n * sizeof(ha_use_place);
    u->view = (darray *)(void *)((char *)u->with + u->with_bytes);
    u->access = (ha_access *)(void *)(u->view + n);
    u->request = (ha_request *)(void *)(u->access + n);
    return 1;
}

HA_IN_ ha_status ha_uses_do(ha_using *u, ha_function f, const void *argument, size_t bytes,
                            size_t n) {
    if ((bytes && !argument) || (n && !u->use))
        return ha_fail(HA_ERR_ARGUMENT, u->operation, "%s: no %s", u->site,
                       argument ? "uses" : "argument");
    for (size_t i = 0; i < n; i++)
        if (u->use[i].offset > bytes || u->use[i].bytes > bytes - u->use[i].offset)
            return ha_use_fail(u, i, "it is not inside the argument");
    if (!ha_uses_make(u, f, argument, bytes, n))
        return ha_fail(HA_ERR_MEMORY, u->operation, "%s: no memory for %zu arrays", u->site, n);
    const ha_status s = ha_uses_open(u);
    HARRAY_FREE(u->with);
    return s;
}

ha_status ha_run_with_(ha_context *c, ha_function f, const void *argument, size_t bytes,
                       const ha_use *uses, size_t count, const char *name, const char *site) {
    HA_TELLS_EVENTS_;
    ha_using u = {.operation = "ha_run_with", .name = name, .site = ha_from(site), .use = uses};
    const ha_status s = ha_enter(u.operation);
    if (s) return s;
    u.context = ha_resolve(c);
    if (!f) return ha_fail(HA_ERR_ARGUMENT, u.operation, "%s: no function", u.site);
    return ha_uses_do(&u, f, argument, bytes, count);
}

ha_status ha_cuda_launch_with_(ha_context *c, struct CUfunc_st *function, const ha_cuda_grid *grid,
                               const void *argument, size_t bytes, const ha_use *uses, size_t count,
                               const char *name, const char *site) {
    HA_TELLS_EVENTS_;
    ha_using u = {
        .operation = "ha_cuda_launch_with", .name = name, .site = ha_from(site), .use = uses};
    ha_kernel_argument given = {bytes, NULL};
    ha_launch launch = {.kernel = function, .argument = &given, .arguments = 1};
    const ha_status s = ha_enter(u.operation);
    if (s) return s;
    u.context = ha_resolve(c);
    if (!function || !grid || !bytes)
        return ha_fail(HA_ERR_ARGUMENT, u.operation, "%s: no %s", u.site,
                       !function ? "function"
                       : !grid   ? "grid"
                                 : "argument");
    if (!u.context->ops || !HA_HAS_(u.context->ops, ha_queue_ops, launch_native))
        return ha_fail(HA_ERR_UNSUPPORTED, u.operation, "%s: %s takes no kernels of the caller's",
                       u.site, u.context->name);
    for (int i = 0; i < 3; i++) {
        launch.teams[i] = grid->blocks[i] ? grid->blocks[i] : 1;
        launch.lanes[i] = grid->threads[i] ? grid->threads[i] : 1;
    }
    launch.local_bytes = grid->shared_bytes;
    u.launch = &launch;
    u.launched = &given;
    return ha_uses_do(&u, NULL, argument, bytes, count);
}

#endif
