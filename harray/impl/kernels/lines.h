/* The user's lines in a kernel's text. The preprocessor makes one line of a body, without comments. Where the
 * source file is there, its tokens are found again, and with them where its lines end: so a device's compiler
 * names the line that the user wrote. */
#ifndef HARRAY_IMPL_KERNELS_LINES_H
#define HARRAY_IMPL_KERNELS_LINES_H

#include "../control/all.h"

enum {
    HA_SOURCE_NAME = 4096,   /* bytes of a file's name, */
    HA_MOST_SOURCE = 1 << 24 /* and of one that is looked at */
};

/* Behind a literal or a name that begins at `at`; behind one other character. */
HA_IN_ const char *ha_token_end(const char *at) {
    const char quote = *at;
    if (ha_begins_name(*at)) {
        while (ha_in_name(*at)) at++;
        return at;
    }
    if (quote != '"' && quote != '\'') return at + 1;
    for (at++; *at && *at != quote; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

/* A place in a source file. */
typedef struct ha_source_place {
    const char *at;
    int64_t line;
} ha_source_place;

/* Behind a blank, a comment, or the backslash of a line that goes on; where none of these is, there. */
HA_IN_ const char *ha_blank_end(const char *at) {
    if (at[0] == '/' && at[1] == '/') return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        const char *closed = strstr(at + 2, "*/");
        return closed ? closed + 2 : at + strlen(at);
    }
    return ha_is_blank(*at) || (at[0] == '\\' && at[1] == '\n') ? at + 1 : at;
}

/* Over what is no token. */
HA_IN_ void ha_source_skip(ha_source_place *p) {
    const char *end;
    while ((end = ha_blank_end(p->at)) != p->at)
        for (; p->at < end; p->at++) p->line += *p->at == '\n';
}

/* Goes over the text's tokens in the source, from p on. `to`: gets the text with the source's ends of lines,
 * which are as many more bytes; NULL: nothing. Zero: something else stands there. */
HA_IN_ int ha_source_follow(ha_source_place *p, const char *text, char *to) {
    for (int64_t line = p->line;;) {
        while (ha_is_blank(*text)) {
            if (to) *to++ = ' ';
            text++;
        }
        if (!*text) break;
        ha_source_skip(p);
        for (; line < p->line; line++)
            if (to) *to++ = '\n';
        const size_t n = (size_t)(ha_token_end(text) - text);
        if (strncmp(p->at, text, n) != 0 || ha_token_end(p->at) != p->at + n) return 0;
        if (to) memcpy(to, text, n), to += n;
        text += n;
        p->at += n;
    }
    if (to) *to = 0;
    return 1;
}

/* Where the text stands in the source: of several places the one nearest to a line. *last: where it ends. */
HA_IN_ int ha_source_find(const char *source, const char *text, int64_t line,
                          ha_source_place *first, ha_source_place *last) {
    int64_t best = INT64_MAX;
    for (ha_source_place p = {source, 1}; best; p.at = ha_token_end(p.at)) {
        ha_source_skip(&p);
        if (!*p.at) break;
        ha_source_place end = p;
        if (!ha_source_follow(&end, text, NULL)) continue;
        const int64_t away = line < p.line ? p.line - line : line > end.line ? line - end.line : 0;
        if (away >= best) continue;
        best = away;
        *first = p;
        *last = end;
    }
    return best < INT64_MAX;
}

/* A file with '\0' behind it, to be freed by HARRAY_FREE; NULL: it cannot be read. */
HA_IN_ char *ha_source_read(const char *path) {
    FILE *file = fopen(path, "re");
    char *text = NULL;
    long bytes = -1;
    if (!file) return NULL;
    if (!fseek(file, 0, SEEK_END)) bytes = ftell(file);
    if (bytes >= 0 && bytes <= HA_MOST_SOURCE && !fseek(file, 0, SEEK_SET))
        text = (char *)HARRAY_MALLOC((size_t)bytes + 1);
    if (text) text[fread(text, 1, (size_t)bytes, file)] = 0;
    (void)fclose(file);
    return text;
}

/* The text as it stands in the file around a line, with *line its first one; NULL: it is not found, or there
 * is no memory. */
HA_IN_ char *ha_text_with_lines(const char *path, const char *text, int64_t *line) {
    ha_source_place first, last;
    char *source = ha_source_read(path), *lined = NULL;
    if (source && ha_source_find(source, text, *line, &first, &last)) {
        lined = (char *)HARRAY_MALLOC(strlen(text) + (size_t)(last.line - first.line) + 1);
        *line = first.line;
        if (lined) (void)ha_source_follow(&first, text, lined);
    }
    HARRAY_FREE(source);
    return lined;
}

#endif
