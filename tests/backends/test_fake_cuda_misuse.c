/* What is undefined with the driver, and harray must not do: the fake one aborts, and says why. */
#define _DEFAULT_SOURCE
#include "fake_cuda_table.h"

static void nothing(HA_UNUSED void **parameters, HA_UNUSED const fake_cuda_launch *launch) {}

static ha_cu_pointer fresh(size_t bytes) {
    ha_cu_pointer block = 0;
    if (cu.MemAlloc(&block, bytes) != HA_CU_SUCCESS) _exit(4);
    return block;
}

static void free_twice(void) {
    const ha_cu_pointer block = fresh(100);
    (void)cu.MemFree(block);
    (void)cu.MemFree(block);
}

static void free_used(void) {
    const ha_cu_pointer block = fresh(100);
    control->hold(stream);
    (void)cu.MemsetD8Async(block, 0, 100, stream);
    (void)cu.MemFree(block);
}

static void write_beyond(void) { (void)cu.MemsetD8Async(fresh(100), 0, 101, stream); }

static void use_freed(void) {
    const ha_cu_pointer block = fresh(100);
    (void)cu.MemFree(block);
    (void)cu.MemsetD8Async(block, 0, 1, stream);
}

static void use_freed_in_order(void) {
    ha_cu_pointer block = 0;
    control->hold(stream);
    (void)cu.MemAllocAsync(&block, 100, stream);
    (void)cu.MemFreeAsync(block, stream);
    (void)cu.MemsetD8Async(block, 0, 1, stream2);
}

static void free_in_order_while_used(void) {
    ha_cu_pointer block = 0;
    (void)cu.MemAllocAsync(&block, 100, stream);
    (void)cu.StreamSynchronize(stream);
    control->hold(stream2);
    (void)cu.MemsetD8Async(block, 0, 1, stream2);
    (void)cu.MemFreeAsync(block, stream);
    (void)cu.StreamSynchronize(stream);
}

static void use_unborn(void) {
    ha_cu_pointer block = 0;
    control->hold(stream);
    (void)cu.MemAllocAsync(&block, 100, stream);
    (void)cu.MemsetD8Async(block, 0, 1, stream2);
    (void)cu.StreamSynchronize(stream2);
}

static void copy_onto_itself(void) {
    const ha_cu_pointer block = fresh(100);
    (void)cu.MemcpyAsync(block + 10, block, 20, stream);
}

static void launch_with_freed(void) {
    const size_t sizes[] = {sizeof(ha_cu_pointer)};
    ha_cu_pointer block = 0;
    void *parameters[] = {&block};
    ha_cu_module module = NULL;
    ha_cu_function function = NULL;
    control->register_kernel("nothing", nothing, 1, sizes);
    (void)cu.ModuleLoadData(&module, "");
    (void)cu.ModuleGetFunction(&function, module, "nothing");
    (void)cu.MemAllocAsync(&block, 100, stream);
    control->hold(stream);
    (void)cu.LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
    (void)cu.MemFree(block);
}

static void free_host_twice(void) {
    void *block = NULL;
    (void)cu.MemHostAlloc(&block, 100, 0);
    (void)cu.MemFreeHost(block);
    (void)cu.MemFreeHost(block);
}

static void use_destroyed_stream(void) {
    (void)cu.StreamDestroy(stream);
    (void)cu.StreamQuery(stream);
}

static void use_destroyed_event(void) {
    ha_cu_event event = NULL;
    (void)cu.EventCreate(&event, 0);
    (void)cu.EventDestroy(event);
    (void)cu.EventQuery(event);
}

static void give_wrong_options(void) {
    (void)cu.DevicePrimaryCtxRelease(0);
    (void)cu.DevicePrimaryCtxRelease(1);
    control->configure("devices=2,colour=red");
}

TEST(misuse_aborts) {
    expect_misuse(free_twice, "cuMemFree_v2: ");
    expect_misuse(free_used, "cuMemFree_v2: queued commands still use ");
    expect_misuse(write_beyond, "cuMemsetD8Async: 101 bytes at ");
    expect_misuse(use_freed, "is device memory that is not allocated");
    expect_misuse(use_freed_in_order, "was given to cuMemFreeAsync");
    expect_misuse(free_in_order_while_used, "cuMemFreeAsync happens while other commands use it");
    expect_misuse(use_unborn, "uses memory before its cuMemAllocAsync has happened");
    expect_misuse(copy_onto_itself, "a copy of 20 bytes overlaps itself");
    expect_misuse(launch_with_freed, "cuMemFree_v2: queued commands still use ");
    expect_misuse(free_host_twice, "is not the beginning of a pinned block");
    expect_misuse(use_destroyed_stream, "is no stream");
    expect_misuse(use_destroyed_event, "is no event");
    expect_misuse(give_wrong_options, "what is \"colour=red\"?");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(misuse_aborts)};
    return find_driver() || cmocka_run_group_tests(tests, NULL, end_case);
}
