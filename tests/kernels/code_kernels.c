/* Kernels of every form that compute a * x + y, each without and (_fused) with (option, contract, 1). Compiled and
 * looked at by test_kernel_code.py; and run, as it is a program as well:
 *
 *     code_kernels      prints for each kernel in how many lanes the bits are not those of a product that was
 *                       rounded and then added to; fails when there are some without the option */
#include "harray_kernels.h"

#include <stdio.h>

typedef struct point {
    double x, y, z;
} point;
#define point_FIELDS (double, x), (double, y), (double, z)
HA_RECORD(point)
HA_VIEW(cloud, point, 1, HA_ANY)
HA_RECORDS(points, cloud);

/* The parameters of most; HA_BARE_ takes them out of their parentheses. */
#define GIVEN (value, double, a), (in, double, x), (in, double, y), (out, double, z)
#define FUSED (option, contract, 1)

HA_BUNDLE(line, (value, double, a), (in, double, x), (in, double, y));
HA_DEVICE_CODE(
    helpers,
    HA_FN double sum_of(double a, double x, double y) {
        return a * x + y;
    } HA_FN double at_of(ha_seen_line s, ptrdiff_t i) { return s.a * s.x[i] + s.y[i]; });

/* ---- each form, without and with contraction ---- */

HA_KERNEL(plain, (GIVEN), i, { z[i] = a * x[i] + y[i]; });
HA_KERNEL(plain_fused, (GIVEN, FUSED), i, { z[i] = a * x[i] + y[i]; });

HA_KERNEL(stepwise, (GIVEN), i, {
    const double product = a * x[i];
    z[i] = product + y[i];
});
HA_KERNEL(stepwise_fused, (GIVEN, FUSED), i, {
    const double product = a * x[i];
    z[i] = product + y[i];
});

HA_KERNEL(grid,
          ((value, double, a), (in, array_double_2, x), (in, array_double_2, y),
           (out, array_double_2, z)),
          (j, i), { HA_AT(z, j, i) = a * HA_AT(x, j, i) + HA_AT(y, j, i); });
HA_KERNEL(grid_fused,
          ((value, double, a), (in, array_double_2, x), (in, array_double_2, y),
           (out, array_double_2, z), FUSED),
          (j, i), { HA_AT(z, j, i) = a * HA_AT(x, j, i) + HA_AT(y, j, i); });

HA_KERNEL(helped, ((uses, helpers), GIVEN), i, { z[i] = sum_of(a, x[i], y[i]); });
HA_KERNEL(bundled, ((uses, helpers), (bundle, line, s), (out, double, z)), i,
          { z[i] = at_of(s, i); });

HA_KERNEL(turned, ((value, ha_c128, a), (in, c128, x), (out, c128, z)), i,
          { z[i] = ha_c128_mul(a, x[i]); });
HA_KERNEL(divided, ((value, ha_c128, a), (in, c128, x), (out, c128, z)), i,
          { z[i] = ha_c128_div(a, x[i]); });

HA_KERNEL_EACH(each, (points, p, "read x+y, write z"), ((value, double, a)), at,
               { *cloud_z(p, at) = a * *cloud_x(p, at) + *cloud_y(p, at); });
HA_KERNEL_EACH(each_fused, (points, p, "read x+y, write z"), ((value, double, a), FUSED), at,
               { *cloud_z(p, at) = a * *cloud_x(p, at) + *cloud_y(p, at); });

HA_TEAM_KERNEL(team, 8, g, (GIVEN), {
    HA_LOCAL(double, product, HA_TEAM);
    HA_LANES(l) product[l] = a * x[g * HA_TEAM + l] + y[g * HA_TEAM + l];
    HA_LANES_ALONE(l) z[g * HA_TEAM + l] = product[l];
});
HA_TEAM_KERNEL(team_fused, 8, g, (GIVEN, FUSED), {
    HA_LOCAL(double, product, HA_TEAM);
    HA_LANES(l) product[l] = a * x[g * HA_TEAM + l] + y[g * HA_TEAM + l];
    HA_LANES_ALONE(l) z[g * HA_TEAM + l] = product[l];
});

