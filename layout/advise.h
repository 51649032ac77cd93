/* Which layout is best for a loop? The loop says it itself: it is timed on candidates.
 *
 *     HA_VIEW(sky, body, 1, HA_ANY)
 *     HA_FN void drift(sky v, const float *dt) { HA_EACH(sky, v, at) *sky_pos_x(v, at) += *dt * …; }
 *     HA_ADVISED(drift_on, sky, v, drift(v, user))       // drift_on(records, user, error)
 *     …
 *     float dt = 0.1f;
 *     const ha_advising how = {.run = drift_on, .user = &dt};
 *     ha_advice advice[HA_ADVISED_LAYOUTS];
 *     char text[4096];
 *     if (ha_layout_advise(&body_record, 1, &n, NULL, 0, &how, advice, &error)) puts(error.text);
 *     ha_advice_text(advice, HA_ADVISED_LAYOUTS, text, sizeof text);
 *     puts(text);
 *     layout             best       median  ratio         bytes
 *     soa            1.02 ms      1.03 ms   1.00      28000000
 *     aosoa(8)       1.05 ms      1.06 ms   1.03      28000000
 *     …
 *
 * All candidates are in memory at the same time, and are run in turns, so that what else the machine
 * does is no one's disadvantage. What is best for one loop on one machine may not be for another. */
#ifndef HARRAY_LAYOUT_ADVISE_H
#define HARRAY_LAYOUT_ADVISE_H

#include "any.h"
#include "copy.h"

/* A loop over records in some layout. HA_OK; or why it cannot take this layout, in *error. */
typedef ha_status ha_advised_loop(const ha_mapped *records, void *user, ha_error *error);

/* How to time. All zeros are defaults, but for `run`. */
typedef struct ha_advising {
    ha_advised_loop *run;
    ha_advised_loop *prepare; /* called once for each layout, before it runs; NULL: not */
    const ha_mapped *from;    /* values to begin with, copied (copy.h); NULL: zeros */
    void *user;               /* for both, and for clock */
    int rounds;               /* each candidate is timed so many times; 0: 9 */
    double shortest; /* seconds: a faster loop is run several times for a timing; 0: 0.002 */
    double (*clock)(void *user); /* in seconds; NULL: the system's */
} ha_advising;

/* What was found of one candidate. */
typedef struct ha_advice {
    const char *layout;  /* as it was given */
    ha_status status;    /* HA_OK: it was timed; else why not, in `why` */
    double best, median; /* seconds of one run */
    double ratio;        /* of its best to the best of all */
    int64_t bytes;       /* of memory */
    char why[200];
} ha_advice;

enum { HA_ADVISED_LAYOUTS = 6 }; /* aos, soa, and aosoa of 8, 16, 32 and 64 lanes */

/* Times a loop on `count` layouts (layouts == NULL: on HA_ADVISED_LAYOUTS usual ones, count being
 * ignored) of these records. result[] has so many entries: first what was timed, the best first, then
 * what was refused, in the order given. What only one candidate fails at is said in its entry: a layout
 * that the record or the loop cannot take, no memory. HA_OK when at least one was timed. Else, with why
 * in *error (NULL: nobody wants to know):
 *     HA_ERR_ARGUMENT  the record, the rank or an extent makes no sense; there is no candidate; or
 *                      all are refused, the first for this reason
 *     HA_ERR_MEMORY    there is no memory
 * The loop finds its own results of the last time when it runs again. From any thread. */
HA_API HA_MUST_CHECK ha_status ha_layout_advise(const ha_record *record, int rank,
                                                const int64_t *extent, const char *const *layouts,
                                                int count, const ha_advising *how,
                                                ha_advice *result, ha_error *error);

/* A table of that, as snprintf does. */
HA_API int64_t ha_advice_text(const ha_advice *advice, int count, char *buffer, size_t size);

/* A loop for ha_advising.run: the statements, for a view v of type V, which is HA_ANY, on the records;
 * compiled for each layout by HA_WITH. They may use `user`, as a void *. At file scope. */
#define HA_ADVISED(name, V, v, ...)                                                                \
    static ha_status name(const ha_mapped *ha_records, void *user, ha_error *ha_why) {             \
        V v = V##_from(ha_records->mapping, ha_records->blob, ha_why);                             \
        (void)user;                                                                                \
        if (V##_null(v)) return HA_ERR_ARGUMENT;                                                   \
        HA_WITH(v, __VA_ARGS__);                                                                   \
        return HA_OK;                                                                              \
    }

#endif
