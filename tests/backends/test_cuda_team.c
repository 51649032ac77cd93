/* The CUDA backend: threads that share copies of pageable memory. They are led by what the backend
 * finds in place of some functions: a part that one of them copies ends when the test wants it to. */
#include "../support/faulty_backend.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

static void *led_memcpy(void *to, const void *from, size_t bytes);
static void led_wait(void);
static int led_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                      void *argument);
static int led_join(pthread_t thread, void **result);
#define memcpy(to, from, bytes) led_memcpy(to, from, bytes)
#define pthread_cond_wait(condition, lock) (led_wait(), pthread_cond_wait(condition, lock))
#define pthread_create(thread, attributes, run, argument)                                          \
    led_create(thread, attributes, run, argument)
#define pthread_join(thread, result) led_join(thread, result)

#include "../support/cuda_alone.h"
#include "../support/pitched.h"

#undef memcpy
#undef pthread_cond_wait
#undef pthread_create
#undef pthread_join

#include "../support/quiet.h"

#define PART HA_CUDA_TEAM_PART_

/* ---- leading -------------------------------------------------------------------------------- */

static struct {
    atomic_int on;        /* the team gets a part of a copy, and ends it when that is allowed */
    atomic_int inside;    /* parts that the team copies now */
    atomic_int begun;     /* … so far */
    atomic_int open;      /* they may end: from when somebody waits for them, unless … */
    atomic_int by_test;   /* … only the test allows it, or waits */
    atomic_int allowed;   /* threads that the system will make */
    atomic_int made;      /* so far */
    atomic_int joined;    /* so far */
    atomic_int bad_parts; /* that are small, or begin inside a page */
    atomic_int loud;      /* threads with other signals blocked than they should have */
    void *(*_Atomic run)(void *); /* by threads of the team */
    const char
        *beginning; /* of the target of the copy that has the team; NULL: do not look at parts */
} lead;

static _Thread_local int in_team, is_test;
static _Thread_local int waited; /* times */

static void pass_gate(void) {
    atomic_fetch_add(&lead.inside, 1);
    atomic_fetch_add(&lead.begun, 1);
    await_flag(&lead.open);
}

static void *led_memcpy(void *to, const void *from, size_t bytes) {
    const int part = bytes >= PART / 2, led = part && atomic_load(&lead.on);
    if (lead.beginning && to != lead.beginning &&
        ((uintptr_t)to % 4096 != 0 || bytes < PART || bytes >= 2 * PART))
        atomic_fetch_add(&lead.bad_parts, 1);
    if (led && in_team) pass_gate();
    while (led && !in_team && !atomic_load(&lead.begun)) sched_yield();
    memcpy(to, from, bytes);
    if (led && in_team) atomic_fetch_sub(&lead.inside, 1);
    return to;
}

static void led_wait(void) {
    waited++;
    if (!in_team && (is_test || !atomic_load(&lead.by_test))) raise_flag(&lead.open);
}

static void *led_main(void *argument) {
    sigset_t there;
    in_team = 1;
    pthread_sigmask(SIG_SETMASK, NULL, &there);
    if (!sigismember(&there, SIGINT) || !sigismember(&there, SIGCHLD) ||
        sigismember(&there, SIGSEGV))
        atomic_fetch_add(&lead.loud, 1);
    return atomic_load(&lead.run)(argument);
}

static int led_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                      void *argument) {
    int error;
    if (atomic_load(&lead.made) >= atomic_load(&lead.allowed)) return EAGAIN;
    atomic_store(&lead.run, run);
    error = pthread_create(thread, attributes, led_main, argument);
    if (!error) atomic_fetch_add(&lead.made, 1);
    return error;
}

static int led_join(pthread_t thread, void **result) {
    atomic_fetch_add(&lead.joined, 1);
    return pthread_join(thread, result);
}

static int begin_team(void **state) {
    memset(&lead, 0, sizeof lead);
    atomic_store(&lead.allowed, 1000);
    waited = 0;
    is_test = 1;
    copy_threads = 4;
    return begin_open(state);
}

static int end_team(void **state) {
    raise_flag(&lead.open);
    return end(state) || atomic_load(&lead.made) != atomic_load(&lead.joined) ||
           atomic_load(&lead.loud) != 0;
}

static ha_cuda_team *team_of_device(void) { return &((ha_cuda_device *)device)->team; }

/* ---- the team alone ------------------------------------------------------------------------- */

static unsigned char source[24 << 20], target[24 << 20];

static void team_copy(ha_cuda_team *team, void *to, const void *from, size_t bytes) {
    const ha_strided_copy one = {.to = to, .from = from, .bytes = bytes};
    ha_cuda_team_copy(team, &one);
}

/* With as many parts of its own as the copier takes while one is held back. */
static void wait_for_parts(size_t bytes) {
    ha_cuda_team team;
    int inside, fine;
    ha_cuda_team_create(&team, 2);
    assert_ptr_equal(ha_cuda_team_for(&team, HA_CUDA_TEAM_LARGE_), &team);
    memset(target, 0, bytes);
    atomic_store(&lead.begun, 0);
    atomic_store(&lead.open, 0);
    atomic_store(&lead.on, 1);
    team_copy(&team, target, source, bytes);
    inside = atomic_load(&lead.inside);
    fine = !memcmp(target, source, bytes);
    raise_flag(&lead.open);
    ha_cuda_team_destroy(&team);
    assert_int_equal(inside, 0);
    assert_true(fine);
    assert_int_equal(atomic_load(&lead.begun) > 0, 1);
}

