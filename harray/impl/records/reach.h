/* Where the values of a box lie, for functions on strict devices and for poison: pieces in equal
 * distances, those of each leaf by itself. */
#ifndef HARRAY_IMPL_RECORDS_REACH_H
#define HARRAY_IMPL_RECORDS_REACH_H

#include "patterns.h"

typedef struct ha_reaching {
    const ha_mapped *records;
    const ha_shared_bytes *shared;
    const ha_records_state *state;
    ha_touchable touchable;
    void *list;
    void (*add)(void *list, const ha_touchable *touchable);
} ha_reaching;

/* Of which records the pieces are: of blocks in several dimensions only the whole mapping could tell. */
HA_IN_ void ha_touchable_tell_records(ha_touchable_field *f, int rank, const ha_row *row,
                                      const ha_stride_pattern *p, const ha_field_box *b) {
    _Static_assert((int)HA_TOUCH_DIMENSIONS >= (int)HA_MAPPING_RANK, "all dimensions of records");
    int told = !p->blocks || rank == 1;
    for (int k = 0; k < p->levels; k++) told &= p->step[k] > 0;
    f->rank = told ? rank : 0;
    f->levels = told ? p->levels : 0;
    for (int d = 0; d < HA_MAPPING_RANK; d++) f->first[d] = b->first[d];
    for (int k = 0; k < f->levels; k++) {
        f->dimension[k] = p->blocks ? 0 : p->dimension[k];
        f->gain[k] = p->blocks && k > 0 ? row->lanes : 1;
        f->count[k] = (size_t)p->count[k];
        f->step[k] = (size_t)p->step[k];
    }
}

/* Of one row of the mapping; where the values do not lie in equal distances, of parts of the box. */
HA_IN_ void ha_touchable_row(ha_reaching *g, const ha_row *row, size_t bytes,
                             const ha_field_box *b) {
    ha_stride_pattern p;
    ha_cut cut;
    if (ha_stride_pattern_of(g->records, row, b, &p, &cut)) {
        g->touchable.pieces = (ha_strided_copy){.from = p.at, .bytes = bytes};
        for (int k = 0; k < p.levels; k++)
            ha_strided_repeat(&g->touchable.pieces, (size_t)p.count[k], (size_t)p.step[k],
                              (size_t)p.step[k]);
        ha_touchable_tell_records(&g->touchable.field, g->state->rank, row, &p, b);
        g->add(g->list, &g->touchable);
        return;
    }
    ha_field_box low = *b, high = *b;
    low.last[cut.dimension] = high.first[cut.dimension] = cut.index;
    ha_touchable_row(g, row, bytes, &low);
    ha_touchable_row(g, row, bytes, &high);
}

/* Of a leaf that shares bytes: all bytes of its group. */
HA_IN_ void ha_touchable_image(ha_reaching *g, int64_t leaf, const ha_field_box *b) {
    ha_column s = {.leaf = leaf, .here = &g->records->mapping->row[leaf]};
    ha_field_box low = *b, high = *b;
    ha_cut cut;
    if (ha_image_pattern_of(g->state, g->shared, g->records, b, &s, &cut)) {
        g->touchable.pieces = (ha_strided_copy){.from = s.pattern.at, .bytes = s.bytes};
        g->touchable.field.rank = g->touchable.field.levels = 0;
        g->add(g->list, &g->touchable);
        return;
    }
    low.last[cut.dimension] = high.first[cut.dimension] = cut.index;
    ha_touchable_image(g, leaf, &low);
    ha_touchable_image(g, leaf, &high);
}

HA_IN_ void ha_touchable_leaf(ha_reaching *g, int64_t leaf, const ha_field_box *b) {
    const ha_records_state *state = g->state;
    const ha_mapping *m = g->records->mapping;
    const ha_coding *c = ha_row_coding(m, &m->row[leaf]);
    const ha_dtype type = c ? c->stored : state->leaf[leaf].type;
    const int whole = !c || (!c->bytes && !c->swapped);
    g->touchable.poison = ha_poison_of(whole ? ha_dtype_name(type) : "",
                                       whole ? ha_dtype_size(type) : 1);
    (void)ha_leaf_name_(state->record, &state->leaf[leaf], g->touchable.field.name,
                        sizeof g->touchable.field.name);
    g->touchable.shares = g->shared && g->shared->group[leaf].end;
    if (g->touchable.shares) {
        ha_touchable_image(g, leaf, b);
        return;
    }
    if (!c || !c->bytes) ha_touchable_row(g, &m->row[leaf], ha_dtype_size(type), b);
    for (int64_t i = 0; c && i < c->bytes; i++)
        ha_touchable_row(g, &m->byte_row[c->byte_row + i], 1, b);
}

HA_IN_ ha_status ha_records_reach(ha_array *a, const ha_incarnation *in, ha_range r,
                                  const ha_touchable *touchable, void *list,
                                  void (*add)(void *list, const ha_touchable *touchable)) {
    if (!a->grid || ha_is_empty(r)) return HA_OK;
    const ha_records_state *state = ha_records_state_of(a);
    const ha_mapped records = ha_records_at(a, in);
    const ha_field_box b = ha_field_box_of(a, r);
    ha_lock(a);
    const ha_shared_bytes *shared = ha_placement_find(state, in->memory)->shared;
    ha_unlock(a);
    ha_reaching g = {&records, shared, state, *touchable, list, add};
    for (int64_t leaf = b.leaf; leaf < b.end; leaf++) ha_touchable_leaf(&g, leaf, &b);
    return HA_OK;
}

#endif
