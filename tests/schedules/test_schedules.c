/* Random schedules against a naive model, on queues that do everything as late as they can.
 *
 * Each script makes a few arrays and then opens, uses, closes, resizes, copies, frees, … as three
 * threads that take turns. After every step values, sizes, valid ranges, versions and refusals are
 * compared with the model. On the order backend each wait that is missing is found by the order
 * alone, not by luck; on the simulated device, and on CUDA devices of the fake driver, queues run on
 * threads, held and delayed at random.
 * What is too rare for random scripts has a case of its own (order_cases.h, order_pieces.h). A name as
 * argument plays the tests that match it.
 *
 *     HARRAY_SCHEDULES=n     n scripts of each suite
 *     HARRAY_SEED=n          the first seed; a failure prints its own */
#include "model_memory.h"
#include "../support/order_backend.h"
#define HARRAY_HOST_BACKEND order_host
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"

#include "model_run.h"
#include "order_pieces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* How many scripts: more when there is time. */
static uint64_t script_count(uint64_t usual) {
    const int is_long = number_from("HARRAY_TEST_LONG", 0) != 0;
    return number_from("HARRAY_SCHEDULES", is_long ? 20 * usual : usual);
}

/* Short scripts find what is rare at the beginning, long ones what piles up. */
static uint32_t script_length(uint64_t seed) {
    return seed % 8 == 7 ? 600 : 20 + 20 * (uint32_t)(seed % 5);
}

static void run_schedules(int sim, uint64_t count) {
    const uint64_t first = number_from("HARRAY_SEED", 1);
    for (uint64_t seed = first; seed < first + count; seed++) {
        const script_options options = {.seed = seed, .steps = script_length(seed), .sim = sim};
        if (!run_script(&options)) continue;
        print_script(&options);
        fail_msg("seed %llu", (unsigned long long)seed);
    }
}

static void order_schedules(HA_UNUSED void **state) {
    run_schedules(ORDER_WORLD, script_count(4000));
}

static void sim_schedules(HA_UNUSED void **state) {
    assert_false(model.failed); /* what failed has left its arrays behind */
    run_schedules(SIM_WORLD, script_count(4000) / 10);
}

/* Over the fake driver: fewer, for these are longer. */
static void managed_schedules(HA_UNUSED void **state) {
    assert_false(model.failed);
    if (!cuda_fake()) skip();
    run_schedules(MANAGED_WORLD, script_count(4000) / 20);
}

static void launch_schedules(HA_UNUSED void **state) {
    assert_false(model.failed);
    if (!cuda_fake()) skip();
    run_schedules(LAUNCH_WORLD, script_count(4000) / 20);
}

#define ORDER_CASE(name)                                                                           \
    static void name(HA_UNUSED void **state) { assert_int_equal(case_##name(), 0); }
ORDER_CASE(work_behind_the_end)
ORDER_CASE(behind_the_last_element)
ORDER_CASE(later_event_first)
ORDER_CASE(work_while_draining)
ORDER_CASE(waiting_for_the_oldest)
ORDER_CASE(growing_when_full)
ORDER_CASE(merged_operations)
ORDER_CASE(growing_before_opening)
ORDER_CASE(unwrapping_without_events)
ORDER_CASE(work_before_resizing)
ORDER_CASE(failing_with_others)
ORDER_CASE(reading_while_a_token_is_waited_for)
ORDER_CASE(half_a_copy)
ORDER_CASE(half_a_chunk)
ORDER_CASE(half_a_chunk_is_in_use)
ORDER_CASE(half_a_copied_block)
ORDER_CASE(chunks_in_turn)
ORDER_CASE(chunks_over_readers)

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_behind_the_end),
        cmocka_unit_test(behind_the_last_element),
        cmocka_unit_test(later_event_first),
        cmocka_unit_test(waiting_for_the_oldest),
        cmocka_unit_test(growing_when_full),
        cmocka_unit_test(work_while_draining),
        cmocka_unit_test(failing_with_others),
        cmocka_unit_test(reading_while_a_token_is_waited_for),
        cmocka_unit_test(merged_operations),
        cmocka_unit_test(growing_before_opening),
        cmocka_unit_test(unwrapping_without_events),
        cmocka_unit_test(work_before_resizing),
        cmocka_unit_test(half_a_copy),
        cmocka_unit_test(half_a_chunk),
        cmocka_unit_test(half_a_chunk_is_in_use),
        cmocka_unit_test(half_a_copied_block),
        cmocka_unit_test(chunks_in_turn),
        cmocka_unit_test(chunks_over_readers),
        cmocka_unit_test(order_schedules),
        cmocka_unit_test(sim_schedules),
        cmocka_unit_test(managed_schedules),
        cmocka_unit_test(launch_schedules),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("schedules", tests, NULL, NULL);
}
