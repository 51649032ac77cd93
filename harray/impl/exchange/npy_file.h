/* .npy files: what is read from one and written to one, and new files that appear when they are
 * complete. npy_header.h has their headers. */
#ifndef HARRAY_IMPL_EXCHANGE_NPY_FILE_H
#define HARRAY_IMPL_EXCHANGE_NPY_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../npy.h"
#include "../elements/all.h"

/* Who asks for what, for messages. A file without a path is the caller's. */
typedef struct ha_npy_file {
    FILE *file;
    const char *path, *operation;
} ha_npy_file;

HA_IN_ const char *ha_npy_path(const ha_npy_file *f) { return f->path ? f->path : "a .npy file"; }

/* With the system's reason, which is errno. */
HA_IN_ ha_status ha_npy_fail(const ha_npy_file *f, ha_status s, const char *what) {
    ha_backend_report(errno, strerror(errno));
    return ha_fail(s, f->operation, "%.200s %s", ha_npy_path(f), what);
}

/* ---- new files ------------------------------------------------------------------------------ */

/* Beside the file that it will become; what is no ordinary file is written as it is. */
typedef struct ha_npy_new {
    ha_npy_file to;
    char final[PATH_MAX], temporary[PATH_MAX]; /* temporary: "" for none */
} ha_npy_new;

HA_STATE_ uint32_t ha_npy_new_files; /* so far: for their names */

