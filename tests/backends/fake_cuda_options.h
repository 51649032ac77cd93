/* The fake driver's options, and how they are read from a text. */
#ifndef HARRAY_TESTS_BACKENDS_FAKE_CUDA_OPTIONS_H
#define HARRAY_TESTS_BACKENDS_FAKE_CUDA_OPTIONS_H

#include "fake_libcuda.h"

#include <stdlib.h>
#include <string.h>

typedef struct fake_options {
    uint64_t devices, capacity, delay, seed, peers, version, stub, integrated, pools;
} fake_options;

static const fake_options fake_default_options = {
    .devices = 2,
    .capacity = (uint64_t)1 << 27, /* of which valgrind looks for pointers in all */
    .seed = 1,
    .peers = 1,
    .version = 13000,
    .pools = 1,
};

static uint64_t fake_unit(const char *text, size_t length) {
    static const struct {
        const char *text;
        uint64_t factor;
    } units[] = {
        {"", 1},   {"K", 1 << 10}, {"M", 1 << 20},  {"G", 1 << 30},
        {"ns", 1}, {"us", 1000},   {"ms", 1000000}, {"s", 1000000000},
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].text) == length && memcmp(units[i].text, text, length) == 0)
            return units[i].factor;
    return 0;
}

/* One "name=value" of `length` characters; 0: it is not understood. */
static int fake_read_option(const char *text, size_t length, fake_options *options) {
    const struct {
        const char *name;
        uint64_t *value, most;
    } known[] = {
        {"devices=", &options->devices, FAKE_CUDA_MOST_DEVICES},
        {"capacity=", &options->capacity, (uint64_t)1 << 40},
        {"delay=", &options->delay, 1000000000},
        {"seed=", &options->seed, UINT64_MAX},
        {"peers=", &options->peers, 1},
        {"version=", &options->version, 99999},
        {"stub=", &options->stub, 1},
        {"integrated=", &options->integrated, 1},
        {"pools=", &options->pools, 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t name = strlen(known[i].name);
        char *end;
        uint64_t unit;
        if (length <= name || memcmp(text, known[i].name, name) != 0) continue;
        if (text[name] < '0' || text[name] > '9') return 0;
        *known[i].value = strtoull(text + name, &end, 10);
        unit = fake_unit(end, (size_t)(text + length - end));
        if (unit == 0 || *known[i].value > known[i].most / unit) return 0;
        *known[i].value *= unit;
        return 1;
    }
    return 0;
}

/* Options that are not named stay as they are. Returns what was not understood; NULL: all was. */
static const char *fake_read_options(const char *text, fake_options *options) {
    while (*text != '\0') {
        const size_t length = strcspn(text, ",");
        if (!fake_read_option(text, length, options)) return text;
        text += length;
        if (*text == ',') text++;
    }
    return NULL;
}

#endif
