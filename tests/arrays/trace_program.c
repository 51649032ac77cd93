/* What tests/checks/test_trace.py looks at: a program that does known things, traced or reported,
 * and ends in different ways.
 *
 * usage: trace_program WHAT FILE */
#define HARRAY_IMPLEMENTATION
#include "../../harray.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { N = 1000, THREADS = 4, ROUNDS = 40 };
static ha_context *device;

static void add_one(const ha_queue *queue, void *argument) {
    const ha_write_double *x = (const ha_write_double *)argument;
    double *data = HA_HERE(queue, double, x->data);
    for (size_t i = 0; i < x->size; i++) data[i]++;
}

/* Two transfers of all of an array, one of 100 elements, an access inside another one, and two that
 * cross. */
static void do_known_things(void) {
    ha_read_double first, second;
    harray_double x = harray_double_zeros(N);
    ha_array_set_name(x.array, "a \"name\"\\ \n\t\x01 \xff\xc3\xa9\xed\xa0\x80");
    HA_WRITING(v, x, device) HA_RUN(add_one, v);
    HA_READING(v, x, ha_host()) HA_READING_RANGE(w, x, ha_host(), 0, 10) {}
    HA_WRITING_RANGE(v, x, ha_host(), 100, 200) {}
    HA_READING(v, x, device) {}
    HA_CHECK(ha_open(&first, x.array, ha_host(), HA_READ, 0, 1));
    HA_CHECK(ha_open(&second, x.array, ha_host(), HA_READ, 0, 2));
    HA_CHECK(ha_close(&first));
    HA_CHECK(ha_close(&second));
    HA_WRITING_RANGE(v, x, ha_host(), 0, 10) HA_IGNORE(ha_array_clear(x.array)); /* refused */
    (void)ha_take_error();
    HA_CHECK(harray_double_free(&x));
    HA_CHECK(ha_context_finish(device)); /* what has not happened at the end may be missing */
}

/* ---- ways to end ---------------------------------------------------------------------------- */

static void end_it(const char *file) {
    HA_CHECK(ha_trace_begin(file));
    do_known_things();
    HA_CHECK(ha_trace_end());
    do_known_things(); /* not in the trace */
}

/* Devices are closed and opened again meanwhile. */
static void shut_down(const char *file) {
    HA_CHECK(ha_trace_begin(file));
    do_known_things();
    HA_CHECK(ha_shutdown());
    device = ha_context_find("sim:0");
    do_known_things();
    HA_CHECK(ha_shutdown());
    HA_CHECK(ha_trace_end());
}

/* By HARRAY_TRACE, as the others below; more than fits into a buffer. */
static void crash(void) {
    for (int i = 0; i < 100; i++) do_known_things();
    abort();
}

/* What the child has of the parent's buffer is not written twice. */
static void have_a_child(void) {
    do_known_things();
    pid_t child = fork();
    if (child == 0) exit(0); /* writes what is in the buffers of stdio */
    HA_CHECK(waitpid(child, NULL, 0) == child ? HA_OK : HA_ERR_STATE);
}

/* The first call that may cause events is a child's, and refused. */
static void have_a_child_first(void) {
    pid_t child = fork();
    if (child == 0) exit(harray_double_zeros(N).array != NULL);
    HA_CHECK(waitpid(child, NULL, 0) == child ? HA_OK : HA_ERR_STATE);
    do_known_things();
}

static void *use_shared(void *argument) {
    harray_double *shared = (harray_double *)argument;
    for (int i = 0; i < ROUNDS; i++) {
        ha_context *c = i % 3 ? device : ha_host();
        harray_double own = harray_double_zeros(100);
        HA_WRITING(v, *shared, c) HA_WRITING(w, own, c) {}
        HA_READING(v, own, ha_host()) {}
        HA_CHECK(harray_double_free(&own));
    }
    return NULL;
}

static void have_threads(const char *file) {
    pthread_t threads[THREADS];
    harray_double shared = harray_double_zeros(N);
    HA_CHECK(ha_trace_begin(file));
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, use_shared, &shared);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    HA_CHECK(ha_context_finish(device));
    HA_CHECK(ha_trace_end());
    HA_CHECK(harray_double_free(&shared));
    HA_CHECK(ha_shutdown());
}

