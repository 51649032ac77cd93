/* The temporary file itself: making one that has no name, reserving parts of it and giving them back, and
 * moving bytes. Functions return 0 or the system's error number. */
#ifndef HARRAY_BACKENDS_FILE_STORAGE_H
#define HARRAY_BACKENDS_FILE_STORAGE_H

#include "../backend.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* What transfers past the system's cache are aligned to in the file, and where blocks begin: none shares a page of the
 * cache with another one. */
#define HA_FILE_UNIT_ ((size_t)4096)
#define HA_FILE_SECTOR_ ((size_t)512)      /* in memory, as a rule; else to a unit, too */
#define HA_FILE_PIECE_ ((size_t)4 << 20)   /* moved in one call of the system at most */
#define HA_FILE_DIRECT_ ((size_t)64 << 10) /* what goes past the cache is at least as large */

typedef struct ha_file_storage {
    int file;               /* through the system's cache */
    _Atomic int direct;     /* past it; -1: not possible */
    _Atomic size_t sector;  /* what memory is aligned to there */
    int opened;             /* what `direct` was, to be closed; -1: nothing */
    pthread_mutex_t lock;   /* of growing, where there is no fallocate */
    uint64_t size;          /* of the file, there */
    _Atomic int no_reserve; /* the file system has no fallocate */
} ha_file_storage;

/* ---- making and ending ---- */

/* With a name for a moment, where files cannot be made without one. */
HA_IN_ int ha_file_make_named(const char *directory, int *file) {
    char name[1100];
    snprintf(name, sizeof name, "%s/harray-XXXXXX", directory);
    *file = mkostemp(name, O_CLOEXEC);
    if (*file < 0) return errno;
    (void)unlink(name);
    return 0;
}

HA_IN_ int ha_file_make(const char *directory, int *file) {
#ifdef O_TMPFILE
    *file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (*file >= 0) return 0;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) return errno;
#endif
    return ha_file_make_named(directory, file);
}

/* The same file once more, without the system's cache; -1: not here. */
HA_IN_ int ha_file_open_direct(int file) {
#ifdef O_DIRECT
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    return open(name, O_RDWR | O_DIRECT | O_CLOEXEC);
#else
    (void)file;
    return -1;
#endif
}

HA_IN_ int ha_file_storage_create(ha_file_storage *s, const char *directory, int buffered) {
    const int error = ha_file_make(directory, &s->file);
    if (error) return error;
    s->opened = buffered ? -1 : ha_file_open_direct(s->file);
    s->size = 0;
    atomic_init(&s->direct, s->opened);
    atomic_init(&s->sector, HA_FILE_SECTOR_);
    atomic_init(&s->no_reserve, 0);
    pthread_mutex_init(&s->lock, NULL);
    return 0;
}

HA_IN_ void ha_file_storage_destroy(ha_file_storage *s) {
    if (s->opened >= 0) close(s->opened);
    close(s->file);
    pthread_mutex_destroy(&s->lock);
}

/* Bytes that the file system has left for it; UINT64_MAX: it does not say. */
HA_IN_ uint64_t ha_file_free_bytes(const ha_file_storage *s) {
    struct statvfs is;
    if (fstatvfs(s->file, &is) != 0) return UINT64_MAX;
    return (uint64_t)is.f_bavail * is.f_frsize;
}

/* ---- reserving ---- */

/* Between these two a file that becomes larger than the process may make one is an error, and no signal: one
 * that was not there before is taken back. */
typedef struct ha_file_limit {
    sigset_t signal, before;
    int waits; /* one did before */
} ha_file_limit;

HA_IN_ ha_file_limit ha_file_limit_begin(void) {
    ha_file_limit limit;
    sigset_t pending;
    sigemptyset(&limit.signal);
    sigaddset(&limit.signal, SIGXFSZ);
    sigpending(&pending);
    limit.waits = sigismember(&pending, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit.signal, &limit.before);
    return limit;
}

HA_IN_ void ha_file_limit_end(const ha_file_limit *limit, int error) {
    const struct timespec now = {0, 0};
    if (error == EFBIG && !limit->waits) (void)sigtimedwait(&limit->signal, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &limit->before, NULL);
}

