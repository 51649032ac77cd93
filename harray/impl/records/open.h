/* Accesses to record arrays: which fields, opened how; all of them at once. */
#ifndef HARRAY_IMPL_RECORDS_OPEN_H
#define HARRAY_IMPL_RECORDS_OPEN_H

#include "access_spec.h"
#include "named.h"
#include "../../records.h"
#include "../ndarray/all.h"

HA_IN_ ha_access *ha_records_parts(ha_records_access *x) { return x->more_ ? x->more_ : x->part_; }

/* The box of a run and a box of indices, neither empty: its corners. */
HA_IN_ ha_range ha_records_range(const ha_array *a, const ha_field_run *run, const ha_region *box) {
    const ha_grid *g = a->grid;
    ha_range r = {(size_t)run->leaf * g->pitch[0], (size_t)(run->end - 1) * g->pitch[0] + 1};
    for (int d = 1; d < g->rank; d++) {
        r.first += (size_t)box->first[d - 1] * g->pitch[d];
        r.last += (size_t)(box->last[d - 1] - 1) * g->pitch[d];
    }
    return r;
}

HA_IN_ int ha_region_is_empty(const ha_region *box) {
    for (int d = 0; d < HA_MAPPING_RANK; d++)
        if (box->first[d] >= box->last[d]) return 1;
    return 0;
}

enum { HA_RECORDS_PARTS = sizeof((ha_records_access *)0)->part_ / sizeof(ha_access) };

/* What has to be so of the layout, or nothing is opened. */
typedef struct ha_fitting ha_fitting;
struct ha_fitting {
    int (*fits)(ha_fitting *f, const ha_placement *p);
    const void *type; /* of view */
    void *view;
    size_t bytes;
    ha_error *error; /* why it does not */
    int misfit;      /* that is why nothing was opened; it was not told */
};

/* Which boxes are opened, and how. */
typedef struct ha_records_opening {
    ha_array *array;
    ha_context *context;
    const ha_range *range;
    const ha_range *meant; /* of each; empty: all of it */
    const unsigned *mode;
    size_t n;
    int trying;
    int reads_all; /* also outside of the box */
    int updates;   /* what is written is computed with: it has to have values */
    const char *operation, *site;
    ha_fitting *fitting; /* NULL: any layout will do */
} ha_records_opening;

/* Takes back what was held easily, of which nobody has seen anything. Lock held. */
HA_IN_ void ha_records_let_go(ha_array *a, const ha_context *c, ha_incarnation *in, size_t n)
    HA_REQUIRES_(a->lock) {
    a->holders -= (uint32_t)n;
    if (n && c->ops) in->ops.promised -= (uint32_t)n;
}

/* Where the placement and, if one is asked for, the view of it are known: *p, and what there is in the
 * memory; NULL: they are not. */
HA_IN_ ha_incarnation *ha_records_known(ha_array *a, const ha_records_opening *opening,
                                        ha_placement **p) HA_REQUIRES_(a->lock) {
    const ha_fitting *fitting = opening->fitting;
    const ha_memory *m = opening->context->memory;
    ha_incarnation *in = a->recent->memory == m ? a->recent : ha_incarnation_find(a, m);
    *p = ha_placement_find(ha_records_state_of(a), m);
    if (!in || !in->block || !*p) return NULL;
    if (!fitting) return in;
    const ha_kept_view *kept = ha_placement_view(*p, fitting->type,
                                                 ha_placement_blobs(*p, in->data));
    if (!kept) return NULL;
    memcpy(fitting->view, kept->view, kept->bytes);
    return in;
}

/* All of them when all are easy, or nothing: opening->range, or these runs in x->box (NULL: none). The
 * thread does not count them as held yet. */
HA_FAST_ int ha_records_hold(ha_array *a, const ha_records_opening *opening, ha_records_access *x,
                             ha_access *part, const ha_field_run *run) HA_REQUIRES_(a->lock) {
    ha_context *c = opening->context;
    ha_placement *p;
    size_t n = 0;
    int writes = 0;
    ha_incarnation *in = ha_records_known(a, opening, &p);
    if (in && run && p->shared) in = NULL; /* more than these have to be held */
    for (; in && n < opening->n; n++) {
        const int write = (run ? run[n].mode : opening->mode[n]) != HA_READ;
        const ha_range r = run ? ha_records_range(a, &run[n], &x->box) : opening->range[n];
        if (!ha_is_easy(a, c, r, r, write, 1, &in)) break;
        ha_hold_easily(&part[n], a, in, c, write, r, r, opening->site);
        writes |= write;
    }
    const int all = n == opening->n;
    if (all) {
        a->recent = in;
        a->version += (uint64_t)writes;
        x->mapping = p->mapping;
        x->blob = ha_placement_blobs(p, in->data);
    } else if (in) {
        ha_records_let_go(a, c, in, n);
    }
    return all;
}

