/* Loops over values of one type: an operation with other values of it. Vectors are written out, as gcc makes
 * none of such loops at -O2, and may begin anywhere. */
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
    int64_t period; /* bytes on the right after which they come again, for one run; 0: never */
    int is_splat;   /* all meet the same HA_SPLAT bytes, which are one value over and over */
} ha_span;

/* Pieces of one form, some bytes apart. */
typedef struct ha_apply_pieces {
    char *left;
    const char *right, *end; /* what lies on the right begins again there; NULL: nowhere */
    int64_t n, left_apart, right_apart;
} ha_apply_pieces;

/* What a piece is: four vectors to one; four values to one. */
typedef enum ha_apply_form {
    HA_FORM_FOUR,
    HA_FORM_THREE,
    HA_FORM_TWO,
    HA_FORM_ONE,
    HA_FORM_QUAD,
    HA_FORM_TRIPLE,
    HA_FORM_PAIR,
    HA_FORM_SINGLE
} ha_apply_form;

typedef struct ha_kernel {
    void (*loop)(const ha_apply_pieces *pieces, ha_apply_form form);
    int64_t size, vector; /* bytes of a value, and of a vector */
    int has_few;          /* forms: of four vectors, one, and single values */
} ha_kernel;

enum { HA_SPLAT = 128, HA_APPLY_SHORT = 512 }; /* bytes: four vectors, and of short runs */

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

/* All pieces of one form. What all of them meet is read once, which a compiler cannot do by itself, as it
 * might be changed by what is written. */
#define HA_APPLY_NEXT_(READ, OPERATE)                                                              \
    do {                                                                                           \
        if (q == end) q = begin;                                                                   \
        READ;                                                                                      \
        OPERATE;                                                                                   \
    } while (0)
#define HA_APPLY_EACH_(READ, OPERATE)                                                              \
    if (b == 0) {                                                                                  \
        READ;                                                                                      \
        for (; k + 1 < n; k += 2, l += a) {                                                        \
            OPERATE;                                                                               \
            l += a;                                                                                \
            OPERATE;                                                                               \
        }                                                                                          \
        if (k < n) {                                                                               \
            OPERATE;                                                                               \
        }                                                                                          \
    } else {                                                                                       \
        for (; k < n; k++, l += a, q += b) HA_APPLY_NEXT_(READ, OPERATE);                          \
    }                                                                                              \
    return

/* So many vectors. */
#define HA_READ_(V, y, at) const V y = *(const V *)(const void *)(q + (at))
#define HA_OPERATE_(V, F, y, at) *(V *)(void *)(l + (at)) = F(*(V *)(void *)(l + (at)), y)
#define HA_READ_1_(V) HA_READ_(V, y0_, 0)
#define HA_READ_2_(V)                                                                              \
    HA_READ_1_(V);                                                                                 \
    HA_READ_(V, y1_, sizeof(V))
#define HA_READ_3_(V)                                                                              \
    HA_READ_2_(V);                                                                                 \
    HA_READ_(V, y2_, 2 * sizeof(V))
#define HA_READ_4_(V)                                                                              \
    HA_READ_3_(V);                                                                                 \
    HA_READ_(V, y3_, 3 * sizeof(V))
#define HA_OPERATE_1_(V, F) HA_OPERATE_(V, F, y0_, 0)
#define HA_OPERATE_2_(V, F)                                                                        \
    HA_OPERATE_1_(V, F);                                                                           \
    HA_OPERATE_(V, F, y1_, sizeof(V))
#define HA_OPERATE_3_(V, F)                                                                        \
    HA_OPERATE_2_(V, F);                                                                           \
    HA_OPERATE_(V, F, y2_, 2 * sizeof(V))
#define HA_OPERATE_4_(V, F)                                                                        \
    HA_OPERATE_3_(V, F);                                                                           \
    HA_OPERATE_(V, F, y3_, 3 * sizeof(V))

