/* What stands in front of a team kernel's text: the words of its body, and the atomics that it mentions. */
#ifndef HARRAY_IMPL_KERNELS_TEAM_WORDS_H
#define HARRAY_IMPL_KERNELS_TEAM_WORDS_H

#include "prelude.h"
#include "../../team.h"

static const char ha_team_words_opencl[] =
    "#define HA_LANE_(d) ((int)get_local_id(d))\n"
    "#define HA_TEAM_NUMBER_(d) ((int64_t)get_group_id(d))\n"
    "#define HA_IN_LOCAL_ __local\n"
    "#define HA_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)\n"
    "#define HA_BARRIER_LOCAL() barrier(CLK_LOCAL_MEM_FENCE)\n"
    "#define HA_FENCE_LOCAL() mem_fence(CLK_LOCAL_MEM_FENCE)\n"
    "#define HA_FENCE_GLOBAL() mem_fence(CLK_GLOBAL_MEM_FENCE)\n";

static const char ha_team_words_cuda[] = "#define HA_LANE_0_ ((int)threadIdx.x)\n"
                                         "#define HA_LANE_1_ ((int)threadIdx.y)\n"
                                         "#define HA_LANE_2_ ((int)threadIdx.z)\n"
                                         "#define HA_LANE_(d) HA_LANE_##d##_\n"
                                         "#define HA_TEAM_NUMBER_0_ ((int64_t)blockIdx.x)\n"
                                         "#define HA_TEAM_NUMBER_1_ ((int64_t)blockIdx.y)\n"
                                         "#define HA_TEAM_NUMBER_2_ ((int64_t)blockIdx.z)\n"
                                         "#define HA_TEAM_NUMBER_(d) HA_TEAM_NUMBER_##d##_\n"
                                         "#define HA_IN_LOCAL_ __shared__\n"
                                         "#define HA_BARRIER() __syncthreads()\n"
                                         "#define HA_BARRIER_LOCAL() __syncthreads()\n"
                                         "#define HA_FENCE_LOCAL() __threadfence_block()\n"
                                         "#define HA_FENCE_GLOBAL() __threadfence()\n";

/* A phase is a loop that runs once, so that `continue` ends a lane's part of it, and with the barrier where
 * such a loop goes on. */
static const char ha_team_words_of_both[] =
    "#define HA_LOCAL(T, name, n) HA_IN_LOCAL_ T name[n]\n"
    "#define HA_PRIVATE(T, name) T name\n"
    "#define HA_MINE_1_(name, l) name\n"
    "#define HA_MINE_2_(name, m, l) name\n"
    "#define HA_MINE_3_(name, n, m, l) name\n"
    "#define HA_LANES_1_(l) for (int l = HA_LANE_(0), ha_on_ = 1; ha_on_; ha_on_ = 0, "
    "HA_BARRIER())\n"
    "#define HA_LANES_2_(m, l) for (int m = HA_LANE_(1), l = HA_LANE_(0), ha_on_ = 1; ha_on_; "
    "ha_on_ = 0, HA_BARRIER())\n"
    "#define HA_LANES_3_(n, m, l) for (int n = HA_LANE_(2), m = HA_LANE_(1), l = HA_LANE_(0), "
    "ha_on_ = 1; ha_on_; ha_on_ = 0, HA_BARRIER())\n"
    "#define HA_LANES_ALONE_1_(l) for (int l = HA_LANE_(0), ha_on_ = 1; ha_on_; ha_on_ = 0)\n"
    "#define HA_LANES_ALONE_2_(m, l) for (int m = HA_LANE_(1), l = HA_LANE_(0), ha_on_ = 1; "
    "ha_on_; "
    "ha_on_ = 0)\n"
    "#define HA_LANES_ALONE_3_(n, m, l) for (int n = HA_LANE_(2), m = HA_LANE_(1), "
    "l = HA_LANE_(0), ha_on_ = 1; ha_on_; ha_on_ = 0)\n"
    "#define HA_SHARE(i, l, first, last) for (ptrdiff_t i = (first) + (l), i##_end_ = (last); "
    "i < i##_end_; i += HA_TEAM)\n"
    "#define HA_LESS(a, b) ((a) < (b) ? (a) : (b))\n"
    "#define HA_GREATER(a, b) ((a) > (b) ? (a) : (b))\n";

/* ---- atomics ------------------------------------------------------------------------------------ */

/* name: behind ha_local_ or ha_global_. change: the new value from the old one and v. opencl: behind atomic_ and
 * atom_; is_base: of 64 bits in cl_khr_int64_base_atomics. cuda: NULL where it has none for all integers. */
typedef struct ha_atomic_word {
    const char *name, *change, *opencl, *cuda;
    int is_base, of_reals;
} ha_atomic_word;

