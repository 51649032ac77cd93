/* A call of the user's: HDF5 is called by one thread at a time and prints nothing meanwhile, and its errors become ours. */
#ifndef HARRAY_IMPL_HDF5_CALL_H
#define HARRAY_IMPL_HDF5_CALL_H

#include "../../hdf5.h"
#include "../ndarray/all.h"

typedef struct ha_hdf5_call {
    const char *operation;
    const char *path; /* NULL: the file is the caller's */
    const char *name; /* of the dataset, as the caller says it; NULL: `where` is the dataset */
    hid_t where;
    const darray *view; /* for messages; NULL: there is none yet */
    H5E_auto2_t print;  /* what HDF5 does with errors outside of our calls */
    void *print_to;
} ha_hdf5_call;

HA_STATE_ pthread_mutex_t ha_hdf5_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Errors are told when it is left, as a handler may call anything. Nothing of harray's is waited for in between. */
HA_IN_ void ha_hdf5_enter(ha_hdf5_call *call) {
    ha_tell_later();
    pthread_mutex_lock(&ha_hdf5_mutex);
    (void)H5Eget_auto2(H5E_DEFAULT, &call->print, &call->print_to);
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

HA_IN_ void ha_hdf5_leave(const ha_hdf5_call *call) {
    (void)H5Eset_auto2(H5E_DEFAULT, call->print, call->print_to);
    pthread_mutex_unlock(&ha_hdf5_mutex);
    ha_tell_now();
}

/* ---- errors ----------------------------------------------------------------------------------- */

/* "'u' of 'run.h5'", also where the caller has not given the names. */
typedef struct ha_hdf5_names {
    char dataset[72], file[96];
} ha_hdf5_names;

HA_IN_ ha_hdf5_names ha_hdf5_names_of(const ha_hdf5_call *call) {
    ha_hdf5_names n = {"", ""};
    if (call->name)
        snprintf(n.dataset, sizeof n.dataset, "%s", call->name);
    else if (call->where > 0)
        (void)H5Iget_name(call->where, n.dataset, sizeof n.dataset);
    if (call->path)
        snprintf(n.file, sizeof n.file, "%s", call->path);
    else if (call->where > 0)
        (void)H5Fget_name(call->where, n.file, sizeof n.file);
    return n;
}

/* Between entering and leaving. */
__attribute__((format(printf, 3, 4))) HA_IN_ ha_status ha_hdf5_fail(ha_status s,
                                                                    const ha_hdf5_call *call,
                                                                    const char *format, ...) {
    const ha_hdf5_names names = ha_hdf5_names_of(call);
    char reason[200];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (!call->view)
        return ha_fail(s, call->operation, "dataset '%s' of '%s': %s", names.dataset, names.file,
                       reason);
    return ha_fail(s, call->operation, "dataset '%s' of '%s', array %.80s: %s", names.dataset,
                   names.file, ha_label_of(call->view->array).text, reason);
}

/* The first of HDF5's stack is where it went wrong; the others are who called that. */
HA_IN_ herr_t ha_hdf5_first(unsigned n, const H5E_error2_t *error, void *text) {
    if (n == 0 && error->desc) snprintf((char *)text, sizeof(ha_note), "%s", error->desc);
    return n > 0;
}

/* HDF5 has said no to something: at once, as its next call forgets why. */
HA_NOINLINE_ HA_IN_ ha_status ha_hdf5_failed(const ha_hdf5_call *call, const char *what) {
    char text[sizeof(ha_note)] = "";
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, ha_hdf5_first, text);
    (void)H5Eclear2(H5E_DEFAULT);
    ha_backend_report(0, text);
    return ha_hdf5_fail(HA_ERR_BACKEND, call, "%s failed", what);
}

#endif
