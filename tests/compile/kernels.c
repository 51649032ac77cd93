/* Uses every macro of harray/kernel.h, harray/team.h and harray/reduce.h, as a user in C, C++ or CUDA does. */
#include "kernels_user.h"

typedef struct {
    float x, v;
} body;
#define body_FIELDS (float, x), (float, v)
HA_RECORD(body)
HA_VIEW(sky, body, 1, HA_ANY)
HA_RECORDS(bodies, sky);
HA_VIEW(field, body, 2, HA_SOA, HA_COL)
HA_RECORDS(field_bodies, field);
HARRAY(body);
HA_ARRAY(int, 1);
HA_ARRAY(int, 2);
HA_ARRAY(int, 3);

/* ---- kernels of one, two and three indices, with each mode and option ---- */

#define HALF 0.5
HA_DEVICE_CONST(half_of, HALF);
HA_DEVICE_TABLE(weights, double, weight, {0.25, 0.5, 0.25});
HA_BUNDLE(levels, (in, double, energy), (constant, int, material), (inout, int, seen),
          (out, array_float_2, plane), (value, int, count));
HA_DEVICE_CODE(
    search, HA_FN int level_of(const ha_seen_levels s, double e) {
        int k = 0;
        while (k < s.count && s.energy[k] < e) k++;
        return k;
    });
HA_DEVICE_RECORD(body);

HA_KERNEL(axpy, ((value, double, a), (in, double, x), (inout, double, y)), i,
          { y[i] += a * x[i]; });
HA_KERNEL_EXPORT(axpy);
HA_KERNEL(look_up,
          ((uses, half_of), (uses, weights), (uses, search), (bundle, levels, s), (in, double, e),
           (out, double, y), (option, block, 64), (option, grain, 4), (option, contract, 1)),
          i, {
              const int k = level_of(s, e[i]);
              y[i] = k < s.count ? HALF * s.material[k] + weight[k % 3] : -1;
              if (i < HA_SIZE(s.seen)) s.seen[i]++;
              if (i == 0) HA_AT(s.plane, 1, 1) = 3;
          });
HA_KERNEL(transpose, ((in, array_double_2, u), (out, array_double_2, w)), (j, i),
          { HA_AT(w, j, i) = HA_AT(u, i, j); });
HA_KERNEL(number, ((out, array_int_3, w)), (k, j, i),
          { HA_AT(w, k, j, i) = (int)((k * w.extent[1] + j) * w.extent[2] + i); });
HA_KERNEL(flip, ((uses, body), (value, body, b), (inout, body, x)), i, {
    const float was = x[i].x;
    x[i].x = x[i].v + b.x;
    x[i].v = was;
});

/* ---- in a file: all forms ---- */

HA_KERNEL_FILE(compiled, "tests/compile/kernels_file.h");
#include "kernels_file.h"

/* ---- records ---- */

HA_KERNEL_EACH(drift, (bodies, p, "read v, write x"), ((value, float, dt)), at,
               { *sky_x(p, at) += dt * *sky_v(p, at); });
HA_KERNEL_EACH(settle, (field_bodies, p, "overwrite"), (), at, {
    body b;
    b.x = (float)ha_coordinate(at, 0), b.v = (float)ha_coordinate(at, 1);
    field_store(p, at, b);
});
HA_KERNEL(pick, ((use, bodies, p, "read x"), (out, float, x)), i,
          { x[i] = *sky_x(p, sky_at(p, i)); });

/* ---- reductions ---- */

HA_REDUCE(dot, ((in, double, x), (in, double, y)), i, double, HA_SUM, x[i] * y[i]);
HA_REDUCE(product, ((in, int32_t, x)), i, int32_t, HA_PRODUCT, x[i]);
HA_REDUCE(least, ((in, float, x)), i, float, HA_MIN, x[i]);
HA_REDUCE(greatest, ((in, array_double_2, x)), (j, i), double, HA_MAX, HA_AT(x, j, i));
HA_REDUCE(all_bits, ((in, uint32_t, x)), i, uint32_t, HA_AND, x[i]);
HA_REDUCE(any_bits, ((in, uint64_t, x)), i, uint64_t, HA_OR, x[i]);
HA_REDUCE(odd_bits, ((in, int64_t, x)), i, int64_t, HA_XOR, x[i]);
HA_REDUCE(exact, ((in, double, x), (option, contract, 0)), i, double, HA_SUM_EXACT, x[i]);
HA_REDUCE(first_least, ((in, double, x)), i, double, HA_MIN_AT, x[i]);
HA_REDUCE(first_greatest, ((in, array_int_3, x)), (k, j, i), int32_t, HA_MAX_AT, HA_AT(x, k, j, i));

