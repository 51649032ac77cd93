/* Scans on the host: who scans what. Threads share lines, and where there are fewer of these than threads, the blocks of a line, each
 * of 128 runs: first what the numbers of each block are when they are joined is found, which are items of the level above
 * the runs; then all blocks are scanned, each with its carry. */
#ifndef HARRAY_IMPL_OPS_SCAN_LOOPS_H
#define HARRAY_IMPL_OPS_SCAN_LOOPS_H

#include "scan_runs.h"

/* ---- blocks of a line ---------------------------------------------------------------------------- */

enum { HA_SCAN_BLOCK = HA_SCAN_RUN * HA_SCAN_RUN };

typedef struct ha_scan_blocks {
    const ha_scan_walk *walk;
    int64_t line;
    size_t bytes; /* of a number */
    char *carry;  /* one of each block; at first what its numbers are when they are joined */
    void (*run)(const struct ha_scan_blocks *blocks, int64_t block);
} ha_scan_blocks;

/* Of a block that is complete: nobody needs that of the last one. */
HA_IN_ void ha_scan_join_block(const ha_scan_blocks *b, int64_t block) {
    enum { ALL = HA_SCAN_RUNS * HA_SCAN_RUN };
    _Alignas(16) char buffer[ALL * 16], last[HA_SCAN_RUNS * 16];
    char *const joined = b->carry + (size_t)block * b->bytes;
    const int64_t begin = block * HA_SCAN_BLOCK;
    for (int64_t k = 0; k < HA_SCAN_BLOCK; k += ALL) {
        b->walk->row->lasts(ha_scan_load(b->walk, b->line, begin + k, ALL, buffer), last);
        if (k == 0) memcpy(joined, last, b->bytes);
        for (size_t i = k == 0; i < HA_SCAN_RUNS; i++)
            ha_scan_join(b->walk->key, joined, joined, last + i * b->bytes, 1);
    }
}

HA_IN_ void ha_scan_put_block(const ha_scan_blocks *b, int64_t block) {
    const int64_t first = block * HA_SCAN_BLOCK;
    ha_dvalue before = {.type = b->walk->key->type->number};
    memcpy(before.bytes, b->carry + (size_t)block * b->bytes, b->bytes);
    ha_scan_numbers(b->walk, b->line, first, HA_LESS(first + HA_SCAN_BLOCK, b->walk->all), &before);
}

HA_IN_ void ha_scan_run_blocks(const void *blocks, int64_t first, int64_t last) {
    const ha_scan_blocks *b = (const ha_scan_blocks *)blocks;
    const ha_region all = {{first}, {last}};
    HA_AMONG_THREADS_(&all, 1, HA_SCAN_BLOCK, const ha_region own = HA_SHARE_(&all, 0);
                      for (ptrdiff_t i = own.first[0]; i < own.last[0]; i++) b->run(b, i);)
}

HA_IN_ void ha_scan_each_block(ha_scan_blocks *b, int64_t n,
                               void (*run)(const ha_scan_blocks *blocks, int64_t block)) {
    b->run = run;
    if (ha_is_worth_parts((double)(n * HA_SCAN_BLOCK)))
        ha_run_in_parts(ha_scan_run_blocks, b, n);
    else
        ha_scan_run_blocks(b, 0, n);
}

/* From what blocks are when they are joined to what is before them, by the order of the levels above. */
HA_IN_ void ha_scan_block_carries(const ha_scan_blocks *b, int64_t n, const ha_dvalue *begin) {
    _Alignas(16) char item[16], room[HA_SCAN_ROOM_(1)];
    ha_scan_levels levels;
    ha_scan_begin(&levels, room, b->walk->key, 1, begin);
    for (int64_t i = 0; i < n; i++) {
        char *const carry = b->carry + (size_t)i * b->bytes;
        if (i < n - 1) memcpy(item, carry, b->bytes);
        ha_scan_carry(&levels, 2, carry);
        if (i < n - 1) {
            ha_scan_take(&levels, 2, item);
            ha_scan_go_on(&levels, 2);
        }
    }
}

