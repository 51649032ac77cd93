/* Sorting more than the caches hold, on the host, a radix sort by the most significant digit: by the highest digit in which keys differ
 * into buckets, once or twice until the caches hold them, and each of these by the lower digits, the lowest one first (Knuth,
 * volume 3, section 5.2.5). What is longer still is sorted by these in main memory. */
#ifndef HARRAY_IMPL_OPS_SORT_BUCKETS_H
#define HARRAY_IMPL_OPS_SORT_BUCKETS_H

#include "sort_digits.h"

/* Bits of a digit that buckets are made by, at least and at most; how often they are made of a bucket. */
enum { HA_SORT_SPLIT_LEAST = 8, HA_SORT_SPLIT_MOST = 10, HA_SORT_SPLITS = 2 };

typedef struct ha_sort_msd {
    const ha_sort_job *job;
    ha_sort_place place[2]; /* 0: where all is to be in the end */
    ha_sort_place scratch;  /* for one bucket of at most so many elements */
    int64_t longest;
    int kind;         /* of keys in buckets */
    uint32_t *counts; /* of one bucket's digits */
} ha_sort_msd;

/* Elements of a place, of which buckets have been made so often, with keys that may differ in these bits. */
typedef struct ha_sort_bucket {
    int at; /* which place */
    int64_t first, n;
    int splits;
    uint64_t differ;
} ha_sort_bucket;

HA_IN_ ha_sort_place ha_sort_place_at(const ha_sort_msd *m, ha_sort_place place, int64_t first) {
    if (place.keys) place.keys = (char *)place.keys + (size_t)first * m->job->bytes;
    if (place.carried) place.carried = (char *)place.carried + (size_t)first * m->job->carried;
    return place;
}

/* What is too long for the scratch is in place 0 in the end, where it goes to by way of place 1. */
HA_IN_ ha_sort_part ha_sort_part_of(const ha_sort_msd *m, const ha_sort_bucket *b) {
    return (ha_sort_part){.n = b->n,
                          .from = ha_sort_place_at(m, m->place[b->at], b->first),
                          .other = b->n > m->longest ? ha_sort_place_at(m, m->place[1], b->first)
                                                     : m->scratch,
                          .end = ha_sort_place_at(m, m->place[0], b->first),
                          .kind = m->kind,
                          .differ = b->differ,
                          .may_do = 64 - __builtin_clzll((uint64_t)b->n) + HA_SORT_MORE};
}

/* They are compared where they are, and moved. */
HA_IN_ void ha_sort_bucket_of_few(const ha_sort_msd *m, ha_sort_part *p) {
    ha_sort_job j = {.what = p->from.carried ? HA_SORT_VALUES : HA_SORT_ELEMENTS,
                     .bytes = m->job->bytes,
                     .carried = m->job->carried,
                     .form = m->job->form,
                     .n = p->n,
                     .x = p->from.keys,
                     .q = p->from.carried,
                     .x_step = 1,
                     .q_step = 1};
    const ha_sort_digits_of none = {.is_all = 1};
    if (p->kind == HA_SORT_UNFOLD)
        j.form = (ha_sort_form){.ones = j.form.ones, .change = j.form.change};
    ha_sort_few(&j);
    ha_sort_put_all(m->job, p, &none);
}

/* ---- into buckets -------------------------------------------------------------------------------- */

/* The bits of the highest digit: such that the others have all the bits that they may. */
HA_IN_ int ha_sort_split_width(int span) {
    if (span <= HA_SORT_SPLIT_LEAST) return span;
    const int others = (span - HA_SORT_SPLIT_MOST + HA_SORT_DIGIT - 1) / HA_SORT_DIGIT;
    const int width = span - others * HA_SORT_DIGIT;
    return width < HA_SORT_SPLIT_LEAST ? HA_SORT_SPLIT_LEAST : width;
}

HA_IN_ void ha_sort_bucket_of_any(ha_sort_msd *m, const ha_sort_bucket *b);
HA_IN_ void ha_sort_bucket_of_many(ha_sort_msd *m, const ha_sort_bucket *b, ha_sort_part *p);

/* To the other place; and each bucket to where it is to be. */
HA_IN_ void ha_sort_split(ha_sort_msd *m, const ha_sort_bucket *b, ha_sort_part *p) {
    uint32_t end[1 << HA_SORT_SPLIT_MOST];
    const int span = ha_sort_span(p->differ), width = ha_sort_split_width(span);
    const int shift = ha_sort_low(p->differ) + span - width;
    const uint32_t digits = (uint32_t)1 << width;
    const uint32_t change = (uint32_t)(m->job->form.change >> shift) & (digits - 1);
    ha_sort_pass pass = ha_sort_pass_of(m->job, p);
    if (!ha_sort_count_digits(m->job, p, end, shift, width, 1)) {
        ha_sort_bucket_of_many(m, b, p);
        return;
    }
    ha_sort_begin(end, change, width);
    pass.to = ha_sort_place_at(m, m->place[!b->at], b->first);
    pass.begin = end;
    pass.shift = shift;
    pass.bits = width;
    ha_sort_puts[__builtin_ctzll(m->job->bytes)][ha_sort_kind_of(p->kind, 1, 0)](&pass);
    if (p->kind == HA_SORT_FOLD) p->kind = HA_SORT_UNFOLD;
    m->kind = p->kind;
    int64_t first = 0;
    for (uint32_t digit = 0; digit < digits; digit++) {
        const int64_t last = end[digit ^ change];
        const ha_sort_bucket bucket = {!b->at, b->first + first, last - first, b->splits + 1,
                                       p->differ & (((uint64_t)1 << shift) - 1)};
        first = last;
        if (bucket.n) ha_sort_bucket_of_any(m, &bucket);
    }
}

HA_IN_ void ha_sort_bucket_of_many(ha_sort_msd *m, const ha_sort_bucket *b, ha_sort_part *p) {
    if (b->n > m->longest && b->splits < HA_SORT_SPLITS && p->differ)
        ha_sort_split(m, b, p);
    else
        ha_sort_by_digits(m->job, p, m->counts);
}

HA_IN_ void ha_sort_bucket_of_any(ha_sort_msd *m, const ha_sort_bucket *b) {
    ha_sort_part p = ha_sort_part_of(m, b);
    if (b->n <= HA_SORT_FEW) {
        ha_sort_bucket_of_few(m, &p);
    } else {
        ha_sort_look(m->job, &p);
        ha_sort_bucket_of_many(m, b, &p);
    }
}

/* The room is as ha_sort_layout_for() has it. */
HA_IN_ void ha_sort_by_buckets(const ha_sort_job *j, const ha_sort_layout *layout, char *room) {
    ha_sort_part p = ha_sort_part_in(j, layout, room);
    ha_sort_msd m = {
        .job = j,
        .place = {p.end, p.other},
        .scratch = {room + layout->scratch[0], j->carried ? room + layout->scratch[1] : NULL},
        .longest = layout->longest,
        .counts = (uint32_t *)(void *)room};
    const ha_sort_bucket all = {.n = j->n};
    ha_sort_bucket_of_many(&m, &all, &p);
    ha_sort_bring(j, p.end);
}

#endif
