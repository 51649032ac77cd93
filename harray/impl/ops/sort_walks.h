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

/* ---- counting ------------------------------------------------------------------------------------ */

/* Counts of digits in one walk: of all; of keys of 64 bits, of the upper half of them, or the lower half. */
typedef void (*ha_sort_count)(const void *from, int64_t n, const ha_sort_form *f, uint32_t *counts);

#define HA_SORT_TALLY_(digit, first, bits)                                                         \
    (counts + ((digit) << (bits)))[key >> ((first) + (digit)) * (bits) & ((1 << (bits)) - 1)]++;
#define HA_SORT_TALLY_1_(first, bits) HA_SORT_TALLY_(0, first, bits)
#define HA_SORT_TALLY_2_(first, bits) HA_SORT_TALLY_1_(first, bits) HA_SORT_TALLY_(1, first, bits)
#define HA_SORT_TALLY_3_(first, bits) HA_SORT_TALLY_2_(first, bits) HA_SORT_TALLY_(2, first, bits)
#define HA_SORT_TALLY_4_(first, bits) HA_SORT_TALLY_3_(first, bits) HA_SORT_TALLY_(3, first, bits)

/* Of so many digits from this one on. */
#define HA_SORT_COUNT_(U, kind, bits, first, digits)                                               \
    __attribute__((aligned(64))) HA_IN_ void ha_sort_count_##kind##_##bits##_##first##_##U(        \
        const void *from, int64_t n, const ha_sort_form *form, uint32_t *counts) {                 \
        const U *x = (const U *)from;                                                              \
        HA_UNUSED const ha_sort_form f = *form;                                                    \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const U key = HA_SORT_##kind##_KEY_(U, x[i]);                                          \
            HA_SORT_TALLY_##digits##_(first, bits)                                                 \
        }                                                                                          \
    }
HA_SORT_COUNT_(uint8_t, PLAIN, 8, 0, 1)
HA_SORT_COUNT_(uint16_t, PLAIN, 8, 0, 2)
HA_SORT_COUNT_(uint16_t, WHOLE, 8, 0, 2)
#define HA_SORT_COUNTS_(kind)                                                                      \
    HA_SORT_COUNT_(uint32_t, kind, 8, 0, 4)                                                        \
    HA_SORT_COUNT_(uint32_t, kind, 11, 0, 3)                                                       \
    HA_SORT_COUNT_(uint64_t, kind, 8, 0, 4)                                                        \
    HA_SORT_COUNT_(uint64_t, kind, 8, 4, 4)                                                        \
    HA_SORT_COUNT_(uint64_t, kind, 11, 0, 3)                                                       \
    HA_SORT_COUNT_(uint64_t, kind, 11, 3, 3)
HA_SORT_COUNTS_(PLAIN)
HA_SORT_COUNTS_(FOLD)
HA_SORT_COUNTS_(WHOLE)

/* By the bits of digits, 8 or 11; by the bytes of an element, as a power of two, and the upper half of the largest ones. */
#define HA_SORT_COUNTS_OF_(U, bits, first)                                                         \
    {                                                                                              \
        ha_sort_count_PLAIN_##bits##_##first##_##U, ha_sort_count_FOLD_##bits##_##first##_##U,     \
            NULL, ha_sort_count_WHOLE_##bits##_##first##_##U                                       \
    }
static const ha_sort_count ha_sort_counts[2][5][HA_SORT_KINDS] = {
    {{ha_sort_count_PLAIN_8_0_uint8_t},
     {ha_sort_count_PLAIN_8_0_uint16_t, NULL, NULL, ha_sort_count_WHOLE_8_0_uint16_t},
     HA_SORT_COUNTS_OF_(uint32_t, 8, 0),
     HA_SORT_COUNTS_OF_(uint64_t, 8, 0),
     HA_SORT_COUNTS_OF_(uint64_t, 8, 4)},
    {{NULL},
     {NULL},
     HA_SORT_COUNTS_OF_(uint32_t, 11, 0),
     HA_SORT_COUNTS_OF_(uint64_t, 11, 0),
     HA_SORT_COUNTS_OF_(uint64_t, 11, 3)}};

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
    uint32_t *begin; /* where the elements of each digit come to */
    int shift;       /* bits below the digit */
    uint32_t mask;
} ha_sort_pass;

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

/* By the bytes of an element: 4 or 8. What is shorter is sorted by all of its digits. */
#define HA_SORT_MENDS_OF_(U)                                                                       \
    { ha_sort_mend_PLAIN_##U, ha_sort_mend_FOLD_##U, NULL, ha_sort_mend_WHOLE_##U }
static int (*const ha_sort_mends[2][HA_SORT_KINDS])(const ha_sort_pass *pass, int64_t left) = {
    HA_SORT_MENDS_OF_(uint32_t), HA_SORT_MENDS_OF_(uint64_t)};

#endif
