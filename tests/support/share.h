/* The share of the work that a test does. Where HARRAY_TEST_STRIDE=n is set, as for all but the programs that
 * tools/test --ci optimises, of all pairs of layouts and points of failure each n-th is tried, and of random
 * operations the n-th part. Of what there are few, or what takes little, a test says how far apart those that are tried
 * may be at most. With HARRAY_TEST_LONG all do all. */
#ifndef TESTS_SUPPORT_SHARE_H
#define TESTS_SUPPORT_SHARE_H

#include <stdlib.h>

static inline int test_stride(void) {
    const char *text = getenv("HARRAY_TEST_LONG") != NULL ? NULL : getenv("HARRAY_TEST_STRIDE");
    const int stride = text != NULL ? atoi(text) : 1;
    return stride > 0 ? stride : 1;
}

/* n, but at most so many. */
static inline int stride_up_to(int most) {
    const int n = test_stride();
    return n < most ? n : most;
}

/* Is the pair of the i-th and the j-th tried? Each i and each j is in some pair, where there are n of the others. */
static inline int is_tried(int i, int j) { return (i + j) % test_stride() == 0; }

/* How many of so many random operations. */
static inline int share_of(int all) { return (all + test_stride() - 1) / test_stride(); }

#endif
