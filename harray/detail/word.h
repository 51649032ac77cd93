/* Words that say what is computed, and where results go: a constant that is a word of another function does not compile, nor the
 * address of what is no number. */
#ifndef HARRAY_DETAIL_WORD_H
#define HARRAY_DETAIL_WORD_H

#include "../dtype.h"
#include "../status.h"

/* The numbers of the word go from 256 times `family` on; what is known at run time only is looked at there, as is 0. */
#define HA_TAKES_WORD_(word, family, function, meant)                                              \
    HA_STATIC_ASSERT_((int)HA_IF_CONSTANT_(word) == 0 ||                                           \
                          (int)HA_IF_CONSTANT_(word) / 256 == (family),                            \
                      function " takes " meant)
#define HA_A_REDUCTION_                                                                            \
    "a reduction: HA_SUM (not HA_ADD), HA_PRODUCT (not HA_MULTIPLY), HA_MIN (not HA_MINIMUM), "    \
    "HA_MAX (not HA_MAXIMUM)"

/* The caller's line, where the words are of the function's families. */
#define HA_SITE_OF_WORD_(word, family, function, meant)                                            \
    __extension__({                                                                                \
        HA_TAKES_WORD_(word, family, function, meant);                                             \
        &HA_SITE[0];                                                                               \
    })
#define HA_SITE_OF_TWO_(word, function)                                                            \
    HA_SITE_OF_WORD_(                                                                              \
        word, 0, function,                                                                         \
        "an operation of two arguments: HA_ADD (not HA_SUM), HA_MULTIPLY (not HA_PRODUCT), "       \
        "HA_MINIMUM (not HA_MIN), HA_MAXIMUM (not HA_MAX)")
#define HA_SITE_OF_ONE_(word, function)                                                            \
    HA_SITE_OF_WORD_(word, 2, function, "an operation of one argument: HA_NEGATE to HA_IS_FINITE")
#define HA_SITE_OF_NORM_(kind, function)                                                           \
    HA_SITE_OF_WORD_(kind, 3, function, "HA_NORM_1, HA_NORM_2 or HA_NORM_MAX")
#define HA_SITE_OF_ORDER_(order, function)                                                         \
    HA_SITE_OF_WORD_(order, 4, function, "HA_ASCENDING or HA_DESCENDING")
#define HA_SITE_OF_REDUCTION_(word, function) HA_SITE_OF_WORD_(word, 1, function, HA_A_REDUCTION_)
#define HA_SITE_OF_SCAN_(word, kind, function)                                                     \
    __extension__({                                                                                \
        HA_TAKES_WORD_(word, 1, function, HA_A_REDUCTION_);                                        \
        HA_TAKES_WORD_(kind, 5, function, "HA_INCLUSIVE or HA_EXCLUSIVE as its kind");             \
        &HA_SITE[0];                                                                               \
    })

/* The type of the number that a pointer to a result points to. */
#define HA_RESULT_TYPE_(result)                                                                    \
    __extension__({                                                                                \
        HA_STATIC_ASSERT_(HA_DTYPE_OF(__typeof__(*(result))) != HA_DTYPE_NONE,                     \
                          "this takes the address of a number that is not const: an integer, "     \
                          "bool, float, double, ha_half, ha_bfloat16, ha_c64 or ha_c128");         \
        HA_DTYPE_OF(__typeof__(*(result)));                                                        \
    })

#endif
