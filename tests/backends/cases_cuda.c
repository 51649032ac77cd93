/* CUDA devices as users of the engine see them, over the fake driver: what is said when there are
 * none, the caller's streams and events, functions for the host, devices that fail. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"

enum { N = 1000 };

/* Each test has devices of its own: C and M1 on two devices, M2 another queue of C's. */
static int begin_with(ha_cuda_memory memory, const char *kind) {
    HA_CHECK(cuda_use(memory, ""));
    HA_CHECK(ha_backend_register(launch_backend_make()));
    H = ha_host();
    C = ha_context_get(kind, 0);
    M1 = ha_context_get(kind, 1);
    M2 = ha_context_fork(C);
    return begin_case(NULL) || !C || !M1 || !M2;
}
static int begin_device(HA_UNUSED void **state) { return begin_with(HA_CUDA_DEVICE, "cuda"); }
static int begin_managed(HA_UNUSED void **state) { return begin_with(HA_CUDA_MANAGED, "cuda"); }
static int begin_launch(HA_UNUSED void **state) { return begin_with(HA_CUDA_DEVICE, "launch"); }
static int begin_closed(HA_UNUSED void **state) { return begin_case(NULL); }

static int end_devices(void **state) {
    const int failed = end_case(state);
    if (ha_shutdown() != HA_OK) return -1;
    HA_CHECK(cuda_use(HA_CUDA_DEVICE, ""));
    return failed || !cuda_fake_is_empty() ? -1 : 0;
}

/* Takes the error: its text must name these. */
static void expect_text(ha_status status, const char *one, const char *two) {
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, status);
    assert_non_null(strstr(e.text, one));
    assert_non_null(strstr(e.text, two));
}

/* ---- options and messages ------------------------------------------------------------------- */

TEST(there_is_no_driver) {
    SUCCEEDS(ha_cuda_configure(&(ha_cuda_options){.library = "no such driver.so"}));
    assert_int_equal(ha_context_count("cuda"), 0);
    assert_null(ha_context_find("cuda:0"));
    expect_text(HA_ERR_NOT_FOUND, "no context 'cuda:0': no such driver.so: ", "cannot open");
    assert_ptr_equal(ha_context_best(), ha_host());
}

TEST(there_are_fewer_devices) {
    assert_null(ha_context_find("cuda:2"));
    expect_text(HA_ERR_NOT_FOUND, "no context 'cuda:2': there are 2 devices", "");
}

TEST(wrong_options) {
    REFUSED(HA_ERR_STATE, ha_cuda_configure(NULL));
    SUCCEEDS(ha_shutdown());
    assert_int_equal(ha_cuda_configure(&(ha_cuda_options){.slab = 5}), HA_ERR_ARGUMENT);
    expect_text(HA_ERR_ARGUMENT, "these options cannot be set", "slab is bytes");
}

TEST(the_best_context) {
    assert_ptr_equal(ha_context_best(), C);
    assert_string_equal(ha_context_name(C), "cuda:0");
    assert_string_equal(ha_context_kind(C), "cuda");
    assert_int_equal(ha_context_number(M1), 1);
}

/* ---- functions, streams and events of the caller -------------------------------------------- */

TEST(functions_need_managed_memory) {
    harray_double x = ramp(N);
    const job j = {NULL, 0, 0};
    assert_int_equal(ha_enqueue(C, add_job, &j, sizeof j), HA_ERR_UNSUPPORTED);
    expect_text(HA_ERR_UNSUPPORTED, "cuda:0", "memory=managed");
    touch(x, C);
    drop(x);
}

TEST(streams_of_accesses) {
    harray_double x = ramp(N);
    HA_READING(v, x, C) {
        assert_non_null(HA_STREAM(v));
        assert_ptr_equal(HA_STREAM(v), ha_context_stream(C));
        assert_ptr_not_equal(HA_STREAM(v), ha_context_stream(M2));
    }
    else fail();
    drop(x);
}

/* The default stream as a context: what is on it is ordered with everything else. */
TEST(the_default_stream) {
    harray_double x = ramp(N);
    ha_context *mine = ha_context_adopt(C, NULL);
    assert_non_null(mine);
    assert_ptr_equal(ha_context_stream(mine), HA_CU_STREAM_LEGACY_);
    REFUSED_NULL(HA_ERR_STATE, ha_context_adopt(C, NULL));
    add_at(x, mine, 1);
    add_at(x, C, 1);
    add_at(x, mine, 1);
    assert_true(sum_at(x, H) == N * (N - 1) / 2 + 3 * N);
    SUCCEEDS(ha_context_unfork(mine));
    add_at(x, C, 1);
    REFUSED_NULL(HA_ERR_ARGUMENT, ha_context_adopt(C, HA_CU_STREAM_PER_THREAD_));
    REFUSED_NULL(HA_ERR_STATE, ha_context_adopt(M1, ha_context_stream(C)));
    drop(x);
}

/* Each device has its own, by the same name. */
TEST(the_default_streams_of_two_devices) {
    harray_double x = ramp(N);
    ha_context *here = ha_context_adopt(C, NULL), *there = ha_context_adopt(M1, NULL);
    assert_true(here && there);
    add_at(x, here, 1);
    add_at(x, there, 1);
    add_at(x, here, 1);
    assert_true(sum_at(x, H) == N * (N - 1) / 2 + 3 * N);
    SUCCEEDS(ha_context_unfork(here));
    SUCCEEDS(ha_context_unfork(there));
    drop(x);
}

