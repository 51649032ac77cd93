/* Memory that is short: what it costs to bring an array home and back, to have one give way that is valid elsewhere,
 * too, and to have a budget that is never reached; and how near a sweep over four times as much as there is comes
 * to what computing and the link allow (examples/outofcore), and to the same by hand (double_buffer.h). On the
 * simulated device, whose link is as fast as is asked for. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define HARRAY_IMPLEMENTATION
#include "../harray_kernels.h"

#include "../examples/outofcore/cube.h"
#include "bench.h"
#include "double_buffer.h"

#include <sys/mman.h>

static int is_smoke(void) { return bench_settings.least_ns <= 0; }

/* Devices with a link of so many bytes a second, each way and for each queue; 0: as fast as memory. */
static void begin_sim(uint64_t bandwidth) {
    HA_CHECK(ha_shutdown());
    HA_CHECK(
        ha_sim_configure(&(ha_sim_options){.capacity = (size_t)4 << 30, .bandwidth = bandwidth}));
}

static ha_context *sim(int number) {
    ha_context *c = ha_context_get("sim", number);
    bench_require(c != NULL, "sim");
    return c;
}

static void wait_for(ha_context *c) { bench_require(ha_context_finish(c) == HA_OK, "finish"); }

/* ---- home and back ------------------------------------------------------------------------ */

typedef struct journey {
    harray_uint8_t x;
    ha_context *sim;
    size_t bytes;
    void *here, *there; /* of the plain copies */
} journey;

static double time_evict_restore(void *data, size_t count) {
    const journey *j = data;
    double ns = 0;
    for (size_t i = 0; i < count; i++) {
        HA_WRITING(v, j->x, j->sim) bench_use(v.data);
        wait_for(j->sim);
        const double start = bench_now();
        bench_require(ha_array_evict(j->x.array, j->sim) == HA_OK, "evict");
        HA_READING(v, j->x, j->sim) bench_use(v.data);
        wait_for(j->sim);
        ns += bench_now() - start;
    }
    return ns;
}

static void copy_plainly(ha_context *c, void *to, const void *from, size_t bytes) {
    bench_require(c->ops->copy(c->queue, to, from, bytes) == HA_OK, "copy");
    bench_require(ha_wait_for((ha_timepoint){c, ha_sequence_of(c)}) == HA_OK, "wait");
}

static double time_plain_copies(void *data, size_t count) {
    const journey *j = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        copy_plainly(j->sim, j->here, j->there, j->bytes);
        copy_plainly(j->sim, j->there, j->here, j->bytes);
    }
    return bench_now() - start;
}

/* As the library's host memory. */
static void *new_block(size_t bytes) {
    void *block = aligned_alloc((size_t)2 << 20, bytes);
    bench_require(block != NULL, "memory");
    (void)madvise(block, bytes, MADV_HUGEPAGE);
    memset(block, 1, bytes);
    return block;
}

static void home_and_back(uint64_t bandwidth, const char *name) {
    begin_sim(bandwidth);
    journey j = {.sim = sim(0), .bytes = is_smoke() ? (size_t)2 << 20 : (size_t)256 << 20};
    j.x = harray_uint8_t_filled(j.bytes, 1);
    j.here = new_block(j.bytes);
    j.there = ha_memory_allocate(j.sim, j.bytes);
    bench_require(j.x.array && j.there, "array");
    bench_run(&(bench_figure){name, time_evict_restore, &j, "copies by the queue",
                              time_plain_copies, &j, .bound = 1.053, .bytes = 2 * j.bytes});
    free(j.here);
    HA_CHECK(ha_memory_release(j.sim, j.there));
    HA_CHECK(harray_uint8_t_free(&j.x));
}

/* ---- giving way --------------------------------------------------------------------------- */

enum { CLEAN_BYTES = 4096 };

typedef struct crowd {
    ha_context *sim;
    ha_array **array; /* valid on both sides */
    size_t n;
} crowd;

static void come_back(const crowd *c) {
    for (size_t i = 0; i < c->n; i++)
        bench_require(ha_array_prefetch(c->array[i], c->sim, 0, HA_END) == HA_OK, "prefetch");
    wait_for(c->sim);
}

/* Half of all at a time. */
static double time_dropping(const crowd *c, size_t count, int by_name) {
    double ns = 0;
    for (size_t k; count > 0; count -= k) {
        k = count < c->n / 2 ? count : c->n / 2;
        come_back(c);
        const double start = bench_now();
        for (size_t i = 0; i < k && by_name; i++)
            bench_require(ha_array_evict(c->array[i], c->sim) == HA_OK, "evict");
        if (!by_name) (void)ha_memory_make_room(c->sim, k * CLEAN_BYTES);
        ns += bench_now() - start;
    }
    return ns;
}

