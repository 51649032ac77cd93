/* The simulated devices: their memory, and what all of them share.
 *
 * A device's memory is one reservation of address space in two halves of the same size. Users get
 * addresses in the first half, where nothing can be touched; the bytes are at the same place of the
 * second half, and only queues know the way there: ha_here_() adds the distance. */
#ifndef HARRAY_BACKENDS_SIM_DEVICE_H
#define HARRAY_BACKENDS_SIM_DEVICE_H

#include "../common/arena.h"
#include "../backend.h"
#include "options.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HA_SIM_ALIGN_ ((size_t)64) /* of blocks */
#define HA_SIM_HUGE_PAGE_ ((size_t)2 << 20)
/* Blocks from this size on give their pages back when they are released. */
#define HA_SIM_LARGE_ ((size_t)4 << 20)

/* Ordinary memory of the process, in one range of addresses. */
typedef struct ha_sim_range {
    void *mapping; /* NULL: not made yet; set under ha_sim_shared.lock */
    size_t mapped;
    uintptr_t first;
    ha_arena arena;
} ha_sim_range;

typedef struct ha_sim_device {
    int number;
    ha_sim_options options; /* complete */
    ha_queue here;          /* the users' half, and the way to the bytes */
    void *mapping;
    size_t mapped;
    ha_arena arena;
    ha_sim_range pinned, managed; /* pinned.h */
    uint64_t queues;              /* made so far; under ha_sim_shared.lock */
} ha_sim_device;

HA_STATE_ struct {
    pthread_mutex_t lock;
    int known;              /* the options were set, or read from the environment */
    ha_sim_options options; /* complete */
    ha_option_text wrong;   /* with HARRAY_SIM */
    ha_sim_device *open[HA_SIM_MOST_DEVICES_];
    int opened;
} ha_sim_shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- options ---- */

/* Reads HARRAY_SIM unless options are known. A wrong text gives the defaults, and a message that
 * whoever opens a device gets. */
HA_IN_ void ha_sim_know_options(void) {
    const char *text = getenv("HARRAY_SIM");
    ha_sim_options options = {0};
    if (ha_sim_shared.known) return;
    if (text != NULL) (void)ha_sim_parse(text, &options, &ha_sim_shared.wrong);
    ha_sim_shared.options = ha_sim_complete(&options);
    ha_sim_shared.known = 1;
}

/* What ha_sim_configure() does. */
HA_IN_ HA_UNUSED ha_status ha_sim_set_options(const ha_sim_options *options) {
    static const ha_sim_options defaults;
    ha_status status = HA_OK;
    ha_option_text wrong;
    if (options == NULL) options = &defaults;
    if (!ha_sim_in_range(options, &wrong)) {
        ha_backend_report(0, wrong.text);
        return HA_ERR_ARGUMENT;
    }
    pthread_mutex_lock(&ha_sim_shared.lock);
    if (ha_sim_shared.opened > 0) {
        status = HA_ERR_STATE;
    } else {
        ha_sim_shared.options = ha_sim_complete(options);
        ha_sim_shared.wrong.text[0] = '\0';
        ha_sim_shared.known = 1;
    }
    pthread_mutex_unlock(&ha_sim_shared.lock);
    if (status != HA_OK) ha_backend_report(0, "sim: a simulated device is open already");
    return status;
}

HA_IN_ int ha_sim_count(void) {
    int count;
    pthread_mutex_lock(&ha_sim_shared.lock);
    ha_sim_know_options();
    count = ha_sim_shared.options.devices;
    pthread_mutex_unlock(&ha_sim_shared.lock);
    return count;
}

/* ---- opening and closing ---- */

/* Both halves begin on a huge page, as blocks of the host do: copies are faster for it. The second
 * one is mapped again, in place; mprotect() would do, but valgrind takes seconds for that. */
HA_IN_ ha_status ha_sim_map(ha_sim_device *device, size_t capacity) {
    size_t half = ha_round_up(capacity, HA_SIM_HUGE_PAGE_);
    size_t bytes = 2 * half + HA_SIM_HUGE_PAGE_;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *mapping = mmap(NULL, bytes, PROT_NONE, flags, -1, 0), *data;
    uintptr_t first;
    if (mapping == MAP_FAILED) {
        ha_backend_report(errno, "sim: cannot reserve address space");
        return HA_ERR_MEMORY;
    }
    first = ha_round_up((uintptr_t)mapping, HA_SIM_HUGE_PAGE_);
    data = (void *)(first + half);
    if (mmap(data, half, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1, 0) == MAP_FAILED) {
        ha_backend_report(errno, "sim: cannot make memory accessible");
        munmap(mapping, bytes);
        return HA_ERR_MEMORY;
    }
#ifdef MADV_HUGEPAGE
    (void)madvise(data, half, MADV_HUGEPAGE);
#endif
    device->mapping = mapping;
    device->mapped = bytes;
    device->here = (ha_queue){.first = first, .bytes = half, .shift = half};
    return HA_OK;
}

