/* Kernels: a loop body in C, written once, that runs on the host and on devices.
 *
 *     HA_KERNEL(axpy, ((value, double, a), (in, double, x), (inout, double, y)), i, {
 *         y[i] += a * x[i];
 *     });
 *     …
 *     HA_CHECK(axpy(ha_context_best(), HA_ALL_LANES, 0.5, x, y));
 *
 * makes the function  ha_status axpy(ha_context *, int64_t lanes, double a, harray_double x,
 * harray_double y).  A lane is one execution of the body, for one index i in [0, lanes). On the host the
 * lanes are a loop, run before the function returns; on a device they are enqueued, and whoever opens the
 * arrays next is ordered behind them, as behind every access (access.h).
 *
 * Lanes are independent: none may read what another lane of the same launch writes, nor may two write the
 * same element. They run in any order, and at once. On every context the results are the same, bit for
 * bit, of + - * / and sqrt; where the compiler may contract a * b + c into one operation, it is told not to.
 *
 * ---- indices: i, or (j, i), or (k, j, i), the last one innermost. Lanes are then given as HA_DIM(nj, ni).
 *
 *     HA_KERNEL(relax, ((value, float, k), (in, array_float_2, u), (out, array_float_2, w)), (j, i), {
 *         HA_AT(w, j, i) = HA_AT(u, j, i) + k * (HA_AT(u, j - 1, i) + HA_AT(u, j + 1, i) - …);
 *     });
 *     …
 *     HA_CHECK(relax_in(gpu, ha_box2(1, ny - 1, 1, nx - 1), 0.2f, u, w)); // the lanes of a box
 *
 * ---- parameters: up to twelve of (mode, type, name), the type one identifier
 *
 *     value   T             is given a T                   the body sees     const T name
 *     in      T             is given a harray_T            const T *name     read
 *     inout   T                                            T *name           written: changed, read, or both
 *     out     T                                            T *name           written, and not read
 *     in      array_T_D     is given an array_T_D          cspan_T_D name    read
 *     inout, out  array_T_D                                span_T_D name     written
 *     (uses, tag)           nothing                        what HA_DEVICE_… of this tag has declared
 *
 * Of `out` the old values are not moved when the lanes are exactly the elements (of a view: the indices);
 * otherwise the elements that no lane writes keep theirs. An array may be given twice, for `in` and for one
 * inout or out: each lane then reads its own element before it writes it. HA_SIZE(name) is the number of
 * elements of an argument, in its body.
 *
 * ---- errors: the status, and ha_take_error(). When it is not HA_OK nothing has been run or changed.
 *   HA_ERR_ARGUMENT   no array; a view that was refused; lanes below zero; a box that is not inside 63 bits;
 *                     HA_ALL_LANES, and the arrays have different sizes, or there is none
 *   HA_ERR_COMPILE    the device's compiler refuses the body: the text has the first error, with your file and
 *                     line, and ha_kernel_log all that it said. The next launch is refused as well
 *   HA_ERR_UNSUPPORTED  the device has no double, and the kernel uses it; see ha_kernel_place
 *   HA_ERR_MEMORY, HA_ERR_BACKEND  the driver did not take what was compiled, or the launch
 *   others            as ha_open_many for all arrays in one call, and as ha_enqueue
 * A kernel may be launched from any thread. */
#ifndef HARRAY_KERNEL_H
#define HARRAY_KERNEL_H

#include "../layout/detail/list.h"
#include "../layout/each.h"
#include "ndarray.h"

/* As many lanes as the arrays that are given have elements; of kernels with one index. */
#define HA_ALL_LANES INT64_C(-1)

/* In a body: how many elements an argument has. */
#define HA_SIZE(name) name##_size_

/* Writes where a kernel runs when it is launched at a context, and why there, as snprintf does: "cuda:0:
 * compiled for it: NVIDIA H100", "cuda:0: on the host: libnvrtc.so.13, …: not found". With
 * HARRAY_KERNELS=strict in the environment launches that would not run on the device are refused, by
 * HA_ERR_UNSUPPORTED. 0: HA_ERR_ARGUMENT when there is no kernel, HA_ERR_MEMORY. */
