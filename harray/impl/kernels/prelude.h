/* What stands in front of each kernel's text: the words of the language, so that the rest is the same in both,
 * and names of C. */
#ifndef HARRAY_IMPL_KERNELS_PRELUDE_H
#define HARRAY_IMPL_KERNELS_PRELUDE_H

#include "names.h"
#include "prelude_numbers.h"
#include "settings.h"

static const char ha_words_opencl[] = "#ifdef cl_khr_fp64\n"
                                      "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
                                      "#endif\n"
                                      "#if defined cl_khr_fp64 || defined __opencl_c_fp64\n"
                                      "#define HA_HAS_DOUBLES_ 1\n"
                                      "#endif\n"
                                      "#define HA_GLOBAL_ __global\n"
                                      "#define HA_CONSTANT_ __constant\n"
                                      "#define HA_BOOL_ uchar\n"
                                      "#define HA_RESTRICT_ restrict\n"
                                      "#define HA_BODY_ static inline __attribute__((unused, "
                                      "always_inline))\n"
                                      "#define HA_TABLE_ __constant\n"
                                      "#define HA_ENTRY_ __kernel void\n"
                                      "#define HA_ITEM_(d) ((int64_t)get_global_id(d))\n"
                                      "#define HA_TEAM_END_(d) ((int64_t)(get_group_id(d) + 1) * "
                                      "(int64_t)get_local_size(d))\n"
                                      "typedef char int8_t;\n"
                                      "typedef short int16_t;\n"
                                      "typedef int int32_t;\n"
                                      "typedef long int64_t;\n"
                                      "typedef uchar uint8_t;\n"
                                      "typedef ushort uint16_t;\n"
                                      "typedef uint uint32_t;\n"
                                      "typedef ulong uint64_t;\n";

static const char ha_words_cuda[] =
    "#define HA_HAS_DOUBLES_ 1\n"
    "#define HA_GLOBAL_\n"
    "#define HA_CONSTANT_\n"
    "#define HA_BOOL_ bool\n"
    "#define HA_RESTRICT_ __restrict__\n"
    "#define HA_BODY_ static __device__ __forceinline__ __attribute__((unused))\n"
    "#define HA_TABLE_ static __constant__ const\n"
    "#define HA_ENTRY_ extern \"C\" __global__ void\n"
    "#define HA_ITEM_0_ ((int64_t)blockIdx.x * blockDim.x + threadIdx.x)\n"
    "#define HA_ITEM_1_ ((int64_t)blockIdx.y * blockDim.y + threadIdx.y)\n"
    "#define HA_ITEM_2_ ((int64_t)blockIdx.z * blockDim.z + threadIdx.z)\n"
    "#define HA_ITEM_3_ ((int64_t)0)\n" /* there is no such dimension */
    "#define HA_ITEM_(d) HA_ITEM_##d##_\n"
    "typedef signed char int8_t;\n"
    "typedef short int16_t;\n"
    "typedef int int32_t;\n"
    "typedef long long int64_t;\n"
    "typedef unsigned char uint8_t;\n"
    "typedef unsigned short uint16_t;\n"
    "typedef unsigned int uint32_t;\n"
    "typedef unsigned long long uint64_t;\n";

static const char ha_words_of_both[] =
    "#define HA_FN HA_BODY_\n"
    "#define HA_SIZE(name) name##_size_\n"
    "#define ha_trace_value(value) ((void)0)\n"
    "#define HA_AT_1_(s, i) (s).data[(i) * (s).stride[0]]\n"
    "#define HA_AT_2_(s, i, j) (s).data[(i) * (s).stride[0] + (j) * (s).stride[1]]\n"
    "#define HA_AT_3_(s, i, j, k) (s).data[(i) * (s).stride[0] + (j) * (s).stride[1] + "
    "(k) * (s).stride[2]]\n"
    "#define HA_AT_4_(s, i, j, k, l) (s).data[(i) * (s).stride[0] + (j) * (s).stride[1] + "
    "(k) * (s).stride[2] + (l) * (s).stride[3]]\n"
    "#define HA_AT_5_(s, i, j, k, l, m) (s).data[(i) * (s).stride[0] + (j) * (s).stride[1] + "
    "(k) * (s).stride[2] + (l) * (s).stride[3] + (m) * (s).stride[4]]\n"
    "#define HA_AT_6_(s, i, j, k, l, m, n) (s).data[(i) * (s).stride[0] + (j) * (s).stride[1] + "
    "(k) * (s).stride[2] + (l) * (s).stride[3] + (m) * (s).stride[4] + (n) * (s).stride[5]]\n"
    "#define HA_AT_7_(s, i, j, k, l, m, n, o) (s).data[(i) * (s).stride[0] + (j) * (s).stride[1] + "
    "(k) * (s).stride[2] + (l) * (s).stride[3] + (m) * (s).stride[4] + (n) * (s).stride[5] + "
    "(o) * (s).stride[6]]\n"
    "#define HA_AT_8_(s, i, j, k, l, m, n, o, p) (s).data[(i) * (s).stride[0] + "
    "(j) * (s).stride[1] + (k) * (s).stride[2] + (l) * (s).stride[3] + (m) * (s).stride[4] + "
    "(n) * (s).stride[5] + (o) * (s).stride[6] + (p) * (s).stride[7]]\n";

/* C's functions of floating point, by the number of their arguments. In C sqrt(x) is of double whatever x is,
 * and sqrtf(x) of float; in OpenCL C and C++ sqrt(x) is of x's own type. */
