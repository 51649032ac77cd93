/* Strided copies on a CUDA device: a table of them, and the kernel that carries it out.
 *
 * As CUDA C this is the source of strides_ptx.h (tools/cuda-strides translates it); as plain C it
 * is the same arithmetic for the host, which the tests' driver runs. So it includes nothing. */
#ifndef HARRAY_BACKENDS_CUDA_STRIDES_KERNEL_H
#define HARRAY_BACKENDS_CUDA_STRIDES_KERNEL_H

#ifdef __CUDACC__
#define HA_CUDA_KERNEL_FN_ static __device__ __forceinline__
#else
#define HA_CUDA_KERNEL_FN_ static inline
#endif

/* Threads of a block, and copies in a table: parameters of a kernel are 4096 bytes at most. */
#define HA_CUDA_STRIDES_BLOCK_ 256
#define HA_CUDA_STRIDES_MOST_ 32

/* One copy: of count[0] * count[1] * count[2] * count[3] values, less than 2^31, each of `units` times
 * `unit` bytes; unit is 1, 2, 4 or 8, and divides every address. */
typedef struct ha_cuda_stride {
    unsigned long long to, from, to_step[4], from_step[4];
    unsigned count[4], unit, units;
} ha_cuda_stride;

typedef struct ha_cuda_strides_table {
    ha_cuda_stride copy[HA_CUDA_STRIDES_MOST_];
} ha_cuda_strides_table;

typedef unsigned short __attribute__((may_alias)) ha_cuda_unit2;
typedef unsigned __attribute__((may_alias)) ha_cuda_unit4;
typedef unsigned long long __attribute__((may_alias)) ha_cuda_unit8;

HA_CUDA_KERNEL_FN_ void ha_cuda_stride_unit(unsigned long long to, unsigned long long from,
                                            unsigned unit) {
    if (unit == 8)
        *(ha_cuda_unit8 *)to = *(const ha_cuda_unit8 *)from;
    else if (unit == 4)
        *(ha_cuda_unit4 *)to = *(const ha_cuda_unit4 *)from;
    else if (unit == 2)
        *(ha_cuda_unit2 *)to = *(const ha_cuda_unit2 *)from;
    else
        *(unsigned char *)to = *(const unsigned char *)from;
}

/* Value number i, counted along the innermost level first. */
HA_CUDA_KERNEL_FN_ void ha_cuda_stride_value(const ha_cuda_stride *s, unsigned i) {
    const unsigned x = i % s->count[0], xs = i / s->count[0];
    const unsigned y = xs % s->count[1], ys = xs / s->count[1];
    const unsigned z = ys % s->count[2], w = ys / s->count[2];
    const unsigned long long to = s->to + x * s->to_step[0] + y * s->to_step[1] +
                                  z * s->to_step[2] + w * s->to_step[3];
    const unsigned long long from = s->from + x * s->from_step[0] + y * s->from_step[1] +
                                    z * s->from_step[2] + w * s->from_step[3];
    for (unsigned u = 0; u < s->units; u++)
        ha_cuda_stride_unit(to + u * s->unit, from + u * s->unit, s->unit);
}

/* What one thread of so many does. */
HA_CUDA_KERNEL_FN_ void ha_cuda_stride_thread(const ha_cuda_stride *s, unsigned thread,
                                              unsigned threads) {
    const unsigned values = s->count[0] * s->count[1] * s->count[2] * s->count[3];
    for (unsigned i = thread; i < values; i += threads) ha_cuda_stride_value(s, i);
}

#ifdef __CUDACC__
/* The grid's first dimension shares the values of a copy, the second one the copies. */
extern "C" __global__ void __launch_bounds__(HA_CUDA_STRIDES_BLOCK_)
    ha_cuda_strides(const ha_cuda_strides_table table) {
    ha_cuda_stride_thread(&table.copy[blockIdx.y],
                          blockIdx.x * HA_CUDA_STRIDES_BLOCK_ + threadIdx.x,
                          gridDim.x * HA_CUDA_STRIDES_BLOCK_);
}
#endif

#endif
