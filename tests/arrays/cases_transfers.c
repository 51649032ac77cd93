/* Transfers: through chunks where the host has no room, by the cheapest link, and forbidden ones.
 * The host of this program gives no block larger than `host_limit`, nor more than `host_total`,
 * pinned or not. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#define _GNU_SOURCE
#include "../../backends/host/host.h"
static size_t host_limit = SIZE_MAX, host_total = SIZE_MAX, host_used;

static ha_status limited_allocate(void *memory, size_t bytes, void **block) {
    ha_status s = HA_ERR_MEMORY;
    if (bytes <= host_limit &&
        __atomic_add_fetch(&host_used, bytes, __ATOMIC_RELAXED) <= host_total)
        s = ha_host_allocate(memory, bytes, block);
    if (s && bytes <= host_limit) __atomic_sub_fetch(&host_used, bytes, __ATOMIC_RELAXED);
    return s;
}

static void limited_release(void *memory, void *block, size_t bytes) {
    __atomic_sub_fetch(&host_used, bytes, __ATOMIC_RELAXED);
    ha_host_release(memory, block, bytes);
}

static const ha_memory_ops limited_memory = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = limited_allocate,
    .release = limited_release,
    .reaches = ha_host_reaches,
};
static const ha_backend limited_host = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "host",
    .count = ha_host_count,
    .memory = &limited_memory,
};
#define HARRAY_HOST_BACKEND limited_host
#include "../../harray.h"
#include "../support/held.h"
#include "../support/threads.h"

enum { CHUNK = HA_CHUNK_BYTES / 8, LONG = 11 * CHUNK + 1234 }; /* elements */

static int begin_transfers(void **state) {
    const ha_allocator limited = {limited_allocate, limited_release, NULL};
    enter();
    for (ha_memory *m = ha_registry.memories; m; m = m->next)
        if (!m->primary) m->allocator = limited;
    return begin_case(state);
}

static int end_transfers(void **state) {
    host_limit = host_total = SIZE_MAX;
    const int failed = end_case(state);
    return failed || leave_row() ? -1 : 0;
}
#define TRANSFERS(name) cmocka_unit_test_setup_teardown(name, begin_transfers, end_transfers)

/* ---- on a device, without the host ---------------------------------------------------------- */

static void ramp_job(const ha_queue *queue, void *argument) {
    const job *j = (const job *)argument;
    double *data = HA_HERE(queue, double, j->data);
    for (size_t i = 0; i < j->size; i++) data[i] = (double)i + j->amount;
}

/* 0, 1, 2, … plus `amount`, at a context and nowhere else. */
static harray_double ramp_at(ha_context *context, size_t n, double amount) {
    harray_double x = keep(harray_double_new_at(n, context));
    HA_OVERWRITING_ALL(v, x, context) {
        const job j = {v.data, v.size, amount};
        SUCCEEDS(ha_enqueue(context, ramp_job, &j, sizeof j));
    }
    else fail();
    return x;
}

typedef struct comparison {
    const double *data;
    size_t size;
    double amount;
    size_t *wrong;
} comparison;

static void compare_job(const ha_queue *queue, void *argument) {
    const comparison *c = (const comparison *)argument;
    const double *data = HA_HERE(queue, const double, c->data);
    size_t wrong = 0;
    for (size_t i = 0; i < c->size; i++) wrong += data[i] != (double)i + c->amount;
    *c->wrong = wrong;
}

static size_t wrong_at(ha_access *v, double amount) {
    size_t wrong = SIZE_MAX;
    const comparison c = {(const double *)v->data, v->size, amount, &wrong};
    HA_CHECK(ha_enqueue(v->context, compare_job, &c, sizeof c));
    HA_CHECK(ha_context_finish(v->context));
    return wrong;
}

static void expect_ramp(harray_double x, ha_context *context, double amount) {
    ha_access v;
    SUCCEEDS(ha_open(&v, x.array, context, HA_READ, 0, HA_END));
    assert_int_equal(wrong_at(&v, amount), 0);
    SUCCEEDS(ha_close(&v));
}

/* ---- staging -------------------------------------------------------------------------------- */

/* With room on the host the array becomes valid there, too; in pieces all the same. */
TEST(by_the_host_incarnation) {
    harray_double x = ramp_at(C, LONG, 1);
    expect_ramp(x, M1, 1);
    assert_true(VALID(x, H));
    MOVED(x, 2 * 12, 2 * LONG * sizeof(double));
    VALID_RANGES(x, H, {0, LONG});
    expect_ramp(x, H, 1);
    MOVED(x, 2 * 12, 2 * LONG * sizeof(double));
    drop(x);
}

