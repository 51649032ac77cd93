/* Uses every macro and function of harray/records_typed.h, as a user in C, C++ or CUDA does. */
#include "records_user.h"

struct triple {
    float x, y, z;
};
typedef struct {
    struct triple pos, vel;
    float mass;
} body;
#define body_FIELDS                                                                                \
    (float, pos, x), (float, pos, y), (float, pos, z), (float, vel, x), (float, vel, y),           \
        (float, vel, z), (float, mass)
HA_RECORD(body)
HA_VIEW(sky, body, 1, HA_ANY)
HA_RECORDS(bodies, sky);
HA_VIEW_DEBUG(sky, body)
HA_VIEW(fixed, body, 1, HA_SOA)
HA_RECORDS(fixed_bodies, fixed);
HA_VIEW(grid, body, 2, HA_AOSOA(8, HA_ROWS), HA_COL)
HA_RECORDS(grid_bodies, grid);
HA_VIEW(cube, body, 3, HA_AOS)
HA_RECORDS(cube_bodies, cube);
HA_VIEW(tesseract, body, 4, HA_SOA_SINGLE, HA_MORTON)
HA_RECORDS(tesseract_bodies, tesseract);

/* A struct whose name is that of a parameter, perhaps. */
typedef struct v {
    int x;
} v;
#define v_FIELDS (int, x)
HA_RECORD(v)
HA_VIEW(w, v, 1, HA_ANY)
HA_RECORDS(r, w);

HA_FN void start(sky stars) {
    HA_EACH(sky, stars, at) {
        const body b = {{1, 2, 3}, {4, 5, 6}, 7};
        sky_store(stars, at, b);
    }
}
HA_QUEUED(start, sky);

HA_FN void drift(sky stars, float dt) {
    HA_EACH(sky, stars, at) * sky_pos_x(stars, at) += dt * *sky_vel_x(stars, at);
}
HA_QUEUED(drift, sky, float);

HA_FN void six(sky stars, float a, double b, int c, int64_t d, float *e, float f) {
    *e = a + HA_TO_(float, b) + HA_TO_(float, c) + HA_TO_(float, d) + f +
         *sky_mass(stars, sky_at(stars, 0));
}
HA_QUEUED(six, sky, float, double, int, int64_t, float *, float);

HA_FN void halve(fixed stars) { HA_EACH(fixed, stars, at) * fixed_mass(stars, at) /= 2; }
HA_QUEUED(halve, fixed);

typedef struct two {
    sky a, b;
} two;

/* Two views in one function. */
static void copy_mass(const ha_queue *queue, void *argument) {
    const two *t = HA_CAST_(const two *, argument);
    const sky a = bodies_here(queue, t->a), b = bodies_here(queue, t->b);
    HA_EACH(sky, a, at) sky_mass_set(a, at, sky_mass_get(b, at));
}

/* The same, put in by ha_run_with. */
typedef struct given {
    sky a;
    sky_const b;
} given;
static void copy_vel(const ha_queue *queue, void *argument) {
    const given *g = HA_CAST_(const given *, argument);
    (void)queue;
    HA_EACH(sky, g->a, at)
    sky_vel_x_set(g->a, at, sky_const_vel_x_get(g->b, sky_const_at(g->b, ha_index(at))));
}

static int use_with(bodies stars, bodies others, ha_context *context) {
    given g;
    memset(&g, 0, sizeof g);
    return ha_run_with(context, copy_vel, g, HA_USE_RECORDS(a, others, "write vel.x"),
                       HA_USE_RECORDS(b, stars, "read vel")) != HA_OK;
}

static float mass_of(bodies stars) {
    HA_USING(view, stars, ha_host(), "read mass") return *sky_mass(view, sky_at(view, 0));
    else return -1;
    return -2;
}

