/* Views of records as text for devices: what their macros make here, for the layouts that the records have there.
 *
 *     typedef struct { …; } sky;              pointers to the blobs, extents, and which layout it is
 *     float *sky_pos_x(sky v, ha_cursor at)   of each layout that a view of this type has in the kernel
 *
 * Where values are, functions say that are made of the mapping (ha_mapping_device_text): ha_map0_ is in front of
 * the names of those of the kernel's first record array. Others with the same layout use them, too. */
#ifndef HARRAY_IMPL_KERNELS_VIEW_TEXT_H
#define HARRAY_IMPL_KERNELS_VIEW_TEXT_H

#include "../records/all.h"
#include "record_text.h"
#include "variant.h"

typedef struct ha_view_writer {
    ha_text *to;
    const ha_kernel_variant *variant;
    const ha_kernel_parameter_ *use[HA_MOST_PARAMETERS_]; /* the parameters that are records */
    int of; /* the first of those with the view that is written */
} ha_view_writer;

HA_IN_ ha_view_writer ha_view_writer_of(ha_text *to, const ha_kernel_variant *v) {
    ha_view_writer w = {.to = to, .variant = v};
    for (int i = 0, n = 0; i < v->kernel->parameters; i++)
        if (v->kernel->parameter[i].mode == HA_KERNEL_RECORDS_)
            w.use[n++] = &v->kernel->parameter[i];
    return w;
}

/* The first record array with the same mapping. */
HA_IN_ int ha_mapping_of_use(const ha_view_writer *w, int use) {
    const ha_mapping *const *m = w->variant->mapping;
    int first = 0;
    while (m[first]->record != m[use]->record || m[first]->rank != m[use]->rank ||
           strcmp(m[first]->text, m[use]->text))
        first++;
    return first;
}

HA_IN_ const char *ha_view_name(const ha_view_writer *w, int use) {
    return w->use[use]->records->view;
}

HA_IN_ int ha_has_view(const ha_view_writer *w, int use) {
    return !strcmp(ha_view_name(w, use), ha_view_name(w, w->of));
}

/* ---- fields ------------------------------------------------------------------------------------ */

typedef struct ha_device_field {
    const ha_field *field;
    char name[HA_FIELD_PATH]; /* link_e_re */
    int rank;
    int64_t extent[HA_MOST_SUBSCRIPTS], leaves;
    int64_t number, leaf; /* its own, and that of its first leaf */
} ha_device_field;

HA_IN_ ha_device_field ha_device_field_of(const ha_record *record, int64_t number, int64_t leaf) {
    const ha_field *field = &record->field[number];
    ha_device_field f = {.field = field, .leaves = 1, .number = number, .leaf = leaf};
    size_t n = 0;
    for (const char *rest = field->path; rest;) {
        const ha_path_part part = ha_path_part_of(rest);
        if (n) f.name[n++] = '_';
        for (int i = 0; i < part.length && n + 2 < sizeof f.name; i++) f.name[n++] = part.name[i];
        for (int d = 0; d < part.rank; d++) f.extent[f.rank++] = part.extent[d];
        f.leaves *= part.count;
        rest = part.rest;
    }
    return f;
}

/* The field's k-th leaf, as far as names go. */
HA_IN_ ha_leaf ha_device_leaf(const ha_device_field *f, int64_t k) {
    ha_leaf leaf = {.field = f->number};
    for (int d = f->rank - 1; d >= 0; d--) {
        leaf.subscript[d] = k % f->extent[d];
        k /= f->extent[d];
    }
    return leaf;
}

/* As the mapping's functions call it: link_0_e_2_1_re. */
HA_IN_ void ha_put_leaf_c_name(ha_text *to, const ha_record *record, const ha_device_field *f,
                               int64_t k) {
    const ha_leaf leaf = ha_device_leaf(f, k);
    char name[HA_FIELD_PATH];
    (void)ha_leaf_name_(record, &leaf, name, sizeof name);
    for (const char *c = name; *c; c++)
        if (*c != ']') ha_print(to, "%c", ha_in_name(*c) ? *c : '_');
}

