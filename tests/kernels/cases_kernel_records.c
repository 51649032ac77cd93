/* Kernels over records and with records, on every context and in many layouts. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
static void *noted_malloc(__SIZE_TYPE__ bytes);
#define HARRAY_MALLOC noted_malloc
#define HARRAY_REALLOC realloc
#define HARRAY_FREE free
#include "../support/own_memory.h"
#include "../../harray_kernels.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"

#include <math.h>

typedef struct body {
    struct {
        float x, y, z;
    } pos, vel;
    double mass;
    int16_t id;
    bool fixed;
    struct {
        double e[2][3];
    } link[2];
} body;
#define body_FIELDS                                                                                \
    (float, pos, x), (float, pos, y), (float, pos, z), (float, vel, x), (float, vel, y),           \
        (float, vel, z), (double, mass), (int16_t, id), (bool, fixed),                             \
        (double, link, (2), e, (2, 3))
HA_RECORD(body)
HA_VIEW(sky, body, 1, HA_ANY)
HA_RECORDS(bodies, sky);
HA_VIEW(fields, body, 1, HA_SOA)
HA_RECORDS(field_bodies, fields);
HA_VIEW(plane, body, 2, HA_ANY)
HA_RECORDS(planes, plane);
HA_VIEW(block, body, 4, HA_ANY)
HA_RECORDS(blocks, block);

/* Of 1,041 leaves: as text less than one function for each. */
typedef struct box {
    double mass;
    struct {
        float f[5][5];
        int16_t n;
    } part[40];
} box;
#define box_FIELDS (double, mass), (float, part, (40), f, (5, 5)), (int16_t, part, (40), n)
HA_RECORD(box)
HA_VIEW(shelf, box, 1, HA_ANY)
HA_RECORDS(boxes, shelf);
HA_KERNEL_EACH(turn, (boxes, p, "write"), ((value, double, more)), at, {
    box b = shelf_load(p, at);
    b.mass += more + *shelf_part_f(p, at, 39, 4, 3) - shelf_part_n_get(p, at, 17);
    for (int k = 0; k < 40; k++) b.part[k].n = (int16_t)(b.part[k].n + b.part[k].f[k % 5][k % 3]);
    shelf_store(p, at, b);
    shelf_part_f_set(p, at, 5, 2, 1, -1);
});

HA_KERNEL_EACH(drift, (bodies, p, "read vel, write pos"), ((value, float, dt)), at, {
    *sky_pos_x(p, at) += dt * *sky_vel_x(p, at);
    *sky_pos_y(p, at) += dt * *sky_vel_y(p, at);
    *sky_pos_z(p, at) += dt * *sky_vel_z(p, at);
});

/* Everybody is pulled by everybody: a loop over all inside of a lane. */
HA_KERNEL_EACH(attract, (bodies, p, "read pos+mass, write vel"), ((value, float, dt)), at, {
    float ax = 0;
    HA_EACH(sky, p, other) {
        const float d = *sky_pos_x(p, other) - *sky_pos_x(p, at);
        ax += (float)*sky_mass(p, other) * d / (d * d + 0.25f);
    }
    *sky_vel_x(p, at) += dt * ax;
});

HA_KERNEL_EACH(number, (bodies, p, "overwrite"), (), at, {
    body b;
    b.pos.x = (float)ha_index(at);
    b.pos.y = b.pos.z = 0;
    b.vel.x = 1;
    b.vel.y = b.vel.z = 2;
    b.mass = 1.5;
    b.id = (int16_t)(ha_index(at) % 100);
    b.fixed = ha_index(at) % 3 == 0;
    for (int i = 0; i < 12; i++) b.link[i / 6].e[i / 3 % 2][i % 3] = (double)i;
    sky_store(p, at, b);
});

/* Array fields with subscripts, all elements of them, and arrays beside records. */
HA_KERNEL_EACH(twist, (bodies, p, "read link, write mass+id"), ((in, double, w), (out, double, y)),
               at, {
                   double all[12];
                   double sum = 0;
                   sky_link_e_load(p, at, all);
                   for (int i = 0; i < 12; i++) sum += all[i] * w[ha_index(at)];
                   for (int i = 0; i < 2; i++) sum += sky_link_e_get(p, at, 1, i, 2);
                   sky_mass_set(p, at, sum);
                   *sky_id(p, at) = (int16_t)(sky_id_get(p, at) + 1);
                   y[ha_index(at)] = sum;
               });

