/* Waiting of threads where two orders of events are possible: each test tries many times, and the
 * rule must hold whichever comes about. */
#define _GNU_SOURCE 1
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

/* A block that is watched: a thread that asks for so many bytes has to wait, until the block `freed` is given
 * back. That one is kept, and counted. */
static struct {
    atomic_size_t bytes;
    _Atomic(void *) freed;
    atomic_int times, may_go_on;
} table_block;

static void *waiting_malloc(size_t bytes);
static void waiting_free(void *block);

#define HARRAY_MALLOC waiting_malloc
#define HARRAY_REALLOC realloc
#define HARRAY_FREE waiting_free
#include "../support/order_backend.h"
#define HARRAY_HOST_BACKEND order_host
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/quiet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { ROUNDS = 60, SIZE = 10 };

static void *waiting_malloc(size_t bytes) {
    void *block = malloc(bytes);
    if (bytes == table_block.bytes) await_flag(&table_block.may_go_on);
    return block;
}

static void waiting_free(void *block) {
    if (!block || block != table_block.freed) {
        free(block);
        return;
    }
    if (table_block.times++) return;
    raise_flag(&table_block.may_go_on);
    until_quiet();
}

static ha_array *zeros(void) {
    ha_array *array = ha_array_zeros(ha_type_of_("uint32_t", 4), SIZE, ha_host());
    assert_non_null(array);
    return array;
}

/* Waits until so many threads are listed as waiting for an array. */
static void until_listed(const ha_array *array, unsigned count) {
    for (unsigned listed = 0; listed < count; sched_yield()) {
        listed = 0;
        pthread_mutex_lock(&ha_slow.lock);
        for (const ha_waiter *w = ha_slow.first; w != NULL; w = w->next)
            listed += w->array == array;
        pthread_mutex_unlock(&ha_slow.lock);
    }
}

/* ---- readers among writers ----------------------------------------------------------------- */

/* Opens an array in the way it is told, and closes it when it may. */
typedef struct opener {
    pthread_t thread;
    ha_array *array;
    unsigned how;
    size_t first, last;
    atomic_int opened, may_close;
} opener;

static void *open_and_close(void *argument) {
    opener *o = (opener *)argument;
    ha_access v;
    HA_CHECK(ha_open(&v, o->array, ha_host(), o->how, o->first, o->last));
    atomic_store(&o->opened, 1);
    await_flag(&o->may_close);
    HA_CHECK(ha_close(&v));
    return NULL;
}

static void start_part(opener *o, ha_array *array, unsigned how, size_t first, size_t last) {
    o->array = array;
    o->how = how;
    o->first = first;
    o->last = last;
    atomic_store(&o->opened, 0);
    atomic_store(&o->may_close, 0);
    assert_int_equal(pthread_create(&o->thread, NULL, open_and_close, o), 0);
}

static void start(opener *o, ha_array *array, unsigned how) {
    start_part(o, array, how, 0, HA_END);
}

static void end(opener *o) {
    raise_flag(&o->may_close);
    assert_int_equal(pthread_join(o->thread, NULL), 0);
}

static void until_one_is_open(opener *a, opener *b) {
    while (!atomic_load(&a->opened) && !atomic_load(&b->opened)) sched_yield();
}

/* Writers take turns, and one always waits. A reader that waits, too, has its turn some time. */
static void readers_have_their_turn(HA_UNUSED void **state) {
    static opener reader, writers[2];
    ha_array *array = zeros();
    start(&writers[0], array, HA_WRITE);
    while (!atomic_load(&writers[0].opened)) sched_yield();
    start(&reader, array, HA_READ);
    until_listed(array, 1);
    int round = 0;
    for (; round < ROUNDS; round++) {
        opener *holds = &writers[round % 2], *next = &writers[(round + 1) % 2];
        start(next, array, HA_WRITE);
        until_listed(array, 2);
        end(holds);
        until_one_is_open(&reader, next);
        if (atomic_load(&reader.opened)) break;
    }
    assert_true(round < ROUNDS);
    end(&reader);
    end(&writers[(round + 1) % 2]);
    HA_CHECK(ha_array_free(array));
    HA_CHECK(ha_shutdown()); /* no block stays behind that the next test does not know */
}

