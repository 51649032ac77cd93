/* Tiers: what a memory has no room for goes to its next one, from a device to the host and from there to a file, and
 * nothing is lost on the way. On the contexts of support/matrix.h, each with memories that nobody has used, and with
 * file:0 behind the host; not where the file is the device under test.
 *
 * Calls of the system fail on demand: writing, and reserving a part of the disk. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int writes_fail; /* so many from now on; -1: all */
static atomic_int fails_with;  /* the error of the system */
static atomic_int disk_is_full;
static atomic_int writes_held; /* until it is 0 */

static ssize_t disturbed_pwrite(int file, const void *from, size_t bytes, off_t offset) {
    while (atomic_load(&writes_held)) usleep(100);
    if (atomic_load(&writes_fail) && atomic_fetch_sub(&writes_fail, 1) != 0) {
        if (atomic_load(&writes_fail) < 0) atomic_store(&writes_fail, -1);
        return errno = atomic_load(&fails_with), -1;
    }
    return pwrite(file, from, bytes, offset);
}

static int disturbed_fallocate(int file, int mode, off_t first, off_t bytes) {
    if (mode == 0 && atomic_load(&disk_is_full)) return errno = ENOSPC, -1;
    return fallocate(file, mode, first, bytes);
}

#define pwrite disturbed_pwrite
#define fallocate disturbed_fallocate
#define HA_IDLE_TRIES_ 10 /* other threads are seen, not waited for a while */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#define HA_LAYOUT_TESTING
#include "../../harray_records.h"
#undef pwrite
#undef fallocate

#include "../support/heap_store.h"
#include "../support/least_blocks.h"
#include "../support/temporary_directory.h"
#include "../support/threads.h"

static ha_context *disk;

static void use_file(uint64_t capacity) {
    HA_CHECK(ha_file_configure(&(ha_file_options){.directory = directory, .capacity = capacity}));
    disk = require_context("file:0");
}

static int begin_tiers(void **state) {
    const int failed = begin_fresh(state);
    atomic_store(&writes_fail, 0);
    atomic_store(&disk_is_full, 0);
    atomic_store(&writes_held, 0);
    make_directory();
    use_file(64 * BYTES);
    HA_CHECK(ha_memory_set_tier(H, disk));
    return failed;
}

/* The directory must be empty: it is removed as such. */
static int end_tiers(void **state) {
    int failed = end_case(state) || ha_shutdown() != HA_OK;
    failed |= ha_file_configure(NULL) != HA_OK || rmdir(directory) != 0;
    if (failed) delete_directory();
    return failed;
}

#define TIERS(name) cmocka_unit_test_setup_teardown(name, begin_tiers, end_tiers)

static void budget_for(ha_context *c, size_t n) { SUCCEEDS(ha_memory_set_budget(c, room_for(n))); }

/* Its memory on the host is the host's own, and not what a device pins: it is touched there first. */
static harray_double filled_at(double value, ha_context *c) {
    harray_double x = keep(harray_double_new_at(0, H));
    HA_OVERWRITING(v, x, c, N) fill(&v, value);
    else fail();
    return x;
}

static int is_at(harray_double x, ha_context *c) { return CAPACITY(x, c) > 0; }

static void expect_pressure(ha_context *c, uint64_t evictions, uint64_t written_back,
                            uint64_t restored) {
    const ha_pressure p = ha_memory_pressure(c);
    assert_int_equal(p.evictions, evictions);
    assert_int_equal(p.evicted, evictions * BYTES);
    assert_int_equal(p.written_back, written_back * BYTES);
    assert_int_equal(p.restored, restored * BYTES);
}

static void expect_error(ha_status status, const char *text) {
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, status);
    if (!strstr(e.text, text)) fail_msg("'%s' is not in '%s'", text, e.text);
}

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

/* ---- which tier ---------------------------------------------------------------------------------- */

