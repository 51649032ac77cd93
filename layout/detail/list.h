/* Lists of fields: HA_FOR_FIELDS_(M, C, list) expands to M(C, type, path…) for each tuple (type,
 * path…) of a list of up to 64. Empty places in the list are passed over, so that lists compose:
 * `HOT_FIELDS, COLD_FIELDS`, where either may be empty. What is neither stays as it is: HA_RECORD
 * refuses it. */
#ifndef HARRAY_LAYOUT_DETAIL_LIST_H
#define HARRAY_LAYOUT_DETAIL_LIST_H

#include "../status.h"

#define HA_BARE_(...) __VA_ARGS__
#define HA_CALL_(M, ...) M(__VA_ARGS__)

/* 1 if x is in parentheses, else 0 (also if it is nothing). */
#define HA_IS_PAREN_(x) HA_IS_PAREN_1_(HA_IS_PAREN_0_ x, 0, 0)
#define HA_IS_PAREN_0_(...) ~, 1
#define HA_IS_PAREN_1_(...) HA_IS_PAREN_2_(__VA_ARGS__)
#define HA_IS_PAREN_2_(a, b, ...) b

#define HA_COUNT_64_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,   \
                     a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32,    \
                     a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47,    \
                     a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62,    \
                     a63, a64, n, ...)                                                             \
    n
#define HA_COUNT_OF_(...)                                                                          \
    HA_COUNT_64_(__VA_ARGS__, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48,  \
                 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28,   \
                 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7,  \
                 6, 5, 4, 3, 2, 1, 0)

#define HA_FOR_FIELDS_(M, C, ...) HA_FOR_N_(HA_COUNT_OF_(__VA_ARGS__), M, C, __VA_ARGS__)
#define HA_FOR_N_(n, M, C, ...) HA_VARIANT_(HA_EACH_OF_, n)(M, C, __VA_ARGS__)
#define HA_FIELD_(M, C, t) HA_VARIANT_(HA_FIELD_, HA_IS_PAREN_(t))(M, C, t)
#define HA_FIELD_0_(M, C, t) t
#define HA_FIELD_1_(M, C, t) HA_OF_FIELD_(M, C, HA_BARE_ t)
#define HA_OF_FIELD_(M, ...) M(__VA_ARGS__)

