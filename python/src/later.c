/* What goes on a thread that runs a function of a queue, as when the collector runs there: calls of harray are refused, so it
 * is ended by the main thread, as soon as that runs Python. */
#include "binding.h"

#include <pthread.h>
#include <stdlib.h>

_Thread_local int is_on_queue;

typedef struct late {
    held *h; /* NULL: the array */
    darray x;
    struct late *next;
} late;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static late *all;

static int end_by_main_thread(void *unused) {
    (void)unused;
    end_what_is_late();
    return 0;
}

/* Without memory it stays. */
void end_later(held *h, darray x) {
    late *own = malloc(sizeof *own);
    if (!own) return;
    *own = (late){.h = h, .x = x};
    pthread_mutex_lock(&lock);
    own->next = all;
    all = own;
    pthread_mutex_unlock(&lock);
    (void)Py_AddPendingCall(end_by_main_thread,
                            NULL); // if there are too many, one of these ends this, too
}

static late *take(void) {
    pthread_mutex_lock(&lock);
    late *first = all;
    if (first) all = first->next;
    pthread_mutex_unlock(&lock);
    return first;
}

void end_what_is_late(void) {
    late *own;
    while (!is_on_queue && (own = take())) {
        UNLOCKED({
            if (own->h)
                held_end(own->h);
            else
                HA_IGNORE(darray_free(&own->x));
            (void)ha_take_error();
        });
        free(own);
    }
}
