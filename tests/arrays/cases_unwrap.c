/* Syncing the caller's memory and handing it back: who is in the way, who is waited for, and what
 * is lost with a device. On the contexts of support/matrix.h. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/wrapped.h"
#include "../support/threads.h"

/* ---- syncing -------------------------------------------------------------------------------- */

TEST(sync_brings_values_and_keeps_the_memory) {
    harray_double x = wrapped();
    SUCCEEDS(harray_double_sync(x)); /* nothing to do */
    for (int i = 1; i < 4; i++) {
        add_at(x, C, 1);
        add_at(x, M1, 1);
        const uint64_t version = ha_array_version(x.array);
        SUCCEEDS(harray_double_sync(x));
        BUFFER(2 * i, 1);
        expect_unused(buffer, sizeof buffer);
        assert_int_equal(ha_array_version(x.array), version);
        assert_true(VALID(x, H) && VALID(x, M1));
    }
    drop(x);
}

/* It is a read. */
TEST(sync_conflicts_as_a_read) {
    harray_double x = wrapped();
    add_at(x, C, 1);
    HA_READING(v, x, C) {
        HA_READING_RANGE(w, x, M1, 2, 3) {
            SUCCEEDS(harray_double_sync(x));
            BUFFER(1, 1);
        }
        else fail();
    }
    else fail();
    HA_WRITING_RANGE(v, x, C, 2, 4) {
        const snapshot before = snapshot_of(x);
        assert_int_equal(ha_sync(x.array), HA_ERR_CONFLICT);
        expect_text(HA_ERR_CONFLICT, "ha_sync", "cases_unwrap.c:", "already writes it");
        expect_unchanged(x, &before);
    }
    else fail();
    SUCCEEDS(harray_double_sync(x));
    drop(x);
}

/* Writing back is a copy that can be forbidden. */
TEST(sync_without_transfers) {
    harray_double x = wrapped();
    add_at(x, M1, 1);
    const snapshot before = snapshot_of(x);
    HA_NO_TRANSFERS {
        REFUSED(HA_ERR_TRANSFER, harray_double_sync(x));
        REFUSED(HA_ERR_TRANSFER, harray_double_unwrap(&x));
        REFUSED(HA_ERR_TRANSFER, harray_double_free(&x));
        expect_unchanged(x, &before);
    }
    SUCCEEDS(harray_double_sync(x));
    HA_NO_TRANSFERS SUCCEEDS(part(&x));
    BUFFER(1, 1);
}

TEST(sync_of_what_wraps_nothing) {
    harray_double x = list_at(C);
    const snapshot before = snapshot_of(x);
    SUCCEEDS(harray_double_sync(x));
    expect_unchanged(x, &before);
    REFUSED(HA_ERR_ARGUMENT, ha_sync(NULL));
    drop(x);
}

/* What was never written stays as the caller left it. */
TEST(sync_leaves_the_rest_alone) {
    const ha_wrapped piece = {buffer, H, HA_WRAP_UNWRITTEN};
    fill_buffer();
    harray_double x = keep(harray_double_from(ha_array_wrap(harray_double_type(), N, &piece, 1)));
    VALID_NOWHERE(x, H);
    HA_READING(v, x, H) fail();
    else REFUSED(HA_ERR_STATE, v.status);
    SUCCEEDS(harray_double_sync(x));
    BUFFER(0, 1);
    HA_OVERWRITING_RANGE(v, x, C, 2, 4) fill(&v, -1);
    else fail();
    HA_OVERWRITING_RANGE(v, x, M1, 6, 7) fill(&v, -2);
    else fail();
    SUCCEEDS(harray_double_sync(x));
    VALID_RANGES(x, H, {2, 4}, {6, 7});
    SUCCEEDS(harray_double_resize(x, 3));
    SUCCEEDS(harray_double_resize(x, N)); /* element 3 and all behind it: never written again */
    HA_OVERWRITING_RANGE(v, x, C, 8, N) fill(&v, -3);
    else fail();
    SUCCEEDS(part(&x));
    const double expected[N] = {0, 1, -1, -1, 4, 5, -2, 7, -3, -3};
    assert_memory_equal(buffer, expected, sizeof expected);
}

