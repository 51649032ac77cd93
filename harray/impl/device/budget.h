/* Budgets: how many bytes of each memory this process may take, as HARRAY_MEMORY says. */
#ifndef HARRAY_IMPL_DEVICE_BUDGET_H
#define HARRAY_IMPL_DEVICE_BUDGET_H

#include "kinds.h"
#include "../../../backends/common/options.h"

/* "sim:0=64M" of the text, in parts. */
typedef struct ha_budget_item {
    char name[48]; /* "host", "pinned", "sim:0"; "": it is the file's place */
    uint64_t bytes;
} ha_budget_item;

/* What a name stands for: "sim" is "sim:0". Returns whether there is such a memory, or may be. */
HA_IN_ int ha_budget_name(const char *text, size_t length, char name[48])
    HA_REQUIRES_(ha_registry.lock) {
    char copy[48] = "", kind[24];
    int number;
    if (length >= sizeof copy) return 0;
    memcpy(copy, text, length);
    if (!strcmp(copy, "host") || !strcmp(copy, "pinned")) {
        memcpy(name, copy, sizeof copy);
        return 1;
    }
    if (!ha_parse_context(copy, kind, &number) || !ha_backend_find(kind)) return 0;
    snprintf(name, sizeof copy, "%.23s:%d", kind, number);
    return 1;
}

HA_IN_ int ha_budget_item_read(const char *text, size_t length, ha_budget_item *item,
                               const char **objection) HA_REQUIRES_(ha_registry.lock) {
    static const ha_option_key size = {"", ha_option_sizes, NULL, 1, UINT64_MAX, ""};
    const char *equals = (const char *)memchr(text, '=', length);
    const size_t name = equals ? (size_t)(equals - text) : length;
    ha_option_value value = {0, text, 0};
    ha_file_settings file;
    *item = (ha_budget_item){"", 0};
    *objection = HA_FILE_PLACE_;
    if (ha_option_is("file", text, name))
        return equals && ha_file_parse_place(equals + 1, length - name - 1, &file);
    *objection = "is no memory: write host, pinned, or a device as in cuda:0";
    if (!ha_budget_name(text, name, item->name)) return 0;
    *objection = "needs a budget: bytes, or a number with K, M or G, as in host=48G";
    if (equals) value = (ha_option_value){0, equals + 1, length - name - 1};
    const int read = equals && ha_option_number(&size, &value);
    item->bytes = value.number;
    return read;
}

/* The budget of a memory as HARRAY_MEMORY has it; 0: it has none. HA_ERR_BACKEND: something in there is wrong, also
 * where it is about others; what, is noted. */
HA_IN_ ha_status ha_budget_option(const char *memory, uint64_t *budget)
    HA_REQUIRES_(ha_registry.lock) {
    const char *text = getenv("HARRAY_MEMORY"), *objection;
    *budget = 0;
    while (text && *text) {
        ha_budget_item item;
        char why[160];
        text += strspn(text, " ,");
        const size_t length = strcspn(text, " ,");
        if (length && !ha_budget_item_read(text, length, &item, &objection)) {
            snprintf(why, sizeof why, "HARRAY_MEMORY: \"%.*s\" %s",
                     (int)(length < 50 ? length : 50), text, objection);
            ha_backend_report(0, why);
            return HA_ERR_BACKEND;
        }
        if (length && !strcmp(item.name, memory)) *budget = item.bytes;
        text += length;
    }
    return HA_OK;
}

#endif
