/* The operations by type: their words, what devices compile, and their rows on the host. */
#ifndef HARRAY_IMPL_OPS_LINES_H
#define HARRAY_IMPL_OPS_LINES_H

#include "rows.h"

/* What an operation reads and writes beside elements of its type. */
typedef enum ha_op_kind {
    HA_OP_PLAIN,
    HA_OP_CALLS,  /* it calls functions of complex_functions.h */
    HA_OP_MASK,   /* the result is a mask */
    HA_OP_OTHER,  /* it is of another type */
    HA_OP_PLACE,  /* the place of each element is an argument */
    HA_OP_RANDOM, /* so it is, and the numbers are bits: a seed, and which are kept */
    HA_OP_CHOICE, /* the first argument is a mask; elements are bytes */
    HA_OP_LANES   /* the result is reduced, and of another type */
} ha_op_kind;

/* An operation of a type; `text` is its expression, NULL: the type has none. */
typedef struct ha_op_line {
    const char *word, *text;
    ha_op_rows rows;
    ha_op_kind kind;
    int arguments, numbers;
    ha_dtype gives; /* HA_OP_OTHER, HA_OP_LANES: the type of its result */
} ha_op_line;

/* Its place in the table of a type. */
enum {
    HA_OP_OF_MAPS = 0,
    HA_OP_OF_COMBINES = HA_MAPS_,
    HA_OP_OF_SPECIALS = HA_OP_OF_COMBINES + (int)HA_COMBINES_,
    HA_OP_OF_PLACES = HA_OP_OF_SPECIALS + HA_SPECIALS_,
    HA_OP_OF_RANDOM = HA_OP_OF_PLACES + HA_PLACES_,
    HA_OP_OF_SMALL_RANDOM, /* of half and bfloat16 */
    HA_OP_OF_NORMAL,
    HA_OP_OF_CHOICE,
    HA_OP_OF_LANES,
    HA_OPS = HA_OP_OF_LANES + HA_LANES_
};

#define HA_LINE_(T, at, word, kind, arguments, numbers, ...)                                       \
    [at] = {#word,        HA_TEXT_OF_(__VA_ARGS__), ha_row_##word##_##T, kind, arguments, numbers, \
            HA_DTYPE_NONE},
#define HA_LINE_OF_ONE_(T, operation, word, ...)                                                   \
    HA_LINE_(T, HA_OP_OF_MAPS + (operation), word, HA_OP_PLAIN, 1, 0, __VA_ARGS__)
#define HA_LINE_OF_TWO_(T, operation, word, ...)                                                   \
    HA_LINE_(T, HA_OP_OF_COMBINES + (operation), word, HA_OP_PLAIN, 2, 0, __VA_ARGS__)
#define HA_LINE_OF_SPECIAL_(T, operation, word, ...)                                               \
    HA_LINE_(T, HA_OP_OF_SPECIALS + (operation), word, HA_OP_PLAIN,                                \
             (operation) == HA_CLIP_ ? 1 : 2, 2, __VA_ARGS__)
#define HA_LINE_OF_MASK_(T, operation, word, ...)                                                  \
    HA_LINE_(T, HA_OP_OF_COMBINES + (operation), word, HA_OP_MASK, 2, 0, __VA_ARGS__)
#define HA_LINE_OF_PLACE_(T, operation, word, ...)                                                 \
    HA_LINE_(T, HA_OP_OF_PLACES + (operation), word, HA_OP_PLACE, 0, 2, __VA_ARGS__)
#define HA_LINE_OF_LANES_(T, R, lane, word, ...)                                                   \
    [HA_OP_OF_LANES +                                                                              \
        (lane)] = {#word,         HA_TEXT_OF_(__VA_ARGS__),          ha_row_##word##_##T,          \
                   HA_OP_LANES,   (lane) < HA_LANE_PRODUCT_ ? 1 : 2, HA_IS_SCALED_LANE_(lane),     \
                   HA_DTYPE_OF(R)},
#define HA_LINE_TO_OTHER_(T, R, kind, place, arguments, word, ...)                                 \
    [place] = {#word,         HA_TEXT_OF_(__VA_ARGS__), ha_row_##word##_##T, kind, arguments, 0,   \
               HA_DTYPE_OF(R)},
#define HA_LINE_OF_NORMAL_(T, n, parts, ...)                                                       \
    static const char ha_op_normal_##T[] = HA_TEXT_OF_(__VA_ARGS__);
