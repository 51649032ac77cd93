/* Scans on the host. Numbers are joined first to last in runs of 128; the runs' last numbers are items of the next level, in which
 * the same is done: what is before an item, its carry, is the exclusive scan there. */
#ifndef HARRAY_IMPL_OPS_SCAN_LOOPS_H
#define HARRAY_IMPL_OPS_SCAN_LOOPS_H

#include "split.h"

/* Lines that are scanned side by side; levels of 2^42 numbers. */
enum { HA_SCAN_RUN = 128, HA_SCAN_WIDTH = 256, HA_SCAN_LEVELS = 6 };

/* What a kernel does. */
enum { HA_SCAN_LINES, HA_SCAN_LASTS, HA_SCAN_PUT, HA_SCAN_EXCLUSIVE_ = 4 /* is added to these */ };

/* rank: of the dimensions along which is scanned, and 16 times that of the others. */
HA_IN_ int ha_scan_along_rank(const ha_op_key *key) { return key->rank % 16; }
HA_IN_ int ha_scan_others_rank(const ha_op_key *key) { return key->rank / 16; }
HA_IN_ int ha_scan_is_exclusive(const ha_op_key *key) { return key->of[0] / HA_SCAN_EXCLUSIVE_; }
HA_IN_ int ha_scan_does(const ha_op_key *key) { return key->of[0] % HA_SCAN_EXCLUSIVE_; }

/* ---- one run ------------------------------------------------------------------------------------- */

