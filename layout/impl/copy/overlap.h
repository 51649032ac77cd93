/* Do two descriptions of records share memory? All blobs are looked at in the order of their
 * addresses, as there may be thousands. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_OVERLAP_H
#define HARRAY_LAYOUT_IMPL_COPY_OVERLAP_H

#include "../../mapped.h"
#include "../base/all.h"

enum { HA_FEW_PAIRS = 64 /* of blobs: up to these are compared one by one */ };

/* A blob that has bytes. */
typedef struct ha_placed_blob {
    uintptr_t begin, end;
    int32_t side, blob;
} ha_placed_blob;

/* The first of each side that has a byte in common with one of the other. */
typedef struct ha_blob_overlap {
    int is_there;
    int32_t blob[2];
} ha_blob_overlap;

HA_IN_ int ha_by_address(const void *first, const void *second) {
    const ha_placed_blob *x = (const ha_placed_blob *)first, *y = (const ha_placed_blob *)second;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    if (x->side != y->side) return x->side < y->side ? -1 : 1;
    return x->blob < y->blob ? -1 : x->blob > y->blob;
}

HA_IN_ int64_t ha_place_blobs(const ha_mapped *records, int32_t side, ha_placed_blob *placed) {
    const ha_mapping *m = records->mapping;
    int64_t n = 0;
    for (int32_t b = 0; b < m->blobs; b++) {
        const uintptr_t begin = HA_NUMBER_(records->blob[b]);
        if (begin == 0 || m->blob[b].bytes == 0) continue;
        placed[n++] = (ha_placed_blob){begin, begin + (uintptr_t)m->blob[b].bytes, side, b};
    }
    return n;
}

/* Of blobs in order: does one begin before all of the other side that began before it have ended? */
HA_IN_ ha_blob_overlap ha_overlap_of(const ha_placed_blob *placed, int64_t n) {
    const ha_placed_blob *last[2] = {NULL, NULL}; /* that ends last, of each side */
    for (const ha_placed_blob *next = placed; next < placed + n; next++) {
        const ha_placed_blob *other = last[1 - next->side], **own = &last[next->side];
        if (other && next->begin < other->end) {
            ha_blob_overlap found = {.is_there = 1};
            found.blob[next->side] = next->blob;
            found.blob[other->side] = other->blob;
            return found;
        }
        if (!*own || next->end > (*own)->end) *own = next;
    }
    return (ha_blob_overlap){.is_there = 0};
}

/* Of a few blobs, those of one side before those of the other: has none a byte in common with one
 * there? Faster than sorting. */
HA_IN_ int ha_all_apart(const ha_placed_blob *placed, int64_t first_side, int64_t n) {
    for (const ha_placed_blob *x = placed; x < placed + first_side; x++)
        for (const ha_placed_blob *y = placed + first_side; y < placed + n; y++)
            if (x->begin < y->end && y->begin < x->end) return 0;
    return 1;
}

/* HA_ERR_MEMORY: many blobs, and there is no memory to sort them. */
HA_IN_ ha_status ha_find_overlap(const ha_asked *asked, const ha_mapped *one,
                                 const ha_mapped *other, ha_blob_overlap *found) {
    ha_placed_blob few[48], *placed = few;
    const size_t blobs = (size_t)one->mapping->blobs + (size_t)other->mapping->blobs;
    if (blobs > sizeof few / sizeof *few)
        placed = (ha_placed_blob *)HA_LAYOUT_MALLOC_(blobs * sizeof *placed);
    if (!placed) return ha_no_memory(asked, blobs * sizeof *placed);
    const int64_t first = ha_place_blobs(one, 0, placed);
    const int64_t n = first + ha_place_blobs(other, 1, placed + first);
    if (first * (n - first) > HA_FEW_PAIRS || !ha_all_apart(placed, first, n)) {
        qsort(placed, (size_t)n, sizeof *placed, ha_by_address);
        *found = ha_overlap_of(placed, n);
    }
    if (placed != few) HA_LAYOUT_FREE_(placed);
    return HA_OK;
}

#endif
