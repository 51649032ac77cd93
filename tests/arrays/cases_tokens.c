/* Tokens: accesses that outlive their scope, and what ends them. On the contexts of
 * support/matrix.h, and with held queues (support/held.h). */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/held.h"
#include "../support/threads.h"

enum { SMALL = 5 };

/* The access of elements [first, last), detached. */
static ha_token token_of(ha_array *array, ha_context *context, unsigned how, size_t first,
                         size_t last) {
    ha_token token = {NULL, NULL, 0};
    ha_access a;
    SUCCEEDS(ha_open(&a, array, context, how, first, last));
    SUCCEEDS(ha_detach(&token, &a));
    assert_null(a.array);
    assert_null(a.data);
    assert_int_equal(a.size, 0);
    assert_ptr_equal(token.array, array);
    assert_ptr_equal(token.context, context);
    return token;
}

static void expect_ended(const ha_token *token) {
    const ha_token zero = {NULL, NULL, 0};
    assert_memory_equal(token, &zero, sizeof zero);
}

static void finish_token(ha_token *token) {
    SUCCEEDS(ha_token_finish(token));
    expect_ended(token);
}

/* The error of the last call says this. */
#define TOLD(part) assert_non_null(strstr(ha_take_error().text, part))

/* ---- the cases ------------------------------------------------------------------------------ */

TEST(detached_access) {
    harray_double x = list_at(C);
    ha_token token = {NULL, NULL, 0};
    ha_access w, r;
    SUCCEEDS(ha_open(&w, x.array, C, HA_WRITE, 0, HA_END));
    const ha_access copy = w;
    SUCCEEDS(ha_detach(&token, &w));
    REFUSED(HA_ERR_STATE, ha_close(&w));
    REFUSED(HA_ERR_STATE, ha_access_resize(&w, 7));
    assert_int_equal(ha_access_capacity(&w), 0);
    w = copy; /* whoever kept a copy has no access either */
    REFUSED(HA_ERR_STATE, ha_close(&w));
    REFUSED(HA_ERR_STATE, ha_move(&r, &w));
    REFUSED(HA_ERR_STATE, ha_access_resize(&w, 7));
    REFUSED(HA_ERR_STATE, ha_wait(&w));
    REFUSED(HA_ERR_CONFLICT, ha_open(&r, x.array, H, HA_READ, 0, HA_END));
    finish_token(&token);
    VALUES(x, 5, 6, 2, 3, -5);
    drop(x);
}

TEST(token_that_reads) {
    harray_double x = list_at(C);
    ha_token token = token_of(x.array, C, HA_READ, 0, HA_END);
    ha_access w;
    REFUSED(HA_ERR_CONFLICT, ha_open(&w, x.array, H, HA_WRITE, 0, HA_END));
    REFUSED(HA_ERR_CONFLICT, ha_open(&w, x.array, C, HA_WRITE, 0, HA_END)); /* no y = f(y) */
    VALUES(x, 5, 6, 2, 3, -5);
    finish_token(&token);
    add_at(x, H, 1);
    VALUES(x, 6, 7, 3, 4, -4);
    drop(x);
}

static void scale_job(const ha_queue *queue, void *argument) {
    const job *j = (const job *)argument;
    double *data = HA_HERE(queue, double, j->data);
    for (size_t i = 0; i < j->size; i++) data[i] *= j->amount;
}

TEST(token_of_queued_work) {
    harray_double x = keep(harray_double_filled_at(100, 1.4, C));
    ha_token token = {NULL, NULL, 0};
    ha_access r;
    HA_WRITING(v, x, C) {
        const job j = {v.data, v.size, 0.5};
        SUCCEEDS(ha_enqueue(C, scale_job, &j, sizeof j));
        SUCCEEDS(ha_detach(&token, &v));
    }
    else fail();
    REFUSED(HA_ERR_CONFLICT, ha_open(&r, x.array, H, HA_READ, 0, HA_END));
    SUCCEEDS(ha_token_wait(&token));
    expect_ended(&token);
    HA_READING(v, x, H) for (size_t i = 0; i < 100; i++) assert_true(v.data[i] == 0.5 * 1.4);
    else fail();
    drop(x);
}

TEST(token_ends_with_its_scope) {
    harray_double x = list_at(C);
    atomic_int done;
    {
        HA_SCOPED_TOKEN(token);
        HA_WRITING(v, x, C) {
            add(&v, 1);
            enqueue_mark(C, &done);
            SUCCEEDS(ha_detach(&token, &v));
        }
        else fail();
    }
    assert_true(atomic_load(&done));
    {
        HA_SCOPED_TOKEN(unused);
        HA_SCOPED_TOKEN(ended);
        HA_READING(v, x, C) SUCCEEDS(ha_detach(&ended, &v));
        finish_token(&ended);
        expect_ended(&unused);
    }
    VALUES(x, 6, 7, 3, 4, -4);
    drop(x);
}

