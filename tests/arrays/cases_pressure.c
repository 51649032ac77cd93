/* Memories that are too small for what a program has: arrays that nobody uses give way, and nothing is lost. The
 * numbers are those of the failures of other libraries, which are listed at the end. On the contexts of
 * support/matrix.h, each with a memory that nobody has used. */
#define _GNU_SOURCE 1
#include <stddef.h>
#include <stdlib.h>

#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/bounded_memory.h"
#include "../support/threads.h"

enum {
    N = 8192,
    BYTES = N * (int)sizeof(double)
}; /* blocks that are as small as any that give way */

/* A pool for so many arrays, and half of one. */
static void use_room_for(size_t n) {
    if (shares_memory(C)) skip();
    use_pool((2 * n + 1) * BYTES / 2);
}

static void drop_all(void) {
    for (size_t i = 0; i < MOST_ARRAYS; i++)
        if (arrays[i]) drop_array(arrays[i]);
    leave_pool();
}

static harray_double filled_at(double value, ha_context *c) {
    harray_double x = keep(harray_double_new_at(0, c));
    HA_OVERWRITING(v, x, c, N) fill(&v, value);
    else fail();
    return x;
}

static int is_there(harray_double x) { return CAPACITY(x, C) > 0; }

static uint64_t drops(void) { return ha_memory_pressure(C).evictions; }
static uint64_t written_back(void) { return ha_memory_pressure(C).written_back; }

/* Opens x for reading at C, for which there is no memory. The text of the error. */
static ha_error refused_at(harray_double x) {
    ha_read_double v;
    assert_int_equal(ha_open(&v, x.array, C, HA_READ, 0, HA_END), HA_ERR_MEMORY);
    const ha_error error = ha_take_error();
    assert_int_equal(error.status, HA_ERR_MEMORY);
    step();
    return error;
}

/* ---- what gives way -------------------------------------------------------------------------- */

TEST(more_than_fits) {
    enum { ARRAYS = 12 };
    use_room_for(3);
    harray_double x[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) x[i] = filled_at(i, C);
    for (int round = 1; round <= 3; round++)
        for (int i = 0; i < ARRAYS; i++) add_at(x[i], C, 1);
    for (int i = 0; i < ARRAYS; i++) assert_true(sum_at(x[i], C) == (i + 3.) * N);
    for (int i = 0; i < ARRAYS; i++) assert_true(sum_at(x[i], i % 2 ? H : M1) == (i + 3.) * N);
    assert_true(drops() > 3 * (ARRAYS - 4));
    assert_true(pool.used <= pool.most);
    drop_all();
}

TEST(under_the_limit_nothing_gives_way) { /* 1 */
    use_room_for(4);
    for (int round = 0; round < 3; round++) {
        harray_double x[4];
        for (int i = 0; i < 4; i++) x[i] = filled_at(i, C);
        for (int i = 0; i < 4; i++) assert_true(is_there(x[i]));
        for (int i = 0; i < 4; i++) drop(x[i]);
    }
    assert_int_equal(drops(), 0);
    drop_all();
}

TEST(copied_elsewhere_it_goes_for_nothing) {
    use_room_for(2);
    harray_double x = filled_at(3, C), y = filled_at(4, C);
    touch(x, H);
    SUCCEEDS(ha_context_finish(C));
    MOVED(x, 1, BYTES);
    harray_double z = filled_at(5, C);
    assert_false(is_there(x));
    assert_true(is_there(y) && is_there(z));
    MOVED(x, 1, BYTES);
    assert_int_equal(drops(), 1);
    assert_int_equal(written_back(), 0);
    assert_true(sum_at(x, C) == 3. * N);
    drop_all();
}

/* What is clean goes before what has to be written back and was used somewhat longer ago. */
TEST(clean_before_dirty) {
    use_room_for(2);
    harray_double dirty = filled_at(3, C), clean = filled_at(4, C);
    touch(clean, H);
    SUCCEEDS(ha_context_finish(C));
    harray_double z = filled_at(5, C);
    assert_true(is_there(dirty) && is_there(z));
    assert_false(is_there(clean));
    assert_int_equal(written_back(), 0);
    drop_all();
}

TEST(the_only_values_go_home_first) {
    use_room_for(2);
    harray_double x = filled_at(3, C), y = filled_at(4, C), z = filled_at(5, C);
    assert_false(is_there(x));
    assert_true(VALID(x, H) || VALID(x, M1));
    assert_int_equal(drops(), 1);
    assert_int_equal(written_back(), BYTES);
    MOVED(x, 1, BYTES);
    assert_true(sum_at(x, C) == 3. * N && sum_at(y, C) == 4. * N && sum_at(z, C) == 5. * N);
    drop_all();
}

