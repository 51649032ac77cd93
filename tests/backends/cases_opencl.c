/* OpenCL devices as users of the engine see them: kernels of their own, buffers, queues and events of the
 * caller, launches of very many lanes, what is said when there are no devices. Skipped where there are
 * none. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_kernels.h"
#include "../support/matrix.h"

enum { N = 1000, SKIPPED = 77 };

static const char text[] = "__kernel void add(__global char *buffer, long begin, float amount) {\n"
                           "    __global float *x = (__global float *)(buffer + begin);\n"
                           "    x[get_global_id(0)] += amount;\n"
                           "}\n";

static ha_cl_context context;
static ha_cl_device device;
static ha_cl_program program;
static ha_cl_kernel kernel;

/* As a user makes a program for the queues of a context. */
static int begin_program(void **state) {
    const char *source = text;
    ha_cl_code code;
    ha_cl_queue queue;
    C = ha_context_get("opencl", 0);
    H = ha_host();
    M1 = M2 = C ? ha_context_fork(C) : NULL;
    if (begin_case(state) || !C || !M1) return -1;
    queue = (ha_cl_queue)ha_context_stream(C);
    code = ha_cl.GetCommandQueueInfo(queue, HA_CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (code == HA_CL_SUCCESS)
        code = ha_cl.GetCommandQueueInfo(queue, HA_CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    if (code != HA_CL_SUCCESS) return -1;
    program = ha_cl.CreateProgramWithSource(context, 1, &source, NULL, &code);
    if (code == HA_CL_SUCCESS) code = ha_cl.BuildProgram(program, 1, &device, "", NULL, NULL);
    if (code == HA_CL_SUCCESS) kernel = ha_cl.CreateKernel(program, "add", &code);
    return code != HA_CL_SUCCESS;
}

static int end_program(void **state) {
    const int failed = end_case(state);
    (void)ha_cl.ReleaseKernel(kernel);
    (void)ha_cl.ReleaseProgram(program);
    if (ha_shutdown() == HA_OK) return failed;
    print_error("left behind: %s\n", ha_take_error().text);
    return -1;
}

static harray_float floats(size_t n) {
    harray_float x = harray_float_from(keep_array(harray_float_new(n).array));
    HA_OVERWRITING(v, x, H, n) for (size_t i = 0; i < n; i++) v.data[i] = (float)i;
    else if (n > 0) fail();
    return x;
}

static void expect_floats(harray_float x, size_t first, size_t last, float amount) {
    HA_READING(v, x, H)
    for (size_t i = 0; i < v.size; i++)
        assert_true(v.data[i] == (float)i + (i >= first && i < last ? amount : 0));
    else fail();
}

/* Parameters 0 and 1 are set. */
static void enqueue_add(ha_cl_queue queue, size_t n, float amount) {
    assert_int_equal(ha_cl.SetKernelArg(kernel, 2, sizeof amount, &amount), HA_CL_SUCCESS);
    assert_int_equal(ha_cl.EnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL),
                     HA_CL_SUCCESS);
}

/* ---- kernels of one's own ---------------------------------------------------------------------- */

TEST(kernels_on_a_whole_array) {
    harray_float x = floats(N);
    HA_WRITING(v, x, C) {
        SUCCEEDS(ha_opencl_argument(kernel, 0, v.data));
        enqueue_add(HA_CL_QUEUE(v), v.size, 2);
    }
    else fail();
    expect_floats(x, 0, N, 2);
    drop_array(x.array);
}

/* The pointer is to the first element of the range. */
TEST(kernels_on_a_range) {
    harray_float x = floats(N);
    HA_WRITING_RANGE(v, x, M1, 300, 333) {
        SUCCEEDS(ha_opencl_argument(kernel, 0, v.data));
        enqueue_add(HA_CL_QUEUE(v), v.size, 5);
    }
    else fail();
    expect_floats(x, 300, 333, 5);
    drop_array(x.array);
}

TEST(an_array_without_elements) { SUCCEEDS(ha_opencl_argument(kernel, 0, NULL)); }

TEST(the_buffer_of_a_pointer) {
    harray_float x = floats(N);
    HA_READING(v, x, C) {
        float part[3] = {0};
        size_t whole = 0, offset = 0;
        struct _cl_mem *buffer = ha_opencl_buffer(v.data, &whole);
        assert_non_null(buffer);
        assert_ptr_equal(ha_opencl_buffer(v.data + 7, &offset), buffer);
        assert_ptr_equal(ha_opencl_buffer(v.data + 7, NULL), buffer);
        assert_int_equal(offset, whole + 7 * sizeof *part);
        assert_int_equal(ha_cl.EnqueueReadBuffer(HA_CL_QUEUE(v), buffer, 1, offset, sizeof part,
                                                 part, 0, NULL, NULL),
                         HA_CL_SUCCESS);
        assert_true(part[0] == 7 && part[1] == 8 && part[2] == 9);
    }
    else fail();
    drop_array(x.array);
}

static void expect_text(ha_status status, const char *operation, const char *part) {
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, status);
    assert_string_equal(e.operation, operation);
    if (!strstr(e.text, part)) fail_msg("\"%s\" lacks \"%s\"", e.text, part);
}