/* ---- detaching ------------------------------------------------------------------------------ */

static void *detach_elsewhere(void *argument) {
    ha_token token = {NULL, NULL, 0};
    ha_access *a = (ha_access *)argument;
    const ha_status status = ha_detach(&token, a);
    assert_null(token.array);
    (void)ha_take_error();
    return status == HA_ERR_STATE ? argument : NULL;
}

TEST(what_cannot_be_detached) {
    harray_double x = list_at(C), y = list_at(C);
    ha_token token = token_of(y.array, C, HA_READ, 0, 2);
    ha_access a = {NULL, 0, 0, NULL, NULL, 0, HA_OK};
    pthread_t thread;
    void *refused;
    REFUSED(HA_ERR_STATE, ha_detach(&token, &a)); /* never opened */
    SUCCEEDS(ha_open(&a, x.array, C, HA_WRITE, 0, HA_END));
    const ha_access before = a;
    const ha_token same = token;
    REFUSED(HA_ERR_STATE, ha_detach(&token, &a)); /* the token is in use */
    assert_memory_equal(&token, &same, sizeof same);
    assert_int_equal(pthread_create(&thread, NULL, detach_elsewhere, &a), 0);
    assert_int_equal(pthread_join(thread, &refused), 0);
    assert_non_null(refused); /* another thread's access */
    assert_memory_equal(&a, &before, sizeof a);
    finish_token(&token);
    ha_access closed = a;
    SUCCEEDS(ha_close(&a));
    REFUSED(HA_ERR_STATE, ha_detach(&token, &closed));
    expect_ended(&token);
    drop(x);
    drop(y);
}

TEST(tokens_end_once) {
    harray_double x = list_at(C);
    ha_token never = {NULL, NULL, 0}, token = token_of(x.array, C, HA_WRITE, 0, HA_END);
    ha_token copies[4] = {token, token, token, token};
    ha_event event = {NULL, 0};
    ha_context *device = require_context("private:0");
    finish_token(&token);
    ha_token *unused[] = {&never, &copies[0], &copies[1], &copies[2], &copies[3]};
    for (size_t i = 0; i < 5; i++) {
        const ha_token before = *unused[i];
        REFUSED(HA_ERR_STATE, ha_token_finish(unused[i]));
        REFUSED(HA_ERR_STATE, ha_token_wait(unused[i]));
        REFUSED(HA_ERR_STATE, ha_token_end_at(unused[i], C));
        REFUSED(HA_ERR_STATE, ha_token_end_at(unused[i], M1));
        if (i == 0) REFUSED(HA_ERR_STATE, ha_token_end_after(unused[i], device, &event));
        assert_memory_equal(unused[i], &before, sizeof before);
    }
    add_at(x, C, 1);
    ha_access a;
    SUCCEEDS(ha_open(&a, x.array, C, HA_READ, 0, HA_END));
    ha_token forged = {a.array, a.context, a.ticket}; /* an access is no token */
    REFUSED(HA_ERR_STATE, ha_token_finish(&forged));
    SUCCEEDS(ha_close(&a));
    drop(x);
}

/* ---- what a token locks --------------------------------------------------------------------- */

TEST(own_thread_is_refused) {
    harray_double x = list_at(C);
    ha_token token = token_of(x.array, C, HA_WRITE, 0, 3);
    ha_context *const places[] = {C, H, M1};
    ha_access a;
    for (size_t i = 0; i < 3; i++)
        for (unsigned how = HA_READ; how <= HA_OVERWRITE; how++) {
            REFUSED(HA_ERR_CONFLICT, ha_open(&a, x.array, places[i], how, 2, 4));
            REFUSED(HA_ERR_CONFLICT, ha_open(&a, x.array, places[i], how | HA_TRY, 0, HA_END));
        }
    SUCCEEDS(ha_open(&a, x.array, C, HA_WRITE, 3, 5)); /* beside it */
    SUCCEEDS(ha_close(&a));
    finish_token(&token);
    drop(x);
}

TEST(messages_name_the_place) {
    harray_double x = list_at(C);
    ha_token token = {NULL, NULL, 0};
    ha_access a;
    char place[100];
    SUCCEEDS(ha_open(&a, x.array, C, HA_WRITE, 0, HA_END));
    snprintf(place, sizeof place, "detached into a token at %s:%d", __FILE__, __LINE__ + 1);
    SUCCEEDS(ha_detach(&token, &a));
    assert_int_equal(ha_open(&a, x.array, H, HA_READ, 0, HA_END), HA_ERR_CONFLICT);
    TOLD(place);
    assert_int_equal(ha_array_clear(x.array), HA_ERR_CONFLICT);
    TOLD(place);
    finish_token(&token);
    drop(x);
}

