/* Everything at once, by several threads on shared arrays: openings of one and of many, tokens that
 * other threads end, prefetching, the caller's memory, making and freeing, exchanging, caches and
 * accounts, measuring, instruments with a handler that calls the library; in the last world a queue
 * fails while all that goes on. For the sanitizers above all.
 *
 * Counted arrays are divided into parts. A write adds 1 to all elements of some parts: so whoever
 * reads finds the elements of a part equal, and in the end each is the number of writes to it, or
 * lost. Loose arrays change their size and their memory; all their elements are equal. When a thread
 * waits for ever, the test does not end.
 *
 *     HARRAY_THREAD_OPS=n    operations of each thread, instead of 4000 (HARRAY_TEST_LONG=1: 50000)
 *     HARRAY_SEED=n          other operations */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"

#include "../support/invariants.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { COUNTED = 3, PARTS = 5, PART = 8, SIZE = PARTS * PART, LOOSE = 2, THREADS = 4 };
enum { CONTEXTS = 4, MOST = 3, TOKENS = 4 };

typedef struct world {
    ha_sim_options options;
    int scarce; /* small blocks on the host are refused now and then: transfers pass chunks */
    int fails;  /* sim:1 does, half-way */
} world;

typedef struct worker {
    pthread_t thread;
    uint64_t random;
    unsigned long operations;
    ha_access held[MOST];
    unsigned holds;
    uint32_t (*mine)[PART]; /* two of them, nobody else's */
} worker;

static ha_context *contexts[CONTEXTS]; /* host, sim:0, a fork of it, sim:1 */
static ha_array *counted[COUNTED], *loose[LOOSE];
static atomic_uint written[COUNTED][PARTS];
static const world *now;
static atomic_int broken; /* a line of this file where something was wrong first; 0: nothing */
static atomic_int failing, scarce;
static atomic_ulong done, events;

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

static ha_context *somewhere(worker *w) { return contexts[pick(w, CONTEXTS)]; }

/* Whether an answer is one that can be given. Returns whether it was done. */
static int went_at(int line, ha_status s) {
    int may = s == HA_OK || s == HA_ERR_CONFLICT || s == HA_ERR_DEADLOCK || s == HA_ERR_BUSY;
    may |= s == HA_ERR_MEMORY && now->scarce;
    may |= (s == HA_ERR_LOST || s == HA_ERR_BACKEND) && atomic_load(&failing);
    if (!may) fprintf(stderr, "%d: %s\n", line, ha_take_error().text);
    must_at(line, may);
    (void)ha_take_error();
    return s == HA_OK;
}
#define WENT(status) went_at(__LINE__, status)

/* Of a call that returns NULL when it fails; its error may have been taken by the event handler. */
#define MADE(pointer) ((pointer) != NULL || (WENT(ha_take_error().status), 0))

/* ---- what runs on queues ------------------------------------------------------------------- */

typedef struct job {
    uint32_t *data;
    size_t size, part; /* elements; of which so many at a time are equal */
    uint32_t add;
    int sets; /* to `add`, whatever was there */
} job;

static void run_job(const ha_queue *queue, void *argument) {
    const job *j = (const job *)argument;
    uint32_t *data = HA_HERE(queue, uint32_t, j->data);
    for (size_t i = 0; i < j->size; i++) {
        if (j->sets) data[i] = 0;
        MUST(data[i] == data[i - i % j->part]);
    }
    for (size_t i = 0; i < j->size && j->add; i++) data[i] += j->add;
}

static int enqueue(ha_context *c, const ha_access *v, size_t part, uint32_t add, int sets) {
    const job j = {(uint32_t *)v->data, v->size, part, add, sets};
    return !v->size || WENT(ha_enqueue(c, run_job, &j, sizeof j));
}

/* ---- counted arrays ------------------------------------------------------------------------ */

static void count_writes(const ha_access *v) {
    for (int a = 0; a < COUNTED; a++)
        for (size_t i = 0; counted[a] == v->array && i < v->size / PART; i++)
            atomic_fetch_add(&written[a][v->first / PART + i], 1);
}

