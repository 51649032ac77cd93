/* What every backend must do, by the manual in backends/backend.h. Each test is run over the host (its
 * memory), the simulated device, fast and slow, the private backend, both behind the fault injection
 * with nothing armed, a file, and the CUDA backend where the fake driver is.
 *
 * Of one kind alone with HARRAY_TEST_KIND=KIND. That may be any kind of backends/list.h, or the one
 * whose header the program is compiled with (see test_kind.h): then the tests of what is optional
 * are run where the backend has it. A kind that is always to be tested is one more row of
 * `subjects`.
 *
 * After each test everything must have been given back, to the last record. */
#include "../support/faulty_backend.h"

#include "../support/test_kind.h" /* before the private backend: it may bring a device of the same names */

#include "../../backends/list.h"
#include "../support/backend_alone.h"
#include "../support/pitched.h"
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

static subject subjects[] = {
    {"host", &ha_backend_host, .has = HUGE_PAGES},
    {"faulty host", &faulty_host, .has = 0},
    {"sim", &ha_backend_sim, .has = SIM},
    {"slow sim", &ha_backend_sim, .has = SIM,
     .options = {.latency_ns = 100, .delay_ns = 2000, .bandwidth = (uint64_t)8 << 30, .seed = 7}},
    {"private", &private_backend, .has = DEVICE | FUNCTIONS},
    {"file", &ha_backend_file, .has = QUEUES | LIMITS | FILLS | ANY_FILLS | PIECES},
    {"faulty sim", &faulty_sim, .has = SIM | FAULTS | SIM_LEDGER},
    {"faulty private", &faulty_private, .has = DEVICE | FUNCTIONS | FAULTS | NO_PIECES},
#ifndef HARRAY_NO_CUDA
    {"cuda", &ha_backend_cuda, .has = CUDA, .fake = ""},
    {"async", &ha_backend_cuda, .has = CUDA, .fake = "", .memory = HA_CUDA_ASYNC},
    {"managed", &ha_backend_cuda, .has = MANAGED, .fake = "", .memory = HA_CUDA_MANAGED},
    {"slow managed", &ha_backend_cuda, .has = MANAGED, .fake = "delay=20us,",
     .memory = HA_CUDA_MANAGED},
#endif
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

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

static int open_with(subject *s, size_t capacity) {
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

/* ---- memory --------------------------------------------------------------------------------- */

TEST(tables_say_what_they_are) {
    assert_int_equal(backend->bytes, sizeof(ha_backend));
    assert_int_equal(backend->version, HA_BACKEND_VERSION);
    assert_int_equal(memory_ops->bytes, sizeof(ha_memory_ops));
    assert_int_equal(memory_ops->version, HA_BACKEND_VERSION);
    assert_true(backend->count() > 0);
    if (ops == NULL) return;
    assert_int_equal(ops->bytes, sizeof(ha_queue_ops));
    assert_int_equal(ops->version, HA_BACKEND_VERSION);
}

TEST(blocks_are_aligned_and_apart) {
    static const size_t sizes[] = {1, 63, 64, 65, 4095, 4096, (2u << 20) - 1, 2u << 20, 3u << 20};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    void *blocks[SIZES];
    for (int i = 0; i < SIZES; i++) {
        blocks[i] = take(sizes[i]);
        assert_int_equal((uintptr_t)blocks[i] % 64, 0);
        for (int j = 0; j < i; j++) {
            uintptr_t a = (uintptr_t)blocks[i], b = (uintptr_t)blocks[j];
            assert_true(a + sizes[i] <= b || b + sizes[j] <= a);
        }
    }
    for (int i = 0; i < SIZES; i++) give(blocks[i], sizes[i]);
}

TEST(absurd_sizes_are_refused) {
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 63, (size_t)PTRDIFF_MAX + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *block = &block;
        assert_int_equal(memory_ops->allocate(memory, sizes[i], &block), HA_ERR_MEMORY);
        assert_ptr_equal(block, &block);
    }
}

TEST(a_full_memory_refuses) {
    size_t half = (size_t)1 << 19;
    void *block = take(2 * half), *other = &other;
    assert_int_equal(memory_ops->allocate(memory, 1, &other), HA_ERR_MEMORY);
    assert_ptr_equal(other, &other);
    give(block, 2 * half);
    assert_int_equal(memory_ops->allocate(memory, 2 * half + 1, &other), HA_ERR_MEMORY);
    block = take(half);
    other = take(half);
    give(block, half);
    block = take(half);
    give(other, half);
    give(block, half);
}

/* Blocks come and go at random; what was written into one stays there until it is released. */
TEST(blocks_keep_their_bytes) {
    enum { LIVE = 16, STEPS = 300, MOST = 5000 };
    static unsigned char bytes[MOST];
    struct {
        void *block;
        size_t size;
        int value;
    } live[LIVE] = {{NULL, 0, 0}};
    uint32_t seed = 1;
    for (int i = 0; i < STEPS; i++) {
        size_t k = next_random(&seed) % LIVE;
        if (live[k].block != NULL) {
            move(bytes, live[k].block, live[k].size);
            for (size_t j = 0; j < live[k].size; j++) assert_int_equal(bytes[j], live[k].value);
            give(live[k].block, live[k].size);
            live[k].block = NULL;
            continue;
        }
        live[k].size = 1 + next_random(&seed) % MOST;
        live[k].value = i % 256;
        live[k].block = take(live[k].size);
        memset(bytes, live[k].value, live[k].size);
        move(live[k].block, bytes, live[k].size);
    }
    for (int k = 0; k < LIVE; k++)
        if (live[k].block != NULL) give(live[k].block, live[k].size);
}

typedef struct churn {
    pthread_t thread;
    uint32_t seed;
    int failed;
} churn;

static void *allocate_and_release(void *argument) {
    churn *c = (churn *)argument;
    for (int i = 0; i < EACH; i++) {
        size_t bytes = 1 + next_random(&c->seed) % 3000;
        void *block;
        if (memory_ops->allocate(memory, bytes, &block) != HA_OK)
            c->failed = 1;
        else
            memory_ops->release(memory, block, bytes);
    }
    return NULL;
}

TEST(threads_share_a_memory) {
    churn churns[MANY] = {{.seed = 0}};
    for (uint32_t i = 0; i < MANY; i++) {
        churns[i].seed = i;
        assert_int_equal(pthread_create(&churns[i].thread, NULL, allocate_and_release, &churns[i]),
                         0);
    }
    for (int i = 0; i < MANY; i++) {
        pthread_join(churns[i].thread, NULL);
        assert_false(churns[i].failed);
    }
}

/* Of this process, in bytes; 0 where the system does not tell it. */
static uint64_t address_space(void) {
    uint64_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%" SCNu64, &pages) != 1) pages = 0;
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A power of two that the memory has room for: as large as possible, but no larger than `most`. */
static size_t large_size(size_t most) {
    size_t bytes = (size_t)1 << 20;
    void *block = take(bytes);
    give(block, bytes);
    while (bytes < most && memory_ops->allocate(memory, 2 * bytes, &block) == HA_OK) {
        bytes *= 2;
        give(block, bytes);
    }
    return bytes;
}

/* One large block after the other. Where nothing is given back, a memory that has no room for twice as
 * much is full after a few of them; one that is a part of this process's makes its address space larger
 * each time; and for any other one they are more than devices have. A byte of each is written, since some
 * drivers provide no memory before that. */
TEST(released_memory_can_be_had_again) {
    const size_t most = (size_t)128 << 20, size = large_size(most);
    const uint64_t more_than_devices_have = (uint64_t)512 << 30, before = address_space();
    const char byte = 1;
    uint64_t rounds = 8;
    for (uint64_t i = 0; i < rounds; i++) {
        void *block = NULL;
        if (memory_ops->allocate(memory, size, &block) != HA_OK)
            fail_msg(
                "release gives nothing back: %zu bytes were allocated and released %d times, then "
                "there was no room for them",
                size, (int)i + 1);
        if (i == 0 && size == most && address_space() < before + size / 2)
            rounds = more_than_devices_have / size;
        move(at(block, size - 1), &byte, 1);
        give(block, size);
    }
    if (address_space() > before + rounds * size / 4 * 3)
        fail_msg(
            "release gives nothing back: %zu bytes were allocated and released %d times, and the "
            "process has become larger by that",
            size, (int)rounds);
}

TEST(devices_reach_the_host) {
    ha_place place = {&ha_backend_host, NULL};
    assert_true(memory_ops->reaches(memory, &place));
    place.backend = &faulty_host;
    assert_true(memory_ops->reaches(memory, &place));
    if (memory_ops->cost != NULL) assert_true(memory_ops->cost(memory, &place) > 0);
}

TEST(devices_do_not_reach_each_other) {
    void *device2, *memory2;
    SUCCEEDS(open_device(1, &device2, &memory2));
    const ha_place place = {backend, memory2};
    assert_false(memory_ops->reaches(memory, &place));
    close_device(device2);
}

/* ---- copies --------------------------------------------------------------------------------- */

TEST(copies_move_their_bytes_and_no_others) {
    enum { GUARD = 64, BYTES = 1000, ALL = BYTES + 2 * GUARD };
    unsigned char before[ALL], bytes[BYTES], back[ALL];
    void *block = take(ALL);
    memset(before, 0xEE, sizeof before);
    for (size_t size = 1; size <= BYTES; size = 3 * size + 1) {
        for (size_t i = 0; i < size; i++) bytes[i] = (unsigned char)(i + size);
        memset(back, 0xDD, sizeof back);
        move(block, before, ALL);
        move(at(block, GUARD), bytes, size);
        move(back + 1, at(block, 1), ALL - 2);
        assert_int_equal(back[0], 0xDD);
        assert_int_equal(back[ALL - 1], 0xDD);
        assert_memory_equal(back + 1, before, GUARD - 1);
        assert_memory_equal(back + GUARD, bytes, size);
        assert_memory_equal(back + GUARD + size, before, ALL - 1 - GUARD - size);
    }
    give(block, ALL);
}

TEST(copies_inside_the_device) {
    const char text[] = "from here to there, and then to the other end";
    char back[sizeof text] = "";
    void *a = take(sizeof text), *b = take(4 * sizeof text);
    SUCCEEDS(ops->copy(queue, a, text, sizeof text));
    SUCCEEDS(ops->copy(queue, b, a, sizeof text));
    SUCCEEDS(ops->copy(queue, at(b, 3 * sizeof text), b, sizeof text));
    SUCCEEDS(ops->copy(queue, back, at(b, 3 * sizeof text), sizeof text));
    ops->drain(queue);
    assert_string_equal(back, text);
    give(a, sizeof text);
    give(b, 4 * sizeof text);
}

/* Large enough for a slow copy to be made in pieces. */
TEST(large_copies) {
    size_t n = (size_t)1 << 18, bytes = n * sizeof(uint32_t);
    uint32_t *numbers = (uint32_t *)malloc(bytes), *back = (uint32_t *)calloc(n, sizeof *back);
    void *block = take(bytes);
    assert_true(numbers != NULL && back != NULL);
    for (size_t i = 0; i < n; i++) numbers[i] = (uint32_t)i;
    move(block, numbers, bytes);
    move(back, block, bytes);
    assert_memory_equal(back, numbers, bytes);
    give(block, bytes);
    free(numbers);
    free(back);
}

/* ---- copies of pieces ----------------------------------------------------------------------- */

/* Rows and planes, and the distances of one side and the other: packed, with gaps between rows, between
 * planes, everywhere. */
static const ha_strided_copy shapes[] = {
    PITCHED(1, 1, 1, 1, 1, 1, 1),
    PITCHED(40, 1, 1, 50, 50, 40, 40),
    PITCHED(3, 7, 1, 3, 21, 10, 70),
    PITCHED(8, 9, 1, 24, 216, 8, 72),
    PITCHED(5, 4, 3, 5, 20, 5, 20),
    PITCHED(5, 4, 3, 7, 28, 5, 25),
    PITCHED(4, 1, 6, 4, 12, 8, 32),
    PITCHED(4, 6, 5, 12, 96, 16, 112),
    PITCHED(16, 3, 4, 32, 96, 48, 192),
    PITCHED(100, 5, 2, 128, 640, 100, 1000),
    PITCHED(700, 3, 3, 701, 2103, 800, 2400),
};
enum { SHAPES = sizeof shapes / sizeof *shapes, MOST_PIECES = 8000, SHIFT = 11 };

/* What a copy has to do. */
static void expect_pieces(unsigned char *to, const unsigned char *from, const ha_strided_copy *p) {
    for (size_t z = 0; z < p->count[1]; z++)
        for (size_t y = 0; y < p->count[0]; y++)
            for (size_t x = 0; x < p->bytes; x++)
                to[z * p->to_step[1] + y * p->to_step[0] + x] =
                    from[z * p->from_step[1] + y * p->from_step[0] + x];
}

static void number(unsigned char *bytes, size_t n, unsigned first) {
    for (size_t i = 0; i < n; i++) bytes[i] = (unsigned char)(first + i * 7 + i / 250);
}

/* From a to b, on the host or on the device, and then what is there. */
static void move_pieces(int up, int down, const ha_strided_copy *p) {
    static unsigned char source[MOST_PIECES], is[MOST_PIECES], should[MOST_PIECES];
    void *a = up ? NULL : take(sizeof source), *b = down ? NULL : take(sizeof is);
    number(source, sizeof source, 1);
    number(is, sizeof is, 100);
    memcpy(should, is, sizeof is);
    expect_pieces(should + SHIFT, source + SHIFT, p);
    if (!up) move(a, source, sizeof source);
    if (!down) move(b, is, sizeof is);
    SUCCEEDS(copy_pitched(ops, queue, at(down ? is : b, SHIFT), at(up ? source : a, SHIFT), p));
    ops->drain(queue);
    if (!down) move(is, b, sizeof is);
    assert_memory_equal(is, should, sizeof is);
    if (a != NULL) give(a, sizeof source);
    if (b != NULL) give(b, sizeof is);
}

TEST(pieces_move_their_bytes_and_no_others) {
    for (size_t i = 0; i < SHAPES; i++) {
        const ha_strided_copy p = shapes[i], q = pitched_turned(&p);
        move_pieces(1, 0, &p);
        move_pieces(1, 0, &q);
        move_pieces(0, 1, &p);
        move_pieces(0, 1, &q);
        move_pieces(0, 0, &p);
        move_pieces(0, 0, &q);
    }
}

/* The halves of rows change places, on several ways, and nothing is waited for: something in front
 * writes each source, something behind reads each target. */
TEST(pieces_are_copied_in_order) {
    enum { SIDE = 30, BYTES = SIDE * SIDE };
    const ha_strided_copy half = PITCHED(SIDE / 2, SIDE, 1, SIDE, BYTES, SIDE, BYTES);
    unsigned char source[BYTES], middle[BYTES], back[BYTES];
    void *a = take(BYTES), *b = take(BYTES);
    number(source, BYTES, 5);
    memset(middle, 0, BYTES);
    memset(back, 0, BYTES);
    SUCCEEDS(ops->copy(queue, a, source, BYTES));
    SUCCEEDS(copy_pitched(ops, queue, b, at(a, SIDE / 2), &half));
    SUCCEEDS(copy_pitched(ops, queue, at(b, SIDE / 2), a, &half));
    SUCCEEDS(copy_pitched(ops, queue, a, at(b, SIDE / 2), &half));
    SUCCEEDS(copy_pitched(ops, queue, middle, b, &half));
    SUCCEEDS(copy_pitched(ops, queue, middle + SIDE / 2, a, &half));
    SUCCEEDS(copy_pitched(ops, queue, a, middle, &half));
    SUCCEEDS(copy_pitched(ops, queue, at(a, SIDE / 2), middle + SIDE / 2, &half));
    SUCCEEDS(ops->copy(queue, back, a, BYTES));
    ops->drain(queue);
    for (size_t y = 0; y < SIDE; y++) {
        assert_memory_equal(back + y * SIDE, source + y * SIDE + SIDE / 2, SIDE / 2);
        assert_memory_equal(back + y * SIDE + SIDE / 2, source + y * SIDE, SIDE / 2);
    }
    give(a, BYTES);
    give(b, BYTES);
}

/* Large enough to be made in several parts, which begin and end anywhere: long rows, many short ones,
 * many planes. */
TEST(large_pieces) {
    static const ha_strided_copy large[] = {
        PITCHED(300001, 3, 1, 300007, 900021, 300001, 900003),
        PITCHED(8, 100000, 1, 16, 1600000, 8, 800000),
        PITCHED(700, 10, 130, 710, 7100, 700, 7700),
    };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        const ha_strided_copy *p = &large[i];
        const size_t from_bytes = p->count[1] * p->from_step[1],
                     to_bytes = p->count[1] * p->to_step[1];
        unsigned char *source = (unsigned char *)malloc(from_bytes);
        unsigned char *is = (unsigned char *)calloc(from_bytes, 1);
        unsigned char *should = (unsigned char *)calloc(from_bytes, 1);
        const ha_strided_copy q = pitched_turned(p),
                              same = PITCHED(p->bytes, p->count[0], p->count[1], p->from_step[0],
                                             p->from_step[1], p->from_step[0], p->from_step[1]);
        void *block = take(to_bytes);
        assert_true(source && is && should);
        number(source, from_bytes, (unsigned)i);
        SUCCEEDS(copy_pitched(ops, queue, block, source, p));
        SUCCEEDS(copy_pitched(ops, queue, is, block, &q));
        ops->drain(queue);
        expect_pieces(should, source, &same);
        assert_memory_equal(is, should, from_bytes);
        give(block, to_bytes);
        free(source);
        free(is);
        free(should);
    }
}

/* By a backend without the slot that is wrapped. */
TEST(pieces_can_be_refused) {
    char text[] = "text";
    void *block = take(sizeof text);
    assert_null(private_backend.queue->copy_strided);
    ha_strided_copy piece = shapes[0];
    piece.to = block, piece.from = text;
    assert_int_equal(ops->copy_strided(queue, &piece, 1), HA_ERR_UNSUPPORTED);
    give(block, sizeof text);
}

/* ---- fills ---------------------------------------------------------------------------------- */

TEST(fills_repeat_a_value) {
    static const size_t sizes[] = {1, 3, 8, 100}, counts[] = {1, 2, 1000, 1500};
    enum { GUARD = 16, MOST = 150000 };
    static unsigned char bytes[MOST + 2 * GUARD];
    unsigned char value[100];
    void *block = take(sizeof bytes);
    for (size_t i = 0; i < 16; i++) {
        size_t size = sizes[i % 4], count = counts[i / 4];
        memset(bytes, 0xEE, sizeof bytes);
        move(block, bytes, sizeof bytes);
        for (size_t j = 0; j < size; j++) value[j] = (unsigned char)(j + i);
        const ha_status filled = ops->fill(queue, at(block, GUARD), value, size, count);
        if (filled == HA_ERR_UNSUPPORTED && !(has & ANY_FILLS)) continue;
        assert_int_equal(filled, HA_OK);
        memset(value, 0, sizeof value); /* it was copied */
        move(bytes, block, sizeof bytes);
        for (size_t j = 0; j < GUARD; j++) assert_int_equal(bytes[j], 0xEE);
        for (size_t j = 0; j < size * count; j++)
            assert_int_equal(bytes[GUARD + j], (unsigned char)(j % size + i));
        for (size_t j = 0; j < GUARD; j++) assert_int_equal(bytes[GUARD + size * count + j], 0xEE);
    }
    give(block, sizeof bytes);
}

/* ---- functions ------------------------------------------------------------------------------ */

typedef struct large_argument {
    char text[5000];
    max_align_t aligned;
} large_argument;

/* What the function was given; whether that was aligned, and ha_queue_run() ran it. No pointer of the
 * argument is followed: it may be a wrong one. */
static large_argument given;
static int given_aligned, given_running;

static void take_argument(HA_UNUSED const ha_queue *here, void *argument) {
    given_aligned = (uintptr_t)argument % _Alignof(max_align_t) == 0;
    given_running = running;
    memcpy(&given, argument, sizeof given);
}

static pthread_t tester;
static atomic_int overwritten; /* the argument, by the caller */

/* Keeps the queue busy, unless that keeps the caller from going on: then only for a second. */
static void wait_for_overwriting(HA_UNUSED const ha_queue *here, HA_UNUSED void *argument) {
    const struct timespec pause = {0, 1000000};
    if (pthread_equal(pthread_self(), tester)) return;
    for (int i = 0; i < 1000 && !atomic_load(&overwritten); i++) nanosleep(&pause, NULL);
}

TEST(arguments_are_copied_when_enqueued) {
    static large_argument large;
    given_running = given_aligned = 0;
    tester = pthread_self();
    atomic_store(&overwritten, 0);
    memset(&given, 0, sizeof given);
    memset(&large, 'x', sizeof large);
    SUCCEEDS(ops->call(queue, wait_for_overwriting, NULL, 0));
    SUCCEEDS(ops->call(queue, take_argument, &large, sizeof large));
    memset(&large, 'y', sizeof large);
    atomic_store(&overwritten, 1);
    finish(queue);
    for (size_t i = 0; i < sizeof given.text; i++) assert_int_equal(given.text[i], 'x');
    assert_true(given_aligned);
    assert_int_equal(given_running, 1);
}

typedef struct numbers {
    int *data;
    size_t size;
    int factor, term;
} numbers;

static void change(const ha_queue *here, void *argument) {
    const numbers *n = (const numbers *)argument;
    int *data = HA_HERE(here, int, n->data);
    for (size_t i = 0; i < n->size; i++) data[i] = n->factor * data[i] + n->term;
}

/* Rounds of copies and functions on the same two blocks, without a wait in between. */
TEST(commands_happen_in_order) {
    enum { ROUNDS = 20, SIZE = 300 };
    static int source[ROUNDS][SIZE], result[ROUNDS][SIZE];
    size_t bytes = sizeof source[0];
    void *a = take(bytes), *b = take(bytes);
    for (int r = 0; r < ROUNDS; r++) {
        numbers add = {(int *)a, SIZE, 1, 5}, twice = {(int *)b, SIZE, 2, 0};
        for (int i = 0; i < SIZE; i++) source[r][i] = 1000 * r + i;
        SUCCEEDS(ops->copy(queue, a, source[r], bytes));
        SUCCEEDS(ops->call(queue, change, &add, sizeof add));
        SUCCEEDS(ops->copy(queue, b, a, bytes));
        SUCCEEDS(ops->call(queue, change, &twice, sizeof twice));
        SUCCEEDS(ops->copy(queue, result[r], b, bytes));
    }
    finish(queue);
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < SIZE; i++) assert_int_equal(result[r][i], 2 * (1000 * r + i + 5));
    give(a, bytes);
    give(b, bytes);
}

