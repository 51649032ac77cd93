/* Counters from the JSON that ha_counts_json writes. */
#ifndef HARRAY_LAYOUT_IMPL_DUMP_COUNTS_READ_H
#define HARRAY_LAYOUT_IMPL_DUMP_COUNTS_READ_H

#include "counts_text.h"
#include "../mapping/all.h"

typedef struct ha_counts_reader {
    ha_reader reader;
    const ha_mapping *mapping;
    ha_counts *counts; /* NULL: what there is, is only looked at */
    int counted;
    int64_t granularity;
} ha_counts_reader;

HA_IN_ ha_status ha_read_word(ha_reader *r, const char *word) {
    ha_skip_blanks(r);
    for (const char *w = word; *w; w++, r->at++)
        if (*r->at != *w) return ha_expected(r, word);
    return HA_OK;
}

/* "word": and a number, behind a comma. */
HA_IN_ ha_status ha_read_member(ha_reader *r, const char *word, uint64_t *number) {
    int64_t n = 0;
    ha_status s = ha_expect(r, ',', "','");
    if (!s) s = ha_read_word(r, word);
    if (!s) s = ha_expect(r, ':', "':'");
    if (!s) s = ha_read_number(r, "a number", 0, INT64_MAX, &n);
    *number = (uint64_t)n;
    return s;
}

/* {"name": "pos.x", "reads": 0, "writes": 0, "pointers": 7} */
HA_IN_ ha_status ha_read_tally(ha_reader *r, const ha_record *record, const ha_leaf *leaf,
                               ha_tally *t) {
    char name[512];
    ha_text w = ha_text_into(name, sizeof name);
    ha_status s = ha_expect(r, '{', "'{'");
    ha_print(&w, "\"");
    ha_put_leaf_name(&w, record, leaf);
    ha_print(&w, "\"");
    if (!s) s = ha_read_word(r, "\"name\"");
    if (!s) s = ha_expect(r, ':', "':'");
    if (!s) s = ha_read_word(r, name);
    if (!s) s = ha_read_member(r, "\"reads\"", &t->reads);
    if (!s) s = ha_read_member(r, "\"writes\"", &t->writes);
    if (!s) s = ha_read_member(r, "\"pointers\"", &t->pointers);
    return s ? s : ha_expect(r, '}', "'}'");
}

HA_IN_ ha_status ha_read_tallies(ha_counts_reader *c) {
    ha_reader *r = &c->reader;
    ha_leaf_walk walk = ha_walk_leaves(c->mapping->record);
    ha_status s = ha_expect(r, ':', "':'");
    if (!s) s = ha_expect(r, '[', "'['");
    c->counted = 1;
    for (int64_t k = 0; !s && k < c->mapping->rows; k++) {
        ha_tally t = {0};
        if (k > 0) s = ha_expect(r, ',', "',' and the next field");
        if (!s) s = ha_read_tally(r, c->mapping->record, ha_following_leaf(&walk), &t);
        if (!s && c->counts) c->counts->leaf[k] = t;
    }
    return s ? s : ha_expect(r, ']', "']', as there is no further field");
}

/* [7, 7, 0, …]: as many as the blob has granules. */
HA_IN_ ha_status ha_read_heat(ha_counts_reader *c, int64_t blob) {
    ha_reader *r = &c->reader;
    const size_t bytes = (size_t)c->mapping->blob[blob].bytes;
    const int64_t granules = (int64_t)ha_granules_(bytes, c->granularity);
    ha_status s = ha_expect(r, '[', "'['");
    for (int64_t g = 0; !s && g < granules; g++) {
        int64_t n = 0;
        if (g > 0) s = ha_expect(r, ',', "',' and the next number");
        if (!s) s = ha_read_number(r, "a number", 0, INT64_MAX, &n);
        if (!s && c->counts) c->counts->blob[blob].touched[g] = (uint64_t)n;
    }
    return s ? s : ha_expect(r, ']', "']', as the blob ends here");
}

HA_IN_ ha_status ha_read_heats(ha_counts_reader *c) {
    ha_reader *r = &c->reader;
    ha_status s = ha_expect(r, ':', "':'");
    if (!s) s = ha_read_number(r, "a number of bytes", 1, HA_LARGEST_GRANULE, &c->granularity);
    if (!s) s = ha_expect(r, ',', "','");
    if (!s) s = ha_read_word(r, "\"blobs\"");
    if (!s) s = ha_expect(r, ':', "':'");
    if (!s) s = ha_expect(r, '[', "'['");
    for (int64_t b = 0; !s && b < c->mapping->blobs; b++) {
        if (b > 0) s = ha_expect(r, ',', "',' and the next blob");
        if (!s) s = ha_read_heat(c, b);
    }
    return s ? s : ha_expect(r, ']', "']', as there is no further blob");
}

/* The whole object. */
HA_IN_ ha_status ha_read_counts(ha_counts_reader *c, const char *json) {
    ha_reader *r = &c->reader;
    ha_status s;
    int more;
    r->text = r->at = json;
    s = ha_expect(r, '{', "'{'");
    if (s) return s;
    ha_skip_blanks(r);
    more = *r->at != '}';
    if (more && strncmp(r->at, "\"fields\"", 8) == 0) {
        r->at += 8;
        s = ha_read_tallies(c);
        if (s) return s;
        more = ha_accept(r, ',');
    }
    if (more) s = ha_read_word(r, "\"granularity\"");
    if (more && !s) s = ha_read_heats(c);
    if (!s) s = ha_expect(r, '}', "'}'");
    if (s) return s;
    ha_skip_blanks(r);
    return *r->at ? ha_expected(r, "the end") : HA_OK;
}

HA_API ha_counts *ha_counts_parse(const ha_mapping *mapping, const char *json, ha_error *error) {
    const ha_asked asked = ha_ask("ha_counts_parse", error);
    ha_counts_reader c = {.reader = {.asked = &asked}, .mapping = mapping};
    ha_counts_plan_ plan;
    void *memory;
    if (!mapping || !json) {
        ha_refuse(&asked, HA_ERR_ARGUMENT, 0, "there is no %s", mapping ? "text" : "mapping");
        return NULL;
    }
    if (ha_read_counts(&c, json)) return NULL;
    plan = ha_counts_plan_of(mapping, c.counted, c.granularity);
    memory = ha_blob_new_(ha_counts_bytes_(plan));
    if (!memory) {
        ha_no_memory(&asked, ha_counts_bytes_(plan));
        return NULL;
    }
    c.counts = ha_counts_of_mapping(mapping, plan, memory);
    (void)!ha_read_counts(&c, json); /* it is right, as was seen */
    return c.counts;
}

#endif
