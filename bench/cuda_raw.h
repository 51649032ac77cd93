/* The driver by hand, for the references of cuda.c: through the table that harray has loaded. A call
 * that fails ends the benchmark. */
#ifndef BENCH_CUDA_RAW_H
#define BENCH_CUDA_RAW_H

#include "bench.h"

#include "../tests/backends/fake_libcuda.h"

#include <dlfcn.h>

#define RAW(call) bench_require((call) == HA_CU_SUCCESS, #call)

/* Waits so many nanoseconds, as a kernel that computes would. */
static const char raw_kernel_text[] = ".version 6.3\n"
                                      ".target sm_75\n"
                                      ".address_size 64\n"
                                      ".visible .entry wait_ns(.param .u64 duration)\n"
                                      "{\n"
                                      "    .reg .pred %p;\n"
                                      "    .reg .u64 %duration, %begin, %now;\n"
                                      "    ld.param.u64 %duration, [duration];\n"
                                      "    mov.u64 %begin, %globaltimer;\n"
                                      "again:\n"
                                      "    mov.u64 %now, %globaltimer;\n"
                                      "    sub.u64 %now, %now, %begin;\n"
                                      "    setp.lt.u64 %p, %now, %duration;\n"
                                      "    @%p bra again;\n"
                                      "    ret;\n"
                                      "}\n";

/* The same on the host, for the fake driver. */
static void raw_kernel_body(void **parameters, const fake_cuda_launch *launch) {
    const double end = bench_now() + (double)*(const uint64_t *)parameters[0];
    (void)launch;
    while (bench_now() < end) {}
}

static struct {
    const ha_cuda_device *device;
    ha_cu_stream stream;
    ha_cu_module module;
    ha_cu_function kernel;
} raw;

/* Where the driver is the fake one of the tests, it has to be told what kernels there are. */
static int raw_prepare_fake(void) {
    void *library = dlopen(ha_cuda_shared.settings.library, RTLD_NOW | RTLD_NOLOAD);
    fake_cuda_get_control *get = NULL;
    void *symbol = library ? dlsym(library, "fake_cuda_control") : NULL;
    const size_t size = sizeof(uint64_t);
    if (!symbol) return 0;
    memcpy(&get, &symbol, sizeof get);
    get()->register_kernel("wait_ns", raw_kernel_body, 1, &size);
    return 1;
}

/* Makes the device's context current for this thread, once and for all. Returns whether the driver is
 * the fake one. */
static int raw_begin(const ha_context *gpu) {
    const int fake = raw_prepare_fake();
    raw.device = gpu->device;
    RAW(ha_cu.CtxPushCurrent(raw.device->context));
    RAW(ha_cu.StreamCreate(&raw.stream, HA_CU_STREAM_NON_BLOCKING));
    RAW(ha_cu.ModuleLoadData(&raw.module, raw_kernel_text));
    RAW(ha_cu.ModuleGetFunction(&raw.kernel, raw.module, "wait_ns"));
    return fake;
}

static void raw_end(void) {
    ha_cu_context popped;
    RAW(ha_cu.ModuleUnload(raw.module));
    RAW(ha_cu.StreamDestroy(raw.stream));
    RAW(ha_cu.CtxPopCurrent(&popped));
}

/* Whether the device has room for the blocks of a transfer: two of ours, two of the driver's, and as
 * much again. */
static int raw_holds(size_t bytes) {
    size_t total = 0;
    RAW(ha_cu.DeviceTotalMem(&total, raw.device->handle));
    return bytes <= total / 8;
}

static void raw_finish(void) { RAW(ha_cu.StreamSynchronize(raw.stream)); }

static void raw_launch(uint64_t ns, ha_cu_stream stream) {
    void *parameters[] = {&ns};
    RAW(ha_cu.LaunchKernel(raw.kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

/* ---- blocks to copy between ---------------------------------------------------------------- */

typedef struct raw_blocks {
    size_t bytes;
    void *pinned;
    ha_cu_pointer device, other;
} raw_blocks;

static raw_blocks raw_allocate(size_t bytes) {
    raw_blocks b = {bytes, NULL, 0, 0};
    RAW(ha_cu.MemHostAlloc(&b.pinned, bytes, HA_CU_HOST_PORTABLE));
    RAW(ha_cu.MemAlloc(&b.device, bytes));
    RAW(ha_cu.MemAlloc(&b.other, bytes));
    memset(b.pinned, 1, bytes);
    RAW(ha_cu.MemcpyHtoDAsync(b.device, b.pinned, bytes, raw.stream));
    raw_finish();
    return b;
}

static void raw_free(const raw_blocks *b) {
    RAW(ha_cu.MemFreeHost(b->pinned));
    RAW(ha_cu.MemFree(b->device));
    RAW(ha_cu.MemFree(b->other));
}

static double time_raw_to_device(void *data, size_t count) {
    const raw_blocks *b = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        RAW(ha_cu.MemcpyHtoDAsync(b->device, b->pinned, b->bytes, raw.stream));
        raw_finish();
    }
    return bench_now() - start;
}

static double time_raw_to_host(void *data, size_t count) {
    const raw_blocks *b = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        RAW(ha_cu.MemcpyDtoHAsync(b->pinned, b->device, b->bytes, raw.stream));
        raw_finish();
    }
    return bench_now() - start;
}

static double time_raw_on_device(void *data, size_t count) {
    const raw_blocks *b = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        RAW(ha_cu.MemcpyAsync(b->other, b->device, b->bytes, raw.stream));
        raw_finish();
    }
    return bench_now() - start;
}

/* ---- the rest ------------------------------------------------------------------------------- */

static double time_raw_allocation(void *data, size_t count) {
    const size_t *bytes = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        ha_cu_pointer p;
        RAW(ha_cu.MemAlloc(&p, *bytes));
        RAW(ha_cu.MemFree(p));
    }
    return bench_now() - start;
}

static double time_raw_first_touch(void *data, size_t count) {
    const size_t *bytes = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        void *p;
        RAW(ha_cu.MemHostAlloc(&p, *bytes, HA_CU_HOST_PORTABLE));
        memset(p, 1, *bytes);
        bench_use(p);
        RAW(ha_cu.MemFreeHost(p));
    }
    return bench_now() - start;
}

/* `data`: how long the kernel takes, in nanoseconds. */
static double time_raw_launch(void *data, size_t count) {
    const uint64_t *ns = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        raw_launch(*ns, raw.stream);
        raw_finish();
    }
    return bench_now() - start;
}

#endif
