/* Opening many arrays at once: all or nothing, in a global order. On the contexts of
 * support/matrix.h, and with held queues (support/held.h). */
#define _GNU_SOURCE 1
#include <sched.h>

static int noted_yield(void);
#define sched_yield() noted_yield()
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/held.h"
#include "../support/threads.h"

#undef sched_yield

static _Thread_local int is_noted;
static atomic_int yields; /* of threads that are noted */

static int noted_yield(void) {
    if (is_noted) atomic_store(&yields, 1);
    return sched_yield();
}

static ha_request request(ha_access *access, harray_double x, ha_context *context, unsigned how,
                          size_t first, size_t last) {
    const ha_request r = {.access = access,
                          .array = x.array,
                          .context = context,
                          .how = how,
                          .first = first,
                          .last = last};
    return r;
}

static ha_request request_all(ha_access *access, harray_double x, ha_context *context,
                              unsigned how) {
    return request(access, x, context, how, 0, HA_END);
}

static ha_request request_size(ha_access *access, harray_double x, ha_context *context, size_t n) {
    const ha_request r = {.access = access,
                          .array = x.array,
                          .context = context,
                          .how = HA_OVERWRITE,
                          .sets_size = 1,
                          .n = n};
    return r;
}

static void close_all(ha_access *accesses, size_t count) {
    for (size_t i = 0; i < count; i++) SUCCEEDS(ha_close(&accesses[i]));
}

static void add_to(const ha_access *a, double amount) {
    const job j = {(double *)a->data, a->size, amount};
    SUCCEEDS(ha_enqueue(a->context, add_job, &j, sizeof j));
}

/* A failed access has nothing but a status. */
static void expect_not_open(const ha_access *a, ha_status status) {
    const ha_access zero = {NULL, 0, 0, NULL, NULL, 0, HA_OK};
    assert_memory_equal(a, &zero, offsetof(ha_access, status));
    assert_int_equal(a->status, status);
}

/* Three arrays; two of them so that the first has the lower address. */
typedef struct trio {
    harray_double x, y, z;
} trio;

static trio three(ha_context *context) {
    trio t = {list_at(context), list_at(context), list_at(context)};
    harray_double *const all[] = {&t.x, &t.y, &t.z};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = i + 1; j < 3; j++)
            if ((uintptr_t)all[i]->array > (uintptr_t)all[j]->array) {
                harray_double swapped = *all[i];
                *all[i] = *all[j];
                *all[j] = swapped;
            }
    return t;
}

static void drop_three(const trio *t) {
    drop(t->x);
    drop(t->y);
    drop(t->z);
}

/* ---- all ------------------------------------------------------------------------------------ */

TEST(opens_all) {
    trio t = three(H);
    ha_access a[4];
    memset(a, 0xAA, sizeof a);
    ha_request list[] = {
        request_size(&a[0], t.z, C, 7),
        request_all(&a[1], t.x, M1, HA_READ),
        request(&a[2], t.y, C, HA_WRITE, 1, 3),
        request(&a[3], t.y, H, HA_READ, 3, HA_END),
    };
    SUCCEEDS(ha_open_many(list, 4));
    ha_array *const arrays_of[] = {t.z.array, t.x.array, t.y.array, t.y.array};
    const size_t sizes[] = {7, 5, 2, 2}, firsts[] = {0, 0, 1, 3};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(a[i].status, HA_OK);
        assert_ptr_equal(a[i].array, arrays_of[i]);
        assert_ptr_equal(a[i].context, list[i].context);
        assert_int_equal(a[i].size, sizes[i]);
        assert_int_equal(a[i].first, firsts[i]);
        assert_non_null(a[i].data);
    }
    const job j = {(double *)a[0].data, 7, 2};
    SUCCEEDS(ha_enqueue(C, fill_job, &j, sizeof j));
    add_to(&a[2], 10);
    assert_true(((const double *)a[3].data)[1] == -5);
    close_all(a, 4);
    VALUES(t.z, 2, 2, 2, 2, 2, 2, 2);
    VALUES(t.y, 5, 16, 12, 3, -5);
    assert_true(sum_at(t.x, M1) == 11);
    ha_request larger[] = {request_size(&a[0], t.z, C, 50), request_size(&a[1], t.x, M1, 60)};
    SUCCEEDS(ha_open_many(larger, 2)); /* new blocks: the old ones go back */
    close_all(a, 2);
    drop_three(&t);
}

