/* Where records lie in one memory: a mapping that keeps every value, and the places of
 * its blobs in a block, or in memory of the caller's. */
#ifndef HARRAY_IMPL_RECORDS_PLACEMENT_H
#define HARRAY_IMPL_RECORDS_PLACEMENT_H

#include "../../../layout/counts.h"
#include "shared_bytes.h"

/* Bytes to which each blob is aligned in a block, and blocks by every backend. No layout asks for more. */
enum { HA_BLOB_ALIGNMENT = 64 };

/* named.h: what accesses have named of each leaf, as long as one is open. */
typedef struct ha_named {
    uint64_t open; /* accesses */
    int queued;    /* some were a queue's */
    struct ha_named_field {
        ha_tally before; /* what was counted until the first of these accesses */
        int how;
    } leaf[];
} ha_named;

/* What all records have in one memory. Made when it is first needed; goes with the array, or for
 * another one while nobody uses the array. Lists and tables change under the array's lock. */
struct ha_placement {
    ha_placement *next;
    const ha_memory *memory;
    ha_mapping *mapping;
    ha_shared_bytes *shared; /* NULL: no values of it share bytes */
    int copied;              /* the mapping was not made here but copied for the caller's memory */
    size_t bytes;            /* of a block with all the blobs */
    size_t *start;           /* of each blob in the block */
    void **caller;           /* NULL, or where the caller's blobs are */
    void **blob;             /* where the blobs are, for the engine and most users */
    const char *data;        /* the block for which that is so */
    void **shown;            /* with HARRAY_DEBUG: what users on the host get instead */
    void **none;     /* NULLs: what users of no records get, whom the lock does not keep in step */
    uintptr_t shift; /* the distance between both */
    struct ha_kept_view *views; /* that were made of it */
    ha_named *named;            /* named.h; NULL: nothing is compared */
};

/* A view of a placement, for whoever opens the next one of its type. */
typedef struct ha_kept_view {
    struct ha_kept_view *next;
    const void *type;
    void *const *blob; /* the blobs of which it is; NULL: they have moved */
    size_t bytes;
    char view[];
} ha_kept_view;

enum { HA_VIEWS_KEPT = 8 }; /* types of views that a placement remembers */

/* ---- mappings that serve --------------------------------------------------------------------- */

/* Whether every number of one type is one of another. */
HA_IN_ int ha_dtype_holds(ha_dtype wide, ha_dtype narrow) {
    static const int8_t digits[] = {0, 1, 7, 15, 31, 63, 8, 16, 32, 64, 11, 8, 24, 53, 24, 53};
    static const int8_t range[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 8, 8, 11, 8, 11};
    const int complex_wide = wide >= HA_DTYPE_c64, complex_narrow = narrow >= HA_DTYPE_c64;
    const int is_signed = narrow >= HA_DTYPE_int8_t && narrow <= HA_DTYPE_int64_t;
    if (wide == narrow) return 1;
    if (complex_wide != complex_narrow || wide == HA_DTYPE_bool) return 0;
    if (digits[wide] < digits[narrow]) return 0;
    if (narrow >= HA_DTYPE_half) return range[wide] >= range[narrow];
    if (wide >= HA_DTYPE_half) return 1; /* integers of so few digits are far from its largest */
    return !is_signed || wide <= HA_DTYPE_int64_t;
}

/* Whether a row of more than one record has less than one place for each. */
HA_IN_ int ha_row_is_shared(const ha_mapping *m, const ha_row *row) {
    if (row->linearizer < 0) return 0;
    if (row->lanes > 1 && !row->lane_stride) return 1;
    return !row->block_stride && m->linearizer[row->linearizer].count > row->lanes;
}

/* Why values of a leaf are not kept; NULL: they are. */
HA_IN_ const char *ha_row_objection(const ha_records_state *state, const ha_mapping *m,
                                    int64_t leaf, int64_t records) {
    const ha_row *row = &m->row[leaf];
    const ha_coding *c = ha_row_coding(m, row);
    if (row->blob < 0) return "it is not stored";
    if (records > 1 && ha_row_is_shared(m, row)) return "several records share one value";
    if (c && !ha_dtype_holds(c->stored, state->leaf[leaf].type))
        return "not every value has one of the stored type";
    return NULL;
}

/* A layout for them was found, so they can be counted: unless there are none, and what the other extents
 * come to does not matter. */
HA_IN_ int64_t ha_records_count(const ha_records_state *state) {
    int64_t n = 1;
    for (int d = 0; d < state->rank; d++)
        if (!state->extent[d]) return 0;
    for (int d = 0; d < state->rank; d++) n *= state->extent[d];
    return n;
}

/* HA_OK when the mapping keeps every value; else with why in *error. */
HA_IN_ ha_status ha_records_accept(const ha_records_state *state, const ha_mapping *m,
                                   ha_error *error) {
    const int64_t records = ha_records_count(state);
    for (int64_t leaf = 0; leaf < m->rows; leaf++) {
        const char *objection = ha_row_objection(state, m, leaf, records);
        char name[80] = "";
        if (!objection) continue;
        (void)ha_record_leaf_name(state->record, leaf, name, sizeof name);
        snprintf(error->text, sizeof error->text, "field %s cannot be kept in it: %s", name,
                 objection);
        return error->status = HA_ERR_ARGUMENT;
    }
    return HA_OK;
}

