/* convert.h: every way to convert whole arrays that this processor has gives the bits that the
 * functions of half.h and bfloat16.h give (test_half has these against a second opinion), at any
 * alignment and length, whatever the rounding mode and flushing to zero. All floats when
 * HARRAY_TEST_LONG is set. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#define HA_PAST_CACHES_ 4096
#include "../../harray.h"
#include "../support/numbers.h"

#include <fenv.h>
#include <stdio.h>

/* The public functions as a way. */
#define PUBLIC(name, From, To)                                                                     \
    static void ha_##name##_public(void *to, const void *from, size_t n) {                         \
        ha_convert_##name((To *)to, (const From *)from, n);                                        \
    }
PUBLIC(half_to_float, ha_half, float)
PUBLIC(half_to_double, ha_half, double)
PUBLIC(float_to_half, float, ha_half)
PUBLIC(double_to_half, double, ha_half)
PUBLIC(bfloat16_to_float, ha_bfloat16, float)
PUBLIC(bfloat16_to_double, ha_bfloat16, double)
PUBLIC(float_to_bfloat16, float, ha_bfloat16)
PUBLIC(double_to_bfloat16, double, ha_bfloat16)
static const ha_conversions public_functions = HA_CONVERSIONS_(public);

static const ha_conversions *ways[3];
static size_t way_count;

static int find_ways(void **state HA_UNUSED) {
    ways[way_count++] = &public_functions;
#if defined __x86_64__
    if (ha_has_avx2()) ways[way_count++] = &ha_conversions_avx2;
    if (ha_has_avx512()) ways[way_count++] = &ha_conversions_avx512;
#elif defined __aarch64__
    ways[way_count++] = &ha_conversions_neon;
#endif
    for (size_t i = 0; i < way_count; i++) printf("# %s\n", ways[i]->name);
    list_values(&half);
    list_values(&bfloat16);
    return 0;
}

