/* What a loop touches: accesses counted for each field, and for each line or byte of memory.
 *
 *     HA_VIEW(sky, body, 1, HA_COUNTED(HA_AOSOA(16)))    reads, writes and pointers of each field
 *     HA_VIEW(sky, body, 1, HA_HEATMAP(HA_AOS))          accesses to each line of 64 bytes
 *     HA_VIEW(sky, body, 1, HA_HEATMAP(HA_AOS, 1))       to each byte; or to this many, up to 1 MiB
 *
 * The word of the layout is all that changes, and one may stand in the other. At run time it is the
 * text of the mapping: count(M), heatmap(M), heatmap(BYTES; M), also for views that are HA_ANY.
 * Then:
 *
 *     sky v = sky_new(1000);
 *     …
 *     char text[4096];
 *     ha_counts_text(HA_COUNTS(sky, v), text, sizeof text);
 *     puts(text);
 *     field   reads  writes  pointers
 *     pos.x    1000       0      2000
 *     …
 *     sky_free(v);
 *
 * What is counted, once for each call, of a leaf at a cursor:
 *     reads     sky_pos_x_get, sky_const_pos_x; sky_load, of each leaf; ha_mapped_get
 *     writes    sky_pos_x_set; sky_store, of each leaf; ha_mapped_set
 *     pointers  sky_pos_x: what is done with a pointer is not seen. *sky_pos_x(v, at) += 1 is one
 *     heat      any of these, in each line of which the value has a byte
 * A run of n values counts n times. So do copies (copy.h) and operations with whole views (arithmetic.h): a
 * value is read and written once each, whatever they do with it on its way; x += y is one read of each,
 * and one write of x. Not counted: code on devices.
 *
 * The counters of sky_new lie in the view's own memory. A view on memory of the caller's has none
 * until it is given some:
 *
 *     sky v = HA_COUNTING(sky, sky_of(array, n));        HA_COUNTS(sky, v) is NULL if there is no memory
 *     …
 *     ha_counts_free(HA_COUNTS(sky, v));
 *
 * Copies of a view share its counters. Those of a mapping belong to it: it has to outlive views
 * that are made of it. Any number of threads may count at the same time; what is read meanwhile, or
 * lost to a reset, is of some moment. Counting takes an atomic addition an access, and no loop is a
 * vector then. Views whose layout is not wrapped so are what they are without this file. */
#ifndef HARRAY_LAYOUT_COUNTS_H
#define HARRAY_LAYOUT_COUNTS_H

#include "detail/base.h"
#include "detail/blob.h"
#include "record.h"

typedef struct ha_tally {
    uint64_t reads, writes, pointers;
} ha_tally;

/* The heat of one blob: granule g is its bytes from g * granularity on. */
typedef struct ha_heat {
    int64_t granules;
    uint64_t *touched;
} ha_heat;

/* Where a leaf lies, for the heat: in which blob, and so many bytes behind where the view has it. */
typedef struct ha_heat_place_ {
    ptrdiff_t blob, base;
} ha_heat_place_;

/* To be read; all in one block of memory. */
typedef struct ha_counts {
    const ha_record *record; /* whose leaves they are, for their names */
    int64_t leaves;          /* counted each; 0: none is */
    ha_tally *leaf;
    int64_t granularity; /* bytes of a granule; 0: there is no heatmap */
    int64_t blobs;
    ha_heat *blob;
    ha_heat_place_ *place; /* of each leaf of the record */
} ha_counts;

/* While others count. */
HA_HOST_FN_ ha_tally ha_tally_now_(const ha_tally *t) {
    const ha_tally now = {__atomic_load_n(&t->reads, __ATOMIC_RELAXED),
                          __atomic_load_n(&t->writes, __ATOMIC_RELAXED),
                          __atomic_load_n(&t->pointers, __ATOMIC_RELAXED)};
    return now;
}

