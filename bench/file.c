/* A file as a memory: writing an array there and reading it again, against pwrite and pread of the same bytes on
 * a file in the same directory, in the same pieces and past the system's cache if that can be; and against
 * mmap and msync of such a file. The directory is TMPDIR, or /tmp. */
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

int main(int argc, char **argv) {
    const ha_file_options options = {.directory = place()};
    bench_begin(argc, argv, "");
    HA_CHECK(ha_file_configure(&options));
    ha_context *disk = ha_context_find("file:0");
    bench_require(disk != NULL, "file:0");
    at_size(disk, (size_t)64 << 20, "write 64 MiB", "read 64 MiB", "write 64 MiB beside a mapping");
    if (bench_settings.least_ns > 0)
        at_size(disk, (size_t)1 << 30, "write 1 GiB", "read 1 GiB", "write 1 GiB beside a mapping");
    HA_CHECK_ERRORS();
}