/* clang-format off */
#define HA_EACH_OF_1_(M, C, t) HA_FIELD_(M, C, t)
#define HA_EACH_OF_2_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_1_(M, C, __VA_ARGS__)
#define HA_EACH_OF_3_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_2_(M, C, __VA_ARGS__)
#define HA_EACH_OF_4_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_3_(M, C, __VA_ARGS__)
#define HA_EACH_OF_5_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_4_(M, C, __VA_ARGS__)
#define HA_EACH_OF_6_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_5_(M, C, __VA_ARGS__)
#define HA_EACH_OF_7_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_6_(M, C, __VA_ARGS__)
#define HA_EACH_OF_8_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_7_(M, C, __VA_ARGS__)
#define HA_EACH_OF_9_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_8_(M, C, __VA_ARGS__)
#define HA_EACH_OF_10_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_9_(M, C, __VA_ARGS__)
#define HA_EACH_OF_11_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_10_(M, C, __VA_ARGS__)
#define HA_EACH_OF_12_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_11_(M, C, __VA_ARGS__)
#define HA_EACH_OF_13_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_12_(M, C, __VA_ARGS__)
#define HA_EACH_OF_14_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_13_(M, C, __VA_ARGS__)
#define HA_EACH_OF_15_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_14_(M, C, __VA_ARGS__)
#define HA_EACH_OF_16_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_15_(M, C, __VA_ARGS__)
#define HA_EACH_OF_17_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_16_(M, C, __VA_ARGS__)
#define HA_EACH_OF_18_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_17_(M, C, __VA_ARGS__)
#define HA_EACH_OF_19_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_18_(M, C, __VA_ARGS__)
#define HA_EACH_OF_20_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_19_(M, C, __VA_ARGS__)
#define HA_EACH_OF_21_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_20_(M, C, __VA_ARGS__)
#define HA_EACH_OF_22_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_21_(M, C, __VA_ARGS__)
#define HA_EACH_OF_23_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_22_(M, C, __VA_ARGS__)
#define HA_EACH_OF_24_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_23_(M, C, __VA_ARGS__)
#define HA_EACH_OF_25_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_24_(M, C, __VA_ARGS__)
#define HA_EACH_OF_26_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_25_(M, C, __VA_ARGS__)
#define HA_EACH_OF_27_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_26_(M, C, __VA_ARGS__)
#define HA_EACH_OF_28_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_27_(M, C, __VA_ARGS__)
#define HA_EACH_OF_29_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_28_(M, C, __VA_ARGS__)
#define HA_EACH_OF_30_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_29_(M, C, __VA_ARGS__)
#define HA_EACH_OF_31_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_30_(M, C, __VA_ARGS__)
#define HA_EACH_OF_32_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_31_(M, C, __VA_ARGS__)
#define HA_EACH_OF_33_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_32_(M, C, __VA_ARGS__)
#define HA_EACH_OF_34_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_33_(M, C, __VA_ARGS__)
#define HA_EACH_OF_35_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_34_(M, C, __VA_ARGS__)
#define HA_EACH_OF_36_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_35_(M, C, __VA_ARGS__)
#define HA_EACH_OF_37_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_36_(M, C, __VA_ARGS__)
#define HA_EACH_OF_38_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_37_(M, C, __VA_ARGS__)
#define HA_EACH_OF_39_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_38_(M, C, __VA_ARGS__)
#define HA_EACH_OF_40_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_39_(M, C, __VA_ARGS__)
#define HA_EACH_OF_41_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_40_(M, C, __VA_ARGS__)
#define HA_EACH_OF_42_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_41_(M, C, __VA_ARGS__)
#define HA_EACH_OF_43_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_42_(M, C, __VA_ARGS__)
#define HA_EACH_OF_44_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_43_(M, C, __VA_ARGS__)
#define HA_EACH_OF_45_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_44_(M, C, __VA_ARGS__)
#define HA_EACH_OF_46_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_45_(M, C, __VA_ARGS__)
#define HA_EACH_OF_47_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_46_(M, C, __VA_ARGS__)
#define HA_EACH_OF_48_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_47_(M, C, __VA_ARGS__)
#define HA_EACH_OF_49_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_48_(M, C, __VA_ARGS__)
#define HA_EACH_OF_50_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_49_(M, C, __VA_ARGS__)
#define HA_EACH_OF_51_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_50_(M, C, __VA_ARGS__)
#define HA_EACH_OF_52_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_51_(M, C, __VA_ARGS__)
#define HA_EACH_OF_53_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_52_(M, C, __VA_ARGS__)
#define HA_EACH_OF_54_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_53_(M, C, __VA_ARGS__)
#define HA_EACH_OF_55_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_54_(M, C, __VA_ARGS__)
#define HA_EACH_OF_56_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_55_(M, C, __VA_ARGS__)
#define HA_EACH_OF_57_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_56_(M, C, __VA_ARGS__)
#define HA_EACH_OF_58_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_57_(M, C, __VA_ARGS__)
#define HA_EACH_OF_59_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_58_(M, C, __VA_ARGS__)
#define HA_EACH_OF_60_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_59_(M, C, __VA_ARGS__)
#define HA_EACH_OF_61_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_60_(M, C, __VA_ARGS__)
#define HA_EACH_OF_62_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_61_(M, C, __VA_ARGS__)
#define HA_EACH_OF_63_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_62_(M, C, __VA_ARGS__)
#define HA_EACH_OF_64_(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_63_(M, C, __VA_ARGS__)
/* clang-format on */

#endif
