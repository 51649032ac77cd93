#ifndef HARRAY_IMPL_STATE_ALL_H
#define HARRAY_IMPL_STATE_ALL_H

#include "array_ops.h"
#include "array_state.h"
#include "labels.h"
#include "dependencies.h"
#include "access_debug.h"
#include "array_events.h"
#include "lost.h"
#include "owners.h"

#endif
