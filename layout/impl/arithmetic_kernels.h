/* Loops over values of one type, at equal distances: an operation with another row of them. Vectors are
 * written out, as gcc makes none of such loops at -O2, and may begin anywhere. */
#ifndef HARRAY_LAYOUT_IMPL_ARITHMETIC_KERNELS_H
#define HARRAY_LAYOUT_IMPL_ARITHMETIC_KERNELS_H

#include "../arithmetic.h"
#include "basics.h"

/* Runs of n values each, some bytes apart. */
typedef struct ha_span {
    char *left;
    const char *right;
    int64_t n, left_step, right_step;
    int64_t runs, left_apart, right_apart;
    int is_splat; /* all meet the same HA_SPLAT bytes, which are one value over and over */
} ha_span;

typedef void ha_kernel(const ha_span *span);

enum { HA_SPLAT = 64 };

/* Operations, in a type that is wide enough for C to let numbers overflow. */
#define HA_APPLY_ASSIGN_(x, y) (y)
#define HA_APPLY_ADD_(x, y) ((x) + (y))
#define HA_APPLY_SUBTRACT_(x, y) ((x) - (y))
#define HA_APPLY_MULTIPLY_(x, y) ((x) * (y))
#define HA_APPLY_DIVIDE_(x, y) ((x) / (y))

#define HA_APPLY_ONE_(T, Wide, F, l, q)                                                            \
    do {                                                                                           \
        T x_, y_;                                                                                  \
        memcpy(&x_, (l), sizeof x_);                                                               \
        memcpy(&y_, (q), sizeof y_);                                                               \
        x_ = (T)F((Wide)x_, (Wide)y_);                                                             \
        memcpy((l), &x_, sizeof x_);                                                               \
    } while (0)

/* One by one: the rest of n values, from l and q on. */
#define HA_APPLY_STEPS_(T, Wide, F)                                                                \
    for (; k + 2 <= s->n; k += 2, l += 2 * a, q += 2 * b) {                                        \
        HA_APPLY_ONE_(T, Wide, F, l, q);                                                           \
        HA_APPLY_ONE_(T, Wide, F, l + a, q + b);                                                   \
    }                                                                                              \
    if (k < s->n) HA_APPLY_ONE_(T, Wide, F, l, q)

/* A whole vector, and one of the last values of a run. */
#define HA_APPLY_VECTOR_(V, F, l, q)                                                               \
    *(V *)(void *)(l) = F(*(V *)(void *)(l), *(const V *)(const void *)(q))
#define HA_APPLY_SOME_(V, F, number)                                                               \
    do {                                                                                           \
        HA_APPLY_VECTOR_(V, F, l, q);                                                              \
        k += (number);                                                                             \
        l += (int64_t)sizeof(V);                                                                   \
        q += s->is_splat ? 0 : (int64_t)sizeof(V);                                                 \
    } while (0)

/* Runs of two to four values: neighbours in records. */
#define HA_APPLY_SHORT_(T, F)                                                                      \
    if (dense && s->runs > 1 && s->n >= 2 && s->n <= 4) {                                          \
        for (int64_t r = 0; r < s->runs; r++, left += s->left_apart, right += s->right_apart) {    \
            HA_APPLY_VECTOR_(ha_two, F, left, right);                                              \
            if (s->n == 3) HA_APPLY_ONE_(T, T, F, left + 2 * size, right + 2 * size);              \
            if (s->n == 4) HA_APPLY_VECTOR_(ha_two, F, left + 2 * size, right + 2 * size);         \
        }                                                                                          \
        return;                                                                                    \
    }
#define HA_APPLY_NOT_SHORT_(T, F)
#define HA_KERNEL_(name, attribute, T, Wide, F, bytes, SHORT)                                      \
    attribute static void name(const ha_span *s) {                                                 \
        typedef T ha_v __attribute__((vector_size(bytes), aligned(1), may_alias));                 \
        typedef T ha_two                                                                           \
            __attribute__((vector_size(2 * sizeof(T)), aligned(1), may_alias, unused));            \
        const int64_t a = s->left_step, b = s->right_step, size = (int64_t)sizeof(T);              \
        const int64_t w = (bytes) / size, c = s->is_splat ? 0 : (bytes);                           \
        const int dense = a == size && (b == size || s->is_splat);                                 \
        const char *right = s->right;                                                              \
        char *left = s->left;                                                                      \
        SHORT(T, F)                                                                                \
        for (int64_t r = 0; r < s->runs; r++, left += s->left_apart, right += s->right_apart) {    \
            char *l = left;                                                                        \
            const char *q = right;                                                                 \
            int64_t k = 0;                                                                         \
            if (dense) {                                                                           \
                for (; k + 2 * w <= s->n; k += 2 * w, l += 2 * (bytes), q += 2 * c) {              \
                    HA_APPLY_VECTOR_(ha_v, F, l, q);                                               \
                    HA_APPLY_VECTOR_(ha_v, F, l + (bytes), q + c);                                 \
                }                                                                                  \
                if (k + w <= s->n) HA_APPLY_SOME_(ha_v, F, w);                                     \
            }                                                                                      \
            HA_APPLY_STEPS_(T, Wide, F);                                                           \
        }                                                                                          \
    }

