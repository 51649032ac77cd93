/* Numbers as people read them. */
#ifndef HARRAY_IMPL_BASE_HUMAN_H
#define HARRAY_IMPL_BASE_HUMAN_H

#include "../../../backends/backend.h"
#include <stdio.h>

typedef struct ha_short {
    char text[40];
} ha_short;

/* "1.5 MiB" */
HA_IN_ ha_short ha_human_bytes(uint64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    ha_short s;
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit < 6; unit++) value /= 1024;
    snprintf(s.text, sizeof s.text, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return s;
}

/* "1.5 ms" */
HA_IN_ ha_short ha_human_time(uint64_t ns) {
    static const char *const units[] = {"ns", "us", "ms", "s"};
    ha_short s;
    double value = (double)ns;
    size_t unit = 0;
    for (; value >= 1000 && unit < 3; unit++) value /= 1000;
    snprintf(s.text, sizeof s.text, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return s;
}

#endif
