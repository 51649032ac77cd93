/* Accesses to record arrays: which fields, opened how; all of them at once. */
#ifndef HARRAY_IMPL_RECORDS_OPEN_H
#define HARRAY_IMPL_RECORDS_OPEN_H

#include "access_spec.h"
#include "../../records.h"
#include "../ndarray/all.h"

static ha_access *ha_records_parts(ha_records_access *x) { return x->more_ ? x->more_ : x->part_; }

/* The box of a run and a range of the slowest index, neither empty. */
static ha_range ha_records_range(const ha_array *a, const ha_field_run *run, int64_t first,
                                 int64_t last) {
    const ha_record_form *f = ha_records_form(a);
    ha_field_box b = {.leaf = run->leaf, .end = run->end};
    for (int d = 0; d < f->rank; d++) b.last[d] = f->extent[d];
    b.first[0] = first;
    b.last[0] = last;
    return ha_field_box_range(a, &b);
}

/* What has to be so of the layout, or nothing is opened. */
typedef struct ha_fitting ha_fitting;
struct ha_fitting {
    int (*fits)(ha_fitting *f, const ha_mapping *mapping);
    const void *type;
    void *view;
    ha_error error; /* why it does not */
    int misfit;     /* that is why nothing was opened; it was not told */
};

/* Which boxes are opened, and how. */
typedef struct ha_records_opening {
    ha_array *array;
    ha_context *context;
    const ha_range *range;
    const unsigned *mode;
    size_t n;
    int trying;
    const char *operation, *site;
    ha_fitting *fitting; /* NULL: any layout will do */
} ha_records_opening;

/* All of them when all are easy, or nothing. */
static int ha_records_open_fast(const ha_records_opening *w, ha_access *part) {
    ha_array *a = w->array;
    ha_incarnation *in = NULL;
    size_t n = 0;
    int writes = 0;
    if (!a->grid) return 0;
    ha_lock(a);
    for (; n < w->n; n++) {
        const int write = w->mode[n] != HA_READ;
        if (!ha_is_easy(a, w->context, w->range[n], w->range[n], write, 1, &in)) break;
        ha_hold_easily(&part[n], a, in, w->context, write, w->range[n], w->range[n], w->site);
        writes |= write;
    }
    const int all = n == w->n;
    if (all) {
        a->recent = in;
        a->version += (uint64_t)writes;
    } else { /* nobody has seen them */
        a->holders -= (uint32_t)n;
        if (n && w->context->ops)
            ha_incarnation_find(a, w->context->memory)->ops.promised -= (uint32_t)n;
    }
    ha_unlock(a);
    if (all) ha_self.held += n;
    return all;
}

/* All are prepared, and busy: the layout stays from now on, and what is overwritten is still there. */
static ha_status ha_records_still_fit(ha_open_set *t, void *argument) {
    const ha_records_opening *w = (const ha_records_opening *)argument;
    ha_array *a = w->array;
    (void)t;
    ha_lock(a);
    const ha_mapping *m = ha_placement_find(ha_records_form(a), w->context->memory)->mapping;
    ha_unlock(a);
    w->fitting->misfit = !w->fitting->fits(w->fitting, m);
    return w->fitting->misfit ? HA_ERR_UNSUPPORTED : HA_OK;
}

/* One access for each box, all or none. `q` has room for the requests. */
static ha_status ha_records_open_slow(const ha_records_opening *w, ha_access *part, ha_request *q) {
    ha_open_set t = {.operation = w->operation,
                     .work = w->fitting ? ha_records_still_fit : NULL,
                     .argument = (void *)(uintptr_t)w};
    for (size_t i = 0; i < w->n; i++)
        q[i] = (ha_request){.access = &part[i],
                            .array = w->array,
                            .context = w->context,
                            .how = w->mode[i],
                            .last = HA_END};
    (void)ha_requests_clear(q, w->n, w->operation, w->site); /* no access is there twice */
    ha_status s = ha_open_many_make(&t, q, w->n, w->site);
    if (s) return s;
    for (size_t i = 0; i < w->n; i++) {
        ha_opening *o = &t.part[i].opening;
        o->range = w->range[t.part[i].place];
        if (!w->array->grid) continue;
        o->has_target = 1;
        o->count = ha_elements(w->array->grid, o->range);
    }
    s = ha_open_many_open(&t, w->trying);
    HARRAY_FREE(t.part);
    return s;
}

/* Ranges, modes and requests for more parts than usual. */
typedef struct ha_records_room {
    ha_range range[4];
    unsigned mode[4];
    ha_request request[4];
    void *heap;
} ha_records_room;

/* The boxes of what is wanted: w->range, w->mode, w->n; *room is to be freed. An array without records has
 * no boxes: it is opened as a whole, in the way that excludes most. A range without records is opened, too,
 * so that the layout stays; it is in nobody's way. */
static ha_status ha_records_aim(ha_records_opening *w, const ha_access_spec *wanted, int64_t first,
                                int64_t last, ha_records_room *room, ha_request **q) {
    const size_t n = (size_t)wanted->runs;
    ha_range *range = room->range;
    unsigned *mode = room->mode;
    *q = room->request;
    room->heap = NULL;
    if (n > 4) {
        room->heap = HARRAY_MALLOC(n * (sizeof **q + sizeof *range + sizeof *mode));
        if (!room->heap)
            return ha_fail(HA_ERR_MEMORY, w->operation, "%s: records %s: no memory to open them",
                           w->site, ha_label_of(w->array).text);
        *q = (ha_request *)room->heap;
        range = (ha_range *)(void *)(*q + n);
        mode = (unsigned *)(void *)(range + n);
    }
    w->range = range;
    w->mode = mode;
    const int boxes = w->array->grid && first < last;
    w->n = boxes ? n : 1;
    range[0] = w->array->grid ? (ha_range){0, 0} : HA_WHOLE_;
    mode[0] = HA_READ;
    for (size_t i = 0; i < n; i++) {
        const unsigned how = wanted->run[i].mode;
        if (boxes) {
            range[i] = ha_records_range(w->array, &wanted->run[i], first, last);
            mode[i] = how;
        } else if (!w->array->grid && how > mode[0])
            mode[0] = how;
    }
    return HA_OK;
}

