/* NVIDIA's compiler for programs that are made while the program runs: its library is looked for when a
 * kernel is first compiled, and stays loaded. No header is needed.
 *
 * The names and numbers are the interface of NVRTC ("NVRTC", CUDA 13.0, chapter "User Interface"). */
#ifndef HARRAY_BACKENDS_CUDA_NVRTC_H
#define HARRAY_BACKENDS_CUDA_NVRTC_H

#include "device.h"

typedef struct _nvrtcProgram *ha_nvrtc_program;
typedef int ha_nvrtc_result;

enum {
    HA_NVRTC_SUCCESS = 0,
    HA_NVRTC_OUT_OF_MEMORY = 1,
    HA_NVRTC_COMPILATION = 6,
    HA_NVRTC_BUILTIN_OPERATION_FAILURE = 7, /* its library of built-in functions is missing */
    HA_NVRTC_ARCHITECTURES = 256            /* that it may know: version 13 knows 13 */
};

/* X(field, symbol, parameters) */
#define HA_NVRTC_FUNCTIONS_(X)                                                                     \
    X(GetErrorString, nvrtcGetErrorString, const char *, (ha_nvrtc_result result))                 \
    X(Version, nvrtcVersion, ha_nvrtc_result, (int *major, int *minor))                            \
    X(GetNumSupportedArchs, nvrtcGetNumSupportedArchs, ha_nvrtc_result, (int *number))             \
    X(GetSupportedArchs, nvrtcGetSupportedArchs, ha_nvrtc_result, (int *all))                      \
    X(CreateProgram, nvrtcCreateProgram, ha_nvrtc_result,                                          \
      (ha_nvrtc_program * program, const char *text, const char *name, int headers,                \
       const char *const *header, const char *const *included))                                    \
    X(DestroyProgram, nvrtcDestroyProgram, ha_nvrtc_result, (ha_nvrtc_program * program))          \
    X(CompileProgram, nvrtcCompileProgram, ha_nvrtc_result,                                        \
      (ha_nvrtc_program program, int options, const char *const *option))                          \
    X(GetCUBINSize, nvrtcGetCUBINSize, ha_nvrtc_result,                                            \
      (ha_nvrtc_program program, size_t * bytes))                                                  \
    X(GetCUBIN, nvrtcGetCUBIN, ha_nvrtc_result, (ha_nvrtc_program program, char *cubin))           \
    X(GetPTXSize, nvrtcGetPTXSize, ha_nvrtc_result, (ha_nvrtc_program program, size_t * bytes))    \
    X(GetPTX, nvrtcGetPTX, ha_nvrtc_result, (ha_nvrtc_program program, char *ptx))                 \
    X(GetProgramLogSize, nvrtcGetProgramLogSize, ha_nvrtc_result,                                  \
      (ha_nvrtc_program program, size_t * bytes))                                                  \
    X(GetProgramLog, nvrtcGetProgramLog, ha_nvrtc_result, (ha_nvrtc_program program, char *log))

HA_STATE_ struct {
    pthread_mutex_t lock;
    int tried, loaded;
    char tried_name[HA_CUDA_NAME_BYTES]; /* what HARRAY_CUDA said that it is; "": nothing */
    int major, minor;
    int architecture[HA_NVRTC_ARCHITECTURES], architectures; /* that it compiles for: 75 is sm_75 */
    ha_cuda_text why;                                        /* there is none */
#define HA_NVRTC_FIELD_(field, symbol, result, parameters) result(*field) parameters;
    HA_NVRTC_FUNCTIONS_(HA_NVRTC_FIELD_)
#undef HA_NVRTC_FIELD_
} ha_nvrtc = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Fills the table. The name of the first function that is missing; NULL: none. */
HA_IN_ const char *ha_nvrtc_find_functions(void *library) {
    const char *missing = NULL;
    void *found;
#define HA_NVRTC_FIND_(field, symbol, result, parameters)                                          \
    found = HARRAY_DLSYM(library, #symbol);                                                        \
    memcpy(&ha_nvrtc.field, &found, sizeof found);                                                 \
    if (found == NULL && missing == NULL) missing = #symbol;
    HA_NVRTC_FUNCTIONS_(HA_NVRTC_FIND_)
#undef HA_NVRTC_FIND_
    return missing;
}

/* Lock held. Takes no memory: what fails here is never asked again. */
HA_IN_ int ha_nvrtc_know_architectures(void) {
    int count = 0;
    if (ha_nvrtc.GetNumSupportedArchs(&count) != HA_NVRTC_SUCCESS || count < 1 ||
        count > HA_NVRTC_ARCHITECTURES)
        return 0;
    if (ha_nvrtc.GetSupportedArchs(ha_nvrtc.architecture) != HA_NVRTC_SUCCESS) return 0;
    ha_nvrtc.architectures = count;
    return 1;
}

/* Lock held. */
HA_IN_ int ha_nvrtc_load(const char *name) {
    const char *missing;
    void *library = ha_library_load(name, ha_nvrtc.why.text, sizeof ha_nvrtc.why.text);
    if (library == NULL) return 0;
    missing = ha_nvrtc_find_functions(library);
    if (missing != NULL)
        snprintf(ha_nvrtc.why.text, sizeof ha_nvrtc.why.text, "%.150s: no function %s", name,
                 missing);
    else if (ha_nvrtc.Version(&ha_nvrtc.major, &ha_nvrtc.minor) != HA_NVRTC_SUCCESS ||
             !ha_nvrtc_know_architectures())
        snprintf(ha_nvrtc.why.text, sizeof ha_nvrtc.why.text, "%.150s does not say what it is",
                 name);
    else
        return 1;
    return 0;
}

/* The newest architecture that it compiles for, of those that a device can run; 0: none. */
HA_IN_ int ha_nvrtc_architecture_for(int device) {
    int newest = 0;
    for (int i = 0; i < ha_nvrtc.architectures; i++)
        if (ha_nvrtc.architecture[i] <= device && ha_nvrtc.architecture[i] > newest)
            newest = ha_nvrtc.architecture[i];
    return newest;
}

/* Looks for it once, and again when another name is given. Nonzero when there is one; else the reason is
 * reported. */
HA_IN_ int ha_nvrtc_is_loaded(const ha_cuda_settings *settings) {
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
    const size_t count = sizeof names / sizeof *names;
    int loaded;
    pthread_mutex_lock(&ha_nvrtc.lock);
    if (!ha_nvrtc.loaded && strcmp(ha_nvrtc.tried_name, settings->nvrtc) != 0) ha_nvrtc.tried = 0;
    if (!ha_nvrtc.tried && settings->nvrtc[0] != '\0')
        ha_nvrtc.loaded = ha_nvrtc_load(settings->nvrtc);
    else if (!ha_nvrtc.tried) {
        for (size_t i = 0; i < count && !ha_nvrtc.loaded; i++)
            ha_nvrtc.loaded = ha_nvrtc_load(names[i]);
        if (!ha_nvrtc.loaded)
            snprintf(
                ha_nvrtc.why.text, sizeof ha_nvrtc.why.text,
                "libnvrtc.so.13, .12 and .11.2: not found; HARRAY_CUDA=nvrtc=PATH names another");
    }
    ha_nvrtc.tried = 1;
    snprintf(ha_nvrtc.tried_name, sizeof ha_nvrtc.tried_name, "%s", settings->nvrtc);
    loaded = ha_nvrtc.loaded;
    pthread_mutex_unlock(&ha_nvrtc.lock);
    if (!loaded) ha_backend_report(0, ha_nvrtc.why.text);
    return loaded;
}

#endif
