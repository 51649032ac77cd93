/* n-body as a team kernel against the same blocking written by hand: on the host over plain arrays and over records
 * in several layouts, and on the first OpenCL device beside OpenCL C and OpenCL's own calls, if there is one.
 *
 * A team copies 64 bodies at a time into local memory, and each lane adds up what they do to its own body. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../harray_kernels.h"

#include "../tests/support/opencl_device.h"
#include "bench.h"

enum { TEAM = 64, BODIES = 2048 };

typedef struct body {
    struct {
        float x, y, z;
    } pos, vel;
    float mass;
} body;
#define body_FIELDS                                                                                \
    (float, pos, x), (float, pos, y), (float, pos, z), (float, vel, x), (float, vel, y),           \
        (float, vel, z), (float, mass)
HA_RECORD(body)
HA_VIEW(sky, body, 1, HA_ANY)
HA_RECORDS(bodies, sky);

/* ---- by hand ------------------------------------------------------------------------------------ */

#define SOFTENING 0.01f
#define STEP 1e-9f

/* x, y, z, velocities, mass: an array each. n is a multiple of TEAM. */
__attribute__((noinline)) static void attract_by_hand(int64_t n, float *const *field) {
    const float *restrict x = field[0], *restrict y = field[1], *restrict z = field[2],
                          *restrict mass = field[6];
    float *restrict vx = field[3], *restrict vy = field[4], *restrict vz = field[5];
    for (int64_t block = 0; block < n; block += TEAM) {
        float ax[TEAM] = {0}, ay[TEAM] = {0}, az[TEAM] = {0}, hx[TEAM], hy[TEAM], hz[TEAM];
        for (int l = 0; l < TEAM; l++)
            hx[l] = x[block + l], hy[l] = y[block + l], hz[l] = z[block + l];
        for (int64_t first = 0; first < n; first += TEAM)
            for (int k = 0; k < TEAM; k++) {
                const float tx = x[first + k], ty = y[first + k], tz = z[first + k];
                const float m = mass[first + k];
                for (int l = 0; l < TEAM; l++) {
                    const float dx = tx - hx[l], dy = ty - hy[l], dz = tz - hz[l];
                    const float square = dx * dx + dy * dy + dz * dz + SOFTENING;
                    const float pull = m / (square * square);
                    ax[l] += pull * dx;
                    ay[l] += pull * dy;
                    az[l] += pull * dz;
                }
            }
        for (int l = 0; l < TEAM; l++) {
            vx[block + l] += STEP * ax[l];
            vy[block + l] += STEP * ay[l];
            vz[block + l] += STEP * az[l];
        }
    }
}

