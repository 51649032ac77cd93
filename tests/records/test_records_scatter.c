/* Values that a device puts into place: strided copies by the host, the simulated device, and the
 * kernel of the CUDA backend over the fake driver, against a naive model; and when record arrays
 * use them, what happens when they cannot, and that it all arrives. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#define HA_RECORDS_PART_BYTES_ (128 << 10) /* so that there are several parts */
#include "../support/own_calls.h"

#include "../../harray_records.h"

#include <setjmp.h>
#include <cmocka.h>

#include "../support/cuda_launch.h"
#include "../support/invariants.h"
#include "../support/quiet.h"
#include "../support/share.h"
#include "records_atom.h"

#define TEST(name) static void name(HA_UNUSED void **state)

static void fine(ha_status s) {
    if (!s) return;
    fprintf(stderr, "%s\n", ha_take_error().text);
    fail();
}

static void fails(ha_status expected, ha_status s) {
    assert_int_equal(s, expected);
    ha_forget_note();
}

/* ---- strided copies: the model --------------------------------------------------------------- */

enum { ROOM = 1 << 16, COPIES = 70 /* in more than two launches */ };
static unsigned char source[ROOM], target[ROOM], should[ROOM];
static uint64_t random_state = 1;

static size_t pick(size_t n) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(random_state >> 33) % n;
}

/* Of 0 to 4 levels, with counts that are odd as often as not; aligned or not. Its values take their
 * turns in `bytes` bytes of the target from `first` on; the source's may lie anywhere, and be read
 * twice. */
static ha_strided_copy any_copy(unsigned char *to, size_t room, const unsigned char *from) {
    static const size_t sizes[] = {1, 2, 4, 8, 16, 8, 4, 3, 12, 5};
    const size_t bytes = sizes[pick(sizeof sizes / sizeof *sizes)], unit = pick(2) ? bytes : 1;
    const size_t reach = (ROOM - 16) / 5;
    ha_strided_copy s = {.bytes = bytes};
    size_t span = bytes;
    s.from = from + pick(reach) / unit * unit;
    s.to = to + (pick(2) ? 0 : pick(3) * unit);
    room -= 2 * unit;
    for (; s.levels < HA_SCATTER_LEVELS && pick(5); s.levels++) {
        const size_t step = (span + unit - 1) / unit * unit + pick(4) * unit;
        size_t count = 1 + pick(7);
        while (count > 1 && (count - 1) * step + span > room) count--;
        s.count[s.levels] = count;
        s.to_step[s.levels] = step;
        s.from_step[s.levels] = pick(reach / count) / unit * unit;
        span += (count - 1) * step;
    }
    return s;
}

/* Each into a part of the target. */
static void any_table(ha_strided_copy *table, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const size_t part = ROOM / n / 64 * 64;
        table[i] = any_copy(target + i * part, part, source);
    }
    for (size_t i = 0; i < ROOM; i++) {
        source[i] = (unsigned char)pick(256);
        target[i] = should[i] = (unsigned char)pick(256);
    }
}

/* Byte by byte, each value from its four indices. */
static void model_copy(const ha_strided_copy *s) {
    size_t n = 1;
    for (int k = 0; k < s->levels; k++) n *= s->count[k];
    for (size_t i = 0; i < n; i++) {
        size_t to = (size_t)((unsigned char *)s->to - target), left = i;
        size_t from = (size_t)((const unsigned char *)s->from - source);
        for (int k = 0; k < s->levels; k++) {
            to += left % s->count[k] * s->to_step[k];
            from += left % s->count[k] * s->from_step[k];
            left /= s->count[k];
        }
        for (size_t b = 0; b < s->bytes; b++) should[to + b] = source[from + b];
    }
}

TEST(copies_by_the_host) {
    ha_strided_copy table[COPIES];
    for (int round = 0; round < 100; round++) {
        any_table(table, COPIES);
        for (int i = 0; i < COPIES; i++) model_copy(&table[i]);
        ha_strided_copy_all(table, COPIES);
        assert_memory_equal(target, should, ROOM);
    }
}

