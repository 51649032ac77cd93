/* half.h, bfloat16.h and complex.h as OpenCL C: tests/compile/numbers.cl is built and run on the first
 * OpenCL device (PoCL has one on every processor), and the bits that it converts are those of the host.
 * Skipped where there is no OpenCL; nothing of it is needed for building this. */
#include "../harray/bfloat16.h"
#include "../harray/half.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- OpenCL's functions, as far as they are called ----------------------------------------- */

enum {
    READ_WRITE = 1,
    COPY_HOST_POINTER = 1 << 5,
    BUILD_LOG = 0x1183,
    NO_DEVICE = -1,
    SKIPPED = 77
};

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

static void build(void *device) {
    const char *text = "#include \"tests/compile/numbers.cl\"\n";
    static char log[20000];
    int32_t error = 0;
    program = cl.program(context, 1, &text, NULL, &error);
    require(error == 0, "program");
    error = cl.build(program, 1, &device, "-cl-std=CL1.2 -I" HARRAY_SOURCE, NULL, NULL);
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

static void run(const char *name, size_t n, void **buffers, uint32_t count) {
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

/* ---- what the host has to say to it -------------------------------------------------------- */

enum { N = 1 << 20 };
static uint32_t bits[N], sixteen[N], floats[2 * N];

static void expect_same(uint32_t got, uint32_t expected, uint32_t of, const char *what) {
    if (got == expected) return;
    printf("%s of %#x: %#x, not %#x\n", what, (unsigned)of, (unsigned)got, (unsigned)expected);
    exit(1);
}

static void compare(size_t i) {
    const ha_bits16 low = (ha_bits16)bits[i];
    const float x = ha_bits_float_(bits[i]);
    const uint32_t half = ha_float_bits_(ha_half_to_float(ha_half_of_bits(low)));
    const uint32_t bfloat16 = ha_float_bits_(ha_bfloat16_to_float(ha_bfloat16_of_bits(low)));
    expect_same(sixteen[i] & 0xffff, ha_half_of_float(x).bits, bits[i], "half");
    expect_same(sixteen[i] >> 16, ha_bfloat16_of_float(x).bits, bits[i], "bfloat16");
    expect_same(floats[2 * i], half, low, "float of half");
    expect_same(floats[2 * i + 1], bfloat16, low, "float of bfloat16");
}

/* The upper 18 bits of floats, with lower ones from the middle of two halves to the middle of two
 * bfloat16; every 16 bits are among the lower halves. */
static void convert(void) {
    static const uint32_t low[] = {0xfff, 0x1000, 0x1001, 0x3fff};
    for (uint32_t i = 0; i < N; i++) bits[i] = i >> 2 << 14 | (low[i & 3]);
    for (uint32_t i = 0; i < 0x10000; i++) bits[i * 16] = i * 0x9e3779b1u << 16 | i;
    void *buffers[] = {new_buffer(sizeof bits, bits), new_buffer(sizeof sixteen, NULL),
                       new_buffer(sizeof floats, NULL)};
    run("convert", N, buffers, 3);
    read_back(buffers[1], sizeof sixteen, sixteen);
    read_back(buffers[2], sizeof floats, floats);
    for (size_t i = 0; i < N; i++) compare(i);
}

int main(void) {
    void *device = NULL;
    int32_t failed = NO_DEVICE;
    load();
    open_device(&device);
    build(device);
    void *buffer = new_buffer(sizeof failed, &failed);
    run("use_numbers", 1, &buffer, 1);
    read_back(buffer, sizeof failed, &failed);
    if (failed) printf("%d checks failed on the device\n", (int)failed);
    require(failed == 0, "numbers on the device");
    convert();
    puts("ok");
    return 0;
}