static int use_scopes(bodies stars, bodies others, ha_context *context) {
    int failed = 0;
    float seen = 0;
    HA_USING(view, stars, context, "overwrite") HA_RUN_VIEW(start, view);
    else failed++;
    HA_USING(view, stars, context, "read vel, write pos") {
        HA_RUN_VIEW(drift, view, 0.5f);
        if (HA_USED(view).status == HA_OK) break;
        failed++;
    }
    HA_USING_PART(view, stars, ha_host(), "write pos", 1, 3)
    HA_EACH_IN(sky, view, at, HA_USED_REGION(sky, view)) * sky_pos_y(view, at) = 9;
    HA_USING_BOX(view, stars, ha_host(), "write mass", ha_box1(1, 2))
    HA_EACH_IN(sky, view, at, HA_USED_REGION(sky, view)) * sky_mass(view, at) += 0;
    HA_READING_RECORDS(view, stars, ha_host(), "pos+mass") {
        const ha_cursor at = sky_const_at(view, 2);
        failed += *sky_const_pos_x(view, at) < 3 || *sky_const_pos_y(view, at) < 9;
    }
    else failed++;
    HA_USING(view, stars, context, "try read") {
        HA_RUN_VIEW(six, view, 1, 2, 3, 4, &seen, 5);
        failed += ha_context_finish(context) != HA_OK || seen < 22;
        HA_USING(other, others, context, "overwrite") {
            const two t = {other, view};
            failed += ha_enqueue(context, copy_mass, &t, sizeof t) != HA_OK;
        }
    }
    else failed++;
    {
        HA_SCOPED_USE(view, stars, ha_host(), "read");
        failed += HA_USED(view).status != HA_OK || view.count != 4;
    }
    failed += use_with(stars, others, context);
    HA_USING(view, stars, ha_host(), "nonsense") failed++;
    else failed += HA_USED(view).status != HA_ERR_ARGUMENT;
    failed += ha_take_error().status != HA_ERR_ARGUMENT;
    return failed + (mass_of(others) < 7);
}

static int use_ranks(void) {
    const body b = {{1, 2, 3}, {4, 5, 6}, 7};
    body c;
    int failed = 0;
    grid_bodies g = grid_bodies_new(HA_DIM(3, 4));
    cube_bodies q = cube_bodies_new(HA_DIM(2, 3, 4));
    tesseract_bodies t = tesseract_bodies_new(HA_DIM(2, 2, 2, 2));
    failed += grid_bodies_set(g, HA_DIM(2, 3), b) != HA_OK;
    failed += cube_bodies_set(q, HA_DIM(1, 2, 3), b) != HA_OK;
    failed += tesseract_bodies_set(t, HA_DIM(1, 0, 1, 0), b) != HA_OK;
    failed += grid_bodies_resize(g, HA_DIM(5, 5)) != HA_OK;
    failed += grid_bodies_get(g, HA_DIM(2, 3), &c) != HA_OK || c.mass < 7;
    failed += cube_bodies_get(q, HA_DIM(1, 2, 3), &c) != HA_OK || c.vel.x < 4;
    failed += tesseract_bodies_get(t, HA_DIM(1, 0, 1, 0), &c) != HA_OK || c.pos.z < 3;
    failed += grid_bodies_free(&g) != HA_OK || cube_bodies_free(&q) != HA_OK;
    return failed + (tesseract_bodies_free(&t) != HA_OK);
}

static int use_memory(ha_context *context) {
    int failed = 0;
    float f[7][3] = {{0}};
    void *const arrays[] = {f[0], f[1], f[2], f[3], f[4], f[5], f[6]};
    body structs[3] = {{{1, 2, 3}, {4, 5, 6}, 8}};
    bodies mine = bodies_of(structs, 3);
    fixed_bodies fields = fixed_bodies_on(arrays, sizeof arrays / sizeof *arrays, 3);
    HA_USING(view, mine, context, "read vel, write pos") HA_RUN_VIEW(drift, view, 1);
    failed += bodies_sync(mine) != HA_OK || structs[0].pos.x < 5;
    f[6][1] = 4;
    HA_USING(view, fields, ha_host(), "write mass") HA_RUN_VIEW(halve, view);
    else failed++;
    failed += fixed_bodies_unwrap(&fields) != HA_OK || f[6][1] > 2;
    failed += bodies_unwrap(&mine) != HA_OK || mine.records;
    mine = bodies_of_const(structs, 3);
    failed += mass_of(mine) < 8;
    return failed + (bodies_free(&mine) != HA_OK);
}

int use_records(ha_context *context) {
    int failed = 0;
    bodies stars = bodies_new(4), others = bodies_new(4);
    r named = r_new(2);
    failed += ha_records_layout(stars.records, context, "aosoa(4)") != HA_OK;
    failed += use_scopes(stars, others, context);
    failed += bodies_resize(stars, 9) != HA_OK || ha_records_size(stars.records) != 9;
    failed += bodies_free(&stars) != HA_OK || bodies_free(&others) != HA_OK;
    failed += r_free(&named) != HA_OK;
    return failed + use_ranks() + use_memory(context);
}

#ifdef __CUDACC__
__global__ void drift_there(sky stars, float dt);
__global__ void drift_there(sky stars, float dt) {
    const ha_cursor at = sky_at(stars, threadIdx.x);
    *sky_pos_x(stars, at) += dt * *sky_vel_x(stars, at);
}
int launch_there(bodies stars, ha_context *gpu);
int launch_there(bodies stars, ha_context *gpu) {
    HA_USING(view, stars, gpu, "read vel, write pos")
    drift_there<<<1, 4, 0, HA_CAST_(cudaStream_t, ha_context_stream(gpu))>>>(view, 0.5f);
    else return 1;
    return 0;
}
#endif
