/* Kernels of SYCL devices, without the engine: what is given to dpctl's library, what comes back, and what is told of what
 * it refuses. What every backend has to do is tested by test_backend, kernels of the engine by the matrix of the tests.
 * Skipped where the first device has no compiler. */
#define _GNU_SOURCE
#include <stdlib.h>

/* The n-th allocation from now on fails; 0: none does. */
static int fails;
static void *failing_malloc(size_t bytes) { return fails && !--fails ? NULL : malloc(bytes); }
#define HARRAY_MALLOC failing_malloc
#define HARRAY_REALLOC realloc
#define HARRAY_FREE free
#include "../../backends/sycl/sycl.h"
#include "../support/backend_alone.h"

enum { SKIPPED = 77, I = 3, J = 4, K = 5, N = I * J * K };

static const ha_backend *const backend = &ha_backend_sycl;
static void *device, *memory, *queue, *program, *kernel;
static ha_kernel_limits limits;

static int begin(void **state) {
    (void)state;
    fails = 0;
    reported.text[0] = '\0';
    program = kernel = NULL;
    if (backend->open(0, &device, &memory)) return -1;
    return backend->queue->create(device, &queue) != HA_OK;
}

static int end(void **state) {
    (void)state;
    backend->queue->drain(queue);
    backend->queue->destroy(queue);
    if (program) backend->discard(device, program);
    backend->close(device);
    return 0;
}

static ha_status build(const char *text, const char *options, char *log, size_t log_bytes) {
    const ha_program_source source = {
        .text = text, .options = options, .log = log, .log_bytes = log_bytes};
    ha_binary binary = {NULL, 1};
    const ha_status status = backend->build(device, &source, &program, &binary);
    if (status == HA_OK) assert_int_equal(binary.bytes, 0); /* the library gives none */
    return status;
}

static void compile(const char *text) {
    char log[1000];
    SUCCEEDS(build(text, "-cl-std=CL1.2", log, sizeof log));
    SUCCEEDS(backend->kernel(program, "f", &limits, &kernel));
}

static const char adds[] =
    "__kernel void f(__global char *buffer, long behind, long amount) {\n"
    "    __global long *x = (__global long *)(buffer + behind);\n"
    "    const size_t i = get_global_id(0), j = get_global_id(1), k = get_global_id(2);\n"
    "    x[(k * get_global_size(1) + j) * get_global_size(0) + i] +=\n"
    "        amount + 100 * k + 10 * j + i;\n"
    "}\n";

/* Lanes I x J x K in teams of 1 x 2 x K. */
static ha_status add(void *block, int64_t amount) {
    const ha_kernel_argument argument[] = {{0, block}, {sizeof amount, &amount}};
    const ha_launch launch = {.kernel = kernel,
                              .teams = {I, J / 2, 1},
                              .lanes = {1, 2, K},
                              .argument = argument,
                              .arguments = 2};
    return backend->queue->launch(queue, &launch);
}

static void *zeros(size_t bytes) {
    static const char none[4096];
    void *block;
    assert_true(bytes <= sizeof none);
    SUCCEEDS(backend->memory->allocate(memory, bytes, &block));
    SUCCEEDS(backend->queue->copy(queue, block, none, bytes));
    return block;
}

/* Copies the block to the host behind all that was enqueued, and releases it. */
static void take(void *block, void *to, size_t bytes) {
    SUCCEEDS(backend->queue->copy(queue, to, block, bytes));
    backend->queue->drain(queue);
    backend->memory->release(memory, block, bytes);
}

TEST(lanes_of_three_dimensions_in_the_order_of_the_queue) {
    int64_t got[N];
    void *block = zeros(sizeof got);
    compile(adds);
    SUCCEEDS(add(block, 1000));
    SUCCEEDS(add(block, 7000));
    take(block, got, sizeof got);
    for (int k = 0; k < K; k++)
        for (int j = 0; j < J; j++)
            for (int i = 0; i < I; i++)
                assert_int_equal(got[(k * J + j) * I + i], 8000 + 2 * (100 * k + 10 * j + i));
}

static const char numbers[] =
    "typedef struct { int a, b, c; } three;\n"
    "typedef struct { double re, im; } pair;\n"
    "__kernel void f(__global double *x, long behind, char a, ushort b, float c, double d,\n"
    "                three e, pair f, __global int *none, long nothing) {\n"
    "    const double all[] = {a, b, c, d, e.a, e.b, e.c, f.re, f.im, none == 0, nothing + "
    "behind};\n"
    "    for (int i = 0; i < 11; i++) x[i] = all[i];\n"
    "}\n";

