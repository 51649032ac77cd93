/* The CUDA backend: copies of equally spaced pieces, above all those of pageable memory. */
#define HA_CUDA_MOST_PITCH_ ((size_t)1 << 20) /* as if the driver did not take more */
#include "../support/cuda_alone.h"
#include "../support/cuda_waits.h"
#include "../support/pitched.h"

/* More than any shape needs: what is around them must stay. */
enum { MOST = 12 << 20 };
static unsigned char source[MOST], middle[MOST], back[MOST], should[MOST];

/* On the device they lie behind each other, or with other gaps. */
typedef struct shape {
    size_t bytes, rows, planes;
    size_t row, plane;               /* on the host */
    size_t device_row, device_plane; /* on the device */
} shape;

static const shape shapes[] = {
    {8, 100, 1, 1024, 102400, 8, 800},                  /* a small column */
    {4, 30, 20, 128, 4096, 16, 960},                    /* a small face */
    {24, 1, 70, 1000, 3000, 24, 24},                    /* planes of one row */
    {2000, 1000, 1, 2500, 2500000, 2000, 2000000},      /* batches of many rows */
    {8, 200000, 1, 16, 3200000, 12, 2400000},           /* … of very many */
    {600, 10, 500, 700, 8400, 600, 6000},               /* … of planes */
    {300, 1500, 3, 350, 525350, 310, 465310},           /* … of a part of a plane */
    {700001, 5, 1, 800000, 4000000, 700003, 3500015},   /* rows of several */
    {900000, 2, 2, 2000000, 4000000, 1500000, 3000000}, /* and too far apart for the driver */
    {50, 3, 2, 1200000, 3600000, 1100000, 3300000},     /* small ones, too */
    {50, 3, 2, 1200000, 3600000, 50, 150},
    {5, 7, 9, 5, 35, 5, 35}, /* nothing between them */
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static ha_strided_copy up_of(const shape *s) {
    return (ha_strided_copy)PITCHED(s->bytes, s->rows, s->planes, s->device_row, s->device_plane,
                                    s->row, s->plane);
}

static ha_strided_copy down_of(const shape *s) {
    return (ha_strided_copy)PITCHED(s->bytes, s->rows, s->planes, s->row, s->plane, s->device_row,
                                    s->device_plane);
}

/* The same places on the host, from one buffer to another. */
static void expect_copy(unsigned char *to, const unsigned char *from, const shape *s) {
    for (size_t z = 0; z < s->planes; z++)
        for (size_t y = 0; y < s->rows; y++) {
            const size_t at = z * s->plane + y * s->row;
            memcpy(to + at, from + at, s->bytes);
        }
}

static void *take_for(const shape *s) { return take(s->planes * s->device_plane); }
static void give_for(void *block, const shape *s) { give(block, s->planes * s->device_plane); }

/* ---- in order, without waiting ------------------------------------------------------------- */

/* From the host to the device, by way of a buffer that an earlier copy writes, and back; nothing may
 * wait, for the queue is held. What lies between the pieces stays. */
static void copy_late(const shape *s) {
    const ha_strided_copy up = up_of(s), down = down_of(s);
    void *first = take_for(s), *second = take_for(s);
    number(source, MOST, (unsigned)s->rows);
    memset(middle, 'm', MOST);
    memset(back, 'b', MOST);
    memset(should, 'b', MOST);
    expect_copy(should, source, s);
    fake->hold(stream_of(queue));
    SUCCEEDS(copy_pitched(ops, queue, first, source, &up));
    SUCCEEDS(copy_pitched(ops, queue, middle, first, &down));
    SUCCEEDS(copy_pitched(ops, queue, second, middle, &up));
    SUCCEEDS(copy_pitched(ops, queue, back, second, &down));
    fake->step(stream_of(queue), -1);
    ops->drain(queue);
    assert_memory_equal(back, should, MOST);
    give_for(first, s);
    give_for(second, s);
}

TEST(pieces_are_read_in_order) {
    for (size_t i = 0; i < SHAPES; i++) copy_late(&shapes[i]);
    for (size_t i = SHAPES; i-- > 0;) copy_late(&shapes[i]); /* two lanes now */
}

/* With the smallest chunks, whatever the delays. */
TEST(many_batches) {
    const char *name;
    assert_int_equal(ha_cuda_chunks_take((ha_cuda_queue *)queue, HA_CUDA_LEAST_CHUNK_, &name), 0);
    for (size_t i = 3; i < 9; i++) copy_late(&shapes[i]);
}

/* The gaps on the device stay, too. */
TEST(gaps_on_the_device_stay) {
    for (size_t i = 0; i < SHAPES; i++) {
        const shape *s = &shapes[i];
        const size_t bytes = s->planes * s->device_plane;
        const shape there = {s->bytes, s->rows, s->planes, s->device_row, s->device_plane, 0, 0};
        const ha_strided_copy up = up_of(s),
                              same = PITCHED(s->bytes, s->rows, s->planes, s->device_row,
                                             s->device_plane, s->device_row, s->device_plane);
        void *block = take(bytes), *other = take(bytes);
        number(source, MOST, 3);
        memset(should, 'g', bytes);
        for (size_t z = 0; z < s->planes; z++)
            for (size_t y = 0; y < s->rows; y++)
                memcpy(should + z * there.plane + y * there.row, source + z * s->plane + y * s->row,
                       s->bytes);
        SUCCEEDS(ops->fill(queue, block, "g", 1, bytes));
        SUCCEEDS(ops->fill(queue, other, "g", 1, bytes));
        SUCCEEDS(copy_pitched(ops, queue, block, source, &up));
        SUCCEEDS(copy_pitched(ops, queue, other, block, &same));
        SUCCEEDS(ops->copy(queue, back, other, bytes));
        ops->drain(queue);
        assert_memory_equal(back, should, bytes);
        give(block, bytes);
        give(other, bytes);
    }
}

/* ---- how they are made ---------------------------------------------------------------------- */

TEST(small_pieces_of_an_idle_queue) {
    const shape *s = &shapes[0];
    const ha_strided_copy up = up_of(s), down = down_of(s);
    void *block = take_for(s);
    number(source, MOST, 1);
    memset(should, 'b', MOST);
    memset(back, 'b', MOST);
    expect_copy(should, source, s);
    ops->drain(queue);
    SUCCEEDS(copy_pitched(ops, queue, block, source, &up));
    assert_int_equal(fake->calls("cuLaunchHostFunc"), 0);
    memset(source, 'x', MOST); /* which the contract forbids: this shows that it was taken */
    SUCCEEDS(copy_pitched(ops, queue, back, block, &down));
    assert_int_equal(fake->calls("cuLaunchHostFunc"), 1);
    ops->drain(queue);
    assert_memory_equal(back, should, MOST);
    give_for(block, s);
}

/* One batch, but not small. */
TEST(large_pieces_of_an_idle_queue) {
    const ha_strided_copy up = PITCHED(300, 1000, 1, 310, 310000, 320, 320000);
    void *block = take(310000);
    ops->drain(queue);
    SUCCEEDS(copy_pitched(ops, queue, block, source, &up));
    assert_int_equal(fake->calls("cuLaunchHostFunc"), 1);
    ops->drain(queue);
    give(block, 310000);
}

/* Pieces of pinned memory and of the device: one call. Those without gaps are one piece; small ones
 * within the device are for the kernel. */
TEST(pieces_by_the_driver) {
    const ha_strided_copy p = PITCHED(3, 4, 2, 10, 50, 3, 12), one = PITCHED(3, 4, 2, 3, 12, 3, 12),
                          wide = PITCHED(17, 2, 1, 50, 100, 50, 100);
    char bytes[100];
    void *block = take(sizeof bytes), *other = take(sizeof bytes), *pinned;
    SUCCEEDS(ha_cuda_pinned_ops.allocate(device, 24, &pinned));
    for (int i = 0; i < 24; i++) ((char *)pinned)[i] = (char)('a' + i);
    SUCCEEDS(ops->fill(queue, block, ".", 1, sizeof bytes));
    SUCCEEDS(copy_pitched(ops, queue, block, pinned, &p));
    assert_int_equal(fake->calls("cuMemcpy3DAsync_v2"), 1);
    SUCCEEDS(copy_pitched(ops, queue, other, pinned, &one));
    assert_int_equal(fake->calls("cuMemcpy3DAsync_v2"), 1);
    assert_int_equal(fake->calls("cuLaunchKernel"), 0);
    SUCCEEDS(copy_pitched(ops, queue, other, block, &p));
    assert_int_equal(fake->calls("cuMemcpy3DAsync_v2"), 1);
    assert_int_equal(fake->calls("cuLaunchKernel"), 1);
    SUCCEEDS(copy_pitched(ops, queue, other, block, &wide));
    assert_int_equal(fake->calls("cuMemcpy3DAsync_v2"), 2);
    assert_int_equal(fake->calls("cuLaunchKernel"), 1);
    assert_int_equal(fake->calls("cuLaunchHostFunc"), 0);
    SUCCEEDS(ops->copy(queue, bytes, block, sizeof bytes));
    ops->drain(queue);
    assert_memory_equal(bytes, "abc.......def.......ghi.......jkl.................", 50);
    assert_memory_equal(bytes + 50, "mno.......pqr.......stu.......vwx.................", 50);
    ha_cuda_pinned_ops.release(device, pinned, 24);
    give(block, sizeof bytes);
    give(other, sizeof bytes);
}

/* On more levels than the driver takes: by the kernel, which is for the device's own memory. */
TEST(small_pieces_on_three_levels) {
    char bytes[64], is[64];
    char *a = (char *)take(64), *b = (char *)take(64);
    ha_strided_copy s = {.to = b,
                         .from = a,
                         .bytes = 2,
                         .levels = 3,
                         .count = {2, 2, 2},
                         .to_step = {4, 16, 32},
                         .from_step = {32, 8, 2}};
    for (int i = 0; i < 64; i++) bytes[i] = (char)('0' + i);
    SUCCEEDS(ops->copy(queue, a, bytes, 64));
    SUCCEEDS(ops->fill(queue, b, ".", 1, 64));
    SUCCEEDS(ops->copy_strided(queue, &s, 1));
    SUCCEEDS(ops->copy(queue, is, b, 64));
    ops->drain(queue);
    assert_memory_equal(is, "01..PQ..........89..XY..........23..RS..........:;..Z[..........", 64);
    assert_int_equal(fake->calls("cuLaunchKernel"), 1);
    s.from = bytes;
    assert_int_equal(ops->copy_strided(queue, &s, 1), HA_ERR_UNSUPPORTED);
    s.from = a;
    s.to = is;
    assert_int_equal(ops->copy_strided(queue, &s, 1), HA_ERR_UNSUPPORTED);
    s.to = b;
    s.bytes = HA_SCATTER_BYTES + 1;
    assert_int_equal(ops->copy_strided(queue, &s, 1), HA_ERR_UNSUPPORTED);
    assert_int_equal(fake->calls("cuLaunchKernel"), 1);
    give(a, 64);
    give(b, 64);
}

/* A driver that does not take the kernel: then it makes itself what it can. */
TEST(small_pieces_without_the_kernel) {
    const ha_strided_copy p = PITCHED(3, 4, 2, 10, 50, 3, 12);
    ha_strided_copy three = p;
    void *block = take(100), *other = take(100);
    three.levels = 3;
    three.count[2] = 1;
    three.from_step[0] = 1;
    three.to = other;
    three.from = block;
    fake->fail_call("cuModuleGetFunction", 1, HA_CU_NOT_FOUND, 0);
    SUCCEEDS(copy_pitched(ops, queue, other, block, &p));
    assert_int_equal(fake->calls("cuMemcpy3DAsync_v2"), 1);
    fake->fail_never();
    assert_int_equal(ops->copy_strided(queue, &three, 1), HA_ERR_UNSUPPORTED);
    assert_int_equal(fake->calls("cuLaunchKernel"), 0);
    give(block, 100);
    give(other, 100);
}

/* The driver does not take such rows in one call: each is a copy of its own. */
TEST(rows_far_apart) {
    const shape *s = &shapes[9];
    const ha_strided_copy up = up_of(s), down = down_of(s);
    const size_t bytes = s->planes * s->plane;
    void *block = take_for(s), *pinned;
    SUCCEEDS(ha_cuda_pinned_ops.allocate(device, bytes, &pinned));
    number(source, MOST, 1);
    memset(back, 0, MOST);
    memset(should, 0, MOST);
    expect_copy(should, source, s);
    SUCCEEDS(copy_pitched(ops, queue, block, source, &up));
    SUCCEEDS(copy_pitched(ops, queue, pinned, block, &down));
    SUCCEEDS(ops->fill(queue, block, "x", 1, s->planes * s->device_plane));
    SUCCEEDS(copy_pitched(ops, queue, block, pinned, &up));
    SUCCEEDS(copy_pitched(ops, queue, back, block, &down));
    ops->drain(queue);
    assert_int_equal(fake->calls("cuMemcpy3DAsync_v2"), 0);
    assert_int_equal(fake->calls("cuMemcpyHtoDAsync_v2"), 6);
    assert_int_equal(fake->calls("cuMemcpyDtoHAsync_v2"), 6);
    assert_int_equal(fake->calls("cuMemcpyAsync"), 12);
    assert_memory_equal(back, should, MOST);
    ha_cuda_pinned_ops.release(device, pinned, bytes);
    give_for(block, s);
}

/* By a task, also between pinned memories: the driver would let the caller wait. */
TEST(pieces_on_the_host) {
    const ha_strided_copy p = PITCHED(2, 3, 2, 4, 12, 2, 6), q = PITCHED(2, 3, 2, 2, 6, 4, 12);
    char text[] = "twelve bytes", wide[24], narrow[12];
    void *a, *b;
    SUCCEEDS(ha_cuda_pinned_ops.allocate(device, sizeof wide, &a));
    SUCCEEDS(ha_cuda_pinned_ops.allocate(device, sizeof wide, &b));
    memset(a, '.', sizeof wide);
    memset(wide, '.', sizeof wide);
    fake->hold(stream_of(queue));
    SUCCEEDS(copy_pitched(ops, queue, a, text, &p));
    SUCCEEDS(copy_pitched(ops, queue, b, a, &q));
    SUCCEEDS(copy_pitched(ops, queue, wide, b, &p));
    SUCCEEDS(copy_pitched(ops, queue, narrow, wide, &q));
    fake->step(stream_of(queue), -1);
    ops->drain(queue);
    assert_memory_equal(wide, "tw..el..ve.. b..yt..es..", 24);
    assert_memory_equal(a, wide, 24);
    assert_memory_equal(narrow, text, 12);
    ha_cuda_pinned_ops.release(device, a, sizeof wide);
    ha_cuda_pinned_ops.release(device, b, sizeof wide);
}

/* The driver takes all or nothing of it pinned. */
TEST(pieces_that_are_pinned_in_part) {
    static const size_t pinned[][2] = {{0, 1}, {1, 2}, {2, 3}, {0, 2}, {1, 3}, {0, 3}};
    static const shape all[] = {{8, 300, 1, 512, 153600, 8, 2400},
                                {100, 30, 50, 102, 3060, 100, 3000},
                                {20, 3, 1, 1200000, 3600000, 1100000, 3300000}};
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        const shape *s = &all[i % 3];
        const ha_strided_copy up = up_of(s), down = down_of(s);
        const size_t third = s->plane * s->planes / 3, first = pinned[i][0] * third;
        const size_t bytes = (pinned[i][1] - pinned[i][0]) * third;
        void *block = take_for(s);
        number(source, MOST, (unsigned)i);
        memset(back, 0, MOST);
        memset(should, 0, MOST);
        expect_copy(should, source, s);
        fake->pin(source + first, bytes);
        fake->pin(back + first, bytes);
        SUCCEEDS(copy_pitched(ops, queue, block, source, &up));
        SUCCEEDS(copy_pitched(ops, queue, back, block, &down));
        ops->drain(queue);
        assert_memory_equal(back, should, MOST);
        fake->pin(source + first, 0);
        fake->pin(back + first, 0);
        give_for(block, s);
    }
}

