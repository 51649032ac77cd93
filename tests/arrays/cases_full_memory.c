/* Full memories: what nobody has a value in gives way; a block that is too short for an array that has grown
 * serves what it has; and what other threads give back meanwhile is found. */
#define _GNU_SOURCE 1
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>

static void *noted_malloc(size_t bytes);
static void noted_free(void *record);
static int noted_yield(void);
#define HARRAY_MALLOC noted_malloc
#define HARRAY_REALLOC realloc
#define HARRAY_FREE noted_free
#define sched_yield() noted_yield()

#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/bounded_memory.h"
#include "../support/threads.h"

#undef sched_yield

/* What other threads do meanwhile: when this record is given back, and when a thread waits for others. */
typedef void action(void);
static action *_Atomic meanwhile, *_Atomic waiting;
static action *const nothing;
static _Atomic(const void *) until_freed, block_record; /* the latter: of the block made last */

static void *noted_malloc(size_t bytes) {
    void *record = malloc(bytes);
    if (bytes == sizeof(ha_block)) block_record = record;
    return record;
}

static void noted_free(void *record) {
    action *run = record && record == until_freed ? meanwhile : nothing;
    if (run) meanwhile = nothing;
    if (run) run();
    free(record);
}

static int noted_yield(void) {
    action *run = waiting;
    if (run) run();
    return sched_yield();
}

/* ---- what nobody has a value in gives way ---------------------------------------------------- */

enum { LARGE = 1000 }; /* elements: of two such arrays one fits */

static void use_small_pool(void) { use_pool(LARGE * sizeof(double) * 3 / 2); }

static void drop_all(void) {
    drop_arrays();
    leave_pool();
}

static harray_double filled_at(size_t n, double value, ha_context *c) {
    harray_double x = keep(harray_double_new_at(n, c));
    HA_OVERWRITING_ALL(v, x, c) fill(&v, value);
    else fail();
    return x;
}

/* Opens x for reading, for which there is no memory. */
static void expect_no_room(harray_double x) {
    ha_read_double v;
    REFUSED(HA_ERR_MEMORY, ha_open(&v, x.array, C, HA_READ, 0, HA_END));
}

TEST(full_of_values) {
    use_small_pool();
    harray_double x = filled_at(LARGE, 3, C), y = filled_at(LARGE, 4, M1);
    touch(x, M1); /* so that they are elsewhere, too */
    expect_no_room(y);
    assert_int_equal(CAPACITY(x, C), LARGE);
    assert_true(VALID(x, C));
    drop_all();
}

TEST(full_of_what_was_written_elsewhere) {
    use_small_pool();
    harray_double x = filled_at(LARGE, 3, C), y = filled_at(LARGE, 4, M1);
    assert_true(sum_at(x, C) == 3. * LARGE);
    touch(x, M1);
    add_at(x, M1, 2);
    assert_int_equal(CAPACITY(x, C), LARGE);
    assert_true(sum_at(y, C) == 4. * LARGE);
    assert_int_equal(CAPACITY(x, C), 0);
    add_at(y, M1, 2);
    assert_true(sum_at(x, C) == 5. * LARGE);
    assert_int_equal(CAPACITY(y, C), 0);
    assert_true(sum_at(y, M1) == 6. * LARGE);
    drop_all();
}

/* Two blocks that two queues still read, on a simulated device until they may go on: they keep their values
 * until they have, and are both waited for. */
