/* How a kernel's loops are compiled: for each layout of records, and without contraction. A part of kernel.h. */
#ifndef HARRAY_DETAIL_KERNEL_LOOPS_H
#define HARRAY_DETAIL_KERNEL_LOOPS_H

#include "../kernel.h"

/* A statement, compiled for each layout of the records that the first (use, …) has; without one as it is. */
#define HA_FITTED_(parameters, ...)                                                                \
    HA_FITTED_OF_(HA_FIRST_USE_(parameters), parameters, __VA_ARGS__)
#define HA_FITTED_OF_(...) HA_FITTED_TO_(__VA_ARGS__)
#define HA_FITTED_TO_(fitted, ...) HA_FITTED_IN_(HA_BARE_ fitted, __VA_ARGS__)
#define HA_FITTED_IN_(...) HA_FITTED_BY_(__VA_ARGS__)
#define HA_FITTED_BY_(with, n, parameters, ...) HA_FITTED_BY_##with##_(n, parameters, __VA_ARGS__)
#define HA_FITTED_BY_HA_WITH_(n, parameters, ...) HA_WITH(n, HA_ALIKE_(n, parameters, __VA_ARGS__))
#define HA_FITTED_BY_HA_TO_NOTHING__(n, parameters, ...) __VA_ARGS__
#define HA_FIRST_USE_(parameters)                                                                  \
    HA_CALL_(HA_SECOND_OF_, ~HA_FOR_FIELDS_(HA_MODE_FITTED_, ~, HA_BARE_ parameters),              \
             (HA_TO_NOTHING_, ~), ~)

/* Inside of HA_WITH(p, …): once more for when other records have the layout of p, so that it is known of all of them. Of
 * others, and where there are none, the statement as it is. */
#define HA_ALIKE_(p, parameters, ...)                                                              \
    if ((p).as != HA_STRIDED_ &&                                                                   \
        (0 HA_FOR_FIELDS_(HA_MODE_ALIKE_, (COUNT, p), HA_BARE_ parameters)) >                      \
            1 HA_FOR_FIELDS_(HA_MODE_ALIKE_, (IS, p), HA_BARE_ parameters)) {                      \
        HA_FOR_FIELDS_(HA_MODE_ALIKE_, (MAKE, p), HA_BARE_ parameters)                             \
        __VA_ARGS__;                                                                               \
    } else {                                                                                       \
        __VA_ARGS__;                                                                               \
    }
#define HA_ALIKE_COUNT_(p, q) +1
/* p is one of them: with == compilers would warn that it is compared with itself. */
#define HA_ALIKE_IS_(p, q)                                                                         \
    &&!(((q).kind ^ (p).kind) | ((q).order ^ (p).order)) &&                                        \
        !(((q).lanes ^ (p).lanes) | ((q).multiple ^ (p).multiple))
#define HA_ALIKE_MAKE_(p, q)                                                                       \
    (q).as = (p).as;                                                                               \
    (q).lanes = (p).lanes;                                                                         \
    (q).order = (p).order;                                                                         \
    (q).multiple = (p).multiple;
#define HA_MODE_ALIKE_(C, mode, ...) HA_MODE_ALIKE_##mode##_(C, __VA_ARGS__)
#define HA_MODE_ALIKE_uses_(C, tag)
#define HA_MODE_ALIKE_option_(C, name, value)
#define HA_MODE_ALIKE_use_(C, R, n, what) HA_CALL_(HA_ALIKE_OF_, HA_BARE_ C, n)
#define HA_ALIKE_OF_(which, p, n) HA_ALIKE_##which##_(p, n)
#define HA_MODE_ALIKE_value_(C, T, n)
#define HA_MODE_ALIKE_bundle_(C, B, n)
#define HA_MODE_ALIKE_constant_(C, T, n)
#define HA_MODE_ALIKE_in_(C, T, n)
#define HA_MODE_ALIKE_inout_(C, T, n)
#define HA_MODE_ALIKE_out_(C, T, n)