static int calls; /* on a queue, or after it was drained */

/* Enqueued without an argument, it has none. */
static void count_call(HA_UNUSED const ha_queue *here, void *argument) {
    calls += argument == NULL;
}

TEST(functions_without_argument) {
    calls = 0;
    for (int i = 0; i < 3; i++) SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    ops->drain(queue);
    assert_int_equal(calls, 3);
}

/* The addresses of the memory under test are translated from the first to the last, and no
 * others.*/
TEST(functions_find_the_data) {
    size_t bytes = 4096;
    numbers last = {NULL, 1, 0, 77};
    int on_host = 0, back = 0;
    void *block = take(bytes);
    last.data = (int *)at(block, bytes - sizeof(int));
    SUCCEEDS(ops->copy(queue, last.data, &on_host, sizeof on_host));
    SUCCEEDS(ops->call(queue, change, &last, sizeof last));
    SUCCEEDS(ops->copy(queue, &back, last.data, sizeof back));
    last.data = &on_host;
    SUCCEEDS(ops->call(queue, change, &last, sizeof last));
    ops->drain(queue);
    assert_int_equal(back, 77);
    assert_int_equal(on_host, 77);
    give(block, bytes);
}

/* ---- events --------------------------------------------------------------------------------- */

TEST(an_event_happens_with_what_was_before_it) {
    calls = 0;
    ha_event none, first, second;
    SUCCEEDS(ops->record(queue, &none));
    SUCCEEDS(ops->finish(&none));
    assert_int_equal(ops->done(&none), 1);
    SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    SUCCEEDS(ops->record(queue, &first));
    SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    SUCCEEDS(ops->record(queue, &second));
    SUCCEEDS(ops->finish(&second));
    assert_int_equal(calls, 2);
    assert_int_equal(ops->done(&first), 1);
    assert_int_equal(ops->done(&second), 1);
    SUCCEEDS(ops->finish(&first));
    ha_event *events[] = {&none, &first, &second};
    for (int i = 0; i < 3; i++)
        if (ops->forget != NULL) ops->forget(events[i]);
}