HA_IN_ int ha_records_open_fast(const ha_records_opening *opening, ha_records_access *x,
                                ha_access *part) {
    ha_array *a = opening->array;
    if (!a->grid) return 0;
    ha_lock(a);
    const int all = ha_records_hold(a, opening, x, part, NULL);
    ha_unlock(a);
    if (all) ha_self.held += opening->n;
    return all;
}

/* All are prepared, and busy: the layout stays from now on, and what is overwritten is still there. */
HA_IN_ ha_status ha_records_fits(const ha_records_opening *opening) {
    ha_array *a = opening->array;
    ha_lock(a);
    const ha_placement *p = ha_placement_find(ha_records_state_of(a), opening->context->memory);
    ha_unlock(a);
    opening->fitting->misfit = !opening->fitting->fits(opening->fitting, p);
    return opening->fitting->misfit ? HA_ERR_UNSUPPORTED : HA_OK;
}

HA_IN_ ha_status ha_records_still_fit(ha_open_set *t, void *argument) {
    (void)t;
    return ha_records_fits((const ha_records_opening *)argument);
}

/* One of its boxes, as the engine opens it. */
HA_IN_ void ha_records_aim(const ha_records_opening *opening, ha_opening *o, size_t box) {
    o->range = opening->range[box];
    o->meant = opening->meant[box];
    o->updates = opening->updates;
    if (!opening->array->grid) return;
    o->has_target = 1;
    o->count = ha_elements(opening->array->grid, o->range);
}

/* One access for each box, all or none. `q` has room for the requests. */
HA_IN_ ha_status ha_records_open_slow(const ha_records_opening *opening, ha_access *part,
                                      ha_request *q) {
    ha_open_set t = {.operation = opening->operation,
                     .work = opening->fitting ? ha_records_still_fit : NULL,
                     .argument = (void *)(uintptr_t)opening,
                     .for_user = 1};
    for (size_t i = 0; i < opening->n; i++)
        q[i] = (ha_request){.access = &part[i],
                            .array = opening->array,
                            .context = opening->context,
                            .how = opening->mode[i],
                            .last = HA_END};
    (void)ha_requests_clear(q, opening->n, opening->operation,
                            opening->site); /* no access is there twice */
    ha_status s = ha_open_many_make(&t, q, opening->n, opening->site);
    if (s) return s;
    for (size_t i = 0; i < opening->n; i++)
        ha_records_aim(opening, &t.part[i].opening, t.part[i].place);
    s = ha_open_many_open(&t, opening->trying);
    HARRAY_FREE(t.part);
    return s;
}

/* Ranges, modes and requests for more parts than usual. */
typedef struct ha_records_room {
    ha_range range[HA_RECORDS_PARTS], meant[HA_RECORDS_PARTS];
    unsigned mode[HA_RECORDS_PARTS];
    ha_request request[HA_RECORDS_PARTS];
    void *heap;
} ha_records_room;

HA_IN_ ha_region ha_records_all(const ha_array *a) {
    const int64_t *extent = ha_records_state_of(a)->extent;
    return ha_box4(0, extent[0], 0, extent[1], 0, extent[2], 0, extent[3]);
}

/* What a range becomes where values share bytes. What is locked beside it is kept, so it is no overwriting. */
HA_IN_ void ha_records_widen(const ha_shared_bytes *shared, const ha_array *a, ha_range *range,
                             ha_range *meant, unsigned *mode) {
    *meant = *range;
    *range = ha_shared_range(shared, a, *meant);
    if (range->first == meant->first && range->last == meant->last)
        *meant = (ha_range){0, 0};
    else if (*mode == HA_OVERWRITE)
        *mode = HA_WRITE;
}