/* ---- cutting ------------------------------------------------------------------------------- */

static size_t random_up_to(uint32_t *seed, size_t most) { return 1 + next_random(seed) % most; }

static ha_strided_copy random_pieces(uint32_t *seed) {
    ha_strided_copy p = {.bytes = random_up_to(seed, 12), .levels = 2};
    p.count[0] = random_up_to(seed, 6);
    p.count[1] = random_up_to(seed, 5);
    p.to_step[0] = p.bytes + (next_random(seed) % 2 ? next_random(seed) % 9 : 0);
    p.from_step[0] = p.bytes + (next_random(seed) % 2 ? next_random(seed) % 9 : 0);
    p.to_step[1] = p.to_step[0] *
                   (p.count[0] + (next_random(seed) % 2 ? next_random(seed) % 3 : 0));
    p.from_step[1] = p.from_step[0] *
                     (p.count[0] + (next_random(seed) % 2 ? next_random(seed) % 3 : 0));
    return p;
}

static void copy_simply(unsigned char *to, const unsigned char *from, const ha_strided_copy *p) {
    for (size_t z = 0; z < p->count[1]; z++)
        for (size_t y = 0; y < p->count[0]; y++)
            memcpy(to + z * p->to_step[1] + y * p->to_step[0],
                   from + z * p->from_step[1] + y * p->from_step[0], p->bytes);
}

