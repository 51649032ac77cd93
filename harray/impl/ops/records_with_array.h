/* ha_records_apply_array: arithmetic with the fields of records and the elements of an array, one for each record. Where
 * a device compiles kernels, it is one over the records; elsewhere it goes by runs, as arithmetic of two types does. */
#ifndef HARRAY_IMPL_OPS_RECORDS_WITH_ARRAY_H
#define HARRAY_IMPL_OPS_RECORDS_WITH_ARRAY_H

#include "records_with_records.h"

static const char ha_beside_name[] = "ha_records_apply_array";

/* A call. */
typedef struct ha_beside_call {
    ha_apply_call apply; /* the records, as for a number */
    darray x;            /* of the box, with its indices */
    ha_pairing pairing;
    int as_kernel;
} ha_beside_call;

/* ---- as a kernel --------------------------------------------------------------------------------- */

HA_IN_ void ha_beside_put_body(ha_text *t, const ha_beside_call *c, ha_value_needs *needs) {
    ha_print(t, "{ const %s y = HA_AT(x", ha_device_word(c->x.type));
    for (int d = 0; d < c->x.rank; d++) ha_print(t, ", at.i[%d]", d);
    ha_print(t, "); ");
    ha_pairing_put_body(t, &c->pairing, needs);
    ha_print(t, "}");
}

/* As text for devices, bool is a byte in memory. */
HA_IN_ void ha_beside_put_type(ha_text *t, const ha_beside_call *c) {
    const ha_dtype type = c->x.type == HA_DTYPE_bool ? HA_DTYPE_uint8_t : c->x.type;
    ha_print(t, "array_%s_%d", ha_dtype_name(type), c->x.rank);
}

/* What the kernel is found by; the type of the array stands for the other records. */
HA_IN_ void ha_beside_put(ha_text *t, int which, const void *call) {
    const ha_beside_call *c = (const ha_beside_call *)call;
    ha_value_needs needs;
    if (which == HA_MADE_WHAT) ha_print(t, "%s", c->apply.for_kernel);
    if (which == HA_MADE_BODY) ha_beside_put_body(t, c, &needs);
    if (which == HA_MADE_RECORD) ha_made_put_record(t, c->pairing.left);
    if (which == HA_MADE_OTHER_RECORD) ha_beside_put_type(t, c);
}

HA_IN_ ha_status ha_beside_launch(const ha_beside_call *c) {
    const ha_apply_call *a = &c->apply;
    const ha_kernel_use_ use = {a->records, NULL, NULL};
    const size_t rank = (size_t)c->x.rank, bytes = rank * sizeof(int64_t);
    ha_typed x = {.array = c->x.array, .offset = c->x.offset};
    const void *given[HA_MADE_PARAMETERS] = {&use, &x};
    ha_value_needs needs = {0, 0, 0};
    ha_text nowhere = ha_text_into(NULL, 0);
    ha_beside_put_body(&nowhere, c, &needs);
    ha_made_kernel *fresh = ha_made_new(ha_beside_name, c->x.rank, ha_beside_put, c);
    if (!fresh) return ha_fail(HA_ERR_MEMORY, ha_beside_name, "no memory for its kernel");
    fresh->parameter[0].updates = c->apply.operation != HA_ASSIGN;
    ha_kernel_parameter_ *p = ha_made_add(fresh, HA_KERNEL_IN_, "x",
                                          fresh->text[HA_MADE_OTHER_RECORD]);
    p->rank = c->x.rank;
    p->bytes = ha_dtype_size(c->x.type);
    ha_pairing_add_uses(fresh, &needs);
    const ha_made_kernel *made = ha_made_keep(fresh);
    memcpy(x.numbers, c->x.extent, bytes);
    memcpy(x.numbers + rank, c->x.stride, bytes);
    memcpy(x.numbers + 2 * rank, c->x.origin, bytes);
    return ha_kernel_launch_(&made->kernel, a->context, &a->box, given);
}

/* ---- by runs ------------------------------------------------------------------------------------- */

typedef struct ha_beside_work {
    ha_records_loop loop;
    const ha_beside_call *call;
    ha_records_access records;
    ha_access x;
    char *data; /* of x, at index 0, …; on a queue its address there */
    ha_operands operands;
} ha_beside_work;