/* Here the reader has only to be told: a writer that comes in that moment lets it go first. Not one that
 * writes other elements, nor one that holds something. */
static void a_reader_before_later_writers(HA_UNUSED void **state) {
    const ha_lock_request read = {.range = {0, SIZE / 2}};
    ha_array *array = zeros(), *other = zeros();
    ha_waiter reader = {.thread = UINT64_MAX & ~HA_TOKEN_, .array = array, .requests = &read};
    ha_access v, w;
    pthread_mutex_lock(&ha_slow.lock);
    ha_waiter_list(&reader);
    pthread_mutex_unlock(&ha_slow.lock);
    ha_waiters_add(array, 1);
    assert_int_equal(ha_open(&v, array, NULL, HA_WRITE | HA_TRY, 0, 1), HA_ERR_BUSY);
    assert_int_equal(ha_open(&v, array, NULL, HA_OVERWRITE | HA_TRY, 0, HA_END), HA_ERR_BUSY);
    HA_CHECK(ha_open(&v, array, NULL, HA_WRITE | HA_TRY, SIZE / 2, SIZE)); /* other elements */
    HA_CHECK(ha_close(&v));
    HA_CHECK(ha_open(&v, array, NULL, HA_READ | HA_TRY, 0, SIZE));
    HA_CHECK(ha_close(&v));
    HA_CHECK(ha_open(&w, other, NULL, HA_READ, 0, HA_END));
    HA_CHECK(ha_open(&v, array, NULL, HA_WRITE | HA_TRY, 0, SIZE));
    HA_CHECK(ha_close(&v));
    HA_CHECK(ha_close(&w));
    reader.trying = 1; /* it is there for a moment only */
    HA_CHECK(ha_open(&v, array, NULL, HA_WRITE | HA_TRY, 0, SIZE));
    HA_CHECK(ha_close(&v));
    pthread_mutex_lock(&ha_slow.lock);
    ha_waiter_unlist(&reader);
    pthread_mutex_unlock(&ha_slow.lock);
    ha_waiters_add(array, (uint32_t)-1);
    HA_CHECK(ha_array_free(array));
    HA_CHECK(ha_array_free(other));
    HA_CHECK(ha_shutdown());
}

/* Threads write a part each, and may wait for each other there: so none of them waits for a reader that the
 * other one holds up, itself or by holding up a writer that the reader lets go first. */
static void no_turn_for_a_reader_that_is_held_up(HA_UNUSED void **state) {
    static opener writer, reader, first;
    ha_array *array = zeros();
    ha_access v;
    for (unsigned by_a_writer = 0; by_a_writer < 2; by_a_writer++) {
        start_part(&writer, array, HA_WRITE, 0, 2);
        while (!atomic_load(&writer.opened)) sched_yield();
        if (by_a_writer) start_part(&first, array, HA_WRITE, 0, 5);
        until_listed(array, by_a_writer);
        start_part(&reader, array, HA_READ, by_a_writer ? 4 : 0, SIZE);
        until_listed(array, by_a_writer + 1);
        HA_CHECK(ha_open(&v, array, NULL, HA_WRITE | HA_TRY, SIZE / 2, SIZE));
        HA_CHECK(ha_close(&v));
        end(&writer);
        if (by_a_writer) end(&first);
        end(&reader);
    }
    HA_CHECK(ha_array_free(array));
    HA_CHECK(ha_shutdown());
}

/* Writers take turns and never end. A reader that comes again and again has its turn after those that
 * waited when it came. */
