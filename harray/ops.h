/* Operations on arrays and views of them, on the host and on devices.
 *
 *     #include "harray_ops.h"
 *     …
 *     HA_CHECK(ha_fill(x, 1, gpu));
 *     HA_CHECK(ha_map(HA_SQRT, y, x, gpu));              // y = sqrt(x)
 *     HA_CHECK(ha_combine(HA_MULTIPLY, z, x, y, gpu));   // z = x y, element by element
 *     HA_CHECK(ha_combine_number(HA_ADD, x, x, 1, gpu)); // x = x + 1
 *     HA_CHECK(ha_axpy(y, 2.0, x, gpu));                 // y += 2 x
 *     HA_CHECK(ha_axpby(z, 2.0, x, -1.0, y, gpu));       // z = 2 x - y
 *     HA_CHECK(ha_clip(x, x, 0, 1, gpu));
 *     HA_CHECK(ha_norm(HA_NORM_2, x, &norm, gpu));       // waits for it
 *
 * An array is a harray_T, an array_T_D, or a darray, of any rank and strides; so rows, columns and
 * interiors are views of it. Arguments may be for reading only (harray_T_const, array_T_D_const), what is
 * written not; nothing else compiles. A context says where to compute, NULL as usual: there the arrays are
 * opened, as a kernel's are, and what is missing moves. The call enqueues, and waits for nothing but
 * what it has to look at: a result that is a number, indices (gather.h), what sorts on devices count
 * (sort.h), and what is said at each word. On a device that compiles kernels (kernel.h) an operation
 * is one, made when it is first asked for; elsewhere it is a loop.
 *
 * Elements: int32_t, uint32_t, int64_t, uint64_t, float, double, c64, c128; half and bfloat16,
 * which are computed with as float, and rounded once. All arrays of a call have the same type, and
 * the same extents; their lowest indices do not matter. The result may be one of the arguments,
 * element for element. A number first becomes one of the type of the elements, of half and bfloat16
 * rounded to that, too; then it is computed with. So one with a fraction is refused for integers, and
 * a finite one for a type in which it would be infinite. Integers wrap around, the signed ones too.
 * + - * / and square roots have the same bits on every context that has them (kernel.h), the other
 * functions those of its mathematical library.
 *
 * May be called from any thread. Calls that wait, and scans and sorts on devices, go over their arguments more than once, and
 * others may write these in between: then results are of neither what was there nor what is, but nothing else is touched. Where that
 * is not so it is said: of indices (gather.h), and of what is sorted (sort.h).
 *
 * ---- errors; nothing has been computed then
 *   HA_ERR_ARGUMENT     no array; types or extents differ; a word of another function, all of which have numbers of their own
 *                       (HA_MAX is a reduction; of two arguments it is HA_MAXIMUM); a type that has no such operation; a
 *                       number that is none of the type (2.5 of int32_t, 1e300 of float); the result repeats elements, or
 *                       has some of an argument's in other places: views that take turns, as even and odd elements, have none
 *                       in common, but where strides differ, and boxes around the views meet, it is not always known
 *   HA_ERR_UNSUPPORTED  what a kernel has (double on devices without it)
 *   HA_ERR_…            as ha_open_many and kernels */
#ifndef HARRAY_OPS_H
#define HARRAY_OPS_H

#include "../layout/arithmetic.h"
#include "darray.h"
#include "detail/word.h"
#include "reduce.h"

/* Of one argument. Those of real numbers that are not defined give NaN, as C's do. */
typedef enum ha_map_operation {
    HA_NEGATE = 512, /* of all types */
    HA_SQUARE,       /* of all types */
    HA_ABS,          /* of all; of complex ones it is real (HA_REAL_PART) */
    HA_SIGN,         /* -1, 0 or 1; NaN stays. Of all but complex ones */
    HA_CONJUGATE,    /* of complex ones */
    HA_RECIPROCAL,   /* from here on of real ones; those marked + of complex ones, too: + */
    HA_SQRT,         /* + */
    HA_CBRT,
    HA_EXP, /* + */
    HA_EXPM1,
    HA_LOG, /* + */
    HA_LOG1P,
    HA_SIN, /* + */
    HA_COS, /* + */
    HA_TAN, /* + */
    HA_ASIN,
    HA_ACOS,
    HA_ATAN,
    HA_SINH, /* + */
    HA_COSH, /* + */
    HA_TANH, /* + */
    HA_ERF,
    HA_FLOOR,
    HA_CEIL,
    HA_ROUND, /* halves away from 0 */
    HA_TRUNC,
    HA_REAL_PART, /* of complex ones: y is of float for c64, of double for c128 */
    HA_IMAGINARY_PART,
    HA_ARGUMENT, /* the angle of a complex number, of (-pi, pi] */
    HA_IS_NAN, /* from here on y is a mask: of uint8_t or bool, 1 or 0. Of real and complex ones, */
    HA_IS_FINITE, /* of which a part is NaN; of which both are finite */
    HA_MAPS_      /* behind the last one */
} ha_map_operation;

