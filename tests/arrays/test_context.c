/* Contexts: looking them up, the current one, forks, functions on their
 * queues. On the contexts of support/matrix.h. */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

/* What this thread does once, as soon as it has let go of a lock. */
static _Thread_local struct {
    pthread_mutex_t *lock;
    void (*then)(void);
} unlocking;

static int watched_unlock(pthread_mutex_t *lock) {
    const int error = pthread_mutex_unlock(lock);
    if (lock == unlocking.lock) {
        unlocking.lock = NULL;
        unlocking.then();
    }
    return error;
}

#define pthread_mutex_unlock(lock) watched_unlock(lock)

/* Counts the turns in which this thread waits for others without sleeping; NULL: nobody does. */
static _Thread_local atomic_int *turns_of_waiting;

static int watched_yield(void) {
    if (turns_of_waiting) atomic_fetch_add(turns_of_waiting, 1);
    return sched_yield();
}

#define sched_yield() watched_yield()

#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"

/* ---- J. on every row ------------------------------------------------------------------------ */

TEST(finding_the_host) {
    assert_non_null(ha_host());
    assert_ptr_equal(ha_host(), ha_host());
    assert_ptr_equal(ha_context_find("host"), ha_host());
    assert_ptr_equal(ha_context_find("host:0"), ha_host());
    assert_ptr_equal(ha_context_get("host", 0), ha_host());
    assert_string_equal(ha_context_name(H), "host");
    assert_string_equal(ha_context_kind(H), "host");
    assert_int_equal(ha_context_number(H), 0);
    assert_int_equal(ha_context_count("host"), 1);
    assert_null(ha_context_stream(H));
}

TEST(best_context) {
    ha_context *best = ha_context_best();
    assert_non_null(best);
    const char *kind = ha_context_kind(best);
    if (!getenv("HARRAY_DEVICE") && ha_context_count("cuda") > 0) assert_string_equal(kind, "cuda");
    const int number = ha_context_number(best);
    assert_true(ha_context_count(kind) > number);
    assert_ptr_equal(ha_context_get(kind, number), best);
    assert_ptr_equal(ha_context_find("best"), best);
}

TEST(current_context_by_scope) {
    assert_null(ha_context_current());
    HA_ON(C) {
        assert_ptr_equal(ha_context_current(), C);
        HA_ON(M1) {
            assert_ptr_equal(ha_context_current(), M1);
            HA_ON(H) assert_ptr_equal(ha_context_current(), H);
            else fail();
            assert_ptr_equal(ha_context_current(), M1);
            break;
        }
        else fail();
        assert_ptr_equal(ha_context_current(), C);
    }
    else fail();
    assert_null(ha_context_current());
}

static ha_context *leave_scopes_by_return(void) {
    HA_ON(M1) {
        assert_ptr_equal(ha_context_current(), M1);
        HA_ON(C) return ha_context_current();
    }
    return NULL;
}

TEST(ways_out_of_scopes) {
    int ran = 0;
    HA_ON(M1) HA_ON(C) ran++; /* both on one line */
    assert_int_equal(ran--, 1);
    assert_ptr_equal(leave_scopes_by_return(), C);
    assert_null(ha_context_current());
    for (int i = 0; i < 2; i++) {
        HA_ON(C) continue;
        ran++;
    }
    assert_int_equal(ran, 2);
    HA_ON(C) goto out;
out:
    assert_null(ha_context_current());
}

/* No context: the else branch, and nothing else changes. */
TEST(scopes_of_nothing) {
    int other = 0;
    HA_ON(NULL) fail();
    else other++;
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    HA_ON(C) {
        HA_ON(ha_context_find("sim:99")) fail();
        else {
            other++;
            assert_ptr_equal(ha_context_current(), C);
        }
    }
    else fail();
    assert_int_equal(ha_take_error().status,
                     HA_ERR_NOT_FOUND); /* the first thing that went wrong */
    assert_int_equal(other, 2);
    assert_null(ha_context_current());
}

