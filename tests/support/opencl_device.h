/* The first OpenCL device there is, through the functions of libOpenCL.so.1 as far as tests call them;
 * nothing of OpenCL is needed for building. A test without one is skipped. */
#ifndef HARRAY_TESTS_SUPPORT_OPENCL_DEVICE_H
#define HARRAY_TESTS_SUPPORT_OPENCL_DEVICE_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- OpenCL's functions, as far as they are called ----------------------------------------- */

enum { READ_WRITE = 1, COPY_HOST_POINTER = 1 << 5, BUILD_LOG = 0x1183, SKIPPED = 77 };

static struct {
    int32_t (*platforms)(uint32_t, void **, uint32_t *);
    int32_t (*devices)(void *, uint64_t, uint32_t, void **, uint32_t *);
    void *(*context)(const intptr_t *, uint32_t, void **, void *, void *, int32_t *);
    void *(*queue)(void *, void *, uint64_t, int32_t *);
    void *(*program)(void *, uint32_t, const char **, const size_t *, int32_t *);
    int32_t (*build)(void *, uint32_t, void **, const char *, void *, void *);
    int32_t (*build_info)(void *, void *, uint32_t, size_t, void *, size_t *);
    void *(*kernel)(void *, const char *, int32_t *);
    void *(*buffer)(void *, uint64_t, size_t, void *, int32_t *);
    int32_t (*argument)(void *, uint32_t, size_t, const void *);
    int32_t (*run)(void *, void *, uint32_t, const size_t *, const size_t *, const size_t *,
                   uint32_t, void *, void *);
    int32_t (*read)(void *, void *, uint32_t, size_t, size_t, void *, uint32_t, void *, void *);
} cl;

static void skip(const char *why) {
    printf("skipped: %s\n", why);
    exit(SKIPPED);
}

static void require(int holds, const char *what) {
    if (holds) return;
    printf("failed: %s\n", what);
    exit(1);
}

static void find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    if (!found) skip(name);
    memcpy(function, &found, sizeof found);
}

static void load(void) {
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!library) skip("there is no libOpenCL.so.1");
    find(library, "clGetPlatformIDs", &cl.platforms);
    find(library, "clGetDeviceIDs", &cl.devices);
    find(library, "clCreateContext", &cl.context);
    find(library, "clCreateCommandQueue", &cl.queue);
    find(library, "clCreateProgramWithSource", &cl.program);
    find(library, "clBuildProgram", &cl.build);
    find(library, "clGetProgramBuildInfo", &cl.build_info);
    find(library, "clCreateKernel", &cl.kernel);
    find(library, "clCreateBuffer", &cl.buffer);
    find(library, "clSetKernelArg", &cl.argument);
    find(library, "clEnqueueNDRangeKernel", &cl.run);
    find(library, "clEnqueueReadBuffer", &cl.read);
}

/* ---- a device and the program on it -------------------------------------------------------- */

static void *context, *queue, *program;

static void open_device(void **device) {
    void *platform = NULL;
    uint32_t count = 0;
    int32_t error = 0;
    if (cl.platforms(1, &platform, &count) != 0 || count == 0) skip("no OpenCL platform");
    if (cl.devices(platform, 0xffffffff, 1, device, &count) != 0 || count == 0)
        skip("no OpenCL device");
    context = cl.context(NULL, 1, device, NULL, NULL, &error);
    require(error == 0, "context");
    queue = cl.queue(context, *device, 0, &error);
    require(error == 0, "queue");
}

static void build(void *device, const char *text, const char *options) {
    static char log[20000];
    int32_t error = 0;
    program = cl.program(context, 1, &text, NULL, &error);
    require(error == 0, "program");
    error = cl.build(program, 1, &device, options, NULL, NULL);
    cl.build_info(program, device, BUILD_LOG, sizeof log - 1, log, NULL);
    if (error != 0) puts(log);
    require(error == 0, "the text can be compiled");
}

static void *new_buffer(size_t bytes, void *content) {
    int32_t error = 0;
    void *buffer = cl.buffer(context, READ_WRITE | (content ? COPY_HOST_POINTER : 0), bytes,
                             content, &error);
    require(error == 0, "buffer");
    return buffer;
}

static inline void run(const char *name, size_t n, void **buffers, uint32_t count) {
    int32_t error = 0;
    void *kernel = cl.kernel(program, name, &error);
    require(error == 0, "kernel");
    for (uint32_t i = 0; i < count; i++)
        require(cl.argument(kernel, i, sizeof *buffers, &buffers[i]) == 0, "argument");
    require(cl.run(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL) == 0, "run");
}

static void read_back(void *buffer, size_t bytes, void *to) {
    require(cl.read(queue, buffer, 1, 0, bytes, to, 0, NULL, NULL) == 0, "read");
}

#endif