TEST(nothing_to_open) {
    ha_request list[1];
    memset(list, 0xAA, sizeof list);
    SUCCEEDS(ha_open_many(list, 0));
    SUCCEEDS(ha_open_many(NULL, 0));
    REFUSED(HA_ERR_ARGUMENT, ha_open_many(NULL, 1));
}

/* y = f(y), in either order; and what can be open beside each other. */
TEST(one_array_several_times) {
    harray_double x = list_at(H);
    ha_access a[3];
    ha_request turned[] = {request_all(&a[1], x, C, HA_WRITE), request_all(&a[0], x, C, HA_READ)};
    SUCCEEDS(ha_open_many(turned, 2));
    assert_ptr_equal(a[0].data, a[1].data);
    add_to(&a[1], 1);
    close_all(a, 2);
    ha_request apart[] = {request(&a[0], x, C, HA_WRITE, 3, 5),
                          request(&a[1], x, H, HA_WRITE, 0, 1),
                          request(&a[2], x, M1, HA_READ, 1, 3)};
    SUCCEEDS(ha_open_many(apart, 3));
    add_to(&a[0], 1);
    *(double *)a[1].data = 0;
    close_all(a, 3);
    VALUES(x, 0, 7, 3, 5, -3);
    ha_request same_size[] = {request_size(&a[1], x, C, 5), request_all(&a[0], x, C, HA_READ)};
    SUCCEEDS(ha_open_many(same_size, 2));
    assert_ptr_equal(a[0].data, a[1].data);
    close_all(a, 2);
    drop(x);
}

/* Every commit splits the ranges that are valid elsewhere: there is room for all of them. */
TEST(many_pieces_of_one_array) {
    enum { PIECES = 20 };
    harray_double x = ramp(3 * PIECES);
    ha_access a[PIECES];
    ha_request list[PIECES];
    ha_context *const places[] = {H, C, M1, M2};
    for (size_t i = 0; i < 4; i++) touch(x, places[i]);
    for (size_t i = 0; i < PIECES; i++)
        list[i] = request(&a[i], x, places[i % 4], i % 3 ? HA_WRITE : HA_OVERWRITE, 3 * i + 1,
                          3 * i + 2);
    SUCCEEDS(ha_open_many(list, PIECES));
    for (size_t i = 0; i < PIECES; i++) {
        const job j = {(double *)a[i].data, 1, (double)(3 * i + 1)};
        SUCCEEDS(ha_enqueue(a[i].context, fill_job, &j, sizeof j));
    }
    close_all(a, PIECES);
    HA_READING(v, x, H) for (size_t i = 0; i < v.size; i++) assert_true(v.data[i] == (double)i);
    else fail();
    drop(x);
}

/* Where all is valid and nobody is in the way, no call looks at more than the arrays it was given. */
TEST(nobody_in_the_way) {
    trio t = three(H);
    ha_access a[3];
    ha_request list[] = {request_all(&a[0], t.z, H, HA_READ),
                         request(&a[1], t.x, H, HA_WRITE, 1, 3), request_size(&a[2], t.y, H, 5)};
    const uint64_t versions[] = {ha_array_version(t.z.array), ha_array_version(t.x.array),
                                 ha_array_version(t.y.array)};
    const uint64_t before = ha_steps_, held = ha_self.held;
    SUCCEEDS(ha_open_many(list, 3));
    assert_int_equal(ha_self.held, held + 3);
    assert_int_equal(a[0].size, 5);
    assert_int_equal(a[1].first, 1);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(ha_array_version(a[i].array), versions[i] + (i > 0));
    SUCCEEDS(ha_close_many(list, 3));
    if (!HA_DEBUGGING_) assert_int_equal(ha_steps_, before);
    assert_int_equal(ha_self.held, held);
    drop_three(&t);
}

