/* For tests of calls that are refused. To be included behind harray.h with HARRAY_IMPLEMENTATION. */
#ifndef HARRAY_TESTS_SUPPORT_REFUSALS_H
#define HARRAY_TESTS_SUPPORT_REFUSALS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define TEST(name) static void name(void **state HA_UNUSED)

/* The call is refused in this way, and says so. */
#define REFUSED(expected, call)                                                                    \
    do {                                                                                           \
        assert_int_equal(call, expected);                                                          \
        ha_error e = ha_take_error();                                                              \
        assert_int_equal(e.status, expected);                                                      \
        assert_true(strlen(e.text) > 5);                                                           \
    } while (0)

#define NONE(expected, call)                                                                       \
    do {                                                                                           \
        assert_null(call);                                                                         \
        assert_int_equal(ha_take_error().status, expected);                                        \
    } while (0)

/* The call is fine, and says nothing. */
#define FINE(call)                                                                                 \
    do {                                                                                           \
        assert_int_equal(call, HA_OK);                                                             \
        assert_int_equal(ha_take_error().status, HA_OK);                                           \
    } while (0)

static inline harray_double three(void) {
    const double values[] = {1, 2, 3};
    return harray_double_of(3, values);
}

#endif
