/* What libnvrtc_apart.so (nvrtc_apart.c) and nvrtc_apart (nvrtc_apart_main.c) say to each other, by pipes: bytes, and
 * how many in front of them. */
#ifndef HARRAY_TESTS_BACKENDS_NVRTC_APART_H
#define HARRAY_TESTS_BACKENDS_NVRTC_APART_H

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { NVRTC_SUCCESS = 0, NVRTC_INTERNAL_ERROR = 11, MOST_OPTIONS = 64, MOST_ARCHITECTURES = 64 };

/* What was made of a text, in the order in which it is told. */
typedef enum apart_result { APART_LOG, APART_PTX, APART_CUBIN, APART_RESULTS } apart_result;

typedef struct apart_bytes {
    size_t n;
    char *data; /* NULL: there are none, as what is asked for them has failed */
} apart_bytes;

static inline int apart_write(int file, const void *data, size_t n) {
    for (const char *at = (const char *)data; n > 0;) {
        const ssize_t done = write(file, at, n);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return 0;
        at += done;
        n -= (size_t)done;
    }
    return 1;
}

static inline int apart_read(int file, void *data, size_t n) {
    for (char *at = (char *)data; n > 0;) {
        const ssize_t done = read(file, at, n);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return 0;
        at += done;
        n -= (size_t)done;
    }
    return 1;
}

static inline int apart_say(int file, apart_bytes bytes) {
    const int some = bytes.data != NULL;
    return apart_write(file, &some, sizeof some) && apart_write(file, &bytes.n, sizeof bytes.n) &&
           (!some || apart_write(file, bytes.data, bytes.n));
}

/* The caller frees the data. */
static inline int apart_hear(int file, apart_bytes *bytes) {
    int some = 0;
    bytes->data = NULL;
    if (!apart_read(file, &some, sizeof some) || !apart_read(file, &bytes->n, sizeof bytes->n))
        return 0;
    if (!some) return 1;
    bytes->data = (char *)malloc(bytes->n + 1);
    return bytes->data != NULL && apart_read(file, bytes->data, bytes->n);
}

#endif
