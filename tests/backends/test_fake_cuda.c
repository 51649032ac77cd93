/* What the fake driver of the tests promises: contexts, memory, streams and events. Copies, kernels
 * and failures are in test_fake_cuda_work.c, misuse is in test_fake_cuda_misuse.c. */
#define _DEFAULT_SOURCE
#include "fake_cuda_table.h"

TEST(every_function_is_there) { assert_int_equal(functions_missing, 0); }

/* ---- initialisation ------------------------------------------------------------------------- */

TEST(nothing_works_before_init) {
    int value = 0;
    const char *text = NULL;
    control->reset();
    control->configure("version=12040");
    GIVES(HA_CU_NOT_INITIALIZED, cu.DeviceGetCount(&value));
    GIVES(HA_CU_NOT_INITIALIZED, cu.StreamQuery(NULL));
    GIVES(HA_CU_NOT_INITIALIZED, cu.DevicePrimaryCtxRetain(&context, 0));
    SUCCEEDS(cu.DriverGetVersion(&value));
    assert_int_equal(value, 12040);
    SUCCEEDS(cu.GetErrorName(HA_CU_ILLEGAL_ADDRESS, &text));
    assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    SUCCEEDS(cu.GetErrorString(HA_CU_OUT_OF_MEMORY, &text));
    assert_string_equal(text, "out of memory");
    GIVES(HA_CU_INVALID_VALUE, cu.GetErrorName(12345, &text));
    GIVES(HA_CU_INVALID_VALUE, cu.Init(1));
    SUCCEEDS(cu.Init(0));
    SUCCEEDS(cu.Init(0));
    SUCCEEDS(cu.DeviceGetCount(&value));
    assert_int_equal(value, 2);
}

TEST(a_stub_and_no_devices) {
    int value;
    control->reset();
    control->configure("stub=1");
    GIVES(HA_CU_STUB_LIBRARY, cu.Init(0));
    GIVES(HA_CU_STUB_LIBRARY, cu.DriverGetVersion(&value));
    control->configure("devices=0");
    GIVES(HA_CU_NO_DEVICE, cu.Init(0));
    GIVES(HA_CU_NOT_INITIALIZED, cu.DeviceGetCount(&value));
}

TEST(options_come_from_the_environment) {
    size_t bytes;
    int value;
    control->reset();
    assert_int_equal(setenv("FAKE_CUDA", "devices=3,capacity=4M,integrated=1,peers=0,pools=0", 1),
                     0);
    SUCCEEDS(cu.Init(0));
    SUCCEEDS(cu.DeviceGetCount(&value));
    assert_int_equal(value, 3);
    SUCCEEDS(cu.DeviceTotalMem(&bytes, 2));
    assert_int_equal(bytes, 4 << 20);
    SUCCEEDS(cu.DeviceGetAttribute(&value, HA_CU_ATTRIBUTE_INTEGRATED, 1));
    assert_int_equal(value, 1);
    SUCCEEDS(cu.DeviceGetAttribute(&value, HA_CU_ATTRIBUTE_MEMORY_POOLS, 1));
    assert_int_equal(value, 0);
    SUCCEEDS(cu.DeviceCanAccessPeer(&value, 0, 1));
    assert_int_equal(value, 0);
    assert_int_equal(unsetenv("FAKE_CUDA"), 0);
    control->configure(NULL);
    SUCCEEDS(cu.Init(0));
    SUCCEEDS(cu.DeviceGetCount(&value));
    assert_int_equal(value, 2);
}

