/* Finding OpenCL while the program runs: the loader's library, its platforms, their devices. The library stays
 * loaded until the end of the process, for its drivers cannot be unloaded. */
#ifndef HARRAY_BACKENDS_OPENCL_LOAD_H
#define HARRAY_BACKENDS_OPENCL_LOAD_H

#include "../common/library.h"
#include "options.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HA_OPENCL_MOST_DEVICES = 64, HA_OPENCL_MOST_PLATFORMS = 16 };

/* A device that there is. */
typedef struct ha_opencl_found {
    ha_cl_platform platform;
    ha_cl_device device;
    uint64_t type;
    int of_cuda; /* a GPU that contexts "cuda:0" and so on have, too */
} ha_opencl_found;

/* OpenCL in this process. Changes only while no device is open. */
HA_STATE_ ha_cl_functions ha_cl;

HA_STATE_ struct {
    pthread_mutex_t lock;
    struct ha_opencl_device *open; /* all of these */
    ha_opencl_settings settings;
    ha_option_text wrong;              /* with HARRAY_OPENCL; "" when nothing is */
    ha_option_text why;                /* there are no devices */
    char loaded[HA_OPENCL_TEXT_BYTES]; /* the library that ha_cl is of; "": none yet */
    ha_opencl_found found[HA_OPENCL_MOST_DEVICES];
    int count;
} ha_opencl_shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the library ------------------------------------------------------------------------------ */

/* Fills the table. Returns the name of the first function that is missing; NULL: none. */
HA_IN_ const char *ha_opencl_find_functions(void *library, ha_cl_functions *functions) {
    const char *missing = NULL;
    void *found;
#define HA_CL_FIND_(field, result, parameters)                                                     \
    found = HARRAY_DLSYM(library, "cl" #field);                                                    \
    memcpy(&functions->field, &found, sizeof found);                                               \
    if (found == NULL && missing == NULL) missing = "cl" #field;
    HA_CL_FUNCTIONS_(HA_CL_FIND_)
#undef HA_CL_FIND_
    return missing;
}

/* Lock held. Returns 0, with the reason in ha_opencl_shared.why, when there is no OpenCL that can be used. */
HA_IN_ int ha_opencl_load(void) {
    const char *name = ha_opencl_shared.settings.library, *missing;
    ha_option_text *why = &ha_opencl_shared.why;
    ha_cl_functions fresh;
    void *library;
    if (strcmp(ha_opencl_shared.loaded, name) == 0) return 1;
    library = ha_library_load(name, why->text, sizeof why->text);
    if (library == NULL) return 0;
    missing = ha_opencl_find_functions(library, &fresh);
    if (missing != NULL) {
        snprintf(why->text, sizeof why->text, "%.150s: no function %s", name, missing);
        return 0;
    }
    ha_cl = fresh;
    memcpy(ha_opencl_shared.loaded, name, sizeof ha_opencl_shared.loaded);
    return 1;
}

/* ---- why there is no platform ----------------------------------------------------------------- */

/* The library that a file of the loader's folder names, in its first line; 0: none. */
HA_IN_ int ha_opencl_read_name(const char *folder, const char *file, char *library, int room) {
    char path[512];
    FILE *icd;
    int read;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    icd = fopen(path, "r");
    if (icd == NULL) return 0;
    read = fgets(library, room, icd) != NULL;
    fclose(icd);
    if (read) library[strcspn(library, "\r\n")] = '\0';
    return read;
}

/* What is wrong with a file that names a library; NULL: nothing. */
HA_IN_ const char *ha_opencl_wrong_with(const char *library) {
    char why[160];
    if (library[0] == '/' && access(library, R_OK) != 0) return "not there";
    return ha_library_load(library, why, sizeof why) == NULL ? "cannot be loaded" : NULL;
}

/* The loader tells of no mistake in the files that name the platforms' libraries: so they are looked at. *text:
 * the first that is wrong; 0: none. */
HA_IN_ int ha_opencl_find_wrong_file(const char *folder, char *text, size_t room) {
    const char *wrong = NULL;
    char library[120];
    struct dirent *entry;
    DIR *open = opendir(folder);
    if (open == NULL) return 0;
    while (wrong == NULL && (entry = readdir(open)) != NULL) {
        const size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 4, ".icd") != 0) continue;
        if (!ha_opencl_read_name(folder, entry->d_name, library, (int)sizeof library)) continue;
        wrong = ha_opencl_wrong_with(library);
        if (wrong != NULL)
            snprintf(text, room, "%.50s/%.30s names %.70s: %s", folder, entry->d_name, library,
                     wrong);
    }
    closedir(open);
    return wrong != NULL;
}

/* platforms: how many there are. */
HA_IN_ void ha_opencl_explain(ha_option_text *why, uint32_t platforms) {
    const char *vendors = getenv("OCL_ICD_VENDORS");
    const char *folder = vendors != NULL ? vendors : "/etc/OpenCL/vendors";
    char file[180];
    const int wrong = ha_opencl_find_wrong_file(folder, file, sizeof file);
    if (platforms > 0)
        snprintf(why->text, sizeof why->text, "no device of the %u platforms is as asked for%s%s",
                 platforms, wrong ? "; " : "", wrong ? file : "");
    else if (wrong)
        snprintf(why->text, sizeof why->text, "no platform: %s", file);
    else
        snprintf(why->text, sizeof why->text, "no platform: %.150s has no file that names one",
                 folder);
}

