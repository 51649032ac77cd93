/* Functions with all that they need: ha_run_with, and ha_cuda_launch_with. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"

struct triad {
    double *x;
    const double *y, *z;
    double a;
    size_t n;
};

static void triad_there(HA_UNUSED const ha_queue *queue, void *argument) {
    const struct triad *t = (const struct triad *)argument;
    for (size_t i = 0; i < t->n; i++) t->x[i] = t->y[i] + t->a * t->z[i];
}

static void run_triad(ha_context *c, double a, harray_double x, harray_double y, harray_double z) {
    struct triad t = {.a = a, .n = harray_double_size(x)};
    SUCCEEDS(ha_run_with(c, triad_there, t, HA_USE(x, x, HA_OVERWRITE), HA_USE(y, y, HA_READ),
                         HA_USE(z, z, HA_READ)));
    assert_null(t.x); /* its own is not changed */
}

TEST(pointers_are_put_in) {
    harray_double x = keep(harray_double_new(5)), y = ramp(5), z = list_at(M1);
    run_triad(C, 2, x, y, z);
    VALUES(x, 10, 13, 6, 9, -6);
    run_triad(M1, 1, y, x, z);
    VALUES(y, 15, 19, 8, 12, -11);
    drop(x), drop(y), drop(z);
}

/* What is overwritten is not moved, nor is anything twice. */
TEST(only_what_is_missing_moves) {
    harray_double x = ramp(5), y = list_at(C), z = list_at(C);
    run_triad(C, 2, x, y, z);
    MOVED(x, 0, 0);
    MOVED(y, 0, 0);
    if (!shares_memory(C)) VALID_NOWHERE(x, H);
    VALUES(x, 15, 18, 6, 9, -15);
    drop(x), drop(y), drop(z);
}

static void accumulate_there(HA_UNUSED const ha_queue *queue, void *argument) {
    const struct triad *t = (const struct triad *)argument;
    for (size_t i = 0; i < t->n; i++) t->x[i] += t->a * t->y[i];
}

/* Read and written by one function: y = f(y). */
TEST(one_array_twice) {
    harray_double x = list_at(C);
    struct triad t = {.a = 1, .n = 5};
    SUCCEEDS(ha_run_with(C, accumulate_there, t, HA_USE(x, x, HA_WRITE), HA_USE(y, x, HA_READ)));
    VALUES(x, 10, 12, 4, 6, -10);
    drop(x);
}

struct mixed {
    char one;
    char *text;
    span_float_2 w;
    cspan_float_2 u;
    dspan d;
    const float *first;
    int *sum;
} __attribute__((__packed__));

static void mixed_there(HA_UNUSED const ha_queue *queue, void *argument) {
    struct mixed m;
    memcpy(&m, argument, sizeof m);
    float sum = 0;
    for (int64_t j = m.w.origin[0]; j < m.w.origin[0] + m.w.extent[0]; j++)
        for (int64_t i = m.w.origin[1]; i < m.w.origin[1] + m.w.extent[1]; i++) {
            HA_AT(m.w, j, i) = HA_AT(m.u, j, i) + 1;
            sum += HA_AT(m.u, j, i);
        }
    const float *d = (const float *)m.d.data;
    *m.sum = (int)(100000 * sum + 1000 * m.first[0] +
                   d[m.d.origin[0] * m.d.stride[0] + m.d.origin[1] * m.d.stride[1]]) +
             (m.text == NULL) + m.one;
}

/* Views by their first element, or as spans with indices of their own; members where they are. */
TEST(views_and_spans) {
    array_float_2 u = array_float_2_make(
        &(ha_shape){.rank = 2, .extent = {3, 4}, .ghost_low = {1, 1}, .ghost_high = {1, 1}}, M1);
    harray_int sum = harray_int_new(1);
    keep_array(u.array), keep_array(sum.array);
    SUCCEEDS(array_float_2_fill(u, 0, H));
    array_float_2 inner = array_float_2_interior(u);
    HA_WRITING(v, inner, H)
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 4; i++) HA_AT(v.span, j, i) = (float)(j * 4 + i);
    array_float_2 w = array_float_2_flip(array_float_2_zeros(HA_DIM(3, 4), C), 1);
    keep_array(w.array);
    /* Indices of which 0, 0 is far away from everything. */
    w = array_float_2_with_origin(w, HA_DIM(1000000000, -7));
    inner = array_float_2_with_origin(inner, HA_DIM(1000000000, -7));
    darray d = array_float_2_to_darray(u);
    struct mixed m = {.one = 7};
    SUCCEEDS(ha_run_with(C, mixed_there, m, HA_USE(w, w, HA_WRITE), HA_USE(u, inner, HA_READ),
                         HA_USE(d, d, HA_READ), HA_USE(first, inner, HA_READ),
                         HA_USE(sum, sum, HA_OVERWRITE)));
    HA_READING(v, sum, H) assert_int_equal(v.data[0], 100000 * 66 + 8);
    else fail();
    HA_READING(v, w, H) {
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 4; i++)
                assert_true(HA_AT(v.span, 1000000000 + j, i - 7) == (float)(j * 4 + i + 1));
    }
    else fail();
    drop_array(u.array), drop_array(w.array), drop_array(sum.array);
}

