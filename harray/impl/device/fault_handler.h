/* The signal handler that says what was touched, and how it says it.
 *
 * It is in place while somebody has something to tell: HARRAY_DEBUG (faults.h), and functions that
 * run in a window (window.h). It may come at any time: inside malloc, inside this library with a lock
 * held, in several threads at once. So it takes no lock; who tells walks lists that only grow, and a text
 * that is just being changed is printed as it is, within its bounds. It prints one line, and passes on
 * what it got: the program ends, or goes on, as it would have. */
#ifndef HARRAY_IMPL_DEVICE_FAULT_HANDLER_H
#define HARRAY_IMPL_DEVICE_FAULT_HANDLER_H

#include "../base/all.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

/* Tells what an address is, and returns 1; 0: it is none of its own. */
typedef int (*ha_fault_teller)(uintptr_t address);

enum { HA_FAULT_TELLERS = 2 };

HA_STATE_ struct {
    pthread_mutex_t lock;
    ha_fault_teller tell[HA_FAULT_TELLERS]; /* NULL: none, or none yet */
    int installed;                          /* -1: for good */
    uint64_t told;                          /* lines so far: tests look at it */
    struct sigaction segv, bus;             /* what was there before */
} ha_fault_signals = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- one line of text, without malloc ------------------------------------------------------ */

typedef struct ha_fault_line {
    char text[480];
    size_t n;
} ha_fault_line;

HA_IN_ void ha_line_add(ha_fault_line *l, const char *text) {
    while (*text && l->n < sizeof l->text - 1) l->text[l->n++] = *text++;
}

HA_IN_ void ha_line_number(ha_fault_line *l, uintptr_t number, unsigned base) {
    char digits[24];
    size_t i = sizeof digits - 1;
    digits[i] = 0;
    do digits[--i] = "0123456789abcdef"[number % base];
    while (number /= base);
    ha_line_add(l, digits + i);
}

/* With one system call, so that lines of several threads do not mix. */
HA_IN_ void ha_line_print(ha_fault_line *l) {
    l->text[l->n++] = '\n';
    __atomic_fetch_add(&ha_fault_signals.told, 1, __ATOMIC_RELAXED);
    ssize_t written = write(STDERR_FILENO, l->text, l->n);
    (void)written;
}

/* ---- the handler --------------------------------------------------------------------------- */

/* What would have happened: another handler, or the default: that comes when the instruction that
 * faulted is tried again. */
HA_IN_ void ha_fault_pass_on(int signal, siginfo_t *info, void *context) {
    const struct sigaction *before = signal == SIGBUS ? &ha_fault_signals.bus
                                                      : &ha_fault_signals.segv;
    if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(signal, info, context);
    else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
        before->sa_handler(signal);
    else if (info->si_code > 0 || before->sa_handler == SIG_DFL) {
        sigaction(signal, before, NULL);
        if (info->si_code <= 0) raise(signal); /* was sent, and would not come again */
    }
}

HA_IN_ void ha_fault_handler(int signal, siginfo_t *info, void *context) {
    int error = errno, told = info->si_code <= 0;
    for (int i = 0; i < HA_FAULT_TELLERS && !told; i++) {
        const ha_fault_teller tell = __atomic_load_n(&ha_fault_signals.tell[i], __ATOMIC_ACQUIRE);
        told = tell && tell((uintptr_t)info->si_addr);
    }
    errno = error;
    ha_fault_pass_on(signal, info, context);
}

/* From now on it is asked about addresses. */
HA_IN_ void ha_fault_begin(ha_fault_teller tell) {
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = ha_fault_handler;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    pthread_mutex_lock(&ha_fault_signals.lock);
    int i = 0;
    while (ha_fault_signals.tell[i] && ha_fault_signals.tell[i] != tell) i++;
    __atomic_store_n(&ha_fault_signals.tell[i], tell, __ATOMIC_RELEASE);
    if (!ha_fault_signals.installed)
        ha_fault_signals.installed = sigaction(SIGSEGV, NULL, &ha_fault_signals.segv) == 0 &&
                                     sigaction(SIGBUS, NULL, &ha_fault_signals.bus) == 0 &&
                                     sigaction(SIGSEGV, &ours, NULL) == 0 &&
                                     sigaction(SIGBUS, &ours, NULL) == 0;
    pthread_mutex_unlock(&ha_fault_signals.lock);
}

/* Unless somebody has put another handler on top, which may call this one. */
HA_IN_ void ha_fault_remove_from(int signal, const struct sigaction *before) {
    struct sigaction now;
    if (sigaction(signal, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
        now.sa_sigaction == ha_fault_handler)
        sigaction(signal, before, NULL);
    else
        ha_fault_signals.installed = -1;
}

/* Nobody has anything to tell any more. */
HA_IN_ void ha_fault_signals_end(void) {
    pthread_mutex_lock(&ha_fault_signals.lock);
    for (int i = 0; i < HA_FAULT_TELLERS; i++)
        __atomic_store_n(&ha_fault_signals.tell[i], NULL, __ATOMIC_RELEASE);
    if (ha_fault_signals.installed > 0) {
        ha_fault_signals.installed = 0;
        ha_fault_remove_from(SIGSEGV, &ha_fault_signals.segv);
        ha_fault_remove_from(SIGBUS, &ha_fault_signals.bus);
    }
    pthread_mutex_unlock(&ha_fault_signals.lock);
}

#endif