/* Smaller sizes use the beginning of the memory. */
TEST(sizes_within_the_memory) {
    harray_double x = wrapped();
    HA_OVERWRITING(v, x, C, 3) fill(&v, 7);
    else fail();
    SUCCEEDS(harray_double_sync(x));
    assert_true(buffer[2] == 7 && buffer[3] == 3);
    HA_OVERWRITING(v, x, M1, N) fill(&v, 8);
    else fail();
    SUCCEEDS(ha_array_clear(x.array));
    SUCCEEDS(part(&x)); /* nothing is left to write back */
    assert_true(buffer[2] == 7 && buffer[3] == 3);
    expect_unused(buffer, sizeof buffer);
}

/* ---- handing back --------------------------------------------------------------------------- */

TEST(unwrap_is_refused_while_others_need_it) {
    harray_double x = wrapped(), plain = list_at(C), owner = harray_double_retain(x);
    ha_array_set_name(x.array, "mine");
    add_at(x, C, 1);
    const snapshot before = snapshot_of(x);
    assert_int_equal(ha_unwrap(x.array), HA_ERR_STATE);
    expect_text(HA_ERR_STATE, "ha_unwrap", "'mine'", "has 2 owners");
    expect_unchanged(x, &before);
    SUCCEEDS(harray_double_free(&owner)); /* not the last one: moves nothing */
    expect_unchanged(x, &before);
    HA_READING(v, x, C) {
        REFUSED(HA_ERR_CONFLICT, part(&x));
        REFUSED(HA_ERR_CONFLICT, ha_array_free(x.array));
        assert_non_null(x.array);
    }
    else fail();
    assert_int_equal(ha_unwrap(plain.array), HA_ERR_STATE);
    expect_text(HA_ERR_STATE, "ha_unwrap", "cases_unwrap.c:", "wraps nothing");
    SUCCEEDS(ha_unwrap(NULL));
    SUCCEEDS(part(&x));
    BUFFER(1, 1);
    drop(plain);
}

/* When the call returns, queues neither read nor write the memory any more. */
TEST(unwrap_waits_for_queues) {
    ha_context *places[] = {C, M1, M2};
    for (size_t i = 0; i < 6; i++) {
        harray_double x = wrapped();
        SUCCEEDS(ha_array_prefetch(x.array, places[i % 3], 0, HA_END)); /* reads it */
        if (i % 2) SUCCEEDS(harray_double_resize(x, 5)); /* the prefetch goes on behind the end */
        SUCCEEDS(i < 3 ? part(&x) : harray_double_sync(x));
        if (i >= 3) drop(x);
        expect_unused(buffer, sizeof buffer);
        BUFFER(0, 1);
    }
}

/* A write-back that is on its way behind the new end, also. */
TEST(unwrap_waits_for_writes_behind_the_end) {
    harray_double x = wrapped();
    add_at(x, C, 1);
    SUCCEEDS(ha_array_prefetch(x.array, H, 0, HA_END));
    SUCCEEDS(ha_array_clear(x.array));
    SUCCEEDS(part(&x));
    expect_unused(buffer, sizeof buffer);
    BUFFER(1, 1);
}

/* ---- giving the values up ------------------------------------------------------------------- */

/* Gives the memory back without its values, and the test has one array less. */
static ha_status discard(harray_double *x) {
    ha_array *array = x->array;
    const ha_status s = ha_discard(x);
    for (size_t i = 0; i < MOST_ARRAYS && !s; i++)
        if (arrays[i] == array) arrays[i] = NULL;
    step();
    check_ledger(arrays, MOST_ARRAYS);
    return s;
}

TEST(discarding_moves_nothing) {
    harray_double x = wrapped(), plain = list_at(C);
    array_double_2 table = {.array = NULL};
    add_at(x, C, 1);
    HA_READING(v, x, C) {
        REFUSED(HA_ERR_CONFLICT, discard(&x));
        assert_non_null(x.array);
    }
    else fail();
    HA_NO_TRANSFERS SUCCEEDS(discard(&x));
    assert_null(x.array);
    expect_unused(buffer, sizeof buffer);
    BUFFER(shares_memory(C) ? 1 : 0, 1);
    SUCCEEDS(discard(&plain));    /* as any other array */
    SUCCEEDS(ha_discard(&plain)); /* none */
    SUCCEEDS(ha_discard(&table));
    x = wrapped(); /* the memory is the caller's again */
    drop(x);
}

