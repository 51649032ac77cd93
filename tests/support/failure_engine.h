/* The engine of the failure loop (failure/test_failure.c): with a host and devices whose calls fail
 * on demand. To be included first. FAILURE_HOST: the host that fails, if it is not the usual
 * one. */
#ifndef HARRAY_TESTS_SUPPORT_FAILURE_ENGINE_H
#define HARRAY_TESTS_SUPPORT_FAILURE_ENGINE_H

#include "faulty_backend.h"
#include "../../backends/cuda/cuda.h"
#include "../../backends/host/host.h"
#include "../../backends/opencl/opencl.h"
#include "../../backends/sim/sim.h"
#include "cuda_launch.h"
#include "opencl_calls.h"
#include "private_backend.h"

#ifndef FAILURE_HOST
#define FAILURE_HOST ha_backend_host
#endif
FAULTY_HOST(faulty_host, FAILURE_HOST)
FAULTY_BACKEND(faulty_sim, ha_backend_sim, "faulty_sim", faulty_sim_fill, &faulty_sim_pinned_ops)
FAULTY_BACKEND(faulty_private, private_backend, "faulty_private", NULL, NULL)
FAULTY_BACKEND(faulty_launch, launch_backend, "faulty_launch", faulty_launch_fill,
               &faulty_launch_pinned_ops)
FAULTY_BACKEND(faulty_opencl, ha_backend_opencl, "faulty_opencl", faulty_opencl_fill, NULL)
#define HARRAY_HOST_BACKEND faulty_host
#define HARRAY_IMPLEMENTATION
#include "../../harray.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#endif
