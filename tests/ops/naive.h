/* What operations give, written down a second time: one element at a time, integers with more digits than they have. */
#ifndef HARRAY_TESTS_OPS_NAIVE_H
#define HARRAY_TESTS_OPS_NAIVE_H

#include <complex.h>
#include <math.h>

enum { NAIVE_AXPBY = 100, NAIVE_CLIP }; /* beside the operations of ha_combine */

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

static wide wide_of(ha_dvalue x) {
    switch (x.type) {
    case HA_DTYPE_int8_t:
        return x.as_int8_t;
    case HA_DTYPE_int16_t:
        return x.as_int16_t;
    case HA_DTYPE_bool:
    case HA_DTYPE_uint8_t:
        return x.as_uint8_t;
    case HA_DTYPE_uint16_t:
        return x.as_uint16_t;
    case HA_DTYPE_int32_t:
        return x.as_int32_t;
    case HA_DTYPE_int64_t:
        return x.as_int64_t;
    case HA_DTYPE_uint32_t:
        return x.as_uint32_t;
    default:
        return (wide)x.as_uint64_t;
    }
}

/* The lowest bits. */
static ha_dvalue wrapped(ha_dtype type, wide number) {
    ha_dvalue x = {.type = type};
    const uint64_t bits[2] = {(uint64_t)number, (uint64_t)(number >> 64)};
    memcpy(x.bytes, bits, ha_dtype_size(type));
    return x;
}

static ha_dvalue naive_integer_map(ha_map_operation op, ha_dvalue of) {
    const wide u = wide_of(of);
    switch (op) {
    case HA_NEGATE:
        return wrapped(of.type, -u);
    case HA_SQUARE:
        return wrapped(of.type, (wide)((unsigned_wide)u * (unsigned_wide)u));
    case HA_ABS:
        return wrapped(of.type, u < 0 ? -u : u);
    default:
        return wrapped(of.type, u > 0 ? 1 : u < 0 ? -1 : 0);
    }
}

static wide naive_quotient(wide u, wide v) { return v == 0 ? 0 : u / v; }

static wide wide_product(wide u, wide v) { return (wide)((unsigned_wide)u * (unsigned_wide)v); }

static ha_dvalue naive_integer(int op, ha_dvalue x, ha_dvalue y, ha_dvalue a, ha_dvalue b) {
    const wide u = wide_of(x), v = wide_of(y), p = wide_of(a), q = wide_of(b);
    const wide size_u = u < 0 ? -u : u, size_v = v < 0 ? -v : v;
    switch (op) {
    case HA_ADD:
        return wrapped(x.type, u + v);
    case HA_SUBTRACT:
        return wrapped(x.type, u - v);
    case HA_SUBTRACT_FROM:
        return wrapped(x.type, v - u);
    case HA_MULTIPLY:
        return wrapped(x.type, wide_product(u, v));
    case HA_DIVIDE:
        return wrapped(x.type, naive_quotient(u, v));
    case HA_DIVIDE_INTO:
        return wrapped(x.type, naive_quotient(v, u));
    case HA_MINIMUM:
        return wrapped(x.type, u < v ? u : v);
    case HA_MAXIMUM:
        return wrapped(x.type, u > v ? u : v);
    case HA_ABS_MAXIMUM:
        return wrapped(x.type, size_u > size_v ? size_u : size_v);
    case HA_ABS_DIFFERENCE:
        return wrapped(x.type, u > v ? u - v : v - u);
    case HA_MODULO:
        return wrapped(x.type, v == 0 ? 0 : u - v * (u / v));
    case NAIVE_AXPBY:
        return wrapped(
            x.type, (wide)((unsigned_wide)wide_product(p, u) + (unsigned_wide)wide_product(q, v)));
    default:
        return wrapped(x.type, u < p ? p : u > q ? q : u);
    }
}