/* What is folded, or cut in any way, is the same copy; and the driver could take it. */
TEST(folded_and_cut) {
    enum { BYTES = 4000 };
    uint32_t seed = 5;
    number(source, BYTES, 1);
    for (int i = 0; i < 3000; i++) {
        ha_strided_copy p = random_pieces(&seed);
        p.to = back;
        p.from = source;
        const ha_strided_copy box = ha_cuda_box_of(&p);
        const size_t most = random_up_to(&seed, 300);
        const ha_cuda_cut cut = ha_cuda_cut_of(&box, most);
        size_t total = 0;
        memset(should, 0, BYTES);
        memset(back, 0, BYTES);
        copy_simply(should, source, &p);
        for (size_t k = 0; k < ha_cuda_batches(&box, &cut); k++) {
            const ha_strided_copy batch = ha_cuda_batch_of(&box, &cut, k);
            const size_t bytes = ha_strided_total(&batch);
            assert_true(bytes > 0 && bytes <= most);
            assert_int_equal(batch.levels, 2);
            assert_true(ha_strided_is_pitched(&batch));
            copy_simply((unsigned char *)batch.to, (const unsigned char *)batch.from, &batch);
            total += bytes;
        }
        assert_int_equal(total, ha_strided_total(&p));
        assert_memory_equal(back, should, BYTES);
    }
}

