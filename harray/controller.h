/* A controller: a program's own say in what happens when a memory is full (memory.h).
 *
 * What happens to arrays it hears as any event handler does (instruments.h): HA_EVENT_NEW, HA_EVENT_GONE, HA_EVENT_EVICT,
 * HA_EVENT_RESTORE and HA_EVENT_TRANSFER name the array by its id; ha_array_by_id, ha_array_residency and ha_array_evict lead on
 * from there. */
#ifndef HARRAY_CONTROLLER_H
#define HARRAY_CONTROLLER_H

#include "memory.h"

/* An array that may give way. */
typedef struct ha_candidate {
    uint64_t id;      /* as ha_array_id */
    const char *name; /* "": none; until the function returns */
    uint64_t bytes;   /* of its block there */
    int priority;     /* ha_array_set_priority */
    int is_done;      /* ha_array_done was called since it was used there last */
} ha_candidate;

/* Functions that are missing decide nothing. They run on the thread that needs the memory, on several at once where several do.
 * Nothing is locked: they may free, allocate, evict, read statistics and open other arrays. What is just
 * being opened stays so: opening it once more is refused as it is while an access is open (HA_ERR_CONFLICT). Neither is called for what such a
 * function does itself, nor for prefetches, which take nothing from anybody. */
typedef struct ha_controller {
    /* `need` bytes are wanted at a context's memory and are not there. Nonzero: something was freed, so that is tried again
     * before any array gives way; 0: as usual. attempt: 1 for the first time that an opening asks, then 2 and so on, and
     * from 1 again when it has waited for other threads; after the 100th it is as usual, whatever is returned. Not called for what can never fit. */
    int (*pressure)(void *user, ha_context *at, uint64_t need, int attempt);

    /* Which of n candidates (1 to 16, what would give way first is the first) gives way first: its index; any other number: as
     * usual. Others follow if that is not enough. What was chosen and has been opened meanwhile stays. */
    ptrdiff_t (*choose)(void *user, ha_context *at, const ha_candidate *list, size_t n,
                        uint64_t need);
    void *user;
} ha_controller;

/* From now on *controller (copied) is asked; NULL: nobody, as at first. ha_shutdown changes nothing of that. To be called while no other thread
 * uses the library. */
HA_API void ha_set_controller(const ha_controller *controller);

#endif
