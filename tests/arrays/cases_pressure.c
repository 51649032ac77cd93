/* Memories that are too small for what a program has: arrays that nobody uses give way, and nothing is lost. Which of them, and
 * in which order. On the contexts of support/matrix.h, each with a memory that nobody has used. */
#define _GNU_SOURCE 1
#include <stddef.h>
#include <stdlib.h>

#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "pressure.h"

/* ---- what gives way -------------------------------------------------------------------------- */

TEST(more_than_fits) {
    enum { ARRAYS = 12 };
    use_room_for(3);
    harray_double x[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) x[i] = filled_at(i, C);
    for (int round = 1; round <= 3; round++)
        for (int i = 0; i < ARRAYS; i++) add_at(x[i], C, 1);
    for (int i = 0; i < ARRAYS; i++) assert_true(sum_at(x[i], C) == (i + 3.) * N);
    for (int i = 0; i < ARRAYS; i++) assert_true(sum_at(x[i], i % 2 ? H : M1) == (i + 3.) * N);
    assert_true(drops() > 3 * (ARRAYS - 4));
    assert_true(pool.used <= pool.most);
    drop_all();
}

TEST(under_the_limit_nothing_gives_way) {
    use_room_for(4);
    for (int round = 0; round < 3; round++) {
        harray_double x[4];
        for (int i = 0; i < 4; i++) x[i] = filled_at(i, C);
        for (int i = 0; i < 4; i++) assert_true(is_there(x[i]));
        for (int i = 0; i < 4; i++) drop(x[i]);
    }
    assert_int_equal(drops(), 0);
    drop_all();
}

TEST(copied_elsewhere_it_goes_for_nothing) {
    use_room_for(2);
    harray_double x = filled_at(3, C), y = filled_at(4, C);
    touch(x, H);
    SUCCEEDS(ha_context_finish(C));
    MOVED(x, 1, BYTES);
    harray_double z = filled_at(5, C);
    assert_false(is_there(x));
    assert_true(is_there(y) && is_there(z));
    MOVED(x, 1, BYTES);
    assert_int_equal(drops(), 1);
    assert_int_equal(written_back(), 0);
    assert_true(sum_at(x, C) == 3. * N);
    drop_all();
}

/* What is clean goes before what has to be written back and was used somewhat longer ago. */
TEST(clean_before_dirty) {
    use_room_for(2);
    harray_double dirty = filled_at(3, C), clean = filled_at(4, C);
    touch(clean, H);
    SUCCEEDS(ha_context_finish(C));
    harray_double z = filled_at(5, C);
    assert_true(is_there(dirty) && is_there(z));
    assert_false(is_there(clean));
    assert_int_equal(written_back(), 0);
    drop_all();
}

TEST(the_only_values_go_home_first) {
    use_room_for(2);
    harray_double x = filled_at(3, C), y = filled_at(4, C), z = filled_at(5, C);
    assert_false(is_there(x));
    assert_true(VALID(x, H) || VALID(x, M1));
    assert_int_equal(drops(), 1);
    assert_int_equal(written_back(), BYTES);
    MOVED(x, 1, BYTES);
    assert_true(sum_at(x, C) == 3. * N && sum_at(y, C) == 4. * N && sum_at(z, C) == 5. * N);
    drop_all();
}

/* A part is on the host already, another one at another device: nothing of these moves again. */
TEST(only_what_is_nowhere_else_is_moved) {
    use_room_for(2);
    harray_double x = filled_at(3, C), y = filled_at(4, C);
    touch(x, H);
    HA_WRITING_RANGE(v, x, C, 0, 100) add(&v, 1);
    else fail();
    touch(y, C);
    const uint64_t before = written_back();
    for (int i = 0; i < 2; i++) (void)filled_at(5, C);
    assert_false(is_there(x) || is_there(y));
    assert_int_equal(written_back() - before, 100 * sizeof(double) + BYTES);
    assert_true(sum_at(x, C) == 3. * N + 100);
    drop_all();
}