/* A part is on the host already, another one at another device: nothing of these moves again. */
TEST(only_what_is_nowhere_else_is_moved) {
    use_room_for(2);
    harray_double x = filled_at(3, C), y = filled_at(4, C);
    touch(x, H);
    HA_WRITING_RANGE(v, x, C, 0, 100) add(&v, 1);
    else fail();
    touch(y, C);
    const uint64_t before = written_back();
    for (int i = 0; i < 2; i++) (void)filled_at(5, C);
    assert_false(is_there(x) || is_there(y));
    assert_int_equal(written_back() - before, 100 * sizeof(double) + BYTES);
    assert_true(sum_at(x, C) == 3. * N + 100);
    drop_all();
}

TEST(what_was_used_longest_ago_goes_first) {
    use_room_for(3);
    harray_double x[3];
    for (int i = 0; i < 3; i++) x[i] = filled_at(i, C);
    touch(x[0], C); /* on the slow way, or the fast one */
    touch(x[0], C);
    harray_double y = filled_at(7, C);
    assert_true(is_there(x[0]) && is_there(x[2]) && is_there(y));
    assert_false(is_there(x[1]));
    touch(x[2], C);
    touch(x[0], C);
    touch(x[1], C);
    assert_false(is_there(y));
    drop_all();
}

/* Arrays in which nothing was ever written. */
TEST(without_values) {
    enum { ARRAYS = 8 };
    use_room_for(2);
    for (int i = 0; i < ARRAYS; i++) (void)keep(harray_double_new_at(N, C));
    assert_int_equal(drops(), ARRAYS - 2);
    assert_int_equal(written_back(), 0);
    for (int i = 0; i < ARRAYS; i++) {
        harray_double x = harray_double_from(arrays[i]);
        HA_OVERWRITING_ALL(v, x, C) fill(&v, i);
        else fail();
    }
    for (int i = 0; i < ARRAYS; i++)
        assert_true(sum_at(harray_double_from(arrays[i]), C) == (double)i * N);
    drop_all();
}

TEST(a_larger_one_takes_the_room_of_several) {
    use_room_for(4);
    harray_double x[4], y = keep(harray_double_new_at(0, C));
    for (int i = 0; i < 4; i++) x[i] = filled_at(i, C);
    HA_OVERWRITING(v, y, C, 3 * N) fill(&v, 9);
    else fail();
    assert_true(sum_at(y, C) == 27. * N);
    for (int i = 0; i < 4; i++) assert_true(sum_at(x[i], C) == (double)i * N);
    drop_all();
}

/* ---- what never does --------------------------------------------------------------------------- */

/* Three of the caller's own arrays, of which two fit: it does not evict one for the other. (3, 12) */
TEST(not_under_an_access) {
    use_room_for(2);
    harray_double x = filled_at(3, C), y = filled_at(4, C), z = filled_at(5, C);
    HA_READING(v, x, C) {
        HA_READING(w, y, C) {
            const void *before[] = {v.data, w.data};
            const ha_error error = refused_at(z);
            assert_non_null(strstr(error.text, ha_context_name(C)));
            assert_ptr_equal(before[0], v.data);
            assert_true(is_there(x) && is_there(y));
        }
        else fail();
        assert_true(sum_at(z, C) == 5. * N);
        assert_true(is_there(x));
        assert_false(is_there(y));
    }
    else fail();
    assert_true(sum_at(x, C) == 3. * N && sum_at(y, C) == 4. * N);
    drop_all();
}

/* The copy may fail: so it is valid there until it has arrived. (9) */
TEST(not_before_it_has_arrived) {
    opener o;
    if (strncmp(row->c, "sim:", 4) != 0) skip(); /* a device that can be held */
    use_room_for(1);
    harray_double x = filled_at(3, C), y = filled_at(4, H);
    SUCCEEDS(ha_context_finish(C));
    ha_context *away = ha_arrivals_queue(C->memory); /* by which it goes */
    SUCCEEDS(ha_sim_hold(away));
    start_open(&o, y.array, C, HA_READ, 0, HA_END);
    until_quiet();
    assert_false(has_opened(&o));
    assert_true(VALID(x, C) && VALID(x, H) && is_there(x));
    HA_CHECK(ha_sim_step(away, -1));
    assert_int_equal(wait_opened(&o), HA_OK);
    finish(&o);
    assert_false(is_there(x));
    drop_all();
}

