/* How a test gets hold of the fake driver: loads it (test programs know its path by HARRAY_CUDA, which
 * Meson sets), or finds the one that the CUDA backend has loaded. */
#ifndef HARRAY_TESTS_BACKENDS_FAKE_CUDA_FIND_H
#define HARRAY_TESTS_BACKENDS_FAKE_CUDA_FIND_H

#include "fake_libcuda.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* A library for dlsym and dlclose; NULL: HARRAY_CUDA does not name one, or it cannot be loaded. */
static inline void *fake_cuda_load(void) {
    const char *text = getenv("HARRAY_CUDA"), *path = text ? strstr(text, "library=") : NULL;
    char copy[4096];
    size_t length;
    if (path == NULL) return NULL;
    path += strlen("library=");
    length = strcspn(path, ",");
    if (length >= sizeof copy) return NULL;
    memcpy(copy, path, length);
    copy[length] = '\0';
    return dlopen(copy, RTLD_NOW | RTLD_LOCAL);
}

/* ISO C does not convert what dlsym gives to a function. */
static inline const fake_cuda *fake_cuda_of(void *library) {
    void *symbol = dlsym(library, "fake_cuda_control");
    fake_cuda_get_control *get;
    if (symbol == NULL) return NULL;
    memcpy(&get, &symbol, sizeof get);
    return get();
}

#endif
