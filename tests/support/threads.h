/* A second thread that opens one access, keeps it until told to close it, and ends. Assertions are
 * the main thread's: the other one only notes what it got. */
#ifndef HARRAY_TESTS_SUPPORT_THREADS_H
#define HARRAY_TESTS_SUPPORT_THREADS_H

#include "matrix.h"
#include "quiet.h"

typedef struct opener {
    ha_array *array; /* what to open; set before start() */
    ha_context *context;
    unsigned how;
    size_t first, last;
    double amount; /* added to every element while it is open for writing */

    pthread_t thread;
    atomic_int opened, may_close; /* flags */
    ha_status status;             /* of the open; to be read once opened is set */
    ha_status closed;             /* of the close; to be read after finish() */
    ha_error error;
    double seen; /* by a read of the host: the first element */
} opener;

static inline void use_access(opener *o, ha_access *a) {
    const job j = {(double *)a->data, a->size, o->amount};
    if (o->how & (HA_WRITE | HA_OVERWRITE))
        HA_IGNORE(ha_enqueue(a->context, add_job, &j, sizeof j));
    else if (a->context == H && a->size)
        o->seen = *(const double *)a->data;
}

static inline void *opener_main(void *argument) {
    opener *o = (opener *)argument;
    ha_access a;
    o->status = ha_open(&a, o->array, o->context, o->how, o->first, o->last);
    o->error = ha_take_error();
    if (o->status == HA_OK) use_access(o, &a);
    raise_flag(&o->opened);
    await_flag(&o->may_close);
    o->closed = o->status == HA_OK ? ha_close(&a) : HA_OK;
    return NULL;
}

static inline void start(opener *o) {
    o->status = o->closed = HA_ERR_BACKEND;
    atomic_store(&o->opened, 0);
    atomic_store(&o->may_close, 0);
    assert_int_equal(pthread_create(&o->thread, NULL, opener_main, o), 0);
}

/* An opener of elements [first, last), started. */
static inline void start_open(opener *o, ha_array *array, ha_context *context, unsigned how,
                              size_t first, size_t last) {
    memset(o, 0, sizeof *o);
    o->array = array;
    o->context = context;
    o->how = how;
    o->first = first;
    o->last = last;
    start(o);
}

static inline int has_opened(opener *o) { return atomic_load(&o->opened); }

/* Waits until the open has returned, and gives its status. */
static inline ha_status wait_opened(opener *o) {
    await_flag(&o->opened);
    return o->status;
}

/* Lets it close, and waits for its end. */
static inline void finish(opener *o) {
    raise_flag(&o->may_close);
    assert_int_equal(pthread_join(o->thread, NULL), 0);
    assert_int_equal(o->closed, HA_OK);
    step();
}

/* Opens and closes on another thread, and gives the status of the open. */
static inline ha_status open_elsewhere(ha_array *array, ha_context *context, unsigned how,
                                       size_t first, size_t last) {
    opener o;
    start_open(&o, array, context, how, first, last);
    const ha_status status = wait_opened(&o);
    finish(&o);
    return status;
}

/* Waits until threads went to sleep on arrays so many times since the program began. */
static inline void until_asleep(uint64_t sleeps) {
    while (ha_test_sleeps_() < sleeps) sched_yield();
}

#endif
