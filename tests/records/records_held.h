/* Cases of test_record_array.c: devices that are late or fail while records are converted, that
 * reach each other, and threads that want the same chunks. Each with devices of its own: one that
 * has failed stays so. */
#ifndef HARRAY_TESTS_RECORDS_RECORDS_HELD_H
#define HARRAY_TESTS_RECORDS_RECORDS_HELD_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static int begin_devices(void **state) {
    (void)state;
    return ha_sim_configure(&(ha_sim_options){.peers = 1}) != HA_OK;
}

static int end_devices(void **state) {
    (void)state;
    return ha_shutdown() != HA_OK || ha_sim_configure(NULL) != HA_OK;
}

/* Somebody who opens, and may have to wait. */
typedef struct visitor {
    ha_records *r;
    ha_context *context;
    const char *what;
    pthread_t thread;
    atomic_int begins;
    ha_status status;
    ha_error error;
} visitor;

static void *visitor_main(void *argument) {
    visitor *o = argument;
    ha_records_access v;
    atomic_store(&o->begins, 1);
    o->status = ha_records_open(&v, o->r, o->context, o->what, 0, HA_END);
    if (!o->status) o->status = ha_records_close(&v);
    o->error = ha_take_error();
    return NULL;
}

static void visit(visitor *o, ha_records *r, ha_context *context, const char *what) {
    memset(o, 0, sizeof *o);
    o->r = r;
    o->context = context;
    o->what = what;
    assert_int_equal(0, pthread_create(&o->thread, NULL, visitor_main, o));
    while (!atomic_load(&o->begins)) sched_yield();
}

static void await_transfers(ha_records *r, uint64_t n) {
    while (ha_records_statistics(r).transfers < n) sched_yield();
}

static ha_records *some_records(const char *host, const char *device) {
    const int64_t n = N;
    ha_records *r = ha_records_new(record, 1, &n, host);
    assert_non_null(r);
    ha_records_set_name(r, "r");
    fine(ha_records_layout_(r, ha_context_find("sim:0"), device, "test"));
    fine(ha_records_layout_(r, ha_context_find("sim:1"), device, "test"));
    return r;
}

/* ---- devices that reach each other ------------------------------------------------------------ */

static void from_device_to_device(void **state) {
    (void)state;
    ha_context *one = ha_context_find("sim:0"), *two = ha_context_find("sim:1");
    ha_records *r = some_records("aos", "soa");
    run(r, one, "overwrite", 127, 0, N, 1);
    assert_int_equal(0, run(r, two, "read pos+vel", 51, 10, 700, 1));
    assert_false(ha_records_valid(r, NULL, "pos", 10, 11)); /* not by way of the host */
    run(r, two, "write flag", 8, 0, N, 2);
    fine(ha_records_layout_(r, one, "aosoa(8)", "test"));
    assert_int_equal(0, run(r, one, "read flag", 8, 0, N, 2));
    assert_true(ha_records_valid(r, NULL, "flag", 0, HA_END)); /* for others the host converts */
    assert_int_equal(0, run(r, ha_host(), "read pos+mass+vel+id", 119, 0, N, 1));
    fine(ha_records_free(r));
}

/* The layout of the only place that has the values, when the host has never seen any. */
static void layout_of_what_the_host_has_not(void **state) {
    (void)state;
    const int64_t n = 50;
    ha_context *one = ha_context_find("sim:0"), *two = ha_context_find("sim:1");
    ha_mapping *m = ha_mapping_parse(record, "aos", 1, &n, NULL);
    void *blob = ha_memory_allocate(one, (size_t)m->blob[0].bytes);
    ha_records *r = ha_records_wrap(&(ha_mapped){m, &blob}, one, HA_WRAP_UNWRITTEN);
    assert_non_null(r);
    run(r, one, "overwrite", 127, 0, n, 1);
    assert_int_equal(0, run(r, two, "read", 127, 0, n, 1));
    assert_false(ha_records_valid(r, NULL, "pos", 0, 1));
    run(r, two, "write mass", 4, 0, n, 2);
    fine(ha_records_layout_(r, two, "soa", "test"));
    assert_int_equal(0, run(r, two, "read mass", 4, 0, n, 2));
    assert_int_equal(0, run(r, two, "read pos+vel", 51, 0, n, 1));
    fine(ha_records_unwrap(r));
    fine(ha_memory_release(one, blob));
    ha_mapping_free(m);
}

