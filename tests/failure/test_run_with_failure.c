/* ha_run_with when something fails: each allocation and each call of a backend in turn, and then all behind it.
 * Nothing has changed then but where values are valid, nothing is locked or enqueued, and it succeeds again. */
#include "../support/failure_engine.h"
#include "../support/invariants.h"

struct sums {
    double *x;
    const double *y;
    span_double_2 w;
    int *runs;
};

static void sum_there(HA_UNUSED const ha_queue *queue, void *argument) {
    const struct sums *s = (const struct sums *)argument;
    for (int i = 0; i < 6; i++) s->x[i] = 2 * s->y[i];
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 3; i++) HA_AT(s->w, j, i) += 1;
    ++*s->runs;
}

typedef struct world {
    ha_context *c;
    harray_double x, y;
    array_double_2 w;
    int runs; /* on the host: a queue writes it, too */
} world;

static void begin(world *o, ha_context *c, int there) {
    *o = (world){.c = c,
                 .x = harray_double_filled(6, 5),
                 .y = harray_double_filled(6, 7),
                 .w = array_double_2_filled(HA_DIM(2, 3), 9, ha_host())};
    if (!there) return;
    HA_WRITING(v, o->x, c) {}
    HA_READING(v, o->y, c) {}
    HA_WRITING(v, o->w, c) {}
    HA_CHECK(ha_context_finish(c));
}

static ha_status run(world *o) {
    struct sums s = {.runs = &o->runs};
    return ha_run_with(o->c, sum_there, s, HA_USE(x, o->x, HA_OVERWRITE), HA_USE(y, o->y, HA_READ),
                       HA_USE(w, o->w, HA_WRITE));
}

static void expect(world *o, double x, double w, int runs) {
    HA_READING(v, o->x, ha_host()) for (int i = 0; i < 6; i++) assert_true(v.data[i] == x);
    else fail_msg("%s", ha_take_error().text);
    HA_READING(v, o->w, ha_host()) assert_true(HA_AT(v.span, 1, 2) == w);
    else fail_msg("%s", ha_take_error().text);
    HA_CHECK(ha_context_finish(o->c));
    assert_int_equal(o->runs, runs);
    check_quiet(o->x.array), check_quiet(o->y.array), check_quiet(o->w.array);
}

/* How many points failed. */
static long fail_at(world *o, long n, int sticky) {
    const uint64_t versions[] = {ha_array_version(o->x.array), ha_array_version(o->w.array)};
    faulty_arm(n, sticky);
    const ha_status s = run(o);
    const long failed = faulty_disarm();
    assert_int_equal(ha_take_error().status, s);
    if (s) {
        assert_int_equal(ha_array_version(o->x.array), versions[0]);
        assert_int_equal(ha_array_version(o->w.array), versions[1]);
        expect(o, 5, 9, 0);
        assert_int_equal(run(o), HA_OK);
    }
    expect(o, 14, 10, 1);
    return failed;
}

static void every_point_at(const char *name, int there, int sticky) {
    long met = 1;
    for (long n = 0; met; n++) {
        world o;
        begin(&o, ha_context_find(name), there);
        met = fail_at(&o, n, sticky);
        HA_CHECK(harray_double_free(&o.x));
        HA_CHECK(harray_double_free(&o.y));
        HA_CHECK(array_double_2_free(&o.w));
        HA_CHECK(ha_shutdown());
        HA_CHECK(ha_backend_register(&faulty_sim));
        HA_CHECK(ha_backend_register(&faulty_private));
        assert_true(n < 500);
    }
}

static void every_point(HA_UNUSED void **state) {
    static const char *const contexts[] = {"host", "faulty_sim:0", "faulty_private:0"};
    HA_CHECK(ha_backend_register(&faulty_sim));
    HA_CHECK(ha_backend_register(&faulty_private));
    for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++)
        for (int way = 0; way < 4; way++) every_point_at(contexts[i], way & 1, way & 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_point)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
