/* Records in memory, described at run time: a mapping and where its blobs are. What is done with
 * them, whatever the layout: copies between any two (copy.h), arithmetic (arithmetic.h), and here
 * single values and runs of them.
 *
 *     ha_mapping *m = ha_mapping_parse(&body_record, "bitfloat(5,10; soa)", 1, &n, &error);
 *     const ha_mapped stars = {m, blobs};
 *     double x;
 *     ha_mapped_get(&stars, 0, &i, &x);        // decoded; a leaf that is not stored gives zero
 *
 * Values are of the type that the record says, whatever is stored. Where that is another type, numbers
 * are rounded once, to the nearest, of two equally near ones to the even; integers that do not fit
 * become the nearest that does, NaN as an integer is 0, and bool is whether it is not 0.
 *
 * Indices, leaves and blobs are not checked. Any number of threads may read; of packed bits,
 * neighbours share bytes: who writes them from several threads keeps these to different blobs, or
 * apart by a word of 8 bytes. */
#ifndef HARRAY_LAYOUT_MAPPED_H
#define HARRAY_LAYOUT_MAPPED_H

#include "mapping.h"

typedef struct ha_mapped {
    const ha_mapping *mapping;
    void *const *blob; /* one for each of the mapping's */
} ha_mapped;

/* Frees what the function of a view made (detail/view_mapped.h), with its mapping, but not the
 * memory of the values; NULL is nothing to free. */
HA_API void ha_mapped_free(const ha_mapped *records);

/* One value, by memcpy: it may be misaligned on both sides. */
HA_API void ha_mapped_get(const ha_mapped *records, int64_t leaf, const int64_t *index,
                          void *value);
HA_API void ha_mapped_set(const ha_mapped *records, int64_t leaf, const int64_t *index,
                          const void *value);

/* `count` values of one leaf, from `index` on along this dimension, inside the extents: `values` has
 * them one behind the other. */
HA_API void ha_mapped_get_run(const ha_mapped *records, int64_t leaf, const int64_t *index,
                              int dimension, int64_t count, void *values);
HA_API void ha_mapped_set_run(const ha_mapped *records, int64_t leaf, const int64_t *index,
                              int dimension, int64_t count, const void *values);

#endif
