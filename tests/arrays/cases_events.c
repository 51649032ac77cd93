/* Events: which ones a call causes, in which order, on which thread, and that a handler may use the
 * library; the statistics of call sites and of memories against known transfers. On the matrix. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/threads.h"

enum { N = 1000 };

/* ---- a handler that remembers --------------------------------------------------------------- */

enum { MOST_EVENTS = 4096 };

typedef struct seen_event {
    ha_event_info info; /* its texts are those below */
    char array[64], type[64], site[160], from[160], at[64];
    pthread_t thread;
} seen_event;

static struct {
    pthread_mutex_t lock;
    unsigned kinds; /* that are remembered: 1 << kind */
    void (*also)(const ha_event_info *event);
    size_t n;
    seen_event list[MOST_EVENTS];
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void note_text(char *to, size_t bytes, const char **text) {
    assert_non_null(*text);
    snprintf(to, bytes, "%s", *text);
    *text = to;
}

static void on_event(const ha_event_info *event, void *user) {
    assert_ptr_equal(user, &seen);
    if (seen.also) seen.also(event);
    if (!(seen.kinds >> event->kind & 1)) return;
    pthread_mutex_lock(&seen.lock);
    assert_true(seen.n < MOST_EVENTS);
    seen_event *e = &seen.list[seen.n++];
    e->info = *event;
    e->thread = pthread_self();
    note_text(e->array, sizeof e->array, &e->info.array);
    note_text(e->type, sizeof e->type, &e->info.type);
    note_text(e->site, sizeof e->site, &e->info.site);
    note_text(e->from, sizeof e->from, &e->info.from);
    note_text(e->at, sizeof e->at, &e->info.at);
    pthread_mutex_unlock(&seen.lock);
}

static void listen_to(unsigned kinds) {
    seen.kinds = kinds;
    seen.also = NULL;
    seen.n = 0;
    ha_set_event_handler(on_event, &seen);
}

static int end_events(void **state) {
    ha_set_event_handler(NULL, NULL);
    ha_watch(0);
    return end_case(state);
}
#define EVENTS(name) cmocka_unit_test_setup_teardown(name, begin_case, end_events)

/* The kinds of what was remembered, by their first letters: "twoc". Forgets. */
static void expect_events(const char *letters) {
    char actual[MOST_EVENTS + 1];
    for (size_t i = 0; i < seen.n; i++) actual[i] = *ha_event_kind_name(seen.list[i].info.kind);
    actual[seen.n] = 0;
    /* "conflict" and "close" begin alike: x stands for the former */
    for (size_t i = 0; i < seen.n; i++)
        if (seen.list[i].info.kind == HA_EVENT_CONFLICT) actual[i] = 'x';
    assert_string_equal(actual, letters);
    assert_null(ha_pending_events.first);
    assert_int_equal(ha_pending_events.depth, 0);
    seen.n = 0;
}

static harray_double named(harray_double x, const char *name) {
    ha_array_set_name(x.array, name);
    return x;
}

/* A device with a memory of its own: C, if it is one. */
static ha_context *device(void) { return C->memory == H->memory ? M1 : C; }

static const unsigned MOVES = 1u << HA_EVENT_TRANSFER | 1u << HA_EVENT_WAIT;
static const unsigned CONFLICTS = 1u << HA_EVENT_CONFLICT;
static const unsigned ACCESSES = 1u << HA_EVENT_OPEN | 1u << HA_EVENT_CLOSE;
static const unsigned BLOCKS = 1u << HA_EVENT_ALLOCATE | 1u << HA_EVENT_FREE;

/* ---- transfers and waits -------------------------------------------------------------------- */

TEST(a_transfer) {
    ha_context *d = device();
    harray_double x = named(ramp(N), "u");
    listen_to(MOVES);
    char site[80];
    HA_READING_RANGE(v, x, d, 100, 300) snprintf(site, sizeof site, "%s:%d", __FILE__, __LINE__);
    const ha_event_info *e = &seen.list[0].info;
    assert_int_equal(seen.n, 1);
    assert_string_equal(e->array, "u");
    assert_string_equal(e->type, "double");
    assert_string_equal(e->site, site);
    assert_string_equal(e->from, "host");
    assert_string_equal(e->at, ha_context_name(d));
    assert_int_equal(e->range.first, 100);
    assert_int_equal(e->range.last, 300);
    assert_int_equal(e->bytes, 200 * sizeof(double));
    assert_int_equal(e->thread, ha_self.id);
    assert_int_equal(e->status, HA_OK);
    assert_true(e->start && e->start == e->end);
    assert_true(pthread_equal(seen.list[0].thread, pthread_self()));
    expect_events("t");
    HA_READING_RANGE(v, x, d, 150, 200) expect_events("");
    HA_READING(v, x, d) expect_events("tt"); /* on both sides of what is there */
    expect_events("");
    drop(x);
}

TEST(a_wait) {
    ha_context *d = device();
    harray_double x = named(ramp(N), "u");
    listen_to(MOVES);
    add_at(x, d, 1);
    expect_events("t");
    touch(x, H);
    const ha_event_info *e = &seen.list[1].info;
    assert_int_equal(seen.n, 2);
    assert_string_equal(e->from, ha_context_name(d));
    assert_string_equal(e->at, "host");
    assert_non_null(strstr(e->site, "matrix.h:"));
    assert_string_equal(e->array, "");
    assert_true(e->end >= e->start && e->start);
    expect_events("tw");
    SUCCEEDS(ha_context_finish(d));
    assert_string_equal(seen.list[seen.n - 1].info.site, "ha_context_finish");
    seen.n = 0;
    drop(x);
}

/* By way of the host: two transfers, and both are told. */
TEST(two_hops) {
    harray_double x = named(ramp(N), "u");
    add_at(x, M1, 1);
    ha_context *d = device() == M1 ? M2 : device();
    listen_to(1u << HA_EVENT_TRANSFER);
    touch(x, d);
    assert_int_equal(seen.n, 2);
    assert_string_equal(seen.list[0].from, ha_context_name(M1));
    assert_string_equal(seen.list[0].at, "host");
    assert_string_equal(seen.list[1].from, "host");
    assert_string_equal(seen.list[1].at, ha_context_name(d));
    drop(x);
}

/* Single elements do not count. */
TEST(elements_are_no_transfers) {
    double value = 0;
    harray_double x = ramp(N);
    add_at(x, device(), 1);
    listen_to(1u << HA_EVENT_TRANSFER);
    SUCCEEDS(ha_array_get(x.array, 3, &value));
    SUCCEEDS(ha_array_set(x.array, 4, &value));
    assert_true(value == 4);
    expect_events("");
    drop(x);
}

/* ---- blocks --------------------------------------------------------------------------------- */

TEST(blocks_of_a_backend) {
    ha_context *d = device(), *queues[] = {C, M1, M2};
    for (size_t i = 0; i < 3; i++) SUCCEEDS(ha_context_finish(queues[i])); /* of earlier tests */
    (void)ha_memory_trim(d, 0);
    uint64_t before = ha_context_memory(d).handed_out;
    listen_to(BLOCKS);
    harray_double x = keep(harray_double_new_at(12345, d));
    const ha_event_info *e = &seen.list[0].info;
    assert_int_equal(e->kind, HA_EVENT_ALLOCATE);
    assert_string_equal(e->at, ha_context_name(d));
    assert_int_equal(e->bytes, ha_context_memory(d).handed_out - before);
    expect_events("a");
    drop(x);
    expect_events(""); /* it is cached */
    harray_double y = keep(harray_double_new_at(12345, d));
    expect_events("");
    drop(y);
    (void)ha_memory_trim(d, 0);
    assert_int_equal(ha_context_memory(d).handed_out, before);
    expect_events("f");
}

/* ---- conflicts ------------------------------------------------------------------------------ */

TEST(refused) {
    harray_double x = named(ramp(N), "u");
    ha_write_double v;
    ha_read_double r;
    listen_to(CONFLICTS);
    SUCCEEDS(ha_open(&v, x.array, C, HA_WRITE, 10, 20));
    REFUSED(HA_ERR_CONFLICT, ha_open(&r, x.array, C, HA_READ, 15, 30));
    const ha_event_info *e = &seen.list[0].info;
    assert_int_equal(e->status, HA_ERR_CONFLICT);
    assert_string_equal(e->array, "u");
    assert_string_equal(e->at, ha_context_name(C));
    assert_non_null(strstr(e->site, "cases_events.c:"));
    assert_non_null(strstr(e->from, "cases_events.c:"));
    assert_string_not_equal(e->site, e->from);
    assert_int_equal(e->range.first, 15);
    assert_int_equal(e->range.last, 30);
    expect_events("x");
    REFUSED(HA_ERR_CONFLICT, ha_array_resize(x.array, 3));
    assert_string_equal(seen.list[0].site, "ha_array_resize");
    assert_int_equal(seen.list[0].info.range.last, N);
    expect_events("x");
    SUCCEEDS(ha_close(&v));
    drop(x);
    expect_events("");
}

/* Waiting for another thread is told on the thread that waited; HA_ERR_BUSY is no event. */
TEST(waited_for) {
    harray_double x = named(ramp(N), "u");
    ha_write_double v;
    opener other;
    listen_to(CONFLICTS);
    SUCCEEDS(ha_open(&v, x.array, C, HA_WRITE, 0, HA_END));
    assert_int_equal(open_elsewhere(x.array, C, HA_READ | HA_TRY, 0, HA_END), HA_ERR_BUSY);
    expect_events("");
    uint64_t asleep = ha_test_sleeps_();
    start_open(&other, x.array, C, HA_READ, 0, 7);
    until_asleep(asleep + 1);
    SUCCEEDS(ha_close(&v));
    assert_int_equal(wait_opened(&other), HA_OK);
    assert_int_equal(seen.n, 1);
    const seen_event *e = &seen.list[0];
    assert_true(pthread_equal(e->thread, other.thread));
    assert_true(e->info.thread != ha_self.id);
    assert_int_equal(e->info.status, HA_OK);
    assert_true(e->info.end >= e->info.start);
    assert_non_null(strstr(e->from, "cases_events.c:"));
    assert_non_null(strstr(e->site, "threads.h:"));
    assert_int_equal(e->info.range.last, 7);
    expect_events("x");
    finish(&other);
    drop(x);
}

typedef struct rival {
    pthread_t thread;
    ha_array *has, *wants;
    atomic_int holds;
} rival;

static void *hold_and_want(void *argument) {
    rival *r = (rival *)argument;
    ha_access first, second;
    HA_CHECK(ha_open(&first, r->has, H, HA_WRITE, 0, HA_END));
    atomic_store(&r->holds, 1);
    HA_CHECK(ha_open(&second, r->wants, H, HA_WRITE, 0, HA_END));
    HA_CHECK(ha_close(&second));
    HA_CHECK(ha_close(&first));
    return NULL;
}

TEST(a_circle) {
    harray_double x = named(ramp(N), "x"), y = named(ramp(N), "y");
    static rival other;
    ha_write_double v, w;
    other.has = y.array;
    other.wants = x.array;
    atomic_store(&other.holds, 0);
    listen_to(CONFLICTS);
    SUCCEEDS(ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    uint64_t asleep = ha_test_sleeps_();
    assert_int_equal(pthread_create(&other.thread, NULL, hold_and_want, &other), 0);
    while (!atomic_load(&other.holds)) sched_yield();
    until_asleep(asleep + 1);
    REFUSED(HA_ERR_DEADLOCK, ha_open(&w, y.array, H, HA_WRITE, 0, HA_END));
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.list[0].info.status, HA_ERR_DEADLOCK);
    assert_string_equal(seen.list[0].array, "y");
    SUCCEEDS(ha_close(&v));
    assert_int_equal(pthread_join(other.thread, NULL), 0);
    expect_events("xx"); /* the other thread has waited */
    drop(x);
    drop(y);
}

/* ---- accesses ------------------------------------------------------------------------------- */

TEST(accesses) {
    harray_double before = ramp(N);
    ha_watch(HA_WATCH_ACCESSES);
    listen_to(ACCESSES);
    harray_double x = named(ramp(N), "u");
    expect_events("oc");
    touch(before, C);
    expect_events("");
    HA_WRITING_RANGE(v, x, C, 3, 8) expect_events("o");
    const ha_event_info *e = &seen.list[0].info;
    assert_int_equal(e->kind, HA_EVENT_CLOSE);
    assert_string_equal(e->array, "u");
    assert_string_equal(e->at, ha_context_name(C));
    assert_int_equal(e->writes, 1);
    assert_int_equal(e->range.first, 3);
    assert_int_equal(e->range.last, 8);
    assert_int_equal(e->bytes, 5 * sizeof(double));
    assert_true(e->start && e->end > e->start);
    expect_events("c");
    HA_READING(v, x, C) HA_READING_RANGE(w, x, C, 0, 1) {}
    assert_int_equal(seen.list[0].info.range.last, N);
    assert_int_equal(seen.list[1].info.range.last, 1);
    assert_int_equal(seen.list[2].info.start, seen.list[1].info.start);
    assert_int_equal(seen.list[3].info.start, seen.list[0].info.start);
    assert_int_equal(seen.list[0].info.writes, 0);
    expect_events("oocc");
    ha_watch(0);
    harray_double after = ramp(N);
    touch(after, C);
    expect_events("");
    touch(x, C);
    expect_events("oc");
    drop(before);
    drop(after);
    drop(x);
    expect_events("");
}

/* However an access ends, and in whichever call it is opened. */
TEST(ways_to_end) {
    ha_token token = {0};
    ha_access a, b;
    double value;
    ha_watch(HA_WATCH_ACCESSES);
    listen_to(ACCESSES);
    harray_double x = ramp(N), y = ramp(N);
    expect_events("ococ");
    SUCCEEDS(ha_open(&a, x.array, C, HA_READ, 0, HA_END));
    SUCCEEDS(ha_move(&b, &a));
    expect_events("o");
    SUCCEEDS(ha_detach(&token, &b));
    expect_events("");
    SUCCEEDS(ha_token_finish(&token));
    expect_events("c");
    ha_request both[] = {{.access = &a, .array = x.array, .context = C, .last = HA_END},
                         {.access = &b, .array = y.array, .context = C, .last = HA_END}};
    SUCCEEDS(ha_open_many(both, 2));
    expect_events("oo");
    SUCCEEDS(ha_close(&a));
    SUCCEEDS(ha_close(&b));
    expect_events("cc");
    SUCCEEDS(ha_array_get(x.array, 1, &value));
    expect_events("oc");
    SUCCEEDS(ha_read_anywhere(&a, x.array, C, 0, HA_END));
    SUCCEEDS(ha_close(&a));
    expect_events("oc");
    REFUSED(HA_ERR_ARGUMENT, ha_open(&a, x.array, C, HA_READ, 0, N + 1));
    expect_events("");
    drop(x);
    drop(y);
}

/* ---- what a handler may do ------------------------------------------------------------------ */

static harray_double told_about; /* the array of the events */
static int calls;

/* Uses the array that it is told about, as far as its access lets it; what this causes is not
 * told. */
static void use_the_array(HA_UNUSED const ha_event_info *event) {
    double value = -1;
    ha_write_double w;
    ha_array *a = told_about.array;
    calls++;
    assert_int_equal(a->lock, 0);
    assert_int_equal(a->busy, 0);
    if (a->holders) return;
    assert_int_equal(ha_array_get(a, 5, &value), HA_OK);
    assert_true(value >= 0);
    ha_context *there = ha_array_valid(a, C, 0, HA_END) ? M2 : C;
    assert_int_equal(ha_open(&w, a, there, HA_WRITE, 0, HA_END), HA_OK);
    assert_int_equal(ha_close(&w), HA_OK);
    harray_double y = harray_double_zeros_at(77, there);
    assert_int_equal(harray_double_free(&y), HA_OK);
    assert_int_equal(ha_context_finish(there), HA_OK);
}

TEST(a_handler_uses_the_array) {
    ha_watch(HA_WATCH_ACCESSES);
    told_about = ramp(N);
    ha_watch(0);
    calls = 0;
    listen_to(ACCESSES | CONFLICTS);
    seen.also = use_the_array;
    HA_WRITING(v, told_about, M1) {}
    assert_true(calls >= 3); /* a transfer, opening, closing, and perhaps an allocation */
    assert_true(VALID(told_about, C) || VALID(told_about, M2));
    expect_events("oc");
    seen.kinds = 1u << HA_EVENT_TRANSFER;
    SUCCEEDS(ha_array_prefetch(told_about.array, M1, 0, HA_END));
    assert_true(seen.n >= 1);
    seen.also = NULL;
    drop(told_about);
}

/* Setting it to NULL inside it is the end of it. */
static void stop_listening(HA_UNUSED const ha_event_info *event) {
    ha_set_event_handler(NULL, NULL);
}

TEST(a_handler_removes_itself) {
    harray_double x = ramp(N);
    listen_to(MOVES);
    seen.also = stop_listening;
    touch(x, M1);
    touch(x, M2);
    expect_events("t");
    drop(x);
}

/* The error handler is told at once, the event handler when the call returns; what the error
 * handler did meanwhile belongs to the call. */
static int errors;

static void on_error(HA_UNUSED const ha_error *error, HA_UNUSED void *user) {
    errors++;
    assert_int_equal(seen.n, 0);
    touch(told_about, M2);
    assert_int_equal(seen.n, 0);
}

TEST(errors_and_events) {
    ha_write_double v;
    harray_double x = ramp(N);
    told_about = ramp(N);
    errors = 0;
    listen_to(MOVES | CONFLICTS);
    SUCCEEDS(ha_open(&v, x.array, C, HA_WRITE, 0, HA_END));
    seen.n = 0;
    ha_set_error_handler(on_error, NULL);
    assert_int_equal(ha_array_clear(x.array), HA_ERR_CONFLICT);
    ha_set_error_handler(NULL, NULL);
    assert_int_equal(ha_take_error().status, HA_ERR_CONFLICT);
    assert_int_equal(errors, 1);
    expect_events("xt");
    SUCCEEDS(ha_close(&v));
    drop(x);
    drop(told_about);
}

/* So does what it did while a store was not opened. */
TEST(a_store_that_is_none) {
    told_about = ramp(N);
    errors = 0;
    listen_to(MOVES);
    ha_set_error_handler(on_error, NULL);
    const ha_context *store = ha_store_open(NULL);
    ha_set_error_handler(NULL, NULL);
    assert_null(store);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    assert_int_equal(errors, 1);
    expect_events("t");
    drop(told_about);
}

/* A call that changes nothing tells what happened all the same. */
TEST(a_call_that_fails) {
    harray_double x = ramp(N);
    ha_access v;
    add_at(x, M1, 1);
    listen_to(MOVES);
    HA_NO_TRANSFERS REFUSED(HA_ERR_TRANSFER, ha_open(&v, x.array, H, HA_READ, 0, HA_END));
    expect_events("");
    drop(x);
}

/* A call that nobody listened to when it began tells nothing, and keeps nothing. */
static struct {
    ha_memory *memory;
    atomic_int inside, listening;
} unheard;

static ha_status allocate_unheard(HA_UNUSED void *user, size_t bytes, void **block) {
    raise_flag(&unheard.inside);
    await_flag(&unheard.listening);
    return ha_memory_table(unheard.memory)->allocate(unheard.memory->handle, bytes, block);
}

static void release_unheard(HA_UNUSED void *user, void *block, size_t bytes) {
    ha_memory_table(unheard.memory)->release(unheard.memory->handle, block, bytes);
}

static void *listen_meanwhile(HA_UNUSED void *argument) {
    await_flag(&unheard.inside);
    listen_to(1u << HA_EVENT_ALLOCATE | 1u << HA_EVENT_FREE);
    raise_flag(&unheard.listening);
    return NULL;
}

TEST(somebody_listens_meanwhile) {
    pthread_t thread;
    ha_context *c = ha_context_is_zero_copy(M1) ? M2 : M1;
    const ha_allocator asked = {allocate_unheard, release_unheard, NULL};
    unheard.memory = c->memory;
    atomic_store(&unheard.inside, 0);
    atomic_store(&unheard.listening, 0);
    SUCCEEDS(ha_context_finish(c)); /* what earlier tests freed there is in use until then */
    SUCCEEDS(ha_memory_set_allocator(c, &asked));
    assert_int_equal(pthread_create(&thread, NULL, listen_meanwhile, NULL), 0);
    void *block = ha_memory_allocate(c, 1000000);
    assert_int_equal(pthread_join(thread, NULL), 0);
    const void *kept = ha_pending_events.first;
    HA_CHECK(ha_memory_release(c, block));
    HA_CHECK(ha_context_finish(c));
    HA_CHECK(ha_memory_set_allocator(c, NULL)); /* what is cached is given back first */
    assert_non_null(block);
    assert_null(kept);
    expect_events("f");
}

TEST(memory_by_itself) {
    ha_context *c = ha_context_is_zero_copy(M1) ? M2 : M1;
    SUCCEEDS(ha_context_finish(c));
    (void)ha_memory_trim(c, 0);
    listen_to(1u << HA_EVENT_ALLOCATE | 1u << HA_EVENT_FREE);
    void *block = ha_memory_allocate(c, 1000000);
    expect_events("a");
    SUCCEEDS(ha_memory_release(c, block));
    SUCCEEDS(ha_context_finish(c));
    (void)ha_memory_trim(c, 0);
    expect_events("f");
    block = ha_memory_allocate_kind(c, 1000000, HA_MEMORY_DEVICE);
    expect_events("a");
    SUCCEEDS(ha_memory_release(c, block));
    SUCCEEDS(ha_context_finish(c));
}

TEST(arrays_that_come_and_go) {
    harray_double x = ramp(N);
    listen_to(1u << HA_EVENT_NEW | 1u << HA_EVENT_GONE);
    ha_array *like = ha_array_like(x.array);
    assert_non_null(like);
    expect_events("n");
    SUCCEEDS(ha_array_free(like));
    expect_events("g");
    drop(x);
}

/* ---- call sites and memories ---------------------------------------------------------------- */

static ha_site_statistics site_named(const char *site) {
    static ha_site_statistics sites[1000];
    size_t n = ha_sites(sites, 1000);
    for (size_t i = 0; i + 1 < n; i++) assert_true(sites[i].bytes >= sites[i + 1].bytes);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(sites[i].site, site)) return sites[i];
    return (ha_site_statistics){.site = NULL};
}