/* The range of two with leaves in common, and the mode in which both are open. */
HA_IN_ void ha_records_unite(const ha_array *a, ha_range *range, ha_range *meant, unsigned *mode,
                             ha_range other, unsigned its) {
    const ha_field_box x = ha_field_box_of(a, *range), y = ha_field_box_of(a, other);
    ha_field_box b = x;
    if (y.end > b.end) b.end = y.end;
    for (int d = 0; d < HA_MAPPING_RANK; d++) {
        if (y.first[d] < b.first[d]) b.first[d] = y.first[d];
        if (y.last[d] > b.last[d]) b.last[d] = y.last[d];
    }
    *range = ha_field_box_range(a, &b);
    *meant = (ha_range){0, 0};
    *mode = *mode == its ? its : HA_WRITE;
}

/* The boxes in a memory where values share bytes: whole groups, each in one of them. */
HA_IN_ void ha_records_share(ha_records_opening *opening, ha_range *range, ha_range *meant,
                             unsigned *mode) {
    ha_array *a = opening->array;
    size_t n = 0;
    ha_lock(a);
    const ha_placement *p = ha_placement_find(ha_records_state_of(a), opening->context->memory);
    const ha_shared_bytes *shared = p ? p->shared : NULL;
    ha_unlock(a);
    for (size_t i = 0; shared && i < opening->n; i++) {
        ha_records_widen(shared, a, &range[i], &meant[i], &mode[i]);
        if (n && ha_field_box_of(a, range[n - 1]).end > ha_field_box_of(a, range[i]).leaf) {
            ha_records_unite(a, &range[n - 1], &meant[n - 1], &mode[n - 1], range[i], mode[i]);
            continue;
        }
        range[n] = range[i];
        meant[n] = meant[i];
        mode[n++] = mode[i];
    }
    if (shared) opening->n = n;
}

/* The boxes of what a text asks for: w->range, w->mode, w->n; *room is to be freed. An array
 * without records has no boxes: it is opened as a whole, in the way that excludes most. A range
 * without records is opened, too, so that the layout stays; it is in nobody's way. */
HA_IN_ ha_status ha_records_target(ha_records_opening *opening, const ha_access_spec *spec,
                                   const ha_region *box, ha_records_room *room, ha_request **q) {
    const size_t n = (size_t)spec->runs;
    const ha_region whole = ha_records_all(opening->array);
    ha_range *range = room->range, *meant = room->meant;
    unsigned *mode = room->mode;
    *q = room->request;
    room->heap = NULL;
    if (n > HA_RECORDS_PARTS) {
        room->heap = HARRAY_MALLOC(n * (sizeof **q + 2 * sizeof *range + sizeof *mode));
        if (!room->heap)
            return ha_fail(HA_ERR_MEMORY, opening->operation,
                           "%s: records %s: no memory to open them", opening->site,
                           ha_label_of(opening->array).text);
        *q = (ha_request *)room->heap;
        range = (ha_range *)(void *)(*q + n);
        meant = range + n;
        mode = (unsigned *)(void *)(meant + n);
    }
    opening->range = range;
    opening->meant = meant;
    opening->mode = mode;
    const int boxes = opening->array->grid && !ha_region_is_empty(box);
    opening->n = boxes ? n : 1;
    range[0] = opening->array->grid ? (ha_range){0, 0} : HA_WHOLE_;
    meant[0] = (ha_range){0, 0};
    mode[0] = HA_READ;
    for (size_t i = 0; i < n; i++) {
        const unsigned how = spec->run[i].mode;
        if (boxes) {
            const int all = opening->reads_all && how == HA_READ;
            range[i] = ha_records_range(opening->array, &spec->run[i], all ? &whole : box);
            meant[i] = (ha_range){0, 0};
            mode[i] = how;
        } else if (!opening->array->grid && how > mode[0])
            mode[0] = how;
    }
    if (boxes) ha_records_share(opening, range, meant, mode);
    return HA_OK;
}

/* Where the blobs are, for the user. */
HA_IN_ void ha_records_show(ha_records_access *x, ha_array *a) {
    const ha_memory *m = x->context->memory;
    ha_lock(a);
    ha_placement *p = ha_placement_find(ha_records_state_of(a), m);
    const ha_incarnation *in = ha_incarnation_find(a, m);
    const char *data = (const char *)ha_records_parts(x)[0].data;
    x->mapping = p->mapping;
    x->blob = p->caller ? p->caller : p->none;
    if (data && !p->caller)
        x->blob = ha_placement_shown(p, in->data, (uintptr_t)data - (uintptr_t)in->data);
    ha_unlock(a);
}

