/* Sorting more than fits the caches on the host: by the highest digit in which keys differ into buckets, until those fit, and each
 * of these by the lower digits, while it is in the caches. So main memory is passed once or twice, whatever the keys have of
 * digits (Knuth, volume 3, section 5.2.5, on sorting by the most significant digit first). */
#ifndef HARRAY_IMPL_OPS_SORT_BUCKETS_H
#define HARRAY_IMPL_OPS_SORT_BUCKETS_H

#include "sort_loops.h"

/* Bits of a digit that buckets are made by, at least and at most. */
enum { HA_SORT_SPLIT_LEAST = 8, HA_SORT_SPLIT_MOST = 10 };

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

/* Of reals: is there a NaN or -0.0? */
#define HA_SORT_ODD_(U)                                                                            \
    HA_IN_ int ha_sort_is_odd_##U(const void *from, int64_t n, const ha_sort_form *f) {            \
        const U *x = (const U *)from;                                                              \
        const U magnitude = (U)f->magnitude, infinite = (U)f->infinite, zero = (U)f->zero;         \
        U any = 0;                                                                                 \
        for (int64_t i = 0; i < n; i++)                                                            \
            any |= (U)(((x[i] & magnitude) > infinite) | (x[i] == zero));                          \
        return any != 0;                                                                           \
    }
HA_SORT_ODD_(uint32_t)
HA_SORT_ODD_(uint64_t)

typedef uint64_t (*ha_sort_differ)(const void *from, int64_t n, const ha_sort_form *f);
typedef void (*ha_sort_tally)(const ha_sort_pass *pass, uint32_t *counts);
/* Of 32 and 64 bits. */
static const ha_sort_differ ha_sort_differs[2][HA_SORT_KINDS] = {
    {ha_sort_differ_PLAIN_uint32_t, ha_sort_differ_FOLD_uint32_t, NULL,
     ha_sort_differ_WHOLE_uint32_t},
    {ha_sort_differ_PLAIN_uint64_t, ha_sort_differ_FOLD_uint64_t, NULL,
     ha_sort_differ_WHOLE_uint64_t}};
static const ha_sort_tally ha_sort_tallies[2][HA_SORT_KINDS] = {
    {ha_sort_tally_PLAIN_uint32_t, ha_sort_tally_FOLD_uint32_t, NULL, ha_sort_tally_WHOLE_uint32_t},
    {ha_sort_tally_PLAIN_uint64_t, ha_sort_tally_FOLD_uint64_t, NULL,
     ha_sort_tally_WHOLE_uint64_t}};

/* ---- what is sorted ------------------------------------------------------------------------------ */

typedef struct ha_sort_long {
    const ha_sort_job *job;
    int kind;               /* of what lies in places: PLAIN, or WHOLE */
    int is_folded;          /* as PLAIN, and elements are made of it in the end */
    ha_sort_place place[2]; /* 0: where all is to be in the end */
    ha_sort_place scratch;  /* for one bucket */
    int64_t longest;        /* elements of a bucket that the scratch is for */
    uint32_t *counts;       /* of one bucket's digits */
} ha_sort_long;

/* Elements of a place, or a part of one. */
typedef struct ha_sort_part {
    int at; /* which place */
    int64_t first, n;
    int bits; /* keys are the same beyond so many */
} ha_sort_part;

HA_IN_ int ha_sort_size_of(const ha_sort_long *l) { return __builtin_ctzll(l->job->bytes); }

HA_IN_ ha_sort_place ha_sort_place_at(const ha_sort_long *l, ha_sort_place place, int64_t first) {
    if (place.keys) place.keys = (char *)place.keys + (size_t)first * l->job->bytes;
    if (place.carried) place.carried = (char *)place.carried + (size_t)first * l->job->carried;
    return place;
}

HA_IN_ ha_sort_pass ha_sort_pass_of(const ha_sort_long *l, const ha_sort_part *part) {
    return (ha_sort_pass){.form = l->job->form,
                          .from = ha_sort_place_at(l, l->place[part->at], part->first),
                          .n = part->n,
                          .wide = l->job->carried == sizeof(uint64_t)};
}

