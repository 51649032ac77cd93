/* What layouts are advised: by loops whose time is made up by a clock that only these loops move,
 * so that nothing depends on how fast anything is. */
#include "../support/layout_memory.h"

static int no_blob;
static void *tested_aligned_alloc(size_t alignment, size_t size) {
    return no_blob ? NULL : aligned_alloc(alignment, size);
}
#define aligned_alloc tested_aligned_alloc
#include "../../layout.h"
#undef aligned_alloc

#include <setjmp.h>
#include <cmocka.h>

typedef struct body {
    float x, y;
    double mass;
} body;
#define body_FIELDS (float, x), (float, y), (double, mass)
HA_RECORD(body)
HA_VIEW(sky, body, 1, HA_ANY)

/* The loop's world: a clock, what a run on each layout takes, and what it has seen. */
typedef struct world {
    double now, *cost; /* seconds by layout: of all runs alike, or of all timings */
    const char *const *layout;
    int count, runs[8], prepared[8], slower, order[200], timed;
    double sum;
    const char *bad; /* this layout fails */
    int fails_later;
} world;

static double world_clock(void *user) { return ((world *)user)->now; }

static int number_of(const world *w, const ha_mapped *records) {
    int k = 0;
    while (k < w->count && strcmp(w->layout[k], records->mapping->text) != 0) k++;
    assert_true(k < w->count);
    return k;
}

static ha_status world_prepare(const ha_mapped *records, void *user, ha_error *error) {
    world *w = (world *)user;
    const int k = number_of(w, records);
    w->prepared[k]++;
    assert_int_equal(w->runs[k], 0);
    if (!w->bad || w->fails_later || strcmp(w->bad, w->layout[k]) != 0) return HA_OK;
    snprintf(error->text, sizeof error->text, "not prepared");
    return HA_ERR_UNSUPPORTED;
}

static ha_status world_run(const ha_mapped *records, void *user, ha_error *error) {
    world *w = (world *)user;
    const int k = number_of(w, records);
    w->runs[k]++;
    w->now += w->cost[k] + (w->runs[k] > 4 && w->slower ? 1 : 0);
    if (w->timed < 200) w->order[w->timed++] = k;
    if (!w->bad || strcmp(w->bad, w->layout[k]) != 0 || w->runs[k] <= w->fails_later) return HA_OK;
    snprintf(error->text, sizeof error->text, "too late");
    return HA_ERR_STATE;
}

static const char *const four[] = {"aos", "soa", "aosoa(4)", "aosoa(8)"};
static const int64_t extent[] = {10};

static ha_status advise(world *w, ha_advising how, ha_advice *result, ha_error *error) {
    how.run = world_run;
    how.user = w;
    how.clock = world_clock;
    const long before = allocated;
    const ha_status s = ha_layout_advise(&body_record, 1, extent, w->layout, w->count, &how, result,
                                         error);
    assert_int_equal(allocated, before);
    return s;
}

static void test_sorted(void **state) {
    (void)state;
    double cost[] = {0.5, 0.125, 2, 0.25};
    world w = {.cost = cost, .layout = four, .count = 4};
    ha_advice advice[4];
    ha_error error;
    assert_int_equal(
        advise(&w, (ha_advising){.rounds = 3, .prepare = world_prepare}, advice, &error), HA_OK);
    const char *const names[] = {"soa", "aosoa(8)", "aos", "aosoa(4)"};
    const double seconds[] = {0.125, 0.25, 0.5, 2};
    for (int k = 0; k < 4; k++) {
        assert_string_equal(advice[k].layout, names[k]);
        assert_int_equal(advice[k].status, HA_OK);
        assert_true(advice[k].best == seconds[k] && advice[k].median == seconds[k]);
        assert_true(advice[k].ratio == seconds[k] / 0.125);
        assert_int_equal(w.prepared[k], 1);
        assert_int_equal(w.runs[k], 2 + 3); /* two to begin with */
    }
    assert_int_equal(advice[0].bytes, 160);
    assert_int_equal(advice[1].bytes, 256);                               /* whole blocks */
    for (int k = 0; k < 12; k++) assert_int_equal(w.order[8 + k], k % 4); /* in turns */
}

