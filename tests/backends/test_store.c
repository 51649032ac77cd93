/* A store of the program's as a memory: what it is called for, and what becomes of arrays when one of its functions
 * fails. What every backend must do is in test_backend.c; arrays that give way to a store are in arrays/cases_tiers_failing.c.
 *
 * Allocations fail on demand, one by one. */
#define _GNU_SOURCE 1
#include <stdatomic.h>
#include <stdlib.h>

static atomic_long points, fail_at = -1; /* allocations since arm(); the one that fails */

static void *failing_realloc(void *memory, size_t bytes) {
    return atomic_fetch_add(&points, 1) == atomic_load(&fail_at) ? NULL : realloc(memory, bytes);
}

#define HARRAY_MALLOC(bytes) failing_realloc(NULL, bytes)
#define HARRAY_REALLOC failing_realloc
#define HARRAY_FREE free
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../support/own_memory.h"
#include "../../harray.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "../support/heap_store.h"

#define TEST(name) static void name(HA_UNUSED void **state)
#define SUCCEEDS(expr) assert_int_equal(expr, HA_OK)

enum { PIECE = 4096, N = 3 * PIECE / (int)sizeof(double) + 100 }; /* four pieces */

static heap_store heap;
static ha_context *store;

static void arm(long n) {
    atomic_store(&points, 0);
    atomic_store(&fail_at, n);
}

static ha_context *open_store(heap_store *s) {
    const ha_store is = heap_store_of(s, 1 << 20, PIECE);
    return ha_store_open(&is);
}

static int begin(HA_UNUSED void **state) {
    memset(&heap, 0, sizeof heap);
    arm(-1);
    store = open_store(&heap);
    return store == NULL;
}

static int end(HA_UNUSED void **state) {
    const int failed = ha_shutdown() != HA_OK || ha_take_error().status != HA_OK;
    return failed || !heap_store_is_clean(&heap);
}

static void expect_error(ha_status status, int64_t code, const char *text) {
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, status);
    assert_int_equal(e.code, code);
    if (!strstr(e.text, text)) fail_msg("'%s' is not in '%s'", text, e.text);
}

static harray_double ramp(double first) {
    harray_double x = harray_double_new(N);
    HA_OVERWRITING(v, x, ha_host(), N) for (int i = 0; i < N; i++) v.data[i] = first + i;
    else fail();
    return x;
}

static void expect_ramp(harray_double x, double first) {
    int right = 0;
    HA_READING(v, x, ha_host()) for (int i = 0; i < N; i++) right += v.data[i] == first + i;
    assert_int_equal(right, N);
}

/* A size that no memory has is asked for: these tools would end the program. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

/* The values are in the store alone. */
static void send_away(harray_double x) {
    SUCCEEDS(ha_array_prefetch(x.array, store, 0, HA_END));
    SUCCEEDS(ha_context_finish(store));
    SUCCEEDS(ha_array_evict(x.array, ha_host()));
    assert_false(ha_array_valid(x.array, ha_host(), 0, HA_END));
}

/* ---- opening one ---------------------------------------------------------------------------------- */

TEST(stores_are_contexts) {
    ha_store is = heap_store_of(&heap, 0, 0);
    assert_string_equal(ha_context_name(store), "store:0");
    assert_ptr_equal(ha_context_find("store:0"), store);
    ha_context *second = ha_store_open(&is);
    assert_string_equal(ha_context_name(second), "store:1");
    assert_int_equal(ha_context_count("store"), 2);
    assert_string_not_equal(ha_context_kind(ha_context_best()), "store");
    assert_ptr_equal(ha_memory_pressure(store).tier, ha_host());
    for (int i = 2; i < HA_STORES; i++) assert_non_null(open_store(&heap));
    assert_null(ha_store_open(&is));
    expect_error(HA_ERR_STATE, 0, "16 stores are open");
    SUCCEEDS(ha_shutdown());
    assert_int_equal(ha_context_count("store"), 0);
    assert_null(ha_context_find("store:0"));
    expect_error(HA_ERR_NOT_FOUND, 0, "ha_store_open()");
    assert_string_equal(ha_context_name(ha_store_open(&is)), "store:0"); /* another one */
}

