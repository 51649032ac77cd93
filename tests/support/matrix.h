/* The contexts on which the tests of the coherent array run, and what all these tests share.
 * To be included behind harray.h with HARRAY_IMPLEMENTATION and HARRAY_TESTING.
 *
 * Every test is run once for each row: C is the context under test, M1 and M2 are two further
 * devices, H is the host. No device reaches another one: what moves between them passes the host.
 *
 *      C           M1          M2
 *      host        private:0   private:1
 *      sim:0       private:0   private:1
 *      private:0   sim:0       sim:1
 *      sim:0       private:0   private:1    a unified device: C works on the host's memory
 *      cuda:0      private:0   private:1    managed memory
 *      private:0   cuda:0      cuda:1       managed memory
 *      launch:0    private:0   private:1    CUDA's device memory; functions are kernels
 *      opencl:0    private:0   private:1    functions are native kernels, as PoCL runs them
 *      disk:0      private:0   private:1    a file, whose queues run functions here (disk_backend.h)
 *      private:0   disk:0      private:1
 *      usm:0       private:0   private:1    SYCL's device memory; functions run here (usm_backend.h), kernels by OpenCL
 *
 * With HARRAY_TEST_KIND=KIND, or compiled with a device's header (test_kind.h): only those with
 * that kind, of "host" the first one, and where there are none these instead:
 *
 *      KIND:0      private:0   private:1
 *      private:0   KIND:0      KIND:1       if it has two devices
 *
 * A device that is always to be tested is one more line of `matrix`.
 *
 * Record arrays run on one more, whose devices put values into place themselves:
 *
 *      sim:0       sim:1       private:0
 *
 * Those with CUDA need HARRAY_CUDA to name the fake driver, or (but for the last) GPUs, that with
 * OpenCL a device whose queues run functions of the host, that with SYCL a library that stands in for dpctl's. What lacks its device counts as one skipped
 * test.
 *
 * A test leaves nothing behind: no error, no array (checked after each test), no memory (checked after
 * each row). */
#ifndef HARRAY_TESTS_SUPPORT_MATRIX_H
#define HARRAY_TESTS_SUPPORT_MATRIX_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda_launch.h"
#include "test_kind.h" /* before the private backend: it may bring a device of the same names */

#include "disk_backend.h"
#include "private_backend.h"
#include "usm_backend.h"
#include "invariants.h"
#include "share.h"

/* Sizes that no memory has are asked for: these tools would end the program. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

static ha_context *H, *C, *M1, *M2;

/* Whether the host and a context share one incarnation: nothing is moved between them. */
static inline int shares_memory(const ha_context *context) {
    return context == H || ha_context_is_zero_copy(context);
}

static inline int same_memory(const ha_context *a, const ha_context *b) {
    return a == b || (shares_memory(a) && shares_memory(b));
}

/* With HARRAY_DEBUG the host has addresses of its own for the memory that it shares. */
static inline int same_address(const ha_context *a, const ha_context *b) {
    return same_memory(a, b) && (!HA_DEBUGGING_ || (a == H) == (b == H));
}

typedef struct matrix_row {
    const char *c, *m1, *m2;
} matrix_row;

static const matrix_row matrix[] = {
    {"host", "private:0", "private:1"},
    {"sim:0", "private:0", "private:1"},
    {"private:0", "sim:0", "sim:1"},
    {"sim:0 unified", "private:0", "private:1"},
    {"cuda:0 managed", "private:0", "private:1"},
    {"private:0", "cuda:0 managed", "cuda:1"},
    {"launch:0", "private:0", "private:1"},
    {"opencl:0", "private:0", "private:1"},
    {"disk:0", "private:0", "private:1"},
    {"private:0", "disk:0", "private:1"},
    {"usm:0", "private:0", "private:1"},
    {"named:0", "private:0", "private:1"},
    {"private:0", "named:0", "named:1"},
};
enum { MATRIX_ROWS = sizeof matrix / sizeof *matrix };

/* The name may have a word behind it, which says how the devices are set up. Kind "named" is the
 * one that is tested. */
