/* Arithmetic with whole views: what is asked, and whether it can be done. */
#ifndef HARRAY_LAYOUT_IMPL_ARITHMETIC_ARITHMETIC_H
#define HARRAY_LAYOUT_IMPL_ARITHMETIC_ARITHMETIC_H

#include "counts.h"
#include "tiles.h"

typedef enum ha_apply_kind {
    HA_RIGHT_VIEW,
    HA_RIGHT_ONE, /* the first record of the view, for all */
    HA_RIGHT_RECORD,
    HA_RIGHT_SCALAR,
    HA_RIGHT_NUMBER
} ha_apply_kind;

/* The right side; what its kind does not have is NULL. */
typedef struct ha_apply_right {
    ha_apply_kind kind;
    const ha_mapped *view;
    const ha_record *record; /* of the struct at `value` */
    const char *value;
    ha_dtype type; /* of the value, if that is one for all fields */
    double number;
} ha_apply_right;

/* Who is asked for what. */
typedef struct ha_apply_asked {
    const ha_asked *asked;
    const ha_apply_right *right;
    const ha_applying *how;
    ha_named_leaf *named; /* room for looking at names */
    ha_leaf_pair *pair;
    int64_t pairs;
    ha_constant number; /* right->number for the last leaf, of this type */
    ha_dtype number_type;
} ha_apply_asked;

/* ---- where ----------------------------------------------------------------------------------- */

/* The indices of dimension d that are inside of both sides. */
HA_IN_ void ha_apply_clip(ha_apply_plan *p, const ha_applying *how, int d) {
    int64_t first = 0, last = p->left->mapping->extent[d];
    const int64_t shift = how->shift && p->right ? how->shift[d] : 0;
    if (how->first) first = ha_larger(first, how->first[d]);
    if (how->last) last = ha_smaller(last, how->last[d]);
    if (p->right) {
        const int64_t extent = p->right->mapping->extent[d];
        int64_t end; /* a shift that far is out of all extents */
        if (shift < 0) first = ha_larger(first, shift == INT64_MIN ? INT64_MAX : -shift);
        if (!__builtin_sub_overflow(extent, shift, &end)) last = ha_smaller(last, end);
    }
    p->first[d] = first;
    p->last[d] = ha_larger(first, last);
    p->shift[d] = shift;
}

HA_IN_ ha_status ha_apply_region(const ha_asked *asked, ha_apply_plan *p, const ha_applying *how) {
    const ha_mapping *m = p->left->mapping;
    if (p->right && p->right->mapping->rank != m->rank)
        return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "the left side has rank %d, the right one %d",
                         (int)m->rank, (int)p->right->mapping->rank);
    p->records = 1;
    for (int d = 0; d < m->rank; d++) {
        ha_apply_clip(p, how, d);
        if (p->first[d] == p->last[d]) p->records = 0;
    }
    for (int d = 0; d < m->rank && p->records > 0; d++)
        if (!ha_product(p->records, p->last[d] - p->first[d], &p->records)) p->records = INT64_MAX;
    return HA_OK;
}

/* ---- memory in common ------------------------------------------------------------------------ */

/* One row of both sides: are its blobs the same ones? */
HA_IN_ int ha_apply_same_blobs(const ha_apply_plan *p, const ha_row *row) {
    const ha_mapping *m = p->left->mapping;
    const ha_coding *coding = ha_row_coding(m, row);
    int same = p->left->blob[row->blob] == p->right->blob[row->blob];
    for (int64_t b = 0; coding && b < coding->bytes; b++) {
        const int32_t blob = m->byte_row[coding->byte_row + b].blob;
        same &= p->left->blob[blob] == p->right->blob[blob];
    }
    return same;
}

/* Does the row have the same values at the same places on both sides, whatever the index? */
HA_IN_ int ha_apply_is_itself(const ha_apply_plan *p, const ha_leaf_pair *pair) {
    const ha_mapping *l = p->left->mapping, *r = p->right->mapping;
    const ha_row *a = &l->row[pair->to_number], *b = &r->row[pair->from_number];
    for (int d = 0; d < l->rank; d++)
        if (p->shift[d] != 0) return 0;
    if (a->blob < 0 || b->blob < 0) return 1; /* no memory */
    if (a == b) return ha_apply_same_blobs(p, a);
    return ha_apply_is_plain(a) && ha_apply_is_plain(b) && pair->to.type == pair->from.type &&
           HA_NUMBER_(p->left->blob[a->blob]) + (uint64_t)a->base ==
               HA_NUMBER_(p->right->blob[b->blob]) + (uint64_t)b->base &&
           a->lanes == b->lanes && a->lane_stride == b->lane_stride &&
           a->block_stride == b->block_stride &&
           ha_copy_same_order(&l->linearizer[a->linearizer], &r->linearizer[b->linearizer]);
}

