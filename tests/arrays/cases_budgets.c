/* How much a memory may have: budgets, who is told to be in the way of one, and who waits until others are not. On the contexts
 * of support/matrix.h, each with a memory that nobody has used. */
#define _GNU_SOURCE 1
#include <stddef.h>
#include <stdlib.h>

#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "pressure.h"

/* ---- budgets ------------------------------------------------------------------------------------ */
/* As with a device that has no more. All that is handed out counts, and adds up. */
TEST(budget) {
    enum { ARRAYS = 9 };
    budget_for(3);
    assert_int_equal(ha_memory_budget(C), 7 * BYTES / 2);
    harray_double x[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) x[i] = filled_at(i, C);
    for (int i = 0; i < ARRAYS; i++) add_at(x[i], C, 1);
    for (int i = 0; i < ARRAYS; i++) assert_true(sum_at(x[i], C) == (i + 1.) * N);
    const ha_memory_usage u = ha_context_memory(C);
    assert_true(u.high_water <= 7 * BYTES / 2);
    assert_int_equal(u.handed_out, u.live + u.cached + u.retired + u.staging);
    drop_all_of_budget();
    assert_int_equal(ha_memory_budget(C), 0);
}

TEST(budget_is_lowered) {
    if (shares_memory(C)) skip();
    harray_double x[4];
    for (int i = 0; i < 4; i++) x[i] = filled_at(i, C);
    budget_for(2);
    assert_true(ha_context_memory(C).handed_out <= 5 * BYTES / 2);
    assert_true(!is_there(x[0]) && !is_there(x[1]) && is_there(x[2]) && is_there(x[3]));
    budget_for(5);
    for (int i = 0; i < 4; i++) assert_true(sum_at(x[i], C) == (double)i * N);
    for (int i = 0; i < 4; i++) assert_true(is_there(x[i]));
    drop_all_of_budget();
}

/* What is in use does not give way: all stays as it was, and the error says who uses it. */
TEST(budget_that_cannot_be) {
    if (shares_memory(C)) skip();
    harray_double x = filled_at(3, C), y = filled_at(4, C);
    ha_array_set_name(x.array, "held");
    HA_READING(v, x, C) {
        assert_int_equal(ha_memory_set_budget(C, BYTES / 2), HA_ERR_MEMORY);
        const ha_error error = ha_take_error();
        assert_non_null(strstr(error.text, "'held'"));
        assert_non_null(strstr(error.text, "cases_budgets.c"));
        assert_non_null(strstr(error.text, "64.0 KiB"));
        assert_int_equal(ha_memory_budget(C), 0);
        assert_true(is_there(x));
    }
    else fail();
    assert_true(sum_at(y, C) == 4. * N && sum_at(x, C) == 3. * N);
    drop_all_of_budget();
}

TEST(error_says_who_holds_the_memory) {
    budget_for(2);
    harray_double x = filled_at(3, C), y = filled_at(4, C), z = filled_at(5, H);
    ha_array_set_name(x.array, "first");
    ha_array_set_name(y.array, "second");
    HA_READING(v, x, C) HA_READING(w, y, C) {
        const ha_error error = refused_at(z);
        assert_non_null(strstr(error.text, "budget 160.0 KiB, of which 128.0 KiB are taken"));
        assert_non_null(strstr(error.text, "64.0 KiB in use by 'first' at "));
        assert_non_null(strstr(error.text, "'second'"));
    }
    drop_all_of_budget();
}

