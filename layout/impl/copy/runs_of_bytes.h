/* Many short runs of memory, of a few lengths. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_RUNS_OF_BYTES_H
#define HARRAY_LAYOUT_IMPL_COPY_RUNS_OF_BYTES_H

#include "../base/all.h"

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

/* The lengths that lanes of a power of two have are constants to the compiler. */
static inline void ha_move_common(char *to, const char *from, int64_t bytes) {
    switch (bytes) {
    case 32:
        memcpy(to, from, 32);
        return;
    case 64:
        memcpy(to, from, 64);
        return;
    case 16:
        memcpy(to, from, 16);
        return;
    case 8:
        memcpy(to, from, 8);
        return;
    default:
        ha_move_chunk(to, from, bytes);
        return;
    }
}

/* How runs are gone through: their blocks, and all that again so far behind. What lies `ahead` of the
 * source is fetched. */
typedef struct ha_run_nest {
    int64_t blocks, times, to_again, from_again, ahead;
} ha_run_nest;

static inline void ha_fetch_ahead(const char *from, int64_t bytes, const ha_run_nest *nest) {
    for (int64_t k = 0; k < bytes && nest->ahead; k += 64)
        __builtin_prefetch(from + nest->ahead + k);
}

/* Block by block, all runs of each. */
HA_IN_ void ha_move_by_blocks(const ha_short_run *c, int64_t runs, const ha_run_nest *nest) {
    for (int64_t n = 0; n < nest->times; n++)
        for (int64_t b = 0; b < nest->blocks; b++)
            for (int64_t k = 0; k < runs; k++) {
                char *to = c[k].to + n * nest->to_again + b * c[k].to_apart;
                const char *from = c[k].from + n * nest->from_again + b * c[k].from_apart;
                ha_fetch_ahead(from, c[k].bytes, nest);
                ha_move_common(to, from, c[k].bytes);
            }
}

/* `least` to twice as many bytes of each block, as two pieces that may have some in common. */
#define HA_MOVE_BLOCKS_(least)                                                                     \
    static inline void ha_move_blocks_##least(const ha_short_run *c, char *to, const char *from,   \
                                              const ha_run_nest *nest) {                           \
        const int64_t last = c->bytes - least;                                                     \
        for (int64_t b = 0; b < nest->blocks; b++) {                                               \
            ha_fetch_ahead(from, c->bytes, nest);                                                  \
            memcpy(to, from, least);                                                               \
            memcpy(to + last, from + last, least);                                                 \
            to += c->to_apart;                                                                     \
            from += c->from_apart;                                                                 \
        }                                                                                          \
    }
HA_MOVE_BLOCKS_(4)
HA_MOVE_BLOCKS_(8)
HA_MOVE_BLOCKS_(16)
HA_MOVE_BLOCKS_(32)
HA_MOVE_BLOCKS_(64)

HA_IN_ void ha_move_blocks(const ha_short_run *c, char *to, const char *from,
                           const ha_run_nest *nest) {
    const int64_t bytes = c->bytes;
    if (bytes >= 4 && bytes <= 8)
        ha_move_blocks_4(c, to, from, nest);
    else if (bytes > 8 && bytes <= 16)
        ha_move_blocks_8(c, to, from, nest);
    else if (bytes > 16 && bytes <= 32)
        ha_move_blocks_16(c, to, from, nest);
    else if (bytes > 32 && bytes <= 64)
        ha_move_blocks_32(c, to, from, nest);
    else if (bytes > 64 && bytes <= 128)
        ha_move_blocks_64(c, to, from, nest);
    else
        for (int64_t b = 0; b < nest->blocks; b++)
            ha_move_chunk(to + b * c->to_apart, from + b * c->from_apart, bytes);
}

/* Run by run, all blocks of each. */
HA_IN_ void ha_move_by_runs(const ha_short_run *c, int64_t runs, const ha_run_nest *nest) {
    for (int64_t n = 0; n < nest->times; n++)
        for (int64_t k = 0; k < runs; k++) {
            char *to = c[k].to + n * nest->to_again;
            const char *from = c[k].from + n * nest->from_again;
            if (c[k].bytes == c[k].to_apart && c[k].bytes == c[k].from_apart)
                memcpy(to, from, (size_t)(c[k].bytes * nest->blocks));
            else
                ha_move_blocks(&c[k], to, from, nest);
        }
}

/* Some blocks of all runs, then the next: few enough to stay in the first cache. */
HA_IN_ void ha_move_by_turns(const ha_short_run *c, int64_t runs, const ha_run_nest *nest) {
    enum { most = 32 };
    for (int64_t n = 0; n < nest->times; n++)
        for (int64_t b = 0; b < nest->blocks; b += most) {
            const ha_run_nest turn = {ha_smaller(nest->blocks - b, most), 1, 0, 0, nest->ahead};
            for (int64_t k = 0; k < runs; k++) {
                ha_short_run run = c[k];
                run.to += n * nest->to_again + b * run.to_apart;
                run.from += n * nest->from_again + b * run.from_apart;
                ha_move_by_runs(&run, 1, &turn);
            }
        }
}

#endif