typedef struct ha_kernel ha_kernel;
HA_API size_t ha_kernel_place(const ha_kernel *kernel, ha_context *context, char *text,
                              size_t bytes);

/* What the compiler of a context's device said when it refused the kernel (HA_ERR_COMPILE), all of it, with the
 * lines of your file where that can be read; "" where it has not. Written as snprintf does. 0: HA_ERR_ARGUMENT
 * when there is no kernel. */
HA_API size_t ha_kernel_log(const ha_kernel *kernel, ha_context *context, char *text, size_t bytes);

/* ha_kernels_precompile("sm_80,sm_90,opencl", directory) compiles all kernels of the program into a directory, as
 * the cache keeps them (NULL: into the cache itself): HARRAY_KERNELS=cache=DIRECTORY reads them there, and they are
 * not compiled when they are launched. Targets are contexts ("opencl:1"), all contexts of a kind ("opencl"), and
 * architectures of NVIDIA's GPUs, for which there need be no GPU, but the same version of NVRTC. What is there
 * already is not compiled again.
 *
 * The program: the executable or shared object in which the call is compiled, each one by itself; of a static
 * library the files that were linked. A kernel that nothing in its file launches may be missing. Linkers that drop
 * unused sections (--gc-sections) keep this one, but for lld with -z start-stop-gc.
 *   HA_ERR_ARGUMENT   no targets or one that nobody knows, no directory: nothing has been compiled
 *   HA_ERR_COMPILE, HA_ERR_UNSUPPORTED, HA_ERR_MEMORY, HA_ERR_BACKEND  as a launch; the directory cannot be written
 *                     to. The first failure; the other kernels have been compiled all the same */
