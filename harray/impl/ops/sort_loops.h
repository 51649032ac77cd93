/* Sorting on the host: a few elements by comparing all of them; more by digits of their keys, the lowest ones first (Knuth, volume 3,
 * algorithm 5.2.5R): by all in which keys differ, or by the highest ones, if these tell nearly all elements apart, and the others are
 * then inserted where they belong (MacLaren, Journal of the ACM 13 (1966), 404-411; Knuth, section 5.2.5). What is moved
 * from pass to pass is the keys where elements can be made of them again, else the elements. */
#ifndef HARRAY_IMPL_OPS_SORT_LOOPS_H
#define HARRAY_IMPL_OPS_SORT_LOOPS_H

#include "sort_walks.h"

/* So few are compared; from so many on digits have so many bits, not 8. Bytes that the caches hold, and of a bucket of what they do
 * not; of room that is on the stack. */
enum {
    HA_SORT_FEW = 64,
    HA_SORT_MANY = 4096,
    HA_SORT_DIGIT = 11,
    HA_SORT_CACHED = 1 << 22,
    HA_SORT_BUCKET = 1 << 20,
    HA_SORT_STACK = 1 << 15
};

/* One of so many elements may be out of order to be mended; of so many that are looked at, so many may have bits in common. */
enum { HA_SORT_STRAYS = 64, HA_SORT_LOOKED_AT = 128, HA_SORT_IN_COMMON = 6 };

/* What is sorted: elements; the numbers that they have; elements, and values that belong to them. */
enum { HA_SORT_ELEMENTS, HA_SORT_NUMBERS, HA_SORT_VALUES };

/* ---- what kernels are given ---------------------------------------------------------------------- */

/* of: whether the order is descending; what is done, and 16 times the bytes of what goes along. */
HA_IN_ int ha_sort_what(const ha_op_key *key) { return key->of[1] % 16; }
HA_IN_ size_t ha_sort_number_bytes(const ha_op_key *key) { return (size_t)(key->of[1] / 16); }
HA_IN_ ha_sort_form ha_sort_form_by(const ha_op_key *key) {
    return ha_sort_form_of(key->type->type, key->of[0] % 2);
}
HA_IN_ int64_t ha_sort_step(const ha_kernel_slot_ *slot) {
    return ((const ha_kernel_span *)slot->span)->numbers[1];
}
HA_IN_ int64_t ha_sort_value(const ha_kernel_slot_ *slot) {
    int64_t value;
    memcpy(&value, slot->pointer, sizeof value);
    return value;
}

HA_IN_ uint64_t ha_sort_read(const void *x, size_t bytes, int64_t at) {
    switch (bytes) {
    case 1:
        return ((const uint8_t *)x)[at];
    case 2:
        return ((const uint16_t *)x)[at];
    case 4:
        return ((const uint32_t *)x)[at];
    default:
        return ((const uint64_t *)x)[at];
    }
}

HA_IN_ void ha_sort_write(void *x, size_t bytes, int64_t at, uint64_t bits) {
    switch (bytes) {
    case 1:
        ((uint8_t *)x)[at] = (uint8_t)bits;
        break;
    case 2:
        ((uint16_t *)x)[at] = (uint16_t)bits;
        break;
    case 4:
        ((uint32_t *)x)[at] = (uint32_t)bits;
        break;
    default:
        ((uint64_t *)x)[at] = bits;
    }
}

/* ---- one pass ------------------------------------------------------------------------------------ */

typedef void (*ha_sort_put)(const ha_sort_pass *pass);

#define HA_SORT_TO_(U, kind, e) begin[(uint32_t)(HA_SORT_##kind##_KEY_(U, e) >> shift) & mask]++
#define HA_SORT_ONE_(U, kind, e) y[HA_SORT_TO_(U, kind, e)] = HA_SORT_##kind##_KEPT_(U, e);

/* Four are read before the first is put: a compiler does not know that they are elsewhere. */
#define HA_SORT_ALONE_(U, kind)                                                                    \
    for (; i + 4 <= n; i += 4) {                                                                   \
        const U a = x[i], b = x[i + 1], c = x[i + 2], d = x[i + 3];                                \
        HA_SORT_ONE_(U, kind, a)                                                                   \
        HA_SORT_ONE_(U, kind, b)                                                                   \
        HA_SORT_ONE_(U, kind, c)                                                                   \
        HA_SORT_ONE_(U, kind, d)                                                                   \
    }                                                                                              \
    for (; i < n; i++) HA_SORT_ONE_(U, kind, x[i])
