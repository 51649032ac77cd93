/* Parts by tiles, leaves by runs; and who does which of them. */
#ifndef HARRAY_LAYOUT_IMPL_ARITHMETIC_TILES_H
#define HARRAY_LAYOUT_IMPL_ARITHMETIC_TILES_H

#include "plan.h"

enum { HA_APPLY_MOST_THREADS = 256, HA_APPLY_INTERLEAVED = 8192 /* bytes */ };

/* Records along a loop: the linear indices of the first on both sides, the steps, and how many; and so
 * many rows of them along another loop. */
typedef struct ha_apply_row {
    int64_t left, right, left_step, right_step, n;
    int64_t left_row, right_row, rows;
} ha_apply_row;

/* ---- one part -------------------------------------------------------------------------------- */

/* Whole blocks, if the row begins with one; where only one side has blocks, by these. 0: it does not. */
HA_IN_ int ha_apply_blocks(const ha_apply_part *p, const ha_apply_row *row, int64_t left_lanes,
                           int64_t right_lanes, ha_span *s) {
    const int64_t lanes = left_lanes > 0 ? left_lanes : right_lanes;
    if (right_lanes > 0 && right_lanes != lanes) return 0;
    if (row->n < lanes || (left_lanes > 0 && row->left % lanes != 0) ||
        (right_lanes > 0 && row->right % lanes != 0))
        return 0;
    s->n = lanes;
    s->runs = row->n / lanes;
    s->left_apart = left_lanes > 0 ? p->left_shape.block : lanes * s->left_step;
    s->right_apart = right_lanes > 0 ? p->right_shape.block : lanes * s->right_step;
    return 1;
}

/* The first records of a row that one span is made of; gives how many. */
HA_IN_ int64_t ha_apply_span(const ha_apply_part *p, const ha_apply_row *row, ha_span *s) {
    const ha_copy_shape *a = &p->left_shape, *b = &p->right_shape;
    const int left_even = ha_copy_is_even(a, row->left_step);
    const int right_even = ha_copy_is_even(b, row->right_step);
    const int64_t left_lanes = left_even ? 0 : a->lanes, right_lanes = right_even ? 0 : b->lanes;
    *s = (ha_span){.left = p->left + ha_copy_offset(a, row->left), .n = row->n, .runs = 1};
    s->right = p->right ? p->right + ha_copy_offset(b, row->right) : p->value;
    s->is_splat = !p->right;
    s->left_step = left_even ? ha_copy_stride(a, row->left_step) : a->lane;
    s->right_step = right_even ? ha_copy_stride(b, row->right_step) : b->lane;
    if (left_even && right_even) return s->n;
    if ((!left_even && row->left_step != 1) || (!right_even && row->right_step != 1)) s->n = 1;
    if (s->n == 1) return 1;
    if (ha_apply_blocks(p, row, left_lanes, right_lanes, s)) return s->n * s->runs;
    if (left_lanes > 0) s->n = ha_smaller(s->n, left_lanes - row->left % left_lanes);
    if (right_lanes > 0) s->n = ha_smaller(s->n, right_lanes - row->right % right_lanes);
    return s->n;
}

HA_IN_ void ha_apply_alone_row(const ha_apply_part *p, ha_apply_row row) {
    for (int64_t n; row.n > 0; row.n -= n) {
        ha_span s;
        n = ha_apply_span(p, &row, &s);
        ha_apply_kernel(p->kernel, &s);
        row.left += n * row.left_step;
        row.right += n * row.right_step;
    }
}

/* Equal distances on both sides, so that all rows are one span. */
HA_IN_ void ha_apply_flat(const ha_apply_part *p, const ha_apply_row *row) {
    const int64_t left = p->left_shape.block, right = p->right_shape.block;
    ha_apply_kernel(p->kernel,
                    &(ha_span){.left = p->left + row->left * left,
                               .right = p->right ? p->right + row->right * right : p->value,
                               .n = row->n,
                               .left_step = row->left_step * left,
                               .right_step = row->right_step * right,
                               .runs = row->rows,
                               .left_apart = row->left_row * left,
                               .right_apart = row->right_row * right,
                               .is_splat = !p->right});
}