/* ---- what is wrong ------------------------------------------------------------------------------ */

static int runs;
static void counts(HA_UNUSED const ha_queue *queue, HA_UNUSED void *argument) {
    __atomic_fetch_add(&runs, 1, __ATOMIC_RELAXED);
}

static void refused(ha_status got, ha_status status, const char *part) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, status);
    assert_int_equal(e.status, status);
    if (!strstr(e.text, part) || !strstr(e.text, "cases_run_with.c:"))
        fail_msg("'%s' lacks '%s'", e.text, part);
}

TEST(uses_that_are_wrong) {
    harray_double x = list_at(H), none = {NULL};
    array_float_2 u = array_float_2_zeros(HA_DIM(2, 2), H);
    keep_array(u.array);
    struct triad t = {.n = 5};
    struct mixed m = {.one = 1};
    const ha_use outside = {&x, sizeof x, HA_READ, sizeof t - 4, 8, "outside", NULL, NULL};
    const ha_use odd = {&x, sizeof x, HA_READ, 0, 16, "odd", NULL, NULL};
    runs = 0;
    refused(ha_run_with(C, NULL, t, HA_USE(x, x, HA_READ)), HA_ERR_ARGUMENT, "no function");
    refused(ha_run_with(C, counts, t, HA_USE(x, none, HA_READ)), HA_ERR_ARGUMENT, "x: no array");
    refused(ha_run_with_(C, counts, &t, sizeof t, &outside, 1, "f", HA_SITE), HA_ERR_ARGUMENT,
            "outside: it is not inside");
    refused(ha_run_with_(C, counts, &t, sizeof t, &odd, 1, "f", HA_SITE), HA_ERR_ARGUMENT,
            "odd: it is no pointer, and no span");
    refused(ha_run_with(C, counts, m, HA_USE(d, u, HA_READ)), HA_ERR_ARGUMENT,
            "d: it is no pointer, and no span of this array's rank");
    refused(ha_run_with_(C, counts, NULL, 8, NULL, 0, "f", HA_SITE), HA_ERR_ARGUMENT,
            "no argument");
    refused(ha_run_with_(C, counts, &t, sizeof t, NULL, 1, "f", HA_SITE), HA_ERR_ARGUMENT,
            "no uses");
    refused(ha_run_with(C, counts, t, HA_USE(x, x, HA_READ | 64)), HA_ERR_ARGUMENT, "");
    assert_int_equal(runs, 0);
    SUCCEEDS(ha_run_with_(C, counts, NULL, 0, NULL, 0, "f", HA_SITE)); /* nothing is needed */
    SUCCEEDS(ha_context_finish(C));
    assert_int_equal(runs, 1);
    drop(x), drop_array(u.array);
}

/* All or none: one that cannot be had leaves the others as they were. */
TEST(all_or_none) {
    harray_double x = ramp(5), y = list_at(C), z = keep(harray_double_new(5));
    const snapshot before = snapshot_of(x);
    struct triad t = {.n = 5};
    runs = 0;
    refused(ha_run_with(C, counts, t, HA_USE(x, x, HA_OVERWRITE), HA_USE(y, y, HA_READ),
                        HA_USE(z, z, HA_READ)),
            HA_ERR_STATE, "never written");
    expect_unchanged(x, &before);
    HA_WRITING(v, y, M1) {
        refused(ha_run_with(C, counts, t, HA_USE(x, x, HA_OVERWRITE), HA_USE(y, y, HA_READ)),
                HA_ERR_CONFLICT, "");
        expect_unchanged(x, &before);
    }
    assert_int_equal(runs, 0);
    drop(x), drop(y), drop(z);
}

static void fails_there(HA_UNUSED const ha_queue *queue, HA_UNUSED void *argument) {
    ha_access v;
    HA_IGNORE(ha_open(&v, NULL, NULL, HA_READ, 0, 1));
}