TEST(devices_and_their_attributes) {
    char name[8] = "";
    int value = 0;
    SUCCEEDS(cu.DeviceGet(&value, 1));
    assert_int_equal(value, 1);
    GIVES(HA_CU_INVALID_DEVICE, cu.DeviceGet(&value, 2));
    GIVES(HA_CU_INVALID_DEVICE, cu.DeviceGet(&value, -1));
    SUCCEEDS(cu.DeviceGetName(name, sizeof name, 0));
    assert_string_equal(name, "Fake GP");
    SUCCEEDS(cu.DeviceGetAttribute(&value, HA_CU_ATTRIBUTE_UNIFIED_ADDRESSING, 0));
    assert_int_equal(value, 1);
    GIVES(HA_CU_INVALID_VALUE, cu.DeviceGetAttribute(&value, 149, 0));
    control->set_attribute(1, HA_CU_ATTRIBUTE_COMPUTE_MAJOR, 5);
    SUCCEEDS(cu.DeviceGetAttribute(&value, HA_CU_ATTRIBUTE_COMPUTE_MAJOR, 1));
    assert_int_equal(value, 5);
    SUCCEEDS(cu.DeviceGetAttribute(&value, HA_CU_ATTRIBUTE_COMPUTE_MAJOR, 0));
    assert_int_equal(value, 9);
    SUCCEEDS(cu.DeviceCanAccessPeer(&value, 0, 1));
    assert_int_equal(value, 1);
    SUCCEEDS(cu.DeviceGetP2PAttribute(&value, HA_CU_P2P_PERFORMANCE_RANK, 0, 1));
    GIVES(HA_CU_INVALID_DEVICE, cu.DeviceGetP2PAttribute(&value, 1, 0, 0));
}

TEST(a_driver_that_has_gone) {
    const char *text;
    int value;
    control->deinitialize();
    GIVES(HA_CU_DEINITIALIZED, cu.Init(0));
    GIVES(HA_CU_DEINITIALIZED, cu.DriverGetVersion(&value));
    GIVES(HA_CU_DEINITIALIZED, cu.StreamSynchronize(stream));
    GIVES(HA_CU_DEINITIALIZED, cu.StreamDestroy(stream));
    GIVES(HA_CU_DEINITIALIZED, cu.MemFree(0));
    GIVES(HA_CU_DEINITIALIZED, cu.DevicePrimaryCtxRelease(0));
    GIVES(HA_CU_DEINITIALIZED, cu.CtxPopCurrent(NULL));
    GIVES(HA_CU_DEINITIALIZED, cu.GetErrorName(1, &text));
}

TEST(a_child_has_no_driver) {
    int status = 0, value;
    const pid_t child = fork();
    if (child == 0) {
        if (cu.DeviceGetCount(&value) != HA_CU_NOT_INITIALIZED) _exit(1);
        if (cu.Init(0) != HA_CU_NOT_INITIALIZED) _exit(2);
        _exit(cu.StreamSynchronize(stream) == HA_CU_NOT_INITIALIZED ? 77 : 3);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 77);
    SUCCEEDS(cu.StreamSynchronize(stream));
}

/* ---- contexts ------------------------------------------------------------------------------- */

TEST(contexts_are_counted) {
    ha_cu_context again;
    assert_int_equal(control->statistics().contexts, 2);
    SUCCEEDS(cu.DevicePrimaryCtxRetain(&again, 0));
    assert_ptr_equal(again, context);
    SUCCEEDS(cu.DevicePrimaryCtxRelease(0));
    SUCCEEDS(cu.StreamQuery(stream));
    SUCCEEDS(cu.StreamDestroy(stream));
    SUCCEEDS(cu.StreamDestroy(stream2));
    SUCCEEDS(cu.DevicePrimaryCtxRelease(0));
    GIVES(HA_CU_CONTEXT_IS_DESTROYED, cu.StreamQuery(NULL));
    GIVES(HA_CU_INVALID_CONTEXT, cu.DevicePrimaryCtxRelease(0));
    GIVES(HA_CU_INVALID_CONTEXT, cu.CtxPushCurrent(context));
    SUCCEEDS(cu.DevicePrimaryCtxRetain(&again, 0));
    SUCCEEDS(cu.StreamQuery(NULL));
    assert_int_equal(control->statistics().leaked, 0);
}