TEST(pointers_of_no_buffer) {
    harray_float x = floats(N);
    size_t offset = 77;
    int mine = 0;
    assert_null(ha_opencl_buffer(&mine, &offset));
    expect_text(HA_ERR_ARGUMENT, "ha_opencl_buffer", "in no buffer of an OpenCL device");
    assert_int_equal(offset, 77);
    assert_null(ha_opencl_buffer(NULL, &offset));
    expect_text(HA_ERR_ARGUMENT, "ha_opencl_buffer", "in no buffer of an OpenCL device");
    HA_READING(v, x, H) {
        assert_int_equal(ha_opencl_argument(kernel, 0, v.data), HA_ERR_ARGUMENT);
        expect_text(HA_ERR_ARGUMENT, "ha_opencl_argument", "in no buffer of an OpenCL device");
    }
    else fail();
    HA_READING(v, x, C) {
        assert_int_equal(ha_opencl_argument(NULL, 0, v.data), HA_ERR_ARGUMENT);
        expect_text(HA_ERR_ARGUMENT, "ha_opencl_argument", "no such kernel");
        assert_int_equal(ha_opencl_argument(kernel, UINT32_MAX, v.data), HA_ERR_ARGUMENT);
        expect_text(HA_ERR_ARGUMENT, "ha_opencl_argument", "no such parameter");
        assert_int_equal(ha_opencl_argument(kernel, 2, v.data), HA_ERR_BACKEND);
        expect_text(HA_ERR_BACKEND, "ha_opencl_argument", "for parameters 2 and 3");
    }
    else fail();
    drop_array(x.array);
}

/* ---- launches of more lanes than a driver can count -------------------------------------------- */

HA_KERNEL(touch_all, ((inout, float, x)), (k, j, i), { x[0] += (float)(k + j + i); });

static struct {
    int launches;
    uint64_t items, most; /* all of them, and those of the largest launch */
} counted;

/* Counts the launch, and does nothing. */
static ha_cl_code count_items(HA_UNUSED ha_cl_queue on, HA_UNUSED ha_cl_kernel which,
                              uint32_t dimensions, HA_UNUSED const size_t *offset,
                              const size_t *all, HA_UNUSED const size_t *local,
                              HA_UNUSED uint32_t n, HA_UNUSED const ha_cl_event *events,
                              HA_UNUSED ha_cl_event *event) {
    uint64_t items = 1;
    for (uint32_t d = 0; d < dimensions; d++) items *= all[d];
    counted.launches++;
    counted.items += items;
    if (items > counted.most) counted.most = items;
    return HA_CL_SUCCESS;
}

static void expect_cut(int64_t nk, int64_t nj, int64_t ni) {
    const ha_cl_functions real = ha_cl;
    harray_float x = floats(1);
    const uint64_t lanes = (uint64_t)nk * (uint64_t)nj * (uint64_t)ni;
    memset(&counted, 0, sizeof counted);
    ha_cl.EnqueueNDRangeKernel = count_items;
    const ha_status status = touch_all(C, HA_DIM(nk, nj, ni), x);
    ha_cl = real;
    assert_int_equal(status, HA_OK);
    assert_true(counted.launches > 0 && counted.items >= lanes);
    assert_true(counted.most <= (uint64_t)1 << 31);
    drop_array(x.array);
}

