/* The run-time part of layouts: included by layout.h in the one file that asks for it. This is its
 * map: each layer knows those above it in this list, and no other. */
#ifndef HARRAY_LAYOUT_IMPL_ALL_H
#define HARRAY_LAYOUT_IMPL_ALL_H

/* Of programs that only see it, all warnings have been given where it was compiled (tests/support/linked.h). */
#ifdef HA_INSIDE_IS_LINKED_
#pragma GCC system_header
#endif

#ifdef __cplusplus
#error "HA_LAYOUT_IMPLEMENTATION belongs in a C file; C++ files include layout.h without it"
#endif

#include "base/all.h"    /* errors, memory, reading text */
#include "convert/all.h" /* numbers of one type from those of another, by whole arrays */
#include "simd/all.h"    /* what vectors do: transpose, interleave, write past the cache */
#include "record/all.h"  /* records and their leaf fields */
#include "tree/all.h"    /* the mapping tree: a user-defined nesting, and its functors */
#include "mapping/all.h" /* layouts as text and by functions; from a layout to the table of addresses */
#include "values/all.h"     /* one value, also where it is stored as bits */
#include "copy/all.h"       /* copies between any two layouts */
#include "arithmetic/all.h" /* += and the like of whole views */
#include "check/all.h"      /* does a mapping overlap itself? */
#include "dump/all.h"       /* JSON and pictures */
#include "codegen/all.h"    /* addresses as text for devices */
#include "view/all.h"       /* views known at compile time, as mappings; advice */

#endif