TEST(holders_of_a_memory) {
    ha_memory_holder list[2];
    ha_access a;
    ha_token token = {0};
    if (shares_memory(C)) skip();
    harray_double x = filled_at(3, C), y = keep(harray_double_zeros_at(2 * N, C));
    ha_array_set_name(x.array, "x");
    assert_int_equal(ha_memory_holders(C, NULL, 0), 0);
    SUCCEEDS(ha_open(&a, y.array, C, HA_READ, 0, HA_END));
    SUCCEEDS(ha_detach(&token, &a));
    HA_READING(v, x, C) HA_READING(w, x, C) HA_READING(u, x, H) {
        assert_int_equal(ha_memory_holders(C, NULL, 0), 2);
        assert_int_equal(ha_memory_holders(C, list, 2), 2);
        assert_int_equal(list[0].bytes, 2 * BYTES);
        assert_int_equal(list[0].tokens, 1);
        assert_int_equal(list[0].accesses, 1);
        assert_int_equal(list[1].bytes, BYTES);
        assert_int_equal(list[1].accesses, 2);
        assert_int_equal(list[1].tokens, 0);
        assert_string_equal(list[1].array, "x");
        assert_non_null(strstr(list[1].site, "cases_budgets.c"));
        assert_int_equal(ha_memory_holders(C, list, 1), 2);
        assert_int_equal(list[0].bytes, 2 * BYTES);
    }
    SUCCEEDS(ha_token_finish(&token));
    drop_all_of_budget();
}

/* For who takes memory there by other means. */
TEST(room_is_made) {
    if (shares_memory(C)) skip();
    harray_double x[4];
    for (int i = 0; i < 4; i++) x[i] = filled_at(i, C);
    HA_READING(v, x[0], C) {
        assert_int_equal(ha_memory_make_room(C, 0), 0);
        assert_int_equal(ha_memory_make_room(C, 2 * BYTES), 2 * BYTES);
        assert_true(is_there(x[0]) && !is_there(x[1]) && !is_there(x[2]) && is_there(x[3]));
        assert_int_equal(ha_memory_make_room(C, SIZE_MAX), BYTES);
        assert_int_equal(ha_context_memory(C).handed_out, BYTES);
    }
    else fail();
    for (int i = 0; i < 4; i++) assert_true(sum_at(x[i], C) == (double)i * N);
    drop_all_of_budget();
}

/* The host has nowhere to bring its values: what another memory has, too, goes. */
TEST(budget_of_the_host) {
    if (strcmp(ha_context_kind(M1), "private") != 0)
        skip();                  /* its pinned memory can be taken away: */
    private_pinned_capacity = 0; /* so the host's blocks are in its own */
    harray_double x = filled_at(3, M1), y = filled_at(4, M1);
    touch(x, H);
    SUCCEEDS(ha_context_finish(M1));
    const uint64_t out = ha_context_memory(H).handed_out;
    SUCCEEDS(ha_memory_set_budget(H, out));
    assert_true(CAPACITY(x, H) > 0);
    touch(y, H);
    assert_int_equal(CAPACITY(x, H), 0);
    harray_double z = keep(harray_double_new_at(0, H));
    HA_READING(v, y, H) {
        ha_access w;
        REFUSED(HA_ERR_MEMORY, ha_overwrite(&w, z.array, H, N, HA_WAIT));
        assert_true(CAPACITY(y, H) > 0); /* though M1 has its values, too */
    }
    else fail();
    private_pinned_capacity = EXAMPLE_CAPACITY;
    HA_IGNORE(ha_memory_set_budget(H, 0));
    assert_true(sum_at(x, H) == 3. * N && sum_at(y, H) == 4. * N);
    drop_arrays();
}

/* ---- several at once, and several threads --------------------------------------------------------- */

/* What can never be there at once is refused before anything has moved. */
TEST(too_many_at_once) {
    budget_for(2);
    harray_double x[3];
    ha_access a[3];
    ha_request all[3];
    for (int i = 0; i < 3; i++) {
        x[i] = filled_at(i, i ? C : H);
        all[i] = (ha_request){
            .access = &a[i], .array = x[i].array, .context = C, .how = HA_READ, .last = HA_END};
    }
    const uint64_t before = drops();
    assert_int_equal(ha_open_many(all, 3), HA_ERR_MEMORY);
    const ha_error error = ha_take_error();
    assert_non_null(strstr(error.text, "these 3 arrays need 192.0 KiB at "));
    assert_non_null(strstr(error.text, ", which has 160.0 KiB"));
    assert_non_null(strstr(error.text, " alone needs 64.0 KiB"));
    assert_int_equal(drops(), before);
    assert_true(is_there(x[1]) && is_there(x[2]));
    SUCCEEDS(ha_open_many(all, 2));
    SUCCEEDS(ha_close_many(all, 2));
    all[2] = all[1]; /* twice the same needs one block */
    all[2].access = &a[2];
    SUCCEEDS(ha_open_many(all, 3));
    SUCCEEDS(ha_close_many(all, 3));
    drop_all_of_budget();
}

