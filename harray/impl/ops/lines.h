/* The operations by type: their words, what devices compile, and their loops. */
#ifndef HARRAY_IMPL_OPS_LINES_H
#define HARRAY_IMPL_OPS_LINES_H

#include "loops.h"

/* An operation of a type; `text` is its expression, NULL: the type has none. */
typedef struct ha_op_line {
    const char *word, *text;
    ha_kernel_loops_ loops;
    int arguments, numbers;
} ha_op_line;

/* Its place in the table of a type. */
enum {
    HA_OP_OF_MAPS = 0,
    HA_OP_OF_COMBINES = HA_MAPS_,
    HA_OP_OF_SPECIALS = HA_MAPS_ + HA_COMBINES_,
    HA_OPS = HA_OP_OF_SPECIALS + HA_SPECIALS_
};

/* ---- loops --------------------------------------------------------------------------------------- */

/* E: how the elements are called in C; dtype: half and bfloat16, whose rows are those of float. */
#define HA_LOOPS_OF_(T, E, dtype, word, arguments, numbers)                                        \
    static void ha_loops_##word##_##E(const ha_region *box, int apart,                             \
                                      const ha_kernel_slot_ *slot) {                               \
        static const ha_op_form form = {ha_row_##word##_##T, arguments, numbers, sizeof(E),        \
                                        dtype};                                                    \
        (void)apart;                                                                               \
        ha_op_loops(&form, box, slot);                                                             \
    }
#define HA_LOOPS_OF_ONE_(T, operation, word, ...) HA_LOOPS_OF_(T, T, HA_DTYPE_NONE, word, 1, 0)
#define HA_LOOPS_OF_TWO_(T, operation, word, ...) HA_LOOPS_OF_(T, T, HA_DTYPE_NONE, word, 2, 0)
#define HA_LOOPS_OF_SPECIAL_(T, operation, word, ...)                                              \
    HA_LOOPS_OF_(T, T, HA_DTYPE_NONE, word, HA_ARGUMENTS_OF_(operation), 2)
#define HA_HALF_LOOPS_OF_ONE_(T, operation, word, ...)                                             \
    HA_LOOPS_OF_(T, ha_half, HA_DTYPE_half, word, 1, 0)                                            \
    HA_LOOPS_OF_(T, ha_bfloat16, HA_DTYPE_bfloat16, word, 1, 0)
#define HA_HALF_LOOPS_OF_TWO_(T, operation, word, ...)                                             \
    HA_LOOPS_OF_(T, ha_half, HA_DTYPE_half, word, 2, 0)                                            \
    HA_LOOPS_OF_(T, ha_bfloat16, HA_DTYPE_bfloat16, word, 2, 0)
#define HA_HALF_LOOPS_OF_SPECIAL_(T, operation, word, ...)                                         \
    HA_LOOPS_OF_(T, ha_half, HA_DTYPE_half, word, HA_ARGUMENTS_OF_(operation), 2)                  \
    HA_LOOPS_OF_(T, ha_bfloat16, HA_DTYPE_bfloat16, word, HA_ARGUMENTS_OF_(operation), 2)
#define HA_ARGUMENTS_OF_(operation) ((operation) == HA_CLIP_ ? 1 : 2)

HA_LINES_OF_TYPES_(HA_LOOPS_OF_ONE_, HA_LOOPS_OF_TWO_, HA_LOOPS_OF_SPECIAL_)
HA_LINES_OF_REAL_(float, HA_F_float_, HA_HALF_LOOPS_OF_ONE_, HA_HALF_LOOPS_OF_TWO_,
                  HA_HALF_LOOPS_OF_SPECIAL_)

/* ---- the tables ---------------------------------------------------------------------------------- */

