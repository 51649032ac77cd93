/* What was counted, as a table and as JSON. */
#ifndef HARRAY_LAYOUT_IMPL_DUMP_COUNTS_TEXT_H
#define HARRAY_LAYOUT_IMPL_DUMP_COUNTS_TEXT_H

#include "../../counts.h"
#include "../record/all.h"

HA_IN_ uint64_t ha_count_now(const uint64_t *count) {
    return __atomic_load_n(count, __ATOMIC_RELAXED);
}

/* The leaves of a record, one after the other; of the record nothing but the paths matters. */
typedef struct ha_leaf_walk {
    const ha_record *record;
    int64_t field, left; /* of the field's leaves */
    ha_leaf leaf;
} ha_leaf_walk;

HA_IN_ ha_leaf_walk ha_walk_leaves(const ha_record *record) {
    return (ha_leaf_walk){.record = record, .field = -1};
}

/* Goes to the next leaf, of which there is one. */
HA_IN_ const ha_leaf *ha_following_leaf(ha_leaf_walk *walk) {
    int64_t leaves;
    if (walk->left == 0) walk->left = ha_field_leaves(&walk->record->field[++walk->field]);
    leaves = ha_field_leaves(&walk->record->field[walk->field]);
    ha_leaf_of_field(walk->record, walk->field, leaves - walk->left--, &walk->leaf);
    return &walk->leaf;
}

/* ---- a table --------------------------------------------------------------------------------- */

typedef struct ha_columns {
    int name, number;
} ha_columns;

/* As wide as what stands in them. */
HA_IN_ ha_columns ha_columns_of(const ha_counts *c) {
    ha_columns wide = {5, 8};
    ha_leaf_walk walk = ha_walk_leaves(c->record);
    char digits[24];
    for (int64_t k = 0; k < c->leaves; k++) {
        const ha_tally t = ha_tally_now_(&c->leaf[k]);
        const uint64_t most = t.reads > t.writes ? t.reads : t.writes;
        const int number = snprintf(digits, sizeof digits, "%llu",
                                    (unsigned long long)(most > t.pointers ? most : t.pointers));
        ha_text name = {0};
        ha_put_leaf_name(&name, c->record, ha_following_leaf(&walk));
        if ((int)name.length > wide.name) wide.name = (int)name.length;
        if (number > wide.number) wide.number = number;
    }
    return wide;
}

HA_IN_ void ha_put_leaf_table(ha_text *w, const ha_counts *c) {
    const ha_columns wide = ha_columns_of(c);
    ha_leaf_walk walk = ha_walk_leaves(c->record);
    ha_print(w, "%-*s  %*s  %*s  %*s\n", wide.name, "field", wide.number, "reads", wide.number,
             "writes", wide.number, "pointers");
    for (int64_t k = 0; k < c->leaves; k++) {
        const ha_tally t = ha_tally_now_(&c->leaf[k]);
        const size_t begin = w->length;
        ha_put_leaf_name(w, c->record, ha_following_leaf(&walk));
        ha_print(w, "%*s  %*llu  %*llu  %*llu\n", wide.name - (int)(w->length - begin), "",
                 wide.number, (unsigned long long)t.reads, wide.number,
                 (unsigned long long)t.writes, wide.number, (unsigned long long)t.pointers);
    }
}

HA_IN_ void ha_put_heat_table(ha_text *w, const ha_counts *c) {
    ha_print(w, "blob  granules  touched  most often (granules of %lld bytes)\n",
             (long long)c->granularity);
    for (int64_t b = 0; b < c->blobs; b++) {
        const ha_heat *h = &c->blob[b];
        uint64_t most = 0;
        int64_t touched = 0, hottest = 0;
        for (int64_t g = 0; g < h->granules; g++) {
            const uint64_t n = ha_count_now(&h->touched[g]);
            touched += n > 0;
            if (n > most) hottest = g;
            if (n > most) most = n;
        }
        ha_print(w, "%4lld  %8lld  %7lld  %llu times at byte %lld\n", (long long)b,
                 (long long)h->granules, (long long)touched, (unsigned long long)most,
                 (long long)(hottest * c->granularity));
    }
}

HA_API int64_t ha_counts_text(const ha_counts *counts, char *buffer, size_t size) {
    ha_text w = ha_text_into(buffer, size);
    if (!counts) ha_print(&w, "nothing is counted\n");
    if (counts && counts->leaves > 0) ha_put_leaf_table(&w, counts);
    if (counts && counts->granularity > 0) ha_put_heat_table(&w, counts);
    return (int64_t)w.length;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

HA_IN_ void ha_put_json_tallies(ha_json *j, const ha_counts *c) {
    ha_leaf_walk walk = ha_walk_leaves(c->record);
    ha_json_open(j, "fields", '[');
    for (int64_t k = 0; k < c->leaves; k++) {
        const ha_tally t = ha_tally_now_(&c->leaf[k]);
        ha_json_open(j, NULL, '{');
        ha_put_json_leaf_name(j, c->record, ha_following_leaf(&walk));
        ha_json_unsigned(j, "reads", t.reads);
        ha_json_unsigned(j, "writes", t.writes);
        ha_json_unsigned(j, "pointers", t.pointers);
        ha_json_close(j, '}');
    }
    ha_json_close(j, ']');
}

HA_IN_ void ha_put_json_heat(ha_json *j, const ha_counts *c) {
    ha_json_number(j, "granularity", c->granularity);
    ha_json_open(j, "blobs", '[');
    for (int64_t b = 0; b < c->blobs; b++) {
        ha_json_open(j, NULL, '[');
        for (int64_t g = 0; g < c->blob[b].granules; g++)
            ha_json_unsigned(j, NULL, ha_count_now(&c->blob[b].touched[g]));
        ha_json_close(j, ']');
    }
    ha_json_close(j, ']');
}

HA_API int64_t ha_counts_json(const ha_counts *counts, char *buffer, size_t size) {
    ha_json j = ha_json_into(buffer, size);
    ha_json_open(&j, NULL, '{');
    if (counts && counts->leaves > 0) ha_put_json_tallies(&j, counts);
    if (counts && counts->granularity > 0) ha_put_json_heat(&j, counts);
    ha_json_close(&j, '}');
    return (int64_t)j.text.length;
}

#endif
