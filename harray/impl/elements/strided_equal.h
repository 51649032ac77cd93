/* Are the elements of two boxes equal, as numbers: exactly, whatever their types; -0 equals 0, a NaN
 * equals nothing. Elements of a user's own type are equal when their bytes are. */
#ifndef HARRAY_IMPL_ELEMENTS_STRIDED_EQUAL_H
#define HARRAY_IMPL_ELEMENTS_STRIDED_EQUAL_H

#include "strided_convert.h"

#define HA_EQUAL_EACH_(T)                                                                          \
    HA_IN_ int ha_equal_##T##s(const void *a, const void *b, size_t n) {                           \
        int differ = 0;                                                                            \
        for (size_t i = 0; i < n; i++) {                                                           \
            T x, y;                                                                                \
            memcpy(&x, (const char *)a + i * sizeof x, sizeof x);                                  \
            memcpy(&y, (const char *)b + i * sizeof y, sizeof y);                                  \
            differ |= !(x == y);                                                                   \
        }                                                                                          \
        return !differ;                                                                            \
    }
HA_EQUAL_EACH_(float)
HA_EQUAL_EACH_(double)

/* Integers of 64 bits and doubles. */
HA_IN_ int ha_equal_wide(const void *a, ha_dtype type, const double *b, size_t n) {
    const int is_signed = type == HA_DTYPE_int64_t;
    const double least = is_signed ? -0x1p63 : 0, end = is_signed ? 0x1p63 : 0x1p64;
    int differ = 0;
    for (size_t i = 0; i < n; i++) {
        const int inside = b[i] >= least && b[i] < end;
        const double y = inside ? b[i] : 0;
        const uint64_t integer = is_signed ? (uint64_t)(int64_t)y : (uint64_t)y;
        const double back = is_signed ? (double)(int64_t)integer : (double)integer;
        uint64_t x;
        memcpy(&x, (const char *)a + i * sizeof x, sizeof x);
        differ |= !inside || back != y || integer != x;
    }
    return !differ;
}

HA_IN_ int ha_equal_reals(const void *a, const void *b, ha_dtype type, size_t n) {
    float x[HA_HUB], y[HA_HUB];
    switch (type) {
    case HA_DTYPE_double:
        return ha_equal_doubles(a, b, n);
    case HA_DTYPE_c128:
        return ha_equal_doubles(a, b, 2 * n);
    case HA_DTYPE_float:
        return ha_equal_floats(a, b, n);
    case HA_DTYPE_c64:
        return ha_equal_floats(a, b, 2 * n);
    default:
        (void)ha_convert_scalars_directly(x, HA_DTYPE_float, a, type, n);
        (void)ha_convert_scalars_directly(y, HA_DTYPE_float, b, type, n);
        return ha_equal_floats(x, y, n);
    }
}

HA_IN_ int ha_equal_complex(const void *a, ha_dtype a_type, const void *b, ha_dtype b_type,
                            size_t n) {
    ha_c128 x[HA_HUB], y[HA_HUB];
    (void)ha_convert_scalars_directly(x, HA_DTYPE_c128, a, a_type, n);
    (void)ha_convert_scalars_directly(y, HA_DTYPE_c128, b, b_type, n);
    return ha_equal_doubles(x, y, 2 * n);
}

HA_IN_ int ha_is_wide_integer(ha_dtype type) {
    return ha_is_integer(type) && ha_dtype_size(type) == 8;
}

HA_IN_ int ha_is_integer_or_bool(ha_dtype type) {
    return ha_is_integer(type) || type == HA_DTYPE_bool;
}

/* What the doubles are for is to be looked at. */
HA_IN_ int ha_to_doubles(double *to, const void *from, ha_dtype type, size_t n) {
    return ha_scalars_to_doubles(to, from, type, n, HA_HUB_NEAREST);
}

/* Integers and truth values; returns whether all fit. */
HA_IN_ int ha_to_int64s(int64_t *to, const void *from, ha_dtype type, size_t n) {
    if (type != HA_DTYPE_bool) return ha_to_integers(to, HA_DTYPE_int64_t, from, type, n);
    ha_bool_to_int64_(to, from, n);
    return 1;
}

