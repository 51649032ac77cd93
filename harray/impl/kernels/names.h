/* Names of C that a device's language lacks, or means something else by; and names that it has and C has not: a user's
 * `step` or `local` is his own there, too, and what he has not told the device is not taken for one of its functions.
 * Each is written only where the kernel has the word. */
#ifndef HARRAY_IMPL_KERNELS_NAMES_H
#define HARRAY_IMPL_KERNELS_NAMES_H

#include "variant.h"

/* Does the word stand in a text, by itself? */
HA_IN_ int ha_text_has_word(const char *text, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += length)
        if ((at == text || !ha_in_name(at[-1])) && !ha_in_name(at[length])) return 1;
    return 0;
}

/* In what the kernel is made of, or among its types? */
HA_IN_ int ha_kernel_has_word(const ha_kernel *k, const char *word) {
    ha_kernel_leaf leaf[HA_MOST_ARGUMENTS_];
    const int leaves = ha_kernel_leaves(k, leaf);
    if (ha_text_has_word(k->text, word)) return 1;
    for (int i = 0; i < leaves; i++)
        if (ha_text_has_word(ha_used_text(leaf[i].parameter), word)) return 1;
    return 0;
}

/* ---- constants ---------------------------------------------------------------------------------- */

/* Of stdint.h, limits.h, float.h and math.h. OpenCL C has all that CUDA is told, but for those of fixed width. */
typedef struct ha_c_constant {
    const char *name, *value;
    int only_cuda, is_double;
} ha_c_constant;

static const ha_c_constant ha_c_constants[] = {
    {"INT8_MIN", "(-127 - 1)", 0, 0},
    {"INT8_MAX", "127", 0, 0},
    {"UINT8_MAX", "255", 0, 0},
    {"INT16_MIN", "(-32767 - 1)", 0, 0},
    {"INT16_MAX", "32767", 0, 0},
    {"UINT16_MAX", "65535", 0, 0},
    {"INT32_MIN", "(-2147483647 - 1)", 0, 0},
    {"INT32_MAX", "2147483647", 0, 0},
    {"UINT32_MAX", "4294967295u", 0, 0},
    {"INT64_MIN", "(-9223372036854775807L - 1)", 0, 0},
    {"INT64_MAX", "9223372036854775807L", 0, 0},
    {"UINT64_MAX", "18446744073709551615UL", 0, 0},
    {"SIZE_MAX", "18446744073709551615UL", 0, 0},
    {"PTRDIFF_MIN", "(-9223372036854775807L - 1)", 0, 0},
    {"PTRDIFF_MAX", "9223372036854775807L", 0, 0},
    {"CHAR_BIT", "8", 1, 0},
    {"SCHAR_MIN", "(-127 - 1)", 1, 0},
    {"SCHAR_MAX", "127", 1, 0},
    {"UCHAR_MAX", "255", 1, 0},
    {"SHRT_MIN", "(-32767 - 1)", 1, 0},
    {"SHRT_MAX", "32767", 1, 0},
    {"USHRT_MAX", "65535", 1, 0},
    {"INT_MIN", "(-2147483647 - 1)", 1, 0},
    {"INT_MAX", "2147483647", 1, 0},
    {"UINT_MAX", "4294967295u", 1, 0},
    {"LONG_MIN", "(-9223372036854775807L - 1)", 1, 0},
    {"LONG_MAX", "9223372036854775807L", 1, 0},
    {"ULONG_MAX", "18446744073709551615UL", 1, 0},
    {"INFINITY", "__int_as_float(0x7f800000)", 1, 0},
    {"NAN", "__int_as_float(0x7fc00000)", 1, 0},
    {"HUGE_VALF", "__int_as_float(0x7f800000)", 1, 0},
    {"HUGE_VAL", "__longlong_as_double(0x7ff0000000000000)", 1, 1},
    {"FLT_MAX", "3.402823466e+38f", 1, 0},
    {"FLT_MIN", "1.175494351e-38f", 1, 0},
    {"FLT_EPSILON", "1.192092896e-07f", 1, 0},
    {"DBL_MAX", "1.7976931348623157e+308", 1, 1},
    {"DBL_MIN", "2.2250738585072014e-308", 1, 1},
    {"DBL_EPSILON", "2.2204460492503131e-16", 1, 1},
    {"M_E", "2.7182818284590452354", 1, 1},
    {"M_LOG2E", "1.4426950408889634074", 1, 1},
    {"M_LOG10E", "0.43429448190325182765", 1, 1},
    {"M_LN2", "0.69314718055994530942", 1, 1},
    {"M_LN10", "2.30258509299404568402", 1, 1},
    {"M_PI", "3.14159265358979323846", 1, 1},
    {"M_PI_2", "1.57079632679489661923", 1, 1},
    {"M_PI_4", "0.78539816339744830962", 1, 1},
    {"M_1_PI", "0.31830988618379067154", 1, 1},
    {"M_2_PI", "0.63661977236758134308", 1, 1},
    {"M_2_SQRTPI", "1.12837916709551257390", 1, 1},
    {"M_SQRT2", "1.41421356237309504880", 1, 1},
    {"M_SQRT1_2", "0.70710678118654752440", 1, 1}};

