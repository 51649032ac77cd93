/* Making mappings. */
#ifndef HARRAY_LAYOUT_IMPL_MAPPING_MAPPING_H
#define HARRAY_LAYOUT_IMPL_MAPPING_MAPPING_H

#include "build.h"
#include "counts.h"
#include "place.h"
#include "tree_run.h"

HA_IN_ ha_status ha_check_extents(const ha_asked *asked, int rank, const int64_t *extent) {
    if (rank < 1 || rank > HA_MAPPING_RANK)
        return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "rank %d is not from 1 to %d", rank,
                         HA_MAPPING_RANK);
    if (!extent) return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "there are no extents");
    for (int d = 0; d < rank; d++)
        if (extent[d] < 0)
            return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "extent %d is %lld", d,
                             (long long)extent[d]);
    return HA_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* How many leaves and bytes of leaves there may be. */
HA_IN_ int64_t ha_room(const ha_record *record, const ha_layout *layout, int64_t leaves) {
    const int by_bytes = ha_contains(layout, HA_LAYOUT_BYTESPLIT);
    const int changed = ha_contains(layout, HA_LAYOUT_CHANGETYPE);
    int64_t room = leaves;
    for (int64_t f = 0; f < record->fields && by_bytes; f++) {
        const ha_dtype scalar = changed ? HA_DTYPE_c128 : record->field[f].type; /* the largest */
        room += ha_field_leaves(&record->field[f]) * (int64_t)ha_dtype_size(scalar);
    }
    return room;
}

/* Room for making it: lists of leaves, one for all and those of splits inside each other. Not on
 * the stack, which may be small. */
HA_IN_ size_t ha_work_bytes(const ha_builder *b) {
    const size_t room = (size_t)b->room;
    return ha_tree_bytes(b) +
           room * (sizeof(ha_leaf) + sizeof(ha_row) + sizeof(ha_linearizer) + sizeof(ha_section) +
                   sizeof(ha_blob) + sizeof(ha_coding) + sizeof(int64_t) +
                   (HA_LAYOUT_DEPTH * sizeof(int32_t)) + sizeof(int8_t));
}

HA_IN_ void ha_lay_out_work(ha_builder *b, void *work, int64_t **offset, int32_t **all) {
    const int64_t n = b->room;
    b->leaf = (ha_leaf *)work;
    b->row = (ha_row *)(void *)(b->leaf + n);
    b->linearizer = (ha_linearizer *)(void *)(b->row + n);
    b->section = (ha_section *)(void *)(b->linearizer + n);
    b->blob = (ha_blob *)(void *)(b->section + n);
    b->coding = (ha_coding *)(void *)(b->blob + n);
    *offset = (int64_t *)(void *)(b->coding + n);
    *all = (int32_t *)(void *)(*offset + n);
    b->spare = *all + b->mapping->rows;
    ha_give_trees(b, *all + n * HA_LAYOUT_DEPTH);
    b->is_chosen = (int8_t *)work + ha_work_bytes(b) - n;
}

/* Copies an array behind what is in the block already. */
HA_IN_ void *ha_append(char **end, const void *array, int64_t n, size_t size) {
    void *copy = *end;
    memcpy(copy, array, (size_t)n * size);
    *end += (size_t)n * size;
    return copy;
}