HA_IN_ ha_status ha_sim_device_create(ha_sim_device **made, int number) {
    ha_sim_device *device = (ha_sim_device *)HARRAY_MALLOC(sizeof *device);
    ha_status status = HA_ERR_MEMORY;
    if (device == NULL) return status;
    memset(device, 0, sizeof *device);
    device->number = number;
    device->options = ha_sim_shared.options;
    status = ha_arena_create(&device->arena, device->options.capacity, HA_SIM_ALIGN_);
    if (status == HA_OK) {
        status = ha_sim_map(device, device->options.capacity);
        if (status == HA_OK) {
            *made = device;
            return status;
        }
        ha_arena_destroy(&device->arena);
    }
    HARRAY_FREE(device);
    return status;
}

HA_IN_ ha_status ha_sim_open(int number, void **device, void **memory) {
    ha_sim_device *fresh = NULL;
    ha_status status = HA_ERR_BACKEND;
    pthread_mutex_lock(&ha_sim_shared.lock);
    ha_sim_know_options();
    if (ha_sim_shared.wrong.text[0] != '\0') {
        ha_backend_report(EINVAL, ha_sim_shared.wrong.text);
    } else {
        status = ha_sim_device_create(&fresh, number);
    }
    if (status == HA_OK) {
        ha_sim_shared.open[number] = fresh;
        ha_sim_shared.opened++;
        *device = *memory = fresh;
    }
    pthread_mutex_unlock(&ha_sim_shared.lock);
    return status;
}

HA_IN_ void ha_sim_range_end(ha_sim_range *range) {
    if (range->mapping == NULL) return;
    munmap(range->mapping, range->mapped);
    ha_arena_destroy(&range->arena);
}

HA_IN_ void ha_sim_close(void *handle) {
    ha_sim_device *device = (ha_sim_device *)handle;
    pthread_mutex_lock(&ha_sim_shared.lock);
    ha_sim_shared.open[device->number] = NULL;
    ha_sim_shared.opened--;
    pthread_mutex_unlock(&ha_sim_shared.lock);
    munmap(device->mapping, device->mapped);
    ha_arena_destroy(&device->arena);
    ha_sim_range_end(&device->pinned);
    ha_sim_range_end(&device->managed);
    HARRAY_FREE(device);
}

/* ---- memory ---- */

HA_IN_ ha_status ha_sim_allocate(void *memory, size_t bytes, void **block) {
    ha_sim_device *device = (ha_sim_device *)memory;
    size_t first;
    ha_status status = ha_arena_take(&device->arena, bytes, &first);
    if (status == HA_OK) {
        *block = (void *)(device->here.first + first);
    } else {
        char text[120];
        snprintf(text, sizeof text, "sim:%d: no room for %zu bytes, %zu of %zu are in use",
                 device->number, bytes, ha_arena_used(&device->arena), device->arena.capacity);
        ha_backend_report(0, text);
    }
    return status;
}

/* Gives the pages of a large block back, before anyone else can get it. Its neighbours have parts
 * of those at its ends. */
HA_IN_ void ha_sim_empty_pages(uintptr_t first, size_t bytes) {
    uintptr_t end = first + bytes;
    first = ha_round_up(first, HA_SIM_HUGE_PAGE_);
    end -= end % HA_SIM_HUGE_PAGE_;
    (void)madvise((void *)first, end - first, MADV_DONTNEED);
}

HA_IN_ void ha_sim_release(void *memory, void *block, size_t bytes) {
    ha_sim_device *device = (ha_sim_device *)memory;
    if (bytes >= HA_SIM_LARGE_) ha_sim_empty_pages((uintptr_t)block + device->here.shift, bytes);
    ha_arena_give(&device->arena, (uintptr_t)block - device->here.first, bytes);
}

/* The host always; other simulated devices when they are peers. */
HA_IN_ int ha_sim_reaches(void *memory, const ha_place *other) {
    const char *kind = other->backend->kind;
    if (strcmp(kind, "sim") == 0) return ((ha_sim_device *)memory)->options.peers != 0;
    return strcmp(kind, "host") == 0;
}

/* Nanoseconds for 1 MiB, whichever end is meant: both go over this device's link. */
HA_IN_ uint64_t ha_sim_cost(void *memory, const ha_place *other) {
    const ha_sim_options *options = &((ha_sim_device *)memory)->options;
    uint64_t usual = 100000;
    (void)other;
    if (options->bandwidth == 0) return usual + options->latency_ns;
    return (uint64_t)((double)(1 << 20) * 1e9 / (double)options->bandwidth) + options->latency_ns;
}

#endif