TEST(what_was_used_longest_ago_goes_first) {
    use_room_for(3);
    harray_double x[3];
    for (int i = 0; i < 3; i++) x[i] = filled_at(i, C);
    touch(x[0], C); /* on the slow way, or the fast one */
    touch(x[0], C);
    harray_double y = filled_at(7, C);
    assert_true(is_there(x[0]) && is_there(x[2]) && is_there(y));
    assert_false(is_there(x[1]));
    touch(x[2], C);
    touch(x[0], C);
    touch(x[1], C);
    assert_false(is_there(y));
    drop_all();
}

/* Arrays in which nothing was ever written. */
/* Of more than are looked at in one go, the first ones in the list having been used since. */
TEST(what_is_far_behind_in_the_list) {
    enum { ARRAYS = HA_VICTIM_LOOKS + 2 };
    harray_double x[ARRAYS];
    budget_for(ARRAYS);
    for (int i = 0; i < ARRAYS; i++) {
        x[i] = harray_double_new_at(0, C);
        HA_OVERWRITING(v, x[i], C, N) fill(&v, i);
        else fail();
    }
    for (int i = 0; i < ARRAYS - 1; i++) touch(x[i], C);
    harray_double y = filled_at(7, C);
    for (int i = 0; i < ARRAYS; i++) assert_int_equal(is_there(x[i]), i < ARRAYS - 1);
    for (int i = 0; i < ARRAYS; i++) SUCCEEDS(harray_double_free(&x[i]));
    drop(y);
    drop_all_of_budget();
}

TEST(without_values) {
    enum { ARRAYS = 8 };
    use_room_for(2);
    for (int i = 0; i < ARRAYS; i++) (void)keep(harray_double_new_at(N, C));
    assert_int_equal(drops(), ARRAYS - 2);
    assert_int_equal(written_back(), 0);
    for (int i = 0; i < ARRAYS; i++) {
        harray_double x = harray_double_from(arrays[i]);
        HA_OVERWRITING_ALL(v, x, C) fill(&v, i);
        else fail();
    }
    for (int i = 0; i < ARRAYS; i++)
        assert_true(sum_at(harray_double_from(arrays[i]), C) == (double)i * N);
    drop_all();
}

TEST(a_larger_one_takes_the_room_of_several) {
    use_room_for(4);
    harray_double x[4], y = keep(harray_double_new_at(0, C));
    for (int i = 0; i < 4; i++) x[i] = filled_at(i, C);
    HA_OVERWRITING(v, y, C, 3 * N) fill(&v, 9);
    else fail();
    assert_true(sum_at(y, C) == 27. * N);
    for (int i = 0; i < 4; i++) assert_true(sum_at(x[i], C) == (double)i * N);
    drop_all();
}

/* ---- what never does --------------------------------------------------------------------------- */

/* Three of the caller's own arrays, of which two fit: it does not evict one for the other. */
TEST(not_under_an_access) {
    use_room_for(2);
    harray_double x = filled_at(3, C), y = filled_at(4, C), z = filled_at(5, C);
    HA_READING(v, x, C) {
        HA_READING(w, y, C) {
            const void *before[] = {v.data, w.data};
            const ha_error error = refused_at(z);
            assert_non_null(strstr(error.text, ha_context_name(C)));
            assert_ptr_equal(before[0], v.data);
            assert_true(is_there(x) && is_there(y));
        }
        else fail();
        assert_true(sum_at(z, C) == 5. * N);
        assert_true(is_there(x));
        assert_false(is_there(y));
    }
    else fail();
    assert_true(sum_at(x, C) == 3. * N && sum_at(y, C) == 4. * N);
    drop_all();
}

/* The copy may fail: so it is valid there until it has arrived. */
TEST(not_before_it_has_arrived) {
    opener o;
    if (strncmp(row->c, "sim:", 4) != 0) skip(); /* a device that can be held */
    use_room_for(1);
    harray_double x = filled_at(3, C), y = filled_at(4, H);
    SUCCEEDS(ha_context_finish(C));
    ha_context *away = ha_arrivals_queue(C->memory); /* by which it goes */
    SUCCEEDS(ha_sim_hold(away));
    start_open(&o, y.array, C, HA_READ, 0, HA_END);
    until_quiet();
    assert_false(has_opened(&o));
    assert_true(VALID(x, C) && VALID(x, H) && is_there(x));
    HA_CHECK(ha_sim_step(away, -1));
    assert_int_equal(wait_opened(&o), HA_OK);
    finish(&o);
    assert_false(is_there(x));
    drop_all();
}

