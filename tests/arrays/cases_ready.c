/* For libraries that know nothing of queues: ha_wait and ha_read_anywhere. On the contexts of
 * support/matrix.h, and with held queues (support/held.h). */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/held.h"
#include "../support/threads.h"

enum { SMALL = 5 };

/* Overwrites all with a value, and marks. */
static void overwrite_and_mark(harray_double x, ha_context *context, double value,
                               atomic_int *done) {
    HA_OVERWRITING_ALL(v, x, context) {
        fill(&v, value);
        enqueue_mark(context, done);
    }
    else fail();
}

/* ---- waiting -------------------------------------------------------------------------------- */

/* What was enqueued before, on the same queue or another one, has happened. */
TEST(waits_for_earlier_work) {
    harray_double x = list_at(C);
    ha_access a;
    atomic_int done;
    for (unsigned how = HA_READ; how <= HA_OVERWRITE; how++) {
        overwrite_and_mark(x, C, 3, &done);
        SUCCEEDS(ha_open(&a, x.array, C, how, 0, HA_END));
        SUCCEEDS(ha_wait(&a));
        assert_true(atomic_load(&done));
        SUCCEEDS(ha_close(&a));
        overwrite_and_mark(x, C, 3, &done);
        SUCCEEDS(ha_open(&a, x.array, M1, how, 0, HA_END)); /* with a transfer, if it is read */
        SUCCEEDS(ha_wait(&a));
        assert_true(atomic_load(&done) || how == HA_OVERWRITE);
        SUCCEEDS(ha_close(&a));
        SUCCEEDS(ha_context_finish(C)); /* what marks has come to its end */
    }
    drop(x);
}

TEST(waiting_needs_an_open_access) {
    harray_double x = list_at(C);
    ha_access a = {NULL, 0, 0, NULL, NULL, 0, HA_OK}, copy;
    REFUSED(HA_ERR_STATE, ha_wait(&a));
    SUCCEEDS(ha_open(&a, x.array, C, HA_READ, 2, 2)); /* nothing to wait for */
    SUCCEEDS(ha_wait(&a));
    SUCCEEDS(ha_wait(&a));
    copy = a;
    SUCCEEDS(ha_close(&a));
    REFUSED(HA_ERR_STATE, ha_wait(&a));
    REFUSED(HA_ERR_STATE, ha_wait(&copy));
    HA_READING(v, x, C) SUCCEEDS(ha_wait(&v));
    else fail();
    drop(x);
}

/* ---- reading anywhere ----------------------------------------------------------------------- */

TEST(reads_where_it_is) {
    ha_context *const places[] = {H, C, M1, M2};
    for (size_t i = 0; i < 4; i++) {
        harray_double x = list_at(places[i]);
        atomic_int done;
        overwrite_and_mark(x, places[i], 3, &done);
        const ha_statistics before = ha_array_statistics(x.array);
        int ran = 0;
        HA_READING_ANYWHERE(v, x) {
            ran = 1;
            assert_ptr_equal(v.context, shares_memory(places[i]) ? H : places[i]);
            assert_int_equal(v.size, 5);
            assert_int_equal(v.first, 0);
            assert_true(atomic_load(&done));
        }
        assert_true(ran);
        MOVED(x, before.transfers, before.bytes);
        drop(x);
    }
}

TEST(prefers_the_host) {
    harray_double x = list_at(C);
    ha_access a;
    touch(x, H);
    SUCCEEDS(ha_read_anywhere(&a, x.array, C, 0, HA_END));
    assert_ptr_equal(a.context, H);
    SUCCEEDS(ha_close(&a));
    add_at(x, M1, 1);
    touch(x, C); /* by way of the host, where it then is valid, too */
    HA_OVERWRITING_RANGE(v, x, M1, 0, 2) fill(&v, 7); /* now only M1 has all */
    else fail();
    SUCCEEDS(ha_read_anywhere(&a, x.array, C, 0, HA_END));
    assert_ptr_equal(a.context, M1);
    SUCCEEDS(ha_close(&a));
    SUCCEEDS(ha_read_anywhere(&a, x.array, M1, 2, 4)); /* of these the host has all */
    assert_ptr_equal(a.context, H);
    assert_int_equal(a.first, 2);
    assert_int_equal(a.size, 2);
    assert_true(((const double *)a.data)[1] == 4);
    SUCCEEDS(ha_close(&a));
    drop(x);
}

