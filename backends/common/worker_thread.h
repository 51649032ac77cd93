/* Threads of a backend. Signals are for the program's own threads. Those that a crash raises stay:
 * what crashes here is reported as it would be anywhere else. */
#ifndef HARRAY_BACKENDS_COMMON_WORKER_THREAD_H
#define HARRAY_BACKENDS_COMMON_WORKER_THREAD_H

#include "../backend.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/* As pthread_create; `stack` in bytes. */
HA_IN_ int ha_quiet_thread(pthread_t *thread, size_t stack, void *(*main)(void *argument),
                           void *argument) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t blocked, before;
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error) return error;
    pthread_attr_setstacksize(&attributes, stack);
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    error = pthread_create(thread, &attributes, main, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

#endif