/* The kernel's own arithmetic, with any number of threads. */
TEST(copies_by_the_kernel) {
    static const unsigned threads[] = {1, 7, 256, 4096};
    ha_strided_copy table[COPIES];
    int wide = 0, narrow = 0;
    for (int round = 0; round < 100; round++) {
        any_table(table, COPIES);
        for (int i = 0; i < COPIES; i++) {
            const ha_cuda_stride s = ha_cuda_stride_of(&table[i]);
            const unsigned n = threads[round % 4];
            model_copy(&table[i]);
            wide += s.unit == 8;
            narrow += s.unit < table[i].bytes;
            assert_true(s.unit * s.units == table[i].bytes);
            for (unsigned thread = 0; thread < n; thread++) ha_cuda_stride_thread(&s, thread, n);
        }
        assert_memory_equal(target, should, ROOM);
    }
    assert_true(wide > 100 && narrow > 100);
}

/* What is more than the kernel counts is refused, not cut short. */
TEST(more_than_the_kernel_counts) {
    ha_strided_copy s = {.bytes = 1, .levels = 2, .count = {1 << 16, 1 << 15}};
    assert_int_equal(ha_cuda_stride_values(&s), 0);
    s.count[1]--;
    assert_int_equal(ha_cuda_stride_values(&s), (1u << 31) - (1u << 16));
    s.levels = 4;
    s.count[2] = s.count[3] = SIZE_MAX;
    assert_int_equal(ha_cuda_stride_values(&s), 0);
    s.levels = 0;
    assert_int_equal(ha_cuda_stride_values(&s), 1);
}

/* ---- by queues ------------------------------------------------------------------------------- */

static void on_device(ha_strided_copy *table, size_t n, unsigned char *to,
                      const unsigned char *from) {
    for (size_t i = 0; i < n; i++) {
        table[i].to = to + ((unsigned char *)table[i].to - target);
        table[i].from = from + ((const unsigned char *)table[i].from - source);
    }
}

/* Nothing is waited for between the calls; the table may change behind each. */
static void copies_by(ha_context *c) {
    const ha_queue_ops *ops = c->ops;
    unsigned char *to = (unsigned char *)ha_memory_allocate(c, ROOM);
    unsigned char *from = (unsigned char *)ha_memory_allocate(c, ROOM);
    ha_strided_copy table[COPIES];
    assert_true(to && from);
    assert_int_equal(ops->copy_strided(c->queue, NULL, 0), HA_OK);
    for (size_t round = 0; round < 20; round++) {
        const size_t n = round % 3 ? COPIES : 1 + round;
        any_table(table, n);
        for (size_t i = 0; i < n; i++) model_copy(&table[i]);
        on_device(table, n, to, from);
        fine(ops->copy(c->queue, to, target, ROOM));
        fine(ops->copy(c->queue, from, source, ROOM));
        fine(ops->copy_strided(c->queue, table, n));
        memset(table, 0, sizeof table);
        fine(ops->copy(c->queue, target, to, ROOM));
        ops->drain(c->queue);
        assert_memory_equal(target, should, ROOM);
    }
    fine(ha_memory_release(c, to));
    fine(ha_memory_release(c, from));
}

static ha_context *sim_with(const ha_sim_options *options) {
    fine(ha_sim_configure(options));
    ha_context *c = ha_context_find("sim:0");
    assert_non_null(c);
    return c;
}

static ha_context *sim(void) { return sim_with(&(ha_sim_options){.strides = 1}); }

static int end(HA_UNUSED void **state) { return ha_shutdown() != HA_OK; }

TEST(copies_by_the_simulated_device) {
    ha_context *c = sim();
    const ha_queue_ops *ops = c->ops;
    ha_event behind = {NULL, 0};
    char *block = (char *)ha_memory_allocate(c, 64);
    const ha_strided_copy s[] = {{block, block + 32, 8, 0, {0}, {0}, {0}},
                                 {block + 8, block + 40, 8, 0, {0}, {0}, {0}}};
    copies_by(c);
    /* a table is one command */
    fine(ha_sim_hold(c));
    fine(ops->copy_strided(c->queue, s, 2));
    fine(ops->record(c->queue, &behind));
    until_quiet();
    assert_int_equal(ops->done(&behind), 0);
    fine(ha_sim_step(c, 1));
    fine(ops->finish(&behind));
    fine(ha_sim_step(c, -1));
    fine(ha_memory_release(c, block));
    fine(ha_context_finish(c));
    fails(HA_ERR_MEMORY, ops->copy_strided(c->queue, s, SIZE_MAX / 8));
    fine(ha_sim_fail(c));
    fails(HA_ERR_LOST, ops->copy_strided(c->queue, s, 2));
    fails(HA_ERR_LOST, ops->copy_strided(c->queue, NULL, 0));
}

TEST(a_simulated_device_that_cannot) {
    ha_context *c = sim_with(NULL);
    fails(HA_ERR_UNSUPPORTED, c->ops->copy_strided(c->queue, NULL, 0));
}

