/* Who keeps blocks of a memory from giving way: accesses that are open there, and tokens. */
#ifndef HARRAY_IMPL_STATE_KEEPERS_H
#define HARRAY_IMPL_STATE_KEEPERS_H

#include "labels.h"

enum { HA_KEEPERS_AT_ONCE = 64 }; /* arrays: meanwhile nobody else gets or frees anything there */

/* The largest ones so far; n: how many there are in all. */
typedef struct ha_keepers {
    ha_memory_holder *list;
    size_t most, n;
} ha_keepers;

HA_IN_ void ha_keepers_add(ha_keepers *k, const ha_memory_holder *x) {
    size_t at = k->n < k->most ? k->n : k->most;
    k->n++;
    while (at > 0 && k->list[at - 1].bytes < x->bytes) at--;
    if (at >= k->most) return;
    for (size_t i = (k->n < k->most ? k->n : k->most) - 1; i > at; i--) k->list[i] = k->list[i - 1];
    k->list[at] = *x;
}

HA_IN_ void ha_keepers_look(ha_keepers *k, ha_array *a, const ha_memory *m) {
    ha_memory_holder x = {.site = NULL};
    ha_lock(a);
    const ha_incarnation *in = ha_incarnation_find(a, m);
    for (uint32_t i = a->read_only; in && i < a->holders && in->block; i++) {
        const ha_holder *h = &a->holder[i];
        if (h->context->memory != m || ha_is_empty(h->range)) continue;
        if (!x.accesses++) x.site = h->site;
        x.tokens += (h->thread & HA_TOKEN_) != 0;
    }
    if (x.accesses) {
        memcpy(x.array, a->name, sizeof x.array);
        x.bytes = in->block->bytes;
    }
    ha_unlock(a);
    if (x.accesses) ha_keepers_add(k, &x);
}

/* Those among the arrays that were first touched in a memory. */
HA_IN_ void ha_keepers_among(ha_keepers *k, ha_memory *first, const ha_memory *m) {
    ha_walk w;
    int more = 1;
    ha_walk_begin(&first->pool, &w);
    while (more) {
        ha_spin_lock(&first->pool.lock);
        for (int i = 0; w.at && i < HA_KEEPERS_AT_ONCE; i++, w.at = w.at->next)
            ha_keepers_look(k, ha_array_of_alive(w.at), m);
        more = w.at != NULL;
        ha_spin_unlock(&first->pool.lock);
    }
    ha_walk_end(&first->pool, &w);
}

/* Those of a memory, the largest first: writes at most `most`, and returns how many there are. */
HA_IN_ size_t ha_keepers_of(const ha_memory *m, ha_memory_holder *list, size_t most) {
    ha_keepers k = {list, most, 0};
    for (ha_memory *first = NULL; (first = ha_next_memory(first));) ha_keepers_among(&k, first, m);
    return k.n;
}

/* Adds to what the backend has said of a memory that is full, how much of it may be used, and by whom it is. */
HA_IN_ void ha_note_full(ha_memory *m) {
    enum { MOST = 3 };
    ha_memory_holder list[MOST];
    char text[sizeof ha_backend_note.text];
    ha_text t = ha_text_into(text, sizeof text);
    ha_spin_lock(&m->pool.lock);
    const uint64_t budget = m->pool.budget, out = ha_pool_handed_out(&m->pool);
    ha_spin_unlock(&m->pool.lock);
    if (*ha_backend_note.text) ha_print(&t, "%s; ", ha_backend_note.text);
    if (budget)
        ha_print(&t, "budget %s, of which %s are taken; ", ha_human_bytes(budget).text,
                 ha_human_bytes(out).text);
    const ha_memory *tier = ha_memory_tier(m->primary ? m : &ha_host_memory);
    const int failed = tier ? __atomic_load_n(&tier->arrivals_failed, __ATOMIC_RELAXED) : 0;
    if (failed) {
        ha_backend_note.code = __atomic_load_n(&tier->arrivals_error, __ATOMIC_RELAXED);
        ha_print(&t, "writing to %s has failed %d times (error %lld); ", ha_memory_label(tier).text,
                 failed, (long long)ha_backend_note.code);
    }
    const size_t n = ha_keepers_of(m, list, MOST);
    for (size_t i = 0; i < n && i < MOST; i++) {
        const size_t length = strlen(list[i].site), tail = length > 48 ? length - 48 : 0;
        ha_print(&t, "%s%s %s by '%s' at %s%s", i ? ", " : "", ha_human_bytes(list[i].bytes).text,
                 list[i].tokens ? "exported" : "in use", list[i].array, tail ? "…" : "",
                 list[i].site + tail);
    }
    if (!n) ha_print(&t, "nothing there is in use");
    if (n > MOST) ha_print(&t, ", and %zu more", n - MOST);
    if (n || budget || failed) ha_backend_report(ha_backend_note.code, text);
}

#endif
