/* Writing back ahead: where a watermark says so (ha_memory_set_watermark), a part of a memory is kept free or clean, so
 * that whoever needs room there has none of it to wait for. What would give way next is brought to the next tier, by a
 * queue of its own, and stays: nobody waits, and nothing is taken from anybody. It happens when an access was opened on
 * the slow way, as there memory is taken; what that leaves to be done, the next one does. */
#ifndef HARRAY_IMPL_ACCESS_WRITE_BACK_H
#define HARRAY_IMPL_ACCESS_WRITE_BACK_H

#include "make_room.h"

enum { HA_READY_PARTS = 1 << 16 };

/* How many bytes are still to become free or clean; 0: no watermark, or there are enough. */
HA_IN_ uint64_t ha_write_back_need(ha_memory *m) {
    const uint32_t parts = __atomic_load_n(&m->pool.ready, __ATOMIC_RELAXED);
    if (!parts) return 0;
    const uint64_t most = ha_memory_most(m);
    if (most == UINT64_MAX) return 0;
    ha_spin_lock(&m->pool.lock);
    const uint64_t live = m->pool.bytes[HA_LIVE];
    ha_spin_unlock(&m->pool.lock);
    const uint64_t ready = (uint64_t)((double)most * parts / (int)HA_READY_PARTS),
                   unused = live < most ? most - live : 0;
    return unused < ready ? ready - unused : 0;
}

/* What only it has is on its way to the next tier afterwards, unless that takes waiting. */
HA_IN_ void ha_victim_write_back(ha_memory *m, const ha_victim *v, const ha_attempt *by) {
    ha_array *a = v->array;
    ha_incarnation *in = ha_victim_begin(m, v);
    if (!in) return;
    ha_attempt attempt = ha_victim_attempt(m, by);
    ha_timepoint unused;
    attempt.is_ahead = 1;
    ha_status s = ha_settle(a);
    if (!s) s = ha_victim_send_all(a, in, &unused, &attempt);
    ha_lock(a);
    in->leaving = 0;
    ha_unlock(a);
    ha_busy_end(a);
    ha_attempt_end(&attempt);
    if (s) ha_forget_note(); /* it stays dirty */
}

/* Nothing is busy or locked. Looks at no more than would be looked at for a victim. */
HA_IN_ void ha_write_back_ahead(ha_memory *m, const char *site) {
    uint64_t need = ha_write_back_need(m);
    if (!need) return;
    const ha_attempt by = {.site = site};
    ha_victims v = {.left = HA_VICTIM_LOOKS};
    ha_victims_find(m, need, &v);
    for (size_t i = 0; i < v.n && need; i++) {
        ha_victim_write_back(m, &v.list[i], &by);
        need -= v.list[i].bytes < need ? v.list[i].bytes : need;
    }
}

#endif