HA_REDUCE(total, ((value, double, a), (in, double, x), (in, double, y)), i, double, HA_SUM,
          a *x[i] + y[i]);
HA_REDUCE(total_fused, ((value, double, a), (in, double, x), (in, double, y), FUSED), i, double,
          HA_SUM, a *x[i] + y[i]);
HA_REDUCE(dot, ((in, double, x), (in, double, y)), i, double, HA_SUM, x[i] * y[i]);
HA_REDUCE(dot_fused, ((in, double, x), (in, double, y), FUSED), i, double, HA_SUM, x[i] * y[i]);
HA_REDUCE(exact, ((in, double, x), (in, double, y)), i, double, HA_SUM_EXACT, x[i] * y[i]);
HA_REDUCE(greatest, ((value, double, a), (in, double, x), (in, double, y)), i, double, HA_MAX_AT,
          a *x[i] + y[i]);

/* Records: with optimisation no layout is looked for in a lane, so there are no calls of this function. */
#ifdef __cplusplus
extern "C"
#endif
    void
    layout_looked_for(void);
HA_DEVICE_CODE(
    checked, HA_FN double nothing_of(cloud v) {
        if (!__builtin_constant_p(v.as)) layout_looked_for();
        return 0;
    });
HA_TEAM_KERNEL(team_of_records, 8, g,
               ((uses, checked), (use, points, p, "read x+y, write z"), (value, double, a)), {
                   HA_LANES_ALONE(l) {
                       const ha_cursor at = cloud_at(p, g * HA_TEAM + l);
                       *cloud_z(p, at) = nothing_of(p) + (a * *cloud_x(p, at) + *cloud_y(p, at));
}
});
HA_REDUCE(total_of_records, ((uses, checked), (use, points, p, "read x+y"), (value, double, a)), i,
          double, HA_SUM,
          nothing_of(p) + (a * *cloud_x(p, cloud_at(p, i)) + *cloud_y(p, cloud_at(p, i))));
HA_KERNEL(lane_of_records,
          ((uses, checked), (use, points, p, "read x+y, write z"), (value, double, a)), i, {
              const ha_cursor at = cloud_at(p, i);
              *cloud_z(p, at) = nothing_of(p) + (a * *cloud_x(p, at) + *cloud_y(p, at));
          });

/* A file of them is told to clang for what comes behind as well; this is how the command line's own comes back. */
HA_KERNEL_FILE(code_file, "tests/kernels/code_kernels_file.h");
#include "code_kernels_file.h"
#ifdef __clang__
#pragma STDC FP_CONTRACT DEFAULT
#endif

/* ---- what the kernels are to leave alone: the user's own code, between them and behind ---- */

#ifdef __cplusplus
extern "C"
#endif
    double
    users_own(double a, double x, double y);
double users_own(double a, double x, double y) { return a * x + y; }

/* ---- as a program ---- */

enum { LANES = 1000, SUMS = 16, SUMMED = 3 * SUMS };
static double given_x[LANES], given_y[LANES], rounded[LANES];
static const double A = 1.0 / 3;

static volatile int looked_for;
__attribute__((__noinline__)) void layout_looked_for(void) { looked_for++; }

static double next(void) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0;
}

/* What is stored in it has been rounded. */
static double product_of(double a, double b) {
    volatile double product = a * b;
    return product;
}
static double sum_of_rounded(double a, double b) {
    volatile double sum = a + b;
    return sum;
}

/* SUMMED numbers in the order that reduce.h tells. */
static double reduced(const double *of) {
    double sum[SUMS];
    for (int i = 0; i < SUMMED; i++)
        sum[i % SUMS] = i < SUMS ? of[i] : sum_of_rounded(sum[i % SUMS], of[i]);
    for (int d = SUMS / 2; d > 0; d /= 2)
        for (int l = 0; l < d; l++) sum[l] = sum_of_rounded(sum[l], sum[l + d]);
    return sum[0];
}

