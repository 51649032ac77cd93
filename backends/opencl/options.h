/* What HARRAY_OPENCL says: "platform=NVIDIA,type=gpu,memory=usm,slab=64M". */
#ifndef HARRAY_BACKENDS_OPENCL_OPTIONS_H
#define HARRAY_BACKENDS_OPENCL_OPTIONS_H

#include "../common/options.h"
#include "api.h"

enum { HA_OPENCL_TEXT_BYTES = 201 };

typedef struct ha_opencl_settings {
    char platform[HA_OPENCL_TEXT_BYTES]; /* part of its name; "": any */
    uint64_t types;                      /* of devices */
    int usm;                             /* memory has addresses of its own; else it is buffers */
    size_t slab;   /* bytes that are asked of the driver at once for small blocks */
    int no_double; /* as on devices that do not compute with it */
    char library[HA_OPENCL_TEXT_BYTES];
} ha_opencl_settings;

enum {
    HA_OPENCL_KEY_PLATFORM,
    HA_OPENCL_KEY_TYPE,
    HA_OPENCL_KEY_MEMORY,
    HA_OPENCL_KEY_SLAB,
    HA_OPENCL_KEY_LIBRARY,
    HA_OPENCL_KEY_DOUBLE,
    HA_OPENCL_KEYS
};

static const char *const ha_opencl_type_names[] = {"any", "gpu", "cpu", "accelerator", NULL};

static const char *const ha_opencl_memory_names[] = {"buffer", "usm", NULL};
static const char *const ha_opencl_double_names[] = {"yes", "no", NULL};

static const ha_option_key ha_opencl_keys[HA_OPENCL_KEYS] = {
    [HA_OPENCL_KEY_PLATFORM] = {"platform", NULL, NULL, 1, HA_OPENCL_TEXT_BYTES - 1,
                                "a part of the platform's name, up to 200 characters"},
    [HA_OPENCL_KEY_TYPE] = {"type", NULL, ha_opencl_type_names, 0, 3,
                            "any, gpu, cpu or accelerator"},
    [HA_OPENCL_KEY_MEMORY] = {"memory", NULL, ha_opencl_memory_names, 0, 1, "buffer or usm"},
    [HA_OPENCL_KEY_SLAB] = {"slab", ha_option_sizes, NULL, (uint64_t)1 << 20, (uint64_t)16 << 30,
                            "bytes, or a number with K, M or G; 1M to 16G"},
    [HA_OPENCL_KEY_LIBRARY] = {"library", NULL, NULL, 1, HA_OPENCL_TEXT_BYTES - 1,
                               "a name of up to 200 characters"},
    [HA_OPENCL_KEY_DOUBLE] = {"double", NULL, ha_opencl_double_names, 0, 1,
                              "yes, or no: kernels with double are refused"},
};

static const ha_option_keys ha_opencl_option_keys = {"HARRAY_OPENCL", "opencl", ha_opencl_keys,
                                                     HA_OPENCL_KEYS};

/* A given text, or what stands for none. */
HA_IN_ void ha_opencl_take_text(char *text, const ha_option_value *value, const char *none) {
    const size_t length = value->text != NULL ? value->length : strlen(none);
    memcpy(text, value->text != NULL ? value->text : none, length);
    text[length] = '\0';
}

/* NULL: defaults. Returns 0, with the reason in *wrong, when any part of it is wrong. */
HA_IN_ int ha_opencl_settings_from(const char *text, ha_opencl_settings *settings,
                                   ha_option_text *wrong) {
    static const uint64_t types[] = {HA_CL_DEVICE_TYPE_ALL, HA_CL_DEVICE_TYPE_GPU,
                                     HA_CL_DEVICE_TYPE_CPU, HA_CL_DEVICE_TYPE_ACCELERATOR};
    ha_option_value v[HA_OPENCL_KEYS] = {{0, NULL, 0}};
    if (text != NULL && !ha_options_parse(&ha_opencl_option_keys, text, v, wrong)) return 0;
    ha_opencl_take_text(settings->platform, &v[HA_OPENCL_KEY_PLATFORM], "");
    ha_opencl_take_text(settings->library, &v[HA_OPENCL_KEY_LIBRARY], "libOpenCL.so.1");
    settings->usm = v[HA_OPENCL_KEY_MEMORY].number == 1;
    settings->types = types[v[HA_OPENCL_KEY_TYPE].number];
    settings->no_double = v[HA_OPENCL_KEY_DOUBLE].number == 1;
    settings->slab = v[HA_OPENCL_KEY_SLAB].number ? (size_t)v[HA_OPENCL_KEY_SLAB].number
                                                  : (size_t)32 << 20;
    return 1;
}

#endif
