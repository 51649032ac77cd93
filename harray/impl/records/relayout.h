/* Other layouts, and other extents. Both are made beside what there is, from the values on the
 * host, and take its place when nothing can fail any more. */
#ifndef HARRAY_IMPL_RECORDS_RELAYOUT_H
#define HARRAY_IMPL_RECORDS_RELAYOUT_H

#include "access.h"
#include "create.h"

/* Claimed. What is valid at `in` (NULL: anywhere) is valid on the host. */
HA_IN_ int ha_records_on_host(ha_array *a, const ha_incarnation *only) {
    const ha_incarnation *host = ha_incarnation_find(a, &ha_host_memory);
    for (const ha_incarnation *in = &a->first; in; in = in->next)
        for (uint32_t i = 0; i < in->valid.n && (!only || in == only); i++)
            if (!host || !ha_set_contains(&host->valid, ha_set_ranges(&in->valid)[i])) return 0;
    return 1;
}

/* Claimed. HA_OK: what is valid in a memory (NULL: in any) is on the host, and has arrived there. */
HA_IN_ ha_status ha_records_look(ha_array *a, const ha_memory *only, int *there,
                                 ha_attempt *attempt) {
    ha_status s = ha_settle(a);
    const ha_incarnation *in = only ? ha_incarnation_find(a, only) : NULL;
    ha_incarnation *host = ha_incarnation_find(a, &ha_host_memory);
    *there = (only && !in) || ha_records_on_host(a, in);
    if (s || !*there || !host || !host->valid.n) return s;
    return ha_come_after(a, host, HA_WHOLE_, 0, ha_host(), attempt);
}

/* Claims the array, with all that is valid in a memory (NULL: anywhere) on the host. */
HA_IN_ ha_status ha_records_gather(ha_array *a, const ha_memory *only, const char *operation,
                                   const char *site) {
    HA_TAKES_MEMORY_;
    ha_attempt attempt = {.site = site};
    for (;;) {
        int there;
        ha_status s = ha_claim(a, operation);
        if (s) return s;
        s = ha_records_look(a, only, &there, &attempt);
        if (!s && there) return HA_OK;
        ha_busy_end(a);
        if (!s) {
            s = ha_records_fetch(a, ha_host(), HA_WHOLE_, operation, site);
            if (s && s != HA_ERR_BUSY) return s; /* else claiming finds the access that has come */
        } else if (s != HA_RETRY_ || (s = ha_attempt_pass(&attempt)))
            return ha_fail(s, operation, "%s: records %s: bringing them to the host failed", site,
                           ha_label_of(a).text);
    }
}

/* Copies a box on the host, from one layout to another one. rows: room for those of two mappings;
 * extent: what both have at least. */
HA_IN_ ha_status ha_records_copy(const ha_mapped *to, const ha_mapped *from, const ha_field_box *b,
                                 ha_row *rows, const int64_t *extent) {
    const ha_copying how = {.first = b->first, .last = b->last};
    ha_staged_tables target = {.row = rows}, source = {.row = rows + to->mapping->rows};
    ha_tables_take(&target, to->mapping, b->leaf, b->end);
    ha_tables_take(&source, from->mapping, b->leaf, b->end);
    for (int d = 0; d < HA_MAPPING_RANK; d++)
        target.mapping.extent[d] = source.mapping.extent[d] = extent[d];
    const ha_mapped x = {&target.mapping, to->blob}, y = {&source.mapping, from->blob};
    return ha_mapped_copy(&x, &y, &how, NULL);
}

/* ---- layouts --------------------------------------------------------------------------------- */

/* Claimed. A block with the values of the host's one in another layout. */
HA_IN_ ha_status ha_records_convert(ha_array *a, ha_incarnation *in, ha_placement *p,
                                    ha_block **block, ha_attempt *attempt) {
    const ha_records_state *state = ha_records_state_of(a);
    const ha_mapped from = ha_records_at(a, in);
    ha_row *rows = (ha_row *)HARRAY_MALLOC(2 * (size_t)state->leaves * sizeof *rows);
    ha_status s = HA_ERR_MEMORY;
    ha_ops none = {0};
    if (!rows) return s;
    *block = NULL;
    s = ha_incarnation_take_bytes(a, in, ha_host(), p->bytes, block, attempt);
    for (uint32_t i = 0; i < in->valid.n && !s; i++) {
        const ha_field_box b = ha_field_box_of(a, ha_set_ranges(&in->valid)[i]);
        const ha_mapped to = {p->mapping, ha_placement_blobs(p, (const char *)(*block)->data)};
        s = ha_records_copy(&to, &from, &b, rows, state->extent);
    }
    HARRAY_FREE(rows);
    if (s && *block) ha_block_retire(*block, &none);
    return s;
}

