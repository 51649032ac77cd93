/* What a CUDA queue waits for on other devices, and whether that has really happened.
 *
 * When a device fails, a stream of another one that waits for it may just go on, with whatever is
 * there. The engine relies on the opposite: what comes after a failed queue fails, too. So a queue
 * knows the devices that it came after, directly or by way of other queues, until something behind
 * those waits has happened and the devices then still worked. If one of them did not, the queue is
 * lost. With one device nothing of this costs anything. */
#ifndef HARRAY_BACKENDS_CUDA_PEERS_H
#define HARRAY_BACKENDS_CUDA_PEERS_H

#include "device.h"

typedef struct ha_cuda_foreign {
    pthread_mutex_t lock;
    _Atomic uint64_t devices; /* a bit each */
    uint64_t begun, ended;    /* waits that may have set one: about to be enqueued, enqueued */
    _Atomic int lost;         /* one of the devices failed first */
} ha_cuda_foreign;

HA_IN_ void ha_cuda_foreign_create(ha_cuda_foreign *foreign) {
    memset(foreign, 0, sizeof *foreign);
    atomic_init(&foreign->devices, 0);
    atomic_init(&foreign->lost, 0);
    pthread_mutex_init(&foreign->lock, NULL);
}

typedef struct ha_cuda_foreign_wait {
    uint64_t before, number; /* the devices until then; which wait it is */
} ha_cuda_foreign_wait;

/* Before a wait is enqueued. */
HA_IN_ ha_cuda_foreign_wait ha_cuda_foreign_begin(ha_cuda_foreign *foreign, uint64_t devices) {
    ha_cuda_foreign_wait wait;
    pthread_mutex_lock(&foreign->lock);
    wait.before = atomic_fetch_or(&foreign->devices, devices);
    wait.number = ++foreign->begun;
    pthread_mutex_unlock(&foreign->lock);
    return wait;
}

/* The wait is enqueued. */
HA_IN_ void ha_cuda_foreign_end(ha_cuda_foreign *foreign) {
    pthread_mutex_lock(&foreign->lock);
    foreign->ended++;
    pthread_mutex_unlock(&foreign->lock);
}

/* It was not. Where others wait meanwhile, the devices stay. */
HA_IN_ void ha_cuda_foreign_fail(ha_cuda_foreign *foreign, ha_cuda_foreign_wait wait) {
    pthread_mutex_lock(&foreign->lock);
    foreign->ended++;
    if (foreign->begun == wait.number) atomic_store(&foreign->devices, wait.before);
    pthread_mutex_unlock(&foreign->lock);
}

/* How many waits are in front of what is enqueued now. */
HA_IN_ uint64_t ha_cuda_foreign_waits(ha_cuda_foreign *foreign) {
    pthread_mutex_lock(&foreign->lock);
    const uint64_t waits = foreign->ended;
    pthread_mutex_unlock(&foreign->lock);
    return waits;
}

/* Behind so many waits everything has happened: if these are all, the devices do not matter any more.
 * Waits that begin later are counted anew. */
HA_IN_ void ha_cuda_foreign_forget(ha_cuda_foreign *foreign, uint64_t waits) {
    pthread_mutex_lock(&foreign->lock);
    if (foreign->begun == waits) atomic_store(&foreign->devices, 0);
    pthread_mutex_unlock(&foreign->lock);
}

/* NULL: it is closed. */
HA_IN_ ha_cuda_device *ha_cuda_foreign_device(int number) {
    pthread_mutex_lock(&ha_cuda_shared.lock);
    ha_cuda_device *device = ha_cuda_shared.open[number];
    pthread_mutex_unlock(&ha_cuda_shared.lock);
    return device;
}

HA_IN_ ha_status ha_cuda_foreign_lost(const ha_cuda_foreign *foreign) {
    if (!atomic_load(&foreign->lost)) return HA_OK;
    ha_backend_report(0, "cuda: another device has failed, for which the queue waited");
    return HA_ERR_LOST;
}

#endif