/* "const ptrdiff_t e0, const ptrdiff_t e1", each behind a comma; or only the names. */
HA_IN_ void ha_put_subscripts(ha_text *to, const ha_device_field *f, int typed) {
    for (int d = 0; d < f->rank; d++) ha_print(to, ", %se%d", typed ? "const ptrdiff_t " : "", d);
}

/* May a value be at any address? */
HA_IN_ int ha_is_misplaced_in(const ha_mapping *m, const ha_device_field *f) {
    for (int64_t k = f->leaf; k < f->leaf + f->leaves; k++)
        if (m->row[k].packed || m->row[k].coding ||
            (m->row[k].linearizer < 0 && ha_dtype_alignment(f->field->type) > 1))
            return 1;
    return 0;
}

/* In one of the layouts? */
HA_IN_ int ha_is_misplaced(const ha_view_writer *w, const ha_device_field *f) {
    for (int i = 0; i < w->variant->records; i++)
        if (ha_has_view(w, i) && ha_is_misplaced_in(w->variant->mapping[i], f)) return 1;
    return 0;
}

HA_IN_ void ha_put_indices(const ha_view_writer *w, const char *behind) {
    const int rank = w->variant->mapping[w->of]->rank;
    for (int d = 0; d < rank; d++) ha_print(w->to, "at.i[%d], ", d);
    for (int d = 0; d < rank; d++) ha_print(w->to, "%sv.extent[%d]", d ? ", " : "", d);
    ha_print(w->to, "%s", behind);
}

/* What is done with one leaf in one layout. */
typedef enum ha_leaf_use { HA_LEAF_POINTER, HA_LEAF_GET, HA_LEAF_SET } ha_leaf_use;

/* The distance in bytes of an array field's leaves, where it is the same for all of them, in one blob; 0: it is not. */
HA_IN_ int64_t ha_leaf_step(const ha_mapping *m, const ha_device_field *f) {
    const ha_row *row = &m->row[f->leaf];
    const int64_t step = f->leaves > 1 ? row[1].offset - row[0].offset : 0;
    for (int64_t k = 1; k < f->leaves; k++)
        if (row[k].blob != row->blob || row[k].section != row->section ||
            row[k].lanes != row->lanes || row[k].linearizer != row->linearizer ||
            row[k].block_stride != row->block_stride || row[k].lane_stride != row->lane_stride ||
            row[k].offset - row->offset != k * step)
            return 0;
    return row->linearizer < 0 ? 0 : step;
}

/* "((e0) * 3 + e1)": which of the leaves. */
HA_IN_ void ha_put_leaf_number(const ha_view_writer *w, const ha_device_field *f) {
    for (int d = 1; d < f->rank; d++) ha_print(w->to, "(");
    ha_print(w->to, "e0");
    for (int d = 1; d < f->rank; d++) ha_print(w->to, ") * %lld + e%d", (long long)f->extent[d], d);
}

/* `step`: and so many bytes on for each of the field's leaves. */
HA_IN_ void ha_put_leaf_pointer(const ha_view_writer *w, const ha_device_field *f, int map,
                                int64_t k, int64_t step) {
    const ha_record *record = w->variant->mapping[map]->record;
    ha_print(w->to, "return (HA_GLOBAL_ %s *)(v.blob[ha_map%d_", ha_device_word(f->field->type),
             map);
    ha_put_leaf_c_name(w->to, record, f, k);
    ha_print(w->to, "_blob] + ha_map%d_", map);
    ha_put_leaf_c_name(w->to, record, f, k);
    ha_print(w->to, "_offset(");
    ha_put_indices(w, ")");
    if (step) {
        ha_print(w->to, " + (");
        ha_put_leaf_number(w, f);
        ha_print(w->to, ") * %lld", (long long)step);
    }
    ha_print(w->to, ");\n");
}

