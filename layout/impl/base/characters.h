/* Kinds of characters, whatever the locale is. */
#ifndef HARRAY_LAYOUT_IMPL_BASE_CHARACTERS_H
#define HARRAY_LAYOUT_IMPL_BASE_CHARACTERS_H

#include "../../status.h"

static inline int ha_is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static inline int ha_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline int ha_begins_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static inline int ha_in_name(char c) { return ha_begins_name(c) || ha_is_digit(c); }

#endif
