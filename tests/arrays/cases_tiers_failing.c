/* Tiers that fail: a disk that is full, a write that fails once or for good, a device that is gone, a store that gives
 * too little. Nothing is lost that is there already, nor what was to be written. On the contexts of cases_tiers.c. */
#include "../support/disturbed_writes.h"
#define HA_IDLE_TRIES_ 10 /* other threads are seen, not waited for a while */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#undef pwrite
#undef fallocate

#include "store_tier.h"

/* Nothing is disturbed at first. */
static int begin_undisturbed(void **state) {
    undisturbed();
    return begin_tiers(state);
}

#define UNDISTURBED(name) cmocka_unit_test_setup_teardown(name, begin_undisturbed, end_tiers)

/* ---- what fails ------------------------------------------------------------------------------------ */

/* Of five the host has room for two, and the disk for two: nothing of them is lost. */
TEST(the_disk_is_full) {
    harray_double x[5];
    ha_access v;
    HA_CHECK(ha_shutdown());
    use_file(2 * BYTES);
    HA_CHECK(ha_memory_set_tier(H, disk));
    budget_for(H, 2);
    for (int i = 0; i < 4; i++) x[i] = filled_at(i, H);
    x[4] = keep(harray_double_new_at(0, H));
    assert_int_equal(ha_overwrite(&v, x[4].array, H, N, HA_WAIT), HA_ERR_MEMORY);
    expect_error(HA_ERR_MEMORY, "budget 160.0 KiB");
    assert_true(sum_at(x[2], H) == 2. * N && sum_at(x[3], H) == 3. * N);
    drop(x[3]);
    for (int i = 0; i < 3; i++) assert_true(sum_at(x[i], H) == (double)i * N);
    drop_arrays();
}

TEST(the_disk_is_full_for_a_time) {
    budget_for(H, 2);
    harray_double x = filled_at(3, H), y = filled_at(4, H), z = keep(harray_double_new_at(0, H));
    ha_access v;
    atomic_store(&disk_is_full, 1);
    REFUSED(HA_ERR_MEMORY, ha_overwrite(&v, z.array, H, N, HA_WAIT));
    assert_true(is_at(x, H) && is_at(y, H));
    atomic_store(&disk_is_full, 0);
    HA_OVERWRITING(w, z, H, N) fill(&w, 5);
    else fail();
    assert_true(sum_at(x, H) == 3. * N && sum_at(y, H) == 4. * N && sum_at(z, H) == 5. * N);
    drop_arrays();
}

/* What could not go is counted on again. */
TEST(what_stays_has_its_values) {
    ha_access v;
    if (shares_memory(C)) skip();
    budget_for(H, 1);
    budget_for(C, 1);
    harray_double x = filled_at(3, H), y = keep(harray_double_new_at(0, H));
    atomic_store(&disk_is_full, 1);
    REFUSED(HA_ERR_MEMORY, ha_overwrite(&v, y.array, H, N, HA_WAIT));
    touch(x, C);
    SUCCEEDS(ha_context_finish(C));
    HA_OVERWRITING(w, y, C, N) fill(&w, 4); /* x goes for nothing: the host has it */
    else fail();
    assert_true(!is_at(x, C) && is_at(x, H));
    drop_arrays();
}

/* A device behind the host whose queue has failed takes nothing, and nobody tries for ever. */
TEST(a_tier_that_is_gone) {
    ha_access v;
    if (strncmp(row->c, "sim:", 4) != 0 || in_unified_row) skip();
    SUCCEEDS(ha_memory_set_tier(H, C));
    budget_for(H, 1);
    harray_double x = filled_at(3, H), y = keep(harray_double_new_at(0, H));
    SUCCEEDS(ha_sim_fail(C));
    HA_IGNORE(ha_enqueue(C, run_nothing, NULL, 0));
    HA_IGNORE(ha_context_finish(C));
    (void)ha_take_error();
    REFUSED(HA_ERR_MEMORY, ha_overwrite(&v, y.array, H, N, HA_WAIT));
    assert_true(sum_at(x, H) == 3. * N);
    drop_arrays();
}

