/* The CUDA backend when a device or a queue fails late: what is lost then, what is not, and who still
 * waits for whom. */
#include "../support/faulty_backend.h"

#include <sched.h>

static int watched_yield(void);
#define sched_yield() watched_yield()

#include "../support/cuda_alone.h"

#undef sched_yield

#include "../support/quiet.h"

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
