/* Errors: building the text, keeping the first one, telling the handler. */
#ifndef HARRAY_IMPL_BASE_ERROR_H
#define HARRAY_IMPL_BASE_ERROR_H

#include "../../../backends/backend.h"
#include "../../detail/locks.h"
#include "cancel.h"
#include "self.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a backend said about the failure it is about to return. */
typedef struct ha_note {
    int64_t code;
    char text[240];
} ha_note;

HA_STATE_ _Thread_local ha_error ha_first_error;    /* since the last take; HA_OK: none */
HA_STATE_ _Thread_local ha_status ha_latest_status; /* of the error that was told last */
HA_STATE_ _Thread_local ha_note ha_backend_note;
HA_STATE_ struct {
    ha_error_handler call;
    void *user;
} ha_handler;

const char *ha_status_name(ha_status status) {
    switch (status) {
    case HA_OK:
        return "HA_OK";
    case HA_ERR_ARGUMENT:
        return "HA_ERR_ARGUMENT";
    case HA_ERR_MEMORY:
        return "HA_ERR_MEMORY";
    case HA_ERR_STATE:
        return "HA_ERR_STATE";
    case HA_ERR_CONFLICT:
        return "HA_ERR_CONFLICT";
    case HA_ERR_DEADLOCK:
        return "HA_ERR_DEADLOCK";
    case HA_ERR_BUSY:
        return "HA_ERR_BUSY";
    case HA_ERR_LOST:
        return "HA_ERR_LOST";
    case HA_ERR_BACKEND:
        return "HA_ERR_BACKEND";
    case HA_ERR_UNSUPPORTED:
        return "HA_ERR_UNSUPPORTED";
    case HA_ERR_NOT_FOUND:
        return "HA_ERR_NOT_FOUND";
    case HA_ERR_TRANSFER:
        return "HA_ERR_TRANSFER";
    case HA_ERR_COMPILE:
        return "HA_ERR_COMPILE";
    }
    return "unknown status";
}

ha_error ha_take_error(void) {
    ha_error e = ha_first_error;
    memset(&ha_first_error, 0, sizeof ha_first_error);
    return e;
}

void ha_set_error_handler(ha_error_handler handler, void *user) {
    ha_handler.call = handler;
    ha_handler.user = user;
}

void ha_backend_report(int64_t code, const char *text) {
    size_t n = 0;
    for (; text && text[n] && n < sizeof ha_backend_note.text - 1; n++)
        ha_backend_note.text[n] = text[n];
    ha_backend_note.text[n] = 0;
    ha_backend_note.code = code;
}

/* A backend failed, and the engine found another way: nothing to tell. */
HA_IN_ void ha_forget_note(void) { ha_backend_note = (ha_note){0}; }

enum { HA_VERBOSE_UNKNOWN, HA_QUIET, HA_VERBOSE };
HA_STATE_ int ha_verbosity; /* unknown until somebody has said it, or the environment was read */

void ha_set_verbose(int on) {
    __atomic_store_n(&ha_verbosity, on ? HA_VERBOSE : HA_QUIET, __ATOMIC_RELAXED);
}

HA_IN_ int ha_verbose(void) {
    int v = __atomic_load_n(&ha_verbosity, __ATOMIC_RELAXED);
    if (v == HA_VERBOSE_UNKNOWN) {
        const char *text = getenv("HARRAY_VERBOSE");
        const int told = text && *text && strcmp(text, "0") != 0 ? HA_VERBOSE : HA_QUIET;
        if (__atomic_compare_exchange_n(&ha_verbosity, &v, told, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            v = told; // else another thread was faster, and v is what that said
    }
    return v == HA_VERBOSE;
}

/* Also while something is locked: neither printing nor the handler ends the thread. */
HA_IN_ void ha_tell(const ha_error *e) {
    HA_UNCANCELLED_;
    if (ha_first_error.status == HA_OK) ha_first_error = *e;
    ha_latest_status = e->status;
    if (ha_verbose())
        fprintf(stderr, "harray: %s: %s: %s\n", e->operation, ha_status_name(e->status), e->text);
    if (ha_handler.call) ha_handler.call(e, ha_handler.user);
}

/* An error that arises while another array is still held is told when it no longer is: the handler
 * may call anything. At most one arises in between. */
HA_STATE_ _Thread_local struct {
    int on; /* how many are to call ha_tell_now */
    ha_error error;
} ha_later_error;

HA_IN_ void ha_tell_later(void) { ha_later_error.on++; }

HA_IN_ void ha_tell_now(void) {
    ha_error e = ha_later_error.error;
    if (--ha_later_error.on > 0) return;
    ha_later_error.error.status = HA_OK;
    if (e.status) ha_tell(&e);
}

void ha_called_at_(const char *site) { ha_self.checked = site; }

/* Whether a text begins with a file and a line. */
HA_IN_ int ha_error_has_line(const char *text) {
    const char *at = strchr(text, ':');
    if (!at || at - text > 120) return 0;
    const size_t digits = strspn(at + 1, "0123456789");
    return digits && at[1 + digits] == ':';
}

/* Inside HA_FROM each text begins with its site, and inside a check with that one's, unless it says the line of
 * the call itself. */
HA_IN_ void ha_error_from(ha_error *e) {
    char text[sizeof e->text];
    const char *site = ha_self.from;
    if (!site && ha_self.checked && !ha_error_has_line(e->text)) site = ha_self.checked;
    if (!site || strncmp(e->text, site, strlen(site)) == 0) return;
    memcpy(text, e->text, sizeof text);
    const int n = snprintf(e->text, sizeof e->text, "%.120s: ", site);
    memcpy(e->text + n, text, sizeof text - (size_t)n);
    e->text[sizeof e->text - 1] = 0;
}

/* Records an error and returns its status. Never called with a lock held. */
__attribute__((format(printf, 3, 4))) HA_IN_ ha_status ha_fail(ha_status status,
                                                               const char *operation,
                                                               const char *format, ...) {
    ha_error e = {.status = status, .operation = operation, .code = ha_backend_note.code};
    va_list args;
    va_start(args, format);
    int length = vsnprintf(e.text, sizeof e.text, format, args);
    va_end(args);
    if (*ha_backend_note.text && length >= 0 && (size_t)length < sizeof e.text)
        snprintf(e.text + length, sizeof e.text - (size_t)length, ": %s", ha_backend_note.text);
    ha_forget_note();
    ha_error_from(&e);
    if (ha_later_error.on)
        ha_later_error.error = e;
    else
        ha_tell(&e);
    return status;
}

void ha_check_failed_(ha_status status, const char *site, const char *expr) {
    ha_error e = ha_take_error(); /* the first one: of an earlier call, perhaps */
    const size_t n = strlen(site);
    const char *text = e.text; /* the site is said already */
    if (!strncmp(text, site, n) && !strncmp(text + n, ": ", 2)) text += n + 2;
    fprintf(stderr, "%s: %s failed: %s", site, expr, ha_status_name(status));
    if (e.status == status)
        fprintf(stderr, ": %s\n", text);
    else if (e.status)
        fprintf(stderr, "; the first error was %s: %s\n", ha_status_name(e.status), e.text);
    else
        fprintf(stderr, "\n");
    abort();
}

void ha_check_errors_(const char *site) {
    if (ha_first_error.status)
        ha_check_failed_(ha_first_error.status, site, ha_first_error.operation);
}

#endif
