/* Which kind of device is tested: one that the environment names,
 *
 *     HARRAY_TEST_KIND=cuda build/tests/test_backend
 *
 * or the one whose header the program was compiled with, which is what tools/test-device does:
 *
 *     cc -DHARRAY_TEST_DEVICE='"my_device.h"' -DHARRAY_TEST_BACKEND=my_backend …
 *
 * or all that the tests know. */
#ifndef HARRAY_TESTS_SUPPORT_TEST_KIND_H
#define HARRAY_TESTS_SUPPORT_TEST_KIND_H

#include "../../backends/backend.h"

#ifdef HARRAY_TEST_DEVICE
#include HARRAY_TEST_DEVICE
#endif

#include <stdlib.h>

/* NULL: all. */
static inline const char *test_kind(void) {
    const char *named = getenv("HARRAY_TEST_KIND");
    if (named != NULL && *named != '\0') return named;
#ifdef HARRAY_TEST_DEVICE
    return HARRAY_TEST_BACKEND.kind;
#else
    return NULL;
#endif
}

#endif
