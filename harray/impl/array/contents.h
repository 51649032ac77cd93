/* Contents: filling, copying, single elements, prefetching. All of it is openings: begin, enqueue
 * one thing, commit, close. What can fail comes before the commit, so nothing is ever half done. */
#ifndef HARRAY_IMPL_ARRAY_CONTENTS_H
#define HARRAY_IMPL_ARRAY_CONTENTS_H

#include "array.h"

/* Where the opening's elements will be. */
HA_IN_ char *ha_opening_data(const ha_opening *o) {
    const ha_array *a = o->array;
    char *data = o->replacement ? (char *)o->replacement->data + a->lead : o->in->data;
    return data + o->at * a->element;
}

/* Commits or aborts, and closes. What was enqueued counts as the access's own work. */
HA_IN_ ha_status ha_opening_end(ha_opening *o, ha_status s) {
    ha_access x;
    if (s) {
        ha_opening_abort(o);
        return ha_opening_fail(o, s);
    }
    ha_opening_commit(o, &x);
    return ha_close_(&x);
}

/* ---- values from the host ------------------------------------------------------------------ */

/* Through a block on the host, which is given back when the copy has happened: no waiting. */
HA_IN_ ha_status ha_upload(ha_opening *o, const void *value, size_t bytes, size_t count) {
    ha_block *block;
    ha_ops ops = {0};
    ha_context *c = o->context;
    if (!ha_queue_reaches_host(c)) return HA_ERR_UNSUPPORTED;
    ha_status s = ha_host_block_get(c->home->pinned, bytes * count, &block);
    if (s) return s;
    ha_repeat((char *)block->data, value, bytes, count);
    s = ha_or_backend(c, c->ops->copy(c->queue, ha_opening_data(o), block->data, bytes * count));
    if (!s) ha_note_operation(&ops, c, HA_WHOLE_, 0, o->site);
    ha_block_retire(block, &ops);
    return s;
}

/* By the queue. HA_ERR_UNSUPPORTED: it cannot fill, or not with such a value. */
HA_IN_ ha_status ha_queue_fill(ha_context *c, void *to, const void *value, size_t bytes,
                               size_t count) {
    static const char zero = 0;
    if (!HA_HAS_(c->ops, ha_queue_ops, fill)) return HA_ERR_UNSUPPORTED;
    if (!value) return c->ops->fill(c->queue, to, &zero, 1, count * bytes);
    return c->ops->fill(c->queue, to, value, bytes, count);
}

/* Fills what the opening covers with `count` times the value. */
HA_IN_ ha_status ha_opening_fill(ha_opening *o, const void *value, size_t bytes, size_t count) {
    ha_context *c = o->context;
    HA_UNCANCELLED_;
    o->trouble = "filling it failed";
    if (!count) return HA_OK;
    if (ha_is_host(c)) {
        ha_repeat(ha_opening_data(o), value, bytes, count);
        return HA_OK;
    }
    ha_status s = ha_or_backend(c, ha_queue_fill(c, ha_opening_data(o), value, bytes, count));
    if (s != HA_ERR_UNSUPPORTED) return s;
    ha_forget_note();
    return ha_upload(o, value, bytes, count);
}

/* A new array with `count` times a value of `bytes` bytes as its contents. */
HA_IN_ ha_array *ha_array_with(ha_type type, size_t n, ha_context *c, const void *value,
                               size_t bytes, size_t count, const char *operation) {
    HA_TELLS_EVENTS_;
    HA_TAKES_MEMORY_;
    ha_array *a = ha_array_new_behind(type, n, 0, c, 0);
    if (!a) return NULL;
    ha_opening o = {.array = a,
                    .context = ha_resolve(c),
                    .operation = operation,
                    .site = ha_from("new array"),
                    .mode = HA_OVERWRITE,
                    .range = {0, HA_END}};
    ha_status s = ha_opening_begin(&o, 0);
    if (!s) s = ha_opening_end(&o, ha_opening_fill(&o, value, bytes, count));
    if (!s) return a;
    ha_array_destroy(a);
    return NULL;
}

ha_array *ha_array_zeros(ha_type type, size_t n, ha_context *c) {
    return ha_array_with(type, n, c, NULL, type.size, n, "ha_array_zeros");
}