/* All are closed that are open; the first failure is told. */
TEST(closes_all) {
    trio t = three(H);
    ha_access a[3];
    ha_request list[] = {request_all(&a[0], t.x, C, HA_READ), request_all(&a[1], t.y, C, HA_WRITE),
                         request_all(&a[2], t.z, H, HA_READ)};
    SUCCEEDS(ha_close_many(NULL, 0));
    REFUSED(HA_ERR_ARGUMENT, ha_close_many(NULL, 1));
    SUCCEEDS(ha_open_many(list, 3));
    SUCCEEDS(ha_close_many(list, 3));
    for (size_t i = 0; i < 3; i++) assert_null(a[i].array);
    SUCCEEDS(ha_open_many(list, 3));
    SUCCEEDS(ha_close(&a[1]));
    REFUSED(HA_ERR_STATE, ha_close_many(list, 3));
    for (size_t i = 0; i < 3; i++) assert_null(a[i].array);
    drop_three(&t);
}

/* ---- or nothing ----------------------------------------------------------------------------- */

/* Three arrays, of which the last cannot be had: nothing has changed, and nothing is held. */
static void expect_nothing(trio *t, ha_request *list, ha_access *a, size_t count, size_t failing,
                           ha_status status) {
    const snapshot before[] = {snapshot_of(t->x), snapshot_of(t->y), snapshot_of(t->z)};
    const uint64_t held = ha_self.held;
    memset(a, 0xAA, count * sizeof *a);
    REFUSED(status, ha_open_many(list, count));
    for (size_t i = 0; i < count; i++) expect_not_open(&a[i], i == failing ? status : HA_ERR_STATE);
    expect_unchanged(t->x, &before[0]);
    expect_unchanged(t->y, &before[1]);
    expect_unchanged(t->z, &before[2]);
    assert_int_equal(ha_self.held, held);
}

TEST(fails_at_any_place) {
    trio t = three(H);
    harray_double never = keep(harray_double_new(4));
    ha_access a[4];
    for (size_t bad = 0; bad < 4; bad++) {
        ha_request list[4];
        const harray_double good[] = {t.x, t.y, t.z};
        for (size_t i = 0, k = 0; i < 4; i++)
            list[i] = i == bad ? request_all(&a[i], never, M1, HA_READ)
                               : request_all(&a[i], good[k++], i % 2 ? C : M1, HA_WRITE);
        expect_nothing(&t, list, a, 4, bad, HA_ERR_STATE);
        list[bad] = request(&a[bad], never, C, HA_OVERWRITE, 2, 5);
        expect_nothing(&t, list, a, 4, bad, HA_ERR_ARGUMENT);
        list[bad] = request_size(&a[bad], never, C, SIZE_MAX / 16);
        expect_nothing(&t, list, a, 4, bad, HA_ERR_MEMORY);
    }
    VALID_NOWHERE(never, H);
    for (size_t i = 0; i < 3; i++) {
        const harray_double all[] = {t.x, t.y, t.z};
        assert_int_equal(open_elsewhere(all[i].array, H, HA_WRITE | HA_TRY, 0, HA_END), HA_OK);
    }
    drop(never);
    drop_three(&t);
}

TEST(own_accesses_conflict) {
    trio t = three(H);
    ha_access a[3], mine;
    ha_request list[] = {request_all(&a[0], t.x, C, HA_WRITE), request_all(&a[1], t.z, H, HA_READ),
                         request_all(&a[2], t.y, C, HA_READ)};
    SUCCEEDS(ha_open(&mine, t.y.array, H, HA_WRITE, 0, HA_END));
    expect_nothing(&t, list, a, 3, 2, HA_ERR_CONFLICT);
    SUCCEEDS(ha_close(&mine));
    SUCCEEDS(ha_open(&mine, t.y.array, H, HA_READ, 0, HA_END));
    SUCCEEDS(ha_open_many(list, 3));
    close_all(a, 3);
    SUCCEEDS(ha_close(&mine));
    drop_three(&t);
}

/* What could not be opened one after the other; the one that comes later is the one that fails. */
TEST(requests_conflict) {
    trio t = three(H);
    ha_access a[3];
    ha_request elsewhere[] = {request_all(&a[0], t.y, M1, HA_WRITE),
                              request_all(&a[1], t.x, M1, HA_WRITE),
                              request_all(&a[2], t.y, M2, HA_READ)};
    expect_nothing(&t, elsewhere, a, 3, 0, HA_ERR_CONFLICT);
    ha_request twice[] = {request(&a[0], t.y, C, HA_WRITE, 0, 3),
                          request_all(&a[1], t.x, C, HA_READ),
                          request(&a[2], t.y, C, HA_WRITE, 2, 5)};
    expect_nothing(&t, twice, a, 3, 2, HA_ERR_CONFLICT);
    ha_request resizes[] = {request_size(&a[0], t.y, C, 4), request_all(&a[1], t.y, C, HA_READ)};
    expect_nothing(&t, resizes, a, 2, 0, HA_ERR_CONFLICT);
    drop_three(&t);
}

