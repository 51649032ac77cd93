/* For programs that open devices again and again: each has memory of its own, of which it uses little, and the
 * kernel clears two megabytes at the first touch where it gives such pages. */
#ifndef HARRAY_TESTS_SUPPORT_SMALL_PAGES_H
#define HARRAY_TESTS_SUPPORT_SMALL_PAGES_H

#include <sys/prctl.h>

static inline void use_small_pages(void) {
#ifdef PR_SET_THP_DISABLE
    (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* otherwise it only takes longer */
#endif
}

#endif
