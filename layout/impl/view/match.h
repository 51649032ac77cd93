/* Which layout of a view a mapping is. */
#ifndef HARRAY_LAYOUT_IMPL_VIEW_MATCH_H
#define HARRAY_LAYOUT_IMPL_VIEW_MATCH_H

#include "../../any.h"
#include "../../detail/layouts.h"
#include "../record/all.h"

/* What is asked: of each leaf in turn, the row with all lanes alike. */
typedef struct ha_matching {
    const ha_mapping *mapping;
    const ha_record *record; /* the view's */
    ha_asked asked;
    int64_t lanes, packed; /* common lanes, 1: flat; bytes of the packed record */
} ha_matching;

HA_IN_ ha_status ha_refuse_leaf(const ha_matching *m, int64_t leaf, const char *why) {
    char name[200];
    (void)ha_record_leaf_name(m->record, leaf, name, sizeof name);
    return ha_refuse(&m->asked, HA_ERR_ARGUMENT, leaf, "%s %s", name, why);
}

/* A view has values as they are. */
HA_IN_ ha_status ha_refuse_coded(const ha_matching *m, int64_t leaf, const ha_coding *c) {
    char text[80];
    if (c->bits > 0)
        snprintf(text, sizeof text, "is stored as %d bits: no view has it", (int)c->bits);
    else
        snprintf(text, sizeof text, "is stored as %s%s%s: no view has it",
                 ha_dtype_short_name(c->stored), c->swapped ? ", swapped" : "",
                 c->bytes > 0 ? ", byte by byte" : "");
    return ha_refuse_leaf(m, leaf, text);
}

/* Of a leaf that is there, in a record that was checked. */
HA_IN_ ha_leaf ha_leaf_of(const ha_record *record, int64_t number) {
    ha_leaf leaf;
    int64_t f = 0, leaves;
    while ((leaves = ha_field_leaves(&record->field[f])) <= number) {
        number -= leaves;
        f++;
    }
    ha_leaf_of_field(record, f, number, &leaf);
    return leaf;
}

/* Is the view's record a right one, and are the leaves of the mapping's record the same? */
HA_IN_ ha_status ha_match_record(const ha_matching *m) {
    const ha_record *theirs = m->mapping->record;
    const ha_status s = ha_record_check(m->record, m->asked.error);
    if (s != HA_OK || theirs == m->record) return s;
    const int64_t leaves = ha_record_leaves(m->record);
    if (ha_record_leaves(theirs) != leaves)
        return ha_refuse(&m->asked, HA_ERR_ARGUMENT, 0,
                         "the mapping is of %lld leaves, the view of %lld",
                         (long long)ha_record_leaves(theirs), (long long)leaves);
    for (int64_t i = 0; i < leaves; i++) {
        char name[200], other[200];
        if (ha_leaf_of(m->record, i).type != ha_leaf_of(theirs, i).type ||
            ha_record_leaf_name(m->record, i, name, sizeof name) !=
                ha_record_leaf_name(theirs, i, other, sizeof other) ||
            strcmp(name, other) != 0)
            return ha_refuse_leaf(m, i, "is another field, or of another type, in the mapping");
    }
    return HA_OK;
}

HA_IN_ bool ha_same_linear(const ha_linearizer *a, const ha_linearizer *b) {
    if (a == b) return true;
    if (a->morton != b->morton || a->pad != b->pad || a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->stride[d] != b->stride[d] || a->dimension[d] != b->dimension[d]) return false;
    return true;
}

/* The order, if it is one of a view's. Where extents of 1 leave a choice, the one that is meant. */
HA_IN_ bool ha_match_order(const ha_mapping *mapping, const ha_linearizer *l,
                           ha_matched_ *matched) {
    const int rank = mapping->rank;
    const int likely = rank > 1 && l->dimension[rank - 1] == 0 ? HA_COL : HA_ROW;
    for (int k = 0; k < 3; k++) {
        const int order = (likely + k) % 3;
        bool fits = (l->morton != 0) == (order == HA_MORTON);
        ha_shape_ shape = {rank, order, 0, l->pad, {1, 1, 1, 1}};
        for (int d = 0; d < rank; d++) shape.extent[d] = mapping->extent[d];
        for (int d = 0; d < rank && fits; d++) {
            const int64_t bit = rank - 1 - d;
            const int64_t place = ha_place_(shape, d == 0, d == 1, d == 2, d == 3);
            const bool one = mapping->extent[d] <= 1; /* then its stride is never used */
            fits = one || l->stride[d] == (order == HA_MORTON ? bit : place);
        }
        matched->order = order;
        matched->multiple = order == HA_MORTON ? 1 : l->pad;
        if (fits) return true;
    }
    return false;
}

