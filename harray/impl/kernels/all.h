/* Kernels: included by harray_kernels.h in the one file that defines HARRAY_IMPLEMENTATION.
 *
 *     prelude.h      what each kernel's text begins with (prelude_numbers.h: made by tools/prelude)
 *     lines.h        the user's lines in it
 *     device_text.h  a kernel as text
 *     settings.h     what the environment says
 *     sha256.h       digests
 *     cache_size.h   how large the cache may become
 *     cache.h        compiled kernels on disk
 *     compiler.h     what compilers are given, and what they say
 *     dump.h         their texts, for whoever wants to see them
 *     programs.h     what has been compiled for a device
 *     precompile.h   all kernels, before they are launched
 *     place.h        where kernels run, and why
 *     launching.h    what is given, and opening it
 *     on_host.h      lanes as loops
 *     on_device.h    lanes as teams of a device
 *     launch.h       the call */
#ifndef HARRAY_IMPL_KERNELS_ALL_H
#define HARRAY_IMPL_KERNELS_ALL_H

#include "prelude_numbers.h"
#include "prelude.h"
#include "lines.h"
#include "device_text.h"
#include "settings.h"
#include "sha256.h"
#include "cache_size.h"
#include "cache.h"
#include "compiler.h"
#include "dump.h"
#include "programs.h"
#include "precompile.h"
#include "place.h"
#include "launching.h"
#include "on_host.h"
#include "on_device.h"
#include "launch.h"

#endif