TEST(prefers_the_cheaper_device) {
    harray_double x = list_at(M1);
    ha_access a;
    HA_CHECK(ha_link_set(M1->memory, &ha_host_memory, 900000, 900000));
    HA_CHECK(ha_link_set(M2->memory, &ha_host_memory, 800000, 800000));
    touch(x, M2);
    HA_IGNORE(ha_array_resize(x.array, 6)); /* so that the host has not all of what follows */
    HA_WRITING(v, x, M1) add(&v, 0);
    else fail();
    ha_context *const order[] = {M2, M1};
    touch(x, M2);
    ha_incarnation *host = ha_incarnation_find(x.array, &ha_host_memory);
    ha_lock(x.array);
    ha_set_remove(&host->valid, (ha_range){0, 1}); /* as if it had been needed for something else */
    ha_unlock(x.array);
    for (size_t i = 0; i < 2; i++) {
        SUCCEEDS(ha_read_anywhere(&a, x.array, H, 0, HA_END));
        assert_ptr_equal(a.context, order[i]);
        SUCCEEDS(ha_close(&a));
        HA_CHECK(ha_link_set(M1->memory, &ha_host_memory, 700000, 700000));
    }
    drop(x);
}

/* Valid nowhere as a whole: it is brought to where the caller says. */
TEST(brings_it_otherwise) {
    harray_double x = list_at(H);
    ha_access a;
    ha_context *const wanted[] = {NULL, C, M2};
    for (size_t i = 0; i < 3; i++) {
        HA_OVERWRITING_RANGE(v, x, M1, 0, 2) fill(&v, 7);
        else fail();
        HA_OVERWRITING_RANGE(v, x, H, 2, 5) for (size_t k = 0; k < 3; k++) v.data[k] = 2;
        else fail();
        SUCCEEDS(ha_read_anywhere(&a, x.array, wanted[i], 0, HA_END));
        assert_ptr_equal(a.context, wanted[i] ? wanted[i] : H);
        SUCCEEDS(ha_close(&a));
        VALUES(x, 7, 7, 2, 2, 2);
    }
    drop(x);
}

TEST(nothing_to_read) {
    harray_double x = list_at(C), empty = keep(harray_double_new_at(0, C));
    harray_double never = keep(harray_double_new_at(3, C));
    ha_access a, w;
    memset(&a, 0xAA, sizeof a);
    SUCCEEDS(ha_read_anywhere(&a, empty.array, C, 0, HA_END));
    assert_null(a.data);
    SUCCEEDS(ha_close(&a));
    REFUSED(HA_ERR_STATE, ha_read_anywhere(&a, never.array, M1, 0, HA_END));
    assert_int_equal(a.status, HA_ERR_STATE);
    assert_null(a.array);
    assert_null(a.context);
    REFUSED(HA_ERR_ARGUMENT, ha_read_anywhere(&a, x.array, C, 2, 6));
    REFUSED(HA_ERR_ARGUMENT, ha_read_anywhere(&a, NULL, C, 0, HA_END));
    SUCCEEDS(ha_open(&w, x.array, C, HA_WRITE, 0, 2));
    REFUSED(HA_ERR_CONFLICT, ha_read_anywhere(&a, x.array, C, 0, HA_END));
    SUCCEEDS(ha_read_anywhere(&a, x.array, C, 2, 5));
    SUCCEEDS(ha_close(&a));
    SUCCEEDS(ha_close(&w));
    drop(x);
    drop(empty);
    drop(never);
}

/* The context that was chosen counts: y = f(y) is possible there, and nowhere else. */
TEST(is_open_where_it_says) {
    harray_double x = list_at(M1);
    ha_access r, w;
    SUCCEEDS(ha_read_anywhere(&r, x.array, C, 0, HA_END));
    assert_ptr_equal(r.context, M1);
    REFUSED(HA_ERR_CONFLICT, ha_open(&w, x.array, H, HA_WRITE, 0, HA_END));
    SUCCEEDS(ha_open(&w, x.array, M1, HA_WRITE, 0, HA_END));
    assert_ptr_equal(r.data, w.data);
    SUCCEEDS(ha_close(&w));
    SUCCEEDS(ha_close(&r));
    drop(x);
}

