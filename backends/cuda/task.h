/* Functions that a CUDA queue runs on the host: copies from and to pageable memory, stamps, and those
 * of users. The driver runs them on a thread of its own, in the order of their stream; they must not
 * call it.
 *
 * After a failure the driver does not run those that have not begun, and does not say so. So a queue
 * lists its tasks; when it is drained then, they are closed: none begins any more, and those that run
 * are waited for. What was never run goes with the queue. */
#ifndef HARRAY_BACKENDS_CUDA_TASK_H
#define HARRAY_BACKENDS_CUDA_TASK_H

#include "../common/clock.h"
#include "device.h"

#include <time.h>

struct ha_cuda_task;

typedef struct ha_cuda_tasks {
    pthread_mutex_t lock;
    pthread_cond_t change; /* fewer are running */
    struct ha_cuda_task *first;
    int running, closed;
} ha_cuda_tasks;

typedef struct ha_cuda_task {
    struct ha_cuda_task *next, **link; /* in the list of those that have not begun */
    ha_cuda_tasks *list;
    void (*run)(struct ha_cuda_task *task);
    uint64_t *ns; /* stamps */
    ha_strided_copy copy;
    ha_cuda_team *team; /* shares a copy; NULL: nobody does */
    size_t bytes;       /* calls: of the argument */
    ha_function f;
    _Alignas(max_align_t) unsigned char argument[];
} ha_cuda_task;

HA_IN_ void ha_cuda_tasks_create(ha_cuda_tasks *tasks) {
    *tasks = (ha_cuda_tasks){.first = NULL};
    pthread_mutex_init(&tasks->lock, NULL);
    pthread_cond_init(&tasks->change, NULL);
}

/* Lock held. */
HA_IN_ void ha_cuda_task_unlist(ha_cuda_task *task) {
    *task->link = task->next;
    if (task->next != NULL) task->next->link = task->link;
}

/* For a queue that is drained, in a context where nothing happens any more. */
HA_IN_ void ha_cuda_tasks_destroy(ha_cuda_tasks *tasks) {
    while (tasks->first != NULL) {
        ha_cuda_task *task = tasks->first;
        ha_cuda_task_unlist(task);
        HARRAY_FREE(task);
    }
    pthread_cond_destroy(&tasks->change);
    pthread_mutex_destroy(&tasks->lock);
}

/* No task touches memory any more when this returns, nor later. */
HA_IN_ void ha_cuda_tasks_close(ha_cuda_tasks *tasks) {
    pthread_mutex_lock(&tasks->lock);
    tasks->closed = 1;
    while (tasks->running > 0) pthread_cond_wait(&tasks->change, &tasks->lock);
    pthread_mutex_unlock(&tasks->lock);
}

/* The function that the driver is given. */
HA_IN_ void ha_cuda_task_begin(void *argument) {
    ha_cuda_task *task = (ha_cuda_task *)argument;
    ha_cuda_tasks *tasks = task->list;
    int closed;
    pthread_mutex_lock(&tasks->lock);
    closed = tasks->closed;
    tasks->running++;
    ha_cuda_task_unlist(task);
    pthread_mutex_unlock(&tasks->lock);
    if (!closed) task->run(task);
    HARRAY_FREE(task);
    pthread_mutex_lock(&tasks->lock);
    tasks->running--;
    pthread_cond_broadcast(&tasks->change);
    pthread_mutex_unlock(&tasks->lock);
}

/* Enqueues a task, which is its own from then on. When that fails the task is the caller's. */
HA_IN_ ha_status ha_cuda_task_launch(ha_cuda_device *device, ha_cuda_tasks *tasks,
                                     ha_cu_stream stream, ha_cuda_task *task) {
    ha_status status;
    pthread_mutex_lock(&tasks->lock);
    task->list = tasks;
    task->next = tasks->first;
    task->link = &tasks->first;
    if (task->next != NULL) task->next->link = &task->next;
    tasks->first = task;
    pthread_mutex_unlock(&tasks->lock);
    status = HA_CUDA_TRY_(device, LaunchHostFunc, stream, ha_cuda_task_begin, task);
    if (status == HA_OK) return status;
    pthread_mutex_lock(&tasks->lock);
    ha_cuda_task_unlist(task);
    pthread_mutex_unlock(&tasks->lock);
    return status;
}

/* ---- what tasks do ---- */

HA_IN_ void ha_cuda_run_copy(ha_cuda_task *task) { ha_cuda_team_copy(task->team, &task->copy); }

HA_IN_ void ha_cuda_run_stamp(ha_cuda_task *task) { ha_clock_stamp(task->ns); }

/* Managed memory has the same addresses everywhere. */
HA_IN_ void ha_cuda_run_call(ha_cuda_task *task) {
    static const ha_queue here = {0};
    ha_queue_run(task->f, &here, task->bytes ? task->argument : NULL);
}

/* NULL: no memory. */
HA_IN_ ha_cuda_task *ha_cuda_task_make(void (*run)(ha_cuda_task *task), size_t argument) {
    ha_cuda_task *task;
    if (argument > SIZE_MAX - sizeof *task) return NULL;
    task = (ha_cuda_task *)HARRAY_MALLOC(sizeof *task + argument);
    if (task != NULL) *task = (ha_cuda_task){.run = run, .bytes = argument};
    return task;
}

#endif
