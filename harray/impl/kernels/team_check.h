/* Whether the body of a team kernel keeps the rules that no compiler knows (team.h): what would mean one thing as
 * loops on the host and another one on a device is refused everywhere, before the first launch. And how much local
 * memory it declares. */
#ifndef HARRAY_IMPL_KERNELS_TEAM_CHECK_H
#define HARRAY_IMPL_KERNELS_TEAM_CHECK_H

#include "reduction_text.h"

enum { HA_TEAM_CONSTANTS = 8 }; /* within each other, before their numbers count as not known */

typedef struct ha_team_reader {
    const ha_kernel *kernel;
    const char *at, *end, *token;
    size_t length;     /* of the token; 0: the text has ended, or it is at `end` */
    int in_lanes;      /* within HA_LANES */
    int loops;         /* there, how many loops and switches are around */
    const char *wrong; /* the first rule that is broken; NULL: none */
    size_t local_bytes;
    int local_is_known; /* of all types and numbers */
    int constants;      /* around what is read: each stands for more text */
} ha_team_reader;

/* ---- tokens -------------------------------------------------------------------------------------- */

HA_IN_ void ha_team_next(ha_team_reader *r) {
    const char *next = r->at;
    do {
        r->at = next;
        next = *r->at == '#' ? ha_directive_end(r->at) : ha_blank_end(r->at);
    } while (next != r->at && r->at != r->end);
    r->token = r->at;
    r->at = *r->at && r->at != r->end ? ha_token_end(r->at) : r->at;
    r->length = (size_t)(r->at - r->token);
}

/* In front of its body; of one that its file lacks there is nothing to read. */
HA_IN_ ha_team_reader ha_team_begin(const ha_kernel *k) {
    ha_team_reader r = {.kernel = k};
    ha_kernel_body(k, &r.at, &r.end);
    return r;
}

HA_IN_ int ha_team_is(const ha_team_reader *r, const char *word) {
    return strlen(word) == r->length && !strncmp(r->token, word, r->length);
}

HA_IN_ int ha_team_is_one_of(const ha_team_reader *r, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (ha_team_is(r, words[i])) return 1;
    return 0;
}

HA_IN_ void ha_team_wrong(ha_team_reader *r, const char *what) {
    if (!r->wrong) r->wrong = what;
}

/* Words that have their place. */
HA_IN_ void ha_team_check_word(ha_team_reader *r) {
    static const char *const barriers[] = {"HA_BARRIER", "HA_BARRIER_LOCAL"};
    if (r->in_lanes && ha_team_is_one_of(r, barriers, 2))
        ha_team_wrong(r, "a barrier within HA_LANES");
    if (!r->in_lanes && ha_team_is(r, "HA_MINE"))
        ha_team_wrong(r, "HA_MINE outside of HA_LANES: it is a lane's own");
    if (!r->in_lanes && ha_team_is(r, "HA_SHARE"))
        ha_team_wrong(r, "HA_SHARE outside of HA_LANES: indices are shared among lanes");
}

/* Behind brackets that begin with the token. */
HA_IN_ void ha_team_skip_brackets(ha_team_reader *r) {
    int depth = 0;
    do {
        if (ha_team_is(r, "(") || ha_team_is(r, "[") || ha_team_is(r, "{")) depth++;
        if (ha_team_is(r, ")") || ha_team_is(r, "]") || ha_team_is(r, "}")) depth--;
        ha_team_check_word(r);
        ha_team_next(r);
    } while (depth > 0 && r->length);
}

/* Behind the next of one character, or where the block ends. */
HA_IN_ void ha_team_skip_to(ha_team_reader *r, const char *end) {
    while (r->length && !ha_team_is(r, end) && !ha_team_is(r, "}")) {
        if (ha_team_is(r, "(") || ha_team_is(r, "[") || ha_team_is(r, "{"))
            ha_team_skip_brackets(r);
        else {
            ha_team_check_word(r);
            ha_team_next(r);
        }
    }
    if (ha_team_is(r, end)) ha_team_next(r);
}

/* ---- local memory -------------------------------------------------------------------------------- */

/* What constants a kernel uses: of HA_DEVICE_CONST, as text. NULL: none of that name. */
HA_IN_ const char *ha_team_constant(const ha_kernel *k, const char *name, size_t length) {
    static const char define[] = "\n#define ";
    for (int i = 0; i < k->parameters; i++) {
        const char *text = ha_used_text(&k->parameter[i]);
        if (k->parameter[i].mode != HA_KERNEL_USES_ || strncmp(text, define, sizeof define - 1))
            continue;
        text += sizeof define - 1;
        if (!strncmp(text, name, length) && text[length] == ' ') return text + length;
    }
    return NULL;
}

HA_IN_ int64_t ha_team_sum(ha_team_reader *r);

