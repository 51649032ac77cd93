/* A CUDA backend for tests whose functions run where the data is: as kernels of the fake driver.
 * Kind "launch". It is ha_backend_cuda but for `call`, and for a module in each open device; so device
 * memory faults as it does on a GPU, and HA_HERE finds the bytes.
 *
 * Include behind harray.h with HARRAY_IMPLEMENTATION. */
#ifndef HARRAY_TESTS_SUPPORT_CUDA_LAUNCH_H
#define HARRAY_TESTS_SUPPORT_CUDA_LAUNCH_H

#include "../backends/fake_cuda_find.h"

#include <stdio.h>
#include <stdlib.h>

/* The fake driver that HARRAY_CUDA names; NULL: none. */
static HA_UNUSED const fake_cuda *cuda_fake(void) {
    static const fake_cuda *fake_driver;
    void *library = fake_driver ? NULL : fake_cuda_load();
    if (library) fake_driver = fake_cuda_of(library);
    return fake_driver;
}

/* Everything has been given back to the driver. */
static HA_UNUSED int cuda_fake_is_empty(void) {
    fake_cuda_statistics left = cuda_fake()->statistics();
    return !left.contexts && !left.blocks && !left.bytes && !left.pinned && !left.managed &&
           !left.streams && !left.events && !left.modules && !left.leaked;
}

/* Kernels get their arguments by value: one for usual ones, one for large ones. */
enum { LAUNCH_KERNELS = 2, LAUNCH_MOST_BYTES = 32768 };
static const size_t launch_bytes[LAUNCH_KERNELS] = {512, LAUNCH_MOST_BYTES};

static struct {
    ha_cu_module module;
    ha_cu_function function[LAUNCH_KERNELS];
} launch_device[FAKE_CUDA_MOST_DEVICES];

/* The kernel: what a queue does with a function. */
static void launch_body(void **parameters, const fake_cuda_launch *launch) {
    ha_function f;
    size_t bytes;
    memcpy(&f, parameters[0], sizeof f);
    memcpy(&bytes, parameters[1], sizeof bytes);
    ha_queue_run(f, &launch->own, bytes ? parameters[2] : NULL);
}

static ha_status launch_call(void *handle, ha_function f, const void *argument, size_t bytes) {
    ha_cuda_queue *queue = (ha_cuda_queue *)handle;
    const int large = bytes > launch_bytes[0];
    _Alignas(max_align_t) unsigned char copy[LAUNCH_MOST_BYTES];
    void *parameters[] = {&f, &bytes, copy};
    int pushed;
    ha_status status = ha_cuda_begin(queue, &pushed);
    if (status) return status;
    if (bytes > sizeof copy) abort();
    if (bytes) memcpy(copy, argument, bytes);
    status = HA_CUDA_TRY_(queue->device, LaunchKernel,
                          launch_device[queue->device->number].function[large], 1, 1, 1, 1, 1, 1, 0,
                          queue->stream, parameters, NULL);
    ha_cuda_end(queue, pushed);
    return status;
}

static ha_status launch_open(int number, void **device, void **memory) {
    ha_status status = ha_cuda_open(number, device, memory);
    int pushed;
    if (status) return status;
    ha_cuda_enter_quietly((ha_cuda_device *)*device, &pushed);
    if (ha_cu.ModuleLoadData(&launch_device[number].module, "image")) abort();
    for (int i = 0; i < LAUNCH_KERNELS; i++) {
        const size_t sizes[] = {sizeof(ha_function), sizeof(size_t), launch_bytes[i]};
        const char *name = i ? "harray_large_call" : "harray_host_call";
        cuda_fake()->register_kernel(name, launch_body, 3, sizes);
        if (ha_cu.ModuleGetFunction(&launch_device[number].function[i],
                                    launch_device[number].module, name))
            abort();
    }
    ha_cuda_leave(pushed);
    return status;
}

static void launch_close(void *handle) {
    ha_cuda_device *device = (ha_cuda_device *)handle;
    int pushed;
    ha_cuda_enter_quietly(device, &pushed);
    (void)ha_cu.ModuleUnload(launch_device[device->number].module);
    ha_cuda_leave(pushed);
    ha_cuda_close(device);
}

static ha_queue_ops launch_queue_ops;
static ha_backend launch_backend;

/* The tables are made at the first call; to be registered. */
static HA_UNUSED const ha_backend *launch_backend_make(void) {
    launch_queue_ops = ha_cuda_queue_ops;
    launch_queue_ops.call = launch_call;
    launch_backend = ha_backend_cuda;
    launch_backend.kind = "launch";
    launch_backend.open = launch_open;
    launch_backend.close = launch_close;
    launch_backend.queue = &launch_queue_ops;
    return &launch_backend;
}

/* Options of CUDA devices until the next call; driver and compiler stay those that HARRAY_CUDA names. The
 * fake gets its own options, and begins again. */
static HA_UNUSED ha_status cuda_use(ha_cuda_memory memory, const char *fake_options) {
    ha_cuda_settings settings;
    ha_option_text wrong;
    ha_cuda_options options = {.memory = memory};
    if (!ha_cuda_settings_from(getenv("HARRAY_CUDA"), &settings, &wrong)) return HA_ERR_ARGUMENT;
    options.library = settings.library;
    if (settings.nvrtc[0]) options.nvrtc = settings.nvrtc;
    if (cuda_fake()) {
        cuda_fake()->reset();
        cuda_fake()->configure(fake_options);
        ha_cuda_shared.tried = 0; /* cuInit reads them */
    }
    return ha_cuda_set_options(&options);
}

#endif
