/* Memories: what is handed out, cached and given back, and the account of it. When they are full:
 * cases_full_memory.c. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/bounded_memory.h"
#include "../support/threads.h"

#define KI ((size_t)1 << 10)
#define MI ((size_t)1 << 20)

/* Where it works on host memory, this is what the device's queues reach best. */
static ha_memory_usage usage_at(const ha_context *context) {
    return in_unified_row ? ha_context_pinned_memory(context) : ha_context_memory(context);
}

static ha_memory_usage usage(void) {
    const ha_memory_usage u = usage_at(C);
    assert_int_equal(u.handed_out, u.live + u.cached + u.retired + u.staging);
    assert_true(u.high_water >= u.handed_out);
    check_pools();
    return u;
}

static void *take(size_t bytes) {
    void *block = ha_memory_allocate(C, bytes);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % 64, 0);
    (void)usage();
    return block;
}

/* The queue is idle, so it is cached at once. */
static void give(void *block) {
    SUCCEEDS(ha_memory_release(C, block));
    SUCCEEDS(ha_context_finish(C));
    (void)ha_memory_trim(C, UINT64_MAX);
    assert_int_equal(usage().retired, 0);
}

static harray_double new_at(size_t n) { return keep(harray_double_new_at(n, C)); }

/* ---- the account ---------------------------------------------------------------------------- */

TEST(high_water_rises) {
    const uint64_t most = usage().high_water;
    give(take(most + 1));
    assert_true(usage().high_water >= most + 1);
}

TEST(account_of_an_array) {
    assert_int_equal(usage().handed_out, 0);
    harray_double x = new_at(1000);
    const ha_memory_usage one = usage();
    assert_true(one.live >= 1000 * sizeof(double));
    assert_int_equal(one.handed_out, one.live);
    assert_int_equal(one.allocations, 1);
    drop(x);
    assert_int_equal(usage().live, 0);
    assert_int_equal(usage().cached, one.live);
    assert_int_equal(usage().releases, 0);
    drop(new_at(1000));
    assert_int_equal(usage().allocations, 1);
    assert_int_equal(usage().reused, 1);
    assert_int_equal(ha_memory_trim(C, 0), one.live);
    assert_int_equal(usage().handed_out, 0);
    assert_int_equal(usage().releases, 1);
    assert_int_equal(usage().high_water, one.live);
    assert_int_equal(ha_memory_trim(C, 0), 0);
}

/* A growing array has two blocks for a moment; then the smaller one is cached. */
TEST(account_of_growth) {
    harray_double x = list_at(C);
    SUCCEEDS(harray_double_resize(x, 2000));
    HA_OVERWRITING_RANGE(v, x, C, 5, 2000) fill(&v, 1);
    else fail();
    SUCCEEDS(ha_context_finish(C));
    (void)ha_memory_trim(C, UINT64_MAX);
    assert_int_equal(CAPACITY(x, C), 2000);
    assert_true(usage().live >= 2000 * sizeof(double));
    assert_true(usage().cached >= 5 * sizeof(double));
    SUCCEEDS(ha_array_purge(x.array));
    SUCCEEDS(ha_context_finish(C));
    (void)ha_memory_trim(C, UINT64_MAX);
    assert_int_equal(usage().live, 0);
    assert_int_equal(usage().handed_out, usage().cached);
    drop(x);
}

/* The context may be the current one, and shutting down ends every account, the host's too. */
TEST(account_ends_with_shutdown) {
    give(take(300));
    HA_ON(C) assert_int_equal(usage_at(NULL).cached, usage().cached);
    assert_true(usage().cached > 0);
    SUCCEEDS(ha_memory_set_cache(C, 100));
    HA_CHECK(ha_shutdown());
    assert_int_equal(ha_context_memory(H).handed_out, 0);
    enter_row(row);
    assert_int_equal(usage().high_water, 0);
    give(take(300));
    assert_true(usage().cached >= 300); /* and the limit is what it was at first */
}

/* ---- sizes ---------------------------------------------------------------------------------- */

