/* A program that is linked with two libraries with harray inside, and has it inside itself, where
 * the libraries could see it. */
#include "side_by_side.h"

static void two_libraries(void **state) {
    (void)state;
    work_side_by_side(one_library(), two_library());
    go_on_alone(two_library());
}

static void a_library_and_the_program(void **state) {
    (void)state;
    work_side_by_side(own_library(), one_library());
    go_on_alone(one_library());
    work_side_by_side(two_library(), own_library());
    go_on_alone(own_library());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_libraries),
        cmocka_unit_test(a_library_and_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
