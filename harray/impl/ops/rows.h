/* The table as loops over rows of elements. Each row is in one of few forms: without gaps, which compilers make
 * vectors of, with a number in the place of an argument, or with any steps. */
#ifndef HARRAY_IMPL_OPS_ROWS_H
#define HARRAY_IMPL_OPS_ROWS_H

#include "expressions.h"
#include "random.h"

/* n elements of the result, of[0], and of up to three arguments; steps count elements, and are 0 of a number. `at` is the
 * number of the first element in its view, and at_step how far the next one is from it. */
enum { HA_OP_ARRAYS = 4 };
typedef struct ha_op_row {
    int64_t n, at, at_step;
    void *of[HA_OP_ARRAYS];
    int64_t step[HA_OP_ARRAYS];
    const void *number[2];
    int y_is_number; /* of[2] */
} ha_op_row;

typedef void (*ha_op_rows)(const ha_op_row *row);

#define HA_ROW_LOOP_(T, n, x_step, y_step, z_step, ...)                                            \
    HA_LANES_LOOP_ for (int64_t i = 0; i < n; i++) {                                               \
        HA_UNUSED const T u = x[i * (x_step)], v = y[i * (y_step)];                                \
        z[i * (z_step)] = __VA_ARGS__;                                                             \
    }

/* R: the type of the result */
#define HA_ROW_BEGIN_(T, R, name)                                                                  \
    HA_CONTRACTED_0_ HA_IN_ void name(const ha_op_row *row) {                                      \
        const int64_t n = row->n, dz = row->step[0], dx = row->step[1], dy = row->step[2];         \
        const T *x = (const T *)row->of[1], *y = (const T *)row->of[2];                            \
        R *z = (R *)row->of[0];

/* Of one argument, which is y, too. */
#define HA_ROW_OF_ONE_(T, operation, word, ...)                                                    \
    HA_ROW_BEGIN_(T, T, ha_row_##word##_##T)                                                       \
    (void)dy;                                                                                      \
    if (dx == 1 && dz == 1)                                                                        \
        HA_ROW_LOOP_(T, n, 1, 1, 1, __VA_ARGS__)                                                   \
    else                                                                                           \
        HA_ROW_LOOP_(T, n, dx, dx, dz, __VA_ARGS__)                                                \
    }

/* Of two, of which one may be a number. */
#define HA_ROW_OF_TWO_(T, operation, word, ...) HA_ROW_OF_TWO_TO_(T, T, word, __VA_ARGS__)
#define HA_ROW_OF_TWO_TO_(T, R, word, ...)                                                         \
    HA_ROW_BEGIN_(T, R, ha_row_##word##_##T)                                                       \
    if (dx == 1 && dy == 1 && dz == 1)                                                             \
        HA_ROW_LOOP_(T, n, 1, 1, 1, __VA_ARGS__)                                                   \
    else if (dx == 1 && dy == 0 && dz == 1) {                                                      \
        const T number = *y;                                                                       \
        HA_LANES_LOOP_ for (int64_t i = 0; i < n; i++) {                                           \
            HA_UNUSED const T u = x[i], v = number;                                                \
            z[i] = __VA_ARGS__;                                                                    \
        }                                                                                          \
    } else                                                                                         \
        HA_ROW_LOOP_(T, n, dx, dy, dz, __VA_ARGS__)                                                \
    }

/* Of one or two, and the numbers a and b, or a alone. */
#define HA_ROW_WITH_NUMBERS_(T, word, ...)                                                         \
    HA_ROW_BEGIN_(T, T, ha_row_##word##_##T)                                                       \
    const T a = *(const T *)row->number[0];                                                        \
    HA_UNUSED const T b = *(const T *)row->number[row->number[1] != NULL];                         \
    if (dx == 1 && dy == 1 && dz == 1)                                                             \
        HA_ROW_LOOP_(T, n, 1, 1, 1, __VA_ARGS__)                                                   \
    else                                                                                           \
        HA_ROW_LOOP_(T, n, dx, dy, dz, __VA_ARGS__)                                                \
    }

/* Of two, or one and a number: a mask. */
#define HA_ROW_OF_MASK_(T, operation, word, ...) HA_ROW_OF_TWO_TO_(T, uint8_t, word, __VA_ARGS__)

#define HA_ROW_TO_OTHER_(T, R, kind, operation, word, ...)                                         \
    HA_ROW_OF_TWO_TO_(T, R, word, __VA_ARGS__)

/* Of the place of an element. */
#define HA_ROW_OF_PLACE_(T, word, ...)                                                             \
    HA_CONTRACTED_0_ HA_IN_ void ha_row_##word##_##T(const ha_op_row *row) {                       \
        const int64_t n = row->n, dz = row->step[0];                                               \
        T *z = (T *)row->of[0];                                                                    \
        const T a = *(const T *)row->number[0], b = *(const T *)row->number[1];                    \
        for (int64_t i = 0; i < n; i++) {                                                          \
            HA_UNUSED const int64_t at = row->at + i * row->at_step;                               \
            (void)a, (void)b;                                                                      \
            z[i * dz] = __VA_ARGS__;                                                               \
        }                                                                                          \
    }

