/* JSON, value by value: the writer sets commas, brackets and keys. */
#ifndef HARRAY_LAYOUT_IMPL_BASE_JSON_H
#define HARRAY_LAYOUT_IMPL_BASE_JSON_H

#include "text.h"

typedef struct ha_json {
    ha_text text;
    int more; /* a value stands before in these brackets: a comma comes before the next one */
} ha_json;

HA_IN_ ha_json ha_json_into(char *text, size_t bytes) {
    return (ha_json){ha_text_into(text, bytes), 0};
}

/* Before a value of any kind. NULL: it has no key, as in a list. */
HA_IN_ void ha_json_key(ha_json *j, const char *key) {
    if (j->more) ha_print(&j->text, ", ");
    j->more = 1;
    if (key) ha_print(&j->text, "\"%s\": ", key);
}

HA_IN_ void ha_json_open(ha_json *j, const char *key, char bracket) {
    ha_json_key(j, key);
    ha_print(&j->text, "%c", bracket);
    j->more = 0;
}

HA_IN_ void ha_json_close(ha_json *j, char bracket) {
    ha_print(&j->text, "%c", bracket);
    j->more = 1;
}

/* true, false, null, or a number as text. */
HA_UNUSED HA_IN_ void ha_json_word(ha_json *j, const char *key, const char *word) {
    ha_json_key(j, key);
    ha_print(&j->text, "%s", word);
}

HA_UNUSED HA_IN_ void ha_json_number(ha_json *j, const char *key, int64_t value) {
    ha_json_key(j, key);
    ha_print(&j->text, "%lld", (long long)value);
}

HA_UNUSED HA_IN_ void ha_json_unsigned(ha_json *j, const char *key, uint64_t value) {
    ha_json_key(j, key);
    ha_print(&j->text, "%llu", (unsigned long long)value);
}

/* ---- strings --------------------------------------------------------------------------------- */

/* How many bytes the first character of s has, in UTF-8; 0: it is no character. */
HA_IN_ size_t ha_character_bytes(const unsigned char *s) {
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
HA_UNUSED HA_IN_ void ha_json_string(ha_json *j, const char *key, const char *string) {
    const unsigned char *s = (const unsigned char *)string, *end = s + HA_LONGEST_STRING;
    ha_json_key(j, key);
    ha_print(&j->text, "\"");
    while (*s && s < end) {
        size_t n = ha_character_bytes(s);
        if (!n)
            ha_print(&j->text, "\\ufffd");
        else if (*s == '"' || *s == '\\')
            ha_print(&j->text, "\\%c", *s);
        else if (*s < 0x20)
            ha_print(&j->text, "\\u%04x", *s);
        else
            ha_print(&j->text, "%.*s", (int)n, (const char *)s);
        s += n ? n : 1;
    }
    ha_print(&j->text, "\"");
}

#endif