/* Nothing that needs the array alone is allowed. */
TEST(whole_operations_are_refused) {
    harray_double x = list_at(C), y = list_at(C);
    ha_token token = token_of(x.array, C, HA_READ, 4, 5);
    const snapshot before = snapshot_of(x);
    REFUSED(HA_ERR_CONFLICT, ha_array_free(x.array));
    REFUSED(HA_ERR_CONFLICT, ha_array_resize(x.array, 9));
    REFUSED(HA_ERR_CONFLICT, ha_array_purge(x.array));
    REFUSED(HA_ERR_CONFLICT, ha_array_swap(x.array, y.array));
    REFUSED(HA_ERR_CONFLICT, ha_array_take(x.array, y.array));
    REFUSED(HA_ERR_CONFLICT, ha_array_assign_at(x.array, y.array, C));
    expect_unchanged(x, &before);
    finish_token(&token);
    SUCCEEDS(ha_array_swap(x.array, y.array));
    drop(x);
    drop(y);
}

/* The read that was open before the detached write may go on, and no other may be opened. */
TEST(read_beside_a_detached_write) {
    harray_double x = list_at(C);
    ha_access r, w;
    ha_token token = {NULL, NULL, 0};
    SUCCEEDS(ha_open(&r, x.array, C, HA_READ, 0, HA_END));
    SUCCEEDS(ha_open(&w, x.array, C, HA_WRITE, 0, HA_END));
    SUCCEEDS(ha_detach(&token, &w));
    REFUSED(HA_ERR_CONFLICT, ha_open(&w, x.array, C, HA_READ, 0, HA_END));
    SUCCEEDS(ha_close(&r));
    finish_token(&token);
    SUCCEEDS(ha_open(&r, x.array, C, HA_READ, 0, HA_END));
    SUCCEEDS(ha_open(&w, x.array, C, HA_WRITE, 0, HA_END));
    SUCCEEDS(ha_detach(&token, &r));
    SUCCEEDS(ha_close(&w));
    REFUSED(HA_ERR_CONFLICT, ha_open(&w, x.array, C, HA_WRITE, 0, HA_END));
    finish_token(&token);
    drop(x);
}

/* ---- several threads ------------------------------------------------------------------------ */

typedef struct ender {
    ha_token *token;
    ha_status (*end)(ha_token *);
    ha_status status;
} ender;

static void *end_token(void *argument) {
    ender *e = (ender *)argument;
    e->status = e->end(e->token);
    return NULL;
}

static void end_elsewhere(ha_token *token, ha_status (*end)(ha_token *)) {
    ender e = {token, end, HA_ERR_BACKEND};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, end_token, &e), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(e.status, HA_OK);
    expect_ended(token);
    step();
}

static ha_status end_at_m1(ha_token *token) { return ha_token_end_at(token, M1); }

TEST(other_threads_wait) {
    harray_double x = list_at(C);
    ha_status (*const ends[])(ha_token *) = {ha_token_finish, ha_token_wait, end_at_m1};
    for (size_t i = 0; i < 3; i++) {
        opener o;
        ha_token token = token_of(x.array, C, HA_WRITE, 0, HA_END);
        REFUSED(HA_ERR_BUSY, open_elsewhere(x.array, C, HA_READ | HA_TRY, 0, HA_END));
        const uint64_t sleeps = ha_test_sleeps_();
        start_open(&o, x.array, C, HA_READ, 0, HA_END);
        until_asleep(sleeps + 1);
        assert_false(has_opened(&o));
        if (i % 2)
            SUCCEEDS(ends[i](&token));
        else
            end_elsewhere(&token, ends[i]); /* any thread may */
        assert_int_equal(wait_opened(&o), HA_OK);
        finish(&o);
    }
    drop(x);
}

/* The thread that detached it may wait for what another thread holds, though that waits for the
 * token: any thread may end it. */
TEST(no_circle_through_a_token) {
    harray_double x = list_at(C), y = list_at(C);
    ha_token token = token_of(x.array, C, HA_WRITE, 0, HA_END);
    ha_token theirs = token;
    ha_access a;
    opener first, second;
    uint64_t sleeps = ha_test_sleeps_();
    SUCCEEDS(ha_open(&a, y.array, C, HA_WRITE, 0, HA_END));
    start_open(&first, x.array, H, HA_READ, 0, HA_END); /* waits for the token */
    until_asleep(sleeps + 1);
    start_open(&second, y.array, H, HA_READ, 0, HA_END); /* waits for us, who detached it */
    until_asleep(sleeps + 2);
    SUCCEEDS(ha_close(&a));
    assert_int_equal(wait_opened(&second), HA_OK);
    end_elsewhere(&theirs, ha_token_finish);
    assert_int_equal(wait_opened(&first), HA_OK);
    finish(&first);
    finish(&second);
    drop(x);
    drop(y);
}

