/* What each operation computes: u is an element of the first argument, v one of the second, a and b are numbers.
 *
 * X(T, operation, word, expression); T is the type in C, U of integers the unsigned one of the same size, in which
 * nothing overflows, F(f) of real numbers C's function f of that type, and P(f) of complex ones harray's. Host and
 * devices compile the same expressions. */
#ifndef HARRAY_IMPL_OPS_EXPRESSIONS_H
#define HARRAY_IMPL_OPS_EXPRESSIONS_H

#include "../kernels/all.h"
#include "../../ops.h"
#include "complex_functions.h"

#include <math.h>

/* ---- of one argument ----------------------------------------------------------------------------- */

#define HA_MAPS_OF_INTEGERS_(X, T, U)                                                              \
    X(T, HA_NEGATE, negate, (T)(0 - (U)u))                                                         \
    X(T, HA_SQUARE, square, (T)((U)u * (U)u))

#define HA_MAPS_OF_SIGNED_(X, T, U)                                                                \
    HA_MAPS_OF_INTEGERS_(X, T, U)                                                                  \
    X(T, HA_ABS, abs, u < 0 ? (T)(0 - (U)u) : u)                                                   \
    X(T, HA_SIGN, sign, (T)((u > 0) - (u < 0)))

#define HA_MAPS_OF_UNSIGNED_(X, T, U)                                                              \
    HA_MAPS_OF_INTEGERS_(X, T, U)                                                                  \
    X(T, HA_ABS, abs, u)                                                                           \
    X(T, HA_SIGN, sign, (T)(u > 0))

#define HA_MAPS_OF_REAL_(X, T, F)                                                                  \
    X(T, HA_NEGATE, negate, -u)                                                                    \
    X(T, HA_SQUARE, square, u *u)                                                                  \
    X(T, HA_ABS, abs, F(fabs)(u))                                                                  \
    X(T, HA_SIGN, sign, u > 0 ? (T)1 : u < 0 ? (T)-1 : u)                                          \
    X(T, HA_RECIPROCAL, reciprocal, 1 / u)                                                         \
    X(T, HA_SQRT, sqrt, F(sqrt)(u))                                                                \
    X(T, HA_CBRT, cbrt, F(cbrt)(u))                                                                \
    X(T, HA_EXP, exp, F(exp)(u))                                                                   \
    X(T, HA_EXPM1, expm1, F(expm1)(u))                                                             \
    X(T, HA_LOG, log, F(log)(u))                                                                   \
    X(T, HA_LOG1P, log1p, F(log1p)(u))                                                             \
    X(T, HA_SIN, sin, F(sin)(u))                                                                   \
    X(T, HA_COS, cos, F(cos)(u))                                                                   \
    X(T, HA_TAN, tan, F(tan)(u))                                                                   \
    X(T, HA_ASIN, asin, F(asin)(u))                                                                \
    X(T, HA_ACOS, acos, F(acos)(u))                                                                \
    X(T, HA_ATAN, atan, F(atan)(u))                                                                \
    X(T, HA_SINH, sinh, F(sinh)(u))                                                                \
    X(T, HA_COSH, cosh, F(cosh)(u))                                                                \
    X(T, HA_TANH, tanh, F(tanh)(u))                                                                \
    X(T, HA_ERF, erf, F(erf)(u))                                                                   \
    X(T, HA_FLOOR, floor, F(floor)(u))                                                             \
    X(T, HA_CEIL, ceil, F(ceil)(u))                                                                \
    X(T, HA_ROUND, round, F(round)(u))                                                             \
    X(T, HA_TRUNC, trunc, F(trunc)(u))
#define HA_MAPS_OF_COMPLEX_(X, T, P)                                                               \
    X(T, HA_NEGATE, negate, P(negate)(u))                                                          \
    X(T, HA_SQUARE, square, P(mul)(u, u))                                                          \
    X(T, HA_CONJUGATE, conjugate, P(conj)(u))                                                      \
    X(T, HA_RECIPROCAL, reciprocal, P(div)(P(make)(1, 0), u))
/* ---- of two arguments ---------------------------------------------------------------------------- */