/* NULL as a context is the current one, everywhere. */
TEST(null_contexts) {
    harray_double x = list_at(NULL);
    assert_ptr_equal(ha_array_valid_context(x.array), H);
    assert_int_equal(CAPACITY(x, NULL), 5);
    drop(x);
    HA_ON(C) {
        x = list_at(NULL);
        assert_ptr_equal(ha_array_valid_context(x.array), C);
        assert_true(VALID(x, NULL));
        assert_int_equal(CAPACITY(x, NULL), 5);
        HA_WRITING(v, x, NULL) {
            assert_ptr_equal(v.context, C);
            add(&v, 1);
        }
        else fail();
        SUCCEEDS(ha_context_finish(NULL));
        SUCCEEDS(ha_array_prefetch(x.array, NULL, 0, HA_END));
        SUCCEEDS(ha_array_reserve(x.array, NULL, 9));
        assert_int_equal(CAPACITY(x, C), 9);
        assert_string_equal(ha_context_name(NULL), ha_context_name(C));
        drop(x);
        x = keep(harray_double_zeros(3));
        assert_ptr_equal(ha_array_valid_context(x.array), C);
        drop(x);
    }
    else fail();
}

static void *see_current(void *argument) {
    ha_context **seen = (ha_context **)argument;
    seen[0] = ha_context_current();
    HA_ON(M1) seen[1] = ha_context_current();
    return NULL;
}

TEST(current_context_of_each_thread) {
    ha_context *seen[2] = {H, H};
    pthread_t thread;
    HA_ON(C) {
        assert_int_equal(pthread_create(&thread, NULL, see_current, seen), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_ptr_equal(ha_context_current(), C);
    }
    else fail();
    assert_null(seen[0]);
    assert_ptr_equal(seen[1], M1);
}

TEST(contexts_are_different) {
    assert_ptr_not_equal(M1, H);
    assert_ptr_not_equal(M1, M2);
    assert_ptr_not_equal(C, M1);
    assert_ptr_not_equal(C, M2);
}

/* Memory of a context is usable there, and that of the host on the host. */
TEST(memory_is_usable_where_it_is) {
    const uint8_t bytes[13] = "twelve bytes";
    uint8_t back[10];
    harray_uint8_t x = harray_uint8_t_from(keep_array(harray_uint8_t_of(13, bytes).array));
    HA_WRITING_RANGE(v, x, C, 0, 10) assert_int_equal(v.size, 10);
    else fail();
    assert_int_equal(ha_array_valid(x.array, H, 0, 10), shares_memory(C));
    HA_READING_RANGE(v, x, H, 0, 10) memcpy(back, v.data, sizeof back);
    else fail();
    assert_memory_equal(back, bytes, sizeof back);
    assert_int_equal(ha_array_statistics(x.array).bytes, shares_memory(C) ? 0 : 10 + 10);
    drop_array(x.array);
    harray_double y = keep(harray_double_zeros_at(1000, C));
    add_at(y, C, 2);
    assert_true(sum_at(y, H) == 2000);
    drop(y);
}

TEST(sizes_that_overflow) {
    const ha_type byte = {"byte", 1};
    REFUSED_NULL(HA_ERR_MEMORY, ha_array_new(byte, SIZE_MAX, C));
    REFUSED_NULL(HA_ERR_MEMORY, ha_array_new(byte, SIZE_MAX - 64, C));
    REFUSED_NULL(HA_ERR_MEMORY, ha_array_zeros(byte, SIZE_MAX / 2, C));
    REFUSED_NULL(HA_ERR_MEMORY, ha_array_new(byte, SIZE_MAX, H));
    harray_double x = list_at(C); /* the context is as good as before */
    add_at(x, C, 1);
    drop(x);
}

TEST(contexts_by_kind_and_number) {
    assert_ptr_equal(ha_context_find("sim"), ha_context_find("sim:0"));
    assert_ptr_equal(ha_context_get("sim", 0), ha_context_find("sim:0"));
    assert_ptr_equal(ha_context_get("private", 1), ha_context_find("private:1"));
    assert_ptr_not_equal(ha_context_find("sim:0"), ha_context_find("sim:1"));
    assert_ptr_equal(ha_context_find(ha_context_name(C)), C);
    harray_double x = list_at(C);
    REFUSED(HA_ERR_STATE, ha_shutdown()); /* contexts live while an array does */
    assert_ptr_equal(ha_context_find(ha_context_name(C)), C);
    add_at(x, C, 1);
    VALUES(x, 6, 7, 3, 4, -4);
    drop(x);
}

/* ---- names ---------------------------------------------------------------------------------- */

TEST(names) {
    ha_context *context = ha_context_find("sim:1");
    assert_string_equal(ha_context_name(context), "sim:1");
    assert_string_equal(ha_context_kind(context), "sim");
    assert_int_equal(ha_context_number(context), 1);
    assert_null(ha_context_stream(context));
    assert_int_equal(ha_context_count("sim"), 2);
    assert_int_equal(ha_context_count("private"), 2);
    assert_int_equal(ha_context_count("nonsense"), 0);
    assert_int_equal(ha_context_count(""), 0);
}

/* The text is refused, and the error names it. */
static void expect_no_context(const char *text, ha_status expected) {
    assert_null(ha_context_find(text));
    const ha_error error = ha_take_error();
    assert_int_equal(error.status, expected);
    char kind[40];
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(text, ":"), text);
    assert_non_null(strstr(error.text, kind));
}