static inline ha_context *require_context(const char *name) {
    const int is_named = strncmp(name, "named:", 6) == 0;
    char copy[80];
    snprintf(copy, sizeof copy, "%s%.*s", is_named ? test_kind() : "", (int)strcspn(name, " "),
             is_named ? name + 5 : name);
    ha_context *context = ha_context_find(copy);
    if (!context) ha_check_failed_(HA_ERR_NOT_FOUND, HA_SITE, copy);
    return context;
}

static inline int row_has(const matrix_row *row, const char *word) {
    return strstr(row->c, word) || strstr(row->m1, word) || strstr(row->m2, word);
}

/* Whether it is a row of the kind; "host": the one that computes there. */
static inline int row_is_of(const matrix_row *row, const char *kind) {
    char name[80];
    snprintf(name, sizeof name, "%s:", kind);
    return strcmp(kind, "host") ? row_has(row, name) : row == matrix;
}

/* Whether a function has run when it has been enqueued: on the host, and over dpctl's library (usm_backend.h). */
static inline int runs_at_once(const ha_context *context) {
    return context == ha_host() ||
           (usm_enqueue == NULL && !strcmp(ha_context_kind(context), "usm"));
}

/* Whether the kind has rows of its own. */
static inline int is_in_matrix(const char *kind) {
    for (size_t i = 0; i < MATRIX_ROWS; i++)
        if (row_is_of(&matrix[i], kind)) return 1;
    return 0;
}

/* Whether the row is one of those that are asked for. */
static inline int row_is_wanted(const matrix_row *row) {
    const char *kind = test_kind();
    if (kind == NULL) return !row_has(row, "named:");
    if (!is_in_matrix(kind))
        return row_has(row, "named:0") && (!row_has(row, "named:1") || ha_context_count(kind) > 1);
    return row_is_of(row, kind);
}

/* The device that the program was compiled with. */
static inline void register_test_device(void) {
#ifdef HARRAY_TEST_DEVICE
    HA_CHECK(ha_backend_register(&HARRAY_TEST_BACKEND));
#endif
}

static inline void run_nothing(HA_UNUSED const ha_queue *queue, HA_UNUSED void *argument) {}

/* Whether there is an OpenCL device that functions for the host run on. */
static inline int opencl_runs_functions(void) {
    static int known = -1;
    if (known < 0) {
        ha_context *device = ha_context_count("opencl") > 0 ? ha_context_get("opencl", 0) : NULL;
        known = device && ha_enqueue(device, run_nothing, NULL, 0) == HA_OK;
        (void)ha_take_error();
        HA_CHECK(ha_shutdown());
    }
    return known;
}

static inline int row_has_devices(const matrix_row *row) {
    if (row_has(row, "launch:")) return cuda_fake() != NULL;
    if (row_has(row, "opencl:")) return opencl_runs_functions();
    if (row_has(row, "usm:")) return usm_is_there();
    if (row_has(row, "cuda:1")) return ha_context_count("cuda") > 1;
    return !row_has(row, "cuda:") || ha_context_count("cuda") > 0;
}

static inline void lack_devices(HA_UNUSED void **state) { skip(); }

/* Whether the row is to be run. One that is asked for, but has no devices, is skipped as one test. */
static inline int row_is_there(const matrix_row *row) {
    char name[80];
    const struct CMUnitTest skipped[] = {{name, lack_devices, NULL, NULL, NULL}};
    register_test_device();
    if (!row_is_wanted(row)) return 0;
    if (row_has_devices(row)) return 1;
    snprintf(name, sizeof name, "no_devices_for_%s_%s", row->c, row->m1);
    (void)cmocka_run_group_tests_name(row->c, skipped, NULL, NULL);
    return 0;
}

static int in_unified_row, in_strides_row, in_cuda_row;

/* Where HARRAY_TEST_CACHE names a directory, programs share what devices' compilers made of their kernels; apart from
 * it, what PoCL was told to make in another way. Once: there may be threads later. */
