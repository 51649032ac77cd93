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
 * ---- errors: the status, and ha_take_error(). When it is not HA_OK nothing has been run or changed. The text begins with
 * the line of the HA_CHECK, HA_IGNORE or HA_FROM around the call; without one, with that of the kernel.
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

/* Behind a kernel, at file scope of a shared library: others find the kernel by its name when they have loaded the library,
 * as Python's package does (docs/python.md). Both link the same libharray.
 *
 *     HA_KERNEL(relax, …);
 *     HA_KERNEL_EXPORT(relax); */
#define HA_KERNEL_EXPORT(name)                                                                     \
    HA_LINKED_ __attribute__((__visibility__("default")))                                          \
    const ha_kernel_exported_ ha_exported_##name;                                                  \
    const ha_kernel_exported_ ha_exported_##name = {HARRAY_VERSION, &name##_kernel,                \
                                                    ha_kernel_launch_}

#include "detail/kernel_types.h"
#include "detail/kernel_lanes.h"
#include "detail/kernel_checks.h"
#include "detail/kernel_modes.h"
#include "detail/kernel_members.h"
#include "detail/kernel_threads.h"
#include "detail/kernel_loops.h"
#include "detail/kernel_made.h"

#endif