/* Where the blobs are, for the user. */
static void ha_records_show(ha_records_access *x, ha_array *a) {
    const ha_memory *m = x->context->memory;
    ha_lock(a);
    ha_placement *l = ha_placement_find(ha_records_form(a), m);
    const ha_incarnation *in = ha_incarnation_find(a, m);
    const char *data = (const char *)ha_records_parts(x)[0].data;
    x->mapping = l->mapping;
    x->blob = l->caller ? l->caller : l->blob;
    if (data && !l->caller)
        x->blob = ha_placement_shown(l, in->data, (uintptr_t)data - (uintptr_t)in->data);
    ha_unlock(a);
}

/* Opens what is has_target at, and fills *x. */
static ha_status ha_records_grant(ha_records_access *x, ha_records *r, const ha_records_opening *w,
                                  ha_request *q) {
    ha_status s = HA_OK;
    if (w->n > sizeof x->part_ / sizeof *x->part_ &&
        !(x->more_ = (ha_access *)HARRAY_MALLOC(w->n * sizeof *x->more_)))
        return ha_fail(HA_ERR_MEMORY, w->operation, "%s: records %s: no memory to open them",
                       w->site, ha_label_of(w->array).text);
    ha_access *part = ha_records_parts(x);
    if (!ha_records_open_fast(w, part)) s = ha_records_open_slow(w, part, q);
    if (s) {
        HARRAY_FREE(x->more_);
        return s;
    }
    x->records = r;
    x->context = w->context;
    x->parts_ = (int)w->n;
    ha_records_show(x, w->array);
    return HA_OK;
}

/* The range, with an end; 0: it is not inside. */
static int ha_records_inside(const ha_array *a, size_t *first, size_t *last) {
    const size_t n = (size_t)ha_records_form(a)->extent[0];
    if (*last == HA_END) *last = n;
    return *first <= *last && *last <= n;
}

/* What is said of records before anything is done there: the placement is there then. */
static ha_status ha_records_ready(ha_array *a, ha_context *c, size_t *first, size_t *last,
                                  const char *operation, const char *site) {
    ha_placement *l;
    const size_t from = *first, to = *last;
    if (!ha_records_inside(a, first, last))
        return ha_fail(HA_ERR_ARGUMENT, operation, "%s: records %s: no range [%zu, %zu) in %lld",
                       site, ha_label_of(a).text, from, to,
                       (long long)ha_records_form(a)->extent[0]);
    ha_status s = ha_placement_get(a, c->memory, &l);
    if (!s) return HA_OK;
    return ha_fail(s, operation, "%s: records %s at %s: the layout \"%.80s\" cannot be had there",
                   site, ha_label_of(a).text, c->name, ha_records_form(a)->layout);
}
/* The array is r's for now. */
static ha_status ha_records_open_wanted(ha_records_access *x, ha_records *r,
                                        const ha_access_spec *wanted, ha_records_opening *w,
                                        size_t first, size_t last) {
    ha_records_room room;
    ha_request *q;
    ha_status s = ha_records_ready(w->array, w->context, &first, &last, w->operation, w->site);
    if (s) return s;
    x->first = (int64_t)first;
    x->last = (int64_t)last;
    s = ha_records_aim(w, wanted, (int64_t)first, (int64_t)last, &room, &q);
    if (!s) s = ha_records_grant(x, r, w, q);
    HARRAY_FREE(room.heap);
    return s;
}

/* fitting: NULL, or what is asked unless all is valid there: then nothing is lost either. */
static ha_status ha_records_open_if(ha_records_access *x, ha_records *r, ha_context *c,
                                    const char *what, size_t first, size_t last, const char *site,
                                    ha_fitting *fitting) {
    static const char operation[] = "ha_records_open";
    ha_access_spec *wanted = NULL;
    if (!x) return ha_no_access(operation);
    memset(x, 0, sizeof *x);
    ha_status s = ha_records_enter(r, operation, site);
    if (!s && !what) s = ha_fail(HA_ERR_ARGUMENT, operation, "%s: nothing to open", site);
    if (s) return x->status = s;
    ha_records_opening w = {.array = ha_records_begin(r),
                            .context = ha_resolve(c),
                            .operation = operation,
                            .site = site,
                            .fitting = fitting};
    s = ha_access_spec_get(r, what, 0, operation, site, &wanted);
    if (!s) w.trying = wanted->trying;
    if (!s) s = ha_records_open_wanted(x, r, wanted, &w, first, last);
    ha_access_spec_end(wanted);
    ha_records_leave(r);
    if (s) memset(x, 0, sizeof *x);
    return x->status = s;
}

ha_status ha_records_open_(ha_records_access *x, ha_records *r, ha_context *c, const char *what,
                           size_t first, size_t last, const char *site) {
    HA_TELLS_EVENTS_;
    return ha_records_open_if(x, r, c, what, first, last, site, NULL);
}
#endif
