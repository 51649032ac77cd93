/* The failure loop at the calls of the CUDA driver and of OpenCL (test_failure.c): its points are these
 * instead of the backend's slots, and a point gives an error that says nothing about the device.
 *
 * What a call did not do because of that, the backend must not take for done; and what it does not
 * report it must do all the same. So these calls are no points:
 *   - what gives something back: harray cannot but leave it to the driver. The driver's own reason is a
 *     handle that is wrong, which the fake would not survive, or a device that has failed, for which
 *     see backends/test_cuda_failure.c. In passes of their own they are the only points: then something
 *     is left in the driver, and everything else must be as ever.
 *   - cuInit and the version, which are asked once in a process: backends/test_cuda_load.c
 *   - the texts of errors
 *   - the modules of the test itself */
#ifndef HARRAY_TESTS_FAILURE_FAILURE_DRIVER_H
#define HARRAY_TESTS_FAILURE_FAILURE_DRIVER_H

#include "failure_steps.h"

static int is_one_of(const char *function, const char *const *list) {
    while (*list && strcmp(function, *list)) list++;
    return *list != NULL;
}

static driver_calls kind_of_call(const char *function) {
    static const char *const entering[] = {"cuThreadExchangeStreamCaptureMode", "cuCtxGetCurrent",
                                           "cuCtxPushCurrent_v2", NULL};
    static const char *const gives_back[] = {"cuMemFree_v2",       "cuMemFreeHost",
                                             "cuMemFreeAsync",     "cuStreamDestroy_v2",
                                             "cuEventDestroy_v2",  "cuDevicePrimaryCtxRelease_v2",
                                             "cuCtxPopCurrent_v2", NULL};
    if (is_one_of(function, entering)) return ENTERING;
    return is_one_of(function, gives_back) ? GIVING_BACK : WORKING;
}

static int is_point(const char *function) {
    static const char *const never[] = {
        "cuInit",           "cuDriverGetVersion", "cuGetErrorName",      "cuGetErrorString",
        "cuModuleLoadData", "cuModuleUnload",     "cuModuleGetFunction", NULL};
    return kind_of_call(function) == run.calls && !is_one_of(function, never);
}

/* Nothing is counted while failures are paused. */
static int fails_in_driver(HA_UNUSED void *user, const char *function, HA_UNUSED int device) {
    if (atomic_load(&faulty.first) < 0 || !is_point(function)) return 0;
    return faulty_pass(function) ? run.driver : 0;
}

/* OpenCL's calls that are no points: what gives something back, and looking for devices. */
static ha_cl_code fails_in_opencl(const char *function) {
    static const char *const looking[] = {"clGetPlatformIDs", "clGetPlatformInfo", "clGetDeviceIDs",
                                          NULL};
    if (atomic_load(&faulty.first) < 0 || !strncmp(function, "clRelease", 9) ||
        is_one_of(function, looking))
        return HA_CL_SUCCESS;
    return faulty_pass(function) ? run.driver : HA_CL_SUCCESS;
}

/* The fake asks until it is reset, or this is called for a round without these points. */
static void arm_driver(void) {
    const int opencl = run.cast == &casts[OPENCL_CAST];
    if (cuda_fake()) cuda_fake()->ask(run.driver && !opencl ? fails_in_driver : NULL, NULL);
    opencl_calls.ask = run.driver && opencl ? fails_in_opencl : NULL;
}

static const char *title_of_driver(void) {
    static char title[80];
    static const char *const memories[] = {"", " memory=managed,", " memory=async,"};
    static const char *const calls[] = {"each driver call", "each entering of a context",
                                        "each giving back"};
    snprintf(title, sizeof title, ",%s %s gives %d", memories[run.memory], calls[run.calls],
             run.driver);
    return run.driver ? title : "";
}

#endif
