/* Sets of element indices: disjoint, non-touching half-open ranges, sorted unless they are many
 * (range_index.h); of an array with a grid, disjoint boxes (box.h) in any order. The usual cases, none and
 * one, need no memory. Editing cannot fail when room was made before with ha_set_room. */
#ifndef HARRAY_IMPL_BASE_RANGE_SET_H
#define HARRAY_IMPL_BASE_RANGE_SET_H

#include "range_index.h"

/* Room for `more` further ranges. On failure nothing changed. */
HA_IN_ ha_status ha_set_room(ha_set *s, size_t more) {
    size_t need = s->n + more;
    if (need <= (s->heap ? s->capacity : 1)) return HA_OK;
    if (need > UINT32_MAX / 2) return HA_ERR_MEMORY;
    size_t capacity = need < 8 ? 8 : 2 * need;
    ha_range *heap = (ha_range *)HARRAY_REALLOC(s->heap, ha_set_bytes(capacity));
    if (!heap) return HA_ERR_MEMORY;
    if (!s->heap && s->n) heap[0] = s->one;
    s->heap = heap;
    s->capacity = (uint32_t)capacity;
    if (s->indexed) ha_set_index(s); /* behind the larger table */
    return HA_OK;
}

HA_IN_ void ha_set_free(ha_set *s) {
    if (s->heap) HARRAY_FREE(s->heap);
    memset(s, 0, sizeof *s);
}

/* ---- ranges -------------------------------------------------------------------------------- */