TEST(requests_that_make_no_sense) {
    trio t = three(H);
    ha_access a[3];
    ha_request list[3],
        good[] = {request_all(&a[0], t.x, C, HA_READ), request_all(&a[1], t.y, C, HA_WRITE),
                  request_all(&a[2], t.z, C, HA_READ)};
    memcpy(list, good, sizeof list);
    list[1].array = NULL;
    expect_nothing(&t, list, a, 3, 1, HA_ERR_ARGUMENT);
    memcpy(list, good, sizeof list);
    list[2].how = 3;
    expect_nothing(&t, list, a, 3, 2, HA_ERR_ARGUMENT);
    memcpy(list, good, sizeof list);
    list[1].sets_size = 1; /* without overwriting */
    expect_nothing(&t, list, a, 3, 1, HA_ERR_ARGUMENT);
    list[1] = request_size(&a[1], t.y, C, 3);
    list[1].first = 1; /* not the whole */
    expect_nothing(&t, list, a, 3, 1, HA_ERR_ARGUMENT);
    memcpy(list, good, sizeof list);
    list[2].access = &a[0]; /* twice */
    const snapshot before = snapshot_of(t.y);
    REFUSED(HA_ERR_ARGUMENT, ha_open_many(list, 3));
    expect_not_open(&a[0], HA_ERR_STATE);
    list[1].access = list[2].access = &a[1]; /* … with all others as they should be */
    list[1].array = list[2].array = t.z.array;
    list[1].how = HA_READ;
    REFUSED(HA_ERR_ARGUMENT, ha_open_many(list, 3));
    list[2].access = NULL;
    REFUSED(HA_ERR_ARGUMENT, ha_open_many(list, 3));
    expect_unchanged(t.y, &before);
    SUCCEEDS(ha_open_many(good, 3));
    close_all(a, 3);
    drop_three(&t);
}

/* What the caller's memory does not allow, is refused before anything else. */
TEST(requests_for_the_callers_memory) {
    trio t = three(H);
    const double values[] = {1, 2, 3};
    harray_double x = keep(harray_double_wrap_const(values, 3));
    ha_access a[3];
    ha_request list[] = {request_all(&a[0], t.y, C, HA_WRITE), request_all(&a[1], x, C, HA_READ),
                         request_all(&a[2], x, C, HA_WRITE)};
    expect_nothing(&t, list, a, 3, 2, HA_ERR_STATE);
    list[2] = request(&a[2], x, H, HA_READ, 1, 2);
    SUCCEEDS(ha_open_many(list, 3));
    close_all(a, 3);
    drop(x);
    drop_three(&t);
}

static int told;
static trio told_about;

/* When it hears of the error, nothing is held: it can write all of them. */
static void on_error(const ha_error *error, HA_UNUSED void *user) {
    harray_double all[] = {told_about.x, told_about.y, told_about.z};
    told++;
    assert_string_equal(error->operation, "ha_open_many");
    for (size_t i = 0; i < 3; i++) {
        ha_access a;
        assert_int_equal(ha_open(&a, all[i].array, H, HA_WRITE | HA_TRY, 0, HA_END), HA_OK);
        assert_int_equal(ha_close(&a), HA_OK);
    }
}

TEST(errors_are_told_when_nothing_is_held) {
    told_about = three(H);
    trio *t = &told_about;
    ha_access a[3];
    ha_array_set_name(t->y.array, "unlucky");
    ha_request conflict[] = {request_all(&a[0], t->z, C, HA_READ),
                             request_all(&a[1], t->y, M1, HA_READ),
                             request_all(&a[2], t->y, C, HA_WRITE)};
    ha_request range[] = {request_all(&a[0], t->z, C, HA_READ),
                          request_all(&a[1], t->x, C, HA_WRITE),
                          request(&a[2], t->y, C, HA_WRITE, 2, 6)};
    told = 0;
    ha_set_error_handler(on_error, NULL);
    assert_int_equal(ha_open_many(conflict, 3), HA_ERR_CONFLICT);
    assert_non_null(strstr(ha_take_error().text, "unlucky"));
    assert_int_equal(ha_open_many(range, 3), HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "unlucky"));
    ha_set_error_handler(NULL, NULL);
    assert_int_equal(told, 2);
    drop_three(t);
}

