/* Kinds of devices by name: those that are built in, and those that users have registered. */
#ifndef HARRAY_IMPL_DEVICE_KINDS_H
#define HARRAY_IMPL_DEVICE_KINDS_H

#include "context.h"
#include "../../../backends/list.h"

static const ha_backend *const ha_built_in[] = {
#define HA_BACKEND_LISTED_(backend) &backend,
    HA_BACKENDS(HA_BACKEND_LISTED_)
#undef HA_BACKEND_LISTED_
};
enum { HA_BUILT_IN = sizeof ha_built_in / sizeof *ha_built_in };

HA_IN_ int ha_is_kind_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

HA_IN_ int ha_is_kind(const char *text) {
    size_t n = 0;
    while (ha_is_kind_char(text[n])) n++;
    return n > 0 && n < 24 && !text[n];
}

/* NULL when unknown. */
HA_IN_ const ha_backend *ha_backend_find(const char *kind) HA_REQUIRES_(ha_registry.lock) {
    for (int i = 0; i < HA_BUILT_IN; i++)
        if (!strcmp(ha_built_in[i]->kind, kind)) return ha_built_in[i];
    for (ha_kind *k = ha_registry.kinds; k; k = k->next)
        if (!strcmp(k->backend->kind, kind)) return k->backend;
    return NULL;
}

/* "kind" or "kind:number". Returns 0 when the text is neither. */
HA_IN_ int ha_parse_context(const char *text, char kind[24], int *number) {
    size_t n = 0;
    while (n < 23 && ha_is_kind_char(text[n])) n++;
    memcpy(kind, text, n);
    kind[n] = 0;
    *number = 0;
    if (!n) return 0;
    if (!text[n]) return 1;
    if (text[n++] != ':' || !text[n]) return 0;
    for (; text[n] >= '0' && text[n] <= '9'; n++) {
        if (*number > 99999) return 0;
        *number = *number * 10 + (text[n] - '0');
    }
    return !text[n];
}

#endif