TEST(what_a_context_leaves_is_leaked) {
    ha_cu_pointer block;
    ha_cu_event event;
    void *pinned;
    fake_cuda_statistics now;
    SUCCEEDS(cu.MemAlloc(&block, 1000));
    SUCCEEDS(cu.MemHostAlloc(&pinned, 1000, 0));
    SUCCEEDS(cu.EventCreate(&event, 0));
    now = control->statistics();
    assert_int_equal(now.blocks, 1);
    assert_int_equal(now.bytes, 1000);
    assert_int_equal(now.pinned, 1);
    assert_int_equal(now.streams, 3);
    assert_int_equal(now.events, 1);
    SUCCEEDS(cu.DevicePrimaryCtxRelease(0));
    now = control->statistics();
    assert_int_equal(now.blocks + now.bytes + now.pinned + now.events, 0);
    assert_int_equal(now.streams, 1);
    assert_int_equal(now.leaked, 5);
}

static void see_current(caller *self) {
    ha_cu_context now;
    self->result = cu.CtxPopCurrent(&now) || now != context || cu.CtxGetCurrent(&now) || now ||
                   cu.CtxPopCurrent(NULL) != HA_CU_INVALID_CONTEXT ||
                   cu.StreamQuery(NULL) != HA_CU_INVALID_CONTEXT;
}

TEST(each_thread_has_its_own_stack) {
    ha_cu_context now;
    ha_cu_pointer block;
    ha_cu_event event;
    caller other;
    SUCCEEDS(cu.CtxPushCurrent(context2));
    start_caller(&other, see_current, NULL);
    assert_int_equal(finish_caller(&other), 0);
    SUCCEEDS(cu.CtxGetCurrent(&now));
    assert_ptr_equal(now, context2);
    SUCCEEDS(cu.CtxPopCurrent(&now));
    assert_ptr_equal(now, context2);
    SUCCEEDS(cu.CtxPopCurrent(&now));
    assert_ptr_equal(now, context);
    GIVES(HA_CU_INVALID_CONTEXT, cu.MemAlloc(&block, 8));
    GIVES(HA_CU_INVALID_CONTEXT, cu.EventCreate(&event, 0));
    GIVES(HA_CU_INVALID_CONTEXT, cu.StreamSynchronize(stream));
    GIVES(HA_CU_INVALID_CONTEXT, cu.StreamQuery(HA_CU_STREAM_LEGACY_));
}

/* ---- memory --------------------------------------------------------------------------------- */

TEST(memory_is_limited) {
    ha_cu_pointer block, more = 99, third;
    control->reset();
    assert_int_equal(begin_with("capacity=1M"), 0);
    GIVES(HA_CU_INVALID_VALUE, cu.MemAlloc(&block, 0));
    SUCCEEDS(cu.MemAlloc(&block, 600 << 10));
    GIVES(HA_CU_OUT_OF_MEMORY, cu.MemAlloc(&more, 600 << 10));
    GIVES(HA_CU_OUT_OF_MEMORY, cu.MemAlloc(&more, SIZE_MAX));
    assert_int_equal(more, 99);
    SUCCEEDS(cu.MemAlloc(&more, 1));
    SUCCEEDS(cu.MemAlloc(&third, 257));
    assert_int_equal(block % 256, 0);
    assert_int_equal(more % 256, 0);
    assert_int_equal(third - more, 256);
    SUCCEEDS(cu.MemFree(block));
    SUCCEEDS(cu.MemAlloc(&block, 400 << 10));
    SUCCEEDS(cu.MemFree(more));
    SUCCEEDS(cu.MemFree(third));
    SUCCEEDS(cu.MemFree(block));
    SUCCEEDS(cu.MemAlloc(&block, 1 << 20));
    SUCCEEDS(cu.MemFree(block));
    SUCCEEDS(cu.MemFree(0));
    assert_int_equal(control->statistics().blocks, 0);
}

static void touch_as_child(volatile char *block) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGSEGV, SIG_DFL);
    *block = 1;
    _exit(3);
}

