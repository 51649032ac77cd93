/* Which calls a test tries where each has a kernel of its own: on OpenCL and on the fake driver, whose compilers take long,
 * one of each TRIED_EACH, which a program may say before. Include behind matrix.h. */
#ifndef HARRAY_TESTS_SUPPORT_FEW_KERNELS_H
#define HARRAY_TESTS_SUPPORT_FEW_KERNELS_H

#include "fake_kernels.h"
#include "share.h"

#ifndef TRIED_EACH
#define TRIED_EACH 8
#endif

static HA_UNUSED int has_slow_compiler(void) { return is_of_opencl() || is_fake(C); }

/* Whether the i-th with the j-th is: there it is some of the first round, others for each i; fewer where only a share of
 * all is tried, and the fewest on OpenCL, which takes longest. */
static HA_UNUSED int is_tried_here(int round, int i, int j) {
    const int each = TRIED_EACH * stride_up_to(is_of_opencl() ? 7 : 3);
    return !has_slow_compiler() || getenv("HARRAY_TEST_LONG") ||
           (round == 0 && (j + 9 * i) % each == 0);
}

/* The same of the i-th alone, in the j-th try of it. There, where only a share of all is tried, it is each seventh, once; which one
 * is the first of them, a turn below 7, is another for each test, so that together they try all. */
static HA_UNUSED int is_turn_here(int round, int i, int j, int turn) {
    if (!has_slow_compiler() || test_stride() == 1) return is_tried_here(round, i, j);
    return j == 0 && i % 7 == turn;
}

#endif