/* ---- several threads ------------------------------------------------------------------------ */

TEST(trying) {
    trio t = three(H);
    ha_access a[3];
    opener o;
    start_open(&o, t.y.array, H, HA_READ, 0, HA_END);
    assert_int_equal(wait_opened(&o), HA_OK);
    ha_request list[] = {request_all(&a[0], t.x, C, HA_WRITE | HA_TRY),
                         request_all(&a[1], t.y, C, HA_WRITE), request_all(&a[2], t.z, C, HA_READ)};
    expect_nothing(&t, list, a, 3, 1, HA_ERR_BUSY);
    for (size_t i = 0; i < 3; i++) list[i].context = H; /* where nothing hinders the others */
    expect_nothing(&t, list, a, 3, 1, HA_ERR_BUSY);
    list[1].how = HA_READ;
    SUCCEEDS(ha_open_many(list, 3));
    close_all(a, 3);
    finish(&o);
    drop_three(&t);
}

/* Opens two arrays (or one more) on another thread, and closes them when it may. */
typedef struct pair_opener {
    size_t count;
    ha_request list[3];
    ha_access a[3];
    pthread_t thread;
    atomic_int opened, may_close;
    ha_status status;
} pair_opener;

static void *open_pair(void *argument) {
    pair_opener *p = (pair_opener *)argument;
    p->status = ha_open_many(p->list, p->count);
    atomic_store(&p->opened, 1);
    await_flag(&p->may_close);
    for (size_t i = 0; i < p->count && p->status == HA_OK; i++) HA_IGNORE(ha_close(&p->a[i]));
    return NULL;
}

static void begin_pair(pair_opener *p, ha_request first, ha_request second) {
    memset(p, 0, sizeof *p);
    p->list[0] = first;
    p->list[1] = second;
    p->list[0].access = &p->a[0];
    p->list[1].access = &p->a[1];
    p->count = 2;
}

static void run_pair(pair_opener *p) {
    assert_int_equal(pthread_create(&p->thread, NULL, open_pair, p), 0);
}

static void start_pair(pair_opener *p, ha_request first, ha_request second) {
    begin_pair(p, first, second);
    run_pair(p);
}

static void finish_pair(pair_opener *p, ha_status expected) {
    raise_flag(&p->may_close);
    assert_int_equal(pthread_join(p->thread, NULL), 0);
    assert_int_equal(p->status, expected);
    step();
}

/* What is held while others are tried, and given back, is had by whoever waits for it. */
TEST(what_is_given_back_is_had_by_others) {
    trio t = three(H);
    ha_access a;
    opener o;
    const ha_request r = request_all(&a, t.x, C, HA_WRITE);
    touch(t.x, H);
    HA_WRITING(v, t.x, C) fill(&v, 1);
    else fail();
    step();
    const uint64_t sleeps = ha_test_sleeps_();
    const ha_ops *const ops = &ha_incarnation_find(t.x.array, C->memory)->ops;
    const uint32_t promised = ops->promised;
    if (ha_request_hold(&r, HA_SITE)) { /* nothing is easy on some contexts */
        start_open(&o, t.x.array, H, HA_READ, 0, HA_END);
        until_asleep(sleeps + 1);
        ha_let_go(r.access);
        assert_int_equal(ops->promised, promised);
        assert_int_equal(wait_opened(&o), HA_OK);
        finish(&o);
    } else
        assert_true(C->strict || HA_DEBUGGING_ || shares_memory(C));
    drop_three(&t);
}

/* It waits for the second with the first in hand, and gets both. */
TEST(waits_for_others) {
    trio t = three(H);
    ha_access mine;
    pair_opener p;
    const uint64_t sleeps = ha_test_sleeps_();
    SUCCEEDS(ha_open(&mine, t.y.array, H, HA_WRITE, 0, HA_END));
    start_pair(&p, request_all(NULL, t.y, C, HA_READ), request_all(NULL, t.x, C, HA_WRITE));
    until_asleep(sleeps + 1);
    REFUSED(HA_ERR_BUSY, open_elsewhere(t.x.array, C, HA_READ | HA_TRY, 0, HA_END));
    assert_false(atomic_load(&p.opened));
    SUCCEEDS(ha_close(&mine));
    finish_pair(&p, HA_OK);
    drop_three(&t);
}

