/* harray_records.h: coherent arrays of records, each memory with a layout of its own. Both of harray.h and
 * layout.h, and what joins them. docs/records.md has programs; harray/records_typed.h and harray/records.h are
 * the manuals.
 *
 * As harray.h it is included everywhere, and in ONE C file behind #define HARRAY_IMPLEMENTATION, before
 * every system header. There it brings the implementations of all three. */
#include "harray.h"
#include "layout.h"

#ifndef HARRAY_WITH_RECORDS_H
#define HARRAY_WITH_RECORDS_H

#include "harray/records.h"
#include "harray/records_typed.h"

#endif

#if defined HARRAY_IMPLEMENTATION && !defined HARRAY_RECORDS_IMPLEMENTED
#define HARRAY_RECORDS_IMPLEMENTED
#include "harray/impl/records/all.h"
#endif