static uint32_t waiting(void) { return __atomic_load_n(&ha_turns.waiting, __ATOMIC_ACQUIRE); }

static void until_waiting(uint32_t threads) {
    while (waiting() < threads) sched_yield();
}

/* A thread that holds nothing waits for others to close what they have there; one that tries, or holds something,
 * does not. */
TEST(waits_for_others) {
    opener holds, waits;
    ha_read_double v;
    budget_for(1);
    harray_double x = filled_at(3, H), y = filled_at(4, H), z = filled_at(5, H);
    start_open(&holds, x.array, C, HA_WRITE, 0, HA_END);
    assert_int_equal(wait_opened(&holds), HA_OK);
    REFUSED(HA_ERR_MEMORY, ha_open(&v, y.array, C, HA_READ | HA_TRY, 0, HA_END));
    HA_READING(w, z, H) REFUSED(HA_ERR_MEMORY, ha_open(&v, y.array, C, HA_READ, 0, HA_END));
    else fail();
    assert_int_equal(waiting(), 0);
    start_open(&waits, y.array, C, HA_READ, 0, HA_END);
    until_waiting(1);
    assert_false(has_opened(&waits));
    HA_WRITING(w, y, H) assert_true(w.data[0] == 4); /* it holds nothing: nobody waits for it */
    else fail();
    finish(&holds);
    assert_int_equal(wait_opened(&waits), HA_OK);
    finish(&waits);
    assert_false(is_there(x));
    drop_all_of_budget();
}

static void *make_one(void *made) {
    *(harray_double *)made = harray_double_new_at(N, C);
    return NULL;
}

static void *allocate_one(void *memory) {
    *(void **)memory = ha_memory_allocate(C, BYTES);
    return NULL;
}

/* So does who makes an array, or allocates. */
static void wait_to_get(void *(*get)(void *), void *got) {
    opener holds;
    pthread_t thread;
    harray_double x = filled_at(3, C), z = filled_at(5, H);
    start_open(&holds, x.array, C, HA_READ, 0, HA_END);
    assert_int_equal(wait_opened(&holds), HA_OK);
    HA_READING(w, z, H) {
        assert_null(harray_double_new_at(N, C).array);
        assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
        assert_null(ha_memory_allocate(C, BYTES));
        assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
    }
    else fail();
    assert_int_equal(waiting(), 0);
    assert_int_equal(pthread_create(&thread, NULL, get, got), 0);
    until_waiting(1);
    finish(&holds);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(waiting(), 0);
    assert_false(is_there(x));
    drop(x), drop(z);
}

TEST(new_arrays_wait_for_others) {
    harray_double made = {NULL};
    void *memory = NULL;
    budget_for(1);
    wait_to_get(make_one, &made);
    assert_non_null(made.array);
    SUCCEEDS(harray_double_free(&made));
    wait_to_get(allocate_one, &memory);
    assert_non_null(memory);
    SUCCEEDS(ha_memory_release(C, memory));
    drop_all_of_budget();
}

/* A memory whose blocks of some size take until they are told to come. */
static atomic_int slow_asked, slow_may_come;

static ha_status slow_allocate(void *user, size_t bytes, void **block) {
    const ha_memory *m = C->memory;
    (void)user;
    if (bytes >= 2 * BYTES && !atomic_load(&slow_asked)) {
        raise_flag(&slow_asked);
        await_flag(&slow_may_come);
    }
    return ha_memory_table(m)->allocate(m->handle, bytes, block);
}

static void slow_release(void *user, void *block, size_t bytes) {
    (void)user;
    ha_memory_table(C->memory)->release(C->memory->handle, block, bytes);
}

/* Whether the first one in the line sleeps. */
static int first_sleeps(void) {
    pthread_mutex_lock(&ha_turns.lock);
    const int sleeps = ha_turns.first && ha_turns.first->waits;
    pthread_mutex_unlock(&ha_turns.lock);
    return sleeps;
}

