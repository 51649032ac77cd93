/* What the simulated device alone promises: memory that the host cannot touch, an allocator that
 * loses nothing, queues that can be held, peers, and options. What every backend must do is in
 * test_backend.c. After each test everything must have been given back, to the last record. */
#include "faulty_backend.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

/* Calls of the system that fail on demand: the first mmap() is number 0. */
static int refused_mmap = -1, refused_thread;
#define mmap(...) (refused_mmap-- == 0 ? (errno = ENOMEM, MAP_FAILED) : mmap(__VA_ARGS__))
#define pthread_create(...) (refused_thread != 0 ? refused_thread : pthread_create(__VA_ARGS__))

#include "../backends/host.h"
#include "../backends/sim.h"
#include "backend_alone.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const ha_memory_ops *const memory_ops = &ha_sim_memory_ops;
static const ha_queue_ops *const ops = &ha_sim_queue_ops;
static void *device, *memory, *queue, *queue2;
static sigset_t usual_signals; /* blocked in the main thread */

static int open_with(const ha_sim_options *options) {
    return ha_sim_set_options(options) != HA_OK || ha_sim_open(0, &device, &memory) != HA_OK ||
           ops->create(device, &queue) != HA_OK || ops->create(device, &queue2) != HA_OK;
}

static int open_usual(HA_UNUSED void **state) { return open_with(NULL); }

static int open_small(HA_UNUSED void **state) {
    const ha_sim_options options = {.capacity = 16 << 10};
    return open_with(&options);
}

static int open_peers(HA_UNUSED void **state) {
    const ha_sim_options options = {.peers = 1};
    return open_with(&options);
}

static int close_all(HA_UNUSED void **state) {
    ops->destroy(queue);
    ops->destroy(queue2);
    ha_sim_close(device);
    return faulty_records() != 0;
}

static int expect_nothing_left(HA_UNUSED void **state) { return faulty_records() != 0; }

/* ---- memory --------------------------------------------------------------------------------- */

/* Ends by SIGSEGV, unless something is wrong. */
static void touch_as_child(volatile char *block) {
    const struct rlimit none = {0, 0};
    int ends[2];
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGSEGV, SIG_DFL);
    if (pipe(ends) != 0) _exit(1);
    if (write(ends[1], (const void *)(uintptr_t)block, 8) != -1 || errno != EFAULT) _exit(2);
    *block = 1;
    _exit(3);
}

TEST(the_host_cannot_touch_it) {
    void *block;
    int status = 0;
    SUCCEEDS(memory_ops->allocate(memory, 4096, &block));
    pid_t child = fork();
    if (child == 0) touch_as_child((volatile char *)block);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
    memory_ops->release(memory, block, 4096);
}

/* Whether any page there is mapped. */
static int is_mapped(void *page) {
    unsigned char resident;
    return mincore(page, 1, &resident) == 0 || errno != ENOMEM;
}

TEST(closing_unmaps) {
    void *other, *memory2, *block, *data;
    SUCCEEDS(ha_sim_open(1, &other, &memory2));
    SUCCEEDS(memory_ops->allocate(memory2, 100, &block));
    data = ha_here_(&((ha_sim_device *)other)->here, block);
    assert_true(is_mapped(block) && is_mapped(data));
    memory_ops->release(memory2, block, 100);
    ha_sim_close(other);
    assert_false(is_mapped(block) || is_mapped(data));
}

/* Pages that were given back are read as zeros. */
TEST(large_blocks_go_back_to_the_system) {
    size_t bytes = (size_t)8 << 20;
    void *block, *again;
    char value = 'x';
    SUCCEEDS(memory_ops->allocate(memory, bytes, &block));
    SUCCEEDS(ops->fill(queue, block, "x", 1, bytes));
    ops->drain(queue);
    memory_ops->release(memory, block, bytes);
    SUCCEEDS(memory_ops->allocate(memory, bytes, &again));
    assert_ptr_equal(again, block);
    SUCCEEDS(ops->copy(queue, &value, (char *)((uintptr_t)again + bytes / 2), 1));
    ops->drain(queue);
    assert_int_equal(value, 0);
    memory_ops->release(memory, again, bytes);
}

