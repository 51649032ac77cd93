/* What the environment says of kernels; read once.
 *
 *     HARRAY_CACHE=DIRECTORY    where compiled kernels are kept; `off`: nowhere. Without it:
 *                               $XDG_CACHE_HOME/harray, or $HOME/.cache/harray
 *     HARRAY_KERNELS=strict,contract,dump=DIRECTORY,cache=DIRECTORY:DIRECTORY…
 *         strict    where a device does not compile kernels they are refused (HA_ERR_UNSUPPORTED)
 *         contract  on devices a * b + c may be one operation, rounded once
 *         dump      the text of every kernel that a device has been given is written there
 *         cache     more directories of compiled kernels, only to be read
 *     What it says that is none of these is told by every launch on a device, which it refuses. */
#ifndef HARRAY_IMPL_KERNELS_SETTINGS_H
#define HARRAY_IMPL_KERNELS_SETTINGS_H

#include "../base/all.h"

#include <stdlib.h>

enum { HA_SETTING_BYTES = 2048 };

typedef struct ha_kernel_settings {
    int strict, contract;
    char cache[HA_SETTING_BYTES]; /* "": none */
    char more_caches[HA_SETTING_BYTES], dump[HA_SETTING_BYTES];
    char wrong[64]; /* what HARRAY_KERNELS says that nobody knows; "": nothing */
} ha_kernel_settings;

HA_IN_ void ha_cache_directory(char *to) {
    static const struct {
        const char *variable, *behind;
    } places[] = {{"HARRAY_CACHE", ""}, {"XDG_CACHE_HOME", "/harray"}, {"HOME", "/.cache/harray"}};
    *to = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *named = getenv(places[i].variable);
        if (!named || !*named || (i == 1 && *named != '/')) continue; /* as its standard says */
        if (i == 0 && !strcmp(named, "off")) return;
        if (snprintf(to, HA_SETTING_BYTES, "%s%s", named, places[i].behind) >= HA_SETTING_BYTES)
            *to = 0;
        return;
    }
}

/* One of the words of HARRAY_KERNELS. */
HA_IN_ void ha_kernel_setting(ha_kernel_settings *s, const char *word, size_t length) {
    if (length == 6 && !strncmp(word, "strict", 6))
        s->strict = 1;
    else if (length == 8 && !strncmp(word, "contract", 8))
        s->contract = 1;
    else if (length > 5 && length < HA_SETTING_BYTES && !strncmp(word, "dump=", 5))
        snprintf(s->dump, sizeof s->dump, "%.*s", (int)length - 5, word + 5);
    else if (length > 6 && length < HA_SETTING_BYTES && !strncmp(word, "cache=", 6))
        snprintf(s->more_caches, sizeof s->more_caches, "%.*s", (int)length - 6, word + 6);
    else if (!s->wrong[0])
        snprintf(s->wrong, sizeof s->wrong, "%.*s", length ? (int)length : 1, length ? word : ",");
}

HA_IN_ void ha_kernel_settings_read(ha_kernel_settings *s, const char *text) {
    memset(s, 0, sizeof *s);
    ha_cache_directory(s->cache);
    while (text && *text) {
        const size_t length = strcspn(text, ",");
        ha_kernel_setting(s, text, length);
        text += length + (text[length] == ',');
    }
}

HA_STATE_ struct {
    pthread_once_t once;
    ha_kernel_settings settings;
} ha_kernels_set = {.once = PTHREAD_ONCE_INIT};

HA_IN_ void ha_kernels_set_up(void) {
    ha_kernel_settings_read(&ha_kernels_set.settings, getenv("HARRAY_KERNELS"));
}

HA_IN_ const ha_kernel_settings *ha_kernel_settings_get(void) {
    (void)pthread_once(&ha_kernels_set.once, ha_kernels_set_up);
    return &ha_kernels_set.settings;
}

HA_IN_ ha_status ha_kernel_settings_check(const char *operation, const char *site) {
    const ha_kernel_settings *s = ha_kernel_settings_get();
    if (!s->wrong[0]) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, operation,
                   "%s: HARRAY_KERNELS: '%s' is none of strict, contract, dump=DIRECTORY and "
                   "cache=DIRECTORY:DIRECTORY",
                   site, s->wrong);
}

#endif