TEST(mistakes) {
    ha_store is[5];
    for (int i = 0; i < 5; i++) is[i] = heap_store_of(&heap, 0, 0);
    is[0].put = NULL;
    is[1].get = NULL;
    is[2].remove = NULL;
    is[3].capacity = UINT64_MAX;
    is[4].piece = 4095;
    assert_null(ha_store_open(NULL));
    expect_error(HA_ERR_ARGUMENT, 0, "no store");
    for (int i = 0; i < 5; i++) {
        assert_null(ha_store_open(&is[i]));
        expect_error(HA_ERR_ARGUMENT, 0,
                     i < 3    ? "a store needs put, get and remove"
                     : i == 3 ? "a store has at most 16 TiB"
                              : "a piece of a store has at least 4096 bytes");
    }
    assert_int_equal(ha_context_count("store"), 1);
    is[4].piece = SIZE_MAX / 2;
    assert_null(ha_store_open(&is[4]));
    expect_error(HA_ERR_MEMORY, 0, "a store: cannot open the device");
    assert_int_equal(ha_context_count("store"), 1);
}

TEST(a_full_store) {
    harray_double x = harray_double_new((1 << 20) / sizeof(double) + 1);
    assert_int_equal(ha_array_prefetch(x.array, store, 0, HA_END), HA_ERR_MEMORY);
    (void)ha_take_error();
    assert_null(ha_memory_allocate(store, (1 << 20) + 1));
    expect_error(HA_ERR_MEMORY, 0, "store:0: no room for 1048577 bytes, 0 of 1048576 are in use");
    SUCCEEDS(harray_double_free(&x));
}

static void do_nothing(HA_UNUSED const ha_queue *queue, HA_UNUSED void *argument) {}

TEST(functions_are_refused) {
    assert_int_equal(ha_enqueue(store, do_nothing, NULL, 0), HA_ERR_UNSUPPORTED);
    expect_error(HA_ERR_UNSUPPORTED, 0, "a store has no processor");
}

/* ---- pieces ----------------------------------------------------------------------------------------- */

TEST(values_go_and_come_back) {
    harray_double x = ramp(5);
    send_away(x);
    assert_int_equal(atomic_load(&heap.puts), 4);
    assert_int_equal(atomic_load(&heap.bytes), N * sizeof(double));
    expect_ramp(x, 5);
    assert_int_equal(atomic_load(&heap.gets), 4);
    SUCCEEDS(harray_double_free(&x));
    (void)ha_memory_trim(store, 0);
    SUCCEEDS(ha_context_finish(store));
}

/* Those that are written in part, and no others, are put anew; what else they have stays. */
TEST(parts_of_pieces) {
    const size_t first = PIECE / sizeof(double) - 1, last = first + 3;
    harray_double x = ramp(0);
    send_away(x);
    HA_WRITING_RANGE(v, x, ha_host(), first, last)
    for (size_t i = 0; i < v.size; i++) v.data[i] = -1;
    else fail();
    assert_int_equal(atomic_load(&heap.gets), 2);
    SUCCEEDS(ha_array_prefetch(x.array, store, first, last));
    SUCCEEDS(ha_context_finish(store));
    assert_int_equal(atomic_load(&heap.puts), 6);
    assert_int_equal(atomic_load(&heap.objects), 4);
    assert_int_equal(atomic_load(&heap.bytes), N * sizeof(double));
    SUCCEEDS(ha_array_evict(x.array, ha_host()));
    HA_READING(v, x, ha_host())
    for (size_t i = 0; i < N; i++)
        assert_true(v.data[i] == (i >= first && i < last ? -1 : (double)i));
    else fail();
    SUCCEEDS(harray_double_free(&x));
}

