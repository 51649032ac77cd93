#ifndef HARRAY_IMPL_DEVICE_ALL_H
#define HARRAY_IMPL_DEVICE_ALL_H

#include "fault_handler.h"
#include "faults.h"
#include "context.h"
#include "device_events.h"
#include "work.h"
#include "pointer_kind.h"
#include "timeline.h"
#include "mark.h"
#include "queue_errors.h"
#include "poison.h"
#include "window.h"
#include "queue_copy.h"
#include "kinds.h"
#include "budget.h"
#include "tier.h"
#include "registry.h"
#include "queues.h"

#endif
