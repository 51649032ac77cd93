/* What a view is as a mapping with blobs. */
#ifndef HARRAY_LAYOUT_IMPL_VIEW_VIEW_MAPPED_H
#define HARRAY_LAYOUT_IMPL_VIEW_VIEW_MAPPED_H

#include "match.h"
#include "../../detail/view_mapped.h"
#include "../check/all.h"

/* What such an object owns. */
typedef struct ha_mapped_own {
    ha_mapped mapped; /* first: it is what the user has */
    ha_mapping *mapping;
    ha_record *record; /* of split views */
    ha_counts counts;  /* the view's, if it has some; with places of its own */
} ha_mapped_own;

/* ---- by layout ------------------------------------------------------------------------------- */

/* The layout of a part; 0: it has none, but strides. */
HA_IN_ int ha_part_layout(const ha_view_part_ *part, ha_layout *layout) {
    const int is_blocks = part->kind == HA_AOSOA_;
    const int is_rows = is_blocks && part->shape.multiple == part->shape.lanes;
    const ptrdiff_t multiple = part->shape.multiple;
    *layout = (ha_layout){.order = (ha_linear_order)part->shape.order};
    switch (part->kind) {
    case HA_AOS_:
        break;
    case HA_PACKED_:
        layout->flags = HA_LAYOUT_PACKED;
        break;
    case HA_SOA_:
        layout->kind = HA_LAYOUT_SOA;
        if (part->flags & HA_SINGLE_) layout->flags = HA_LAYOUT_SINGLE;
        if (part->flags & HA_ALIGNED_) layout->flags |= HA_LAYOUT_ALIGNED;
        break;
    case HA_AOSOA_:
        layout->kind = HA_LAYOUT_AOSOA;
        layout->lanes = part->shape.lanes;
        if (is_rows && multiple != 1) layout->flags = HA_LAYOUT_ROWS;
        break;
    case HA_FIELDS_:
        layout->kind = HA_LAYOUT_SOA;
        layout->flags = HA_LAYOUT_FIELDS;
        break;
    case HA_ONE_:
        layout->kind = HA_LAYOUT_ONE;
        break;
    default:
        return 0;
    }
    return is_rows || multiple == 1 || part->kind == HA_ONE_;
}

/* ---- by strides ------------------------------------------------------------------------------ */

/* All that a mapping by hand points at. */
typedef struct ha_hand {
    ha_mapping mapping; /* first: ha_mapping_free frees it all */
    ha_linearizer linearizer;
    ha_row row[];
} ha_hand;

HA_IN_ ha_linearizer ha_part_linearizer(const ha_view_part_ *part) {
    const ha_shape_ s = part->shape;
    const int is_morton = s.order == HA_MORTON, is_column = s.order == HA_COL;
    ha_linearizer l = {.morton = is_morton, .rank = s.rank, .pad = is_morton ? 1 : s.multiple};
    for (int d = 0; d < s.rank; d++) {
        l.dimension[d] = is_column ? s.rank - 1 - d : d;
        l.stride[d] = is_morton ? s.rank - 1 - d : ha_place_(s, d == 0, d == 1, d == 2, d == 3);
    }
    l.count = ha_places_(s);
    return l;
}

/* The row of a leaf, in a blob of its own that begins with its first byte, and that blob. */
HA_IN_ void ha_hand_row(const ha_view_part_ *part, const ha_record *record, int64_t number,
                        ha_hand *h, ha_blob *blob, void **at) {
    const ha_leaf leaf = ha_leaf_of(record, number);
    ha_row *row = &h->row[number];
    ha_extent_of extent = {.size = 0};
    const ptrdiff_t lanes = part->shape.lanes > 1 ? part->shape.lanes : 1;
    *row = (ha_row){.blob = (int32_t)number, .lanes = lanes, .section = -1};
    row->block_stride = part->stride[2 * number];
    row->lane_stride = part->stride[2 * number + 1];
    row->type = (int32_t)leaf.type;
    extent.size = (int64_t)ha_dtype_size(leaf.type);
    if (h->linearizer.count == 0 || !ha_find_extent(&extent, row, h->linearizer.count - 1))
        extent = (ha_extent_of){.begin = 0};
    row->base = -extent.begin;
    *at = part->leaf[number] + extent.begin;
    *blob = (ha_blob){extent.end - extent.begin, (int64_t)ha_dtype_alignment(leaf.type)};
}

/* A table by hand, its list of blobs behind its rows. */
HA_IN_ ha_mapping *ha_hand_mapping(const ha_asked *asked, const ha_view_part_ *part,
                                   const ha_record *record, void **at) {
    const int64_t n = part->leaves;
    const size_t bytes = sizeof(ha_hand) + (size_t)n * (sizeof(ha_row) + sizeof(ha_blob));
    ha_hand *h = (ha_hand *)HA_LAYOUT_MALLOC_(bytes);
    if (!h) {
        ha_no_memory(asked, bytes);
        return NULL;
    }
    ha_blob *blob = (ha_blob *)(void *)(h->row + n);
    h->linearizer = ha_part_linearizer(part);
    for (int64_t k = 0; k < n; k++) ha_hand_row(part, record, k, h, &blob[k], &at[k]);
    h->mapping = (ha_mapping){.record = record,
                              .rank = part->shape.rank,
                              .blobs = (int32_t)n,
                              .linearizers = 1,
                              .rows = n,
                              .row = h->row,
                              .linearizer = &h->linearizer,
                              .blob = blob};
    for (int d = 0; d < HA_MAPPING_RANK; d++) h->mapping.extent[d] = part->shape.extent[d];
    return &h->mapping;
}

