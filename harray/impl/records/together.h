/* Arrays and record arrays opened in one call: all or none. To the engine record arrays are as many arrays as
 * boxes of fields are asked of them. */
#ifndef HARRAY_IMPL_RECORDS_TOGETHER_H
#define HARRAY_IMPL_RECORDS_TOGETHER_H

#include "access.h"

/* One of the requests. Of an array only `first` matters. */
typedef struct ha_one_of_many {
    const ha_request *request;
    size_t first; /* of its parts among all */
    ha_access_spec *spec;
    ha_region box;
    ha_records_opening opening;
    ha_records_room room;
    int begun; /* its array stays until ha_records_leave */
} ha_one_of_many;

typedef struct ha_together {
    const char *operation, *site;
    ha_one_of_many *one;
    size_t count;
    ha_request *part; /* of arrays as they are, of records one for each box */
    size_t parts;
    int trying;
    ha_open_work *use; /* what is enqueued before anything is overwritten; NULL: nothing */
} ha_together;

/* ---- what is asked of records --------------------------------------------------------------- */

HA_IN_ ha_status ha_together_ask(ha_together *t, ha_one_of_many *one) {
    const ha_request *r = one->request;
    const ha_region rows = ha_records_rows_(r->first, r->last);
    const char *site = one->opening.site;
    ha_request *q;
    ha_status s = ha_records_enter(r->records, t->operation, site);
    if (!s && !r->what) s = ha_fail(HA_ERR_ARGUMENT, t->operation, "%s: nothing to open", site);
    ha_array *a;
    if (!s) s = ha_records_begin_at(r->records, t->operation, &a);
    if (s) return s;
    one->begun = 1;
    one->opening.array = a;
    s = ha_access_spec_get(r->records, r->what, 0, t->operation, site, &one->spec);
    if (!s)
        s = ha_records_ready(a, one->opening.context, r->box ? r->box : &rows, &one->box,
                             t->operation, site);
    if (!s) s = ha_records_target(&one->opening, one->spec, &one->box, &one->room, &q);
    if (!s) s = ha_records_make_room(r->opened, &one->opening);
    if (!s) t->trying |= one->spec->trying;
    return s;
}

/* fitting: of each request, or NULL. */
HA_IN_ ha_status ha_together_ask_all(ha_together *t, const ha_request *r,
                                     ha_fitting *const *fitting) {
    ha_status s = HA_OK;
    for (size_t i = 0; i < t->count; i++) t->one[i].request = &r[i];
    for (size_t i = 0; i < t->count && !s; i++) {
        ha_one_of_many *one = &t->one[i];
        one->first = t->parts;
        one->opening = (ha_records_opening){.context = ha_resolve(r[i].context),
                                            .operation = t->operation,
                                            .site = ha_request_site(&r[i], t->site),
                                            .reads_all = r[i].reads_all_,
                                            .updates = r[i].updates_,
                                            .fitting = fitting ? fitting[i] : NULL};
        if (r[i].opened) s = ha_together_ask(t, one);
        if (s) r[i].opened->status = s;
        t->parts += r[i].opened ? one->opening.n : 1;
    }
    return s;
}

HA_IN_ void ha_together_end(ha_together *t) {
    for (size_t i = 0; i < t->count; i++) {
        ha_one_of_many *one = &t->one[i];
        if (!one->begun) continue;
        ha_access_spec_end(one->spec);
        HARRAY_FREE(one->room.heap);
        ha_records_leave(one->request->records);
    }
    HARRAY_FREE(t->part);
    HARRAY_FREE(t->one);
}

/* ---- opening -------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_together_make_parts(ha_together *t) {
    size_t bytes, n = 0;
    if (!__builtin_mul_overflow(t->parts, sizeof *t->part, &bytes) && bytes <= PTRDIFF_MAX)
        t->part = (ha_request *)HARRAY_MALLOC(bytes);
    if (!t->part)
        return ha_fail(HA_ERR_MEMORY, t->operation, "%s: no memory to open %zu arrays", t->site,
                       t->count);
    for (size_t i = 0; i < t->count; i++) {
        const ha_one_of_many *one = &t->one[i];
        const ha_records_opening *o = &one->opening;
        if (!one->request->opened) t->part[n++] = *one->request;
        for (size_t k = 0; one->request->opened && k < o->n; k++)
            t->part[n++] = (ha_request){.access = &ha_records_parts(one->request->opened)[k],
                                        .array = o->array,
                                        .context = o->context,
                                        .how = o->mode[k],
                                        .last = HA_END,
                                        .site_ = o->site};
    }
    return ha_requests_clear(t->part, t->parts, t->operation, t->site);
}

/* The request of which a part is. */
HA_IN_ ha_one_of_many *ha_together_of(const ha_together *t, size_t part) {
    size_t i = 0;
    while (i + 1 < t->count && t->one[i + 1].first <= part) i++;
    return &t->one[i];
}

/* The records as they will be when all is open. */
HA_IN_ void ha_together_show(const ha_together *t) {
    for (size_t i = 0; i < t->count; i++) {
        ha_records_access *x = t->one[i].request->opened;
        if (!x) continue;
        x->context = t->one[i].opening.context;
        ha_records_show(x, t->one[i].opening.array);
    }
}

