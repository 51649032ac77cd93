/* Lists of fields: HA_FOR_FIELDS_(M, C, list) expands to M(C, type, path…) for each tuple
 * (type, path…) of a list of up to 64. Empty places in the list are passed over, so that lists
 * compose: `HOT_FIELDS, COLD_FIELDS`, where either may be empty. What is neither stays as it is: HA_RECORD
 * refuses it. */
#ifndef HARRAY_LAYOUT_DETAIL_LIST_H
#define HARRAY_LAYOUT_DETAIL_LIST_H

#define HA_JOINED_(a, b) a##b
#define HA_JOIN_(a, b) HA_JOINED_(a, b)
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
#define HA_FOR_N_(n, M, C, ...) HA_JOIN_(HA_EACH_OF_, n)(M, C, __VA_ARGS__)
#define HA_FIELD_(M, C, t) HA_JOIN_(HA_FIELD_, HA_IS_PAREN_(t))(M, C, t)
#define HA_FIELD_0(M, C, t) t
#define HA_FIELD_1(M, C, t) HA_OF_FIELD_(M, C, HA_BARE_ t)
#define HA_OF_FIELD_(M, ...) M(__VA_ARGS__)

/* clang-format off */
#define HA_EACH_OF_1(M, C, t) HA_FIELD_(M, C, t)
#define HA_EACH_OF_2(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_1(M, C, __VA_ARGS__)
#define HA_EACH_OF_3(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_2(M, C, __VA_ARGS__)
#define HA_EACH_OF_4(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_3(M, C, __VA_ARGS__)
#define HA_EACH_OF_5(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_4(M, C, __VA_ARGS__)
#define HA_EACH_OF_6(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_5(M, C, __VA_ARGS__)
#define HA_EACH_OF_7(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_6(M, C, __VA_ARGS__)
#define HA_EACH_OF_8(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_7(M, C, __VA_ARGS__)
#define HA_EACH_OF_9(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_8(M, C, __VA_ARGS__)
#define HA_EACH_OF_10(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_9(M, C, __VA_ARGS__)
#define HA_EACH_OF_11(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_10(M, C, __VA_ARGS__)
#define HA_EACH_OF_12(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_11(M, C, __VA_ARGS__)
#define HA_EACH_OF_13(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_12(M, C, __VA_ARGS__)
#define HA_EACH_OF_14(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_13(M, C, __VA_ARGS__)
#define HA_EACH_OF_15(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_14(M, C, __VA_ARGS__)
#define HA_EACH_OF_16(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_15(M, C, __VA_ARGS__)
#define HA_EACH_OF_17(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_16(M, C, __VA_ARGS__)
#define HA_EACH_OF_18(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_17(M, C, __VA_ARGS__)
#define HA_EACH_OF_19(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_18(M, C, __VA_ARGS__)
#define HA_EACH_OF_20(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_19(M, C, __VA_ARGS__)
#define HA_EACH_OF_21(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_20(M, C, __VA_ARGS__)
#define HA_EACH_OF_22(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_21(M, C, __VA_ARGS__)
#define HA_EACH_OF_23(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_22(M, C, __VA_ARGS__)
#define HA_EACH_OF_24(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_23(M, C, __VA_ARGS__)
#define HA_EACH_OF_25(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_24(M, C, __VA_ARGS__)
#define HA_EACH_OF_26(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_25(M, C, __VA_ARGS__)
#define HA_EACH_OF_27(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_26(M, C, __VA_ARGS__)
#define HA_EACH_OF_28(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_27(M, C, __VA_ARGS__)
#define HA_EACH_OF_29(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_28(M, C, __VA_ARGS__)
#define HA_EACH_OF_30(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_29(M, C, __VA_ARGS__)
#define HA_EACH_OF_31(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_30(M, C, __VA_ARGS__)
#define HA_EACH_OF_32(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_31(M, C, __VA_ARGS__)
#define HA_EACH_OF_33(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_32(M, C, __VA_ARGS__)
#define HA_EACH_OF_34(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_33(M, C, __VA_ARGS__)
#define HA_EACH_OF_35(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_34(M, C, __VA_ARGS__)
#define HA_EACH_OF_36(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_35(M, C, __VA_ARGS__)
#define HA_EACH_OF_37(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_36(M, C, __VA_ARGS__)
#define HA_EACH_OF_38(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_37(M, C, __VA_ARGS__)
#define HA_EACH_OF_39(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_38(M, C, __VA_ARGS__)
#define HA_EACH_OF_40(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_39(M, C, __VA_ARGS__)
#define HA_EACH_OF_41(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_40(M, C, __VA_ARGS__)
#define HA_EACH_OF_42(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_41(M, C, __VA_ARGS__)
#define HA_EACH_OF_43(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_42(M, C, __VA_ARGS__)
#define HA_EACH_OF_44(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_43(M, C, __VA_ARGS__)
#define HA_EACH_OF_45(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_44(M, C, __VA_ARGS__)
#define HA_EACH_OF_46(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_45(M, C, __VA_ARGS__)
#define HA_EACH_OF_47(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_46(M, C, __VA_ARGS__)
#define HA_EACH_OF_48(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_47(M, C, __VA_ARGS__)
#define HA_EACH_OF_49(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_48(M, C, __VA_ARGS__)
#define HA_EACH_OF_50(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_49(M, C, __VA_ARGS__)
#define HA_EACH_OF_51(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_50(M, C, __VA_ARGS__)
#define HA_EACH_OF_52(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_51(M, C, __VA_ARGS__)
#define HA_EACH_OF_53(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_52(M, C, __VA_ARGS__)
#define HA_EACH_OF_54(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_53(M, C, __VA_ARGS__)
#define HA_EACH_OF_55(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_54(M, C, __VA_ARGS__)
#define HA_EACH_OF_56(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_55(M, C, __VA_ARGS__)
#define HA_EACH_OF_57(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_56(M, C, __VA_ARGS__)
#define HA_EACH_OF_58(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_57(M, C, __VA_ARGS__)
#define HA_EACH_OF_59(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_58(M, C, __VA_ARGS__)
#define HA_EACH_OF_60(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_59(M, C, __VA_ARGS__)
#define HA_EACH_OF_61(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_60(M, C, __VA_ARGS__)
#define HA_EACH_OF_62(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_61(M, C, __VA_ARGS__)
#define HA_EACH_OF_63(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_62(M, C, __VA_ARGS__)
#define HA_EACH_OF_64(M, C, t, ...) HA_FIELD_(M, C, t) HA_EACH_OF_63(M, C, __VA_ARGS__)
/* clang-format on */

#endif
