/* Several threads, waiting, fairness and deadlocks. On the contexts of support/matrix.h. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"
#include "../support/threads.h"

/* ---- E. cases ------------------------------------------------------------------------------- */

TEST(readers_do_not_wait) {
    ha_context *places[] = {C, H, M1};
    harray_double x = list_at(C);
    HA_READING(v, x, C) {
        opener o[3];
        for (size_t i = 0; i < 3; i++) start_open(&o[i], x.array, places[i], HA_READ, 0, HA_END);
        for (size_t i = 0; i < 3; i++) assert_int_equal(wait_opened(&o[i]), HA_OK);
        step(); /* four readers at once */
        for (size_t i = 0; i < 3; i++) finish(&o[i]);
    }
    else fail();
    drop(x);
}

/* The waiting thread `o` gets its access only when `a` is closed. */
static void expect_wait(opener *o, ha_access *a, uint64_t sleeps) {
    until_asleep(sleeps + 1);
    assert_false(has_opened(o));
    REFUSED(HA_ERR_CONFLICT, ha_array_clear(a->array));
    SUCCEEDS(ha_close(a));
    assert_int_equal(wait_opened(o), HA_OK);
    finish(o);
}

TEST(reader_waits_for_a_writer) {
    ha_context *places[] = {C, H, M1};
    harray_double x = list_at(C);
    for (size_t i = 0; i < 3; i++) {
        const uint64_t sleeps = ha_test_sleeps_();
        ha_access a;
        opener o;
        SUCCEEDS(ha_open(&a, x.array, C, HA_READ, 0, HA_END));
        REFUSED(HA_ERR_BUSY, open_elsewhere(x.array, places[i], HA_WRITE | HA_TRY, 0, HA_END));
        start_open(&o, x.array, places[i], HA_WRITE, 0, HA_END);
        expect_wait(&o, &a, sleeps);
    }
    VALUES(x, 5, 6, 2, 3, -5);
    drop(x);
}

TEST(writer_waits_for_any_access) {
    ha_context *places[] = {C, H, M1};
    const unsigned hows[] = {HA_READ, HA_WRITE, HA_OVERWRITE};
    harray_double x = list_at(C);
    for (size_t i = 0; i < 9; i++) {
        const uint64_t sleeps = ha_test_sleeps_();
        ha_access a;
        opener o;
        SUCCEEDS(ha_open(&a, x.array, C, HA_WRITE, 0, HA_END));
        REFUSED(HA_ERR_BUSY,
                open_elsewhere(x.array, places[i / 3], hows[i % 3] | HA_TRY, 0, HA_END));
        start_open(&o, x.array, places[i / 3], hows[i % 3], 0, HA_END);
        expect_wait(&o, &a, sleeps);
    }
    drop(x);
}

/* Elements, sizes and prefetches of other threads. */
TEST(others_wait_without_an_access) {
    double element;
    harray_double x = list_at(C), y = list_at(C);
    opener o;
    start_open(&o, x.array, C, HA_WRITE, 1, 3);
    assert_int_equal(wait_opened(&o), HA_OK);
    REFUSED(HA_ERR_CONFLICT, harray_double_resize(x, 9));
    REFUSED(HA_ERR_CONFLICT, ha_array_free(x.array));
    REFUSED(HA_ERR_BUSY, ha_array_prefetch(x.array, M1, 0, HA_END));
    SUCCEEDS(ha_array_prefetch(x.array, M1, 3, HA_END));
    SUCCEEDS(harray_double_get(x, 0, &element)); /* waits for nothing */
    assert_true(element == 5);
    finish(&o);
    start_open(&o, y.array, C, HA_READ, 0, HA_END);
    assert_int_equal(wait_opened(&o), HA_OK);
    SUCCEEDS(ha_array_prefetch(y.array, M1, 0, HA_END));
    REFUSED(HA_ERR_CONFLICT, harray_double_swap(x, y));
    SUCCEEDS(harray_double_assign(x, y));
    finish(&o);
    drop(x);
    drop(y);
}

enum { JOBS = 100, WORKERS = 10 };

typedef struct crowd {
    harray_double x;
    atomic_int next, writes, mixed, refused;
} crowd;