static void use_on(ha_context *c, const ha_access *v, int writes) {
    if (enqueue(c, v, PART, (uint32_t)writes, 0) && writes) count_writes(v);
}

static void pick_parts(worker *w, size_t *first, size_t *last) {
    const uint32_t from = pick(w, PARTS);
    *first = from * PART;
    *last = *first + (1 + pick(w, PARTS - from)) * PART;
    if (pick(w, 3) > 0) return;
    *first = 0;
    *last = HA_END;
}

static void close_all(worker *w) {
    while (w->holds > 0) MUST(ha_close(&w->held[--w->holds]) == HA_OK);
}

static void open_one(worker *w) {
    size_t first, last;
    const int writes = pick(w, 3) == 0;
    const unsigned how = (writes ? HA_WRITE : HA_READ) | (pick(w, 3) ? HA_WAIT : HA_TRY);
    if (w->holds == MOST) close_all(w);
    ha_access *v = &w->held[w->holds];
    pick_parts(w, &first, &last);
    if (!WENT(ha_open(v, counted[pick(w, COUNTED)], somewhere(w), how, first, last))) return;
    w->holds++;
    use_on(v->context, v, writes);
}

static void open_many(worker *w) {
    ha_access v[4];
    ha_request r[4] = {{.access = NULL}};
    const size_t n = 1 + pick(w, 4);
    close_all(w);
    for (size_t i = 0; i < n; i++) {
        r[i].access = &v[i];
        r[i].array = counted[pick(w, COUNTED)];
        r[i].context = somewhere(w);
        r[i].how = pick(w, 3) ? HA_READ : HA_WRITE;
        pick_parts(w, &r[i].first, &r[i].last);
    }
    if (pick(w, 4) == 0) r[0].how |= HA_TRY;
    if (!WENT(ha_open_many(r, n))) return;
    for (size_t i = 0; i < n; i++) use_on(v[i].context, &v[i], (r[i].how & 3) != HA_READ);
    for (size_t i = 0; i < n; i++) MUST(ha_close(&v[i]) == HA_OK);
}

static void read_anywhere(worker *w) {
    ha_access v;
    size_t first, last;
    pick_parts(w, &first, &last);
    if (!WENT(ha_read_anywhere(&v, counted[pick(w, COUNTED)], somewhere(w), first, last))) return;
    use_on(v.context, &v, 0);
    MUST(ha_close(&v) == HA_OK);
}

static void prefetch(worker *w) {
    size_t first, last;
    pick_parts(w, &first, &last);
    (void)WENT(ha_array_prefetch(counted[pick(w, COUNTED)], somewhere(w), first, last));
}

static void get(worker *w) {
    uint32_t value;
    (void)WENT(ha_array_get(counted[pick(w, COUNTED)], pick(w, SIZE), &value));
}

static void without_transfers(worker *w) {
    ha_access v;
    HA_NO_TRANSFERS {
        const ha_status s = ha_open(&v, counted[pick(w, COUNTED)], somewhere(w), HA_READ, 0,
                                    HA_END);
        if (s == HA_ERR_TRANSFER)
            (void)ha_take_error();
        else if (WENT(s)) {
            use_on(v.context, &v, 0);
            MUST(ha_close(&v) == HA_OK);
        }
    }
}

static void copy(worker *w) {
    ha_access v;
    ha_array *made = ha_array_copy(counted[pick(w, COUNTED)]);
    if (!MADE(made)) return;
    if (WENT(ha_open(&v, made, somewhere(w), HA_WRITE, 0, HA_END))) {
        (void)enqueue(v.context, &v, PART, 1, 0);
        MUST(v.size == SIZE && ha_close(&v) == HA_OK);
    }
    MUST(ha_array_free(made) == HA_OK);
}

static void reserve(worker *w) {
    (void)WENT(ha_array_reserve(counted[pick(w, COUNTED)], somewhere(w), SIZE + pick(w, 5000)));
}