/* Nobody waits: asking is enough. */
TEST(an_event_is_done_after_a_while) {
    calls = 0;
    ha_event event;
    for (int i = 0; i < 3; i++) SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    SUCCEEDS(ops->record(queue, &event));
    while (ops->done(&event) == 0) sched_yield();
    assert_int_equal(ops->done(&event), 1);
    if (ops->forget != NULL) ops->forget(&event);
    assert_int_equal(calls, 3);
}

typedef struct entry {
    int *log, *length, value;
} entry;

static void append(HA_UNUSED const ha_queue *here, void *argument) {
    const entry *e = (const entry *)argument;
    e->log[(*e->length)++] = e->value;
}

static void append_behind(void *on, void *behind, entry e) {
    ha_event event;
    SUCCEEDS(ops->record(behind, &event));
    SUCCEEDS(ops->await(on, &event));
    if (ops->forget != NULL) ops->forget(&event);
    SUCCEEDS(ops->call(on, append, &e, sizeof e));
}

/* Two queues take turns, and nothing but await keeps them in order. */
TEST(await_orders_queues) {
    enum { TURNS = 200 };
    int log[2 * TURNS], length = 0;
    for (int i = 0; i < TURNS; i++) {
        append_behind(queue, queue2, (entry){log, &length, 2 * i});
        append_behind(queue2, queue, (entry){log, &length, 2 * i + 1});
    }
    finish(queue2);
    assert_int_equal(length, 2 * TURNS);
    for (int i = 0; i < 2 * TURNS; i++) assert_int_equal(log[i], i);
}

