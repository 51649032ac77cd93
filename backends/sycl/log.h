/* What the compiler says of a text that it refuses. dpctl's library does not tell; so the text is compiled once more by
 * OpenCL itself, for its device of the same name and driver. */
#ifndef HARRAY_BACKENDS_SYCL_LOG_H
#define HARRAY_BACKENDS_SYCL_LOG_H

#include "queue.h"

enum { HA_SYCL_TEXT_BYTES = 256, HA_SYCL_MOST_FOUND = 16 };

HA_IN_ void ha_sycl_take_text(const char *taken, char *text) {
    snprintf(text, HA_SYCL_TEXT_BYTES, "%s", taken != NULL ? taken : "");
    if (taken != NULL) ha_sycl.CString_Delete(taken);
}

/* Each has room for HA_SYCL_TEXT_BYTES. */
HA_IN_ void ha_sycl_name(const ha_sycl_device *device, char *name, char *version) {
    ha_sycl_take_text(ha_sycl.Device_GetName(device->device), name);
    ha_sycl_take_text(ha_sycl.Device_GetDriverVersion(device->device), version);
}

/* ---- OpenCL -------------------------------------------------------------------------------------- */

/* What CL/cl.h calls CL_DEVICE_NAME, CL_DRIVER_VERSION, CL_PROGRAM_BUILD_LOG, and CL_DEVICE_TYPE_ALL. */
enum { HA_SYCL_CL_NAME = 0x102B, HA_SYCL_CL_VERSION = 0x102D, HA_SYCL_CL_LOG = 0x1183 };
static const uint64_t ha_sycl_cl_all = 0xFFFFFFFF;

/* X(result, name, parameters) */
#define HA_SYCL_CL_FUNCTIONS_(X)                                                                   \
    X(int32_t, GetPlatformIDs, (uint32_t room, void **platforms, uint32_t *count))                 \
    X(int32_t, GetDeviceIDs,                                                                       \
      (void *platform, uint64_t types, uint32_t room, void **devices, uint32_t *count))            \
    X(int32_t, GetDeviceInfo,                                                                      \
      (void *device, uint32_t what, size_t room, void *value, size_t *bytes))                      \
    X(void *, CreateContext,                                                                       \
      (const intptr_t *properties, uint32_t count, void *const *devices, void *told, void *user,   \
       int32_t *code))                                                                             \
    X(int32_t, ReleaseContext, (void *context))                                                    \
    X(void *, CreateProgramWithSource,                                                             \
      (void *context, uint32_t count, const char **texts, const size_t *lengths, int32_t *code))   \
    X(int32_t, BuildProgram,                                                                       \
      (void *program, uint32_t count, void *const *devices, const char *options, void *told,       \
       void *user))                                                                                \
    X(int32_t, GetProgramBuildInfo,                                                                \
      (void *program, void *device, uint32_t what, size_t room, void *value, size_t *bytes))       \
    X(int32_t, ReleaseProgram, (void *program))

typedef struct ha_sycl_opencl {
    HA_SYCL_CL_FUNCTIONS_(HA_SYCL_MEMBER_)
} ha_sycl_opencl;

/* Nonzero: all functions are there. SYCL has loaded the library already. */
HA_IN_ int ha_sycl_opencl_load(ha_sycl_opencl *cl) {
    char why[100];
    void *library = ha_library_load("libOpenCL.so.1", why, sizeof why);
    if (library == NULL) return 0;
#define HA_SYCL_FIND_(result, name, parameters)                                                    \
    *(void **)&cl->name = HARRAY_DLSYM(library, "cl" #name);                                       \
    if (cl->name == NULL) return 0;
    HA_SYCL_CL_FUNCTIONS_(HA_SYCL_FIND_)
#undef HA_SYCL_FIND_
    return 1;
}

HA_IN_ int ha_sycl_opencl_says(const ha_sycl_opencl *cl, void *device, uint32_t what,
                               const char *expected) {
    char text[HA_SYCL_TEXT_BYTES] = "";
    return cl->GetDeviceInfo(device, what, sizeof text - 1, text, NULL) == 0 &&
           strcmp(text, expected) == 0;
}

/* NULL: OpenCL has no such device. */
HA_IN_ void *ha_sycl_opencl_find(const ha_sycl_opencl *cl, const ha_sycl_device *device) {
    void *platforms[HA_SYCL_MOST_FOUND], *found[HA_SYCL_MOST_FOUND];
    char name[HA_SYCL_TEXT_BYTES], version[HA_SYCL_TEXT_BYTES];
    uint32_t n = 0;
    ha_sycl_name(device, name, version);
    if (cl->GetPlatformIDs(HA_SYCL_MOST_FOUND, platforms, &n) != 0) n = 0;
    for (uint32_t i = 0; i < n && i < HA_SYCL_MOST_FOUND; i++) {
        uint32_t count = 0;
        if (cl->GetDeviceIDs(platforms[i], ha_sycl_cl_all, HA_SYCL_MOST_FOUND, found, &count) != 0)
            continue;
        for (uint32_t j = 0; j < count && j < HA_SYCL_MOST_FOUND; j++)
            if (ha_sycl_opencl_says(cl, found[j], HA_SYCL_CL_NAME, name) &&
                ha_sycl_opencl_says(cl, found[j], HA_SYCL_CL_VERSION, version))
                return found[j];
    }
    return NULL;
}

HA_IN_ void ha_sycl_opencl_read(const ha_sycl_opencl *cl, void *program, void *device,
                                const ha_program_source *build) {
    size_t bytes = 0;
    if (cl->GetProgramBuildInfo(program, device, HA_SYCL_CL_LOG, 0, NULL, &bytes) != 0) return;
    char *whole = (char *)HARRAY_MALLOC(bytes + 1);
    if (whole == NULL) return;
    whole[0] = whole[bytes] = '\0';
    if (cl->GetProgramBuildInfo(program, device, HA_SYCL_CL_LOG, bytes, whole, NULL) == 0)
        snprintf(build->log, build->log_bytes, "%s", whole);
    HARRAY_FREE(whole);
}

HA_IN_ void ha_sycl_opencl_build(const ha_sycl_opencl *cl, void *device,
                                 const ha_program_source *build) {
    const char *text = build->text;
    int32_t code;
    void *context = cl->CreateContext(NULL, 1, &device, NULL, NULL, &code);
    if (context == NULL) return;
    void *program = cl->CreateProgramWithSource(context, 1, &text, NULL, &code);
    if (program != NULL) {
        if (cl->BuildProgram(program, 1, &device, build->options, NULL, NULL) != 0)
            ha_sycl_opencl_read(cl, program, device, build);
        (void)cl->ReleaseProgram(program);
    }
    (void)cl->ReleaseContext(context);
}

/* ---- the log ------------------------------------------------------------------------------------- */

HA_IN_ void ha_sycl_read_log(const ha_sycl_device *device, const ha_program_source *build) {
    ha_sycl_opencl cl;
    if (build->log_bytes == 0) return;
    build->log[0] = '\0';
    void *there = ha_sycl_opencl_load(&cl) ? ha_sycl_opencl_find(&cl, device) : NULL;
    if (there != NULL) ha_sycl_opencl_build(&cl, there, build);
    if (build->log[0] == '\0')
        snprintf(build->log, build->log_bytes,
                 "error: it does not compile, and dpctl's library does not tell why");
}

#endif
