/* ha_records_apply_number: arithmetic with the fields of record arrays. Here it is that of layout/arithmetic.h; where a
 * device compiles kernels, it is one over the records. */
#ifndef HARRAY_IMPL_OPS_RECORDS_APPLY_H
#define HARRAY_IMPL_OPS_RECORDS_APPLY_H

#include "families.h"
#include "records_kernels.h"
#include "records_loops.h"
#include "records_values.h"

static const char ha_apply_name[] = "ha_records_apply_number";

/* The number, rounded to each of the types that are computed with. */
typedef enum ha_apply_rounding {
    HA_ROUNDED_TO_HALF,
    HA_ROUNDED_TO_BFLOAT16,
    HA_ROUNDED_TO_FLOAT,
    HA_NOT_ROUNDED, /* also for integers */
    HA_APPLY_ROUNDINGS
} ha_apply_rounding;
static const char *const ha_apply_variables[] = {"h", "b", "f", "d"};

/* A call. */
typedef struct ha_apply_call {
    ha_records *records;
    ha_operator operation;
    double number;
    const ha_applying *how;
    ha_context *context;
    const char *site;
    const char *what; /* "write pos+mass" */
    /* And as a kernel opens them, which gives each a value or is not run at all. */
    const char *for_kernel;
    ha_access_spec *chosen; /* the fields; to be ended */
    int is_empty;           /* no record is inside of the box */
    ha_region box;
} ha_apply_call;

/* ---- its text ------------------------------------------------------------------------------------ */

HA_IN_ ha_apply_rounding ha_apply_rounding_of(ha_dtype type) {
    switch (type) {
    case HA_DTYPE_half:
        return HA_ROUNDED_TO_HALF;
    case HA_DTYPE_bfloat16:
        return HA_ROUNDED_TO_BFLOAT16;
    case HA_DTYPE_float:
    case HA_DTYPE_c64:
        return HA_ROUNDED_TO_FLOAT;
    default:
        return HA_NOT_ROUNDED;
    }
}

/* "x + d"; of an assignment "d". */
HA_IN_ void ha_apply_put_operation(ha_text *t, ha_operator operation, const char *x,
                                   const char *number) {
    static const char *const sign[] = {"", "+", "-", "*", "/"};
    if (operation == HA_ASSIGN)
        ha_print(t, "%s", number);
    else
        ha_print(t, "%s %s %s", x, sign[operation], number);
}

/* What becomes of the value x. */
HA_IN_ void ha_apply_put_value(ha_text *t, ha_operator operation, ha_dtype type) {
    const char *number = ha_apply_variables[ha_apply_rounding_of(type)];
    const int bits = 8 * (int)ha_dtype_size(type);
    if (type == HA_DTYPE_bool) {
        ha_print(t, "d != 0");
    } else if (type == HA_DTYPE_half || type == HA_DTYPE_bfloat16) {
        const char *name = type == HA_DTYPE_half ? "half" : "bfloat16";
        char x[40];
        snprintf(x, sizeof x, "ha_%s_to_float(x)", name);
        ha_print(t, "ha_%s_of_float(", name);
        ha_apply_put_operation(t, operation, x, number);
        ha_print(t, ")");
    } else if (ha_is_whole_number(type)) {
        const int has_sign = ha_dtype_kind(type) == HA_KIND_SIGNED;
        ha_print(t, "(%s)ha_nearest_%s_(", ha_device_word(type), has_sign ? "integer" : "natural");
        ha_apply_put_operation(t, operation, "(double)x", number);
        ha_print(t, ", %d)", bits);
    } else {
        ha_apply_put_operation(t, operation, "x", number);
    }
}

/* Changes the complex number x. */
HA_IN_ void ha_apply_put_parts(ha_text *t, ha_operator operation, ha_dtype type) {
    const char *number = ha_apply_variables[ha_apply_rounding_of(type)];
    ha_print(t, "x.re = ");
    ha_apply_put_operation(t, operation, "x.re", number);
    if (operation == HA_ASSIGN) ha_print(t, "; x.im = 0");
    if (operation >= HA_MULTIPLY) {
        ha_print(t, "; x.im = ");
        ha_apply_put_operation(t, operation, "x.im", number);
    }
    ha_print(t, "; ");
}

