/* The array interfaces of Python as structs: of open accesses, and of memory of others. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/refusals.h"

#define H ha_host()
#define NUMBERS(actual, ...)                                                                       \
    do {                                                                                           \
        const int64_t expected_[HA_MOST_RANK] = {__VA_ARGS__};                                     \
        assert_memory_equal(actual, expected_, sizeof expected_);                                  \
    } while (0)

static int end(void **state HA_UNUSED) {
    const ha_error error = ha_take_error();
    const ha_status s = ha_shutdown();
    if (error.status) print_error("an error was left behind: %s\n", error.text);
    if (s) print_error("left behind: %s\n", ha_take_error().text);
    return error.status || s ? -1 : 0;
}

/* 0, 1, 2, … as floats. */
static darray ramp(int64_t n, int64_t m) {
    const int64_t extent[] = {n, m};
    float values[100];
    for (int i = 0; i < 100; i++) values[i] = (float)i;
    darray x = darray_of(HA_DTYPE_float, 2, extent, values, H);
    assert_non_null(x.array);
    return x;
}

/* ---- of an open access ---------------------------------------------------------------------- */

TEST(host_memory) {
    darray x = ramp(3, 4), part = darray_slice(darray_transpose(x), 0, 3, HA_ALL, -2);
    ha_array_interface i;
    ha_access v;
    FINE(ha_open(&v, x.array, H, HA_READ, 0, HA_END));
    FINE(darray_to_array_interface(x, &v, &i));
    assert_string_equal(i.typestr, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "<f4" : ">f4");
    assert_int_equal(i.version, 3);
    assert_int_equal(i.rank, 2);
    NUMBERS(i.shape, 3, 4);
    assert_int_equal(i.has_strides, 0);
    NUMBERS(i.strides, 16, 4); /* bytes */
    assert_ptr_equal(i.data, v.data);
    assert_int_equal(i.read_only, 1);
    FINE(darray_to_array_interface(part, &v, &i));
    NUMBERS(i.shape, 2, 3);
    assert_int_equal(i.has_strides, 1);
    NUMBERS(i.strides, -8, 16);
    assert_ptr_equal(i.data, (char *)v.data + 12);
    FINE(ha_close(&v));
    FINE(ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    FINE(darray_to_array_interface(x, &v, &i));
    assert_int_equal(i.read_only, 0);
    FINE(ha_close(&v));
    FINE(darray_free(&x));
}

TEST(usm_counts_elements) {
    darray x = ramp(3, 4), part = darray_slice(darray_transpose(x), 0, 3, HA_ALL, -2);
    ha_sycl_usm_array_interface i;
    ha_access v;
    FINE(ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    FINE(darray_to_sycl_usm_array_interface(part, &v, &i));
    assert_int_equal(i.version, 1);
    assert_int_equal(i.rank, 2);
    NUMBERS(i.shape, 2, 3);
    NUMBERS(i.strides, -2, 4);
    assert_int_equal(i.has_strides, 1);
    assert_int_equal(i.offset, 0);
    assert_ptr_equal(i.data, (char *)v.data + 12);
    assert_int_equal(i.read_only, 0);
    assert_string_equal(i.syclobj, "host");
    FINE(ha_close(&v));
    FINE(darray_free(&x));
}

TEST(every_type) {
    const struct {
        ha_dtype type;
        const char *name;
    } expected[] = {
        {HA_DTYPE_half, "<f2"},     {HA_DTYPE_float, "<f4"},    {HA_DTYPE_double, "<f8"},
        {HA_DTYPE_int8_t, "|i1"},   {HA_DTYPE_int16_t, "<i2"},  {HA_DTYPE_int32_t, "<i4"},
        {HA_DTYPE_int64_t, "<i8"},  {HA_DTYPE_uint8_t, "|u1"},  {HA_DTYPE_uint16_t, "<u2"},
        {HA_DTYPE_uint32_t, "<u4"}, {HA_DTYPE_uint64_t, "<u8"}, {HA_DTYPE_bool, "|b1"},
        {HA_DTYPE_c64, "<c8"},      {HA_DTYPE_c128, "<c16"},
    };
    const int64_t extent[] = {0};
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        darray x = darray_zeros(expected[k].type, 1, extent, H), y;
        ha_array_interface i;
        ha_access v;
        FINE(ha_open(&v, x.array, H, HA_READ, 0, HA_END));
        FINE(darray_to_array_interface(x, &v, &i));
        if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
            assert_string_equal(i.typestr, expected[k].name);
        assert_non_null(i.data);
        y = darray_from_array_interface(&i);
        assert_int_equal(y.type, expected[k].type);
        assert_int_equal(darray_size(y), 0);
        FINE(darray_free(&y));
        FINE(ha_close(&v));
        FINE(darray_free(&x));
    }
}

TEST(what_is_no_access_of_it) {
    darray x = ramp(3, 4), y = ramp(3, 4);
    const int64_t extent[] = {2};
    darray b = darray_zeros(HA_DTYPE_bfloat16, 1, extent, H);
    ha_array_interface i;
    ha_cuda_array_interface g;
    ha_access v = {0};
    REFUSED(HA_ERR_STATE, darray_to_array_interface(x, &v, &i));
    FINE(ha_open(&v, x.array, H, HA_READ, 4, 8)); /* the second row */
    REFUSED(HA_ERR_ARGUMENT, darray_to_array_interface(y, &v, &i));
    REFUSED(HA_ERR_ARGUMENT, darray_to_array_interface((darray){.rank = 0}, &v, &i));
    REFUSED(HA_ERR_ARGUMENT, darray_to_array_interface(x, &v, &i));
    REFUSED(HA_ERR_ARGUMENT, darray_to_array_interface(darray_fix(x, 0, 0), &v, &i));
    REFUSED(HA_ERR_ARGUMENT, darray_to_array_interface(darray_fix(x, 0, 2), &v, &i));
    FINE(darray_to_array_interface(darray_fix(x, 0, 1), &v, &i));
    assert_ptr_equal(i.data, v.data);
    REFUSED(HA_ERR_ARGUMENT, darray_to_cuda_array_interface(darray_fix(x, 0, 1), &v, &g));
    const ha_access closed = v;
    FINE(ha_close(&v));
    REFUSED(HA_ERR_STATE, darray_to_array_interface(x, &closed, &i));
    FINE(ha_open(&v, b.array, H, HA_READ, 0, HA_END));
    REFUSED(HA_ERR_UNSUPPORTED, darray_to_array_interface(b, &v, &i));
    FINE(ha_close(&v));
    FINE(ha_open(&v, x.array, ha_context_find("sim:0"), HA_READ, 0, HA_END));
    REFUSED(HA_ERR_ARGUMENT, darray_to_array_interface(x, &v, &i));
    FINE(ha_close(&v));
    FINE(darray_free(&x));
    FINE(darray_free(&y));
    FINE(darray_free(&b));
}

/* ---- memory of others ----------------------------------------------------------------------- */

static float memory[24];

static ha_array_interface of_memory(void) {
    const ha_array_interface i = {.typestr = "=f4",
                                  .version = 3,
                                  .rank = 2,
                                  .shape = {4, 6},
                                  .strides = {24, 4},
                                  .data = memory};
    for (int k = 0; k < 24; k++) memory[k] = (float)k;
    return i;
}

static void count_release(void *user) { ++*(int *)user; }

TEST(bytes_become_elements) {
    ha_array_interface i = of_memory();
    int released = 0;
    i.has_strides = 1;
    i.strides[0] = -24;
    i.strides[1] = 8;
    i.shape[1] = 3;
    i.data = memory + 18;
    darray x = darray_from_array_interface(&i);
    NUMBERS(x.extent, 4, 3);
    NUMBERS(x.stride, -6, 2);
    assert_int_equal(x.offset, 18);
    assert_int_equal(x.type, HA_DTYPE_float);
    FINE(ha_array_set_release(x.array, count_release, &released));
    FINE(darray_free(&x));
    assert_int_equal(released, 1);
    i = of_memory();
    i.strides[0] = 1; /* nobody looks at it */
    x = darray_from_array_interface(&i);
    NUMBERS(x.stride, 6, 1);
    FINE(darray_free(&x));
    i.has_strides = 1;
    i.shape[0] = 1; /* still nobody */
    x = darray_from_array_interface(&i);
    NUMBERS(x.extent, 1, 6);
    FINE(darray_free(&x));
}

TEST(only_for_reading) {
    ha_array_interface i = of_memory();
    ha_access v;
    i.read_only = 1;
    darray x = darray_from_array_interface(&i);
    REFUSED(HA_ERR_STATE, ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    FINE(darray_free(&x));
}

TEST(usm_offsets_are_elements) {
    ha_sycl_usm_array_interface i = {.typestr = "<f4",
                                     .version = 1,
                                     .rank = 1,
                                     .shape = {4},
                                     .has_strides = 1,
                                     .strides = {-3},
                                     .data = memory,
                                     .offset = 9};
    (void)of_memory();
    darray x = darray_from_sycl_usm_array_interface(&i, H);
    ha_access v;
    NUMBERS(x.stride, -3);
    assert_int_equal(x.offset, 9);
    FINE(ha_open(&v, x.array, H, HA_READ, 0, HA_END));
    assert_ptr_equal(v.data, memory);
    FINE(ha_close(&v));
    FINE(darray_free(&x));
    i.offset = INT64_MAX / 2;
    assert_null(darray_from_sycl_usm_array_interface(&i, H).array);
    assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
    i.offset = INT64_MIN / 4; /* before the first address */
    assert_null(darray_from_sycl_usm_array_interface(&i, H).array);
    assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
    i.offset = 9;
    i.data = NULL; /* and what is nowhere stays there */
    assert_null(darray_from_sycl_usm_array_interface(&i, H).array);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    i.version = 3;
    assert_null(darray_from_sycl_usm_array_interface(&i, H).array);
    assert_int_equal(ha_take_error().status, HA_ERR_UNSUPPORTED);
}

static void refuse(const ha_array_interface *i, ha_status expected, const char *part) {
    assert_null(darray_from_array_interface(i).array);
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, expected);
    if (!strstr(e.text, part)) fail_msg("%s", e.text);
}

TEST(what_is_refused) {
    const ha_array_interface fine = of_memory();
    const char *const names[] = {"", "f4", "<f3", "<V2", "|O8", "<M8[ns]"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        ha_array_interface i = fine;
        snprintf(i.typestr, sizeof i.typestr, "%s", names[k]);
        refuse(&i, HA_ERR_UNSUPPORTED, "no such element type");
    }
    ha_array_interface i = fine;
    memset(i.typestr, '<', sizeof i.typestr); /* it does not end */
    refuse(&i, HA_ERR_UNSUPPORTED, "no such element type");
    i = fine;
    i.typestr[0] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<';
    refuse(&i, HA_ERR_UNSUPPORTED, "other order");
    i = fine;
    i.version = 4;
    refuse(&i, HA_ERR_UNSUPPORTED, "version");
    i = fine;
    i.rank = 9;
    refuse(&i, HA_ERR_ARGUMENT, "dimensions");
    i.rank = -1;
    refuse(&i, HA_ERR_ARGUMENT, "dimensions");
    i = fine;
    i.has_strides = 1;
    i.strides[1] = 6;
    refuse(&i, HA_ERR_ARGUMENT, "no multiple");
    i = fine;
    i.data = (char *)memory + 2;
    refuse(&i, HA_ERR_ARGUMENT, "aligned");
    i.data = NULL;
    refuse(&i, HA_ERR_ARGUMENT, "NULL");
    i = fine;
    i.shape[0] = -4;
    refuse(&i, HA_ERR_ARGUMENT, "negative");
    ha_cuda_array_interface g = {.typestr = "<f4", .version = 3, .rank = 1, .shape = {4}};
    assert_null(darray_from_cuda_array_interface(&g, H).array);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
}

#define CASE(name) cmocka_unit_test_teardown(name, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(host_memory),
        CASE(usm_counts_elements),
        CASE(every_type),
        CASE(what_is_no_access_of_it),
        CASE(bytes_become_elements),
        CASE(only_for_reading),
        CASE(usm_offsets_are_elements),
        CASE(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
