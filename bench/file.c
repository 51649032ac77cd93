/* A file as a memory: writing an array there and reading it again, against pwrite and pread of the same bytes on
 * a file in the same directory, in the same pieces and past the system's cache if that can be; and against
 * mmap and msync of such a file. And arrays that are eight times larger than the host's budget, each of which is changed in turn,
 * against reading, changing and writing the same bytes by hand. The directory is TMPDIR, or /tmp. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../harray.h"

#include "bench.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PIECE = 4 << 20 };

typedef struct tier {
    harray_uint8_t x;
    ha_context *disk;
    size_t bytes;
    int file;     /* the reference's */
    char *memory; /* too */
    char *mapped; /* the same file */
} tier;

static const char *place(void) {
    const char *named = getenv("TMPDIR");
    return named != NULL && *named != '\0' ? named : "/tmp";
}

static void make_reference(tier *t) {
    char name[40];
    const int file = open(place(), O_TMPFILE | O_RDWR, 0600);
    bench_require(file >= 0, "a file");
    bench_require(posix_fallocate(file, 0, (off_t)t->bytes) == 0, "room on the disk");
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    t->file = open(name, O_RDWR | O_DIRECT);
    if (t->file < 0) t->file = file;
    t->mapped = mmap(NULL, t->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    t->memory = aligned_alloc((size_t)2 << 20, t->bytes);
    bench_require(t->mapped != MAP_FAILED && t->memory != NULL, "memory");
    (void)madvise(t->memory, t->bytes,
                  MADV_HUGEPAGE); /* as harray's: in small pages a disk gets small pieces */
    memset(t->memory, 1, t->bytes);
}

static double time_write(void *data, size_t count) {
    tier *t = data;
    double ns = 0;
    for (size_t i = 0; i < count; i++) {
        HA_WRITING(v, t->x, ha_host()) bench_use(v.data);
        const double start = bench_now();
        HA_CHECK(ha_array_prefetch(t->x.array, t->disk, 0, HA_END));
        HA_CHECK(ha_context_finish(t->disk));
        ns += bench_now() - start;
    }
    return ns;
}

static double time_read(void *data, size_t count) {
    tier *t = data;
    double ns = 0;
    for (size_t i = 0; i < count; i++) {
        HA_WRITING(v, t->x, t->disk) bench_use(v.data);
        HA_CHECK(ha_context_finish(t->disk));
        const double start = bench_now();
        HA_READING(v, t->x, ha_host()) bench_use(v.data);
        ns += bench_now() - start;
    }
    return ns;
}

static double time_pwrite(void *data, size_t count) {
    tier *t = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < t->bytes; at += PIECE)
            bench_require(pwrite(t->file, t->memory + at, PIECE, (off_t)at) == PIECE, "pwrite");
    return bench_now() - start;
}

static double time_pread(void *data, size_t count) {
    tier *t = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < t->bytes; at += PIECE)
            bench_require(pread(t->file, t->memory + at, PIECE, (off_t)at) == PIECE, "pread");
    return bench_now() - start;
}

static double time_msync(void *data, size_t count) {
    tier *t = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++) {
        memcpy(t->mapped, t->memory, t->bytes);
        bench_require(msync(t->mapped, t->bytes, MS_SYNC) == 0, "msync");
    }
    return bench_now() - start;
}

static void at_size(ha_context *disk, size_t bytes, const char *writing, const char *reading,
                    const char *mapping) {
    tier t = {.bytes = bytes, .disk = disk, .x = harray_uint8_t_filled(bytes, 1)};
    bench_require(t.x.array != NULL, "array");
    make_reference(&t);
    bench_run(&(bench_figure){writing, time_write, &t, "pwrite", time_pwrite, &t, .bound = 1.11,
                              .bytes = bytes});
    bench_run(&(bench_figure){reading, time_read, &t, "pread", time_pread, &t, .bound = 1.11,
                              .bytes = bytes});
    bench_run(&(bench_figure){mapping, time_write, &t, "mmap, msync", time_msync, &t, .bound = 1.0,
                              .bytes = bytes});
    munmap(t.mapped, t.bytes);
    close(t.file);
    free(t.memory);
    HA_CHECK(harray_uint8_t_free(&t.x));
}

/* ---- more than the host has ------------------------------------------------------------------- */

enum { PARTS = 32 };
typedef struct sweep {
    harray_uint8_t x[PARTS];
    tier by_hand;
    size_t part; /* bytes */
} sweep;

static void change(char *memory, size_t bytes) {
    for (size_t k = 0; k < bytes; k += 4096) memory[k]++;
}

static double time_sweep(void *data, size_t count) {
    const sweep *s = data;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++)
        for (int p = 0; p < PARTS; p++)
            HA_WRITING(v, s->x[p], ha_host()) change((char *)v.data, v.size);
    return bench_now() - start;
}

static double time_sweep_by_hand(void *data, size_t count) {
    const sweep *s = data;
    const tier *t = &s->by_hand;
    const double start = bench_now();
    for (size_t i = 0; i < count; i++)
        for (size_t first = 0; first < t->bytes; first += s->part) {
            for (size_t at = 0; at < s->part; at += PIECE)
                bench_require(pread(t->file, t->memory + at, PIECE, (off_t)(first + at)) == PIECE,
                              "pread");
            change(t->memory, s->part);
            for (size_t at = 0; at < s->part; at += PIECE)
                bench_require(pwrite(t->file, t->memory + at, PIECE, (off_t)(first + at)) == PIECE,
                              "pwrite");
        }
    return bench_now() - start;
}

static void more_than_fits(ha_context *disk, size_t part, const char *name) {
    sweep s = {.part = part, .by_hand = {.bytes = PARTS * part}};
    HA_CHECK(ha_memory_set_tier(ha_host(), disk));
    HA_CHECK(ha_memory_set_budget(ha_host(), PARTS * part / 8));
    for (int p = 0; p < PARTS; p++) {
        s.x[p] = harray_uint8_t_filled(part, 1);
        bench_require(s.x[p].array != NULL, "array");
    }
    make_reference(&s.by_hand);
    bench_run(&(bench_figure){name, time_sweep, &s, "pread, pwrite", time_sweep_by_hand, &s,
                              .bound = 1.11, .bytes = 2 * PARTS * part});
    for (int p = 0; p < PARTS; p++) HA_CHECK(harray_uint8_t_free(&s.x[p]));
    munmap(s.by_hand.mapped, s.by_hand.bytes);
    close(s.by_hand.file);
    free(s.by_hand.memory);
    HA_CHECK(ha_memory_set_budget(ha_host(), 0));
    HA_CHECK(ha_memory_set_tier(ha_host(), NULL));
}

int main(int argc, char **argv) {
    const ha_file_options options = {.directory = place()};
    bench_begin(argc, argv, "");
    HA_CHECK(ha_file_configure(&options));
    ha_context *disk = ha_context_find("file:0");
    bench_require(disk != NULL, "file:0");
    at_size(disk, (size_t)64 << 20, "write 64 MiB", "read 64 MiB", "write 64 MiB beside a mapping");
    if (bench_settings.least_ns > 0)
        at_size(disk, (size_t)1 << 30, "write 1 GiB", "read 1 GiB", "write 1 GiB beside a mapping");
    if (bench_settings.least_ns > 0)
        more_than_fits(disk, (size_t)64 << 20, "change 2 GiB, a budget of 256 MiB");
    else
        more_than_fits(disk, (size_t)4 << 20, "change 128 MiB, a budget of 16 MiB");
    HA_CHECK_ERRORS();
}