/* What nobody has written is not in the store. */
TEST(parts_that_have_no_values) {
    harray_double x = harray_double_new(N);
    HA_OVERWRITING(v, x, ha_host(), N) for (int i = 0; i < N; i++) v.data[i] = i;
    else fail();
    SUCCEEDS(ha_array_prefetch(x.array, store, 10, 20));
    SUCCEEDS(ha_context_finish(store));
    assert_int_equal(atomic_load(&heap.bytes), 20 * sizeof(double));
    SUCCEEDS(ha_array_prefetch(x.array, store, 0, HA_END));
    SUCCEEDS(ha_context_finish(store));
    assert_int_equal(atomic_load(&heap.bytes), N * sizeof(double));
    expect_ramp(x, 0);
    SUCCEEDS(harray_double_free(&x));
}

/* ---- failures ---------------------------------------------------------------------------------------- */

/* Who has asked for it is told, and the value stays where it was. Nothing else is touched. */
TEST(a_put_fails) {
    harray_double x = ramp(1), y = ramp(2);
    send_away(y);
    atomic_store(&heap.puts_fail, 1);
    assert_int_equal(ha_array_prefetch(x.array, store, 0, HA_END), HA_ERR_BACKEND);
    expect_error(HA_ERR_BACKEND, ENOSPC, "store:0: the put of 4096 bytes under key 5 has failed");
    assert_false(ha_array_valid(x.array, store, 0, HA_END));
    send_away(x);
    expect_ramp(x, 1);
    expect_ramp(y, 2);
    SUCCEEDS(harray_double_free(&x));
    SUCCEEDS(harray_double_free(&y));
}

/* Nobody waits for the puts of a fork: the first that fails is its end, and what is behind is dropped. */
TEST(a_queue_fails) {
    harray_double x = ramp(1), y = ramp(2);
    ha_context *fork = ha_context_fork(store), *other = ha_context_fork(store);
    atomic_store(&heap.is_held, 1);
    atomic_store(&heap.puts_fail, 1);
    SUCCEEDS(ha_array_prefetch(x.array, fork, 0, HA_END));
    SUCCEEDS(ha_array_prefetch(y.array, fork, 0, HA_END));
    SUCCEEDS(ha_array_prefetch(y.array, other, 0, HA_END)); /* is there */
    atomic_store(&heap.is_held, 0);
    assert_int_equal(ha_context_finish(fork), HA_ERR_LOST);
    expect_error(HA_ERR_LOST, ENOSPC, "the put of 4096 bytes under key 1 has failed");
    assert_int_not_equal(ha_array_prefetch(y.array, fork, 0, HA_END), HA_OK);
    (void)ha_take_error();
    expect_ramp(x, 1);
    expect_ramp(y, 2);
    send_away(x);
    expect_ramp(x, 1);
    SUCCEEDS(harray_double_free(&x));
    SUCCEEDS(harray_double_free(&y));
}

/* What was to give way is put once more, and stays if that fails for good. */
TEST(puts_fail_where_an_array_gives_way) {
    harray_double x = ramp(1);
    SUCCEEDS(ha_memory_set_tier(ha_host(), store));
    atomic_store(&heap.puts_fail, 3);
    SUCCEEDS(ha_array_evict(x.array, ha_host()));
    assert_int_equal(atomic_load(&heap.puts_fail), 0);
    HA_WRITING(v, x, ha_host()) v.data[0] = 1;
    else fail();
    atomic_store(&heap.puts_fail, -1);
    assert_int_equal(ha_array_evict(x.array, ha_host()), HA_ERR_STATE);
    expect_error(HA_ERR_STATE, 0, "are valid nowhere else, and cannot go to store:0");
    expect_ramp(x, 1);
    SUCCEEDS(harray_double_free(&x));
}

static void expect_unreadable(harray_double x, const char *text) {
    ha_read_double v;
    assert_int_equal(ha_open(&v, x.array, ha_host(), HA_READ, 0, HA_END), HA_ERR_BACKEND);
    expect_error(HA_ERR_BACKEND, EIO, text);
}

