/* clang-format off */
/* harray: arrays that live on host and device at once, for C.
 *
 * 1. Copy this file into your tree, and with it harray_impl.h, harray/, backends/, layout/ and LICENSE; for
 *    records also layout.h and harray_records.h. (tools/bundle makes one file of all.)
 * 2. In ONE C file:       #define HARRAY_IMPLEMENTATION
 *                         #include "harray.h"          // before every system header
 *    Everywhere else:     #include "harray.h"          // C11, C++17, nvcc
 *    Link with -pthread (with a glibc before 2.34: and -ldl). There is nothing else to build or to
 *    install.
 * 3. Declare an array, and say what you are going to do with it where; never say "copy":
 *
 *        harray_double x = harray_double_zeros(1000);
 *        HA_WRITING(v, x, device) HA_RUN(twice, v);               // moves x, enqueues twice()
 *        HA_READING(v, x, ha_host()) printf("%g\n", v.data[999]); // brings it back when it is done
 *        harray_double_free(&x);
 *
 * Where to read on: README.md, and docs/guide.md. Then harray/access.h (reading, writing, conflicts),
 * harray/array.h (the arrays and HARRAY(T)), harray/ndarray.h (n dimensions); docs/api.md has all names by
 * topic, and the header of each. backends/backend.h is the manual for adding a device.
 *
 * Before including, every file may define (all files of a library the same)
 *     HARRAY_PREFIX           goes in front of every external name; names in the source stay
 *     HARRAY_NO_BARE_VIEWS    loops over views HA_ANY outside of HA_WITH are errors (layout/any.h)
 * and the one implementation file may define
 *     HARRAY_STATIC           it is the only file that uses harray: functions are its own
 *     HARRAY_EXPORT           with -fvisibility=hidden: harray's functions are visible all the same
 *     HARRAY_DEBUG            protects what is not open (docs/debugging.md); also for other files
 *     HARRAY_NO_CUDA, HARRAY_NO_OPENCL
 *                             leaves that backend out; with both, dlopen, too
 *     HARRAY_NO_SIMD          converts and copies by portable code alone: slower, compiled sooner
 *     HARRAY_MALLOC(size), HARRAY_REALLOC(pointer, size), HARRAY_FREE(pointer)
 *                             as the standard's, all three or none, from any thread: memory for the
 *                             library's own records, not for elements (the backends have that)
 *     HARRAY_DLOPEN(name), HARRAY_DLSYM(library, symbol), HARRAY_DLERROR()
 *                             as dlopen's family, all three or none: how drivers are found
 *     HARRAY_STATIC_TLS       in a linked, not dlopened shared library: accesses open sooner
 * docs/using.md says more of each.
 *
 * What it does to your process (signals, aborting, cancelled threads, fork): docs/using.md. Linux, gcc or
 * clang; the implementation is C11, not C++.
 *
 * MIT licence; see LICENSE. */
/* clang-format on */
#if defined HARRAY_IMPLEMENTATION && !defined _GNU_SOURCE
#ifdef _FEATURES_H
#error "in the file that defines HARRAY_IMPLEMENTATION, include harray.h before all others"
#endif
#define _GNU_SOURCE 1 /* -std=c11 would hide mmap, pthreads and madvise */
#endif

#ifndef HARRAY_H
#define HARRAY_H
#if !defined __cplusplus && (!defined __STDC_VERSION__ || __STDC_VERSION__ < 201112L)
#error "harray.h needs -std=c11 or later"
#endif
#if defined __cplusplus && __cplusplus < 201703L
#error "harray.h needs -std=c++17 or later"
#endif
#include "harray/version.h"
#include "harray/status.h"
#include "harray/type.h"
#include "harray/dtype.h"
#include "harray/extents.h"
#include "harray/npy.h"
#include "harray/context.h"
#include "harray/access.h"
#include "harray/array.h"
#include "harray/darray.h"
#include "harray/ndarray.h"
#include "harray/visit.h"
#include "harray/print.h"
#include "harray/convert.h"
#include "harray/memory.h"
#include "harray/controller.h"
#include "harray/dlpack.h"
#include "harray/interfaces.h"
#include "harray/token.h"
#include "harray/instruments.h"
#include "harray/sim.h"
#include "harray/cuda.h"
#include "harray/opencl.h"
#include "harray/sycl.h"
#include "harray/file.h"
#include "harray/store.h"
#endif

#if defined HARRAY_IMPLEMENTATION && !defined HARRAY_IMPLEMENTED
#define HARRAY_IMPLEMENTED
#include "harray_impl.h"
#endif