#define HA_COMBINES_OF_INTEGERS_(X, T, U)                                                          \
    X(T, HA_ADD, add, (T)((U)u + (U)v))                                                            \
    X(T, HA_SUBTRACT, subtract, (T)((U)u - (U)v))                                                  \
    X(T, HA_SUBTRACT_FROM, subtract_from, (T)((U)v - (U)u))                                        \
    X(T, HA_MULTIPLY, multiply, (T)((U)u * (U)v))                                                  \
    X(T, HA_MINIMUM, minimum, v < u ? v : u)                                                       \
    X(T, HA_MAXIMUM, maximum, u < v ? v : u)                                                       \
    X(T, HA_ABS_DIFFERENCE, abs_difference, u < v ? (T)((U)v - (U)u) : (T)((U)u - (U)v))

/* The least number has no counterpart: -1 is no divisor that processors take, nor is 0. */
#define HA_COMBINES_OF_SIGNED_(X, T, U)                                                            \
    HA_COMBINES_OF_INTEGERS_(X, T, U)                                                              \
    X(T, HA_DIVIDE, divide, HA_INTEGER_QUOTIENT_(T, U, u, v))                                      \
    X(T, HA_DIVIDE_INTO, divide_into, HA_INTEGER_QUOTIENT_(T, U, v, u))                            \
    X(T, HA_MODULO, modulo, v == 0 || v == -1 ? (T)0 : u % v)                                      \
    X(T, HA_ABS_MAXIMUM, abs_maximum,                                                              \
      (T)(HA_SIZE_OF_(U, u) < HA_SIZE_OF_(U, v) ? HA_SIZE_OF_(U, v) : HA_SIZE_OF_(U, u)))
#define HA_INTEGER_QUOTIENT_(T, U, u, v) v == 0 ? (T)0 : v == -1 ? (T)(0 - (U)u) : u / v
#define HA_SIZE_OF_(U, u) (u < 0 ? 0 - (U)u : (U)u)

#define HA_COMBINES_OF_UNSIGNED_(X, T, U)                                                          \
    HA_COMBINES_OF_INTEGERS_(X, T, U)                                                              \
    X(T, HA_DIVIDE, divide, v == 0 ? 0 : u / v)                                                    \
    X(T, HA_DIVIDE_INTO, divide_into, u == 0 ? 0 : v / u)                                          \
    X(T, HA_MODULO, modulo, v == 0 ? 0 : u % v)                                                    \
    X(T, HA_ABS_MAXIMUM, abs_maximum, u < v ? v : u)

/* NaN is what is not itself. */
#define HA_COMBINES_OF_REAL_(X, T, F)                                                              \
    X(T, HA_ADD, add, u + v)                                                                       \
    X(T, HA_SUBTRACT, subtract, u - v)                                                             \
    X(T, HA_SUBTRACT_FROM, subtract_from, v - u)                                                   \
    X(T, HA_MULTIPLY, multiply, u *v)                                                              \
    X(T, HA_DIVIDE, divide, u / v)                                                                 \
    X(T, HA_DIVIDE_INTO, divide_into, v / u)                                                       \
    X(T, HA_MINIMUM, minimum, u < v || u != u ? u : v)                                             \
    X(T, HA_MAXIMUM, maximum, v < u || u != u ? u : v)                                             \
    X(T, HA_ABS_MAXIMUM, abs_maximum, F(fabs)(v) < F(fabs)(u) || u != u ? F(fabs)(u) : F(fabs)(v)) \
    X(T, HA_ABS_DIFFERENCE, abs_difference, F(fabs)(u - v))                                        \
    X(T, HA_MODULO, modulo, F(fmod)(u, v))                                                         \
    X(T, HA_POWER, power, F(pow)(u, v))                                                            \
    X(T, HA_ATAN2, atan2, F(atan2)(u, v))                                                          \
    X(T, HA_HYPOT, hypot, F(hypot)(u, v))                                                          \
    X(T, HA_COPYSIGN, copysign, F(copysign)(u, v))

#define HA_COMBINES_OF_COMPLEX_(X, T, P)                                                           \
    X(T, HA_ADD, add, P(add)(u, v))                                                                \
    X(T, HA_SUBTRACT, subtract, P(sub)(u, v))                                                      \
    X(T, HA_SUBTRACT_FROM, subtract_from, P(sub)(v, u))                                            \
    X(T, HA_MULTIPLY, multiply, P(mul)(u, v))                                                      \
    X(T, HA_DIVIDE, divide, P(div)(u, v))                                                          \
    X(T, HA_DIVIDE_INTO, divide_into, P(div)(v, u))

