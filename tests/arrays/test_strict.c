/* Functions on strict devices reach what the accesses cover that were open when they were enqueued, to the
 * byte; elements without a value are poisoned. Without HARRAY_DEBUG. */
#define _GNU_SOURCE 1
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_kernels.h"

#include "../support/mistakes.h"
#include <math.h>

enum { N = 2000 };

/* A small device: in each child valgrind looks for pointers in all of its memory. */
static ha_context *strict(void) {
    HA_CHECK(ha_sim_configure(&(ha_sim_options){.strict = 1, .capacity = 1 << 27}));
    ha_context *c = ha_context_find("sim:0");
    CHECK(c);
    return c;
}

typedef struct task {
    double *data;
    size_t size;
    ptrdiff_t at; /* where else it reads, and writes */
    double value;
    int reads, writes;
} task;

/* Adds 1 to all, and what it reads elsewhere. */
static void add(const ha_queue *queue, void *argument) {
    const task *t = (const task *)argument;
    double *p = HA_HERE(queue, double, t->data);
    const double other = t->reads ? p[t->at] : 0;
    for (size_t i = 0; i < t->size; i++) p[i] += 1 + other;
    if (t->writes) p[t->at] = t->value;
}

static void set(const ha_queue *queue, void *argument) {
    const task *t = (const task *)argument;
    double *p = HA_HERE(queue, double, t->data);
    for (size_t i = 0; i < t->size; i++) p[i] = t->value;
}

static void enqueue(ha_context *c, ha_function f, task t) {
    CHECK(ha_enqueue(c, f, &t, sizeof t) == HA_OK);
}

/* The next error has these words. */
static void check_error(ha_status status, const char *words) {
    const ha_error e = ha_take_error();
    if (e.status == status && strstr(e.text, words)) return;
    fprintf(stderr, "%d, not %s: %s\n", (int)e.status, words, e.text);
    _exit(4);
}

/* ---- what goes on as usual ------------------------------------------------------------------ */

GOES_ON(what_is_covered) {
    ha_context *c = strict();
    harray_double x = named("x", N), y = named("y", N);
    for (int i = 0; i < 3; i++) {
        HA_WRITING(v, x, c) enqueue(c, add, (task){.data = v.data, .size = N});
        HA_WRITING_RANGE(v, y, c, 100, 1500)
        HA_READING_RANGE(w, y, c, 1500, N) {
            enqueue(c, add, (task){.data = v.data, .size = v.size, .at = 1450, .reads = 1});
            CHECK(w.data == v.data + 1400);
        }
    }
    HA_READING(v, x, ha_host()) for (int i = 0; i < N; i++) CHECK(v.data[i] == 3);
    HA_READING(v, y, ha_host())
    for (int i = 0; i < N; i++) CHECK(v.data[i] == (i >= 100 && i < 1500 ? 3 : 0));
    HA_WRITING(v, x, c) {
        CHECK(ha_access_resize(&v, 3 * N) == HA_OK);
        enqueue(c, set, (task){.data = v.data, .size = 3 * N, .value = 7});
    }
    HA_READING(v, x, ha_host()) CHECK(v.size == 3 * N && v.data[3 * N - 1] == 7);
    CHECK(ha_context_finish(c) == HA_OK && ha_take_error().status == HA_OK);
    CHECK(harray_double_free(&x) == HA_OK && harray_double_free(&y) == HA_OK);
    CHECK(ha_shutdown() == HA_OK);
}

GOES_ON(memory_without_an_array) {
    ha_context *c = strict();
    double *block = (double *)ha_memory_allocate(c, N * sizeof *block);
    harray_double x = named("x", N);
    HA_WRITING(v, x, c) {
        enqueue(c, set, (task){.data = block, .size = N, .value = 5});
        enqueue(c, add, (task){.data = v.data, .size = N, .at = block + 3 - v.data, .reads = 1});
    }
    HA_READING(v, x, ha_host()) CHECK(v.data[N - 1] == 6);
    CHECK(ha_memory_release(c, block) == HA_OK);
}