static double time_victims(void *data, size_t count) {
    const uint64_t before = ha_memory_pressure(((const crowd *)data)->sim).evictions;
    const double ns = time_dropping((const crowd *)data, count, 0);
    const uint64_t after = ha_memory_pressure(((const crowd *)data)->sim).evictions;
    bench_require(after - before >= count, "as many victims");
    return ns * (double)count / (double)(after - before);
}

static double time_evict(void *data, size_t count) {
    return time_dropping((const crowd *)data, count, 1);
}

static void drop_clean(size_t n, const char *name) {
    const size_t least = ha_resident_least;
    begin_sim(0);
    crowd c = {.sim = sim(0), .n = n, .array = calloc(n, sizeof *c.array)};
    ha_resident_least = CLEAN_BYTES; /* smaller than usual, so that many find room */
    bench_require(c.array != NULL, "memory");
    for (size_t i = 0; i < n; i++) {
        harray_uint8_t x = harray_uint8_t_filled(CLEAN_BYTES, 1);
        bench_require((c.array[i] = x.array) != NULL, "array");
    }
    bench_run(&(bench_figure){name, time_victims, &c, "ha_array_evict of each", time_evict, &c,
                              .bound_ns = 1000});
    for (size_t i = 0; i < n; i++) HA_CHECK(ha_array_free(c.array[i]));
    free(c.array);
    ha_resident_least = least;
}

/* ---- without pressure --------------------------------------------------------------------- */

typedef struct place {
    harray_double x;
    ha_context *at;
} place;

static double time_read(void *data, size_t count) {
    const place *p = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) HA_READING(v, p->x, p->at) bench_use(v.data);
    return bench_now() - start;
}

/* One that is listed, as it may give way, or is not. */
static double time_create(void *data, size_t count) {
    ha_context *c = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        ha_array *x = ha_array_new(ha_type_of_("byte", 1), 64 << 10, c);
        bench_require(x != NULL && ha_array_free(x) == HA_OK, "array");
    }
    return bench_now() - start;
}

static double time_create_unlisted(void *data, size_t count) {
    const size_t least = ha_resident_least;
    ha_resident_least = SIZE_MAX;
    const double ns = time_create(data, count);
    ha_resident_least = least;
    return ns;
}

static void without_pressure(void) {
    begin_sim(0);
    HA_CHECK(ha_memory_set_budget(sim(0), (uint64_t)1 << 30));
    place x = {harray_double_zeros_at(16384, sim(0)), sim(0)};
    place y = {harray_double_zeros_at(16384, sim(1)), sim(1)};
    bench_run(&(bench_figure){"read on sim, with a budget", time_read, &x, "without one", time_read,
                              &y, .bound = 1.0});
    bench_run(&(bench_figure){"create + free, 64 KiB, host", time_create, ha_host(), "not listed",
                              time_create_unlisted, ha_host(), .bound = 0});
    bench_run(&(bench_figure){"create + free, 64 KiB, sim", time_create, sim(0), "not listed",
                              time_create_unlisted, sim(0), .bound = 0});
    HA_CHECK(harray_double_free(&x.x));
    HA_CHECK(harray_double_free(&y.x));
}

/* ---- a sweep ------------------------------------------------------------------------------ */

/* A cube with a budget, and the same on another device without one. */
typedef struct sweep {
    cube c, free;
    double in, out;           /* bytes that the link moved for a step */
    ha_context *queue[2];     /* for plain copies in, and out */
    void *here[2], *there[2]; /* of so many bytes */
    size_t bytes;
} sweep;

static double time_cube(cube *c, size_t count) {
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) bench_require(cube_step(c, false), "step");
    bench_require(cube_finish(c), "finish");
    return bench_now() - start;
}

static double time_sweep(void *data, size_t count) {
    sweep *s = data;
    const ha_memory_usage before = ha_context_memory(s->c.device);
    const double ns = time_cube(&s->c, count);
    const ha_memory_usage after = ha_context_memory(s->c.device);
    s->in = (double)(after.bytes_in - before.bytes_in) / (double)count;
    s->out = (double)(after.bytes_out - before.bytes_out) / (double)count;
    return ns;
}

static double time_free(void *data, size_t count) {
    return time_cube(&((sweep *)data)->free, count);
}