HA_IN_ int ha_is_double_constant(const char *word, int length) {
    for (size_t i = 0; i < sizeof ha_c_constants / sizeof *ha_c_constants; i++)
        if ((int)strlen(ha_c_constants[i].name) == length &&
            !strncmp(ha_c_constants[i].name, word, (size_t)length))
            return ha_c_constants[i].is_double;
    return 0;
}

HA_IN_ void ha_put_constants(ha_text *to, ha_language language, const ha_kernel *k) {
    for (size_t i = 0; i < sizeof ha_c_constants / sizeof *ha_c_constants; i++) {
        const ha_c_constant *c = &ha_c_constants[i];
        if ((c->only_cuda && language != HA_LANGUAGE_CUDA) || !ha_kernel_has_word(k, c->name))
            continue;
        ha_print(to, "#ifndef %s\n#define %s %s\n#endif\n", c->name, c->name, c->value);
    }
}

/* Macros that are given a number. */
HA_IN_ void ha_put_constant_words(ha_text *to, const ha_kernel *k) {
    static const char *const words[][2] = {{"INT8_C", ""},   {"UINT8_C", ""},   {"INT16_C", ""},
                                           {"UINT16_C", ""}, {"INT32_C", ""},   {"UINT32_C", "u"},
                                           {"INT64_C", "L"}, {"UINT64_C", "UL"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ha_kernel_has_word(k, words[i][0]))
            ha_print(to, "#ifndef %s\n#define %s(c) c%s%s\n#endif\n", words[i][0], words[i][0],
                     *words[i][1] ? "##" : "", words[i][1]);
}

/* ---- the integer without its sign ------------------------------------------------------------------ */

/* In OpenCL C it has another type, of C++ it may be a floating-point number: that is refused, as it is no integer. */
HA_IN_ void ha_put_abs(ha_text *to, const ha_kernel *k) {
    static const char *const words[][2] = {
        {"abs", "int"}, {"labs", "int64_t"}, {"llabs", "int64_t"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *name = words[i][0], *type = words[i][1];
        if (!ha_kernel_has_word(k, name)) continue;
        ha_print(to, "HA_BODY_ %s ha_%s_(const %s x) { return x < 0 ? -x : x; }\n", type, name,
                 type);
        ha_print(to, "#undef %s\n#define %s(x) ha_%s_((x) | 0)\n", name, name, name);
    }
}

/* ---- the user's own --------------------------------------------------------------------------------- */

/* Functions of OpenCL C and of CUDA, and types of both. */
static const char *const ha_own_names[] = {
    "abs_diff", "acospi",    "add_sat",       "all",         "any",
    "asinpi",   "atan2pi",   "atanpi",        "bitselect",   "clamp",
    "clock",    "clz",       "cospi",         "cross",       "cyl_bessel_i0",
    "degrees",  "distance",  "dot",           "erfcinv",     "erfcx",
    "erfinv",   "exp10",     "fast_distance", "fast_length", "fast_normalize",
    "fract",    "hadd",      "length",        "mad",         "mad24",
    "mad_hi",   "mad_sat",   "max",           "maxmag",      "min",
    "minmag",   "mix",       "mul24",         "mul_hi",      "norm",
    "norm3d",   "normalize", "normcdf",       "popcount",    "pown",
    "powr",     "prefetch",  "radians",       "rcbrt",       "rhadd",
    "rhypot",   "rnorm",     "rootn",         "rotate",      "rsqrt",
    "select",   "shuffle",   "shuffle2",      "sign",        "sincos",
    "sincospi", "sinpi",     "smoothstep",    "step",        "sub_sat",
    "tanpi",    "umax",      "umin",          "upsample",    "double2",
    "double3",  "double4",   "float2",        "float3",      "float4",
    "int2",     "int3",      "int4",          "uint2",       "uint3",
    "uint4"};

/* Words of OpenCL C: CUDA's own are made of some of these. */
static const char *const ha_own_names_opencl[] = {"constant",  "generic",    "global",
                                                  "kernel",    "local",      "private",
                                                  "read_only", "read_write", "write_only"};

/* Words of C++. */
static const char *const ha_own_names_cuda[] = {
    "catch",     "class", "delete",   "explicit", "export",    "friend", "mutable",
    "namespace", "new",   "operator", "private",  "protected", "public", "template",
    "this",      "throw", "try",      "typename", "using",     "virtual"};

HA_IN_ void ha_put_own_names(ha_text *to, const ha_kernel *k, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (ha_kernel_has_word(k, names[i]))
            ha_print(to, "#undef %s\n#define %s ha_own_%s_\n", names[i], names[i], names[i]);
}

#define HA_PUT_OWN_NAMES_(list) ha_put_own_names(to, k, list, sizeof list / sizeof *list)
HA_IN_ void ha_put_language_names(ha_text *to, ha_language language, const ha_kernel *k) {
    ha_put_constants(to, language, k);
    ha_put_constant_words(to, k);
    ha_put_abs(to, k);
    HA_PUT_OWN_NAMES_(ha_own_names);
    if (language == HA_LANGUAGE_CUDA)
        HA_PUT_OWN_NAMES_(ha_own_names_cuda);
    else
        HA_PUT_OWN_NAMES_(ha_own_names_opencl);
}

#endif
