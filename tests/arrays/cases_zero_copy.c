/* Pinned host memory, what a pointer is, and contexts that work on host memory.
 * On the contexts of support/matrix.h, and, where queues are held, on
 *
 *      C                  F               M1
 *      sim:0, unified     a fork of C     private:0, which is asked to share the host's memory */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"
#include "../support/threads.h"

enum { N = 1000 };

static int is_kind(const ha_context *context, const char *kind) {
    return !strcmp(ha_context_kind(context), kind);
}
static int is_sim(const ha_context *context) { return is_kind(context, "sim"); }
static int is_cuda(const ha_context *context) {
    return is_kind(context, "cuda") || is_kind(context, "launch");
}
static int pins(const ha_context *context) {
    return is_sim(context) || is_cuda(context) || is_kind(context, "usm");
}
static int has_device_memory(const ha_context *context) {
    return is_sim(context) || is_kind(context, "launch") || is_kind(context, "opencl") ||
           is_kind(context, "disk") || is_kind(context, "usm");
}

static void expect_kind(const void *pointer, ha_memory_kind kind, const ha_context *owner) {
    ha_context *actual = NULL;
    assert_int_equal(ha_pointer_kind(pointer, &actual), kind);
    assert_int_equal(ha_pointer_kind(pointer, NULL), kind);
    assert_ptr_equal(actual, owner);
}

/* ---- pinned memory -------------------------------------------------------------------------- */

TEST(kinds_of_pointers) {
    harray_double x = keep(harray_double_new_at(N, C));
    HA_OVERWRITING(v, x, H, N) {
        const int pinned = pins(C);
        expect_kind(v.data, pinned ? HA_MEMORY_PINNED : HA_MEMORY_HOST, pinned ? C : H);
        fill(&v, 3);
    }
    else fail();
    assert_true(VALID(x, H));
    assert_int_equal(VALID(x, C), shares_memory(C));
    assert_true(sum_at(x, C) == 3 * N);
    drop(x);
}

/* The host's own arrays stay pageable, also where a device reads them. */
TEST(pageable_by_first_touch) {
    harray_double x = ramp(N);
    touch(x, M1);
    HA_READING(v, x, H) expect_kind(v.data, HA_MEMORY_HOST, H);
    else fail();
    drop(x);
}

/* Growing, overwriting with another size and copying keep to it. */
TEST(pinned_blocks_stay_pinned) {
    ha_context *sim = require_context("sim:0");
    harray_double x = keep(harray_double_new_at(0, sim));
    HA_OVERWRITING(v, x, H, 5) fill(&v, 1);
    else fail();
    SUCCEEDS(harray_double_resize(x, N));
    HA_WRITING_RANGE(v, x, H, 5, N) {
        expect_kind(v.data, HA_MEMORY_PINNED, sim);
        fill(&v, 1);
    }
    else fail();
    HA_OVERWRITING(v, x, H, 2 * N) {
        expect_kind(v.data, HA_MEMORY_PINNED, sim);
        fill(&v, 1);
    }
    else fail();
    harray_double y = keep(harray_double_copy(x));
    HA_READING(v, y, H) expect_kind(v.data, HA_MEMORY_PINNED, sim);
    else fail();
    assert_true(sum_at(x, C) == 2 * N);
    assert_true(sum_at(y, M2) == 2 * N);
    drop(x);
    drop(y);
}

/* ---- what a pointer is ---------------------------------------------------------------------- */

