/* Whether the GIL is released wherever a thread may wait: gil_checks.h says how. */
#include "binding.h"

#include <stdio.h>
#include <stdlib.h>

/* The section of all sites; the linker knows where it is. */
extern gil_site *const __start_gil_sites[] __attribute__((visibility("hidden")));
extern gil_site *const __stop_gil_sites[] __attribute__((visibility("hidden")));

static _Thread_local gil_scope *innermost;
static const char *kept; /* a site, "all", or NULL */

static const char *file_of(const gil_site *site) {
    const char *slash = strrchr(site->file, '/');
    return slash ? slash + 1 : site->file;
}

static int keeps_all(void) { return kept && !strcmp(kept, "all"); }

static int is_kept(const gil_site *site) {
    char name[64];
    if (!kept || keeps_all()) return kept != NULL;
    snprintf(name, sizeof name, "%s:%d", file_of(site), site->line);
    return !strcmp(name, kept);
}

void gil_leave(gil_scope *scope, gil_site *site) {
    *scope = (gil_scope){site, NULL, innermost};
    site->is_reached = 1;
    innermost = scope;
    if (!is_kept(site)) scope->released = PyEval_SaveThread();
}

void gil_return(gil_scope *scope) {
    innermost = scope->outer;
    if (scope->released) PyEval_RestoreThread(scope->released);
}

void gil_may_wait(void) {
    if (is_ending || !has_gil()) return;
    gil_scope *const scope = innermost;
    if (scope && !scope->released && keeps_all()) {
        scope->site->is_found = 1;
        scope->released = PyEval_SaveThread();
        return;
    }
    fprintf(stderr, "harray: this thread may wait here, and has the GIL");
    if (scope) fprintf(stderr, " (%s:%d)", file_of(scope->site), scope->site->line);
    fprintf(stderr, "\n");
    abort();
}

void gil_checks_begin(void) {
    kept = getenv("HARRAY_TEST_KEEP_GIL");
    ha_tell_before_waiting_(gil_may_wait);
}

void gil_checks_end(void) {
    const char *path = getenv("HARRAY_TEST_GIL_SITES");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    for (gil_site *const *at = __start_gil_sites; at < __stop_gil_sites; at++) {
        const gil_site *site = *at;
        fprintf(file, "%s:%d%s%s\n", file_of(site), site->line, site->is_reached ? " reached" : "",
                site->is_found ? " found" : "");
    }
    fclose(file);
}
