/* The process and the interpreter: a fork, and the end. */
#include "binding.h"

#include <pthread.h>

atomic_int is_forked, is_ending, is_shut_down;

static void after_fork(void) { is_forked = 1; }
static void watch_forks(void) { pthread_atfork(NULL, NULL, after_fork); }

/* 0 where Python does not know, as when it ends. */
static unsigned long find_main_thread(void) {
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *thread = threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
    PyObject *ident = thread ? PyObject_GetAttrString(thread, "ident") : NULL;
    const unsigned long found = ident ? PyLong_AsUnsignedLong(ident) : 0;
    Py_XDECREF(ident);
    Py_XDECREF(thread);
    Py_XDECREF(threading);
    if (!PyErr_Occurred()) return found;
    PyErr_Clear();
    return 0;
}

/* The thread that Python delivers signals to. It is looked for when somebody waits: to import what knows it takes as long
 * as to import this package. */
int is_main_thread(void) {
    static unsigned long main_thread;
    if (!main_thread) main_thread = find_main_thread();
    return PyThread_get_thread_ident() == main_thread;
}

/* At exit: what was asked for by Python is asked no more, and devices are given back if no array is left. */
PyObject *life_end(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    ha_ask_while_waiting_(NULL);
    if (!is_forked) {
        enqueue_end();
        controller_end();
        const int hangs = tiers_end();
        end_what_is_late();
        ha_status status = HA_ERR_STATE;
        if (!hangs && !is_waited_for()) UNLOCKED(status = ha_shutdown());
        is_shut_down = status == HA_OK;
        (void)ha_take_error(); // refused while arrays live, which the process's end takes along
    }
    is_ending = 1;
    CHECKS_END();
    Py_RETURN_NONE;
}

static int register_end(PyObject *module) {
    PyObject *atexit = PyImport_ImportModule("atexit");
    PyObject *end = PyObject_GetAttrString(module, "_end");
    PyObject *done = atexit && end ? PyObject_CallMethod(atexit, "register", "O", end) : NULL;
    Py_XDECREF(atexit);
    Py_XDECREF(end);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

int life_begin(PyObject *module) {
    gil_begin();
    CHECKS_BEGIN();
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError, "harray works in the main interpreter only");
        return -1;
    }
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    return register_end(module);
}