/* Of two arguments x and y: HA_ADD, HA_SUBTRACT, HA_MULTIPLY and HA_DIVIDE (layout/arithmetic.h),
 * and these. Quotients of integers are cut off towards 0; what is divided by 0 becomes 0. */
typedef enum ha_combine_operation {
    HA_SUBTRACT_FROM = HA_DIVIDE + 1, /* y - x */
    HA_DIVIDE_INTO,                   /* y / x */
    HA_MINIMUM, /* NaN wherever x or y is; from here on of all but complex ones */
    HA_MAXIMUM,
    HA_ABS_MAXIMUM, /* the greater of their absolute values */
    HA_ABS_DIFFERENCE,
    HA_MODULO, /* x - n y with n = x / y, cut off: what is left of the division */
    HA_POWER, /* from here on of real ones; this one of complex ones, too: e to y log x, 1 where y is 0 */
    HA_ATAN2, /* atan2(x, y) */
    HA_HYPOT,
    HA_COPYSIGN, /* |x| with the sign of y */
    HA_COMPLEX,  /* x + i y: z is of c128 for double, else of c64 */
    HA_IS_EQUAL, /* from here on z is a mask: of uint8_t or bool, 1 or 0. Of all types */
    HA_IS_NOT_EQUAL,
    HA_IS_LESS, /* from here on of all but complex ones */
    HA_IS_LESS_EQUAL,
    HA_IS_GREATER,
    HA_IS_GREATER_EQUAL,
    HA_COMBINES_ /* behind the last one */
} ha_combine_operation;

/* y = op(x) */
#define ha_map(op, y, x, context)                                                                  \
    ha_map_(op, HA_RESULT_(y), HA_DARRAY(x), context, HA_SITE_OF_ONE_(op, "ha_map"))

/* z = op(x, y); and z = op(x, number). */
#define ha_combine(op, z, x, y, context)                                                           \
    ha_combine_(op, HA_RESULT_(z), HA_DARRAY(x), HA_DARRAY(y), context,                            \
                HA_SITE_OF_TWO_(op, "ha_combine"))
#define ha_combine_number(op, z, x, number, context)                                               \
    ha_combine_number_(op, HA_RESULT_(z), HA_DARRAY(x), HA_DVALUE(number), context,                \
                       HA_SITE_OF_TWO_(op, "ha_combine_number"))

/* y = a x + y; z = a x + b y: each product and the sum are rounded. */
#define ha_axpy(y, a, x, context)                                                                  \
    ha_axpy_(HA_RESULT_(y), HA_DVALUE(a), HA_DARRAY(x), context, HA_SITE)
#define ha_axpby(z, a, x, b, y, context)                                                           \
    ha_axpby_(HA_RESULT_(z), HA_DVALUE(a), HA_DARRAY(x), HA_DVALUE(b), HA_DARRAY(y), context,      \
              HA_SITE)

/* y = x, but low where it is less, and high where it is greater; NaN stays. Of all but complex
 * types. HA_ERR_ARGUMENT, too, unless low <= high: so if one of them is NaN. */
#define ha_clip(y, x, low, high, context)                                                          \
    ha_clip_(HA_RESULT_(y), HA_DARRAY(x), HA_DVALUE(low), HA_DVALUE(high), context, HA_SITE)

/* z = x where the mask, of uint8_t or bool, is not 0, and y elsewhere. Of numbers of all
 * types, those of 8 and 16 bits and bool among them. */
#define ha_where(z, mask, x, y, context)                                                           \
    ha_where_(HA_RESULT_(z), HA_DARRAY(mask), HA_DARRAY(x), HA_DARRAY(y), context, HA_SITE)

/* Of a record array: field = field op number, in all records; or where and in which fields `how`
 * says, which is that of layout/arithmetic.h ({.paths = "pos+mass", .first = …, .last = …}; NULL: all),
 * but for `shift`. HA_ASSIGN and HA_ADD to HA_DIVIDE. It computes, and refuses, what
 * ha_mapped_apply_number does with the records on the host, in whatever layout they have at the
 * context. A path comes once. On a device that compiles kernels it is one: same bits as these. Where its
 * queues run functions of the host instead, the call waits for it. What is in layouts of few bits, or in more
 * blobs than a kernel has arguments for, is changed on the host. HA_ERR_STATE, too, of all but HA_ASSIGN: values that are
 * computed with were never written. */