static const ha_atomic_word ha_atomic_words[] = {
    {"add", "old + v", "add", "atomicAdd", 1, 1},
    {"sub", "old - v", "sub", NULL, 1, 1},
    {"min", "v < old ? v : old", "min", "atomicMin", 0, 1},
    {"max", "v > old ? v : old", "max", "atomicMax", 0, 1},
    {"and", "old & v", "and", "atomicAnd", 0, 0},
    {"or", "old | v", "or", "atomicOr", 0, 0},
    {"xor", "old ^ v", "xor", "atomicXor", 0, 0},
    {"exchange", "v", "xchg", "atomicExch", 1, 1},
};

/* A type, and what the language exchanges of its size; given: what v comes as. Overloads are chosen by the pointer
 * alone where v is of one type for all integers, and for all others. */
typedef struct ha_atomic_type {
    const char *name, *bits, *to_bits, *from_bits, *given;
    int is_real, is_long;
} ha_atomic_type;

static const ha_atomic_type ha_atomic_types_opencl[] = {
    {"int", "uint", "as_uint", "as_int", "long", 0, 0},
    {"uint", "uint", "", "", "long", 0, 0},
    {"long", "ulong", "as_ulong", "as_long", "long", 0, 1},
    {"ulong", "ulong", "", "", "long", 0, 1},
    {"float", "uint", "as_uint", "as_float", "HA_REAL_", 1, 0},
    {"double", "ulong", "as_ulong", "as_double", "HA_REAL_", 1, 1}};

static const ha_atomic_type ha_atomic_types_cuda[] = {
    {"int", "unsigned", "", "", "int", 0, 0},
    {"unsigned", "unsigned", "", "", "unsigned", 0, 0},
    {"long long", "unsigned long long", "", "", "long long", 0, 1},
    {"unsigned long long", "unsigned long long", "", "", "unsigned long long", 0, 1},
    {"float", "unsigned", "__float_as_uint", "__uint_as_float", "float", 1, 0},
    {"double", "unsigned long long", "__double_as_longlong", "__longlong_as_double", "double", 1,
     1}};

typedef struct ha_atomics_writer {
    ha_text *to;
    const ha_kernel *kernel;
    ha_language language;
    const char *memory; /* local, global */
} ha_atomics_writer;

HA_IN_ int ha_mentions_atomic(const ha_atomics_writer *w, const char *name) {
    char word[40];
    snprintf(word, sizeof word, "ha_%s_%s", w->memory, name);
    return ha_kernel_mentions(w->kernel, word);
}

/* The type of what the language's own functions are given. */
HA_IN_ void ha_put_atomic_pointer(const ha_atomics_writer *w, const char *type) {
    if (w->language == HA_LANGUAGE_OPENCL_C)
        ha_print(w->to, "volatile __%s %s *", w->memory, type);
    else
        ha_print(w->to, "%s *", type);
}

HA_IN_ void ha_put_atomic_head(const ha_atomics_writer *w, const char *returned, const char *name,
                               const ha_atomic_type *t) {
    ha_print(w->to, "HA_OVERLOADED_ %s ha_%s_%s(%s", returned, w->memory, name,
             w->language == HA_LANGUAGE_CUDA ? "volatile " : "");
    ha_put_atomic_pointer(w, t->name);
    ha_print(w->to, "p");
}

/* now: what is there; old: what is expected there. */
HA_IN_ void ha_put_exchange(const ha_atomics_writer *w, const ha_atomic_type *t, const char *old,
                            const char *changed) {
    const char *f = w->language == HA_LANGUAGE_CUDA ? "atomicCAS"
                    : t->is_long                    ? "atom_cmpxchg"
                                                    : "atomic_cmpxchg";
    ha_print(w->to, "%s((", f);
    ha_put_atomic_pointer(w, t->bits);
    ha_print(w->to, ")p, %s((%s)(%s)), %s((%s)(%s)))", t->to_bits, t->name, old, t->to_bits,
             t->name, changed);
}

/* Does the language have a function for it? */
HA_IN_ int ha_has_atomic(const ha_atomics_writer *w, const ha_atomic_type *t,
                         const ha_atomic_word *word) {
    if (w->language == HA_LANGUAGE_CUDA)
        return word->cuda && (!t->is_real || !strcmp(word->name, "add"));
    return !t->is_real && (!t->is_long || word->is_base);
}

/* CUDA's are of unsigned numbers alone where the sign makes no difference. */
HA_IN_ void ha_put_own_atomic(const ha_atomics_writer *w, const ha_atomic_type *t,
                              const ha_atomic_word *word) {
    const int is_ordered = !strcmp(word->name, "min") || !strcmp(word->name, "max");
    const char *type = t->is_long && !t->is_real && !is_ordered ? t->bits : t->name;
    if (w->language == HA_LANGUAGE_OPENCL_C)
        ha_print(w->to, "    return %s_%s(p, v);\n", t->is_long ? "atom" : "atomic", word->opencl);
    else
        ha_print(w->to, "    return (%s)%s((%s *)p, (%s)v);\n", t->name, word->cuda, type, type);
}

