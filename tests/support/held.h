/* For tests of order: queues that can be held, so that what must wait can be told from what must
 * not. Calls that would block on a held queue hang these tests.
 *
 *      C        F                      M1       M2
 *      sim:0    a fork of sim:0        sim:1    private:0                                        */
#ifndef HARRAY_TESTS_SUPPORT_HELD_H
#define HARRAY_TESTS_SUPPORT_HELD_H

#include "matrix.h"
#include "quiet.h"

enum { N = 1000 };
static const double RAMP_SUM = N * (N - 1) / 2;

static ha_context *F;

static inline void hold(ha_context *context) { SUCCEEDS(ha_sim_hold(context)); }
static inline void let_go(ha_context *context) { SUCCEEDS(ha_sim_step(context, -1)); }

/* A test that failed may have left its queues held. */
static inline int end_order(void **state) {
    ha_context *queues[] = {C, F, M1};
    for (size_t i = 0; i < 3; i++) HA_CHECK(ha_sim_step(queues[i], -1));
    return end_case(state);
}
#define ORDER(name) cmocka_unit_test_setup_teardown(name, begin_case, end_order)

/* An array that is valid on C and on the host, and queues that are idle. */
static inline harray_double everywhere(void) {
    harray_double x = ramp(N);
    touch(x, C);
    SUCCEEDS(ha_context_finish(C));
    return x;
}

static inline void begin_sum(harray_double x, ha_context *context, double *result) {
    HA_READING(v, x, context) start_sum(&v, result);
    else fail();
    step();
}

static inline void enter(void) {
    const matrix_row row = {"sim:0", "sim:1", "private:0"};
    enter_row(&row);
    F = ha_context_fork(C);
    if (!F) ha_check_failed_(HA_ERR_NOT_FOUND, HA_SITE, "fork");
}

/* A test whose queues fail: it has devices of its own. */
static inline int begin_lost(void **state) {
    enter();
    return begin_case(state);
}

static inline int end_lost(void **state) {
    const int failed = end_case(state);
    return failed || leave_row() ? -1 : 0;
}
#define LOST(name) cmocka_unit_test_setup_teardown(name, begin_lost, end_lost)

static inline void mark_job(HA_UNUSED const ha_queue *queue, void *argument) {
    atomic_store(*(atomic_int **)argument, 1);
}

/* Work that marks, behind everything that is enqueued on a context. */
static inline void enqueue_mark(ha_context *context, atomic_int *done) {
    atomic_store(done, 0);
    SUCCEEDS(ha_enqueue(context, mark_job, &done, sizeof done));
}

/* Runs an array of tests without and with random delays, and adds the failures to `failed`. */
#define RUN_WITH_AND_WITHOUT_DELAYS(failed, tests)                                                 \
    enter();                                                                                       \
    failed += cmocka_run_group_tests_name("sim:0", tests, NULL, NULL);                             \
    failed += leave_row();                                                                         \
    if (failed) return failed; /* devices may be open still */                                     \
    HA_CHECK(ha_sim_configure(&(ha_sim_options){.delay_ns = 20000, .seed = 3}));                   \
    enter();                                                                                       \
    failed += cmocka_run_group_tests_name("sim:0 with delays", tests, NULL, NULL);                 \
    failed += leave_row()

#endif