HA_IN_ void ha_apply_alone(const ha_apply_part *p, ha_apply_row row) {
    if (p->left_shape.lanes == 1 && p->right_shape.lanes == 1) {
        ha_apply_flat(p, &row);
        return;
    }
    for (int64_t k = 0; k < row.rows; k++) {
        ha_apply_alone_row(p, row);
        row.left += row.left_row;
        row.right += row.right_row;
    }
}

/* ---- parts together -------------------------------------------------------------------------- */

/* What parts together meet on the right, or its beginning. */
HA_IN_ const char *ha_apply_right_of(const ha_apply_part *p) {
    return p->right ? p->right : p->pattern ? p->pattern : p->value;
}

/* So many whole blocks: as one array if they are filled, else by what follows each other in each. */
HA_IN_ void ha_apply_whole(const ha_apply_part *p, const ha_apply_row *row, int64_t blocks) {
    const int64_t each = ha_apply_values(p), right = p->right ? p->right_shape.block : 0;
    const int is_filled = p->is_filled && row->left_step == 1 &&
                          (!p->right || row->right_step == 1);
    ha_apply_kernel(
        p->kernel, &(ha_span){.left = p->left + ha_copy_offset(&p->left_shape, row->left),
                              .right = ha_apply_right_of(p) +
                                       (p->right ? ha_copy_offset(&p->right_shape, row->right) : 0),
                              .n = is_filled ? blocks * each : each,
                              .left_step = p->size,
                              .right_step = p->right || p->pattern ? p->right_size : 0,
                              .runs = is_filled ? 1 : blocks,
                              .left_apart = row->left_step * p->left_shape.block,
                              .right_apart = row->right_step * right,
                              .period = is_filled ? p->patterns * each : 0,
                              .least = p->least,
                              .in_order = is_filled && p->patterns > 0 && p->is_large,
                              .is_splat = !p->right && !p->pattern});
}

/* One after the other, n records. */
HA_IN_ void ha_apply_each(const ha_apply_part *p, ha_apply_row row, int64_t n) {
    row.n = n;
    for (int64_t k = 0; k < p->together && n > 0; k++) ha_apply_alone(&p[k], row);
}

/* So many records, of structs on the left and arrays on the right: as structs that the arrays are first
 * interleaved to, some at a time. */
HA_IN_ void ha_apply_interleaved(const ha_apply_part *p, const ha_apply_row *row) {
    _Alignas(64) char interleaved[HA_APPLY_INTERLEAVED];
    const char *column[HA_STRIDED_LEAVES];
    int64_t leaves = p->together; /* where there are gaps, as many as interleaving is fast with */
    if (!p->is_filled) leaves += (16 - leaves * p->right_size % 16) % 16 / p->right_size;
    const int64_t bytes = leaves * p->right_size, most = HA_APPLY_INTERLEAVED / bytes;
    ha_strided_blocks blocks = {.to = interleaved,
                                .from_table = column,
                                .to_leaf = p->right_size,
                                .to_lane = bytes,
                                .from_lane = p->right_size,
                                .leaves = leaves,
                                .blocks = 1,
                                .size = p->right_size};
    for (int64_t k = 0; k < row->n; k += blocks.lanes) {
        const int64_t n = blocks.lanes = ha_smaller(most, row->n - k);
        for (int64_t f = 0; f < leaves; f++)
            column[f] = p[ha_smaller(f, p->together - 1)].right + (row->right + k) * p->right_size;
        ha_strided_blocks_move(&blocks);
        ha_apply_kernel(p->kernel,
                        &(ha_span){.left = p->left + (row->left + k) * p->left_shape.block,
                                   .right = interleaved,
                                   .n = p->together * (p->is_filled ? n : 1),
                                   .left_step = p->size,
                                   .right_step = p->right_size,
                                   .runs = p->is_filled ? 1 : n,
                                   .left_apart = p->left_shape.block,
                                   .right_apart = bytes});
    }
}

