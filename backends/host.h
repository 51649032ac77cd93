/* The host: one device, whose memory is the process's own and whose work is done by the calling
 * thread. There is nothing to open, so it is the smallest backend there is. */
#ifndef HARRAY_BACKEND_HOST_H
#define HARRAY_BACKEND_HOST_H

#include "backend.h"

#include <stdlib.h>
#include <sys/mman.h>

#define HA_HOST_HUGE_PAGE ((size_t)2 << 20)

/* Large blocks start on a huge page and ask for huge pages: their first touch is several times
 * faster. The advice may be refused, which only costs time. */
static ha_status ha_host_allocate(void *memory, size_t bytes, void **block) {
    int large = bytes >= HA_HOST_HUGE_PAGE;
    void *fresh;
    (void)memory;
    if (bytes > PTRDIFF_MAX) return HA_ERR_MEMORY;
    if (posix_memalign(&fresh, large ? HA_HOST_HUGE_PAGE : 64, bytes) != 0) return HA_ERR_MEMORY;
#ifdef MADV_HUGEPAGE
    if (large) (void)madvise(fresh, bytes, MADV_HUGEPAGE);
#endif
    *block = fresh;
    return HA_OK;
}

static void ha_host_release(void *memory, void *block, size_t bytes) {
    (void)memory;
    (void)bytes;
    free(block);
}

/* The host has no queue that could copy: others copy to it and from it. */
static int ha_host_reaches(void *memory, const ha_place *other) {
    (void)memory;
    (void)other;
    return 0;
}

static int ha_host_count(void) { return 1; }

static const ha_memory_ops ha_host_memory_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = ha_host_allocate,
    .release = ha_host_release,
    .reaches = ha_host_reaches,
};

static const ha_backend ha_backend_host HA_UNUSED = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "host",
    .count = ha_host_count,
    .memory = &ha_host_memory_ops,
};

#endif