TEST(await_orders_devices) {
    void *device2, *memory2, *there;
    int log[40], length = 0;
    SUCCEEDS(open_device(1, &device2, &memory2));
    SUCCEEDS(ops->create(device2, &there));
    for (int i = 0; i < 20; i++) {
        append_behind(queue, there, (entry){log, &length, 2 * i});
        append_behind(there, queue, (entry){log, &length, 2 * i + 1});
    }
    ops->drain(there);
    for (int i = 0; i < 40; i++) assert_int_equal(log[i], i);
    ops->drain(queue);
    ops->destroy(there);
    close_device(device2);
}

/* What is waited for may be destroyed before the wait comes to its turn. */
TEST(await_survives_the_other_queue) {
    calls = 0;
    void *third;
    ha_event event;
    SUCCEEDS(ops->create(device, &third));
    for (int i = 0; i < 50; i++) SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    SUCCEEDS(ops->record(third, &event));
    SUCCEEDS(ops->await(queue, &event));
    if (ops->forget != NULL) ops->forget(&event);
    ops->drain(third);
    ops->destroy(third);
    finish(queue);
    assert_int_equal(calls, 50);
}

TEST(drain_waits_for_everything) {
    calls = 0;
    ops->drain(queue);
    for (int i = 0; i < 100; i++) SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    ops->drain(queue);
    assert_int_equal(calls, 100);
}

