/* Views of numbers that count, what they have, and what is told of them. Include behind matrix.h. */
#ifndef HARRAY_TESTS_NDARRAY_NUMBERS_OF_VIEWS_H
#define HARRAY_TESTS_NDARRAY_NUMBERS_OF_VIEWS_H

#define LIST(...) ((const int64_t[HA_MOST_RANK]){__VA_ARGS__})

/* The next index from the origin, last dimension fastest; 0 behind the last. */
HA_UNUSED static int next_index(const darray *x, int64_t *index) {
    for (int d = x->rank; d-- > 0; index[d] = x->origin[d])
        if (++index[d] < x->origin[d] + x->extent[d]) return 1;
    return 0;
}

HA_UNUSED static darray kept(darray x) {
    keep_array(x.array);
    return x;
}

/* 0, 1, 2, … in C's order, first at a context. */
HA_UNUSED static darray counting_in(ha_order order, ha_dtype type, int rank, const int64_t *extent,
                                    ha_context *c) {
    darray x = kept(darray_new_in(order, type, rank, extent, c));
    int64_t index[HA_MOST_RANK] = {0}, i = 0;
    ha_write_darray v;
    memset(&v, 0, sizeof v);
    SUCCEEDS(ha_open(&v, x.array, H, HA_OVERWRITE, 0, HA_END));
    do {
        assert_int_equal(ha_dvalue_store(ha_dvalue_of_int64_t(i++), type,
                                         (char *)v.data + ha_offset(rank, index, x.stride) *
                                                              (int64_t)ha_dtype_size(type)),
                         HA_OK);
    } while (next_index(&x, index));
    ha_close(&v);
    SUCCEEDS(ha_array_prefetch(x.array, c, 0, HA_END));
    return x;
}

HA_UNUSED static darray counting(ha_dtype type, int rank, const int64_t *extent, ha_context *c) {
    return counting_in(HA_ROW_MAJOR, type, rank, extent, c);
}

HA_UNUSED static double number_at(darray x, const int64_t *index) {
    ha_dvalue v;
    assert_int_equal(darray_get(x, x.rank, index, &v), HA_OK);
    assert_int_equal(v.type, x.type);
    assert_int_equal(ha_dvalue_convert(v, HA_DTYPE_double, &v), HA_OK);
    return v.as_double;
}

#define NUMBERS(x, ...)                                                                            \
    expect_numbers(x, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

HA_UNUSED static void expect_numbers(darray x, size_t count, const double *expected) {
    int64_t index[HA_MOST_RANK];
    size_t i = 0;
    memcpy(index, x.origin, sizeof index);
    assert_int_equal(darray_size(x), count);
    do {
        const double number = number_at(x, index);
        if (number != expected[i]) print_error("element %zu is %g\n", i, number);
        assert_true(number == expected[i++]);
    } while (next_index(&x, index));
}

/* It fails with ARGUMENT, and says all of these. */
HA_UNUSED static void is_told(ha_status s, const char *operation, const char *one,
                              const char *two) {
    const ha_error e = ha_take_error();
    assert_int_equal(s, HA_ERR_ARGUMENT);
    assert_int_equal(e.status, HA_ERR_ARGUMENT);
    if (strcmp(e.operation, operation) || !strstr(e.text, one) || !strstr(e.text, two)) {
        print_error("not said: '%s' '%s' '%s' in: %s: %s\n", operation, one, two, e.operation,
                    e.text);
        fail();
    }
    step();
}

#endif