static void every_reader_has_its_turn(HA_UNUSED void **state) {
    static opener reader, writers[3];
    ha_array *array = zeros();
    start(&writers[0], array, HA_WRITE);
    while (!atomic_load(&writers[0].opened)) sched_yield();
    for (unsigned round = 0; round < 3; round++) {
        start(&writers[1], array, HA_WRITE); /* before the reader */
        until_listed(array, 1);
        start(&reader, array, HA_READ);
        until_listed(array, 2);
        start(&writers[2], array, HA_WRITE); /* behind it */
        until_listed(array, 3);
        end(&writers[0]);
        while (!atomic_load(&writers[1].opened)) sched_yield();
        assert_false(atomic_load(&reader.opened) || atomic_load(&writers[2].opened));
        end(&writers[1]);
        while (!atomic_load(&reader.opened)) sched_yield();
        until_quiet();
        assert_false(atomic_load(&writers[2].opened));
        end(&reader);
        while (!atomic_load(&writers[2].opened)) sched_yield();
        end(&writers[2]);
        start(&writers[0], array, HA_WRITE);
        while (!atomic_load(&writers[0].opened)) sched_yield();
    }
    end(&writers[0]);
    HA_CHECK(ha_array_free(array));
    HA_CHECK(ha_shutdown());
}

/* ---- threads that are cancelled ------------------------------------------------------------ */

HA_NOINLINE_ static void open_one(ha_array *array) {
    ha_access v;
    HA_CHECK(ha_open(&v, array, ha_host(), HA_WRITE, 0, HA_END));
    HA_CHECK(ha_close(&v));
}

HA_NOINLINE_ static void open_many(ha_array *array) {
    ha_access v;
    ha_request request = {.access = &v, .array = array, .how = HA_WRITE, .last = HA_END};
    HA_CHECK(ha_open_many(&request, 1));
    HA_CHECK(ha_close(&v));
}

/* With no variables of their own: AddressSanitizer does not see that these end by cancelling. */
static void *open_until_cancelled(void *array) {
    open_one((ha_array *)array);
    pthread_testcancel();
    return array;
}

static void *open_many_until_cancelled(void *array) {
    open_many((ha_array *)array);
    pthread_testcancel();
    return array;
}

HA_NOINLINE_ static void clear(ha_array *array) { HA_CHECK(ha_array_clear(array)); }

static void *clear_until_cancelled(void *array) {
    clear((ha_array *)array);
    pthread_testcancel();
    return array;
}

HA_NOINLINE_ static void finish(ha_context *context) { HA_CHECK(ha_context_finish(context)); }

static void *finish_until_cancelled(void *context) {
    finish((ha_context *)context);
    pthread_testcancel();
    return context;
}

HA_NOINLINE_ static void copy(ha_array *array) {
    ha_array *copied = ha_array_copy(array);
    assert_non_null(copied);
    HA_CHECK(ha_array_free(copied));
}

static void *copy_until_cancelled(void *array) {
    copy((ha_array *)array);
    pthread_testcancel();
    return array;
}

/* Cancels a thread that waits. It has locked nothing, and goes on waiting. */
static pthread_t cancelled(void *(*run)(void *), void *argument) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run, argument), 0);
    until_quiet();
    assert_int_equal(pthread_cancel(thread), 0);
    until_quiet();
    return thread;
}

static void ends_by_cancelling(pthread_t thread) {
    void *result;
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_true(result == PTHREAD_CANCELED);
}

static void expect_unlocked(const ha_array *array) {
    ha_bucket *b = ha_bucket_of(array);
    assert_int_equal(pthread_mutex_trylock(&b->lock), 0);
    pthread_mutex_unlock(&b->lock);
}

