/* Trying again: what would have to wait says for what, and whoever began it waits with nothing held and
 * makes another attempt. */
#ifndef HARRAY_IMPL_MEMORY_ATTEMPT_H
#define HARRAY_IMPL_MEMORY_ATTEMPT_H

#include "../device/all.h"

typedef struct ha_chunk ha_chunk; /* transfer/chunks.h */

enum {
    HA_IN_FLIGHT = 3, /* parts of record arrays, at most */
    HA_FULL = 8       /* memories that an attempt takes blocks of, at most */
};

/* An attempt at something that may have to wait: for whom it is made, and when it returned
 * HA_RETRY_, what to wait for before the next one. */
typedef struct ha_attempt {
    const char *site; /* the call in the user's source */
    ha_timepoint point;
    uint64_t retired;  /* blocks retired until the first attempt, plus 1: the only ones waited for,
                         or a request that never fits could wait for ever; 0: first attempt */
    uint64_t returned; /* blocks that had come back before the backend was asked for one */
    int reclaims;      /* how often unused blocks were looked for; others may go on making such */
    ha_memory *short_of; /* HA_RETRY_: make room there, for `need` bytes; NULL: wait for `point` */
    uint64_t need;
    ha_memory *full[HA_FULL]; /* where no room can be made, or just is */
    int fulls;
    int asked;      /* how often a controller was */
    int never;      /* not ever: it is too large */
    int only_clean; /* nothing is to be brought away for it */
    int is_ahead;   /* what is written back ahead: it counts for itself */
    ha_memory *to;  /* HA_RETRY_: where `sent` is on its way to, by stages; NULL: nothing is */
    ha_range sent;
    int may_wait;    /* for others to close what they use there: its thread holds nothing */
    int for_chunk;   /* HA_RETRY_: wait for a chunk to be given back, not for `point` */
    ha_chunk *chunk; /* holds what is staged, between two tries; NULL: nothing */
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

/* Nor this: all is to be taken back, and memory to be waited for. */
#define HA_RETRY_ROOM_ ((ha_status)-3)

/* Making room in a memory that is full is a matter of a later layer (access/make_room.h), which defines this. */
typedef struct ha_room_hooks {
    ha_status (*make)(ha_attempt *attempt); /* at attempt->short_of; nothing is busy or locked */
    void (*changed)(
        void); /* something may have changed for those who wait for memory; nothing is locked */
} ha_room_hooks;
static const ha_room_hooks ha_for_room;

/* Whether no room can be made for the attempt. */
HA_IN_ int ha_attempt_is_full(const ha_attempt *attempt, const ha_memory *m) {
    int full = attempt->fulls == HA_FULL;
    for (int i = 0; i < attempt->fulls; i++) full |= attempt->full[i] == m;
    return full;
}

/* What an attempt that returned HA_RETRY_ has to wait for, but for chunks. Nothing is busy. */
HA_IN_ ha_status ha_attempt_pass(ha_attempt *attempt) {
    if (attempt->short_of) return ha_for_room.make(attempt);
    return ha_wait_past(attempt->point, attempt->site);
}

#endif