/* ---- teams ---- */

HA_TEAM_KERNEL(histogram, 32, g,
               ((value, int64_t, each), (in, uint8_t, from), (inout, uint32_t, count)), {
                   HA_LOCAL(uint32_t, h, HA_TEAM);
                   HA_PRIVATE(uint32_t, mine);
                   HA_LANES(l) h[l] = 0;
                   HA_LANES(l) {
                       HA_MINE(mine, l) = 0;
                       HA_SHARE(i, l, g * each, HA_LESS((g + 1) * each, HA_SIZE(from))) {
                           ha_local_add(&h[from[i]], 1);
                           HA_MINE(mine, l)++;
                       }
                   }
                   HA_BARRIER();
                   HA_LANES_ALONE(l) if (h[l] != 0) ha_global_add(&count[l], h[l]);
                   HA_BARRIER_LOCAL();
                   HA_LANES_ALONE(l)
                   if (HA_MINE(mine, l) > HA_GREATER(1, 1 << 20)) ha_global_store(&count[l], 0);
               });
HA_TEAM_KERNEL(turn, (4, 8), (gy, gx), ((in, array_float_2, u), (out, array_float_2, w)), {
    HA_LOCAL(float, tile, HA_TEAM_Y *HA_TEAM_X);
    HA_LANES(y, x) tile[y * HA_TEAM_X + x] = HA_AT(u, gy * HA_TEAM_Y + y, gx * HA_TEAM_X + x);
    HA_LANES_ALONE(y, x) HA_AT(w, gx * HA_TEAM_X + x, gy * HA_TEAM_Y + y) = tile[y * HA_TEAM_X + x];
});
HA_TEAM_KERNEL(deep, (2, 2, 4), (c, b, a), ((out, array_int_3, w)), {
    HA_PRIVATE(int, lane);
    HA_LANES(z, y, x) HA_MINE(lane, z, y, x) = (z * HA_TEAM_Y + y) * HA_TEAM_X + x;
    HA_LANES_ALONE(z, y, x)
    HA_AT(w, c * HA_TEAM_Z + z, b * HA_TEAM_Y + y, a * HA_TEAM_X + x) = HA_MINE(lane, z, y, x);
});
HA_TEAM_KERNEL(atomics, 8, g,
               ((inout, int32_t, i), (inout, uint64_t, u), (inout, float, f), (inout, double, d)), {
                   HA_LOCAL(int32_t, h, 8);
                   HA_LANES(l) h[l] = l;
                   HA_LANES(l) {
                       ha_local_sub(&h[0], 1), ha_local_min(&h[1], l), ha_local_max(&h[2], l);
                       ha_local_and(&h[3], 7), ha_local_or(&h[4], 8), ha_local_xor(&h[5], 0);
                       ha_local_exchange(&h[6], l), ha_local_compare_exchange(&h[7], 7, 9);
                       HA_FENCE_LOCAL();
                   }
                   HA_LANES_ALONE(l) {
                       ha_local_store(&h[0], ha_local_load(&h[0]) + (int32_t)g);
                       ha_global_add(&i[0], 1), ha_global_sub(&u[0], 1), ha_global_min(&f[0], 1.0f);
                       ha_global_max(&d[0], 8.0), ha_global_and(&i[1], 7), ha_global_or(&u[1], 8);
                       ha_global_xor(&i[2], 0), ha_global_exchange(&f[1], 2.0f);
                       ha_global_compare_exchange(&u[2], 7, 9);
                       HA_FENCE_GLOBAL();
                       ha_global_store(&d[1], ha_global_load(&d[0]));
                   }
               });