static const struct {
    const char *name;
    int arguments; /* -2: of two the second one is an int */
} ha_math[] = {{"acos", 1},      {"acosh", 1}, {"asin", 1},     {"asinh", 1},     {"atan", 1},
               {"atanh", 1},     {"cbrt", 1},  {"ceil", 1},     {"cos", 1},       {"cosh", 1},
               {"erf", 1},       {"erfc", 1},  {"exp", 1},      {"exp2", 1},      {"expm1", 1},
               {"fabs", 1},      {"floor", 1}, {"lgamma", 1},   {"log", 1},       {"log10", 1},
               {"log1p", 1},     {"log2", 1},  {"rint", 1},     {"round", 1},     {"sin", 1},
               {"sinh", 1},      {"sqrt", 1},  {"tan", 1},      {"tanh", 1},      {"tgamma", 1},
               {"trunc", 1},     {"atan2", 2}, {"copysign", 2}, {"fdim", 2},      {"fmax", 2},
               {"fmin", 2},      {"fmod", 2},  {"hypot", 2},    {"nextafter", 2}, {"pow", 2},
               {"remainder", 2}, {"fma", 3},   {"ldexp", -2}};

/* May a * b + c be one operation? If not, there are the same bits everywhere. */
HA_IN_ int ha_kernel_contracts(const ha_kernel *k) {
    return ha_kernel_settings_get()->contract || ha_kernel_option(k, HA_OPTION_contract_, 0);
}

/* Does a word stand in what the kernel is made of, in its types or in another word? */
HA_IN_ int ha_kernel_mentions(const ha_kernel *k, const char *word) {
    ha_kernel_leaf leaf[HA_MOST_ARGUMENTS_];
    const int leaves = ha_kernel_leaves(k, leaf);
    if (strstr(k->text, word)) return 1;
    for (int i = 0; i < leaves; i++)
        if (strstr(ha_used_text(leaf[i].parameter), word)) return 1;
    return 0;
}

HA_IN_ int ha_record_needs_numbers(const ha_record *r) {
    for (int64_t f = 0; r && f < r->fields; f++)
        if (r->field[f].type == HA_DTYPE_half || r->field[f].type == HA_DTYPE_bfloat16 ||
            r->field[f].type >= HA_DTYPE_c64)
            return 1;
    return 0;
}

/* Does the kernel use numbers that C lacks? */
HA_IN_ int ha_kernel_needs_numbers(const ha_kernel_variant *v) {
    static const char *const words[] = {"half", "bfloat16", "c64", "c128"};
    ha_kernel_leaf leaf[HA_MOST_ARGUMENTS_];
    const int leaves = ha_kernel_leaves(v->kernel, leaf);
    for (size_t n = 0; n < sizeof words / sizeof *words; n++)
        if (ha_kernel_mentions(v->kernel, words[n])) return 1;
    for (int i = 0; i < leaves; i++)
        if (ha_record_needs_numbers(leaf[i].parameter->record)) return 1;
    for (int i = 0; i < v->records; i++)
        if (ha_record_needs_numbers(v->mapping[i]->record)) return 1;
    return 0;
}

/* For what stands in the kernel's text: functions of harray's own, as the language's names may be macros. */
HA_IN_ void ha_put_math_of(ha_text *to, const ha_kernel *k, const char *type, const char *suffix) {
    for (size_t i = 0; i < sizeof ha_math / sizeof *ha_math; i++) {
        const char *f = ha_math[i].name;
        const int is_int = ha_math[i].arguments < 0, n = is_int ? 2 : ha_math[i].arguments;
        if (!ha_kernel_mentions(k, f)) continue;
        ha_print(to, "HA_BODY_ %s ha_%s%s_(%s x", type, f, suffix, type);
        if (n > 1) ha_print(to, ", %s y", is_int ? "int" : type);
        if (n > 2) ha_print(to, ", %s z", type);
        ha_print(to, ") { return %s(x%s%s); }\n", f, n > 1 ? ", y" : "", n > 2 ? ", z" : "");
    }
}

HA_IN_ void ha_put_math_names(ha_text *to, const ha_kernel *k, const char *suffix) {
    for (size_t i = 0; i < sizeof ha_math / sizeof *ha_math; i++) {
        const char *f = ha_math[i].name;
        if (!ha_kernel_mentions(k, f)) continue;
        ha_print(to, "#undef %s%s\n#define %s%s ha_%s%s_\n", f, suffix, f, suffix, f, suffix);
    }
}

HA_IN_ void ha_put_math(ha_text *to, ha_language language, const ha_kernel *k) {
    const int opencl = language == HA_LANGUAGE_OPENCL_C;
    if (opencl) ha_put_math_of(to, k, "float", "f");
    ha_print(to, "#if HA_HAS_DOUBLES_\n");
    ha_put_math_of(to, k, "double", "");
    ha_put_math_names(to, k, "");
    ha_print(to, "#endif\n");
    if (opencl) ha_put_math_names(to, k, "f");
}

HA_IN_ void ha_put_prelude(ha_text *to, ha_language language, const ha_kernel_variant *v) {
    const ha_kernel *k = v->kernel;
    const int numbers = ha_kernel_needs_numbers(v);
    const size_t lines = sizeof ha_prelude_numbers / sizeof *ha_prelude_numbers;
    ha_print(to, "%s%s", language == HA_LANGUAGE_CUDA ? ha_words_cuda : ha_words_opencl,
             ha_words_of_both);
    if (language == HA_LANGUAGE_OPENCL_C) /* CUDA's compiler has an option for it */
        ha_print(to, "#pragma OPENCL FP_CONTRACT %s\n", ha_kernel_contracts(k) ? "ON" : "OFF");
    for (size_t i = 0; numbers && i < lines; i++) ha_print(to, "%s", ha_prelude_numbers[i]);
    ha_put_math(to, language, k); /* behind the numbers, whose functions use the language's own */
    ha_put_language_names(to, language, k);
}

#endif