#define NAIVE_MAP(op, function) [op - HA_NEGATE] = function
/* Of one type of real numbers: the functions of C that end with S. */
#define NAIVE_REAL(T, S)                                                                           \
    static T naive_map_##T(ha_map_operation op, T u) {                                             \
        static T (*const functions[HA_MAPS_ - HA_NEGATE])(T) = {                                   \
            NAIVE_MAP(HA_ABS, fabs##S),    NAIVE_MAP(HA_SQRT, sqrt##S),                            \
            NAIVE_MAP(HA_CBRT, cbrt##S),   NAIVE_MAP(HA_EXP, exp##S),                              \
            NAIVE_MAP(HA_EXPM1, expm1##S), NAIVE_MAP(HA_LOG, log##S),                              \
            NAIVE_MAP(HA_LOG1P, log1p##S), NAIVE_MAP(HA_SIN, sin##S),                              \
            NAIVE_MAP(HA_COS, cos##S),     NAIVE_MAP(HA_TAN, tan##S),                              \
            NAIVE_MAP(HA_ASIN, asin##S),   NAIVE_MAP(HA_ACOS, acos##S),                            \
            NAIVE_MAP(HA_ATAN, atan##S),   NAIVE_MAP(HA_SINH, sinh##S),                            \
            NAIVE_MAP(HA_COSH, cosh##S),   NAIVE_MAP(HA_TANH, tanh##S),                            \
            NAIVE_MAP(HA_ERF, erf##S),     NAIVE_MAP(HA_FLOOR, floor##S),                          \
            NAIVE_MAP(HA_CEIL, ceil##S),   NAIVE_MAP(HA_ROUND, round##S),                          \
            NAIVE_MAP(HA_TRUNC, trunc##S)};                                                        \
        if (op == HA_NEGATE) return -u;                                                            \
        if (op == HA_SQUARE) return u * u;                                                         \
        if (op == HA_RECIPROCAL) return 1 / u;                                                     \
        if (op == HA_SIGN) return isnan(u) || u == 0 ? u : copysign##S(1, u);                      \
        return functions[op - HA_NEGATE](u);                                                       \
    }                                                                                              \
    static T naive_##T(int op, T u, T v, T a, T b) {                                               \
        const int none = isnan(u) || isnan(v);                                                     \
        switch (op) {                                                                              \
        case HA_ADD:                                                                               \
            return u + v;                                                                          \
        case HA_SUBTRACT:                                                                          \
            return u - v;                                                                          \
        case HA_SUBTRACT_FROM:                                                                     \
            return v - u;                                                                          \
        case HA_MULTIPLY:                                                                          \
            return u * v;                                                                          \
        case HA_DIVIDE:                                                                            \
            return u / v;                                                                          \
        case HA_DIVIDE_INTO:                                                                       \
            return v / u;                                                                          \
        case HA_MINIMUM:                                                                           \
            return none ? (T)NAN : fmin##S(u, v);                                                  \
        case HA_MAXIMUM:                                                                           \
            return none ? (T)NAN : fmax##S(u, v);                                                  \
        case HA_ABS_MAXIMUM:                                                                       \
            return none ? (T)NAN : fmax##S(fabs##S(u), fabs##S(v));                                \
        case HA_ABS_DIFFERENCE:                                                                    \
            return fabs##S(u - v);                                                                 \
        case HA_MODULO:                                                                            \
            return fmod##S(u, v);                                                                  \
        case HA_POWER:                                                                             \
            return pow##S(u, v);                                                                   \
        case HA_ATAN2:                                                                             \
            return atan2##S(u, v);                                                                 \
        case HA_HYPOT:                                                                             \
            return hypot##S(u, v);                                                                 \
        case HA_COPYSIGN:                                                                          \
            return copysign##S(u, v);                                                              \
        case NAIVE_AXPBY: {                                                                        \
            const volatile T p = a * u, q = b * v; /* two products, and then their sum */          \
            return p + q;                                                                          \
        }                                                                                          \
        default:                                                                                   \
            return u < a ? a : u > b ? b : u;                                                      \
        }                                                                                          \
    }
NAIVE_REAL(float, f)
NAIVE_REAL(double, )

/* C11's CMPLX, which glibc has for gcc alone. */
static double _Complex complex_from(double re, double im) {
    const double parts[] = {re, im};
    double _Complex x;
    memcpy(&x, parts, sizeof x);
    return x;
}

static double _Complex complex_of(ha_dvalue x) {
    return x.type == HA_DTYPE_c64 ? complex_from((double)x.as_c64.re, (double)x.as_c64.im)
                                  : complex_from(x.as_c128.re, x.as_c128.im);
}

static ha_dvalue of_complex(ha_dtype type, double _Complex x) {
    return type == HA_DTYPE_c64 ? ha_dvalue_of_c64(ha_c64_make((float)creal(x), (float)cimag(x)))
                                : ha_dvalue_of_c128(ha_c128_make(creal(x), cimag(x)));
}

static double _Complex naive_complex(int op, double _Complex u, double _Complex v,
                                     double _Complex a, double _Complex b) {
    switch (op) {
    case HA_ADD:
        return u + v;
    case HA_SUBTRACT:
        return u - v;
    case HA_SUBTRACT_FROM:
        return v - u;
    case HA_MULTIPLY:
        return u * v;
    case HA_DIVIDE:
        return u / v;
    case HA_DIVIDE_INTO:
        return v / u;
    case HA_POWER:
        return v == 0 ? 1 : u == 0 && creal(v) > 0 ? 0 : cexp(v * clog(u));
    default:
        return a * u + b * v;
    }
}

static double real_of(ha_dvalue x) {
    ha_dvalue y = x;
    assert_int_equal(ha_dvalue_convert(x, HA_DTYPE_double, &y), HA_OK);
    return y.as_double;
}

/* half and bfloat16: with float, rounded once. */
static ha_dvalue of_float(ha_dtype type, float x) {
    ha_dvalue y = ha_dvalue_of_float(x);
    if (type == HA_DTYPE_half) return ha_dvalue_of_half(ha_half_of_float(x));
    if (type == HA_DTYPE_bfloat16) return ha_dvalue_of_bfloat16(ha_bfloat16_of_float(x));
    return y;
}

/* What is of another type than its argument: parts of complex numbers, and masks. */
static int is_test(int op) { return op == HA_IS_NAN || op == HA_IS_FINITE; }

static ha_dvalue naive_test(ha_map_operation op, ha_dvalue x) {
    const double _Complex u = ha_dtype_kind(x.type) == HA_KIND_COMPLEX
                                  ? complex_of(x)
                                  : complex_from(real_of(x), 0);
    return ha_dvalue_of_uint8_t(op == HA_IS_NAN ? isnan(creal(u)) || isnan(cimag(u))
                                                : isfinite(creal(u)) && isfinite(cimag(u)));
}

static ha_dvalue naive_part(ha_map_operation op, ha_dvalue x) {
    const double _Complex u = complex_of(x);
    const double part = op == HA_ABS              ? cabs(u)
                        : op == HA_REAL_PART      ? creal(u)
                        : op == HA_IMAGINARY_PART ? cimag(u)
                                                  : carg(u);
    return x.type == HA_DTYPE_c64 ? ha_dvalue_of_float((float)part) : ha_dvalue_of_double(part);
}

/* The type of the result; that of masks is uint8_t here. */
HA_UNUSED static ha_dtype type_of_map(ha_dtype type, int op) {
    if (is_test(op)) return HA_DTYPE_uint8_t;
    const int is_part = op == HA_ABS || op == HA_REAL_PART || op == HA_IMAGINARY_PART ||
                        op == HA_ARGUMENT;
    if (ha_dtype_kind(type) != HA_KIND_COMPLEX || !is_part) return type;
    return type == HA_DTYPE_c64 ? HA_DTYPE_float : HA_DTYPE_double;
}

static double _Complex naive_complex_map(ha_map_operation op, double _Complex u) {
    static double _Complex (*const functions[HA_MAPS_ - HA_NEGATE])(double _Complex) = {
        NAIVE_MAP(HA_CONJUGATE, conj), NAIVE_MAP(HA_SQRT, csqrt), NAIVE_MAP(HA_EXP, cexp),
        NAIVE_MAP(HA_LOG, clog),       NAIVE_MAP(HA_SIN, csin),   NAIVE_MAP(HA_COS, ccos),
        NAIVE_MAP(HA_TAN, ctan),       NAIVE_MAP(HA_SINH, csinh), NAIVE_MAP(HA_COSH, ccosh),
        NAIVE_MAP(HA_TANH, ctanh)};
    return op == HA_NEGATE       ? -u
           : op == HA_SQUARE     ? u * u
           : op == HA_RECIPROCAL ? 1 / u
                                 : functions[op - HA_NEGATE](u);
}

HA_UNUSED static ha_dvalue naive_map(ha_map_operation op, ha_dvalue x) {
    if (is_test((int)op)) return naive_test(op, x);
    if (type_of_map(x.type, (int)op) != x.type) return naive_part(op, x);
    switch (ha_dtype_kind(x.type)) {
    case HA_KIND_SIGNED:
    case HA_KIND_UNSIGNED:
        return naive_integer_map(op, x);
    case HA_KIND_COMPLEX:
        return of_complex(x.type, naive_complex_map(op, complex_of(x)));
    default:
        return x.type == HA_DTYPE_double ? ha_dvalue_of_double(naive_map_double(op, x.as_double))
                                         : of_float(x.type, naive_map_float(op, (float)real_of(x)));
    }
}

static int naive_order(int op, ha_comparison order) {
    switch (op) {
    case HA_IS_EQUAL:
        return order == HA_EQUAL;
    case HA_IS_NOT_EQUAL:
        return order != HA_EQUAL;
    case HA_IS_LESS:
        return order == HA_LESS;
    case HA_IS_LESS_EQUAL:
        return order == HA_LESS || order == HA_EQUAL;
    case HA_IS_GREATER:
        return order == HA_GREATER;
    default:
        return order == HA_GREATER || order == HA_EQUAL;
    }
}

static ha_dvalue naive_comparison(int op, ha_dvalue x, ha_dvalue y) {
    const ha_number_kind kind = ha_dtype_kind(x.type);
    if (kind == HA_KIND_COMPLEX)
        return ha_dvalue_of_uint8_t((complex_of(x) == complex_of(y)) == (op == HA_IS_EQUAL));
    const int whole = kind == HA_KIND_SIGNED || kind == HA_KIND_UNSIGNED;
    const wide u = whole ? wide_of(x) : 0, v = whole ? wide_of(y) : 0;
    const double p = whole ? 0 : real_of(x), q = whole ? 0 : real_of(y);
    const ha_comparison order = u < v || p < q         ? HA_LESS
                                : u > v || p > q       ? HA_GREATER
                                : isnan(p) || isnan(q) ? HA_UNORDERED
                                                       : HA_EQUAL;
    return ha_dvalue_of_uint8_t((uint8_t)naive_order(op, order));
}

HA_UNUSED static ha_dvalue naive(int op, ha_dvalue x, ha_dvalue y, ha_dvalue a, ha_dvalue b) {
    if (op >= HA_IS_EQUAL && op < HA_COMBINES_) return naive_comparison(op, x, y);
    if (op == HA_COMPLEX)
        return of_complex(x.type == HA_DTYPE_double ? HA_DTYPE_c128 : HA_DTYPE_c64,
                          complex_from(real_of(x), real_of(y)));
    switch (ha_dtype_kind(x.type)) {
    case HA_KIND_SIGNED:
    case HA_KIND_UNSIGNED:
        return naive_integer(op, x, y, a, b);
    case HA_KIND_COMPLEX:
        return of_complex(
            x.type, naive_complex(op, complex_of(x), complex_of(y), complex_of(a), complex_of(b)));
    default:
        return x.type == HA_DTYPE_double
                   ? ha_dvalue_of_double(
                         naive_double(op, x.as_double, y.as_double, a.as_double, b.as_double))
                   : of_float(x.type, naive_float(op, (float)real_of(x), (float)real_of(y),
                                                  (float)real_of(a), (float)real_of(b)));
    }
}

/* ---- by the number of an element ----------------------------------------------------------------- */

HA_UNUSED static ha_dvalue naive_in_sequence(ha_dvalue a, ha_dvalue b, int64_t at) {
    const ha_number_kind kind = ha_dtype_kind(a.type);
    if (kind == HA_KIND_COMPLEX)
        return of_complex(a.type, complex_of(a) + complex_of(b) * (double)at);
    if (kind == HA_KIND_REAL) {
        const volatile double product = real_of(b) * (double)at;
        const volatile float small = (float)real_of(b) * (float)at;
        return a.type == HA_DTYPE_double ? ha_dvalue_of_double(a.as_double + product)
                                         : of_float(a.type, (float)real_of(a) + small);
    }
    return wrapped(a.type,
                   (wide)((unsigned_wide)wide_of(a) + (unsigned_wide)wide_product(wide_of(b), at)));
}

/* Philox 4x32-10, as its paper has it: all four numbers. */
static void naive_philox(const uint32_t *counter, const uint32_t *key, uint32_t *out) {
    uint32_t k[2] = {key[0], key[1]};
    memcpy(out, counter, 4 * sizeof *out);
    for (int round = 0; round < 10; round++) {
        const uint64_t first = 0xD2511F53ull * out[0], second = 0xCD9E8D57ull * out[2];
        const uint32_t next[] = {(uint32_t)(second >> 32) ^ out[1] ^ k[0], (uint32_t)second,
                                 (uint32_t)(first >> 32) ^ out[3] ^ k[1], (uint32_t)first};
        memcpy(out, next, sizeof next);
        k[0] += 0x9E3779B9u, k[1] += 0xBB67AE85u;
    }
}

/* Number k of those that have so many bytes, lowest byte first: of the block of 16 bytes that it is in. */
static uint64_t naive_bits(uint64_t k, size_t bytes, uint64_t seed) {
    const uint64_t block = k * bytes / 16;
    const uint32_t counter[] = {(uint32_t)block, (uint32_t)(block >> 32), 0, 0};
    const uint32_t key[] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t out[4];
    uint64_t number = 0;
    naive_philox(counter, key, out);
    for (size_t i = 0; i < bytes; i++) {
        const size_t byte = k * bytes % 16 + i;
        number |= (uint64_t)(out[byte / 4] >> (byte % 4 * 8) & 255) << (8 * i);
    }
    return number;
}

/* Number k in [0, 1): those of double have 8 bytes, those of float 4, those of smaller ones 2; the highest bits count. */
static double naive_uniform(ha_dtype type, uint64_t k, uint64_t seed) {
    const int bits = type == HA_DTYPE_half                              ? 11
                     : type == HA_DTYPE_bfloat16                        ? 8
                     : type == HA_DTYPE_double || type == HA_DTYPE_c128 ? 53
                                                                        : 24;
    const int bytes = bits == 53 ? 8 : bits == 24 ? 4 : 2;
    return ldexp((double)(naive_bits(k, (size_t)bytes, seed) >> (8 * bytes - bits)), -bits);
}

/* Box and Muller, in double. */
HA_UNUSED static ha_dvalue naive_normal(ha_dtype type, int64_t at, uint64_t seed) {
    const int small = type != HA_DTYPE_double && type != HA_DTYPE_c128;
    const ha_dtype wide_type = small ? HA_DTYPE_float : HA_DTYPE_double;
    const double first = naive_uniform(wide_type, 2 * (uint64_t)at, seed) +
                         ldexp(1, small ? -24 : -53);
    const double distance = sqrt(-2 * log(first));
    const double angle = 2 * acos(-1.0) * naive_uniform(wide_type, 2 * (uint64_t)at + 1, seed);
    ha_dvalue x = {.type = type};
    if (ha_dtype_kind(type) == HA_KIND_COMPLEX)
        return of_complex(type, complex_from(distance * cos(angle), distance * sin(angle)));
    assert_int_equal(ha_dvalue_convert(ha_dvalue_of_double(distance * cos(angle)), type, &x),
                     HA_OK);
    return x;
}

HA_UNUSED static ha_dvalue naive_random(ha_dtype type, int64_t at, uint64_t seed) {
    const ha_number_kind kind = ha_dtype_kind(type);
    ha_dvalue x = {.type = type};
    const uint64_t k = (uint64_t)at;
    if (kind == HA_KIND_COMPLEX)
        return of_complex(type, complex_from(naive_uniform(type, 2 * k, seed),
                                             naive_uniform(type, 2 * k + 1, seed)));
    if (kind == HA_KIND_REAL) {
        assert_int_equal(
            ha_dvalue_convert(ha_dvalue_of_double(naive_uniform(type, k, seed)), type, &x), HA_OK);
    } else {
        const uint64_t bits = naive_bits(k, ha_dtype_size(type), seed);
        memcpy(x.bytes, &bits, ha_dtype_size(type)); /* of a little end */
    }
    return x;
}

#endif