TEST(full_of_what_is_still_read) {
    enum { HALF = LARGE * 6 / 10 };
    use_small_pool();
    ha_context *reader[2] = {ha_context_fork(C), C};
    harray_double x[2] = {filled_at(HALF, 3, C), filled_at(HALF, 5, C)};
    harray_double y = filled_at(LARGE, 4, M1);
    double sum[2] = {0, 0};
    const int held = strncmp(row->c, "sim:", 4) == 0;
    int waits[2] = {1, 1};
    opener o;
    for (int i = 0; i < 2; i++) touch(x[i], M1);
    SUCCEEDS(ha_context_finish(M1));
    for (int i = 0; i < 2; i++) {
        if (held) SUCCEEDS(ha_sim_hold(reader[i]));
        HA_READING(v, x[i], reader[i]) start_sum(&v, &sum[i]);
        else fail();
        HA_OVERWRITING_ALL(v, x[i], M1) fill(&v, 1);
        else fail();
    }
    start_open(&o, y.array, C, HA_READ, 0, HA_END);
    for (int i = 0; held && i < 2; i++) {
        until_quiet();
        waits[i] = !has_opened(&o);
        HA_CHECK(ha_sim_step(reader[i], -1));
    }
    assert_int_equal(wait_opened(&o), HA_OK);
    assert_true(waits[0] && waits[1]);
    finish(&o);
    assert_true(sum_at(y, C) == 4. * LARGE);
    assert_true(sum[0] == 3. * HALF && sum[1] == 5. * HALF);
    assert_int_equal(CAPACITY(x[0], C) + CAPACITY(x[1], C), 0);
    SUCCEEDS(ha_context_unfork(reader[0]));
    drop_all();
}

TEST(full_of_what_is_open) {
    use_small_pool();
    harray_double x = keep(harray_double_new_at(LARGE, C)), y = filled_at(LARGE, 4, M1);
    HA_OVERWRITING_ALL(v, x, C) {
        expect_no_room(y);
        fill(&v, 2);
    }
    else fail();
    assert_true(sum_at(x, C) == 2. * LARGE);
    drop_all();
}

TEST(full_of_what_is_open_without_a_value) {
    use_small_pool();
    harray_double x = filled_at(LARGE, 3, C), y = filled_at(LARGE, 4, M1);
    SUCCEEDS(ha_array_clear(x.array));
    HA_OVERWRITING(v, x, C, 0) expect_no_room(y);
    else fail();
    assert_int_equal(CAPACITY(x, C), LARGE);
    assert_true(sum_at(y, C) == 4. * LARGE);
    assert_int_equal(CAPACITY(x, C), 0);
    drop_all();
}

/* Memory that was asked for ahead is kept. */
TEST(full_of_what_was_reserved) {
    use_small_pool();
    harray_double x = keep(harray_double_new_at(0, C)), y = filled_at(LARGE / 4, 4, M1);
    SUCCEEDS(ha_array_reserve(x.array, C, LARGE));
    assert_true(sum_at(y, C) == 4. * LARGE / 4);
    expect_no_room(filled_at(LARGE, 2, M1));
    assert_int_equal(CAPACITY(x, C), LARGE);
    drop_all();
}

/* While values are on their way into a block, it is its array's, though they do not count as valid yet. */
static harray_double in_between;
static const ha_queue_ops *usual;

static ha_status copy_and_look(void *queue, void *to, const void *from, size_t bytes) {
    ha_context *c = C;
    ha_read_double v;
    c->ops = usual;
    assert_int_equal(ha_open(&v, in_between.array, c, HA_READ, 0, HA_END), HA_ERR_MEMORY);
    assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
    return usual->copy(queue, to, from, bytes);
}

TEST(full_of_what_arrives) {
    use_small_pool();
    if (!C->ops) skip(); /* the host's */
    harray_double x = filled_at(LARGE, 3, H);
    in_between = filled_at(LARGE, 4, H);
    ha_queue_ops watched = *C->ops;
    usual = C->ops;
    watched.copy = copy_and_look;
    C->ops = &watched;
    SUCCEEDS(ha_array_prefetch(x.array, C, 0, HA_END));
    assert_ptr_equal(C->ops, usual);
    assert_true(sum_at(x, C) == 3. * LARGE);
    drop_all();
}

/* ---- blocks that are too short for an array that has grown ------------------------------------- */

enum { GROWN = 2 * LARGE };

/* Its block at C has the first half of it, which is 3; there is no memory for a longer one. */
static harray_double grown(void) {
    harray_double x = filled_at(LARGE, 3, C);
    SUCCEEDS(ha_context_finish(C));
    pool.most = pool.used + LARGE * sizeof(double);
    SUCCEEDS(harray_double_resize(x, GROWN));
    return x;
}

static void give_room(void) { pool.most = SIZE_MAX; }

static void expect_sum(harray_double x, size_t first, size_t last, double sum) {
    assert_true(sum_range(x, C, first, last) == sum);
}