/* ---- placements -------------------------------------------------------------------------------- */

HA_IN_ void ha_placement_free(ha_placement *p) {
    if (!p) return;
    while (p->views) {
        ha_kept_view *v = p->views;
        p->views = v->next;
        HARRAY_FREE(v);
    }
    HARRAY_FREE(p->shared);
    if (p->copied)
        HARRAY_FREE(p->mapping);
    else
        ha_mapping_free(p->mapping);
    HARRAY_FREE(p);
}

/* Where the blobs are in a block. HA_ERR_MEMORY: beyond what can be counted. */
HA_IN_ ha_status ha_placement_place(ha_placement *p) {
    size_t end = 0;
    for (int32_t b = 0; b < p->mapping->blobs; b++) {
        p->start[b] = end;
        end += (size_t)p->mapping->blob[b].bytes; /* two of at most PTRDIFF_MAX */
        if (end > PTRDIFF_MAX - HA_BLOB_ALIGNMENT) return HA_ERR_MEMORY;
        end = (end + HA_BLOB_ALIGNMENT - 1) / HA_BLOB_ALIGNMENT * HA_BLOB_ALIGNMENT;
    }
    p->bytes = end;
    return HA_OK;
}

/* Takes the mapping over, also when it fails. NULL: no memory. */
HA_IN_ ha_placement *ha_placement_make(const ha_memory *memory, ha_mapping *m, int copied) {
    const size_t blobs = (size_t)m->blobs;
    const size_t counted = HA_DEBUGGING_ && m->counts ? (size_t)m->counts->leaves : 0;
    const size_t before = sizeof(ha_placement) + blobs * (sizeof(size_t) + 3 * sizeof(void *));
    const size_t bytes = before + sizeof(ha_named) + counted * sizeof(struct ha_named_field);
    ha_placement *p = (ha_placement *)HARRAY_MALLOC(bytes);
    if (!p) {
        if (copied)
            HARRAY_FREE(m);
        else
            ha_mapping_free(m);
        return NULL;
    }
    memset(p, 0, bytes);
    p->memory = memory;
    p->mapping = m;
    p->copied = copied;
    p->start = (size_t *)(void *)(p + 1);
    p->blob = (void **)(void *)(p->start + blobs);
    p->shown = p->blob + blobs;
    p->none = p->shown + blobs;
    if (counted) p->named = (ha_named *)(void *)(p->none + blobs);
    if (ha_placement_place(p) == HA_OK) return p;
    ha_placement_free(p);
    return NULL;
}

/* Finds what shares bytes in a placement; HA_ERR_ARGUMENT, HA_ERR_MEMORY with why in *error. */
HA_IN_ ha_status ha_placement_share(const ha_records_state *state, ha_placement *p,
                                    ha_error *error) {
    const char *objection;
    char name[80] = "";
    int64_t leaf = 0;
    ha_status s = ha_shared_bytes_make(state, p->mapping, &p->shared, &objection, &leaf);
    if (!s) return HA_OK;
    if (objection) (void)ha_record_leaf_name(state->record, leaf, name, sizeof name);
    snprintf(error->text, sizeof error->text, "%s%s%s%s", objection ? "field " : "", name,
             objection ? " cannot be kept in it: " : "",
             objection ? objection : "there is no memory for it");
    return error->status = s;
}

/* Another one with a layout given as text; *l NULL when it fails, with why in *error. */
HA_IN_ ha_status ha_placement_parse(const ha_records_state *state, const ha_memory *memory,
                                    const char *layout, ha_placement **p, ha_error *error) {
    *p = NULL;
    ha_mapping *m = ha_mapping_parse(state->record, layout, state->rank, state->extent, error);
    if (!m) return error->status;
    ha_status s = ha_records_accept(state, m, error);
    if (s) {
        ha_mapping_free(m);
        return s;
    }
    *p = ha_placement_make(memory, m, 0);
    if (*p && !(s = ha_placement_share(state, *p, error))) return HA_OK;
    ha_placement_free(*p);
    if (*p) {
        *p = NULL;
        return s;
    }
    snprintf(error->text, sizeof error->text, "there is no memory for it");
    return error->status = HA_ERR_MEMORY;
}

/* Lock held, or busy. */
HA_IN_ ha_placement *ha_placement_find(const ha_records_state *state, const ha_memory *m) {
    ha_placement *p = state->placements;
    while (p && p->memory != m) p = p->next;
    return p;
}

