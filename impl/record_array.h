/* Record arrays: included by records.h in the one file that defines HARRAY_IMPLEMENTATION. form.h says what
 * the engine knows of them.
 *
 *     record_array_form.h    boxes of fields; a mapping and the places of its blobs for each memory
 *     record_array_pieces.h  how a box lies in memory: lattices, strands, bundles
 *     record_array_chunk.h   what is converted at once, as a mapping
 *     record_array_spread.h  what a device puts into place itself, by strided copies
 *     record_array_way.h     in which parts a box is moved, and how
 *     record_array_queue.h   what travels as it is
 *     record_array_convert.h what the host converts
 *     record_array_move.h    a box from memory to memory
 *     record_array_handle.h  what users hold
 *     record_array_text.h    what a text asks for
 *     record_array_open.h    opening accesses
 *     record_array_access.h  what is done with them; moving without one
 *     record_array_make.h    making, freeing
 *     record_array_wrap.h    the caller's memory
 *     record_array_change.h  other layouts, other extents
 *     record_array_ask.h     questions, single records */
#ifndef HA_IMPL_RECORD_ARRAY_H
#define HA_IMPL_RECORD_ARRAY_H

#include "../harray/records.h"
#include "../layout/copy.h"
#include "record_array_ask.h"

#endif
