/* Whether a thread has the GIL: for what others call with it or without it. */
#include "binding.h"

#include <dlfcn.h>

/* The state of the thread that runs Python, if it is this one; NULL otherwise. The limited API has no such function, but
 * each CPython has one of these. */
static PyThreadState *(*current)(void);

void gil_begin(void) {
    void *found = dlsym(RTLD_DEFAULT, "PyThreadState_GetUnchecked"); // since 3.13
    if (!found) found = dlsym(RTLD_DEFAULT, "_PyThreadState_UncheckedGet");
    *(void **)&current = found;
}

int has_gil(void) {
    PyThreadState *own = PyGILState_GetThisThreadState();
    return own && current && own == current();
}