TEST(discarding_by_one_of_two_owners) {
    harray_double x = wrapped(), owner = harray_double_retain(x);
    add_at(x, C, 1);
    SUCCEEDS(ha_discard(&owner));
    assert_null(owner.array);
    SUCCEEDS(part(&x)); /* who wants them has them */
    BUFFER(1, 1);
}

/* What is on its way there arrives first. */
TEST(discarding_waits_for_queues) {
    ha_context *places[] = {C, M1, M2};
    for (size_t i = 0; i < 3; i++) {
        harray_double x = wrapped();
        SUCCEEDS(ha_array_prefetch(x.array, places[i], 0, HA_END)); /* reads it */
        SUCCEEDS(discard(&x));
        expect_unused(buffer, sizeof buffer);
        x = wrapped();
        add_at(x, places[i], 1);
        SUCCEEDS(ha_array_prefetch(x.array, H, 0, HA_END)); /* writes it */
        SUCCEEDS(discard(&x));
        expect_unused(buffer, sizeof buffer);
        BUFFER(1, 1);
    }
}

/* ---- one owner ------------------------------------------------------------------------------ */

TEST(second_owners_are_refused) {
    double memory[3 * N] = {0};
    harray_double x = keep(harray_double_wrap(memory + N, N));
    ha_array_set_name(x.array, "first");
    const size_t places[][2] = {{N, N},         {N + 3, 1},         {0, N + 1},
                                {2 * N - 1, 1}, {2 * N - 1, N + 1}, {0, 3 * N}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        assert_null(harray_double_wrap(memory + places[i][0], places[i][1]).array);
        expect_text(HA_ERR_STATE, "ha_array_wrap", "'first'", "owns some of");
    }
    assert_null(harray_double_wrap_const(memory + N, 1).array);
    expect_text(HA_ERR_STATE, "ha_array_wrap", "'first'", "owns some of");
    harray_double before = keep(harray_double_wrap(memory, N));
    harray_double behind = keep(harray_double_wrap(memory + 2 * N, N));
    SUCCEEDS(part(&x));
    x = keep(harray_double_wrap(memory + N + 1, 2)); /* the caller's again */
    drop(x);
    drop(before);
    drop(behind);
    x = keep(harray_double_wrap(memory, 3 * N));
    drop(x);
}

/* Many, taken and handed back in some order. */
TEST(many_owners) {
    enum { MANY = 29, STEP = 11 };
    double memory[MANY];
    harray_double x[MANY];
    for (size_t i = 0; i < MANY; i++) {
        const size_t k = i * STEP % MANY;
        memory[k] = (double)k;
        x[k] = keep(harray_double_wrap(memory + k, 1));
        REFUSED_NULL(HA_ERR_STATE, harray_double_wrap(memory + k, 1).array);
    }
    for (size_t i = 0; i < MANY; i++) {
        const size_t k = i * (STEP + 2) % MANY;
        REFUSED_NULL(HA_ERR_STATE, harray_double_wrap(memory + k, 1).array);
        add_at(x[k], C, 1);
        SUCCEEDS(part(&x[k]));
    }
    memory_is(memory, MANY, 1, 1);
}

/* ---- threads -------------------------------------------------------------------------------- */

typedef struct second {
    ha_array *array;
    ha_status (*call)(ha_array *array, const char *site);
    pthread_t thread;
    atomic_int returned;
    ha_status status;
} second;

static void *second_main(void *argument) {
    second *s = (second *)argument;
    s->status = s->call(s->array, HA_SITE);
    (void)ha_take_error();
    atomic_store(&s->returned, 1);
    return NULL;
}

static void start_second(second *s, ha_array *array,
                         ha_status (*call)(ha_array *array, const char *site)) {
    s->array = array;
    s->call = call;
    atomic_store(&s->returned, 0);
    assert_int_equal(pthread_create(&s->thread, NULL, second_main, s), 0);
}

