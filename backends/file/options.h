/* The options of file:0, and their form as text in HARRAY_FILE. */
#ifndef HARRAY_BACKENDS_FILE_OPTIONS_H
#define HARRAY_BACKENDS_FILE_OPTIONS_H

#include "../../harray/file.h"
#include "../backend.h"
#include "../common/options.h"

#include <string.h>

#define HA_FILE_MOST_ ((uint64_t)1 << 44) /* bytes of address space */
#define HA_FILE_NAME_ 1024                /* of a directory, with the '\0' */

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
