/* Timing a loop on candidate layouts. */
#ifndef HARRAY_LAYOUT_IMPL_VIEW_ADVISE_H
#define HARRAY_LAYOUT_IMPL_VIEW_ADVISE_H

#include "../../advise.h"
#include "../mapping/all.h"

#include <time.h>

enum { HA_ADVISED_ROUNDS = 9, HA_ADVISED_REPEATS = 1000000 };

static const char *const ha_advised_layouts[HA_ADVISED_LAYOUTS] = {
    "aos", "soa", "aosoa(8)", "aosoa(16)", "aosoa(32)", "aosoa(64)"};

/* A layout while it is timed. */
typedef struct ha_advised {
    ha_mapping *mapping;
    void **blob, *memory;
    double *seconds; /* of a run, by round */
    int64_t repeats; /* runs in a timing */
} ha_advised;

typedef struct ha_adviser {
    const ha_advising *how;
    const ha_record *record;
    int rank, rounds, count;
    const int64_t *extent;
    ha_advised *candidate;
    ha_advice *advice; /* by candidate */
} ha_adviser;

/* C's own; it may be set meanwhile: what seems to have ended before it began counts as long. */
HA_IN_ double ha_advised_clock(const ha_advising *how) {
    struct timespec t = {0};
    if (how->clock) return how->clock(how->user);
    (void)!timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- one candidate --------------------------------------------------------------------------- */

HA_IN_ void ha_candidate_free(ha_advised *c) {
    ha_mapping_free(c->mapping);
    ha_blob_free(c->memory);
    HA_LAYOUT_FREE_(c->blob);
    HA_LAYOUT_FREE_(c->seconds);
    *c = (ha_advised){0};
}

/* It is out, and why. */
HA_IN_ void ha_refuse_candidate(ha_adviser *a, int k, ha_status status, const ha_error *why) {
    a->advice[k].status = status;
    snprintf(a->advice[k].why, sizeof a->advice[k].why, "%.*s", (int)sizeof a->advice[k].why - 1,
             why->text);
    ha_candidate_free(&a->candidate[k]);
}

/* Mapping and memory. */
HA_IN_ ha_status ha_candidate_make(ha_adviser *a, int k, ha_error *why) {
    ha_advised *c = &a->candidate[k];
    const ha_asked asked = ha_ask("ha_layout_advise", why);
    const size_t times = (size_t)a->rounds * sizeof *c->seconds;
    size_t blobs;
    c->mapping = ha_mapping_parse(a->record, a->advice[k].layout, a->rank, a->extent, why);
    if (!c->mapping) return why->status;
    for (int32_t b = 0; b < c->mapping->blobs; b++) a->advice[k].bytes += c->mapping->blob[b].bytes;
    blobs = ((size_t)c->mapping->blobs + 1) * sizeof *c->blob;
    c->blob = (void **)HA_LAYOUT_MALLOC_(blobs);
    c->seconds = (double *)HA_LAYOUT_MALLOC_(times);
    if (!c->blob || !c->seconds) return ha_no_memory(&asked, blobs + times);
    c->memory = ha_mapping_memory(c->mapping, c->blob, why);
    return c->memory ? HA_OK : HA_ERR_MEMORY;
}

/* Runs so many times; gives the seconds of one run. */
HA_IN_ ha_status ha_candidate_time(const ha_adviser *a, const ha_advised *c, int64_t repeats,
                                   double *seconds, ha_error *why) {
    const ha_mapped records = {c->mapping, c->blob};
    const double start = ha_advised_clock(a->how);
    double time;
    for (int64_t k = 0; k < repeats; k++) {
        const ha_status s = a->how->run(&records, a->how->user, why);
        if (s) return s;
    }
    time = ha_advised_clock(a->how) - start;
    *seconds = time < 0 ? 1e9 : time / (double)repeats;
    return HA_OK;
}

/* Values to begin with, a first run for what is only slow once, and how long one takes. */
HA_IN_ ha_status ha_candidate_prepare(ha_adviser *a, int k, ha_error *why) {
    ha_advised *c = &a->candidate[k];
    const double shortest = a->how->shortest > 0 ? a->how->shortest : 0.002;
    double seconds = 0;
    ha_status s = ha_candidate_make(a, k, why);
    ha_mapped records;
    if (s) return s;
    records = (ha_mapped){c->mapping, c->blob};
    if (a->how->from) s = ha_mapped_copy(&records, a->how->from, NULL, why);
    if (!s && a->how->prepare) s = a->how->prepare(&records, a->how->user, why);
    if (!s) s = ha_candidate_time(a, c, 1, &seconds, why);
    if (!s) s = ha_candidate_time(a, c, 1, &seconds, why);
    c->repeats = seconds * (int)HA_ADVISED_REPEATS < shortest ? HA_ADVISED_REPEATS
                                                              : (int64_t)(shortest / seconds) + 1;
    if (seconds >= shortest) c->repeats = 1;
    return s;
}

/* ---- all of them ----------------------------------------------------------------------------- */

HA_IN_ int ha_compare_seconds(const void *first, const void *second) {
    const double x = *(const double *)first, y = *(const double *)second;
    return x < y ? -1 : x > y;
}

/* In turns, so that all meet the same disturbances. */
HA_IN_ void ha_advise_rounds(ha_adviser *a) {
    for (int r = 0; r < a->rounds; r++)
        for (int k = 0; k < a->count; k++) {
            ha_advised *c = &a->candidate[k];
            ha_error why = {0};
            ha_status s;
            if (a->advice[k].status) continue;
            s = ha_candidate_time(a, c, c->repeats, &c->seconds[r], &why);
            if (s) ha_refuse_candidate(a, k, s, &why);
        }
}

/* Sorted: what was timed by its best time, then what was refused. */
HA_IN_ int ha_advice_before(const ha_advice *x, const ha_advice *y) {
    if (!x->status != !y->status) return !x->status;
    return !x->status && x->best < y->best;
}

HA_IN_ void ha_advise_sort(ha_adviser *a) {
    for (int k = 1; k < a->count; k++) {
        const ha_advice advice = a->advice[k];
        int at = k;
        for (; at > 0 && ha_advice_before(&advice, &a->advice[at - 1]); at--)
            a->advice[at] = a->advice[at - 1];
        a->advice[at] = advice;
    }
}

HA_IN_ void ha_advise_sum_up(ha_adviser *a) {
    double best = 0;
    for (int k = 0; k < a->count; k++) {
        ha_advised *c = &a->candidate[k];
        if (a->advice[k].status) continue;
        qsort(c->seconds, (size_t)a->rounds, sizeof *c->seconds, ha_compare_seconds);
        a->advice[k].best = c->seconds[0];
        a->advice[k].median = c->seconds[a->rounds / 2];
        ha_candidate_free(c);
    }
    ha_advise_sort(a);
    best = a->advice[0].best;
    for (int k = 0; k < a->count && !a->advice[k].status; k++)
        a->advice[k].ratio = best > 0 ? a->advice[k].best / best : 1;
}

HA_API ha_status ha_layout_advise(const ha_record *record, int rank, const int64_t *extent,
                                  const char *const *layouts, int count, const ha_advising *how,
                                  ha_advice *result, ha_error *error) {
    const ha_asked asked = ha_ask("ha_layout_advise", error);
    ha_adviser a = {.how = how, .record = record, .rank = rank, .extent = extent};
    int64_t leaves;
    ha_status s = ha_check_arguments(&asked, record, rank, extent, &leaves);
    size_t bytes;
    if (s) return s;
    a.rounds = how->rounds > 0 ? how->rounds : HA_ADVISED_ROUNDS;
    a.count = layouts ? count : HA_ADVISED_LAYOUTS;
    a.advice = result;
    if (a.count < 1) return ha_refuse(&asked, HA_ERR_ARGUMENT, 0, "there is no layout to time");
    if (!how->run) return ha_refuse(&asked, HA_ERR_ARGUMENT, 0, "there is no loop to time");
    bytes = (size_t)a.count * sizeof *a.candidate;
    a.candidate = (ha_advised *)HA_LAYOUT_MALLOC_(bytes);
    if (!a.candidate) return ha_no_memory(&asked, bytes);
    memset(a.candidate, 0, bytes);
    for (int k = 0; k < a.count; k++) {
        ha_error why = {0};
        result[k] = (ha_advice){.layout = layouts ? layouts[k] : ha_advised_layouts[k]};
        s = ha_candidate_prepare(&a, k, &why);
        if (s) ha_refuse_candidate(&a, k, s, &why);
    }
    ha_advise_rounds(&a);
    ha_advise_sum_up(&a);
    HA_LAYOUT_FREE_(a.candidate);
    if (!result[0].status) return HA_OK;
    return ha_refuse(&asked, result[0].status == HA_ERR_MEMORY ? HA_ERR_MEMORY : HA_ERR_ARGUMENT, 0,
                     "no layout could be timed; %s: %s", result[0].layout, result[0].why);
}

/* ---- as a table ------------------------------------------------------------------------------ */

/* Three digits, and the unit that fits. */
HA_IN_ void ha_put_seconds(ha_text *w, double seconds) {
    static const char *const unit[] = {"s ", "ms", "us", "ns"};
    int k = 0;
    while (seconds < 1 && k < 3) seconds *= 1000, k++;
    ha_print(w, "%8.3g %s", seconds, unit[k]);
}

HA_API int64_t ha_advice_text(const ha_advice *advice, int count, char *buffer, size_t size) {
    ha_text w = ha_text_into(buffer, size);
    int wide = 6;
    for (int k = 0; k < count; k++)
        if ((int)strlen(advice[k].layout) > wide) wide = (int)strlen(advice[k].layout);
    ha_print(&w, "%-*s         best       median  ratio         bytes\n", wide, "layout");
    for (int k = 0; k < count; k++) {
        const ha_advice *a = &advice[k];
        ha_print(&w, "%-*s  ", wide, a->layout);
        if (a->status) {
            ha_print(&w, "%s\n", a->why);
            continue;
        }
        ha_put_seconds(&w, a->best);
        ha_print(&w, "  ");
        ha_put_seconds(&w, a->median);
        ha_print(&w, "  %5.2f  %12lld\n", a->ratio, (long long)a->bytes);
    }
    return (int64_t)w.length;
}

#endif
