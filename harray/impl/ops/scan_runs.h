/* Scans on the host: runs. Numbers are joined first to last in runs of 128; the runs' last numbers are items of the next level, in
 * which the same is done: what is before an item, its carry, is the exclusive scan there. */
#ifndef HARRAY_IMPL_OPS_SCAN_RUNS_H
#define HARRAY_IMPL_OPS_SCAN_RUNS_H

#include "split.h"

/* Lines that are scanned side by side; levels of 2^42 numbers. */
enum { HA_SCAN_RUN = 128, HA_SCAN_RUNS = 4, HA_SCAN_WIDTH = 256, HA_SCAN_LEVELS = 6 };

/* What a kernel does. */
enum { HA_SCAN_LINES, HA_SCAN_LASTS, HA_SCAN_PUT, HA_SCAN_EXCLUSIVE_ = 4 /* is added to these */ };

/* rank: of the dimensions along which is scanned, and 16 times that of the others. */
HA_IN_ int ha_scan_along_rank(const ha_op_key *key) { return key->rank % 16; }
HA_IN_ int ha_scan_others_rank(const ha_op_key *key) { return key->rank / 16; }
HA_IN_ int ha_scan_is_exclusive(const ha_op_key *key) { return key->of[0] / HA_SCAN_EXCLUSIVE_; }
HA_IN_ int ha_scan_does(const ha_op_key *key) { return key->of[0] % HA_SCAN_EXCLUSIVE_; }

/* ---- one run ------------------------------------------------------------------------------------- */

/* Numbers first to last, each joined with what is before the run; *last is theirs alone. y may be x. And the last numbers alone of
 * four runs that follow each other, side by side, as each step waits for the one before it. */
#define HA_SCAN_LINE_(T, operation, ...)                                                           \
    HA_IF_CHOSEN_(HA_IS_JOIN_##operation##_)(HA_SCAN_RUN_(T, __VA_ARGS__))
#define HA_SCAN_RUN_(T, word, ...)                                                                 \
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
    }                                                                                              \
    HA_CONTRACTED_0_ HA_IN_ void ha_scan_lasts_##word##_##T(const void *from, void *last) {        \
        const T *x = (const T *)from, *y = x + HA_SCAN_RUN, *z = y + HA_SCAN_RUN,                  \
                *w = z + HA_SCAN_RUN;                                                              \
        T p = *x, q = *y, r = *z, s = *w;                                                          \
        for (int64_t k = 1; k < HA_SCAN_RUN; k++) {                                                \
            p = ha_scan_join_##word##_##T(p, x[k]);                                                \
            q = ha_scan_join_##word##_##T(q, y[k]);                                                \
            r = ha_scan_join_##word##_##T(r, z[k]);                                                \
            s = ha_scan_join_##word##_##T(s, w[k]);                                                \
        }                                                                                          \
        T *const to = (T *)last;                                                                   \
        to[0] = p, to[1] = q, to[2] = r, to[3] = s;                                                \
    }
#define HA_SCAN_LINES_(X) HA_LINES_OF_TYPES_(HA_NO_LINE_, X, HA_NO_LINE_, HA_NO_LINE_, HA_NO_LINE_)
HA_CONTRACTION_0_
HA_SCAN_LINES_(HA_SCAN_LINE_)
HA_CONTRACTION_END_

typedef void (*ha_scan_run_of)(const void *from, void *to, int64_t n, const void *before,
                               int is_exclusive, void *last);
typedef void (*ha_scan_lasts_of)(const void *from, void *last);
typedef struct ha_scan_row {
    ha_scan_run_of run;
    ha_scan_lasts_of lasts;
} ha_scan_row;
#define HA_SCAN_ROW_(T, operation, word, ...)                                                      \
    HA_IF_CHOSEN_(HA_IS_JOIN_##operation##_)                                                       \
    ([HA_AT_##T * HA_LINES_FROM_(HA_ADD, HA_MAXIMUM) + HA_LINES_FROM_(HA_ADD, operation) -         \
         1] = {ha_scan_##word##_##T, ha_scan_lasts_##word##_##T}, )
/* In the order of the lines of ha_op_joins. */
static const ha_scan_row ha_scan_table[] = {HA_SCAN_LINES_(HA_SCAN_ROW_)};

HA_IN_ const ha_scan_row *ha_scan_row_of(const ha_op_key *key) {
    const ha_op_table *table = &ha_op_joins;
    return &ha_scan_table[(int)key->type->at * table->of_type + key->line->number - table->first];
}

/* z = op(u, v) for n numbers. */
HA_IN_ void ha_scan_join(const ha_op_key *key, void *z, const void *u, const void *v, int64_t n) {
    const ha_op_row row = {
        .n = n, .of = {z, (void *)(uintptr_t)u, (void *)(uintptr_t)v}, .step = {1, 1, 1}};
    key->line->rows(&row);
}

/* ---- levels -------------------------------------------------------------------------------------- */

typedef struct ha_scan_level {
    char *joined; /* the items of the run so far */
    char *carry;  /* all before the run */
    int64_t n;    /* items of the run */
} ha_scan_level;
#define HA_SCAN_ROOM_(width) (HA_SCAN_LEVELS * 2 * (width)*16) /* bytes of all items and carries */

/* Of lines side by side. */
typedef struct ha_scan_levels {
    const ha_op_key *key;
    size_t bytes; /* of a number of each line */
    int64_t width;
    ha_scan_level level[HA_SCAN_LEVELS];
} ha_scan_levels;

HA_IN_ void ha_scan_begin(ha_scan_levels *s, char *room, const ha_op_key *key, int64_t width,
                          const ha_dvalue *first) {
    const size_t number = ha_dtype_size(key->type->number);
    s->key = key;
    s->width = width;
    s->bytes = number * (size_t)width;
    for (int l = 0; l < HA_SCAN_LEVELS; l++) {
        char *const joined = room + (size_t)l * 2 * 16 * (size_t)width;
        s->level[l] = (ha_scan_level){joined, joined + 16 * width, 0};
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
    const ha_scan_row *row;
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
    w->row->run(x, y, n, carry, ha_scan_is_exclusive(w->key), last);
    if (!is_dense) ha_scan_store(w, line, first, n, buffer);
}

/* Numbers [first, last) of a line, which begin a block; before: what is joined before them. */
HA_IN_ void ha_scan_numbers(const ha_scan_walk *w, int64_t line, int64_t first, int64_t last,
                            const ha_dvalue *before) {
    _Alignas(16) char carry[16], item[16], room[HA_SCAN_ROOM_(1)];
    ha_scan_levels levels;
    ha_scan_begin(&levels, room, w->key, 1, before);
    for (; first < last; first += HA_SCAN_RUN) {
        ha_scan_carry(&levels, 1, carry);
        ha_scan_run_at(w, line, first, HA_LESS(HA_SCAN_RUN, last - first), carry, item);
        ha_scan_take(&levels, 1, item);
        ha_scan_go_on(&levels, 1);
    }
}

#endif