/* The blobs that the functions of a leaf are given: where its bytes are in several, each byte's. */
HA_IN_ void ha_put_leaf_blobs(const ha_view_writer *w, const ha_device_field *f, int map,
                              int64_t k) {
    const ha_mapping *m = w->variant->mapping[map];
    const ha_coding *c = ha_row_coding(m, &m->row[f->leaf + k]);
    if (!ha_coding_is_scattered_(m, c)) {
        ha_print(w->to, "v.blob[ha_map%d_", map);
        ha_put_leaf_c_name(w->to, m->record, f, k);
        ha_print(w->to, "_blob], ");
        return;
    }
    for (int32_t b = 0; b < c->bytes; b++)
        ha_print(w->to, "v.blob[%d], ", (int)m->byte_row[c->byte_row + b].blob);
}

HA_IN_ void ha_put_leaf_value(const ha_view_writer *w, const ha_device_field *f, int map, int64_t k,
                              int set) {
    const ha_record *record = w->variant->mapping[map]->record;
    const int bits = f->field->type == HA_DTYPE_half || f->field->type == HA_DTYPE_bfloat16;
    if (!set)
        ha_print(w->to, bits ? "{ %s x; x.bits = " : "return ", ha_device_word(f->field->type));
    ha_print(w->to, "ha_map%d_", map);
    ha_put_leaf_c_name(w->to, record, f, k);
    ha_print(w->to, "_%s(", set ? "set" : "get");
    ha_put_leaf_blobs(w, f, map, k);
    ha_put_indices(w, !set ? ")" : bits ? ", x.bits)" : ", x)");
    ha_print(w->to, set ? "; return;\n" : bits ? "; return x; }\n" : ";\n");
}

/* Whether it is the first one of this view with its mapping, which another view may have, too. */
HA_IN_ int ha_is_case(const ha_view_writer *w, int use) {
    for (int i = w->of; i < use; i++)
        if (ha_has_view(w, i) && ha_mapping_of_use(w, i) == ha_mapping_of_use(w, use)) return 0;
    return ha_has_view(w, use);
}

/* The layouts of this view, and the leaves of the field, one by one where they do not lie in equal distances: where
 * compilers know which, nothing of it is left. */
HA_IN_ void ha_put_cases(const ha_view_writer *w, const ha_device_field *f, ha_leaf_use use) {
    int last = w->variant->records - 1;
    while (!ha_is_case(w, last)) last--;
    for (int i = w->of; i <= last; i++) {
        if (!ha_is_case(w, i)) continue;
        const int map = ha_mapping_of_use(w, i);
        ha_print(w->to, "    ");
        const int64_t step = use == HA_LEAF_POINTER ? ha_leaf_step(w->variant->mapping[map], f) : 0;
        if (i < last) ha_print(w->to, "if (v.layout == %d) ", map);
        if (step) {
            ha_put_leaf_pointer(w, f, map, 0, step);
            continue;
        }
        if (f->rank) {
            ha_print(w->to, "switch (");
            ha_put_leaf_number(w, f);
            ha_print(w->to, ") {\n");
        }
        for (int64_t k = 0; k < f->leaves; k++) {
            if (f->rank && k + 1 < f->leaves)
                ha_print(w->to, "    case %lld: ", (long long)k);
            else if (f->rank)
                ha_print(w->to, "    default: ");
            if (use == HA_LEAF_POINTER)
                ha_put_leaf_pointer(w, f, map, k, 0);
            else
                ha_put_leaf_value(w, f, map, k, use == HA_LEAF_SET);
        }
        if (f->rank) ha_print(w->to, "    }\n");
    }
}

