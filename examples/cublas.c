/* A library that works on a stream: cuBLAS on open accesses, from plain C.
 *
 *     cc -I.. -I/usr/local/cuda/include cublas.c harray.c -L/usr/local/cuda/lib64 -lcublas -lcudart -lm -pthread
 *
 * Power iteration: the greatest eigenvalue of a symmetric matrix A, by y = A x and x = y / |y|. The
 * matrix is made on the host, and moved once, when cuBLAS first reads it. The eigenvalue is checked
 * against a plain loop on the host.
 *
 * The exit status is 77 where there is no GPU. */
#include "../harray.h"

#include <cublas_v2.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000, ITERATIONS = 100 };

/* A cuBLAS call that must succeed, as HA_CHECK is for harray. */
static void must(cublasStatus_t status) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    fprintf(stderr, "cuBLAS: %s\n", cublasGetStatusString(status));
    exit(1);
}

/* y = A x, then x = y / |y|. Returns |y|, for which cuBLAS waits. A is symmetric, so it does not matter
 * that cuBLAS takes columns for rows. */
static double iterate(cublasHandle_t blas, harray_double a, harray_double x, harray_double y,
                      ha_context *gpu) {
    const double one = 1, zero = 0;
    double norm = 0, factor;
    must(cublasSetStream(blas, (cudaStream_t)ha_context_stream(gpu)));
    HA_READING(va, a, gpu)
    HA_READING(vx, x, gpu)
    HA_OVERWRITING(vy, y, gpu, N) {
        must(cublasDgemv(blas, CUBLAS_OP_N, N, N, &one, va.data, N, vx.data, 1, &zero, vy.data, 1));
        must(cublasDnrm2(blas, N, vy.data, 1, &norm));
        factor = 1 / norm;
        must(cublasDscal(blas, N, &factor, vy.data, 1));
    }
    HA_CHECK(harray_double_swap(x, y));
    return norm;
}

/* Smooth, symmetric, with one eigenvalue far above the others. */
static double element(size_t i, size_t j) {
    return exp(-fabs((double)i - (double)j) / 100) + (i == j);
}

/* |A x - value x| / value, by loops on the host. */
static double residual(harray_double a, harray_double x, double value) {
    double sum = HUGE_VAL;
    HA_READING(va, a, ha_host())
    HA_READING(vx, x, ha_host()) {
        sum = 0;
        for (size_t i = 0; i < N; i++) {
            double row = -value * vx.data[i];
            for (size_t j = 0; j < N; j++) row += va.data[i * N + j] * vx.data[j];
            sum += row * row;
        }
    }
    return sqrt(sum) / value;
}

int main(void) {
    ha_context *gpu = ha_context_find("cuda:0");
    if (!gpu) {
        printf("no CUDA device: %s\n", ha_take_error().text);
        return 77;
    }
    cublasHandle_t blas;
    must(cublasCreate(&blas));
    const double start = 1;
    harray_double a = harray_double_new_at(N * N, gpu); /* so that on the host it is pinned */
    harray_double x = harray_double_filled_at(N, start, gpu), y = harray_double_new_at(N, gpu);
    HA_OVERWRITING_ALL(v, a, ha_host())
    for (size_t k = 0; k < v.size; k++) v.data[k] = element(k / N, k % N);
    double value = 0;
    for (int i = 0; i < ITERATIONS; i++) value = iterate(blas, a, x, y, gpu);
    const double error = residual(a, x, value);
    printf("the greatest eigenvalue is %.6f; |A x - value x| / value is %.2g on the host\n", value,
           error);
    must(cublasDestroy(blas));
    HA_CHECK(harray_double_free(&a));
    HA_CHECK(harray_double_free(&x));
    HA_CHECK(harray_double_free(&y));
    HA_CHECK_ERRORS();
    return error < 1e-6 ? 0 : 1;
}
