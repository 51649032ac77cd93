/* Kernels and functions, told by name: events, the trace, the report, and stopping the time. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_kernels.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"

enum { KERNEL_LINE = __LINE__ + 1 };
HA_KERNEL(add_one, ((inout, double, x)), i, { x[i] += 1; });
KNOWN_KERNEL(add_one)

static int begin_timing(void **state) {
    know_kernel(&add_one_known);
    return begin_case(state);
}
#define TIMED(name) cmocka_unit_test_setup_teardown(name, begin_timing, end_case)

static void add_two(const ha_queue *queue, void *argument) {
    const ha_write_double *v = (const ha_write_double *)argument;
    double *x = HA_HERE(queue, double, v->data);
    for (size_t i = 0; i < v->size; i++) x[i] += 2;
    for (const uint64_t then = ha_now(); ha_now() == then;) {} /* it takes time by any clock */
}

struct array {
    double *x;
    size_t n;
};
static void add_three(HA_UNUSED const ha_queue *queue, void *argument) {
    const struct array *a = (const struct array *)argument;
    for (size_t i = 0; i < a->n; i++) a->x[i] += 3;
}

static void rest(HA_UNUSED const ha_queue *queue, HA_UNUSED void *argument) {}

enum { RUN_LINE = __LINE__ + 5 };
static void add_in_all_ways(harray_double x) {
    struct array a = {.n = harray_double_size(x)};
    SUCCEEDS(add_one(C, HA_ALL_LANES, x));
    HA_WRITING(v, x, C)
    SUCCEEDS(HA_RUN(add_two, v));
    SUCCEEDS(ha_run_with(C, add_three, a, HA_USE(x, x, HA_WRITE)));
    SUCCEEDS(ha_enqueue(C, rest, NULL, 0));
}

/* ---- events -------------------------------------------------------------------------------------- */

typedef struct told {
    char name[48], at[48], site[200];
    uint64_t ns;
} told;
static struct {
    told launch[16];
    int launches, others;
} heard;

static void hear(const ha_event_info *e, HA_UNUSED void *user) {
    if (e->kind != HA_EVENT_LAUNCH || heard.launches == 16) {
        heard.others++;
        return;
    }
    told *t = &heard.launch[heard.launches++];
    snprintf(t->name, sizeof t->name, "%s", e->name);
    snprintf(t->at, sizeof t->at, "%s", e->at);
    snprintf(t->site, sizeof t->site, "%s", e->site);
    t->ns = e->end - e->start;
}

static void expect_told(int i, const char *name, int line) {
    char site[60];
    snprintf(site, sizeof site, "cases_timing.c:%d", line);
    assert_string_equal(heard.launch[i].name, name);
    if (line && !strstr(heard.launch[i].site, site))
        fail_msg("%s lacks %s", heard.launch[i].site, site);
}

/* By their names and where they stand; only while somebody watches. */
TEST(launches_are_told) {
    harray_double x = keep(harray_double_zeros(10));
    memset(&heard, 0, sizeof heard);
    ha_set_event_handler(hear, NULL);
    add_in_all_ways(x);
    assert_int_equal(heard.launches, 0);
    ha_watch(HA_WATCH_ACCESSES);
    add_in_all_ways(x);
    ha_watch(0);
    ha_set_event_handler(NULL, NULL);
    assert_int_equal(heard.launches, 4);
    expect_told(0, "add_one", KERNEL_LINE);
    expect_told(1, "add_two", RUN_LINE);
    expect_told(2, "add_three", RUN_LINE + 1);
    expect_told(3, "rest", RUN_LINE + 2);
    for (int i = 1; i < 4; i++) assert_string_equal(heard.launch[i].at, ha_context_name(C));
    SUCCEEDS(ha_context_finish(C));
    drop(x);
}

/* What is refused is not told. */
TEST(launches_that_fail) {
    harray_double x = keep(harray_double_new(10));
    memset(&heard, 0, sizeof heard);
    ha_set_event_handler(hear, NULL);
    ha_watch(HA_WATCH_ACCESSES);
    HA_WRITING(v, x, M1) REFUSED(HA_ERR_CONFLICT, add_one(C, HA_ALL_LANES, x));
    ha_watch(0);
    ha_set_event_handler(NULL, NULL);
    assert_int_equal(heard.launches, 0);
    drop(x);
}

/* ---- the report ---------------------------------------------------------------------------------- */

static int can_stamp(void) { return C == H || HA_HAS_(C->ops, ha_queue_ops, stamp); }

static ha_work_statistics work_named(const char *name, int line) {
    ha_work_statistics all[64];
    char site[60];
    const size_t n = ha_works(all, 64);
    snprintf(site, sizeof site, "cases_timing.c:%d", line);
    for (size_t i = 0; i < n && i < 64; i++)
        if (!strcmp(all[i].name, name) && strstr(all[i].site, site)) return all[i];
    return (ha_work_statistics){NULL, NULL, 0, 0, 0, 0, 0};
}

static int has(FILE *file, const char *text) {
    static char all[1 << 16];
    rewind(file);
    const size_t n = fread(all, 1, sizeof all - 1, file);
    all[n] = 0;
    return strstr(all, text) != NULL;
}