/* -1: not known. */
HA_IN_ int64_t ha_team_number(ha_team_reader *r) {
    static const char *const names[] = {"HA_TEAM_X", "HA_TEAM_Y", "HA_TEAM_Z"};
    const int *lanes = r->kernel->team->lanes;
    int64_t value = -1;
    if (ha_team_is(r, "(")) {
        ha_team_next(r);
        value = ha_team_sum(r);
    } else if (*r->token >= '0' && *r->token <= '9') {
        char *end;
        value = (int64_t)strtoll(r->token, &end, 0);
        while (*end == 'u' || *end == 'U' || *end == 'l' || *end == 'L') end++;
        r->at = end;
    } else if (ha_team_is(r, "HA_TEAM"))
        value = (int64_t)lanes[0] * lanes[1] * lanes[2];
    else if (ha_begins_name(*r->token)) {
        const char *text = ha_team_constant(r->kernel, r->token, r->length);
        for (int d = 0; d < 3; d++)
            if (ha_team_is(r, names[d])) value = lanes[d];
        if (text && r->constants < HA_TEAM_CONSTANTS) {
            ha_team_reader constant = {
                .kernel = r->kernel, .at = text, .constants = r->constants + 1};
            ha_team_next(&constant);
            value = ha_team_sum(&constant);
            if (constant.length) value = -1;
        }
    }
    ha_team_next(r);
    return value;
}

/* Values of products and sums; -1: not known, or too large. */
HA_IN_ int64_t ha_team_product(ha_team_reader *r) {
    int64_t a = ha_team_number(r);
    while (ha_team_is(r, "*") || ha_team_is(r, "/")) {
        const int divides = ha_team_is(r, "/");
        ha_team_next(r);
        const int64_t b = ha_team_number(r);
        if (a < 0 || b < (divides ? 1 : 0))
            a = -1;
        else if (divides)
            a /= b;
        else if (__builtin_mul_overflow(a, b, &a))
            a = -1;
    }
    return a;
}
HA_IN_ int64_t ha_team_sum(ha_team_reader *r) {
    int64_t a = ha_team_product(r);
    while (ha_team_is(r, "+") || ha_team_is(r, "-")) {
        const int less = ha_team_is(r, "-");
        ha_team_next(r);
        const int64_t b = ha_team_product(r);
        if (a < 0 || b < 0 || (less && b > a))
            a = -1;
        else if (less)
            a -= b;
        else if (__builtin_add_overflow(a, b, &a))
            a = -1;
    }
    return a;
}