/* The pages at its ends belong to its neighbours, too. */
TEST(neighbours_of_large_blocks_keep_their_bytes) {
    size_t bytes = ((size_t)5 << 20) + 128;
    void *before, *block, *behind;
    char values[2] = "";
    SUCCEEDS(memory_ops->allocate(memory, 64, &before));
    SUCCEEDS(memory_ops->allocate(memory, bytes, &block));
    SUCCEEDS(memory_ops->allocate(memory, 64, &behind));
    SUCCEEDS(ops->fill(queue, before, "a", 1, 64));
    SUCCEEDS(ops->fill(queue, block, "x", 1, bytes));
    SUCCEEDS(ops->fill(queue, behind, "b", 1, 64));
    ops->drain(queue);
    memory_ops->release(memory, block, bytes);
    SUCCEEDS(ops->copy(queue, &values[0], before, 1));
    SUCCEEDS(ops->copy(queue, &values[1], behind, 1));
    ops->drain(queue);
    assert_memory_equal(values, "ab", 2);
    memory_ops->release(memory, before, 64);
    memory_ops->release(memory, behind, 64);
}

/* ---- the allocator, against a model that marks each unit of 64 bytes --------------------------
 */

enum { UNITS = 256, BLOCKS = 60 };

typedef struct model {
    char used[UNITS];
    struct {
        void *block;
        size_t bytes;
    } blocks[BLOCKS];
} model;

/* The holes are what the blocks leave: ascending, not empty, not touching. */
static void check_holes(const model *m) {
    const ha_sim_arena *arena = &((ha_sim_device *)memory)->arena;
    size_t live = 0, used = 0, i = 0;
    for (size_t k = 0; k < BLOCKS; k++) live += m->blocks[k].block != NULL;
    for (size_t u = 0; u < UNITS; u++) used += m->used[u] != 0;
    assert_int_equal(arena->blocks, live);
    assert_int_equal(arena->used, used * 64);
    for (size_t u = 0; u < UNITS; u++) {
        if (m->used[u] || (u > 0 && !m->used[u - 1])) continue;
        size_t end = u;
        while (end < UNITS && !m->used[end]) end++;
        assert_true(i < arena->count);
        assert_int_equal(arena->holes[i].first, u * 64);
        assert_int_equal(arena->holes[i++].bytes, (end - u) * 64);
    }
    assert_int_equal(arena->count, i);
    assert_true(arena->room > live);
}

static size_t units_of(size_t bytes) { return (bytes + 63) / 64; }

static size_t unit_at(const void *block) {
    return ((uintptr_t)block - ((ha_sim_device *)memory)->here.first) / 64;
}

/* The unit where the first fitting hole begins; UNITS when there is none. */
static size_t first_fit(const model *m, size_t units) {
    size_t free_units = 0;
    for (size_t i = 0; i < UNITS; i++) {
        free_units = m->used[i] ? 0 : free_units + 1;
        if (free_units == units) return i + 1 - units;
    }
    return UNITS;
}

static void take_in_model(model *m, size_t k, size_t bytes) {
    size_t units = units_of(bytes), expected = first_fit(m, units);
    void *block = NULL;
    ha_status status = memory_ops->allocate(memory, bytes, &block);
    assert_int_equal(status, expected < UNITS ? HA_OK : HA_ERR_MEMORY);
    if (status != HA_OK) return;
    assert_int_equal(unit_at(block), expected);
    memset(m->used + expected, 1, units);
    m->blocks[k].block = block;
    m->blocks[k].bytes = bytes;
}

static void give_in_model(model *m, size_t k) {
    memory_ops->release(memory, m->blocks[k].block, m->blocks[k].bytes);
    memset(m->used + unit_at(m->blocks[k].block), 0, units_of(m->blocks[k].bytes));
    m->blocks[k].block = NULL;
}

TEST(the_allocator_agrees_with_a_model) {
    static model m;
    uint32_t seed = 5;
    void *all;
    memset(&m, 0, sizeof m);
    for (int i = 0; i < 3000; i++) {
        size_t k = next_random(&seed) % BLOCKS, most = next_random(&seed) % 8 == 0 ? 4000 : 300;
        if (m.blocks[k].block != NULL)
            give_in_model(&m, k);
        else
            take_in_model(&m, k, 1 + next_random(&seed) % most);
        check_holes(&m);
    }
    for (size_t k = 0; k < BLOCKS; k++)
        if (m.blocks[k].block != NULL) give_in_model(&m, k);
    SUCCEEDS(memory_ops->allocate(memory, UNITS * 64, &all));
    memory_ops->release(memory, all, UNITS * 64);
}

