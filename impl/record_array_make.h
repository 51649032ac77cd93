/* Record arrays as a whole: making, adopting the caller's memory, freeing. */
#ifndef HA_IMPL_RECORD_ARRAY_MAKE_H
#define HA_IMPL_RECORD_ARRAY_MAKE_H

#include "record_array_open.h"

/* ---- the form -------------------------------------------------------------------------------- */

static void ha_records_disown(ha_array *a, const ha_incarnation *in) {
    const ha_lodging *l = ha_lodging_find(ha_records_form(a), in->memory);
    for (int32_t b = 0; b < l->mapping->blobs; b++)
        if (l->mapping->blob[b].bytes) ha_owners_remove((uintptr_t)l->caller[b]);
}

static int ha_records_maps(const ha_array *a, const ha_incarnation *in, const ha_context *c) {
    const ha_lodging *l = ha_lodging_find(ha_records_form(a), in->memory);
    int maps = 1;
    for (int32_t b = 0; b < l->mapping->blobs; b++) {
        const ha_block blob = {
            .memory = in->memory, .data = l->caller[b], .bytes = (size_t)l->mapping->blob[b].bytes};
        maps = maps && (!blob.bytes || ha_maps(c, &blob));
    }
    return maps;
}

static const ha_form_ops ha_records_ops = {.block_bytes = ha_records_block_bytes,
                                           .value_bytes = ha_records_value_bytes,
                                           .move = ha_records_move,
                                           .print_extents = ha_records_print_extents,
                                           .print_part = ha_records_print_part,
                                           .disown = ha_records_disown,
                                           .maps = ha_records_maps,
                                           .end = ha_records_end};

/* NULL: no memory. The record is a right one. */
static ha_record_form *ha_record_form_make(const ha_record *record, int rank, const int64_t *extent,
                                           const char *layout) {
    const int64_t leaves = ha_record_leaves(record);
    const size_t text = strlen(layout) + 1, sums = (size_t)(leaves + 1) * sizeof(int64_t);
    ha_record_form *f = (ha_record_form *)HARRAY_MALLOC(sizeof *f + sums + text);
    if (!f) return NULL;
    *f = (ha_record_form){
        .form = {&ha_records_ops}, .record = record, .rank = rank, .leaves = leaves};
    f->before = (int64_t *)(void *)(f + 1);
    f->layout = (char *)(f->before + leaves + 1);
    memcpy(f->before + leaves + 1, layout, text);
    for (int d = 0; d < HA_MAPPING_RANK; d++) f->extent[d] = d < rank ? extent[d] : 1;
    f->before[0] = 0;
    for (int64_t leaf = 0; leaf < leaves; leaf++) {
        ha_leaf described = {.scalar = HA_NO_SCALAR};
        (void)!ha_record_leaf(record, leaf, &described);
        f->before[leaf + 1] = f->before[leaf] + ha_scalar_size(described.scalar);
    }
    return f;
}

/* The array of a form, which it takes over, also when it fails. NULL: no memory. */
static ha_array *ha_records_array(ha_record_form *f, ha_context *c) {
    const char *name = f->record->name;
    const ha_type type = {name && *name ? name : "record", 0};
    int64_t extent[HA_MAPPING_RANK + 1], pitch[HA_MAPPING_RANK + 1], records = 1;
    ha_array *a = ha_array_make(type, c);
    if (!a) {
        ha_record_form_free(f);
        return NULL;
    }
    a->form = &f->form;
    for (int d = f->rank; d > 0; d--) {
        extent[d] = f->extent[d - 1];
        pitch[d] = records;
        records *= extent[d]; /* a layout for them was found, so they can be counted */
    }
    extent[0] = f->leaves;
    pitch[0] = records;
    ha_lock(a); /* a report may look at it: it may be watched */
    a->size = (size_t)(f->leaves * records);
    ha_unlock(a);
    if (!records || ha_array_grid(a, f->rank + 1, extent, pitch) == HA_OK) return a;
    ha_array_destroy(a);
    return NULL;
}

