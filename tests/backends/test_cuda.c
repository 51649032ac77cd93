/* The CUDA backend at work: memory, functions, events, the caller's streams; copies are in
 * test_cuda_copies.c, late failures in test_cuda_lost.c. What every backend must do is in
 * test_backend.c, what the engine makes of it in the rows of support/matrix.h and in cases_cuda.c. */
#include "../support/cuda_alone.h"
#include "../support/cuda_waits.h"
#include "../support/pitched.h"

/* ---- memory --------------------------------------------------------------------------------- */

static size_t driver_blocks(void) { return fake->statistics().blocks; }

TEST(small_blocks_share_a_slab) {
    void *some[100], *large, *largest;
    for (int i = 0; i < 100; i++) some[i] = take(1000);
    assert_int_equal(driver_blocks(), 1);
    assert_int_equal(fake->statistics().bytes, 32 * MI);
    large = take(4 * MI);
    assert_int_equal(driver_blocks(), 1);
    largest = take(4 * MI + 1);
    assert_int_equal(driver_blocks(), 2);
    give(largest, 4 * MI + 1);
    assert_int_equal(driver_blocks(), 1);
    for (int i = 0; i < 100; i++) give(some[i], 1000);
    give(large, 4 * MI);
    assert_int_equal(driver_blocks(), 1); /* kept */
}

TEST(one_free_slab_is_kept) {
    enum { COUNT = 20 };
    void *some[COUNT];
    for (int i = 0; i < COUNT; i++) some[i] = take(4 * MI);
    assert_int_equal(driver_blocks(), 3);
    for (int i = 0; i < COUNT; i++) give(some[i], 4 * MI);
    assert_int_equal(driver_blocks(), 1);
}

TEST(a_full_device) {
    void *some[9], *block = &block;
    for (int i = 0; i < 8; i++) some[i] = take(4 * MI);
    some[8] = take(3 * MI); /* no room for another slab: the exact size */
    assert_int_equal(driver_blocks(), 2);
    FAILS(HA_ERR_MEMORY, blocks->allocate(device, 4 * MI, &block));
    TELLS("cuda:0: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY: ");
    assert_int_equal(reported.code, HA_CU_OUT_OF_MEMORY);
    assert_ptr_equal(block, &block);
    for (int i = 0; i < 8; i++) give(some[i], 4 * MI);
    block = take(30 * MI); /* the free slab makes way */
    assert_int_equal(driver_blocks(), 2);
    give(block, 30 * MI);
    give(some[8], 3 * MI);
}

/* What has been taken by whomever is not unused. */
TEST(the_capacity_is_known) {
    uint64_t total, before, unused;
    SUCCEEDS(blocks->capacity(device, &total, &before));
    assert_true(total == 36 * MI && before <= total);
    void *block = take(8 * MI);
    SUCCEEDS(blocks->capacity(device, &total, &unused));
    assert_true(total == 36 * MI && unused <= before - 8 * MI);
    give(block, 8 * MI);
}

TEST(records_are_missing) {
    void *block = NULL;
    for (long n = 0; n < 2; n++) { /* then the driver is asked for the exact size */
        faulty_arm(n, 0);
        block = take(100);
        assert_int_equal(faulty_disarm(), 1);
        assert_int_equal(fake->statistics().bytes, 100);
        give(block, 100);
        assert_int_equal(driver_blocks(), 0);
    }
}

static void expect_kind(const void *pointer, ha_memory_kind expected) {
    ha_memory_kind kind = HA_MEMORY_HOST;
    assert_int_equal(blocks->knows(device, pointer, &kind), expected != HA_MEMORY_HOST);
    assert_int_equal(kind, expected);
}

TEST(pointers_are_known) {
    static char own[100];
    void *block = take(1000), *pinned = NULL;
    const ha_memory_kind kind = ((ha_cuda_device *)device)->settings.memory == HA_CUDA_MANAGED
                                    ? HA_MEMORY_MANAGED
                                    : HA_MEMORY_DEVICE;
    SUCCEEDS(ha_cuda_pinned_ops.allocate(device, 5000, &pinned));
    expect_kind(block, kind);
    expect_kind((char *)block + 999, kind);
    expect_kind(pinned, HA_MEMORY_PINNED);
    expect_kind(own, HA_MEMORY_HOST);
    expect_kind(NULL, HA_MEMORY_HOST);
    memset(pinned, 1, 5000);
    if (kind == HA_MEMORY_MANAGED) memset(block, 1, 1000);
    assert_int_equal(fake->statistics().pinned, 1);
    ha_cuda_pinned_ops.release(device, pinned, 5000);
    give(block, 1000);
}