/* Pointer, get and set. */
HA_IN_ void ha_put_field(const ha_view_writer *w, const ha_device_field *f) {
    const char *view = ha_view_name(w, w->of), *type = ha_device_word(f->field->type);
    const int pointers = !ha_is_misplaced(w, f);
    if (pointers) {
        ha_print(w->to, "HA_BODY_ HA_GLOBAL_ %s *%s_%s(const %s v, const ha_cursor at", type, view,
                 f->name, view);
        ha_put_subscripts(w->to, f, 1);
        ha_print(w->to, ") {\n");
        ha_put_cases(w, f, HA_LEAF_POINTER);
        ha_print(w->to, "}\n");
    }
    for (int set = 0; set < 2; set++) {
        ha_print(w->to, "HA_BODY_ %s %s_%s_%s(const %s v, const ha_cursor at", set ? "void" : type,
                 view, f->name, set ? "set" : "get", view);
        ha_put_subscripts(w->to, f, 1);
        if (set) ha_print(w->to, ", const %s x", type);
        ha_print(w->to, ") {\n");
        if (pointers) {
            ha_print(w->to, "    %s*%s_%s(v, at", set ? "" : "return ", view, f->name);
            ha_put_subscripts(w->to, f, 0);
            ha_print(w->to, set ? ") = x;\n" : ");\n");
        } else {
            ha_put_cases(w, f, set ? HA_LEAF_SET : HA_LEAF_GET);
        }
        ha_print(w->to, "}\n");
    }
}

/* Of an array field: all elements. */
HA_IN_ void ha_put_whole_field(const ha_view_writer *w, const ha_device_field *f,
                               const char *verb) {
    const char *view = ha_view_name(w, w->of), *type = ha_device_word(f->field->type);
    const int loads = !strcmp(verb, "load");
    ha_print(w->to, "HA_BODY_ void %s_%s_%s(const %s v, const ha_cursor at, %s%s *all) {\n", view,
             f->name, verb, view, loads ? "" : "const ", type);
    for (int d = 0; d < f->rank; d++)
        ha_print(w->to, "    for (ptrdiff_t e%d = 0; e%d < %lld; e%d++)\n", d, d,
                 (long long)f->extent[d], d);
    ha_print(w->to, loads ? "        *all++ = %s_%s_get(v, at" : "        %s_%s_set(v, at", view,
             f->name);
    ha_put_subscripts(w->to, f, 0);
    if (!strcmp(verb, "add")) {
        ha_print(w->to, ", %s_%s_get(v, at", view, f->name);
        ha_put_subscripts(w->to, f, 0);
        ha_print(w->to, ") + *all++");
    } else if (!loads) {
        ha_print(w->to, ", *all++");
    }
    ha_print(w->to, ");\n}\n");
}

HA_IN_ void ha_put_view_fields(const ha_view_writer *w) {
    const ha_record *record = w->variant->mapping[w->of]->record;
    int64_t leaf = 0;
    for (int64_t i = 0; i < record->fields; i++) {
        const ha_device_field f = ha_device_field_of(record, i, leaf);
        ha_put_field(w, &f);
        if (f.rank && f.field->type < HA_DTYPE_c64) ha_put_whole_field(w, &f, "load");
        if (f.rank && f.field->type < HA_DTYPE_c64) ha_put_whole_field(w, &f, "store");
        if (f.rank && (f.field->type == HA_DTYPE_float || f.field->type == HA_DTYPE_double ||
                       f.field->type < HA_DTYPE_half))
            ha_put_whole_field(w, &f, "add");
        leaf += f.leaves;
    }
}

/* ---- whole records ----------------------------------------------------------------------------- */