/* ---- by the CUDA backend --------------------------------------------------------------------- */

/* Of the fake driver, or a GPU. */
static ha_context *cuda(ha_cuda_memory memory) {
    if (!cuda_fake() && !ha_context_count("cuda")) skip();
    fine(cuda_use(memory, "capacity=16M"));
    ha_context *c = ha_context_find("cuda:0");
    if (!c && !cuda_fake()) skip(); /* not every GPU has all kinds of memory */
    assert_non_null(c);
    return c;
}

static ha_context *fake_cuda_device(void) {
    if (!cuda_fake()) skip();
    return cuda(HA_CUDA_DEVICE);
}

static uint64_t modules_loaded(void) {
    return cuda_fake() ? cuda_fake()->calls("cuModuleLoadData") : 0;
}

static int end_cuda(void **state) {
    if (cuda_fake()) cuda_fake()->fail_never();
    const int failed = end(state);
    return failed || (cuda_fake() && !cuda_fake_is_empty());
}

/* The module is loaded once, and goes. */
TEST(copies_by_cuda_devices) {
    for (int memory = HA_CUDA_DEVICE; memory <= HA_CUDA_ASYNC; memory++) {
        ha_context *c = cuda((ha_cuda_memory)memory);
        const uint64_t before = modules_loaded();
        copies_by(c);
        assert_true(!cuda_fake() || modules_loaded() == before + 1);
        fine(ha_shutdown());
        assert_true(!cuda_fake() || cuda_fake_is_empty());
    }
}

/* A driver that does not take the module is not asked again; one that is full is. */
TEST(modules_that_are_refused) {
    ha_context *c = fake_cuda_device();
    const fake_cuda *fake = cuda_fake();
    fake->fail_call("cuModuleLoadData", 1, HA_CU_OUT_OF_MEMORY, 0);
    fails(HA_ERR_MEMORY, c->ops->copy_strided(c->queue, NULL, 0));
    fake->fail_call("cuModuleGetFunction", 1, HA_CU_NOT_FOUND, 0);
    fails(HA_ERR_UNSUPPORTED, c->ops->copy_strided(c->queue, NULL, 0));
    assert_int_equal(fake->statistics().modules, 0);
    fake->fail_never();
    const uint64_t before = fake->calls("cuModuleLoadData");
    fails(HA_ERR_UNSUPPORTED, c->ops->copy_strided(c->queue, NULL, 0));
    assert_int_equal(fake->calls("cuModuleLoadData"), before);
}

/* What was launched has ended when a later launch of the same call fails; and a lost device is lost. */
TEST(launches_that_fail) {
    ha_context *c = fake_cuda_device();
    const fake_cuda *fake = cuda_fake();
    ha_strided_copy table[COPIES];
    char *block = (char *)ha_memory_allocate(c, ROOM);
    for (int i = 0; i < COPIES; i++)
        table[i] = (ha_strided_copy){block + 8 * i, block + ROOM / 2, 8, 0, {0}, {0}, {0}};
    fake->fail_call("cuLaunchKernel", 2, HA_CU_INVALID_VALUE, 0);
    fails(HA_ERR_BACKEND, c->ops->copy_strided(c->queue, table, COPIES));
    fake->fail_never();
    fine(c->ops->copy_strided(c->queue, table, COPIES));
    c->ops->drain(c->queue);
    table[COPIES - 1].levels = 1;
    table[COPIES - 1].count[0] = SIZE_MAX;
    const uint64_t before = fake->calls("cuLaunchKernel");
    fails(HA_ERR_UNSUPPORTED, c->ops->copy_strided(c->queue, table, COPIES));
    assert_int_equal(fake->calls("cuLaunchKernel"), before);
    fine(ha_memory_release(c, block));
    fake->fail_stream((ha_cu_stream)ha_context_stream(c));
    fails(HA_ERR_LOST, c->ops->copy_strided(c->queue, table, 1));
}

/* Whatever is loaded and launched, another thread can capture a stream meanwhile. */
TEST(while_a_stream_is_captured) {
    ha_context *c = fake_cuda_device();
    char *block = (char *)ha_memory_allocate(c, 64);
    const ha_strided_copy s = {block, block + 32, 8, 0, {0}, {0}, {0}};
    cuda_fake()->capture(1);
    fine(c->ops->copy_strided(c->queue, &s, 1));
    assert_true(cuda_fake()->capture(0));
    fine(ha_memory_release(c, block));
}

