/* Places in Python's source, as texts that stay: for errors, and to tell who holds what. */
#include "binding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The texts, in a table that only grows: there are as many as there are places. With the GIL. */
typedef struct site {
    struct site *next;
    char text[];
} site;
enum { BUCKETS = 1024 };
static site *buckets[BUCKETS];

static size_t bucket_of(const char *text) {
    size_t hash = 5381;
    for (; *text; text++) hash = hash * 33 + (unsigned char)*text;
    return hash % BUCKETS;
}

static const char *kept(const char *text) {
    site **bucket = &buckets[bucket_of(text)];
    for (site *s = *bucket; s; s = s->next)
        if (!strcmp(s->text, text)) return s->text;
    const size_t bytes = strlen(text) + 1;
    site *s = malloc(sizeof *s + bytes);
    if (!s) return "Python";
    memcpy(s->text, text, bytes);
    s->next = *bucket;
    return (*bucket = s)->text;
}

/* The file's name, with its folder where the name alone says nothing. */
static const char *short_name(const char *path) {
    const char *name = strrchr(path, '/');
    if (!name || strcmp(name + 1, "__init__.py") != 0) return name ? name + 1 : path;
    while (name > path && name[-1] != '/') name--;
    return name;
}

/* Where the package's own files are; set when it is imported. */
static char package[1024];

PyObject *set_package(PyObject *module, PyObject *folder) {
    (void)module;
    const char *path = PyUnicode_AsUTF8AndSize(folder, NULL);
    if (!path) return NULL;
    snprintf(package, sizeof package, "%s/", path);
    Py_RETURN_NONE;
}

static int is_own(const char *path) {
    return package[0] && !strncmp(path, package, strlen(package));
}

/* The frame before; a new reference for the old one. NULL: none. */
static PyObject *outer(PyObject *frame) {
    PyObject *back = PyObject_GetAttrString(frame, "f_back");
    Py_DECREF(frame);
    if (back != Py_None) return back;
    Py_DECREF(back);
    return NULL;
}

static const char *look(PyObject *code, int line) {
    PyObject *file = PyObject_GetAttrString(code, "co_filename");
    const char *path = file ? PyUnicode_AsUTF8AndSize(file, NULL) : NULL;
    char text[160];
    const int is_ours = path && is_own(path);
    snprintf(text, sizeof text, "%s:%d", path ? short_name(path) : "?", line);
    Py_XDECREF(file);
    return is_ours ? NULL : kept(text);
}

/* What was found out of late, for the places that open arrays again and again: each entry keeps its code, so that no other
 * one has that address. A place is an instruction of it, which a frame knows; its line has to be searched for. With the
 * GIL. */
static struct recent {
    PyObject *code;
    long instruction;
    const char *site;
} recent[256];

/* -1: it is not known. */
static long instruction_of(PyObject *frame) {
    static PyObject *name;
    if (!name) name = PyUnicode_InternFromString("f_lasti");
    PyObject *number = name ? PyObject_GetAttr(frame, name) : NULL;
    const long instruction = number ? PyLong_AsLong(number) : -1;
    Py_XDECREF(number);
    return instruction;
}

/* NULL: one of the package's own. */
static const char *site_of(PyObject *frame) {
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
    const long instruction = instruction_of(frame);
    const size_t at = ((uintptr_t)code / 64 + (uintptr_t)instruction) %
                      (sizeof recent / sizeof *recent);
    if (recent[at].code != code || recent[at].instruction != instruction || instruction < 0) {
        const int line = PyFrame_GetLineNumber((PyFrameObject *)frame);
        const struct recent found = {Py_NewRef(code), instruction, look(code, line)};
        PyObject *old = recent[at].code;
        recent[at] = found;
        Py_XDECREF(old);
    }
    const char *site = recent[at].site;
    Py_DECREF(code);
    return site;
}

/* While the main thread waits inside of harray, which has no GIL then: the exception stays for whoever is called. */
static int is_interrupted(void) {
    if (is_ending) return 0;
    const PyGILState_STATE state = PyGILState_Ensure();
    const int is = PyErr_Occurred() || PyErr_CheckSignals(); // also when it is asked once more
    PyGILState_Release(state);
    return is;
}

static void take_part(void) {
    static _Thread_local int is_known;
    if (!is_known && is_main_thread()) ha_ask_while_waiting_(is_interrupted);
    is_known = 1;
}

const char *here(void) {
    PyObject *type, *value, *trace, *frame = (PyObject *)PyEval_GetFrame();
    if (!frame) return "Python";
    PyErr_Fetch(&type, &value, &trace); // it is asked for while errors are on their way, too
    take_part();
    const char *found = NULL;
    Py_INCREF(frame);
    while (frame && !(found = site_of(frame))) frame = outer(frame);
    Py_XDECREF(frame);
    PyErr_Restore(type, value, trace); // in the place of what went wrong here
    return found ? found : "Python";
}
