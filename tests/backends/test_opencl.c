/* OpenCL devices, without the engine: why there are none, their memory, programs and kernels, waiting across
 * devices. What every backend has to do is tested by test_backend. Skipped where there is no device. */
#define _GNU_SOURCE
#include "../../backends/opencl/opencl.h"
#include "../support/backend_alone.h"
#include "../support/opencl_calls.h"
#include "../support/share.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, N = 1000 };

static const ha_backend *const backend = &ha_backend_opencl;
static void *device, *memory, *queue;

static int begin(void **state) {
    (void)state;
    (void)unsetenv("HARRAY_OPENCL");
    if (backend->count() < 1 || backend->open(0, &device, &memory) != HA_OK) return 1;
    return backend->queue->create(device, &queue) != HA_OK;
}

static int end(void **state) {
    (void)state;
    backend->queue->drain(queue);
    backend->queue->destroy(queue);
    backend->close(device);
    return 0;
}

/* ---- whether there are devices ------------------------------------------------------------------ */

static int count_with(const char *options) {
    int count;
    assert_int_equal(setenv("HARRAY_OPENCL", options, 1), 0);
    count = backend->count();
    assert_int_equal(unsetenv("HARRAY_OPENCL"), 0);
    return count;
}

static void expect_missing(const char *part) {
    if (strstr(backend->missing(), part) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", backend->missing(), part);
}

TEST(no_library) {
    assert_int_equal(count_with("library=libNothing.so.7"), 0);
    expect_missing("libNothing.so.7");
    assert_int_equal(count_with("library=libm.so.6"), 0);
    expect_missing("libm.so.6: no function clGetPlatformIDs");
    assert_true(backend->count() > 0);
    assert_string_equal(backend->missing(), "");
}

TEST(wrong_options) {
    assert_int_equal(count_with("type=quantum"), -1);
    expect_missing("HARRAY_OPENCL: \"type=quantum\": type is any, gpu, cpu or accelerator");
    assert_int_equal(count_with("colour=red"), -1);
    expect_missing("unknown key; there are platform, type, memory, slab, library");
    assert_int_equal(count_with("slab=1"), -1);
}

TEST(devices_that_are_asked_for) {
    const int all = backend->count();
    int by_type = 0;
    const char *const types[] = {"type=gpu", "type=cpu", "type=accelerator"};
    for (int i = 0; i < 3; i++) by_type += count_with(types[i]);
    assert_int_equal(by_type, all);
    assert_int_equal(count_with("platform=No Such Maker"), 0);
    expect_missing("platforms is as asked for");
    assert_int_equal(count_with("platform="), -1);
}

/* The loader reads its files once, so this is another process. */
static void in_a_child(void (*f)(void)) {
    int status;
    const pid_t child = fork();
    if (child == 0) {
        f();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static char vendors[] = "/tmp/harray-vendors-XXXXXX";

static void expect_no_platform(void) {
    (void)setenv("OCL_ICD_VENDORS", vendors, 1);
    if (backend->count() != 0) _exit(1);
    if (strstr(backend->missing(), "broken.icd names /nowhere/libmaker.so: not there") == NULL) {
        fprintf(stderr, "%s\n", backend->missing());
        _exit(2);
    }
}

static void write_icd(const char *name, const char *line) {
    char path[200];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s", vendors, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(line, file);
    fclose(file);
}

/* Files in which nothing is wrong, but that name no platform; or that name what is no library. */
static void expect_none_named(void) {
    (void)setenv("OCL_ICD_VENDORS", vendors, 1);
    if (backend->count() != 0) _exit(1);
    if (strstr(backend->missing(), "has no file that names one") == NULL) _exit(2);
    write_icd("text.icd", "libNothing.so.7\n");
    if (backend->count() != 0) _exit(3);
    if (strstr(backend->missing(), "text.icd names libNothing.so.7: cannot be loaded") == NULL)
        _exit(4);
}

static void remove_icd(const char *name) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", vendors, name);
    assert_int_equal(unlink(path), 0);
}

TEST(a_file_that_names_no_library) {
    assert_non_null(mkdtemp(vendors));
    in_a_child(expect_none_named);
    remove_icd("text.icd");
    write_icd("broken.icd", "/nowhere/libmaker.so\n");
    write_icd("other.txt", "/nowhere/else.so\n");
    in_a_child(expect_no_platform);
    remove_icd("broken.icd");
    remove_icd("other.txt");
    assert_int_equal(rmdir(vendors), 0);
}

/* ---- the best device ----------------------------------------------------------------------------- */

static struct {
    uint64_t type;
    const char *platform;
} pretended;

static ha_cl_code pretend_device(ha_cl_device which, uint32_t what, size_t room, void *value,
                                 size_t *bytes) {
    const ha_cl_code code = opencl_calls.real.GetDeviceInfo(which, what, room, value, bytes);
    if (what == HA_CL_DEVICE_TYPE && value != NULL)
        memcpy(value, &pretended.type, sizeof pretended.type);
    return code;
}

static ha_cl_code pretend_platform(HA_UNUSED ha_cl_platform which, HA_UNUSED uint32_t what,
                                   size_t room, void *value, HA_UNUSED size_t *bytes) {
    snprintf((char *)value, room, "%s", pretended.platform);
    return HA_CL_SUCCESS;
}

static int best_of(uint64_t type, const char *platform) {
    int best;
    pretended.type = type;
    pretended.platform = platform;
    ha_cl.GetDeviceInfo = pretend_device;
    ha_cl.GetPlatformInfo = pretend_platform;
    best = backend->best();
    ha_cl = opencl_asking;
    return best;
}

/* GPUs and accelerators; what CUDA has, too, is CUDA's. */
TEST(the_best_device) {
    assert_true(best_of(HA_CL_DEVICE_TYPE_CPU, "A Maker") < 0);
    assert_int_equal(best_of(HA_CL_DEVICE_TYPE_GPU, "A Maker"), 0);
    assert_int_equal(best_of(HA_CL_DEVICE_TYPE_ACCELERATOR, "A Maker"), 0);
    assert_true(best_of(HA_CL_DEVICE_TYPE_GPU, "NVIDIA CUDA") < 0);
}

/* ---- memory -------------------------------------------------------------------------------------- */

TEST(blocks_have_addresses_that_nobody_else_has) {
    void *block[20];
    ha_memory_kind kind;
    for (size_t i = 0; i < 20; i++) {
        SUCCEEDS(backend->memory->allocate(memory, (size_t)1 << i, &block[i]));
        assert_int_equal((uintptr_t)block[i] % 256, 0);
        assert_true(backend->memory->knows(memory, block[i], &kind));
        assert_int_equal(kind, HA_MEMORY_DEVICE);
        for (size_t k = 0; k < i; k++)
            assert_true((char *)block[k] + ((size_t)1 << k) <= (char *)block[i] ||
                        (char *)block[i] + ((size_t)1 << i) <= (char *)block[k]);
    }
    assert_false(backend->memory->knows(memory, &kind, &kind));
    for (size_t i = 20; i-- > 0;) backend->memory->release(memory, block[i], (size_t)1 << i);
    assert_true(((ha_opencl_device *)device)->chunks <= 1);
}

TEST(more_than_a_buffer_can_have) {
    void *block;
    uint64_t total, unused;
    SUCCEEDS(backend->memory->capacity(memory, &total, &unused));
    assert_true(total > 0 && unused == UINT64_MAX);
    assert_int_equal(backend->memory->allocate(memory, (size_t)1 << 60, &block), HA_ERR_MEMORY);
    assert_non_null(strstr(reported.text, "CL_DEVICE_MAX_MEM_ALLOC_SIZE"));
}

static ha_cl_code pretend_small_buffers(ha_cl_device which, uint32_t what, size_t room, void *value,
                                        size_t *bytes) {
    const uint64_t largest = 8 << 20;
    const ha_cl_code code = opencl_calls.real.GetDeviceInfo(which, what, room, value, bytes);
    if (what == HA_CL_DEVICE_MAX_MEM_ALLOC_SIZE && value != NULL)
        memcpy(value, &largest, sizeof largest);
    return code;
}

/* Small blocks share one also where it cannot be as large as is asked for. */
TEST(buffers_are_no_larger_than_can_be) {
    void *small, *small_memory, *block[2];
    ha_cl.GetDeviceInfo = pretend_small_buffers;
    SUCCEEDS(backend->open(0, &small, &small_memory));
    ha_cl = opencl_asking;
    for (int i = 0; i < 2; i++) SUCCEEDS(backend->memory->allocate(small_memory, 1000, &block[i]));
    const ha_opencl_device *d = (const ha_opencl_device *)small;
    assert_int_equal(d->chunks, 1);
    assert_int_equal(d->chunk[0]->bytes, 8 << 20);
    for (int i = 0; i < 2; i++) backend->memory->release(small_memory, block[i], 1000);
    backend->close(small);
}

/* ---- programs and kernels ------------------------------------------------------------------------ */

static const char text[] =
    "__kernel void axpy(float a, __global char *x, long at_x, __global char *y, long at_y,\n"
    "                   long n) {\n"
    "    size_t i = get_global_id(0);\n"
    "    __global const float *from = (__global const float *)(x + at_x);\n"
    "    __global float *to = (__global float *)(y + at_y);\n"
    "    if (i < n) to[i] += a * from[i];\n"
    "}\n"
    "__kernel void empty(__global char *x, long at_x) { (void)x; (void)at_x; }\n";

static void *block_of(const float *values, size_t n) {
    void *block;
    SUCCEEDS(backend->memory->allocate(memory, n * sizeof *values, &block));
    SUCCEEDS(backend->queue->copy(queue, block, values, n * sizeof *values));
    return block;
}

/* y += 2 x on all but the first element. */
static void run_axpy(void *program) {
    float x[N], y[N];
    const float a = 2;
    const int64_t n = N - 1;
    ha_kernel_limits limits;
    void *kernel, *again;
    for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1;
    void *bx = block_of(x, N), *by = block_of(y, N);
    SUCCEEDS(backend->kernel(program, "axpy", &limits, &kernel));
    SUCCEEDS(backend->kernel(program, "axpy", &limits, &again));
    assert_ptr_equal(kernel, again);
    assert_true(limits.lanes >= 64 && limits.multiple >= 1 && limits.local_bytes > 0);
    const ha_kernel_argument arguments[] = {
        {sizeof a, &a}, {0, (float *)bx + 1}, {0, (float *)by + 1}, {sizeof n, &n}};
    const ha_launch launch = {.kernel = kernel,
                              .teams = {(N + 63) / 64, 1, 1},
                              .lanes = {64, 1, 1},
                              .argument = arguments,
                              .arguments = 4};
    SUCCEEDS(backend->queue->launch(queue, &launch));
    SUCCEEDS(backend->queue->copy(queue, y, by, sizeof y));
    backend->queue->drain(queue);
    for (int i = 0; i < N; i++) assert_true(y[i] == (i > 0 ? 1 + 2 * (float)i : 1));
    backend->memory->release(memory, bx, sizeof x);
    backend->memory->release(memory, by, sizeof y);
}

TEST(a_program_from_text_and_from_its_binary) {
    void *program;
    ha_binary binary = {NULL, 0};
    assert_int_equal(backend->language(device), HA_LANGUAGE_OPENCL_C);
    SUCCEEDS(backend->build(device, &(ha_program_source){.text = text, .options = "-cl-std=CL1.2"},
                            &program, &binary));
    run_axpy(program);
    backend->discard(device, program);
    assert_true(binary.bytes > 0);
    SUCCEEDS(backend->build(
        device,
        &(ha_program_source){.binary = binary.data, .binary_bytes = binary.bytes, .options = ""},
        &program, NULL));
    run_axpy(program);
    backend->discard(device, program);
    HARRAY_FREE(binary.data);
}

TEST(an_array_of_no_elements) {
    void *program, *kernel;
    ha_kernel_limits limits;
    const ha_kernel_argument nothing = {0, NULL};
    SUCCEEDS(
        backend->build(device, &(ha_program_source){.text = text, .options = ""}, &program, NULL));
    SUCCEEDS(backend->kernel(program, "empty", &limits, &kernel));
    SUCCEEDS(backend->queue->launch(queue, &(ha_launch){.kernel = kernel,
                                                        .teams = {1, 1, 1},
                                                        .lanes = {1, 1, 1},
                                                        .argument = &nothing,
                                                        .arguments = 1}));
    backend->queue->drain(queue);
    backend->discard(device, program);
}

TEST(what_cannot_be_built) {
    void *program = &program, *kernel;
    char log[4000];
    ha_kernel_limits limits;
    const ha_program_source wrong = {
        .text = "__kernel void f(__global int *x) {\n    *x = undeclared_name;\n}\n",
        .options = "",
        .log = log,
        .log_bytes = sizeof log};
    assert_int_equal(backend->build(device, &wrong, &program, NULL), HA_ERR_COMPILE);
    assert_ptr_equal(program, &program);
    assert_non_null(strstr(log, "undeclared_name"));
    assert_non_null(strstr(reported.text, "CL_BUILD_PROGRAM_FAILURE"));
    const ha_program_source no_binary = {
        .binary = "junk", .binary_bytes = 4, .options = "", .log = log, .log_bytes = sizeof log};
    assert_true(backend->build(device, &no_binary, &program, NULL) == HA_ERR_BACKEND);
    SUCCEEDS(
        backend->build(device, &(ha_program_source){.text = text, .options = ""}, &program, NULL));
    assert_int_equal(backend->kernel(program, "none", &limits, &kernel), HA_ERR_NOT_FOUND);
    SUCCEEDS(backend->kernel(program, "empty", &limits, &kernel));
    const ha_kernel_argument nothing = {0, NULL};
    const ha_launch large = {.kernel = kernel,
                             .teams = {1, 1, 1},
                             .lanes = {limits.lanes * 2, 1, 1},
                             .argument = &nothing,
                             .arguments = 1};
    assert_int_equal(backend->queue->launch(queue, &large), HA_ERR_ARGUMENT);
    backend->discard(device, program);
}

TEST(what_it_is) {
    char name[300], target[900];
    backend->describe(device, name, sizeof name);
    backend->target(device, target, sizeof target);
    assert_non_null(strstr(name, ": "));
    assert_int_equal(strncmp(target, name, strlen(name)), 0);
    assert_non_null(strstr(target, "driver "));
}

/* ---- calls that fail ------------------------------------------------------------------------------ */

static struct {
    long calls, fails; /* how many there were, the number of the one that fails */
    ha_cl_code code;
} asked;

static ha_cl_code fail_one(const char *function) {
    if (strncmp(function, "clRelease", 9) == 0) return HA_CL_SUCCESS;
    return asked.calls++ == asked.fails ? asked.code : HA_CL_SUCCESS;
}

/* A call that may fail once: then it has done nothing, says why, and succeeds when it is made again. */
#define MAY_FAIL(call)                                                                             \
    do {                                                                                           \
        const long before_ = asked.calls;                                                          \
        reported.text[0] = '\0';                                                                   \
        if ((call) != HA_OK) {                                                                     \
            assert_true(before_ <= asked.fails && asked.fails < asked.calls);                      \
            assert_true(strlen(reported.text) > 0);                                                \
            SUCCEEDS(call);                                                                        \
        }                                                                                          \
    } while (0)

/* A device is opened, a kernel is compiled and run, the values come back. */
static void compute_once(void) {
    const float in[] = {1, 2, 3, 4}, a = 3;
    const int64_t n = 4;
    float out[4] = {0};
    void *own, *own_memory, *q, *block, *program, *kernel;
    ha_kernel_limits limits;
    ha_binary binary = {NULL, 0};
    ha_event event;
    const ha_program_source source = {.text = text, .options = ""};
    MAY_FAIL(backend->open(0, &own, &own_memory));
    MAY_FAIL(backend->queue->create(own, &q));
    MAY_FAIL(backend->memory->allocate(own_memory, sizeof in, &block));
    MAY_FAIL(backend->queue->copy(q, block, in, sizeof in));
    MAY_FAIL(backend->build(own, &source, &program, &binary));
    MAY_FAIL(backend->kernel(program, "axpy", &limits, &kernel));
    const ha_kernel_argument arguments[] = {{sizeof a, &a}, {0, block}, {0, block}, {sizeof n, &n}};
    const ha_launch launch = {.kernel = kernel,
                              .teams = {1, 1, 1},
                              .lanes = {4, 1, 1},
                              .argument = arguments,
                              .arguments = 4};
    MAY_FAIL(backend->queue->launch(q, &launch));
    MAY_FAIL(backend->queue->copy(q, out, block, sizeof out));
    MAY_FAIL(backend->queue->record(q, &event));
    MAY_FAIL(backend->queue->finish(&event));
    for (int i = 0; i < 4; i++) assert_true(out[i] == 4 * in[i]); /* once, not twice */
    backend->queue->forget(&event);
    backend->discard(own, program);
    HARRAY_FREE(binary.data);
    backend->queue->drain(q);
    backend->memory->release(own_memory, block, sizeof in);
    backend->queue->destroy(q);
    backend->close(own);
}

static void fail_each(ha_cl_code code) {
    asked.code = code;
    asked.fails = 0;
    opencl_calls.ask = fail_one;
    do {
        asked.calls = 0;
        compute_once();
        asked.fails += test_stride();
    } while (asked.calls > asked.fails - test_stride());
    opencl_calls.ask = NULL;
}

/* But for those of looking for devices: a device is open all the time. */
TEST(each_call_fails_once) {
    fail_each(HA_CL_INVALID_VALUE);
    fail_each(HA_CL_OUT_OF_RESOURCES);
}

/* From some call on all of a device's calls fail: then the queue has failed, and says so from then on. */
static ha_cl_code fail_all(HA_UNUSED const char *function) { return asked.code; }

static void fail_for_good(ha_cl_code code) {
    void *block;
    float value = 5;
    ha_event event;
    SUCCEEDS(backend->memory->allocate(memory, sizeof value, &block));
    asked.code = code;
    opencl_calls.ask = fail_all;
    assert_int_equal(backend->queue->copy(queue, block, &value, sizeof value), HA_ERR_LOST);
    opencl_calls.ask = NULL;
    assert_int_equal(backend->queue->copy(queue, block, &value, sizeof value), HA_ERR_LOST);
    assert_non_null(strstr(reported.text, "the queue failed earlier"));
    assert_int_equal(backend->queue->record(queue, &event), HA_ERR_LOST);
    backend->memory->release(memory, block, sizeof value);
}

TEST(a_queue_that_fails_for_good) { fail_for_good(HA_CL_OUT_OF_RESOURCES); }

/* So say drivers of NVIDIA, when a kernel before has reached where it must not. */
TEST(a_queue_that_is_none_any_more) { fail_for_good(HA_CL_INVALID_COMMAND_QUEUE); }
TEST(a_queue_that_fails_in_a_drivers_own_way) { fail_for_good(-9999); }

/* A call with wrong arguments says nothing of the queue. */
TEST(a_call_that_fails_for_good) {
    void *block;
    float value = 5;
    SUCCEEDS(backend->memory->allocate(memory, sizeof value, &block));
    asked.code = HA_CL_INVALID_VALUE;
    opencl_calls.ask = fail_all;
    assert_int_equal(backend->queue->copy(queue, block, &value, sizeof value), HA_ERR_BACKEND);
    opencl_calls.ask = NULL;
    SUCCEEDS(backend->queue->copy(queue, block, &value, sizeof value));
    backend->queue->drain(queue);
    backend->memory->release(memory, block, sizeof value);
}

/* The queue goes on. */
TEST(finishing_fails_once) {
    ha_event event;
    asked.calls = asked.fails = 0;
    asked.code = HA_CL_INVALID_VALUE;
    opencl_calls.ask = fail_one;
    backend->queue->drain(queue);
    opencl_calls.ask = NULL;
    assert_true(asked.calls > 1);
    SUCCEEDS(backend->queue->record(queue, &event));
    backend->queue->forget(&event);
}

/* Asking for an event's state fails as long as `fails` says. */
static ha_cl_code fail_asking_for_state(const char *function) {
    if (strcmp(function, "clGetEventInfo") != 0 || asked.fails == 0) return HA_CL_SUCCESS;
    asked.fails--;
    return asked.code;
}

/* Of an event that the driver does not know any more nobody waits for the end; but one failure says nothing, nor
 * does a lack of the host's memory. */
TEST(an_event_that_cannot_be_asked) {
    ha_event event;
    SUCCEEDS(backend->queue->record(queue, &event));
    backend->queue->drain(queue);
    opencl_calls.ask = fail_asking_for_state;
    asked.code = HA_CL_OUT_OF_RESOURCES, asked.fails = 1;
    assert_int_equal(backend->queue->done(&event), 1);
    asked.fails = 2;
    assert_int_equal(backend->queue->done(&event), -1);
    asked.code = HA_CL_OUT_OF_HOST_MEMORY, asked.fails = 2;
    assert_int_equal(backend->queue->done(&event), 0);
    assert_int_equal(backend->queue->done(&event), 1);
    opencl_calls.ask = fail_all;
    asked.code = HA_CL_OUT_OF_RESOURCES;
    assert_int_equal(backend->queue->finish(&event), HA_ERR_LOST);
    opencl_calls.ask = NULL;
    SUCCEEDS(backend->queue->finish(&event));
    backend->queue->forget(&event);
}

/* A driver that is gone need not tell how a command ended: nobody waits for the time that it was to write, nor is
 * it written when the driver tells it after all. */
static struct {
    void (*tell)(ha_cl_event event, ha_cl_code state, void *argument);
    void *argument;
} untold;

static ha_cl_code keep_callback(HA_UNUSED ha_cl_event event, HA_UNUSED ha_cl_code state,
                                void (*tell)(ha_cl_event, ha_cl_code, void *), void *argument) {
    untold.tell = tell;
    untold.argument = argument;
    return HA_CL_SUCCESS;
}

TEST(times_that_never_come) {
    uint64_t early = 0, late = 0;
    SUCCEEDS(backend->queue->stamp(queue, &early));
    backend->queue->drain(queue);
    assert_true(early > 0);
    ha_cl.SetEventCallback = keep_callback;
    SUCCEEDS(backend->queue->stamp(queue, &late));
    ha_cl = opencl_asking;
    asked.code = HA_CL_OUT_OF_RESOURCES;
    opencl_calls.ask = fail_all;
    backend->queue->drain(queue);
    opencl_calls.ask = NULL;
    untold.tell(NULL, HA_CL_COMPLETE, untold.argument);
    assert_true(late == 0);
    backend->queue->drain(queue);
}

/* What the driver cannot say of the binary costs that alone. */
static ha_cl_code fail_asking_for_binary(const char *function) {
    return strcmp(function, "clGetProgramInfo") == 0 ? HA_CL_OUT_OF_RESOURCES : HA_CL_SUCCESS;
}

TEST(a_program_without_a_binary) {
    static const char empty[] = "__kernel void nothing(__global int *x) { x[0] = 1; }";
    const ha_program_source source = {.text = empty, .options = ""};
    ha_binary binary = {NULL, 0};
    void *program;
    opencl_calls.ask = fail_asking_for_binary;
    SUCCEEDS(backend->build(device, &source, &program, &binary));
    opencl_calls.ask = NULL;
    assert_null(binary.data);
    assert_int_equal(binary.bytes, 0);
    backend->discard(device, program);
}

/* Asked when it is opened: so no failure later makes it a device without one. */
TEST(a_compiler_stays) {
    asked.code = HA_CL_OUT_OF_RESOURCES;
    opencl_calls.ask = fail_all;
    assert_int_equal(backend->language(device), HA_LANGUAGE_OPENCL_C);
    opencl_calls.ask = NULL;
}

static ha_cl_code no_compiler_told(ha_cl_device which, uint32_t what, size_t room, void *value,
                                   size_t *bytes) {
    const ha_cl_code code = opencl_calls.real.GetDeviceInfo(which, what, room, value, bytes);
    if (what == HA_CL_DEVICE_COMPILER_AVAILABLE && value != NULL) memset(value, 0, 4);
    return code;
}

TEST(a_device_without_a_compiler) {
    void *other, *other_memory;
    ha_cl.GetDeviceInfo = no_compiler_told;
    SUCCEEDS(backend->open(0, &other, &other_memory));
    ha_cl = opencl_asking;
    assert_int_equal(backend->language(other), HA_LANGUAGE_NONE);
    assert_non_null(strstr(reported.text, "the driver has no compiler"));
    backend->close(other);
}

/* A device whose largest buffer is no whole number of pages gives it, and others up to it. */
enum { LARGEST = 1000001, PAGE = 4096, PAGES = LARGEST / PAGE };

static ha_cl_code largest_told(ha_cl_device which, uint32_t what, size_t room, void *value,
                               size_t *bytes) {
    const ha_cl_code code = opencl_calls.real.GetDeviceInfo(which, what, room, value, bytes);
    const uint64_t most = LARGEST;
    if (what == HA_CL_DEVICE_MAX_MEM_ALLOC_SIZE && value != NULL) memcpy(value, &most, sizeof most);
    return code;
}

static ha_cl_mem refuse_larger(ha_cl_context context, uint64_t flags, size_t bytes, void *data,
                               ha_cl_code *code) {
    if (bytes <= LARGEST) return opencl_calls.real.CreateBuffer(context, flags, bytes, data, code);
    *code = HA_CL_INVALID_BUFFER_SIZE;
    return NULL;
}

TEST(the_largest_buffer) {
    void *other, *other_memory, *block, *small[PAGES + 1];
    ha_cl.GetDeviceInfo = largest_told;
    ha_cl.CreateBuffer = refuse_larger;
    SUCCEEDS(backend->open(0, &other, &other_memory));
    SUCCEEDS(backend->memory->allocate(other_memory, LARGEST, &block));
    assert_int_equal(backend->memory->allocate(other_memory, LARGEST + 1, &small[0]),
                     HA_ERR_MEMORY);
    for (int i = 0; i < PAGES; i++)
        SUCCEEDS(backend->memory->allocate(other_memory, PAGE, &small[i]));
    assert_int_equal(((ha_opencl_device *)other)->chunks, 2); /* these are all in one */
    SUCCEEDS(backend->memory->allocate(other_memory, PAGE, &small[PAGES]));
    assert_int_equal(((ha_opencl_device *)other)->chunks, 3);
    for (int i = 0; i <= PAGES; i++) backend->memory->release(other_memory, small[i], PAGE);
    backend->memory->release(other_memory, block, LARGEST);
    backend->close(other);
    ha_cl = opencl_asking;
}

/* ---- memory with addresses of its own ---------------------------------------------------------------- */

/* cl_intel_unified_shared_memory of a driver that has shared virtual memory (SVM), as PoCL has. */
static struct {
    ha_cl_address (*alloc)(ha_cl_context, uint64_t, size_t, uint32_t);
    void (*release)(ha_cl_context, void *);
    ha_cl_code (*set)(ha_cl_kernel, uint32_t, const void *);
    ha_cl_code (*copy)(ha_cl_queue, uint32_t, void *, const void *, size_t, uint32_t,
                       const ha_cl_event *, ha_cl_event *);
    ha_cl_code (*fill)(ha_cl_queue, void *, const void *, size_t, size_t, uint32_t,
                       const ha_cl_event *, ha_cl_event *);
    int blocks;
} svm;

static ha_cl_address usm_alloc(ha_cl_context context, HA_UNUSED ha_cl_device which,
                               HA_UNUSED const uint64_t *properties, size_t bytes,
                               uint32_t alignment, ha_cl_code *code) {
    void *made = svm.alloc(context, HA_CL_MEM_READ_WRITE, bytes, alignment > 128 ? 0 : alignment);
    *code = made != NULL ? HA_CL_SUCCESS : HA_CL_OUT_OF_RESOURCES;
    svm.blocks += made != NULL;
    return made;
}

static ha_cl_code usm_free(ha_cl_context context, void *block) {
    svm.release(context, block);
    svm.blocks--;
    return HA_CL_SUCCESS;
}

static ha_cl_address usm_find(HA_UNUSED ha_cl_platform platform, const char *name) {
    ha_cl_address (*const alloc)(ha_cl_context, ha_cl_device, const uint64_t *, size_t, uint32_t,
                                 ha_cl_code *) = usm_alloc;
    ha_cl_code (*const release)(ha_cl_context, void *) = usm_free;
    ha_cl_address found = NULL;
    if (strcmp(name, "clDeviceMemAllocINTEL") == 0 || strcmp(name, "clSharedMemAllocINTEL") == 0)
        memcpy(&found, &alloc, sizeof found);
    if (strcmp(name, "clMemFreeINTEL") == 0) memcpy(&found, &release, sizeof found);
    if (strcmp(name, "clSetKernelArgMemPointerINTEL") == 0) memcpy(&found, &svm.set, sizeof found);
    if (strcmp(name, "clEnqueueMemcpyINTEL") == 0) memcpy(&found, &svm.copy, sizeof found);
    if (strcmp(name, "clEnqueueMemFillINTEL") == 0) memcpy(&found, &svm.fill, sizeof found);
    return found;
}

static ha_cl_code usm_told(ha_cl_device which, uint32_t what, size_t room, void *value,
                           size_t *bytes) {
    static const char name[] = "cl_khr_fp64 cl_intel_unified_shared_memory";
    if (what != HA_CL_DEVICE_EXTENSIONS)
        return opencl_calls.real.GetDeviceInfo(which, what, room, value, bytes);
    if (bytes != NULL) *bytes = sizeof name;
    if (value != NULL) memcpy(value, name, room < sizeof name ? room : sizeof name);
    return HA_CL_SUCCESS;
}

static int find_svm(void) {
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW), *found[5];
    const char *const names[] = {"clSVMAlloc", "clSVMFree", "clSetKernelArgSVMPointer",
                                 "clEnqueueSVMMemcpy", "clEnqueueSVMMemFill"};
    for (int i = 0; i < 5; i++) {
        found[i] = library != NULL ? dlsym(library, names[i]) : NULL;
        if (found[i] == NULL) return 0;
    }
    memcpy(&svm, found, sizeof found);
    return 1;
}

static int begin_usm(void **state) {
    int failed;
    if (!find_svm()) return -1;
    ha_cl.GetDeviceInfo = usm_told;
    ha_cl.GetExtensionFunctionAddressForPlatform = usm_find;
    (void)state;
    (void)setenv("HARRAY_OPENCL", "memory=usm", 1);
    failed = backend->count() < 1 || backend->open(0, &device, &memory) != HA_OK ||
             backend->queue->create(device, &queue) != HA_OK;
    (void)unsetenv("HARRAY_OPENCL");
    return failed;
}

static int end_usm(void **state) {
    (void)end(state);
    ha_cl = opencl_asking;
    return svm.blocks != 0; /* all was given back */
}

TEST(usm_copies_and_fills) {
    float values[4] = {1, 2, 3, 4}, back[4] = {0}, nine = 9;
    float *block;
    void *large, *made;
    ha_memory_kind kind;
    int mine = 0;
    SUCCEEDS(backend->memory->allocate(memory, sizeof values, &made));
    SUCCEEDS(backend->memory->allocate(memory, (size_t)40 << 20, &large));
    block = (float *)made;
    assert_int_equal((uintptr_t)made % 64, 0);
    assert_true(backend->memory->knows(memory, block + 3, &kind));
    assert_true(backend->memory->knows(memory, (char *)large + ((size_t)40 << 20) - 1, &kind));
    assert_int_equal(kind, HA_MEMORY_DEVICE);
    assert_false(backend->memory->knows(memory, &mine, &kind));
    SUCCEEDS(backend->queue->copy(queue, block, values, sizeof values));
    SUCCEEDS(backend->queue->fill(queue, block + 1, &nine, sizeof nine, 2));
    SUCCEEDS(backend->queue->copy(queue, large, block, sizeof values));
    SUCCEEDS(backend->queue->copy(queue, back, large, sizeof values));
    backend->queue->drain(queue);
    assert_true(back[0] == 1 && back[1] == 9 && back[2] == 9 && back[3] == 4);
    backend->memory->release(memory, large, (size_t)40 << 20);
    backend->memory->release(memory, made, sizeof values);
}

TEST(usm_kernels) {
    void *program;
    SUCCEEDS(
        backend->build(device, &(ha_program_source){.text = text, .options = ""}, &program, NULL));
    run_axpy(program);
    backend->discard(device, program);
}

/* Pointers are those of the host, too. */
static void set_seven(const ha_queue *here, void *argument) {
    *HA_HERE(here, float, *(float **)argument) = 7;
}

TEST(usm_functions) {
    void *block;
    float back = 0;
    SUCCEEDS(backend->memory->allocate(memory, sizeof back, &block));
    SUCCEEDS(backend->queue->call(queue, set_seven, &block, sizeof block));
    SUCCEEDS(backend->queue->copy(queue, &back, block, sizeof back));
    backend->queue->drain(queue);
    assert_true(back == 7);
    backend->memory->release(memory, block, sizeof back);
}

TEST(usm_where_there_is_none) {
    void *own, *own_memory;
    ha_status opened;
    assert_int_equal(setenv("HARRAY_OPENCL", "memory=usm", 1), 0);
    assert_true(backend->count() > 0);
    opened = backend->open(0, &own, &own_memory);
    assert_int_equal(unsetenv("HARRAY_OPENCL"), 0);
    if (opened == HA_OK) backend->close(own); /* a driver that has it */
    if (opened == HA_OK) skip();
    assert_int_equal(opened, HA_ERR_UNSUPPORTED);
    assert_string_equal(reported.text,
                        "opencl:0: memory=usm: the device has no cl_intel_unified_shared_memory");
}

/* ---- queues -------------------------------------------------------------------------------------- */

static void hold_up(const ha_queue *here, void *argument) {
    (void)here;
    while (__atomic_load_n(*(int **)argument, __ATOMIC_ACQUIRE)) usleep(100);
}

/* A context of another device, or of the same one once more, has other events. */
TEST(waiting_for_a_queue_of_another_context) {
    void *other, *other_memory, *later;
    int held = 1, *hold = &held;
    ha_event event, behind;
    if (!((ha_opencl_device *)device)->native) skip();
    SUCCEEDS(backend->open(0, &other, &other_memory));
    SUCCEEDS(backend->queue->create(other, &later));
    SUCCEEDS(backend->queue->call(queue, hold_up, &hold, sizeof hold));
    SUCCEEDS(backend->queue->record(queue, &event));
    SUCCEEDS(backend->queue->await(later, &event));
    SUCCEEDS(backend->queue->record(later, &behind));
    assert_int_equal(backend->queue->done(&behind), 0);
    __atomic_store_n(&held, 0, __ATOMIC_RELEASE);
    SUCCEEDS(backend->queue->finish(&behind));
    assert_int_equal(backend->queue->done(&event), 1);
    backend->queue->forget(&event);
    backend->queue->forget(&behind);
    backend->queue->drain(later);
    backend->queue->destroy(later);
    backend->close(other);
}

TEST(queues_of_the_callers) {
    ha_opencl_device *d = (ha_opencl_device *)device;
    ha_cl_code code;
    void *adopted;
    ha_cl_queue own = ha_cl.CreateCommandQueue(d->context, d->found.device, 0, &code);
    assert_int_equal(code, HA_CL_SUCCESS);
    SUCCEEDS(backend->queue->adopt(device, own, &adopted));
    assert_ptr_equal(backend->queue->native(adopted), own);
    backend->queue->destroy(adopted);
    assert_int_equal(ha_cl.Finish(own), HA_CL_SUCCESS); /* it is still there */
    assert_int_equal(ha_cl.ReleaseCommandQueue(own), HA_CL_SUCCESS);
    own = ha_cl.CreateCommandQueue(d->context, d->found.device, HA_CL_QUEUE_OUT_OF_ORDER, &code);
    if (code == HA_CL_SUCCESS) {
        assert_int_equal(backend->queue->adopt(device, own, &adopted), HA_ERR_ARGUMENT);
        assert_string_equal(reported.text, "opencl: the queue is out of order");
        assert_int_equal(ha_cl.ReleaseCommandQueue(own), HA_CL_SUCCESS);
    }
}

/* Others wait for what was enqueued: a driver that was not told to begin would let them wait for ever. */
TEST(whatever_is_enqueued_is_flushed) {
    float values[64] = {0}; /* some of it is still being written while more is enqueued */
    const float other = 1;
    int held = 0, *hold = &held;
    uint64_t ns = 0;
    void *block, *later;
    ha_event event;
    const ha_strided_copy rows = {
        .to = NULL, .bytes = 4, .levels = 1, .count = {3}, .to_step = {16}};
    ha_strided_copy copy = rows;
    SUCCEEDS(backend->queue->create(device, &later));
    SUCCEEDS(backend->memory->allocate(memory, sizeof values, &block));
    assert_int_equal(opencl_unflushed(), 0);
#define FLUSHES(call)                                                                              \
    do {                                                                                           \
        const ha_status status_ = call;                                                            \
        assert_true(status_ == HA_OK || status_ == HA_ERR_UNSUPPORTED);                            \
        assert_int_equal(opencl_unflushed(), 0);                                                   \
    } while (0)
    FLUSHES(backend->queue->copy(queue, block, values, sizeof values));
    FLUSHES(backend->queue->copy(queue, values, block, sizeof values));
    FLUSHES(backend->queue->copy(queue, (char *)block + 128, block, 64));
    FLUSHES(backend->queue->fill(queue, block, &other, 4, 16));
    copy.to = block;
    copy.from = values;
    copy.from_step[0] = 8;
    FLUSHES(backend->queue->copy_strided(queue, &copy, 1));
    FLUSHES(backend->queue->call(queue, hold_up, &hold, sizeof hold));
    FLUSHES(backend->queue->stamp(queue, &ns));
    FLUSHES(backend->queue->record(queue, &event));
    FLUSHES(backend->queue->await(later, &event));
    backend->queue->drain(queue);
    backend->queue->drain(later);
    backend->queue->forget(&event);
    backend->queue->destroy(later);
    backend->memory->release(memory, block, sizeof values);
}

int main(void) {
#define OPEN(name) cmocka_unit_test_setup_teardown(name, begin, end)
#define USM(name) cmocka_unit_test_setup_teardown(name, begin_usm, end_usm)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_library),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(devices_that_are_asked_for),
        cmocka_unit_test(the_best_device),
        cmocka_unit_test(usm_where_there_is_none),
        USM(usm_copies_and_fills),
        USM(usm_kernels),
        USM(usm_functions),
        OPEN(blocks_have_addresses_that_nobody_else_has),
        OPEN(more_than_a_buffer_can_have),
        OPEN(buffers_are_no_larger_than_can_be),
        OPEN(a_program_from_text_and_from_its_binary),
        OPEN(an_array_of_no_elements),
        OPEN(what_cannot_be_built),
        OPEN(what_it_is),
        OPEN(waiting_for_a_queue_of_another_context),
        OPEN(queues_of_the_callers),
        OPEN(each_call_fails_once),
        OPEN(a_queue_that_fails_for_good),
        OPEN(a_queue_that_is_none_any_more),
        OPEN(a_queue_that_fails_in_a_drivers_own_way),
        OPEN(a_call_that_fails_for_good),
        OPEN(finishing_fails_once),
        OPEN(an_event_that_cannot_be_asked),
        OPEN(times_that_never_come),
        OPEN(a_program_without_a_binary),
        OPEN(a_compiler_stays),
        OPEN(a_device_without_a_compiler),
        OPEN(the_largest_buffer),
        OPEN(whatever_is_enqueued_is_flushed),
    };
    const struct CMUnitTest first[] = {cmocka_unit_test(a_file_that_names_no_library)};
    int failed = 0;
    if (getenv("OCL_ICD_FILENAMES") != NULL)
        printf("# skipped: files that name no library, as OCL_ICD_FILENAMES names one\n");
    else if (getenv("HARRAY_OPENCL") == NULL)
        failed = cmocka_run_group_tests(first, NULL, NULL);
    if (opencl_begin_asking() < 1) {
        printf("skipped: %s\n", backend->missing());
        return failed > 0 ? failed : SKIPPED;
    }
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
