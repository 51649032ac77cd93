/* Memory of the simulated device: the host cannot touch it, and its allocator loses nothing. */
#include "../support/sim_alone.h"

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

/* ---- pinned memory, and what a pointer is --------------------------------------------------- */

static const ha_memory_ops *const pinned_ops = &ha_sim_pinned_ops;

static void expect_kind(const void *pointer, ha_memory_kind expected) {
    ha_memory_kind kind = HA_MEMORY_MANAGED;
    assert_true(memory_ops->knows(memory, pointer, &kind));
    assert_int_equal(kind, expected);
}

static void expect_unknown(const void *pointer) {
    ha_memory_kind kind = HA_MEMORY_MANAGED;
    assert_false(memory_ops->knows(memory, pointer, &kind));
    assert_int_equal(kind, HA_MEMORY_MANAGED);
}

TEST(pinned_memory_is_the_hosts) {
    char *first, *second, number = 0;
    void *block, *place;
    SUCCEEDS(memory_ops->allocate(memory, 64, &block));
    SUCCEEDS(pinned_ops->allocate(memory, 100, &place));
    first = (char *)place;
    SUCCEEDS(pinned_ops->allocate(memory, 28, &place));
    second = (char *)place;
    assert_int_equal((uintptr_t)first % 64, 0);
    assert_int_equal((uintptr_t)second % 64, 0);
    memset(first, 1, 100);
    memset(second, 2, 28);
    assert_int_equal(first[99], 1);
    SUCCEEDS(ops->copy(queue, block, second, 1));
    SUCCEEDS(ops->copy(queue, first, block, 1));
    SUCCEEDS(ops->copy(queue, &number, first, 1));
    ops->drain(queue);
    assert_int_equal(number, 2);
    pinned_ops->release(memory, first, 100);
    pinned_ops->release(memory, second, 28);
    memory_ops->release(memory, block, 64);
}

TEST(pointers_are_known) {
    const ha_sim_device *opened = (ha_sim_device *)device;
    const uintptr_t first = opened->here.first, bytes = opened->here.bytes;
    void *block, *place, *other, *memory2;
    SUCCEEDS(ha_sim_open(1, &other, &memory2));
    SUCCEEDS(memory_ops->allocate(memory, 64, &block));
    expect_unknown(NULL);
    expect_unknown(&first);
    expect_kind(block, HA_MEMORY_DEVICE);
    expect_kind((void *)(first + bytes - 1), HA_MEMORY_DEVICE);
    expect_unknown((void *)(first - 1));
    expect_unknown((void *)(first + bytes));
    SUCCEEDS(pinned_ops->allocate(memory, 64, &place));
    expect_kind(place, HA_MEMORY_PINNED);
    expect_kind((char *)place + 63, HA_MEMORY_PINNED);
    expect_unknown((char *)place - 1);
    expect_unknown((char *)place + opened->options.capacity);
    pinned_ops->release(memory, place, 64);
    SUCCEEDS(pinned_ops->allocate(memory2, 64, &place));
    expect_unknown(place); /* another device's */
    pinned_ops->release(memory2, place, 64);
    memory_ops->release(memory, block, 64);
    ha_sim_close(other);
}

/* As large as the device's own. */
TEST(pinned_memory_can_be_full) {
    void *all, *one = &one;
    SUCCEEDS(pinned_ops->allocate(memory, 16 << 10, &all));
    assert_int_equal(pinned_ops->allocate(memory, 1, &one), HA_ERR_MEMORY);
    assert_ptr_equal(one, &one);
    memset(all, 3, 16 << 10);
    pinned_ops->release(memory, all, 16 << 10);
    SUCCEEDS(pinned_ops->allocate(memory, 1, &one));
    pinned_ops->release(memory, one, 1);
}

TEST(pinned_memory_that_cannot_be_made) {
    void *block = &block;
    long records = faulty_records();
    refused_mmap = 0;
    assert_int_equal(pinned_ops->allocate(memory, 64, &block), HA_ERR_MEMORY);
    faulty_arm(0, 1);
    assert_int_equal(pinned_ops->allocate(memory, 64, &block), HA_ERR_MEMORY);
    assert_int_equal(faulty_disarm(), 1);
    assert_ptr_equal(block, &block);
    assert_int_equal(faulty_records(), records);
    SUCCEEDS(pinned_ops->allocate(memory, 64, &block));
    pinned_ops->release(memory, block, 64);
}

TEST(closing_unmaps_pinned_memory) {
    void *other, *memory2, *block;
    SUCCEEDS(ha_sim_open(1, &other, &memory2));
    assert_null(((ha_sim_device *)other)->pinned.mapping); /* nobody has asked */
    SUCCEEDS(pinned_ops->allocate(memory2, 100, &block));
    assert_true(is_mapped(block));
    pinned_ops->release(memory2, block, 100);
    ha_sim_close(other);
    assert_false(is_mapped(block));
}

/* ---- the allocator, against a model that marks each unit of 64 bytes
 * -------------------------- */

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
    const ha_arena *arena = &((ha_sim_device *)memory)->arena;
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
    uint64_t total, unused;
    SUCCEEDS(memory_ops->capacity(memory, &total, &unused));
    assert_int_equal(total, 16384);
    assert_int_equal(unused, 384);
    memory_ops->release(memory, block, 16000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        USUAL(the_host_cannot_touch_it),
        USUAL(closing_unmaps),
        USUAL(large_blocks_go_back_to_the_system),
        USUAL(neighbours_of_large_blocks_keep_their_bytes),
        USUAL(pinned_memory_is_the_hosts),
        USUAL(pointers_are_known),
        SMALL(pinned_memory_can_be_full),
        USUAL(pinned_memory_that_cannot_be_made),
        USUAL(closing_unmaps_pinned_memory),
        SMALL(the_allocator_agrees_with_a_model),
        SMALL(the_allocator_survives_a_lack_of_records),
        SMALL(a_full_memory_says_so),
    };
    pthread_sigmask(SIG_SETMASK, NULL, &usual_signals);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
