/* Plans of copies between views: against a naive copy, on other arrays, and beside other threads. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"
#include "numbers_of_views.h"

/* ---- plans ---------------------------------------------------------------------------------- */

/* Two blocks side by side, each with a ghost column for the other's. */
TEST(plans) {
    const ha_shape shape = {.rank = 2, .extent = {4, 3}, .ghost_low = {0, 1}, .ghost_high = {0, 1}};
    darray a = kept(darray_make(HA_DTYPE_double, &shape, C));
    darray b = kept(darray_make(HA_DTYPE_double, &shape, M1));
    SUCCEEDS(darray_fill(a, ha_dvalue_of_double(1), C));
    SUCCEEDS(darray_fill(b, ha_dvalue_of_double(2), M1));
    const ha_copy_pair pairs[] = {
        {darray_fix(b, 1, -1), darray_fix(a, 1, 2), M1},
        {darray_fix(a, 1, 3), darray_fix(b, 1, 0), C},
        {darray_fix(a, 1, -1), darray_fix(a, 1, 0), C},
    };
    ha_copy_plan *plan = ha_copy_plan_new(pairs, 3);
    assert_non_null(plan);
    for (int i = 3; i < 6; i++) {
        SUCCEEDS(darray_fill(darray_fix(a, 1, 2), ha_dvalue_of_int64_t(10 * i), C));
        SUCCEEDS(darray_fill(darray_fix(b, 1, 0), ha_dvalue_of_int64_t(-i), M1));
        SUCCEEDS(darray_fill(darray_fix(a, 1, 0), ha_dvalue_of_int64_t(i), C));
        SUCCEEDS(ha_copy_plan_run(plan));
        NUMBERS(darray_fix(a, 0, 3), i, i, 1, 10 * i, -i);
        NUMBERS(darray_fix(b, 0, 0), 10 * i, -i, 2, 2, 2);
    }
    ha_copy_plan_free(plan);
    drop_array(a.array);
    drop_array(b.array);
}

/* A plan is one more owner; all are opened or none. */
TEST(plans_open_all_or_nothing) {
    darray a = counting(HA_DTYPE_float, 1, LIST(4), C), b = counting(HA_DTYPE_float, 1, LIST(4), C);
    darray fresh = kept(darray_new(HA_DTYPE_float, 1, LIST(4), C));
    const ha_copy_pair pairs[] = {{darray_slice(a, 0, 0, 2, 1), darray_slice(a, 0, 2, 4, 1), C},
                                  {b, fresh, C}};
    ha_copy_plan *plan = ha_copy_plan_new(pairs, 2), *empty = ha_copy_plan_new(NULL, 0);
    REFUSED(HA_ERR_STATE, ha_copy_plan_run(plan));
    NUMBERS(a, 0, 1, 2, 3);
    NUMBERS(b, 0, 1, 2, 3);
    SUCCEEDS(darray_fill(fresh, ha_dvalue_of_double(8), C));
    SUCCEEDS(ha_copy_plan_run(plan));
    NUMBERS(a, 2, 3, 2, 3);
    NUMBERS(b, 8, 8, 8, 8);
    SUCCEEDS(ha_copy_plan_run(empty));
    REFUSED(HA_ERR_ARGUMENT, ha_copy_plan_run(NULL));
    ha_copy_plan_free(empty);
    ha_copy_plan_free(NULL);
    darray_share(fresh);
    drop_array(fresh.array);
    ha_copy_plan_free(plan);
    NUMBERS(fresh, 8, 8, 8, 8);
    HA_CHECK(ha_array_free(fresh.array));
    drop_array(a.array);
    drop_array(b.array);
}