/* ---- threads -------------------------------------------------------------------------------- */

typedef struct producer {
    pthread_t thread;
    int number, failed;
    int *log, *length;
} producer;

static atomic_int inside, not_alone; /* functions of the queue that threads share */

static void append_alone(const ha_queue *here, void *argument) {
    if (atomic_fetch_add(&inside, 1) != 0) atomic_store(&not_alone, 1);
    append(here, argument);
    sched_yield(); /* for others to come in between, if they can */
    atomic_fetch_sub(&inside, 1);
}

/* Every now and then it waits for what it has enqueued so far. */
static void *produce(void *argument) {
    producer *p = (producer *)argument;
    for (int i = 0; i < EACH; i++) {
        entry e = {p->log, p->length, p->number * EACH + i};
        ha_event event;
        if (ops->call(queue, append_alone, &e, sizeof e) != HA_OK) p->failed = 1;
        if (i % 100 != 0) continue;
        if (ops->record(queue, &event) != HA_OK || ops->finish(&event) != HA_OK) p->failed = 1;
        if (ops->done(&event) != 1) p->failed = 1;
        if (ops->forget != NULL) ops->forget(&event);
    }
    return NULL;
}

/* The functions themselves take no lock: the queue runs one at a time. */
TEST(threads_share_a_queue) {
    static int log[MANY * EACH];
    int length = 0, next[MANY] = {0};
    atomic_store(&not_alone, 0);
    producer producers[MANY] = {{.number = 0}};
    for (int i = 0; i < MANY; i++) {
        producers[i] = (producer){.number = i, .log = log, .length = &length};
        assert_int_equal(pthread_create(&producers[i].thread, NULL, produce, &producers[i]), 0);
    }
    for (int i = 0; i < MANY; i++) {
        pthread_join(producers[i].thread, NULL);
        assert_false(producers[i].failed);
    }
    ops->drain(queue);
    assert_false(atomic_load(&not_alone));
    assert_int_equal(length, MANY * EACH);
    for (int i = 0; i < MANY * EACH; i++) /* each thread's own work is in its order */
        assert_int_equal(log[i] % EACH, next[log[i] / EACH]++);
}

