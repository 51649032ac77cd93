/* Arrays of n dimensions that nobody can have: calls where there may be none, and arguments that make
 * no sense. What views refuse is in test_view.c. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/refusals.h"

#define LIST(...) ((const int64_t[HA_MOST_RANK]){__VA_ARGS__})
#define NO_ARRAY(expected, call)                                                                   \
    do {                                                                                           \
        assert_null((call).array);                                                                 \
        assert_int_equal(ha_take_error().status, expected);                                        \
    } while (0)

/* ---- on a queue ------------------------------------------------------------------------------ */

typedef struct subject {
    darray x;
    ha_copy_plan *plan;
    ha_access *open;
} subject;

/* The array is as it was, and each call says why it does nothing. */
static void use_arrays(const ha_queue *queue, void *argument) {
    subject *s = *(subject **)argument;
    ha_dvalue value = ha_dvalue_of_double(1);
    ha_dl_managed_tensor_versioned *tensor = NULL;
    ha_array_interface interface;
    ha_cuda_array_interface cuda;
    ha_sycl_usm_array_interface sycl;
    ha_read_darray v;
    int equal = 7;
    (void)queue;
    NO_ARRAY(HA_ERR_STATE, darray_new(HA_DTYPE_double, 1, LIST(3), NULL));
    NO_ARRAY(HA_ERR_STATE, darray_zeros(HA_DTYPE_double, 1, LIST(3), NULL));
    NO_ARRAY(HA_ERR_STATE, darray_from(s->x.array, 1, LIST(6)));
    NO_ARRAY(HA_ERR_STATE, darray_transpose(s->x));
    NO_ARRAY(HA_ERR_STATE, darray_contiguous(s->x, HA_ROW_MAJOR, NULL));
    REFUSED(HA_ERR_STATE, darray_copy(s->x, s->x, NULL));
    REFUSED(HA_ERR_STATE, darray_fill(s->x, value, NULL));
    REFUSED(HA_ERR_STATE, darray_equal(s->x, s->x, &equal));
    REFUSED(HA_ERR_STATE, darray_get(s->x, s->x.rank, LIST(0, 0), &value));
    REFUSED(HA_ERR_STATE, darray_set(s->x, s->x.rank, LIST(0, 0), value));
    REFUSED(HA_ERR_STATE, darray_prefetch(s->x, NULL));
    REFUSED(HA_ERR_STATE, darray_save_npy(s->x, "/dev/null"));
    REFUSED(HA_ERR_STATE, darray_to_dlpack(s->x, NULL, HA_READ, NULL, &tensor));
    REFUSED(HA_ERR_STATE, darray_to_array_interface_(s->x, s->open, &interface));
    REFUSED(HA_ERR_STATE, darray_to_cuda_array_interface_(s->x, s->open, &cuda));
    REFUSED(HA_ERR_STATE, darray_to_sycl_usm_array_interface_(s->x, s->open, &sycl));
    REFUSED(HA_ERR_STATE, ha_copy_plan_run(s->plan));
    NONE(HA_ERR_STATE, ha_copy_plan_new(NULL, 0));
    REFUSED(HA_ERR_STATE, ha_open_view(&v, s->x, NULL, HA_READ));
    assert_int_equal(equal, 7);
    assert_null(tensor);
    s->plan = NULL; /* it was here */
}

TEST(nothing_works_on_a_queue) {
    const double values[] = {1, 2, 3, 4, 5, 6};
    subject s = {.x = darray_of(HA_DTYPE_double, 2, LIST(2, 3), values, NULL)}, *pointer = &s;
    darray other = darray_zeros(HA_DTYPE_double, 2, LIST(2, 3), NULL);
    const ha_copy_pair pair = {.to = other, .from = s.x};
    ha_read_darray v;
    FINE(ha_open_view(&v, s.x, NULL, HA_READ));
    s.open = HA_ACCESS(&v);
    ha_copy_plan *plan = s.plan = ha_copy_plan_new(&pair, 1);
    assert_non_null(plan);
    FINE(ha_enqueue(ha_host(), use_arrays, &pointer, sizeof pointer)); /* in this thread */
    assert_null(s.plan);
    FINE(ha_close(&v));
    ha_copy_plan_free(plan);
    FINE(darray_free(&other));
    FINE(darray_free(&s.x));
}

/* ---- what makes no sense --------------------------------------------------------------------- */