TEST(plans_that_are_refused) {
    darray x = counting(HA_DTYPE_double, 1, LIST(6), C),
           y = counting(HA_DTYPE_double, 1, LIST(6), C);
    darray i = counting(HA_DTYPE_int8_t, 1, LIST(6), C);
    const ha_copy_pair shapes[] = {{x, darray_slice(y, 0, 0, 3, 1), C}};
    const ha_copy_pair types[] = {{i, x, C}};
    const ha_copy_pair targets[] = {
        {darray_slice(x, 0, 0, 3, 1), darray_slice(y, 0, 0, 3, 1), C},
        {darray_slice(x, 0, 2, 5, 1), darray_slice(y, 0, 0, 3, 1), C},
    };
    const ha_copy_pair itself[] = {{darray_slice(x, 0, 0, 3, 1), darray_slice(x, 0, 2, 5, 1), C}};
    const char *const name = "ha_copy_plan";
    assert_null(ha_copy_plan_new(shapes, 1));
    is_told(HA_ERR_ARGUMENT, name, "pair 0", "extents are not the same");
    assert_null(ha_copy_plan_new(types, 1));
    is_told(HA_ERR_ARGUMENT, name, "pair 0", "for darray_copy");
    assert_null(ha_copy_plan_new(targets, 2));
    is_told(HA_ERR_ARGUMENT, name, "target of pair 0", "target of pair 1");
    assert_null(ha_copy_plan_new(itself, 1));
    is_told(HA_ERR_ARGUMENT, name, "target of pair 0", "source of pair 0");
    assert_null(ha_copy_plan_new(NULL, 1));
    is_told(HA_ERR_ARGUMENT, name, "no pairs", "");
    drop_array(x.array);
    drop_array(y.array);
    drop_array(i.array);
}

/* ---- plans against a naive copy -------------------------------------------------------------- */

enum { BLOCKS = 6, BLOCK = 6 * 6 * 8, PLANNED = 3 * BLOCKS };

/* Blocks with ghost cells, in either order, and what all of their elements should be. */
typedef struct blocks {
    darray block[BLOCKS];
    double value[BLOCKS][BLOCK]; /* by place in the storage */
    ha_copy_pair pair[PLANNED];
    size_t to[PLANNED], from[PLANNED];
} blocks;

static size_t place(const darray *x, const int64_t *index) {
    int64_t at = x->offset;
    for (int d = 0; d < x->rank; d++) at += (index[d] - x->origin[d]) * x->stride[d];
    assert_true(at >= 0 && at < BLOCK);
    return (size_t)at;
}

static void make_blocks(blocks *b, double first) {
    const ha_shape shape = {
        .rank = 3, .extent = {4, 4, 4}, .ghost_low = {1, 1, 1}, .ghost_high = {1, 1, 1}};
    ha_context *const contexts[] = {H, C, M1};
    for (size_t i = 0; i < BLOCKS; i++) {
        ha_shape s = shape;
        s.order = i % 2 ? HA_COLUMN_MAJOR : HA_ROW_MAJOR;
        darray x = b->block[i] = kept(darray_make(HA_DTYPE_double, &s, contexts[i % 3]));
        int64_t index[HA_MOST_RANK];
        memcpy(index, x.origin, sizeof index);
        do {
            ha_dvalue v = ha_dvalue_of_double(first++);
            SUCCEEDS(darray_set(x, 3, index, v));
            b->value[i][place(&x, index)] = v.as_double;
        } while (next_index(&x, index));
    }
}

/* The interior's outermost layer, or the ghosts beside it, of dimension d. */
static darray face_of(darray x, int d, int64_t at) {
    int64_t low[] = {0, 0, 0}, high[] = {4, 4, 4};
    low[d] = at;
    high[d] = at + 1;
    return darray_part(x, low, high);
}

/* Faces to the next block's ghosts: as they are, turned around, transposed, every other element, one
 * element everywhere. */
static void plan_blocks(blocks *b, ha_context *c) {
    for (size_t i = 0; i < BLOCKS; i++)
        for (size_t d = 0; d < 3; d++) {
            const size_t k = 3 * i + d, next = (i + d) % BLOCKS;
            darray from = face_of(b->block[i], (int)d, 3);
            darray to = face_of(b->block[next], (int)d, -1);
            if (i == 1) from = darray_flip(from, (int)(d + 1) % 3);
            if (i == 2) to = darray_flip(to, (int)(d + 2) % 3);
            if (i == 3) {
                from = darray_transpose(darray_fix(from, (int)d, 0));
                to = darray_fix(to, (int)d, 0);
            }
            if (i == 4) {
                from = darray_slice(from, (int)(d + 1) % 3, 0, 4, 2);
                to = darray_slice(to, (int)(d + 1) % 3, 1, 4, 2);
            }
            if (i == 5) {
                const int64_t one[] = {3, 3, 3};
                from = darray_fix(darray_fix(darray_fix(b->block[i], 2, one[2]), 1, one[1]), 0, 3);
                from = darray_broadcast(from, to.rank, to.extent);
            }
            b->pair[k] = (ha_copy_pair){to, from, c};
            b->to[k] = next;
            b->from[k] = i;
        }
}