HA_IN_ void ha_apply_together_row(const ha_apply_part *p, ha_apply_row row) {
    const int64_t lanes = p->left_shape.lanes;
    const int is_even = row.left_step == 1 && (!p->right || row.right_step == 1);
    if (is_even && p->is_interleaved) {
        ha_apply_interleaved(p, &row);
        return;
    }
    if (lanes == 1 && !p->is_interleaved) { /* structs */
        ha_apply_whole(p, &row, row.n);
        return;
    }
    const int64_t begun = row.left % lanes, head = begun == 0 ? 0 : lanes - begun;
    if (!is_even || p->is_interleaved || (p->right && row.right % lanes != begun) ||
        row.n < head + lanes) {
        ha_apply_each(p, row, row.n);
        return;
    }
    ha_apply_each(p, row, head);
    row.left += head;
    row.right += head;
    const int64_t blocks = (row.n - head) / lanes, rest = (row.n - head) % lanes;
    ha_apply_whole(p, &row, blocks);
    row.left += blocks * lanes;
    row.right += blocks * lanes;
    ha_apply_each(p, row, rest);
}

HA_IN_ void ha_apply_together(const ha_apply_part *p, ha_apply_row row) {
    const int64_t rows = row.rows;
    row.rows = 1;
    for (int64_t k = 0; k < rows; k++) {
        ha_apply_together_row(p, row);
        row.left += row.left_row;
        row.right += row.right_row;
    }
}

/* ---- tiles ----------------------------------------------------------------------------------- */