/* Without memory for the carries by one thread. */
HA_IN_ void ha_scan_line_in_blocks(const ha_scan_walk *w, int64_t line, const ha_dvalue *begin) {
    const int64_t n = (w->all + HA_SCAN_BLOCK - 1) / HA_SCAN_BLOCK;
    ha_scan_blocks b = {.walk = w, .line = line, .bytes = ha_dtype_size(begin->type)};
    b.carry = (char *)HARRAY_MALLOC((size_t)n * b.bytes);
    if (!b.carry) {
        ha_scan_numbers(w, line, 0, w->all, begin);
        return;
    }
    ha_scan_each_block(&b, n - 1, ha_scan_join_block);
    ha_scan_block_carries(&b, n, begin);
    ha_scan_each_block(&b, n, ha_scan_put_block);
    HARRAY_FREE(b.carry);
}

/* ---- lines side by side -------------------------------------------------------------------------- */

/* n lines, of which those of x and y are `of` and `to` elements apart. */
HA_IN_ void ha_scan_several(const ha_scan_walk *w, int64_t line, int64_t n, int64_t of, int64_t to,
                            const ha_dvalue *begin) {
    const int64_t bytes = ha_scan_bytes(w);
    const char *x = w->from + ha_scan_line_at(w, w->x, line) * bytes;
    char *y = w->to + ha_scan_line_at(w, w->y, line) * bytes;
    _Alignas(16) char item[HA_SCAN_WIDTH * 16], scanned[HA_SCAN_WIDTH * 16];
    _Alignas(16) char room[HA_SCAN_ROOM_(HA_SCAN_WIDTH)];
    ha_scan_levels levels;
    ha_scan_begin(&levels, room, w->key, n, begin);
    for (int64_t k = 0; k < w->all; k++) {
        ha_split_load(w->key->type, item, x, n, of);
        if (ha_scan_is_exclusive(w->key)) ha_scan_carry(&levels, 0, scanned);
        ha_scan_take(&levels, 0, item);
        if (!ha_scan_is_exclusive(w->key)) ha_scan_carry(&levels, 0, scanned);
        ha_scan_go_on(&levels, 0);
        ha_split_store(w->key->type, y, scanned, n, to);
        x += *ha_scan_stride(w, w->x) * bytes;
        y += *ha_scan_stride(w, w->y) * bytes;
    }
}

/* ---- a launch ------------------------------------------------------------------------------------ */

/* How many lines are neighbours of each other, and scanned side by side; 1: none. */
HA_IN_ int64_t ha_scan_side_by_side(const ha_scan_walk *w) {
    const int along = ha_scan_along_rank(w->key), others = ha_scan_others_rank(w->key);
    const int64_t width = others ? w->y[along + others - 1] : 1;
    return width < 4 || ha_scan_is_dense(w, w->y) ? 1 : width;
}

/* Are there more threads than lines? How many a user has (ha_set_parallel) is not known: not more than that, let us say. */
enum { HA_SCAN_MANY_LINES = 64 };
HA_IN_ int ha_scan_shares_lines(const ha_scan_walk *w, int64_t lines) {
    if (w->all <= HA_SCAN_BLOCK || ha_scan_side_by_side(w) > 1) return 0;
    if (ha_is_worth_parts((double)w->all)) return lines < HA_SCAN_MANY_LINES;
#ifdef _OPENMP
    return !omp_in_parallel() && !ha_is_in_part_() && lines < omp_get_max_threads();
#else
    (void)lines;
    return 0;
#endif
}