/* Ending its own token lets a thread queue behind waiting writers again, as closing does. */
TEST(ending_counts_as_closing) {
    harray_double x = list_at(C);
    const uint64_t held = ha_held();
    ha_status (*const ends[])(ha_token *) = {ha_token_finish, ha_token_wait, end_at_m1};
    for (size_t i = 0; i < 3; i++) {
        ha_token token = token_of(x.array, C, HA_WRITE, 0, HA_END);
        assert_int_equal(ha_held(), held + 1);
        SUCCEEDS(ends[i](&token));
        assert_int_equal(ha_held(), held);
        token = token_of(x.array, C, HA_WRITE, 0, HA_END);
        assert_int_equal(ha_held(), held + 1);
        end_elsewhere(&token, ends[i]);
        assert_int_equal(ha_held(), held);
    }
    drop(x);
}

/* So does a thread whose tokens others have ended: its reads let a writer go first. */
TEST(fair_after_others_have_ended_its_tokens) {
    harray_double x = list_at(C), y = list_at(C);
    opener reader, writer;
    ha_access a;
    for (int i = 0; i < 3; i++) {
        ha_token token = token_of(y.array, C, HA_WRITE, 0, HA_END);
        end_elsewhere(&token, ha_token_finish);
    }
    const uint64_t sleeps = ha_test_sleeps_();
    start_open(&reader, x.array, C, HA_READ, 0, HA_END);
    assert_int_equal(wait_opened(&reader), HA_OK);
    start_open(&writer, x.array, C, HA_WRITE, 0, HA_END);
    until_asleep(sleeps + 1);
    REFUSED(HA_ERR_BUSY, ha_open(&a, x.array, C, HA_READ | HA_TRY, 0, HA_END));
    ha_token token = token_of(y.array, C, HA_WRITE, 0, HA_END); /* now it holds something */
    SUCCEEDS(ha_open(&a, x.array, C, HA_READ | HA_TRY, 0, HA_END));
    SUCCEEDS(ha_close(&a));
    finish_token(&token);
    finish(&reader);
    assert_int_equal(wait_opened(&writer), HA_OK);
    finish(&writer);
    drop(x);
    drop(y);
}

/* ---- queues and tokens ---------------------------------------------------------------------- */

/* A writer waits for a token. Readers do not queue behind it: they may be those who end the token. */
TEST(readers_pass_a_writer_that_waits_for_a_token) {
    harray_double x = list_at(C);
    opener reader, writer;
    const uint64_t sleeps = ha_test_sleeps_();
    ha_token token = token_of(x.array, C, HA_READ, 0, HA_END);
    start_open(&writer, x.array, C, HA_WRITE, 0, HA_END);
    until_asleep(sleeps + 1);
    start_open(&reader, x.array, C, HA_READ, 0, HA_END);
    until_quiet();
    assert_true(has_opened(&reader));
    assert_int_equal(wait_opened(&reader), HA_OK);
    finish(&reader);
    assert_false(has_opened(&writer));
    finish_token(&token);
    assert_int_equal(wait_opened(&writer), HA_OK);
    finish(&writer);
    drop(x);
}

/* Nor behind one that comes to wait for a token while they queue. */
TEST(readers_pass_a_writer_that_comes_to_wait_for_a_token) {
    harray_double x = list_at(C);
    opener reader, writer;
    ha_access a;
    ha_token token = {NULL, NULL, 0};
    const uint64_t sleeps = ha_test_sleeps_();
    SUCCEEDS(ha_open(&a, x.array, C, HA_READ, 0, HA_END));
    start_open(&writer, x.array, C, HA_WRITE, 0, HA_END);
    until_asleep(sleeps + 1);
    start_open(&reader, x.array, C, HA_READ, 0, HA_END);
    until_asleep(sleeps + 2);
    assert_false(has_opened(&reader));
    SUCCEEDS(ha_detach(&token, &a));
    until_quiet();
    assert_true(has_opened(&reader));
    assert_int_equal(wait_opened(&reader), HA_OK);
    finish(&reader);
    finish_token(&token);
    assert_int_equal(wait_opened(&writer), HA_OK);
    finish(&writer);
    drop(x);
}

/* Reads x, and then waits for what is told. */
typedef struct two_step {
    ha_array *x, *y;
    atomic_int opened, may_go_on;
    ha_status first, second;
} two_step;

static void *read_then_write(void *argument) {
    two_step *t = (two_step *)argument;
    ha_access a, b;
    t->first = ha_open(&a, t->x, C, HA_READ, 0, HA_END);
    raise_flag(&t->opened);
    await_flag(&t->may_go_on);
    t->second = ha_open(&b, t->y, C, HA_WRITE, 0, HA_END);
    if (t->second == HA_OK) HA_IGNORE(ha_close(&b));
    if (t->first == HA_OK) HA_IGNORE(ha_close(&a));
    return NULL;
}

/* The writer of x waits for a thread that waits for a token on y. early: it does already when the
 * reader comes. */