/* Transfers that have not happened when the trace ends. */
static void hold(const char *file) {
    harray_double x = harray_double_zeros(N);
    HA_CHECK(ha_trace_begin(file));
    HA_READING_RANGE(v, x, device, 0, 10) {}
    HA_CHECK(ha_context_finish(device));
    HA_CHECK(ha_sim_hold(device));
    HA_READING(v, x, device) {}
    HA_CHECK(ha_trace_end());
    HA_CHECK(ha_sim_step(device, -1));
    HA_CHECK(harray_double_free(&x));
    HA_CHECK(ha_shutdown());
}

/* A queue that fails: what was on its way never gets a time. */
static void fail(const char *file) {
    harray_double x = harray_double_zeros(N);
    HA_CHECK(ha_trace_begin(file));
    HA_CHECK(ha_sim_hold(device));
    HA_READING(v, x, device) {}
    HA_CHECK(ha_sim_fail(device));
    HA_CHECK(harray_double_free(&x));
    HA_CHECK(ha_shutdown());
    HA_CHECK(ha_trace_end());
}

/* ---- refusals ------------------------------------------------------------------------------- */

static void expect(ha_status expected, ha_status actual, const char *site) {
    if (actual != expected || ha_take_error().status != expected)
        ha_check_failed_(actual, site, "an expected error");
}
#define EXPECT(expected, call) expect(expected, call, HA_SITE)

static void be_refused(const char *file) {
    EXPECT(HA_ERR_STATE, ha_trace_end());
    EXPECT(HA_ERR_ARGUMENT, ha_trace_begin("/no/such/folder/file.json"));
    EXPECT(HA_ERR_ARGUMENT, ha_trace_begin(NULL));
    HA_CHECK(ha_trace_begin("/dev/full"));
    do_known_things();
    EXPECT(HA_ERR_BACKEND, ha_trace_end());
    HA_CHECK(ha_trace_begin(file));
    EXPECT(HA_ERR_STATE, ha_trace_begin(file));
    do_known_things();
    HA_CHECK(ha_trace_end());
    EXPECT(HA_ERR_STATE, ha_trace_end());
}

/* ---- reports -------------------------------------------------------------------------------- */

static void write_report(const char *path, void (*report)(FILE *file)) {
    FILE *file = fopen(path, "w");
    if (!file) ha_check_failed_(HA_ERR_ARGUMENT, HA_SITE, path);
    report(file);
    fclose(file);
}

static void report_all(FILE *file) {
    ha_report_json(file);
    ha_report(file);
}

/* JSON on the first line, then the table. */
static void report(const char *file) {
    ha_report_reset();
    ha_watch(HA_WATCH_ACCESSES);
    harray_double x = harray_double_zeros(N);
    ha_array_set_name(x.array, "a \"name\"\\ \n\t\x01 \xff\xc3\xa9\xed\xa0\x80");
    HA_WRITING(v, x, device) HA_RUN(add_one, v);
    HA_READING_RANGE(v, x, ha_host(), 0, 500) {}
    write_report(file, report_all);
    EXPECT(HA_ERR_STATE, ha_shutdown());
    HA_CHECK(harray_double_free(&x));
    ha_report(NULL);
    EXPECT(HA_ERR_ARGUMENT,
           ha_take_error().status == HA_ERR_ARGUMENT ? ha_trace_begin(NULL) : HA_OK);
    HA_CHECK(ha_shutdown());
}

int main(int argc, char **argv) {
    const char *what = argc == 3 ? argv[1] : "", *file = argc == 3 ? argv[2] : "";
    device = ha_context_find("sim:0");
    if (!strcmp(what, "ended"))
        end_it(file);
    else if (!strcmp(what, "shutdown"))
        shut_down(file);
    else if (!strcmp(what, "exit"))
        do_known_things();
    else if (!strcmp(what, "crash"))
        crash();
    else if (!strcmp(what, "child"))
        have_a_child();
    else if (!strcmp(what, "child first"))
        have_a_child_first();
    else if (!strcmp(what, "threads"))
        have_threads(file);
    else if (!strcmp(what, "held"))
        hold(file);
    else if (!strcmp(what, "failed"))
        fail(file);
    else if (!strcmp(what, "refused"))
        be_refused(file);
    else if (!strcmp(what, "report"))
        report(file);
    else
        return 2;
    return 0;
}
