/* Spans of values for kernels: in which pieces they are done. */
#ifndef HARRAY_LAYOUT_IMPL_ARITHMETIC_SPANS_H
#define HARRAY_LAYOUT_IMPL_ARITHMETIC_SPANS_H

#include "kernels.h"
#include "../base/all.h"

/* Runs of n values each, some bytes apart. */
typedef struct ha_span {
    char *left;
    const char *right;
    int64_t n, left_step, right_step;
    int64_t runs, left_apart, right_apart;
    int64_t period; /* values on the right after which they come again, for one run; 0: never */
    int64_t least;  /* of which that is a multiple, after which they do, too */
    int in_order;   /* as memory lies: it is too large for caches */
    int is_splat;   /* all meet the same HA_SPLAT bytes, which are one value over and over */
} ha_span;

enum {
    HA_SPLAT = 128,         /* bytes of four vectors */
    HA_APPLY_ALIGNED = 64,  /* vectors, from which on it pays to begin with a whole one */
    HA_APPLY_CACHED = 16384 /* bytes that stay in the nearest cache */
};

/* The largest form of no more than n values, and how many values that is. */
HA_IN_ ha_apply_form ha_form_within(const ha_span_kernel *kernel, int64_t n, int64_t *values) {
    int64_t vectors = ha_smaller(n / kernel->lanes, 4);
    if (vectors < 4) vectors = ha_smaller(vectors, kernel->vectors);
    if (vectors == 0 || !kernel->wide) {
        *values = ha_smaller(n, kernel->most);
        return (ha_apply_form)*values;
    }
    *values = vectors * kernel->lanes;
    return (ha_apply_form)(HA_FORM_VECTOR - 1 + vectors);
}

/* Are so many pieces done along each run? Else all first ones are, then all second ones, as the end
 * of a loop costs as much as some pieces, and values on the right that are the same in all runs
 * stay in registers. */
HA_IN_ int ha_goes_along(int64_t runs, int64_t count, int is_same) {
    return runs == 1 || count >= (is_same ? 16 : 8);
}

/* How often the same lines of all runs are gone through. */
HA_IN_ int64_t ha_form_passes(const ha_span_kernel *kernel, int64_t n, int is_same) {
    int64_t passes = 0, values;
    for (; n > 0; n %= values) {
        (void)ha_form_within(kernel, n, &values);
        const int64_t pieces = n / values;
        passes += values * kernel->size >= 32 || ha_goes_along(2, pieces, is_same) ? 1 : pieces;
    }
    return passes;
}

/* Values from number `at` on of each run, `count` pieces of one form. */
HA_IN_ void ha_apply_form_of_runs(const ha_span_kernel *kernel, const ha_span *s,
                                  ha_apply_form form, int64_t at, int64_t values, int64_t count) {
    const int64_t left = values * s->left_step, right = s->is_splat ? 0 : values * s->right_step;
    const int is_same = !s->is_splat && s->right_apart == 0;
    const int is_along = (s->in_order && count > 1) || ha_goes_along(s->runs, count, is_same);
    const ha_apply_pieces p = {
        .left = s->left + at * s->left_step,
        .right = s->right + (s->is_splat ? 0 : at * s->right_step),
        .n = is_along ? count : s->runs,
        .left_apart = is_along ? left : s->left_apart,
        .right_apart = is_along ? right : s->right_apart,
        .rounds = is_along ? s->runs : count,
        .left_round = is_along ? s->left_apart : left,
        .right_round = is_along ? s->right_apart : right,
    };
    (form < HA_FORM_VECTOR ? kernel->few : kernel->wide)(&p, form);
}

/* Values next to each other: what is left behind the largest pieces by smaller ones, all runs by
 * one form after the other. Those of a tile stay in the nearest cache meanwhile. */
HA_IN_ void ha_apply_dense(const ha_span_kernel *kernel, const ha_span *s) {
    for (int64_t at = 0, values, count; at < s->n; at += count * values) {
        const ha_apply_form form = ha_form_within(kernel, s->n - at, &values);
        count = (s->n - at) / values;
        ha_apply_form_of_runs(kernel, s, form, at, values, count);
    }
}

/* A long run, so that vectors on the left begin where vectors do. */
HA_IN_ void ha_apply_aligned(const ha_span_kernel *kernel, const ha_span *s) {
    const int64_t vector = kernel->lanes * kernel->size;
    const int64_t begun = (int64_t)((uintptr_t)s->left % (uintptr_t)vector);
    ha_span part = *s;
    if (begun != 0 && begun % kernel->size == 0) {
        part.n = (vector - begun) / kernel->size;
        ha_apply_dense(kernel, &part);
        part.left += part.n * s->left_step;
        part.right += s->is_splat ? 0 : part.n * s->right_step;
        part.n = s->n - part.n;
    }
    ha_apply_dense(kernel, &part);
}

/* One run, for which the values on the right come again and again: as runs that meet the same, so
 * many at a time that they stay in the nearest cache. */
HA_IN_ void ha_apply_periods(const ha_span_kernel *kernel, const ha_span *s) {
    const int64_t period = s->in_order ? s->period : s->least, bytes = period * kernel->size;
    int64_t times = s->n / period;
    ha_span part = *s;
    part.n = period;
    part.left_apart = bytes;
    part.right_apart = 0;
    for (; times > 0; times -= part.runs) {
        part.runs = s->in_order ? times : ha_smaller(times, ha_larger(HA_APPLY_CACHED / bytes, 1));
        ha_apply_dense(kernel, &part);
        part.left += part.runs * bytes;
    }
    part.n = s->n % period;
    part.runs = 1;
    ha_apply_dense(kernel, &part);
}

HA_IN_ void ha_apply_kernel(const ha_span_kernel *kernel, const ha_span *s) {
    const int is_dense = s->left_step == kernel->size &&
                         (s->right_step == kernel->right_size || s->is_splat);
    if (!is_dense)
        ha_apply_form_of_runs(kernel, s, HA_FORM_SINGLE, 0, 1, s->n);
    else if (s->period > 0)
        ha_apply_periods(kernel, s);
    else if (s->runs == 1 && s->n >= HA_APPLY_ALIGNED * kernel->lanes)
        ha_apply_aligned(kernel, s);
    else
        ha_apply_dense(kernel, s);
}

#endif
