#ifndef HARRAY_IMPL_MEMORY_ALL_H
#define HARRAY_IMPL_MEMORY_ALL_H

#include "attempt.h"
#include "taking.h"
#include "block.h"
#include "resident.h"
#include "pool.h"
#include "retire.h"
#include "loose.h"

#endif