/* The kind of a bucket's last pass, which makes elements of keys; nobody needs them beside numbers. */
HA_IN_ int ha_sort_last_kind(const ha_sort_long *l) {
    return l->is_folded && l->job->what != HA_SORT_NUMBERS ? HA_SORT_UNFOLD : l->kind;
}

/* ---- a bucket ------------------------------------------------------------------------------------ */

/* Counts the bucket's digits from the lowest on; those that all keys share are left out. How many are left, of so many bits. */
HA_IN_ int ha_sort_bucket_digits(const ha_sort_long *l, const ha_sort_part *part, int *shift,
                                 int *width) {
    const ha_sort_form *form = &l->job->form;
    const int most = part->n < HA_SORT_MANY ? 8 : HA_SORT_DIGIT;
    const int digits = (part->bits + most - 1) / most;
    ha_sort_pass pass = ha_sort_pass_of(l, part);
    uint64_t key = ha_sort_read(pass.from.keys, l->job->bytes, 0);
    int some = 0;
    *width = digits ? (part->bits + digits - 1) / digits : 0;
    pass.mask = ((uint32_t)1 << *width) - 1;
    if (l->kind == HA_SORT_WHOLE) key = ha_sort_key(key, form) ^ form->change;
    for (int i = 0; i < digits; i++) {
        uint32_t *counts = l->counts + ((size_t)some << *width);
        pass.shift = i * *width;
        memset(counts, 0, sizeof *counts << *width);
        ha_sort_tallies[ha_sort_size_of(l) - 2][l->kind](&pass, counts);
        if (counts[key >> pass.shift & pass.mask] == (uint64_t)part->n) continue;
        ha_sort_begin(counts, (uint32_t)(form->change >> pass.shift & pass.mask), *width);
        shift[some++] = pass.shift;
    }
    return some;
}

/* What is there, in place. */
HA_IN_ void ha_sort_bucket_of_few(const ha_sort_long *l, const ha_sort_part *part) {
    const ha_sort_place place = ha_sort_place_at(l, l->place[part->at], part->first);
    ha_sort_job j = {.what = place.carried ? HA_SORT_VALUES : HA_SORT_ELEMENTS,
                     .bytes = l->job->bytes,
                     .carried = l->job->carried,
                     .form = l->job->form,
                     .n = part->n,
                     .x = place.keys,
                     .q = place.carried,
                     .x_step = 1,
                     .q_step = 1};
    if (l->is_folded) j.form = (ha_sort_form){.ones = j.form.ones, .change = j.form.change};
    ha_sort_few(&j);
}

/* Passes go to the scratch and back; the last one, which may be one that only moves, goes to place 0. */
HA_IN_ void ha_sort_bucket(const ha_sort_long *l, const ha_sort_part *part) {
    int shift[8], width = 0, digits = 0;
    ha_sort_pass pass = ha_sort_pass_of(l, part);
    const ha_sort_place home = pass.from;
    if (part->n <= HA_SORT_FEW)
        ha_sort_bucket_of_few(l, part);
    else
        digits = ha_sort_bucket_digits(l, part, shift, &width);
    const int passes = digits + (!digits || (part->at == 0 && digits % 2));
    for (int k = 0; k < passes; k++) {
        const int is_last = k == passes - 1;
        uint32_t none = 0;
        pass.to = is_last                       ? ha_sort_place_at(l, l->place[0], part->first)
                  : pass.from.keys == home.keys ? l->scratch
                                                : home;
        pass.shift = k < digits ? shift[k] : 0;
        pass.mask = k < digits ? ((uint32_t)1 << width) - 1 : 0;
        pass.begin = k < digits ? l->counts + ((size_t)k << width) : &none;
        if (is_last && l->job->what == HA_SORT_NUMBERS) pass.to.keys = NULL;
        ha_sort_puts[ha_sort_size_of(l)][is_last ? ha_sort_last_kind(l) : l->kind](&pass);
        pass.from = pass.to;
    }
}

/* ---- into buckets -------------------------------------------------------------------------------- */

