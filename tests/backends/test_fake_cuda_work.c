/* What the fake driver of the tests promises: copies, kernels, failures, and what it tells. The rest
 * is in test_fake_cuda.c. */
#define _DEFAULT_SOURCE
#include "fake_cuda_table.h"

enum { SMALL = 1000, LARGE = 100000 };

static unsigned char *make_bytes(size_t bytes, int value) {
    unsigned char *made = (unsigned char *)malloc(bytes);
    assert_non_null(made);
    memset(made, value, bytes);
    return made;
}

static ha_cu_pointer make_block(size_t bytes) {
    ha_cu_pointer block = 0;
    SUCCEEDS(cu.MemAlloc(&block, bytes));
    return block;
}

/* All bytes of device memory, when its streams are idle. */
static void expect_bytes(ha_cu_pointer block, size_t bytes, int value) {
    const unsigned char *there = (const unsigned char *)control->look(pointer_of(block));
    for (size_t i = 0; i < bytes; i++) assert_int_equal(there[i], value);
}

/* ---- copies --------------------------------------------------------------------------------- */

TEST(little_pageable_memory_is_read_at_the_call) {
    ha_cu_pointer block = make_block(SMALL);
    unsigned char *source = make_bytes(SMALL, 1);
    control->hold(stream);
    SUCCEEDS(cu.MemcpyHtoDAsync(block, source, SMALL, stream));
    memset(source, 2, SMALL);
    free(source); /* that would be all right, too */
    control->step(stream, -1);
    SUCCEEDS(cu.StreamSynchronize(stream));
    expect_bytes(block, SMALL, 1);
}

TEST(pinned_memory_is_read_in_order) {
    ha_cu_pointer block = make_block(SMALL);
    void *source;
    SUCCEEDS(cu.MemHostAlloc(&source, SMALL, 0));
    memset(source, 1, SMALL);
    control->hold(stream);
    SUCCEEDS(cu.MemcpyAsync(block, device_of(source), SMALL, stream));
    memset(source, 2, SMALL);
    control->step(stream, -1);
    SUCCEEDS(cu.StreamSynchronize(stream));
    expect_bytes(block, SMALL, 2);
}

typedef struct transfer {
    ha_cu_pointer block;
    void *host;
    size_t bytes;
} transfer;

static void copy_there(caller *self) {
    const transfer *copy = (const transfer *)self->argument;
    self->result = (int)cu.MemcpyHtoDAsync(copy->block, copy->host, copy->bytes, stream);
}

static void copy_back(caller *self) {
    const transfer *copy = (const transfer *)self->argument;
    self->result = (int)cu.MemcpyAsync(device_of(copy->host), copy->block, copy->bytes, stream);
}

static void expect_to_block(void (*call)(caller *self), transfer *copy) {
    caller other;
    control->hold(stream);
    start_caller(&other, call, copy);
    assert_int_equal(atomic_load(&other.ended), 0);
    control->step(stream, -1);
    assert_int_equal(finish_caller(&other), HA_CU_SUCCESS);
}

TEST(other_copies_of_pageable_memory_block) {
    unsigned char *host = make_bytes(LARGE, 3);
    transfer copy = {make_block(LARGE), host, LARGE};
    void *pinned;
    expect_to_block(copy_there, &copy);
    memset(host, 0, LARGE);
    copy.bytes = 1;
    expect_to_block(copy_back, &copy);
    assert_int_equal(host[0], 3);
    assert_int_equal(host[1], 0);
    SUCCEEDS(cu.MemHostAlloc(&pinned, 2, 0)); /* from host to host */
    copy.block = device_of(pinned);
    expect_to_block(copy_there, &copy);
    copy.host = (char *)pinned + 1;
    expect_to_block(copy_back, &copy);
    free(host);
}

TEST(copies_are_checked) {
    ha_cu_pointer block = make_block(LARGE);
    char host[8] = "";
    GIVES(HA_CU_INVALID_VALUE, cu.MemcpyHtoDAsync(device_of(host), host, 4, stream));
    GIVES(HA_CU_INVALID_VALUE, cu.MemcpyHtoDAsync(block, pointer_of(block + 8), 4, stream));
    GIVES(HA_CU_INVALID_VALUE, cu.MemcpyDtoHAsync(host, device_of(host), 4, stream));
    GIVES(HA_CU_INVALID_VALUE, cu.MemcpyDtoHAsync(pointer_of(block), block + 8, 4, stream));
    GIVES(HA_CU_INVALID_VALUE, cu.MemsetD8Async(device_of(host), 0, 4, stream));
    GIVES(HA_CU_INVALID_VALUE, cu.MemsetD16Async(block + 1, 0, 4, stream));
    GIVES(HA_CU_INVALID_VALUE, cu.MemsetD32Async(block + 2, 0, 4, stream));
    SUCCEEDS(cu.MemcpyAsync(block, block, 0, stream));
}