/* What another thread is about to have there is on no list yet: it is waited for all the same. */
TEST(waits_for_who_is_about_to_have_memory) {
    const ha_allocator slow = {slow_allocate, slow_release, NULL};
    opener takes, waits;
    if (shares_memory(C)) skip();
    atomic_store(&slow_asked, 0);
    atomic_store(&slow_may_come, 0);
    SUCCEEDS(ha_memory_set_allocator(C, &slow));
    budget_for(3);
    harray_double x = filled_at(3, C), y = keep(harray_double_zeros_at(2 * N, H)),
                  z = keep(harray_double_zeros_at(2 * N, H));
    start_open(&takes, y.array, C, HA_READ, 0, HA_END);
    await_flag(&slow_asked);
    start_open(&waits, z.array, C, HA_READ, 0, HA_END);
    while (!first_sleeps() && !has_opened(&waits)) sched_yield();
    assert_false(has_opened(&waits));
    raise_flag(&slow_may_come);
    assert_int_equal(wait_opened(&takes), HA_OK);
    finish(&takes);
    assert_int_equal(wait_opened(&waits), HA_OK);
    finish(&waits);
    assert_false(is_there(x) || is_there(y));
    assert_int_equal(waiting(), 0);
    drop_all_of_budget();
    SUCCEEDS(ha_context_finish(C)); /* what was retired comes back */
    SUCCEEDS(ha_memory_set_allocator(C, NULL));
}

/* Marks that are left when nobody waits any more end with the next opening. */
TEST(marks_end) {
    harray_double x = filled_at(3, C);
    ha_lock(x.array);
    x.array->waiters |= HA_PRESSED;
    ha_unlock(x.array);
    HA_READING(v, x, C) assert_int_equal(x.array->waiters, 0);
    else fail();
    drop(x);
}

/* What gets memory while another thread waits for it wakes that one, too, when it is closed. */
static void wake_by_what_came_later(void) {
    opener holds, comes, waits;
    harray_double x = filled_at(3, C), y = keep(harray_double_zeros_at(3 * N, H));
    start_open(&holds, x.array, C, HA_READ, 0, HA_END);
    assert_int_equal(wait_opened(&holds), HA_OK);
    start_open(&waits, y.array, C, HA_READ, 0, HA_END);
    while (!__atomic_load_n(&C->memory->pool.awaited, __ATOMIC_ACQUIRE)) sched_yield();
    harray_double z = filled_at(5, C);
    start_open(&comes, z.array, C, HA_READ, 0, HA_END);
    assert_int_equal(wait_opened(&comes), HA_OK);
    finish(&holds);
    while (is_there(x)) sched_yield(); /* until it has been tried again */
    finish(&comes);
    assert_int_equal(wait_opened(&waits), HA_OK);
    finish(&waits);
    assert_int_equal(waiting(), 0);
    assert_false(C->memory->pool.awaited); /* and nobody is told any more */
    drop(x), drop(y), drop(z);
}

TEST(wakes_when_it_came_later) {
    budget_for(3);
    for (int i = 0; i < 3; i++) wake_by_what_came_later();
    drop_all_of_budget();
}

/* Who is short of memory while others wait stands behind them; who is not passes. */
TEST(oldest_first) {
    opener holds, waits[2];
    budget_for(2);
    harray_double x = filled_at(3, C), y[2], z = filled_at(5, H);
    for (int i = 0; i < 2; i++) y[i] = keep(harray_double_zeros_at(2 * N, H));
    start_open(&holds, x.array, C, HA_READ, 0, HA_END);
    assert_int_equal(wait_opened(&holds), HA_OK);
    for (uint32_t i = 0; i < 2; i++) {
        start_open(&waits[i], y[i].array, C, HA_READ, 0, HA_END);
        until_waiting(i + 1);
    }
    touch(z, C);
    finish(&holds);
    assert_int_equal(wait_opened(&waits[0]), HA_OK);
    assert_false(has_opened(&waits[1]));
    finish(&waits[0]);
    assert_int_equal(wait_opened(&waits[1]), HA_OK);
    finish(&waits[1]);
    assert_int_equal(waiting(), 0);
    drop_all_of_budget();
}