static void copy_naively(blocks *b, const blocks *shape) {
    for (size_t k = 0; k < PLANNED; k++) {
        const darray *to = &shape->pair[k].to, *from = &shape->pair[k].from;
        int64_t index[HA_MOST_RANK] = {0};
        darray t = *to, f = *from;
        memset(t.origin, 0, sizeof t.origin);
        memset(f.origin, 0, sizeof f.origin);
        do {
            b->value[shape->to[k]][place(&t, index)] = b->value[shape->from[k]][place(&f, index)];
        } while (next_index(&t, index));
    }
}

static void expect_blocks(const blocks *b) {
    static int looked_at; /* of a share others in each call */
    for (size_t i = 0; i < BLOCKS; i++) {
        darray x = b->block[i];
        int64_t index[HA_MOST_RANK];
        memcpy(index, x.origin, sizeof index);
        do
            if (is_tried(looked_at++, 0))
                assert_true(number_at(x, index) == b->value[i][place(&x, index)]);
        while (next_index(&x, index));
    }
}

/* Other values in the layers that are copied. */
static void change_blocks(blocks *b, double by, ha_context *c) {
    for (size_t i = 0; i < BLOCKS; i++)
        for (int d = 0; d < 3; d++) {
            darray face = face_of(b->block[i], d, 3);
            int64_t index[HA_MOST_RANK] = {0};
            SUCCEEDS(darray_fill(face, ha_dvalue_of_double((double)i + by), c));
            do b->value[i][place(&face, index)] = (double)i + by;
            while (next_index(&face, index));
        }
}

static void drop_blocks(blocks *b) {
    for (size_t i = 0; i < BLOCKS; i++) drop_array(b->block[i].array);
}

/* Wherever the values are, and wherever the plan is to run. */
TEST(plans_copy_as_loops_do) {
    static blocks b;
    ha_context *const contexts[] = {H, C, M1, M2};
    make_blocks(&b, 0);
    for (size_t k = 0; k < 4; k++) {
        plan_blocks(&b, contexts[k]);
        ha_copy_plan *plan = ha_copy_plan_new(b.pair, PLANNED);
        assert_non_null(plan);
        for (size_t i = 0; i < 4; i++) {
            if (i) change_blocks(&b, (double)(i * 100 + k), contexts[(i + k) % 4]);
            for (size_t n = 0; i == 2 && n < BLOCKS; n++) /* so that all is there */
                SUCCEEDS(ha_array_prefetch(b.block[n].array, contexts[k], 0, HA_END));
            SUCCEEDS(ha_copy_plan_run(plan));
            copy_naively(&b, &b);
            if (i > 1) expect_blocks(&b);
            SUCCEEDS(ha_copy_plan_run(plan)); /* all is in place, if it is on the host */
            copy_naively(&b, &b);
            expect_blocks(&b);
        }
        ha_copy_plan_free(plan);
    }
    drop_blocks(&b);
}

