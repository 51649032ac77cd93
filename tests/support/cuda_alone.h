/* The CUDA backend alone, over the fake driver (backends/fake_libcuda.h): for backends/test_cuda.c
 * and its peers. To be included first. Each test says what the fake's options are; after each test
 * everything must have been given back, to the driver and to the last record. */
#ifndef HARRAY_TESTS_SUPPORT_CUDA_ALONE_H
#define HARRAY_TESTS_SUPPORT_CUDA_ALONE_H

#include "faulty_backend.h"

#include <dlfcn.h>

/* Between the backend and the driver: what does not open, what is not found, what is in its place. */
static struct {
    const char *lacks;                         /* a symbol that is not found */
    const char *replaced;                      /* a symbol that is found elsewhere: */
    void (*by)(void);                          /* there */
    void (*(*more)(const char *symbol))(void); /* finds what the library lacks */
    int opened;                                /* libraries */
    const char *error;                         /* of opening, instead of a library */
} hooks;

static void *hooked_open(const char *name) {
    hooks.opened++;
    return hooks.error ? NULL : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static void *hooked_find(void *library, const char *symbol) {
    void *found = dlsym(library, symbol);
    if (hooks.lacks && !strcmp(symbol, hooks.lacks)) return NULL;
    if (hooks.replaced && !strcmp(symbol, hooks.replaced)) memcpy(&found, &hooks.by, sizeof found);
    if (hooks.more && !found) {
        void (*more)(void) = hooks.more(symbol);
        memcpy(&found, &more, sizeof found);
    }
    return found;
}

#define HARRAY_DLOPEN(name) hooked_open(name)
#define HARRAY_DLSYM(library, symbol) hooked_find(library, symbol)
#define HARRAY_DLERROR() (hooks.error ? hooks.error : dlerror())

#include "../../backends/cuda/cuda.h"
#include "../../backends/host/host.h"
#include "backend_alone.h"
#include "../backends/fake_cuda_find.h"

#include <sched.h>

#define KI ((size_t)1 << 10)
#define MI ((size_t)1 << 20)
#define FAILS(status, expr) assert_int_equal(expr, status)
#define TELLS(part) assert_non_null(strstr(reported.text, part))

static void *fake_library;
static const fake_cuda *fake;
static ha_cuda_settings named; /* by HARRAY_CUDA: the fake driver */
static const ha_queue_ops *ops = &ha_cuda_queue_ops;
static const ha_memory_ops *blocks = &ha_cuda_memory_ops;
static void *device, *queue;

/* ---- beginning and ending ------------------------------------------------------------------- */

static int copy_threads; /* for devices opened later; 0: the default */

static void use(const char *fake_options, ha_cuda_memory memory, size_t slab) {
    const ha_cuda_options options = {
        .memory = memory, .slab = slab, .library = named.library, .copy_threads = copy_threads};
    fake->reset();
    fake->configure(fake_options);
    SUCCEEDS(ha_cuda_set_options(&options));
    ha_cuda_shared.tried = 0; /* cuInit reads the fake's options */
}

static void open_devices(void) {
    void *memory;
    SUCCEEDS(ha_cuda_open(0, &device, &memory));
    assert_ptr_equal(device, memory);
    SUCCEEDS(ops->create(device, &queue));
}

/* The options of the fake, and "managed", "async" or "slab" (a small one) in front. */
static int begin(void **state) {
    const char *text = (const char *)*state;
    ha_cuda_memory memory = HA_CUDA_DEVICE;
    memset(&hooks, 0, sizeof hooks);
    reported.text[0] = '\0';
    if (!strncmp(text, "managed", 7)) memory = HA_CUDA_MANAGED;
    if (!strncmp(text, "async", 5)) memory = HA_CUDA_ASYNC;
    const int small = !strncmp(text, "slab", 4);
    if (memory != HA_CUDA_DEVICE || small) text += strcspn(text, " ");
    use(*text == ' ' ? text + 1 : text, memory, small ? MI : 0);
    device = queue = NULL;
    return 0;
}

static HA_UNUSED int begin_open(void **state) {
    begin(state);
    open_devices();
    return 0;
}

static int is_empty(void) {
    const fake_cuda_statistics left = fake->statistics();
    return !left.contexts && !left.blocks && !left.bytes && !left.pinned && !left.managed &&
           !left.streams && !left.events && !left.modules && !left.leaked;
}

/* Threads that are enqueueing. */
static int inside(void *q) { return atomic_load(&((ha_cuda_queue *)q)->inside); }

static int end(HA_UNUSED void **state) {
    fake->fail_never();
    if (queue && inside(queue)) return 1; /* draining would wait for them */
    if (queue) ops->drain(queue);
    if (queue) ops->destroy(queue);
    if (device) ha_cuda_close(device);
    ha_cuda_shared.known = 0;
    return faulty_records() != 0 || !is_empty();
}

static HA_UNUSED void *take(size_t bytes) {
    void *block = NULL;
    SUCCEEDS(blocks->allocate(device, bytes, &block));
    assert_int_equal((uintptr_t)block % 256, 0);
    return block;
}

static HA_UNUSED void give(void *block, size_t bytes) { blocks->release(device, block, bytes); }

static HA_UNUSED ha_cu_stream stream_of(void *q) { return (ha_cu_stream)ops->native(q); }

static HA_UNUSED void number(unsigned char *bytes, size_t n, unsigned first) {
    for (size_t i = 0; i < n; i++) bytes[i] = (unsigned char)(first + i * 7 + i / 1000);
}

/* The fake is loaded when this returns 1. */
static int find_fake(void) {
    ha_option_text wrong;
    fake_library = fake_cuda_load();
    if (fake_library) fake = fake_cuda_of(fake_library);
    if (fake && ha_cuda_settings_from(getenv("HARRAY_CUDA"), &named, &wrong)) return 1;
    printf("HARRAY_CUDA does not name the fake driver\n");
    return 0;
}

enum { SKIPPED = 77 };

#define ON(options, test)                                                                          \
    { #test, test, begin_open, end, (void *)(uintptr_t)options }
#define CLOSED(options, test)                                                                      \
    { #test, test, begin, end, (void *)(uintptr_t)options }

#endif
