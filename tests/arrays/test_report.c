/* What the report says of more than it has room for, of nothing, of odd names, and without memory;
 * and when others change what is being looked at. The numbers in it are in test_trace.py and
 * cases_events.c. */
#define _GNU_SOURCE 1
#include <stddef.h>
#include <stdlib.h>

/* n > 0: the n-th call from now on fails, or is disturbed. */
static int fail_in, disturb_in;
static void (*disturb)(void);

static void *reporting_malloc(size_t bytes) {
    if (fail_in > 0 && --fail_in == 0) return NULL;
    if (disturb_in > 0 && --disturb_in == 0) disturb();
    return malloc(bytes);
}

#define HARRAY_MALLOC reporting_malloc
#define HARRAY_REALLOC realloc
#define HARRAY_FREE free
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../support/own_memory.h"
#include "../../harray.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define TEST(name) static void name(HA_UNUSED void **state)
#define FINE(call) assert_int_equal(call, HA_OK)

/* ---- reading reports ------------------------------------------------------------------------ */

static char text[1 << 16];

static const char *report_by(void (*f)(FILE *)) {
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_non_null(file);
    f(file);
    fclose(file);
    return text;
}

static const char *report(void) { return report_by(ha_report); }

static const char *report_json(void) { return report_by(ha_report_json); }

static size_t count_of(const char *what) {
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++) n++;
    return n;
}

#define SAYS(what) assert_non_null(strstr(text, what))
#define SAYS_NOT(what) assert_null(strstr(text, what))

/* One stands before the other. */
static void says_before(const char *first, const char *second) {
    const char *a = strstr(text, first), *b = strstr(text, second);
    assert_non_null(a);
    assert_non_null(b);
    assert_true(a < b);
}

/* ---- what is in them ------------------------------------------------------------------------ */

enum { MANY = 25, SHOWN = 20 };

static harray_double watched[MANY];

static void make_watched(size_t n) {
    ha_watch(HA_WATCH_ACCESSES);
    for (size_t i = 0; i < n; i++) {
        char name[40];
        watched[i] = harray_double_zeros(10);
        snprintf(name, sizeof name, "array %02zu", i);
        harray_double_set_name(watched[i], name);
    }
    ha_watch(0);
    ha_report_reset(); /* of making them */
}

static void open_at(harray_double x, const char *site, int times) {
    for (int i = 0; i < times; i++) {
        ha_access v;
        FINE(ha_open_(&v, x.array, ha_host(), HA_READ, 0, HA_END, site));
        FINE(ha_close(&v));
    }
}

static int end_report(HA_UNUSED void **state) {
    fail_in = disturb_in = 0;
    for (size_t i = 0; i < MANY; i++) FINE(harray_double_free(&watched[i]));
    return ha_shutdown() == HA_OK ? 0 : -1;
}

TEST(nothing) {
    report();
    SAYS("host ");
    SAYS_NOT("watched array");
    SAYS_NOT("more");
    report_json();
    SAYS("\"sites\": [], \"arrays\": []");
}

TEST(no_file) {
    ha_report(NULL);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    ha_report_json(NULL);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
}

/* By accesses, where nothing was moved, then by name. */
TEST(many_sites) {
    make_watched(1);
    for (int i = 0; i < MANY; i++) {
        char site[40];
        snprintf(site, sizeof site, "file.c:%d", 100 + i);
        open_at(watched[0], site, i == 7 ? 3 : 1);
    }
    open_at(watched[0], NULL, 2);
    report();
    says_before("file.c:107", "(unknown)");
    says_before("(unknown)", "file.c:100");
    says_before("file.c:100", "file.c:101");
    SAYS_NOT("file.c:124");
    SAYS("and 6 more\n");
    assert_int_equal(count_of("file.c:"), SHOWN - 1);
    report_json();
    assert_int_equal(count_of("file.c:"), MANY);
}

/* The best of them are kept, in order, whatever the order they are met in. */
TEST(the_best_sites) {
    ha_site_statistics best[3];
    make_watched(1);
    for (int i = 0; i < MANY; i++) {
        char site[40];
        snprintf(site, sizeof site, "file.c:%d", 100 + i);
        open_at(watched[0], site, 1 + i);
    }
    assert_int_equal(ha_sites(best, 3), MANY);
    for (uint64_t i = 0; i < 3; i++) assert_int_equal(best[i].accesses, MANY - i);
    assert_string_equal(best[0].site, "file.c:124");
}