TEST(another_device_knows_its_own) {
    void *other, *memory, *block = take(100);
    ha_memory_kind kind;
    SUCCEEDS(ha_cuda_open(1, &other, &memory));
    assert_false(blocks->knows(other, block, &kind));
    give(block, 100);
    ha_cuda_close(other);
}

/* It is there when it is handed out: queues know nothing of the stream that it came on. */
TEST(memory_from_the_pool) {
    begin_waiting_for(((ha_cuda_device *)device)->stream);
    void *block = take(5 * MI);
    end_waiting();
    SUCCEEDS(ops->fill(queue, block, "x", 1, 5 * MI));
    ops->drain(queue);
    assert_true(fake->calls("cuMemAllocAsync") > 0);
    assert_int_equal(fake->calls("cuMemAlloc_v2"), 0);
    give(block, 5 * MI);
}

TEST(no_pools) {
    void *memory;
    FAILS(HA_ERR_UNSUPPORTED, ha_cuda_open(0, &device, &memory));
    TELLS("memory=async: the device has no memory pools");
}

TEST(no_managed_memory) {
    void *memory;
    assert_int_equal(ha_cuda_count(), 2);
    fake->set_attribute(0, HA_CU_ATTRIBUTE_MANAGED_MEMORY, 0);
    FAILS(HA_ERR_UNSUPPORTED, ha_cuda_open(0, &device, &memory));
    TELLS("the device has no managed memory");
}

/* The driver would take any size, and move pages for ever. */
TEST(managed_blocks_fit_the_device) {
    void *block;
    FAILS(HA_ERR_MEMORY, blocks->allocate(device, 65 * MI, &block));
    SUCCEEDS(blocks->allocate(device, 64 * MI, &block));
    blocks->release(device, block, 64 * MI);
}

/* ---- paths ---------------------------------------------------------------------------------- */

TEST(peers_reach_each_other) {
    void *other, *memory, *here, *there = NULL;
    char text[100] = "from one to the other", back[100] = "";
    SUCCEEDS(ha_cuda_open(1, &other, &memory));
    const ha_place host = {&ha_backend_host, NULL}, second = {&ha_backend_cuda, other};
    assert_true(blocks->reaches(device, &host));
    assert_true(blocks->reaches(device, &second));
    assert_true(blocks->cost(device, &second) > 0);
    assert_true(blocks->cost(device, &second) < blocks->cost(device, &host));
    here = take(100);
    SUCCEEDS(blocks->allocate(other, 100, &there));
    SUCCEEDS(ops->copy(queue, here, text, sizeof text));
    SUCCEEDS(ops->copy(queue, there, here, sizeof text));
    SUCCEEDS(ops->copy(queue, here, there, sizeof text));
    SUCCEEDS(ops->copy(queue, back, here, sizeof text));
    ops->drain(queue);
    assert_string_equal(back, text);
    assert_int_equal(fake->statistics().staged_copies, 0);
    assert_int_equal(fake->statistics().peer_copies, 2);
    const ha_strided_copy small = PITCHED(4, 6, 1, 16, 96, 16, 96); /* not for a kernel */
    SUCCEEDS(copy_pitched(ops, queue, here, there, &small));
    assert_int_equal(fake->calls("cuLaunchKernel"), 0);
    SUCCEEDS(copy_pitched(ops, queue, here, (char *)here + 8, &small));
    assert_int_equal(fake->calls("cuLaunchKernel"), 1);
    ops->drain(queue);
    blocks->release(other, there, 100);
    ha_cuda_close(other); /* and opened again: */
    SUCCEEDS(ha_cuda_open(1, &other, &memory));
    assert_true(blocks->reaches(device, &(ha_place){&ha_backend_cuda, other}));
    SUCCEEDS(blocks->allocate(other, 100, &there));
    SUCCEEDS(ops->copy(queue, there, here, sizeof text));
    ops->drain(queue);
    assert_int_equal(fake->statistics().staged_copies, 0);
    blocks->release(other, there, 100);
    give(here, 100);
    ha_cuda_close(other);
    SUCCEEDS(ha_cuda_open(1, &other, &memory)); /* again, with a new context */
    assert_true(blocks->reaches(other, &(ha_place){&ha_backend_cuda, device}));
    ha_cuda_close(other);
}