HA_IN_ void ha_apply_tile(const ha_apply_plan *p, const ha_apply_walk *w, int64_t unit) {
    const ha_copy_walk *walk = &w->walk;
    const ha_copy_loop *last = &walk->loop[walk->rank - 1];
    const int64_t begin = w->tiles > 1 ? unit % w->tiles * w->tile : 0;
    ha_apply_row row = {.left = walk->to + begin * last->to,
                        .right = walk->from + begin * last->from,
                        .left_step = last->to,
                        .right_step = last->from,
                        .n = ha_smaller(w->tile, last->count - begin),
                        .rows = 1};
    if (w->tiles > 1) unit /= w->tiles;
    for (int k = walk->rank - 2; k >= 0; k--) {
        const ha_copy_loop *loop = &walk->loop[k];
        const int64_t step = k == walk->rank - 2 ? w->rows : 1;
        const int64_t steps = loop->count / step + (loop->count % step != 0);
        const int64_t index = unit % steps * step;
        if (step > 1) {
            row.rows = ha_smaller(step, loop->count - index);
            row.left_row = loop->to;
            row.right_row = loop->from;
        }
        row.left += index * loop->to;
        row.right += index * loop->from;
        unit /= steps;
    }
    for (int64_t k = w->part; k < w->part + w->parts; k += p->part[k].together)
        if (p->part[k].together > 1)
            ha_apply_together(&p->part[k], row);
        else
            ha_apply_alone(&p->part[k], row);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Along which index the left one's values are nearest. */
HA_IN_ int ha_apply_along(const ha_mapping *m, int64_t leaf) {
    const int32_t number = m->row[leaf].linearizer;
    return number < 0 ? m->rank - 1 : m->linearizer[number].dimension[m->rank - 1];
}

/* Runs there are of a leaf. */
HA_IN_ int64_t ha_apply_runs_of(const ha_apply_plan *p, int along) {
    const int64_t length = p->last[along] - p->first[along];
    return p->records / length * (length / HA_PORTION + (length % HA_PORTION != 0));
}

HA_IN_ void ha_apply_run(const ha_apply_plan *p, const ha_apply_leaf *leaf, int along,
                         int64_t number, ha_operands *o) {
    const int64_t length = p->last[along] - p->first[along];
    const int64_t runs = length / HA_PORTION + (length % HA_PORTION != 0);
    const int64_t begin = number % runs * HA_PORTION, n = ha_smaller(HA_PORTION, length - begin);
    int64_t left[HA_MAPPING_RANK] = {0}, right[HA_MAPPING_RANK] = {0};
    number /= runs;
    for (int d = p->left->mapping->rank - 1; d >= 0; d--) {
        const int64_t count = d == along ? 1 : p->last[d] - p->first[d];
        left[d] = p->first[d] + (d == along ? begin : number % count);
        right[d] = left[d] + p->shift[d];
        number /= count;
    }
    if (p->operation != HA_ASSIGN)
        ha_fetch_run(p->left, leaf->left, left, along, n, o->left_values);
    if (leaf->right >= 0) {
        ha_fetch_run(p->right, leaf->right, right, along, n, o->right_values);
    } else {
        const int64_t size = (int64_t)ha_dtype_size(leaf->constant.type);
        for (int64_t k = 0; k < n; k++)
            memcpy(o->right_values + k * size, leaf->constant.value, (size_t)size);
    }
    ha_operate(p->operation, o, n);
    ha_keep_run(p->left, leaf->left, left, along, n, o->left_values);
}

/* Neighbours' bits are in the same bytes: only one thread may write them. */
HA_IN_ int ha_apply_shares_bytes(const ha_apply_plan *p, const ha_apply_leaf *leaf) {
    const ha_mapping *m = p->left->mapping;
    const ha_coding *coding = ha_row_coding(m, &m->row[leaf->left]);
    return coding && coding->bits > 0;
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct ha_apply_worker {
    const ha_apply_plan *plan;
    int64_t number, workers; /* which share of everything is its */
    int is_started;
    pthread_t thread;
    ha_operands operands;
} ha_apply_worker;

/* Share number k of n of the leaves that go by runs, those that share bytes with others or the rest. */
HA_IN_ void ha_apply_leaves(ha_apply_worker *w, int shared, int64_t number, int64_t workers) {
    const ha_apply_plan *p = w->plan;
    for (int64_t k = 0; k < p->leaves; k++) {
        const ha_apply_leaf *leaf = &p->leaf[k];
        if (ha_apply_shares_bytes(p, leaf) != shared) continue;
        const int along = ha_apply_along(p->left->mapping, leaf->left);
        const int64_t runs = ha_apply_runs_of(p, along);
        w->operands.left_type = ha_mapped_type(p->left->mapping, leaf->left);
        w->operands.right_type = leaf->right < 0 ? leaf->constant.type : leaf->right_type;
        for (int64_t u = ha_copy_share(runs, number, workers);
             u < ha_copy_share(runs, number + 1, workers); u++)
            ha_apply_run(p, leaf, along, u, &w->operands);
    }
}

HA_IN_ void ha_apply_share(ha_apply_worker *w, int64_t number) {
    const ha_apply_plan *p = w->plan;
    for (int64_t k = 0; k < p->walks; k++) {
        const int64_t end = ha_copy_share(p->walk[k].units, number + 1, w->workers);
        for (int64_t u = ha_copy_share(p->walk[k].units, number, w->workers); u < end; u++)
            ha_apply_tile(p, &p->walk[k], u);
    }
    ha_apply_leaves(w, 0, number, w->workers);
}

HA_IN_ void *ha_apply_thread(void *worker) {
    ha_apply_worker *w = (ha_apply_worker *)worker;
    ha_apply_share(w, w->number);
    return NULL;
}

/* This thread takes the first share, those of threads that cannot be started, and, when all others are
 * done, the leaves of bits. */
HA_IN_ void ha_apply_all(ha_apply_worker *worker, int64_t workers) {
    for (int64_t k = 1; k < workers; k++)
        worker[k].is_started = ha_has_threads() && !ha_start_thread_(&worker[k].thread, NULL,
                                                                     ha_apply_thread, &worker[k]);
    for (int64_t k = 0; k < workers; k++)
        if (!worker[k].is_started) ha_apply_share(worker, k);
    for (int64_t k = 1; k < workers; k++)
        if (worker[k].is_started) ha_join_thread_(worker[k].thread, NULL);
    ha_apply_leaves(worker, 1, 0, 1);
}

#endif