/* The placement in a memory, made if need be: *l. */
HA_IN_ ha_status ha_placement_get(ha_array *a, const ha_memory *memory, ha_placement **p) {
    ha_records_state *state = ha_records_state_of(a);
    ha_placement *fresh;
    ha_error error;
    ha_lock(a);
    *p = ha_placement_find(state, memory);
    ha_unlock(a);
    if (*p) return HA_OK;
    ha_status s = ha_placement_parse(state, memory, state->layout, &fresh, &error);
    if (s) return s;
    ha_lock(a);
    if (!(*p = ha_placement_find(state, memory))) {
        fresh->next = state->placements;
        *p = state->placements = fresh;
        fresh = NULL;
    }
    ha_unlock(a);
    ha_placement_free(fresh);
    return HA_OK;
}

/* Another one in the place of what there is for that memory, if anything; gives that. The array is
 * claimed. */
HA_IN_ ha_placement *ha_placement_exchange(ha_array *a, ha_placement *fresh) {
    ha_records_state *state = ha_records_state_of(a);
    ha_lock(a);
    ha_placement **at = &state->placements;
    while (*at && (*at)->memory != fresh->memory) at = &(*at)->next;
    ha_placement *old = *at;
    fresh->next = old ? old->next : NULL;
    *at = fresh;
    ha_unlock(a);
    return old;
}

/* It is nobody's any more, but is kept until no other thread has the handle's lock (ha_records_sweep). NULL: nothing. */
HA_IN_ void ha_placement_retire(ha_array *a, ha_placement *p) {
    ha_records_state *state = ha_records_state_of(a);
    if (!p) return;
    ha_lock(a);
    p->next = state->retired;
    state->retired = p;
    ha_unlock(a);
}

HA_IN_ void ha_placements_free(ha_placement *p) {
    for (ha_placement *next; p; p = next) {
        next = p->next;
        ha_placement_free(p);
    }
}

/* The blobs have other addresses. Lock held. */
HA_IN_ void ha_placement_moved(ha_placement *p) {
    for (ha_kept_view *v = p->views; v; v = v->next) v->blob = NULL;
}

/* The blobs of an incarnation, as the engine sees them. Nobody uses the table when the block is another
 * one than before. Lock held. */
HA_IN_ void *const *ha_placement_blobs(ha_placement *p, const char *data) {
    if (p->caller) return p->caller;
    if (p->data != data) {
        for (int32_t b = 0; b < p->mapping->blobs; b++)
            p->blob[b] = (void *)(uintptr_t)(data + p->start[b]);
        p->data = data;
        p->shift = 0;
        ha_placement_moved(p);
    }
    return p->blob;
}

/* As users see them: `shift` bytes further. Lock held. */
HA_IN_ void *const *ha_placement_shown(ha_placement *p, const char *data, uintptr_t shift) {
    void *const *blob = ha_placement_blobs(p, data);
    if (!shift) return blob;
    if (p->shift != shift) {
        for (int32_t b = 0; b < p->mapping->blobs; b++)
            p->shown[b] = (void *)((uintptr_t)blob[b] + shift);
        p->shift = shift;
        ha_placement_moved(p);
    }
    return p->shown;
}

/* The view of a type of these blobs; NULL: none was made. Lock held. */
HA_IN_ const ha_kept_view *ha_placement_view(const ha_placement *p, const void *type,
                                             void *const *blob) {
    const ha_kept_view *v = p->views;
    while (v && v->type != type) v = v->next;
    return v && v->blob == blob ? v : NULL;
}

/* Keeps a view of these blobs. `fresh` may be used for it, and is given back if it is not. Lock held. */
HA_IN_ ha_kept_view *ha_placement_keep(ha_placement *p, ha_kept_view *fresh, const void *type,
                                       void *const *blob, const void *view, size_t bytes) {
    ha_kept_view *v = p->views;
    int n = 0;
    for (; v && v->type != type; v = v->next) n++;
    if (!v && n < HA_VIEWS_KEPT && fresh) {
        v = fresh;
        fresh = NULL;
        *v = (ha_kept_view){.next = p->views, .type = type, .bytes = bytes};
        p->views = v;
    }
    if (!v) return fresh;
    v->blob = blob;
    memcpy(v->view, view, bytes);
    return fresh;
}

/* The records of an incarnation with a block. Busy. */
HA_IN_ ha_mapped ha_records_at(ha_array *a, const ha_incarnation *in) {
    ha_lock(a);
    ha_placement *p = ha_placement_find(ha_records_state_of(a), in->memory);
    const ha_mapped records = {p->mapping, ha_placement_blobs(p, in->data)};
    ha_unlock(a);
    return records;
}

HA_IN_ ha_status ha_records_block_bytes(ha_array *a, ha_memory *m, size_t *bytes) {
    ha_placement *p;
    ha_status s = ha_placement_get(a, m, &p);
    if (!s) *bytes = p->bytes;
    return s;
}

/* ---- the end --------------------------------------------------------------------------------- */

HA_IN_ void ha_records_state_free(ha_records_state *state) {
    ha_placements_free(state->placements);
    ha_placements_free(state->retired);
    HARRAY_FREE(state);
}

HA_IN_ void ha_records_end(ha_array *a) {
    ha_records_state_free(ha_records_state_of(a));
    a->ops = NULL;
}

#endif