TEST(bad_names) {
    const char *no_names[] = {"",       " ",      "sim:",   "sim:x",  "sim:-1",
                              " sim",   "sim ",   "sim:0 ", "sim:+1", "sim:0/1",
                              "sim:0x", "sim::0", ":0",     "sim-0",  "host:"};
    const char *no_devices[] = {"sim:99", "sim:2", "nonsense", "nonsense:0",
                                "host:1", "SIM",   "private:2"};
    for (size_t i = 0; i < sizeof no_names / sizeof *no_names; i++)
        expect_no_context(no_names[i], HA_ERR_ARGUMENT);
    for (size_t i = 0; i < sizeof no_devices / sizeof *no_devices; i++)
        expect_no_context(no_devices[i], HA_ERR_NOT_FOUND);
    assert_null(ha_context_find("sim:99999999999999999999")); /* no number, or no device */
    assert_int_not_equal(ha_take_error().status, HA_OK);
    REFUSED_NULL(HA_ERR_ARGUMENT, ha_context_find(NULL));
    REFUSED_NULL(HA_ERR_ARGUMENT, ha_context_get(NULL, 0));
    REFUSED_NULL(HA_ERR_ARGUMENT, ha_context_get("sim", -1));
    REFUSED_NULL(HA_ERR_NOT_FOUND, ha_context_get("sim", 99));
    REFUSED_NULL(HA_ERR_NOT_FOUND, ha_context_get("host", 1));
    REFUSED_NULL(HA_ERR_NOT_FOUND, ha_context_get("nonsense", 0));
    assert_null(ha_context_find("nonsense")); /* is told what there is */
    const ha_error told = ha_take_error();
    assert_non_null(
        strstr(told.text, "no kind of context is called 'nonsense': there are host, sim,"));
    assert_non_null(strstr(told.text, "private"));
}

/* ---- forks ---------------------------------------------------------------------------------- */

TEST(forks) {
    ha_context *fork = ha_context_fork(C), *second = ha_context_fork(fork);
    assert_non_null(fork);
    if (C == H) {
        assert_ptr_equal(fork, H);
        assert_ptr_equal(second, H);
        return;
    }
    char name[64];
    snprintf(name, sizeof name, "%s/1", ha_context_name(C));
    assert_string_equal(ha_context_name(fork), name);
    assert_ptr_not_equal(fork, C);
    assert_ptr_not_equal(second, fork);
    assert_string_not_equal(ha_context_name(second), name);
    assert_string_equal(ha_context_kind(fork), ha_context_kind(C));
    assert_int_equal(ha_context_number(fork), ha_context_number(C));

    harray_double x = list_at(C);
    const ha_statistics before = ha_array_statistics(x.array);
    assert_true(VALID(x, fork)); /* one memory */
    add_at(x, fork, 1);
    assert_true(VALID(x, C));
    add_at(x, C, 1);
    add_at(x, second, 1);
    MOVED(x, before.transfers, before.bytes);
    VALUES(x, 8, 9, 5, 6, -2);
    HA_READING(v, x, C) {
        HA_WRITING(w, x, fork) fail(); /* another context, all the same */
        else REFUSED(HA_ERR_CONFLICT, w.status);
    }
    else fail();
    drop(x);
}

