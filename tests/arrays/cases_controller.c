/* Arrays by number, and a program's own say in what gives way. On the contexts of support/matrix.h, each with a memory that nobody has used. */
#define _GNU_SOURCE 1
#include <semaphore.h>
#include <stddef.h>
#include <stdlib.h>

#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "pressure.h"

static void drop_all_of_controller(void) {
    ha_set_controller(NULL);
    drop_all_of_budget();
}

/* ---- numbers ------------------------------------------------------------------------------------ */

TEST(numbers) {
    enum { MANY = 600 };
    uint64_t latest = 0;
    assert_int_equal(ha_array_id(NULL), 0);
    for (int i = 0; i < MANY; i++) { /* records of freed arrays are used again */
        harray_double x = harray_double_zeros_at(3, C);
        const uint64_t id = ha_array_id(x.array);
        assert_true(id > latest);
        assert_int_equal(ha_array_id(x.array), id);
        ha_array *same = ha_array_by_id(id);
        assert_ptr_equal(same, x.array);
        SUCCEEDS(ha_array_free(same));
        assert_ptr_equal(ha_array_by_id(id), x.array); /* one more owner */
        SUCCEEDS(ha_array_free(x.array));
        assert_int_equal(ha_array_size(x.array), 3);
        SUCCEEDS(ha_array_free(x.array));
        assert_null(ha_array_by_id(id));
        assert_null(ha_array_by_id(id + 1));
        latest = id;
    }
    assert_null(ha_array_by_id(0));
    assert_int_equal(ha_take_error().status, HA_OK);
}

/* An array that cannot be freed yet is found as before. */
TEST(number_of_one_that_stays) {
    harray_double x = harray_double_zeros_at(3, C);
    const uint64_t id = ha_array_id(x.array);
    HA_READING(v, x, C) {
        assert_int_equal(ha_array_free(x.array), HA_ERR_CONFLICT);
        ha_array *same = ha_array_by_id(id);
        assert_ptr_equal(same, x.array);
        SUCCEEDS(ha_array_free(same));
    }
    else fail();
    assert_int_equal(ha_take_error().status, HA_ERR_CONFLICT);
    SUCCEEDS(ha_array_free(x.array));
    assert_null(ha_array_by_id(id));
    assert_int_equal(ha_array_id(x.array), 0); /* another copy of the handle */
    assert_int_equal(ha_take_error().status, HA_ERR_STATE);
}

/* Another owner may come between the last one's look at how many there are, and its end: then it goes on. */
TEST(found_just_before_it_ends) {
    harray_double x = harray_double_zeros_at(3, C);
    const uint64_t id = ha_array_id(x.array);
    assert_ptr_equal(ha_array_by_id(id), x.array);
    assert_false(ha_id_hide(x.array)); /* as if by one that was alone a moment ago */
    assert_ptr_equal(ha_array_by_id(id), x.array);
    for (int owners = 3; owners > 0; owners--) SUCCEEDS(ha_array_free(x.array));
    assert_null(ha_array_by_id(id));
}

/* It has to be its only owner's. */
TEST(number_of_one_that_is_unwrapped) {
    double mine[] = {1, 2, 3};
    harray_double x = harray_double_wrap(mine, 3);
    const uint64_t id = ha_array_id(x.array);
    assert_ptr_equal(ha_array_by_id(id), x.array);
    assert_int_equal(harray_double_unwrap(&x), HA_ERR_STATE);
    assert_non_null(strstr(ha_take_error().text, "has 2 owners"));
    assert_ptr_equal(ha_array_by_id(id), x.array);
    for (int owners = 3; owners > 1; owners--) SUCCEEDS(ha_array_free(x.array));
    SUCCEEDS(harray_double_unwrap(&x));
    assert_null(ha_array_by_id(id));
}

enum { TURNS = 1000 };

typedef struct hunt {
    sem_t go, done;
    uint64_t id; /* 0: it is over */
} hunt;