HA_NORMAL_OF_TYPES_(HA_LINE_OF_NORMAL_, HA_RANDOM_BITS_AT_)
#define HA_LINE_OF_RANDOM_(T, n, parts, ...)                                                       \
    static const char ha_op_random_##T[] = HA_TEXT_OF_(__VA_ARGS__);
HA_RANDOM_OF_TYPES_(HA_LINE_OF_RANDOM_, HA_RANDOM_BITS_AT_)
#define HA_LINE_OF_SMALL_(T, n, parts, ...)                                                        \
    static const char ha_op_random_small[] = HA_TEXT_OF_(__VA_ARGS__);
HA_RANDOM_OF_SMALL_(HA_LINE_OF_SMALL_, HA_RANDOM_BITS_AT_)

#define HA_RANDOM_LINE_(T)                                                                         \
    [HA_OP_OF_RANDOM] = {"random", ha_op_random_##T, ha_row_random_##T, HA_OP_RANDOM, 0,           \
                         2,        HA_DTYPE_NONE},
#define HA_NORMAL_LINE_(T)                                                                         \
    [HA_OP_OF_NORMAL] = {"normal", ha_op_normal_##T, ha_row_normal_##T, HA_OP_RANDOM, 0,           \
                         2,        HA_DTYPE_NONE},
#define HA_SMALL_RANDOM_LINE_                                                                      \
    [HA_OP_OF_SMALL_RANDOM] = {                                                                    \
        "random_small", ha_op_random_small, ha_row_random_small_float, HA_OP_RANDOM, 0, 2,         \
        HA_DTYPE_NONE},
#define HA_RANDOM_LINES_(T) HA_RANDOM_LINE_(T) HA_NORMAL_LINE_(T)

/* half and bfloat16 have float's table, but choose among other bytes: that is told when it runs. */
#define HA_LINES_(T, random)                                                                       \
    static const ha_op_line ha_op_lines_##T[HA_OPS] = {                                            \
        [HA_OP_OF_CHOICE] = {"choose", "", NULL, HA_OP_CHOICE, 3, 0, HA_DTYPE_NONE},               \
        random HA_LANES_OF_##T##_(HA_LINE_OF_LANES_) HA_OTHERS_OF_##T##_(HA_LINE_TO_OTHER_)        \
            HA_LINES_OF_##T##_(HA_LINE_OF_ONE_, HA_LINE_OF_TWO_, HA_LINE_OF_SPECIAL_,              \
                               HA_LINE_OF_MASK_, HA_LINE_OF_PLACE_)};
HA_LINES_(int8_t, HA_RANDOM_LINE_(int8_t))
HA_LINES_(int16_t, HA_RANDOM_LINE_(int16_t))
HA_LINES_(uint8_t, HA_RANDOM_LINE_(uint8_t))
HA_LINES_(uint16_t, HA_RANDOM_LINE_(uint16_t))
HA_LINES_(int32_t, HA_RANDOM_LINE_(int32_t))
HA_LINES_(int64_t, HA_RANDOM_LINE_(int64_t))
HA_LINES_(uint32_t, HA_RANDOM_LINE_(uint32_t))
HA_LINES_(uint64_t, HA_RANDOM_LINE_(uint64_t))
HA_LINES_(float, HA_IF_float_(HA_RANDOM_LINES_(float) HA_SMALL_RANDOM_LINE_))
HA_LINES_(double, HA_IF_double_(HA_RANDOM_LINES_(double)))
HA_LINES_(ha_c64, HA_IF_ha_c64_(HA_RANDOM_LINES_(ha_c64)))
HA_LINES_(ha_c128, HA_IF_ha_c128_(HA_RANDOM_LINES_(ha_c128)))

/* A type that operations are of; what is computed with is another one for half and bfloat16. */
typedef struct ha_op_type {
    ha_dtype type, number;          /* of elements; of what is computed with, and of numbers */
    const char *element, *computed; /* the same as text for devices */
    const ha_op_line *line;         /* of what is computed with */
} ha_op_type;