TEST(short_block_serves_what_it_has) {
    ha_access v;
    double value;
    use_small_pool();
    harray_double x = grown();
    expect_sum(x, 0, LARGE, 3. * LARGE);
    SUCCEEDS(harray_double_get(x, LARGE - 1, &value));
    assert_true(value == 3);
    SUCCEEDS(ha_array_prefetch(x.array, C, 5, LARGE));
    HA_WRITING_RANGE(w, x, M1, 0, 10) fill(&w, 5);
    else fail();
    expect_sum(x, 0, LARGE, 3. * LARGE + 20);
    HA_OVERWRITING_RANGE(w, x, C, 10, 20) fill(&w, 7);
    else fail();
    expect_sum(x, 0, LARGE, 3. * LARGE + 20 + 40);
    assert_int_equal(CAPACITY(x, C), LARGE);
    const snapshot before = snapshot_of(x);
    REFUSED(HA_ERR_MEMORY, ha_open(&v, x.array, C, HA_WRITE, LARGE - 1, LARGE + 1));
    REFUSED(HA_ERR_MEMORY, ha_overwrite(&v, x.array, C, GROWN, HA_WAIT));
    REFUSED(HA_ERR_MEMORY, ha_array_prefetch(x.array, C, 0, HA_END));
    expect_unchanged(x, &before);
    give_room();
    expect_sum(x, 0, LARGE, 3. * LARGE + 20 + 40);
    assert_int_equal(CAPACITY(x, C), GROWN);
    drop_all();
}

/* What this thread uses there does not move; what lies in the block is served. */
TEST(short_block_stays_under_its_own_accesses) {
    ha_access w;
    ha_error error;
    ha_token token = {0};
    use_small_pool();
    harray_double x = grown();
    HA_READING_RANGE(v, x, C, 0, 10) {
        give_room();
        assert_int_equal(ha_open(&w, x.array, C, HA_OVERWRITE, LARGE, LARGE + 1), HA_ERR_CONFLICT);
        error = ha_take_error();
        assert_int_equal(error.status, HA_ERR_CONFLICT);
        assert_non_null(strstr(error.text, "has no room for all elements since it has grown"));
        assert_non_null(strstr(error.text, "open all of it before"));
        REFUSED(HA_ERR_CONFLICT, ha_overwrite(&w, x.array, C, GROWN, HA_WAIT));
        REFUSED(HA_ERR_CONFLICT, ha_array_prefetch(x.array, C, 0, HA_END));
        ha_access part;
        ha_request all[] = {
            {.access = &part, .array = x.array, .context = C, .how = HA_READ, .last = 10},
            {.access = &w, .array = x.array, .context = C, .how = HA_READ, .last = HA_END},
        };
        assert_int_equal(ha_open_many(all, 2), HA_ERR_CONFLICT);
        assert_non_null(strstr(ha_take_error().text, "has no room for all elements"));
        SUCCEEDS(ha_open(&w, x.array, C, HA_WRITE, 5, LARGE));
        assert_ptr_equal(w.data, v.data + 5);
        SUCCEEDS(ha_close(&w));
        HA_READING_RANGE(empty, x, C, LARGE + 5, LARGE + 5) assert_int_equal(empty.size, 0);
        else fail();
        SUCCEEDS(ha_array_prefetch(x.array, C, 20, 30));
        assert_int_equal(CAPACITY(x, C), LARGE);
    }
    else fail();
    pool.most = pool.used;
    SUCCEEDS(ha_open(&w, x.array, C, HA_READ, 0, 10));
    SUCCEEDS(ha_detach(&token, &w));
    give_room();
    REFUSED(HA_ERR_CONFLICT, ha_open(&w, x.array, C, HA_OVERWRITE, LARGE, LARGE + 1));
    SUCCEEDS(ha_token_finish(&token));
    SUCCEEDS(ha_open(&w, x.array, C, HA_OVERWRITE, LARGE, LARGE + 1));
    SUCCEEDS(ha_close(&w));
    assert_int_equal(CAPACITY(x, C), GROWN);
    expect_sum(x, 0, LARGE, 3. * LARGE);
    drop_all();
}

