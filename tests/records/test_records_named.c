/* With HARRAY_DEBUG, what views of counting layouts on the host touch is compared with what accesses have
 * named; without a mistake, or where it cannot be known, nothing is said. */
#define HARRAY_DEBUG
#define HARRAY_IMPLEMENTATION
#include "../../harray_records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

typedef struct star {
    struct {
        double x, y;
    } pos;
    float mass;
} star;
#define star_FIELDS (double, pos, x), (double, pos, y), (float, mass)
HA_RECORD(star)
HA_VIEW(sky, star, 1, HA_ANY)
HA_RECORDS(stars, sky);

enum { N = 20 };

static stars r;
static double sum;

static int begin(void **state) {
    (void)state;
    r = stars_new(N);
    HA_CHECK(ha_records_layout(r.records, ha_host(), "count(aos)"));
    HA_USING(v, r, ha_host(), "overwrite") HA_EACH(sky, v, at) {
        sky_store(v, at, (star){{1, 2}, 3});
    }
    assert_int_equal(ha_take_error().status, HA_OK);
    return 0;
}

static int end(void **state) {
    (void)state;
    assert_int_equal(ha_take_error().status, HA_OK);
    assert_int_equal(stars_free(&r), HA_OK);
    return 0;
}

static void expect_mistake(const char *what) {
    const ha_error error = ha_take_error();
    assert_int_equal(error.status, HA_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "test_records_named.c:"));
    assert_non_null(strstr(error.text, "star"));
    assert_non_null(strstr(error.text, what));
}

HA_FN void read_x(sky v) { HA_EACH(sky, v, at) sum += sky_pos_x_get(v, at); }
HA_QUEUED(read_x, sky);

static void what_is_named(void **state) {
    star one;
    (void)state;
    HA_USING(v, r, ha_host(), "read pos+mass") HA_EACH(sky, v, at) { sum += sky_load(v, at).pos.x; }
    HA_USING(v, r, ha_host(), "read pos, write mass") HA_EACH(sky, v, at) {
        *sky_mass(v, at) += (float)*sky_const_pos_x(sky_reading(v), at);
    }
    HA_USING(v, r, ha_host(), "read pos") assert_int_equal(stars_get(r, 3, &one), HA_OK);
    assert_true(one.pos.y == 2);
}

static void read_without_a_name(void **state) {
    ha_records_access access;
    (void)state;
    HA_USING(v, r, ha_host(), "read mass") read_x(v);
    expect_mistake("pos.x was read (20 times)");
    HA_USING(v, r, ha_host(), "read pos") read_x(v); /* said once */
    assert_int_equal(ha_records_open(&access, r.records, NULL, "read mass", 0, HA_END), HA_OK);
    const ha_mapped there = {access.mapping, access.blob};
    ha_mapped_get(&there, 1, (int64_t[]){4}, &sum);
    assert_int_equal(ha_records_close(&access), HA_ERR_ARGUMENT);
    expect_mistake("pos.y was read (1 times)");
    assert_int_equal(ha_records_close(&access), HA_ERR_STATE); /* it was closed */
    assert_int_equal(ha_take_error().status, HA_ERR_STATE);
}

static void pointed_to_without_a_name(void **state) {
    (void)state;
    HA_USING(v, r, ha_host(), "write mass") HA_EACH(sky, v, at) sum += *sky_pos_x(v, at);
    expect_mistake("pos.x was pointed to (20 times)");
}

static void written_without_a_name(void **state) {
    (void)state;
    HA_USING(v, r, ha_host(), "write mass") HA_EACH(sky, v, at) sky_pos_y_set(v, at, 1);
    expect_mistake("pos.y was written (20 times)");
    HA_USING(v, r, ha_host(), "read pos, write mass") HA_EACH(sky, v, at) sky_pos_x_set(v, at, 1);
    expect_mistake("pos.x was written though it was opened to be read (20 times)");
}

/* Of several that are open at once, each field was named by one of them. */
static void beside_others(void **state) {
    (void)state;
    HA_USING(v, r, ha_host(), "read pos") {
        HA_USING(w, r, ha_host(), "write mass") HA_EACH(sky, w, at) {
            sky_mass_set(w, at, (float)sky_pos_x_get(v, at));
        }
    }
    assert_int_equal(ha_take_error().status, HA_OK);
    HA_USING(v, r, ha_host(), "read mass") read_x(v);
    expect_mistake("pos.x was read (20 times)");
}

/* What functions on queues do is counted at some time. */
static void on_queues_of_the_host(void **state) {
    (void)state;
    ha_context *c = ha_context_find("sim:0");
    assert_non_null(c);
    assert_int_equal(ha_context_set_zero_copy(c, 1), HA_OK);
    HA_USING(v, r, c, "read pos") HA_RUN_VIEW(read_x, v);
    HA_USING(v, r, ha_host(), "read mass") assert_int_equal(ha_context_finish(c), HA_OK);
    HA_USING(v, r, ha_host(), "read mass") read_x(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_named, begin, end),
        cmocka_unit_test_setup_teardown(read_without_a_name, begin, end),
        cmocka_unit_test_setup_teardown(pointed_to_without_a_name, begin, end),
        cmocka_unit_test_setup_teardown(written_without_a_name, begin, end),
        cmocka_unit_test_setup_teardown(beside_others, begin, end),
        cmocka_unit_test_setup_teardown(on_queues_of_the_host, begin, end),
    };
    HA_CHECK(ha_sim_configure(&(ha_sim_options){.unified = 1}));
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? failed : ha_shutdown() != HA_OK;
}
