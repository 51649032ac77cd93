/* A backend under test: what it has, its first device, and two queues there; and what its tests do over and over. After each
 * test everything must have been given back, to the last record. */
#ifndef HARRAY_TESTS_BACKENDS_BACKEND_SUBJECT_H
#define HARRAY_TESTS_BACKENDS_BACKEND_SUBJECT_H

#include "../support/faulty_backend.h"

#include "../support/test_kind.h" /* before the private backend: it may bring a device of the same names */

#include "../../backends/list.h"
#include "../support/backend_alone.h"
#include "../support/pitched.h"
#include "../support/heap_store.h"
#include "../support/private_backend.h"
#include "fake_cuda_find.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

FAULTY_HOST(faulty_host, ha_backend_host)
FAULTY_BACKEND(faulty_sim, ha_backend_sim, "faulty_sim", faulty_sim_fill, &faulty_sim_pinned_ops)
FAULTY_BACKEND(faulty_private, private_backend, "faulty_private", NULL, NULL)

enum { MANY = 4, EACH = 500 }; /* threads, and what each of them does */

/* What a subject has, and a test needs. */
enum {
    QUEUES = 1,        /* it is a device */
    FUNCTIONS = 2,     /* its queues run functions of the host */
    ANOTHER = 4,       /* there is a second device, */
    APART = 8,         /* which it does not reach */
    LIMITS = 16,       /* its memory can be made small */
    FILLS = 32,        /* it fills memory, */
    ANY_FILLS = 64,    /* with values of any size */
    PIECES = 128,      /* it copies pieces */
    NO_PIECES = 256,   /* or says, behind the fault injection, that it does not */
    FAULTS = 512,      /* calls fail on demand */
    HUGE_PAGES = 1024, /* large blocks begin on a huge page */
    SIM_LEDGER = 2048, /* what is handed out is in faulty_sim_ledger */
    DEVICE = QUEUES | ANOTHER | APART | LIMITS,
    SIM = DEVICE | FUNCTIONS | FILLS | ANY_FILLS | PIECES,
    CUDA = DEVICE | PIECES,
    MANAGED = (CUDA | FUNCTIONS) & ~LIMITS /* it is never full: pages leave for the host */
};

typedef struct subject {
    const char *name;
    const ha_backend *backend;
    unsigned has;
    ha_sim_options options; /* where there is a simulated device inside */
    const char *fake;       /* a CUDA device of the fake driver: its options */
    ha_cuda_memory memory;  /* there */
} subject;

/* The fake CUDA driver; NULL: it is not here. */
static const fake_cuda *fake_driver;

/* A test of one subject; the one that runs, if any. */
typedef struct running_test {
    subject *subject;
    const char *name;
} running_test;
static const running_test *running_now;

/* At the end of the program. cmocka goes on with the next test after a crash or a failed check, but only
 * in the thread that runs the tests: in any other one it leaves the program without a word. */
static void tell_who_left(void) {
    if (running_now == NULL) return;
    print_error(
        "[  FAILED  ] %s\nERROR: the program ends in this test: a thread that the backend has "
        "made has crashed, or a check has failed there. Is the argument of a function not what "
        "was enqueued, is an address not one that it can touch?\n",
        running_now->name);
}

/* The backend under test, its first device, and two queues there. */
static const ha_backend *backend;
static const ha_memory_ops *memory_ops;
static const ha_queue_ops *ops;
static void *device, *memory, *queue, *queue2;
static unsigned has; /* what the subject has */

/* Nothing of earlier tests is left in the driver. */
static int set_cuda(const subject *s, size_t capacity) {
    ha_cuda_settings settings;
    ha_option_text wrong;
    ha_cuda_options options = {.memory = s->memory};
    char fake_options[80];
    if (!ha_cuda_settings_from(getenv("HARRAY_CUDA"), &settings, &wrong)) return 0;
    options.library = settings.library;
    snprintf(fake_options, sizeof fake_options, "%speers=0,capacity=%zu", s->fake, capacity);
    fake_driver->reset();
    fake_driver->configure(fake_options);
    ha_cuda_shared.tried = 0; /* cuInit reads the options */
    return ha_cuda_set_options(&options) == HA_OK;
}