#define ha_records_apply_number(records, op, number, how, context)                                 \
    ha_records_apply_number_(records, op, number, how, context, HA_SITE)

/* Of two record arrays: field = field op the other one's field of the same path, record by record, where and in which
 * fields `how` says, its `shift` included. It computes, and refuses, what ha_mapped_apply_view does with both on the
 * host; the records may be of other structs, and in other layouts. `other` may be `records` itself, but not shifted. Both
 * are opened at the context, or none: of `other` only what meets a record is read, and has to have values. Where it runs is as
 * above; quotients of complex numbers are computed on the host, too.
 * Where `other` is one record, of whatever rank, it meets every record, and there is nothing to shift: that is
 * ha_mapped_apply_record with a struct that is where `other` is, but for integers divided by 0, which become 0. */
#define ha_records_apply_records(records, op, other, how, context)                                 \
    ha_records_apply_records_(records, op, other, how, context, HA_SITE)

/* Of a record array and an array x with as many elements in each dimension: field = field op x, in each record with its
 * own element, where and in which fields `how` says, but for `shift`. Elements are of any type, and x may repeat them: of
 * one value for all records it is darray_broadcast. It computes, and refuses, what ha_mapped_apply_scalar does with each
 * element; integers divided by 0 become 0. Where it runs is as above. */
#define ha_records_apply_array(records, op, x, how, context)                                       \
    ha_records_apply_array_(records, op, HA_DARRAY(x), how, context, HA_SITE)

/* x = number, wherever: darray_fill (darray.h), which errors name, of any array. Of numbers of all types, bool among
 * them. */
#define ha_fill(x, number, context) darray_fill_(HA_RESULT_(x), HA_DVALUE(number), context, HA_SITE)

/* x = first, first + step, first + 2 step, …, in the order of the indices of x: the last one
 * innermost. Of all types but bool. */
#define ha_sequence(x, first, step, context)                                                       \
    ha_sequence_(HA_RESULT_(x), HA_DVALUE(first), HA_DVALUE(step), context, HA_SITE)

/* Random numbers, the same ones on every context for the same seed: of integers all that their type
 * has, of reals [0, 1), complex ones of two such. Each element is made of its place alone, counted
 * in the order of the indices: by Philox 4x32-10 (Salmon et al., SC11), whose key is the seed. The
 * block of counter k has 16 bytes, lowest first: those of element k, or, where elements have fewer,
 * of as many as have room in them. The highest 53 bits of each 8 bytes make a double, 24 of 4 a
 * float. half and bfloat16 have 2 bytes, and take as many bits as they can tell apart. */
#define ha_random(x, seed, context) ha_random_(HA_RESULT_(x), seed, context, HA_SITE)

/* Normal random numbers, of mean 0 and deviation 1; of complex ones both parts are. By Box and
 * Muller's formula of two numbers as ha_random makes them (of half and bfloat16: of two floats), with
 * the logarithm, sine and cosine of the context's mathematical library. Of real and complex types. */
#define ha_random_normal(x, seed, context) ha_random_normal_(HA_RESULT_(x), seed, context, HA_SITE)

/* *result = all elements of x, joined by a reduction of reduce.h, in the order of the indices; it
 * waits for it. The result is a number of any type of C, which must be able to hold it
 * (HA_ERR_ARGUMENT): rounded, but for places, and not as an infinite one. Integers, bool among them,
 * are summed and multiplied in 64 bits, and wrap around there; bits (HA_AND, HA_OR, HA_XOR) are of
 * integers. All others are joined in their own type, half and bfloat16 in float, whatever the result
 * is: of many floats a sum by HA_SUM loses what one by HA_SUM_EXACT keeps, which sums what rounding
 * takes away, too (reduce.h; of reals), or one of a copy in double (darray_copy). HA_MIN_AT and HA_MAX_AT
 * give the place of the first of the least, of the greatest elements. NaN is both. Of complex
 * elements there are sums and products. Reductions of no elements are those of no lanes. Same bits:
 * as reductions. */
#define ha_reduce(op, x, result, context)                                                          \
    ha_reduce_(op, HA_DARRAY(x), HA_RESULT_TYPE_(result), result, context,                         \
               HA_SITE_OF_REDUCTION_(op, "ha_reduce"))

/* *result = how many elements are not 0. All of a mask: as many as it has; any: more than none. */
#define ha_count(x, result, context)                                                               \
    ha_count_elements_(HA_DARRAY(x), HA_RESULT_TYPE_(result), result, context, HA_SITE)