static void ask(worker *w) {
    char text[400];
    ha_array *a = counted[pick(w, COUNTED)];
    MUST(ha_describe(a, text, sizeof text) > 0 && ha_array_size(a) == SIZE);
    MUST(ha_array_valid_context(a) != NULL);
    check_invariants(a);
}

/* ---- tokens -------------------------------------------------------------------------------- */

/* Laid there by those who detached them; one more thread ends them, so they never stay. */
static struct {
    pthread_mutex_t lock;
    ha_token token[TOKENS];
    int over;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* 0: the table is full. */
static int lay_down(ha_token *t) {
    int laid = 0;
    pthread_mutex_lock(&table.lock);
    for (int i = 0; i < TOKENS && !laid; i++)
        if (!table.token[i].array) {
            table.token[i] = *t;
            laid = 1;
        }
    pthread_mutex_unlock(&table.lock);
    return laid;
}

static void detach(worker *w) {
    ha_access v;
    ha_token t = {NULL, NULL, 0};
    size_t first, last;
    const int writes = pick(w, 2) == 0;
    close_all(w);
    pick_parts(w, &first, &last);
    if (!WENT(ha_open(&v, counted[pick(w, COUNTED)], somewhere(w), writes ? HA_WRITE : HA_READ,
                      first, last)))
        return;
    ha_context *worked = v.context; /* which queue works on it */
    if ((worked == contexts[1] || worked == contexts[2]) && pick(w, 2) && WENT(ha_wait(&v)))
        worked = contexts[1] == worked ? contexts[2] : contexts[1];
    use_on(worked, &v, writes);
    MUST(ha_detach(&t, &v) == HA_OK);
    if (worked == t.context ? lay_down(&t) : WENT(ha_token_end_at(&t, worked))) return;
    if (worked != t.context) (void)WENT(ha_context_finish(worked));
    (void)WENT(ha_token_wait(&t));
}

static ha_token pick_up(int *over) {
    ha_token t = {NULL, NULL, 0};
    pthread_mutex_lock(&table.lock);
    for (int i = 0; i < TOKENS && !t.array; i++) {
        t = table.token[i];
        table.token[i].array = NULL;
    }
    *over = table.over && !t.array;
    pthread_mutex_unlock(&table.lock);
    return t;
}

static void *end_tokens(void *argument) {
    worker *w = (worker *)argument;
    for (int over = 0; !over;) {
        ha_token t = pick_up(&over);
        if (!t.array)
            sched_yield();
        else if (pick(w, 3) == 0)
            (void)WENT(ha_token_wait(&t));
        else if (pick(w, 2) == 0)
            MUST(ha_token_finish(&t) == HA_OK);
        else
            (void)(WENT(ha_token_end_at(&t, somewhere(w))) || WENT(ha_token_wait(&t)));
    }
    return NULL;
}

/* ---- loose arrays -------------------------------------------------------------------------- */

static void change_loose(worker *w) {
    ha_access v;
    const size_t n = pick(w, 3) ? pick(w, 100) : pick(w, 20000);
    if (!WENT(ha_overwrite(&v, loose[pick(w, LOOSE)], somewhere(w), n, pick(w, 2) ? 0 : HA_TRY)))
        return;
    (void)enqueue(v.context, &v, n ? n : 1, pick(w, 1000), 1);
    if (pick(w, 4) == 0 && WENT(ha_access_resize(&v, n / 2)) && n / 2)
        (void)enqueue(v.context, &v, n / 2, pick(w, 1000), 1);
    MUST(ha_close(&v) == HA_OK);
}

static void read_loose(worker *w) {
    ha_access v;
    if (!WENT(ha_open(&v, loose[pick(w, LOOSE)], somewhere(w), HA_READ, 0, HA_END))) return;
    (void)enqueue(v.context, &v, v.size, 0, 0);
    MUST(ha_close(&v) == HA_OK);
}

static void exchange_loose(worker *w) {
    ha_array *a = loose[pick(w, LOOSE)];
    switch (pick(w, 4)) {
    case 0:
        (void)WENT(ha_array_purge(a));
        break;
    case 1:
        (void)WENT(ha_array_clear(a));
        break;
    case 2:
        (void)WENT(ha_array_swap(loose[0], loose[1]));
        break;
    default:
        (void)WENT(ha_array_assign(a, loose[pick(w, LOOSE)]));
    }
}

/* ---- the caller's memory ------------------------------------------------------------------- */

static void wrap(worker *w) {
    uint32_t mine[PART] = {0}, writes = 0;
    ha_access v;
    ha_wrapped piece = {mine, NULL, 0};
    ha_array *a = ha_array_wrap(ha_type_of_("uint32_t", 4), PART, &piece, 1);
    if (!MADE(a)) return;
    for (uint32_t i = pick(w, 5); i > 0; i--) {
        if (!WENT(ha_open(&v, a, somewhere(w), HA_WRITE, 0, HA_END))) continue;
        writes += (uint32_t)enqueue(v.context, &v, PART, 1, 0);
        MUST(ha_close(&v) == HA_OK);
    }
    if (pick(w, 2) && WENT(ha_sync(a)))
        for (int i = 0; i < PART; i++) MUST(mine[i] == writes);
    int synced = WENT(ha_unwrap(a));
    if (!synced) MUST(ha_array_clear(a) == HA_OK && ha_unwrap(a) == HA_OK);
    for (int i = 0; i < PART; i++) MUST(mine[i] == writes || !synced);
}

/* Memory of the program lies below all blocks: whose they are is looked at, and others free them. What is
 * only read others may copy, too. */
static void copy_bytes(worker *w) {
    static const uint32_t common[PART] = {3, 1, 4, 1, 5, 9, 2, 6};
    for (int i = 0; i < PART; i++) w->mine[0][i] = pick(w, 1000);
    const uint32_t *from = pick(w, 2) ? w->mine[0] : common;
    if (!WENT(ha_copy(w->mine[1], NULL, from, NULL, sizeof *w->mine))) return;
    MUST(!memcmp(w->mine[1], from, sizeof *w->mine));
}

/* ---- memory -------------------------------------------------------------------------------- */

static void make(worker *w) {
    ha_access v;
    const size_t n = 1 + pick(w, pick(w, 8) ? 300 : 300000);
    const ha_type type = ha_type_of_("uint32_t", 4);
    ha_array *a = pick(w, 2) ? ha_array_new(type, n, somewhere(w))
                             : ha_array_zeros(type, n, somewhere(w));
    if (!MADE(a)) return;
    ha_array_set_name(a, "made");
    for (int i = 0; i < 2; i++) {
        if (!WENT(ha_open(&v, a, somewhere(w), i ? HA_WRITE : HA_OVERWRITE, 0, HA_END))) break;
        (void)enqueue(v.context, &v, n, 7, !i);
        MUST(ha_close(&v) == HA_OK);
    }
    MUST(ha_array_free(a) == HA_OK);
}

static void allocate(worker *w) {
    ha_context *c = somewhere(w);
    ha_access v = {.size = 1 + pick(w, 2000)}; /* as if it were one */
    v.data = ha_memory_allocate(c, v.size * sizeof(uint32_t));
    if (!MADE(v.data)) return;
    (void)enqueue(c, &v, v.size, 3, 1);
    (void)enqueue(c, &v, v.size, 0, 0);
    MUST(ha_memory_release(c, v.data) == HA_OK);
}

static void keep_house(worker *w) {
    ha_context *c = somewhere(w);
    switch (pick(w, 5)) {
    case 0:
        (void)ha_memory_trim(c, pick(w, 2) ? 0 : 10000);
        break;
    case 1:
        MUST(ha_memory_set_cache(c, now->scarce && c == contexts[0] ? 0 : pick(w, 1 << 20)) ==
             HA_OK);
        break;
    case 2:
        atomic_store(&scarce, now->scarce && pick(w, 2));
        break;
    case 3:
        (void)WENT(ha_context_finish(c));
        break;
    default:
        if (pick(w, 50) == 0) (void)WENT(ha_context_measure(c));
    }
}

static void fork_one(worker *w) {
    ha_access v;
    ha_context *c = ha_context_fork(contexts[1 + pick(w, 3)]);
    if (!MADE(c)) return;
    if (WENT(ha_open(&v, counted[pick(w, COUNTED)], c, HA_READ, 0, HA_END))) {
        use_on(c, &v, 0);
        MUST(ha_close(&v) == HA_OK);
    }
    MUST(ha_context_unfork(c) == HA_OK);
}

/* ---- instruments --------------------------------------------------------------------------- */

static void hear(const ha_event_info *event, HA_UNUSED void *user) {
    ha_access v;
    atomic_fetch_add(&events, 1);
    MUST(event->kind < HA_EVENT_KINDS && event->start <= event->end);
    if (event->thread % 2) return;
    (void)ha_array_statistics(counted[0]);
    const ha_status s = ha_open(&v, counted[1], contexts[0], HA_READ | HA_TRY, 0, PART);
    if (s == HA_OK) MUST(ha_close(&v) == HA_OK);
    (void)ha_take_error();
}

static void look(worker *w) {
    FILE *nowhere = fopen("/dev/null", "w");
    ha_site_statistics sites[3];
    MUST(nowhere != NULL);
    if (pick(w, 2))
        ha_report(nowhere);
    else
        ha_report_json(nowhere);
    fclose(nowhere);
    (void)ha_sites(sites, 3);
    const ha_memory_usage u = ha_context_memory(somewhere(w));
    MUST(u.handed_out == u.live + u.cached + u.retired + u.staging);
    if (pick(w, 10) == 0) ha_report_reset();
}

/* Another thread may have begun or ended one. */
static void trace(worker *w) {
    ha_status s = pick(w, 2) ? ha_trace_begin("/dev/null") : ha_trace_end();
    MUST(s == HA_OK || s == HA_ERR_STATE);
    ha_watch(pick(w, 2) ? HA_WATCH_ACCESSES : 0);
    (void)ha_take_error();
}

/* ---- threads ------------------------------------------------------------------------------- */

static void operate(worker *w) {
    static void (*const others[])(worker *) = {
        open_many, open_many,  detach,         detach,       read_anywhere,     prefetch, prefetch,
        get,       copy,       reserve,        ask,          without_transfers, wrap,     make,
        allocate,  keep_house, exchange_loose, change_loose, read_loose,        fork_one, look,
        trace,     copy_bytes,
    };
    const uint32_t what = pick(w, 100);
    if (what < 20)
        open_one(w);
    else if (what < 40)
        close_all(w);
    else
        others[pick(w, sizeof others / sizeof *others)](w);
}

static void *work(void *argument) {
    worker *w = (worker *)argument;
    for (unsigned long i = 0; i < w->operations; i++) {
        operate(w);
        if (atomic_fetch_add(&done, 1) != w->operations * THREADS / 2 || !now->fails) continue;
        atomic_store(&failing, 1);
        MUST(ha_sim_fail(contexts[3]) == HA_OK);
    }
    close_all(w);
    return NULL;
}

/* ---- worlds -------------------------------------------------------------------------------- */

static ha_status scarce_allocate(HA_UNUSED void *user, size_t bytes, void **block) {
    if (atomic_load(&scarce) && bytes < HA_CHUNK_BYTES) return HA_ERR_MEMORY;
    return posix_memalign(block, 64, bytes) ? HA_ERR_MEMORY : HA_OK;
}

static void scarce_release(HA_UNUSED void *user, void *block, HA_UNUSED size_t bytes) {
    free(block);
}

static void make_world(void) {
    const ha_allocator allocator = {scarce_allocate, scarce_release, NULL};
    HA_CHECK(ha_sim_configure(&now->options));
    contexts[0] = ha_host();
    contexts[1] = ha_context_find("sim:0");
    contexts[2] = ha_context_fork(contexts[1]);
    contexts[3] = ha_context_find("sim:1");
    if (now->scarce) HA_CHECK(ha_memory_set_allocator(ha_host(), &allocator));
    for (ha_memory *m = ha_registry.memories; m; m = m->next)
        if (now->scarce && !m->primary) m->allocator = allocator; /* pinned */
    for (int a = 0; a < COUNTED; a++) {
        counted[a] = ha_array_zeros(ha_type_of_("uint32_t", 4), SIZE, contexts[a]);
        assert_non_null(counted[a]);
        for (int part = 0; part < PARTS; part++) atomic_store(&written[a][part], 0);
    }
    for (int a = 0; a < LOOSE; a++) {
        loose[a] = ha_array_new(ha_type_of_("uint32_t", 4), 0, contexts[a]);
        assert_non_null(loose[a]);
    }
    ha_set_event_handler(hear, NULL);
}

/* What was not lost has all its writes. */
static void end_world(void) {
    ha_access v;
    ha_set_event_handler(NULL, NULL);
    ha_watch(0);
    HA_IGNORE(ha_trace_end());
    (void)ha_take_error();
    atomic_store(&scarce, 0);
    for (int a = 0; a < COUNTED; a++) {
        check_quiet(counted[a]);
        for (size_t part = 0; part < PARTS; part++) {
            const size_t first = part * PART;
            if (!WENT(ha_open(&v, counted[a], ha_host(), HA_READ, first, first + PART))) continue;
            for (size_t i = 0; i < PART; i++)
                assert_int_equal(((uint32_t *)v.data)[i], atomic_load(&written[a][part]));
            HA_CHECK(ha_close(&v));
        }
        HA_CHECK(ha_array_free(counted[a]));
    }
    for (int a = 0; a < LOOSE; a++) HA_CHECK(ha_array_free(loose[a]));
    check_ledger(NULL, 0);
    HA_CHECK(ha_shutdown());
}

static unsigned long operation_count(void) {
    const char *text = getenv("HARRAY_THREAD_OPS"), *is_long = getenv("HARRAY_TEST_LONG");
    if (text != NULL && *text != '\0') return strtoul(text, NULL, 10);
    return is_long != NULL && *is_long != '\0' ? 50000 : 4000;
}

static void run_world(const world *its, unsigned long operations) {
    static uint32_t mine[THREADS + 1][2][PART];
    worker workers[THREADS + 1] = {{.random = 0}};
    now = its;
    atomic_store(&failing, 0);
    atomic_store(&done, 0);
    table.over = 0;
    make_world();
    const char *text = getenv("HARRAY_SEED");
    const uint64_t seed = 16 * (text != NULL ? strtoull(text, NULL, 10) : 0);
    for (unsigned i = 0; i <= THREADS; i++) {
        worker *w = &workers[i];
        w->random = (seed + i + 1) * UINT64_C(0x9E3779B97F4A7C15);
        w->operations = operations;
        w->mine = mine[i];
        assert_int_equal(pthread_create(&w->thread, NULL, i < THREADS ? work : end_tokens, w), 0);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    pthread_mutex_lock(&table.lock);
    table.over = 1;
    pthread_mutex_unlock(&table.lock);
    assert_int_equal(pthread_join(workers[THREADS].thread, NULL), 0);
    end_world();
    if (atomic_load(&broken)) fail_msg("%s:%d", __FILE__, atomic_load(&broken));
}

static void discrete(HA_UNUSED void **state) {
    run_world(&(world){.options = {.devices = 2}}, operation_count());
}

static void chunks(HA_UNUSED void **state) {
    run_world(&(world){.options = {.devices = 2}, .scarce = 1}, operation_count());
}

static void unified(HA_UNUSED void **state) {
    run_world(&(world){.options = {.devices = 2, .unified = 1}}, operation_count());
}

static void delays(HA_UNUSED void **state) {
    run_world(&(world){.options = {.devices = 2, .delay_ns = 20000}, .scarce = 1},
              operation_count() / 10);
}

static void failures(HA_UNUSED void **state) {
    for (int i = 0; i < 5; i++)
        run_world(
            &(world){.options = {.devices = 2, .unified = i == 1}, .scarce = i == 2, .fails = 1},
            operation_count() / 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discrete), cmocka_unit_test(chunks),   cmocka_unit_test(unified),
        cmocka_unit_test(delays),   cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests_name("mixed_threads", tests, NULL, NULL);
}
