/* Where an array has memory, pinning it, and giving it back in one place. On the contexts of
 * support/matrix.h. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"

/* A device that works on the host's memory has none of its own to give back. */
static int is_hosts(void) { return in_unified_row || !strcmp(ha_context_name(C), "host"); }

#define SKIP_ON_THE_HOST(x)                                                                        \
    if (is_hosts()) {                                                                              \
        drop(x);                                                                                   \
        return;                                                                                    \
    }                                                                                              \
    (void)0

#define EVICT(x, context) ha_array_evict((x).array, context)

TEST(copied_elsewhere_it_goes_for_nothing) {
    harray_double x = list_at(C);
    SKIP_ON_THE_HOST(x);
    VALUES(x, 5, 6, 2, 3, -5);
    const uint64_t version = ha_array_version(x.array);
    MOVED(x, 1, 40);
    SUCCEEDS(EVICT(x, C));
    MOVED(x, 1, 40);
    assert_int_equal(CAPACITY(x, C), 0);
    assert_false(VALID(x, C));
    assert_int_equal(ha_array_version(x.array), version);
    VALUES(x, 5, 6, 2, 3, -5);
    assert_true(sum_at(x, C) == 11);
    drop(x);
}

TEST(the_only_values_go_home_first) {
    harray_double x = list_at(C);
    SKIP_ON_THE_HOST(x);
    HA_WRITING(v, x, C) add(&v, 1);
    SUCCEEDS(EVICT(x, C));
    assert_int_equal(CAPACITY(x, C), 0);
    MOVED(x, 1, 40);
    VALUES(x, 6, 7, 3, 4, -4);
    MOVED(x, 1, 40);
    drop(x);
}

TEST(only_what_is_nowhere_else_is_moved) {
    harray_double x = list_at(C);
    SKIP_ON_THE_HOST(x);
    VALUES(x, 5, 6, 2, 3, -5);
    HA_WRITING_RANGE(v, x, C, 1, 3) add(&v, 1);
    SUCCEEDS(EVICT(x, C));
    MOVED(x, 2, 56);
    VALUES(x, 5, 7, 3, 3, -5);
    drop(x);
}

TEST(without_values_or_memory) {
    harray_double x = keep(harray_double_new_at(7, C));
    SKIP_ON_THE_HOST(x);
    SUCCEEDS(EVICT(x, C));
    assert_int_equal(CAPACITY(x, C), 0);
    SUCCEEDS(EVICT(x, C));
    SUCCEEDS(EVICT(x, H));
    MOVED(x, 0, 0);
    HA_OVERWRITING_ALL(v, x, C) fill(&v, 2);
    else fail();
    VALUES(x, 2, 2, 2, 2, 2, 2, 2);
    drop(x);
}

TEST(from_the_host) {
    harray_double x = list_at(H);
    REFUSED(HA_ERR_STATE, EVICT(x, H));
    assert_int_equal(CAPACITY(x, H), 5);
    SKIP_ON_THE_HOST(x);
    assert_true(sum_at(x, C) == 11);
    SUCCEEDS(EVICT(x, H));
    assert_int_equal(CAPACITY(x, H), 0);
    VALUES(x, 5, 6, 2, 3, -5);
    drop(x);
}

TEST(not_under_an_access) {
    harray_double x = list_at(C);
    SKIP_ON_THE_HOST(x);
    VALUES(x, 5, 6, 2, 3, -5);
    HA_READING(v, x, C) {
        REFUSED(HA_ERR_CONFLICT, EVICT(x, C));
        HA_READING(w, x, H) assert_int_equal(w.size, 5);
    }
    else fail();
    HA_WRITING(v, x, C) {
        add(&v, 1);
        REFUSED(HA_ERR_CONFLICT, EVICT(x, C));
        add(&v, 1);
    }
    else fail();
    HA_READING(v, x, H) SUCCEEDS(EVICT(x, C)); /* it is open, but not there */
    else fail();
    assert_int_equal(CAPACITY(x, C), 0);
    VALUES(x, 7, 8, 4, 5, -3);
    drop(x);
}

TEST(what_is_written_elsewhere_meanwhile) {
    harray_double x = list_at(C);
    SKIP_ON_THE_HOST(x);
    VALUES(x, 5, 6, 2, 3, -5);
    HA_WRITING_RANGE(v, x, C, 3, 5) add(&v, 1);
    HA_WRITING_RANGE(v, x, H, 0, 3) {
        v.data[0] = 1;
        SUCCEEDS(EVICT(x, C)); /* [3, 5) is free to be read */
    }
    else fail();
    VALUES(x, 1, 6, 2, 4, -4);
    drop(x);
}

static void expect_residency(const ha_residency *r, const ha_context *c, size_t capacity,
                             size_t valid) {
    assert_ptr_equal(r->context, c);
    assert_int_equal(r->capacity, capacity);
    assert_int_equal(r->valid, valid);
    assert_true(r->bytes >= capacity * sizeof(double));
    assert_false(r->is_callers);
}