/* Without memory for its records, the allocator refuses and loses nothing. */
TEST(the_allocator_survives_a_lack_of_records) {
    void *blocks[100], *all;
    faulty_arm(0, 1);
    size_t n = 0;
    while (n < 100 && memory_ops->allocate(memory, 64, &blocks[n]) == HA_OK) n++;
    assert_true(n < 100);
    assert_true(faulty_disarm() > 0);
    for (size_t i = 0; i < n; i += 2) memory_ops->release(memory, blocks[i], 64);
    for (size_t i = 1; i < n; i += 2) memory_ops->release(memory, blocks[i], 64);
    SUCCEEDS(memory_ops->allocate(memory, UNITS * 64, &all));
    memory_ops->release(memory, all, UNITS * 64);
}

TEST(a_full_memory_says_so) {
    void *block, *other;
    SUCCEEDS(memory_ops->allocate(memory, 16000, &block));
    assert_int_equal(memory_ops->allocate(memory, 2000, &other), HA_ERR_MEMORY);
    assert_string_equal(reported.text, "sim:0: no room for 2000 bytes, 16000 of 16384 are in use");
    memory_ops->release(memory, block, 16000);
}

/* ---- holding -------------------------------------------------------------------------------- */

static int calls; /* on a queue, or when it was waited for */

static void count_call(HA_UNUSED const ha_queue *here, HA_UNUSED void *argument) { calls++; }

/* Work on another queue: time for a held queue to do what it must not. */
static void give_others_time(void) {
    for (int i = 0; i < 50; i++) {
        SUCCEEDS(ops->call(queue2, count_call, NULL, 0));
        ops->drain(queue2);
    }
}

TEST(held_queues_run_what_they_are_let) {
    enum { COMMANDS = 5 };
    ha_event events[COMMANDS], other;
    char number = 1, result = 0;
    void *block;
    SUCCEEDS(memory_ops->allocate(memory, 64, &block));
    SUCCEEDS(ops->record(queue2, &other));
    SUCCEEDS(ha_sim_set_credit(queue, 0));
    SUCCEEDS(ops->copy(queue, block, &number, 1));
    SUCCEEDS(ops->record(queue, &events[0]));
    SUCCEEDS(ops->copy(queue, &result, block, 1));
    SUCCEEDS(ops->record(queue, &events[1]));
    SUCCEEDS(ops->fill(queue, block, "x", 1, 64));
    SUCCEEDS(ops->record(queue, &events[2]));
    SUCCEEDS(ops->await(queue, &other)); /* counts, although it has happened */
    SUCCEEDS(ops->record(queue, &events[3]));
    SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    SUCCEEDS(ops->record(queue, &events[4]));
    for (int i = 0; i < COMMANDS; i++) {
        give_others_time();
        assert_int_equal(result, i >= 2);
        for (int j = 0; j < COMMANDS; j++) assert_int_equal(ops->done(&events[j]), j < i);
        if (i == COMMANDS - 1) calls = 0;
        SUCCEEDS(ha_sim_set_credit(queue, 1));
        SUCCEEDS(ops->finish(&events[i]));
    }
    assert_int_equal(calls, 1);
    memory_ops->release(memory, block, 64);
}

TEST(steps_add_up) {
    ha_event event;
    calls = 0;
    SUCCEEDS(ha_sim_set_credit(queue, 0));
    SUCCEEDS(ha_sim_set_credit(queue, 2)); /* before there is anything to run */
    SUCCEEDS(ha_sim_set_credit(queue, 3));
    for (int i = 0; i < 5; i++) SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    ops->drain(queue);
    assert_int_equal(calls, 5);
    SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    SUCCEEDS(ops->record(queue, &event));
    give_others_time();
    assert_int_equal(ops->done(&event), 0);
    SUCCEEDS(ha_sim_set_credit(queue, INT64_MAX));
    SUCCEEDS(ha_sim_set_credit(queue, INT64_MAX));
    SUCCEEDS(ops->finish(&event));
}

