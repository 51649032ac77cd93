/* Copies between layouts: what is asked, and whether it can be done. */
#ifndef HARRAY_LAYOUT_IMPL_COPY_COPY_H
#define HARRAY_LAYOUT_IMPL_COPY_COPY_H

#include "overlap.h"
#include "threads.h"
#include "../../copy.h"

enum { HA_COPY_MOST_THREADS = 256 };

/* From so many bytes on targets are written past the caches. */
#ifndef HA_COPY_LARGE_ /* tests have less */
#define HA_COPY_LARGE_ (1 << 24)
#endif

/* ---- what is asked --------------------------------------------------------------------------- */

HA_IN_ ha_status ha_copy_check_extents(const ha_asked *asked, const ha_mapping *to,
                                       const ha_mapping *from) {
    if (to->rank != from->rank)
        return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "the target has rank %d, the source %d",
                         (int)to->rank, (int)from->rank);
    for (int d = 0; d < to->rank; d++)
        if (to->extent[d] != from->extent[d])
            return ha_refuse(asked, HA_ERR_ARGUMENT, 0,
                             "extent %d of the target is %lld, of the source %lld", d,
                             (long long)to->extent[d], (long long)from->extent[d]);
    return HA_OK;
}

/* *records: how many there are in the region. */
HA_IN_ ha_status ha_copy_check_region(const ha_asked *asked, const ha_mapping *m,
                                      const int64_t *first, const int64_t *last, int64_t *records) {
    int is_empty = 0;
    *records = 1;
    for (int d = 0; d < m->rank; d++)
        if (first[d] < 0 || last[d] < first[d] || last[d] > m->extent[d])
            return ha_refuse(asked, HA_ERR_ARGUMENT, 0,
                             "the region from %lld to %lld is not inside extent %d, which is %lld",
                             (long long)first[d], (long long)last[d], d, (long long)m->extent[d]);
        else
            is_empty |= first[d] == last[d];
    for (int d = 0; d < m->rank && !is_empty; d++)
        if (!ha_product(*records, last[d] - first[d], records)) *records = INT64_MAX;
    if (is_empty) *records = 0;
    return HA_OK;
}

HA_IN_ ha_status ha_copy_check_blobs(const ha_asked *asked, const ha_mapped *to,
                                     const ha_mapped *from) {
    ha_blob_overlap overlap = {.is_there = 0};
    const ha_status s = ha_find_overlap(asked, to, from, &overlap);
    if (s || !overlap.is_there) return s;
    return ha_refuse(asked, HA_ERR_ARGUMENT, 0,
                     "blob %d of the target and blob %d of the source overlap",
                     (int)overlap.blob[0], (int)overlap.blob[1]);
}

/* ---- leaves ---------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_copy_refuse_leaf(const ha_asked *asked, const ha_mapping *m, int64_t leaf,
                                     const char *why) {
    char name[128];
    (void)ha_record_leaf_name(m->record, leaf, name, sizeof name);
    return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "%s: %s", name, why);
}

/* Has the row the same place for several records of the region? */
HA_IN_ int ha_copy_is_shared(const ha_mapping *m, const ha_row *row, int64_t records) {
    return records > 1 && row->blob >= 0 && row->linearizer >= 0 && row->block_stride == 0 &&
           (row->lanes == 1 || row->lane_stride == 0) && m->blob[row->blob].bytes > 0;
}

HA_IN_ ha_status ha_copy_check_pair(const ha_asked *asked, const ha_layout_plan *p,
                                    const ha_leaf_pair *pair) {
    const ha_mapping *t = p->to->mapping, *f = p->from->mapping;
    const ha_row *to = &t->row[pair->to_number], *from = &f->row[pair->from_number];
    if (to->blob < 0) return HA_OK;
    if (ha_copy_is_shared(t, to, p->records))
        return ha_copy_refuse_leaf(asked, t, pair->to_number,
                                   "the target has one place for the values of all records");
    if (p->records > 0 && !ha_has_blobs(p->to, to))
        return ha_copy_refuse_leaf(asked, t, pair->to_number, "its blob in the target is NULL");
    if (p->records > 0 && !ha_has_blobs(p->from, from))
        return ha_copy_refuse_leaf(asked, f, pair->from_number, "its blob in the source is NULL");
    return HA_OK;
}

