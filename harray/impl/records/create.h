/* Record arrays as a whole: making and freeing. */
#ifndef HARRAY_IMPL_RECORDS_CREATE_H
#define HARRAY_IMPL_RECORDS_CREATE_H

#include "access_spec.h"
#include "reach.h"
#include "transfer.h"
#include "../../records.h"
#include "../array/all.h"

/* ---- the state ------------------------------------------------------------------------------- */

HA_IN_ void ha_records_disown(ha_array *a, const ha_incarnation *in) {
    const ha_placement *p = ha_placement_find(ha_records_state_of(a), in->memory);
    for (int32_t b = 0; b < p->mapping->blobs; b++)
        if (p->mapping->blob[b].bytes) ha_owners_remove((uintptr_t)p->caller[b]);
}

HA_IN_ int ha_records_maps(const ha_array *a, const ha_incarnation *in, const ha_context *c) {
    const ha_placement *p = ha_placement_find(ha_records_state_of(a), in->memory);
    int maps = 1;
    for (int32_t b = 0; b < p->mapping->blobs; b++) {
        const ha_block blob = {
            .memory = in->memory, .data = p->caller[b], .bytes = (size_t)p->mapping->blob[b].bytes};
        maps = maps && (!blob.bytes || ha_maps(c, &blob));
    }
    return maps;
}

static const ha_array_ops ha_records_ops = {.block_bytes = ha_records_block_bytes,
                                            .value_bytes = ha_records_value_bytes,
                                            .move = ha_records_move,
                                            .reach = ha_records_reach,
                                            .print_extents = ha_records_print_extents,
                                            .print_part = ha_records_print_part,
                                            .disown = ha_records_disown,
                                            .maps = ha_records_maps,
                                            .end = ha_records_end};

/* NULL: no memory. The record is a right one. */
HA_IN_ ha_records_state *ha_records_state_make(const ha_record *record, int rank,
                                               const int64_t *extent, const char *layout) {
    const int64_t leaves = ha_record_leaves(record);
    const size_t text = strlen(layout) + 1, sums = (size_t)(leaves + 1) * sizeof(int64_t),
                 list = (size_t)leaves * sizeof(ha_leaf),
                 sorted = (size_t)record->fields * sizeof(ha_sorted_field_);
    ha_records_state *state = (ha_records_state *)HARRAY_MALLOC(sizeof *state + list + sums +
                                                                sorted + text);
    if (!state) return NULL;
    *state = (ha_records_state){
        .ops = ha_records_ops, .record = record, .rank = rank, .leaves = leaves};
    state->leaf = (ha_leaf *)(void *)(state + 1);
    state->before = (int64_t *)(void *)(state->leaf + leaves);
    state->sorted = (ha_sorted_field_ *)(void *)(state->before + leaves + 1);
    state->layout = (char *)(state->sorted + record->fields);
    memcpy(state->sorted + record->fields, layout, text);
    ha_record_all_leaves_(record, state->leaf);
    ha_record_sort_(record, state->sorted);
    for (int d = 0; d < HA_MAPPING_RANK; d++) state->extent[d] = d < rank ? extent[d] : 1;
    state->before[0] = 0;
    for (int64_t leaf = 0; leaf < leaves; leaf++)
        state->before[leaf + 1] = state->before[leaf] +
                                  (int64_t)ha_dtype_size(state->leaf[leaf].type);
    return state;
}

/* The array of a state, which it takes over, also when it fails. NULL: no memory. */
HA_IN_ ha_array *ha_records_array(ha_records_state *state, ha_context *c) {
    const char *name = state->record->name;
    const ha_type type = {name && *name ? name : "record", 0};
    int64_t extent[HA_MAPPING_RANK + 1], pitch[HA_MAPPING_RANK + 1];
    const int64_t records = ha_records_count(state);
    ha_array *a = ha_array_make(type, c);
    if (!a) {
        ha_records_state_free(state);
        return NULL;
    }
    a->ops = &state->ops;
    extent[0] = state->leaves;
    pitch[0] = records;
    for (int d = 1; d <= state->rank; d++) {
        extent[d] = state->extent[d - 1];
        pitch[d] = records ? pitch[d - 1] / extent[d] : 0;
    }
    ha_lock(a); /* a report may look at it: it may be watched */
    a->size = (size_t)(state->leaves * records);
    ha_unlock(a);
    if (!records || ha_array_grid(a, state->rank + 1, extent, pitch) == HA_OK) return a;
    ha_array_destroy(a);
    return NULL;
}