/* ---- record arrays: what is used ------------------------------------------------------------- */

enum { N = 1003, LARGE = 10007 };

/* What a context's queue was asked for. */
static struct {
    const ha_queue_ops *ops; /* that it has really */
    int tables;              /* of copies */
    ha_status answer;        /* to those; HA_OK: what they give */
} counted;
static ha_queue_ops counting;

static ha_status count_strides(void *queue, const ha_strided_copy *table, size_t n) {
    if (n < 2) return counted.ops->copy_strided(queue, table, n);
    counted.tables++;
    return counted.answer ? counted.answer : counted.ops->copy_strided(queue, table, n);
}

static ha_context *counted_at(ha_context *c) {
    memset(&counted, 0, sizeof counted);
    counted.ops = c->ops;
    counting = *c->ops;
    counting.copy_strided = count_strides;
    c->ops = &counting;
    return c;
}

static int tables(void) {
    const int n = counted.tables;
    counted.tables = 0;
    return n;
}

static double number(int64_t leaf, int64_t i, int round) {
    return atom_number(leaf, (uint32_t)(leaf * 31 + i * 7 + round * 13));
}

static void set_records(const ha_mapped *m, int64_t first, int64_t last, int round) {
    for (int64_t leaf = 0; leaf < LEAVES; leaf++)
        for (int64_t i = first; i < last; i++) {
            char value[8];
            leaf_set_number(leaf, number(leaf, i, round), value);
            ha_mapped_set(m, leaf, &i, value);
        }
}

static int wrong_records(const ha_mapped *m, int64_t first, int64_t last, int round) {
    int wrong = 0;
    for (int64_t leaf = 0; leaf < LEAVES; leaf++)
        for (int64_t i = first; i < last; i++) {
            char value[8];
            ha_mapped_get(m, leaf, &i, value);
            wrong += leaf_number(leaf, value) != number(leaf, i, round);
        }
    return wrong;
}

static void set_on_host(atoms r, int round) {
    ha_records_access v;
    fine(ha_records_open(&v, r.records, ha_host(), "overwrite", 0, HA_END));
    set_records(&(ha_mapped){v.mapping, v.blob}, v.first, v.last, round);
    fine(ha_records_close(&v));
}

static void expect_on_host(atoms r, int round) {
    ha_records_access v;
    fine(ha_records_open(&v, r.records, ha_host(), "read", 0, HA_END));
    assert_int_equal(wrong_records(&(ha_mapped){v.mapping, v.blob}, v.first, v.last, round), 0);
    fine(ha_records_close(&v));
    check_invariants(r.records->array);
}

static void touch(atoms r, ha_context *c, const char *what) {
    ha_records_access v;
    fine(ha_records_open(&v, r.records, c, what, 0, HA_END));
    fine(ha_records_close(&v));
    check_invariants(r.records->array);
}

static atoms made(int64_t n, const char *host, ha_context *c, const char *device) {
    atoms r = atoms_new(n);
    assert_non_null(r.records);
    fine(ha_records_layout(r.records, ha_host(), host));
    fine(ha_records_layout(r.records, c, device));
    return r;
}

static uint64_t moved(atoms r) { return ha_records_statistics(r.records).bytes; }

static void expect_tables(atoms r, ha_context *c, int scatters) {
    const int n = tables();
    if (scatters < 0 || (n > 0) == scatters) return;
    fail_msg("%d tables between %s and %s", n, ha_records_mapping(r.records, ha_host())->text,
             ha_records_mapping(r.records, c)->text);
}

/* There and back, put into place by the device or by the host, so that no mistake of one is undone by
 * itself. scatters: whether the device is asked at all; negative: as it may be. */
static void there_and_back(atoms r, ha_context *c, int up, int down, int scatters, int round) {
    const uint64_t before = moved(r);
    set_on_host(r, round);
    counted.answer = up ? HA_OK : HA_ERR_UNSUPPORTED;
    touch(r, c, "read");
    expect_tables(r, c, scatters);
    touch(r, c, "write");
    counted.answer = down ? HA_OK : HA_ERR_UNSUPPORTED;
    expect_on_host(r, round);
    expect_tables(r, c, scatters);
    assert_int_equal(moved(r) - before, 2 * (uint64_t)ha_records_size(r.records) * ATOM_BYTES);
}