TEST(letting_go_runs_all) {
    calls = 0;
    SUCCEEDS(ha_sim_set_credit(queue, 0));
    for (int i = 0; i < 10; i++) SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    SUCCEEDS(ha_sim_set_credit(queue, -1));
    ops->drain(queue);
    assert_int_equal(calls, 10);
    SUCCEEDS(ha_sim_set_credit(queue, 1)); /* not held: it is not stopped by this */
    for (int i = 0; i < 10; i++) SUCCEEDS(ops->call(queue, count_call, NULL, 0));
    ops->drain(queue);
    assert_int_equal(calls, 20);
}

TEST(a_held_queue_can_be_destroyed) {
    void *third;
    SUCCEEDS(ops->create(device, &third));
    SUCCEEDS(ha_sim_set_credit(third, 0));
    ops->destroy(third);
}

TEST(a_queue_waits_for_a_held_one) {
    char number = 7, result = 0;
    void *block;
    ha_event written, read;
    SUCCEEDS(memory_ops->allocate(memory, 64, &block));
    SUCCEEDS(ha_sim_set_credit(queue, 0));
    SUCCEEDS(ops->copy(queue, block, &number, 1));
    SUCCEEDS(ops->record(queue, &written));
    SUCCEEDS(ops->await(queue2, &written));
    SUCCEEDS(ops->copy(queue2, &result, block, 1));
    SUCCEEDS(ops->record(queue2, &read));
    assert_int_equal(ops->done(&read), 0);
    SUCCEEDS(ha_sim_set_credit(queue, 1));
    SUCCEEDS(ops->finish(&read));
    assert_int_equal(result, 7);
    memory_ops->release(memory, block, 64);
}

/* Waiters of different events of one queue: each gets its own. */
static void *finish_event(void *event) {
    return ops->finish((const ha_event *)event) == HA_OK ? event : NULL;
}

TEST(many_wait_for_one_queue) {
    enum { WAITERS = 4 };
    ha_event events[WAITERS];
    pthread_t threads[WAITERS];
    SUCCEEDS(ha_sim_set_credit(queue, 0));
    for (int i = 0; i < WAITERS; i++) {
        SUCCEEDS(ops->call(queue, count_call, NULL, 0));
        SUCCEEDS(ops->record(queue, &events[i]));
    }
    for (int i = WAITERS - 1; i >= 0; i--)
        assert_int_equal(pthread_create(&threads[i], NULL, finish_event, &events[i]), 0);
    for (int i = 0; i < WAITERS; i++) {
        void *result = NULL;
        SUCCEEDS(ha_sim_set_credit(queue, 1));
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, &events[i]);
    }
}

/* ---- the thread ----------------------------------------------------------------------------- */

static void ask_for_signals(HA_UNUSED const ha_queue *here, void *argument) {
    pthread_sigmask(SIG_SETMASK, NULL, *(sigset_t **)argument);
}

TEST(signals_are_left_to_the_program) {
    sigset_t there, *set = &there, here;
    SUCCEEDS(ops->call(queue, ask_for_signals, &set, sizeof set));
    ops->drain(queue);
    pthread_sigmask(SIG_SETMASK, NULL, &here);
    assert_true(sigismember(&there, SIGINT) && sigismember(&there, SIGTERM));
    assert_true(sigismember(&there, SIGCHLD) && sigismember(&there, SIGUSR1));
    assert_false(sigismember(&there, SIGSEGV) || sigismember(&there, SIGFPE));
    for (int i = 1; i < 32; i++)
        assert_int_equal(sigismember(&here, i), sigismember(&usual_signals, i));
}

/* ---- peers and costs ------------------------------------------------------------------------ */