static ha_status end_second(second *s) {
    assert_int_equal(pthread_join(s->thread, NULL), 0);
    return s->status;
}

TEST(sync_waits_for_a_writer) {
    ha_context *places[] = {C, H, M1};
    for (size_t i = 0; i < 3; i++) {
        harray_double x = wrapped();
        const uint64_t sleeps = ha_test_sleeps_();
        second s;
        HA_WRITING(v, x, places[i]) {
            add(&v, 1);
            start_second(&s, x.array, ha_sync_);
            until_asleep(sleeps + 1);
            assert_false(atomic_load(&s.returned));
        }
        else fail();
        assert_int_equal(end_second(&s), HA_OK);
        BUFFER(1, 1);
        drop(x);
    }
}

/* Another thread's accesses are in the way of handing back, as one's own. */
TEST(unwrap_beside_another_thread) {
    harray_double x = wrapped();
    opener o;
    start_open(&o, x.array, C, HA_READ, 0, HA_END);
    assert_int_equal(wait_opened(&o), HA_OK);
    REFUSED(HA_ERR_CONFLICT, part(&x));
    finish(&o);
    ha_waiters_add(x.array, 1); /* as a thread does that is about to take it */
    assert_int_equal(ha_unwrap(x.array), HA_ERR_CONFLICT);
    expect_text(HA_ERR_CONFLICT, "ha_unwrap", "double[10]", "another thread");
    ha_waiters_add(x.array, (uint32_t)-1);
    SUCCEEDS(part(&x));
}

/* While a sync waits for a device, others read: it holds its access and nothing else. */
TEST(sync_does_not_stop_readers) {
    ha_context *sim = require_context("sim:0");
    harray_double x = wrapped();
    second s;
    touch(x, M1);
    HA_WRITING(v, x, sim) {
        SUCCEEDS(ha_sim_hold(sim));
        add(&v, 1);
    }
    else fail();
    start_second(&s, x.array, ha_sync_);
    while (ha_array_resize(x.array, N) == HA_OK) sched_yield(); /* until its access is open */
    assert_int_equal(ha_take_error().status, HA_ERR_CONFLICT);
    SUCCEEDS(ha_array_prefetch(x.array, sim, 0, HA_END));
    HA_READING(v, x, sim) assert_int_equal(v.size, N);
    else fail();
    SUCCEEDS(ha_sim_step(sim, -1));
    assert_int_equal(end_second(&s), HA_OK);
    BUFFER(1, 1);
    drop(x);
}

/* Wraps each of n elements in some order, and hands them back in another; gives the steps. */
static uint64_t steps_of_wrapping(size_t n) {
    double *memory = (double *)calloc(n, sizeof *memory);
    harray_double *x = (harray_double *)calloc(n, sizeof *x);
    assert_true(memory && x);
    const uint64_t before = ha_steps_;
    for (size_t k = 0; k < n; k++) {
        const size_t i = k * 7919 % n;
        x[i] = harray_double_wrap(memory + i, 1);
        assert_non_null(x[i].array);
    }
    assert_null(harray_double_wrap(memory + n / 2, 2).array);
    assert_int_equal(ha_take_error().status, HA_ERR_STATE);
    for (size_t k = 0; k < n; k++) HA_CHECK(harray_double_unwrap(&x[k * 104729 % n]));
    const uint64_t steps = ha_steps_ - before;
    assert_null(ha_owners.tree);
    free(x);
    free(memory);
    return steps;
}

/* However much is wrapped already. */
TEST(wrapping_among_many_does_not_grow) {
    enum { FEW = 500, MANY = 4000 };
    const uint64_t few = steps_of_wrapping(FEW), many = steps_of_wrapping(MANY);
    assert_true(few > FEW);
    assert_true(many < MANY / FEW * few * 2); /* n log n is less, n^2 8 times as much */
}

/* Every thread wraps its own part of one buffer, over and over, and sometimes another's. */
enum { PARTS = 4, ROUNDS = 200 };
static double shared_buffer[PARTS];
static atomic_int stolen, failed;

