/* Trying again: what would have to wait says for what, and whoever began it waits with nothing held and
 * makes another attempt. */
#ifndef HARRAY_IMPL_MEMORY_ATTEMPT_H
#define HARRAY_IMPL_MEMORY_ATTEMPT_H

#include "../device/all.h"

typedef struct ha_chunk ha_chunk; /* transfer/chunks.h */

enum { HA_IN_FLIGHT = 3 }; /* parts of record arrays, at most */

/* An attempt at something that may have to wait: for whom it is made, and when it returned
 * HA_RETRY_, what to wait for before the next one. */
typedef struct ha_attempt {
    const char *site; /* the call in the user's source */
    ha_timepoint point;
    uint64_t retired;  /* blocks retired until the first attempt, plus 1: the only ones waited for,
                         or a request that never fits could wait for ever; 0: first attempt */
    uint64_t returned; /* blocks that had come back before the backend was asked for one */
    int reclaims;      /* how often unused blocks were looked for; others may go on making such */
    int for_chunk;     /* HA_RETRY_: wait for a chunk to be given back, not for `point` */
    ha_chunk *chunk;   /* holds what is staged, between two tries; NULL: nothing */
    const struct ha_incarnation *staged_from;
    ha_range staged;
    /* HA_RETRY_: the event behind `point`, if it is known; to be released */
    struct ha_fence *fence;
    struct ha_in_flight { /* the same of record arrays: what is on its way to be converted */
        ha_chunk *chunk;
        const struct ha_incarnation *from;
        ha_range range;
    } in_flight[HA_IN_FLIGHT]; /* first those that were fetched first */
    int no_scatter; /* the device could not put them into place, so another method moves them */
} ha_attempt;

/* Not a status for users: try again after waiting for attempt->point, with nothing held. */
#define HA_RETRY_ ((ha_status)-1)

/* Nor this: the block has to be exchanged, so no other access to it may be open. */
#define HA_RETRY_ALONE_ ((ha_status)-2)

#endif
