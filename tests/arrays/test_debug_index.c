/* HA_AT with HARRAY_DEBUG: an index that is none says where, and aborts; also at the ends of 64 bits.
 * Each is tried in a child. */
#ifndef HARRAY_DEBUG
#define HARRAY_DEBUG
#endif
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/refusals.h"

#include <signal.h>
#include <sys/resource.h>

enum { TEXT = 1000 };

static span_double_3 box; /* 2 x 3 x 4, lowest indices -1, 0, 5 */
static double elements[24];

static int begin(void **state) {
    const span_double_3 s = {elements, {2, 3, 4}, {12, 4, 1}, {-1, 0, 5}};
    (void)state;
    box = s;
    box.data = elements + 12 - 5;
    for (int i = 0; i < 24; i++) elements[i] = i;
    return 0;
}

static volatile double seen;
static void look(int64_t i, int64_t j, int64_t k) { seen = HA_AT(box, i, j, k); }
static const int line_of_look = __LINE__ - 1;

/* What the child says, which then has to have died by abort(); "" for what goes on. */
static void try(int64_t i, int64_t j, int64_t k, char *text) {
    const struct rlimit no_core = {0, 0};
    int ends[2], status = 0;
    size_t length = 0;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL); /* cmocka has put a handler in place */
        setrlimit(RLIMIT_CORE, &no_core);
        dup2(ends[1], STDERR_FILENO);
        look(i, j, k);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], text + length, TEXT - 1 - length)) > 0;) length += (size_t)n;
    text[length] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!length)
        assert_int_equal(status, 0);
    else
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void aborts(int64_t i, int64_t j, int64_t k, const char *what) {
    char text[TEXT], expected[TEXT];
    try(i, j, k, text);
    snprintf(expected, sizeof expected, "harray: %s:%d: %s\n", __FILE__, line_of_look, what);
    assert_string_equal(text, expected);
}

TEST(indices_that_are_none) {
    aborts(-2, 0, 5, "index -2 of dimension 0: its indices are -1 to 0");
    aborts(1, 0, 5, "index 1 of dimension 0: its indices are -1 to 0");
    aborts(0, -1, 5, "index -1 of dimension 1: its indices are 0 to 2");
    aborts(0, 3, 5, "index 3 of dimension 1: its indices are 0 to 2");
    aborts(0, 0, 4, "index 4 of dimension 2: its indices are 5 to 8");
    aborts(0, 0, 9, "index 9 of dimension 2: its indices are 5 to 8");
}

/* Further away than 64 bits can say. */
TEST(indices_far_away) {
    aborts(INT64_MAX, 0, 5, "index 9223372036854775807 of dimension 0: its indices are -1 to 0");
    aborts(0, 0, INT64_MIN, "index -9223372036854775808 of dimension 2: its indices are 5 to 8");
}

TEST(all_others) {
    for (int64_t i = -1; i < 1; i++)
        for (int64_t j = 0; j < 3; j++)
            for (int64_t k = 5; k < 9; k++) {
                look(i, j, k);
                assert_true(seen == (double)(12 * (i + 1) + 4 * j + k - 5));
            }
    char text[TEXT];
    try(0, 2, 8, text);
    assert_string_equal(text, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_that_are_none),
        cmocka_unit_test(indices_far_away),
        cmocka_unit_test(all_others),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