/* One value, behind so many others. */
#define HA_READ_LAST_(T, at)                                                                       \
    T last_;                                                                                       \
    memcpy(&last_, q + (at), sizeof last_)
#define HA_OPERATE_LAST_(T, Wide, F, at)                                                           \
    do {                                                                                           \
        T x_;                                                                                      \
        memcpy(&x_, l + (at), sizeof x_);                                                          \
        x_ = (T)F((Wide)x_, (Wide)last_);                                                          \
        memcpy(l + (at), &x_, sizeof x_);                                                          \
    } while (0)

/* Forms that only floating-point numbers have, which neighbours in records mostly are. */
#define HA_FORMS_OF_REAL_(T, Wide, F)                                                              \
    case HA_FORM_THREE:                                                                            \
        HA_APPLY_EACH_(HA_READ_3_(ha_v), HA_OPERATE_3_(ha_v, F));                                  \
    case HA_FORM_TWO:                                                                              \
        HA_APPLY_EACH_(HA_READ_2_(ha_v), HA_OPERATE_2_(ha_v, F));                                  \
    case HA_FORM_QUAD:                                                                             \
        HA_APPLY_EACH_(HA_READ_1_(ha_quad), HA_OPERATE_1_(ha_quad, F));                            \
    case HA_FORM_TRIPLE:                                                                           \
        HA_APPLY_EACH_(HA_READ_1_(ha_two);                                                         \
                       HA_READ_LAST_(T, sizeof(ha_two)), HA_OPERATE_1_(ha_two, F);                 \
                       HA_OPERATE_LAST_(T, Wide, F, sizeof(ha_two)));                              \
    case HA_FORM_PAIR:                                                                             \
        HA_APPLY_EACH_(HA_READ_1_(ha_two), HA_OPERATE_1_(ha_two, F));