/* What is given back is used again; what is no fork cannot be given back. */
TEST(forks_are_used_again) {
    ha_context *first = ha_context_fork(C), *second = ha_context_fork(C);
    for (int i = 0; i < 2; i++)
        SUCCEEDS(ha_context_unfork(ha_context_fork(H))); /* which is itself */
    REFUSED(HA_ERR_ARGUMENT, ha_context_unfork(NULL));
    if (C == H) return;
    REFUSED(HA_ERR_ARGUMENT, ha_context_unfork(C));
    double result = 0;
    harray_double x = list_at(C);
    add_at(x, first, 1);
    SUCCEEDS(ha_context_unfork(first));
    REFUSED(HA_ERR_STATE, ha_context_unfork(first));
    assert_ptr_equal(ha_context_fork(second), first);
    HA_READING(v, x, first) start_sum(&v, &result);
    else fail();
    SUCCEEDS(ha_context_finish(first));
    assert_true(result == 16);
    SUCCEEDS(ha_context_unfork(second));
    SUCCEEDS(ha_context_unfork(first));
    assert_ptr_equal(ha_context_fork(C), first); /* the last one first */
    assert_ptr_equal(ha_context_fork(C), second);
    SUCCEEDS(ha_context_unfork(first));
    SUCCEEDS(ha_context_unfork(second));
    drop(x);
}

/* ---- the caller's own queues ---------------------------------------------------------------- */

static void *own_queue(ha_context *device) {
    void *queue = private_own_queue(ha_context_number(device));
    assert_non_null(queue);
    return queue;
}

static ha_context *private_context(void) { return require_context("private:0"); }

static void enqueue_by_hand(void *queue, const ha_write_double *v, double amount) {
    const job j = {v->data, v->size, amount};
    assert_int_equal(example_call(queue, add_job, &j, sizeof j), HA_OK);
}

TEST(adopting) {
    ha_context *device = private_context();
    void *queue = own_queue(device);
    ha_context *mine = ha_context_adopt(device, queue);
    assert_non_null(mine);
    assert_string_equal(ha_context_kind(mine), "private");
    assert_int_equal(ha_context_number(mine), 0);
    assert_int_equal(strncmp(ha_context_name(mine), "private:0/a", 11), 0);
    assert_ptr_equal(ha_context_stream(mine), queue);
    assert_int_equal(ha_context_is_zero_copy(mine), 0);
    harray_double x = ramp(10);
    HA_WRITING(v, x, mine) {
        enqueue_by_hand(queue, &v, 1); /* behind the copy */
        assert_true(VALID(x, device));
        assert_false(VALID(x, H));
    }
    else fail();
    assert_true(sum_at(x, device) == 55); /* behind that */
    HA_WRITING(v, x, device) add(&v, 1);
    else fail();
    HA_WRITING(v, x, mine) enqueue_by_hand(queue, &v, 1);
    else fail();
    assert_true(sum_at(x, H) == 75);
    ha_context *fork = ha_context_fork(mine);
    assert_ptr_not_equal(ha_context_stream(fork), queue); /* one of harray's own */
    SUCCEEDS(ha_context_unfork(fork));
    drop(x);
    SUCCEEDS(ha_context_unfork(mine));
    assert_null(ha_context_stream(mine));
    private_destroy(queue);
}

TEST(adopting_refused) {
    ha_context *device = private_context(), *other = require_context("private:1");
    void *queue = own_queue(device);
    REFUSED_NULL(HA_ERR_UNSUPPORTED, ha_context_adopt(H, queue));
    REFUSED_NULL(HA_ERR_UNSUPPORTED, ha_context_adopt(require_context("sim:0"), queue));
    REFUSED_NULL(HA_ERR_ARGUMENT, ha_context_adopt(other, queue));
    REFUSED_NULL(HA_ERR_ARGUMENT, ha_context_adopt(device, NULL));
    REFUSED_NULL(HA_ERR_STATE, ha_context_adopt(device, ha_context_stream(device)));
    ha_context *mine = ha_context_adopt(device, queue);
    assert_non_null(mine);
    REFUSED_NULL(HA_ERR_STATE, ha_context_adopt(device, queue));
    REFUSED_NULL(HA_ERR_STATE, ha_context_adopt(mine, queue));
    REFUSED(HA_ERR_STATE, ha_context_set_zero_copy(device, 1)); /* it has several contexts */
    SUCCEEDS(ha_context_unfork(mine));
    REFUSED(HA_ERR_STATE, ha_context_unfork(mine));
    private_destroy(queue);
}

static void count_wait(const ha_event_info *event, void *waits) {
    *(int *)waits += event->kind == HA_EVENT_WAIT;
}