/* Room for the accesses of all boxes: x->more_, to be freed when they are not opened. */
HA_IN_ ha_status ha_records_make_room(ha_records_access *x, const ha_records_opening *opening) {
    x->more_ = NULL;
    if (opening->n <= HA_RECORDS_PARTS) return HA_OK;
    x->more_ = (ha_access *)HARRAY_MALLOC(opening->n * sizeof *x->more_);
    if (x->more_) return HA_OK;
    return ha_fail(HA_ERR_MEMORY, opening->operation, "%s: records %s: no memory to open them",
                   opening->site, ha_label_of(opening->array).text);
}

/* All boxes are open. `fast`: mapping and blobs are known already. */
HA_IN_ void ha_records_opened(ha_records_access *x, ha_records *r,
                              const ha_records_opening *opening, int fast) {
    x->records = r;
    x->context = opening->context;
    x->parts_ = (int)opening->n;
    if (!fast) ha_records_show(x, opening->array);
    ha_named_open(opening->array, x->mapping, x->context, opening->range, opening->mode,
                  opening->n);
}

/* Opens the boxes of an opening, and fills *x. */
HA_IN_ ha_status ha_records_grant(ha_records_access *x, ha_records *r,
                                  const ha_records_opening *opening, ha_request *q) {
    ha_status s = ha_records_make_room(x, opening);
    if (s) return s;
    ha_access *part = ha_records_parts(x);
    const int fast = ha_records_open_fast(opening, x, part);
    if (!fast) s = ha_records_open_slow(opening, part, q);
    if (s)
        HARRAY_FREE(x->more_);
    else
        ha_records_opened(x, r, opening, fast);
    return s;
}

/* What is asked for, with ends; 0: it is not inside. */
HA_IN_ int ha_records_inside(const ha_array *a, const ha_region *asked, ha_region *box) {
    const ha_records_state *state = ha_records_state_of(a);
    int inside = 1;
    for (int d = 0; d < HA_MAPPING_RANK; d++) {
        const int64_t extent = state->extent[d], first = asked->first[d];
        const int64_t last = asked->last[d] == HA_TO_END_ ? extent : asked->last[d];
        box->first[d] = first;
        box->last[d] = last;
        inside &= first >= 0 && first <= last && last <= extent;
    }
    return inside;
}

HA_IN_ ha_status ha_records_no_box(ha_array *a, const ha_region *box, const char *operation,
                                   const char *site) {
    const int rank = ha_records_state_of(a)->rank;
    char asked[200], extents[100];
    ha_text t = ha_text_into(asked, sizeof asked), e = ha_text_into(extents, sizeof extents);
    for (int d = 0; d < HA_MAPPING_RANK; d++)
        if (d < rank || box->first[d] || box->last[d] != 1)
            ha_print(&t, "%s[%td, %td)", d ? " x " : "", box->first[d], box->last[d]);
    ha_records_print_extents(a, &e);
    return ha_fail(HA_ERR_ARGUMENT, operation, "%s: records %s: no range %s in %s", site,
                   ha_label_of(a).text, asked, extents);
}

/* What is said of records before anything is done there: the placement is there then. */
HA_IN_ ha_status ha_records_ready(ha_array *a, ha_context *c, const ha_region *asked,
                                  ha_region *box, const char *operation, const char *site) {
    ha_placement *p;
    if (!ha_records_inside(a, asked, box)) return ha_records_no_box(a, box, operation, site);
    ha_status s = ha_placement_get(a, c->memory, &p);
    if (!s) return HA_OK;
    return ha_fail(s, operation, "%s: records %s at %s: the layout \"%.80s\" cannot be had there",
                   site, ha_label_of(a).text, c->name, ha_records_state_of(a)->layout);
}

HA_IN_ void ha_records_bound(ha_records_access *x, const ha_region *box) {
    x->first = box->first[0];
    x->last = box->last[0];
    x->box = *box;
}

/* The array is r's for now. */
HA_IN_ ha_status ha_records_open_spec(ha_records_access *x, ha_records *r,
                                      const ha_access_spec *spec, ha_records_opening *opening,
                                      const ha_region *asked) {
    ha_records_room room;
    ha_request *q;
    ha_region box;
    ha_status s = ha_records_ready(opening->array, opening->context, asked, &box,
                                   opening->operation, opening->site);
    if (s) return s;
    ha_records_bound(x, &box);
    s = ha_records_target(opening, spec, &box, &room, &q);
    if (!s) s = ha_records_grant(x, r, opening, q);
    HARRAY_FREE(room.heap);
    return s;
}