TEST(as_few_pieces_as_there_can_be) {
    static const ha_strided_copy given[][2] = {
        {PITCHED(4, 5, 6, 4, 20, 4, 20), {.bytes = 120}},
        {PITCHED(4, 5, 6, 4, 24, 4, 20),
         {.bytes = 20, .levels = 1, .count = {6}, .to_step = {24}, .from_step = {20}}},
        {PITCHED(4, 5, 6, 8, 40, 4, 20),
         {.bytes = 4, .levels = 1, .count = {30}, .to_step = {8}, .from_step = {4}}},
        {PITCHED(4, 5, 6, 8, 48, 4, 20), PITCHED(4, 5, 6, 8, 48, 4, 20)},
        {PITCHED(4, 5, 6, 8, 40, 4, 24), PITCHED(4, 5, 6, 8, 40, 4, 24)},
        {PITCHED(4, 1, 6, 8, 40, 4, 20),
         {.bytes = 4, .levels = 1, .count = {6}, .to_step = {40}, .from_step = {20}}},
        {PITCHED(4, 1, 6, 9, 4, 7, 4), {.bytes = 24}},
        {PITCHED(4, 1, 1, 90, 900, 70, 700), {.bytes = 4}},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        const ha_strided_copy folded = ha_strided_fold(&given[i][0]);
        assert_memory_equal(&folded, &given[i][1], sizeof folded);
    }
}

