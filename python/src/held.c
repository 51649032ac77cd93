/* Open accesses, and what was exported of them: C's memory alone, so that it can be ended by any thread, also
 * without the GIL. An access is a token of harray's, which any thread may end. */
#include "binding.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t exports_lock = PTHREAD_MUTEX_INITIALIZER;
static export *exports;

static const char *const how_names[] = {"read", "write", "overwrite"};
const char *how_name(unsigned how) { return how_names[how]; }

int how_from(PyObject *object, unsigned *how) {
    for (*how = HA_READ; PyUnicode_Check(object) && *how <= HA_OVERWRITE; ++*how)
        if (!PyUnicode_CompareWithASCIIString(object, how_names[*how])) return 0;
    PyErr_Format(PyExc_ValueError, "%R: \"read\", \"write\" or \"overwrite\"", object);
    return -1;
}

/* Is it of this access, or in the way of this use? */
static int is_of_access(const export *e, const void *h) { return e->of == h; }
static int is_in_way(const export *e, const void *use) {
    const used *u = use;
    return e->of->x.array == u->array && (u->how != HA_READ || e->of->how != HA_READ);
}

/* "buffer at plot.py:12 and 2 more", or "". */
static void tell(int (*is_meant)(const export *, const void *), const void *of, char *text,
                 size_t bytes) {
    int count = 0;
    text[0] = '\0';
    pthread_mutex_lock(&exports_lock);
    for (const export *e = exports; e; e = e->next)
        if (is_meant(e, of) && !count++) snprintf(text, bytes, "%s at %s", e->kind, e->site);
    pthread_mutex_unlock(&exports_lock);
    const size_t length = strlen(text);
    if (count > 1) snprintf(text + length, bytes - length, " and %d more", count - 1);
}

void exports_of(const held *h, char *text, size_t bytes) { tell(is_of_access, h, text, bytes); }

/* What is refused because of what this thread has open says what was exported of it, as far as there is room, and what
 * helps. */
static void advise(const used *arrays, size_t count, char *text, size_t bytes) {
    static const char advice[] = "; x.numpy() gives a copy, which is in nobody's way";
    const size_t room = bytes - sizeof advice;
    char who[160], name[64];
    for (size_t i = 0; i < count; i++) {
        if (!arrays[i].array) continue;
        tell(is_in_way, &arrays[i], who, sizeof who);
        array_called((darray){.array = arrays[i].array}, name, sizeof name);
        const size_t length = strlen(text);
        if (who[0]) snprintf(text + length, room - length, "; %s is exported: %s", name, who);
    }
    strcat(text, advice);
}

PyObject *raise_about_(ha_status status, const used *arrays, size_t count) {
    const ha_error error = ha_take_error();
    const ha_status of = status ? status : error.status;
    char more[1100] = "";
    if (of == HA_ERR_CONFLICT && !PyErr_Occurred()) advise(arrays, count, more, sizeof more);
    return raise_error(of, &error, more);
}

static held *give_up(held *h) {
    array_drop(h->x);
    free(h);
    return NULL;
}

static void raise_refusal(const held *h, ha_status status) {
    char name[64];
    if (status != HA_ERR_BUSY) {
        raise_about(status, {h->x.array, h->how});
        return;
    }
    (void)ha_take_error();
    if (PyErr_Occurred()) return; // a signal's
    PyErr_Format(PyExc_BlockingIOError, "%s is in use by another thread",
                 array_called(h->x, name, sizeof name));
}

held *held_open(darray x, ha_context *context, unsigned how, int waits) {
    held *h = malloc(sizeof *h);
    if (!h) return PyErr_NoMemory(), NULL;
    *h = (held){.owners = 1, .x = darray_share(x), .context = context, .how = how, .site = here()};
    if (!h->x.array) return free(h), raise_status(HA_OK), NULL;
    int interrupted = 0;
    ha_status status = HA_OK;
    if (waits)
        status = open_patiently(h, &interrupted);
    else
        status = open_at_once(h, how | HA_TRY);
    if (status == HA_OK && !interrupted) return h;
    if (!interrupted) raise_refusal(h, status);
    return give_up(h);
}

