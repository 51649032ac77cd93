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
 * The caller's memory, which arrays wrap, is protected where it is: those of its pages that are all the
 * array's. There is only one mapping of them, so they are also opened for the engine.
 *
 * A forked child has a copy of these bytes, as of usual memory: made when it begins, while its parent
 * waits in fork(). */
#ifndef HARRAY_BACKENDS_HOST_GUARDED_H
#define HARRAY_BACKENDS_HOST_GUARDED_H

#include "../backend.h"
#include "../../harray/detail/locks.h"

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
    int in_place;         /* the caller's memory: pages that are not all of it stay open */
    pthread_mutex_t lock; /* of the counts and what follows from them */
    ha_guarded_page page[];
} ha_guarded;

enum { HA_GUARD_PAGES = 64, HA_GUARD_ALIGN = 64, HA_GUARD_PATTERN = 0xDB };
enum { HA_GUARDS_RELEASED = 1000 };
#define HA_GUARDS_RELEASED_BYTES_ ((size_t)1 << 30)

HA_STATE_ struct {
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

/* ---- fork ----------------------------------------------------------------------------------- */

/* Around a fork the list is locked, and a pipe tells the parent when the child has its copy. */
HA_STATE_ struct {
    pthread_once_t once;
    int pipe[2], waits, copied; /* copied: this process is a child, and shares nothing */
} ha_guards_fork = {.once = PTHREAD_ONCE_INIT};

HA_IN_ int ha_guarded_protection(const ha_guarded_page *p) {
    if (p->writers) return PROT_READ | PROT_WRITE;
    return p->readers ? PROT_READ : PROT_NONE;
}

/* Gives a mapping of the block pages of its own. 0: there is no memory for them. */
HA_IN_ int ha_guarded_copy(const ha_guarded *g, char *mapping) {
    const size_t bytes = g->pages * ha_page_bytes();
    void *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) return 0;
    memcpy(copy, g->first, bytes);
    if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, mapping) != MAP_FAILED) return 1;
    munmap(copy, bytes);
    return 0;
}

/* In a child: the users' mapping first, while the engine's still is what it was. What cannot be copied is
 * closed: better no bytes than the parent's. */
HA_IN_ void ha_guarded_part(ha_guarded *g) {
    const size_t page = ha_page_bytes();
    char *users = g->first + g->shift;
    if (g->in_place) {
        (void)mprotect(g->first, g->pages * page, PROT_READ | PROT_WRITE);
        return;
    }
    if (!ha_guarded_copy(g, users)) (void)mprotect(users, g->pages * page, PROT_NONE);
    if (!ha_guarded_copy(g, g->first)) (void)mprotect(g->first, g->pages * page, PROT_NONE);
    for (size_t i = 0; i < g->pages && !g->given_up; i++)
        (void)mprotect(users + i * page, page, ha_guarded_protection(&g->page[i]));
}

HA_IN_ void ha_guards_before_fork(void) HA_ACQUIRE_(ha_guards.lock) {
    pthread_mutex_lock(&ha_guards.lock);
    ha_guards_fork.waits = ha_guards.first && !ha_guards_fork.copied &&
                           pipe2(ha_guards_fork.pipe, O_CLOEXEC) == 0;
}

HA_IN_ void ha_guards_in_parent(void) HA_RELEASE_(ha_guards.lock) {
    char none;
    if (ha_guards_fork.waits) {
        close(ha_guards_fork.pipe[1]);
        while (read(ha_guards_fork.pipe[0], &none, 1) < 0 && errno == EINTR) {}
        close(ha_guards_fork.pipe[0]);
    }
    pthread_mutex_unlock(&ha_guards.lock);
}

HA_IN_ void ha_guards_in_child(void) HA_RELEASE_(ha_guards.lock) {
    for (ha_guarded *g = ha_guards.first; g && !ha_guards_fork.copied; g = g->next)
        ha_guarded_part(g);
    ha_guards_fork.copied = 1;
    if (ha_guards_fork.waits) {
        close(ha_guards_fork.pipe[0]);
        close(ha_guards_fork.pipe[1]);
    }
    pthread_mutex_unlock(&ha_guards.lock);
}

HA_IN_ void ha_guards_watch_forks(void) {
    pthread_atfork(ha_guards_before_fork, ha_guards_in_parent, ha_guards_in_child);
}

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
    pthread_once(&ha_guards_fork.once, ha_guards_watch_forks);
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

/* ---- the caller's memory -------------------------------------------------------------------- */

/* Closes the whole pages of memory that an array wraps from now on. NULL: there are none, or no memory
 * to note them. */
HA_IN_ HA_UNUSED ha_guarded *ha_guarded_in_place(void *data, size_t bytes) {
    const size_t page = ha_page_bytes(), front = (uintptr_t)data % page;
    const size_t pages = ha_pages(front + bytes), rear = (front + bytes) % page;
    const size_t first = front != 0, end = pages - (rear != 0);
    if (first >= end) return NULL;
    const size_t size = sizeof(ha_guarded) + pages * sizeof(ha_guarded_page);
    ha_guarded *g = (ha_guarded *)HARRAY_MALLOC(size);
    if (!g) return NULL;
    memset(g, 0, size);
    g->data = (char *)data;
    g->bytes = bytes;
    g->first = g->data - front;
    g->pages = pages;
    g->in_place = 1;
    pthread_mutex_init(&g->lock, NULL);
    if (front) g->page[0].writers = 1;
    if (rear) g->page[pages - 1].writers = 1;
    pthread_once(&ha_guards_fork.once, ha_guards_watch_forks);
    ha_guarded_list(g);
    ha_guarded_protect(g, first, end, PROT_NONE);
    return g;
}

/* Opens all of it for good. */
HA_IN_ HA_UNUSED void ha_guarded_give_up(ha_guarded *g) {
    pthread_mutex_lock(&g->lock);
    ha_guarded_protect(g, 0, g->pages, PROT_READ | PROT_WRITE);
    g->given_up = 1;
    pthread_mutex_unlock(&g->lock);
}

/* The memory is the caller's again. */
HA_IN_ HA_UNUSED void ha_guarded_leave(ha_guarded *g) {
    ha_guarded_give_up(g);
    ha_guarded_unlist(g);
    pthread_mutex_destroy(&g->lock);
    HARRAY_FREE(g);
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
    if (g->in_place) return 0;
    pthread_mutex_lock(&g->lock);
    int behind = ha_guarded_repair(g->data + g->bytes, ha_guarded_rear(g));
    int before = ha_guarded_repair(g->first, ha_guarded_front(g));
    pthread_mutex_unlock(&g->lock);
    return behind | before << 1;
}

#endif