/* Values of one field at n records, from an index on, along the last dimension. */
HA_IN_ void ha_beside_run(ha_beside_work *w, const ha_mapped *records, int64_t leaf,
                          const int64_t *index, int64_t n) {
    const darray *x = &w->call->x;
    const int last = x->rank - 1;
    const size_t size = ha_dtype_size(x->type);
    int64_t place = 0;
    for (int d = 0; d < x->rank; d++) place += index[d] * x->stride[d];
    w->operands.left_type = ha_mapped_type(records->mapping, leaf);
    w->operands.right_type = x->type;
    ha_fetch_run(records, leaf, index, last, n, w->operands.left_values);
    for (int64_t k = 0; k < n; k++)
        ha_copy_number(w->operands.right_values + k * (int64_t)size,
                       w->data + (place + k * x->stride[last]) * (int64_t)size, size);
    ha_operate(w->call->apply.operation, &w->operands, n);
    ha_keep_run(records, leaf, index, last, n, w->operands.left_values);
}

/* The next row of the box; 0: there are no more. */
HA_IN_ int ha_beside_next(const ha_region *box, int rank, int64_t *index) {
    for (int d = rank - 2; d >= 0; d--) {
        if (++index[d] < box->last[d]) return 1;
        index[d] = box->first[d];
    }
    return 0;
}

HA_IN_ void ha_beside_loops(ha_beside_work *w, void *const *blob) {
    const ha_beside_call *c = w->call;
    const ha_region *box = &c->apply.box;
    const ha_mapped records = {w->records.mapping, blob};
    const int rank = c->x.rank;
    int64_t index[HA_MAPPING_RANK];
    for (int d = 0; d < HA_MAPPING_RANK; d++) index[d] = box->first[d];
    do {
        for (int64_t i = box->first[rank - 1]; i < box->last[rank - 1]; i += HA_PORTION) {
            const int64_t n = ha_least(box->last[rank - 1] - i, HA_PORTION);
            index[rank - 1] = i;
            for (int64_t k = 0; k < c->pairing.pairs; k++)
                ha_beside_run(w, &records, c->pairing.pair[k].to_number, index, n);
        }
    } while (ha_beside_next(box, rank, index));
    w->loop.status = HA_OK;
}

/* On a queue, while its caller waits. */
HA_IN_ void ha_beside_queued(const ha_queue *queue, void *argument) {
    ha_beside_work *w = (ha_beside_work *)*(ha_records_loop **)argument;
    (void)ha_blobs_on_queue(queue, &w->records, w->loop.blob);
    w->data = (char *)ha_here_(queue, w->data);
    ha_beside_loops(w, w->loop.blob);
}

/* Values that are to be replaced are kept until they are: so nothing is lost when there is no memory. */
HA_IN_ ha_status ha_beside_here(const ha_beside_call *c, ha_context *context) {
    const ha_apply_call *a = &c->apply;
    ha_beside_work w;
    w.call = c;
    w.records.records = NULL;
    w.x.array = NULL;
    ha_request both[] = {{.opened = &w.records,
                          .records = a->records,
                          .context = context,
                          .what = a->what,
                          .box = &a->box,
                          .updates_ = a->operation != HA_ASSIGN},
                         {.access = &w.x,
                          .array = c->x.array,
                          .context = context,
                          .how = HA_READ,
                          .last = HA_END,
                          .view = &c->x}};
    ha_status s = ha_open_many_(both, 2, a->site);
    if (s) return s;
    w.data = ha_span_data(&w.x, &c->x);
    if (ha_is_host(context))
        ha_beside_loops(&w, w.records.blob);
    else
        s = ha_loop_on_queue(&w.loop, (size_t)w.records.mapping->blobs, ha_beside_queued,
                             &w.records, context, ha_beside_name, a->site);
    const ha_status closed = ha_close_many(both, 2);
    if (s || closed) return s ? s : closed;
    if (!w.loop.status) return HA_OK;
    return ha_fail(w.loop.status, ha_beside_name, "%s: records %s at %s: %s", a->site,
                   ha_records_label(a->records).text, context->name, w.loop.error.text);
}

/* ---- what is asked ------------------------------------------------------------------------------- */

/* The fields, each with the type of the elements on the right. */
HA_IN_ ha_status ha_beside_pair(ha_beside_call *c, const ha_mapping *m) {
    ha_pairing *p = &c->pairing;
    *p = (ha_pairing){.left = m->record, .right = m->record, .operation = c->apply.operation};
    if (ha_pairing_make(p, m->rows, m->rows, c->apply.how->paths)) return HA_ERR_MEMORY;
    for (int64_t k = 0; k < p->pairs; k++) p->pair[k].from.type = c->x.type;
    c->as_kernel = ha_pairing_has_text(p) && !ha_made_has_bits(m, c->apply.chosen) &&
                   ha_made_bytes(m) + (3 + 3 * HA_MAPPING_RANK) * sizeof(int64_t) <=
                       HA_ARGUMENT_BYTES;
    return HA_OK;
}

