/* Copies between boxes of different element types: in pieces, each through buffers that stay in the
 * first cache, so that the strided copies and the conversions need not know each other. Conversions
 * that can fail are all tried before anything is written. */
#ifndef HARRAY_IMPL_ELEMENTS_STRIDED_CONVERT_H
#define HARRAY_IMPL_ELEMENTS_STRIDED_CONVERT_H

#include "../../../layout/impl/convert/all.h"
#include "dtype.h"
#include "strided.h"

/* ---- pieces --------------------------------------------------------------------------------- */

enum { HA_PORTION_BYTES = 8192, HA_PORTION_MOST = 2048 /* elements */ };

/* Two boxes, normalised by the first, and how they are cut. */
typedef struct ha_portions {
    ha_strided both;
    char *first;
    const char *second;                                              /* in the order of `both` */
    int64_t first_stride[HA_MOST_RANK], second_stride[HA_MOST_RANK]; /* in elements */
    int64_t extent[HA_MOST_RANK];                                    /* of a piece */
    ha_dtype first_type, second_type;
    size_t first_size, second_size;
} ha_portions;

typedef struct ha_portion {
    char *first;
    const char *second;
    int64_t extent[HA_MOST_RANK];
    size_t count;
} ha_portion;

/* The nearest neighbours of both sides stay together, as far as there is room. */
HA_IN_ void ha_portions_cut(ha_portions *p) {
    const ha_strided *s = &p->both;
    const size_t size = p->first_size > p->second_size ? p->first_size : p->second_size;
    const int nearest = s->rank ? ha_strided_nearest(s) : 0;
    int64_t left = ha_least(HA_PORTION_MOST, (int64_t)(HA_PORTION_BYTES / size));
    for (int d = 0; d < s->rank; d++) p->extent[d] = 1;
    if (nearest) {
        p->extent[nearest] = ha_least(s->at[nearest].extent, ha_least(left, 32));
        left /= p->extent[nearest];
    }
    for (int d = 0; d < s->rank && left > 0; d++) {
        if (nearest && d == nearest) continue;
        p->extent[d] = ha_least(s->at[d].extent, left);
        left /= p->extent[d];
    }
}

/* Returns 0 when there is no element. */
HA_IN_ int ha_portions_make(ha_portions *p, int rank, const int64_t *extent, char *first,
                            const int64_t *first_stride, const char *second,
                            const int64_t *second_stride) {
    if (!ha_strided_gather(&p->both, rank, extent, first_stride, p->first_size, second_stride,
                           p->second_size))
        return 0;
    p->first = first + p->both.to;
    p->second = second + p->both.from;
    ha_strided_merge(&p->both);
    for (int d = 0; d < p->both.rank; d++) {
        p->first_stride[d] = p->both.at[d].to / (int64_t)p->first_size;
        p->second_stride[d] = p->both.at[d].from / (int64_t)p->second_size;
    }
    ha_portions_cut(p);
    return 1;
}

/* 0: the rest need not be seen. */
typedef int ha_portion_work(const ha_portions *p, const ha_portion *piece);

HA_IN_ int ha_portions_from(const ha_portions *p, int d, const ha_portion *outer,
                            ha_portion_work *work) {
    if (d == 0) return work(p, outer);
    const ha_dimension *x = &p->both.at[d - 1];
    for (int64_t i = 0; i < x->extent; i += p->extent[d - 1]) {
        ha_portion piece = *outer;
        piece.first += i * x->to;
        piece.second += i * x->from;
        piece.extent[d - 1] = ha_least(p->extent[d - 1], x->extent - i);
        piece.count *= (size_t)piece.extent[d - 1];
        if (!ha_portions_from(p, d - 1, &piece, work)) return 0;
    }
    return 1;
}

HA_IN_ int ha_portions_all(const ha_portions *p, ha_portion_work *work) {
    const ha_portion whole = {p->first, p->second, {0}, 1};
    return ha_portions_from(p, p->both.rank, &whole, work);
}

/* The strides of a piece without gaps, first dimension nearest. */
HA_IN_ void ha_portion_strides(const ha_portions *p, const ha_portion *piece, int64_t *stride) {
    int64_t next = 1;
    for (int d = 0; d < p->both.rank; d++) {
        stride[d] = next;
        next *= piece->extent[d];
    }
}

