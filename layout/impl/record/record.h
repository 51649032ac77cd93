/* Records: checking them, and finding their leaves. */
#ifndef HARRAY_LAYOUT_IMPL_RECORD_RECORD_H
#define HARRAY_LAYOUT_IMPL_RECORD_RECORD_H

#include "paths.h"

/* ---- fields ---------------------------------------------------------------------------------- */

/* Could not both be members of one struct: the same path, one that is part of the other, or the same
 * name with other subscripts. */
HA_IN_ int ha_paths_conflict(const char *a, const char *b) {
    const char *start = a;
    for (; *a == *b; a++, b++)
        if (!*a) return 1;
    if (!ha_in_name(*a) && !ha_in_name(*b)) return 1; /* after the same name */
    while (a > start && ha_is_digit(a[-1])) a--;
    return a > start && a[-1] == '['; /* in a subscript; else names differ */
}

/* Do all leaves lie inside the struct? */
HA_IN_ int ha_field_inside(const ha_record *record, const ha_field *field, const int64_t *count,
                           int counts) {
    int64_t low = field->offset, high;
    if (!ha_sum(low, (int64_t)ha_dtype_size(field->type), &high)) return 0;
    for (int k = 0; k < counts; k++) {
        int64_t reach;
        if (!ha_product(count[k] - 1, field->stride[k], &reach)) return 0;
        if (!ha_sum(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)) return 0;
    }
    return low >= 0 && high <= record->size;
}

HA_IN_ ha_status ha_check_field(const ha_asked *asked, const ha_record *record, int64_t number,
                                int64_t *leaves) {
    HA_LAYOUT_STEP_();
    const ha_field *field = &record->field[number];
    int64_t count[HA_MOST_SUBSCRIPTS];
    int counts = 0;
    ha_reader r = {.text = field->path, .at = field->path, .asked = asked};
    ha_status s;
    if (!field->path)
        return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "field %lld has no path", (long long)number);
    s = ha_read_path(&r, 1, count, &counts);
    if (s) return s;
    if (*r.at) return ha_expected(&r, "the end of the path");
    if (ha_dtype_size(field->type) == 0)
        return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "%s has a type that is none", field->path);
    if (!ha_field_inside(record, field, count, counts))
        return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "%s is not inside its struct of %lld bytes",
                         field->path, (long long)record->size);
    for (int k = 0; k < counts; k++) {
        /* no overflow: HA_MOST_LEAVES is much less than the root of the largest number */
        *leaves = *leaves * count[k];
        if (*leaves > HA_MOST_LEAVES) break;
    }
    return HA_OK;
}

/* All but whether paths conflict. */
HA_IN_ ha_status ha_check_fields(const ha_asked *asked, const ha_record *record, int64_t *leaves) {
    *leaves = 0;
    if (!record || !record->field || record->fields < 1)
        return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "the record has no fields");
    if (record->size < 1 || record->alignment < 1 ||
        (record->alignment & (record->alignment - 1)) != 0)
        return ha_refuse(asked, HA_ERR_ARGUMENT, 0,
                         "a struct of %lld bytes, aligned to %lld, cannot be",
                         (long long)record->size, (long long)record->alignment);
    for (int64_t f = 0; f < record->fields; f++) {
        int64_t more = 1;
        const ha_status s = ha_check_field(asked, record, f, &more);
        if (s) return s;
        *leaves += more;
        if (*leaves > HA_MOST_LEAVES)
            return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "the record has more than %d leaves",
                             HA_MOST_LEAVES);
    }
    return HA_OK;
}

/* Two fields that cannot both be there: *first < *second; 0 when there are none. In the order of their
 * paths some two of them are neighbours. */
HA_IN_ int ha_find_conflict(const ha_record *record, int64_t *first, int64_t *second) {
    ha_sorted_field_ sorted[HA_MOST_LEAVES];
    int any = 0;
    ha_record_sort_(record, sorted);
    for (int64_t f = 1; f < record->fields; f++)
        any |= ha_paths_conflict(record->field[sorted[f - 1].field].path,
                                 record->field[sorted[f].field].path);
    if (!any) return 0;
    for (*second = 1;; ++*second)
        for (*first = 0; *first < *second; ++*first)
            if (ha_paths_conflict(record->field[*first].path, record->field[*second].path))
                return 1;
}

HA_IN_ ha_status ha_check_record(const ha_asked *asked, const ha_record *record, int64_t *leaves) {
    int64_t first, second;
    const ha_status s = ha_check_fields(asked, record, leaves);
    if (s) return s;
    if (ha_find_conflict(record, &first, &second))
        return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "%s and %s cannot both be in a struct",
                         record->field[first].path, record->field[second].path);
    return HA_OK;
}

HA_API ha_status ha_record_check(const ha_record *record, ha_error *error) {
    const ha_asked asked = ha_ask("ha_record_check", error);
    int64_t leaves;
    return ha_check_record(&asked, record, &leaves);
}