/* Those that are listed; the others stay. In turns, too. */
TEST(plans_on_other_arrays) {
    static blocks b, other, mixed;
    ha_array *of[BLOCKS], *by[BLOCKS];
    make_blocks(&b, 0);
    make_blocks(&other, 1000);
    plan_blocks(&b, C);
    ha_copy_plan *plan = ha_copy_plan_new(b.pair, PLANNED);
    for (size_t i = 0; i < BLOCKS; i++) {
        of[i] = b.block[i].array;
        by[i] = other.block[i].array;
    }
    for (int i = 0; i < 2; i++) {
        SUCCEEDS(ha_copy_plan_run_on(plan, of, by, BLOCKS));
        copy_naively(&other, &b);
        expect_blocks(&other);
        expect_blocks(&b);
    }
    for (int i = 0; i < 2; i++) { /* one block is another one */
        mixed = b;
        memcpy(mixed.value[2], other.value[2], sizeof mixed.value[2]);
        SUCCEEDS(ha_copy_plan_run_on(plan, &of[2], &by[2], 1));
        copy_naively(&mixed, &b);
        memcpy(other.value[2], mixed.value[2], sizeof mixed.value[2]);
        memcpy(mixed.value[2], b.value[2], sizeof mixed.value[2]);
        memcpy(b.value, mixed.value, sizeof mixed.value);
        expect_blocks(&other);
        expect_blocks(&b);
    }
    ha_array *const turn[] = {of[2], of[0]}, *const from[] = {of[0], of[2]};
    mixed = b;
    memcpy(mixed.value[0], b.value[2], sizeof mixed.value[2]);
    memcpy(mixed.value[2], b.value[0], sizeof mixed.value[0]);
    SUCCEEDS(ha_copy_plan_run_on(plan, from, turn, 2));
    copy_naively(&mixed, &b);
    memcpy(b.value, mixed.value, sizeof mixed.value);
    memcpy(b.value[0], mixed.value[2], sizeof mixed.value[2]);
    memcpy(b.value[2], mixed.value[0], sizeof mixed.value[0]);
    expect_blocks(&b);
    ha_copy_plan_free(plan);
    drop_blocks(&b);
    drop_blocks(&other);
}

