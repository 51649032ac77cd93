/* Parts of an array that move between the host and a device, through views, against one
 * copy_strided of the same part by the backend itself, on the same queue. For transfer.c and cuda.c. */
#ifndef BENCH_STRIDED_H
#define BENCH_STRIDED_H

#include "../harray.h"

#include "bench.h"

/* [low, high) of each dimension of an array with these extents. */
typedef struct strided_part {
    const char *name;
    int64_t extent[3], low[3], high[3];
} strided_part;

static const strided_part strided_parts[] = {
    {"16 rows of 2048^2", {1, 2048, 2048}, {0, 1000, 0}, {1, 1016, 2048}},
    {"64 columns of 2048^2", {1, 2048, 2048}, {0, 0, 100}, {1, 2048, 164}},
    {"1 column of 2048^2", {1, 2048, 2048}, {0, 0, 100}, {1, 2048, 101}},
    {"a face of 128^3", {128, 128, 128}, {0, 0, 1}, {128, 128, 2}},
    {"64^3 inside 128^3", {128, 128, 128}, {32, 32, 32}, {96, 96, 96}},
};
static const double STRIDED_BOUND = 1.1;
enum { STRIDED_PARTS = sizeof strided_parts / sizeof *strided_parts };

typedef struct strided {
    ha_context *device;
    array_double_3 all, part, raw;
    ha_strided_copy pieces;
    void *host, *there; /* the blocks of `raw`, which lie in memory as those of `all` */
    size_t offset;      /* of the part's first byte */
} strided;

/* From now on the values are valid at this context only. */
static void strided_make_valid_only(const strided *s, ha_context *context) {
    HA_WRITING(v, s->part, context) bench_use(v.data);
    else bench_require(0, "write");
    HA_CHECK(ha_context_finish(context));
}

static double strided_time_up(void *data, size_t count) {
    const strided *s = data;
    double ns = 0;
    for (size_t i = 0; i < count; i++) {
        strided_make_valid_only(s, ha_host());
        const double start = bench_now();
        HA_READING(v, s->part, s->device) bench_use(v.data);
        else bench_require(0, "read");
        HA_CHECK(ha_context_finish(s->device));
        ns += bench_now() - start;
    }
    return ns;
}

static double strided_time_down(void *data, size_t count) {
    const strided *s = data;
    double ns = 0;
    for (size_t i = 0; i < count; i++) {
        strided_make_valid_only(s, s->device);
        const double start = bench_now();
        HA_READING(v, s->part, ha_host()) bench_use(v.data);
        else bench_require(0, "read");
        ns += bench_now() - start;
    }
    return ns;
}

static double strided_time_raw(const strided *s, void *to, const void *from, size_t count) {
    const ha_queue_ops *ops = s->device->ops;
    void *queue = s->device->queue;
    ha_strided_copy pieces = s->pieces;
    pieces.to = (char *)to + s->offset;
    pieces.from = (const char *)from + s->offset;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        ha_event event;
        bench_require(!ops->copy_strided(queue, &pieces, 1), "copy_strided");
        bench_require(!ops->record(queue, &event) && !ops->finish(&event), "finish");
        if (ops->forget) ops->forget(&event);
    }
    return bench_now() - start;
}

static double strided_time_raw_up(void *data, size_t count) {
    const strided *s = data;
    return strided_time_raw(s, s->there, s->host, count);
}

static double strided_time_raw_down(void *data, size_t count) {
    const strided *s = data;
    return strided_time_raw(s, s->host, s->there, count);
}

/* first: where both arrays are touched first. */
static strided strided_new(const strided_part *p, ha_context *device, ha_context *first) {
    const int64_t *e = p->extent, *l = p->low, *h = p->high;
    const size_t row = sizeof(double) * (size_t)e[2], plane = row * (size_t)e[1];
    const size_t bytes = sizeof(double) * (size_t)(h[2] - l[2]);
    const size_t rows = (size_t)(h[1] - l[1]), planes = (size_t)(h[0] - l[0]);
    strided s = {.device = device,
                 .pieces = {.bytes = bytes,
                            .levels = 2,
                            .count = {rows, planes},
                            .to_step = {row, plane},
                            .from_step = {row, plane}}};
    s.all = array_double_3_zeros(HA_DIM(e[0], e[1], e[2]), first);
    s.raw = array_double_3_zeros(HA_DIM(e[0], e[1], e[2]), first);
    s.part = array_double_3_part(s.all, HA_DIM(l[0], l[1], l[2]), HA_DIM(h[0], h[1], h[2]));
    s.offset = (size_t)l[0] * plane + (size_t)l[1] * row + (size_t)l[2] * sizeof(double);
    bench_require(s.part.array != NULL, "array");
    HA_WRITING(v, s.raw, ha_host()) s.host = v.data;
    HA_WRITING(v, s.raw, device) s.there = v.data;
    bench_require(s.host != NULL && s.there != NULL, "blocks");
    return s;
}

static void strided_free(strided *s) {
    HA_CHECK(array_double_3_free(&s->all));
    HA_CHECK(array_double_3_free(&s->raw));
}

/* `to`, `from`: how the directions are called. */
static void strided_run(ha_context *device, ha_context *first, const char *to, const char *from) {
    for (int i = 0; i < STRIDED_PARTS; i++) {
        const strided_part *p = &strided_parts[i];
        strided s = strided_new(p, device, first);
        const size_t bytes = s.pieces.bytes * s.pieces.count[0] * s.pieces.count[1];
        char name[80];
        snprintf(name, sizeof name, "%s, %s", p->name, to);
        bench_run(&(bench_figure){name, strided_time_up, &s, "copy_strided", strided_time_raw_up,
                                  &s, .bound = STRIDED_BOUND, .bytes = bytes});
        snprintf(name, sizeof name, "%s, %s", p->name, from);
        bench_run(&(bench_figure){name, strided_time_down, &s, "copy_strided",
                                  strided_time_raw_down, &s, .bound = STRIDED_BOUND,
                                  .bytes = bytes});
        strided_free(&s);
    }
}

#endif
