/* What a kernel's text for a device depends on. */
#ifndef HARRAY_IMPL_KERNELS_VARIANT_H
#define HARRAY_IMPL_KERNELS_VARIANT_H

#include "arguments.h"
#include "../records/all.h"

typedef struct ha_kernel_variant {
    const ha_kernel *kernel;
    int apart; /* no two arguments overlap, and last strides are 1 */
    /* Of its records, in the order of the parameters: their layouts there as texts, one behind the other with
     * their zeros; and, while its text is made, their mappings. */
    const char *layouts;
    const ha_mapping *mapping[HA_MOST_PARAMETERS_];
    int records;
} ha_kernel_variant;

HA_IN_ const char *ha_next_layout(const char *layouts) { return layouts + strlen(layouts) + 1; }

HA_IN_ int ha_is_laid_out(const char *layouts, const ha_kernel_variant *v) {
    const char *other = v->layouts;
    for (int i = 0; i < v->records; i++) {
        if (strcmp(layouts, other)) return 0;
        layouts = ha_next_layout(layouts);
        other = ha_next_layout(other);
    }
    return 1;
}

HA_IN_ size_t ha_layouts_bytes(const char *layouts, int records) {
    const char *end = layouts;
    if (!records) return 0;
    while (records-- > 0) end = ha_next_layout(end);
    return (size_t)(end - layouts);
}

/* The layouts of the mappings, to be freed; NULL: there is no memory. */
HA_IN_ char *ha_layouts_of(const ha_kernel_variant *v) {
    size_t bytes = 1;
    for (int i = 0; i < v->records; i++) bytes += strlen(v->mapping[i]->text) + 1;
    char *layouts = (char *)HARRAY_MALLOC(bytes), *to = layouts;
    if (!layouts) return NULL;
    *to = 0;
    for (int i = 0; i < v->records; i++) {
        const size_t n = strlen(v->mapping[i]->text) + 1;
        memcpy(to, v->mapping[i]->text, n);
        to += n;
    }
    return layouts;
}

/* Those that a kernel's records have when nobody says otherwise: of a view of one layout this one, else an array for each
 * field, which devices want. To be freed; NULL: there is no memory. */
HA_IN_ char *ha_layouts_usual(const ha_kernel *k) {
    enum { BYTES = 64 };
    char *layouts = (char *)HARRAY_MALLOC(BYTES * HA_MOST_PARAMETERS_), *to = layouts;
    if (!layouts) return NULL;
    *to = 0;
    for (int i = 0; i < k->parameters; i++) {
        const ha_records_type_ *type = k->parameter[i].records;
        if (!type) continue;
        if (!ha_own_layout(type, to, BYTES)) strcpy(to, "soa");
        to += strlen(to) + 1;
    }
    return layouts;
}

/* Mappings for a variant's layouts, by themselves: of record arrays with one record, as extents are arguments of what
 * is compiled. To be ended by ha_layouts_forget, also when there is none (0). */
HA_IN_ int ha_layouts_parse(ha_kernel_variant *v) {
    const ha_kernel *k = v->kernel;
    const int64_t one[HA_MAPPING_RANK] = {1, 1, 1, 1};
    const char *layout = v->layouts;
    ha_error error;
    v->records = 0;
    for (int i = 0; i < k->parameters; i++) {
        const ha_records_type_ *type = k->parameter[i].records;
        if (!type) continue;
        v->mapping[v->records] = ha_mapping_parse(type->record(), layout, type->rank, one, &error);
        if (!v->mapping[v->records]) return 0;
        v->records++;
        layout = ha_next_layout(layout);
    }
    return 1;
}

HA_IN_ void ha_layouts_forget(ha_kernel_variant *v) {
    while (v->records > 0) ha_mapping_free((ha_mapping *)(uintptr_t)v->mapping[--v->records]);
}

#endif