ha_array *ha_array_filled(ha_type type, size_t n, const void *value, ha_context *c) {
    if (value) return ha_array_with(type, n, c, value, type.size, n, "ha_array_filled");
    ha_fail(HA_ERR_ARGUMENT, "ha_array_filled", "no value");
    return NULL;
}

ha_array *ha_array_of(ha_type type, size_t n, const void *values, ha_context *c) {
    size_t bytes = 0;
    if (!values && n) {
        ha_fail(HA_ERR_ARGUMENT, "ha_array_of", "no values for %zu elements", n);
        return NULL;
    }
    if (__builtin_mul_overflow(n, type.size, &bytes)) {
        ha_fail(HA_ERR_MEMORY, "ha_array_of", "%zu elements of %zu bytes overflow", n, type.size);
        return NULL;
    }
    return ha_array_with(type, n, c, values, bytes, n > 0, "ha_array_of");
}

/* ---- copies -------------------------------------------------------------------------------- */

/* The valid ranges of an incarnation of a, in the same memory of b, which nobody knows yet. */
HA_IN_ ha_status ha_copy_incarnation(ha_array *a, ha_incarnation *in, ha_array *b,
                                     ha_attempt *attempt) {
    ha_incarnation *copy = ha_incarnation_add(b, in->memory);
    ha_block *block;
    ha_ops ops = {0};
    if (!copy || ha_set_reserve(b, &copy->valid, in->valid.n)) return HA_ERR_MEMORY;
    ha_context *queue = ha_memory_queue(in->memory);
    ha_status s = ha_block_with_values(a, in, a->size, queue, &block, &ops, attempt);
    if (s) return s;
    (void)ha_block_exchange(b, copy, block, a->size, &ops);
    for (uint32_t i = 0; i < in->valid.n; i++)
        ha_set_add(&copy->valid, ha_set_ranges(&in->valid)[i]);
    return HA_OK;
}

/* What of b is a copy of an incarnation, if all of that. Else b has nothing there when this ends: values may have come to
 * the incarnation while the host waited, from another one that gave way. */
HA_IN_ int ha_is_copied(const ha_incarnation *in, ha_array *b) {
    ha_incarnation *copy = ha_incarnation_find(b, in->memory);
    uint32_t i = 0;
    if (!copy || !copy->valid.n) return 0;
    while (i < in->valid.n && ha_set_contains(&copy->valid, ha_set_ranges(&in->valid)[i])) i++;
    if (i == in->valid.n) return 1;
    copy->valid.n = 0;
    ha_incarnation_drop(b, copy);
    return 0;
}

/* One try. A lost element cannot be read, so it cannot be copied either. */
HA_IN_ ha_status ha_copy_try(ha_array *a, ha_array *b, ha_attempt *attempt) {
    ha_status s = ha_settle(a);
    if (!s && a->lost.n) s = HA_ERR_LOST;
    for (ha_incarnation *in = &a->first; in && !s; in = in->next)
        if (in->valid.n && !ha_is_copied(in, b)) s = ha_copy_incarnation(a, in, b, attempt);
    return s;
}

/* A is held for reading, and busy. */
HA_IN_ ha_status ha_copy_contents(ha_array *a, ha_array *b, const char *operation) {
    ha_status s;
    ha_attempt attempt = {.site = ha_from(operation)};
    if (a->grid && ha_grid_give(b, a->grid)) return HA_ERR_MEMORY;
    b->uneven = a->uneven;
    b->lead = a->lead;
    ha_lock(b); /* a report may look at it: it may be watched */
    ha_set_size(b, a->size);
    ha_unlock(b);
    while ((s = ha_copy_try(a, b, &attempt)) == HA_RETRY_) {
        ha_busy_end(a);
        s = ha_attempt_pass(&attempt);
        (void)ha_busy_begin(a, 0, NULL);
        if (s) break;
    }
    return s;
}

