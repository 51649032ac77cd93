/* Calls of the system with files that fail or wait on demand: writing, and reserving a part of the disk. Include before
 * the implementation; and behind it #undef pwrite and fallocate. */
#ifndef HARRAY_TESTS_SUPPORT_DISTURBED_WRITES_H
#define HARRAY_TESTS_SUPPORT_DISTURBED_WRITES_H

#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int writes_fail; /* so many from now on; -1: all */
static atomic_int fails_with;  /* the error of the system */
static atomic_int disk_is_full;
static atomic_int writes_held; /* until it is 0 */

static ssize_t disturbed_pwrite(int file, const void *from, size_t bytes, off_t offset) {
    while (atomic_load(&writes_held)) usleep(100);
    if (atomic_load(&writes_fail) && atomic_fetch_sub(&writes_fail, 1) != 0) {
        if (atomic_load(&writes_fail) < 0) atomic_store(&writes_fail, -1);
        return errno = atomic_load(&fails_with), -1;
    }
    return pwrite(file, from, bytes, offset);
}

static int disturbed_fallocate(int file, int mode, off_t first, off_t bytes) {
    if (mode == 0 && atomic_load(&disk_is_full)) return errno = ENOSPC, -1;
    return fallocate(file, mode, first, bytes);
}

static void undisturbed(void) {
    atomic_store(&writes_fail, 0);
    atomic_store(&disk_is_full, 0);
    atomic_store(&writes_held, 0);
}

#define pwrite disturbed_pwrite
#define fallocate disturbed_fallocate

#endif