/* ---- views ----------------------------------------------------------------------------------- */

HA_IN_ int ha_part_is_null(const ha_view_part_ *part) {
    ptrdiff_t count = 1;
    for (int d = 0; d < HA_MOST_DIMENSIONS_; d++) count = count && part->shape.extent[d];
    return count && !part->blob[0];
}

/* The object, with room behind it for the blobs and places of so many leaves; nothing else in it yet. */
HA_IN_ ha_mapped_own *ha_mapped_object(const ha_asked *asked, int64_t leaves) {
    const size_t bytes = sizeof(ha_mapped_own) +
                         (size_t)leaves * (sizeof(void *) + sizeof(ha_heat_place_));
    ha_mapped_own *own = (ha_mapped_own *)HA_LAYOUT_MALLOC_(bytes);
    if (!own) {
        ha_no_memory(asked, bytes);
        return NULL;
    }
    *own = (ha_mapped_own){.mapped.blob = (void **)(void *)(own + 1)};
    return own;
}

HA_IN_ void **ha_mapped_blobs(ha_mapped_own *own) { return (void **)(void *)(own + 1); }

/* The mapping counts as the view does. A view whose leaves have pointers of their own may be made
 * of another mapping, by whose blobs it counts. */
HA_IN_ void ha_share_counts(ha_mapped_own *own, const ha_counts *counts, int by_leaf) {
    const int64_t leaves = own->mapping->rows;
    const ha_row *row = own->mapping->row;
    if (!counts) return;
    own->counts = *counts;
    own->counts.place = (ha_heat_place_ *)(void *)(ha_mapped_blobs(own) + leaves);
    for (int64_t k = 0; k < leaves; k++)
        own->counts.place[k] = by_leaf ? counts->place[k]
                                       : (ha_heat_place_){row[k].blob, row[k].base};
    own->mapping->counts = &own->counts;
}

/* With its mapping: the object as the user has it; without: nothing. */
HA_IN_ ha_mapped *ha_mapped_complete(ha_mapped_own *own, ha_mapping *mapping,
                                     const ha_counts *counts, int by_leaf) {
    if (!mapping) {
        ha_mapped_free(&own->mapped);
        return NULL;
    }
    own->mapping = mapping;
    ha_share_counts(own, counts, by_leaf);
    own->mapped.mapping = mapping;
    return &own->mapped;
}

HA_IN_ ha_mapping *ha_part_mapping(const ha_record *record, const ha_layout *layout,
                                   const ha_shape_ *shape, ha_error *error) {
    int64_t extent[HA_MAPPING_RANK];
    for (int d = 0; d < HA_MAPPING_RANK; d++) extent[d] = shape->extent[d];
    return ha_mapping_new(record, layout, shape->rank, extent, error);
}

/* Its blobs, of a part that begins with field number *field, which goes on; gives how many. */
HA_IN_ int64_t ha_part_blobs(const ha_view_part_ *part, const ha_record *record, int64_t *field,
                             void **blob) {
    const int by_leaf = part->kind == HA_SOA_ && (part->flags & HA_SINGLE_) == 0;
    const int by_field = part->kind == HA_FIELDS_;
    int64_t blobs = 0, leaf = 0;
    for (; leaf < part->leaves; ++*field) {
        const int64_t leaves = ha_field_leaves(&record->field[*field]);
        for (int64_t k = 0; k < leaves; k++)
            if (by_leaf || (by_field && k == 0) || leaf + k == 0)
                blob[blobs++] = part->blob[leaf + k];
        leaf += leaves;
    }
    return blobs;
}

HA_API ha_mapped *ha_view_mapped_(const ha_view_part_ *view, const ha_record *record,
                                  ha_error *error) {
    const ha_asked asked = ha_ask("view_mapped", error);
    ha_layout layout;
    int64_t leaves, field = 0;
    if (ha_check_record(&asked, record, &leaves)) return NULL;
    if (ha_part_is_null(view)) {
        (void)ha_refuse(&asked, HA_ERR_ARGUMENT, 0, "the view is null");
        return NULL;
    }
    ha_mapped_own *own = ha_mapped_object(&asked, leaves);
    if (!own) return NULL;
    if (!ha_part_layout(view, &layout))
        return ha_mapped_complete(own, ha_hand_mapping(&asked, view, record, ha_mapped_blobs(own)),
                                  view->counts, 1);
    const int by_leaf = view->kind == HA_SOA_ && (view->flags & HA_SINGLE_) == 0;
    (void)ha_part_blobs(view, record, &field, ha_mapped_blobs(own));
    return ha_mapped_complete(own, ha_part_mapping(record, &layout, &view->shape, error),
                              view->counts, by_leaf);
}