/* Rows that begin behind the one before, and planes that begin behind the one before, a whole number of
 * rows apart, on both sides. */
TEST(what_is_pitched) {
    static const ha_strided_copy is[] = {{.bytes = 4},
                                         PITCHED(4, 5, 1, 4, 20, 7, 35),
                                         PITCHED(4, 5, 6, 8, 40, 4, 24)},
                                 is_not[] = {PITCHED(4, 5, 6, 3, 30, 4, 20),
                                             PITCHED(4, 5, 6, 4, 20, 3, 30),
                                             PITCHED(4, 5, 6, 8, 44, 4, 20),
                                             PITCHED(4, 5, 6, 4, 20, 8, 44),
                                             PITCHED(4, 5, 6, 8, 32, 4, 20),
                                             PITCHED(4, 5, 6, 4, 20, 8, 32)};
    ha_strided_copy three = is[2];
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) assert_true(ha_strided_is_pitched(&is[i]));
    for (size_t i = 0; i < sizeof is_not / sizeof *is_not; i++)
        assert_false(ha_strided_is_pitched(&is_not[i]));
    three.levels = 3;
    three.count[2] = 2;
    three.to_step[2] = three.from_step[2] = 400;
    assert_false(ha_strided_is_pitched(&three));
}

/* Batches are as large as they may be, and of the same size. */
TEST(batches_are_even) {
    const ha_strided_copy p = PITCHED(100, 25, 8, 100, 2500, 100, 2500);
    ha_cuda_cut cut = ha_cuda_cut_of(&p, 6000); /* two planes */
    assert_int_equal(cut.planes, 2);
    assert_int_equal(ha_cuda_batches(&p, &cut), 4);
    cut = ha_cuda_cut_of(&p, 2000); /* 20 rows: so 13 and 12 */
    assert_int_equal(cut.rows, 13);
    assert_int_equal(ha_cuda_batches(&p, &cut), 16);
    cut = ha_cuda_cut_of(&p, 99);
    assert_int_equal(cut.bytes, 99);
    assert_int_equal(ha_cuda_batches(&p, &cut), 400);
    cut = ha_cuda_cut_of(&p, 100000);
    assert_int_equal(ha_cuda_batches(&p, &cut), 1);
}