typedef struct kind {
    const char *name;
    size_t from, to; /* bytes of a number */
    size_t at;       /* where in ha_conversions */
} kind;
#define KIND(name, from, to)                                                                       \
    { #name, from, to, offsetof(ha_conversions, name) }
static const kind from_16_bits[] = {
    KIND(half_to_float, 2, 4),
    KIND(half_to_double, 2, 8),
    KIND(bfloat16_to_float, 2, 4),
    KIND(bfloat16_to_double, 2, 8),
};
static const kind from_floats[] = {KIND(float_to_half, 4, 2), KIND(float_to_bfloat16, 4, 2)};
static const kind from_doubles[] = {KIND(double_to_half, 8, 2), KIND(double_to_bfloat16, 8, 2)};

static void convert(const ha_conversions *way, const kind *k, void *to, const void *from,
                    size_t n) {
    ha_conversion *conversion;
    memcpy(&conversion, (const char *)way + k->at, sizeof conversion);
    conversion(to, from, n);
}

enum { MOST = 2048, ROOM = MOST * 8 + 32 };

static void expect_same(const ha_conversions *way, const kind *k, const unsigned char *got,
                        const unsigned char *expected, size_t n, const unsigned char *from) {
    for (size_t i = 0; i < n; i++) {
        if (memcmp(got + i * k->to, expected + i * k->to, k->to) == 0) continue;
        uint64_t a = 0, b = 0, of = 0;
        memcpy(&a, got + i * k->to, k->to);
        memcpy(&b, expected + i * k->to, k->to);
        memcpy(&of, from + i * k->from, k->from);
        fail_msg("%s, %s of %#llx, number %zu of %zu: %#llx, not %#llx", way->name, k->name,
                 (unsigned long long)of, i, n, (unsigned long long)a, (unsigned long long)b);
    }
}

/* n numbers at `from`, all ways: the portable one's bits, and nothing is written beside them. */
static void expect_all_same(const kind *k, const unsigned char *from, size_t n, size_t offset) {
    static unsigned char expected[ROOM], got[ROOM];
    assert_in_range(n, 0, MOST);
    convert(&ha_conversions_portable, k, expected, from, n);
    for (size_t i = 0; i < way_count; i++) {
        memset(got, 0x5a, sizeof got);
        convert(ways[i], k, got + offset, from, n);
        expect_same(ways[i], k, got + offset, expected, n, from);
        for (size_t j = 0; j < offset; j++) assert_int_equal(got[j], 0x5a);
        for (size_t j = 0; j < 8; j++) assert_int_equal(got[offset + n * k->to + j], 0x5a);
    }
}

/* ---- all values ---------------------------------------------------------------------------- */

TEST(every_16_bits) {
    static uint16_t bits[0x10000];
    for (size_t i = 0; i < 0x10000; i++) bits[i] = (uint16_t)i;
    for (size_t k = 0; k < sizeof from_16_bits / sizeof *from_16_bits; k++)
        for (size_t i = 0; i < 0x10000; i += MOST)
            expect_all_same(&from_16_bits[k], (const unsigned char *)&bits[i], MOST, i / MOST % 16);
}

/* Values that are visited, until there are enough to be converted. */
static struct {
    unsigned char bytes[MOST * 8];
    size_t n, rounds;
} batch;

static void convert_batch(const kind *kinds) {
    for (size_t k = 0; k < 2; k++)
        expect_all_same(&kinds[k], batch.bytes, batch.n, batch.rounds % 16);
    batch.rounds++;
    batch.n = 0;
}
static void add_to_batch(const kind *kinds, const void *value) {
    memcpy(batch.bytes + batch.n * kinds->from, value, kinds->from);
    if (++batch.n == MOST - batch.rounds % 67) convert_batch(kinds);
}

static void visit_float(uint64_t bits) {
    const uint32_t value = (uint32_t)bits;
    add_to_batch(from_floats, &value);
}
TEST(floats) {
    each_float(visit_float);
    convert_batch(from_floats);
}

static void visit_double(uint64_t bits) { add_to_batch(from_doubles, &bits); }
TEST(doubles) {
    each_double(visit_double);
    convert_batch(from_doubles);
}

/* ---- any place and length ------------------------------------------------------------------ */

static void try_places(const kind *k) {
    static unsigned char from[ROOM];
    for (size_t i = 0; i < sizeof from; i++) from[i] = (unsigned char)random_bits();
    for (size_t n = 0; n <= 130; n++)
        for (size_t offset = 0; offset < 8; offset++)
            expect_all_same(k, from + (offset + n) % 8, n, offset);
}

TEST(places_and_lengths) {
    for (size_t k = 0; k < 4; k++) try_places(&from_16_bits[k]);
    for (size_t k = 0; k < 2; k++) try_places(&from_floats[k]);
    for (size_t k = 0; k < 2; k++) try_places(&from_doubles[k]);
}

TEST(nothing) {
    ha_convert_half_to_float(NULL, NULL, 0);
    ha_convert_half_to_double(NULL, NULL, 0);
    ha_convert_float_to_half(NULL, NULL, 0);
    ha_convert_double_to_half(NULL, NULL, 0);
    ha_convert_bfloat16_to_float(NULL, NULL, 0);
    ha_convert_bfloat16_to_double(NULL, NULL, 0);
    ha_convert_float_to_bfloat16(NULL, NULL, 0);
    ha_convert_double_to_bfloat16(NULL, NULL, 0);
}

/* ---- any state of the processor ------------------------------------------------------------ */

/* Subnormal numbers are taken for zero, and become zero. */
static void flush_to_zero(int on) {
#if defined __x86_64__
    _mm_setcsr(on ? _mm_getcsr() | 0x8040 : _mm_getcsr() & ~0x8040u);
#elif defined __aarch64__
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    control = on ? control | 1 << 24 : control & ~(1ull << 24);
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#else
    (void)on;
#endif
}

/* What there is to convert, and what it became in the usual state. */
typedef struct sample {
    const kind *kind;
    size_t n;
    unsigned char from[MOST * 8], expected[MOST * 8];
} sample;

static void expect_in_state(const sample *s, int rounding, int flush) {
    static unsigned char got[MOST * 8];
    for (size_t i = 0; i <= way_count; i++) {
        const ha_conversions *way = i < way_count ? ways[i] : &ha_conversions_portable;
        assert_int_equal(fesetround(rounding), 0);
        flush_to_zero(flush);
        convert(way, s->kind, got, s->from, s->n);
        flush_to_zero(0);
        fesetround(FE_TONEAREST);
        expect_same(way, s->kind, got, s->expected, s->n, s->from);
    }
}

/* Every exponent, among them the least and the greatest. Of 16 bits, one subnormal number in 32 that
 * are not, at another place each time. */
static uint64_t in_sample(const kind *k, size_t i) {
    const uint64_t random = random_bits(), sign = random << 63;
    if (k->from > 2) return sign ^ ((uint64_t)i << 52 | random >> (i % 2 ? 12 : 50));
    const uint64_t small = 1 + random % 127, other = 0x80 + random % 0x7f80;
    return sign ^ (i % 32 == i / 32 % 32 ? small : other) << 48;
}

static void try_states(const kind *k) {
    static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static sample s;
    s.kind = k;
    s.n = MOST;
    for (size_t i = 0; i < MOST; i++) {
        const uint64_t cut = in_sample(k, i) >> (64 - 8 * k->from);
        memcpy(s.from + i * k->from, &cut, k->from);
    }
    convert(&ha_conversions_portable, k, s.expected, s.from, s.n);
    for (size_t i = 0; i < 4; i++) {
        expect_in_state(&s, roundings[i], 0);
        expect_in_state(&s, roundings[i], 1);
    }
}

TEST(states_of_the_processor) {
    for (size_t k = 0; k < 4; k++) try_states(&from_16_bits[k]);
    for (size_t k = 0; k < 2; k++) try_states(&from_floats[k]);
    for (size_t k = 0; k < 2; k++) try_states(&from_doubles[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_16_bits), cmocka_unit_test(floats),
        cmocka_unit_test(doubles),       cmocka_unit_test(places_and_lengths),
        cmocka_unit_test(nothing),       cmocka_unit_test(states_of_the_processor),
    };
    return cmocka_run_group_tests(tests, find_ways, NULL);
}
