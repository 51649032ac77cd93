/* Records of computed layouts in memory, and bits of it, one by one. */
#ifndef HARRAY_TESTS_LAYOUT_COMPUTED_MEMORY_H
#define HARRAY_TESTS_LAYOUT_COMPUTED_MEMORY_H

#include "../../layout.h"
#include "../support/layout_blobs.h"
#include "../support/layout_record.h"

#include <math.h>

#define XYZ(type) "x:" type " y:" type " z:" type

static void make(memory *w, const char *record, const char *layout, int rank, const int64_t *extent,
                 int fill) {
    ha_error e;
    ha_record *r = ha_record_parse(record, &e);
    if (!r) fail_msg("%s: %s", record, e.text);
    new_memory(w, r, layout, rank, extent, 0, fill);
    w->record = r;
}

static double get_double(const memory *w, int64_t leaf, const int64_t *index) {
    double x = -1;
    ha_mapped_get(&w->mapped, leaf, index, &x);
    return x;
}

/* Bit by bit. */
static uint64_t slow_bits(const uint8_t *place, int64_t at, int bits) {
    uint64_t value = 0;
    for (int b = 0; b < bits; b++)
        value |= (uint64_t)(place[(at + b) / 8] >> (at + b) % 8 & 1) << b;
    return value;
}

static void slow_set(uint8_t *place, int64_t at, int bits, uint64_t value) {
    for (int b = 0; b < bits; b++) {
        const uint8_t bit = (uint8_t)(1u << (at + b) % 8);
        if (value >> b & 1)
            place[(at + b) / 8] |= bit;
        else
            place[(at + b) / 8] &= (uint8_t)~bit;
    }
}

#endif
