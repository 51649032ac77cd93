/* What an access to a box costs: a 64 x 64 x 64 array whose interior is valid on the host and whose
 * faces are valid on a device, as in every code that exchanges halos. */
#include "../harray.h"

#include "bench.h"

enum { EDGE = 64, FACES = 6 };
static const double BOUND_NS = 200;

typedef struct subject {
    array_double_3 part[FACES]; /* taken in turn */
    size_t parts;
    ha_context *context;
} subject;

static double time_read(void *data, size_t count) {
    const subject *s = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        HA_READING(v, s->part[i % s->parts], s->context) bench_use(v.data);
        else bench_require(0, "read a box");
    }
    return bench_now() - start;
}

static double time_write(void *data, size_t count) {
    const subject *s = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        HA_WRITING(v, s->part[i % s->parts], s->context) bench_use(v.data);
        else bench_require(0, "write a box");
    }
    return bench_now() - start;
}

/* The same as ranges of an array without dimensions. */
typedef struct ranges {
    harray_double x;
    ha_context *context;
} ranges;

static double time_read_range(void *data, size_t count) {
    const ranges *r = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        const size_t first = i % FACES * 1000;
        HA_READING_RANGE(v, r->x, r->context, first, first + 900) bench_use(v.data);
        else bench_require(0, "read a range");
    }
    return bench_now() - start;
}

static void figure(const char *name, bench_function *function, subject *s, ranges *r) {
    bench_run(&(bench_figure){name, function, s, "read of a range", time_read_range, r,
                              .bound_ns = BOUND_NS});
}

int main(int argc, char **argv) {
    bench_begin(argc, argv, "included");
    ha_context *device = ha_context_find("sim");
    array_double_3 a = array_double_3_zeros(HA_DIM(EDGE, EDGE, EDGE), ha_host());
    subject faces = {.parts = FACES, .context = device};
    subject interior = {
        {array_double_3_part(a, HA_DIM(1, 1, 1), HA_DIM(EDGE - 1, EDGE - 1, EDGE - 1))},
        1,
        ha_host()};
    ranges r = {harray_double_zeros(FACES * 1000), ha_host()};
    bench_require(a.array && r.x.array && interior.part[0].array, "arrays");
    for (int d = 0; d < 3; d++) {
        faces.part[2 * d] = array_double_3_slice(a, d, 0, 1, 1);
        faces.part[2 * d + 1] = array_double_3_slice(a, d, EDGE - 1, EDGE, 1);
    }
    for (int i = 0; i < FACES; i++) HA_WRITING(v, faces.part[i], device) bench_use(v.data);
    HA_CHECK(ha_context_finish(device));
    figure("face of 64^3, read on sim", time_read, &faces, &r);
    figure("face of 64^3, write on sim", time_write, &faces, &r);
    figure("interior of 64^3, read on the host", time_read, &interior, &r);
    figure("interior of 64^3, write on the host", time_write, &interior, &r);
    HA_CHECK(harray_double_free(&r.x));
    HA_CHECK(array_double_3_free(&a));
    HA_CHECK(ha_shutdown());
    return 0;
}