TEST(no_peers) {
    void *other, *memory;
    SUCCEEDS(ha_cuda_open(1, &other, &memory));
    assert_false(blocks->reaches(device, &(ha_place){&ha_backend_cuda, other}));
    assert_false(blocks->reaches(other, &(ha_place){&ha_backend_cuda, device}));
    ha_cuda_close(other);
}

TEST(zero_copy) {
    static char pageable[100];
    void *pinned, *combined;
    int pushed;
    assert_int_equal(ha_cuda_zero_copy(device), 1);
    ha_cuda_enter_quietly((ha_cuda_device *)device, &pushed);
    assert_int_equal(ha_cu.MemHostAlloc(&combined, 100, HA_CU_HOST_WRITE_COMBINED), HA_CU_SUCCESS);
    expect_kind(combined, HA_MEMORY_PINNED);
    assert_false(ha_cuda_maps(device, combined)); /* kernels find it elsewhere */
    assert_int_equal(ha_cu.MemFreeHost(combined), HA_CU_SUCCESS);
    ha_cuda_leave(pushed);
    SUCCEEDS(ha_cuda_pinned_ops.allocate(device, 100, &pinned));
    assert_true(ha_cuda_maps(device, pinned));
    assert_false(ha_cuda_maps(device, pageable));
    ((ha_cuda_device *)device)->pageable = 1;
    assert_true(ha_cuda_maps(device, pageable));
    ((ha_cuda_device *)device)->maps_host = 0;
    assert_int_equal(ha_cuda_zero_copy(device), 0);
    ha_cuda_pinned_ops.release(device, pinned, 100);
}

TEST(zero_copy_is_best_on_one_chip) { assert_int_equal(ha_cuda_zero_copy(device), 2); }

/* ---- functions and stamps ------------------------------------------------------------------- */

static void add_one(HA_UNUSED const ha_queue *here, void *argument) { (**(int **)argument)++; }

TEST(functions_cannot_reach_device_memory) {
    int count = 0, *where = &count;
    FAILS(HA_ERR_UNSUPPORTED, ops->call(queue, add_one, &where, sizeof where));
    TELLS("memory=managed");
}

TEST(functions_need_concurrent_access) {
    int count = 0, *where = &count;
    ((ha_cuda_device *)device)->concurrent = 0;
    FAILS(HA_ERR_UNSUPPORTED, ops->call(queue, add_one, &where, sizeof where));
}

TEST(functions_fail) {
    int count = 0, *where = &count;
    fake->fail_call("cuLaunchHostFunc", 1, HA_CU_OUT_OF_MEMORY, 0);
    FAILS(HA_ERR_MEMORY, ops->call(queue, add_one, &where, sizeof where));
    faulty_arm(0, 0);
    FAILS(HA_ERR_MEMORY, ops->call(queue, add_one, &where, sizeof where));
    faulty_disarm();
    FAILS(HA_ERR_MEMORY, ops->call(queue, add_one, &where, SIZE_MAX - 8));
    SUCCEEDS(ops->call(queue, add_one, &where, sizeof where));
    ops->drain(queue);
    assert_int_equal(count, 1);
}

TEST(stamps) {
    uint64_t first = 0, second = 0;
    SUCCEEDS(ops->stamp(queue, &first));
    SUCCEEDS(ops->stamp(queue, &second));
    ops->drain(queue);
    assert_true(first > 0 && second >= first);
}

/* ---- events --------------------------------------------------------------------------------- */

TEST(events_are_used_again) {
    ha_event a, b;
    SUCCEEDS(ops->record(queue, &a));
    SUCCEEDS(ops->record(queue, &b));
    assert_ptr_not_equal(a.object, b.object);
    ops->forget(&a);
    ops->forget(&b);
    for (int i = 0; i < 100; i++) {
        SUCCEEDS(ops->record(queue, &a));
        SUCCEEDS(ops->finish(&a));
        assert_int_equal(ops->done(&a), 1);
        ops->forget(&a);
    }
    assert_int_equal(fake->statistics().events, 2);
}

