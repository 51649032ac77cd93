/* Moving a box of a record array from one memory to another one.
 *
 * Where its values lie in pieces of good length in both, and in the same order, the queue copies
 * them. Where that is true of the far memory's alone, they travel as they are there, and the device
 * puts them into place (device_scatter.h). Else the host converts, in parts that fit into a staging
 * chunk: to a device it gathers a part into a chunk, as the device will have it, and while that
 * travels the next one; from a device it scatters a part while the next one comes. A part is valid
 * as soon as it is enqueued, or scattered: so whoever has to wait drops everything, and begins
 * again with what is then missing. Between two devices without a direct path, or whose layouts
 * differ so that neither puts the values into place, all goes through the host's incarnation.
 *
 * Nothing but values of the box is written at the target, and padding that is nobody's. */
#ifndef HARRAY_IMPL_RECORDS_TRANSFER_H
#define HARRAY_IMPL_RECORDS_TRANSFER_H

#include "by_host.h"

HA_IN_ int ha_is_on_host(const ha_incarnation *in) { return in->memory == &ha_host_memory; }

HA_IN_ ha_status ha_records_transfer_make(ha_records_transfer *c) {
    const ha_records_state *state = ha_records_state_of(c->array);
    const ha_mapping *m = c->here.mapping;
    const size_t columns = (size_t)ha_column_count(m, 0, state->leaves),
                 rows = (size_t)state->leaves;
    const size_t byte_rows = (size_t)m->byte_rows;
    char *memory = (char *)HARRAY_MALLOC(
        columns * (sizeof *c->column + sizeof *c->merged_copy + sizeof(ha_linearizer)) +
        (2 * rows + byte_rows) * sizeof(ha_row));
    if (!memory) return HA_ERR_MEMORY;
    c->column = (ha_column *)(void *)memory;
    c->merged_copy = (ha_merged_copy *)(void *)(c->column + columns);
    c->chunk.linearizer = (ha_linearizer *)(void *)(c->merged_copy + columns);
    c->chunk.row = (ha_row *)(void *)(c->chunk.linearizer + columns);
    c->chunk.byte_row = c->chunk.row + rows;
    c->host.row = c->chunk.byte_row + byte_rows;
    return HA_OK;
}

HA_IN_ void ha_records_transfer_end(ha_records_transfer *c) {
    HARRAY_FREE(c->scatter.column);
    HARRAY_FREE(c->column);
    c->column = NULL;
    c->scatter = (ha_device_scatter){.queue = NULL};
    c->scatter_asked = 0;
}

HA_IN_ ha_status ha_records_via_host(ha_array *a, ha_incarnation *from, ha_incarnation *to,
                                     ha_range r, ha_context *c, ha_set *brought,
                                     ha_attempt *attempt);

/* A part for which it has been decided how. */
HA_IN_ ha_status ha_records_transfer_part(ha_records_transfer *c, const ha_field_box *b) {
    const ha_range r = ha_field_box_range(c->array, b);
    ha_status s;
    switch (c->method) {
    case HA_BY_QUEUE:
        return ha_records_transfer_plain(c, r);
    case HA_BY_SCATTER:
        s = ha_records_transfer_scatter(c, r);
        if (s != HA_ERR_UNSUPPORTED) return s;
        c->attempt->no_scatter = 1;
        c->scatter.queue = NULL; /* another way is looked for */
        c->pending[c->n++] = *b;
        return HA_OK;
    case HA_BY_HOST:
        break;
    }
    if (c->via_host)
        return ha_records_via_host(c->array, c->from, c->to, r, c->context, c->brought, c->attempt);
    return c->here_is_to ? ha_records_transfer_up(c, b, r) : ha_records_transfer_down(c, b, r);
}

/* Whether a part is on its way to the host, where it is still missing: somebody else may have been
 * faster. */
HA_IN_ int ha_records_transfer_awaits(const ha_records_transfer *c, const struct ha_in_flight *at) {
    return at->chunk && at->from == c->from && !ha_set_overlaps(&c->to->valid, at->range);
}

/* What is still to be moved of r: the parts that are pending, and *rest. What is on its way to the
 * host comes first, also where it is not in r: the attempt before this one may have found the same
 * missing, cut in other pieces. So nothing is fetched twice. */
HA_IN_ ha_status ha_records_transfer_rest(ha_records_transfer *c, ha_range r, ha_set *rest) {
    const struct ha_in_flight *at = c->attempt->in_flight;
    rest->grid = c->array->grid;
    if (!ha_is_on_host(c->to)) return ha_set_put(rest, r);
    ha_status s = ha_set_missing(&c->to->valid, r, rest);
    for (int i = 0; i < HA_IN_FLIGHT && !s; i++)
        if (ha_records_transfer_awaits(c, &at[i])) s = ha_set_drop(rest, at[i].range);
    if (s) return s;
    if (rest->n) c->pending[c->n++] = ha_field_box_of(c->array, ha_set_ranges(rest)[--rest->n]);
    for (int i = HA_IN_FLIGHT; i-- > 0;)
        if (ha_records_transfer_awaits(c, &at[i]))
            c->pending[c->n++] = ha_field_box_of(c->array, at[i].range);
    return HA_OK;
}