/* A name in the same folder, of its own; opened. -1 and errno: it cannot be. */
HA_IN_ int ha_npy_open_beside(ha_npy_new *n, mode_t mode) {
    const char *slash = strrchr(n->final, '/');
    const int folder = slash ? (int)(slash + 1 - n->final) : 0;
    int fd;
    do {
        const uint32_t number = __atomic_add_fetch(&ha_npy_new_files, 1, __ATOMIC_RELAXED);
        const int length = snprintf(n->temporary, sizeof n->temporary, "%.*s.harray-%ld-%u.npy",
                                    folder, n->final, (long)getpid(), number);
        errno = ENAMETOOLONG;
        if (length < 0 || (size_t)length >= sizeof n->temporary) return -1;
        fd = open(n->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

/* Where links lead, also when nothing is there yet. Returns whether they end. */
HA_IN_ int ha_npy_follow(char *path) {
    enum { MOST_LINKS = 40 };
    char target[PATH_MAX];
    for (int i = 0; i < MOST_LINKS; i++) {
        const ssize_t n = readlink(path, target, sizeof target);
        if (n < 0) return 1;
        const char *slash = *target == '/' ? NULL : strrchr(path, '/');
        const size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
        errno = ENAMETOOLONG;
        if (folder + (size_t)n >= PATH_MAX) return 0;
        memcpy(path + folder, target, (size_t)n);
        path[folder + (size_t)n] = 0;
    }
    errno = ELOOP;
    return 0;
}

/* What a link points to is replaced, not the link. */
HA_IN_ FILE *ha_npy_new_open(ha_npy_new *n, const char *path) {
    struct stat old;
    const int is_there = !stat(path, &old);
    const size_t length = strlen(path);
    n->temporary[0] = 0;
    if (is_there && !S_ISREG(old.st_mode)) return fopen(path, "we");
    errno = ENAMETOOLONG;
    if (length >= sizeof n->final) return NULL;
    memcpy(n->final, path, length + 1);
    if (!ha_npy_follow(n->final)) return NULL;
    const int fd = ha_npy_open_beside(n, 0666);
    if (fd < 0) return NULL;
    if (is_there) HA_IGNORE_((ha_status)fchmod(fd, old.st_mode & 07777)); /* or as new ones are */
    FILE *file = fdopen(fd, "w");
    if (file) return file;
    const int error = errno;
    close(fd);
    unlink(n->temporary);
    errno = error;
    return NULL;
}

HA_IN_ ha_status ha_npy_new_begin(ha_npy_new *n, const char *path, const char *operation) {
    n->to = (ha_npy_file){NULL, path, operation};
    if (!path) return ha_fail(HA_ERR_ARGUMENT, operation, "the path is NULL");
    n->to.file = ha_npy_new_open(n, path);
    return n->to.file ? HA_OK : ha_npy_fail(&n->to, HA_ERR_ARGUMENT, "cannot be written");
}

/* `s`: how it went so far. The file is there as a whole, or not at all and an older one still. */
HA_IN_ ha_status ha_npy_new_end(ha_npy_new *n, ha_status s) {
    errno = 0;
    const int closed = !fclose(n->to.file);
    if (!s && !closed) s = ha_npy_fail(&n->to, HA_ERR_BACKEND, "could not be written");
    if (!*n->temporary) return s;
    if (!s && rename(n->temporary, n->final))
        s = ha_npy_fail(&n->to, HA_ERR_BACKEND, "could not be put into its place");
    if (s) unlink(n->temporary);
    return s;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Elements in the order of the file: `rank` dimensions, the slowest first, of blocks without gaps;
 * strides in bytes. */
typedef struct ha_npy_blocks {
    const char *data;
    size_t block; /* bytes */
    int rank;
    int64_t extent[HA_MOST_RANK], stride[HA_MOST_RANK];
} ha_npy_blocks;

/* With at least one element; data points to index 0, 0, ... */
HA_IN_ ha_npy_blocks ha_npy_blocks_of(const void *data, const ha_npy_header *h,
                                      const int64_t *stride) {
    ha_npy_blocks b = {.data = (const char *)data, .block = ha_dtype_size(h->type)};
    const int64_t size = (int64_t)b.block;
    for (int n = h->rank; n-- > 0;) {
        const int d = ha_nth_fastest(n, h->rank, h->order);
        if (h->extent[d] == 1) continue;
        b.extent[b.rank] = h->extent[d];
        b.stride[b.rank++] = stride[d] * size;
    }
    while (b.rank && b.stride[b.rank - 1] == (int64_t)b.block)
        b.block *= (size_t)b.extent[--b.rank];
    return b;
}

enum { HA_NPY_BUFFER = 1 << 16, HA_NPY_SMALL_BLOCK = 1 << 12 };

HA_IN_ int ha_npy_put(const ha_npy_file *f, const void *bytes, size_t n) {
    return fwrite(bytes, 1, n, f->file) == n;
}

/* A size that is known copies by one instruction. */
HA_IN_ void ha_npy_gather(char *to, const char *from, int64_t stride, size_t block, size_t n) {
#define HA_NPY_GATHER_(size)                                                                       \
    case size:                                                                                     \
        for (size_t i = 0; i < n; i++) memcpy(to + i * (size), from + (int64_t)i * stride, size);  \
        break
    switch (block) {
        HA_NPY_GATHER_(1);
        HA_NPY_GATHER_(2);
        HA_NPY_GATHER_(4);
        HA_NPY_GATHER_(8);
        HA_NPY_GATHER_(16);
    default:
        for (size_t i = 0; i < n; i++) memcpy(to + i * block, from + (int64_t)i * stride, block);
    }
#undef HA_NPY_GATHER_
}

/* A row of small blocks, through a buffer. */
HA_IN_ int ha_npy_put_row(const ha_npy_file *f, const ha_npy_blocks *b, const char *row) {
    char buffer[HA_NPY_BUFFER];
    const size_t most = sizeof buffer / b->block, all = (size_t)b->extent[b->rank - 1];
    const int64_t stride = b->stride[b->rank - 1];
    for (size_t i = 0; i < all; i += most) {
        const size_t n = all - i < most ? all - i : most;
        ha_npy_gather(buffer, row + (int64_t)i * stride, stride, b->block, n);
        if (!ha_npy_put(f, buffer, n * b->block)) return 0;
    }
    return 1;
}

/* Of dimensions d and beyond. */
HA_IN_ int ha_npy_put_part(const ha_npy_file *f, const ha_npy_blocks *b, int d, const char *at) {
    if (d == b->rank) return ha_npy_put(f, at, b->block);
    if (d == b->rank - 1 && b->block < HA_NPY_SMALL_BLOCK) return ha_npy_put_row(f, b, at);
    for (int64_t i = 0; i < b->extent[d]; i++)
        if (!ha_npy_put_part(f, b, d + 1, at + i * b->stride[d])) return 0;
    return 1;
}

/* Header and elements; data points to index 0, 0, ..., strides are in elements. */
HA_IN_ ha_status ha_npy_write(const ha_npy_file *f, ha_npy_header *h, const void *data,
                              const int64_t *stride) {
    char head[HA_NPY_MOST_BYTES];
    ha_status s = ha_npy_print(h, head, sizeof head);
    if (s) return s;
    int fits = ha_npy_put(f, head, h->bytes);
    if (fits && !ha_any_zero(h->rank, h->extent)) {
        const ha_npy_blocks b = ha_npy_blocks_of(data, h, stride);
        fits = ha_npy_put_part(f, &b, 0, b.data);
    }
    if (fits && !fflush(f->file)) return HA_OK;
    return ha_npy_fail(f, HA_ERR_BACKEND, "could not be written");
}

/* Those of a view as they follow each other in memory, if they do, else as far as possible: nothing
 * is turned around that need not be. */
HA_IN_ ha_order ha_npy_order(int rank, const int64_t *extent, const int64_t *stride) {
    if (ha_extents_contiguous(rank, extent, stride, HA_ROW_MAJOR)) return HA_ROW_MAJOR;
    int64_t last = 0;
    int dimensions = 0;
    for (int d = 0; d < rank; d++) {
        if (extent[d] == 1) continue;
        const int64_t here = stride[d] < 0 ? -stride[d] : stride[d];
        if (here < last) return HA_ROW_MAJOR;
        last = here;
        dimensions++;
    }
    return dimensions > 1 ? HA_COLUMN_MAJOR : HA_ROW_MAJOR;
}

/* ---- reading -------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_npy_cut(const ha_npy_file *f, uint64_t there, uint64_t wanted) {
    return ha_fail(HA_ERR_ARGUMENT, f->operation, "%.200s is cut: %llu bytes of %llu are there",
                   ha_npy_path(f), (unsigned long long)there, (unsigned long long)wanted);
}

/* Bytes from here on; how many were read before is for messages. */
HA_IN_ ha_status ha_npy_get(const ha_npy_file *f, void *bytes, size_t n, size_t before) {
    errno = 0;
    const size_t got = fread(bytes, 1, n, f->file);
    if (got == n) return HA_OK;
    if (ferror(f->file)) return ha_npy_fail(f, HA_ERR_BACKEND, "could not be read");
    return ha_npy_cut(f, before + got, before + n);
}

/* An error of the header says which file's it is. */
HA_IN_ ha_status ha_npy_parse_named(const ha_npy_file *f, const void *bytes, size_t count,
                                    ha_npy_header *h) {
    ha_npy_header parsed;
    ha_tell_later();
    const ha_status s = ha_npy_parse(bytes, count, &parsed);
    const ha_error e = ha_later_error.error;
    ha_later_error.error.status = HA_OK;
    ha_tell_now();
    if (s) return ha_fail(s, f->operation, "%.160s: %.200s", ha_npy_path(f), e.text);
    *h = parsed;
    return HA_OK;
}

/* The header that begins here. */
HA_IN_ ha_status ha_npy_read_header(const ha_npy_file *f, ha_npy_header *h) {
    enum { HEAD = 12 };
    char head[HEAD], *all;
    size_t length = HEAD;
    ha_status s = ha_npy_get(f, head, HEAD, 0);
    if (s) return s;
    ha_tell_later();
    s = ha_npy_measure(head, HEAD, &length);
    ha_later_error.error.status = HA_OK;
    ha_tell_now();
    if (s || length < HEAD) return ha_npy_parse_named(f, head, HEAD, h); /* says what is wrong */
    all = (char *)HARRAY_MALLOC(length);
    if (!all) return ha_fail(HA_ERR_MEMORY, f->operation, "no memory for a header");
    memcpy(all, head, HEAD);
    s = ha_npy_get(f, all + HEAD, length - HEAD, HEAD);
    if (!s) s = ha_npy_parse_named(f, all, length, h);
    HARRAY_FREE(all);
    return s;
}

HA_IN_ size_t ha_npy_bytes(const ha_npy_header *h) {
    size_t bytes = ha_dtype_size(h->type);
    for (int d = 0; d < h->rank; d++) bytes *= (size_t)h->extent[d];
    return bytes;
}

/* Before memory is taken for the elements: are there as many in an ordinary file? exactly: and
 * nothing else behind them. */
HA_IN_ ha_status ha_npy_measure_file(const ha_npy_file *f, const ha_npy_header *h, int exactly) {
    struct stat file;
    const off_t at = ftello(f->file);
    if (fstat(fileno(f->file), &file) || !S_ISREG(file.st_mode) || at < 0) return HA_OK;
    const uint64_t wanted = h->bytes + ha_npy_bytes(h);
    const uint64_t there = (uint64_t)(file.st_size < at ? 0 : file.st_size - at) + h->bytes;
    if (there < wanted) return ha_npy_cut(f, there, wanted);
    if (!exactly || there == wanted) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, f->operation, "%.200s has %llu bytes behind its last element",
                   ha_npy_path(f), (unsigned long long)(there - wanted));
}

/* The same of what is no ordinary file: when its elements have been read. */
HA_IN_ ha_status ha_npy_at_end(const ha_npy_file *f) {
    if (getc(f->file) == EOF) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, f->operation, "%.200s has bytes behind its last element",
                   ha_npy_path(f));
}

/* Numbers of 2, 4 or 8 bytes in the other order of bytes. */
HA_IN_ void ha_npy_swap(void *data, size_t bytes, size_t width) {
    char *at = (char *)data, *end = at + bytes;
#define HA_NPY_SWAP_(bits)                                                                         \
    for (; width == (bits) / 8 && at < end; at += (bits) / 8) {                                    \
        uint##bits##_t number;                                                                     \
        memcpy(&number, at, sizeof number);                                                        \
        number = __builtin_bswap##bits(number);                                                    \
        memcpy(at, &number, sizeof number);                                                        \
    }
    HA_NPY_SWAP_(16)
    HA_NPY_SWAP_(32)
    HA_NPY_SWAP_(64)
#undef HA_NPY_SWAP_
}

/* The elements, as numbers of this machine. */
HA_IN_ ha_status ha_npy_read_elements(const ha_npy_file *f, const ha_npy_header *h, void *data) {
    const size_t bytes = ha_npy_bytes(h), size = ha_dtype_size(h->type);
    ha_status s = bytes ? ha_npy_get(f, data, bytes, h->bytes) : HA_OK;
    if (!s && bytes && h->swapped)
        ha_npy_swap(data, bytes, ha_dtype_kind(h->type) == HA_KIND_COMPLEX ? size / 2 : size);
    unsigned char *truth = (unsigned char *)data; /* to NumPy all but 0 is true, C has 1 alone */
    for (size_t i = 0; !s && h->type == HA_DTYPE_bool && i < bytes; i++) truth[i] = truth[i] != 0;
    return s;
}

HA_IN_ ha_status ha_npy_open(ha_npy_file *f, const char *path, const char *operation) {
    *f = (ha_npy_file){NULL, path, operation};
    if (!path) return ha_fail(HA_ERR_ARGUMENT, operation, "the path is NULL");
    f->file = fopen(path, "re");
    return f->file ? HA_OK : ha_npy_fail(f, HA_ERR_NOT_FOUND, "cannot be read");
}

#endif