/* For other threads' accesses it is waited; who comes later waits behind that. */
TEST(short_block_stays_under_accesses_of_others) {
    ha_access w;
    opener reader, longer;
    use_small_pool();
    harray_double x = grown();
    start_open(&reader, x.array, C, HA_READ, 0, 10);
    assert_int_equal(wait_opened(&reader), HA_OK);
    give_room();
    REFUSED(HA_ERR_BUSY, ha_open(&w, x.array, C, HA_OVERWRITE | HA_TRY, LARGE, GROWN));
    REFUSED(HA_ERR_BUSY, ha_array_prefetch(x.array, C, 0, HA_END));
    SUCCEEDS(ha_open(&w, x.array, C, HA_READ | HA_TRY, 5, LARGE));
    SUCCEEDS(ha_close(&w));
    const uint64_t sleeps = ha_test_sleeps_();
    start_open(&longer, x.array, C, HA_OVERWRITE, LARGE, GROWN);
    until_asleep(sleeps + 1);
    assert_false(has_opened(&longer));
    REFUSED(HA_ERR_BUSY, ha_open(&w, x.array, C, HA_READ | HA_TRY, 5, 20));
    assert_int_equal(CAPACITY(x, C), LARGE);
    finish(&reader);
    assert_int_equal(wait_opened(&longer), HA_OK);
    finish(&longer);
    assert_int_equal(CAPACITY(x, C), GROWN);
    expect_sum(x, 0, LARGE, 3. * LARGE);
    drop_all();
}

/* Each of two threads reads one array, and wants more of the other one. */
typedef struct crossing {
    harray_double x, y;
    atomic_int reads_y;
    ha_status status;
} crossing;

static void *read_y_widen_x(void *argument) {
    crossing *c = (crossing *)argument;
    HA_READING_RANGE(v, c->y, C, 0, 10) {
        ha_access w;
        atomic_store(&c->reads_y, 1);
        c->status = ha_open(&w, c->x.array, C, HA_OVERWRITE, LARGE, LARGE + 1);
        if (c->status == HA_OK) HA_IGNORE(ha_close(&w));
    }
    return NULL;
}

TEST(short_blocks_in_a_circle) {
    ha_access w;
    pthread_t thread;
    use_pool(SIZE_MAX);
    crossing c = {.x = grown(), .y = grown()};
    pool.most = pool.used;
    HA_READING_RANGE(v, c.x, C, 0, 10) {
        const uint64_t sleeps = ha_test_sleeps_();
        assert_int_equal(pthread_create(&thread, NULL, read_y_widen_x, &c), 0);
        while (!atomic_load(&c.reads_y)) sched_yield();
        until_asleep(sleeps + 1);
        REFUSED(HA_ERR_DEADLOCK, ha_open(&w, c.y.array, C, HA_OVERWRITE, LARGE, LARGE + 1));
        give_room();
    }
    else fail();
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(c.status, HA_OK);
    drop_all();
}

/* What is opened together has one block, at whichever try there is memory for a longer one. */
TEST(short_block_for_many) {
    for (pool.failures = 0; pool.failures < 12; pool.failures++) {
        const size_t failures = pool.failures;
        ha_access part[2];
        use_small_pool();
        harray_double x = grown();
        give_room();
        pool.failures = failures;
        ha_request requests[] = {
            {.access = &part[0], .array = x.array, .context = C, .how = HA_READ, .last = 10},
            {.access = &part[1],
             .array = x.array,
             .context = C,
             .how = HA_OVERWRITE,
             .sets_size = 1,
             .n = GROWN},
        };
        if (ha_open_many(requests, 2))
            assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
        else {
            assert_ptr_equal(part[0].data, part[1].data);
            for (size_t i = 0; i < 2; i++) SUCCEEDS(ha_close(&part[i]));
        }
        pool.failures = 0;
        drop_all();
        pool.failures = failures;
    }
}

