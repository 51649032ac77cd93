/* Sorting on the host: a few elements by comparing all of them; more by digits of their keys, the lowest ones first (Knuth, volume 3,
 * algorithm 5.2.5R). All digits are counted in one walk over the elements, and those that all elements share are left out. What is moved
 * from pass to pass is the keys where elements can be made of them again, else the elements. */
#ifndef HARRAY_IMPL_OPS_SORT_LOOPS_H
#define HARRAY_IMPL_OPS_SORT_LOOPS_H

#include "sort_keys.h"

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

/* ---- keys, before the bits of the form are changed: where digits begin sees to these -------------------- */

/* Of reals; those of integers are their bits. Folded: where there is no NaN and no -0.0; folding once more gives the element. Whole: of
 * all reals. */
#define HA_SORT_KEYS_(U)                                                                           \
    HA_FAST_ U ha_sort_folded_##U(U bits, const ha_sort_form *f) {                                 \
        const U negative = (U)(0 - (bits >> (8 * sizeof(U) - 1))); /* all bits */                  \
        (void)f;                                                                                   \
        return (U)(bits ^ negative >> 1);                                                          \
    }                                                                                              \
    HA_FAST_ U ha_sort_whole_##U(U bits, const ha_sort_form *f) {                                  \
        const U key = (U)(ha_sort_folded_##U(bits, f) + (bits == (U)f->zero));                     \
        return (bits & (U)f->magnitude) > (U)f->infinite ? (U)(f->ones ^ f->change) : key;         \
    }
HA_SORT_KEYS_(uint8_t)
HA_SORT_KEYS_(uint16_t)
HA_SORT_KEYS_(uint32_t)
HA_SORT_KEYS_(uint64_t)

/* What is read, and what is put: keys, which may be elements; elements, keys; keys, elements; elements. */
#define HA_SORT_PLAIN_KEY_(U, e) e
#define HA_SORT_PLAIN_KEPT_(U, e) e
#define HA_SORT_FOLD_KEY_(U, e) ha_sort_folded_##U(e, &f)
#define HA_SORT_FOLD_KEPT_(U, e) ha_sort_folded_##U(e, &f)
#define HA_SORT_UNFOLD_KEY_(U, e) e
#define HA_SORT_UNFOLD_KEPT_(U, e) ha_sort_folded_##U(e, &f)
#define HA_SORT_WHOLE_KEY_(U, e) ha_sort_whole_##U(e, &f)
#define HA_SORT_WHOLE_KEPT_(U, e) e

/* ---- counting ------------------------------------------------------------------------------------ */

typedef void (*ha_sort_count)(const void *from, int64_t n, const ha_sort_form *f, uint32_t *counts);

#define HA_SORT_TALLY_(digit, bits)                                                                \
    (counts + ((digit) << (bits)))[key >> (digit) * (bits) & ((1 << (bits)) - 1)]++;
#define HA_SORT_TALLY_1_(bits) HA_SORT_TALLY_(0, bits)
#define HA_SORT_TALLY_2_(bits) HA_SORT_TALLY_1_(bits) HA_SORT_TALLY_(1, bits)
#define HA_SORT_TALLY_3_(bits) HA_SORT_TALLY_2_(bits) HA_SORT_TALLY_(2, bits)
#define HA_SORT_TALLY_4_(bits) HA_SORT_TALLY_3_(bits) HA_SORT_TALLY_(3, bits)
#define HA_SORT_TALLY_6_(bits)                                                                     \
    HA_SORT_TALLY_4_(bits) HA_SORT_TALLY_(4, bits) HA_SORT_TALLY_(5, bits)
#define HA_SORT_TALLY_8_(bits)                                                                     \
    HA_SORT_TALLY_6_(bits) HA_SORT_TALLY_(6, bits) HA_SORT_TALLY_(7, bits)

#define HA_SORT_COUNT_(U, kind, bits, digits)                                                      \
    HA_IN_ void ha_sort_count_##kind##_##bits##_##U(const void *from, int64_t n,                   \
                                                    const ha_sort_form *form, uint32_t *counts) {  \
        const U *x = (const U *)from;                                                              \
        HA_UNUSED const ha_sort_form f = *form;                                                    \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const U key = HA_SORT_##kind##_KEY_(U, x[i]);                                          \
            HA_SORT_TALLY_##digits##_(bits)                                                        \
        }                                                                                          \
    }