/* All to 0. NULL is nothing to reset. */
HA_HOST_FN_ void ha_counts_reset(ha_counts *counts) {
    if (counts == HA_NULL_) return;
    for (int64_t k = 0; k < counts->leaves; k++) {
        __atomic_store_n(&counts->leaf[k].reads, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&counts->leaf[k].writes, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&counts->leaf[k].pointers, 0, __ATOMIC_RELAXED);
    }
    for (int64_t b = 0; b < counts->blobs; b++)
        for (int64_t g = 0; g < counts->blob[b].granules; g++)
            __atomic_store_n(&counts->blob[b].touched[g], 0, __ATOMIC_RELAXED);
}

/* Of counters that HA_COUNTING or ha_counts_parse has made; NULL is nothing to free. */
HA_HOST_FN_ void ha_counts_free(ha_counts *counts) { ha_blob_free(counts); }

/* ---- counting -------------------------------------------------------------------------------- */

enum { HA_READ_ = 1, HA_WRITE_ = 2, HA_POINTER_TO_ = 3 }; /* what is done */

/* A leaf was accessed. */
HA_HOST_FN_ void ha_tally_leaf_(ha_counts *c, ptrdiff_t leaf, int what, uint64_t times) {
    if (c->leaves == 0) return;
    ha_tally *const t = &c->leaf[leaf];
    (void)__atomic_fetch_add(what == HA_READ_    ? &t->reads
                             : what == HA_WRITE_ ? &t->writes
                                                 : &t->pointers,
                             times, __ATOMIC_RELAXED);
}

/* `size` bytes of a blob were, from this one on. */
HA_HOST_FN_ void ha_tally_bytes_(ha_counts *c, ptrdiff_t blob, ptrdiff_t from, ptrdiff_t size) {
    const uint64_t granule = HA_TO_(uint64_t, c->granularity);
    if (granule == 0) return;
    const uint64_t last = HA_TO_(uint64_t, from + size - 1) / granule;
    for (uint64_t g = HA_TO_(uint64_t, from) / granule; g <= last; g++)
        (void)__atomic_fetch_add(&c->blob[blob].touched[g], 1, __ATOMIC_RELAXED);
}

/* A value of a view was, so many bytes behind where its leaf begins, or its only blob. Code for devices
 * does not count: the counters are the host's. */
HA_FN void ha_tally_(void *counts, ptrdiff_t leaf, int what, bool by_leaf, ptrdiff_t from,
                     ptrdiff_t size) {
#ifdef __CUDA_ARCH__
    (void)counts, (void)leaf, (void)what, (void)by_leaf, (void)from, (void)size;
#else
    ha_counts *const c = HA_CAST_(ha_counts *, counts);
    if (c == HA_NULL_) return;
    ha_tally_leaf_(c, leaf, what, 1);
    if (by_leaf)
        ha_tally_bytes_(c, c->place[leaf].blob, c->place[leaf].base + from, size);
    else
        ha_tally_bytes_(c, 0, from, size);
#endif
}

HA_APART_ void ha_tally_apart_(void *counts, ptrdiff_t leaf, int what, bool by_leaf, ptrdiff_t from,
                               ptrdiff_t size) {
    ha_tally_(counts, leaf, what, by_leaf, from, size);
}

/* ---- their memory ---------------------------------------------------------------------------- */

/* What counters are made for. Granules are those of all blobs. */
typedef struct ha_counts_plan_ {
    bool counted;
    int64_t granularity;
    size_t leaves, blobs, granules;
} ha_counts_plan_;

/* Granules of a blob; SIZE_MAX where there can be no such blob. */
HA_HOST_FN_ size_t ha_granules_(size_t bytes, int64_t granularity) {
    const size_t g = HA_TO_(size_t, granularity);
    if (g == 0) return 0;
    return bytes == SIZE_MAX ? SIZE_MAX : bytes / g + (bytes % g != 0);
}

/* Bytes of counters; SIZE_MAX: more than can be. */
HA_HOST_FN_ size_t ha_counts_bytes_(ha_counts_plan_ p) {
    const size_t fixed = sizeof(ha_counts) + p.blobs * sizeof(ha_heat) +
                         p.leaves * (sizeof(ha_tally) + sizeof(ha_heat_place_));
    if (p.granules > (SIZE_MAX - fixed) / sizeof(uint64_t)) return SIZE_MAX;
    return fixed + p.granules * sizeof(uint64_t);
}

