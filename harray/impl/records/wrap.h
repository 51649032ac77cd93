/* The caller's memory as a record array: adopting it, keeping it up to date, handing it back. */
#ifndef HARRAY_IMPL_RECORDS_WRAP_H
#define HARRAY_IMPL_RECORDS_WRAP_H

#include "create.h"

/* A mapping with all its tables, in one block. NULL: no memory. */
HA_IN_ ha_mapping *ha_mapping_duplicated(const ha_mapping *m) {
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
    for (size_t i = 0; i < rows + byte_rows; i++)
        row[i].section = -1; /* what is between is not said */
    return copy;
}

/* Why a blob cannot be one of the mapping's; NULL: it can. */
HA_IN_ const char *ha_blob_objection(const ha_blob *b, const ha_wrapped *piece) {
    const uintptr_t alignment = b->alignment > 0 ? (uintptr_t)b->alignment : 1;
    if (!b->bytes) return NULL;
    if (!piece->data) return "a blob at NULL";
    if ((uintptr_t)piece->data % alignment)
        return "a blob that is not aligned as its layout asks for";
    return ha_wrap_misplaced(piece);
}

HA_IN_ const char *ha_records_wrap_objection(const ha_mapped *m, unsigned flags) {
    const unsigned const_unwritten = HA_WRAP_CONST | HA_WRAP_UNWRITTEN;
    if (!m || !m->mapping || !m->mapping->record || !m->blob) return "no mapping, or no blobs";
    if (flags & ~const_unwritten) return "unknown flags";
    if (flags == const_unwritten) return "const memory that has no values never gets any";
    if (m->mapping->rank < 1 || m->mapping->rank > HA_MAPPING_RANK) return "a mapping without rank";
    if (m->mapping->trees) return "a tree, which cannot be adopted";
    if (m->mapping->rows != ha_record_leaves(m->mapping->record))
        return "a mapping whose rows are not the leaves of its record";
    return NULL;
}

/* HA_OK, or HA_ERR_ARGUMENT with what is wrong with the mapping, or with which blob, in *error. */
HA_IN_ ha_status ha_records_wrap_check(const ha_mapped *m, ha_context *c, unsigned flags,
                                       ha_error *error) {
    const char *why = ha_records_wrap_objection(m, flags);
    if (why) {
        (void)snprintf(error->text, sizeof error->text, "%s", why);
        return error->status = HA_ERR_ARGUMENT;
    }
    for (int32_t b = 0; b < m->mapping->blobs; b++) {
        const ha_wrapped piece = {m->blob[b], c, flags};
        if (!(why = ha_blob_objection(&m->mapping->blob[b], &piece))) continue;
        (void)snprintf(error->text, sizeof error->text, "%s (blob %d of %d, at %p)", why, b,
                       m->mapping->blobs, m->blob[b]);
        return error->status = HA_ERR_ARGUMENT;
    }
    return HA_OK;
}

/* The bytes of all blobs become the array's alone; all or none. */
HA_IN_ ha_status ha_records_own(ha_array *a, const ha_placement *p, ha_memory *m, ha_error *error) {
    ha_status s = HA_OK;
    int32_t b = 0;
    for (; b < p->mapping->blobs && !s; b++) {
        const uintptr_t first = (uintptr_t)p->caller[b];
        const size_t bytes = (size_t)p->mapping->blob[b].bytes;
        const ha_array *other = NULL;
        ha_label label;
        if (!bytes) continue;
        s = bytes > UINTPTR_MAX - first
                ? HA_ERR_ARGUMENT
                : ha_owners_add(a, m, first, first + bytes, 0, &other, &label);
        if (s == HA_ERR_STATE && other == a) s = HA_ERR_ARGUMENT;
        if (s == HA_ERR_STATE)
            snprintf(error->text, sizeof error->text,
                     "%s owns some of blob %d at %p: unwrap or free it first", label.text, b,
                     p->caller[b]);
        else if (s)
            snprintf(error->text, sizeof error->text, "blob %d at %p: %s", b, p->caller[b],
                     s == HA_ERR_MEMORY ? "no memory for its records"
                     : other == a       ? "two blobs overlap"
                                        : "it goes beyond the last address");
    }
    if (!s) return HA_OK;
    for (b--; b-- > 0;)
        if (p->mapping->blob[b].bytes) ha_owners_remove((uintptr_t)p->caller[b]);
    return error->status = s;
}