static void *wrapper_main(void *argument) {
    double *mine = (double *)argument;
    ha_context *places[] = {C, H, M1};
    for (int i = 0; i < ROUNDS; i++) {
        harray_double x = harray_double_wrap(mine, 1);
        if (harray_double_wrap(mine, 1).array) atomic_fetch_add(&stolen, 1);
        (void)ha_take_error();
        HA_WRITING(v, x, places[i % 3]) {
            const job j = {v.data, v.size, 1};
            if (ha_enqueue(v.context, add_job, &j, sizeof j)) atomic_fetch_add(&failed, 1);
        }
        if (harray_double_unwrap(&x)) atomic_fetch_add(&failed, 1);
        if (*mine != i + 1) atomic_fetch_add(&failed, 1);
    }
    return NULL;
}

TEST(threads_wrap_neighbours) {
    pthread_t threads[PARTS];
    memset(shared_buffer, 0, sizeof shared_buffer);
    for (size_t i = 0; i < PARTS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wrapper_main, &shared_buffer[i]), 0);
    for (size_t i = 0; i < PARTS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&stolen), 0);
    assert_int_equal(atomic_load(&failed), 0);
    memory_is(shared_buffer, PARTS, ROUNDS, 0);
}

/* ---- devices that fail --------------------------------------------------------------------- */

static int begin_with_sim(void **state) {
    enter_row(&matrix[1]);
    return begin_case(state);
}

static int end_with_sim(void **state) { return end_case(state) + leave_row(); }

/* The device fails before it has done what it was given last. */
static void fail_before(harray_double x, double amount) {
    HA_WRITING(v, x, C) {
        SUCCEEDS(ha_context_finish(C));
        SUCCEEDS(ha_sim_hold(C));
        add(&v, amount);
    }
    else fail();
    SUCCEEDS(ha_sim_fail(C));
}

/* There is nothing to hand back: so the array stays. */
static void expect_lost(harray_double x) {
    ha_array *array = x.array;
    assert_int_equal(ha_sync(array), HA_ERR_LOST);
    expect_text(HA_ERR_LOST, "ha_sync", "cases_unwrap.c:", "sim:0 failed");
    const snapshot before = snapshot_of(x);
    assert_int_equal(harray_double_unwrap(&x), HA_ERR_LOST);
    expect_text(HA_ERR_LOST, "ha_unwrap", "harray_double_unwrap", "were lost");
    assert_int_equal(harray_double_free(&x), HA_ERR_LOST);
    expect_text(HA_ERR_LOST, "ha_array_free", "double[10]", "were lost");
    assert_ptr_equal(x.array, array);
    expect_unchanged(x, &before);
}

TEST(lost_values_are_given_up) {
    harray_double x = wrapped();
    fail_before(x, 1);
    expect_lost(x);
    SUCCEEDS(ha_array_clear(x.array));
    SUCCEEDS(harray_double_sync(x));
    SUCCEEDS(part(&x));
    BUFFER(0, 1);
}

TEST(lost_values_are_overwritten) {
    harray_double x = wrapped();
    fail_before(x, 1);
    expect_lost(x);
    HA_OVERWRITING_RANGE(v, x, H, 0, 5) for (size_t i = 0; i < v.size; i++) v.data[i] = 7;
    else fail();
    expect_lost(x);
    HA_OVERWRITING_RANGE(v, x, M1, 5, N) fill(&v, 7);
    else fail();
    SUCCEEDS(part(&x));
    BUFFER(7, 0);
}

/* The write-back itself is lost: found out while it is waited for. */
TEST(lost_on_the_way_back) {
    harray_double x = wrapped();
    add_at(x, C, 1);
    SUCCEEDS(ha_context_finish(C));
    SUCCEEDS(ha_sim_hold(C));
    SUCCEEDS(ha_array_prefetch(x.array, H, 0, HA_END));
    SUCCEEDS(ha_sim_fail(C));
    expect_lost(x);
    SUCCEEDS(ha_array_clear(x.array));
    drop(x);
    BUFFER(0, 1);
}