/* Claimed. Puts the layout in the place of the one before, with the values that the host has. */
HA_IN_ ha_status ha_records_settle_in(ha_array *a, ha_placement *p, ha_attempt *attempt) {
    ha_incarnation *in = ha_incarnation_find(a, p->memory);
    ha_block *block = NULL;
    ha_ops ops = {0};
    ha_status s = HA_OK;
    if (in && in->valid.n && in->memory == &ha_host_memory)
        s = ha_records_convert(a, in, p, &block, attempt);
    if (s) return s;
    if (block) {
        block = ha_block_exchange(a, in, block, a->size, &ops);
        ha_block_retire(block, &ops);
    } else if (in) {
        ha_lock(a);
        in->valid.n = 0;
        ha_unlock(a);
        ha_incarnation_drop(a, in);
    }
    ha_placement_retire(a, ha_placement_exchange(a, p));
    return HA_OK;
}

HA_IN_ int ha_rows_alike(const ha_row *a, const ha_row *b, int64_t n) {
    int alike = 1;
    for (; alike && n-- > 0; a++, b++)
        alike = a->blob == b->blob && a->linearizer == b->linearizer && a->base == b->base &&
                a->lane_stride == b->lane_stride && a->block_stride == b->block_stride &&
                a->lanes == b->lanes && a->coding == b->coding;
    return alike;
}

/* Whether two tables of a record, of which neither is a tree, put every value in the same place. */
HA_IN_ int ha_tables_alike(const ha_mapping *a, const ha_mapping *b) {
    return !b->trees && a->rows == b->rows && a->linearizers == b->linearizers &&
           a->codings == b->codings && a->byte_rows == b->byte_rows &&
           !memcmp(a->linearizer, b->linearizer, (size_t)a->linearizers * sizeof *a->linearizer) &&
           (!a->codings || !memcmp(a->coding, b->coding, (size_t)a->codings * sizeof *a->coding)) &&
           ha_rows_alike(a->row, b->row, a->rows) &&
           ha_rows_alike(a->byte_row, b->byte_row, a->byte_rows);
}

/* Whether there is nothing to do, or nothing can be done. What is the caller's stays as it is; a table that
 * was written by hand may have got the text of another one. */
HA_IN_ ha_status ha_records_layout_refuse(ha_array *a, const ha_placement *p, ha_context *c,
                                          int *same, const char *operation, const char *site) {
    ha_lock(a);
    const ha_placement *old = ha_placement_find(ha_records_state_of(a), c->memory);
    const int callers = old && old->caller;
    *same = old && !strcmp(old->mapping->text, p->mapping->text);
    ha_unlock(a);
    if (callers) *same = *same && ha_tables_alike(old->mapping, p->mapping);
    if (!callers || *same) return HA_OK;
    return ha_fail(HA_ERR_STATE, operation,
                   "%s: records %s at %s: its memory is the caller's, and keeps its layout", site,
                   ha_label_of(a).text, c->name);
}

/* Takes the placement over when it succeeds. */
HA_IN_ ha_status ha_records_change_layout(ha_array *a, ha_placement *p, ha_context *c,
                                          const char *operation, const char *site) {
    HA_TAKES_MEMORY_;
    ha_attempt attempt = {.site = site};
    for (;;) {
        ha_status s = ha_records_gather(a, c->memory, operation, site);
        if (s) return s;
        s = ha_records_settle_in(a, p, &attempt);
        ha_busy_end(a);
        if (s == HA_RETRY_ && !(s = ha_attempt_pass(&attempt))) continue;
        if (!s) return HA_OK;
        return ha_fail(s, operation, "%s: records %s at %s: no room for them in another layout",
                       site, ha_label_of(a).text, c->name);
    }
}

/* The handle's lock is this thread's. *shares: the layout lets values share bytes, and there are others who may
 * be about to open less than that: nothing was done. */
HA_IN_ ha_status ha_records_layout_now(ha_array *a, ha_context *c, const char *layout, int alone,
                                       int *shares, const char *operation, const char *site) {
    ha_placement *p = NULL;
    ha_error error = {0};
    int same = 0;
    ha_status s;
    if ((s = ha_placement_parse(ha_records_state_of(a), c->memory, layout, &p, &error)))
        s = ha_fail(s, operation, "%s: records %s at %s: layout \"%.60s\": %s", site,
                    ha_label_of(a).text, c->name, layout, error.text);
    if (!s) s = ha_records_layout_refuse(a, p, c, &same, operation, site);
    *shares = !s && !same && !alone && p->shared;
    if (!s && !same && !*shares) s = ha_records_change_layout(a, p, c, operation, site);
    if (s || same || *shares) ha_placement_free(p);
    return s;
}

