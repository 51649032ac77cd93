/* clang-format off */
/* layout.h: where the fields of records lie in memory, for C.
 *
 * 1. Copy this file and layout/ (and LICENSE) into your tree. It needs nothing else: C11, C++17, nvcc.
 *    Views and loops are all in the headers.
 * 2. For what is computed at run time (layout/mapping.h, HA_ANY), in ONE C file:
 *                         #define HA_LAYOUT_IMPLEMENTATION
 *                         #include "layout.h"
 *    The file that defines HARRAY_IMPLEMENTATION for harray.h has it, too, when it includes layout.h.
 *    Where no other file uses layout.h, #define HARRAY_STATIC before: only what is called is compiled.
 *    It needs no -lpthread: copies that may use threads do so where the program has them.
 * 3. Your own struct stays as it is. List its fields, and choose how records of it lie in memory:
 *                         typedef struct { struct { float x, y, z; } pos, vel; float mass; } body;
 *                         #define body_FIELDS (float, pos, x), (float, pos, y), (float, pos, z), \
 *                                             (float, vel, x), (float, vel, y), (float, vel, z), \
 *                                             (float, mass)
 *                         HA_RECORD(body)
 *                         HA_VIEW(sky, body, 1, HA_AOSOA(16))     // or HA_AOS, HA_SOA, HA_ANY, ...
 * 4. Write loops once; changing the word above changes the layout, and nothing else:
 *                         sky v = sky_new(1000);
 *                         HA_EACH(sky, v, at) *sky_pos_x(v, at) += dt * *sky_vel_x(v, at);
 *                         body b = sky_load(v, sky_at(v, 7));
 *                         sky_free(v);
 *    Iterations must not need what others write: the compiler is told so, and makes vectors of them, as
 *    of the loop that you would write by hand for the layout (gcc and clang, -O2 or -O3; sqrt and the
 *    like need -fno-math-errno). Do not go through a blocked layout by a flat index: that costs ten
 *    times as much.
 * 5. Existing memory is a view, too: sky_of(array of body, n), sky_on(pointers, n), sky_in(memory, n).
 *
 * What it does not: allocate on devices, check indices.
 *
 * Where to read on: docs/layouts.md (programs, pictures), layout/fields.h (lists of fields),
 * layout/view.h (layouts, and all that a view has), layout/each.h (loops), layout/near.h
 * (neighbours; parts for threads), layout/split.h (two layouts in one view), layout/any.h (layouts
 * known at run time, and code for each), layout/dtype.h (types of fields), layout/record.h
 * (records at run time), layout/mapping.h (mappings at run time, and layouts as text),
 * layout/tree.h (user-defined nestings), layout/mapped.h (records in memory at run time),
 * layout/copy.h (copies between any two layouts), layout/arithmetic.h (+= and the like of whole
 * views), layout/counts.h (what a loop touches), layout/advise.h (which layout is best for it).
 */
/* clang-format on */
#ifndef HARRAY_LAYOUT_H
#define HARRAY_LAYOUT_H
#if !defined __cplusplus && (!defined __STDC_VERSION__ || __STDC_VERSION__ < 201112L)
#error "layout.h needs -std=c11 or later"
#endif
#if defined __cplusplus && __cplusplus < 201703L
#error "layout.h needs -std=c++17 or later"
#endif

#include "layout/status.h"
#include "layout/detail/number.h"
#include "layout/dtype.h"
#include "layout/record.h"
#include "layout/mapping.h"
#include "layout/mapped.h"
#include "layout/copy.h"
#include "layout/arithmetic.h"
#include "layout/counts.h"
#include "layout/view.h"
#include "layout/near.h"
#include "layout/advise.h"
#include "layout/split.h"

#endif

#if defined HA_LAYOUT_IMPLEMENTATION || defined HARRAY_IMPLEMENTATION
#include "layout/impl/all.h"
#endif
