/* Kernels of CUDA devices: compiling their text, and launching them. */
#ifndef HARRAY_BACKENDS_CUDA_PROGRAM_H
#define HARRAY_BACKENDS_CUDA_PROGRAM_H

#include "nvrtc.h"
#include "queue.h"

enum { HA_CUDA_MOST_LANES = 1024, HA_CUDA_MOST_OPTIONS = 16, HA_CUDA_OPTIONS_BYTES = 512 };

typedef struct ha_cuda_program {
    ha_cuda_device *device;
    ha_cu_module module;
} ha_cuda_program;

/* ---- what the device is ------------------------------------------------------------------------ */

HA_IN_ void ha_cuda_describe_device(void *handle, char *text, size_t bytes) {
    const ha_cuda_device *device = (const ha_cuda_device *)handle;
    char name[128] = "";
    if (ha_cu.DeviceGetName(name, sizeof name, device->handle) != HA_CU_SUCCESS) name[0] = '\0';
    snprintf(text, bytes, "%s", name);
}

/* Not of the driver, which is told by whether it takes a binary: so these can be made without one. */
HA_IN_ void ha_cuda_target_of(int architecture, char *text, size_t bytes) {
    snprintf(text, bytes, "sm_%d; NVRTC %d.%d", architecture, ha_nvrtc.major, ha_nvrtc.minor);
}

HA_IN_ void ha_cuda_target(void *handle, char *text, size_t bytes) {
    ha_cuda_target_of(((const ha_cuda_device *)handle)->architecture, text, bytes);
}

HA_IN_ ha_language ha_cuda_language(void *handle) {
    const ha_cuda_device *device = (const ha_cuda_device *)handle;
    char text[160];
    if (!ha_nvrtc_is_loaded(&device->settings)) return HA_LANGUAGE_NONE;
    if (ha_nvrtc_architecture_for(device->architecture) > 0) return HA_LANGUAGE_CUDA;
    snprintf(text, sizeof text, "cuda:%d: NVRTC %d.%d compiles for nothing as old as sm_%d",
             device->number, ha_nvrtc.major, ha_nvrtc.minor, device->architecture);
    ha_backend_report(0, text);
    return HA_LANGUAGE_NONE;
}

/* ---- compiling --------------------------------------------------------------------------------- */

typedef struct ha_cuda_compiler_options {
    char text[HA_CUDA_OPTIONS_BYTES], architecture[48];
    const char *option[HA_CUDA_MOST_OPTIONS];
    int count;
} ha_cuda_compiler_options;

/* Machine code where the compiler knows the device; else text that the driver translates. */
HA_IN_ int ha_cuda_is_known(int architecture) {
    return ha_nvrtc_architecture_for(architecture) == architecture;
}

