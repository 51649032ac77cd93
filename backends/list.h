/* The backends that are built in: one include and one line each. */
#ifndef HARRAY_BACKEND_LIST_H
#define HARRAY_BACKEND_LIST_H

#include "host/host.h"
#include "sim/sim.h"
#include "file/file.h"
#include "store/store.h"
#ifdef HARRAY_NO_CUDA
#define HA_BACKENDS_CUDA(X)
#else
#include "cuda/cuda.h"
#define HA_BACKENDS_CUDA(X) X(ha_backend_cuda)
#endif
#ifdef HARRAY_NO_OPENCL
#define HA_BACKENDS_OPENCL(X)
#else
#include "opencl/opencl.h"
#define HA_BACKENDS_OPENCL(X) X(ha_backend_opencl)
#endif

#ifdef HARRAY_WITH_SYCL
#include "sycl/sycl.h"
#define HA_BACKENDS_SYCL(X) X(ha_backend_sycl)
#else
#define HA_BACKENDS_SYCL(X)
#endif

#define HA_BACKENDS(X)                                                                             \
    X(ha_backend_host)                                                                             \
    X(ha_backend_sim)                                                                              \
    HA_BACKENDS_CUDA(X)                                                                            \
    HA_BACKENDS_OPENCL(X)                                                                          \
    HA_BACKENDS_SYCL(X)                                                                            \
    X(ha_backend_file)                                                                             \
    X(ha_backend_store)

#endif
