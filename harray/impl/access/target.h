/* What is being opened: the elements that the caller means, and the part of the array that is
 * locked for them. */
#ifndef HARRAY_IMPL_ACCESS_TARGET_H
#define HARRAY_IMPL_ACCESS_TARGET_H

#include "../transfer/all.h"
#include "grid.h"

typedef struct ha_opening {
    ha_array *array;
    ha_context *context;
    const char *operation, *site;
    unsigned mode;         /* HA_READ, HA_WRITE, HA_OVERWRITE */
    int updates;           /* HA_WRITE of what is computed with: its elements have to have values */
    ha_range range;        /* to be locked */
    ha_range meant;        /* the part of it that is; empty: all */
    const darray *view;    /* for whose elements; NULL: for all of the range */
    const darray *seen_by; /* by whose indices the user knows them; NULL: by those of the array */
    int has_target;        /* `at` and `count` are set */
    int off_grid;          /* they are not all on the array's grid */
    int is_flat;           /* the elements are those one behind the other from there */
    size_t at, count;      /* the first element that is meant, and how many */
    int sets_size;         /* overwrite with a new size: nothing of the old values is kept */
    size_t size;           /* of the array when it is open */
    int for_user;          /* who writes what has no value; else the engine has done that already */
    int alone;             /* refused while any access is open */
    const ha_block *moved; /* has to be exchanged: no other access to it may be open; NULL: none */
    int widens;            /* for a longer one */
    ha_range need;         /* within the size */
    uint64_t ticket;
    uint64_t group; /* the first ticket of those that are opened together */
    ha_incarnation *in;
    int fresh;             /* the incarnation had no block */
    int host_fresh;        /* the one on the host had none: staging may make it */
    int promised;          /* in->ops keeps an entry for closing */
    uint64_t since;        /* the epoch of work that was enqueued before the commit; 0: none was */
    uint32_t peers;        /* openings of this array that are committed together with this one */
    ha_set brought;        /* what was made valid at `in` on the way */
    ha_block *replacement; /* takes the place of the block at commit */
    ha_range never;        /* what is not there, when that is the failure */
    const char *source;    /* where it would have come from, when copying was forbidden */
    ha_write_error error;  /* the function that may have written it and failed */
    const char *trouble;   /* what was going on when it failed */
    int is_hint;           /* a prefetch: where memory is short, it does nothing */
    int may_wait;          /* for memory: the thread holds nothing, and this is no try */
    ha_memory *short_of;   /* HA_RETRY_ROOM_: where */
} ha_opening;

HA_IN_ int ha_opening_writes(const ha_opening *o) { return o->mode != HA_READ; }

/* The elements that are meant, now that the size stands still. */
HA_IN_ ha_status ha_opening_range(ha_opening *o) {
    if (!o->sets_size) o->size = o->array->size;
    o->need = o->range;
    o->brought.grid = o->array->grid;
    if (o->need.last == HA_END) o->need.last = o->size;
    o->trouble = "the range is not inside the array";
    if (o->need.first > o->need.last || o->need.last > o->size) return HA_ERR_ARGUMENT;
    if (o->has_target) return HA_OK;
    o->at = o->need.first;
    o->count = o->need.last - o->need.first;
    return HA_OK;
}

/* Of an array with a grid, a range of elements is opened as the smallest box around it. What lies
 * between is kept, so that is no overwriting. */
HA_IN_ ha_status ha_opening_flat(ha_opening *o) {
    const ha_grid *g = o->array->grid;
    size_t first = o->range.first, last = o->range.last < g->size ? o->range.last : g->size;
    o->need = o->range;
    o->size = g->size;
    if (first > last || (o->range.last > last && o->range.last != HA_END)) return HA_ERR_ARGUMENT;
    o->at = first;
    o->count = last - first;
    o->has_target = o->is_flat = 1;
    o->range = (ha_range){first, last};
    if (!o->count) return HA_OK;
    if (!ha_is_on_grid(g, first) || !ha_is_on_grid(g, last - 1)) return HA_ERR_ARGUMENT;
    o->range = ha_grid_around(g, first, last - 1);
    const int exact = o->range.first == first && o->range.last == last; /* from corner to corner */
    if (!exact && o->mode == HA_OVERWRITE) o->mode = HA_WRITE;
    return HA_OK;
}

/* The access is to what a view covers. When that is more than the view, overwriting it keeps the
 * rest: so it is writing. */
HA_IN_ void ha_opening_view(ha_opening *o, const darray *view) {
    const int exact = ha_view_cover(o->array->grid, view, &o->range);
    if (!exact && o->mode == HA_OVERWRITE) o->mode = HA_WRITE;
    if (!exact) o->view = view;
    o->seen_by = view;
    o->at = (size_t)view->offset;
    o->count = ha_view_size(view);
    o->has_target = 1;
    o->off_grid = !ha_cover_is_box(o->array->grid, o->range);
}

/* Before it is admitted. */
HA_IN_ ha_status ha_opening_target(ha_opening *o) {
    o->trouble = "the range is not inside the array";
    if (o->off_grid) return HA_ERR_ARGUMENT;
    return o->array->grid && !o->has_target && !ha_is_whole(o->range) ? ha_opening_flat(o) : HA_OK;
}

#endif