HA_IN_ void ha_scan_all_lines(const ha_scan_walk *w, int64_t first, int64_t last,
                              const ha_dvalue *begin) {
    const int others = ha_scan_others_rank(w->key);
    const int64_t width = ha_scan_side_by_side(w);
    for (int64_t n; first < last; first += n) {
        n = 1;
        if (width == 1) {
            ha_scan_numbers(w, first, 0, w->all, begin);
            continue;
        }
        n = HA_LESS(last - first, width - first % width);
        n = HA_LESS(n, HA_SCAN_WIDTH);
        ha_scan_several(w, first, n, ha_scan_stride(w, w->x)[others],
                        ha_scan_stride(w, w->y)[others], begin);
    }
}

/* By threads of the user's. */
typedef struct ha_scan_lines {
    const ha_scan_walk *walk;
    int64_t first;
    const ha_dvalue *begin;
} ha_scan_lines;
HA_IN_ void ha_scan_run_lines(const void *lines, int64_t first, int64_t last) {
    const ha_scan_lines *l = (const ha_scan_lines *)lines;
    ha_scan_all_lines(l->walk, l->first + first, l->first + last, l->begin);
}

HA_IN_ void ha_scan_each_line(const ha_scan_walk *w, const ha_region *box, const ha_dvalue *begin) {
    const int64_t first = box->first[0], n = box->last[0] - first;
    if (ha_scan_shares_lines(w, n)) {
        for (int64_t i = 0; i < n; i++) ha_scan_line_in_blocks(w, first + i, begin);
        return;
    }
    if (n > 1 && ha_is_worth_parts((double)n * (double)w->all)) {
        const ha_scan_lines lines = {w, first, begin};
        ha_run_in_parts(ha_scan_run_lines, &lines, n);
        return;
    }
    HA_AMONG_THREADS_(box, 1, (double)w->all, const ha_region own = HA_SHARE_(box, 0);
                      ha_scan_all_lines(w, own.first[0], own.last[0], begin);)
}

/* Run i of a launch on a device: its last number, or all of it. */
HA_IN_ void ha_scan_one_run(const ha_scan_walk *w, char *carries, int64_t i) {
    const size_t bytes = ha_dtype_size(w->key->type->number);
    const int64_t line = i % w->lines, first = i / w->lines * HA_SCAN_RUN;
    const int64_t n = HA_LESS(HA_SCAN_RUN, w->all - first);
    _Alignas(16) char buffer[HA_SCAN_RUN * 16], last[16];
    char *const carry = carries + (size_t)i * bytes;
    if (ha_scan_does(w->key) == HA_SCAN_PUT) {
        ha_scan_run_at(w, line, first, n, carry, last);
        return;
    }
    const char *x = ha_scan_load(w, line, first, n, buffer);
    w->row->run(x, buffer, n, x, 0, last);
    memcpy(carry, last, bytes);
}

/* Slots: y but of LASTS, x, the runs' carries but of LINES, which have the first one of all, numbers along, and lines. */
HA_IN_ void ha_scan_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                          const ha_kernel_slot_ *slot) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    const int does = ha_scan_does(key);
    ha_scan_walk w = {.key = key, .row = ha_scan_row_of(key)};
    ha_dvalue begin = {.type = key->type->number};
    if (does != HA_SCAN_LASTS) {
        w.y = ((const ha_kernel_span *)slot->span)->numbers;
        w.to = (char *)slot++->pointer;
    }
    w.x = ((const ha_kernel_span *)slot->span)->numbers;
    w.from = (const char *)slot++->pointer;
    char *const carries = (char *)slot++->pointer;
    if (does == HA_SCAN_LINES) memcpy(begin.bytes, carries, ha_dtype_size(begin.type));
    memcpy(&w.all, slot++->pointer, sizeof w.all);
    memcpy(&w.lines, slot->pointer, sizeof w.lines);
    (void)apart;
    if (does == HA_SCAN_LINES) {
        ha_scan_each_line(&w, box, &begin);
        return;
    }
    HA_AMONG_THREADS_(box, 1, HA_SCAN_RUN, const ha_region own = HA_SHARE_(box, 0);
                      for (ptrdiff_t i = own.first[0]; i < own.last[0]; i++)
                          ha_scan_one_run(&w, carries, i);)
}

#endif