/* It is written once more. */
TEST(a_write_fails_once) {
    static const int errors[] = {EIO, ENOSPC, EDQUOT};
    budget_for(H, 2);
    for (int i = 0; i < 5; i++) (void)filled_at(i, H);
    for (int i = 0; i < 3; i++) {
        atomic_store(&fails_with, errors[i]);
        atomic_store(&writes_fail, 1 + i);
        (void)filled_at(5 + i, H);
        assert_int_equal(atomic_load(&writes_fail), 0);
    }
    for (int i = 0; i < 8; i++)
        assert_true(sum_at(harray_double_from(arrays[i]), H) == (double)i * N);
    drop_arrays();
}

/* Nothing is lost that is there already, nor what was to be written. */
TEST(writes_fail_for_good) {
    ha_access v;
    budget_for(H, 2);
    for (int i = 0; i < 5; i++) (void)filled_at(i, H);
    harray_double x = keep(harray_double_new_at(0, H));
    atomic_store(&fails_with, EIO);
    atomic_store(&writes_fail, -1);
    for (int tries = 0; tries < 3; tries++) {
        assert_int_equal(ha_overwrite(&v, x.array, H, N, HA_WAIT), HA_ERR_MEMORY);
        const ha_error e = ha_take_error();
        assert_int_equal(e.status, HA_ERR_MEMORY);
        assert_int_equal(e.code, EIO);
        assert_non_null(strstr(e.text, "writing to file:0 has failed 8 times (error 5)"));
    }
    step();
    assert_int_equal(ha_array_evict(arrays[4], H), HA_ERR_STATE);
    expect_error(HA_ERR_STATE, "are valid nowhere else, and cannot go to file:0");
    SUCCEEDS(ha_memory_set_budget(H, 0));
    for (int i = 0; i < 5; i++)
        assert_true(sum_at(harray_double_from(arrays[i]), H) == (double)i * N);
    drop_arrays();
}

/* ---- a store of the program's --------------------------------------------------------------------------- */

/* Whoever needs the values is told, wherever that is, and others are not touched. */
TEST(a_store_gives_too_little) {
    const ha_context *store = use_store();
    ha_read_double v;
    budget_for(H, 2);
    harray_double x[4];
    for (int i = 0; i < 4; i++) x[i] = filled_at(i, H);
    assert_true(VALID(x[0], store) && VALID(x[1], store) && !is_at(x[0], H));
    for (int i = 0; i < 3; i++) {
        atomic_store(i ? &heap.gets_fail : &heap.gets_short, 1);
        REFUSED(HA_ERR_BACKEND, ha_open(&v, x[0].array, i == 1 ? H : C, HA_READ, 0, HA_END));
        assert_true(sum_at(x[1], H) == 1. * N && VALID(x[0], store));
    }
    assert_true(sum_at(x[0], C) == 0 && sum_at(x[2], C) == 2. * N && sum_at(x[3], C) == 3. * N);
    leave_store();
}

TEST(puts_of_a_store_fail) {
    (void)use_store();
    budget_for(H, 2);
    for (int i = 0; i < 5; i++) (void)filled_at(i, H);
    for (int i = 0; i < 3; i++) {
        atomic_store(&heap.puts_fail, 1 + i);
        (void)filled_at(5 + i, H);
        assert_int_equal(atomic_load(&heap.puts_fail), 0);
    }
    for (int i = 0; i < 8; i++)
        assert_true(sum_at(harray_double_from(arrays[i]), H) == (double)i * N);
    leave_store();
}

int main(void) {
    cmocka_set_test_filter(getenv("ONLY"));
    const struct CMUnitTest tests[] = {
        UNDISTURBED(the_disk_is_full),          UNDISTURBED(the_disk_is_full_for_a_time),
        UNDISTURBED(what_stays_has_its_values), UNDISTURBED(a_tier_that_is_gone),
        UNDISTURBED(a_write_fails_once),        UNDISTURBED(writes_fail_for_good),
        UNDISTURBED(a_store_gives_too_little),  UNDISTURBED(puts_of_a_store_fail),
    };
    return RUN_TIERS(tests);
}