/* Nothing is copied then. */
TEST(plans_on_arrays_that_do_not_fit) {
    darray x = counting(HA_DTYPE_double, 2, LIST(3, 4), C),
           y = counting(HA_DTYPE_double, 2, LIST(3, 4), C);
    darray like = counting(HA_DTYPE_double, 2, LIST(3, 4), C);
    darray f = counting(HA_DTYPE_float, 2, LIST(3, 4), C);
    darray shape = counting(HA_DTYPE_double, 2, LIST(4, 3), C);
    const ha_copy_pair pair = {darray_fix(y, 0, 0), darray_fix(x, 0, 2), C};
    ha_copy_plan *plan = ha_copy_plan_new(&pair, 1), *empty = ha_copy_plan_new(NULL, 0);
    const char *const name = "ha_copy_plan";
    ha_array *const of[] = {x.array, y.array, x.array};
    struct {
        ha_array *by[3];
        size_t count;
        const char *one, *two;
    } cases[] = {
        {{f.array}, 1, "array 0", "type and shape"},
        {{like.array, shape.array}, 2, "array 1", "type and shape"},
        {{like.array, like.array}, 2, "in the place of two", ""},
        {{y.array}, 1, "in the place of two", ""},
        {{like.array, y.array, f.array}, 3, "array 2", "twice"},
        {{NULL}, 1, "array 0", "NULL"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_told(ha_copy_plan_run_on(plan, of, cases[i].by, cases[i].count), name, cases[i].one,
                cases[i].two);
    is_told(ha_copy_plan_run_on(plan, &like.array, &x.array, 1), name, "array 0",
            "was not made with it");
    is_told(ha_copy_plan_run_on(empty, &like.array, &x.array, 1), name, "array 0",
            "was not made with it");
    is_told(ha_copy_plan_run_on(plan, NULL, of, 1), name, "no arrays", "");
    is_told(ha_copy_plan_run_on(plan, of, NULL, 1), name, "no arrays", "");
    drop_array(like.array);
    REFUSED(HA_ERR_STATE, ha_copy_plan_run_on(plan, of, &like.array, 1));
    NUMBERS(darray_fix(y, 0, 0), 0, 1, 2, 3);
    ha_copy_plan_free(plan);
    ha_copy_plan_free(empty);
    drop_array(x.array);
    drop_array(y.array);
    drop_array(f.array);
    drop_array(shape.array);
}

/* What is in place is opened by one locking of each array, without a look at each pair of views: each view
 * alone is compared with a few boxes. */
TEST(plans_lock_each_array_once) {
    static blocks b;
    make_blocks(&b, 0);
    plan_blocks(&b, H);
    ha_copy_plan *plan = ha_copy_plan_new(b.pair, PLANNED);
    SUCCEEDS(ha_copy_plan_run(plan));
    const uint64_t before = ha_steps_, version = ha_array_version(b.block[0].array);
    SUCCEEDS(ha_copy_plan_run(plan));
    if (!HA_DEBUGGING_) assert_in_range(ha_steps_ - before, 0, 4 * 2 * PLANNED);
    assert_true(ha_array_version(b.block[0].array) > version);
    ha_copy_plan_free(plan);
    drop_blocks(&b);
}

/* A plan that cannot go on takes back what it has opened: nothing changes, and nothing stays. */
TEST(plans_that_are_in_the_way) {
    darray x = counting(HA_DTYPE_double, 1, LIST(8), H),
           y = counting(HA_DTYPE_double, 1, LIST(8), H);
    const ha_copy_pair pairs[] = {{darray_slice(x, 0, 0, 2, 1), darray_slice(y, 0, 6, 8, 1), H},
                                  {darray_slice(y, 0, 0, 2, 1), darray_slice(x, 0, 6, 8, 1), H}};
    ha_copy_plan *plan = ha_copy_plan_new(pairs, 2);
    ha_array *const both[] = {x.array, y.array};
    assert_non_null(plan);
    SUCCEEDS(ha_copy_plan_run(plan));
    for (int i = 0; i < 2; i++) {
        ha_access open;
        memset(&open, 0, sizeof open);
        SUCCEEDS(ha_open(&open, both[i], H, HA_WRITE, 0, 2)); /* what the plan writes */
        const uint64_t versions[] = {ha_array_version(both[0]), ha_array_version(both[1])};
        REFUSED(HA_ERR_CONFLICT, ha_copy_plan_run(plan));
        SUCCEEDS(ha_close(&open));
        for (int k = 0; k < 2; k++) assert_int_equal(ha_array_version(both[k]), versions[k]);
        SUCCEEDS(ha_open(&open, both[i], H, HA_WRITE, 2, 6)); /* what lies between */
        SUCCEEDS(ha_copy_plan_run(plan));
        SUCCEEDS(ha_close(&open));
    }
    NUMBERS(x, 6, 7, 2, 3, 4, 5, 6, 7);
    ha_copy_plan_free(plan);
    drop_array(x.array);
    drop_array(y.array);
}

typedef struct runner {
    const ha_copy_plan *plan;
    int runs;
} runner;

static void *run_often(void *data) {
    const runner *r = (const runner *)data;
    for (int i = 0; i < r->runs; i++) HA_CHECK(ha_copy_plan_run(r->plan));
    return NULL;
}

/* Others wait for a plan, and it for them; all come to their end. */
TEST(plans_beside_other_threads) {
    enum { RUNS = 400 };
    darray x = counting(HA_DTYPE_double, 1, LIST(64), H),
           y = counting(HA_DTYPE_double, 1, LIST(64), H);
    const ha_copy_pair there = {darray_slice(y, 0, 0, 32, 1), darray_slice(x, 0, 0, 32, 1), H};
    const ha_copy_pair back = {darray_slice(x, 0, 32, 64, 1), darray_slice(y, 0, 0, 32, 1), H};
    runner runners[] = {{ha_copy_plan_new(&there, 1), RUNS}, {ha_copy_plan_new(&back, 1), RUNS}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_often, &runners[i]), 0);
    for (int i = 0; i < RUNS; i++) {
        harray_double a = harray_double_from(x.array);
        HA_WRITING_RANGE(v, a, H, 0, 32) for (size_t k = 0; k < v.size; k++) v.data[k] = i;
        else fail();
        harray_double b = harray_double_from(y.array);
        HA_READING_RANGE(v, b, H, 0, 32)
        for (size_t k = 1; k < v.size && i; k++)
            assert_true(v.data[k] == v.data[0] || v.data[k] == (double)k);
        else fail();
    }
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 2; i++) SUCCEEDS(ha_copy_plan_run(runners[i].plan));
    NUMBERS(darray_slice(x, 0, 62, 64, 1), RUNS - 1, RUNS - 1);
    for (int i = 0; i < 2; i++) ha_copy_plan_free((ha_copy_plan *)(uintptr_t)runners[i].plan);
    drop_array(x.array);
    drop_array(y.array);
}