TEST(pointers) {
    int local;
    harray_double x = keep(harray_double_zeros_at(N, C));
    HA_READING(v, x, C) {
        if (shares_memory(C))
            expect_kind(v.data, C == H ? HA_MEMORY_HOST : HA_MEMORY_PINNED, C);
        else if (has_device_memory(C))
            expect_kind(v.data, HA_MEMORY_DEVICE, C);
        else if (is_cuda(C))
            expect_kind(v.data, HA_MEMORY_MANAGED, C);
        else
            expect_kind(v.data, HA_MEMORY_UNKNOWN, NULL); /* a backend that does not say */
    }
    else fail();
    expect_kind(&local, HA_MEMORY_HOST, H);
    expect_kind(NULL, HA_MEMORY_UNKNOWN, NULL);
    assert_string_equal(ha_memory_kind_name(HA_MEMORY_HOST), "host");
    assert_string_equal(ha_memory_kind_name(HA_MEMORY_PINNED), "pinned");
    assert_string_equal(ha_memory_kind_name(HA_MEMORY_DEVICE), "device");
    assert_string_equal(ha_memory_kind_name(HA_MEMORY_MANAGED), "managed");
    assert_non_null(ha_memory_kind_name((ha_memory_kind)17));
    drop(x);
}

/* ---- memory of a kind ------------------------------------------------------------------------ */

/* HA_MEMORY_UNKNOWN: there is none. */
static ha_memory_kind kind_there(const ha_context *context, ha_memory_kind kind) {
    const int is_pinning = is_sim(context) || is_cuda(context);
    if (context == H) return HA_MEMORY_HOST;
    if (kind == HA_MEMORY_PINNED) return is_pinning ? kind : HA_MEMORY_UNKNOWN;
    if (kind == HA_MEMORY_MANAGED && is_sim(context) && !shares_memory(context))
        return HA_MEMORY_UNKNOWN;
    return kind == HA_MEMORY_MANAGED && is_pinning ? kind : HA_MEMORY_UNKNOWN;
}

static void allocate_kind(ha_context *context, ha_memory_kind kind) {
    ha_context *owner = NULL;
    const ha_memory_kind there = kind_there(context, kind);
    void *block = ha_memory_allocate_kind(context, 1000, kind);
    if (there == HA_MEMORY_UNKNOWN) {
        assert_null(block);
        assert_int_equal(ha_take_error().status, HA_ERR_UNSUPPORTED);
        return;
    }
    assert_non_null(block);
    assert_int_equal(ha_pointer_kind(block, &owner), there);
    assert_ptr_equal(owner, context);
    memset(block, 3, 1000);
    REFUSED(HA_ERR_ARGUMENT, ha_memory_release(context == H ? M1 : H, block));
    SUCCEEDS(ha_memory_release(context, block));
    REFUSED(HA_ERR_ARGUMENT, ha_memory_release(context, block));
    assert_null(ha_memory_allocate_kind(context, SIZE_MAX, kind));
    assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
}

/* Memory that the host reaches: where a device has such. That of the device alone is what any other is. */
TEST(memory_of_a_kind) {
    if (C == H || is_sim(C) || is_cuda(C)) {
        allocate_kind(C, HA_MEMORY_HOST);
        allocate_kind(C, HA_MEMORY_PINNED);
        allocate_kind(C, HA_MEMORY_MANAGED);
    }
    void *plain = ha_memory_allocate(C, 1000);
    void *block = ha_memory_allocate_kind(C, 1000, HA_MEMORY_DEVICE);
    assert_true(plain && block && plain != block);
    assert_int_equal(ha_pointer_kind(block, NULL), ha_pointer_kind(plain, NULL));
    SUCCEEDS(ha_memory_release(C, plain));
    SUCCEEDS(ha_memory_release(C, block));
    assert_null(ha_memory_allocate_kind(C, 0, HA_MEMORY_DEVICE));
    assert_int_equal(ha_take_error().status, HA_OK);
    for (int wrong = -1; wrong <= HA_MEMORY_UNKNOWN; wrong += HA_MEMORY_UNKNOWN + 1) {
        assert_null(ha_memory_allocate_kind(C, 1000, (ha_memory_kind)wrong));
        assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    }
}