/* ---- with numbers -------------------------------------------------------------------------------- */

/* X(T, word, expression) */
#define HA_SPECIALS_OF_INTEGERS_(X, T, U)                                                          \
    X(T, axpy, (T)((U)a * (U)u + (U)v))                                                            \
    X(T, axpby, (T)((U)a * (U)u + (U)b * (U)v))                                                    \
    X(T, clip, u < a ? a : b < u ? b : u)
#define HA_SPECIALS_OF_REAL_(X, T, F)                                                              \
    X(T, axpy, a *u + v)                                                                           \
    X(T, axpby, a *u + b * v)                                                                      \
    X(T, clip, u < a ? a : b < u ? b : u)
#define HA_SPECIALS_OF_COMPLEX_(X, T, P)                                                           \
    X(T, axpy, P(add)(P(mul)(a, u), v))                                                            \
    X(T, axpby, P(add)(P(mul)(a, u), P(mul)(b, v)))

/* ---- comparisons: 1 or 0 ------------------------------------------------------------------------- */

#define HA_EQUALITIES_(X, T, equal)                                                                \
    X(T, HA_IS_EQUAL, is_equal, (uint8_t)(equal))                                                  \
    X(T, HA_IS_NOT_EQUAL, is_not_equal, (uint8_t)(!(equal)))
#define HA_COMPARISONS_(X, T)                                                                      \
    HA_EQUALITIES_(X, T, u == v)                                                                   \
    X(T, HA_IS_LESS, is_less, (uint8_t)(u < v))                                                    \
    X(T, HA_IS_LESS_EQUAL, is_less_equal, (uint8_t)(u <= v))                                       \
    X(T, HA_IS_GREATER, is_greater, (uint8_t)(u > v))                                              \
    X(T, HA_IS_GREATER_EQUAL, is_greater_equal, (uint8_t)(u >= v))

/* ---- results of another type --------------------------------------------------------------------- */

/* M is the X of those of one argument, C of those of two: X(T, R, kind, operation, word, expression); R is the type of the
 * result, kind that of lines.h. */
#define HA_TESTS_(M, T, is_nan_, is_finite_)                                                       \
    M(T, uint8_t, HA_OP_MASK, HA_IS_NAN, is_nan, (uint8_t)(is_nan_))                               \
    M(T, uint8_t, HA_OP_MASK, HA_IS_FINITE, is_finite, (uint8_t)(is_finite_))
#define HA_OTHERS_OF_REAL_(M, C, T, R, P)                                                          \
    HA_TESTS_(M, T, u != u, u - u == 0)                                                            \
    C(T, R, HA_OP_OTHER, HA_COMPLEX, complex, P(make)(u, v))
#define HA_OTHERS_OF_COMPLEX_(M, C, T, R, F)                                                       \
    HA_TESTS_(M, T, u.re != u.re || u.im != u.im, u.re - u.re == 0 && u.im - u.im == 0)            \
    M(T, R, HA_OP_OTHER, HA_ABS, abs, F(hypot)(u.re, u.im))                                        \
    M(T, R, HA_OP_OTHER, HA_REAL_PART, real_part, u.re)                                            \
    M(T, R, HA_OP_OTHER, HA_IMAGINARY_PART, imaginary_part, u.im)                                  \
    M(T, R, HA_OP_OTHER, HA_ARGUMENT, argument, F(atan2)(u.im, u.re))
#define HA_OTHERS_OF_TYPES_(M, C)                                                                  \
    HA_IF_float_(HA_OTHERS_OF_REAL_(M, C, float, ha_c64, HA_P_c64_))                               \
        HA_IF_double_(HA_OTHERS_OF_REAL_(M, C, double, ha_c128, HA_P_c128_))                       \
            HA_IF_ha_c64_(HA_OTHERS_OF_COMPLEX_(M, C, ha_c64, float, HA_F_float_))                 \
                HA_IF_ha_c128_(HA_OTHERS_OF_COMPLEX_(M, C, ha_c128, double, HA_F_double_))

/* ---- functions of complex_functions.h ------------------------------------------------------------ */

