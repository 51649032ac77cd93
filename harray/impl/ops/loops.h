/* An operation on the host: the rows of a box, as a kernel's loops (ha_kernel_loops_). */
#ifndef HARRAY_IMPL_OPS_LOOPS_H
#define HARRAY_IMPL_OPS_LOOPS_H

#include "lines.h"

/* An operation as a kernel. */
typedef struct ha_op {
    ha_kernel kernel; /* first, so that it is found by it */
    ha_op_key key;
} ha_op;

HA_IN_ const ha_op *ha_op_of(const ha_kernel *kernel) {
    return (const ha_op *)(const void *)kernel;
}

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
HA_IN_ void ha_op_row_as_float(const ha_op_key *key, const ha_op_row *row) {
    float number[3][HA_OP_CHUNK];
    const int arrays = ha_op_arrays(key), is_stored = ha_op_is_element(key, 0);
    const ha_dtype type = key->type->type;
    for (int64_t at = 0; at < row->n; at += HA_OP_CHUNK) {
        ha_op_row part = *row;
        part.n = row->n - at < HA_OP_CHUNK ? row->n - at : HA_OP_CHUNK;
        part.at += at * row->at_step;
        for (int k = 0; k < arrays; k++)
            part.of[k] = (char *)row->of[k] + at * row->step[k] * (int64_t)ha_op_bytes(key, k);
        char *const result = (char *)part.of[0];
        for (int k = !is_stored; k < arrays; k++) {
            if (k) ha_op_load(type, number[k], (const char *)part.of[k], part.n, row->step[k]);
            part.of[k] = number[k];
            part.step[k] = 1;
        }
        if (arrays == 2 && !row->y_is_number) part.of[2] = part.of[1], part.step[2] = 1;
        key->line->rows(&part);
        if (is_stored) ha_op_store(type, result, number[0], part.n, row->step[0]);
    }
}

/* ---- boxes --------------------------------------------------------------------------------------- */

/* The n-th element of a view, in the order of its indices: how far it is from the first one. */
HA_DEVICE_CODE(
    ha_strided_place, HA_FN int64_t ha_strided_place_(const int64_t *extent, const int64_t *stride,
                                                      int rank, int64_t n) {
        int64_t place = 0;
        for (int d = rank - 1; d > 0; d--) {
            place += n % extent[d] * stride[d];
            n /= extent[d];
        }
        return place + n * stride[0];
    });
/* Views of more dimensions than lanes can have are gone over by the number of an element. */
HA_IN_ int ha_op_by_number(const ha_op_key *key) { return key->rank > HA_MAPPING_RANK; }

/* A launch: what its arrays are from one index of a dimension to the next one. What is behind its rank, or its arrays, is
 * not looked at. */
typedef struct ha_op_walk {
    const ha_op_key *key;
    ha_op_rows rows; /* goes over one */
    int arrays, rank;
    int64_t stride[HA_OP_ARRAYS][HA_MOST_RANK]; /* bytes; of a number 0 */
    int64_t extent[HA_MOST_RANK];               /* of views */
    int64_t at[HA_MAPPING_RANK];                /* of the place */
} ha_op_walk;

HA_IN_ void ha_op_run_row(const ha_op_walk *w, const ha_op_row *row) {
    if (ha_op_is_as_float(w->key))
        ha_op_row_as_float(w->key, row);
    else
        w->rows(row);
}

/* n indices on in dimension d */
HA_IN_ void ha_op_go_on(const ha_op_walk *w, ha_op_row *row, int d, int64_t n) {
    if (!n) return;
    for (int k = w->key->tree != NULL; k < w->arrays; k++)
        row->of[k] = (char *)row->of[k] + n * w->stride[k][d];
    if (!ha_op_by_number(w->key)) row->at += n * w->at[d];
}

/* To the element of this number; the answer is how many follow it in its row. */
HA_IN_ int64_t ha_op_go_to(const ha_op_walk *w, ha_op_row *row, int64_t number) {
    const int64_t width = w->extent[w->rank - 1], left = width - number % width;
    for (int d = w->rank - 1; d >= 0; d--) {
        ha_op_go_on(w, row, d, number % w->extent[d]);
        number /= w->extent[d];
    }
    return left;
}

