/* The state of an array as text. */
#ifndef HA_IMPL_DESCRIBE_H
#define HA_IMPL_DESCRIBE_H

#include "contents.h"

/* Text that is cut where the buffer ends, and counted beyond. */
typedef struct ha_text {
    char *at;
    size_t bytes, length;
} ha_text;

__attribute__((format(printf, 2, 3))) static void ha_print(ha_text *t, const char *format, ...) {
    va_list args;
    size_t left = t->length < t->bytes ? t->bytes - t->length : 0;
    va_start(args, format);
    int n = vsnprintf(left ? t->at + t->length : NULL, left, format, args);
    va_end(args);
    if (n > 0) t->length += (size_t)n;
}

static void ha_print_incarnation(ha_text *t, const ha_incarnation *in) {
    ha_print(t, "  %-10s capacity %zu, valid", ha_memory_context(in->memory)->name, in->capacity);
    const ha_range *v = ha_set_ranges(&in->valid);
    for (uint32_t i = 0; i < in->valid.n; i++) ha_print(t, " [%zu, %zu)", v[i].first, v[i].last);
    ha_print(t, "%s\n", in->valid.n ? "" : " nothing");
}

size_t ha_describe(const ha_array *a, char *text, size_t bytes) {
    ha_text t = {text, bytes, 0};
    if (bytes) text[0] = 0;
    if (!ha_may_look(a)) {
        ha_print(&t, "no array\n");
        return t.length;
    }
    ha_array *m = ha_lock_const(a);
    ha_print(&t, "%s%s%s[%zu], version %llu\n", m->name, *m->name ? ": " : "", m->type, m->size,
             (unsigned long long)m->version);
    for (const ha_incarnation *in = &m->first; in; in = in->next)
        if (in->block) ha_print_incarnation(&t, in);
    ha_unlock(m);
    return t.length;
}

#endif
