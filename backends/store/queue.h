/* Queues of a store, which share its thread: what is enqueued on any of them is done in that order.
 *
 * An event is the queue and the number of commands that were enqueued at the device before. A copy from the store is
 * waited for by who enqueues it, and fails alone. On the first queue, which must not fail as long as there are values in
 * the store, all copies are. On others a copy to the store that fails is the end of its queue: nothing of what is
 * behind happens. */
#ifndef HARRAY_BACKENDS_STORE_QUEUE_H
#define HARRAY_BACKENDS_STORE_QUEUE_H

#include "../common/clock.h"
#include "memory.h"

/* ---- what has happened ---------------------------------------------------------------------------- */

/* 1: it has happened, 0: not yet, -1: it never will. */
HA_IN_ int ha_store_state(const ha_event *event) HA_REQUIRES_(ha_store_shared.lock) {
    const ha_store_queue *queue = (const ha_store_queue *)event->object;
    if (queue->limit < event->value) return -1;
    return queue->device->finished >= event->value;
}

HA_IN_ int ha_store_wait(const ha_event *event) HA_REQUIRES_(ha_store_shared.lock) {
    int state;
    while ((state = ha_store_state(event)) == 0)
        pthread_cond_wait(&ha_store_shared.progress, &ha_store_shared.lock);
    return state;
}

/* Until so many commands have been done or dropped. */
HA_IN_ void ha_store_wait_for(const ha_store_device *device, uint64_t commands)
    HA_REQUIRES_(ha_store_shared.lock) {
    while (device->finished < commands)
        pthread_cond_wait(&ha_store_shared.progress, &ha_store_shared.lock);
}

/* Reports why a queue has failed. */
HA_IN_ ha_status ha_store_lost(const ha_store_queue *queue) {
    ha_backend_report(queue->error, queue->why);
    return HA_ERR_LOST;
}

HA_IN_ void ha_store_disown(ha_store_queue *queue) HA_REQUIRES_(ha_store_shared.lock) {
    if (--queue->owners == 0) HARRAY_FREE(queue);
}

/* ---- the thread ------------------------------------------------------------------------------------ */

HA_IN_ int ha_store_run_await(ha_store_device *device, ha_store_command *command) {
    pthread_mutex_lock(&ha_store_shared.lock);
    const int state = ha_store_wait(&command->event);
    pthread_mutex_unlock(&ha_store_shared.lock);
    if (state > 0) return 0;
    snprintf(device->why, sizeof device->why,
             "store:%d: what the queue has waited for never happens", device->number);
    return ECANCELED;
}

HA_IN_ int ha_store_run_stamp(ha_store_device *device, ha_store_command *command) {
    (void)device;
    ha_clock_stamp(command->ns);
    return 0;
}

/* The next command; NULL when the device is closed. */
HA_IN_ ha_store_command *ha_store_take(ha_store_device *device) HA_REQUIRES_(ha_store_shared.lock) {
    while (device->head == NULL && !device->closing)
        pthread_cond_wait(&device->work, &ha_store_shared.lock);
    ha_store_command *command = device->head;
    if (command == NULL) return NULL;
    device->head = command->next;
    if (device->head == NULL) device->tail = &device->head;
    return command;
}

HA_IN_ void ha_store_discard(ha_store_command *command) HA_REQUIRES_(ha_store_shared.lock) {
    if (command->event.object != NULL) ha_store_disown((ha_store_queue *)command->event.object);
    if (command->queue != NULL) ha_store_disown(command->queue);
    HARRAY_FREE(command);
}

/* What a failure means, and that the command is done: from then on one that is waited for is not the thread's. */
HA_IN_ void ha_store_finished(ha_store_device *device, ha_store_command *command, int error)
    HA_REQUIRES_(ha_store_shared.lock) {
    ha_store_queue *queue = command->queue;
    if (error && command->is_waited_for) {
        command->error = error;
        memcpy(command->why, device->why, sizeof command->why);
    } else if (error) {
        queue->error = error;
        memcpy(queue->why, device->why, sizeof queue->why);
        queue->limit = device->finished;
    }
    if (!command->is_waited_for) ha_store_discard(command);
    device->finished++;
    pthread_cond_broadcast(&ha_store_shared.progress);
}

