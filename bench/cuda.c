/* What harray costs on a GPU, against the driver's own calls; --small: on one with little memory. Runs
 * over the fake driver of the tests, too, which says nothing about speed.
 *
 * Without a GPU it says so and exits with 77. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef HARRAY_IMPLEMENTATION
#define HARRAY_IMPLEMENTATION
#endif
#include "../harray.h"

#include "cuda_raw.h"
#include "strided.h"

static ha_context *gpu, *fork_of_gpu;

/* Bounds on ratios of time: 98 % of the bandwidth of pinned memory, 80 % of it through staging, 95 %
 * of a transfer hidden behind a kernel. */
static const double PINNED_BOUND = 1 / 0.98, PAGEABLE_BOUND = 1 / 0.8, HIDDEN_BOUND = 1.05,
                    OPEN_BOUND = 10, ALLOCATION_NS = 200;

static const char *named(char *text, const char *what, size_t bytes) {
    const int gigabytes = bytes >> 30 != 0, megabytes = bytes >> 20 != 0;
    snprintf(text, 64, "%s %zu %s", what,
             bytes >> (gigabytes   ? 30
                       : megabytes ? 20
                                   : 10),
             gigabytes   ? "GiB"
             : megabytes ? "MiB"
                         : "KiB");
    return text;
}

/* ---- transfers ------------------------------------------------------------------------------ */

typedef struct transfer {
    harray_uint8_t x, y;
} transfer;

/* From now on the values are valid at this context only. */
static void make_valid_only(harray_uint8_t x, ha_context *context) {
    HA_WRITING(v, x, context) bench_use(v.data);
    else bench_require(0, "write");
    HA_CHECK(ha_context_finish(context));
}

static double time_to_device(void *data, size_t count) {
    const transfer *t = data;
    double ns = 0;
    for (size_t i = 0; i < count; i++) {
        make_valid_only(t->x, ha_host());
        const double start = bench_now();
        HA_READING(v, t->x, gpu) bench_use(v.data);
        else bench_require(0, "read");
        HA_CHECK(ha_context_finish(gpu));
        ns += bench_now() - start;
    }
    return ns;
}

static double time_to_host(void *data, size_t count) {
    const transfer *t = data;
    double ns = 0;
    for (size_t i = 0; i < count; i++) {
        make_valid_only(t->x, gpu);
        const double start = bench_now();
        HA_READING(v, t->x, ha_host()) bench_use(v.data);
        else bench_require(0, "read");
        ns += bench_now() - start;
    }
    return ns;
}

static double time_on_device(void *data, size_t count) {
    const transfer *t = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        HA_CHECK(harray_uint8_t_assign(t->y, t->x));
        HA_CHECK(ha_context_finish(gpu));
    }
    return bench_now() - start;
}

/* pinned: whether the array has its memory on the host from the device. */
static transfer new_transfer(size_t bytes, int pinned) {
    ha_context *first = pinned ? gpu : ha_host();
    transfer t = {harray_uint8_t_zeros_at(bytes, first), harray_uint8_t_new_at(bytes, gpu)};
    bench_require(t.x.array && t.y.array, "arrays");
    HA_READING(v, t.x, ha_host()) {
        const int is_pinned = ha_pointer_kind(v.data, NULL) == HA_MEMORY_PINNED;
        bench_require(is_pinned == pinned, "the kind of memory on the host");
    }
    return t;
}

static void free_transfer(transfer *t) {
    HA_CHECK(harray_uint8_t_free(&t->x));
    HA_CHECK(harray_uint8_t_free(&t->y));
}

static void transfers(size_t bytes, int pinned, double bound) {
    raw_blocks b = raw_allocate(bytes);
    transfer t = new_transfer(bytes, pinned);
    char name[64];
    const char *to_device = pinned ? "pinned to device" : "pageable to device";
    const char *to_host = pinned ? "device to pinned" : "device to pageable";
    bench_run(&(bench_figure){named(name, to_device, bytes), time_to_device, &t,
                              "cuMemcpyHtoDAsync from pinned", time_raw_to_device, &b,
                              .bound = bound, .bytes = bytes});
    bench_run(&(bench_figure){named(name, to_host, bytes), time_to_host, &t,
                              "cuMemcpyDtoHAsync to pinned", time_raw_to_host, &b, .bound = bound,
                              .bytes = bytes});
    if (pinned) {
        make_valid_only(t.x, gpu);
        bench_run(&(bench_figure){named(name, "device to device", bytes), time_on_device, &t,
                                  "cuMemcpyAsync", time_raw_on_device, &b, .bytes = bytes});
    }
    free_transfer(&t);
    raw_free(&b);
}

/* ---- prefetching behind a kernel ------------------------------------------------------------ */

typedef struct overlap {
    harray_uint8_t x, busy;
    uint64_t ns; /* of the kernel */
} overlap;

static double time_prefetch(void *data, size_t count) {
    overlap *o = data;
    double ns = 0;
    for (size_t i = 0; i < count; i++) {
        make_valid_only(o->x, ha_host());
        const double start = bench_now();
        HA_WRITING(v, o->busy, gpu) raw_launch(o->ns, HA_STREAM(v));
        else bench_require(0, "write");
        HA_CHECK(ha_array_prefetch(o->x.array, fork_of_gpu, 0, HA_END));
        HA_CHECK(ha_context_finish(gpu));
        HA_CHECK(ha_context_finish(fork_of_gpu));
        ns += bench_now() - start;
    }
    return ns;
}

