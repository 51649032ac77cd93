/* Record arrays that are an array of structs on the host and a structure of arrays on the device: what
 * converting on the way costs, against doing nothing but the longer one of both. And what it costs
 * to open and close an access where all is valid.
 *
 * The reference of a transfer times a conversion on the host alone (ha_mapped_copy), and a transfer of the same
 * values between two equal layouts alone, and gives the longer time: what is overlapped as well as
 * it can be takes as long, and one part more. */
#define _GNU_SOURCE
#define HARRAY_IMPLEMENTATION
#include "../harray_records.h"

#include "bench.h"

enum { RECORDS = 1 << 20, PARTS = 20 };

typedef struct body {
    struct {
        double x, y, z;
    } pos, vel;
    float mass, charge;
} body;
#define body_FIELDS                                                                                \
    (double, pos, x), (double, pos, y), (double, pos, z), (double, vel, x), (double, vel, y),      \
        (double, vel, z), (float, mass), (float, charge)
HA_RECORD(body)
HA_VIEW(sky, body, 1, HA_ANY)
HA_RECORDS(bodies, sky);

static const char particle[] =
    "pos.x:f64 pos.y:f64 pos.z:f64 vel.x:f64 vel.y:f64 vel.z:f64 mass:f32 charge:f32 id:i32 "
    "cell:i32";

typedef struct world {
    ha_context *device;
    ha_records *converted, *plain; /* with another layout at the device, and with the same */
    ha_mapping *from, *to;
    void *source[PARTS], *target[PARTS];
    const char *what;
    int down;
} world;

static void require(ha_status s, const char *what) { bench_require(s == HA_OK, what); }

/* What is valid on one side only. */
static void write_at(ha_records *r, ha_context *c) {
    ha_records_access v;
    require(ha_records_open(&v, r, c, "write", 0, HA_END), "write");
    require(ha_records_wait(&v), "wait");
    require(ha_records_close(&v), "close");
}

static double time_transfer(const world *w, ha_records *r, size_t count) {
    double ns = 0;
    for (size_t i = 0; i < count; i++) {
        ha_records_access v;
        write_at(r, w->down ? w->device : ha_host());
        require(ha_context_finish(w->device), "finish");
        const double start = bench_now();
        require(ha_records_open(&v, r, w->down ? ha_host() : w->device, w->what, 0, HA_END),
                "read");
        require(ha_records_wait(&v), "wait");
        ns += bench_now() - start;
        require(ha_records_close(&v), "close");
    }
    return ns;
}

static double time_converted(void *data, size_t count) {
    const world *w = data;
    return time_transfer(w, w->converted, count);
}

static double time_longer(void *data, size_t count) {
    const world *w = data;
    const ha_mapped aos = {w->from, w->source}, soa = {w->to, w->target};
    const ha_copying how = {.paths = strchr(w->what, ' ') ? strchr(w->what, ' ') + 1 : NULL};
    const double start = bench_now();
    for (size_t i = 0; i < count; i++)
        require(ha_mapped_copy(w->down ? &aos : &soa, w->down ? &soa : &aos, &how, NULL), "copy");
    const double converting = bench_now() - start;
    const double moving = time_transfer(w, w->plain, count);
    if (getenv("BENCH_RECORDS_PARTS"))
        fprintf(stderr, "converting %.3g, moving %.3g ns\n", converting / (double)count,
                moving / (double)count);
    return converting > moving ? converting : moving;
}

static void make_blobs(const ha_mapping *m, void **blob) {
    for (int32_t b = 0; b < m->blobs; b++) {
        bench_require((blob[b] = malloc((size_t)m->blob[b].bytes)) != NULL, "malloc");
        memset(blob[b], 1, (size_t)m->blob[b].bytes);
    }
}

static void measure(world *w, const char *name, const char *what, int down, size_t bytes) {
    w->what = what;
    w->down = down;
    bench_run(&(bench_figure){name, time_converted, w, "the longer of converting and moving",
                              time_longer, w, .bound = 1.11, .bytes = bytes * RECORDS});
}

/* ---- what is valid already ------------------------------------------------------------------- */

typedef struct opened {
    bodies r;
    harray_double x;
    const char *what;
} opened;

static double time_using(void *data, size_t count) {
    const opened *o = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        HA_USING(v, o->r, ha_host(), o->what) bench_use(&v);
        else bench_require(0, "using");
    }
    return bench_now() - start;
}

static double time_untyped(void *data, size_t count) {
    const opened *o = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        ha_records_access v;
        require(ha_records_open(&v, o->r.records, ha_host(), o->what, 0, HA_END), "open");
        bench_use(&v);
        require(ha_records_close(&v), "close");
    }
    return bench_now() - start;
}

static double time_array(void *data, size_t count) {
    const opened *o = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        HA_READING(v, o->x, ha_host()) bench_use(&v);
        else bench_require(0, "reading");
    }
    return bench_now() - start;
}

static void measure_opening(opened *o, const char *typed, const char *untyped, const char *what) {
    o->what = what;
    bench_run(
        &(bench_figure){typed, time_using, o, "the untyped opening", time_untyped, o, .bound = 2});
    bench_run(&(bench_figure){untyped, time_untyped, o, "opening an array", time_array, o,
                              .bound_ns = 50});
}

static void measure_valid(void) {
    enum { FEW = 1000 };
    opened o = {.r = bodies_new(FEW), .x = harray_double_new(FEW)};
    bench_require(o.r.records != NULL, "making");
    HA_USING(v, o.r, ha_host(), "overwrite")(void) v;
    HA_OVERWRITING(v, o.x, ha_host(), FEW)(void) v;
    measure_opening(&o, "HA_USING, valid", "opening, valid", "read pos");
    measure_opening(&o, "HA_USING, two fields, valid", "opening two fields, valid",
                    "read vel, write pos");
    require(bodies_free(&o.r), "free");
    require(harray_double_free(&o.x), "free");
}

int main(int argc, char **argv) {
    const int64_t n = RECORDS;
    world w = {.device = ha_context_find("sim:0")};
    bench_begin(argc, argv, "included");
    measure_valid();
    ha_record *record = ha_record_parse(particle, NULL);
    w.from = ha_mapping_parse(record, "aos", 1, &n, NULL);
    w.to = ha_mapping_parse(record, "soa", 1, &n, NULL);
    w.converted = ha_records_new(record, 1, &n, "aos");
    w.plain = ha_records_new(record, 1, &n, "soa");
    bench_require(w.device && w.from && w.to && w.converted && w.plain, "making");
    require(ha_records_layout(w.converted, w.device, "soa"), "layout");
    make_blobs(w.from, w.source);
    make_blobs(w.to, w.target);
    write_at(w.converted, ha_host());
    write_at(w.plain, ha_host());
    measure(&w, "to the device", "read", 0, 64);
    measure(&w, "to the device, pos", "read pos", 0, 24);
    measure(&w, "from the device", "read", 1, 64);
    measure(&w, "from the device, pos", "read pos", 1, 24);
    require(ha_records_free(w.converted), "free");
    require(ha_records_free(w.plain), "free");
    for (int32_t b = 0; b < w.from->blobs; b++) free(w.source[b]);
    for (int32_t b = 0; b < w.to->blobs; b++) free(w.target[b]);
    ha_mapping_free(w.from);
    ha_mapping_free(w.to);
    ha_record_free(record);
    return ha_shutdown() != HA_OK;
}