/* Of each size that the library has a kind of, and of others. They are copied when the launch is enqueued. */
TEST(numbers_structs_and_arrays_of_no_elements) {
    const double expected[] = {-3, 60000, 0.5, 0.1, 1, -2, 3, 0.25, -0.75, 1, 0};
    double got[11], d = 0.1, f[] = {0.25, -0.75};
    int8_t a = -3;
    uint16_t b = 60000;
    float c = 0.5F;
    int32_t e[] = {1, -2, 3};
    void *block = zeros(sizeof got);
    const ha_kernel_argument argument[] = {{0, block},     {1, &a},       {2, &b},       {4, &c},
                                           {sizeof d, &d}, {sizeof e, e}, {sizeof f, f}, {0, NULL}};
    const ha_launch launch = {.kernel = NULL,
                              .teams = {1, 1, 1},
                              .lanes = {1, 1, 1},
                              .argument = argument,
                              .arguments = 8};
    ha_launch now = launch;
    compile(numbers);
    now.kernel = kernel;
    SUCCEEDS(backend->queue->launch(queue, &now));
    a = 0, b = 0, c = 0, d = 0, e[0] = e[1] = 9, f[0] = f[1] = 9;
    take(block, got, sizeof got);
    assert_memory_equal(got, expected, sizeof got);
}

TEST(without_parameters) {
    const ha_launch launch = {.teams = {1, 1, 1}, .lanes = {1, 1, 1}};
    ha_launch now = launch;
    compile("__kernel void f(void) {}");
    now.kernel = kernel;
    SUCCEEDS(backend->queue->launch(queue, &now));
}

/* An event behind a kernel: another queue that waits for it sees what the kernel wrote. */
TEST(another_queue_waits_for_a_kernel) {
    int64_t got[N];
    void *block = zeros(sizeof got), *other;
    ha_event event;
    compile(adds);
    SUCCEEDS(add(block, 5));
    SUCCEEDS(backend->queue->record(queue, &event));
    SUCCEEDS(backend->queue->create(device, &other));
    SUCCEEDS(backend->queue->await(other, &event));
    SUCCEEDS(backend->queue->copy(other, got, block, sizeof got));
    backend->queue->drain(other);
    backend->queue->destroy(other);
    backend->queue->forget(&event);
    assert_int_equal(got[N - 1], 5 + 100 * (K - 1) + 10 * (J - 1) + I - 1);
    take(block, got, sizeof got);
}

TEST(teams_that_are_too_large) {
    int64_t got[N], amount = 1;
    void *block = zeros(sizeof got);
    const ha_kernel_argument argument[] = {{0, block}, {sizeof amount, &amount}};
    compile(adds);
    ha_launch launch = {.kernel = kernel, .teams = {1, 1, 1}, .argument = argument, .arguments = 2};
    launch.lanes[0] = limits.lanes;
    launch.lanes[1] = 2;
    launch.lanes[2] = 1;
    assert_int_equal(backend->queue->launch(queue, &launch), HA_ERR_ARGUMENT);
    take(block, got, sizeof got);
    assert_int_equal(got[0], 0);
}

TEST(what_the_compiler_refuses) {
    char log[1000] = "";
    static const char wrong[] = "__kernel void f(__global int *x) { x[0] = no_such_thing; }";
    assert_int_equal(build(wrong, "", log, sizeof log), HA_ERR_COMPILE);
    assert_null(program);
    if (!strstr(log, "no_such_thing")) fail_msg("%s", log);
    assert_int_equal(build(wrong, "", NULL, 0), HA_ERR_COMPILE);
    assert_int_equal(build(wrong, "", log, 8), HA_ERR_COMPILE);
    assert_true(strlen(log) < 8);
}

static const char *another_name(void *of) {
    (void)of;
    return strdup("a device that OpenCL does not have");
}

TEST(a_log_that_nobody_tells) {
    const char *(*const get)(void *) = ha_sycl.Device_GetName;
    char log[1000] = "";
    ha_sycl.Device_GetName = another_name;
    assert_int_equal(build("no text", "", log, sizeof log), HA_ERR_COMPILE);
    ha_sycl.Device_GetName = get;
    assert_non_null(
        strstr(log, "error: it does not compile, and dpctl's library does not tell why"));
    assert_non_null(strstr(reported.text, "sycl:0: DPCTLKernelBundle_CreateFromOCLSource failed"));
}

/* Without memory for a log, too, the text is refused. */
TEST(no_memory_for_a_log) {
    char log[1000] = "";
    fails = 2;
    assert_int_equal(build("no text", "", log, sizeof log), HA_ERR_COMPILE);
    assert_int_equal(fails, 0);
    assert_non_null(strstr(log, "dpctl's library does not tell why"));
}

TEST(no_binaries_and_no_such_kernel) {
    const ha_program_source source = {.binary = "x", .binary_bytes = 1, .options = ""};
    assert_int_equal(backend->build(device, &source, &program, NULL), HA_ERR_BACKEND);
    assert_null(program);
    compile(adds);
    assert_int_equal(backend->kernel(program, "g", &limits, &kernel), HA_ERR_NOT_FOUND);
}

