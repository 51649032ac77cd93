/* Programs of OpenCL devices: compiling their text, and launching their kernels. */
#ifndef HARRAY_BACKENDS_OPENCL_PROGRAM_H
#define HARRAY_BACKENDS_OPENCL_PROGRAM_H

#include "queue.h"

/* A number of at most 8 bytes that a parameter was set to; of no bytes: it was not. */
typedef struct ha_opencl_number {
    size_t bytes;
    uint64_t value;
} ha_opencl_number;

enum { HA_OPENCL_KNOWN = 128 };

/* Arguments belong to the kernel until it is enqueued, so threads take turns. */
typedef struct ha_opencl_kernel {
    struct ha_opencl_kernel *next; /* of the program */
    pthread_mutex_t lock;
    ha_opencl_number known[HA_OPENCL_KNOWN]; /* of the first parameters */
    ha_cl_kernel kernel;
    ha_kernel_limits limits;
    char name[];
} ha_opencl_kernel;

typedef struct ha_opencl_program {
    ha_opencl_device *device;
    ha_cl_program program;
    pthread_mutex_t lock;
    ha_opencl_kernel *first;
} ha_opencl_program;

/* ---- what the device is ------------------------------------------------------------------------ */

HA_IN_ void ha_opencl_device_text(const ha_opencl_device *device, uint32_t what, char *text,
                                  size_t room) {
    text[0] = '\0';
    if (ha_cl.GetDeviceInfo(device->found.device, what, room - 1, text, NULL) != HA_CL_SUCCESS)
        text[0] = '\0';
    text[room - 1] = '\0';
}

HA_IN_ void ha_opencl_describe(void *handle, char *text, size_t bytes) {
    const ha_opencl_device *device = (const ha_opencl_device *)handle;
    char platform[HA_OPENCL_TEXT_BYTES], name[HA_OPENCL_TEXT_BYTES];
    ha_opencl_platform_text(device->found.platform, HA_CL_PLATFORM_NAME, platform, sizeof platform);
    ha_opencl_device_text(device, HA_CL_DEVICE_NAME, name, sizeof name);
    snprintf(text, bytes, "%s: %s", platform, name);
}

HA_IN_ void ha_opencl_target(void *handle, char *text, size_t bytes) {
    const ha_opencl_device *device = (const ha_opencl_device *)handle;
    char described[2 * HA_OPENCL_TEXT_BYTES], version[HA_OPENCL_TEXT_BYTES];
    char driver[HA_OPENCL_TEXT_BYTES], platform[HA_OPENCL_TEXT_BYTES];
    ha_opencl_describe(handle, described, sizeof described);
    ha_opencl_platform_text(device->found.platform, HA_CL_PLATFORM_VERSION, platform,
                            sizeof platform);
    ha_opencl_device_text(device, HA_CL_DEVICE_VERSION, version, sizeof version);
    ha_opencl_device_text(device, HA_CL_DRIVER_VERSION, driver, sizeof driver);
    snprintf(text, bytes, "%s; %s; %s; driver %s", described, platform, version, driver);
}

HA_IN_ ha_language ha_opencl_language(void *handle) {
    const ha_opencl_device *device = (const ha_opencl_device *)handle;
    char text[80];
    if (device->compiles) return HA_LANGUAGE_OPENCL_C;
    snprintf(text, sizeof text, "opencl:%d: the driver has no compiler", device->number);
    ha_backend_report(0, text);
    return HA_LANGUAGE_NONE;
}

HA_IN_ int ha_opencl_has_double(void *handle) {
    const ha_opencl_device *device = (const ha_opencl_device *)handle;
    uint64_t kinds;
    if (device->settings.no_double) return 0;
    return ha_opencl_learn(device, HA_CL_DEVICE_DOUBLE_FP_CONFIG, &kinds) == HA_OK && kinds != 0;
}

/* The extension comes in two, of which minima and maxima have their own: those are made of the first. */
HA_IN_ int ha_opencl_has_long_atomics(void *handle) {
    int has = 0;
    return ha_opencl_has((const ha_opencl_device *)handle, "cl_khr_int64_base_atomics", &has) !=
               HA_OK ||
           has;
}

/* ---- compiling --------------------------------------------------------------------------------- */

