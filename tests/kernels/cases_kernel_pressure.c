/* Kernels, arrays of several dimensions, views and record arrays on memories that are too small for all of them: what is
 * not in use gives way, as arrays/cases_pressure.c says of plain arrays. On every context. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_kernels.h"
#include "../support/least_blocks.h"
#include "../support/fake_kernels.h"

typedef struct body {
    struct {
        float x, y;
    } pos, vel;
    double mass;
} body;
#define body_FIELDS                                                                                \
    (float, pos, x), (float, pos, y), (float, vel, x), (float, vel, y), (double, mass)
HA_RECORD(body)
HA_VIEW(sky, body, 1, HA_ANY)
HA_RECORDS(bodies, sky);

HA_KERNEL(axpy, ((value, double, a), (in, double, x), (inout, double, y)), i,
          { y[i] += a * x[i]; });
HA_KERNEL(rise, ((value, float, k), (inout, array_float_2, u)), (j, i), { HA_AT(u, j, i) += k; });
HA_KERNEL_EACH(drift, (bodies, p, "read vel, write pos"), ((value, float, dt)), at, {
    *sky_pos_x(p, at) += dt * *sky_vel_x(p, at);
    *sky_pos_y(p, at) += dt * *sky_vel_y(p, at);
});
KNOWN_KERNEL(axpy)
KNOWN_KERNEL(rise)
KNOWN_KERNEL(drift)

enum { EACH = 6 };

static int begin_kernels(void **state) {
    const int failed = begin_fresh(state);
    know_kernel(&axpy_known);
    know_kernel(&rise_known);
    return failed;
}
#define KERNELS(name) cmocka_unit_test_setup_teardown(name, begin_kernels, end_case)

static void begin_pressure(size_t bytes) {
    if (shares_memory(C)) skip();
    SUCCEEDS(ha_memory_set_budget(C, bytes));
}

static void end_pressure(void) {
    const ha_pressure p = ha_memory_pressure(C);
    const ha_memory_usage u = ha_context_memory(C);
    assert_true(p.evictions > 0 && p.written_back > 0 && p.restored > 0);
    assert_true(u.high_water <= p.budget);
    drop_arrays();
}

TEST(arrays_of_kernels) {
    harray_double x[EACH];
    begin_pressure(7 * BYTES / 2);
    for (int i = 0; i < EACH; i++) x[i] = keep(harray_double_filled_at(N, i + 1, C));
    for (int i = 0; i < EACH; i++)
        SUCCEEDS(axpy(C, HA_ALL_LANES, 2, x[i], x[(i + 1) % EACH])); /* y += 2 x */
    double value[EACH];
    for (int i = 0; i < EACH; i++) value[i] = i + 1;
    for (int i = 0; i < EACH; i++) value[(i + 1) % EACH] += 2 * value[i];
    for (int i = 0; i < EACH; i++) assert_true(sum_at(x[i], H) == value[i] * N);
    end_pressure();
}

/* More than there is for all at once. */
TEST(arguments_that_do_not_fit) {
    begin_pressure(3 * BYTES / 2);
    harray_double x = keep(harray_double_filled(N, 1)), y = keep(harray_double_filled(N, 2));
    REFUSED(HA_ERR_MEMORY, axpy(C, HA_ALL_LANES, 2, x, y));
    assert_int_equal(ha_memory_pressure(C).evictions, 0);
    SUCCEEDS(axpy(H, HA_ALL_LANES, 2, x, y));
    assert_true(sum_at(y, H) == 4. * N);
    drop(x), drop(y);
}

TEST(views_of_arrays) {
    array_float_2 u[EACH];
    begin_pressure(5 * 128 * 130 * sizeof(float) / 2);
    for (int i = 0; i < EACH; i++) {
        u[i] = array_float_2_zeros(HA_DIM(128, 130), C);
        keep_array(u[i].array);
    }
    for (int round = 1; round <= 2; round++)
        for (int i = 0; i < EACH; i++) {
            const array_float_2 inner = array_float_2_slice(u[i], 1, 1, 129, 1);
            SUCCEEDS(rise_in(C, ha_box2(0, 128, 0, 128), (float)(i + round), inner));
        }
    for (int i = 0; i < EACH; i++) {
        HA_READING(v, u[i], H) {
            assert_true(HA_AT(v.span, 5, 0) == 0 && HA_AT(v.span, 5, 129) == 0);
            assert_true(HA_AT(v.span, 5, 1) == (float)(2 * i + 3) &&
                        HA_AT(v.span, 127, 128) == HA_AT(v.span, 5, 1));
        }
        else fail();
    }
    end_pressure();
}

TEST(records_in_every_layout) {
    static const char *const layouts[] = {"aos",         "soa",         "aosoa(8)",
                                          "soa(single)", "aos(packed)", "soa"};
    bodies r[EACH];
    begin_pressure(5 * N / 2 * 32);
    for (int i = 0; i < EACH; i++) {
        r[i] = bodies_new(N);
        SUCCEEDS(ha_records_layout(r[i].records, C, layouts[i]));
        HA_USING(v, r[i], H, "overwrite") HA_EACH(sky, v, at) {
            sky_store(v, at, (body){{(float)i, 1}, {1, (float)ha_index(at)}, 7});
        }
    }
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < EACH; i++) {
            know_records(&drift_known, C, r[i].records);
            SUCCEEDS(drift(C, r[i], 2));
        }
    for (int i = 0; i < EACH; i++) {
        HA_USING(v, r[i], H, "read") HA_EACH(sky, v, at) {
            const body b = sky_load(v, at);
            assert_true(b.pos.x == (float)(i + 6) && b.pos.y == (float)(1 + 6 * ha_index(at)));
            assert_true(b.vel.x == 1 && b.vel.y == (float)ha_index(at) && b.mass == 7);
        }
    }
    for (int i = 0; i < EACH; i++) SUCCEEDS(bodies_free(&r[i]));
    end_pressure();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        KERNELS(arrays_of_kernels),
        KERNELS(arguments_that_do_not_fit),
        KERNELS(views_of_arrays),
        KERNELS(records_in_every_layout),
    };
    int failed = 0;
    RUN_FRESH_ON_MATRIX(failed, tests);
    return failed;
}
