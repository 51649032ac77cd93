/* A kernel as text for a device's compiler: of lanes, of teams, or a reduction. */
#ifndef HARRAY_IMPL_KERNELS_KERNEL_TEXT_H
#define HARRAY_IMPL_KERNELS_KERNEL_TEXT_H

#include "device_text.h"
#include "reduction_text.h"
#include "team_text.h"

HA_IN_ void ha_put_kernel(ha_kernel_writer *w) {
    const ha_kernel *k = w->kernel;
    ha_put_prelude(&w->to, w->language, k);
    if (k->team || k->reduction) ha_put_team_words(&w->to, w->language, k);
    ha_put_spans(w);
    ha_put_uses(w);
    if (k->team)
        ha_put_team(w);
    else if (k->reduction)
        ha_put_reduction(w);
    else {
        ha_put_body(w, "void");
        ha_put_entry(w);
    }
}

/* The text, to be freed by HARRAY_FREE; NULL: there is no memory. */
HA_IN_ char *ha_kernel_text(const ha_kernel *k, ha_language language, int apart) {
    ha_kernel_writer w = {ha_text_into(NULL, 0), k, language, apart};
    ha_put_kernel(&w);
    const size_t bytes = w.to.length + 1;
    char *text = (char *)HARRAY_MALLOC(bytes);
    if (!text) return NULL;
    w.to = ha_text_into(text, bytes);
    ha_put_kernel(&w);
    return text;
}

#endif