/* What passes through the host goes past a short block that is in use there. */
TEST(short_block_on_the_host_is_passed_by) {
    if (C == H || shares_memory(C)) skip();
    pool_of = H;
    pool = (bounded){.most = SIZE_MAX};
    SUCCEEDS(ha_memory_set_allocator(H, &bounded_allocator));
    harray_double x = filled_at(LARGE, 3, H);
    touch(x, M1);
    SUCCEEDS(ha_context_finish(M1));
    SUCCEEDS(harray_double_resize(x, GROWN));
    pool.most = pool.used;
    HA_READING_RANGE(v, x, H, 0, 10) {
        pool.most = SIZE_MAX;
        HA_OVERWRITING_RANGE(w, x, M1, LARGE, GROWN) fill(&w, 4);
        else fail();
        expect_sum(x, LARGE, GROWN, 4. * LARGE);
        assert_int_equal(CAPACITY(x, H), LARGE);
        HA_READING_RANGE(again, x, H, 0, 10) assert_ptr_equal(again.data, v.data);
        else fail();
        assert_true(v.data[9] == 3);
    }
    else fail();
    drop_arrays();
    SUCCEEDS(ha_context_finish(C));
    SUCCEEDS(ha_context_finish(M1));
    SUCCEEDS(ha_memory_set_allocator(H, NULL));
    pool_of = NULL;
}

/* ---- what other threads give back meanwhile --------------------------------------------------- */

enum { MEDIUM = LARGE * 6 / 10 }; /* two of these fit */

/* Another thread, which reads an array when the memory is full. It has one open, so it does not stand in line. */
static struct {
    harray_double held, x;
    pthread_t thread;
    ha_status status;
    atomic_int waits, ended;
} other;

static _Thread_local int is_other;

static void note_waiting(void) {
    if (is_other) atomic_store(&other.waits, 1);
}

static void *read_other(HA_UNUSED void *argument) {
    ha_access a;
    HA_READING(held, other.held, H) {
        is_other = 1;
        other.status = ha_open(&a, other.x.array, C, HA_READ, 0, HA_END);
        if (!other.status) HA_CHECK(ha_close(&a));
    }
    (void)ha_take_error();
    atomic_store(&other.ended, 1);
    return NULL;
}

static void begin_other(void) {
    atomic_store(&other.waits, 0);
    atomic_store(&other.ended, 0);
    assert_int_equal(pthread_create(&other.thread, NULL, read_other, NULL), 0);
    while (!atomic_load(&other.waits) && !atomic_load(&other.ended)) sched_yield();
}

/* An array without a value at C, of whose block two queues have read so much that it has a list. */
static harray_double unused_with_list(void) {
    ha_context *reader[2] = {C, ha_context_fork(C)};
    harray_double x = filled_at(LARGE, 3, C);
    touch(x, M1);
    for (size_t i = 0; i < 8; i++)
        HA_READING_RANGE(v, x, reader[i % 2], 10 * i, 10 * i + 5) assert_int_equal(v.size, 5);
    else fail();
    add_at(x, M1, 2);
    for (size_t i = 0; i < 2; i++) SUCCEEDS(ha_context_finish(reader[i]));
    SUCCEEDS(ha_context_finish(M1));
    SUCCEEDS(ha_context_unfork(reader[1]));
    return x;
}

/* A thread has taken an unused block, and not yet given it back, when another one finds the memory full. */
TEST(full_of_what_another_thread_gives_back) {
    use_small_pool();
    if (!C->ops) skip(); /* no queue reads the host's */
    harray_double x = unused_with_list(), y = filled_at(MEDIUM, 4, M1);
    other.held = keep(harray_double_zeros(1));
    other.x = filled_at(MEDIUM, 5, M1);
    other.status = HA_ERR_STATE;
    until_freed = ha_incarnation_find(x.array, C->memory)->ops.heap;
    assert_non_null(until_freed);
    meanwhile = begin_other;
    waiting = note_waiting;
    touch(y, C);
    assert_null(meanwhile);
    assert_int_equal(pthread_join(other.thread, NULL), 0);
    waiting = nothing;
    until_freed = NULL;
    assert_int_equal(other.status, HA_OK);
    assert_int_equal(CAPACITY(x, C), 0);
    drop_all();
}

static ha_array *freed_meanwhile;

static void free_it(void) { assert_int_equal(ha_array_free(freed_meanwhile), HA_OK); }

static void expect_block_refused(void) {
    until_freed = block_record;
    meanwhile = free_it;
    pool.refused = NULL;
}