/* *result = the sum of conj(x) y; of all types of 32 bits and more, and of half and bfloat16. */
#define ha_dot(x, y, result, context)                                                              \
    ha_dot_(HA_DARRAY(x), HA_DARRAY(y), HA_RESULT_TYPE_(result), result, context, HA_SITE)

/* *result = the norm of x, and of x - y: the sum of the absolute values, the root of the sum of
 * their squares, where nothing overflows that the result does not, and the greatest of them; 0 of
 * no elements. Of integers as double. Of the types of ha_dot. */
typedef enum ha_norm_kind { HA_NORM_1 = 768, HA_NORM_2, HA_NORM_MAX } ha_norm_kind;
#define ha_norm(kind, x, result, context)                                                          \
    ha_norm_(kind, HA_DARRAY(x), HA_RESULT_TYPE_(result), result, context,                         \
             HA_SITE_OF_NORM_(kind, "ha_norm"))
#define ha_difference(kind, x, y, result, context)                                                 \
    ha_difference_(kind, HA_DARRAY(x), HA_DARRAY(y), HA_RESULT_TYPE_(result), result, context,     \
                   HA_SITE_OF_NORM_(kind, "ha_difference"))

/* A number of C as a value of its type; nothing else compiles. */
#define HA_NO_NUMBER_                                                                              \
    "this takes a number: an integer, bool, float, double, ha_half, ha_bfloat16, ha_c64 or "       \
    "ha_c128 (of a _Complex z: ha_c128_make(creal(z), cimag(z)))"
#ifdef __cplusplus
#define HA_DVALUE(number) ha_dvalue_of_number_(number)
extern "C++" {
template <typename T> static inline ha_dvalue ha_dvalue_of_number_(T number) {
    HA_STATIC_ASSERT_(HA_DTYPE_OF(T) != HA_DTYPE_NONE, HA_NO_NUMBER_);
    return ha_dvalue_load(HA_DTYPE_OF(T), &number);
}
}
#else
#define HA_DVALUE(number)                                                                          \
    __extension__({                                                                                \
        HA_STATIC_ASSERT_(HA_DTYPE_OF(HA_NUMBER_TYPE_(number)) != HA_DTYPE_NONE, HA_NO_NUMBER_);   \
        ha_dvalue_load(HA_DTYPE_OF(HA_NUMBER_TYPE_(number)),                                       \
                       (HA_NUMBER_TYPE_(number)[1]){(number)});                                    \
    })
#define HA_NUMBER_TYPE_(number) __typeof__(1 ? (number) : (number)) /* of bit-fields: int */
#endif

HA_API HA_MUST_CHECK ha_status ha_map_(ha_map_operation op, darray y, darray x, ha_context *context,
                                       const char *site);
HA_API HA_MUST_CHECK ha_status ha_combine_(int op, darray z, darray x, darray y,
                                           ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_combine_number_(int op, darray z, darray x, ha_dvalue number,
                                                  ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_axpby_(darray z, ha_dvalue a, darray x, ha_dvalue b, darray y,
                                         ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_axpy_(darray y, ha_dvalue a, darray x, ha_context *context,
                                        const char *site);
HA_API HA_MUST_CHECK ha_status ha_clip_(darray y, darray x, ha_dvalue low, ha_dvalue high,
                                        ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_where_(darray z, darray mask, darray x, darray y,
                                         ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_records_apply_number_(ha_records *records, ha_operator op,
                                                        double number, const ha_applying *how,
                                                        ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_records_apply_records_(ha_records *records, ha_operator op,
                                                         ha_records *other, const ha_applying *how,
                                                         ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_records_apply_array_(ha_records *records, ha_operator op,
                                                       darray x, const ha_applying *how,
                                                       ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_sequence_(darray x, ha_dvalue first, ha_dvalue step,
                                            ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_random_(darray x, uint64_t seed, ha_context *context,
                                          const char *site);
HA_API HA_MUST_CHECK ha_status ha_random_normal_(darray x, uint64_t seed, ha_context *context,
                                                 const char *site);
HA_API HA_MUST_CHECK ha_status ha_reduce_(ha_reduction op, darray x, ha_dtype type, void *result,
                                          ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_count_elements_(darray x, ha_dtype type, void *result,
                                                  ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_dot_(darray x, darray y, ha_dtype type, void *result,
                                       ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_norm_(ha_norm_kind kind, darray x, ha_dtype type, void *result,
                                        ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status ha_difference_(ha_norm_kind kind, darray x, darray y, ha_dtype type,
                                              void *result, ha_context *context, const char *site);

#endif