static void read_at(harray_double x, ha_context *c, size_t first, size_t last, const char *site) {
    ha_access v;
    SUCCEEDS(ha_open_(HA_ACCESS(&v), x.array, c, HA_READ, first, last, site));
    SUCCEEDS(ha_close(&v));
}

TEST(known_transfers) {
    char same_text[] = "solver.c:1"; /* as from another compiled file */
    ha_report_reset();
    assert_int_equal(ha_sites(NULL, 0), 0);
    ha_memory_usage host = ha_context_memory(H), there = ha_context_memory(M1);
    assert_int_equal(host.transfers_out, 0);
    harray_double x = ramp(N);
    read_at(x, M1, 0, 100, "solver.c:1");
    read_at(x, M1, 0, 200, same_text);
    read_at(x, M1, 0, 200, "solver.c:1");
    read_at(x, M1, 600, 700, "solver.c:2");
    assert_int_equal(ha_sites(NULL, 0), 2);
    ha_site_statistics one = site_named("solver.c:1"), two = site_named("solver.c:2");
    assert_int_equal(one.transfers, 2);
    assert_int_equal(one.bytes, 200 * sizeof(double));
    assert_int_equal(two.transfers, 1);
    assert_int_equal(two.bytes, 100 * sizeof(double));
    assert_int_equal(one.accesses + two.accesses, 0);
    ha_site_statistics first;
    assert_int_equal(ha_sites(&first, 1), 2);
    assert_string_equal(first.site, "solver.c:1");
    host = ha_context_memory(H);
    there = ha_context_memory(M1);
    assert_int_equal(host.transfers_out, 3);
    assert_int_equal(host.bytes_out, 300 * sizeof(double));
    assert_int_equal(host.transfers_in, 0);
    assert_int_equal(there.transfers_in, 3);
    assert_int_equal(there.bytes_in, 300 * sizeof(double));
    assert_int_equal(there.transfers_out, 0);
    MOVED(x, 3, 300 * sizeof(double));
    add_at(x, M1, 1);
    ha_report_reset();
    read_at(x, H, 0, 200, "solver.c:3");
    assert_int_equal(site_named("solver.c:3").waits, 1);
    assert_int_equal(site_named("solver.c:3").bytes, 200 * sizeof(double));
    assert_int_equal(ha_context_memory(M1).bytes_out, 200 * sizeof(double));
    assert_int_equal(ha_context_memory(H).bytes_in, 200 * sizeof(double));
    assert_int_equal(ha_sites(NULL, 0), 1);
    drop(x);
    ha_report_reset();
}