/* A backend that closes no devices has opened them for good: each is opened once. */
static ha_status open_device(int number, void **opened, void **its_memory) {
    static struct {
        const ha_backend *backend;
        void *device, *memory;
    } kept[2];
    if (kept[number].backend != backend || backend->close != NULL) {
        const ha_status status = backend->open(number, opened, its_memory);
        if (status != HA_OK) return status;
        kept[number].backend = backend;
        kept[number].device = *opened;
        kept[number].memory = *its_memory;
    }
    *opened = kept[number].device;
    *its_memory = kept[number].memory;
    return HA_OK;
}

static void close_device(void *opened) {
    if (backend->close != NULL) backend->close(opened);
}

/* The only store, whose pieces fit nothing. */
static heap_store heap;
static int add_store(size_t capacity) {
    const ha_store is = heap_store_of(&heap, capacity, 5000);
    int number = 0;
    memset(&heap, 0, sizeof heap);
    return ha_store_add(&is, &number) == HA_OK && number == 0;
}

static int open_with(subject *s, size_t capacity) {
    if (s->backend == &ha_backend_store && !add_store(capacity)) return 1;
    if (s->fake != NULL && !set_cuda(s, capacity)) return 1;
    s->options.capacity = capacity;
    private_capacity = capacity;
    backend = s->backend;
    memory_ops = backend->memory;
    ops = backend->queue;
    has = s->has;
    device = memory = queue = queue2 = NULL;
    if (ops == NULL) return 0;
    const ha_file_options file = {.directory = "/tmp", .capacity = capacity};
    return ha_sim_set_options(&s->options) != HA_OK || ha_file_set_options(&file) != HA_OK ||
           open_device(0, &device, &memory) != HA_OK || ops->create(device, &queue) != HA_OK ||
           ops->create(device, &queue2) != HA_OK;
}

static int begin(const running_test *test, size_t capacity) {
    running_now = test;
    return open_with(test->subject, capacity);
}

static int open_usual(void **state) {
    return begin((const running_test *)*state, (size_t)64 << 20);
}

static int open_small(void **state) { return begin((const running_test *)*state, (size_t)1 << 20); }

static int is_empty(faulty_ledger *ledger) {
    faulty_holdings held = faulty_held(ledger);
    return held.blocks == 0 && held.bytes == 0 && held.queues == 0 && held.devices == 0;
}

static int is_fake_empty(void) {
    fake_cuda_statistics left = fake_driver->statistics(), none = {0};
    left.peer_copies = left.staged_copies = 0;
    return memcmp(&left, &none, sizeof none) == 0;
}

/* A device that is not closed may keep records. */
static int close_subject(const subject *s) {
    if (ops != NULL) {
        ops->drain(queue);
        ops->drain(queue2);
        ops->destroy(queue);
        ops->destroy(queue2);
        close_device(device);
    }
    if (s->fake != NULL && !is_fake_empty()) return 1;
    if (s->backend == &ha_backend_store && !heap_store_is_clean(&heap)) return 1;
    if (faulty_records() != 0 && (ops == NULL || backend->close != NULL)) {
        print_error("%ld blocks of HARRAY_MALLOC are left\n", faulty_records());
        return 1;
    }
    return !is_empty(&faulty_host_ledger) || !is_empty(&faulty_sim_ledger) ||
           !is_empty(&faulty_private_ledger);
}

static int end(void **state) {
    const int failed = close_subject(((const running_test *)*state)->subject);
    running_now = NULL;
    return failed;
}

/* ---- what the tests do over and over -------------------------------------------------------- */

static void *take(size_t bytes) {
    void *block = NULL;
    SUCCEEDS(memory_ops->allocate(memory, bytes, &block));
    assert_non_null(block);
    return block;
}

static void give(void *block, size_t bytes) { memory_ops->release(memory, block, bytes); }

/* Between the host and the memory under test, waiting. */
static void move(void *to, const void *from, size_t bytes) {
    if (ops == NULL) {
        memcpy(to, from, bytes);
        return;
    }
    SUCCEEDS(ops->copy(queue, to, from, bytes));
    ops->drain(queue);
}

static void *at(void *block, size_t offset) { return (void *)((uintptr_t)block + offset); }

static void finish(void *on) {
    ha_event event;
    SUCCEEDS(ops->record(on, &event));
    SUCCEEDS(ops->finish(&event));
    if (ops->forget != NULL) ops->forget(&event);
}

#endif