TEST(not_under_a_token) { /* 12 */
    ha_access v;
    ha_token token = {0};
    use_room_for(1);
    harray_double x = filled_at(3, C), y = filled_at(4, H);
    SUCCEEDS(ha_open(&v, x.array, C, HA_READ, 0, HA_END));
    SUCCEEDS(ha_detach(&token, &v));
    (void)refused_at(y);
    assert_true(is_there(x));
    SUCCEEDS(ha_token_finish(&token));
    assert_true(sum_at(y, C) == 4. * N);
    assert_false(is_there(x));
    drop_all();
}

/* A block that a queue still reads is not used again before it has. (5) */
TEST(not_under_a_queue) {
    use_room_for(1);
    harray_double x = filled_at(3, C), y = filled_at(4, H);
    double sum = 0;
    ha_context *reader = ha_context_fork(C);
    touch(x, H);
    HA_READING(v, x, reader) start_sum(&v, &sum);
    else fail();
    HA_OVERWRITING_ALL(v, y, C) fill(&v, 1e9);
    else fail();
    SUCCEEDS(ha_context_finish(reader));
    assert_true(sum == 3. * N);
    SUCCEEDS(ha_context_unfork(reader));
    drop_all();
}

/* What can never fit is refused at once: nothing has moved. (11) */
TEST(larger_than_all) {
    use_room_for(2);
    harray_double x = filled_at(3, C), y = keep(harray_double_new_at(0, H));
    HA_OVERWRITING(v, y, H, 3 * N) assert_int_equal(v.size, 3 * N);
    else fail();
    const ha_error error = refused_at(y);
    assert_non_null(strstr(error.text, "no memory there"));
    assert_true(sum_at(x, C) == 3. * N);
    drop_all();
}

/* ---- budgets ------------------------------------------------------------------------------------ */

/* Blocks of the size that the tests' arrays have: so many, and half of one. */
static void budget_for(size_t n) {
    if (shares_memory(C)) skip();
    SUCCEEDS(ha_memory_set_budget(C, (2 * n + 1) * BYTES / 2));
}

static void drop_all_of_budget(void) {
    assert_true(ha_context_memory(C).high_water >= ha_context_memory(C).handed_out);
    for (size_t i = 0; i < MOST_ARRAYS; i++)
        if (arrays[i]) drop_array(arrays[i]);
    SUCCEEDS(ha_memory_set_budget(C, 0));
}

/* As with a device that has no more. (10: all that is handed out counts, and adds up.) */
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
        assert_non_null(strstr(error.text, "cases_pressure.c"));
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
        assert_non_null(strstr(list[1].site, "cases_pressure.c"));
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
    for (size_t i = 0; i < MOST_ARRAYS; i++)
        if (arrays[i]) drop_array(arrays[i]);
}

/* ---- several at once, and several threads --------------------------------------------------------- */

/* What can never be there at once is refused before anything has moved. (11, 13) */
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

/* ---- hints ---------------------------------------------------------------------------------------- */

TEST(done_goes_first) {
    budget_for(3);
    harray_double x[3];
    for (int i = 0; i < 3; i++) x[i] = filled_at(i, C);
    touch(x[0], H);
    SUCCEEDS(ha_context_finish(C));
    ha_array_done(x[2].array, C);
    ha_array_done(x[2].array, M1); /* it has nothing there */
    ha_array_done(NULL, C);
    harray_double y = filled_at(7, C);
    assert_true(is_there(x[0]) && is_there(x[1]) && !is_there(x[2])); /* though x[0] is clean */
    ha_array_done(x[1].array, C);
    touch(x[1], C); /* needed again */
    harray_double z = filled_at(8, C);
    assert_true(is_there(x[1]) && is_there(z));
    for (int i = 0; i < 3; i++) assert_true(sum_at(x[i], C) == (double)i * N);
    assert_true(sum_at(y, C) == 7. * N);
    drop_all_of_budget();
}

