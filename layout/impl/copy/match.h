/* Which leaf of one record is which of another: that of the same name. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_MATCH_H
#define HARRAY_LAYOUT_IMPL_COPY_MATCH_H

#include "../record/all.h"

/* A leaf and a number made of its name. */
typedef struct ha_named_leaf {
    uint64_t hash;
    ha_leaf leaf;
    int64_t number;
} ha_named_leaf;

HA_IN_ uint64_t ha_leaf_hash(const ha_record *record, const ha_leaf *leaf) {
    const char *path = record->field[leaf->field].path, *piece;
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    char number[24];
    size_t length;
    int k = 0;
    while (ha_name_piece(leaf, &path, &k, number, &piece, &length))
        for (size_t i = 0; i < length; i++)
            hash = (hash ^ (unsigned char)piece[i]) * 1099511628211u;
    return hash;
}

HA_IN_ void ha_name_leaves(const ha_record *record, ha_named_leaf *named) {
    int64_t number = 0;
    for (int64_t f = 0; f < record->fields; f++) {
        const int64_t leaves = ha_field_leaves(&record->field[f]);
        for (int64_t k = 0; k < leaves; k++, number++) {
            ha_leaf_of_field(record, f, k, &named[number].leaf);
            named[number].hash = ha_leaf_hash(record, &named[number].leaf);
            named[number].number = number;
        }
    }
}

HA_IN_ int ha_by_hash(const void *first, const void *second) {
    const uint64_t x = ((const ha_named_leaf *)first)->hash;
    const uint64_t y = ((const ha_named_leaf *)second)->hash;
    return x < y ? -1 : x > y;
}

/* Names end their pieces at the same places when they are the same. */
HA_IN_ int ha_same_leaf_name(const ha_record *one, const ha_leaf *a, const ha_record *other,
                             const ha_leaf *b) {
    const char *path[2] = {one->field[a->field].path, other->field[b->field].path}, *piece[2];
    char number[2][24];
    size_t length[2];
    int k[2] = {0, 0};
    for (;;) {
        const int more = ha_name_piece(a, &path[0], &k[0], number[0], &piece[0], &length[0]);
        if (more != ha_name_piece(b, &path[1], &k[1], number[1], &piece[1], &length[1])) return 0;
        if (!more) return 1;
        if (length[0] != length[1] || memcmp(piece[0], piece[1], length[0]) != 0) return 0;
    }
}

/* The leaf of `record`, whose n are sorted by hash, of the same name as this one of another; NULL:
 * there is none. */
HA_IN_ const ha_named_leaf *ha_find_namesake(const ha_record *record, const ha_named_leaf *sorted,
                                             int64_t n, const ha_record *other,
                                             const ha_named_leaf *wanted) {
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (sorted[middle].hash < wanted->hash)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < n && sorted[low].hash == wanted->hash; low++)
        if (ha_same_leaf_name(record, &sorted[low].leaf, other, &wanted->leaf)) return &sorted[low];
    return NULL;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

typedef struct ha_leaf_pair {
    ha_leaf to, from;
    int64_t to_number, from_number;
    int is_chosen;
} ha_leaf_pair;

/* Have both the same fields in the same order, perhaps of other types? Then they need not be looked for. */
HA_IN_ int ha_same_fields(const ha_record *to, const ha_record *from) {
    if (to == from) return 1;
    if (to->fields != from->fields) return 0;
    for (int64_t f = 0; f < to->fields; f++)
        if (strcmp(to->field[f].path, from->field[f].path) != 0) return 0;
    return 1;
}

/* The first leaf of a field, and from one to the next: faster than one by one by their numbers. */
HA_IN_ void ha_start_leaf(const ha_record *record, int64_t f, ha_leaf *leaf) {
    leaf->field = f;
    for (int k = 0; k < HA_MOST_SUBSCRIPTS; k++) leaf->subscript[k] = 0;
    leaf->type = record->field[f].type;
    leaf->offset = record->field[f].offset;
}

