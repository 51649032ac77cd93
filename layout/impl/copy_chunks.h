/* Many short stretches of memory, of a few lengths. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_CHUNKS_H
#define HARRAY_LAYOUT_IMPL_COPY_CHUNKS_H

#include "../base.h"
#include "basics.h"

/* `bytes` at `from` to `to`, and again so far behind them on both sides, block after block. */
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

/* All of one length, block by block; the first block is so far behind where the runs begin. */
#define HA_MOVE_RUNS_(length)                                                                      \
    static void ha_move_runs_##length(const ha_short_run *c, int64_t runs, int64_t blocks,         \
                                      int64_t to, int64_t from) {                                  \
        for (int64_t b = 0; b < blocks; b++)                                                       \
            for (int64_t k = 0; k < runs; k++)                                                     \
                memcpy(c[k].to + to + b * c[k].to_apart, c[k].from + from + b * c[k].from_apart,   \
                       length);                                                                    \
    }
HA_MOVE_RUNS_(8)
HA_MOVE_RUNS_(16)
HA_MOVE_RUNS_(32)
HA_MOVE_RUNS_(64)
HA_MOVE_RUNS_(128)

/* Block by block, all runs of each. */
static void ha_move_runs(const ha_short_run *c, int64_t runs, int64_t blocks, int64_t to,
                         int64_t from) {
    int64_t length = c->bytes;
    if (runs == 1 && length == c->to_apart && length == c->from_apart) {
        memcpy(c->to + to, c->from + from, (size_t)(length * blocks));
        return;
    }
    for (int64_t k = 1; k < runs; k++)
        if (c[k].bytes != length) length = 0;
    switch (length) {
    case 8:
        ha_move_runs_8(c, runs, blocks, to, from);
        return;
    case 16:
        ha_move_runs_16(c, runs, blocks, to, from);
        return;
    case 32:
        ha_move_runs_32(c, runs, blocks, to, from);
        return;
    case 64:
        ha_move_runs_64(c, runs, blocks, to, from);
        return;
    case 128:
        ha_move_runs_128(c, runs, blocks, to, from);
        return;
    default:
        break;
    }
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t k = 0; k < runs; k++)
            ha_move_chunk(c[k].to + to + b * c[k].to_apart, c[k].from + from + b * c[k].from_apart,
                          c[k].bytes);
}

#endif