static const ha_op_type ha_op_types[] = {
    {HA_DTYPE_int32_t, HA_DTYPE_int32_t, "int32_t", "int32_t", ha_op_lines_int32_t},
    {HA_DTYPE_int64_t, HA_DTYPE_int64_t, "int64_t", "int64_t", ha_op_lines_int64_t},
    {HA_DTYPE_uint32_t, HA_DTYPE_uint32_t, "uint32_t", "uint32_t", ha_op_lines_uint32_t},
    {HA_DTYPE_uint64_t, HA_DTYPE_uint64_t, "uint64_t", "uint64_t", ha_op_lines_uint64_t},
    {HA_DTYPE_float, HA_DTYPE_float, "float", "float", ha_op_lines_float},
    {HA_DTYPE_double, HA_DTYPE_double, "double", "double", ha_op_lines_double},
    {HA_DTYPE_c64, HA_DTYPE_c64, "c64", "ha_c64", ha_op_lines_ha_c64},
    {HA_DTYPE_c128, HA_DTYPE_c128, "c128", "ha_c128", ha_op_lines_ha_c128},
    {HA_DTYPE_half, HA_DTYPE_float, "half", "float", ha_op_lines_float},
    {HA_DTYPE_bfloat16, HA_DTYPE_float, "bfloat16", "float", ha_op_lines_float},
    {HA_DTYPE_int8_t, HA_DTYPE_int8_t, "int8_t", "int8_t", ha_op_lines_int8_t},
    {HA_DTYPE_int16_t, HA_DTYPE_int16_t, "int16_t", "int16_t", ha_op_lines_int16_t},
    {HA_DTYPE_uint8_t, HA_DTYPE_uint8_t, "uint8_t", "uint8_t", ha_op_lines_uint8_t},
    {HA_DTYPE_uint16_t, HA_DTYPE_uint16_t, "uint16_t", "uint16_t", ha_op_lines_uint16_t},
};

/* NULL: there are none of this type. Those of bool are those of its bytes. */
HA_IN_ const ha_op_type *ha_op_type_of(ha_dtype type) {
    if (type == HA_DTYPE_bool) type = HA_DTYPE_uint8_t;
    for (size_t i = 0; i < sizeof ha_op_types / sizeof *ha_op_types; i++)
        if (ha_op_types[i].type == type) return &ha_op_types[i];
    return NULL;
}

/* The name of an operation, for messages: "HA_CONJUGATE"; "operation 77", if no type has it. */
typedef struct ha_op_shown {
    char text[40];
} ha_op_shown;

/* The n-th of those that begin at place `of` of the tables. */
HA_IN_ ha_op_shown ha_op_show(int of, int n, int operations) {
    const char *word = NULL;
    ha_op_shown shown;
    for (size_t i = 0; i < sizeof ha_op_types / sizeof *ha_op_types && !word; i++)
        if (n >= 0 && n < operations) word = ha_op_types[i].line[of + n].word;
    if (word)
        snprintf(shown.text, sizeof shown.text, "HA_%s", word);
    else
        snprintf(shown.text, sizeof shown.text, "operation %d", n);
    for (char *c = shown.text; word && *c; c++)
        if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
    return shown;
}

/* ---- of a call ----------------------------------------------------------------------------------- */

struct ha_op_kernel;
struct ha_op_key;

/* Writes the kernel of an operation that is not element by element: its parameters, text and loops. */
typedef void (*ha_op_maker)(struct ha_op_kernel *k, const struct ha_op_key *key);

/* An operation as it is called. rank: of the views; 0: whole arrays. */
typedef struct ha_op_key {
    const ha_op_type *type;
    const ha_op_line *line;
    int rank;
    int by_number;                 /* the second argument is a number */
    const struct ha_op_tree *tree; /* what lanes are reduced by */
    ha_op_maker make;              /* NULL: element by element */
    int of[2]; /* what a maker tells its kernels apart by, beside type and rank */
} ha_op_key;

HA_IN_ int ha_op_arrays(const ha_op_key *k) { return 1 + k->line->arguments - k->by_number; }

HA_IN_ int ha_op_has_place(const ha_op_key *k) {
    return k->line->kind == HA_OP_PLACE || k->line->kind == HA_OP_RANDOM;
}

/* Is the k-th array a mask? */
HA_IN_ int ha_op_is_mask(const ha_op_key *key, int k) {
    return key->line->kind == HA_OP_MASK ? k == 0 : key->line->kind == HA_OP_CHOICE && k == 1;
}

/* Is the k-th array of elements of the operation's type? */
HA_IN_ int ha_op_is_element(const ha_op_key *key, int k) {
    return !ha_op_is_mask(key, k) &&
           (k || (key->line->kind != HA_OP_LANES && key->line->kind != HA_OP_OTHER));
}

/* half and bfloat16 are computed with as float. */
HA_IN_ int ha_op_is_as_float(const ha_op_key *k) {
    return k->type->type != k->type->number && k->line->kind != HA_OP_CHOICE;
}

HA_IN_ size_t ha_op_bytes(const ha_op_key *key, int k) {
    if (ha_op_is_mask(key, k)) return 1;
    return ha_dtype_size(ha_op_is_element(key, k) ? key->type->type : key->line->gives);
}

#endif