/* By comparing and exchanging until nothing has come between. */
HA_IN_ void ha_put_made_atomic(const ha_atomics_writer *w, const ha_atomic_type *t,
                               const ha_atomic_word *word) {
    ha_print(w->to, "    %s now = %s(*p), before;\n    do {\n        before = now;\n", t->bits,
             t->to_bits);
    ha_print(w->to, "        const %s old = %s(before);\n        now = ", t->name, t->from_bits);
    ha_put_exchange(w, t, "old", word->change);
    ha_print(w->to, ";\n    } while (now != before);\n    return %s(now);\n", t->from_bits);
}

HA_IN_ void ha_put_atomic(const ha_atomics_writer *w, const ha_atomic_type *t,
                          const ha_atomic_word *word) {
    ha_put_atomic_head(w, t->name, word->name, t);
    ha_print(w->to, ", %s given) {\n    const %s v = (%s)given;\n", t->given, t->name, t->name);
    if (ha_has_atomic(w, t, word))
        ha_put_own_atomic(w, t, word);
    else
        ha_put_made_atomic(w, t, word);
    ha_print(w->to, "}\n");
}

HA_IN_ void ha_put_atomics_of(const ha_atomics_writer *w, const ha_atomic_type *t) {
    for (size_t i = 0; i < sizeof ha_atomic_words / sizeof *ha_atomic_words; i++)
        if ((!t->is_real || ha_atomic_words[i].of_reals) &&
            ha_mentions_atomic(w, ha_atomic_words[i].name))
            ha_put_atomic(w, t, &ha_atomic_words[i]);
    if (!t->is_real && ha_mentions_atomic(w, "compare_exchange")) {
        ha_put_atomic_head(w, t->name, "compare_exchange", t);
        ha_print(w->to, ", %s expected, %s v) { return (%s)", t->given, t->given, t->name);
        ha_put_exchange(w, t, "expected", "v");
        ha_print(w->to, "; }\n");
    }
    if (ha_mentions_atomic(w, "load")) {
        ha_put_atomic_head(w, t->name, "load", t);
        ha_print(w->to, ") { return *p; }\n");
    }
    if (ha_mentions_atomic(w, "store")) {
        ha_put_atomic_head(w, "void", "store", t);
        ha_print(w->to, ", %s v) { *p = (%s)v; }\n", t->given, t->name);
    }
}

/* A device that lacks 64-bit atomics lacks these functions. */
HA_IN_ void ha_put_atomics(ha_text *to, ha_language language, const ha_kernel *k,
                           const char *memory) {
    const ha_atomics_writer w = {to, k, language, memory};
    const int opencl = language == HA_LANGUAGE_OPENCL_C;
    const ha_atomic_type *t = opencl ? ha_atomic_types_opencl : ha_atomic_types_cuda;
    for (int i = 0; i < 6; i++) {
        if (opencl && t[i].is_long) ha_print(to, "#ifdef cl_khr_int64_base_atomics\n");
        if (opencl && t[i].is_long && t[i].is_real) ha_print(to, "#if HA_HAS_DOUBLES_\n");
        ha_put_atomics_of(&w, &t[i]);
        if (opencl && t[i].is_long && t[i].is_real) ha_print(to, "#endif\n");
        if (opencl && t[i].is_long) ha_print(to, "#endif\n");
    }
}

HA_IN_ void ha_put_all_atomics(ha_text *to, ha_language language, const ha_kernel *k) {
    const int is_local = ha_kernel_mentions(k, "ha_local_");
    const int is_global = ha_kernel_mentions(k, "ha_global_");
    if (!is_local && !is_global) return;
    ha_print(to, "%s",
             language == HA_LANGUAGE_CUDA
                 ? "#define HA_OVERLOADED_ HA_BODY_\n"
                 : "#define HA_OVERLOADED_ static inline __attribute__((overloadable, unused))\n"
                   "#ifdef cl_khr_int64_base_atomics\n"
                   "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
                   "#endif\n"
                   "#if HA_HAS_DOUBLES_\n"
                   "#define HA_REAL_ double\n"
                   "#else\n"
                   "#define HA_REAL_ float\n"
                   "#endif\n");
    if (is_local) ha_put_atomics(to, language, k, "local");
    if (is_global) ha_put_atomics(to, language, k, "global");
}

HA_IN_ void ha_put_team_words(ha_text *to, ha_language language, const ha_kernel *k) {
    ha_print(to, "%s%s", language == HA_LANGUAGE_CUDA ? ha_team_words_cuda : ha_team_words_opencl,
             ha_team_words_of_both);
    if (k->team) {
        const int *n = k->team->lanes;
        ha_print(to,
                 "#define HA_TEAM_X %d\n#define HA_TEAM_Y %d\n#define HA_TEAM_Z %d\n"
                 "#define HA_TEAM %d\n",
                 n[0], n[1], n[2], n[0] * n[1] * n[2]);
    }
    ha_put_all_atomics(to, language, k);
}

#endif