TEST(the_host_cannot_touch_device_memory) {
    ha_cu_pointer block;
    int status = 0;
    SUCCEEDS(cu.MemAlloc(&block, 4096));
    const pid_t child = fork();
    if (child == 0) touch_as_child((volatile char *)pointer_of(block));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
    assert_ptr_not_equal(control->look(pointer_of(block)), pointer_of(block));
}

static void expect_kind(ha_cu_pointer pointer, unsigned type, int managed, int device) {
    ha_cu_pointer_attribute attributes[] = {HA_CU_POINTER_MEMORY_TYPE, HA_CU_POINTER_IS_MANAGED,
                                            HA_CU_POINTER_DEVICE_ORDINAL};
    unsigned got_type = 77;
    unsigned char got_managed = 77;
    int got_device = 77;
    void *values[] = {&got_type, &got_managed, &got_device};
    SUCCEEDS(cu.PointerGetAttributes(3, attributes, values, pointer));
    assert_int_equal(got_type, type);
    assert_int_equal(got_managed, managed);
    assert_int_equal(got_device, device);
}

TEST(pointers_are_known) {
    ha_cu_pointer block, managed, there;
    void *pinned;
    char *bytes;
    SUCCEEDS(cu.MemAlloc(&block, 1000));
    SUCCEEDS(cu.MemHostAlloc(&pinned, 1000, HA_CU_HOST_PORTABLE | HA_CU_HOST_MAPPED));
    SUCCEEDS(cu.MemAllocManaged(&managed, 1000, HA_CU_MANAGED_GLOBAL));
    GIVES(HA_CU_INVALID_VALUE, cu.MemAllocManaged(&there, 1000, 0));
    SUCCEEDS(cu.CtxPushCurrent(context2));
    SUCCEEDS(cu.MemAlloc(&there, 1000));
    SUCCEEDS(cu.CtxPopCurrent(NULL));
    memset(pinned, 1, 1000);
    memset(pointer_of(managed), 1, 1000);
    bytes = (char *)pinned;
    expect_kind(block, HA_CU_MEMORY_DEVICE, 0, 0);
    expect_kind(there + 999, HA_CU_MEMORY_DEVICE, 0, 1);
    expect_kind(device_of(bytes + 500), HA_CU_MEMORY_HOST, 0, 0);
    expect_kind(managed, HA_CU_MEMORY_DEVICE, 1, 0);
    expect_kind(device_of(&managed), 0, 0, 0);
    SUCCEEDS(cu.MemFree(block));
    expect_kind(block, 0, 0, 0);
    SUCCEEDS(cu.MemFree(managed));
    SUCCEEDS(cu.MemFreeHost(pinned));
    assert_int_equal(control->statistics().managed + control->statistics().pinned, 0);
}

TEST(memory_in_a_streams_order) {
    ha_cu_pointer first, second;
    ha_cu_pool pool;
    uint64_t threshold = UINT64_MAX;
    control->reset();
    assert_int_equal(begin_with("capacity=1M"), 0);
    SUCCEEDS(cu.DeviceGetDefaultMemPool(&pool, 0));
    SUCCEEDS(cu.MemPoolSetAttribute(pool, HA_CU_POOL_RELEASE_THRESHOLD, &threshold));
    SUCCEEDS(cu.MemAllocAsync(&first, 600 << 10, stream));
    SUCCEEDS(cu.MemsetD8Async(first, 1, 600 << 10, stream));
    SUCCEEDS(cu.MemFreeAsync(first, stream));
    SUCCEEDS(cu.MemAllocAsync(&second, 600 << 10, stream)); /* as soon as it is freed */
    SUCCEEDS(cu.StreamSynchronize(stream));
    SUCCEEDS(cu.MemFree(second));
    SUCCEEDS(cu.MemAlloc(&first, 8));
    GIVES(HA_CU_INVALID_VALUE, cu.MemFreeAsync(first, stream));
    control->reset();
    assert_int_equal(begin_with("pools=0"), 0);
    GIVES(HA_CU_NOT_SUPPORTED, cu.MemAllocAsync(&first, 8, stream));
}

/* ---- streams -------------------------------------------------------------------------------- */

