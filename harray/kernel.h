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
 * bit, of + - * / and sqrt; where the compiler may contract a * b + c into one operation, it is told not to. It does
 * not heed that with -ffast-math, and clang does not with -ffp-contract=fast.
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
 *     constant T            is given a harray_T            const T *name     read: a table of at most 64 KiB,
 *                                                          in devices' constant memory
 *     (use, R, name, what)  is given an R of HA_RECORDS    a view of R       as in HA_USING: fields of records
 *     bundle  B             is given a B                   ha_seen_B name    several of these: HA_BUNDLE
 *     (uses, tag)           nothing                        what HA_DEVICE_… of this tag has declared
 *     (option, name, n)     nothing                        n is a number as it stands in the text:
 *         block       lanes of a team on devices that have teams; 256
 *         grain       a lane is as much work as so many of a short body's: see OpenMP below; 1
 *         contract    1: a * b + c may be one operation, rounded once, here and on devices; 0
 *
 * Types of elements and values are numbers, structs of HA_RECORD, whose text for devices is made from their
 * fields (so no other member can be used there), and other structs of HA_DEVICE_CODE; none has pointers.
 *
 * Of `out` the old values are not moved when the lanes are exactly the elements (of a view: the indices);
 * otherwise the elements that no lane writes keep theirs. An array may be given twice, for `in` and for one
 * inout or out: each lane then reads its own element before it writes it. What is `constant` is written by no
 * lane. HA_SIZE(name) is the number of elements of an argument, in its body.
 *
 * A kernel that was launched on a device is known by its address until ha_shutdown(): a library with kernels is not
 * unloaded before.
 *
 * ---- OpenMP: where the file with the kernel is compiled with it, and a launch on the host has at least 8,192
 * lanes (times `grain`), the threads of a parallel region share them, each a part of the outermost index. Not
 * inside of another parallel region. Threads of your own instead: ha_set_parallel.
 *
 * ---- errors: the status, and ha_take_error(). When it is not HA_OK nothing has been run or changed.
 *   HA_ERR_ARGUMENT   no array; a view that was refused; lanes below zero; a box that is not inside 63 bits;
 *                     HA_ALL_LANES, and the arrays have different sizes, or there is none; a `constant` of
 *                     more than 64 KiB, or that the kernel writes; on a device: more than 1000 bytes of
 *                     arguments, where each array takes 24, and 24 more for each dimension of a view
 *   HA_ERR_UNSUPPORTED  the device does not compute with double, and something in the kernel does: its name, or
 *                     the literal (0.5 is one) or function (sqrt), is told; see also ha_kernel_place
 *   HA_ERR_COMPILE    the device's compiler refuses the body: the text has the first error, with your file and
 *                     line, and ha_kernel_log all that it said. The next launch is refused as well
 *   HA_ERR_MEMORY, HA_ERR_BACKEND  the driver did not take what was compiled, or the launch. Of one with more lanes
 *                     than a device counts at once, or of a reduction, it may have taken a part, and then says so:
 *                     what the kernel writes is undefined
 *   others            as ha_open_many for all arrays in one call, and as ha_enqueue
 * A kernel may be launched from any thread. */
#ifndef HARRAY_KERNEL_H
#define HARRAY_KERNEL_H

#include "../layout/detail/list.h"
#include "../layout/each.h"
#include "ndarray.h"
#include "records_typed.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* As many lanes as the arrays that are given have elements, but for constants and those in bundles; of kernels
 * with one index. */
#define HA_ALL_LANES INT64_C(-1)

/* In a body: how many elements an argument has. Of an array in a bundle: HA_SIZE(d.energy). */
#define HA_SIZE(name) name##_size_

/* In a body or a helper, instead of printf: ha_trace_value(x[i]); compiled with HARRAY_DEBUG, the host's loops print
 *     harray: program.c:12: x[i] = 0.5
 * on stderr, with the line of the kernel (in a kernel file, of the statement). Numbers, with all their digits. Nothing is
 * printed, and the value not computed, without HARRAY_DEBUG, in .cu files, and where a device has compiled the
 * kernel. if (i == 7) in front of it traces one lane. */
#if defined HARRAY_DEBUG && !defined __CUDACC__
#define ha_trace_value(value)                                                                      \
    __extension__({                                                                                \
        const HA_TYPEOF_((value) + 0) ha_value_ = (value);                                         \
        HA_STATIC_ASSERT_(sizeof ha_value_ <= 8, "ha_trace_value: a number of up to 64 bits");     \
        ha_trace_value_(HA_SITE ": " #value, &ha_value_, sizeof ha_value_,                         \
                        HA_TO_(HA_TYPEOF_((value) + 0), 0.5) > 0,                                  \
                        HA_TO_(HA_TYPEOF_((value) + 0), -1) > 0);                                  \
    })
#else
#define ha_trace_value(value) HA_TO_(void, sizeof((value) + 0.0))
#endif
HA_API void ha_trace_value_(const char *what, const void *value, size_t bytes, int has_fraction,
                            int is_unsigned);

/* Several arguments as one parameter, also of helper functions: up to 24 of them, in the modes value, in, inout,
 * out and constant. At file scope, in front of what uses it.
 *
 *     HA_BUNDLE(grid_data, (in, int, first), (in, double, energy), (value, int, materials));
 *     HA_DEVICE_CODE(search, HA_FN int find(ha_seen_grid_data d, double e) { … d.energy[i] … });
 *     HA_KERNEL(lookup, ((uses, search), (bundle, grid_data, d), (out, int, y)), i, { y[i] = find(d, 0.5); });
 *     …
 *     grid_data d = {first, energy, 12};   // arrays: harray_int first, harray_double energy
 *     HA_CHECK(lookup(gpu, n, d, y));
 *
 * makes the struct grid_data, of what is given, and ha_seen_grid_data, of what the body sees. Its members are
 * arguments of the kernel like others. The names of members that are views or arrays are those of both. */
