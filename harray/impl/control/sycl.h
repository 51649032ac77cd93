/* Queues of SYCL's as contexts, also of devices in contexts that are none of dpctl's own. */
#ifndef HARRAY_IMPL_CONTROL_SYCL_H
#define HARRAY_IMPL_CONTROL_SYCL_H

#include "../device/all.h"
#include "../../sycl.h"

#ifdef HARRAY_WITH_SYCL
/* The queue's device, which stays only if it can be opened. */
HA_IN_ ha_context *ha_sycl_device_of(void *queue, ha_failure *failure)
    HA_REQUIRES_(ha_registry.lock) {
    int number;
    if (ha_sycl_load() <= 0) {
        ha_backend_report(0, ha_sycl_missing());
        *failure = (ha_failure){HA_ERR_NOT_FOUND, "there are no SYCL devices"};
        return NULL;
    }
    *failure = (ha_failure){ha_sycl_number_of_queue(queue, &number), "the queue cannot be used"};
    if (failure->status) return NULL;
    ha_context *c = ha_device_find(&ha_backend_sycl, number);
    if (!c) c = ha_device_open(&ha_backend_sycl, number, failure);
    if (!c) ha_sycl_take_away(number);
    return c;
}
#endif

ha_context *ha_sycl_adopt(void *queue) {
    static const char operation[] = "ha_sycl_adopt";
    if (ha_enter(operation)) return NULL;
    if (!queue) {
        ha_fail(HA_ERR_ARGUMENT, operation, "no queue");
        return NULL;
    }
#ifdef HARRAY_WITH_SYCL
    ha_failure failure;
    pthread_mutex_lock(&ha_registry.lock);
    ha_context *device = ha_sycl_device_of(queue, &failure);
    pthread_mutex_unlock(&ha_registry.lock);
    if (device) return ha_context_adopt(device, queue);
    ha_fail(failure.status, operation, "%s", failure.why);
    return NULL;
#else
    ha_fail(HA_ERR_UNSUPPORTED, operation, "compiled without HARRAY_WITH_SYCL");
    return NULL;
#endif
}

#endif