/* Lanes in which the row is not just flat. */
HA_IN_ int64_t ha_lanes_of_row(const ha_row *row) {
    return row->block_stride == row->lanes * row->lane_stride ? 1 : row->lanes;
}

/* A row's strides from block to block and from lane to lane, in the common lanes. */
HA_IN_ void ha_row_strides(const ha_row *row, int64_t lanes, ptrdiff_t *stride) {
    const bool flat = row->lanes == 1 || ha_lanes_of_row(row) == 1;
    const int64_t step = row->lanes == 1 ? row->block_stride : row->lane_stride;
    stride[0] = flat ? step * (lanes == 1 ? 1 : lanes) : row->block_stride;
    stride[1] = flat ? step : row->lane_stride;
}

HA_IN_ ha_status ha_match_rows(ha_matching *m, void *const *blobs, char **leaf, ptrdiff_t *stride,
                               const ha_linearizer *linear) {
    const ha_mapping *mapping = m->mapping;
    m->lanes = 1;
    m->packed = 0;
    for (int64_t i = 0; i < mapping->rows; i++) {
        const int64_t lanes = ha_lanes_of_row(&mapping->row[i]);
        if (lanes == 1) continue;
        if (m->lanes != 1 && m->lanes != lanes)
            return ha_refuse_leaf(m, i, "has other lanes than a field before it");
        m->lanes = lanes;
    }
    for (int64_t i = 0; i < mapping->rows; i++) {
        const ha_row *row = &mapping->row[i];
        const ha_leaf described = ha_leaf_of(m->record, i);
        if (row->blob < 0) return ha_refuse_leaf(m, i, "is not stored");
        if (row->coding != 0) return ha_refuse_coded(m, i, &mapping->coding[row->coding - 1]);
        if (row->linearizer < 0) return ha_refuse_leaf(m, i, "is in a tree: no view is one");
        if (!ha_same_linear(linear, &mapping->linearizer[row->linearizer]))
            return ha_refuse_leaf(m, i, "has another order than the first field");
        ha_row_strides(row, m->lanes, stride + 2 * i);
        leaf[i] = (char *)((uintptr_t)blobs[row->blob] + (uintptr_t)row->base); /* of none: NULL */
        const int64_t alignment = (int64_t)ha_dtype_alignment(described.type);
        if ((int64_t)((uintptr_t)leaf[i] % (uintptr_t)alignment) != 0 ||
            stride[2 * i] % alignment != 0 || stride[2 * i + 1] % alignment != 0)
            return ha_refuse_leaf(m, i,
                                  "may be misaligned: take the layout 'aligned', or a view "
                                  "that has it at compile time, with _get and _set");
        m->packed += (int64_t)ha_dtype_size(described.type);
    }
    return HA_OK;
}

/* Are all leaves where this kind has them? Counted from where the first one makes its blob begin. */
HA_IN_ bool ha_match_kind(const ha_matching *m, int kind, char *const *leaf,
                          const ptrdiff_t *stride) {
    const int64_t lanes = kind == HA_AOSOA_ ? m->lanes : 1;
    uintptr_t begin = 0; /* numbers: there may be no memory for no records */
    int64_t packed = 0;
    if ((m->lanes != 1) != (kind == HA_AOSOA_)) return false;
    for (int64_t i = 0; i < m->mapping->rows; i++) {
        const ha_leaf described = ha_leaf_of(m->record, i);
        const int64_t size = (int64_t)ha_dtype_size(described.type);
        const bool own = kind == HA_AOS_ || kind == HA_ONE_;
        const int64_t elements = ha_field_leaves(&m->record->field[described.field]);
        const int64_t lane = kind == HA_AOS_      ? m->record->size
                             : kind == HA_ONE_    ? 0
                             : kind == HA_PACKED_ ? m->packed
                             : kind == HA_FIELDS_ ? size * elements
                                                  : size;
        const bool goes_on = i > 0 && ha_leaf_of(m->record, i - 1).field == described.field;
        if (stride[2 * i + 1] != lane) return false;
        if (kind == HA_AOSOA_ && stride[2 * i] != m->packed * lanes) return false;
        const int64_t before = own ? described.offset : packed * lanes;
        const uintptr_t first = (uintptr_t)leaf[i] - (uintptr_t)before;
        if (kind == HA_FIELDS_ && goes_on &&
            (uintptr_t)leaf[i] - (uintptr_t)leaf[i - 1] != (uintptr_t)size)
            return false;
        if (begin != 0 && first != begin && kind != HA_SOA_ && kind != HA_FIELDS_) return false;
        begin = first;
        packed += size;
    }
    return true;
}

HA_IN_ ha_status ha_refuse_no_mapping(const ha_asked *asked) {
    return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "there is no mapping: it is NULL");
}