static void *find_them(void *argument) {
    hunt *h = argument;
    while (!sem_wait(&h->go) && h->id) {
        for (int i = 0; i < 3; i++) {
            ha_array *x = ha_array_by_id(h->id);
            if (x && (ha_array_size(x) != 3 || ha_array_id(x) != h->id)) abort();
            HA_CHECK(ha_array_free(x));
        }
        sem_post(&h->done);
    }
    return NULL;
}

/* One thread frees what the other one finds: both are owners, or one finds none. */
TEST(found_and_freed_at_once) {
    hunt h = {.id = 0};
    pthread_t thread;
    assert_false(sem_init(&h.go, 0, 0) || sem_init(&h.done, 0, 0));
    assert_int_equal(pthread_create(&thread, NULL, find_them, &h), 0);
    for (int i = 0; i < TURNS; i++) {
        harray_double x = harray_double_zeros_at(3, C);
        h.id = ha_array_id(x.array);
        sem_post(&h.go);
        for (int k = 0; k < i % 7; k++) (void)ha_array_size(x.array);
        SUCCEEDS(ha_array_free(x.array));
        sem_wait(&h.done);
        assert_null(ha_array_by_id(h.id));
    }
    h.id = 0;
    sem_post(&h.go);
    pthread_join(thread, NULL);
    sem_destroy(&h.go), sem_destroy(&h.done);
}

typedef struct heard {
    unsigned made, gone, evicted, restored;
    uint64_t id[3], latest;
} heard;

static void hear(const ha_event_info *e, void *user) {
    heard *h = user;
    if (e->kind == HA_EVENT_NEW) {
        h->latest = e->id;
        h->made++;
    }
    if (e->kind == HA_EVENT_GONE) {
        assert_int_equal(e->id, h->latest);
        assert_int_equal(e->bytes, BYTES);
        assert_string_equal(e->type, "double");
        assert_null(ha_array_by_id(e->id));
        h->gone++;
    }
    if (e->kind == HA_EVENT_EVICT) h->id[h->evicted++ % 3] = e->id;
    if (e->kind == HA_EVENT_RESTORE) assert_int_equal(e->id, h->id[h->restored++ % 3]);
}

TEST(events_have_numbers) {
    heard h = {0};
    budget_for(1);
    harray_double before = filled_at(1, C);
    ha_set_event_handler(hear, &h);
    harray_double x = filled_at(2, C);
    assert_int_equal(h.made, 1);
    assert_int_equal(h.latest, ha_array_id(x.array));
    assert_int_equal(h.evicted, 1);
    assert_int_equal(h.id[0], 0); /* nobody had asked */
    h.id[0] = ha_array_id(before.array);
    add_at(before, C, 1);
    assert_int_equal(h.id[1], ha_array_id(x.array));
    drop(x);
    assert_int_equal(h.gone, 1);
    ha_set_event_handler(NULL, NULL);
    drop_all_of_controller();
}

/* ---- pressure --------------------------------------------------------------------------------- */

typedef struct say {
    harray_double spare, other;
    int calls, attempt, answer;
    uint64_t need;
    ptrdiff_t choice;
    size_t n;
    ha_candidate seen[16];
    char name[16][48];
    ha_status status;
} say;

/* As drop_array, which would look at arrays that are just being opened. */
static void free_within(harray_double *x) {
    for (size_t i = 0; i < MOST_ARRAYS; i++)
        if (arrays[i] == x->array) arrays[i] = NULL;
    HA_CHECK(harray_double_free(x));
}

static int frees_one(void *user, ha_context *at, uint64_t need, int attempt) {
    say *s = user;
    s->calls++;
    s->attempt = attempt;
    s->need = need;
    assert_ptr_equal(at, ha_memory_context(C->memory));
    if (!s->spare.array) return s->answer;
    free_within(&s->spare);
    return 1;
}