/* Of one or two, where one is both: what is reduced, without gaps. a is 1 unless it is given. */
#define HA_SCALE_int8_t_ double
#define HA_SCALE_int16_t_ double
#define HA_SCALE_uint8_t_ double
#define HA_SCALE_uint16_t_ double
#define HA_SCALE_int32_t_ double
#define HA_SCALE_int64_t_ double
#define HA_SCALE_uint32_t_ double
#define HA_SCALE_uint64_t_ double
#define HA_SCALE_float_ float
#define HA_SCALE_double_ double
#define HA_SCALE_ha_c64_ float
#define HA_SCALE_ha_c128_ double
#define HA_ROW_OF_LANES_(T, R, lane, word, ...)                                                    \
    HA_ROW_BEGIN_(T, R, ha_row_##word##_##T)                                                       \
    HA_UNUSED const HA_SCALE_##T##_ a = row->number[0] ? *(const HA_SCALE_##T##_ *)row->number[0]  \
                                                       : 1;                                        \
    (void)dz;                                                                                      \
    if (dx == 1 && dy == 1)                                                                        \
        HA_ROW_LOOP_(T, n, 1, 1, 1, __VA_ARGS__)                                                   \
    else                                                                                           \
        HA_ROW_LOOP_(T, n, dx, dy, 1, __VA_ARGS__)                                                 \
    }

/* Of a place, whose numbers come from a few blocks at once: number k is counted from the first one of these. */
#define HA_ROW_OF_RANDOM_(T, n, parts, ...)                                                        \
    HA_ROW_OF_NUMBERS_(random, T, (n) / (parts), __VA_ARGS__)
#define HA_ROW_OF_SMALL_(T, n, parts, ...)                                                         \
    HA_ROW_OF_NUMBERS_(random_small, T, (n) / (parts), __VA_ARGS__)
#define HA_ROW_OF_NORMAL_(T, n, parts, ...)                                                        \
    HA_ROW_OF_NUMBERS_(normal, T, (n) / (parts), __VA_ARGS__)
#define HA_BITS_OF_BLOCKS_(n, parts, p) ha_random_number_##n(words, k *(parts) + (p))
#define HA_ROW_OF_NUMBERS_(word, T, of_block, ...)                                                 \
    HA_CONTRACTED_0_ HA_IN_ void ha_row_##word##_##T(const ha_op_row *row) {                       \
        const uint64_t seed = *(const uint64_t *)row->number[0];                                   \
        HA_UNUSED const uint32_t kept = *(const uint32_t *)row->number[1];                         \
        uint64_t words[2 * HA_RANDOM_BLOCKS_], first = 0;                                          \
        unsigned last = 0; /* known are the elements from first on, so many of them */             \
        const int64_t step = row->step[0];                                                         \
        T *z = (T *)row->of[0];                                                                    \
        for (int64_t i = 0; i < row->n;) {                                                         \
            const uint64_t at = (uint64_t)(row->at + i * row->at_step);                            \
            if (at - first >= last) {                                                              \
                first = at / (of_block) * (of_block);                                              \
                last = (of_block)*HA_RANDOM_BLOCKS_;                                               \
                ha_random_blocks(words, first / (of_block), seed);                                 \
            }                                                                                      \
            unsigned k = (unsigned)(at - first);                                                   \
            const int64_t n = row->at_step == 1 ? row->n - i : 1;                                  \
            const unsigned end = n < last - k ? k + (unsigned)n : last;                            \
            for (; k < end; k++, i++) z[i * step] = __VA_ARGS__;                                   \
        }                                                                                          \
    }