/* One statement for a leaf, whose subscripts are in brackets behind commas. */
HA_IN_ void ha_apply_put_leaf(ha_text *t, ha_operator operation, const ha_device_field *f,
                              const char *subscripts) {
    const ha_dtype type = f->field->type;
    const int is_read = operation != HA_ASSIGN, is_complex = ha_dtype_kind(type) == HA_KIND_COMPLEX;
    ha_print(t, "{ ");
    if (is_read)
        ha_print(t, "%s x = ha_these_%s_get(p, at%s); ", ha_device_word(type), f->name, subscripts);
    else if (is_complex)
        ha_print(t, "%s x; ", ha_device_word(type));
    if (is_complex) ha_apply_put_parts(t, operation, type);
    ha_print(t, "ha_these_%s_set(p, at%s, ", f->name, subscripts);
    if (is_complex)
        ha_print(t, "x");
    else
        ha_apply_put_value(t, operation, type);
    ha_print(t, "); } ");
}

/* The leaves [first, end) of a field, by their numbers in it: all of them as a loop. */
HA_IN_ void ha_apply_put_field(ha_text *t, ha_operator operation, const ha_device_field *f,
                               int64_t first, int64_t end) {
    char subscripts[40 * HA_MOST_SUBSCRIPTS];
    ha_text s = ha_text_into(subscripts, sizeof subscripts);
    if (end - first == f->leaves) {
        for (int d = 0; d < f->rank; d++)
            ha_print(t, "for (int e%d = 0; e%d < %lld; e%d++) ", d, d, (long long)f->extent[d], d);
        subscripts[0] = 0;
        ha_put_subscripts(&s, f, 0);
        ha_apply_put_leaf(t, operation, f, subscripts);
        return;
    }
    for (int64_t k = first; k < end; k++) {
        const ha_leaf leaf = ha_device_leaf(f, k);
        s = ha_text_into(subscripts, sizeof subscripts);
        for (int d = 0; d < f->rank; d++) ha_print(&s, ", %lld", (long long)leaf.subscript[d]);
        ha_apply_put_leaf(t, operation, f, subscripts);
    }
}

/* The kernel's body; used: which of the roundings it needs. */
HA_IN_ void ha_apply_put_body(ha_text *t, const ha_apply_call *c, const ha_record *record,
                              int *used, int *integers) {
    int64_t leaf = 0;
    ha_print(t, "{ ");
    for (int64_t i = 0; i < record->fields; i++) {
        const ha_device_field f = ha_device_field_of(record, i, leaf);
        for (int32_t k = 0; k < c->chosen->runs; k++) {
            const int64_t begin = c->chosen->run[k].leaf, first = begin > leaf ? begin : leaf;
            const int64_t end = ha_least(c->chosen->run[k].end, leaf + f.leaves);
            if (first >= end) continue;
            ha_apply_put_field(t, c->operation, &f, first - leaf, end - leaf);
            used[ha_apply_rounding_of(f.field->type)] = 1;
            *integers |= ha_is_whole_number(f.field->type);
        }
        leaf += f.leaves;
    }
    ha_print(t, "}");
}

/* ---- kernels --------------------------------------------------------------------------------------- */

/* What the kernel is found by. */
HA_IN_ void ha_apply_put(ha_text *t, int which, const void *call) {
    const ha_apply_call *c = (const ha_apply_call *)call;
    const ha_record *record = ha_records_record(c->records);
    int used[HA_APPLY_ROUNDINGS], integers;
    if (which == HA_MADE_WHAT) ha_print(t, "%s", c->for_kernel);
    if (which == HA_MADE_BODY) ha_apply_put_body(t, c, record, used, &integers);
    if (which == HA_MADE_RECORD) ha_made_put_record(t, record);
}

/* The numbers that its body has, behind the records, and what it calls. */
HA_IN_ void ha_apply_describe(ha_made_kernel *made, const int *used, int integers) {
    for (int i = 0; i < HA_APPLY_ROUNDINGS; i++) {
        const int is_double = i == HA_NOT_ROUNDED;
        if (!used[i]) continue;
        ha_made_add(made, HA_KERNEL_VALUE_, ha_apply_variables[i], is_double ? "double" : "float")
            ->bytes = is_double ? sizeof(double) : sizeof(float);
    }
    if (integers) ha_made_add(made, HA_KERNEL_USES_, "ha_nearest_", ha_uses_ha_nearest_);
}

HA_IN_ float ha_apply_rounded(double number, int rounding) {
    if (rounding == HA_ROUNDED_TO_HALF) return ha_half_to_float(ha_half_of_double(number));
    if (rounding == HA_ROUNDED_TO_BFLOAT16)
        return ha_bfloat16_to_float(ha_bfloat16_of_double(number));
    return (float)number;
}