/* ---- the host, and the fault injection ------------------------------------------------------- */

/* Within its first page, each at another sector of disks. */
TEST(large_host_blocks_begin_on_a_huge_page) {
    size_t bytes = (size_t)3 << 20;
    void *blocks[3];
    for (int i = 0; i < 3; i++) {
        blocks[i] = take(bytes);
        size_t place = (uintptr_t)blocks[i] % ((size_t)2 << 20);
        assert_true(place < 4096 && place % 512 == 0);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(place, (uintptr_t)blocks[j] % ((size_t)2 << 20));
    }
    for (int i = 0; i < 3; i++) give(blocks[i], bytes);
}

/* That a backend cannot is no error. */
static ha_status copy_a_piece(void *block, const int *number) {
    const ha_strided_copy two = PITCHED(1, 2, 1, 2, 4, 1, 2);
    if (ops->copy_strided == NULL) return HA_OK;
    ha_status status = copy_pitched(ops, queue, block, number, &two);
    return status != HA_ERR_UNSUPPORTED ? status : HA_OK;
}

/* One of each call that can fail, in a fixed order. Returns how many gave an error. */
static long use_everything(void) {
    int number = 0;
    void *block = NULL, *fresh = NULL;
    ha_event event = {0};
    long errors = memory_ops->allocate(memory, 64, &block) != HA_OK;
    errors += ops->create(device, &fresh) != HA_OK;
    if (block != NULL) errors += ops->copy(queue, block, &number, sizeof number) != HA_OK;
    if (block != NULL) errors += copy_a_piece(block, &number) != HA_OK;
    errors += ops->call(queue, change, &(numbers){NULL, 0, 0, 0}, sizeof(numbers)) != HA_OK;
    if (ops->record(queue, &event) == HA_OK) {
        errors += ops->await(queue2, &event) != HA_OK;
        errors += ops->finish(&event) != HA_OK;
        if (ops->forget != NULL) ops->forget(&event);
    } else {
        errors++;
    }
    ops->drain(queue);
    ops->drain(queue2);
    if (fresh != NULL) ops->destroy(fresh);
    if (block != NULL) give(block, 64);
    return errors;
}