static void *overwrite_all(void *data) {
    harray_double x = harray_double_from((ha_array *)data);
    HA_OVERWRITING_ALL(v, x, H) for (size_t i = 0; i < v.size; i++) v.data[i] = 9;
    else fail();
    return NULL;
}

static int is_held(ha_array *a) {
    ha_lock(a);
    const int held = a->holders > 0;
    ha_unlock(a);
    return held;
}

/* Whoever waits for a plan goes on behind it. The device is stopped while it takes the copy. */
TEST(plans_wake_who_waits) {
    ha_context *device = ha_context_find("private:0");
    darray x = counting(HA_DTYPE_double, 1, LIST(4), device),
           y = counting(HA_DTYPE_double, 1, LIST(4), device);
    const ha_copy_pair pair = {y, x, device};
    runner once = {ha_copy_plan_new(&pair, 1), 1};
    pthread_t plan, other;
    for (int i = 0; i < 2; i++) SUCCEEDS(ha_copy_plan_run(once.plan));
    SUCCEEDS(ha_context_finish(device));
    const uint64_t sleeps = ha_test_sleeps_();
    pthread_mutex_lock(&example_lock);
    assert_int_equal(pthread_create(&plan, NULL, run_often, &once), 0);
    while (!is_held(y.array)) sched_yield();
    assert_int_equal(pthread_create(&other, NULL, overwrite_all, y.array), 0);
    while (ha_test_sleeps_() == sleeps) sched_yield();
    pthread_mutex_unlock(&example_lock);
    assert_int_equal(pthread_join(plan, NULL), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    NUMBERS(y, 9, 9, 9, 9);
    ha_copy_plan_free((ha_copy_plan *)(uintptr_t)once.plan);
    drop_array(x.array);
    drop_array(y.array);
}

static uint64_t commands_of(ha_context *c) {
    SUCCEEDS(ha_context_finish(c));
    return atomic_load(&((ha_sim_queue *)c->queue)->finished);
}

/* On a device that puts small values into place itself. */
TEST(plans_are_one_command) {
    static blocks b;
    make_blocks(&b, 0);
    plan_blocks(&b, C);
    ha_copy_pair pair[PLANNED];
    size_t n = 0;
    for (size_t k = 0; k < PLANNED; k++)
        if (b.from[k] != 1 && b.from[k] < 4) pair[n++] = b.pair[k]; /* these a queue takes */
    ha_copy_plan *plan = ha_copy_plan_new(pair, n);
    for (size_t i = 0; i < BLOCKS; i++) SUCCEEDS(ha_array_prefetch(b.block[i].array, C, 0, HA_END));
    SUCCEEDS(ha_copy_plan_run(plan));
    const uint64_t before = commands_of(C), idle = commands_of(C) - before;
    SUCCEEDS(ha_copy_plan_run(plan));
    const uint64_t commands = commands_of(C) - before - 2 * idle;
    assert_int_equal(commands, 1);
    ha_copy_plan_free(plan);
    drop_blocks(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(plans),
        CASE(plans_open_all_or_nothing),
        CASE(plans_that_are_refused),
        CASE(plans_copy_as_loops_do),
        CASE(plans_on_other_arrays),
        CASE(plans_on_arrays_that_do_not_fit),
        CASE(plans_lock_each_array_once),
        CASE(plans_that_are_in_the_way),
        CASE(plans_beside_other_threads),
        CASE(plans_wake_who_waits),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    const struct CMUnitTest putting_values[] = {
        CASE(plans),
        CASE(plans_copy_as_loops_do),
        CASE(plans_on_other_arrays),
        CASE(plans_are_one_command),
    };
    RUN_ON_ROW(failed, (&(const matrix_row){"sim:0 strides", "sim:1", "private:0"}),
               putting_values);
    return failed;
}