HA_IN_ void *ha_store_thread(void *handle) {
    ha_store_device *device = (ha_store_device *)handle;
    ha_store_command *command;
    pthread_mutex_lock(&ha_store_shared.lock);
    while ((command = ha_store_take(device)) != NULL) {
        const int drops = command->queue != NULL && command->queue->limit != UINT64_MAX;
        int error = 0;
        pthread_mutex_unlock(&ha_store_shared.lock);
        if (!drops) error = command->run(device, command);
        pthread_mutex_lock(&ha_store_shared.lock);
        ha_store_finished(device, command, error);
    }
    pthread_mutex_unlock(&ha_store_shared.lock);
    return NULL;
}

/* ---- making a queue and ending it ------------------------------------------------------------------ */

HA_IN_ ha_status ha_store_create(void *device, void **made) {
    ha_store_queue *queue = (ha_store_queue *)HARRAY_MALLOC(sizeof *queue);
    if (queue == NULL) return HA_ERR_MEMORY;
    *queue = (ha_store_queue){
        .device = (ha_store_device *)device, .owners = 1, .limit = UINT64_MAX};
    pthread_mutex_lock(&ha_store_shared.lock);
    queue->is_first = queue->device->queues++ == 0;
    pthread_mutex_unlock(&ha_store_shared.lock);
    *made = queue;
    return HA_OK;
}

HA_IN_ void ha_store_destroy(void *queue) {
    pthread_mutex_lock(&ha_store_shared.lock);
    ha_store_disown((ha_store_queue *)queue);
    pthread_mutex_unlock(&ha_store_shared.lock);
}

/* ---- enqueueing ------------------------------------------------------------------------------------- */

/* Appends the command, with what it uses. HA_ERR_LOST: it is not taken. */
HA_IN_ ha_status ha_store_enqueue(ha_store_queue *queue, ha_store_command *command)
    HA_REQUIRES_(ha_store_shared.lock) {
    if (queue->limit != UINT64_MAX) return ha_store_lost(queue);
    command->queue = queue;
    if (!command->is_waited_for) queue->owners++;
    if (command->event.object != NULL) ((ha_store_queue *)command->event.object)->owners++;
    ha_store_append(queue->device, command);
    return HA_OK;
}

HA_IN_ ha_status ha_store_enqueue_copied(ha_store_queue *queue, const ha_store_command *model) {
    ha_store_command *command = (ha_store_command *)HARRAY_MALLOC(sizeof *command);
    if (command == NULL) return HA_ERR_MEMORY;
    *command = *model;
    pthread_mutex_lock(&ha_store_shared.lock);
    const ha_status status = ha_store_enqueue(queue, command);
    pthread_mutex_unlock(&ha_store_shared.lock);
    if (status != HA_OK) HARRAY_FREE(command);
    return status;
}

/* Until it has been done. */
HA_IN_ ha_status ha_store_enqueue_and_wait(ha_store_queue *queue, ha_store_command *command) {
    command->is_waited_for = 1;
    pthread_mutex_lock(&ha_store_shared.lock);
    ha_status status = ha_store_enqueue(queue, command);
    if (status == HA_OK) {
        const uint64_t end = queue->device->enqueued;
        ha_store_wait_for(queue->device, end);
        if (queue->limit < end) status = ha_store_lost(queue);
    }
    pthread_mutex_unlock(&ha_store_shared.lock);
    if (status != HA_OK || !command->error) return status;
    ha_backend_report(command->error, command->why);
    return HA_ERR_BACKEND;
}

