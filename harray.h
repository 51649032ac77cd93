/* clang-format off */
/* harray: arrays that live on host and device at once, for C.
 *
 * 1. Copy harray.h, harray_impl.h, harray/, impl/ and backends/ into your tree.
 * 2. In ONE C file:       #define HARRAY_IMPLEMENTATION
 *                         #include "harray.h"          // before every system header
 *    Everywhere else:     #include "harray.h"          // C11, C++17, nvcc
 *    Link with -pthread. There is nothing else to build or to install.
 * 3. Declare an array, and say what you are going to do with it where; never say "copy":
 *
 *        harray_double x = harray_double_zeros(1000);
 *        HA_WRITING(v, x, gpu) HA_RUN(twice, v);                  // moves x there, enqueues twice()
 *        HA_READING(v, x, ha_host()) printf("%g\n", v.data[999]); // brings it back when it is done
 *        harray_double_free(&x);
 *
 * Where to read on: harray/status.h (errors), harray/context.h (devices and queues),
 * harray/access.h (reading, writing, conflicts), harray/array.h (the arrays and HARRAY(T)),
 * harray/sim.h (the simulated device). README.md has the tables; backends/backend.h is the manual
 * for adding a device.
 *
 * Before including, the one implementation file may define
 *     HARRAY_MALLOC(size), HARRAY_REALLOC(pointer, size), HARRAY_FREE(pointer)
 *         All three or none, as the standard's, from any thread. They serve the library's own
 *         records, not the arrays' elements (those come from the backends).
 *     HARRAY_STATIC_TLS
 *         In a shared library that is linked, not dlopened: accesses open some nanoseconds faster.
 *
 * It prints nothing (unless HARRAY_VERBOSE asks), never aborts or exits, installs no signal handler
 * and no atexit function. Threads must not be cancelled (pthread_cancel) inside its calls. Linux,
 * gcc or clang; the implementation is C11, not C++.
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
#include "harray/status.h"
#include "harray/type.h"
#include "harray/context.h"
#include "harray/access.h"
#include "harray/array.h"
#include "harray/sim.h"
#endif

#if defined HARRAY_IMPLEMENTATION && !defined HARRAY_IMPLEMENTED
#define HARRAY_IMPLEMENTED
#include "harray_impl.h"
#endif