/* Without memory for a record at most one call fails, having done nothing; then all goes on. */
TEST(no_memory_for_records) {
    long n = 0, failed = 1;
    for (; failed > 0; n++) {
        faulty_arm(n, 0);
        const long errors = use_everything();
        failed = faulty_disarm();
        assert_true(errors <= failed);
    }
    assert_int_equal(use_everything(), 0);
}

TEST(each_point_fails_once) {
    long n = 0, points;
    faulty_disarm();
    assert_int_equal(use_everything(), 0);
    points = faulty_points();
    assert_true(points > 7);
    for (;; n++) {
        faulty_arm(n, 0);
        long errors = use_everything();
        if (faulty_disarm() == 0) break;
        assert_int_equal(errors, 1);
        assert_non_null(faulty_last());
    }
    assert_int_equal(n, points);
}

TEST(all_points_fail_from_one_on) {
    faulty_arm(0, 1);
    assert_int_equal(use_everything(), 4); /* without a block and an event, the rest is not tried */
    assert_true(faulty_disarm() >= 4);
    assert_int_equal(use_everything(), 0);
}

TEST(a_failure_says_where) {
    ha_event event;
    faulty_arm(0, 0);
    assert_int_equal(ops->record(queue, &event), HA_ERR_BACKEND);
    assert_int_equal(reported.code, FAULTY_CODE);
    assert_string_equal(faulty_last(), reported.text);
    assert_non_null(strstr(reported.text, ".record"));
    assert_int_equal(faulty_disarm(), 1);
}

TEST(the_ledger_counts) {
    void *block = take(100), *other = take(28);
    faulty_holdings held = faulty_held(&faulty_sim_ledger);
    assert_int_equal(held.blocks, 2);
    assert_int_equal(held.bytes, 128);
    assert_int_equal(held.queues, 2);
    assert_int_equal(held.devices, 1);
    give(block, 100);
    held = faulty_held(&faulty_sim_ledger);
    assert_int_equal(held.blocks, 1);
    assert_int_equal(held.bytes, 28);
    give(other, 28);
}

/* ---- all of it ------------------------------------------------------------------------------ */

typedef struct conformance_test {
    const char *name;
    CMUnitTestFunction test;
    unsigned needs;
} conformance_test;

