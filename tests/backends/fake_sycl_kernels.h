/* Kernels of the stand-in for dpctl's library: compiled and run by an OpenCL device that computes on the host's memory
 * wherever that is (PoCL's processors are such), so that their values are right. Without one there is no compiler. */
#ifndef HARRAY_TESTS_BACKENDS_FAKE_SYCL_KERNELS_H
#define HARRAY_TESTS_BACKENDS_FAKE_SYCL_KERNELS_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    CL_NAME = 0x102B,
    CL_DRIVER = 0x102D,
    CL_LANES = 0x1004,
    CL_LOCAL_BYTES = 0x1023,
    CL_SVM = 0x1053,
    CL_ANY_ADDRESS = 8, /* of CL_SVM: fine-grained, and of all of the system */
    CL_NUMBER_OF_PARAMETERS = 0x1191,
    CL_KERNEL_LANES = 0x11B0,
    CL_KERNEL_MULTIPLE = 0x11B3
};

/* X(result, name, parameters): objects are pointers to what only the driver knows. */
#define CL_FUNCTIONS(X)                                                                            \
    X(int, GetPlatformIDs, (unsigned room, void **platforms, unsigned *count))                     \
    X(int, GetDeviceIDs,                                                                           \
      (void *platform, uint64_t kinds, unsigned room, void **devices, unsigned *count))            \
    X(int, GetDeviceInfo, (void *device, unsigned what, size_t room, void *to, size_t *bytes))     \
    X(void *, CreateContext,                                                                       \
      (const void *properties, unsigned count, void **devices, void *told, void *user, int *code)) \
    X(void *, CreateCommandQueue, (void *context, void *device, uint64_t properties, int *code))   \
    X(void *, CreateProgramWithSource,                                                             \
      (void *context, unsigned count, const char **texts, const size_t *lengths, int *code))       \
    X(int, BuildProgram,                                                                           \
      (void *program, unsigned count, void **devices, const char *options, void *told,             \
       void *user))                                                                                \
    X(int, RetainProgram, (void *program))                                                         \
    X(int, ReleaseProgram, (void *program))                                                        \
    X(void *, CreateKernel, (void *program, const char *name, int *code))                          \
    X(int, GetKernelInfo, (void *kernel, unsigned what, size_t room, void *to, size_t *bytes))     \
    X(int, GetKernelWorkGroupInfo,                                                                 \
      (void *kernel, void *device, unsigned what, size_t room, void *to, size_t *bytes))           \
    X(int, SetKernelArg, (void *kernel, unsigned index, size_t bytes, const void *value))          \
    X(int, SetKernelArgSVMPointer, (void *kernel, unsigned index, const void *pointer))            \
    X(int, ReleaseKernel, (void *kernel))                                                          \
    X(int, EnqueueNDRangeKernel,                                                                   \
      (void *queue, void *kernel, unsigned dimensions, const size_t *first, const size_t *all,     \
       const size_t *lanes, unsigned count, void **events, void **event))                          \
    X(int, Finish, (void *queue))

#define CL_MEMBER(result, name, parameters) result(*name) parameters;
static struct {
    void *device, *context, *queue; /* NULL: there is no such device */
    CL_FUNCTIONS(CL_MEMBER)
} cl;

static int find_cl_functions(void) {
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
#define CL_FIND(result, name, parameters)                                                          \
    *(void **)&cl.name = dlsym(library, "cl" #name);                                               \
    if (!cl.name) return 0;
    CL_FUNCTIONS(CL_FIND)
    return 1;
}

static uint64_t cl_number(unsigned what) {
    uint64_t number = 0; /* of 8 bytes, or less in its first ones */
    return cl.GetDeviceInfo(cl.device, what, sizeof number, &number, NULL) ? 0 : number;
}

static void *find_cl_device(void) {
    void *platforms[8], *devices[8];
    unsigned platform_count = 0, count = 0;
    if (cl.GetPlatformIDs(8, platforms, &platform_count)) return NULL;
    for (unsigned i = 0; i < platform_count && i < 8; i++) {
        if (cl.GetDeviceIDs(platforms[i], UINT32_MAX, 8, devices, &count)) continue;
        for (unsigned j = 0; j < count && j < 8; j++) {
            cl.device = devices[j];
            if (cl_number(CL_SVM) & CL_ANY_ADDRESS) return cl.device;
        }
    }
    return NULL;
}

static void start_cl(void) {
    int code = 0;
    cl.device = find_cl_functions() ? find_cl_device() : NULL;
    if (!cl.device) return;
    cl.context = cl.CreateContext(NULL, 1, &cl.device, NULL, NULL, &code);
    if (!cl.context) abort();
    cl.queue = cl.CreateCommandQueue(cl.context, cl.device, 0, &code);
    if (!cl.queue) abort();
}

static int has_cl(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_cl);
    return cl.device != NULL;
}

/* Of the device; to be freed. */
static char *cl_text(unsigned what, const char *without) {
    char text[256] = "";
    if (has_cl()) cl.GetDeviceInfo(cl.device, what, sizeof text - 1, text, NULL);
    return strdup(has_cl() ? text : without);
}

static void *cl_compile(const char *text, const char *options) {
    int code = 0;
    void *program = cl.CreateProgramWithSource(cl.context, 1, &text, NULL, &code);
    if (!program) abort();
    if (!cl.BuildProgram(program, 1, &cl.device, options, NULL, NULL)) return program;
    cl.ReleaseProgram(program);
    return NULL;
}

static size_t cl_kernel_number(void *kernel, unsigned what) {
    size_t number = 0;
    if (cl.GetKernelWorkGroupInfo(kernel, cl.device, what, sizeof number, &number, NULL)) abort();
    return number;
}

/* A kernel that is to run. */
typedef struct cl_launch {
    void *kernel;
    size_t all[3], lanes[3]; /* the innermost is the first */
} cl_launch;

static void cl_run(cl_launch *launch) {
    if (cl.EnqueueNDRangeKernel(cl.queue, launch->kernel, 3, NULL, launch->all, launch->lanes, 0,
                                NULL, NULL) ||
        cl.Finish(cl.queue))
        abort();
    cl.ReleaseKernel(launch->kernel);
    free(launch);
}

#endif
