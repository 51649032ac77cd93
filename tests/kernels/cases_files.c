/* Kernels in a file of their own. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_kernels.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"

#define ONLY_HERE 3
HA_KERNEL_FILE(files, "tests/kernels/file_kernels.h");
#include "file_kernels.h"

static const char HA_KERNEL_TEXT(other)[] =
    "HA_KERNEL_IN(other, elsewhere, ((inout, int, x)), i) { x[i]--; }";
HA_KERNEL_IN(other, elsewhere, ((inout, int, x)), i) { x[i]--; }
HA_KERNEL_IN(other, not_in_it, ((inout, int, x)), i) { x[i]--; }

KNOWN_KERNEL(smooth)
KNOWN_KERNEL(doubled)
KNOWN_KERNEL(elsewhere)

static int begin_files(void **state) {
    know_kernel(&smooth_known);
    know_kernel(&doubled_known);
    know_kernel(&elsewhere_known);
    return begin_case(state);
}
#define FILES(name) cmocka_unit_test_setup_teardown(name, begin_files, end_case)

TEST(kernels_of_a_file) {
    array_float_2 u = array_float_2_zeros(HA_DIM(5, 6), C),
                  w = array_float_2_zeros(HA_DIM(5, 6), C);
    harray_int x = harray_int_filled(300, 4);
    keep_array(u.array), keep_array(w.array), keep_array(x.array);
    HA_WRITING(v, x, H) v.data[7] = '{';
    HA_WRITING(v, u, H) HA_AT(v.span, 2, 3) = 4;
    SUCCEEDS(smooth_in(C, ha_box2(1, 4, 1, 5), u, w));
    SUCCEEDS(doubled(C, HA_ALL_LANES, 1, x));
    SUCCEEDS(elsewhere(C, HA_ALL_LANES, x));
    HA_READING(v, w, H) {
        for (int j = 0; j < 5; j++)
            for (int i = 0; i < 6; i++) {
                const int inside = j > 0 && j < 4 && i > 0 && i < 5;
                const int near = abs(j - 2) + abs(i - 3) == 1;
                assert_true(HA_AT(v.span, j, i) == (inside && near ? 1.0f : 0.0f));
            }
    }
    else fail();
    HA_READING(v, x, H) {
        assert_int_equal(v.data[0], 8);
        assert_int_equal(v.data[7], '{' - 1);
    }
    else fail();
    drop_array(u.array), drop_array(w.array), drop_array(x.array);
}

static int is_compiled_for_it(void) {
    char text[300];
    (void)ha_kernel_place(&smooth_kernel, C, text, sizeof text);
    return strstr(text, ": compiled for it") != NULL;
}

/* The line in the file. */
TEST(lines_of_the_file) {
    harray_int x = harray_int_filled(3, 1);
    keep_array(x.array);
    const ha_status s = mistaken(C, HA_ALL_LANES, x);
    const ha_error e = ha_take_error();
    assert_int_equal(s, is_compiled_for_it() ? HA_ERR_COMPILE : HA_OK);
    if (s && !strstr(e.text, "file_kernels.h:37:") && !strstr(e.text, "file_kernels.h(37)"))
        fail_msg("%s", e.text);
    drop_array(x.array);
}

/* What is no kernel of that text is said to be none. */
TEST(not_in_the_file) {
    harray_int x = harray_int_filled(3, 1);
    char log[4000];
    keep_array(x.array);
    const ha_status s = not_in_it(C, HA_ALL_LANES, x);
    HA_IGNORE(ha_take_error().status);
    (void)ha_kernel_log(&not_in_it_kernel, C, log, sizeof log);
    assert_int_equal(s, is_compiled_for_it() ? HA_ERR_COMPILE : HA_OK);
    if (s) assert_non_null(strstr(log, "the file has no kernel not_in_it"));
    drop_array(x.array);
}

/* What a device is given: the file, without its other kernels and its includes, line by line. */
TEST(the_text_of_a_device) {
    const ha_kernel_variant v = {.kernel = &doubled_kernel, .apart = 1};
    int unfit;
    char *text = ha_kernel_text(&v, HA_LANGUAGE_OPENCL_C, 1, &unfit);
    assert_non_null(text);
    assert_non_null(strstr(text, "#define QUARTER"));
    assert_non_null(strstr(text, "HA_FN float total"));
    assert_non_null(strstr(text, "void ha_body_doubled("));
    assert_null(strstr(text, "#include"));
    assert_null(strstr(text, "across"));
    assert_null(strstr(text, "ONLY_HERE"));
    assert_null(strstr(text, "HA_KERNEL_IN(files, doubled"));
    const char *mistaken_at = strstr(text, "#endif\n\n#line 1 \"harray\"");
    assert_non_null(mistaken_at);
    int lines = 1;
    for (const char *c = strstr(text, "#line 1 \""); c < mistaken_at; c++) lines += *c == '\n';
    assert_int_equal(lines, 41); /* the #line, and those of the file before its last one */
    HARRAY_FREE(text);
}

/* A bracket in a literal of another kernel is none. */
TEST(the_text_behind_another_kernel) {
    const ha_kernel_variant v = {.kernel = &mistaken_kernel, .apart = 1};
    int unfit;
    char *text = ha_kernel_text(&v, HA_LANGUAGE_CUDA, 0, &unfit);
    assert_non_null(text);
    assert_non_null(strstr(text, "void ha_body_mistaken("));
    assert_non_null(strstr(text, "+= ONLY_HERE"));
    assert_null(strstr(text, "TWICE(x[i])"));
    HARRAY_FREE(text);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {FILES(kernels_of_a_file), FILES(lines_of_the_file),
                                       FILES(not_in_the_file), FILES(the_text_of_a_device),
                                       FILES(the_text_behind_another_kernel)};
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