static void pass_by_way_of_another(int early) {
    harray_double x = list_at(C), y = list_at(C);
    opener reader, writer;
    two_step between = {.x = x.array, .y = y.array};
    pthread_t thread;
    const uint64_t sleeps = ha_test_sleeps_();
    ha_token token = token_of(y.array, C, HA_WRITE, 0, HA_END);
    assert_int_equal(pthread_create(&thread, NULL, read_then_write, &between), 0);
    await_flag(&between.opened);
    start_open(&writer, x.array, C, HA_WRITE, 0, HA_END);
    until_asleep(sleeps + 1);
    if (early) {
        raise_flag(&between.may_go_on);
        until_asleep(sleeps + 2);
    }
    start_open(&reader, x.array, C, HA_READ, 0, HA_END);
    if (!early) {
        until_asleep(sleeps + 2);
        assert_false(has_opened(&reader));
        raise_flag(&between.may_go_on);
    }
    until_quiet();
    assert_true(has_opened(&reader));
    assert_int_equal(wait_opened(&reader), HA_OK);
    finish(&reader);
    finish_token(&token);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(between.first, HA_OK);
    assert_int_equal(between.second, HA_OK);
    assert_int_equal(wait_opened(&writer), HA_OK);
    finish(&writer);
    drop(x);
    drop(y);
}

TEST(readers_pass_by_way_of_another_thread) {
    pass_by_way_of_another(1);
    pass_by_way_of_another(0);
}

/* ---- order: with held queues ---------------------------------------------------------------- */

/* What is enqueued after detaching counts as the token's work; finishing does not wait for it, and
 * whoever opens does. */
TEST(finish_orders_and_does_not_block) {
    harray_double x = everywhere();
    opener o;
    ha_access a;
    ha_token token = {NULL, NULL, 0};
    hold(C);
    SUCCEEDS(ha_open(&a, x.array, C, HA_WRITE, 0, HA_END));
    const job j = {(double *)a.data, a.size, 1};
    SUCCEEDS(ha_detach(&token, &a));
    SUCCEEDS(ha_enqueue(C, fill_job, &j, sizeof j));
    finish_token(&token);
    start_open(&o, x.array, H, HA_READ, 0, HA_END);
    until_quiet();
    assert_false(has_opened(&o));
    let_go(C);
    assert_int_equal(wait_opened(&o), HA_OK);
    assert_true(o.seen == 1);
    finish(&o);
    drop(x);
}

typedef struct waiter {
    ha_token token;
    atomic_int ended;
    ha_status status;
} waiter;

static void *wait_token(void *argument) {
    waiter *w = (waiter *)argument;
    w->status = ha_token_wait(&w->token);
    atomic_store(&w->ended, 1);
    return NULL;
}

/* It blocks until the work is done, the array stays locked until then, and the rest of it may be
 * used meanwhile. */
TEST(wait_blocks_and_holds_nothing) {
    harray_double x = everywhere();
    waiter w = {token_of(x.array, C, HA_WRITE, 0, 10), 0, HA_ERR_BACKEND};
    atomic_int done;
    pthread_t thread;
    hold(C);
    enqueue_mark(C, &done);
    assert_int_equal(pthread_create(&thread, NULL, wait_token, &w), 0);
    until_quiet();
    assert_false(atomic_load(&w.ended));
    REFUSED(HA_ERR_BUSY, open_elsewhere(x.array, C, HA_READ | HA_TRY, 0, 5));
    assert_int_equal(open_elsewhere(x.array, H, HA_WRITE | HA_TRY, 10, HA_END), HA_OK);
    let_go(C);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(w.status, HA_OK);
    expect_ended(&w.token);
    assert_true(atomic_load(&done));
    drop(x);
}

/* What has been waited for needs no further event. */
TEST(wait_leaves_nothing_outstanding) {
    harray_double x = everywhere();
    ha_token token = token_of(x.array, C, HA_WRITE, 0, HA_END);
    SUCCEEDS(ha_token_wait(&token));
    ha_incarnation *in = ha_incarnation_find(x.array, C->memory);
    for (uint32_t i = 0; i < in->ops.n; i++)
        assert_true(ha_passed(in->ops.two[i].at.queue, in->ops.two[i].at.seq));
    drop(x);
}

/* A library writes host memory from a queue that the access knows nothing of. */
TEST(end_at_orders_the_host_behind_a_queue) {
    harray_double x = ramp(N);
    ha_access a;
    ha_token token = {NULL, NULL, 0};
    opener o;
    SUCCEEDS(ha_open(&a, x.array, H, HA_OVERWRITE, 0, HA_END));
    const job j = {(double *)a.data, a.size, 4};
    SUCCEEDS(ha_detach(&token, &a));
    hold(C);
    SUCCEEDS(ha_enqueue(C, fill_job, &j, sizeof j));
    SUCCEEDS(ha_token_end_at(&token, C)); /* does not block */
    expect_ended(&token);
    start_open(&o, x.array, H, HA_READ, 0, HA_END);
    until_quiet();
    assert_false(has_opened(&o));
    SUCCEEDS(ha_array_prefetch(x.array, F, 0, HA_END)); /* ordered on the device: no blocking */
    let_go(C);
    assert_int_equal(wait_opened(&o), HA_OK);
    assert_true(o.seen == 4);
    finish(&o);
    assert_true(sum_at(x, F) == 4.0 * N);
    drop(x);
}