TEST(not_under_a_token) {
    ha_access v;
    ha_token token = {0};
    use_room_for(1);
    harray_double x = filled_at(3, C), y = filled_at(4, H);
    SUCCEEDS(ha_open(&v, x.array, C, HA_READ, 0, HA_END));
    SUCCEEDS(ha_detach(&token, &v));
    (void)refused_at(y);
    assert_true(is_there(x));
    SUCCEEDS(ha_token_finish(&token));
    assert_true(sum_at(y, C) == 4. * N);
    assert_false(is_there(x));
    drop_all();
}

/* A block that a queue still reads is not used again before it has. */
TEST(not_under_a_queue) {
    use_room_for(1);
    harray_double x = filled_at(3, C), y = filled_at(4, H);
    double sum = 0;
    ha_context *reader = ha_context_fork(C);
    touch(x, H);
    HA_READING(v, x, reader) start_sum(&v, &sum);
    else fail();
    HA_OVERWRITING_ALL(v, y, C) fill(&v, 1e9);
    else fail();
    SUCCEEDS(ha_context_finish(reader));
    assert_true(sum == 3. * N);
    SUCCEEDS(ha_context_unfork(reader));
    drop_all();
}

/* What can never fit is refused at once: nothing has moved. */
TEST(larger_than_all) {
    use_room_for(2);
    harray_double x = filled_at(3, C), y = keep(harray_double_new_at(0, H));
    HA_OVERWRITING(v, y, H, 3 * N) assert_int_equal(v.size, 3 * N);
    else fail();
    const ha_error error = refused_at(y);
    assert_non_null(strstr(error.text, "no memory there"));
    assert_true(sum_at(x, C) == 3. * N);
    drop_all();
}

/* ---- hints ---------------------------------------------------------------------------------------- */

TEST(done_goes_first) {
    budget_for(3);
    harray_double x[3];
    for (int i = 0; i < 3; i++) x[i] = filled_at(i, C);
    touch(x[0], H);
    SUCCEEDS(ha_context_finish(C));
    ha_array_done(x[2].array, C);
    ha_array_done(x[2].array, M1); /* it has nothing there */
    ha_array_done(NULL, C);
    harray_double y = filled_at(7, C);
    assert_true(is_there(x[0]) && is_there(x[1]) && !is_there(x[2])); /* though x[0] is clean */
    ha_array_done(x[1].array, C);
    touch(x[1], C); /* needed again */
    harray_double z = filled_at(8, C);
    assert_true(is_there(x[1]) && is_there(z));
    for (int i = 0; i < 3; i++) assert_true(sum_at(x[i], C) == (double)i * N);
    assert_true(sum_at(y, C) == 7. * N);
    drop_all_of_budget();
}

TEST(what_was_done_first_goes_first) {
    budget_for(3);
    harray_double x[3];
    for (int i = 0; i < 3; i++) x[i] = filled_at(i, C);
    ha_array_done(x[2].array, C);
    ha_array_done(x[0].array, C);
    ha_array_done(x[1].array, C);
    ha_array_done(x[0].array, C); /* once more: it is the last one now */
    for (int gone = 2; gone > 0; gone--) {
        (void)filled_at(7, C);
        for (int i = 0; i < 3; i++) assert_int_equal(is_there(x[i]), i < gone);
    }
    /* The last of them goes by name, and its block back: then others are done with. */
    SUCCEEDS(ha_array_evict(x[0].array, C));
    (void)ha_memory_trim(C, 0);
    harray_double y = filled_at(8, C);
    ha_array_done(y.array, C);
    (void)filled_at(9, C);
    assert_false(is_there(y));
    assert_true(sum_at(x[0], C) == 0 && sum_at(x[1], C) == 1. * N && sum_at(x[2], C) == 2. * N);
    drop_all_of_budget();
}