HA_API ha_status ha_view_match_(const ha_mapping *mapping, void *const *blobs,
                                const ha_record *record, int rank, int kind, ha_matched_ *matched,
                                char **leaf, ptrdiff_t *stride, ha_error *error) {
    const int kinds[] = {kind, HA_SOA_, HA_AOS_, HA_PACKED_, HA_FIELDS_, HA_AOSOA_, HA_ONE_};
    ha_matching m = {.mapping = mapping, .record = record, .asked = ha_ask("view_from", error)};
    if (!mapping) return ha_refuse_no_mapping(&m.asked);
    if (mapping->rank != rank)
        return ha_refuse(&m.asked, HA_ERR_ARGUMENT, 0, "the mapping has rank %d, the view %d",
                         mapping->rank, rank);
    ha_status s = ha_match_record(&m);
    if (s != HA_OK) return s;
    if (mapping->rows != ha_record_leaves(record)) /* of one written by hand */
        return ha_refuse(&m.asked, HA_ERR_ARGUMENT, 0, "the mapping has %lld rows for %lld leaves",
                         (long long)mapping->rows, (long long)ha_record_leaves(record));
    const int32_t first = mapping->row[0].linearizer;
    const ha_linearizer *linear = mapping->linearizer + (first < 0 ? 0 : first);
    s = ha_match_rows(&m, blobs, leaf, stride, linear);
    if (s != HA_OK) return s;
    if (!ha_match_order(mapping, linear, matched))
        return ha_refuse(&m.asked, HA_ERR_ARGUMENT, 0,
                         "the mapping permutes its dimensions: no view does");
    matched->lanes = m.lanes == 1 ? 0 : m.lanes;
    matched->kind = HA_STRIDED_;
    matched->structs = NULL;
    if (kind < 0 && mapping->counts) return HA_OK; /* no other one of these counts */
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        if (kinds[k] < 0 || !ha_match_kind(&m, kinds[k], leaf, stride)) continue;
        matched->kind = kinds[k];
        const uintptr_t before = (uintptr_t)ha_leaf_of(record, 0).offset;
        if (kinds[k] == HA_AOS_ || kinds[k] == HA_ONE_)
            matched->structs = (char *)((uintptr_t)leaf[0] - before);
        break;
    }
    return HA_OK;
}

HA_API void ha_no_case_(const char *with, int kind, ptrdiff_t lanes, int order, const char *site) {
    static const char *const names[] = {"aos", "aos(packed)",         "soa",        "aosoa",
                                        "one", "none but by strides", "soa(fields)"};
    fprintf(stderr, "harray: %s: %s: the view's layout is ", site, with);
    if (kind == HA_AOSOA_)
        fprintf(stderr, "aosoa(%td)", lanes);
    else
        fputs(names[kind], stderr);
    fprintf(stderr, "%s\n", order == HA_COL ? "@col" : order == HA_MORTON ? "@morton" : "");
    abort();
}

HA_API ha_status ha_view_differs_(const ha_mapping *mapping, const char *view, int cases,
                                  ha_error *error) {
    static const char *const names[] = HA_CASE_NAMES_;
    const ha_asked asked = ha_ask("view_from", error);
    char layouts[120] = "";
    ha_text w = ha_text_into(layouts, sizeof layouts);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cases & 1 << i) ha_print(&w, "%s%s", w.length ? ", " : ": ", names[i]);
    return ha_refuse(&asked, HA_ERR_ARGUMENT, 0, "%s is not %s of the view %s%s",
                     mapping->text ? mapping->text : "the mapping",
                     cases ? "one of the layouts" : "the layout", view, layouts);
}

HA_API void *ha_mapping_memory(const ha_mapping *mapping, void **blob, ha_error *error) {
    const ha_asked asked = ha_ask("view_new_from", error);
    size_t room = HA_BLOB_ALIGN;
    if (!mapping) {
        ha_refuse_no_mapping(&asked);
        return NULL;
    }
    for (int32_t b = 0; b < mapping->blobs; b++)
        room = ha_plus_(room, ha_whole_lines_((size_t)mapping->blob[b].bytes));
    char *memory = (char *)ha_blob_new_(room), *next = memory;
    if (!memory) {
        ha_no_memory(&asked, room);
        return NULL;
    }
    for (int32_t b = 0; b < mapping->blobs; b++) {
        blob[b] = next;
        next += ha_whole_lines_((size_t)mapping->blob[b].bytes);
    }
    return memory;
}

HA_API void *ha_view_memory_(const ha_mapping *mapping, void **blob, int32_t most,
                             ha_error *error) {
    const ha_asked asked = ha_ask("view_new_from", error);
    if (!mapping || mapping->blobs <= most) return ha_mapping_memory(mapping, blob, error);
    ha_refuse(&asked, HA_ERR_ARGUMENT, 0,
              "the mapping is of another record: it has %d blobs, and the view's at most %d",
              (int)mapping->blobs, (int)most);
    return NULL;
}

#endif