#define HA_CALLS_OF_COMPLEX_(M, C, T)                                                              \
    M(T, HA_SQRT, sqrt, T##_sqrt_(u))                                                              \
    M(T, HA_EXP, exp, T##_exp_(u))                                                                 \
    M(T, HA_LOG, log, T##_log_(u))                                                                 \
    M(T, HA_SIN, sin, T##_sin_(u))                                                                 \
    M(T, HA_COS, cos, T##_cos_(u))                                                                 \
    M(T, HA_TAN, tan, T##_tan_(u))                                                                 \
    M(T, HA_SINH, sinh, T##_sinh_(u))                                                              \
    M(T, HA_COSH, cosh, T##_cosh_(u))                                                              \
    M(T, HA_TANH, tanh, T##_tanh_(u))                                                              \
    C(T, HA_POWER, power, T##_pow_(u, v))
#define HA_CALLS_OF_TYPES_(M, C)                                                                   \
    HA_IF_ha_c64_(HA_CALLS_OF_COMPLEX_(M, C, ha_c64))                                              \
        HA_IF_ha_c128_(HA_CALLS_OF_COMPLEX_(M, C, ha_c128))

/* ---- of the place of an element ------------------------------------------------------------------ */

/* X(T, word, expression) of a, b and the number of the element, at. */
#define HA_PLACES_OF_INTEGERS_(X, T, U)                                                            \
    X(T, fill, a)                                                                                  \
    X(T, sequence, (T)((U)a + (U)b * (U)at))
#define HA_PLACES_OF_REAL_(X, T, F)                                                                \
    X(T, fill, a)                                                                                  \
    X(T, sequence, a + b * (T)at)
#define HA_PART_OF_ha_c64_(at) (float)(at)
#define HA_PART_OF_ha_c128_(at) (double)(at)
#define HA_PLACES_OF_COMPLEX_(X, T, P)                                                             \
    X(T, fill, a)                                                                                  \
    X(T, sequence, P(add)(a, P(mul)(b, P(make)(HA_PART_OF_##T##_(at), 0))))

/* ---- numbers of lanes, for reductions ------------------------------------------------------------ */

enum {
    HA_LANE_VALUE_,
    HA_LANE_IS_THERE_, /* not 0 */
    HA_LANE_ABS_,      /* these two are of the element times a, which is a power of 2 */
    HA_LANE_SQUARE_,
    HA_LANE_PRODUCT_,        /* from here on of two */
    HA_LANE_ABS_DIFFERENCE_, /* these two are of the elements times a */
    HA_LANE_SQUARE_OF_DIFFERENCE_,
    HA_LANES_
};
/* Those with an a. */
#define HA_IS_SCALED_LANE_(lane)                                                                   \
    ((lane) == HA_LANE_ABS_ || (lane) == HA_LANE_SQUARE_ || (lane) == HA_LANE_ABS_DIFFERENCE_ ||   \
     (lane) == HA_LANE_SQUARE_OF_DIFFERENCE_)

/* X(T, R, lane, word, expression): R is what is reduced. */
#define HA_LANES_OF_SMALL_(X, T, R)                                                                \
    X(T, R, HA_LANE_VALUE_, value, u)                                                              \
    X(T, int64_t, HA_LANE_IS_THERE_, is_there, u != 0)
#define HA_DISTANCE_(u, v) (u < v ? (uint64_t)v - (uint64_t)u : (uint64_t)u - (uint64_t)v)
#define HA_LANES_OF_INDICES_(X, T, R, ABS)                                                         \
    HA_LANES_OF_SMALL_(X, T, R)                                                                    \
    X(T, double, HA_LANE_ABS_, abs_of, (double)(ABS(u)) * a)
#define HA_LANES_OF_INTEGERS_(X, T, R, ABS)                                                        \
    HA_LANES_OF_INDICES_(X, T, R, ABS)                                                             \
    X(T, double, HA_LANE_SQUARE_, square_of, ((double)u * a) * ((double)u * a))                    \
    X(T, R, HA_LANE_PRODUCT_, product_of, (R)((uint64_t)u * (uint64_t)v))                          \
    X(T, double, HA_LANE_ABS_DIFFERENCE_, abs_difference_of, (double)(HA_DISTANCE_(u, v)) * a)     \
    X(T, double, HA_LANE_SQUARE_OF_DIFFERENCE_, square_of_difference,                              \
      ((double)(HA_DISTANCE_(u, v)) * a) * ((double)(HA_DISTANCE_(u, v)) * a))
#define HA_SIZE_OF_SIGNED_(u) (u < 0 ? 0 - (uint64_t)u : (uint64_t)u)
#define HA_SIZE_OF_UNSIGNED_(u) u
#define HA_LANES_OF_REAL_(X, T, F)                                                                 \
    X(T, T, HA_LANE_VALUE_, value, u)                                                              \
    X(T, int64_t, HA_LANE_IS_THERE_, is_there, u != 0)                                             \
    X(T, T, HA_LANE_ABS_, abs_of, F(fabs)(u) * a)                                                  \
    X(T, T, HA_LANE_SQUARE_, square_of, (u * a) * (u * a))                                         \
    X(T, T, HA_LANE_PRODUCT_, product_of, u *v)                                                    \
    X(T, T, HA_LANE_ABS_DIFFERENCE_, abs_difference_of, F(fabs)(u * a - v * a))                    \
    X(T, T, HA_LANE_SQUARE_OF_DIFFERENCE_, square_of_difference, (u * a - v * a) * (u * a - v * a))
#define HA_LANES_OF_COMPLEX_(X, T, R, F, P)                                                        \
    X(T, T, HA_LANE_VALUE_, value, u)                                                              \
    X(T, int64_t, HA_LANE_IS_THERE_, is_there, u.re != 0 || u.im != 0)                             \
    X(T, R, HA_LANE_ABS_, abs_of, F(hypot)(u.re * a, u.im * a))                                    \
    X(T, R, HA_LANE_SQUARE_, square_of, (u.re * a) * (u.re * a) + (u.im * a) * (u.im * a))         \
    X(T, T, HA_LANE_PRODUCT_, product_of, P(mul)(P(conj)(u), v))                                   \
    X(T, R, HA_LANE_ABS_DIFFERENCE_, abs_difference_of,                                            \
      F(hypot)(u.re * a - v.re * a, u.im * a - v.im * a))                                          \
    X(T, R, HA_LANE_SQUARE_OF_DIFFERENCE_, square_of_difference,                                   \
      (u.re * a - v.re * a) * (u.re * a - v.re * a) +                                              \
          (u.im * a - v.im * a) * (u.im * a - v.im * a))

#define HA_LANES_OF_int8_t_(X) HA_LANES_OF_SMALL_(X, int8_t, int64_t)
#define HA_LANES_OF_int16_t_(X) HA_LANES_OF_SMALL_(X, int16_t, int64_t)
#define HA_LANES_OF_uint8_t_(X) HA_LANES_OF_SMALL_(X, uint8_t, uint64_t)
#define HA_LANES_OF_uint16_t_(X) HA_LANES_OF_SMALL_(X, uint16_t, uint64_t)
#define HA_LANES_OF_int32_t_(X)                                                                    \
    HA_IF_int32_t_(HA_LANES_OF_INTEGERS_(X, int32_t, int64_t, HA_SIZE_OF_SIGNED_))                 \
        HA_IF_NOT_int32_t_(HA_LANES_OF_INDICES_(X, int32_t, int64_t, HA_SIZE_OF_SIGNED_))
#define HA_LANES_OF_int64_t_(X)                                                                    \
    HA_IF_int64_t_(HA_LANES_OF_INTEGERS_(X, int64_t, int64_t, HA_SIZE_OF_SIGNED_))                 \
        HA_IF_NOT_int64_t_(HA_LANES_OF_INDICES_(X, int64_t, int64_t, HA_SIZE_OF_SIGNED_))
#define HA_LANES_OF_uint32_t_(X)                                                                   \
    HA_IF_uint32_t_(HA_LANES_OF_INTEGERS_(X, uint32_t, uint64_t, HA_SIZE_OF_UNSIGNED_))            \
        HA_IF_NOT_uint32_t_(HA_LANES_OF_INDICES_(X, uint32_t, uint64_t, HA_SIZE_OF_UNSIGNED_))
#define HA_LANES_OF_uint64_t_(X)                                                                   \
    HA_IF_uint64_t_(HA_LANES_OF_INTEGERS_(X, uint64_t, uint64_t, HA_SIZE_OF_UNSIGNED_))            \
        HA_IF_NOT_uint64_t_(HA_LANES_OF_INDICES_(X, uint64_t, uint64_t, HA_SIZE_OF_UNSIGNED_))
#define HA_LANES_OF_float_(X) HA_IF_float_(HA_LANES_OF_REAL_(X, float, HA_F_float_))
#define HA_LANES_OF_double_(X) HA_IF_double_(HA_LANES_OF_REAL_(X, double, HA_F_double_))
#define HA_LANES_OF_ha_c64_(X)                                                                     \
    HA_IF_ha_c64_(HA_LANES_OF_COMPLEX_(X, ha_c64, float, HA_F_float_, HA_P_c64_))
#define HA_LANES_OF_ha_c128_(X)                                                                    \
    HA_IF_ha_c128_(HA_LANES_OF_COMPLEX_(X, ha_c128, double, HA_F_double_, HA_P_c128_))

#define HA_LANES_OF_TYPES_(X)                                                                      \
    HA_LANES_OF_int8_t_(X) HA_LANES_OF_int16_t_(X) HA_LANES_OF_uint8_t_(X)                         \
        HA_LANES_OF_uint16_t_(X) HA_LANES_OF_int32_t_(X) HA_LANES_OF_int64_t_(X)                   \
            HA_LANES_OF_uint32_t_(X) HA_LANES_OF_uint64_t_(X) HA_LANES_OF_float_(X)                \
                HA_LANES_OF_double_(X) HA_LANES_OF_ha_c64_(X) HA_LANES_OF_ha_c128_(X)

/* ---- all of a type ------------------------------------------------------------------------------- */

#define HA_F_float_(function) function##f
#define HA_F_double_(function) function
#define HA_P_c64_(function) ha_c64_##function
#define HA_P_c128_(function) ha_c128_##function

/* M, C, S, K and P are the X of the kinds of operations: of one, of two, with numbers, comparisons, of places. */
#define HA_LINES_OF_SIGNED_(T, U, M, C, S, K, P)                                                   \
    HA_MAPS_OF_SIGNED_(M, T, U)                                                                    \
    HA_COMBINES_OF_SIGNED_(C, T, U)                                                                \
    HA_SPECIALS_OF_INTEGERS_(S, T, U)                                                              \
    HA_LINES_OF_SMALL_(T, U, K, P)
#define HA_LINES_OF_UNSIGNED_(T, U, M, C, S, K, P)                                                 \
    HA_MAPS_OF_UNSIGNED_(M, T, U)                                                                  \
    HA_COMBINES_OF_UNSIGNED_(C, T, U)                                                              \
    HA_SPECIALS_OF_INTEGERS_(S, T, U)                                                              \
    HA_LINES_OF_SMALL_(T, U, K, P)
#define HA_LINES_OF_SMALL_(T, U, K, P) HA_COMPARISONS_(K, T) HA_PLACES_OF_INTEGERS_(P, T, U)
#define HA_LINES_OF_REAL_(T, F, M, C, S, K, P)                                                     \
    HA_MAPS_OF_REAL_(M, T, F)                                                                      \
    HA_COMBINES_OF_REAL_(C, T, F)                                                                  \
    HA_SPECIALS_OF_REAL_(S, T, F)                                                                  \
    HA_COMPARISONS_(K, T)                                                                          \
    HA_PLACES_OF_REAL_(P, T, F)
#define HA_LINES_OF_COMPLEX_(T, by, M, C, S, K, P)                                                 \
    HA_MAPS_OF_COMPLEX_(M, T, by)                                                                  \
    HA_COMBINES_OF_COMPLEX_(C, T, by)                                                              \
    HA_SPECIALS_OF_COMPLEX_(S, T, by)                                                              \
    HA_EQUALITIES_(K, T, u.re == v.re && u.im == v.im)                                             \
    HA_PLACES_OF_COMPLEX_(P, T, by)

/* Of integers of 32 and 64 bits, which are also indices and counts: what those need. */
#define HA_LINES_OF_INDICES_(T, U, C, K, P)                                                        \
    C(T, HA_ADD, add, (T)((U)u + (U)v))                                                            \
    C(T, HA_SUBTRACT, subtract, (T)((U)u - (U)v))                                                  \
    C(T, HA_MINIMUM, minimum, v < u ? v : u)                                                       \
    HA_LINES_OF_SMALL_(T, U, K, P)

/* Of each type in which is computed. */
#define HA_LINES_OF_int32_t_(M, C, S, K, P)                                                        \
    HA_IF_int32_t_(HA_LINES_OF_SIGNED_(int32_t, uint32_t, M, C, S, K, P))                          \
        HA_IF_NOT_int32_t_(HA_LINES_OF_INDICES_(int32_t, uint32_t, C, K, P))
#define HA_LINES_OF_int64_t_(M, C, S, K, P)                                                        \
    HA_IF_int64_t_(HA_LINES_OF_SIGNED_(int64_t, uint64_t, M, C, S, K, P))                          \
        HA_IF_NOT_int64_t_(HA_LINES_OF_INDICES_(int64_t, uint64_t, C, K, P))
#define HA_LINES_OF_uint32_t_(M, C, S, K, P)                                                       \
    HA_IF_uint32_t_(HA_LINES_OF_UNSIGNED_(uint32_t, uint32_t, M, C, S, K, P))                      \
        HA_IF_NOT_uint32_t_(HA_LINES_OF_INDICES_(uint32_t, uint32_t, C, K, P))
#define HA_LINES_OF_uint64_t_(M, C, S, K, P)                                                       \
    HA_IF_uint64_t_(HA_LINES_OF_UNSIGNED_(uint64_t, uint64_t, M, C, S, K, P))                      \
        HA_IF_NOT_uint64_t_(HA_LINES_OF_INDICES_(uint64_t, uint64_t, C, K, P))
#define HA_LINES_OF_float_(M, C, S, K, P)                                                          \
    HA_IF_float_(HA_LINES_OF_REAL_(float, HA_F_float_, M, C, S, K, P))
#define HA_LINES_OF_double_(M, C, S, K, P)                                                         \
    HA_IF_double_(HA_LINES_OF_REAL_(double, HA_F_double_, M, C, S, K, P))
#define HA_LINES_OF_ha_c64_(M, C, S, K, P)                                                         \
    HA_IF_ha_c64_(HA_LINES_OF_COMPLEX_(ha_c64, HA_P_c64_, M, C, S, K, P))
#define HA_LINES_OF_ha_c128_(M, C, S, K, P)                                                        \
    HA_IF_ha_c128_(HA_LINES_OF_COMPLEX_(ha_c128, HA_P_c128_, M, C, S, K, P))                       \
        HA_IF_NOT_ha_c128_(P(ha_c128, fill, a)) /* of all elements of 16 bytes */
#define HA_LINES_OF_int8_t_(M, C, S, K, P) HA_LINES_OF_SMALL_(int8_t, uint32_t, K, P)
#define HA_LINES_OF_int16_t_(M, C, S, K, P) HA_LINES_OF_SMALL_(int16_t, uint32_t, K, P)
#define HA_LINES_OF_uint8_t_(M, C, S, K, P) HA_LINES_OF_SMALL_(uint8_t, uint32_t, K, P)
#define HA_LINES_OF_uint16_t_(M, C, S, K, P) HA_LINES_OF_SMALL_(uint16_t, uint32_t, K, P)

/* Of all of them. */
#define HA_LINES_OF_TYPES_(M, C, S, K, P)                                                          \
    HA_LINES_OF_int8_t_(M, C, S, K, P) HA_LINES_OF_int16_t_(M, C, S, K, P)                         \
        HA_LINES_OF_uint8_t_(M, C, S, K, P) HA_LINES_OF_uint16_t_(M, C, S, K, P)                   \
            HA_LINES_OF_int32_t_(M, C, S, K, P) HA_LINES_OF_int64_t_(M, C, S, K, P)                \
                HA_LINES_OF_uint32_t_(M, C, S, K, P) HA_LINES_OF_uint64_t_(M, C, S, K, P)          \
                    HA_LINES_OF_float_(M, C, S, K, P) HA_LINES_OF_double_(M, C, S, K, P)           \
                        HA_LINES_OF_ha_c64_(M, C, S, K, P) HA_LINES_OF_ha_c128_(M, C, S, K, P)

#endif