TEST(priorities) {
    budget_for(3);
    harray_double x[3];
    for (int i = 0; i < 3; i++) x[i] = filled_at(i, C);
    SUCCEEDS(ha_array_set_priority(x[0].array, HA_KEEP));
    SUCCEEDS(ha_array_set_priority(x[1].array, 2));
    harray_double y = filled_at(7, C);
    assert_true(is_there(x[0]) && is_there(x[1]) && !is_there(x[2]));
    SUCCEEDS(ha_array_set_priority(y.array, 2));
    harray_double z = filled_at(8, C);
    assert_true(is_there(x[0]) && !is_there(x[1]) && is_there(y));
    SUCCEEDS(ha_array_set_priority(y.array, HA_KEEP));
    SUCCEEDS(ha_array_set_priority(z.array, HA_KEEP));
    (void)refused_at(x[1]);
    SUCCEEDS(ha_array_evict(x[0].array, C));
    assert_true(sum_at(x[1], C) == 1. * N);
    REFUSED(HA_ERR_ARGUMENT, ha_array_set_priority(y.array, 3));
    REFUSED(HA_ERR_ARGUMENT, ha_array_set_priority(y.array, -3));
    REFUSED(HA_ERR_ARGUMENT, ha_array_set_priority(NULL, 0));
    drop_all_of_budget();
}

/* What is asked for ahead brings nothing home. */
TEST(prefetch_takes_what_is_free) {
    budget_for(2);
    harray_double x = filled_at(3, C), y = filled_at(4, C), z = filled_at(5, H);
    SUCCEEDS(ha_array_prefetch(z.array, C, 0, HA_END));
    assert_true(is_there(x) && is_there(y) && !is_there(z));
    touch(y, H);
    SUCCEEDS(ha_context_finish(C));
    SUCCEEDS(ha_array_prefetch(z.array, C, 0, HA_END));
    assert_true(is_there(x) && !is_there(y) && VALID(z, C));
    assert_int_equal(written_back(), 0);
    drop_all_of_budget();
}

/* Nothing that came ahead goes for what is to come ahead, until it was used; nor for anything else while there is
 * another one. */
TEST(what_came_ahead_is_used_first) {
    budget_for(2);
    harray_double used = filled_at(2, C), x = filled_at(3, H), y = filled_at(4, H),
                  z = filled_at(5, H);
    SUCCEEDS(ha_array_prefetch(x.array, C, 0, HA_END));
    ha_array_done(used.array, C);
    touch(used, H);
    SUCCEEDS(ha_context_finish(C));
    SUCCEEDS(ha_array_prefetch(y.array, C, 0, HA_END));
    assert_true(is_there(x) && is_there(y) && !is_there(used));
    SUCCEEDS(ha_context_finish(C));
    SUCCEEDS(ha_array_prefetch(z.array, C, 0, HA_END));
    assert_true(is_there(x) && is_there(y) && !is_there(z));
    add_at(x, C, 1);
    (void)filled_at(6, C);
    assert_true(is_there(y) && !is_there(x)); /* though that had to be written back */
    assert_true(sum_at(y, C) == 4. * N && sum_at(x, C) == 4. * N);
    drop_all_of_budget();
}

/* ---- seeing it ------------------------------------------------------------------------------------ */

typedef struct seen {
    unsigned evicted, sent, restored;
    uint64_t bytes, restored_bytes;
} seen;

static void see(const ha_event_info *e, void *user) {
    seen *s = (seen *)user;
    if (e->kind == HA_EVENT_EVICT) {
        s->evicted++;
        s->sent += (unsigned)e->writes;
        s->bytes += e->bytes;
        assert_string_equal(e->array, "it");
        assert_int_equal(e->range.last, N);
        assert_int_equal(ha_memory_budget(C), 3 * BYTES / 2); /* nothing is locked */
    } else if (e->kind == HA_EVENT_RESTORE) {
        s->restored++;
        s->restored_bytes += e->bytes;
    }
}

TEST(events) {
    seen s = {0};
    budget_for(1);
    harray_double x = filled_at(3, C), y = keep(harray_double_zeros_at(N, H));
    ha_array_set_name(x.array, "it");
    ha_set_event_handler(see, &s);
    touch(y, C);
    assert_int_equal(s.evicted, 1);
    assert_int_equal(s.sent, 1);
    assert_int_equal(s.bytes, BYTES);
    assert_int_equal(s.restored, 0);
    ha_array_set_name(y.array, "it");
    touch(x, C);
    assert_int_equal(s.evicted, 2);
    assert_int_equal(s.sent, 1); /* y is on the host, too */
    assert_int_equal(s.restored, 1);
    assert_int_equal(s.restored_bytes, BYTES);
    ha_set_event_handler(NULL, NULL);
    const ha_pressure p = ha_memory_pressure(C);
    assert_int_equal(p.budget, 3 * BYTES / 2);
    assert_int_equal(p.evictions, 2);
    assert_int_equal(p.evicted, 2 * BYTES);
    assert_int_equal(p.written_back, BYTES);
    assert_int_equal(p.restored, BYTES);
    assert_int_equal(p.resident, 1);
    assert_int_equal(p.turns + p.refusals, 0);
    drop_all_of_budget();
}