/* What the controller frees is enough. */
TEST(controller_frees) {
    budget_for(2);
    say s = {.spare = filled_at(9, C)};
    harray_double x = filled_at(1, C);
    ha_set_controller(&(ha_controller){.pressure = frees_one, .user = &s});
    harray_double y = filled_at(2, C);
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.attempt, 1);
    assert_true(s.need >= BYTES && s.need < 2 * BYTES);
    assert_int_equal(drops(), 0);
    assert_true(is_there(x) && is_there(y));
    (void)filled_at(3, C); /* it has no more, and says so */
    assert_int_equal(s.calls, 2);
    assert_int_equal(drops(), 1);
    drop_all_of_controller();
}

/* It cannot go on for ever. */
TEST(controller_that_frees_nothing) {
    budget_for(1);
    say s = {.answer = 1};
    harray_double x = filled_at(1, C);
    ha_set_controller(&(ha_controller){.pressure = frees_one, .user = &s});
    harray_double y = filled_at(2, C);
    assert_int_equal(s.calls, 100);
    assert_int_equal(s.attempt, 100);
    assert_true(!is_there(x) && is_there(y));
    drop_all_of_controller();
}

/* What can never fit, and what is only a hint, is no reason to ask. */
TEST(not_asked) {
    budget_for(1);
    say s = {.answer = 0};
    harray_double x = filled_at(1, C), y = filled_at(2, H), z = keep(harray_double_new_at(0, H));
    touch(y, H);
    ha_set_controller(&(ha_controller){.pressure = frees_one, .user = &s});
    SUCCEEDS(ha_array_prefetch(y.array, C, 0, HA_END));
    HA_OVERWRITING(v, z, C, 3 * N) fail();
    assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
    step();
    assert_int_equal(s.calls, 0);
    assert_true(sum_at(x, C) == 1. * N);
    drop_all_of_controller();
}

/* Allocates, reads, opens and fails: what it does itself it is not asked about. */
static int does_much(void *user, ha_context *at, uint64_t need, int attempt) {
    say *s = user;
    ha_access v;
    s->calls++;
    (void)need, (void)attempt;
    assert_int_equal(ha_memory_pressure(at).budget, 3 * BYTES / 2);
    HA_WRITING(w, s->other, H) w.data[5] = 7;
    else fail();
    s->status = ha_open(&v, s->spare.array, H, HA_WRITE, 0, HA_END);
    if (s->status) assert_int_equal(ha_take_error().status, s->status);
    ha_array *mine = ha_array_zeros(ha_type_of_("double", 8), N, at);
    assert_non_null(mine);
    assert_int_equal(ha_array_free(mine), HA_OK);
    return 0;
}

TEST(controller_that_does_much) {
    budget_for(1);
    say s = {.other = filled_at(5, H)};
    harray_double x = filled_at(1, C);
    s.spare = filled_at(2, H);
    ha_set_controller(&(ha_controller){.pressure = does_much, .user = &s});
    add_at(s.spare, C, 1); /* which it opens meanwhile: refused */
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.status, HA_ERR_CONFLICT);
    ha_set_controller(NULL);
    assert_true(sum_at(s.spare, C) == 3. * N && sum_at(x, H) == 1. * N);
    assert_true(sum_at(s.other, H) == 5. * N + 2);
    drop_all_of_controller();
}

/* ---- choosing --------------------------------------------------------------------------------- */

static ptrdiff_t chooses(void *user, ha_context *at, const ha_candidate *list, size_t n,
                         uint64_t need) {
    say *s = user;
    s->calls++;
    s->n = n;
    assert_in_range(n, 1, 16);
    assert_true(need >= BYTES);
    assert_ptr_equal(at, ha_memory_context(C->memory));
    for (size_t i = 0; i < n; i++) {
        s->seen[i] = list[i];
        memcpy(s->name[i], list[i].name, sizeof s->name[i]);
    }
    return s->choice;
}