/* Whether there is a (use, …): 0 or 1. */
#define HA_HAS_RECORDS_(parameters) HA_HAS_RECORDS_1_(HA_FIRST_USE_(parameters))
#define HA_HAS_RECORDS_1_(...) HA_HAS_RECORDS_2_(__VA_ARGS__)
#define HA_HAS_RECORDS_2_(fitted) HA_HAS_RECORDS_3_(HA_BARE_ fitted)
#define HA_HAS_RECORDS_3_(...) HA_HAS_RECORDS_4_(__VA_ARGS__)
#define HA_HAS_RECORDS_4_(with, n) HA_HAS_RECORDS_BY_##with##_
#define HA_HAS_RECORDS_BY_HA_WITH_ 1
#define HA_HAS_RECORDS_BY_HA_TO_NOTHING__ 0
#define HA_MODE_FITTED_(C, mode, ...) HA_MODE_FITTED_##mode##_(__VA_ARGS__)
#define HA_MODE_FITTED_uses_(tag)
#define HA_MODE_FITTED_option_(name, value)
#define HA_MODE_FITTED_use_(R, n, what) , (HA_WITH, n)
#define HA_MODE_FITTED_value_(T, n)
#define HA_MODE_FITTED_bundle_(B, n)
#define HA_MODE_FITTED_constant_(T, n)
#define HA_MODE_FITTED_in_(T, n)
#define HA_MODE_FITTED_inout_(T, n)
#define HA_MODE_FITTED_out_(T, n)

/* What (option, contract, …) says; 0 without it. */
#define HA_CONTRACTS_(parameters)                                                                  \
    HA_CALL_(HA_SECOND_OF_, ~HA_FOR_FIELDS_(HA_MODE_CONTRACTS_, ~, HA_BARE_ parameters), 0, ~)
#define HA_MODE_CONTRACTS_(C, mode, ...) HA_MODE_CONTRACTS_##mode##_(__VA_ARGS__)
#define HA_MODE_CONTRACTS_uses_(tag)
#define HA_MODE_CONTRACTS_option_(name, value) HA_CONTRACTS_##name##_(value)
#define HA_MODE_CONTRACTS_use_(R, n, what)
#define HA_MODE_CONTRACTS_value_(T, n)
#define HA_MODE_CONTRACTS_bundle_(B, n)
#define HA_MODE_CONTRACTS_constant_(T, n)
#define HA_MODE_CONTRACTS_in_(T, n)
#define HA_MODE_CONTRACTS_inout_(T, n)
#define HA_MODE_CONTRACTS_out_(T, n)
#define HA_CONTRACTS_block_(value)
#define HA_CONTRACTS_grain_(value)
#define HA_CONTRACTS_contract_(value) , value

/* What a body becomes here: in CUDA's files a function of the host alone, as devices are given its text. */
#ifdef __CUDACC__
#define HA_BODY_FN_ static inline __attribute__((__always_inline__, __unused__))
#else
#define HA_BODY_FN_ HA_FN
#endif

/* Whether a * b + c is contracted to one operation. gcc decides that for a loop with all that was inlined into it:
 * so the loops have an attribute, which says as well that they are made vectors of at -O2, too: lanes are independent,
 * and a loop of any length is worth it. clang decides where the expression stands: so all that is made of a kernel,
 * its body above all, is between a pragma and HA_CONTRACTION_END_. */
#ifdef __clang__
#define HA_CONTRACTED_0_
#define HA_CONTRACTED_1_
#else
#define HA_CONTRACTED_0_ HA_LOOP_OPTIONS_("fp-contract=off")
#define HA_CONTRACTED_1_ HA_LOOP_OPTIONS_("fp-contract=fast")
#define HA_LOOP_OPTIONS_(contraction)                                                              \
    __attribute__((__optimize__(contraction, "tree-vectorize", "vect-cost-model=dynamic")))
#endif
#define HA_CONTRACTION_(parameters) HA_CALL_(HA_CONTRACTION_OF_, HA_CONTRACTS_(parameters))
#define HA_CONTRACTION_OF_(contracts) HA_CONTRACTION_##contracts##_

/* The body of a kernel in a file has no end that a macro could see: clang is told for what comes behind as well, until
 * it is told something else. DEFAULT is what its command line says. */
#ifdef __clang__
#define HA_CONTRACTION_FROM_HERE_0_ _Pragma("STDC FP_CONTRACT OFF")
#define HA_CONTRACTION_FROM_HERE_1_ _Pragma("STDC FP_CONTRACT DEFAULT")
#else
#define HA_CONTRACTION_FROM_HERE_0_
#define HA_CONTRACTION_FROM_HERE_1_
#endif
#define HA_CONTRACTION_FROM_HERE_(parameters)                                                      \
    HA_CALL_(HA_CONTRACTION_FROM_HERE_OF_, HA_CONTRACTS_(parameters))
#define HA_CONTRACTION_FROM_HERE_OF_(contracts) HA_CONTRACTION_FROM_HERE_##contracts##_

#endif
