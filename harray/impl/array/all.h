#ifndef HARRAY_IMPL_ARRAY_ALL_H
#define HARRAY_IMPL_ARRAY_ALL_H

#include "array.h"
#include "contents.h"
#include "describe.h"
#include "wrap.h"
#include "evict.h"
#include "free.h"
#include "copy.h"

#endif