HA_IN_ void ha_opencl_read_log(const ha_opencl_program *program, const ha_program_source *build) {
    if (build->log_bytes == 0) return;
    build->log[0] = '\0';
    char *whole;
    size_t bytes = 0, kept;
    if (ha_cl.GetProgramBuildInfo(program->program, program->device->found.device,
                                  HA_CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) != HA_CL_SUCCESS)
        return;
    whole = (char *)HARRAY_MALLOC(bytes + 1);
    if (whole == NULL) return;
    if (ha_cl.GetProgramBuildInfo(program->program, program->device->found.device,
                                  HA_CL_PROGRAM_BUILD_LOG, bytes, whole, NULL) == HA_CL_SUCCESS) {
        whole[bytes] = '\0';
        kept = strlen(whole);
        if (kept >= build->log_bytes) kept = build->log_bytes - 1;
        memcpy(build->log, whole, kept);
        build->log[kept] = '\0';
    }
    HARRAY_FREE(whole);
}

HA_IN_ ha_cl_program ha_opencl_create_program(const ha_opencl_device *device,
                                              const ha_program_source *build, ha_cl_code *code) {
    const char *text = build->text;
    const unsigned char *binary = (const unsigned char *)build->binary;
    ha_cl_code loaded = HA_CL_SUCCESS;
    ha_cl_program program;
    if (text != NULL) return ha_cl.CreateProgramWithSource(device->context, 1, &text, NULL, code);
    program = ha_cl.CreateProgramWithBinary(device->context, 1, &device->found.device,
                                            &build->binary_bytes, &binary, &loaded, code);
    if (*code == HA_CL_SUCCESS) *code = loaded;
    return program;
}

/* Compiles, or links what is compiled. */
HA_IN_ ha_status ha_opencl_program_build(ha_opencl_program *program,
                                         const ha_program_source *build) {
    ha_cl_code code;
    program->program = ha_opencl_create_program(program->device, build, &code);
    ha_status status = ha_opencl_check(program->device, code,
                                       build->text != NULL ? "CreateProgramWithSource"
                                                           : "CreateProgramWithBinary");
    if (status != HA_OK) return status;
    code = ha_cl.BuildProgram(program->program, 1, &program->device->found.device, build->options,
                              NULL, NULL);
    if (code == HA_CL_SUCCESS) return HA_OK;
    ha_opencl_read_log(program, build);
    ha_opencl_tell(program->device, code, "BuildProgram");
    if (code == HA_CL_OUT_OF_HOST_MEMORY) return HA_ERR_MEMORY;
    return build->text != NULL && code == HA_CL_BUILD_PROGRAM_FAILURE ? HA_ERR_COMPILE
                                                                      : HA_ERR_BACKEND;
}

HA_IN_ ha_status ha_opencl_read_binary(const ha_opencl_program *program, ha_binary *made) {
    unsigned char *data;
    ha_status status = HA_OPENCL_TRY_(program->device, GetProgramInfo, program->program,
                                      HA_CL_PROGRAM_BINARY_SIZES, sizeof made->bytes, &made->bytes,
                                      NULL);
    if (status != HA_OK || made->bytes == 0) return status;
    data = (unsigned char *)HARRAY_MALLOC(made->bytes);
    if (data == NULL) return HA_ERR_MEMORY;
    status = HA_OPENCL_TRY_(program->device, GetProgramInfo, program->program,
                            HA_CL_PROGRAM_BINARIES, sizeof data, &data, NULL);
    if (status == HA_OK)
        made->data = data;
    else
        HARRAY_FREE(data);
    return status;
}

HA_IN_ void ha_opencl_discard(void *device, void *handle) {
    ha_opencl_program *program = (ha_opencl_program *)handle;
    (void)device;
    for (ha_opencl_kernel *kernel = program->first, *next; kernel != NULL; kernel = next) {
        next = kernel->next;
        (void)ha_cl.ReleaseKernel(kernel->kernel);
        pthread_mutex_destroy(&kernel->lock);
        HARRAY_FREE(kernel);
    }
    if (program->program != NULL) (void)ha_cl.ReleaseProgram(program->program);
    pthread_mutex_destroy(&program->lock);
    HARRAY_FREE(program);
}