/* Structs as values and elements; helpers that are given views and records. */
HA_DEVICE_CODE(
    energy,
    HA_FN double energy_of(body b) {
        return b.mass * (double)(b.vel.x * b.vel.x);
    } HA_FN double energy_at(sky v, ha_cursor at) { return energy_of(sky_load(v, at)); });
HARRAY(body);
HA_KERNEL(compare,
          ((uses, energy), (use, bodies, p, "read"), (value, body, most), (in, body, b),
           (out, double, y)),
          i, {
              const double here = energy_at(p, sky_at(p, i)) + energy_of(b[i]);
              y[i] = here < energy_of(most) ? here : (double)p.count;
          });

/* Two record arrays of one view, whose layouts differ. */
HA_KERNEL(exchange, ((use, bodies, p, "write pos"), (use, bodies, q, "write pos")), i, {
    const float x = *sky_pos_x(p, sky_at(p, i));
    *sky_pos_x(p, sky_at(p, i)) = *sky_pos_x(q, sky_at(q, i));
    sky_pos_x_set(q, sky_at(q, i), x);
});

HA_KERNEL_EACH(copy, (bodies, p, "write vel+mass"), ((use, bodies, q, "read pos+mass")), at, {
    const ha_cursor there = sky_at(q, ha_index(at));
    *sky_vel_x(p, at) = *sky_pos_x(q, there);
    *sky_vel_y(p, at) += 1;
    sky_mass_set(p, at, *sky_mass(q, there) + (double)ha_index(at));
});

HA_KERNEL_EACH(drift_fields, (field_bodies, p, "read vel, write pos"), ((value, float, dt)), at,
               { *fields_pos_x(p, at) += dt * *fields_vel_x(p, at); });

HA_KERNEL_EACH(diffuse, (planes, g, "read mass, write vel.x"), (), at, {
    *plane_vel_x(g, at) = (float)(*plane_mass(g, ha_neighbour(at, 0, 1)) +
                                  10 * *plane_mass(g, ha_neighbour(at, 1, -1)) +
                                  (double)(100 * ha_coordinate(at, 0) + ha_index(at)));
});

HA_KERNEL_EACH(coordinates, (blocks, g, "write id"), (), at, {
    *block_id(g, at) = (int16_t)(1000 * ha_coordinate(at, 0) + 100 * ha_coordinate(at, 1) +
                                 10 * ha_coordinate(at, 2) + ha_coordinate(at, 3));
});

KNOWN_KERNEL(turn)
KNOWN_KERNEL(drift)
KNOWN_KERNEL(attract)
KNOWN_KERNEL(number)
KNOWN_KERNEL(twist)
KNOWN_KERNEL(compare)
KNOWN_KERNEL(drift_fields)
KNOWN_KERNEL(diffuse)
KNOWN_KERNEL(coordinates)

enum { N = 100 };

static const char *const layouts[] = {
    "aos",       "soa",       "soa(single,aligned)",           "soa(fields)",
    "aosoa(16)", "aosoa(24)", "split(separate; pos: soa, aos)"};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static harray_double x, y;
static bodies r;

static int begin_world(void **state) {
    begin_case(state);
    x = keep(harray_double_filled(N, 2));
    y = keep(harray_double_filled(N, 3));
    r = bodies_new(N);
    return 0;
}

static int end_world(void **state) {
    HA_CHECK(bodies_free(&r));
    drop(x), drop(y);
    return end_case(state);
}
#define WORLD(name) cmocka_unit_test_setup_teardown(name, begin_world, end_world)

static void fill_bodies(void) {
    HA_USING(v, r, H, "overwrite") HA_EACH(sky, v, at) {
        const float i = (float)ha_index(at);
        body b = {.pos = {i * 7 / 8, 0, 1}, .vel = {1, 2, 3}, .mass = 1.5, .id = 7, .fixed = 1};
        for (int k = 0; k < 12; k++) b.link[k / 6].e[k / 3 % 2][k % 3] = k;
        sky_store(v, at, b);
    }
}

