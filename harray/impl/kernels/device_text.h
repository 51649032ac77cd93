/* What a kernel's text for a device's compiler is made of. Both languages get the same shape:
 *
 *     words of the language; numbers that C lacks; the spans of views
 *     void ha_body_name(index…, argument…)                                   the user's text
 *     entry void ha_entry_name(first, last…, argument…) { …; if (index < last) ha_body_name(…); }
 *
 * An array comes as a pointer to a buffer, where in it the first element is, and its size; a view also as
 * extents, strides and lowest indices. So no struct holds a pointer, which OpenCL C refuses. */
#ifndef HARRAY_IMPL_KERNELS_DEVICE_TEXT_H
#define HARRAY_IMPL_KERNELS_DEVICE_TEXT_H

#include "../control/all.h"
#include "../../kernel.h"
#include "prelude.h"

typedef struct ha_kernel_writer {
    ha_text to;
    const ha_kernel *kernel;
    ha_language language;
    int apart; /* no two arguments overlap, and last strides are 1 */
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
    return p->mode == HA_KERNEL_INOUT_ || p->mode == HA_KERNEL_OUT_ || p->mode == HA_KERNEL_RESULT_;
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

/* Behind a literal, a comment or a name that begins at `at`; behind one other character. */
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

/* What is a macro of any number of arguments here, and what it is given beside indices. */
HA_IN_ int ha_is_counted_word(const char *word, size_t length, int *others) {
    static const struct {
        const char *word;
        int others;
    } words[] = {{"HA_AT", 1}, {"HA_MINE", 1}, {"HA_LANES", 0}, {"HA_LANES_ALONE", 0}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == length && !strncmp(words[i].word, word, length)) {
            *others = words[i].others;
            return 1;
        }
    return 0;
}

/* Compilers of devices need not know macros of any number of arguments: HA_AT(s, i, j) becomes
 * HA_AT_2_(s, i, j). */
HA_IN_ void ha_put_code_of_user(ha_kernel_writer *w, const char *text) {
    const char *end;
    int others;
    for (const char *at = text; *at; at = end) {
        end = ha_token_end(at);
        ha_print(&w->to, "%.*s", (int)(end - at), at);
        const char *behind = end;
        while (*behind == ' ') behind++;
        if (*behind == '(' && ha_is_counted_word(at, (size_t)(end - at), &others))
            ha_print(&w->to, "_%d_", ha_commas(behind) + 1 - others);
    }
}

/* The number and the file of a site "file:number". */
HA_IN_ void ha_put_line(ha_kernel_writer *w) {
    const char *colon = strrchr(w->kernel->site, ':');
    ha_print(&w->to, "#line %s \"", colon + 1);
    for (const char *c = w->kernel->site; c < colon; c++)
        ha_print(&w->to, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    ha_print(&w->to, "\"\n");
}

/* The d-th name of "i" or "(j, i)". */
HA_IN_ void ha_put_index(ha_kernel_writer *w, int d) {
    const char *at = w->kernel->indices;
    for (; !ha_begins_name(*at) || d-- > 0; at = ha_token_end(at)) {}
    ha_print(&w->to, "%.*s", (int)(ha_token_end(at) - at), at);
}

/* Does the body know the parameter? */
HA_IN_ int ha_is_seen(const ha_kernel_parameter_ *p) {
    return p->mode != HA_KERNEL_USES_ && p->mode != HA_KERNEL_RESULT_;
}

/* The body as a function that gives so much. */
HA_IN_ void ha_put_body(ha_kernel_writer *w, const char *given) {
    const ha_kernel *k = w->kernel;
    ha_print(&w->to, "HA_BODY_ %s ha_body_%s(", given, k->name);
    for (int d = 0; d < k->rank; d++) {
        ha_print(&w->to, "%sconst ptrdiff_t ", d ? ", " : "");
        ha_put_index(w, d);
    }
    for (int i = 0; i < k->parameters; i++) {
        const ha_kernel_parameter_ *p = &k->parameter[i];
        if (!ha_is_seen(p)) continue;
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
    ha_print(&w->to, ")\n");
    ha_put_line(w);
    ha_put_code_of_user(w, k->text);
    ha_print(&w->to, "\n");
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
    if (p->mode == HA_KERNEL_VALUE_ || !ha_is_seen(p)) return;
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
        ha_print(&w->to, "%s%s = (", w->apart ? "HA_RESTRICT_ " : "", n);
        ha_put_pointer(w, p);
        ha_print(&w->to, ")(%s_buffer_ + %s_byte_);\n", n, n);
    }
}

/* All up to what runs: the parameters, and the arguments as the body sees them. */
HA_IN_ void ha_put_entry_head(ha_kernel_writer *w) {
    const ha_kernel *k = w->kernel;
    ha_print(&w->to, "HA_ENTRY_ ha_entry_%s(", k->name);
    for (int d = 0; d < k->rank; d++)
        ha_print(&w->to, "%sconst int64_t ha_first%d_, const int64_t ha_last%d_", d ? ", " : "", d,
                 d);
    for (int i = 0; i < k->parameters; i++) ha_put_entry_parameter(w, &k->parameter[i]);
}

HA_IN_ void ha_put_entry_variables(ha_kernel_writer *w) {
    ha_print(&w->to, ") {\n");
    for (int i = 0; i < w->kernel->parameters; i++)
        ha_put_entry_variable(w, &w->kernel->parameter[i]);
}

/* What the body is given behind its indices. */
HA_IN_ void ha_put_entry_arguments(ha_kernel_writer *w) {
    for (int i = 0; i < w->kernel->parameters; i++) {
        const ha_kernel_parameter_ *p = &w->kernel->parameter[i];
        if (!ha_is_seen(p)) continue;
        ha_print(&w->to, ", %s", p->name);
        if (p->mode != HA_KERNEL_VALUE_) ha_print(&w->to, ", %s_size_", p->name);
    }
}

/* One lane for each work-item; those behind the last one have none. The last index is the first dimension. */
HA_IN_ void ha_put_entry(ha_kernel_writer *w) {
    const ha_kernel *k = w->kernel;
    ha_put_entry_head(w);
    ha_put_entry_variables(w);
    for (int d = 0; d < k->rank; d++)
        ha_print(&w->to, "    const int64_t ha_lane%d_ = ha_first%d_ + HA_ITEM_(%d);\n", d, d,
                 k->rank - 1 - d);
    for (int d = 0; d < k->rank; d++)
        ha_print(&w->to, "%sha_lane%d_ < ha_last%d_", d ? " && " : "    if (", d, d);
    ha_print(&w->to, ") ha_body_%s(", k->name);
    for (int d = 0; d < k->rank; d++) ha_print(&w->to, "%sha_lane%d_", d ? ", " : "", d);
    ha_put_entry_arguments(w);
    ha_print(&w->to, ");\n}\n");
}

/* Helper code, constants and tables, in the order of the parameters. */
HA_IN_ void ha_put_uses(ha_kernel_writer *w) {
    for (int i = 0; i < w->kernel->parameters; i++) {
        if (w->kernel->parameter[i].mode != HA_KERNEL_USES_) continue;
        ha_put_code_of_user(w, w->kernel->parameter[i].type);
        ha_print(&w->to, "\n");
    }
}

#endif