#define HA_SORT_ALONG_(U, P, kind, KEEP, carried)                                                  \
    for (; i < n; i++) {                                                                           \
        const U e = x[i];                                                                          \
        const uint32_t to = HA_SORT_TO_(U, kind, e);                                               \
        KEEP(y[to] = HA_SORT_##kind##_KEPT_(U, e);)                                                \
        q[to] = carried;                                                                           \
    }
#define HA_SORT_KEEP_(statement) statement
#define HA_SORT_LEAVE_(statement)
#define HA_SORT_CARRY_(U, P, kind)                                                                 \
    const P *p = (const P *)pass->from.carried;                                                    \
    P *q = (P *)pass->to.carried;                                                                  \
    if (!p)                                                                                        \
        HA_SORT_ALONG_(U, P, kind, HA_SORT_KEEP_, (P)i)                                            \
    else if (y)                                                                                    \
        HA_SORT_ALONG_(U, P, kind, HA_SORT_KEEP_, p[i])                                            \
    else                                                                                           \
        HA_SORT_ALONG_(U, P, kind, HA_SORT_LEAVE_, p[i])

#define HA_SORT_PUT_(U, kind)                                                                      \
    __attribute__((aligned(64))) HA_IN_ void ha_sort_put_##kind##_##U(const ha_sort_pass *pass) {  \
        const U *x = (const U *)pass->from.keys;                                                   \
        U *y = (U *)pass->to.keys;                                                                 \
        const int64_t n = pass->n;                                                                 \
        uint32_t *begin = pass->begin;                                                             \
        const int shift = pass->shift;                                                             \
        const uint32_t mask = pass->mask;                                                          \
        HA_UNUSED const ha_sort_form f = pass->form;                                               \
        int64_t i = 0;                                                                             \
        if (!pass->to.carried) {                                                                   \
            HA_SORT_ALONE_(U, kind)                                                                \
        } else if (pass->wide) {                                                                   \
            HA_SORT_CARRY_(U, uint64_t, kind)                                                      \
        } else {                                                                                   \
            HA_SORT_CARRY_(U, uint32_t, kind)                                                      \
        }                                                                                          \
    }
HA_SORT_PUT_(uint8_t, PLAIN)
HA_SORT_PUT_(uint16_t, PLAIN)
HA_SORT_PUT_(uint16_t, WHOLE)
HA_SORT_PUT_(uint32_t, PLAIN)
HA_SORT_PUT_(uint32_t, FOLD)
HA_SORT_PUT_(uint32_t, UNFOLD)
HA_SORT_PUT_(uint32_t, WHOLE)
HA_SORT_PUT_(uint64_t, PLAIN)
HA_SORT_PUT_(uint64_t, FOLD)
HA_SORT_PUT_(uint64_t, UNFOLD)
HA_SORT_PUT_(uint64_t, WHOLE)

/* By the bytes of an element, as a power of two. */
static const ha_sort_put ha_sort_puts[4][HA_SORT_KINDS] = {
    {ha_sort_put_PLAIN_uint8_t},
    {ha_sort_put_PLAIN_uint16_t, NULL, NULL, ha_sort_put_WHOLE_uint16_t},
    {ha_sort_put_PLAIN_uint32_t, ha_sort_put_FOLD_uint32_t, ha_sort_put_UNFOLD_uint32_t,
     ha_sort_put_WHOLE_uint32_t},
    {ha_sort_put_PLAIN_uint64_t, ha_sort_put_FOLD_uint64_t, ha_sort_put_UNFOLD_uint64_t,
     ha_sort_put_WHOLE_uint64_t}};

/* ---- all passes ---------------------------------------------------------------------------------- */

typedef struct ha_sort_job {
    int what, is_real;
    size_t bytes, carried; /* of an element, of what goes along with it */
    ha_sort_form form;
    int64_t n;
    void *x, *q; /* elements; where their numbers are to be, or the values that belong to them */
    int64_t x_step, q_step;
} ha_sort_job;

/* What is in the room, by the bytes from its beginning, where the counts are. 0: what is sorted itself serves. */
typedef struct ha_sort_layout {
    int bits;        /* of a digit */
    int64_t longest; /* elements of a bucket (sort_buckets.h); 0: all fits the caches */
    size_t keys[2], carried[2], all;
    size_t scratch[2]; /* keys of one bucket, and what goes along with them */
} ha_sort_layout;

/* Digits by which elements are sorted, the highest one first. */
typedef struct ha_sort_digits_of {
    int bits, n; /* of each; how many digits */
    int shift[8];
    int is_all;       /* keys do not differ in others */
    uint32_t *counts; /* of all digits of a key, or where their elements begin */
} ha_sort_digits_of;

