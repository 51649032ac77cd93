/* Threads that are cancelled: not on their way through what locks, waits or prints. pthread_cancel would end them
 * there, and leave that locked. They end later, where the program says so. */
#ifndef HARRAY_IMPL_BASE_CANCEL_H
#define HARRAY_IMPL_BASE_CANCEL_H

#include "../../../backends/backend.h"
#include <pthread.h>

HA_IN_ int ha_cancel_begin(void) {
    int before = PTHREAD_CANCEL_ENABLE;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

HA_IN_ void ha_cancel_end(const int *before) {
    int disabled;
    (void)pthread_setcancelstate(*before, &disabled);
}

/* From here to the end of the block. */
#define HA_UNCANCELLED_                                                                            \
    int ha_cancel_ __attribute__((cleanup(ha_cancel_end), unused)) = ha_cancel_begin()

#endif
