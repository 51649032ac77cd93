/* With HARRAY_DEBUG: what views of a counting layout on the host touched is compared with the fields that
 * accesses have named. Where fields share their pages that is all that can be seen of the others.
 *
 * Counters are of the layout, and so of all accesses that are open at once: they are compared when the last one
 * is closed, with what any of these has named. Functions on queues count later, so where there are some,
 * nothing is compared any more. */
#ifndef HARRAY_IMPL_RECORDS_NAMED_H
#define HARRAY_IMPL_RECORDS_NAMED_H

#include "handle.h"
#include "placement.h"

enum { HA_NAMED_ = 1, HA_NAMED_TO_WRITE_ = 2 };

/* What an access touched though it was not named; what NULL: nothing. */
typedef struct ha_unnamed {
    int64_t leaf;
    const char *what, *site;
    uint64_t times;
} ha_unnamed;

HA_IN_ int ha_is_compared(const ha_mapping *m, const ha_context *c) {
    return HA_DEBUGGING_ && m->counts && m->counts->leaves && c->memory == &ha_host_memory;
}

HA_IN_ void ha_named_begin(ha_named *n, const ha_counts *c) {
    for (int64_t leaf = 0; leaf < c->leaves; leaf++)
        n->leaf[leaf] = (struct ha_named_field){ha_tally_now_(&c->leaf[leaf]), 0};
}

HA_IN_ void ha_named_add(ha_named *n, const ha_field_box *b, unsigned mode) {
    for (int64_t leaf = b->leaf; leaf < b->end; leaf++)
        n->leaf[leaf].how |= mode == HA_READ ? HA_NAMED_ : HA_NAMED_ | HA_NAMED_TO_WRITE_;
}

/* An access is open. */
HA_IN_ void ha_named_open(ha_array *a, const ha_mapping *m, const ha_context *c,
                          const ha_range *range, const unsigned *mode, size_t n) {
    if (!ha_is_compared(m, c)) return;
    ha_lock(a);
    ha_named *named = ha_placement_find(ha_records_state_of(a), c->memory)->named;
    if (!named->open++) ha_named_begin(named, m->counts);
    named->queued |= c->ops != NULL;
    for (size_t i = 0; i < n && a->grid; i++) {
        if (ha_is_empty(range[i])) continue;
        const ha_field_box b = ha_field_box_of(a, range[i]);
        ha_named_add(named, &b, mode[i]);
    }
    ha_unlock(a);
}

/* The first leaf that was touched otherwise than named. Counters that were reset meanwhile say nothing. */
HA_IN_ ha_unnamed ha_named_compare(const ha_named *n, const ha_counts *c) {
    ha_unnamed u = {.what = NULL};
    for (; u.leaf < c->leaves; u.leaf++) {
        const ha_tally now = ha_tally_now_(&c->leaf[u.leaf]), before = n->leaf[u.leaf].before;
        const int how = n->leaf[u.leaf].how;
        if (!how && now.reads > before.reads) {
            u.what = "read";
            u.times = now.reads - before.reads;
        } else if (!how && now.pointers > before.pointers) {
            u.what = "pointed to";
            u.times = now.pointers - before.pointers;
        } else if (!(how & HA_NAMED_TO_WRITE_) && now.writes > before.writes) {
            u.what = how ? "written though it was opened to be read" : "written";
            u.times = now.writes - before.writes;
        }
        if (u.what) break;
    }
    return u;
}

/* An access is about to be closed, by the thread that has it. */
HA_IN_ ha_unnamed ha_named_close(const ha_mapping *m, const ha_context *c, const ha_access *part) {
    ha_unnamed u = {.what = NULL};
    ha_array *a = part->array;
    if (!ha_is_compared(m, c) || !a) return u;
    ha_lock(a);
    const ha_holder *h = ha_holder_find(a, part->ticket);
    if (h && h->thread == ha_self.id) {
        ha_named *n = ha_placement_find(ha_records_state_of(a), c->memory)->named;
        if (!--n->open && !n->queued) u = ha_named_compare(n, m->counts);
        u.site = h->site;
    }
    ha_unlock(a);
    return u;
}

HA_IN_ ha_status ha_named_fail(ha_records *r, const ha_record *record, const ha_unnamed *u) {
    char name[48] = "";
    (void)ha_record_leaf_name(record, u->leaf, name, sizeof name);
    return ha_fail(HA_ERR_ARGUMENT, "ha_records_close",
                   "%s: records %s: %s was %s (%llu times), and no access that was open names it "
                   "so",
                   u->site, ha_records_label(r).text, name, u->what, (unsigned long long)u->times);
}

#endif