TEST(launches_are_cut) {
    expect_cut(2, 1024, 1 << 20);       /* 2^31 */
    expect_cut(4096, 4096, 4096);       /* in the outermost dimension */
    expect_cut(3, 100000, 100000);      /* in the middle one */
    expect_cut(1, 1, (int64_t)3 << 32); /* in the innermost one */
    expect_cut(70000, 70000, 5);        /* more teams than are allowed */
}

/* ---- queues and events of the caller ------------------------------------------------------------ */

TEST(queues_of_the_callers) {
    ha_cl_code code;
    ha_cl_queue own = ha_cl.CreateCommandQueue(context, device, 0, &code);
    ha_context *mine;
    harray_float x = floats(N);
    assert_int_equal(code, HA_CL_SUCCESS);
    mine = ha_context_adopt(C, own);
    assert_non_null(mine);
    assert_ptr_equal(ha_context_stream(mine), own);
    REFUSED_NULL(HA_ERR_STATE, ha_context_adopt(C, own));
    for (int turn = 0; turn < 3; turn++) {
        ha_context *where = turn == 1 ? C : mine;
        HA_WRITING(v, x, where) {
            SUCCEEDS(ha_opencl_argument(kernel, 0, v.data));
            enqueue_add(HA_CL_QUEUE(v), v.size, 1);
        }
        else fail();
    }
    expect_floats(x, 0, N, 3);
    SUCCEEDS(ha_context_unfork(mine));
    assert_int_equal(ha_cl.Finish(own), HA_CL_SUCCESS); /* it is still there */
    assert_int_equal(ha_cl.ReleaseCommandQueue(own), HA_CL_SUCCESS);
    drop_array(x.array);
}

TEST(queues_that_cannot_be_adopted) {
    ha_cl_code code;
    ha_cl_context other = ha_cl.CreateContext(NULL, 1, &device, NULL, NULL, &code);
    ha_cl_queue queue = ha_cl.CreateCommandQueue(other, device, 0, &code);
    assert_int_equal(code, HA_CL_SUCCESS);
    assert_null(ha_context_adopt(C, queue));
    expect_text(HA_ERR_ARGUMENT, "ha_context_adopt", "of another context");
    assert_int_equal(ha_cl.ReleaseCommandQueue(queue), HA_CL_SUCCESS);
    assert_int_equal(ha_cl.ReleaseContext(other), HA_CL_SUCCESS);
    assert_null(ha_context_adopt(C, NULL));
    expect_text(HA_ERR_ARGUMENT, "ha_context_adopt", "this is no command queue");
}

/* A token that ends when an event of the caller's has happened. */
TEST(events_of_the_callers) {
    ha_cl_code code;
    ha_cl_event done = ha_cl.CreateUserEvent(context, &code);
    harray_float x = floats(N);
    ha_token token = {NULL, NULL, 0};
    HA_WRITING(v, x, C) SUCCEEDS(ha_detach(&token, &v));
    else fail();
    assert_int_equal(code, HA_CL_SUCCESS);
    SUCCEEDS(ha_token_end_after(&token, M1, done));
    HA_WRITING(v, x, M1) {
        SUCCEEDS(ha_opencl_argument(kernel, 0, v.data));
        enqueue_add(HA_CL_QUEUE(v), v.size, 1);
    }
    else fail();
    assert_int_equal(ha_cl.SetUserEventStatus(done, HA_CL_COMPLETE), HA_CL_SUCCESS);
    expect_floats(x, 0, N, 1);
    assert_int_equal(ha_cl.ReleaseEvent(done), HA_CL_SUCCESS);
    drop_array(x.array);
}

/* ---- when there are no devices ------------------------------------------------------------------- */

/* ---- whether a device computes as the host does ---------------------------------------------------- */

static const char *const otherwise[][2] = {{"sum += x[k]", "sum -= x[k]"},
                                           {"x[i] * x[i] - ", "x[i] * x[i] + "},
                                           {"/ x[(i + 5)", "* x[(i + 5)"},
                                           {"x[i] * x[n]", "x[i] + x[n]"},
                                           {"(x[n + 1 + i", "(x[n + 2 + i"}};
