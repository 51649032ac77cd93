/* A kernel in a file of the user's: all of the file but for other kernels. */
#ifndef HARRAY_IMPL_KERNELS_FILE_TEXT_H
#define HARRAY_IMPL_KERNELS_FILE_TEXT_H

#include "device_text.h"

/* Behind the bracket that closes the one at `at`, or at the end of the text. */
HA_IN_ const char *ha_bracket_end(const char *at) {
    int depth = 0;
    while (*at) {
        const char *blank = ha_blank_end(at);
        if (blank != at) {
            at = blank;
            continue;
        }
        if (*at == '(' || *at == '[' || *at == '{') depth++;
        if ((*at == ')' || *at == ']' || *at == '}') && --depth == 0) return at + 1;
        at = ha_token_end(at);
    }
    return at;
}

HA_IN_ void ha_put_ends_of_lines(ha_kernel_writer *w, const char *from, const char *to) {
    for (; from < to; from++)
        if (*from == '\n') ha_print(&w->to, "\n");
}

HA_IN_ int ha_token_is(const char *at, const char *word) {
    return (size_t)(ha_token_end(at) - at) == strlen(word) && !strncmp(at, word, strlen(word));
}

/* A kernel of the file: instead of HA_KERNEL_IN(tag, name, …) the head of its function; of another one nothing.
 * Returns where the text goes on. */
HA_IN_ const char *ha_put_kernel_in(ha_kernel_writer *w, const char *at, int *found) {
    const char *list = ha_next_token(ha_token_end(at)), *body, *end;
    const char *name = ha_next_token(ha_token_end(list)); /* the tag; */
    name = ha_next_token(ha_token_end(name));             /* a comma; */
    name = ha_next_token(ha_token_end(name));
    body = ha_next_token(ha_bracket_end(list));
    const int is_this = ha_token_is(name, w->kernel->name);
    if (is_this) ha_put_head(w, "void");
    *found |= is_this;
    end = is_this ? body : ha_bracket_end(body);
    ha_put_ends_of_lines(w, at, end);
    return end;
}

HA_IN_ int ha_is_include(const char *at) {
    if (*at != '#') return 0;
    for (at++; *at == ' ' || *at == '\t';) at++;
    return ha_token_is(at, "include");
}

HA_IN_ void ha_put_file(ha_kernel_writer *w) {
    const ha_kernel *k = w->kernel;
    const char *colon = strrchr(k->site, ':');
    char file[HA_SOURCE_NAME];
    int found = 0;
    snprintf(file, sizeof file, "%.*s", (int)(colon - k->site), k->site);
    if (w->lines) ha_put_line(w, file, 1);
    for (const char *at = k->text; *at;) {
        if (ha_is_include(at))
            at += strcspn(at, "\n");
        else if (ha_token_is(at, "HA_KERNEL_IN"))
            at = ha_put_kernel_in(w, at, &found);
        else
            at = ha_put_token(w, at);
    }
    ha_print(&w->to, "\n");
    if (w->lines) ha_put_line(w, "harray", 1);
    if (!found)
        ha_print(&w->to, "#error HA_KERNEL_FILE(%s, ...): the file has no kernel %s\n", k->file,
                 k->name);
}

#endif