/* clang would read two bytes of the mask at a time for elements of 8 bytes. */
#define HA_CHOICE_LANES_uint8_t_ HA_LANES_LOOP_
#define HA_CHOICE_LANES_uint16_t_ HA_LANES_LOOP_
#define HA_CHOICE_LANES_uint32_t_ HA_LANES_LOOP_
#define HA_CHOICE_LANES_ha_c128_ HA_LANES_LOOP_
#if defined __clang__ && !defined __CUDACC__
#define HA_CHOICE_LANES_uint64_t_                                                                  \
    _Pragma("clang loop vectorize(assume_safety) vectorize_width(16) interleave_count(1)")
#else
#define HA_CHOICE_LANES_uint64_t_ HA_LANES_LOOP_
#endif

/* x, the mask, says whether y or w is taken: elements of as many words T as are given. Without branches, which a processor
 * could not predict for most masks. */
#define HA_ROW_OF_CHOICE_(T, words, name)                                                          \
    HA_CONTRACTED_0_ HA_IN_ void ha_row_choose_##name(const ha_op_row *row) {                      \
        const int64_t n = row->n, dz = row->step[0], dx = row->step[1], dy = row->step[2],         \
                      dw = row->step[3];                                                           \
        const uint8_t *x = (const uint8_t *)row->of[1];                                            \
        const T *y = (const T *)row->of[2], *w = (const T *)row->of[3];                            \
        T *z = (T *)row->of[0];                                                                    \
        if (dz == 1 && dx == 1 && dy == 1 && dw == 1)                                              \
            HA_CHOICE_LANES_##name##_ HA_CHOICE_LOOP_(T, words, 1, 1, 1, 1) else HA_LANES_LOOP_    \
            HA_CHOICE_LOOP_(T, words, dz, dx, dy, dw)                                              \
    }
#define HA_CHOICE_LOOP_(T, words, dz, dx, dy, dw)                                                  \
    for (int64_t i = 0; i < n; i++) {                                                              \
        const T is_y = (T)(0 - (T)(x[i * (dx)] != 0));                                             \
        for (int k = 0; k < (words); k++) {                                                        \
            const T other = w[i * (dw) * (words) + k];                                             \
            z[i * (dz) * (words) + k] = (T)(other ^ ((y[i * (dy) * (words) + k] ^ other) & is_y)); \
        }                                                                                          \
    }

HA_CONTRACTION_0_
HA_LINES_OF_TYPES_(HA_ROW_OF_ONE_, HA_ROW_OF_TWO_, HA_ROW_WITH_NUMBERS_, HA_ROW_OF_MASK_,
                   HA_ROW_OF_PLACE_)
HA_RANDOM_OF_TYPES_(HA_ROW_OF_RANDOM_, HA_BITS_OF_BLOCKS_)
HA_RANDOM_OF_SMALL_(HA_ROW_OF_SMALL_, HA_BITS_OF_BLOCKS_)
HA_NORMAL_OF_TYPES_(HA_ROW_OF_NORMAL_, HA_BITS_OF_BLOCKS_)
HA_OTHERS_OF_TYPES_(HA_ROW_TO_OTHER_, HA_ROW_TO_OTHER_)
HA_CALLS_OF_TYPES_(HA_ROW_OF_ONE_, HA_ROW_OF_TWO_)
HA_LANES_OF_TYPES_(HA_ROW_OF_LANES_)
HA_ROW_OF_CHOICE_(uint8_t, 1, uint8_t)
HA_ROW_OF_CHOICE_(uint16_t, 1, uint16_t)
HA_ROW_OF_CHOICE_(uint32_t, 1, uint32_t)
HA_ROW_OF_CHOICE_(uint64_t, 1, uint64_t)
HA_ROW_OF_CHOICE_(uint64_t, 2, ha_c128)
HA_CONTRACTION_END_

#endif
