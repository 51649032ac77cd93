/* What mappings as functions for devices are written with: names, and code with the names of parameters. */
#ifndef HARRAY_LAYOUT_IMPL_CODEGEN_CODE_H
#define HARRAY_LAYOUT_IMPL_CODEGEN_CODE_H

#include "../../mapping.h"
#include "../record/all.h"

enum { HA_LONGEST_NAME = 512 };

/* What all that writes it wants to know. */
typedef struct ha_device_writer {
    ha_text to;
    const ha_mapping *mapping;
    const char *name;
    ha_dtype type; /* of the leaf that is written */
} ha_device_writer;

/* ---- names ----------------------------------------------------------------------------------- */

/* The name of a leaf as a part of C names: pos_x, link_0_e_2_1_re. Gives its whole length. */
HA_IN_ int64_t ha_c_name(const ha_record *record, const ha_leaf *leaf, char *name, size_t size) {
    ha_text w = ha_text_into(name, size);
    size_t to = 0;
    ha_put_leaf_name(&w, record, leaf);
    for (const char *p = name; *p; p++)
        if (*p != ']') name[to++] = ha_in_name(*p) ? *p : '_';
    name[to] = 0;
    return (int64_t)w.length;
}

/* Is this how the leaf is called in C? */
HA_IN_ int ha_is_c_name(const ha_record *record, const ha_leaf *leaf, const char *name) {
    const char *path = record->field[leaf->field].path, *piece;
    char number[24];
    size_t length;
    int k = 0;
    while (ha_name_piece(leaf, &path, &k, number, &piece, &length))
        for (size_t i = 0; i < length; i++) {
            if (piece[i] == ']') continue;
            if (*name++ != (ha_in_name(piece[i]) ? piece[i] : '_')) return 0;
        }
    return *name == 0;
}

/* Goes to the next leaf; 0 behind the last. Starts with zeros, and `rest` 0. */
HA_IN_ int ha_next_leaf(const ha_record *record, int64_t *field, int64_t *rest, ha_leaf *leaf) {
    if (*rest == ha_field_leaves(&record->field[*field])) {
        *rest = 0;
        if (++*field == record->fields) return 0;
    }
    ha_leaf_of_field(record, *field, (*rest)++, leaf);
    return 1;
}

/* Leaves by a number made of their names. */
enum { HA_NAME_SLOTS = 2 * HA_MOST_LEAVES };
typedef struct ha_name_slot {
    uint16_t fields; /* up to that of the leaf, with it; 0: there is none */
    uint16_t leaf;   /* of the field's */
} ha_name_slot;

HA_IN_ int ha_c_names_differ(const ha_record *record) {
    ha_name_slot slots[HA_NAME_SLOTS] = {{0, 0}};
    char name[HA_LONGEST_NAME];
    ha_leaf one, other;
    for (int64_t field = 0, rest = 0; ha_next_leaf(record, &field, &rest, &one);) {
        uint32_t hash = 2166136261u; /* FNV-1a */
        if (ha_c_name(record, &one, name, sizeof name) >= HA_LONGEST_NAME) return 0;
        for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
        for (; slots[hash % HA_NAME_SLOTS].fields; hash++) {
            const ha_name_slot *s = &slots[hash % HA_NAME_SLOTS];
            HA_LAYOUT_STEP_();
            ha_leaf_of_field(record, s->fields - 1, s->leaf, &other);
            if (ha_is_c_name(record, &other, name)) return 0;
        }
        HA_LAYOUT_STEP_();
        slots[hash % HA_NAME_SLOTS] = (ha_name_slot){(uint16_t)(field + 1), (uint16_t)(rest - 1)};
    }
    return 1;
}

HA_IN_ int ha_is_name(const char *name) {
    if (!ha_begins_name(*name)) return 0;
    while (ha_in_name(*name)) name++;
    return !*name;
}

/* ---- code ------------------------------------------------------------------------------------ */

HA_IN_ const char *ha_device_type(ha_dtype scalar) {
    switch (scalar) {
    case HA_DTYPE_int8_t:
        return "signed char";
    case HA_DTYPE_int16_t:
        return "short";
    case HA_DTYPE_int32_t:
        return "int";
    case HA_DTYPE_int64_t:
        return "_int";
    case HA_DTYPE_uint16_t:
    case HA_DTYPE_half:
    case HA_DTYPE_bfloat16:
        return "unsigned short";
    case HA_DTYPE_uint32_t:
        return "unsigned int";
    case HA_DTYPE_uint64_t:
        return "_unsigned";
    case HA_DTYPE_float:
        return "float";
    case HA_DTYPE_double:
        return "double";
    case HA_DTYPE_c64:
        return "ha_c64";
    case HA_DTYPE_c128:
        return "ha_c128";
    default:
        return "unsigned char"; /* bool, u8 */
    }
}

