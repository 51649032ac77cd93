/* What is wrong with the parameters of a kernel, said at compile time. A part of kernel.h. */
#ifndef HARRAY_DETAIL_KERNEL_CHECKS_H
#define HARRAY_DETAIL_KERNEL_CHECKS_H

#include "../kernel.h"

/* What is wrong with a parameter is said before the compiler finds out in its own words. */
#define HA_MODE_CHECK_(name, mode, ...)                                                            \
    HA_MODE_CHECK_1_(HA_DEFINED_(HA_IS_MODE_##mode##_), name, mode, __VA_ARGS__)                   \
    HA_VARIANT_(HA_MODE_CHECKED_, HA_DEFINED_(HA_IS_MODE_##mode##_))(name, mode, __VA_ARGS__)
#define HA_MODE_CHECK_1_(known, name, mode, ...)                                                   \
    HA_STATIC_ASSERT_(known, #name ": (" #mode ", " #__VA_ARGS__                                   \
                                   "): the modes of parameters are value, in, inout, out, "        \
                                   "constant, use, bundle, uses and option");
#define HA_MEMBER_CHECK_(name, mode, ...)                                                          \
    HA_MEMBER_CHECK_1_(HA_DEFINED_(HA_IS_MEMBER_##mode##_), name, mode, __VA_ARGS__)               \
    HA_VARIANT_(HA_MODE_CHECKED_, HA_DEFINED_(HA_IS_MEMBER_##mode##_))(name, mode, __VA_ARGS__)
#define HA_MEMBER_CHECK_1_(known, name, mode, ...)                                                 \
    HA_STATIC_ASSERT_(known, #name ": (" #mode ", " #__VA_ARGS__                                   \
                                   "): the modes of a bundle's members are value, in, inout, out " \
                                   "and constant");

#define HA_PARAMETERS_CHECK_(name, parameters, most, most_text)                                    \
    HA_STATIC_ASSERT_(HA_COUNT_OF_ parameters <= most,                                             \
                      #name ": more than " most_text " parameters");                               \
    HA_FOR_FIELDS_(HA_MODE_CHECK_, name, HA_BARE_ parameters)

/* 1: the macro is there. */
#define HA_DEFINED_(macro) HA_CALL_(HA_SECOND_OF_, macro, 0, ~)
#define HA_IS_MODE_uses_ ~, 1
#define HA_IS_MODE_option_ ~, 1
#define HA_IS_MODE_use_ ~, 1
#define HA_IS_MODE_bundle_ ~, 1
#define HA_IS_MODE_value_ ~, 1
#define HA_IS_MODE_constant_ ~, 1
#define HA_IS_MODE_in_ ~, 1
#define HA_IS_MODE_inout_ ~, 1
#define HA_IS_MODE_out_ ~, 1
#define HA_IS_MEMBER_value_ ~, 1
#define HA_IS_MEMBER_constant_ ~, 1
#define HA_IS_MEMBER_in_ ~, 1
#define HA_IS_MEMBER_inout_ ~, 1
#define HA_IS_MEMBER_out_ ~, 1
#define HA_IS_OPTION_block_ ~, 1
#define HA_IS_OPTION_contract_ ~, 1
#define HA_IS_OPTION_grain_ ~, 1

#define HA_MODE_CHECKED_0_(name, mode, ...)
#define HA_MODE_CHECKED_1_(name, mode, ...) HA_MODE_CHECKED_##mode##_(name, __VA_ARGS__)
#define HA_MODE_CHECKED_uses_(name, tag)
#define HA_MODE_CHECKED_option_(name, option, n)                                                   \
    HA_OPTION_CHECKED_(HA_DEFINED_(HA_IS_OPTION_##option##_), name, option, n)
#define HA_OPTION_CHECKED_(known, name, option, n)                                                 \
    HA_STATIC_ASSERT_(known, #name ": (option, " #option ", " #n                                   \
                                   "): the options are block, contract and grain");
#define HA_MODE_CHECKED_use_(name, R, n, what)
#define HA_MODE_CHECKED_bundle_(name, B, n)
#define HA_MODE_CHECKED_value_(name, T, n)                                                         \
    HA_STATIC_ASSERT_(!HA_IS_ARRAY_(T), #name ": " #n " is an array of C, and no value: make it "  \
                                              "a member of a struct, or a constant");              \
    HA_STATIC_ASSERT_(!HA_IS_POINTER_(T), #name ": " #n " is a pointer, which means nothing on a " \
                                                "device: give the kernel the array");
#define HA_MODE_CHECKED_constant_(name, T, n)                                                      \
    HA_STATIC_ASSERT_(sizeof(ha_in_##T) == sizeof(void *),                                         \
                      #name ": the constant " #n " is a view: it has to be a harray_T");
#define HA_MODE_CHECKED_in_(name, T, n)
#define HA_MODE_CHECKED_inout_(name, T, n)
#define HA_MODE_CHECKED_out_(name, T, n)

#endif