/* No context is the host, no pointer is nobody's, and no block is nothing to give back. */
TEST(memory_of_no_context) {
    static const ha_memory_kind kinds[] = {HA_MEMORY_HOST, HA_MEMORY_PINNED, HA_MEMORY_DEVICE,
                                           HA_MEMORY_MANAGED};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        void *block = ha_memory_allocate_kind(NULL, 100, kinds[i]);
        assert_non_null(block);
        expect_kind(block, HA_MEMORY_HOST, H);
        SUCCEEDS(ha_memory_release(NULL, NULL));
        SUCCEEDS(ha_memory_release(C, NULL));
        SUCCEEDS(ha_memory_release(NULL, block));
    }
    expect_kind(NULL, HA_MEMORY_UNKNOWN, NULL);
}

/* ---- zero-copy: what every context says ------------------------------------------------------ */

/* The other devices of the row work on memory of their own. */
TEST(contexts_without_zero_copy) {
    ha_context *sim = C == H || !is_sim(C) ? require_context("sim:1") : C;
    assert_false(ha_context_is_zero_copy(H));
    REFUSED(HA_ERR_UNSUPPORTED, ha_context_set_zero_copy(H, 1));
    SUCCEEDS(ha_context_set_zero_copy(H, 0));
    SUCCEEDS(ha_context_set_zero_copy(M1, 0));
    if (ha_context_is_zero_copy(sim)) { /* this one can */
        SUCCEEDS(ha_context_set_zero_copy(sim, 1));
        return;
    }
    REFUSED(HA_ERR_UNSUPPORTED, ha_context_set_zero_copy(sim, 1));
    SUCCEEDS(ha_context_set_zero_copy(sim, 0));
    assert_false(ha_context_is_zero_copy(sim));
    harray_double x = ramp(N);
    add_at(x, sim, 1);
    MOVED(x, 1, N * sizeof(double));
    assert_false(VALID(x, H));
    drop(x);
}

/* ---- zero-copy: one incarnation -------------------------------------------------------------- */

static ha_context *F;

TEST(zero_copy_moves_nothing) {
    const void *data = NULL;
    harray_double x = keep(harray_double_zeros_at(N, C));
    assert_true(ha_context_is_zero_copy(C) && ha_context_is_zero_copy(F));
    HA_WRITING(v, x, C) {
        data = v.data;
        expect_kind(data, HA_MEMORY_PINNED, C);
        add(&v, 1);
    }
    else fail();
    assert_true(VALID(x, H) && VALID(x, C) && VALID(x, F));
    HA_WRITING(v, x, H) {
        assert_ptr_equal(v.data, data);
        for (size_t i = 0; i < N; i++) v.data[i] += 1;
    }
    else fail();
    HA_READING(v, x, F) assert_ptr_equal(v.data, data);
    else fail();
    assert_true(sum_at(x, F) == 2 * N);
    assert_true(sum_at(x, H) == 2 * N);
    SUCCEEDS(ha_array_prefetch(x.array, C, 0, HA_END));
    SUCCEEDS(ha_array_prefetch(x.array, H, 0, HA_END));
    MOVED(x, 0, 0);
    assert_int_equal(CAPACITY(x, C), N);
    drop(x);
}

/* A block that a device's queue is the first to need comes from the device's pinned memory. */
/* What the device itself writes in its host memory is no copy between memories. */
TEST(elements_are_set_in_place) {
    harray_double x = keep(harray_double_new_at(3, C));
    double value = 0;
    HA_NO_TRANSFERS {
        SUCCEEDS(harray_double_set(x, 1, 7));
        SUCCEEDS(harray_double_get(x, 1, &value));
    }
    assert_true(value == 7);
    drop(x);
}

TEST(first_used_by_a_device) {
    harray_double x = keep(harray_double_new(0));
    HA_OVERWRITING(v, x, C, N) expect_kind(v.data, HA_MEMORY_PINNED, C);
    else fail();
    drop(x);
}

TEST(another_devices_values_arrive_once) {
    harray_double x = keep(harray_double_filled_at(N, 2, M1));
    add_at(x, C, 1);
    assert_false(VALID(x, M1));
    MOVED(x, 1, N * sizeof(double));
    assert_true(sum_at(x, H) == 3 * N);
    MOVED(x, 1, N * sizeof(double));
    add_at(x, M1, 1);
    assert_false(VALID(x, C) || VALID(x, H));
    assert_true(sum_at(x, C) == 4 * N);
    MOVED(x, 3, 3 * N * sizeof(double));
    drop(x);
}

