/* Windows: the addresses at which functions on a strict device find its memory, and nothing else of it.
 *
 * A function gets a copy of the elements that it may touch, in pages of its own, where all that is
 * around them is poison and every other page is closed. Afterwards what it wrote of the elements that
 * it may write is put back. So it reaches what the accesses cover that were open when it was
 * enqueued, to the byte: of others it reads poison, or faults; and what it writes elsewhere is told,
 * and never gets anywhere. A second copy, the original, shows what has been written.
 *
 * What it may touch is a list of touchables, which is enqueued with it: accesses, and blocks, so that
 * messages can name them. */
#ifndef HARRAY_IMPL_DEVICE_WINDOW_H
#define HARRAY_IMPL_DEVICE_WINDOW_H

#include "poison.h"
#include "queue_errors.h"

#include <sys/mman.h>

typedef enum ha_touchable_kind {
    HA_TOUCH_NAME, /* of a block of an array: nothing may be touched */
    HA_TOUCH_READ,
    HA_TOUCH_WRITE
} ha_touchable_kind;

enum { HA_TOUCH_DIMENSIONS = 4 };

/* Of records: the field that pieces are of, and of which record each is, on levels from the innermost on. */
typedef struct ha_touchable_field {
    char name[40]; /* "": no field */
    int rank;      /* 0: which record it is cannot be told from the address alone */
    int levels;
    int dimension
        [HA_TOUCH_DIMENSIONS]; /* of a level: where the index grows by `gain` in each step */
    int64_t first[HA_TOUCH_DIMENSIONS]; /* the index of the first piece */
    int64_t gain[HA_TOUCH_DIMENSIONS];
    size_t count[HA_TOUCH_DIMENSIONS], step[HA_TOUCH_DIMENSIONS]; /* bytes */
} ha_touchable_field;

typedef struct ha_touchable {
    ha_touchable_kind kind;
    ha_strided_copy pieces; /* of an access: `from`, and the steps there */
    uintptr_t block, bytes; /* of the array, as users see it; element 0 is the first one */
    size_t element;         /* bytes; 0: of records, or no array */
    ha_poison poison;
    int shares; /* the bytes are also those of values that may be written: not to be poisoned */
    ha_touchable_field field;
    const char *site; /* where the access was opened */
    char label[120];  /* of the array */
} ha_touchable;

/* What a function may touch: in its message. */
typedef struct ha_touchables {
    const ha_touchable *list;
    size_t n;
    const char *where, *site; /* the context; where it was enqueued */
} ha_touchables;

enum { HA_PAGE_OPEN = 1, HA_PAGE_WRITABLE = 2 };

typedef struct ha_window {
    struct ha_window *next;
    uintptr_t users;          /* as users see the first byte */
    uintptr_t window;         /* where functions find it; */
    uintptr_t original;       /* the second copy; */
    uintptr_t real;           /* the device's */
    size_t bytes;             /* of each of them: whole pages */
    size_t page, mapped;      /* bytes */
    unsigned char *state;     /* of each page */
    size_t low, high;         /* the pages that are not closed are in [low, high) */
    ha_touchables touchables; /* of the function that runs; n = 0: none does */
} ha_window;

HA_STATE_ ha_window *ha_windows; /* all; only grows until ha_windows_end */

/* ---- pieces --------------------------------------------------------------------------------- */

typedef void ha_run_function(ha_window *w, const ha_touchable *r, uintptr_t at, size_t bytes);

/* f for each piece of what an access covers that is without gaps. */
HA_IN_ void ha_each_run(ha_window *w, const ha_touchable *r, int levels, uintptr_t at,
                        ha_run_function *f) {
    const ha_strided_copy *c = &r->pieces;
    if (!levels) {
        f(w, r, at, c->bytes);
        return;
    }
    for (size_t i = 0; i < c->count[levels - 1]; i++)
        ha_each_run(w, r, levels - 1, at + i * c->from_step[levels - 1], f);
}

/* Of all accesses of a kind, or of those that may write alone. */
HA_IN_ void ha_each_touchable(ha_window *w, ha_touchable_kind least, ha_run_function *f) {
    for (size_t i = 0; i < w->touchables.n; i++) {
        const ha_touchable *r = &w->touchables.list[i];
        const uintptr_t at = (uintptr_t)r->pieces.from;
        if (r->kind >= least && at - w->users < w->bytes)
            ha_each_run(w, r, r->pieces.levels, at, f);
    }
}

