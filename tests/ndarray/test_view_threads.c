/* Several threads that open random views of the same arrays on all kinds of contexts, one or more at a
 * time, and count up what they write. Meant for ThreadSanitizer, too. In the end every element has been
 * counted up as often as was said, and every row that was read was as its writers leave it.
 *
 *     HARRAY_THREAD_OPS=n    openings of all threads together, instead of 6000 (in HARRAY_TEST_LONG=1:
 *                            200,000) */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <cmocka.h>
#include "../support/private_backend.h"
#include "../support/invariants.h"

enum { THREADS = 4, TABLES = 2, ROWS = 5, COLUMNS = 7, DEPTH = 3, CONTEXTS = 5, AT_ONCE = 3 };
enum { ELEMENTS = ROWS * COLUMNS * DEPTH };

static ha_context *contexts[CONTEXTS];
static darray tables[TABLES];
static atomic_uint written[TABLES][ELEMENTS];
static uint32_t openings; /* of each thread */

typedef struct worker {
    pthread_t thread;
    uint64_t random;
    uint32_t opened, refused;
} worker;

static void must_at(int line, int condition) {
    if (condition) return;
    fprintf(stderr, "FAILED: line %d: %s\n", line, ha_take_error().text);
    abort();
}
#define MUST(condition) must_at(__LINE__, condition)

static uint32_t pick(worker *w, uint32_t n) {
    w->random ^= w->random >> 12;
    w->random ^= w->random << 25;
    w->random ^= w->random >> 27;
    return (uint32_t)((w->random * UINT64_C(2685821657736338717) >> 32) * n >> 32);
}

/* ---- views ---------------------------------------------------------------------------------- */

static darray pick_part(worker *w, darray x) {
    for (int d = 0; d < 3; d++) {
        const int64_t n = x.extent[d], first = pick(w, (uint32_t)n);
        const int64_t last = first + 1 + pick(w, (uint32_t)(n - first));
        if (pick(w, 3)) x = darray_slice(x, d, first, last, 1 + (pick(w, 6) == 0));
    }
    if (!pick(w, 4)) x = darray_transpose(x);
    if (!pick(w, 4)) x = darray_flip(x, (int)pick(w, 3));
    return x;
}

typedef struct job {
    uint32_t *data;
    darray view;
    int writes;
} job;

static void run_job(const ha_queue *queue, void *argument) {
    const job *j = (const job *)argument;
    uint32_t *data = HA_HERE(queue, uint32_t, j->data);
    volatile uint32_t seen = 0;
    const darray *x = &j->view;
    for (int64_t i = 0; i < x->extent[0]; i++)
        for (int64_t k = 0; k < x->extent[1]; k++)
            for (int64_t l = 0; l < x->extent[2]; l++) {
                uint32_t *at = data + i * x->stride[0] + k * x->stride[1] + l * x->stride[2];
                if (j->writes)
                    ++*at;
                else
                    seen += *at;
            }
    (void)seen;
}

static void count_writes(int table, const darray *x) {
    for (int64_t i = 0; i < x->extent[0]; i++)
        for (int64_t k = 0; k < x->extent[1]; k++)
            for (int64_t l = 0; l < x->extent[2]; l++)
                atomic_fetch_add(&written[table][x->offset + i * x->stride[0] + k * x->stride[1] +
                                                 l * x->stride[2]],
                                 1);
}

/* ---- threads -------------------------------------------------------------------------------- */

typedef struct wanted {
    int table;
    unsigned how;
    darray view;
    ha_access access;
} wanted;

static void use(const wanted *x) {
    const job j = {(uint32_t *)x->access.data, x->view, x->how != HA_READ};
    MUST(ha_enqueue(x->access.context, run_job, &j, sizeof j) == HA_OK);
    if (j.writes) count_writes(x->table, &x->view);
}

static int is_refusal(ha_status s) {
    return s == HA_ERR_CONFLICT || s == HA_ERR_BUSY || s == HA_ERR_DEADLOCK;
}

/* Any number of them at once: all, or none. */
static void open_some(worker *w) {
    wanted x[AT_ONCE];
    ha_request list[AT_ONCE];
    const uint32_t n = 1 + pick(w, AT_ONCE);
    for (uint32_t i = 0; i < n; i++) {
        x[i].table = (int)pick(w, TABLES);
        x[i].view = pick_part(w, tables[x[i].table]);
        x[i].how = pick(w, 3) ? HA_WRITE : HA_READ;
        list[i] = (ha_request){.access = &x[i].access,
                               .context = contexts[pick(w, CONTEXTS)],
                               .how = x[i].how | (pick(w, 3) ? 0 : (unsigned)HA_TRY),
                               .view = &x[i].view};
    }
    const ha_status s = n == 1 ? ha_open_darray(&x[0].access, &x[0].view, list[0].context,
                                                list[0].how, "a view", HA_SITE)
                               : ha_open_many(list, n);
    w->opened += !s;
    w->refused += s != HA_OK;
    MUST(!s || is_refusal(s));
    (void)ha_take_error();
    for (uint32_t i = 0; i < n && !s; i++) use(&x[i]);
    for (uint32_t i = 0; i < n && !s; i++) check_invariants(x[i].view.array);
    for (uint32_t i = 0; i < n && !s; i++) MUST(ha_close(&x[i].access) == HA_OK);
}

