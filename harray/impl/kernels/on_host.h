/* The lanes as loops: here, or as a function on a queue that runs such. */
#ifndef HARRAY_IMPL_KERNELS_ON_HOST_H
#define HARRAY_IMPL_KERNELS_ON_HOST_H

#include "launching.h"
#include "parallel.h"
#include "view_text.h"

/* What is enqueued: this, and behind the arguments their spans and values. */
typedef struct ha_kernel_call {
    const ha_kernel *kernel;
    ha_region box;
    int apart;
    struct {
        void *data;
        int64_t size;
        size_t place; /* of the span or the value: bytes from the beginning of the call */
    } argument[];
} ha_kernel_call;

HA_IN_ void ha_kernel_queued(const ha_queue *q, void *message) {
    ha_kernel_call *call = (ha_kernel_call *)message;
    ha_kernel_slot_ slot[HA_MOST_ARGUMENTS_];
    ha_kernel_leaf leaf[HA_MOST_ARGUMENTS_];
    const int arguments = ha_kernel_leaves(call->kernel, leaf);
    for (int i = 0; i < arguments; i++) {
        const ha_kernel_parameter_ *p = leaf[i].parameter;
        char *place = (char *)call + call->argument[i].place;
        slot[i] = (ha_kernel_slot_){.size = call->argument[i].size};
        if (p->mode == HA_KERNEL_RECORDS_) p->records->here(q, place);
        if (!ha_is_array(p))
            slot[i].pointer = place;
        else if (!p->rank)
            slot[i].pointer = ha_here_(q, call->argument[i].data);
        else {
            const ha_kernel_span *s = (const ha_kernel_span *)(void *)place;
            slot[i].span = place;
            slot[i].pointer = ha_span_here_(q, call->argument[i].data, p->bytes, p->rank,
                                            s->numbers + 2 * p->rank, s->numbers + p->rank);
        }
    }
    call->kernel->loops(call->kernel, &call->box, call->apart, slot);
}

HA_IN_ size_t ha_span_bytes(int rank) {
    return offsetof(ha_kernel_span, numbers) + 3 * (size_t)rank * sizeof(int64_t);
}

/* So that any type can follow. */
HA_IN_ size_t ha_aligned_room(size_t bytes) {
    return (bytes + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t);
}

HA_IN_ size_t ha_kernel_room(const ha_kernel_parameter_ *p) {
    return ha_aligned_room(ha_is_said(p) ? 0 : ha_is_array(p) ? ha_span_bytes(p->rank) : p->bytes);
}

/* All bytes of the call are set: a strict device looks for addresses of the host in them. */
HA_IN_ ha_status ha_launch_queued(const ha_launching *l) {
    const ha_kernel *k = l->kernel;
    size_t at = ha_aligned_room(offsetof(ha_kernel_call, argument) +
                                (size_t)l->arguments *
                                    sizeof *((const ha_kernel_call *)NULL)->argument);
    size_t bytes = at;
    for (int i = 0; i < l->arguments; i++) bytes += ha_kernel_room(ha_parameter_of(l, i));
    _Alignas(max_align_t) char small[4096];
    ha_kernel_call *call = (ha_kernel_call *)(void *)small;
    if (bytes > sizeof small && !(call = (ha_kernel_call *)HARRAY_MALLOC(bytes)))
        return HA_ERR_MEMORY;
    memset(call, 0, bytes);
    call->kernel = k;
    call->box = l->box;
    call->apart = ha_launch_is_apart(l);
    for (int i = 0; i < l->arguments; i++) {
        const ha_kernel_argument_ *a = &l->argument[i];
        const ha_kernel_parameter_ *p = a->leaf.parameter;
        call->argument[i].data = ha_is_array(p) ? a->span.data : NULL;
        call->argument[i].size = ha_is_array(p) ? a->size : 0;
        call->argument[i].place = at;
        char *place = (char *)call + at;
        if (p->mode == HA_KERNEL_VALUE_) memcpy(place, a->given, p->bytes);
        if (p->mode == HA_KERNEL_RECORDS_) memcpy(place, a->used->given.view, p->bytes);
        if (ha_is_array(p) && p->rank) memcpy(place, &a->span, ha_span_bytes(p->rank));
        at += ha_kernel_room(p);
    }
    const ha_status s = ha_enqueue_quietly(l->context, ha_kernel_queued, call, bytes, k->name,
                                           k->site);
    if ((char *)call != small) HARRAY_FREE(call);
    return s;
}

/* The dimension whose indices lie farthest from each other: of records whose first index is the fastest, the last one. */
HA_IN_ int ha_outermost_of(const ha_kernel *k, const ha_records_access *each) {
    return k->each && ha_is_column_major(each->mapping) ? k->rank - 1 : 0;
}

HA_IN_ void ha_launch_here(ha_launching *l) {
    ha_kernel_slot_ slot[HA_MOST_ARGUMENTS_];
    for (int i = 0; i < l->arguments; i++) {
        ha_kernel_argument_ *a = &l->argument[i];
        const int is_array = ha_is_array(a->leaf.parameter);
        if (a->leaf.parameter->mode == HA_KERNEL_RECORDS_) a->given = a->used->given.view;
        slot[i].pointer = is_array ? a->span.data : HA_ADDRESS_(HA_NUMBER_(a->given));
        slot[i].span = is_array && a->leaf.parameter->rank ? &a->span : NULL;
        slot[i].size = is_array ? a->size : 0;
    }
    ha_work w = {l->kernel->name, ha_from(l->kernel->site), 0};
    ha_work_begin(&w, l->context);
    ha_run_loops(l->kernel, &l->box, ha_outermost_of(l->kernel, &l->used[0].opened),
                 ha_launch_is_apart(l), slot);
    ha_work_end(&w, l->context, HA_OK);
}

#endif
