/* Reading a text from left to right: what is expected, and where it was not found. */
#ifndef HARRAY_LAYOUT_IMPL_BASE_READER_H
#define HARRAY_LAYOUT_IMPL_BASE_READER_H

#include "basics.h"
#include "characters.h"
#include "../../record.h"

typedef struct ha_reader {
    const char *text, *at;
    const ha_asked *asked;
} ha_reader;

/* Points at a character of the text. */
HA_IN_ ha_status ha_refuse_at(const ha_reader *r, const char *at, const char *why) {
    return ha_refuse(r->asked, HA_ERR_ARGUMENT, at - r->text, "at character %td: %s", at - r->text,
                     why);
}

HA_IN_ ha_status ha_expected(const ha_reader *r, const char *what) {
    char found[16] = "the end";
    const unsigned char c = (unsigned char)*r->at;
    if (c >= ' ' && c < 127)
        snprintf(found, sizeof found, "'%c'", c);
    else if (c)
        snprintf(found, sizeof found, "byte 0x%02x", (unsigned)c);
    return ha_refuse(r->asked, HA_ERR_ARGUMENT, r->at - r->text,
                     "at character %td: expected %s, found %s", r->at - r->text, what, found);
}

HA_IN_ void ha_skip_blanks(ha_reader *r) {
    while (ha_is_blank(*r->at)) r->at++;
}

/* Goes behind this character when it is there. */
HA_IN_ int ha_accept(ha_reader *r, char c) {
    ha_skip_blanks(r);
    if (*r->at != c) return 0;
    r->at++;
    return 1;
}

HA_IN_ ha_status ha_expect(ha_reader *r, char c, const char *what) {
    return ha_accept(r, c) ? HA_OK : ha_expected(r, what);
}

/* Goes behind this whole word when it is there. */
HA_IN_ int ha_accept_word(ha_reader *r, const char *word) {
    const size_t n = strlen(word);
    ha_skip_blanks(r);
    if (strncmp(r->at, word, n) != 0 || ha_in_name(r->at[n])) return 0;
    r->at += n;
    return 1;
}

/* A number from `least` to `most`. */
HA_IN_ ha_status ha_read_number(ha_reader *r, const char *what, int64_t least, int64_t most,
                                int64_t *number) {
    const char *start;
    int64_t n = 0;
    ha_skip_blanks(r);
    start = r->at;
    if (!ha_is_digit(*start)) return ha_expected(r, what);
    for (; ha_is_digit(*r->at); r->at++)
        if (!ha_product(n, 10, &n) || !ha_sum(n, *r->at - '0', &n))
            return ha_refuse_at(r, start, "this number is too large");
    if (n < least || n > most)
        return ha_refuse(r->asked, HA_ERR_ARGUMENT, start - r->text,
                         "at character %td: expected %s, from %lld to %lld", start - r->text, what,
                         (long long)least, (long long)most);
    *number = n;
    return HA_OK;
}

/* A path: names with subscripts, between dots. The numbers of the subscripts, which are at least
 * `least`, go to count[], as far as count is not NULL; *counts says how many. */
HA_IN_ ha_status ha_read_path(ha_reader *r, int64_t least, int64_t *count, int *counts) {
    *counts = 0;
    do {
        if (!ha_begins_name(*r->at)) return ha_expected(r, "a name");
        while (ha_in_name(*r->at)) r->at++;
        while (*r->at == '[') {
            int64_t number = 0;
            ha_status s;
            if (*counts == HA_MOST_SUBSCRIPTS)
                return ha_expected(r, "no more subscripts than 6 in a path");
            r->at++;
            if (!ha_is_digit(*r->at)) return ha_expected(r, "a number");
            s = ha_read_number(r, "a subscript", least, HA_MOST_LEAVES, &number);
            if (s) return s;
            if (*r->at != ']') return ha_expected(r, "']'");
            r->at++;
            if (count) count[*counts] = number;
            ++*counts;
        }
    } while (*r->at == '.' && r->at++);
    return HA_OK;
}

/* The next one of several paths, "pos + vel": from *path to *end, which may be nothing. *p goes behind it and
 * its '+', or is NULL behind the last one. 0: *p is at something else than '+'. */
HA_IN_ int ha_next_path(const char **p, const char **path, const char **end) {
    const char *at = *p;
    while (ha_is_blank(*at)) at++;
    *path = at;
    while (*at && *at != '+' && !ha_is_blank(*at)) at++;
    *end = at;
    while (ha_is_blank(*at)) at++;
    *p = *at == '+' ? at + 1 : *at ? at : NULL;
    return !*at || *at == '+';
}

#endif
