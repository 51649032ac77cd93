/* Record arrays: included by harray_records.h in the one file that defines HARRAY_IMPLEMENTATION.
 * state/array_ops.h says what the engine knows of them.
 *
 *     state.h           what a record array is; boxes of fields
 *     placement.h       a mapping and the places of its blobs for each memory
 *     patterns.h        how a box lies in memory: columns, stride patterns, merged copies
 *     chunk_mapping.h   what is converted at once, as a mapping
 *     reach.h           where the values of a box lie, for functions on strict devices
 *     device_scatter.h  what a device puts into place itself, by strided copies
 *     method.h          in which parts a box is moved, and how
 *     by_queue.h        what travels as it is
 *     by_host.h         what the host converts
 *     transfer.h        a box from memory to memory
 *     handle.h          what users hold
 *     access_spec.h     what a text asks for
 *     named.h           whether what was touched was named, with HARRAY_DEBUG
 *     open.h            opening accesses
 *     access.h          what is done with them; moving without one
 *     create.h          making, freeing
 *     wrap.h            the caller's memory
 *     relayout.h        other layouts, other extents
 *     query.h           questions, single records
 *     typed.h           what the macros of harray/records_typed.h call */
#ifndef HARRAY_IMPL_RECORDS_ALL_H
#define HARRAY_IMPL_RECORDS_ALL_H

#include "handle.h"
#include "state.h"
#include "placement.h"
#include "access_spec.h"
#include "named.h"
#include "open.h"
#include "access.h"
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

#endif