/* The mapping in one block of memory, with room for its text. */
HA_IN_ ha_mapping *ha_mapping_copied(const ha_builder *b, int64_t text) {
    const ha_mapping *draft = b->mapping;
    const int64_t steps = draft->branches * b->tree_room;
    const size_t bytes = sizeof *draft + (size_t)(draft->rows + b->bytes) * sizeof(ha_row) +
                         (size_t)draft->linearizers * sizeof(ha_linearizer) +
                         (size_t)draft->sections * sizeof(ha_section) +
                         (size_t)draft->blobs * sizeof(ha_blob) +
                         (size_t)draft->codings * sizeof(ha_coding) +
                         (size_t)draft->trees * sizeof(ha_tree) +
                         (size_t)draft->branches * sizeof(ha_branch) +
                         (size_t)steps * sizeof(ha_tree_step) + (size_t)text + 1;
    ha_mapping *m = (ha_mapping *)HA_LAYOUT_MALLOC_(bytes);
    if (!m) {
        ha_no_memory(b->asked, bytes);
        return NULL;
    }
    char *end = (char *)(m + 1);
    *m = *draft;
    m->row = (ha_row *)ha_append(&end, b->row, draft->rows + b->bytes, sizeof(ha_row));
    m->byte_row = b->bytes > 0 ? m->row + draft->rows : NULL;
    m->byte_rows = b->bytes;
    m->linearizer = (ha_linearizer *)ha_append(&end, b->linearizer, draft->linearizers,
                                               sizeof(ha_linearizer));
    m->section = (ha_section *)ha_append(&end, b->section, draft->sections, sizeof(ha_section));
    m->blob = (ha_blob *)ha_append(&end, b->blob, draft->blobs, sizeof(ha_blob));
    m->coding = (ha_coding *)ha_append(&end, b->coding, draft->codings, sizeof(ha_coding));
    if (draft->codings == 0) m->coding = NULL;
    if (draft->trees > 0) {
        m->branch = (ha_branch *)ha_append(&end, b->branch, draft->branches, sizeof(ha_branch));
        m->tree_step = (ha_tree_step *)ha_append(&end, b->tree_step, steps, sizeof(ha_tree_step));
        m->tree = (ha_tree *)ha_append(&end, b->tree, draft->trees, sizeof(ha_tree));
    }
    m->text = end;
    return m;
}

/* ---- making ---------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_fill_mapping(ha_builder *b, const ha_layout *layout, void *work) {
    const int64_t n = b->mapping->rows;
    int64_t *offset;
    int32_t *all;
    ha_layout_part part = {.leaves = n};
    ha_status s;
    ha_lay_out_work(b, work, &offset, &all);
    ha_record_all_leaves_(b->mapping->record, b->leaf);
    for (int64_t k = 0; k < n; k++) {
        all[k] = (int32_t)k;
        b->coding[k] = (ha_coding){.stored = b->leaf[k].type};
    }
    part.leaf = all;
    for (int32_t d = 0; d < HA_MAPPING_RANK; d++) part.dimension[d] = d;
    b->into = -1;
    s = ha_build(b, layout, &part, offset);
    if (!s) s = ha_place_sections(b);
    if (s) return s;
    ha_place_rows(b);
    ha_place_codings(b);
    return HA_OK;
}

HA_IN_ void ha_mapping_release(ha_mapping *m) {
    if (m) HA_LAYOUT_FREE_(m->counts);
    HA_LAYOUT_FREE_(m);
}

/* The mapping, of what is checked. */
HA_IN_ ha_mapping *ha_mapping_make(ha_builder *b, const ha_record *record, int64_t n,
                                   const ha_layout *layout, int rank, const int64_t *extent) {
    ha_mapping draft = {.record = record, .rows = n, .rank = rank}, *m = NULL;
    ha_text text = {0};
    void *work;
    b->room = ha_room(record, layout, n);
    b->mapping = &draft;
    ha_find_trees(b, layout);
    for (int d = 0; d < HA_MAPPING_RANK; d++) draft.extent[d] = d < rank ? extent[d] : 1;
    work = HA_LAYOUT_MALLOC_(ha_work_bytes(b));
    if (!work) {
        ha_no_memory(b->asked, ha_work_bytes(b));
        return NULL;
    }
    if (!ha_fill_mapping(b, layout, work)) {
        ha_put_layout(&text, layout, rank);
        m = ha_mapping_copied(b, (int64_t)text.length);
    }
    if (m) {
        text = ha_text_into((char *)m + (m->text - (char *)m), text.length + 1);
        ha_put_layout(&text, layout, rank);
        ha_point_at_functors(m);
        if (ha_add_counts(b->asked, layout, m)) {
            ha_mapping_release(m);
            m = NULL;
        }
    }
    HA_LAYOUT_FREE_(work);
    return m;
}

/* Checks all but the layout: how many leaves there are. */
HA_IN_ ha_status ha_check_arguments(const ha_asked *asked, const ha_record *record, int rank,
                                    const int64_t *extent, int64_t *leaves) {
    const ha_status s = ha_check_extents(asked, rank, extent);
    return s ? s : ha_check_record(asked, record, leaves);
}

HA_IN_ ha_mapping *ha_without_layout(const ha_asked *asked) {
    ha_refuse(asked, HA_ERR_ARGUMENT, 0, "there is no layout");
    return NULL;
}

