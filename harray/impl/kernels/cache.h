/* Compiled kernels on disk, so that the next run of a program need not compile. A file is named by the digest of
 * all that its binary depends on; it is written under another name and then renamed. What is wrong with a file
 * makes it one that is not there. Without locks: processes that miss at once each compile. The time of a
 * file is that of its latest use, by which cache_size.h keeps the youngest. */
#ifndef HARRAY_IMPL_KERNELS_CACHE_H
#define HARRAY_IMPL_KERNELS_CACHE_H

#include "cache_size.h"
#include "settings.h"
#include "sha256.h"
#include "../../../backends/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HA_CACHE_PATH = 4096 };

typedef struct ha_cache_head {
    char magic[8];
    ha_digest key, digest; /* of what it was made from; of what follows */
    uint64_t bytes;
} ha_cache_head;

static const char ha_cache_magic[8] = {'h', 'a', 'r', 'r', 'a', 'y', '0', '1'};

/* ---- where ------------------------------------------------------------------------------------- */

/* DIRECTORY/xx/rest. Nonzero: there was room. */
HA_IN_ int ha_cache_path(char *path, const char *directory, size_t length, const ha_digest *key) {
    static const char hex[] = "0123456789abcdef";
    const int n = snprintf(path, HA_CACHE_PATH, "%.*s/", (int)length, directory);
    char *to = path + n;
    if (n < 0 || n > HA_CACHE_PATH - 80) return 0;
    for (int i = 0; i < 32; i++) {
        *to++ = hex[key->byte[i] >> 4];
        *to++ = hex[key->byte[i] & 15];
        if (i == 0) *to++ = '/';
    }
    *to = 0;
    return 1;
}

/* Makes the directories of a path, as far as they are missing. */
HA_IN_ void ha_make_directories(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)mkdir(path, 0777);
        *slash = '/';
    }
}

/* ---- files ------------------------------------------------------------------------------------- */

HA_IN_ int ha_read_all(int file, void *to, size_t bytes) {
    char *at = (char *)to;
    while (bytes > 0) {
        const ssize_t n = read(file, at, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        at += n;
        bytes -= (size_t)n;
    }
    return 1;
}

HA_IN_ int ha_write_all(int file, const void *from, size_t bytes) {
    const char *at = (const char *)from;
    while (bytes > 0) {
        const ssize_t n = write(file, at, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        at += n;
        bytes -= (size_t)n;
    }
    return 1;
}

HA_IN_ ha_digest ha_digest_of(const void *data, size_t bytes) {
    ha_sha256 h = ha_sha256_begin();
    ha_sha256_add(&h, data, bytes);
    return ha_sha256_end(&h);
}

/* The rest of a file behind its head: exactly what the head says. */
HA_IN_ int ha_cache_read_binary(int file, const ha_cache_head *head, ha_binary *binary) {
    struct stat is;
    if (fstat(file, &is) || (uint64_t)is.st_size != sizeof *head + head->bytes) return 0;
    binary->data = HARRAY_MALLOC(head->bytes + 1);
    if (!binary->data) return 0;
    binary->bytes = head->bytes;
    ((char *)binary->data)[head->bytes] = 0; /* some are texts */
    if (ha_read_all(file, binary->data, binary->bytes)) {
        const ha_digest digest = ha_digest_of(binary->data, binary->bytes);
        if (!memcmp(&digest, &head->digest, sizeof digest)) return 1;
    }
    HARRAY_FREE(binary->data);
    *binary = (ha_binary){NULL, 0};
    return 0;
}

HA_IN_ int ha_cache_read_file(const char *path, const ha_digest *key, ha_binary *binary) {
    const int file = open(path,
                          O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is no file to wait for */
    ha_cache_head head;
    int good;
    if (file < 0) return 0;
    good = ha_read_all(file, &head, sizeof head) &&
           !memcmp(head.magic, ha_cache_magic, sizeof head.magic) &&
           !memcmp(&head.key, key, sizeof *key) && ha_cache_read_binary(file, &head, binary);
    if (good) (void)futimens(file, NULL); /* used now; whoever may not say so does not */
    (void)close(file);
    return good;
}

/* Nonzero: *binary is the caller's to free. */
HA_IN_ int ha_cache_read(const ha_digest *key, ha_binary *binary) {
    const ha_kernel_settings *s = ha_kernel_settings_get();
    char path[HA_CACHE_PATH];
    if (s->cache[0] && ha_cache_path(path, s->cache, strlen(s->cache), key) &&
        ha_cache_read_file(path, key, binary))
        return 1;
    for (const char *more = s->more_caches; *more;) {
        const size_t length = strcspn(more, ":");
        if (length && ha_cache_path(path, more, length, key) &&
            ha_cache_read_file(path, key, binary))
            return 1;
        more += length + (more[length] == ':');
    }
    return 0;
}

/* A file that gets no longer, as its disk is full or there is a limit, is none. The signal that comes with the
 * limit would end the program. */
HA_IN_ int ha_cache_write_file(int file, const ha_cache_head *head, const ha_binary *binary) {
    static const struct timespec at_once = {0, 0};
    sigset_t limit, before;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    const int good = ha_write_all(file, head, sizeof *head) &&
                     ha_write_all(file, binary->data, binary->bytes);
    if (!good) (void)sigtimedwait(&limit, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

/* Nonzero: it is there now. */
HA_IN_ int ha_cache_write_to(const char *directory, const ha_digest *key, const ha_binary *binary) {
    char path[HA_CACHE_PATH], own[HA_CACHE_PATH + 48];
    ha_cache_head head = {.key = *key, .bytes = binary->bytes};
    int file, good;
    if (!ha_cache_path(path, directory, strlen(directory), key)) return 0;
    memcpy(head.magic, ha_cache_magic, sizeof head.magic);
    head.digest = ha_digest_of(binary->data, binary->bytes);
    snprintf(own, sizeof own, "%s.%lld.%llu", path, (long long)getpid(),
             (unsigned long long)ha_self.id);
    ha_make_directories(path);
    file = open(own, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return 0;
    good = ha_cache_write_file(file, &head, binary);
    good = close(file) == 0 && good;
    if (good && rename(own, path) == 0) return 1;
    (void)unlink(own);
    return 0;
}

/* Whoever cannot write has no cache: that is no error. */
HA_IN_ void ha_cache_write(const ha_digest *key, const ha_binary *binary) {
    const ha_kernel_settings *s = ha_kernel_settings_get();
    if (s->cache[0] && ha_cache_write_to(s->cache, key, binary)) ha_cache_trim_once(s->cache);
}

#endif