/* Both queues are waited for: the access's own, and the one that it ends at. */
static void end_at_two_queues(ha_context *held, unsigned how) {
    harray_double x = everywhere();
    ha_access a;
    ha_token token = {NULL, NULL, 0};
    opener o;
    atomic_int done, later;
    hold(held);
    SUCCEEDS(ha_open(&a, x.array, C, how, 0, HA_END));
    SUCCEEDS(ha_detach(&token, &a));
    enqueue_mark(held, &done);
    SUCCEEDS(ha_token_end_at(&token, F));
    start_open(&o, x.array, C == held ? M2 : C, HA_WRITE, 0, HA_END);
    if (held == C) { /* from another backend: the host waits */
        until_quiet();
        assert_false(has_opened(&o));
    } else { /* on the device */
        assert_int_equal(wait_opened(&o), HA_OK);
        enqueue_mark(C, &later);
        until_quiet();
        assert_false(atomic_load(&later));
    }
    assert_false(atomic_load(&done));
    let_go(held);
    assert_int_equal(wait_opened(&o), HA_OK);
    finish(&o);
    SUCCEEDS(ha_context_finish(C));
    assert_true(sum_at(x, H) == RAMP_SUM);
    drop(x);
}

TEST(end_at_keeps_its_own_queue) {
    end_at_two_queues(C, HA_WRITE);
    end_at_two_queues(F, HA_WRITE);
    end_at_two_queues(F, HA_READ);
}

/* A later write comes after both, and takes their place. */
TEST(end_at_is_replaced_by_a_write) {
    harray_double x = everywhere();
    ha_token token = token_of(x.array, C, HA_WRITE, 0, HA_END);
    hold(C);
    hold(F);
    SUCCEEDS(ha_token_end_at(&token, F));
    ha_incarnation *in = ha_incarnation_find(x.array, C->memory);
    assert_int_equal(in->ops.n, 2);
    HA_WRITING(v, x, C) step();
    else fail();
    assert_int_equal(in->ops.n, 1);
    let_go(C);
    let_go(F);
    drop(x);
}

/* Position after position needs room. */
TEST(end_at_makes_room) {
    harray_double x = everywhere();
    ha_context *const queues[] = {C, F, ha_context_fork(C), ha_context_fork(C)};
    for (size_t i = 0; i < 4; i++) hold(queues[i]);
    for (size_t i = 0; i < 40; i++) {
        ha_token token = token_of(x.array, C, HA_READ, i, i + 10);
        SUCCEEDS(ha_token_end_at(&token, queues[i % 4]));
    }
    for (size_t i = 0; i < 4; i++) let_go(queues[i]);
    add_at(x, C, 1);
    assert_true(sum_at(x, H) == RAMP_SUM + N);
    for (size_t i = 2; i < 4; i++) SUCCEEDS(ha_context_unfork(queues[i]));
    drop(x);
}

/* The host is where it is: as finishing. So is the access's own context. An empty range has no work
 * on it. */
TEST(end_at_without_a_second_queue) {
    harray_double x = everywhere();
    ha_token token = token_of(x.array, C, HA_WRITE, 0, HA_END);
    SUCCEEDS(ha_token_end_at(&token, NULL));
    expect_ended(&token);
    token = token_of(x.array, C, HA_WRITE, 0, HA_END);
    SUCCEEDS(ha_token_end_at(&token, C));
    expect_ended(&token);
    token = token_of(x.array, C, HA_WRITE, 3, 3);
    SUCCEEDS(ha_token_end_at(&token, F));
    expect_ended(&token);
    assert_true(sum_at(x, H) == RAMP_SUM);
    drop(x);
}

/* ---- events of the caller ------------------------------------------------------------------- */

static size_t event_queues(void) {
    size_t n = 0;
    for (const ha_context *c = ha_registry.contexts; c; c = c->next) n += (size_t)c->for_events;
    return n;
}

/* The user's own event on a queue of the private backend; nothing runs there until it is waited
 * for. */
static ha_event event_on(ha_context *context) {
    ha_event event;
    SUCCEEDS(example_record(context->queue, &event));
    return event;
}