/* That value cannot be had; others can, and it itself when the store has it again. */
TEST(a_get_fails) {
    harray_double x = ramp(1), y = ramp(2);
    send_away(x);
    send_away(y);
    atomic_store(&heap.gets_fail, 1);
    expect_unreadable(x, "store:0: the get of key 1, of 4096 bytes, has failed");
    atomic_store(&heap.gets_short, 1);
    expect_unreadable(x, "store:0: the get of key 1 has given 2048 of 4096 bytes");
    expect_ramp(y, 2);
    expect_ramp(x, 1);
    SUCCEEDS(harray_double_free(&x));
    SUCCEEDS(harray_double_free(&y));
}

/* Then it may be overwritten. */
TEST(a_value_that_is_gone) {
    harray_double x = ramp(1);
    send_away(x);
    atomic_store(&heap.gets_fail, -1);
    expect_unreadable(x, "key 1");
    HA_OVERWRITING(v, x, ha_host(), N) for (int i = 0; i < N; i++) v.data[i] = 7 + i;
    else fail();
    expect_ramp(x, 7);
    SUCCEEDS(harray_double_free(&x));
}

/* To change a part of a piece it has to be got. */
TEST(a_get_fails_for_a_put) {
    harray_double x = ramp(1);
    send_away(x);
    expect_ramp(x, 1);
    HA_WRITING_RANGE(v, x, ha_host(), 5, 6) v.data[0] = 6;
    else fail();
    atomic_store(&heap.gets_fail, 1);
    assert_int_equal(ha_array_prefetch(x.array, store, 5, 6), HA_ERR_BACKEND);
    expect_error(HA_ERR_BACKEND, EIO, "the get of key 1");
    expect_ramp(x, 1);
    SUCCEEDS(harray_double_free(&x));
}

static harray_double victim;
static atomic_int refused;

static void use_an_array(void) {
    ha_read_double v;
    const ha_status s = ha_open(&v, victim.array, ha_host(), HA_READ, 0, HA_END);
    atomic_fetch_add(&refused, s == HA_ERR_STATE);
    atomic_fetch_add(&refused,
                     ha_store_open(NULL) != NULL || ha_take_error().status != HA_ERR_STATE);
    (void)ha_take_error();
}

TEST(arrays_are_refused_in_its_functions) {
    victim = ramp(1);
    heap.inside = use_an_array;
    send_away(victim);
    assert_int_equal(atomic_load(&refused), 4);
    expect_ramp(victim, 1);
    SUCCEEDS(harray_double_free(&victim));
}

TEST(each_allocation_that_fails_leaves_the_values) {
    int failed = 1;
    SUCCEEDS(ha_shutdown());
    for (long point = 0; failed; point++) {
        harray_double x = ramp(3);
        arm(point);
        ha_context *found = open_store(&heap);
        if (found != NULL) {
            HA_IGNORE(ha_array_prefetch(x.array, found, 0, 10));
            HA_IGNORE(ha_array_prefetch(x.array, ha_context_fork(found), 0, HA_END));
            HA_IGNORE(ha_context_finish(found));
            HA_IGNORE(ha_array_evict(x.array, ha_host()));
            HA_READING_RANGE(v, x, ha_host(), 10, 20) {}
        }
        failed = atomic_load(&points) > point;
        arm(-1);
        assert_true(failed || point > 6);
        expect_ramp(x, 3);
        harray_double_free(&x);
        SUCCEEDS(ha_shutdown());
        (void)ha_take_error();
        assert_true(heap_store_is_clean(&heap));
        heap.highest = 0; /* of the next store */
    }
}

/* ---- as the engine calls it ------------------------------------------------------------------------------- */

static char host[PIECE];

static void *store_block(void) {
    void *block = ha_memory_allocate(store, PIECE);
    assert_non_null(block);
    return block;
}