static void cancelled_while_it_waits(HA_UNUSED void **state) {
    ha_array *array = zeros();
    ha_access v;
    HA_CHECK(ha_open(&v, array, ha_host(), HA_READ, 0, HA_END));
    const pthread_t opens = cancelled(open_until_cancelled, array);
    const pthread_t opens_many = cancelled(open_many_until_cancelled, array);
    expect_unlocked(array);
    HA_CHECK(ha_close(&v));
    ends_by_cancelling(opens);
    ends_by_cancelling(opens_many);
    HA_CHECK(ha_open(&v, array, ha_host(), HA_WRITE, 0, HA_END));
    const pthread_t copies = cancelled(copy_until_cancelled, array);
    expect_unlocked(array);
    HA_CHECK(ha_close(&v));
    ends_by_cancelling(copies);
    (void)ha_busy_begin(array, 0, NULL);
    const pthread_t clears = cancelled(clear_until_cancelled, array);
    expect_unlocked(array);
    ha_busy_end(array);
    ends_by_cancelling(clears);
    HA_CHECK(ha_array_free(array));
    HA_CHECK(ha_shutdown());
}

static void do_nothing(HA_UNUSED const ha_queue *queue, HA_UNUSED void *argument) {}

static void cancelled_while_it_waits_for_a_queue(HA_UNUSED void **state) {
    ha_context *sim = ha_context_find("sim:0");
    HA_CHECK(ha_sim_hold(sim));
    HA_CHECK(ha_enqueue(sim, do_nothing, NULL, 0));
    const pthread_t finishes = cancelled(finish_until_cancelled, sim);
    HA_CHECK(ha_sim_step(sim, -1));
    ends_by_cancelling(finishes);
    HA_CHECK(ha_context_finish(sim));
    HA_CHECK(ha_shutdown());
}

/* ---- arrays that are freed under threads that wait ----------------------------------------- */

static ha_status refused;
static ha_error told;

static void *open_what_is_freed(void *array) {
    ha_access v;
    refused = ha_open(&v, (ha_array *)array, ha_host(), HA_WRITE, 0, HA_END);
    told = ha_take_error();
    return NULL;
}

static void *read_what_is_freed(void *array) {
    ha_access v;
    refused = ha_open(&v, (ha_array *)array, ha_host(), HA_READ, 0, HA_END);
    told = ha_take_error();
    return NULL;
}

static void *free_what_is_freed(void *array) {
    refused = ha_array_free((ha_array *)array);
    told = ha_take_error();
    return NULL;
}

static void *evict_what_is_freed(void *array) {
    refused = ha_array_evict((ha_array *)array, ha_host());
    told = ha_take_error();
    return NULL;
}

/* By an access that was closed. */
static void *resize_what_is_freed(void *closed) {
    refused = ha_access_resize((ha_access *)closed, SIZE + 1);
    told = ha_take_error();
    return NULL;
}

static void expect_told(pthread_t thread) {
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(refused, HA_ERR_STATE);
    const char *what = strstr(told.text, "array (uint32_t[10]) was freed");
    assert_true(what == told.text || (what && !strncmp(what - 2, ": ", 2))); /* behind the line */
}

/* It wakes, but before it can look, the array has gone. */
static void freed_while_a_thread_waits(HA_UNUSED void **state) {
    ha_array *array = zeros();
    pthread_t thread;
    ha_access v;
    HA_CHECK(ha_open(&v, array, ha_host(), HA_READ, 0, HA_END));
    assert_int_equal(pthread_create(&thread, NULL, open_what_is_freed, array), 0);
    until_listed(array, 1);
    until_quiet();
    pthread_mutex_lock(&ha_slow.lock);
    HA_CHECK(ha_close(&v));
    HA_CHECK(ha_array_free(array));
    for (int i = 0; i < 2 * HA_KEPT; i++) { /* nobody gets the record while it waits */
        ha_array *another = zeros();
        assert_ptr_not_equal(another, array);
        HA_CHECK(ha_array_free(another));
    }
    pthread_mutex_unlock(&ha_slow.lock);
    expect_told(thread);
    HA_CHECK(ha_shutdown());
}

