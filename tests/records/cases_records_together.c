/* Arrays and record arrays opened in one call, on the contexts of support/matrix.h: all or none. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
static void *noted_malloc(__SIZE_TYPE__ bytes);
static void noted_free(void *block);
#define HARRAY_MALLOC noted_malloc
#define HARRAY_REALLOC realloc
#define HARRAY_FREE noted_free
#include "../support/own_memory.h"

#include "../../harray_records.h"
#include "../support/matrix.h"

typedef struct star {
    struct {
        double x, y;
    } pos;
    float mass;
    int32_t id;
    double v[3];
} star;
#define star_FIELDS                                                                                \
    (double, pos, x), (double, pos, y), (float, mass), (int32_t, id), (double, v, (3))
HA_RECORD(star)
HA_VIEW(sky, star, 1, HA_ANY)
HA_RECORDS(stars, sky);

enum { N = 20 };

static stars r;
static harray_double x, y;

static int begin_world(void **state) {
    begin_case(state);
    r = stars_new(N);
    x = keep(harray_double_filled(N, 2));
    y = keep(harray_double_filled(N, 3));
    HA_CHECK(ha_records_layout(r.records, M1, "soa"));
    HA_USING(v, r, H, "overwrite") HA_EACH(sky, v, at) {
        sky_store(v, at, (star){{1, 2}, 3, (int32_t)ha_index(at), {4, 5, 6}});
    }
    return 0;
}

static int end_world(void **state) {
    HA_CHECK(stars_free(&r));
    drop(x), drop(y);
    return end_case(state);
}
#define WORLD(name) cmocka_unit_test_setup_teardown(name, begin_world, end_world)

typedef struct given {
    size_t n;
    const double *x;
    sky v;
    double *y;
} given;

static void work(const ha_queue *q, void *argument) {
    given g = *(given *)argument;
    g.x = HA_HERE(q, const double, g.x);
    g.y = HA_HERE(q, double, g.y);
    g.v = stars_here(q, g.v);
    for (size_t i = 0; i < g.n; i++) {
        const ha_cursor at = sky_at(g.v, (ptrdiff_t)i);
        g.y[i] += g.x[i] * sky_pos_x_get(g.v, at);
        sky_mass_set(g.v, at, (float)g.y[i]);
    }
}

TEST(arrays_and_records_in_one_call) {
    ha_access a, b;
    ha_records_access s;
    ha_request request[] = {
        {.access = &a, .array = x.array, .context = C, .how = HA_READ, .last = HA_END},
        {.opened = &s,
         .records = r.records,
         .context = C,
         .what = "read pos, write mass",
         .last = HA_END},
        {.access = &b, .array = y.array, .context = C, .how = HA_WRITE, .last = HA_END}};
    SUCCEEDS(ha_open_many(request, 3));
    assert_int_equal(s.status, HA_OK);
    assert_ptr_equal(s.records, r.records);
    assert_ptr_equal(s.context, C);
    assert_int_equal(s.first, 0);
    assert_int_equal(s.last, N);
    const given g = {N, a.data, sky_from(s.mapping, s.blob, NULL), b.data};
    SUCCEEDS(ha_enqueue(C, work, &g, sizeof g));
    SUCCEEDS(ha_close_many(request, 3));
    assert_null(s.records);
    HA_READING(v, y, H) for (int i = 0; i < N; i++) assert_true(v.data[i] == 5);
    HA_USING(v, r, H, "read mass") HA_EACH(sky, v, at) assert_true(*sky_mass(v, at) == 5);
}

/* A box of them, more fields than an access has room for, and one record array twice. */
TEST(parts_of_records) {
    ha_access a;
    ha_records_access s, t;
    const ha_region box = ha_box1(5, 7);
    ha_request request[] = {
        {.opened = &s,
         .records = r.records,
         .context = C,
         .box = &box,
         .what = "read pos.x, write pos.y, read mass, write id, read v[0], write v[1]"},
        {.access = &a, .array = x.array, .context = C, .how = HA_OVERWRITE, .last = HA_END},
        {.opened = &t,
         .records = r.records,
         .context = C,
         .what = "write v[2]",
         .first = 2,
         .last = 4}};
    SUCCEEDS(ha_open_many(request, 3));
    assert_int_equal(s.first, 5);
    assert_int_equal(s.last, 7);
    assert_int_equal(s.parts_, 6);
    assert_int_equal(t.first, 2);
    REFUSED(HA_ERR_CONFLICT, stars_set(r, 5, (star){0}));
    SUCCEEDS(ha_close_many(request, 3));
    SUCCEEDS(stars_set(r, 5, (star){0}));
    HA_OVERWRITING_ALL(v, x, H) for (int i = 0; i < N; i++) v.data[i] = 2;
}