HA_IN_ ha_status ha_apply_check_memory(const ha_apply_asked *a, const ha_apply_plan *p) {
    int apart = 0;
    ha_blob_overlap overlap = {.is_there = 0};
    for (int64_t k = 0; k < a->pairs; k++)
        apart |= a->pair[k].is_chosen && !ha_apply_is_itself(p, &a->pair[k]);
    if (!apart) return HA_OK;
    const ha_status s = ha_find_overlap(a->asked, p->left, p->right, &overlap);
    if (s || !overlap.is_there) return s;
    return ha_refuse(a->asked, HA_ERR_ARGUMENT, 0,
                     "blob %d of the left side and blob %d of the right one overlap, and "
                     "not every field meets itself",
                     (int)overlap.blob[0], (int)overlap.blob[1]);
}

/* ---- leaves ---------------------------------------------------------------------------------- */

/* The number, as a constant for a leaf of this type. With integers it stays a double, also if it is
 * whole: what is computed must not depend on that. */
HA_IN_ ha_constant ha_apply_number_for(double number, ha_dtype type) {
    ha_constant c = {.type = HA_DTYPE_double};
    ha_midway v;
    memcpy(c.value, &number, sizeof number);
    if (!ha_is_floating(ha_type_of_part(type))) return c;
    v.real[0] = number;
    c.type = ha_type_of_part(type);
    ha_store_midway(c.value, c.type, &v, HA_DTYPE_double, 1);
    return c;
}

/* The value of the first record; of none, where nothing is computed, there need be no memory. */
HA_IN_ void ha_apply_take_first(const ha_apply_plan *p, const ha_mapped *view,
                                const ha_leaf_pair *pair, ha_constant *c) {
    static const int64_t first[HA_MAPPING_RANK];
    c->type = pair->from.type;
    if (p->records > 0) ha_mapped_get(view, pair->from_number, first, c->value);
}

HA_IN_ void ha_apply_make_leaf(ha_apply_asked *a, const ha_apply_plan *p, const ha_leaf_pair *pair,
                               ha_apply_leaf *leaf) {
    const ha_apply_right *right = a->right;
    leaf->left = pair->to_number;
    leaf->left_type = pair->to.type;
    leaf->right = p->right ? pair->from_number : -1;
    if (p->right) {
        leaf->right_type = pair->from.type;
        return;
    }
    if (right->kind == HA_RIGHT_ONE) {
        ha_apply_take_first(p, right->view, pair, &leaf->constant);
    } else if (right->kind == HA_RIGHT_NUMBER) {
        if (a->number_type != leaf->left_type)
            a->number = ha_apply_number_for(right->number, leaf->left_type);
        a->number_type = leaf->left_type;
        leaf->constant = a->number;
    } else {
        leaf->constant.type = right->record ? pair->from.type : right->type;
        memcpy(leaf->constant.value, right->value + (right->record ? pair->from.offset : 0),
               ha_dtype_size(leaf->constant.type));
    }
    leaf->right_type = leaf->constant.type;
}

/* Why an operation cannot be done with this leaf; NULL: it can. */
HA_IN_ const char *ha_apply_mistake(const ha_apply_plan *p, const ha_apply_leaf *leaf,
                                    const ha_apply_right *right) {
    const ha_mapping *m = p->left->mapping;
    const ha_row *row = &m->row[leaf->left];
    if (ha_is_complex(leaf->right_type) && !ha_is_complex(leaf->left_type))
        return "a complex number makes no real one";
    if (leaf->left_type == HA_DTYPE_bool && p->operation != HA_ASSIGN)
        return "a bool can be assigned only";
    if (leaf->right < 0 && right->kind != HA_RIGHT_ONE && p->operation == HA_DIVIDE &&
        ha_constant_is_zero(&leaf->constant) && !ha_is_floating(ha_type_of_part(leaf->left_type)) &&
        (right->kind == HA_RIGHT_NUMBER || !ha_is_floating(leaf->right_type)))
        return "an integer cannot be divided by 0";
    if (row->blob < 0) return NULL;
    if (p->records > 1 && row->linearizer >= 0 && row->block_stride == 0 &&
        (row->lanes == 1 || row->lane_stride == 0))
        return "the left side has one place for the values of all records";
    if (p->records > 0 && !ha_has_blobs(p->left, row)) return "its blob on the left side is NULL";
    if (p->records > 0 && leaf->right >= 0 &&
        !ha_has_blobs(p->right, &p->right->mapping->row[leaf->right]))
        return "its blob on the right side is NULL";
    return NULL;
}

