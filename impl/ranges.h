/* Sets of element indices: sorted, disjoint, non-touching half-open ranges. The usual cases, none
 * and one range, need no memory. Editing cannot fail when room was made before with ha_set_room. */
#ifndef HA_IMPL_RANGES_H
#define HA_IMPL_RANGES_H

#include "error.h"

typedef struct ha_set {
    ha_range one;   /* the range, when heap is NULL */
    ha_range *heap; /* more than one range, or room for it */
    uint32_t n, capacity;
} ha_set;

static inline const ha_range *ha_set_ranges(const ha_set *s) { return s->heap ? s->heap : &s->one; }

static inline ha_range *ha_set_edit(ha_set *s) { return s->heap ? s->heap : &s->one; }

static inline int ha_is_empty(ha_range r) { return r.first >= r.last; }

static inline ha_range ha_intersect(ha_range x, ha_range y) {
    return (ha_range){x.first > y.first ? x.first : y.first, x.last < y.last ? x.last : y.last};
}

/* An empty range overlaps nothing, wherever it lies. */
static inline int ha_overlap(ha_range x, ha_range y) { return !ha_is_empty(ha_intersect(x, y)); }

/* Room for `more` further ranges. On failure nothing changed. */
static ha_status ha_set_room(ha_set *s, size_t more) {
    size_t need = s->n + more;
    if (need <= (s->heap ? s->capacity : 1)) return HA_OK;
    if (need > UINT32_MAX / 2) return HA_ERR_MEMORY;
    size_t capacity = need < 8 ? 8 : 2 * need;
    ha_range *heap = (ha_range *)HARRAY_REALLOC(s->heap, capacity * sizeof *heap);
    if (!heap) return HA_ERR_MEMORY;
    if (!s->heap && s->n) heap[0] = s->one;
    s->heap = heap;
    s->capacity = (uint32_t)capacity;
    return HA_OK;
}

static void ha_set_free(ha_set *s) {
    HARRAY_FREE(s->heap);
    memset(s, 0, sizeof *s);
}

/* The first range that ends behind `index`: n when there is none. Binary search. */
static uint32_t ha_set_find(const ha_set *s, size_t index) {
    const ha_range *v = ha_set_ranges(s);
    uint32_t low = 0, high = s->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (v[middle].last > index)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int ha_set_contains(const ha_set *s, ha_range r) {
    if (ha_is_empty(r)) return 1;
    uint32_t i = ha_set_find(s, r.first);
    const ha_range *v = ha_set_ranges(s);
    return i < s->n && v[i].first <= r.first && r.last <= v[i].last;
}

static int ha_set_overlaps(const ha_set *s, ha_range r) {
    if (ha_is_empty(r)) return 0;
    uint32_t i = ha_set_find(s, r.first);
    return i < s->n && ha_set_ranges(s)[i].first < r.last;
}

/* Replaces ranges [i, j) by the k given. */
static void ha_set_splice(ha_set *s, uint32_t i, uint32_t j, const ha_range *by, uint32_t k) {
    ha_range *v = ha_set_edit(s);
    if (s->n > j) memmove(v + i + k, v + j, (s->n - j) * sizeof *v);
    for (uint32_t m = 0; m < k; m++) v[i + m] = by[m];
    s->n = s->n - (j - i) + k;
}

/* Needs room for one more range. */
static void ha_set_add(ha_set *s, ha_range r) {
    if (ha_is_empty(r)) return;
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

/* Needs room for one more range, except when r reaches to the end or beyond. */
static void ha_set_remove(ha_set *s, ha_range r) {
    if (ha_is_empty(r)) return;
    const ha_range *v = ha_set_ranges(s);
    uint32_t i = ha_set_find(s, r.first), j = i, k = 0;
    ha_range rest[2];
    if (i == s->n || v[i].first >= r.last) return;
    if (v[i].first < r.first) rest[k++] = (ha_range){v[i].first, r.first};
    while (j < s->n && v[j].first < r.last) j++;
    if (v[j - 1].last > r.last) rest[k++] = (ha_range){r.last, v[j - 1].last};
    ha_set_splice(s, i, j, rest, k);
}

/* The first part of r that is in the set; empty when there is none. */
static ha_range ha_set_first_in(const ha_set *s, ha_range r) {
    uint32_t i = ha_set_find(s, r.first);
    if (i == s->n) return (ha_range){0, 0};
    ha_range x = ha_intersect(ha_set_ranges(s)[i], r);
    return ha_is_empty(x) ? (ha_range){0, 0} : x;
}

/* *out = r without what is in s. *out is empty before. */
static ha_status ha_set_missing(const ha_set *s, ha_range r, ha_set *out) {
    if (ha_set_room(out, (size_t)s->n + 2)) return HA_ERR_MEMORY;
    ha_set_add(out, r);
    const ha_range *v = ha_set_ranges(s);
    for (uint32_t i = ha_set_find(s, r.first); i < s->n && v[i].first < r.last; i++)
        ha_set_remove(out, v[i]);
    return HA_OK;
}

#endif