/* A thread finds the table of holders full, and is about to make more room. Before it does, those who held
 * the array close it, and it is freed. */
static void freed_while_a_thread_makes_room(HA_UNUSED void **state) {
    ha_array *array = zeros();
    pthread_t thread;
    ha_access v[8];
    size_t n = 0;
    while (array->holder == array->first_holders || n < array->holder_capacity)
        HA_CHECK(ha_open(&v[n++], array, ha_host(), HA_READ, 0, HA_END));
    table_block.freed = array->holder;
    table_block.times = 0;
    table_block.bytes = ha_holder_bytes(2 * n);
    atomic_store(&table_block.may_go_on, 0);
    assert_int_equal(pthread_create(&thread, NULL, read_what_is_freed, array), 0);
    until_quiet();
    table_block.bytes = 0;
    while (n) HA_CHECK(ha_close(&v[--n]));
    HA_CHECK(ha_array_free(array));
    expect_told(thread);
    assert_int_equal(table_block.times, 1);
    assert_int_equal(ha_holder_grow(array), HA_OK);
    assert_ptr_equal(array->holder, array->first_holders);
    free(table_block.freed);
    table_block.freed = NULL;
    HA_CHECK(ha_shutdown());
}

/* The array goes while another thread waits for its turn with it: that one is told. */
static void freed_before_its_turn(ha_array *array, void *(*run)(void *), void *argument) {
    pthread_t thread;
    (void)ha_busy_begin(array, 0, NULL);
    assert_int_equal(pthread_create(&thread, NULL, run, argument), 0);
    until_quiet();
    ha_array_end(array);
    expect_told(thread);
    HA_CHECK(ha_shutdown());
}

static void freed_by_two_at_once(HA_UNUSED void **state) {
    ha_array *array = zeros();
    freed_before_its_turn(array, free_what_is_freed, array);
}

static void freed_before_it_is_evicted(HA_UNUSED void **state) {
    ha_array *array = zeros();
    freed_before_its_turn(array, evict_what_is_freed, array);
}

static void freed_before_it_is_resized(HA_UNUSED void **state) {
    ha_array *array = zeros();
    ha_access v;
    HA_CHECK(ha_open(&v, array, ha_host(), HA_WRITE, 0, HA_END));
    ha_access closed = v;
    HA_CHECK(ha_close(&v));
    freed_before_its_turn(array, resize_what_is_freed, &closed);
}

/* ---- a thread that only tries -------------------------------------------------------------- */

static ha_array *held, *busy;
static atomic_int has_begun;

/* Holds one array, and tries to get the other one, which is busy. Then it gives up. */
static void *hold_and_try(void *argument) {
    ha_access x, a;
    (void)argument;
    HA_CHECK(ha_open(&x, held, ha_host(), HA_WRITE, 0, HA_END));
    atomic_store(&has_begun, 1);
    while (atomic_load(&has_begun) != 2) sched_yield();
    if (ha_open(&a, busy, ha_host(), HA_READ | HA_TRY, SIZE / 2, SIZE) == HA_OK)
        HA_CHECK(ha_close(&a));
    HA_CHECK(ha_close(&x));
    return NULL;
}

/* The array stays busy until the other thread sleeps. */
static void until_the_other_sleeps(const char *slot) {
    if (strcmp(slot, "copy") != 0) return;
    order_disturb = NULL;
    atomic_store(&has_begun, 2);
    until_listed(busy, 1);
}

