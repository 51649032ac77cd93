/* Kernels in a file of their own. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_kernels.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"

#define ONLY_HERE 3
HA_KERNEL_FILE(files, "tests/kernels/file_kernels.h");
#include "file_kernels.h"

typedef struct person {
    int since, age;
} person;
#define person_FIELDS (int, since), (int, age)
HA_RECORD(person)
HA_VIEW(crowd, person, 1, HA_ANY)
HA_RECORDS(people, crowd);
HA_KERNEL_FILE(forms, "tests/kernels/file_forms.h");
#include "file_forms.h"

static const char HA_KERNEL_TEXT(other)[] =
    "HA_KERNEL_IN(other, elsewhere, ((inout, int, x)), i) { x[i]--; }";
HA_KERNEL_IN(other, elsewhere, ((inout, int, x)), i) { x[i]--; }
HA_KERNEL_IN(other, not_in_it, ((inout, int, x)), i) { x[i]--; }
HA_TEAM_KERNEL_IN(other, no_team_of_it, 4, g, ((inout, int, x))) {
    HA_LANES_ALONE(l) x[g * HA_TEAM + l]--;
}

KNOWN_KERNEL(smooth)
KNOWN_KERNEL(doubled)
KNOWN_KERNEL(elsewhere)
KNOWN_KERNEL(grow_old)
KNOWN_KERNEL(backwards)
KNOWN_KERNEL(transposed)
KNOWN_KERNEL(squares)
KNOWN_KERNEL(farthest)

static int begin_files(void **state) {
    know_kernel(&smooth_known);
    know_kernel(&doubled_known);
    know_kernel(&elsewhere_known);
    know_kernel(&backwards_known);
    know_kernel(&transposed_known);
    know_kernel(&squares_known);
    know_kernel(&farthest_known);
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

TEST(teams_of_a_file) {
    harray_int x = harray_int_new(48), y = harray_int_new(48);
    array_float_2 u = array_float_2_zeros(HA_DIM(4, 16), C),
                  w = array_float_2_zeros(HA_DIM(16, 4), C);
    keep_array(x.array), keep_array(y.array), keep_array(u.array), keep_array(w.array);
    HA_OVERWRITING_ALL(v, x, H) for (int i = 0; i < 48; i++) v.data[i] = 10 * i;
    HA_WRITING(v, u, H)
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 16; i++) HA_AT(v.span, j, i) = (float)(100 * j + i);
    SUCCEEDS(backwards(C, HA_TEAMS(LANES_OF_FORMS, 48), x, y));
    SUCCEEDS(transposed(C, HA_DIM(1, 2), u, w));
    HA_READING(v, y, H)
    for (int i = 0; i < 48; i++) assert_int_equal(v.data[i], 10 * (i / 16 * 16 + 15 - i % 16) + 1);
    else fail();
    HA_READING(v, w, H) {
        for (int j = 0; j < 16; j++)
            for (int i = 0; i < 4; i++) assert_true(HA_AT(v.span, j, i) == (float)(100 * i + j));
    }
    else fail();
    drop_array(x.array), drop_array(y.array), drop_array(u.array), drop_array(w.array);
}

TEST(reductions_of_a_file) {
    harray_int x = harray_int_filled(3000, 2);
    int64_t sum = 0;
    farthest_result far = {0, 0};
    keep_array(x.array);
    HA_WRITING(v, x, H) v.data[1234] = -100;
    SUCCEEDS(squares(C, HA_ALL_LANES, x, &sum));
    SUCCEEDS(farthest(C, HA_ALL_LANES, 50, x, &far));
    assert_int_equal(sum, 2999 * 4 + 10000);
    assert_int_equal(far.value, 150);
    assert_int_equal(far.at, 1234);
    drop_array(x.array);
}

TEST(records_of_a_file) {
    people r = people_new(200);
    SUCCEEDS(ha_records_layout(r.records, C, "soa"));
    know_records(&grow_old_known, C, r.records);
    HA_USING(v, r, H, "overwrite") HA_EACH(crowd, v, at) {
        *crowd_since(v, at) = 1900 + (int)ha_index(at);
        *crowd_age(v, at) = 0;
    }
    SUCCEEDS(grow_old(C, r, 2100));
    HA_USING(v, r, H, "read age")
    HA_EACH(crowd, v, at) assert_int_equal(*crowd_age(v, at), 201 - (int)ha_index(at));
    else fail();
    SUCCEEDS(people_free(&r));
}

/* On every context; and nothing is changed. */
TEST(a_rule_that_is_broken_in_a_file) {
    harray_int x = harray_int_filled(8, 3);
    keep_array(x.array);
    assert_int_equal(barred(C, 2, x), HA_ERR_COMPILE);
    const ha_error e = ha_take_error();
    assert_non_null(strstr(e.text, "file_forms.h:"));
    assert_non_null(strstr(e.text, "a barrier within HA_LANES"));
    HA_READING(v, x, H) assert_int_equal(v.data[0], 3);
    else fail();
    drop_array(x.array);
}