static void none_of(ha_status status, ha_request *request, size_t n, size_t failing) {
    const uint64_t before[] = {ha_array_version(x.array), ha_array_version(y.array),
                               ha_records_version(r.records)};
    REFUSED(status, ha_open_many(request, n));
    for (size_t i = 0; i < n; i++) {
        const ha_status own = request[i].opened ? request[i].opened->status
                                                : request[i].access->status;
        assert_int_equal(own, i == failing ? status : HA_ERR_STATE);
        if (request[i].opened)
            assert_null(request[i].opened->records);
        else
            assert_null(request[i].access->array);
    }
    assert_int_equal(ha_array_version(x.array), before[0]);
    assert_int_equal(ha_array_version(y.array), before[1]);
    assert_int_equal(ha_records_version(r.records), before[2]);
    step();
}

TEST(none_when_one_cannot_be_had) {
    ha_access a, b;
    ha_records_access s;
    harray_double never = keep(harray_double_new(N));
    ha_request request[] = {
        {.access = &a, .array = x.array, .context = C, .how = HA_WRITE, .last = HA_END},
        {.opened = &s, .records = r.records, .context = C, .what = "write mass", .last = HA_END},
        {.access = &b, .array = y.array, .context = C, .how = HA_OVERWRITE, .last = HA_END}};
    HA_USING(v, r, H, "write mass") none_of(HA_ERR_CONFLICT, request, 3, 1);
    HA_WRITING(v, y, H) none_of(HA_ERR_CONFLICT, request, 3, 2);
    request[2].array = never.array;
    request[2].how = HA_READ;
    none_of(HA_ERR_STATE, request, 3, 2);
    request[2].how = HA_OVERWRITE;
    request[1].what = "write colour";
    none_of(HA_ERR_ARGUMENT, request, 3, 1);
    request[1].what = NULL;
    none_of(HA_ERR_ARGUMENT, request, 3, 1);
    request[1].what = "write mass";
    request[1].last = N + 1;
    none_of(HA_ERR_ARGUMENT, request, 3, 1);
    request[1].last = HA_END;
    request[1].records = NULL;
    none_of(HA_ERR_ARGUMENT, request, 3, 1);
    request[1].records = r.records;
    SUCCEEDS(ha_open_many(request, 3));
    SUCCEEDS(ha_close_many(request, 3));
    drop(never);
}

TEST(an_access_that_is_there_twice) {
    ha_records_access s;
    ha_request request[] = {
        {.opened = &s, .records = r.records, .context = C, .what = "read pos", .last = HA_END},
        {.opened = &s, .records = r.records, .context = C, .what = "read mass", .last = HA_END}};
    assert_int_equal(ha_open_many(request, 2), HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "twice"));
}

/* ---- functions that are given views -------------------------------------------------------------- */

struct pull {
    char first;
    sky v;
    const double *x;
    sky_const w;
    double *y;
};

static void pull_there(HA_UNUSED const ha_queue *queue, void *argument) {
    struct pull *p = (struct pull *)argument;
    HA_EACH(sky, p->v, at) {
        const ptrdiff_t i = ha_index(at);
        p->y[i] += p->x[i] * sky_const_pos_x_get(p->w, sky_const_at(p->w, i));
        sky_mass_set(p->v, at, (float)p->y[i] + p->first);
    }
}

/* In any layouts, and each of its own; what is read and not written stays where it was, too. */
TEST(views_are_put_in) {
    static const char *const layouts[] = {"aos", "soa", "soa(single,aligned)", "aosoa(16)"};
    stars other = stars_new(N);
    HA_USING(v, other, H, "overwrite") HA_EACH(sky, v, at) {
        sky_store(v, at, (star){{3, 2}, 3, 7, {4, 5, 6}});
    }
    for (size_t i = 0; i < 4; i++) {
        struct pull p = {.first = 1};
        SUCCEEDS(ha_records_layout(r.records, C, layouts[i]));
        SUCCEEDS(ha_records_layout(other.records, C, layouts[(i + 1) % 4]));
        SUCCEEDS(ha_run_with(C, pull_there, p, HA_USE_RECORDS(v, r, "write mass"),
                             HA_USE(x, x, HA_READ), HA_USE_RECORDS(w, other, "read pos.x"),
                             HA_USE(y, y, HA_WRITE)));
        assert_null(p.x); /* its own is not changed */
        HA_USING(v, r, H, "read mass+id") HA_EACH(sky, v, at) {
            assert_true(*sky_mass(v, at) == (float)(10 + 6 * i));
            assert_int_equal(*sky_id(v, at), ha_index(at));
        }
        else fail();
    }
    HA_READING(v, y, H) for (int i = 0; i < N; i++) assert_true(v.data[i] == 27);
    SUCCEEDS(stars_free(&other));
}

static int pulls;
static void counts(HA_UNUSED const ha_queue *queue, HA_UNUSED void *argument) {
    __atomic_fetch_add(&pulls, 1, __ATOMIC_RELAXED);
}