/* Runs a test in each layout. */
static void in(ha_context *c, const char *layout) {
    SUCCEEDS(ha_records_layout(r.records, c, layout));
    fill_bodies();
}

TEST(moves_in_every_layout) {
    for (int l = 0; l < LAYOUTS; l++) {
        if (!is_compiled_here(l)) continue;
        in(C, layouts[l]);
        know_records(&drift_known, C, r.records);
        SUCCEEDS(drift(C, r, 0.25f));
        HA_USING(v, r, H, "read") {}
        SUCCEEDS(drift_in(C, ha_box1(10, 20), r, 4)); /* the others stay valid */
        assert_true(ha_records_valid(r.records, H, NULL, 0, 10));
        assert_int_equal(ha_records_valid(r.records, H, "pos", 10, 20), shares_memory(C));
        assert_true(ha_records_valid(r.records, H, NULL, 20, N));
        HA_USING(v, r, H, "read pos") {
            for (int i = 0; i < N; i++) {
                const float more = i >= 10 && i < 20 ? 4 : 0;
                const ha_cursor at = sky_at(v, i);
                assert_true(*sky_pos_x(v, at) == (float)i * 7 / 8 + 0.25f + more);
                assert_true(*sky_pos_z(v, at) == 1.75f + 3 * more);
            }
        }
        else fail();
    }
}

static void drifts(int n, float expected) {
    know_records(&drift_known, C, r.records);
    SUCCEEDS(drift(C, r, 0.25f));
    HA_USING(v, r, H, "read pos") {
        for (int i = 0; i < n; i++)
            assert_true(*sky_pos_x(v, sky_at(v, i)) == (float)i * 7 / 8 + expected);
    }
    else fail();
}

/* What is kept of a launch for the next one serves as long as nothing is another way. */
TEST(launched_again) {
    in(C, "aosoa(16)");
    drifts(N, 0.25f);
    const uint64_t version = ha_records_version(r.records);
    drifts(N, 0.5f);
    assert_true(ha_records_version(r.records) > version);
    SUCCEEDS(ha_records_layout(r.records, C, "soa"));
    drifts(N, 0.75f);
    SUCCEEDS(bodies_resize(r, N - 30));
    drifts(N - 30, 1);
    drifts(N - 30, 1.25f);
    HA_USING(v, r, C, "write pos") {
        (void)v;
        assert_int_equal(drift(C, r, 0.25f), HA_ERR_CONFLICT);
        ha_take_error();
    }
    else fail();
    HA_USING(v, r, C, "read vel") {
        (void)v;
        SUCCEEDS(drift(C, r, 0.25f));
    }
    else fail();
    drifts(N - 30, 1.75f);
    SUCCEEDS(bodies_resize(r, N)); /* those behind have no values */
    assert_int_equal(drift(C, r, 0.25f), HA_ERR_STATE);
    ha_take_error();
    SUCCEEDS(bodies_resize(r, N - 30));
    drifts(N - 30, 2);
    SUCCEEDS(bodies_resize(r, 0));
    drifts(0, 0);
}

/* The same bits as here, whatever the order in which others come; on a device that computes otherwise nearly so. */
TEST(loops_over_all_in_a_lane) {
    float expected[N];
    const float allowed = computes_as_the_host(C) ? 0 : 1e-5f;
    in(H, "soa");
    SUCCEEDS(attract(H, r, 0.5f));
    HA_USING(v, r, H, "read vel") {
        for (int i = 0; i < N; i++) expected[i] = *sky_vel_x(v, sky_at(v, i));
    }
    for (int l = 0; l < LAYOUTS; l++) {
        if (!is_compiled_here(l)) continue;
        in(C, layouts[l]);
        know_records(&attract_known, C, r.records);
        SUCCEEDS(attract(C, r, 0.5f));
        HA_USING(v, r, H, "read vel") {
            for (int i = 0; i < N; i++)
                if (!(fabsf(*sky_vel_x(v, sky_at(v, i)) - expected[i]) <=
                      allowed * fabsf(expected[i])))
                    fail_msg("%s: %d: %.9g, not %.9g", layouts[l], i,
                             (double)*sky_vel_x(v, sky_at(v, i)), (double)expected[i]);
        }
        else fail();
    }
}