TEST(parts_fail) {
    char *a = store_block(), *b = store_block();
    const ha_strided_copy apart = {.to = host,
                                   .from = a,
                                   .bytes = 8,
                                   .levels = 1,
                                   .count = {2},
                                   .to_step = {8},
                                   .from_step = {16}};
    SUCCEEDS(store->ops->copy(store->queue, a, host, PIECE));
    SUCCEEDS(store->ops->copy_strided(store->queue, &apart, 1));
    assert_int_equal(store->ops->copy_strided(store->queue, NULL, 0), HA_ERR_UNSUPPORTED);
    SUCCEEDS(store->ops->copy(store->queue, a, host, PIECE)); /* another key */
    atomic_store(&heap.gets_fail, 4);
    assert_int_equal(store->ops->copy_strided(store->queue, &apart, 1), HA_ERR_BACKEND);
    assert_int_equal(store->ops->copy(store->queue, host, a, 8), HA_ERR_BACKEND);
    assert_int_equal(store->ops->copy(store->queue, b, a, 8), HA_ERR_BACKEND);
    assert_int_equal(store->ops->copy(store->queue, a, host, 8), HA_ERR_BACKEND);
    atomic_store(&heap.puts_fail, 1);
    assert_int_equal(store->ops->copy(store->queue, a + 8, host, 8), HA_ERR_BACKEND);
    SUCCEEDS(store->ops->copy(store->queue, host, a, PIECE));
    SUCCEEDS(ha_memory_release(store, a));
    SUCCEEDS(ha_memory_release(store, b));
}

/* Of the pieces that a copy changes in part, one after the other, the first cannot be put. */
TEST(a_piece_fails_before_the_next) {
    char *a = ha_memory_allocate(store, 2 * PIECE);
    const ha_strided_copy apart = {.to = a + 8,
                                   .from = host,
                                   .bytes = 8,
                                   .levels = 1,
                                   .count = {2},
                                   .to_step = {PIECE},
                                   .from_step = {8}};
    atomic_store(&heap.puts_fail, 1);
    assert_int_equal(store->ops->copy_strided(store->queue, &apart, 1), HA_ERR_BACKEND);
    assert_int_equal(atomic_load(&heap.bytes), 0);
    SUCCEEDS(store->ops->copy_strided(store->queue, &apart, 1));
    assert_int_equal(atomic_load(&heap.bytes), 2 * 16);
    SUCCEEDS(ha_memory_release(store, a));
}

static void *let_go_soon(void *unused) {
    while (!atomic_load(&heap.calls)) sched_yield();
    sched_yield();
    atomic_store(&heap.is_held, 0);
    return unused;
}

/* Behind a put that fails nothing of its queue happens, whoever waits for it, nor what another queue waits for it with. */
TEST(behind_a_failure) {
    char *a = store_block();
    ha_context *fork = ha_context_fork(store), *behind = ha_context_fork(store),
               *other = ha_context_fork(store);
    pthread_t thread;
    ha_event event, early;
    SUCCEEDS(store->ops->record(fork->queue, &early));
    SUCCEEDS(store->ops->await(other->queue, &early));
    atomic_store(&heap.is_held, 1);
    atomic_store(&heap.puts_fail, 1);
    assert_int_equal(pthread_create(&thread, NULL, let_go_soon, NULL), 0);
    SUCCEEDS(store->ops->copy(fork->queue, a, host, PIECE));
    SUCCEEDS(store->ops->record(fork->queue, &event));
    SUCCEEDS(store->ops->await(behind->queue, &event));
    assert_int_equal(store->ops->copy(fork->queue, host, a, PIECE), HA_ERR_LOST);
    pthread_join(thread, NULL);
    store->ops->drain(behind->queue);
    assert_true(store->ops->done(&event) < 0);
    assert_int_equal(store->ops->copy(fork->queue, a, host, PIECE), HA_ERR_LOST);
    assert_int_equal(store->ops->copy(fork->queue, host, a, PIECE), HA_ERR_LOST);
    assert_int_equal(store->ops->copy(behind->queue, a, host, PIECE), HA_ERR_LOST);
    assert_int_equal(store->ops->record(behind->queue, &event), HA_ERR_LOST);
    assert_string_equal(ha_backend_note.text,
                        "store:0: what the queue has waited for never happens");
    SUCCEEDS(store->ops->copy(other->queue, a, host, PIECE));
    store->ops->drain(other->queue);
    assert_int_equal(atomic_load(&heap.bytes), PIECE);
    ha_forget_note();
    SUCCEEDS(ha_memory_release(store, a));
}