/* Both ways at once. A sweep that fetches more than it needs is not excused. */
static double time_link(const sweep *s) {
    const double field = (double)cube_bytes(s->c.n) / 2;
    double left[2] = {s->in < 2 * field ? s->in : 2 * field, s->out < field ? s->out : field};
    const double start = bench_now();
    while (left[0] > 0 || left[1] > 0)
        for (int k = 0; k < 2; k++) {
            if (left[k] <= 0) continue;
            const size_t bytes = left[k] < (double)s->bytes ? (size_t)left[k] : s->bytes;
            ha_context *c = s->queue[k];
            void *to = k ? s->here[k] : s->there[k], *from = k ? s->there[k] : s->here[k];
            bench_require(c->ops->copy(c->queue, to, from, bytes) == HA_OK, "copy");
            left[k] -= (double)bytes;
        }
    wait_for(s->queue[0]);
    wait_for(s->queue[1]);
    return bench_now() - start;
}

/* The longer one of computing alone and the link alone. */
static double time_bound(void *data, size_t count) {
    sweep *s = data;
    const double computing = time_free(s, count);
    double link = 0;
    for (size_t i = 0; i < count; i++) link += time_link(s);
    return computing > link ? computing : link;
}

static void begin_sweep(sweep *s, int64_t ahead, int64_t n, double part) {
    bench_require(cube_make(&s->free, sim(1), 0, n, 32, 1), "cube");
    HA_CHECK(ha_memory_set_budget(sim(0), (uint64_t)((double)cube_bytes(n) * part)));
    bench_require(cube_make(&s->c, sim(0), ahead, n, 32, 1), "cube");
    s->bytes = (size_t)1 << 20;
    for (int k = 0; k < 2; k++) {
        s->queue[k] = ha_context_fork(sim(1));
        s->here[k] = new_block((size_t)2 << 20);
        s->there[k] = ha_memory_allocate(sim(1), s->bytes);
        bench_require(s->queue[k] && s->there[k], "memory");
    }
    (void)time_sweep(s, 1);
    (void)time_free(s, 1);
}

static void end_sweep(sweep *s) {
    for (int k = 0; k < 2; k++) {
        HA_CHECK(ha_memory_release(sim(1), s->there[k]));
        free(s->here[k]);
    }
    cube_free(&s->c);
    cube_free(&s->free);
    HA_CHECK_ERRORS();
}

/* The same by hand, with no more memory of the device, and the same results. */
static void begin_by_hand(double_buffer *d, sweep *s) {
    buffer_make(d, sim(1), &s->free, (size_t)cube_bytes(s->free.n) / 4);
    (void)time_free(s, 3);
    (void)time_double_buffer(d, 3);
    bench_require(buffer_is_like(d, &s->free), "the same results");
}

static void out_of_core(int64_t ahead, const char *name, const char *by_hand, double bound) {
    begin_sim((uint64_t)1 << 30);
    sweep s = {0};
    double_buffer d;
    begin_sweep(&s, ahead, is_smoke() ? 64 : 192, 0.25);
    begin_by_hand(&d, &s);
    bench_run(&(bench_figure){name, time_sweep, &s, "computing or the link alone", time_bound, &s,
                              .bound = bound});
    bench_run(&(bench_figure){by_hand, time_sweep, &s, "double buffering by hand",
                              time_double_buffer, &d, .bound = bound});
    buffer_free(&d);
    end_sweep(&s);
}

static void large_budget(void) {
    begin_sim(0);
    sweep s = {0};
    begin_sweep(&s, 0, is_smoke() ? 64 : 128, 2);
    bench_run(&(bench_figure){"steps, all within a budget", time_sweep, &s, "without one",
                              time_free, &s, .bound = 1.0});
    bench_require(ha_memory_pressure(sim(0)).evictions == 0, "nothing gives way");
    end_sweep(&s);
}

int main(int argc, char **argv) {
    bench_begin(argc, argv, "");
    home_and_back((uint64_t)12 << 30, "evict + restore, link of 12 GiB/s");
    home_and_back((uint64_t)2 << 30, "evict + restore, link of 2 GiB/s");
    drop_clean(100, "drop a clean one of 100");
    drop_clean(is_smoke() ? 1000 : 100000, "drop a clean one of 100,000");
    without_pressure();
    out_of_core(4, "out of core, 4 times, hints", "out of core, hints, and by hand", 1.15);
    out_of_core(0, "out of core, 4 times, no hints", "out of core, no hints, and by hand", 1.6);
    large_budget();
    HA_CHECK(ha_shutdown());
}
