/* Walks over what is sorted on the host: that count digits of keys, before the bits of the form are changed, as where digits begin sees
 * to these; and one that mends what is nearly in order. */
#ifndef HARRAY_IMPL_OPS_SORT_WALKS_H
#define HARRAY_IMPL_OPS_SORT_WALKS_H

#include "sort_keys.h"

/* ---- keys ---------------------------------------------------------------------------------------- */

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
enum { HA_SORT_PLAIN, HA_SORT_FOLD, HA_SORT_UNFOLD, HA_SORT_WHOLE, HA_SORT_KINDS };

/* ---- what a walk moves --------------------------------------------------------------------------- */

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
    int shift, bits; /* below the digit, and of it */
    uint32_t *begin; /* where the elements of each digit come to */
} ha_sort_pass;

/* ---- counting ------------------------------------------------------------------------------------ */

/* Counts so many digits in one walk: that of the pass, and those above it. */
typedef void (*ha_sort_count)(const ha_sort_pass *pass, int digits, uint32_t *counts);

#define HA_SORT_TALLY_(digit, mask, bits)                                                          \
    (counts + ((digit) << (bits)))[key >> (digit) * (bits) & (mask)]++;
#define HA_SORT_TALLY_1_(mask, bits) HA_SORT_TALLY_(0, mask, bits)
#define HA_SORT_TALLY_2_(mask, bits) HA_SORT_TALLY_1_(mask, bits) HA_SORT_TALLY_(1, mask, bits)
#define HA_SORT_TALLY_3_(mask, bits) HA_SORT_TALLY_2_(mask, bits) HA_SORT_TALLY_(2, mask, bits)
#define HA_SORT_TALLY_4_(mask, bits) HA_SORT_TALLY_3_(mask, bits) HA_SORT_TALLY_(3, mask, bits)
#define HA_SORT_COUNT_OF_(U, kind, digits, shift, mask, bits)                                      \
    for (int64_t i = 0; i < n; i++) {                                                              \
        const U key = (U)(HA_SORT_##kind##_KEY_(U, x[i]) >> (shift));                              \
        HA_SORT_TALLY_##digits##_(mask, bits)                                                      \
    }

/* One digit of any bits; several of 8 bits or 11, at most 4 or 3: so many of 32 bits are all. */
#define HA_SORT_COUNT_(U, kind)                                                                    \
    __attribute__((aligned(64))) HA_IN_ void ha_sort_count_##kind##_##U(                           \
        const ha_sort_pass *pass, int digits, uint32_t *counts) {                                  \
        const U *x = (const U *)pass->from.keys;                                                   \
        HA_UNUSED const ha_sort_form f = pass->form;                                               \
        const int64_t n = pass->n;                                                                 \
        const int shift = pass->shift, is_long = pass->bits > 8;                                   \
        const int first = sizeof(U) <= sizeof(uint32_t) ? 0 : shift;                               \
        const uint32_t mask = ((uint32_t)1 << pass->bits) - 1;                                     \
        if (digits == 1)                                                                           \
            HA_SORT_COUNT_OF_(U, kind, 1, shift, mask, 0)                                          \
        else if (digits == 2 && is_long)                                                           \
            HA_SORT_COUNT_OF_(U, kind, 2, shift, 2047, 11)                                         \
        else if (is_long)                                                                          \
            HA_SORT_COUNT_OF_(U, kind, 3, first, 2047, 11)                                         \
        else if (digits == 2)                                                                      \
            HA_SORT_COUNT_OF_(U, kind, 2, shift, 255, 8)                                           \
        else if (digits == 3)                                                                      \
            HA_SORT_COUNT_OF_(U, kind, 3, shift, 255, 8)                                           \
        else                                                                                       \
            HA_SORT_COUNT_OF_(U, kind, 4, first, 255, 8)                                           \
    }
HA_SORT_COUNT_(uint8_t, PLAIN)
HA_SORT_COUNT_(uint16_t, PLAIN)
HA_SORT_COUNT_(uint16_t, WHOLE)
HA_SORT_COUNT_(uint32_t, PLAIN)
HA_SORT_COUNT_(uint32_t, FOLD)
HA_SORT_COUNT_(uint32_t, WHOLE)
HA_SORT_COUNT_(uint64_t, PLAIN)
HA_SORT_COUNT_(uint64_t, FOLD)
HA_SORT_COUNT_(uint64_t, WHOLE)

/* By the bytes of an element, as a power of two. */
static const ha_sort_count ha_sort_counts[4][HA_SORT_KINDS] = {
    {ha_sort_count_PLAIN_uint8_t},
    {ha_sort_count_PLAIN_uint16_t, NULL, NULL, ha_sort_count_WHOLE_uint16_t},
    {ha_sort_count_PLAIN_uint32_t, ha_sort_count_FOLD_uint32_t, ha_sort_count_PLAIN_uint32_t,
     ha_sort_count_WHOLE_uint32_t},
    {ha_sort_count_PLAIN_uint64_t, ha_sort_count_FOLD_uint64_t, ha_sort_count_PLAIN_uint64_t,
     ha_sort_count_WHOLE_uint64_t}};