/* 0: not known. */
HA_IN_ size_t ha_team_type_bytes(const ha_team_reader *r) {
    static const struct {
        const char *name;
        size_t bytes;
    } types[] = {{"char", 1},     {"int8_t", 1},   {"uint8_t", 1},     {"short", 2},
                 {"int16_t", 2},  {"uint16_t", 2}, {"int", 4},         {"unsigned", 4},
                 {"int32_t", 4},  {"uint32_t", 4}, {"long", 8},        {"int64_t", 8},
                 {"uint64_t", 8}, {"size_t", 8},   {"ptrdiff_t", 8},   {"float", 4},
                 {"double", 8},   {"ha_half", 2},  {"ha_bfloat16", 2}, {"ha_c64", 8},
                 {"ha_c128", 16}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (ha_team_is(r, types[i].name)) return types[i].bytes;
    return 0;
}

/* (T, name, n), the token being HA_LOCAL. */
HA_IN_ void ha_team_count_local(ha_team_reader *r) {
    ha_team_reader list = *r;
    size_t bytes;
    ha_team_next(&list);
    ha_team_next(&list);
    bytes = ha_team_type_bytes(&list);
    ha_team_next(&list);
    if (!ha_team_is(&list, ",")) bytes = 0; /* a type of several words */
    for (int i = 0; i < 3; i++) ha_team_next(&list);
    const int64_t n = ha_team_sum(&list);
    if (!bytes || n < 0 || !ha_team_is(&list, ")") ||
        __builtin_mul_overflow(bytes, (size_t)n, &bytes) ||
        __builtin_add_overflow(r->local_bytes, bytes, &r->local_bytes))
        r->local_is_known = 0;
}

/* ---- statements ---------------------------------------------------------------------------------- */

HA_IN_ void ha_team_statement(ha_team_reader *r, int depth);

HA_IN_ void ha_team_in_loop(ha_team_reader *r, int depth) {
    r->loops++;
    ha_team_statement(r, depth);
    r->loops--;
}

HA_IN_ void ha_team_lanes(ha_team_reader *r, int depth) {
    const int loops = r->loops;
    if (r->in_lanes) ha_team_wrong(r, "HA_LANES within HA_LANES");
    ha_team_next(r);
    ha_team_skip_brackets(r);
    const int outer = r->in_lanes;
    r->in_lanes = 1;
    r->loops = 0;
    ha_team_statement(r, depth);
    r->in_lanes = outer;
    r->loops = loops;
}

HA_IN_ void ha_team_block(ha_team_reader *r, int depth) {
    ha_team_next(r);
    while (r->length && !ha_team_is(r, "}")) ha_team_statement(r, depth);
    ha_team_next(r);
}

HA_IN_ void ha_team_if(ha_team_reader *r, int depth) {
    ha_team_next(r);
    ha_team_skip_brackets(r);
    ha_team_statement(r, depth);
    if (!ha_team_is(r, "else")) return;
    ha_team_next(r);
    ha_team_statement(r, depth);
}

/* Those that end with a semicolon. */
HA_IN_ void ha_team_simple(ha_team_reader *r, int depth) {
    static const char *const declared[] = {"HA_LOCAL", "HA_PRIVATE"};
    if (ha_team_is_one_of(r, declared, 2) && depth != 1)
        ha_team_wrong(r, "HA_LOCAL or HA_PRIVATE not at the top of the body");
    if (ha_team_is(r, "HA_LOCAL")) ha_team_count_local(r);
    if (ha_team_is(r, "return") && r->in_lanes) ha_team_wrong(r, "return within HA_LANES");
    if (ha_team_is(r, "break") && r->in_lanes && !r->loops)
        ha_team_wrong(r, "break out of HA_LANES");
    if (ha_team_is(r, "goto")) ha_team_wrong(r, "goto");
    ha_team_skip_to(r, ";");
}

/* One statement, the token being its first; depth: blocks around it. */
HA_IN_ void ha_team_statement(ha_team_reader *r, int depth) {
    static const char *const loops[] = {"for", "while", "switch", "HA_SHARE"};
    static const char *const lanes[] = {"HA_LANES", "HA_LANES_ALONE"};
    static const char *const labels[] = {"case", "default"};
    if (ha_team_is(r, "{"))
        ha_team_block(r, depth + 1);
    else if (ha_team_is_one_of(r, loops, 4)) {
        ha_team_check_word(r);
        ha_team_next(r);
        ha_team_skip_brackets(r);
        ha_team_in_loop(r, depth + 1);
    } else if (ha_team_is(r, "do")) {
        ha_team_next(r);
        ha_team_in_loop(r, depth + 1);
        ha_team_skip_to(r, ";");
    } else if (ha_team_is(r, "if"))
        ha_team_if(r, depth + 1);
    else if (ha_team_is_one_of(r, lanes, 2))
        ha_team_lanes(r, depth + 1);
    else if (ha_team_is_one_of(r, labels, 2))
        ha_team_skip_to(r, ":");
    else
        ha_team_simple(r, depth);
}

/* ---- the kernel ---------------------------------------------------------------------------------- */

HA_IN_ ha_team_reader ha_team_read(const ha_kernel *k) {
    ha_team_reader r = ha_team_begin(k);
    r.local_is_known = 1;
    ha_team_next(&r);
    if (r.length || !k->file) ha_team_statement(&r, 0);
    if (!r.wrong && r.length) r.wrong = "a body that is no block in braces";
    return r;
}

enum { HA_MOST_LOCAL = 1 << 20 }; /* bytes: on the host they are on the stack */

/* Once a kernel. */
HA_IN_ ha_status ha_team_check(const ha_kernel *k) {
    if (__atomic_load_n(k->team->checked, __ATOMIC_RELAXED)) return HA_OK;
    const ha_team_reader r = ha_team_read(k);
    if (r.wrong)
        return ha_fail(HA_ERR_COMPILE, k->name, "%s: HA_TEAM_KERNEL: %s", k->site, r.wrong);
    if (r.local_is_known && r.local_bytes > HA_MOST_LOCAL)
        return ha_fail(HA_ERR_ARGUMENT, k->name,
                       "%s: a team takes %zu bytes of local memory, and at most %d on any context",
                       k->site, r.local_bytes, HA_MOST_LOCAL);
    __atomic_store_n(k->team->checked, 1, __ATOMIC_RELAXED);
    return HA_OK;
}

HA_IN_ ha_status ha_team_lanes_fit(const ha_kernel *k, const char *context,
                                   const ha_kernel_limits *limits) {
    const int own[] = {k->reduction ? HA_REDUCTION_LANES : 1, 1, 1};
    const int *n = k->team ? k->team->lanes : own;
    const size_t lanes = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    if (lanes <= limits->lanes) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, k->name, "%s: a team has %zu lanes, and %s takes %zu", k->site,
                   lanes, context, limits->lanes);
}

/* Is the device large enough for a team? Asked before it compiles the kernel. */
HA_IN_ ha_status ha_team_fits(const ha_kernel *k, const char *context,
                              const ha_kernel_limits *limits) {
    if (!k->team) return ha_team_lanes_fit(k, context, limits);
    const ha_team_reader r = ha_team_read(k);
    if (!r.local_is_known || r.local_bytes <= limits->local_bytes)
        return ha_team_lanes_fit(k, context, limits);
    return ha_fail(HA_ERR_ARGUMENT, k->name,
                   "%s: a team takes %zu bytes of local memory, and %s has %zu", k->site,
                   r.local_bytes, context, limits->local_bytes);
}

#endif
