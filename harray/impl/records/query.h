/* Questions about record arrays, and single records. */
#ifndef HARRAY_IMPL_RECORDS_QUERY_H
#define HARRAY_IMPL_RECORDS_QUERY_H

#include "open.h"

const ha_record *ha_records_record(const ha_records *r) {
    ha_array *a = ha_records_ask(r, "ha_records_record");
    if (!a) return NULL;
    const ha_record *record = ha_records_state_of(a)->record;
    ha_records_asked(r);
    return record;
}

int ha_records_rank(const ha_records *r) {
    ha_array *a = ha_records_ask(r, "ha_records_rank");
    if (!a) return 0;
    const int rank = ha_records_state_of(a)->rank;
    ha_records_asked(r);
    return rank;
}

int64_t ha_records_extent(const ha_records *r, int d) {
    ha_array *a = ha_records_ask(r, "ha_records_extent");
    if (!a) return 0;
    const ha_records_state *state = ha_records_state_of(a);
    const int64_t extent = d >= 0 && d < state->rank ? state->extent[d] : 0;
    ha_records_asked(r);
    return extent;
}

int64_t ha_records_size(const ha_records *r) {
    ha_array *a = ha_records_ask(r, "ha_records_size");
    if (!a) return 0;
    const int64_t n = ha_records_count(ha_records_state_of(a));
    ha_records_asked(r);
    return n;
}

uint64_t ha_records_version(const ha_records *r) {
    ha_array *a = ha_records_ask(r, "ha_records_version");
    if (!a) return 0;
    const uint64_t version = ha_array_version(a);
    ha_records_asked(r);
    return version;
}

ha_statistics ha_records_statistics(const ha_records *r) {
    ha_array *a = ha_records_ask(r, "ha_records_statistics");
    if (!a) return (ha_statistics){0, 0};
    const ha_statistics s = ha_array_statistics(a);
    ha_records_asked(r);
    return s;
}

void ha_records_set_name(ha_records *r, const char *name) {
    ha_array *a = ha_records_ask(r, "ha_records_set_name");
    if (!a) return;
    ha_array_set_name(a, name);
    ha_lock(a);
    memcpy(r->name, a->name, sizeof r->name);
    ha_unlock(a);
    ha_records_asked(r);
}

const char *ha_records_name(const ha_records *r) {
    if (!r || ha_records_freed(r, "ha_records_name")) return "";
    return r->name;
}

const ha_mapping *ha_records_mapping(ha_records *r, ha_context *c) {
    static const char operation[] = "ha_records_mapping";
    const ha_mapping *mapping = NULL;
    ha_placement *p;
    if (ha_records_enter(r, operation, operation)) return NULL;
    ha_array *a = ha_records_ask(r, operation);
    if (!a) return NULL;
    c = ha_resolve(c);
    ha_status s = ha_placement_get(a, c->memory, &p);
    ha_lock(a); /* another thread may have changed the layout */
    if (!s) mapping = ha_placement_find(ha_records_state_of(a), c->memory)->mapping;
    ha_unlock(a);
    ha_records_asked(r);
    if (s)
        ha_fail(s, operation, "records %s at %s: no memory for their mapping",
                ha_records_label(r).text, c->name);
    return mapping;
}

/* Of a box with records. */
HA_IN_ int ha_records_box_is_valid(const ha_records *r, const ha_context *c, const char *paths,
                                   const ha_region *asked) {
    ha_records *m = (ha_records *)(uintptr_t)r;
    ha_region box;
    ha_access_spec *spec = NULL;
    ha_array *a = ha_records_ask(r, "ha_records_valid");
    if (!a) return 0;
    ha_tell_later(); /* what is no path is just not valid */
    int valid = ha_records_inside(a, asked, &box) && a->grid && !ha_region_is_empty(&box) &&
                !ha_access_spec_get(m, paths ? paths : "", 1, "ha_records_valid", "", &spec);
    ha_later_error.error.status = HA_OK;
    ha_tell_now();
    ha_lock(a);
    const ha_incarnation *in = ha_incarnation_find(a, ha_resolve_const(c)->memory);
    for (int32_t i = 0; valid && i < spec->runs; i++)
        valid = in && ha_set_contains(&in->valid, ha_records_range(a, &spec->run[i], &box));
    ha_unlock(a);
    ha_access_spec_end(spec);
    ha_records_asked(m);
    return valid;
}

int ha_records_valid(const ha_records *r, const ha_context *c, const char *paths, size_t first,
                     size_t last) {
    const ha_region rows = ha_records_rows_(first, last);
    return ha_records_box_is_valid(r, c, paths, &rows);
}

