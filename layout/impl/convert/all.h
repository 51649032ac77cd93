#ifndef HARRAY_LAYOUT_IMPL_CONVERT_ALL_H
#define HARRAY_LAYOUT_IMPL_CONVERT_ALL_H

#include "portable.h"
#include "avx2.h"
#include "avx512.h"
#include "blocks.h"
#include "dispatch.h"
#include "neon.h"
#include "scalars.h"

#endif
