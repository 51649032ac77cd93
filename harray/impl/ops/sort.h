/* Sorting: on the host, and on queues that run functions, all of it by one launch; on devices in blocks. */
#ifndef HARRAY_IMPL_OPS_SORT_H
#define HARRAY_IMPL_OPS_SORT_H

#include "sort_blocks.h"

/* ---- all of it, on the host ----------------------------------------------------------------------- */

/* of, besides: 2 if there is room. */
HA_IN_ int ha_sort_has_room(const ha_op_key *key) { return key->of[0] / 2; }

HA_IN_ void ha_sort_in_room(const ha_sort_job *j, char *room) {
    const ha_sort_layout layout = ha_sort_layout_of(j);
    (layout.longest ? ha_sort_by_buckets : ha_sort_in_caches)(j, &layout, room);
}

/* Its own function, so that only this one has that much on the stack. */
HA_NOINLINE_ HA_IN_ void ha_sort_on_stack(const ha_sort_job *j) {
    _Alignas(64) char room[HA_SORT_STACK];
    ha_sort_in_room(j, room);
}

/* Slots: [numbers or values], elements, [room], how many there are. */
HA_IN_ void ha_sort_here_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                               const ha_kernel_slot_ *slot) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    const ha_kernel_slot_ *q = ha_sort_what(key) == HA_SORT_ELEMENTS ? NULL : slot++, *x = slot++;
    char *room = ha_sort_has_room(key) ? (char *)(slot++)->pointer : NULL;
    const ha_sort_job j = {.what = ha_sort_what(key),
                           .is_real = ha_dtype_kind(key->type->type) == HA_KIND_REAL,
                           .bytes = ha_dtype_size(key->type->type),
                           .carried = q ? ha_sort_number_bytes(key) : 0,
                           .form = ha_sort_form_by(key),
                           .n = ha_sort_value(slot),
                           .x = x->pointer,
                           .q = q ? q->pointer : NULL,
                           .x_step = ha_sort_step(x),
                           .q_step = q ? ha_sort_step(q) : 1};
    (void)box, (void)apart;
    if (room)
        ha_sort_in_room(&j, room);
    else if (j.n > HA_SORT_FEW)
        ha_sort_on_stack(&j);
    else
        ha_sort_few(&j);
}

HA_IN_ void ha_sort_make_here(ha_op_kernel *k, const ha_op_key *key) {
    static const char *const words[] = {"elements", "numbers", "values"};
    const int what = ha_sort_what(key), is_numbered = what == HA_SORT_NUMBERS;
    const ha_dtype carried = ha_index_bits(ha_sort_number_bytes(key));
    ha_text t = ha_text_into(k->text, sizeof k->text);
    snprintf(k->name, sizeof k->name, "ha_sort_%s_%s_%s%s%s", words[what],
             ha_dtype_name(key->type->type), ha_dtype_name(carried), key->of[0] % 2 ? "_down" : "",
             ha_sort_has_room(key) ? "_long" : "");
    const ha_dtype bits = ha_sort_bits(ha_dtype_size(key->type->type));
    if (what != HA_SORT_ELEMENTS) /* values are x to ha_gather, too, which moves them at devices */
        ha_index_add_view(k, is_numbered ? HA_KERNEL_OUT_ : HA_KERNEL_INOUT_,
                          is_numbered ? "q" : "x", carried, 1)
            ->updates = !is_numbered;
    ha_index_add_view(k, is_numbered ? HA_KERNEL_IN_ : HA_KERNEL_INOUT_, "x", bits, 1)->updates =
        !is_numbered;
    if (ha_sort_has_room(key)) ha_index_add_array(k, HA_KERNEL_OUT_, "room", HA_DTYPE_uint64_t);
    ha_op_add_number(k, "all", HA_DTYPE_int64_t, "int64_t");
    k->op.kernel.rank = 1;
    k->op.kernel.loops = ha_sort_here_loops;
    ha_print(&t, "{ sorted on the host alone }");
}

/* Where kernels are loops, and these can count so many. */
HA_IN_ int ha_sort_is_here(ha_context *context, int64_t n) {
    return n <= (int64_t)UINT32_MAX && ha_way_of(ha_resolve(context)) != HA_WAY_COMPILED;
}