/* Whether an access covers an address. */
HA_IN_ int ha_touchable_covers(const ha_touchable *r, uintptr_t address) {
    const ha_strided_copy *c = &r->pieces;
    uintptr_t at = address - (uintptr_t)c->from;
    if (r->kind == HA_TOUCH_NAME || address < (uintptr_t)c->from) return 0;
    for (int k = c->levels - 1; k >= 0; k--) {
        size_t i = c->from_step[k] ? at / c->from_step[k] : 0;
        if (i >= c->count[k]) i = c->count[k] - 1;
        at -= i * c->from_step[k];
    }
    return at < c->bytes;
}

/* ---- telling -------------------------------------------------------------------------------- */

/* The access that covers an address, of those that write before others; NULL: none. */
HA_IN_ const ha_touchable *ha_touchable_of(const ha_touchables *all, uintptr_t address) {
    const ha_touchable *found = NULL;
    for (size_t i = 0; i < all->n; i++)
        if (ha_touchable_covers(&all->list[i], address) &&
            (!found || found->kind < all->list[i].kind))
            found = &all->list[i];
    return found;
}

/* The block that an address is in, or nearest to; of an array with an open access before others. */
HA_IN_ const ha_touchable *ha_touchable_near(const ha_touchables *all, uintptr_t address) {
    const ha_touchable *nearest = NULL;
    uintptr_t least = UINTPTR_MAX;
    for (size_t i = 0; i < all->n; i++) {
        const ha_touchable *r = &all->list[i];
        const uintptr_t end = r->block + r->bytes;
        const uintptr_t away = address < r->block ? r->block - address
                               : address >= end   ? address - end + 1
                                                  : 0;
        if (nearest && (away > least || (away == least && r->kind <= nearest->kind))) continue;
        nearest = r;
        least = away;
    }
    return nearest;
}

/* "field pos.x of record 7 of ", so many bytes behind the first piece. */
HA_IN_ void ha_line_field(ha_fault_line *l, const ha_touchable_field *f, uintptr_t at) {
    int64_t index[HA_TOUCH_DIMENSIONS];
    memcpy(index, f->first, sizeof index);
    for (int k = f->levels - 1; k >= 0; k--) {
        size_t i = at / f->step[k];
        if (i >= f->count[k]) i = f->count[k] - 1;
        at -= i * f->step[k];
        index[f->dimension[k]] += (int64_t)i * f->gain[k];
    }
    ha_line_add(l, "field ");
    ha_line_add(l, f->name);
    for (int d = 0; d < f->rank; d++) {
        ha_line_add(l, d ? ", " : " of record ");
        ha_line_number(l, (uintptr_t)index[d], 10);
    }
    ha_line_add(l, " of ");
}

/* "element 7 of array 'u' (double[10])", "what is 16 bytes behind the end of array …". */
HA_IN_ void ha_line_place(ha_fault_line *l, const ha_touchable *r, uintptr_t address) {
    const uintptr_t end = r->block + r->bytes;
    const int inside = address >= r->block && address < end;
    if (inside && r->element) {
        ha_line_add(l, "element ");
        ha_line_number(l, (address - r->block) / r->element, 10);
        ha_line_add(l, " of array ");
    } else if (inside && *r->field.name && ha_touchable_covers(r, address))
        ha_line_field(l, &r->field, address - (uintptr_t)r->pieces.from);
    else if (inside)
        ha_line_add(l, "some of ");
    else {
        ha_line_add(l, "what is ");
        ha_line_number(l, address < end ? r->block - address : address - end, 10);
        ha_line_add(l, address < end ? " bytes before the beginning of "
                                     : " bytes behind the end of ");
        ha_line_add(l, r->element ? "array " : "");
    }
    ha_line_add(l, r->label);
}

/* What a function did to an address where it had no right to. */
HA_IN_ void ha_line_touched(ha_fault_line *l, const ha_touchables *all, uintptr_t address) {
    const ha_touchable *covered = ha_touchable_of(all, address),
                       *near = ha_touchable_near(all, address);
    ha_line_add(l, "a function on ");
    ha_line_add(l, all->where);
    ha_line_add(l, ", enqueued at ");
    ha_line_add(l, all->site);
    ha_line_add(l, covered ? ", wrote " : ", touched ");
    if (covered)
        ha_line_place(l, covered, address);
    else if (near)
        ha_line_place(l, near, address);
    else {
        ha_line_add(l, "address 0x");
        ha_line_number(l, address, 16);
    }
    if (covered && covered->kind == HA_TOUCH_READ)
        ha_line_add(l, " through a read access, opened at ");
    else
        ha_line_add(l, near && near->kind != HA_TOUCH_NAME
                           ? ", which no access covers that was open then; opened at "
                           : ", for which no access was open then");
    if (covered || (near && near->kind != HA_TOUCH_NAME))
        ha_line_add(l, (covered ? covered : near)->site);
}