#define HA_FORMS_OF_INTEGERS_(T, Wide, F)
#define HA_KERNEL_(name, attribute, T, Wide, F, bytes, MORE)                                       \
    attribute static void name##_loop(const ha_apply_pieces *p, ha_apply_form form) {              \
        typedef T ha_v __attribute__((vector_size(bytes), aligned(1), may_alias));                 \
        typedef T ha_two                                                                           \
            __attribute__((vector_size(2 * sizeof(T)), aligned(1), may_alias, unused));            \
        typedef T ha_quad                                                                          \
            __attribute__((vector_size(4 * sizeof(T)), aligned(1), may_alias, unused));            \
        const int64_t a = p->left_apart, b = p->right_apart, n = p->n;                             \
        const char *q = p->right, *const begin = p->right, *const end = p->end;                    \
        char *l = p->left;                                                                         \
        int64_t k = 0;                                                                             \
        switch (form) {                                                                            \
        case HA_FORM_FOUR:                                                                         \
            HA_APPLY_EACH_(HA_READ_4_(ha_v), HA_OPERATE_4_(ha_v, F));                              \
        case HA_FORM_ONE:                                                                          \
            HA_APPLY_EACH_(HA_READ_1_(ha_v), HA_OPERATE_1_(ha_v, F));                              \
            MORE(T, Wide, F)                                                                       \
        case HA_FORM_SINGLE:                                                                       \
            HA_APPLY_EACH_(HA_READ_LAST_(T, 0), HA_OPERATE_LAST_(T, Wide, F, 0));                  \
        default:                                                                                   \
            break;                                                                                 \
        }                                                                                          \
    }                                                                                              \
    static const ha_kernel name = {name##_loop, sizeof(T), bytes, (T)0.5 == (T)0};

/* Integers are divided one by one: no processor has vectors for it. */
#define HA_DIVISION_(name, T, Wide, F)                                                             \
    static void name##_loop(const ha_apply_pieces *p, ha_apply_form form) {                        \
        const char *q = p->right;                                                                  \
        char *l = p->left;                                                                         \
        (void)form;                                                                                \
        for (int64_t k = 0; k < p->n; k++, l += p->left_apart, q += p->right_apart) {              \
            if (q == p->end) q = p->right;                                                         \
            HA_APPLY_ONE_(T, Wide, F, l, q);                                                       \
        }                                                                                          \
    }                                                                                              \
    static const ha_kernel name = {name##_loop, sizeof(T), 0, 1};
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
    HA_KERNEL_(ha_##name##_1, at, uint8_t, uint32_t, F, bytes, HA_FORMS_OF_INTEGERS_)              \
    HA_KERNEL_(ha_##name##_2, at, uint16_t, uint32_t, F, bytes, HA_FORMS_OF_INTEGERS_)             \
    HA_KERNEL_(ha_##name##_4, at, uint32_t, uint32_t, F, bytes, HA_FORMS_OF_INTEGERS_)             \
    HA_KERNEL_(ha_##name##_8, at, uint64_t, uint64_t, F, bytes, HA_FORMS_OF_INTEGERS_)
HA_KERNELS_OF_(assign, , HA_APPLY_ASSIGN_, 16)
HA_KERNELS_OF_(add, , HA_APPLY_ADD_, 16)
HA_KERNELS_OF_(subtract, , HA_APPLY_SUBTRACT_, 16)
HA_KERNELS_OF_(multiply, , HA_APPLY_MULTIPLY_, 16)

/* Of floating-point numbers, for each way that processors have. */
typedef struct ha_kernels {
    const ha_kernel *of_float[5], *of_double[5];
} ha_kernels;

#define HA_KERNELS_OF_REAL_(name, at, F, bytes)                                                    \
    HA_KERNEL_(ha_##name##_f32, at, float, float, F, bytes, HA_FORMS_OF_REAL_)                     \
    HA_KERNEL_(ha_##name##_f64, at, double, double, F, bytes, HA_FORMS_OF_REAL_)
#define HA_ALL_KERNELS_(way, at, bytes)                                                            \
    HA_KERNELS_OF_REAL_(add_##way, at, HA_APPLY_ADD_, bytes)                                       \
    HA_KERNELS_OF_REAL_(subtract_##way, at, HA_APPLY_SUBTRACT_, bytes)                             \
    HA_KERNELS_OF_REAL_(multiply_##way, at, HA_APPLY_MULTIPLY_, bytes)                             \
    HA_KERNELS_OF_REAL_(divide_##way, at, HA_APPLY_DIVIDE_, bytes)                                 \
    static const ha_kernels ha_kernels_##way = {                                                   \
        {&ha_assign_4, &ha_add_##way##_f32, &ha_subtract_##way##_f32, &ha_multiply_##way##_f32,    \
         &ha_divide_##way##_f32},                                                                  \
        {&ha_assign_8, &ha_add_##way##_f64, &ha_subtract_##way##_f64, &ha_multiply_##way##_f64,    \
         &ha_divide_##way##_f64}};

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
static const ha_kernel *ha_kernel_of(ha_operator operation, ha_scalar type) {
    static const ha_kernel *const division[] = {
        [HA_I8] = &ha_divide_i8,   [HA_I16] = &ha_divide_i16, [HA_I32] = &ha_divide_i32,
        [HA_I64] = &ha_divide_i64, [HA_U8] = &ha_divide_u8,   [HA_U16] = &ha_divide_u16,
        [HA_U32] = &ha_divide_u32, [HA_U64] = &ha_divide_u64};
    static const ha_kernel *const of_size[4][4] = {
        {&ha_assign_1, &ha_assign_2, &ha_assign_4, &ha_assign_8},
        {&ha_add_1, &ha_add_2, &ha_add_4, &ha_add_8},
        {&ha_subtract_1, &ha_subtract_2, &ha_subtract_4, &ha_subtract_8},
        {&ha_multiply_1, &ha_multiply_2, &ha_multiply_4, &ha_multiply_8}};
    const ha_kernels *kernels = ha_best_kernels();
    const int64_t size = ha_scalar_size(type);
    const int log = size == 8 ? 3 : (int)(size / 2);
    if (type == HA_F32) return kernels->of_float[operation];
    if (type == HA_F64) return kernels->of_double[operation];
    if (operation == HA_ASSIGN) return of_size[0][log];
    if (type < HA_I8 || type > HA_U64) return NULL;
    return operation == HA_DIVIDE ? division[type] : of_size[operation][log];
}

/* ---- spans as pieces ------------------------------------------------------------------------- */

/* Values of a piece of each form, and the largest form of no more than n of them. */
static int64_t ha_form_values(const ha_kernel *kernel, ha_apply_form form) {
    const int64_t width = kernel->vector / kernel->size;
    return form <= HA_FORM_ONE ? width * (4 - (int64_t)form) : 8 - (int64_t)form;
}
static ha_apply_form ha_form_within(const ha_kernel *kernel, int64_t n) {
    ha_apply_form form = kernel->vector == 0 ? HA_FORM_SINGLE : HA_FORM_FOUR;
    while (ha_form_values(kernel, form) > n || (kernel->has_few && form != HA_FORM_FOUR &&
                                                form != HA_FORM_ONE && form != HA_FORM_SINGLE))
        form = (ha_apply_form)(form + 1);
    return form;
}

/* Runs so short that their first pieces are done in all of them, then the second ones, and so on. Those of
 * a tile stay in the nearest cache meanwhile. */
static void ha_apply_down(const ha_kernel *kernel, const ha_span *s, int is_dense) {
    for (int64_t n, k = 0; k < s->n; k += n) {
        const ha_apply_form form = is_dense ? ha_form_within(kernel, s->n - k) : HA_FORM_SINGLE;
        const ha_apply_pieces pieces = {.left = s->left + k * s->left_step,
                                        .right = s->right + k * s->right_step,
                                        .n = s->runs,
                                        .left_apart = s->left_apart,
                                        .right_apart = s->right_apart};
        n = ha_form_values(kernel, form);
        kernel->loop(&pieces, form);
    }
}

/* One run after the other: values next to each other by four vectors, the rest and others one by one. */
static void ha_apply_along_runs(const ha_kernel *kernel, const ha_span *s, int is_dense) {
    const int64_t four = is_dense ? ha_form_values(kernel, HA_FORM_FOUR) : 0;
    for (int64_t r = 0; r < s->runs; r++) {
        ha_apply_pieces p = {.left = s->left + r * s->left_apart,
                             .right = s->right + r * s->right_apart,
                             .end = s->period > 0 ? s->right + s->period : NULL};
        const int64_t fours = four > 0 ? s->n / four : 0, rest = s->n - fours * four;
        p.n = fours;
        p.left_apart = four * s->left_step;
        p.right_apart = four * s->right_step == s->period ? 0 : four * s->right_step;
        if (fours > 0) kernel->loop(&p, HA_FORM_FOUR);
        p.left += fours * p.left_apart;
        p.right += s->period > 0 ? fours * p.right_apart % s->period : fours * p.right_apart;
        p.n = rest;
        p.left_apart = s->left_step;
        p.right_apart = s->right_step;
        if (rest > 0) kernel->loop(&p, HA_FORM_SINGLE);
    }
}

static void ha_apply_kernel(const ha_kernel *kernel, const ha_span *s) {
    const int is_dense = s->left_step == kernel->size &&
                         (s->right_step == kernel->size || s->is_splat);
    if (s->runs > 1 && s->n * kernel->size <= HA_APPLY_SHORT)
        ha_apply_down(kernel, s, is_dense);
    else
        ha_apply_along_runs(kernel, s, is_dense);
}

#endif
