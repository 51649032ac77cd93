/* The tables of operations, one for those that are called by the same function or need the same loops. */
#ifndef HARRAY_IMPL_OPS_TABLES_H
#define HARRAY_IMPL_OPS_TABLES_H

#include "lines.h"

/* How many lines a type has: first and last may be of two enumerations. */
#define HA_LINES_FROM_(first, last) ((int)(last) - (int)(first) + 1)
/* Line n of type T in a table whose operations are numbered from first to last. */
#define HA_LINE_(T, first, last, n, word, uses, kind, arguments, numbers, gives, ...)              \
    [HA_AT_##T * HA_LINES_FROM_(first, last) + HA_LINES_FROM_(first, n) - 1] = {                   \
        n,       #word, HA_TEXT_OF_(__VA_ARGS__), ha_row_##word##_##T, uses, kind, arguments,      \
        numbers, gives},
/* One line more, as there may be none. */
#define HA_OP_TABLE_(name, first, last, ...)                                                       \
    static const ha_op_line name##_lines[HA_AT_TYPES * HA_LINES_FROM_(first, last) + 1] = {        \
        __VA_ARGS__[HA_AT_TYPES * HA_LINES_FROM_(first, last)] = HA_NO_OPERATION_};                \
    static const ha_op_table name = {name##_lines, first, HA_LINES_FROM_(first, last)};
#define HA_NO_OPERATION_                                                                           \
    { 0, NULL, NULL, NULL, NULL, HA_OP_PLAIN, 0, 0, HA_DTYPE_NONE }

/* HA_IF_CHOSEN_(macro)(…): what is in the second parentheses, if the macro is there, as ~, 1. */
#define HA_IF_CHOSEN_(...) HA_VARIANT_(HA_IF_CHOSEN_, HA_CALL_(HA_SECOND_OF_, __VA_ARGS__, 0, ~))
#define HA_IF_CHOSEN_0_(...)
#define HA_IF_CHOSEN_1_(...) __VA_ARGS__
#define HA_NO_LINE_(...)

/* Of numbers of the type: so many arguments, so many numbers beside them. */
#define HA_LINE_OF_NUMBERS_(T, first, last, arguments, numbers, operation, word, ...)              \
    HA_LINE_(T, first, last, operation, word, NULL, HA_OP_PLAIN, arguments, numbers,               \
             HA_DTYPE_NONE, __VA_ARGS__)
#define HA_LINE_WITH_CALLS_(T, first, last, arguments, operation, word, ...)                       \
    HA_LINE_(T, first, last, operation, word, ha_uses_ha_functions_of_##T, HA_OP_PLAIN, arguments, \
             0, HA_DTYPE_NONE, __VA_ARGS__)
#define HA_LINE_TO_OTHER_(T, first, last, arguments, R, kind, operation, word, ...)                \
    HA_LINE_(T, first, last, operation, word, NULL, kind, arguments, 0, HA_DTYPE_OF(R), __VA_ARGS__)

/* ---- of one and of two arguments ----------------------------------------------------------------- */

enum { HA_LAST_MAP_ = HA_MAPS_ - 1 };
#define HA_MAP_LINE_(T, ...) HA_LINE_OF_NUMBERS_(T, HA_NEGATE, HA_LAST_MAP_, 1, 0, __VA_ARGS__)
#define HA_MAP_CALL_(T, ...) HA_LINE_WITH_CALLS_(T, HA_NEGATE, HA_LAST_MAP_, 1, __VA_ARGS__)
#define HA_MAP_OTHER_(T, ...) HA_LINE_TO_OTHER_(T, HA_NEGATE, HA_LAST_MAP_, 1, __VA_ARGS__)
HA_OP_TABLE_(ha_op_maps, HA_NEGATE, HA_LAST_MAP_,
             HA_LINES_OF_TYPES_(HA_MAP_LINE_, HA_NO_LINE_, HA_NO_LINE_, HA_NO_LINE_, HA_NO_LINE_)
                 HA_OTHERS_OF_TYPES_(HA_MAP_OTHER_, HA_NO_LINE_)
                     HA_CALLS_OF_TYPES_(HA_MAP_CALL_, HA_NO_LINE_))

enum { HA_LAST_COMBINE_ = HA_COMBINES_ - 1 };
#define HA_COMBINE_LINE_(T, ...) HA_LINE_OF_NUMBERS_(T, 0, HA_LAST_COMBINE_, 2, 0, __VA_ARGS__)
#define HA_COMBINE_CALL_(T, ...) HA_LINE_WITH_CALLS_(T, 0, HA_LAST_COMBINE_, 2, __VA_ARGS__)
#define HA_COMBINE_OTHER_(T, ...) HA_LINE_TO_OTHER_(T, 0, HA_LAST_COMBINE_, 2, __VA_ARGS__)
#define HA_COMBINE_MASK_(T, operation, word, ...)                                                  \
    HA_LINE_(T, 0, HA_LAST_COMBINE_, operation, word, NULL, HA_OP_MASK, 2, 0, HA_DTYPE_NONE,       \
             __VA_ARGS__)
HA_OP_TABLE_(ha_op_combines, 0, HA_LAST_COMBINE_,
             HA_LINES_OF_TYPES_(HA_NO_LINE_, HA_COMBINE_LINE_, HA_NO_LINE_, HA_COMBINE_MASK_,
                                HA_NO_LINE_) HA_OTHERS_OF_TYPES_(HA_NO_LINE_, HA_COMBINE_OTHER_)
                 HA_CALLS_OF_TYPES_(HA_NO_LINE_, HA_COMBINE_CALL_))

/* Those by which scans and scatters join numbers. */
#define HA_IS_JOIN_HA_ADD_ ~, 1
#define HA_IS_JOIN_HA_MULTIPLY_ ~, 1
#define HA_IS_JOIN_HA_MINIMUM_ ~, 1
#define HA_IS_JOIN_HA_MAXIMUM_ ~, 1
#define HA_JOIN_LINE_(T, operation, ...)                                                           \
    HA_IF_CHOSEN_(HA_IS_JOIN_##operation##_)                                                       \
    (HA_LINE_OF_NUMBERS_(T, HA_ADD, HA_MAXIMUM, 2, 0, operation, __VA_ARGS__))
HA_OP_TABLE_(ha_op_joins, HA_ADD, HA_MAXIMUM,
             HA_LINES_OF_TYPES_(HA_NO_LINE_, HA_JOIN_LINE_, HA_NO_LINE_, HA_NO_LINE_, HA_NO_LINE_))

#define HA_IS_SUBTRACT_HA_SUBTRACT_ ~, 1
#define HA_SUBTRACT_LINE_(T, operation, ...)                                                       \
    HA_IF_CHOSEN_(HA_IS_SUBTRACT_##operation##_)                                                   \
    (HA_LINE_OF_NUMBERS_(T, HA_SUBTRACT, HA_SUBTRACT, 2, 0, operation, __VA_ARGS__))
HA_OP_TABLE_(ha_op_subtract, HA_SUBTRACT, HA_SUBTRACT,
             HA_LINES_OF_TYPES_(HA_NO_LINE_, HA_SUBTRACT_LINE_, HA_NO_LINE_, HA_NO_LINE_,
                                HA_NO_LINE_))

#define HA_IS_DIFFERS_HA_IS_NOT_EQUAL_ ~, 1
#define HA_DIFFERS_LINE_(T, operation, word, ...)                                                  \
    HA_IF_CHOSEN_(HA_IS_DIFFERS_##operation##_)                                                    \
    (HA_LINE_(T, HA_IS_NOT_EQUAL, HA_IS_NOT_EQUAL, operation, word, NULL, HA_OP_MASK, 2, 0,        \
              HA_DTYPE_NONE, __VA_ARGS__))
HA_OP_TABLE_(ha_op_differs, HA_IS_NOT_EQUAL, HA_IS_NOT_EQUAL,
             HA_LINES_OF_TYPES_(HA_NO_LINE_, HA_NO_LINE_, HA_NO_LINE_, HA_DIFFERS_LINE_,
                                HA_NO_LINE_))

/* ---- one operation ------------------------------------------------------------------------------- */

#define HA_ONLY_LINE_(T, arguments, numbers, word, ...)                                            \
    HA_LINE_OF_NUMBERS_(T, 0, 0, arguments, numbers, 0, word, __VA_ARGS__)

/* Of one or two arguments, and the numbers a and b, or a alone. */
#define HA_IS_AXPY_axpy_ ~, 1
#define HA_AXPY_LINE_(T, word, ...)                                                                \
    HA_IF_CHOSEN_(HA_IS_AXPY_##word##_)(HA_ONLY_LINE_(T, 2, 1, word, __VA_ARGS__))
HA_OP_TABLE_(ha_op_axpy, 0, 0,
             HA_LINES_OF_TYPES_(HA_NO_LINE_, HA_NO_LINE_, HA_AXPY_LINE_, HA_NO_LINE_, HA_NO_LINE_))
#define HA_IS_AXPBY_axpby_ ~, 1
#define HA_AXPBY_LINE_(T, word, ...)                                                               \
    HA_IF_CHOSEN_(HA_IS_AXPBY_##word##_)(HA_ONLY_LINE_(T, 2, 2, word, __VA_ARGS__))
HA_OP_TABLE_(ha_op_axpby, 0, 0,
             HA_LINES_OF_TYPES_(HA_NO_LINE_, HA_NO_LINE_, HA_AXPBY_LINE_, HA_NO_LINE_, HA_NO_LINE_))
#define HA_IS_CLIP_clip_ ~, 1
#define HA_CLIP_LINE_(T, word, ...)                                                                \
    HA_IF_CHOSEN_(HA_IS_CLIP_##word##_)(HA_ONLY_LINE_(T, 1, 2, word, __VA_ARGS__))
HA_OP_TABLE_(ha_op_clip, 0, 0,
             HA_LINES_OF_TYPES_(HA_NO_LINE_, HA_NO_LINE_, HA_CLIP_LINE_, HA_NO_LINE_, HA_NO_LINE_))

/* Of the place of an element. */
#define HA_PLACE_LINE_(T, word, ...)                                                               \
    HA_LINE_(T, 0, 0, 0, word, NULL, HA_OP_PLACE, 0, 2, HA_DTYPE_NONE, __VA_ARGS__)
#define HA_IS_FILL_fill_ ~, 1
#define HA_FILL_LINE_(T, word, ...)                                                                \
    HA_IF_CHOSEN_(HA_IS_FILL_##word##_)(HA_PLACE_LINE_(T, word, __VA_ARGS__))
HA_OP_TABLE_(ha_op_fill, 0, 0,
             HA_LINES_OF_TYPES_(HA_NO_LINE_, HA_NO_LINE_, HA_NO_LINE_, HA_NO_LINE_, HA_FILL_LINE_))
#define HA_IS_SEQUENCE_sequence_ ~, 1
#define HA_SEQUENCE_LINE_(T, word, ...)                                                            \
    HA_IF_CHOSEN_(HA_IS_SEQUENCE_##word##_)(HA_PLACE_LINE_(T, word, __VA_ARGS__))
HA_OP_TABLE_(ha_op_sequence, 0, 0,
             HA_LINES_OF_TYPES_(HA_NO_LINE_, HA_NO_LINE_, HA_NO_LINE_, HA_NO_LINE_,
                                HA_SEQUENCE_LINE_))

/* Those of half and bfloat16 are made of fewer bits. */
enum { HA_RANDOM_PLAIN_, HA_RANDOM_SMALL_ };
#define HA_RANDOM_LINE_OF_(T, n, word, ...)                                                        \
    HA_LINE_(T, 0, HA_RANDOM_SMALL_, n, word, ha_uses_ha_random_bits, HA_OP_RANDOM, 0, 2,          \
             HA_DTYPE_NONE, __VA_ARGS__)
#define HA_RANDOM_LINE_(T, n, parts, ...)                                                          \
    HA_RANDOM_LINE_OF_(T, HA_RANDOM_PLAIN_, random, __VA_ARGS__)
#define HA_SMALL_LINE_(T, n, parts, ...)                                                           \
    HA_RANDOM_LINE_OF_(T, HA_RANDOM_SMALL_, random_small, __VA_ARGS__)
HA_OP_TABLE_(ha_op_random, 0, HA_RANDOM_SMALL_,
             HA_RANDOM_OF_TYPES_(HA_RANDOM_LINE_, HA_RANDOM_BITS_AT_)
                 HA_RANDOM_OF_SMALL_(HA_SMALL_LINE_, HA_RANDOM_BITS_AT_))
#define HA_NORMAL_LINE_(T, n, parts, ...)                                                          \
    HA_LINE_(T, 0, 0, 0, normal, ha_uses_ha_random_bits, HA_OP_RANDOM, 0, 2, HA_DTYPE_NONE,        \
             __VA_ARGS__)
HA_OP_TABLE_(ha_op_normal, 0, 0, HA_NORMAL_OF_TYPES_(HA_NORMAL_LINE_, HA_RANDOM_BITS_AT_))

/* Of elements of 1, 2, 4, 8 and 16 bytes, whatever type they have. */
#define HA_CHOICE_LINE_(T)                                                                         \
    { 0, "choose", "", ha_row_choose_##T, NULL, HA_OP_CHOICE, 3, 0, HA_DTYPE_NONE }
static const ha_op_line ha_op_choice_lines[] = {
    HA_CHOICE_LINE_(uint8_t), HA_CHOICE_LINE_(uint16_t), HA_CHOICE_LINE_(uint32_t),
    HA_CHOICE_LINE_(uint64_t), HA_CHOICE_LINE_(ha_c128)};
static const ha_op_table ha_op_choice = {ha_op_choice_lines, 0, 0};

/* ---- of lanes ------------------------------------------------------------------------------------ */

/* X(T, R, lane, word, expression) of those from first to last. */
#define HA_LANE_LINE_(first, last, T, R, lane, word, ...)                                          \
    HA_LINE_(T, first, last, lane, word, NULL, HA_OP_LANES, (lane) < HA_LANE_PRODUCT_ ? 1 : 2,     \
             HA_IS_SCALED_LANE_(lane), HA_DTYPE_OF(R), __VA_ARGS__)

#define HA_IS_VALUE_value_ ~, 1
#define HA_VALUE_LINE_(T, R, lane, word, ...)                                                      \
    HA_IF_CHOSEN_(HA_IS_VALUE_##word##_)                                                           \
    (HA_LANE_LINE_(HA_LANE_VALUE_, HA_LANE_VALUE_, T, R, lane, word, __VA_ARGS__))
HA_OP_TABLE_(ha_op_lanes_of_value, HA_LANE_VALUE_, HA_LANE_VALUE_,
             HA_LANES_OF_TYPES_(HA_VALUE_LINE_))

#define HA_IS_THERE_is_there_ ~, 1
#define HA_THERE_LINE_(T, R, lane, word, ...)                                                      \
    HA_IF_CHOSEN_(HA_IS_THERE_##word##_)                                                           \
    (HA_LANE_LINE_(HA_LANE_IS_THERE_, HA_LANE_IS_THERE_, T, R, lane, word, __VA_ARGS__))
HA_OP_TABLE_(ha_op_lanes_of_is_there, HA_LANE_IS_THERE_, HA_LANE_IS_THERE_,
             HA_LANES_OF_TYPES_(HA_THERE_LINE_))

#define HA_IS_PRODUCT_product_of_ ~, 1
#define HA_PRODUCT_LINE_(T, R, lane, word, ...)                                                    \
    HA_IF_CHOSEN_(HA_IS_PRODUCT_##word##_)                                                         \
    (HA_LANE_LINE_(HA_LANE_PRODUCT_, HA_LANE_PRODUCT_, T, R, lane, word, __VA_ARGS__))
HA_OP_TABLE_(ha_op_lanes_of_product, HA_LANE_PRODUCT_, HA_LANE_PRODUCT_,
             HA_LANES_OF_TYPES_(HA_PRODUCT_LINE_))

#define HA_IS_SIZE_abs_of_ ~, 1
#define HA_IS_SIZE_square_of_ ~, 1
#define HA_SIZE_LINE_(T, R, lane, word, ...)                                                       \
    HA_IF_CHOSEN_(HA_IS_SIZE_##word##_)                                                            \
    (HA_LANE_LINE_(HA_LANE_ABS_, HA_LANE_SQUARE_, T, R, lane, word, __VA_ARGS__))
HA_OP_TABLE_(ha_op_lanes_of_size, HA_LANE_ABS_, HA_LANE_SQUARE_, HA_LANES_OF_TYPES_(HA_SIZE_LINE_))

#define HA_IS_DIFFERENCE_abs_difference_of_ ~, 1
#define HA_IS_DIFFERENCE_square_of_difference_ ~, 1
#define HA_DIFFERENCE_LINE_(T, R, lane, word, ...)                                                 \
    HA_IF_CHOSEN_(HA_IS_DIFFERENCE_##word##_)                                                      \
    (HA_LANE_LINE_(HA_LANE_ABS_DIFFERENCE_, HA_LANE_SQUARE_OF_DIFFERENCE_, T, R, lane, word,       \
                   __VA_ARGS__))
HA_OP_TABLE_(ha_op_lanes_of_difference, HA_LANE_ABS_DIFFERENCE_, HA_LANE_SQUARE_OF_DIFFERENCE_,
             HA_LANES_OF_TYPES_(HA_DIFFERENCE_LINE_))

#endif