/* Up to HA_HUB numbers of different types. */
HA_IN_ int ha_equal_mixed(const void *a, ha_dtype a_type, const void *b, ha_dtype b_type,
                          size_t n) {
    int64_t i[HA_HUB], j[HA_HUB];
    double x[HA_HUB], y[HA_HUB];
    if (ha_is_integer_or_bool(a_type) && ha_is_integer_or_bool(b_type))
        return ha_to_int64s(i, a, a_type, n) && ha_to_int64s(j, b, b_type, n) &&
               !memcmp(i, j, n * sizeof *i);
    if (ha_is_wide_integer(b_type)) return ha_equal_mixed(b, b_type, a, a_type, n);
    if (ha_is_wide_integer(a_type))
        return ha_to_doubles(y, b, b_type, n) && ha_equal_wide(a, a_type, y, n);
    if (ha_dtype_kind(a_type) == HA_KIND_COMPLEX && ha_dtype_kind(b_type) == HA_KIND_COMPLEX)
        return ha_equal_complex(a, a_type, b, b_type, n);
    return ha_to_doubles(x, a, a_type, n) && ha_to_doubles(y, b, b_type, n) &&
           ha_equal_doubles(x, y, n);
}

HA_IN_ int ha_equal_many(const void *a, ha_dtype a_type, const void *b, ha_dtype b_type,
                         size_t size, size_t n) {
    const size_t a_size = size, b_size = a_type == b_type ? size : ha_dtype_size(b_type);
    if (a_type == b_type && (a_type == HA_DTYPE_NONE || ha_is_integer(a_type)))
        return !memcmp(a, b, n * size);
    for (size_t i = 0, piece; i < n; i += piece) {
        const char *x = (const char *)a + i * a_size, *y = (const char *)b + i * b_size;
        piece = n - i < HA_HUB ? n - i : HA_HUB;
        if (!(a_type == b_type && a_type != HA_DTYPE_bool
                  ? ha_equal_reals(x, y, a_type, piece)
                  : ha_equal_mixed(x, a_type, y, b_type, piece)))
            return 0;
    }
    return 1;
}

HA_IN_ int ha_portion_equal(const ha_portions *p, const ha_portion *piece) {
    _Alignas(16) char first[HA_PORTION_BYTES], second[HA_PORTION_BYTES];
    const void *a = ha_portion_dense(p, piece, piece->first, p->first_stride, p->first_size, first);
    const void *b = ha_portion_dense(p, piece, piece->second, p->second_stride, p->second_size,
                                     second);
    return ha_equal_many(a, p->first_type, b, p->second_type, p->first_size, piece->count);
}

/* Large elements of a user's own type do not fit into pieces. */
HA_IN_ int ha_equal_each(int rank, const int64_t *extent, const char *a, const int64_t *a_stride,
                         const char *b, const int64_t *b_stride, size_t element) {
    int64_t index[HA_MOST_RANK] = {0};
    do {
        const int64_t i = ha_offset(rank, index, a_stride), j = ha_offset(rank, index, b_stride);
        if (memcmp(a + i * (int64_t)element, b + j * (int64_t)element, element)) return 0;
    } while (ha_next_index(rank, extent, index));
    return 1;
}

/* Strides in elements, which may be 0 on both sides. `element`: the bytes of elements of a user's own
 * type; others know theirs. Without elements, all are equal. */
HA_UNUSED HA_IN_ int ha_strided_equal(int rank, const int64_t *extent, const void *a,
                                      const int64_t *a_stride, ha_dtype a_type, const void *b,
                                      const int64_t *b_stride, ha_dtype b_type, size_t element) {
    ha_portions p = {.first_type = a_type,
                     .second_type = b_type,
                     .first_size = a_type ? ha_dtype_size(a_type) : element,
                     .second_size = b_type ? ha_dtype_size(b_type) : element};
    for (int d = 0; d < rank; d++)
        if (extent[d] == 0) return 1;
    if (!a_type && element > HA_PORTION_BYTES)
        return ha_equal_each(rank, extent, (const char *)a, a_stride, (const char *)b, b_stride,
                             element);
    /* the first is not written: its type is the target's of copies */
    if (!ha_portions_make(&p, rank, extent, (char *)(uintptr_t)a, a_stride, (const char *)b,
                          b_stride))
        return 1;
    return ha_portions_all(&p, ha_portion_equal);
}

#endif
