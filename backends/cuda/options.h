/* The options of CUDA devices: defaults, limits, and their form as text in HARRAY_CUDA. */
#ifndef HARRAY_BACKENDS_CUDA_OPTIONS_H
#define HARRAY_BACKENDS_CUDA_OPTIONS_H

#include "../../harray/cuda.h"
#include "../backend.h"
#include "../common/options.h"

enum { HA_CUDA_NAME_BYTES = 201 }; /* of the library's name */
enum { HA_CUDA_MOST_THREADS = 64 };

/* Complete options, with their own copy of the name. */
typedef struct ha_cuda_settings {
    ha_cuda_memory memory;
    size_t slab;
    char library[HA_CUDA_NAME_BYTES];
    char nvrtc[HA_CUDA_NAME_BYTES]; /* the compiler; "": by its usual names */
    int copy_threads;               /* 0: copy_threads.h knows */
} ha_cuda_settings;

enum {
    HA_CUDA_KEY_MEMORY,
    HA_CUDA_KEY_SLAB,
    HA_CUDA_KEY_LIBRARY,
    HA_CUDA_KEY_COPY_THREADS,
    HA_CUDA_KEY_NVRTC,
    HA_CUDA_KEYS
};

static const char *const ha_cuda_memory_names[] = {"device", "managed", "async", NULL};

static const ha_option_key ha_cuda_keys[HA_CUDA_KEYS] = {
    [HA_CUDA_KEY_MEMORY] = {"memory", NULL, ha_cuda_memory_names, 0, HA_CUDA_ASYNC,
                            "device, managed or async"},
    [HA_CUDA_KEY_SLAB] = {"slab", ha_option_sizes, NULL, (uint64_t)1 << 20, (uint64_t)16 << 30,
                          "bytes, or a number with K, M or G; 1M to 16G"},
    [HA_CUDA_KEY_LIBRARY] = {"library", NULL, NULL, 1, HA_CUDA_NAME_BYTES - 1,
                             "a name of up to 200 characters"},
    [HA_CUDA_KEY_COPY_THREADS] = {"copy_threads", ha_option_plain, NULL, 1, HA_CUDA_MOST_THREADS,
                                  "a number up to 64"},
    [HA_CUDA_KEY_NVRTC] = {"nvrtc", NULL, NULL, 1, HA_CUDA_NAME_BYTES - 1,
                           "a name of up to 200 characters"},
};

static const ha_option_keys ha_cuda_option_keys = {"HARRAY_CUDA", "cuda", ha_cuda_keys,
                                                   HA_CUDA_KEYS};

/* A name of so many characters, or what it is by default. */
HA_IN_ void ha_cuda_name(char *to, const char *name, size_t length, const char *otherwise) {
    if (name == NULL) {
        name = otherwise;
        length = strlen(otherwise);
    }
    memcpy(to, name, length);
    to[length] = '\0';
}

/* Defaults where a number is 0. */
HA_IN_ ha_cuda_settings ha_cuda_complete(ha_cuda_memory memory, uint64_t slab, int copy_threads) {
    ha_cuda_settings settings = {.memory = memory,
                                 .slab = slab ? (size_t)slab : (size_t)32 << 20,
                                 .copy_threads = copy_threads};
    return settings;
}

/* How long a name is; UINT64_MAX: there is no character. */
HA_IN_ uint64_t ha_cuda_name_length(const char *name) {
    const size_t length = name != NULL ? strnlen(name, HA_CUDA_NAME_BYTES) : 1;
    return length ? length : UINT64_MAX;
}

/* What a call has set. Returns 0, with the reason in *wrong, when a field is out of range. */
HA_IN_ int ha_cuda_settings_of(const ha_cuda_options *options, ha_cuda_settings *settings,
                               ha_option_text *wrong) {
    const uint64_t numbers[HA_CUDA_KEYS] = {
        [HA_CUDA_KEY_MEMORY] = (uint64_t)options->memory,
        [HA_CUDA_KEY_SLAB] = options->slab,
        [HA_CUDA_KEY_LIBRARY] = ha_cuda_name_length(options->library),
        [HA_CUDA_KEY_COPY_THREADS] = (uint64_t)options->copy_threads,
        [HA_CUDA_KEY_NVRTC] = ha_cuda_name_length(options->nvrtc),
    };
    if (!ha_options_in_range(&ha_cuda_option_keys, numbers, wrong)) return 0;
    *settings = ha_cuda_complete(options->memory, options->slab, options->copy_threads);
    ha_cuda_name(settings->library, options->library, (size_t)numbers[HA_CUDA_KEY_LIBRARY],
                 "libcuda.so.1");
    ha_cuda_name(settings->nvrtc, options->nvrtc, (size_t)numbers[HA_CUDA_KEY_NVRTC], "");
    return 1;
}

/* What HARRAY_CUDA says: "memory=managed,slab=64M,library=/opt/lib/libcuda.so.1". NULL: defaults.
 * Returns 0, with the reason in *wrong, when any part of it is wrong. */
HA_IN_ int ha_cuda_settings_from(const char *text, ha_cuda_settings *settings,
                                 ha_option_text *wrong) {
    ha_option_value v[HA_CUDA_KEYS] = {{0, NULL, 0}};
    if (text != NULL && !ha_options_parse(&ha_cuda_option_keys, text, v, wrong)) return 0;
    *settings = ha_cuda_complete((ha_cuda_memory)v[HA_CUDA_KEY_MEMORY].number,
                                 v[HA_CUDA_KEY_SLAB].number,
                                 (int)v[HA_CUDA_KEY_COPY_THREADS].number);
    ha_cuda_name(settings->library, v[HA_CUDA_KEY_LIBRARY].text, v[HA_CUDA_KEY_LIBRARY].length,
                 "libcuda.so.1");
    ha_cuda_name(settings->nvrtc, v[HA_CUDA_KEY_NVRTC].text, v[HA_CUDA_KEY_NVRTC].length, "");
    return 1;
}

#endif