/* Waiting counts before accesses, bytes before waiting. */
TEST(order_of_sites) {
    make_watched(1);
    open_at(watched[0], "often", 9);
    ha_site_add("a long wait", &(ha_site_statistics){.waits = 1, .wait_ns = 2000000000});
    ha_site_add("a short wait", &(ha_site_statistics){.waits = 8, .wait_ns = 1000});
    ha_site_add("a transfer", &(ha_site_statistics){.transfers = 1, .bytes = 1536});
    report();
    says_before("a transfer", "a long wait");
    says_before("a long wait", "a short wait");
    says_before("a short wait", "often");
    SAYS("1.5 KiB");
    SAYS("2.0 s");
    SAYS("1.0 us");
}

/* By bytes, then accesses, then name. */
TEST(many_arrays) {
    ha_context *sim = ha_context_find("sim:0");
    make_watched(MANY);
    HA_READING_RANGE(v, watched[3], sim, 0, 5) {}
    else fail();
    HA_READING(v, watched[4], sim) {}
    else fail();
    open_at(watched[9], "file.c:1", 2);
    harray_double_set_name(watched[5], "odd\nname");
    report();
    says_before("array 04 double[10]", "array 03 double[10]");
    says_before("array 03", "array 09");
    says_before("array 09", "array 00");
    says_before("array 00", "array 01");
    SAYS("and 5 more\n");
    SAYS_NOT("odd");
    report_json();
    SAYS("\"odd\\u000aname\"");
    harray_double_set_name(watched[4], "odd\nname");
    harray_double_set_name(watched[3], NULL);
    report();
    SAYS("odd?name double[10]");
    SAYS("  double[10]\n");
}

/* ---- without memory ------------------------------------------------------------------------- */

TEST(no_memory_for_lists) {
    make_watched(2);
    open_at(watched[0], "file.c:1", 1);
    fail_in = 1; /* the list of sites */
    report();
    SAYS("(no memory to list them)\n\n");
    SAYS_NOT("file.c:1");
    SAYS("array 01");
    fail_in = 2; /* the one of arrays */
    report();
    SAYS("watched array\n(no memory to list them)\n");
    SAYS("file.c:1");
    SAYS_NOT("array 01");
    fail_in = 1;
    report_json();
    SAYS("\"sites\": [], ");
    SAYS("array 01");
}

static void hear(HA_UNUSED const ha_event_info *event, HA_UNUSED void *user) {}

TEST(dropped_events) {
    const uint64_t before = ha_dropped;
    char line[80];
    make_watched(1);
    report();
    assert_int_equal(count_of("were dropped"), before != 0);
    open_at(watched[0], "file.c:1", 1); /* so that counting needs no memory any more */
    ha_set_event_handler(hear, NULL);
    fail_in = 1;
    open_at(watched[0], "file.c:1", 1);
    ha_set_event_handler(NULL, NULL);
    snprintf(line, sizeof line, "\n%llu events were dropped: no memory\n",
             (unsigned long long)before + 1);
    report();
    SAYS(line);
    report_json();
    snprintf(line, sizeof line, "\"dropped_events\": %llu}", (unsigned long long)before + 1);
    SAYS(line);
}

/* ---- while others go on --------------------------------------------------------------------- */

static void free_one(void) { FINE(harray_double_free(&watched[0])); }

/* Between counting and copying there may be fewer. */
TEST(fewer_meanwhile) {
    make_watched(3);
    open_at(watched[0], "file.c:1", 1);
    disturb = ha_report_reset;
    disturb_in = 1;
    report();
    SAYS_NOT("file.c:1");
    disturb = free_one;
    disturb_in = 1; /* there is no site, so no list of them */
    report();
    SAYS_NOT("array 00");
    SAYS("array 01");
    SAYS("array 02");
}

/* ---- units, and names ----------------------------------------------------------------------- */