TEST(what_was_done_first_goes_first) {
    budget_for(3);
    harray_double x[3];
    for (int i = 0; i < 3; i++) x[i] = filled_at(i, C);
    ha_array_done(x[2].array, C);
    ha_array_done(x[0].array, C);
    ha_array_done(x[1].array, C);
    ha_array_done(x[0].array, C); /* once more: it is the last one now */
    for (int gone = 2; gone > 0; gone--) {
        (void)filled_at(7, C);
        for (int i = 0; i < 3; i++) assert_int_equal(is_there(x[i]), i < gone);
    }
    /* The last of them goes by name, and its block back: then others are done with. */
    SUCCEEDS(ha_array_evict(x[0].array, C));
    (void)ha_memory_trim(C, 0);
    harray_double y = filled_at(8, C);
    ha_array_done(y.array, C);
    (void)filled_at(9, C);
    assert_false(is_there(y));
    assert_true(sum_at(x[0], C) == 0 && sum_at(x[1], C) == 1. * N && sum_at(x[2], C) == 2. * N);
    drop_all_of_budget();
}

TEST(priorities) {
    budget_for(3);
    harray_double x[3];
    for (int i = 0; i < 3; i++) x[i] = filled_at(i, C);
    SUCCEEDS(ha_array_set_priority(x[0].array, HA_KEEP));
    SUCCEEDS(ha_array_set_priority(x[1].array, 2));
    harray_double y = filled_at(7, C);
    assert_true(is_there(x[0]) && is_there(x[1]) && !is_there(x[2]));
    SUCCEEDS(ha_array_set_priority(y.array, 2));
    harray_double z = filled_at(8, C);
    assert_true(is_there(x[0]) && !is_there(x[1]) && is_there(y));
    SUCCEEDS(ha_array_set_priority(y.array, HA_KEEP));
    SUCCEEDS(ha_array_set_priority(z.array, HA_KEEP));
    (void)refused_at(x[1]);
    SUCCEEDS(ha_array_evict(x[0].array, C));
    assert_true(sum_at(x[1], C) == 1. * N);
    REFUSED(HA_ERR_ARGUMENT, ha_array_set_priority(y.array, 3));
    REFUSED(HA_ERR_ARGUMENT, ha_array_set_priority(y.array, -3));
    REFUSED(HA_ERR_ARGUMENT, ha_array_set_priority(NULL, 0));
    drop_all_of_budget();
}

/* What is asked for ahead brings nothing home. */
TEST(prefetch_takes_what_is_free) {
    budget_for(2);
    harray_double x = filled_at(3, C), y = filled_at(4, C), z = filled_at(5, H);
    SUCCEEDS(ha_array_prefetch(z.array, C, 0, HA_END));
    assert_true(is_there(x) && is_there(y) && !is_there(z));
    touch(y, H);
    SUCCEEDS(ha_context_finish(C));
    SUCCEEDS(ha_array_prefetch(z.array, C, 0, HA_END));
    assert_true(is_there(x) && !is_there(y) && VALID(z, C));
    assert_int_equal(written_back(), 0);
    drop_all_of_budget();
}

/* Nothing that came ahead goes for what is to come ahead, until it was used; nor for anything else while there is
 * another one. */
TEST(what_came_ahead_is_used_first) {
    budget_for(2);
    harray_double used = filled_at(2, C), x = filled_at(3, H), y = filled_at(4, H),
                  z = filled_at(5, H);
    SUCCEEDS(ha_array_prefetch(x.array, C, 0, HA_END));
    ha_array_done(used.array, C);
    touch(used, H);
    SUCCEEDS(ha_context_finish(C));
    SUCCEEDS(ha_array_prefetch(y.array, C, 0, HA_END));
    assert_true(is_there(x) && is_there(y) && !is_there(used));
    SUCCEEDS(ha_context_finish(C));
    SUCCEEDS(ha_array_prefetch(z.array, C, 0, HA_END));
    assert_true(is_there(x) && is_there(y) && !is_there(z));
    add_at(x, C, 1);
    (void)filled_at(6, C);
    assert_true(is_there(y) && !is_there(x)); /* though that had to be written back */
    assert_true(sum_at(y, C) == 4. * N && sum_at(x, C) == 4. * N);
    drop_all_of_budget();
}

/* ---- seeing it ------------------------------------------------------------------------------------ */

typedef struct seen {
    unsigned evicted, sent, restored, waited;
    uint64_t bytes, restored_bytes;
    ha_status status;
} seen;

