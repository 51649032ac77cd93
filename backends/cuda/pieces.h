/* Pitched copies, as a CUDA driver takes them, and cut into batches. Here they always have two levels,
 * rows and planes, and one piece is a plane of one row. */
#ifndef HARRAY_BACKENDS_CUDA_PIECES_H
#define HARRAY_BACKENDS_CUDA_PIECES_H

#include "device.h"
#include "../common/strided.h"

#ifndef HA_CUDA_MOST_PITCH_                      /* less in tests */
#define HA_CUDA_MOST_PITCH_ ((size_t)0x7fffffff) /* bytes from row to row, for the driver */
#endif

enum { HA_CUDA_ROWS, HA_CUDA_PLANES };

/* A pitched copy, of as few pieces as there can be. */
HA_IN_ ha_strided_copy ha_cuda_box_of(const ha_strided_copy *copy) {
    ha_strided_copy box = ha_strided_fold(copy);
    for (int k = box.levels; k < 2; k++) {
        box.count[k] = 1;
        box.to_step[k] = k > 0 ? box.count[0] * box.to_step[0] : box.bytes;
        box.from_step[k] = k > 0 ? box.count[0] * box.from_step[0] : box.bytes;
    }
    box.levels = 2;
    return box;
}

HA_IN_ int ha_cuda_is_one(const ha_strided_copy *s) { return ha_strided_total(s) == s->bytes; }

/* What it spans on one side. */
HA_IN_ size_t ha_cuda_extent(const ha_strided_copy *s, const size_t *step) {
    size_t bytes = s->bytes;
    for (int k = 0; k < s->levels; k++) bytes += (s->count[k] - 1) * step[k];
    return bytes;
}

HA_IN_ void ha_cuda_pack(const ha_strided_copy *box, size_t *step) {
    step[HA_CUDA_ROWS] = box->bytes;
    step[HA_CUDA_PLANES] = box->bytes * box->count[HA_CUDA_ROWS];
}

/* The target, or the source, is a chunk in which the pieces lie behind each other. */
HA_IN_ ha_strided_copy ha_cuda_box_to(ha_strided_copy box, void *chunk) {
    box.to = chunk;
    ha_cuda_pack(&box, box.to_step);
    return box;
}

HA_IN_ ha_strided_copy ha_cuda_box_from(ha_strided_copy box, const void *chunk) {
    box.from = chunk;
    ha_cuda_pack(&box, box.from_step);
    return box;
}

/* ---- the driver's description ---- */

HA_IN_ ha_cu_copy3d ha_cuda_copy3d_of(const ha_strided_copy *box) {
    ha_cu_copy3d copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = copy.dstMemoryType = HA_CU_MEMORY_UNIFIED;
    copy.srcDevice = (uintptr_t)box->from;
    copy.srcPitch = box->from_step[HA_CUDA_ROWS];
    copy.srcHeight = box->from_step[HA_CUDA_PLANES] / box->from_step[HA_CUDA_ROWS];
    copy.dstDevice = (uintptr_t)box->to;
    copy.dstPitch = box->to_step[HA_CUDA_ROWS];
    copy.dstHeight = box->to_step[HA_CUDA_PLANES] / box->to_step[HA_CUDA_ROWS];
    copy.WidthInBytes = box->bytes;
    copy.Height = box->count[HA_CUDA_ROWS];
    copy.Depth = box->count[HA_CUDA_PLANES];
    return copy;
}

/* Whether it takes rows only one by one that are so far apart. */
HA_IN_ int ha_cuda_is_far(const size_t *step) { return step[HA_CUDA_ROWS] > HA_CUDA_MOST_PITCH_; }

/* ---- batches ---- */

/* How a box is cut: what a batch has at most. */
typedef struct ha_cuda_cut {
    size_t bytes, rows, planes;
} ha_cuda_cut;

HA_IN_ size_t ha_cuda_parts(size_t all, size_t each) { return (all - 1) / each + 1; }

/* Batches of up to `most` bytes: of whole planes; of rows of one plane, each as many; of a part of one
 * piece. */
HA_IN_ ha_cuda_cut ha_cuda_cut_of(const ha_strided_copy *box, size_t most) {
    const size_t rows = box->count[HA_CUDA_ROWS], plane = box->bytes * rows;
    if (box->bytes > most) return (ha_cuda_cut){most, 1, 1};
    if (plane <= most) {
        const size_t planes = most / plane, all = box->count[HA_CUDA_PLANES];
        return (ha_cuda_cut){box->bytes, rows, planes < all ? planes : all};
    }
    return (ha_cuda_cut){box->bytes, ha_cuda_parts(rows, ha_cuda_parts(rows, most / box->bytes)),
                         1};
}

HA_IN_ size_t ha_cuda_batches(const ha_strided_copy *box, const ha_cuda_cut *cut) {
    return ha_cuda_parts(box->bytes, cut->bytes) *
           ha_cuda_parts(box->count[HA_CUDA_ROWS], cut->rows) *
           ha_cuda_parts(box->count[HA_CUDA_PLANES], cut->planes);
}

HA_IN_ size_t ha_cuda_at_most(size_t bytes, size_t most) { return bytes < most ? bytes : most; }

HA_IN_ ha_strided_copy ha_cuda_batch_of(const ha_strided_copy *box, const ha_cuda_cut *cut,
                                        size_t number) {
    const size_t across = ha_cuda_parts(box->bytes, cut->bytes);
    const size_t down = ha_cuda_parts(box->count[HA_CUDA_ROWS], cut->rows);
    const size_t x = number % across * cut->bytes, y = number / across % down * cut->rows,
                 z = number / across / down * cut->planes;
    ha_strided_copy batch = *box;
    batch.to = (char *)box->to + x + y * box->to_step[HA_CUDA_ROWS] +
               z * box->to_step[HA_CUDA_PLANES];
    batch.from = (const char *)box->from + x + y * box->from_step[HA_CUDA_ROWS] +
                 z * box->from_step[HA_CUDA_PLANES];
    batch.bytes = ha_cuda_at_most(box->bytes - x, cut->bytes);
    batch.count[HA_CUDA_ROWS] = ha_cuda_at_most(box->count[HA_CUDA_ROWS] - y, cut->rows);
    batch.count[HA_CUDA_PLANES] = ha_cuda_at_most(box->count[HA_CUDA_PLANES] - z, cut->planes);
    return batch;
}

#endif
