/* A kernel as text for a device's compiler. Both languages get the same shape:
 *
 *     words of the language; numbers that C lacks; the spans of views
 *     void ha_body_name(index…, argument…)                                   the user's text, or a file of his
 *     entry void ha_entry_name(first, last…, argument…) { …; if (index < last) ha_body_name(…); }
 *
 * An array comes as a pointer to a buffer, where in it the first element is, and its size; a view also as
 * extents, strides and lowest indices. So no struct holds a pointer, which OpenCL C refuses. */
#ifndef HARRAY_IMPL_KERNELS_DEVICE_TEXT_H
#define HARRAY_IMPL_KERNELS_DEVICE_TEXT_H

#include "../control/all.h"
#include "../../kernel.h"
#include "lines.h"
#include "prelude.h"

typedef struct ha_kernel_writer {
    ha_text to;
    const ha_kernel *kernel;
    ha_language language;
    int apart; /* no two arguments overlap, and last strides are 1 */
    int lines; /* with the user's lines, for what the compiler has to say; a text that is only to be
                  compiled is the same wherever it stands */
} ha_kernel_writer;

/* ---- types ------------------------------------------------------------------------------------- */

/* The element type of a parameter's: of array_T_D or T. What harray calls half is ha_half in C. */
HA_IN_ void ha_put_element(ha_kernel_writer *w, const ha_kernel_parameter_ *p) {
    static const char *const ours[] = {"half", "bfloat16", "c64", "c128"};
    const char *type = p->rank ? p->type + strlen("array_") : p->type;
    int length = (int)(p->rank ? strrchr(p->type, '_') - type : (ptrdiff_t)strlen(type));
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if ((int)strlen(ours[i]) == length && !strncmp(ours[i], type, (size_t)length))
            ha_print(&w->to, "ha_");
    ha_print(&w->to, "%.*s", length, type);
}

HA_IN_ int ha_is_written(const ha_kernel_parameter_ *p) {
    return p->mode == HA_KERNEL_INOUT_ || p->mode == HA_KERNEL_OUT_;
}

HA_IN_ void ha_put_pointer(ha_kernel_writer *w, const ha_kernel_parameter_ *p) {
    ha_print(&w->to, "%sHA_GLOBAL_ ", ha_is_written(p) ? "" : "const ");
    ha_put_element(w, p);
    ha_print(&w->to, " *");
}

/* As the body sees it: cspan_float_2 of array_float_2. */
HA_IN_ void ha_put_span_name(ha_kernel_writer *w, const ha_kernel_parameter_ *p) {
    ha_print(&w->to, "%sspan_%s", ha_is_written(p) ? "" : "c", p->type + strlen("array_"));
}

/* The first of several parameters with one type. */
HA_IN_ int ha_is_first_of_type(const ha_kernel *k, int i) {
    for (int j = 0; j < i; j++)
        if (!strcmp(k->parameter[i].type, k->parameter[j].type) &&
            ha_is_written(&k->parameter[i]) == ha_is_written(&k->parameter[j]))
            return 0;
    return 1;
}

HA_IN_ void ha_put_spans(ha_kernel_writer *w) {
    for (int i = 0; i < w->kernel->parameters; i++) {
        const ha_kernel_parameter_ *p = &w->kernel->parameter[i];
        if (!p->rank || !ha_is_first_of_type(w->kernel, i)) continue;
        ha_print(&w->to, "typedef struct { ");
        ha_put_pointer(w, p);
        ha_print(&w->to, "data; int64_t extent[%d], stride[%d], origin[%d]; } ", p->rank, p->rank,
                 p->rank);
        ha_put_span_name(w, p);
        ha_print(&w->to, ";\n");
    }
}

/* ---- the user's text --------------------------------------------------------------------------- */

/* Commas of a list in parentheses that begins at `at`, but for those in brackets of its own. */
HA_IN_ int ha_commas(const char *at) {
    int depth = 0, commas = 0;
    for (; *at; at = ha_token_end(at)) {
        if (*at == '(' || *at == '[' || *at == '{') depth++;
        if ((*at == ')' || *at == ']' || *at == '}') && --depth == 0) break;
        commas += *at == ',' && depth == 1;
    }
    return commas;
}

/* Compilers of devices need not know macros of any number of arguments: HA_AT(s, i, j) becomes
 * HA_AT_2_(s, i, j). */
HA_IN_ void ha_put_code_of_user(ha_kernel_writer *w, const char *text) {
    const char *end;
    for (const char *at = text; *at; at = end) {
        end = ha_token_end(at);
        ha_print(&w->to, "%.*s", (int)(end - at), at);
        const char *behind = end;
        while (ha_is_blank(*behind)) behind++;
        if (end - at == 5 && !strncmp(at, "HA_AT", 5) && *behind == '(')
            ha_print(&w->to, "_%d_", ha_commas(behind));
    }
}

