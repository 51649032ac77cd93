/* Random operations of several threads on shared arrays, for ThreadSanitizer above all.
 *
 * Each array is divided into parts. A write adds 1 to all elements of some parts, so that whoever
 * reads, wherever, must find the elements of a part equal, and in the end each part's elements are
 * the number of writes to it. Threads hold up to three accesses while they open further ones:
 * deadlocks come up, and must be refused. The number of operations is bounded; when a thread waits
 * for ever, the test does not end.
 *
 *     HARRAY_THREAD_OPS=n    operations of each thread, not 10000 (HARRAY_TEST_LONG=1: 200000) */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"

#include "../support/cuda_launch.h"
#include "../support/invariants.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdatomic.h>
#include <string.h>
#include <cmocka.h>

enum { ARRAYS = 3, PARTS = 6, PART = 8, SIZE = PARTS * PART, THREADS = 5, CONTEXTS = 4, MOST = 3 };

typedef struct held {
    ha_access access;
    int array, writes;
} held;

typedef struct worker {
    pthread_t thread;
    uint64_t random;
    unsigned long operations;
    int hasty; /* closes each access at once, so that arrays are often free */
    held held[MOST];
    unsigned holds;
    int laid_out; /* the array of one more, which may be on the table; -1: it is not */
    uint32_t seen[ARRAYS][PARTS]; /* values never get smaller */
} worker;

static ha_context *contexts[CONTEXTS];
static ha_array *shared[ARRAYS];
static atomic_uint written[ARRAYS][PARTS];
static atomic_uint reserved;          /* more each time, so that blocks have to grow, */
static unsigned reserved_most = 5000; /* up to so much */
static int
    pressed; /* the devices have no memory for all arrays: so there may be none when some are in use */
static atomic_int broken; /* a line of this file where something was wrong first; 0: nothing */

