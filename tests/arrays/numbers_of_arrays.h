/* Arrays of two dimensions whose elements are numbers that tell their indices. Include behind matrix.h. */
#ifndef HARRAY_TESTS_ARRAYS_NUMBERS_OF_ARRAYS_H
#define HARRAY_TESTS_ARRAYS_NUMBERS_OF_ARRAYS_H

HA_UNUSED static array_double_2 keep_2(array_double_2 x) {
    keep_array(x.array);
    return x;
}

HA_UNUSED static darray keep_darray(darray x) {
    keep_array(x.array);
    return x;
}

/* The call gives no array, and says this. */
HA_UNUSED static void expect_none(const ha_array *array, ha_status status, const char *text) {
    const ha_error e = ha_take_error();
    assert_null(array);
    assert_int_equal(e.status, status);
    if (!strstr(e.text, text)) fail_msg("not said: '%s' in: %s", text, e.text);
    step();
}

/* Each element of a view becomes 100 i + j + what is added, on the access's context. */
HA_UNUSED static void number_job(const ha_queue *queue, void *argument) {
    const ha_write_double_2 *v = (const ha_write_double_2 *)argument;
    span_double_2 s = v->span;
    double *data = HA_HERE(queue, double, v->data); /* the element at the origin */
    s.data = data - s.origin[0] * s.stride[0] - s.origin[1] * s.stride[1];
    for (int64_t i = s.origin[0]; i < s.origin[0] + s.extent[0]; i++)
        for (int64_t j = s.origin[1]; j < s.origin[1] + s.extent[1]; j++)
            HA_AT(s, i, j) = 100.0 * (double)i + (double)j;
}

HA_UNUSED static void add_1000_job(const ha_queue *queue, void *argument) {
    const ha_write_double_2 *v = (const ha_write_double_2 *)argument;
    span_double_2 s = v->span;
    s.data = HA_HERE(queue, double, v->data) - s.origin[0] * s.stride[0] -
             s.origin[1] * s.stride[1];
    for (int64_t i = s.origin[0]; i < s.origin[0] + s.extent[0]; i++)
        for (int64_t j = s.origin[1]; j < s.origin[1] + s.extent[1]; j++) HA_AT(s, i, j) += 1000;
}

HA_UNUSED static array_double_2 numbered(int64_t n, int64_t m, ha_context *context) {
    array_double_2 x = keep_2(array_double_2_new(ha_dim2_of(n, m), context));
    HA_OVERWRITING_ALL(v, x, context) SUCCEEDS(HA_RUN(number_job, v));
    else fail();
    return x;
}

HA_UNUSED static void add_1000(array_double_2 x, ha_context *context) {
    HA_WRITING(v, x, context) SUCCEEDS(HA_RUN(add_1000_job, v));
    else fail();
    step();
}

/* Row by row, read on the host. */
HA_UNUSED static void expect_numbers(array_double_2 x, size_t n, const double *expected) {
    int ran = 0;
    HA_READING(v, x, H) {
        size_t at = 0;
        ran = 1;
        assert_int_equal(v.size, n);
        for (int64_t i = 0; i < v.span.extent[0]; i++)
            for (int64_t j = 0; j < v.span.extent[1]; j++)
                assert_true(HA_AT(v.span, i + v.span.origin[0], j + v.span.origin[1]) ==
                            expected[at++]);
    }
    assert_true(ran);
    step();
}
#define NUMBERS(x, ...)                                                                            \
    expect_numbers(x, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

#endif