/* Without memory at any point: whether they reach each other is looked at first, which takes some, too. */
static void from_device_to_device_without_memory(void **state) {
    (void)state;
    ha_context *one = ha_context_find("sim:0"), *two = ha_context_find("sim:1");
    long left = 0;
    int failed = 0;
    for (long n = 1; !left; n++) {
        ha_records *r = some_records("aos", "soa");
        ha_records_access v;
        fine(ha_records_layout_(r, two, "soa(single)", "test"));
        run(r, one, "overwrite", 127, 0, N, 1);
        until_allocation = n;
        const ha_status got = ha_records_open(&v, r, two, "read", 0, HA_END);
        left = until_allocation;
        until_allocation = 0;
        if (got)
            says(HA_ERR_MEMORY, got, "r");
        else
            fine(ha_records_close(&v));
        failed += got != HA_OK;
        assert_int_equal(0, run(r, two, "read", 127, 0, N, 1));
        assert_true(!left || !ha_records_valid(r, NULL, "pos", 0, 1)); /* not by way of the host */
        fine(ha_records_free(r));
    }
    assert_true(failed > 1);
}

/* A slow device: whoever reads has to wait for each record, and then finds the rest cut in other pieces
 * than those that he has asked for already. */
static void what_is_on_its_way_comes_once(void **state) {
    (void)state;
    const int64_t extent[] = {4, 4};
    ha_records_access v;
    fine(ha_sim_configure(&(ha_sim_options){.latency_ns = 300000}));
    ha_context *sim = ha_context_find("sim:0");
    ha_records *r = ha_records_new(record, 2, extent, "soa");
    assert_non_null(r);
    fine(ha_records_layout_(r, sim, "aos@morton", "test"));
    fine(ha_records_open(&v, r, ha_host(), "overwrite", 0, HA_END));
    for (int64_t leaf = 0; leaf < LEAVES; leaf++)
        for (int64_t at[] = {0, 0, 0, 0}; at[0] < 4; at[0]++)
            for (at[1] = 0; at[1] < 4; at[1]++)
                set_value(&(ha_mapped){v.mapping, v.blob}, leaf, at, 1);
    fine(ha_records_close(&v));
    fine(ha_records_open(&v, r, sim, "write", 0, HA_END));
    fine(ha_records_close(&v));
    const ha_statistics before = ha_records_statistics(r);
    assert_int_equal(before.bytes, 16 * BYTES);
    fine(ha_records_open(&v, r, ha_host(), "read", 0, HA_END));
    for (int64_t leaf = 0; leaf < LEAVES; leaf++)
        for (int64_t at[] = {0, 0, 0, 0}; at[0] < 4; at[0]++)
            for (at[1] = 0; at[1] < 4; at[1]++)
                assert_true(is_value(&(ha_mapped){v.mapping, v.blob}, leaf, at, 1));
    fine(ha_records_close(&v));
    assert_int_equal(ha_records_statistics(r).bytes - before.bytes, 16 * BYTES);
    assert_int_equal(ha_records_statistics(r).transfers - before.transfers, 16);
    fine(ha_records_free(r));
}

/* ---- devices that fail ------------------------------------------------------------------------ */

static void expect_lost(ha_records *r, const char *what, const char *part) {
    ha_records_access v;
    says(HA_ERR_LOST, ha_records_open(&v, r, NULL, what, 0, HA_END), part);
}

/* What is lost stays so in another layout, and with other extents. */
static void work_that_is_lost(void **state) {
    (void)state;
    ha_context *sim = ha_context_find("sim:0");
    ha_records *r = some_records("aos", "soa");
    ha_records_access v;
    char text[400];
    run(r, ha_host(), "overwrite", 127, 0, N, 1);
    fine(ha_sim_hold(sim));
    fine(ha_records_open(&v, r, sim, "write vel, read mass", 100, 200));
    job j = {.mapping = v.mapping, .first = 100, .last = 200, .leaves = 48, .writes = 1};
    memcpy(j.blob, v.blob, (size_t)v.mapping->blobs * sizeof *v.blob);
    fine(ha_records_run(work, &v, &j, sizeof j));
    fine(ha_records_close(&v));
    fine(ha_sim_fail(sim));
    expect_lost(r, "read", "records 'r' (record[1000]) at host: vel.x, vel.y[100, 200) were lost");
    assert_int_equal(0, run(r, ha_host(), "read pos+mass+flag+id", 79, 0, N, 1));
    fine(ha_records_layout_(r, NULL, "aosoa(8)", "test"));
    expect_lost(r, "read vel", "vel.x, vel.y[100, 200) were lost");
    for (long n = 1; n > 0; n++) { /* also when any allocation has failed */
        until_allocation = n;
        const ha_status got = ha_records_resize(r, &(int64_t){150});
        n = until_allocation > 0 ? -1 : n;
        until_allocation = 0;
        if (!got) break;
        says(HA_ERR_MEMORY, got, "records 'r' (record[1000])");
        expect_lost(r, "read vel", "vel.x, vel.y[100, 200) were lost");
        assert_int_equal(N, ha_records_size(r));
    }
    expect_lost(r, "read vel", "vel.x, vel.y[100, 150) were lost");
    says(HA_ERR_LOST, ha_records_get(r, &(int64_t){120}, text), "records 'r'");
    assert_int_equal(0, run(r, ha_host(), "read", 127, 0, 100, 1));
    run(r, ha_host(), "overwrite vel", 48, 100, 150, 2);
    assert_int_equal(0, run(r, ha_host(), "read vel", 48, 100, 150, 2));
    fine(ha_records_free(r));
}