TEST(parts_are_waited_for) {
    wait_for_parts(2 * PART);
    wait_for_parts(4 * PART + 1);
    wait_for_parts(9 * PART - 1);
}

/* Cuts are where a page of the target begins; nothing small is left for the end. */
TEST(parts_are_neither_small_nor_askew) {
    static const size_t more[] = {0, 1, 63, 4095, 4096, PART - 1};
    ha_cuda_team *team = ha_cuda_team_for(team_of_device(), HA_CUDA_TEAM_LARGE_);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        const size_t bytes = 4 * MI + more[i];
        unsigned char *to = target + more[i] % 5000;
        memset(target, 0, bytes + 6000);
        lead.beginning = (const char *)to;
        team_copy(team, to, source + i, bytes);
        lead.beginning = NULL;
        assert_memory_equal(to, source + i, bytes);
        assert_int_equal(to[bytes], 0);
        assert_int_equal(atomic_load(&lead.bad_parts), 0);
    }
}

static void *copy_elsewhere(void *team) {
    team_copy((ha_cuda_team *)team, target, source, 2 * PART);
    return NULL;
}

/* Whoever finds it busy copies alone, and does not wait. */
TEST(the_team_has_one_copy_at_a_time) {
    unsigned char *second = target + 4 * PART;
    pthread_t thread;
    ha_cuda_team *team = ha_cuda_team_for(team_of_device(), HA_CUDA_TEAM_LARGE_);
    memset(target, 0, 8 * PART);
    atomic_store(&lead.by_test, 1);
    atomic_store(&lead.on, 1);
    assert_int_equal(pthread_create(&thread, NULL, copy_elsewhere, team), 0);
    while (!atomic_load(&lead.begun)) sched_yield();
    const int before = waited;
    team_copy(team, second, source + PART, 3 * PART);
    const int waits = waited - before, fine = !memcmp(second, source + PART, 3 * PART);
    raise_flag(&lead.open);
    pthread_join(thread, NULL);
    assert_int_equal(waits, 0);
    assert_true(fine);
    assert_memory_equal(target, source, 2 * PART);
}

/* ---- its threads ---------------------------------------------------------------------------- */

static void copy_up(size_t bytes) {
    void *block = take(bytes);
    SUCCEEDS(ops->copy(queue, block, source, bytes));
    ops->drain(queue);
    give(block, bytes);
}

TEST(only_large_copies_have_threads) {
    copy_up(100);
    copy_up(4 * MI - 1);
    assert_int_equal(atomic_load(&lead.made), 0);
    copy_up(4 * MI);
    assert_int_equal(atomic_load(&lead.made), 3);
    copy_up(9 * MI);
    assert_int_equal(atomic_load(&lead.made), 3);
}

static void reopen(int threads) {
    ops->drain(queue);
    ops->destroy(queue);
    ha_cuda_close(device);
    device = queue = NULL;
    copy_threads = threads;
    use("", HA_CUDA_DEVICE, 0);
    open_devices();
}

TEST(one_thread_is_no_team) {
    reopen(1);
    copy_up(9 * MI);
    assert_int_equal(((ha_cuda_queue *)queue)->lanes.bytes, 4 * MI);
    assert_int_equal(atomic_load(&lead.made), 0);
}

/* Half of the processors that the thread may use, and never none. */
TEST(the_usual_number) {
    cpu_set_t all, one;
    int half;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    half = CPU_COUNT(&all) / 2;
    reopen(0);
    assert_int_equal(team_of_device()->size, half < 1 ? 1 : half > 8 ? 8 : half);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    reopen(0);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_int_equal(team_of_device()->size, 1);
}

/* ---- copies of queues ----------------------------------------------------------------------- */

static void there_and_back(size_t bytes, size_t from, size_t to) {
    void *block = take(bytes);
    memset(target, 0, bytes + to + 1);
    SUCCEEDS(ops->copy(queue, block, source + from, bytes));
    SUCCEEDS(ops->copy(queue, target + to, block, bytes));
    ops->drain(queue);
    assert_memory_equal(target + to, source + from, bytes);
    assert_int_equal(target[to + bytes], 0);
    give(block, bytes);
}

TEST(any_size_and_alignment) {
    static const size_t sizes[] = {4 * MI, 4 * MI + 1, 5 * MI - 3, 9 * MI + 123, 21 * MI - 5};
    static const size_t offsets[] = {0, 1, 63, 4095, 4096};
    for (size_t i = 0; i < 5; i++) there_and_back(sizes[i], offsets[i], offsets[4 - i]);
    for (size_t i = 0; i < 5; i++) there_and_back(sizes[1], offsets[4 - i], offsets[i]);
}

