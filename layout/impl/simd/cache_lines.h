/* Whole lines of a large target, put together in registers from pieces of 8 to 64 bytes and written
 * past the caches: how values go between arrays and blocks of lanes, where nothing has to be turned
 * around. */
#ifndef HARRAY_LAYOUT_IMPL_SIMD_CACHE_LINES_H
#define HARRAY_LAYOUT_IMPL_SIMD_CACHE_LINES_H

#include "interleave_x86.h"

enum { HA_LINES = 512, HA_LINE_PIECES = 1024 };

/* The next time it is read `step` bytes behind. */
typedef struct ha_line_piece {
    const char *from;
    int64_t step;
} ha_line_piece;

/* What each half of a line consists of: one piece of 32 bytes, or two parts of 16, each of which
 * may be two pieces of 8. Or the line is a single piece. */
enum { HA_HALF_PARTS = 1, HA_HALF_FIRST_PAIR = 2, HA_HALF_SECOND_PAIR = 4, HA_LINE_SINGLE = 8 };

typedef struct ha_line {
    char *to; /* the address of a line */
    int64_t step;
    int half[2];
} ha_line;

/* Lines in the order in which they are written, each with the next of the pieces. All that is done
 * again and again, a step further on each time. */
typedef struct ha_line_program {
    int64_t lines, pieces;
    int64_t filled;    /* while it is made: bytes of the last line, 0 if it is complete */
    const char *ahead; /* read from one end to the other: what is fetched next; NULL: it is not */
    ha_line line[HA_LINES];
    ha_line_piece piece[HA_LINE_PIECES];
} ha_line_program;

/* ---- making a program ------------------------------------------------------------------------ */

/* 0: there is no room, or the piece does not go on where the last one ended. */
HA_IN_ int ha_add_line_piece(ha_line_program *p, char *to, int64_t to_step, ha_line_piece piece,
                             int64_t bytes) {
    ha_line *line = &p->line[p->filled ? p->lines - 1 : p->lines];
    int *half = &line->half[p->filled / 32];
    if (p->pieces == HA_LINE_PIECES || (!p->filled && p->lines == HA_LINES)) return 0;
    if (!p->filled) {
        if ((uintptr_t)to % 64 != 0) return 0;
        *line = (ha_line){to, to_step, {0, 0}};
        p->lines++;
    } else if (to != line->to + p->filled || to_step != line->step) {
        return 0;
    }
    if (bytes == 64) *half |= HA_LINE_SINGLE;
    if (bytes <= 16) *half |= HA_HALF_PARTS;
    if (bytes == 8) *half |= p->filled % 32 < 16 ? HA_HALF_FIRST_PAIR : HA_HALF_SECOND_PAIR;
    p->piece[p->pieces++] = piece;
    p->filled = (p->filled + bytes) % 64;
    return 1;
}

/* `bytes` at once on both sides, in pieces; 0: it cannot be done. */
HA_IN_ int ha_add_line_run(ha_line_program *p, char *to, int64_t to_step, const char *from,
                           int64_t from_step, int64_t bytes) {
    while (bytes > 0) {
        int64_t n = 64;
        while (n > bytes || (uintptr_t)to % (uint64_t)n != 0) n /= 2;
        if (n < 8 || !ha_add_line_piece(p, to, to_step, (ha_line_piece){from, from_step}, n))
            return 0;
        to += n;
        from += n;
        bytes -= n;
    }
    return 1;
}

/* Do the pieces together cover one run of memory, and the next time the one behind it? Then that is
 * fetched from one end to the other. */
HA_IN_ void ha_find_line_sequence(ha_line_program *p) {
    const int64_t bytes = 64 * p->lines;
    const char *first = p->piece->from;
    int is_even = 1;
    for (int64_t k = 0; k < p->pieces; k++) {
        if ((uintptr_t)p->piece[k].from < (uintptr_t)first) first = p->piece[k].from;
        is_even &= p->piece[k].step == bytes;
    }
    for (int64_t k = 0; k < p->pieces; k++)
        is_even &= (uintptr_t)p->piece[k].from - (uintptr_t)first < (uintptr_t)bytes;
    p->ahead = is_even ? first + bytes : NULL;
}

/* ---- doing it -------------------------------------------------------------------------------- */

#if defined __x86_64__ && !defined HARRAY_NO_SIMD

/* The next piece. Where it is going to be the next time is fetched, if that is not done in sequence. */
__attribute__((always_inline)) static inline const char *ha_next_piece(ha_line_piece **next,
                                                                       int in_sequence) {
    ha_line_piece *const piece = (*next)++;
    const char *const from = piece->from;
    piece->from += piece->step;
    if (!in_sequence) __builtin_prefetch(piece->from);
    return from;
}