/* Two threads that both read an array and then write it are admitted one after the other: neither
 * gets the read while the other one waits to write. */
TEST(one_array_is_asked_for_at_once) {
    trio t = three(H);
    ha_access mine;
    pair_opener p, q;
    const uint64_t sleeps = ha_test_sleeps_();
    SUCCEEDS(ha_open(&mine, t.x.array, H, HA_READ, 0, 1));
    start_pair(&p, request(NULL, t.x, C, HA_READ, 1, 3), request(NULL, t.x, C, HA_WRITE, 0, 3));
    until_asleep(sleeps + 1);
    /* Nothing of what it waits for is locked. */
    assert_int_equal(open_elsewhere(t.x.array, H, HA_WRITE | HA_TRY, 1, 3), HA_OK);
    start_pair(&q, request(NULL, t.x, C, HA_WRITE, 0, 5), request(NULL, t.x, C, HA_READ, 0, 5));
    until_asleep(sleeps + 2);
    raise_flag(&p.may_close);
    SUCCEEDS(ha_close(&mine));
    finish_pair(&p, HA_OK);
    finish_pair(&q, HA_OK);
    drop_three(&t);
}

/* A plain access that would deadlock is refused, or makes the other one be. */
TEST(deadlocks_with_others) {
    trio t = three(H);
    ha_access mine, more;
    pair_opener p;
    const uint64_t sleeps = ha_test_sleeps_();
    SUCCEEDS(ha_open(&mine, t.y.array, H, HA_WRITE, 0, HA_END));
    start_pair(&p, request_all(NULL, t.x, C, HA_WRITE), request_all(NULL, t.y, C, HA_WRITE));
    until_asleep(sleeps + 1);
    REFUSED(HA_ERR_DEADLOCK, ha_open(&more, t.x.array, H, HA_READ, 0, HA_END));
    SUCCEEDS(ha_close(&mine));
    finish_pair(&p, HA_OK);
    drop_three(&t);
}

/* A deadlock through what is asked for beside the first: it has x, and waits to write y. */
TEST(deadlocks_through_a_group) {
    trio t = three(H);
    ha_access mine, more;
    pair_opener p;
    const uint64_t sleeps = ha_test_sleeps_();
    SUCCEEDS(ha_open(&mine, t.y.array, H, HA_READ, 4, 5));
    begin_pair(&p, request(NULL, t.y, C, HA_READ, 0, 2), request(NULL, t.y, C, HA_WRITE, 1, 5));
    p.list[p.count++] = request_all(&p.a[2], t.x, C, HA_WRITE);
    run_pair(&p);
    until_asleep(sleeps + 1);
    REFUSED(HA_ERR_DEADLOCK, ha_open(&more, t.x.array, H, HA_READ, 0, HA_END));
    SUCCEEDS(ha_close(&mine));
    finish_pair(&p, HA_OK);
    drop_three(&t);
}

/* With one array in hand, it must not queue behind a writer of the next: that one waits for a
 * reader, who may wait for the array in hand. */
TEST(does_not_queue_with_arrays_in_hand) {
    trio t = three(H);
    opener reader, writer;
    ha_access a[2];
    const uint64_t sleeps = ha_test_sleeps_();
    start_open(&reader, t.y.array, H, HA_READ, 0, HA_END);
    assert_int_equal(wait_opened(&reader), HA_OK);
    start_open(&writer, t.y.array, H, HA_WRITE, 0, HA_END);
    until_asleep(sleeps + 1);
    ha_request list[] = {request_all(&a[0], t.y, H, HA_READ), request_all(&a[1], t.x, H, HA_READ)};
    SUCCEEDS(ha_open_many(list, 2));
    close_all(a, 2);
    finish(&reader);
    assert_int_equal(wait_opened(&writer), HA_OK);
    finish(&writer);
    drop_three(&t);
}

/* ---- threads that open random sets ---------------------------------------------------------- */

enum { CROWD = 4, TURNS = 300, SHARED = 5, ELEMENTS = 8 };

static struct {
    harray_double array[SHARED];
    atomic_int adds[SHARED]; /* to each element */
    atomic_int wrong;
} shared;

static uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* What a reader on the host sees is in one piece. */
static void look_at(const ha_access *a) {
    const double *data = (const double *)a->data;
    for (size_t i = 1; i < a->size; i++)
        if (data[i] != data[0]) atomic_store(&shared.wrong, 1);
}

/* Each array of the list is read, changed, or both, at some context. */
static size_t random_list(ha_request *list, ha_access *a, uint64_t *random, int *which) {
    ha_context *const places[] = {H, C, M1};
    size_t count = 0;
    for (int turn = 0; turn < 3; turn++) {
        const int k = (int)(next_random(random) % SHARED);
        int again = 0;
        for (size_t i = 0; i < count; i++) again |= which[i] == k;
        if (again) continue;
        ha_context *place = places[next_random(random) % 3];
        const uint32_t kind = next_random(random) % 3;
        if (kind > 0) {
            which[count] = k;
            list[count] = request_all(&a[count], shared.array[k], place, HA_WRITE);
            count++;
        }
        if (kind < 2) {
            which[count] = k;
            list[count] = request_all(&a[count], shared.array[k], place, HA_READ);
            count++;
        }
    }
    return count;
}

static void *crowd_main(void *argument) {
    uint64_t random = (uint64_t)(uintptr_t)argument;
    for (int turn = 0; turn < TURNS; turn++) {
        ha_access a[6];
        ha_request list[6];
        int which[6];
        const size_t count = random_list(list, a, &random, which);
        if (ha_open_many(list, count) != HA_OK) {
            atomic_store(&shared.wrong, 2);
            break;
        }
        for (size_t i = 0; i < count; i++) {
            const job j = {(double *)a[i].data, a[i].size, 1};
            if (list[i].how == HA_WRITE) {
                HA_IGNORE(ha_enqueue(a[i].context, add_job, &j, sizeof j));
                atomic_fetch_add(&shared.adds[which[i]], 1);
            } else if (list[i].context == H)
                look_at(&a[i]);
        }
        for (size_t i = count; i > 0; i--)
            if (ha_close(&a[i - 1]) != HA_OK) atomic_store(&shared.wrong, 3);
    }
    return NULL;
}

TEST(random_sets) {
    pthread_t threads[CROWD];
    for (size_t k = 0; k < SHARED; k++) {
        shared.array[k] = keep(harray_double_zeros_at(ELEMENTS, k % 2 ? C : H));
        atomic_store(&shared.adds[k], 0);
    }
    atomic_store(&shared.wrong, 0);
    for (size_t i = 0; i < CROWD; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, crowd_main, (void *)(uintptr_t)(i + 1)),
                         0);
    for (size_t i = 0; i < CROWD; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&shared.wrong), 0);
    for (size_t k = 0; k < SHARED; k++) {
        const double each = atomic_load(&shared.adds[k]);
        assert_true(sum_at(shared.array[k], H) == each * ELEMENTS);
        drop(shared.array[k]);
    }
}

/* ---- waiting for devices: with held queues -------------------------------------------------- */

/* While it waits for a device, what it has is locked, and no array is busy. */
TEST(waits_for_a_device_with_nothing_busy) {
    trio t = {ramp(N), ramp(N), ramp(N)};
    pair_opener p;
    hold(C);
    add_at(t.x, C, 1);
    start_pair(&p, request(NULL, t.y, H, HA_WRITE, 0, 10), request_all(NULL, t.x, H, HA_READ));
    until_quiet();
    assert_false(atomic_load(&p.opened));
    assert_int_equal(open_elsewhere(t.y.array, H, HA_WRITE | HA_TRY, 10, HA_END), HA_OK);
    assert_int_equal(open_elsewhere(t.x.array, C, HA_READ | HA_TRY, 0, HA_END), HA_OK);
    let_go(C);
    finish_pair(&p, HA_OK);
    drop_three(&t);
}

/* While one array was waited for, the operations on another one have become many, and were merged:
 * what had been prepared there has to wait once more, and again keeps nothing busy. */