/* An access that was laid out for another thread to take over. */
static struct {
    pthread_mutex_t lock;
    held held;
    worker *from; /* NULL: nothing is there */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void must_at(int line, int holds) {
    int none = 0;
    if (!holds) atomic_compare_exchange_strong(&broken, &none, line);
}
#define MUST(condition) must_at(__LINE__, condition)

static uint32_t pick(worker *w, uint32_t n) {
    w->random ^= w->random >> 12;
    w->random ^= w->random << 25;
    w->random ^= w->random >> 27;
    return (uint32_t)((w->random * UINT64_C(2685821657736338717) >> 32) * n >> 32);
}

/* ---- what runs on queues ------------------------------------------------------------------- */

typedef struct job {
    uint32_t *data;
    size_t size; /* a multiple of PART */
    uint32_t add;
} job;

static int is_even(const uint32_t *part) {
    int even = 1;
    for (int i = 1; i < PART; i++) even &= part[i] == part[0];
    return even;
}

static void run_job(const ha_queue *queue, void *argument) {
    const job *j = (const job *)argument;
    uint32_t *data = HA_HERE(queue, uint32_t, j->data);
    for (size_t first = 0; first < j->size; first += PART) {
        MUST(is_even(data + first));
        for (size_t i = 0; i < PART && j->add; i++) data[first + i] += j->add;
    }
}

/* ---- accesses ------------------------------------------------------------------------------ */

static void count_writes(const held *h) {
    const size_t first = h->access.first / PART, count = h->access.size / PART;
    for (size_t i = first; i < first + count; i++) atomic_fetch_add(&written[h->array][i], 1);
}

static void look_on_host(worker *w, const held *h) {
    const uint32_t *data = (const uint32_t *)h->access.data;
    const size_t first = h->access.first / PART, count = h->access.size / PART;
    for (size_t i = 0; i < count; i++) {
        uint32_t *seen = &w->seen[h->array][first + i];
        MUST(data[i * PART] >= *seen);
        *seen = data[i * PART];
    }
}

static void use_access(worker *w, const held *h) {
    const job j = {(uint32_t *)h->access.data, h->access.size, (uint32_t)h->writes};
    MUST(ha_enqueue(h->access.context, run_job, &j, sizeof j) == HA_OK);
    if (h->writes) count_writes(h);
    if (h->access.context == ha_host()) look_on_host(w, h);
}

static void close_one(worker *w) {
    if (w->holds == 0) return;
    held *h = &w->held[--w->holds];
    MUST(ha_close(&h->access) == HA_OK);
}

static void close_all(worker *w) {
    while (w->holds > 0) close_one(w);
}

/* Whether an answer is one that can be given, and what it tells to do. */
static int may_go_on(worker *w, ha_status status, int trying) {
    (void)ha_take_error();
    if (status == HA_OK) return 1;
    if (pressed && status == HA_ERR_MEMORY) {
        close_all(w); /* another thread may need these */
        return 0;
    }
    MUST(status == HA_ERR_CONFLICT || status == HA_ERR_DEADLOCK || status == HA_ERR_BUSY);
    MUST(status == HA_ERR_BUSY || w->holds > 0 || w->laid_out >= 0);
    MUST(status != HA_ERR_DEADLOCK || !trying);
    MUST(status != HA_ERR_BUSY || trying);
    if (status == HA_ERR_DEADLOCK) close_all(w);
    return 0;
}

static void pick_parts(worker *w, size_t *first, size_t *last) {
    const uint32_t from = pick(w, PARTS);
    *first = from * PART;
    *last = *first + (1 + pick(w, PARTS - from)) * PART;
    if (pick(w, 3) > 0) return;
    *first = 0;
    *last = HA_END;
}

static void open_one(worker *w) {
    if (w->holds == MOST) close_all(w);
    held *h = &w->held[w->holds];
    const int trying = pick(w, 3) == 0;
    size_t first, last;
    h->array = (int)pick(w, ARRAYS);
    if (h->array == w->laid_out) return;
    h->writes = pick(w, 3) == 0;
    pick_parts(w, &first, &last);
    const unsigned how = (h->writes ? HA_WRITE : HA_READ) | (trying ? HA_TRY : HA_WAIT);
    const ha_status status = ha_open(&h->access, shared[h->array], contexts[pick(w, CONTEXTS)], how,
                                     first, last);
    if (!may_go_on(w, status, trying)) return;
    w->holds++;
    use_access(w, h);
}

/* ---- handing over -------------------------------------------------------------------------- */

/* Takes back what it laid out itself, too: before it ends, for nobody else has to. */
static void take_over(worker *w, int only_mine) {
    pthread_mutex_lock(&table.lock);
    if (table.from != NULL && w->holds < MOST && (!only_mine || table.from == w)) {
        held *h = &w->held[w->holds++];
        *h = table.held;
        MUST(ha_move(&h->access, &table.held.access) == HA_OK);
        table.from = NULL;
    }
    pthread_mutex_unlock(&table.lock);
}

/* Whether the last one may go to another thread: not when this thread has two of the array, which
 * may be a read and a write (y = f(y)). */
static int may_part(const worker *w) {
    int others = 0;
    for (unsigned i = 0; i + 1 < w->holds; i++)
        others |= w->held[i].array == w->held[w->holds - 1].array;
    return w->holds > 0 && !others;
}

static void lay_out(worker *w) {
    pthread_mutex_lock(&table.lock);
    if (table.from == NULL && may_part(w)) {
        held *h = &w->held[w->holds - 1];
        MUST(ha_move(&table.held.access, &h->access) == HA_OK);
        table.held.array = h->array;
        table.held.writes = h->writes;
        table.from = w;
        w->laid_out = h->array;
        w->holds--;
    }
    pthread_mutex_unlock(&table.lock);
}

static void look_at_table(worker *w) {
    pthread_mutex_lock(&table.lock);
    if (table.from != w) w->laid_out = -1;
    pthread_mutex_unlock(&table.lock);
}

/* ---- other operations ---------------------------------------------------------------------- */

static void prefetch(worker *w, ha_array *array) {
    size_t first, last;
    pick_parts(w, &first, &last);
    const ha_status status = ha_array_prefetch(array, contexts[pick(w, CONTEXTS)], first, last);
    (void)ha_take_error();
    MUST(status == HA_OK || status == HA_ERR_BUSY || status == HA_ERR_CONFLICT ||
         (pressed && status == HA_ERR_MEMORY));
}

static void copy(worker *w, ha_array *array) {
    ha_access v;
    ha_array *made = ha_array_copy(array);
    if (made == NULL) {
        (void)may_go_on(w, ha_take_error().status, 0);
        return;
    }
    check_invariants(made);
    if (may_go_on(w, ha_open(&v, made, contexts[pick(w, CONTEXTS)], HA_READ, 0, HA_END), 0)) {
        const job j = {(uint32_t *)v.data, v.size, 0};
        MUST(v.size == SIZE && ha_enqueue(v.context, run_job, &j, sizeof j) == HA_OK);
        MUST(ha_close(&v) == HA_OK);
    }
    MUST(ha_array_free(made) == HA_OK);
}

static void assign(worker *w, ha_array *array) {
    ha_array *mine = ha_array_zeros(ha_array_type(array), 1 + pick(w, SIZE), contexts[pick(w, 4)]);
    if (mine == NULL) {
        MUST(!may_go_on(w, ha_take_error().status, 0) && pressed);
        return;
    }
    const ha_status status = pick(w, 2) ? ha_array_assign(mine, array)
                                        : ha_array_assign_at(mine, array, contexts[pick(w, 4)]);
    if (may_go_on(w, status, 0)) MUST(ha_array_size(mine) == SIZE);
    MUST(ha_array_free(mine) == HA_OK);
}

static void get(worker *w, ha_array *array) {
    uint32_t value;
    (void)may_go_on(w, ha_array_get(array, pick(w, SIZE), &value), 0);
}

/* Changes no value, but takes the array as a whole, and moves its block. */
static void whole(worker *w, ha_array *array) {
    ha_context *context = contexts[pick(w, CONTEXTS)];
    const size_t room = SIZE + atomic_fetch_add(&reserved, 1) % reserved_most;
    const ha_status status = pick(w, 4) ? ha_array_reserve(array, context, room)
                                        : ha_array_resize(array, SIZE);
    (void)ha_take_error();
    MUST(status == HA_OK || status == HA_ERR_CONFLICT || (pressed && status == HA_ERR_MEMORY));
}

static void ask(worker *w, ha_array *array) {
    char text[300];
    (void)w;
    MUST(ha_describe(array, text, sizeof text) > 0);
    MUST(ha_array_size(array) == SIZE && ha_array_valid_context(array) != NULL);
    check_invariants(array);
    MUST(ha_array_retain(array) == array && ha_array_free(array) == HA_OK);
}

/* ---- threads ------------------------------------------------------------------------------- */

static void operate(worker *w) {
    static void (*const others[])(worker *, ha_array *) = {prefetch, copy, assign, get, whole, ask};
    const uint32_t what = pick(w, 100);
    if (what < 45)
        open_one(w);
    else if (what < 65)
        close_one(w);
    else if (what < 70)
        lay_out(w);
    else if (what < 78)
        take_over(w, 0);
    else if (what < 79)
        MUST(ha_context_finish(contexts[pick(w, CONTEXTS)]) == HA_OK);
    else
        others[pick(w, 6)](w, shared[pick(w, ARRAYS)]);
}

/* While an access lies there, its last thread holds it, and would wait for itself. */
static void *work(void *argument) {
    worker *w = (worker *)argument;
    for (unsigned long i = 0; i < w->operations; i++) {
        operate(w);
        if (w->hasty) close_all(w);
        look_at_table(w);
        if (w->laid_out >= 0 && pick(w, 4) == 0) take_over(w, 1);
    }
    close_all(w);
    take_over(w, 1);
    close_all(w);
    return NULL;
}

static unsigned long operation_count(void) {
    const char *text = getenv("HARRAY_THREAD_OPS"), *is_long = getenv("HARRAY_TEST_LONG");
    if (text != NULL && *text != '\0') return strtoul(text, NULL, 10);
    return is_long != NULL && *is_long != '\0' ? 200000 : 10000;
}

/* Devices of a kind: "sim", or by the fake driver "cuda" (managed memory) and "launch". */
static void make_world(const char *kind, uint64_t delay_ns) {
    const ha_sim_options options = {.delay_ns = delay_ns};
    const int managed = !strcmp(kind, "cuda");
    HA_CHECK(ha_sim_configure(&options));
    if (cuda_fake()) {
        char cuda_options[60];
        snprintf(cuda_options, sizeof cuda_options, "capacity=64M,delay=%uns", (unsigned)delay_ns);
        HA_CHECK(cuda_use(managed ? HA_CUDA_MANAGED : HA_CUDA_DEVICE, cuda_options));
        HA_CHECK(ha_backend_register(launch_backend_make()));
    }
    contexts[0] = ha_host();
    contexts[1] = ha_context_get(kind, 0);
    contexts[2] = ha_context_fork(contexts[1]);
    contexts[3] = ha_context_get(kind, 1);
    for (int a = 0; a < ARRAYS; a++) {
        shared[a] = ha_array_zeros(ha_type_of_("uint32_t", 4), SIZE, contexts[a]);
        assert_non_null(shared[a]);
        for (int part = 0; part < PARTS; part++) atomic_store(&written[a][part], 0);
    }
}

/* Every write has counted, everywhere. */
static void end_world(void) {
    for (int a = 0; a < ARRAYS; a++) {
        ha_access v;
        check_quiet(shared[a]);
        HA_CHECK(ha_open(&v, shared[a], ha_host(), HA_READ, 0, HA_END));
        for (size_t i = 0; i < SIZE; i++)
            assert_int_equal(((uint32_t *)v.data)[i], atomic_load(&written[a][i / PART]));
        HA_CHECK(ha_close(&v));
        HA_CHECK(ha_array_free(shared[a]));
    }
    HA_CHECK(ha_shutdown());
    if (cuda_fake()) assert_true(cuda_fake_is_empty());
}

static void run_threads(const char *kind, uint64_t delay_ns, unsigned long operations, int hasty) {
    static worker workers[THREADS];
    memset(workers, 0, sizeof workers);
    make_world(kind, delay_ns);
    for (int i = 1; i < 4; i += 2) /* both devices write half of it back ahead */
        HA_CHECK(ha_memory_set_watermark(contexts[i], pressed && hasty ? 0.5 : 1));
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].random = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
        workers[i].operations = operations;
        workers[i].laid_out = -1;
        workers[i].hasty = hasty;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    if (atomic_load(&broken)) fail_msg("%s:%d", __FILE__, atomic_load(&broken));
    end_world();
}