static inline void share_kernels(void) {
    static int is_shared;
    const char *directory = getenv("HARRAY_TEST_CACHE");
    char name[1024];
    if (!directory || is_shared) return;
    snprintf(name, sizeof name, "%s%s", directory,
             getenv("POCL_EXTRA_BUILD_FLAGS") ? "-hasty" : "");
    setenv("HARRAY_CACHE", name, 1);
    is_shared = 1;
}

static inline void enter_row(const matrix_row *row) {
    share_kernels();
    in_unified_row = row_has(row, " unified");
    in_cuda_row = row_has(row, "cuda:") || row_has(row, "launch:");
    in_strides_row = row_has(row, " strides");
    if (in_unified_row) HA_CHECK(ha_sim_configure(&(ha_sim_options){.unified = 1}));
    if (in_strides_row) HA_CHECK(ha_sim_configure(&(ha_sim_options){.strides = 1}));
    if (in_cuda_row)
        HA_CHECK(cuda_use(row_has(row, " managed") ? HA_CUDA_MANAGED : HA_CUDA_DEVICE, "peers=0"));
    HA_CHECK(ha_backend_register(&private_backend));
    register_test_device();
    if (row_has(row, "launch:")) HA_CHECK(ha_backend_register(launch_backend_make()));
    if (row_has(row, "disk:")) HA_CHECK(ha_backend_register(disk_backend_make()));
    if (row_has(row, "usm:")) HA_CHECK(ha_backend_register(usm_backend_make()));
    H = ha_host();
    C = require_context(row->c);
    M1 = require_context(row->m1);
    M2 = require_context(row->m2);
}

/* How many failures: 1 when something was leaked. */
static inline int leave_row(void) {
    if (ha_shutdown() != HA_OK) {
        print_error("left behind: %s\n", ha_take_error().text);
        return 1;
    }
    if (in_unified_row || in_strides_row) HA_CHECK(ha_sim_configure(NULL));
    if (!in_cuda_row || !cuda_fake() || cuda_fake_is_empty()) return 0;
    print_error("left behind in the CUDA driver\n");
    return 1;
}

/* Runs an array of tests on one row and adds the failures to `failed`. */
#define RUN_ON_ROW(failed, row, tests)                                                             \
    if (row_is_there(row)) {                                                                       \
        enter_row(row);                                                                            \
        failed += cmocka_run_group_tests_name((row)->c, tests, NULL, NULL);                        \
        failed += leave_row();                                                                     \
    }

/* On every row. */
#define RUN_ON_MATRIX(failed, tests)                                                               \
    for (size_t row_ = 0; row_ < MATRIX_ROWS; row_++) RUN_ON_ROW(failed, &matrix[row_], tests)

/* Whether kernels are compiled for C by an OpenCL driver, which takes longest. */
static inline int is_of_opencl(void) {
    return strcmp(ha_context_kind(C), "opencl") == 0 || strcmp(ha_context_kind(C), "usm") == 0;
}

/* Of texts that are alike but for a layout, is the i-th compiled for C? All are; for OpenCL one of three at least. */
static inline int is_compiled_here(int i) { return !is_of_opencl() || i % stride_up_to(3) == 0; }

/* ---- tests and their arrays ----------------------------------------------------------------- */

#define TEST(name) static void name(HA_UNUSED void **state)
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin_case, end_case)

enum { MOST_ARRAYS = 32 };
static ha_array *arrays[MOST_ARRAYS]; /* those of the running test; NULL: a free place */
static int leaked;                    /* a test that failed left arrays behind */

/* Asserts what must hold of every array after every step. */
static inline void step(void) {
    check_pools();
    for (size_t i = 0; i < MOST_ARRAYS; i++)
        if (arrays[i]) check_invariants(arrays[i]);
}

static inline int begin_case(HA_UNUSED void **state) {
    memset(arrays, 0, sizeof arrays);
    return 0;
}

static inline int end_case(HA_UNUSED void **state) {
    const ha_error error = ha_take_error();
    size_t left = 0;
    for (size_t i = 0; i < MOST_ARRAYS; i++) left += arrays[i] != NULL;
    if (error.status) print_error("an error was left behind: %s\n", error.text);
    if (left) print_error("%zu arrays were left behind\n", left);
    leaked |= left > 0;
    if (!leaked) check_ledger(NULL, 0);
    return error.status || left ? -1 : 0;
}