TEST(counted_accesses) {
    ha_report_reset();
    ha_watch(HA_WATCH_ACCESSES);
    harray_double x = ramp(N);
    for (int i = 0; i < 5; i++) read_at(x, H, 0, HA_END, "solver.c:1");
    ha_watch(0);
    assert_int_equal(site_named("solver.c:1").accesses, 5);
    assert_int_equal(site_named("solver.c:1").transfers, 0);
    assert_int_equal(x.array->watched->accesses, 6); /* and the one that filled it */
    drop(x);
    ha_report_reset();
}

/* ---- threads -------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 50 };
static harray_double shared;
static atomic_ulong events_of[HA_EVENT_KINDS];

static void count_event(const ha_event_info *event, HA_UNUSED void *user) {
    double value;
    atomic_fetch_add(&events_of[event->kind], 1);
    assert_true(event->thread == ha_self.id);
    if (event->kind == HA_EVENT_CLOSE) HA_IGNORE(ha_array_get(shared.array, 2, &value));
}

static void *use_shared(void *argument) {
    size_t k = (size_t)(uintptr_t)argument;
    for (size_t i = 0; i < ROUNDS; i++) {
        ha_context *there = (i + k) % 3 == 0 ? H : (i + k) % 3 == 1 ? C : M1;
        harray_double own = harray_double_zeros(10 + i);
        HA_READING(v, own, there) {}
        HA_WRITING_RANGE(v, shared, there, k * 100, k * 100 + 100) {}
        HA_READING(v, shared, there) {}
        if (i % 10 == 0) HA_WRITING(v, shared, there) {
            }
        if (i % 16 == 0) ha_report_reset();
        HA_CHECK(harray_double_free(&own));
    }
    return NULL;
}

TEST(threads_and_a_handler) {
    pthread_t threads[THREADS];
    for (int i = 0; i < HA_EVENT_KINDS; i++) atomic_store(&events_of[i], 0);
    ha_watch(HA_WATCH_ACCESSES);
    shared = keep(harray_double_zeros(N));
    ha_set_event_handler(count_event, NULL);
    for (size_t k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, use_shared, (void *)k), 0);
    for (int i = 0; i < ROUNDS; i++) {
        ha_site_statistics sites[4];
        (void)ha_sites(sites, 4);
    }
    for (size_t k = 0; k < THREADS; k++) assert_int_equal(pthread_join(threads[k], NULL), 0);
    /* Each round: two and a bit accesses of `shared`, and two of `own` (zeroing, reading). */
    size_t expected = THREADS * (ROUNDS * 4 + ROUNDS / 10);
    assert_int_equal(atomic_load(&events_of[HA_EVENT_OPEN]), expected);
    assert_int_equal(atomic_load(&events_of[HA_EVENT_CLOSE]), expected);
    assert_true(atomic_load(&events_of[HA_EVENT_TRANSFER]) > 0);
    ha_set_event_handler(NULL, NULL);
    ha_watch(0);
    drop(shared);
    ha_report_reset();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        EVENTS(a_transfer),
        EVENTS(a_wait),
        EVENTS(two_hops),
        EVENTS(elements_are_no_transfers),
        EVENTS(blocks_of_a_backend),
        EVENTS(refused),
        EVENTS(waited_for),
        EVENTS(a_circle),
        EVENTS(accesses),
        EVENTS(ways_to_end),
        EVENTS(a_handler_uses_the_array),
        EVENTS(a_handler_removes_itself),
        EVENTS(errors_and_events),
        EVENTS(a_store_that_is_none),
        EVENTS(a_call_that_fails),
        EVENTS(somebody_listens_meanwhile),
        EVENTS(memory_by_itself),
        EVENTS(arrays_that_come_and_go),
        EVENTS(known_transfers),
        EVENTS(counted_accesses),
        EVENTS(threads_and_a_handler),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