TEST(memory_is_set) {
    ha_cu_pointer block = make_block(64);
    unsigned char result[24];
    SUCCEEDS(cu.MemsetD8Async(block, 0x11, 8, stream));
    SUCCEEDS(cu.MemsetD16Async(block + 8, 0x2222, 4, stream));
    SUCCEEDS(cu.MemsetD32Async(block + 16, 0x33333333, 2, stream));
    SUCCEEDS(cu.MemcpyDtoHAsync(result, block, 24, stream));
    for (int i = 0; i < 24; i++) assert_int_equal(result[i], i < 8 ? 0x11 : i < 16 ? 0x22 : 0x33);
    expect_bytes(block + 24, 40, 0xA5);
}

/* 2 planes of 3 rows of 4 bytes, between blocks of different shapes. */
static ha_cu_copy3d some_box(const void *host, ha_cu_pointer block) {
    ha_cu_copy3d copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = HA_CU_MEMORY_HOST;
    copy.srcHost = host;
    copy.srcXInBytes = 1;
    copy.srcY = 1;
    copy.srcPitch = 10;
    copy.srcHeight = 5;
    copy.dstMemoryType = HA_CU_MEMORY_DEVICE;
    copy.dstDevice = block;
    copy.dstZ = 1;
    copy.dstPitch = 8;
    copy.dstHeight = 4;
    copy.WidthInBytes = 4;
    copy.Height = 3;
    copy.Depth = 2;
    return copy;
}

TEST(boxes_are_copied) {
    enum { BYTES = 8 * 4 * 3 };
    unsigned char source[100], expected[BYTES];
    ha_cu_pointer block = make_block(BYTES);
    ha_cu_copy3d copy = some_box(source, block);
    for (int i = 0; i < 100; i++) source[i] = (unsigned char)i;
    memset(expected, 0xA5, BYTES);
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++)
            memcpy(expected + (z + 1) * 32 + y * 8, source + z * 50 + (y + 1) * 10 + 1, 4);
    SUCCEEDS(cu.Memcpy3DAsync(&copy, stream));
    SUCCEEDS(cu.StreamSynchronize(stream));
    assert_memory_equal(control->look(pointer_of(block)), expected, BYTES);
    copy.srcMemoryType = copy.dstMemoryType = HA_CU_MEMORY_UNIFIED;
    copy.srcDevice = device_of(source);
    source[11] = 99;
    SUCCEEDS(cu.Memcpy3DAsync(&copy, stream));
    SUCCEEDS(cu.StreamSynchronize(stream));
    expect_bytes(block + 32, 1, 99);
}

TEST(boxes_are_checked) {
    unsigned char source[100] = "";
    const ha_cu_copy3d good = some_box(source, make_block(96));
    ha_cu_copy3d copy = good;
    copy.srcPitch = 4; /* less than 1 + 4 */
    GIVES(HA_CU_INVALID_VALUE, cu.Memcpy3DAsync(&copy, stream));
    copy = good;
    copy.srcHeight = 3; /* less than 1 + 3 */
    GIVES(HA_CU_INVALID_VALUE, cu.Memcpy3DAsync(&copy, stream));
    copy = good;
    copy.dstPitch = (size_t)1 << 31;
    GIVES(HA_CU_INVALID_VALUE, cu.Memcpy3DAsync(&copy, stream));
    copy = good;
    copy.dstMemoryType = 3;
    GIVES(HA_CU_INVALID_VALUE, cu.Memcpy3DAsync(&copy, stream));
    copy = good;
    copy.dstDevice = device_of(source);
    GIVES(HA_CU_INVALID_VALUE, cu.Memcpy3DAsync(&copy, stream));
    SUCCEEDS(cu.Memcpy3DAsync(&good, stream));
}

