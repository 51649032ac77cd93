/* The backends that are built in: one include and one line each. */
#ifndef HARRAY_BACKEND_LIST_H
#define HARRAY_BACKEND_LIST_H

#include "host.h"
#include "sim.h"

#define HA_BACKENDS(X)                                                                             \
    X(ha_backend_host)                                                                             \
    X(ha_backend_sim)

#endif
