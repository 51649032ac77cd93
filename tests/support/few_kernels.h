/* Which calls a test tries where each has a kernel of its own: on OpenCL and on the fake driver, whose compilers take long,
 * one of each TRIED_EACH, which a program may say before. Include behind matrix.h. */
#ifndef HARRAY_TESTS_SUPPORT_FEW_KERNELS_H
#define HARRAY_TESTS_SUPPORT_FEW_KERNELS_H

#include "fake_kernels.h"
#include "share.h"

#ifndef TRIED_EACH
#define TRIED_EACH 8
#endif

/* Whether the i-th with the j-th is: there it is some of the first round, others for each i; fewer where only a share of
 * all is tried, and the fewest on OpenCL, which takes longest. */
static HA_UNUSED int is_tried_here(int round, int i, int j) {
    const int opencl = is_of_opencl();
    const int each = TRIED_EACH * stride_up_to(opencl ? 7 : 3);
    return !(opencl || is_fake(C)) || getenv("HARRAY_TEST_LONG") ||
           (round == 0 && (j + 3 * i) % each == 0);
}

#endif
