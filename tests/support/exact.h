/* A reference for element types known at run time: each value in numbers of 113 binary digits, the
 * nearest value of a type by looking for it, and for each type values at its edges. To be included
 * behind refusals.h. */
#ifndef HARRAY_TESTS_SUPPORT_EXACT_H
#define HARRAY_TESTS_SUPPORT_EXACT_H

static const ha_dtype types[] = {
#define TYPE(name, T, kind, text) HA_DTYPE_##name,
    HA_DTYPES(TYPE)
#undef TYPE
};
enum { TYPES = sizeof types / sizeof *types };

/* ---- the reference -------------------------------------------------------------------------- */

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 exact;
#else
typedef long double exact; /* has as many digits on machines without the other */
#endif
__extension__ typedef __int128 int128;

typedef struct number {
    exact re, im;
} number;

/* The magnitude that an IEEE pattern stands for; that of the infinite is the next power of two. */
static inline exact magnitude_of(uint64_t pattern, int digits, int least_exponent) {
    int exponent = (int)(pattern >> (digits - 1));
    uint64_t one = UINT64_C(1) << (digits - 1), fraction = pattern & (one - 1);
    exact x = (exact)(exponent ? fraction | one : fraction), factor = 2;
    int shift = (exponent ? exponent - 1 : 0) + least_exponent, n = shift < 0 ? -shift : shift;
    for (; n; n >>= 1, factor *= factor)
        if (n & 1) x = shift < 0 ? x / factor : x * factor;
    return x;
}

/* What the types of real numbers look like. */
typedef struct format {
    int bits, digits, least_exponent;
    uint64_t infinity;
} format;

static format format_of(ha_dtype type) {
    if (type == HA_DTYPE_half) return (format){16, 11, -24, 0x7c00};
    if (type == HA_DTYPE_bfloat16) return (format){16, 8, -133, 0x7f80};
    if (type == HA_DTYPE_float || type == HA_DTYPE_c64) return (format){32, 24, -149, 0x7f800000};
    return (format){64, 53, -1074, UINT64_C(0x7ff0000000000000)};
}

static inline exact real_of(uint64_t pattern, ha_dtype type) {
    format f = format_of(type);
    uint64_t sign = UINT64_C(1) << (f.bits - 1), rest = pattern & (sign - 1);
    exact x = rest > f.infinity    ? (exact)__builtin_nan("")
              : rest == f.infinity ? (exact)__builtin_inf()
                                   : magnitude_of(rest, f.digits, f.least_exponent);
    return pattern & sign ? -x : x;
}

/* The nearest of all patterns, found by halving; not of a NaN. */
static inline uint64_t nearest(exact x, ha_dtype type) {
    format f = format_of(type);
    exact m = x < 0 ? -x : x;
    uint64_t low = 0, high = f.infinity;
    if (m >= magnitude_of(high, f.digits, f.least_exponent)) return high;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        *(magnitude_of(middle, f.digits, f.least_exponent) <= m ? &low : &high) = middle;
    }
    exact below = m - magnitude_of(low, f.digits, f.least_exponent);
    exact above = magnitude_of(high, f.digits, f.least_exponent) - m;
    return below < above || (!(above < below) && !(low & 1)) ? low : high;
}

/* n bytes as a number, the first being the lowest. */
static uint64_t pattern_of(const unsigned char *bytes, size_t n) {
    uint64_t pattern = 0;
    while (n--) pattern = pattern << 8 | bytes[n];
    return pattern;
}

static inline number number_of(const ha_dvalue *v) {
    size_t size = ha_dtype_size(v->type), half = size / 2;
    uint64_t pattern = pattern_of(v->bytes, size < 8 ? size : 8);
    switch (ha_dtype_kind(v->type)) {
    case HA_KIND_SIGNED: {
        uint64_t sign = UINT64_C(1) << (8 * size - 1);
        return (number){(exact)((int128)(pattern & (sign - 1)) - (int128)(pattern & sign)), 0};
    }
    case HA_KIND_REAL:
        return (number){real_of(pattern, v->type), 0};
    case HA_KIND_COMPLEX:
        return (number){real_of(pattern_of(v->bytes, half), v->type),
                        real_of(pattern_of(v->bytes + half, half), v->type)};
    default:
        return (number){(exact)pattern, 0};
    }
}

static int is_nan(exact x) { return x != x; }

/* ---- edges ---------------------------------------------------------------------------------- */

enum { MOST_EDGES = 400 };
static ha_dvalue edges[MOST_EDGES];
static int edge_count;