/* From now on the invariants of the array are checked, and the test must drop it. */
static inline ha_array *keep_array(ha_array *array) {
    size_t i = 0;
    assert_non_null(array);
    while (i < MOST_ARRAYS && arrays[i]) i++;
    assert_true(i < MOST_ARRAYS);
    arrays[i] = array;
    step();
    return array;
}

static inline harray_double keep(harray_double x) {
    return harray_double_from(keep_array(x.array));
}

static inline void drop_array(ha_array *array) {
    size_t i = 0;
    while (i < MOST_ARRAYS && arrays[i] != array) i++;
    assert_true(i < MOST_ARRAYS);
    check_quiet(array); /* when arrays are dropped, the test's threads have ended */
    assert_int_equal(ha_array_free(array), HA_OK);
    arrays[i] = NULL;
    step();
}

static inline void drop_arrays(void) {
    for (size_t i = 0; i < MOST_ARRAYS; i++)
        if (arrays[i]) drop_array(arrays[i]);
}

static inline void drop(harray_double x) { drop_array(x.array); }

/* ---- expectations --------------------------------------------------------------------------- */

#define SUCCEEDS(expr)                                                                             \
    do {                                                                                           \
        assert_int_equal(expr, HA_OK);                                                             \
        step();                                                                                    \
    } while (0)

/* The call gives this error and records it (HA_ERR_BUSY alone is not recorded). */
#define REFUSED(expected, expr)                                                                    \
    do {                                                                                           \
        assert_int_equal(expr, expected);                                                          \
        assert_int_equal(ha_take_error().status, (expected) == HA_ERR_BUSY ? HA_OK : (expected));  \
        step();                                                                                    \
    } while (0)

/* The call gives NULL and records this error. */
#define REFUSED_NULL(expected, expr)                                                               \
    do {                                                                                           \
        assert_null(expr);                                                                         \
        assert_int_equal(ha_take_error().status, expected);                                        \
        step();                                                                                    \
    } while (0)

#define VALID(x, context) ha_array_valid((x).array, context, 0, HA_END)
#define CAPACITY(x, context) ha_array_capacity((x).array, context)

static inline void expect_valid(const ha_array *array, const ha_context *context, size_t count,
                                const ha_range *expected) {
    ha_range actual[8] = {{0, 0}};
    assert_int_equal(ha_array_valid_ranges(array, context, actual, 8), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(actual[i].first, expected[i].first);
        assert_int_equal(actual[i].last, expected[i].last);
    }
}

/* The valid ranges at a context are exactly these: VALID_RANGES(x, C, {0, 3}, {5, 9}). */
#define VALID_RANGES(x, context, ...)                                                              \
    expect_valid((x).array, context, sizeof((ha_range[]){__VA_ARGS__}) / sizeof(ha_range),         \
                 (ha_range[]){__VA_ARGS__})
#define VALID_NOWHERE(x, context) expect_valid((x).array, context, 0, NULL)

/* What a failing call must leave as it is. */
typedef struct snapshot {
    size_t size;
    uint64_t version;
    size_t capacity[4], ranges[4]; /* at H, C, M1, M2 */
    ha_range valid[4][8];
} snapshot;

static inline snapshot snapshot_of(harray_double x) {
    const ha_context *places[] = {H, C, M1, M2};
    snapshot s;
    memset(&s, 0, sizeof s);
    s.size = ha_array_size(x.array);
    s.version = ha_array_version(x.array);
    for (size_t i = 0; i < 4; i++) {
        s.capacity[i] = ha_array_capacity(x.array, places[i]);
        s.ranges[i] = ha_array_valid_ranges(x.array, places[i], s.valid[i], 8);
    }
    return s;
}

static inline void expect_unchanged(harray_double x, const snapshot *before) {
    const snapshot after = snapshot_of(x);
    assert_memory_equal(&after, before, sizeof after);
    step();
}