/* Two queues write elements of one page. */
GOES_ON(neighbours_on_another_queue) {
    ha_context *c = strict(), *other = ha_context_fork(c);
    harray_double x = named("x", 100);
    for (int i = 0; i < 50; i++) {
        HA_WRITING_RANGE(v, x, c, 0, 50) enqueue(c, add, (task){.data = v.data, .size = 50});
        HA_WRITING_RANGE(v, x, other, 50, 100)
        enqueue(other, add, (task){.data = v.data, .size = 50});
    }
    HA_READING(v, x, ha_host()) for (int i = 0; i < 100; i++) CHECK(v.data[i] == 50);
}

/* ---- what ThreadSanitizer is to find nothing in ---------------------------------------------- */

/* A function gets a copy of what others may be writing, as their accesses are open, too. */
GOES_ON(accesses_on_two_queues) {
    ha_context *c[2] = {strict(), ha_context_fork(ha_context_find("sim:0"))};
    harray_double x = named("x", 100);
    ha_access v[2];
    for (size_t i = 0; i < 2; i++) {
        CHECK(ha_open(&v[i], x.array, c[i], HA_WRITE, 50 * i, 50 * i + 50) == HA_OK);
        CHECK(ha_context_finish(c[i]) == HA_OK && ha_sim_hold(c[i]) == HA_OK);
    }
    for (int n = 0; n < 20; n++)
        for (size_t i = 0; i < 2; i++)
            enqueue(c[i], add, (task){.data = (double *)v[i].data, .size = 50});
    for (size_t i = 0; i < 2; i++) CHECK(ha_sim_step(c[i], -1) == HA_OK);
    for (size_t i = 0; i < 2; i++) CHECK(ha_close(&v[i]) == HA_OK);
    HA_READING(r, x, ha_host()) for (int i = 0; i < 100; i++) CHECK(r.data[i] == 20);
}

typedef struct user {
    ha_context *context;
    harray_double x;
    int turn;
    pthread_t thread;
} user;

static int turns; /* that have been; it orders nothing but the turns themselves */