TEST(peers_copy_directly) {
    const ha_place host = {&ha_backend_host, NULL};
    const char text[] = "from one to the other, and back";
    char back[sizeof text] = "";
    void *device2, *memory2, *a, *b;
    SUCCEEDS(ha_sim_open(1, &device2, &memory2));
    const ha_place place = {&ha_backend_sim, memory2};
    assert_true(memory_ops->reaches(memory, &place));
    assert_true(memory_ops->reaches(memory, &host));
    SUCCEEDS(memory_ops->allocate(memory, sizeof text, &a));
    SUCCEEDS(memory_ops->allocate(memory2, sizeof text, &b));
    SUCCEEDS(ops->copy(queue, a, text, sizeof text));
    SUCCEEDS(ops->copy(queue, b, a, sizeof text));
    SUCCEEDS(ops->fill(queue, a, "", 1, sizeof text));
    SUCCEEDS(ops->copy(queue, a, b, sizeof text));
    SUCCEEDS(ops->copy(queue, back, a, sizeof text));
    ops->drain(queue);
    assert_string_equal(back, text);
    memory_ops->release(memory, a, sizeof text);
    memory_ops->release(memory2, b, sizeof text);
    ha_sim_close(device2);
    SUCCEEDS(ops->copy(queue, back, text, sizeof text)); /* must not look for it there any more */
    ops->drain(queue);
}

TEST(others_are_not_reached) {
    const ha_backend other = {.kind = "other"};
    const ha_place place = {&other, NULL}, peer = {&ha_backend_sim, memory};
    assert_false(memory_ops->reaches(memory, &place));
    assert_false(memory_ops->reaches(memory, &peer));
}

static uint64_t cost_with(const ha_sim_options *options) {
    const ha_place host = {&ha_backend_host, NULL};
    void *opened, *its_memory;
    uint64_t cost;
    SUCCEEDS(ha_sim_set_options(options));
    SUCCEEDS(ha_sim_open(0, &opened, &its_memory));
    cost = memory_ops->cost(its_memory, &host);
    ha_sim_close(opened);
    return cost;
}

TEST(costs_come_from_the_bandwidth) {
    assert_int_equal(cost_with(NULL), 100000);
    assert_int_equal(cost_with(&(ha_sim_options){.bandwidth = 1 << 20}), 1000000000);
    assert_int_equal(cost_with(&(ha_sim_options){.bandwidth = 1 << 30}), 976562);
    assert_int_equal(cost_with(&(ha_sim_options){.latency_ns = 5, .bandwidth = 1 << 30}), 976567);
}

/* ---- options -------------------------------------------------------------------------------- */

TEST(texts_are_read) {
    ha_sim_options o;
    ha_sim_text wrong;
    assert_true(ha_sim_parse("devices=4,capacity=256M,bandwidth=12G,latency=5us,delay=100us,seed=7,"
                             "peers=1",
                             &o, &wrong));
    assert_int_equal(o.devices, 4);
    assert_int_equal(o.capacity, 256 << 20);
    assert_int_equal(o.bandwidth, (uint64_t)12 << 30);
    assert_int_equal(o.latency_ns, 5000);
    assert_int_equal(o.delay_ns, 100000);
    assert_int_equal(o.seed, 7);
    assert_int_equal(o.peers, 1);
    assert_true(ha_sim_parse("", &o, &wrong));
    assert_int_equal(o.devices + o.peers, 0);
    assert_int_equal(o.capacity, 0);
    assert_true(ha_sim_parse("latency=17ns,delay=3ms,bandwidth=9K,capacity=100,", &o, &wrong));
    assert_int_equal(o.latency_ns, 17);
    assert_int_equal(o.delay_ns, 3000000);
    assert_int_equal(o.bandwidth, 9 << 10);
    assert_int_equal(o.capacity, 100);
    assert_true(ha_sim_parse("delay=2s,seed=18446744073709551615", &o, &wrong));
    assert_int_equal(o.delay_ns, 2000000000);
    assert_true(o.seed == UINT64_MAX);
}

TEST(bad_texts_are_refused) {
    static const char *const texts[] = {"speed=3",
                                        "device=3",
                                        "devices",
                                        "devices=",
                                        "=3",
                                        ",devices=3",
                                        "devices=3;peers=1",
                                        "devices=-1",
                                        "devices=+1",
                                        "devices=65",
                                        "devices=3x",
                                        "devices=3 ",
                                        "devices=1K",
                                        "capacity=1T",
                                        "capacity=1025G",
                                        "capacity=1.5G",
                                        "capacity=M",
                                        "capacity=18446744073709551616",
                                        "capacity=17592186044416M",
                                        "bandwidth=99999999999G",
                                        "latency=5",
                                        "latency=5m",
                                        "latency=3601s",
                                        "delay=us",
                                        "delay=5us5",
                                        "peers=2",
                                        "seed=0x1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ha_sim_options options = {.devices = 17};
        ha_sim_text wrong = {""};
        assert_false(ha_sim_parse(texts[i], &options, &wrong));
        assert_int_equal(options.devices, 17);
        assert_int_equal(strncmp(wrong.text, "HARRAY_SIM: \"", 13), 0);
    }
}

