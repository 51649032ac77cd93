/* clang-format off */
/* layout.h: where the fields of records lie in memory, for C.
 *
 * 1. Copy this file and layout/ (and LICENSE) into your tree. It needs nothing else: C11, C++17, nvcc.
 * 2. For what is computed at run time (layout/mapping.h), in ONE C file:
 *                         #define HA_LAYOUT_IMPLEMENTATION
 *                         #include "layout.h"
 *    The file that defines HARRAY_IMPLEMENTATION for harray.h has it, too, when it includes layout.h.
 *
 * Where to read on: layout/scalar.h (types of fields), layout/record.h (records at run time),
 * layout/mapping.h (mappings at run time, and layouts as text). */
/* clang-format on */
#ifndef HARRAY_LAYOUT_H
#define HARRAY_LAYOUT_H

#include "layout/status.h"
#include "layout/number.h"
#include "layout/scalar.h"
#include "layout/record.h"
#include "layout/mapping.h"
#include "layout/view.h"
#include "layout/near.h"
#include "layout/split.h"

#if defined HA_LAYOUT_IMPLEMENTATION || defined HARRAY_IMPLEMENTATION
#include "layout/impl/all.h"
#endif

#endif
