/* What a kernel's text for a device's compiler is made of. Both languages get the same shape:
 *
 *     words of the language; numbers that C lacks; the spans of views
 *     void ha_body_name(index…, argument…)                                   the user's text, or a file of his
 *     entry void ha_entry_name(first, last…, argument…) { …; if (index < last) ha_body_name(…); }
 *
 * An array comes as a pointer to a buffer, where in it the first element is, and its size; a view also as
 * extents, strides and lowest indices; members of bundles as arguments of their own. So no struct that is given
 * holds a pointer, which OpenCL C refuses. The entry's parameters are called by their numbers: ha_3_size. Records
 * come as their extents, and a pointer for each blob: view_text.h. */
#ifndef HARRAY_IMPL_KERNELS_DEVICE_TEXT_H
#define HARRAY_IMPL_KERNELS_DEVICE_TEXT_H

#include "lines.h"
#include "prelude.h"
#include "view_text.h"

typedef struct ha_kernel_writer {
    ha_text to;
    const ha_kernel_variant *variant;
    const ha_kernel *kernel;
    ha_language language;
    int lines; /* with the user's lines, for what the compiler has to say; a text that is only to be
                  compiled is the same wherever it stands */
    int arguments;
    ha_kernel_leaf argument[HA_MOST_ARGUMENTS_];
} ha_kernel_writer;

/* ---- types ------------------------------------------------------------------------------------- */

/* What stands for a C type in both languages. C has bool as a macro for another name. */
HA_IN_ const char *ha_body_type(const char *type) { return strcmp(type, "_Bool") ? type : "bool"; }