HA_IN_ int ha_sort_digits(const ha_sort_job *j, int bits) {
    return (8 * (int)j->bytes + bits - 1) / bits;
}

HA_IN_ size_t ha_sort_take(ha_sort_layout *l, size_t element, int64_t n) {
    const size_t from = l->all;
    l->all += (element * (size_t)n + 7) / 8 * 8;
    return from;
}

/* The caches hold so many bytes, of one bucket so many. */
HA_IN_ ha_sort_layout ha_sort_layout_for(const ha_sort_job *j, size_t cached, size_t bucket) {
    const size_t moved = j->bytes + j->carried;
    const int is_wide = j->bytes >= sizeof(uint32_t);
    ha_sort_layout l = {.bits = 8};
    if (j->n <= HA_SORT_FEW) return l;
    if (is_wide && moved * (size_t)j->n > cached) l.longest = (int64_t)(bucket / moved);
    if (is_wide && (l.longest || j->n >= HA_SORT_MANY)) l.bits = HA_SORT_DIGIT;
    ha_sort_take(&l, sizeof(uint32_t) << l.bits, ha_sort_digits(j, l.bits));
    if (j->what == HA_SORT_NUMBERS || j->x_step != 1) l.keys[0] = ha_sort_take(&l, j->bytes, j->n);
    l.keys[1] = ha_sort_take(&l, j->bytes, j->n);
    if (j->carried && j->q_step != 1) l.carried[0] = ha_sort_take(&l, j->carried, j->n);
    if (j->carried) l.carried[1] = ha_sort_take(&l, j->carried, j->n);
    l.scratch[0] = ha_sort_take(&l, j->bytes, l.longest);
    l.scratch[1] = ha_sort_take(&l, j->carried, l.longest);
    return l;
}

HA_IN_ ha_sort_layout ha_sort_layout_of(const ha_sort_job *j) {
    return ha_sort_layout_for(j, HA_SORT_CACHED, HA_SORT_BUCKET);
}

/* Counts become where digits begin, in the order of the digits with these bits changed. Returns the sum of their squares. */
HA_IN_ uint64_t ha_sort_begin(uint32_t *counts, uint32_t change, int bits) {
    const uint32_t digits = (uint32_t)1 << bits;
    uint32_t sum = 0;
    uint64_t squares = 0;
    for (uint32_t digit = 0; digit < digits; digit++) {
        uint32_t *begin = &counts[digit ^ change];
        const uint32_t count = *begin;
        *begin = sum;
        sum += count;
        squares += (uint64_t)count * count;
    }
    return squares;
}

/* Are there NaNs or -0.0, perhaps? Their highest digits, as folded keys, are those from that of infinity to that of -infinity, and that of
 * all bits. */
HA_IN_ int ha_sort_is_doubtful(const uint32_t *counts, const ha_sort_form *f, int shift) {
    const uint64_t first = f->infinite >> shift, last = (f->ones ^ f->infinite) >> shift;
    uint32_t any = counts[f->ones >> shift];
    for (uint64_t digit = first; digit <= last; digit++) any |= counts[digit];
    return any != 0;
}

/* Of elements without gaps. half: of keys of 64 bits, which digits; else 0. */
HA_IN_ void ha_sort_count_half(const ha_sort_job *j, const void *row, int kind, int half,
                               const ha_sort_digits_of *d) {
    const int size = __builtin_ctzll(j->bytes), halves = j->bytes == sizeof(uint64_t) ? 2 : 1;
    const int digits = ha_sort_digits(j, d->bits) / halves;
    uint32_t *counts = d->counts + ((size_t)(half * digits) << d->bits);
    memset(counts, 0, sizeof *counts * (size_t)digits << d->bits);
    ha_sort_counts[d->bits != 8][size + half][kind](row, j->n, &j->form, counts);
}

/* Counts the highest digits, all of 32 bits, by the keys of the kind that is given back. */
HA_IN_ int ha_sort_count_highest(const ha_sort_job *j, const void *row,
                                 const ha_sort_digits_of *d) {
    const int half = j->bytes == sizeof(uint64_t), top = ha_sort_digits(j, d->bits) - 1;
    const int kind = !j->is_real                   ? HA_SORT_PLAIN
                     : j->bytes < sizeof(uint32_t) ? HA_SORT_WHOLE
                                                   : HA_SORT_FOLD;
    ha_sort_count_half(j, row, kind, half, d);
    if (kind != HA_SORT_FOLD ||
        !ha_sort_is_doubtful(d->counts + ((size_t)top << d->bits), &j->form, top * d->bits))
        return kind;
    ha_sort_count_half(j, row, HA_SORT_WHOLE, half, d);
    return HA_SORT_WHOLE;
}

