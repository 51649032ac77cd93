/* Host memory for finding mistakes (HARRAY_DEBUG): every block is mapped twice.
 *
 *     header | bytes, for the engine and for queues | guard | bytes, for users | guard
 *
 * Both mappings are the same pages. The engine's can always be touched: copies run there long after
 * an access was closed. The users' is closed, page by page, but for what accesses are open on: it
 * is read-only under read accesses. Blocks end where their last page ends (up to their alignment),
 * so that touching what is behind them faults at once. What is left of the first and last page is
 * filled with a pattern: whoever wrote there is found out later. The addresses of released blocks
 * stay reserved for a while, so that a pointer into one of them faults, too.
 *
 * A forked child shares these bytes with its parent, which it would not with usual memory. */
#ifndef HARRAY_BACKENDS_HOST_GUARDED_H
#define HARRAY_BACKENDS_HOST_GUARDED_H

#include "../backend.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* How many open accesses read and write a page. */
typedef struct ha_guarded_page {
    uint32_t readers, writers;
} ha_guarded_page;

/* A block; what stands in its header. */
typedef struct ha_guarded {
    struct ha_guarded *next, *previous; /* of all; under ha_guards.lock */
    char *data;                         /* as the engine sees it */
    size_t bytes;
    size_t shift;         /* + shift: as users see it */
    char *first;          /* the engine's first page */
    size_t pages, mapped; /* of one mapping; bytes of it all */
    int given_up;         /* the system has no room for more mappings: all of it is open for good */
    pthread_mutex_t lock; /* of the counts and what follows from them */
    ha_guarded_page page[];
} ha_guarded;

enum { HA_GUARD_PAGES = 16, HA_GUARD_ALIGN = 64, HA_GUARD_PATTERN = 0xDB };
enum { HA_GUARDS_RELEASED = 1000 };
#define HA_GUARDS_RELEASED_BYTES_ ((size_t)1 << 30)

static struct {
    pthread_mutex_t lock;
    ha_guarded *first;
    struct {
        void *mapping;
        size_t bytes;
    } released[HA_GUARDS_RELEASED]; /* a ring: addresses that are kept from being used again */
    size_t oldest, count, bytes;
} ha_guards = {.lock = PTHREAD_MUTEX_INITIALIZER};

HA_IN_ size_t ha_page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

HA_IN_ size_t ha_pages(size_t bytes) { return (bytes + ha_page_bytes() - 1) / ha_page_bytes(); }

/* ---- allocating and releasing ------------------------------------------------------------- */

/* More than there is could be mapped, and would then end the program when it is touched. */
HA_IN_ int ha_guarded_fits(size_t bytes) {
    long pages = sysconf(_SC_PHYS_PAGES);
    if (bytes > PTRDIFF_MAX / 4) return 0;
    return pages <= 0 || bytes / ha_page_bytes() <= (size_t)pages;
}

/* Pages without a name; -1: none to be had. */
HA_IN_ int ha_guarded_file(void) {
#ifdef MFD_CLOEXEC
    return memfd_create("harray", MFD_CLOEXEC);
#else
    char name[32];
    snprintf(name, sizeof name, "/harray-%ld", (long)getpid());
    int file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file >= 0) shm_unlink(name);
    return file;
#endif
}

/* The two mappings, behind a header in `base`. */
HA_IN_ int ha_guarded_map(char *base, size_t header, size_t pages) {
    size_t bytes = pages * ha_page_bytes(), guard = HA_GUARD_PAGES * ha_page_bytes();
    int memory = ha_guarded_file(), shared = MAP_SHARED | MAP_FIXED, done;
    char *users = base + header + bytes;
    if (memory < 0) return 0;
    done = ftruncate(memory, (off_t)(bytes + 2 * guard)) == 0 &&
           mmap(base, header, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                0) != MAP_FAILED &&
           mmap(base + header, bytes, PROT_READ | PROT_WRITE, shared, memory, (off_t)guard) !=
               MAP_FAILED &&
           mmap(users, bytes + 2 * guard, PROT_NONE, shared, memory, 0) != MAP_FAILED;
    close(memory);
    return done;
}