/* What goes wrong in the function is told to whoever opens what it was to write: also when it was enqueued
 * before the opening was committed. */
TEST(errors_in_functions) {
    harray_double x = ramp(5), y = ramp(5);
    struct triad t = {.n = 5};
    for (int there = 0; there < 2; there++) {
        if (there) touch(x, C);
        SUCCEEDS(ha_run_with(C, fails_there, t, HA_USE(x, x, HA_WRITE), HA_USE(y, y, HA_READ)));
        if (runs_at_once(C))
            assert_int_equal(ha_take_error().status, HA_ERR_STATE);
        else {
            HA_READING(v, x, H) fail();
            else assert_non_null(strstr(ha_take_error().text, "cases_run_with.c:"));
            const ha_status s = ha_context_finish(C);
            assert_int_equal(ha_take_error().status, s);
        }
        VALUES(x, 0, 1, 2, 3, 4);
    }
    VALUES(y, 0, 1, 2, 3, 4);
    drop(x), drop(y);
}

/* ---- kernels of the caller's --------------------------------------------------------------------- */

static void triad_kernel(void **parameters, const fake_cuda_launch *launch) {
    const struct triad *t = (const struct triad *)parameters[0];
    double *x = (double *)fake_cuda_here(launch, t->x);
    const double *y = (const double *)fake_cuda_here(launch, t->y);
    const double *z = (const double *)fake_cuda_here(launch, t->z);
    const size_t lanes = (size_t)launch->grid[0] * launch->block[0];
    for (size_t i = 0; i < t->n && i < lanes; i++) x[i] = y[i] + t->a * z[i] + launch->shared_bytes;
}

/* The device's own pointers; nothing is changed when the driver refuses. */
TEST(kernels_of_the_callers) {
    const ha_cuda_grid grid = {.blocks = {1}, .threads = {64}, .shared_bytes = 16};
    harray_double x = ramp(5), y = list_at(M1), z = list_at(H);
    const snapshot before = snapshot_of(x);
    struct triad t = {.a = 2, .n = 5};
    struct CUfunc_st *function = (struct CUfunc_st *)&t; /* not looked at where there is no GPU */
    if (strcmp(ha_context_kind(C), "launch") != 0 && strcmp(ha_context_kind(C), "cuda") != 0) {
        refused(ha_cuda_launch_with(C, function, &grid, t, HA_USE(x, x, HA_OVERWRITE)),
                HA_ERR_UNSUPPORTED, ha_context_name(C));
        expect_unchanged(x, &before);
    } else if (cuda_fake()) {
        const size_t size = sizeof t;
        ha_cuda_device *device = (ha_cuda_device *)C->device;
        ha_cu_module module;
        int pushed;
        cuda_fake()->register_kernel("triad", triad_kernel, 1, &size);
        ha_cuda_enter_quietly(device, &pushed);
        assert_int_equal(ha_cu.ModuleLoadData(&module, "image"), 0);
        assert_int_equal(ha_cu.ModuleGetFunction(&function, module, "triad"), 0);
        ha_cuda_leave(pushed);
        refused(ha_cuda_launch_with(C, NULL, &grid, t, HA_USE(x, x, HA_OVERWRITE)), HA_ERR_ARGUMENT,
                "no function");
        refused(ha_cuda_launch_with(C, function, NULL, t, HA_USE(x, x, HA_OVERWRITE)),
                HA_ERR_ARGUMENT, "no grid");
        cuda_fake()->fail_call("cuLaunchKernel", 1, 701, 0);
        refused(ha_cuda_launch_with(C, function, &grid, t, HA_USE(x, x, HA_OVERWRITE)),
                HA_ERR_BACKEND, "did not take the kernel");
        if (!HA_DEBUGGING_) expect_unchanged(x, &before); /* there it was open already */
        SUCCEEDS(ha_cuda_launch_with(C, function, &grid, t, HA_USE(x, x, HA_OVERWRITE),
                                     HA_USE(y, y, HA_READ), HA_USE(z, z, HA_READ)));
        VALUES(x, 31, 34, 22, 25, 1);
        ha_cuda_enter_quietly(device, &pushed);
        assert_int_equal(ha_cu.ModuleUnload(module), 0);
        ha_cuda_leave(pushed);
    }
    drop(x), drop(y), drop(z);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        CASE(pointers_are_put_in), CASE(only_what_is_missing_moves), CASE(one_array_twice),
        CASE(views_and_spans),     CASE(uses_that_are_wrong),        CASE(all_or_none),
        CASE(errors_in_functions), CASE(kernels_of_the_callers),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