HA_IN_ int ha_portion_is_dense(const ha_portions *p, const ha_portion *piece,
                               const int64_t *stride) {
    int64_t dense[HA_MOST_RANK];
    ha_portion_strides(p, piece, dense);
    for (int d = 0; d < p->both.rank; d++)
        if (piece->extent[d] != 1 && stride[d] != dense[d]) return 0;
    return 1;
}

/* The elements of a piece, in its order: where they are if that is so, else in the buffer. */
HA_IN_ const void *ha_portion_dense(const ha_portions *p, const ha_portion *piece, const void *from,
                                    const int64_t *stride, size_t size, void *buffer) {
    int64_t dense[HA_MOST_RANK];
    if (ha_portion_is_dense(p, piece, stride)) return from;
    ha_portion_strides(p, piece, dense);
    ha_copy_strided(p->both.rank, piece->extent, buffer, dense, from, stride, size);
    return buffer;
}

/* ---- conversions ---------------------------------------------------------------------------- */

/* The first is the target. */
HA_IN_ int ha_portion_check(const ha_portions *p, const ha_portion *piece) {
    _Alignas(16) char source[HA_PORTION_BYTES];
    return ha_scalars_fit(
        p->first_type,
        ha_portion_dense(p, piece, piece->second, p->second_stride, p->second_size, source),
        p->second_type, piece->count);
}

HA_IN_ int ha_portion_convert(const ha_portions *p, const ha_portion *piece) {
    _Alignas(16) char source[HA_PORTION_BYTES], target[HA_PORTION_BYTES];
    const int in_place = ha_portion_is_dense(p, piece, p->first_stride);
    int64_t dense[HA_MOST_RANK];
    const void *from = ha_portion_dense(p, piece, piece->second, p->second_stride, p->second_size,
                                        source);
    (void)ha_convert_scalars(in_place ? piece->first : target, p->first_type, from, p->second_type,
                             piece->count);
    if (in_place) return 1;
    ha_portion_strides(p, piece, dense);
    ha_copy_strided(p->both.rank, piece->extent, piece->first, p->first_stride, target, dense,
                    p->first_size);
    return 1;
}

/* What could not be converted: the first one, last index fastest. */
typedef struct ha_misfit {
    int64_t index[HA_MOST_RANK];
    ha_dvalue value;
    const char *objection;
} ha_misfit;

/* The next index, last dimension fastest; 0 behind the last. */
HA_IN_ int ha_next_index(int rank, const int64_t *extent, int64_t *index) {
    for (int d = rank; d-- > 0; index[d] = 0)
        if (++index[d] < extent[d]) return 1;
    return 0;
}

HA_IN_ void ha_find_misfit(int rank, const int64_t *extent, ha_dtype to_type, const char *from,
                           const int64_t *from_stride, ha_dtype from_type, ha_misfit *misfit) {
    ha_dvalue converted = {.type = to_type};
    memset(misfit, 0, sizeof *misfit);
    do {
        const int64_t at = ha_offset(rank, misfit->index, from_stride);
        misfit->value = ha_dvalue_load(from_type, from + at * (int64_t)ha_dtype_size(from_type));
        const ha_wide wide = ha_widen(&misfit->value);
        misfit->objection = ha_put(&wide, &converted);
    } while (!misfit->objection && ha_next_index(rank, extent, misfit->index));
}

/* As ha_copy_strided, with strides in elements of either type; both addresses are aligned for their
 * types. HA_ERR_ARGUMENT: *misfit tells which element does not fit, and nothing was written. */
HA_UNUSED HA_IN_ ha_status ha_strided_convert(int rank, const int64_t *extent, void *to,
                                              const int64_t *to_stride, ha_dtype to_type,
                                              const void *from, const int64_t *from_stride,
                                              ha_dtype from_type, ha_misfit *misfit) {
    ha_portions p = {.first_type = to_type,
                     .second_type = from_type,
                     .first_size = ha_dtype_size(to_type),
                     .second_size = ha_dtype_size(from_type)};
    if (to_type == from_type) {
        ha_copy_strided(rank, extent, to, to_stride, from, from_stride, p.first_size);
        return HA_OK;
    }
    if (!ha_portions_make(&p, rank, extent, (char *)to, to_stride, (const char *)from, from_stride))
        return HA_OK;
    if (ha_scalars_may_misfit(from_type, to_type) && !ha_portions_all(&p, ha_portion_check)) {
        ha_find_misfit(rank, extent, to_type, (const char *)from, from_stride, from_type, misfit);
        return HA_ERR_ARGUMENT;
    }
    (void)ha_portions_all(&p, ha_portion_convert);
    return HA_OK;
}

#endif
