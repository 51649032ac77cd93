/* What a kernel's text for a device depends on. */
#ifndef HARRAY_IMPL_KERNELS_VARIANT_H
#define HARRAY_IMPL_KERNELS_VARIANT_H

#include "arguments.h"

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

#endif