/* At most an eighth is wasted, and 2 MiB, on a fresh block. */
TEST(little_is_wasted) {
    const size_t sizes[] = {64,     65,         100,         1000,         4097,   70000,
                            MI + 1, 5 * MI + 1, 17 * MI + 1, 33 * MI + 64, 40 * MI};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *block = take(sizes[i]);
        const uint64_t wasted = usage().live - sizes[i];
        assert_true(wasted <= sizes[i] / 8 && wasted <= 2 * MI);
        give(block);
        assert_true(ha_memory_trim(C, 0) > 0);
    }
}

/* Whether a block that served `first` bytes serves `second` bytes, too. */
static int serves(size_t first, size_t second) {
    give(take(first));
    void *block = take(second);
    const int reused = usage().reused == 1;
    assert_true(usage().live >= second);
    give(block);
    HA_CHECK(ha_shutdown());
    enter_row(row);
    return reused;
}

TEST(blocks_serve_similar_sizes) {
    assert_true(serves(1000, 1000));
    assert_true(serves(1000, 970));
    assert_false(serves(1000, 500));
    assert_false(serves(1000, 1100));
    assert_false(serves(1152, 1000));
    assert_true(serves(1, 64));
    assert_true(serves(4 * MI, 4 * MI));
    assert_false(serves(4 * MI, 4 * MI + 1));
    assert_true(serves(40 * MI, 36 * MI));
    assert_true(serves(36 * MI + 1, 37 * MI));
    assert_false(serves(40 * MI, 30 * MI));
    assert_false(serves(39 * MI, 33 * MI));
    assert_false(serves(36 * MI, 40 * MI));
}

/* What the block has more than was asked for is nobody's. */
TEST(capacity_is_what_was_asked_for) {
    drop(new_at(1000));
    harray_double x = new_at(990);
    assert_int_equal(usage().reused, 1);
    assert_int_equal(CAPACITY(x, C), 990);
    drop(x);
}