/* ---- failing -------------------------------------------------------------------------------- */

/* Each call of the driver fails in turn; then the copy succeeds, and the queue is as before. */
static void fail_copies(void *to, const void *from, const ha_strided_copy *p) {
    uint64_t n = 0;
    ha_status status;
    for (uint64_t calls = 1; n < calls;) {
        const uint64_t before = fake->calls(NULL);
        fake->fail_call(NULL, ++n, HA_CU_INVALID_VALUE, 0);
        status = copy_pitched(ops, queue, to, from, p);
        if (calls < fake->calls(NULL) - before) calls = fake->calls(NULL) - before;
        fake->fail_never();
        ops->drain(queue);
        assert_true(status == HA_OK || status == HA_ERR_BACKEND);
    }
    SUCCEEDS(copy_pitched(ops, queue, to, from, p));
    ops->drain(queue);
}

TEST(calls_fail_in_copies_of_pieces) {
    static const int tried[] = {0, 3, 5, 8, 9};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        const shape *s = &shapes[tried[i]];
        const ha_strided_copy up = up_of(s), down = down_of(s);
        void *block = take_for(s), *pinned;
        SUCCEEDS(ha_cuda_pinned_ops.allocate(device, s->planes * s->plane, &pinned));
        number(source, MOST, (unsigned)i);
        memset(back, 0, MOST);
        memset(should, 0, MOST);
        expect_copy(should, source, s);
        fail_copies(block, source, &up);
        fail_copies(back, block, &down);
        assert_memory_equal(back, should, MOST);
        fail_copies(block, pinned, &up);
        fail_copies(pinned, block, &down);
        fail_copies(pinned, source, &down);
        ha_cuda_pinned_ops.release(device, pinned, s->planes * s->plane);
        give_for(block, s);
    }
}