/* All rows of a box, of which this is the first one: the last index but one goes first. */
HA_IN_ void ha_op_run_rows(const ha_op_walk *w, const ha_region *box, ha_op_row row) {
    const int last = w->rank - 1;
    ha_region at = *box; /* .first is where the row stands */
    int64_t rows = 1;
    for (int d = 0; d < last; d++) rows *= box->last[d] - box->first[d];
    for (; rows > 0; rows--) {
        ha_op_run_row(w, &row);
        for (int d = last; d-- > 0;) {
            ha_op_go_on(w, &row, d, 1);
            if (++at.first[d] < at.last[d]) break;
            ha_op_go_on(w, &row, d, box->first[d] - box->last[d]);
            at.first[d] = box->first[d];
        }
    }
}

HA_IN_ void ha_op_run_box(const ha_op_walk *w, ha_op_row row, const ha_region box) {
    const int last = w->rank - 1;
    for (int d = 0; d < w->rank; d++) ha_op_go_on(w, &row, d, box.first[d]);
    row.n = box.last[last] - box.first[last];
    if (last)
        ha_op_run_rows(w, &box, row);
    else
        ha_op_run_row(w, &row);
}

/* Elements [first, last), by number, which is their place. */
HA_IN_ void ha_op_run_numbers(const ha_op_walk *w, ha_op_row first, int64_t from, int64_t last) {
    for (; from < last; from += first.n) {
        ha_op_row row = first;
        const int64_t left = ha_op_go_to(w, &row, from);
        first.n = row.n = left < last - from ? left : last - from;
        row.at = from;
        ha_op_run_row(w, &row);
    }
}

/* Slots: the result, but of lanes, its arguments, numbers, and of places the first one, and the strides of their
 * numbers. */
HA_IN_ void ha_op_walk_of(ha_op_walk *w, const ha_op_key *key, const ha_kernel_slot_ *slot,
                          ha_op_row *row) {
    const int rank = key->rank ? key->rank : 1;
    w->key = key;
    w->rows = key->line->rows;
    w->arrays = ha_op_arrays(key);
    w->rank = rank;
    *row = (ha_op_row){.y_is_number = key->by_number};
    int n = 0;
    for (int k = key->tree != NULL; k < w->arrays; k++, n++) {
        const ha_kernel_span *span = (const ha_kernel_span *)slot[n].span;
        const int64_t bytes = (int64_t)ha_op_bytes(key, k);
        row->of[k] = slot[n].pointer;
        row->step[k] = span ? span->numbers[2 * rank - 1] : 1;
        for (int d = 0; d < rank; d++) {
            w->stride[k][d] = span ? span->numbers[rank + d] * bytes : bytes;
            w->extent[d] = span ? span->numbers[d] : slot[n].size;
        }
    }
    if (key->by_number) row->of[2] = slot[n++].pointer;
    if (key->line->arguments == 1) { /* which is both */
        row->of[2] = row->of[1];
        row->step[2] = row->step[1];
        for (int d = 0; d < rank; d++) w->stride[2][d] = w->stride[1][d];
        w->arrays = 3;
    }
    for (int i = 0; i < key->line->numbers; i++) row->number[i] = slot[n++].pointer;
    row->at_step = 1;
    if (ha_op_by_number(key)) return;
    for (int d = 0; d < rank; d++) w->at[d] = d == 0;
    if (!key->rank || !ha_op_has_place(key)) return;
    row->at = *(const int64_t *)slot[n++].pointer;
    for (int d = 0; d < rank; d++) w->at[d] = row->at_step = *(const int64_t *)slot[n++].pointer;
}

/* With OpenMP by all threads. */
HA_IN_ void ha_op_run_walk(const ha_op_walk *w, ha_op_row row, const ha_region *box) {
    if (ha_op_by_number(w->key)) {
        HA_AMONG_THREADS_(box, 1, 1, const ha_region own = HA_SHARE_(box, 0);
                          ha_op_run_numbers(w, row, own.first[0], own.last[0]);)
    } else {
        HA_AMONG_THREADS_(box, w->rank, 1, ha_op_run_box(w, row, HA_SHARE_(box, 0));)
    }
}

HA_IN_ void ha_op_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                        const ha_kernel_slot_ *slot) {
    ha_op_row row;
    ha_op_walk w;
    ha_op_walk_of(&w, &ha_op_of(kernel)->key, slot, &row);
    (void)apart;
    ha_op_run_walk(&w, row, box);
}

#endif
