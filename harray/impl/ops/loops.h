/* An operation on the host: the rows of a box, as a kernel's loops (ha_kernel_loops_). */
#ifndef HARRAY_IMPL_OPS_LOOPS_H
#define HARRAY_IMPL_OPS_LOOPS_H

#include "rows.h"

/* The slots of an operation: its result, one or two arguments, and two numbers or none. */
enum { HA_OP_ARRAYS = 3 };
typedef struct ha_op_form {
    ha_op_rows rows;
    int arguments, numbers;
    size_t bytes;  /* of an element */
    ha_dtype type; /* half or bfloat16: computed with as float. HA_DTYPE_NONE: as it is */
} ha_op_form;

/* ---- half and bfloat16 --------------------------------------------------------------------------- */

enum { HA_OP_CHUNK = 256 };

HA_IN_ float ha_op_to_float(ha_dtype type, const void *from) {
    return type == HA_DTYPE_half ? ha_half_to_float(*(const ha_half *)from)
                                 : ha_bfloat16_to_float(*(const ha_bfloat16 *)from);
}

HA_IN_ void ha_op_load(ha_dtype type, float *to, const char *from, int64_t n, int64_t step) {
    const size_t bytes = sizeof(ha_half);
    if (step == 1 && type == HA_DTYPE_half)
        ha_convert_half_to_float(to, (const ha_half *)(const void *)from, (size_t)n);
    else if (step == 1)
        ha_convert_bfloat16_to_float(to, (const ha_bfloat16 *)(const void *)from, (size_t)n);
    else
        for (int64_t i = 0; i < n; i++)
            to[i] = ha_op_to_float(type, from + i * step * (int64_t)bytes);
}

/* Results are converted without gaps, and put where they belong. */
HA_IN_ void ha_op_store(ha_dtype type, char *to, const float *from, int64_t n, int64_t step) {
    ha_half small[HA_OP_CHUNK]; /* of as many bytes as ha_bfloat16 */
    void *const place = step == 1 ? (void *)to : small;
    if (type == HA_DTYPE_half)
        ha_convert_float_to_half((ha_half *)place, from, (size_t)n);
    else
        ha_convert_float_to_bfloat16((ha_bfloat16 *)place, from, (size_t)n);
    for (int64_t i = 0; i < n && step != 1; i++)
        memcpy(to + i * step * (int64_t)sizeof *small, &small[i], sizeof *small);
}

/* The numbers of such a row are floats already, that in the place of an argument, too. */
HA_IN_ void ha_op_row_as_float(const ha_op_form *f, const ha_op_row *row) {
    float x[HA_OP_CHUNK], y[HA_OP_CHUNK], z[HA_OP_CHUNK];
    const int64_t bytes = sizeof(ha_half);
    for (int64_t at = 0; at < row->n; at += HA_OP_CHUNK) {
        ha_op_row part = *row;
        part.n = row->n - at < HA_OP_CHUNK ? row->n - at : HA_OP_CHUNK;
        ha_op_load(f->type, x, (const char *)row->x + at * row->x_step * bytes, part.n,
                   row->x_step);
        if (f->arguments > 1 && !row->y_is_number)
            ha_op_load(f->type, y, (const char *)row->y + at * row->y_step * bytes, part.n,
                       row->y_step);
        part.x = x;
        part.y = f->arguments < 2 ? x : row->y_is_number ? row->y : y;
        part.z = z;
        part.x_step = part.z_step = 1;
        part.y_step = !row->y_is_number;
        f->rows(&part);
        ha_op_store(f->type, (char *)row->z + at * row->z_step * bytes, z, part.n, row->z_step);
    }
}

/* ---- boxes --------------------------------------------------------------------------------------- */

/* How many dimensions the box of a launch has: of whole arrays one; of views those that are not empty. */
HA_IN_ int ha_op_rank(const ha_region *box, const ha_kernel_slot_ *slot) {
    int rank = 1;
    while (slot->span && rank < HA_MAPPING_RANK && box->last[rank] > box->first[rank]) rank++;
    return rank;
}

/* Elements from one index of a dimension to the next one: of an array without a span 1, of a number 0. */
HA_IN_ int64_t ha_op_stride(const ha_kernel_slot_ *slot, int rank, int d) {
    if (!slot->size) return 0;
    return slot->span ? ((const ha_kernel_span *)slot->span)->numbers[rank + d] : 1;
}

HA_IN_ void ha_op_run_row(const ha_op_form *f, const ha_op_row *row) {
    if (f->type)
        ha_op_row_as_float(f, row);
    else
        f->rows(row);
}

/* To the next index of dimension d. */
HA_IN_ void ha_op_go_on(const ha_op_form *f, ha_op_row *row, int64_t (*stride)[HA_MAPPING_RANK],
                        int d) {
    const int64_t bytes = (int64_t)f->bytes;
    row->z = (char *)row->z + stride[0][d] * bytes;
    row->x = (const char *)row->x + stride[1][d] * bytes;
    row->y = (const char *)row->y + stride[2][d] * bytes;
}

/* All rows of a box whose first row this is, along dimension d and further in. */
HA_IN_ void ha_op_run_rows(const ha_op_form *f, const ha_region *box, int rank, int d,
                           int64_t (*stride)[HA_MAPPING_RANK], ha_op_row row) {
    for (ptrdiff_t i = box->first[d]; i < box->last[d]; i++) {
        if (d < rank - 2)
            ha_op_run_rows(f, box, rank, d + 1, stride, row);
        else
            ha_op_run_row(f, &row);
        ha_op_go_on(f, &row, stride, d);
    }
}

HA_IN_ void ha_op_run_box(const ha_op_form *f, const ha_region box, int rank,
                          const ha_kernel_slot_ *slot) {
    int64_t stride[HA_OP_ARRAYS][HA_MAPPING_RANK];
    char *first[HA_OP_ARRAYS];
    for (int k = 0; k < HA_OP_ARRAYS; k++) {
        const ha_kernel_slot_ *s = &slot[k <= f->arguments ? k : 1];
        first[k] = (char *)s->pointer;
        for (int d = 0; d < rank; d++) {
            stride[k][d] = ha_op_stride(s, rank, d);
            first[k] += box.first[d] * stride[k][d] * (int64_t)f->bytes;
        }
    }
    const ha_kernel_slot_ *numbers = &slot[1 + f->arguments];
    const int last = rank - 1;
    const ha_op_row row = {.n = box.last[last] - box.first[last],
                           .z = first[0],
                           .x = first[1],
                           .y = first[2],
                           .a = f->numbers ? numbers[0].pointer : NULL,
                           .b = f->numbers ? numbers[1].pointer : NULL,
                           .z_step = stride[0][last],
                           .x_step = stride[1][last],
                           .y_step = stride[2][last],
                           .y_is_number = f->arguments > 1 && !slot[2].size};
    if (rank > 1)
        ha_op_run_rows(f, &box, rank, 0, stride, row);
    else
        ha_op_run_row(f, &row);
}

/* With OpenMP by all threads. */
HA_IN_ void ha_op_loops(const ha_op_form *f, const ha_region *box, const ha_kernel_slot_ *slot) {
    const int rank = ha_op_rank(box, slot);
    HA_AMONG_THREADS_(box, rank, 1, ha_op_run_box(f, HA_SHARE_(box, 0), rank, slot);)
}

#endif