/* A handle of nothing, or one that was freed long ago. NULL: no memory. */
HA_IN_ ha_records *ha_records_handle_take(void) {
    ha_records *r = (ha_records *)(void *)ha_kept_take(&ha_freed_handles);
    if (r || !(r = (ha_records *)HARRAY_MALLOC(sizeof *r))) return r;
    memset(r, 0, sizeof *r);
    pthread_rwlock_init(&r->lock, NULL);
    pthread_rwlock_init(&r->asking, NULL);
    return r;
}

/* The handle of an array, which it takes over, also when it fails. NULL: no memory. */
HA_IN_ ha_records *ha_records_handle(ha_array *a) {
    ha_records *r = ha_records_handle_take();
    if (!r) {
        ha_wrap_leave(a);
        ha_array_destroy(a);
        return NULL;
    }
    pthread_rwlock_wrlock(&r->lock); /* somebody may just be told that it was freed */
    pthread_rwlock_wrlock(&r->asking);
    memset(r->name, 0, sizeof r->name);
    ha_records_turn(r, a);
    pthread_rwlock_unlock(&r->asking);
    pthread_rwlock_unlock(&r->lock);
    return r;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* site: the function of the user's that was called; NULL: the operation itself. */
HA_IN_ ha_records *ha_records_refused(const char *operation, const char *site,
                                      const ha_error *error) {
    ha_fail(error->status, operation, "%s%s%s", site ? site : "", site ? ": " : "", error->text);
    return NULL;
}

HA_IN_ ha_status ha_records_check(const ha_record *record, int rank, const int64_t *extent,
                                  const char *layout, ha_error *error) {
    if (!record || !extent) {
        snprintf(error->text, sizeof error->text, "no record, or no extents");
        return error->status = HA_ERR_ARGUMENT;
    }
    ha_mapping *m = ha_mapping_parse(record, layout, rank, extent, error);
    if (!m) return error->status;
    ha_mapping_free(m);
    return HA_OK;
}

/* An array of records and its placement in a memory; NULL with why in *error. */
HA_IN_ ha_array *ha_records_plain(const ha_record *record, int rank, const int64_t *extent,
                                  const char *layout, ha_context *c, ha_error *error) {
    ha_placement *p;
    if (ha_records_check(record, rank, extent, layout, error)) return NULL;
    ha_records_state *state = ha_records_state_make(record, rank, extent, layout);
    *error = (ha_error){.status = HA_ERR_MEMORY, .text = "no memory for one more array"};
    if (!state) return NULL;
    ha_error why;
    ha_status s = ha_placement_parse(state, c->memory, layout, &p, &why);
    if (s) {
        *error = why;
        ha_records_state_free(state);
        return NULL;
    }
    state->placements = p;
    return ha_records_array(state, c);
}

HA_IN_ ha_records *ha_records_new_at(const ha_record *record, int rank, const int64_t *extent,
                                     const char *layout, const char *site) {
    static const char operation[] = "ha_records_new";
    ha_error error = {0};
    if (ha_enter(operation)) return NULL;
    ha_array *a = ha_records_plain(record, rank, extent, layout ? layout : "aos", ha_host(),
                                   &error);
    ha_records *r = a ? ha_records_handle(a) : NULL;
    return r ? r : ha_records_refused(operation, site, &error);
}

ha_records *ha_records_new(const ha_record *record, int rank, const int64_t *extent,
                           const char *layout) {
    HA_TELLS_EVENTS_;
    return ha_records_new_at(record, rank, extent, layout, NULL);
}

/* ---- freeing --------------------------------------------------------------------------------- */

/* The array is claimed for its end, and `lock` is this thread's. Whoever asks something has done so before it
 * goes, or is told that it was freed. */
HA_IN_ void ha_records_handle_free(ha_records *r) {
    ha_array *a = r->array;
    const ha_label label = ha_label_of(a);
    pthread_rwlock_wrlock(&r->asking); /* nobody has it for long */
    r->label = label;
    ha_lock(a);
    ha_records_turn(r, NULL);
    ha_unlock(a);
    pthread_rwlock_unlock(&r->asking);
    ha_wrap_hand_back(a);
    while (r->specs) {
        ha_access_spec *spec = r->specs;
        r->specs = spec->next;
        HARRAY_FREE(spec);
    }
    r->spec_count = 0;
    ha_kept_add(&ha_freed_handles, &r->kept);
}

ha_status ha_records_free(ha_records *r) {
    HA_TELLS_EVENTS_;
    static const char operation[] = "ha_records_free";
    if (!r) return HA_OK;
    ha_status s = ha_records_enter(r, operation, operation);
    if (!s) s = ha_records_alone(r, operation, operation);
    if (s) return s;
    ha_array *a = r->array;
    s = a->wrapped ? ha_wrap_claim_end(a, 1, operation, operation) : ha_claim(a, operation);
    if (!s) ha_records_handle_free(r);
    ha_records_leave(r);
    return s;
}
#endif
