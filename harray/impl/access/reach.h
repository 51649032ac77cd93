/* What a function on a strict device may touch: the accesses that are open in its memory when it is
 * enqueued, of whatever thread and queue (a token may end at another one), as pieces
 * (device/window.h). And what it may not carry in its argument: addresses of arrays on the host. */
#ifndef HARRAY_IMPL_ACCESS_REACH_H
#define HARRAY_IMPL_ACCESS_REACH_H

#include "grid.h"

typedef struct ha_touchable_list {
    ha_touchable *touchable;
    size_t n, capacity;
    ha_status status; /* HA_ERR_MEMORY: not all of them are there */
} ha_touchable_list;

HA_IN_ void ha_touchable_add(void *list, const ha_touchable *touchable) {
    ha_touchable_list *l = (ha_touchable_list *)list;
    if (l->n == l->capacity) {
        const size_t capacity = 2 * l->capacity + 8;
        ha_touchable *grown = (ha_touchable *)HARRAY_REALLOC(l->touchable,
                                                             capacity * sizeof *grown);
        if (!grown) {
            l->status = HA_ERR_MEMORY;
            return;
        }
        l->touchable = grown;
        l->capacity = capacity;
    }
    l->touchable[l->n++] = *touchable;
}

/* What an access of an array on a context covers; `block` describes the array's memory there. */
HA_IN_ void ha_touchable_add_access(ha_touchable_list *l, ha_array *a, const ha_incarnation *in,
                                    const ha_holder *h, const ha_touchable *block) {
    ha_touchable touchable = *block;
    ha_range r = h->range;
    const size_t end = ha_is_whole(r) && h->writes && !a->grid ? in->capacity : a->size;
    if (r.last > end) r.last = end;
    if (ha_is_empty(r)) return;
    touchable.kind = h->writes ? HA_TOUCH_WRITE : HA_TOUCH_READ;
    touchable.site = h->site;
    if (a->ops) {
        const ha_status s = a->ops->reach(a, in, r, &touchable, l, ha_touchable_add);
        if (s) l->status = s;
        return;
    }
    touchable.pieces = ha_box_copy(a->grid, r, a->element, NULL, in->data + r.first * a->element);
    for (int k = 0; k < touchable.pieces.levels; k++) touchable.pieces.to_step[k] = 0;
    ha_touchable_add(l, &touchable);
}

/* A copy of the holders, to be freed; *n of them. */
HA_IN_ ha_holder *ha_holders_of(ha_array *a, uint32_t *n) {
    for (ha_holder *copy = NULL;;) {
        ha_lock(a);
        const uint32_t room = copy ? *n : 0;
        *n = a->holders;
        if (*n <= room && copy) memcpy(copy, a->holder, *n * sizeof *copy);
        ha_unlock(a);
        if (copy && *n <= room) return copy;
        HARRAY_FREE(copy);
        *n += 4;
        if (!(copy = (ha_holder *)HARRAY_MALLOC(*n * sizeof *copy))) return NULL;
    }
}

HA_IN_ void ha_touchable_add_array(ha_touchable_list *l, ha_array *a, const ha_context *c) {
    uint32_t holders = 0;
    ha_lock(a);
    const ha_incarnation *found = ha_incarnation_find(a, c->memory);
    ha_incarnation in = {0};
    size_t bytes = 0;
    if (found && found->block) {
        in = *found;
        bytes = found->block->bytes;
    }
    ha_unlock(a);
    if (!in.block) return;
    ha_touchable block = {.block = (uintptr_t)in.data,
                          .bytes = a->ops ? bytes : in.capacity * a->element,
                          .element = a->element,
                          .poison = ha_poison_of(a->type, a->element)};
    snprintf(block.label, sizeof block.label, "%s",
             a->ops ? ha_subject_of(a).text : ha_label_of(a).text);
    ha_touchable_add(l, &block);
    ha_holder *h = ha_holders_of(a, &holders);
    if (!h) l->status = HA_ERR_MEMORY;
    for (uint32_t i = 0; h && i < holders && !l->status; i++)
        if (h[i].context->memory == c->memory) ha_touchable_add_access(l, a, &in, &h[i], &block);
    HARRAY_FREE(h);
}

/* Blocks without an array may be used at any time. */
HA_IN_ void ha_touchable_add_block(void *list, const ha_block *b) {
    ha_touchable touchable = {.kind = HA_TOUCH_WRITE,
                              .pieces = {.from = b->data, .bytes = b->bytes},
                              .block = (uintptr_t)b->data,
                              .bytes = b->bytes,
                              .poison = ha_poison_of("", 8),
                              .site = "ha_memory_allocate",
                              .label = "memory without an array"};
    ha_touchable_add(list, &touchable);
}

/* *l: to be freed in any case. */
HA_IN_ ha_status ha_touchable_list_make(ha_touchable_list *l, const ha_context *c) {
    pthread_mutex_lock(&ha_strict_arrays.lock);
    for (ha_array *a = ha_strict_arrays.first; a && !l->status; a = a->strict_next)
        ha_touchable_add_array(l, a, c);
    pthread_mutex_unlock(&ha_strict_arrays.lock);
    ha_loose_each(c, ha_touchable_add_block, l);
    return l->status;
}

/* ---- what functions must not be given -------------------------------------------------------- */

/* Whether an address is in an array's memory on the host, as the engine or as users see it. */
HA_IN_ int ha_is_in_host_block(ha_array *a, uintptr_t address, size_t *at) {
    uintptr_t shift = 0;
    ha_lock(a);
    const ha_incarnation *in = ha_incarnation_find(a, &ha_host_memory);
    const ha_block *b = in ? in->block : NULL;
    const uintptr_t data = b ? (uintptr_t)b->data : 0, bytes = b ? b->bytes : 0;
    HA_DEBUG_(if (b && b->known) shift = b->known->shift;)
    ha_unlock(a);
    *at = address - data < bytes ? address - data : address - data - shift;
    return *at < bytes;
}

/* HA_ERR_ARGUMENT: the argument has the address of an array on the host, which the device does not
 * reach; the reason is noted. */
HA_IN_ ha_status ha_touchable_refuse(const ha_context *c, const void *argument, size_t bytes) {
    const char *words = (const char *)argument;
    char text[160] = "";
    size_t at;
    if (c->strict < 2 || c->memory == &ha_host_memory) return HA_OK;
    pthread_mutex_lock(&ha_strict_arrays.lock);
    for (ha_array *a = ha_strict_arrays.first; a && !*text; a = a->strict_next)
        for (size_t i = 0; i + sizeof(uintptr_t) <= bytes && !*text; i += sizeof(uintptr_t)) {
            uintptr_t word;
            memcpy(&word, words + i, sizeof word);
            if (ha_is_in_host_block(a, word, &at))
                snprintf(text, sizeof text,
                         "it holds the address of %.80s on the host, which a device does not reach",
                         ha_subject_of(a).text);
        }
    pthread_mutex_unlock(&ha_strict_arrays.lock);
    if (!*text) return HA_OK;
    ha_backend_report(0, text);
    return HA_ERR_ARGUMENT;
}

#endif
