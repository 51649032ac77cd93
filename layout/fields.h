/* Records: the fields of your own struct.
 *
 *     typedef struct { struct { float x, y, z; } pos; float mass; bool flags[4]; } body;
 *     #define body_FIELDS (float, pos, x), (float, pos, y), (float, pos, z), (float, mass), \
 *                         (bool, flags, (4))
 *     HA_RECORD(body)
 *
 * The list is a macro named after the struct: a tuple (type, path…) for each field, up to 64, the type
 * one word (typedef others), the path of up to 8 items, where parentheses give the extents of the name
 * before them: (double, link, (4), e, (3, 3), re) is link[4].e[3][3].re. These are numbers, or macros
 * for numbers, as the path becomes a text, too. A list may leave fields out. Lists compose:
 * #define body_FIELDS HOT_FIELDS, COLD_FIELDS, where either may be empty.
 *
 * Fields are scalars (dtype.h). Of a member whose type is a typedef of a struct list the members,
 * (float, pos, x) and so on; of one that is a typedef of an array its elements, with the extents: (double,
 * r, (3)), not (real3, r). Pointers are refused: what they point at has no layout. Leave them out.
 *
 * What is wrong with a list is told at compile time, by the first error: a member that is not there
 * names the record and the path, as body_pos_w; a wrong type, one that is no scalar (dtype.h), extents
 * that are not the array's, a field listed twice, and what is no tuple say which it is in words. */
#ifndef HARRAY_LAYOUT_FIELDS_H
#define HARRAY_LAYOUT_FIELDS_H

#include "detail/paths.h"
#include "record.h"

/* ---- checks ---------------------------------------------------------------------------------- */

/* The types on the way to a field get the names R_path_1, R_path_2, …: gcc, when it finds no such
 * member, tells the name of the type in which it looked. clang does in initializers only; in C++
 * the path is in an assertion. */
