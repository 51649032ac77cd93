/* The step of blur.c as a kernel: a thread a pixel. Compiled with -fmad=false, it gives the same bits
 * as the host. */
#include "blur_step.h"

#include <stdio.h>

__global__ static void average(step s) {
    const int64_t x = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    const int64_t y = blockIdx.y * (int64_t)blockDim.y + threadIdx.y + s.to.origin[1];
    const int64_t bottom = s.to.origin[1] + s.to.extent[1];
    if (x < s.to.extent[2] && y < bottom) {
        HA_AT(s.to, blockIdx.z, y, x) = mean_at(&s, blockIdx.z, y, x);
    }
}

extern "C" bool blur_start_cuda(const step *s, int device, void *stream) {
    const int64_t planes = s->to.extent[0], rows = s->to.extent[1], columns = s->to.extent[2];
    const dim3 block(32, 8);
    const dim3 grid((unsigned)((columns + 31) / 32), (unsigned)((rows + 7) / 8), (unsigned)planes);
    cudaError_t error = cudaSetDevice(device);
    if (error == cudaSuccess) {
        average<<<grid, block, 0, (cudaStream_t)stream>>>(*s);
        error = cudaGetLastError();
    }
    if (error != cudaSuccess) fprintf(stderr, "blur: CUDA: %s\n", cudaGetErrorString(error));
    return error == cudaSuccess;
}