/* The handle of an array, which it takes over, also when it fails. */
static ha_records *ha_records_handle(ha_array *a) {
    ha_records *r = a ? (ha_records *)HARRAY_MALLOC(sizeof *r) : NULL;
    if (!r) {
        if (a) ha_array_destroy(a);
        return NULL;
    }
    memset(r, 0, sizeof *r);
    r->array = a;
    pthread_rwlock_init(&r->lock, NULL);
    return r;
}

/* ---- making ---------------------------------------------------------------------------------- */

static ha_records *ha_records_refused(const char *operation, const ha_error *error) {
    ha_fail(error->status, operation, "%.300s", error->text);
    return NULL;
}

static ha_status ha_records_check(const ha_record *record, int rank, const int64_t *extent,
                                  const char *layout, ha_error *error) {
    if (!record || !extent || !layout) {
        snprintf(error->text, sizeof error->text, "no record, or no extents");
        return error->status = HA_ERR_ARGUMENT;
    }
    ha_mapping *m = ha_mapping_parse(record, layout, rank, extent, error);
    if (!m) return error->status;
    ha_mapping_free(m);
    return HA_OK;
}

/* An array of records and its lodging in a memory; NULL with why in *error. */
static ha_array *ha_records_plain(const ha_record *record, int rank, const int64_t *extent,
                                  const char *layout, ha_context *c, ha_error *error) {
    ha_lodging *l;
    if (ha_records_check(record, rank, extent, layout, error)) return NULL;
    ha_record_form *f = ha_record_form_make(record, rank, extent, layout);
    *error = (ha_error){.status = HA_ERR_MEMORY, .text = "no memory for one more array"};
    if (!f) return NULL;
    ha_error why;
    ha_status s = ha_lodging_parse(f, c->memory, layout, &l, &why);
    if (s) {
        *error = why;
        ha_record_form_free(f);
        return NULL;
    }
    f->lodgings = l;
    return ha_records_array(f, c);
}

ha_records *ha_records_new(const ha_record *record, int rank, const int64_t *extent,
                           const char *layout) {
    HA_TELLS_EVENTS;
    static const char operation[] = "ha_records_new";
    ha_error error = {0};
    if (ha_enter(operation)) return NULL;
    ha_records *r = ha_records_handle(
        ha_records_plain(record, rank, extent, layout ? layout : "aos", ha_host(), &error));
    return r ? r : ha_records_refused(operation, &error);
}

/* ---- the caller's memory --------------------------------------------------------------------- */

/* A mapping with all its tables, in one block. NULL: no memory. */
static ha_mapping *ha_mapping_duplicated(const ha_mapping *m) {
    const size_t rows = (size_t)m->rows, byte_rows = (size_t)m->byte_rows;
    const size_t codings = (size_t)m->codings, linearizers = (size_t)m->linearizers;
    const char *text = m->text ? m->text : "";
    const size_t bytes = sizeof *m + (rows + byte_rows) * sizeof *m->row +
                         codings * sizeof *m->coding + linearizers * sizeof *m->linearizer +
                         (size_t)m->blobs * sizeof *m->blob + strlen(text) + 1;
    ha_mapping *copy = (ha_mapping *)HARRAY_MALLOC(bytes);
    if (!copy) return NULL;
    *copy = *m;
    ha_row *row = (ha_row *)(void *)(copy + 1), *byte_row = row + rows;
    ha_linearizer *linearizer = (ha_linearizer *)(void *)(byte_row + byte_rows);
    ha_coding *coding = (ha_coding *)(void *)(linearizer + linearizers);
    ha_blob *blob = (ha_blob *)(void *)(coding + codings);
    copy->row = (const ha_row *)memcpy(row, m->row, rows * sizeof *row);
    if (byte_rows) memcpy(byte_row, m->byte_row, byte_rows * sizeof *byte_row);
    if (codings) memcpy(coding, m->coding, codings * sizeof *coding);
    copy->linearizer = (const ha_linearizer *)memcpy(linearizer, m->linearizer,
                                                     linearizers * sizeof *linearizer);
    copy->blob = (const ha_blob *)memcpy(blob, m->blob, (size_t)m->blobs * sizeof *blob);
    copy->byte_row = byte_row;
    copy->coding = coding;
    copy->text = strcpy((char *)(blob + m->blobs), text);
    copy->sections = 0;
    copy->section = NULL;
    copy->counts = NULL;
    for (size_t i = 0; i < rows; i++) row[i].section = -1;
    return copy;
}