static void synchronize(caller *self) {
    self->result = (int)cu.StreamSynchronize((ha_cu_stream)self->argument);
}

TEST(streams_are_held_and_stepped) {
    atomic_int first, second;
    caller other;
    control->hold(stream);
    enqueue_tick(stream, &first);
    enqueue_tick(stream, &second);
    GIVES(HA_CU_NOT_READY, cu.StreamQuery(stream));
    SUCCEEDS(cu.StreamSynchronize(stream2));
    control->step(stream, 1);
    until(&first);
    start_caller(&other, synchronize, stream);
    assert_int_equal(atomic_load(&second), 0);
    assert_int_equal(atomic_load(&other.ended), 0);
    control->step(stream, -1);
    assert_int_equal(finish_caller(&other), HA_CU_SUCCESS);
    assert_true(atomic_load(&second) > atomic_load(&first));
    SUCCEEDS(cu.StreamQuery(stream));
}

TEST(records_are_no_steps) {
    atomic_int first, second;
    ha_cu_event event;
    SUCCEEDS(cu.EventCreate(&event, 0));
    control->hold(stream);
    enqueue_tick(stream, &first);
    SUCCEEDS(cu.EventRecord(event, stream));
    enqueue_tick(stream, &second);
    control->step(stream, 2);
    SUCCEEDS(cu.StreamSynchronize(stream));
    SUCCEEDS(cu.EventDestroy(event));
    assert_int_equal(atomic_load(&first) + 1, atomic_load(&second));
}

TEST(blocking_streams_and_the_legacy_one_wait_for_each_other) {
    atomic_int before, legacy, behind, aside;
    ha_cu_stream blocking, blocking2;
    ha_cu_context its;
    SUCCEEDS(cu.StreamCreate(&blocking, 0));
    SUCCEEDS(cu.StreamCreate(&blocking2, 0));
    control->hold(blocking);
    enqueue_tick(blocking, &before);
    enqueue_tick(NULL, &legacy);
    enqueue_tick(blocking2, &behind);
    enqueue_tick(stream, &aside);
    until(&aside);
    until_quiet();
    assert_int_equal(atomic_load(&legacy) + atomic_load(&behind), 0);
    GIVES(HA_CU_NOT_READY, cu.StreamQuery(HA_CU_STREAM_LEGACY_));
    control->step(blocking, -1);
    SUCCEEDS(cu.StreamSynchronize(blocking2));
    assert_true(atomic_load(&before) < atomic_load(&legacy));
    assert_true(atomic_load(&legacy) < atomic_load(&behind));
    enqueue_tick(blocking, &before);
    SUCCEEDS(cu.StreamSynchronize(NULL));
    assert_int_not_equal(atomic_load(&before), 0);
    SUCCEEDS(cu.StreamQuery(NULL));
    GIVES(HA_CU_NOT_SUPPORTED, cu.StreamQuery(HA_CU_STREAM_PER_THREAD_));
    SUCCEEDS(cu.StreamGetCtx(stream3, &its));
    assert_ptr_equal(its, context2);
    SUCCEEDS(cu.StreamGetCtx(NULL, &its));
    assert_ptr_equal(its, context);
}

TEST(a_destroyed_stream_finishes_its_work) {
    atomic_int tick;
    control->hold(stream);
    enqueue_tick(stream, &tick);
    control->step(stream, 1);
    SUCCEEDS(cu.StreamDestroy(stream));
    until(&tick);
    GIVES(HA_CU_INVALID_HANDLE, cu.StreamDestroy(NULL));
    assert_int_equal(control->statistics().streams, 2);
}

static void call_the_driver(void *argument) {
    ha_cu_pointer block;
    int *results = (int *)argument;
    results[0] = (int)cu.StreamQuery(NULL);
    results[1] = (int)cu.MemAlloc(&block, 8);
    results[2] = (int)cu.CtxPushCurrent(context);
}