TEST(where_it_is) {
    harray_double x = list_at(C);
    ha_residency list[3] = {{.capacity = 99}};
    assert_int_equal(ha_array_residency(NULL, list, 3), 0);
    assert_int_equal(ha_array_residency(x.array, NULL, 0), 1);
    if (is_hosts()) {
        drop(x);
        return;
    }
    VALUES(x, 5, 6, 2, 3, -5);
    HA_WRITING_RANGE(v, x, C, 1, 3) add(&v, 1);
    list[1].capacity = 99;
    assert_int_equal(ha_array_residency(x.array, list, 1), 2);
    assert_int_equal(list[1].capacity, 99);
    assert_int_equal(ha_array_residency(x.array, list, 3), 2);
    expect_residency(&list[0], C, 5, 5);
    expect_residency(&list[1], H, 5, 3);
    SUCCEEDS(EVICT(x, C));
    assert_int_equal(ha_array_residency(x.array, list, 3), 1);
    expect_residency(&list[0], H, 5, 5);
    drop(x);
}

TEST(the_memory_is_the_callers) {
    ha_residency there;
    double values[] = {1, 2, 3};
    harray_double x = keep(harray_double_wrap(values, 3));
    assert_int_equal(ha_array_residency(x.array, &there, 1), 1);
    assert_true(there.is_callers);
    REFUSED(HA_ERR_STATE, EVICT(x, H));
    VALUES(x, 1, 2, 3);
    drop(x);
    REFUSED(HA_ERR_ARGUMENT, ha_array_evict(NULL, C));
}

/* What is only on its way to another device may not arrive: it does not count as being there. */
TEST(what_is_on_its_way_has_not_arrived) {
    HA_CHECK(ha_sim_configure(&(ha_sim_options){.peers = 1}));
    ha_context *here = require_context("sim:0"), *there = require_context("sim:1");
    const double values[] = {5, 6, 2};
    harray_double x = harray_double_of_at(3, values, here);
    assert_int_equal(ha_sim_hold(there), HA_OK);
    assert_int_equal(ha_array_prefetch(x.array, there, 0, HA_END), HA_OK);
    assert_true(VALID(x, there));
    assert_false(VALID(x, ha_host()));
    assert_int_equal(EVICT(x, here), HA_OK);
    assert_int_equal(CAPACITY(x, here), 0);
    assert_true(VALID(x, ha_host()));
    assert_int_equal(ha_sim_step(there, -1), HA_OK);
    assert_int_equal(ha_context_finish(there), HA_OK);
    assert_int_equal(EVICT(x, ha_host()), HA_OK); /* now it has */
    assert_false(VALID(x, ha_host()));
    HA_READING(v, x, ha_host()) assert_memory_equal(v.data, values, sizeof values);
    else fail();
    harray_double_free(&x);
    HA_CHECK(ha_shutdown());
    HA_CHECK(ha_sim_configure(NULL));
}

/* ---- pinned memory -------------------------------------------------------------------------- */

/* Where the device has pinned memory (and nothing is protected instead). */
static void host_block_is_pinned(harray_double x) {
    const ha_incarnation *in = ha_incarnation_find(x.array, &ha_host_memory);
    ha_memory *pinned = HA_DEBUGGING_ ? NULL : C->home->pinned;
    assert_non_null(in->block);
    assert_ptr_equal(in->block->memory, pinned ? pinned : &ha_host_memory);
}

TEST(pinned_when_asked_for) {
    const double values[] = {1, 2, 3, 4};
    harray_double x = keep(harray_double_of_at(4, values, H));
    const uint64_t version = ha_array_version(x.array);
    SUCCEEDS(ha_array_pin(x.array, H)); /* has none of that */
    SUCCEEDS(ha_array_pin(x.array, C));
    host_block_is_pinned(x);
    assert_int_equal(ha_array_version(x.array), version);
    assert_int_equal(ha_array_statistics(x.array).transfers, 0);
    HA_READING(v, x, H) assert_memory_equal(v.data, values, sizeof values);
    else fail();
    SUCCEEDS(ha_array_pin(x.array, C)); /* it is already */
    HA_READING(v, x, C) { REFUSED(HA_ERR_CONFLICT, ha_array_pin(x.array, C)); }
    else fail();
    SUCCEEDS(ha_array_purge(x.array));
    HA_OVERWRITING(v, x, H, 9) for (size_t i = 0; i < v.size; i++) v.data[i] = (double)i;
    else fail();
    host_block_is_pinned(x); /* those that come later, too */
    HA_WRITING(v, x, M1) SUCCEEDS(ha_wait(&v));
    else fail();
    HA_READING(v, x, H) assert_true(v.data[8] == 8);
    else fail();
    drop(x);
}

TEST(memory_of_others_is_not_pinned) {
    double memory[4] = {0};
    harray_double x = keep(harray_double_wrap(memory, 4));
    REFUSED(HA_ERR_STATE, ha_array_pin(x.array, C));
    REFUSED(HA_ERR_ARGUMENT, ha_array_pin(NULL, C));
    drop(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(copied_elsewhere_it_goes_for_nothing),
        CASE(the_only_values_go_home_first),
        CASE(only_what_is_nowhere_else_is_moved),
        CASE(without_values_or_memory),
        CASE(from_the_host),
        CASE(not_under_an_access),
        CASE(what_is_written_elsewhere_meanwhile),
        CASE(where_it_is),
        CASE(the_memory_is_the_callers),
        CASE(pinned_when_asked_for),
        CASE(memory_of_others_is_not_pinned),
    };
    const struct CMUnitTest of_devices[] = {cmocka_unit_test(what_is_on_its_way_has_not_arrived)};
    int failed = cmocka_run_group_tests(of_devices, NULL, NULL);
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