TEST(the_report_has_a_table) {
    harray_double x = keep(harray_double_zeros(1000));
    ha_report_reset();
    ha_watch(HA_WATCH_ACCESSES);
    for (int i = 0; i < 3; i++) {
        add_in_all_ways(x);
        touch(x, H);
    }
    ha_watch(0);
    add_in_all_ways(x);
    SUCCEEDS(ha_context_finish(C));
    const ha_work_statistics kernel = work_named("add_one", KERNEL_LINE),
                             run = work_named("add_two", RUN_LINE);
    assert_int_equal(kernel.calls, 3);
    assert_int_equal(run.calls, 3);
    if (can_stamp()) {
        while (work_named("add_two", RUN_LINE).timed < 3)
            sched_yield(); /* some stamp a little later */
        assert_true(work_named("add_two", RUN_LINE).ns > 0);
    }
    assert_int_equal(kernel.bytes > 0, !shares_memory(C) && !strstr(heard.launch[0].at, "host"));
    FILE *file = tmpfile();
    ha_report(file);
    assert_true(has(file, "add_one, ") && has(file, "kernel or function"));
    fclose(file);
    file = tmpfile();
    ha_report_json(file);
    assert_true(has(file, "\"kernels\": [{") && has(file, "{\"name\": \"add_one\", \"calls\": 3"));
    fclose(file);
    ha_report_reset();
    assert_int_equal(ha_works(NULL, 0), 0);
    drop(x);
}

/* ---- the trace ----------------------------------------------------------------------------------- */

/* Each with a beginning and an end, as the device tells them. */
TEST(the_trace_has_them) {
    char path[] = "/tmp/harray-test-timing-XXXXXX";
    const int made = mkstemp(path);
    assert_true(made >= 0);
    close(made);
    assert_int_equal(ha_trace_begin(path), HA_OK);
    harray_double x = keep(harray_double_zeros(10));
    add_in_all_ways(x);
    SUCCEEDS(ha_context_finish(C));
    drop(x);
    assert_int_equal(ha_trace_end(), HA_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(has(file, "{\"name\": \"add_one\", \"ph\": \"X\""));
    assert_true(has(file, "{\"name\": \"add_two\", \"ph\": \"X\""));
    assert_true(has(file, "{\"name\": \"add_three\", \"ph\": \"X\""));
    assert_true(has(file, "\"cat\": \"launch\""));
    fclose(file);
    remove(path);
}

/* ---- stopping the time ---------------------------------------------------------------------------- */

static void waits(HA_UNUSED const ha_queue *queue, HA_UNUSED void *argument) {
    const uint64_t until = ha_now() + 2000000;
    while (ha_now() < until) {}
}

TEST(moments) {
    double seconds = -1, other = -1;
    if (!can_stamp()) {
        assert_null(ha_mark(C).context);
        assert_int_equal(ha_take_error().status, HA_ERR_UNSUPPORTED);
        return;
    }
    const ha_moment first = ha_mark(C), second = ha_mark(C);
    assert_ptr_equal(first.context, C);
    SUCCEEDS(ha_elapsed(first, second, &seconds));
    assert_true(seconds >= 0);
    SUCCEEDS(ha_elapsed(second, first, &other));
    assert_true(other == -seconds);
    const ha_status s = ha_enqueue(C, waits, NULL, 0);
    if (s) {
        HA_IGNORE(ha_take_error().status);
    } else {
        SUCCEEDS(ha_elapsed(second, ha_mark(C), &seconds));
        assert_true(seconds >= 0.002);
    }
    const ha_moment here = ha_mark(H); /* of another context, by the same clock */
    SUCCEEDS(ha_elapsed(here, ha_mark(C), &seconds));
    assert_true(seconds >= 0);
    REFUSED(HA_ERR_ARGUMENT, ha_elapsed((ha_moment){NULL, 0}, here, &seconds));
    REFUSED(HA_ERR_ARGUMENT, ha_elapsed(here, here, NULL));
}

/* The latest of each context are known; the older ones are refused, not mixed up. */
TEST(moments_of_long_ago) {
    double seconds;
    if (!can_stamp() || C == H) return;
    const ha_moment old = ha_mark(C);
    ha_moment kept = {NULL, 0};
    for (int i = 0; i < HA_MARKS; i++) {
        const ha_moment m = ha_mark(C);
        assert_non_null(m.context);
        if (i == 0) kept = m;
    }
    SUCCEEDS(ha_context_finish(C)); /* the host's queue does not wait for it */
    SUCCEEDS(ha_elapsed(kept, ha_mark(H), &seconds));
    assert_true(seconds >= 0);
    REFUSED(HA_ERR_ARGUMENT, ha_elapsed(old, kept, &seconds));
    REFUSED(HA_ERR_ARGUMENT, ha_elapsed((ha_moment){C, 1u << 30}, kept, &seconds));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        TIMED(launches_are_told),
        TIMED(launches_that_fail),
        TIMED(the_report_has_a_table),
        TIMED(the_trace_has_them),
        TIMED(moments),
        TIMED(moments_of_long_ago),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
