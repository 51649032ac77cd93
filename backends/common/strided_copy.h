/* Copies of equally spaced pieces by the host, for backends that make them themselves. A part of such a
 * copy is a range of bytes, counted as if the pieces lay behind each other. */
#ifndef HARRAY_BACKENDS_COMMON_STRIDED_COPY_H
#define HARRAY_BACKENDS_COMMON_STRIDED_COPY_H

#include "strided.h"

#include <string.h>

/* How far a copy has come: a piece, and its index on each level. */
typedef struct ha_strided_cursor {
    const ha_strided_copy *copy;
    char *to;
    const char *from;
    size_t index[HA_STRIDED_LEVELS];
} ha_strided_cursor;

/* At a piece, counted along the innermost level first. */
HA_IN_ ha_strided_cursor ha_strided_seek(const ha_strided_copy *s, size_t piece) {
    ha_strided_cursor c = {.copy = s, .to = (char *)s->to, .from = (const char *)s->from};
    for (int k = 0; k < s->levels; k++) {
        c.index[k] = piece % s->count[k];
        piece /= s->count[k];
        c.to += c.index[k] * s->to_step[k];
        c.from += c.index[k] * s->from_step[k];
    }
    return c;
}

/* n pieces further, at most to the end of the innermost level; from there on to the next row of them. */
HA_IN_ void ha_strided_advance(ha_strided_cursor *c, size_t n) {
    const ha_strided_copy *s = c->copy;
    for (int k = 0; k < s->levels; k++, n = 1) {
        c->index[k] += n;
        c->to += n * s->to_step[k];
        c->from += n * s->from_step[k];
        if (c->index[k] < s->count[k]) return;
        c->index[k] = 0;
        c->to -= s->count[k] * s->to_step[k];
        c->from -= s->count[k] * s->from_step[k];
    }
}

#define HA_STRIDED_PIECES_OF_(constant)                                                            \
    for (size_t i = 0; i < n; i++) memcpy(c->to + i * to_step, c->from + i * from_step, constant)

/* n whole pieces of the innermost level; values of the usual sizes without a call for each. */
HA_IN_ void ha_strided_copy_row(const ha_strided_cursor *c, size_t n) {
    const size_t to_step = c->copy->to_step[0], from_step = c->copy->from_step[0];
    switch (c->copy->bytes) {
    case 1:
        HA_STRIDED_PIECES_OF_(1);
        break;
    case 2:
        HA_STRIDED_PIECES_OF_(2);
        break;
    case 4:
        HA_STRIDED_PIECES_OF_(4);
        break;
    case 8:
        HA_STRIDED_PIECES_OF_(8);
        break;
    case 16:
        HA_STRIDED_PIECES_OF_(16);
        break;
    default:
        HA_STRIDED_PIECES_OF_(c->copy->bytes);
        break;
    }
}

#undef HA_STRIDED_PIECES_OF_

/* The bytes from `first` to before `last`. */
HA_IN_ void ha_strided_copy_part(const ha_strided_copy *s, size_t first, size_t last) {
    ha_strided_cursor c = ha_strided_seek(s, first / s->bytes);
    size_t at = first % s->bytes; /* in the first piece */
    while (first < last) {
        const size_t left = last - first;
        size_t n = 1, bytes = s->bytes - at;
        if (at == 0 && left >= s->bytes) {
            const size_t row = s->levels > 0 ? s->count[0] - c.index[0] : 1;
            n = left / s->bytes;
            if (n > row) n = row;
            ha_strided_copy_row(&c, n);
            bytes *= n;
        } else {
            if (bytes > left) bytes = left;
            memcpy(c.to + at, c.from + at, bytes);
            at = 0;
        }
        ha_strided_advance(&c, n);
        first += bytes;
    }
}

/* All of n copies, one after the other. */
HA_IN_ HA_UNUSED void ha_strided_copy_all(const ha_strided_copy *copies, size_t n) {
    for (size_t i = 0; i < n; i++)
        ha_strided_copy_part(&copies[i], 0, ha_strided_total(&copies[i]));
}

#endif