/* The kernel takes as long as the transfer. */
static void prefetching(size_t bytes) {
    transfer t = new_transfer(bytes, 1);
    const double ns = time_to_device(&t, 5) / 5;
    overlap o = {t.x, t.y, (uint64_t)ns};
    char name[64];
    HA_CHECK(harray_uint8_t_assign(t.y, t.x));
    bench_run(&(bench_figure){named(name, "prefetch behind a kernel", bytes), time_prefetch, &o,
                              "the kernel alone", time_raw_launch, &o.ns, .bound = HIDDEN_BOUND,
                              .bytes = bytes});
    free_transfer(&t);
}

/* ---- what does not depend on the size ------------------------------------------------------- */

static double time_access(const harray_uint8_t *x, unsigned how, size_t count) {
    ha_access v;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        bench_require(ha_open(&v, x->array, gpu, how, 0, HA_END) == HA_OK, "open");
        bench_use(v.data);
        bench_require(ha_close(&v) == HA_OK, "close");
    }
    return bench_now() - start;
}

static double time_read(void *data, size_t count) { return time_access(data, HA_READ, count); }
static double time_write(void *data, size_t count) { return time_access(data, HA_WRITE, count); }

static double time_bare_lock(void *data, size_t count) {
    uint32_t *lock = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        uint32_t free = 0;
        bench_require(
            __atomic_compare_exchange_n(lock, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED),
            "lock");
        __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
    }
    return bench_now() - start;
}

static double time_launch(void *data, size_t count) {
    const harray_uint8_t *x = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        HA_WRITING(v, *x, gpu) raw_launch(0, HA_STREAM(v));
        else bench_require(0, "write");
        HA_CHECK(ha_context_finish(gpu));
    }
    return bench_now() - start;
}

static void latencies(void) {
    static uint32_t lock;
    static uint64_t nothing;
    harray_uint8_t x = harray_uint8_t_zeros_at(4096, gpu);
    bench_require(x.array != NULL, "array");
    HA_CHECK(ha_context_finish(gpu));
    bench_run(&(bench_figure){"read on a stream", time_read, &x, "bare atomic lock + unlock",
                              time_bare_lock, &lock, .bound = OPEN_BOUND});
    bench_run(&(bench_figure){"write on a stream", time_write, &x, "bare atomic lock + unlock",
                              time_bare_lock, &lock, .bound = OPEN_BOUND});
    bench_run(&(bench_figure){"empty launch in an access, and its end", time_launch, &x,
                              "cuLaunchKernel, cuStreamSynchronize", time_raw_launch, &nothing,
                              .bound = 0});
    HA_CHECK(harray_uint8_t_free(&x));
}

/* ---- memory --------------------------------------------------------------------------------- */

static double time_allocation(void *data, size_t count) {
    const size_t *bytes = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        harray_uint8_t x = harray_uint8_t_new_at(*bytes, gpu);
        bench_use(x.array);
        bench_require(x.array && harray_uint8_t_free(&x) == HA_OK, "array");
    }
    return bench_now() - start;
}

static double time_first_touch(void *data, size_t count) {
    const size_t *bytes = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        harray_uint8_t x = harray_uint8_t_new_at(0, gpu);
        HA_OVERWRITING(v, x, ha_host(), *bytes) {
            memset(v.data, 1, v.size);
            bench_use(v.data);
        }
        bench_require(harray_uint8_t_free(&x) == HA_OK, "array");
    }
    return bench_now() - start;
}

static void memories(size_t small, size_t large) {
    char name[64];
    bench_run(&(bench_figure){named(name, "array from the cache", small), time_allocation, &small,
                              "cuMemAlloc + cuMemFree", time_raw_allocation, &small,
                              .bound_ns = ALLOCATION_NS});
    HA_CHECK(ha_memory_set_cache(gpu, 0));
    bench_run(&(bench_figure){named(name, "first touch of pinned", large), time_first_touch, &large,
                              "cuMemHostAlloc + memset", time_raw_first_touch, &large,
                              .bytes = large});
}

/* ---- the program ---------------------------------------------------------------------------- */

/* Takes --small out of the arguments. */
static int take_small(int *argc, char **argv) {
    int small = 0, kept = 0;
    for (int i = 0; i < *argc; i++)
        if (strcmp(argv[i], "--small") == 0)
            small = 1;
        else
            argv[kept++] = argv[i];
    *argc = kept;
    return small;
}

int main(int argc, char **argv) {
    static const size_t sizes[] = {4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20, 1 << 30};
    const int small = take_small(&argc, argv);
    bench_begin(argc, argv, "included");
    gpu = ha_context_find("cuda:0");
    if (!gpu) {
        fprintf(stderr, "no CUDA device: %s\n", ha_take_error().text);
        return 77;
    }
    fork_of_gpu = ha_context_fork(gpu);
    bench_require(fork_of_gpu != NULL, "fork");
    if (raw_begin(gpu)) fprintf(stderr, "the fake driver: these figures say nothing about speed\n");
    const size_t large = small || !raw_holds(256 << 20) ? 1 << 20 : 256 << 20;
    latencies();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if ((small && sizes[i] > large) || !raw_holds(sizes[i])) break;
        transfers(sizes[i], 1, sizes[i] == large ? PINNED_BOUND : 0);
        transfers(sizes[i], 0, sizes[i] == large ? PAGEABLE_BOUND : 0);
    }
    strided_run(gpu, gpu, "pinned to device", "device to pinned");
    strided_run(gpu, ha_host(), "pageable to device", "device to pageable");
    prefetching(large);
    memories(1 << 20, large);
    raw_end();
    HA_CHECK(ha_shutdown());
    return 0;
}
