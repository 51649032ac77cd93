/* ha_run_with when something fails: each allocation and each call of a backend in turn, and then all behind it.
 * Nothing has changed then but where values are valid, nothing is locked or enqueued, and it succeeds again. */
#include "../support/failure_engine.h"
#include "../../harray_records.h"
#include "../support/invariants.h"

typedef struct atom {
    double x, y;
} atom;
#define atom_FIELDS (double, x), (double, y)
HA_RECORD(atom)
HA_VIEW(lump, atom, 1, HA_ANY)
HA_RECORDS(atoms, lump);

struct sums {
    double *x;
    const double *y;
    span_double_2 w;
    lump v;
    int *runs;
};

static void sum_there(HA_UNUSED const ha_queue *queue, void *argument) {
    const struct sums *s = (const struct sums *)argument;
    for (int i = 0; i < 6; i++) s->x[i] = 2 * s->y[i];
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 3; i++) HA_AT(s->w, j, i) += 1;
    if (s->v.count) HA_EACH(lump, s->v, at) lump_y_set(s->v, at, lump_x_get(s->v, at));
    ++*s->runs;
}

typedef struct world {
    ha_context *c;
    harray_double x, y;
    array_double_2 w;
    atoms r;
    int of_records; /* the function is given these, too */
    int runs;       /* on the host: a queue writes it, too */
} world;

static void begin(world *o, ha_context *c, int there, int of_records) {
    *o = (world){.c = c,
                 .r = atoms_new(4),
                 .of_records = of_records,
                 .x = harray_double_filled(6, 5),
                 .y = harray_double_filled(6, 7),
                 .w = array_double_2_filled(HA_DIM(2, 3), 9, ha_host())};
    HA_CHECK(ha_records_layout(o->r.records, c, "soa"));
    HA_USING(v, o->r, ha_host(), "overwrite") HA_EACH(lump, v, at) {
        lump_x_set(v, at, 3);
        lump_y_set(v, at, 2);
    }
    if (!there) return;
    HA_USING(v, o->r, c, "write") {}
    HA_WRITING(v, o->x, c) {}
    HA_READING(v, o->y, c) {}
    HA_WRITING(v, o->w, c) {}
    HA_CHECK(ha_context_finish(c));
}

static ha_status run(world *o) {
    struct sums s = {.runs = &o->runs};
    if (o->of_records)
        return ha_run_with(o->c, sum_there, s, HA_USE(x, o->x, HA_OVERWRITE),
                           HA_USE_RECORDS(v, o->r, "read x, overwrite y"), HA_USE(y, o->y, HA_READ),
                           HA_USE(w, o->w, HA_WRITE));
    return ha_run_with(o->c, sum_there, s, HA_USE(x, o->x, HA_OVERWRITE), HA_USE(y, o->y, HA_READ),
                       HA_USE(w, o->w, HA_WRITE));
}

static void expect_records(const world *o, double y) {
    HA_USING(v, o->r, ha_host(), "read y")
    HA_EACH(lump, v, at) assert_true(lump_y_get(v, at) == y);
    else fail_msg("%s", ha_take_error().text);
}

static void expect(world *o, double x, double w, int runs) {
    expect_records(o, o->of_records && runs ? 3 : 2);
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
    const uint64_t versions[] = {ha_array_version(o->x.array), ha_array_version(o->w.array),
                                 ha_records_version(o->r.records)};
    faulty_arm(n, sticky);
    const ha_status s = run(o);
    const long failed = faulty_disarm();
    assert_int_equal(ha_take_error().status, s);
    if (s) {
        assert_int_equal(ha_array_version(o->x.array), versions[0]);
        assert_int_equal(ha_array_version(o->w.array), versions[1]);
        assert_int_equal(ha_records_version(o->r.records), versions[2]);
        expect(o, 5, 9, 0);
        assert_int_equal(run(o), HA_OK);
    }
    expect(o, 14, 10, 1);
    return failed;
}

static void every_point_at(const char *name, int there, int sticky, int of_records) {
    long met = 1;
    for (long n = 0; met; n++) {
        world o;
        begin(&o, ha_context_find(name), there, of_records);
        met = fail_at(&o, n, sticky);
        HA_CHECK(harray_double_free(&o.x));
        HA_CHECK(harray_double_free(&o.y));
        HA_CHECK(array_double_2_free(&o.w));
        HA_CHECK(atoms_free(&o.r));
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
        for (int way = 0; way < 8; way++) every_point_at(contexts[i], way & 1, way & 2, way & 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_point)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