/* Integers are divided one by one: no processor has vectors for it. */
#define HA_DIVISION_(name, T, Wide, F)                                                             \
    static void name(const ha_span *s) {                                                           \
        const int64_t a = s->left_step, b = s->right_step;                                         \
        for (int64_t r = 0; r < s->runs; r++) {                                                    \
            char *l = s->left + r * s->left_apart;                                                 \
            const char *q = s->right + r * s->right_apart;                                         \
            for (int64_t k = 0; k < s->n; k++, l += a, q += b) HA_APPLY_ONE_(T, Wide, F, l, q);    \
        }                                                                                          \
    }
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
#define HA_KERNELS_OF_(name, at, F, bytes)                                                         \
    HA_KERNEL_(ha_##name##_1, at, uint8_t, uint32_t, F, bytes, HA_APPLY_NOT_SHORT_)                \
    HA_KERNEL_(ha_##name##_2, at, uint16_t, uint32_t, F, bytes, HA_APPLY_NOT_SHORT_)               \
    HA_KERNEL_(ha_##name##_4, at, uint32_t, uint32_t, F, bytes, HA_APPLY_NOT_SHORT_)               \
    HA_KERNEL_(ha_##name##_8, at, uint64_t, uint64_t, F, bytes, HA_APPLY_NOT_SHORT_)
HA_KERNELS_OF_(assign, , HA_APPLY_ASSIGN_, 16)
HA_KERNELS_OF_(add, , HA_APPLY_ADD_, 16)
HA_KERNELS_OF_(subtract, , HA_APPLY_SUBTRACT_, 16)
HA_KERNELS_OF_(multiply, , HA_APPLY_MULTIPLY_, 16)

/* Of floating-point numbers, for each way that processors have. */
typedef struct ha_kernels {
    ha_kernel *of_float[5], *of_double[5];
} ha_kernels;

#define HA_KERNELS_OF_REAL_(name, at, F, bytes)                                                    \
    HA_KERNEL_(ha_##name##_f32, at, float, float, F, bytes, HA_APPLY_SHORT_)                       \
    HA_KERNEL_(ha_##name##_f64, at, double, double, F, bytes, HA_APPLY_SHORT_)
#define HA_ALL_KERNELS_(way, at, bytes)                                                            \
    HA_KERNELS_OF_REAL_(add_##way, at, HA_APPLY_ADD_, bytes)                                       \
    HA_KERNELS_OF_REAL_(subtract_##way, at, HA_APPLY_SUBTRACT_, bytes)                             \
    HA_KERNELS_OF_REAL_(multiply_##way, at, HA_APPLY_MULTIPLY_, bytes)                             \
    HA_KERNELS_OF_REAL_(divide_##way, at, HA_APPLY_DIVIDE_, bytes)                                 \
    static const ha_kernels ha_kernels_##way = {                                                   \
        {ha_assign_4, ha_add_##way##_f32, ha_subtract_##way##_f32, ha_multiply_##way##_f32,        \
         ha_divide_##way##_f32},                                                                   \
        {ha_assign_8, ha_add_##way##_f64, ha_subtract_##way##_f64, ha_multiply_##way##_f64,        \
         ha_divide_##way##_f64}};

HA_ALL_KERNELS_(plain, , 16)
#if defined __x86_64__ && !defined HARRAY_NO_SIMD
HA_ALL_KERNELS_(avx2, __attribute__((target("avx2"))), 32)
static const ha_kernels *ha_best_kernels(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? &ha_kernels_avx2 : &ha_kernels_plain;
}
#else
static const ha_kernels *ha_best_kernels(void) { return &ha_kernels_plain; }
#endif

/* For two sides of this type, which is not complex; NULL: there is none. */
static ha_kernel *ha_kernel_of(ha_operator operation, ha_scalar type) {
    static ha_kernel *const division[] = {
        [HA_I8] = ha_divide_i8,   [HA_I16] = ha_divide_i16, [HA_I32] = ha_divide_i32,
        [HA_I64] = ha_divide_i64, [HA_U8] = ha_divide_u8,   [HA_U16] = ha_divide_u16,
        [HA_U32] = ha_divide_u32, [HA_U64] = ha_divide_u64};
    static ha_kernel *const of_size[4][4] = {
        {ha_assign_1, ha_assign_2, ha_assign_4, ha_assign_8},
        {ha_add_1, ha_add_2, ha_add_4, ha_add_8},
        {ha_subtract_1, ha_subtract_2, ha_subtract_4, ha_subtract_8},
        {ha_multiply_1, ha_multiply_2, ha_multiply_4, ha_multiply_8}};
    const ha_kernels *kernels = ha_best_kernels();
    const int64_t size = ha_scalar_size(type);
    const int log = size == 8 ? 3 : (int)(size / 2);
    if (type == HA_F32) return kernels->of_float[operation];
    if (type == HA_F64) return kernels->of_double[operation];
    if (operation == HA_ASSIGN) return of_size[0][log];
    if (type < HA_I8 || type > HA_U64) return NULL;
    return operation == HA_DIVIDE ? division[type] : of_size[operation][log];
}

#endif
