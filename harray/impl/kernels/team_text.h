/* The entry of a team kernel: a team is a group of work-items. Local memory is declared in an entry's outermost
 * block alone, so the body is the entry's: without the brace that it begins with. */
#ifndef HARRAY_IMPL_KERNELS_TEAM_TEXT_H
#define HARRAY_IMPL_KERNELS_TEAM_TEXT_H

#include "device_text.h"
#include "team_words.h"

/* All up to the body. */
HA_IN_ void ha_put_team_head(ha_kernel_writer *w) {
    const ha_kernel *k = w->kernel;
    ha_put_entry_head(w);
    ha_put_entry_variables(w);
    for (int d = 0; d < k->rank; d++) {
        ha_print(&w->to, "    const ptrdiff_t ");
        ha_put_index(w, d);
        ha_print(&w->to, " = ha_first%d_ + HA_TEAM_NUMBER_(%d);\n", d, k->rank - 1 - d);
    }
}

HA_IN_ void ha_put_team(ha_kernel_writer *w) {
    const ha_kernel *k = w->kernel;
    const char *brace = strchr(k->text, '{');
    ha_put_team_head(w);
    ha_put_user_text(w, k->site, brace ? brace + 1 : k->text);
}

#endif
