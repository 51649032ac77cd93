/* Structs of HA_RECORD as text for devices: the members that are listed, where they are here, and what lies
 * between them as bytes. A device whose struct were of another size would not compile it. */
#ifndef HARRAY_IMPL_KERNELS_RECORD_TEXT_H
#define HARRAY_IMPL_KERNELS_RECORD_TEXT_H

#include "arguments.h"

typedef struct ha_struct_writer {
    ha_text *to;
    const ha_record *record;
    uint16_t order[HA_MOST_LEAVES]; /* of the fields, by their places */
    int packed;                     /* members are aligned to nothing */
    int gaps;
} ha_struct_writer;

/* A part of a path: a name, its extents, and what follows. */
typedef struct ha_path_part {
    const char *name, *rest; /* NULL: nothing follows */
    int length, rank;
    int64_t extent[HA_MOST_SUBSCRIPTS], count;
} ha_path_part;

HA_IN_ ha_path_part ha_path_part_of(const char *path) {
    ha_path_part p = {.name = path, .length = (int)strcspn(path, ".["), .count = 1};
    const char *at = path + p.length;
    while (*at == '[' && p.rank < HA_MOST_SUBSCRIPTS) {
        char *end;
        p.count *= p.extent[p.rank++] = strtoll(at + 1, &end, 10);
        at = end + 1;
    }
    p.rest = *at == '.' ? at + 1 : NULL;
    return p;
}

/* The type of a member in both languages; ha_ types are of the numbers that C lacks. */
HA_IN_ const char *ha_device_word(ha_dtype type) {
    static const char *const words[] = {"void",     "bool",     "int8_t",  "int16_t",
                                        "int32_t",  "int64_t",  "uint8_t", "uint16_t",
                                        "uint32_t", "uint64_t", "ha_half", "ha_bfloat16",
                                        "float",    "double",   "ha_c64",  "ha_c128"};
    return words[type];
}

HA_IN_ const ha_field *ha_ordered_field(const ha_struct_writer *w, int i) {
    return &w->record->field[w->order[i]];
}

HA_IN_ int64_t ha_size_up_to(int64_t n, int64_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

/* What the members [first, last) are aligned to. */
HA_IN_ int64_t ha_members_alignment(const ha_struct_writer *w, int first, int last) {
    int64_t most = 1;
    for (int i = first; i < last && !w->packed; i++) {
        const int64_t a = (int64_t)ha_dtype_alignment(ha_ordered_field(w, i)->type);
        if (a > most) most = a;
    }
    return most;
}

/* Bytes that are nobody's. 0: there would be less than none. */
HA_IN_ int ha_put_gap(ha_struct_writer *w, int64_t bytes) {
    if (bytes > 0) ha_print(w->to, "char ha_gap_%d[%lld]; ", w->gaps++, (long long)bytes);
    return bytes >= 0;
}

/* The distances of an array's elements, of `size` bytes, without gaps? `at`: its first subscript's number. */
HA_IN_ int ha_is_dense(const ha_field *field, int at, const ha_path_part *part, int64_t size) {
    for (int d = part->rank - 1; d >= 0; d--) {
        if (field->stride[at + d] != size) return 0;
        size *= part->extent[d];
    }
    return 1;
}

HA_IN_ void ha_put_member_name(ha_struct_writer *w, const ha_path_part *p) {
    ha_print(w->to, "%.*s", p->length, p->name);
    for (int d = 0; d < p->rank; d++) ha_print(w->to, "[%lld]", (long long)p->extent[d]);
    ha_print(w->to, "; ");
}

/* The members [first, last), whose paths go on behind `prefix` characters and `at` subscripts, of a struct that
 * begins at `start`. Gives where they end; -1: C has no such struct. */
HA_IN_ int64_t ha_put_members(ha_struct_writer *w, int first, int last, size_t prefix, int at,
                              int64_t start) {
    int64_t end = start;
    for (int i = first, next; i < last; i = next) {
        const ha_field *field = ha_ordered_field(w, i);
        const ha_path_part part = ha_path_part_of(field->path + prefix);
        const size_t named = part.rest ? (size_t)(part.rest - field->path) : 0;
        for (next = i + 1; part.rest && next < last; next++)
            if (strncmp(field->path, ha_ordered_field(w, next)->path, named)) break;
        const int64_t alignment = ha_members_alignment(w, i, next);
        const int64_t place = field->offset - (field->offset - start) % alignment;
        if (!ha_put_gap(w, place - end) || (place - start) % alignment) return -1;
        int64_t size = (int64_t)ha_dtype_size(field->type);
        if (part.rest) {
            ha_print(w->to, "struct%s { ", w->packed ? " __attribute__((packed))" : "");
            const int64_t inside = ha_put_members(w, i, next, named, at + part.rank, place);
            if (inside < 0) return -1;
            size = part.rank ? field->stride[at + part.rank - 1]
                             : ha_size_up_to(inside - place, alignment);
            if (size % alignment || !ha_put_gap(w, size - (inside - place))) return -1;
            ha_print(w->to, "} ");
        } else {
            ha_print(w->to, "%s ",
                     field->type == HA_DTYPE_bool ? "HA_BOOL_" : ha_device_word(field->type));
        }
        if (!ha_is_dense(field, at, &part, size)) return -1;
        ha_put_member_name(w, &part);
        end = place + size * part.count;
    }
    return end;
}

HA_IN_ void ha_order_fields(ha_struct_writer *w) {
    const ha_record *r = w->record;
    for (int64_t f = 0; f < r->fields; f++) {
        int64_t i = f;
        for (; i > 0 && r->field[w->order[i - 1]].offset > r->field[f].offset; i--)
            w->order[i] = w->order[i - 1];
        w->order[i] = (uint16_t)f;
    }
}

/* 0: C has no such struct. */
HA_IN_ int ha_put_struct(ha_struct_writer *w) {
    const ha_record *r = w->record;
    const int fields = (int)r->fields;
    w->gaps = 0;
    ha_print(w->to, "typedef struct ");
    if (w->packed)
        ha_print(w->to, "__attribute__((packed, aligned(%lld))) ", (long long)r->alignment);
    ha_print(w->to, "{ ");
    const int64_t end = ha_put_members(w, 0, fields, 0, 0, 0);
    if (end < 0 || !ha_put_gap(w, r->size - end)) return 0;
    if (!w->packed && r->alignment < ha_members_alignment(w, 0, fields)) return 0;
    ha_print(w->to, "} %s;\ntypedef char ha_size_of_%s[sizeof(%s) == %lld ? 1 : -1];\n", r->name,
             r->name, r->name, (long long)r->size);
    return 1;
}

/* As it would be laid out anyway, if that is where the members are; else packed. */
HA_IN_ void ha_put_record(ha_text *to, const ha_record *record) {
    ha_text nowhere = ha_text_into(NULL, 0);
    ha_struct_writer w = {.to = &nowhere, .record = record};
    ha_order_fields(&w);
    w.packed = !ha_put_struct(&w);
    w.to = to;
    (void)ha_put_struct(&w);
}

#endif
