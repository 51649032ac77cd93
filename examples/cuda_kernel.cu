/* Heat that spreads over a square plate: a kernel of one's own, launched on accesses.
 *
 *     nvcc -O2 -I.. cuda_kernel.cu harray.c -o cuda_kernel && ./cuda_kernel [N [STEPS]]
 *
 * Two arrays of N x N temperatures: each step reads one and overwrites the other, then they are
 * exchanged. The kernels run on the GPU; now and then the host warms the upper edge, as part of the
 * same array, and only that row is moved. Nobody copies, nobody waits, except the host for what it
 * reads in the end. A plain loop in C does the same on the host; the greatest difference is printed.
 *
 * The exit status is 77 where there is no GPU. */
#include "harray.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM_EVERY = 100 };      /* steps */
static const double RATE = 0.2; /* of spreading; up to 0.25 the scheme is stable */

static double warmth(size_t step, size_t j, size_t n) {
    return 100 * sin(3.14159265358979 * (double)j / (double)(n - 1)) + (double)step / WARM_EVERY;
}

/* ---- on the GPU ---------------------------------------------------------------------------- */

__global__ static void spread(span_double_2 to, cspan_double_2 from, double rate) {
    const int64_t i = blockIdx.y * (int64_t)blockDim.y + threadIdx.y, bottom = to.extent[0] - 1;
    const int64_t j = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, right = to.extent[1] - 1;
    if (i > bottom || j > right) return;
    const double here = HA_AT(from, i, j);
    const int edge = i == 0 || j == 0 || i == bottom || j == right;
    HA_AT(to, i, j) = edge ? here
                           : here + rate * (HA_AT(from, i, j - 1) + HA_AT(from, i, j + 1) +
                                            HA_AT(from, i + 1, j) + HA_AT(from, i - 1, j) - 4 * here);
}

/* The accesses say what is read and what is overwritten; their spans are what kernels work on, and
 * HA_STREAM is the stream they are ordered on. The launch returns at once, and so does closing:
 * whoever opens the arrays next comes after. */
static void step_on_gpu(array_double_2 u, array_double_2 next, ha_context *gpu) {
    const unsigned n = (unsigned)u.extent[0];
    const dim3 block(32, 8), grid((n + 31) / 32, (n + 7) / 8);
    HA_READING(from, u, gpu)
    HA_OVERWRITING_ALL(to, next, gpu)
    spread<<<grid, block, 0, HA_STREAM(to)>>>(to.span, from.span, RATE);
    HA_CHECK(ha_array_swap(u.array, next.array));
}

static double run_on_gpu(array_double_2 u, size_t n, size_t steps, ha_context *gpu) {
    array_double_2 next = array_double_2_new(HA_DIM((int64_t)n, (int64_t)n), gpu);
    for (size_t step = 0; step < steps; step++) {
        if (step % WARM_EVERY == 0) {
            HA_OVERWRITING_ALL(row, array_double_2_fix(u, 0, 0), ha_host())
            for (size_t j = 0; j < n; j++) row.data[j] = warmth(step, j, n);
        }
        step_on_gpu(u, next, gpu);
    }
    double sum = 0;
    HA_READING(v, u, ha_host()) for (size_t k = 0; k < v.size; k++) sum += v.data[k];
    HA_CHECK(array_double_2_free(&next));
    return sum / (double)(n * n);
}

/* ---- the same on the host, without harray -------------------------------------------------- */

static void run_plainly(double *u, double *next, size_t n, size_t steps) {
    for (size_t step = 0; step < steps; step++) {
        if (step % WARM_EVERY == 0)
            for (size_t j = 0; j < n; j++) u[j] = warmth(step, j, n);
        memcpy(next, u, n * n * sizeof *u); /* the edges */
        for (size_t i = 1; i + 1 < n; i++)
            for (size_t j = 1; j + 1 < n; j++) {
                const double *at = u + i * n + j;
                next[i * n + j] = *at + RATE * (at[-1] + at[1] + at[n] + *(at - n) - 4 * *at);
            }
        double *old = u;
        u = next;
        next = old;
    }
    if (steps % 2) memcpy(next, u, n * n * sizeof *u); /* to where it began */
}

/* ---- the program --------------------------------------------------------------------------- */

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double greatest_difference(array_double_2 x, const double *expected) {
    double greatest = HUGE_VAL;
    HA_READING(v, x, ha_host()) {
        greatest = 0;
        for (size_t k = 0; k < v.size; k++) greatest = fmax(greatest, fabs(v.data[k] - expected[k]));
    }
    return greatest;
}

int main(int argc, char **argv) {
    const size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1024;
    const size_t steps = argc > 2 ? strtoul(argv[2], NULL, 10) : 500;
    if (n < 2 || n > 30000 || argc > 3) {
        fprintf(stderr, "usage: cuda_kernel [N from 2 to 30000 [STEPS]]\n");
        return 2;
    }
    ha_context *gpu = ha_context_find("cuda:0");
    if (!gpu) {
        printf("no CUDA device: %s\n", ha_take_error().text);
        return 77;
    }
    const ha_dim2 extent = HA_DIM((int64_t)n, (int64_t)n);
    array_double_2 u = array_double_2_zeros(extent, gpu), other = array_double_2_zeros(extent, gpu);
    run_on_gpu(other, n, 1, gpu); /* the first launch loads the kernel: not timed */
    HA_CHECK(array_double_2_free(&other));
    const double begin = seconds();
    const double mean = run_on_gpu(u, n, steps, gpu);
    const double middle = seconds();
    double *plain = (double *)calloc(2 * n * n, sizeof *plain);
    if (!plain) return 1;
    run_plainly(plain, plain + n * n, n, steps);
    const double end = seconds();
    const double difference = greatest_difference(u, plain);
    printf("%zu x %zu, %zu steps, mean %.6f: on %s in %.3f s, by a loop on the host in %.3f s\n", n, n,
           steps, mean, ha_context_name(gpu), middle - begin, end - middle);
    printf("the greatest difference is %g\n", difference);
    const cudaError_t launches = cudaGetLastError();
    if (launches != cudaSuccess) fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(launches));
    HA_CHECK(array_double_2_free(&u));
    HA_CHECK_ERRORS();
    free(plain);
    return difference < 1e-9 && launches == cudaSuccess ? 0 : 1;
}
