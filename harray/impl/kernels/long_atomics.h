/* Whether a team kernel has atomics of 64 bits, which some devices lack: by the elements of what their pointers are
 * made of, an argument or local memory. What points elsewhere is left to the device's compiler. */
#ifndef HARRAY_IMPL_KERNELS_LONG_ATOMICS_H
#define HARRAY_IMPL_KERNELS_LONG_ATOMICS_H

#include "team_check.h"

/* Bytes of an element of local memory that the body declares by this name; 0: none, or not known. */
HA_IN_ size_t ha_local_element(const ha_kernel *k, const ha_team_reader *name) {
    ha_team_reader r = ha_team_begin(k);
    for (ha_team_next(&r); r.length; ha_team_next(&r)) {
        if (!ha_team_is(&r, "HA_LOCAL")) continue;
        size_t bytes = 0; /* of the longest word of its type: unsigned long */
        ha_team_next(&r);
        for (ha_team_next(&r); r.length && !ha_team_is(&r, ","); ha_team_next(&r))
            bytes = HA_GREATER(bytes, ha_team_type_bytes(&r));
        ha_team_next(&r);
        if (r.length == name->length && !strncmp(r.token, name->token, r.length)) return bytes;
    }
    return 0;
}

/* Of an argument, or of local memory; 0: the name is of neither. */
HA_IN_ size_t ha_element_of_name(const ha_kernel *k, const ha_team_reader *name) {
    ha_kernel_leaf leaf[HA_MOST_ARGUMENTS_];
    const int leaves = ha_kernel_leaves(k, leaf);
    for (int i = 0; i < leaves; i++)
        if (ha_is_array(leaf[i].parameter) && ha_team_is(name, leaf[i].parameter->name))
            return leaf[i].parameter->bytes;
    return ha_local_element(k, name);
}

/* Of what an atomic's pointer points to, the token being its opening bracket: by the first name that is known. */
HA_IN_ size_t ha_atomic_element(ha_team_reader *r) {
    size_t bytes = 0;
    int depth = 0;
    do {
        if (ha_team_is(r, "(") || ha_team_is(r, "[")) depth++;
        if (ha_team_is(r, ")") || ha_team_is(r, "]")) depth--;
        if (ha_begins_name(*r->token)) bytes = ha_element_of_name(r->kernel, r);
        ha_team_next(r);
    } while (!bytes && r->length && depth > 0 && !(depth == 1 && ha_team_is(r, ",")));
    return bytes;
}

/* The first one, as text; NULL: there is none. */
HA_IN_ const char *ha_long_atomic(const ha_kernel *k, int *length) {
    ha_team_reader r = ha_team_begin(k);
    for (ha_team_next(&r); r.length; ha_team_next(&r)) {
        if (strncmp(r.token, "ha_local_", 9) != 0 && strncmp(r.token, "ha_global_", 10) != 0)
            continue;
        const char *word = r.token;
        *length = (int)r.length;
        ha_team_next(&r);
        if (ha_atomic_element(&r) == sizeof(int64_t)) return word;
    }
    return NULL;
}

/* name: of the context. */
HA_IN_ ha_status ha_long_atomics_check(const ha_kernel *k, const ha_backend *b, void *device,
                                       const char *name) {
    int length;
    const char *word;
    if (!k->team || !HA_HAS_(b, ha_backend, has_long_atomics) || b->has_long_atomics(device) ||
        !(word = ha_long_atomic(k, &length)))
        return HA_OK;
    return ha_fail(HA_ERR_UNSUPPORTED, k->name,
                   "%s: %s: %s has no atomics of 64 bits, as this %.*s is", k->site, k->name, name,
                   length, word);
}

#endif