#ifndef __CUDACC__ /* nvcc 13 ends with an internal error where one is in another's operands */
HA_TEAM_KERNEL(nested_atomics, 8, g, ((inout, int32_t, i)), {
    HA_LANES_ALONE(l) {
        ha_global_add(&i[ha_global_add(&i[2], 0)], ha_global_exchange(&i[1], l + (int32_t)g) >= 0);
        ha_global_compare_exchange(&i[ha_global_compare_exchange(&i[2], 1, 1)], -1,
                                   ha_global_compare_exchange(&i[2], 1, 1));
}
});
#endif

/* ---- and all of them called ---- */

static int use_indices(ha_context *context) {
    harray_double x = harray_double_filled(100, 20), y = harray_double_filled(100, 2);
    harray_double none = harray_double_new(0);
    array_double_2 u = array_double_2_zeros(HA_DIM(3, 6), context);
    array_double_2 turned = array_double_2_zeros(HA_DIM(6, 3), context);
    array_int_3 w = array_int_3_zeros(HA_DIM(2, 3, 4), context);
    int failed = axpy(context, HA_ALL_LANES, 2, x, y) != HA_OK;
    failed += axpy_in(context, ha_box1(10, 20), 1, x, y) != HA_OK;
    failed += axpy(context, HA_ALL_LANES, 2, none, y) == HA_OK;
    failed += ha_take_error().status != HA_ERR_ARGUMENT;
    HA_OVERWRITING_ALL(v, u, ha_host()) {
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 6; i++) HA_AT(v.span, j, i) = 10 * j + i;
    }
    else failed++;
    failed += transpose(context, HA_DIM(6, 3), u, turned) != HA_OK;
    failed += number(context, HA_DIM(2, 3, 4), w) != HA_OK;
    failed += number_in(context, ha_box3(0, 1, 0, 1, 0, 1), w) != HA_OK;
    HA_READING(v, y, ha_host()) failed += v.data[9] < 42 || v.data[9] > 42 || v.data[10] < 62;
    else failed++;
    HA_READING(v, turned, ha_host()) failed += HA_AT(v.span, 5, 2) < 25;
    else failed++;
    HA_READING(v, w, ha_host()) failed += HA_AT(v.span, 1, 2, 3) != 23;
    else failed++;
    failed += harray_double_free(&x) != HA_OK || harray_double_free(&y) != HA_OK;
    failed += harray_double_free(&none) != HA_OK;
    failed += array_double_2_free(&u) != HA_OK || array_double_2_free(&turned) != HA_OK;
    return failed + (array_int_3_free(&w) != HA_OK);
}

static int use_parameters(ha_context *context) {
    double energies[] = {1, 2, 4}, wanted[] = {0.5, 1.5, 3, 9};
    int materials[] = {10, 20, 30};
    const body one = {1, 2};
    float x[] = {1, 2};
    harray_double energy = harray_double_wrap(energies, 3), e = harray_double_wrap(wanted, 4);
    harray_int material = harray_int_wrap(materials, 3), seen = harray_int_zeros(2);
    harray_double y = harray_double_new(4);
    harray_float z = harray_float_wrap(x, 2);
    harray_body b = harray_body_filled(2, one);
    array_float_2 plane = array_float_2_zeros(HA_DIM(2, 2), context);
    const levels s = {energy, material, seen, plane, 3};
    int failed = look_up(context, HA_ALL_LANES, s, e, y) != HA_OK;
    failed += flip(context, HA_ALL_LANES, one, b) != HA_OK;
    failed += doubled(context, HA_ALL_LANES, z) != HA_OK;
    HA_READING(v, y, ha_host()) failed += v.data[2] < 15.25 || v.data[2] > 15.25;
    else failed++;
    HA_READING(v, seen, ha_host()) failed += v.data[0] != 1 || v.data[1] != 1;
    else failed++;
    HA_READING(v, plane, ha_host()) failed += HA_AT(v.span, 1, 1) < 3;
    else failed++;
    HA_READING(v, b, ha_host()) failed += v.data[1].x < 3 || v.data[1].v > 1;
    else failed++;
    failed += harray_float_unwrap(&z) != HA_OK || x[1] < 4;
    failed += harray_double_free(&energy) != HA_OK || harray_double_free(&e) != HA_OK;
    failed += harray_int_free(&material) != HA_OK || harray_int_free(&seen) != HA_OK;
    failed += harray_double_free(&y) != HA_OK || harray_body_free(&b) != HA_OK;
    return failed + (array_float_2_free(&plane) != HA_OK);
}