static void see(const ha_event_info *e, void *user) {
    seen *s = (seen *)user;
    if (e->kind == HA_EVENT_EVICT) {
        s->evicted++;
        s->sent += (unsigned)e->writes;
        s->bytes += e->bytes;
        assert_string_equal(e->array, "it");
        assert_int_equal(e->range.last, N);
        assert_int_equal(ha_memory_budget(C), 3 * BYTES / 2); /* nothing is locked */
    } else if (e->kind == HA_EVENT_RESTORE) {
        s->restored++;
        s->restored_bytes += e->bytes;
    } else if (e->kind == HA_EVENT_PRESSURE) {
        assert_non_null(strstr(e->site, "threads.h"));
        s->waited++;
        s->status = e->status;
    }
}

TEST(events) {
    seen s = {.status = HA_ERR_BACKEND};
    budget_for(1);
    harray_double x = filled_at(3, C), y = keep(harray_double_zeros_at(N, H));
    ha_array_set_name(x.array, "it");
    ha_set_event_handler(see, &s);
    touch(y, C);
    assert_int_equal(s.evicted, 1);
    assert_int_equal(s.sent, 1);
    assert_int_equal(s.bytes, BYTES);
    assert_int_equal(s.restored, 0);
    ha_array_set_name(y.array, "it");
    touch(x, C);
    assert_int_equal(s.evicted, 2);
    assert_int_equal(s.sent, 1); /* y is on the host, too */
    assert_int_equal(s.restored, 1);
    assert_int_equal(s.restored_bytes, BYTES);
    ha_set_event_handler(NULL, NULL);
    const ha_pressure p = ha_memory_pressure(C);
    assert_int_equal(p.budget, 3 * BYTES / 2);
    assert_int_equal(p.evictions, 2);
    assert_int_equal(p.evicted, 2 * BYTES);
    assert_int_equal(p.written_back, BYTES);
    assert_int_equal(p.restored, BYTES);
    assert_int_equal(p.resident, 1);
    assert_int_equal(p.turns + p.refusals, 0);
    drop_all_of_budget();
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

static void expect_in_report(void (*report)(FILE *), const char *const *texts, int n) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    assert_non_null(file);
    report(file);
    assert_int_equal(fclose(file), 0);
    for (int i = 0; i < n; i++)
        if (!strstr(text, texts[i])) fail_msg("no \"%s\" in %s", texts[i], text);
    free(text);
}

TEST(report) {
    static const char *const table[] = {"gave way", "written back", "96.0 KiB", "64.0 KiB in 1"};
    static const char *const json[] = {"\"budget\": 98304",  "\"evictions\": 1",
                                       "\"evicted\": 65536", "\"written_back\": 65536",
                                       "\"turns\": 0",       "\"refusals\": 0"};
    budget_for(1);
    harray_double x = filled_at(3, C), y = filled_at(4, C);
    assert_true(!is_there(x) && is_there(y));
    expect_in_report(ha_report, table, 4);
    expect_in_report(ha_report_json, json, 6);
    drop_all_of_budget();
}

/* ---- a device that says how much it has ---------------------------------------------------------- */

