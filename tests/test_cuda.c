/* The CUDA backend at work: memory, functions, events, the caller's streams, late failures; copies are
 * in test_cuda_copies.c. What every backend must do is in test_backend.c, what the engine
 * makes of it in the rows of matrix.h and in cases_cuda.c. */
#include "faulty_backend.h"

#include <sched.h>

static int watched_yield(void);
#define sched_yield() watched_yield()

#include "cuda_alone.h"

#undef sched_yield

#include "quiet.h"

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
    void *block = take(5 * MI);
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
    const ha_pieces column = {8, 100, 1, KI, 100 * KI, KI, 100 * KI};
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
    SUCCEEDS(ops->copy3d(queue, block, bytes, &column));
    SUCCEEDS(ops->copy3d(queue, bytes, block, &column));
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
    assert_ptr_equal(ops->native(adopted), native ? native : (void *)HA_CU_STREAM_LEGACY);
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
    use_adopted((void *)HA_CU_STREAM_LEGACY);
    end_stream(own, 0);
}

TEST(streams_that_cannot_be_adopted) {
    ha_cu_stream other = new_stream(1);
    void *adopted = &adopted;
    FAILS(HA_ERR_ARGUMENT, ops->adopt(device, other, &adopted));
    TELLS("of another device");
    FAILS(HA_ERR_ARGUMENT, ops->adopt(device, (void *)HA_CU_STREAM_PER_THREAD, &adopted));
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

/* ---- late failures -------------------------------------------------------------------------- */

static void expect_lost(void *q) {
    ha_event event;
    void *more = NULL;
    uint64_t ns = 0;
    char byte = 0;
    FAILS(HA_ERR_LOST, ops->record(q, &event));
    TELLS("CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_int_equal(reported.code, HA_CU_ILLEGAL_ADDRESS);
    FAILS(HA_ERR_LOST, ops->stamp(q, &ns));
    FAILS(HA_ERR_LOST, ops->copy(q, &byte, &byte, 1));
    FAILS(HA_ERR_LOST, ops->fill(q, &byte, &byte, 1, 1));
    FAILS(HA_ERR_BACKEND, ops->create(((ha_cuda_queue *)q)->device, &more));
    FAILS(HA_ERR_BACKEND, ops->adopt(((ha_cuda_queue *)q)->device, NULL, &more));
    ops->drain(q);
}

TEST(a_device_fails) {
    char bytes[] = "what was there", late[] = "what comes late";
    void *block = take(sizeof late), *queue2;
    ha_event before, after;
    SUCCEEDS(ops->create(device, &queue2));
    SUCCEEDS(ops->record(queue, &before));
    fake->hold(stream_of(queue));
    SUCCEEDS(ops->copy(queue, block, late, sizeof late));
    SUCCEEDS(ops->copy(queue, bytes, block, sizeof bytes));
    SUCCEEDS(ops->record(queue, &after));
    fake->fail_stream(stream_of(queue));
    assert_int_equal(ops->done(&after), -1);
    FAILS(HA_ERR_LOST, ops->finish(&after));
    expect_lost(queue);
    expect_lost(queue2);
    FAILS(HA_ERR_LOST, ops->await(queue2, &after));
    assert_string_equal(bytes, "what was there");
    ops->forget(&before);
    ops->forget(&after);
    give(block, sizeof late);
    FAILS(HA_ERR_BACKEND, blocks->allocate(device, 5 * MI, &block));
    ops->destroy(queue2);
}

/* The device fails; a function that runs is waited for, none begins after that. */
static struct { atomic_int begun, may_end, ended, later; } gate;

static void wait_at_gate(HA_UNUSED const ha_queue *here, HA_UNUSED void *argument) {
    atomic_store(&gate.begun, 1);
    await_flag(&gate.may_end);
    atomic_store(&gate.ended, 1);
}

static void come_later(HA_UNUSED const ha_queue *here, HA_UNUSED void *argument) {
    atomic_store(&gate.later, 1);
}

static void *open_gate(HA_UNUSED void *argument) {
    until_quiet(); /* who drains waits */
    raise_flag(&gate.may_end);
    return NULL;
}

TEST(functions_when_a_device_fails) {
    pthread_t thread;
    memset(&gate, 0, sizeof gate);
    SUCCEEDS(ops->call(queue, wait_at_gate, NULL, 0));
    for (int i = 0; i < 10; i++) SUCCEEDS(ops->call(queue, come_later, "later", 6));
    while (!atomic_load(&gate.begun)) sched_yield();
    fake->fail_stream(stream_of(queue));
    assert_int_equal(pthread_create(&thread, NULL, open_gate, NULL), 0);
    ops->drain(queue);
    assert_true(atomic_load(&gate.ended));
    pthread_join(thread, NULL);
    assert_false(atomic_load(&gate.later));
}

/* Even if the driver began it: it may have decided that just before. */
TEST(functions_after_draining) {
    memset(&gate, 0, sizeof gate);
    fake->hold(stream_of(queue));
    SUCCEEDS(ops->call(queue, come_later, NULL, 0));
    ha_cuda_tasks_close(&((ha_cuda_queue *)queue)->tasks);
    fake->step(stream_of(queue), -1);
    ops->drain(queue);
    assert_false(atomic_load(&gate.later));
}

/* Whatever it is that ended it. */
TEST(errors_that_are_final) {
    static const int codes[] = {HA_CU_ECC_UNCORRECTABLE,
                                HA_CU_NVLINK_UNCORRECTABLE,
                                HA_CU_CONTAINED,
                                HA_CU_LAUNCH_TIMEOUT,
                                HA_CU_ASSERT,
                                HA_CU_HARDWARE_STACK_ERROR,
                                HA_CU_LAUNCH_FAILED,
                                HA_CU_TENSOR_MEMORY_LEAK,
                                HA_CU_MPS_CLIENT_TERMINATED,
                                HA_CU_EXTERNAL_DEVICE};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        void *q, *memory;
        ha_event event;
        if (device == NULL) SUCCEEDS(ha_cuda_open(0, &device, &memory));
        SUCCEEDS(ops->create(device, &q));
        SUCCEEDS(ops->record(q, &event));
        fake->fail_call(NULL, 1, codes[i], 1);
        assert_true(ops->done(&event) <= 0);
        FAILS(HA_ERR_LOST, ops->finish(&event));
        ops->drain(q);
        FAILS(HA_ERR_LOST, ops->record(q, &event));
        fake->fail_never();
        ops->forget(&event);
        ops->destroy(q);
        ha_cuda_close(device);
        device = NULL;
    }
}

/* What is ordered behind a failed device's work is not lost for that. */
TEST(other_devices_stay) {
    void *other, *memory, *there, *block = take(100), *far = NULL;
    char byte = 'b', back = 0;
    ha_event event, own;
    SUCCEEDS(ha_cuda_open(1, &other, &memory));
    SUCCEEDS(ops->create(other, &there));
    assert_true(blocks->reaches(other, &(ha_place){&ha_backend_cuda, device}));
    SUCCEEDS(blocks->allocate(other, 100, &far));
    SUCCEEDS(ops->record(queue, &event));
    fake->fail_stream(stream_of(queue));
    FAILS(HA_ERR_BACKEND, ops->await(there, &event)); /* nobody knows yet */
    FAILS(HA_ERR_BACKEND, ops->copy(there, far, block, 1));
    assert_int_equal(ops->done(&event), -1);
    FAILS(HA_ERR_BACKEND, ops->await(there, &event));
    SUCCEEDS(ops->copy(there, far, &byte, 1));
    SUCCEEDS(ops->copy(there, &back, far, 1));
    SUCCEEDS(ops->record(there, &own));
    SUCCEEDS(ops->finish(&own));
    assert_int_equal(back, byte);
    ops->forget(&event);
    ops->forget(&own);
    blocks->release(other, far, 100);
    ops->drain(there);
    ops->destroy(there);
    ha_cuda_close(other);
    give(block, 100);
}

/* A stream that waits for a device that fails may just go on, with whatever is there: then its queue is
 * lost, and who waits for that, too. One that has waited before is not. */
TEST(waiting_for_a_device_that_fails) {
    void *other, *memory, *there, *queue2, *queue3;
    uint64_t ns = 0;
    ha_event event, before, behind, further;
    SUCCEEDS(ha_cuda_open(1, &other, &memory));
    SUCCEEDS(ops->create(other, &there));
    SUCCEEDS(ops->create(device, &queue2));
    SUCCEEDS(ops->create(device, &queue3));
    SUCCEEDS(ops->record(there, &event));
    SUCCEEDS(ops->await(queue3, &event));
    SUCCEEDS(ops->record(queue3, &before));
    SUCCEEDS(ops->finish(&before));
    ops->forget(&event);
    fake->hold(stream_of(there));
    SUCCEEDS(ops->stamp(there, &ns));
    SUCCEEDS(ops->record(there, &event));
    fake->fail_call("cuStreamWaitEvent", 1, HA_CU_INVALID_VALUE, 0);
    FAILS(HA_ERR_BACKEND, ops->await(queue3, &event)); /* it does not wait */
    SUCCEEDS(ops->await(queue, &event));
    SUCCEEDS(ops->record(queue, &behind));
    SUCCEEDS(ops->await(queue2, &behind));
    SUCCEEDS(ops->record(queue2, &further));
    assert_int_equal(ops->done(&behind), 0);
    fake->fail_stream(stream_of(there));
    FAILS(HA_ERR_LOST, ops->finish(&behind));
    TELLS("another device has failed");
    FAILS(HA_ERR_LOST, ops->stamp(queue, &ns));
    ops->drain(queue2);
    assert_int_equal(ops->done(&further), -1);
    FAILS(HA_ERR_LOST, ops->stamp(queue2, &ns));
    assert_int_equal(ops->done(&before), 1);
    SUCCEEDS(ops->stamp(queue3, &ns));
    ops->drain(queue3);
    ops->forget(&event);
    ops->forget(&before);
    ops->forget(&behind);
    ops->forget(&further);
    void *queues[] = {there, queue2, queue3};
    for (size_t i = 0; i < 3; i++) ops->drain(queues[i]);
    for (size_t i = 0; i < 3; i++) ops->destroy(queues[i]);
    ha_cuda_close(other);
}

/* Closed and opened again, it works. */
TEST(a_failed_device_can_be_opened_again) {
    char byte = 'b', back = 0;
    fake->fail_stream(stream_of(queue));
    expect_lost(queue);
    ops->destroy(queue);
    ha_cuda_close(device);
    open_devices();
    void *block = take(1);
    SUCCEEDS(ops->copy(queue, block, &byte, 1));
    SUCCEEDS(ops->copy(queue, &back, block, 1));
    ops->drain(queue);
    assert_int_equal(back, byte);
    give(block, 1);
}

/* One call that the driver refuses says nothing about the device. */
TEST(draining_fails) {
    uint64_t ns = 0;
    SUCCEEDS(ops->stamp(queue, &ns));
    fake->fail_call("cuStreamSynchronize", 1, HA_CU_INVALID_VALUE, 0);
    ops->drain(queue);
    assert_true(ns > 0);
    fake->fail_call("cuStreamSynchronize", 1, HA_CU_INVALID_VALUE, 1);
    ops->drain(queue);
    fake->fail_never();
    FAILS(HA_ERR_LOST, ops->stamp(queue, &ns));
    TELLS("could not be drained");
}

static void wait_for_gate(void *argument) {
    while (!atomic_load((atomic_int *)argument)) sched_yield();
}

/* What the driver runs when the queue has gone finds its record, and does nothing. */
TEST(a_queue_ends_that_was_not_drained) {
    atomic_int opened = 0;
    uint64_t ns = 0;
    assert_int_equal(ha_cu.CtxPushCurrent(((ha_cuda_device *)device)->context), HA_CU_SUCCESS);
    assert_int_equal(ha_cu.LaunchHostFunc(stream_of(queue), wait_for_gate, &opened), HA_CU_SUCCESS);
    assert_int_equal(ha_cu.CtxPopCurrent(&(ha_cu_context){NULL}), HA_CU_SUCCESS);
    SUCCEEDS(ops->stamp(queue, &ns));
    fake->fail_call("cuStreamSynchronize", 1, HA_CU_INVALID_VALUE, 1);
    ops->drain(queue);
    ops->destroy(queue);
    fake->fail_never();
    assert_ptr_equal(ha_cuda_kept, queue);
    atomic_store(&opened, 1);
    ha_cuda_close(device); /* all of it has happened */
    assert_int_equal(ns, 0);
    assert_null(ha_cuda_kept->tasks.first);
    ha_cuda_kept = NULL;
    ha_cuda_queue_free((ha_cuda_queue *)queue);
    device = queue = NULL;
}

/* ---- who enqueues while the queue is lost --------------------------------------------------- */

static ha_cuda_driver driver; /* without what is in its place */

/* A thread that fills: it stays inside until somebody waits for it, or the test has it go. */
static struct {
    pthread_t thread;
    void *block;
    ha_status status;
    atomic_int begun, may_go, enqueued;
    int waits, early; /* of draining: turns; it looked what runs before that was enqueued */
    int alone;        /* nobody is to be waited for */
    int counted;
} late;

static int watched_yield(void) {
    if (late.alone) {
        fprintf(stderr, "FAILED: draining waits for its own thread\n");
        abort();
    }
    late.waits++;
    atomic_store(&late.may_go, 1);
    return sched_yield();
}

static ha_cu_result late_fill(ha_cu_pointer to, unsigned char value, size_t count,
                              ha_cu_stream stream) {
    atomic_store(&late.begun, 1);
    while (!atomic_load(&late.may_go)) sched_yield();
    const ha_cu_result code = driver.MemsetD8Async(to, value, count, stream);
    atomic_store(&late.enqueued, 1);
    return code;
}

static ha_cu_result watched_synchronize(ha_cu_stream stream) {
    late.early |= !atomic_load(&late.enqueued);
    return driver.StreamSynchronize(stream);
}

static void *fill_late(HA_UNUSED void *argument) {
    late.status = ops->fill(queue, late.block, "x", 1, 100);
    return NULL;
}

static void begin_late(void) {
    memset(&late, 0, sizeof late);
    driver = ha_cu;
}

static void begin_to_fill(void) {
    begin_late();
    late.block = take(100);
    ha_cu.MemsetD8Async = late_fill;
    assert_int_equal(pthread_create(&late.thread, NULL, fill_late, NULL), 0);
    while (!atomic_load(&late.begun)) sched_yield();
}

/* The queue is lost. */
static void expect_draining_to_wait(void) {
    ha_cu.StreamSynchronize = watched_synchronize;
    ops->drain(queue);
    atomic_store(&late.may_go, 1);
    pthread_join(late.thread, NULL);
    ha_cu = driver;
    assert_true(late.waits > 0);
    assert_false(late.early);
    SUCCEEDS(late.status);
    FAILS(HA_ERR_LOST, ops->fill(queue, late.block, "x", 1, 100));
    give(late.block, 100);
}

/* Its device works: what was enqueued still writes. */
TEST(enqueueing_while_another_device_fails) {
    void *other, *memory, *there;
    uint64_t ns = 0;
    ha_event event, behind;
    SUCCEEDS(ha_cuda_open(1, &other, &memory));
    SUCCEEDS(ops->create(other, &there));
    fake->hold(stream_of(there));
    SUCCEEDS(ops->stamp(there, &ns));
    SUCCEEDS(ops->record(there, &event));
    SUCCEEDS(ops->await(queue, &event));
    SUCCEEDS(ops->record(queue, &behind));
    begin_to_fill();
    fake->fail_stream(stream_of(there));
    FAILS(HA_ERR_LOST, ops->finish(&behind));
    expect_draining_to_wait();
    ops->forget(&event);
    ops->forget(&behind);
    ops->drain(there);
    ops->destroy(there);
    ha_cuda_close(other);
}

/* Draining a queue that is not lost yet waits for nobody. */
TEST(enqueueing_while_draining_fails) {
    begin_to_fill();
    fake->fail_call("cuStreamSynchronize", 1, HA_CU_INVALID_VALUE, 1);
    ops->drain(queue);
    fake->fail_never();
    const int waits = late.waits;
    expect_draining_to_wait();
    assert_int_equal(waits, 0);
}

static ha_cu_result lose_the_queue(HA_UNUSED ha_cu_pointer to, HA_UNUSED const void *from,
                                   HA_UNUSED size_t bytes, HA_UNUSED ha_cu_stream stream) {
    atomic_store(&((ha_cuda_queue *)queue)->foreign.lost, 1);
    return HA_CU_INVALID_VALUE;
}

/* A copy that has failed drains what it has enqueued, and is inside itself. */
TEST(a_copy_fails_while_its_queue_is_lost) {
    enum { BYTES = 100 << 10 };
    static char bytes[BYTES];
    void *block = take(BYTES);
    begin_late();
    late.alone = 1;
    ha_cu.MemcpyHtoDAsync = lose_the_queue;
    FAILS(HA_ERR_BACKEND, ops->copy(queue, block, bytes, BYTES));
    ha_cu = driver;
    ops->drain(queue);
    give(block, BYTES);
}

/* The look tells what it finds. */
static ha_cu_result tell_while_looking(ha_cu_result code, const char **text) {
    late.counted += inside(queue);
    return driver.GetErrorName(code, text);
}

/* Else the queue could be lost and drained between looking and being counted. */
TEST(who_looks_is_counted) {
    uint64_t ns = 0;
    ha_event event;
    SUCCEEDS(ops->record(queue, &event));
    begin_late();
    ha_cu.GetErrorName = tell_while_looking;
    atomic_store(&((ha_cuda_device *)device)->lost, HA_CU_ILLEGAL_ADDRESS);
    FAILS(HA_ERR_LOST, ops->stamp(queue, &ns));
    FAILS(HA_ERR_LOST, ops->await(queue, &event));
    atomic_store(&((ha_cuda_device *)device)->lost, 0);
    ha_cu = driver;
    assert_int_equal(late.counted, 2);
    assert_int_equal(inside(queue), 0);
    ops->forget(&event);
}

/* At the end of a process the driver may have gone. */
TEST(the_driver_has_gone) {
    void *block = take(100), *large = take(20 * MI);
    char bytes[100] = "";
    ha_event event;
    SUCCEEDS(ops->copy(queue, block, bytes, sizeof bytes));
    SUCCEEDS(ops->record(queue, &event));
    fake->deinitialize();
    FAILS(HA_ERR_LOST, ops->finish(&event));
    FAILS(HA_ERR_LOST, ops->copy(queue, block, bytes, sizeof bytes));
    TELLS("CUDA error 4");
    ops->forget(&event);
    give(large, 20 * MI);
    give(block, 100);
    ops->drain(queue);
    ops->destroy(queue);
    ha_cuda_close(device);
    device = queue = NULL;
    assert_int_equal(faulty_records(), 0);
    fake->reset();
}

/* ---- all of it ------------------------------------------------------------------------------ */

int main(void) {
    const struct CMUnitTest tests[] = {
        ON("", small_blocks_share_a_slab),
        ON("", one_free_slab_is_kept),
        ON("capacity=36M", a_full_device),
        ON("", records_are_missing),
        ON("", pointers_are_known),
        ON("managed", pointers_are_known),
        ON("async", pointers_are_known),
        ON("", another_device_knows_its_own),
        ON("async delay=300us", memory_from_the_pool),
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
        ON("", events_happen_in_order),
        ON("", events_fail),
        ON("", the_current_context_stays),
        ON("", captures_of_other_threads_stay),
        ON("", adopted_streams),
        ON("delay=50us", adopted_streams),
        ON("", streams_that_cannot_be_adopted),
        ON("", adopted_events),
        ON("", a_device_fails),
        ON("managed", functions_when_a_device_fails),
        CLOSED("", errors_that_are_final),
        ON("managed", functions_after_draining),
        ON("", other_devices_stay),
        ON("", waiting_for_a_device_that_fails),
        ON("", a_failed_device_can_be_opened_again),
        ON("", draining_fails),
        ON("", a_queue_ends_that_was_not_drained),
        ON("", enqueueing_while_another_device_fails),
        ON("", enqueueing_while_draining_fails),
        ON("", a_copy_fails_while_its_queue_is_lost),
        ON("", who_looks_is_counted),
        ON("", the_driver_has_gone),
        ON("async", the_driver_has_gone),
    };
    return find_fake() ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}