/* Nothing of it happens any more when the failure is told. */
static void fail_half_way(const shape *s, void *to, const char *function) {
    const ha_strided_copy down = down_of(s);
    void *block = take_for(s);
    SUCCEEDS(ops->fill(queue, block, "x", 1, s->planes * s->device_plane));
    fake->fail_call(function, 3, HA_CU_NOT_PERMITTED, 0);
    begin_waiting_for(stream_of(queue));
    FAILS(HA_ERR_BACKEND, copy_pitched(ops, queue, to, block, &down));
    end_waiting();
    memset(to, 'y', s->planes * s->plane);
    ops->drain(queue);
    for (size_t i = 0; i < s->planes * s->plane; i++)
        assert_int_equal(((unsigned char *)to)[i], 'y');
    give_for(block, s);
}

TEST(a_copy_of_pieces_that_failed_is_over) {
    const size_t bytes = shapes[8].planes * shapes[8].plane;
    void *pinned;
    SUCCEEDS(ha_cuda_pinned_ops.allocate(device, bytes, &pinned));
    fail_half_way(&shapes[7], back, "cuMemcpyDtoHAsync_v2");
    fail_half_way(&shapes[6], back, "cuMemcpy3DAsync_v2");
    fail_half_way(&shapes[6], back, "cuLaunchHostFunc");
    fail_half_way(&shapes[8], pinned, "cuMemcpyAsync");
    ha_cuda_pinned_ops.release(device, pinned, bytes);
}

/* Records, too: then nothing is enqueued. */
TEST(records_are_missing_in_copies_of_pieces) {
    const shape *s = &shapes[3];
    const ha_strided_copy up = up_of(s);
    void *block = take_for(s);
    long n = 0;
    SUCCEEDS(copy_pitched(ops, queue, block, source, &up));
    ops->drain(queue);
    for (;; n++) {
        const uint64_t before = fake->calls("cuLaunchHostFunc");
        faulty_arm(n, 0);
        const ha_status status = copy_pitched(ops, queue, block, source, &up);
        if (faulty_disarm() == 0) break;
        assert_int_equal(status, HA_ERR_MEMORY);
        assert_int_equal(fake->calls("cuLaunchHostFunc"), before);
    }
    assert_true(n >= 4);
    give_for(block, s);
}