#define ha_kernels_precompile(targets, directory)                                                  \
    ha_kernels_precompile_(targets, directory, HA_JOIN_(__start_, HA_KERNEL_LIST_),                \
                           HA_JOIN_(__stop_, HA_KERNEL_LIST_), HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_kernels_precompile_(const char *targets, const char *directory,
                                                      const ha_kernel *first, const ha_kernel *last,
                                                      const char *site);

/* What stands in front of kernels that name it by (uses, tag), on devices too: functions, which are HA_FN, and
 * structs, which hold no pointers; a macro without arguments, by what it expands to here; a table of
 * constants, HA_DEVICE_TABLE(weights, double, weight, {0.5, 0.25, 0.25}). A tag has no macro's name. */
#define HA_DEVICE_CODE(tag, ...)                                                                   \
    __VA_ARGS__ HA_FORWARDED_(tag) #__VA_ARGS__;                                                   \
    struct ha_semicolon_
#define HA_DEVICE_CONST(tag, macro)                                                                \
    HA_FORWARDED_(tag) "\n#define " #macro " " HA_STRING_(macro) "\n";                             \
    struct ha_semicolon_
#define HA_DEVICE_TABLE(tag, T, name, ...)                                                         \
    HA_UNUSED static const T name[] = __VA_ARGS__;                                                 \
    HA_FORWARDED_(tag) "HA_TABLE_ " #T " " #name "[] = " #__VA_ARGS__ ";";                         \
    struct ha_semicolon_
/* Behind its site. */
#define HA_FORWARDED_(tag) HA_UNUSED static const char ha_uses_##tag[] = HA_SITE "\n"

#define HA_KERNEL(name, parameters, indices, ...)                                                  \
    HA_KERNEL_TEXT_(name, parameters, HA_KERNEL_INDICES_(indices), #indices, #__VA_ARGS__,         \
                    __VA_ARGS__)

/* Kernels with long bodies are better written in a file of their own, in which a debugger steps by lines, with #if
 * and what else a header has. In the program's file:
 *
 *     HA_KERNEL_FILE(heat, "src/heat_kernels.h"); // its text becomes a part of the program
 *     #include "heat_kernels.h"
 *
 * and in that file, beside functions (HA_FN), types and macros that kernels use:
 *
 *     HA_KERNEL_IN(heat, relax, ((value, float, k), (in, array_float_2, u), (out, array_float_2, w)), (j, i)) {
 *         …
 *     }
 *
 * Devices get the whole file but for other kernels of it and lines with #include; so brackets are to be balanced,
 * also in what #if leaves out. The name in quotes is for the
 * assembler (.incbin), which looks in the directory where the compiler works and in those of -I, not beside the
 * file that names it; with -flto it does so when the program is linked. Where the text is made in another way it is
 * an array of this name, which ends with 0:
 *
 *     static const char HA_KERNEL_TEXT(heat)[] = {
 *     #embed "heat_kernels.h"
 *         , 0};
 *
 * A tag has no macro's name, and is that of one file in a program. */
#define HA_KERNEL_FILE(tag, path)                                                                  \
    __asm__(".pushsection .rodata\n"                                                               \
            ".weak " HA_STRING_(                                                                   \
                HA_KERNEL_TEXT(tag)) "\n"                                                          \
                                     ".hidden " HA_STRING_(HA_KERNEL_TEXT(tag)) "\n" HA_STRING_(   \
                                         HA_KERNEL_TEXT(tag)) ":\n"                                \
                                                              ".incbin \"" path "\"\n"             \
                                                              ".byte 0\n"                          \
                                                              ".popsection\n");                    \
    HA_LINKED_ const char HA_KERNEL_TEXT(tag)[] __attribute__((__visibility__("hidden")))
#define HA_KERNEL_TEXT(tag) ha_text_of_##tag
#define HA_KERNEL_IN(tag, name, parameters, indices)                                               \
    HA_KERNEL_FILED_(tag, name, parameters, HA_KERNEL_INDICES_(indices), #indices)
#ifdef __cplusplus
#define HA_LINKED_ extern "C"
#else
#define HA_LINKED_ extern
#endif

/* ---- what it is made of ------------------------------------------------------------------------ */

typedef enum ha_kernel_mode_ {
    HA_KERNEL_USES_,
    HA_KERNEL_VALUE_,
    HA_KERNEL_IN_,
    HA_KERNEL_INOUT_,
    HA_KERNEL_OUT_
} ha_kernel_mode_;

typedef struct ha_kernel_parameter_ {
    ha_kernel_mode_ mode;
    int rank;         /* of an array_T_D; 0 of a harray_T */
    size_t bytes;     /* of the value, or of one element */
    const char *type; /* as it stands in the kernel; of what it uses the text */
    const char *name;
} ha_kernel_parameter_;

/* What a parameter is given in a launch, where the loops run. */
typedef struct ha_kernel_slot_ {
    void *pointer; /* to the value; else to the first element, of a view to index 0, 0, … */
    void *span;    /* of a view: a span_T_D, whose data is not looked at */
    int64_t size;  /* elements */
} ha_kernel_slot_;

/* Runs the lanes of a box. `apart`: no argument that is written overlaps another one, and the last
 * strides of all views are 1. */
typedef void (*ha_kernel_loops_)(const ha_region *box, int apart, const ha_kernel_slot_ *slot);

struct ha_kernel {
    const char *name, *text, *indices, *site;
    int rank; /* indices */
    int parameters;
    const ha_kernel_parameter_ *parameter;
    ha_kernel_loops_ loops;
    const char *file; /* the tag of the file whose text it is; NULL: the text is its body */
};

/* All kernels of a module lie one behind the other: in a section of this name, whose beginning and end the linker
 * knows. Without a kernel there is no section. */
#ifdef HARRAY_PREFIX
#define HA_KERNEL_LIST_ HA_JOIN_(HARRAY_PREFIX, ha_kernels_)
#else
#define HA_KERNEL_LIST_ ha_kernels_
#endif
#define HA_LISTED_ __attribute__((__section__(HA_STRING_(HA_KERNEL_LIST_)), __aligned__(8)))
extern const ha_kernel HA_JOIN_(__start_, HA_KERNEL_LIST_)[]
    __attribute__((__weak__, __visibility__("hidden")));
extern const ha_kernel HA_JOIN_(__stop_, HA_KERNEL_LIST_)[]
    __attribute__((__weak__, __visibility__("hidden")));

/* given: the addresses of the arguments, in their order. box: NULL for as many lanes as there are elements */
HA_API ha_status ha_kernel_launch_(const ha_kernel *kernel, ha_context *context,
                                   const ha_region *box, const void *const *given);

enum { HA_MOST_PARAMETERS_ = 12 };

/* The lanes of a launch as a box. */
HA_TYPED_ ha_region ha_lanes_1_(int64_t n) { return ha_box1(0, n); }
HA_TYPED_ ha_region ha_lanes_2_(ha_dim2 n) { return ha_box2(0, n.at[0], 0, n.at[1]); }
HA_TYPED_ ha_region ha_lanes_3_(ha_dim3 n) { return ha_box3(0, n.at[0], 0, n.at[1], 0, n.at[2]); }
#define HA_LANES_OF_1_ int64_t
#define HA_LANES_OF_2_ ha_dim2
#define HA_LANES_OF_3_ ha_dim3
#define HA_IS_ALL_1_(n) ((n) == HA_ALL_LANES)
#define HA_IS_ALL_2_(n) 0
#define HA_IS_ALL_3_(n) 0

/* (i) of i, and of (j, i) itself. */
#define HA_KERNEL_INDICES_(indices) HA_VARIANT_(HA_KERNEL_INDICES_, HA_IS_PAREN_(indices))(indices)
#define HA_KERNEL_INDICES_0_(i) (i)
#define HA_KERNEL_INDICES_1_(ji) ji
#define HA_INDEX_PARAMETERS_1_(i) const ptrdiff_t i
#define HA_INDEX_PARAMETERS_2_(j, i) const ptrdiff_t j, const ptrdiff_t i
#define HA_INDEX_PARAMETERS_3_(k, j, i) const ptrdiff_t k, const ptrdiff_t j, const ptrdiff_t i
#define HA_INDEX_LOOPS_1_(i)                                                                       \
    HA_INDEPENDENT_ for (ptrdiff_t i = ha_box_.first[0]; i < ha_box_.last[0]; i++)
#define HA_INDEX_LOOPS_2_(j, i)                                                                    \
    for (ptrdiff_t j = ha_box_.first[0]; j < ha_box_.last[0]; j++)                                 \
    HA_INDEPENDENT_ for (ptrdiff_t i = ha_box_.first[1]; i < ha_box_.last[1]; i++)
#define HA_INDEX_LOOPS_3_(k, j, i)                                                                 \
    for (ptrdiff_t k = ha_box_.first[0]; k < ha_box_.last[0]; k++)                                 \
        for (ptrdiff_t j = ha_box_.first[1]; j < ha_box_.last[1]; j++)                             \
    HA_INDEPENDENT_ for (ptrdiff_t i = ha_box_.first[2]; i < ha_box_.last[2]; i++)

/* What each mode adds; all but the last two begin with their comma. C is the macro's second argument. */
#define HA_MODE_GIVEN_(C, mode, ...) HA_MODE_GIVEN_##mode##_(__VA_ARGS__)
#define HA_MODE_GIVEN_uses_(tag)
#define HA_MODE_GIVEN_value_(T, n) , T n
#define HA_MODE_GIVEN_in_(T, n) , ha_given_##T n
#define HA_MODE_GIVEN_inout_(T, n) , ha_given_##T n
#define HA_MODE_GIVEN_out_(T, n) , ha_given_##T n

#define HA_MODE_SEEN_(C, mode, ...) HA_MODE_SEEN_##mode##_(__VA_ARGS__)
#define HA_MODE_SEEN_uses_(tag)
#define HA_MODE_SEEN_value_(T, n) , const T n
#define HA_MODE_SEEN_in_(T, n) , const ha_in_##T n, HA_UNUSED const int64_t n##_size_
#define HA_MODE_SEEN_inout_(T, n) , const ha_out_##T n, HA_UNUSED const int64_t n##_size_
#define HA_MODE_SEEN_out_(T, n) , const ha_out_##T n, HA_UNUSED const int64_t n##_size_

#define HA_MODE_LOOPED_(C, mode, ...) HA_MODE_LOOPED_##mode##_(C, __VA_ARGS__)
#define HA_MODE_LOOPED_uses_(C, tag)
#define HA_MODE_LOOPED_value_(C, T, n) , const T n
#define HA_MODE_LOOPED_in_(C, T, n)                                                                \
    , ha_element_##T const *C n##_first_, const ha_kernel_slot_ *const n##_slot_
#define HA_MODE_LOOPED_inout_(C, T, n)                                                             \
    , ha_element_##T *C n##_first_, const ha_kernel_slot_ *const n##_slot_
#define HA_MODE_LOOPED_out_(C, T, n) HA_MODE_LOOPED_inout_(C, T, n)

#define HA_MODE_VARIABLE_(C, mode, ...) HA_MODE_VARIABLE_##mode##_(C, __VA_ARGS__)
#define HA_MODE_VARIABLE_uses_(C, tag)
#define HA_MODE_VARIABLE_value_(C, T, n)
#define HA_MODE_VARIABLE_in_(C, T, n)                                                              \
    const ha_in_##T n = ha_in_##T##_(n##_first_, n##_slot_->span, C);                              \
    const int64_t n##_size_ = n##_slot_->size;
#define HA_MODE_VARIABLE_inout_(C, T, n)                                                           \
    const ha_out_##T n = ha_out_##T##_(n##_first_, n##_slot_->span, C);                            \
    const int64_t n##_size_ = n##_slot_->size;
#define HA_MODE_VARIABLE_out_(C, T, n) HA_MODE_VARIABLE_inout_(C, T, n)

#define HA_MODE_NAMED_(C, mode, ...) HA_MODE_NAMED_##mode##_(__VA_ARGS__)
#define HA_MODE_NAMED_uses_(tag)
#define HA_MODE_NAMED_value_(T, n) , n
#define HA_MODE_NAMED_in_(T, n) , n, n##_size_
#define HA_MODE_NAMED_inout_(T, n) , n, n##_size_
#define HA_MODE_NAMED_out_(T, n) , n, n##_size_

#define HA_MODE_PASSED_(C, mode, ...) HA_MODE_PASSED_##mode##_(__VA_ARGS__)
#define HA_MODE_PASSED_uses_(tag)
#define HA_MODE_PASSED_value_(T, n) , *HA_CAST_(const T *, n##_slot_->pointer)
#define HA_MODE_PASSED_in_(T, n) , HA_CAST_(ha_element_##T const *, n##_slot_->pointer), n##_slot_
#define HA_MODE_PASSED_inout_(T, n) , HA_CAST_(ha_element_##T *, n##_slot_->pointer), n##_slot_
#define HA_MODE_PASSED_out_(T, n) HA_MODE_PASSED_inout_(T, n)

#define HA_MODE_ADDRESS_(C, mode, ...) HA_MODE_ADDRESS_##mode##_(__VA_ARGS__)
#define HA_MODE_ADDRESS_uses_(tag) , HA_NULL_
#define HA_MODE_ADDRESS_value_(T, n) , &n
#define HA_MODE_ADDRESS_in_(T, n) , &n
#define HA_MODE_ADDRESS_inout_(T, n) , &n
#define HA_MODE_ADDRESS_out_(T, n) , &n

#define HA_MODE_SLOT_(C, mode, ...) HA_MODE_SLOT_##mode##_(__VA_ARGS__)
#define HA_MODE_SLOT_uses_(tag) ha_slot_++;
#define HA_MODE_SLOT_value_(T, n) const ha_kernel_slot_ *const n##_slot_ = ha_slot_++;
#define HA_MODE_SLOT_in_(T, n) HA_MODE_SLOT_value_(T, n)
#define HA_MODE_SLOT_inout_(T, n) HA_MODE_SLOT_value_(T, n)
#define HA_MODE_SLOT_out_(T, n) HA_MODE_SLOT_value_(T, n)

#define HA_MODE_ROW_(C, mode, ...) HA_MODE_ROW_##mode##_(__VA_ARGS__)
#define HA_MODE_ROW_uses_(tag) {HA_KERNEL_USES_, 0, 0, ha_uses_##tag, #tag},
#define HA_MODE_ROW_value_(T, n) {HA_KERNEL_VALUE_, 0, sizeof(T), #T, #n},
#define HA_MODE_ROW_in_(T, n) HA_MODE_ROW_OF_(HA_KERNEL_IN_, T, n)
#define HA_MODE_ROW_inout_(T, n) HA_MODE_ROW_OF_(HA_KERNEL_INOUT_, T, n)
#define HA_MODE_ROW_out_(T, n) HA_MODE_ROW_OF_(HA_KERNEL_OUT_, T, n)
/* A span has a pointer, and three numbers for each dimension. */
#define HA_MODE_ROW_OF_(mode, T, n)                                                                \
    {mode, HA_TO_(int, sizeof(ha_in_##T) / 24), sizeof(ha_element_##T), #T, #n},

/* Not to contract, clang is told in the loops, gcc by an attribute. */
#if defined __clang__
#define HA_UNCONTRACTED_
#define HA_NO_CONTRACTION_ _Pragma("clang fp contract(off)")
#else
#define HA_UNCONTRACTED_ __attribute__((__optimize__("fp-contract=off")))
#define HA_NO_CONTRACTION_
#endif

#define HA_KERNEL_TEXT_(name, parameters, indices, indices_text, text, ...)                        \
    HA_KERNEL_RANK_(name, parameters, HA_COUNT_OF_ indices, indices, indices_text, text,           \
                    __VA_ARGS__)
#define HA_KERNEL_RANK_(name, parameters, D, ...) HA_KERNEL_MADE_(name, parameters, D, __VA_ARGS__)
#define HA_KERNEL_MADE_(name, parameters, D, indices, indices_text, text, ...)                     \
    HA_KERNEL_BODY_(name, parameters, D, indices, __VA_ARGS__)                                     \
    HA_KERNEL_REST_(name, parameters, D, indices, indices_text, text, HA_NULL_)                    \
    struct ha_semicolon_

/* In a file: the body comes behind all that calls it. */
#define HA_KERNEL_FILED_(tag, name, parameters, indices, indices_text)                             \
    HA_KERNEL_FILED_RANK_(tag, name, parameters, HA_COUNT_OF_ indices, indices, indices_text)
#define HA_KERNEL_FILED_RANK_(tag, name, parameters, D, ...)                                       \
    HA_KERNEL_FILED_MADE_(tag, name, parameters, D, __VA_ARGS__)
#define HA_KERNEL_FILED_MADE_(tag, name, parameters, D, indices, indices_text)                     \
    HA_KERNEL_HEAD_(name, parameters, D, indices);                                                 \
    HA_KERNEL_REST_(name, parameters, D, indices, indices_text, HA_KERNEL_TEXT(tag), #tag)         \
    HA_KERNEL_HEAD_(name, parameters, D, indices)

#define HA_KERNEL_REST_(name, parameters, D, indices, indices_text, text, file)                    \
    HA_KERNEL_LOOP_(name, apart, __restrict__, 1, parameters, D, indices)                          \
    HA_KERNEL_LOOP_(name, any, , 0, parameters, D, indices)                                        \
    static void name##_loops_(const ha_region *ha_box_, int ha_apart_,                             \
                              const ha_kernel_slot_ *ha_slot_) {                                   \
        HA_FOR_FIELDS_(HA_MODE_SLOT_, ~, HA_BARE_ parameters)                                      \
        if (ha_apart_)                                                                             \
            name##_apart_(*ha_box_ HA_FOR_FIELDS_(HA_MODE_PASSED_, ~, HA_BARE_ parameters));       \
        else                                                                                       \
            name##_any_(*ha_box_ HA_FOR_FIELDS_(HA_MODE_PASSED_, ~, HA_BARE_ parameters));         \
    }                                                                                              \
    static const ha_kernel_parameter_ name##_parameters_[] = {                                     \
        HA_FOR_FIELDS_(HA_MODE_ROW_, ~, HA_BARE_ parameters)};                                     \
    HA_LISTED_ static const ha_kernel name##_kernel = {#name,                                      \
                                                       text,                                       \
                                                       indices_text,                               \
                                                       HA_SITE,                                    \
                                                       D,                                          \
                                                       HA_COUNT_OF_ parameters,                    \
                                                       name##_parameters_,                         \
                                                       name##_loops_,                              \
                                                       file};                                      \
    HA_STATIC_ASSERT_(HA_COUNT_OF_ parameters <= HA_MOST_PARAMETERS_,                              \
                      "HA_KERNEL: more than twelve parameters");                                   \
    HA_TYPED_ ha_status name##_in(                                                                 \
        ha_context *ha_context_,                                                                   \
        ha_region ha_box_ HA_FOR_FIELDS_(HA_MODE_GIVEN_, ~, HA_BARE_ parameters)) {                \
        const void *const ha_given_[] = {                                                          \
            HA_NULL_ HA_FOR_FIELDS_(HA_MODE_ADDRESS_, ~, HA_BARE_ parameters)};                    \
        return ha_kernel_launch_(&name##_kernel, ha_context_, &ha_box_, ha_given_ + 1);            \
    }                                                                                              \
    HA_TYPED_ ha_status name(                                                                      \
        ha_context *ha_context_,                                                                   \
        HA_LANES_OF_##D##_ ha_lanes_ HA_FOR_FIELDS_(HA_MODE_GIVEN_, ~, HA_BARE_ parameters)) {     \
        const void *const ha_given_[] = {                                                          \
            HA_NULL_ HA_FOR_FIELDS_(HA_MODE_ADDRESS_, ~, HA_BARE_ parameters)};                    \
        const ha_region ha_box_ = ha_lanes_##D##_(ha_lanes_);                                      \
        return ha_kernel_launch_(&name##_kernel, ha_context_,                                      \
                                 HA_IS_ALL_##D##_(ha_lanes_) ? HA_NULL_ : &ha_box_,                \
                                 ha_given_ + 1);                                                   \
    }

/* The text of the body is one of the macro's arguments, or several where it has commas. */
#define HA_KERNEL_BODY_(name, parameters, D, indices, ...)                                         \
    HA_KERNEL_HEAD_(name, parameters, D, indices) __VA_ARGS__
#define HA_KERNEL_HEAD_(name, parameters, D, indices)                                              \
    HA_FN void name##_body_(                                                                       \
        HA_INDEX_PARAMETERS_##D##_ indices HA_FOR_FIELDS_(HA_MODE_SEEN_, ~, HA_BARE_ parameters))

#define HA_KERNEL_LOOP_(name, how, restricted, unit, parameters, D, indices)                       \
    HA_UNCONTRACTED_ static                                                                        \
        __attribute__((__noinline__)) void name##_##how##_(const ha_region ha_box_ HA_FOR_FIELDS_( \
            HA_MODE_LOOPED_, restricted, HA_BARE_ parameters)) {                                   \
        HA_NO_CONTRACTION_                                                                         \
        HA_FOR_FIELDS_(HA_MODE_VARIABLE_, unit, HA_BARE_ parameters)                               \
        HA_INDEX_LOOPS_##D##_ indices name##_body_(                                                \
            HA_BARE_ indices HA_FOR_FIELDS_(HA_MODE_NAMED_, ~, HA_BARE_ parameters));              \
    }

#endif
