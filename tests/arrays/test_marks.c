/* Moments on queues that fail, or have no clock; what works come to; and what is said of addresses that a function
 * had no right to. */
#include "../support/faulty_backend.h"
#include "../../backends/host/host.h"
#include "../../backends/sim/sim.h"
FAULTY_HOST(faulty_host, ha_backend_host)
FAULTY_BACKEND(faulty_sim, ha_backend_sim, "faulty_sim", faulty_sim_fill, &faulty_sim_pinned_ops)
#define HARRAY_HOST_BACKEND faulty_host
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/quiet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define TEST(name) static void name(HA_UNUSED void **state)
#define COUNT(list) (sizeof(list) / sizeof *(list))

static void told(ha_status got, ha_status status, const char *part) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, status);
    assert_int_equal(e.status, status);
    if (!strstr(e.text, part)) fail_msg("'%s' lacks '%s'", e.text, part);
}

static ha_context *H, *C;

static int begin_test(HA_UNUSED void **state) {
    if (ha_backend_register(&faulty_sim)) return 1;
    H = ha_host();
    C = ha_context_find("faulty_sim:0");
    return C == NULL;
}

static int end_test(HA_UNUSED void **state) {
    const ha_error e = ha_take_error();
    if (e.status) print_error("left behind: %s\n", e.text);
    if (ha_shutdown()) print_error("left behind: %s\n", ha_take_error().text);
    if (faulty_records()) print_error("%ld records\n", faulty_records());
    return e.status || faulty_records();
}
#define ENGINE(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

/* ---- moments ------------------------------------------------------------------------------------- */

/* The first one of a context needs memory, each one the queue: without it there is none, and then there is. */
TEST(moments_that_fail) {
    static const ha_status statuses[] = {HA_ERR_MEMORY, HA_ERR_BACKEND};
    double seconds = -1;
    for (int n = 0; n < 2; n++) {
        faulty_arm(n, 0);
        const ha_moment m = ha_mark(C);
        assert_int_equal(faulty_disarm(), 1);
        assert_true(!m.context && !m.number);
        told(statuses[n], statuses[n], "faulty_sim:0 cannot tell the time");
        told(ha_elapsed(m, m, &seconds), HA_ERR_ARGUMENT, "no such moment");
        assert_true(seconds == -1);
    }
    const ha_moment first = ha_mark(C), second = ha_mark(C);
    assert_true(first.context == C && second.number > first.number);
    assert_int_equal(ha_elapsed(first, second, &seconds), HA_OK);
    assert_true(seconds >= 0);
}

/* Those of a context that has none; each of two that are given. */
TEST(moments_that_nobody_knows) {
    double seconds = -1;
    const ha_moment here = ha_mark(H), there = {C, 1};
    told(ha_elapsed(there, here, &seconds), HA_ERR_ARGUMENT, "no such moment");
    assert_non_null(ha_mark(C).context);
    told(ha_elapsed((ha_moment){C, 0}, here, &seconds), HA_ERR_ARGUMENT, "no such moment");
    told(ha_elapsed(here, (ha_moment){C, 2}, &seconds), HA_ERR_ARGUMENT, "no such moment");
    told(ha_elapsed(here, (ha_moment){NULL, 7}, &seconds), HA_ERR_ARGUMENT, "no such moment");
    assert_true(seconds == -1);
}

static void nothing(HA_UNUSED const ha_queue *queue, HA_UNUSED void *argument) {}

/* A queue that fails in front of a moment: it never comes, and there are no more. A held queue stamps
 * what comes first in it, so that a function is in front of the moment. */
TEST(moments_that_never_come) {
    double seconds = -1;
    ha_context *sim = ha_context_find("sim:0");
    const ha_moment first = ha_mark(sim);
    assert_int_equal(ha_context_finish(sim), HA_OK);
    assert_int_equal(ha_sim_hold(sim), HA_OK);
    assert_int_equal(ha_enqueue(sim, nothing, NULL, 0), HA_OK);
    const ha_moment lost = ha_mark(sim);
    assert_ptr_equal(lost.context, sim);
    assert_int_equal(ha_sim_fail(sim), HA_OK);
    told(ha_elapsed(first, lost, &seconds), HA_ERR_LOST, "sim:0");
    assert_true(seconds == -1);
    for (int i = 0; i < HA_MARKS + 2; i++) { /* the places of those before, too */
        assert_null(ha_mark(sim).context);
        assert_int_not_equal(ha_take_error().status, HA_OK);
    }
}

typedef struct moments {
    ha_moment first, last;
    ha_status status;
} moments;

static void *wait_for_moments(void *argument) {
    moments *m = (moments *)argument;
    double seconds;
    m->status = ha_elapsed(m->first, m->last, &seconds);
    return NULL;
}

/* Marking does not wait, also where another thread waits for a moment of that queue; nor does asking for one that
 * has come. */