HA_IN_ ha_status ha_opencl_build(void *device, const ha_program_source *build, void **made,
                                 ha_binary *binary) {
    ha_binary got = {NULL, 0};
    ha_status status;
    ha_opencl_program *program = (ha_opencl_program *)HARRAY_MALLOC(sizeof *program);
    if (program == NULL) return HA_ERR_MEMORY;
    *program = (ha_opencl_program){.device = (ha_opencl_device *)device};
    pthread_mutex_init(&program->lock, NULL);
    status = ha_opencl_program_build(program, build);
    if (status != HA_OK) {
        ha_opencl_discard(device, program);
        return status;
    }
    if (binary != NULL && ha_opencl_read_binary(program, &got) != HA_OK) {
        got = (ha_binary){NULL, 0};
        ha_backend_report(0, ""); /* it is compiled all the same */
    }
    *made = program;
    if (binary != NULL) *binary = got;
    return status;
}

/* ---- kernels ----------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_opencl_kernel_number(const ha_opencl_device *device, ha_cl_kernel kernel,
                                         uint32_t what, uint64_t *number) {
    *number = 0; /* of 8 bytes, or less in its first ones */
    return HA_OPENCL_TRY_(device, GetKernelWorkGroupInfo, kernel, device->found.device, what,
                          sizeof *number, number, NULL);
}

HA_IN_ ha_status ha_opencl_limits(void *handle, ha_kernel_limits *limits) {
    const ha_opencl_device *device = (const ha_opencl_device *)handle;
    uint64_t lanes = 0, local = 0;
    ha_status status = ha_opencl_learn(device, HA_CL_DEVICE_MAX_WORK_GROUP_SIZE, &lanes);
    if (status == HA_OK) status = ha_opencl_learn(device, HA_CL_DEVICE_LOCAL_MEM_SIZE, &local);
    *limits = (ha_kernel_limits){(size_t)lanes, 1, (size_t)local};
    return status;
}

HA_IN_ ha_status ha_opencl_kernel_learn(const ha_opencl_device *device, ha_opencl_kernel *kernel) {
    uint64_t lanes = 0, multiple = 0, taken = 0, local = 0;
    ha_status status = ha_opencl_kernel_number(device, kernel->kernel, HA_CL_KERNEL_WORK_GROUP_SIZE,
                                               &lanes);
    if (status == HA_OK)
        status = ha_opencl_kernel_number(
            device, kernel->kernel, HA_CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, &multiple);
    if (status == HA_OK)
        status = ha_opencl_kernel_number(device, kernel->kernel, HA_CL_KERNEL_LOCAL_MEM_SIZE,
                                         &taken);
    if (status == HA_OK) status = ha_opencl_learn(device, HA_CL_DEVICE_LOCAL_MEM_SIZE, &local);
    if (device->found.type & HA_CL_DEVICE_TYPE_CPU) multiple = 1;
    kernel->limits = (ha_kernel_limits){(size_t)lanes, (size_t)multiple,
                                        taken < local ? (size_t)(local - taken) : 0};
    return status;
}

HA_IN_ ha_status ha_opencl_kernel_create(const ha_opencl_program *program,
                                         ha_opencl_kernel *kernel) {
    ha_cl_code code;
    ha_status status;
    kernel->kernel = ha_cl.CreateKernel(program->program, kernel->name, &code);
    status = ha_opencl_check(program->device, code, "CreateKernel");
    if (code == HA_CL_INVALID_KERNEL_NAME) return HA_ERR_NOT_FOUND;
    if (status != HA_OK) return status;
    status = ha_opencl_kernel_learn(program->device, kernel);
    if (status != HA_OK) (void)ha_cl.ReleaseKernel(kernel->kernel);
    return status;
}

HA_IN_ ha_status ha_opencl_kernel_make(const ha_opencl_program *program, const char *name,
                                       ha_opencl_kernel **made) {
    const size_t bytes = strlen(name) + 1;
    ha_status status;
    ha_opencl_kernel *kernel = (ha_opencl_kernel *)HARRAY_MALLOC(sizeof *kernel + bytes);
    if (kernel == NULL) return HA_ERR_MEMORY;
    memset(kernel, 0, sizeof *kernel);
    memcpy(kernel->name, name, bytes);
    status = ha_opencl_kernel_create(program, kernel);
    if (status != HA_OK) {
        HARRAY_FREE(kernel);
        return status;
    }
    pthread_mutex_init(&kernel->lock, NULL);
    *made = kernel;
    return HA_OK;
}

