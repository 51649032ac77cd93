/* Memory: where bytes live, how they are handed out, and the account of them.
 *
 * Every memory (the host's, each device's, a device's pinned part of the host) has a cache: a block
 * that an array gives back serves the next one that fits it. The account always adds up:
 *
 *     handed_out = live + cached + retired + staging = what the backend gave and has not got back
 *
 * When a memory is full, or its budget taken, cached and retired blocks are given back to it, and what is in use by a
 * queue is waited for. Then arrays give way that nobody has open there: those that were used longest ago first, and of
 * these first what is valid elsewhere, too. What is valid only there is brought to the next tier before: from a device
 * to the host, from there nowhere, unless somebody says so (ha_memory_set_tier). Those of less than
 * 64 KiB give way when they have no value there any more (written elsewhere since, or cleared). What is wrapped,
 * open or detached into a token stays.
 *
 * When what stays is in use by other threads, a thread that holds no access waits until they have closed it: threads whose
 * arrays do not fit at once have one turn after the other. One that holds an access, or opens with HA_TRY, is
 * refused with HA_ERR_MEMORY, as is what can never fit; the error says who uses the memory.
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

/* ---- budgets ------------------------------------------------------------------------------- */

/* The most bytes that may be handed out at once from now on, of all that the account counts; 0: as many as there are, as at
 * first, unless HARRAY_MEMORY says otherwise:
 *
 *     HARRAY_MEMORY="cuda:0=10G, sim:0=64M, pinned=16G, host=48G"
 *
 * in bytes or with K, M or G; "cuda" is cuda:0, "pinned" the host memory that each device pins. What is wrong with
 * it, ha_context_best and opening a device tell, as HA_ERR_BACKEND.
 *
 * Where more is handed out, arrays give way. HA_ERR_MEMORY when what is in use does not allow that: then the budget stays as
 * it was, and what has given way has. Zero-copy contexts share the host's. */
HA_API HA_MUST_CHECK ha_status ha_memory_set_budget(ha_context *context, uint64_t bytes);
HA_API uint64_t ha_memory_budget(const ha_context *context);

/* Where values of a context's memory go that has no room for them and that are nowhere else, its next tier: another
 * device, the host, a file (file.h), or a store of the program's (store.h). NULL: as at first, the host, and for the host nothing, unless HARRAY_MEMORY
 * says where a file may be, and how large:
 *
 *     HARRAY_MEMORY="cuda:0=10G, host=48G, file=/scratch/me:500G"
 *
 * That makes file:0 of this directory (instead of what HARRAY_FILE says; what ha_file_configure was told stays), and
 * the host's next tier; it is opened when the host's memory is first asked for. Without ":500G" it is what the disk
 * has free. A name with a space or a comma needs HARRAY_FILE or ha_file_configure, and this call.
 *
 * A tier that is short itself brings what it has to its own next one first. Opening an array brings it back from
 * wherever it is. A write to a device that fails loses nothing, neither there nor here: it is tried again, and after
 * eight have failed nothing more goes there.
 *
 * HA_ERR_ARGUMENT when values would come back to where they were short, or nothing can be copied there. */
HA_API HA_MUST_CHECK ha_status ha_memory_set_tier(ha_context *context, ha_context *next);

/* From now on values are written back ahead: when less than the rest of the budget (without one, of what the device
 * has) is free or clean, so when more than this part of it is in use by values that are nowhere else, those that would
 * give way next are copied to the next tier. They stay where they are, and their room is there at once when it is needed.
 * Copies are enqueued, on a queue of the device for that alone; no call waits for them. `part` is 0 to 1; 1: nothing is written back
 * ahead, as at first. It pays where kernels run meanwhile, and costs a copy of what is then written anew.
 * The host keeps it over ha_shutdown, devices do not. HA_ERR_ARGUMENT: no such part. */
HA_API HA_MUST_CHECK ha_status ha_memory_set_watermark(ha_context *context, double part);

/* Has arrays give way at a context, and gives their blocks and cached ones back to the backend, until that is `bytes` bytes in
 * all, or nothing more can: for those who take memory there by other means. Returns how many bytes went back.
 * Waits for what has to be brought to the next tier first. */
HA_API uint64_t ha_memory_make_room(ha_context *context, uint64_t bytes);

/* What became of a memory that was full, since it was opened, and how it is now. What passes through the host on its way to a
 * device is restored there, and not on the host; what was written elsewhere meanwhile is restored, too. */
typedef struct ha_pressure {
    uint64_t budget;        /* bytes; 0: as many as there are */
    ha_context *tier;       /* where its values go; NULL: nowhere */
    uint64_t evictions;     /* blocks that have given way */
    uint64_t evicted;       /* their bytes */
    uint64_t written_back;  /* bytes of values that were brought to a tier for that */
    uint64_t written_ahead; /* of these, ahead: before their room was needed */
    uint64_t restored;      /* bytes of values that came (back) to where an array had given way */
    uint64_t turns;         /* threads that have waited for others to close what they used there */
    uint64_t wait_ns;       /* how long, all together */
    uint64_t refusals;      /* requests for which no room could be made */
    uint64_t resident;      /* blocks that are listed to give way now, or in use */
} ha_pressure;
HA_API ha_pressure ha_memory_pressure(const ha_context *context);

/* What keeps a block from giving way: the accesses that are open on an array in a memory. */
typedef struct ha_memory_holder {
    char array[48];    /* its name; "" without one */
    uint64_t bytes;    /* of its block there */
    uint32_t accesses; /* that are open */
    uint32_t tokens;   /* of these: detached into tokens, as what was exported is */
    const char *site;  /* the call that opened the first of them */
} ha_memory_holder;

/* Those of a context's memory, the largest first: writes at most `most` of them to `list` (NULL when most is 0), and
 * returns how many there are. */
HA_API size_t ha_memory_holders(const ha_context *context, ha_memory_holder *list, size_t most);

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

/* The same, of the kind that is asked for:
 *   HA_MEMORY_DEVICE   what ha_memory_allocate gives
 *   HA_MEMORY_PINNED   of the host, for the context's device
 *   HA_MEMORY_MANAGED  for both: CUDA's managed memory, SYCL's shared one; where the context is zero-copy and
 *                      its device has none of its own, memory of the host, on which the device works
 *   HA_MEMORY_HOST     of the host, at its own context, whose memory is of each kind
 * HA_ERR_UNSUPPORTED: there is none of that kind. HA_ERR_ARGUMENT: it is no kind. */
HA_API void *ha_memory_allocate_kind(ha_context *context, size_t bytes, ha_memory_kind kind);

/* Gives them back, once everything enqueued on the context so far has happened; without waiting for
 * that. NULL is fine. HA_ERR_ARGUMENT when `block` is not what these gave at this context: nothing
 * happens. */
HA_API ha_status ha_memory_release(ha_context *context, void *block);

#endif
