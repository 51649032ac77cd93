/* HARRAY_KERNELS=dump=DIRECTORY: a kernel's texts as files there, NAME-xxxxxxxxxxxxxxxx.cl or .cu, where the
 * digits tell different texts of one kernel apart; and what the compiler said, .log, when it refused one. */
#ifndef HARRAY_IMPL_KERNELS_DUMP_H
#define HARRAY_IMPL_KERNELS_DUMP_H

#include "cache.h"

HA_IN_ void ha_dump_file(const char *path, const char *text) {
    FILE *file = fopen(path, "we");
    int failed = !file || fputs(text, file) < 0;
    failed |= file && fclose(file) != 0;
    if (failed) fprintf(stderr, "harray: HARRAY_KERNELS=dump: %s cannot be written\n", path);
}

/* told: what the compiler said of it; NULL: it is the text itself that is written. */
HA_IN_ void ha_dump(const char *name, const char *text, ha_language language, const char *told) {
    const ha_kernel_settings *s = ha_kernel_settings_get();
    const char *suffix = told ? ".log" : language == HA_LANGUAGE_CUDA ? ".cu" : ".cl";
    char path[HA_CACHE_PATH], digits[17];
    if (!s->dump[0]) return;
    const ha_digest digest = ha_digest_of(text, strlen(text));
    for (int i = 0; i < 8; i++) snprintf(digits + 2 * i, 3, "%02x", (unsigned)digest.byte[i]);
    if (snprintf(path, sizeof path, "%s/%s-%s%s", s->dump, name, digits, suffix) >=
        (int)sizeof path)
        return;
    ha_make_directories(path);
    ha_dump_file(path, told ? told : text);
}

#endif