/* clang-format off */
#define HA_STEP_(N, p, q, x) HA_VARIANT_(HA_STEP_, HA_IS_PAREN_(x))(N, p, q, x)
#define HA_STEP_0_(N, p, q, x) HA_HAS_MEMBER_(N##p, x) typedef HA_TYPEOF_(HA_NO_POINTER_(N##p)->x) N##q;
#define HA_STEP_1_(N, p, q, x) typedef HA_TYPEOF_(HA_VARIANT_(HA_STARS_, HA_ITEMS_ x) *HA_NO_POINTER_(N##p)) N##q; \
    HA_STATIC_ASSERT_(sizeof(N##p) == sizeof(N##q) * HA_CALL_(HA_VARIANT_(HA_PRODUCT_, HA_ITEMS_ x), HA_BARE_ x), \
                      "HA_RECORD: an array has other extents than " HA_QUOTED_(N) " says, which are " #x);
#define HA_STARS_1_ *
#define HA_STARS_2_ **
#define HA_STARS_3_ ***
#ifdef __cplusplus
#define HA_HAS_MEMBER_(T, x) \
    extern "C++" { \
    template <class U> auto T##_has_(U *u) -> decltype(static_cast<void>(u->x), char()); \
    template <class U> int T##_has_(...); \
    } \
    HA_STATIC_ASSERT_(sizeof(T##_has_<T>(nullptr)) == 1, "HA_RECORD: there is no member " #x " for " #T);
#elif defined __clang__
#define HA_HAS_MEMBER_(T, x) HA_STATIC_ASSERT_(sizeof((T){.x = 0}) != 0, #T);
#else
#define HA_HAS_MEMBER_(T, x)
#endif
#ifdef __clang__ /* what a first member is that is another struct, is no matter there */
#define HA_ANY_BRACES_ \
    _Pragma("clang diagnostic push") \
    _Pragma("clang diagnostic ignored \"-Wmissing-braces\"") \
    _Pragma("clang diagnostic ignored \"-Wmissing-field-initializers\"")
#define HA_RIGHT_BRACES_ _Pragma("clang diagnostic pop")
#else
#define HA_ANY_BRACES_
#define HA_RIGHT_BRACES_
#endif
#define HA_PRODUCT_1_(a) (a)
#define HA_PRODUCT_2_(a, b) (a) * (b)
#define HA_PRODUCT_3_(a, b, c) (a) * (b) * (c)
#define HA_STEPS_1_(N, a) HA_STEP_(N, 1, 2, a)
#define HA_STEPS_2_(N, a, b) HA_STEP_(N, 1, 2, a) HA_STEP_(N, 2, 3, b)
#define HA_STEPS_3_(N, a, b, c) HA_STEPS_2_(N, a, b) HA_STEP_(N, 3, 4, c)
#define HA_STEPS_4_(N, a, b, c, d) HA_STEPS_3_(N, a, b, c) HA_STEP_(N, 4, 5, d)
#define HA_STEPS_5_(N, a, b, c, d, e) HA_STEPS_4_(N, a, b, c, d) HA_STEP_(N, 5, 6, e)
#define HA_STEPS_6_(N, a, b, c, d, e, f) HA_STEPS_5_(N, a, b, c, d, e) HA_STEP_(N, 6, 7, f)
#define HA_STEPS_7_(N, a, b, c, d, e, f, g) HA_STEPS_6_(N, a, b, c, d, e, f) HA_STEP_(N, 7, 8, g)
#define HA_STEPS_8_(N, a, b, c, d, e, f, g, h) HA_STEPS_7_(N, a, b, c, d, e, f, g) HA_STEP_(N, 8, 9, h)
#define HA_AFTER_1_ 2
#define HA_AFTER_2_ 3
#define HA_AFTER_3_ 4
#define HA_AFTER_4_ 5
#define HA_AFTER_5_ 6
#define HA_AFTER_6_ 7
#define HA_AFTER_7_ 8
#define HA_AFTER_8_ 9
/* clang-format on */

#define HA_CHECK_FIELD_(R, T, ...) HA_CHECK_FIELD_1_(R, HA_NAME_OF_(__VA_ARGS__), T, __VA_ARGS__)
#define HA_CHECK_FIELD_1_(R, name, T, ...)                                                         \
    HA_CHECK_FIELD_2_(R, HA_JOIN_(R##_, HA_JOIN_(name, _)), HA_ITEMS_(__VA_ARGS__), T, __VA_ARGS__)
#define HA_CHECK_FIELD_2_(R, N, items, T, ...)                                                     \
    HA_CHECK_FIELD_3_(R, N, items, HA_JOIN_(N, HA_VARIANT_(HA_AFTER_, items)), T, __VA_ARGS__)
#define HA_CHECK_FIELD_3_(R, N, items, found, T, ...)                                              \
    typedef R HA_JOIN_(N, 1);                                                                      \
    HA_VARIANT_(HA_STEPS_, items)                                                                  \
    (N, __VA_ARGS__)                                                                               \
        HA_STATIC_ASSERT_(HA_IS_OF_(T, found),                                                     \
                          "HA_RECORD(" #R "): " HA_PATH_TEXT_(__VA_ARGS__) " is not of type " #T); \
    HA_SCALAR_FIELD_(R, T, __VA_ARGS__)

/* Numbers, not arrays, structs and pointers. */
#define HA_SCALAR_FIELD_(R, T, ...)                                                                \
    HA_STATIC_ASSERT_(HA_DTYPE_OF(T) != HA_DTYPE_NONE,                                             \
                      HA_PATH_TEXT_(__VA_ARGS__) ": " #T HA_NO_SCALAR_);
#define HA_NO_SCALAR_                                                                              \
    " is not a scalar; of an array write the type of its elements and its extents, "               \
    "as (real_t, r, (3)); of a struct its members; pointers are no fields"

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Structs of characters whose members begin where a field does in the packed record, and at the number
 * of its first leaf. They also refuse a field that is listed twice. */
#define HA_PACKED_FIELD_(R, T, ...)                                                                \
    char HA_NAME_OF_(__VA_ARGS__)[sizeof(T) * HA_ELEMENTS_(__VA_ARGS__)];
#define HA_LEAF_FIELD_(R, T, ...) char HA_NAME_OF_(__VA_ARGS__)[HA_ELEMENTS_(__VA_ARGS__)];

/* What blobs are counted by: for each field the bytes and alignment of an element, how many there are,
 * and where the last one ends in the struct. */
typedef struct ha_sizes_ {
    ptrdiff_t size, align, elements, end;
} ha_sizes_;
#define HA_SIZES_FIELD_(R, T, ...)                                                                 \
    {sizeof(T), HA_ALIGNOF_(T), HA_ELEMENTS_(__VA_ARGS__),                                         \
     offsetof(R, HA_LAST_MEMBER_(__VA_ARGS__)) + sizeof(T)},

/* The table of a record's sizes. Functions of CUDA devices know no tables but their own. */
#define HA_TABLE_OF_SIZES_(R, ...)                                                                 \
    static const ha_sizes_ R##_sizes_[] HA_UNUSED = {__VA_ARGS__};                                 \
    HA_TABLE_THERE_(R, __VA_ARGS__)
#if defined __CUDACC__
#define HA_SIZES_OF_(R) R##_all_sizes_()
#define HA_TABLE_THERE_(R, ...)                                                                    \
    HA_FN const ha_sizes_ *R##_all_sizes_(void) {                                                  \
        static const ha_sizes_ ha_s[] = {__VA_ARGS__};                                             \
        return ha_s;                                                                               \
    }
#else
#define HA_SIZES_OF_(R) R##_sizes_
#define HA_TABLE_THERE_(R, ...)
#endif

/* ---- the record at run time ------------------------------------------------------------------ */

/* The bytes from one subscript to the next, by the types of the checks. */
/* clang-format off */
#define HA_STRIDE_(N, p, x) HA_VARIANT_(HA_STRIDE_, HA_IS_PAREN_(x))(N, p, x)
#define HA_STRIDE_0_(N, p, x)
#define HA_STRIDE_1_(N, p, x) HA_VARIANT_(HA_ARRAY_STRIDE_, HA_ITEMS_ x)(*HA_NO_POINTER_(N##p))
#define HA_ARRAY_STRIDE_1_(array) sizeof((array)[0]),
#define HA_ARRAY_STRIDE_2_(array) sizeof((array)[0]), sizeof((array)[0][0]),
#define HA_ARRAY_STRIDE_3_(array) sizeof((array)[0]), sizeof((array)[0][0]), sizeof((array)[0][0][0]),
#define HA_STRIDES_1_(N, a)
#define HA_STRIDES_2_(N, a, b) HA_STRIDE_(N, 2, b)
#define HA_STRIDES_3_(N, a, b, c) HA_STRIDES_2_(N, a, b) HA_STRIDE_(N, 3, c)
#define HA_STRIDES_4_(N, a, b, c, d) HA_STRIDES_3_(N, a, b, c) HA_STRIDE_(N, 4, d)
#define HA_STRIDES_5_(N, a, b, c, d, e) HA_STRIDES_4_(N, a, b, c, d) HA_STRIDE_(N, 5, e)
#define HA_STRIDES_6_(N, a, b, c, d, e, f) HA_STRIDES_5_(N, a, b, c, d, e) HA_STRIDE_(N, 6, f)
#define HA_STRIDES_7_(N, a, b, c, d, e, f, g) HA_STRIDES_6_(N, a, b, c, d, e, f) HA_STRIDE_(N, 7, g)
#define HA_STRIDES_8_(N, a, b, c, d, e, f, g, h) HA_STRIDES_7_(N, a, b, c, d, e, f, g) HA_STRIDE_(N, 8, h)
/* clang-format on */

#define HA_DESCRIBED_FIELD_(R, T, ...)                                                             \
    {HA_PATH_TEXT_(__VA_ARGS__),                                                                   \
     HA_DTYPE_OF(T),                                                                               \
     offsetof(R, HA_FIRST_MEMBER_(__VA_ARGS__)),                                                   \
     {HA_VARIANT_(HA_STRIDES_, HA_ITEMS_(__VA_ARGS__))(                                            \
         HA_JOIN_(R##_, HA_JOIN_(HA_NAME_OF_(__VA_ARGS__), _)), __VA_ARGS__) 0}},

/* In C++ the record of a type is found by the type, also in the namespace of its own; NULL: it has none. */
#ifdef __cplusplus
extern "C++" {
HA_UNUSED static constexpr const ha_record *ha_record_of_(const void *) { return nullptr; }
template <typename T> constexpr const ha_record *ha_record_found_() {
    return ha_record_of_(static_cast<const T *>(nullptr));
}
}
#define HA_RECORD_TRAIT_(R)                                                                        \
    extern "C++" {                                                                                 \
    HA_UNUSED static constexpr const ha_record *ha_record_of_(const R *) { return &R##_record; }   \
    }
#else
#define HA_RECORD_TRAIT_(R)
#endif

/* What in a list is no tuple, as text: "" if it is all right. */
#define HA_NO_FIELD_(C, ...)
#define HA_NO_FIELDS_TEXT_(...) HA_NO_FIELDS_TEXT_1_(__VA_ARGS__)
#define HA_NO_FIELDS_TEXT_1_(...) #__VA_ARGS__
#define HA_NO_FIELDS_(R) HA_NO_FIELDS_TEXT_(HA_FOR_FIELDS_(HA_NO_FIELD_, R, R##_FIELDS))

/* The struct R with the fields R_FIELDS. Makes R_record, an ha_record, and nothing else that is for
 * users. At file scope. */
#define HA_RECORD(R)                                                                               \
    HA_STATIC_ASSERT_(sizeof(HA_NO_FIELDS_(R)) == 1,                                               \
                      "HA_RECORD(" #R "): this is no field as (type, path): " HA_NO_FIELDS_(R));   \
    HA_STATIC_ASSERT_(HA_ALIGNOF_(R) <= 64,                                                        \
                      "HA_RECORD(" #R "): memory of views is aligned to 64 bytes, no more");       \
    HA_ANY_BRACES_                                                                                 \
    HA_FOR_FIELDS_(HA_CHECK_FIELD_, R, R##_FIELDS)                                                 \
    HA_RIGHT_BRACES_                                                                               \
    typedef struct {                                                                               \
        HA_FOR_FIELDS_(HA_PACKED_FIELD_, R, R##_FIELDS)                                            \
    } R##_packed_;                                                                                 \
    typedef struct {                                                                               \
        HA_FOR_FIELDS_(HA_LEAF_FIELD_, R, R##_FIELDS)                                              \
    } R##_leaf_;                                                                                   \
    HA_TABLE_OF_SIZES_(R, HA_FOR_FIELDS_(HA_SIZES_FIELD_, R, R##_FIELDS))                          \
    static const ha_field R##_field_[] HA_UNUSED = {                                               \
        HA_FOR_FIELDS_(HA_DESCRIBED_FIELD_, R, R##_FIELDS)};                                       \
    static const ha_record R##_record HA_UNUSED = {                                                \
        #R, sizeof(R), HA_ALIGNOF_(R), sizeof R##_field_ / sizeof R##_field_[0], R##_field_};      \
    HA_RECORD_TRAIT_(R)

#endif
