/* Arrays whose elements are not one size, nor at one place in every memory: record arrays. What the
 * engine otherwise finds by multiplying it asks the array's operations. Ordinary arrays have none
 * (NULL).
 *
 * The array lies on a grid, whose first dimension are the leaf fields of the record and whose
 * others are its extents, so an element is one leaf of one record, and a box the neighbouring
 * leaves of a block of records. Sets, holders, outstanding operations and plans are those of any
 * array. Its `element` is 0 bytes, so that every access points to the beginning of the block. The
 * functions are in records/, and only come with it. */
#ifndef HARRAY_IMPL_STATE_ARRAY_OPS_H
#define HARRAY_IMPL_STATE_ARRAY_OPS_H

#include "../device/all.h"

struct ha_array;
struct ha_incarnation;
struct ha_attempt;

typedef struct ha_array_ops {
    /* How large a block for all of it is in a memory. */
    ha_status (*block_bytes)(struct ha_array *a, ha_memory *m, size_t *bytes);
    /* The bytes of the values of a box, without what lies between them. */
    uint64_t (*value_bytes)(const struct ha_array *a, ha_range r);
    /* As ha_transfer, also where there is no direct path. */
    ha_status (*move)(struct ha_array *a, struct ha_incarnation *from, struct ha_incarnation *to,
                      ha_range r, ha_context *c, ha_set *brought, struct ha_attempt *attempt);
    /* For functions on strict devices: adds one like *touchable with the pieces of each part of a box that
     * lies in equal distances. Nothing changes meanwhile. */
    ha_status (*reach)(struct ha_array *a, const struct ha_incarnation *in, ha_range r,
                       const ha_touchable *touchable, void *list,
                       void (*add)(void *list, const ha_touchable *));
    /* For messages: the extents behind the name; a box. */
    void (*print_extents)(const struct ha_array *a, ha_text *t);
    void (*print_part)(const struct ha_array *a, ha_range r, ha_text *t);
    /* The caller's memory is the caller's again. */
    void (*disown)(struct ha_array *a, const struct ha_incarnation *in);
    /* Whether the queue of a zero-copy context that asks can work on the caller's memory. */
    int (*maps)(const struct ha_array *a, const struct ha_incarnation *in, const ha_context *c);
    /* With the array, what it is made of goes. */
    void (*end)(struct ha_array *a);
} ha_array_ops;

#endif