/* Work on the host's memory, enqueued on `queue`, and a token that ends when it has happened. */
static void begin_work_with_event(harray_double x, ha_context *queue, double amount) {
    ha_access a;
    ha_token token = {NULL, NULL, 0};
    SUCCEEDS(ha_open(&a, x.array, H, HA_OVERWRITE, 0, HA_END));
    const job j = {(double *)a.data, a.size, amount};
    SUCCEEDS(ha_detach(&token, &a));
    SUCCEEDS(ha_enqueue(queue, fill_job, &j, sizeof j));
    ha_event event = event_on(queue);
    SUCCEEDS(ha_token_end_after(&token, M2, &event));
    expect_ended(&token);
}

static uint64_t executed(const ha_context *c) {
    return ((const example_queue *)c->queue)->executed;
}

TEST(end_after_waits_for_the_event) {
    harray_double x = ramp(SMALL);
    ha_context *queue = ha_context_fork(M2);
    begin_work_with_event(x, queue, 4);
    SUCCEEDS(ha_context_finish(M2)); /* its own queue does not wait for the event */
    assert_int_equal(executed(queue), 0);
    VALUES(x, 4, 4, 4, 4, 4);
    assert_int_equal(executed(queue), 1);
    SUCCEEDS(ha_context_unfork(queue));
    drop(x);
}

/* One that waits is not used for another event; one that has waited is. */
TEST(event_queues_are_used_again) {
    harray_double x = ramp(SMALL), y = ramp(SMALL);
    ha_context *first = ha_context_fork(M2), *second = ha_context_fork(M2);
    begin_work_with_event(x, first, 1);
    const size_t before = event_queues();
    begin_work_with_event(y, second, 2);
    assert_int_equal(event_queues(), before + 1);
    VALUES(y, 2, 2, 2, 2, 2);
    VALUES(x, 1, 1, 1, 1, 1);
    for (int i = 0; i < 20; i++) {
        begin_work_with_event(x, first, 3);
        VALUES(x, 3, 3, 3, 3, 3);
    }
    assert_int_equal(event_queues(), before + 1);
    SUCCEEDS(ha_context_unfork(first));
    SUCCEEDS(ha_context_unfork(second));
    drop(x);
    drop(y);
}

/* Also when nobody ever waits for what they wait for. */
TEST(event_queues_do_not_pile_up) {
    harray_double x[20];
    ha_context *queue = ha_context_fork(M2);
    const size_t before = event_queues();
    for (size_t i = 0; i < 20; i++) {
        x[i] = ramp(SMALL);
        begin_work_with_event(x[i], queue, 3);
    }
    assert_true(event_queues() < before + 5);
    for (size_t i = 0; i < 20; i++) drop(x[i]);
    SUCCEEDS(ha_context_unfork(queue));
}

TEST(end_after_refuses) {
    harray_double x = everywhere();
    ha_token token = token_of(x.array, C, HA_WRITE, 0, HA_END);
    const ha_token same = token;
    ha_event event = {NULL, 0};
    REFUSED(HA_ERR_UNSUPPORTED, ha_token_end_after(&token, C, &event)); /* sim has no such events */
    REFUSED(HA_ERR_ARGUMENT, ha_token_end_after(&token, M2, NULL));
    assert_memory_equal(&token, &same, sizeof same);
    REFUSED(HA_ERR_BUSY, open_elsewhere(x.array, C, HA_READ | HA_TRY, 0, HA_END));
    SUCCEEDS(ha_token_end_after(&token, H, &event));
    expect_ended(&token);
    drop(x);
}

/* Bytes are copied behind what was enqueued on both contexts, whichever comes first, and nobody waits for that
 * but whoever ends the token. */
TEST(copies_of_bytes_order_and_do_not_block) {
    for (int first = 0; first < 2; first++) {
        double values[SMALL] = {1, 2, 3, 4, 5}, back[SMALL] = {0};
        double *a = (double *)ha_memory_allocate(C, sizeof values);
        double *b = (double *)ha_memory_allocate(M1, sizeof values);
        const job before = {a, SMALL, 1}, late = {b, SMALL, 100};
        ha_token there = {NULL, NULL, 0}, home = {NULL, NULL, 0};
        SUCCEEDS(ha_copy(a, C, values, H, sizeof values));
        SUCCEEDS(ha_copy(b, M1, values, H, sizeof values));
        hold(C);
        hold(M1);
        SUCCEEDS(ha_enqueue(C, add_job, &before, sizeof before));
        SUCCEEDS(ha_enqueue(M1, add_job, &late, sizeof late));
        SUCCEEDS(ha_copy_start(&there, b, M1, a, C, sizeof values));
        let_go(first ? C : M1);
        let_go(first ? M1 : C);
        SUCCEEDS(ha_token_wait(&there));
        expect_ended(&there);
        hold(M1);
        SUCCEEDS(ha_enqueue(M1, add_job, &late, sizeof late));
        SUCCEEDS(ha_copy_start(&home, back, H, b, M1, sizeof values));
        assert_true(back[0] == 0);
        let_go(M1);
        SUCCEEDS(ha_token_finish(&home));
        for (int i = 0; i < SMALL; i++) assert_true(back[i] == i + 102);
        SUCCEEDS(ha_memory_release(C, a));
        SUCCEEDS(ha_memory_release(M1, b));
    }
}