/* As a member of the struct: link[0].e[2][1].re. */
HA_IN_ void ha_put_record_use(const ha_view_writer *w, const ha_device_field *f, int64_t k,
                              int store) {
    const ha_record *record = w->variant->mapping[w->of]->record;
    const ha_leaf leaf = ha_device_leaf(f, k);
    char name[HA_FIELD_PATH];
    (void)ha_leaf_name_(record, &leaf, name, sizeof name);
    if (!store) ha_print(w->to, "    r.%s = ", name);
    ha_print(w->to, "%s%s_%s_%s(v, at", store ? "    " : "", ha_view_name(w, w->of), f->name,
             store ? "set" : "get");
    for (int d = 0; d < f->rank; d++) ha_print(w->to, ", %lld", (long long)leaf.subscript[d]);
    if (store) ha_print(w->to, ", r.%s", name);
    ha_print(w->to, ");\n");
}

/* As a member of the struct, with the subscripts e0, e1, …: link[e0].e[e1][e2].re. */
HA_IN_ void ha_put_member_path(const ha_view_writer *w, const ha_device_field *f) {
    int e = 0;
    for (const char *rest = f->field->path; rest;) {
        const ha_path_part part = ha_path_part_of(rest);
        ha_print(w->to, "%s%.*s", rest == f->field->path ? "" : ".", part.length, part.name);
        for (int d = 0; d < part.rank; d++) ha_print(w->to, "[e%d]", e++);
        rest = part.rest;
    }
}

HA_IN_ void ha_put_record_loop(const ha_view_writer *w, const ha_device_field *f, int store) {
    ha_print(w->to, "    ");
    for (int d = 0; d < f->rank; d++)
        ha_print(w->to, "for (ptrdiff_t e%d = 0; e%d < %lld; e%d++) ", d, d,
                 (long long)f->extent[d], d);
    if (!store) {
        ha_print(w->to, "r.");
        ha_put_member_path(w, f);
        ha_print(w->to, " = ");
    }
    ha_print(w->to, "%s_%s_%s(v, at", ha_view_name(w, w->of), f->name, store ? "set" : "get");
    ha_put_subscripts(w->to, f, 0);
    if (store) {
        ha_print(w->to, ", r.");
        ha_put_member_path(w, f);
    }
    ha_print(w->to, ");\n");
}

/* Of so many leaves one after the other, as compilers make most of that; of more in a loop, as text has its limit. */
enum { HA_LEAVES_IN_A_ROW = 32 };

HA_IN_ void ha_put_whole(const ha_view_writer *w, int store) {
    const ha_record *record = w->variant->mapping[w->of]->record;
    const char *view = ha_view_name(w, w->of);
    int64_t leaf = 0;
    if (store)
        ha_print(w->to, "HA_BODY_ void %s_store(const %s v, const ha_cursor at, const %s r) {\n",
                 view, view, record->name);
    else
        ha_print(w->to, "HA_BODY_ %s %s_load(const %s v, const ha_cursor at) {\n    %s r;\n",
                 record->name, view, view, record->name);
    for (int64_t i = 0; i < record->fields; i++) {
        const ha_device_field f = ha_device_field_of(record, i, leaf);
        if (f.leaves > HA_LEAVES_IN_A_ROW)
            ha_put_record_loop(w, &f, store);
        else
            for (int64_t k = 0; k < f.leaves; k++) ha_put_record_use(w, &f, k, store);
        leaf += f.leaves;
    }
    ha_print(w->to, store ? "}\n" : "    return r;\n}\n");
}

/* ---- views ------------------------------------------------------------------------------------- */