/* ---- while others write --------------------------------------------------------------------- */

enum { WRITES = 400, READS = 400, READERS = 2 };

static struct {
    harray_double x;
    atomic_int wrong, writing;
} race;

static void *write_everywhere(HA_UNUSED void *argument) {
    ha_context *const places[] = {H, C, M1, C};
    for (int i = 0; i < WRITES; i++) {
        ha_access a;
        if (ha_open(&a, race.x.array, places[i % 4], HA_OVERWRITE, 0, HA_END))
            atomic_store(&race.wrong, 1);
        const job j = {(double *)a.data, a.size, i};
        if (ha_enqueue(a.context, fill_job, &j, sizeof j) || ha_close(&a))
            atomic_store(&race.wrong, 1);
    }
    atomic_store(&race.writing, 0);
    return NULL;
}

static void *read_anywhere(HA_UNUSED void *argument) {
    for (int i = 0; i < READS || atomic_load(&race.writing); i++) {
        ha_access a;
        if (ha_read_anywhere(&a, race.x.array, M2, 0, HA_END)) {
            atomic_store(&race.wrong, 2);
            break;
        }
        if (a.context == M2) atomic_store(&race.wrong, 3);
        const double *data = (const double *)a.data;
        for (size_t k = 1; a.context == H && k < a.size; k++)
            if (data[k] != data[0]) atomic_store(&race.wrong, 4);
        if (ha_close(&a)) atomic_store(&race.wrong, 5);
        sched_yield(); /* valgrind runs one thread at a time, which else is seldom without the lock */
    }
    return NULL;
}

/* As it always is valid somewhere, nothing is ever moved: not even when it ceases to be valid where
 * the reader was about to open it. */
TEST(never_moves_what_is_valid) {
    pthread_t writer, readers[READERS];
    race.x = keep(harray_double_filled_at(5, 7, C)); /* all elements are the same at any time */
    const ha_statistics before = ha_array_statistics(race.x.array);
    atomic_store(&race.wrong, 0);
    atomic_store(&race.writing, 1);
    assert_int_equal(pthread_create(&writer, NULL, write_everywhere, NULL), 0);
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_anywhere, NULL), 0);
    assert_int_equal(pthread_join(writer, NULL), 0);
    for (size_t i = 0; i < READERS; i++) assert_int_equal(pthread_join(readers[i], NULL), 0);
    assert_int_equal(atomic_load(&race.wrong), 0);
    MOVED(race.x, before.transfers, before.bytes);
    drop(race.x);
}

/* ---- with held queues ----------------------------------------------------------------------- */

/* Opens on another thread, and waits there. */
typedef struct patient {
    ha_array *array;
    ha_context *context; /* NULL: anywhere */
    unsigned how;
    size_t first, last;
    pthread_t thread;
    atomic_int opened, ready, may_close;
    ha_status status;
} patient;

static void *patient_main(void *argument) {
    patient *p = (patient *)argument;
    ha_access a;
    if (p->context) {
        p->status = ha_open(&a, p->array, p->context, p->how, p->first, p->last);
        atomic_store(&p->opened, 1);
        if (!p->status) p->status = ha_wait(&a);
    } else {
        p->status = ha_read_anywhere(&a, p->array, C, p->first, p->last);
        if (!p->status && a.context != C) p->status = HA_ERR_NOT_FOUND;
    }
    atomic_store(&p->ready, 1);
    await_flag(&p->may_close);
    if (a.array) HA_IGNORE(ha_close(&a));
    return NULL;
}

static void start_waiting(patient *p, harray_double x, ha_context *context, unsigned how,
                          size_t first, size_t last) {
    memset(p, 0, sizeof *p);
    p->array = x.array;
    p->context = context;
    p->how = how;
    p->first = first;
    p->last = last;
    assert_int_equal(pthread_create(&p->thread, NULL, patient_main, p), 0);
    while (context && !atomic_load(&p->opened)) sched_yield();
    until_quiet();
}

static void finish_waiting(patient *p, ha_status expected) {
    while (!atomic_load(&p->ready)) sched_yield();
    raise_flag(&p->may_close);
    assert_int_equal(pthread_join(p->thread, NULL), 0);
    assert_int_equal(p->status, expected);
    step();
}