TEST(controller_chooses) {
    budget_for(3);
    say s = {.choice = 2};
    harray_double x[4];
    for (int i = 0; i < 3; i++) x[i] = filled_at(i, C);
    ha_array_set_name(x[1].array, "one");
    SUCCEEDS(ha_array_set_priority(x[2].array, 1));
    ha_array_done(x[1].array, C);
    ha_set_controller(&(ha_controller){.choose = chooses, .user = &s});
    x[3] = filled_at(3, C);
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.n, 3);
    const int order[] = {1, 0, 2}; /* as usual the first one would have been it */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(s.seen[i].id, ha_array_id(x[order[i]].array));
        assert_string_equal(s.name[i], order[i] == 1 ? "one" : "");
        assert_int_equal(s.seen[i].bytes, BYTES);
        assert_int_equal(s.seen[i].priority, order[i] == 2);
        assert_int_equal(s.seen[i].is_done, order[i] == 1);
    }
    assert_true(is_there(x[0]) && is_there(x[1]) && !is_there(x[2]) && is_there(x[3]));
    s.choice = -1;
    (void)filled_at(4, C);
    assert_true(!is_there(x[1]) && is_there(x[0]));
    s.choice = 99;
    (void)filled_at(5, C);
    assert_true(!is_there(x[0]));
    assert_int_equal(s.calls, 3);
    for (int i = 0; i < 4; i++) assert_true(sum_at(x[i], H) == (double)i * N);
    drop_all_of_controller();
}

/* Though another one, that is as old and clean, would have cost less. */
TEST(chosen_though_it_is_dirty) {
    budget_for(2);
    say s = {.choice = 1};
    harray_double x = filled_at(1, C), y = filled_at(2, C);
    touch(x, H);
    SUCCEEDS(ha_context_finish(C));
    ha_set_controller(&(ha_controller){.choose = chooses, .user = &s});
    (void)filled_at(3, C);
    assert_int_equal(s.seen[1].id, ha_array_id(y.array));
    assert_true(is_there(x) && !is_there(y));
    assert_true(sum_at(y, H) == 2. * N);
    drop_all_of_controller();
}

/* One is not enough: others follow as usual. */
TEST(more_than_was_chosen) {
    budget_for(3);
    say s = {.choice = 1};
    harray_double x[3], large = keep(harray_double_new_at(0, C));
    for (int i = 0; i < 3; i++) x[i] = filled_at(i, C);
    ha_set_controller(&(ha_controller){.choose = chooses, .user = &s});
    HA_OVERWRITING(v, large, C, 2 * N) fill(&v, 8);
    else fail();
    assert_true(!is_there(x[1]) && !is_there(x[0]) && is_there(x[2]));
    for (int i = 0; i < 3; i++) assert_true(sum_at(x[i], H) == (double)i * N);
    drop_all_of_controller();
}

/* It frees what it could have chosen, and says that. */
static ptrdiff_t frees_what_it_chooses(void *user, ha_context *at, const ha_candidate *list,
                                       size_t n, uint64_t need) {
    say *s = user;
    (void)at, (void)need;
    for (size_t i = 0; i < n; i++)
        if (s->spare.array && list[i].id == ha_array_id(s->spare.array)) {
            free_within(&s->spare);
            return (ptrdiff_t)i;
        }
    return -1;
}

TEST(chosen_and_freed) {
    budget_for(2);
    harray_double x = filled_at(1, C);
    say s = {.spare = filled_at(2, C)};
    ha_set_controller(&(ha_controller){.choose = frees_what_it_chooses, .user = &s});
    harray_double y = filled_at(3, C);
    assert_null(s.spare.array);
    assert_true(sum_at(x, H) == 1. * N && sum_at(y, H) == 3. * N);
    drop_all_of_controller();
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        FRESH(numbers),
        FRESH(number_of_one_that_stays),
        FRESH(found_just_before_it_ends),
        FRESH(number_of_one_that_is_unwrapped),
        FRESH(found_and_freed_at_once),
        FRESH(events_have_numbers),
        FRESH(controller_frees),
        FRESH(controller_that_frees_nothing),
        FRESH(not_asked),
        FRESH(controller_that_does_much),
        FRESH(controller_chooses),
        FRESH(chosen_though_it_is_dirty),
        FRESH(more_than_was_chosen),
        FRESH(chosen_and_freed),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_FRESH_ON_MATRIX(failed, tests)
    return failed;
}