HA_INTERLEAVE_AVX2_ __attribute__((always_inline)) static inline __m128i ha_line_part(
    ha_line_piece **next, int is_pair, int in_sequence) {
    const char *const from = ha_next_piece(next, in_sequence);
    if (!is_pair) return _mm_loadu_si128((const __m128i *)(const void *)from);
    const __m128i first = _mm_loadl_epi64((const __m128i *)(const void *)from);
    const char *const behind = ha_next_piece(next, in_sequence);
    return _mm_unpacklo_epi64(first, _mm_loadl_epi64((const __m128i *)(const void *)behind));
}

HA_INTERLEAVE_AVX2_ __attribute__((always_inline)) static inline __m256i ha_line_half(
    ha_line_piece **next, int half, int in_sequence) {
    if (!half) return ha_load_row_avx2(ha_next_piece(next, in_sequence));
    const __m128i first = ha_line_part(next, half & HA_HALF_FIRST_PAIR, in_sequence);
    const __m128i second = ha_line_part(next, half & HA_HALF_SECOND_PAIR, in_sequence);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}

HA_INTERLEAVE_AVX2_ __attribute__((always_inline)) static inline void ha_do_line_avx2(
    char *to, ha_line_piece **next, const ha_line *line, int in_sequence) {
    if (line->half[0] == HA_LINE_SINGLE) {
        const char *const from = ha_next_piece(next, in_sequence);
        ha_store_past_avx2(to, ha_load_row_avx2(from));
        ha_store_past_avx2(to + 32, ha_load_row_avx2(from + 32));
    } else {
        ha_store_past_avx2(to, ha_line_half(next, line->half[0], in_sequence));
        ha_store_past_avx2(to + 32, ha_line_half(next, line->half[1], in_sequence));
    }
}

HA_INTERLEAVE_AVX512_ __attribute__((always_inline)) static inline void ha_do_line_avx512(
    char *to, ha_line_piece **next, const ha_line *line, int in_sequence) {
    if (line->half[0] == HA_LINE_SINGLE) {
        ha_store_past_avx512(to, ha_load_row_avx512(ha_next_piece(next, in_sequence)));
    } else {
        const __m256i first = ha_line_half(next, line->half[0], in_sequence);
        const __m256i second = ha_line_half(next, line->half[1], in_sequence);
        ha_store_past_avx512(to, _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1));
    }
}

/* All lines once. */
#define HA_DO_LINES_(target, isa, name, in_sequence)                                               \
    target HA_IN_ void name(ha_line_program *p) {                                                  \
        ha_line_piece *next = p->piece;                                                            \
        const char *ahead = p->ahead;                                                              \
        for (ha_line *line = p->line, *end = line + p->lines; line < end; line++) {                \
            char *const to = line->to;                                                             \
            line->to += line->step;                                                                \
            if (in_sequence) __builtin_prefetch(ahead), ahead += 64;                               \
            ha_do_line_##isa(to, &next, line, in_sequence);                                        \
        }                                                                                          \
        p->ahead = ahead;                                                                          \
    }
HA_DO_LINES_(HA_INTERLEAVE_AVX2_, avx2, ha_do_lines_avx2, 0)
HA_DO_LINES_(HA_INTERLEAVE_AVX2_, avx2, ha_do_sequence_avx2, 1)
HA_DO_LINES_(HA_INTERLEAVE_AVX512_, avx512, ha_do_lines_avx512, 0)
HA_DO_LINES_(HA_INTERLEAVE_AVX512_, avx512, ha_do_sequence_avx512, 1)

HA_IN_ int ha_has_lines(const ha_interleavers *w) { return w != &ha_interleavers_portable; }

HA_IN_ void ha_do_lines(const ha_interleavers *w, ha_line_program *p, int64_t times) {
    const int is_wide = w == &ha_interleavers_avx512;
    void (*const lines)(ha_line_program *) = is_wide ? ha_do_lines_avx512 : ha_do_lines_avx2;
    void (*const sequence)(ha_line_program *) = is_wide ? ha_do_sequence_avx512
                                                        : ha_do_sequence_avx2;
    for (int64_t n = 0; n < times; n++)
        if (p->ahead)
            sequence(p);
        else
            lines(p);
}

#else
HA_IN_ int ha_has_lines(const ha_interleavers *w) {
    (void)w;
    return 0;
}
HA_IN_ void ha_do_lines(const ha_interleavers *w, ha_line_program *p, int64_t times) {
    (void)w;
    (void)p;
    (void)times;
}
#endif

#endif