/* The first range that ends behind `index`: n when there is none. Binary search. */
HA_IN_ uint32_t ha_set_find(const ha_set *s, size_t index) {
    const ha_range *v = ha_set_ranges(s);
    uint32_t low = 0, high = s->n;
    if (s->indexed) return ha_index_find(s, index);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (v[middle].last > index)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* In order, the first range and the one behind range i: n when there is none. Boxes have no order. */
static inline uint32_t ha_set_first(const ha_set *s) {
    return s->indexed && !s->grid ? ha_set_find(s, 0) : 0;
}

static inline uint32_t ha_set_next(const ha_set *s, uint32_t i) {
    return s->indexed && !s->grid ? ha_set_find(s, s->heap[i].last) : i + 1;
}

/* Replaces ranges [i, j) by the k given. */
HA_IN_ void ha_set_splice(ha_set *s, uint32_t i, uint32_t j, const ha_range *by, uint32_t k) {
    ha_range *v = ha_set_edit(s);
    HA_COUNT_STEPS_(s->n - j);
    if (s->n > j) memmove(v + i + k, v + j, (s->n - j) * sizeof *v);
    for (uint32_t m = 0; m < k; m++) v[i + m] = by[m];
    s->n = s->n - (j - i) + k;
}

/* Touching ranges become one. */
HA_IN_ void ha_indexed_add(ha_set *s, ha_range r) {
    uint32_t i;
    while ((i = ha_index_find(s, r.first ? r.first - 1 : 0)) < s->n && s->heap[i].first <= r.last) {
        if (s->heap[i].first < r.first) r.first = s->heap[i].first;
        if (s->heap[i].last > r.last) r.last = s->heap[i].last;
        ha_index_take(s, i);
    }
    ha_index_put(s, r);
}

HA_IN_ void ha_indexed_remove(ha_set *s, ha_range r) {
    uint32_t i;
    while ((i = ha_index_find(s, r.first)) < s->n && s->heap[i].first < r.last) {
        const ha_range x = s->heap[i];
        ha_index_take(s, i);
        if (x.first < r.first) ha_index_put(s, (ha_range){x.first, r.first});
        if (x.last > r.last) ha_index_put(s, (ha_range){r.last, x.last});
    }
}

HA_IN_ void ha_ranges_add(ha_set *s, ha_range r) {
    const ha_range *v = ha_set_ranges(s);
    uint32_t i = ha_set_find(s, r.first);
    if (i > 0 && v[i - 1].last == r.first) i--; /* touching ranges become one */
    uint32_t j = i;
    while (j < s->n && v[j].first <= r.last) {
        if (v[j].first < r.first) r.first = v[j].first;
        if (v[j].last > r.last) r.last = v[j].last;
        j++;
    }
    ha_set_splice(s, i, j, &r, 1);
}

HA_IN_ void ha_ranges_remove(ha_set *s, ha_range r) {
    const ha_range *v = ha_set_ranges(s);
    uint32_t i = ha_set_find(s, r.first), j = i, k = 0;
    ha_range rest[2];
    if (i == s->n || v[i].first >= r.last) return;
    if (v[i].first < r.first) rest[k++] = (ha_range){v[i].first, r.first};
    while (j < s->n && v[j].first < r.last) j++;
    if (v[j - 1].last > r.last) rest[k++] = (ha_range){r.last, v[j - 1].last};
    ha_set_splice(s, i, j, rest, k);
}

/* ---- boxes --------------------------------------------------------------------------------- */

/* In some order, the first one that overlaps with r, or the one behind box i; n: no more. */
HA_IN_ uint32_t ha_boxes_across(const ha_set *s, ha_range r, uint32_t i) {
    const ha_range *v = ha_set_ranges(s);
    const uint32_t begin = i < s->n ? i + 1 : 0;
    if (s->indexed) return ha_index_across(s, r, i);
    i = begin;
    while (i < s->n && !ha_overlap(s->grid, v[i], r)) i++;
    HA_COUNT_STEPS_(i - begin);
    return i;
}

/* From the last to the first: what takes the place of one has been looked at already. */
HA_IN_ void ha_boxes_remove(ha_set *s, ha_range r) {
    ha_range *v = ha_set_edit(s), pieces[HA_MOST_PIECES];
    HA_COUNT_STEPS_(s->n);
    for (uint32_t i = s->n; i-- > 0;) {
        if (!ha_overlap(s->grid, v[i], r)) continue;
        uint32_t n = ha_box_without(s->grid, v[i], r, pieces);
        v[i] = v[--s->n];
        for (uint32_t k = 0; k < n; k++) v[s->n++] = pieces[k];
    }
}

/* Makes one of two as long as that is possible. r: the box that was added last, and is in front. */
HA_IN_ void ha_boxes_join_all(ha_set *s) {
    ha_range *v = ha_set_edit(s);
    HA_COUNT_STEPS_(s->n);
    for (uint32_t i = 1; i < s->n; i++) {
        if (!ha_boxes_join(s->grid, v[0], v[i])) continue;
        v[0] = ha_around(s->grid, v[0], v[i]);
        v[i] = v[--s->n];
        i = 0; /* the larger one may fit to those that the smaller one did not */
    }
}

HA_IN_ void ha_boxes_add(ha_set *s, ha_range r) {
    ha_range *v = ha_set_edit(s);
    for (uint32_t i = 0; i < s->n; i++)
        if (ha_covers(s->grid, v[i], r)) return;
    ha_boxes_remove(s, r);
    if (s->n) v[s->n] = v[0];
    v[0] = r;
    s->n++;
    ha_boxes_join_all(s);
}

/* Whether r is one of them: boxes that are used again and again mostly are. */
HA_IN_ int ha_boxes_have(const ha_set *s, ha_range r) {
    const ha_range *v = ha_set_ranges(s);
    uint32_t i = 0;
    if (s->indexed) return 0; /* it is found as fast as what overlaps */
    while (i < s->n && (v[i].first != r.first || v[i].last != r.last)) i++;
    return i < s->n;
}

/* They do not overlap, so it is enough to count. */
HA_IN_ int ha_boxes_contain(const ha_set *s, ha_range r) {
    const ha_range *v = ha_set_ranges(s);
    ha_box box;
    ha_box_of(s->grid, r, &box);
    size_t left = ha_box_size(s->grid, &box);
    for (uint32_t i = 0; i < s->n && left && !s->indexed; i++)
        if (!ha_is_empty(ha_between(v[i], r))) left -= ha_box_shared(s->grid, &box, v[i]);
    for (uint32_t i = s->n; s->indexed && left && (i = ha_index_across(s, r, i)) < s->n;)
        left -= ha_box_shared(s->grid, &box, v[i]);
    return !left;
}

/* ---- many boxes ----------------------------------------------------------------------------- */

HA_IN_ void ha_indexed_boxes_remove(ha_set *s, ha_range r) {
    ha_range pieces[HA_MOST_PIECES];
    uint32_t i;
    while ((i = ha_index_across(s, r, s->n)) < s->n) {
        const uint32_t n = ha_box_without(s->grid, s->heap[i], r, pieces);
        ha_index_take(s, i);
        for (uint32_t k = 0; k < n; k++) ha_index_put(s, pieces[k]);
    }
}

/* The box that is one with r, which overlaps with none, and lies before or behind it in dimension d; n:
 * there is none. It has the element that is beside the lowest corner of r. */
HA_IN_ uint32_t ha_boxes_beside(const ha_set *s, ha_range r, int d, int behind) {
    const ha_grid *g = s->grid;
    ha_box box;
    ha_box_of(g, r, &box);
    if (behind ? box.last[d] == g->extent[d] : !box.first[d]) return s->n;
    const size_t length = box.last[d] - box.first[d];
    const size_t at = behind ? r.first + length * g->pitch[d] : r.first - g->pitch[d];
    const uint32_t i = ha_index_across(s, (ha_range){at, at + 1}, s->n);
    return i < s->n && ha_boxes_join(g, r, s->heap[i]) ? i : s->n;
}

HA_IN_ void ha_indexed_boxes_add(ha_set *s, ha_range r) {
    uint32_t i = ha_index_across(s, r, s->n);
    if (i < s->n && ha_covers(s->grid, s->heap[i], r)) return;
    ha_indexed_boxes_remove(s, r);
    for (int side = 0; side < 2 * s->grid->rank; side++) {
        if ((i = ha_boxes_beside(s, r, side / 2, side % 2)) == s->n) continue;
        r = ha_around(s->grid, r, s->heap[i]);
        ha_index_take(s, i);
        side = -1; /* the larger one may fit to those that the smaller one did not */
    }
    ha_index_put(s, r);
}

/* ---- sets ---------------------------------------------------------------------------------- */

/* The first one that overlaps with r, which is not empty: n when there is none. */
static inline uint32_t ha_set_find_in(const ha_set *s, ha_range r) {
    if (s->grid) return ha_boxes_across(s, r, s->n);
    uint32_t i = ha_set_find(s, r.first);
    return i < s->n && ha_set_ranges(s)[i].first < r.last ? i : s->n;
}

/* The one behind range i that overlaps with r: n when there is none. */
static inline uint32_t ha_set_next_in(const ha_set *s, ha_range r, uint32_t i) {
    if (s->grid) return ha_boxes_across(s, r, i);
    i = ha_set_next(s, i);
    return i < s->n && ha_set_ranges(s)[i].first < r.last ? i : s->n;
}

HA_IN_ int ha_set_contains(const ha_set *s, ha_range r) {
    if (ha_is_empty(r)) return 1;
    if (s->grid) return ha_boxes_have(s, r) || ha_boxes_contain(s, r);
    uint32_t i = ha_set_find_in(s, r);
    return i < s->n && ha_covers(NULL, ha_set_ranges(s)[i], r);
}

HA_IN_ int ha_set_overlaps(const ha_set *s, ha_range r) {
    return !ha_is_empty(r) && ha_set_find_in(s, r) < s->n;
}

/* The first part of r that is in the set; empty when there is none. */
HA_IN_ ha_range ha_set_first_in(const ha_set *s, ha_range r) {
    uint32_t i = ha_is_empty(r) ? s->n : ha_set_find_in(s, r);
    return i < s->n ? ha_intersect(s->grid, ha_set_ranges(s)[i], r) : (ha_range){0, 0};
}

/* By how many ranges the set may grow when r is added, or removed. */
HA_IN_ size_t ha_set_growth(const ha_set *s, ha_range r, int adding) {
    const ha_range *v = ha_set_ranges(s);
    size_t n = (size_t)adding;
    if (!s->grid) return 1;
    for (uint32_t i = s->n; (i = ha_boxes_across(s, r, i)) < s->n;) {
        if (adding && ha_covers(s->grid, v[i], r)) return 0;
        if (!ha_covers(s->grid, r, v[i])) n += 2 * (size_t)s->grid->rank - 1;
    }
    return n;
}

/* Needs room for as many more ranges as ha_set_growth says. */
HA_IN_ void ha_set_add(ha_set *s, ha_range r) {
    if (ha_is_empty(r)) return;
    if (ha_set_is_indexed(s))
        s->grid ? ha_indexed_boxes_add(s, r) : ha_indexed_add(s, r);
    else
        s->grid ? ha_boxes_add(s, r) : ha_ranges_add(s, r);
    (void)ha_set_is_indexed(s);
}

/* Needs the same room, except when r reaches to the end or beyond. */
HA_IN_ void ha_set_remove(ha_set *s, ha_range r) {
    if (ha_is_empty(r)) return;
    if (ha_set_is_indexed(s))
        s->grid ? ha_indexed_boxes_remove(s, r) : ha_indexed_remove(s, r);
    else
        s->grid ? ha_boxes_remove(s, r) : ha_ranges_remove(s, r);
    (void)ha_set_is_indexed(s);
}

/* The same, making that room. */
HA_IN_ ha_status ha_set_put(ha_set *s, ha_range r) {
    if (ha_set_room(s, ha_set_growth(s, r, 1))) return HA_ERR_MEMORY;
    ha_set_add(s, r);
    return HA_OK;
}

HA_IN_ ha_status ha_set_drop(ha_set *s, ha_range r) {
    if (ha_set_room(s, ha_set_growth(s, r, 0))) return HA_ERR_MEMORY;
    ha_set_remove(s, r);
    return HA_OK;
}

/* *out = r without what is in s. *out is empty before. */
HA_IN_ ha_status ha_set_missing(const ha_set *s, ha_range r, ha_set *out) {
    const ha_range *v = ha_set_ranges(s);
    out->grid = s->grid;
    ha_status status = ha_set_put(out, r);
    if (ha_is_empty(r)) return status;
    for (uint32_t i = ha_set_find_in(s, r); i < s->n && !status; i = ha_set_next_in(s, r, i))
        status = ha_set_drop(out, v[i]);
    return status;
}

static inline void ha_set_exchange(ha_set *x, ha_set *y) {
    ha_set old = *x;
    *x = *y;
    *y = old;
}

/* *copy = s. *copy is empty before. */
HA_IN_ ha_status ha_set_copy(ha_set *copy, const ha_set *s) {
    if (ha_set_room(copy, s->n)) return HA_ERR_MEMORY;
    memcpy(ha_set_edit(copy), ha_set_ranges(s), s->n * sizeof *copy->heap);
    copy->n = s->n;
    copy->grid = s->grid;
    if (s->indexed && s->n) ha_set_index(copy);
    return HA_OK;
}

#endif