HA_IN_ ha_status ha_sort_here(const ha_sorting *s) {
    const ha_type type = {"uint64_t", sizeof(uint64_t)};
    const ha_sort_job j = {.what = s->what,
                           .bytes = s->x.array->element,
                           .carried = s->at ? s->at->array->element : 0,
                           .n = s->n,
                           .x_step = s->x.stride[0],
                           .q_step = s->at ? s->at->stride[0] : 1};
    const size_t needed = ha_sort_layout_of(&j).all;
    const int has_room = needed > HA_SORT_STACK;
    const int carried = s->at ? (int)j.carried : (int)sizeof(uint32_t);
    const ha_op_key key = {.type = ha_op_type_of(s->x.type),
                           .rank = 1,
                           .make = ha_sort_make_here,
                           .of = {s->descending + 2 * has_room, s->what + 16 * carried}};
    const ha_typed x = ha_sort_typed(&s->x), q = s->at ? ha_sort_typed(s->at) : x;
    const ha_region box = ha_box1(0, 1);
    ha_array *room = has_room ? ha_array_new(type, needed / type.size, s->context) : NULL;
    const void *given[4];
    int n = 0;
    if (has_room && !room) return ha_status_of_nothing();
    if (s->at) given[n++] = &q;
    given[n++] = &x;
    if (has_room) given[n++] = &room;
    given[n++] = &s->n;
    const ha_status status = ha_index_launch(&key, s->operation, s->context, &box, given);
    const ha_status freed = room ? ha_array_free(room) : HA_OK;
    return status ? status : freed;
}

/* x, and `at` if there is one, have been looked at. */
HA_IN_ ha_status ha_sort_run(ha_sorting *s) {
    s->n = s->x.extent[0];
    if (s->n == 0) return HA_OK;
    return ha_sort_is_here(s->context, s->n) ? ha_sort_here(s) : ha_sort_in_blocks(s);
}

/* ---- the calls ----------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_sort_check(ha_named_view x, ha_sort_order order, const char *operation) {
    ha_status s = ha_op_check_word(&ha_op_order_words, operation, (int)order);
    if (!s) s = ha_sort_check_type(x, operation);
    return s ? s : ha_index_check_row(x, operation);
}

/* Do numbers below n fit the type of `at`? */
HA_IN_ ha_status ha_sort_check_fits(ha_named_view at, int64_t n, const char *operation) {
    if (at.view->array->element == sizeof(uint64_t) ||
        n <= (at.view->type == HA_DTYPE_int32_t ? INT32_MAX : (int64_t)UINT32_MAX))
        return HA_OK;
    return ha_named_view_fail(HA_ERR_ARGUMENT, operation, at,
                              "the numbers of %lld elements do not fit its type", (long long)n);
}

ha_status ha_sort_(darray x, ha_sort_order order, ha_context *context, const char *site) {
    const ha_named_view named = {"x", &x};
    ha_sorting s = {
        .operation = "ha_sort", .context = context, .x = x, .descending = order == HA_DESCENDING};
    const int is_kept = ha_first_error.status != HA_OK;
    ha_status status = HA_OK;
    HA_FROM(site) {
        status = ha_sort_check(named, order, s.operation);
        if (!status) status = ha_op_check_written(named, s.operation);
        if (!status) status = ha_op_told(ha_sort_run(&s), is_kept, s.operation);
    }
    return status;
}

HA_IN_ ha_status ha_sorting_check(ha_named_view at, ha_named_view x, ha_sort_order order) {
    const int64_t n = x.view->extent[0];
    ha_status s = ha_sort_check(x, order, "ha_sorting");
    if (!s) s = ha_index_check_type(at, "ha_sorting");
    if (!s) s = ha_index_check_row(at, "ha_sorting");
    if (s) return s;
    if (at.view->extent[0] != n)
        return ha_pair_refuse(at, x, "the extents are not the same", "ha_sorting");
    s = ha_sort_check_fits(at, n, "ha_sorting");
    if (!s) s = ha_op_check_written(at, "ha_sorting");
    if (s || ha_view_is_empty(at.view)) return s;
    return ha_index_check_apart(at, x, "ha_sorting");
}

ha_status ha_sorting_(darray at, darray x, ha_sort_order order, ha_context *context,
                      const char *site) {
    ha_sorting s = {.operation = "ha_sorting",
                    .context = context,
                    .what = HA_SORT_NUMBERS,
                    .x = x,
                    .at = &at,
                    .descending = order == HA_DESCENDING};
    const int is_kept = ha_first_error.status != HA_OK;
    ha_status status = HA_OK;
    HA_FROM(site) {
        status = ha_sorting_check((ha_named_view){"at", &at}, (ha_named_view){"x", &x}, order);
        if (!status) status = ha_op_told(ha_sort_run(&s), is_kept, s.operation);
    }
    return status;
}

#endif
