/* Copies between layouts: the same values, anywhere else in memory.
 *
 *     const ha_mapped from = {aos, &array}, to = {soa, columns};
 *     if (ha_mapped_copy(&to, &from, NULL, &error)) puts(error.text);
 *
 *     const ha_copying how = {.paths = "pos+mass", .first = begin, .last = end, .threads = 8};
 *     if (ha_mapped_copy(&to, &from, &how, &error)) puts(error.text);      // a part, by threads
 *
 * The two may differ in everything: layout, order of the indices, record. What is fast where a copy is
 * larger than the caches (bench/layout_copy.c measures it):
 *     the same layout, record and order   as whole runs of memory, at the speed of memcpy; structs
 *                                         with gaps field by field
 *     aos, soa, aosoa of any lanes        by tiles that fit the first cache, turned around by vectors, at
 *                                         0.7 to 1 of the rate of memcpy; blocks of lanes of which one
 *                                         number divides the other. To structs with gaps at most 2/3: what
 *                                         is between the fields is not written, so that whole lines have
 *                                         to be read before parts of them are
 *     other types, changetype, byteswap   the same, by vectors, part by part on their way: at 0.8 to 1 of
 *                                         the rate of memcpy that moves as many bytes between arrays and
 *                                         blocks, 0.4 to 0.6 to and from structs; byteswap half of that
 *     rows to columns, permute            by tiles of both
 * All else is exact, and slower, value by value: Morton order, lanes that do not divide each other, packed
 * bits, split bytes and trees.
 *
 * A call takes about 1 µs before it begins, for 20 fields, or 3 where the two records have not the same
 * fields in the same order, whatever their types. */
#ifndef HARRAY_LAYOUT_COPY_H
#define HARRAY_LAYOUT_COPY_H

#include "mapped.h"

/* What is copied, and how; all zeros, or NULL in its place: everything, by one thread. */
typedef struct ha_copying {
    const char *paths; /* "pos+mass"; NULL: all fields that both records have */
    const int64_t *first,
        *last;        /* only the indices [first[d], last[d]); NULL: from 0, to the extent */
    int threads;      /* how many may work on it, this one included; 0: 1 */
    int past_caches_; /* it is a part of a copy that is larger than the caches */
} ha_copying;

/* `to` has the values of `from` then. Leaves are matched by their names, whatever their order;
 * every byte of `to` that is not one of a copied value stays as it is: other fields, what lies
 * between fields, records outside the region. So a struct may have members that its record does not
 * know.
 *
 * Where a leaf's types differ, its values are converted as harray/dtype.h says: rounded once, to
 * the nearest, of two equally near ones to the even; what is too large for a real type becomes
 * infinite; to bool all but 0 becomes 1. Integers that do not fit, NaN as an integer, and imaginary
 * parts that would get lost are refused, after all values have been looked at and before any is
 * written.
 *
 * What `to` does not store is left out. What `from` does not store is zero. From "one" every record
 * gets the same; to "one" several records are refused, as there is one place for all their values.
 *
 * Counters of both mappings (counts.h) count each value once, as read and as written.
 *
 * Threads are made for the call, and no more than there is work for; where none can be made, this one
 * does all. They write no byte of each other's: leaves of packed bits are done by this thread alone.
 * Blobs may have any alignment.
 *
 * HA_OK: done. Else nothing is changed, and *error (NULL: nobody wants to know) says why:
 *     HA_ERR_ARGUMENT  a side is NULL; ranks or extents differ; the region is not inside them; there is no field of a
 *                      path in both records (error->code is its position in `paths`), or none in common
 *                      at all; a value cannot be converted: which; blobs of the two have bytes in
 *                      common: which; a blob that is needed is NULL; several records to one place
 *     HA_ERR_MEMORY    there is no memory for the plan: some 1100 bytes for each leaf, 76 KiB for each
 *                      thread
 * From any thread, as long as no other writes `from`, or uses `to`. */
HA_API HA_MUST_CHECK ha_status ha_mapped_copy(const ha_mapped *to, const ha_mapped *from,
                                              const ha_copying *how, ha_error *error);

#endif
