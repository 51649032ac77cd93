/* ha_trace_value: what bodies print where they run on the host, with HARRAY_DEBUG. Without it: cases_modes.c. */
#define HARRAY_DEBUG
#define HARRAY_IMPLEMENTATION
#include "../../harray_kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#define TEST(name) static void name(HA_UNUSED void **state)

HA_ARRAY(float, 2);

enum { NUMBERS_LINE = __LINE__ + 1 };
HA_KERNEL(numbers, ((in, double, d), (in, float, f), (value, bool, yes), (value, uint64_t, large)),
          i, {
              if (i == 1) {
                  ha_trace_value(d[i] / 10);
                  ha_trace_value(f[i] / 10);
                  ha_trace_value((int8_t)-3);
                  ha_trace_value(yes);
                  ha_trace_value(large);
                  ha_trace_value((int64_t)(large / 2) * -1 - 1);
                  ha_trace_value(4000000000u);
              }
          });
HA_DEVICE_CODE(
    helper, HA_FN float half_of(float x) {
        ha_trace_value(x);
        return x / 2;
    });
HA_KERNEL(of_views, ((uses, helper), (inout, array_float_2, u)), (j, i), {
    if (j == 1 && i == 2) HA_AT(u, j, i) = half_of(HA_AT(u, j, i)), ha_trace_value(HA_AT(u, j, i));
});
HA_TEAM_KERNEL(of_teams, 4, g, ((in, float, x)), {
    HA_LOCAL(float, y, HA_TEAM);
    HA_LANES(l) y[l] = 2 * x[g * HA_TEAM + l];
    HA_LANES_ALONE(l) if (l == 3) ha_trace_value(y[l]);
});
HA_REDUCE(sum, ((in, float, x)), i, float, HA_SUM, (ha_trace_value(i), x[i]));
HA_KERNEL(counted, ((inout, int, x)), i, { ha_trace_value(++x[i]); });

/* ---- what was printed ---------------------------------------------------------------------------- */

static FILE *lines;
static int stderr_before;

static int begin(HA_UNUSED void **state) {
    lines = tmpfile();
    stderr_before = dup(2);
    return !lines || dup2(fileno(lines), 2) != 2;
}

static int end(HA_UNUSED void **state) {
    fclose(lines);
    return dup2(stderr_before, 2) != 2 || close(stderr_before);
}

/* The next line says so, behind its place. */
static void expect_line(const char *value) {
    char line[300];
    assert_non_null(fgets(line, sizeof line, lines));
    assert_ptr_equal(strstr(line, "harray: "), line);
    const char *said = strstr(line, ".c:");
    assert_non_null(said);
    said = strchr(said + 3, ' ');
    assert_non_null(said);
    line[strlen(line) - 1] = 0;
    assert_string_equal(said + 1, value);
}

static void expect_no_more(void) {
    char line[300];
    assert_null(fgets(line, sizeof line, lines));
    assert_int_equal(ha_take_error().status, HA_OK);
}

/* ---- tests --------------------------------------------------------------------------------------- */

TEST(all_digits_of_numbers) {
    char line[300];
    harray_double d = harray_double_filled(3, 1);
    harray_float f = harray_float_filled(3, 1);
    HA_CHECK(numbers(ha_host(), 3, d, f, true, UINT64_MAX));
    rewind(lines);
    assert_non_null(fgets(line, sizeof line, lines));
    rewind(lines);
    const char *number = strstr(line, "test_trace_value.c:");
    assert_non_null(number);
    assert_in_range(atoi(number + strlen("test_trace_value.c:")), NUMBERS_LINE, NUMBERS_LINE + 11);
    expect_line("d[i] / 10 = 0.10000000000000001");
    expect_line("f[i] / 10 = 0.100000001");
    expect_line("(int8_t)-3 = -3");
    expect_line("yes = 1");
    expect_line("large = 18446744073709551615");
    expect_line("(int64_t)(large / 2) * -1 - 1 = -9223372036854775808");
    expect_line("4000000000u = 4000000000");
    expect_no_more();
    HA_CHECK(harray_double_free(&d));
    HA_CHECK(harray_float_free(&f));
}

TEST(in_helpers_and_teams) {
    array_float_2 u = array_float_2_filled(HA_DIM(3, 4), 3, NULL);
    harray_float x = harray_float_filled(8, 1.25f);
    HA_CHECK(of_views(ha_host(), HA_DIM(3, 4), u));
    HA_CHECK(of_teams(ha_host(), 2, x));
    rewind(lines);
    expect_line("x = 3");
    expect_line("HA_AT(u, j, i) = 1.5");
    expect_line("y[l] = 2.5");
    expect_line("y[l] = 2.5");
    expect_no_more();
    HA_CHECK(array_float_2_free(&u));
    HA_CHECK(harray_float_free(&x));
}

TEST(in_the_value_of_a_reduction) {
    float s;
    harray_float x = harray_float_filled(2, 1);
    HA_CHECK(sum(ha_host(), HA_ALL_LANES, x, &s));
    assert_true(s == 2);
    rewind(lines);
    expect_line("i = 0");
    expect_line("i = 1");
    expect_no_more();
    HA_CHECK(harray_float_free(&x));
}

/* Loops on a queue are the host's, too. */
TEST(once_a_lane) {
    harray_int x = harray_int_filled(3, 7);
    HA_CHECK(counted(ha_context_find("sim:0"), HA_ALL_LANES, x));
    HA_READING(v, x, ha_host()) assert_int_equal(v.data[2], 8);
    rewind(lines);
    for (int i = 0; i < 3; i++) expect_line("++x[i] = 8");
    expect_no_more();
    HA_CHECK(harray_int_free(&x));
}

#define TRACED(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TRACED(all_digits_of_numbers),
        TRACED(in_helpers_and_teams),
        TRACED(in_the_value_of_a_reduction),
        TRACED(once_a_lane),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? failed : ha_shutdown() != HA_OK;
}