HA_API void ha_mapped_free(const ha_mapped *records) {
    const ha_mapped_own *own = (const ha_mapped_own *)(const void *)records;
    if (!own) return;
    if (own->mapping) own->mapping->counts = NULL; /* nothing to free */
    ha_mapping_free(own->mapping);
    ha_record_free(own->record);
    HA_LAYOUT_FREE_((void *)(uintptr_t)own);
}

HA_API ha_status ha_view_apply_(const ha_mapped *view, const char *paths, ha_operator operation,
                                double number, const ha_error *why_not, ha_error *error) {
    const ha_applying how = {.paths = paths && *paths ? paths : NULL};
    if (!view) {
        if (error) *error = *why_not;
        return why_not->status;
    }
    const ha_status s = ha_mapped_apply_number(view, operation, number, &how, error);
    ha_mapped_free(view);
    return s;
}

/* ---- split views ----------------------------------------------------------------------------- */

/* The fields as text. */
HA_IN_ void ha_put_fields(ha_text *w, const ha_typed_path_ *path, ptrdiff_t paths) {
    for (ptrdiff_t k = 0; k < paths; k++)
        ha_print(w, "%s%s:%s", k > 0 ? " " : "", path[k].path, ha_dtype_short_name(path[k].type));
}

/* The first leaves as the paths of a split. */
HA_IN_ void ha_put_leaves(ha_text *w, const ha_record *record, ptrdiff_t leaves) {
    for (ptrdiff_t k = 0; k < leaves; k++) {
        const ha_leaf leaf = ha_leaf_of(record, k);
        if (k > 0) ha_print(w, "+");
        ha_put_leaf_name(w, record, &leaf);
    }
}

/* One of the two texts; leaves 0: the fields. */
HA_IN_ void ha_put_split(ha_text *w, const ha_record *record, ptrdiff_t leaves,
                         const ha_typed_path_ *path, ptrdiff_t paths) {
    if (leaves > 0)
        ha_put_leaves(w, record, leaves);
    else
        ha_put_fields(w, path, paths);
}

/* Writes that into new memory. */
HA_IN_ char *ha_split_text(const ha_asked *asked, const ha_record *record, ptrdiff_t leaves,
                           const ha_typed_path_ *path, ptrdiff_t paths) {
    ha_text w = {0};
    ha_put_split(&w, record, leaves, path, paths);
    const size_t bytes = w.length + 1;
    char *text = (char *)HA_LAYOUT_MALLOC_(bytes);
    if (!text) {
        ha_no_memory(asked, bytes);
        return NULL;
    }
    w = ha_text_into(text, bytes);
    ha_put_split(&w, record, leaves, path, paths);
    return text;
}

HA_IN_ ha_record *ha_split_record(const ha_asked *asked, const ha_typed_path_ *path,
                                  ptrdiff_t paths) {
    ha_record *record = NULL;
    char *text = ha_split_text(asked, NULL, 0, path, paths);
    if (text) record = ha_record_parse(text, asked->error);
    HA_LAYOUT_FREE_(text);
    return record;
}

HA_IN_ ha_mapping *ha_split_mapping(const ha_asked *asked, const ha_view_part_ *part,
                                    const ha_record *record) {
    ha_layout layout[3];
    ha_mapping *mapping = NULL;
    char *text = ha_split_text(asked, record, part[0].leaves, NULL, 0);
    if (!text) return NULL;
    (void)ha_part_layout(&part[0], &layout[1]);
    (void)ha_part_layout(&part[1], &layout[2]);
    layout[0] = (ha_layout){.kind = HA_LAYOUT_SPLIT,
                            .flags = HA_LAYOUT_SEPARATE,
                            .paths = text,
                            .first = &layout[1],
                            .second = &layout[2]};
    mapping = ha_part_mapping(record, layout, &part->shape, asked->error);
    HA_LAYOUT_FREE_(text);
    return mapping;
}

HA_API ha_mapped *ha_view_split_mapped_(const ha_view_part_ *part, const ha_typed_path_ *path,
                                        ptrdiff_t paths, ha_error *error) {
    const ha_asked asked = ha_ask("view_mapped", error);
    ha_record *record = ha_split_record(&asked, path, paths);
    if (!record) return NULL;
    if (ha_part_is_null(&part[0]) || ha_part_is_null(&part[1])) {
        (void)ha_refuse(&asked, HA_ERR_ARGUMENT, 0, "the view is null");
        ha_record_free(record);
        return NULL;
    }
    ha_mapped_own *own = ha_mapped_object(&asked, part[0].leaves + part[1].leaves);
    if (!own) {
        ha_record_free(record);
        return NULL;
    }
    own->record = record;
    int64_t blob = 0, field = 0;
    for (int p = 0; p < 2; p++)
        blob += ha_part_blobs(&part[p], record, &field, ha_mapped_blobs(own) + blob);
    return ha_mapped_complete(own, ha_split_mapping(&asked, part, record), part->counts, 0);
}

#endif