/* The device fails while nothing has begun: no task touches memory any more, and the queue is lost. */
TEST(late_failures_of_pieces) {
    static const int tried[] = {0, 3, 6, 7};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        const shape *s = &shapes[tried[i]];
        const ha_strided_copy up = up_of(s), down = down_of(s);
        void *block = take_for(s);
        memset(back, 'b', MOST);
        memset(should, 'b', MOST);
        fake->hold(stream_of(queue));
        SUCCEEDS(copy_pitched(ops, queue, block, source, &up));
        SUCCEEDS(copy_pitched(ops, queue, back, block, &down));
        fake->fail_stream(stream_of(queue));
        FAILS(HA_ERR_LOST, copy_pitched(ops, queue, back, block, &down));
        ops->drain(queue);
        assert_memory_equal(back, should, MOST);
        FAILS(HA_ERR_LOST, copy_pitched(ops, queue, block, source, &up));
        give_for(block, s);
        ops->destroy(queue);
        ha_cuda_close(device);
        open_devices();
    }
}

/* ---- two threads ---------------------------------------------------------------------------- */

/* They share the chunks of a queue. Between filling the first chunk and its copy the other one does
 * whatever it can. */
enum { SHARED_ROWS = 50, SHARED_ROW = 100, SHARED_BYTES = SHARED_ROWS * SHARED_ROW, TURNS = 100 };

typedef struct sharer {
    unsigned char bytes[SHARED_BYTES], back[SHARED_BYTES];
    void *block;
    int wrong;
    pthread_t thread;
} sharer;

static atomic_int chance_given;

static ha_cu_result slow_copy(const ha_cu_copy3d *copy, ha_cu_stream stream) {
    static ha_cu_result (*driver)(const ha_cu_copy3d *, ha_cu_stream);
    void *found = dlsym(fake_library, "cuMemcpy3DAsync_v2");
    memcpy(&driver, &found, sizeof found);
    if (!atomic_exchange(&chance_given, 1)) until_quiet();
    return driver(copy, stream);
}

static void *copy_up_and_down(void *argument) {
    sharer *s = (sharer *)argument;
    const ha_strided_copy p = PITCHED(8, SHARED_ROWS, 1, SHARED_ROW, SHARED_BYTES, SHARED_ROW,
                                      SHARED_BYTES);
    ha_event event;
    for (int i = 0; i < TURNS; i++) {
        memset(s->back, 0, sizeof s->back);
        s->wrong |= copy_pitched(ops, queue, s->block, s->bytes, &p) != HA_OK;
        s->wrong |= copy_pitched(ops, queue, s->back, s->block, &p) != HA_OK;
        s->wrong |= ops->record(queue, &event) || ops->finish(&event);
        ops->forget(&event);
        for (size_t y = 0; y < SHARED_ROWS; y++)
            s->wrong |= memcmp(s->back + y * SHARED_ROW, s->bytes + y * SHARED_ROW, 8) != 0;
    }
    return NULL;
}

TEST(a_queue_of_two_threads) {
    static sharer s[2];
    hooks.replaced = "cuMemcpy3DAsync_v2";
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

/* ---- all of it ------------------------------------------------------------------------------ */

int main(void) {
    const struct CMUnitTest tests[] = {
        ON("", pieces_are_read_in_order),
        ON("managed", pieces_are_read_in_order),
        ON("delay=50us", many_batches),
        ON("", gaps_on_the_device_stay),
        ON("", small_pieces_of_an_idle_queue),
        ON("", large_pieces_of_an_idle_queue),
        ON("", pieces_by_the_driver),
        ON("", rows_far_apart),
        ON("", pieces_on_the_host),
        ON("", pieces_that_are_pinned_in_part),
        ON("", folded_and_cut),
        ON("", as_few_pieces_as_there_can_be),
        ON("", what_is_pitched),
        ON("", small_pieces_on_three_levels),
        ON("", small_pieces_without_the_kernel),
        ON("", batches_are_even),
        ON("", calls_fail_in_copies_of_pieces),
        ON("", a_copy_of_pieces_that_failed_is_over),
        ON("", records_are_missing_in_copies_of_pieces),
        ON("", late_failures_of_pieces),
        CLOSED("", a_queue_of_two_threads),
    };
    return find_fake() ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}