/* The incarnation of the caller's memory, in an array that nobody knows yet. */
HA_IN_ ha_status ha_records_adopt(ha_array *a, ha_placement *p, ha_context *c, unsigned flags,
                                  ha_error *error) {
    ha_memory *m = c->memory;
    ha_incarnation *in = ha_incarnation_add(a, m);
    ha_block *block = in ? (ha_block *)HARRAY_MALLOC(sizeof *block) : NULL;
    *error = (ha_error){.status = HA_ERR_MEMORY, .text = "no memory for its records"};
    if (!block) return HA_ERR_MEMORY;
    ha_status s = ha_records_own(a, p, m, error);
    if (s) {
        HARRAY_FREE(block);
        return s;
    }
    int32_t b = 0;
    while (!p->mapping->blob[b].bytes) b++;
    *block = (ha_block){
        .memory = m, .data = p->caller[b], .bytes = (size_t)p->mapping->blob[b].bytes};
    __atomic_store_n(&in->block, block, __ATOMIC_RELEASE); /* state/owners.h may look at it */
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

/* An array whose placement at c is the caller's memory. */
HA_IN_ ha_array *ha_records_around(const ha_mapped *memory, ha_context *c, unsigned flags,
                                   ha_error *error) {
    const ha_mapping *m = memory->mapping;
    if (ha_records_check(m->record, m->rank, m->extent, "aos", error)) return NULL;
    ha_records_state *state = ha_records_state_make(m->record, m->rank, m->extent, "aos");
    *error = (ha_error){.status = HA_ERR_MEMORY, .text = "no memory for one more array"};
    if (!state) return NULL;
    ha_mapping *copy = ha_mapping_duplicated(m);
    ha_placement *p = copy ? ha_placement_make(c->memory, copy, 1) : NULL;
    state->placements = p;
    ha_status s = p ? ha_records_accept(state, copy, error) : HA_ERR_MEMORY;
    if (!s) s = ha_placement_share(state, p, error);
    if (!s && p->shared && c->memory != &ha_host_memory) {
        snprintf(error->text, sizeof error->text,
                 "values of bits share bytes in it, and it is a device's");
        s = error->status = HA_ERR_ARGUMENT;
    }
    if (s) {
        ha_records_state_free(state);
        return NULL;
    }
    for (int32_t b = 0; b < copy->blobs; b++) p->blob[b] = memory->blob[b];
    p->caller = p->blob;
    ha_array *a = ha_records_array(state, c);
    if (!a || !a->size || ha_records_adopt(a, p, c, flags, error) == HA_OK) return a;
    ha_array_destroy(a);
    return NULL;
}

HA_IN_ ha_records *ha_records_wrap_at(const ha_mapped *memory, ha_context *c, unsigned flags,
                                      const char *site) {
    static const char operation[] = "ha_records_wrap";
    ha_error error = {0};
    if (ha_enter(operation)) return NULL;
    c = ha_resolve(c);
    if (ha_records_wrap_check(memory, c, flags, &error))
        return ha_records_refused(operation, site, &error);
    ha_array *a = ha_records_around(memory, c, flags, &error);
    if (!a) return ha_records_refused(operation, site, &error);
    ha_records *r = ha_records_handle(a);
    error = (ha_error){.status = HA_ERR_MEMORY, .text = "no memory for one more array"};
    return r ? r : ha_records_refused(operation, site, &error);
}

ha_records *ha_records_wrap(const ha_mapped *memory, ha_context *c, unsigned flags) {
    HA_TELLS_EVENTS_;
    return ha_records_wrap_at(memory, c, flags, NULL);
}

/* ---- handing back ---------------------------------------------------------------------------- */

ha_status ha_records_unwrap_(ha_records *r, const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    static const char operation[] = "ha_records_unwrap";
    if (!r) return HA_OK;
    ha_status s = ha_records_enter(r, operation, site);
    if (!s) s = ha_records_alone(r, operation, site);
    if (s) return s;
    ha_array *a = r->array;
    if (a->size && !a->wrapped)
        s = ha_fail(HA_ERR_STATE, operation,
                    "%s: records %s have no memory of the caller's: their values would be lost; "
                    "ha_records_free frees them",
                    site, ha_label_of(a).text);
    else
        s = ha_wrap_claim_end(a, 1, operation, site);
    if (!s) ha_records_handle_free(r);
    ha_records_leave(r);
    return s;
}

ha_status ha_records_sync_(ha_records *r, const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    ha_array *a;
    ha_status s = ha_records_enter(r, "ha_records_sync", site);
    if (!s) s = ha_records_begin_at(r, "ha_records_sync", &a);
    if (s) return s;
    s = ha_wrap_sync(a, "ha_records_sync", site);
    ha_records_leave(r);
    return s;
}

#endif