/* A device fails while its values come: there are others that have them. */
static void another_device_has_them(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        ha_context *one = ha_context_find("sim:0"), *two = ha_context_find("sim:1");
        ha_records *r = some_records("aos", "soa");
        visitor o;
        run(r, one, "overwrite", 127, 0, N, 1);
        assert_int_equal(0, run(r, two, "read", 127, 0, N, 1));
        const uint64_t before = ha_records_statistics(r).transfers;
        fine(ha_sim_hold(one));
        fine(ha_sim_hold(two));
        visit(&o, r, ha_host(), "read");
        await_transfers(r, before + 2);
        fine(ha_sim_fail(k ? two : one));
        fine(ha_sim_step(k ? one : two, -1));
        assert_int_equal(0, pthread_join(o.thread, NULL));
        assert_int_equal(o.status, HA_OK);
        assert_int_equal(0, run(r, ha_host(), "read", 127, 0, N, 1));
        fine(ha_records_free(r));
        assert_int_equal(0, end_devices(NULL) || begin_devices(NULL));
    }
}

/* It was the only one. */
static void nobody_else_has_them(void **state) {
    (void)state;
    ha_context *one = ha_context_find("sim:0"), *two = ha_context_find("sim:1");
    ha_records *r = some_records("aos", "soa");
    visitor o;
    run(r, one, "overwrite", 127, 0, N, 1);
    const uint64_t before = ha_records_statistics(r).transfers;
    fine(ha_sim_hold(one));
    visit(&o, r, ha_host(), "read");
    await_transfers(r, before + 2);
    fine(ha_sim_fail(one));
    assert_int_equal(0, pthread_join(o.thread, NULL));
    assert_int_equal(o.status, HA_ERR_LOST);
    assert_non_null(strstr(o.error.text, "were lost"));
    says(HA_ERR_LOST, ha_records_open(&(ha_records_access){0}, r, two, "read", 0, HA_END), "lost");
    run(r, two, "overwrite", 127, 0, N, 2);
    assert_int_equal(0, run(r, ha_host(), "read", 127, 0, N, 2));
    fine(ha_records_free(r));
}

/* It fails while values go there: they are still where they were. plain: without being converted. */
static void they_never_get_there(void **state) {
    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        ha_context *one = ha_context_find("sim:0");
        ha_records *r = some_records("aos", plain ? "aos" : "soa");
        visitor o;
        run(r, ha_host(), "overwrite", 127, 0, N, 1);
        fine(ha_sim_hold(one));
        visit(&o, r, one, "read");
        await_transfers(r, 1);
        fine(ha_sim_fail(one));
        assert_int_equal(0, pthread_join(o.thread, NULL));
        ha_records_access v;
        if (!ha_records_open(&v, r, one, "read", 0, HA_END)) { /* there is no telling yet */
            says(HA_ERR_LOST, ha_records_wait(&v), "");
            fine(ha_records_close(&v));
        }
        (void)ha_take_error();
        assert_int_equal(0, run(r, ha_host(), "read", 127, 0, N, 1));
        fine(ha_records_free(r));
        assert_int_equal(0, end_devices(NULL) || begin_devices(NULL));
    }
}

/* ---- chunks ----------------------------------------------------------------------------------- */

/* Other threads have all chunks for a while: who needs one waits for it, whichever way the records go. */
static void all_chunks_are_taken(void **state) {
    (void)state;
    ha_context *sim = ha_context_find("sim:0");
    ha_records *r = some_records("aos", "soa");
    for (int back = 0; back < 2; back++) {
        ha_attempt mine = {.site = "test"};
        ha_chunk *chunk[HA_CHUNKS], *none;
        visitor o;
        run(r, back ? sim : ha_host(), "overwrite", 127, 0, N, 1 + back);
        for (int i = 0; i < HA_CHUNKS; i++)
            assert_int_equal(HA_OK, ha_chunk_choose(1, 0, &mine, &chunk[i]));
        assert_int_equal(HA_RETRY_, ha_chunk_choose(1, 0, &mine, &none));
        visit(&o, r, back ? ha_host() : sim, "read");
        for (int i = 0; i < 1000; i++) sched_yield();
        for (int i = 0; i < HA_CHUNKS; i++) ha_chunk_give(chunk[i]);
        assert_int_equal(0, pthread_join(o.thread, NULL));
        assert_int_equal(o.status, HA_OK);
        assert_int_equal(0, run(r, back ? ha_host() : sim, "read", 127, 0, N, 1 + back));
    }
    fine(ha_records_free(r));
}