static void look_around(worker *w) {
    const darray view = pick_part(w, tables[pick(w, TABLES)]);
    const ha_status s = ha_prefetch_darray(&view, contexts[pick(w, CONTEXTS)], HA_SITE);
    MUST(!s || is_refusal(s));
    (void)ha_take_error();
    check_invariants(view.array);
}

static void *work(void *argument) {
    worker *w = (worker *)argument;
    for (uint32_t i = 0; i < openings; i++)
        if (pick(w, 10))
            open_some(w);
        else
            look_around(w);
    return NULL;
}

static void make_world(void) {
    const int64_t extent[] = {ROWS, COLUMNS, DEPTH};
    assert_int_equal(ha_backend_register(&private_backend), HA_OK);
    contexts[0] = ha_host();
    contexts[1] = ha_context_find("sim:0");
    contexts[2] = ha_context_find("sim:1");
    contexts[3] = ha_context_find("private:0");
    contexts[4] = ha_context_fork(contexts[1]);
    for (int i = 0; i < TABLES; i++) {
        tables[i] = darray_zeros(HA_DTYPE_uint32_t, 3, extent, contexts[3 * i]);
        assert_non_null(tables[i].array);
    }
}

static void end_world(void) {
    for (int t = 0; t < TABLES; t++) {
        ha_access v;
        assert_int_equal(ha_open_darray(&v, &tables[t], ha_host(), HA_READ, "end", HA_SITE), HA_OK);
        for (size_t i = 0; i < ELEMENTS; i++)
            assert_int_equal(((const uint32_t *)v.data)[i], atomic_load(&written[t][i]));
        assert_int_equal(ha_close(&v), HA_OK);
        check_quiet(tables[t].array);
    }
    ha_array *list[] = {tables[0].array, tables[1].array};
    check_ledger(list, TABLES);
    for (int t = 0; t < TABLES; t++) assert_int_equal(darray_free(&tables[t]), HA_OK);
    assert_int_equal(ha_shutdown(), HA_OK);
}

/* ---- arrays that are exchanged --------------------------------------------------------------- */

static darray exchanged;
static atomic_int ended;

/* What of the array is looked at without its lock stays while it is exchanged with others. */
static void *open_exchanged(void *argument) {
    worker *w = (worker *)argument;
    while (!atomic_load(&ended)) {
        const darray view = pick_part(w, exchanged);
        ha_access v;
        if (ha_open_darray(&v, &view, contexts[pick(w, CONTEXTS)], HA_WRITE, "a view", HA_SITE))
            continue;
        MUST(ha_close(&v) == HA_OK);
    }
    return NULL;
}

static void exchanging(HA_UNUSED void **state) {
    static worker workers[2];
    make_world();
    exchanged = tables[0];
    atomic_store(&ended, 0);
    for (uint32_t i = 0; i < 2; i++) {
        workers[i].random = 5 + i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, open_exchanged, &workers[i]), 0);
    }
    for (int i = 0; i < 200; i++) {
        ha_array *copy = ha_array_copy(exchanged.array);
        assert_non_null(copy);
        const ha_status s = ha_array_swap(exchanged.array, copy);
        assert_true(!s || s == HA_ERR_CONFLICT);
        (void)ha_take_error();
        assert_int_equal(ha_array_free(copy), HA_OK);
        check_invariants(exchanged.array);
    }
    atomic_store(&ended, 1);
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    for (int t = 0; t < TABLES; t++) assert_int_equal(darray_free(&tables[t]), HA_OK);
    assert_int_equal(ha_shutdown(), HA_OK);
}

/* ---- all together --------------------------------------------------------------------------- */

static void threads_and_views(HA_UNUSED void **state) {
    static worker workers[THREADS];
    const char *text = getenv("HARRAY_THREAD_OPS");
    const uint32_t all = getenv("HARRAY_TEST_LONG") ? 200000 : 6000;
    openings = (text ? (uint32_t)strtoul(text, NULL, 10) : all) / THREADS;
    make_world();
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].random = 77 + i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        printf("# thread %u: %u opened, %u refused\n", i, workers[i].opened, workers[i].refused);
    }
    end_world();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_and_views),
                                       cmocka_unit_test(exchanging)};
    return cmocka_run_group_tests_name("views of several threads", tests, NULL, NULL);
}
