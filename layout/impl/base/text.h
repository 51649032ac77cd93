/* Text that is built piece by piece, cut where the buffer ends, and counted beyond: what functions as
 * snprintf give back. */
#ifndef HARRAY_LAYOUT_IMPL_BASE_TEXT_H
#define HARRAY_LAYOUT_IMPL_BASE_TEXT_H

#include "../../status.h"
#include <stdarg.h>
#include <stdio.h>

typedef struct ha_text {
    char *at;
    size_t bytes, length; /* the length of all that was written, whether it had room or not */
} ha_text;

/* Into a buffer as snprintf's: NULL, whatever its size, only counts. */
HA_IN_ ha_text ha_text_into(char *text, size_t bytes) {
    if (!text) bytes = 0;
    if (bytes) text[0] = 0;
    return (ha_text){text, bytes, 0};
}

__attribute__((format(printf, 2, 3))) HA_IN_ void ha_print(ha_text *t, const char *format, ...) {
    va_list args;
    size_t left = t->length < t->bytes ? t->bytes - t->length : 0;
    va_start(args, format);
    int n = vsnprintf(left ? t->at + t->length : NULL, left, format, args);
    va_end(args);
    if (n > 0) t->length += (size_t)n;
}

#endif