#define HA_LINE_(T, at, word, loops, arguments, numbers, ...)                                      \
    [at] = {#word, HA_TEXT_OF_(__VA_ARGS__), loops, arguments, numbers},
#define HA_LINE_OF_ONE_(T, operation, word, ...)                                                   \
    HA_LINE_(T, HA_OP_OF_MAPS + (operation), word, ha_loops_##word##_##T, 1, 0, __VA_ARGS__)
#define HA_LINE_OF_TWO_(T, operation, word, ...)                                                   \
    HA_LINE_(T, HA_OP_OF_COMBINES + (operation), word, ha_loops_##word##_##T, 2, 0, __VA_ARGS__)
#define HA_LINE_OF_SPECIAL_(T, operation, word, ...)                                               \
    HA_LINE_(T, HA_OP_OF_SPECIALS + (operation), word, ha_loops_##word##_##T,                      \
             HA_ARGUMENTS_OF_(operation), 2, __VA_ARGS__)

/* As those of float but for the loops. */
#define HA_HALF_LINE_OF_ONE_(T, operation, word, ...)                                              \
    HA_LINE_(T, HA_OP_OF_MAPS + (operation), word, ha_loops_##word##_ha_half, 1, 0, __VA_ARGS__)
#define HA_HALF_LINE_OF_TWO_(T, operation, word, ...)                                              \
    HA_LINE_(T, HA_OP_OF_COMBINES + (operation), word, ha_loops_##word##_ha_half, 2, 0, __VA_ARGS__)
#define HA_HALF_LINE_OF_SPECIAL_(T, operation, word, ...)                                          \
    HA_LINE_(T, HA_OP_OF_SPECIALS + (operation), word, ha_loops_##word##_ha_half,                  \
             HA_ARGUMENTS_OF_(operation), 2, __VA_ARGS__)
#define HA_BFLOAT16_LINE_OF_ONE_(T, operation, word, ...)                                          \
    HA_LINE_(T, HA_OP_OF_MAPS + (operation), word, ha_loops_##word##_ha_bfloat16, 1, 0, __VA_ARGS__)
#define HA_BFLOAT16_LINE_OF_TWO_(T, operation, word, ...)                                          \
    HA_LINE_(T, HA_OP_OF_COMBINES + (operation), word, ha_loops_##word##_ha_bfloat16, 2, 0,        \
             __VA_ARGS__)
#define HA_BFLOAT16_LINE_OF_SPECIAL_(T, operation, word, ...)                                      \
    HA_LINE_(T, HA_OP_OF_SPECIALS + (operation), word, ha_loops_##word##_ha_bfloat16,              \
             HA_ARGUMENTS_OF_(operation), 2, __VA_ARGS__)

/* A type that operations are of. */
typedef struct ha_op_type {
    ha_dtype type;
    const char *element,
        *computed;   /* as text for devices: of elements, and of what is computed with */
    ha_dtype number; /* type of the numbers */
    ha_op_line line[HA_OPS];
} ha_op_type;

static const ha_op_type ha_op_types[] = {
    {HA_DTYPE_int32_t,
     "int32_t",
     "int32_t",
     HA_DTYPE_int32_t,
     {HA_LINES_OF_SIGNED_(int32_t, uint32_t, HA_LINE_OF_ONE_, HA_LINE_OF_TWO_,
                          HA_LINE_OF_SPECIAL_)}},
    {HA_DTYPE_int64_t,
     "int64_t",
     "int64_t",
     HA_DTYPE_int64_t,
     {HA_LINES_OF_SIGNED_(int64_t, uint64_t, HA_LINE_OF_ONE_, HA_LINE_OF_TWO_,
                          HA_LINE_OF_SPECIAL_)}},
    {HA_DTYPE_uint32_t,
     "uint32_t",
     "uint32_t",
     HA_DTYPE_uint32_t,
     {HA_LINES_OF_UNSIGNED_(uint32_t, uint32_t, HA_LINE_OF_ONE_, HA_LINE_OF_TWO_,
                            HA_LINE_OF_SPECIAL_)}},
    {HA_DTYPE_uint64_t,
     "uint64_t",
     "uint64_t",
     HA_DTYPE_uint64_t,
     {HA_LINES_OF_UNSIGNED_(uint64_t, uint64_t, HA_LINE_OF_ONE_, HA_LINE_OF_TWO_,
                            HA_LINE_OF_SPECIAL_)}},
    {HA_DTYPE_float,
     "float",
     "float",
     HA_DTYPE_float,
     {HA_LINES_OF_REAL_(float, HA_F_float_, HA_LINE_OF_ONE_, HA_LINE_OF_TWO_,
                        HA_LINE_OF_SPECIAL_)}},
    {HA_DTYPE_double,
     "double",
     "double",
     HA_DTYPE_double,
     {HA_LINES_OF_REAL_(double, HA_F_double_, HA_LINE_OF_ONE_, HA_LINE_OF_TWO_,
                        HA_LINE_OF_SPECIAL_)}},
    {HA_DTYPE_c64,
     "c64",
     "ha_c64",
     HA_DTYPE_c64,
     {HA_LINES_OF_COMPLEX_(ha_c64, HA_P_c64_, HA_LINE_OF_ONE_, HA_LINE_OF_TWO_,
                           HA_LINE_OF_SPECIAL_)}},
    {HA_DTYPE_c128,
     "c128",
     "ha_c128",
     HA_DTYPE_c128,
     {HA_LINES_OF_COMPLEX_(ha_c128, HA_P_c128_, HA_LINE_OF_ONE_, HA_LINE_OF_TWO_,
                           HA_LINE_OF_SPECIAL_)}},
    {HA_DTYPE_half,
     "half",
     "float",
     HA_DTYPE_float,
     {HA_LINES_OF_REAL_(float, HA_F_float_, HA_HALF_LINE_OF_ONE_, HA_HALF_LINE_OF_TWO_,
                        HA_HALF_LINE_OF_SPECIAL_)}},
    {HA_DTYPE_bfloat16,
     "bfloat16",
     "float",
     HA_DTYPE_float,
     {HA_LINES_OF_REAL_(float, HA_F_float_, HA_BFLOAT16_LINE_OF_ONE_, HA_BFLOAT16_LINE_OF_TWO_,
                        HA_BFLOAT16_LINE_OF_SPECIAL_)}},
};

/* NULL: there are none of this type. */
HA_IN_ const ha_op_type *ha_op_type_of(ha_dtype type) {
    for (size_t i = 0; i < sizeof ha_op_types / sizeof *ha_op_types; i++)
        if (ha_op_types[i].type == type) return &ha_op_types[i];
    return NULL;
}

#endif
