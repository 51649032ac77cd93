/* The options of CUDA devices, as users set them. */
#ifndef HARRAY_IMPL_CONTROL_CUDA_H
#define HARRAY_IMPL_CONTROL_CUDA_H

#include "../device/all.h"

ha_status ha_cuda_configure(const ha_cuda_options *options) {
    ha_status s = ha_enter("ha_cuda_configure");
    if (s) return s;
#ifdef HARRAY_NO_CUDA
    (void)options;
    return ha_fail(HA_ERR_UNSUPPORTED, "ha_cuda_configure", "compiled with HARRAY_NO_CUDA");
#else
    pthread_mutex_lock(&ha_registry.lock);
    s = ha_cuda_set_options(options);
    pthread_mutex_unlock(&ha_registry.lock);
    return s ? ha_fail(s, "ha_cuda_configure", "these options cannot be set") : HA_OK;
#endif
}

#endif
