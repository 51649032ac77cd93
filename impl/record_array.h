/* Record arrays: included by records.h in the one file that defines HARRAY_IMPLEMENTATION. form.h says what
 * the engine knows of them.
 *
 *     record_array_form.h    boxes of fields; a mapping and the places of its blobs for each memory
 *     record_array_pieces.h  how a box lies in memory: lattices, strands, bundles
 *     record_array_chunk.h   what is converted at once, as a mapping
 *     record_array_move.h    a box from memory to memory: by the queue, or converted on the host
 *     record_array_open.h    what a text asks for; accesses
 *     record_array_make.h    making, the caller's memory, freeing
 *     record_array_change.h  other layouts, other extents
 *     record_array_ask.h     questions, single records */
#ifndef HA_IMPL_RECORD_ARRAY_H
#define HA_IMPL_RECORD_ARRAY_H

#include "../harray/records.h"
#include "../layout/copy.h"
#include "record_array_ask.h"

#endif