static void threads(HA_UNUSED void **state) { run_threads("sim", 0, operation_count(), 0); }

/* Blocks move between accesses. */
static void hasty_threads(HA_UNUSED void **state) { run_threads("sim", 0, operation_count(), 1); }

/* Each command starts after a pause of up to so long. */
static void threads_and_delays(HA_UNUSED void **state) {
    run_threads("sim", 20000, operation_count() / 10, 0);
}

static void managed_threads(HA_UNUSED void **state) {
    if (!cuda_fake()) skip();
    run_threads("cuda", 0, operation_count() / 5, 0);
    run_threads("cuda", 20000, operation_count() / 20, 0);
}

static void launch_threads(HA_UNUSED void **state) {
    if (!cuda_fake()) skip();
    run_threads("launch", 0, operation_count() / 5, 1);
    run_threads("launch", 20000, operation_count() / 20, 0);
}

/* Two of three arrays fit, or all, or hardly one. */
static void press(const char *kind, uint64_t delay_ns, size_t bytes, int hasty) {
    char text[100];
    snprintf(text, sizeof text, "%s:0=%zu, %s:1=%zu", kind, bytes, kind, bytes);
    HA_CHECK(setenv("HARRAY_MEMORY", text, 1) ? HA_ERR_STATE : HA_OK);
    ha_resident_least = 1;
    reserved_most = 40;
    pressed = 1;
    run_threads(kind, delay_ns, operation_count() / (delay_ns ? 40 : 5), hasty);
    pressed = 0;
    reserved_most = 5000;
    ha_resident_least = (size_t)64 << 10;
    unsetenv("HARRAY_MEMORY");
}

static void threads_under_pressure(HA_UNUSED void **state) {
    for (size_t bytes = 400; bytes <= 1600; bytes += 400)
        for (int hasty = 0; hasty < 2; hasty++) {
            press("sim", 0, bytes, hasty);
            press("sim", 20000, bytes, hasty);
        }
    if (cuda_fake()) press("cuda", 0, 800, 0);
    if (cuda_fake()) press("launch", 0, 800, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads),
        cmocka_unit_test(hasty_threads),
        cmocka_unit_test(threads_and_delays),
        cmocka_unit_test(managed_threads),
        cmocka_unit_test(launch_threads),
        cmocka_unit_test(threads_under_pressure),
    };
    return cmocka_run_group_tests_name("fuzz_threads", tests, NULL, NULL);
}