static const char *ha_records_wrap_objection(const ha_mapped *m, ha_context *c, unsigned flags) {
    const unsigned const_unwritten = HA_WRAP_CONST | HA_WRAP_UNWRITTEN;
    if (!m || !m->mapping || !m->mapping->record || !m->blob) return "no mapping, or no blobs";
    if (flags & ~const_unwritten) return "unknown flags";
    if (flags == const_unwritten) return "const memory that has no values never gets any";
    if (m->mapping->rank < 1 || m->mapping->rank > HA_MAPPING_RANK) return "a mapping without rank";
    if (m->mapping->trees) return "a tree, which cannot be adopted";
    for (int32_t b = 0; b < m->mapping->blobs; b++) {
        const ha_wrapped piece = {m->blob[b], c, flags};
        if (!m->mapping->blob[b].bytes) continue;
        if (!piece.data) return "a blob at NULL";
        const char *misplaced = ha_wrap_misplaced(&piece);
        if (misplaced) return misplaced;
    }
    return NULL;
}

/* The bytes of all blobs become the array's alone; all or none. */
static ha_status ha_records_own(ha_array *a, const ha_lodging *l, ha_error *error) {
    ha_status s = HA_OK;
    int32_t b = 0;
    for (; b < l->mapping->blobs && !s; b++) {
        const uintptr_t first = (uintptr_t)l->caller[b];
        const size_t bytes = (size_t)l->mapping->blob[b].bytes;
        const ha_array *other = NULL;
        ha_label label;
        if (!bytes) continue;
        s = bytes > UINTPTR_MAX - first ? HA_ERR_ARGUMENT
                                        : ha_owners_add(a, first, first + bytes, &other, &label);
        if (s == HA_ERR_STATE && other == a) s = HA_ERR_ARGUMENT;
        if (s == HA_ERR_STATE)
            snprintf(error->text, sizeof error->text,
                     "array %s owns some of blob %d at %p: unwrap it first", label.text, b,
                     l->caller[b]);
        else if (s)
            snprintf(error->text, sizeof error->text, "blob %d at %p: %s", b, l->caller[b],
                     s == HA_ERR_MEMORY ? "no memory for its records"
                     : other == a       ? "two blobs overlap"
                                        : "it goes beyond the last address");
    }
    if (!s) return HA_OK;
    for (b--; b-- > 0;)
        if (l->mapping->blob[b].bytes) ha_owners_remove((uintptr_t)l->caller[b]);
    return error->status = s;
}

/* The incarnation of the caller's memory, in an array that nobody knows yet. */
static ha_status ha_records_adopt(ha_array *a, ha_lodging *l, ha_context *c, unsigned flags,
                                  ha_error *error) {
    ha_memory *m = c->memory;
    ha_incarnation *in = ha_incarnation_add(a, m);
    ha_block *block = in ? (ha_block *)HARRAY_MALLOC(sizeof *block) : NULL;
    *error = (ha_error){.status = HA_ERR_MEMORY, .text = "no memory for its records"};
    if (!block) return HA_ERR_MEMORY;
    ha_status s = ha_records_own(a, l, error);
    if (s) {
        HARRAY_FREE(block);
        return s;
    }
    int32_t b = 0;
    while (!l->mapping->blob[b].bytes) b++;
    *block = (ha_block){
        .memory = m, .data = l->caller[b], .bytes = (size_t)l->mapping->blob[b].bytes};
    in->block = block;
    in->data = (char *)block->data;
    in->capacity = a->size;
    in->wrapped = HA_CALLERS | (flags & HA_WRAP_CONST);
    ha_lock(a);
    a->wrapped = a->size;
    ha_unlock(a);
    if (!(flags & HA_WRAP_UNWRITTEN)) ha_set_add(&in->valid, (ha_range){0, a->size});
    ha_wrap_read_only(a, in);
    return HA_OK;
}