/* Without it through chunks: no more than four, and the host does not become valid. */
static void pass_in_chunks(ha_context *to) {
    harray_double x = ramp_at(C, LONG, 2);
    host_limit = HA_CHUNK_BYTES;
    expect_ramp(x, to, 2);
    VALID_NOWHERE(x, H);
    assert_int_equal(CAPACITY(x, H), 0);
    MOVED(x, 2 * 12, 2 * LONG * sizeof(double));
    assert_true(host_used <= HA_CHUNKS * HA_CHUNK_BYTES);
    add_at(x, to, 1);
    expect_ramp(x, C, 3); /* and back: the chunks are used again */
    assert_true(host_used <= HA_CHUNKS * HA_CHUNK_BYTES);
    drop(x);
}

TEST(by_chunks_in_one_backend) { pass_in_chunks(M1); }
TEST(by_chunks_to_another_backend) { pass_in_chunks(M2); }

/* One block is enough. */
TEST(by_a_single_chunk) {
    harray_double x = ramp_at(C, LONG, 3);
    host_limit = host_total = HA_CHUNK_BYTES;
    host_total += host_used;
    expect_ramp(x, M1, 3);
    add_at(x, M1, 1);
    expect_ramp(x, M2, 4);
    VALID_NOWHERE(x, H);
    drop(x);
}

/* None is not: nothing has changed then, and later it works. */
TEST(by_no_chunk) {
    harray_double x = ramp_at(C, LONG, 4);
    ha_access v;
    const snapshot before = snapshot_of(x);
    host_limit = 1000;
    REFUSED(HA_ERR_MEMORY, ha_open(&v, x.array, M1, HA_READ, 0, HA_END));
    REFUSED(HA_ERR_MEMORY, ha_open(&v, x.array, M2, HA_WRITE, 0, HA_END));
    expect_unchanged(x, &before);
    host_limit = HA_CHUNK_BYTES;
    expect_ramp(x, M1, 4);
    drop(x);
}

typedef struct large {
    double value[3 * CHUNK / 2];
} large;
HARRAY(large);

/* An element that is larger than a chunk gets a larger one. */
TEST(elements_larger_than_a_chunk) {
    harray_double x = ramp_at(C, 3 * CHUNK, 5);
    ha_array *y = keep_array(ha_array_new(harray_large_type(), 2, C));
    ha_access from, to;
    SUCCEEDS(ha_open(&from, x.array, C, HA_READ, 0, HA_END));
    SUCCEEDS(ha_open(&to, y, C, HA_OVERWRITE, 0, HA_END));
    const job j = {(double *)to.data, 3 * CHUNK, 5};
    SUCCEEDS(ha_enqueue(C, ramp_job, &j, sizeof j));
    SUCCEEDS(ha_close(&from));
    SUCCEEDS(ha_close(&to));
    host_limit = sizeof(large);
    SUCCEEDS(ha_open(&to, y, M1, HA_READ, 0, HA_END));
    to.size = 3 * CHUNK;
    assert_int_equal(wrong_at(&to, 5), 0);
    SUCCEEDS(ha_close(&to));
    expect_valid(y, H, 0, NULL);
    drop(x);
    drop_array(y);
}

/* The host is asked to wait for nothing: both queues are held meanwhile. */
TEST(chunks_do_not_make_the_host_wait) {
    harray_double x = ramp_at(C, 3 * CHUNK, 6);
    SUCCEEDS(ha_context_finish(C));
    host_limit = HA_CHUNK_BYTES;
    hold(C);
    hold(M1);
    SUCCEEDS(ha_array_prefetch(x.array, M1, 0, HA_END));
    assert_true(VALID(x, M1));
    let_go(M1);
    until_quiet(); /* it has to wait all the same */
    let_go(C);
    expect_ramp(x, M1, 6);
    drop(x);
}

/* The first hop comes after everything that writes the source, also on other queues. */
TEST(first_hop_comes_after_writers) {
    host_limit = HA_CHUNK_BYTES;
    harray_double y = ramp_at(C, 2 * CHUNK, 0); /* too large for the host */
    SUCCEEDS(ha_context_finish(C));
    hold(F);
    HA_WRITING_RANGE(v, y, F, 0, CHUNK / 2) add(&v, 1);
    else fail();
    HA_WRITING_RANGE(v, y, C, CHUNK / 2, 2 * CHUNK) add(&v, 1);
    else fail();
    SUCCEEDS(ha_array_prefetch(y.array, M1, 0, HA_END));
    until_quiet();
    let_go(F);
    expect_ramp(y, M1, 1);
    drop(y);
}