/* What the signal handler asks. */
HA_IN_ int ha_window_tell(uintptr_t address) {
    const ha_window *w = __atomic_load_n(&ha_windows, __ATOMIC_ACQUIRE);
    ha_fault_line line = {.n = 0};
    while (w && address - w->window >= w->bytes) w = w->next;
    if (!w || !w->touchables.n) return 0;
    ha_line_add(&line, "harray: ");
    ha_line_touched(&line, &w->touchables, address - w->window + w->users);
    ha_line_print(&line);
    return 1;
}

/* ---- opening -------------------------------------------------------------------------------- */

HA_IN_ void ha_window_mark(ha_window *w, const ha_touchable *r, uintptr_t at, size_t bytes) {
    const size_t first = (at - w->users) / w->page, last = (at - w->users + bytes - 1) / w->page;
    for (size_t i = first; i <= last; i++)
        w->state[i] |= r->kind == HA_TOUCH_WRITE ? HA_PAGE_OPEN | HA_PAGE_WRITABLE : HA_PAGE_OPEN;
    if (first < w->low) w->low = first;
    if (last >= w->high) w->high = last + 1;
}

/* f for each run of pages of one state. */
HA_IN_ void ha_each_pages(ha_window *w, unsigned char state,
                          void (*f)(ha_window *w, size_t first, size_t bytes)) {
    for (size_t i = w->low, end; i < w->high; i = end) {
        for (end = i + 1; end < w->high && w->state[end] == w->state[i];) end++;
        if (w->state[i] == state) f(w, i * w->page, (end - i) * w->page);
    }
}

HA_IN_ void ha_window_open_pages(ha_window *w, size_t first, size_t bytes) {
    const ha_poison none = ha_poison_of("", 8);
    if (mprotect((void *)(w->window + first), bytes, PROT_READ | PROT_WRITE) ||
        mprotect((void *)(w->original + first), bytes, PROT_READ | PROT_WRITE))
        return; /* no more mappings: the function faults, and says where */
    ha_poison_fill(none, w->window + first, (void *)(w->window + first), bytes);
    for (size_t i = 0; i < w->touchables.n; i++) { /* around elements, poison of their type */
        const ha_touchable *r = &w->touchables.list[i];
        if (r->kind != HA_TOUCH_NAME) continue;
        const uintptr_t at = w->users + first, low = r->block > at ? r->block : at;
        const uintptr_t end = r->block + r->bytes, high = end < at + bytes ? end : at + bytes;
        const uintptr_t shift = w->window - w->users;
        if (low < high)
            ha_poison_fill(r->poison, r->block + shift, (void *)(low + shift), high - low);
    }
}

#if defined __SANITIZE_THREAD__
#define HA_SANITIZES_THREADS_ 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define HA_SANITIZES_THREADS_ 1
#endif
#endif

/* What others have open, their queues may be writing meanwhile. A function that keeps to what is its own does
 * not look at that, so any value does; and ThreadSanitizer is not to look at how it is copied. */
#ifdef HA_SANITIZES_THREADS_
HA_IN_ void ha_window_copy(char *to, const volatile char *from, size_t bytes)
    __attribute__((no_sanitize_thread, noinline));
HA_IN_ void ha_window_copy(char *to, const volatile char *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) to[i] = from[i];
}
#else
HA_IN_ void ha_window_copy(char *to, const char *from, size_t bytes) { memcpy(to, from, bytes); }
#endif

HA_IN_ void ha_window_fetch(ha_window *w, const ha_touchable *r, uintptr_t at, size_t bytes) {
    const uintptr_t offset = at - w->users;
    (void)r;
    ha_window_copy((char *)(w->window + offset), (const char *)(w->real + offset), bytes);
}

HA_IN_ void ha_window_keep(ha_window *w, size_t first, size_t bytes) {
    memcpy((void *)(w->original + first), (const void *)(w->window + first), bytes);
}

HA_IN_ void ha_window_lock(ha_window *w, size_t first, size_t bytes) {
    ha_window_keep(w, first, bytes);
    (void)mprotect((void *)(w->window + first), bytes, PROT_READ);
}

/* Opens what a function may touch. */
HA_IN_ void ha_window_open(ha_window *w, const ha_touchables *touchables) {
    w->touchables = *touchables;
    w->low = w->bytes / w->page;
    w->high = 0;
    ha_each_touchable(w, HA_TOUCH_READ, ha_window_mark);
    ha_each_pages(w, HA_PAGE_OPEN, ha_window_open_pages);
    ha_each_pages(w, HA_PAGE_OPEN | HA_PAGE_WRITABLE, ha_window_open_pages);
    ha_each_touchable(w, HA_TOUCH_READ, ha_window_fetch);
    ha_each_pages(w, HA_PAGE_OPEN, ha_window_lock);
    ha_each_pages(w, HA_PAGE_OPEN | HA_PAGE_WRITABLE, ha_window_keep);
}

