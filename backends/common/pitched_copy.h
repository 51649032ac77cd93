/* Copies of equally spaced pieces (ha_pieces) by the host, for backends that do them themselves. A part
 * of such a copy is a range of bytes, counted as if the pieces lay behind each other. */
#ifndef HARRAY_BACKENDS_COMMON_PITCHED_COPY_H
#define HARRAY_BACKENDS_COMMON_PITCHED_COPY_H

#include "../backend.h"

#include <string.h>

static HA_UNUSED ha_pieces ha_pieces_one(size_t bytes) {
    return (ha_pieces){bytes, 1, 1, bytes, bytes, bytes, bytes};
}

/* Planes of one piece are rows; so are planes that follow each other as their rows do. */
static ha_pieces ha_pieces_of_one_plane(ha_pieces p) {
    const int one = p.rows == 1;
    if (!one && (p.to_plane != p.rows * p.to_row || p.from_plane != p.rows * p.from_row)) return p;
    return (ha_pieces){.bytes = p.bytes,
                       .rows = p.rows * p.planes,
                       .planes = 1,
                       .to_row = one ? p.to_plane : p.to_row,
                       .to_plane = p.planes * p.to_plane,
                       .from_row = one ? p.from_plane : p.from_row,
                       .from_plane = p.planes * p.from_plane};
}

/* The same copy, of as few pieces as there can be: those that follow each other without a gap, on both
 * sides, are one. */
static HA_UNUSED ha_pieces ha_pieces_fold(ha_pieces p) {
    for (int i = 0; i < 2; i++) {
        p = ha_pieces_of_one_plane(p);
        if (p.to_row != p.bytes || p.from_row != p.bytes) continue;
        p.bytes *= p.rows;
        p.to_row = p.from_row = p.bytes;
        p.rows = 1;
    }
    return p.rows == 1 && p.planes == 1 ? ha_pieces_one(p.bytes) : p;
}

static size_t ha_pieces_total(const ha_pieces *p) { return p->bytes * p->rows * p->planes; }

#define HA_PIECES_OF_(constant)                                                                    \
    for (size_t y = 0; y < rows; y++) memcpy(to + y * p->to_row, from + y * p->from_row, constant)

/* Whole pieces of one plane; elements of the usual sizes without a call for each. */
static void ha_pieces_copy_rows(char *to, const char *from, const ha_pieces *p, size_t rows) {
    switch (p->bytes) {
    case 4:
        HA_PIECES_OF_(4);
        break;
    case 8:
        HA_PIECES_OF_(8);
        break;
    case 16:
        HA_PIECES_OF_(16);
        break;
    default:
        HA_PIECES_OF_(p->bytes);
        break;
    }
}

#undef HA_PIECES_OF_

/* The bytes from `first` to before `last`. */
static void ha_pieces_copy(char *to, const char *from, const ha_pieces *p, size_t first,
                           size_t last) {
    while (first < last) {
        size_t left = last - first, at = first % p->bytes, piece = first / p->bytes;
        size_t y = piece % p->rows, z = piece / p->rows, bytes = p->bytes - at;
        char *target = to + z * p->to_plane + y * p->to_row + at;
        const char *source = from + z * p->from_plane + y * p->from_row + at;
        if (at == 0 && left >= p->bytes) {
            size_t rows = left / p->bytes;
            if (rows > p->rows - y) rows = p->rows - y;
            ha_pieces_copy_rows(target, source, p, rows);
            first += rows * p->bytes;
        } else {
            if (bytes > left) bytes = left;
            memcpy(target, source, bytes);
            first += bytes;
        }
    }
}

#endif