/* The bits of the highest digit: such that the others have all the bits that they may. */
HA_IN_ int ha_sort_split_width(int bits) {
    const int others = (bits - HA_SORT_SPLIT_MOST + HA_SORT_DIGIT - 1) / HA_SORT_DIGIT;
    const int width = bits - others * HA_SORT_DIGIT;
    if (bits < HA_SORT_SPLIT_LEAST) return bits;
    return width < HA_SORT_SPLIT_LEAST ? HA_SORT_SPLIT_LEAST : width;
}

/* From there, where keys are of this kind, to the other place; and each bucket to where it is to be. */
HA_IN_ void ha_sort_split(const ha_sort_long *l, ha_sort_part part, ha_sort_place from, int kind) {
    uint32_t end[1 << HA_SORT_SPLIT_MOST];
    const int width = ha_sort_split_width(part.bits);
    const uint32_t digits = (uint32_t)1 << width;
    ha_sort_pass pass = ha_sort_pass_of(l, &part);
    pass.from = from;
    pass.to = ha_sort_place_at(l, l->place[!part.at], part.first);
    pass.begin = end;
    pass.shift = part.bits - width;
    pass.mask = digits - 1;
    const uint32_t change = (uint32_t)(pass.form.change >> pass.shift) & pass.mask;
    memset(end, 0, sizeof *end << width);
    ha_sort_tallies[ha_sort_size_of(l) - 2][kind](&pass, end);
    ha_sort_begin(end, change, width);
    ha_sort_puts[ha_sort_size_of(l)][kind](&pass);
    int64_t first = 0;
    for (uint32_t digit = 0; digit < digits; digit++) {
        const int64_t last = end[digit ^ change];
        const ha_sort_part bucket = {!part.at, part.first + first, last - first, pass.shift};
        first = last;
        if (!bucket.n) continue;
        if (bucket.bits && bucket.n > l->longest)
            ha_sort_split(l, bucket, ha_sort_pass_of(l, &bucket).from, l->kind);
        else
            ha_sort_bucket(l, &bucket);
    }
}

/* All keys are the same: what is there is in order, and numbers are those of the places. */
HA_IN_ void ha_sort_same(const ha_sort_long *l, ha_sort_place from) {
    uint32_t none = 0;
    ha_sort_pass pass = {.form = l->job->form,
                         .from = from,
                         .to = l->place[0],
                         .n = l->job->n,
                         .wide = l->job->carried == sizeof(uint64_t),
                         .begin = &none};
    if (l->job->what == HA_SORT_NUMBERS) ha_sort_puts[ha_sort_size_of(l)][HA_SORT_PLAIN](&pass);
}

HA_IN_ int ha_sort_kind_of_all(const ha_sort_job *j, const void *keys) {
    if (!j->is_real) return HA_SORT_PLAIN;
    return (j->bytes == sizeof(uint32_t) ? ha_sort_is_odd_uint32_t
                                         : ha_sort_is_odd_uint64_t)(keys, j->n, &j->form)
               ? HA_SORT_WHOLE
               : HA_SORT_FOLD;
}

/* The room is as ha_sort_layout_of() has it. */
HA_IN_ void ha_sort_by_buckets(const ha_sort_job *j, const ha_sort_layout *layout, char *room) {
    ha_sort_long l = {.job = j, .longest = layout->longest, .counts = (uint32_t *)(void *)room};
    ha_sort_places_in(j, layout, room, l.place);
    l.scratch.keys = room + layout->scratch[0];
    if (j->carried) l.scratch.carried = room + layout->scratch[1];
    const ha_sort_place from = ha_sort_source(j, l.place[0]);
    const int kind = ha_sort_kind_of_all(j, from.keys);
    l.is_folded = kind == HA_SORT_FOLD;
    l.kind = l.is_folded ? HA_SORT_PLAIN : kind;
    const uint64_t differ = ha_sort_differs[ha_sort_size_of(&l) - 2][kind](from.keys, j->n,
                                                                           &j->form);
    if (differ)
        ha_sort_split(&l, (ha_sort_part){0, 0, j->n, 64 - __builtin_clzll(differ)}, from, kind);
    else
        ha_sort_same(&l, from);
    ha_sort_bring(j, l.place[0]);
}

#endif
