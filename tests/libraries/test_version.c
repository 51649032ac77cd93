/* The version: of the headers, of the library that is linked, and of the project. */
#include "../../harray.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void headers_are_of_the_project(void **state) {
    (void)state;
    assert_string_equal(HARRAY_VERSION, PROJECT_VERSION);
}

static void numbers_are_those_of_the_text(void **state) {
    char text[32];
    (void)state;
    snprintf(text, sizeof text, "%d.%d.%d", HARRAY_VERSION_MAJOR, HARRAY_VERSION_MINOR,
             HARRAY_VERSION_PATCH);
    assert_string_equal(text, HARRAY_VERSION);
}

static void library_is_of_the_headers(void **state) {
    (void)state;
    assert_string_equal(ha_version(), HARRAY_VERSION);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_of_the_project),
        cmocka_unit_test(numbers_are_those_of_the_text),
        cmocka_unit_test(library_is_of_the_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