HA_IN_ ha_status ha_cuda_split_options(int architecture, const char *text,
                                       ha_cuda_compiler_options *o) {
    char *rest, *word;
    const int known = ha_cuda_is_known(architecture);
    if (snprintf(o->text, sizeof o->text, "%s", text) >= (int)sizeof o->text)
        return HA_ERR_ARGUMENT;
    snprintf(o->architecture, sizeof o->architecture, "--gpu-architecture=%s_%d",
             known ? "sm" : "compute", ha_nvrtc_architecture_for(architecture));
    o->count = 0;
    o->option[o->count++] = o->architecture;
    for (word = strtok_r(o->text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (o->count == HA_CUDA_MOST_OPTIONS) return HA_ERR_ARGUMENT;
        o->option[o->count++] = word;
    }
    return HA_OK;
}

HA_IN_ ha_status ha_nvrtc_check(ha_nvrtc_result result, const char *what) {
    char text[200];
    if (result == HA_NVRTC_SUCCESS) return HA_OK;
    snprintf(text, sizeof text, "cuda: %s: %s", what, ha_nvrtc.GetErrorString(result));
    ha_backend_report(result, text);
    if (result == HA_NVRTC_COMPILATION) return HA_ERR_COMPILE;
    return result == HA_NVRTC_OUT_OF_MEMORY ? HA_ERR_MEMORY : HA_ERR_BACKEND;
}

HA_IN_ void ha_nvrtc_read_log(ha_nvrtc_program program, const ha_program_source *source) {
    size_t bytes = 0;
    char *whole;
    if (source->log_bytes == 0) return;
    source->log[0] = '\0';
    if (ha_nvrtc.GetProgramLogSize(program, &bytes) != HA_NVRTC_SUCCESS || bytes == 0) return;
    whole = (char *)HARRAY_MALLOC(bytes + 1);
    if (whole == NULL) return;
    whole[bytes] = '\0';
    if (ha_nvrtc.GetProgramLog(program, whole) == HA_NVRTC_SUCCESS)
        snprintf(source->log, source->log_bytes, "%s", whole);
    HARRAY_FREE(whole);
}

/* What was compiled: machine code, or PTX, which ends with '\0'. */
HA_IN_ ha_status ha_nvrtc_read_image(ha_nvrtc_program program, int is_code, ha_binary *image) {
    ha_nvrtc_result result = is_code ? ha_nvrtc.GetCUBINSize(program, &image->bytes)
                                     : ha_nvrtc.GetPTXSize(program, &image->bytes);
    if (result != HA_NVRTC_SUCCESS) return ha_nvrtc_check(result, "the size of what was compiled");
    image->data = HARRAY_MALLOC(image->bytes + 1);
    if (image->data == NULL) return HA_ERR_MEMORY;
    ((char *)image->data)[image->bytes] = '\0';
    result = is_code ? ha_nvrtc.GetCUBIN(program, (char *)image->data)
                     : ha_nvrtc.GetPTX(program, (char *)image->data);
    if (result == HA_NVRTC_SUCCESS) return HA_OK;
    HARRAY_FREE(image->data);
    image->data = NULL;
    return ha_nvrtc_check(result, "what was compiled");
}

HA_IN_ ha_status ha_cuda_compile_for(int architecture, const ha_program_source *source,
                                     ha_binary *image) {
    ha_cuda_compiler_options options;
    ha_nvrtc_program program = NULL;
    ha_status status = ha_cuda_split_options(architecture, source->options, &options);
    if (status == HA_OK)
        status = ha_nvrtc_check(
            ha_nvrtc.CreateProgram(&program, source->text, "kernel.cu", 0, NULL, NULL),
            "nvrtcCreateProgram");
    if (status != HA_OK) return status;
    status = ha_nvrtc_check(ha_nvrtc.CompileProgram(program, options.count, options.option),
                            "nvrtcCompileProgram");
    if (status == HA_OK)
        status = ha_nvrtc_read_image(program, ha_cuda_is_known(architecture), image);
    else
        ha_nvrtc_read_log(program, source);
    (void)ha_nvrtc.DestroyProgram(&program);
    return status;
}

/* 90 of "sm_90"; 0: that is no architecture. */
HA_IN_ int ha_cuda_architecture(const char *name) {
    char *end;
    long number;
    if (strncmp(name, "sm_", 3) != 0 || name[3] < '1' || name[3] > '9') return 0;
    number = strtol(name + 3, &end, 10);
    return *end == '\0' && number < 100000 ? (int)number : 0;
}

HA_IN_ ha_language ha_cuda_compiles_for(const char *name, char *target, size_t bytes) {
    const int architecture = ha_cuda_architecture(name);
    char text[160];
    if (architecture == 0) return HA_LANGUAGE_NONE;
    (void)ha_cuda_count(); /* reads the options */
    if (!ha_nvrtc_is_loaded(&ha_cuda_shared.settings)) return HA_LANGUAGE_NONE;
    ha_cuda_target_of(architecture, target, bytes);
    if (ha_cuda_is_known(architecture)) return HA_LANGUAGE_CUDA;
    snprintf(text, sizeof text, "NVRTC %d.%d does not compile for %.40s", ha_nvrtc.major,
             ha_nvrtc.minor, name);
    ha_backend_report(0, text);
    return HA_LANGUAGE_NONE;
}

HA_IN_ ha_status ha_cuda_compile(const char *name, const ha_program_source *source,
                                 ha_binary *made) {
    return ha_cuda_compile_for(ha_cuda_architecture(name), source, made);
}

HA_IN_ ha_status ha_cuda_load_module(ha_cuda_device *device, const void *image, void **made) {
    ha_cuda_program *program = (ha_cuda_program *)HARRAY_MALLOC(sizeof *program);
    int pushed;
    ha_status status = program != NULL ? ha_cuda_enter(device, &pushed) : HA_ERR_MEMORY;
    if (status == HA_OK) {
        *program = (ha_cuda_program){device, NULL};
        status = HA_CUDA_TRY_(device, ModuleLoadData, &program->module, image);
        ha_cuda_leave(pushed);
    }
    if (status == HA_OK)
        *made = program;
    else
        HARRAY_FREE(program);
    return ha_cuda_not_lost(status);
}

HA_IN_ ha_status ha_cuda_build(void *handle, const ha_program_source *source, void **program,
                               ha_binary *made) {
    ha_cuda_device *device = (ha_cuda_device *)handle;
    ha_binary image = {NULL, 0};
    ha_status status;
    if (source->text == NULL) return ha_cuda_load_module(device, source->binary, program);
    status = ha_cuda_compile_for(device->architecture, source, &image);
    if (status != HA_OK) return status;
    status = ha_cuda_load_module(device, image.data, program);
    if (status == HA_OK && made != NULL)
        *made = image;
    else
        HARRAY_FREE(image.data);
    return status;
}

HA_IN_ void ha_cuda_discard(void *handle, void *made) {
    ha_cuda_program *program = (ha_cuda_program *)made;
    int pushed;
    (void)handle;
    ha_cuda_enter_quietly(program->device, &pushed);
    (void)ha_cu.ModuleUnload(program->module);
    ha_cuda_leave(pushed);
    HARRAY_FREE(program);
}

/* What every device of CUDA has without being asked for more. */
HA_IN_ ha_status ha_cuda_limits(void *handle, ha_kernel_limits *limits) {
    (void)handle;
    *limits = (ha_kernel_limits){HA_CUDA_MOST_LANES, 32, 48 << 10};
    return HA_OK;
}

/* Lanes a team: what every device of CUDA has; a kernel that needs too many registers for that says so
 * when it is launched. */
HA_IN_ ha_status ha_cuda_find_kernel(void *made, const char *name, ha_kernel_limits *limits,
                                     void **kernel) {
    const ha_cuda_program *program = (const ha_cuda_program *)made;
    ha_cu_function function = NULL;
    ha_cu_result code;
    int pushed;
    ha_status status = ha_cuda_enter(program->device, &pushed);
    if (status != HA_OK) return ha_cuda_not_lost(status);
    code = ha_cu.ModuleGetFunction(&function, program->module, name);
    ha_cuda_leave(pushed);
    if (code == HA_CU_NOT_FOUND) return HA_ERR_NOT_FOUND;
    (void)ha_cuda_limits(program->device, limits);
    *kernel = function;
    return ha_cuda_not_lost(ha_cuda_check(program->device, code, ha_cuda_names.ModuleGetFunction));
}

/* ---- launching --------------------------------------------------------------------------------- */

/* An array is two parameters: where it begins, and 0 bytes behind that. */
HA_IN_ ha_status ha_cuda_launch_kernel(void *handle, const ha_launch *launch) {
    ha_cuda_queue *queue = (ha_cuda_queue *)handle;
    const int64_t none = 0;
    void **parameter = (void **)HARRAY_MALLOC(2 * launch->arguments * sizeof *parameter);
    size_t n = 0;
    int pushed;
    ha_status status = parameter != NULL ? ha_cuda_begin(queue, &pushed) : HA_ERR_MEMORY;
    for (size_t i = 0; i < launch->arguments && status == HA_OK; i++) {
        const ha_kernel_argument *a = &launch->argument[i];
        const void *value = a->bytes > 0 ? a->value : &a->value;
        parameter[n++] = (void *)(uintptr_t)value;
        if (a->bytes == 0) parameter[n++] = (void *)(uintptr_t)&none;
    }
    if (status == HA_OK) {
        status = HA_CUDA_TRY_(queue->device, LaunchKernel, (ha_cu_function)launch->kernel,
                              (unsigned)launch->teams[0], (unsigned)launch->teams[1],
                              (unsigned)launch->teams[2], (unsigned)launch->lanes[0],
                              (unsigned)launch->lanes[1], (unsigned)launch->lanes[2],
                              (unsigned)launch->local_bytes, queue->stream, parameter, NULL);
        ha_cuda_end(queue, pushed);
    }
    HARRAY_FREE(parameter);
    return status;
}

#endif