HA_SORT_COUNT_(uint8_t, PLAIN, 8, 1)
HA_SORT_COUNT_(uint16_t, PLAIN, 8, 2)
HA_SORT_COUNT_(uint16_t, WHOLE, 8, 2)
HA_SORT_COUNT_(uint32_t, PLAIN, 8, 4)
HA_SORT_COUNT_(uint32_t, FOLD, 8, 4)
HA_SORT_COUNT_(uint32_t, WHOLE, 8, 4)
HA_SORT_COUNT_(uint32_t, PLAIN, 11, 3)
HA_SORT_COUNT_(uint32_t, FOLD, 11, 3)
HA_SORT_COUNT_(uint32_t, WHOLE, 11, 3)
HA_SORT_COUNT_(uint64_t, PLAIN, 8, 8)
HA_SORT_COUNT_(uint64_t, FOLD, 8, 8)
HA_SORT_COUNT_(uint64_t, WHOLE, 8, 8)
HA_SORT_COUNT_(uint64_t, PLAIN, 11, 6)
HA_SORT_COUNT_(uint64_t, FOLD, 11, 6)
HA_SORT_COUNT_(uint64_t, WHOLE, 11, 6)

/* ---- one pass ------------------------------------------------------------------------------------ */

/* Keys or elements, and what goes along with them. NULL: nothing does; to be read: the number of each does; to be put: the keys
 * stay behind. */
typedef struct ha_sort_place {
    void *keys, *carried;
} ha_sort_place;

typedef struct ha_sort_pass {
    ha_sort_form form;
    ha_sort_place from, to;
    int64_t n;
    int wide;        /* what goes along has 64 bits, else 32 */
    uint32_t *begin; /* where the elements of each digit come to */
    int shift;       /* bits below the digit */
    uint32_t mask;
} ha_sort_pass;

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
    HA_IN_ void ha_sort_put_##kind##_##U(const ha_sort_pass *pass) {                               \
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
enum { HA_SORT_PLAIN, HA_SORT_FOLD, HA_SORT_UNFOLD, HA_SORT_WHOLE, HA_SORT_KINDS };
static const ha_sort_put ha_sort_puts[4][HA_SORT_KINDS] = {
    {ha_sort_put_PLAIN_uint8_t},
    {ha_sort_put_PLAIN_uint16_t, NULL, NULL, ha_sort_put_WHOLE_uint16_t},
    {ha_sort_put_PLAIN_uint32_t, ha_sort_put_FOLD_uint32_t, ha_sort_put_UNFOLD_uint32_t,
     ha_sort_put_WHOLE_uint32_t},
    {ha_sort_put_PLAIN_uint64_t, ha_sort_put_FOLD_uint64_t, ha_sort_put_UNFOLD_uint64_t,
     ha_sort_put_WHOLE_uint64_t}};

/* Digits of 8 bits, and of 11. */
static const ha_sort_count ha_sort_counts[2][4][HA_SORT_KINDS] = {
    {{ha_sort_count_PLAIN_8_uint8_t},
     {ha_sort_count_PLAIN_8_uint16_t, NULL, NULL, ha_sort_count_WHOLE_8_uint16_t},
     {ha_sort_count_PLAIN_8_uint32_t, ha_sort_count_FOLD_8_uint32_t, NULL,
      ha_sort_count_WHOLE_8_uint32_t},
     {ha_sort_count_PLAIN_8_uint64_t, ha_sort_count_FOLD_8_uint64_t, NULL,
      ha_sort_count_WHOLE_8_uint64_t}},
    {{NULL},
     {NULL},
     {ha_sort_count_PLAIN_11_uint32_t, ha_sort_count_FOLD_11_uint32_t, NULL,
      ha_sort_count_WHOLE_11_uint32_t},
     {ha_sort_count_PLAIN_11_uint64_t, ha_sort_count_FOLD_11_uint64_t, NULL,
      ha_sort_count_WHOLE_11_uint64_t}}};

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