HA_IN_ void ha_step_leaf(const ha_field *field, const int64_t *count, int counts, ha_leaf *leaf) {
    for (int k = counts - 1; k >= 0; k--) {
        leaf->offset += field->stride[k];
        if (++leaf->subscript[k] < count[k]) return;
        leaf->offset -= count[k] * field->stride[k];
        leaf->subscript[k] = 0;
    }
}

HA_IN_ int64_t ha_pair_in_order(const ha_record *to, const ha_record *from, ha_leaf_pair *pair) {
    int64_t pairs = 0;
    for (int64_t f = 0; f < to->fields; f++) {
        int64_t count[HA_MOST_SUBSCRIPTS], leaves = 1;
        const int counts = ha_field_counts(&to->field[f], count);
        for (int k = 0; k < counts; k++) leaves *= count[k];
        for (int64_t k = 0; k < leaves; k++, pairs++) {
            ha_leaf_pair *one = &pair[pairs];
            if (k == 0) {
                ha_start_leaf(to, f, &one->to);
                ha_start_leaf(from, f, &one->from);
            } else {
                *one = one[-1];
                ha_step_leaf(&to->field[f], count, counts, &one->to);
                ha_step_leaf(&from->field[f], count, counts, &one->from);
            }
            one->to_number = one->from_number = pairs;
            one->is_chosen = 0;
        }
    }
    return pairs;
}

/* All pairs, in the order of the target's leaves; `work` has room for the named leaves of both. */
HA_IN_ int64_t ha_pair_leaves(const ha_record *to, int64_t to_leaves, const ha_record *from,
                              int64_t from_leaves, ha_named_leaf *work, ha_leaf_pair *pair) {
    ha_named_leaf *targets = work, *sources = work + to_leaves;
    int64_t pairs = 0;
    if (ha_same_fields(to, from)) return ha_pair_in_order(to, from, pair);
    ha_name_leaves(to, targets);
    ha_name_leaves(from, sources);
    qsort(sources, (size_t)from_leaves, sizeof *sources, ha_by_hash);
    for (int64_t k = 0; k < to_leaves; k++) {
        const ha_named_leaf *s = ha_find_namesake(from, sources, from_leaves, to, &targets[k]);
        if (s) pair[pairs++] = (ha_leaf_pair){targets[k].leaf, s->leaf, k, s->number, 0};
    }
    return pairs;
}

/* Marks the pairs below one path; 0: there are none. */
HA_IN_ int ha_choose_pairs(const ha_record *to, ha_leaf_pair *pair, int64_t pairs, const char *path,
                           const char *end) {
    int found = 0;
    for (int64_t k = 0; k < pairs; k++)
        if (ha_leaf_below(to, &pair[k].to, path, end)) pair[k].is_chosen = found = 1;
    return found;
}

/* Marks the pairs below all paths, "pos + vel"; NULL: all pairs. `where` they were looked for. */
HA_IN_ ha_status ha_choose_paths(const ha_asked *asked, const ha_record *to, ha_leaf_pair *pair,
                                 int64_t pairs, const char *paths, const char *where) {
    if (!paths)
        for (int64_t k = 0; k < pairs; k++) pair[k].is_chosen = 1;
    for (const char *p = paths; p;) {
        const char *path, *end;
        if (!ha_next_path(&p, &path, &end))
            return ha_refuse(asked, HA_ERR_ARGUMENT, p - paths,
                             "paths: at character %td: expected '+' or the end", p - paths);
        if (path == end || !ha_choose_pairs(to, pair, pairs, path, end))
            return ha_refuse(asked, HA_ERR_ARGUMENT, path - paths,
                             "paths: at character %td: there is no field \"%.*s\" in %s",
                             path - paths, (int)ha_smaller(end - path, 100), path, where);
    }
    return HA_OK;
}

#endif