TEST(extents_of_nothing) {
    const double values[] = {1};
    ha_dvalue one = ha_dvalue_of_double(1);
    ha_array *flat = harray_double_zeros(6).array;
    NO_ARRAY(HA_ERR_ARGUMENT, darray_new(HA_DTYPE_double, 1, LIST(-1), NULL));
    NO_ARRAY(HA_ERR_ARGUMENT, darray_zeros(HA_DTYPE_double, 1, LIST(-1), NULL));
    NO_ARRAY(HA_ERR_ARGUMENT, darray_filled(HA_DTYPE_double, 1, LIST(-1), one, NULL));
    NO_ARRAY(HA_ERR_ARGUMENT, darray_of(HA_DTYPE_double, 1, LIST(-1), values, NULL));
    NO_ARRAY(HA_ERR_ARGUMENT, darray_from(flat, 1, LIST(-1)));
    NO_ARRAY(HA_ERR_ARGUMENT, darray_from(flat, 1, LIST(5)));
    NO_ARRAY(HA_ERR_ARGUMENT, darray_wrap(HA_DTYPE_double, 1, LIST(-1), NULL, one.bytes, NULL, 0));
    NO_ARRAY(HA_ERR_ARGUMENT, darray_make_of((ha_type){NULL, 0}, &(ha_shape){.rank = 1}, NULL));
    FINE(ha_array_free(flat));
}

TEST(ghosts_and_padding_without_end) {
    ha_shape s = {.rank = 2, .extent = {2, 3}};
    s.ghost_low[0] = -1;
    NO_ARRAY(HA_ERR_ARGUMENT, darray_make(HA_DTYPE_double, &s, NULL));
    s.ghost_low[0] = 0;
    s.ghost_high[1] = -1;
    NO_ARRAY(HA_ERR_ARGUMENT, darray_make(HA_DTYPE_double, &s, NULL));
    s.ghost_high[1] = 0;
    s.padding[0] = -1;
    NO_ARRAY(HA_ERR_ARGUMENT, darray_make(HA_DTYPE_double, &s, NULL));
    s.padding[0] = 0;
    s.ghost_low[1] = INT64_MAX;
    NO_ARRAY(HA_ERR_MEMORY, darray_make(HA_DTYPE_double, &s, NULL));
    s.ghost_low[1] = 0;
    s.ghost_high[1] = INT64_MAX;
    NO_ARRAY(HA_ERR_MEMORY, darray_make(HA_DTYPE_double, &s, NULL));
    s.ghost_high[1] = 0;
    s.extent[1] = INT64_MAX - 2;
    s.alignment = 64;
    NO_ARRAY(HA_ERR_MEMORY, darray_make(HA_DTYPE_double, &s, NULL));
    s.extent[0] = 1; /* of which padding alone is too much */
    s.extent[1] = 4;
    s.padding[1] = INT64_MAX;
    NO_ARRAY(HA_ERR_MEMORY, darray_make(HA_DTYPE_double, &s, NULL));
}

TEST(elements_that_are_none) {
    darray x = darray_zeros(HA_DTYPE_double, 2, LIST(2, 3), NULL), none = {.rank = 0};
    ha_dvalue value = ha_dvalue_of_double(1);
    REFUSED(HA_ERR_ARGUMENT, darray_get(x, x.rank, NULL, &value));
    REFUSED(HA_ERR_ARGUMENT, darray_get(x, x.rank, LIST(0, 0), NULL));
    REFUSED(HA_ERR_ARGUMENT, darray_get(none, none.rank, LIST(0, 0), &value));
    REFUSED(HA_ERR_ARGUMENT, darray_set(none, none.rank, LIST(0, 0), value));
    NONE(HA_ERR_ARGUMENT, ha_copy_plan_new(NULL, 1));
    FINE(darray_free(&x));
    FINE(darray_free(&x)); /* no owner any more */
}

TEST(questions_about_nothing) {
    char text[4] = "???";
    darray none = {.rank = 0}, x = darray_zeros(HA_DTYPE_double, 2, LIST(2, 3), NULL), forged = x;
    assert_false(darray_repeats(none));
    forged.rank = 99;
    assert_false(darray_repeats(forged));
    forged = x;
    forged.extent[0] = -1;
    assert_false(darray_repeats(forged));
    forged.extent[0] = 0;
    assert_false(darray_repeats(forged));
    forged.extent[0] = forged.extent[1] = INT64_MAX;
    assert_false(darray_repeats(forged));
    assert_true(darray_print_shape(x, NULL, 0) == darray_print_shape(x, text, sizeof text));
    assert_true(strlen(text) == 3);
    assert_true(darray_describe(none, text, sizeof text) > 0);
    forged = x;
    forged.offset = INT64_MAX;
    NO_ARRAY(HA_ERR_ARGUMENT, darray_transpose(forged));
    forged.offset = INT64_MIN;
    forged.stride[0] = -3;
    NO_ARRAY(HA_ERR_ARGUMENT, darray_transpose(forged));
    FINE(darray_free(&x));
}

