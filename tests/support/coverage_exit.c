/* Stands in for what ends a process without exit() in coverage builds (ld --wrap), as children of
 * the tests do, and what they have counted would be lost: _exit, abort, and putting back the
 * default action of a signal that is about to come again. */
#include <signal.h>
#include <stddef.h>

void __gcov_dump(void);
void __gcov_reset(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
_Noreturn void __real_abort(void);
_Noreturn void __wrap_abort(void);
int __real_sigaction(int signal, const struct sigaction *action, struct sigaction *before);
int __wrap_sigaction(int signal, const struct sigaction *action, struct sigaction *before);

_Noreturn void __wrap__exit(int status) {
    __gcov_dump();
    __real__exit(status);
}

_Noreturn void __wrap_abort(void) {
    __gcov_dump();
    __real_abort();
}

int __wrap_sigaction(int signal, const struct sigaction *action, struct sigaction *before) {
    if (action != NULL && !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL) {
        __gcov_dump();
        __gcov_reset(); /* the process may go on */
    }
    return __real_sigaction(signal, action, before);
}