static void crowd_read(crowd *c) {
    HA_READING(v, c->x, H) {
        for (size_t i = 1; i < v.size; i++)
            if (v.data[i] != v.data[0]) atomic_fetch_add(&c->mixed, 1);
    }
    else atomic_fetch_add(&c->refused, 1);
}

static void crowd_write(crowd *c) {
    HA_WRITING(v, c->x, C) {
        const job j = {v.data, v.size, 1};
        if (ha_enqueue(C, add_job, &j, sizeof j) == HA_OK) atomic_fetch_add(&c->writes, 1);
    }
    else atomic_fetch_add(&c->refused, 1);
}

static void *crowd_main(void *argument) {
    crowd *c = (crowd *)argument;
    int job_number;
    while ((job_number = atomic_fetch_add(&c->next, 1)) < JOBS) {
        if (job_number % 5 == 4)
            crowd_write(c);
        else
            crowd_read(c);
    }
    return NULL;
}

TEST(counting_by_many_threads) {
    crowd c = {.x = keep(harray_double_zeros_at(500, C))};
    pthread_t threads[WORKERS];
    for (size_t i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, crowd_main, &c), 0);
    for (size_t i = 0; i < WORKERS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&c.mixed), 0);
    assert_int_equal(atomic_load(&c.refused), 0);
    assert_int_equal(atomic_load(&c.writes), JOBS / 5);
    assert_true(sum_at(c.x, H) == 500 * (JOBS / 5));
    drop(c.x);
}

/* ---- deadlocks ------------------------------------------------------------------------------ */

/* A part of an array. */
typedef struct part {
    ha_array *array;
    size_t first, last;
} part;

/* A ring of threads: each holds an access of one part, then asks to write the next thread's. */
typedef struct ring_member {
    part mine, next;
    unsigned how; /* of the first access */
    int members;
    atomic_int *holding, *refused;
    ha_status status;
    pthread_t thread;
} ring_member;

static void ring_ask(ring_member *m) {
    ha_access a;
    m->status = ha_open(&a, m->next.array, C, HA_WRITE, m->next.first, m->next.last);
    if (m->status == HA_OK) {
        const job j = {(double *)a.data, a.size, 1};
        HA_IGNORE(ha_enqueue(C, add_job, &j, sizeof j));
        ha_close(&a);
    } else if (m->status == HA_ERR_DEADLOCK) {
        atomic_fetch_add(m->refused, 1);
    }
}

static void *ring_main(void *argument) {
    ring_member *m = (ring_member *)argument;
    ha_access a;
    if (ha_open(&a, m->mine.array, C, m->how, m->mine.first, m->mine.last) == HA_OK) {
        atomic_fetch_add(m->holding, 1);
        while (atomic_load(m->holding) < m->members) sched_yield();
        ring_ask(m);
        ha_close(&a);
    }
    return NULL;
}

/* Exactly one of a ring is refused; the others get what they asked for. */
static void run_ring(int members, const part *parts, int part_count, unsigned how) {
    atomic_int holding = 0, refused = 0;
    ring_member ring[4];
    for (int i = 0; i < members; i++) {
        ring[i] = (ring_member){parts[i % part_count],
                                parts[(i + 1) % part_count],
                                how,
                                members,
                                &holding,
                                &refused,
                                HA_ERR_BACKEND,
                                0};
        assert_int_equal(pthread_create(&ring[i].thread, NULL, ring_main, &ring[i]), 0);
    }
    for (int i = 0; i < members; i++) assert_int_equal(pthread_join(ring[i].thread, NULL), 0);
    assert_int_equal(atomic_load(&refused), 1);
    for (int i = 0; i < members; i++)
        assert_true(ring[i].status == HA_OK || ring[i].status == HA_ERR_DEADLOCK);
}

/* Two readers of one array that both want to write it. */
TEST(two_readers_that_want_to_write) {
    harray_double x = keep(harray_double_zeros_at(1, C));
    const part whole = {x.array, 0, HA_END};
    for (int round = 0; round < 20; round++) run_ring(2, &whole, 1, HA_READ);
    VALUES(x, 20);
    drop(x);
}