/* Giving back waits, and tells so; what arrays still note of it is over. */
TEST(giving_an_adopted_queue_back) {
    static int waits;
    ha_context *device = private_context();
    void *queue = own_queue(device), *second = own_queue(device);
    ha_context *mine = ha_context_adopt(device, queue);
    harray_double x = keep(harray_double_zeros_at(10, mine)), y = ramp(10);
    assert_ptr_equal(ha_array_first_touch(x.array), device); /* which stays */
    HA_WRITING(v, x, mine) enqueue_by_hand(queue, &v, 1);
    else fail();
    HA_WRITING(v, y, mine) enqueue_by_hand(queue, &v, 1);
    else fail();
    assert_non_null(((example_queue *)queue)->first);
    waits = 0;
    ha_set_event_handler(count_wait, &waits);
    SUCCEEDS(ha_context_unfork(mine));
    ha_set_event_handler(NULL, NULL);
    assert_int_equal(waits, 1);
    assert_null(((example_queue *)queue)->first);
    private_destroy(queue);
    ha_access late;
    REFUSED(HA_ERR_STATE, ha_open(&late, x.array, mine, HA_READ, 0, HA_END));
    add_at(x, device, 1); /* behind work on a queue that is gone */
    assert_true(sum_at(x, H) == 20);
    drop(y); /* its block, too */
    const int adoptions = device->adoptions;
    ha_context *again = ha_context_adopt(device, second);
    assert_int_equal(device->adoptions, adoptions); /* in the place of one that has ended */
    assert_ptr_equal(ha_context_stream(again), second);
    HA_WRITING(v, x, again) enqueue_by_hand(second, &v, 1);
    else fail();
    assert_non_null(((example_queue *)second)->first);
    assert_true(sum_at(x, H) == 30); /* waits for the new one */
    SUCCEEDS(ha_context_unfork(again));
    private_destroy(second);
    drop(x);
}

typedef struct giver {
    ha_context *context;
    atomic_int waits, returned;
    ha_status status;
} giver;

static void *give_back_main(void *argument) {
    giver *g = (giver *)argument;
    turns_of_waiting = &g->waits;
    g->status = ha_context_unfork(g->context);
    atomic_store(&g->returned, 1);
    return NULL;
}

/* A thread that found work on the queue is about to ask it; another one comes too late. */
TEST(giving_back_under_a_guest) {
    ha_context *device = private_context();
    void *queue = own_queue(device);
    giver g = {.context = ha_context_adopt(device, queue), .status = HA_ERR_BACKEND};
    const ha_timepoint point = {g.context, UINT64_MAX - 1};
    pthread_t thread;
    assert_true(ha_context_pin(g.context));
    assert_int_equal(pthread_create(&thread, NULL, give_back_main, &g), 0);
    while (!atomic_load(&g.waits) && !atomic_load(&g.returned)) sched_yield();
    assert_false(atomic_load(&g.returned));
    ha_context_unpin(g.context);
    pthread_join(thread, NULL);
    assert_int_equal(g.status, HA_OK);
    private_destroy(queue);
    assert_int_equal(ha_wait_for(point), HA_OK); /* asks no queue any more */
    assert_int_equal(ha_await(device, point), HA_OK);
    ha_drain(point);
}

/* Who is too late to pin it has let go of the lock, and before it goes on the next queue has the
 * context: what is then done on that has not passed. */
static struct {
    void *queue;
    ha_context *context;
} next_one;

static void adopt_the_next_one(void) {
    next_one.context = ha_context_adopt(private_context(), next_one.queue);
}

TEST(too_late_for_the_queue_before) {
    ha_context *device = private_context();
    void *first = own_queue(device), *second = own_queue(device);
    ha_context *mine = ha_context_adopt(device, first);
    harray_double x = keep(harray_double_zeros_at(10, mine));
    HA_WRITING(v, x, mine) enqueue_by_hand(first, &v, 1);
    else fail();
    SUCCEEDS(ha_context_unfork(mine));
    private_destroy(first);
    next_one.queue = second;
    unlocking.then = adopt_the_next_one;
    unlocking.lock = &mine->lock;
    assert_int_equal(ha_context_pin(mine), 0);
    assert_ptr_equal(next_one.context, mine);
    HA_WRITING(v, x, mine) enqueue_by_hand(second, &v, 1);
    else fail();
    assert_non_null(((example_queue *)second)->first);
    assert_true(sum_at(x, H) == 20);
    SUCCEEDS(ha_context_unfork(mine));
    private_destroy(second);
    drop(x);
}