/* ---- closing -------------------------------------------------------------------------------- */

/* What was written of what may be written. Only that: others may write beside it meanwhile. */
HA_IN_ void ha_window_put(ha_window *w, const ha_touchable *r, uintptr_t at, size_t bytes) {
    const uintptr_t offset = at - w->users;
    const char *now = (const char *)(w->window + offset);
    char *before = (char *)(w->original + offset), *real = (char *)(w->real + offset);
    (void)r;
    if (!memcmp(now, before, bytes)) return;
    for (size_t i = 0; i < bytes; i++)
        if (now[i] != before[i]) real[i] = before[i] = now[i];
}

/* What is still different was not to be written. */
HA_IN_ void ha_window_check(ha_window *w, size_t first, size_t bytes) {
    const char *now = (const char *)(w->window + first);
    const char *before = (const char *)(w->original + first);
    ha_fault_line line = {.n = 0};
    size_t i = 0;
    if (!memcmp(now, before, bytes)) return;
    while (now[i] == before[i]) i++;
    ha_line_touched(&line, &w->touchables, w->users + first + i);
    line.text[line.n] = 0;
    HA_IGNORE_(ha_fail(HA_ERR_STATE, ha_touchable_operation, "%s", line.text));
}

HA_IN_ void ha_window_close(ha_window *w) {
    ha_each_touchable(w, HA_TOUCH_WRITE, ha_window_put);
    ha_each_pages(w, HA_PAGE_OPEN | HA_PAGE_WRITABLE, ha_window_check);
    if (w->low < w->high) {
        const size_t first = w->low * w->page, bytes = (w->high - w->low) * w->page;
        memset(w->state + w->low, 0, w->high - w->low);
        (void)madvise((void *)(w->window + first), bytes, MADV_DONTNEED);
        (void)madvise((void *)(w->original + first), bytes, MADV_DONTNEED);
        (void)mprotect((void *)(w->window + first), bytes, PROT_NONE);
        (void)mprotect((void *)(w->original + first), bytes, PROT_NONE);
    }
    w->touchables.n = 0;
}

/* ---- making and running --------------------------------------------------------------------- */

/* NULL: the system has no room for it. */
HA_IN_ ha_window *ha_window_make(const ha_queue *here) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = here->bytes / page + 1;
    ha_window *w = (ha_window *)HARRAY_MALLOC(sizeof *w);
    if (!w) return NULL;
    *w = (ha_window){.users = here->first - here->first % page, .page = page};
    w->bytes = (pages + 1) * page;
    w->mapped = 2 * w->bytes + pages + 1;
    w->real = w->users + here->shift;
    void *mapping = mmap(NULL, w->mapped, PROT_NONE, flags, -1, 0);
    if (mapping == MAP_FAILED) {
        HARRAY_FREE(w);
        return NULL;
    }
    w->window = (uintptr_t)mapping;
    w->original = w->window + w->bytes;
    w->state = (unsigned char *)mapping + 2 * w->bytes;
    if (mprotect(w->state, pages + 1, PROT_READ | PROT_WRITE)) {
        munmap(mapping, w->mapped);
        HARRAY_FREE(w);
        return NULL;
    }
    w->next = __atomic_load_n(&ha_windows, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&ha_windows, &w->next, w, 1, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {}
    ha_fault_begin(ha_window_tell);
    return w;
}

/* Runs a function in the window of its queue; *window: made when it is first needed. Where there is none,
 * it reaches everything. */
HA_IN_ void ha_window_run(ha_window **window, const ha_queue *here, const ha_touchables *touchables,
                          ha_function f, void *argument) {
    if (!*window && here->bytes) *window = ha_window_make(here);
    ha_window *w = *window;
    if (!w) {
        f(here, argument);
        return;
    }
    const ha_queue inside = {here->first, here->bytes, w->window - w->users};
    ha_window_open(w, touchables);
    f(&inside, argument);
    ha_window_close(w);
}

/* Every queue is drained. */
HA_IN_ void ha_windows_end(void) {
    while (ha_windows) {
        ha_window *w = ha_windows;
        __atomic_store_n(&ha_windows, w->next, __ATOMIC_RELEASE);
        munmap((void *)w->window, w->mapped);
        HARRAY_FREE(w);
    }
}

#endif
