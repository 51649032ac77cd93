#ifndef HARRAY_IMPL_EVENTS_ALL_H
#define HARRAY_IMPL_EVENTS_ALL_H

#include "call_sites.h"
#include "event_queue.h"
#include "works.h"
#include "trace_format.h"
#include "trace.h"
#include "tell.h"

#endif