HA_IN_ void ha_records_print_incarnation(ha_text *t, const ha_array *a, const ha_incarnation *in)
    HA_REQUIRES_(a->lock) {
    const ha_placement *p = ha_placement_find(ha_records_state_of(a), in->memory);
    const ha_range *v = ha_set_ranges(&in->valid);
    const char *whose = !in->wrapped      ? ""
                        : ha_is_const(in) ? "the caller's, const, "
                                          : "the caller's, ";
    if (in->block->memory != in->memory && !in->wrapped) whose = "pinned, ";
    ha_print(t, "  %-10s %s%s, valid", ha_memory_context(in->memory)->name, whose,
             p->mapping->text);
    for (uint32_t i = 0; i < in->valid.n; i++)
        ha_print(t, "%s %s", i ? "," : "", ha_part_label_of(a, v[i]).text);
    ha_print(t, "%s\n", in->valid.n ? "" : " nothing");
}

size_t ha_records_describe(const ha_records *r, char *text, size_t bytes) {
    ha_text t = ha_text_into(text, bytes);
    ha_array *a = ha_records_ask(r, "ha_records_describe");
    if (!a) {
        ha_print(&t, "no records\n");
        return t.length;
    }
    ha_lock(a);
    ha_print(&t, "%s%s%s[", a->name, *a->name ? ": " : "", a->type);
    ha_records_print_extents(a, &t);
    ha_print(&t, "], version %llu\n", (unsigned long long)a->version);
    for (const ha_incarnation *in = &a->first; in; in = in->next)
        if (in->block) ha_records_print_incarnation(&t, a, in);
    ha_unlock(a);
    ha_records_asked(r);
    return t.length;
}

/* ---- single records -------------------------------------------------------------------------- */

/* The box of one record; empty: there is no such index. */
HA_IN_ ha_range ha_records_one(const ha_array *a, const int64_t *index) {
    const ha_records_state *state = ha_records_state_of(a);
    ha_field_box b = {.end = state->leaves};
    for (int d = 0; d < HA_MAPPING_RANK; d++) {
        b.first[d] = d < state->rank ? index[d] : 0;
        b.last[d] = b.first[d] + 1;
        if (b.first[d] < 0 || b.first[d] >= state->extent[d]) return (ha_range){0, 0};
    }
    return ha_field_box_range(a, &b);
}

HA_IN_ ha_status ha_records_no_index(ha_array *a, const int64_t *index, const char *operation) {
    char numbers[100];
    ha_text t = ha_text_into(numbers, sizeof numbers);
    for (int d = 0; d < ha_records_state_of(a)->rank; d++)
        ha_print(&t, "%s%lld", d ? ", " : "", (long long)index[d]);
    return ha_fail(HA_ERR_ARGUMENT, operation, "%s: records %s: there is no index (%s)", operation,
                   ha_label_of(a).text, numbers);
}

/* Opens one record on the host: all of it. */
HA_IN_ ha_status ha_records_open_one(ha_records_access *x, ha_records *r, ha_array *a,
                                     const int64_t *index, unsigned mode, const char *operation) {
    ha_range range = ha_records_one(a, index), meant = {0, 0};
    ha_records_opening opening = {.array = a,
                                  .context = ha_host(),
                                  .range = &range,
                                  .meant = &meant,
                                  .mode = &mode,
                                  .n = 1,
                                  .operation = operation,
                                  .site = ha_from(operation)};
    ha_request request;
    const ha_region all = ha_records_rows_(0, HA_END);
    ha_region box;
    if (ha_is_empty(range)) return ha_records_no_index(a, index, operation);
    ha_status s = ha_records_ready(a, opening.context, &all, &box, operation, operation);
    if (s) return s;
    ha_records_share(&opening, &range, &meant, &mode);
    return ha_records_grant(x, r, &opening, &request);
}

/* Copies one record between the array and the struct that describes it. */
HA_IN_ ha_status ha_records_exchange(ha_records *r, const int64_t *index, void *value,
                                     unsigned mode, const char *operation) {
    ha_records_access x = {.parts_ = 0};
    ha_status s = ha_records_enter(r, operation, operation);
    if (!s && (!index || !value)) s = ha_fail(HA_ERR_ARGUMENT, operation, "no index, or no value");
    ha_array *a;
    if (!s) s = ha_records_begin_at(r, operation, &a);
    if (s) return s;
    const ha_records_state *state = ha_records_state_of(a);
    s = ha_records_open_one(&x, r, a, index, mode, operation);
    for (int64_t leaf = 0; leaf < state->leaves && !s; leaf++) {
        const ha_mapped records = {x.mapping, x.blob};
        char *at = (char *)value + state->leaf[leaf].offset;
        if (mode == HA_READ)
            ha_mapped_get(&records, leaf, index, at);
        else
            ha_mapped_set(&records, leaf, index, at);
    }
    if (!s) s = ha_records_close_(&x);
    ha_records_leave(r);
    return s;
}

ha_status ha_records_get(ha_records *r, const int64_t *index, void *value) {
    HA_TELLS_EVENTS_;
    return ha_records_exchange(r, index, value, HA_READ, "ha_records_get");
}

ha_status ha_records_set(ha_records *r, const int64_t *index, const void *value) {
    HA_TELLS_EVENTS_;
    return ha_records_exchange(r, index, (void *)(uintptr_t)value, HA_OVERWRITE, "ha_records_set");
}

#endif
