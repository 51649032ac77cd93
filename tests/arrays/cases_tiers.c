/* Tiers: what a memory has no room for goes to its next one, from a device to the host and from there to a file, and
 * nothing is lost on the way. On the contexts of support/matrix.h, each with memories that nobody has used, and with
 * file:0 behind the host; not where the file is the device under test. Writes to it wait on demand. */
#include "../support/disturbed_writes.h"
#define HA_IDLE_TRIES_ 10 /* other threads are seen, not waited for a while */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#define HA_LAYOUT_TESTING
#include "../../harray_records.h"
#undef pwrite
#undef fallocate

#include "../support/threads.h"
#include "tiers.h"

/* Nothing is disturbed at first. */
static int begin_undisturbed(void **state) {
    undisturbed();
    return begin_tiers(state);
}

#define UNDISTURBED(name) cmocka_unit_test_setup_teardown(name, begin_undisturbed, end_tiers)

/* ---- from the host to the file --------------------------------------------------------------- */

TEST(more_than_the_host_has) {
    enum { ARRAYS = 12 };
    harray_double x[ARRAYS];
    budget_for(H, 2); /* a sixth */
    for (int i = 0; i < ARRAYS; i++) x[i] = filled_at(i, H);
    for (int round = 1; round <= 3; round++)
        for (int i = 0; i < ARRAYS; i++) add_at(x[i], H, 1);
    for (int i = 0; i < ARRAYS; i++) assert_true(sum_at(x[i], H) == (i + 3.) * N);
    assert_true(ha_context_memory(H).high_water <= room_for(2));
    assert_true(ha_memory_pressure(H).evictions > 3 * (ARRAYS - 2));
    drop_arrays();
}

/* What the file has, too, goes for nothing; what comes back is counted where it does. */
TEST(what_is_counted) {
    budget_for(H, 2);
    harray_double x = filled_at(3, H), y = filled_at(4, H), z = filled_at(5, H);
    assert_true(!is_at(x, H) && VALID(x, disk) && !is_at(y, disk));
    expect_pressure(H, 1, 1, 0);
    touch(x, H);
    assert_true(!is_at(y, H) && VALID(x, disk));
    expect_pressure(H, 2, 2, 1);
    touch(z, H);
    touch(y, H); /* x goes once more: for nothing */
    assert_true(!is_at(x, H) && is_at(z, H));
    expect_pressure(H, 3, 2, 2);
    expect_pressure(disk, 0, 0, 0);
    assert_ptr_equal(ha_memory_pressure(H).tier, disk);
    assert_null(ha_memory_pressure(disk).tier);
    drop_arrays();
}

/* What comes back to a device through the host is counted there alone. */
TEST(what_passes_through_the_host) {
    if (shares_memory(C)) skip();
    budget_for(C, 1);
    harray_double x = filled_at(3, C), y = filled_at(4, C);
    assert_true(!is_at(x, C) && is_at(y, C));
    SUCCEEDS(ha_array_evict(x.array, H));
    assert_true(!is_at(x, H) && VALID(x, disk));
    touch(x, C);
    assert_int_equal(ha_memory_pressure(C).restored, BYTES);
    assert_int_equal(ha_memory_pressure(H).restored, 0);
    drop_arrays();
}

TEST(budget_of_the_host_is_lowered) {
    harray_double x[4];
    for (int i = 0; i < 4; i++) x[i] = filled_at(i, H);
    budget_for(H, 1);
    for (int i = 0; i < 3; i++) assert_true(!is_at(x[i], H) && VALID(x[i], disk));
    assert_true(is_at(x[3], H));
    assert_int_equal(ha_memory_make_room(H, BYTES), BYTES);
    assert_false(is_at(x[3], H));
    SUCCEEDS(ha_memory_set_budget(H, 0));
    for (int i = 0; i < 4; i++) assert_true(sum_at(x[i], H) == (double)i * N);
    drop_arrays();
}