TEST(moments_that_others_wait_for) {
    double seconds;
    pthread_t thread;
    ha_context *sim = ha_context_find("sim:0");
    moments m = {.first = ha_mark(sim)};
    assert_int_equal(ha_context_finish(sim), HA_OK);
    assert_int_equal(ha_sim_hold(sim), HA_OK);
    assert_int_equal(ha_enqueue(sim, nothing, NULL, 0), HA_OK);
    m.last = ha_mark(sim);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_moments, &m), 0);
    until_quiet();
    const ha_moment behind = ha_mark(sim); /* hangs, if it waits: the queue is held */
    assert_ptr_equal(behind.context, sim);
    assert_int_equal(ha_elapsed(m.first, m.first, &seconds), HA_OK);
    assert_int_equal(ha_sim_step(sim, -1), HA_OK);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(m.status, HA_OK);
    assert_int_equal(ha_elapsed(m.last, behind, &seconds), HA_OK);
}

static ha_moment from_queue;
static ha_status status_there;
static void marks_there(HA_UNUSED const ha_queue *queue, HA_UNUSED void *argument) {
    double seconds;
    from_queue = ha_mark(ha_host());
    (void)ha_take_error();
    status_there = ha_elapsed(from_queue, from_queue, &seconds);
    (void)ha_take_error();
}

/* What runs on a queue must not call. */
TEST(moments_from_a_queue) {
    from_queue.context = C;
    assert_int_equal(ha_enqueue(C, marks_there, NULL, 0), HA_OK);
    assert_int_equal(ha_context_finish(C), HA_OK);
    assert_null(from_queue.context);
    assert_int_equal(status_there, HA_ERR_STATE);
}

/* ---- works --------------------------------------------------------------------------------------- */

/* By time, then calls, then name, then site; of more than there is room for the first ones. */
TEST(the_order_of_works) {
    static const ha_work_statistics in_order[] = {{.name = "b", .site = "z", .ns = 9, .calls = 1},
                                                  {.name = "a", .site = "z", .ns = 5, .calls = 3},
                                                  {.name = "a", .site = "y", .ns = 5, .calls = 2},
                                                  {.name = "a", .site = "z", .ns = 5, .calls = 2},
                                                  {.name = "c", .site = "a", .ns = 5, .calls = 2},
                                                  {.name = "a", .site = "a", .ns = 4, .calls = 9}};
    enum { N = COUNT(in_order) };
    for (size_t a = 0; a < N; a++)
        for (size_t b = 0; b < N; b++)
            assert_int_equal(ha_work_before(&in_order[a], &in_order[b]), a < b);
    for (size_t most = 0; most <= N; most++)
        for (size_t step = 1; step < N; step += 4) { /* in their order, and backwards */
            ha_work_statistics found[N + 1];
            memset(found, 0, sizeof found);
            for (size_t i = 0; i < N; i++)
                ha_work_insert(found, i, most, &in_order[(i * step + step / 5 * (N - 1)) % N]);
            for (size_t i = 0; i < most; i++) {
                assert_string_equal(found[i].site, in_order[i].site);
                assert_string_equal(found[i].name, in_order[i].name);
            }
            assert_null(found[most].name);
        }
}

TEST(sites_of_arguments) {
    assert_true(ha_is_at_site("file.c:7", "file.c:7"));
    assert_true(ha_is_at_site("file.c:7: x", "file.c:7"));
    assert_false(ha_is_at_site("file.c:71", "file.c:7"));
    assert_false(ha_is_at_site("file.c:7:1", "file.c:7"));
    assert_false(ha_is_at_site("file.c:", "file.c:7"));
}

/* Of one name at several sites each has its own sum; one that there is no memory for has none. */
TEST(works_by_name_and_site) {
    ha_work_statistics all[4];
    faulty_arm(0, 0);
    assert_null(ha_work_find("f", "here:1"));
    assert_int_equal(faulty_disarm(), 1);
    ha_work_entry *one = ha_work_find("f", "here:1"), *two = ha_work_find("f", "here:2");
    assert_true(one && two && one != two);
    assert_ptr_equal(ha_work_find("f", "here:1"), one);
    ha_work_add(one, 1, 0);
    ha_work_add(one, 0, 100);
    ha_work_add(two, 2, 0);
    assert_int_equal(ha_works(NULL, 4), 2);
    memset(all, 0, sizeof all);
    assert_int_equal(ha_works(all, 1), 2);
    assert_string_equal(all[0].site, "here:1");
    assert_null(all[1].name);
    assert_int_equal(ha_works(all, 4), 2);
    assert_true(all[0].calls == 1 && all[0].ns == 100 && all[0].timed == 1);
    assert_true(all[1].calls == 2 && all[1].ns == 0 && all[1].timed == 0);
    assert_string_equal(all[1].site, "here:2");
}

/* ---- addresses ----------------------------------------------------------------------------------- */

/* Ten doubles at 1,000, every second one read; eight bytes of records at 2,000, whose field is 2 of each 4 bytes;
 * what is not an array's at 3,000. */
