/* Calls that fail, one after the other, behind the fault injection. */
#ifndef HARRAY_TESTS_BACKENDS_BACKEND_FAULTS_H
#define HARRAY_TESTS_BACKENDS_BACKEND_FAULTS_H

#include "backend_functions.h"

/* That a backend cannot is no error. */
static ha_status copy_a_piece(void *block, const int *number) {
    const ha_strided_copy two = PITCHED(1, 2, 1, 2, 4, 1, 2);
    if (ops->copy_strided == NULL) return HA_OK;
    ha_status status = copy_pitched(ops, queue, block, number, &two);
    return status != HA_ERR_UNSUPPORTED ? status : HA_OK;
}

/* One of each call that can fail, in a fixed order. Returns how many gave an error. */
static long use_everything(void) {
    int number = 0;
    void *block = NULL, *fresh = NULL;
    ha_event event = {0};
    long errors = memory_ops->allocate(memory, 64, &block) != HA_OK;
    errors += ops->create(device, &fresh) != HA_OK;
    if (block != NULL) errors += ops->copy(queue, block, &number, sizeof number) != HA_OK;
    if (block != NULL) errors += copy_a_piece(block, &number) != HA_OK;
    errors += ops->call(queue, change, &(numbers){NULL, 0, 0, 0}, sizeof(numbers)) != HA_OK;
    if (ops->record(queue, &event) == HA_OK) {
        errors += ops->await(queue2, &event) != HA_OK;
        errors += ops->finish(&event) != HA_OK;
        if (ops->forget != NULL) ops->forget(&event);
    } else {
        errors++;
    }
    ops->drain(queue);
    ops->drain(queue2);
    if (fresh != NULL) ops->destroy(fresh);
    if (block != NULL) give(block, 64);
    return errors;
}

/* Without memory for a record at most one call fails, having done nothing; then all goes on. */
TEST(no_memory_for_records) {
    long n = 0, failed = 1;
    for (; failed > 0; n++) {
        faulty_arm(n, 0);
        const long errors = use_everything();
        failed = faulty_disarm();
        assert_true(errors <= failed);
    }
    assert_int_equal(use_everything(), 0);
}

TEST(each_point_fails_once) {
    long n = 0, points;
    faulty_disarm();
    assert_int_equal(use_everything(), 0);
    points = faulty_points();
    assert_true(points > 7);
    for (;; n++) {
        faulty_arm(n, 0);
        long errors = use_everything();
        if (faulty_disarm() == 0) break;
        assert_int_equal(errors, 1);
        assert_non_null(faulty_last());
    }
    assert_int_equal(n, points);
}

TEST(all_points_fail_from_one_on) {
    faulty_arm(0, 1);
    assert_int_equal(use_everything(), 4); /* without a block and an event, the rest is not tried */
    assert_true(faulty_disarm() >= 4);
    assert_int_equal(use_everything(), 0);
}

TEST(a_failure_says_where) {
    ha_event event;
    faulty_arm(0, 0);
    assert_int_equal(ops->record(queue, &event), HA_ERR_BACKEND);
    assert_int_equal(reported.code, FAULTY_CODE);
    assert_string_equal(faulty_last(), reported.text);
    assert_non_null(strstr(reported.text, ".record"));
    assert_int_equal(faulty_disarm(), 1);
}

TEST(the_ledger_counts) {
    void *block = take(100), *other = take(28);
    faulty_holdings held = faulty_held(&faulty_sim_ledger);
    assert_int_equal(held.blocks, 2);
    assert_int_equal(held.bytes, 128);
    assert_int_equal(held.queues, 2);
    assert_int_equal(held.devices, 1);
    give(block, 100);
    held = faulty_held(&faulty_sim_ledger);
    assert_int_equal(held.blocks, 1);
    assert_int_equal(held.bytes, 28);
    give(other, 28);
}

#endif
