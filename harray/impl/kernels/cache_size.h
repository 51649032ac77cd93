/* How large the cache of compiled kernels may become: whoever writes to it for the first time looks once what is
 * there, and deletes what was used longest ago. Files whose names are not of the cache are left alone. */
#ifndef HARRAY_IMPL_KERNELS_CACHE_SIZE_H
#define HARRAY_IMPL_KERNELS_CACHE_SIZE_H

#include "../base/all.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HA_CACHE_NAME = 128,
    HA_CACHE_DIGITS = 62,      /* of a file's name; two more are its directory's */
    HA_CACHE_HALF_DONE = 3600, /* seconds after which whoever writes a file has been killed */
};
static const uint64_t ha_cache_most = (uint64_t)256 << 20; /* bytes */

typedef struct ha_cache_file {
    struct timespec used;
    uint64_t bytes;
    char name[HA_CACHE_NAME]; /* in the cache's directory: "xx/…" */
} ha_cache_file;

typedef struct ha_cache_list {
    ha_cache_file *file;
    size_t n, room;
    uint64_t bytes; /* of all */
} ha_cache_list;

/* A compiled kernel has a digest for its name; one that is being written has numbers of process and thread
 * behind that: ".12.3". */
HA_IN_ int ha_cache_is_file(const char *name) {
    return strspn(name, "0123456789abcdef") == HA_CACHE_DIGITS && !name[HA_CACHE_DIGITS];
}

HA_IN_ int ha_cache_is_half_done(const char *name) {
    const char *dot = name + HA_CACHE_DIGITS;
    return strspn(name, "0123456789abcdef") == HA_CACHE_DIGITS && *dot == '.' &&
           !dot[strspn(dot, ".0123456789")];
}

/* Nonzero: there was memory to remember it. */
HA_IN_ int ha_cache_list_add(ha_cache_list *list, const char *name, const struct stat *is) {
    if (list->n == list->room) {
        const size_t room = list->room ? 2 * list->room : 64;
        ha_cache_file *more = (ha_cache_file *)HARRAY_REALLOC(list->file, room * sizeof *more);
        if (!more) return 0;
        list->file = more;
        list->room = room;
    }
    ha_cache_file *f = &list->file[list->n++];
    *f = (ha_cache_file){.used = is->st_mtim, .bytes = (uint64_t)is->st_size};
    snprintf(f->name, sizeof f->name, "%s", name);
    list->bytes += f->bytes;
    return 1;
}

/* Lists what is in one of the directories, and deletes what was never finished. Nonzero: there was memory. */
HA_IN_ int ha_cache_list_directory(ha_cache_list *list, int at, int number, time_t now) {
    char name[HA_CACHE_NAME];
    struct stat is;
    const struct dirent *entry;
    snprintf(name, sizeof name, "%02x", (unsigned)number);
    const int file = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = file < 0 ? NULL : fdopendir(file);
    int good = 1;
    if (!directory) {
        if (file >= 0) (void)close(file);
        return 1;
    }
    while (good && (entry = readdir(directory))) {
        const int whole = ha_cache_is_file(entry->d_name);
        if ((!whole && !ha_cache_is_half_done(entry->d_name)) ||
            snprintf(name, sizeof name, "%02x/%s", (unsigned)number, entry->d_name) >=
                HA_CACHE_NAME ||
            fstatat(at, name, &is, AT_SYMLINK_NOFOLLOW) || !S_ISREG(is.st_mode))
            continue;
        if (whole)
            good = ha_cache_list_add(list, name, &is);
        else if (now - is.st_mtim.tv_sec > HA_CACHE_HALF_DONE)
            (void)unlinkat(at, name, 0);
    }
    (void)closedir(directory);
    return good;
}

HA_IN_ int ha_cache_file_compare(const void *first, const void *second) {
    const ha_cache_file *a = (const ha_cache_file *)first, *b = (const ha_cache_file *)second;
    if (a->used.tv_sec != b->used.tv_sec) return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    if (a->used.tv_nsec != b->used.tv_nsec) return a->used.tv_nsec < b->used.tv_nsec ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Deletes what was used longest ago, until there are `most` bytes. Without memory to find out what that is,
 * nothing. */
HA_IN_ void ha_cache_trim(const char *path, uint64_t most, time_t now) {
    ha_cache_list list = {NULL, 0, 0, 0};
    const int at = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int good = at >= 0;
    for (int i = 0; i < 256 && good; i++) good = ha_cache_list_directory(&list, at, i, now);
    if (good && list.bytes > most) {
        qsort(list.file, list.n, sizeof *list.file, ha_cache_file_compare);
        for (size_t i = 0; i < list.n && list.bytes > most; i++) {
            (void)unlinkat(at, list.file[i].name, 0);
            list.bytes -= list.file[i].bytes;
        }
    }
    HARRAY_FREE(list.file);
    if (at >= 0) (void)close(at);
}

HA_STATE_ int ha_cache_trimmed; /* by this process */

HA_IN_ void ha_cache_trim_once(const char *path) {
    if (__atomic_exchange_n(&ha_cache_trimmed, 1, __ATOMIC_RELAXED)) return;
    ha_cache_trim(path, ha_cache_most, time(NULL));
}

#endif