/* What is the caller's, open or to be kept stays; then what has a lower priority goes. */
TEST(what_never_goes_to_the_file) {
    static double values[N];
    budget_for(H, 4);
    harray_double x[4], mine = keep(harray_double_wrap(values, N));
    for (int i = 0; i < 4; i++) x[i] = filled_at(i, H);
    SUCCEEDS(ha_array_set_priority(x[0].array, HA_KEEP));
    SUCCEEDS(ha_array_set_priority(x[1].array, 1));
    HA_READING(v, x[2], H) {
        (void)filled_at(7, H);
        assert_true(is_at(x[0], H) && is_at(x[1], H) && !is_at(x[3], H));
        (void)filled_at(8, H);
        assert_true(is_at(x[0], H) && is_at(x[1], H));
        SUCCEEDS(ha_array_set_priority(x[1].array, -1));
        (void)filled_at(9, H);
        assert_true(is_at(x[0], H) && !is_at(x[1], H));
        budget_for(H, 2);
        assert_true(is_at(x[0], H) && is_at(x[2], H));
        assert_int_equal(ha_memory_set_budget(H, room_for(1)), HA_ERR_MEMORY);
        expect_error(HA_ERR_MEMORY, "host: 32.0 KiB more than 98304 bytes are in use");
    }
    else fail();
    assert_true(is_at(mine, H) && !is_at(mine, disk));
    drop_arrays();
}

/* ---- through three tiers ----------------------------------------------------------------------- */

TEST(device_host_and_file) {
    enum { ARRAYS = 12 };
    harray_double x[ARRAYS];
    if (shares_memory(C)) skip();
    budget_for(C, 2);
    budget_for(H, 2);
    for (int i = 0; i < ARRAYS; i++) x[i] = filled_at(i, C);
    int here = 0, on_disk = 0;
    for (int i = 0; i < ARRAYS; i++) here += is_at(x[i], C), on_disk += is_at(x[i], disk);
    assert_true(here == 2 && on_disk == ARRAYS - 4);
    for (int round = 1; round <= 2; round++)
        for (int i = 0; i < ARRAYS; i++) add_at(x[i], i % 3 ? C : H, 1);
    for (int i = 0; i < ARRAYS; i++) assert_true(sum_at(x[i], i % 2 ? H : C) == (i + 2.) * N);
    assert_true(ha_context_memory(C).high_water <= room_for(2));
    assert_true(ha_context_memory(H).high_water <= room_for(2));
    drop_arrays();
}

/* What gives way on a device is the youngest of the host: older values go to the file before. */
TEST(each_tier_has_its_own_oldest) {
    if (shares_memory(C)) skip();
    harray_double old = filled_at(1, H), x = filled_at(2, C);
    touch(x, H); /* so that it goes for nothing */
    SUCCEEDS(ha_context_finish(C));
    harray_double y = filled_at(3, H);
    budget_for(H, 3);
    budget_for(C, 1);
    harray_double z = filled_at(4, C);
    assert_true(!is_at(x, C) && is_at(x, H) && is_at(old, H));
    (void)filled_at(5, C); /* z comes to the host */
    assert_true(is_at(z, H) && is_at(x, H) && is_at(y, H) && !is_at(old, H));
    (void)filled_at(6, C); /* x came to the host for good when it had left the device: behind y */
    assert_true(is_at(z, H) && is_at(x, H) && !is_at(y, H));
    drop_arrays();
}

/* Also as long as it is on its way. */
TEST(what_comes_down_is_young_at_once) {
    if (shares_memory(C)) skip();
    harray_double old = filled_at(1, H), x = filled_at(3, C), y = filled_at(4, C);
    harray_double both = keep(harray_double_new_at(0, H));
    budget_for(H, 2);
    budget_for(C, 2);
    HA_OVERWRITING(v, both, C, 2 * N) fill(&v, 5);
    else fail();
    assert_true(!is_at(old, H) && is_at(x, H) && is_at(y, H));
    drop_arrays();
}

/* Of two that leave the device at once the host has room for one: it is brought on from there, not taken for clean as
 * long as the device has it, and sent once more. */
TEST(nobody_counts_on_what_is_leaving) {
    if (shares_memory(C)) skip();
    budget_for(C, 2);
    budget_for(H, 1);
    harray_double x = filled_at(3, C), y = filled_at(4, C);
    harray_double both = keep(harray_double_new_at(0, H));
    SUCCEEDS(ha_context_finish(C)); /* the device has what it has for certain */
    HA_OVERWRITING(v, both, C, 2 * N) fill(&v, 5);
    else fail();
    assert_true(VALID(x, disk) && VALID(y, H) && !is_at(x, H) && !is_at(y, disk));
    expect_pressure(C, 2, 2, 0);
    expect_pressure(H, 1, 1, 0);
    assert_true(sum_at(x, C) == 3. * N && sum_at(y, C) == 4. * N);
    drop_arrays();
}