TEST(rings_across_arrays) {
    harray_double x[4];
    part parts[4];
    for (int i = 0; i < 4; i++) {
        x[i] = keep(harray_double_zeros_at(1, C));
        parts[i] = (part){x[i].array, 0, HA_END};
    }
    for (int round = 0; round < 10; round++) {
        for (int members = 2; members <= 4; members++) {
            run_ring(members, parts, members, HA_WRITE);
            run_ring(members, parts, members, HA_READ);
        }
    }
    double sum = 0;
    for (int i = 0; i < 4; i++) sum += sum_at(x[i], H);
    assert_true(sum == 10 * 2 * (1 + 2 + 3));
    for (int i = 0; i < 4; i++) drop(x[i]);
}

TEST(ring_of_ranges) {
    harray_double x = keep(harray_double_zeros_at(6, C));
    const part parts[] = {{x.array, 0, 2}, {x.array, 2, 4}, {x.array, 4, HA_END}};
    for (int round = 0; round < 10; round++) run_ring(3, parts, 3, HA_WRITE);
    assert_true(sum_at(x, H) == 10 * 2 * 2);
    drop(x);
}

/* The thread that closes the ring is refused at once, and keeps what it has. */
TEST(the_last_is_refused) {
    const uint64_t sleeps = ha_test_sleeps_();
    harray_double x = list_at(C), y = list_at(C);
    atomic_int holding = 0, refused = 0;
    ring_member m = {{y.array, 0, HA_END},
                     {x.array, 0, HA_END},
                     HA_WRITE,
                     1,
                     &holding,
                     &refused,
                     HA_ERR_BACKEND,
                     0};
    HA_READING(v, x, C) {
        assert_int_equal(pthread_create(&m.thread, NULL, ring_main, &m), 0);
        until_asleep(sleeps + 1); /* holds y, waits for x */
        HA_WRITING(w, y, M1) fail();
        else REFUSED(HA_ERR_DEADLOCK, w.status);
        HA_READING(w, y, C) fail();
        else REFUSED(HA_ERR_DEADLOCK, w.status);
        HA_TRY_READING(w, y, C) fail(); /* would not have waited */
        else REFUSED(HA_ERR_BUSY, w.status);
        assert_int_equal(v.size, 5);
        REFUSED(HA_ERR_CONFLICT, ha_array_clear(x.array));
    }
    else fail();
    assert_int_equal(pthread_join(m.thread, NULL), 0);
    assert_int_equal(m.status, HA_OK);
    VALUES(x, 6, 7, 3, 4, -4);
    drop(x);
    drop(y);
}

/* One reader that wants to write only has to wait for the others. */
TEST(lonely_upgrade) {
    harray_double x = list_at(C);
    opener reader;
    start_open(&reader, x.array, C, HA_READ, 0, HA_END);
    assert_int_equal(wait_opened(&reader), HA_OK);
    HA_READING(v, x, C) {
        HA_TRY_WRITING(w, x, C) fail();
        else REFUSED(HA_ERR_BUSY, w.status);
        raise_flag(&reader.may_close);
        HA_WRITING(w, x, C) add(&w, 1);
        else fail();
    }
    else fail();
    finish(&reader);
    VALUES(x, 6, 7, 3, 4, -4);
    drop(x);
}

/* An access that lies across those of two threads waits for both. */
TEST(waiting_for_two) {
    const uint64_t sleeps = ha_test_sleeps_();
    harray_double x = list_at(C);
    opener other, waiter;
    HA_WRITING_RANGE(v, x, C, 0, 2) {
        start_open(&other, x.array, C, HA_WRITE, 2, 4);
        assert_int_equal(wait_opened(&other), HA_OK);
        start_open(&waiter, x.array, M1, HA_READ, 1, 3);
        until_asleep(sleeps + 1);
        assert_false(has_opened(&waiter));
        finish(&other);
        assert_false(has_opened(&waiter));
    }
    else fail();
    assert_int_equal(wait_opened(&waiter), HA_OK);
    finish(&waiter);
    drop(x);
}

/* ---- fairness ------------------------------------------------------------------------------- */