/* Counts become where digits begin, in the order of the digits with these bits changed. */
HA_IN_ void ha_sort_begin(uint32_t *counts, uint32_t change, int bits) {
    const uint32_t digits = (uint32_t)1 << bits;
    uint32_t sum = 0;
    if (!change) /* of most digits */
        for (uint32_t digit = 0; digit < digits; digit++) {
            const uint32_t count = counts[digit];
            counts[digit] = sum;
            sum += count;
        }
    else
        for (uint32_t digit = 0; digit < digits; digit++) {
            uint32_t *begin = &counts[digit ^ change];
            const uint32_t count = *begin;
            *begin = sum;
            sum += count;
        }
}

/* Are there NaNs or -0.0, perhaps? Their highest digits, as folded keys, are those from that of infinity to that of -infinity, and that of
 * all bits. */
HA_IN_ int ha_sort_is_doubtful(const uint32_t *counts, const ha_sort_form *f, int shift) {
    const uint64_t first = f->infinite >> shift, last = (f->ones ^ f->infinite) >> shift;
    uint32_t any = counts[f->ones >> shift];
    for (uint64_t digit = first; digit <= last; digit++) any |= counts[digit];
    return any != 0;
}

/* Counts all digits by the keys of the kind that is given back. */
HA_IN_ int ha_sort_count_all(const ha_sort_job *j, const void *x, int bits, uint32_t *counts) {
    const int size = __builtin_ctzll(j->bytes), digits = ha_sort_digits(j, bits);
    const size_t top = (size_t)(digits - 1) << bits;
    int kind = !j->is_real ? HA_SORT_PLAIN : size < 2 ? HA_SORT_WHOLE : HA_SORT_FOLD;
    memset(counts, 0, sizeof *counts * (size_t)digits << bits);
    ha_sort_counts[bits != 8][size][kind](x, j->n, &j->form, counts);
    if (kind != HA_SORT_FOLD || !ha_sort_is_doubtful(counts + top, &j->form, (digits - 1) * bits))
        return kind;
    memset(counts, 0, sizeof *counts * (size_t)digits << bits);
    ha_sort_counts[bits != 8][size][HA_SORT_WHOLE](x, j->n, &j->form, counts);
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

/* The last pass puts into place 0, and the one before it into place 1. */
HA_IN_ void ha_sort_put_all(const ha_sort_job *j, void *row, int kind, const ha_sort_place *place,
                            const int *shift, int passes, int bits, uint32_t *counts) {
    ha_sort_pass pass = {.form = j->form,
                         .n = j->n,
                         .wide = j->carried == sizeof(uint64_t),
                         .mask = ((uint32_t)1 << bits) - 1,
                         .from = ha_sort_source(j, row, place[passes & 1])};
    for (int k = 0; k < passes; k++) {
        const int own = ha_sort_kind_of(j, kind, k, passes), last = k == passes - 1;
        pass.to = place[(passes - 1 - k) & 1];
        pass.shift = shift[k];
        pass.begin = counts + ((size_t)(shift[k] / bits) << bits);
        if (last && k > 0 && j->what == HA_SORT_NUMBERS) pass.to.keys = NULL;
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

HA_IN_ void ha_sort_by_digits(const ha_sort_job *j, const ha_sort_layout *layout, char *room) {
    const int bits = layout->bits;
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    uint32_t *counts = (uint32_t *)(void *)room;
    ha_sort_place place[2];
    int shift[8], passes = 0;
    ha_sort_places_in(j, layout, room, place);
    void *row = ha_sort_row(j, &place[0]);
    const int kind = ha_sort_count_all(j, row, bits, counts);
    const uint64_t first = ha_sort_key(ha_sort_read(j->x, j->bytes, 0), &j->form) ^ j->form.change;
    for (int at = 0, width = 8 * (int)j->bytes; at < width; at += bits) {
        uint32_t *of_digit = counts + ((size_t)(at / bits) << bits);
        const int is_last = at + bits >= width;
        const int is_shared = of_digit[first >> at & mask] == (uint64_t)j->n;
        if (is_shared && !(is_last && !passes && j->what == HA_SORT_NUMBERS)) continue;
        ha_sort_begin(of_digit, (uint32_t)(j->form.change >> at & mask), bits);
        shift[passes++] = at;
    }
    if (!passes) return;
    ha_sort_put_all(j, row, kind, place, shift, passes, bits, counts);
    ha_sort_bring(j, place[0]);
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
