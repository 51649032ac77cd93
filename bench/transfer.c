/* What it costs to move an array between the host and the simulated device, against memcpy of the
 * same bytes, and against handing one command to a thread and waiting until it is done; and to move
 * parts of one, against the backend's own copy of them. And how fast threads copy on the host that
 * share copies for a CUDA device, without one. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../harray.h"

#include "bench.h"
#include "strided.h"

#include <sys/mman.h>

/* ---- bandwidth ---------------------------------------------------------------------------- */

typedef struct blocks {
    harray_uint8_t x;
    ha_context *sim;
    size_t bytes;
    void *to, *from; /* of the memcpy */
} blocks;

/* As the library's host memory: from 2 MiB on, huge pages where there are any. */
static void *new_block(size_t bytes) {
    const size_t huge = (size_t)2 << 20;
    const size_t alignment = bytes < huge ? 64 : huge;
    void *block = aligned_alloc(alignment, bytes);
    bench_require(block != NULL, "aligned_alloc");
    if (bytes >= huge) (void)madvise(block, bytes, MADV_HUGEPAGE);
    memset(block, 1, bytes);
    return block;
}

static blocks new_blocks(size_t bytes) {
    blocks b = {harray_uint8_t_zeros(bytes), ha_context_find("sim"), bytes, NULL, NULL};
    bench_require(b.x.array != NULL && b.sim != NULL, "array");
    b.to = new_block(bytes);
    b.from = new_block(bytes);
    return b;
}

static void free_blocks(blocks *b) {
    HA_CHECK(harray_uint8_t_free(&b->x));
    free(b->to);
    free(b->from);
}

/* From now on the values are valid at this context only. */
static void make_valid_only(harray_uint8_t x, ha_context *context) {
    HA_WRITING(v, x, context) bench_use(v.data);
    else bench_require(0, "write");
    HA_CHECK(ha_context_finish(context));
}

static double time_to_sim(void *data, size_t count) {
    const blocks *b = data;
    double ns = 0;
    for (size_t i = 0; i < count; i++) {
        make_valid_only(b->x, ha_host());
        const double start = bench_now();
        HA_READING(v, b->x, b->sim) bench_use(v.data);
        else bench_require(0, "read");
        HA_CHECK(ha_context_finish(b->sim));
        ns += bench_now() - start;
    }
    return ns;
}

static double time_to_host(void *data, size_t count) {
    const blocks *b = data;
    double ns = 0;
    for (size_t i = 0; i < count; i++) {
        make_valid_only(b->x, b->sim);
        const double start = bench_now();
        HA_READING(v, b->x, ha_host()) bench_use(v.data);
        else bench_require(0, "read");
        ns += bench_now() - start;
    }
    return ns;
}

static double time_memcpy(void *data, size_t count) {
    const blocks *b = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        memcpy(b->to, b->from, b->bytes);
        bench_use(b->to);
    }
    return bench_now() - start;
}

static void at_size(size_t bytes, const char *to_sim, const char *to_host) {
    blocks b = new_blocks(bytes);
    bench_run(&(bench_figure){to_sim, time_to_sim, &b, "memcpy", time_memcpy, &b, .bytes = bytes});
    bench_run(
        &(bench_figure){to_host, time_to_host, &b, "memcpy", time_memcpy, &b, .bytes = bytes});
    free_blocks(&b);
}

/* ---- latency ------------------------------------------------------------------------------ */

/* One element, changed by turns there and here. */
static double time_ping_pong(void *data, size_t count) {
    const harray_double *x = data;
    ha_context *sim = ha_context_find("sim");
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        HA_WRITING(v, *x, sim) bench_use(v.data);
        else bench_require(0, "write there");
        HA_WRITING(v, *x, ha_host()) bench_use(v.data);
        else bench_require(0, "write here");
    }
    return bench_now() - start;
}

/* The least that a device on a thread costs: one command for it, and one answer. */
typedef struct worker {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    enum { IDLE, COMMAND, STOP } state;
} worker;

