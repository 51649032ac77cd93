/* Many short stretches of memory, of a few lengths. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_CHUNKS_H
#define HARRAY_LAYOUT_IMPL_COPY_CHUNKS_H

#include "../base.h"
#include "basics.h"

/* `bytes` at `from` to `to`, and again so far behind them on both sides. */
typedef struct ha_short_run {
    char *to;
    const char *from;
    int64_t bytes, to_apart, from_apart;
} ha_short_run;

/* The last bytes as one piece of constant length, which may have some in common with what is moved
 * already: that is faster than to ask for their number. */
static inline void ha_move_chunk(char *to, const char *from, int64_t bytes) {
    int64_t at = 0;
    if (bytes >= 1024) {
        memcpy(to, from, (size_t)bytes);
    } else if (bytes >= 16) {
        for (; at + 32 <= bytes; at += 32) memcpy(to + at, from + at, 32);
        if (at + 16 <= bytes) memcpy(to + at, from + at, 16);
        if (bytes % 16 != 0) memcpy(to + bytes - 16, from + bytes - 16, 16);
    } else if (bytes >= 8) {
        memcpy(to, from, 8);
        memcpy(to + bytes - 8, from + bytes - 8, 8);
    } else if (bytes >= 4) {
        memcpy(to, from, 4);
        memcpy(to + bytes - 4, from + bytes - 4, 4);
    } else {
        for (; at < bytes; at++) to[at] = from[at];
    }
}

#define HA_MOVE_CHUNKS_(length)                                                                    \
    static void ha_move_chunks_##length(ha_short_run *c, int64_t chunks, int64_t blocks) {         \
        for (int64_t b = 0; b < blocks; b++)                                                       \
            for (int64_t k = 0; k < chunks; k++) {                                                 \
                memcpy(c[k].to, c[k].from, length);                                                \
                c[k].to += c[k].to_apart;                                                          \
                c[k].from += c[k].from_apart;                                                      \
            }                                                                                      \
    }
HA_MOVE_CHUNKS_(8)
HA_MOVE_CHUNKS_(16)
HA_MOVE_CHUNKS_(32)
HA_MOVE_CHUNKS_(64)

/* Block by block. The chunks are behind the last then. */
static void ha_move_chunks(ha_short_run *c, int64_t chunks, int64_t blocks) {
    int64_t length = c->bytes;
    for (int64_t k = 1; k < chunks; k++)
        if (c[k].bytes != length) length = 0;
    if (length == 8)
        ha_move_chunks_8(c, chunks, blocks);
    else if (length == 16)
        ha_move_chunks_16(c, chunks, blocks);
    else if (length == 32)
        ha_move_chunks_32(c, chunks, blocks);
    else if (length == 64)
        ha_move_chunks_64(c, chunks, blocks);
    else
        for (int64_t b = 0; b < blocks; b++)
            for (int64_t k = 0; k < chunks; k++) {
                ha_move_chunk(c[k].to, c[k].from, c[k].bytes);
                c[k].to += c[k].to_apart;
                c[k].from += c[k].from_apart;
            }
}

#endif