HA_IN_ ha_status ha_apply_add_leaves(ha_apply_asked *a, ha_apply_plan *p) {
    for (int64_t k = 0; k < a->pairs; k++) {
        if (!a->pair[k].is_chosen) continue;
        ha_apply_leaf *leaf = &p->leaf[p->leaves]; /* one more than is there yet */
        ha_apply_make_leaf(a, p, &a->pair[k], leaf);
        const char *mistake = ha_apply_mistake(p, leaf, a->right);
        if (mistake) return ha_copy_refuse_leaf(a->asked, p->left->mapping, leaf->left, mistake);
        if (p->records > 0) ha_apply_add_leaf(p);
    }
    return HA_OK;
}

/* Each leaf of the left side with itself: of one value for all, and of the same record. */
HA_IN_ int64_t ha_apply_pair_all(const ha_mapping *m, ha_leaf_pair *pair) {
    int64_t number = 0;
    for (int64_t f = 0; f < m->record->fields; f++) {
        const int64_t leaves = ha_field_leaves(&m->record->field[f]);
        for (int64_t k = 0; k < leaves; k++, number++) {
            ha_leaf_pair *next = &pair[number];
            ha_leaf_of_field(m->record, f, k, &next->to);
            next->from.type = next->to.type; /* all that is asked for */
            next->from.offset = next->to.offset;
            next->to_number = next->from_number = number;
            next->is_chosen = 0;
        }
    }
    return number;
}

HA_IN_ ha_status ha_apply_match(ha_apply_asked *a, ha_apply_plan *p, int64_t right_leaves) {
    const ha_mapping *m = p->left->mapping;
    const ha_record *other = a->right->view ? a->right->view->mapping->record : a->right->record;
    a->pairs = other && other != m->record
                   ? ha_pair_leaves(m->record, m->rows, other, right_leaves, a->named, a->pair)
                   : ha_apply_pair_all(m, a->pair);
    if (a->pairs == 0)
        return ha_refuse(a->asked, HA_ERR_ARGUMENT, 0, "the two sides have no field in common");
    ha_status s = ha_choose_paths(a->asked, m->record, a->pair, a->pairs, a->how->paths,
                                  other && other != m->record ? "both records" : "the record");
    if (!s && p->right) s = ha_apply_check_memory(a, p);
    return s ? s : ha_apply_add_leaves(a, p);
}

/* ---- all ------------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_apply_work(const ha_asked *asked, ha_apply_plan *p, int threads) {
    const int64_t useful = p->records / 16384 + 1; /* no more threads than there is work for */
    const int64_t most = ha_smaller(ha_larger(threads, 1), HA_APPLY_MOST_THREADS);
    const int64_t workers = ha_smaller(most, useful);
    const size_t bytes = (size_t)workers * sizeof(ha_apply_worker);
    ha_apply_worker *worker = (ha_apply_worker *)HA_LAYOUT_MALLOC_(bytes);
    ha_status s;
    if (!worker) return ha_no_memory(asked, bytes);
    p->workers = workers;
    s = ha_apply_complete(asked, p);
    for (int64_t k = 0; k < workers; k++) {
        worker[k].plan = p;
        worker[k].number = k;
        worker[k].workers = workers;
        worker[k].is_started = 0;
    }
    if (!s) ha_apply_all(worker, workers);
    HA_LAYOUT_FREE_(p->patterns);
    HA_LAYOUT_FREE_(worker);
    return s;
}