TEST(functions_on_the_host_may_not_call_the_driver) {
    int results[3] = {0};
    SUCCEEDS(cu.LaunchHostFunc(stream, call_the_driver, results));
    SUCCEEDS(cu.StreamSynchronize(stream));
    for (int i = 0; i < 3; i++) assert_int_equal(results[i], HA_CU_NOT_PERMITTED);
}

/* ---- events --------------------------------------------------------------------------------- */

TEST(events_mark_positions) {
    ha_cu_event event;
    atomic_int tick;
    SUCCEEDS(cu.EventCreate(&event, HA_CU_EVENT_NO_TIMING));
    SUCCEEDS(cu.EventQuery(event)); /* never recorded */
    SUCCEEDS(cu.EventSynchronize(event));
    SUCCEEDS(cu.StreamWaitEvent(stream2, event, 0));
    SUCCEEDS(cu.StreamSynchronize(stream2));
    control->hold(stream);
    SUCCEEDS(cu.EventRecord(event, stream));
    SUCCEEDS(cu.EventSynchronize(event)); /* nothing was in front of it */
    enqueue_tick(stream, &tick);
    SUCCEEDS(cu.EventRecord(event, stream));
    GIVES(HA_CU_NOT_READY, cu.EventQuery(event));
    SUCCEEDS(cu.EventRecord(event, stream2)); /* replaces */
    SUCCEEDS(cu.EventSynchronize(event));
    GIVES(HA_CU_INVALID_HANDLE, cu.EventRecord(event, stream3));
    SUCCEEDS(cu.EventDestroy(event));
    control->step(stream, -1);
    SUCCEEDS(cu.StreamSynchronize(stream));
}

/* And of another device. */
TEST(streams_wait_for_the_last_record) {
    atomic_int first, second, behind, there;
    ha_cu_event event;
    SUCCEEDS(cu.EventCreate(&event, 0));
    control->hold(stream);
    enqueue_tick(stream, &first);
    SUCCEEDS(cu.EventRecord(event, stream));
    SUCCEEDS(cu.StreamWaitEvent(stream2, event, 0));
    SUCCEEDS(cu.StreamWaitEvent(stream3, event, 0));
    enqueue_tick(stream, &second);
    SUCCEEDS(cu.EventRecord(event, stream));
    SUCCEEDS(cu.EventDestroy(event)); /* they wait nevertheless */
    enqueue_tick(stream2, &behind);
    enqueue_tick(stream3, &there);
    until_quiet();
    assert_int_equal(atomic_load(&behind) + atomic_load(&there), 0);
    control->step(stream, 1);
    SUCCEEDS(cu.StreamSynchronize(stream2));
    SUCCEEDS(cu.StreamSynchronize(stream3));
    assert_true(atomic_load(&behind) > atomic_load(&first));
    assert_true(atomic_load(&there) > atomic_load(&first));
    assert_int_equal(atomic_load(&second), 0);
    control->step(stream, -1);
    SUCCEEDS(cu.StreamSynchronize(stream));
    assert_int_equal(control->statistics().events, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_there),
        cmocka_unit_test(nothing_works_before_init),
        cmocka_unit_test(a_stub_and_no_devices),
        cmocka_unit_test(options_come_from_the_environment),
        CASE(devices_and_their_attributes),
        CASE(a_driver_that_has_gone),
        CASE(a_child_has_no_driver),
        CASE(contexts_are_counted),
        CASE(what_a_context_leaves_is_leaked),
        CASE(each_thread_has_its_own_stack),
        CASE(memory_is_limited),
        CASE(the_host_cannot_touch_device_memory),
        CASE(pointers_are_known),
        CASE(memory_in_a_streams_order),
        CASE(streams_are_held_and_stepped),
        CASE(records_are_no_steps),
        CASE(blocking_streams_and_the_legacy_one_wait_for_each_other),
        CASE(a_destroyed_stream_finishes_its_work),
        CASE(functions_on_the_host_may_not_call_the_driver),
        CASE(events_mark_positions),
        CASE(streams_wait_for_the_last_record),
    };
    return find_driver() || cmocka_run_group_tests(tests, NULL, NULL);
}