static const char opencl_text[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n"
    "void attract(long n, __global const float *x, __global const float *y, __global const float "
    "*z,\n"
    "             __global float *vx, __global float *vy, __global float *vz,\n"
    "             __global const float *mass) {\n"
    "    __local float tx[64], ty[64], tz[64], m[64];\n"
    "    const long i = get_global_id(0);\n"
    "    const int l = get_local_id(0);\n"
    "    const float hx = x[i], hy = y[i], hz = z[i];\n"
    "    float ax = 0, ay = 0, az = 0;\n"
    "    for (long first = 0; first < n; first += 64) {\n"
    "        tx[l] = x[first + l]; ty[l] = y[first + l]; tz[l] = z[first + l];\n"
    "        m[l] = mass[first + l];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        for (int k = 0; k < 64; k++) {\n"
    "            const float dx = tx[k] - hx, dy = ty[k] - hy, dz = tz[k] - hz;\n"
    "            const float square = dx * dx + dy * dy + dz * dz + 0.01f;\n"
    "            const float pull = m[k] / (square * square);\n"
    "            ax += pull * dx; ay += pull * dy; az += pull * dz;\n"
    "        }\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    }\n"
    "    vx[i] += 1e-9f * ax; vy[i] += 1e-9f * ay; vz[i] += 1e-9f * az;\n"
    "}\n";

/* ---- as kernels --------------------------------------------------------------------------------- */

HA_DEVICE_CONST(softening, SOFTENING);
HA_DEVICE_CONST(step, STEP);

HA_TEAM_KERNEL(attract, 64, g,
               ((uses, softening), (uses, step), (in, float, x), (in, float, y), (in, float, z),
                (inout, float, vx), (inout, float, vy), (inout, float, vz), (in, float, mass)),
               {
                   HA_LOCAL(float, tx, HA_TEAM);
                   HA_LOCAL(float, ty, HA_TEAM);
                   HA_LOCAL(float, tz, HA_TEAM);
                   HA_LOCAL(float, m, HA_TEAM);
                   HA_PRIVATE(float, hx);
                   HA_PRIVATE(float, hy);
                   HA_PRIVATE(float, hz);
                   HA_PRIVATE(float, ax);
                   HA_PRIVATE(float, ay);
                   HA_PRIVATE(float, az);
                   HA_LANES_ALONE(l) {
                       const ptrdiff_t i = g * HA_TEAM + l;
                       HA_MINE(hx, l) = x[i];
                       HA_MINE(hy, l) = y[i];
                       HA_MINE(hz, l) = z[i];
                       HA_MINE(ax, l) = HA_MINE(ay, l) = HA_MINE(az, l) = 0;
                   }
                   for (ptrdiff_t first = 0; first < HA_SIZE(x); first += HA_TEAM) {
                       HA_LANES(l) {
                           const ptrdiff_t i = first + l;
                           tx[l] = x[i];
                           ty[l] = y[i];
                           tz[l] = z[i];
                           m[l] = mass[i];
                       }
                       for (int k = 0; k < HA_TEAM; k++) HA_LANES_ALONE(l) {
                               const float dx = tx[k] - HA_MINE(hx, l), dy = ty[k] - HA_MINE(hy, l);
                               const float dz = tz[k] - HA_MINE(hz, l);
                               const float square = dx * dx + dy * dy + dz * dz + SOFTENING;
                               const float pull = m[k] / (square * square);
                               HA_MINE(ax, l) += pull * dx;
                               HA_MINE(ay, l) += pull * dy;
                               HA_MINE(az, l) += pull * dz;
                           }
                       HA_BARRIER();
                   }
                   HA_LANES_ALONE(l) {
                       const ptrdiff_t i = g * HA_TEAM + l;
                       vx[i] += STEP * HA_MINE(ax, l);
                       vy[i] += STEP * HA_MINE(ay, l);
                       vz[i] += STEP * HA_MINE(az, l);
                   }
               });

HA_TEAM_KERNEL(pull, 64, g,
               ((uses, softening), (uses, step), (use, bodies, p, "read pos+mass, write vel")), {
                   HA_LOCAL(float, tx, HA_TEAM);
                   HA_LOCAL(float, ty, HA_TEAM);
                   HA_LOCAL(float, tz, HA_TEAM);
                   HA_LOCAL(float, m, HA_TEAM);
                   HA_PRIVATE(float, hx);
                   HA_PRIVATE(float, hy);
                   HA_PRIVATE(float, hz);
                   HA_PRIVATE(float, ax);
                   HA_PRIVATE(float, ay);
                   HA_PRIVATE(float, az);
                   HA_LANES_ALONE(l) {
                       const ptrdiff_t i = g * HA_TEAM + l;
                       HA_MINE(hx, l) = *sky_pos_x(p, sky_at(p, i));
                       HA_MINE(hy, l) = *sky_pos_y(p, sky_at(p, i));
                       HA_MINE(hz, l) = *sky_pos_z(p, sky_at(p, i));
                       HA_MINE(ax, l) = HA_MINE(ay, l) = HA_MINE(az, l) = 0;
                   }
                   for (ptrdiff_t first = 0; first < p.count; first += HA_TEAM) {
                       HA_LANES(l) {
                           const ptrdiff_t i = first + l;
                           tx[l] = *sky_pos_x(p, sky_at(p, i));
                           ty[l] = *sky_pos_y(p, sky_at(p, i));
                           tz[l] = *sky_pos_z(p, sky_at(p, i));
                           m[l] = *sky_mass(p, sky_at(p, i));
                       }
                       for (int k = 0; k < HA_TEAM; k++) HA_LANES_ALONE(l) {
                               const float dx = tx[k] - HA_MINE(hx, l), dy = ty[k] - HA_MINE(hy, l);
                               const float dz = tz[k] - HA_MINE(hz, l);
                               const float square = dx * dx + dy * dy + dz * dz + SOFTENING;
                               const float pull = m[k] / (square * square);
                               HA_MINE(ax, l) += pull * dx;
                               HA_MINE(ay, l) += pull * dy;
                               HA_MINE(az, l) += pull * dz;
                           }
                       HA_BARRIER();
                   }
                   HA_LANES_ALONE(l) {
                       const ptrdiff_t i = g * HA_TEAM + l;
                       *sky_vel_x(p, sky_at(p, i)) += STEP * HA_MINE(ax, l);
                       *sky_vel_y(p, sky_at(p, i)) += STEP * HA_MINE(ay, l);
                       *sky_vel_z(p, sky_at(p, i)) += STEP * HA_MINE(az, l);
                   }
               });

/* ---- timing ------------------------------------------------------------------------------------- */

enum { X, Y, Z, VX, VY, VZ, MASS, FIELDS };

typedef struct work {
    ha_context *where;
    harray_float field[FIELDS];
    bodies records;
    float *by_hand[FIELDS];
} work;

/* As different as bodies are, and the same everywhere. */
static float start_of(int field, int i) {
    const uint32_t bits = ((uint32_t)i * FIELDS + (uint32_t)field) * 2654435761u;
    return field >= VX && field <= VZ ? 0 : (float)(bits >> 8) / (1 << 24);
}

static work work_at(ha_context *where) {
    static float start[FIELDS][BODIES];
    work w = {.where = where};
    for (int f = 0; f < FIELDS; f++) {
        for (int i = 0; i < BODIES; i++) start[f][i] = start_of(f, i);
        w.by_hand[f] = start[f];
        w.field[f] = harray_float_filled(BODIES, 0);
        HA_WRITING(v, w.field[f], ha_host()) memcpy(v.data, start[f], sizeof start[f]);
    }
    w.records = bodies_new(BODIES);
    return w;
}

static void lay_out(work *w, const char *layout) {
    HA_CHECK(ha_records_layout(w->records.records, w->where, layout));
    HA_USING(v, w->records, ha_host(), "overwrite") {
        HA_EACH(sky, v, at) {
            const int i = (int)ha_coordinate(at, 0);
            *sky_pos_x(v, at) = start_of(X, i);
            *sky_pos_y(v, at) = start_of(Y, i);
            *sky_pos_z(v, at) = start_of(Z, i);
            *sky_vel_x(v, at) = *sky_vel_y(v, at) = *sky_vel_z(v, at) = 0;
            *sky_mass(v, at) = start_of(MASS, i);
        }
    }
}

static void free_work(work *w) {
    for (int f = 0; f < FIELDS; f++) HA_CHECK(harray_float_free(&w->field[f]));
    HA_CHECK(bodies_free(&w->records));
}

static void run_arrays(work *w) {
    HA_CHECK(attract(w->where, HA_TEAMS(TEAM, BODIES), w->field[X], w->field[Y], w->field[Z],
                     w->field[VX], w->field[VY], w->field[VZ], w->field[MASS]));
}

static void run_records(work *w) { HA_CHECK(pull(w->where, HA_TEAMS(TEAM, BODIES), w->records)); }

/* ---- OpenCL by its own calls -------------------------------------------------------------------- */

static void *raw_kernel, *raw_field[FIELDS];

static void raw_begin(const work *w) {
    void *device;
    int32_t error = 0;
    load();
    open_device(&device);
    build(device, opencl_text, "-cl-fp32-correctly-rounded-divide-sqrt");
    raw_kernel = cl.kernel(program, "attract", &error);
    bench_require(error == 0, "OpenCL's own kernel");
    for (int f = 0; f < FIELDS; f++)
        raw_field[f] = new_buffer(BODIES * sizeof(float), w->by_hand[f]);
}

static void raw_attract(void) {
    const int64_t n = BODIES;
    const size_t lanes = BODIES, team = TEAM;
    float last;
    int failed = cl.argument(raw_kernel, 0, sizeof n, &n);
    for (uint32_t f = 0; f < FIELDS; f++)
        failed |= cl.argument(raw_kernel, f + 1, sizeof raw_field[f], &raw_field[f]);
    failed |= cl.run(queue, raw_kernel, 1, NULL, &lanes, &team, 0, NULL, NULL);
    bench_require(!failed, "a launch by OpenCL's own calls");
    read_back(raw_field[VX], sizeof last, &last);
}

/* ---- figures ------------------------------------------------------------------------------------ */

BENCH_TIME(by_hand, attract_by_hand(BODIES, w->by_hand))
BENCH_TIME(arrays, (run_arrays(w), HA_CHECK(ha_context_finish(w->where))))
BENCH_TIME(records, (run_records(w), HA_CHECK(ha_context_finish(w->where))))
BENCH_TIME(raw, ((void)w, raw_attract()))

static void figure(const char *name, bench_function *function, work *w, const char *reference_name,
                   bench_function *reference, double bound) {
    bench_run(&(bench_figure){name, function, w, reference_name, reference, w, bound, 0, 0});
}

/* What is timed computes what the loops by hand do: after one step each. */
static void compare(const work *w) {
    HA_READING(v, w->field[VX], ha_host()) for (int i = 0; i < BODIES; i++) {
        const float here = w->by_hand[VX][i];
        bench_require(v.data[i] == here, "plain arrays have the velocities of the loops by hand");
        HA_USING(r, w->records, ha_host(), "read vel")
        bench_require(*sky_vel_x(r, sky_at(r, i)) == here, "records have them, too");
    }
}

static void check(ha_context *where) {
    work w = work_at(where);
    lay_out(&w, "soa");
    attract_by_hand(BODIES, w.by_hand);
    run_arrays(&w);
    run_records(&w);
    compare(&w);
    free_work(&w);
}

static void on_the_host(void) {
    static const char *const layouts[][2] = {{"aos", "team n-body, aos"},
                                             {"soa", "team n-body, soa"},
                                             {"aosoa(16)", "team n-body, aosoa(16)"}};
    check(ha_host());
    work w = work_at(ha_host());
    figure("team n-body, arrays", time_arrays, &w, "by hand", time_by_hand, 1.1);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        lay_out(&w, layouts[i][0]);
        figure(layouts[i][1], time_records, &w, "by hand", time_by_hand, 1.1);
    }
    free_work(&w);
}

static void on_opencl(void) {
    ha_context *opencl = ha_context_find("opencl");
    (void)ha_take_error();
    if (!opencl) return;
    check(opencl);
    work w = work_at(opencl);
    raw_begin(&w);
    figure("team n-body on OpenCL, arrays", time_arrays, &w, "OpenCL C by hand", time_raw, 1.05);
    lay_out(&w, "soa");
    figure("team n-body on OpenCL, soa", time_records, &w, "OpenCL C by hand", time_raw, 1.05);
    free_work(&w);
}

int main(int argc, char **argv) {
    bench_begin(argc, argv, "plain");
    on_the_host();
    on_opencl();
    return 0;
}
