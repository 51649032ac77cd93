/* Sorting more than the caches hold, on the host, a radix sort by the most significant digit: by the highest digit in which keys differ
 * into buckets, once or twice until the caches hold them, and each of these by the lower digits, the lowest one first (Knuth,
 * volume 3, section 5.2.5). What is longer still is sorted by these in main memory. */
#ifndef HARRAY_IMPL_OPS_SORT_BUCKETS_H
#define HARRAY_IMPL_OPS_SORT_BUCKETS_H

#include "sort_loops.h"

/* Bits of a digit that buckets are made by, at least and at most; how often they are made of a bucket. */
enum { HA_SORT_SPLIT_LEAST = 8, HA_SORT_SPLIT_MOST = 10, HA_SORT_SPLITS = 2 };

/* ---- walks over keys ----------------------------------------------------------------------------- */

/* Bits in which keys differ; counts of one digit. */
#define HA_SORT_WALKS_(U, kind)                                                                    \
    HA_IN_ uint64_t ha_sort_differ_##kind##_##U(const void *from, int64_t n,                       \
                                                const ha_sort_form *form) {                        \
        const U *x = (const U *)from;                                                              \
        HA_UNUSED const ha_sort_form f = *form;                                                    \
        const U first = HA_SORT_##kind##_KEY_(U, x[0]);                                            \
        U differ = 0;                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            differ = (U)(differ | (HA_SORT_##kind##_KEY_(U, x[i]) ^ first));                       \
        return differ;                                                                             \
    }                                                                                              \
    HA_IN_ void ha_sort_tally_##kind##_##U(const ha_sort_pass *pass, uint32_t *counts) {           \
        const U *x = (const U *)pass->from.keys;                                                   \
        HA_UNUSED const ha_sort_form f = pass->form;                                               \
        const int64_t n = pass->n;                                                                 \
        const int shift = pass->shift;                                                             \
        const uint32_t mask = pass->mask;                                                          \
        for (int64_t i = 0; i < n; i++)                                                            \
            counts[(uint32_t)(HA_SORT_##kind##_KEY_(U, x[i]) >> shift) & mask]++;                  \
    }
HA_SORT_WALKS_(uint32_t, PLAIN)
HA_SORT_WALKS_(uint32_t, FOLD)
HA_SORT_WALKS_(uint32_t, WHOLE)
HA_SORT_WALKS_(uint64_t, PLAIN)
HA_SORT_WALKS_(uint64_t, FOLD)
HA_SORT_WALKS_(uint64_t, WHOLE)

/* Of reals: is there a NaN or -0.0, which folded keys do not sort? */
#define HA_SORT_HAS_SPECIAL_(U)                                                                    \
    HA_IN_ int ha_sort_has_special_##U(const void *from, int64_t n, const ha_sort_form *f) {       \
        const U *x = (const U *)from;                                                              \
        const U magnitude = (U)f->magnitude, infinite = (U)f->infinite, zero = (U)f->zero;         \
        U any = 0;                                                                                 \
        for (int64_t i = 0; i < n; i++)                                                            \
            any |= (U)(((x[i] & magnitude) > infinite) | (x[i] == zero));                          \
        return any != 0;                                                                           \
    }
HA_SORT_HAS_SPECIAL_(uint32_t)
HA_SORT_HAS_SPECIAL_(uint64_t)

/* Of keys of 32 bits, and of 64. */
typedef struct ha_sort_walks {
    uint64_t (*differ[HA_SORT_KINDS])(const void *from, int64_t n, const ha_sort_form *f);
    void (*tally[HA_SORT_KINDS])(const ha_sort_pass *pass, uint32_t *counts);
    int (*has_special)(const void *from, int64_t n, const ha_sort_form *f);
} ha_sort_walks;
#define HA_SORT_WALKS_OF_(U)                                                                       \
    {                                                                                              \
        {ha_sort_differ_PLAIN_##U, ha_sort_differ_FOLD_##U, NULL, ha_sort_differ_WHOLE_##U},       \
            {ha_sort_tally_PLAIN_##U, ha_sort_tally_FOLD_##U, NULL, ha_sort_tally_WHOLE_##U},      \
            ha_sort_has_special_##U                                                                \
    }
static const ha_sort_walks ha_sort_walks_of[2] = {HA_SORT_WALKS_OF_(uint32_t),
                                                  HA_SORT_WALKS_OF_(uint64_t)};

/* ---- what is sorted ------------------------------------------------------------------------------ */

typedef struct ha_sort_msd {
    const ha_sort_job *job;
    const ha_sort_walks *walks;
    const ha_sort_put *put; /* of each kind */
    int kind;               /* of what lies in places: PLAIN, or WHOLE */
    int is_folded;          /* PLAIN, and elements are made of it in the end */
    ha_sort_place place[2]; /* 0: where all is to be in the end */
    ha_sort_place scratch;  /* for one bucket of at most so many elements */
    int64_t longest;
    uint32_t *counts; /* of one bucket's digits */
} ha_sort_msd;

/* Elements of a place, of which buckets have been made so often. */
typedef struct ha_sort_part {
    int at; /* which place */
    int64_t first, n;
    int splits;
} ha_sort_part;

HA_IN_ ha_sort_place ha_sort_place_at(const ha_sort_msd *m, ha_sort_place place, int64_t first) {
    if (place.keys) place.keys = (char *)place.keys + (size_t)first * m->job->bytes;
    if (place.carried) place.carried = (char *)place.carried + (size_t)first * m->job->carried;
    return place;
}

HA_IN_ ha_sort_pass ha_sort_pass_of(const ha_sort_msd *m, const ha_sort_part *part) {
    return (ha_sort_pass){.form = m->job->form,
                          .from = ha_sort_place_at(m, m->place[part->at], part->first),
                          .n = part->n,
                          .wide = m->job->carried == sizeof(uint64_t)};
}

/* Bits of the keys from the lowest one that differs to the highest one. */
HA_IN_ int ha_sort_low(uint64_t differ) { return differ ? __builtin_ctzll(differ) : 0; }
HA_IN_ int ha_sort_span(uint64_t differ) {
    return differ ? 64 - __builtin_clzll(differ) - __builtin_ctzll(differ) : 0;
}

/* ---- a bucket, by the lowest digits first -------------------------------------------------------- */

/* Counts them, and makes that where they begin. */
HA_IN_ ha_sort_digits_of ha_sort_count_bucket(const ha_sort_msd *m, const ha_sort_part *part,
                                              uint64_t differ) {
    const int most = part->n < HA_SORT_MANY ? 8 : HA_SORT_DIGIT, span = ha_sort_span(differ);
    const int all = (span + most - 1) / most;
    ha_sort_pass pass = ha_sort_pass_of(m, part);
    ha_sort_digits_of d = {.bits = all ? (span + all - 1) / all : 0};
    pass.mask = ((uint32_t)1 << d.bits) - 1;
    for (int i = 0; i < all; i++) {
        uint32_t *counts = m->counts + ((size_t)d.n << d.bits);
        pass.shift = ha_sort_low(differ) + i * d.bits;
        if (!(differ >> pass.shift & pass.mask)) continue;
        memset(counts, 0, sizeof *counts << d.bits);
        m->walks->tally[m->kind](&pass, counts);
        (void)ha_sort_begin(counts, (uint32_t)(pass.form.change >> pass.shift) & pass.mask, d.bits);
        d.shift[d.n++] = pass.shift;
    }
    return d;
}

/* To where it is to be. Passes go to the scratch and back; one more that only moves is where these do not end there. What is too
 * long for the scratch has been split twice, so it is in place 0, and goes to place 1 and back. */
HA_IN_ void ha_sort_bucket(const ha_sort_msd *m, const ha_sort_part *part, uint64_t differ) {
    const ha_sort_digits_of digits = ha_sort_count_bucket(m, part, differ);
    const int passes = digits.n + (!digits.n || (part->at == 0 && digits.n % 2));
    const int is_kept = m->job->what != HA_SORT_NUMBERS; /* else nobody needs keys in the end */
    ha_sort_pass pass = ha_sort_pass_of(m, part);
    const ha_sort_place home = pass.from, end = ha_sort_place_at(m, m->place[0], part->first);
    const ha_sort_place other = part->n > m->longest ? ha_sort_place_at(m, m->place[1], part->first)
                                                     : m->scratch;
    uint32_t none = 0;
    for (int k = 0; k < passes; k++) {
        const int is_last = k == passes - 1, sorts = k < digits.n;
        pass.to = is_last ? end : pass.from.keys == home.keys ? other : home;
        pass.shift = sorts ? digits.shift[k] : 0;
        pass.mask = sorts ? ((uint32_t)1 << digits.bits) - 1 : 0;
        pass.begin = sorts ? m->counts + ((size_t)k << digits.bits) : &none;
        if (is_last && !is_kept) pass.to.keys = NULL;
        m->put[is_last && is_kept && m->is_folded ? HA_SORT_UNFOLD : m->kind](&pass);
        pass.from = pass.to;
    }
}

/* The same of a few: they are compared where they are, and moved. */
HA_IN_ void ha_sort_bucket_of_few(const ha_sort_msd *m, const ha_sort_part *part) {
    const ha_sort_place place = ha_sort_place_at(m, m->place[part->at], part->first);
    ha_sort_job j = {.what = place.carried ? HA_SORT_VALUES : HA_SORT_ELEMENTS,
                     .bytes = m->job->bytes,
                     .carried = m->job->carried,
                     .form = m->job->form,
                     .n = part->n,
                     .x = place.keys,
                     .q = place.carried,
                     .x_step = 1,
                     .q_step = 1};
    if (m->is_folded) j.form = (ha_sort_form){.ones = j.form.ones, .change = j.form.change};
    ha_sort_few(&j);
    ha_sort_bucket(m, part, 0);
}

/* ---- into buckets -------------------------------------------------------------------------------- */

/* The bits of the highest digit: such that the others have all the bits that they may. */
HA_IN_ int ha_sort_split_width(int span) {
    if (span <= HA_SORT_SPLIT_LEAST) return span;
    const int others = (span - HA_SORT_SPLIT_MOST + HA_SORT_DIGIT - 1) / HA_SORT_DIGIT;
    const int width = span - others * HA_SORT_DIGIT;
    return width < HA_SORT_SPLIT_LEAST ? HA_SORT_SPLIT_LEAST : width;
}

HA_IN_ void ha_sort_part_of(const ha_sort_msd *m, const ha_sort_part *part);

/* From there, where keys are of this kind, to the other place; and each bucket to where it is to be. */
HA_IN_ void ha_sort_split(const ha_sort_msd *m, const ha_sort_part *part, ha_sort_place from,
                          int kind, uint64_t differ) {
    uint32_t end[1 << HA_SORT_SPLIT_MOST];
    const int width = ha_sort_split_width(ha_sort_span(differ));
    const uint32_t digits = (uint32_t)1 << width;
    ha_sort_pass pass = ha_sort_pass_of(m, part);
    pass.from = from;
    pass.to = ha_sort_place_at(m, m->place[!part->at], part->first);
    pass.begin = end;
    pass.shift = ha_sort_low(differ) + ha_sort_span(differ) - width;
    pass.mask = digits - 1;
    const uint32_t change = (uint32_t)(pass.form.change >> pass.shift) & pass.mask;
    memset(end, 0, sizeof *end << width);
    m->walks->tally[kind](&pass, end);
    (void)ha_sort_begin(end, change, width);
    m->put[kind](&pass);
    int64_t first = 0;
    for (uint32_t digit = 0; digit < digits; digit++) {
        const int64_t last = end[digit ^ change];
        const ha_sort_part bucket = {!part->at, part->first + first, last - first,
                                     part->splits + 1};
        first = last;
        if (bucket.n) ha_sort_part_of(m, &bucket);
    }
}

HA_IN_ void ha_sort_part_of(const ha_sort_msd *m, const ha_sort_part *part) {
    const ha_sort_place from = ha_sort_pass_of(m, part).from;
    if (part->n <= HA_SORT_FEW) {
        ha_sort_bucket_of_few(m, part);
        return;
    }
    const uint64_t differ = m->walks->differ[m->kind](from.keys, part->n, &m->job->form);
    if (differ && part->n > m->longest && part->splits < HA_SORT_SPLITS)
        ha_sort_split(m, part, from, m->kind, differ);
    else
        ha_sort_bucket(m, part, differ);
}

/* The room is as ha_sort_layout_for() has it. */
HA_IN_ void ha_sort_by_buckets(const ha_sort_job *j, const ha_sort_layout *layout, char *room) {
    ha_sort_msd m = {.job = j,
                     .walks = &ha_sort_walks_of[j->bytes == sizeof(uint64_t)],
                     .put = ha_sort_puts[__builtin_ctzll(j->bytes)],
                     .longest = layout->longest,
                     .counts = (uint32_t *)(void *)room};
    ha_sort_places_in(j, layout, room, m.place);
    m.scratch.keys = room + layout->scratch[0];
    if (j->carried) m.scratch.carried = room + layout->scratch[1];
    const ha_sort_place from = ha_sort_source(j, ha_sort_row(j, &m.place[0]), m.place[0]);
    const int is_special = j->is_real && m.walks->has_special(from.keys, j->n, &j->form);
    const int kind = is_special ? HA_SORT_WHOLE : j->is_real ? HA_SORT_FOLD : HA_SORT_PLAIN;
    m.is_folded = kind == HA_SORT_FOLD;
    m.kind = m.is_folded ? HA_SORT_PLAIN : kind;
    const ha_sort_part all = {.n = j->n};
    ha_sort_split(&m, &all, from, kind, m.walks->differ[kind](from.keys, j->n, &j->form));
    ha_sort_bring(j, m.place[0]);
}

#endif