TEST(lost_values_do_not_matter) {
    harray_double x = wrapped();
    SUCCEEDS(ha_sim_hold(C));
    add_at(x, C, 1);
    SUCCEEDS(ha_sim_fail(C));
    REFUSED(HA_ERR_LOST, harray_double_unwrap(&x));
    SUCCEEDS(discard(&x));
    BUFFER(0, 1);
}

/* A device that fails while it only reads takes nothing with it. */
TEST(failing_readers) {
    harray_double x = wrapped(), y = keep(harray_double_wrap_const(constants, 5));
    SUCCEEDS(ha_sim_hold(C));
    SUCCEEDS(ha_array_prefetch(x.array, C, 0, HA_END));
    SUCCEEDS(ha_array_prefetch(y.array, C, 0, HA_END));
    SUCCEEDS(ha_sim_fail(C));
    SUCCEEDS(harray_double_sync(x));
    SUCCEEDS(part(&x));
    SUCCEEDS(part(&y));
    BUFFER(0, 1);
}

/* The caller's memory on the device is no use any more. */
TEST(failed_device_memory) {
    double *data = device_memory(C, N);
    const ha_wrapped pieces[] = {{buffer, H, 0}, {data, C, HA_WRAP_UNWRITTEN}};
    fill_buffer();
    harray_double x = keep(harray_double_from(ha_array_wrap(harray_double_type(), N, pieces, 2)));
    SUCCEEDS(harray_double_sync(x));
    SUCCEEDS(ha_sim_fail(C));
    SUCCEEDS(ha_context_finish(M1));
    add_at(x, M1, 1);
    REFUSED(HA_ERR_BACKEND, harray_double_sync(x));
    REFUSED(HA_ERR_BACKEND, harray_double_unwrap(&x));
    BUFFER(1, 1); /* what can be had is there */
    SUCCEEDS(ha_array_clear(x.array));
    SUCCEEDS(part(&x));
    device_release(C, data, N);
}

/* There is nothing to write back, and the memory is of no use. */
TEST(failed_const_memory) {
    double *data = device_memory(C, 3);
    const ha_wrapped piece = {data, C, HA_WRAP_CONST};
    harray_double x = keep(harray_double_from(ha_array_wrap(harray_double_type(), 3, &piece, 1)));
    SUCCEEDS(ha_sim_fail(C));
    HA_READING(v, x, H) fail();
    else REFUSED(HA_ERR_LOST, v.status);
    SUCCEEDS(harray_double_sync(x));
    SUCCEEDS(part(&x));
    device_release(C, data, 3);
}

#define SIM_CASE(name) cmocka_unit_test_setup_teardown(name, begin_with_sim, end_with_sim)

/* The values were only in const memory that is lost: giving them up is not writing it. */
TEST(lost_const_memory) {
    double *data = device_memory(C, N);
    const ha_wrapped pieces[] = {{data, C, HA_WRAP_CONST}, {buffer, H, HA_WRAP_UNWRITTEN}};
    harray_double x = keep(harray_double_from(ha_array_wrap(harray_double_type(), N, pieces, 2)));
    REFUSED(HA_ERR_STATE, ha_array_clear(x.array));
    SUCCEEDS(ha_sim_fail(C));
    REFUSED(HA_ERR_LOST, harray_double_unwrap(&x));
    REFUSED(HA_ERR_STATE, harray_double_resize(x, 1));
    SUCCEEDS(ha_array_clear(x.array));
    SUCCEEDS(part(&x));
    device_release(C, data, N);
}

/* From another device's memory into the buffer, at C. */
static void *copier_main(void *from) {
    ha_token token = {NULL, NULL, 0};
    HA_CHECK(ha_copy_start(&token, buffer, C, from, M2, sizeof buffer));
    HA_CHECK(ha_token_wait(&token));
    return NULL;
}

