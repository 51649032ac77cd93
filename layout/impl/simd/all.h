#ifndef HARRAY_LAYOUT_IMPL_SIMD_ALL_H
#define HARRAY_LAYOUT_IMPL_SIMD_ALL_H

#include "vectors.h"
#include "interleave.h"
#include "interleave_x86.h"
#include "cache_lines.h"
#include "strided_blocks.h"

#endif