/* An array that is told to give way is counted as one that had to; and where it has nothing, there is nothing to count. */
TEST(evictions_that_were_asked_for) {
    seen s = {0};
    budget_for(1);
    harray_double x = filled_at(3, C);
    ha_array_set_name(x.array, "it");
    ha_set_event_handler(see, &s);
    SUCCEEDS(ha_array_evict(x.array, C));
    SUCCEEDS(ha_array_evict(x.array, C));
    assert_int_equal(s.evicted, 1);
    assert_int_equal(s.sent, 1);
    assert_int_equal(s.restored, 0);
    assert_true(sum_at(x, C) == 3. * N);
    assert_int_equal(s.restored, 1);
    SUCCEEDS(ha_array_evict(x.array, C)); /* the host has all of it */
    assert_int_equal(s.evicted, 2);
    assert_int_equal(s.sent, 1);
    ha_set_event_handler(NULL, NULL);
    const ha_pressure p = ha_memory_pressure(C);
    assert_int_equal(p.evictions, 2);
    assert_int_equal(p.evicted, 2 * BYTES);
    assert_int_equal(p.written_back, BYTES);
    assert_int_equal(p.restored, BYTES);
    drop_all_of_budget();
}

/* Of an array of which the host has a part, only the rest is brought there and counted. */
TEST(what_an_asked_for_eviction_writes_back) {
    budget_for(1);
    harray_double x = filled_at(3, C);
    touch(x, H);
    SUCCEEDS(ha_array_evict(x.array, C));
    assert_int_equal(written_back(), 0);
    HA_WRITING_RANGE(v, x, C, 0, 100) add(&v, 1);
    else fail();
    SUCCEEDS(ha_array_evict(x.array, C));
    assert_int_equal(written_back(), 100 * sizeof(double));
    SUCCEEDS(ha_array_evict(x.array, C)); /* it has nothing there */
    assert_int_equal(written_back(), 100 * sizeof(double));
    assert_int_equal(ha_memory_pressure(C).written_ahead, 0);
    assert_true(sum_at(x, H) == 3. * N + 100);
    drop_all_of_budget();
}

static void expect_in_report(void (*report)(FILE *), const char *const *texts, int n) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    assert_non_null(file);
    report(file);
    assert_int_equal(fclose(file), 0);
    for (int i = 0; i < n; i++)
        if (!strstr(text, texts[i])) fail_msg("no \"%s\" in %s", texts[i], text);
    free(text);
}

TEST(report) {
    static const char *const table[] = {"gave way", "written back", "96.0 KiB", "64.0 KiB in 1"};
    static const char *const json[] = {"\"budget\": 98304",  "\"evictions\": 1",
                                       "\"evicted\": 65536", "\"written_back\": 65536",
                                       "\"turns\": 0",       "\"refusals\": 0"};
    budget_for(1);
    harray_double x = filled_at(3, C), y = filled_at(4, C);
    assert_true(!is_there(x) && is_there(y));
    expect_in_report(ha_report, table, 4);
    expect_in_report(ha_report_json, json, 6);
    drop_all_of_budget();
}

/* ---- a device that says how much it has ---------------------------------------------------------- */