/* Two at once have two contexts, with order between them. */
TEST(adopting_two) {
    ha_context *device = private_context();
    void *queues[2] = {own_queue(device), own_queue(device)};
    ha_context *a = ha_context_adopt(device, queues[0]), *b = ha_context_adopt(a, queues[1]);
    assert_ptr_not_equal(a, b);
    harray_double x = keep(harray_double_zeros_at(10, b));
    HA_WRITING(v, x, b) enqueue_by_hand(queues[1], &v, 1);
    else fail();
    HA_WRITING(v, x, a) enqueue_by_hand(queues[0], &v, 1);
    else fail();
    SUCCEEDS(ha_context_finish(a));
    assert_null(((example_queue *)queues[1])->first); /* it was waited for */
    SUCCEEDS(ha_context_unfork(b));
    assert_true(sum_at(x, H) == 20);
    SUCCEEDS(ha_context_unfork(a));
    drop(x);
    for (int i = 0; i < 2; i++) private_destroy(queues[i]);
}

/* A transfer from the device does not go through the caller's queue, only its own accesses do. */
TEST(adopted_queues_are_left_alone) {
    ha_context *device = private_context();
    void *queue = own_queue(device);
    ha_context *mine = ha_context_adopt(device, queue);
    harray_double x = keep(harray_double_zeros_at(10, device));
    HA_WRITING(v, x, mine) enqueue_by_hand(queue, &v, 1);
    else fail();
    SUCCEEDS(ha_context_finish(mine));
    const uint64_t enqueued = ((example_queue *)queue)->enqueued;
    assert_true(sum_at(x, H) == 10);
    assert_int_equal(((example_queue *)queue)->enqueued, enqueued);
    SUCCEEDS(ha_context_unfork(mine));
    private_destroy(queue);
    drop(x);
}

/* Threads that wait for work on a queue, or look how far it is, while it is given back. */
enum { ADOPTIONS = 300 };
typedef struct onlooker {
    ha_array *array;
    atomic_int stop;
    int wrong;
} onlooker;

static void *look_on(void *argument) {
    onlooker *o = (onlooker *)argument;
    for (double last = 0; !atomic_load(&o->stop);) {
        double value = -1;
        if (ha_array_get(o->array, 0, &value) != HA_OK || value < last) o->wrong = 1;
        last = value;
    }
    return NULL;
}

TEST(giving_back_beside_other_threads) {
    ha_context *device = private_context();
    harray_double x = keep(harray_double_zeros_at(100, device));
    onlooker o = {.array = x.array};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, look_on, &o), 0);
    for (int i = 0; i < ADOPTIONS; i++) {
        void *queue = own_queue(device);
        ha_context *mine = ha_context_adopt(device, queue);
        HA_WRITING(v, x, mine) enqueue_by_hand(queue, &v, 1);
        else fail();
        drop(keep(harray_double_zeros_at(10, mine)));
        assert_int_equal(ha_context_unfork(mine), HA_OK);
        private_destroy(queue);
    }
    atomic_store(&o.stop, 1);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert_false(o.wrong);
    assert_true(sum_at(x, H) == 100.0 * ADOPTIONS);
    drop(x);
}

/* Adopted contexts that are alive go with the rest; the queue stays the caller's. */
TEST(shutting_down_with_an_adopted_queue) {
    HA_CHECK(ha_backend_register(&private_backend));
    ha_context *device = private_context();
    void *queue = own_queue(device), *other = own_queue(device);
    ha_context *mine = ha_context_adopt(device, queue), *ended = ha_context_adopt(device, other);
    harray_double x = harray_double_zeros_at(10, mine);
    HA_WRITING(v, x, mine) enqueue_by_hand(queue, &v, 1);
    else fail();
    HA_WRITING(v, x, ended) enqueue_by_hand(other, &v, 1);
    else fail();
    assert_int_equal(ha_context_unfork(ended), HA_OK);
    HA_WRITING(v, x, mine) enqueue_by_hand(queue, &v, 1);
    else fail();
    harray_double_free(&x);
    assert_int_equal(ha_shutdown(), HA_OK);
    assert_null(((example_queue *)queue)->first);
    assert_false(private_is_adopted((example_queue *)queue));
    private_destroy(queue);
    private_destroy(other);
}

/* ---- functions on a queue ------------------------------------------------------------------- */

typedef struct noted {
    int *order;
    int *next;
    int number;
} noted;

static void note_order(HA_UNUSED const ha_queue *queue, void *argument) {
    const noted *n = (const noted *)argument;
    n->order[(*n->next)++] = n->number;
}

