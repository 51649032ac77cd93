/* Kernels: included by harray_kernels.h in the one file that defines HARRAY_IMPLEMENTATION.
 *
 *     settings.h     what the environment says
 *     arguments.h    the parameters of a kernel, those in bundles, too
 *     variant.h      what a kernel's text depends on
 *     names.h        names of C, and of the user's own, where a language means something else by them
 *     prelude.h      what each kernel's text begins with (prelude_numbers.h: made by tools/prelude)
 *     lines.h        the user's lines in it
 *     record_text.h  structs as text
 *     view_text.h    views of records as text
 *     device_text.h  what a kernel's text is made of
 *     file_text.h    a kernel in a file of the user's
 *     team_words.h   barriers, local memory, atomics: words of teams, for devices
 *     team_text.h    a team kernel's entry
 *     reduction_text.h   a reduction's entry
 *     kernel_text.h  a kernel as text
 *     team_check.h   rules of teams' bodies; what they take of a device
 *     long_atomics.h whether a kernel has atomics of 64 bits
 *     doubles.h      whether a kernel computes with double
 *     sha256.h       digests
 *     cache_size.h   how large the cache may become
 *     cache.h        compiled kernels on disk
 *     compiler.h     what compilers are given, and what they say
 *     dump.h         their texts, for whoever wants to see them
 *     programs.h     what has been compiled for a device
 *     precompile.h   all kernels, before they are launched
 *     place.h        where kernels run, and why
 *     parallel.h     loops by a user's own threads
 *     launching.h    what is given, and opening it
 *     easy.h         what is simple
 *     on_host.h      lanes as loops
 *     on_device.h    lanes as teams of a device
 *     reduce.h       reductions, here and in steps on a device
 *     launch.h       the call
 *     exact.h        whether a device computes as the host does
 *     trace_value.h  values that bodies trace */
#ifndef HARRAY_IMPL_KERNELS_ALL_H
#define HARRAY_IMPL_KERNELS_ALL_H

/* Of programs that only see it, all warnings have been given where it was compiled (tests/support/linked.h). */
#ifdef HA_INSIDE_IS_LINKED_
#pragma GCC system_header
#endif

#include "settings.h"
#include "arguments.h"
#include "variant.h"
#include "names.h"
#include "prelude_numbers.h"
#include "prelude.h"
#include "lines.h"
#include "record_text.h"
#include "view_text.h"
#include "device_text.h"
#include "file_text.h"
#include "team_words.h"
#include "team_text.h"
#include "reduction_text.h"
#include "kernel_text.h"
#include "team_check.h"
#include "long_atomics.h"
#include "doubles.h"
#include "sha256.h"
#include "cache_size.h"
#include "cache.h"
#include "compiler.h"
#include "dump.h"
#include "programs.h"
#include "precompile.h"
#include "place.h"
#include "parallel.h"
#include "launching.h"
#include "easy.h"
#include "on_host.h"
#include "on_device.h"
#include "reduce.h"
#include "launch.h"
#include "exact.h"
#include "trace_value.h"

#endif