enum { TAKERS = 4, TAKEN = 3, TURNS = 60 };
typedef struct taker {
    pthread_t thread;
    uint32_t random;
    atomic_int failures;
} taker;

static void *take_turns(void *argument) {
    taker *t = (taker *)argument;
    for (int turn = 0; turn < TURNS; turn++) {
        ha_access a[TAKEN];
        ha_request all[TAKEN];
        t->random = t->random * 1664525u + 1013904223u;
        const size_t first = t->random >> 29, step = 1 + ((t->random >> 26) & 1);
        for (size_t i = 0; i < TAKEN; i++)
            all[i] = (ha_request){.access = &a[i],
                                  .array = arrays[(first + i * step) % 8],
                                  .context = C,
                                  .how = HA_WRITE,
                                  .last = HA_END};
        if (ha_open_many(all, TAKEN)) {
            (void)ha_take_error();
            atomic_fetch_add(&t->failures, 1);
            continue;
        }
        for (size_t i = 0; i < TAKEN; i++) {
            const job j = {(double *)a[i].data, a[i].size, 1};
            if (ha_enqueue(C, add_job, &j, sizeof j)) atomic_fetch_add(&t->failures, 1);
        }
        if (ha_close_many(all, TAKEN)) atomic_fetch_add(&t->failures, 1);
    }
    return NULL;
}

/* Threads whose arrays do not fit at the same time, though each thread's do. */
TEST(threads_take_turns) {
    static taker takers[TAKERS];
    double sum = 0;
    budget_for(4);
    for (int i = 0; i < 8; i++) (void)filled_at(0, i % 2 ? C : H);
    for (int i = 0; i < TAKERS; i++) {
        takers[i].random = (uint32_t)i * 77777u;
        atomic_store(&takers[i].failures, 0);
        assert_int_equal(pthread_create(&takers[i].thread, NULL, take_turns, &takers[i]), 0);
    }
    for (int i = 0; i < TAKERS; i++) assert_int_equal(pthread_join(takers[i].thread, NULL), 0);
    for (int i = 0; i < TAKERS; i++) assert_int_equal(atomic_load(&takers[i].failures), 0);
    for (int i = 0; i < 8; i++) sum += sum_at(harray_double_from(arrays[i]), H);
    assert_true(sum == (double)TAKERS * TURNS * TAKEN * N);
    drop_all_of_budget();
}

typedef struct seen {
    unsigned waited;
    ha_status status;
} seen;

static void see(const ha_event_info *e, void *user) {
    seen *s = (seen *)user;
    if (e->kind != HA_EVENT_PRESSURE) return;
    assert_non_null(strstr(e->site, "threads.h"));
    s->waited++;
    s->status = e->status;
}

TEST(waiting_is_an_event) {
    static seen s;
    opener holds, waits;
    s = (seen){.status = HA_ERR_BACKEND};
    budget_for(1);
    harray_double x = filled_at(3, C), y = filled_at(4, H);
    ha_array_set_name(x.array, "it");
    ha_set_event_handler(see, &s);
    start_open(&holds, x.array, C, HA_READ, 0, HA_END);
    assert_int_equal(wait_opened(&holds), HA_OK);
    start_open(&waits, y.array, C, HA_READ, 0, HA_END);
    until_waiting(1);
    finish(&holds);
    assert_int_equal(wait_opened(&waits), HA_OK);
    finish(&waits);
    ha_set_event_handler(NULL, NULL);
    assert_int_equal(s.waited, 1);
    assert_int_equal(s.status, HA_OK);
    const ha_pressure p = ha_memory_pressure(C);
    assert_int_equal(p.turns, 1);
    assert_true(p.wait_ns > 0 && p.refusals > 0);
    drop_all_of_budget();
}

/* ---- HARRAY_MEMORY ------------------------------------------------------------------------------ */