/* Without a cache there is no reason to ask for more. */
TEST(exact_without_a_cache) {
    SUCCEEDS(ha_memory_set_cache(C, 0));
    void *block = take(1001);
    assert_int_equal(usage().live, 1001);
    give(block);
    assert_int_equal(usage().handed_out, 0);
    SUCCEEDS(ha_memory_set_cache(C, UINT64_MAX));
    give(take(40));
    give(take(40));
    SUCCEEDS(ha_memory_set_cache(C, 0));
    assert_int_equal(usage().handed_out, 0);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

enum { BLOCKS = 5 };

/* So many blocks of 1 KiB are cached, blocks[0] for the longest time. */
static void cache_blocks(void *blocks[BLOCKS]) {
    for (int i = 0; i < BLOCKS; i++) blocks[i] = take(KI);
    for (int i = 0; i < BLOCKS; i++) give(blocks[i]);
}

/* What is left in the cache are exactly the `left` blocks that came last; the last comes first. */
static void expect_youngest(void *blocks[BLOCKS], int left) {
    void *again[BLOCKS];
    assert_int_equal(usage().cached, (size_t)left * KI);
    for (int i = 0; i < left; i++) {
        again[i] = take(KI);
        assert_ptr_equal(again[i], blocks[BLOCKS - 1 - i]);
    }
    for (int i = 0; i < left; i++) give(again[i]);
}

TEST(limited_cache) {
    void *blocks[BLOCKS];
    SUCCEEDS(ha_memory_set_cache(C, 3 * KI + 100));
    cache_blocks(blocks);
    expect_youngest(blocks, 3);
    assert_int_equal(usage().releases, 2);
}

TEST(limit_is_lowered) {
    void *blocks[BLOCKS];
    cache_blocks(blocks);
    SUCCEEDS(ha_memory_set_cache(C, 2 * KI));
    expect_youngest(blocks, 2);
}

TEST(trimmed_from_the_oldest_on) {
    void *blocks[BLOCKS];
    cache_blocks(blocks);
    assert_int_equal(ha_memory_trim(C, 4 * KI + 1), KI);
    assert_int_equal(ha_memory_trim(C, 2 * KI), 2 * KI);
    expect_youngest(blocks, 2);
}

/* It would not fit; what is there stays. */
TEST(too_large_for_the_cache) {
    void *blocks[BLOCKS], *large = take(9 * KI), *small = take(6 * KI);
    SUCCEEDS(ha_memory_set_cache(C, 8 * KI));
    cache_blocks(blocks);
    give(large);
    assert_int_equal(usage().cached, BLOCKS * KI);
    give(small); /* this one has others go for it */
    assert_int_equal(usage().cached, 8 * KI);
}

/* Blocks taken out of the middle of everything: neighbours in age, in class. */
TEST(taken_in_any_order) {
    static const size_t sizes[] = {100, 3000, 100, 200, 3000, 100, 200, 200, 3000};
    enum { N = sizeof sizes / sizeof *sizes };
    void *blocks[N];
    for (int round = 0; round < 8; round++) {
        for (size_t i = 0; i < N; i++) blocks[i] = take(sizes[(i * (size_t)(round + 1)) % N]);
        for (size_t i = 0; i < N; i++) give(blocks[(i * 5) % N]);
        (void)ha_memory_trim(C, usage().cached - (uint64_t)(500 * (round % 3)));
    }
}

/* The cache never leads to more being handed out than was in use at the same time. */
TEST(no_higher_water) {
    give(take(64 * KI));
    void *large = take(128 * KI);
    assert_int_equal(usage().handed_out, 128 * KI); /* the first one went for it */
    assert_int_equal(usage().high_water, 128 * KI);
    void *small = take(32 * KI);
    assert_int_equal(usage().high_water, 160 * KI);
    give(large);
    give(small);
    assert_int_equal(usage().cached, 160 * KI);
    give(take(80 * KI)); /* the oldest goes, the other one may stay */
    assert_int_equal(usage().cached, (32 + 80) * KI);
    assert_int_equal(usage().high_water, 160 * KI);
}

/* ---- allocators ------------------------------------------------------------------------------ */

/* Everything comes from it: new arrays, growth, transfers, staging; and goes back. */
TEST(allocator_serves_everything) {
    use_pool(MI);
    harray_double x = list_at(C);
    SUCCEEDS(harray_double_resize(x, 500));
    HA_OVERWRITING_RANGE(v, x, C, 5, 500) fill(&v, 2);
    else fail();
    harray_double y = ramp(100);
    assert_true(sum_at(y, C) == 4950);
    assert_int_equal(pool.used, usage().handed_out);
    assert_int_equal(pool.calls, usage().allocations);
    assert_true(pool.blocks >= 2);
    VALUES(harray_double_from(keep(harray_double_of(1, (double[]){7})).array), 7);
    drop_arrays();
    leave_pool();
    const size_t calls = pool.calls;
    drop(new_at(100));
    assert_int_equal(pool.calls, calls);
}

TEST(allocator_lacks_a_function) {
    const ha_allocator no_release = {bounded_allocate, NULL, NULL};
    const ha_allocator no_allocate = {NULL, bounded_release, NULL};
    REFUSED(HA_ERR_ARGUMENT, ha_memory_set_allocator(C, &no_release));
    REFUSED(HA_ERR_ARGUMENT, ha_memory_set_allocator(C, &no_allocate));
    SUCCEEDS(ha_memory_set_allocator(C, NULL));
}

/* What came from one is not to be given to another one. What is cached goes back first. */
TEST(allocator_while_handed_out) {
    if (in_unified_row) skip();
    harray_double x = new_at(10);
    REFUSED(HA_ERR_STATE, ha_memory_set_allocator(C, &bounded_allocator));
    drop(x);
    void *block = take(10);
    REFUSED(HA_ERR_STATE, ha_memory_set_allocator(C, &bounded_allocator));
    give(block);
    assert_true(usage().cached > 0);
    use_pool(MI);
    assert_int_equal(usage().handed_out, 0);
    block = take(10);
    REFUSED(HA_ERR_STATE, ha_memory_set_allocator(C, NULL));
    give(block);
    assert_int_equal(pool.blocks, 1);
    leave_pool();
}

TEST(allocator_is_forgotten) {
    use_pool(MI);
    give(take(10));
    HA_CHECK(ha_shutdown());
    assert_int_equal(pool.blocks, 0);
    enter_row(row);
    const size_t calls = pool.calls;
    give(take(10));
    assert_int_equal(pool.calls, calls);
}

/* Whatever it does wrong, the call fails, and the account says so. */
TEST(allocator_fails) {
    use_pool(4 * KI);
    harray_double x = keep(harray_double_filled_at(100, 3, C));
    const uint64_t live = usage().live;
    REFUSED_NULL(HA_ERR_MEMORY, ha_array_new(harray_double_type(), 10000, C));
    pool.fails = HA_ERR_BACKEND;
    REFUSED_NULL(HA_ERR_BACKEND, ha_array_new(harray_double_type(), 200, C));
    pool.fails = HA_OK;
    pool.lies = 1;
    REFUSED_NULL(HA_ERR_MEMORY, ha_array_new(harray_double_type(), 200, C));
    pool.lies = 0;
    pool.misaligned = 1;
    assert_null(ha_array_new(harray_double_type(), 200, C));
    const ha_error error = ha_take_error();
    assert_int_equal(error.status, HA_ERR_BACKEND);
    assert_non_null(strstr(error.text, "aligned"));
    pool.misaligned = 0;
    REFUSED(HA_ERR_MEMORY, ha_array_reserve(x.array, C, 10000));
    assert_int_equal(CAPACITY(x, C), 100);
    assert_true(sum_at(x, C) == 300);
    SUCCEEDS(ha_context_finish(C));
    assert_int_equal(usage().live, live);
    assert_int_equal(pool.used, usage().handed_out);
    drop(x);
    SUCCEEDS(ha_context_finish(C));
    leave_pool();
}

/* ---- full memories --------------------------------------------------------------------------- */

TEST(cached_blocks_make_way) {
    use_pool(100 * KI);
    void *first = take(40 * KI), *second = take(56 * KI);
    give(first);
    give(second);
    assert_int_equal(pool.used, 96 * KI);
    pool.most = 60 * KI; /* others have taken the rest */
    void *third = take(32 * KI);
    assert_int_equal(usage().handed_out, 32 * KI);
    assert_int_equal(pool.blocks, 1);
    give(third);
    REFUSED_NULL(HA_ERR_MEMORY, ha_memory_allocate(C, 61 * KI));
    assert_int_equal(usage().handed_out, 0);
    leave_pool();
}

/* Rounding up is no reason to fail. */
TEST(exact_when_it_has_to_be) {
    use_pool(1001);
    give(take(1001));
    assert_int_equal(usage().cached, 1001);
    give(take(1001));
    assert_int_equal(usage().reused, 1);
    leave_pool();
}

/* ---- memory without an array ----------------------------------------------------------------- */

TEST(allocate_and_release) {
    assert_null(ha_memory_allocate(C, 0));
    REFUSED_NULL(HA_ERR_MEMORY, ha_memory_allocate(C, SIZE_MAX));
    REFUSED_NULL(HA_ERR_MEMORY, ha_memory_allocate(C, (size_t)PTRDIFF_MAX + 1));
    SUCCEEDS(ha_memory_release(C, NULL));
    char mine;
    REFUSED(HA_ERR_ARGUMENT, ha_memory_release(C, &mine));
    void *block = take(100);
    assert_true(usage().live >= 100);
    REFUSED(HA_ERR_ARGUMENT, ha_memory_release(C, (char *)block + 64));
    REFUSED(HA_ERR_ARGUMENT, ha_memory_release(M1, block));
    REFUSED(HA_ERR_STATE, ha_shutdown());
    assert_true(usage().live >= 100);
    give(block);
    REFUSED(HA_ERR_ARGUMENT, ha_memory_release(C, block));
    assert_int_equal(usage().live, 0);
}

/* It is memory like any other of the context. */
TEST(allocated_memory_is_usable) {
    double *data = (double *)take(50 * sizeof *data), sum = 0;
    const job set = {data, 50, 4};
    const sum_of add_up = {data, 50, &sum};
    SUCCEEDS(ha_enqueue(C, fill_job, &set, sizeof set));
    SUCCEEDS(ha_enqueue(C, sum_job, &add_up, sizeof add_up));
    SUCCEEDS(ha_context_finish(C));
    assert_true(sum == 200);
    give(data);
}

TEST(many_blocks) {
    enum { MANY = 1000 };
    static void *blocks[MANY];
    for (int i = 0; i < MANY; i++) blocks[i] = take(64 + (size_t)i % 300);
    check_ledger(NULL, 0);
    for (int i = 0; i < MANY; i++) SUCCEEDS(ha_memory_release(C, blocks[(i * 7) % MANY]));
    SUCCEEDS(ha_context_finish(C));
    (void)ha_memory_trim(C, UINT64_MAX);
    assert_int_equal(usage().live, 0);
    assert_int_equal(usage().retired, 0);
    assert_true(usage().reused < MANY);
}

/* ---- use after free -------------------------------------------------------------------------- */

#ifdef HA_POISONS_
/* AddressSanitizer sees through the cache. */
TEST(cached_blocks_are_poisoned) {
    harray_double x = keep(harray_double_filled(100, 1));
    const double *data = NULL;
    HA_READING(v, x, H) data = v.data;
    drop(x);
    assert_true(__asan_address_is_poisoned(data));
    x = keep(harray_double_filled(99, 1));
    HA_READING(v, x, H) assert_ptr_equal(v.data, data);
    assert_false(__asan_address_is_poisoned(data + 98));
    assert_true(__asan_address_is_poisoned(data + 99));
    drop(x);
}
#endif

/* ---- threads --------------------------------------------------------------------------------- */

enum { ROUNDS = 1500, LIVE = 8 };
static atomic_int running;

static void *make_and_free(void *argument) {
    unsigned random = *(const unsigned *)argument;
    ha_array *live[LIVE] = {NULL};
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 1103515245u + 12345u;
        const size_t n = 1 + (random >> 16) % 300;
        HA_CHECK(ha_array_free(live[i % LIVE]));
        live[i % LIVE] = ha_array_new(harray_double_type(), n, C);
        if (!live[i % LIVE]) abort();
        if (i % 16) continue;
        void *block = ha_memory_allocate(C, n);
        HA_CHECK(ha_memory_release(C, block));
    }
    for (int i = 0; i < LIVE; i++) HA_CHECK(ha_array_free(live[i]));
    atomic_fetch_sub(&running, 1);
    return NULL;
}