/* A tier that has no room at all is passed over. */
TEST(past_a_full_host) {
    if (shares_memory(C)) skip();
    budget_for(C, 1);
    harray_double kept = filled_at(1, H), x = filled_at(3, C);
    budget_for(H, 1); /* the way leads through pinned memory, or beyond the budget */
    HA_READING(v, kept, H) {
        (void)filled_at(4, C);
        assert_true(VALID(x, disk) && !is_at(x, H) && !is_at(x, C));
    }
    else fail();
    assert_true(sum_at(x, C) == 3. * N);
    assert_non_null(
        keep(harray_double_zeros_at(N + N / 4, H)).array); /* there is as much room as before */
    drop_arrays();
}

/* Nor has anybody less room meanwhile. */
TEST(past_a_full_host_by_another_thread) {
    opener other;
    if (shares_memory(C)) skip();
    budget_for(C, 1);
    harray_double kept = filled_at(1, H), x = filled_at(3, C), y = filled_at(4, M1);
    budget_for(H, 1);
    HA_READING(v, kept, H) {
        atomic_store(&writes_held, 1);
        start_open(&other, y.array, C, HA_OVERWRITE, 0, HA_END);
        while (!ha_context_memory(H).staging && !ha_context_pinned_memory(C).staging &&
               !has_opened(&other))
            sched_yield();
        assert_false(has_opened(&other));
        assert_non_null(keep(harray_double_zeros_at(N / 4, H)).array);
        atomic_store(&writes_held, 0);
        SUCCEEDS(wait_opened(&other));
        finish(&other);
    }
    else fail();
    assert_true(VALID(x, disk) && sum_at(x, C) == 3. * N);
    drop_arrays();
}

/* The host has what it needs, another thread uses it: whoever is short at the device waits for that, too. */
TEST(waits_for_a_tier) {
    opener waits;
    if (shares_memory(C)) skip();
    SUCCEEDS(ha_memory_set_tier(H, NULL));
    budget_for(C, 1);
    harray_double used = filled_at(1, H), x = filled_at(3, C), y = filled_at(4, M1);
    touch(used, M1); /* so that it is clean when it is closed */
    SUCCEEDS(ha_context_finish(M1));
    SUCCEEDS(ha_memory_trim(H, 0) ? HA_OK : HA_OK);
    SUCCEEDS(ha_memory_set_budget(H, ha_context_memory(H).handed_out));
    ha_read_double v;
    SUCCEEDS(ha_open(&v, used.array, H, HA_READ, 0, HA_END));
    start_open(&waits, y.array, C, HA_OVERWRITE, 0, HA_END);
    while (!__atomic_load_n(&ha_turns.waiting, __ATOMIC_ACQUIRE) && !has_opened(&waits))
        sched_yield();
    until_quiet();
    assert_false(has_opened(&waits));
    assert_true(ha_memory_pressure(C).refusals < 20); /* it sleeps */
    SUCCEEDS(ha_close(&v));
    assert_int_equal(wait_opened(&waits), HA_OK);
    finish(&waits);
    assert_true(!is_at(used, H) && VALID(x, H));
    SUCCEEDS(ha_memory_set_budget(H, 0));
    drop_arrays();
}

typedef struct pair {
    double a;
    float b;
} pair;
#define pair_FIELDS (double, a), (float, b)
HA_RECORD(pair)
HA_VIEW(sheet, pair, 1, HA_ANY)
HA_RECORDS(sheets, sheet);

TEST(records_in_tiers) {
    enum { ARRAYS = 6 };
    sheets x[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) {
        x[i] = sheets_new(N);
        SUCCEEDS(ha_records_layout(x[i].records, C, "soa"));
        SUCCEEDS(ha_records_layout(x[i].records, disk, "aosoa(16)"));
        HA_USING(v, x[i], H, "overwrite")
        HA_EACH(sheet, v, at) sheet_store(v, at, (pair){.a = (double)ha_index(at), .b = (float)i});
        if (i) continue;
        budget_for(H, 4); /* of 128 KiB each */
        if (!shares_memory(C)) budget_for(C, 3);
    }
    for (int i = 0; i < ARRAYS; i++) HA_USING(v, x[i], C, "write a") SUCCEEDS(ha_context_finish(C));
    assert_true(ha_memory_pressure(H).written_back > 0);
    for (int i = 0; i < ARRAYS; i++) {
        size_t right = 0;
        HA_USING(v, x[i], H, "read")
        HA_EACH(sheet, v, at)
        right += *sheet_a(v, at) == (double)ha_index(at) && *sheet_b(v, at) == (float)i;
        assert_int_equal(right, N);
    }
    for (int i = 0; i < ARRAYS; i++) SUCCEEDS(sheets_free(&x[i]));
}

