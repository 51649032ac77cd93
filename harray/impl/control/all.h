#ifndef HARRAY_IMPL_CONTROL_ALL_H
#define HARRAY_IMPL_CONTROL_ALL_H

#include "cuda.h"
#include "file.h"
#include "memory.h"
#include "pressure.h"
#include "opencl.h"
#include "report.h"
#include "shutdown.h"
#include "sim.h"
#include "store.h"
#include "sycl.h"
#include "zero_copy.h"

#endif
