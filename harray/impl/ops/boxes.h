/* The arrays of an operation as boxes of the same few dimensions: those are taken as one in which all go on. Where the
 * order of the elements does not matter the dimensions are put in that of the result's memory. */
#ifndef HARRAY_IMPL_OPS_BOXES_H
#define HARRAY_IMPL_OPS_BOXES_H

#include "../ndarray/all.h"
#include "loops.h"

/* The arrays, and the numbers of the elements in their views, as another one. */
enum { HA_OP_VIEWS = HA_OP_ARRAYS + 1 };

typedef struct ha_op_boxes {
    int arrays, rank;
    int64_t extent[HA_MOST_RANK];
    struct {
        int64_t offset, stride[HA_MOST_RANK];
    } of[HA_OP_VIEWS];
} ha_op_boxes;

HA_IN_ void ha_op_exchange(ha_op_boxes *b, int d, int e) {
    const int64_t extent = b->extent[d];
    b->extent[d] = b->extent[e];
    b->extent[e] = extent;
    for (int k = 0; k < b->arrays; k++) {
        const int64_t stride = b->of[k].stride[d];
        b->of[k].stride[d] = b->of[k].stride[e];
        b->of[k].stride[e] = stride;
    }
}

/* Dimensions of more than one index; unless in_order, forwards in the result. What is behind them is left as it is, as a
 * call of few elements would take longer else. */
HA_IN_ void ha_op_collect(ha_op_boxes *b, const darray *const *view, int in_order) {
    b->rank = 0;
    for (int k = 0; k < b->arrays; k++) b->of[k].offset = view[k]->offset;
    for (int d = 0; d < view[0]->rank; d++) {
        const int64_t n = view[0]->extent[d];
        if (n == 1) continue;
        b->extent[b->rank] = n;
        for (int k = 0; k < b->arrays; k++) {
            int64_t stride = view[k]->stride[d];
            if (view[0]->stride[d] < 0 && !in_order) {
                b->of[k].offset += (n - 1) * stride;
                stride = -stride;
            }
            b->of[k].stride[b->rank] = stride;
        }
        b->rank++;
    }
}

HA_IN_ void ha_op_sort(ha_op_boxes *b) {
    for (int d = 1; d < b->rank; d++)
        for (int e = d; e > 0 && b->of[0].stride[e - 1] < b->of[0].stride[e]; e--)
            ha_op_exchange(b, e - 1, e);
}

/* Does dimension d go on where d + 1 ends, in all of them? */
HA_IN_ int ha_op_goes_on(const ha_op_boxes *b, int d) {
    for (int k = 0; k < b->arrays; k++)
        if (b->of[k].stride[d] != b->of[k].stride[d + 1] * b->extent[d + 1]) return 0;
    return 1;
}

HA_IN_ void ha_op_merge(ha_op_boxes *b) {
    for (int d = b->rank - 2; d >= 0; d--) {
        if (!ha_op_goes_on(b, d)) continue;
        b->extent[d] *= b->extent[d + 1];
        for (int k = 0; k < b->arrays; k++) b->of[k].stride[d] = b->of[k].stride[d + 1];
        b->rank--;
        for (int e = d + 1; e < b->rank; e++) ha_op_exchange(b, e, e + 1);
    }
}

/* Of views with the same extents, none of which is 0; the first one is the result. in_order: in that of the indices,
 * of which none is turned around. */
HA_IN_ void ha_op_boxes_of(ha_op_boxes *b, const darray *const *view, int arrays, int in_order) {
    b->arrays = arrays;
    ha_op_collect(b, view, in_order);
    if (!in_order) ha_op_sort(b);
    ha_op_merge(b);
    if (b->rank) return;
    b->rank = 1;
    b->extent[0] = 1;
    for (int k = 0; k < arrays; k++) b->of[k].stride[0] = 1;
}

HA_IN_ int64_t ha_op_elements(const ha_op_boxes *b) {
    int64_t n = 1;
    for (int d = 0; d < b->rank; d++) n *= b->extent[d];
    return n;
}

HA_IN_ int ha_op_is_same(const ha_op_boxes *b, int k) {
    if (b->of[k].offset != b->of[0].offset) return 0;
    for (int d = 0; d < b->rank; d++)
        if (b->of[k].stride[d] != b->of[0].stride[d]) return 0;
    return 1;
}

/* ---- which elements two views have in common ------------------------------------------------------ */

/* Of which all strides of a view, and g, are multiples; 0 of none. */
HA_IN_ uint64_t ha_op_common_step(const darray *x, uint64_t g) {
    for (int d = 0; d < x->rank; d++) {
        uint64_t step = x->extent[d] > 1 ? ha_stride_size(x->stride[d]) : 0;
        while (step) { /* Euclid's algorithm: Knuth, volume 2, section 4.5.2 */
            const uint64_t rest = g % step;
            g = step;
            step = rest;
        }
    }
    return g;
}

/* May they have elements in common? Not where the boxes around them do not meet, nor where they take turns, as even and odd ones
 * do: then the distance between them is no multiple of what all their strides are multiples of. */
HA_IN_ int ha_op_may_meet(const darray *x, const darray *y) {
    if (!ha_views_meet(x, y)) return 0;
    const uint64_t step = ha_op_common_step(y, ha_op_common_step(x, 0));
    return !step || (x->offset - y->offset) % (int64_t)step == 0;
}

/* Do so many steps of the dimensions from d on, fewer than their extents and forwards or backwards, lead that far? Each stride is
 * above what is behind it reaches, so that few come into question. */
HA_IN_ int ha_op_leads(const ha_op_boxes *b, int d, int64_t distance) {
    if (d == b->rank) return distance == 0;
    const int64_t stride = b->of[0].stride[d], most = b->extent[d] - 1, about = distance / stride;
    for (int64_t n = about - 1; n <= about + 1; n++)
        if (n >= -most && n <= most && ha_op_leads(b, d + 1, distance - n * stride)) return 1;
    return 0;
}

/* The same of the result and the k-th array: exactly, where they go on in the same strides, which are those of a box of a grid. */
HA_IN_ int ha_op_meets(const ha_op_boxes *b, int k, const darray *x, const darray *y) {
    if (!ha_op_may_meet(x, y)) return 0;
    for (int d = 0; d < b->rank; d++)
        if (b->of[0].stride[d] < 1 || b->of[k].stride[d] != b->of[0].stride[d]) return 1;
    return !ha_strides_descend(b->rank, b->extent, b->of[0].stride) ||
           ha_op_leads(b, 0, b->of[k].offset - b->of[0].offset);
}

/* ---- whole arrays --------------------------------------------------------------------------------- */

/* Is it all of its storage, in order? What has no array is the numbers of the elements. */
HA_IN_ int ha_op_is_whole(const ha_op_boxes *b, const darray *const *view) {
    if (b->rank != 1) return 0;
    for (int k = 0; k < b->arrays; k++)
        if (b->of[k].offset || b->of[k].stride[0] != 1 ||
            (view[k]->array && ha_view_room(view[k]) != b->extent[0]))
            return 0;
    return 1;
}

#endif