HA_IN_ ha_status ha_apply_launch(const ha_apply_call *c) {
    const ha_kernel_use_ use = {c->records, NULL, NULL};
    const void *given[HA_APPLY_ROUNDINGS + 2] = {&use};
    float rounded[HA_APPLY_ROUNDINGS];
    int used[HA_APPLY_ROUNDINGS] = {0}, integers = 0, numbers = 1;
    ha_text nowhere = ha_text_into(NULL, 0);
    ha_apply_put_body(&nowhere, c, ha_records_record(c->records), used, &integers);
    ha_made_kernel *fresh = ha_made_new(ha_apply_name, ha_records_rank(c->records), ha_apply_put,
                                        c);
    if (!fresh) return ha_fail(HA_ERR_MEMORY, ha_apply_name, "no memory for its kernel");
    fresh->parameter[0].updates = c->operation != HA_ASSIGN;
    ha_apply_describe(fresh, used, integers);
    const ha_made_kernel *made = ha_made_keep(fresh);
    for (int i = 0; i < HA_APPLY_ROUNDINGS; i++) {
        if (!used[i]) continue;
        rounded[i] = ha_apply_rounded(c->number, i);
        given[numbers++] = i == HA_NOT_ROUNDED ? (const void *)&c->number : &rounded[i];
    }
    return ha_kernel_launch_(&made->kernel, c->context,
                             c->how->first || c->how->last ? &c->box : NULL, given);
}

/* ---- by the mapping's own loops -------------------------------------------------------------------- */

typedef struct ha_apply_here_work {
    ha_records_loop loop;
    const ha_apply_call *call;
    ha_records_access access;
} ha_apply_here_work;

HA_IN_ void ha_apply_loops(ha_apply_here_work *w, void *const *blob) {
    const ha_apply_call *c = w->call;
    const ha_mapped mapped = {w->access.mapping, blob};
    int64_t first[HA_MAPPING_RANK], last[HA_MAPPING_RANK];
    ha_applying how = {.paths = c->how->paths, .threads = c->how->threads};
    for (int d = 0; d < HA_MAPPING_RANK; d++) {
        first[d] = w->access.box.first[d];
        last[d] = w->access.box.last[d];
    }
    how.first = first;
    how.last = last;
    w->loop.status = ha_mapped_apply_number(&mapped, c->operation, c->number, &how, &w->loop.error);
}

/* On a queue, while its caller waits. */
HA_IN_ void ha_apply_queued(const ha_queue *queue, void *argument) {
    ha_apply_here_work *w = (ha_apply_here_work *)*(ha_records_loop **)argument;
    (void)ha_blobs_on_queue(queue, &w->access, w->loop.blob);
    ha_apply_loops(w, w->loop.blob);
}

/* Values that are to be replaced are kept until they are: so nothing is lost when there is no memory. */
HA_IN_ ha_status ha_apply_here(const ha_apply_call *c, ha_context *context) {
    ha_apply_here_work w = {.call = c};
    const int all = !c->how->first && !c->how->last;
    ha_status s = ha_records_open_valued(&w.access, c->records, context, c->what,
                                         all ? ha_records_rows_(0, HA_END) : c->box,
                                         c->operation != HA_ASSIGN, c->site);
    if (s) return s;
    if (ha_is_host(context))
        ha_apply_loops(&w, w.access.blob);
    else
        s = ha_loop_on_queue(&w.loop, (size_t)w.access.mapping->blobs, ha_apply_queued, &w.access,
                             context, ha_apply_name, c->site);
    const ha_status closed = ha_records_close_(&w.access);
    if (s || closed) return s ? s : closed;
    if (!w.loop.status) return HA_OK;
    return ha_fail(w.loop.status, ha_apply_name, "%s: records %s at %s: %s", c->site,
                   ha_records_label(c->records).text, context->name, w.loop.error.text);
}

/* ---- where ------------------------------------------------------------------------------------------ */

/* What is asked, with no record at all: so that what is wrong is told before anything is opened. *as_kernel: one can do
 * it in the layout that there is. */