/* Cursors are indices there. `step`: what they count for, in the order of the view. */
static const char ha_words_of_records[] =
    "typedef struct { ptrdiff_t i[4], step[4]; int more; } ha_cursor;\n"
    "typedef struct { ptrdiff_t first[4], last[4]; } ha_region;\n"
    "HA_BODY_ ha_region ha_box4(ptrdiff_t a, ptrdiff_t b, ptrdiff_t c, ptrdiff_t d, ptrdiff_t e, "
    "ptrdiff_t f, ptrdiff_t g, ptrdiff_t h) {\n"
    "    ha_region r;\n"
    "    r.first[0] = a; r.last[0] = b; r.first[1] = c; r.last[1] = d;\n"
    "    r.first[2] = e; r.last[2] = f; r.first[3] = g; r.last[3] = h;\n"
    "    return r;\n}\n"
    "#define ha_box3(a, b, c, d, e, f) ha_box4(a, b, c, d, e, f, 0, 1)\n"
    "#define ha_box2(a, b, c, d) ha_box4(a, b, c, d, 0, 1, 0, 1)\n"
    "#define ha_box1(a, b) ha_box4(a, b, 0, 1, 0, 1, 0, 1)\n"
    "HA_BODY_ ha_region ha_inside(ha_region r, int rank, ptrdiff_t width) {\n"
    "    for (int d = 0; d < rank; d++) { r.first[d] += width; r.last[d] -= width; }\n"
    "    return r;\n}\n"
    "HA_BODY_ ptrdiff_t ha_coordinate(const ha_cursor at, const int d) { return at.i[d]; }\n"
    "HA_BODY_ ptrdiff_t ha_index(const ha_cursor at) {\n"
    "    return at.i[0] * at.step[0] + at.i[1] * at.step[1] + at.i[2] * at.step[2] + "
    "at.i[3] * at.step[3];\n}\n"
    "HA_BODY_ ha_cursor ha_neighbour(ha_cursor at, const int d, const ptrdiff_t k) {\n"
    "    at.i[d] += k;\n    return at;\n}\n"
    "#define HA_EACH(V, v, at) HA_EACH_IN(V, v, at, V##_region(v))\n"
    "#define HA_EACH_IN(V, v, at, region) \\\n"
    "    for (ha_region at##_in_ = (region), *at##_once_ = &at##_in_; at##_once_; at##_once_ = 0) "
    "\\\n"
    "    for (ha_cursor at = V##_begin_(v); at.more; at.more = 0) \\\n"
    "    for (at.i[0] = at##_in_.first[0]; at.i[0] < at##_in_.last[0] && at.more; at.i[0]++) \\\n"
    "    for (at.i[1] = at##_in_.first[1]; at.i[1] < at##_in_.last[1] && at.more; at.i[1]++) \\\n"
    "    for (at.i[2] = at##_in_.first[2]; at.i[2] < at##_in_.last[2] && at.more; at.i[2]++) \\\n"
    "    for (int at##_row_ = 1; at##_row_; at##_row_ = 0, at.more = at.i[3] >= at##_in_.last[3]) "
    "\\\n"
    "    for (at.i[3] = at##_in_.first[3]; at.i[3] < at##_in_.last[3]; at.i[3]++)\n";

/* The dimensions of a linearizer from the first to the last, the last one fastest: is it the other way round? */
HA_IN_ int ha_is_column_major(const ha_mapping *m) {
    return m->rank > 1 && m->linearizers > 0 && !m->linearizer[0].morton &&
           m->linearizer[0].dimension[0] != 0;
}

HA_IN_ void ha_put_cursors(const ha_view_writer *w) {
    const char *view = ha_view_name(w, w->of);
    const int rank = w->variant->mapping[w->of]->rank;
    ha_print(w->to, "HA_BODY_ ha_cursor %s_begin_(const %s v) {\n    ha_cursor at;\n", view, view);
    ha_print(w->to, "    const int columns = 0");
    for (int i = w->of; i < w->variant->records; i++)
        if (ha_has_view(w, i) && ha_is_column_major(w->variant->mapping[i]))
            ha_print(w->to, " || v.layout == %d", ha_mapping_of_use(w, i));
    ha_print(w->to, ";\n    ptrdiff_t step = 1;\n"
                    "    for (int d = 0; d < 4; d++) at.i[d] = at.step[d] = 0;\n");
    ha_print(w->to,
             "    for (int k = 0; k < %d; k++) {\n"
             "        const int d = columns ? k : %d - k;\n"
             "        at.step[d] = step;\n        step *= v.extent[d];\n    }\n"
             "    at.more = 1;\n    return at;\n}\n",
             rank, rank - 1);
    ha_print(w->to, "HA_BODY_ ha_cursor %s_at(const %s v", view, view);
    for (int d = 0; d < rank; d++) ha_print(w->to, ", const ptrdiff_t i%d", d);
    ha_print(w->to, ") {\n    ha_cursor at = %s_begin_(v);\n", view);
    for (int d = 0; d < rank; d++) ha_print(w->to, "    at.i[%d] = i%d;\n", d, d);
    ha_print(w->to, "    return at;\n}\n");
    ha_print(w->to,
             "HA_BODY_ ha_region %s_region(const %s v) {\n    return ha_box4(0, v.extent[0], 0, "
             "v.extent[1], 0, v.extent[2], 0, v.extent[3]);\n}\n",
             view, view);
}

