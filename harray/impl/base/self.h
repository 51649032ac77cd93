/* What is known of the thread that calls. */
#ifndef HARRAY_IMPL_BASE_SELF_H
#define HARRAY_IMPL_BASE_SELF_H

#include "../../context.h"

#include <string.h>

/* In a shared object, one load instead of a call; but then it cannot be dlopened reliably, as all
 * of its thread-local variables have to fit into a small reserve. In a program it makes no
 * difference. */
#ifdef HARRAY_STATIC_TLS
#define HA_TLS_MODEL_ __attribute__((tls_model("initial-exec")))
#else
#define HA_TLS_MODEL_
#endif

typedef struct ha_thread {
    uint64_t id;         /* never reused; 0: unknown, so that fast paths take the slow one */
    uint64_t held;       /* open accesses and tokens on any array, with those that others have taken
                            or ended since ha_held looked */
    ha_context *current; /* innermost HA_ON; NULL: none */
    const char *from;    /* outermost HA_FROM; NULL: none */
    const char
        *checked; /* where the HA_CHECK or HA_IGNORE is that a call is inside of; NULL: in none */
    int no_transfers;   /* HA_NO_TRANSFERS scopes around this call */
    int on_queue;       /* inside a function that runs on a queue */
    uint64_t changes;   /* access/turns.h: that it made itself */
    uint32_t taking;    /* memory/taking.h: calls of its own, one inside the other */
    int in_part;        /* inside the parts of a launch (ha_set_parallel) */
    int in_controller;  /* inside a function of ha_set_controller */
    int (*asked)(void); /* ha_ask_while_waiting_; NULL: nobody */
} ha_thread;

HA_STATE_ _Thread_local ha_thread ha_self HA_TLS_MODEL_;

/* Whether a site is the name of a function, which knows no line of its caller's. */
HA_IN_ int ha_site_is_name(const char *site) { return !site || !strchr(site, ':'); }

/* Where a call comes from, as errors and reports say it: `site`, the place of the call itself, unless
 * HA_FROM tells another one; where that is not known, the check around it. */
static inline const char *ha_from(const char *site) {
    if (__builtin_expect(ha_self.from != NULL, 0)) return ha_self.from;
    const char *checked = ha_self.checked; /* mostly as `site`, which is of the same line */
    return checked && checked != site && ha_site_is_name(site) ? checked : site;
}

/* HA_CALLED_FROM_(site): to the end of the block, errors and reports that know no line of the caller's give this one,
 * as inside a check; a name changes nothing. */
#define HA_CALLED_FROM_(site)                                                                      \
    HA_UNUSED const char *ha_outer_check_                                                          \
        __attribute__((__cleanup__(ha_called_end))) = ha_called_begin(site)
static inline const char *ha_called_begin(const char *site) {
    const char *outer = ha_self.checked;
    if (!ha_site_is_name(site)) ha_self.checked = site;
    return outer;
}
static inline void ha_called_end(const char **outer) { ha_self.checked = *outer; }

#endif
