/* Text that is built piece by piece: for people, and as JSON. */
#ifndef HARRAY_IMPL_BASE_TEXT_H
#define HARRAY_IMPL_BASE_TEXT_H

#include "../../../layout/impl/base/text.h"

#include <stdint.h>

static int ha_text_is_cut(const ha_text *t) { return t->length >= t->bytes; }

/* ---- JSON ---------------------------------------------------------------------------------- */

/* How many bytes the first character of s has, in UTF-8; 0: it is no character. */
static size_t ha_character_bytes(const unsigned char *s) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 0;
    if (n < 2) return n;
    uint32_t code = *s & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0; /* also at the end of the text */
        code = code << 6 | (s[i] & 0x3fu);
    }
    int surrogate = code >= 0xd800 && code < 0xe000;
    return code < least[n] || code > 0x10ffff || surrogate ? 0 : n;
}

enum { HA_LONGEST_STRING = 500 }; /* bytes of a string; the rest is left out */

/* A string in quotes, whatever it holds. What is not UTF-8 becomes U+FFFD. */
static void ha_print_string(ha_text *t, const char *string) {
    const unsigned char *s = (const unsigned char *)string, *end = s + HA_LONGEST_STRING;
    ha_print(t, "\"");
    while (*s && s < end) {
        size_t n = ha_character_bytes(s);
        if (!n)
            ha_print(t, "\\ufffd");
        else if (*s == '"' || *s == '\\')
            ha_print(t, "\\%c", *s);
        else if (*s < 0x20)
            ha_print(t, "\\u%04x", *s);
        else
            ha_print(t, "%.*s", (int)n, (const char *)s);
        s += n ? n : 1;
    }
    ha_print(t, "\"");
}

/* "key": "value" */
static void ha_print_text(ha_text *t, const char *key, const char *value) {
    ha_print(t, "\"%s\": ", key);
    ha_print_string(t, value);
}

static void ha_print_number(ha_text *t, const char *key, uint64_t value) {
    ha_print(t, "\"%s\": %llu", key, (unsigned long long)value);
}

#endif
