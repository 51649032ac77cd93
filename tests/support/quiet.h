/* What must wait, told from what is only late: until_quiet() returns when every other thread of the
 * program sleeps, and so nothing will happen any more unless somebody acts, whatever the machine has
 * to do besides. For this, threads that wait for the test sleep, too: await_flag().
 *
 * Asleep is what the kernel says (/proc). Where it says nothing, or a thread waits without sleeping,
 * the others are given many turns instead. Correct programs pass in any case; it is the wrong ones
 * that may get through then. A delay (of a simulated queue, say) is sleep, too. */
#ifndef HARRAY_TESTS_SUPPORT_QUIET_H
#define HARRAY_TESTS_SUPPORT_QUIET_H

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

enum { QUIET_TURNS = 20000 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t raised;
} flags_raised = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER};

static inline void raise_flag(atomic_int *flag) {
    pthread_mutex_lock(&flags_raised.lock);
    atomic_store(flag, 1);
    pthread_cond_broadcast(&flags_raised.raised);
    pthread_mutex_unlock(&flags_raised.lock);
}

static inline void await_flag(atomic_int *flag) {
    pthread_mutex_lock(&flags_raised.lock);
    while (!atomic_load(flag)) pthread_cond_wait(&flags_raised.raised, &flags_raised.lock);
    pthread_mutex_unlock(&flags_raised.lock);
}

/* What the kernel tells of a thread; 0: nothing. */
static inline size_t quiet_status(int tasks, const char *thread, char *text, size_t room) {
    char path[64];
    snprintf(path, sizeof path, "%.20s/status", thread);
    const int file = openat(tasks, path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = file < 0 ? -1 : read(file, text, room - 1);
    if (file >= 0) close(file);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

/* How often a thread has stopped running so far; -1: it runs, or may. */
static inline int64_t quiet_stops(const char *status) {
    const char *state = strstr(status, "\nState:\t");
    const char *stops = strstr(status, "\nvoluntary_ctxt_switches:");
    if (!state || !stops || state[8] != 'S') return -1;
    return strtoll(stops + strlen("\nvoluntary_ctxt_switches:"), NULL, 10);
}

/* Whether all the others sleep, at one time or another; *stops: how often they have gone to sleep. */
static inline int quiet_look(int64_t *stops) {
    char status[4096], path[64] = "";
    DIR *tasks = opendir("/proc/self/task");
    int asleep = tasks != NULL;
    *stops = 0;
    if (readlink("/proc/thread-self", path, sizeof path - 1) < 0) asleep = 0;
    const char *slash = strrchr(path, '/'), *self = slash ? slash + 1 : "";
    for (struct dirent *e; asleep && (e = readdir(tasks)) != NULL;) {
        if (*e->d_name == '.' || !strcmp(e->d_name, self)) continue;
        if (!quiet_status(dirfd(tasks), e->d_name, status, sizeof status)) continue; /* it ended */
        const int64_t n = quiet_stops(status);
        asleep = n >= 0;
        *stops += n + (int64_t)1000000 * strtoll(e->d_name, NULL, 10);
    }
    if (tasks) closedir(tasks);
    return asleep;
}

/* Twice the same: between the two, all slept at once. */
static inline void until_quiet(void) {
    int64_t before = -1, stops;
    for (int turn = 0; turn < QUIET_TURNS; turn++) {
        const int asleep = quiet_look(&stops);
        if (asleep && stops == before) return;
        before = asleep ? stops : -1;
        if (!asleep) sched_yield();
    }
}

#endif