/* Frees what was retired, unless another thread has the handle's lock: then who changes a layout next does it, or frees the
 * records. */
HA_IN_ void ha_records_sweep(ha_records *r) {
    ha_placement *retired = NULL;
    if (pthread_rwlock_trywrlock(&r->lock)) return;
    if (r->array) {
        ha_records_state *state = ha_records_state_of(r->array);
        retired = state->retired;
        state->retired = NULL;
    }
    pthread_rwlock_unlock(&r->lock);
    ha_placements_free(retired);
}

ha_status ha_records_layout_(ha_records *r, ha_context *c, const char *layout, const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    static const char operation[] = "ha_records_layout";
    int shares = 0;
    ha_array *a;
    ha_status s = ha_records_enter(r, operation, site);
    if (!s && !layout) s = ha_fail(HA_ERR_ARGUMENT, operation, "%s: no layout", site);
    if (!s) s = ha_records_begin_at(r, operation, &a);
    if (s) return s;
    c = ha_resolve(c);
    s = ha_records_layout_now(a, c, layout, 0, &shares, operation, site);
    ha_records_leave(r);
    if (shares) {
        s = ha_records_alone(r, operation, site);
        if (s) return s;
        s = ha_records_layout_now(r->array, c, layout, 1, &shares, operation, site);
        ha_records_leave(r);
    }
    ha_records_sweep(r);
    return s;
}

/* ---- extents --------------------------------------------------------------------------------- */

/* A state with other extents, and the same layouts. */
HA_IN_ ha_records_state *ha_records_state_like(ha_array *a, const int64_t *extent,
                                               ha_error *error) {
    const ha_records_state *old = ha_records_state_of(a);
    ha_records_state *state = ha_records_state_make(old->record, old->rank, extent, old->layout);
    *error = (ha_error){.status = HA_ERR_MEMORY, .text = "no memory for its records"};
    if (!state) return NULL;
    ha_lock(a); /* somebody may ask for a mapping, and have it made: it is put before these */
    const ha_placement *p = old->placements;
    ha_unlock(a);
    for (; p; p = p->next) {
        ha_placement *like;
        ha_error why = {0};
        if (ha_placement_parse(state, p->memory, p->mapping->text, &like, &why)) {
            *error = why;
            ha_records_state_free(state);
            return NULL;
        }
        like->next = state->placements;
        state->placements = like;
    }
    return state;
}

/* What of a box of one array is in another one; 0: nothing. */
HA_IN_ int ha_records_clip(const ha_array *to, ha_field_box *b) {
    const ha_records_state *state = ha_records_state_of(to);
    if (!to->grid) return 0;
    for (int d = 0; d < HA_MAPPING_RANK; d++) {
        if (b->last[d] > state->extent[d]) b->last[d] = state->extent[d];
        if (b->first[d] >= b->last[d]) return 0;
    }
    return 1;
}

/* The ranges of a set, as far as they are in another array, in a set of that. */
HA_IN_ ha_status ha_records_clip_set(const ha_array *from, const ha_set *set, const ha_array *to,
                                     ha_set *out) {
    ha_status s = HA_OK;
    for (uint32_t i = 0; i < set->n && !s; i++) {
        ha_field_box b = ha_field_box_of(from, ha_set_ranges(set)[i]);
        if (ha_records_clip(to, &b)) s = ha_set_put(out, ha_field_box_range(to, &b));
    }
    return s;
}

/* Both claimed, or known to nobody. The values that `from` has on the host, as far as `to` has them: *kept,
 * which is empty before. */
HA_IN_ ha_status ha_records_take_values(ha_array *to, ha_array *from, ha_set *kept,
                                        ha_attempt *attempt) {
    const ha_records_state *state = ha_records_state_of(from), *g = ha_records_state_of(to);
    ha_incarnation *source = &from->first,
                   *target = &to->first; /* made on the host, as all of them */
    int64_t extent[HA_MAPPING_RANK];
    if (!source->valid.n) return HA_OK;
    ha_row *rows = (ha_row *)HARRAY_MALLOC(2 * (size_t)state->leaves * sizeof *rows);
    ha_status s = rows ? ha_records_clip_set(from, &source->valid, to, kept) : HA_ERR_MEMORY;
    if (!s && kept->n) s = ha_incarnation_room(to, target, ha_host(), to->size, attempt);
    for (int d = 0; d < HA_MAPPING_RANK; d++)
        extent[d] = state->extent[d] < g->extent[d] ? state->extent[d] : g->extent[d];
    for (uint32_t i = 0; i < kept->n && !s; i++) {
        const ha_mapped x = ha_records_at(to, target), y = ha_records_at(from, source);
        const ha_field_box b = ha_field_box_of(to, ha_set_ranges(kept)[i]);
        s = ha_records_copy(&x, &y, &b, rows, extent);
    }
    HARRAY_FREE(rows);
    return s;
}