/* Was it the last owner, who has to end the access? In the child of a fork nothing is ended. */
static int is_last(held *h) { return atomic_fetch_sub(&h->owners, 1) == 1 && !is_forked; }

void held_end(held *h) {
    if (is_on_queue) {
        end_later(h, h->x);
        return;
    }
    const ha_status finished = ha_token_finish(&h->token), freed = darray_free(&h->x);
    if (finished || freed) (void)ha_take_error();
    free(h);
}

void held_drop_unlocked(held *h) {
    if (is_last(h)) held_end(h);
}

void held_drop(held *h) {
    PyObject *type, *value, *trace;
    if (!is_last(h)) return;
    PyErr_Fetch(&type, &value, &trace);
    UNLOCKED(held_end(h));
    PyErr_Restore(type, value, trace);
}

int held_is_exported(const held *h) { return atomic_load(&h->owners) > 1; }

int export_begin(export *e, held *of, const char *kind, const char *site) {
    *e = (export){.of = of, .kind = kind, .site = site};
    atomic_fetch_add(&of->owners, 1);
    if (verifies_reads && verify_export(&e->as_it_was, of, kind, site)) return held_drop(of), -1;
    pthread_mutex_lock(&exports_lock);
    e->next = exports;
    e->link = &exports;
    if (exports) exports->link = &e->next;
    exports = e;
    pthread_mutex_unlock(&exports_lock);
    return 0;
}

int held_show(held *h, const char *kind) {
    if (!verifies_reads || h->shown.kind) return 0;
    atomic_fetch_add(&h->owners, 1); // another thread may close it meanwhile
    const int status = verify_export(&h->shown, h, kind, here());
    held_drop(h);
    return status;
}

/* In the child of a fork the parent's list stays as it is. */
static void unlist(export *e) {
    if (is_forked) return;
    pthread_mutex_lock(&exports_lock);
    *e->link = e->next;
    if (e->next) e->next->link = e->link;
    pthread_mutex_unlock(&exports_lock);
}

void export_end(export *e) {
    verify_tell(&e->as_it_was, e->of);
    unlist(e);
    held_drop(e->of);
}

void export_end_unlocked(export *e) {
    verify_tell_unlocked(&e->as_it_was, e->of);
    unlist(e);
    held_drop_unlocked(e->of);
}

/* ---- the list of all -------------------------------------------------------------------------- */

/* What one export says, copied while nothing can change. */
typedef struct {
    char name[48];
    const char *kind, *how, *site, *opened, *context;
} told;

static size_t tell_all(told *list, size_t most) {
    size_t n = 0;
    for (const export *e = exports; e; e = e->next, n++)
        if (n < most) {
            list[n] = (told){.kind = e->kind,
                             .how = how_name(e->of->how),
                             .site = e->site,
                             .opened = e->of->site,
                             .context = ha_context_name(e->of->context)};
            snprintf(list[n].name, sizeof list[n].name, "%s", ha_array_name(e->of->x.array));
        }
    return n;
}

static told *collect(size_t *n) {
    pthread_mutex_lock(&exports_lock);
    *n = tell_all(NULL, 0);
    told *list = malloc((*n + 1) * sizeof *list);
    if (list) tell_all(list, *n);
    pthread_mutex_unlock(&exports_lock);
    return list;
}

PyObject *list_exports(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    size_t n;
    told *list = collect(&n);
    PyObject *result = list ? PyList_New(0) : PyErr_NoMemory();
    for (size_t i = 0; result && i < n; i++) {
        const told *t = &list[i];
        PyObject *item = Py_BuildValue("{s:N,s:s,s:s,s:s,s:N,s:N}", "array", text_from(t->name),
                                       "kind", t->kind, "how", t->how, "context", t->context,
                                       "site", text_from(t->site), "opened", text_from(t->opened));
        if (!item || PyList_Append(result, item)) Py_CLEAR(result);
        Py_XDECREF(item);
    }
    free(list);
    return result;
}
