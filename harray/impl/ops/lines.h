/* An operation of a type as a line of a table, a table of them, and an operation as it is called. */
#ifndef HARRAY_IMPL_OPS_LINES_H
#define HARRAY_IMPL_OPS_LINES_H

#include "rows.h"

/* What an operation reads and writes beside elements of its type. */
typedef enum ha_op_kind {
    HA_OP_PLAIN,
    HA_OP_MASK,   /* the result is a mask */
    HA_OP_OTHER,  /* it is of another type */
    HA_OP_PLACE,  /* the place of each element is an argument */
    HA_OP_RANDOM, /* so it is, and the numbers are bits: a seed, and which are kept */
    HA_OP_CHOICE, /* the first argument is a mask; elements are bytes */
    HA_OP_LANES   /* the result is reduced, and of another type */
} ha_op_kind;

/* An operation of a type; `text` is its expression, NULL: the type has none. */
typedef struct ha_op_line {
    int number; /* in its table */
    const char *word, *text;
    ha_op_rows rows;
    const char *uses; /* functions that the expression calls, as text for devices; NULL: none */
    ha_op_kind kind;
    int arguments, numbers;
    ha_dtype gives; /* HA_OP_OTHER, HA_OP_LANES: the type of its result */
} ha_op_line;

/* Operations of all types. A call names the table that has its own: so a program that has the implementation in its one file
 * (HARRAY_STATIC) keeps the rows of those that it calls, as nothing else names the others. */
typedef struct ha_op_table {
    const ha_op_line *line; /* by type; those of a type are numbered from `first` on */
    int first, of_type;     /* how many a type has; 0: all types have the same ones */
} ha_op_table;

/* The types in which is computed, in the order of tables. */
typedef enum ha_op_number {
    HA_AT_int8_t,
    HA_AT_int16_t,
    HA_AT_int32_t,
    HA_AT_int64_t,
    HA_AT_uint8_t,
    HA_AT_uint16_t,
    HA_AT_uint32_t,
    HA_AT_uint64_t,
    HA_AT_float,
    HA_AT_double,
    HA_AT_ha_c64,
    HA_AT_ha_c128,
    HA_AT_TYPES
} ha_op_number;

/* A type that operations are of; what is computed with is another one for half and bfloat16. */
typedef struct ha_op_type {
    ha_dtype type, number;          /* of elements; of what is computed with, and of numbers */
    const char *element, *computed; /* the same as text for devices */
    ha_op_number at;
} ha_op_type;

static const ha_op_type ha_op_types[] = {
    {HA_DTYPE_int32_t, HA_DTYPE_int32_t, "int32_t", "int32_t", HA_AT_int32_t},
    {HA_DTYPE_int64_t, HA_DTYPE_int64_t, "int64_t", "int64_t", HA_AT_int64_t},
    {HA_DTYPE_uint32_t, HA_DTYPE_uint32_t, "uint32_t", "uint32_t", HA_AT_uint32_t},
    {HA_DTYPE_uint64_t, HA_DTYPE_uint64_t, "uint64_t", "uint64_t", HA_AT_uint64_t},
    {HA_DTYPE_float, HA_DTYPE_float, "float", "float", HA_AT_float},
    {HA_DTYPE_double, HA_DTYPE_double, "double", "double", HA_AT_double},
    {HA_DTYPE_c64, HA_DTYPE_c64, "c64", "ha_c64", HA_AT_ha_c64},
    {HA_DTYPE_c128, HA_DTYPE_c128, "c128", "ha_c128", HA_AT_ha_c128},
    {HA_DTYPE_half, HA_DTYPE_float, "half", "float", HA_AT_float},
    {HA_DTYPE_bfloat16, HA_DTYPE_float, "bfloat16", "float", HA_AT_float},
    {HA_DTYPE_int8_t, HA_DTYPE_int8_t, "int8_t", "int8_t", HA_AT_int8_t},
    {HA_DTYPE_int16_t, HA_DTYPE_int16_t, "int16_t", "int16_t", HA_AT_int16_t},
    {HA_DTYPE_uint8_t, HA_DTYPE_uint8_t, "uint8_t", "uint8_t", HA_AT_uint8_t},
    {HA_DTYPE_uint16_t, HA_DTYPE_uint16_t, "uint16_t", "uint16_t", HA_AT_uint16_t},
};

/* NULL: there are none of this type. Those of bool are those of its bytes. */
HA_IN_ const ha_op_type *ha_op_type_of(ha_dtype type) {
    if (type == HA_DTYPE_bool) type = HA_DTYPE_uint8_t;
    for (size_t i = 0; i < sizeof ha_op_types / sizeof *ha_op_types; i++)
        if (ha_op_types[i].type == type) return &ha_op_types[i];
    return NULL;
}

HA_IN_ const ha_op_line *ha_op_line_of(const ha_op_table *table, const ha_op_type *type, int n) {
    return &table->line[(int)type->at * table->of_type + n - table->first];
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
