/* The simulated device's options: defaults, limits, and their form as text in HARRAY_SIM. */
#ifndef HARRAY_BACKENDS_SIM_OPTIONS_H
#define HARRAY_BACKENDS_SIM_OPTIONS_H

#include "../../harray/sim.h"
#include "../backend.h"
#include "../common/options.h"

#define HA_SIM_MOST_DEVICES_ 64

/* Defaults where a field is 0. */
HA_IN_ ha_sim_options ha_sim_complete(const ha_sim_options *given) {
    ha_sim_options options = *given;
    if (options.devices == 0) options.devices = 2;
    if (options.capacity == 0) options.capacity = (size_t)1 << 30;
    if (options.seed == 0) options.seed = 1;
    return options;
}

/* ---- the table of options ---- */

enum {
    HA_SIM_DEVICES,
    HA_SIM_CAPACITY,
    HA_SIM_BANDWIDTH,
    HA_SIM_LATENCY,
    HA_SIM_DELAY,
    HA_SIM_SEED,
    HA_SIM_PEERS,
    HA_SIM_UNIFIED,
    HA_SIM_STRIDES,
    HA_SIM_STRICT,
    HA_SIM_KEYS
};

#define HA_SIM_HOUR_ ((uint64_t)3600 * 1000000000)
#define HA_SIM_KEY_(key, units, most, form)                                                        \
    { key, units, NULL, 0, most, form }

static const ha_option_key ha_sim_keys[HA_SIM_KEYS] = {
    [HA_SIM_DEVICES] = HA_SIM_KEY_("devices", ha_option_plain, HA_SIM_MOST_DEVICES_,
                                   "a number up to 64"),
    [HA_SIM_CAPACITY] = HA_SIM_KEY_("capacity", ha_option_sizes, (uint64_t)1 << 40,
                                    "bytes, or a number with K, M or G; up to 1024G"),
    [HA_SIM_BANDWIDTH] = HA_SIM_KEY_("bandwidth", ha_option_sizes, UINT64_MAX,
                                     "bytes per second, or a number with K, M or G"),
    [HA_SIM_LATENCY] = HA_SIM_KEY_("latency", ha_option_times, HA_SIM_HOUR_,
                                   "a number with ns, us, ms or s; up to an hour"),
    [HA_SIM_DELAY] = HA_SIM_KEY_("delay", ha_option_times, HA_SIM_HOUR_,
                                 "a number with ns, us, ms or s; up to an hour"),
    [HA_SIM_SEED] = HA_SIM_KEY_("seed", ha_option_plain, UINT64_MAX, "a number"),
    [HA_SIM_PEERS] = HA_SIM_KEY_("peers", ha_option_plain, 1, "0 or 1"),
    [HA_SIM_UNIFIED] = HA_SIM_KEY_("unified", ha_option_plain, 1, "0 or 1"),
    [HA_SIM_STRIDES] = HA_SIM_KEY_("strides", ha_option_plain, 1, "0 or 1"),
    [HA_SIM_STRICT] = HA_SIM_KEY_("strict", ha_option_plain, 1, "0 or 1"),
};

static const ha_option_keys ha_sim_option_keys = {"HARRAY_SIM", "sim", ha_sim_keys, HA_SIM_KEYS};

/* Nonzero when every field is in its range; else the text names the first that is not. */
HA_IN_ int ha_sim_in_range(const ha_sim_options *options, ha_option_text *wrong) {
    const uint64_t numbers[HA_SIM_KEYS] = {
        [HA_SIM_DEVICES] = options->devices < 0 ? UINT64_MAX : (uint64_t)options->devices,
        [HA_SIM_CAPACITY] = options->capacity,
        [HA_SIM_LATENCY] = options->latency_ns,
        [HA_SIM_DELAY] = options->delay_ns,
    };
    return ha_options_in_range(&ha_sim_option_keys, numbers, wrong);
}

/* Reads "devices=4,capacity=256M,latency=5us". Returns 0, with the reason in *wrong and *options
 * untouched, when any part of it is wrong. */
HA_IN_ int ha_sim_parse(const char *text, ha_sim_options *options, ha_option_text *wrong) {
    ha_option_value values[HA_SIM_KEYS] = {{0, NULL, 0}};
    if (!ha_options_parse(&ha_sim_option_keys, text, values, wrong)) return 0;
    *options = (ha_sim_options){
        .devices = (int)values[HA_SIM_DEVICES].number,
        .capacity = (size_t)values[HA_SIM_CAPACITY].number,
        .bandwidth = values[HA_SIM_BANDWIDTH].number,
        .latency_ns = values[HA_SIM_LATENCY].number,
        .delay_ns = values[HA_SIM_DELAY].number,
        .seed = values[HA_SIM_SEED].number,
        .peers = (int)values[HA_SIM_PEERS].number,
        .unified = (int)values[HA_SIM_UNIFIED].number,
        .strides = (int)values[HA_SIM_STRIDES].number,
        .strict = (int)values[HA_SIM_STRICT].number,
    };
    return 1;
}

#endif
