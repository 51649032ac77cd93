/* Numbers of a few bits each, at equal distances in memory, read and written many at a time: words
 * of eight bytes where these lie between the first and the last bit of them all, and single bytes
 * at both ends. The lowest bit of a byte comes first. Bits that belong to none of the numbers keep
 * their values, and no byte without any of them is touched but between them. */
#ifndef HARRAY_LAYOUT_IMPL_VALUES_BITS_H
#define HARRAY_LAYOUT_IMPL_VALUES_BITS_H

#include "../base/all.h"

/* Where the bits of numbers lie: the first one's first bit, and from one to the next. */
typedef struct ha_bit_run {
    int64_t at, step;
    int32_t bits; /* 1 to 64 */
} ha_bit_run;

HA_IN_ uint64_t ha_bit_mask(int bits) { return UINT64_MAX >> (64 - bits); }

/* Eight bytes, the first of which is the lowest. */
HA_IN_ uint64_t ha_bits_word(const unsigned char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

HA_IN_ void ha_bits_put_word(unsigned char *at, uint64_t word) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(at, &word, sizeof word);
}

/* ---- one number ------------------------------------------------------------------------------ */

HA_IN_ uint64_t ha_bits_get(const unsigned char *blob, int64_t at, int bits) {
    const unsigned char *byte = blob + at / 8;
    int have = 8 - (int)(at % 8);
    uint64_t value = *byte >> (at % 8);
    for (; have < bits; have += 8) value |= (uint64_t) * ++byte << have;
    return value & ha_bit_mask(bits);
}

