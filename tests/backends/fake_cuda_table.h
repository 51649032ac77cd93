/* For tests of the fake driver itself: its functions as a table, and two devices to try them on.
 *
 * A test that misuses the driver does so in a child, which has to abort and say why. */
#ifndef HARRAY_TESTS_BACKENDS_FAKE_CUDA_TABLE_H
#define HARRAY_TESTS_BACKENDS_FAKE_CUDA_TABLE_H

#include "fake_cuda_find.h"
#include "../support/quiet.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static ha_cuda_driver cu;
static const fake_cuda *control;
static void *library;
static int functions_missing;
static ha_cu_context context, context2; /* of devices 0, current, and 1 */
static ha_cu_stream stream, stream2;    /* non-blocking, of the first device */
static ha_cu_stream stream3;            /* and of the second */

#define SUCCEEDS(call) assert_int_equal((int)(call), HA_CU_SUCCESS)
#define GIVES(code, call) assert_int_equal((int)(call), code)
#define TEST(name) static void name(HA_UNUSED void **state)
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin_case, end_case)

static HA_UNUSED void *pointer_of(ha_cu_pointer pointer) { return (void *)(uintptr_t)pointer; }
static HA_UNUSED ha_cu_pointer device_of(const void *pointer) {
    return (ha_cu_pointer)(uintptr_t)pointer;
}

/* 0: the driver is there. */
static int find_driver(void) {
    library = fake_cuda_load();
    control = library ? fake_cuda_of(library) : NULL;
    if (control == NULL) {
        fprintf(stderr, "HARRAY_CUDA does not name the fake driver\n");
        return 1;
    }
#define FIND(field, symbol, parameters, required, since, hip)                                      \
    do {                                                                                           \
        void *found = dlsym(library, #symbol);                                                     \
        memcpy(&cu.field, &found, sizeof found);                                                   \
        functions_missing += found == NULL;                                                        \
    } while (0);
    HA_CUDA_FUNCTIONS_(FIND)
#undef FIND
    return 0;
}

/* 0: two devices are ready. */
static int begin_with(const char *options) {
    control->reset();
    control->configure(options);
    return cu.Init(0) || cu.DevicePrimaryCtxRetain(&context, 0) ||
           cu.DevicePrimaryCtxRetain(&context2, 1) || cu.CtxPushCurrent(context2) ||
           cu.StreamCreate(&stream3, HA_CU_STREAM_NON_BLOCKING) || cu.CtxPopCurrent(NULL) ||
           cu.CtxPushCurrent(context) || cu.StreamCreate(&stream, HA_CU_STREAM_NON_BLOCKING) ||
           cu.StreamCreate(&stream2, HA_CU_STREAM_NON_BLOCKING);
}

/* Little memory: valgrind looks for leaks in all of it, also in children. */
static HA_UNUSED int begin_case(HA_UNUSED void **state) { return begin_with("capacity=16M"); }

static int end_case(HA_UNUSED void **state) {
    control->reset();
    return 0;
}

/* ---- commands whose order can be seen ---- */

static atomic_int ticks;

/* Notes at which tick it ran; they begin with 1. */
static HA_UNUSED void note_tick(void *argument) {
    atomic_store((atomic_int *)argument, atomic_fetch_add(&ticks, 1) + 1);
}

static HA_UNUSED void enqueue_tick(ha_cu_stream where, atomic_int *tick) {
    atomic_store(tick, 0);
    SUCCEEDS(cu.LaunchHostFunc(where, note_tick, tick));
}

static HA_UNUSED void until(const atomic_int *flag) {
    while (atomic_load(flag) == 0) sched_yield();
}

/* ---- other threads ---- */

typedef struct caller {
    void (*call)(struct caller *self);
    pthread_t thread;
    atomic_int begun, ended;
    int result;
    void *argument;
} caller;

static HA_UNUSED void *caller_main(void *argument) {
    caller *self = (caller *)argument;
    if (cu.CtxPushCurrent(context) != HA_CU_SUCCESS) abort();
    atomic_store(&self->begun, 1);
    self->call(self);
    atomic_store(&self->ended, 1);
    return NULL;
}

static HA_UNUSED void start_caller(caller *self, void (*call)(caller *self), void *argument) {
    memset(self, 0, sizeof *self);
    self->call = call;
    self->argument = argument;
    assert_int_equal(pthread_create(&self->thread, NULL, caller_main, self), 0);
    until(&self->begun);
    until_quiet();
}

static HA_UNUSED int finish_caller(caller *self) {
    assert_int_equal(pthread_join(self->thread, NULL), 0);
    return self->result;
}

/* ---- misuse ---- */

/* The child begins by itself: a driver does not survive a fork. */
static void misuse_as_child(void (*misuse)(void), int output) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGABRT, SIG_DFL);
    dup2(output, STDERR_FILENO);
    if (begin_with("capacity=16M")) _exit(2);
    misuse();
    _exit(3);
}

static HA_UNUSED void expect_misuse(void (*misuse)(void), const char *message) {
    char text[4096];
    size_t length = 0;
    ssize_t got;
    int ends[2], status = 0;
    pid_t child;
    control->reset(); /* no threads */
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) misuse_as_child(misuse, ends[1]);
    close(ends[1]);
    while (length < sizeof text - 1 &&
           (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || !strstr(text, message))
        fail_msg("expected \"%s\", status %d: %s", message, status, text);
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

#endif