static void test_best_and_median(void **state) {
    (void)state;
    double cost[] = {0.5, 0.25, 1, 1};
    world w = {.cost = cost, .layout = four, .count = 2, .slower = 1};
    ha_advice advice[2];
    assert_int_equal(advise(&w, (ha_advising){.rounds = 5}, advice, NULL), HA_OK);
    assert_string_equal(advice[0].layout, "soa"); /* two timings of 0.25, three of 1.25 */
    assert_true(advice[0].best == 0.25 && advice[0].median == 1.25);
    assert_true(advice[1].best == 0.5 && advice[1].median == 1.5 && advice[1].ratio == 2);
    assert_int_equal(w.runs[0], 2 + 5);
}

/* A fast loop is run until the time is long enough; one that takes no time, very often. */
static void test_fast(void **state) {
    (void)state;
    double cost[] = {1.0 / 1024, 0, 1, 1};
    world w = {.cost = cost, .layout = four, .count = 1};
    ha_advice advice[2];
    assert_int_equal(advise(&w, (ha_advising){.rounds = 2, .shortest = 1.0 / 64}, advice, NULL),
                     HA_OK);
    assert_int_equal(w.runs[0], 2 + 2 * 17);
    assert_true(advice[0].best == 1.0 / 1024);
    w = (world){.cost = cost, .layout = four, .count = 2};
    assert_int_equal(advise(&w, (ha_advising){.rounds = 1}, advice, NULL), HA_OK);
    assert_int_equal(w.runs[0], 2 + 3); /* two milliseconds */
    assert_int_equal(w.runs[1], 2 + 1000000);
    assert_string_equal(advice[0].layout, "soa");
    assert_true(advice[0].best == 0 && advice[0].ratio == 1 && advice[1].ratio == 1);
}

/* A clock that is set back is no reason for praise. */
static void test_clock_set_back(void **state) {
    (void)state;
    double cost[] = {-1, 0.5, 1, 1};
    world w = {.cost = cost, .layout = four, .count = 2};
    ha_advice advice[2];
    assert_int_equal(advise(&w, (ha_advising){.rounds = 1}, advice, NULL), HA_OK);
    assert_string_equal(advice[0].layout, "soa");
}

static void test_refused(void **state) {
    (void)state;
    static const char *const mixed[] = {"aos", "asoa", "soa", "aosoa(8)"};
    double cost[] = {0.5, 0.5, 0.25, 1};
    world w = {.cost = cost, .layout = mixed, .count = 4, .bad = "soa"};
    ha_advice advice[4];
    ha_error error;
    const ha_advising how = {.rounds = 2, .prepare = world_prepare};
    assert_int_equal(advise(&w, how, advice, &error), HA_OK);
    assert_string_equal(advice[0].layout, "aos");
    assert_string_equal(advice[1].layout, "aosoa(8)");
    assert_string_equal(advice[2].layout, "asoa");
    assert_int_equal(advice[2].status, HA_ERR_ARGUMENT);
    assert_non_null(strstr(advice[2].why, "expected a layout"));
    assert_string_equal(advice[3].layout, "soa");
    assert_int_equal(advice[3].status, HA_ERR_UNSUPPORTED);
    assert_string_equal(advice[3].why, "not prepared");
    assert_int_equal(w.runs[2], 0);
    for (int later = 0; later < 4; later++) { /* before it is timed, and while */
        w = (world){.cost = cost, .layout = mixed, .count = 4, .bad = "soa", .fails_later = later};
        assert_int_equal(advise(&w, (ha_advising){.rounds = 2}, advice, &error), HA_OK);
        assert_string_equal(advice[3].layout, "soa");
        assert_int_equal(advice[3].status, HA_ERR_STATE);
        assert_string_equal(advice[3].why, "too late");
        assert_int_equal(w.runs[2], later + 1);
    }
}

static void test_all_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"ao", "sa"};
    double cost[] = {1, 1};
    world w = {.cost = cost, .layout = bad, .count = 2};
    ha_advice advice[2];
    ha_error error;
    assert_int_equal(advise(&w, (ha_advising){.rounds = 1}, advice, &error), HA_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "no layout could be timed; ao: at character 0"));
    w.count = 0;
    assert_int_equal(advise(&w, (ha_advising){.rounds = 1}, advice, &error), HA_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "there is no layout"));
    const ha_advising none = {.rounds = 1};
    assert_int_equal(ha_layout_advise(&body_record, 1, extent, NULL, 0, &none, advice, &error),
                     HA_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "there is no loop"));
    assert_int_equal(ha_layout_advise(&body_record, 9, extent, NULL, 0, &none, advice, &error),
                     HA_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "rank"));
}

/* ---- real loops ------------------------------------------------------------------------------ */

HA_ADVISED(add_masses, sky, v, HA_EACH(sky, v, at)((world *)user)->sum += sky_mass_get(v, at))