HA_IN_ void ha_put_line(ha_kernel_writer *w, const char *file, int64_t line) {
    ha_print(&w->to, "#line %lld \"", (long long)line);
    for (const char *c = file; *c; c++)
        ha_print(&w->to, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    ha_print(&w->to, "\"\n");
}

/* Text that stands at a site, "file:number". */
HA_IN_ void ha_put_user_text(ha_kernel_writer *w, const char *site, const char *text) {
    const char *colon = strrchr(site, ':');
    char file[HA_SOURCE_NAME];
    int64_t line = strtoll(colon + 1, NULL, 10);
    char *lined = NULL;
    if (w->lines && colon - site < (ptrdiff_t)sizeof file) {
        snprintf(file, sizeof file, "%.*s", (int)(colon - site), site);
        lined = ha_text_with_lines(file, text, &line);
        ha_put_line(w, file, line);
    }
    ha_put_code_of_user(w, lined ? lined : text);
    ha_print(&w->to, "\n");
    if (w->lines) ha_put_line(w, "harray", 1);
    HARRAY_FREE(lined);
}

/* The d-th name of "i" or "(j, i)". */
HA_IN_ void ha_put_index(ha_kernel_writer *w, int d) {
    const char *at = w->kernel->indices;
    for (; !ha_begins_name(*at) || d-- > 0; at = ha_token_end(at)) {}
    ha_print(&w->to, "%.*s", (int)(ha_token_end(at) - at), at);
}

/* The body's function, up to its body. */
HA_IN_ void ha_put_head(ha_kernel_writer *w) {
    const ha_kernel *k = w->kernel;
    ha_print(&w->to, "HA_BODY_ void ha_body_%s(", k->name);
    for (int d = 0; d < k->rank; d++) {
        ha_print(&w->to, "%sconst ptrdiff_t ", d ? ", " : "");
        ha_put_index(w, d);
    }
    for (int i = 0; i < k->parameters; i++) {
        const ha_kernel_parameter_ *p = &k->parameter[i];
        if (p->mode == HA_KERNEL_USES_) continue;
        ha_print(&w->to, ", ");
        if (p->mode == HA_KERNEL_VALUE_) {
            ha_print(&w->to, "const %s %s", p->type, p->name);
            continue;
        }
        if (p->rank) {
            ha_print(&w->to, "const ");
            ha_put_span_name(w, p);
            ha_print(&w->to, " ");
        } else {
            ha_put_pointer(w, p);
            ha_print(&w->to, w->apart ? "HA_RESTRICT_ " : "");
        }
        ha_print(&w->to, "%s, const int64_t %s_size_", p->name, p->name);
    }
    ha_print(&w->to, ")");
}

/* ---- kernels in files ---------------------------------------------------------------------------- */

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

HA_IN_ const char *ha_next_token(const char *at) {
    for (const char *end; (end = ha_blank_end(at)) != at;) at = end;
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
    if (is_this) ha_put_head(w);
    *found |= is_this;
    end = is_this ? body : ha_bracket_end(body);
    ha_put_ends_of_lines(w, at, end);
    return end;
}

/* What begins here goes into the text as it is. Returns where it goes on. */
HA_IN_ const char *ha_put_token(ha_kernel_writer *w, const char *at) {
    const char *blank = ha_blank_end(at), *end = blank != at ? blank : ha_token_end(at);
    ha_print(&w->to, "%.*s", (int)(end - at), at);
    if (ha_token_is(at, "HA_AT") && *ha_next_token(end) == '(')
        ha_print(&w->to, "_%d_", ha_commas(ha_next_token(end)));
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

HA_IN_ void ha_put_body(ha_kernel_writer *w) {
    const ha_kernel *k = w->kernel;
    if (k->file) {
        ha_put_file(w);
        return;
    }
    ha_put_head(w);
    ha_print(&w->to, "\n");
    ha_put_user_text(w, k->site, k->text);
}

/* ---- the entry --------------------------------------------------------------------------------- */

HA_IN_ void ha_put_entry_parameter(ha_kernel_writer *w, const ha_kernel_parameter_ *p) {
    static const char *const number[] = {"extent", "stride", "origin"};
    if (p->mode == HA_KERNEL_USES_) return;
    if (p->mode == HA_KERNEL_VALUE_) {
        ha_print(&w->to, ", const %s %s", p->type, p->name);
        return;
    }
    ha_print(&w->to,
             ", %sHA_GLOBAL_ char *%s_buffer_, const int64_t %s_byte_, const int64_t %s_size_",
             ha_is_written(p) ? "" : "const ", p->name, p->name, p->name);
    for (int n = 0; n < 3; n++)
        for (int d = 0; d < p->rank; d++)
            ha_print(&w->to, ", const int64_t %s_%s%d_", p->name, number[n], d);
}

/* The argument as the body sees it. */
HA_IN_ void ha_put_entry_variable(ha_kernel_writer *w, const ha_kernel_parameter_ *p) {
    const char *n = p->name;
    if (p->mode == HA_KERNEL_VALUE_ || p->mode == HA_KERNEL_USES_) return;
    ha_print(&w->to, "    ");
    if (p->rank) {
        ha_put_span_name(w, p);
        ha_print(&w->to, " %s;\n    %s.data = (", n, n);
        ha_put_pointer(w, p);
        ha_print(&w->to, ")(%s_buffer_ + %s_byte_)", n, n);
        for (int d = 0; d < p->rank; d++)
            ha_print(&w->to, " - %s_origin%d_ * %s_stride%d_", n, d, n, d);
        ha_print(&w->to, ";\n");
        for (int d = 0; d < p->rank; d++) {
            ha_print(&w->to, "    %s.extent[%d] = %s_extent%d_; %s.origin[%d] = %s_origin%d_;", n,
                     d, n, d, n, d, n, d);
            if (w->apart && d == p->rank - 1)
                ha_print(&w->to, " %s.stride[%d] = 1;\n", n, d);
            else
                ha_print(&w->to, " %s.stride[%d] = %s_stride%d_;\n", n, d, n, d);
        }
    } else {
        ha_put_pointer(w, p);
        ha_print(&w->to, "%s = (", n);
        ha_put_pointer(w, p);
        ha_print(&w->to, ")(%s_buffer_ + %s_byte_);\n", n, n);
    }
}

/* One lane for each work-item; those behind the last one have none. The last index is the first dimension. */
HA_IN_ void ha_put_entry(ha_kernel_writer *w) {
    const ha_kernel *k = w->kernel;
    ha_print(&w->to, "HA_ENTRY_ ha_entry_%s(", k->name);
    for (int d = 0; d < k->rank; d++)
        ha_print(&w->to, "%sconst int64_t ha_first%d_, const int64_t ha_last%d_", d ? ", " : "", d,
                 d);
    for (int i = 0; i < k->parameters; i++) ha_put_entry_parameter(w, &k->parameter[i]);
    ha_print(&w->to, ") {\n");
    for (int i = 0; i < k->parameters; i++) ha_put_entry_variable(w, &k->parameter[i]);
    for (int d = 0; d < k->rank; d++)
        ha_print(&w->to, "    const int64_t ha_lane%d_ = ha_first%d_ + HA_ITEM_(%d);\n", d, d,
                 k->rank - 1 - d);
    for (int d = 0; d < k->rank; d++)
        ha_print(&w->to, "%sha_lane%d_ < ha_last%d_", d ? " && " : "    if (", d, d);
    ha_print(&w->to, ") ha_body_%s(", k->name);
    for (int d = 0; d < k->rank; d++) ha_print(&w->to, "%sha_lane%d_", d ? ", " : "", d);
    for (int i = 0; i < k->parameters; i++) {
        if (k->parameter[i].mode == HA_KERNEL_USES_) continue;
        ha_print(&w->to, ", %s", k->parameter[i].name);
        if (k->parameter[i].mode != HA_KERNEL_VALUE_)
            ha_print(&w->to, ", %s_size_", k->parameter[i].name);
    }
    ha_print(&w->to, ");\n}\n");
}

/* Helper code, constants and tables, in the order of the parameters; each behind its site. */
HA_IN_ void ha_put_uses(ha_kernel_writer *w) {
    for (int i = 0; i < w->kernel->parameters; i++) {
        const ha_kernel_parameter_ *p = &w->kernel->parameter[i];
        char site[HA_SOURCE_NAME];
        if (p->mode != HA_KERNEL_USES_) continue;
        const size_t length = strcspn(p->type, "\n");
        snprintf(site, sizeof site, "%.*s", (int)length, p->type);
        ha_put_user_text(w, site, p->type + length + 1);
    }
}

HA_IN_ void ha_put_kernel(ha_kernel_writer *w) {
    ha_put_prelude(&w->to, w->language, w->kernel);
    ha_put_spans(w);
    ha_put_uses(w);
    ha_put_body(w);
    ha_put_entry(w);
}

/* The text, to be freed by HARRAY_FREE; NULL: there is no memory. */
HA_IN_ char *ha_kernel_text(const ha_kernel *k, ha_language language, int apart, int lines) {
    ha_kernel_writer w = {ha_text_into(NULL, 0), k, language, apart, lines};
    ha_put_kernel(&w);
    const size_t bytes = w.to.length + 1;
    char *text = (char *)HARRAY_MALLOC(bytes);
    if (!text) return NULL;
    w.to = ha_text_into(text, bytes);
    ha_put_kernel(&w);
    return text;
}

#endif
