/* Loops over values of one type: an operation with other values of it, or float with double.
 * Vectors are written out, as gcc makes none of such loops at -O2, and may begin anywhere. */
#ifndef HARRAY_LAYOUT_IMPL_ARITHMETIC_KERNELS_H
#define HARRAY_LAYOUT_IMPL_ARITHMETIC_KERNELS_H

#include "../../arithmetic.h"
#include "../../counts.h"

/* What a piece is: up to four values, or up to four vectors. */
typedef enum ha_apply_form {
    HA_FORM_SINGLE = 1,
    HA_FORM_PAIR,
    HA_FORM_TRIPLE,
    HA_FORM_QUAD,
    HA_FORM_VECTOR,
    HA_FORM_TWO_VECTORS,
    HA_FORM_THREE_VECTORS,
    HA_FORM_FOUR_VECTORS
} ha_apply_form;

/* Pieces of one form, some bytes apart; and all of them again, some bytes further on. */
typedef struct ha_apply_pieces {
    char *left;
    const char *right;
    int64_t n, left_apart, right_apart; /* right_apart 0: all of a round meet the same */
    int64_t rounds, left_round, right_round;
} ha_apply_pieces;

typedef void ha_apply_loop(const ha_apply_pieces *pieces, ha_apply_form form);

typedef struct ha_span_kernel {
    ha_apply_loop *few, *wide; /* up to four values, vectors; NULL: single values only */
    int64_t size, right_size;  /* bytes of a value */
    int64_t lanes;             /* values of a vector */
    int64_t most, vectors;     /* values of the largest few; vectors up to four, or one and four */
} ha_span_kernel;

/* Operations, in a type that is wide enough for C to let numbers overflow. */
#define HA_APPLY_ASSIGN_(x, y) (y)
#define HA_APPLY_ADD_(x, y) ((x) + (y))
#define HA_APPLY_SUBTRACT_(x, y) ((x) - (y))
#define HA_APPLY_MULTIPLY_(x, y) ((x) * (y))
#define HA_APPLY_DIVIDE_(x, y) ((x) / (y))

/* ---- loops ----------------------------------------------------------------------------------- */

/* All rounds of what `BODY` does with the pieces at l and q, of which there are some. */
#define HA_APPLY_ROUNDS_(BODY)                                                                     \
    const int64_t a = p->left_apart, b = p->right_apart, n = p->n;                                 \
    for (int64_t round = 0; round < p->rounds; round++) {                                          \
        char *l = p->left + round * p->left_round;                                                 \
        const char *q = p->right + round * p->right_round;                                         \
        BODY                                                                                       \
    }

#define HA_APPLY_EACH_(READ, OPERATE)                                                              \
    for (int64_t k = 0; k < n; k++, l += a, q += b) {                                              \
        READ OPERATE                                                                               \
    }

/* What all pieces of a round meet is read once, which a compiler cannot do by itself, as it might
 * be changed by what is written. */
#define HA_APPLY_BOTH_(READ, OPERATE)                                                              \
    if (b != 0) {                                                                                  \
        HA_APPLY_EACH_(READ, OPERATE)                                                              \
    } else {                                                                                       \
        READ HA_APPLY_EACH_(, OPERATE)                                                             \
    }

/* Compilers would write the last value of a piece first, which takes a sixth longer. */
#define HA_APPLY_IN_TURN_ __asm__("" ::: "memory");

/* A value, behind so many others. */
#define HA_READ_ONE_(R, y, at) memcpy(&y, q + (at) * sizeof(R), sizeof y);
#define HA_APPLY_ONE_(T, R, C, F, y, at)                                                           \
    {                                                                                              \
        T x_;                                                                                      \
        memcpy(&x_, l + (at) * sizeof(T), sizeof x_);                                              \
        x_ = (T)F((C)x_, (C)y);                                                                    \
        memcpy(l + (at) * sizeof(T), &x_, sizeof x_);                                              \
        HA_APPLY_IN_TURN_                                                                          \
    }

/* A vector of left ones, V, behind so many others; right ones are W, and D is what is computed in. */
#define HA_APPLY_TYPE_(T, name, count)                                                             \
    typedef T name __attribute__((vector_size((count) * sizeof(T)), aligned(1), may_alias, unused))
