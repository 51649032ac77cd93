/* Stores: which there are, their addresses and blocks, and the list of what is to be done.
 *
 * Users get addresses of a range that nobody can touch. A block of it is cut into pieces, and each piece that has been
 * written is an object of the store. One lock guards all that threads share: stores are slow. */
#ifndef HARRAY_BACKENDS_STORE_DEVICE_H
#define HARRAY_BACKENDS_STORE_DEVICE_H

#include "../backend.h"
#include "../common/arena.h"
#include "../common/strided.h"
#include "../common/worker_thread.h"
#include "../../harray/detail/locks.h"
#include "../../harray/store.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { HA_STORES = 16, HA_STORE_UNIT = 4096, HA_STORE_WHY = 160, HA_STORE_STACK = 1 << 20 };

#define HA_STORE_USUAL_ ((uint64_t)1 << 40) /* bytes of address space */
#define HA_STORE_MOST_ ((uint64_t)1 << 44)
#define HA_STORE_PIECE_ ((size_t)16 << 20)

typedef struct ha_store_device ha_store_device;
typedef struct ha_store_queue ha_store_queue;
typedef struct ha_store_command ha_store_command;

/* An object of the store; without a key there is none, and its bytes are 0. The thread's own. */
typedef struct ha_store_piece {
    uint64_t key;
    size_t bytes;
} ha_store_piece;

struct ha_store_command {
    ha_store_command *next;
    ha_store_queue *queue; /* NULL: of none. Owned, but for commands that are waited for */
    /* By the thread, nothing locked. 0, or an error number, with the reason in device->why. */
    int (*run)(ha_store_device *device, ha_store_command *command);
    ha_strided_copy copy;
    ha_event event;           /* of a wait; its queue is owned */
    uint64_t *ns;             /* of a stamp */
    int is_waited_for, error; /* what is waited for is the waiter's, and fails alone */
    char why[HA_STORE_WHY];
};

/* Its command is that which removes it. */
typedef struct ha_store_block {
    ha_store_command end;
    size_t first, bytes; /* in the range of addresses */
    size_t pieces;
    ha_store_piece piece[];
} ha_store_block;

/* A piece as it is in a buffer. */
typedef struct ha_store_page {
    char *data;
    uint64_t key; /* that has these values; 0: none has */
    size_t bytes;
} ha_store_page;

struct ha_store_device {
    int number;
    ha_store store;
    uintptr_t first; /* of the addresses */
    size_t bytes;
    ha_arena arena;
    pthread_t thread;
    /* The thread's own: */
    uint64_t keys; /* that it has given */
    ha_store_page read, changed;
    ha_store_piece *changing; /* what `changed` is to become; NULL: nothing */
    char why[HA_STORE_WHY];
    /* Under ha_store_shared.lock: */
    ha_store_block **block; /* ascending */
    size_t blocks, room;
    pthread_cond_t work; /* for the thread */
    ha_store_command *head, **tail;
    uint64_t enqueued, finished; /* commands of all its queues */
    uint64_t queues;             /* that were ever made */
    int closing;
};

struct ha_store_queue {
    ha_store_device *device;
    int is_first;    /* of its device: its copies are waited for */
    uint32_t owners; /* its creator, and commands */
    uint64_t
        limit; /* of device->finished: what is behind never happens; UINT64_MAX: the queue has not failed */
    int error;
    char why[HA_STORE_WHY];
};

HA_STATE_ struct {
    pthread_mutex_t lock;
    pthread_cond_t progress;    /* some command has finished */
    ha_store *store[HA_STORES]; /* NULL: there is none */
} ha_store_shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .progress = PTHREAD_COND_INITIALIZER};

/* ---- which there are --------------------------------------------------------------------------- */