static const struct {
    const char *host, *device;
    int scatters;
} pairs[] = {
    {"aos", "soa", 1},
    {"soa", "aos", 1},
    {"aos", "aosoa(8)", 1},
    {"aosoa(16)", "soa", 1},
    {"aosoa(16)", "aos(packed)", 1},
    {"soa(single)", "aosoa(32)", 1},
    {"aos(packed)", "soa(single,aligned)", 1},
    {"split(separate; pos: aos, soa)", "soa", 1},
    {"byteswap(aos)", "byteswap(soa)", 1},
    {"bytesplit(aos)", "bytesplit(soa)", 1},
    {"aos", "byteswap(soa)", 0}, /* not the same bytes */
    {"soa@morton", "aos", 0},    /* no stride pattern */
    {"aosoa(4)", "aosoa(8)", 0}, /* blocks of both */
    {"aos", "aos", 0},           /* nothing to be done */
};

static void pairs_at(ha_context *c) {
    static const int64_t sizes[] = {LARGE, 64, 64 * 11}; /* what is in few pieces is not worth it */
    (void)counted_at(c);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int k = 0; k < 3; k++) {
            if (!is_tried((int)i, k)) continue;
            atoms r = made(sizes[k], pairs[i].host, c, pairs[i].device);
            const int scatters = pairs[i].scatters && k ? -1 : pairs[i].scatters;
            there_and_back(r, c, 1, 0, scatters, 1);
            there_and_back(r, c, 0, 1, scatters, 2);
            there_and_back(r, c, 1, 1, scatters, 3);
            fine(atoms_free(&r));
        }
    assert_true(ha_context_memory(c).staging <= HA_RECORDS_PART_BYTES_ * 5 / 4);
    c->ops = counted.ops;
}

TEST(pairs_of_layouts) { pairs_at(sim()); }

TEST(pairs_of_layouts_by_cuda) {
    pairs_at(cuda(HA_CUDA_DEVICE));
    fine(ha_shutdown());
    pairs_at(cuda(HA_CUDA_MANAGED));
}

/* Two dimensions, in the same order and in another one. */
TEST(of_two_dimensions) {
    static const char *const layouts[] = {"soa", "soa@col", "aosoa(4)", "aosoa(4)@col", "aos@col"};
    const int64_t extent[] = {37, 21};
    ha_context *c = counted_at(sim());
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        ha_records_access v;
        ha_records *r = ha_records_new(&atom_record, 2, extent, "aos");
        fine(ha_records_layout(r, c, layouts[i]));
        fine(ha_records_open(&v, r, ha_host(), "overwrite", 0, HA_END));
        const ha_mapped m = {v.mapping, v.blob};
        for (int64_t leaf = 0; leaf < LEAVES; leaf++)
            for (int64_t at[4] = {0}; at[0] < 37; at[0]++)
                for (at[1] = 0; at[1] < 21; at[1]++) {
                    char value[8];
                    leaf_set_number(leaf, number(leaf, at[0] * 21 + at[1], 1), value);
                    ha_mapped_set(&m, leaf, at, value);
                }
        fine(ha_records_close(&v));
        fine(ha_records_open(&v, r, c, "write", 0, HA_END));
        fine(ha_records_close(&v));
        assert_int_equal(tables() > 0, i != 3); /* lanes count the other index first */
        counted.answer = HA_ERR_UNSUPPORTED;
        fine(ha_records_open(&v, r, ha_host(), "read", 0, HA_END));
        const ha_mapped is = {v.mapping, v.blob};
        for (int64_t leaf = 0; leaf < LEAVES; leaf++)
            for (int64_t at[4] = {0}; at[0] < 37; at[0]++)
                for (at[1] = 0; at[1] < 21; at[1]++) {
                    char value[8];
                    ha_mapped_get(&is, leaf, at, value);
                    assert_true(leaf_number(leaf, value) == number(leaf, at[0] * 21 + at[1], 1));
                }
        fine(ha_records_close(&v));
        counted.answer = HA_OK;
        fine(ha_records_free(r));
        (void)tables();
    }
    c->ops = counted.ops;
}

/* Only what was asked for moves: from an array of structs the host gathers it, whole fields the
 * device puts into place; and what the device has of the others stays. */
