/* What a text opens: "read pos+mass, write vel" as runs of leaves. Array handles remember the last ones. */
#ifndef HARRAY_IMPL_RECORDS_ACCESS_SPEC_H
#define HARRAY_IMPL_RECORDS_ACCESS_SPEC_H

#include "handle.h"
#include "placement.h"

/* Neighbouring leaves that are opened alike. */
typedef struct ha_field_run {
    int32_t leaf, end;
    unsigned mode;
} ha_field_run;

/* "read pos+mass, write vel", understood. */
typedef struct ha_access_spec {
    struct ha_access_spec *next;
    const char *text;
    int trying, kept;
    int32_t runs;
    ha_field_run run[];
} ha_access_spec;

enum { HA_SPECS_KEPT = 32 }; /* texts that an array remembers */

/* ---- reading the text ------------------------------------------------------------------------ */

enum { HA_NOT_OPENED = 255, HA_FIELD_PATH = 512 };

typedef struct ha_spec_text {
    const ha_records_state *records;
    const char *at;
    uint8_t *mode; /* of each leaf */
    int64_t leaves;
    char path[HA_FIELD_PATH]; /* the word that was read last */
    const char *why;          /* it is not understood */
} ha_spec_text;

HA_IN_ void ha_spec_blanks(ha_spec_text *t) {
    while (*t->at == ' ' || *t->at == '\t' || *t->at == '\n') t->at++;
}

/* A word: up to a blank or a sign between words. */
HA_IN_ void ha_spec_word(ha_spec_text *t) {
    size_t n = 0;
    ha_spec_blanks(t);
    while (*t->at && !strchr(" \t\n,+", *t->at) && n + 1 < sizeof t->path) t->path[n++] = *t->at++;
    t->path[n] = 0;
    ha_spec_blanks(t);
}

HA_IN_ unsigned ha_spec_mode(const char *word) {
    return !strcmp(word, "read")        ? HA_READ
           : !strcmp(word, "write")     ? HA_WRITE
           : !strcmp(word, "overwrite") ? HA_OVERWRITE
                                        : HA_NOT_OPENED;
}

/* All leaves below the path get the mode; an empty one: all leaves. */
HA_IN_ const char *ha_spec_set(ha_spec_text *t, unsigned mode) {
    const ha_records_state *records = t->records;
    int64_t at = -1, leaf = 0, end = t->leaves;
    int more = !*t->path ||
               ha_record_below_(records->record, records->sorted, t->path, &at, &leaf, &end);
    if (!more) return "is no field of it";
    while (more) {
        for (; leaf < end; leaf++) {
            if (t->mode[leaf] != HA_NOT_OPENED) return "has fields that come twice";
            t->mode[leaf] = (uint8_t)mode;
        }
        more = *t->path &&
               ha_record_below_(records->record, records->sorted, t->path, &at, &leaf, &end);
    }
    return NULL;
}

/* "pos+mass"; empty: all leaves. */
HA_IN_ const char *ha_spec_paths(ha_spec_text *t, unsigned mode) {
    ha_spec_word(t);
    if (!*t->path && *t->at == '+') return "is no field: '+' has to be between two";
    if ((t->why = ha_spec_set(t, mode))) return t->why;
    while (*t->at == '+') {
        t->at++;
        ha_spec_word(t);
        if (!*t->path) return "is no field: '+' has to be between two";
        if ((t->why = ha_spec_set(t, mode))) return t->why;
    }
    return NULL;
}

/* NULL, or why not, of the word in w->path. */
HA_IN_ const char *ha_spec_read(ha_spec_text *t, int *trying) {
    const char *why, *other = "is not read, write or overwrite";
    ha_spec_word(t);
    if ((*trying = !strcmp(t->path, "try"))) ha_spec_word(t);
    for (;;) {
        const unsigned mode = ha_spec_mode(t->path);
        if (mode == HA_NOT_OPENED) return other;
        if ((why = ha_spec_paths(t, mode))) return why;
        if (!*t->at) return NULL;
        if (*t->at != ',') {
            ha_spec_word(t);
            return "is not expected: ',' or '+' would be";
        }
        t->at++;
        other = "is not read, write or overwrite, and fields have '+' between them";
        ha_spec_word(t);
    }
}