/* As in a process that has just begun. */
static void begin_with(const char *text) {
    ha_sim_shared.known = 0;
    if (text != NULL)
        setenv("HARRAY_SIM", text, 1);
    else
        unsetenv("HARRAY_SIM");
}

TEST(the_environment_is_asked) {
    void *opened, *its_memory, *block;
    begin_with("devices=5,capacity=1K");
    assert_int_equal(ha_sim_count(), 5);
    SUCCEEDS(ha_sim_open(4, &opened, &its_memory));
    assert_int_equal(memory_ops->allocate(its_memory, 1025, &block), HA_ERR_MEMORY);
    SUCCEEDS(memory_ops->allocate(its_memory, 1024, &block));
    memory_ops->release(its_memory, block, 1024);
    ha_sim_close(opened);
    begin_with(NULL);
    assert_int_equal(ha_sim_count(), 2);
}

TEST(a_bad_environment_fails_to_open) {
    void *opened = &opened, *its_memory = &opened;
    begin_with("capacity=64M,latency=5 us");
    assert_int_equal(ha_sim_count(), 2);
    assert_int_equal(ha_sim_open(0, &opened, &its_memory), HA_ERR_BACKEND);
    assert_ptr_equal(opened, &opened);
    assert_string_equal(reported.text, "HARRAY_SIM: \"latency=5 us\": latency is a number with ns, "
                                       "us, ms or s; up to an hour");
    begin_with("colour=red");
    assert_int_equal(ha_sim_open(0, &opened, &its_memory), HA_ERR_BACKEND);
    assert_string_equal(reported.text,
                        "HARRAY_SIM: \"colour=red\": unknown key; there are devices, "
                        "capacity, bandwidth, latency, delay, seed, peers");
    SUCCEEDS(ha_sim_set_options(NULL)); /* a call outweighs the environment */
    SUCCEEDS(ha_sim_open(0, &opened, &its_memory));
    ha_sim_close(opened);
    begin_with(NULL);
}

TEST(options_have_ranges) {
    static const ha_sim_options bad[] = {{.devices = -1},
                                         {.devices = 65},
                                         {.capacity = ((size_t)1 << 40) + 1},
                                         {.latency_ns = (uint64_t)3601 * 1000000000},
                                         {.delay_ns = UINT64_MAX}};
    const ha_sim_options good = {.devices = 64,
                                 .capacity = (size_t)1 << 40,
                                 .bandwidth = UINT64_MAX,
                                 .latency_ns = (uint64_t)3600 * 1000000000,
                                 .seed = UINT64_MAX,
                                 .peers = -1};
    SUCCEEDS(ha_sim_set_options(&good));
    assert_int_equal(ha_sim_count(), 64);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(ha_sim_set_options(&bad[i]), HA_ERR_ARGUMENT);
    assert_int_equal(ha_sim_count(), 64);
    SUCCEEDS(ha_sim_set_options(NULL));
    assert_int_equal(ha_sim_count(), 2);
}

TEST(options_stay_while_a_device_is_open) {
    const ha_sim_options options = {.devices = 3};
    void *opened, *its_memory;
    SUCCEEDS(ha_sim_set_options(NULL));
    SUCCEEDS(ha_sim_open(1, &opened, &its_memory));
    assert_int_equal(ha_sim_set_options(&options), HA_ERR_STATE);
    assert_int_equal(ha_sim_count(), 2);
    ha_sim_close(opened);
    SUCCEEDS(ha_sim_set_options(&options));
    assert_int_equal(ha_sim_count(), 3);
}

/* ---- failing -------------------------------------------------------------------------------- */

