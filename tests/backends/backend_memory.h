/* What a backend's memory must do: blocks, and which memories reach each other. */
#ifndef HARRAY_TESTS_BACKENDS_BACKEND_MEMORY_H
#define HARRAY_TESTS_BACKENDS_BACKEND_MEMORY_H

#include "backend_subject.h"

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

#endif
