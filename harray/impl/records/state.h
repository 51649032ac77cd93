/* What a record array is made of: an array on a grid of leaves and records, with a mapping for each
 * memory. */
#ifndef HARRAY_IMPL_RECORDS_STATE_H
#define HARRAY_IMPL_RECORDS_STATE_H

#include "../../../layout/mapped.h"
#include "../state/all.h"

/* Bytes to which each blob is aligned in a block, and blocks by every backend. No layout asks for more. */
enum { HA_BLOB_ALIGNMENT = 64 };

/* What all records have in one memory. Made when it is first needed; goes with the array, or for another
 * one while nobody uses the array. Lists and tables change under the array's lock. */
typedef struct ha_placement {
    struct ha_placement *next;
    const ha_memory *memory;
    ha_mapping *mapping;
    int copied;       /* the mapping was not made here but copied for the caller's memory */
    size_t bytes;     /* of a block with all the blobs */
    size_t *start;    /* of each blob in the block */
    void **caller;    /* NULL, or where the caller's blobs are */
    void **blob;      /* where the blobs are, for the engine and most users */
    const char *data; /* the block for which that is so */
    void **shown;     /* with HARRAY_DEBUG: what users on the host get instead */
    uintptr_t shift;  /* the distance between both */
} ha_placement;

typedef struct ha_record_form {
    ha_array_form form;
    const ha_record *record;
    int rank;
    int64_t extent[HA_MAPPING_RANK];
    int64_t leaves;
    int64_t *before; /* bytes of the leaves before each; and of all, at the end */
    const char *layout;
    ha_placement *placements;
} ha_record_form;

static ha_record_form *ha_records_form(const ha_array *a) {
    return (ha_record_form *)(void *)a->form;
}

/* ---- what a box is --------------------------------------------------------------------------- */

/* Neighbouring leaves of a block of records. */
typedef struct ha_field_box {
    int64_t leaf, end; /* leaves */
    int64_t first[HA_MAPPING_RANK], last[HA_MAPPING_RANK];
} ha_field_box;

static ha_field_box ha_field_box_of(const ha_array *a, ha_range r) {
    const ha_record_form *f = ha_records_form(a);
    ha_field_box b = {.leaf = 0};
    ha_box box = {{0}, {0}};
    ha_box_of(a->grid, r, &box);
    b.leaf = (int64_t)box.first[0];
    b.end = (int64_t)box.last[0];
    for (int d = 0; d < HA_MAPPING_RANK; d++) {
        b.first[d] = d < f->rank ? (int64_t)box.first[d + 1] : 0;
        b.last[d] = d < f->rank ? (int64_t)box.last[d + 1] : 1;
    }
    return b;
}

static ha_range ha_field_box_range(const ha_array *a, const ha_field_box *b) {
    ha_box box = {{(size_t)b->leaf}, {(size_t)b->end}};
    for (int d = 1; d < a->grid->rank; d++) {
        box.first[d] = (size_t)b->first[d - 1];
        box.last[d] = (size_t)b->last[d - 1];
    }
    return ha_box_range(a->grid, &box);
}

static int64_t ha_field_box_records(const ha_field_box *b) {
    int64_t n = 1;
    for (int d = 0; d < HA_MAPPING_RANK; d++) n *= b->last[d] - b->first[d];
    return n;
}

static int64_t ha_field_box_bytes(const ha_record_form *f, const ha_field_box *b) {
    return (f->before[b->end] - f->before[b->leaf]) * ha_field_box_records(b);
}