TEST(larger_than_the_device) {
    enum { ARRAYS = 9 };
    ha_write_double v;
    HA_CHECK(ha_shutdown());
    HA_CHECK(ha_sim_configure(&(ha_sim_options){.capacity = 4 * BYTES}));
    ha_context *sim = require_context("sim:0");
    harray_double x[ARRAYS], y = harray_double_new(5 * N);
    for (int i = 0; i < ARRAYS; i++) x[i] = harray_double_filled_at(N, i, sim);
    const uint64_t before = ha_memory_pressure(sim).evictions;
    assert_int_equal(before, ARRAYS - 4);
    assert_int_equal(ha_open(&v, y.array, sim, HA_OVERWRITE, 0, HA_END), HA_ERR_MEMORY);
    const ha_error error = ha_take_error();
    assert_non_null(strstr(error.text, "of 262144 are in use"));
    assert_int_equal(ha_memory_pressure(sim).evictions, before);
    for (int i = 0; i < ARRAYS; i++) assert_true(sum_at(x[i], sim) == (double)i * N);
    for (int i = 0; i < ARRAYS; i++) HA_CHECK(harray_double_free(&x[i]));
    HA_CHECK(harray_double_free(&y));
    HA_CHECK(ha_shutdown());
    HA_CHECK(ha_sim_configure(NULL));
}

/* With a block that was there or a new one, whether somebody is told of it or not, an array may give way when it is
 * made, and once only. */
TEST(new_arrays_are_listed) {
    budget_for(2);
    for (int told = 0; told < 2; told++) {
        seen s = {0};
        if (told) ha_set_event_handler(see, &s);
        for (int i = 0; i < 2; i++) {
            const uint64_t reused = ha_context_memory(C).reused;
            harray_double x = harray_double_new_at(N, C);
            assert_int_equal(ha_memory_pressure(C).resident, 1);
            assert_int_equal(ha_context_memory(C).reused - reused, told || i);
            SUCCEEDS(harray_double_free(&x));
            assert_int_equal(ha_memory_pressure(C).resident, 0);
        }
        ha_set_event_handler(NULL, NULL);
    }
    harray_double x = harray_double_new_at(N, C), y = filled_at(4, C), z = filled_at(5, C);
    assert_true(!is_there(x) && is_there(y) && is_there(z));
    assert_int_equal(drops(), 1);
    SUCCEEDS(harray_double_free(&x));
    drop_all_of_budget();
}

/* ---- made while others make room ------------------------------------------------------------------ */

enum { MAKERS = 3, MADE = 60, LIVE = 6 };

static atomic_int wrong;

/* One more than the value that the host has written, at C. */
static harray_double made_with(double value) {
    harray_double x = harray_double_new_at(N, C); /* waits in turn */
    if (!x.array) atomic_fetch_add(&wrong, 1);
    HA_OVERWRITING(v, x, H, N) for (size_t k = 0; k < N; k++) v.data[k] = value;
    else atomic_fetch_add(&wrong, 1);
    HA_WRITING(v, x, C) {
        const job j = {v.data, v.size, 1};
        if (ha_enqueue(C, add_job, &j, sizeof j)) atomic_fetch_add(&wrong, 1);
    }
    else atomic_fetch_add(&wrong, 1);
    return x;
}

static void end_with(harray_double x, double value) {
    HA_READING(v, x, H) {
        if (v.data[0] != value + 1 || v.data[N - 1] != value + 1) atomic_fetch_add(&wrong, 1);
    }
    else atomic_fetch_add(&wrong, 1);
    if (harray_double_free(&x)) atomic_fetch_add(&wrong, 1);
}

static void *make_some(void *argument) {
    const double first = *(const double *)argument;
    harray_double live[LIVE];
    for (int i = 0; i < MADE; i++) {
        if (i >= LIVE) end_with(live[i % LIVE], first + i - LIVE);
        live[i % LIVE] = made_with(first + i);
    }
    for (int i = MADE; i < MADE + LIVE; i++) end_with(live[i % LIVE], first + i - LIVE);
    return NULL;
}