TEST(copies_between_devices) {
    ha_cu_pointer here = make_block(SMALL), there;
    SUCCEEDS(cu.CtxPushCurrent(context2));
    there = make_block(SMALL);
    SUCCEEDS(cu.CtxPopCurrent(NULL));
    GIVES(HA_CU_INVALID_HANDLE, cu.MemsetD8Async(there, 5, SMALL, stream3));
    SUCCEEDS(cu.CtxPushCurrent(context2));
    SUCCEEDS(cu.MemsetD8Async(there, 5, SMALL, stream3));
    SUCCEEDS(cu.StreamSynchronize(stream3));
    SUCCEEDS(cu.CtxPopCurrent(NULL));
    SUCCEEDS(cu.MemcpyAsync(here, there, SMALL, stream));
    SUCCEEDS(cu.StreamSynchronize(stream));
    expect_bytes(here, SMALL, 5);
    assert_int_equal(control->statistics().staged_copies, 1);
    SUCCEEDS(cu.CtxEnablePeerAccess(context2, 0));
    GIVES(HA_CU_PEER_ACCESS_ALREADY_ENABLED, cu.CtxEnablePeerAccess(context2, 0));
    SUCCEEDS(cu.MemcpyAsync(there, here, SMALL, stream));
    SUCCEEDS(cu.StreamSynchronize(stream));
    SUCCEEDS(cu.MemcpyAsync(there, here, SMALL, stream3)); /* that one may not */
    SUCCEEDS(cu.StreamSynchronize(stream3));
    assert_int_equal(control->statistics().peer_copies, 1);
    assert_int_equal(control->statistics().staged_copies, 2);
    control->reset();
    assert_int_equal(begin_with("peers=0"), 0);
    GIVES(217, cu.CtxEnablePeerAccess(context2, 0));
}

/* ---- kernels -------------------------------------------------------------------------------- */

static void scale(void **parameters, const fake_cuda_launch *launch) {
    double *data, factor;
    unsigned count;
    memcpy(&data, parameters[0], sizeof data);
    memcpy(&factor, parameters[1], sizeof factor);
    memcpy(&count, parameters[2], sizeof count);
    data = (double *)fake_cuda_here(launch, data);
    for (unsigned i = 0; i < count && i < launch->grid[0] * launch->block[0]; i++)
        data[i] *= factor;
}

static ha_cu_function find_scale(void) {
    const size_t sizes[] = {sizeof(double *), sizeof(double), sizeof(unsigned)};
    ha_cu_module module;
    ha_cu_function function, again;
    control->register_kernel("scale", scale, 3, sizes);
    SUCCEEDS(cu.ModuleLoadData(&module, "whatever"));
    GIVES(HA_CU_NOT_FOUND, cu.ModuleGetFunction(&function, module, "skale"));
    SUCCEEDS(cu.ModuleGetFunction(&function, module, "scale"));
    SUCCEEDS(cu.ModuleGetFunction(&again, module, "scale"));
    assert_ptr_equal(function, again);
    return function;
}

static int times_asked;
static void name_itself(void **parameters, const fake_cuda_launch *launch) {
    char *to;
    memcpy(&to, parameters[0], sizeof to);
    strcpy((char *)fake_cuda_here(launch, to), launch->name);
}

static int find_by_name(const char *name, fake_cuda_body *body, size_t *sizes) {
    times_asked++;
    *body = name_itself;
    sizes[0] = sizeof(char *);
    return strcmp(name, "known") ? -1 : 1;
}

