/* The public handles of the simulated device: options, hold and step, failing. */
#ifndef HARRAY_IMPL_CONTROL_SIM_H
#define HARRAY_IMPL_CONTROL_SIM_H

#include "../device/all.h"

ha_status ha_sim_configure(const ha_sim_options *options) {
    ha_status s = ha_enter("ha_sim_configure");
    if (s) return s;
    pthread_mutex_lock(&ha_registry.lock);
    s = ha_sim_set_options(options);
    pthread_mutex_unlock(&ha_registry.lock);
    return s ? ha_fail(s, "ha_sim_configure", "these options cannot be set") : HA_OK;
}

HA_IN_ ha_status ha_sim_check(const ha_context *c, const char *operation) {
    ha_status s = ha_enter(operation);
    if (s || !strcmp(c->backend->kind, ha_backend_sim.kind)) return s;
    return ha_fail(HA_ERR_ARGUMENT, operation, "%s is not a simulated device", c->name);
}

ha_status ha_sim_hold(ha_context *c) {
    c = ha_resolve(c);
    ha_status s = ha_sim_check(c, "ha_sim_hold");
    return s ? s : ha_sim_set_credit(c->queue, 0);
}

ha_status ha_sim_step(ha_context *c, int64_t commands) {
    c = ha_resolve(c);
    ha_status s = ha_sim_check(c, "ha_sim_step");
    if (s || !commands) return s; /* a credit of 0 would hold a queue that is free */
    return ha_sim_set_credit(c->queue, commands);
}

ha_status ha_sim_fail(ha_context *c) {
    c = ha_resolve(c);
    ha_status s = ha_sim_check(c, "ha_sim_fail");
    if (!s) ha_sim_fail_queue(c->queue);
    return s;
}

#endif
