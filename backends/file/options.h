/* The options of file:0, and their form as text: in HARRAY_FILE, and where HARRAY_MEMORY has the file. */
#ifndef HARRAY_BACKENDS_FILE_OPTIONS_H
#define HARRAY_BACKENDS_FILE_OPTIONS_H

#include "../../harray/file.h"
#include "../backend.h"
#include "../common/options.h"

#include <string.h>

#define HA_FILE_MOST_ ((uint64_t)1 << 44) /* bytes of address space */
#define HA_FILE_NAME_ 1024                /* of a directory, with the '\0' */
#define HA_FILE_PLACE_ "needs a directory and how much may be there, as in file=/scratch/me:500G"

typedef struct ha_file_settings {
    char directory[HA_FILE_NAME_]; /* "": there is no file */
    uint64_t capacity;             /* 0: what is free */
    int buffered;
} ha_file_settings;

enum { HA_FILE_DIRECTORY, HA_FILE_CAPACITY, HA_FILE_BUFFERED, HA_FILE_KEYS };

static const ha_option_key ha_file_keys[HA_FILE_KEYS] = {
    [HA_FILE_DIRECTORY] = {"dir", NULL, NULL, 1, HA_FILE_NAME_ - 1,
                           "the name of a directory, up to 1023 bytes"},
    [HA_FILE_CAPACITY] = {"capacity", ha_option_sizes, NULL, 0, HA_FILE_MOST_,
                          "bytes, or a number with K, M or G; up to 16384G"},
    [HA_FILE_BUFFERED] = {"buffered", ha_option_plain, NULL, 0, 1, "0 or 1"},
};

static const ha_option_keys ha_file_option_keys = {"HARRAY_FILE", "file", ha_file_keys,
                                                   HA_FILE_KEYS};

/* Reads "dir=/scratch/me,capacity=500G". Returns 0, with the reason in *wrong and *settings untouched,
 * when any part of it is wrong. */
HA_IN_ int ha_file_parse(const char *text, ha_file_settings *settings, ha_option_text *wrong) {
    ha_option_value values[HA_FILE_KEYS] = {{0, NULL, 0}};
    const ha_option_value *directory = &values[HA_FILE_DIRECTORY];
    if (!ha_options_parse(&ha_file_option_keys, text, values, wrong)) return 0;
    *settings = (ha_file_settings){
        .capacity = values[HA_FILE_CAPACITY].number,
        .buffered = (int)values[HA_FILE_BUFFERED].number,
    };
    if (directory->text != NULL) memcpy(settings->directory, directory->text, directory->length);
    return 1;
}

/* The same of "/scratch/me:500G", a directory and a capacity; without ":500G" it is what is free. */
HA_IN_ int ha_file_parse_place(const char *text, size_t length, ha_file_settings *settings) {
    size_t name = length, colon = length;
    while (colon > 0 && text[colon - 1] != ':') colon--;
    ha_option_value capacity = {0, text + colon, length - colon};
    if (colon > 0 && !ha_option_number(&ha_file_keys[HA_FILE_CAPACITY], &capacity)) return 0;
    if (colon > 0) name = colon - 1;
    if (name >= HA_FILE_NAME_ || memchr(text, '/', name) == NULL) return 0;
    *settings = (ha_file_settings){.capacity = capacity.number};
    memcpy(settings->directory, text, name);
    return 1;
}

/* The place that "host=48G, file=/scratch/me:500G" has for the file; NULL: none. The last one, as with budgets. */
HA_IN_ const char *ha_file_place_in(const char *text, size_t *length) {
    static const char key[] = "file=";
    const char *place = NULL;
    while (text != NULL && *text != '\0') {
        const size_t item = strcspn(text, " ,"), before = sizeof key - 1;
        if (strncmp(text, key, before) == 0) {
            place = text + before;
            *length = item - before;
        }
        text += item;
        text += strspn(text, " ,");
    }
    return place;
}

/* The same of options set by a call. */
HA_IN_ int ha_file_settings_of(const ha_file_options *options, ha_file_settings *settings,
                               ha_option_text *wrong) {
    const char *directory = options->directory != NULL ? options->directory : "";
    const size_t length = strlen(directory);
    const uint64_t numbers[HA_FILE_KEYS] = {
        [HA_FILE_DIRECTORY] = length,
        [HA_FILE_CAPACITY] = options->capacity,
    };
    if (!ha_options_in_range(&ha_file_option_keys, numbers, wrong)) return 0;
    *settings = (ha_file_settings){.capacity = options->capacity,
                                   .buffered = options->buffered != 0};
    memcpy(settings->directory, directory, length);
    return 1;
}

#endif
