/* backends/opencl/api.h against the headers of the Khronos Group: every function has the same type, every number
 * the same value. The compiler compares them; nothing has to run. Skipped where there are no headers. */
#include <stdio.h>

#ifdef HARRAY_NO_CL_H
int main(void) {
    puts("skipped: there is no CL/cl.h");
    return 77;
}
#else
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include "../../backends/opencl/api.h"

#define SAME(function, result, parameters)                                                         \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&cl##function), result(*) parameters),  \
                   "cl" #function);
HA_CL_FUNCTIONS_(SAME)
#define SAME_USM(function, result, parameters)                                                     \
    _Static_assert(__builtin_types_compatible_p(cl##function##_fn, result(*) parameters),          \
                   "cl" #function);
HA_CL_USM_FUNCTIONS_(SAME_USM)

#define EQUAL(name) _Static_assert((cl_ulong)CL_##name == (cl_ulong)(cl_long)HA_CL_##name, #name)
EQUAL(SUCCESS);
EQUAL(MEM_OBJECT_ALLOCATION_FAILURE);
EQUAL(OUT_OF_RESOURCES);
EQUAL(OUT_OF_HOST_MEMORY);
EQUAL(MEM_COPY_OVERLAP);
EQUAL(INVALID_OPERATION);
EQUAL(INVALID_BUFFER_SIZE);
EQUAL(PLATFORM_NAME);
EQUAL(DEVICE_TYPE);
EQUAL(DEVICE_MAX_MEM_ALLOC_SIZE);
EQUAL(DEVICE_GLOBAL_MEM_SIZE);
EQUAL(DEVICE_AVAILABLE);
EQUAL(DEVICE_EXECUTION_CAPABILITIES);
EQUAL(BUILD_PROGRAM_FAILURE);
EQUAL(INVALID_VALUE);
EQUAL(INVALID_COMMAND_QUEUE);
EQUAL(INVALID_KERNEL_NAME);
EQUAL(INVALID_WORK_GROUP_SIZE);
EQUAL(INVALID_WORK_ITEM_SIZE);
EQUAL(DEVICE_LOCAL_MEM_SIZE);
EQUAL(DEVICE_COMPILER_AVAILABLE);
EQUAL(DEVICE_NAME);
EQUAL(DEVICE_DOUBLE_FP_CONFIG);
EQUAL(DRIVER_VERSION);
EQUAL(DEVICE_VERSION);
EQUAL(DEVICE_EXTENSIONS);
EQUAL(PLATFORM_VERSION);
EQUAL(PROGRAM_BINARY_SIZES);
EQUAL(PROGRAM_BINARIES);
EQUAL(PROGRAM_BUILD_LOG);
EQUAL(KERNEL_WORK_GROUP_SIZE);
EQUAL(KERNEL_LOCAL_MEM_SIZE);
EQUAL(KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
EQUAL(QUEUE_CONTEXT);
EQUAL(QUEUE_DEVICE);
EQUAL(QUEUE_PROPERTIES);
EQUAL(EVENT_COMMAND_EXECUTION_STATUS);
EQUAL(EVENT_CONTEXT);
EQUAL(COMPLETE);
EQUAL(QUEUED);
EQUAL(DEVICE_TYPE_CPU);
EQUAL(DEVICE_TYPE_GPU);
EQUAL(DEVICE_TYPE_ACCELERATOR);
EQUAL(DEVICE_TYPE_ALL);
EQUAL(EXEC_NATIVE_KERNEL);
EQUAL(MEM_READ_WRITE);
EQUAL(MEM_USE_HOST_PTR);
_Static_assert(HA_CL_PLATFORM_NOT_FOUND == CL_PLATFORM_NOT_FOUND_KHR, "of cl_khr_icd");
_Static_assert(HA_CL_QUEUE_OUT_OF_ORDER == CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, "a property");
_Static_assert(HA_CL_MIGRATE_CONTENT_UNDEFINED == CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED,
               "a flag");

/* The names that messages have. */
static int is_named(ha_cl_code code, const char *name) {
    const char *given = ha_cl_name(code);
    int equal = given != NULL;
    for (; equal && (*given != '\0' || *name != '\0'); given++, name++) equal = *given == *name;
    return equal;
}

int main(void) {
#define NAMED(name) is_named(CL_##name, #name)
    const int same = NAMED(SUCCESS) && NAMED(DEVICE_NOT_FOUND) && NAMED(MEM_COPY_OVERLAP) &&
                     NAMED(EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) && NAMED(INVALID_VALUE) &&
                     NAMED(INVALID_COMMAND_QUEUE) && NAMED(INVALID_ARG_SIZE) &&
                     NAMED(INVALID_OPERATION) && NAMED(INVALID_BUFFER_SIZE) &&
                     NAMED(PLATFORM_NOT_FOUND_KHR) && ha_cl_name(-29) == NULL &&
                     ha_cl_name(1) == NULL && ha_cl_name(-62) == NULL;
    puts(same ? "the numbers, the types and the names are those of CL/cl.h" : "a name is wrong");
    return !same;
}
#endif
