/* A second opinion on half and bfloat16, and values that are hard to convert. To be included behind
 * harray.h. The opinion comes from the list of all values of the format as doubles, in which the
 * nearest is looked up, and knows nothing of bits but how the 16 of a number are read. */
#ifndef HARRAY_TESTS_SUPPORT_NUMBERS_H
#define HARRAY_TESTS_SUPPORT_NUMBERS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEST(name) static void name(void **state HA_UNUSED)

typedef struct format {
    int digits, lowest; /* bits of the significand; 2^lowest is the smallest positive number */
    uint16_t infinity;  /* its bits, and how many finite numbers are not negative */
    double
        values[0x8000]; /* of the finite ones, by their bits; then 2^x, where infinity would be */
} format;

static format half HA_UNUSED = {10, -24, 0x7c00, {0}};
static format bfloat16 HA_UNUSED = {7, -133, 0x7f80, {0}};

static inline void list_values(format *f) {
    for (int i = 0; i <= f->infinity; i++) {
        const int exponent = i >> f->digits, digits = i & ((1 << f->digits) - 1);
        f->values[i] = exponent ? ldexp((1 << f->digits) + digits, f->lowest + exponent - 1)
                                : ldexp(digits, f->lowest);
    }
}

static inline uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline uint32_t bits_of_float(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline double with_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline float float_with_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The nearest of a list to x >= 0, of two equally near ones the even. Middles are exact. */
static inline uint16_t nearest(const format *f, double x) {
    int below = 0, above = f->infinity;
    if (x >= f->values[above]) return f->infinity;
    while (above - below > 1) {
        const int middle = (below + above) / 2;
        if (f->values[middle] <= x)
            below = middle;
        else
            above = middle;
    }
    const double middle = (f->values[below] + f->values[above]) / 2;
    return (uint16_t)(x < middle || (x <= middle && below % 2 == 0) ? below : above);
}

/* What a number becomes, given the bits of a double; a NaN keeps the upper part of its payload. */
static inline uint16_t expected_of(const format *f, uint64_t bits) {
    const uint64_t magnitude = bits & ~(1ull << 63);
    const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    const uint16_t payload = (uint16_t)(magnitude >> (52 - f->digits) & ((1u << f->digits) - 1));
    if (magnitude <= 0x7ffull << 52) return sign | nearest(f, with_bits(magnitude));
    return (uint16_t)(sign | f->infinity | 1u << (f->digits - 1) | payload);
}

/* What 16 bits are as a double, and the bits of that. */
static inline uint64_t expected_double(const format *f, uint16_t bits) {
    const uint16_t magnitude = bits & 0x7fff;
    const uint64_t sign = (uint64_t)(bits >> 15) << 63;
    const uint64_t payload = (uint64_t)(magnitude & ((1 << f->digits) - 1)) << (52 - f->digits);
    if (magnitude < f->infinity) return sign | bits_of(f->values[magnitude]);
    return sign | 0x7ffull << 52 | (payload ? 1ull << 51 | payload : 0);
}

/* The same as a float, whose bits these are: float is exact, and its NaNs are as double's. */
static inline uint32_t expected_float(const format *f, uint16_t bits) {
    const uint64_t wide = expected_double(f, bits);
    if ((wide >> 52 & 0x7ff) == 0x7ff)
        return (uint32_t)(wide >> 63 << 31 | 0x7f800000 | (wide >> 29 & 0x7fffff));
    return bits_of_float((float)with_bits(wide));
}

/* The bits of a float as those of a double. Not by conversion, which makes NaNs quiet. */
static inline uint64_t widened(uint32_t bits) {
    const uint32_t magnitude = bits & 0x7fffffff;
    const uint64_t sign = (uint64_t)(bits >> 31) << 63;
    if (magnitude < 0x7f800000) return sign | bits_of((double)float_with_bits(magnitude));
    return sign | 0x7ffull << 52 | (uint64_t)(magnitude & 0x7fffff) << 29;
}

static inline uint64_t random_bits(void) { /* splitmix64 (Steele, Lea, Flood 2014) */
    static uint64_t seed = 1;
    uint64_t z = seed += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* ---- values to convert --------------------------------------------------------------------- */

typedef void visit_bits(uint64_t bits);

/* One whose significand has the upper bits of `pattern`: with what is next to it, both signs. */
static inline void visit_around(visit_bits *visit, uint64_t bits) {
    for (uint64_t i = 0; i < 3; i++) {
        visit(bits + i - 1);
        visit((bits + i - 1) ^ 1ull << 63);
    }
}

/* Doubles: all exponents, each with significands at which rounding changes its mind (of half, of
 * bfloat16 and of float, where a first rounding to float would do harm), middles of all neighbours, and
 * random ones. */
static inline void each_double(visit_bits *visit) {
    static const int bits[] = {0, 1, 22, 23, 28, 29, 30, 41, 42, 43, 44, 45, 46, 51};
    const format *formats[] = {&half, &bfloat16};
    for (uint64_t exponent = 0; exponent < 2048; exponent++) {
        for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
            for (size_t j = 0; j <= i; j++) {
                visit_around(visit, exponent << 52 | 1ull << bits[i] | 1ull << bits[j]);
                visit_around(visit, exponent << 52 | ((1ull << 52) - (1ull << bits[i])));
            }
        for (int i = 0; i < 20; i++) visit(exponent << 52 | random_bits() >> 12);
    }
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < formats[i]->infinity; k++) {
            const double below = formats[i]->values[k], above = formats[i]->values[k + 1];
            visit_around(visit, bits_of(below + 0x1p-1074));
            visit_around(visit, bits_of((below + above) / 2));
        }
    for (int i = 0; i < 200000; i++) visit(random_bits());
}

/* Floats, as bits of a float: all exponents, with all upper significands of half in turn and lower
 * parts at and next to the middle; or all there are. */
static inline void each_float(visit_bits *visit) {
    static const uint32_t low[] = {0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x7fff, 0x8000, 0x8001};
    if (getenv("HARRAY_TEST_LONG")) {
        for (uint64_t bits = 0; bits >> 32 == 0; bits++) visit(bits);
        return;
    }
    for (uint32_t upper = 0; upper < 1u << 17; upper++)
        for (size_t i = 0; i < sizeof low / sizeof *low; i++) visit(upper << 15 | low[i]);
    for (uint32_t upper = 0; upper < 1u << 19; upper++) { /* all of half's, and the middles */
        visit(upper << 13 | 0x1000);
        visit(upper << 13 | 0xfff);
        visit(upper << 13 | 0x1001);
    }
}

#endif