/* "i0, i1", each with this before it. */
HA_IN_ void ha_put_names(ha_device_writer *w, int typed, char letter) {
    for (int d = 0; d < w->mapping->rank; d++)
        ha_print(&w->to, "%s%s%s%c%d", d ? ", " : "", typed ? w->name : "", typed ? "_int " : "",
                 letter, d);
}

HA_IN_ void ha_put_symbol(ha_device_writer *w, char symbol) {
    const char *type = ha_device_type(w->type);
    switch (symbol) {
    case 'P':
        ha_put_names(w, 1, 'i');
        ha_print(&w->to, ", "); /* fall through */
    case 'E':
        ha_put_names(w, 1, 'n');
        break;
    case 'i':
        ha_put_names(w, 0, 'i');
        ha_print(&w->to, ", "); /* fall through */
    case 'n':
        ha_put_names(w, 0, 'n');
        break;
    default:
        ha_print(&w->to, "%s%s", type[0] == '_' ? w->name : "", type);
        break;
    }
}

/* Writes code, in which $ stands for the name, @P and @E for the declarations of all parameters and of
 * the extents, @i and @n for their names, @T for the type of the leaf. What the format inserts is
 * shorter than a name may be. */
__attribute__((format(printf, 2, 3))) HA_IN_ void ha_put_code(ha_device_writer *w,
                                                              const char *format, ...) {
    char code[2 * HA_LONGEST_NAME];
    va_list rest;
    va_start(rest, format);
    vsnprintf(code, sizeof code, format, rest);
    va_end(rest);
    for (const char *p = code; *p; p++)
        if (*p == '$')
            ha_print(&w->to, "%s", w->name);
        else if (*p == '@')
            ha_put_symbol(w, *++p);
        else
            ha_print(&w->to, "%c", *p);
}

/* Quiet about parameters that are not used. */
HA_IN_ void ha_put_unused(ha_device_writer *w, char letter) {
    for (int d = 0; d < w->mapping->rank; d++) ha_put_code(w, "    (void)%c%d;\n", letter, d);
}

HA_IN_ int ha_uses(const ha_record *record, ha_dtype scalar) {
    for (int64_t f = 0; f < record->fields; f++)
        if (record->field[f].type == scalar) return 1;
    return 0;
}

/* A complex type, which all texts share, and layout/detail/number.h if it comes before them. */
HA_IN_ void ha_put_complex_type(ha_device_writer *w, ha_dtype scalar, const char *name,
                                const char *part) {
    if (ha_uses(w->mapping->record, scalar))
        ha_put_code(w,
                    "#if !defined HARRAY_LAYOUT_DETAIL_NUMBER_H && !defined HA_TEXT_%s\n"
                    "#define HA_TEXT_%s\n"
                    "typedef struct %s { %s re, im; } %s;\n"
                    "#endif\n",
                    name, name, name, part, name);
}

HA_IN_ void ha_put_device_head(ha_device_writer *w) {
    ha_print(&w->to, "/* Where leaves of records lie: %s, rank %d. Made by harray. */\n",
             w->mapping->text, (int)w->mapping->rank);
    ha_put_code(w, "#if defined __OPENCL_C_VERSION__\n"
                   "#define $_FN static inline __attribute__((unused))\n"
                   "#ifndef $_GLOBAL\n"
                   "#define $_GLOBAL __global\n"
                   "#endif\n"
                   "typedef long $_int;\n"
                   "typedef ulong $_unsigned;\n"
                   "#else\n");
    ha_put_code(w, "#if defined __CUDACC__\n"
                   "#define $_FN static inline __host__ __device__ __attribute__((unused))\n"
                   "#else\n"
                   "#define $_FN static inline __attribute__((unused))\n"
                   "#endif\n"
                   "#ifndef $_GLOBAL\n"
                   "#define $_GLOBAL\n"
                   "#endif\n"
                   "typedef long long $_int;\n"
                   "typedef unsigned long long $_unsigned;\n"
                   "#endif\n");
    ha_put_complex_type(w, HA_DTYPE_c64, "ha_c64", "float");
    ha_put_complex_type(w, HA_DTYPE_c128, "ha_c128", "double");
}

#endif
