/* What each call site in the user's source came to: a table by the site's text, so that one text
 * in two compiled files is one site. Looked at for transfers, waits and watched accesses only. */
#ifndef HARRAY_IMPL_EVENTS_CALL_SITES_H
#define HARRAY_IMPL_EVENTS_CALL_SITES_H

#include "../base/all.h"
#include <time.h>

typedef struct ha_site_entry {
    struct ha_site_entry *next; /* in its bucket */
    ha_site_statistics sum;     /* sum.site is `text` */
    char text[];                /* a copy: the module that has the site may be unloaded */
} ha_site_entry;

enum { HA_SITE_BUCKETS = 256 };
HA_STATE_ struct {
    pthread_mutex_t lock;
    ha_site_entry *bucket[HA_SITE_BUCKETS];
} ha_site_table = {.lock = PTHREAD_MUTEX_INITIALIZER};

HA_IN_ uint64_t ha_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

HA_IN_ size_t ha_site_hash(const char *text) {
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 16777619u;
    return (hash ^ hash >> 16) % HA_SITE_BUCKETS;
}

/* NULL: there is no memory for one more. */
HA_IN_ ha_site_entry *ha_site_find(const char *text) HA_REQUIRES_(ha_site_table.lock) {
    ha_site_entry **bucket = &ha_site_table.bucket[ha_site_hash(text)];
    for (ha_site_entry *e = *bucket; e; e = e->next)
        if (!strcmp(e->text, text)) return e;
    size_t bytes = strlen(text) + 1;
    ha_site_entry *e = (ha_site_entry *)HARRAY_MALLOC(sizeof *e + bytes);
    if (!e) return NULL;
    memset(e, 0, sizeof *e);
    memcpy(e->text, text, bytes);
    e->sum.site = e->text;
    e->next = *bucket;
    *bucket = e;
    return e;
}

/* Adds to a site's sums. Without memory for a new site nothing is counted: statistics are no reason
 * to fail. */
HA_IN_ void ha_site_add(const char *site, const ha_site_statistics *more) {
    pthread_mutex_lock(&ha_site_table.lock);
    ha_site_entry *e = ha_site_find(site ? site : "");
    if (e) {
        e->sum.transfers += more->transfers;
        e->sum.bytes += more->bytes;
        e->sum.waits += more->waits;
        e->sum.wait_ns += more->wait_ns;
        e->sum.accesses += more->accesses;
    }
    pthread_mutex_unlock(&ha_site_table.lock);
}

/* The texts stay: somebody may have got them from ha_sites(). */
HA_IN_ void ha_sites_reset(void) {
    pthread_mutex_lock(&ha_site_table.lock);
    for (size_t i = 0; i < HA_SITE_BUCKETS; i++)
        for (ha_site_entry *e = ha_site_table.bucket[i]; e; e = e->next)
            e->sum = (ha_site_statistics){.site = e->text};
    pthread_mutex_unlock(&ha_site_table.lock);
}

HA_IN_ void ha_sites_clear(void) {
    pthread_mutex_lock(&ha_site_table.lock);
    for (size_t i = 0; i < HA_SITE_BUCKETS; i++)
        while (ha_site_table.bucket[i]) {
            ha_site_entry *e = ha_site_table.bucket[i];
            ha_site_table.bucket[i] = e->next;
            HARRAY_FREE(e);
        }
    pthread_mutex_unlock(&ha_site_table.lock);
}

/* ---- asking -------------------------------------------------------------------------------- */

/* By bytes, then waiting time, then accesses, most first; equal ones by name. */
HA_IN_ int ha_site_before(const ha_site_statistics *a, const ha_site_statistics *b) {
    if (a->bytes != b->bytes) return a->bytes > b->bytes;
    if (a->wait_ns != b->wait_ns) return a->wait_ns > b->wait_ns;
    if (a->accesses != b->accesses) return a->accesses > b->accesses;
    return strcmp(a->site, b->site) < 0;
}

/* Puts a site in its place among the first n, of which `most` are kept. */
HA_IN_ void ha_site_insert(ha_site_statistics *sites, size_t n, size_t most,
                           const ha_site_statistics *s) {
    size_t i = n < most ? n : most;
    if (i == most && (!most || !ha_site_before(s, &sites[most - 1]))) return;
    if (i == most) i--;
    for (; i > 0 && ha_site_before(s, &sites[i - 1]); i--) sites[i] = sites[i - 1];
    sites[i] = *s;
}

size_t ha_sites(ha_site_statistics *sites, size_t most) {
    size_t n = 0;
    if (ha_enter("ha_sites")) return 0;
    pthread_mutex_lock(&ha_site_table.lock);
    for (size_t i = 0; i < HA_SITE_BUCKETS; i++)
        for (const ha_site_entry *e = ha_site_table.bucket[i]; e; e = e->next)
            if (e->sum.transfers || e->sum.waits || e->sum.accesses)
                ha_site_insert(sites, n++, sites ? most : 0, &e->sum);
    pthread_mutex_unlock(&ha_site_table.lock);
    return n;
}

#endif
