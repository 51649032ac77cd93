/* Whether a kernel computes with double, which some devices cannot: by its types, by its literals (0.5 is one,
 * and 0.5f none) and by C's functions, which take and give it (sqrt, and not sqrtf). */
#ifndef HARRAY_IMPL_KERNELS_DOUBLES_H
#define HARRAY_IMPL_KERNELS_DOUBLES_H

#include "file_text.h"

/* What needs it, as text. */
typedef struct ha_double_need {
    char text[80];
} ha_double_need;

HA_IN_ int ha_need_double(ha_double_need *need, const char *what, int length) {
    snprintf(need->text, sizeof need->text, "%.*s", length, what);
    return 1;
}

/* Behind a number, which may have signs in its exponent. */
HA_IN_ const char *ha_number_end(const char *at) {
    while (ha_in_name(*at) || *at == '.' ||
           ((*at == '+' || *at == '-') && strchr("eEpP", at[-1]) != NULL))
        at++;
    return at;
}

HA_IN_ int ha_is_double_literal(const char *at, const char *end) {
    const int hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    int floating = 0;
    for (const char *c = at; c < end; c++)
        floating |= *c == '.' || (hex ? *c == 'p' || *c == 'P' : *c == 'e' || *c == 'E');
    return floating && end[-1] != 'f' && end[-1] != 'F';
}

HA_IN_ int ha_word_needs_double(const char *word, int length, const char *behind) {
    while (*behind == ' ') behind++;
    if (length == 6 && !strncmp(word, "double", 6)) return 1;
    if (memmem(word, (size_t)length, "c128", 4) || ha_is_double_constant(word, length)) return 1;
    for (size_t i = 0; i < sizeof ha_math / sizeof *ha_math && *behind == '('; i++)
        if ((int)strlen(ha_math[i].name) == length &&
            !strncmp(word, ha_math[i].name, (size_t)length))
            return 1;
    return 0;
}

/* In a file other kernels than this one do not count. */
HA_IN_ int ha_text_needs_double(const char *text, const char *kernel, ha_double_need *need) {
    const char *end;
    for (const char *at = ha_next_token(text); *at; at = ha_next_token(end)) {
        const ha_filed_kernel f = ha_filed_at(at);
        if (f.name) {
            end = ha_token_is(f.name, kernel) ? f.body : f.end;
            continue;
        }
        const int number = (*at >= '0' && *at <= '9') ||
                           (*at == '.' && at[1] >= '0' && at[1] <= '9');
        end = number ? ha_number_end(at) : ha_token_end(at);
        if (number ? ha_is_double_literal(at, end)
                   : ha_begins_name(*at) && ha_word_needs_double(at, (int)(end - at), end))
            return ha_need_double(need, at, (int)(end - at));
    }
    return 0;
}

HA_IN_ int ha_record_needs_double(const ha_record *r, ha_double_need *need) {
    for (int64_t f = 0; r && f < r->fields; f++)
        if (r->field[f].type == HA_DTYPE_double || r->field[f].type == HA_DTYPE_c128)
            return ha_need_double(need, r->field[f].path, (int)strlen(r->field[f].path));
    return 0;
}

/* Is it a double, an array of it, or of structs with it? */
HA_IN_ int ha_parameter_needs_double(const ha_kernel_parameter_ *p, ha_double_need *need) {
    const int of_view = p->rank && ha_is_array(p) &&
                        (!strncmp(p->type, "array_double_", 13) ||
                         !strncmp(p->type, "array_c128_", 11));
    if (ha_is_said(p))
        return p->mode == HA_KERNEL_USES_ && ha_text_needs_double(ha_used_text(p), "", need);
    if (of_view || ha_text_needs_double(p->type, "", need))
        return ha_need_double(need, p->name, (int)strlen(p->name));
    return ha_record_needs_double(p->record, need);
}

HA_IN_ int ha_kernel_needs_double(const ha_kernel_variant *v, ha_double_need *need) {
    ha_kernel_leaf leaf[HA_MOST_ARGUMENTS_];
    const int leaves = ha_kernel_leaves(v->kernel, leaf);
    for (int i = 0; i < leaves; i++)
        if (ha_parameter_needs_double(leaf[i].parameter, need)) return 1;
    for (int i = 0; i < v->records; i++)
        if (ha_record_needs_double(v->mapping[i]->record, need)) return 1;
    return ha_text_needs_double(v->kernel->text, v->kernel->name, need);
}

/* name: of the context. */
HA_IN_ ha_status ha_doubles_check(const ha_kernel_variant *v, const ha_backend *b, void *device,
                                  const char *name) {
    ha_double_need need;
    if (!HA_HAS_(b, ha_backend, has_double) || b->has_double(device) ||
        !ha_kernel_needs_double(v, &need))
        return HA_OK;
    return ha_fail(HA_ERR_UNSUPPORTED, v->kernel->name,
                   "%s: %s: %s does not compute with double, which %s needs",
                   ha_kernel_site(v->kernel), v->kernel->name, name, need.text);
}

#endif