TEST(other_tiers) {
    if (shares_memory(C)) skip();
    budget_for(C, 1);
    assert_ptr_equal(ha_memory_pressure(C).tier, H);
    SUCCEEDS(ha_memory_set_tier(C, disk)); /* past the host */
    harray_double x = filled_at(3, C), y = filled_at(4, C);
    assert_true(VALID(x, disk) && !is_at(x, C));
    SUCCEEDS(ha_memory_set_tier(C, M1)); /* another device, which no queue reaches directly */
    touch(x, C);
    assert_true(VALID(y, M1) && !is_at(y, disk));
    SUCCEEDS(ha_memory_set_tier(C, NULL));
    SUCCEEDS(ha_memory_set_tier(H, M2)); /* a device behind the host: it has none itself */
    assert_ptr_equal(ha_memory_pressure(H).tier, M2);
    assert_null(ha_memory_pressure(M2).tier);
    assert_ptr_equal(ha_memory_pressure(disk).tier, H);
    harray_double z = filled_at(5, H);
    SUCCEEDS(ha_array_evict(z.array, H));
    assert_true(VALID(z, M2) && !is_at(z, H));
    assert_true(sum_at(x, H) == 3. * N && sum_at(y, H) == 4. * N && sum_at(z, H) == 5. * N);
    SUCCEEDS(ha_memory_set_tier(H, NULL));
    assert_null(ha_memory_pressure(H).tier);
    drop_arrays();
}

static int reaches_nothing(HA_UNUSED void *memory, HA_UNUSED const ha_place *other) { return 0; }