/* The memory was full when it was asked, and before unused blocks are looked for, a block comes back. */
TEST(full_until_another_thread_frees) {
    use_small_pool();
    harray_double y = filled_at(MEDIUM, 4, M1);
    SUCCEEDS(ha_context_finish(M1));
    freed_meanwhile = harray_double_zeros_at(LARGE, C).array;
    SUCCEEDS(ha_context_finish(C));
    pool.refused = expect_block_refused;
    assert_true(sum_at(y, C) == 4. * MEDIUM);
    assert_null(meanwhile);
    until_freed = NULL;
    drop_all();
}

/* Others may go on making unused blocks: what does not fit asks only so often. */
TEST(full_for_one_who_asked_often) {
    use_small_pool();
    ha_attempt often = {.reclaims = HA_ATTEMPTS}, first = {0};
    ha_block *block;
    harray_double x = filled_at(LARGE, 3, C);
    touch(x, M1);
    add_at(x, M1, 2);
    SUCCEEDS(ha_context_finish(C));
    SUCCEEDS(ha_context_finish(M1));
    const size_t bytes = MEDIUM * sizeof(double);
    assert_int_equal(ha_block_take(HA_LIVE, C->memory, bytes, &block, &often), HA_ERR_MEMORY);
    assert_int_equal(CAPACITY(x, C), LARGE);
    assert_int_equal(ha_block_take(HA_LIVE, C->memory, bytes, &block, &first), HA_OK);
    assert_int_equal(first.reclaims, 1);
    assert_int_equal(ha_block_give(block, NULL), 0);
    drop_all();
}

/* ---- nobody else is kept from a memory in which many arrays are looked at ------------------------ */

enum { CROWD = 1000 };
static ha_array *crowd[CROWD];
static int turns;

/* Other threads have their turn: arrays are made, and freed, also what would be looked at next. */
static void use_turn(void) {
    assert_int_equal(ha_array_free(harray_double_new_at(0, C).array), HA_OK);
    if (turns++ != 1) return;
    const ha_array *next = ha_array_of_alive(C->memory->pool.walks->at);
    for (size_t i = 0; i < CROWD; i++) {
        if (i % 2 && crowd[i] != next) continue;
        assert_int_equal(ha_array_free(crowd[i]), HA_OK);
        crowd[i]->alive.next = NULL; /* nobody goes on from here */
        crowd[i] = NULL;
    }
}

/* The oldest array has what is unused, so all are looked at. */
TEST(full_with_many_arrays) {
    use_small_pool();
    harray_double x = filled_at(LARGE, 3, C), y = filled_at(MEDIUM, 4, M1);
    touch(x, M1);
    add_at(x, M1, 2);
    SUCCEEDS(ha_context_finish(C));
    SUCCEEDS(ha_context_finish(M1));
    for (size_t i = 0; i < CROWD; i++) {
        crowd[i] = harray_double_new_at(0, C).array;
        assert_non_null(crowd[i]);
    }
    turns = 0;
    waiting = use_turn;
    touch(y, C);
    waiting = nothing;
    assert_true(turns >= CROWD / 2 / HA_WALKED_AT_ONCE);
    assert_int_equal(CAPACITY(x, C), 0);
    for (size_t i = 0; i < CROWD; i++) assert_int_equal(ha_array_free(crowd[i]), HA_OK);
    drop_all();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FRESH(full_of_values),
        FRESH(full_of_what_was_written_elsewhere),
        FRESH(full_of_what_is_still_read),
        FRESH(full_of_what_is_open),
        FRESH(full_of_what_is_open_without_a_value),
        FRESH(full_of_what_was_reserved),
        FRESH(full_of_what_arrives),
        FRESH(short_block_serves_what_it_has),
        FRESH(short_block_stays_under_its_own_accesses),
        FRESH(short_block_stays_under_accesses_of_others),
        FRESH(short_blocks_in_a_circle),
        FRESH(short_block_for_many),
        FRESH(short_block_on_the_host_is_passed_by),
        FRESH(full_of_what_another_thread_gives_back),
        FRESH(full_until_another_thread_frees),
        FRESH(full_for_one_who_asked_often),
        FRESH(full_with_many_arrays),
    };
    int failed = 0;
    RUN_FRESH_ON_MATRIX(failed, tests);
    return failed;
}
