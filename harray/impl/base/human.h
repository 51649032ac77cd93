/* Numbers as people read them. */
#ifndef HARRAY_IMPL_BASE_HUMAN_H
#define HARRAY_IMPL_BASE_HUMAN_H

#include "../../../backends/backend.h"
#include <stdio.h>

typedef struct ha_short {
    char text[40];
} ha_short;

/* A value in the greatest unit of which there is at least one; each unit is `step` of the one before it. */
HA_IN_ ha_short ha_human(uint64_t number, double step, const char *const *units, size_t last) {
    ha_short s;
    double value = (double)number;
    size_t unit = 0;
    for (; value >= step && unit < last; unit++) value /= step;
    snprintf(s.text, sizeof s.text, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return s;
}

/* "1.5 MiB" */
HA_IN_ ha_short ha_human_bytes(uint64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    return ha_human(bytes, 1024, units, 6);
}

/* "1.5 ms" */
HA_IN_ ha_short ha_human_time(uint64_t ns) {
    static const char *const units[] = {"ns", "us", "ms", "s"};
    return ha_human(ns, 1000, units, 3);
}

#endif