HA_API ha_mapping *ha_mapping_new(const ha_record *record, const ha_layout *layout, int rank,
                                  const int64_t *extent, ha_error *error) {
    const ha_asked asked = ha_ask("ha_mapping_new", error);
    ha_builder b = {.asked = &asked, .build = ha_build};
    int64_t leaves;
    int layouts = 0;
    if (!layout) return ha_without_layout(&asked);
    if (ha_check_arguments(&asked, record, rank, extent, &leaves)) return NULL;
    if (ha_check_layout(&b, layout, rank, 0, &layouts)) return NULL;
    return ha_mapping_make(&b, record, leaves, layout, rank, extent);
}

HA_API ha_mapping *ha_mapping_parse(const ha_record *record, const char *text, int rank,
                                    const int64_t *extent, ha_error *error) {
    const ha_asked asked = ha_ask("ha_mapping_parse", error);
    ha_mapping *m = NULL;
    ha_layout_reader reader;
    const ha_layout *layout;
    int64_t leaves;
    if (!text) return ha_without_layout(&asked);
    if (ha_check_arguments(&asked, record, rank, extent, &leaves)) return NULL;
    const size_t bytes = ha_layout_reader_bytes(text);
    void *const memory = HA_LAYOUT_MALLOC_(bytes);
    if (!memory) {
        ha_no_memory(&asked, bytes);
    } else if (!ha_read_whole_layout(&reader, text, rank, &asked, memory, &layout)) {
        ha_builder b = {.asked = &asked, .origin = reader.copy, .build = ha_build};
        m = ha_mapping_make(&b, record, leaves, layout, rank, extent);
    }
    HA_LAYOUT_FREE_(memory);
    return m;
}

/* Not inlined: views may hold the counters of a mapping, NULL for most of them, and gcc would warn
 * of all that are used when theirs has been freed. */
HA_API HA_NOINLINE_ void ha_mapping_free(ha_mapping *mapping) { ha_mapping_release(mapping); }

/* ---- runs ------------------------------------------------------------------------------------ */

/* Of values at equal distances, with the fastest index of the linearizer going on. */
HA_IN_ void ha_find_run(const ha_row *row, const ha_linearizer *l, int64_t linear, int64_t index,
                        int64_t left, ha_run_of_values *run) {
    const int64_t lane = linear % row->lanes;
    const int64_t step = l->morton == 0 ? l->stride[run->dimension] : 1;
    int64_t here = l->morton == 0 || l->rank == 1 ? left : index % 2 == 0 ? 2 : 1;
    int64_t stride = row->lane_stride;
    if (row->lanes == 1) {
        stride = row->block_stride;
    } else if (step != 1) {
        here = 1;
    } else {
        const int even = row->lane_stride != 0 && row->block_stride / row->lanes == stride &&
                         row->block_stride % row->lanes == 0;
        if (!even) here = ha_smaller(here, row->lanes - lane);
    }
    run->count = ha_smaller(here, left);
    run->stride = run->count > 1 ? stride * step : 0;
}

HA_API ha_status ha_mapping_run_of_values(const ha_mapping *mapping, int64_t leaf,
                                          const int64_t *index, ha_run_of_values *run) {
    const ha_row *row;
    ha_run_of_values found = {.blob = -1, .count = 1};
    if (!mapping || leaf < 0 || leaf >= mapping->rows) return HA_ERR_ARGUMENT;
    for (int d = 0; d < mapping->rank; d++)
        if (index[d] < 0 || index[d] >= mapping->extent[d]) return HA_ERR_ARGUMENT;
    row = &mapping->row[leaf];
    if (row->blob >= 0 && row->linearizer < 0) {
        const ha_branch *branch = &mapping->branch[-1 - row->linearizer];
        found.blob = row->blob;
        found.dimension = mapping->tree[branch->tree].dimension[mapping->rank - 1];
        found.offset = ha_row_at(mapping, row, index);
        ha_find_tree_run(mapping, row, index,
                         mapping->extent[found.dimension] - index[found.dimension], &found);
    } else if (row->blob >= 0) {
        const ha_linearizer *l = &mapping->linearizer[row->linearizer];
        const int64_t linear = ha_linear(l, index);
        found.blob = row->blob;
        found.dimension = l->dimension[l->rank - 1];
        found.offset = ha_row_offset(row, linear);
        ha_find_run(row, l, linear, index[found.dimension],
                    mapping->extent[found.dimension] - index[found.dimension], &found);
    }
    *run = found;
    return HA_OK;
}

#endif