/* Opens, uses and closes a device. Gives the first error. */
static ha_status use_all(void) {
    void *opened, *its_memory, *its_queue, *block;
    ha_event event;
    ha_status s = ha_sim_open(0, &opened, &its_memory);
    if (s != HA_OK) return s;
    s = ops->create(opened, &its_queue);
    if (s == HA_OK) {
        s = memory_ops->allocate(its_memory, 64, &block);
        if (s == HA_OK) {
            s = ops->fill(its_queue, block, "x", 1, 64);
            if (s == HA_OK) s = ops->copy(its_queue, block, "y", 1);
            if (s == HA_OK) s = ops->call(its_queue, count_call, NULL, 0);
            if (s == HA_OK) s = ops->record(its_queue, &event);
            if (s == HA_OK) s = ops->finish(&event);
            ops->drain(its_queue);
            memory_ops->release(its_memory, block, 64);
        }
        ops->destroy(its_queue);
    }
    ha_sim_close(opened);
    return s;
}

TEST(nothing_is_lost_when_records_are_refused) {
    for (int sticky = 0; sticky < 2; sticky++) {
        for (long n = 0;; n++) {
            faulty_arm(n, sticky);
            ha_status status = use_all();
            if (faulty_disarm() == 0) {
                assert_true(n >= 6);
                SUCCEEDS(status);
                break;
            }
            assert_int_equal(status, HA_ERR_MEMORY);
            assert_int_equal(faulty_records(), 0);
        }
    }
}

TEST(a_lack_of_address_space_is_told) {
    void *opened = &opened, *its_memory = &opened;
    for (int i = 0; i < 2; i++) {
        reported.code = 0;
        refused_mmap = i;
        assert_int_equal(ha_sim_open(0, &opened, &its_memory), HA_ERR_MEMORY);
        assert_int_equal(reported.code, ENOMEM);
    }
    assert_ptr_equal(opened, &opened);
    assert_int_equal(faulty_records(), 0);
    SUCCEEDS(ha_sim_open(0, &opened, &its_memory));
    ha_sim_close(opened);
}

TEST(a_lack_of_threads_is_told) {
    void *third = &third;
    long records = faulty_records();
    refused_thread = EAGAIN;
    assert_int_equal(ops->create(device, &third), HA_ERR_BACKEND);
    refused_thread = 0;
    assert_int_equal(reported.code, EAGAIN);
    assert_ptr_equal(third, &third);
    assert_int_equal(faulty_records(), records);
}

#define USUAL(test) cmocka_unit_test_setup_teardown(test, open_usual, close_all)
#define SMALL(test) cmocka_unit_test_setup_teardown(test, open_small, close_all)
#define PEERS(test) cmocka_unit_test_setup_teardown(test, open_peers, close_all)
#define CLOSED(test) cmocka_unit_test_setup_teardown(test, NULL, expect_nothing_left)

int main(void) {
    const struct CMUnitTest tests[] = {
        USUAL(the_host_cannot_touch_it),
        USUAL(closing_unmaps),
        USUAL(large_blocks_go_back_to_the_system),
        USUAL(neighbours_of_large_blocks_keep_their_bytes),
        SMALL(the_allocator_agrees_with_a_model),
        SMALL(the_allocator_survives_a_lack_of_records),
        SMALL(a_full_memory_says_so),
        USUAL(held_queues_run_what_they_are_let),
        USUAL(steps_add_up),
        USUAL(letting_go_runs_all),
        USUAL(a_held_queue_can_be_destroyed),
        USUAL(a_queue_waits_for_a_held_one),
        USUAL(many_wait_for_one_queue),
        USUAL(signals_are_left_to_the_program),
        PEERS(peers_copy_directly),
        USUAL(others_are_not_reached),
        CLOSED(costs_come_from_the_bandwidth),
        CLOSED(texts_are_read),
        CLOSED(bad_texts_are_refused),
        CLOSED(the_environment_is_asked),
        CLOSED(a_bad_environment_fails_to_open),
        CLOSED(options_have_ranges),
        CLOSED(options_stay_while_a_device_is_open),
        CLOSED(nothing_is_lost_when_records_are_refused),
        CLOSED(a_lack_of_address_space_is_told),
        USUAL(a_lack_of_threads_is_told),
    };
    pthread_sigmask(SIG_SETMASK, NULL, &usual_signals);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