/* Numbers first to last, each joined with what is before the run; *last is theirs alone. y may be x. */
#define HA_IS_SCANNED_HA_ADD_ ~, 1
#define HA_IS_SCANNED_HA_MULTIPLY_ ~, 1
#define HA_IS_SCANNED_HA_MINIMUM_ ~, 1
#define HA_IS_SCANNED_HA_MAXIMUM_ ~, 1
#define HA_SCAN_LINE_(T, operation, ...)                                                           \
    HA_VARIANT_(HA_SCAN_LINE_, HA_DEFINED_(HA_IS_SCANNED_##operation##_))(T, __VA_ARGS__)
#define HA_SCAN_LINE_0_(T, word, ...)
#define HA_SCAN_LINE_1_(T, word, ...)                                                              \
    HA_FN T ha_scan_join_##word##_##T(T u, T v) { return __VA_ARGS__; }                            \
    HA_CONTRACTED_0_ HA_IN_ void ha_scan_##word##_##T(                                             \
        const void *from, void *to, int64_t n, const void *before, int is_exclusive, void *last) { \
        const T *x = (const T *)from, c = *(const T *)before;                                      \
        T *const y = (T *)to, p = *x;                                                              \
        *y = is_exclusive ? c : ha_scan_join_##word##_##T(p, c);                                   \
        for (int64_t k = 1; k < n; k++) {                                                          \
            const T joined = ha_scan_join_##word##_##T(p, x[k]);                                   \
            y[k] = ha_scan_join_##word##_##T(is_exclusive ? p : joined, c);                        \
            p = joined;                                                                            \
        }                                                                                          \
        *(T *)last = p;                                                                            \
    }
#define HA_SCAN_LINES_(X) HA_LINES_OF_TYPES_(HA_NO_LINE_, X, HA_NO_LINE_, HA_NO_LINE_, HA_NO_LINE_)
#define HA_NO_LINE_(...)
HA_CONTRACTION_0_
HA_SCAN_LINES_(HA_SCAN_LINE_)
HA_CONTRACTION_END_

typedef void (*ha_scan_run_of)(const void *from, void *to, int64_t n, const void *before,
                               int is_exclusive, void *last);
#define HA_SCAN_ROW_(T, operation, ...)                                                            \
    HA_VARIANT_(HA_SCAN_ROW_, HA_DEFINED_(HA_IS_SCANNED_##operation##_))(T, __VA_ARGS__)
#define HA_SCAN_ROW_0_(T, word, ...)
#define HA_SCAN_ROW_1_(T, word, ...) {ha_row_##word##_##T, ha_scan_##word##_##T},
static const struct {
    ha_op_rows rows; /* of the line in the table of operations */
    ha_scan_run_of run;
} ha_scan_table[] = {HA_SCAN_LINES_(HA_SCAN_ROW_)};

HA_IN_ ha_scan_run_of ha_scan_run_by(const ha_op_key *key) {
    size_t i = 0;
    while (ha_scan_table[i].rows != key->line->rows) i++;
    return ha_scan_table[i].run;
}

/* z = op(u, v) for n numbers. */
HA_IN_ void ha_scan_join(const ha_op_key *key, void *z, const void *u, const void *v, int64_t n) {
    const ha_op_row row = {
        .n = n, .of = {z, (void *)(uintptr_t)u, (void *)(uintptr_t)v}, .step = {1, 1, 1}};
    key->line->rows(&row);
}

/* ---- levels -------------------------------------------------------------------------------------- */

typedef struct ha_scan_level {
    _Alignas(16) char joined[HA_SCAN_WIDTH * 16]; /* the items of the run so far */
    _Alignas(16) char carry[HA_SCAN_WIDTH * 16];  /* all before the run */
    int64_t n;                                    /* items of the run */
} ha_scan_level;

/* Of lines side by side. */
typedef struct ha_scan_levels {
    const ha_op_key *key;
    size_t bytes; /* of a number of each line */
    int64_t width;
    ha_scan_level level[HA_SCAN_LEVELS];
} ha_scan_levels;

HA_IN_ void ha_scan_begin(ha_scan_levels *s, const ha_op_key *key, int64_t width,
                          const ha_dvalue *first) {
    const size_t number = ha_dtype_size(key->type->number);
    s->key = key;
    s->width = width;
    s->bytes = number * (size_t)width;
    for (int l = 0; l < HA_SCAN_LEVELS; l++) {
        s->level[l].n = 0;
        for (int64_t i = 0; i < width; i++)
            ha_copy_number(s->level[l].carry + (size_t)i * number, first->bytes, number);
    }
}

/* What is before the next item of a level. */
HA_IN_ void ha_scan_carry(const ha_scan_levels *s, int l, char *to) {
    const ha_scan_level *level = &s->level[l];
    if (level->n)
        ha_scan_join(s->key, to, level->joined, level->carry, s->width);
    else
        ha_copy_number(to, level->carry, s->bytes);
}

HA_IN_ void ha_scan_take(ha_scan_levels *s, int l, const char *item) {
    ha_scan_level *level = &s->level[l];
    if (level->n++)
        ha_scan_join(s->key, level->joined, level->joined, item, s->width);
    else
        ha_copy_number(level->joined, item, s->bytes);
}

/* Behind an item: a run that is complete is an item of the next level. */
HA_IN_ void ha_scan_go_on(ha_scan_levels *s, int l) {
    int complete = l;
    while (s->level[complete].n == HA_SCAN_RUN) {
        ha_scan_take(s, complete + 1, s->level[complete].joined);
        complete++;
    }
    while (complete-- > l) {
        s->level[complete].n = 0;
        ha_scan_carry(s, complete + 1, s->level[complete].carry);
    }
}

/* ---- one line ------------------------------------------------------------------------------------ */

/* A launch. */
typedef struct ha_scan_walk {
    const ha_op_key *key;
    ha_scan_run_of run;
    int64_t all, lines;
    const int64_t *y, *x; /* extents, and strides behind them */
    char *to;
    const char *from;
} ha_scan_walk;

HA_IN_ int64_t ha_scan_bytes(const ha_scan_walk *w) {
    return (int64_t)ha_dtype_size(w->key->type->type);
}

/* Where a line begins. */
HA_IN_ int64_t ha_scan_line_at(const ha_scan_walk *w, const int64_t *view, int64_t line) {
    const int along = ha_scan_along_rank(w->key), others = ha_scan_others_rank(w->key);
    return others ? ha_strided_place_(view + along, view + 2 * along + others, others, line) : 0;
}

/* The strides along which is scanned. */
HA_IN_ const int64_t *ha_scan_stride(const ha_scan_walk *w, const int64_t *view) {
    return view + ha_scan_along_rank(w->key) + ha_scan_others_rank(w->key);
}

HA_IN_ int ha_scan_is_dense(const ha_scan_walk *w, const int64_t *view) {
    return ha_scan_along_rank(w->key) == 1 && *ha_scan_stride(w, view) == 1 &&
           w->key->type->type == w->key->type->number;
}

/* Numbers [first, first + n) of a line: where they are already, or in the buffer. */
HA_IN_ const char *ha_scan_load(const ha_scan_walk *w, int64_t line, int64_t first, int64_t n,
                                char *buffer) {
    const int64_t bytes = ha_scan_bytes(w), at = ha_scan_line_at(w, w->x, line);
    const int64_t number = (int64_t)ha_dtype_size(w->key->type->number);
    const int rank = ha_scan_along_rank(w->key);
    const int64_t *stride = ha_scan_stride(w, w->x);
    if (ha_scan_is_dense(w, w->x)) return w->from + (at + first) * bytes;
    for (int64_t done = 0, m, place; done < n; done += m) {
        m = ha_split_piece(w->x, stride, rank, first + done, n - done, &place);
        ha_split_load(w->key->type, buffer + done * number, w->from + (at + place) * bytes, m,
                      stride[rank - 1]);
    }
    return buffer;
}

HA_IN_ void ha_scan_store(const ha_scan_walk *w, int64_t line, int64_t first, int64_t n,
                          const char *buffer) {
    const int64_t bytes = ha_scan_bytes(w), at = ha_scan_line_at(w, w->y, line);
    const int64_t number = (int64_t)ha_dtype_size(w->key->type->number);
    const int rank = ha_scan_along_rank(w->key);
    const int64_t *stride = ha_scan_stride(w, w->y);
    for (int64_t done = 0, m, place; done < n; done += m) {
        m = ha_split_piece(w->y, stride, rank, first + done, n - done, &place);
        ha_split_store(w->key->type, w->to + (at + place) * bytes, buffer + done * number, m,
                       stride[rank - 1]);
    }
}

/* A run of a line, of which carry is before it. */
HA_IN_ void ha_scan_run_at(const ha_scan_walk *w, int64_t line, int64_t first, int64_t n,
                           const char *carry, char *last) {
    const int is_dense = ha_scan_is_dense(w, w->y);
    _Alignas(16) char buffer[HA_SCAN_RUN * 16];
    const char *x = ha_scan_load(w, line, first, n, buffer);
    char *const y = is_dense ? w->to + (ha_scan_line_at(w, w->y, line) + first) * ha_scan_bytes(w)
                             : buffer;
    w->run(x, y, n, carry, ha_scan_is_exclusive(w->key), last);
    if (!is_dense) ha_scan_store(w, line, first, n, buffer);
}

HA_IN_ void ha_scan_line(const ha_scan_walk *w, int64_t line, const ha_dvalue *begin) {
    _Alignas(16) char carry[16], last[16];
    ha_scan_levels levels;
    ha_scan_begin(&levels, w->key, 1, begin);
    for (int64_t first = 0; first < w->all; first += HA_SCAN_RUN) {
        ha_scan_carry(&levels, 1, carry);
        ha_scan_run_at(w, line, first, HA_LESS(HA_SCAN_RUN, w->all - first), carry, last);
        ha_scan_take(&levels, 1, last);
        ha_scan_go_on(&levels, 1);
    }
}

/* ---- lines side by side -------------------------------------------------------------------------- */

/* n lines, of which those of x and y are `of` and `to` elements apart. */
HA_IN_ void ha_scan_several(const ha_scan_walk *w, int64_t line, int64_t n, int64_t of, int64_t to,
                            const ha_dvalue *begin) {
    const int64_t bytes = ha_scan_bytes(w);
    const char *x = w->from + ha_scan_line_at(w, w->x, line) * bytes;
    char *y = w->to + ha_scan_line_at(w, w->y, line) * bytes;
    _Alignas(16) char item[HA_SCAN_WIDTH * 16], scanned[HA_SCAN_WIDTH * 16];
    ha_scan_levels levels;
    ha_scan_begin(&levels, w->key, n, begin);
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

HA_IN_ void ha_scan_all_lines(const ha_scan_walk *w, int64_t first, int64_t last,
                              const ha_dvalue *begin) {
    const int along = ha_scan_along_rank(w->key), others = ha_scan_others_rank(w->key);
    const int64_t width = others ? w->y[along + others - 1] : 1;
    for (int64_t n; first < last; first += n) {
        n = 1;
        if (width < 4 || ha_scan_is_dense(w, w->y)) {
            ha_scan_line(w, first, begin);
            continue;
        }
        n = HA_LESS(last - first, width - first % width);
        n = HA_LESS(n, HA_SCAN_WIDTH);
        ha_scan_several(w, first, n, ha_scan_stride(w, w->x)[others],
                        ha_scan_stride(w, w->y)[others], begin);
    }
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
    w->run(x, buffer, n, x, 0, last);
    memcpy(carry, last, bytes);
}

/* Slots: y but of LASTS, x, the runs' carries but of LINES, which have the first one of all, numbers along, and lines. */
HA_IN_ void ha_scan_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                          const ha_kernel_slot_ *slot) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    const int does = ha_scan_does(key);
    ha_scan_walk w = {.key = key, .run = ha_scan_run_by(key)};
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
    HA_AMONG_THREADS_(box, 1, does == HA_SCAN_LINES ? (double)w.all : HA_SCAN_RUN,
                      const ha_region own = HA_SHARE_(box, 0);
                      if (does == HA_SCAN_LINES)
                          ha_scan_all_lines(&w, own.first[0], own.last[0], &begin);
                      else for (ptrdiff_t i = own.first[0]; i < own.last[0]; i++)
                          ha_scan_one_run(&w, carries, i);)
}

#endif