/* Bits in which keys differ. */
#define HA_SORT_DIFFER_(U, kind)                                                                   \
    HA_IN_ uint64_t ha_sort_differ_##kind##_##U(const ha_sort_pass *pass) {                        \
        const U *x = (const U *)pass->from.keys;                                                   \
        HA_UNUSED const ha_sort_form f = pass->form;                                               \
        const int64_t n = pass->n;                                                                 \
        const U first = HA_SORT_##kind##_KEY_(U, x[0]);                                            \
        U differ = 0;                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            differ = (U)(differ | (HA_SORT_##kind##_KEY_(U, x[i]) ^ first));                       \
        return differ;                                                                             \
    }
HA_SORT_DIFFER_(uint32_t, PLAIN)
HA_SORT_DIFFER_(uint32_t, FOLD)
HA_SORT_DIFFER_(uint32_t, WHOLE)
HA_SORT_DIFFER_(uint64_t, PLAIN)
HA_SORT_DIFFER_(uint64_t, FOLD)
HA_SORT_DIFFER_(uint64_t, WHOLE)

/* By the bytes of an element: 4 or 8. What is shorter is sorted by all of its digits. */
#define HA_SORT_DIFFERS_OF_(U)                                                                     \
    {                                                                                              \
        ha_sort_differ_PLAIN_##U, ha_sort_differ_FOLD_##U, ha_sort_differ_PLAIN_##U,               \
            ha_sort_differ_WHOLE_##U                                                               \
    }
static uint64_t (*const ha_sort_differs[2][HA_SORT_KINDS])(const ha_sort_pass *pass) = {
    HA_SORT_DIFFERS_OF_(uint32_t), HA_SORT_DIFFERS_OF_(uint64_t)};

/* ---- what is nearly in order --------------------------------------------------------------------- */

/* An element, and what goes along with it, comes before those that are before it. */
HA_IN_ void ha_sort_insert_in(void *x, size_t bytes, int64_t at, int64_t to) {
    uint64_t kept;
    char *from = (char *)x + (size_t)at * bytes, *there = (char *)x + (size_t)to * bytes;
    memcpy(&kept, from, bytes);
    memmove(there + bytes, there, (size_t)(from - there));
    memcpy(there, &kept, bytes);
}

HA_NOINLINE_ HA_IN_ void ha_sort_insert(const ha_sort_pass *pass, size_t bytes, int64_t at,
                                        int64_t to) {
    const size_t carried = pass->wide ? sizeof(uint64_t) : sizeof(uint32_t);
    ha_sort_insert_in(pass->from.keys, bytes, at, to);
    if (pass->from.carried) ha_sort_insert_in(pass->from.carried, carried, at, to);
}

/* Each element that is before its place comes there, past at most `left` others in all; else 0 is returned, and equal ones are in
 * their order all the same. */
#define HA_SORT_MEND_(U, kind)                                                                     \
    HA_IN_ int ha_sort_mend_##kind##_##U(const ha_sort_pass *pass, int64_t left) {                 \
        const U *x = (const U *)pass->from.keys;                                                   \
        const ha_sort_form f = pass->form;                                                         \
        const U change = (U)f.change;                                                              \
        const int64_t n = pass->n;                                                                 \
        U last = (U)(HA_SORT_##kind##_KEY_(U, x[0]) ^ change);                                     \
        for (int64_t i = 1; i < n; i++) {                                                          \
            const U key = (U)(HA_SORT_##kind##_KEY_(U, x[i]) ^ change);                            \
            if (key < last) {                                                                      \
                int64_t to = i - 1;                                                                \
                while (to > 0 && key < (U)(HA_SORT_##kind##_KEY_(U, x[to - 1]) ^ change)) to--;    \
                left -= i - to;                                                                    \
                ha_sort_insert(pass, sizeof(U), i, to);                                            \
                if (left < 0) return 0;                                                            \
            } else {                                                                               \
                last = key;                                                                        \
            }                                                                                      \
        }                                                                                          \
        return 1;                                                                                  \
    }
HA_SORT_MEND_(uint32_t, PLAIN)
HA_SORT_MEND_(uint32_t, FOLD)
HA_SORT_MEND_(uint32_t, WHOLE)
HA_SORT_MEND_(uint64_t, PLAIN)
HA_SORT_MEND_(uint64_t, FOLD)
HA_SORT_MEND_(uint64_t, WHOLE)

#define HA_SORT_MENDS_OF_(U)                                                                       \
    {                                                                                              \
        ha_sort_mend_PLAIN_##U, ha_sort_mend_FOLD_##U, ha_sort_mend_PLAIN_##U,                     \
            ha_sort_mend_WHOLE_##U                                                                 \
    }
static int (*const ha_sort_mends[2][HA_SORT_KINDS])(const ha_sort_pass *pass, int64_t left) = {
    HA_SORT_MENDS_OF_(uint32_t), HA_SORT_MENDS_OF_(uint64_t)};

#endif