#define NEEDS(needs, test)                                                                         \
    { #test, test, needs }

static const conformance_test conformance[] = {
    NEEDS(0, tables_say_what_they_are),
    NEEDS(0, blocks_are_aligned_and_apart),
    NEEDS(0, absurd_sizes_are_refused),
    NEEDS(0, blocks_keep_their_bytes),
    NEEDS(0, threads_share_a_memory),
    NEEDS(0, released_memory_can_be_had_again),
    NEEDS(HUGE_PAGES, large_host_blocks_begin_on_a_huge_page),
    NEEDS(LIMITS, a_full_memory_refuses),
    NEEDS(QUEUES, devices_reach_the_host),
    NEEDS(ANOTHER | APART, devices_do_not_reach_each_other),
    NEEDS(QUEUES, copies_move_their_bytes_and_no_others),
    NEEDS(QUEUES, copies_inside_the_device),
    NEEDS(QUEUES, large_copies),
    NEEDS(PIECES, pieces_move_their_bytes_and_no_others),
    NEEDS(PIECES, pieces_are_copied_in_order),
    NEEDS(PIECES, large_pieces),
    NEEDS(NO_PIECES, pieces_can_be_refused),
    NEEDS(FILLS, fills_repeat_a_value),
    NEEDS(FUNCTIONS, arguments_are_copied_when_enqueued),
    NEEDS(FUNCTIONS, commands_happen_in_order),
    NEEDS(FUNCTIONS, functions_without_argument),
    NEEDS(FUNCTIONS, functions_find_the_data),
    NEEDS(FUNCTIONS, an_event_happens_with_what_was_before_it),
    NEEDS(FUNCTIONS, an_event_is_done_after_a_while),
    NEEDS(FUNCTIONS, await_orders_queues),
    NEEDS(FUNCTIONS | ANOTHER, await_orders_devices),
    NEEDS(FUNCTIONS, await_survives_the_other_queue),
    NEEDS(FUNCTIONS, drain_waits_for_everything),
    NEEDS(FUNCTIONS, threads_share_a_queue),
    NEEDS(FUNCTIONS, no_memory_for_records),
    NEEDS(FAULTS, each_point_fails_once),
    NEEDS(FAULTS, all_points_fail_from_one_on),
    NEEDS(FAULTS, a_failure_says_where),
    NEEDS(SIM_LEDGER, the_ledger_counts),
};
enum { TESTS = sizeof conformance / sizeof *conformance };

/* All tests that the subject has something for, as one group. */
static int run_on(subject *s) {
    static char names[TESTS][100];
    static running_test states[TESTS];
    struct CMUnitTest tests[TESTS] = {{.name = NULL}}; /* cmocka leaves those out */
    size_t n = 0;
    for (size_t i = 0; i < TESTS; i++) {
        const conformance_test *c = &conformance[i];
        if ((c->needs & s->has) != c->needs) continue;
        snprintf(names[n], sizeof names[n], "%s: %s", s->name, c->name);
        states[n] = (running_test){s, names[n]};
        tests[n] = (struct CMUnitTest){
            names[n], c->test, c->needs & LIMITS ? open_small : open_usual, end, &states[n]};
        n++;
    }
    return cmocka_run_group_tests_name(s->name, tests, NULL, NULL);
}

/* ---- a kind that is named -------------------------------------------------------------------- */

#define LISTED(backend) &backend,
static const ha_backend *const known[] = {
    HA_BACKENDS(LISTED)
#ifdef HARRAY_TEST_DEVICE
        & HARRAY_TEST_BACKEND,
#endif
};
enum { KNOWN = sizeof known / sizeof *known };

static void do_nothing(HA_UNUSED const ha_queue *here, HA_UNUSED void *argument) {}

/* What its tables have, and what its first device does. */
static unsigned found_in(subject *s) {
    const ha_queue_ops *slots = s->backend->queue;
    if (slots == NULL) return 0;
    unsigned found = QUEUES | (s->backend->count() > 1 ? ANOTHER : 0);
    if (slots->fill != NULL) found |= FILLS;
    if (slots->copy_strided != NULL) found |= PIECES;
    if (open_with(s, (size_t)64 << 20) != 0) return found; /* as each test will say */
    if (ops->call(queue, do_nothing, NULL, 0) == HA_OK) found |= FUNCTIONS;
    (void)close_subject(s);
    return found;
}

static int run_on_named(const char *kind) {
    for (size_t i = 0; i < KNOWN; i++) {
        subject named = {known[i]->kind, known[i], .has = 0};
        if (strcmp(known[i]->kind, kind) != 0) continue;
        if (known[i]->count() > 0) {
            named.has = found_in(&named);
            return run_on(&named);
        }
        print_error("there is no device of kind '%s'\n", kind);
        return 1;
    }
    print_error("there is no kind '%s' in backends/list.h or in this program\n", kind);
    return 1;
}

int main(void) {
    const char *kind = test_kind();
    void *library = fake_cuda_load();
    int failed = 0, ran = 0;
    atexit(tell_who_left);
    if (library != NULL) fake_driver = fake_cuda_of(library);
    for (size_t i = 0; i < SUBJECTS; i++) {
        subject *s = &subjects[i];
        if (s->fake != NULL && fake_driver == NULL) continue;
        if (kind != NULL && strcmp(s->backend->kind, kind) != 0) continue;
        failed += run_on(s);
        ran++;
    }
    return ran > 0 ? failed : run_on_named(kind);
}
