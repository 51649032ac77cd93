/* The simulated device's options: defaults, limits, and their form as text in HARRAY_SIM. */
#ifndef HARRAY_BACKEND_SIM_OPTIONS_H
#define HARRAY_BACKEND_SIM_OPTIONS_H

#include "../harray/sim.h"
#include "backend.h"

#include <stdio.h>
#include <string.h>

#define HA_SIM_MOST_DEVICES 64

typedef struct ha_sim_text {
    char text[240]; /* what is wrong; "" when nothing is */
} ha_sim_text;

/* Defaults where a field is 0. */
static ha_sim_options ha_sim_complete(const ha_sim_options *given) {
    ha_sim_options options = *given;
    if (options.devices == 0) options.devices = 2;
    if (options.capacity == 0) options.capacity = (size_t)1 << 30;
    if (options.seed == 0) options.seed = 1;
    return options;
}

/* ---- the table of options ---- */

typedef struct ha_sim_unit {
    const char *suffix;
    uint64_t factor;
} ha_sim_unit;

typedef struct ha_sim_key {
    const char *name;
    const ha_sim_unit *units; /* the last one has the suffix NULL */
    uint64_t most;
    const char *form; /* for messages */
} ha_sim_key;

enum {
    HA_SIM_DEVICES,
    HA_SIM_CAPACITY,
    HA_SIM_BANDWIDTH,
    HA_SIM_LATENCY,
    HA_SIM_DELAY,
    HA_SIM_SEED,
    HA_SIM_PEERS,
    HA_SIM_KEYS
};

static const ha_sim_unit ha_sim_plain[] = {{"", 1}, {NULL, 0}};
static const ha_sim_unit ha_sim_sizes[] = {
    {"", 1}, {"K", 1u << 10}, {"M", 1u << 20}, {"G", 1u << 30}, {NULL, 0}};
static const ha_sim_unit ha_sim_times[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};

#define HA_SIM_HOUR ((uint64_t)3600 * 1000000000)

static const ha_sim_key ha_sim_keys[HA_SIM_KEYS] = {
    [HA_SIM_DEVICES] = {"devices", ha_sim_plain, HA_SIM_MOST_DEVICES, "a number up to 64"},
    [HA_SIM_CAPACITY] = {"capacity", ha_sim_sizes, (uint64_t)1 << 40,
                         "bytes, or a number with K, M or G; up to 1024G"},
    [HA_SIM_BANDWIDTH] = {"bandwidth", ha_sim_sizes, UINT64_MAX,
                          "bytes per second, or a number with K, M or G"},
    [HA_SIM_LATENCY] = {"latency", ha_sim_times, HA_SIM_HOUR,
                        "a number with ns, us, ms or s; up to an hour"},
    [HA_SIM_DELAY] = {"delay", ha_sim_times, HA_SIM_HOUR,
                      "a number with ns, us, ms or s; up to an hour"},
    [HA_SIM_SEED] = {"seed", ha_sim_plain, UINT64_MAX, "a number"},
    [HA_SIM_PEERS] = {"peers", ha_sim_plain, 1, "0 or 1"},
};

/* Nonzero when every field is in its range; else the text names the first that is not. */
static int ha_sim_in_range(const ha_sim_options *options, ha_sim_text *wrong) {
    const uint64_t values[HA_SIM_KEYS] = {
        [HA_SIM_DEVICES] = options->devices < 0 ? UINT64_MAX : (uint64_t)options->devices,
        [HA_SIM_CAPACITY] = options->capacity,
        [HA_SIM_LATENCY] = options->latency_ns,
        [HA_SIM_DELAY] = options->delay_ns,
    };
    for (int k = 0; k < HA_SIM_KEYS; k++) {
        const ha_sim_key *key = &ha_sim_keys[k];
        if (values[k] <= key->most) continue;
        snprintf(wrong->text, sizeof wrong->text, "sim: %s is %s", key->name, key->form);
        return 0;
    }
    return 1;
}

/* ---- as text: "devices=4,capacity=256M,latency=5us" ---- */

/* Digits and a unit, nothing else, at most key->most. */
static int ha_sim_parse_number(const char *text, size_t length, const ha_sim_key *key,
                               uint64_t *number) {
    uint64_t value = 0;
    size_t digits = 0;
    for (; digits < length && text[digits] >= '0' && text[digits] <= '9'; digits++) {
        unsigned digit = (unsigned)(text[digits] - '0');
        if (value > (UINT64_MAX - digit) / 10) return 0;
        value = 10 * value + digit;
    }
    if (digits == 0) return 0;
    for (const ha_sim_unit *unit = key->units; unit->suffix != NULL; unit++) {
        size_t rest = length - digits;
        if (strlen(unit->suffix) != rest || memcmp(unit->suffix, text + digits, rest) != 0)
            continue;
        if (value > key->most / unit->factor) return 0;
        *number = value * unit->factor;
        return 1;
    }
    return 0;
}

/* One "key=value" into its place in `values`. */
static int ha_sim_parse_item(const char *item, size_t length, uint64_t values[HA_SIM_KEYS],
                             ha_sim_text *wrong) {
    const char *equals = (const char *)memchr(item, '=', length);
    size_t name = equals != NULL ? (size_t)(equals - item) : length;
    int shown = (int)(length < 60 ? length : 60);
    for (int k = 0; k < HA_SIM_KEYS; k++) {
        const ha_sim_key *key = &ha_sim_keys[k];
        if (strlen(key->name) != name || memcmp(key->name, item, name) != 0) continue;
        if (equals != NULL && ha_sim_parse_number(equals + 1, length - name - 1, key, &values[k]))
            return 1;
        snprintf(wrong->text, sizeof wrong->text, "HARRAY_SIM: \"%.*s\": %s is %s", shown, item,
                 key->name, key->form);
        return 0;
    }
    snprintf(wrong->text, sizeof wrong->text,
             "HARRAY_SIM: \"%.*s\": unknown key; there are devices, capacity, bandwidth, latency, "
             "delay, seed, peers",
             shown, item);
    return 0;
}

/* Reads a whole text. Returns 0, with the reason in *wrong and *options untouched, when any part of
 * it is wrong. */
static int ha_sim_parse(const char *text, ha_sim_options *options, ha_sim_text *wrong) {
    uint64_t values[HA_SIM_KEYS] = {0};
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        if (!ha_sim_parse_item(text, length, values, wrong)) return 0;
        text += length;
        if (*text == ',') text++;
    }
    *options = (ha_sim_options){
        .devices = (int)values[HA_SIM_DEVICES],
        .capacity = (size_t)values[HA_SIM_CAPACITY],
        .bandwidth = values[HA_SIM_BANDWIDTH],
        .latency_ns = values[HA_SIM_LATENCY],
        .delay_ns = values[HA_SIM_DELAY],
        .seed = values[HA_SIM_SEED],
        .peers = (int)values[HA_SIM_PEERS],
    };
    return 1;
}

#endif