/* A new reader queues behind a waiting writer. */
TEST(writers_are_not_starved) {
    const uint64_t sleeps = ha_test_sleeps_();
    harray_double x = list_at(H);
    opener writer, reader;
    HA_READING(v, x, H) {
        start_open(&writer, x.array, H, HA_WRITE, 0, HA_END);
        until_asleep(sleeps + 1);
        REFUSED(HA_ERR_BUSY, open_elsewhere(x.array, H, HA_READ | HA_TRY, 0, HA_END));
        start_open(&reader, x.array, H, HA_READ, 0, HA_END);
        until_asleep(sleeps + 2);
        assert_false(has_opened(&writer) || has_opened(&reader));

        HA_READING(w, x, H) assert_int_equal(w.size, 5); /* we hold something: no queueing */
        else fail();
    }
    else fail();
    assert_int_equal(wait_opened(&writer), HA_OK); /* the writer comes first */
    assert_false(has_opened(&reader));
    finish(&writer);
    assert_int_equal(wait_opened(&reader), HA_OK);
    finish(&reader);
    drop(x);
}

/* Readers of other elements do not queue. */
TEST(the_queue_is_by_range) {
    const uint64_t sleeps = ha_test_sleeps_();
    harray_double x = list_at(C);
    opener writer;
    HA_READING_RANGE(v, x, C, 0, 2) {
        start_open(&writer, x.array, C, HA_WRITE, 1, 3);
        until_asleep(sleeps + 1);
        assert_int_equal(open_elsewhere(x.array, C, HA_READ, 3, 5), HA_OK);
        REFUSED(HA_ERR_BUSY, open_elsewhere(x.array, C, HA_READ | HA_TRY, 2, 3));
    }
    else fail();
    assert_int_equal(wait_opened(&writer), HA_OK);
    finish(&writer);
    drop(x);
}

typedef struct nested_reader {
    harray_double outer, inner;
    atomic_int opened, may_close;
    ha_status status;
} nested_reader;

static void *nested_main(void *argument) {
    nested_reader *r = (nested_reader *)argument;
    HA_READING(b, r->outer, H) {
        HA_READING(a, r->inner, H) r->status = a.status;
        else r->status = a.status;
        atomic_store(&r->opened, 1);
        await_flag(&r->may_close);
    }
    return NULL;
}

/* A reader that holds an access of any array does not queue: else this would be a ring through the
 * queue. We read x, a writer waits for x, a thread that reads y reads x, we want to write y. */
TEST(holders_do_not_queue) {
    const uint64_t sleeps = ha_test_sleeps_();
    harray_double x = list_at(H), y = list_at(H);
    nested_reader r = {.outer = y, .inner = x, .status = HA_ERR_BACKEND};
    opener writer;
    pthread_t thread;
    HA_READING(v, x, H) {
        start_open(&writer, x.array, H, HA_WRITE, 0, HA_END);
        until_asleep(sleeps + 1);
        assert_int_equal(pthread_create(&thread, NULL, nested_main, &r), 0);
        while (!atomic_load(&r.opened)) sched_yield(); /* while we hold x and the writer waits */
        assert_int_equal(r.status, HA_OK);
        raise_flag(&r.may_close);
        HA_WRITING(w, y, H) w.data[0] = 1;
        else fail();
    }
    else fail();
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(wait_opened(&writer), HA_OK);
    finish(&writer);
    drop(x);
    drop(y);
}

/* ---- accesses between threads --------------------------------------------------------------- */

typedef struct hand_over {
    harray_double x;
    ha_access access;
    ha_status status;
} hand_over;

static void *open_and_exit(void *argument) {
    hand_over *h = (hand_over *)argument;
    h->status = ha_open(&h->access, h->x.array, C, HA_WRITE, 0, HA_END);
    return NULL;
}

/* An access left by a thread that has ended stays held; who takes it over can close it. */
TEST(left_behind) {
    hand_over h = {.x = list_at(C)};
    ha_access mine;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, open_and_exit, &h), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(h.status, HA_OK);
    HA_TRY_READING(v, h.x, C) fail();
    else REFUSED(HA_ERR_BUSY, v.status);
    REFUSED(HA_ERR_STATE, ha_close(&h.access)); /* another thread's */
    REFUSED(HA_ERR_CONFLICT, ha_array_free(h.x.array));
    SUCCEEDS(ha_move(&mine, &h.access));
    HA_READING(v, h.x, C) fail();
    else REFUSED(HA_ERR_CONFLICT, v.status); /* now it is ours */
    SUCCEEDS(ha_close(&mine));
    VALUES(h.x, 5, 6, 2, 3, -5);
    drop(h.x);
}

