/* Record arrays among what a function of the caller's is given (ndarray/run_with.h): it gets views of them. */
#ifndef HARRAY_IMPL_RECORDS_RUN_WITH_H
#define HARRAY_IMPL_RECORDS_RUN_WITH_H

#include "together.h"
#include "typed.h"

/* One of the uses; of an array nothing of it is looked at. The view is made where it is to be: in the struct. */
typedef struct ha_view_use {
    ha_fitting fitting;
    ha_records_access opened;
    ha_error error;
} ha_view_use;

typedef struct ha_using_views {
    const ha_using *using;
    ha_view_use *view;
    ha_fitting **fitting; /* of each request; NULL: of an array */
} ha_using_views;

HA_IN_ ha_records *ha_records_of_use(const ha_use *use) {
    return (ha_records *)(uintptr_t)use->array;
}

/* What is asked of records, and where the view of them is to be. */
HA_IN_ ha_status ha_view_use_find(const ha_using_views *v, size_t i) {
    const ha_using *u = v->using;
    const ha_use *use = &u->use[i];
    char *member = ha_with_argument(u->with) + use->offset;
    ha_status s = ha_records_enter(ha_records_of_use(use), u->operation, u->site);
    if (s) return s;
    if (use->offset % sizeof(int64_t))
        return ha_use_fail(u, i, "a view has to be aligned, also in a packed struct");
    v->view[i].fitting = (ha_fitting){.fits = ha_view_fits,
                                      .type = use->records_type,
                                      .view = member,
                                      .bytes = use->bytes,
                                      .error = &v->view[i].error};
    v->fitting[i] = &v->view[i].fitting;
    ha_with_places(u->with)[i] = (ha_use_place){.offset = use->offset,
                                                .here = use->records_type->here};
    u->request[i] = (ha_request){.opened = &v->view[i].opened,
                                 .records = ha_records_of_use(use),
                                 .context = u->context,
                                 .what = use->what,
                                 .last = HA_END};
    return HA_OK;
}

HA_IN_ ha_status ha_uses_find_all(const ha_using_views *v) {
    ha_status s = HA_OK;
    for (size_t i = 0; i < v->using->with->count && !s; i++) {
        v->fitting[i] = NULL;
        s = ha_is_use_of_records(&v->using->use[i]) ? ha_view_use_find(v, i)
                                                    : ha_use_find(v->using, i);
    }
    return s;
}

/* Whether there can be views of all, before anything is opened. */
HA_IN_ ha_status ha_views_fit(const ha_using_views *v) {
    const ha_using *u = v->using;
    ha_status s = HA_OK;
    for (size_t i = 0; i < u->with->count && !s; i++) {
        const ha_fitting *f = v->fitting[i];
        if (!f) continue;
        s = ha_records_fit(ha_records_of_use(&u->use[i]), u->use[i].records_type, u->context,
                           f->view, u->site);
    }
    return s;
}

HA_IN_ int ha_views_misfit(const ha_using_views *v) {
    for (size_t i = 0; i < v->using->with->count; i++)
        if (v->fitting[i] && v->fitting[i]->misfit) return 1;
    return 0;
}

/* All are open, or about to be. */
HA_IN_ ha_status ha_views_put(const ha_using_views *v) {
    const ha_using *u = v->using;
    ha_status s = HA_OK;
    for (size_t i = 0; i < u->with->count && !s; i++) {
        const ha_records_type_ *type = u->use[i].records_type;
        ha_view_use *x = &v->view[i];
        if (!v->fitting[i])
            ha_use_put(u, i);
        else if ((s = ha_make_view(type, x->opened.mapping, x->opened.blob, x->fitting.view,
                                   &x->error)))
            s = ha_view_refused(ha_records_of_use(&u->use[i]), type, u->context, "changing",
                                &x->error, u->site);
    }
    return s;
}

HA_IN_ ha_status ha_views_work(void *argument) {
    const ha_using_views *v = (const ha_using_views *)argument;
    const ha_status s = ha_views_put(v);
    return s ? s : ha_uses_enqueue_all(v->using);
}

/* Opens all; on a device with the function enqueued, here without. */
HA_IN_ ha_status ha_views_open(ha_using_views *v) {
    const ha_using *u = v->using;
    ha_open_work work = {ha_views_work, v, HA_OK};
    const size_t n = u->with->count;
    for (size_t i = 0; i < n; i++)
        if (v->fitting[i]) v->fitting[i]->misfit = 0; /* of what was looked at before */
    ha_status s = ha_views_fit(v);
    if (s) return s;
    if (!ha_is_host(u->context))
        return ha_open_together_to_use(u->request, n, v->fitting, &work, u->context, u->site);
    s = ha_open_together(u->request, n, v->fitting, NULL, u->site);
    if (!s && (s = ha_views_put(v))) (void)ha_close_many(u->request, n);
    return s;
}

/* Again when records were laid out otherwise between looking and opening. */
HA_IN_ ha_status ha_uses_open_views(const ha_using *u) {
    const size_t n = u->with->count;
    ha_using_views v = {.using = u};
    size_t bytes;
    if (!__builtin_mul_overflow(n, sizeof *v.view + sizeof *v.fitting, &bytes) &&
        bytes <= PTRDIFF_MAX)
        v.view = (ha_view_use *)HARRAY_MALLOC(bytes);
    if (!v.view)
        return ha_fail(HA_ERR_MEMORY, u->operation, "%s: no memory for %zu arrays", u->site, n);
    v.fitting = (ha_fitting **)(void *)(v.view + n);
    ha_status s = ha_uses_find_all(&v);
    while (!s && (s = ha_views_open(&v)) && ha_views_misfit(&v)) s = HA_OK;
    if (!s && ha_is_host(u->context)) ha_uses_call_here(u);
    if (!s) s = ha_close_many(u->request, n);
    HARRAY_FREE(v.view);
    return s;
}

static const ha_records_hooks ha_for_records = {ha_open_with_records, ha_records_close_,
                                                ha_uses_open_views};

#endif