HA_IN_ ha_status ha_copy_add_leaves(const ha_asked *asked, ha_layout_plan *p,
                                    const ha_leaf_pair *pair, int64_t pairs) {
    for (int64_t k = 0; k < pairs; k++) {
        const ha_status s = pair[k].is_chosen ? ha_copy_check_pair(asked, p, &pair[k]) : HA_OK;
        if (s) return s;
    }
    if (p->records == 0) return HA_OK;
    for (int64_t k = 0; k < pairs; k++)
        if (pair[k].is_chosen) ha_copy_add_leaf(p, &pair[k]);
    return HA_OK;
}

HA_IN_ ha_status ha_copy_match(const ha_asked *asked, ha_layout_plan *p, const char *paths,
                               ha_named_leaf *named, ha_leaf_pair *pair) {
    const ha_mapping *to = p->to->mapping, *from = p->from->mapping;
    const int64_t pairs = ha_pair_leaves(to->record, to->rows, from->record, from->rows, named,
                                         pair);
    ha_status s;
    if (pairs == 0)
        return ha_refuse(asked, HA_ERR_ARGUMENT, 0, "the two records have no field in common");
    s = ha_choose_paths(asked, to->record, pair, pairs, paths, "both records");
    return s ? s : ha_copy_add_leaves(asked, p, pair, pairs);
}

/* ---- the copy -------------------------------------------------------------------------------- */

/* Room for a plan of so many leaves, and for what is needed to make it. */
HA_IN_ char *ha_copy_room(ha_layout_plan *p, int64_t n, int64_t both, ha_named_leaf **named,
                          ha_leaf_pair **pair, size_t *bytes) {
    const size_t each = 2 * sizeof *p->leaf + sizeof *p->walk + sizeof *p->group + sizeof *p->pass +
                        sizeof *p->change + sizeof **pair;
    char *room;
    *bytes = (size_t)n * each + (size_t)both * sizeof **named;
    room = (char *)HA_LAYOUT_MALLOC_(*bytes);
    if (!room) return NULL;
    p->leaf = (ha_copy_leaf *)(void *)room;
    p->merged = p->leaf + n;
    p->walk = (ha_copy_walk *)(void *)(p->merged + n);
    p->group = (ha_copy_group *)(void *)(p->walk + n);
    p->pass = (ha_copy_pass *)(void *)(p->group + n);
    p->change = (ha_copy_change *)(void *)(p->pass + n);
    *pair = (ha_leaf_pair *)(void *)(p->change + n);
    *named = (ha_named_leaf *)(void *)(*pair + n);
    return room;
}

/* No more threads than there is work for. */
HA_IN_ int ha_copy_threads(const ha_layout_plan *p, int asked) {
    const int64_t useful = p->records / (4 * HA_COPY_LIST) + 1;
    int64_t threads = ha_smaller(ha_larger(asked, 1), HA_COPY_MOST_THREADS);
    return (int)ha_smaller(threads, useful);
}

HA_IN_ int ha_copy_is_large(const ha_layout_plan *p) {
    int64_t bytes = 0;
    for (int64_t k = 0; k < p->leaves; k++) bytes += p->leaf[k].size;
    return !ha_product(bytes, p->records, &bytes) || bytes >= HA_COPY_LARGE_;
}