HA_IN_ const char *ha_store_mistake(const ha_store *store) {
    if (store == NULL) return "no store";
    if (store->put == NULL || store->get == NULL || store->remove == NULL)
        return "a store needs put, get and remove";
    if (store->capacity > HA_STORE_MOST_) return "a store has at most 16 TiB";
    if (store->piece > 0 && store->piece < HA_STORE_UNIT)
        return "a piece of a store has at least 4096 bytes";
    return NULL;
}

HA_IN_ void ha_store_complete(ha_store *store) {
    if (store->capacity == 0) store->capacity = HA_STORE_USUAL_;
    if (store->piece == 0) store->piece = HA_STORE_PIECE_;
}

/* From now on there is a store:*number. */
HA_IN_ HA_UNUSED ha_status ha_store_add(const ha_store *store, int *number) {
    const char *mistake = ha_store_mistake(store);
    ha_store *own;
    int n = 0;
    if (mistake != NULL) {
        ha_backend_report(0, mistake);
        return HA_ERR_ARGUMENT;
    }
    own = (ha_store *)HARRAY_MALLOC(sizeof *own);
    if (own == NULL) return HA_ERR_MEMORY;
    *own = *store;
    ha_store_complete(own);
    pthread_mutex_lock(&ha_store_shared.lock);
    while (n < HA_STORES && ha_store_shared.store[n] != NULL) n++;
    if (n < HA_STORES) ha_store_shared.store[n] = own;
    pthread_mutex_unlock(&ha_store_shared.lock);
    *number = n;
    if (n < HA_STORES) return HA_OK;
    HARRAY_FREE(own);
    ha_backend_report(0, "16 stores are open");
    return HA_ERR_STATE;
}

HA_IN_ void ha_store_drop(int number) {
    pthread_mutex_lock(&ha_store_shared.lock);
    HARRAY_FREE(ha_store_shared.store[number]);
    ha_store_shared.store[number] = NULL;
    pthread_mutex_unlock(&ha_store_shared.lock);
}

HA_IN_ int ha_store_count(void) {
    int count = HA_STORES;
    pthread_mutex_lock(&ha_store_shared.lock);
    while (count > 0 && ha_store_shared.store[count - 1] == NULL) count--;
    pthread_mutex_unlock(&ha_store_shared.lock);
    return count;
}

HA_IN_ const char *ha_store_missing(void) { return "none was opened: ha_store_open()"; }

HA_IN_ void ha_store_describe(void *device, char *text, size_t bytes) {
    snprintf(text, bytes, "a store of the program's, in pieces of %zu bytes",
             ((ha_store_device *)device)->store.piece);
}

/* ---- the list of commands ------------------------------------------------------------------------ */

/* Behind all that is there. */
HA_IN_ void ha_store_append(ha_store_device *device, ha_store_command *command)
    HA_REQUIRES_(ha_store_shared.lock) {
    command->next = NULL;
    *device->tail = command;
    device->tail = &command->next;
    device->enqueued++;
    pthread_cond_signal(&device->work);
}

/* ---- blocks by address -------------------------------------------------------------------------- */

HA_IN_ int ha_store_has(const ha_store_device *device, const void *pointer) {
    return (uintptr_t)pointer - device->first < device->bytes;
}

/* How many blocks begin before an address or at it. */
HA_IN_ size_t ha_store_rank(const ha_store_device *device, size_t first)
    HA_REQUIRES_(ha_store_shared.lock) {
    size_t low = 0, high = device->blocks;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (device->block[middle]->first > first)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The one that an address is in, which stays as long as a queue uses it; NULL: it is of the host. */
HA_IN_ ha_store_block *ha_store_block_of(ha_store_device *device, const void *pointer) {
    ha_store_block *block = NULL;
    if (!ha_store_has(device, pointer)) return NULL;
    pthread_mutex_lock(&ha_store_shared.lock);
    block = device->block[ha_store_rank(device, (uintptr_t)pointer - device->first) - 1];
    pthread_mutex_unlock(&ha_store_shared.lock);
    return block;
}

#endif