static void add_bytes(ha_dtype type, uint64_t re, uint64_t im) {
    unsigned char bytes[17] = {0}; /* not aligned */
    size_t size = ha_dtype_size(type), part = size;
    if (ha_dtype_kind(type) == HA_KIND_COMPLEX) part = size / 2;
    for (size_t i = 0; i < size; i++)
        bytes[1 + i] = (unsigned char)(i < part ? re >> 8 * i : im >> 8 * (i - part));
    assert_true(edge_count < MOST_EDGES);
    edges[edge_count++] = ha_dvalue_load(type, bytes + 1);
}

static uint64_t random_state = 1;
static uint64_t draw(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 33 ^ random_state << 20;
}

static void add_integers(ha_dtype type) {
    int bits = (int)(8 * ha_dtype_size(type));
    for (uint64_t n = 0; n < 4; n++) add_bytes(type, n, 0), add_bytes(type, -n, 0);
    for (int shift = 6; shift < bits; shift += bits == 64 ? 1 : 5) {
        uint64_t power = UINT64_C(1) << shift;
        add_bytes(type, power - 1, 0);
        add_bytes(type, power, 0);
        add_bytes(type, power + 1, 0);
    }
    for (int i = 0; i < 9; i++) /* ties, and next to them, of 24, 8 and 53 digits */
        for (int top = 25; top < bits; top += 19)
            add_bytes(type, (UINT64_C(3) << top | UINT64_C(1) << (top - 7)) + (uint64_t)i - 4, 0);
    if (bits == 64) {
        add_bytes(type, (UINT64_C(1) << 62) + (UINT64_C(1) << 54) + 1, 0);
        add_bytes(type, (UINT64_C(1) << 62) + (UINT64_C(1) << 38) + 1, 0);
        add_bytes(type, (UINT64_C(1) << 62) + (UINT64_C(1) << 9) + 1, 0);
    }
    uint64_t sign = UINT64_C(1) << (bits - 1);
    for (uint64_t n = 0; n < 3; n++) add_bytes(type, sign - 1 - n, 0), add_bytes(type, sign + n, 0);
    for (int i = 0; i < 10; i++) add_bytes(type, draw(), 0);
}

/* The pattern of what a double is nearest to, and its neighbours. */
static void add_near(ha_dtype type, double x, uint64_t im) {
    format f = format_of(type);
    uint64_t pattern = nearest((exact)x, type), sign = UINT64_C(1) << (f.bits - 1);
    for (int i = -1; i < 2; i++) {
        uint64_t near = pattern + (uint64_t)i;
        if (near > f.infinity) continue;
        add_bytes(type, near, im);
        add_bytes(type, near | sign, im);
    }
}

static void add_reals(ha_dtype type) {
    static const double near[] = {
        0,          0x1p-14, 0x1p-24, 0x1p-25, 0.5,   1.5,     2.5,     127.5,      128.5,
        255.5,      256.5,   32767.5, 65504,   65520, 65535.5, 0x1p31,  0x1p31 - 1, 0x1p32 + .5,
        0x1p53 + 2, 0x1p63,  0x1p64,  0.1,     3,     0x1p127, 0x1p128, 0x1p-126,   1e300};
    format f = format_of(type);
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) add_near(type, near[i], 0);
    add_bytes(type, f.infinity, 0);
    add_bytes(type, f.infinity | UINT64_C(1) << (f.bits - 1), 0);
    add_bytes(type, f.infinity | 1, 0);                      /* a NaN that signals */
    add_bytes(type, f.infinity | f.infinity >> 1 | 0x55, 0); /* and one that does not */
    for (int i = 0; i < 20; i++) add_bytes(type, draw(), 0);
    for (int i = 0; i < 20 && f.bits == 64; i++) { /* near ties of shorter types */
        double x = (double)(draw() % 1000000 + 8388608) + 0.5;
        uint64_t pattern;
        memcpy(&pattern, &x, sizeof x);
        for (int shift = 0; shift < 3; shift++)
            add_bytes(type, pattern + (UINT64_C(16) << 52) * (uint64_t)i / 4 + (uint64_t)shift - 1,
                      0);
    }
}

static void make_edges(ha_dtype type) {
    edge_count = 0;
    random_state = 1;
    format f = format_of(type);
    switch (ha_dtype_kind(type)) {
    case HA_KIND_BOOL:
        add_bytes(type, 0, 0);
        add_bytes(type, 1, 0);
        break;
    case HA_KIND_COMPLEX:
        add_near(type, 2.5, nearest((exact)1.5, type));
        add_near(type, 0, f.infinity);
        add_bytes(type, 0, f.infinity + 1);
        add_bytes(type, 0, UINT64_C(1) << (f.bits - 1)); /* -0: no imaginary part */
        add_reals(type);
        break;
    case HA_KIND_REAL:
        add_reals(type);
        break;
    default:
        add_integers(type);
    }
}

#endif
