/* Arithmetic with whole views, or parts of them, described at run time (mapped.h).
 *
 * Each returns a status that has to be looked at, if (ha_mapped_apply_…) puts(error.text), left out
 * here:
 *
 *     ha_mapped *a = sky_mapped(v, &error);                            a view: detail/view_mapped.h
 *     ha_mapped_apply_number(a, HA_MULTIPLY, 0.5, NULL, &error);       every field of every record *= 0.5
 *     const body step = {.pos = {.x = 1}};
 *     ha_mapped_apply_record(a, HA_ADD, &body_record, &step, &(ha_applying){.paths = "pos"}, &error);
 *     ha_mapped_apply_view(a, HA_ADD, b, NULL, &error);                fields of the same path
 *
 * What is computed, for each field of the left side that takes part:
 *     assign     the value on the right, as ha_mapped_set would convert it (mapped.h)
 *     integers   with integers: as if numbers had no limit, then the lowest bits, as many as the left one
 *                has, which is C's arithmetic without signs; / cuts off towards 0, and what is divided by
 *                0 becomes 0
 *     real       with any real number: in double, rounded once to the left one's type, which for two floats
 *                is C's arithmetic in float. If the left one is an integer, to the nearest (of two
 *                equally near ones the even one; C cuts off), at most to the largest there is; NaN is 0
 *     complex    as C's double _Complex, rounded to the left one's type; with a real number on the right
 *                as the two parts with that, but for + and -, which leave the imaginary part
 * A bool may only be assigned, to a real number no complex one. Zeros are read from fields that are not
 * stored, and nothing is written to them.
 *
 * Where both sides have the same types and lie in memory as they are, loops take 0.2 to 1.1 times
 * as long as those by hand for 16-byte vectors (bench/layout_ops.c), most of them less than 1.05
 * times; assignments to a few fields 1.1 to 1.3 times, floats from doubles up to 1.3, structs from
 * arrays 1.2 to 1.6, in cache; a few fields of large blocks that are in no cache 1.3, from doubles
 * 2.2. Half and bfloat16, other types and computed layouts go through a buffer. A call takes 0.3 to
 * 0.8 microseconds before it begins: as long as a loop over some hundred records.
 *
 * Counters (counts.h) count each value once: as read on the right, and on the left as written, and
 * as read but when it is assigned. */
#ifndef HARRAY_LAYOUT_ARITHMETIC_H
#define HARRAY_LAYOUT_ARITHMETIC_H

#include "mapped.h"

typedef enum ha_operator { HA_ASSIGN = 0, HA_ADD, HA_SUBTRACT, HA_MULTIPLY, HA_DIVIDE } ha_operator;

/* Where, and how; all zeros, or NULL in its place: all fields, everywhere, by one thread. */
typedef struct ha_applying {
    const char *paths; /* "pos+mass"; NULL: all fields that both sides have */
    const int64_t *first,
        *last; /* only the left one's indices [first[d], last[d]); NULL: all. What lies
                                    outside its extents is left out */
    const int64_t
        *shift;  /* of a view: index i of the left meets i + shift of the right, so that what
                             shift is negative for lies to the right. NULL: none. What is outside of the
                             right one's extents is left out: as one image is moved over another */
    int threads; /* how many may work on it; 0: 1 */
} ha_applying;

/* left op= right, record by record. Both have the same rank; extents may differ. The memory of both may
 * have bytes in common only where each field meets itself, as in a += a.
 * Returns when it is done. Nothing is changed on failure, why being in *error (NULL: nobody wants to
 * know):
 *     HA_ERR_ARGUMENT  a side, its record or its value is NULL; ranks differ; a path is in neither record, or no field in both; there is no such
 *                      operation, or not for these types; memory overlaps; a layout on the left has one
 *                      place for all records; an integer is to be divided by a number that is 0
 *     HA_ERR_MEMORY    there is no memory for the plan: some 1200 bytes for each leaf, 17 KiB for each
 *                      thread
 * From any thread, as long as no other writes what is read, or uses what is written. */
HA_API HA_MUST_CHECK ha_status ha_mapped_apply_view(const ha_mapped *left, ha_operator operation,
                                                    const ha_mapped *right, const ha_applying *how,
                                                    ha_error *error);

/* The same with a struct of which `record` knows the fields: one value for each field. */
HA_API HA_MUST_CHECK ha_status ha_mapped_apply_record(const ha_mapped *left, ha_operator operation,
                                                      const ha_record *record, const void *value,
                                                      const ha_applying *how, ha_error *error);

/* The same with one value of this type for all fields. */
HA_API HA_MUST_CHECK ha_status ha_mapped_apply_scalar(const ha_mapped *left, ha_operator operation,
                                                      ha_dtype type, const void *value,
                                                      const ha_applying *how, ha_error *error);

/* The same with a number that is first rounded to the type of each field, as in C x +=
 * (float)number. Integers are computed with it in double, whether it is whole or not, and rounded to
 * the nearest (of two equally near ones to the even one), at most to the largest and the least that
 * there are: an int8_t of 100 plus 100 is 127, 7 / 2 is 4. (For C's arithmetic of integers take
 * ha_mapped_apply_scalar with one.) */
HA_API HA_MUST_CHECK ha_status ha_mapped_apply_number(const ha_mapped *left, ha_operator operation,
                                                      double number, const ha_applying *how,
                                                      ha_error *error);

#endif
