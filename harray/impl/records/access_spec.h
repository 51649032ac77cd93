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

enum { HA_WANTED_KEPT = 32 }; /* texts that an array remembers */

/* ---- reading the text ------------------------------------------------------------------------ */

enum { HA_UNWANTED = 255, HA_FIELD_PATH = 512 };

typedef struct ha_spec_text {
    const ha_record *record;
    const char *at;
    uint8_t *mode; /* of each leaf */
    int64_t leaves;
    char path[HA_FIELD_PATH]; /* the word that was read last */
    const char *why;          /* it is not understood */
} ha_spec_text;

static void ha_spec_blanks(ha_spec_text *w) {
    while (*w->at == ' ' || *w->at == '\t' || *w->at == '\n') w->at++;
}

/* A word: up to a blank or a sign between words. */
static void ha_spec_word(ha_spec_text *w) {
    size_t n = 0;
    ha_spec_blanks(w);
    while (*w->at && !strchr(" \t\n,+", *w->at) && n + 1 < sizeof w->path) w->path[n++] = *w->at++;
    w->path[n] = 0;
    ha_spec_blanks(w);
}

static unsigned ha_spec_mode(const char *word) {
    return !strcmp(word, "read")        ? HA_READ
           : !strcmp(word, "write")     ? HA_WRITE
           : !strcmp(word, "overwrite") ? HA_OVERWRITE
                                        : HA_UNWANTED;
}

/* All leaves below the path get the mode; an empty one: all leaves. */
static const char *ha_spec_mark(ha_spec_text *w, unsigned mode) {
    int64_t from = 0, leaf;
    while (from < w->leaves) {
        if (!*w->path)
            leaf = from;
        else if (ha_record_find(w->record, w->path, from, &leaf))
            break;
        if (w->mode[leaf] != HA_UNWANTED) return "has fields that come twice";
        w->mode[leaf] = (uint8_t)mode;
        from = leaf + 1;
    }
    return from ? NULL : "is no field of it";
}

/* "pos+mass"; empty: all leaves. */
static const char *ha_spec_paths(ha_spec_text *w, unsigned mode) {
    ha_spec_word(w);
    if (!*w->path && *w->at == '+') return "is no field: '+' has to be between two";
    if ((w->why = ha_spec_mark(w, mode))) return w->why;
    while (*w->at == '+') {
        w->at++;
        ha_spec_word(w);
        if (!*w->path) return "is no field: '+' has to be between two";
        if ((w->why = ha_spec_mark(w, mode))) return w->why;
    }
    return NULL;
}

/* NULL, or why not, of the word in w->path. */
static const char *ha_spec_read(ha_spec_text *w, int *trying) {
    const char *why, *other = "is not read, write or overwrite";
    ha_spec_word(w);
    if ((*trying = !strcmp(w->path, "try"))) ha_spec_word(w);
    for (;;) {
        const unsigned mode = ha_spec_mode(w->path);
        if (mode == HA_UNWANTED) return other;
        if ((why = ha_spec_paths(w, mode))) return why;
        if (!*w->at) return NULL;
        if (*w->at != ',') {
            ha_spec_word(w);
            return "is not expected: ',' or '+' would be";
        }
        w->at++;
        other = "is not read, write or overwrite, and fields have '+' between them";
        ha_spec_word(w);
    }
}

/* Runs of leaves with the same mode: their number; written when `run` is given. */
static int32_t ha_spec_runs(const ha_spec_text *w, ha_field_run *run) {
    int32_t n = 0;
    for (int64_t leaf = 0; leaf < w->leaves; leaf++) {
        const uint8_t mode = w->mode[leaf];
        if (mode == HA_UNWANTED) continue;
        const int goes_on = leaf && w->mode[leaf - 1] == mode;
        if (!goes_on && run) run[n] = (ha_field_run){(int32_t)leaf, (int32_t)leaf, mode};
        n += !goes_on;
        if (run) run[n - 1].end = (int32_t)leaf + 1;
    }
    return n;
}

static ha_access_spec *ha_access_spec_make(const ha_spec_text *w, const char *text, int trying) {
    const int32_t n = ha_spec_runs(w, NULL);
    const size_t runs = (size_t)n * sizeof(ha_field_run), length = strlen(text) + 1;
    ha_access_spec *wanted = (ha_access_spec *)HARRAY_MALLOC(sizeof *wanted + runs + length);
    if (!wanted) return NULL;
    *wanted = (ha_access_spec){.trying = trying, .runs = n};
    wanted->text = (char *)wanted->run + runs;
    memcpy((char *)wanted->run + runs, text, length);
    (void)ha_spec_runs(w, wanted->run);
    return wanted;
}

/* ---- texts that are known -------------------------------------------------------------------- */

static ha_access_spec *ha_access_spec_find(ha_records *r, const char *text) {
    ha_spin_lock(&r->wanted_lock);
    ha_access_spec *w = r->wanted;
    while (w && strcmp(w->text, text)) w = w->next;
    ha_spin_unlock(&r->wanted_lock);
    return w;
}

/* Another thread may have the same one: both may stay. */
static void ha_access_spec_keep(ha_records *r, ha_access_spec *w) {
    ha_spin_lock(&r->wanted_lock);
    if ((w->kept = r->wanted_count < HA_WANTED_KEPT)) {
        w->next = r->wanted;
        r->wanted = w;
        r->wanted_count++;
    }
    ha_spin_unlock(&r->wanted_lock);
}

static void ha_access_spec_end(ha_access_spec *w) {
    if (w && !w->kept) HARRAY_FREE(w);
}

/* What a text says; to be ended. paths: it is "pos+mass", without a mode. */
static ha_status ha_access_spec_get(ha_records *r, const char *text, int paths,
                                    const char *operation, const char *site, ha_access_spec **out) {
    const ha_record_form *f = ha_records_form(r->array);
    ha_spec_text w = {.record = f->record, .at = text, .leaves = f->leaves};
    int trying = 0;
    if (!paths && (*out = ha_access_spec_find(r, text))) return HA_OK;
    *out = NULL;
    if (!(w.mode = (uint8_t *)HARRAY_MALLOC((size_t)f->leaves)))
        return ha_fail(HA_ERR_MEMORY, operation, "%s: records %s: no memory to read \"%.60s\"",
                       site, ha_label_of(r->array).text, text);
    memset(w.mode, HA_UNWANTED, (size_t)f->leaves);
    const char *why = paths ? ha_spec_paths(&w, HA_READ) : ha_spec_read(&w, &trying);
    if (!why && *w.at) why = "is not all of it";
    if (!why) *out = ha_access_spec_make(&w, text, trying);
    HARRAY_FREE(w.mode);
    if (why)
        return ha_fail(HA_ERR_ARGUMENT, operation, "%s: records %s: \"%.100s\": '%.60s' %s", site,
                       ha_label_of(r->array).text, text, w.path, why);
    if (!*out)
        return ha_fail(HA_ERR_MEMORY, operation, "%s: records %s: no memory to read \"%.60s\"",
                       site, ha_label_of(r->array).text, text);
    if (!paths) ha_access_spec_keep(r, *out);
    return HA_OK;
}

#endif