HA_IN_ ha_status ha_together_work(ha_open_set *set, void *argument) {
    const ha_together *t = (const ha_together *)argument;
    ha_status s = HA_OK;
    for (size_t i = 0; i < t->count && !s; i++)
        if (t->one[i].opening.fitting) s = ha_records_fits(&t->one[i].opening);
    if (s || !t->use) return s;
    ha_open_many_show(set);
    ha_together_show(t);
    return ha_open_work_do(t->use);
}

HA_IN_ ha_status ha_together_open_parts(ha_together *t) {
    ha_open_set set = {
        .operation = t->operation, .work = ha_together_work, .argument = t, .for_user = 1};
    ha_status s = HA_OK;
    for (size_t i = 0; i < t->count && !s; i++) {
        const ha_request *r = t->one[i].request;
        if (r->opened) continue;
        t->trying |= (r->how & HA_TRY) != 0;
        s = ha_request_refuse(&set, r, t->site);
        if (s) r->access->status = s;
    }
    if (!s) s = ha_open_many_make(&set, t->part, t->parts, t->site);
    for (size_t i = 0; i < t->parts && !s; i++) {
        const ha_one_of_many *one = ha_together_of(t, set.part[i].place);
        if (one->request->opened)
            ha_records_aim(&one->opening, &set.part[i].opening, set.part[i].place - one->first);
    }
    if (!s) s = ha_open_many_open(&set, t->trying);
    HARRAY_FREE(set.part);
    return s;
}

/* What each is, when all are open, or none. */
HA_IN_ void ha_together_tell(const ha_together *t, ha_status s) {
    for (size_t i = 0; i < t->count; i++) {
        const ha_one_of_many *one = &t->one[i];
        ha_records_access *x = one->request->opened;
        if (!x) continue;
        if (!s) {
            ha_records_bound(x, &one->box);
            ha_records_opened(x, one->request->records, &one->opening, 0);
            x->status = HA_OK;
            continue;
        }
        ha_status own = x->status ? x->status : HA_ERR_STATE;
        for (size_t k = 0; t->part && k < one->opening.n; k++)
            if (ha_records_parts(x)[k].status != HA_ERR_STATE) own = ha_records_parts(x)[k].status;
        HARRAY_FREE(x->more_);
        memset(x, 0, sizeof *x);
        x->status = own;
    }
}

/* Zeroes the accesses; refuses lists where one to records stands twice. */
HA_IN_ ha_status ha_together_clear(const ha_together *t, const ha_request *r) {
    int twice = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (r[i].opened)
            memset(r[i].opened, 0, sizeof *r[i].opened);
        else if (r[i].access)
            *r[i].access = (ha_access){.status = HA_ERR_STATE};
    }
    for (size_t i = 0; i < t->count; i++)
        if (r[i].opened) twice |= r[i].opened->parts_++;
    for (size_t i = 0; i < t->count; i++)
        if (r[i].opened) r[i].opened->parts_ = 0;
    if (!twice) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, t->operation, "%s: an access is in the list twice", t->site);
}

/* use: NULL, or what uses them on a device and is enqueued with the opening, or nothing is opened. */
HA_IN_ ha_status ha_open_together(ha_request *r, size_t count, ha_fitting *const *fitting,
                                  ha_open_work *use, const char *site) {
    ha_together t = {.operation = "ha_open_many", .site = site, .count = count, .use = use};
    size_t bytes;
    ha_status s = ha_enter(t.operation);
    if (!s) s = ha_together_clear(&t, r);
    if (s) return s;
    if (!__builtin_mul_overflow(count, sizeof *t.one, &bytes) && bytes <= PTRDIFF_MAX)
        t.one = (ha_one_of_many *)HARRAY_MALLOC(bytes);
    if (!t.one)
        return ha_fail(HA_ERR_MEMORY, t.operation, "%s: no memory to open %zu arrays", site, count);
    memset(t.one, 0, bytes);
    s = ha_together_ask_all(&t, r, fitting);
    if (!s) s = ha_together_make_parts(&t);
    if (!s) s = ha_together_open_parts(&t);
    ha_together_tell(&t, s);
    ha_together_end(&t);
    return use && use->status ? use->status : s;
}

HA_IN_ ha_status ha_open_with_records(ha_request *r, size_t count, const char *site) {
    return ha_open_together(r, count, NULL, NULL, site);
}

/* As ha_open_to_use. HA_ERR_UNSUPPORTED, and one of the fittings is a misfit: that was not told. */
HA_IN_ ha_status ha_open_together_to_use(ha_request *r, size_t count, ha_fitting *const *fitting,
                                         ha_open_work *use, const ha_context *c, const char *site) {
    HA_TELLS_EVENTS_;
    if (!HA_DEBUGGING_ && !c->strict) return ha_open_together(r, count, fitting, use, site);
    const ha_status s = ha_open_together(r, count, fitting, NULL, site);
    return s ? s : ha_use_now(r, count, use);
}

#endif
