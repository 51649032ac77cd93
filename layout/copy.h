/* Copies between layouts: the same values, anywhere else in memory.
 *
 *     const ha_mapped from = {aos, &array}, to = {soa, columns};
 *     if (ha_mapped_copy(&to, &from, NULL, &error)) puts(error.text);
 *
 * The two may differ in everything: layout, order of the indices, record. Fields are matched by
 * path; where their types differ, values are converted as harray/convert.h does. */
#ifndef HARRAY_LAYOUT_COPY_H
#define HARRAY_LAYOUT_COPY_H

#include "mapped.h"

/* What is copied, and how; all zeros, or NULL in its place: everything, by one thread. */
typedef struct ha_copying {
    const char *paths;           /* "pos+mass"; NULL: all fields that both records have */
    const int64_t *first, *last; /* only the indices [first[d], last[d]); NULL: all */
    int threads;                 /* how many may work on it; 0: 1 */
} ha_copying;

/* `to` has the values of `from` then; fields that only one of the two has, and what lies between fields,
 * stays as it is. Returns when that is done. Both have to have the same rank and extents, and no byte
 * in common. Nothing is changed on failure, why being in *error (NULL: nobody wants to know):
 *     HA_ERR_ARGUMENT     ranks or extents differ; the region is not inside them; a path is in neither
 *                         record, or no field in both; a value cannot be converted (complex to real,
 *                         …)
 *     HA_ERR_MEMORY       there is no memory for the plan
 * From any thread. */
HA_API HA_MUST_CHECK ha_status ha_mapped_copy(const ha_mapped *to, const ha_mapped *from,
                                              const ha_copying *how, ha_error *error);

#endif