/* The second one comes after everything that still reads what it overwrites. */
TEST(second_hop_comes_after_readers) {
    ha_context *fork = ha_context_fork(M1);
    double sum = 0;
    harray_double x = ramp_at(C, 2 * CHUNK, 0);
    host_limit = HA_CHUNK_BYTES;
    touch(x, M1);
    SUCCEEDS(ha_context_finish(M1));
    hold(fork);
    HA_READING_RANGE(v, x, fork, 0, N) start_sum(&v, &sum);
    else fail();
    add_at(x, C, 1);
    SUCCEEDS(ha_array_prefetch(x.array, M1, 0, HA_END));
    until_quiet();
    let_go(fork);
    SUCCEEDS(ha_context_finish(fork));
    assert_true(sum == RAMP_SUM);
    expect_ramp(x, M1, 1);
    drop(x);
    SUCCEEDS(ha_context_unfork(fork));
}

/* More threads than chunks, between backends, where each holds a chunk while it waits. */
enum { PASSERS = 6 };

static harray_double passed[2];

static void *pass_on(void *argument) {
    ha_context *places[] = {C, M2, M1, F};
    const size_t number = (size_t)(uintptr_t)argument;
    for (size_t n = 0; n < 12; n++) {
        ha_access v;
        ha_context *c = places[(n + number) % 4];
        HA_CHECK(ha_open(&v, passed[n % 2].array, c, n % 3 ? HA_READ : HA_WRITE, 0, HA_END));
        if (wrong_at(&v, 7) != 0) return argument;
        HA_CHECK(ha_close(&v));
    }
    return NULL;
}

TEST(more_threads_than_chunks) {
    for (int i = 0; i < 2; i++) passed[i] = ramp_at(i ? M2 : C, 2 * CHUNK + 5, 7);
    host_limit = HA_CHUNK_BYTES;
    pthread_t threads[PASSERS];
    for (size_t i = 0; i < PASSERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, pass_on, (void *)(uintptr_t)(i + 1)), 0);
    for (size_t i = 0; i < PASSERS; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    for (int i = 0; i < 2; i++) drop(passed[i]);
}

/* ---- links ---------------------------------------------------------------------------------- */

TEST(measured_links) {
    assert_int_equal(ha_link_cost(C, C), 0);
    assert_int_equal(ha_link_cost(C, F), 0);
    assert_int_equal(ha_link_cost(C, M1), 0); /* no direct one */
    assert_int_equal(ha_link_cost(H, C), 100000);
    SUCCEEDS(ha_context_measure(C));
    SUCCEEDS(ha_context_measure(H));
    const uint64_t up = ha_link_cost(H, C), down = ha_link_cost(C, H);
    assert_true(up > 0 && down > 0);
    assert_true(up != 100000 || down != 100000);
    assert_int_equal(ha_link_cost(H, F), up);
    assert_int_equal(ha_link_cost(H, M1), 100000);
    harray_double x = ramp(N);
    assert_true(sum_at(x, C) == RAMP_SUM);
    SUCCEEDS(ha_context_measure(C)); /* again, with queues in use */
    drop(x);
}

/* Whether a queue works on an incarnation; what others have done before may still be listed. */
static int is_used_by(ha_incarnation *in, const ha_context *queue) {
    int used = 0;
    for (uint32_t i = 0; i < in->ops.n; i++) used |= ha_ops_list(&in->ops)[i].at.queue == queue;
    return used;
}

/* Of two sources the one that was measured to be cheaper is taken. */
TEST(cheapest_source) {
    SUCCEEDS(ha_shutdown());
    HA_CHECK(ha_sim_configure(&(ha_sim_options){.peers = 1, .latency_ns = 50000}));
    enter();
    const ha_memory *device = C->memory;
    harray_double x = ramp(N);
    touch(x, M1); /* valid on the host and at M1 */
    HA_CHECK(ha_link_set((ha_memory *)(uintptr_t)device, M1->memory, 5000, 5000));
    HA_CHECK(ha_link_set((ha_memory *)(uintptr_t)device, &ha_host_memory, 9000, 9000));
    SUCCEEDS(ha_context_finish(M1));
    hold(M1); /* a copy from the peer runs on C's own queue: it waits for C alone */
    hold(C);
    touch(x, C);
    const int taken = is_used_by(ha_incarnation_find(x.array, M1->memory), C);
    let_go(C);
    if (taken) SUCCEEDS(ha_context_finish(C)); /* otherwise this would never end */
    let_go(M1);
    assert_true(taken);
    drop(x);
    SUCCEEDS(ha_shutdown());
    HA_CHECK(ha_sim_configure(NULL));
    enter();
}