HA_IN_ void ha_guarded_list(ha_guarded *g) {
    pthread_mutex_lock(&ha_guards.lock);
    g->previous = NULL;
    g->next = ha_guards.first;
    if (g->next) g->next->previous = g;
    ha_guards.first = g;
    pthread_mutex_unlock(&ha_guards.lock);
}

HA_IN_ void ha_guarded_unlist(ha_guarded *g) {
    pthread_mutex_lock(&ha_guards.lock);
    if (g->next) g->next->previous = g->previous;
    if (g->previous)
        g->previous->next = g->next;
    else
        ha_guards.first = g->next;
    pthread_mutex_unlock(&ha_guards.lock);
}

/* The part of the first page in front of the block, and of the last one behind it. */
HA_IN_ size_t ha_guarded_front(const ha_guarded *g) { return (size_t)(g->data - g->first); }

HA_IN_ size_t ha_guarded_rear(const ha_guarded *g) {
    return g->pages * ha_page_bytes() - ha_guarded_front(g) - g->bytes;
}

HA_IN_ ha_status ha_guarded_allocate(void *memory, size_t bytes, void **block) {
    (void)memory;
    if (!ha_guarded_fits(bytes)) return HA_ERR_MEMORY;
    size_t page = ha_page_bytes(), pages = ha_pages(bytes);
    size_t header = ha_pages(sizeof(ha_guarded) + pages * sizeof(ha_guarded_page)) * page;
    size_t mapped = header + 2 * (pages + HA_GUARD_PAGES) * page;
    char *base = (char *)mmap(NULL, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                              -1, 0);
    if (base == MAP_FAILED) return HA_ERR_MEMORY;
    if (!ha_guarded_map(base, header, pages)) {
        ha_backend_report(errno, "HARRAY_DEBUG maps every host block twice, and the system has no "
                                 "more mappings or files (vm.max_map_count, ulimit -n)");
        munmap(base, mapped);
        return HA_ERR_MEMORY;
    }
    ha_guarded *g = (ha_guarded *)(void *)base;
    size_t end = (bytes + HA_GUARD_ALIGN - 1) / HA_GUARD_ALIGN * HA_GUARD_ALIGN;
    g->bytes = bytes;
    g->shift = (pages + HA_GUARD_PAGES) * page;
    g->first = base + header;
    g->data = g->first + pages * page - end;
    g->pages = pages;
    g->mapped = mapped;
    pthread_mutex_init(&g->lock, NULL);
    memset(g->first, HA_GUARD_PATTERN, ha_guarded_front(g));
    memset(g->data + bytes, HA_GUARD_PATTERN, ha_guarded_rear(g));
    ha_guarded_list(g);
    *block = g->data;
    return HA_OK;
}

/* Keeps the addresses, not the memory. */
HA_IN_ void ha_guarded_keep_addresses(void *mapping, size_t bytes) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (bytes > HA_GUARDS_RELEASED_BYTES_ ||
        mmap(mapping, bytes, PROT_NONE, flags, -1, 0) == MAP_FAILED) {
        munmap(mapping, bytes);
        return;
    }
    pthread_mutex_lock(&ha_guards.lock);
    while (ha_guards.count == HA_GUARDS_RELEASED ||
           ha_guards.bytes + bytes > HA_GUARDS_RELEASED_BYTES_) {
        size_t i = ha_guards.oldest++ % HA_GUARDS_RELEASED;
        munmap(ha_guards.released[i].mapping, ha_guards.released[i].bytes);
        ha_guards.bytes -= ha_guards.released[i].bytes;
        ha_guards.count--;
    }
    size_t i = (ha_guards.oldest + ha_guards.count++) % HA_GUARDS_RELEASED;
    ha_guards.released[i].mapping = mapping;
    ha_guards.released[i].bytes = bytes;
    ha_guards.bytes += bytes;
    pthread_mutex_unlock(&ha_guards.lock);
}

