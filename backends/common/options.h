/* Options of a backend as text: "key=value,key=value", from an environment variable. One table says
 * which keys there are, in what form, and within which limits; also for options set by a call. */
#ifndef HARRAY_BACKENDS_COMMON_OPTIONS_H
#define HARRAY_BACKENDS_COMMON_OPTIONS_H

#include "../backend.h"

#include <stdio.h>
#include <string.h>

typedef struct ha_option_text {
    char text[240]; /* what is wrong; "" when nothing is */
} ha_option_text;

typedef struct ha_option_unit {
    const char *suffix;
    uint64_t factor;
} ha_option_unit;

static const ha_option_unit ha_option_plain[] = {{"", 1}, {NULL, 0}};
static const ha_option_unit ha_option_sizes[] = {
    {"", 1}, {"K", 1u << 10}, {"M", 1u << 20}, {"G", 1u << 30}, {NULL, 0}};
static const ha_option_unit ha_option_times[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};

/* A number with a unit, one of some words (whose place in the list is its number), or any text. */
typedef struct ha_option_key {
    const char *name;
    const ha_option_unit *units; /* the last one has the suffix NULL; NULL: it is no number */
    const char *const *words;    /* the last one is NULL; NULL: there are none */
    uint64_t least, most;        /* of a number that is not 0; of a text's length */
    const char *form;            /* for messages */
} ha_option_key;

typedef struct ha_option_keys {
    const char *variable, *backend; /* "HARRAY_SIM", "sim": for messages */
    const ha_option_key *key;
    int count;
} ha_option_keys;

typedef struct ha_option_value {
    uint64_t number;
    const char *text; /* where the value stands; NULL: it was not given */
    size_t length;
} ha_option_value;

/* Nonzero when all numbers are in their ranges; else the text names the first that is not. */
HA_IN_ HA_UNUSED int ha_options_in_range(const ha_option_keys *keys, const uint64_t *numbers,
                                         ha_option_text *wrong) {
    for (int k = 0; k < keys->count; k++) {
        const ha_option_key *key = &keys->key[k];
        if (numbers[k] == 0 || (numbers[k] >= key->least && numbers[k] <= key->most)) continue;
        snprintf(wrong->text, sizeof wrong->text, "%s: %s is %s", keys->backend, key->name,
                 key->form);
        return 0;
    }
    return 1;
}

HA_IN_ int ha_option_is(const char *word, const char *text, size_t length) {
    return strlen(word) == length && memcmp(word, text, length) == 0;
}

/* Digits and a unit, nothing else, within the limits. */
HA_IN_ int ha_option_number(const ha_option_key *key, ha_option_value *value) {
    uint64_t number = 0;
    size_t digits = 0;
    for (; digits < value->length && value->text[digits] >= '0' && value->text[digits] <= '9';
         digits++) {
        unsigned digit = (unsigned)(value->text[digits] - '0');
        if (number > (UINT64_MAX - digit) / 10) return 0;
        number = 10 * number + digit;
    }
    if (digits == 0) return 0;
    for (const ha_option_unit *unit = key->units; unit->suffix != NULL; unit++) {
        if (!ha_option_is(unit->suffix, value->text + digits, value->length - digits)) continue;
        if (number > key->most / unit->factor) return 0;
        value->number = number * unit->factor;
        return number == 0 || value->number >= key->least;
    }
    return 0;
}

/* Whether the text of a value has the form of its key; sets its number. */
HA_IN_ int ha_option_read(const ha_option_key *key, ha_option_value *value) {
    if (key->units != NULL) return ha_option_number(key, value);
    for (uint64_t i = 0; key->words != NULL && key->words[i] != NULL; i++) {
        if (!ha_option_is(key->words[i], value->text, value->length)) continue;
        value->number = i;
        return 1;
    }
    return key->words == NULL && value->length >= key->least && value->length <= key->most;
}

HA_IN_ void ha_option_unknown(const ha_option_keys *keys, const char *item, int shown,
                              ha_option_text *wrong) {
    size_t n = (size_t)snprintf(wrong->text, sizeof wrong->text,
                                "%s: \"%.*s\": unknown key; there are", keys->variable, shown,
                                item);
    for (int k = 0; k < keys->count && n < sizeof wrong->text; k++)
        n += (size_t)snprintf(wrong->text + n, sizeof wrong->text - n, "%s%s", k ? ", " : " ",
                              keys->key[k].name);
}

/* One "key=value" into its place in `values`. */
HA_IN_ int ha_option_item(const ha_option_keys *keys, const char *item, size_t length,
                          ha_option_value *values, ha_option_text *wrong) {
    const char *equals = (const char *)memchr(item, '=', length);
    size_t name = equals != NULL ? (size_t)(equals - item) : length;
    int shown = (int)(length < 60 ? length : 60);
    for (int k = 0; k < keys->count; k++) {
        const ha_option_key *key = &keys->key[k];
        ha_option_value value = {0, item, 0};
        if (!ha_option_is(key->name, item, name)) continue;
        if (equals != NULL) value = (ha_option_value){0, equals + 1, length - name - 1};
        if (equals != NULL && ha_option_read(key, &value)) {
            values[k] = value;
            return 1;
        }
        snprintf(wrong->text, sizeof wrong->text, "%s: \"%.*s\": %s is %s", keys->variable, shown,
                 item, key->name, key->form);
        return 0;
    }
    ha_option_unknown(keys, item, shown, wrong);
    return 0;
}

/* Reads a whole text. Returns 0, with the reason in *wrong, when any part of it is wrong. */
HA_IN_ int ha_options_parse(const ha_option_keys *keys, const char *text, ha_option_value *values,
                            ha_option_text *wrong) {
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        if (!ha_option_item(keys, text, length, values, wrong)) return 0;
        text += length;
        if (*text == ',') text++;
    }
    return 1;
}

#endif