/* Runs of leaves with the same mode: their number; written when `run` is given. */
HA_IN_ int32_t ha_spec_runs(const ha_spec_text *t, ha_field_run *run) {
    int32_t n = 0;
    for (int64_t leaf = 0; leaf < t->leaves; leaf++) {
        const uint8_t mode = t->mode[leaf];
        if (mode == HA_NOT_OPENED) continue;
        const int goes_on = leaf && t->mode[leaf - 1] == mode;
        if (!goes_on && run) run[n] = (ha_field_run){(int32_t)leaf, (int32_t)leaf, mode};
        n += !goes_on;
        if (run) run[n - 1].end = (int32_t)leaf + 1;
    }
    return n;
}

HA_IN_ ha_access_spec *ha_access_spec_make(const ha_spec_text *t, const char *text, int trying) {
    const int32_t n = ha_spec_runs(t, NULL);
    const size_t runs = (size_t)n * sizeof(ha_field_run), length = strlen(text) + 1;
    ha_access_spec *spec = (ha_access_spec *)HARRAY_MALLOC(sizeof *spec + runs + length);
    if (!spec) return NULL;
    *spec = (ha_access_spec){.trying = trying, .runs = n};
    spec->text = (char *)spec->run + runs;
    memcpy((char *)spec->run + runs, text, length);
    (void)ha_spec_runs(t, spec->run);
    return spec;
}

/* ---- texts that are known -------------------------------------------------------------------- */

/* Without a lock: what is in the list stays there. */
HA_IN_ ha_access_spec *ha_access_spec_find(ha_records *r, const char *text) {
    ha_access_spec *spec = __atomic_load_n(&r->specs, __ATOMIC_ACQUIRE);
    while (spec && strcmp(spec->text, text)) spec = spec->next;
    return spec;
}

/* Another thread may have the same one: both may stay. */
HA_IN_ void ha_access_spec_keep(ha_records *r, ha_access_spec *spec) {
    ha_spin_lock(&r->specs_lock);
    if ((spec->kept = r->spec_count < HA_SPECS_KEPT)) {
        spec->next = r->specs;
        __atomic_store_n(&r->specs, spec, __ATOMIC_RELEASE);
        r->spec_count++;
    }
    ha_spin_unlock(&r->specs_lock);
}

HA_IN_ void ha_access_spec_end(ha_access_spec *spec) {
    if (spec && !spec->kept) HARRAY_FREE(spec);
}

/* What a text says; to be ended. paths: it is "pos+mass", without a mode. */
HA_IN_ ha_status ha_access_spec_get(ha_records *r, const char *text, int paths,
                                    const char *operation, const char *site, ha_access_spec **out) {
    const ha_records_state *state = ha_records_state_of(r->array);
    ha_spec_text t = {.records = state, .at = text, .leaves = state->leaves};
    int trying = 0;
    if (!paths && (*out = ha_access_spec_find(r, text))) return HA_OK;
    *out = NULL;
    if (!(t.mode = (uint8_t *)HARRAY_MALLOC((size_t)state->leaves)))
        return ha_fail(HA_ERR_MEMORY, operation, "%s: records %s: no memory to read \"%.60s\"",
                       site, ha_label_of(r->array).text, text);
    memset(t.mode, HA_NOT_OPENED, (size_t)state->leaves);
    const char *why = paths ? ha_spec_paths(&t, HA_READ) : ha_spec_read(&t, &trying);
    if (!why && *t.at) why = "is not all of it";
    if (!why) *out = ha_access_spec_make(&t, text, trying);
    HARRAY_FREE(t.mode);
    if (why)
        return ha_fail(HA_ERR_ARGUMENT, operation, "%s: records %s: \"%.100s\": '%.60s' %s", site,
                       ha_label_of(r->array).text, text, t.path, why);
    if (!*out)
        return ha_fail(HA_ERR_MEMORY, operation, "%s: records %s: no memory to read \"%.60s\"",
                       site, ha_label_of(r->array).text, text);
    if (!paths) ha_access_spec_keep(r, *out);
    return HA_OK;
}

#endif
