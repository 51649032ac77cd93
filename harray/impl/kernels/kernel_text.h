/* A kernel as text for a device's compiler: of lanes, of teams, or a reduction. */
#ifndef HARRAY_IMPL_KERNELS_KERNEL_TEXT_H
#define HARRAY_IMPL_KERNELS_KERNEL_TEXT_H

#include "reduction_text.h"

/* -1: a layout cannot be text. */
HA_IN_ int ha_put_kernel(ha_kernel_writer *w) {
    ha_put_prelude(&w->to, w->language, w->variant);
    if (w->kernel->team || w->kernel->reduction) ha_put_team_words(&w->to, w->language, w->kernel);
    ha_put_records(w);
    if (ha_put_views(&w->to, w->variant) < 0) return -1;
    ha_put_spans(w);
    ha_put_bundles(w);
    ha_put_uses(w);
    if (w->kernel->reduction) ha_print(&w->to, "%s\n", w->kernel->reduction->functions);
    if (w->kernel->file)
        ha_put_file(w);
    else if (w->kernel->team)
        ha_put_team(w);
    else
        ha_put_body(w, ha_body_gives(w->kernel));
    if (w->kernel->reduction)
        ha_put_reduction_entry(w);
    else if (!w->kernel->team)
        ha_put_entry(w);
    return 0;
}

enum { HA_MOST_TEXT = 1 << 20 }; /* what is longer is no kernel that somebody wrote */

/* The text, with the user's lines or without, to be freed by HARRAY_FREE; NULL: there is no memory, or, with *unfit,
 * a layout that cannot be folded into it, or it is too long. */
HA_IN_ char *ha_kernel_text(const ha_kernel_variant *v, ha_language language, int lines,
                            int *unfit) {
    ha_kernel_writer w = {.to = ha_text_into(NULL, 0),
                          .variant = v,
                          .kernel = v->kernel,
                          .language = language,
                          .lines = lines};
    w.arguments = ha_kernel_leaves(v->kernel, w.argument);
    *unfit = ha_put_kernel(&w) < 0 || w.to.length > HA_MOST_TEXT;
    if (*unfit) return NULL;
    const size_t bytes = w.to.length + 1;
    char *text = (char *)HARRAY_MALLOC(bytes);
    if (!text) return NULL;
    w.to = ha_text_into(text, bytes);
    (void)ha_put_kernel(&w);
    return text;
}

/* Why there is no text for a device. */
HA_IN_ ha_status ha_text_fail(const ha_kernel_variant *v, int unfit, const char *device) {
    const ha_kernel *k = v->kernel;
    if (!unfit)
        return ha_fail(HA_ERR_MEMORY, k->name, "%s: no memory to compile it", ha_kernel_site(k));
    if (!v->records)
        return ha_fail(HA_ERR_UNSUPPORTED, k->name,
                       "%s: a kernel cannot be compiled for %s: its text is longer than %d bytes",
                       ha_kernel_site(k), device, HA_MOST_TEXT);
    return ha_fail(HA_ERR_UNSUPPORTED, k->name,
                   "%s: a kernel cannot be compiled for the layout \"%.80s\" at %s",
                   ha_kernel_site(k), v->mapping[0]->text, device);
}

#endif