/* A new array may give way as soon as it has its block, while the thread that makes it is not back yet. */
TEST(made_while_others_make_room) {
    pthread_t thread[MAKERS];
    double first[MAKERS];
    budget_for(MAKERS + 1);
    atomic_store(&wrong, 0);
    for (int i = 0; i < MAKERS; i++) {
        first[i] = 1000. * i;
        assert_int_equal(pthread_create(&thread[i], NULL, make_some, &first[i]), 0);
    }
    for (int i = 0; i < MAKERS; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_true(drops() > 0);
    drop_all_of_budget();
}

/* ---- at random ------------------------------------------------------------------------------------ */

enum { MODELS = 12, PARTS = 16, OPERATIONS = 400 };

static uint32_t random_state;

static size_t pick(size_t n) {
    random_state = random_state * 1664525u + 1013904223u;
    return (size_t)(((uint64_t)random_state * n) >> 32);
}

/* The value of each part of each array. */
static double model[MODELS][PARTS];

static void write_parts(size_t i, ha_context *c) {
    const size_t first = pick(PARTS), last = first + 1 + pick(PARTS - first);
    const double value = (double)pick(1000);
    const unsigned how = pick(2) ? HA_WRITE : HA_OVERWRITE;
    ha_write_double v;
    SUCCEEDS(ha_open(&v, arrays[i], c, how, first * (N / PARTS), last * (N / PARTS)));
    fill(&v, value);
    SUCCEEDS(ha_close(&v));
    for (size_t p = first; p < last; p++) model[i][p] = value;
}

static void read_parts(size_t i, ha_context *c) {
    const size_t first = pick(PARTS), last = first + 1 + pick(PARTS - first);
    double sum = 0;
    for (size_t p = first; p < last; p++) sum += model[i][p] * (N / PARTS);
    assert_true(sum_range(harray_double_from(arrays[i]), c, first * (N / PARTS),
                          last * (N / PARTS)) == sum);
}

static void operate(void) {
    ha_context *const places[] = {C, C, C, H, M1, M2};
    const size_t i = pick(MODELS);
    ha_context *c = places[pick(6)];
    const size_t what = pick(20);
    if (what < 8)
        write_parts(i, c);
    else if (what < 15)
        read_parts(i, c);
    else if (what < 16)
        HA_IGNORE(ha_array_prefetch(arrays[i], c, 0, HA_END));
    else if (what < 17)
        SUCCEEDS(ha_memory_set_budget(C, (2 * (1 + pick(6)) + 1) * BYTES / 2));
    else if (what < 18)
        (void)ha_memory_make_room(C, pick(3 * BYTES));
    else {
        ha_array *copy = ha_array_copy(arrays[i]);
        assert_non_null(copy);
        SUCCEEDS(ha_array_swap(arrays[i], copy));
        assert_int_equal(ha_array_free(copy), HA_OK);
    }
    (void)ha_take_error();
}

/* Budgets for one to six of twelve arrays, which change on the way: every value is always somewhere. */
TEST(at_random) {
    if (shares_memory(C)) skip();
    for (random_state = 1; random_state <= 3; random_state++) {
        const uint32_t seed = random_state;
        for (size_t i = 0; i < MODELS; i++) (void)keep(harray_double_zeros_at(N, pick(2) ? C : H));
        memset(model, 0, sizeof model);
        for (int n = 0; n < OPERATIONS; n++) operate();
        for (size_t i = 0; i < MODELS; i++) read_parts(i, H);
        assert_true(drops() > 0);
        drop_all_of_budget();
        random_state = seed;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FRESH(more_than_fits),
        FRESH(under_the_limit_nothing_gives_way),
        FRESH(copied_elsewhere_it_goes_for_nothing),
        FRESH(clean_before_dirty),
        FRESH(the_only_values_go_home_first),
        FRESH(only_what_is_nowhere_else_is_moved),
        FRESH(what_was_used_longest_ago_goes_first),
        FRESH(what_is_far_behind_in_the_list),
        FRESH(without_values),
        FRESH(a_larger_one_takes_the_room_of_several),
        FRESH(not_under_an_access),
        FRESH(not_before_it_has_arrived),
        FRESH(not_under_a_token),
        FRESH(not_under_a_queue),
        FRESH(larger_than_all),
        FRESH(done_goes_first),
        FRESH(what_was_done_first_goes_first),
        FRESH(priorities),
        FRESH(prefetch_takes_what_is_free),
        FRESH(what_came_ahead_is_used_first),
        FRESH(events),
        FRESH(evictions_that_were_asked_for),
        FRESH(what_an_asked_for_eviction_writes_back),
        FRESH(new_arrays_are_listed),
        FRESH(made_while_others_make_room),
        FRESH(report),
        FRESH(at_random),
    };
    const struct CMUnitTest of_device[] = {
        cmocka_unit_test(larger_than_the_device),
    };
    int failed = cmocka_run_group_tests(of_device, NULL, NULL);
    RUN_FRESH_ON_MATRIX(failed, tests);
    return failed;
}