/* ---- zero-copy: order ----------------------------------------------------------------------- */

static void hold(ha_context *context) { SUCCEEDS(ha_sim_hold(context)); }
static void let_go(ha_context *context) { SUCCEEDS(ha_sim_step(context, -1)); }
static int end_held(void **state) {
    HA_CHECK(ha_sim_step(C, -1));
    HA_CHECK(ha_sim_step(F, -1));
    return end_case(state);
}
#define HELD(name) cmocka_unit_test_setup_teardown(name, begin_case, end_held)

/* Reading and writing on the host, behind work that writes. */
TEST(the_host_waits_for_the_queue) {
    const unsigned ways[] = {HA_READ, HA_WRITE, HA_OVERWRITE};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        harray_double x = keep(harray_double_filled(N, 1));
        opener o;
        hold(C);
        add_at(x, C, 1);
        start_open(&o, x.array, H, ways[i], 0, HA_END);
        until_quiet();
        assert_false(has_opened(&o));
        let_go(C);
        assert_int_equal(wait_opened(&o), HA_OK);
        finish(&o);
        if (ways[i] == HA_READ) assert_true(o.seen == 2);
        drop(x);
    }
}

/* Work that reads does not keep the host from reading, but from writing. */
TEST(the_host_reads_beside_the_queue) {
    harray_double x = keep(harray_double_filled(N, 1));
    double sum = 0;
    opener o;
    hold(C);
    HA_READING(v, x, C) start_sum(&v, &sum);
    else fail();
    assert_int_equal(open_elsewhere(x.array, H, HA_READ, 0, HA_END), HA_OK);
    start_open(&o, x.array, H, HA_WRITE, 0, HA_END);
    until_quiet();
    assert_false(has_opened(&o));
    let_go(C);
    assert_int_equal(wait_opened(&o), HA_OK);
    finish(&o);
    SUCCEEDS(ha_context_finish(C));
    assert_true(sum == N);
    drop(x);
}

TEST(queues_wait_for_each_other) {
    harray_double x = keep(harray_double_filled(N, 1));
    double sum = 0;
    hold(C);
    add_at(x, C, 1);
    HA_READING(v, x, F) start_sum(&v, &sum);
    else fail();
    until_quiet();
    assert_true(sum == 0);
    let_go(C);
    SUCCEEDS(ha_context_finish(F));
    assert_true(sum == 2 * N);
    hold(F);
    HA_READING(v, x, F) start_sum(&v, &sum);
    else fail();
    add_at(x, C, 1); /* must not overtake the read */
    until_quiet();
    let_go(F);
    SUCCEEDS(ha_context_finish(F));
    assert_true(sum == 2 * N);
    assert_true(sum_at(x, H) == 3 * N);
    drop(x);
}

/* Its values are copied by the queue, behind what is enqueued there; the old block goes when that
 * has happened. */
TEST(growing_behind_work) {
    harray_double x = keep(harray_double_filled(10, 1));
    hold(C);
    add_at(x, C, 1);
    SUCCEEDS(harray_double_resize(x, N));
    HA_WRITING_RANGE(v, x, C, 10, N) fill(&v, 5);
    else fail();
    let_go(C);
    assert_true(sum_at(x, H) == 20 + 5 * (N - 10));
    drop(x);
}

/* Freed under work: given back when that has happened. */
TEST(freeing_under_work) {
    harray_double x = keep(harray_double_filled(N, 1));
    double sum = 0;
    hold(C);
    HA_READING(v, x, C) start_sum(&v, &sum);
    else fail();
    drop(x);
    harray_double y = keep(harray_double_filled(N, 7)); /* not in its place */
    let_go(C);
    SUCCEEDS(ha_context_finish(C));
    assert_true(sum == N);
    drop(y);
}

