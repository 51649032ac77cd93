#ifndef HARRAY_IMPL_DEVICE_ALL_H
#define HARRAY_IMPL_DEVICE_ALL_H

#include "faults.h"
#include "context.h"
#include "device_events.h"
#include "pointer_kind.h"
#include "timeline.h"
#include "queue_copy.h"
#include "registry.h"
#include "queues.h"
#include "run.h"

#endif