/* Counters in a memory of that size that is all zeros. Where blobs end and leaves lie is still to be
 * said. */
HA_HOST_FN_ ha_counts *ha_counts_in_(void *memory, const ha_record *record, ha_counts_plan_ p) {
    ha_counts *const c = HA_CAST_(ha_counts *, memory);
    c->record = record;
    c->leaves = p.counted ? HA_TO_(int64_t, p.leaves) : 0;
    c->granularity = p.granularity;
    c->blobs = p.granularity != 0 ? HA_TO_(int64_t, p.blobs) : 0;
    c->leaf = HA_CAST_(ha_tally *, c + 1);
    c->place = HA_CAST_(ha_heat_place_ *, c->leaf + p.leaves);
    c->blob = HA_CAST_(ha_heat *, c->place + p.leaves);
    if (p.blobs > 0) c->blob[0].touched = HA_CAST_(uint64_t *, c->blob + p.blobs);
    return c;
}

/* The next blob, from number 0 on, has so many granules. */
HA_HOST_FN_ void ha_counts_blob_(ha_counts *c, int64_t blob, size_t granules) {
    c->blob[blob].granules = HA_TO_(int64_t, granules);
    if (blob > 0) c->blob[blob].touched = c->blob[blob - 1].touched + c->blob[blob - 1].granules;
}

/* Memory for so many bytes of counters; NULL for none, or if there is none. */
HA_HOST_FN_ void *ha_counts_memory_(size_t bytes) {
    return bytes == 0 ? HA_NULL_ : ha_blob_new_(bytes);
}

/* The counters of a view; NULL: it has none. */
#define HA_COUNTS(V, v) (V##_counts_(v))

/* A view on memory of the caller's with counters of its own, all 0, to be freed by ha_counts_free.
 * A view whose layout counts nothing, and when there is no memory, as it is. */
#define HA_COUNTING(V, v) (V##_with_counts_(v))

/* ---- what was counted ------------------------------------------------------------------------ */

struct ha_mapping;

/* As snprintf does (mapping.h); they need the run-time part, HA_LAYOUT_IMPLEMENTATION. A table of the
 * leaves with what was counted, or, if only the heat was, of the blobs: their hottest granule, and how
 * many were touched at all. NULL: "nothing is counted". */
HA_API int64_t ha_counts_text(const ha_counts *counts, char *buffer, size_t size);

/* One JSON object, which harray-layout --counts draws:
 *     {"fields": [{"name": "pos.x", "reads": 0, "writes": 0, "pointers": 7}, …],
 *      "granularity": 64, "blobs": [[7, 7, 0, …], …]}
 * Without counts of fields, or without a heatmap, these members are not there. NULL: {}. */
HA_API int64_t ha_counts_json(const ha_counts *counts, char *buffer, size_t size);

/* Reads that again, for a mapping of the same leaves, and of blobs of the same bytes. The result is to be
 * freed by ha_counts_free, and needs the mapping's record. NULL on failure, with why in *error (NULL:
 * nobody wants to know):
 *     HA_ERR_ARGUMENT  the text is something else, error->code being the position where it stops to be
 *                      what was expected, or of other leaves or blobs
 *     HA_ERR_MEMORY    there is no memory
 * From any thread. */
HA_API HA_MUST_CHECK ha_counts *ha_counts_parse(const struct ha_mapping *mapping, const char *json,
                                                ha_error *error);

/* The picture of ha_mapping_svg with what was counted: lines, or bytes, coloured by their heat, and
 * a bar for each leaf. The counters have to fit the mapping, as those do that ha_counts_parse gives.
 * NULL: without any. -1: there is no memory. */
HA_API int64_t ha_counts_svg(const struct ha_mapping *mapping, const ha_counts *counts,
                             char *buffer, size_t size);

#endif