/* ---- zero-copy: on request ------------------------------------------------------------------- */

TEST(switching) {
    harray_double x = ramp(N);
    assert_true(ha_context_is_zero_copy(C));
    SUCCEEDS(ha_context_set_zero_copy(C, 1)); /* it is */
    drop(x);
    REFUSED(HA_ERR_STATE, ha_context_set_zero_copy(C, 0)); /* F */
    REFUSED(HA_ERR_STATE, ha_context_set_zero_copy(F, 0));
    SUCCEEDS(ha_context_unfork(F));
    x = ramp(N);
    REFUSED(HA_ERR_STATE, ha_context_set_zero_copy(C, 0)); /* an array */
    drop(x);
    void *block = ha_memory_allocate(C, 100);
    REFUSED(HA_ERR_STATE, ha_context_set_zero_copy(C, 0));
    SUCCEEDS(ha_memory_release(C, block));
    assert_true(ha_context_is_zero_copy(C));
    SUCCEEDS(ha_context_set_zero_copy(C, 0));
    assert_false(ha_context_is_zero_copy(C));
    F = ha_context_fork(C); /* the same again */
    assert_false(ha_context_is_zero_copy(F));
    x = ramp(N);
    add_at(x, F, 1);
    assert_false(VALID(x, H));
    assert_true(VALID(x, C));
    MOVED(x, 1, N * sizeof(double));
    HA_READING(v, x, C) expect_kind(v.data, HA_MEMORY_DEVICE, C);
    else fail();
    drop(x);
    SUCCEEDS(ha_context_unfork(F));
    SUCCEEDS(ha_context_set_zero_copy(C, 1));
    F = ha_context_fork(C);
    assert_true(ha_context_is_zero_copy(C) && ha_context_is_zero_copy(F));
}

/* A device that shares when it is asked to, and can neither fill nor pin. */
TEST(shared_on_request) {
    const double values[] = {1, 2, 3};
    double value = 0;
    assert_false(ha_context_is_zero_copy(M1));
    SUCCEEDS(ha_context_set_zero_copy(M1, 1));
    assert_true(ha_context_is_zero_copy(M1));
    harray_double x = keep(harray_double_of_at(3, values, M1));
    harray_double y = keep(harray_double_new_at(3, M1));
    REFUSED(HA_ERR_STATE, harray_double_get(y, 1, &value));
    SUCCEEDS(harray_double_set(y, 1, 5));
    SUCCEEDS(harray_double_get(y, 1, &value));
    assert_true(value == 5);
    add_at(x, M1, 1);
    HA_READING(v, x, M1) expect_kind(v.data, HA_MEMORY_HOST, H);
    else fail();
    add_at(x, C, 1); /* the host waits: these queues do not know each other */
    add_at(x, M1, 1);
    SUCCEEDS(harray_double_get(x, 0, &value));
    assert_true(value == 4);
    VALUES(x, 4, 5, 6);
    MOVED(x, 0, 0);
    drop(x);
    drop(y);
    SUCCEEDS(ha_context_set_zero_copy(M1, 0));
}

/* ---- zero-copy: HARRAY_ZERO_COPY ------------------------------------------------------------- */

static int is_zero_copy_with(const char *text, const char *name, int unified) {
    HA_CHECK(ha_sim_configure(&(ha_sim_options){.unified = unified}));
    HA_CHECK(ha_backend_register(&private_backend));
    setenv("HARRAY_ZERO_COPY", text, 1);
    const int result = ha_context_is_zero_copy(require_context(name));
    unsetenv("HARRAY_ZERO_COPY");
    assert_int_equal(ha_shutdown(), HA_OK);
    return result;
}

TEST(chosen_by_the_environment) {
    assert_false(is_zero_copy_with("", "sim:0", 0));
    assert_true(is_zero_copy_with("", "sim:0", 1));
    assert_false(is_zero_copy_with("0", "sim:0", 1));
    assert_true(is_zero_copy_with("1", "sim:0", 1));
    assert_false(is_zero_copy_with("1", "sim:0", 0)); /* it cannot */
    assert_false(is_zero_copy_with("", "private:0", 0));
    assert_false(is_zero_copy_with("0", "private:0", 0));
    assert_true(is_zero_copy_with("1", "private:0", 0));
}