#define HA_APPLY_AS_IT_IS_(V, x) (x)
#define HA_APPLY_CONVERTED_(V, x) __builtin_convertvector(x, V)
#define HA_READ_VECTOR_(W, y, at) y = *(const W *)(const void *)(q + (at) * sizeof(W));
#define HA_APPLY_VECTOR_(V, D, F, AS, y, at)                                                       \
    {                                                                                              \
        V *const x_ = (V *)(void *)(l + (at) * sizeof(V));                                         \
        *x_ = AS(V, F(AS(D, *x_), AS(D, y)));                                                      \
        HA_APPLY_IN_TURN_                                                                          \
    }

/* Up to four values: neighbours in records. Two at once where vectors have room for so few. */
#define HA_READ_TWO_VALUES_(R) HA_READ_ONE_(R, y0, 0) HA_READ_ONE_(R, y1, 1)
#define HA_APPLY_TWO_VALUES_(T, R, C, F, AS)                                                       \
    HA_APPLY_ONE_(T, R, C, F, y0, 0) HA_APPLY_ONE_(T, R, C, F, y1, 1)
#define HA_READ_TWO_AT_ONCE_(R) HA_READ_VECTOR_(ha_other_two, both, 0)
#define HA_APPLY_TWO_AT_ONCE_(T, R, C, F, AS) HA_APPLY_VECTOR_(ha_two, ha_twice, F, AS, both, 0)
#define HA_FEW_(name, T, R, C, F, AS, TWO, EACH)                                                   \
    HA_IN_ void name##_few(const ha_apply_pieces *p, ha_apply_form form) {                         \
        HA_APPLY_TYPE_(T, ha_two, 2);                                                              \
        HA_APPLY_TYPE_(R, ha_other_two, 2);                                                        \
        HA_APPLY_TYPE_(C, ha_twice, 2);                                                            \
        HA_APPLY_TYPE_(T, ha_four, 4);                                                             \
        HA_APPLY_TYPE_(R, ha_other_four, 4);                                                       \
        HA_APPLY_TYPE_(C, ha_fourfold, 4);                                                         \
        R y0, y1, y2;                                                                              \
        ha_other_two both;                                                                         \
        ha_other_four four;                                                                        \
        (void)y1;                                                                                  \
        (void)both;                                                                                \
        HA_APPLY_ROUNDS_(switch (form) {                                                           \
            case HA_FORM_SINGLE:                                                                   \
                EACH(HA_READ_ONE_(R, y0, 0), HA_APPLY_ONE_(T, R, C, F, y0, 0))                     \
                break;                                                                             \
            case HA_FORM_PAIR:                                                                     \
                EACH(HA_READ_##TWO##_(R), HA_APPLY_##TWO##_(T, R, C, F, AS))                       \
                break;                                                                             \
            case HA_FORM_TRIPLE:                                                                   \
                EACH(HA_READ_##TWO##_(R) HA_READ_ONE_(R, y2, 2),                                   \
                     HA_APPLY_##TWO##_(T, R, C, F, AS) HA_APPLY_ONE_(T, R, C, F, y2, 2))           \
                break;                                                                             \
            default:                                                                               \
                EACH(HA_READ_VECTOR_(ha_other_four, four, 0),                                      \
                     HA_APPLY_VECTOR_(ha_four, ha_fourfold, F, AS, four, 0))                       \
        })                                                                                         \
    }

/* Up to four vectors of so many values. */
#define HA_READ_VECTORS_1_ HA_READ_VECTOR_(ha_w, y0, 0)
#define HA_READ_VECTORS_2_ HA_READ_VECTORS_1_ HA_READ_VECTOR_(ha_w, y1, 1)
#define HA_READ_VECTORS_3_ HA_READ_VECTORS_2_ HA_READ_VECTOR_(ha_w, y2, 2)
#define HA_READ_VECTORS_4_ HA_READ_VECTORS_3_ HA_READ_VECTOR_(ha_w, y3, 3)
#define HA_APPLY_VECTORS_1_(F, AS) HA_APPLY_VECTOR_(ha_v, ha_d, F, AS, y0, 0)
#define HA_APPLY_VECTORS_2_(F, AS)                                                                 \
    HA_APPLY_VECTORS_1_(F, AS) HA_APPLY_VECTOR_(ha_v, ha_d, F, AS, y1, 1)
#define HA_APPLY_VECTORS_3_(F, AS)                                                                 \
    HA_APPLY_VECTORS_2_(F, AS) HA_APPLY_VECTOR_(ha_v, ha_d, F, AS, y2, 2)
#define HA_APPLY_VECTORS_4_(F, AS)                                                                 \
    HA_APPLY_VECTORS_3_(F, AS) HA_APPLY_VECTOR_(ha_v, ha_d, F, AS, y3, 3)
#define HA_TWO_AND_THREE_VECTORS_(F, AS, EACH)                                                     \
    case HA_FORM_TWO_VECTORS:                                                                      \
        EACH(HA_READ_VECTORS_2_, HA_APPLY_VECTORS_2_(F, AS))                                       \
        break;                                                                                     \
    case HA_FORM_THREE_VECTORS:                                                                    \
        EACH(HA_READ_VECTORS_3_, HA_APPLY_VECTORS_3_(F, AS))                                       \
        break;
#define HA_NO_MORE_VECTORS_(F, AS, EACH)
#define HA_WIDE_(name, attribute, T, R, C, F, AS, lanes, EACH, MORE)                               \
    attribute HA_IN_ void name##_wide(const ha_apply_pieces *p, ha_apply_form form) {              \
        HA_APPLY_TYPE_(T, ha_v, lanes);                                                            \
        HA_APPLY_TYPE_(R, ha_w, lanes);                                                            \
        HA_APPLY_TYPE_(C, ha_d, lanes);                                                            \
        ha_w y0, y1, y2, y3;                                                                       \
        HA_APPLY_ROUNDS_(switch (form) {                                                           \
            case HA_FORM_VECTOR:                                                                   \
                EACH(HA_READ_VECTORS_1_, HA_APPLY_VECTORS_1_(F, AS))                               \
                break;                                                                             \
                MORE(F, AS, EACH)                                                                  \
            default:                                                                               \
                EACH(HA_READ_VECTORS_4_, HA_APPLY_VECTORS_4_(F, AS))                               \
        })                                                                                         \
    }

