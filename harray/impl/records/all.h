/* Record arrays: included by harray_records.h in the one file that defines HARRAY_IMPLEMENTATION.
 * state/array_ops.h says what the engine knows of them. */
#ifndef HARRAY_IMPL_RECORDS_ALL_H
#define HARRAY_IMPL_RECORDS_ALL_H

/* Of programs that only see it, all warnings have been given where it was compiled (tests/support/linked.h). */
#ifdef HA_INSIDE_IS_LINKED_
#pragma GCC system_header
#endif

#include "handle.h"
#include "state.h"
#include "shared_bytes.h"
#include "placement.h"
#include "access_spec.h"
#include "named.h"
#include "open.h"
#include "access.h"
#include "together.h"
#include "patterns.h"
#include "reach.h"
#include "device_scatter.h"
#include "chunk_mapping.h"
#include "method.h"
#include "by_queue.h"
#include "by_host.h"
#include "transfer.h"
#include "create.h"
#include "query.h"
#include "relayout.h"
#include "wrap.h"
#include "typed.h"
#include "run_with.h"

#endif