/* Compiled for one layout, then for another one, and for other extents. */
TEST(layouts_and_extents_that_change) {
    for (int n = 0; n < 3; n++)
        for (int l = 0; l < 3; l++) {
            SUCCEEDS(bodies_resize(r, 50 + 60 * n));
            SUCCEEDS(ha_records_layout(r.records, C, layouts[l]));
            know_records(&number_known, C, r.records);
            SUCCEEDS(number(C, r));
            HA_USING(v, r, H, "read") {
                for (int i = 0; i < 50 + 60 * n; i++) {
                    const body b = sky_load(v, sky_at(v, i));
                    assert_true(b.pos.x == (float)i && b.mass == 1.5 && b.id == i % 100);
                    assert_true(b.fixed == (i % 3 == 0) && b.link[1].e[0][2] == 8);
                }
            }
            else fail();
        }
}

TEST(array_fields_and_arrays_beside_records) {
    for (int l = 0; l < LAYOUTS; l++) {
        if (!is_compiled_here(l)) continue;
        in(C, layouts[l]);
        know_records(&twist_known, C, r.records);
        SUCCEEDS(twist(C, r, x, y));
        HA_USING(v, r, H, "read mass+id") {
            for (int i = 0; i < N; i++) {
                assert_true(*sky_mass(v, sky_at(v, i)) == 2 * 66 + 8 + 11);
                assert_int_equal(*sky_id(v, sky_at(v, i)), 8);
            }
        }
        else fail();
        HA_READING(v, y, H) for (int i = 0; i < N; i++) assert_true(v.data[i] == 151);
    }
}

static void refused(ha_status status, ha_status got, const char *part, const char *other) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, status);
    assert_int_equal(e.status, status);
    if (!strstr(e.text, part) || !strstr(e.text, other) ||
        !strstr(e.text, "cases_kernel_records.c:"))
        fail_msg("'%s' lacks '%s' or '%s'", e.text, part, other);
}

/* Has it been compiled for the context, or is it to be? */
static int is_compiled_for(const ha_kernel *kernel) {
    char text[300];
    (void)ha_kernel_place(kernel, C, text, sizeof text);
    return strstr(text, ": compiled for it") != NULL;
}

TEST(records_of_a_thousand_leaves) {
    static const char *const in_blocks[] = {"aos", "aosoa(16)", "soa"};
    /* As soa they have more arguments than the fake driver counts; NVRTC compiles each for ten seconds. */
    const int most = is_fake(C) ? share_of(2) : 3;
    for (int l = 0; l < most; l++) {
        boxes all = boxes_new(20);
        SUCCEEDS(ha_records_layout(all.records, C, in_blocks[l]));
        HA_USING(v, all, H, "overwrite") HA_EACH(shelf, v, at) {
            box b = {.mass = (double)ha_index(at)};
            for (int k = 0; k < 1000; k++) b.part[k / 25].f[k / 5 % 5][k % 5] = (float)k;
            for (int k = 0; k < 40; k++) b.part[k].n = (int16_t)-k;
            shelf_store(v, at, b);
        }
        if (l == 2 && is_compiled_for(&turn_kernel)) { /* arguments: an address for each leaf */
            refused(HA_ERR_ARGUMENT, turn(C, all, 0.5), "too many arguments", "at most 1000");
            HA_CHECK(boxes_free(&all));
            continue;
        }
        if (is_fake(C)) know_records(&turn_known, C, all.records);
        SUCCEEDS(turn(C, all, 0.5));
        HA_USING(v, all, H, "read") {
            for (int i = 0; i < 20; i++) {
                const box b = shelf_load(v, shelf_at(v, i));
                assert_true(b.mass == i + 0.5 + 998 + 17);
                for (int k = 0; k < 40; k++)
                    assert_int_equal(b.part[k].n, -k + 25 * k + k % 5 * 5 + k % 3);
                for (int k = 0; k < 1000; k++)
                    assert_true(b.part[k / 25].f[k / 5 % 5][k % 5] == (k == 136 ? -1 : (float)k));
            }
        }
        else fail();
        HA_CHECK(boxes_free(&all));
    }
}

