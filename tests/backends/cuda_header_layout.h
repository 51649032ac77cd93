/* The layout of CUDA_MEMCPY3D, as a table that is compiled with cuda.h and without. */
#ifndef HARRAY_TESTS_BACKENDS_CUDA_HEADER_LAYOUT_H
#define HARRAY_TESTS_BACKENDS_CUDA_HEADER_LAYOUT_H

#include "../../backends/cuda/driver.h"

#include <stddef.h>

#define CUDA_COPY3D_FIELDS(X)                                                                      \
    X(srcXInBytes)                                                                                 \
    X(srcY)                                                                                        \
    X(srcZ)                                                                                        \
    X(srcLOD)                                                                                      \
    X(srcMemoryType)                                                                               \
    X(srcHost)                                                                                     \
    X(srcDevice)                                                                                   \
    X(srcArray)                                                                                    \
    X(reserved0)                                                                                   \
    X(srcPitch)                                                                                    \
    X(srcHeight)                                                                                   \
    X(dstXInBytes)                                                                                 \
    X(dstY)                                                                                        \
    X(dstZ)                                                                                        \
    X(dstLOD)                                                                                      \
    X(dstMemoryType)                                                                               \
    X(dstHost)                                                                                     \
    X(dstDevice)                                                                                   \
    X(dstArray)                                                                                    \
    X(reserved1)                                                                                   \
    X(dstPitch)                                                                                    \
    X(dstHeight)                                                                                   \
    X(WidthInBytes)                                                                                \
    X(Height)                                                                                      \
    X(Depth)

typedef struct cuda_layout {
    const char *name;
    size_t offset, bytes;
} cuda_layout;

#define CUDA_LAYOUT_ROW(field)                                                                     \
    {#field, offsetof(ha_cu_copy3d, field), sizeof(((ha_cu_copy3d *)0)->field)},
#define CUDA_LAYOUT                                                                                \
    {                                                                                              \
        CUDA_COPY3D_FIELDS(CUDA_LAYOUT_ROW){"all of it", 0, sizeof(ha_cu_copy3d)},                 \
            {"CUresult", 0, sizeof(ha_cu_result)}, {"attributes", 0, sizeof(ha_cu_attribute)},     \
            {"CUdevice_P2PAttribute", 0, sizeof(ha_cu_p2p_attribute)},                             \
            {"CUpointer_attribute", 0, sizeof(ha_cu_pointer_attribute)},                           \
            {"CUmemPool_attribute", 0, sizeof(ha_cu_pool_attribute)},                              \
            {"CUdeviceptr", 0, sizeof(ha_cu_pointer)}, {                                           \
            NULL, 0, 0                                                                             \
        }                                                                                          \
    }

extern const cuda_layout cuda_layout_ours[]; /* cuda_header_ours.c, without cuda.h */

#endif