/* Opening returns, and waiting does not before the queue has done it: the transfer, or what was
 * enqueued before on the same queue or on another one. Meanwhile the array can be used. */
TEST(wait_blocks_until_it_is_done) {
    ha_context *const places[] = {C, F};
    for (size_t i = 0; i < 2; i++) {
        harray_double x = ramp(N), y = everywhere();
        patient p;
        hold(C);
        start_waiting(&p, x, C, HA_READ, 0, 10); /* for the transfer */
        assert_false(atomic_load(&p.ready));
        assert_int_equal(open_elsewhere(x.array, H, HA_WRITE | HA_TRY, 20, 30), HA_OK);
        let_go(C);
        finish_waiting(&p, HA_OK);
        hold(C);
        add_at(y, C, 1);
        start_waiting(&p, y, places[i], i ? HA_WRITE : HA_READ, 0, HA_END);
        assert_false(atomic_load(&p.ready));
        let_go(C);
        finish_waiting(&p, HA_OK);
        assert_true(sum_at(y, H) == RAMP_SUM + N);
        drop(x);
        drop(y);
    }
}

TEST(a_write_waits_for_reads) {
    harray_double x = everywhere();
    double sum = 0;
    patient p;
    hold(F);
    begin_sum(x, F, &sum);
    start_waiting(&p, x, C, HA_WRITE, 0, HA_END);
    assert_false(atomic_load(&p.ready));
    let_go(F);
    finish_waiting(&p, HA_OK);
    assert_true(sum == RAMP_SUM);
    drop(x);
}

TEST(reading_anywhere_waits) {
    harray_double x = everywhere();
    patient p;
    hold(C);
    add_at(x, C, 1);
    start_waiting(&p, x, NULL, HA_READ, 0, HA_END);
    assert_false(atomic_load(&p.ready));
    let_go(C);
    finish_waiting(&p, HA_OK);
    drop(x);
}

/* Would hang otherwise: it does not wait for reads to read, for other elements or other arrays. */
TEST(waits_for_nothing_else) {
    harray_double x = everywhere(), y = everywhere();
    ha_access a;
    double sum = 0;
    hold(F);
    begin_sum(x, F, &sum);
    HA_WRITING_RANGE(v, x, F, 20, 30) add(&v, 0);
    else fail();
    add_at(y, F, 1);
    SUCCEEDS(ha_open(&a, x.array, C, HA_READ, 0, 20));
    SUCCEEDS(ha_wait(&a));
    SUCCEEDS(ha_close(&a));
    SUCCEEDS(ha_read_anywhere(&a, x.array, C, 0, 20));
    SUCCEEDS(ha_close(&a));
    let_go(F);
    SUCCEEDS(ha_context_finish(F));
    assert_true(sum == RAMP_SUM);
    drop(x);
    drop(y);
}

/* ---- queues that fail ----------------------------------------------------------------------- */

/* Whoever waits when the queue fails, or after, is told; the access stays open. */
TEST(waiting_for_what_was_lost) {
    harray_double x = everywhere();
    patient p;
    ha_access a;
    hold(C);
    add_at(x, C, 1);
    start_waiting(&p, x, F, HA_READ, 0, HA_END);
    assert_false(atomic_load(&p.ready));
    SUCCEEDS(ha_open(&a, x.array, F, HA_READ, 0, 10));
    SUCCEEDS(ha_sim_fail(C));
    while (!atomic_load(&p.ready)) sched_yield();
    REFUSED(HA_ERR_LOST, ha_wait(&a));
    assert_ptr_equal(a.array, x.array);
    REFUSED(HA_ERR_LOST, ha_wait(&a));
    SUCCEEDS(ha_close(&a));
    finish_waiting(&p, HA_ERR_LOST);
    drop(x);
}

/* Another thread has found out in between what is lost, and taken it off the list. */
TEST(waiting_when_the_loss_is_settled) {
    harray_double x = everywhere();
    ha_access a;
    hold(C);
    add_at(x, C, 1);
    SUCCEEDS(ha_open(&a, x.array, F, HA_READ, 0, 10));
    SUCCEEDS(ha_sim_fail(C));
    REFUSED(HA_ERR_LOST, ha_context_finish(C));
    assert_int_equal(open_elsewhere(x.array, H, HA_READ | HA_TRY, 20, 30), HA_ERR_LOST);
    REFUSED(HA_ERR_LOST, ha_wait(&a));
    SUCCEEDS(ha_close(&a));
    drop(x);
}