TEST(structs_as_values_and_elements) {
    for (int l = 0; l < LAYOUTS; l++) {
        if (!is_compiled_here(l)) continue;
        harray_body b = harray_body_filled(
            N, (body){.vel = {2, 0, 0}, .mass = 0.5, .link = {{{{1}}}}});
        body most = {.vel = {2, 0, 0}, .mass = 100};
        keep_array(b.array);
        in(C, layouts[l]);
        HA_WRITING(v, b, H) v.data[5].mass = 100;
        know_records(&compare_known, C, r.records);
        SUCCEEDS(compare(C, N, r, most, b, y));
        HA_READING(v, y, H) {
            for (int i = 0; i < N; i++) assert_true(v.data[i] == (i == 5 ? N : 3.5));
        }
        else fail();
        drop_array(b.array);
    }
}

TEST(two_record_arrays_of_one_view) {
    bodies s = bodies_new(N);
    SUCCEEDS(ha_records_layout(s.records, C, "soa"));
    HA_USING(v, s, H, "overwrite") HA_EACH(sky, v, at) sky_store(v, at, (body){.pos = {-1, 0, 0}});
    in(C, "aosoa(16)");
    if (!is_fake(C)) {
        SUCCEEDS(exchange(C, N, r, s));
        HA_USING(v, r, H, "read pos.x") {
            HA_EACH(sky, v, at) assert_true(*sky_pos_x(v, at) == -1);
        }
        else fail();
        HA_USING(v, s, H, "read pos.x") {
            HA_EACH(sky, v, at) assert_true(*sky_pos_x(v, at) == (float)ha_index(at) * 7 / 8);
        }
        else fail();
        SUCCEEDS(ha_records_layout(s.records, C, "aosoa(16)")); /* one text for both */
        SUCCEEDS(exchange(C, N, r, s));
        HA_USING(v, s, H, "read pos.x") {
            HA_EACH(sky, v, at) assert_true(*sky_pos_x(v, at) == -1);
        }
        else fail();
    }
    SUCCEEDS(bodies_free(&s));
}

/* What is known of the layout of the first is known of the second where they are alike, and nowhere else. */
TEST(two_record_arrays_in_all_pairs_of_layouts) {
    bodies s = bodies_new(N);
    for (int l = 0; l < LAYOUTS * LAYOUTS && !is_fake(C); l++) {
        if (!is_tried(l / LAYOUTS, l % LAYOUTS)) continue;
        in(C, layouts[l / LAYOUTS]);
        SUCCEEDS(ha_records_layout(s.records, C, layouts[l % LAYOUTS]));
        HA_USING(v, s, H, "overwrite") HA_EACH(sky, v, at) {
            const float own = (float)ha_index(at);
            sky_store(v, at, (body){.pos = {own + 1, -2, -3}, .vel = {-4, -5, -6}, .mass = 7});
        }
        HA_USING(v, r, H, "overwrite")
        HA_EACH(sky, v, at) sky_store(v, at, (body){.vel = {0, 8, 9}});
        SUCCEEDS(copy(C, r, s));
        HA_USING(v, r, H, "read") HA_EACH(sky, v, at) {
            const body b = sky_load(v, at);
            const double i = (double)ha_index(at);
            assert_true((double)b.vel.x == i + 1 && b.vel.y == 9 && b.vel.z == 9);
            assert_true(b.mass == 7 + i && b.pos.x == 0 && b.pos.y == 0 && b.id == 0);
        }
        else fail();
    }
    SUCCEEDS(bodies_free(&s));
}

TEST(views_with_a_layout) {
    field_bodies f = field_bodies_new(N);
    HA_USING(v, f, H, "overwrite") HA_EACH(fields, v, at) {
        fields_store(v, at, (body){.vel = {2, 0, 0}});
    }
    know_records(&drift_fields_known, C, f.records);
    SUCCEEDS(drift_fields(C, f, 0.5f));
    HA_USING(v, f, H, "read pos.x") HA_EACH(fields, v, at) assert_true(*fields_pos_x(v, at) == 1);
    const uint64_t version = ha_records_version(f.records);
    SUCCEEDS(ha_records_layout(f.records, C, "aos"));
    assert_int_equal(drift_fields(C, f, 0.5f), HA_ERR_ARGUMENT);
    const ha_error e = ha_take_error();
    if (!strstr(e.text, ": p: ") || !strstr(e.text, "the view fields is soa"))
        fail_msg("'%s'", e.text);
    assert_int_equal(ha_records_version(f.records), version);
    SUCCEEDS(field_bodies_free(&f));
}