/* What is valid now, and all else that stays the same, at once: a memory that is full takes no block of an
 * array that has no version yet. *kept and *lost get what there was before: nothing. From then on the handle
 * has the second array. */
HA_IN_ void ha_records_take_rest(ha_records *r, ha_array *to, ha_array *from, ha_set *kept,
                                 ha_set *lost) {
    ha_lock(from);
    ha_lock(to); /* of which nobody knows who could have locked it first */
    ha_set_exchange(&to->first.valid, kept);
    ha_set_exchange(&to->lost, lost);
    memcpy(to->name, from->name, sizeof to->name);
    to->statistics = from->statistics;
    to->version = from->version + 1;
    to->lost_where = from->lost_where;
    to->lost_site = from->lost_site;
    ha_unlock(to);
    ha_records_turn(r, to);
    ha_unlock(from);
}

/* The second array takes the first one's place, with these values. */
HA_IN_ ha_status ha_records_replace(ha_records *r, ha_array *a, ha_array *b, ha_set *kept) {
    ha_set lost = {.grid = b->grid};
    ha_status s = ha_records_clip_set(a, &a->lost, b, &lost);
    if (!s) {
        pthread_rwlock_wrlock(&r->asking); /* nobody has it for long */
        ha_records_take_rest(r, b, a, kept, &lost);
        pthread_rwlock_unlock(&r->asking);
    }
    ha_set_free(&lost);
    return s;
}

/* One try. A block with values waits for none of its own, which is empty: so its room is made before
 * anything is valid. */
HA_IN_ ha_status ha_records_resize_try(ha_records *r, const int64_t *extent, const char *operation,
                                       const char *site, ha_attempt *attempt) {
    ha_array *a = r->array, *b = NULL;
    ha_error error = {0};
    ha_records_state *state = ha_records_state_like(a, extent, &error);
    if (state && !(b = ha_records_array(state, a->first_touch)))
        error = (ha_error){.status = HA_ERR_MEMORY, .text = "no memory for its records"};
    if (!b)
        return ha_fail(error.status, operation, "%s: records %s: %s", site, ha_label_of(a).text,
                       error.text);
    ha_status s = ha_records_gather(a, NULL, operation, site);
    if (s) {
        ha_array_destroy(b);
        return s;
    }
    ha_set kept = {.grid = b->grid};
    s = ha_records_take_values(b, a, &kept, attempt);
    if (!s) s = ha_records_replace(r, a, b, &kept);
    ha_set_free(&kept);
    if (s) ha_busy_end(a); /* else it ends busy: who looks for unused blocks leaves its own alone */
    ha_array_destroy(s ? b : a);
    if (!s || s == HA_RETRY_) return s;
    return ha_fail(s, operation, "%s: records %s: no room for as many", site, ha_label_of(a).text);
}

HA_IN_ ha_status ha_records_resize_now(ha_records *r, const int64_t *extent, const char *operation,
                                       const char *site) {
    const ha_records_state *state = ha_records_state_of(r->array);
    HA_TAKES_MEMORY_;
    ha_attempt attempt = {.site = site};
    int same = 1;
    ha_status s = HA_OK;
    if (r->array->wrapped)
        return ha_fail(HA_ERR_STATE, operation,
                       "%s: records %s: their memory is the caller's, and stays with them until "
                       "ha_records_unwrap",
                       site, ha_label_of(r->array).text);
    for (int d = 0; d < state->rank; d++) {
        same &= extent[d] == state->extent[d];
        if (extent[d] < 0)
            return ha_fail(HA_ERR_ARGUMENT, operation, "%s: records %s: extent %d is %lld", site,
                           ha_label_of(r->array).text, d, (long long)extent[d]);
    }
    if (same) return HA_OK;
    while ((s = ha_records_resize_try(r, extent, operation, site, &attempt)) == HA_RETRY_)
        if ((s = ha_attempt_pass(&attempt)))
            return ha_fail(s, operation, "%s: records %s: waiting for memory failed", site,
                           ha_label_of(r->array).text);
    return s;
}

ha_status ha_records_resize_(ha_records *r, const int64_t *extent, const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    static const char operation[] = "ha_records_resize";
    ha_status s = ha_records_enter(r, operation, site);
    if (!s && !extent) s = ha_fail(HA_ERR_ARGUMENT, operation, "%s: no extents", site);
    if (!s) s = ha_records_alone(r, operation, site);
    if (s) return s;
    s = ha_records_resize_now(r, extent, operation, site);
    ha_records_leave(r);
    return s;
}

#endif
