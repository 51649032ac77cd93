/* The order of elements as that of numbers without a sign: of the bits of an element those of a number that is the greater the later it
 * is sorted. Of reals that are negative all bits but the sign are changed, so that all elements are in the order of integers; of what has
 * a sign the highest bit is changed, too; and all bits, if the order is descending (Knuth, The Art of Computer Programming, volume 3,
 * exercise 5.2.5-8, for binary floating-point numbers of IEEE 754). */
#ifndef HARRAY_IMPL_OPS_SORT_KEYS_H
#define HARRAY_IMPL_OPS_SORT_KEYS_H

#include "../../sort.h"
#include "indices.h"

/* key = is it NaN: all ones; else (-0.0 as 0), its magnitude changed where it is negative, with these bits changed. Of integers
 * magnitude, infinite and zero are 0, which changes nothing. */
typedef struct ha_sort_form {
    uint64_t ones;      /* all bits of the type */
    uint64_t magnitude; /* of reals: all but the sign */
    uint64_t infinite;  /* NaN: the bits of its magnitude are greater */
    uint64_t zero;      /* -0.0 */
    uint64_t change;
} ha_sort_form;

HA_IN_ uint64_t ha_sort_infinity(ha_dtype type) {
    switch (type) {
    case HA_DTYPE_half:
        return 0x7c00;
    case HA_DTYPE_bfloat16:
        return 0x7f80;
    case HA_DTYPE_float:
        return 0x7f800000;
    default:
        return 0x7ff0000000000000;
    }
}

HA_IN_ ha_sort_form ha_sort_form_of(ha_dtype type, int descending) {
    const uint64_t ones = UINT64_MAX >> (64 - 8 * ha_dtype_size(type)), top = ones ^ (ones >> 1);
    const ha_number_kind kind = ha_dtype_kind(type);
    ha_sort_form f = {.ones = ones, .change = descending ? ones : 0};
    if (kind == HA_KIND_SIGNED || kind == HA_KIND_REAL) f.change ^= top;
    if (kind == HA_KIND_REAL) {
        f.magnitude = ones >> 1;
        f.infinite = ha_sort_infinity(type);
        f.zero = top;
    }
    return f;
}

HA_IN_ uint64_t ha_sort_key(uint64_t bits, const ha_sort_form *f) {
    if ((bits & f->magnitude) > f->infinite) return f->ones;
    if (bits == f->zero) bits = 0;
    return bits ^ (bits > f->magnitude ? f->magnitude : 0) ^ f->change;
}

/* The same as text: a variable of uint64_t that has the bits. */
HA_IN_ void ha_sort_put_key(ha_text *t, const char *name, const ha_sort_form *f) {
    const unsigned long long ones = f->ones, magnitude = f->magnitude, infinite = f->infinite,
                             zero = f->zero, change = f->change;
    if (!magnitude) {
        ha_print(t, "%s ^= 0x%llx; ", name, change);
        return;
    }
    ha_print(t, "if ((%s & 0x%llx) > 0x%llx) %s = 0x%llx; else { if (%s == 0x%llx) %s = 0; ", name,
             magnitude, infinite, name, ones, name, zero, name);
    ha_print(t, "%s ^= (%s > 0x%llx ? 0x%llx : 0) ^ 0x%llx; } ", name, name, magnitude, magnitude,
             change);
}

/* Elements are looked at as their bits. */
HA_IN_ ha_dtype ha_sort_bits(size_t bytes) { return ha_index_moved(bytes)->type; }

HA_IN_ ha_status ha_sort_check_type(ha_named_view x, const char *operation) {
    ha_status s = ha_named_view_check(x, operation);
    if (s) return s;
    const ha_number_kind kind = ha_dtype_kind(x.view->type);
    if (x.view->type == HA_DTYPE_bool || kind == HA_KIND_SIGNED || kind == HA_KIND_UNSIGNED ||
        kind == HA_KIND_REAL)
        return HA_OK;
    return ha_named_view_fail(HA_ERR_ARGUMENT, operation, x, "elements of this type have no order");
}

#endif