static struct {
    ha_cl_program (*real)(ha_cl_context, uint32_t, const char **, const size_t *, ha_cl_code *);
    const char *const *change;
    const char *type; /* in texts of this type alone */
} compiled_otherwise;

/* The driver compiles something else. */
static ha_cl_program compile_otherwise(ha_cl_context in, uint32_t texts, const char **source,
                                       const size_t *lengths, ha_cl_code *code) {
    char *changed = strdup(*source), *at = strstr(changed, compiled_otherwise.change[0]);
    const char *const other = changed;
    if (at != NULL && strstr(changed, compiled_otherwise.type) != NULL)
        memcpy(at, compiled_otherwise.change[1], strlen(compiled_otherwise.change[1]));
    ha_cl_program made = compiled_otherwise.real(in, texts, (const char **)(uintptr_t)&other,
                                                 lengths, code);
    free(changed);
    return made;
}

static void expect_exact(int expected) {
    C = ha_context_get("opencl", 0);
    assert_non_null(C);
    assert_int_equal(ha_context_is_exact(C), expected);
    assert_int_equal(ha_take_error().status, HA_OK);
    SUCCEEDS(ha_shutdown());
}

TEST(devices_that_compute_otherwise) {
    static const char *const types[] = {"; float sum", "; double sum"};
    (void)ha_kernel_settings_get();
    ha_kernels_set.settings.cache[0] = '\0';
    const int exact = ha_context_is_exact(ha_context_get("opencl", 0));
    SUCCEEDS(ha_shutdown());
    if (!exact) skip(); /* this one does; PoCL does not */
    expect_exact(1);
    compiled_otherwise.real = ha_cl.CreateProgramWithSource;
    for (int i = 0; i < 10; i++) {
        compiled_otherwise.change = otherwise[i / 2];
        compiled_otherwise.type = types[i % 2];
        ha_cl.CreateProgramWithSource = compile_otherwise;
        expect_exact(0);
        ha_cl.CreateProgramWithSource = compiled_otherwise.real;
    }
    assert_int_equal(setenv("HARRAY_OPENCL", "double=no", 1), 0);
    ha_cl.CreateProgramWithSource = compile_otherwise; /* of double */
    expect_exact(1);
    ha_cl.CreateProgramWithSource = compiled_otherwise.real;
    assert_int_equal(unsetenv("HARRAY_OPENCL"), 0);
}

static void expect_no_context(const char *options, const char *why) {
    assert_int_equal(setenv("HARRAY_OPENCL", options, 1), 0);
    assert_null(ha_context_find("opencl:0"));
    expect_text(HA_ERR_NOT_FOUND, "ha_context_find", why);
    assert_int_equal(unsetenv("HARRAY_OPENCL"), 0);
}

TEST(devices_that_are_not_there) {
    expect_no_context("library=libNothing.so.7", "no context 'opencl:0': libNothing.so.7: ");
    expect_no_context("platform=No Such Maker", "no device of the 1 platforms is as asked for");
    expect_no_context("type=quantum", "type is any, gpu, cpu or accelerator");
    SUCCEEDS(ha_shutdown());
}

int main(void) {
#define OPEN(name) cmocka_unit_test_setup_teardown(name, begin_program, end_program)
    const struct CMUnitTest tests[] = {
        OPEN(kernels_on_a_whole_array),   OPEN(kernels_on_a_range),
        OPEN(an_array_without_elements),  OPEN(the_buffer_of_a_pointer),
        OPEN(pointers_of_no_buffer),      OPEN(launches_are_cut),
        OPEN(queues_of_the_callers),      OPEN(queues_that_cannot_be_adopted),
        OPEN(events_of_the_callers),      CASE(devices_that_compute_otherwise),
        CASE(devices_that_are_not_there),
    };
    (void)unsetenv("HARRAY_OPENCL");
    if (ha_context_count("opencl") > 0) return cmocka_run_group_tests(tests, NULL, NULL);
    (void)ha_context_find("opencl:0");
    printf("skipped: %s\n", ha_take_error().text);
    return SKIPPED;
}