static void try_round(ha_context *device) {
    pthread_t other;
    ha_access first, second, x;
    held = zeros();
    busy = zeros();
    atomic_store(&has_begun, 0);
    assert_int_equal(pthread_create(&other, NULL, hold_and_try, NULL), 0);
    while (!atomic_load(&has_begun)) sched_yield();
    order_disturb = until_the_other_sleeps;
    HA_CHECK(ha_open(&first, busy, device, HA_WRITE, 0, SIZE / 2));
    const ha_status got = ha_open(&second, busy, ha_host(), HA_WRITE | HA_TRY, SIZE / 2, SIZE);
    HA_CHECK(ha_open(&x, held, ha_host(), HA_WRITE, 0, HA_END)); /* no deadlock */
    HA_CHECK(ha_close(&x));
    if (got == HA_OK) HA_CHECK(ha_close(&second));
    HA_CHECK(ha_close(&first));
    assert_int_equal(pthread_join(other, NULL), 0);
    HA_CHECK(ha_array_free(held));
    HA_CHECK(ha_array_free(busy));
}

static void trying_is_not_waiting(HA_UNUSED void **state) {
    order_reset();
    HA_CHECK(ha_backend_register(&order_backend));
    for (int round = 0; round < ROUNDS; round++) try_round(ha_context_find("order:0"));
    HA_CHECK(ha_shutdown());
    assert_string_equal(hb.complaint, "");
}

/* ---- asked while it waits ------------------------------------------------------------------- */

static int times_asked, ends_at; /* of the main thread */
static opener *holds; /* may close when it is asked first, or when the wait should have ended */
static int holds_on;

static int asked(void) {
    if (!holds_on || times_asked > ends_at + 3) raise_flag(&holds->may_close);
    return ++times_asked >= ends_at;
}

static void will_be_asked(int end, opener *holder, int closes) {
    times_asked = 0;
    ends_at = end;
    holds = holder;
    holds_on = !closes;
}

/* The call fails then as one that tries, with nothing opened, changed or kept; it waits on where nobody wants it to end. */
static void asked_to_end(HA_UNUSED void **state) {
    static opener holder;
    ha_array *array = zeros(), *other = zeros();
    ha_access v, w;
    start(&holder, array, HA_WRITE);
    while (!atomic_load(&holder.opened)) sched_yield();
    ha_ask_while_waiting_(asked);
    will_be_asked(2, &holder, 0);
    memset(&v, 0, sizeof v), memset(&w, 0, sizeof w);
    assert_int_equal(ha_open(&v, array, ha_host(), HA_READ, 0, HA_END), HA_ERR_BUSY);
    assert_int_equal(times_asked, 2);
    assert_int_equal(ha_take_error().status, HA_ERR_BUSY);
    ha_request both[] = {{.access = &w, .array = other, .how = HA_WRITE, .last = HA_END},
                         {.access = &v, .array = array, .how = HA_READ, .last = HA_END}};
    for (int order = 0; order < 2; order++) {
        const ha_request first = both[0];
        will_be_asked(1, &holder, 0);
        assert_int_equal(ha_open_many(both, 2), HA_ERR_BUSY);
        assert_int_equal(times_asked, 1);
        (void)ha_take_error();
        HA_CHECK(ha_open(&w, other, ha_host(), HA_WRITE | HA_TRY, 0, HA_END));
        HA_CHECK(ha_close(&w));
        both[0] = both[1], both[1] = first;
    }
    will_be_asked(1, &holder, 0);
    assert_null(ha_array_copy(array));
    assert_int_equal(times_asked, 1);
    assert_int_equal(ha_take_error().status, HA_ERR_BUSY);
    pthread_mutex_lock(&ha_slow.lock);
    assert_null(ha_slow.first); /* nobody is listed as waiting */
    pthread_mutex_unlock(&ha_slow.lock);
    will_be_asked(1000, &holder, 1);
    HA_CHECK(ha_open(&v, array, ha_host(), HA_READ, 0, HA_END));
    assert_true(times_asked >= 1);
    HA_CHECK(ha_close(&v));
    end(&holder);
    ha_ask_while_waiting_(NULL);
    HA_CHECK(ha_array_free(array));
    HA_CHECK(ha_array_free(other));
    HA_CHECK(ha_shutdown());
}