TEST(tiers_that_cannot_be) {
    static ha_memory_ops island_memory;
    static ha_backend island;
    struct {
        ha_context *of, *next;
        const char *text;
    } wrong[] = {
        {H, H, "host: its next tier cannot be host: values would come back from there"},
        {disk, H, "file:0: its next tier cannot be host: values would come back from there"},
        {disk, disk, "file:0: its next tier cannot be file:0: values would come back"},
        {M2, M1, "private:1: its next tier cannot be private:0: values would come back"},
        {H, NULL, "host: its next tier cannot be sim:9: nothing can be copied there"},
    };
    if (in_unified_row || strcmp(ha_context_name(M1), "private:0") != 0) skip();
    SUCCEEDS(ha_memory_set_tier(M1, M2));
    for (size_t i = 0; i < 4; i++) {
        const ha_context *before = ha_memory_pressure(wrong[i].of).tier;
        assert_int_equal(ha_memory_set_tier(wrong[i].of, wrong[i].next), HA_ERR_ARGUMENT);
        expect_error(HA_ERR_ARGUMENT, wrong[i].text);
        assert_ptr_equal(ha_memory_pressure(wrong[i].of).tier, before);
    }
    island_memory = *ha_backend_sim.memory;
    island_memory.reaches = reaches_nothing;
    island = ha_backend_sim;
    island.kind = "island";
    island.memory = &island_memory;
    HA_CHECK(ha_backend_register(&island));
    ha_context *far = require_context("island:0");
    assert_int_equal(ha_memory_set_tier(H, far), HA_ERR_ARGUMENT);
    expect_error(HA_ERR_ARGUMENT, "host: its next tier cannot be island:0: nothing can be copied");
    assert_int_equal(ha_memory_set_tier(far, disk), HA_ERR_ARGUMENT);
    expect_error(HA_ERR_ARGUMENT,
                 "island:0: its next tier cannot be file:0: nothing can be copied");
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

/* ---- HARRAY_MEMORY ----------------------------------------------------------------------------------- */

/* As a program finds it that has set nothing itself. */
static void use_environment(const char *text) {
    HA_CHECK(ha_shutdown());
    setenv("HARRAY_MEMORY", text, 1);
    ha_file_shared.known = 0;
    ha_file_shared.settings.directory[0] = '\0';
    ha_file_shared.wrong.text[0] = '\0';
}

static void leave_environment(void) {
    unsetenv("HARRAY_MEMORY");
    unsetenv("HARRAY_FILE");
}

TEST(the_environment_names_the_file) {
    char text[200];
    setenv("HARRAY_FILE", "dir=/nowhere/at/all", 1); /* is not asked */
    snprintf(text, sizeof text, "file=/nowhere, host=160K,file=%s:3M", directory);
    use_environment(text);
    harray_double x[6];
    for (int i = 0; i < 6; i++) x[i] = filled_at(i, H);
    disk = require_context("file:0");
    assert_ptr_equal(ha_memory_pressure(NULL).tier, disk);
    const ha_file_device *device = (const ha_file_device *)disk->memory->handle;
    assert_int_equal(device->bytes, 3 << 20);
    assert_string_equal(device->directory, directory);
    for (int i = 0; i < 4; i++) assert_true(!is_at(x[i], H) && VALID(x[i], disk));
    for (int i = 0; i < 6; i++) assert_true(sum_at(x[i], H) == (double)i * N);
    drop_arrays();
    snprintf(text, sizeof text, "file=%s", directory); /* as much as there is */
    use_environment(text);
    assert_int_equal(ha_memory_budget(H), 0);
    assert_ptr_equal(ha_memory_pressure(H).tier, require_context("file:0"));
    use_environment("file=/nowhere:1G");
    use_file(2 << 20); /* a call that says otherwise */
    (void)filled_at(1, H);
    assert_ptr_equal(ha_memory_pressure(H).tier, disk);
    assert_int_equal(((const ha_file_device *)disk->memory->handle)->bytes, 2 << 20);
    drop_arrays();
    leave_environment();
}

TEST(mistakes_in_the_environment) {
    static const char *const texts[][2] = {
        {"file",
         "\"file\" needs a directory and how much may be there, as in file=/scratch/me:500G"},
        {"host=1G, file=", "\"file=\" needs a directory"},
        {"file=500G", "\"file=500G\" needs a directory"},
        {"file=/tmp:", "\"file=/tmp:\" needs a directory"},
        {"file=/tmp:5T", "\"file=/tmp:5T\" needs a directory"},
        {"file=/tmp:99999999G", "needs a directory"},
        {"file=/nowhere/at/all:1G", "no file can be made in '/nowhere/at/all': No such file"},
        {"file=/nowhere/at/all", "no file can be made in '/nowhere/at/all': No such file"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        use_environment(texts[i][0]);
        assert_null(ha_context_best());
        expect_error(HA_ERR_BACKEND, "HARRAY_MEMORY: ");
        assert_null(harray_double_zeros(5).array);
        expect_error(HA_ERR_BACKEND, texts[i][1]);
        assert_int_equal(ha_memory_set_tier(H, NULL), HA_ERR_BACKEND);
        expect_error(HA_ERR_BACKEND, texts[i][1]);
        assert_null(ha_context_find("file:0"));
        expect_error(i ? HA_ERR_BACKEND : HA_ERR_NOT_FOUND, i ? texts[i][1] : "no context");
    }
    leave_environment();
    ha_file_shared.known = 0;
    ha_file_shared.wrong.text[0] = '\0';
    HA_CHECK(ha_shutdown());
    HA_CHECK(ha_file_configure(NULL));
    setenv("HARRAY_MEMORY", "file=/tmp", 1);
    assert_null(harray_double_zeros(5).array);
    expect_error(HA_ERR_BACKEND, "ha_file_configure has said that there is no file");
    leave_environment();
}

/* ---- at random ----------------------------------------------------------------------------------------- */

enum { THREADS = 4, MODELS = 6, PARTS = 16, OPERATIONS = 300 };

/* The arrays of one thread, and the value of each part of each of them. */
typedef struct worker {
    pthread_t thread;
    harray_double x[MODELS];
    double model[MODELS][PARTS];
    uint32_t random;
    int failures, wrong;
    ha_error error; /* the first */
} worker;

static size_t pick(worker *w, size_t n) {
    w->random = w->random * 1664525u + 1013904223u;
    return (size_t)(((uint64_t)w->random * n) >> 32);
}

static void failed(worker *w) {
    const ha_error e = ha_take_error();
    if (!w->failures++) w->error = e;
}

static void write_parts(worker *w, size_t i, ha_context *c) {
    const size_t first = pick(w, PARTS), last = first + 1 + pick(w, PARTS - first);
    const double value = (double)pick(w, 1000);
    ha_write_double v;
    if (ha_open(&v, w->x[i].array, c, pick(w, 2) ? HA_WRITE : HA_OVERWRITE, first * (N / PARTS),
                last * (N / PARTS))) {
        failed(w);
        return;
    }
    const job j = {v.data, v.size, value};
    if (ha_enqueue(c, fill_job, &j, sizeof j)) failed(w);
    if (ha_close(&v)) failed(w);
    for (size_t p = first; p < last; p++) w->model[i][p] = value;
}

static void read_parts(worker *w, size_t i, ha_context *c) {
    const size_t first = pick(w, PARTS), last = first + 1 + pick(w, PARTS - first);
    double sum = 0, is = -1;
    ha_read_double v;
    for (size_t p = first; p < last; p++) sum += w->model[i][p] * (N / PARTS);
    if (ha_open(&v, w->x[i].array, c, HA_READ, first * (N / PARTS), last * (N / PARTS))) {
        failed(w);
        return;
    }
    const sum_of s = {v.data, v.size, &is};
    if (ha_enqueue(c, sum_job, &s, sizeof s) || ha_context_finish(c)) failed(w);
    if (ha_close(&v)) failed(w);
    w->wrong += is != sum;
}

static void *work(void *argument) {
    worker *w = (worker *)argument;
    ha_context *const places[] = {C, C, C, H, H, M1};
    for (int n = 0; n < OPERATIONS; n++) {
        const size_t i = pick(w, MODELS), what = pick(w, 20);
        ha_context *c = places[pick(w, 6)];
        if (what < 9)
            write_parts(w, i, c);
        else if (what < 18)
            read_parts(w, i, c);
        else if (what < 19)
            HA_IGNORE(ha_array_prefetch(w->x[i].array, c, 0, HA_END));
        else
            ha_array_done(w->x[i].array, c);
    }
    return NULL;
}

/* What the threads need is six times as much as either tier has, and the arrays of each thread fit one by one. */
static void work_at_random(int threads) {
    static worker workers[THREADS];
    for (int t = 0; t < threads; t++) {
        worker *w = &workers[t];
        memset(w, 0, sizeof *w);
        w->random = (uint32_t)(threads + 7 * t) * 77777u;
        for (size_t i = 0; i < MODELS; i++) w->x[i] = keep(harray_double_zeros_at(N, H));
    }
    budget_for(H, (size_t)threads);
    if (!shares_memory(C)) budget_for(C, (size_t)threads);
    for (int t = 1; t < threads; t++)
        assert_int_equal(pthread_create(&workers[t].thread, NULL, work, &workers[t]), 0);
    work(&workers[0]);
    for (int t = 1; t < threads; t++) assert_int_equal(pthread_join(workers[t].thread, NULL), 0);
    for (int t = 0; t < threads; t++) {
        worker *w = &workers[t];
        if (w->failures) fail_msg("%d failed: %s", w->failures, w->error.text);
        assert_int_equal(w->wrong, 0);
        for (size_t i = 0; i < MODELS; i++) read_parts(w, i, H);
        assert_int_equal(w->wrong + w->failures, 0);
    }
    (void)ha_take_error();
    step();
    assert_true(ha_memory_pressure(H).written_back > 0);
    drop_arrays();
}

TEST(at_random) { work_at_random(1); }
TEST(at_random_by_threads) { work_at_random(THREADS); }

/* Takes memory, looks around, and gives it back. */
static int looks_around(HA_UNUSED void *user, ha_context *at, HA_UNUSED uint64_t need,
                        int attempt) {
    ha_array *mine = ha_array_zeros(ha_type_of_("double", 8), 100, at);
    (void)ha_memory_pressure(at);
    HA_CHECK(ha_array_free(mine));
    return attempt == 1;
}

/* Any of them, or as usual. */
static ptrdiff_t chooses_any(void *user, HA_UNUSED ha_context *at, const ha_candidate *list,
                             size_t n, HA_UNUSED uint64_t need) {
    const uint64_t number = __atomic_fetch_add((uint64_t *)user, 7, __ATOMIC_RELAXED);
    ha_array *x = ha_array_by_id(list[number % n].id);
    if (x && ha_array_size(x) != N && ha_array_size(x) != 100) return -2;
    HA_CHECK(ha_array_free(x));
    return (ptrdiff_t)(number % (n + 1)) - 1;
}

/* Half of what either tier has is written back ahead, and a controller has its say. */
TEST(at_random_ahead_and_controlled) {
    uint64_t number = 0;
    ha_set_controller(&(ha_controller){looks_around, chooses_any, &number});
    SUCCEEDS(ha_memory_set_watermark(C, 0.5));
    SUCCEEDS(ha_memory_set_watermark(H, 0.5));
    work_at_random(THREADS);
    SUCCEEDS(ha_memory_set_watermark(C, 1));
    SUCCEEDS(ha_memory_set_watermark(H, 1));
    ha_set_controller(NULL);
    assert_true(number > 0);
}

/* ---- a store of the program's --------------------------------------------------------------------------- */

static heap_store heap;

/* The host's next tier, in pieces that are not as large as an array. */
static ha_context *use_store(void) {
    const ha_store is = heap_store_of(&heap, 64 * BYTES, BYTES / 3);
    memset(&heap, 0, sizeof heap);
    ha_context *store = ha_store_open(&is);
    assert_non_null(store);
    SUCCEEDS(ha_memory_set_tier(H, store));
    return store;
}

static void leave_store(void) {
    drop_arrays();
    SUCCEEDS(ha_shutdown());
    assert_true(heap_store_is_clean(&heap));
}

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

TEST(at_random_to_a_store) {
    (void)use_store();
    atomic_store(&heap.puts_fail, 2);
    work_at_random(THREADS);
    assert_true(atomic_load(&heap.gets) > 0 && !atomic_load(&heap.puts_fail));
    leave_store();
}

int main(void) {
    cmocka_set_test_filter(getenv("ONLY"));
    const struct CMUnitTest tests[] = {
        TIERS(more_than_the_host_has),
        TIERS(what_is_counted),
        TIERS(what_passes_through_the_host),
        TIERS(budget_of_the_host_is_lowered),
        TIERS(what_never_goes_to_the_file),
        TIERS(device_host_and_file),
        TIERS(each_tier_has_its_own_oldest),
        TIERS(what_comes_down_is_young_at_once),
        TIERS(nobody_counts_on_what_is_leaving),
        TIERS(past_a_full_host),
        TIERS(past_a_full_host_by_another_thread),
        TIERS(waits_for_a_tier),
        TIERS(records_in_tiers),
        TIERS(no_room_for_making_room),
        TIERS(other_tiers),
        TIERS(tiers_that_cannot_be),
        TIERS(the_host_is_evicted),
        TIERS(what_is_on_its_way_is_waited_for),
        TIERS(the_disk_is_full),
        TIERS(the_disk_is_full_for_a_time),
        TIERS(what_stays_has_its_values),
        TIERS(a_tier_that_is_gone),
        TIERS(a_write_fails_once),
        TIERS(writes_fail_for_good),
        TIERS(the_environment_names_the_file),
        TIERS(mistakes_in_the_environment),
        TIERS(at_random),
        TIERS(at_random_by_threads),
        TIERS(at_random_ahead_and_controlled),
        TIERS(a_store_gives_too_little),
        TIERS(puts_of_a_store_fail),
        TIERS(at_random_to_a_store),
    };
    int failed_tests = 0;
    for (size_t i = 0; i < MATRIX_ROWS; i++) {
        row = &matrix[i];
        if (!row_has(row, "disk:")) RUN_ON_ROW(failed_tests, row, tests);
    }
    return failed_tests;
}