static void not_run(ha_status got, ha_status status, const char *part) {
    const ha_error e = ha_take_error();
    SUCCEEDS(ha_context_finish(C));
    assert_int_equal(got, status);
    assert_int_equal(e.status, status);
    assert_int_equal(pulls, 0);
    if (!strstr(e.text, part) || !strstr(e.text, "cases_records_together.c:"))
        fail_msg("'%s' lacks '%s'", e.text, part);
}

HA_VIEW(fields, star, 1, HA_SOA)
HA_RECORDS(field_stars, fields);

/* All or none: nothing has changed, and no function has run. */
TEST(views_that_cannot_be_had) {
    struct __attribute__((__packed__)) {
        char first;
        sky v;
    } packed = {.first = 1};
    struct {
        fields v;
    } soa = {.v.count = 0};
    struct pull p = {.first = 1};
    stars none = {0};
    field_stars other = field_stars_new(N);
    const uint64_t versions[] = {ha_array_version(x.array), ha_records_version(r.records)};
    pulls = 0;
    not_run(ha_run_with(C, counts, p, HA_USE(y, x, HA_OVERWRITE), HA_USE_RECORDS(v, none, "read")),
            HA_ERR_ARGUMENT, "no records");
    not_run(ha_run_with(C, counts, packed, HA_USE_RECORDS(v, r, "write pos")), HA_ERR_ARGUMENT,
            "v: a view has to be aligned");
    not_run(
        ha_run_with(C, counts, p, HA_USE(y, x, HA_OVERWRITE), HA_USE_RECORDS(v, r, "write colour")),
        HA_ERR_ARGUMENT, "colour");
    not_run(ha_run_with(C, counts, p, HA_USE_RECORDS(v, r, NULL)), HA_ERR_ARGUMENT,
            "nothing to open");
    not_run(ha_run_with(C, counts, soa, HA_USE_RECORDS(v, other, "read")), HA_ERR_STATE,
            "never written");
    SUCCEEDS(ha_records_layout(other.records, C, "aos"));
    not_run(ha_run_with(C, counts, soa, HA_USE_RECORDS(v, other, "overwrite")), HA_ERR_ARGUMENT,
            "ha_records_layout");
    HA_USING(v, r, M1, "write mass")
    not_run(
        ha_run_with(C, counts, p, HA_USE(y, x, HA_OVERWRITE), HA_USE_RECORDS(v, r, "read mass")),
        HA_ERR_CONFLICT, "");
    assert_int_equal(ha_array_version(x.array), versions[0]);
    assert_int_equal(ha_records_version(r.records), versions[1] + 1);
    HA_READING(v, x, H) for (int i = 0; i < N; i++) assert_true(v.data[i] == 2);
    SUCCEEDS(field_stars_free(&other));
    SUCCEEDS(ha_run_with(C, counts, p, HA_USE_RECORDS(v, r, "try read mass")));
    SUCCEEDS(ha_context_finish(C));
    assert_int_equal(pulls, 1);
}

/* Two record arrays are laid out otherwise: the second one when memory to open both is asked for, the first one when
 * that is given back. */
static struct {
    ha_records *records[2];
    void *block;
} change;

static void change_layout(int which) {
    ha_records *const records = change.records[which];
    change.records[which] = NULL;
    HA_CHECK(ha_records_layout(records, C, "aos"));
}

static void *noted_malloc(size_t bytes) {
    const int is_it = change.records[1] && bytes == 2 * sizeof(ha_one_of_many);
    void *const block = malloc(bytes);
    if (is_it) change_layout(1);
    if (is_it) change.block = block;
    return block;
}

static void noted_free(void *block) {
    const int is_it = block && change.block == block;
    free(block);
    if (!is_it) return;
    change.block = NULL;
    change_layout(0);
}

/* Opened while the second one is laid out otherwise, it is looked at again; and then the first one cannot be had,
 * which is the end. */
TEST(views_that_cannot_be_had_any_more) {
    struct {
        fields v, w;
    } two = {.v.count = 0};
    field_stars a = field_stars_new(N), b = field_stars_new(N);
    pulls = 0;
    HA_USING(v, a, C, "overwrite") {}
    HA_USING(w, b, C, "overwrite") {}
    change.records[0] = a.records;
    change.records[1] = b.records;
    not_run(ha_run_with(C, counts, two, HA_USE_RECORDS(v, a, "overwrite"),
                        HA_USE_RECORDS(w, b, "overwrite")),
            HA_ERR_ARGUMENT, "are aos, and the view fields is soa");
    assert_true(!change.records[0] && !change.records[1]);
    SUCCEEDS(field_stars_free(&a));
    SUCCEEDS(field_stars_free(&b));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        WORLD(arrays_and_records_in_one_call),
        WORLD(parts_of_records),
        WORLD(none_when_one_cannot_be_had),
        WORLD(an_access_that_is_there_twice),
        WORLD(views_are_put_in),
        WORLD(views_that_cannot_be_had),
        WORLD(views_that_cannot_be_had_any_more),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
