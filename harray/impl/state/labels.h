/* What messages call an array, and a part of one. */
#ifndef HARRAY_IMPL_STATE_LABELS_H
#define HARRAY_IMPL_STATE_LABELS_H

#include "holders.h"

/* What the user calls an array; "": nothing. */
typedef struct ha_name {
    char text[sizeof(((ha_array *)0)->name)];
} ha_name;

HA_IN_ ha_name ha_name_of(ha_array *a) {
    ha_name name;
    ha_lock(a);
    memcpy(name.text, a->name, sizeof name.text);
    ha_unlock(a);
    return name;
}

/* "'u' (double[1000])" for messages. */
typedef struct ha_label {
    char text[120];
} ha_label;

HA_IN_ ha_label ha_label_of(ha_array *a) {
    ha_label l;
    const ha_name name = ha_name_of(a);
    const char *quote = *name.text ? "'" : "", *space = *name.text ? " " : "";
    const size_t size = __atomic_load_n(&a->size, __ATOMIC_RELAXED);
    int n = snprintf(l.text, sizeof l.text, "%s%s%s%s(%.32s[", quote, name.text, quote, space,
                     a->type);
    ha_text t = {l.text, sizeof l.text, (size_t)n};
    if (a->ops)
        a->ops->print_extents(a, &t);
    else if (!a->grid)
        ha_print(&t, "%zu", size);
    for (int d = 0; a->grid && !a->ops && d < a->grid->rank; d++)
        ha_print(&t, "%s%zu", d ? ", " : "", a->grid->extent[d]);
    ha_print(&t, "])");
    return l;
}

/* "array 'u' (double[1000])", or "records 'v' (body[1000])". */
HA_IN_ ha_label ha_subject_of(ha_array *a) {
    const ha_label label = ha_label_of(a);
    ha_label subject;
    ha_text t = ha_text_into(subject.text, sizeof subject.text);
    ha_print(&t, "%s %s", a->ops ? "records" : "array", label.text);
    return subject;
}

/* "[3, 7)", or "[3, 7) x [0, 2)" for messages. */
typedef struct ha_part_label {
    char text[112];
} ha_part_label;

HA_IN_ ha_part_label ha_part_label_of(const ha_array *a, ha_range r) {
    ha_part_label l = {""};
    ha_text t = {l.text, sizeof l.text, 0};
    ha_box box = {{r.first}, {r.last}};
    if (a->ops && a->grid && !ha_is_empty(r)) {
        a->ops->print_part(a, r, &t);
        return l;
    }
    if (a->grid && !ha_is_empty(r)) ha_box_of(a->grid, r, &box);
    for (int d = 0; d < (a->grid ? a->grid->rank : 1); d++)
        ha_print(&t, "%s[%zu, %zu)", d ? " x " : "", box.first[d], box.last[d]);
    return l;
}

#endif