/* Holds a for reading, so that nobody writes it meanwhile. */
HA_IN_ ha_status ha_array_duplicate(ha_array *a, const char *operation, ha_array **out) {
    ha_lock_request request = {
        .context = ha_host(), .range = HA_WHOLE_, .site = ha_from(operation)};
    uint64_t ticket;
    HA_UNCANCELLED_;
    ha_status s = ha_enter(operation);
    if (s) return s;
    if (ha_was_freed(a, operation)) return HA_ERR_STATE;
    ha_array *b = ha_array_make((ha_type){a->type, a->element}, a->first_touch);
    if (!b)
        return ha_fail(HA_ERR_MEMORY, operation, "array %s: no memory for one more array",
                       ha_label_of(a).text);
    if ((s = ha_admit(a, &request, 0, operation, &ticket))) {
        ha_array_destroy(b);
        return s;
    }
    HA_TAKES_MEMORY_;
    s = ha_copy_contents(a, b, operation);
    ha_admit_end(a, ticket);
    *out = b;
    if (!s) {
        /* The first block that is listed makes it known to whoever looks for room. */
        (void)ha_busy_begin(b, 0, NULL);
        ha_residents_enter(b);
        ha_busy_end(b);
        return HA_OK;
    }
    ha_array_destroy(b);
    return ha_fail(s, operation, "array %s could not be copied%s%s", ha_label_of(a).text,
                   s == HA_ERR_LOST ? ", elements were lost: " : "",
                   s == HA_ERR_LOST ? ha_lost_label_of(a).text : "");
}

ha_array *ha_array_copy(ha_array *a) {
    HA_TELLS_EVENTS_;
    ha_array *copy = NULL;
    if (!a)
        ha_fail(HA_ERR_ARGUMENT, "ha_array_copy", "ha_array_copy: no array");
    else if (ha_array_duplicate(a, "ha_array_copy", &copy))
        return NULL;
    return copy;
}

/* Inside the memory of a context. */
HA_IN_ ha_status ha_copy_there(ha_context *c, void *to, const void *from, size_t bytes) {
    if (c->ops) return ha_or_backend(c, c->ops->copy(c->queue, to, from, bytes));
    memcpy(to, from, bytes);
    return HA_OK;
}

/* Into the memory that `to` has at c, if it suffices. */
HA_IN_ ha_status ha_assign_into(ha_array *to, ha_array *from, ha_context *c,
                                const char *operation) {
    ha_access x;
    ha_status s = ha_open_(&x, from, c, HA_READ, 0, HA_END, operation);
    if (s) return s;
    if (to == from) return ha_close_(&x);
    ha_opening o = {.array = to,
                    .context = c,
                    .operation = operation,
                    .site = ha_from(operation),
                    .mode = HA_OVERWRITE,
                    .range = {0, HA_END},
                    .sets_size = 1,
                    .size = x.size,
                    .alone = 1};
    ha_tell_later();
    s = ha_opening_begin(&o, 0);
    if (!s) {
        o.trouble = "copying it failed";
        if (x.size) s = ha_copy_there(c, ha_opening_data(&o), x.data, x.size * to->element);
        s = ha_opening_end(&o, s);
    }
    HA_IGNORE_(ha_close_(&x));
    ha_tell_now();
    return s;
}

ha_status ha_array_assign(ha_array *to, ha_array *from) {
    HA_TELLS_EVENTS_;
    if (to && to == from) return HA_OK;
    ha_status s = ha_check_two(to, from, "ha_array_assign");
    ha_array *copy;
    if (s) return s;
    if (to->wrapped) return ha_assign_into(to, from, to->first_touch, "ha_array_assign");
    if ((s = ha_array_duplicate(from, "ha_array_assign", &copy))) return s;
    s = ha_array_take(to, copy);
    ha_array_destroy(copy);
    return s;
}

ha_status ha_array_assign_at(ha_array *to, ha_array *from, ha_context *c) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_check_two(to, from, "ha_array_assign_at");
    return s ? s : ha_assign_into(to, from, ha_resolve(c), "ha_array_assign_at");
}

/* ---- single elements ----------------------------------------------------------------------- */

/* The context where element i is used best: the host when it is valid there, else a device where it
 * is, else where the array was first touched. */
HA_IN_ ha_context *ha_element_context(ha_array *a, size_t i) {
    ha_context *c = NULL;
    ha_lock(a);
    for (ha_incarnation *in = &a->first; in; in = in->next) {
        if (!ha_set_contains(&in->valid, (ha_range){i, i + 1})) continue;
        ha_context *here = ha_memory_queue(in->memory);
        if (ha_has_failed(here)) continue;
        if (!c || ha_is_host(here)) c = here;
    }
    ha_unlock(a);
    return c ? c : a->first_touch;
}