TEST(measuring_fails) {
    host_limit = 1000;
    REFUSED(HA_ERR_MEMORY, ha_context_measure(C));
    assert_int_equal(ha_link_cost(H, C), 100000);
    host_limit = SIZE_MAX;
    SUCCEEDS(ha_sim_fail(C));
    REFUSED(HA_ERR_BACKEND, ha_context_measure(C));
}

/* ---- no transfers --------------------------------------------------------------------------- */

static void expect_forbidden(const char *from, const char *range) {
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, HA_ERR_TRANSFER);
    assert_non_null(strstr(e.text, from));
    assert_non_null(strstr(e.text, range));
    assert_non_null(strstr(e.text, "cases_transfers.c:"));
}

TEST(no_transfers) {
    harray_double x = ramp(N);
    ha_access v;
    double element = -1;
    touch(x, C);
    HA_OVERWRITING_RANGE(w, x, C, 10, 20) fill(&w, 1);
    else fail();
    const snapshot before = snapshot_of(x);
    HA_NO_TRANSFERS {
        touch(x, C);
        assert_int_equal(ha_open(&v, x.array, H, HA_READ, 0, HA_END), HA_ERR_TRANSFER);
        expect_forbidden("from sim:0", "[10, 20)");
        assert_int_equal(ha_open(&v, x.array, M1, HA_WRITE, 0, 5), HA_ERR_TRANSFER);
        expect_forbidden("from host", "[0, 5)");
        HA_NO_TRANSFERS
        REFUSED(HA_ERR_TRANSFER, ha_array_prefetch(x.array, H, 0, HA_END));
        REFUSED(HA_ERR_TRANSFER, harray_double_get(x, 15, &element));
        REFUSED(HA_ERR_TRANSFER, harray_double_set(x, 15, 3));
        assert_true(element == -1);
        expect_unchanged(x, &before);
        SUCCEEDS(harray_double_get(x, 9, &element)); /* on the host */
        assert_true(element == 9);
        SUCCEEDS(ha_array_prefetch(x.array, H, 0, 10));
        harray_double y = keep(harray_double_filled_at(5, 2, C)), z = keep(harray_double_copy(y));
        drop(y);
        drop(z);
        HA_OVERWRITING_RANGE(w, x, H, 10, 20) for (size_t i = 0; i < 10; i++) w.data[i] = 2;
        else fail();
    }
    touch(x, C);
    assert_true(sum_range(x, C, 10, 20) == 20);
    drop(x);
}

static ha_status leaves_the_scope(harray_double x) {
    HA_NO_TRANSFERS {
        HA_READING(v, x, C) return HA_OK;
        return HA_ERR_TRANSFER;
    }
    return HA_OK;
}

/* Any way out ends it, and it is this thread's only. */
static void *in_another_thread(void *argument) {
    touch(*(harray_double *)argument, M1);
    return NULL;
}

TEST(scope_of_no_transfers) {
    harray_double x = ramp(N);
    pthread_t other;
    assert_int_equal(leaves_the_scope(x), HA_ERR_TRANSFER);
    assert_int_equal(ha_take_error().status, HA_ERR_TRANSFER);
    for (int i = 0; i < 2; i++) {
        HA_NO_TRANSFERS break;
        assert_int_equal(ha_self.no_transfers, 0);
    }
    HA_NO_TRANSFERS {
        assert_int_equal(pthread_create(&other, NULL, in_another_thread, &x), 0);
        assert_int_equal(pthread_join(other, NULL), 0);
    }
    touch(x, C);
    drop(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TRANSFERS(by_the_host_incarnation),
        TRANSFERS(by_chunks_in_one_backend),
        TRANSFERS(by_chunks_to_another_backend),
        TRANSFERS(by_a_single_chunk),
        TRANSFERS(by_no_chunk),
        TRANSFERS(elements_larger_than_a_chunk),
        TRANSFERS(chunks_do_not_make_the_host_wait),
        TRANSFERS(first_hop_comes_after_writers),
        TRANSFERS(second_hop_comes_after_readers),
        TRANSFERS(more_threads_than_chunks),
        TRANSFERS(measured_links),
        TRANSFERS(cheapest_source),
        TRANSFERS(measuring_fails),
        TRANSFERS(no_transfers),
        TRANSFERS(scope_of_no_transfers),
    };
    return cmocka_run_group_tests_name("transfers", tests, NULL, NULL);
}