TEST(units) {
    assert_string_equal(ha_human_bytes(0).text, "0 B");
    assert_string_equal(ha_human_bytes(1023).text, "1023 B");
    assert_string_equal(ha_human_bytes(1024).text, "1.0 KiB");
    assert_string_equal(ha_human_bytes(UINT64_MAX).text, "16.0 EiB");
    assert_string_equal(ha_human_copies(1536, 3).text, "1.5 KiB in 3"); /* all of them, not each */
    assert_string_equal(ha_human_copies(0, UINT64_MAX).text, "0 B in 18446744073709551615");
    assert_string_equal(ha_human_time(999).text, "999 ns");
    assert_string_equal(ha_human_time(1500).text, "1.5 us");
    assert_string_equal(ha_human_time(5000000000000).text, "5000.0 s");
}

static const char *json_of(const char *name) {
    static char buffer[2000];
    ha_json j = ha_json_into(buffer, sizeof buffer);
    ha_json_string(&j, NULL, name);
    return buffer;
}

/* Characters stay as they are; what is none becomes U+FFFD, byte by byte. */
TEST(odd_strings) {
    assert_string_equal(json_of("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"),
                        "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\"");
    assert_string_equal(json_of("\"\\\n\x7f"), "\"\\\"\\\\\\u000a\x7f\"");
    assert_string_equal(json_of("\x80"), "\"\\ufffd\"");            /* begins in the middle */
    assert_string_equal(json_of("\xff"), "\"\\ufffd\"");            /* begins nothing */
    assert_string_equal(json_of("\xc3"), "\"\\ufffd\"");            /* the text ends in it */
    assert_string_equal(json_of("\xc3x"), "\"\\ufffdx\"");          /* the next one begins in it */
    assert_string_equal(json_of("\xc0\x80"), "\"\\ufffd\\ufffd\""); /* too long for its code */
    assert_string_equal(json_of("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\""); /* half of one */
    assert_string_equal(json_of("\xee\x80\x80"), "\"\xee\x80\x80\"");
    assert_string_equal(json_of("\xf4\x90\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

TEST(long_strings) {
    char name[601] = "";
    memset(name, 'a', 600);
    assert_int_equal(strlen(json_of(name)), HA_LONGEST_STRING + 2);
}

/* What a backend says of a failure is cut where the room for it ends. */
TEST(long_notes) {
    char note[400] = "", rest[600] = "";
    memset(note, 'n', sizeof note - 1);
    memset(rest, 'r', sizeof rest - 1);
    ha_backend_report(3, note);
    (void)ha_fail(HA_ERR_BACKEND, "test", "short");
    ha_error e = ha_take_error();
    assert_int_equal(e.code, 3);
    assert_int_equal(strlen(e.text), strlen("short: ") + sizeof ha_backend_note.text - 1);
    ha_backend_report(4, note);
    (void)ha_fail(HA_ERR_BACKEND, "test", "%s", rest);
    e = ha_take_error();
    assert_int_equal(e.code, 4);
    assert_null(strchr(e.text, 'n'));
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
}

/* Accesses are counted of watched arrays; of the others it is not said that there were none. */
TEST(accesses_that_nobody_counts) {
    ha_context *sim = ha_context_find("sim:0");
    assert_non_null(sim);
    ha_report_reset();
    harray_double x = harray_double_zeros(10);
    ha_access v;
    FINE(ha_open_(&v, x.array, sim, HA_READ, 0, HA_END, "file.c:9"));
    FINE(ha_close(&v));
    FINE(harray_double_free(&x));
    report();
    SAYS(" -  file.c:9\n");
}

#define REPORT(name) cmocka_unit_test_teardown(name, end_report)

int main(void) {
    const struct CMUnitTest tests[] = {
        REPORT(nothing),
        REPORT(no_file),
        REPORT(many_sites),
        REPORT(the_best_sites),
        REPORT(order_of_sites),
        REPORT(many_arrays),
        REPORT(fewer_meanwhile),
        REPORT(no_memory_for_lists),
        REPORT(dropped_events),
        REPORT(accesses_that_nobody_counts),
        cmocka_unit_test(units),
        cmocka_unit_test(odd_strings),
        cmocka_unit_test(long_strings),
        cmocka_unit_test(long_notes),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