TEST(what_was_prepared_is_looked_at_again) {
    trio t = {ramp(N), ramp(N), ramp(N)};
    harray_double low = t.x, high = t.y;
    pair_opener p;
    if ((uintptr_t)low.array > (uintptr_t)high.array) {
        low = t.y;
        high = t.x;
    }
    hold(M1);
    add_at(high, M1, 1);
    start_pair(&p, request(NULL, low, H, HA_WRITE, 50, 51), request_all(NULL, high, H, HA_READ));
    while (ha_array_valid(high.array, H, 0, HA_END) == 0 || low.array->holders == 0) sched_yield();
    until_quiet();
    hold(C);
    for (size_t i = 0; i < 100; i += 2) /* each is read from the host by the held queue */
        if (i != 50) {
            HA_READING_RANGE(v, low, C, i, i + 1) step();
            else fail();
        }
    const ha_incarnation *in = ha_incarnation_find(low.array, &ha_host_memory);
    int merged = 0;
    for (uint32_t i = 0; i < in->ops.n; i++)
        merged |= ha_overlap(NULL, in->ops.heap[i].range, (ha_range){50, 51});
    assert_true(merged);
    let_go(M1);
    until_quiet();
    assert_false(atomic_load(&p.opened));
    assert_int_equal(open_elsewhere(low.array, H, HA_READ | HA_TRY, 200, HA_END), HA_OK);
    let_go(C);
    finish_pair(&p, HA_OK);
    drop_three(&t);
}

/* ---- versions ------------------------------------------------------------------------------- */

/* A thread that opens two arrays, on the fast path. */
static struct {
    harray_double x, y;
    pthread_t thread;
    atomic_int opened;
} two;

static void *open_two(HA_UNUSED void *argument) {
    ha_access a[2];
    ha_request r[] = {request_all(&a[0], two.x, H, HA_WRITE),
                      request_all(&a[1], two.y, H, HA_WRITE)};
    HA_CHECK(ha_open(&a[0], two.x.array, H, HA_READ, 0, HA_END)); /* now the thread has a number */
    HA_CHECK(ha_close(&a[0]));
    is_noted = 1;
    HA_CHECK(ha_open_many(r, 2));
    is_noted = 0;
    atomic_store(&two.opened, 1);
    HA_CHECK(ha_close(&a[0]));
    HA_CHECK(ha_close(&a[1]));
    return NULL;
}

static uint32_t holders_of(ha_array *a) {
    ha_lock(a);
    const uint32_t holders = a->holders;
    ha_unlock(a);
    return holders;
}

/* Beside one who writes all of an array, others may open nothing of it for writing: all are counted. */
TEST(versions_are_counted_under_the_lock) {
    two.x = ramp(10);
    two.y = ramp(10);
    ha_array *x = two.x.array, *y = two.y.array;
    atomic_store(&yields, 0);
    atomic_store(&two.opened, 0);
    ha_lock(y);
    assert_int_equal(pthread_create(&two.thread, NULL, open_two, NULL), 0);
    while (!atomic_load(&yields)) sched_yield(); /* it has x, and wants y */
    ha_lock(x);
    const uint64_t version = x->version;
    ha_unlock(y);
    while (!holders_of(y)) sched_yield();
    atomic_store(&yields, 0);
    while (!atomic_load(&yields) && !atomic_load(&two.opened)) sched_yield();
    assert_int_equal(x->version, version);
    ha_unlock(x);
    assert_int_equal(pthread_join(two.thread, NULL), 0);
    assert_int_equal(ha_array_version(x), version + 1);
    drop(two.x);
    drop(two.y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(opens_all),
        CASE(nothing_to_open),
        CASE(one_array_several_times),
        CASE(many_pieces_of_one_array),
        CASE(nobody_in_the_way),
        CASE(closes_all),
        CASE(fails_at_any_place),
        CASE(own_accesses_conflict),
        CASE(requests_conflict),
        CASE(requests_that_make_no_sense),
        CASE(requests_for_the_callers_memory),
        CASE(errors_are_told_when_nothing_is_held),
        CASE(trying),
        CASE(what_is_given_back_is_had_by_others),
        CASE(waits_for_others),
        CASE(one_array_is_asked_for_at_once),
        CASE(deadlocks_with_others),
        CASE(deadlocks_through_a_group),
        CASE(does_not_queue_with_arrays_in_hand),
        CASE(random_sets),
        CASE(versions_are_counted_under_the_lock),
    };
    const struct CMUnitTest ordered[] = {
        ORDER(waits_for_a_device_with_nothing_busy),
        ORDER(what_was_prepared_is_looked_at_again),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    if (failed) return failed;
    RUN_WITH_AND_WITHOUT_DELAYS(failed, ordered);
    return failed;
}