TEST(reading_anywhere_what_was_lost) {
    harray_double x = everywhere();
    ha_access a;
    patient p;
    hold(C);
    HA_WRITING_RANGE(v, x, C, 0, 10) add(&v, 1);
    else fail();
    start_waiting(&p, x, NULL, HA_READ, 0, HA_END); /* C has it, and will not have done it */
    SUCCEEDS(ha_sim_fail(C));
    finish_waiting(&p, HA_ERR_LOST);
    REFUSED(HA_ERR_LOST, ha_read_anywhere(&a, x.array, H, 5, 20));
    assert_null(a.array);
    assert_int_equal(a.status, HA_ERR_LOST);
    SUCCEEDS(ha_read_anywhere(&a, x.array, F, 10, 20)); /* the rest is there */
    assert_ptr_equal(a.context, H);
    SUCCEEDS(ha_close(&a));
    drop(x);
}

/* A failed queue is not where it is read: another one of its device is. */
TEST(reading_anywhere_by_a_queue_that_works) {
    harray_double x = ramp(N);
    ha_access a;
    HA_WRITING(v, x, F) add(&v, 1);
    else fail();
    SUCCEEDS(ha_context_finish(F));
    SUCCEEDS(ha_sim_fail(C));
    REFUSED(HA_ERR_LOST, ha_context_finish(C));
    SUCCEEDS(ha_read_anywhere(&a, x.array, H, 0, HA_END));
    assert_true(a.context != C && a.context != H);
    assert_ptr_equal(a.context->memory, C->memory);
    SUCCEEDS(ha_close(&a));
    assert_true(sum_at(x, H) == RAMP_SUM + N);
    drop(x);
}

/* Nor where it was lost, though another queue of that device works. */
TEST(reading_anywhere_where_it_is_not_lost) {
    harray_double x = ramp(N);
    ha_access a;
    add_at(x, M1, 1);
    HA_CHECK(ha_link_set(C->memory, &ha_host_memory, 1000, 1000)); /* it would be the cheapest */
    SUCCEEDS(ha_context_finish(M1));
    touch(x, H);
    hold(C);
    touch(x, C);
    ha_incarnation *host = ha_incarnation_find(x.array, &ha_host_memory);
    ha_lock(x.array);
    ha_set_remove(&host->valid, (ha_range){0, 1}); /* as if it had been needed for something else */
    ha_unlock(x.array);
    SUCCEEDS(ha_sim_fail(C));
    REFUSED(HA_ERR_LOST, ha_context_finish(C));
    SUCCEEDS(ha_read_anywhere(&a, x.array, H, 0, HA_END));
    assert_ptr_equal(a.context, M1);
    SUCCEEDS(ha_close(&a));
    drop(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(waits_for_earlier_work),
        CASE(waiting_needs_an_open_access),
        CASE(reads_where_it_is),
        CASE(prefers_the_host),
        CASE(prefers_the_cheaper_device),
        CASE(brings_it_otherwise),
        CASE(nothing_to_read),
        CASE(is_open_where_it_says),
        CASE(never_moves_what_is_valid),
    };
    const struct CMUnitTest ordered[] = {
        ORDER(wait_blocks_until_it_is_done),
        ORDER(a_write_waits_for_reads),
        ORDER(reading_anywhere_waits),
        ORDER(waits_for_nothing_else),
    };
    const struct CMUnitTest lost[] = {
        LOST(waiting_for_what_was_lost),
        LOST(waiting_when_the_loss_is_settled),
        LOST(reading_anywhere_what_was_lost),
        LOST(reading_anywhere_by_a_queue_that_works),
        LOST(reading_anywhere_where_it_is_not_lost),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    if (failed) return failed;
    RUN_WITH_AND_WITHOUT_DELAYS(failed, ordered);
    if (failed) return failed;
    HA_CHECK(ha_sim_configure(NULL));
    return cmocka_run_group_tests_name("queues that fail", lost, NULL, NULL);
}
