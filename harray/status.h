/* Errors: a status from every call that can fail, and the story behind it in ha_take_error().
 *
 *     if (harray_double_resize(x, n) != HA_OK) puts(ha_take_error().text);
 *
 * A call that fails changes nothing. Many calls can be made in a row and checked once at the end:
 * the first error since the last ha_take_error() is the one that is kept, per thread. Look earlier
 * where the next step uses a size or a pointer that a failed call was to provide. */
#ifndef HARRAY_STATUS_H
#define HARRAY_STATUS_H

#include "../layout/status.h"

#ifdef HARRAY_PREFIX
#include "detail/rename.h"
#endif

/* The first error of this thread since the last take; clears it. Never fails. */
HA_API ha_error ha_take_error(void);

/* "HA_ERR_MEMORY" and the like; "unknown status" for a number that is none. */
HA_API const char *ha_status_name(ha_status status);

/* Calls `handler` for every error of every thread, on the thread that failed, before the failing
 * call returns and with no lock held: it may call harray. NULL removes it. Set it before other
 * threads use the library. */
typedef void (*ha_error_handler)(const ha_error *error, void *user);
HA_API void ha_set_error_handler(ha_error_handler handler, void *user);

/* Whether every error is printed to stderr when it happens, and waits for other threads that last longer
 * than a second. Until this is called, HARRAY_VERBOSE=1 in the environment says so. Any thread, at any
 * time; a wait that has begun already may be told or not. Never fails. */
HA_API void ha_set_verbose(int on);

/* For examples, and for those who want it: prints the error and aborts. Functions that are no macros
 * (harray_T_resize, darray_free, …), and know no line of their caller's, give that of the HA_CHECK around
 * them in errors and reports, or of the HA_IGNORE. */
#define HA_CHECK(expr) (ha_called_at_(HA_SITE), ha_check_(expr, HA_SITE, #expr))
HA_API void ha_called_at_(const char *site); /* NULL: it is not known */
HA_API void ha_check_failed_(ha_status status, const char *site, const char *expr)
    __attribute__((__noreturn__));
static inline HA_UNUSED void ha_check_(ha_status status, const char *site, const char *expr) {
    ha_called_at_(HA_NULL_);
    if (status != HA_OK) ha_check_failed_(status, site, expr);
}

/* HA_FROM(site) { … }: in the block, errors and reports give `site` as the place of all calls of this
 * thread, and not the line of each. So a function that calls harray for others can name their line:
 *
 *     #define store(x) store_(x, HA_SITE)
 *     ha_status store_(harray_double x, const char *site) { HA_FROM(site) { … } … }
 *
 * and functions that are no macros (harray_T_resize, …), where neither HA_CHECK nor HA_IGNORE is around them,
 * get a line: HA_FROM(HA_SITE) s = harray_double_resize(x, 5). `site` is a text that stays, such as HA_SITE.
 * Where it has no line (the name of a function), that of the HA_CHECK or HA_IGNORE around the block counts instead.
 * Of several around each other the outermost counts. Left by any way out of the block (`break` leaves
 * the block). */
#define HA_FROM(site) HA_FROM_(site, HA_JOIN_(ha_from_, __COUNTER__))
#define HA_FROM_(site, s)                                                                          \
    for (ha_from_scope_ s __attribute__((__cleanup__(ha_from_end_))) = ha_from_begin_(site);       \
         s.once; s.once = 0)
typedef struct ha_from_scope_ {
    const char *outer;
    int once;
} ha_from_scope_;
HA_API ha_from_scope_ ha_from_begin_(const char *site);
HA_API void ha_from_end_(ha_from_scope_ *scope);

/* Prints the kept error and aborts, if there is one: the one check at the end of a run of calls. */
#define HA_CHECK_ERRORS() ha_check_errors_(HA_SITE)
HA_API void ha_check_errors_(const char *site);

/* Says in so many words that a status is not looked at here (it stays in ha_take_error()). */
#define HA_IGNORE(expr) (ha_called_at_(HA_SITE), ha_ignore_(expr))
static inline HA_UNUSED void ha_ignore_(ha_status status) {
    (void)status;
    ha_called_at_(HA_NULL_);
}
#define HA_IGNORE_(expr) ((void)((expr) == HA_OK)) /* by harray itself, whoever called it */

#endif
