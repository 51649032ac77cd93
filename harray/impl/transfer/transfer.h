/* Transfers between incarnations that have a direct path. Called by the thread that has the array busy,
 * without the lock. What would make the host wait returns HA_RETRY_. */
#ifndef HARRAY_IMPL_TRANSFER_TRANSFER_H
#define HARRAY_IMPL_TRANSFER_TRANSFER_H

#include "incarnation.h"

/* Room for what a transfer of r will note. What was brought before may have been lost since, and so
 * come once more, in other pieces. */
HA_IN_ ha_status ha_transfer_reserve(ha_array *a, ha_incarnation *from, ha_incarnation *to,
                                     ha_range r, ha_set *brought) {
    if (ha_ops_reserve(a, &from->ops, 1) || ha_ops_reserve(a, &to->ops, 1) ||
        ha_set_reserve(a, &to->valid, ha_set_growth(&to->valid, r, 1)) ||
        (brought && ha_set_room(brought, ha_set_growth(brought, r, 1))))
        return HA_ERR_MEMORY;
    return HA_OK;
}

/* What was enqueued is valid from now on, and counted. */
HA_IN_ void ha_transfer_note(ha_array *a, ha_incarnation *to, ha_range r) {
    ha_lock(a);
    ha_set_add(&to->valid, r);
    ha_count_transfer(a, ha_value_bytes(a, r));
    ha_unlock(a);
}

/* Reads and writes of a queue are under way. There is room. */
HA_IN_ void ha_transfer_outstanding(ha_array *a, ha_incarnation *from, ha_incarnation *to,
                                    ha_context *queue, ha_range r, const char *site) {
    ha_lock(a);
    ha_note_operation(&from->ops, queue, r, 0, site);
    ha_note_operation(&to->ops, queue, r, 1, site);
    ha_unlock(a);
}

/* Enqueues the copy of r; from then on it is valid at `to`. Adds it to *brought, if that is
 * given. */
HA_IN_ ha_status ha_transfer(ha_array *a, ha_incarnation *from, ha_incarnation *to, ha_range r,
                             ha_context *c, ha_set *brought, ha_attempt *attempt) {
    ha_context *queue = ha_transfer_queue(a, from, to, r, c);
    const size_t at = r.first * a->element;
    const ha_strided_copy copy = ha_box_copy(a->grid, r, a->element, to->data + at,
                                             from->data + at);
    int some = 0;
    if (!queue) {
        const ha_memory *dead = ha_is_dead(from->memory) ? from->memory : to->memory;
        attempt->point = (ha_timepoint){ha_memory_context(dead), 0};
        return HA_RETRY_;
    }
    ha_status s = ha_transfer_reserve(a, from, to, r, brought);
    if (!s) s = ha_come_after(a, from, r, 0, queue, attempt);
    if (!s) s = ha_come_after(a, to, r, 1, queue, attempt);
    if (!s) ha_transfer_begins(queue);
    if (!s) s = ha_move_pieces(queue, &copy, &some, attempt);
    if (some) ha_transfer_outstanding(a, from, to, queue, r, attempt->site);
    if (s) return s;
    ha_transfer_note(a, to, r);
    ha_transferred(a, from->memory, to->memory, queue, r, attempt->site);
    if (brought) ha_set_add(brought, r);
    return HA_OK;
}

#endif