/* What is wrong with one value of its type is wrong with all. */
HA_IN_ ha_status ha_beside_look(ha_beside_call *c) {
    static const int64_t none[HA_MAPPING_RANK];
    static const char one[16] = {1, 1, 1, 1, 1, 1, 1, 1,
                                 1, 1, 1, 1, 1, 1, 1, 1}; /* of any type it is not 0 */
    const ha_applying nowhere = {.paths = c->apply.how->paths, .first = none, .last = none};
    void *const no_blob[1] = {NULL};
    ha_apply_call *a = &c->apply;
    ha_error error = {0};
    ha_placement *p;
    ha_array *array;
    ha_status s = ha_records_begin_at(a->records, ha_beside_name, &array);
    if (s) return s;
    s = ha_placement_get(array, a->context->memory, &p);
    if (!s) {
        const ha_mapped mapped = {p->mapping, no_blob};
        s = ha_mapped_apply_scalar(&mapped, a->operation, c->x.type, one, &nowhere, &error);
    }
    if (s)
        s = ha_fail(s, ha_beside_name, "%s: records %s: %s", a->site,
                    ha_records_label(a->records).text,
                    *error.text ? error.text : "there is no memory");
    else
        s = ha_access_spec_get(a->records, a->what, 0, ha_beside_name, a->site, &a->chosen);
    if (!s && (s = ha_beside_pair(c, p->mapping)))
        s = ha_fail(s, ha_beside_name, "%s: no memory", a->site);
    ha_records_leave(a->records);
    return s;
}

/* Are there as many elements as records in each dimension? */
HA_IN_ ha_status ha_beside_check(const ha_beside_call *c) {
    ha_records *r = c->apply.records;
    const ha_named_view x = {"x", &c->x};
    ha_status s = ha_named_view_check(x, ha_beside_name);
    if (s) return s;
    int is = c->x.rank == ha_records_rank(r);
    for (int d = 0; d < c->x.rank && is; d++) is = c->x.extent[d] == ha_records_extent(r, d);
    if (!is) {
        char array[200];
        ha_text t = ha_text_into(array, sizeof array);
        ha_argument_print(&x, &t);
        return ha_fail(HA_ERR_ARGUMENT, ha_beside_name,
                       "%s, and records %s: the extents are not the same", array,
                       ha_records_label(r).text);
    }
    return c->x.type != HA_DTYPE_NONE ? HA_OK
                                      : ha_named_view_fail(HA_ERR_ARGUMENT, ha_beside_name, x,
                                                           "its elements are no numbers");
}

/* The part of the array that meets records of the box, with their indices. */
HA_IN_ void ha_beside_cut(ha_beside_call *c) {
    for (int d = 0; d < c->x.rank; d++) {
        const ptrdiff_t first = c->apply.box.first[d];
        c->x.offset += first * c->x.stride[d];
        c->x.extent[d] = c->apply.box.last[d] - first;
        c->x.origin[d] = first;
    }
}

HA_IN_ ha_status ha_beside_choose(ha_beside_call *c) {
    ha_apply_call *a = &c->apply;
    ha_status s = ha_beside_check(c);
    if (!s) s = ha_beside_look(c);
    if (s) return s;
    ha_apply_clip_box(a);
    if (a->is_empty) return HA_OK;
    ha_beside_cut(c);
    const ha_kernel_way way = ha_way_of(a->context);
    if (way == HA_WAY_UNKNOWN)
        return ha_fail(HA_ERR_MEMORY, ha_beside_name, "%s: no memory", a->site);
    if (way == HA_WAY_COMPILED && c->as_kernel) return ha_beside_launch(c);
    return ha_beside_here(c, way == HA_WAY_FUNCTION ? a->context : ha_host());
}

ha_status ha_records_apply_array_(ha_records *records, ha_operator op, darray x,
                                  const ha_applying *how, ha_context *context, const char *site) {
    ha_beside_call c = {.x = x};
    HA_TELLS_EVENTS_;
    ha_status s = ha_records_enter(records, ha_beside_name, site);
    if (!s) s = ha_apply_begin(&c.apply, records, op, how, context, site, ha_beside_name);
    if (s) return s;
    HA_FROM(c.apply.site) {
        s = ha_op_check_word(&ha_op_apply_words, ha_beside_name, (int)op);
        if (!s) s = ha_beside_choose(&c);
    }
    HARRAY_FREE(c.pairing.pair);
    ha_apply_end(&c.apply);
    return s;
}

#endif