HA_IN_ ha_status ha_apply_look(ha_apply_call *c, int *as_kernel) {
    static const int64_t none[HA_MAPPING_RANK];
    const ha_applying nowhere = {.paths = c->how->paths, .first = none, .last = none};
    void *const no_blob[1] = {NULL};
    ha_error error = {0};
    ha_placement *p;
    ha_array *a;
    ha_status s = ha_records_begin_at(c->records, ha_apply_name, &a);
    if (s) return s;
    s = ha_placement_get(a, c->context->memory, &p);
    if (s)
        snprintf(error.text, sizeof error.text, "there is no memory for a mapping");
    else {
        const ha_mapped mapped = {p->mapping, no_blob};
        s = ha_mapped_apply_number(&mapped, c->operation, c->number, &nowhere, &error);
    }
    ha_status told = s ? ha_fail(s, ha_apply_name, "%s: records %s: %s", c->site,
                                 ha_records_label(c->records).text, error.text)
                       : ha_access_spec_get(c->records, c->what, 0, ha_apply_name, c->site,
                                            &c->chosen);
    if (!told)
        *as_kernel = ha_made_bytes(p->mapping) + HA_APPLY_ROUNDINGS * sizeof(double) <=
                         HA_ARGUMENT_BYTES &&
                     !ha_made_has_bits(p->mapping, c->chosen);
    ha_records_leave(c->records);
    return told;
}

/* The indices inside of the extents. */
HA_IN_ void ha_apply_clip_box(ha_apply_call *c) {
    const int rank = ha_records_rank(c->records);
    c->box = ha_box1(0, 1);
    for (int d = 0; d < rank; d++) {
        const int64_t extent = ha_records_extent(c->records, d);
        const int64_t first = c->how->first && c->how->first[d] > 0 ? c->how->first[d] : 0;
        const int64_t last = c->how->last ? ha_least(c->how->last[d], extent) : extent;
        c->box.first[d] = (ptrdiff_t)first;
        c->box.last[d] = (ptrdiff_t)last;
        c->is_empty |= first >= last;
    }
}

HA_IN_ ha_status ha_apply_choose(ha_apply_call *c) {
    int as_kernel = 0;
    ha_status s = ha_apply_look(c, &as_kernel);
    if (s) return s;
    ha_apply_clip_box(c);
    if (c->is_empty) return HA_OK;
    if (ha_is_host(c->context)) return ha_apply_here(c, c->context);
    const ha_kernel_way way = ha_way_of(c->context);
    if (way == HA_WAY_UNKNOWN)
        return ha_fail(HA_ERR_MEMORY, ha_apply_name, "%s: no memory", c->site);
    if (way == HA_WAY_COMPILED && as_kernel) return ha_apply_launch(c);
    return ha_apply_here(c, way == HA_WAY_FUNCTION ? c->context : ha_host());
}

/* What is opened stands in `what`, to be freed by ha_apply_end. */
HA_IN_ ha_status ha_apply_begin(ha_apply_call *c, ha_records *records, ha_operator op,
                                const ha_applying *how, ha_context *context, const char *site,
                                const char *name) {
    static const ha_applying everything;
    *c = (ha_apply_call){.records = records,
                         .operation = op,
                         .how = how ? how : &everything,
                         .context = ha_resolve(context),
                         .site = ha_from(site)};
    const char *paths = c->how->paths ? c->how->paths : "";
    const size_t bytes = sizeof "overwrite " + strlen(paths);
    char *what = (char *)HARRAY_MALLOC(bytes);
    if (!what) return ha_fail(HA_ERR_MEMORY, name, "%s: no memory", c->site);
    snprintf(what, bytes, "overwrite %s", paths);
    c->what = what + strlen("over");
    c->for_kernel = op == HA_ASSIGN ? what : c->what;
    return HA_OK;
}

HA_IN_ void ha_apply_end(const ha_apply_call *c) {
    ha_access_spec_end(c->chosen);
    HARRAY_FREE((char *)(uintptr_t)(c->what - strlen("over")));
}

ha_status ha_records_apply_number_(ha_records *records, ha_operator op, double number,
                                   const ha_applying *how, ha_context *context, const char *site) {
    ha_apply_call c;
    HA_TELLS_EVENTS_;
    ha_status s = ha_records_enter(records, ha_apply_name, site);
    if (!s) s = ha_apply_begin(&c, records, op, how, context, site, ha_apply_name);
    if (s) return s;
    c.number = number;
    HA_FROM(c.site) {
        s = ha_op_check_word(&ha_op_apply_words, ha_apply_name, (int)op);
        if (!s) s = ha_apply_choose(&c);
    }
    ha_apply_end(&c);
    return s;
}

#endif