static const ha_touchable touchables[] = {
    {.kind = HA_TOUCH_NAME, .block = 1000, .bytes = 80, .element = 8, .label = "'x'"},
    {.kind = HA_TOUCH_READ,
     .pieces = {.from = (void *)1000, .bytes = 8, .levels = 1, .count = {5}, .from_step = {16}},
     .block = 1000,
     .bytes = 80,
     .element = 8,
     .site = "reading:1",
     .label = "'x'"},
    {.kind = HA_TOUCH_READ,
     .pieces =
         {.from = (void *)2000, .bytes = 2, .levels = 2, .count = {2, 3}, .from_step = {4, 0}},
     .block = 2000,
     .bytes = 8,
     .field = {.name = "pos.x",
               .rank = 2,
               .levels = 1,
               .dimension = {1},
               .first = {7, 5},
               .gain = {3},
               .count = {2},
               .step = {4}},
     .site = "reading:2",
     .label = "records 'p'"},
    {.kind = HA_TOUCH_NAME, .block = 3000, .bytes = 10, .label = "what is there"},
};

TEST(what_is_said_of_addresses) {
    static const struct {
        uintptr_t address;
        const char *text;
    } cases[] = {
        {1000, ", wrote element 0 of array 'x' through a read access, opened at reading:1"},
        {1023, ", wrote element 2 of array 'x' through a read access, opened at reading:1"},
        {1008,
         ", touched element 1 of array 'x', which no access covers that was open then; opened "
         "at reading:1"},
        {990,
         ", touched what is 10 bytes before the beginning of array 'x', which no access covers "
         "that was open then; opened at reading:1"},
        {1080, ", touched what is 0 bytes behind the end of array 'x', which no access covers that "
               "was open then; opened at reading:1"},
        {2000, ", wrote field pos.x of record 7, 5 of records 'p' through a read access, opened at "
               "reading:2"},
        {2005, ", wrote field pos.x of record 7, 8 of records 'p' through a read access, opened at "
               "reading:2"},
        {2003,
         ", touched some of records 'p', which no access covers that was open then; opened at "
         "reading:2"},
        {2010,
         ", touched what is 2 bytes behind the end of records 'p', which no access covers that "
         "was open then; opened at reading:2"},
        {3003, ", touched some of what is there, for which no access was open then"},
        {3010, ", touched what is 0 bytes behind the end of what is there, for which no access was "
               "open then"},
    };
    const ha_touchables all = {touchables, COUNT(touchables), "gpu", "here:1"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        ha_fault_line line = {.n = 0};
        char expected[300];
        snprintf(expected, sizeof expected, "a function on gpu, enqueued at here:1%s",
                 cases[i].text);
        ha_line_touched(&line, &all, cases[i].address);
        line.text[line.n] = 0;
        assert_string_equal(line.text, expected);
    }
}

TEST(addresses_near_nothing) {
    const ha_touchables none = {NULL, 0, "gpu", "here:1"};
    ha_fault_line line = {.n = 0};
    ha_line_touched(&line, &none, 0xabc);
    line.text[line.n] = 0;
    assert_string_equal(line.text,
                        "a function on gpu, enqueued at here:1, touched address 0xabc, for "
                        "which no access was open then");
}

/* Of several that cover it the one that may write, in whatever order they stand; of blocks as near, the one with
 * an access. */
TEST(accesses_that_cover_an_address) {
    ha_touchable list[3];
    for (int first = 0; first < 3; first++) {
        const ha_touchables all = {list, 3, "gpu", "here:1"};
        for (int i = 0; i < 3; i++) {
            list[(first + i) % 3] = touchables[1];
            list[(first + i) % 3].kind = (ha_touchable_kind)i;
        }
        assert_ptr_equal(ha_touchable_of(&all, 1001), &list[(first + 2) % 3]);
        assert_null(ha_touchable_of(&all, 1009));
        assert_ptr_equal(ha_touchable_near(&all, 1009), &list[(first + 2) % 3]);
    }
}

/* ---- windows ------------------------------------------------------------------------------------- */

/* Where there is no memory for it, or no room among the addresses: then functions reach all. */
TEST(windows_that_cannot_be_made) {
    static char block[64];
    const ha_queue here = {(uintptr_t)block, sizeof block, 0},
                   huge = {(uintptr_t)block, SIZE_MAX / 4, 0};
    faulty_arm(0, 0);
    assert_null(ha_window_make(&here));
    assert_int_equal(faulty_disarm(), 1);
    assert_null(ha_window_make(&huge));
    assert_int_equal(faulty_records(), 0);
    assert_false(ha_window_tell((uintptr_t)block)); /* it is in none */
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        ENGINE(moments_that_fail),
        ENGINE(moments_that_nobody_knows),
        ENGINE(moments_that_never_come),
        ENGINE(moments_that_others_wait_for),
        ENGINE(moments_from_a_queue),
        cmocka_unit_test(the_order_of_works),
        cmocka_unit_test(sites_of_arguments),
        ENGINE(works_by_name_and_site),
        cmocka_unit_test(what_is_said_of_addresses),
        cmocka_unit_test(addresses_near_nothing),
        cmocka_unit_test(accesses_that_cover_an_address),
        cmocka_unit_test(windows_that_cannot_be_made),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