TEST(events_are_waited_for) {
    uint64_t ns = 0;
    ha_event event;
    begin_waiting_for(stream_of(queue));
    SUCCEEDS(ops->stamp(queue, &ns));
    SUCCEEDS(ops->record(queue, &event));
    SUCCEEDS(ops->finish(&event));
    end_waiting();
    assert_true(ns > 0);
    ops->forget(&event);
}

/* The wait is for what the event was when it was told to wait. */
TEST(events_happen_in_order) {
    uint64_t first = 0, second = 0;
    ha_event a, b, c;
    void *queue2, *queue3;
    SUCCEEDS(ops->create(device, &queue2));
    SUCCEEDS(ops->create(device, &queue3));
    fake->hold(stream_of(queue));
    SUCCEEDS(ops->stamp(queue, &first));
    SUCCEEDS(ops->record(queue, &a));
    SUCCEEDS(ops->await(queue2, &a));
    assert_int_equal(ops->done(&a), 0);
    void *object = a.object;
    ops->forget(&a);
    SUCCEEDS(ops->record(queue3, &c)); /* the same one, again */
    assert_ptr_equal(c.object, object);
    SUCCEEDS(ops->finish(&c));
    SUCCEEDS(ops->stamp(queue2, &second));
    SUCCEEDS(ops->record(queue2, &b));
    assert_int_equal(ops->done(&b), 0);
    assert_int_equal(ops->done(&c), 1);
    fake->step(stream_of(queue), -1);
    SUCCEEDS(ops->finish(&b));
    assert_int_equal(ops->done(&b), 1);
    assert_true(first > 0 && second >= first);
    ops->forget(&b);
    ops->forget(&c);
    ops->drain(queue2);
    ops->destroy(queue2);
    ops->drain(queue3);
    ops->destroy(queue3);
}

TEST(events_fail) {
    ha_event a;
    for (uint64_t n = 1; n < 6; n++) { /* of the context, to make an event, to record it */
        fake->fail_call(NULL, n, HA_CU_INVALID_VALUE, 0);
        FAILS(HA_ERR_BACKEND, ops->record(queue, &a));
        fake->fail_never();
    }
    faulty_arm(0, 0);
    SUCCEEDS(ops->record(queue, &a)); /* what failed has left an event in the pool */
    faulty_disarm();
    fake->fail_call("cuEventSynchronize", 1, HA_CU_INVALID_VALUE, 0);
    FAILS(HA_ERR_BACKEND, ops->finish(&a));
    fake->fail_call("cuStreamWaitEvent", 1, HA_CU_INVALID_VALUE, 0);
    FAILS(HA_ERR_BACKEND, ops->await(queue, &a));
    SUCCEEDS(ops->finish(&a));
    fake->fail_call("cuEventQuery", 1, HA_CU_INVALID_VALUE, 0);
    assert_int_equal(ops->done(&a), 0);
    assert_int_equal(ops->done(&a), 1);
    ops->forget(&a);
}

/* ---- the caller's context, streams and events ----------------------------------------------- */

static ha_cu_context current(void) {
    ha_cu_context c = NULL;
    assert_int_equal(ha_cu.CtxGetCurrent(&c), HA_CU_SUCCESS);
    return c;
}

/* None, another one, or the device's own. */
TEST(the_current_context_stays) {
    ha_cu_context own = ((ha_cuda_device *)device)->context, other, popped;
    assert_int_equal(ha_cu.DevicePrimaryCtxRetain(&other, 1), HA_CU_SUCCESS);
    ha_cu_context const contexts[] = {NULL, own, other};
    for (int i = 0; i < 3; i++) {
        ha_cu_context c = contexts[i];
        static char bytes[100 * KI];
        ha_event event;
        if (c) assert_int_equal(ha_cu.CtxPushCurrent(c), HA_CU_SUCCESS);
        const uint64_t pushes = fake->calls("cuCtxPushCurrent_v2");
        void *block = take(sizeof bytes);
        SUCCEEDS(ops->copy(queue, block, bytes, sizeof bytes));
        SUCCEEDS(ops->fill(queue, block, "x", 1, 10));
        SUCCEEDS(ops->record(queue, &event));
        SUCCEEDS(ops->await(queue, &event));
        SUCCEEDS(ops->finish(&event));
        ops->forget(&event);
        ops->drain(queue);
        give(block, sizeof bytes);
        assert_ptr_equal(current(), c);
        assert_int_equal(fake->calls("cuCtxPushCurrent_v2") > pushes, c != own);
        if (c) assert_int_equal(ha_cu.CtxPopCurrent(&popped), HA_CU_SUCCESS);
    }
    assert_int_equal(ha_cu.DevicePrimaryCtxRelease(1), HA_CU_SUCCESS);
}

