/* A store of the program's own as a memory: a context "store:0", "store:1", … for what no other memory has room
 * for, such as an object store, a data base, a compressed heap.
 *
 *     ha_context *store = ha_store_open(&(ha_store){.put = put, .get = get, .remove = remove_one, .user = &mine});
 *     HA_CHECK(ha_memory_set_tier(ha_host(), store)); // memory.h: the host's next tier
 *
 * What arrays have there is cut into pieces, each put under a key of its own: a number that is never used twice.
 * A piece is never changed: what takes its place is put under another key, and then the old one removed. So each key
 * is put once, got any number of times, and removed once, also when its put has failed.
 *
 * The functions are called by one thread of the store's, one at a time and in order. They may take as long as they
 * need; calls of harray are refused there (HA_ERR_STATE).
 *
 *  - Where an array gives way nobody waits for its puts. What was to be put by one that fails is not valid there, and stays
 *    where it came from; it is tried again, as ha_memory_set_tier says. Puts that are asked for, as by prefetching
 *    to the store, are waited for, and one that fails fails that call, with HA_ERR_BACKEND. Those by its forks are
 *    enqueued as anywhere.
 *  - A get is waited for by whoever needs the values (prefetching them, too). One that fails, or gives too
 *    few bytes, fails that call alone, with HA_ERR_BACKEND and a text that has the key and both sizes. Other values
 *    are not touched, and each opening tries it again, until the values are overwritten.
 *
 * It has no processor: functions there are refused, kernels run on the host. */
#ifndef HARRAY_STORE_H
#define HARRAY_STORE_H

#include "context.h"

/* Zero in the last two fields means their default. */
typedef struct ha_store {
    /* Keeps the `bytes` bytes at `from`, which are there until it returns. 0, or an error number. */
    int (*put)(void *user, uint64_t key, const void *from, size_t bytes);
    /* Writes the bytes of a key to `to`. How many there were, of the `bytes` that were put; or an error number,
     * negated. */
    ptrdiff_t (*get)(void *user, uint64_t key, void *to, size_t bytes);
    void (*remove)(void *user, uint64_t key);
    void *user;
    uint64_t capacity; /* bytes of values that may be there; default: 1 TiB; at most 16 TiB */
    /* Bytes that are put at once, at most, and at least 4096; default: 16 MiB. The store has two buffers of it. */
    size_t piece;
} ha_store;

/* Opens a store (copied); it stays until ha_shutdown, which removes what is left there. Blocks there are not
 * cached. NULL + HA_ERR_ARGUMENT when a function is missing or a number cannot be, HA_ERR_STATE when 16 are open,
 * HA_ERR_MEMORY, HA_ERR_BACKEND when no thread can be started. May be called from any thread. */
HA_API ha_context *ha_store_open(const ha_store *store);

#endif