/* fitting: NULL, or what is asked unless all is valid there: then nothing is lost either. */
HA_IN_ ha_status ha_records_open_if(ha_records_access *x, ha_records *r, ha_context *c,
                                    const char *what, const ha_region *box, int updates,
                                    const char *site, ha_fitting *fitting) {
    static const char operation[] = "ha_records_open";
    ha_access_spec *spec = NULL;
    if (!x) return ha_no_access(operation);
    memset(x, 0, sizeof *x);
    ha_status s = ha_records_enter(r, operation, site);
    if (!s && !what) s = ha_fail(HA_ERR_ARGUMENT, operation, "%s: nothing to open", site);
    ha_array *a;
    if (!s) s = ha_records_begin_at(r, operation, &a);
    if (s) return x->status = s;
    ha_records_opening opening = {.array = a,
                                  .context = ha_resolve(c),
                                  .operation = operation,
                                  .site = site,
                                  .updates = updates,
                                  .fitting = fitting};
    s = ha_access_spec_get(r, what, 0, operation, site, &spec);
    if (!s) opening.trying = spec->trying;
    if (!s) s = ha_records_open_spec(x, r, spec, &opening, box);
    ha_access_spec_end(spec);
    ha_records_leave(r);
    if (s) memset(x, 0, sizeof *x);
    return x->status = s;
}

/* Once more what was opened before by the same text, where all of it is easy: the rest is looked at with
 * more care. The array is the handle's as long as it is locked, and so all that is the array's stays. */
HA_FAST_ int ha_records_hold_again(ha_array *a, ha_records_opening *opening, ha_records_access *x,
                                   ha_records *r, const char *what, const ha_region *asked)
    HA_REQUIRES_(a->lock) {
    if (!ha_records_is_at(r, a) || !a->grid || !ha_records_inside(a, asked, &x->box)) return 0;
    const ha_access_spec *spec = ha_access_spec_find(r, what);
    if (!spec || spec->runs > HA_RECORDS_PARTS || ha_region_is_empty(&x->box)) return 0;
    opening->n = (size_t)spec->runs;
    return ha_records_hold(a, opening, x, x->part_, spec->run);
}

/* 0: it is not like that; then there may be anything in *x. */
HA_IN_ int ha_records_open_again(ha_records_access *x, ha_records *r, ha_context *c,
                                 const char *what, const ha_region *asked, const char *site,
                                 ha_fitting *fitting) {
    HA_MAY_WAIT_();
    if (HA_DEBUGGING_ || !x || !r || !what || !ha_self.id) return 0;
    ha_array *a = ha_records_look_at(r);
    if (!a) return 0;
    ha_records_opening opening = {.array = a, .context = c, .site = site, .fitting = fitting};
    ha_lock(a);
    const int done = ha_records_hold_again(a, &opening, x, r, what, asked);
    ha_unlock(a);
    if (!done) return 0;
    ha_self.held += opening.n;
    x->records = r;
    x->context = c;
    x->parts_ = (int)opening.n;
    x->first = x->box.first[0];
    x->last = x->box.last[0];
    x->status = HA_OK;
    x->more_ = NULL;
    return 1;
}

HA_NOINLINE_ HA_IN_ ha_status ha_records_open_first(ha_records_access *x, ha_records *r,
                                                    ha_context *c, const char *what,
                                                    const ha_region *box, int updates,
                                                    const char *site) {
    HA_TELLS_EVENTS_;
    return ha_records_open_if(x, r, c, what, box, updates, site, NULL);
}

/* As ha_records_open_; `updates`: what is written has to have values. */
HA_IN_ ha_status ha_records_open_valued(ha_records_access *x, ha_records *r, ha_context *c,
                                        const char *what, ha_region box, int updates,
                                        const char *site) {
    site = ha_from(site);
    c = ha_resolve(c);
    if (ha_records_open_again(x, r, c, what, &box, site, NULL)) return HA_OK;
    return ha_records_open_first(x, r, c, what, &box, updates, site);
}

ha_status ha_records_open_(ha_records_access *x, ha_records *r, ha_context *c, const char *what,
                           ha_region box, const char *site) {
    return ha_records_open_valued(x, r, c, what, box, 0, site);
}
#endif