static void *worker_main(void *data) {
    worker *w = data;
    pthread_mutex_lock(&w->mutex);
    while (w->state != STOP) {
        if (w->state == COMMAND) {
            w->state = IDLE;
            pthread_cond_broadcast(&w->changed);
        }
        pthread_cond_wait(&w->changed, &w->mutex);
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

static double time_hand_over(void *data, size_t count) {
    worker *w = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        pthread_mutex_lock(&w->mutex);
        w->state = COMMAND;
        pthread_cond_broadcast(&w->changed);
        while (w->state != IDLE) pthread_cond_wait(&w->changed, &w->mutex);
        pthread_mutex_unlock(&w->mutex);
    }
    return bench_now() - start;
}

static void ping_pong(void) {
    static worker w = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, IDLE};
    pthread_t thread;
    harray_double x = harray_double_zeros(1);
    bench_require(x.array != NULL, "array");
    bench_require(pthread_create(&thread, NULL, worker_main, &w) == 0, "thread");
    bench_run(&(bench_figure){"1 element to sim and back", time_ping_pong, &x,
                              "one command to a thread and back", time_hand_over, &w, .bound = 0});
    pthread_mutex_lock(&w.mutex);
    w.state = STOP;
    pthread_cond_broadcast(&w.changed);
    pthread_mutex_unlock(&w.mutex);
    pthread_join(thread, NULL);
    HA_CHECK(harray_double_free(&x));
}

/* ---- the host's side of pageable memory and a CUDA device ---------------------------------- */

#ifndef HARRAY_NO_CUDA
/* In pieces, from anywhere in a large block into two chunks by turns, or back. */
typedef struct staging {
    char *large, *chunk;
    size_t bytes; /* of the large block */
    int up;       /* into the chunks */
    ha_cuda_team team;
} staging;

static double time_pieces(const staging *s, ha_cuda_team *team, size_t count) {
    const size_t piece = HA_CUDA_TEAM_CHUNK_;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < s->bytes; at += piece) {
            char *chunk = s->chunk + at / piece % 2 * piece, *large = s->large + at;
            const ha_strided_copy one = {
                .to = s->up ? chunk : large, .from = s->up ? large : chunk, .bytes = piece};
            ha_cuda_team_copy(team, &one);
            bench_use(s->large);
        }
    return bench_now() - start;
}

static double time_team(void *data, size_t count) {
    staging *s = data;
    return time_pieces(s, ha_cuda_team_for(&s->team, s->bytes), count);
}

static double time_one(void *data, size_t count) { return time_pieces(data, NULL, count); }

static void with_team(int threads, int up) {
    staging s = {.bytes = (size_t)256 << 20, .up = up};
    char name[64];
    snprintf(name, sizeof name, "staging %s, %d thread%s", up ? "up" : "down", threads,
             threads > 1 ? "s" : "");
    s.large = new_block(s.bytes);
    s.chunk = new_block(2 * HA_CUDA_TEAM_CHUNK_);
    ha_cuda_team_create(&s.team, threads);
    bench_run(&(bench_figure){name, time_team, &s, "memcpy", time_one, &s, .bytes = s.bytes});
    ha_cuda_team_destroy(&s.team);
    free(s.large);
    free(s.chunk);
}

/* 1 shows what is noise; 2, 4, … as many as there are processors. */
static void teams(void) {
    cpu_set_t set;
    bench_require(sched_getaffinity(0, sizeof set, &set) == 0, "processors");
    for (int threads = 1; threads <= HA_CUDA_MOST_THREADS; threads *= 2) {
        if (threads > 2 && threads > CPU_COUNT(&set)) break;
        with_team(threads, 1);
        with_team(threads, 0);
    }
}
#else
static void teams(void) {}
#endif

int main(int argc, char **argv) {
    bench_begin(argc, argv, "included");
    at_size(4 << 10, "host to sim 4 KiB", "sim to host 4 KiB");
    at_size(64 << 20, "host to sim 64 MiB", "sim to host 64 MiB");
    strided_run(ha_context_find("sim"), ha_host(), "host to sim", "sim to host");
    ping_pong();
    teams();
    HA_CHECK(ha_shutdown());
    return 0;
}