/* Each allocation fails in turn, and nothing is left of what failed. */
TEST(no_memory) {
    int64_t got[N];
    void *block = zeros(sizeof got);
    char log[100];
    fails = 1;
    assert_int_equal(build(adds, "", log, sizeof log), HA_ERR_MEMORY);
    compile(adds);
    fails = 1;
    assert_int_equal(backend->kernel(program, "f", &limits, &kernel), HA_ERR_MEMORY);
    fails = 1;
    assert_int_equal(add(block, 1), HA_ERR_MEMORY);
    SUCCEEDS(add(block, 1));
    take(block, got, sizeof got);
    assert_int_equal(got[0], 1);
}

static void *no_argument(void *bytes, size_t count) {
    (void)bytes, (void)count;
    return NULL;
}

TEST(an_argument_that_the_library_refuses) {
    static const double pair[2];
    const ha_kernel_argument argument[] = {{sizeof pair, pair}};
    void *(*const real)(void *, size_t) = ha_sycl.RawKernelArg_Create;
    compile("typedef struct { double a, b; } two; __kernel void f(two x) {}");
    const ha_launch launch = {.kernel = kernel,
                              .teams = {1, 1, 1},
                              .lanes = {1, 1, 1},
                              .argument = argument,
                              .arguments = 1};
    ha_sycl.RawKernelArg_Create = no_argument;
    assert_int_equal(backend->queue->launch(queue, &launch), HA_ERR_MEMORY);
    ha_sycl.RawKernelArg_Create = real;
    SUCCEEDS(backend->queue->launch(queue, &launch));
}

TEST(what_a_device_says_of_itself) {
    char text[600] = "";
    ha_kernel_limits all;
    backend->target(device, text, sizeof text);
    assert_non_null(strstr(text, "; driver "));
    SUCCEEDS(backend->limits(device, &all));
    compile(adds);
    assert_true(limits.lanes >= 1 && limits.lanes <= all.lanes && limits.multiple >= 1);
    assert_true(limits.local_bytes == all.local_bytes && all.local_bytes >= 1024);
    assert_true(backend->has_double(device) && backend->has_long_atomics(device));
}

static int level_zero(void *of) {
    (void)of;
    return 1 << 17;
}
static bool nothing(void *of, int aspect) {
    (void)of, (void)aspect;
    return false;
}

static void expect_no_compiler(const char *why) {
    assert_int_equal(backend->language(device), HA_LANGUAGE_NONE);
    if (!strstr(reported.text, why)) fail_msg("%s", reported.text);
}

TEST(devices_that_compile_nothing) {
    int (*const get)(void *) = ha_sycl.Device_GetBackend;
    bool (*const has)(void *, int) = ha_sycl.Device_HasAspect;
    assert_int_equal(backend->language(device), HA_LANGUAGE_OPENCL_C);
    ha_sycl.Device_GetBackend = level_zero;
    expect_no_compiler("sycl:0: dpctl makes kernels of OpenCL C for devices of SYCL's backend");
    ha_sycl.Device_GetBackend = get;
    ha_sycl.Device_HasAspect = nothing;
    expect_no_compiler("sycl:0: the device has no compiler");
    assert_false(backend->has_double(device) || backend->has_long_atomics(device));
    ha_sycl.Device_HasAspect = has;
    ha_sycl.no_kernels = "dpctl's library has no DPCTLThat";
    expect_no_compiler("sycl:0: dpctl's library has no DPCTLThat");
    ha_sycl.no_kernels = NULL;
}

int main(void) {
#define OPEN(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        OPEN(lanes_of_three_dimensions_in_the_order_of_the_queue),
        OPEN(numbers_structs_and_arrays_of_no_elements),
        OPEN(without_parameters),
        OPEN(another_queue_waits_for_a_kernel),
        OPEN(teams_that_are_too_large),
        OPEN(what_the_compiler_refuses),
        OPEN(a_log_that_nobody_tells),
        OPEN(no_memory_for_a_log),
        OPEN(no_binaries_and_no_such_kernel),
        OPEN(no_memory),
        OPEN(an_argument_that_the_library_refuses),
        OPEN(what_a_device_says_of_itself),
        OPEN(devices_that_compile_nothing),
    };
    if (backend->count() > 0 && !begin(NULL)) {
        const int compiles = backend->language(device) != HA_LANGUAGE_NONE;
        (void)end(NULL);
        if (compiles) return cmocka_run_group_tests(tests, NULL, NULL);
    }
    printf("skipped: %s%s\n", backend->missing(), reported.text);
    return SKIPPED;
}