/* Somebody is asked for kernels that are not registered, once each, and a body is told its name. */
TEST(kernels_are_asked_for_by_name) {
    ha_cu_pointer block = make_block(16);
    void *parameters[] = {&block};
    ha_cu_module module;
    ha_cu_function function;
    char name[16];
    SUCCEEDS(cu.ModuleLoadData(&module, "whatever"));
    GIVES(HA_CU_NOT_FOUND, cu.ModuleGetFunction(&function, module, "known"));
    control->find_kernels(find_by_name);
    GIVES(HA_CU_NOT_FOUND, cu.ModuleGetFunction(&function, module, "unknown"));
    SUCCEEDS(cu.ModuleGetFunction(&function, module, "known"));
    SUCCEEDS(cu.ModuleGetFunction(&function, module, "known"));
    assert_int_equal(times_asked, 2);
    SUCCEEDS(cu.LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    SUCCEEDS(cu.MemcpyDtoHAsync(name, block, sizeof name, stream));
    SUCCEEDS(cu.StreamSynchronize(stream));
    assert_string_equal(name, "known");
    control->find_kernels(NULL);
    GIVES(HA_CU_NOT_FOUND, cu.ModuleGetFunction(&function, module, "others"));
}

TEST(kernels_run_with_a_copy_of_their_parameters) {
    double values[4] = {1, 2, 3, 4}, factor = 10;
    unsigned count = 4;
    ha_cu_pointer block = make_block(sizeof values);
    void *parameters[] = {&block, &factor, &count};
    ha_cu_function function = find_scale();
    ha_cu_pointer given = block;
    SUCCEEDS(cu.MemcpyHtoDAsync(block, values, sizeof values, stream));
    control->hold(stream);
    SUCCEEDS(cu.LaunchKernel(function, 1, 1, 1, 3, 1, 1, 0, stream, parameters, NULL));
    factor = 100;
    count = 0;
    block = 0;
    control->step(stream, -1);
    SUCCEEDS(cu.MemcpyDtoHAsync(values, given, sizeof values, stream));
    assert_true(values[0] == 10 && values[1] == 20 && values[2] == 30 && values[3] == 4);
}

TEST(launches_are_checked) {
    double factor = 10;
    unsigned count = 0;
    ha_cu_pointer block = make_block(8);
    void *parameters[] = {&block, &factor, &count};
    ha_cu_function f = find_scale();
    GIVES(HA_CU_INVALID_VALUE, cu.LaunchKernel(f, 0, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    GIVES(HA_CU_INVALID_VALUE,
          cu.LaunchKernel(f, 1, 1, 1, 2048, 1, 1, 0, stream, parameters, NULL));
    GIVES(HA_CU_INVALID_VALUE,
          cu.LaunchKernel(f, 1, 65536, 1, 1, 1, 1, 0, stream, parameters, NULL));
    GIVES(HA_CU_INVALID_HANDLE, cu.LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream3, parameters, NULL));
    SUCCEEDS(cu.CtxPushCurrent(context2));
    GIVES(HA_CU_INVALID_HANDLE, cu.LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    GIVES(HA_CU_INVALID_HANDLE, cu.LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream3, parameters, NULL));
    SUCCEEDS(cu.CtxPopCurrent(NULL));
    SUCCEEDS(cu.LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    SUCCEEDS(cu.StreamSynchronize(stream));
}

TEST(modules_are_unloaded) {
    ha_cu_module module;
    GIVES(HA_CU_INVALID_VALUE, cu.ModuleLoadData(&module, NULL));
    SUCCEEDS(cu.ModuleLoadData(&module, ""));
    assert_int_equal(control->statistics().modules, 1);
    SUCCEEDS(cu.ModuleUnload(module));
    assert_int_equal(control->statistics().modules, 0);
}

/* ---- failures ------------------------------------------------------------------------------- */

TEST(calls_fail_when_told) {
    ha_cu_pointer block = 7;
    ha_cu_event event;
    control->fail_call(NULL, 2, HA_CU_UNKNOWN, 0);
    SUCCEEDS(cu.StreamQuery(stream));
    GIVES(HA_CU_UNKNOWN, cu.MemAlloc(&block, 8));
    assert_int_equal(block, 7);
    assert_int_equal(control->statistics().blocks, 0);
    SUCCEEDS(cu.MemAlloc(&block, 8));
    control->fail_call("cuEventCreate", 1, HA_CU_OUT_OF_MEMORY, 1);
    SUCCEEDS(cu.StreamQuery(stream));
    GIVES(HA_CU_OUT_OF_MEMORY, cu.EventCreate(&event, 0));
    GIVES(HA_CU_OUT_OF_MEMORY, cu.EventCreate(&event, 0));
    control->fail_never();
    SUCCEEDS(cu.EventCreate(&event, 0));
    control->fail_call("cuEventQuery", 1, HA_CU_UNKNOWN, 0);
    GIVES(HA_CU_UNKNOWN, cu.EventQuery(event));
    SUCCEEDS(cu.EventQuery(event));
}

TEST(calls_are_counted_and_remembered) {
    const uint64_t before = control->calls(NULL), queries = control->calls("cuStreamQuery");
    fake_cuda_call call;
    SUCCEEDS(cu.StreamQuery(stream));
    GIVES(HA_CU_INVALID_VALUE, cu.MemAllocManaged(NULL, 8, 1));
    SUCCEEDS(cu.StreamSynchronize(stream2));
    assert_int_equal(control->calls(NULL), before + 3);
    assert_int_equal(control->calls("cuStreamQuery"), queries + 1);
    call = control->call(before);
    assert_string_equal(call.function, "cuStreamQuery");
    assert_ptr_equal(call.stream, stream);
    call = control->call(before + 1);
    assert_string_equal(call.function, "cuMemAllocManaged");
    assert_null(call.stream);
    call = control->call(before + 2);
    assert_ptr_equal(call.stream, stream2);
    assert_null(control->call(before + 3).function);
}

TEST(a_context_fails_late) {
    ha_cu_pointer block = make_block(SMALL), other;
    ha_cu_context now;
    ha_cu_event event, event2;
    atomic_int tick, there;
    int value;
    SUCCEEDS(cu.EventCreate(&event, 0));
    SUCCEEDS(cu.MemsetD8Async(block, 1, SMALL, stream));
    SUCCEEDS(cu.EventRecord(event, stream));
    SUCCEEDS(cu.EventSynchronize(event));
    control->hold(stream);
    SUCCEEDS(cu.MemsetD8Async(block, 2, SMALL, stream));
    enqueue_tick(stream, &tick);
    SUCCEEDS(cu.EventRecord(event, stream));
    control->fail_stream(stream);
    control->step(stream, -1);
    GIVES(HA_CU_ILLEGAL_ADDRESS, cu.StreamSynchronize(stream));
    GIVES(HA_CU_ILLEGAL_ADDRESS, cu.StreamQuery(stream2));
    GIVES(HA_CU_ILLEGAL_ADDRESS, cu.EventQuery(event));
    GIVES(HA_CU_ILLEGAL_ADDRESS, cu.EventSynchronize(event));
    GIVES(HA_CU_ILLEGAL_ADDRESS, cu.EventRecord(event, stream));
    GIVES(HA_CU_ILLEGAL_ADDRESS, cu.StreamWaitEvent(stream3, event, 0));
    GIVES(HA_CU_ILLEGAL_ADDRESS, cu.MemAlloc(&other, 8));
    GIVES(HA_CU_ILLEGAL_ADDRESS, cu.EventCreate(&event2, 0));
    GIVES(HA_CU_ILLEGAL_ADDRESS, cu.LaunchHostFunc(stream2, note_tick, &tick));
    expect_bytes(block, SMALL, 1);
    GIVES(HA_CU_ILLEGAL_ADDRESS, cu.MemFree(block));
    GIVES(HA_CU_ILLEGAL_ADDRESS, cu.EventDestroy(event));
    GIVES(HA_CU_ILLEGAL_ADDRESS, cu.StreamDestroy(stream));
    GIVES(HA_CU_ILLEGAL_ADDRESS, cu.StreamDestroy(stream2));
    assert_int_equal(atomic_load(&tick), 0);
    assert_int_equal(control->statistics().blocks + control->statistics().events, 0);
    SUCCEEDS(cu.CtxGetCurrent(&now));
    SUCCEEDS(cu.DeviceGetCount(&value));
    SUCCEEDS(cu.CtxPushCurrent(context2)); /* the other device works */
    enqueue_tick(stream3, &there);
    SUCCEEDS(cu.StreamSynchronize(stream3));
    SUCCEEDS(cu.CtxPopCurrent(NULL));
    SUCCEEDS(cu.DevicePrimaryCtxRelease(0)); /* and this one, anew */
    SUCCEEDS(cu.DevicePrimaryCtxRetain(&now, 0));
    SUCCEEDS(cu.MemAlloc(&other, 8));
    SUCCEEDS(cu.StreamSynchronize(NULL));
    assert_int_equal(control->statistics().leaked, 0);
}

static struct { atomic_int started, ended; } running;

/* A kernel that goes on after its context has failed, until all others wait for it. */
static void run_on(HA_UNUSED void **parameters, HA_UNUSED const fake_cuda_launch *launch) {
    const uint64_t synchronized = control->calls("cuStreamSynchronize");
    atomic_store(&running.started, 1);
    while (control->calls("cuStreamSynchronize") == synchronized) sched_yield();
    until_quiet();
    atomic_store(&running.ended, 1);
}

/* Then memory that a command was using may be freed. */
TEST(a_failure_is_told_when_nothing_runs_any_more) {
    const size_t sizes[] = {sizeof(ha_cu_pointer)};
    ha_cu_pointer block = make_block(SMALL);
    void *parameters[] = {&block};
    ha_cu_module module;
    ha_cu_function function;
    memset(&running, 0, sizeof running);
    control->register_kernel("run_on", run_on, 1, sizes);
    SUCCEEDS(cu.ModuleLoadData(&module, "whatever"));
    SUCCEEDS(cu.ModuleGetFunction(&function, module, "run_on"));
    SUCCEEDS(cu.LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    until(&running.started);
    control->fail_stream(stream2);
    GIVES(HA_CU_ILLEGAL_ADDRESS, cu.StreamSynchronize(stream2));
    assert_int_equal(atomic_load(&running.ended), 1);
    GIVES(HA_CU_ILLEGAL_ADDRESS, cu.MemFree(block));
}

static void wait_for_event(caller *self) {
    self->result = (int)cu.EventSynchronize((ha_cu_event)self->argument);
}

TEST(what_still_waits_never_happens) {
    atomic_int held, behind;
    ha_cu_stream blocking;
    SUCCEEDS(cu.StreamCreate(&blocking, 0));
    control->hold(NULL);
    enqueue_tick(NULL, &held);
    enqueue_tick(blocking, &behind);
    until_quiet(); /* it is the next one there */
    control->fail_stream(blocking);
    GIVES(HA_CU_ILLEGAL_ADDRESS, cu.StreamDestroy(blocking));
    SUCCEEDS(cu.DevicePrimaryCtxRelease(0)); /* threads have ended */
    assert_int_equal(atomic_load(&held) + atomic_load(&behind), 0);
}

TEST(who_waits_for_a_failed_context_is_told) {
    atomic_int tick, there;
    ha_cu_event event;
    caller other;
    SUCCEEDS(cu.EventCreate(&event, 0));
    control->hold(stream);
    enqueue_tick(stream, &tick);
    SUCCEEDS(cu.EventRecord(event, stream));
    SUCCEEDS(cu.StreamWaitEvent(stream3, event, 0));
    enqueue_tick(stream3, &there);
    start_caller(&other, wait_for_event, event);
    assert_int_equal(atomic_load(&other.ended), 0);
    control->fail_stream(stream2);
    assert_int_equal(finish_caller(&other), HA_CU_ILLEGAL_ADDRESS);
    until(&there); /* another device's stream goes on */
    assert_int_equal(atomic_load(&tick), 0);
}

/* ---- everything at once --------------------------------------------------------------------- */

enum { ROUNDS = 60 };

/* Adds 1 to the bytes of a block on two streams in turn, ordered by events alone. */
static void add_in_turns(caller *self) {
    ha_cu_stream streams[2] = {stream, stream2};
    ha_cu_pointer block, next;
    ha_cu_event event;
    unsigned char seen = 0;
    self->result = cu.EventCreate(&event, HA_CU_EVENT_NO_TIMING) || cu.MemAlloc(&block, 1);
    for (int i = 0; i < ROUNDS && !self->result; i++) {
        ha_cu_stream where = streams[i % 2];
        const unsigned char value = (unsigned char)i;
        self->result = cu.StreamWaitEvent(where, event, 0) ||
                       cu.MemcpyHtoDAsync(block, &value, 1, where) || cu.MemAlloc(&next, 300) ||
                       cu.MemcpyAsync(next, block, 1, where) || cu.EventRecord(event, where) ||
                       cu.EventSynchronize(event) || cu.MemcpyDtoHAsync(&seen, next, 1, where) ||
                       cu.MemFree(next) || seen != value;
    }
    self->result = self->result || cu.MemFree(block) || cu.EventDestroy(event);
}

TEST(several_threads_with_delays) {
    caller callers[3];
    control->reset();
    assert_int_equal(begin_with("delay=20us,seed=5"), 0);
    for (int i = 0; i < 3; i++) start_caller(&callers[i], add_in_turns, NULL);
    for (int i = 0; i < 3; i++) assert_int_equal(finish_caller(&callers[i]), 0);
    assert_int_equal(control->statistics().blocks, 0);
    assert_int_equal(control->statistics().events, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(little_pageable_memory_is_read_at_the_call),
        CASE(pinned_memory_is_read_in_order),
        CASE(other_copies_of_pageable_memory_block),
        CASE(copies_are_checked),
        CASE(memory_is_set),
        CASE(boxes_are_copied),
        CASE(boxes_are_checked),
        CASE(copies_between_devices),
        CASE(kernels_are_asked_for_by_name),
        CASE(kernels_run_with_a_copy_of_their_parameters),
        CASE(launches_are_checked),
        CASE(modules_are_unloaded),
        CASE(calls_fail_when_told),
        CASE(calls_are_counted_and_remembered),
        CASE(a_context_fails_late),
        CASE(what_still_waits_never_happens),
        CASE(a_failure_is_told_when_nothing_runs_any_more),
        CASE(who_waits_for_a_failed_context_is_told),
        CASE(several_threads_with_delays),
    };
    return find_driver() || cmocka_run_group_tests(tests, NULL, NULL);
}
