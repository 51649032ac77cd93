/* Copies of equally spaced pieces of memory, as a CUDA driver takes them, and cut into batches. */
#ifndef HARRAY_BACKENDS_CUDA_PIECES_H
#define HARRAY_BACKENDS_CUDA_PIECES_H

#include "device.h"
#include "../common/pitched_copy.h"

#ifndef HA_CUDA_MOST_PITCH_                      /* less in tests */
#define HA_CUDA_MOST_PITCH_ ((size_t)0x7fffffff) /* bytes from row to row, for the driver */
#endif

/* A copy of any kind: of one piece, or of many. */
typedef struct ha_cuda_box {
    char *to;
    const char *from;
    ha_pieces pieces;
} ha_cuda_box;

static ha_cuda_box ha_cuda_box_of(void *to, const void *from, ha_pieces pieces) {
    return (ha_cuda_box){(char *)to, (const char *)from, pieces};
}

static int ha_cuda_is_one(const ha_pieces *p) { return p->rows * p->planes == 1; }

/* What it spans on one side. */
static size_t ha_cuda_extent(const ha_pieces *p, size_t row, size_t plane) {
    return (p->planes - 1) * plane + (p->rows - 1) * row + p->bytes;
}

/* The target, or the source, is a chunk in which the pieces lie behind each other. */
static ha_cuda_box ha_cuda_box_to(ha_cuda_box box, void *chunk) {
    box.to = (char *)chunk;
    box.pieces.to_row = box.pieces.bytes;
    box.pieces.to_plane = box.pieces.bytes * box.pieces.rows;
    return box;
}

static ha_cuda_box ha_cuda_box_from(ha_cuda_box box, const void *chunk) {
    box.from = (const char *)chunk;
    box.pieces.from_row = box.pieces.bytes;
    box.pieces.from_plane = box.pieces.bytes * box.pieces.rows;
    return box;
}

/* ---- the driver's description ---- */

static ha_cu_copy3d ha_cuda_copy3d_of(const ha_cuda_box *box) {
    const ha_pieces *p = &box->pieces;
    ha_cu_copy3d copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = copy.dstMemoryType = HA_CU_MEMORY_UNIFIED;
    copy.srcDevice = (uintptr_t)box->from;
    copy.srcPitch = p->from_row;
    copy.srcHeight = p->from_plane / p->from_row;
    copy.dstDevice = (uintptr_t)box->to;
    copy.dstPitch = p->to_row;
    copy.dstHeight = p->to_plane / p->to_row;
    copy.WidthInBytes = p->bytes;
    copy.Height = p->rows;
    copy.Depth = p->planes;
    return copy;
}

/* It takes the pieces one by one only. `to_row`, `from_row`: of the sides that it has to do with. */
static int ha_cuda_is_far(size_t to_row, size_t from_row) {
    return to_row > HA_CUDA_MOST_PITCH_ || from_row > HA_CUDA_MOST_PITCH_;
}

/* ---- batches ---- */

/* How a box is cut: what a batch has at most. */
typedef struct ha_cuda_cut {
    size_t bytes, rows, planes;
} ha_cuda_cut;

static size_t ha_cuda_parts(size_t all, size_t each) { return (all - 1) / each + 1; }

/* Batches of up to `most` bytes: of whole planes; of rows of one plane, each as many; of a part of one
 * piece. */
static ha_cuda_cut ha_cuda_cut_of(const ha_pieces *p, size_t most) {
    const size_t plane = p->bytes * p->rows;
    size_t rows;
    if (p->bytes > most) return (ha_cuda_cut){most, 1, 1};
    if (plane <= most) {
        size_t planes = most / plane;
        return (ha_cuda_cut){p->bytes, p->rows, planes < p->planes ? planes : p->planes};
    }
    rows = most / p->bytes;
    return (ha_cuda_cut){p->bytes, ha_cuda_parts(p->rows, ha_cuda_parts(p->rows, rows)), 1};
}

static size_t ha_cuda_batches(const ha_pieces *p, const ha_cuda_cut *cut) {
    return ha_cuda_parts(p->bytes, cut->bytes) * ha_cuda_parts(p->rows, cut->rows) *
           ha_cuda_parts(p->planes, cut->planes);
}

static size_t ha_cuda_at_most(size_t bytes, size_t most) { return bytes < most ? bytes : most; }

static ha_cuda_box ha_cuda_batch_of(const ha_cuda_box *box, const ha_cuda_cut *cut, size_t number) {
    const ha_pieces *p = &box->pieces;
    const size_t across = ha_cuda_parts(p->bytes, cut->bytes);
    const size_t down = ha_cuda_parts(p->rows, cut->rows);
    const size_t x = number % across * cut->bytes, y = number / across % down * cut->rows,
                 z = number / across / down * cut->planes;
    ha_cuda_box batch = *box;
    batch.to += x + y * p->to_row + z * p->to_plane;
    batch.from += x + y * p->from_row + z * p->from_plane;
    batch.pieces.bytes = ha_cuda_at_most(p->bytes - x, cut->bytes);
    batch.pieces.rows = ha_cuda_at_most(p->rows - y, cut->rows);
    batch.pieces.planes = ha_cuda_at_most(p->planes - z, cut->planes);
    return batch;
}

#endif
