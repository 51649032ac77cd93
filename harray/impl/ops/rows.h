/* The table as loops over rows of elements. Each row is in one of few forms: without gaps, which compilers make
 * vectors of, with a number in the place of an argument, or with any steps. */
#ifndef HARRAY_IMPL_OPS_ROWS_H
#define HARRAY_IMPL_OPS_ROWS_H

#include "expressions.h"

/* n elements of a result and its arguments; steps count elements, and are 0 of a number. */
typedef struct ha_op_row {
    int64_t n;
    void *z;
    const void *x, *y, *a, *b;
    int64_t z_step, x_step, y_step;
    int y_is_number;
} ha_op_row;

typedef void (*ha_op_rows)(const ha_op_row *row);

#define HA_ROW_LOOP_(T, n, x_step, y_step, z_step, ...)                                            \
    HA_LANES_LOOP_ for (int64_t i = 0; i < n; i++) {                                               \
        HA_UNUSED const T u = x[i * (x_step)], v = y[i * (y_step)];                                \
        z[i * (z_step)] = __VA_ARGS__;                                                             \
    }

#define HA_ROW_BEGIN_(T, name)                                                                     \
    HA_CONTRACTED_0_ static void name(const ha_op_row *row) {                                      \
        const int64_t n = row->n, dx = row->x_step, dy = row->y_step, dz = row->z_step;            \
        const T *x = (const T *)row->x, *y = (const T *)row->y;                                    \
        T *z = (T *)row->z;

/* Of one argument, which is y, too. */
#define HA_ROW_OF_ONE_(T, operation, word, ...)                                                    \
    HA_ROW_BEGIN_(T, ha_row_##word##_##T)                                                          \
    (void)dy;                                                                                      \
    if (dx == 1 && dz == 1)                                                                        \
        HA_ROW_LOOP_(T, n, 1, 1, 1, __VA_ARGS__)                                                   \
    else                                                                                           \
        HA_ROW_LOOP_(T, n, dx, dx, dz, __VA_ARGS__)                                                \
    }

/* Of two, of which one may be a number. */
#define HA_ROW_OF_TWO_(T, operation, word, ...)                                                    \
    HA_ROW_BEGIN_(T, ha_row_##word##_##T)                                                          \
    if (dx == 1 && dy == 1 && dz == 1)                                                             \
        HA_ROW_LOOP_(T, n, 1, 1, 1, __VA_ARGS__)                                                   \
    else if (dx == 1 && dy == 0 && dz == 1) {                                                      \
        const T number = *y;                                                                       \
        HA_LANES_LOOP_ for (int64_t i = 0; i < n; i++) {                                           \
            const T u = x[i], v = number;                                                          \
            z[i] = __VA_ARGS__;                                                                    \
        }                                                                                          \
    } else                                                                                         \
        HA_ROW_LOOP_(T, n, dx, dy, dz, __VA_ARGS__)                                                \
    }

/* Of one or two, and the numbers a and b. */
#define HA_ROW_WITH_NUMBERS_(T, operation, word, ...)                                              \
    HA_ROW_BEGIN_(T, ha_row_##word##_##T)                                                          \
    const T a = *(const T *)row->a, b = *(const T *)row->b;                                        \
    if (dx == 1 && dy == 1 && dz == 1)                                                             \
        HA_ROW_LOOP_(T, n, 1, 1, 1, __VA_ARGS__)                                                   \
    else                                                                                           \
        HA_ROW_LOOP_(T, n, dx, dy, dz, __VA_ARGS__)                                                \
    }

HA_CONTRACTION_0_
HA_LINES_OF_TYPES_(HA_ROW_OF_ONE_, HA_ROW_OF_TWO_, HA_ROW_WITH_NUMBERS_)
HA_CONTRACTION_END_

#endif