static void *take_and_close(void *argument) {
    hand_over *h = (hand_over *)argument;
    ha_access mine;
    h->status = ha_close(&h->access);
    if (h->status != HA_ERR_STATE || ha_take_error().status != HA_ERR_STATE) return NULL;
    h->status = ha_move(&mine, &h->access);
    if (h->status == HA_OK) h->status = ha_close(&mine);
    return NULL;
}

TEST(handed_over) {
    hand_over h = {.x = list_at(C), .status = HA_ERR_BACKEND};
    pthread_t thread;
    SUCCEEDS(ha_open(&h.access, h.x.array, C, HA_WRITE, 1, 3));
    assert_int_equal(pthread_create(&thread, NULL, take_and_close, &h), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(h.status, HA_OK);
    REFUSED(HA_ERR_STATE, ha_close(&h.access));
    SUCCEEDS(ha_array_clear(h.x.array));
    drop(h.x);
}

static void *take(void *argument) {
    hand_over *h = (hand_over *)argument;
    ha_access mine;
    h->status = ha_move(&mine, &h->access);
    (void)ha_take_error();
    if (h->status == HA_OK) HA_IGNORE(ha_close(&mine));
    return NULL;
}

static ha_status taken_elsewhere(ha_access *access) {
    hand_over h = {.access = *access, .status = HA_OK};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, take, &h), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    *access = h.access;
    return h.status;
}

/* A thread reads what it also writes. Another thread that took one of both would use the same elements at
 * the same time. */
TEST(no_move_from_beside_a_write) {
    harray_double x = list_at(C);
    ha_access r, w, beside;
    SUCCEEDS(ha_open(&r, x.array, C, HA_READ, 0, 3));
    SUCCEEDS(ha_open(&w, x.array, C, HA_WRITE, 2, 5));
    assert_int_equal(taken_elsewhere(&r), HA_ERR_CONFLICT);
    assert_int_equal(taken_elsewhere(&w), HA_ERR_CONFLICT);
    SUCCEEDS(ha_open(&beside, x.array, C, HA_WRITE, 0, 2));
    assert_int_equal(taken_elsewhere(&r), HA_ERR_CONFLICT);
    SUCCEEDS(ha_close(&w));
    SUCCEEDS(ha_close(&beside)); /* all of them are open still, and ours */
    SUCCEEDS(ha_open(&w, x.array, C, HA_WRITE, 3, 5));
    assert_int_equal(taken_elsewhere(&r), HA_OK); /* other elements */
    SUCCEEDS(ha_move(&beside, &w));               /* to the same thread */
    SUCCEEDS(ha_close(&beside));
    SUCCEEDS(ha_array_clear(x.array));
    drop(x);
}

