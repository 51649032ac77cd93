/* Strided copies within a CUDA device's memory, by a kernel: its module is loaded when it is first
 * asked for, and goes with the device. A driver that does not take it is not asked again. */
#ifndef HARRAY_BACKENDS_CUDA_STRIDES_H
#define HARRAY_BACKENDS_CUDA_STRIDES_H

#include "pageable.h"
#include "strides_kernel.h"
#include "strides_ptx.h"

enum { HA_CUDA_STRIDES_BLOCKS = 1024 }; /* for one copy, at most: they go on in steps */

/* ---- the module ---- */

/* In the device's context, lock held. */
HA_IN_ ha_cu_result ha_cuda_strides_load(ha_cuda_device *device, const char **name) {
    ha_cu_module module = NULL;
    ha_cu_result code = ha_cu.ModuleLoadData(&module, ha_cuda_strides_ptx);
    *name = ha_cuda_names.ModuleLoadData;
    if (code != HA_CU_SUCCESS) return code;
    code = ha_cu.ModuleGetFunction(&device->strides.kernel, module, "ha_cuda_strides");
    *name = ha_cuda_names.ModuleGetFunction;
    if (code == HA_CU_SUCCESS)
        device->strides.module = module;
    else
        (void)ha_cu.ModuleUnload(module);
    return code;
}

/* In the device's context. HA_ERR_UNSUPPORTED, HA_ERR_MEMORY: there is no kernel, or no room for it
 * now; nothing is told, for there are other ways. */
HA_IN_ ha_status ha_cuda_strides_ready(ha_cuda_device *device) {
    const char *name = NULL;
    ha_cu_result code = HA_CU_SUCCESS;
    int refused;
    pthread_mutex_lock(&device->strides.lock);
    if (!device->strides.refused && device->strides.module == NULL)
        code = ha_cuda_strides_load(device, &name);
    if (code != HA_CU_SUCCESS && code != HA_CU_OUT_OF_MEMORY && !ha_cuda_is_final(code))
        device->strides.refused = 1;
    refused = device->strides.refused;
    pthread_mutex_unlock(&device->strides.lock);
    if (refused) return HA_ERR_UNSUPPORTED;
    return code == HA_CU_OUT_OF_MEMORY ? HA_ERR_MEMORY : ha_cuda_check(device, code, name);
}

/* ---- tables ---- */

/* How many values a copy has; 0: more than the kernel counts. */
HA_IN_ unsigned ha_cuda_stride_values(const ha_strided_copy *s) {
    size_t n = 1;
    for (int k = 0; k < s->levels; k++)
        if (__builtin_mul_overflow(n, s->count[k], &n) || n > INT32_MAX) return 0;
    return (unsigned)n;
}

/* Whether a single copy is for the kernel. */
HA_IN_ int ha_cuda_strides_takes(const ha_strided_copy *s) {
    return s->levels > 0 && ha_strided_is_scatter(s) && ha_cuda_stride_values(s) > 0;
}

/* The largest unit of a value that all addresses are multiples of. */
HA_IN_ unsigned ha_cuda_stride_unit_of(const ha_strided_copy *s) {
    uintptr_t all = (uintptr_t)s->to | (uintptr_t)s->from | s->bytes | 8;
    for (int k = 0; k < s->levels; k++) all |= s->to_step[k] | s->from_step[k];
    return (unsigned)(all & -all);
}

HA_IN_ ha_cuda_stride ha_cuda_stride_of(const ha_strided_copy *s) {
    ha_cuda_stride copy;
    memset(&copy, 0, sizeof copy);
    copy.to = (uintptr_t)s->to;
    copy.from = (uintptr_t)s->from;
    copy.unit = ha_cuda_stride_unit_of(s);
    copy.units = (unsigned)s->bytes / copy.unit;
    for (int k = 0; k < HA_SCATTER_LEVELS; k++) {
        copy.count[k] = k < s->levels ? (unsigned)s->count[k] : 1;
        copy.to_step[k] = k < s->levels ? s->to_step[k] : 0;
        copy.from_step[k] = k < s->levels ? s->from_step[k] : 0;
    }
    return copy;
}

/* As many copies as one launch takes. In the device's context. */
HA_IN_ ha_status ha_cuda_strides_launch(ha_cuda_queue *queue, const ha_strided_copy *table,
                                        unsigned n) {
    ha_cuda_strides_table copies;
    void *parameters[] = {&copies};
    unsigned most = 0, blocks;
    memset(&copies, 0, sizeof copies);
    for (unsigned i = 0; i < n; i++) {
        const unsigned values = ha_cuda_stride_values(&table[i]);
        copies.copy[i] = ha_cuda_stride_of(&table[i]);
        if (values > most) most = values;
    }
    blocks = (most - 1) / HA_CUDA_STRIDES_BLOCK_ + 1;
    if (blocks > HA_CUDA_STRIDES_BLOCKS) blocks = HA_CUDA_STRIDES_BLOCKS;
    return HA_CUDA_TRY_(queue->device, LaunchKernel, queue->device->strides.kernel, blocks, n, 1,
                        HA_CUDA_STRIDES_BLOCK_, 1, 1, 0, queue->stream, parameters, NULL);
}

/* In the device's context. HA_ERR_UNSUPPORTED: the kernel does not take them all, or there is none. */
HA_IN_ ha_status ha_cuda_strides_enqueue(ha_cuda_queue *queue, const ha_strided_copy *table,
                                         size_t n) {
    ha_status status = ha_cuda_strides_ready(queue->device);
    size_t done = 0;
    for (size_t i = 0; i < n && status == HA_OK; i++)
        if (ha_cuda_stride_values(&table[i]) == 0) status = HA_ERR_UNSUPPORTED;
    while (status == HA_OK && done < n) {
        const size_t left = n - done,
                     some = left < HA_CUDA_STRIDES_MOST_ ? left : HA_CUDA_STRIDES_MOST_;
        status = ha_cuda_strides_launch(queue, table + done, (unsigned)some);
        if (status == HA_OK) done += some;
    }
    return ha_cuda_copy_end(queue, done > 0, status);
}

#endif