TEST(two_threads_and_one_that_trims) {
    pthread_t threads[2];
    unsigned seeds[2] = {1, 2};
    atomic_store(&running, 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_and_free, &seeds[i]), 0);
    for (uint64_t keep_bytes = 0; atomic_load(&running); keep_bytes = (keep_bytes + 1000) % 20000) {
        (void)ha_memory_trim(C, keep_bytes);
        SUCCEEDS(ha_memory_set_cache(C, keep_bytes % 3000 ? UINT64_MAX : 2000));
        (void)usage();
        sched_yield();
    }
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    check_ledger(NULL, 0);
    SUCCEEDS(ha_context_finish(C));
    (void)ha_memory_trim(C, 0);
    assert_int_equal(usage().handed_out, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FRESH(high_water_rises),
        FRESH(account_of_an_array),
        FRESH(account_of_growth),
        FRESH(account_ends_with_shutdown),
        FRESH(little_is_wasted),
        FRESH(blocks_serve_similar_sizes),
        FRESH(capacity_is_what_was_asked_for),
        FRESH(exact_without_a_cache),
        FRESH(limited_cache),
        FRESH(limit_is_lowered),
        FRESH(trimmed_from_the_oldest_on),
        FRESH(too_large_for_the_cache),
        FRESH(taken_in_any_order),
        FRESH(no_higher_water),
        FRESH(allocator_serves_everything),
        FRESH(allocator_lacks_a_function),
        FRESH(allocator_while_handed_out),
        FRESH(allocator_is_forgotten),
        FRESH(allocator_fails),
        FRESH(cached_blocks_make_way),
        FRESH(exact_when_it_has_to_be),
        FRESH(allocate_and_release),
        FRESH(allocated_memory_is_usable),
        FRESH(many_blocks),
#ifdef HA_POISONS_
        FRESH(cached_blocks_are_poisoned),
#endif
        FRESH(two_threads_and_one_that_trims),
    };
    int failed = 0;
    RUN_FRESH_ON_MATRIX(failed, tests);
    return failed;
}