/* Graphs: whatever is done here, another thread can capture a stream meanwhile. */
TEST(captures_of_other_threads_stay) {
    static char bytes[100 * KI];
    const ha_strided_copy column = PITCHED(8, 100, 1, KI, 100 * KI, KI, 100 * KI);
    ha_cu_capture_mode mode = (ha_cu_capture_mode)0;
    ha_event event;
    void *queue2, *pinned;
    fake->capture(1);
    assert_int_equal(ha_cu.StreamQuery(stream_of(queue)), HA_CU_INVALID_CONTEXT);
    void *block = take(sizeof bytes), *large = take(20 * MI);
    SUCCEEDS(ha_cuda_pinned_ops.allocate(device, 20 * MI, &pinned));
    SUCCEEDS(ops->create(device, &queue2));
    SUCCEEDS(ops->copy(queue, block, bytes, 10));
    SUCCEEDS(ops->copy(queue, block, bytes, sizeof bytes));
    SUCCEEDS(ops->copy(queue, bytes, block, sizeof bytes));
    SUCCEEDS(copy_pitched(ops, queue, block, bytes, &column));
    SUCCEEDS(copy_pitched(ops, queue, bytes, block, &column));
    SUCCEEDS(ops->record(queue, &event));
    SUCCEEDS(ops->await(queue2, &event));
    (void)ops->done(&event);
    SUCCEEDS(ops->finish(&event));
    assert_int_equal(ops->done(&event), 1);
    ops->forget(&event);
    ops->drain(queue);
    ops->drain(queue2);
    ops->destroy(queue2);
    give(large, 20 * MI);
    give(block, sizeof bytes);
    ha_cuda_pinned_ops.release(device, pinned, 20 * MI);
    assert_true(fake->capture(0));
    assert_int_equal(ha_cu.ThreadExchangeStreamCaptureMode(&mode), HA_CU_SUCCESS);
    assert_int_equal(mode, 0); /* the thread's own is as it was */
}

/* The device's context is current until it is ended. */
static ha_cu_stream new_stream(int number) {
    ha_cu_context c;
    ha_cu_stream made;
    assert_int_equal(ha_cu.DevicePrimaryCtxRetain(&c, number), HA_CU_SUCCESS);
    assert_int_equal(ha_cu.CtxPushCurrent(c), HA_CU_SUCCESS);
    assert_int_equal(ha_cu.StreamCreate(&made, 0), HA_CU_SUCCESS);
    return made;
}

static void end_stream(ha_cu_stream made, int number) {
    ha_cu_context popped;
    assert_int_equal(ha_cu.StreamDestroy(made), HA_CU_SUCCESS);
    assert_int_equal(ha_cu.CtxPopCurrent(&popped), HA_CU_SUCCESS);
    assert_int_equal(ha_cu.DevicePrimaryCtxRelease(number), HA_CU_SUCCESS);
}

static void use_adopted(void *native) {
    enum { BYTES = 5 << 20 };
    static unsigned char bytes[BYTES], back[BYTES];
    void *block = take(BYTES), *adopted = NULL;
    ha_event event;
    number(bytes, BYTES, 3);
    memset(back, 0, BYTES);
    SUCCEEDS(ops->adopt(device, native, &adopted));
    assert_ptr_equal(ops->native(adopted), native ? native : (void *)HA_CU_STREAM_LEGACY_);
    SUCCEEDS(ops->copy(adopted, block, bytes, BYTES));
    SUCCEEDS(ops->record(adopted, &event));
    SUCCEEDS(ops->await(queue, &event));
    ops->forget(&event);
    SUCCEEDS(ops->copy(queue, back, block, BYTES));
    ops->drain(queue);
    ops->drain(adopted);
    ops->destroy(adopted);
    assert_memory_equal(back, bytes, BYTES);
    give(block, BYTES);
}