/* Inside a memory it is one queue that copies; another one of the device may be behind. */
TEST(copies_inside_a_memory_do_not_block) {
    double values[SMALL] = {1, 2, 3, 4, 5}, back[SMALL] = {0};
    double *a = (double *)ha_memory_allocate(C, 2 * sizeof values);
    const job before = {a, SMALL, 1};
    SUCCEEDS(ha_copy(a, C, values, H, sizeof values));
    hold(F);
    SUCCEEDS(ha_enqueue(F, add_job, &before, sizeof before));
    ha_token token = {NULL, NULL, 0};
    SUCCEEDS(ha_copy_start(&token, a + SMALL, C, a, F, sizeof values));
    let_go(F);
    SUCCEEDS(ha_token_wait(&token));
    SUCCEEDS(ha_copy(back, H, a + SMALL, C, sizeof values));
    for (int i = 0; i < SMALL; i++) assert_true(back[i] == i + 2);
    SUCCEEDS(ha_memory_release(C, a));
}

TEST(copies_of_no_bytes) {
    ha_token token = {NULL, NULL, 0};
    SUCCEEDS(ha_copy_start(&token, NULL, C, NULL, H, 0));
    assert_non_null(token.array);
    SUCCEEDS(ha_token_wait(&token));
    REFUSED(HA_ERR_ARGUMENT, ha_copy_start(&token, NULL, C, &token, H, 8));
    REFUSED(HA_ERR_ARGUMENT, ha_copy_start(NULL, NULL, C, NULL, H, 0));
    expect_ended(&token);
}

/* The array has gone since, or has nothing there any more. */
TEST(copies_of_tokens_of_the_past) {
    harray_double x = list_at(C), y = list_at(H), z = list_at(H);
    ha_event event = event_on(M2);
    ha_token tokens[2] = {token_of(x.array, C, HA_WRITE, 0, HA_END),
                          token_of(y.array, C, HA_READ, 0, HA_END)};
    for (size_t i = 0; i < 2; i++) {
        ha_token first = tokens[i];
        finish_token(&first);
    }
    VALUES(x, 5, 6, 2, 3, -5); /* so that it may go from C */
    drop(x);
    SUCCEEDS(harray_double_swap(y, z));
    assert_null(ha_incarnation_find(y.array, C->memory));
    for (size_t i = 0; i < 2; i++) {
        REFUSED(HA_ERR_STATE, ha_token_finish(&tokens[i]));
        REFUSED(HA_ERR_STATE, ha_token_wait(&tokens[i]));
        REFUSED(HA_ERR_STATE, ha_token_end_at(&tokens[i], M1));
        REFUSED(HA_ERR_STATE, ha_token_end_after(&tokens[i], M2, &event));
    }
    drop(y);
    drop(z);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(detached_access),
        CASE(token_that_reads),
        CASE(token_of_queued_work),
        CASE(token_ends_with_its_scope),
        CASE(what_cannot_be_detached),
        CASE(tokens_end_once),
        CASE(own_thread_is_refused),
        CASE(messages_name_the_place),
        CASE(whole_operations_are_refused),
        CASE(read_beside_a_detached_write),
        CASE(other_threads_wait),
        CASE(no_circle_through_a_token),
        CASE(ending_counts_as_closing),
        CASE(fair_after_others_have_ended_its_tokens),
        CASE(readers_pass_a_writer_that_waits_for_a_token),
        CASE(readers_pass_a_writer_that_comes_to_wait_for_a_token),
        CASE(readers_pass_by_way_of_another_thread),
        CASE(copies_of_no_bytes),
    };
    const struct CMUnitTest ordered[] = {
        ORDER(finish_orders_and_does_not_block),
        ORDER(wait_blocks_and_holds_nothing),
        ORDER(wait_leaves_nothing_outstanding),
        ORDER(end_at_orders_the_host_behind_a_queue),
        ORDER(end_at_keeps_its_own_queue),
        ORDER(end_at_is_replaced_by_a_write),
        ORDER(end_at_makes_room),
        ORDER(end_at_without_a_second_queue),
        ORDER(end_after_waits_for_the_event),
        ORDER(event_queues_are_used_again),
        ORDER(event_queues_do_not_pile_up),
        ORDER(end_after_refuses),
        ORDER(copies_of_bytes_order_and_do_not_block),
        ORDER(copies_inside_a_memory_do_not_block),
        ORDER(copies_of_tokens_of_the_past),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    if (failed) return failed;
    RUN_WITH_AND_WITHOUT_DELAYS(failed, ordered);
    return failed;
}