static int differ(const double *z) {
    int count = 0;
    for (int i = 0; i < LANES; i++) count += z[i] != rounded[i];
    return count;
}

static int failed;

static void told(const char *name, ha_status status, int lanes) {
    failed |= status != HA_OK || (lanes != 0 && !strstr(name, "_fused"));
    printf("%s %d\n", name, status == HA_OK ? lanes : -1);
}

static void tell(const char *name, ha_status status, harray_double z) {
    HA_READING(v, z, ha_host()) told(name, status, differ(v.data));
    else told(name, HA_ERR_STATE, 0);
}

static void lanes(harray_double x, harray_double y, harray_double z) {
    ha_context *const host = ha_host();
    line s;
    s.a = A, s.x = x, s.y = y;
#define RUN(name, ...) tell(#name, name(host, __VA_ARGS__, z), z)
    RUN(plain, LANES, A, x, y);
    RUN(plain_fused, LANES, A, x, y);
    RUN(stepwise, LANES, A, x, y);
    RUN(stepwise_fused, LANES, A, x, y);
    RUN(helped, LANES, A, x, y);
    RUN(bundled, LANES, s);
    RUN(team, HA_TEAMS(8, LANES), A, x, y);
    RUN(team_fused, HA_TEAMS(8, LANES), A, x, y);
    RUN(filed, LANES, A, x, y);
    RUN(filed_fused, LANES, A, x, y);
    RUN(filed_helped, LANES, A, x, y);
    RUN(in_file_team, HA_TEAMS(8, LANES), A, x, y);
    RUN(in_file_team_fused, HA_TEAMS(8, LANES), A, x, y);
}

