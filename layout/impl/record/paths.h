/* Paths of fields: their subscripts, their order, and which leaves are below one. */
#ifndef HARRAY_LAYOUT_IMPL_RECORD_PATHS_H
#define HARRAY_LAYOUT_IMPL_RECORD_PATHS_H

#include "../../record.h"
#include "../base/all.h"

/* ---- fields ---------------------------------------------------------------------------------- */

/* The subscripts of a field that is known to be right: how many, and their counts. */
HA_IN_ int ha_field_counts(const ha_field *field, int64_t count[HA_MOST_SUBSCRIPTS]) {
    const ha_asked nobody = {0};
    ha_reader r = {.text = field->path, .at = field->path, .asked = &nobody};
    int counts = 0;
    if (!strchr(field->path, '[')) return 0; /* as most are: not worth reading */
    const ha_status s = ha_read_path(&r, 1, count, &counts);
    return s ? 0 : counts;
}

HA_IN_ int64_t ha_field_leaves(const ha_field *field) {
    int64_t count[HA_MOST_SUBSCRIPTS], leaves = 1;
    const int counts = ha_field_counts(field, count);
    for (int k = 0; k < counts; k++) leaves *= count[k];
    return leaves;
}

/* ---- their order ------------------------------------------------------------------------------ */

/* What ends a name comes before what goes on with it: so all that is below a path are neighbours. */
HA_IN_ int ha_path_rank(char c) { return !c ? 0 : c == '[' ? 1 : c == '.' ? 2 : 3 + (uint8_t)c; }

/* Where two paths differ, but for the numbers in subscripts. */
HA_IN_ void ha_paths_part(const char **a, const char **b) {
    HA_LAYOUT_STEP_();
    while (**a && **a == **b) {
        const int subscript = **a == '[';
        ++*a;
        ++*b;
        while (subscript && ha_is_digit(**a)) ++*a;
        while (subscript && ha_is_digit(**b)) ++*b;
    }
}

HA_IN_ int ha_field_precedes(const ha_record *record, const ha_sorted_field_ *x,
                             const ha_sorted_field_ *y) {
    const char *a = record->field[x->field].path, *b = record->field[y->field].path;
    ha_paths_part(&a, &b);
    return ha_path_rank(*a) < ha_path_rank(*b);
}

/* Brings what is at k to its place in a heap, whose largest is the first. */
HA_IN_ void ha_sift_field(const ha_record *record, ha_sorted_field_ *heap, int64_t k, int64_t n) {
    for (int64_t below; (below = 2 * k + 1) < n; k = below) {
        if (below + 1 < n && ha_field_precedes(record, &heap[below], &heap[below + 1])) below++;
        if (!ha_field_precedes(record, &heap[k], &heap[below])) return;
        const ha_sorted_field_ lower = heap[k];
        heap[k] = heap[below];
        heap[below] = lower;
    }
}

HA_API void ha_record_sort_(const ha_record *record, ha_sorted_field_ *sorted) {
    int64_t leaf = 0;
    for (int64_t f = 0; f < record->fields; f++) {
        sorted[f] = (ha_sorted_field_){(uint16_t)f, (uint16_t)leaf};
        leaf += ha_field_leaves(&record->field[f]);
    }
    for (int64_t k = record->fields / 2; k-- > 0;) ha_sift_field(record, sorted, k, record->fields);
    for (int64_t n = record->fields; n-- > 1;) {
        const ha_sorted_field_ largest = sorted[0];
        sorted[0] = sorted[n];
        sorted[n] = largest;
        ha_sift_field(record, sorted, 0, n);
    }
}

/* ---- what is below a path ---------------------------------------------------------------------- */

/* Reads the number of a subscript of `count`; -1: it is none. */
HA_IN_ int64_t ha_read_subscript(const char **path, int64_t count) {
    const char *const start = *path;
    int64_t number = 0;
    while (ha_is_digit(**path) && number < count) number = 10 * number + (*(*path)++ - '0');
    const int written_otherwise = *start == '0' && *path - start > 1;
    return *path == start || number >= count || written_otherwise ? -1 : number;
}

/* The leaves of a field that are what a path means, or below it, which are neighbours: [*first, *end),
 * counted from the field's first; 0: there are none. */
HA_IN_ int ha_field_below(const ha_field *field, const char *path, int64_t *first, int64_t *end) {
    int64_t count[HA_MOST_SUBSCRIPTS], leaves = 1;
    const int counts = ha_field_counts(field, count);
    const char *p = field->path;
    int k = 0;
    HA_LAYOUT_STEP_();
    for (int i = 0; i < counts; i++) leaves *= count[i];
    *first = 0;
    while (*path) {
        if (ha_is_digit(*p) && p[-1] == '[') {
            const int64_t number = ha_read_subscript(&path, count[k]);
            if (number < 0) return 0;
            leaves /= count[k++];
            *first += number * leaves;
            while (ha_is_digit(*p)) p++;
        } else if (*p++ != *path++) {
            return 0;
        }
    }
    *end = *first + leaves;
    return !*p || *p == '.' || *p == '[';
}

/* Whether a path comes before a field in their order: > 0, or behind it: < 0. 0: the field has its names,
 * and perhaps more. */
HA_IN_ int ha_path_before(const char *path, const char *field) {
    ha_paths_part(&path, &field);
    const int rank = ha_path_rank(*field);
    return *path ? rank - ha_path_rank(*path) : rank > 2;
}

HA_API int ha_record_below_(const ha_record *record, const ha_sorted_field_ *sorted,
                            const char *path, int64_t *at, int64_t *first, int64_t *end) {
    if (*at < 0) {
        int64_t low = 0, high = record->fields;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            const char *field = record->field[sorted[middle].field].path;
            if (ha_path_before(path, field) >= 0)
                high = middle;
            else
                low = middle + 1;
        }
        *at = low;
    }
    for (; *at < record->fields; ++*at) {
        const ha_field *field = &record->field[sorted[*at].field];
        if (ha_path_before(path, field->path)) return 0;
        if (!ha_field_below(field, path, first, end)) continue;
        *first += sorted[*at].leaf;
        *end += sorted[(*at)++].leaf;
        return 1;
    }
    return 0;
}

HA_API ha_status ha_record_find(const ha_record *record, const char *path, int64_t from,
                                int64_t *first) {
    int64_t number = 0, low, high;
    if (ha_record_leaves(record) < 0 || !*path) return HA_ERR_NOT_FOUND;
    for (int64_t f = 0; f < record->fields; f++) {
        const ha_field *field = &record->field[f];
        if (ha_field_below(field, path, &low, &high) && number + high > from) {
            *first = ha_larger(number + low, from);
            return HA_OK;
        }
        number += ha_field_leaves(field);
    }
    return HA_ERR_NOT_FOUND;
}

#endif