HA_IN_ ha_status ha_element_check(ha_array *a, size_t i, const void *value, const char *operation) {
    ha_status s = ha_enter(operation);
    if (s) return s;
    if (!a || !value)
        return ha_fail(HA_ERR_ARGUMENT, operation, "no %s", a ? "place for the value" : "array");
    if (ha_was_freed(a, operation)) return HA_ERR_STATE;
    size_t n = ha_array_size(a);
    if (i < n) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, operation, "array %s: no element %zu in %zu",
                   ha_label_of(a).text, i, n);
}

/* Copies bytes from a device's memory, and waits for them; nothing touches those at `to` afterwards.
 * HA_ERR_LOST: the queue failed. */
HA_IN_ ha_status ha_download(ha_context *c, void *to, const void *from, size_t bytes,
                             const char *site) {
    HA_UNCANCELLED_;
    if (!ha_queue_reaches_host(c)) return HA_ERR_UNSUPPORTED;
    ha_status s = ha_queue_status(c, c->ops->copy(c->queue, to, from, bytes));
    if (s) return s;
    ha_timepoint p = {c, ha_sequence_of(c)};
    s = ha_wait_at(p, site);
    if (s) ha_drain(p);
    return s;
}

/* Reads the element of an open access. */
HA_IN_ ha_status ha_element_read(const ha_access *x, void *value) {
    if (x->context->ops && ha_self.no_transfers) return HA_ERR_TRANSFER;
    if (x->context->ops)
        return ha_download(x->context, value, x->data, x->array->element, ha_from("ha_array_get"));
    memcpy(value, x->data, x->array->element);
    return HA_OK;
}

ha_status ha_array_get(ha_array *a, size_t i, void *value) {
    HA_TELLS_EVENTS_;
    static const char *const operation = "ha_array_get";
    ha_access x;
    ha_context *c;
    ha_status s = ha_element_check(a, i, value, operation);
    if (s) return s;
    do { /* a queue that fails is not chosen again */
        s = ha_open_(&x, a, ha_element_context(a, i), HA_READ, i, i + 1, operation);
        if (s) return s;
        c = x.context;
        s = ha_element_read(&x, value);
        HA_IGNORE_(ha_close_(&x));
    } while (s == HA_ERR_LOST);
    const ha_write_error error = ha_write_error_take(a, (ha_range){i, i + 1});
    if (!s && error.what) return ha_write_error_fail(a, &error, operation, operation);
    if (!s) return HA_OK;
    return ha_fail(s, operation, "array %s: reading element %zu at %s failed%s",
                   ha_label_of(a).text, i, c->name,
                   s == HA_ERR_TRANSFER ? ": it is inside HA_NO_TRANSFERS" : "");
}

ha_status ha_array_set(ha_array *a, size_t i, const void *value) {
    HA_TELLS_EVENTS_;
    ha_status s = ha_element_check(a, i, value, "ha_array_set");
    if (s) return s;
    ha_opening o = {.array = a,
                    .context = ha_element_context(a, i),
                    .operation = "ha_array_set",
                    .site = ha_from("ha_array_set"),
                    .mode = HA_OVERWRITE,
                    .range = {i, i + 1}};
    if ((s = ha_opening_begin(&o, 0))) return s;
    if (o.context->memory != &ha_host_memory && ha_self.no_transfers) {
        o.never = o.need;
        o.source = "host";
        return ha_opening_end(&o, HA_ERR_TRANSFER);
    }
    return ha_opening_end(&o, ha_opening_fill(&o, value, a->element, 1));
}

/* ---- prefetching --------------------------------------------------------------------------- */

ha_status ha_array_prefetch_(ha_array *a, ha_context *c, size_t first, size_t last,
                             const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    ha_opening o = {.array = a,
                    .context = ha_resolve(c),
                    .operation = "ha_array_prefetch",
                    .site = site,
                    .mode = HA_READ,
                    .range = {first, last}};
    ha_status s = ha_open_refuse(a, HA_READ, o.operation, site);
    if (s) return s;
    return ha_opening_prefetch(&o);
}

#endif