#define HA_BUNDLE(name, ...)                                                                       \
    HA_FOR_FIELDS_(HA_MEMBER_CHECK_, name, __VA_ARGS__)                                            \
    typedef struct name {                                                                          \
        HA_FOR_FIELDS_(HA_MEMBER_GIVEN_, ~, __VA_ARGS__)                                           \
    } name;                                                                                        \
    typedef name ha_given_##name;                                                                  \
    typedef struct ha_seen_##name {                                                                \
        HA_FOR_FIELDS_(HA_MEMBER_SEEN_, ~, __VA_ARGS__)                                            \
    } ha_seen_##name;                                                                              \
    HA_FN ha_seen_##name ha_seen_##name##_(const ha_kernel_slot_ *ha_slot_, int ha_unit_) {        \
        ha_seen_##name ha_seen_;                                                                   \
        HA_FOR_FIELDS_(HA_MEMBER_FOUND_, ~, __VA_ARGS__)                                           \
        return (void)ha_slot_, (void)ha_unit_, ha_seen_;                                           \
    }                                                                                              \
    HA_FOR_FIELDS_(HA_MODE_MAYBE_, ~, __VA_ARGS__)                                                 \
    HA_UNUSED static const ha_kernel_parameter_ ha_members_##name[] = {                            \
        HA_FOR_FIELDS_(HA_MEMBER_ROW_, name, __VA_ARGS__)};                                        \
    HA_STATIC_ASSERT_(HA_COUNT_OF_(__VA_ARGS__) <= 24,                                             \
                      "HA_BUNDLE(" #name "): more than 24 members");                               \
    struct ha_semicolon_

/* Writes where a kernel runs when it is launched at a context, and why there, as snprintf does: "cuda:0:
 * compiled for it: NVIDIA H100", "cuda:0: on the host: libnvrtc.so.13, …: not found". With
 * HARRAY_KERNELS=strict in the environment launches that would not run on the device are refused, by
 * HA_ERR_UNSUPPORTED. 0: HA_ERR_ARGUMENT when there is no kernel, HA_ERR_MEMORY. */
typedef struct ha_kernel ha_kernel;
HA_API size_t ha_kernel_place(const ha_kernel *kernel, ha_context *context, char *text,
                              size_t bytes);

/* 1: kernels of a context give the bits that they give on the host, for + - * / and sqrt of float and, where the device
 * has it, double. A small kernel is run there, and waited for, and what it gives compared; where kernels run as loops
 * compiled here that is known. 0: some bits differ, as those of a device that contracts products or that has no
 * denormal numbers; or it failed, which is told as for a launch. */
HA_API int ha_context_is_exact(ha_context *context);

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
 * library the files that were linked. Kernels over records are compiled for the layout of their view, if it has one, else
 * for "soa". A kernel that nothing in its file launches may be missing. Linkers that drop
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

/* Threads of your own for the loops of kernels on the host: for programs with a pool of threads, with or without
 * OpenMP, whose regions are not opened then. Launches on the host of at least 8,192 lanes (as above, also teams'
 * lanes and reductions) call function(user, run, launch), in the thread that launches. It calls run(launch, part, parts)
 * for each part 0 … parts - 1, from any threads, and returns when these calls have returned:
 *
 *     static void by_pool(void *user, ha_run_part run, void *launch) {
 *         pool *p = user;
 *         for (int k = 1; k < p->threads; k++) pool_add(p, run, launch, k, p->threads);
 *         run(launch, 0, p->threads);
 *         pool_wait(p);
 *     }
 *     …
 *     ha_set_parallel(by_pool, &p);
 *
 * There are as many parts as its first call says, up to 1,024, each a piece of the outermost index; fewer than parts
 * have lanes where there are not as many indices. A part runs once: a second call for it, or one of other numbers, does
 * nothing; and what has not begun when the function returns runs in the thread that launches. So all lanes are run,
 * whatever it does. Reductions have the same bits for any number of parts.
 *
 * The function may be called by several threads at once, where these launch kernels. What it launches itself, or a part
 * does, runs alone. NULL: no threads any more. May be called from any thread at any time; launches that have
 * begun go on with the function before, so what that needs stays until they have returned. */
typedef void (*ha_run_part)(void *launch, int part, int parts);
typedef void (*ha_parallel)(void *user, ha_run_part run, void *launch);
HA_API void ha_set_parallel(ha_parallel function, void *user);

/* What stands in front of kernels that name it by (uses, tag), on devices too: functions, which are HA_FN, and
 * structs, which hold no pointers; a macro without arguments, by what it expands to here; a table of
 * constants, HA_DEVICE_TABLE(weights, double, weight, {0.5, 0.25, 0.25}). A tag has no macro's name. In files
 * of CUDA (.cu) such a function has neither a table nor an atomic in it, as nvcc itself compiles it for the GPU, too;
 * bodies may have both. */
#define HA_DEVICE_CODE(tag, ...)                                                                   \
    HA_CONTRACTION_0_                                                                              \
    __VA_ARGS__                                                                                    \
    HA_CONTRACTION_END_                                                                            \
    typedef void ha_tag_##tag##_;                                                                  \
    HA_FORWARDED_(tag) #__VA_ARGS__;                                                               \
    struct ha_semicolon_
#define HA_DEVICE_CONST(tag, macro)                                                                \
    typedef void ha_tag_##tag##_;                                                                  \
    HA_FORWARDED_(tag) "\n#define " #macro " " HA_STRING_(macro) "\n";                             \
    struct ha_semicolon_
#define HA_DEVICE_TABLE(tag, T, name, ...)                                                         \
    HA_UNUSED static const T name[] = __VA_ARGS__;                                                 \
    typedef void ha_tag_##tag##_;                                                                  \
    HA_FORWARDED_(tag) "HA_TABLE_ " #T " " #name "[] = " #__VA_ARGS__ ";";                         \
    struct ha_semicolon_
/* Behind its site. */
#define HA_FORWARDED_(tag) HA_UNUSED static const char ha_uses_##tag[] = HA_SITE "\n"

/* Records that a view or a bundle has as elements: (uses, grid_point) behind HA_DEVICE_RECORD(grid_point). Where
 * HA_KERNEL itself is told the type, as in (in, grid_point, g), there is no need for it. */
#define HA_DEVICE_RECORD(R)                                                                        \
    typedef R ha_tag_##R##_;                                                                       \
    HA_FORWARDED_(R) "";                                                                           \
    struct ha_semicolon_

/* Kernels over records: a lane for each, at a cursor as in HA_EACH.
 *
 *     HA_KERNEL_EACH(drift, (bodies, p, "read vel, write pos"), ((value, float, dt)), at, {
 *         *sky_pos_x(p, at) += dt * *sky_vel_x(p, at);
 *     });
 *     …
 *     HA_CHECK(drift(gpu, r, 0.25f));                          // of bodies r: all
 *     HA_CHECK(drift_in(gpu, ha_box1(10, 20), r, 0.25f));      // those of a box of indices
 *
 * Of a box, the fields that are written are opened there only, and those that are read everywhere: lanes may look
 * at their neighbours. Whatever layout the records have there: the body is compiled for it, on devices when the kernel is first
 * launched with that. In bodies are there, of sky and its fields, also in helpers that are given a view: the
 * accessors with pointers, _get, _set, _load and _store; sky_at, sky_load, sky_store, sky_region; v.extent and
 * v.count; ha_index, ha_coordinate, ha_neighbour, HA_EACH and HA_EACH_IN. Parameters as those of HA_KERNEL;
 * () is none. Errors as there, and as HA_USING: HA_ERR_ARGUMENT when views of this type cannot have the layout. */
#define HA_KERNEL_EACH(name, records, parameters, at, ...)                                         \
    HA_KERNEL_EACH_1_(name, HA_BARE_ records, parameters, (at), #at, #__VA_ARGS__, (__VA_ARGS__))
#define HA_KERNEL_EACH_1_(...) HA_KERNEL_EACH_2_(__VA_ARGS__)

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
 * The other forms are there as well, each as its macro with the tag in front and the body behind:
 *
 *     HA_KERNEL_EACH_IN(heat, drift, (bodies, p, "read vel, write pos"), ((value, float, dt)), at) { … }
 *     HA_TEAM_KERNEL_IN(heat, scan64, 64, g, ((in, float, x), (out, float, y))) { … }     // team.h
 *     HA_REDUCE_IN(heat, dot, ((in, double, x), (in, double, y)), i, double, HA_SUM) { return x[i] * y[i]; }
 *
 * Devices get the whole file but for other kernels of it and lines with #include; so brackets are to be balanced,
 * also in what #if leaves out, which keeps the rules of teams, too. The name in quotes is for the
 * assembler (.incbin), which looks in the directory where the compiler works and in those of -I, not beside the
 * file that names it; with -flto it does so when the program is linked. Where the text is made in another way it is
 * an array of this name, which ends with 0:
 *
 *     static const char HA_KERNEL_TEXT(heat)[] = {
 *     #embed "heat_kernels.h"
 *         , 0};
 *
 * clang contracts nothing in what stands behind HA_KERNEL_FILE and HA_KERNEL_IN, the program's own code as well, until
 *     #pragma STDC FP_CONTRACT DEFAULT
 * and where the text is an array, the same with OFF belongs in front of the file.
 *
 * A tag has no macro's name, and is that of one file in a program. */
#define HA_KERNEL_FILE(tag, path)                                                                  \
    HA_CONTRACTION_FROM_HERE_0_                                                                    \
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
#define HA_KERNEL_EACH_IN(tag, name, records, parameters, at)                                      \
    HA_KERNEL_EACH_FILED_(tag, name, HA_BARE_ records, parameters, (at), #at)
#ifdef __cplusplus
#define HA_LINKED_ extern "C"
#else
#define HA_LINKED_ extern
#endif

/* ---- what it is made of ------------------------------------------------------------------------ */

typedef enum ha_kernel_mode_ {
    HA_KERNEL_USES_,
    HA_KERNEL_OPTION_,
    HA_KERNEL_BUNDLE_,
    HA_KERNEL_RECORDS_,
    HA_KERNEL_VALUE_,
    HA_KERNEL_CONSTANT_, /* from here on arrays */
    HA_KERNEL_IN_,
    HA_KERNEL_INOUT_,
    HA_KERNEL_OUT_,
    HA_KERNEL_RESULT_ /* the one element that a reduction writes: the last parameter */
} ha_kernel_mode_;

enum { HA_OPTION_block_, HA_OPTION_contract_, HA_OPTION_grain_ };

typedef struct ha_kernel_parameter_ ha_kernel_parameter_;
struct ha_kernel_parameter_ {
    ha_kernel_mode_ mode;
    int rank;     /* of an array_T_D; 0 of a harray_T. Which option it is; members of a bundle */
    size_t bytes; /* of the value, or of one element. What the option is set to */
    const char *type; /* as it stands in the kernel; of what it uses the site, and
                         behind a newline the text */
    const char *name, *site;
    size_t offset; /* of a member of a bundle: in what is given */
    const ha_kernel_parameter_ *member;
    const ha_record *record; /* of values and elements; NULL, or without a name: they are none */
    const ha_records_type_ *records;
    const char *what; /* of records */
};

/* What of records is given. */
typedef struct ha_kernel_use_ {
    ha_records *records;
    void *view; /* room for a view of them */
} ha_kernel_use_;

/* The record of a type that is one. In C this is HA_RECORD's, or defines nothing. */
#ifdef __cplusplus
#define HA_MAYBE_RECORD_(T)
#define HA_RECORD_OF_(name, T) ha_record_found_<T>()
#else
#define HA_MAYBE_RECORD_(T) HA_UNUSED static const ha_record T##_record;
#define HA_RECORD_OF_(name, T) &name##_record
#endif

/* What a parameter is given in a launch, where the loops run. */
typedef struct ha_kernel_slot_ {
    void *pointer; /* to the value; else to the first element, of a view to index 0, 0, … */
    void *span;    /* of a view: a span_T_D, whose data is not looked at; NULL: it is none */
    int64_t size;  /* elements; 0 of values */
} ha_kernel_slot_;

/* Runs the lanes of a box. `apart`: no argument that is written overlaps another one, and the last
 * strides of all views are 1. */
typedef void (*ha_kernel_loops_)(const ha_kernel *kernel, const ha_region *box, int apart,
                                 const ha_kernel_slot_ *slot);

struct ha_kernel {
    const char *name, *text, *indices, *site;
    int rank; /* indices */
    int parameters;
    const ha_kernel_parameter_ *parameter;
    ha_kernel_loops_ loops;
    int each;                              /* lanes are the records of the first parameter */
    const struct ha_team_ *team;           /* NULL: its lanes have none */
    const struct ha_reduction_ *reduction; /* NULL: it is none */
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

enum {
    HA_MOST_PARAMETERS_ = 12,
    HA_MOST_ARGUMENTS_ = 65, /* with the members of bundles, and what a reduction writes */
    HA_CONSTANT_BYTES_ = 1 << 16
};

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
#define HA_INDEX_PARAMETERS_1_(i) HA_UNUSED const ptrdiff_t i
#define HA_INDEX_PARAMETERS_2_(j, i) HA_UNUSED const ptrdiff_t j, HA_UNUSED const ptrdiff_t i
#define HA_INDEX_PARAMETERS_3_(k, j, i)                                                            \
    HA_UNUSED const ptrdiff_t k, HA_UNUSED const ptrdiff_t j, HA_UNUSED const ptrdiff_t i

#if defined __clang__ && !defined __CUDACC__
/* Two vectors at a time: clang takes the indices of views for a part of the work, and the loop for too long. */
#define HA_LANES_LOOP_ _Pragma("clang loop vectorize(assume_safety) interleave_count(2)")
#else
#define HA_LANES_LOOP_ HA_INDEPENDENT_
#endif
#define HA_INDEX_LOOPS_1_(i)                                                                       \
    HA_LANES_LOOP_ for (ptrdiff_t i = ha_box_.first[0]; i < ha_box_.last[0]; i++)
#define HA_INDEX_LOOPS_2_(j, i)                                                                    \
    for (ptrdiff_t j = ha_box_.first[0]; j < ha_box_.last[0]; j++)                                 \
    HA_LANES_LOOP_ for (ptrdiff_t i = ha_box_.first[1]; i < ha_box_.last[1]; i++)
#define HA_INDEX_LOOPS_3_(k, j, i)                                                                 \
    for (ptrdiff_t k = ha_box_.first[0]; k < ha_box_.last[0]; k++)                                 \
        for (ptrdiff_t j = ha_box_.first[1]; j < ha_box_.last[1]; j++)                             \
    HA_LANES_LOOP_ for (ptrdiff_t i = ha_box_.first[2]; i < ha_box_.last[2]; i++)

/* What is wrong with a parameter is said before the compiler finds out in its own words. */
#define HA_MODE_CHECK_(name, mode, ...)                                                            \
    HA_MODE_CHECK_1_(HA_DEFINED_(HA_IS_MODE_##mode##_), name, mode, __VA_ARGS__)                   \
    HA_VARIANT_(HA_MODE_CHECKED_, HA_DEFINED_(HA_IS_MODE_##mode##_))(name, mode, __VA_ARGS__)
#define HA_MODE_CHECK_1_(known, name, mode, ...)                                                   \
    HA_STATIC_ASSERT_(known, #name ": (" #mode ", " #__VA_ARGS__                                   \
                                   "): the modes of parameters are value, in, inout, out, "        \
                                   "constant, use, bundle, uses and option");
#define HA_MEMBER_CHECK_(name, mode, ...)                                                          \
    HA_MEMBER_CHECK_1_(HA_DEFINED_(HA_IS_MEMBER_##mode##_), name, mode, __VA_ARGS__)               \
    HA_VARIANT_(HA_MODE_CHECKED_, HA_DEFINED_(HA_IS_MEMBER_##mode##_))(name, mode, __VA_ARGS__)
#define HA_MEMBER_CHECK_1_(known, name, mode, ...)                                                 \
    HA_STATIC_ASSERT_(known, #name ": (" #mode ", " #__VA_ARGS__                                   \
                                   "): the modes of a bundle's members are value, in, inout, out " \
                                   "and constant");

#define HA_PARAMETERS_CHECK_(name, parameters, most, most_text)                                    \
    HA_STATIC_ASSERT_(HA_COUNT_OF_ parameters <= most,                                             \
                      #name ": more than " most_text " parameters");                               \
    HA_FOR_FIELDS_(HA_MODE_CHECK_, name, HA_BARE_ parameters)

/* 1: the macro is there. */
#define HA_DEFINED_(macro) HA_CALL_(HA_SECOND_OF_, macro, 0, ~)
#define HA_IS_MODE_uses_ ~, 1
#define HA_IS_MODE_option_ ~, 1
#define HA_IS_MODE_use_ ~, 1
#define HA_IS_MODE_bundle_ ~, 1
#define HA_IS_MODE_value_ ~, 1
#define HA_IS_MODE_constant_ ~, 1
#define HA_IS_MODE_in_ ~, 1
#define HA_IS_MODE_inout_ ~, 1
#define HA_IS_MODE_out_ ~, 1
#define HA_IS_MEMBER_value_ ~, 1
#define HA_IS_MEMBER_constant_ ~, 1
#define HA_IS_MEMBER_in_ ~, 1
#define HA_IS_MEMBER_inout_ ~, 1
#define HA_IS_MEMBER_out_ ~, 1
#define HA_IS_OPTION_block_ ~, 1
#define HA_IS_OPTION_contract_ ~, 1
#define HA_IS_OPTION_grain_ ~, 1

#define HA_MODE_CHECKED_0_(name, mode, ...)
#define HA_MODE_CHECKED_1_(name, mode, ...) HA_MODE_CHECKED_##mode##_(name, __VA_ARGS__)
#define HA_MODE_CHECKED_uses_(name, tag)
#define HA_MODE_CHECKED_option_(name, option, n)                                                   \
    HA_OPTION_CHECKED_(HA_DEFINED_(HA_IS_OPTION_##option##_), name, option, n)
#define HA_OPTION_CHECKED_(known, name, option, n)                                                 \
    HA_STATIC_ASSERT_(known, #name ": (option, " #option ", " #n                                   \
                                   "): the options are block, contract and grain");
#define HA_MODE_CHECKED_use_(name, R, n, what)
#define HA_MODE_CHECKED_bundle_(name, B, n)
#define HA_MODE_CHECKED_value_(name, T, n)                                                         \
    HA_STATIC_ASSERT_(!HA_IS_ARRAY_(T), #name ": " #n " is an array of C, and no value: make it "  \
                                              "a member of a struct, or a constant");              \
    HA_STATIC_ASSERT_(!HA_IS_POINTER_(T), #name ": " #n " is a pointer, which means nothing on a " \
                                                "device: give the kernel the array");
#define HA_MODE_CHECKED_constant_(name, T, n)                                                      \
    HA_STATIC_ASSERT_(sizeof(ha_in_##T) == sizeof(void *),                                         \
                      #name ": the constant " #n " is a view: it has to be a harray_T");
#define HA_MODE_CHECKED_in_(name, T, n)
#define HA_MODE_CHECKED_inout_(name, T, n)
#define HA_MODE_CHECKED_out_(name, T, n)

/* What each mode adds; all but the last two begin with their comma. C is the macro's second argument. */
#define HA_MODE_GIVEN_(C, mode, ...) HA_MODE_GIVEN_##mode##_(__VA_ARGS__)
#define HA_MODE_GIVEN_uses_(tag)
#define HA_MODE_GIVEN_option_(name, value)
#define HA_MODE_GIVEN_use_(R, n, what) , ha_given_##R n
#define HA_MODE_GIVEN_value_(T, n) , T n
#define HA_MODE_GIVEN_bundle_(B, n) , ha_given_##B n
#define HA_MODE_GIVEN_constant_(T, n) , ha_given_##T n
#define HA_MODE_GIVEN_in_(T, n) , ha_given_##T n
#define HA_MODE_GIVEN_inout_(T, n) , ha_given_##T n
#define HA_MODE_GIVEN_out_(T, n) , ha_given_##T n

#define HA_MODE_SEEN_(C, mode, ...) HA_MODE_SEEN_##mode##_(__VA_ARGS__)
#define HA_MODE_SEEN_uses_(tag)
#define HA_MODE_SEEN_option_(name, value)
#define HA_MODE_SEEN_use_(R, n, what) , const ha_seen_##R n
#define HA_MODE_SEEN_value_(T, n) , const T n
#define HA_MODE_SEEN_bundle_(B, n) , const ha_seen_##B n
#define HA_MODE_SEEN_constant_(T, n) HA_MODE_SEEN_in_(T, n)
#define HA_MODE_SEEN_in_(T, n) , const ha_in_##T n, HA_UNUSED const int64_t n##_size_
#define HA_MODE_SEEN_inout_(T, n) , const ha_out_##T n, HA_UNUSED const int64_t n##_size_
#define HA_MODE_SEEN_out_(T, n) , const ha_out_##T n, HA_UNUSED const int64_t n##_size_

#define HA_MODE_LOOPED_(C, mode, ...) HA_MODE_LOOPED_##mode##_(C, __VA_ARGS__)
#define HA_MODE_LOOPED_uses_(C, tag)
#define HA_MODE_LOOPED_option_(C, name, value)
#define HA_MODE_LOOPED_use_(C, R, n, what) , const ha_kernel_slot_ *const n##_slot_
#define HA_MODE_LOOPED_value_(C, T, n) , const T n
#define HA_MODE_LOOPED_bundle_(C, B, n) , const ha_kernel_slot_ *const n##_slot_
#define HA_MODE_LOOPED_constant_(C, T, n) HA_MODE_LOOPED_in_(C, T, n)
#define HA_MODE_LOOPED_in_(C, T, n)                                                                \
    , ha_element_##T const *C n##_first_, const ha_kernel_slot_ *const n##_slot_
#define HA_MODE_LOOPED_inout_(C, T, n)                                                             \
    , ha_element_##T *C n##_first_, const ha_kernel_slot_ *const n##_slot_
#define HA_MODE_LOOPED_out_(C, T, n) HA_MODE_LOOPED_inout_(C, T, n)

#define HA_MODE_VARIABLE_(C, mode, ...) HA_MODE_VARIABLE_##mode##_(C, __VA_ARGS__)
#define HA_MODE_VARIABLE_uses_(C, tag)
#define HA_MODE_VARIABLE_option_(C, name, value)
#define HA_MODE_VARIABLE_use_(C, R, n, what)                                                       \
    ha_seen_##R n = *HA_CAST_(const ha_seen_##R *, n##_slot_->pointer);
#define HA_MODE_VARIABLE_value_(C, T, n)
#define HA_MODE_VARIABLE_bundle_(C, B, n) const ha_seen_##B n = ha_seen_##B##_(n##_slot_, C);
#define HA_MODE_VARIABLE_constant_(C, T, n) HA_MODE_VARIABLE_in_(C, T, n)
#define HA_MODE_VARIABLE_in_(C, T, n)                                                              \
    const ha_in_##T n = ha_in_##T##_(n##_first_, n##_slot_->span, C);                              \
    const int64_t n##_size_ = n##_slot_->size;
#define HA_MODE_VARIABLE_inout_(C, T, n)                                                           \
    const ha_out_##T n = ha_out_##T##_(n##_first_, n##_slot_->span, C);                            \
    const int64_t n##_size_ = n##_slot_->size;
#define HA_MODE_VARIABLE_out_(C, T, n) HA_MODE_VARIABLE_inout_(C, T, n)

#define HA_MODE_NAMED_(C, mode, ...) HA_MODE_NAMED_##mode##_(__VA_ARGS__)
#define HA_MODE_NAMED_uses_(tag)
#define HA_MODE_NAMED_option_(name, value)
#define HA_MODE_NAMED_use_(R, n, what) , n
#define HA_MODE_NAMED_value_(T, n) , n
#define HA_MODE_NAMED_bundle_(B, n) , n
#define HA_MODE_NAMED_constant_(T, n) , n, n##_size_
#define HA_MODE_NAMED_in_(T, n) , n, n##_size_
#define HA_MODE_NAMED_inout_(T, n) , n, n##_size_
#define HA_MODE_NAMED_out_(T, n) , n, n##_size_

#define HA_MODE_PASSED_(C, mode, ...) HA_MODE_PASSED_##mode##_(__VA_ARGS__)
#define HA_MODE_PASSED_uses_(tag)
#define HA_MODE_PASSED_option_(name, value)
#define HA_MODE_PASSED_use_(R, n, what) , n##_slot_
#define HA_MODE_PASSED_value_(T, n) , *HA_CAST_(const T *, n##_slot_->pointer)
#define HA_MODE_PASSED_bundle_(B, n) , n##_slot_
#define HA_MODE_PASSED_constant_(T, n) HA_MODE_PASSED_in_(T, n)
#define HA_MODE_PASSED_in_(T, n) , HA_CAST_(ha_element_##T const *, n##_slot_->pointer), n##_slot_
#define HA_MODE_PASSED_inout_(T, n) , HA_CAST_(ha_element_##T *, n##_slot_->pointer), n##_slot_
#define HA_MODE_PASSED_out_(T, n) HA_MODE_PASSED_inout_(T, n)

#define HA_MODE_ADDRESS_(C, mode, ...) HA_MODE_ADDRESS_##mode##_(__VA_ARGS__)
#define HA_MODE_ADDRESS_uses_(tag) , HA_NULL_
#define HA_MODE_ADDRESS_option_(name, value) , HA_NULL_
#define HA_MODE_ADDRESS_use_(R, n, what) , &n##_use_
#define HA_MODE_ADDRESS_value_(T, n) , &n
#define HA_MODE_ADDRESS_bundle_(B, n) , &n
#define HA_MODE_ADDRESS_constant_(T, n) , &n
#define HA_MODE_ADDRESS_in_(T, n) , &n
#define HA_MODE_ADDRESS_inout_(T, n) , &n
#define HA_MODE_ADDRESS_out_(T, n) , &n

#define HA_MODE_SLOT_(C, mode, ...) HA_MODE_SLOT_##mode##_(__VA_ARGS__)
#define HA_MODE_SLOT_uses_(tag) ha_slot_++;
#define HA_MODE_SLOT_option_(name, value) ha_slot_++;
#define HA_MODE_SLOT_use_(R, n, what) const ha_kernel_slot_ *const n##_slot_ = ha_slot_++;
#define HA_MODE_SLOT_value_(T, n) const ha_kernel_slot_ *const n##_slot_ = ha_slot_++;
#define HA_MODE_SLOT_bundle_(B, n)                                                                 \
    const ha_kernel_slot_ *const n##_slot_ = ha_slot_;                                             \
    ha_slot_ += HA_MEMBERS_(B);
#define HA_MODE_SLOT_constant_(T, n) HA_MODE_SLOT_value_(T, n)
#define HA_MODE_SLOT_in_(T, n) HA_MODE_SLOT_value_(T, n)
#define HA_MODE_SLOT_inout_(T, n) HA_MODE_SLOT_value_(T, n)
#define HA_MODE_SLOT_out_(T, n) HA_MODE_SLOT_value_(T, n)

#define HA_MODE_ROW_(C, mode, ...) HA_MODE_ROW_##mode##_(__VA_ARGS__)
#define HA_MODE_ROW_uses_(tag)                                                                     \
    {HA_KERNEL_USES_,                                                                              \
     0,                                                                                            \
     0,                                                                                            \
     ha_uses_##tag,                                                                                \
     #tag,                                                                                         \
     HA_SITE,                                                                                      \
     0,                                                                                            \
     HA_NULL_,                                                                                     \
     HA_RECORD_OF_(tag, ha_tag_##tag##_),                                                          \
     HA_NULL_,                                                                                     \
     HA_NULL_},
#define HA_MODE_ROW_option_(name, value)                                                           \
    {HA_KERNEL_OPTION_,                                                                            \
     HA_OPTION_##name##_,                                                                          \
     value,                                                                                        \
     #value,                                                                                       \
     #name,                                                                                        \
     HA_SITE,                                                                                      \
     0,                                                                                            \
     HA_NULL_,                                                                                     \
     HA_NULL_,                                                                                     \
     HA_NULL_,                                                                                     \
     HA_NULL_},
#define HA_MODE_ROW_bundle_(B, n)                                                                  \
    {HA_KERNEL_BUNDLE_, HA_MEMBERS_(B), 0,        #B,      #n, HA_SITE, 0,                         \
     ha_members_##B,    HA_NULL_,       HA_NULL_, HA_NULL_},
#define HA_MODE_ROW_use_(R, n, what)                                                               \
    {HA_KERNEL_RECORDS_, 0,        sizeof(ha_seen_##R), #R,  #n, HA_SITE ": " #n, 0,               \
     HA_NULL_,           HA_NULL_, &R##_type_,          what},
#define HA_MODE_ROW_value_(T, n) HA_ROW_(HA_KERNEL_VALUE_, 0, T, T, n, 0)
#define HA_MODE_ROW_constant_(T, n) HA_ROW_(HA_KERNEL_CONSTANT_, 0, ha_element_##T, T, n, 0)
#define HA_MODE_ROW_in_(T, n) HA_MODE_ROW_OF_(HA_KERNEL_IN_, T, n)
#define HA_MODE_ROW_inout_(T, n) HA_MODE_ROW_OF_(HA_KERNEL_INOUT_, T, n)
#define HA_MODE_ROW_out_(T, n) HA_MODE_ROW_OF_(HA_KERNEL_OUT_, T, n)
#define HA_MODE_ROW_OF_(mode, T, n) HA_ROW_(mode, HA_RANK_OF_(T), ha_element_##T, T, n, 0)
/* A span has a pointer, and three numbers for each dimension. */
#define HA_RANK_OF_(T) HA_TO_(int, sizeof(ha_in_##T) / 24)
#define HA_ROW_(mode, rank, element, T, n, offset)                                                 \
    {mode,   rank,     sizeof(element),           #T,       #n,      HA_SITE ": " #n,              \
     offset, HA_NULL_, HA_RECORD_OF_(T, element), HA_NULL_, HA_NULL_},

/* What may be a record, is one, or nothing. */
#define HA_MODE_MAYBE_(C, mode, ...) HA_MODE_MAYBE_##mode##_(__VA_ARGS__)
#define HA_MODE_MAYBE_uses_(tag) HA_MAYBE_RECORD_(tag)
#define HA_MODE_MAYBE_option_(name, value)
#define HA_MODE_MAYBE_use_(R, n, what)
#define HA_MODE_MAYBE_bundle_(B, n)
#define HA_MODE_MAYBE_value_(T, n) HA_MAYBE_RECORD_(T)
#define HA_MODE_MAYBE_constant_(T, n) HA_MAYBE_RECORD_(T)
#define HA_MODE_MAYBE_in_(T, n) HA_MAYBE_RECORD_(T)
#define HA_MODE_MAYBE_inout_(T, n) HA_MAYBE_RECORD_(T)
#define HA_MODE_MAYBE_out_(T, n) HA_MAYBE_RECORD_(T)

/* Views of records, and where the launch finds them. */
#define HA_MODE_STORED_(C, mode, ...) HA_MODE_STORED_##mode##_(__VA_ARGS__)
#define HA_MODE_STORED_uses_(tag)
#define HA_MODE_STORED_option_(name, value)
#define HA_MODE_STORED_use_(R, n, what)                                                            \
    ha_seen_##R n##_view_;                                                                         \
    const ha_kernel_use_ n##_use_ = {n.records, &n##_view_};
#define HA_MODE_STORED_bundle_(B, n)
#define HA_MODE_STORED_value_(T, n)
#define HA_MODE_STORED_constant_(T, n)
#define HA_MODE_STORED_in_(T, n)
#define HA_MODE_STORED_inout_(T, n)
#define HA_MODE_STORED_out_(T, n)

/* How many arguments each mode comes to. */
#define HA_MEMBERS_(B) HA_TO_(int, sizeof ha_members_##B / sizeof *ha_members_##B)
#define HA_MODE_COUNT_(C, mode, ...) HA_MODE_COUNT_##mode##_(__VA_ARGS__)
#define HA_MODE_COUNT_uses_(tag) +1
#define HA_MODE_COUNT_option_(name, value) +1
#define HA_MODE_COUNT_use_(R, n, what) +1
#define HA_MODE_COUNT_value_(T, n) +1
#define HA_MODE_COUNT_bundle_(B, n) +HA_MEMBERS_(B)
#define HA_MODE_COUNT_constant_(T, n) +1
#define HA_MODE_COUNT_in_(T, n) +1
#define HA_MODE_COUNT_inout_(T, n) +1
#define HA_MODE_COUNT_out_(T, n) +1

#define HA_SLOTS_(parameters) (0 HA_FOR_FIELDS_(HA_MODE_COUNT_, ~, HA_BARE_ parameters))

/* Members of bundles: as they are given, as they are seen, and the one made of the other. */
#define HA_MEMBER_GIVEN_(C, mode, ...) HA_MEMBER_GIVEN_##mode##_(__VA_ARGS__)
#define HA_MEMBER_GIVEN_value_(T, n) T n;
#define HA_MEMBER_GIVEN_constant_(T, n) ha_given_##T n;
#define HA_MEMBER_GIVEN_in_(T, n) ha_given_##T n;
#define HA_MEMBER_GIVEN_inout_(T, n) ha_given_##T n;
#define HA_MEMBER_GIVEN_out_(T, n) ha_given_##T n;

#define HA_MEMBER_SEEN_(C, mode, ...) HA_MEMBER_SEEN_##mode##_(__VA_ARGS__)
#define HA_MEMBER_SEEN_value_(T, n) T n;
#define HA_MEMBER_SEEN_constant_(T, n) HA_MEMBER_SEEN_in_(T, n)
#define HA_MEMBER_SEEN_in_(T, n)                                                                   \
    ha_in_##T n;                                                                                   \
    int64_t n##_size_;
#define HA_MEMBER_SEEN_inout_(T, n)                                                                \
    ha_out_##T n;                                                                                  \
    int64_t n##_size_;
#define HA_MEMBER_SEEN_out_(T, n) HA_MEMBER_SEEN_inout_(T, n)

#define HA_MEMBER_FOUND_(C, mode, ...) HA_MEMBER_FOUND_##mode##_(__VA_ARGS__)
#define HA_MEMBER_FOUND_value_(T, n) ha_seen_.n = *HA_CAST_(const T *, ha_slot_++->pointer);
#define HA_MEMBER_FOUND_constant_(T, n) HA_MEMBER_FOUND_in_(T, n)
#define HA_MEMBER_FOUND_in_(T, n)                                                                  \
    ha_seen_.n = ha_in_##T##_(HA_CAST_(ha_element_##T const *, ha_slot_->pointer), ha_slot_->span, \
                              ha_unit_);                                                           \
    ha_seen_.n##_size_ = ha_slot_++->size;
#define HA_MEMBER_FOUND_inout_(T, n)                                                               \
    ha_seen_.n = ha_out_##T##_(HA_CAST_(ha_element_##T *, ha_slot_->pointer), ha_slot_->span,      \
                               ha_unit_);                                                          \
    ha_seen_.n##_size_ = ha_slot_++->size;
#define HA_MEMBER_FOUND_out_(T, n) HA_MEMBER_FOUND_inout_(T, n)

#define HA_MEMBER_ROW_(B, mode, ...) HA_MEMBER_ROW_##mode##_(B, __VA_ARGS__)
#define HA_MEMBER_ROW_value_(B, T, n) HA_ROW_(HA_KERNEL_VALUE_, 0, T, T, n, offsetof(B, n))
#define HA_MEMBER_ROW_constant_(B, T, n)                                                           \
    HA_ROW_(HA_KERNEL_CONSTANT_, 0, ha_element_##T, T, n, offsetof(B, n))
#define HA_MEMBER_ROW_in_(B, T, n) HA_MEMBER_ROW_OF_(HA_KERNEL_IN_, B, T, n)
#define HA_MEMBER_ROW_inout_(B, T, n) HA_MEMBER_ROW_OF_(HA_KERNEL_INOUT_, B, T, n)
#define HA_MEMBER_ROW_out_(B, T, n) HA_MEMBER_ROW_OF_(HA_KERNEL_OUT_, B, T, n)
#define HA_MEMBER_ROW_OF_(mode, B, T, n)                                                           \
    HA_ROW_(mode, HA_RANK_OF_(T), ha_element_##T, T, n, offsetof(B, n))

/* With OpenMP: a statement is run by all threads of a region, if the box has lanes enough for that, and HA_SHARE_ is
 * what each has of the box, of one dimension a part. Else no region is opened: one of a single thread costs more than
 * a launch. weight: a lane counts as so many. */
HA_API int ha_is_in_part_(void); /* of ha_set_parallel */
#ifdef _OPENMP
HA_HOST_FN_ int ha_is_worth_threads_(const ha_region *box, int rank, double weight) {
    double lanes = weight;
    for (int d = 0; d < rank; d++) lanes *= HA_TO_(double, box->last[d] - box->first[d]);
    return lanes >= 8192 && !omp_in_parallel() && !ha_is_in_part_();
}
HA_HOST_FN_ ha_region ha_share_(const ha_region *box, int dimension) {
    ha_region share = *box;
    const ptrdiff_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const ptrdiff_t n = box->last[dimension] - box->first[dimension];
    const ptrdiff_t each = n / threads, more = n % threads;
    share.first[dimension] += thread * each + (thread < more ? thread : more);
    share.last[dimension] = share.first[dimension] + each + (thread < more);
    return share;
}
#define HA_AMONG_THREADS_(box, rank, weight, ...)                                                  \
    const int ha_shared_ = ha_is_worth_threads_(box, rank, weight);                                \
    if (ha_shared_) {                                                                              \
        _Pragma("omp parallel") { __VA_ARGS__ }                                                    \
    } else {                                                                                       \
        __VA_ARGS__                                                                                \
    }
#define HA_SHARE_(box, dimension) (ha_shared_ ? ha_share_(box, dimension) : *(box))
/* Of records whose first index is the fastest, the last one. */
#define HA_OUTERMOST_(R, p)                                                                        \
    (HA_CAST_(const ha_seen_##R *, p##_slot_->pointer)->order == HA_COL ? ha_seen_##R##_rank_ - 1  \
                                                                        : 0)
#else
#define HA_AMONG_THREADS_(box, rank, weight, ...) __VA_ARGS__
#define HA_SHARE_(box, dimension) *(box)
#endif
#define HA_GRAIN_(parameters)                                                                      \
    HA_CALL_(HA_SECOND_OF_, ~HA_FOR_FIELDS_(HA_MODE_GRAIN_, ~, HA_BARE_ parameters), 1, ~)
#define HA_MODE_GRAIN_(C, mode, ...) HA_MODE_GRAIN_##mode##_(__VA_ARGS__)
#define HA_MODE_GRAIN_uses_(tag)
#define HA_MODE_GRAIN_option_(name, value) HA_GRAIN_##name##_(value)
#define HA_MODE_GRAIN_use_(R, n, what)
#define HA_MODE_GRAIN_value_(T, n)
#define HA_MODE_GRAIN_bundle_(B, n)
#define HA_MODE_GRAIN_constant_(T, n)
#define HA_MODE_GRAIN_in_(T, n)
#define HA_MODE_GRAIN_inout_(T, n)
#define HA_MODE_GRAIN_out_(T, n)
#define HA_GRAIN_block_(value)
#define HA_GRAIN_contract_(value)
#define HA_GRAIN_grain_(value) , value

/* A statement, compiled for each layout of the records that the first (use, …) has; without one as it is. */
#define HA_FITTED_(parameters, ...)                                                                \
    HA_FITTED_OF_(HA_CALL_(HA_SECOND_OF_,                                                          \
                           ~HA_FOR_FIELDS_(HA_MODE_FITTED_, ~, HA_BARE_ parameters),               \
                           (HA_TO_NOTHING_, ~), ~),                                                \
                  __VA_ARGS__)
#define HA_FITTED_OF_(...) HA_FITTED_TO_(__VA_ARGS__)
#define HA_FITTED_TO_(fitted, ...) HA_FITTED_IN_(HA_BARE_ fitted, __VA_ARGS__)
#define HA_FITTED_IN_(...) HA_FITTED_BY_(__VA_ARGS__)
#define HA_FITTED_BY_(with, n, ...) with(n, __VA_ARGS__)
#define HA_TO_NOTHING_(n, ...) __VA_ARGS__
/* Whether there is a (use, …): 0 or 1. */
#define HA_HAS_RECORDS_(parameters)                                                                \
    HA_HAS_RECORDS_1_(HA_CALL_(HA_SECOND_OF_,                                                      \
                               ~HA_FOR_FIELDS_(HA_MODE_FITTED_, ~, HA_BARE_ parameters),           \
                               (HA_TO_NOTHING_, ~), ~))
#define HA_HAS_RECORDS_1_(...) HA_HAS_RECORDS_2_(__VA_ARGS__)
#define HA_HAS_RECORDS_2_(fitted) HA_HAS_RECORDS_3_(HA_BARE_ fitted)
#define HA_HAS_RECORDS_3_(...) HA_HAS_RECORDS_4_(__VA_ARGS__)
#define HA_HAS_RECORDS_4_(with, n) HA_HAS_RECORDS_BY_##with##_
#define HA_HAS_RECORDS_BY_HA_WITH_ 1
#define HA_HAS_RECORDS_BY_HA_TO_NOTHING__ 0
#define HA_MODE_FITTED_(C, mode, ...) HA_MODE_FITTED_##mode##_(__VA_ARGS__)
#define HA_MODE_FITTED_uses_(tag)
#define HA_MODE_FITTED_option_(name, value)
#define HA_MODE_FITTED_use_(R, n, what) , (HA_WITH, n)
#define HA_MODE_FITTED_value_(T, n)
#define HA_MODE_FITTED_bundle_(B, n)
#define HA_MODE_FITTED_constant_(T, n)
#define HA_MODE_FITTED_in_(T, n)
#define HA_MODE_FITTED_inout_(T, n)
#define HA_MODE_FITTED_out_(T, n)

/* What (option, contract, …) says; 0 without it. */
#define HA_CONTRACTS_(parameters)                                                                  \
    HA_CALL_(HA_SECOND_OF_, ~HA_FOR_FIELDS_(HA_MODE_CONTRACTS_, ~, HA_BARE_ parameters), 0, ~)
#define HA_MODE_CONTRACTS_(C, mode, ...) HA_MODE_CONTRACTS_##mode##_(__VA_ARGS__)
#define HA_MODE_CONTRACTS_uses_(tag)
#define HA_MODE_CONTRACTS_option_(name, value) HA_CONTRACTS_##name##_(value)
#define HA_MODE_CONTRACTS_use_(R, n, what)
#define HA_MODE_CONTRACTS_value_(T, n)
#define HA_MODE_CONTRACTS_bundle_(B, n)
#define HA_MODE_CONTRACTS_constant_(T, n)
#define HA_MODE_CONTRACTS_in_(T, n)
#define HA_MODE_CONTRACTS_inout_(T, n)
#define HA_MODE_CONTRACTS_out_(T, n)
#define HA_CONTRACTS_block_(value)
#define HA_CONTRACTS_grain_(value)
#define HA_CONTRACTS_contract_(value) , value

/* What a body becomes here: in CUDA's files a function of the host alone, as devices are given its text. */
#ifdef __CUDACC__
#define HA_BODY_FN_ static inline __attribute__((__always_inline__, __unused__))
#else
#define HA_BODY_FN_ HA_FN
#endif

/* Whether a * b + c is contracted to one operation. gcc decides that for a loop with all that was inlined into it:
 * so the loops have an attribute, which says as well that they are made vectors of at -O2, too: lanes are independent,
 * and a loop of any length is worth it. clang decides where the expression stands: so all that is made of a kernel,
 * its body above all, is between a pragma and HA_CONTRACTION_END_. */
#ifdef __clang__
#define HA_CONTRACTED_0_
#define HA_CONTRACTED_1_
#else
#define HA_CONTRACTED_0_ HA_LOOP_OPTIONS_("fp-contract=off")
#define HA_CONTRACTED_1_ HA_LOOP_OPTIONS_("fp-contract=fast")
#define HA_LOOP_OPTIONS_(contraction)                                                              \
    __attribute__((__optimize__(contraction, "tree-vectorize", "vect-cost-model=dynamic")))
#endif
#define HA_CONTRACTION_(parameters) HA_CALL_(HA_CONTRACTION_OF_, HA_CONTRACTS_(parameters))
#define HA_CONTRACTION_OF_(contracts) HA_CONTRACTION_##contracts##_

/* The body of a kernel in a file has no end that a macro could see: clang is told for what comes behind as well, until
 * it is told something else. DEFAULT is what its command line says. */
#ifdef __clang__
#define HA_CONTRACTION_FROM_HERE_0_ _Pragma("STDC FP_CONTRACT OFF")
#define HA_CONTRACTION_FROM_HERE_1_ _Pragma("STDC FP_CONTRACT DEFAULT")
#else
#define HA_CONTRACTION_FROM_HERE_0_
#define HA_CONTRACTION_FROM_HERE_1_
#endif
#define HA_CONTRACTION_FROM_HERE_(parameters)                                                      \
    HA_CALL_(HA_CONTRACTION_FROM_HERE_OF_, HA_CONTRACTS_(parameters))
#define HA_CONTRACTION_FROM_HERE_OF_(contracts) HA_CONTRACTION_FROM_HERE_##contracts##_

#define HA_KERNEL_TEXT_(name, parameters, indices, indices_text, text, ...)                        \
    HA_KERNEL_RANK_(name, parameters, HA_COUNT_OF_ indices, indices, indices_text, text,           \
                    __VA_ARGS__)
#define HA_KERNEL_RANK_(name, parameters, D, ...) HA_KERNEL_MADE_(name, parameters, D, __VA_ARGS__)
#define HA_KERNEL_MADE_(name, parameters, D, indices, indices_text, text, ...)                     \
    HA_PARAMETERS_CHECK_(name, parameters, HA_MOST_PARAMETERS_, "twelve")                          \
    HA_CONTRACTION_(parameters)                                                                    \
    HA_KERNEL_BODY_(name, parameters, D, indices, __VA_ARGS__)                                     \
    HA_KERNEL_OF_BODY_(name, parameters, D, indices, indices_text, text, HA_NULL_, 1, HA_NULL_)    \
    HA_CONTRACTION_END_                                                                            \
    struct ha_semicolon_

/* In a file: the body comes behind all that calls it. */
#define HA_KERNEL_FILED_(tag, name, parameters, indices, indices_text)                             \
    HA_KERNEL_FILED_RANK_(tag, name, parameters, HA_COUNT_OF_ indices, indices, indices_text)
#define HA_KERNEL_FILED_RANK_(tag, name, parameters, D, ...)                                       \
    HA_KERNEL_FILED_MADE_(tag, name, parameters, D, __VA_ARGS__)
#define HA_KERNEL_FILED_MADE_(tag, name, parameters, D, indices, indices_text)                     \
    HA_PARAMETERS_CHECK_(name, parameters, HA_MOST_PARAMETERS_, "twelve")                          \
    HA_CONTRACTION_FROM_HERE_(parameters)                                                          \
    HA_KERNEL_HEAD_(name, parameters, D, indices);                                                 \
    HA_KERNEL_OF_BODY_(name, parameters, D, indices, indices_text, HA_KERNEL_TEXT(tag), HA_NULL_,  \
                       1, #tag)                                                                    \
    HA_KERNEL_HEAD_(name, parameters, D, indices)

/* All that is made of a body; lanes: for each index of a loop. */
#define HA_KERNEL_OF_BODY_(name, parameters, D, indices, indices_text, text, team, lanes, file)    \
    HA_KERNEL_BOX_(name, parameters, D, indices)                                                   \
    HA_KERNEL_LOOP_(name, HA_CONTRACTS_(parameters), apart, __restrict__, 1, parameters, D,        \
                    indices)                                                                       \
    HA_KERNEL_LOOP_(name, HA_CONTRACTS_(parameters), any, , 0, parameters, D, indices)             \
    static void name##_loops_(const ha_kernel *ha_kernel_, const ha_region *ha_box_,               \
                              int ha_apart_, const ha_kernel_slot_ *ha_slot_) {                    \
        (void)ha_kernel_;                                                                          \
        HA_FOR_FIELDS_(HA_MODE_SLOT_, ~, HA_BARE_ parameters)                                      \
        HA_AMONG_THREADS_(ha_box_, D, (lanes) * (HA_GRAIN_(parameters)),                           \
                          if (ha_apart_) name##_apart_(HA_SHARE_(ha_box_, 0) HA_FOR_FIELDS_(       \
                              HA_MODE_PASSED_, ~, HA_BARE_ parameters));                           \
                          else name##_any_(HA_SHARE_(ha_box_, 0) HA_FOR_FIELDS_(                   \
                              HA_MODE_PASSED_, ~, HA_BARE_ parameters));)                          \
    }                                                                                              \
    HA_KERNEL_DESCRIBED_(name, parameters, (), D, indices_text, text, 0, team, HA_NULL_, file)     \
    HA_KERNEL_OF_BOX_(name, parameters)                                                            \
    HA_TYPED_ ha_status name(                                                                      \
        ha_context *ha_context_,                                                                   \
        HA_LANES_OF_##D##_ ha_lanes_ HA_FOR_FIELDS_(HA_MODE_GIVEN_, ~, HA_BARE_ parameters)) {     \
        HA_FOR_FIELDS_(HA_MODE_STORED_, ~, HA_BARE_ parameters)                                    \
        const void *const ha_given_[] = {                                                          \
            HA_NULL_ HA_FOR_FIELDS_(HA_MODE_ADDRESS_, ~, HA_BARE_ parameters)};                    \
        const ha_region ha_box_ = ha_lanes_##D##_(ha_lanes_);                                      \
        return ha_kernel_launch_(&name##_kernel, ha_context_,                                      \
                                 HA_IS_ALL_##D##_(ha_lanes_) ? HA_NULL_ : &ha_box_,                \
                                 ha_given_ + 1);                                                   \
    }

/* What is known of it at run time. `more`: parameters that it has beside these, as rows in parentheses. */
#define HA_KERNEL_DESCRIBED_(name, parameters, more, rank, indices_text, text, each, team,         \
                             reduction, file)                                                      \
    HA_FOR_FIELDS_(HA_MODE_MAYBE_, ~, HA_BARE_ parameters)                                         \
    static const ha_kernel_parameter_ name##_parameters_[] = {                                     \
        HA_FOR_FIELDS_(HA_MODE_ROW_, ~, HA_BARE_ parameters) HA_BARE_ more};                       \
    HA_LISTED_ static const ha_kernel name##_kernel = {#name,                                      \
                                                       text,                                       \
                                                       indices_text,                               \
                                                       HA_SITE,                                    \
                                                       rank,                                       \
                                                       sizeof name##_parameters_ /                 \
                                                           sizeof *name##_parameters_,             \
                                                       name##_parameters_,                         \
                                                       name##_loops_,                              \
                                                       each,                                       \
                                                       team,                                       \
                                                       reduction,                                  \
                                                       file};                                      \
    HA_STATIC_ASSERT_(HA_SLOTS_(parameters) < HA_MOST_ARGUMENTS_,                                  \
                      "HA_KERNEL(" #name "): more than 64 arguments, with those in bundles");

/* The function that launches the lanes of a box. */
#define HA_KERNEL_OF_BOX_(name, parameters)                                                        \
    HA_TYPED_ ha_status name##_in(                                                                 \
        ha_context *ha_context_,                                                                   \
        ha_region ha_box_ HA_FOR_FIELDS_(HA_MODE_GIVEN_, ~, HA_BARE_ parameters)) {                \
        HA_FOR_FIELDS_(HA_MODE_STORED_, ~, HA_BARE_ parameters)                                    \
        const void *const ha_given_[] = {                                                          \
            HA_NULL_ HA_FOR_FIELDS_(HA_MODE_ADDRESS_, ~, HA_BARE_ parameters)};                    \
        return ha_kernel_launch_(&name##_kernel, ha_context_, &ha_box_, ha_given_ + 1);            \
    }

/* Records: the first parameter is a `use`, and the loop one for each layout. */
#define HA_KERNEL_EACH_2_(name, R, p, what, parameters, ...)                                       \
    HA_KERNEL_EACH_3_(name, R, p, ((use, R, p, what), HA_BARE_ parameters), __VA_ARGS__)
#define HA_KERNEL_EACH_3_(name, R, p, parameters, at, at_text, text, body)                         \
    HA_PARAMETERS_CHECK_(name, parameters, HA_MOST_PARAMETERS_, "twelve")                          \
    HA_CONTRACTION_(parameters)                                                                    \
    HA_KERNEL_EACH_HEAD_(name, parameters, at)                                                     \
    HA_BARE_ body HA_KERNEL_EACH_OF_BODY_(name, R, p, parameters, at_text, text, HA_NULL_)         \
    HA_CONTRACTION_END_                                                                            \
    struct ha_semicolon_
#define HA_KERNEL_EACH_FILED_(...) HA_KERNEL_EACH_FILED_2_(__VA_ARGS__)
#define HA_KERNEL_EACH_FILED_2_(tag, name, R, p, what, parameters, ...)                            \
    HA_KERNEL_EACH_FILED_3_(tag, name, R, p, ((use, R, p, what), HA_BARE_ parameters), __VA_ARGS__)
#define HA_KERNEL_EACH_FILED_3_(tag, name, R, p, parameters, at, at_text)                          \
    HA_PARAMETERS_CHECK_(name, parameters, HA_MOST_PARAMETERS_, "twelve")                          \
    HA_CONTRACTION_FROM_HERE_(parameters)                                                          \
    HA_KERNEL_EACH_HEAD_(name, parameters, at);                                                    \
    HA_KERNEL_EACH_OF_BODY_(name, R, p, parameters, at_text, HA_KERNEL_TEXT(tag), #tag)            \
    HA_KERNEL_EACH_HEAD_(name, parameters, at)
#define HA_KERNEL_EACH_HEAD_(name, parameters, at)                                                 \
    HA_BODY_FN_ void name##_body_(                                                                 \
        const ha_cursor HA_BARE_ at HA_FOR_FIELDS_(HA_MODE_SEEN_, ~, HA_BARE_ parameters))
#define HA_KERNEL_EACH_OF_BODY_(name, R, p, parameters, at_text, text, file)                       \
    HA_BODY_FN_ void name##_each_(                                                                 \
        const ha_region ha_box_ HA_FOR_FIELDS_(HA_MODE_SEEN_, ~, HA_BARE_ parameters)) {           \
        HA_EACH_IN(ha_seen_##R, p, ha_at_, ha_box_)                                                \
        name##_body_(ha_at_ HA_FOR_FIELDS_(HA_MODE_NAMED_, ~, HA_BARE_ parameters));               \
    }                                                                                              \
    HA_KERNEL_EACH_LOOP_(name, HA_CONTRACTS_(parameters), p, parameters)                           \
    static void name##_loops_(const ha_kernel *ha_kernel_, const ha_region *ha_box_,               \
                              int ha_apart_, const ha_kernel_slot_ *ha_slot_) {                    \
        (void)ha_kernel_;                                                                          \
        HA_FOR_FIELDS_(HA_MODE_SLOT_, ~, HA_BARE_ parameters)                                      \
        (void)ha_apart_;                                                                           \
        HA_AMONG_THREADS_(ha_box_, ha_seen_##R##_rank_, HA_GRAIN_(parameters),                     \
                          name##_any_(HA_SHARE_(ha_box_, HA_OUTERMOST_(R, p)) HA_FOR_FIELDS_(      \
                              HA_MODE_PASSED_, ~, HA_BARE_ parameters));)                          \
    }                                                                                              \
    HA_KERNEL_DESCRIBED_(name, parameters, (), ha_seen_##R##_rank_, at_text, text, 1, HA_NULL_,    \
                         HA_NULL_, file)                                                           \
    HA_KERNEL_OF_BOX_(name, parameters)                                                            \
    HA_TYPED_ ha_status name(                                                                      \
        ha_context *ha_context_ HA_FOR_FIELDS_(HA_MODE_GIVEN_, ~, HA_BARE_ parameters)) {          \
        HA_FOR_FIELDS_(HA_MODE_STORED_, ~, HA_BARE_ parameters)                                    \
        const void *const ha_given_[] = {                                                          \
            HA_NULL_ HA_FOR_FIELDS_(HA_MODE_ADDRESS_, ~, HA_BARE_ parameters)};                    \
        return ha_kernel_launch_(&name##_kernel, ha_context_, HA_NULL_, ha_given_ + 1);            \
    }
#define HA_KERNEL_EACH_LOOP_(...) HA_KERNEL_EACH_LOOP_1_(__VA_ARGS__)
#define HA_KERNEL_EACH_LOOP_1_(name, contracts, p, parameters)                                     \
    HA_CONTRACTED_##contracts##_ static __attribute__((__noinline__)) void name##_any_(            \
        const ha_region ha_box_ HA_FOR_FIELDS_(HA_MODE_LOOPED_, , HA_BARE_ parameters)) {          \
        HA_FOR_FIELDS_(HA_MODE_VARIABLE_, 0, HA_BARE_ parameters)                                  \
        HA_WITH(p, name##_each_(ha_box_ HA_FOR_FIELDS_(HA_MODE_NAMED_, ~, HA_BARE_ parameters)));  \
    }

/* The text of the body is one of the macro's arguments, or several where it has commas. */
#define HA_KERNEL_BODY_(name, parameters, D, indices, ...)                                         \
    HA_KERNEL_HEAD_(name, parameters, D, indices) __VA_ARGS__
#define HA_KERNEL_HEAD_(name, parameters, D, indices)                                              \
    HA_BODY_FN_ void name##_body_(                                                                 \
        HA_INDEX_PARAMETERS_##D##_ indices HA_FOR_FIELDS_(HA_MODE_SEEN_, ~, HA_BARE_ parameters))

#define HA_KERNEL_LOOP_(...) HA_KERNEL_LOOP_1_(__VA_ARGS__)
#define HA_KERNEL_LOOP_1_(name, contracts, how, restricted, unit, parameters, D, indices)          \
    HA_CONTRACTED_##contracts##_ static                                                            \
        __attribute__((__noinline__)) void name##_##how##_(const ha_region ha_box_ HA_FOR_FIELDS_( \
            HA_MODE_LOOPED_, restricted, HA_BARE_ parameters)) {                                   \
        HA_FOR_FIELDS_(HA_MODE_VARIABLE_, unit, HA_BARE_ parameters)                               \
        HA_FITTED_(parameters,                                                                     \
                   name##_box_(ha_box_ HA_FOR_FIELDS_(HA_MODE_NAMED_, ~, HA_BARE_ parameters)));   \
    }

/* The lanes of a box. */
#define HA_KERNEL_BOX_(name, parameters, D, indices)                                               \
    HA_BODY_FN_ void name##_box_(                                                                  \
        const ha_region ha_box_ HA_FOR_FIELDS_(HA_MODE_SEEN_, ~, HA_BARE_ parameters)) {           \
        HA_INDEX_LOOPS_##D##_ indices name##_body_(                                                \
            HA_BARE_ indices HA_FOR_FIELDS_(HA_MODE_NAMED_, ~, HA_BARE_ parameters));              \
    }

#endif
