/* A kernel in a file of the user's: all of the file but for other kernels. */
#ifndef HARRAY_IMPL_KERNELS_FILE_TEXT_H
#define HARRAY_IMPL_KERNELS_FILE_TEXT_H

#include "team_text.h"
#include "../../reduce.h"

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

/* Where a line of the preprocessor ends. */
HA_IN_ const char *ha_directive_end(const char *at) {
    while (*at && *at != '\n') at += at[0] == '\\' && at[1] ? 2 : 1;
    return at;
}

HA_IN_ void ha_put_ends_of_lines(ha_kernel_writer *w, const char *from, const char *to) {
    for (; from < to; from++)
        if (*from == '\n') ha_print(&w->to, "\n");
}

HA_IN_ int ha_token_is(const char *at, const char *word) {
    return (size_t)(ha_token_end(at) - at) == strlen(word) && !strncmp(at, word, strlen(word));
}

/* A kernel of a file: its name, its body in braces, and where that ends. */
typedef struct ha_filed_kernel {
    const char *name, *body, *end;
} ha_filed_kernel;

/* The one that begins at `at`; without a name: none does. */
HA_IN_ ha_filed_kernel ha_filed_at(const char *at) {
    static const char *const words[] = {"HA_KERNEL_IN", "HA_KERNEL_EACH_IN", "HA_TEAM_KERNEL_IN",
                                        "HA_REDUCE_IN"};
    ha_filed_kernel f = {NULL, NULL, NULL};
    int is_one = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) is_one |= ha_token_is(at, words[i]);
    if (!is_one) return f;
    const char *list = ha_next_token(ha_token_end(at));
    const char *comma = ha_next_token(ha_token_end(ha_next_token(ha_token_end(list))));
    f.name = ha_next_token(ha_token_end(comma));
    f.body = ha_next_token(ha_bracket_end(list));
    f.end = ha_bracket_end(f.body);
    return f;
}

/* The text of a kernel's body, from *at to *end; of one that its file lacks it is empty. */
HA_IN_ void ha_kernel_body(const ha_kernel *k, const char **at, const char **end) {
    *at = k->text;
    *end = k->text + strlen(k->text);
    for (const char *next = k->text; k->file && *next;) {
        const ha_filed_kernel f = ha_filed_at(next);
        if (f.name && ha_token_is(f.name, k->name)) {
            *at = f.body;
            *end = f.end;
            return;
        }
        const char *blank = ha_blank_end(next);
        next = f.name ? f.end : blank != next ? blank : ha_token_end(next);
    }
    if (k->file) *at = *end;
}

/* What the body of a reduction gives, and of a kernel. */
HA_IN_ const char *ha_body_gives(const ha_kernel *k) {
    return k->reduction ? k->reduction->type : "void";
}

/* Of a team kernel: the entry up to the body, whose text begins at `at`. Returns where the text goes on. */
HA_IN_ const char *ha_put_team_in(ha_kernel_writer *w, const char *file, const char *at) {
    int64_t line = 1;
    ha_put_team_head(w);
    if (*at == '{') at++;
    for (const char *c = w->kernel->text; c < at; c++) line += *c == '\n';
    if (w->lines) ha_put_line(w, file, line);
    return at;
}

/* A kernel of the file: instead of HA_KERNEL_IN(tag, name, …) the head of its function; of another one nothing.
 * Returns where the text goes on. */
HA_IN_ const char *ha_put_kernel_in(ha_kernel_writer *w, const char *file, const char *at,
                                    ha_filed_kernel f) {
    const int is_this = ha_token_is(f.name, w->kernel->name);
    if (is_this && w->kernel->team) return ha_put_team_in(w, file, f.body);
    if (is_this) ha_put_head(w, ha_body_gives(w->kernel));
    ha_put_ends_of_lines(w, at, is_this ? f.body : f.end);
    return is_this ? f.body : f.end;
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
        const ha_filed_kernel f = ha_filed_at(at);
        found |= f.name && ha_token_is(f.name, k->name);
        if (ha_is_include(at))
            at += strcspn(at, "\n");
        else if (f.name)
            at = ha_put_kernel_in(w, file, at, f);
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