HA_IN_ ha_status ha_store_copy_any(ha_store_queue *queue, const ha_strided_copy *copy) {
    ha_store_command command = {.run = ha_store_run_copy, .copy = *copy};
    if (queue->is_first || ha_store_has(queue->device, copy->from))
        return ha_store_enqueue_and_wait(queue, &command);
    return ha_store_enqueue_copied(queue, &command);
}

HA_IN_ ha_status ha_store_copy(void *queue, void *to, const void *from, size_t bytes) {
    const ha_strided_copy copy = {.to = to, .from = from, .bytes = bytes};
    return ha_store_copy_any((ha_store_queue *)queue, &copy);
}

/* A part of a piece costs as much as all of it: so copies are taken whole. */
HA_IN_ ha_status ha_store_copy_strided(void *queue, const ha_strided_copy *copies, size_t n) {
    if (n != 1) return HA_ERR_UNSUPPORTED;
    return ha_store_copy_any((ha_store_queue *)queue, copies);
}

HA_IN_ ha_status ha_store_call_refused(void *queue, ha_function f, const void *argument,
                                       size_t bytes) {
    (void)queue, (void)f, (void)argument, (void)bytes;
    ha_backend_report(0, "a store has no processor");
    return HA_ERR_UNSUPPORTED;
}

HA_IN_ ha_status ha_store_await(void *queue, const ha_event *event) {
    const ha_store_command command = {.run = ha_store_run_await, .event = *event};
    return ha_store_enqueue_copied((ha_store_queue *)queue, &command);
}

HA_IN_ ha_status ha_store_stamp(void *queue, uint64_t *ns) {
    const ha_store_command command = {.run = ha_store_run_stamp, .ns = ns};
    return ha_store_enqueue_copied((ha_store_queue *)queue, &command);
}

/* ---- events ------------------------------------------------------------------------------------------ */

HA_IN_ ha_status ha_store_record(void *handle, ha_event *event) {
    ha_store_queue *queue = (ha_store_queue *)handle;
    pthread_mutex_lock(&ha_store_shared.lock);
    const ha_status status = queue->limit == UINT64_MAX ? HA_OK : ha_store_lost(queue);
    if (status == HA_OK) *event = (ha_event){queue, queue->device->enqueued};
    pthread_mutex_unlock(&ha_store_shared.lock);
    return status;
}

HA_IN_ ha_status ha_store_finish(const ha_event *event) {
    pthread_mutex_lock(&ha_store_shared.lock);
    const int state = ha_store_wait(event);
    const ha_status status = state > 0 ? HA_OK
                                       : ha_store_lost((const ha_store_queue *)event->object);
    pthread_mutex_unlock(&ha_store_shared.lock);
    return status;
}

HA_IN_ int ha_store_done(const ha_event *event) {
    pthread_mutex_lock(&ha_store_shared.lock);
    const int state = ha_store_state(event);
    pthread_mutex_unlock(&ha_store_shared.lock);
    return state;
}

/* Also behind a failure: until everything that is enqueued now has been done or dropped. */
HA_IN_ void ha_store_drain(void *queue) {
    const ha_store_device *device = ((const ha_store_queue *)queue)->device;
    pthread_mutex_lock(&ha_store_shared.lock);
    ha_store_wait_for(device, device->enqueued);
    pthread_mutex_unlock(&ha_store_shared.lock);
}

static const ha_queue_ops ha_store_queue_ops = {
    .bytes = sizeof(ha_queue_ops),
    .version = HA_BACKEND_VERSION,
    .create = ha_store_create,
    .destroy = ha_store_destroy,
    .copy = ha_store_copy,
    .call = ha_store_call_refused,
    .record = ha_store_record,
    .await = ha_store_await,
    .finish = ha_store_finish,
    .done = ha_store_done,
    .drain = ha_store_drain,
    .copy_strided = ha_store_copy_strided,
    .stamp = ha_store_stamp,
};

#endif