/* Of pass k of so many. Numbers are of keys that nobody needs in the end. */
HA_IN_ int ha_sort_kind_of(const ha_sort_job *j, int kind, int k, int passes) {
    if (kind != HA_SORT_FOLD) return kind;
    if (j->what == HA_SORT_NUMBERS) return k ? HA_SORT_PLAIN : HA_SORT_FOLD;
    if (passes == 1) return HA_SORT_WHOLE;
    return k == 0 ? HA_SORT_FOLD : k < passes - 1 ? HA_SORT_PLAIN : HA_SORT_UNFOLD;
}

HA_IN_ void ha_sort_copy(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t n,
                         size_t bytes) {
    if (to != from) ha_copy_strided(1, &n, to, &to_step, from, &from_step, bytes);
}

/* The elements without gaps: where they are, or copied there. */
HA_IN_ void *ha_sort_row(const ha_sort_job *j, const ha_sort_place *there) {
    void *row = j->x_step == 1 ? j->x : there->keys;
    ha_sort_copy(row, 1, j->x, j->x_step, j->n, j->bytes);
    return row;
}

/* The first pass reads from here. */
HA_IN_ ha_sort_place ha_sort_source(const ha_sort_job *j, void *row, ha_sort_place place) {
    if (j->what == HA_SORT_NUMBERS && j->x_step == 1) place.keys = row;
    ha_sort_copy(place.keys, 1, row, 1, j->n, j->bytes);
    if (j->what == HA_SORT_NUMBERS) place.carried = NULL;
    if (j->what == HA_SORT_VALUES)
        ha_sort_copy(place.carried, 1, j->q, j->q_step, j->n, j->carried);
    return place;
}

/* The last pass puts into place 0, and the one before it into place 1. Keys are there in the end, too, unless these are all digits. */
HA_IN_ void ha_sort_put_all(const ha_sort_job *j, void *row, int kind, const ha_sort_place *place,
                            const ha_sort_digits_of *digits) {
    const int passes = digits->n;
    ha_sort_pass pass = {.form = j->form,
                         .n = j->n,
                         .wide = j->carried == sizeof(uint64_t),
                         .mask = ((uint32_t)1 << digits->bits) - 1,
                         .from = ha_sort_source(j, row, place[passes & 1])};
    for (int k = 0; k < passes; k++) {
        const int own = ha_sort_kind_of(j, kind, k, passes), digit = passes - 1 - k;
        pass.to = place[digit & 1];
        pass.shift = digits->shift[digit];
        pass.begin = digits->counts + ((size_t)(pass.shift / digits->bits) << digits->bits);
        if (!digit && k > 0 && digits->is_all && j->what == HA_SORT_NUMBERS) pass.to.keys = NULL;
        ha_sort_puts[__builtin_ctzll(j->bytes)][own](&pass);
        pass.from = pass.to;
    }
}

HA_IN_ void ha_sort_places_in(const ha_sort_job *j, const ha_sort_layout *l, char *room,
                              ha_sort_place *place) {
    for (int i = 0; i < 2; i++) {
        place[i].keys = l->keys[i] ? room + l->keys[i] : j->x;
        place[i].carried = l->carried[i] ? room + l->carried[i] : j->q;
    }
}

/* From place 0 to where it is wanted. */
HA_IN_ void ha_sort_bring(const ha_sort_job *j, ha_sort_place place) {
    if (j->what != HA_SORT_NUMBERS) ha_sort_copy(j->x, j->x_step, place.keys, 1, j->n, j->bytes);
    if (j->carried) ha_sort_copy(j->q, j->q_step, place.carried, 1, j->n, j->carried);
}

/* Do many have the bits from there on in common with another one? Of some that are looked at, by a hash of these bits (Knuth,
 * volume 3, section 6.4). */
HA_IN_ int ha_sort_is_crowded(const ha_sort_job *j, const void *row, int shift) {
    uint64_t seen[64] = {0};
    const int64_t some = j->n < HA_SORT_LOOKED_AT ? j->n : HA_SORT_LOOKED_AT;
    int common = 0;
    for (int64_t i = 0; i < some; i++) {
        const int64_t at = j->n * i / some;
        const uint64_t key = ha_sort_key(ha_sort_read(row, j->bytes, at), &j->form) >> shift;
        const uint64_t hash = key * 0x9e3779b97f4a7c15 >> 52, bit = (uint64_t)1 << hash % 64;
        common += (seen[hash / 64] & bit) != 0;
        seen[hash / 64] |= bit;
    }
    return common > HA_SORT_IN_COMMON;
}