TEST(only_what_is_asked_for) {
    ha_context *c = counted_at(sim());
    atoms r = made(N, "aos", c, "soa");
    set_on_host(r, 1);
    touch(r, c, "read pos");
    assert_int_equal(tables(), 0);
    assert_int_equal(moved(r), N * POS_BYTES);
    assert_false(ha_records_valid(r.records, c, "vel", 0, HA_END));
    fine(atoms_free(&r));
    r = made(N, "soa", c, "aos");
    set_on_host(r, 1);
    touch(r, c, "write vel");
    set_on_host(r, 2); /* also vel, but that comes from the device below */
    touch(r, c, "read vel");
    touch(r, c, "write vel");
    (void)tables();
    const uint64_t before = moved(r);
    touch(r, c, "read pos");
    assert_true(tables() > 0);
    assert_int_equal(moved(r) - before, N * POS_BYTES);
    assert_false(ha_records_valid(r.records, c, "mass", 0, HA_END));
    expect_on_host(r, 2);
    fine(atoms_free(&r));
    c->ops = counted.ops;
}

/* Of records that are half padding the host leaves that out. */
TEST(records_with_much_padding) {
    const int64_t n = N;
    ha_context *c = counted_at(sim());
    ha_record *record = ha_record_parse("a:f64 b:u8", NULL);
    ha_records *r = ha_records_new(record, 1, &n, "aos");
    ha_records_access v;
    assert_non_null(r);
    fine(ha_records_layout(r, c, "soa"));
    fine(ha_records_open(&v, r, ha_host(), "overwrite", 0, HA_END));
    fine(ha_records_close(&v));
    fine(ha_records_open(&v, r, c, "write", 0, HA_END));
    fine(ha_records_close(&v));
    assert_int_equal(tables(), 0);
    fine(ha_records_free(r));
    ha_record_free(record);
    c->ops = counted.ops;
}

/* Nor are the places behind the last record in a block of the caller's. */
TEST(blocks_of_the_caller) {
    enum { LANES = 16 };
    const int64_t n = N;
    ha_context *c = counted_at(sim());
    ha_mapping *m = ha_mapping_parse(&atom_record, "aosoa(16)", 1, &n, NULL);
    const size_t bytes = (size_t)m->blob[0].bytes, block = (size_t)m->row[0].block_stride;
    unsigned char *mine = (unsigned char *)aligned_alloc(64, (bytes + 63) / 64 * 64), *last;
    void *blob[] = {mine};
    const ha_mapped memory = {m, blob};
    assert_true(m->blobs == 1 && mine && bytes % block == 0);
    memset(mine, 0x5A, bytes);
    set_records(&memory, 0, N, 1);
    atoms r = {.records = ha_records_wrap(&memory, NULL, 0)};
    assert_non_null(r.records);
    fine(ha_records_layout(r.records, c, "soa"));
    touch(r, c, "write");
    atoms other = made(2 * N, "aos", c, "soa"); /* is in the chunk then */
    set_on_host(other, 2);
    touch(other, c, "read");
    assert_true(tables() > 0);
    expect_on_host(r, 1);
    fine(ha_records_unwrap(r.records));
    fine(atoms_free(&other));
    last = mine + bytes - block;
    for (int leaf = 0; leaf < LEAVES; leaf++)
        for (size_t i = N % LANES * leaf_bytes[leaf]; i < LANES * leaf_bytes[leaf]; i++)
            assert_int_equal(last[(size_t)m->row[leaf].base + i], 0x5A);
    free(mine);
    ha_mapping_free(m);
    c->ops = counted.ops;
}

/* Padding of the caller's structs may be the caller's: it is not written. */
TEST(padding_of_the_caller) {
    static atom mine[N];
    ha_context *c = counted_at(sim());
    memset(mine, 0x5A, sizeof mine);
    atoms r = atoms_of(mine, N);
    assert_non_null(r.records);
    fine(ha_records_layout(r.records, c, "soa"));
    set_on_host(r, 1);
    touch(r, c, "write");
    fine(atoms_sync(r));
    fine(atoms_unwrap(&r));
    for (int i = 0; i < N; i++) {
        const unsigned char *bytes = (const unsigned char *)&mine[i];
        assert_true(mine[i].pos.x == number(POS, i, 1) && mine[i].flag == number(FLAG, i, 1));
        for (size_t b = offsetof(atom, flag) + 1; b < sizeof(atom); b++)
            assert_int_equal(bytes[b], 0x5A);
    }
    c->ops = counted.ops;
}

/* ---- record arrays: what goes wrong ---------------------------------------------------------- */

/* The device finds out too late that it cannot: the host converts. What is an error stays one, and
 * nothing else has changed. */