HA_IN_ void ha_put_view(const ha_view_writer *w) {
    int32_t blobs = 1;
    for (int i = w->of; i < w->variant->records; i++)
        if (ha_has_view(w, i) && w->variant->mapping[i]->blobs > blobs)
            blobs = w->variant->mapping[i]->blobs;
    ha_print(w->to,
             "typedef struct { HA_GLOBAL_ unsigned char *blob[%d]; ptrdiff_t extent[4], count; "
             "int layout; } %s;\n",
             (int)blobs, ha_view_name(w, w->of));
    ha_put_cursors(w);
    ha_put_view_fields(w);
    if (!w->use[w->of]->records->record) return; /* a record without a struct */
    ha_put_whole(w, 0);
    ha_put_whole(w, 1);
}

/* Does nothing of the kernel ask where the other leaves of an array field are than the first? */
typedef struct ha_mapping_use {
    const ha_kernel_variant *variant;
    const ha_mapping *mapping;
} ha_mapping_use;

HA_IN_ int ha_is_regular_field(const void *user, int64_t field, int64_t first_leaf) {
    const ha_mapping_use *u = (const ha_mapping_use *)user;
    const ha_record *record = u->mapping->record;
    const ha_device_field f = ha_device_field_of(record, field, first_leaf);
    if (!ha_leaf_step(u->mapping, &f)) return 0;
    for (int i = 0; i < u->variant->records; i++)
        if (u->variant->mapping[i]->record == record &&
            ha_is_misplaced_in(u->variant->mapping[i], &f))
            return 0;
    return 1;
}

/* Names begin with ha_map and the number. -1: not as text. */
HA_IN_ int64_t ha_put_mapping(const ha_view_writer *w, int use) {
    char name[24];
    const ha_mapping_use u = {w->variant, w->variant->mapping[use]};
    const size_t written = w->to->length < w->to->bytes ? w->to->length : w->to->bytes;
    snprintf(name, sizeof name, "ha_map%d", use);
    const int64_t length = ha_mapping_device_text_(u.mapping, name, ha_is_regular_field, &u,
                                                   w->to->at ? w->to->at + written : NULL,
                                                   w->to->bytes - written);
    if (length > 0) w->to->length += (size_t)length;
    return length;
}

/* All that a kernel's records need, but for their structs. -1: there is a mapping that cannot be text. */
HA_IN_ int ha_put_views(ha_text *to, const ha_kernel_variant *v) {
    ha_view_writer w = ha_view_writer_of(to, v);
    if (!v->records) return 0;
    ha_print(to, "%s", ha_words_of_records);
    for (int i = 0; i < v->records; i++)
        if (ha_mapping_of_use(&w, i) == i && ha_put_mapping(&w, i) < 0) return -1;
    for (int i = 0; i < v->records; i++) {
        w.of = 0;
        while (strcmp(ha_view_name(&w, w.of), ha_view_name(&w, i))) w.of++;
        if (w.of == i) ha_put_view(&w);
    }
    return 0;
}

#endif