TEST(larger_than_the_device) {
    enum { ARRAYS = 9 };
    ha_write_double v;
    HA_CHECK(ha_shutdown());
    HA_CHECK(ha_sim_configure(&(ha_sim_options){.capacity = 4 * BYTES}));
    ha_context *sim = require_context("sim:0");
    harray_double x[ARRAYS], y = harray_double_new(5 * N);
    for (int i = 0; i < ARRAYS; i++) x[i] = harray_double_filled_at(N, i, sim);
    const uint64_t before = ha_memory_pressure(sim).evictions;
    assert_int_equal(before, ARRAYS - 4);
    assert_int_equal(ha_open(&v, y.array, sim, HA_OVERWRITE, 0, HA_END), HA_ERR_MEMORY);
    const ha_error error = ha_take_error();
    assert_non_null(strstr(error.text, "of 262144 are in use"));
    assert_int_equal(ha_memory_pressure(sim).evictions, before);
    for (int i = 0; i < ARRAYS; i++) assert_true(sum_at(x[i], sim) == (double)i * N);
    for (int i = 0; i < ARRAYS; i++) HA_CHECK(harray_double_free(&x[i]));
    HA_CHECK(harray_double_free(&y));
    HA_CHECK(ha_shutdown());
    HA_CHECK(ha_sim_configure(NULL));
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

/* ---- at random ------------------------------------------------------------------------------------ */

enum { MODELS = 12, PARTS = 16, OPERATIONS = 400 };

static uint32_t random_state;

static size_t pick(size_t n) {
    random_state = random_state * 1664525u + 1013904223u;
    return (size_t)(((uint64_t)random_state * n) >> 32);
}

/* The value of each part of each array. */
static double model[MODELS][PARTS];

static void write_parts(size_t i, ha_context *c) {
    const size_t first = pick(PARTS), last = first + 1 + pick(PARTS - first);
    const double value = (double)pick(1000);
    const unsigned how = pick(2) ? HA_WRITE : HA_OVERWRITE;
    ha_write_double v;
    SUCCEEDS(ha_open(&v, arrays[i], c, how, first * (N / PARTS), last * (N / PARTS)));
    fill(&v, value);
    SUCCEEDS(ha_close(&v));
    for (size_t p = first; p < last; p++) model[i][p] = value;
}

static void read_parts(size_t i, ha_context *c) {
    const size_t first = pick(PARTS), last = first + 1 + pick(PARTS - first);
    double sum = 0;
    for (size_t p = first; p < last; p++) sum += model[i][p] * (N / PARTS);
    assert_true(sum_range(harray_double_from(arrays[i]), c, first * (N / PARTS),
                          last * (N / PARTS)) == sum);
}

static void operate(void) {
    ha_context *const places[] = {C, C, C, H, M1, M2};
    const size_t i = pick(MODELS);
    ha_context *c = places[pick(6)];
    const size_t what = pick(20);
    if (what < 8)
        write_parts(i, c);
    else if (what < 15)
        read_parts(i, c);
    else if (what < 16)
        HA_IGNORE(ha_array_prefetch(arrays[i], c, 0, HA_END));
    else if (what < 17)
        SUCCEEDS(ha_memory_set_budget(C, (2 * (1 + pick(6)) + 1) * BYTES / 2));
    else if (what < 18)
        (void)ha_memory_make_room(C, pick(3 * BYTES));
    else {
        ha_array *copy = ha_array_copy(arrays[i]);
        assert_non_null(copy);
        SUCCEEDS(ha_array_swap(arrays[i], copy));
        assert_int_equal(ha_array_free(copy), HA_OK);
    }
    (void)ha_take_error();
}

/* Budgets for one to six of twelve arrays, which change on the way: every value is always somewhere. */
TEST(at_random) {
    if (shares_memory(C)) skip();
    for (random_state = 1; random_state <= 3; random_state++) {
        const uint32_t seed = random_state;
        for (size_t i = 0; i < MODELS; i++) (void)keep(harray_double_zeros_at(N, pick(2) ? C : H));
        memset(model, 0, sizeof model);
        for (int n = 0; n < OPERATIONS; n++) operate();
        for (size_t i = 0; i < MODELS; i++) read_parts(i, H);
        assert_true(drops() > 0);
        drop_all_of_budget();
        random_state = seed;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FRESH(more_than_fits),
        FRESH(under_the_limit_nothing_gives_way),
        FRESH(copied_elsewhere_it_goes_for_nothing),
        FRESH(clean_before_dirty),
        FRESH(the_only_values_go_home_first),
        FRESH(only_what_is_nowhere_else_is_moved),
        FRESH(what_was_used_longest_ago_goes_first),
        FRESH(without_values),
        FRESH(a_larger_one_takes_the_room_of_several),
        FRESH(not_under_an_access),
        FRESH(not_before_it_has_arrived),
        FRESH(not_under_a_token),
        FRESH(not_under_a_queue),
        FRESH(larger_than_all),
        FRESH(budget),
        FRESH(budget_is_lowered),
        FRESH(budget_that_cannot_be),
        FRESH(error_says_who_holds_the_memory),
        FRESH(holders_of_a_memory),
        FRESH(room_is_made),
        FRESH(budget_of_the_host),
        FRESH(too_many_at_once),
        FRESH(waits_for_others),
        FRESH(marks_end),
        FRESH(oldest_first),
        FRESH(threads_take_turns),
        FRESH(done_goes_first),
        FRESH(what_was_done_first_goes_first),
        FRESH(priorities),
        FRESH(prefetch_takes_what_is_free),
        FRESH(what_came_ahead_is_used_first),
        FRESH(events),
        FRESH(waiting_is_an_event),
        FRESH(report),
        FRESH(at_random),
    };
    const struct CMUnitTest of_environment[] = {
        cmocka_unit_test(larger_than_the_device),
        cmocka_unit_test(budgets_from_the_environment),
        cmocka_unit_test(mistakes_in_the_environment),
    };
    int failed = cmocka_run_group_tests(of_environment, NULL, NULL);
    RUN_FRESH_ON_MATRIX(failed, tests);
    return failed;
}