/* Another thread's, until it is told to end: it wakes all who wait for the array, again and again. */
static atomic_int churns;
static void *churn(void *argument) {
    ha_array *array = (ha_array *)argument;
    while (atomic_load(&churns)) {
        ha_access v;
        HA_CHECK(ha_open(&v, array, ha_host(), HA_WRITE, SIZE / 2, HA_END));
        HA_CHECK(ha_close(&v));
    }
    return NULL;
}

static void asked_while_others_come_and_go(HA_UNUSED void **state) {
    static opener holder;
    pthread_t other;
    ha_array *array = zeros();
    ha_access v;
    start_part(&holder, array, HA_WRITE, 0, SIZE / 2);
    while (!atomic_load(&holder.opened)) sched_yield();
    atomic_store(&churns, 1);
    assert_int_equal(pthread_create(&other, NULL, churn, array), 0);
    ha_ask_while_waiting_(asked);
    will_be_asked(1, &holder, 0);
    assert_int_equal(ha_open(&v, array, ha_host(), HA_READ, 0, SIZE / 2), HA_ERR_BUSY);
    assert_int_equal(times_asked, 1);
    assert_non_null(strstr(ha_take_error().text, "was ended"));
    ha_ask_while_waiting_(NULL);
    atomic_store(&churns, 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    end(&holder);
    HA_CHECK(ha_array_free(array));
    HA_CHECK(ha_shutdown());
}

/* Of memory that others use. */
static void asked_while_memory_is_full(HA_UNUSED void **state) {
    static opener holder;
    const size_t n = 1 << 18;
    ha_array *array = ha_array_zeros(ha_type_of_("uint32_t", 4), n, ha_host());
    ha_array *other = ha_array_new(ha_type_of_("uint32_t", 4), n, ha_host());
    ha_access v;
    HA_CHECK(ha_memory_set_budget(ha_host(), 6 * n));
    start(&holder, array, HA_WRITE);
    while (!atomic_load(&holder.opened)) sched_yield();
    ha_ask_while_waiting_(asked);
    will_be_asked(2, &holder, 0);
    memset(&v, 0, sizeof v);
    assert_int_equal(ha_open(&v, other, ha_host(), HA_OVERWRITE, 0, HA_END), HA_ERR_MEMORY);
    assert_int_equal(times_asked, 2);
    (void)ha_take_error();
    ha_ask_while_waiting_(NULL);
    end(&holder);
    HA_CHECK(ha_memory_set_budget(ha_host(), 0));
    HA_CHECK(ha_open(&v, other, ha_host(), HA_OVERWRITE, 0, HA_END));
    HA_CHECK(ha_close(&v));
    HA_CHECK(ha_array_free(array));
    HA_CHECK(ha_array_free(other));
    HA_CHECK(ha_shutdown());
}

int main(void) {
    order_reset();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_have_their_turn),
        cmocka_unit_test(a_reader_before_later_writers),
        cmocka_unit_test(no_turn_for_a_reader_that_is_held_up),
        cmocka_unit_test(every_reader_has_its_turn),
        cmocka_unit_test(cancelled_while_it_waits),
        cmocka_unit_test(cancelled_while_it_waits_for_a_queue),
        cmocka_unit_test(freed_while_a_thread_waits),
        cmocka_unit_test(freed_while_a_thread_makes_room),
        cmocka_unit_test(freed_by_two_at_once),
        cmocka_unit_test(freed_before_it_is_evicted),
        cmocka_unit_test(freed_before_it_is_resized),
        cmocka_unit_test(trying_is_not_waiting),
        cmocka_unit_test(asked_to_end),
        cmocka_unit_test(asked_while_others_come_and_go),
        cmocka_unit_test(asked_while_memory_is_full),
    };
    return cmocka_run_group_tests_name("waiting", tests, NULL, NULL);
}
