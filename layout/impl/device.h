/* Mappings as functions for devices. */
#ifndef HARRAY_LAYOUT_IMPL_DEVICE_H
#define HARRAY_LAYOUT_IMPL_DEVICE_H

#include "record.h"

enum { HA_LONGEST_NAME = 512 };

/* What all that writes it wants to know. */
typedef struct ha_device_writer {
    ha_writer to;
    const ha_mapping *mapping;
    const char *name;
    ha_scalar scalar; /* of the leaf that is written */
} ha_device_writer;

/* ---- names ----------------------------------------------------------------------------------- */

/* The name of a leaf as a part of C names: pos_x, link_0_e_2_1_re. Gives its whole length. */
static int64_t ha_c_name(const ha_record *record, const ha_leaf *leaf, char *name, size_t size) {
    ha_writer w = ha_writer_to(name, size);
    size_t to = 0;
    ha_put_leaf_name(&w, record, leaf);
    for (const char *p = name; *p; p++)
        if (*p != ']') name[to++] = ha_in_name(*p) ? *p : '_';
    name[to] = 0;
    return w.length;
}

/* Is this how the leaf is called in C? */
static int ha_is_c_name(const ha_record *record, const ha_leaf *leaf, const char *name) {
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
static int ha_next_leaf(const ha_record *record, int64_t *field, int64_t *rest, ha_leaf *leaf) {
    if (*rest == ha_field_leaves(&record->field[*field])) {
        *rest = 0;
        if (++*field == record->fields) return 0;
    }
    ha_leaf_of_field(record, *field, (*rest)++, leaf);
    return 1;
}

static int ha_c_names_differ(const ha_record *record) {
    char name[HA_LONGEST_NAME];
    ha_leaf one, other;
    for (int64_t field = 0, rest = 0; ha_next_leaf(record, &field, &rest, &one);) {
        int64_t behind = field, next = rest;
        if (ha_c_name(record, &one, name, sizeof name) >= HA_LONGEST_NAME) return 0;
        while (ha_next_leaf(record, &behind, &next, &other))
            if (ha_is_c_name(record, &other, name)) return 0;
    }
    return 1;
}

static int ha_is_name(const char *name) {
    if (!ha_begins_name(*name)) return 0;
    while (ha_in_name(*name)) name++;
    return !*name;
}

/* ---- code ------------------------------------------------------------------------------------ */

static const char *ha_device_type(ha_scalar scalar) {
    switch (scalar) {
    case HA_I8:
        return "signed char";
    case HA_I16:
        return "short";
    case HA_I32:
        return "int";
    case HA_I64:
        return "_int";
    case HA_U16:
    case HA_F16:
    case HA_BF16:
        return "unsigned short";
    case HA_U32:
        return "unsigned int";
    case HA_U64:
        return "_unsigned";
    case HA_F32:
        return "float";
    case HA_F64:
        return "double";
    case HA_C64:
        return "ha_c64";
    case HA_C128:
        return "ha_c128";
    default:
        return "unsigned char"; /* bool, u8 */
    }
}

/* "i0, i1", each with this before it. */
static void ha_put_names(ha_device_writer *w, int typed, char letter) {
    for (int d = 0; d < w->mapping->rank; d++)
        ha_put_text(&w->to, "%s%s%s%c%d", d ? ", " : "", typed ? w->name : "", typed ? "_int " : "",
                    letter, d);
}

static void ha_put_symbol(ha_device_writer *w, char symbol) {
    const char *type = ha_device_type(w->scalar);
    switch (symbol) {
    case 'P':
        ha_put_names(w, 1, 'i');
        ha_put_text(&w->to, ", "); /* fall through */
    case 'E':
        ha_put_names(w, 1, 'n');
        break;
    case 'i':
        ha_put_names(w, 0, 'i');
        ha_put_text(&w->to, ", "); /* fall through */
    case 'n':
        ha_put_names(w, 0, 'n');
        break;
    default:
        ha_put_text(&w->to, "%s%s", type[0] == '_' ? w->name : "", type);
        break;
    }
}

/* Writes code, in which $ stands for the name, @P and @E for the declarations of all parameters and of
 * the extents, @i and @n for their names, @T for the type of the leaf. What the format inserts is
 * shorter than a name may be. */
__attribute__((format(printf, 2, 3))) static void ha_put_code(ha_device_writer *w,
                                                              const char *format, ...) {
    char code[2 * HA_LONGEST_NAME];
    va_list rest;
    va_start(rest, format);
    vsnprintf(code, sizeof code, format, rest);
    va_end(rest);
    for (const char *p = code; *p; p++)
        if (*p == '$')
            ha_put_text(&w->to, "%s", w->name);
        else if (*p == '@')
            ha_put_symbol(w, *++p);
        else
            ha_put_text(&w->to, "%c", *p);
}

/* Quiet about parameters that are not used. */
static void ha_put_unused(ha_device_writer *w, char letter) {
    for (int d = 0; d < w->mapping->rank; d++) ha_put_code(w, "    (void)%c%d;\n", letter, d);
}

static int ha_uses(const ha_record *record, ha_scalar scalar) {
    for (int64_t f = 0; f < record->fields; f++)
        if (record->field[f].scalar == scalar) return 1;
    return 0;
}

/* A complex type, which all texts share, and layout/number.h if it comes before them. */
static void ha_put_complex_type(ha_device_writer *w, ha_scalar scalar, const char *name,
                                const char *part) {
    if (ha_uses(w->mapping->record, scalar))
        ha_put_code(w,
                    "#if !defined HARRAY_LAYOUT_NUMBER_H && !defined HA_TEXT_%s\n"
                    "#define HA_TEXT_%s\n"
                    "typedef struct %s { %s re, im; } %s;\n"
                    "#endif\n",
                    name, name, name, part, name);
}

static void ha_put_device_head(ha_device_writer *w) {
    ha_put_text(&w->to, "/* Where leaves of records lie: %s, rank %d. Made by harray. */\n",
                w->mapping->text, (int)w->mapping->rank);
    ha_put_code(w, "#if defined __OPENCL_C_VERSION__\n"
                   "#define $_FN static inline __attribute__((unused))\n"
                   "#define $_GLOBAL __global\n"
                   "typedef long $_int;\n"
                   "typedef ulong $_unsigned;\n"
                   "#else\n");
    ha_put_code(w, "#if defined __CUDACC__\n"
                   "#define $_FN static inline __host__ __device__ __attribute__((unused))\n"
                   "#else\n"
                   "#define $_FN static inline __attribute__((unused))\n"
                   "#endif\n"
                   "#define $_GLOBAL\n"
                   "typedef long long $_int;\n"
                   "typedef unsigned long long $_unsigned;\n"
                   "#endif\n");
    ha_put_complex_type(w, HA_C64, "ha_c64", "float");
    ha_put_complex_type(w, HA_C128, "ha_c128", "double");
}

/* ---- linear indices -------------------------------------------------------------------------- */

/* "n1", or padded to whole blocks. */
static void ha_put_extent(ha_device_writer *w, const ha_linearizer *l, int k) {
    const int d = (int)l->dimension[k];
    const long long pad = (long long)l->pad;
    if (k == l->rank - 1 && pad > 1)
        ha_put_code(w, "((n%d + %lld) / %lld * %lld)", d, pad - 1, pad, pad);
    else
        ha_put_code(w, "n%d", d);
}

static void ha_put_strided(ha_device_writer *w, const ha_linearizer *l) {
    ha_put_code(w, "    return ");
    for (int k = 1; k < l->rank; k++) ha_put_code(w, "(");
    ha_put_code(w, "i%d", (int)l->dimension[0]);
    for (int k = 1; k < l->rank; k++) {
        ha_put_code(w, " * ");
        ha_put_extent(w, l, k);
        ha_put_code(w, " + i%d)", (int)l->dimension[k]);
    }
    ha_put_code(w, ";\n");
}

static void ha_put_strided_count(ha_device_writer *w, const ha_linearizer *l) {
    ha_put_code(w, "    return ");
    for (int k = 0; k < l->rank; k++) {
        ha_put_code(w, k ? " * " : "");
        ha_put_extent(w, l, k);
    }
    ha_put_code(w, ";\n");
}

static void ha_put_morton(ha_device_writer *w, const ha_linearizer *l) {
    ha_put_code(w, "    $_int linear = 0;\n    for (int b = 0; ((i0");
    for (int d = 1; d < l->rank; d++) ha_put_code(w, " | i%d", d);
    ha_put_code(w, ") >> b) != 0; b++)\n        linear |= ");
    for (int d = 0; d < l->rank; d++)
        ha_put_code(w, "%s(i%d >> b & 1) << (b * %d + %d)", d ? " | " : "", d, (int)l->rank,
                    (int)l->stride[d]);
    ha_put_code(w, ";\n    return linear;\n");
}

static void ha_put_morton_count(ha_device_writer *w, const ha_linearizer *l) {
    ha_put_code(w, "    $_int count = 1, side = 1;\n    while (side < n0");
    for (int d = 1; d < l->rank; d++) ha_put_code(w, " || side < n%d", d);
    ha_put_code(w, ") {\n        side *= 2;\n        count *= %d;\n    }\n    return n0 > 0",
                1 << l->rank);
    for (int d = 1; d < l->rank; d++) ha_put_code(w, " && n%d > 0", d);
    ha_put_code(w, " ? count : 0;\n");
}

static void ha_put_linearizer(ha_device_writer *w, int number) {
    const ha_linearizer *l = &w->mapping->linearizer[number];
    ha_put_code(w, "$_FN $_int $_linear_%d(@P) {\n", number);
    ha_put_unused(w, 'n');
    if (l->morton != 0)
        ha_put_morton(w, l);
    else
        ha_put_strided(w, l);
    ha_put_code(w, "}\n$_FN $_int $_count_%d(@E) {\n", number);
    if (l->morton != 0)
        ha_put_morton_count(w, l);
    else
        ha_put_strided_count(w, l);
    ha_put_code(w, "}\n");
}

/* ---- sections -------------------------------------------------------------------------------- */

/* The section before it in its blob; -1: it is the first. */
static int ha_section_before(const ha_mapping *m, int number) {
    int before = number - 1;
    while (before >= 0 && m->section[before].blob != m->section[number].blob) before--;
    return before;
}

static void ha_put_section(ha_device_writer *w, int number) {
    const ha_section *s = &w->mapping->section[number];
    const int before = ha_section_before(w->mapping, number);
    const long long a = (long long)s->alignment, lanes = (long long)s->lanes;
    ha_put_code(w, "$_FN $_int $_start_%d(@E) {\n", number);
    if (before < 0) {
        ha_put_unused(w, 'n');
        ha_put_code(w, "    return 0;\n");
    } else {
        ha_put_code(w, "    return ($_end_%d(@n) + %lld) / %lld * %lld;\n", before, a - 1, a, a);
    }
    ha_put_code(w, "}\n$_FN $_int $_end_%d(@E) {\n    return $_start_%d(@n) + ", number, number);
    if (lanes > 0)
        ha_put_code(w, "($_count_%d(@n) + %lld) / %lld * ", (int)s->linearizer, lanes - 1, lanes);
    ha_put_code(w, "%lld;\n}\n", (long long)s->bytes);
}

static void ha_put_blob_bytes(ha_device_writer *w, int blob) {
    int last = (int)w->mapping->sections - 1;
    while (w->mapping->section[last].blob != blob) last--; /* each blob has one at least */
    ha_put_code(w, "$_FN $_int $_blob_bytes_%d(@E) {\n    return $_end_%d(@n);\n}\n", blob, last);
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static void ha_put_offset(ha_device_writer *w, const ha_row *row, const char *leaf) {
    const long long lanes = (long long)row->lanes, block = (long long)row->block_stride;
    ha_put_code(w, "$_FN $_int $_%s_offset(@P) {\n", leaf);
    if (row->blob < 0 || block == 0) ha_put_unused(w, 'i');
    if (row->blob < 0) {
        ha_put_unused(w, 'n');
        ha_put_code(w, "    return 0;\n}\n");
        return;
    }
    if (block != 0)
        ha_put_code(w, "    const $_int linear = $_linear_%d(@i);\n", (int)row->linearizer);
    ha_put_code(w, "    return $_start_%d(@n) + %lld", (int)row->section, (long long)row->offset);
    if (block != 0 && lanes == 1) ha_put_code(w, " + linear * %lld", block);
    if (lanes != 1)
        ha_put_code(w, " + linear / %lld * %lld + linear %% %lld * %lld", lanes, block, lanes,
                    (long long)row->lane_stride);
    ha_put_code(w, ";\n}\n");
}

/* Byte by byte where it may be misaligned. */
static void ha_put_bytes_loop(ha_device_writer *w) {
    ha_put_code(w, "    for (int b = 0; b < %d; b++) to[b] = from[b];\n",
                (int)ha_scalar_size(w->scalar));
}

static void ha_put_get(ha_device_writer *w, const ha_row *row, const char *leaf) {
    ha_put_code(w, "$_FN @T $_%s_get(const $_GLOBAL unsigned char *blob, @P) {\n", leaf);
    if (row->blob < 0) {
        ha_put_code(w, "    @T nothing%s;\n    (void)blob;\n    (void)$_%s_offset(@i);\n",
                    w->scalar >= HA_C64 ? " = {0, 0}" : " = 0", leaf);
        ha_put_code(w, "    return nothing;\n}\n");
        return;
    }
    ha_put_code(w, "    const $_GLOBAL unsigned char *from = blob + $_%s_offset(@i);\n", leaf);
    if (row->packed == 0) {
        ha_put_code(w, "    return *(const $_GLOBAL @T *)from;\n}\n");
    } else {
        ha_put_code(w, "    @T value;\n    unsigned char *to = (unsigned char *)&value;\n");
        ha_put_bytes_loop(w);
        ha_put_code(w, "    return value;\n}\n");
    }
}

static void ha_put_set(ha_device_writer *w, const ha_row *row, const char *leaf) {
    ha_put_code(w, "$_FN void $_%s_set($_GLOBAL unsigned char *blob, @P, @T value) {\n", leaf);
    if (row->blob < 0) {
        ha_put_code(w, "    (void)blob;\n    (void)value;\n    (void)$_%s_offset(@i);\n}\n", leaf);
        return;
    }
    ha_put_code(w, "    $_GLOBAL unsigned char *to = blob + $_%s_offset(@i);\n", leaf);
    if (row->packed == 0) {
        ha_put_code(w, "    *($_GLOBAL @T *)to = value;\n}\n");
    } else {
        ha_put_code(w, "    const unsigned char *from = (const unsigned char *)&value;\n");
        ha_put_bytes_loop(w);
        ha_put_code(w, "}\n");
    }
}

static void ha_put_leaf(ha_device_writer *w, int64_t number, const ha_leaf *leaf) {
    const ha_row *row = &w->mapping->row[number];
    char name[HA_LONGEST_NAME];
    ha_c_name(w->mapping->record, leaf, name, sizeof name);
    w->scalar = leaf->scalar;
    ha_put_code(w, "#define $_%s_blob %d\n", name, (int)row->blob);
    ha_put_offset(w, row, name);
    ha_put_get(w, row, name);
    ha_put_set(w, row, name);
}

/* ---- all ------------------------------------------------------------------------------------- */

HA_API int64_t ha_mapping_device_text(const ha_mapping *mapping, const char *name, char *buffer,
                                      size_t size) {
    ha_device_writer w = {.to = ha_writer_to(buffer, size), .mapping = mapping, .name = name};
    int64_t number = 0;
    ha_leaf leaf;
    for (int64_t k = 0; k < mapping->rows; k++)
        if (mapping->row[k].coding != 0 ||
            (mapping->row[k].blob >= 0 && mapping->row[k].section < 0))
            return -1;
    if (!ha_is_name(name) || !ha_c_names_differ(mapping->record)) return -1;
    ha_put_device_head(&w);
    for (int k = 0; k < mapping->linearizers; k++) ha_put_linearizer(&w, k);
    for (int k = 0; k < mapping->sections; k++) ha_put_section(&w, k);
    for (int k = 0; k < mapping->blobs; k++) ha_put_blob_bytes(&w, k);
    for (int64_t field = 0, rest = 0; ha_next_leaf(mapping->record, &field, &rest, &leaf); number++)
        ha_put_leaf(&w, number, &leaf);
    return w.to.length;
}

#endif