/* ---- at any time ------------------------------------------------------------------------------ */

/* The library is called from the allocator here, which programs must not do: it may hold locks
 * then, in an order that ThreadSanitizer rightly does not like. */
#ifdef __has_feature
#define SANITIZES_THREADS __has_feature(thread_sanitizer)
#elif defined __SANITIZE_THREAD__
#define SANITIZES_THREADS 1
#else
#define SANITIZES_THREADS 0
#endif

static ha_context *dying;

/* The engine notices it at once. */
static void dies(void) {
    HA_IGNORE(ha_sim_fail(dying));
    HA_IGNORE(ha_enqueue(dying, no_function, NULL, 0));
    (void)ha_take_error();
}

/* At every allocation on the way to a device, or back. What the host has stays; what came back is right. */
static void a_device_dies_at_any_time(void **state) {
    (void)state;
    static const char *const layout[] = {"soa", "aos"}; /* converted, or not */
    if (SANITIZES_THREADS) skip();
    for (int way = 0; way < 4; way++)
        for (long n = 1, there = 1; there; n += test_stride()) {
            ha_context *host = ha_host(), *sim = ha_context_find("sim:0");
            ha_records *r = some_records("aos", layout[way / 2]);
            ha_records_access v;
            run(r, way % 2 ? sim : host, "overwrite", 127, 0, N, 1);
            dying = sim;
            at_allocation = dies;
            until_allocation = n;
            const ha_status got = ha_records_open(&v, r, way % 2 ? host : sim, "read", 0, HA_END);
            there = until_allocation <= 0;
            until_allocation = 0;
            at_allocation = NULL;
            if (!got) fine(ha_records_close(&v));
            if (got && way % 2) {
                says(HA_ERR_LOST, got, "were lost");
                run(r, host, "overwrite", 127, 0, N, 1);
            }
            (void)ha_take_error();
            assert_int_equal(0, run(r, host, "read", 127, 0, N, 1));
            fine(ha_records_free(r));
            assert_int_equal(0, end_devices(NULL) || begin_devices(NULL));
        }
}

/* ---- memory ----------------------------------------------------------------------------------- */

static atomic_int full, was_full; /* full: the next block is refused, once */

static ha_status take_block(void *user, size_t bytes, void **block) {
    (void)user;
    if (atomic_exchange(&full, 0)) {
        atomic_store(&was_full, 1);
        return HA_ERR_MEMORY;
    }
    *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    return *block ? HA_OK : HA_ERR_MEMORY;
}

static void give_block(void *user, void *block, size_t bytes) {
    (void)user, (void)bytes;
    free(block);
}

static void *let_go_when_full(void *argument) {
    while (!atomic_load(&was_full)) sched_yield();
    atomic_store(&was_full, 0);
    return ha_sim_step(argument, -1) ? argument : NULL;
}

/* Another layout, and other extents, wait for memory that a queue still reads. */
static void memory_that_is_still_in_use(void **state) {
    (void)state;
    const ha_allocator mine = {.allocate = take_block, .release = give_block};
    ha_context *sim = ha_context_find("sim:0");
    fine(ha_memory_set_allocator(ha_host(), &mine));
    fine(ha_memory_set_cache(ha_host(), 0));
    ha_records *r = some_records("aos", "aos");
    run(r, ha_host(), "overwrite", 127, 0, N, 1);
    for (int resizes = 0; resizes < 2; resizes++) {
        pthread_t thread;
        fine(ha_sim_hold(sim));
        fine(ha_records_prefetch(r, sim, NULL, 0, HA_END)); /* from the block that there is now */
        fine(ha_records_layout_(r, NULL, "soa", "test"));   /* which then waits to go */
        assert_int_equal(0, pthread_create(&thread, NULL, let_go_when_full, sim));
        atomic_store(&full, 1);
        if (resizes)
            fine(ha_records_resize(r, &(int64_t){N - 1}));
        else
            fine(ha_records_layout_(r, NULL, "aosoa(8)", "test"));
        void *failed;
        assert_int_equal(0, pthread_join(thread, &failed));
        assert_null(failed);
        assert_int_equal(0, run(r, ha_host(), "read", 127, 0, N - 1, 1));
        fine(ha_records_layout_(r, NULL, "aos", "test"));
        fine(ha_records_layout_(r, sim, resizes ? "soa" : "aosoa(4)", "test"));
        fine(ha_records_layout_(r, sim, "aos", "test")); /* so that it has to come once more */
    }
    fine(ha_records_free(r));
}

#define DEVICES(name) cmocka_unit_test_setup_teardown(name, begin_devices, end_devices)

#endif