/* The value has no more bits than these. */
HA_IN_ void ha_bits_set(unsigned char *blob, int64_t at, int bits, uint64_t value) {
    unsigned char *byte = blob + at / 8;
    int first = (int)(at % 8);
    while (bits > 0) {
        const int here = bits < 8 - first ? bits : 8 - first;
        const unsigned mask = ((1u << here) - 1) << first;
        *byte = (unsigned char)((*byte & ~mask) | ((unsigned)value << first & mask));
        byte++;
        value >>= here;
        bits -= here;
        first = 0;
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* How many of them, from the first on, begin in a byte before this one. */
HA_IN_ int64_t ha_bits_before(ha_bit_run r, int64_t byte, int64_t n) {
    if (r.step <= 0 || r.at >= 8 * byte) return 0;
    return ha_smaller(n, (8 * byte - 1 - r.at) / r.step + 1);
}

/* Neighbours without gaps, `group` of which have at most 56 bits: as many of them as whole words
 * are there for. Inlined for each group, whose loops are gone then. */
__attribute__((always_inline)) static inline int64_t ha_bits_read_group(
    const unsigned char *blob, ha_bit_run r, uint64_t *value, int64_t by_words, int group) {
    const uint64_t mask = ha_bit_mask(r.bits);
    int64_t at = r.at, k = 0;
    for (; k + group <= by_words; k += group, at += group * r.bits) {
        const uint64_t word = ha_bits_word(blob + (at >> 3)) >> (at & 7);
        for (int j = 0; j < group; j++) value[k + j] = word >> (j * r.bits) & mask;
    }
    return k;
}

HA_IN_ int64_t ha_bits_read_dense(const unsigned char *blob, ha_bit_run r, uint64_t *value,
                                  int64_t by_words) {
    return r.bits <= 7    ? ha_bits_read_group(blob, r, value, by_words, 8)
           : r.bits <= 14 ? ha_bits_read_group(blob, r, value, by_words, 4)
           : r.bits <= 28 ? ha_bits_read_group(blob, r, value, by_words, 2)
                          : 0;
}

HA_IN_ void ha_bits_read(const unsigned char *blob, ha_bit_run r, uint64_t *value, int64_t n) {
    const int64_t behind = (r.at + (n - 1) * r.step + r.bits + 7) / 8; /* the last byte of all */
    const int wide = r.bits > 57;
    const int64_t by_words = ha_bits_before(r, behind - (wide ? 8 : 7), n);
    const uint64_t mask = ha_bit_mask(r.bits);
    int64_t k = r.step == r.bits ? ha_bits_read_dense(blob, r, value, by_words) : 0;
    int64_t at = r.at + k * r.step;
    if (!wide)
        for (; k < by_words; k++, at += r.step)
            value[k] = ha_bits_word(blob + (at >> 3)) >> (at & 7) & mask;
    for (; k < by_words; k++, at += r.step) {
        const uint64_t low = ha_bits_word(blob + (at >> 3)) >> (at & 7);
        const uint64_t high = (uint64_t)blob[(at >> 3) + 8]
                              << 1; /* and by one less than is due: 64 is too much */
        value[k] = (low | high << (63 - (at & 7))) & mask;
    }
    for (; k < n; k++, at += r.step) value[k] = ha_bits_get(blob, at, r.bits);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Neighbours without gaps, `group` of which have at most 56 bits: what is not written yet is in a word.
 * Bytes that this writes beyond the last value are written again. Gives how many it has written. */
__attribute__((always_inline)) static inline int64_t ha_bits_write_group(unsigned char *blob,
                                                                         ha_bit_run r,
                                                                         const uint64_t *value,
                                                                         int64_t n, int group) {
    const int64_t full = (r.at + n * r.bits) / 8; /* bytes up to here are all ours, but the first */
    const int64_t by_words = ha_bits_before(r, full - 7, n);
    unsigned char *to = blob + r.at / 8;
    int have = (int)(r.at % 8);
    int64_t k = 0;
    uint64_t word = by_words > 0 ? *to & ((1u << have) - 1) : 0;
    for (; k + group <= by_words; k += group) {
        uint64_t together = 0;
        for (int j = 0; j < group; j++) together |= value[k + j] << (j * r.bits);
        word |= together << have;
        ha_bits_put_word(to, word);
        have += group * r.bits;
        to += have >> 3;
        word >>= have & 56;
        have &= 7;
    }
    return k;
}

HA_IN_ int64_t ha_bits_write_dense(unsigned char *blob, ha_bit_run r, const uint64_t *value,
                                   int64_t n) {
    return r.bits <= 7    ? ha_bits_write_group(blob, r, value, n, 8)
           : r.bits <= 14 ? ha_bits_write_group(blob, r, value, n, 4)
           : r.bits <= 28 ? ha_bits_write_group(blob, r, value, n, 2)
                          : ha_bits_write_group(blob, r, value, n, 1);
}

/* Any others: words from the first byte on, each read and written once. */
HA_IN_ int64_t ha_bits_write_apart(unsigned char *blob, ha_bit_run r, const uint64_t *value,
                                   int64_t n) {
    const int64_t behind = (r.at + (n - 1) * r.step + r.bits + 7) / 8;
    const uint64_t mask = ha_bit_mask(r.bits);
    unsigned char *first = blob + r.at / 8;
    const int64_t words = (behind - r.at / 8) / 8;
    int64_t at = r.at % 8, here = 0, k = 0;
    uint64_t word;
    if (words == 0 || r.step < r.bits) return 0;
    word = ha_bits_word(first);
    for (; k < n; k++, at += r.step) {
        const int64_t last = (at + r.bits - 1) >> 6;
        const int shift = (int)(at & 63);
        if (last >= words) break;
        if (at >> 6 != here) {
            ha_bits_put_word(first + 8 * here, word);
            here = at >> 6;
            word = ha_bits_word(first + 8 * here);
        }
        word = (word & ~(mask << shift)) | value[k] << shift;
        if (last != here) {
            ha_bits_put_word(first + 8 * here, word);
            here = last;
            word = ha_bits_word(first + 8 * here);
            word = (word & ~(mask >> (64 - shift))) | value[k] >> (64 - shift);
        }
    }
    ha_bits_put_word(first + 8 * here, word);
    return k;
}

/* The values have no more bits than these. */
HA_IN_ void ha_bits_write(unsigned char *blob, ha_bit_run r, const uint64_t *value, int64_t n) {
    const int dense = r.step == r.bits && r.bits <= 56;
    int64_t k = dense ? ha_bits_write_dense(blob, r, value, n)
                      : ha_bits_write_apart(blob, r, value, n);
    for (; k < n; k++) ha_bits_set(blob, r.at + k * r.step, r.bits, value[k]);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Eight numbers of up to 7 bits, each in a byte: one behind the other, and back. */
HA_IN_ uint64_t ha_bits_of_bytes(uint64_t x, int bits) {
    const uint64_t one = 0x00ff00ff00ff00ff, two = 0x0000ffff0000ffff, four = 0x00000000ffffffff;
    x = (x & one) | (x >> 8 & one) << bits;
    x = (x & two) | (x >> 16 & two) << 2 * bits;
    return (x & four) | (x >> 32) << 4 * bits;
}

HA_IN_ uint64_t ha_bytes_of_bits(uint64_t x, int bits) {
    const uint64_t two = ha_bit_mask(2 * bits) * 0x0000000100000001;
    const uint64_t one = ha_bit_mask(bits) * 0x0001000100010001;
    x = (x & ha_bit_mask(4 * bits)) | (x >> 4 * bits & ha_bit_mask(4 * bits)) << 32;
    x = (x & two) | (x >> 2 * bits & two) << 16;
    return (x & one) | (x >> bits & one) << 8;
}

/* Values of one byte that have up to 7 bits, as they are in memory, neighbours without gaps: as many as
 * there are whole words for. With a sign this is the highest of the bits. */
HA_IN_ int64_t ha_bits_read_small(const unsigned char *blob, ha_bit_run r, int has_sign,
                                  char *value, int64_t n) {
    const int64_t by_words = ha_bits_before(r, (r.at + n * r.bits + 7) / 8 - 7, n);
    const uint64_t ones = 0x0101010101010101;
    int64_t at = r.at, k = 0;
    for (; k + 8 <= by_words; k += 8, at += 8 * r.bits) {
        uint64_t x = ha_bytes_of_bits(ha_bits_word(blob + (at >> 3)) >> (at & 7), r.bits);
        const uint64_t signs = x >> (r.bits - 1) & ones;
        if (has_sign) x |= signs * (256u - (1u << r.bits));
        ha_bits_put_word((unsigned char *)value + k, x);
    }
    return k;
}

HA_IN_ int64_t ha_bits_write_small(unsigned char *blob, ha_bit_run r, int has_sign,
                                   const char *value, int64_t n) {
    const int64_t by_words = ha_bits_before(r, (r.at + n * r.bits) / 8 - 7, n);
    const uint64_t ones = 0x0101010101010101, sign = ones << (r.bits - 1);
    const uint64_t low = has_sign ? sign - ones : ha_bit_mask(r.bits) * ones;
    unsigned char *to = blob + r.at / 8;
    int have = (int)(r.at % 8);
    int64_t k = 0;
    uint64_t word = by_words > 0 ? *to & ((1u << have) - 1) : 0;
    for (; k + 8 <= by_words; k += 8) {
        const uint64_t x = ha_bits_word((const unsigned char *)value + k);
        const uint64_t bits = (x & low) | (has_sign ? x >> (8 - r.bits) & sign : 0);
        word |= ha_bits_of_bytes(bits, r.bits) << have;
        ha_bits_put_word(to, word);
        have += 8 * r.bits;
        to += have >> 3;
        word >>= have & 56;
        have &= 7;
    }
    return k;
}

#endif
