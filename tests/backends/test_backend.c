/* What every backend must do, by the manual in backends/backend.h. Each test is run over the host (its
 * memory), the simulated device, fast and slow, the private backend, both behind the fault injection
 * with nothing armed, a file, a store, and the CUDA backend where the fake driver is.
 *
 * Of one kind alone with HARRAY_TEST_KIND=KIND. That may be any kind of backends/list.h, or the one
 * whose header the program is compiled with (see test_kind.h): then the tests of what is optional
 * are run where the backend has it. A kind that is always to be tested is one more row of
 * `subjects`. */
#include "backend_copies.h"
#include "backend_events.h"
#include "backend_faults.h"
#include "backend_functions.h"
#include "backend_memory.h"

static subject subjects[] = {
    {"host", &ha_backend_host, .has = HUGE_PAGES},
    {"faulty host", &faulty_host, .has = 0},
    {"sim", &ha_backend_sim, .has = SIM},
    {"slow sim", &ha_backend_sim, .has = SIM,
     .options = {.latency_ns = 100, .delay_ns = 2000, .bandwidth = (uint64_t)8 << 30, .seed = 7}},
    {"private", &private_backend, .has = DEVICE | FUNCTIONS},
    {"file", &ha_backend_file, .has = QUEUES | LIMITS | FILLS | ANY_FILLS | PIECES},
    {"store", &ha_backend_store, .has = QUEUES | LIMITS | PIECES},
    {"faulty sim", &faulty_sim, .has = SIM | FAULTS | SIM_LEDGER},
    {"faulty private", &faulty_private, .has = DEVICE | FUNCTIONS | FAULTS | NO_PIECES},
#ifndef HARRAY_NO_CUDA
    {"cuda", &ha_backend_cuda, .has = CUDA, .fake = ""},
    {"async", &ha_backend_cuda, .has = CUDA, .fake = "", .memory = HA_CUDA_ASYNC},
    {"managed", &ha_backend_cuda, .has = MANAGED, .fake = "", .memory = HA_CUDA_MANAGED},
    {"slow managed", &ha_backend_cuda, .has = MANAGED, .fake = "delay=20us,",
     .memory = HA_CUDA_MANAGED},
#endif
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/* ---- all of it ------------------------------------------------------------------------------ */

typedef struct conformance_test {
    const char *name;
    CMUnitTestFunction test;
    unsigned needs;
} conformance_test;

#define NEEDS(needs, test)                                                                         \
    { #test, test, needs }

static const conformance_test conformance[] = {
    NEEDS(0, tables_say_what_they_are),
    NEEDS(0, blocks_are_aligned_and_apart),
    NEEDS(0, absurd_sizes_are_refused),
    NEEDS(0, blocks_keep_their_bytes),
    NEEDS(0, threads_share_a_memory),
    NEEDS(0, released_memory_can_be_had_again),
    NEEDS(HUGE_PAGES, large_host_blocks_begin_on_a_huge_page),
    NEEDS(LIMITS, a_full_memory_refuses),
    NEEDS(QUEUES, devices_reach_the_host),
    NEEDS(ANOTHER | APART, devices_do_not_reach_each_other),
    NEEDS(QUEUES, copies_move_their_bytes_and_no_others),
    NEEDS(QUEUES, copies_inside_the_device),
    NEEDS(QUEUES, large_copies),
    NEEDS(PIECES, pieces_move_their_bytes_and_no_others),
    NEEDS(PIECES, pieces_are_copied_in_order),
    NEEDS(PIECES, large_pieces),
    NEEDS(NO_PIECES, pieces_can_be_refused),
    NEEDS(FILLS, fills_repeat_a_value),
    NEEDS(FUNCTIONS, arguments_are_copied_when_enqueued),
    NEEDS(FUNCTIONS, commands_happen_in_order),
    NEEDS(FUNCTIONS, functions_without_argument),
    NEEDS(FUNCTIONS, functions_find_the_data),
    NEEDS(FUNCTIONS, an_event_happens_with_what_was_before_it),
    NEEDS(FUNCTIONS, an_event_is_done_after_a_while),
    NEEDS(FUNCTIONS, await_orders_queues),
    NEEDS(FUNCTIONS | ANOTHER, await_orders_devices),
    NEEDS(FUNCTIONS, await_survives_the_other_queue),
    NEEDS(FUNCTIONS, drain_waits_for_everything),
    NEEDS(FUNCTIONS, threads_share_a_queue),
    NEEDS(FUNCTIONS, no_memory_for_records),
    NEEDS(FAULTS, each_point_fails_once),
    NEEDS(FAULTS, all_points_fail_from_one_on),
    NEEDS(FAULTS, a_failure_says_where),
    NEEDS(SIM_LEDGER, the_ledger_counts),
};
enum { TESTS = sizeof conformance / sizeof *conformance };

/* All tests that the subject has something for, as one group. */
static int run_on(subject *s) {
    static char names[TESTS][100];
    static running_test states[TESTS];
    struct CMUnitTest tests[TESTS] = {{.name = NULL}}; /* cmocka leaves those out */
    size_t n = 0;
    for (size_t i = 0; i < TESTS; i++) {
        const conformance_test *c = &conformance[i];
        if ((c->needs & s->has) != c->needs) continue;
        snprintf(names[n], sizeof names[n], "%s: %s", s->name, c->name);
        states[n] = (running_test){s, names[n]};
        tests[n] = (struct CMUnitTest){
            names[n], c->test, c->needs & LIMITS ? open_small : open_usual, end, &states[n]};
        n++;
    }
    return cmocka_run_group_tests_name(s->name, tests, NULL, NULL);
}

/* ---- a kind that is named -------------------------------------------------------------------- */

#define LISTED(backend) &backend,
static const ha_backend *const known[] = {
    HA_BACKENDS(LISTED)
#ifdef HARRAY_TEST_DEVICE
        & HARRAY_TEST_BACKEND,
#endif
};
enum { KNOWN = sizeof known / sizeof *known };

static void do_nothing(HA_UNUSED const ha_queue *here, HA_UNUSED void *argument) {}

/* What its tables have, and what its first device does. */
static unsigned found_in(subject *s) {
    const ha_queue_ops *slots = s->backend->queue;
    if (slots == NULL) return 0;
    unsigned found = QUEUES | (s->backend->count() > 1 ? ANOTHER : 0);
    if (slots->fill != NULL) found |= FILLS;
    if (slots->copy_strided != NULL) found |= PIECES;
    if (open_with(s, (size_t)64 << 20) != 0) return found; /* as each test will say */
    if (ops->call(queue, do_nothing, NULL, 0) == HA_OK) found |= FUNCTIONS;
    (void)close_subject(s);
    return found;
}

static int run_on_named(const char *kind) {
    for (size_t i = 0; i < KNOWN; i++) {
        subject named = {known[i]->kind, known[i], .has = 0};
        if (strcmp(known[i]->kind, kind) != 0) continue;
        if (known[i]->count() > 0) {
            named.has = found_in(&named);
            return run_on(&named);
        }
        print_error("there is no device of kind '%s'\n", kind);
        return 1;
    }
    if (strcmp(kind, "usm") == 0)
        return 77; /* sycl's, for tests of arrays (support/usm_backend.h) */
    print_error("there is no kind '%s' in backends/list.h or in this program\n", kind);
    return 1;
}

int main(void) {
    const char *kind = test_kind();
    void *library = fake_cuda_load();
    int failed = 0, ran = 0;
    atexit(tell_who_left);
    if (library != NULL) fake_driver = fake_cuda_of(library);
    for (size_t i = 0; i < SUBJECTS; i++) {
        subject *s = &subjects[i];
        if (s->fake != NULL && fake_driver == NULL) continue;
        if (kind != NULL && strcmp(s->backend->kind, kind) != 0) continue;
        failed += run_on(s);
        ran++;
    }
    return ran > 0 ? failed : run_on_named(kind);
}