/* One that was found before is the same again. */
HA_IN_ ha_status ha_opencl_find_kernel(void *handle, const char *name, ha_kernel_limits *limits,
                                       void **found) {
    ha_opencl_program *program = (ha_opencl_program *)handle;
    ha_status status = HA_OK;
    ha_opencl_kernel *kernel;
    pthread_mutex_lock(&program->lock);
    kernel = program->first;
    while (kernel != NULL && strcmp(kernel->name, name) != 0) kernel = kernel->next;
    if (kernel == NULL) {
        status = ha_opencl_kernel_make(program, name, &kernel);
        if (status == HA_OK) {
            kernel->next = program->first;
            program->first = kernel;
        }
    }
    pthread_mutex_unlock(&program->lock);
    if (status != HA_OK) return status;
    *limits = kernel->limits;
    *found = kernel;
    return status;
}

/* ---- launching --------------------------------------------------------------------------------- */

/* Kernels keep their arguments ("OpenCL 1.2", section 5.7.2), and setting one costs some implementations an
 * allocation: what a parameter is already is not set again. */
HA_IN_ ha_cl_code ha_opencl_set_number(ha_opencl_kernel *kernel, uint32_t index, size_t bytes,
                                       const void *value) {
    const int may_know = index < HA_OPENCL_KNOWN && bytes <= sizeof kernel->known->value;
    ha_opencl_number *known = &kernel->known[may_know ? index : 0];
    ha_cl_code code;
    if (!may_know) return ha_cl.SetKernelArg(kernel->kernel, index, bytes, value);
    if (known->bytes == bytes && memcmp(&known->value, value, bytes) == 0) return HA_CL_SUCCESS;
    code = ha_cl.SetKernelArg(kernel->kernel, index, bytes, value);
    known->bytes = code == HA_CL_SUCCESS ? bytes : 0;
    memcpy(&known->value, value, bytes);
    return code;
}

/* An array is two parameters: a buffer, or a pointer, and where behind its beginning the array begins. Sets the
 * first one. */
HA_IN_ ha_cl_code ha_opencl_set_array(ha_opencl_device *device, ha_cl_kernel kernel, uint32_t index,
                                      const void *place, int64_t *behind) {
    const int usm = place != NULL && device->settings.usm;
    ha_cl_mem memory = NULL;
    size_t offset = 0;
    if (place != NULL && !usm) (void)ha_opencl_locate(device, place, &memory, &offset);
    *behind = (int64_t)offset;
    return usm ? device->usm.SetKernelArgMemPointerINTEL(kernel, index, place)
               : ha_cl.SetKernelArg(kernel, index, sizeof memory, &memory);
}

HA_IN_ ha_cl_code ha_opencl_set_arguments(const ha_opencl_queue *queue, ha_opencl_kernel *kernel,
                                          const ha_launch *launch) {
    ha_cl_code code = HA_CL_SUCCESS;
    uint32_t index = 0;
    for (size_t i = 0; i < launch->arguments && code == HA_CL_SUCCESS; i++) {
        const ha_kernel_argument *a = &launch->argument[i];
        const void *number = a->value;
        size_t bytes = a->bytes;
        int64_t behind;
        if (a->bytes == 0) {
            code = ha_opencl_set_array(queue->device, kernel->kernel, index++, a->value, &behind);
            number = &behind;
            bytes = sizeof behind;
        }
        if (code == HA_CL_SUCCESS) code = ha_opencl_set_number(kernel, index++, bytes, number);
    }
    return code;
}

HA_IN_ ha_status ha_opencl_launch(void *handle, const ha_launch *launch) {
    ha_opencl_queue *queue = (ha_opencl_queue *)handle;
    ha_opencl_kernel *kernel = (ha_opencl_kernel *)launch->kernel;
    const char *function = "SetKernelArg";
    size_t all[3];
    ha_cl_code code;
    ha_status status = ha_opencl_alive(queue);
    if (status != HA_OK) return status;
    for (int d = 0; d < 3; d++) all[d] = launch->teams[d] * launch->lanes[d];
    pthread_mutex_lock(&kernel->lock);
    code = ha_opencl_set_arguments(queue, kernel, launch);
    if (code == HA_CL_SUCCESS) {
        code = ha_cl.EnqueueNDRangeKernel(queue->queue, kernel->kernel, 3, NULL, all, launch->lanes,
                                          0, NULL, NULL);
        function = "EnqueueNDRangeKernel";
    }
    pthread_mutex_unlock(&kernel->lock);
    status = ha_opencl_enqueued(queue, code, function);
    return code == HA_CL_INVALID_WORK_GROUP_SIZE || code == HA_CL_INVALID_WORK_ITEM_SIZE
               ? HA_ERR_ARGUMENT
               : status;
}

#endif