/* All in which keys differ, or the highest ones, when so few elements have these in common with another one, were they independent of
 * each other, that these can be mended. One digit at least is what numbers are put by. The highest digits are counted. */
HA_IN_ void ha_sort_choose(const ha_sort_job *j, const void *row, int kind, int by_all,
                           ha_sort_digits_of *d) {
    const uint64_t mask = ((uint64_t)1 << d->bits) - 1, change = j->form.change;
    const uint64_t first = ha_sort_key(ha_sort_read(row, j->bytes, 0), &j->form) ^ change;
    const double n = (double)j->n;
    const int digits = ha_sort_digits(j, d->bits);
    double pairs = n * n / 2;
    for (int digit = digits - 1; digit >= 0; digit--) {
        const int shift = digit * d->bits,
                  saves = digit > 0 || d->bits > 8; /* more than it costs */
        const int is_enough = saves && pairs * (double)HA_SORT_STRAYS < n;
        uint32_t *counts = d->counts + ((size_t)digit << d->bits);
        if (is_enough && !by_all && !ha_sort_is_crowded(j, row, shift + d->bits)) return;
        by_all |= is_enough;
        if (j->bytes == sizeof(uint64_t) && digit == digits / 2 - 1)
            ha_sort_count_half(j, row, kind, 0, d);
        if (counts[first >> shift & mask] == (uint64_t)j->n &&
            (digit || d->n || j->what != HA_SORT_NUMBERS))
            continue;
        pairs *= (double)ha_sort_begin(counts, (uint32_t)(change >> shift & mask), d->bits) /
                 (n * n);
        d->shift[d->n++] = shift;
    }
    d->is_all = 1;
}

/* Place 0 is in the order of some digits: in that of all, or too many elements are not. */
HA_IN_ int ha_sort_mend(const ha_sort_job *j, int kind, ha_sort_place place) {
    const int is_of_keys = kind == HA_SORT_FOLD && j->what == HA_SORT_NUMBERS;
    const ha_sort_pass pass = {
        .form = j->form, .from = place, .n = j->n, .wide = j->carried == sizeof(uint64_t)};
    return ha_sort_mends[j->bytes == sizeof(uint64_t)][is_of_keys ? HA_SORT_PLAIN : kind](&pass,
                                                                                          j->n / 4);
}

/* Returns whether elements are in order; if not, those with equal keys are. */
HA_IN_ int ha_sort_by_some_digits(const ha_sort_job *j, const ha_sort_layout *layout, char *room,
                                  int by_all) {
    ha_sort_digits_of digits = {.bits = layout->bits, .counts = (uint32_t *)(void *)room};
    ha_sort_place place[2];
    ha_sort_places_in(j, layout, room, place);
    void *row = ha_sort_row(j, &place[0]);
    const int kind = ha_sort_count_highest(j, row, &digits);
    ha_sort_choose(j, row, kind, by_all, &digits);
    if (!digits.n) return 1;
    ha_sort_put_all(j, row, kind, place, &digits);
    const int is_done = digits.is_all || ha_sort_mend(j, kind, place[0]);
    ha_sort_bring(j, place[0]);
    return is_done;
}

HA_IN_ void ha_sort_by_digits(const ha_sort_job *j, const ha_sort_layout *layout, char *room) {
    if (!ha_sort_by_some_digits(j, layout, room, 0))
        (void)ha_sort_by_some_digits(j, layout, room, 1);
}

/* ---- a few --------------------------------------------------------------------------------------- */

/* Of each pair of elements, the later one may come before the other. */
HA_IN_ void ha_sort_few(const ha_sort_job *j) {
    uint64_t element[HA_SORT_FEW], carried[HA_SORT_FEW], key[HA_SORT_FEW];
    int64_t place[HA_SORT_FEW];
    for (int64_t i = 0; i < j->n; i++) {
        element[i] = ha_sort_read(j->x, j->bytes, i * j->x_step);
        carried[i] = (uint64_t)i;
        if (j->what == HA_SORT_VALUES) carried[i] = ha_sort_read(j->q, j->carried, i * j->q_step);
        key[i] = ha_sort_key(element[i], &j->form);
        place[i] = i;
        for (int64_t k = 0; k < i; k++) {
            const int64_t before = key[i] < key[k];
            place[i] -= before;
            place[k] += before;
        }
    }
    for (int64_t i = 0; i < j->n; i++) {
        if (j->what != HA_SORT_NUMBERS)
            ha_sort_write(j->x, j->bytes, place[i] * j->x_step, element[i]);
        if (j->carried) ha_sort_write(j->q, j->carried, place[i] * j->q_step, carried[i]);
    }
}

#endif