/* ---- where it was called ------------------------------------------------------------------------- */

static void is_told_at(int line, const char *operation, const char *what) {
    const ha_error e = ha_take_error();
    char begin[200];
    snprintf(begin, sizeof begin, "%s:%d: ", __FILE__, line);
    assert_string_equal(e.operation, operation);
    if (strncmp(e.text, begin, strlen(begin)) != 0 || !strstr(e.text, what))
        fail_msg("'%s' does not begin with '%s', or lacks '%s'", e.text, begin, what);
    assert_null(strstr(e.text + strlen(begin), __FILE__)); /* which is said once */
}

#define TOLD(name, what, ...)                                                                      \
    do {                                                                                           \
        (void)(__VA_ARGS__);                                                                       \
        is_told_at(__LINE__, name, what);                                                          \
    } while (0)

/* All functions of darrays begin their messages with the line of the call. */
TEST(messages_have_the_line_of_the_call) {
    darray x = darray_new(HA_DTYPE_double, 2, LIST(2, 3), NULL);
    darray y = darray_new(HA_DTYPE_double, 2, LIST(2, 4), NULL);
    ha_dvalue value = ha_dvalue_of_double(1);
    const ha_dvalue imaginary = ha_dvalue_of_c128(ha_c128_make(1, 2));
    const darray twice = darray_broadcast(x, 3, LIST(2, 2, 3));
    ha_write_darray v;
    darray side[4];
    int equal;
    ha_array_set_name(x.array, "left");
    TOLD("darray_slice", "'left'", darray_slice(x, 0, 0, 3, 1));
    TOLD("darray_part", "'left'", darray_part(x, LIST(0, 0), LIST(2, 4)));
    TOLD("darray_fix", "its indices are 0 to 1", darray_fix(x, 0, 2));
    TOLD("darray_flip", "no dimension 2", darray_flip(x, 2));
    TOLD("darray_expand", "no place 7", darray_expand(x, 7));
    TOLD("darray_permute", "no order", darray_permute(x, LIST(0, 0)));
    TOLD("darray_diagonal", "no dimension 5", darray_diagonal(x, 0, 5, 0));
    TOLD("darray_reshape", "(7) has 7 elements", darray_reshape(x, 1, LIST(7)));
    TOLD("darray_broadcast", "cannot be repeated", darray_broadcast(x, 2, LIST(5, 3)));
    TOLD("darray_with_origin", "64 bits", darray_with_origin(x, LIST(INT64_MAX, 0)));
    TOLD("darray_convert", "cannot become", darray_convert(x, HA_DTYPE_NONE, NULL));
    TOLD("darray_shell", "dimension 1", HA_OK == darray_shell(x, LIST(0, 0), LIST(1, 5), side));
    TOLD("darray_get", "(2, 0)", HA_OK == darray_get(x, 2, LIST(2, 0), &value));
    TOLD("darray_set", "of 1 numbers", HA_OK == darray_set(x, 1, LIST(2), value));
    TOLD("darray_copy", "'left', and from, double (2, 4): ", HA_OK == darray_copy(x, y, NULL));
    TOLD("darray_fill", "has an imaginary part", HA_OK == darray_fill(x, imaginary, NULL));
    TOLD("ha_open", "repeats", HA_OK == ha_open_view(&v, twice, NULL, HA_WRITE));
    const darray old = x;
    FINE(darray_free(&x));
    FINE(darray_free(&y));
    TOLD("darray_permute", "array 'left' (double[6]) was freed", darray_transpose(old));
    TOLD("darray_interior", "was freed", darray_interior(old));
    TOLD("darray_reshape", "was freed", darray_flatten(old));
    TOLD("darray_contiguous", "was freed", darray_contiguous(old, HA_ROW_MAJOR, NULL));
    TOLD("darray_copy", "was freed", HA_OK == darray_copy(old, old, NULL));
    TOLD("darray_fill", "was freed", HA_OK == darray_fill(old, value, NULL));
    TOLD("darray_equal", "was freed", HA_OK == darray_equal(old, old, &equal));
    TOLD("darray_prefetch", "was freed", HA_OK == darray_prefetch(old, NULL));
    TOLD("ha_array_evict", "was freed", HA_OK == ha_array_evict(old.array, NULL));
    TOLD("darray_copy", "no array: it was freed", HA_OK == darray_copy(x, x, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_have_the_line_of_the_call),
        cmocka_unit_test(nothing_works_on_a_queue),
        cmocka_unit_test(extents_of_nothing),
        cmocka_unit_test(ghosts_and_padding_without_end),
        cmocka_unit_test(elements_that_are_none),
        cmocka_unit_test(questions_about_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
