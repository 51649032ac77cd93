/* Threads that work at random on several times as much as each tier has: no value is lost, and no call fails. On the
 * contexts of cases_tiers.c, with a file or a store of the program's behind the host. */
#define HA_IDLE_TRIES_ 10 /* other threads are seen, not waited for a while */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "store_tier.h"

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
        TIERS(at_random),
        TIERS(at_random_by_threads),
        TIERS(at_random_ahead_and_controlled),
        TIERS(at_random_to_a_store),
    };
    return RUN_TIERS(tests);
}
