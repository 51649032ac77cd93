/* HARRAY_VERBOSE: a wait for another thread that takes long is told, once, with both places. What
 * is long is a second; here it is a nanosecond. And an error is told with nothing left locked, whoever
 * cancels the thread. */
#define HA_LONG_WAIT_NS_ 1
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_records.h"
#include "../support/threads.h"
#include <unistd.h>

/* stderr goes to a pipe until the first line is there. */
static FILE *lines;
static int stderr_before;

static void catch_stderr(void) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    stderr_before = dup(2);
    assert_int_equal(dup2(ends[1], 2), 2);
    close(ends[1]);
    lines = fdopen(ends[0], "r");
    assert_non_null(lines);
}

static void let_stderr_go(void) {
    assert_int_equal(dup2(stderr_before, 2), 2);
    close(stderr_before);
}

TEST(a_long_wait) {
    char line[512], place[80];
    ha_write_double v;
    opener other;
    harray_double x = ramp(10);
    ha_array_set_name(x.array, "u");
    catch_stderr();
    snprintf(place, sizeof place, "opened at %s:%d on host\n", __FILE__, __LINE__ + 1);
    SUCCEEDS(ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    start_open(&other, x.array, C, HA_READ, 0, HA_END);
    assert_non_null(fgets(line, sizeof line, lines)); /* while the other thread waits */
    assert_false(has_opened(&other));
    SUCCEEDS(ha_close(&v));
    assert_int_equal(wait_opened(&other), HA_OK);
    finish(&other);
    let_stderr_go();
    assert_string_equal(strstr(line, "opened at "), place);
    assert_ptr_equal(strstr(line, "harray: "), line);
    assert_non_null(strstr(line, "threads.h:"));
    assert_non_null(strstr(line, "array 'u' (double[10]) at "));
    assert_null(fgets(line, sizeof line, lines)); /* once */
    fclose(lines);
    drop(x);
}

HA_NOINLINE_ static void open_what_is_no_field(ha_records *r) {
    ha_records_access x;
    assert_int_equal(ha_records_open(&x, r, H, "read nosuch", 0, HA_END), HA_ERR_ARGUMENT);
    (void)ha_take_error();
}

/* With no variables of its own: AddressSanitizer does not see that it ends by cancelling. */
static void *open_while_cancelled(void *records) {
    pthread_cancel(pthread_self());
    open_what_is_no_field((ha_records *)records);
    pthread_testcancel();
    return records;
}

/* Printing would end the thread, with the records locked. */
TEST(cancelled_while_it_is_told) {
    const int64_t extent = 10;
    char line[512];
    void *result;
    pthread_t thread;
    ha_record *record = ha_record_parse("x:f64", NULL);
    ha_records *r = ha_records_new(record, 1, &extent, "soa");
    assert_non_null(r);
    catch_stderr();
    assert_int_equal(pthread_create(&thread, NULL, open_while_cancelled, r), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    let_stderr_go();
    assert_true(result == PTHREAD_CANCELED);
    assert_non_null(fgets(line, sizeof line, lines));
    assert_non_null(strstr(line, "nosuch"));
    fclose(lines);
    SUCCEEDS(ha_records_free(r));
    ha_record_free(record);
}

/* What the program says counts more than the environment. */
TEST(switched) {
    char line[512];
    catch_stderr();
    ha_set_verbose(0);
    assert_null(ha_context_find("silent"));
    ha_set_verbose(2);
    assert_null(ha_context_find("told"));
    let_stderr_go();
    (void)ha_take_error();
    assert_non_null(fgets(line, sizeof line, lines));
    assert_non_null(strstr(line, "'told'"));
    assert_null(fgets(line, sizeof line, lines));
    fclose(lines);
}

int main(void) {
    const struct CMUnitTest tests[] = {CASE(a_long_wait), CASE(cancelled_while_it_is_told),
                                       CASE(switched)};
    int failed = 0;
    setenv("HARRAY_VERBOSE", "1", 1);
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
