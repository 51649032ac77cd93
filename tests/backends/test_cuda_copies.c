/* The CUDA backend: copies in the order of their queue, above all those of pageable memory; fills.
 * Copies of pieces: test_cuda_pieces.c. */
#include "../support/cuda_alone.h"
#include "../support/cuda_waits.h"

/* ---- copies of pageable memory -------------------------------------------------------------- */

/* From the host to the device, by way of a buffer that an earlier copy writes, and back; nothing may
 * wait, for the queue is held. In other pieces each time. */
static void copy_late(size_t bytes) {
    const size_t third = bytes / 3;
    unsigned char *source = (unsigned char *)malloc(bytes), *back = (unsigned char *)malloc(bytes);
    unsigned char *middle = (unsigned char *)calloc(bytes, 1);
    void *first = take(bytes), *second = take(bytes);
    assert_true(source && back && middle);
    number(source, bytes, (unsigned)bytes);
    memset(back, 0, bytes);
    fake->hold(stream_of(queue));
    SUCCEEDS(ops->copy(queue, first, source, bytes));
    SUCCEEDS(ops->copy(queue, middle, first, bytes));
    if (third) SUCCEEDS(ops->copy(queue, second, middle, third));
    SUCCEEDS(ops->copy(queue, (char *)second + third, middle + third, bytes - third));
    SUCCEEDS(ops->copy(queue, back, second, bytes));
    fake->step(stream_of(queue), -1);
    ops->drain(queue);
    assert_memory_equal(middle, source, bytes);
    assert_memory_equal(back, source, bytes);
    give(first, bytes);
    give(second, bytes);
    free(source);
    free(middle);
    free(back);
}

TEST(sources_are_read_in_order) {
    static const size_t sizes[] = {1, 1000, 64 * KI, 64 * KI + 1, 4 * MI, 4 * MI + 1, 21 * MI - 5};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) copy_late(sizes[i]);
    for (size_t i = sizeof sizes / sizeof *sizes; i-- > 0;) copy_late(sizes[i]); /* two lanes now */
}

/* Two threads share the chunks of a queue. Between the first task of a piece and its copy the other one
 * does whatever it can. */
enum { SHARED_BYTES = 100 << 10, SHARED_TURNS = 100 };

typedef struct sharer {
    unsigned char bytes[SHARED_BYTES], back[SHARED_BYTES];
    void *block;
    int wrong;
    pthread_t thread;
} sharer;

static atomic_int chance_given;

static ha_cu_result slow_copy(ha_cu_pointer to, const void *from, size_t bytes,
                              ha_cu_stream stream) {
    static ha_cu_result (*driver)(ha_cu_pointer, const void *, size_t, ha_cu_stream);
    void *found = dlsym(fake_library, "cuMemcpyHtoDAsync_v2");
    memcpy(&driver, &found, sizeof found);
    if (!atomic_exchange(&chance_given, 1)) until_quiet();
    return driver(to, from, bytes, stream);
}

static void *copy_up_and_down(void *argument) {
    sharer *s = (sharer *)argument;
    ha_event event;
    for (int i = 0; i < SHARED_TURNS; i++) {
        memset(s->back, 0, sizeof s->back);
        s->wrong |= ops->copy(queue, s->block, s->bytes, sizeof s->bytes) != HA_OK;
        s->wrong |= ops->copy(queue, s->back, s->block, sizeof s->back) != HA_OK;
        s->wrong |= ops->record(queue, &event) || ops->finish(&event);
        ops->forget(&event);
        s->wrong |= memcmp(s->back, s->bytes, sizeof s->bytes) != 0;
    }
    return NULL;
}

