/* The changes of the layout "changetype" as text: "f64:f32, pos.x:f64". */
#ifndef HARRAY_LAYOUT_IMPL_MAPPING_CHANGES_TEXT_H
#define HARRAY_LAYOUT_IMPL_MAPPING_CHANGES_TEXT_H

#include "../record/all.h"

/* One change: of all fields of a type, or of those below a path. */
typedef struct ha_change {
    const char *path, *end; /* of what stands before the colon */
    ha_dtype from;          /* HA_DTYPE_NONE: it is a path */
    ha_dtype to;
} ha_change;

HA_IN_ ha_dtype ha_dtype_of_word(const char *word, const char *end) {
    for (int k = HA_DTYPE_NONE + 1; *ha_dtype_short_name((ha_dtype)k); k++) {
        const char *name = ha_dtype_short_name((ha_dtype)k);
        if (strlen(name) == (size_t)(end - word) && strncmp(name, word, strlen(name)) == 0)
            return (ha_dtype)k;
    }
    return HA_DTYPE_NONE;
}

HA_IN_ ha_status ha_read_change(ha_reader *r, ha_change *c) {
    ha_status s;
    int counts;
    ha_skip_blanks(r);
    c->path = r->at;
    if (!ha_begins_name(*r->at)) return ha_expected(r, "a type or a field");
    s = ha_read_path(r, 0, NULL, &counts);
    if (s) return s;
    c->end = r->at;
    c->from = ha_dtype_of_word(c->path, c->end);
    s = ha_expect(r, ':', "':', '.' or '['");
    if (s) return s;
    ha_skip_blanks(r);
    c->to = ha_read_scalar(r);
    return c->to ? HA_OK : ha_expected(r, HA_DTYPE_WORDS_);
}

/* All of them; what follows is the caller's to look at. */
HA_IN_ ha_status ha_read_changes(ha_reader *r) {
    ha_change c;
    ha_status s = HA_OK;
    ha_skip_blanks(r);
    if (!*r->at || *r->at == ';') return HA_OK;
    do s = ha_read_change(r, &c);
    while (!s && ha_accept(r, ','));
    return s;
}

/* Goes through changes that are known to be right: 0 behind the last. */
HA_IN_ int ha_next_change(const char **at, ha_change *c) {
    const ha_asked nobody = {0};
    ha_reader r = {.text = *at, .at = *at, .asked = &nobody};
    if (ha_read_change(&r, c)) return 0;
    (void)ha_accept(&r, ',');
    *at = r.at;
    return 1;
}

HA_IN_ void ha_put_changes(ha_text *w, const char *changes) {
    const char *before = "";
    ha_change c;
    while (ha_next_change(&changes, &c)) {
        ha_print(w, "%s%.*s:%s", before, (int)(c.end - c.path), c.path, ha_dtype_short_name(c.to));
        before = ", ";
    }
}

#endif