TEST(devices_that_fail_to) {
    static const ha_status late[] = {HA_ERR_UNSUPPORTED, HA_ERR_MEMORY};
    ha_context *c = counted_at(sim());
    for (int i = 0; i < 2; i++) {
        atoms r = made(N, "aos", c, "soa");
        set_on_host(r, 1);
        counted.answer = late[i];
        touch(r, c, "write");
        assert_int_equal(tables(), 1);
        expect_on_host(r, 1);
        assert_int_equal(tables(), 1);
        fine(atoms_free(&r));
    }
    ha_records_access v;
    atoms r = made(N, "aos", c, "soa");
    set_on_host(r, 1);
    counted.answer = HA_ERR_BACKEND;
    assert_int_equal(ha_records_open(&v, r.records, c, "write", 0, HA_END), HA_ERR_BACKEND);
    assert_int_equal(ha_take_error().status, HA_ERR_BACKEND);
    assert_false(ha_records_valid(r.records, c, "id", 0, 1));
    counted.answer = HA_OK;
    touch(r, c, "write");
    counted.answer = HA_ERR_BACKEND;
    assert_int_equal(ha_records_open(&v, r.records, ha_host(), "read", 0, HA_END), HA_ERR_BACKEND);
    assert_int_equal(ha_take_error().status, HA_ERR_BACKEND);
    counted.answer = HA_OK;
    expect_on_host(r, 1);
    fine(atoms_free(&r));
    c->ops = counted.ops;
}

/* Another thread has the chunk; or there is no room for one. */
TEST(without_a_chunk) {
    enum { CAPACITY = 256 << 10 };
    ha_context *c = sim_with(&(ha_sim_options){.strides = 1, .capacity = CAPACITY});
    fine(ha_memory_set_cache(c, 0));
    (void)counted_at(c);
    atoms r = made(N, "aos", c, "soa");
    there_and_back(r, c, 1, 1, 1, 1);
    assert_true(ha_context_memory(c).staging > 0);
    c->memory->device_staging->taken = 1;
    there_and_back(r, c, 1, 1, 0, 2);
    c->memory->device_staging->taken = 0;
    there_and_back(r, c, 1, 1, 1, 3);
    /* the chunk makes way for what is needed more */
    const size_t left = CAPACITY - (size_t)ha_context_memory(c).live;
    void *rest = ha_memory_allocate(c, left);
    assert_non_null(rest);
    assert_int_equal(ha_context_memory(c).staging, 0);
    there_and_back(r, c, 1, 1, 0, 4);
    fine(ha_memory_release(c, rest));
    there_and_back(r, c, 1, 1, 1, 5);
    (void)ha_memory_trim(c, 0);
    assert_int_equal(ha_context_memory(c).staging, 0);
    fine(atoms_free(&r));
    c->ops = counted.ops;
}

static void *allocate_main(void *argument) {
    ha_context *c = *(ha_context **)argument;
    return ha_memory_allocate(c, 200 << 10);
}

/* Whoever needs the room waits for another thread that is just using the chunk. */
TEST(room_that_the_chunk_takes) {
    ha_context *c = sim_with(&(ha_sim_options){.strides = 1, .capacity = 256 << 10});
    pthread_t thread;
    void *block;
    fine(ha_memory_set_cache(c, 0));
    ha_chunk *chunk = ha_device_staging_take(c->memory, 128 << 10, "test");
    assert_non_null(chunk);
    assert_int_equal(pthread_create(&thread, NULL, allocate_main, &c), 0);
    until_quiet();
    ha_chunk_give(chunk);
    assert_int_equal(pthread_join(thread, &block), 0);
    assert_non_null(block);
    assert_null(
        ha_device_staging_take(c->memory, 128 << 10, "test")); /* who takes it waits for nobody */
    fine(ha_memory_release(c, block));
}

/* Another queue of the device comes after what the chunk is used for; also when that is lost. */
TEST(one_chunk_for_all_queues) {
    for (int lost = 0; lost < 2; lost++) {
        ha_context *c = sim(), *fork = ha_context_fork(c);
        assert_non_null(fork);
        atoms one = made(60, "aos", c, "soa"), two = made(60, "aos", c, "soa");
        set_on_host(one, 1);
        set_on_host(two, 2);
        fine(ha_sim_hold(c));
        fine(ha_records_prefetch(one.records, c, "", 0, HA_END));
        fine(ha_sim_step(c, 1)); /* it is in the chunk, and not yet at its place */
        until_quiet();
        (void)counted_at(fork);
        if (lost) fine(ha_sim_fail(c));
        fine(ha_records_prefetch(two.records, fork, "", 0, HA_END));
        assert_int_equal(tables(), 1);
        until_quiet();
        if (!lost) fine(ha_sim_step(c, -1));
        fine(ha_context_finish(fork));
        touch(two, fork, "write");
        expect_on_host(two, 2);
        if (!lost) {
            touch(one, c, "write");
            expect_on_host(one, 1);
        }
        fine(atoms_free(&one));
        fine(atoms_free(&two));
        fork->ops = counted.ops;
        fine(ha_shutdown());
    }
}