/* In order, and with a copy of the argument as it was. */
TEST(enqueueing) {
    int order[5] = {-1, -1, -1, -1, -1}, next = 0;
    noted n = {order, &next, 0};
    for (; n.number < 5; n.number++) SUCCEEDS(ha_enqueue(C, note_order, &n, sizeof n));
    if (C == H) assert_int_equal(next, 5); /* at once */
    SUCCEEDS(ha_context_finish(C));
    assert_int_equal(next, 5);
    for (int i = 0; i < 5; i++) assert_int_equal(order[i], i);
}

static void check_large(HA_UNUSED const ha_queue *queue, void *argument) {
    unsigned char *bytes = (unsigned char *)argument;
    int *result;
    memcpy(&result, bytes, sizeof result);
    *result = bytes[sizeof result] == 7 && bytes[4999] == 9;
    bytes[4999] = 1; /* its own copy */
}

static void check_none(HA_UNUSED const ha_queue *queue, HA_UNUSED void *argument) {}

TEST(arguments_are_copied) {
    static unsigned char large[5000];
    int result = 0, *where = &result;
    memcpy(large, &where, sizeof where);
    large[sizeof where] = 7;
    large[4999] = 9;
    SUCCEEDS(ha_enqueue(C, check_large, large, sizeof large));
    assert_int_equal(large[4999], 9);
    memset(large + sizeof where, 0, sizeof large - sizeof where);
    SUCCEEDS(ha_context_finish(C));
    assert_int_equal(result, 1);

    SUCCEEDS(ha_enqueue(C, check_none, NULL, 0));
    REFUSED(HA_ERR_ARGUMENT, ha_enqueue(C, NULL, NULL, 0));
    REFUSED(HA_ERR_ARGUMENT, ha_enqueue(C, check_none, NULL, 8));
    SUCCEEDS(ha_context_finish(C));
}

typedef struct inside {
    harray_double x;
    ha_context *context;
    ha_status open, enqueue, error, run;
    int ran;
} inside;

static void call_inside(HA_UNUSED const ha_queue *queue, void *argument) {
    inside *i = *(inside **)argument;
    ha_access a;
    i->open = ha_open(&a, i->x.array, i->context, HA_READ, 0, HA_END);
    i->error = ha_take_error().status;
    i->enqueue = ha_enqueue(i->context, check_none, NULL, 0);
    (void)ha_take_error();
    double element;
    i->run = harray_double_get(i->x, 0, &element);
    (void)ha_take_error();
    i->ran = 1;
}

/* A function on a queue may not open accesses: it would wait for itself. */
TEST(no_accesses_on_queues) {
    inside i = {.x = list_at(H), .context = C}, *pointer = &i;
    SUCCEEDS(ha_enqueue(C, call_inside, &pointer, sizeof pointer));
    SUCCEEDS(ha_context_finish(C));
    assert_int_equal(i.ran, 1);
    assert_int_equal(i.open, HA_ERR_STATE);
    assert_int_equal(i.error, HA_ERR_STATE);
    assert_int_equal(i.run, HA_ERR_STATE);
    VALUES(i.x, 5, 6, 2, 3, -5); /* and afterwards all is as before */
    drop(i.x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(finding_the_host),
        CASE(best_context),
        CASE(current_context_by_scope),
        CASE(ways_out_of_scopes),
        CASE(scopes_of_nothing),
        CASE(null_contexts),
        CASE(current_context_of_each_thread),
        CASE(contexts_are_different),
        CASE(memory_is_usable_where_it_is),
        CASE(sizes_that_overflow),
        CASE(contexts_by_kind_and_number),
        CASE(names),
        CASE(bad_names),
        CASE(forks),
        CASE(forks_are_used_again),
        CASE(adopting),
        CASE(adopting_refused),
        CASE(giving_an_adopted_queue_back),
        CASE(giving_back_under_a_guest),
        CASE(too_late_for_the_queue_before),
        CASE(adopting_two),
        CASE(adopted_queues_are_left_alone),
        CASE(giving_back_beside_other_threads),
        CASE(enqueueing),
        CASE(arguments_are_copied),
        CASE(no_accesses_on_queues),
    };
    const struct CMUnitTest closed[] = {CASE(shutting_down_with_an_adopted_queue)};
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed + cmocka_run_group_tests_name("closed", closed, NULL, NULL);
}
