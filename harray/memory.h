/* Memory: where bytes live, how they are handed out, and the account of them.
 *
 * Every memory (the host's, each device's, a device's pinned part of the host) has a cache: a block
 * that an array gives back serves the next one that fits it. The account always adds up:
 *
 *     handed_out = live + cached + retired + staging = what the backend gave and has not got back
 *
 * When a memory is full, cached and retired blocks are given back to it, then the blocks of arrays that have
 * no value there any more (written elsewhere since, or cleared) and no open access; what is in use by a queue is
 * waited for. Only then an opening fails with HA_ERR_MEMORY.
 *
 * All functions may be called from any thread. A context stands for its memory; NULL as usual. */
#ifndef HARRAY_MEMORY_H
#define HARRAY_MEMORY_H

#include "context.h"

/* ---- what a pointer is -------------------------------------------------------------------- */

typedef enum ha_memory_kind {
    HA_MEMORY_HOST = 0, /* pageable: the process's own */
    HA_MEMORY_PINNED,   /* of the host, and a device's queues reach it directly */
    HA_MEMORY_DEVICE,   /* only a device's queues can touch it */
    HA_MEMORY_MANAGED,  /* both can, and the driver moves its pages */
    HA_MEMORY_UNKNOWN   /* no open device knows it, and the process has no memory there */
} ha_memory_kind;

HA_API const char *ha_memory_kind_name(ha_memory_kind kind); /* "host", "pinned", … */

/* What memory a pointer points into. *context (may be NULL): the context of the device that it
 * belongs to, the host for pageable memory; NULL for what is unknown, as NULL and freed or unmapped memory
 * are, or that of a device which is not open: only devices that are open are asked. */
HA_API ha_memory_kind ha_pointer_kind(const void *pointer, ha_context **context);

/* ---- the account -------------------------------------------------------------------------- */

typedef struct ha_memory_usage {
    uint64_t handed_out; /* bytes that the backend (or the allocator) gave and has not got back */
    uint64_t live;       /* of these: in arrays, and taken by ha_memory_allocate */
    uint64_t cached;     /* kept for the next array */
    uint64_t retired;    /* freed, but a queue may still use them, as far as was looked: allocating,
                            freeing there and ha_memory_trim do */
    uint64_t staging;    /* for transfers that pass through */
    uint64_t high_water; /* the most that was ever handed out at once */
    uint64_t allocations, releases; /* calls of the backend: the expensive ones */
    uint64_t reused;                /* blocks that came from the cache instead */
    uint64_t transfers_in, bytes_in, transfers_out, bytes_out; /* as ha_statistics, by memory */
} ha_memory_usage;

/* Of the memory of a context. Zero-copy contexts share the host's. */
HA_API ha_memory_usage ha_context_memory(const ha_context *context);

/* Of the pinned host memory that belongs to a device; all 0 where it has none. */
HA_API ha_memory_usage ha_context_pinned_memory(const ha_context *context);

/* Gives cached blocks back, oldest first, until at most `keep` bytes are cached. Returns the bytes
 * given back. Also of the device's pinned memory. Blocks that queues have meanwhile left count as
 * cached. */
HA_API uint64_t ha_memory_trim(ha_context *context, uint64_t keep);

/* The most bytes to keep cached from now on (0: none). At first 256 MiB on the host, no limit on a
 * device. The cache never raises the high water: before the backend is asked for more, cached
 * blocks go back until no more will be handed out than was once in use (not cached) at the same
 * time. And all of them go back before an allocation fails. Also of the device's pinned memory. */
HA_API HA_MUST_CHECK ha_status ha_memory_set_cache(ha_context *context, uint64_t most);

/* ---- allocators --------------------------------------------------------------------------- */

/* The caller's own pool, to take a context's memory from instead of its backend. Called from any
 * thread, with nothing locked; must not call harray. Blocks must be usable by the device as the
 * backend's own are, and aligned to 64 bytes. `allocate` returns HA_ERR_MEMORY when it is full. */
typedef struct ha_allocator {
    ha_status (*allocate)(void *user, size_t bytes, void **block);
    void (*release)(void *user, void *block, size_t bytes);
    void *user;
} ha_allocator;

/* From now on memory of the context comes from *allocator (copied), NULL: from its backend again.
 * Cached blocks are given back first. HA_ERR_STATE while anything else is handed out,
 * HA_ERR_ARGUMENT when a function is missing. It must live until that is called again with
 * another one, or ha_shutdown, which forgets it. */
HA_API HA_MUST_CHECK ha_status ha_memory_set_allocator(ha_context *context,
                                                       const ha_allocator *allocator);

/* ---- without an array --------------------------------------------------------------------- */

/* Bytes at a context, for those who need some memory there for themselves: from the same cache and
 * in the same account. Aligned to 64, values undefined. NULL + HA_ERR_MEMORY, HA_ERR_BACKEND;
 * 0 bytes: NULL, no error. */
HA_API void *ha_memory_allocate(ha_context *context, size_t bytes);

/* Gives them back, once everything enqueued on the context so far has happened; without waiting for
 * that. NULL is fine. HA_ERR_ARGUMENT when `block` is not what ha_memory_allocate gave at this
 * context: nothing happens. */
HA_API ha_status ha_memory_release(ha_context *context, void *block);

#endif
