/* What each kernel and each function on a queue came to: a table by name and site. Looked at for those that are
 * watched only. */
#ifndef HARRAY_IMPL_EVENTS_WORKS_H
#define HARRAY_IMPL_EVENTS_WORKS_H

#include "call_sites.h"

typedef struct ha_work_entry {
    struct ha_work_entry *next; /* in its bucket */
    ha_work_statistics sum;     /* its texts are behind it */
    char text[];
} ha_work_entry;

HA_STATE_ struct {
    pthread_mutex_t lock;
    ha_work_entry *bucket[HA_SITE_BUCKETS];
} ha_work_table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* It stays until ha_works_clear. NULL: there is no memory for one more. */
HA_IN_ ha_work_entry *ha_work_find(const char *name, const char *site) {
    const size_t n = strlen(name) + 1, m = strlen(site) + 1;
    pthread_mutex_lock(&ha_work_table.lock);
    ha_work_entry **bucket = &ha_work_table.bucket[ha_site_hash(name)], *e = *bucket;
    while (e && (strcmp(e->sum.name, name) != 0 || strcmp(e->sum.site, site) != 0)) e = e->next;
    if (!e && (e = (ha_work_entry *)HARRAY_MALLOC(sizeof *e + n + m))) {
        memset(e, 0, sizeof *e);
        e->sum.name = (char *)memcpy(e->text, name, n);
        e->sum.site = (char *)memcpy(e->text + n, site, m);
        e->next = *bucket;
        *bucket = e;
    }
    pthread_mutex_unlock(&ha_work_table.lock);
    return e;
}

/* It was called; or it is known now how long a call took. */
HA_IN_ void ha_work_add(ha_work_entry *e, int calls, uint64_t ns) {
    pthread_mutex_lock(&ha_work_table.lock);
    e->sum.calls += (uint64_t)calls;
    e->sum.timed += !calls;
    e->sum.ns += ns;
    pthread_mutex_unlock(&ha_work_table.lock);
}

HA_IN_ void ha_works_reset(void) {
    pthread_mutex_lock(&ha_work_table.lock);
    for (size_t i = 0; i < HA_SITE_BUCKETS; i++)
        for (ha_work_entry *e = ha_work_table.bucket[i]; e; e = e->next)
            e->sum = (ha_work_statistics){.name = e->sum.name, .site = e->sum.site};
    pthread_mutex_unlock(&ha_work_table.lock);
}

HA_IN_ void ha_works_clear(void) {
    pthread_mutex_lock(&ha_work_table.lock);
    for (size_t i = 0; i < HA_SITE_BUCKETS; i++)
        while (ha_work_table.bucket[i]) {
            ha_work_entry *e = ha_work_table.bucket[i];
            ha_work_table.bucket[i] = e->next;
            HARRAY_FREE(e);
        }
    pthread_mutex_unlock(&ha_work_table.lock);
}

/* ---- asking -------------------------------------------------------------------------------- */

/* By time, then calls, most first; equal ones by name and site. */
HA_IN_ int ha_work_before(const ha_work_statistics *a, const ha_work_statistics *b) {
    if (a->ns != b->ns) return a->ns > b->ns;
    if (a->calls != b->calls) return a->calls > b->calls;
    const int names = strcmp(a->name, b->name);
    return names ? names < 0 : strcmp(a->site, b->site) < 0;
}

/* Puts one in its place among the first n, of which `most` are kept. */
HA_IN_ void ha_work_insert(ha_work_statistics *works, size_t n, size_t most,
                           const ha_work_statistics *w) {
    size_t i = n < most ? n : most;
    if (i == most && (!most || !ha_work_before(w, &works[most - 1]))) return;
    if (i == most) i--;
    for (; i > 0 && ha_work_before(w, &works[i - 1]); i--) works[i] = works[i - 1];
    works[i] = *w;
}

/* Is it that site, or of an argument there: "file.c:7: x"? */
HA_IN_ int ha_is_at_site(const char *text, const char *site) {
    const size_t n = strlen(site);
    return !strncmp(text, site, n) && (!text[n] || !strncmp(text + n, ": ", 2));
}

/* What its site has caused. */
HA_IN_ void ha_work_moved(ha_work_statistics *w) {
    pthread_mutex_lock(&ha_site_table.lock);
    for (size_t i = 0; i < HA_SITE_BUCKETS; i++)
        for (const ha_site_entry *e = ha_site_table.bucket[i]; e; e = e->next)
            if (ha_is_at_site(e->text, w->site)) {
                w->transfers += e->sum.transfers;
                w->bytes += e->sum.bytes;
            }
    pthread_mutex_unlock(&ha_site_table.lock);
}

HA_IN_ size_t ha_works_copy(ha_work_statistics *works, size_t most) {
    size_t n = 0;
    pthread_mutex_lock(&ha_work_table.lock);
    for (size_t i = 0; i < HA_SITE_BUCKETS; i++)
        for (const ha_work_entry *e = ha_work_table.bucket[i]; e; e = e->next)
            if (e->sum.calls) ha_work_insert(works, n++, works ? most : 0, &e->sum);
    pthread_mutex_unlock(&ha_work_table.lock);
    for (size_t i = 0; works && i < n && i < most; i++) ha_work_moved(&works[i]);
    return n;
}

#endif