TEST(a_bad_environment) {
    const char *const texts[] = {"2", "yes", "01", "1 ", "-1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char expected[80];
        snprintf(expected, sizeof expected, "HARRAY_ZERO_COPY is 0 or 1, not \"%s\"", texts[i]);
        setenv("HARRAY_ZERO_COPY", texts[i], 1);
        assert_null(ha_context_find("sim:0"));
        const ha_error error = ha_take_error();
        unsetenv("HARRAY_ZERO_COPY");
        assert_int_equal(error.status, HA_ERR_BACKEND);
        assert_non_null(strstr(error.text, expected));
    }
    assert_non_null(ha_context_find("sim:0")); /* nothing was left half open */
    SUCCEEDS(ha_shutdown());
}

/* What does not fit is pageable. */
TEST(a_full_pinned_memory) {
    SUCCEEDS(ha_sim_configure(&(ha_sim_options){.capacity = 64 << 10}));
    ha_context *sim = require_context("sim:0");
    harray_double x = keep(harray_double_new_at(0, sim)), y = keep(harray_double_new_at(0, sim));
    HA_OVERWRITING(v, x, ha_host(), 5000) expect_kind(v.data, HA_MEMORY_PINNED, sim);
    else fail();
    HA_OVERWRITING(v, y, ha_host(), 5000) expect_kind(v.data, HA_MEMORY_HOST, ha_host());
    else fail();
    assert_int_equal(ha_take_error().status, HA_OK);
    drop(x);
    HA_OVERWRITING(v, y, ha_host(), 6000) expect_kind(v.data, HA_MEMORY_PINNED, sim);
    else fail();
    drop(y);
    SUCCEEDS(ha_shutdown());
}

static void enter(uint64_t delay) {
    const matrix_row row = {"sim:0 unified", "private:0", "private:1"};
    enter_row(&row);
    if (delay) { /* as the row, with delays */
        HA_CHECK(ha_shutdown());
        HA_CHECK(ha_sim_configure(&(ha_sim_options){.unified = 1, .delay_ns = delay, .seed = 5}));
        HA_CHECK(ha_backend_register(&private_backend));
        C = require_context("sim:0");
        M1 = require_context("private:0");
        M2 = require_context("private:1");
    }
    F = ha_context_fork(C);
    if (!F) ha_check_failed_(HA_ERR_NOT_FOUND, HA_SITE, "fork");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(kinds_of_pointers),          CASE(pageable_by_first_touch),
        CASE(pinned_blocks_stay_pinned),  CASE(pointers),
        CASE(contexts_without_zero_copy), CASE(memory_of_a_kind),
        CASE(memory_of_no_context),
    };
    const struct CMUnitTest unified[] = {
        HELD(memory_of_a_kind),
        HELD(zero_copy_moves_nothing),
        HELD(elements_are_set_in_place),
        HELD(first_used_by_a_device),
        HELD(another_devices_values_arrive_once),
        HELD(the_host_waits_for_the_queue),
        HELD(the_host_reads_beside_the_queue),
        HELD(queues_wait_for_each_other),
        HELD(growing_behind_work),
        HELD(freeing_under_work),
        HELD(switching),
        HELD(shared_on_request),
    };
    const struct CMUnitTest closed[] = {
        CASE(chosen_by_the_environment),
        CASE(a_bad_environment),
        CASE(a_full_pinned_memory),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    for (uint64_t delay = 0; delay <= 20000; delay += 20000) {
        enter(delay);
        failed += cmocka_run_group_tests_name("sim:0 unified", unified, NULL, NULL);
        failed += leave_row();
    }
    return failed + cmocka_run_group_tests_name("closed", closed, NULL, NULL);
}