/* An array whose lodging at c is the caller's memory. */
static ha_array *ha_records_around(const ha_mapped *memory, ha_context *c, unsigned flags,
                                   ha_error *error) {
    const ha_mapping *m = memory->mapping;
    if (ha_records_check(m->record, m->rank, m->extent, "aos", error)) return NULL;
    ha_record_form *f = ha_record_form_make(m->record, m->rank, m->extent, "aos");
    *error = (ha_error){.status = HA_ERR_MEMORY, .text = "no memory for one more array"};
    if (!f) return NULL;
    ha_mapping *copy = ha_mapping_duplicated(m);
    ha_lodging *l = copy ? ha_lodging_make(c->memory, copy, 1) : NULL;
    f->lodgings = l;
    ha_error why = {0};
    ha_status s = l ? ha_records_accept(f, copy, &why) : HA_ERR_MEMORY;
    if (s == HA_ERR_ARGUMENT) *error = why;
    if (s &&
        s != HA_ERR_UNSUPPORTED) { /* how the caller's blobs are aligned is the caller's affair */
        ha_record_form_free(f);
        return NULL;
    }
    for (int32_t b = 0; b < copy->blobs; b++) l->blob[b] = memory->blob[b];
    l->caller = l->blob;
    ha_array *a = ha_records_array(f, c);
    if (!a || !a->size || ha_records_adopt(a, l, c, flags, error) == HA_OK) return a;
    ha_array_destroy(a);
    return NULL;
}

ha_records *ha_records_wrap(const ha_mapped *memory, ha_context *c, unsigned flags) {
    HA_TELLS_EVENTS;
    static const char operation[] = "ha_records_wrap";
    ha_error error = {0};
    if (ha_enter(operation)) return NULL;
    c = ha_resolve(c);
    const char *objection = ha_records_wrap_objection(memory, c, flags);
    if (objection) {
        ha_fail(HA_ERR_ARGUMENT, operation, "%s", objection);
        return NULL;
    }
    ha_array *a = ha_records_around(memory, c, flags, &error);
    if (!a) return ha_records_refused(operation, &error);
    ha_records *r = (ha_records *)HARRAY_MALLOC(sizeof *r);
    if (!r) {
        ha_wrap_leave(a);
        ha_array_destroy(a);
        error = (ha_error){.status = HA_ERR_MEMORY, .text = "no memory for one more array"};
        return ha_records_refused(operation, &error);
    }
    memset(r, 0, sizeof *r);
    r->array = a;
    pthread_rwlock_init(&r->lock, NULL);
    return r;
}

/* ---- freeing --------------------------------------------------------------------------------- */

/* What is said of it when it has gone. */
static ha_label ha_records_epitaph(const ha_records *r) {
#ifdef HARRAY_DEBUG
    return ha_label_of(r->array);
#else
    (void)r;
    return (ha_label){{0}};
#endif
}

/* The array has gone. */
static void ha_records_handle_free(ha_records *r, ha_label label) {
    while (r->wanted) {
        ha_wanted *w = r->wanted;
        r->wanted = w->next;
        HARRAY_FREE(w);
    }
    pthread_rwlock_destroy(&r->lock);
#ifdef HARRAY_DEBUG
    r->label = label;
    __atomic_store_n(&r->freed, 1, __ATOMIC_RELEASE);
#endif
    (void)label;
    ha_debug_grave(r);
}

ha_status ha_records_free(ha_records *r) {
    HA_TELLS_EVENTS;
    if (!r) return HA_OK;
    if (ha_records_freed(r, "ha_records_free")) return HA_ERR_STATE;
    const ha_label label = ha_records_epitaph(r);
    ha_status s = ha_array_free(r->array);
    if (!s) ha_records_handle_free(r, label);
    return s;
}

ha_status ha_records_unwrap_(ha_records *r, const char *site) {
    HA_TELLS_EVENTS;
    if (!r) return HA_OK;
    if (ha_records_freed(r, "ha_records_unwrap")) return HA_ERR_STATE;
    const ha_label label = ha_records_epitaph(r);
    ha_status s = ha_unwrap_(r->array, site);
    if (!s) ha_records_handle_free(r, label);
    return s;
}

ha_status ha_records_sync_(ha_records *r, const char *site) {
    HA_TELLS_EVENTS;
    ha_status s = ha_records_enter(r, "ha_records_sync", site);
    if (s) return s;
    s = ha_sync_(ha_records_begin(r), site);
    ha_records_leave(r);
    return s;
}

#endif