/* ---- kernels --------------------------------------------------------------------------------- */

/* Integers are divided one by one: no processor has vectors for it. */
#define HA_DIVISION_(name, T, C, F)                                                                \
    HA_IN_ void name##_each(const ha_apply_pieces *p, ha_apply_form form) {                        \
        T y;                                                                                       \
        (void)form;                                                                                \
        HA_APPLY_ROUNDS_(HA_APPLY_EACH_(HA_READ_ONE_(T, y, 0), HA_APPLY_ONE_(T, T, C, F, y, 0)))   \
    }                                                                                              \
    static const ha_span_kernel name = {name##_each, NULL, sizeof(T), sizeof(T), 1, 1, 0};
#define HA_QUOTIENT_(x, y) ((y) == 0 ? 0 : (x) / (y))
/* The most negative number by -1 is itself, as it is its own opposite. */
#define HA_SIGNED_QUOTIENT_(x, y) ((y) == -1 ? (int64_t)(0 - (uint64_t)(x)) : HA_QUOTIENT_(x, y))
#define HA_SMALL_QUOTIENT_(x, y) ((y) == -1 ? (int32_t)(0 - (uint32_t)(x)) : HA_QUOTIENT_(x, y))
HA_DIVISION_(ha_divide_i8, int8_t, int32_t, HA_SMALL_QUOTIENT_)
HA_DIVISION_(ha_divide_i16, int16_t, int32_t, HA_SMALL_QUOTIENT_)
HA_DIVISION_(ha_divide_i32, int32_t, int32_t, HA_SMALL_QUOTIENT_)
HA_DIVISION_(ha_divide_i64, int64_t, int64_t, HA_SIGNED_QUOTIENT_)
HA_DIVISION_(ha_divide_u8, uint8_t, uint32_t, HA_QUOTIENT_)
HA_DIVISION_(ha_divide_u16, uint16_t, uint32_t, HA_QUOTIENT_)
HA_DIVISION_(ha_divide_u32, uint32_t, uint32_t, HA_QUOTIENT_)
HA_DIVISION_(ha_divide_u64, uint64_t, uint64_t, HA_QUOTIENT_)

/* Of integers, by their size: wrapping is the same with sign and without. */
#define HA_INTEGER_(name, T, C, F, TWO)                                                            \
    HA_FEW_(name, T, T, C, F, HA_APPLY_AS_IT_IS_, TWO, HA_APPLY_EACH_)                             \
    HA_WIDE_(name, , T, T, T, F, HA_APPLY_AS_IT_IS_, 16 / sizeof(T), HA_APPLY_EACH_,               \
             HA_NO_MORE_VECTORS_)                                                                  \
    static const ha_span_kernel name = {name##_few,     name##_wide, sizeof(T), sizeof(T),         \
                                        16 / sizeof(T), 4,           1};
#define HA_INTEGERS_(name, F)                                                                      \
    HA_INTEGER_(ha_##name##_1, uint8_t, uint32_t, F, TWO_VALUES)                                   \
    HA_INTEGER_(ha_##name##_2, uint16_t, uint32_t, F, TWO_VALUES)                                  \
    HA_INTEGER_(ha_##name##_4, uint32_t, uint32_t, F, TWO_AT_ONCE)                                 \
    HA_INTEGER_(ha_##name##_8, uint64_t, uint64_t, F, TWO_AT_ONCE)
HA_INTEGERS_(add, HA_APPLY_ADD_)
HA_INTEGERS_(subtract, HA_APPLY_SUBTRACT_)
HA_INTEGERS_(multiply, HA_APPLY_MULTIPLY_)

/* With wider vectors than every processor has. */
#if defined __x86_64__ && !defined HARRAY_NO_SIMD
#define HA_WIDER_(name, T, F, lanes)                                                               \
    HA_WIDE_(name##_wider, __attribute__((target("avx2"))), T, T, T, F, HA_APPLY_AS_IT_IS_, lanes, \
             HA_APPLY_BOTH_, HA_TWO_AND_THREE_VECTORS_)
#define HA_WIDER_KERNEL_(name, few, T)                                                             \
    { few##_few, name##_wider_wide, sizeof(T), sizeof(T), 32 / sizeof(T), 4, 4 }
HA_IN_ int ha_has_wider_kernels(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") != 0;
}
#else
#define HA_WIDER_(name, T, F, lanes)
#define HA_WIDER_KERNEL_(name, few, T)                                                             \
    { few##_few, name##_wide, sizeof(T), sizeof(T), 16 / sizeof(T), 4, 4 }
HA_IN_ int ha_has_wider_kernels(void) { return 0; }
#endif

/* Of anything, by its size; vectors are the same for all. */
HA_WIDE_(ha_assign, , uint64_t, uint64_t, uint64_t, HA_APPLY_ASSIGN_, HA_APPLY_AS_IT_IS_, 2,
         HA_APPLY_BOTH_, HA_TWO_AND_THREE_VECTORS_)
HA_WIDER_(ha_assign, uint64_t, HA_APPLY_ASSIGN_, 4)
#define HA_ASSIGN_(name, T, TWO)                                                                   \
    HA_FEW_(name, T, T, T, HA_APPLY_ASSIGN_, HA_APPLY_AS_IT_IS_, TWO, HA_APPLY_BOTH_)              \
    static const ha_span_kernel name[2] = {                                                        \
        {name##_few, ha_assign_wide, sizeof(T), sizeof(T), 16 / sizeof(T), 4, 4},                  \
        HA_WIDER_KERNEL_(ha_assign, name, T)};
HA_ASSIGN_(ha_assign_1, uint8_t, TWO_VALUES)
HA_ASSIGN_(ha_assign_2, uint16_t, TWO_VALUES)
HA_ASSIGN_(ha_assign_4, uint32_t, TWO_AT_ONCE)
HA_ASSIGN_(ha_assign_8, uint64_t, TWO_AT_ONCE)

/* Of floating-point numbers. */
#define HA_REAL_(name, T, F)                                                                       \
    HA_FEW_(name, T, T, T, F, HA_APPLY_AS_IT_IS_, TWO_AT_ONCE, HA_APPLY_BOTH_)                     \
    HA_WIDE_(name, , T, T, T, F, HA_APPLY_AS_IT_IS_, 16 / sizeof(T), HA_APPLY_BOTH_,               \
             HA_TWO_AND_THREE_VECTORS_)                                                            \
    HA_WIDER_(name, T, F, 32 / sizeof(T))                                                          \
    static const ha_span_kernel name[2] = {                                                        \
        {name##_few, name##_wide, sizeof(T), sizeof(T), 16 / sizeof(T), 4, 4},                     \
        HA_WIDER_KERNEL_(name, name, T)};

/* Of one floating-point type with the other. */
#define HA_MIXED_(name, T, R, F)                                                                   \
    HA_FEW_(name, T, R, double, F, HA_APPLY_CONVERTED_, TWO_AT_ONCE, HA_APPLY_EACH_)               \
    HA_WIDE_(name, , T, R, double, F, HA_APPLY_CONVERTED_, 4, HA_APPLY_EACH_,                      \
             HA_TWO_AND_THREE_VECTORS_)                                                            \
    static const ha_span_kernel name = {name##_few, name##_wide, sizeof(T), sizeof(R), 4, 4, 4};
#define HA_MIXED_REALS_(name, F)                                                                   \
    HA_MIXED_(ha_##name##_f32_f64, float, double, F)                                               \
    HA_MIXED_(ha_##name##_f64_f32, double, float, F)
#define HA_REALS_(name, F)                                                                         \
    HA_REAL_(ha_##name##_f32, float, F)                                                            \
    HA_REAL_(ha_##name##_f64, double, F)                                                           \
    HA_MIXED_REALS_(name, F)
HA_MIXED_REALS_(assign, HA_APPLY_ASSIGN_)
HA_REALS_(add, HA_APPLY_ADD_)
HA_REALS_(subtract, HA_APPLY_SUBTRACT_)
HA_REALS_(multiply, HA_APPLY_MULTIPLY_)
HA_REALS_(divide, HA_APPLY_DIVIDE_)

/* ---- which one ------------------------------------------------------------------------------- */

/* For real floating-point numbers; of two types, too. */
HA_IN_ const ha_span_kernel *ha_real_kernel(ha_operator operation, ha_dtype left, ha_dtype right,
                                            int is_wider) {
    static const ha_span_kernel *const same[2][4] = {
        {ha_add_f32, ha_subtract_f32, ha_multiply_f32, ha_divide_f32},
        {ha_add_f64, ha_subtract_f64, ha_multiply_f64, ha_divide_f64}};
    static const ha_span_kernel *const mixed[2][5] = {
        {&ha_assign_f32_f64, &ha_add_f32_f64, &ha_subtract_f32_f64, &ha_multiply_f32_f64,
         &ha_divide_f32_f64},
        {&ha_assign_f64_f32, &ha_add_f64_f32, &ha_subtract_f64_f32, &ha_multiply_f64_f32,
         &ha_divide_f64_f32}};
    const int is_double = left == HA_DTYPE_double;
    return left == right ? same[is_double][operation - 1] + is_wider : mixed[is_double][operation];
}

HA_IN_ int ha_is_single_or_double(ha_dtype type) {
    return type == HA_DTYPE_float || type == HA_DTYPE_double;
}

/* For sides of these types, which are not complex; NULL: there is none. */
HA_IN_ const ha_span_kernel *ha_kernel_of(ha_operator operation, ha_dtype left, ha_dtype right) {
    static const ha_span_kernel *const division[] = {
        [HA_DTYPE_int8_t] = &ha_divide_i8,    [HA_DTYPE_int16_t] = &ha_divide_i16,
        [HA_DTYPE_int32_t] = &ha_divide_i32,  [HA_DTYPE_int64_t] = &ha_divide_i64,
        [HA_DTYPE_uint8_t] = &ha_divide_u8,   [HA_DTYPE_uint16_t] = &ha_divide_u16,
        [HA_DTYPE_uint32_t] = &ha_divide_u32, [HA_DTYPE_uint64_t] = &ha_divide_u64};
    static const ha_span_kernel *const assign[4] = {ha_assign_1, ha_assign_2, ha_assign_4,
                                                    ha_assign_8};
    static const ha_span_kernel *const of_size[3][4] = {
        {&ha_add_1, &ha_add_2, &ha_add_4, &ha_add_8},
        {&ha_subtract_1, &ha_subtract_2, &ha_subtract_4, &ha_subtract_8},
        {&ha_multiply_1, &ha_multiply_2, &ha_multiply_4, &ha_multiply_8}};
    const int64_t size = (int64_t)ha_dtype_size(left);
    const int log = size == 8 ? 3 : (int)(size / 2);
    const int are_real = ha_is_single_or_double(left) && ha_is_single_or_double(right);
    if (are_real && (left != right || operation != HA_ASSIGN))
        return ha_real_kernel(operation, left, right, ha_has_wider_kernels());
    if (left != right) return NULL;
    if (operation == HA_ASSIGN) return assign[log] + ha_has_wider_kernels();
    if (left < HA_DTYPE_int8_t || left > HA_DTYPE_uint64_t) return NULL;
    return operation == HA_DIVIDE ? division[left] : of_size[operation - 1][log];
}

#endif