/* Before anything is written. */
HA_IN_ ha_status ha_copy_check_values(const ha_asked *asked, ha_copy_worker *w) {
    const ha_layout_plan *p = w->plan;
    for (int64_t k = 0; k < p->leaves; k++) {
        const ha_copy_leaf *leaf = &p->leaf[k];
        ha_copy_run misfit;
        char why[200];
        ha_text text = ha_text_into(why, sizeof why);
        if (!ha_scalars_may_misfit(leaf->from_scalar, leaf->to_scalar)) continue;
        if (ha_copy_leaf_fits(w, leaf, &misfit)) continue;
        ha_print(&text, "the %s of record (", ha_dtype_short_name(leaf->from_scalar));
        for (int d = 0; d < p->to->mapping->rank; d++)
            ha_print(&text, d == 0 ? "%lld" : ", %lld", (long long)misfit.index[d]);
        ha_print(&text, ") cannot be converted to %s", ha_dtype_short_name(leaf->to_scalar));
        return ha_copy_refuse_leaf(asked, p->to->mapping, leaf->to_number, why);
    }
    return HA_OK;
}

HA_IN_ ha_status ha_copy_work(const ha_asked *asked, ha_layout_plan *p, const ha_copying *how) {
    const int workers = ha_copy_threads(p, how->threads);
    const size_t bytes = (size_t)workers * sizeof(ha_copy_worker) + 63;
    char *memory;
    ha_copy_worker *worker;
    ha_status s;
    if (p->leaves == 0) return HA_OK;
    memory = (char *)HA_LAYOUT_MALLOC_(bytes);
    if (!memory) return ha_no_memory(asked, bytes);
    worker = (ha_copy_worker *)(void *)(memory + (64 - HA_NUMBER_(memory) % 64) % 64);
    p->stream = how->past_caches_ || ha_copy_is_large(p);
    ha_copy_find_changes(p, worker->changed);
    ha_copy_find_groups(p);
    ha_copy_find_passes(p, workers);
    for (int k = 0; k < workers; k++) {
        worker[k].plan = p; /* all else is set before it is read */
        worker[k].window = NULL;
        worker[k].number = k;
        worker[k].workers = workers;
        worker[k].is_started = 0;
    }
    s = ha_copy_check_values(asked, worker);
    if (!s) {
        ha_copy_do_all(worker, workers);
        ha_copy_count_values(p);
    }
    HA_LAYOUT_FREE_(memory);
    return s;
}

HA_IN_ ha_status ha_copy_planned(const ha_asked *asked, ha_layout_plan *p, const ha_copying *how) {
    const int64_t n = p->to->mapping->rows, both = n + p->from->mapping->rows;
    ha_named_leaf *named;
    ha_leaf_pair *pair;
    size_t bytes;
    char *room = ha_copy_room(p, n, both, &named, &pair, &bytes);
    ha_status s;
    if (!room) return ha_no_memory(asked, bytes);
    s = ha_copy_match(asked, p, how->paths, named, pair);
    if (!s) s = ha_copy_work(asked, p, how);
    HA_LAYOUT_FREE_(room);
    return s;
}

HA_API ha_status ha_mapped_copy(const ha_mapped *to, const ha_mapped *from, const ha_copying *how,
                                ha_error *error) {
    static const ha_copying everything;
    static const int64_t zeros[HA_MAPPING_RANK];
    const ha_asked asked = ha_ask("ha_mapped_copy", error);
    ha_layout_plan p = {.to = to, .from = from, .first = zeros};
    ha_status s = ha_check_mapped(&asked, to, "the target");
    if (!s) s = ha_check_mapped(&asked, from, "the source");
    if (!s) s = ha_copy_check_extents(&asked, to->mapping, from->mapping);
    if (s) return s;
    if (!how) how = &everything;
    p.last = to->mapping->extent;
    if (how->first) p.first = how->first;
    if (how->last) p.last = how->last;
    s = ha_copy_check_region(&asked, to->mapping, p.first, p.last, &p.records);
    if (!s) s = ha_copy_check_blobs(&asked, to, from);
    return s ? s : ha_copy_planned(&asked, &p, how);
}

#endif