/* What is enqueued at C, which works on the host's memory in place, may still write there. */
TEST(copies_come_after_work_in_place) {
    pthread_t copier;
    if (!C->ops || !shares_memory(C) || shares_memory(M2)) return;
    double *data = device_memory(M2, N);
    const job before = {buffer, N, 100};
    fill_buffer();
    SUCCEEDS(ha_copy(data, M2, buffer, H, sizeof buffer));
    SUCCEEDS(ha_sim_hold(C));
    SUCCEEDS(ha_enqueue(C, add_job, &before, sizeof before));
    assert_int_equal(pthread_create(&copier, NULL, copier_main, data), 0);
    until_quiet();
    SUCCEEDS(ha_sim_step(C, -1));
    assert_int_equal(pthread_join(copier, NULL), 0);
    SUCCEEDS(ha_context_finish(C));
    BUFFER(0, 1);
    device_release(M2, data, N);
}

/* Of an array, as it is there, whatever other memories have, and behind what was enqueued. */
TEST(looking_at_what_was_exported) {
    double seen[N] = {0};
    harray_double x = ramp(N);
    int is_sim = !strcmp(ha_context_kind(C), "sim");
#ifdef HARRAY_DEBUG
    is_sim = 0; /* it finds that by itself */
#endif
    HA_READING(v, x, C) {
        const job late = {(double *)(uintptr_t)v.data, N, 100}; /* which it must not */
        if (is_sim) SUCCEEDS(ha_enqueue(C, add_job, &late, sizeof late));
        SUCCEEDS(ha_copy_out_(seen, C, v.data, sizeof seen, HA_SITE));
        SUCCEEDS(ha_copy_out_(seen, C, v.data + 1, 0, HA_SITE));
    }
    for (int i = 0; i < N; i++) assert_true(seen[i] == i + (is_sim ? 100 : 0));
    drop(x);
}

/* Who ends the token is told, and both pieces are the caller's again. */
TEST(failed_copies_of_bytes) {
    double *data = device_memory(C, N);
    ha_token token = {NULL, NULL, 0};
    fill_buffer();
    SUCCEEDS(ha_copy(data, C, buffer, H, sizeof buffer));
    SUCCEEDS(ha_sim_hold(C));
    SUCCEEDS(ha_copy_start(&token, buffer, H, data, C, sizeof buffer));
    SUCCEEDS(ha_sim_fail(C));
    SUCCEEDS(ha_context_finish(M1));
    const ha_status s = ha_token_wait(&token);
    assert_true(s == HA_ERR_LOST || s == HA_ERR_BACKEND);
    assert_int_equal(ha_take_error().status, s);
    assert_null(token.array);
    assert_null(ha_owners.tree);
    device_release(C, data, N);
}

static int run_failing(void) {
    const struct CMUnitTest tests[] = {
        SIM_CASE(lost_values_are_given_up), SIM_CASE(lost_values_are_overwritten),
        SIM_CASE(lost_on_the_way_back),     SIM_CASE(failing_readers),
        SIM_CASE(failed_device_memory),     SIM_CASE(failed_const_memory),
        SIM_CASE(lost_const_memory),        SIM_CASE(lost_values_do_not_matter),
        SIM_CASE(failed_copies_of_bytes),
    };
    return cmocka_run_group_tests_name("failing devices", tests, NULL, NULL);
}

int main(void) {
    int failures = run_failing();
    const struct CMUnitTest tests[] = {
        CASE(sync_brings_values_and_keeps_the_memory),
        CASE(sync_conflicts_as_a_read),
        CASE(sync_without_transfers),
        CASE(sync_of_what_wraps_nothing),
        CASE(sync_leaves_the_rest_alone),
        CASE(sizes_within_the_memory),
        CASE(unwrap_is_refused_while_others_need_it),
        CASE(unwrap_waits_for_queues),
        CASE(unwrap_waits_for_writes_behind_the_end),
        CASE(discarding_moves_nothing),
        CASE(discarding_by_one_of_two_owners),
        CASE(discarding_waits_for_queues),
        CASE(second_owners_are_refused),
        CASE(many_owners),
        CASE(sync_waits_for_a_writer),
        CASE(unwrap_beside_another_thread),
        CASE(sync_does_not_stop_readers),
        CASE(wrapping_among_many_does_not_grow),
        CASE(threads_wrap_neighbours),
        CASE(copies_come_after_work_in_place),
        CASE(looking_at_what_was_exported),
    };
    RUN_ON_MATRIX(failures, tests)
    return failures;
}