/* Neighbours, and the numbers of indices, in rows and in columns. */
TEST(grids) {
    static const char *const orders[] = {"aos", "soa@col", "aosoa(8,rows)", "aosoa(8)@col",
                                         "soa@morton"};
    for (size_t l = 0; l < sizeof orders / sizeof *orders; l++) {
        planes g = planes_new(HA_DIM(9, 11));
        const int columns = strstr(orders[l], "@col") != NULL;
        SUCCEEDS(ha_records_layout(g.records, C, orders[l]));
        HA_USING(v, g, H, "overwrite") HA_EACH(plane, v, at) {
            plane_store(v, at,
                        (body){.mass = (double)(20 * ha_coordinate(at, 0) + ha_coordinate(at, 1))});
        }
        know_records(&diffuse_known, C, g.records);
        SUCCEEDS(diffuse_in(C, ha_box2(0, 8, 1, 11), g));
        HA_USING(v, g, H, "read vel.x") {
            for (int j = 0; j < 9; j++)
                for (int i = 0; i < 11; i++) {
                    const int inside = j < 8 && i > 0;
                    const int count = columns ? j + 9 * i : 11 * j + i;
                    const int expected = 20 * (j + 1) + i + 10 * (20 * j + i - 1) + 100 * j + count;
                    const float got = *plane_vel_x(v, plane_at(v, j, i));
                    if (got != (float)(inside ? expected : 0))
                        fail_msg("%s: %d %d: %g, not %d", orders[l], j, i, (double)got, expected);
                }
        }
        else fail();
        SUCCEEDS(planes_free(&g));
    }
}

TEST(four_dimensions) {
    blocks g = blocks_new(HA_DIM(2, 3, 4, 5));
    HA_USING(v, g, H, "overwrite") HA_EACH(block, v, at) block_store(v, at, (body){.id = -1});
    know_records(&coordinates_known, C, g.records);
    SUCCEEDS(coordinates(C, g));
    HA_USING(v, g, H, "read id") {
        for (int i = 0; i < 120; i++)
            assert_int_equal(*block_id(v, block_at(v, i / 60, i / 20 % 3, i / 5 % 4, i % 5)),
                             1000 * (i / 60) + 100 * (i / 20 % 3) + 10 * (i / 5 % 4) + i % 5);
    }
    else fail();
    SUCCEEDS(blocks_free(&g));
}

/* ---- layouts that change meanwhile ----------------------------------------------------------------- */

/* Records are laid out otherwise when the next memory of at least so many bytes is asked for. */
static struct {
    ha_records *records;
    ha_context *context;
    const char *layout;
    size_t bytes;
} change;

static void *noted_malloc(size_t bytes) {
    ha_records *const records = change.records;
    if (records && bytes >= change.bytes) {
        change.records = NULL;
        HA_CHECK(ha_records_layout(records, change.context, change.layout));
    }
    return malloc(bytes);
}

/* What had been looked at is not there any more when it is opened: it is looked at again. (A launch over all records
 * need not look once more.) */
TEST(views_that_do_not_fit_any_more) {
    field_bodies f = field_bodies_new(N);
    HA_USING(v, f, H, "overwrite")
    HA_EACH(fields, v, at) fields_store(v, at, (body){.vel = {2, 0, 0}});
    know_records(&drift_fields_known, C, f.records);
    SUCCEEDS(drift_fields(C, f, 0.5f));
    const uint64_t version = ha_records_version(f.records);
    change.context = C;
    change.layout = "aos";
    change.bytes = sizeof(ha_one_of_many);
    change.records = f.records;
    assert_int_equal(drift_fields_in(C, ha_box1(0, N), f, 0.5f), HA_ERR_ARGUMENT);
    const ha_error e = ha_take_error();
    assert_null(change.records);
    if (!strstr(e.text, "are aos, and the view fields is soa")) fail_msg("'%s'", e.text);
    assert_int_equal(ha_records_version(f.records), version);
    SUCCEEDS(field_bodies_free(&f));
}