/* With room for all of the plan, and for what is needed to make it. */
HA_IN_ ha_status ha_apply_planned(ha_apply_asked *a, ha_apply_plan *p, int64_t right_leaves) {
    const size_t n = (size_t)p->left->mapping->rows, both = n + (size_t)right_leaves;
    const size_t bytes = n * (2 * sizeof *p->part + sizeof *p->leaf + sizeof *p->walk +
                              sizeof *a->pair) +
                         both * sizeof *a->named + 15;
    char *room = (char *)HA_LAYOUT_MALLOC_(bytes);
    if (!room) return ha_no_memory(a->asked, bytes);
    p->part = (ha_apply_part *)(void *)(room + (16 - HA_NUMBER_(room) % 16) % 16);
    p->leaf = (ha_apply_leaf *)(void *)(p->part + 2 * n);
    p->walk = (ha_apply_walk *)(void *)(p->leaf + n);
    a->pair = (ha_leaf_pair *)(void *)(p->walk + n);
    a->named = (ha_named_leaf *)(void *)(a->pair + n);
    ha_status s = ha_apply_match(a, p, right_leaves);
    if (!s && p->parts + p->leaves > 0) s = ha_apply_work(a->asked, p, a->how->threads);
    if (!s) ha_apply_count_values(p, a->pair, a->pairs);
    HA_LAYOUT_FREE_(room);
    return s;
}

/* Is there all that the two sides have to have? */
HA_IN_ ha_status ha_apply_check_sides(const ha_asked *asked, const ha_mapped *left,
                                      const ha_apply_right *right) {
    const int has_value = right->kind == HA_RIGHT_RECORD || right->kind == HA_RIGHT_SCALAR;
    ha_status s = ha_check_mapped(asked, left, "the left side");
    if (!s && right->kind == HA_RIGHT_VIEW)
        s = ha_check_mapped(asked, right->view, "the right side");
    if (s) return s;
    if (right->kind == HA_RIGHT_RECORD && !right->record)
        return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "the record of the right side is NULL");
    if (right->kind == HA_RIGHT_SCALAR && ha_dtype_size(right->type) == 0)
        return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "the value has a type that is none");
    if (has_value && !right->value)
        return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "the value of the right side is NULL");
    return HA_OK;
}

HA_IN_ ha_status ha_apply(const ha_asked *asked, const ha_mapped *left, ha_operator operation,
                          const ha_apply_right *right, const ha_applying *how) {
    static const ha_applying everything;
    ha_apply_plan p = {.left = left,
                       .right = right->kind == HA_RIGHT_VIEW ? right->view : NULL,
                       .operation = operation};
    ha_apply_asked a = {.asked = asked, .right = right, .how = how ? how : &everything};
    int64_t right_leaves = 0;
    ha_status s = ha_apply_check_sides(asked, left, right);
    if (s) return s;
    if ((unsigned)operation > HA_DIVIDE)
        return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "there is no operation %d", (int)operation);
    if (right->view) right_leaves = right->view->mapping->rows;
    if (right->record == left->mapping->record)
        right_leaves = left->mapping->rows;
    else if (right->record)
        s = ha_check_record(asked, right->record, &right_leaves);
    if (!s) s = ha_apply_region(asked, &p, a.how);
    return s ? s : ha_apply_planned(&a, &p, right_leaves);
}

HA_API ha_status ha_mapped_apply_view(const ha_mapped *left, ha_operator operation,
                                      const ha_mapped *right, const ha_applying *how,
                                      ha_error *error) {
    const ha_asked asked = ha_ask("ha_mapped_apply_view", error);
    return ha_apply(&asked, left, operation,
                    &(ha_apply_right){.kind = HA_RIGHT_VIEW, .view = right}, how);
}

HA_API ha_status ha_mapped_apply_record(const ha_mapped *left, ha_operator operation,
                                        const ha_record *record, const void *value,
                                        const ha_applying *how, ha_error *error) {
    const ha_asked asked = ha_ask("ha_mapped_apply_record", error);
    const ha_apply_right right = {
        .kind = HA_RIGHT_RECORD, .record = record, .value = (const char *)value};
    return ha_apply(&asked, left, operation, &right, how);
}

HA_API ha_status ha_mapped_apply_scalar(const ha_mapped *left, ha_operator operation, ha_dtype type,
                                        const void *value, const ha_applying *how,
                                        ha_error *error) {
    const ha_asked asked = ha_ask("ha_mapped_apply_scalar", error);
    const ha_apply_right right = {
        .kind = HA_RIGHT_SCALAR, .type = type, .value = (const char *)value};
    return ha_apply(&asked, left, operation, &right, how);
}

HA_API ha_status ha_mapped_apply_number(const ha_mapped *left, ha_operator operation, double number,
                                        const ha_applying *how, ha_error *error) {
    const ha_asked asked = ha_ask("ha_mapped_apply_number", error);
    return ha_apply(&asked, left, operation,
                    &(ha_apply_right){.kind = HA_RIGHT_NUMBER, .number = number}, how);
}

#endif
