/* The arguments of a kernel: its parameters in their order, and in place of a bundle its members. */
#ifndef HARRAY_IMPL_KERNELS_ARGUMENTS_H
#define HARRAY_IMPL_KERNELS_ARGUMENTS_H

#include "../control/all.h"
#include "../../kernel.h"

typedef struct ha_kernel_leaf {
    const ha_kernel_parameter_ *parameter, *bundle; /* of which it is a member; NULL: none */
} ha_kernel_leaf;

/* Where a launch that is refused was written: where the kernel was, if nobody says more (HA_FROM). What its compiler
 * says is told with the kernel's own line. */
HA_IN_ const char *ha_kernel_site(const ha_kernel *k) { return ha_from(k->site); }

HA_IN_ int ha_is_array(const ha_kernel_parameter_ *p) { return p->mode >= HA_KERNEL_CONSTANT_; }

/* What is not given. */
HA_IN_ int ha_is_said(const ha_kernel_parameter_ *p) {
    return p->mode == HA_KERNEL_USES_ || p->mode == HA_KERNEL_OPTION_;
}

HA_IN_ int ha_is_written(const ha_kernel_parameter_ *p) {
    return p->mode == HA_KERNEL_INOUT_ || p->mode == HA_KERNEL_OUT_ || p->mode == HA_KERNEL_RESULT_;
}

/* What it uses, as text: behind its site. */
HA_IN_ const char *ha_used_text(const ha_kernel_parameter_ *p) {
    return p->mode == HA_KERNEL_USES_ ? strchr(p->type, '\n') + 1 : p->type;
}

/* Writes the arguments to `leaf`, which has room for HA_MOST_ARGUMENTS_, and returns how many there are. */
HA_IN_ int ha_kernel_leaves(const ha_kernel *k, ha_kernel_leaf *leaf) {
    int n = 0;
    for (int i = 0; i < k->parameters; i++) {
        const ha_kernel_parameter_ *p = &k->parameter[i];
        if (p->mode != HA_KERNEL_BUNDLE_) leaf[n++] = (ha_kernel_leaf){p, NULL};
        for (int m = 0; p->mode == HA_KERNEL_BUNDLE_ && m < p->rank; m++)
            leaf[n++] = (ha_kernel_leaf){&p->member[m], p};
    }
    return n;
}

/* What an option is set to. */
HA_IN_ size_t ha_kernel_option(const ha_kernel *k, int option, size_t otherwise) {
    for (int i = 0; i < k->parameters; i++)
        if (k->parameter[i].mode == HA_KERNEL_OPTION_ && k->parameter[i].rank == option)
            return k->parameter[i].bytes;
    return otherwise;
}

/* For messages: "x", "grid.energy". */
typedef struct ha_leaf_name {
    char text[100];
} ha_leaf_name;
HA_IN_ ha_leaf_name ha_name_of_leaf(const ha_kernel_leaf *l) {
    ha_leaf_name name;
    snprintf(name.text, sizeof name.text, "%s%s%s", l->bundle ? l->bundle->name : "",
             l->bundle ? "." : "", l->parameter->name);
    return name;
}

#endif
