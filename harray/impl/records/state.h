/* What a record array is made of: an array on a grid of leaves and records, with a mapping for each
 * memory. */
#ifndef HARRAY_IMPL_RECORDS_STATE_H
#define HARRAY_IMPL_RECORDS_STATE_H

#include "../../../layout/mapped.h"
#include "../state/all.h"

typedef struct ha_placement ha_placement; /* placement.h */

typedef struct ha_records_state {
    ha_array_ops ops;
    const ha_record *record;
    int rank;
    int64_t extent[HA_MAPPING_RANK];
    int64_t leaves;
    ha_leaf *leaf;            /* all of them */
    ha_sorted_field_ *sorted; /* their fields, to be found by paths */
    int64_t *before;          /* bytes of the leaves before each; and of all, at the end */
    const char *layout;
    ha_placement *placements;
    ha_placement *retired; /* of layouts before: who has the handle's lock may still look at them */
} ha_records_state;

HA_IN_ ha_records_state *ha_records_state_of(const ha_array *a) {
    return (ha_records_state *)(uintptr_t)a->ops;
}

/* ---- what a box is --------------------------------------------------------------------------- */

/* Neighbouring leaves of a block of records. */
typedef struct ha_field_box {
    int64_t leaf, end; /* leaves */
    int64_t first[HA_MAPPING_RANK], last[HA_MAPPING_RANK];
} ha_field_box;

HA_IN_ ha_field_box ha_field_box_of(const ha_array *a, ha_range r) {
    const ha_records_state *state = ha_records_state_of(a);
    ha_field_box b = {.leaf = 0};
    ha_box box = {{0}, {0}};
    ha_box_of(a->grid, r, &box);
    b.leaf = (int64_t)box.first[0];
    b.end = (int64_t)box.last[0];
    for (int d = 0; d < HA_MAPPING_RANK; d++) {
        b.first[d] = d < state->rank ? (int64_t)box.first[d + 1] : 0;
        b.last[d] = d < state->rank ? (int64_t)box.last[d + 1] : 1;
    }
    return b;
}

HA_IN_ ha_range ha_field_box_range(const ha_array *a, const ha_field_box *b) {
    ha_box box = {{(size_t)b->leaf}, {(size_t)b->end}};
    for (int d = 1; d < a->grid->rank; d++) {
        box.first[d] = (size_t)b->first[d - 1];
        box.last[d] = (size_t)b->last[d - 1];
    }
    return ha_box_range(a->grid, &box);
}

HA_IN_ int64_t ha_field_box_records(const ha_field_box *b) {
    int64_t n = 1;
    for (int d = 0; d < HA_MAPPING_RANK; d++) n *= b->last[d] - b->first[d];
    return n;
}

HA_IN_ int64_t ha_field_box_bytes(const ha_records_state *state, const ha_field_box *b) {
    return (state->before[b->end] - state->before[b->leaf]) * ha_field_box_records(b);
}

HA_IN_ uint64_t ha_records_value_bytes(const ha_array *a, ha_range r) {
    if (!a->grid || ha_is_empty(r)) return 0;
    const ha_field_box b = ha_field_box_of(a, r);
    return (uint64_t)ha_field_box_bytes(ha_records_state_of(a), &b);
}

/* ---- messages -------------------------------------------------------------------------------- */

HA_IN_ void ha_records_print_extents(const ha_array *a, ha_text *t) {
    const ha_records_state *state = ha_records_state_of(a);
    for (int d = 0; d < state->rank; d++)
        ha_print(t, "%s%lld", d ? ", " : "", (long long)state->extent[d]);
}

/* "pos.x[3, 7)", "pos.x … vel.z[3, 7) x [0, 2)". */
HA_IN_ void ha_records_print_part(const ha_array *a, ha_range r, ha_text *t) {
    const ha_records_state *state = ha_records_state_of(a);
    const ha_field_box b = ha_field_box_of(a, r);
    char name[48] = "";
    (void)ha_record_leaf_name(state->record, b.leaf, name, sizeof name);
    ha_print(t, "%s", name);
    if (b.end - b.leaf > 1) {
        (void)ha_record_leaf_name(state->record, b.end - 1, name, sizeof name);
        ha_print(t, "%s%s", b.end - b.leaf > 2 ? " … " : ", ", name);
    }
    for (int d = 0; d < state->rank; d++)
        ha_print(t, "%s[%lld, %lld)", d ? " x " : "", (long long)b.first[d], (long long)b.last[d]);
}

#endif