static uint64_t ha_records_value_bytes(const ha_array *a, ha_range r) {
    if (!a->grid || ha_is_empty(r)) return 0;
    const ha_field_box b = ha_field_box_of(a, r);
    return (uint64_t)ha_field_box_bytes(ha_records_form(a), &b);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void ha_records_print_extents(const ha_array *a, ha_text *t) {
    const ha_record_form *f = ha_records_form(a);
    for (int d = 0; d < f->rank; d++) ha_print(t, "%s%lld", d ? ", " : "", (long long)f->extent[d]);
}

/* "pos.x[3, 7)", "pos.x … vel.z[3, 7) x [0, 2)". */
static void ha_records_print_part(const ha_array *a, ha_range r, ha_text *t) {
    const ha_record_form *f = ha_records_form(a);
    const ha_field_box b = ha_field_box_of(a, r);
    char name[48] = "";
    (void)ha_record_leaf_name(f->record, b.leaf, name, sizeof name);
    ha_print(t, "%s", name);
    if (b.end - b.leaf > 1) {
        (void)ha_record_leaf_name(f->record, b.end - 1, name, sizeof name);
        ha_print(t, "%s%s", b.end - b.leaf > 2 ? " … " : ", ", name);
    }
    for (int d = 0; d < f->rank; d++)
        ha_print(t, "%s[%lld, %lld)", d ? " x " : "", (long long)b.first[d], (long long)b.last[d]);
}

/* ---- mappings that serve --------------------------------------------------------------------- */

/* Whether every number of one type is one of another. */
static int ha_dtype_holds(ha_dtype wide, ha_dtype narrow) {
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
static int ha_row_is_shared(const ha_mapping *m, const ha_row *row) {
    if (row->linearizer < 0) return 0;
    if (row->lanes > 1 && !row->lane_stride) return 1;
    return !row->block_stride && m->linearizer[row->linearizer].count > row->lanes;
}

/* Why values of a leaf are not kept; NULL: they are. */
static const char *ha_row_objection(const ha_record_form *f, const ha_mapping *m, int64_t leaf,
                                    int64_t records) {
    const ha_row *row = &m->row[leaf];
    const ha_coding *c = ha_row_coding(m, row);
    ha_leaf described = {.type = HA_DTYPE_NONE};
    (void)!ha_record_leaf(f->record, leaf, &described);
    if (row->blob < 0) return "it is not stored";
    if (records > 1 && ha_row_is_shared(m, row)) return "several records share one value";
    if (c && c->bits) return "values of bits share their bytes";
    if (c && !ha_dtype_holds(c->stored, described.type))
        return "not every value has one of the stored type";
    return NULL;
}

static int64_t ha_records_count(const ha_record_form *f) {
    int64_t n = 1;
    for (int d = 0; d < f->rank; d++) n *= f->extent[d];
    return n;
}

/* HA_OK when the mapping keeps every value by itself; else with why in *error. */
static ha_status ha_records_accept(const ha_record_form *f, const ha_mapping *m, ha_error *error) {
    const int64_t records = ha_records_count(f);
    for (int64_t leaf = 0; leaf < m->rows; leaf++) {
        const char *objection = ha_row_objection(f, m, leaf, records);
        char name[80] = "";
        if (!objection) continue;
        (void)ha_record_leaf_name(f->record, leaf, name, sizeof name);
        snprintf(error->text, sizeof error->text, "field %s cannot be kept in it: %s", name,
                 objection);
        return error->status = HA_ERR_ARGUMENT;
    }
    return HA_OK;
}

/* ---- placements -------------------------------------------------------------------------------- */

static void ha_placement_free(ha_placement *l) {
    if (!l) return;
    if (l->copied)
        HARRAY_FREE(l->mapping);
    else
        ha_mapping_free(l->mapping);
    HARRAY_FREE(l);
}

/* Where the blobs are in a block. HA_ERR_MEMORY: beyond what can be counted. */
static ha_status ha_placement_place(ha_placement *l) {
    size_t end = 0;
    for (int32_t b = 0; b < l->mapping->blobs; b++) {
        l->start[b] = end;
        end += (size_t)l->mapping->blob[b].bytes; /* two of at most PTRDIFF_MAX */
        if (end > PTRDIFF_MAX - HA_BLOB_ALIGNMENT) return HA_ERR_MEMORY;
        end = (end + HA_BLOB_ALIGNMENT - 1) / HA_BLOB_ALIGNMENT * HA_BLOB_ALIGNMENT;
    }
    l->bytes = end;
    return HA_OK;
}

/* Takes the mapping over, also when it fails. NULL: no memory. */
static ha_placement *ha_placement_make(const ha_memory *memory, ha_mapping *m, int copied) {
    const size_t blobs = (size_t)m->blobs;
    const size_t bytes = sizeof(ha_placement) + blobs * (sizeof(size_t) + 2 * sizeof(void *));
    ha_placement *l = (ha_placement *)HARRAY_MALLOC(bytes);
    if (!l) {
        if (copied)
            HARRAY_FREE(m);
        else
            ha_mapping_free(m);
        return NULL;
    }
    memset(l, 0, bytes);
    l->memory = memory;
    l->mapping = m;
    l->copied = copied;
    l->start = (size_t *)(void *)(l + 1);
    l->blob = (void **)(void *)(l->start + blobs);
    l->shown = l->blob + blobs;
    if (ha_placement_place(l) == HA_OK) return l;
    ha_placement_free(l);
    return NULL;
}

/* Another one with a layout given as text; *l NULL when it fails, with why in *error. */
static ha_status ha_placement_parse(const ha_record_form *f, const ha_memory *memory,
                                    const char *layout, ha_placement **l, ha_error *error) {
    *l = NULL;
    ha_mapping *m = ha_mapping_parse(f->record, layout, f->rank, f->extent, error);
    if (!m) return error->status;
    ha_status s = ha_records_accept(f, m, error);
    if (s) {
        ha_mapping_free(m);
        return s;
    }
    *l = ha_placement_make(memory, m, 0);
    if (*l) return HA_OK;
    snprintf(error->text, sizeof error->text, "there is no memory for it");
    return error->status = HA_ERR_MEMORY;
}

/* Lock held, or busy. */
static ha_placement *ha_placement_find(const ha_record_form *f, const ha_memory *m) {
    ha_placement *l = f->placements;
    while (l && l->memory != m) l = l->next;
    return l;
}

/* The placement in a memory, made if need be: *l. */
static ha_status ha_placement_get(ha_array *a, const ha_memory *memory, ha_placement **l) {
    ha_record_form *f = ha_records_form(a);
    ha_placement *fresh;
    ha_error error;
    ha_lock(a);
    *l = ha_placement_find(f, memory);
    ha_unlock(a);
    if (*l) return HA_OK;
    ha_status s = ha_placement_parse(f, memory, f->layout, &fresh, &error);
    if (s) return s;
    ha_lock(a);
    if (!(*l = ha_placement_find(f, memory))) {
        fresh->next = f->placements;
        *l = f->placements = fresh;
        fresh = NULL;
    }
    ha_unlock(a);
    ha_placement_free(fresh);
    return HA_OK;
}

/* Another one in the place of what there is for that memory, if anything; gives that. The array is
 * claimed. */
static ha_placement *ha_placement_exchange(ha_array *a, ha_placement *fresh) {
    ha_record_form *f = ha_records_form(a);
    ha_lock(a);
    ha_placement **at = &f->placements;
    while (*at && (*at)->memory != fresh->memory) at = &(*at)->next;
    ha_placement *old = *at;
    fresh->next = old ? old->next : NULL;
    *at = fresh;
    ha_unlock(a);
    return old;
}

/* The blobs of an incarnation, as the engine sees them. Nobody uses the table when the block is another
 * one than before. Lock held. */
static void *const *ha_placement_blobs(ha_placement *l, const char *data) {
    if (l->caller) return l->caller;
    if (l->data != data) {
        for (int32_t b = 0; b < l->mapping->blobs; b++)
            l->blob[b] = (void *)(uintptr_t)(data + l->start[b]);
        l->data = data;
        l->shift = 0;
    }
    return l->blob;
}

/* As users see them: `shift` bytes further. Lock held. */
static void *const *ha_placement_shown(ha_placement *l, const char *data, uintptr_t shift) {
    void *const *blob = ha_placement_blobs(l, data);
    if (!shift) return blob;
    if (l->shift != shift) {
        for (int32_t b = 0; b < l->mapping->blobs; b++)
            l->shown[b] = (void *)((uintptr_t)blob[b] + shift);
        l->shift = shift;
    }
    return l->shown;
}

/* The records of an incarnation with a block. Busy. */
static ha_mapped ha_records_at(ha_array *a, const ha_incarnation *in) {
    ha_lock(a);
    ha_placement *l = ha_placement_find(ha_records_form(a), in->memory);
    const ha_mapped records = {l->mapping, ha_placement_blobs(l, in->data)};
    ha_unlock(a);
    return records;
}

static ha_status ha_records_block_bytes(ha_array *a, ha_memory *m, size_t *bytes) {
    ha_placement *l;
    ha_status s = ha_placement_get(a, m, &l);
    if (!s) *bytes = l->bytes;
    return s;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void ha_record_form_free(ha_record_form *f) {
    while (f->placements) {
        ha_placement *l = f->placements;
        f->placements = l->next;
        ha_placement_free(l);
    }
    HARRAY_FREE(f);
}

static void ha_records_end(ha_array *a) {
    ha_record_form_free(ha_records_form(a));
    a->form = NULL;
}

#endif
