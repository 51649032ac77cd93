/* The state of an array, as a list and as text. */
#ifndef HARRAY_IMPL_ARRAY_DESCRIBE_H
#define HARRAY_IMPL_ARRAY_DESCRIBE_H

#include "array.h"

HA_IN_ ha_residency ha_residency_of(const ha_array *a, const ha_incarnation *in) {
    ha_residency r = {.context = ha_memory_context(in->memory),
                      .bytes = in->block->bytes,
                      .capacity = in->capacity,
                      .is_callers = in->wrapped != 0};
    const ha_range *v = ha_set_ranges(&in->valid);
    for (uint32_t i = 0; i < in->valid.n; i++) r.valid += ha_elements(a->grid, v[i]);
    return r;
}

size_t ha_array_residency(const ha_array *a, ha_residency *list, size_t most) {
    size_t n = 0;
    if (!ha_may_look_(a)) return 0;
    ha_array *m = ha_lockable(a);
    ha_lock(m);
    for (const ha_incarnation *in = &m->first; in; in = in->next) {
        if (!in->block) continue;
        if (list && n < most) list[n] = ha_residency_of(m, in);
        n++;
    }
    ha_unlock(m);
    return n;
}

HA_IN_ void ha_print_incarnation(ha_text *t, const ha_array *a, const ha_incarnation *in) {
    const char *whose = !in->wrapped      ? ""
                        : ha_is_const(in) ? "the caller's, const, "
                                          : "the caller's, ";
    if (in->block->memory != in->memory) whose = "pinned, ";
    ha_print(t, "  %-10s %scapacity %zu, valid", ha_memory_context(in->memory)->name, whose,
             in->capacity);
    const ha_set *valid = &in->valid;
    const uint32_t first = ha_set_first(valid);
    for (uint32_t i = first; i < valid->n; i = ha_set_next(valid, i))
        ha_print(t, "%s %s", i != first && a->grid ? "," : "",
                 ha_part_label_of(a, ha_set_ranges(valid)[i]).text);
    ha_print(t, "%s\n", in->valid.n ? "" : " nothing");
}

size_t ha_describe(const ha_array *a, char *text, size_t bytes) {
    ha_text t = ha_text_into(text, bytes);
    if (!ha_may_look_(a)) {
        ha_print(&t, "no array\n");
        return t.length;
    }
    ha_array *m = ha_lockable(a);
    ha_lock(m);
    ha_print(&t, "%s%s%s[%zu], version %llu\n", m->name, *m->name ? ": " : "", m->type, m->size,
             (unsigned long long)__atomic_load_n(&m->version, __ATOMIC_RELAXED));
    for (const ha_incarnation *in = &m->first; in; in = in->next)
        if (in->block) ha_print_incarnation(&t, m, in);
    ha_unlock(m);
    return t.length;
}

#endif