/* Of each SUMMED lanes that follow each other. */
#define RUN_SUMS(name, of, ...)                                                                    \
    do {                                                                                           \
        int others = 0;                                                                            \
        ha_status of_all = HA_OK;                                                                  \
        for (int i = 0; !of_all && i + SUMMED <= LANES; i++) {                                     \
            double of_these = 0;                                                                   \
            of_all = name##_in(ha_host(), ha_box1(i, i + SUMMED), __VA_ARGS__, &of_these);         \
            others += of_these != reduced(&(of)[i]);                                               \
        }                                                                                          \
        told(#name, of_all, others);                                                               \
    } while (0)

static void sums(harray_double x, harray_double y) {
    double products[LANES], sum = 0;
    for (int i = 0; i < LANES; i++) products[i] = product_of(given_x[i], given_y[i]);
    RUN_SUMS(total, rounded, A, x, y);
    RUN_SUMS(total_fused, rounded, A, x, y);
    RUN_SUMS(in_file_total, rounded, A, x, y);
    RUN_SUMS(dot, products, x, y);
    RUN_SUMS(dot_fused, products, x, y);
    greatest_result most;
    ha_status s = greatest(ha_host(), LANES, A, x, y, &most);
    told("greatest", s, s != HA_OK || most.value != rounded[most.at]);
    s = exact(ha_host(), LANES, x, y, &sum);
    told("exact", s, !(sum > 0)); /* only looked at, and so is the one of quotients */
}

static void grids(void) {
    array_double_2 x = array_double_2_new(HA_DIM(10, LANES / 10), NULL);
    array_double_2 y = array_double_2_new(HA_DIM(10, LANES / 10), NULL);
    array_double_2 z = array_double_2_new(HA_DIM(10, LANES / 10), NULL);
    HA_OVERWRITING_ALL(v, x, ha_host()) memcpy(v.span.data, given_x, sizeof given_x);
    HA_OVERWRITING_ALL(v, y, ha_host()) memcpy(v.span.data, given_y, sizeof given_y);
    ha_status s = grid(ha_host(), HA_DIM(10, LANES / 10), A, x, y, z);
    HA_READING(v, z, ha_host()) told("grid", s, differ(v.span.data));
    s = grid_fused(ha_host(), HA_DIM(10, LANES / 10), A, x, y, z);
    HA_READING(v, z, ha_host()) told("grid_fused", s, differ(v.span.data));
    array_double_2_free(&x), array_double_2_free(&y), array_double_2_free(&z);
}

static void records(const char *layout) {
    points r = points_new(LANES);
    double z[LANES];
    ha_status s = ha_records_layout(r.records, ha_host(), layout);
    HA_USING(v, r, ha_host(), "overwrite")
    HA_EACH(cloud, v, at) {
        *cloud_x(v, at) = given_x[ha_index(at)], *cloud_y(v, at) = given_y[ha_index(at)];
        *cloud_z(v, at) = 0;
    }
    if (!s) s = each(ha_host(), r, A);
    HA_USING(v, r, ha_host(), "read z") HA_EACH(cloud, v, at) z[ha_index(at)] = *cloud_z(v, at);
    told("each", s, differ(z));
    s = each_fused(ha_host(), r, A);
    HA_USING(v, r, ha_host(), "read z") HA_EACH(cloud, v, at) z[ha_index(at)] = *cloud_z(v, at);
    told("each_fused", s, differ(z));
    s = in_file_each(ha_host(), r, 2 * A);
    s = s ? s : in_file_each(ha_host(), r, A);
    HA_USING(v, r, ha_host(), "read z") HA_EACH(cloud, v, at) z[ha_index(at)] = *cloud_z(v, at);
    told("in_file_each", s, differ(z));
    s = team_of_records(ha_host(), HA_TEAMS(8, LANES), r, A);
    HA_USING(v, r, ha_host(), "read z") HA_EACH(cloud, v, at) z[ha_index(at)] = *cloud_z(v, at);
    told("team_of_records", s, differ(z));
    s = lane_of_records(ha_host(), LANES, r, 2 * A);
    s = s ? s : lane_of_records(ha_host(), LANES, r, A);
    HA_USING(v, r, ha_host(), "read z") HA_EACH(cloud, v, at) z[ha_index(at)] = *cloud_z(v, at);
    told("lane_of_records", s, differ(z));
    RUN_SUMS(total_of_records, rounded, r, A);
    points_free(&r);
}

static void complexes(harray_c128 x, harray_c128 z) {
    const ha_c128 a = ha_c128_make(A, 1 - A);
    const ha_status s = turned(ha_host(), LANES, a, x, z);
    int count = 0;
    HA_READING(v, z, ha_host())
    for (int i = 0; i < LANES; i++) {
        const double u = given_x[i], w = given_y[i];
        count += v.data[i].re != sum_of_rounded(product_of(a.re, u), -product_of(a.im, w)) ||
                 v.data[i].im != sum_of_rounded(product_of(a.re, w), product_of(a.im, u));
    }
    told("turned", s, count);
}

int main(void) {
    harray_double x = harray_double_new(LANES), y = harray_double_new(LANES),
                  z = harray_double_new(LANES);
    harray_c128 c = harray_c128_new(LANES), d = harray_c128_new(LANES);
    for (int i = 0; i < LANES; i++) {
        given_x[i] = next(), given_y[i] = next();
        rounded[i] = sum_of_rounded(product_of(A, given_x[i]), given_y[i]);
    }
    HA_OVERWRITING_ALL(v, x, ha_host()) memcpy(v.data, given_x, sizeof given_x);
    HA_OVERWRITING_ALL(v, y, ha_host()) memcpy(v.data, given_y, sizeof given_y);
    HA_OVERWRITING_ALL(v, c, ha_host())
    for (int i = 0; i < LANES; i++) v.data[i] = ha_c128_make(given_x[i], given_y[i]);
    lanes(x, y, z);
    sums(x, y);
    grids();
    records("aos");
    records("soa");
    records("aosoa(8)");
    complexes(c, d);
    told("divided", divided(ha_host(), LANES, ha_c128_make(1, A), c, d), 0);
    harray_double_free(&x), harray_double_free(&y), harray_double_free(&z);
    harray_c128_free(&c), harray_c128_free(&d);
    HA_CHECK_ERRORS();
    return failed;
}