/* An access ends with the caller's event, which is the caller's still. */
TEST(events_of_the_caller) {
    harray_double x = ramp(N);
    ha_cu_event event;
    ha_cu_context popped;
    ha_token token = {NULL, NULL, 0};
    ha_write_double v;
    assert_int_equal(ha_cu.CtxPushCurrent(((ha_cuda_device *)C->device)->context), HA_CU_SUCCESS);
    assert_int_equal(ha_cu.EventCreate(&event, 0), HA_CU_SUCCESS);
    SUCCEEDS(ha_open(&v, x.array, C, HA_WRITE, 0, HA_END));
    add(&v, 1);
    assert_int_equal(ha_cu.EventRecord(event, HA_STREAM(v)), HA_CU_SUCCESS);
    SUCCEEDS(ha_detach(&token, &v));
    SUCCEEDS(ha_token_end_after(&token, C, event));
    assert_true(sum_at(x, H) == N * (N - 1) / 2 + N);
    assert_int_equal(ha_cu.EventDestroy(event), HA_CU_SUCCESS);
    assert_int_equal(ha_cu.CtxPopCurrent(&popped), HA_CU_SUCCESS);
    drop(x);
}

/* ---- values that the driver cannot fill with ------------------------------------------------ */

TEST(filled_arrays) {
    const double values[] = {0, 1, -1.25, 1e-300};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        harray_double x = keep(harray_double_filled_at(N, values[i], C));
        HA_READING(v, x, H) for (size_t k = 0; k < N; k++) assert_true(v.data[k] == values[i]);
        else fail();
        drop(x);
    }
}

/* ---- devices that fail ---------------------------------------------------------------------- */

/* What was only there is lost, everything else is not; the other device goes on. */
TEST(a_device_fails) {
    harray_double x = ramp(N), y = ramp(N);
    ha_access v;
    ha_array_set_name(x.array, "pressure");
    touch(y, C);
    cuda_fake()->hold((ha_cu_stream)ha_context_stream(C));
    add_at(x, C, 1);
    cuda_fake()->fail_stream((ha_cu_stream)ha_context_stream(C));
    assert_int_equal(ha_context_finish(C), HA_ERR_LOST);
    expect_text(HA_ERR_LOST, "has failed", "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_int_equal(ha_open(&v, x.array, H, HA_READ, 0, HA_END), HA_ERR_LOST);
    expect_text(HA_ERR_LOST, "'pressure'", "failed before");
    assert_true(sum_at(y, M1) == N * (N - 1) / 2); /* from the host */
    add_at(y, M1, 1);
    assert_true(sum_at(y, H) == N * (N - 1) / 2 + N);
    assert_int_equal(ha_open(&v, y.array, C, HA_READ, 0, HA_END), HA_ERR_BACKEND);
    assert_int_equal(ha_open(&v, y.array, M2, HA_READ, 0, HA_END), HA_ERR_BACKEND);
    (void)ha_take_error();
    HA_OVERWRITING(w, x, H, N) for (size_t i = 0; i < N; i++) w.data[i] = 1;
    else fail();
    assert_true(sum_at(x, M1) == N);
    drop(x);
    drop(y);
}

/* Who comes behind the failed device, on another one, is told. */
TEST(a_peer_fails) {
    harray_double x = ramp(N);
    ha_access v;
    cuda_fake()->hold((ha_cu_stream)ha_context_stream(C));
    add_at(x, C, 1);
    cuda_fake()->fail_stream((ha_cu_stream)ha_context_stream(C));
    assert_int_equal(ha_open(&v, x.array, M1, HA_READ, 0, HA_END), HA_ERR_LOST);
    (void)ha_take_error();
    HA_OVERWRITING_ALL(w, x, M1) fill(&w, 2);
    else fail();
    assert_true(sum_at(x, M1) == 2 * N);
    drop(x);
}

/* At the end of a process the driver's own exit handler may have run before. */
TEST(the_driver_has_gone) {
    harray_double x = ramp(N);
    add_at(x, C, 1);
    SUCCEEDS(ha_context_finish(C));
    cuda_fake()->deinitialize();
    drop(x);
    SUCCEEDS(ha_shutdown());
    cuda_fake()->reset();
}

#define ON(kind, test) cmocka_unit_test_setup_teardown(test, begin_##kind, end_devices)

int main(void) {
    const struct CMUnitTest tests[] = {
        ON(closed, there_is_no_driver),
        ON(device, there_are_fewer_devices),
        ON(device, wrong_options),
        ON(device, the_best_context),
        ON(device, functions_need_managed_memory),
        ON(device, streams_of_accesses),
        ON(managed, the_default_stream),
        ON(managed, the_default_streams_of_two_devices),
        ON(launch, the_default_stream),
        ON(launch, the_default_streams_of_two_devices),
        ON(managed, events_of_the_caller),
        ON(launch, events_of_the_caller),
        ON(device, filled_arrays),
        ON(managed, filled_arrays),
        ON(managed, a_device_fails),
        ON(launch, a_device_fails),
        ON(managed, a_peer_fails),
        ON(launch, a_peer_fails),
        ON(launch, the_driver_has_gone),
    };
    if (cuda_fake()) return cmocka_run_group_tests(tests, NULL, NULL);
    printf("HARRAY_CUDA does not name the fake driver\n");
    return 77; /* skipped */
}