HA_IN_ int ha_file_allocate_range(int file, int mode, uint64_t first, size_t bytes) {
    const ha_file_limit limit = ha_file_limit_begin();
    int error;
    do {
        error = fallocate(file, mode, (off_t)first, (off_t)bytes) != 0 ? errno : 0;
    } while (error == EINTR);
    ha_file_limit_end(&limit, error);
    return error;
}

/* The pages of a range are given back to the file system, where it can take them. */
HA_IN_ void ha_file_punch(ha_file_storage *s, uint64_t first, size_t bytes) {
    (void)ha_file_allocate_range(s->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, first, bytes);
}

/* The file is at least as large, without room for it. */
HA_IN_ int ha_file_grow(ha_file_storage *s, uint64_t size) {
    const ha_file_limit limit = ha_file_limit_begin();
    int error = 0;
    pthread_mutex_lock(&s->lock);
    if (size > s->size) error = ftruncate(s->file, (off_t)size) != 0 ? errno : 0;
    if (size > s->size && !error) s->size = size;
    pthread_mutex_unlock(&s->lock);
    ha_file_limit_end(&limit, error);
    return error;
}

/* Room for a range that nobody has. */
HA_IN_ int ha_file_reserve(ha_file_storage *s, uint64_t first, size_t bytes) {
    int error = EOPNOTSUPP;
    if (!atomic_load_explicit(&s->no_reserve, memory_order_relaxed))
        error = ha_file_allocate_range(s->file, 0, first, bytes);
    if (error == EOPNOTSUPP || error == ENOSYS) {
        atomic_store_explicit(&s->no_reserve, 1, memory_order_relaxed);
        return ha_file_grow(s, first + bytes);
    }
    if (error) ha_file_punch(s, first, bytes); /* a part of it may have been there */
    return error;
}

/* ---- moving bytes ---- */

/* The system says that memory is not aligned: if it was to a unit, nothing goes there. */
HA_IN_ void ha_file_align(ha_file_storage *s, const char *host) {
    if ((uintptr_t)host % HA_FILE_UNIT_ == 0)
        atomic_store_explicit(&s->direct, -1, memory_order_relaxed);
    else
        atomic_store_explicit(&s->sector, HA_FILE_UNIT_, memory_order_relaxed);
}

/* What the next call of the system moves, of `bytes` bytes from *host on: by which file, and how many. */
HA_IN_ int ha_file_next(ha_file_storage *s, const char *host, uint64_t offset, size_t bytes,
                        size_t *piece) {
    const int direct = atomic_load_explicit(&s->direct, memory_order_relaxed);
    const size_t sector = atomic_load_explicit(&s->sector, memory_order_relaxed);
    const size_t over = (size_t)(offset % HA_FILE_UNIT_);
    *piece = bytes < HA_FILE_PIECE_ ? bytes : HA_FILE_PIECE_;
    if (direct < 0 || bytes < HA_FILE_DIRECT_ || ((uintptr_t)host - over) % sector != 0)
        return s->file;
    if (over > 0) {
        *piece = HA_FILE_UNIT_ - over;
        return s->file;
    }
    *piece -= *piece % HA_FILE_UNIT_;
    return direct;
}

/* All of a range of the file, to or from the host. A file that ends too early is EIO. */
HA_IN_ int ha_file_transfer(ha_file_storage *s, int writing, char *host, uint64_t offset,
                            size_t bytes) {
    while (bytes > 0) {
        size_t piece;
        const int file = ha_file_next(s, host, offset, bytes, &piece);
        const ssize_t moved = writing ? pwrite(file, host, piece, (off_t)offset)
                                      : pread(file, host, piece, (off_t)offset);
        if (moved < 0 && errno == EINVAL && file != s->file) {
            ha_file_align(s, host);
        } else if (moved < 0 && errno != EINTR) {
            return errno;
        } else if (moved == 0) {
            return EIO;
        } else if (moved > 0) {
            host += moved;
            offset += (uint64_t)moved;
            bytes -= (size_t)moved;
        }
    }
    return 0;
}

#endif