/* What the array has moved so far. */
static inline void expect_moved(const ha_array *array, uint64_t transfers, uint64_t bytes) {
    const ha_statistics actual = ha_array_statistics(array);
    assert_int_equal(actual.transfers, transfers);
    assert_int_equal(actual.bytes, bytes);
}
#define MOVED(x, transfers, bytes) expect_moved((x).array, transfers, bytes)

/* Reads on the host. */
static inline void expect_values(harray_double x, size_t n, const double *expected) {
    int ran = 0;
    assert_int_equal(harray_double_size(x), n);
    HA_READING(v, x, H) {
        ran = 1;
        for (size_t i = 0; i < n; i++) assert_true(v.data[i] == expected[i]);
    }
    assert_true(ran);
    step();
}

/* The size and values are exactly these: VALUES(x, 5, 6, 2). Moves them to the host. */
#define VALUES(x, ...)                                                                             \
    expect_values(x, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

/* ---- arrays with values --------------------------------------------------------------------- */

static inline harray_double list_at(ha_context *context) {
    const double values[] = {5, 6, 2, 3, -5};
    return keep(harray_double_of_at(5, values, context));
}

/* 0, 1, 2, … on the host. */
static inline harray_double ramp(size_t n) {
    harray_double x = keep(harray_double_new(n));
    HA_OVERWRITING(v, x, H, n) for (size_t i = 0; i < n; i++) v.data[i] = (double)i;
    else fail();
    return x;
}

/* ---- work on a queue ------------------------------------------------------------------------ */

typedef struct job {
    double *data;
    size_t size;
    double amount;
} job;

static inline void add_job(const ha_queue *queue, void *argument) {
    const job *j = (const job *)argument;
    double *data = HA_HERE(queue, double, j->data);
    for (size_t i = 0; i < j->size; i++) data[i] += j->amount;
}

static inline void fill_job(const ha_queue *queue, void *argument) {
    const job *j = (const job *)argument;
    double *data = HA_HERE(queue, double, j->data);
    for (size_t i = 0; i < j->size; i++) data[i] = j->amount;
}

/* Adds to, or sets, every element of an access, on its context. */
static inline void add(const ha_write_double *v, double amount) {
    const job j = {v->data, v->size, amount};
    SUCCEEDS(ha_enqueue(v->context, add_job, &j, sizeof j));
}

static inline void fill(const ha_write_double *v, double amount) {
    const job j = {v->data, v->size, amount};
    SUCCEEDS(ha_enqueue(v->context, fill_job, &j, sizeof j));
}

typedef struct sum_of {
    const double *data;
    size_t size;
    double *result; /* on the host, wherever the function runs */
} sum_of;

static inline void sum_job(const ha_queue *queue, void *argument) {
    const sum_of *s = (const sum_of *)argument;
    const double *data = HA_HERE(queue, double, s->data);
    double sum = 0;
    for (size_t i = 0; i < s->size; i++) sum += data[i];
    *s->result = sum;
}

/* Sums the elements of an access on its context; *result is there when the queue has done it. */
static inline void start_sum(const ha_read_double *v, double *result) {
    const sum_of s = {v->data, v->size, result};
    SUCCEEDS(ha_enqueue(v->context, sum_job, &s, sizeof s));
}

static inline double sum_range(harray_double x, ha_context *context, size_t first, size_t last) {
    double result = -1e99;
    HA_READING_RANGE(v, x, context, first, last) {
        start_sum(&v, &result);
        SUCCEEDS(ha_context_finish(context));
    }
    else fail();
    step();
    return result;
}

static inline double sum_at(harray_double x, ha_context *context) {
    return sum_range(x, context, 0, HA_END);
}

/* Opens for writing, adds, closes. */
static inline void add_at(harray_double x, ha_context *context, double amount) {
    HA_WRITING(v, x, context) add(&v, amount);
    else fail();
    step();
}

/* Opens for reading, and closes. */
static inline void touch(harray_double x, ha_context *context) {
    HA_READING(v, x, context) step();
    else fail();
    step();
}

#endif
