/* harray_kernels.h: loop bodies in C that run on the host and on devices. docs/kernels.md has programs;
 * harray/kernel.h, harray/team.h and harray/reduce.h are the manual.
 *
 * As harray.h it is included everywhere, and in ONE C file behind #define HARRAY_IMPLEMENTATION, before
 * every system header. It brings harray_records.h, and with that harray.h and layout.h. */
#include "harray_records.h"

#ifndef HARRAY_WITH_KERNELS_H
#define HARRAY_WITH_KERNELS_H

#include "harray/kernel.h"
#include "harray/reduce.h"
#include "harray/team.h"

#endif

#if defined HARRAY_IMPLEMENTATION && !defined HARRAY_KERNELS_IMPLEMENTED
#define HARRAY_KERNELS_IMPLEMENTED
#include "harray/impl/kernels/all.h"
#endif