static int use_records(ha_context *context) {
    const body one = {1, 2};
    body found;
    bodies r = bodies_new(5);
    field_bodies f = field_bodies_new(HA_DIM(2, 3));
    harray_float x = harray_float_new(5);
    int failed = ha_records_layout(r.records, context, "soa") != HA_OK;
    for (int64_t i = 0; i < 5; i++) failed += bodies_set(r, i, one) != HA_OK;
    failed += drift(context, r, 0.5f) != HA_OK;
    failed += drift_in(context, ha_box1(1, 2), r, 0.5f) != HA_OK;
    failed += settle(context, f) != HA_OK;
    failed += pick(context, HA_ALL_LANES, r, x) != HA_OK;
    failed += slow_down(context, r, 0.5f) != HA_OK;
    failed += field_bodies_get(f, HA_DIM(1, 2), &found) != HA_OK || found.x < 1 || found.v < 2;
    HA_READING(v, x, ha_host()) failed += v.data[0] > 2 || v.data[1] < 3;
    else failed++;
    failed += bodies_free(&r) != HA_OK || field_bodies_free(&f) != HA_OK;
    return failed + (harray_float_free(&x) != HA_OK);
}

static int use_reductions(ha_context *context) {
    harray_double x = harray_double_filled(100, 3), into = harray_double_zeros(2);
    harray_float floats = harray_float_filled(100, 3);
    harray_int32_t ints = harray_int32_t_filled(3, 3);
    harray_int64_t longs = harray_int64_t_filled(3, 3);
    harray_uint32_t words = harray_uint32_t_filled(3, 3);
    harray_uint64_t wide = harray_uint64_t_filled(3, 3);
    array_double_2 plane = array_double_2_filled(HA_DIM(5, 5), 3, context);
    array_int_3 cube = array_int_3_filled(HA_DIM(2, 2, 2), 3, context);
    double a = 0, b = 0;
    float c = 0;
    int32_t d = 0;
    uint32_t e = 0;
    uint64_t f = 0;
    int64_t g = 0;
    first_least_result h;
    first_greatest_result k;
    difference_result far;
    int failed = dot(context, HA_ALL_LANES, x, x, &a) != HA_OK || a < 900 || a > 900;
    failed += dot_in(context, ha_box1(0, 10), x, x, &a) != HA_OK || a < 90 || a > 90;
    failed += dot_into(context, HA_ALL_LANES, x, x, into, 0) != HA_OK;
    failed += dot_in_into(context, ha_box1(0, 10), x, x, into, 1) != HA_OK;
    failed += exact(context, HA_ALL_LANES, x, &b) != HA_OK || b < 300 || b > 300;
    failed += product(context, HA_ALL_LANES, ints, &d) != HA_OK || d != 27;
    failed += least(context, HA_ALL_LANES, floats, &c) != HA_OK || c < 3 || c > 3;
    failed += difference(context, HA_ALL_LANES, floats, floats, &far) != HA_OK || far.at != 0;
    failed += greatest(context, HA_DIM(5, 5), plane, &a) != HA_OK || a < 3 || a > 3;
    failed += all_bits(context, HA_ALL_LANES, words, &e) != HA_OK || e != 3;
    failed += any_bits(context, HA_ALL_LANES, wide, &f) != HA_OK || f != 3;
    failed += odd_bits(context, HA_ALL_LANES, longs, &g) != HA_OK || g != 3;
    failed += first_least(context, HA_ALL_LANES, x, &h) != HA_OK || h.at != 0 || h.value < 3;
    failed += first_greatest(context, HA_DIM(2, 2, 2), cube, &k) != HA_OK || k.at || k.value != 3;
    HA_READING(v, into, ha_host()) failed += v.data[0] < 900 || v.data[1] < 90 || v.data[1] > 90;
    else failed++;
    failed += harray_double_free(&x) != HA_OK || harray_double_free(&into) != HA_OK;
    failed += harray_float_free(&floats) != HA_OK || harray_int32_t_free(&ints) != HA_OK;
    failed += harray_int64_t_free(&longs) != HA_OK || harray_uint32_t_free(&words) != HA_OK;
    failed += harray_uint64_t_free(&wide) != HA_OK || array_double_2_free(&plane) != HA_OK;
    return failed + (array_int_3_free(&cube) != HA_OK);
}