HA_IN_ void ha_guarded_release(void *memory, void *block, size_t bytes) {
    size_t page = ha_page_bytes(), pages = ha_pages(bytes);
    size_t header = ha_pages(sizeof(ha_guarded) + pages * sizeof(ha_guarded_page)) * page;
    char *first = (char *)block - (uintptr_t)block % page;
    ha_guarded *g = (ha_guarded *)(void *)(first - header);
    (void)memory;
    ha_guarded_unlist(g);
    pthread_mutex_destroy(&g->lock);
    ha_guarded_keep_addresses(g, g->mapped);
}

/* The guarded block at an address of the engine's; NULL when it is none: another allocator's. */
HA_IN_ HA_UNUSED ha_guarded *ha_guarded_find(const void *data) {
    pthread_mutex_lock(&ha_guards.lock);
    ha_guarded *g = ha_guards.first;
    while (g && g->data != data) g = g->next;
    pthread_mutex_unlock(&ha_guards.lock);
    return g;
}

/* ---- opening and closing ------------------------------------------------------------------ */

HA_IN_ int ha_guarded_protection(const ha_guarded_page *p) {
    if (p->writers) return PROT_READ | PROT_WRITE;
    return p->readers ? PROT_READ : PROT_NONE;
}

/* Gives pages [from, to) the same protection. Each change of it in the middle of a mapping makes
 * one more mapping, and these may run out: then nothing is protected any more. */
HA_IN_ void ha_guarded_protect(ha_guarded *g, size_t from, size_t to, int protection) {
    size_t page = ha_page_bytes();
    char *users = g->first + g->shift;
    if (g->given_up || from == to) return;
    if (mprotect(users + from * page, (to - from) * page, protection) == 0) return;
    g->given_up = mprotect(users, g->pages * page, PROT_READ | PROT_WRITE) == 0;
}

/* One access more (by = 1) or less (by = -1) on bytes [from, to), from < to. */
HA_IN_ HA_UNUSED void ha_guarded_count(ha_guarded *g, size_t from, size_t to, int write, int by) {
    size_t page = ha_page_bytes(), front = ha_guarded_front(g);
    size_t run = 0, end = (front + to - 1) / page + 1; /* run: pages that change, before i */
    int next = PROT_NONE;
    pthread_mutex_lock(&g->lock);
    for (size_t i = (front + from) / page; i < end; i++) {
        int before = ha_guarded_protection(&g->page[i]);
        uint32_t *count = write ? &g->page[i].writers : &g->page[i].readers;
        *count += (uint32_t)by;
        int after = ha_guarded_protection(&g->page[i]);
        if (run && (after == before || after != next)) {
            ha_guarded_protect(g, i - run, i, next);
            run = 0;
        }
        if (after != before) run++;
        next = after;
    }
    ha_guarded_protect(g, end - run, end, next);
    pthread_mutex_unlock(&g->lock);
}

/* ---- what was written beside a block ------------------------------------------------------ */

/* Whether the pattern is not there any more; puts it back, so that it is told once. */
HA_IN_ int ha_guarded_repair(char *at, size_t bytes) {
    int damaged = 0;
    for (size_t i = 0; i < bytes; i++) {
        damaged |= at[i] != (char)HA_GUARD_PATTERN;
        at[i] = (char)HA_GUARD_PATTERN;
    }
    return damaged;
}

/* 1: behind it, 2: in front of it, 3: both; 0: nothing was. */
HA_IN_ HA_UNUSED int ha_guarded_damage(ha_guarded *g) {
    pthread_mutex_lock(&g->lock);
    int behind = ha_guarded_repair(g->data + g->bytes, ha_guarded_rear(g));
    int before = ha_guarded_repair(g->first, ha_guarded_front(g));
    pthread_mutex_unlock(&g->lock);
    return behind | before << 1;
}

#endif