static void *use_in_turn(void *argument) {
    const user *u = (const user *)argument;
    for (int n = 0; n < 2; n++) {
        while (__atomic_load_n(&turns, __ATOMIC_RELAXED) != 2 * n + u->turn) sched_yield();
        HA_WRITING(v, u->x, u->context) CHECK(v.size == N);
        __atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* They open arrays that were made when nothing was strict: these stand in a list from then on, the one beside
 * the other. */
GOES_ON(two_threads_with_an_array_each) {
    user users[2] = {{.turn = 0, .x = named("x", N)}, {.turn = 1, .x = named("y", N)}};
    users[0].context = strict();
    users[1].context = ha_context_fork(users[0].context);
    for (int i = 0; i < 2; i++)
        CHECK(!pthread_create(&users[i].thread, NULL, use_in_turn, &users[i]));
    for (int i = 0; i < 2; i++) CHECK(!pthread_join(users[i].thread, NULL));
}

/* ---- what is not covered -------------------------------------------------------------------- */

/* Ghosts are no part of the interior, whether the device has them or not. */
GOES_ON(ghosts_of_an_interior_access) {
    ha_context *c = strict();
    const ha_shape shape = {.extent = {8}, .ghost_low = {1}, .ghost_high = {1}};
    array_double_1 u = array_double_1_make(&shape, NULL), inside = array_double_1_interior(u);
    const task read_ghost = {.size = 8, .at = -1, .reads = 1};
    for (int i = 0; i < 2; i++) {
        CHECK(array_double_1_fill(u, 1, NULL) == HA_OK);
        if (i) HA_READING(v, u, c) CHECK(v.size == 10);
        HA_WRITING(v, inside, c) {
            task t = read_ghost;
            t.data = v.data;
            enqueue(c, add, t);
        }
        HA_READING(v, inside, ha_host()) CHECK(isnan(v.data[3]));
    }
    CHECK(array_double_1_fill(u, 1, NULL) == HA_OK);
    HA_WRITING(v, u, c) {
        task t = read_ghost;
        t.data = v.data + 1;
        enqueue(c, add, t);
    }
    HA_READING(v, inside, ha_host()) CHECK(v.data[0] == 3);
    CHECK(array_double_1_free(&u) == HA_OK);
}

GOES_ON(a_write_beside_an_access) {
    ha_context *c = strict();
    harray_double x = named("x", 100);
    HA_WRITING_RANGE(v, x, c, 10, 20)
    enqueue(c, add, (task){.data = v.data, .size = 10, .at = 12, .value = 9, .writes = 1});
    char words[300];
    snprintf(words, sizeof words,
             "touched element 22 of array 'x' (double[100]), which no access covers that was open "
             "then; opened at %s:%d",
             __FILE__, __LINE__ - 6);
    CHECK(ha_context_finish(c) == HA_ERR_STATE);
    check_error(HA_ERR_STATE, words);
    HA_READING(v, x, ha_host()) CHECK(0);
    check_error(HA_ERR_STATE, "elements [10, 20) may be wrong");
    HA_READING(v, x, ha_host()) CHECK(v.data[22] == 0 && v.data[19] == 1);
}

GOES_ON(a_write_through_a_read_beside_a_write) {
    ha_context *c = strict();
    harray_double x = named("x", 100);
    HA_READING_RANGE(r, x, c, 0, 10)
    HA_WRITING_RANGE(v, x, c, 10, 20)
    enqueue(c, add, (task){.data = v.data, .size = 10, .at = -3, .value = 9, .writes = 1});
    char words[300];
    snprintf(words, sizeof words,
             "wrote element 7 of array 'x' (double[100]) through a read access, opened at %s:%d",
             __FILE__, __LINE__ - 6);
    CHECK(ha_context_finish(c) == HA_ERR_STATE);
    check_error(HA_ERR_STATE, words);
}

CRASHES(a_write_through_a_read) {
    ha_context *c = strict();
    harray_double x = named("x", 100);
    HA_READING(v, x, c) {
        expect("a function on sim:0, enqueued at %s:%d, wrote element 5 of array 'x' (double[100]) "
               "through a read access, opened at %s:%d",
               __FILE__, __LINE__ + 2, __FILE__, __LINE__ - 3);
        const task t = {.data = (double *)(uintptr_t)v.data, .at = 5, .writes = 1};
        CHECK(ha_enqueue(c, add, &t, sizeof t) == HA_OK);
        (void)!ha_context_finish(c);
    }
}

CRASHES(far_outside_a_range) {
    ha_context *c = strict();
    harray_double x = named("x", 20000);
    HA_WRITING_RANGE(v, x, c, 0, 10) {
        expect("a function on sim:0, enqueued at %s:%d, touched element 19000 of array 'x' "
               "(double[20000]), which no access covers that was open then; opened at %s:%d",
               __FILE__, __LINE__ + 2, __FILE__, __LINE__ - 3);
        const task t = {.data = v.data, .size = 10, .at = 19000, .reads = 1};
        CHECK(ha_enqueue(c, add, &t, sizeof t) == HA_OK);
        (void)!ha_context_finish(c);
    }
}

CRASHES(behind_an_array) {
    ha_context *c = strict();
    harray_double x = named("x", 1000);
    HA_WRITING(v, x, c) {
        expect(
            "a function on sim:0, enqueued at %s:%d, touched what is 152000 bytes behind the end "
            "of array 'x' (double[1000]), which no access covers that was open then; opened at "
            "%s:%d",
            __FILE__, __LINE__ + 2, __FILE__, __LINE__ - 5);
        const task t = {.data = v.data, .size = 10, .at = 20000, .reads = 1};
        CHECK(ha_enqueue(c, add, &t, sizeof t) == HA_OK);
        (void)!ha_context_finish(c);
    }
}

CRASHES(after_the_access) {
    ha_context *c = strict();
    harray_double x = named("x", 1000);
    double *kept = NULL;
    HA_WRITING(v, x, c) kept = v.data;
    expect("a function on sim:0, enqueued at %s:%d, touched element 0 of array 'x' "
           "(double[1000]), for which no access was open then",
           __FILE__, __LINE__ + 2);
    const task t = {.data = kept, .size = 10};
    CHECK(ha_enqueue(c, add, &t, sizeof t) == HA_OK);
    (void)!ha_context_finish(c);
}

/* ---- addresses of the host ------------------------------------------------------------------- */

GOES_ON(an_address_of_the_host) {
    ha_context *c = strict();
    harray_double x = named("x", 100);
    HA_WRITING(v, x, ha_host()) {
        const task t = {.data = v.data + 7, .size = 10};
        CHECK(ha_enqueue(c, add, &t, sizeof t) == HA_ERR_ARGUMENT);
        check_error(HA_ERR_ARGUMENT, "it holds the address of array 'x' (double[100]) on the host, "
                                     "which a device does not reach");
    }
}

/* ---- poison --------------------------------------------------------------------------------- */

GOES_ON(adding_to_what_is_overwritten) {
    ha_context *c = strict();
    harray_double x = named("x", N);
    HA_OVERWRITING_ALL(v, x, c) enqueue(c, add, (task){.data = v.data, .size = N});
    HA_READING(v, x, ha_host()) for (int i = 0; i < N; i++) CHECK(isnan(v.data[i]));
    HA_OVERWRITING_RANGE(v, x, c, 5, 8) enqueue(c, set, (task){.data = v.data, .size = 3});
    HA_OVERWRITING_RANGE(v, x, c, 5, 7) enqueue(c, add, (task){.data = v.data, .size = 1});
    HA_READING(v, x, ha_host())
    CHECK(isnan(v.data[4]) && isnan(v.data[5]) && isnan(v.data[6]) && v.data[7] == 0);
}

/* Who waits for what the access depends on waits for the poison, too. */
GOES_ON(poison_is_work_of_the_queue) {
    ha_context *c = strict();
    harray_double x = named("x", N);
    HA_WRITING(v, x, c) CHECK(v.data);
    CHECK(ha_context_finish(c) == HA_OK && ha_sim_hold(c) == HA_OK);
    HA_OVERWRITING_ALL(v, x, c) {
        ha_ops *ops = &ha_incarnation_find(x.array, c->memory)->ops;
        CHECK(ops->n == 1 && !ha_passed(c, ha_ops_list(ops)->at.seq));
        CHECK(ha_sim_step(c, -1) == HA_OK && ha_wait(&v) == HA_OK);
        enqueue(c, set, (task){.data = v.data, .size = N, .value = 2});
    }
    HA_READING(v, x, ha_host()) CHECK(v.data[N - 1] == 2);
}

static const ha_queue_ops *plain_ops;
static ha_context *filled;

/* As when another thread makes an event of the queue just before something is filled. */
static ha_status fill_behind_an_event(void *queue, void *to, const void *value, size_t bytes,
                                      size_t count) {
    ha_fence *fence;
    CHECK(ha_cover(filled, ha_sequence_of(filled), &fence) == HA_OK);
    ha_fence_release(filled, fence);
    return plain_ops->fill(queue, to, value, bytes, count);
}

/* Whether the last write that is noted there ends with the next event, not with one that has been made. */
static int is_noted_behind_events(harray_double x) {
    ha_ops *noted = &ha_incarnation_find(x.array, filled->memory)->ops;
    uint64_t last = 0;
    for (uint32_t i = 0; i < noted->n; i++)
        if (ha_ops_list(noted)[i].write) last = ha_ops_list(noted)[i].at.seq;
    return last == ha_sequence_of(filled);
}

/* Of what is overwritten, and of the rest of a block that is new. */
GOES_ON(poison_is_noted_behind_itself) {
    ha_context *c = filled = strict();
    harray_double x = named("x", N), y = named("y", N);
    ha_queue_ops ops = *(plain_ops = c->ops);
    HA_WRITING(v, x, c) CHECK(v.data);
    ops.fill = fill_behind_an_event;
    c->ops = &ops;
    HA_OVERWRITING_RANGE(v, x, c, 0, 10) CHECK(v.data && is_noted_behind_events(x));
    HA_READING_RANGE(v, y, c, 0, 10) CHECK(v.data && is_noted_behind_events(y));
    CHECK(ha_context_finish(c) == HA_OK);
    c->ops = plain_ops;
    CHECK(harray_double_free(&x) == HA_OK && harray_double_free(&y) == HA_OK);
}

/* It is behind nothing of another queue, whose work stays noted: an access may have been closed while it was enqueued. */
GOES_ON(poison_is_noted_beside_others) {
    ha_context *c = strict(), *other = ha_context_fork(c);
    harray_double x = named("x", N);
    HA_OVERWRITING_ALL(v, x, other) CHECK(v.data);
    CHECK(ha_context_finish(other) == HA_OK && ha_sim_hold(other) == HA_OK);
    HA_WRITING_RANGE(v, x, other, 50, 100)
    enqueue(other, set, (task){.data = v.data, .size = 50, .value = 1});
    ha_incarnation *in = ha_incarnation_find(x.array, c->memory);
    CHECK(ha_ops_reserve(x.array, &in->ops, 1) == HA_OK);
    ha_poisoned(x.array, in, c, HA_WHOLE_, HA_SITE);
    int noted = 0;
    for (uint32_t i = 0; i < in->ops.n; i++) noted |= ha_ops_list(&in->ops)[i].at.queue == other;
    CHECK(noted);
    CHECK(ha_sim_step(other, -1) == HA_OK && harray_double_free(&x) == HA_OK);
}

/* Within the access values stay, of function after function; and what the thread reads itself. */
GOES_ON(what_has_a_value_keeps_it) {
    ha_context *c = strict();
    harray_double x = named("x", N);
    HA_OVERWRITING_ALL(v, x, c) {
        enqueue(c, set, (task){.data = v.data, .size = N, .value = 2});
        enqueue(c, add, (task){.data = v.data, .size = N});
    }
    HA_READING(r, x, c)
    HA_OVERWRITING_ALL(v, x, c) enqueue(c, add, (task){.data = v.data, .size = N});
    HA_READING(v, x, ha_host()) for (int i = 0; i < N; i++) CHECK(v.data[i] == 4);
}

GOES_ON(what_was_never_written) {
    ha_context *c = strict();
    harray_double x = harray_double_new(10);
    HA_OVERWRITING_RANGE(v, x, c, 3, 5)
    enqueue(c, set, (task){.data = v.data, .size = 2, .value = 1});
    HA_WRITING(v, x, c) enqueue(c, add, (task){.data = v.data, .size = 10});
    HA_READING(v, x, ha_host())
    for (int i = 0; i < 10; i++) CHECK(i == 3 || i == 4 ? v.data[i] == 2 : isnan(v.data[i]));
    CHECK(harray_double_free(&x) == HA_OK);
}

#define POISONED(T, E, condition)                                                                  \
    do {                                                                                           \
        harray_##T x_ = harray_##T##_new(9);                                                       \
        HA_OVERWRITING_ALL(v_, x_, c) {}                                                           \
        HA_READING(v_, x_, ha_host()) {                                                            \
            const E *const p = v_.data;                                                            \
            CHECK(condition);                                                                      \
        }                                                                                          \
        else CHECK(0);                                                                             \
        CHECK(harray_##T##_free(&x_) == HA_OK);                                                    \
    } while (0)

/* The bits of a value: a signalling NaN has the highest of its fraction clear. */
#define BITS(U, value) (*(const volatile U *)(const void *)&(value))

GOES_ON(patterns) {
    ha_context *c = strict();
    POISONED(double, double, BITS(uint64_t, p[8]) == 0x7FF4DEAD7FF4DEAD && isnan(p[8]));
    POISONED(float, float, BITS(uint32_t, p[8]) == 0x7FB4DEAD && isnan(p[8]));
    POISONED(half, ha_half, BITS(uint16_t, p[8]) == 0x7D5A);
    POISONED(bfloat16, ha_bfloat16, BITS(uint16_t, p[8]) == 0x7FA5);
    POISONED(int8_t, int8_t, p[8] == (int8_t)0xDB);
    POISONED(uint16_t, uint16_t, p[8] == 0xDBDB);
    POISONED(int, int, (unsigned)p[8] == 0xDBDBDBDB);
    POISONED(uint64_t, uint64_t, p[8] == 0xDBDBDBDBDBDBDBDB);
}

/* ---- records -------------------------------------------------------------------------------- */

typedef struct motion {
    double r, p;
    float m;
} motion;
#define motion_FIELDS (double, r), (double, p), (float, m)
HA_RECORD(motion)
HA_VIEW(path, motion, 1, HA_ANY)
HA_RECORDS(motions, path);
HA_VIEW(sheet, motion, 2, HA_ANY)
HA_RECORDS(sheets, sheet);

HA_FN void move_on(path v, double dt) {
    HA_EACH(path, v, at) * path_r(v, at) += dt * *path_p(v, at);
}
HA_QUEUED(move_on, path, double);

/* A field that is used but not named has no value, whatever the layout. */
GOES_ON(fields_that_are_not_named) {
    static const char *const layouts[] = {"aos", "soa", "aosoa(4)", "aosoa(16)"};
    ha_context *c = strict();
    for (int i = 0; i < 4; i++) {
        motions r = motions_new(20); /* in one page; a page without named fields would fault */
        CHECK(ha_records_layout(r.records, c, layouts[i]) == HA_OK);
        HA_USING(v, r, ha_host(), "overwrite") HA_EACH(path, v, at) {
            *path_r(v, at) = 1;
            *path_p(v, at) = 2;
            *path_m(v, at) = 3;
        }
        HA_USING(v, r, c, "read p, write r") HA_RUN_VIEW(move_on, v, 0.25);
        HA_USING(v, r, ha_host(), "read")
        HA_EACH(path, v, at) CHECK(*path_r(v, at) == 1.5 && *path_p(v, at) == 2);
        HA_USING(v, r, c, "write r") HA_RUN_VIEW(move_on, v, 0.25);
        HA_USING(v, r, ha_host(), "read")
        HA_EACH(path, v, at) CHECK(isnan(*path_r(v, at)) && *path_m(v, at) == 3);
        HA_USING(v, r, c, "read p, overwrite r") HA_RUN_VIEW(move_on, v, 0.25);
        HA_USING(v, r, ha_host(), "read")
        HA_EACH(path, v, at) CHECK(isnan(*path_r(v, at)) && *path_p(v, at) == 2);
        CHECK(motions_free(&r) == HA_OK);
    }
    CHECK(ha_take_error().status == HA_OK);
}

/* Nor is it written. */
GOES_ON(writing_a_field_that_is_only_read) {
    ha_context *c = strict();
    motions r = motions_new(7);
    ha_records_set_name(r.records, "r");
    HA_USING(v, r, ha_host(), "overwrite") HA_EACH(path, v, at) {
        *path_r(v, at) = 1;
        *path_p(v, at) = 2;
        *path_m(v, at) = 3;
    }
    HA_USING(v, r, c, "read r+p, write m") HA_RUN_VIEW(move_on, v, 0.25);
    CHECK(ha_context_finish(c) == HA_ERR_STATE);
    check_error(HA_ERR_STATE,
                "wrote field r of record 0 of records 'r' (motion[7]) through a read access");
    HA_USING(v, r, ha_host(), "read r") HA_EACH(path, v, at) CHECK(*path_r(v, at) == 1);
    CHECK(motions_free(&r) == HA_OK);
}

HA_FN void set_r(path v, int64_t i) { *path_r(v, path_at(v, i)) = 2; }
HA_QUEUED(set_r, path, int64_t);

HA_FN void set_p(sheet v, int64_t i, int64_t j) { *sheet_p(v, sheet_at(v, i, j)) = 4; }
HA_QUEUED(set_p, sheet, int64_t, int64_t);

/* The record is told as well, in whatever layout, also in a part. */
GOES_ON(which_record_was_written) {
    static const char *const layouts[] = {"aos", "soa", "aosoa(4)", "aosoa(16)"};
    ha_context *c = strict();
    for (int i = 0; i < 4; i++) {
        motions r = motions_new(50);
        CHECK(ha_records_layout(r.records, c, layouts[i]) == HA_OK);
        HA_USING(v, r, ha_host(), "overwrite")
        HA_EACH(path, v, at) path_store(v, at, (motion){1, 2, 3});
        HA_USING_PART(v, r, c, "read r, write m", 3, 45) HA_RUN_VIEW(set_r, v, 30 + i);
        CHECK(ha_context_finish(c) == HA_ERR_STATE);
        char words[80];
        snprintf(words, sizeof words, "wrote field r of record %d of records (motion[50])", 30 + i);
        check_error(HA_ERR_STATE, words);
        CHECK(motions_free(&r) == HA_OK);
    }
}

/* Of blocks of several dimensions only the field is. */
GOES_ON(which_record_of_two_dimensions_was_written) {
    static const struct {
        const char *layout, *words;
    } cases[] = {
        {"aos", "wrote field p of record 3, 5 of records (motion[4, 9])"},
        {"soa@col", "wrote field p of record 3, 5 of records (motion[4, 9])"},
        {"aosoa(4)", "wrote field p of records (motion[4, 9])"},
    };
    ha_context *c = strict();
    for (int i = 0; i < 3; i++) {
        sheets r = sheets_new(HA_DIM(4, 9));
        CHECK(ha_records_layout(r.records, c, cases[i].layout) == HA_OK);
        HA_USING(v, r, ha_host(), "overwrite")
        HA_EACH(sheet, v, at) sheet_store(v, at, (motion){1, 2, 3});
        HA_USING(v, r, c, "read p, write m") HA_RUN_VIEW(set_p, v, 3, 5);
        CHECK(ha_context_finish(c) == HA_ERR_STATE);
        check_error(HA_ERR_STATE, cases[i].words);
        CHECK(sheets_free(&r) == HA_OK);
    }
}

/* ---- kernels -------------------------------------------------------------------------------- */

HA_KERNEL(twice, ((inout, double, b)), i, { b[i] *= 2; });

/* Where a launch is about to have what it enqueues. */
__attribute__((__noinline__)) static void fill_stack(const double *address) {
    const double *volatile words[1500];
    for (int i = 0; i < 1500; i++) words[i] = address;
    (void)words[0];
}

/* What a launch enqueues holds nothing but what the kernel is given. */
GOES_ON(kernels_that_are_right) {
    ha_context *c = strict();
    harray_double x = named("x", N);
    for (int i = 0; i < 3; i++) {
        HA_WRITING(v, x, ha_host()) {
            v.data[0] = 1;
            fill_stack(v.data);
        }
        CHECK(twice(c, HA_ALL_LANES, x) == HA_OK);
    }
    HA_READING(v, x, ha_host()) CHECK(v.data[0] == 2 && v.data[1] == 0);
    CHECK(ha_context_finish(c) == HA_OK && ha_take_error().status == HA_OK);
}

/* ---- who is strict -------------------------------------------------------------------------- */

GOES_ON(by_the_environment) {
    CHECK(setenv("HARRAY_SIM", "strict=1", 1) == 0);
    ha_context *c = ha_context_find("sim:0");
    CHECK(c && c->strict && !c->easy);
}

GOES_ON(not_by_itself) {
    ha_context *c = ha_context_find("sim:0");
    CHECK(c && !c->strict && c->easy);
    harray_double x = named("x", 100);
    HA_WRITING_RANGE(v, x, c, 10, 20)
    enqueue(c, add, (task){.data = v.data, .size = 10, .at = 12, .value = 9, .writes = 1});
    HA_READING(v, x, ha_host()) CHECK(v.data[19] == 1);
    CHECK(!ha_windows && !x.array->strict_link && !ha_fault_signals.installed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_covered),
        cmocka_unit_test(memory_without_an_array),
        cmocka_unit_test(neighbours_on_another_queue),
        cmocka_unit_test(accesses_on_two_queues),
        cmocka_unit_test(two_threads_with_an_array_each),
        cmocka_unit_test(ghosts_of_an_interior_access),
        cmocka_unit_test(a_write_beside_an_access),
        cmocka_unit_test(a_write_through_a_read_beside_a_write),
        cmocka_unit_test(a_write_through_a_read),
        cmocka_unit_test(far_outside_a_range),
        cmocka_unit_test(behind_an_array),
        cmocka_unit_test(after_the_access),
        cmocka_unit_test(an_address_of_the_host),
        cmocka_unit_test(adding_to_what_is_overwritten),
        cmocka_unit_test(poison_is_work_of_the_queue),
        cmocka_unit_test(poison_is_noted_behind_itself),
        cmocka_unit_test(poison_is_noted_beside_others),
        cmocka_unit_test(what_has_a_value_keeps_it),
        cmocka_unit_test(what_was_never_written),
        cmocka_unit_test(patterns),
        cmocka_unit_test(fields_that_are_not_named),
        cmocka_unit_test(writing_a_field_that_is_only_read),
        cmocka_unit_test(which_record_was_written),
        cmocka_unit_test(which_record_of_two_dimensions_was_written),
        cmocka_unit_test(kernels_that_are_right),
        cmocka_unit_test(by_the_environment),
        cmocka_unit_test(not_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