static int use_teams(ha_context *context) {
    const int64_t n = 1000, each = 100;
    harray_uint8_t from = harray_uint8_t_filled((size_t)n, 5);
    harray_uint32_t count = harray_uint32_t_zeros(32);
    array_float_2 u = array_float_2_filled(HA_DIM(8, 16), 1, context);
    array_float_2 w = array_float_2_zeros(HA_DIM(16, 8), context);
    array_int_3 cube = array_int_3_zeros(HA_DIM(4, 4, 4), context);
    harray_int32_t i = harray_int32_t_zeros(3);
    harray_uint64_t k = harray_uint64_t_filled(3, 7);
    harray_float f = harray_float_zeros(2);
    harray_double d = harray_double_zeros(2);
    int failed = histogram(context, HA_TEAMS(each, n), each, from, count) != HA_OK;
    failed += histogram_in(context, ha_box1(0, 1), each, from, count) != HA_OK;
    failed += turn(context, HA_DIM(2, 2), u, w) != HA_OK;
    failed += turned_over(context, HA_DIM(2, 2), w) != HA_OK;
    failed += turned_over(context, HA_DIM(2, 2), w) != HA_OK;
    failed += deep(context, HA_DIM(2, 2, 1), cube) != HA_OK;
    failed += atomics(context, 4, i, k, f, d) != HA_OK;
    HA_READING(v, count, ha_host()) failed += v.data[5] != 1100 || v.data[0] != 0;
    else failed++;
    HA_READING(v, w, ha_host()) failed += HA_AT(v.span, 15, 7) < 1;
    else failed++;
    HA_READING(v, cube, ha_host()) failed += HA_AT(v.span, 3, 3, 3) != 15;
    else failed++;
    HA_READING(v, i, ha_host()) failed += v.data[0] != 32;
    else failed++;
#ifndef __CUDACC__
    failed += nested_atomics(context, 1, i) != HA_OK;
    HA_READING(v, i, ha_host()) failed += v.data[0] != 40 || v.data[2] != 0;
    else failed++;
#endif
    HA_READING(v, k, ha_host()) failed += v.data[1] != 15 || v.data[2] != 9;
    else failed++;
    HA_READING(v, d, ha_host()) failed += v.data[1] < 8;
    else failed++;
    failed += harray_uint8_t_free(&from) != HA_OK || harray_uint32_t_free(&count) != HA_OK;
    failed += array_float_2_free(&u) != HA_OK || array_float_2_free(&w) != HA_OK;
    failed += array_int_3_free(&cube) != HA_OK || harray_int32_t_free(&i) != HA_OK;
    failed += harray_uint64_t_free(&k) != HA_OK || harray_float_free(&f) != HA_OK;
    return failed + (harray_double_free(&d) != HA_OK);
}

HA_OPS(double);

