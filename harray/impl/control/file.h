/* The public handle of file:0: its options. */
#ifndef HARRAY_IMPL_CONTROL_FILE_H
#define HARRAY_IMPL_CONTROL_FILE_H

#include "../device/all.h"

ha_status ha_file_configure(const ha_file_options *options) {
    ha_status s = ha_enter("ha_file_configure");
    if (s) return s;
    pthread_mutex_lock(&ha_registry.lock);
    s = ha_file_set_options(options);
    pthread_mutex_unlock(&ha_registry.lock);
    return s ? ha_fail(s, "ha_file_configure", "these options cannot be set") : HA_OK;
}

#endif