/* While it is compiled for one layout, records get another one. */
TEST(texts_that_do_not_fit_any_more) {
    in(C, "aosoa(32)");
    know_records(&number_known, C, r.records);
    change.context = C;
    change.layout = "aosoa(64)";
    change.bytes = HA_LOG_BYTES;
    change.records = is_of_opencl() && ha_way_of(C) == HA_WAY_COMPILED ? r.records : NULL;
    SUCCEEDS(number(C, r));
    assert_null(change.records);
    HA_USING(v, r, H, "read") {
        for (int i = 0; i < N; i++) assert_true(sky_load(v, sky_at(v, i)).pos.x == (float)i);
    }
    else fail();
}

TEST(texts_for_each_layout) {
    const int64_t n = N;
    ha_error e;
    ha_mapping *a = ha_mapping_parse(&body_record, "aos", 1, &n, &e);
    ha_mapping *b = ha_mapping_parse(&body_record, "soa", 1, &n, &e);
    ha_kernel_variant v = {.kernel = &exchange_kernel, .mapping = {a, b}, .records = 2}, w = v;
    w.mapping[1] = a;
    char *of_v = ha_layouts_of(&v), *of_w = ha_layouts_of(&w);
    v.layouts = of_v;
    w.layouts = of_w;
    assert_true(ha_is_laid_out(of_v, &v));
    assert_false(ha_is_laid_out(of_w, &v));
    assert_false(ha_is_laid_out(of_v, &w));
    HARRAY_FREE(of_v), HARRAY_FREE(of_w);
    ha_mapping_free(a), ha_mapping_free(b);
}

/* ---- what is wrong -------------------------------------------------------------------------------- */

TEST(refused_with_the_name_of_the_argument) {
    const bodies none = {0};
    fill_bodies();
    know_records(&drift_known, C, r.records);
    know_records(&twist_known, C, r.records);
    refused(HA_ERR_ARGUMENT, drift(C, none, 1), "p: no records", "");
    refused(HA_ERR_ARGUMENT, twist(C, r, (harray_double){NULL}, y), "w: no array", "");
    refused(HA_ERR_ARGUMENT, drift_in(C, ha_box1(10, N + 1), r, 1), "no range [10, 101)", "p");
    refused(HA_ERR_ARGUMENT, drift_in(C, ha_box1(10, 9), r, 1), "lanes below zero", "");
    HA_WRITING(v, y, H) refused(HA_ERR_CONFLICT, twist(C, r, x, y), "double[100]", "y");
    HA_USING(v, r, H, "write mass") refused(HA_ERR_CONFLICT, twist(C, r, x, y), "records", "p");
    HA_USING(v, r, H, "read mass") assert_true(*sky_mass(v, sky_at(v, 3)) == 1.5);
}

TEST(nothing_for_no_records) {
    bodies s = bodies_new(0);
    know_records(&drift_known, C, s.records);
    SUCCEEDS(drift(C, s, 1));
    SUCCEEDS(bodies_free(&s));
    fill_bodies();
    SUCCEEDS(drift_in(C, ha_box1(4, 4), r, 1));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        WORLD(moves_in_every_layout),
        WORLD(launched_again),
        WORLD(loops_over_all_in_a_lane),
        WORLD(layouts_and_extents_that_change),
        WORLD(array_fields_and_arrays_beside_records),
        WORLD(records_of_a_thousand_leaves),
        WORLD(structs_as_values_and_elements),
        WORLD(two_record_arrays_of_one_view),
        WORLD(two_record_arrays_in_all_pairs_of_layouts),
        WORLD(views_with_a_layout),
        WORLD(grids),
        WORLD(four_dimensions),
        WORLD(views_that_do_not_fit_any_more),
        WORLD(texts_that_do_not_fit_any_more),
        WORLD(texts_for_each_layout),
        WORLD(refused_with_the_name_of_the_argument),
        WORLD(nothing_for_no_records),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