/* The same as what is given: of types whose sizes are the device's own, others of the same sizes as here. */
HA_IN_ const char *ha_entry_type(const char *type) {
    static const char *const others[][2] = {{"_Bool", "HA_BOOL_"},    {"bool", "HA_BOOL_"},
                                            {"size_t", "uint64_t"},   {"uintptr_t", "uint64_t"},
                                            {"ptrdiff_t", "int64_t"}, {"intptr_t", "int64_t"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(type, others[i][0])) return others[i][1];
    return type;
}

/* The element type of a parameter's: of array_T_D or T. What harray calls half is ha_half in C. */
HA_IN_ void ha_put_element(ha_kernel_writer *w, const ha_kernel_parameter_ *p) {
    static const char *const ours[] = {"half", "bfloat16", "c64", "c128"};
    const char *type = p->rank ? p->type + strlen("array_") : ha_body_type(p->type);
    int length = (int)(p->rank ? strrchr(p->type, '_') - type : (ptrdiff_t)strlen(type));
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if ((int)strlen(ours[i]) == length && !strncmp(ours[i], type, (size_t)length))
            ha_print(&w->to, "ha_");
    ha_print(&w->to, "%.*s", length, type);
}

/* In which memory, and to be read only? */
HA_IN_ const char *ha_space_of(const ha_kernel_parameter_ *p) {
    if (p->mode == HA_KERNEL_CONSTANT_) return "const HA_CONSTANT_ ";
    return ha_is_written(p) ? "HA_GLOBAL_ " : "const HA_GLOBAL_ ";
}

HA_IN_ void ha_put_pointer(ha_kernel_writer *w, const ha_kernel_parameter_ *p) {
    ha_print(&w->to, "%s", ha_space_of(p));
    ha_put_element(w, p);
    ha_print(&w->to, " *");
}

/* As the body sees it: cspan_float_2 of array_float_2. */
HA_IN_ void ha_put_span_name(ha_kernel_writer *w, const ha_kernel_parameter_ *p) {
    ha_print(&w->to, "%sspan_%s", ha_is_written(p) ? "" : "c", p->type + strlen("array_"));
}

/* An array as the body sees it. */
HA_IN_ void ha_put_seen(ha_kernel_writer *w, const ha_kernel_parameter_ *p) {
    if (p->rank)
        ha_put_span_name(w, p);
    else
        ha_put_pointer(w, p);
}

/* The first of several arguments with one type. */
HA_IN_ int ha_is_first_of_type(const ha_kernel_writer *w, int i) {
    const ha_kernel_parameter_ *p = w->argument[i].parameter;
    for (int j = 0; j < i; j++) {
        const ha_kernel_parameter_ *q = w->argument[j].parameter;
        if (ha_is_array(q) && !strcmp(p->type, q->type) && ha_is_written(p) == ha_is_written(q))
            return 0;
    }
    return 1;
}

HA_IN_ void ha_put_spans(ha_kernel_writer *w) {
    for (int i = 0; i < w->arguments; i++) {
        const ha_kernel_parameter_ *p = w->argument[i].parameter;
        if (!ha_is_array(p) || !p->rank || !ha_is_first_of_type(w, i)) continue;
        ha_print(&w->to, "typedef struct { ");
        ha_put_pointer(w, p);
        ha_print(&w->to, "data; int64_t extent[%d], stride[%d], origin[%d]; } ", p->rank, p->rank,
                 p->rank);
        ha_put_span_name(w, p);
        ha_print(&w->to, ";\n");
    }
}

HA_IN_ void ha_put_bundle(ha_kernel_writer *w, const ha_kernel_parameter_ *bundle) {
    ha_print(&w->to, "typedef struct {\n");
    for (int m = 0; m < bundle->rank; m++) {
        const ha_kernel_parameter_ *p = &bundle->member[m];
        ha_print(&w->to, "    ");
        if (!ha_is_array(p)) {
            ha_print(&w->to, "%s %s;\n", ha_body_type(p->type), p->name);
            continue;
        }
        ha_put_seen(w, p);
        ha_print(&w->to, " %s; int64_t %s_size_;\n", p->name, p->name);
    }
    ha_print(&w->to, "} ha_seen_%s;\n", bundle->type);
}

/* Each type of them once. */
HA_IN_ void ha_put_bundles(ha_kernel_writer *w) {
    const ha_kernel *k = w->kernel;
    for (int i = 0; i < k->parameters; i++) {
        int known = k->parameter[i].mode != HA_KERNEL_BUNDLE_;
        for (int j = 0; j < i && !known; j++)
            known = k->parameter[i].member == k->parameter[j].member;
        if (!known) ha_put_bundle(w, &k->parameter[i]);
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

HA_IN_ const char *ha_next_token(const char *at) {
    for (const char *end; (end = ha_blank_end(at)) != at;) at = end;
    return at;
}

/* What begins here goes into the text, and the answer is where it goes on. Compilers of devices need not know macros
 * of any number of arguments: HA_AT(s, i, j) becomes HA_AT_2_(s, i, j). */
HA_IN_ const char *ha_put_token(ha_kernel_writer *w, const char *at) {
    const char *blank = ha_blank_end(at), *end = blank != at ? blank : ha_token_end(at);
    int others;
    ha_print(&w->to, "%.*s", (int)(end - at), at);
    if (!ha_is_counted_word(at, (size_t)(end - at), &others)) return end;
    const char *behind = ha_next_token(end);
    if (*behind == '(') ha_print(&w->to, "_%d_", ha_commas(behind) + 1 - others);
    return end;
}

HA_IN_ void ha_put_code_of_user(ha_kernel_writer *w, const char *text) {
    while (*text) text = ha_put_token(w, text);
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

/* Does the body know the parameter? */
HA_IN_ int ha_is_seen(const ha_kernel_parameter_ *p) {
    return !ha_is_said(p) && p->mode != HA_KERNEL_RESULT_;
}

HA_IN_ void ha_put_body_parameter(ha_kernel_writer *w, const ha_kernel_parameter_ *p) {
    if (!ha_is_seen(p)) return;
    ha_print(&w->to, ", ");
    if (p->mode == HA_KERNEL_BUNDLE_)
        ha_print(&w->to, "const ha_seen_%s %s", p->type, p->name);
    else if (p->mode == HA_KERNEL_RECORDS_)
        ha_print(&w->to, "const %s %s", p->records->view, p->name);
    else if (!ha_is_array(p))
        ha_print(&w->to, "const %s %s", ha_body_type(p->type), p->name);
    else {
        if (p->rank) ha_print(&w->to, "const ");
        ha_put_seen(w, p);
        ha_print(&w->to, " %s%s, const int64_t %s_size_",
                 !p->rank && (w->variant->apart || p->mode == HA_KERNEL_CONSTANT_) ? "HA_RESTRICT_ "
                                                                                   : "",
                 p->name, p->name);
    }
}

/* The body's function, which gives so much, up to its body. */
HA_IN_ void ha_put_head(ha_kernel_writer *w, const char *given) {
    const ha_kernel *k = w->kernel;
    ha_print(&w->to, "HA_BODY_ %s ha_body_%s(", given, k->name);
    if (k->each) ha_print(&w->to, "const ha_cursor ");
    for (int d = 0; d < (k->each ? 1 : k->rank); d++) {
        if (!k->each) ha_print(&w->to, "%sconst ptrdiff_t ", d ? ", " : "");
        ha_put_index(w, d);
    }
    for (int i = 0; i < k->parameters; i++) ha_put_body_parameter(w, &k->parameter[i]);
    ha_print(&w->to, ")");
}

HA_IN_ void ha_put_body(ha_kernel_writer *w, const char *given) {
    const ha_kernel *k = w->kernel;
    ha_put_head(w, given);
    ha_print(&w->to, "\n");
    ha_put_user_text(w, k->site, k->text);
}

/* ---- the entry --------------------------------------------------------------------------------- */

/* The mapping of an argument. */
HA_IN_ int ha_records_before(const ha_kernel_writer *w, int i) {
    int n = 0;
    for (int j = 0; j < i; j++) n += w->argument[j].parameter->mode == HA_KERNEL_RECORDS_;
    return n;
}

HA_IN_ void ha_put_entry_records(ha_kernel_writer *w, int i) {
    const ha_mapping *m = w->variant->mapping[ha_records_before(w, i)];
    for (int d = 0; d < m->rank; d++) ha_print(&w->to, ", const int64_t ha_%d_extent%d", i, d);
    for (int b = 0; b < m->blobs; b++)
        ha_print(&w->to, ", HA_GLOBAL_ unsigned char *ha_%d_buffer%d, const int64_t ha_%d_byte%d",
                 i, b, i, b);
}

/* The view of them. */
HA_IN_ void ha_put_entry_view(ha_kernel_writer *w, int i) {
    const ha_kernel_parameter_ *p = w->argument[i].parameter;
    const int use = ha_records_before(w, i);
    const ha_mapping *m = w->variant->mapping[use];
    const ha_view_writer v = ha_view_writer_of(&w->to, w->variant);
    ha_print(&w->to, "%s %s; %s.layout = %d; %s.count = 1", p->records->view, p->name, p->name,
             ha_mapping_of_use(&v, use), p->name);
    for (int d = 0; d < m->rank; d++) ha_print(&w->to, " * ha_%d_extent%d", i, d);
    ha_print(&w->to, ";\n   ");
    for (int d = 0; d < 4; d++) {
        ha_print(&w->to, " %s.extent[%d] = ", p->name, d);
        ha_print(&w->to, d < m->rank ? "ha_%d_extent%d;" : "1;", i, d);
    }
    ha_print(&w->to, "\n");
    for (int b = 0; b < m->blobs; b++)
        ha_print(&w->to, "    %s.blob[%d] = ha_%d_buffer%d + ha_%d_byte%d;\n", p->name, b, i, b, i,
                 b);
}

HA_IN_ void ha_put_entry_parameter(ha_kernel_writer *w, int i) {
    static const char *const number[] = {"extent", "stride", "origin"};
    const ha_kernel_parameter_ *p = w->argument[i].parameter;
    if (p->mode == HA_KERNEL_VALUE_)
        ha_print(&w->to, ", const %s ha_%d", ha_entry_type(p->type), i);
    if (p->mode == HA_KERNEL_RECORDS_) ha_put_entry_records(w, i);
    if (!ha_is_array(p)) return;
    ha_print(&w->to, ", %schar *%sha_%d_buffer, const int64_t ha_%d_byte, const int64_t ha_%d_size",
             ha_space_of(p), p->mode == HA_KERNEL_CONSTANT_ ? "HA_RESTRICT_ " : "", i, i, i);
    for (int n = 0; n < 3; n++)
        for (int d = 0; d < p->rank; d++)
            ha_print(&w->to, ", const int64_t ha_%d_%s%d", i, number[n], d);
}

/* Of a view: the rest of its span. */
HA_IN_ void ha_put_entry_span(ha_kernel_writer *w, int i, const char *of) {
    const ha_kernel_parameter_ *p = w->argument[i].parameter;
    for (int d = 0; d < p->rank; d++)
        ha_print(&w->to, " - ha_%d_origin%d * ha_%d_stride%d", i, d, i, d);
    ha_print(&w->to, ";\n");
    for (int d = 0; d < p->rank; d++) {
        ha_print(&w->to, "    %s%s.extent[%d] = ha_%d_extent%d; %s%s.origin[%d] = ha_%d_origin%d;",
                 of, p->name, d, i, d, of, p->name, d, i, d);
        if (w->variant->apart && d == p->rank - 1)
            ha_print(&w->to, " %s%s.stride[%d] = 1;\n", of, p->name, d);
        else
            ha_print(&w->to, " %s%s.stride[%d] = ha_%d_stride%d;\n", of, p->name, d, i, d);
    }
}

/* An argument as the body sees it: a variable, or a member of one. */
HA_IN_ void ha_put_entry_variable(ha_kernel_writer *w, int i) {
    const ha_kernel_parameter_ *p = w->argument[i].parameter, *bundle = w->argument[i].bundle;
    char of[300] = "";
    if (!ha_is_seen(p)) return;
    if (bundle) snprintf(of, sizeof of, "%s.", bundle->name);
    if (bundle && bundle->member == p)
        ha_print(&w->to, "    ha_seen_%s %s;\n", bundle->type, bundle->name);
    ha_print(&w->to, "    ");
    if (p->mode == HA_KERNEL_RECORDS_) {
        ha_put_entry_view(w, i);
        return;
    }
    if (!ha_is_array(p)) {
        ha_print(&w->to, bundle ? "%s%s = ha_%d;\n" : "const %s %s = ha_%d;\n",
                 bundle ? of : ha_body_type(p->type), p->name, i);
        return;
    }
    if (!bundle) {
        ha_put_seen(w, p);
        ha_print(&w->to, p->rank ? " %s; " : w->variant->apart ? " HA_RESTRICT_ " : " ", p->name);
    }
    ha_print(&w->to, "%s%s%s = (", of, p->name, p->rank ? ".data" : "");
    ha_put_pointer(w, p);
    ha_print(&w->to, ")(ha_%d_buffer + ha_%d_byte)", i, i);
    if (p->rank)
        ha_put_entry_span(w, i, of);
    else
        ha_print(&w->to, ";\n");
    ha_print(&w->to,
             bundle ? "    %s%s_size_ = ha_%d_size;\n"
                    : "    const int64_t %s%s_size_ = ha_%d_size;\n",
             of, p->name, i);
}

/* All up to what runs: the parameters, and the arguments as the body sees them. */
HA_IN_ void ha_put_entry_head(ha_kernel_writer *w) {
    const ha_kernel *k = w->kernel;
    ha_print(&w->to, "HA_ENTRY_ ha_entry_%s(", k->name);
    for (int d = 0; d < k->rank; d++)
        ha_print(&w->to, "%sconst int64_t ha_first%d_, const int64_t ha_last%d_", d ? ", " : "", d,
                 d);
    for (int i = 0; i < w->arguments; i++) ha_put_entry_parameter(w, i);
}

HA_IN_ void ha_put_entry_variables(ha_kernel_writer *w) {
    ha_print(&w->to, ") {\n");
    for (int i = 0; i < w->arguments; i++) ha_put_entry_variable(w, i);
}

/* What the body is given behind its indices. */
HA_IN_ void ha_put_entry_arguments(ha_kernel_writer *w) {
    for (int i = 0; i < w->kernel->parameters; i++) {
        const ha_kernel_parameter_ *p = &w->kernel->parameter[i];
        if (!ha_is_seen(p)) continue;
        ha_print(&w->to, ", %s", p->name);
        if (ha_is_array(p)) ha_print(&w->to, ", %s_size_", p->name);
    }
}

/* Runs the body for the lane of this work-item. */
HA_IN_ void ha_put_entry_call(ha_kernel_writer *w) {
    const ha_kernel *k = w->kernel;
    ha_print(&w->to, "ha_body_%s(", k->name);
    if (k->each)
        ha_print(&w->to, "%s_at(%s, ", k->parameter[0].records->view, k->parameter[0].name);
    for (int d = 0; d < k->rank; d++) ha_print(&w->to, "%sha_lane%d_", d ? ", " : "", d);
    if (k->each) ha_print(&w->to, ")");
    ha_put_entry_arguments(w);
    ha_print(&w->to, ");\n");
}

/* One lane for each work-item; those behind the last one have none. The last index is the first dimension. Compilers
 * of OpenCL for CPUs make vectors of a team's lanes only where all of them have something to do, so teams that have
 * none behind the last are told from the others; on GPUs that changes nothing. They are told by one condition (& and
 * not &&), and bodies are inlined always: else PoCL's compiler makes one loop of both kinds of teams. */
HA_IN_ void ha_put_entry(ha_kernel_writer *w) {
    const ha_kernel *k = w->kernel;
    ha_put_entry_head(w);
    ha_put_entry_variables(w);
    for (int d = 0; d < k->rank; d++)
        ha_print(&w->to, "    const int64_t ha_lane%d_ = ha_first%d_ + HA_ITEM_(%d);\n", d, d,
                 k->rank - 1 - d);
    if (w->language == HA_LANGUAGE_OPENCL_C) {
        for (int d = 0; d < k->rank; d++)
            ha_print(&w->to, "%s(HA_TEAM_END_(%d) <= ha_last%d_ - ha_first%d_)",
                     d ? " & " : "    if (", k->rank - 1 - d, d, d);
        ha_print(&w->to, ") ");
        ha_put_entry_call(w);
        ha_print(&w->to, "    else\n");
    }
    for (int d = 0; d < k->rank; d++)
        ha_print(&w->to, "%sha_lane%d_ < ha_last%d_", d ? " && " : "    if (", d, d);
    ha_print(&w->to, ") ");
    ha_put_entry_call(w);
    ha_print(&w->to, "}\n");
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

/* Structs of HA_RECORD: of what is used by its type, and of views that know theirs. Each once. */
HA_IN_ void ha_put_records(ha_kernel_writer *w) {
    const ha_record *known[HA_MOST_ARGUMENTS_];
    int n = 0, records = 0;
    for (int i = 0; i < w->arguments; i++) {
        const ha_kernel_parameter_ *p = w->argument[i].parameter;
        const ha_record *r = p->record;
        if (p->mode == HA_KERNEL_RECORDS_ && p->records->record)
            r = w->variant->mapping[records]->record;
        records += p->mode == HA_KERNEL_RECORDS_;
        int is_known = !r || !r->name;
        for (int j = 0; j < n && !is_known; j++) is_known = !strcmp(r->name, known[j]->name);
        if (is_known) continue;
        known[n++] = r;
        ha_put_record(&w->to, r);
    }
}

#endif