static void names_line(ha_status s, int line) {
    const ha_error e = ha_take_error();
    char opencl[40], cuda[40];
    snprintf(opencl, sizeof opencl, "file_forms.h:%d:", line);
    snprintf(cuda, sizeof cuda, "file_forms.h(%d)", line);
    assert_int_equal(s, is_compiled_for_it() ? HA_ERR_COMPILE : HA_OK);
    if (s && !strstr(e.text, opencl) && !strstr(e.text, cuda)) fail_msg("%s", e.text);
}

TEST(lines_of_all_forms) {
    harray_int x = harray_int_filled(8, 1);
    people r = people_new(3);
    int sum;
    keep_array(x.array);
    SUCCEEDS(ha_records_layout(r.records, C, "soa"));
    HA_USING(v, r, H, "overwrite") HA_EACH(crowd, v, at) * crowd_age(v, at) = 1;
    names_line(mistaken_team(C, 2, x), 61);
    names_line(mistaken_sum(C, HA_ALL_LANES, x, &sum), 66);
    names_line(mistaken_age(C, r), 70);
    SUCCEEDS(people_free(&r));
    drop_array(x.array);
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
    assert_int_equal(no_team_of_it(C, 0, x), is_compiled_for_it() ? HA_ERR_COMPILE : HA_OK);
    HA_IGNORE(ha_take_error().status);
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

/* Of a file with kernels that compute with double, those that do. */
TEST(doubles_of_a_file) {
    const ha_kernel_variant whole = {.kernel = &squares_kernel}, half = {.kernel = &halved_kernel};
    ha_double_need need;
    assert_false(ha_kernel_needs_double(&whole, &need));
    assert_true(ha_kernel_needs_double(&half, &need));
    assert_true(ha_text_needs_double(half.kernel->text, "halved", &need));
    assert_string_equal(need.text, "0.5");
}

/* Of which their own bodies are read alone. */
TEST(local_memory_of_a_file) {
    const ha_team_reader back = ha_team_read(&backwards_kernel),
                         none = ha_team_read(&barred_kernel);
    assert_true(back.local_is_known);
    assert_int_equal(back.local_bytes, LANES_OF_FORMS * sizeof(int));
    assert_null(back.wrong);
    assert_int_equal(none.local_bytes, 0);
    assert_string_equal(none.wrong, "a barrier within HA_LANES");
    assert_int_equal(ha_team_read(&no_team_of_it_kernel).local_bytes, 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {FILES(kernels_of_a_file),
                                       FILES(lines_of_the_file),
                                       FILES(not_in_the_file),
                                       FILES(the_text_of_a_device),
                                       FILES(the_text_behind_another_kernel),
                                       FILES(teams_of_a_file),
                                       FILES(reductions_of_a_file),
                                       FILES(records_of_a_file),
                                       FILES(a_rule_that_is_broken_in_a_file),
                                       FILES(lines_of_all_forms),
                                       FILES(doubles_of_a_file),
                                       FILES(local_memory_of_a_file)};
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