TEST(what_it_says_of_itself) {
    char text[100];
    uint64_t total, unused;
    double seconds;
    void *a = store_block();
    ha_context *owner;
    assert_int_equal(ha_pointer_kind(a, &owner), HA_MEMORY_DEVICE);
    assert_ptr_equal(owner, store);
    assert_int_equal(ha_pointer_kind(host, &owner), HA_MEMORY_HOST);
    SUCCEEDS(ha_backend_store.memory->capacity(store->memory->handle, &total, &unused));
    assert_true(total == 1 << 20 && unused == total - PIECE);
    ha_backend_store.describe(store->device, text, sizeof text);
    assert_string_equal(text, "a store of the program's, in pieces of 4096 bytes");
    const ha_moment first = ha_mark(store), last = ha_mark(store);
    SUCCEEDS(ha_elapsed(first, last, &seconds));
    assert_true(seconds >= 0);
    SUCCEEDS(ha_memory_release(store, a));
}

/* Of the largest ones processes do not have room for sixteen. */
TEST(no_addresses_are_left) {
    const ha_store is = heap_store_of(&heap, (uint64_t)16 << 40, 0);
    int stores = 1;
    while (stores < HA_STORES && ha_store_open(&is)) stores++;
    assert_true(stores < HA_STORES);
    expect_error(HA_ERR_MEMORY, ENOMEM, "a store needs address space: Cannot allocate memory");
}

/* ---- several ------------------------------------------------------------------------------------------- */

TEST(from_store_to_store) {
    static heap_store second;
    memset(&second, 0, sizeof second);
    ha_context *other = open_store(&second);
    harray_double x = ramp(4);
    send_away(x);
    SUCCEEDS(ha_array_prefetch(x.array, other, 0, HA_END));
    SUCCEEDS(ha_context_finish(other));
    assert_int_equal(atomic_load(&second.bytes), N * sizeof(double));
    SUCCEEDS(ha_array_evict(x.array, ha_host()));
    SUCCEEDS(ha_array_evict(x.array, store));
    expect_ramp(x, 4);
    SUCCEEDS(harray_double_free(&x));
    SUCCEEDS(ha_shutdown());
    assert_true(heap_store_is_clean(&second));
}

/* What is on its way to one store is waited for before the other one may write there. */
TEST(one_store_waits_for_another) {
    static heap_store second;
    memset(&second, 0, sizeof second);
    ha_context *other = ha_context_fork(open_store(&second));
    harray_double x = ramp(1), y = ramp(2);
    send_away(x);
    atomic_store(&second.is_held, 1);
    SUCCEEDS(ha_array_prefetch(y.array, other, 0, HA_END));
    expect_ramp(x, 1);
    atomic_store(&second.is_held, 0);
    SUCCEEDS(harray_double_free(&x));
    SUCCEEDS(harray_double_free(&y));
    SUCCEEDS(ha_shutdown());
    assert_true(heap_store_is_clean(&second));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    cmocka_set_test_filter(getenv("ONLY"));
    const struct CMUnitTest tests[] = {
        CASE(stores_are_contexts),
        CASE(mistakes),
        CASE(a_full_store),
        CASE(functions_are_refused),
        CASE(values_go_and_come_back),
        CASE(parts_of_pieces),
        CASE(parts_that_have_no_values),
        CASE(a_put_fails),
        CASE(a_queue_fails),
        CASE(puts_fail_where_an_array_gives_way),
        CASE(a_get_fails),
        CASE(a_value_that_is_gone),
        CASE(a_get_fails_for_a_put),
        CASE(arrays_are_refused_in_its_functions),
        CASE(each_allocation_that_fails_leaves_the_values),
        CASE(parts_fail),
        CASE(a_piece_fails_before_the_next),
        CASE(behind_a_failure),
        CASE(what_it_says_of_itself),
        CASE(no_addresses_are_left),
        CASE(from_store_to_store),
        CASE(one_store_waits_for_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