/* What is converted on its way needs staging, and none may be taken for that: no room is made where room is made. */
TEST(no_room_for_making_room) {
    ha_attempt attempt = {.site = HA_SITE};
    ha_block *staging;
    sheets x[3];
    ha_ops none = {0};
    SUCCEEDS(ha_block_take(HA_STAGING, &ha_host_memory, 64, &staging, &attempt));
    SUCCEEDS(ha_memory_set_budget(H, 5 << 20)); /* a chunk would fit, if there were room */
    for (int i = 0; i < 3; i++) {
        x[i] = sheets_new(16 * N); /* 2 MiB */
        SUCCEEDS(ha_records_layout(x[i].records, disk, "soa"));
        HA_USING(v, x[i], H, "overwrite") HA_EACH(sheet, v, at) * sheet_a(v, at) = i;
        else assert_int_equal(i, 2);
    }
    assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
    SUCCEEDS(ha_memory_set_budget(H, 0));
    for (int i = 0; i < 2; i++)
        HA_USING(v, x[i], H, "read a") HA_EACH(sheet, v, at) assert_true(*sheet_a(v, at) == i);
    for (int i = 0; i < 3; i++) SUCCEEDS(sheets_free(&x[i]));
    ha_block_retire(staging, &none);
}

/* ---- evicting on request ------------------------------------------------------------------------- */

TEST(the_host_is_evicted) {
    harray_double x = filled_at(3, H);
    SUCCEEDS(ha_array_evict(x.array, H));
    assert_true(!is_at(x, H) && VALID(x, disk));
    assert_true(sum_at(x, H) == 3. * N);
    SUCCEEDS(ha_array_evict(x.array, H)); /* for nothing */
    MOVED(x, 2, 2 * BYTES);
    expect_pressure(H, 2, 1, 1);
    SUCCEEDS(ha_memory_set_tier(H, NULL));
    add_at(x, H, 1);
    assert_int_equal(ha_array_evict(x.array, H), HA_ERR_STATE);
    expect_error(HA_ERR_STATE, "are valid nowhere else");
    drop_arrays();
}

static void *evict_it(void *array) {
    ha_status *s = (ha_status *)malloc(sizeof *s);
    *s = ha_array_evict((ha_array *)array, ha_host());
    return s;
}

/* What is just on its way to the file is waited for, whether that is a tier or not. */
TEST(what_is_on_its_way_is_waited_for) {
    for (int is_tier = 0; is_tier < 2; is_tier++) {
        pthread_t thread;
        void *status;
        SUCCEEDS(ha_memory_set_tier(H, is_tier ? disk : NULL));
        harray_double x = filled_at(3, H);
        atomic_store(&writes_held, 1);
        SUCCEEDS(ha_array_prefetch(x.array, disk, 0, HA_END));
        assert_int_equal(pthread_create(&thread, NULL, evict_it, x.array), 0);
        for (int i = 0; i < 100; i++) sched_yield();
        assert_true(is_at(x, H));
        atomic_store(&writes_held, 0);
        assert_int_equal(pthread_join(thread, &status), 0);
        assert_int_equal(*(ha_status *)status, HA_OK);
        free(status);
        assert_false(is_at(x, H));
        MOVED(x, 1, BYTES);
        assert_true(sum_at(x, H) == 3. * N);
        drop(x);
    }
}

int main(void) {
    cmocka_set_test_filter(getenv("ONLY"));
    const struct CMUnitTest tests[] = {
        UNDISTURBED(more_than_the_host_has),
        UNDISTURBED(what_is_counted),
        UNDISTURBED(what_passes_through_the_host),
        UNDISTURBED(budget_of_the_host_is_lowered),
        UNDISTURBED(what_never_goes_to_the_file),
        UNDISTURBED(device_host_and_file),
        UNDISTURBED(each_tier_has_its_own_oldest),
        UNDISTURBED(what_comes_down_is_young_at_once),
        UNDISTURBED(nobody_counts_on_what_is_leaving),
        UNDISTURBED(past_a_full_host),
        UNDISTURBED(past_a_full_host_by_another_thread),
        UNDISTURBED(waits_for_a_tier),
        UNDISTURBED(records_in_tiers),
        UNDISTURBED(no_room_for_making_room),
        UNDISTURBED(the_host_is_evicted),
        UNDISTURBED(what_is_on_its_way_is_waited_for),
    };
    return RUN_TIERS(tests);
}