TEST(a_queue_of_two_threads) {
    static sharer s[2];
    hooks.replaced = "cuMemcpyHtoDAsync_v2";
    hooks.by = (void (*)(void))slow_copy;
    atomic_store(&chance_given, 0);
    open_devices();
    for (unsigned i = 0; i < 2; i++) {
        number(s[i].bytes, SHARED_BYTES, 100 * i);
        s[i].block = take(SHARED_BYTES);
        assert_int_equal(pthread_create(&s[i].thread, NULL, copy_up_and_down, &s[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(s[i].thread, NULL), 0);
        assert_false(s[i].wrong);
        give(s[i].block, SHARED_BYTES);
    }
}

/* Whatever the delays. */
TEST(many_pieces) {
    const char *name;
    assert_int_equal(ha_cuda_chunks_take((ha_cuda_queue *)queue, HA_CUDA_LEAST_CHUNK_, &name), 0);
    for (int i = 0; i < 5; i++) copy_late(MI + (size_t)i);
}

TEST(small_sources_of_an_idle_queue) {
    char text[] = "taken at once", back[sizeof text] = "";
    void *block = take(sizeof text);
    ops->drain(queue);
    SUCCEEDS(ops->copy(queue, block, text, sizeof text));
    assert_int_equal(fake->calls("cuLaunchHostFunc"), 0);
    memset(text, 'x',
           sizeof text - 1); /* which the contract forbids: this shows that it was taken */
    SUCCEEDS(ops->copy(queue, back, block, sizeof text));
    ops->drain(queue);
    assert_string_equal(back, "taken at once");
    give(block, sizeof text);
}

/* By a task, also between pinned memories: the driver would let the caller wait. */
TEST(copies_on_the_host) {
    char text[] = "text", back[sizeof text] = "";
    void *a, *b;
    SUCCEEDS(ha_cuda_pinned_ops.allocate(device, sizeof text, &a));
    SUCCEEDS(ha_cuda_pinned_ops.allocate(device, sizeof text, &b));
    fake->hold(stream_of(queue));
    SUCCEEDS(ops->copy(queue, a, text, sizeof text));
    SUCCEEDS(ops->copy(queue, b, a, sizeof text));
    SUCCEEDS(ops->copy(queue, back, b, sizeof text));
    fake->step(stream_of(queue), -1);
    ops->drain(queue);
    assert_string_equal(back, text);
    ha_cuda_pinned_ops.release(device, a, sizeof text);
    ha_cuda_pinned_ops.release(device, b, sizeof text);
}

/* A driver that gives pinned memory in small blocks only. */
static size_t most_pinned;

static ha_cu_result limited_alloc(void **pointer, size_t bytes, unsigned flags) {
    static ha_cu_result (*driver)(void **, size_t, unsigned);
    void *found = dlsym(fake_library, "cuMemHostAlloc");
    memcpy(&driver, &found, sizeof found);
    return bytes > most_pinned ? HA_CU_OUT_OF_MEMORY : driver(pointer, bytes, flags);
}

TEST(chunks_get_smaller) {
    enum { BYTES = 3 << 20 };
    static unsigned char bytes[BYTES], back[BYTES];
    hooks.replaced = "cuMemHostAlloc";
    hooks.by = (void (*)(void))limited_alloc;
    open_devices();
    void *block = take(BYTES);
    number(bytes, BYTES, 1);
    most_pinned = 64 * KI - 1;
    FAILS(HA_ERR_MEMORY, ops->copy(queue, block, bytes, BYTES));
    TELLS("cuMemHostAlloc: CUDA_ERROR_OUT_OF_MEMORY");
    most_pinned = MI + 17;
    SUCCEEDS(ops->copy(queue, block, bytes, BYTES));
    SUCCEEDS(ops->copy(queue, back, block, BYTES));
    ops->drain(queue);
    assert_int_equal(((ha_cuda_queue *)queue)->lanes.bytes, MI);
    assert_memory_equal(back, bytes, BYTES);
    give(block, BYTES);
}

/* The first chunk can be had, the second one cannot: neither is kept. */
TEST(one_chunk_is_not_enough) {
    static char bytes[5 << 20];
    void *block = take(sizeof bytes);
    fake->fail_call("cuMemHostAlloc", 2, HA_CU_OUT_OF_MEMORY, 1);
    FAILS(HA_ERR_MEMORY, ops->copy(queue, block, bytes, sizeof bytes));
    fake->fail_never();
    assert_int_equal(fake->statistics().pinned, 0);
    SUCCEEDS(ops->copy(queue, block, bytes, sizeof bytes));
    ops->drain(queue);
    give(block, sizeof bytes);
}

/* Each call of the driver fails in turn; then the copy succeeds, and the queue is as before. */
static void fail_copies(void *to, const void *from, size_t bytes) {
    uint64_t n = 0;
    ha_status status;
    do {
        fake->fail_call(NULL, ++n, HA_CU_INVALID_VALUE, 0);
        status = ops->copy(queue, to, from, bytes);
        fake->fail_never();
        ops->drain(queue);
        assert_true(status == HA_OK || status == HA_ERR_BACKEND);
    } while (n < 60);
    SUCCEEDS(ops->copy(queue, to, from, bytes));
    ops->drain(queue);
}

TEST(calls_fail_in_copies) {
    enum { BYTES = 9 << 20 };
    static unsigned char bytes[BYTES], back[BYTES];
    void *block = take(BYTES);
    number(bytes, BYTES, 1);
    fail_copies(block, bytes, BYTES);
    fail_copies(back, block, BYTES);
    assert_memory_equal(back, bytes, BYTES);
    fail_copies(block, bytes, 100);
    fail_copies(back, block, 100);
    give(block, BYTES);
}

/* Nothing of it happens any more when the failure is told. */
TEST(a_copy_that_failed_is_over) {
    enum { BYTES = 3 << 20 };
    static unsigned char back[BYTES];
    void *block = take(BYTES);
    SUCCEEDS(ops->fill(queue, block, "x", 1, BYTES));
    fake->fail_call("cuMemcpyDtoHAsync_v2", 4, HA_CU_INVALID_VALUE, 0);
    begin_waiting_for(stream_of(queue));
    FAILS(HA_ERR_BACKEND, ops->copy(queue, back, block, BYTES));
    end_waiting();
    memset(back, 'y', BYTES);
    ops->drain(queue);
    for (size_t i = 0; i < BYTES; i++) assert_int_equal(back[i], 'y');
    give(block, BYTES);
}

/* The second lane is held, until it is waited for. */
typedef struct holding {
    ha_cu_stream side;
    uint64_t begun; /* calls before the copy */
    atomic_int waited, returned;
} holding;

static int is_waited_for(const holding *h) {
    for (uint64_t i = h->begun; i < fake->calls(NULL); i++) {
        const fake_cuda_call call = fake->call(i);
        if (call.stream == h->side && !strcmp(call.function, "cuStreamSynchronize")) return 1;
    }
    return 0;
}

static void *let_go(void *argument) {
    holding *h = (holding *)argument;
    while (!atomic_load(&h->returned) && !atomic_load(&h->waited)) {
        atomic_store(&h->waited, is_waited_for(h));
        sched_yield();
    }
    fake->step(h->side, -1);
    return NULL;
}

TEST(the_second_lane_is_over_too) {
    enum { BYTES = 3 << 20 };
    static unsigned char bytes[BYTES];
    holding h = {.begun = 0};
    pthread_t thread;
    void *block = take(BYTES);
    SUCCEEDS(ops->copy(queue, block, bytes, BYTES));
    ops->drain(queue);
    h.side = ((ha_cuda_queue *)queue)->lanes.side;
    h.begun = fake->calls(NULL);
    fake->hold(h.side);
    fake->fail_call("cuMemcpyDtoHAsync_v2", 4, HA_CU_INVALID_VALUE, 0);
    assert_int_equal(pthread_create(&thread, NULL, let_go, &h), 0);
    FAILS(HA_ERR_BACKEND, ops->copy(queue, bytes, block, BYTES));
    atomic_store(&h.returned, 1);
    pthread_join(thread, NULL);
    assert_true(atomic_load(&h.waited));
    give(block, BYTES);
}

/* Also when all of it that was enqueued is the first half of one piece. */
TEST(half_a_piece_is_over) {
    enum { BYTES = 100 << 10 };
    static char bytes[BYTES];
    void *block = take(BYTES);
    const struct {
        const char *function;
        int up, enqueued;
    } failing[] = {
        {"cuLaunchHostFunc", 1, 0},
        {"cuMemcpyHtoDAsync_v2", 1, 1},
        {"cuMemcpyDtoHAsync_v2", 0, 0},
        {"cuLaunchHostFunc", 0, 1},
    };
    for (size_t i = 0; i < sizeof failing / sizeof *failing; i++) {
        const uint64_t drained = fake->calls("cuStreamSynchronize");
        void *to = failing[i].up ? block : (void *)bytes, *from = failing[i].up ? bytes : block;
        fake->fail_call(failing[i].function, 1, HA_CU_INVALID_VALUE, 0);
        FAILS(HA_ERR_BACKEND, ops->copy(queue, to, from, BYTES));
        assert_int_equal(fake->calls("cuStreamSynchronize") > drained, failing[i].enqueued);
        ops->drain(queue);
    }
    give(block, BYTES);
}

/* The driver takes all or nothing of it pinned: what is between is copied, too. */
TEST(memory_that_is_pinned_in_part) {
    enum { PART = 50 << 10, BYTES = 3 * PART };
    static unsigned char bytes[BYTES], back[BYTES];
    static const size_t pinned[][2] = {{0, 1}, {1, 2}, {2, 3}, {0, 2}, {1, 3}, {0, 3}};
    void *block = take(BYTES);
    number(bytes, BYTES, 3);
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        for (size_t size = 10; size < PART; size += PART - 20) { /* small ones, and others */
            const size_t first = pinned[i][0] * size, last = pinned[i][1] * size;
            memset(back, 0, BYTES);
            fake->pin(bytes + first, last - first);
            fake->pin(back + first, last - first);
            SUCCEEDS(ops->fill(queue, block, "x", 1, BYTES));
            ops->drain(queue);
            SUCCEEDS(ops->copy(queue, block, bytes, 3 * size));
            SUCCEEDS(ops->copy(queue, back, block, 3 * size));
            ops->drain(queue);
            assert_memory_equal(back, bytes, 3 * size);
            fake->pin(bytes + first, 0);
            fake->pin(back + first, 0);
        }
    }
    fake->pin(bytes, PART); /* with a gap */
    fake->pin(bytes + 2 * PART, PART);
    SUCCEEDS(ops->copy(queue, block, bytes, BYTES));
    SUCCEEDS(ops->copy(queue, back, block, BYTES));
    ops->drain(queue);
    assert_memory_equal(back, bytes, BYTES);
    fake->pin(bytes, 0);
    fake->pin(bytes + 2 * PART, 0);
    give(block, BYTES);
}

/* Records, too: then nothing is enqueued. */
TEST(records_are_missing_in_copies) {
    enum { BYTES = 9 << 20 };
    static unsigned char bytes[BYTES];
    void *block = take(BYTES);
    SUCCEEDS(ops->copy(queue, block, bytes, BYTES));
    ops->drain(queue);
    for (long n = 0; n < 3; n++) {
        const uint64_t before = fake->calls("cuLaunchHostFunc");
        faulty_arm(n, 0);
        FAILS(HA_ERR_MEMORY, ops->copy(queue, block, bytes, BYTES));
        assert_int_equal(faulty_disarm(), 1);
        assert_int_equal(fake->calls("cuLaunchHostFunc"), before);
    }
    give(block, BYTES);
}

/* ---- fills ---------------------------------------------------------------------------------- */

TEST(fills) {
    const double one = 1, zero = 0, odd = 0x1.23456789abcdep9;
    const uint16_t two[] = {0x1234, 0x1234, 0x1234};
    double back[10];
    static double local[10];
    void *block = take(sizeof back), *behind = (char *)block + 2;
    SUCCEEDS(ops->fill(queue, block, &zero, sizeof zero, 10));
    SUCCEEDS(ops->fill(queue, behind, two, sizeof two, 3));
    FAILS(HA_ERR_UNSUPPORTED, ops->fill(queue, behind, "abcd", 4, 1));
    FAILS(HA_ERR_UNSUPPORTED, ops->fill(queue, block, &one, sizeof one, 10));
    FAILS(HA_ERR_UNSUPPORTED, ops->fill(queue, block, &odd, sizeof odd, 10));
    FAILS(HA_ERR_UNSUPPORTED, ops->fill(queue, local, &zero, sizeof zero, 10));
    SUCCEEDS(ops->fill(queue, (char *)block + 40, "abcdabcd", 8, 2));
    SUCCEEDS(ops->copy(queue, back, block, sizeof back));
    ops->drain(queue);
    assert_memory_equal(back, "\0\0\x34\x12\x34\x12", 6);
    assert_memory_equal((char *)back + 18, "\x34\x12\0\0\0\0\0\0", 8);
    assert_memory_equal((char *)back + 40, "abcdabcdabcdabcd", 16);
    give(block, sizeof back);
}

/* ---- all of it ------------------------------------------------------------------------------ */

int main(void) {
    const struct CMUnitTest tests[] = {
        ON("", sources_are_read_in_order),
        ON("managed", sources_are_read_in_order),
        ON("delay=50us", many_pieces),
        CLOSED("", a_queue_of_two_threads),
        ON("", small_sources_of_an_idle_queue),
        ON("", copies_on_the_host),
        CLOSED("", chunks_get_smaller),
        ON("slab", one_chunk_is_not_enough),
        ON("", calls_fail_in_copies),
        ON("", a_copy_that_failed_is_over),
        ON("", the_second_lane_is_over_too),
        ON("", half_a_piece_is_over),
        ON("", memory_that_is_pinned_in_part),
        ON("", records_are_missing_in_copies),
        ON("", fills),
    };
    return find_fake() ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}