/* The team has its part of it, in both directions. */
TEST(queues_use_the_team) {
    void *block = take(5 * MI);
    memset(target, 0, 5 * MI);
    atomic_store(&lead.on, 1);
    SUCCEEDS(ops->copy(queue, block, source, 5 * MI));
    ops->drain(queue);
    atomic_store(&lead.begun, 0);
    SUCCEEDS(ops->copy(queue, target, block, 5 * MI));
    ops->drain(queue);
    assert_true(atomic_load(&lead.begun) > 0);
    assert_int_equal(atomic_load(&lead.inside), 0);
    assert_memory_equal(target, source, 5 * MI);
    give(block, 5 * MI);
}

static void pieces_there_and_back(size_t bytes, size_t rows, size_t row) {
    const ha_strided_copy up = PITCHED(bytes, rows, 1, bytes, bytes * rows, row, row * rows);
    const ha_strided_copy down = PITCHED(bytes, rows, 1, row, row * rows, bytes, bytes * rows);
    void *block = take(bytes * rows);
    memset(target, 't', row * rows);
    SUCCEEDS(copy_pitched(ops, queue, block, source + 3, &up));
    SUCCEEDS(copy_pitched(ops, queue, target + 5, block, &down));
    ops->drain(queue);
    for (size_t y = 0; y < rows; y++) {
        const size_t next = y + 1 < rows ? row - bytes : 0;
        assert_memory_equal(target + 5 + y * row, source + 3 + y * row, bytes);
        for (size_t i = 0; i < next; i++) assert_int_equal(target[5 + y * row + bytes + i], 't');
    }
    give(block, bytes * rows);
}

/* Parts of long rows, and of many short ones. */
TEST(the_team_copies_pieces) {
    pieces_there_and_back(3 * MI + 1, 3, 3 * MI + 77);
    pieces_there_and_back(123, 90001, 130);
    pieces_there_and_back(8, 600000, 24);
    assert_int_equal(atomic_load(&lead.made), 3);
}

/* Fewer of them, none at all; nobody tries again. */
TEST(threads_are_refused) {
    for (int allowed = 0; allowed < 3; allowed++) {
        const int before = atomic_load(&lead.made);
        reopen(4);
        atomic_store(&lead.allowed, before + allowed);
        there_and_back(9 * MI - 1, 3, 5);
        assert_int_equal(atomic_load(&lead.made), before + allowed);
        atomic_store(&lead.allowed, 1000);
        there_and_back(9 * MI + 1, 5, 3);
        assert_int_equal(atomic_load(&lead.made), before + allowed);
    }
}

/* Large enough for a team, and two under way where there are two. */
TEST(batches_for_a_team) {
    static const size_t expected[][2] = {{4, 4}, {16, 8}, {22, 8}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const uint64_t before = fake->calls("cuLaunchHostFunc");
        copy_up(expected[i][0] * MI);
        assert_int_equal(fake->calls("cuLaunchHostFunc") - before, expected[i][1]);
    }
    assert_int_equal(((ha_cuda_queue *)queue)->lanes.bytes, 8 * MI);
}

static void *open_later(HA_UNUSED void *argument) {
    until_quiet(); /* who drains waits */
    raise_flag(&lead.open);
    return NULL;
}

/* The device fails while the team copies: when the queue is drained nobody writes any more. */
TEST(a_device_fails_while_the_team_copies) {
    pthread_t thread;
    void *block = take(9 * MI);
    atomic_store(&lead.by_test, 1);
    atomic_store(&lead.on, 1);
    SUCCEEDS(ops->copy(queue, target, block, 9 * MI));
    while (!atomic_load(&lead.begun)) sched_yield();
    fake->fail_stream(stream_of(queue));
    assert_int_equal(pthread_create(&thread, NULL, open_later, NULL), 0);
    ops->drain(queue);
    assert_int_equal(atomic_load(&lead.inside), 0);
    memset(target, 'y', 9 * MI);
    pthread_join(thread, NULL);
    for (size_t i = 0; i < 9 * MI; i++)
        if (target[i] != 'y') fail_msg("byte %zu was written", i);
    give(block, 9 * MI);
}

/* ---- all of it ------------------------------------------------------------------------------ */

#define TEAM(options, test)                                                                        \
    { #test, test, begin_team, end_team, (void *)(uintptr_t)options }

int main(void) {
    const struct CMUnitTest tests[] = {
        TEAM("", parts_are_waited_for),
        TEAM("", parts_are_neither_small_nor_askew),
        TEAM("", the_team_has_one_copy_at_a_time),
        TEAM("", only_large_copies_have_threads),
        TEAM("", one_thread_is_no_team),
        TEAM("", the_usual_number),
        TEAM("", any_size_and_alignment),
        TEAM("managed", any_size_and_alignment),
        TEAM("delay=50us", any_size_and_alignment),
        TEAM("", queues_use_the_team),
        TEAM("", the_team_copies_pieces),
        TEAM("delay=50us", the_team_copies_pieces),
        TEAM("", threads_are_refused),
        TEAM("", batches_for_a_team),
        TEAM("", a_device_fails_while_the_team_copies),
    };
    number(source, sizeof source, 1);
    return find_fake() ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}