/* Who took an access counts it, and who had it no longer does. */
TEST(moved_accesses_are_counted_once) {
    harray_double x = list_at(C);
    hand_over h = {.x = x, .status = HA_ERR_BACKEND};
    pthread_t thread;
    ha_access a;
    const uint64_t held = ha_held();
    SUCCEEDS(ha_open(&a, x.array, C, HA_WRITE, 0, 2));
    assert_int_equal(taken_elsewhere(&a), HA_OK);
    assert_int_equal(ha_held(), held);
    assert_int_equal(pthread_create(&thread, NULL, open_and_exit, &h), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    SUCCEEDS(ha_move(&a, &h.access));
    assert_int_equal(ha_held(), held + 1);
    SUCCEEDS(ha_close(&a));
    assert_int_equal(ha_held(), held);
    drop(x);
}

/* Resizing through an access belongs to its thread, too. */
static void *resize_elsewhere(void *argument) {
    hand_over *h = (hand_over *)argument;
    h->status = ha_access_resize(&h->access, 9);
    return NULL;
}

TEST(resized_elsewhere) {
    hand_over h = {.x = list_at(C), .status = HA_OK};
    pthread_t thread;
    SUCCEEDS(ha_open(&h.access, h.x.array, C, HA_WRITE, 0, HA_END));
    assert_int_equal(pthread_create(&thread, NULL, resize_elsewhere, &h), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(h.status, HA_ERR_STATE);
    assert_int_equal(harray_double_size(h.x), 5);
    SUCCEEDS(ha_close(&h.access));
    drop(h.x);
}

/* ---- many threads, all calls ---------------------------------------------------------------- */

enum { ROUNDS = 60, MIXERS = 4, POOL = 3 };

typedef struct mixer {
    harray_double *pool;
    unsigned seed;
    atomic_int *unexpected;
    pthread_t thread;
} mixer;

static unsigned draw(mixer *m, unsigned below) {
    m->seed = m->seed * 1664525u + 1013904223u;
    return (m->seed >> 16) % below;
}

/* What other threads may make of any call. */
static void note(mixer *m, ha_status status) {
    if (status != HA_OK && status != HA_ERR_CONFLICT && status != HA_ERR_BUSY &&
        status != HA_ERR_STATE && status != HA_ERR_ARGUMENT)
        atomic_fetch_add(m->unexpected, 1);
    (void)ha_take_error();
}

static void mix_access(mixer *m, harray_double x) {
    ha_context *places[] = {H, C, M1, M2};
    const unsigned how = draw(m, 3) | (draw(m, 2) ? HA_TRY : HA_WAIT);
    const size_t first = draw(m, 8);
    ha_access a;
    note(m, ha_open(&a, x.array, places[draw(m, 4)], how, first, draw(m, 2) ? HA_END : first + 3));
    if (a.status == HA_OK && (how & (HA_WRITE | HA_OVERWRITE))) {
        const job j = {(double *)a.data, a.size, 1};
        note(m, ha_enqueue(a.context, fill_job, &j, sizeof j));
    }
    if (a.status == HA_OK) note(m, ha_close(&a));
}

static void mix_call(mixer *m, harray_double x, harray_double y) {
    char text[200];
    double element;
    switch (draw(m, 8)) {
    case 0:
        note(m, harray_double_resize(x, 4 + draw(m, 12)));
        break;
    case 1:
        note(m, harray_double_swap(x, y));
        break;
    case 2:
        note(m, harray_double_assign(x, y));
        break;
    case 3:
        note(m, ha_array_take(x.array, y.array));
        break;
    case 4:
        note(m, harray_double_get(x, draw(m, 8), &element));
        break;
    case 5:
        note(m, harray_double_set(x, draw(m, 8), 1));
        break;
    case 6:
        note(m, ha_array_prefetch(x.array, C, 0, HA_END));
        break;
    default:
        (void)ha_describe(x.array, text, sizeof text);
    }
}

static void *mixer_main(void *argument) {
    mixer *m = (mixer *)argument;
    for (int i = 0; i < ROUNDS; i++) {
        const harray_double x = m->pool[draw(m, POOL)], y = m->pool[draw(m, POOL)];
        if (draw(m, 3))
            mix_access(m, x);
        else
            mix_call(m, x, y);
    }
    return NULL;
}

TEST(any_mix_of_calls) {
    harray_double pool[POOL];
    atomic_int unexpected = 0;
    mixer mixers[MIXERS];
    for (size_t i = 0; i < POOL; i++) pool[i] = keep(harray_double_filled_at(12, 1, C));
    for (unsigned i = 0; i < MIXERS; i++) {
        mixers[i] = (mixer){pool, i + 1, &unexpected, 0};
        assert_int_equal(pthread_create(&mixers[i].thread, NULL, mixer_main, &mixers[i]), 0);
    }
    for (size_t i = 0; i < MIXERS; i++) assert_int_equal(pthread_join(mixers[i].thread, NULL), 0);
    assert_int_equal(atomic_load(&unexpected), 0);
    for (size_t i = 0; i < POOL; i++) {
        const size_t n = harray_double_size(pool[i]);
        SUCCEEDS(ha_array_clear(pool[i].array)); /* nothing is held */
        assert_true(n < 20);
        drop(pool[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(readers_do_not_wait),
        CASE(reader_waits_for_a_writer),
        CASE(writer_waits_for_any_access),
        CASE(others_wait_without_an_access),
        CASE(counting_by_many_threads),
        CASE(two_readers_that_want_to_write),
        CASE(rings_across_arrays),
        CASE(ring_of_ranges),
        CASE(the_last_is_refused),
        CASE(lonely_upgrade),
        CASE(waiting_for_two),
        CASE(writers_are_not_starved),
        CASE(the_queue_is_by_range),
        CASE(holders_do_not_queue),
        CASE(left_behind),
        CASE(handed_over),
        CASE(no_move_from_beside_a_write),
        CASE(moved_accesses_are_counted_once),
        CASE(resized_elsewhere),
        CASE(any_mix_of_calls),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