TEST(budgets_from_the_environment) {
    setenv("HARRAY_MEMORY", "sim=3M, sim:1=1000,,pinned=2M ,host=1G", 1);
    HA_CHECK(ha_shutdown());
    ha_context *sim[2] = {require_context("sim:0"), require_context("sim:1")};
    assert_int_equal(ha_memory_budget(sim[0]), 3 << 20);
    assert_int_equal(ha_memory_budget(sim[1]), 1000);
    assert_int_equal(ha_memory_budget(ha_host()), 1 << 30);
    assert_int_equal(sim[0]->memory->pinned->pool.budget, 2 << 20);
    harray_double x = harray_double_zeros_at(125, sim[1]);
    assert_int_equal(ha_context_memory(sim[1]).handed_out, 1000);
    assert_null(harray_double_zeros_at(126, sim[1]).array);
    const ha_error error = ha_take_error();
    assert_int_equal(error.status, HA_ERR_MEMORY);
    assert_non_null(strstr(error.text, "budget 1000 B, of which 1000 B are taken"));
    harray_double_free(&x);
    unsetenv("HARRAY_MEMORY");
    HA_CHECK(ha_shutdown());
    assert_int_equal(ha_memory_budget(ha_host()), 0);
}

TEST(mistakes_in_the_environment) {
    static const char *const texts[][2] = {
        {"gpu:0=3M", "\"gpu:0=3M\" is no memory: write host, pinned, or a device"},
        {"host=1G, sim:=1", "\"sim:=1\" is no memory"},
        {"host", "\"host\" needs a budget: bytes, or a number with K, M or G"},
        {"host=", "\"host=\" needs a budget"},
        {"sim:0=3T", "\"sim:0=3T\" needs a budget"},
        {"sim:0=99999999999G", "needs a budget"},
        {"sim:0=-1", "needs a budget"},
        {"=1G", "\"=1G\" is no memory"},
        {"a_name_that_is_as_long_as_no_kind_of_a_device_can_ever_be=3", "is no memory"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        HA_CHECK(ha_shutdown());
        setenv("HARRAY_MEMORY", texts[i][0], 1);
        assert_null(ha_context_best());
        ha_error error = ha_take_error();
        assert_int_equal(error.status, HA_ERR_BACKEND);
        assert_non_null(strstr(error.text, "HARRAY_MEMORY: "));
        assert_non_null(strstr(error.text, texts[i][1]));
        assert_null(ha_context_get("sim", 0));
        error = ha_take_error();
        assert_int_equal(error.status, HA_ERR_BACKEND);
        assert_non_null(strstr(error.text, texts[i][1]));
        assert_null(harray_double_zeros(5).array);
        error = ha_take_error();
        assert_int_equal(error.status, HA_ERR_BACKEND);
        assert_int_equal(ha_memory_set_budget(ha_host(), 1), HA_ERR_BACKEND);
        assert_non_null(strstr(ha_take_error().text, texts[i][1]));
        assert_int_equal(ha_memory_budget(ha_host()), 0);
    }
    unsetenv("HARRAY_MEMORY");
    HA_CHECK(ha_shutdown());
}

/* ---- staging, where there is none of it in the budget --------------------------------------------- */

enum { MIB = 1 << 20 };
typedef struct large {
    char bytes[6 * MIB];
} large;
HARRAY(large);

static ha_context *one, *other;

/* The host has 16 MiB and not more, which are in use; devices pin so much. */
static harray_double use_all_of_the_host(const char *pinned) {
    setenv("HARRAY_MEMORY", pinned, 1);
    HA_CHECK(ha_shutdown());
    one = require_context("sim:0");
    other = require_context("sim:1");
    harray_double all = harray_double_zeros_at(2 * MIB, ha_host());
    SUCCEEDS(ha_memory_set_budget(ha_host(), 16 * MIB));
    return all;
}

static void leave_the_host(harray_double *all) {
    unsetenv("HARRAY_MEMORY");
    SUCCEEDS(harray_double_free(all));
    SUCCEEDS(ha_shutdown());
}

static void set_up_there(ha_array *x) {
    ha_write_double v;
    SUCCEEDS(ha_open(&v, x, one, HA_OVERWRITE, 0, HA_END));
    SUCCEEDS(ha_close(&v));
}

static ha_status reads_elsewhere(ha_array *x) {
    ha_read_double v;
    ha_status s = ha_open(&v, x, other, HA_READ, 0, HA_END);
    return s ? s : ha_close(&v);
}

/* A chunk beyond the budget counts nowhere, and is nobody else's afterwards. */
TEST(a_chunk_beyond_the_budget) {
    harray_double all = use_all_of_the_host("pinned=1");
    HA_READING(v, all, ha_host()) for (int i = 0; i < 3; i++) {
        harray_double x = harray_double_new_at(MIB / 2, one);
        set_up_there(x.array);
        SUCCEEDS(reads_elsewhere(x.array));
        assert_int_equal(ha_context_memory(ha_host()).staging, 4 * MIB);
        SUCCEEDS(ha_memory_set_budget(ha_host(), 16 * MIB));
        SUCCEEDS(ha_context_finish(other));
        (void)ha_memory_trim(ha_host(), UINT64_MAX);
        assert_int_equal(ha_context_memory(ha_host()).handed_out, 16 * MIB);
        assert_null(harray_double_zeros_at(MIB / 2, ha_host()).array);
        assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
        SUCCEEDS(harray_double_free(&x));
    }
    leave_the_host(&all);
}

/* What is kept within the budget is there for others. */
TEST(a_chunk_within_the_budget) {
    harray_double all = use_all_of_the_host("pinned=1"), x = harray_double_new_at(MIB, one);
    SUCCEEDS(ha_memory_set_budget(ha_host(), 20 * MIB));
    set_up_there(x.array);
    HA_READING(v, all, ha_host()) {
        SUCCEEDS(reads_elsewhere(x.array));
        assert_int_equal(ha_context_memory(ha_host()).staging, 4 * MIB);
        harray_double more = harray_double_zeros_at(MIB / 2, ha_host());
        assert_non_null(more.array);
        SUCCEEDS(harray_double_free(&more));
    }
    SUCCEEDS(harray_double_free(&x));
    leave_the_host(&all);
}

/* One that is too small makes way for one of an element. */
TEST(a_larger_chunk_beyond_the_budget) {
    harray_double all = use_all_of_the_host("pinned=4M"), x = harray_double_new_at(MIB, one);
    harray_large y = harray_large_new_at(1, one);
    set_up_there(x.array);
    HA_OVERWRITING(v, y, one, 1) {}
    else fail();
    HA_READING(v, all, ha_host()) {
        SUCCEEDS(reads_elsewhere(x.array));
        SUCCEEDS(ha_context_finish(other));
        SUCCEEDS(ha_context_finish(one));
        assert_int_equal(ha_context_memory(ha_host()).staging, 4 * MIB);
        HA_READING(w, y, other) {}
        else fail();
    }
    SUCCEEDS(harray_double_free(&x));
    SUCCEEDS(harray_large_free(&y));
    leave_the_host(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FRESH(budget),
        FRESH(budget_is_lowered),
        FRESH(budget_that_cannot_be),
        FRESH(error_says_who_holds_the_memory),
        FRESH(holders_of_a_memory),
        FRESH(room_is_made),
        FRESH(budget_of_the_host),
        FRESH(too_many_at_once),
        FRESH(waits_for_others),
        FRESH(new_arrays_wait_for_others),
        FRESH(waits_for_who_is_about_to_have_memory),
        FRESH(marks_end),
        FRESH(wakes_when_it_came_later),
        FRESH(oldest_first),
        FRESH(threads_take_turns),
        FRESH(waiting_is_an_event),
    };
    const struct CMUnitTest of_environment[] = {
        cmocka_unit_test(budgets_from_the_environment),
        cmocka_unit_test(mistakes_in_the_environment),
        cmocka_unit_test(a_chunk_beyond_the_budget),
        cmocka_unit_test(a_chunk_within_the_budget),
        cmocka_unit_test(a_larger_chunk_beyond_the_budget),
    };
    int failed = cmocka_run_group_tests(of_environment, NULL, NULL);
    RUN_FRESH_ON_MATRIX(failed, tests);
    return failed;
}