/* From device to device, where they reach each other; else, or where no chunk is free, by the host. */
TEST(between_devices) {
    ha_context *one = sim_with(&(ha_sim_options){.strides = 1, .peers = 1});
    ha_context *two = counted_at(ha_context_find("sim:1"));
    static const char *const layouts[] = {"aosoa(16)", "aosoa(16)", "byteswap(soa)"};
    for (int i = 0; i < 3; i++) {
        atoms r = made(N, "aos", one, "soa");
        fine(ha_records_layout(r.records, two, layouts[i]));
        set_on_host(r, i);
        touch(r, one, "write");
        assert_false(ha_records_valid(r.records, ha_host(), "pos", 0, HA_END));
        if (i == 1) {
            touch(r, two, "read flag");
            two->memory->device_staging->taken = 1;
        }
        (void)tables();
        touch(r, two, "read");
        assert_int_equal(tables() > 0, i == 0);
        assert_int_equal(ha_records_valid(r.records, ha_host(), "pos", 0, HA_END), i > 0);
        if (two->memory->device_staging) two->memory->device_staging->taken = 0;
        touch(r, two, "write");
        expect_on_host(r, i);
        fine(atoms_free(&r));
    }
    two->ops = counted.ops;
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct user {
    pthread_t thread;
    ha_context *context;
    int failed;
} user;

static void *use_main(void *argument) {
    user *u = (user *)argument;
    atoms r = atoms_new(300);
    for (int round = 0; round < 20; round++) {
        ha_records_access v;
        u->failed |= (int)ha_records_open(&v, r.records, ha_host(), "overwrite", 0, HA_END);
        set_records(&(ha_mapped){v.mapping, v.blob}, 0, 300, round);
        u->failed |= (int)ha_records_close(&v);
        u->failed |= (int)ha_records_open(&v, r.records, u->context, "write", 0, HA_END);
        u->failed |= (int)ha_records_close(&v);
        u->failed |= (int)ha_records_open(&v, r.records, ha_host(), "read", 0, HA_END);
        u->failed |= wrong_records(&(ha_mapped){v.mapping, v.blob}, 0, 300, round);
        u->failed |= (int)ha_records_close(&v);
    }
    u->failed |= (int)atoms_free(&r);
    return NULL;
}

TEST(several_threads) {
    ha_context *c = sim(), *fork = ha_context_fork(c);
    user users[4];
    for (int i = 0; i < 4; i++) {
        users[i] = (user){.context = i % 2 ? fork : c};
        assert_int_equal(pthread_create(&users[i].thread, NULL, use_main, &users[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(users[i].thread, NULL), 0);
        assert_int_equal(users[i].failed, 0);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_by_the_host),
        cmocka_unit_test(copies_by_the_kernel),
        cmocka_unit_test(more_than_the_kernel_counts),
        cmocka_unit_test_teardown(copies_by_the_simulated_device, end),
        cmocka_unit_test_teardown(a_simulated_device_that_cannot, end),
        cmocka_unit_test_teardown(copies_by_cuda_devices, end_cuda),
        cmocka_unit_test_teardown(modules_that_are_refused, end_cuda),
        cmocka_unit_test_teardown(launches_that_fail, end_cuda),
        cmocka_unit_test_teardown(while_a_stream_is_captured, end_cuda),
        cmocka_unit_test_teardown(pairs_of_layouts, end),
        cmocka_unit_test_teardown(pairs_of_layouts_by_cuda, end_cuda),
        cmocka_unit_test_teardown(of_two_dimensions, end),
        cmocka_unit_test_teardown(only_what_is_asked_for, end),
        cmocka_unit_test_teardown(records_with_much_padding, end),
        cmocka_unit_test_teardown(blocks_of_the_caller, end),
        cmocka_unit_test_teardown(padding_of_the_caller, end),
        cmocka_unit_test_teardown(devices_that_fail_to, end),
        cmocka_unit_test_teardown(without_a_chunk, end),
        cmocka_unit_test_teardown(room_that_the_chunk_takes, end),
        cmocka_unit_test_teardown(one_chunk_for_all_queues, end),
        cmocka_unit_test_teardown(between_devices, end),
        cmocka_unit_test_teardown(several_threads, end),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