HA_IN_ ha_status ha_records_transfer_out(ha_records_transfer *c, ha_range r) {
    ha_set rest = {.n = 0};
    ha_field_box b;
    ha_status s = ha_records_transfer_make(c);
    if (!s) s = ha_records_transfer_rest(c, r, &rest);
    while (!s && (c->n || rest.n)) {
        if (!c->n) c->pending[c->n++] = ha_field_box_of(c->array, ha_set_ranges(&rest)[--rest.n]);
        if (ha_records_transfer_next(c, &b)) s = ha_records_transfer_part(c, &b);
    }
    ha_set_free(&rest);
    ha_records_transfer_end(c);
    return s;
}

HA_IN_ ha_status ha_records_move(ha_array *a, ha_incarnation *from, ha_incarnation *to, ha_range r,
                                 ha_context *context, ha_set *brought, ha_attempt *attempt);

/* By way of the host's incarnation. */
HA_IN_ ha_status ha_records_via_host(ha_array *a, ha_incarnation *from, ha_incarnation *to,
                                     ha_range r, ha_context *c, ha_set *brought,
                                     ha_attempt *attempt) {
    ha_incarnation *host;
    ha_set missing = {.n = 0};
    ha_status s = ha_staging_host(a, c, &host, attempt);
    if (s || !host) return s ? s : HA_ERR_MEMORY;
    s = ha_set_missing(&host->valid, r, &missing);
    for (uint32_t i = 0; i < missing.n && !s; i++)
        s = ha_records_move(a, from, host, ha_set_ranges(&missing)[i], c, NULL, attempt);
    ha_set_free(&missing);
    return s ? s : ha_records_move(a, host, to, r, c, brought, attempt);
}

/* Whether one of two devices puts a whole box into place that the other one has. */
HA_IN_ int ha_records_transfer_is_direct(ha_records_transfer *c, ha_range r) {
    const ha_field_box b = ha_field_box_of(c->array, r);
    ha_cut cut;
    int pair;
    if (ha_records_transfer_make(c)) return 0;
    int direct = ha_records_transfer_patterns(c, &b, &pair, &cut);
    if (direct) (void)ha_records_transfer_shape(c, &b, &cut);
    direct = direct && c->method != HA_BY_HOST;
    ha_records_transfer_end(c);
    return direct;
}

/* What shares bytes in the memory of an incarnation; NULL: nothing. Busy. */
HA_IN_ const ha_shared_bytes *ha_records_leave_at(ha_array *a, const ha_incarnation *in) {
    ha_lock(a);
    const ha_placement *p = ha_placement_find(ha_records_state_of(a), in->memory);
    ha_unlock(a);
    return p->shared;
}

/* To a device where others share the bytes of r: these are brought to the host first, also from the device
 * itself, so that whole bytes go there from one place. Of r only `asked` counts as moved then. */
HA_IN_ ha_status ha_records_move_around(ha_array *a, ha_incarnation *to, ha_range around,
                                        ha_range asked, ha_context *context, ha_set *brought,
                                        ha_attempt *attempt) {
    ha_incarnation *host;
    ha_plan plan;
    ha_status s = ha_staging_host(a, context, &host, attempt);
    if (s || !host) return s ? s : HA_ERR_MEMORY;
    s = ha_plan_make(a, host, around, &plan);
    if (!s) s = ha_plan_execute(a, &plan, host, context, NULL, attempt);
    ha_plan_free(&plan);
    if (s) return s;
    ha_records_transfer c = {.array = a,
                             .from = host,
                             .to = to,
                             .context = context,
                             .brought = brought,
                             .attempt = attempt,
                             .converts = 1,
                             .here_is_to = 1,
                             .here = ha_records_at(a, to),
                             .there = ha_records_at(a, host),
                             .shared = ha_records_leave_at(a, to),
                             .asked = asked};
    return ha_records_transfer_out(&c, around);
}

HA_IN_ ha_status ha_records_move(ha_array *a, ha_incarnation *from, ha_incarnation *to, ha_range r,
                                 ha_context *context, ha_set *brought, ha_attempt *attempt) {
    const ha_shared_bytes *shared = ha_records_leave_at(a, to);
    const ha_range around = ha_is_on_host(to) ? r : ha_shared_range(shared, a, r);
    if (around.first != r.first || around.last != r.last)
        return ha_records_move_around(a, to, around, r, context, brought, attempt);
    const ha_mapped source = ha_records_at(a, from), target = ha_records_at(a, to);
    const int devices = !ha_is_on_host(from) && !ha_is_on_host(to);
    const int differ = strcmp(source.mapping->text, target.mapping->text) != 0;
    const ha_memory *link = devices ? ha_link_device(from->memory, to->memory) : NULL;
    ha_records_transfer c = {.array = a,
                             .from = from,
                             .to = to,
                             .context = context,
                             .brought = brought,
                             .attempt = attempt,
                             .converts = !devices || differ,
                             .via_host = devices,
                             .here_is_to = devices && differ ? link == to->memory
                                                             : !ha_is_on_host(to)};
    c.here = c.here_is_to ? target : source;
    c.there = c.here_is_to ? source : target;
    c.shared = c.here_is_to ? shared : ha_records_leave_at(a, from);
    if (devices && (!link || (differ && !ha_records_transfer_is_direct(&c, r))))
        return ha_records_via_host(a, from, to, r, context, brought, attempt);
    return ha_records_transfer_out(&c, r);
}

#endif