TEST(adopted_streams) {
    ha_cu_stream own = new_stream(0);
    use_adopted(own);
    use_adopted(own);
    use_adopted(NULL);
    use_adopted((void *)HA_CU_STREAM_LEGACY_);
    end_stream(own, 0);
}

TEST(streams_that_cannot_be_adopted) {
    ha_cu_stream other = new_stream(1);
    void *adopted = &adopted;
    FAILS(HA_ERR_ARGUMENT, ops->adopt(device, other, &adopted));
    TELLS("of another device");
    FAILS(HA_ERR_ARGUMENT, ops->adopt(device, (void *)HA_CU_STREAM_PER_THREAD_, &adopted));
    TELLS("per-thread");
    fake->fail_call("cuStreamGetCtx", 1, HA_CU_INVALID_HANDLE, 0);
    FAILS(HA_ERR_ARGUMENT, ops->adopt(device, stream_of(queue), &adopted));
    TELLS("CUDA_ERROR_INVALID_HANDLE");
    faulty_arm(0, 0);
    FAILS(HA_ERR_MEMORY, ops->adopt(device, NULL, &adopted));
    faulty_disarm();
    assert_ptr_equal(adopted, &adopted);
    end_stream(other, 1);
}

TEST(adopted_events) {
    ha_cu_event own;
    ha_cu_context popped;
    ha_event event;
    assert_int_equal(ha_cu.CtxPushCurrent(((ha_cuda_device *)device)->context), HA_CU_SUCCESS);
    assert_int_equal(ha_cu.EventCreate(&own, 0), HA_CU_SUCCESS);
    assert_int_equal(ha_cu.EventRecord(own, stream_of(queue)), HA_CU_SUCCESS);
    SUCCEEDS(ops->adopt_event(queue, own, &event));
    SUCCEEDS(ops->await(queue, &event));
    ops->forget(&event);
    FAILS(HA_ERR_ARGUMENT, ops->adopt_event(queue, NULL, &event));
    faulty_arm(0, 0);
    FAILS(HA_ERR_MEMORY, ops->adopt_event(queue, own, &event));
    faulty_disarm();
    SUCCEEDS(ops->record(queue, &event)); /* it is not among harray's own */
    assert_ptr_not_equal(((ha_cuda_event *)event.object)->handle, own);
    SUCCEEDS(ops->finish(&event));
    ops->forget(&event);
    assert_int_equal(ha_cu.EventDestroy(own), HA_CU_SUCCESS);
    assert_int_equal(ha_cu.CtxPopCurrent(&popped), HA_CU_SUCCESS);
}

/* ---- all of it ------------------------------------------------------------------------------ */

int main(void) {
    const struct CMUnitTest tests[] = {
        ON("", small_blocks_share_a_slab),
        ON("", one_free_slab_is_kept),
        ON("capacity=36M", a_full_device),
        ON("capacity=36M", the_capacity_is_known),
        ON("async capacity=36M", the_capacity_is_known),
        ON("", records_are_missing),
        ON("", pointers_are_known),
        ON("managed", pointers_are_known),
        ON("async", pointers_are_known),
        ON("", another_device_knows_its_own),
        ON("async", memory_from_the_pool),
        CLOSED("async pools=0", no_pools),
        CLOSED("managed", no_managed_memory),
        ON("managed capacity=64M", managed_blocks_fit_the_device),
        ON("", peers_reach_each_other),
        ON("peers=0", no_peers),
        ON("async", no_peers),
        ON("", zero_copy),
        ON("integrated=1", zero_copy_is_best_on_one_chip),
        ON("", functions_cannot_reach_device_memory),
        ON("managed", functions_need_concurrent_access),
        ON("managed", functions_fail),
        ON("", stamps),
        ON("", events_are_used_again),
        ON("", events_are_waited_for),
        ON("", events_happen_in_order),
        ON("", events_fail),
        ON("", the_current_context_stays),
        ON("", captures_of_other_threads_stay),
        ON("", adopted_streams),
        ON("delay=50us", adopted_streams),
        ON("", streams_that_cannot_be_adopted),
        ON("", adopted_events),
    };
    return find_fake() ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}
