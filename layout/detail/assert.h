/* Checks at compile time that C and C++ both know. */
#ifndef HARRAY_LAYOUT_DETAIL_ASSERT_H
#define HARRAY_LAYOUT_DETAIL_ASSERT_H

#include <stdint.h>

#ifdef __cplusplus
#define HA_STATIC_ASSERT_(condition, text) static_assert(condition, text)
#else
#define HA_STATIC_ASSERT_(condition, text) _Static_assert(condition, text)
#endif

/* The same as an expression without a value, in functions. */
#define HA_REQUIRE_(condition, text)                                                               \
    ((void)__extension__({                                                                         \
        HA_STATIC_ASSERT_(condition, text);                                                        \
        0;                                                                                         \
    }))

/* Are the types A and B the same? A constant. */
#ifdef __cplusplus
extern "C++" {
template <class A, class B> struct ha_same_ {
    enum { value = 0 };
};
template <class A> struct ha_same_<A, A> {
    enum { value = 1 };
};
}
#define HA_IS_OF_(A, B) (ha_same_<A, B>::value == 1)
#else
#define HA_IS_OF_(A, B) _Generic((A *)0, B * : 1, default : 0)
#endif

/* Is T an array, as of typedef double real3[3]? In C by what a value of it becomes in an expression. */
#ifdef __cplusplus
extern "C++" {
template <class T> struct ha_array_type_ {
    enum { value = 0 };
};
template <class T, decltype(sizeof 0) N> struct ha_array_type_<T[N]> {
    enum { value = 1 };
};
}
#define HA_IS_ARRAY_(T) (ha_array_type_<T>::value == 1)
#else
#define HA_IS_ARRAY_(T) (!HA_IS_OF_(T, __typeof__(((void)0, *(T *)0))))
#endif

/* Is T a pointer? */
#ifdef __cplusplus
extern "C++" {
template <class T> struct ha_pointer_type_ {
    enum { value = 0 };
};
template <class T> struct ha_pointer_type_<T *> {
    enum { value = 1 };
};
}
#define HA_IS_POINTER_(T) (ha_pointer_type_<T>::value == 1)
#else
#define HA_IS_POINTER_(T) (__builtin_classify_type(((T *)16)[0]) == 5)
#endif

/* What is a constant, as one; 0 for what is known at run time only (and with nvcc for all). In C only a
 * constant that is 0 makes a null pointer of any type. */
#if defined __CUDACC__
#define HA_IF_CONSTANT_(value) 0
#elif defined __cplusplus
#define HA_IF_CONSTANT_(value) (__builtin_constant_p(value) ? (value) + 0 : 0)
#else
#define HA_IS_CONSTANT_(value)                                                                     \
    _Generic(1 ? (void *)((uintptr_t)(value)*0) : (int *)0, int * : 1, default : 0)
#define HA_IF_CONSTANT_(value) __builtin_choose_expr(HA_IS_CONSTANT_(value), value, 0)
#endif

#endif
