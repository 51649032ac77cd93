/* Is loaded before all others (LD_PRELOAD): allocations that harray's libraries ask for can fail. Those of the thread that
 * called fail_at, or of the main thread from its start where HARRAY_TEST_FAIL_AT is set, are counted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What glibc's own are called beside the names that are defined here. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

/* A variable of the thread without a function that finds it, which might allocate. */
#define OF_THREAD static __thread __attribute__((tls_model("initial-exec")))
OF_THREAD long failing,
    asked; /* which allocation is to fail, and how many there have been; 0: nobody counts */

/* From now on allocation `n` of this thread fails, and only that; 0: none. How many there have been since the last call. */
__attribute__((visibility("default"))) long fail_at(long n) {
    const long count = asked;
    failing = n;
    asked = 0;
    return count;
}

__attribute__((constructor)) static void start(void) {
    const char *text = getenv("HARRAY_TEST_FAIL_AT");
    if (text) failing = atol(text);
}

static int is_ours(const void *caller) {
    Dl_info info;
    return dladdr(caller, &info) && info.dli_fname &&
           (strstr(info.dli_fname, "/libharray.so") || strstr(info.dli_fname, "/_harray."));
}

static int fails(const void *caller) {
    if (!failing || !is_ours(caller)) return 0;
    if (++asked != failing) return 0;
    errno = ENOMEM;
    return 1;
}
#define FAILS fails(__builtin_return_address(0))

void *malloc(size_t bytes) { return FAILS ? NULL : __libc_malloc(bytes); }

void *calloc(size_t count, size_t bytes) { return FAILS ? NULL : __libc_calloc(count, bytes); }

void *realloc(void *old, size_t bytes) { return FAILS ? NULL : __libc_realloc(old, bytes); }

void *aligned_alloc(size_t alignment, size_t bytes) {
    return FAILS ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
    void *fresh = FAILS ? NULL : __libc_memalign(alignment, bytes);
    if (!fresh) return ENOMEM;
    *memory = fresh;
    return 0;
}

char *strdup(const char *text) {
    const size_t bytes = strlen(text) + 1;
    char *copy = FAILS ? NULL : __libc_malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}
