/* What the run-time part of layouts is written with: memory, sums that do not overflow unseen, why
 * something failed. */
#ifndef HARRAY_LAYOUT_IMPL_BASE_BASICS_H
#define HARRAY_LAYOUT_IMPL_BASE_BASICS_H

#include "../../status.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HARRAY_MALLOC
#define HA_LAYOUT_MALLOC_(size) HARRAY_MALLOC(size)
#define HA_LAYOUT_FREE_(pointer) HARRAY_FREE(pointer)
#else
#define HA_LAYOUT_MALLOC_(size) malloc(size)
#define HA_LAYOUT_FREE_(pointer) free(pointer)
#endif

/* ---- numbers --------------------------------------------------------------------------------- */

/* *result = a + b, a * b, a rounded up to a multiple of b > 0: 0 when that does not fit. a, b >= 0. */
HA_IN_ int ha_sum(int64_t a, int64_t b, int64_t *result) {
    return !__builtin_add_overflow(a, b, result);
}
HA_IN_ int ha_product(int64_t a, int64_t b, int64_t *result) {
    return !__builtin_mul_overflow(a, b, result);
}
HA_IN_ int ha_round_to(int64_t a, int64_t b, int64_t *result) {
    const int64_t rest = a % b;
    return ha_sum(a, rest == 0 ? 0 : b - rest, result);
}

HA_IN_ int64_t ha_larger(int64_t a, int64_t b) { return a > b ? a : b; }
HA_IN_ int64_t ha_smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- failure --------------------------------------------------------------------------------- */

/* Who is asked for something, and where to say why it failed. */
typedef struct ha_asked {
    const char *operation;
    ha_error *error; /* NULL: nobody wants to know */
} ha_asked;

/* Notes a failure and gives its status. */
__attribute__((format(printf, 4, 5))) HA_IN_ ha_status ha_refuse(const ha_asked *asked,
                                                                 ha_status status, int64_t position,
                                                                 const char *format, ...) {
    ha_error *e = asked->error;
    if (e) {
        va_list rest;
        va_start(rest, format);
        e->status = status;
        e->operation = asked->operation;
        e->code = position;
        vsnprintf(e->text, sizeof e->text, format, rest);
        va_end(rest);
    }
    return status;
}

HA_IN_ ha_status ha_no_memory(const ha_asked *asked, size_t bytes) {
    return ha_refuse(asked, HA_ERR_MEMORY, 0, "there is no memory for %zu bytes", bytes);
}

HA_IN_ ha_status ha_too_large(const ha_asked *asked) {
    return ha_refuse(asked, HA_ERR_MEMORY, 0, "more than 2^63 - 1 bytes");
}

/* Before anything else: what is asked now has not failed yet. */
HA_IN_ ha_asked ha_ask(const char *operation, ha_error *error) {
    if (error) memset(error, 0, sizeof *error);
    return (ha_asked){.operation = operation, .error = error};
}

#endif
