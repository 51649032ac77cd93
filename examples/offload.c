/* offload: loops of OpenMP's and OpenACC's target devices on open accesses.
 *
 *     cc -fopenmp -I.. offload.c harray.c -pthread     # or -fopenacc; with neither, the loops are plain ones
 *     ./a.out [CONTEXT]
 *
 * An access says where, and its pointer is one of that device: is_device_ptr and deviceptr take it as it is. A
 * function that has maps of its own, and is given the program's memory, finds the device's in its place where that
 * was associated with it. OpenMP and OpenACC know nothing of harray's queues: a loop begins when the queue has done
 * what was enqueued before (ha_context_finish), and the access is closed when the loop has ended.
 *
 * Without an argument it is the first GPU that both have, else the host. The exit status is 77 where the context's
 * memory is none that loops of this program can reach. */
#include "../harray_kernels.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(_OPENACC)
#include <openacc.h>
#elif defined(_OPENMP)
#include <omp.h>
#endif

enum { N = 100000, ROUNDS = 5 };

/* ---- devices ------------------------------------------------------------------------------- */

static int count_gpus(void) {
#if defined(_OPENACC)
    return acc_get_num_devices(acc_device_nvidia);
#elif defined(_OPENMP)
    return omp_get_num_devices();
#else
    return 0;
#endif
}

/* Loops run there from now on: on that GPU, or where the processor is. */
static void run_loops_at(bool is_gpu, int number) {
#if defined(_OPENACC)
    acc_set_device_num(is_gpu ? number : 0, is_gpu ? acc_device_nvidia : acc_device_host);
#elif defined(_OPENMP)
    omp_set_default_device(is_gpu ? number : omp_get_initial_device());
#else
    (void)is_gpu;
    (void)number;
#endif
}

/* Whether loops can reach the context's memory: that of a GPU that OpenMP or OpenACC has, too, or the host's, on
 * which a device with zero-copy works. */
static bool choose(const ha_context *context) {
    const bool is_gpu = strcmp(ha_context_kind(context), "cuda") == 0;
    const int number = ha_context_number(context);
    const bool reaches = is_gpu ? number < count_gpus()
                                : context == ha_host() || ha_context_is_zero_copy(context);
    if (reaches) run_loops_at(is_gpu, number);
    return reaches;
}

/* ---- pointers of the device ---------------------------------------------------------------- */

static void add(size_t n, double a, const double *x, double *y) {
#if defined(_OPENACC)
#pragma acc parallel loop deviceptr(x, y)
#elif defined(_OPENMP)
#pragma omp target teams distribute parallel for is_device_ptr(x, y)
#endif
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

static void add_there(double a, harray_double x, harray_double y, ha_context *there) {
    HA_READING(from, x, there)
    HA_WRITING(to, y, there) {
        HA_CHECK(
            ha_context_finish(there)); /* the values have arrived, and kernels before are done */
        add(to.size, a, from.data, to.data);
    } /* the loop has ended: without nowait and async they wait */
}

/* ---- a function that was there before ------------------------------------------------------ */

/* `y` is the program's memory: where it is not present on the device it is brought there, and back. */
static void halve(size_t n, double *y) {
#if defined(_OPENACC)
#pragma acc parallel loop copy(y [0:n])
#elif defined(_OPENMP)
#pragma omp target teams distribute parallel for map(tofrom : y [0:n])
#endif
    for (size_t i = 0; i < n; i++) y[i] /= 2;
}

/* From here on `memory` is present: it is at `there`. */
static void associate(double *memory, double *there, size_t n) {
#if defined(_OPENACC)
    acc_map_data(memory, there, n * sizeof *memory);
#elif defined(_OPENMP)
    if (omp_target_associate_ptr(memory, there, n * sizeof *memory, 0, omp_get_default_device()))
        abort();
#else
    (void)memory, (void)there, (void)n;
#endif
}

static void dissociate(double *memory) {
#if defined(_OPENACC)
    acc_unmap_data(memory);
#elif defined(_OPENMP)
    if (omp_target_disassociate_ptr(memory, omp_get_default_device())) abort();
#else
    (void)memory;
#endif
}

/* `y` was made of `memory`. On the host the access has the program's memory itself. */
static void halve_there(harray_double y, double *memory, ha_context *there) {
    HA_WRITING(v, y, there) {
        const bool is_apart = v.data != memory;
        HA_CHECK(ha_context_finish(there));
        if (is_apart) associate(memory, v.data, v.size);
        halve(v.size, memory);
        if (is_apart) dissociate(memory);
    }
}

/* ---- the program --------------------------------------------------------------------------- */

/* By harray, on the context's queue: it may still run when the next line begins. */
HA_KERNEL(raise_all, ((value, double, by), (inout, double, x)), i, { x[i] += by; });

static void run(harray_double x, harray_double y, double *memory, ha_context *there) {
    for (int round = 0; round < ROUNDS; round++) {
        HA_CHECK(raise_all(there, HA_ALL_LANES, 1, x));
        add_there(0.5, x, y, there);
        HA_CHECK(raise_all(there, HA_ALL_LANES, 2, y));
        halve_there(y, memory, there);
    }
}

static double expected(size_t i) {
    double x = (double)(i % 8), y = 1;
    for (int round = 0; round < ROUNDS; round++) {
        x += 1;
        y = (y + 0.5 * x + 2) / 2;
    }
    return y;
}

static size_t count_wrong(harray_double y) {
    size_t wrong = N;
    HA_READING(v, y, ha_host()) for (size_t i = 0; i < N; i++) wrong -= v.data[i] == expected(i);
    return wrong;
}

int main(int argc, char **argv) {
    ha_context *there = ha_context_find(argc > 1 ? argv[1] : count_gpus() ? "cuda:0" : "host");
    if (!there || !choose(there)) {
        printf("loops of this program cannot run at %s: %s\n", argc > 1 ? argv[1] : "cuda:0",
               there ? "its memory is out of their reach" : ha_take_error().text);
        return 77;
    }
    double *memory = malloc(N * sizeof *memory);
    if (!memory) return 1;
    for (size_t i = 0; i < N; i++) memory[i] = 1;
    harray_double x = harray_double_new(N), y = harray_double_wrap(memory, N);
    HA_OVERWRITING_ALL(v, x, ha_host())
    for (size_t i = 0; i < N; i++) v.data[i] = (double)(i % 8);
    run(x, y, memory, there);
    const size_t wrong = count_wrong(y);
    printf("%s: %zu of %d elements differ from those of a plain loop\n", ha_context_name(there),
           wrong, N);
    HA_CHECK(harray_double_free(&x));
    HA_CHECK(harray_double_free(&y));
    HA_CHECK_ERRORS();
    free(memory);
    return wrong ? 1 : 0;
}
