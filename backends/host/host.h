/* The host: one device, whose memory is the process's own and whose work is done by the calling
 * thread. There is nothing to open, so it is the smallest backend there is. */
#ifndef HARRAY_BACKENDS_HOST_HOST_H
#define HARRAY_BACKENDS_HOST_HOST_H

/* Of programs that only see it, all warnings have been given where it was compiled (tests/support/linked.h). */
#ifdef HA_INSIDE_IS_LINKED_
#pragma GCC system_header
#endif

#include "../backend.h"

#include <stdlib.h>
#include <sys/mman.h>

#define HA_HOST_HUGE_PAGE_ ((size_t)2 << 20)
#define HA_HOST_LINE_ ((size_t)64) /* of the cache; blocks are aligned to it */
#define HA_HOST_SECTOR_                                                                            \
    ((size_t)512) /* of a disk; past the system's cache memory is aligned to it */
#define HA_HOST_PAGE_ ((size_t)4096)
#define HA_HOST_DISTANCES_ ((size_t)61) /* lines: not quite a page */
#define HA_HOST_SECTORS_ ((size_t)7)    /* the same */

#ifdef HARRAY_DEBUG
#include "guarded.h"
#define ha_host_allocate ha_guarded_allocate
#define ha_host_release ha_guarded_release
#else
/* Arrays that are used together should not all begin at the same place of a page, as blocks of a
 * size often would: where their elements with the same index share the low bits of their addresses,
 * a processor takes loads for dependent on stores that they have nothing to do with, and loops take
 * up to a quarter longer (bench/cg.c). So a block of a page or more begins a few cache lines behind
 * what was allocated, each at another distance, which is little compared to its size. Of large blocks it is one that
 * files are read to and written from without a copy. */
HA_IN_ size_t ha_host_distance(size_t bytes) {
    static uint32_t ha_host_turn;
    const int large = bytes >= HA_HOST_HUGE_PAGE_;
    const size_t line = large ? HA_HOST_SECTOR_ : HA_HOST_LINE_;
    const size_t most = large ? HA_HOST_SECTORS_ : HA_HOST_DISTANCES_;
    size_t lines = bytes / 8 / line;
    if (bytes < HA_HOST_PAGE_) return 0;
    if (lines > most) lines = most;
    uint32_t turn = __atomic_fetch_add(&ha_host_turn, 1, __ATOMIC_RELAXED);
    return line * (1 + turn * 5 % lines); /* 5: neighbours are not next to each other */
}

/* Large blocks ask for huge pages: their first touch is several times faster. The advice may be
 * refused, which only costs time. What was allocated is noted in front of the block. */
HA_IN_ ha_status ha_host_allocate(void *memory, size_t bytes, void **block) {
    int large = bytes >= HA_HOST_HUGE_PAGE_;
    size_t distance = ha_host_distance(bytes);
    void *fresh;
    (void)memory;
    if (bytes > PTRDIFF_MAX - distance) return HA_ERR_MEMORY;
    if (posix_memalign(&fresh, large ? HA_HOST_HUGE_PAGE_ : HA_HOST_LINE_, bytes + distance) != 0)
        return HA_ERR_MEMORY;
#ifdef MADV_HUGEPAGE
    if (large) (void)madvise(fresh, bytes + distance, MADV_HUGEPAGE);
#endif
    *block = (char *)fresh + distance;
    if (distance) ((void **)*block)[-1] = fresh;
    return HA_OK;
}

HA_IN_ void ha_host_release(void *memory, void *block, size_t bytes) {
    (void)memory;
    free(bytes < HA_HOST_PAGE_ ? block : ((void **)block)[-1]);
}
#endif

/* The host has no queue that could copy: others copy to it and from it. */
HA_IN_ int ha_host_reaches(void *memory, const ha_place *other) {
    (void)memory;
    (void)other;
    return 0;
}

HA_IN_ int ha_host_count(void) { return 1; }

static const ha_memory_ops ha_host_memory_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = ha_host_allocate,
    .release = ha_host_release,
    .reaches = ha_host_reaches,
};

HA_STATE_ const ha_backend ha_backend_host HA_UNUSED = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "host",
    .count = ha_host_count,
    .memory = &ha_host_memory_ops,
};

#endif