/* Operations in the arguments of others, as expressions of programs are: none hides a name of another one. */
static int use_nested_operations(ha_context *context) {
    harray_double x = harray_double_filled(12, 2), y = harray_double_zeros(12);
    array_double_2 u = array_double_2_filled(HA_DIM(3, 4), 3, context);
    const double one = 1;
    double sum = 0;
    int failed = 0;
    HA_CHECK(ha_map(HA_SQUARE, y,
                    darray_slice(HA_DARRAY(darray_flip(HA_DARRAY(x), 0)), 0, 0, 12, 1), context));
    HA_CHECK(ha_axpy(darray_slice(HA_DARRAY(y), 0, 0, 4, 1), 1 + one,
                     darray_fix(HA_DARRAY(array_double_2_reading(u)), 0, 1), context));
    HA_CHECK(ha_axpby(y, one + !ha_reduce(HA_SUM, darray_fix(HA_DARRAY(u), 1, 0), &sum, context), y,
                      ha_dvalue_equal(HA_DVALUE(one), HA_DVALUE(1)), harray_double_reading(x),
                      context));
    HA_CHECK(darray_fill(darray_fix(HA_DARRAY(darray_transpose(HA_DARRAY(u))), 0, 0),
                         HA_DVALUE(ha_dvalue_equal(HA_DVALUE(1), HA_DVALUE(one)) + 1), context));
    HA_READING(v, HA_DARRAY(darray_slice(HA_DARRAY(y), 0, 0, 5, 1)), ha_host())
    HA_READING(w, HA_DARRAY(u), ha_host()) {
        const double *const of_y = (const double *)v.data, *const of_u = (const double *)w.data;
        failed += of_y[3] != 22 || of_y[4] != 10 || of_u[8] != 2 || of_u[9] != 3;
    }
    else failed++;
    else failed++;
    failed += sum != 9;
    HA_CHECK(harray_double_axpy(y, one, x, context));
    HA_IGNORE(harray_double_dot(y, harray_double_from(NULL), &sum, context));
    failed += strstr(ha_take_error().text, __FILE__ ":") == NULL; /* the line of its caller */
    failed += harray_double_free(&x) != HA_OK || harray_double_free(&y) != HA_OK;
    return failed + (array_double_2_free(&u) != HA_OK);
}

/* Arrays of all kinds, and numbers of any type. */
static int use_operations(ha_context *context) {
    harray_float x = harray_float_filled(100, 4), y = harray_float_zeros(100);
    array_float_2 u = array_float_2_filled(HA_DIM(8, 16), 1, context);
    const int64_t two = 2;
    int failed = ha_map(HA_SQRT, y, x, context) != HA_OK;
    failed += ha_axpy(y, two, x, context) != HA_OK;
    failed += ha_axpby(x, 1.5, x, ha_half_of_float(0), y, context) != HA_OK;
    failed += ha_combine(HA_MAXIMUM, y, y, x, context) != HA_OK;
    failed += ha_combine_number(HA_MULTIPLY, u, u, 3u, context) != HA_OK;
    failed += ha_clip(u, u, -1, 2.5f, context) != HA_OK;
    HA_READING(v, y, ha_host()) failed += v.data[99] != 10;
    else failed++;
    HA_READING(v, u, ha_host()) failed += HA_AT(v.span, 7, 15) != 2.5f;
    else failed++;
    float sum = 0;
    double norm = 0;
    int32_t count = 0;
    harray_uint8_t mask = harray_uint8_t_zeros(100);
    failed += ha_reduce(HA_SUM, y, &sum, context) != HA_OK || sum != 1000;
    failed += ha_norm(HA_NORM_2, y, &norm, context) != HA_OK || norm != 100;
    failed += ha_difference(HA_NORM_MAX, y, y, &norm, context) != HA_OK || norm != 0;
    failed += ha_dot(x, y, &sum, context) != HA_OK || sum != 6000;
    failed += ha_sequence(x, 1, 1, context) != HA_OK;
    failed += ha_combine_number(HA_IS_GREATER, mask, x, 90, context) != HA_OK;
    failed += ha_count(mask, &count, context) != HA_OK || count != 10;
    failed += ha_where(x, mask, x, y, context) != HA_OK;
    failed += ha_reduce(HA_MIN_AT, x, &count, context) != HA_OK || count != 0;
    failed += ha_random(x, 7, context) != HA_OK;
    failed += harray_uint8_t_free(&mask) != HA_OK;
    failed += harray_float_free(&x) != HA_OK || harray_float_free(&y) != HA_OK;
    return failed + (array_float_2_free(&u) != HA_OK);
}

int use_kernels(ha_context *context) {
    char text[200];
    int failed = ha_kernel_place(&axpy_kernel, context, text, sizeof text) == 0;
    failed += ha_kernel_log(&axpy_kernel, context, text, sizeof text) != 0;
    failed += ha_kernels_precompile("nothing", "nowhere") != HA_ERR_ARGUMENT;
    failed += ha_take_error().status != HA_ERR_ARGUMENT;
    failed += use_indices(context) + use_parameters(context) + use_records(context);
    return failed + use_reductions(context) + use_teams(context) + use_operations(context) +
           use_nested_operations(context);
}
