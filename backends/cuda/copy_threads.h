/* Threads that share a copy between memories of the host, as one alone does not read and write as
 * fast as a device does. A device has a team; its threads are made when the first copy is enqueued
 * that is large enough, sleep when there is none, and end with the device. They never call the
 * driver.
 *
 * A copy is cut into parts, which whoever is awake takes one after the other, also the thread that
 * has the copy to do. So it waits for parts that were begun, never for a thread to wake up; but one
 * that loses its processor inside a part holds the copy up. The team has one copy at a time; who
 * finds it taken copies alone. */
#ifndef HARRAY_BACKENDS_CUDA_COPY_THREADS_H
#define HARRAY_BACKENDS_CUDA_COPY_THREADS_H

#include "options.h"
#include "../common/strided_copy.h"
#include "../common/worker_thread.h"
#include "../../harray/detail/locks.h"

#include <sched.h>
#include <stdint.h>
#include <string.h>

enum { HA_CUDA_TEAM_USUAL = 8 }; /* threads at most, unless more are asked for */
#define HA_CUDA_TEAM_STACK_ ((size_t)256 << 10)
#define HA_CUDA_TEAM_PART_ ((size_t)256 << 10)
#define HA_CUDA_TEAM_PAGE_ ((size_t)4 << 10)
#define HA_CUDA_TEAM_LARGE_ ((size_t)4 << 20) /* bytes of a copy for which threads are made */

typedef struct ha_cuda_team {
    pthread_mutex_t lock; /* of all that follows, except `size` */
    pthread_cond_t work;  /* there are parts to take; or it ends */
    pthread_cond_t done;  /* nobody is busy any more */
    int size;             /* threads that a copy may have, in all; 1: there is no team */
    int made, ending;
    int threads; /* that there are, besides the copy's own: may be fewer than wanted */
    int taken;   /* a copy has the team */
    int busy;    /* threads of the team with a part */
    ha_strided_copy copy;
    size_t next, end; /* bytes of it: what nobody has taken yet */
    pthread_t thread[HA_CUDA_MOST_THREADS - 1];
} ha_cuda_team;

/* ---- parts ---- */

/* Takes a part, when there is any, and copies it. The lock is let go meanwhile.
 * Cuts are between pages of the target, if that is one piece, and leave no small rest. */
HA_IN_ int ha_cuda_team_part(ha_cuda_team *team) HA_REQUIRES_(team->lock) {
    const ha_strided_copy copy = team->copy;
    const size_t first = team->next;
    size_t bytes = team->end - first;
    if (bytes == 0) return 0;
    if (bytes >= 2 * HA_CUDA_TEAM_PART_)
        bytes = HA_CUDA_TEAM_PART_ - ((uintptr_t)copy.to + first) % HA_CUDA_TEAM_PAGE_;
    team->next += bytes;
    pthread_mutex_unlock(&team->lock);
    ha_strided_copy_part(&copy, first, first + bytes);
    pthread_mutex_lock(&team->lock);
    return 1;
}

HA_IN_ void *ha_cuda_team_main(void *argument) {
    ha_cuda_team *team = (ha_cuda_team *)argument;
    pthread_mutex_lock(&team->lock);
    while (!team->ending) {
        team->busy++;
        while (ha_cuda_team_part(team)) continue;
        team->busy--;
        if (team->busy == 0) pthread_cond_signal(&team->done);
        if (!team->ending) pthread_cond_wait(&team->work, &team->lock);
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

/* ---- copies ---- */

/* Nonzero: the caller has the team for this copy. */
HA_IN_ int ha_cuda_team_take(ha_cuda_team *team, const ha_strided_copy *copy) {
    const size_t bytes = ha_strided_total(copy), parts = bytes / HA_CUDA_TEAM_PART_;
    int wanted;
    pthread_mutex_lock(&team->lock);
    wanted = team->taken ? 0 : team->threads;
    if (wanted > 0) {
        team->taken = 1;
        team->copy = *copy;
        team->next = 0;
        team->end = bytes;
    }
    pthread_mutex_unlock(&team->lock);
    for (int i = 0; i < wanted && (size_t)i + 1 < parts; i++) pthread_cond_signal(&team->work);
    return wanted > 0;
}

/* Between memories of the host. The team may be NULL. */
HA_IN_ void ha_cuda_team_copy(ha_cuda_team *team, const ha_strided_copy *copy) {
    const size_t bytes = ha_strided_total(copy);
    if (team == NULL || bytes < 2 * HA_CUDA_TEAM_PART_ || !ha_cuda_team_take(team, copy)) {
        ha_strided_copy_part(copy, 0, bytes);
        return;
    }
    pthread_mutex_lock(&team->lock);
    while (ha_cuda_team_part(team)) continue;
    while (team->busy > 0) pthread_cond_wait(&team->done, &team->lock);
    team->taken = 0;
    pthread_mutex_unlock(&team->lock);
}

/* ---- beginning and ending ---- */

/* Half of the processors that the caller may use, and so the threads that it makes. */
HA_IN_ int ha_cuda_team_usual(void) {
    cpu_set_t set;
    int most = HA_CUDA_TEAM_USUAL, half = most;
    if (sched_getaffinity(0, sizeof set, &set) == 0) half = CPU_COUNT(&set) / 2;
    return half < 1 ? 1 : half < most ? half : most; /* more than the set has room for: the most */
}

/* `size`: 0 is the default. Makes no thread yet. */
HA_IN_ void ha_cuda_team_create(ha_cuda_team *team, int size) {
    *team = (ha_cuda_team){.size = size > 0 ? size : ha_cuda_team_usual()};
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->work, NULL);
    pthread_cond_init(&team->done, NULL);
}

/* Nobody copies any more. */
HA_IN_ void ha_cuda_team_destroy(ha_cuda_team *team) {
    pthread_mutex_lock(&team->lock);
    team->ending = 1;
    pthread_cond_broadcast(&team->work);
    pthread_mutex_unlock(&team->lock);
    for (int i = 0; i < team->threads; i++) pthread_join(team->thread[i], NULL);
    pthread_cond_destroy(&team->done);
    pthread_cond_destroy(&team->work);
    pthread_mutex_destroy(&team->lock);
}

/* The team, with its threads, for a copy of so many bytes; NULL: it is not worth it. Those threads
 * that the system refuses are not there. */
HA_IN_ ha_cuda_team *ha_cuda_team_for(ha_cuda_team *team, size_t bytes) {
    if (team->size < 2 || bytes < HA_CUDA_TEAM_LARGE_) return NULL;
    pthread_mutex_lock(&team->lock);
    while (!team->made && team->threads < team->size - 1 &&
           ha_quiet_thread(&team->thread[team->threads], HA_CUDA_TEAM_STACK_, ha_cuda_team_main,
                           team) == 0)
        team->threads++;
    team->made = 1;
    pthread_mutex_unlock(&team->lock);
    return team;
}

#endif
