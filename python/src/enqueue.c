/* enqueue: functions of Python on the queues of contexts. */
#include "binding.h"

#include <stdlib.h>

/* One that has not run yet. All of this is the GIL's. */
typedef struct call {
    PyObject *function;
    ha_context *context;
    struct call *next;
} call;
static call *calls;

static void forget(call *own) {
    call **place = &calls;
    while (*place != own) place = &(*place)->next;
    *place = own->next;
    Py_DECREF(own->function);
    free(own);
}

static void run(const ha_queue *queue, void *argument) {
    (void)queue;
    call *own = *(call **)argument;
    const callback c = callback_begin_on_queue();
    PyObject *result = PyObject_CallNoArgs(own->function);
    if (!result) PyErr_WriteUnraisable(own->function);
    Py_XDECREF(result);
    forget(own);
    callback_end(c);
}

/* enqueue(ctx, f) */
PyObject *enqueue(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *where, *function;
    ha_context *context;
    ha_status status;
    if (!PyArg_ParseTuple(args, "OO", &where, &function) || context_from(where, &context))
        return NULL;
    if (!PyCallable_Check(function))
        return PyErr_Format(PyExc_TypeError, "enqueue(ctx, f): %R cannot be called", function);
    call *own = malloc(sizeof *own);
    if (!own) return PyErr_NoMemory();
    *own = (call){function, context, calls};
    Py_INCREF(function);
    calls = own;
    const char *site = here();
    UNLOCKED(status = ha_enqueue_(context, run, &own, sizeof own, "a function of Python", site));
    if (!status) Py_RETURN_NONE;
    forget(own);
    return raise_status(status);
}

/* Those of a device that has failed never run. */
void enqueue_end(void) {
    while (calls) {
        call *const first = calls;
        ha_context *const context = first->context;
        UNLOCKED(HA_IGNORE(ha_context_finish(context)));
        (void)ha_take_error();
        if (calls == first) forget(first);
    }
}