/* ---- the devices ------------------------------------------------------------------------------ */

/* A text that a platform gives; "" when it gives none, or a longer one. */
HA_IN_ void ha_opencl_platform_text(ha_cl_platform platform, uint32_t what, char *text,
                                    size_t room) {
    text[0] = '\0';
    if (ha_cl.GetPlatformInfo(platform, what, room - 1, text, NULL) != HA_CL_SUCCESS)
        text[0] = '\0';
    text[room - 1] = '\0';
}

/* A number that a device gives; 0 when the call fails. */
HA_IN_ ha_cl_code ha_opencl_device_number(ha_cl_device device, uint32_t what, uint64_t *number) {
    *number = 0; /* of 8 bytes, or less in its first ones */
    return ha_cl.GetDeviceInfo(device, what, sizeof *number, number, NULL);
}

/* Opening a device that does not tell fails, so that the others keep their numbers. */
HA_IN_ int ha_opencl_is_away(ha_cl_device device) {
    uint64_t available;
    return ha_opencl_device_number(device, HA_CL_DEVICE_AVAILABLE, &available) == HA_CL_SUCCESS &&
           (uint32_t)available == 0;
}

/* Lock held. */
HA_IN_ void ha_opencl_look_at(ha_cl_platform platform) {
    ha_cl_device devices[HA_OPENCL_MOST_DEVICES];
    uint32_t n = 0;
    char name[HA_OPENCL_TEXT_BYTES];
    ha_opencl_platform_text(platform, HA_CL_PLATFORM_NAME, name, sizeof name);
    if (strstr(name, ha_opencl_shared.settings.platform) == NULL) return;
    if (ha_cl.GetDeviceIDs(platform, ha_opencl_shared.settings.types, HA_OPENCL_MOST_DEVICES,
                           devices, &n) != HA_CL_SUCCESS)
        return;
    for (uint32_t i = 0; i < n && i < HA_OPENCL_MOST_DEVICES; i++) {
        ha_opencl_found found = {.platform = platform, .device = devices[i]};
        if (ha_opencl_is_away(devices[i])) continue;
        if (ha_opencl_shared.count == HA_OPENCL_MOST_DEVICES) return;
        (void)ha_opencl_device_number(devices[i], HA_CL_DEVICE_TYPE, &found.type);
#ifndef HARRAY_NO_CUDA
        found.of_cuda = strstr(name, "NVIDIA") != NULL;
#endif
        ha_opencl_shared.found[ha_opencl_shared.count++] = found;
    }
}

/* Lock held. */
HA_IN_ void ha_opencl_look_for_devices(void) {
    ha_cl_platform platforms[HA_OPENCL_MOST_PLATFORMS];
    uint32_t n = 0;
    const ha_cl_code code = ha_cl.GetPlatformIDs(HA_OPENCL_MOST_PLATFORMS, platforms, &n);
    ha_opencl_shared.count = 0;
    if (code != HA_CL_SUCCESS) n = 0;
    for (uint32_t i = 0; i < n && i < HA_OPENCL_MOST_PLATFORMS; i++)
        ha_opencl_look_at(platforms[i]);
    if (ha_opencl_shared.count == 0) ha_opencl_explain(&ha_opencl_shared.why, n);
}

/* Lock held. Reads HARRAY_OPENCL and looks for devices, unless one is open. */
HA_IN_ void ha_opencl_look(void) {
    if (ha_opencl_shared.open != NULL) return;
    ha_opencl_shared.wrong.text[0] = ha_opencl_shared.why.text[0] = '\0';
    ha_opencl_shared.count = 0;
    if (!ha_opencl_settings_from(getenv("HARRAY_OPENCL"), &ha_opencl_shared.settings,
                                 &ha_opencl_shared.wrong))
        ha_opencl_shared.why = ha_opencl_shared.wrong;
    else if (ha_opencl_load())
        ha_opencl_look_for_devices();
}

HA_IN_ int ha_opencl_count(void) {
    int count;
    pthread_mutex_lock(&ha_opencl_shared.lock);
    ha_opencl_look();
    count = ha_opencl_shared.wrong.text[0] != '\0' ? -1 : ha_opencl_shared.count;
    pthread_mutex_unlock(&ha_opencl_shared.lock);
    return count;
}

/* Of the last count. */
HA_IN_ const char *ha_opencl_missing(void) { return ha_opencl_shared.why.text; }

/* The first GPU or accelerator, but none that CUDA has, too; negative: there is none. */
HA_IN_ int ha_opencl_best(void) {
    int best = -1, count;
    pthread_mutex_lock(&ha_opencl_shared.lock);
    ha_opencl_look();
    count = ha_opencl_shared.count;
    for (int i = 0; i < count && best < 0; i++) {
        const ha_opencl_found *f = &ha_opencl_shared.found[i];
        if ((f->type & (HA_CL_DEVICE_TYPE_GPU | HA_CL_DEVICE_TYPE_ACCELERATOR)) && !f->of_cuda)
            best = i;
    }
    pthread_mutex_unlock(&ha_opencl_shared.lock);
    return best;
}

#endif