/* ---- leaves ---------------------------------------------------------------------------------- */

HA_API int64_t ha_record_leaves(const ha_record *record) {
    const ha_asked nobody = {0};
    int64_t leaves;
    return ha_check_fields(&nobody, record, &leaves) ? -1 : leaves;
}

/* The leaf that is number `rest` of its field. */
HA_IN_ void ha_leaf_of_field(const ha_record *record, int64_t number, int64_t rest, ha_leaf *leaf) {
    const ha_field *field = &record->field[number];
    int64_t count[HA_MOST_SUBSCRIPTS];
    int counts = ha_field_counts(field, count);
    memset(leaf, 0, sizeof *leaf);
    leaf->field = number;
    leaf->type = field->type;
    leaf->offset = field->offset;
    while (counts-- > 0) {
        leaf->subscript[counts] = rest % count[counts];
        leaf->offset += leaf->subscript[counts] * field->stride[counts];
        rest /= count[counts];
    }
}

HA_API ha_status ha_record_leaf(const ha_record *record, int64_t number, ha_leaf *leaf) {
    if (number < 0 || number >= ha_record_leaves(record)) return HA_ERR_ARGUMENT;
    for (int64_t f = 0;; f++) {
        const int64_t leaves = ha_field_leaves(&record->field[f]);
        if (number < leaves) {
            ha_leaf_of_field(record, f, number, leaf);
            return HA_OK;
        }
        number -= leaves;
    }
}

/* All leaves of a right record. */
HA_API void ha_record_all_leaves_(const ha_record *record, ha_leaf *leaf) {
    for (int64_t f = 0; f < record->fields; f++) {
        const int64_t leaves = ha_field_leaves(&record->field[f]);
        for (int64_t k = 0; k < leaves; k++) ha_leaf_of_field(record, f, k, leaf++);
    }
}

HA_API int64_t ha_record_lanes(const ha_record *record, int64_t bytes) {
    int64_t largest = 1;
    if (ha_record_leaves(record) < 0) return -1;
    for (int64_t f = 0; f < record->fields; f++)
        largest = ha_larger(largest, (int64_t)ha_dtype_size(record->field[f].type));
    return bytes / largest;
}

/* ---- their names ----------------------------------------------------------------------------- */

/* Goes through the name of a leaf: the next piece of it, which is a subscript or up to the next one;
 * 0 at its end. `path` and `subscript` start at the field's path and at 0. */
HA_IN_ int ha_name_piece(const ha_leaf *leaf, const char **path, int *subscript, char number[24],
                         const char **piece, size_t *length) {
    const char *p = *path;
    if (!*p) return 0;
    if (ha_is_digit(*p) && p[-1] == '[') {
        *length = (size_t)snprintf(number, 24, "%lld", (long long)leaf->subscript[*subscript]);
        *piece = number;
        ++*subscript;
        while (ha_is_digit(*p)) p++;
    } else {
        *piece = p;
        do p++;
        while (*p && p[-1] != '[');
        *length = (size_t)(p - *piece);
    }
    *path = p;
    return 1;
}

HA_IN_ void ha_put_leaf_name(ha_text *w, const ha_record *record, const ha_leaf *leaf) {
    const char *path = record->field[leaf->field].path, *piece;
    char number[24];
    size_t length;
    int k = 0;
    while (ha_name_piece(leaf, &path, &k, number, &piece, &length))
        ha_print(w, "%.*s", (int)length, piece);
}

HA_IN_ void ha_put_json_leaf_name(ha_json *j, const ha_record *record, const ha_leaf *leaf) {
    ha_json_key(j, "name");
    ha_print(&j->text, "\"");
    ha_put_leaf_name(&j->text, record, leaf); /* letters, digits and . [ ] _ */
    ha_print(&j->text, "\"");
}

HA_API int64_t ha_leaf_name_(const ha_record *record, const ha_leaf *leaf, char *buffer,
                             size_t size) {
    ha_text w = ha_text_into(buffer, size);
    ha_put_leaf_name(&w, record, leaf);
    return (int64_t)w.length;
}

HA_API int64_t ha_record_leaf_name(const ha_record *record, int64_t number, char *buffer,
                                   size_t size) {
    ha_leaf leaf;
    if (ha_record_leaf(record, number, &leaf)) return -1;
    return ha_leaf_name_(record, &leaf, buffer, size);
}

/* Is it what this path means, or below it? The path ends before `end`. */
HA_IN_ int ha_leaf_below(const ha_record *record, const ha_leaf *leaf, const char *path,
                         const char *end) {
    const char *rest = record->field[leaf->field].path, *piece;
    char number[24];
    size_t length;
    int k = 0;
    while (ha_name_piece(leaf, &rest, &k, number, &piece, &length))
        for (size_t i = 0; i < length; i++, path++) {
            if (path == end) return piece[i] == '.' || piece[i] == '[';
            if (*path != piece[i]) return 0;
        }
    return path == end;
}

#endif
