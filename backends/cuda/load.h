/* Finding the CUDA driver while the program runs: its library, its version, its functions. The library stays
 * loaded until the end of the process, for a driver cannot be unloaded. */
#ifndef HARRAY_BACKENDS_CUDA_LOAD_H
#define HARRAY_BACKENDS_CUDA_LOAD_H

#include "../common/library.h"
#include "driver.h"

#include <stdio.h>
#include <string.h>

typedef struct ha_cuda_text {
    char text[240]; /* why there is no driver; "" when there is one */
} ha_cuda_text;

/* The driver of this process. Changes only while no device is open. */
HA_STATE_ ha_cuda_driver ha_cu;

/* What its functions are called, for messages. */
static const struct {
#define HA_CUDA_NAME_(field, symbol, parameters, required, since, hip) const char *field;
    HA_CUDA_FUNCTIONS_(HA_CUDA_NAME_)
#undef HA_CUDA_NAME_
} ha_cuda_names = {
#define HA_CUDA_NAME_(field, symbol, parameters, required, since, hip) #symbol,
    HA_CUDA_FUNCTIONS_(HA_CUDA_NAME_)
#undef HA_CUDA_NAME_
};

/* Fills the table. Returns the name of the first required function that is missing; NULL: none. */
HA_IN_ const char *ha_cuda_find_functions(void *library, ha_cuda_driver *driver) {
    const char *missing = NULL;
    void *found;
#define HA_CUDA_FIND_(field, symbol, parameters, required, since, hip)                             \
    found = HARRAY_DLSYM(library, #symbol);                                                        \
    memcpy(&driver->field, &found, sizeof found);                                                  \
    if (found == NULL && (required) && missing == NULL) missing = #symbol;
    HA_CUDA_FUNCTIONS_(HA_CUDA_FIND_)
#undef HA_CUDA_FIND_
    return missing;
}

/* "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected" */
HA_IN_ ha_cuda_text ha_cuda_describe(const ha_cuda_driver *driver, ha_cu_result code) {
    ha_cuda_text described;
    const char *name = NULL, *text = NULL;
    if (driver->GetErrorString(code, &text) != HA_CU_SUCCESS || text == NULL) text = "";
    if (driver->GetErrorName(code, &name) != HA_CU_SUCCESS || name == NULL)
        snprintf(described.text, sizeof described.text, "CUDA error %d", (int)code);
    else
        snprintf(described.text, sizeof described.text, "%.60s%s%.140s", name, *text ? ": " : "",
                 text);
    return described;
}

/* Whether the driver is one that can be used. An old one may lack functions, and the toolkit's stub
 * has all of them, so its version is asked for first. */
HA_IN_ int ha_cuda_is_usable(ha_cuda_driver *driver, const char *missing, const char *name,
                             ha_cuda_text *why) {
    enum { ROOM = sizeof why->text };
    ha_cu_result code = HA_CU_SUCCESS;
    int major, minor;
    driver->version = 0;
    if (driver->DriverGetVersion != NULL) code = driver->DriverGetVersion(&driver->version);
    if (code == HA_CU_SUCCESS && driver->version > 0 && driver->version < HA_CUDA_LEAST_VERSION) {
        major = driver->version / 1000;
        minor = driver->version % 1000 / 10;
        snprintf(why->text, ROOM,
                 "%.150s: the driver is for CUDA %d.%d, harray needs 11.0 or later", name, major,
                 minor);
        return 0;
    }
    if (missing != NULL) {
        snprintf(why->text, ROOM, "%.150s: no function %s", name, missing);
        return 0;
    }
    if (code == HA_CU_SUCCESS) code = driver->Init(0);
    if (code == HA_CU_SUCCESS) return 1;
    if (code == HA_CU_STUB_LIBRARY)
        snprintf(why->text, ROOM,
                 "%.150s is the CUDA toolkit's stub, which is for linking: not a driver", name);
    else
        snprintf(why->text, ROOM, "cuInit: %.200s", ha_cuda_describe(driver, code).text);
    return 0;
}

/* Loads a driver into ha_cu. Returns 0, with the reason in *why, when there is none that can be
 * used. */
HA_IN_ int ha_cuda_load(const char *name, ha_cuda_text *why) {
    ha_cuda_driver fresh;
    const char *missing;
    void *library;
    why->text[0] = '\0';
    library = ha_library_load(name, why->text, sizeof why->text);
    if (library == NULL) return 0;
    memset(&fresh, 0, sizeof fresh);
    missing = ha_cuda_find_functions(library, &fresh);
    if (!ha_cuda_is_usable(&fresh, missing, name, why)) return 0;
    ha_cu = fresh;
    return 1;
}

#endif
