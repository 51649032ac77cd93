/* Do the codings of a table make sense, and what do values take in memory that are stored so: rows of
 * bits and bytes, in one unit, which is bits where there are some. */
#ifndef HARRAY_LAYOUT_IMPL_CHECK_CHECK_CODING_H
#define HARRAY_LAYOUT_IMPL_CHECK_CHECK_CODING_H

#include "../mapping/all.h"

/* One row of the table, or of its bytes. */
typedef struct ha_checked_row {
    const ha_row *origin;
    ha_row row;          /* the same in units, unless it is of a tree */
    int64_t leaf, scale; /* of units to the row's own */
} ha_checked_row;

HA_IN_ const char *ha_bits_mistake(const ha_coding *c) {
    const int is_float = c->exponent != 0 || c->mantissa != 0;
    if (c->bits < 0 || c->bits > 64) return "a coding has a number of bits that cannot be";
    if (is_float && (c->exponent < 1 || c->exponent > 11 || c->mantissa < 0 || c->mantissa > 52 ||
                     c->bits != 1 + c->exponent + c->mantissa))
        return "a coding has an exponent or a mantissa that cannot be";
    if (c->bits > 0 && (ha_is_complex(c->stored) || ha_is_floating(c->stored) != is_float))
        return "a coding has bits that do not fit its type";
    if (c->bits > 0 && (c->bytes > 0 || c->swapped)) return "a coding has bits and something else";
    return NULL;
}

HA_IN_ const char *ha_coding_mistake(const ha_mapping *m, const ha_coding *c) {
    if (ha_dtype_size(c->stored) == 0) return "a coding has a type that is none";
    if (c->swapped < 0 || c->swapped > 1 || (c->swapped && ha_part_size(c->stored) == 1))
        return "a coding cannot be swapped so";
    if (c->bytes == 0) return ha_bits_mistake(c);
    if (c->bytes != (int64_t)ha_dtype_size(c->stored) || c->byte_row < 0 ||
        c->byte_row > m->byte_rows - c->bytes)
        return "a coding has bytes that do not exist";
    for (int64_t b = c->byte_row; b < c->byte_row + c->bytes; b++)
        if (m->byte_row[b].blob < 0 || m->byte_row[b].coding != 0)
            return "a byte of a value is not stored";
    return ha_bits_mistake(c);
}

/* How many units a byte has. */
HA_IN_ int64_t ha_units(const ha_mapping *m) {
    for (int32_t k = 0; k < m->codings; k++)
        if (m->coding[k].bits > 0) return 8;
    return 1;
}

/* A row in units; 0: it overflows. */
HA_IN_ int ha_scale_row(ha_checked_row *r) {
    ha_row *row = &r->row;
    *row = *r->origin;
    return r->scale == 1 ||
           (!__builtin_mul_overflow(row->base, r->scale, &row->base) &&
            !__builtin_mul_overflow(row->lane_stride, r->scale, &row->lane_stride) &&
            !__builtin_mul_overflow(row->block_stride, r->scale, &row->block_stride));
}

#endif