static void test_values_and_defaults(void **state) {
    (void)state;
    body all[10];
    for (int k = 0; k < 10; k++) all[k] = (body){1, 2, k};
    ha_mapping *aos = ha_mapping_parse(&body_record, "aos", 1, extent, NULL);
    void *const blob[] = {all};
    const ha_mapped from = {aos, blob};
    world w = {.sum = 0};
    ha_advice advice[HA_ADVISED_LAYOUTS];
    const ha_advising how = {
        .run = add_masses, .from = &from, .user = &w, .rounds = 1, .shortest = 1e-9};
    ha_error error;
    if (ha_layout_advise(&body_record, 1, extent, NULL, 0, &how, advice, &error))
        fail_msg("%s", error.text);
    assert_true(w.sum >= 45 * 3 * HA_ADVISED_LAYOUTS); /* by the real clock: more if it is coarse */
    assert_true((int64_t)w.sum % 45 == 0);
    for (int k = 0; k < HA_ADVISED_LAYOUTS; k++) {
        assert_int_equal(advice[k].status, HA_OK);
        assert_true(advice[k].best >= 0 && advice[k].ratio >= 1);
    }
    ha_mapping_free(aos);
}

static void test_views_refuse(void **state) {
    (void)state;
    static const char *const layouts[] = {"split(x: null, soa)", "soa"};
    world w = {.now = 0};
    ha_advice advice[2];
    const ha_advising how = {
        .run = add_masses, .user = &w, .rounds = 1, .clock = world_clock, .shortest = 1e-6};
    const int64_t odd[] = {3};
    assert_int_equal(ha_layout_advise(&body_record, 1, odd, layouts, 2, &how, advice, NULL), HA_OK);
    assert_string_equal(advice[0].layout, "soa");
    assert_string_equal(advice[1].layout, "split(x: null, soa)");
    assert_non_null(strstr(advice[1].why, "x is not stored"));
}

static void test_failing_memory(void **state) {
    (void)state;
    double cost[] = {0.5, 0.125};
    ha_advice advice[2];
    ha_error error;
    int some = 0;
    for (long k = 0;; k++) {
        world w = {.cost = cost, .layout = four, .count = 2};
        until_failure = k;
        const ha_status s = advise(&w, (ha_advising){.rounds = 1}, advice, &error);
        until_failure = -1;
        if (s != HA_OK) assert_int_equal(error.status, HA_ERR_MEMORY);
        if (s == HA_OK && advice[1].status == HA_OK) break;
        if (s == HA_OK) assert_int_equal(advice[1].status, HA_ERR_MEMORY);
        some += s == HA_OK; /* one is timed, and the other not */
        assert_true(k < 30);
    }
    assert_true(some > 0);
    world w = {.cost = cost, .layout = four, .count = 2};
    no_blob = 1;
    assert_int_equal(advise(&w, (ha_advising){.rounds = 1}, advice, &error), HA_ERR_MEMORY);
    assert_non_null(strstr(error.text, "no layout could be timed; aos: there is no memory"));
    no_blob = 0;
}

static void test_table(void **state) {
    (void)state;
    const ha_advice advice[] = {
        {"soa", HA_OK, 0.00102, 1.5, 1, 28000000, ""},
        {"aosoa(8,aligned)", HA_OK, 2.5e-7, 3.25e-5, 12.345, 5, ""},
        {"aos", HA_ERR_MEMORY, 0, 0, 0, 0, "there is no memory for 8 bytes"}};
    char text[500];
    const int64_t length = ha_advice_text(advice, 3, text, sizeof text);
    assert_string_equal(text, "layout                   best       median  ratio         bytes\n"
                              "soa                   1.02 ms       1.5 s    1.00      28000000\n"
                              "aosoa(8,aligned)       250 ns      32.5 us  12.35             5\n"
                              "aos               there is no memory for 8 bytes\n");
    assert_int_equal(length, strlen(text));
    assert_int_equal(ha_advice_text(advice, 3, NULL, 0), length);
    (void)ha_advice_text(advice, 0, text, sizeof text);
    assert_string_equal(text, "layout         best       median  ratio         bytes\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorted),         cmocka_unit_test(test_best_and_median),
        cmocka_unit_test(test_fast),           cmocka_unit_test(test_clock_set_back),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_all_refused),
        cmocka_unit_test(test_views_refuse),   cmocka_unit_test(test_values_and_defaults),
        cmocka_unit_test(test_failing_memory), cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
