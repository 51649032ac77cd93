/* A device that works on host memory in place, but not on all of it: what is not mapped is exchanged
 * for pinned memory when an access is opened there, the caller's own is refused. On the mapping
 * device of device/device.h. Also compiled with HARRAY_DEBUG. */
#define _GNU_SOURCE
#include <stdlib.h>

static int allocations_left = -1; /* until one fails; negative: none does */
static int is_to_fail(void) { return allocations_left >= 0 && allocations_left-- == 0; }

#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#define HARRAY_MALLOC(bytes) (is_to_fail() ? NULL : malloc(bytes))
#define HARRAY_REALLOC(block, bytes) (is_to_fail() ? NULL : realloc(block, bytes))
#define HARRAY_FREE free
#include "../support/own_memory.h"
#include "../../harray.h"
#include "../support/matrix.h"
#include "../support/threads.h"

enum { N = 1000 };

/* The address at C of an array that is opened there; it must be one that the device can work on. */
static const void *address_at_c(harray_double x) {
    const void *address = NULL;
    HA_READING(v, x, C) address = v.data;
    else fail();
    step();
    return address;
}

static void expect_pinned(harray_double x) { assert_true(private_is_pinned(address_at_c(x))); }

static size_t bytes_of(const ha_array *array) { return array->first.block->bytes; }

/* An array whose memory on the host the device has no part in. */
static harray_double pageable(size_t n) {
    harray_double x = ramp(n);
    assert_false(private_is_pinned(x.array->first.data));
    return x;
}

static int begin_mapping(void **state) {
    private_map(NULL, 0);
    private_pinned_capacity = (size_t)1 << 30;
    (void)ha_memory_trim(C, 0);
    return begin_case(state);
}
#define MAPPING(name) cmocka_unit_test_setup_teardown(name, begin_mapping, end_case)

/* ---- exchanged, or not ------------------------------------------------------------------------ */

TEST(exchanged_when_opened) {
    harray_double x = pageable(N);
    expect_pinned(x);
    assert_true(VALID(x, H) && VALID(x, C));
    add_at(x, C, 1);
    assert_true(sum_at(x, H) == N * (N - 1) / 2. + N);
    MOVED(x, 0, 0);
    const size_t asked = private_pinned.asked;
    touch(x, C);
    assert_int_equal(private_pinned.asked, asked); /* pinned: needs no question */
    drop(x);
}

TEST(each_way_to_open) {
    const unsigned ways[] = {HA_READ, HA_WRITE, HA_OVERWRITE};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        harray_double x = pageable(N);
        ha_access v;
        SUCCEEDS(ha_open(&v, x.array, C, ways[i], 10, 20));
        assert_true(private_is_pinned(v.data));
        SUCCEEDS(ha_close(&v));
        VALID_RANGES(x, H, {0, N});
        if (ways[i] != HA_OVERWRITE) assert_true(sum_at(x, H) == N * (N - 1) / 2.);
        drop(x);
    }
}

TEST(what_is_mapped_stays) {
    harray_double x = pageable(N);
    const void *data = x.array->first.data;
    private_map(data, bytes_of(x.array));
    assert_ptr_equal(address_at_c(x), data);
    add_at(x, C, 1);
    assert_ptr_equal(x.array->first.data, data);
    private_map(data, bytes_of(x.array) - 1); /* no longer all of it */
    expect_pinned(x);
    assert_true(sum_at(x, H) == N * (N - 1) / 2. + N);
    drop(x);
}

/* Pinned by another device: whether that will do, this one says. */
TEST(another_devices_pinned_memory) {
    if (HA_DEBUGGING_) skip(); /* nothing is pinned there */
    for (int mapped = 0; mapped < 2; mapped++) {
        harray_double x = keep(harray_double_filled_at(N, 2, M1));
        const char *data = NULL;
        HA_READING(v, x, H) data = (const char *)v.data;
        else fail();
        assert_int_equal(ha_pointer_kind(data, NULL), HA_MEMORY_PINNED);
        if (mapped) private_map(data, (size_t)1 << 20);
        assert_int_equal(address_at_c(x) == (const void *)data, mapped);
        assert_int_equal(private_is_pinned(address_at_c(x)), !mapped);
        assert_true(sum_at(x, C) == 2 * N);
        drop(x);
    }
}

TEST(valid_ranges_stay_valid) {
    harray_double x = keep(harray_double_new(N));
    SUCCEEDS(ha_array_reserve(x.array, H, 2 * N));
    HA_OVERWRITING_RANGE(v, x, H, 10, 20) for (size_t i = 0; i < v.size; i++) v.data[i] = 1;
    HA_OVERWRITING_RANGE(v, x, H, 30, N) for (size_t i = 0; i < v.size; i++) v.data[i] = 2;
    const size_t capacity = CAPACITY(x, H);
    HA_READING_RANGE(v, x, C, 12, 15) assert_true(private_is_pinned(v.data));
    else fail();
    VALID_RANGES(x, H, {10, 20}, {30, N});
    VALID_RANGES(x, C, {10, 20}, {30, N});
    assert_int_equal(CAPACITY(x, C), capacity);
    assert_true(sum_range(x, H, 10, 20) == 10 && sum_range(x, H, 30, N) == 2 * (N - 30));
    HA_READING(v, x, C) fail();
    assert_int_equal(ha_take_error().status, HA_ERR_STATE); /* never written */
    drop(x);
}

/* Nothing of them will be touched, so they hinder nobody, and nobody them. */
TEST(accesses_without_elements) {
    harray_double x = pageable(N), empty = keep(harray_double_new(0));
    HA_READING_RANGE(v, x, H, 5, 5) {
        HA_READING_RANGE(w, x, C, 7, 7) expect_pinned(x);
        else fail();
    }
    else fail();
    touch(empty, C);
    HA_OVERWRITING(v, empty, C, 0) assert_null(v.data);
    else fail();
    drop(x);
    drop(empty);
}

TEST(what_comes_from_elsewhere) {
    harray_double x = pageable(N);
    add_at(x, M1, 1); /* now it is valid there alone */
    expect_pinned(x);
    assert_true(sum_at(x, C) == N * (N - 1) / 2. + N);
    MOVED(x, 2, 2 * N * sizeof(double));
    drop(x);
}

/* The old block is still being copied from when it is exchanged, and goes later. */
TEST(behind_work_on_the_old_block) {
    harray_double x = pageable(N);
    SUCCEEDS(ha_array_prefetch(x.array, M1, 0, HA_END));
    HA_READING(v, x, C) assert_true(private_is_pinned(v.data));
    else fail();
    add_at(x, C, 1);
    assert_true(sum_at(x, M1) == N * (N - 1) / 2. + N);
    drop(x);
}

/* ---- it is looked at each time ---------------------------------------------------------------- */

TEST(the_host_takes_a_new_block) {
    harray_double x = pageable(10), y = pageable(N);
    expect_pinned(x);
    SUCCEEDS(harray_double_resize(x, N)); /* grown on the host, whose array it is */
    HA_WRITING_RANGE(v, x, H, 10, N) for (size_t i = 0; i < v.size; i++) v.data[i] = 1;
    else fail();
    assert_false(private_is_pinned(x.array->first.data));
    expect_pinned(x);
    assert_true(sum_at(x, H) == 45 + N - 10);
    SUCCEEDS(harray_double_swap(x, y));
    expect_pinned(x);
    expect_pinned(y);
    SUCCEEDS(ha_array_purge(x.array));
    HA_OVERWRITING(v, x, H, N) v.data[0] = 1;
    else fail();
    expect_pinned(x);
    drop(x);
    drop(y);
}

TEST(growing_there) {
    harray_double x = pageable(10);
    HA_WRITING(v, x, C) {
        SUCCEEDS(ha_access_resize(&v, N));
        assert_true(private_is_pinned(v.data));
    }
    else fail();
    HA_OVERWRITING(v, x, C, 5 * N) assert_true(private_is_pinned(v.data));
    else fail();
    drop(x);
    x = pageable(N);
    HA_OVERWRITING(v, x, C, N / 2) assert_true(private_is_pinned(v.data));
    else fail();
    VALID_RANGES(x, H, {0, N / 2});
    drop(x);
}

TEST(created_there) {
    harray_double x = keep(harray_double_zeros_at(N, C)), y = keep(harray_double_new_at(0, C));
    assert_true(private_is_pinned(x.array->first.data));
    HA_OVERWRITING(v, y, H, N) v.data[0] = 1; /* with HARRAY_DEBUG that is no pinned block */
    else fail();
    expect_pinned(x);
    expect_pinned(y);
    harray_double z = keep(harray_double_copy(x));
    expect_pinned(z);
    drop(x);
    drop(y);
    drop(z);
    void *block = ha_memory_allocate(C, 100);
    assert_true(private_is_pinned(block));
    SUCCEEDS(ha_memory_release(C, block));
}

TEST(forks_ask_too) {
    ha_context *fork = ha_context_fork(C);
    harray_double x = pageable(N);
    assert_true(ha_context_is_zero_copy(fork));
    HA_READING(v, x, fork) assert_true(private_is_pinned(v.data));
    else fail();
    drop(x);
    SUCCEEDS(ha_context_unfork(fork));
    void *queue = private_own_queue(PRIVATE_MAPPING);
    for (int i = 0; i < 2; i++) { /* the second time the context is used again */
        ha_context *adopted = ha_context_adopt(C, queue);
        assert_non_null(adopted);
        x = pageable(N);
        HA_READING(v, x, adopted) assert_true(private_is_pinned(v.data));
        else fail();
        drop(x);
        SUCCEEDS(ha_context_unfork(adopted));
    }
    private_destroy(queue);
}

TEST(prefetched) {
    harray_double x = pageable(N);
    SUCCEEDS(ha_array_prefetch(x.array, C, 0, HA_END));
    assert_true(private_is_pinned(x.array->first.data));
    drop(x);
    x = pageable(N);
    HA_READING(v, x, H) SUCCEEDS(ha_array_prefetch(x.array, C, 0, HA_END)); /* not now */
    else fail();
    assert_false(private_is_pinned(x.array->first.data));
    expect_pinned(x);
    drop(x);
}

/* ---- no pinned memory ------------------------------------------------------------------------- */

TEST(pinned_memory_is_full) {
    harray_double x = pageable(N), y = pageable(N);
    const char *data = x.array->first.data;
    expect_pinned(y);
    private_pinned_capacity = private_pinned.used;
    const snapshot before = snapshot_of(x);
    HA_READING(v, x, C) fail();
    const ha_error error = ha_take_error();
    assert_int_equal(error.status, HA_ERR_MEMORY);
    assert_non_null(strstr(error.text, "no pinned memory"));
    HA_WRITING_RANGE(v, x, C, 3, 4) fail();
    assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
    HA_OVERWRITING(v, x, C, N) fail();
    assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
    HA_OVERWRITING(v, x, C, 2 * N) fail();
    assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
    expect_unchanged(x, &before);
    assert_ptr_equal(x.array->first.data, data);
    assert_true(sum_at(x, H) == N * (N - 1) / 2.);
    REFUSED_NULL(HA_ERR_MEMORY, ha_memory_allocate(C, N * sizeof(double)));
    REFUSED_NULL(HA_ERR_MEMORY, harray_double_new_at(N, C).array);
    drop(y); /* its block is kept for whoever comes next */
    expect_pinned(x);
    drop(x);
}

/* Each allocation on the way fails once; an open that failed has changed nothing that one sees. */
TEST(each_allocation_fails) {
    const unsigned ways[] = {HA_READ, HA_WRITE, HA_OVERWRITE};
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        int failures = 0;
        for (ha_status status = HA_ERR_MEMORY; status; failures++) {
            harray_double x = pageable(N);
            ha_access v;
            SUCCEEDS(ha_array_prefetch(x.array, M1, 0, HA_END)); /* work on the old block */
            (void)ha_memory_trim(C, 0);
            const snapshot before = snapshot_of(x);
            allocations_left = failures;
            status = ha_open(&v, x.array, C, ways[way], 0, HA_END);
            allocations_left = -1;
            if (status) {
                assert_int_equal(status, HA_ERR_MEMORY);
                assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
                expect_unchanged(x, &before);
                assert_true(sum_at(x, H) == N * (N - 1) / 2.);
            } else {
                assert_true(private_is_pinned(v.data));
                SUCCEEDS(ha_close(&v));
            }
            drop(x);
        }
        assert_true(failures > 1);
    }
}

/* Of memory that queues still use, it is waited for. */
TEST(pinned_memory_is_waited_for) {
    harray_double x = keep(harray_double_zeros_at(N, C)), y = pageable(N);
    SUCCEEDS(ha_memory_set_cache(C, 0));
    private_pinned_capacity = private_pinned.used;
    add_at(x, C, 1);
    drop(x);
    expect_pinned(y);
    drop(y);
    SUCCEEDS(ha_memory_set_cache(C, UINT64_MAX));
}

/* ---- the caller's memory ---------------------------------------------------------------------- */

TEST(wrapped_memory) {
    static double u[N];
    harray_double x = keep(harray_double_wrap(u, N));
    harray_double_set_name(x, "u");
    HA_OVERWRITING_ALL(v, x, H) for (size_t i = 0; i < N; i++) v.data[i] = 1;
    else fail();
    const snapshot before = snapshot_of(x);
    HA_READING(v, x, C) fail();
    const ha_error error = ha_take_error();
    assert_int_equal(error.status, HA_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "'u' (double[1000])"));
    assert_non_null(strstr(error.text, "cudaHostRegister"));
    assert_non_null(strstr(error.text, "ha_context_set_zero_copy(context, 0)"));
    HA_OVERWRITING(v, x, C, 10) fail();
    assert_int_equal(ha_take_error().status, HA_ERR_UNSUPPORTED);
    private_map(u, sizeof u / 2);
    HA_WRITING(v, x, C) fail();
    assert_int_equal(ha_take_error().status, HA_ERR_UNSUPPORTED);
    expect_unchanged(x, &before);
    private_map(u, sizeof u);
    assert_ptr_equal(address_at_c(x), u);
    add_at(x, C, 1);
    assert_true(sum_at(x, H) == 2 * N);
    SUCCEEDS(harray_double_sync(x));
    assert_true(u[N - 1] == 2);
    drop(x);
}

TEST(letting_the_context_copy) {
    static double u[N];
    SUCCEEDS(ha_context_set_zero_copy(C, 0));
    harray_double x = keep(harray_double_wrap(u, N));
    add_at(x, C, 1);
    MOVED(x, 1, sizeof u);
    SUCCEEDS(harray_double_sync(x));
    assert_true(u[0] == 1 && u[N - 1] == 1);
    drop(x);
    SUCCEEDS(ha_context_set_zero_copy(C, 1));
    x = pageable(N);
    expect_pinned(x);
    drop(x);
}

/* ---- while it is open elsewhere --------------------------------------------------------------- */

/* The pointer of an open access stays what it is. */
TEST(open_on_the_host_in_this_thread) {
    harray_double x = pageable(N);
    const snapshot before = snapshot_of(x);
    HA_READING_RANGE(v, x, H, 0, 10) {
        HA_READING(w, x, C) fail();
        const ha_error error = ha_take_error();
        assert_int_equal(error.status, HA_ERR_CONFLICT);
        assert_non_null(strstr(error.text, "its block would have to change"));
        HA_OVERWRITING_RANGE(w, x, C, 500, 501) fail(); /* elements that nobody uses */
        assert_int_equal(ha_take_error().status, HA_ERR_CONFLICT);
        assert_true(v.data[9] == 9);
    }
    else fail();
    expect_unchanged(x, &before);
    HA_READING(w, x, C) {
        HA_READING(v, x, H) assert_true(v.data[9] == 9); /* in this order they can */
        else fail();
        HA_WRITING_RANGE(v, x, C, 5, 6) assert_true(private_is_pinned(v.data));
        else fail();
    }
    else fail();
    drop(x);
}

TEST(open_on_the_host_in_another_thread) {
    harray_double x = pageable(N);
    opener reader, device;
    start_open(&reader, x.array, H, HA_READ, 0, 10);
    assert_int_equal(wait_opened(&reader), HA_OK);
    HA_TRY_READING(v, x, C) fail();
    const uint64_t sleeps = ha_test_sleeps_();
    start_open(&device, x.array, C, HA_READ, 500, 600);
    until_asleep(sleeps + 1);
    assert_false(has_opened(&device));
    finish(&reader);
    assert_int_equal(wait_opened(&device), HA_OK);
    assert_true(private_is_pinned(x.array->first.data));
    finish(&device);
    drop(x);
}

typedef struct release {
    opener *reader;
    uint64_t sleeps;
} release;

static void *close_when_asleep(void *argument) {
    release *r = (release *)argument;
    until_asleep(r->sleeps);
    raise_flag(&r->reader->may_close);
    return NULL;
}

/* Of two that wait to exchange the block one does; then the other need not wait for it. */
TEST(exchanged_by_another_one_that_waited) {
    harray_double x = pageable(N);
    opener reader, device[2];
    start_open(&reader, x.array, H, HA_READ, 0, 10);
    assert_int_equal(wait_opened(&reader), HA_OK);
    for (size_t i = 0; i < 2; i++) { /* elsewhere, or it would queue */
        const uint64_t sleeps = ha_test_sleeps_();
        start_open(&device[i], x.array, C, HA_READ, 100 * (i + 1), 100 * (i + 1) + 50);
        until_asleep(sleeps + 1);
    }
    finish(&reader);
    for (size_t i = 0; i < 2; i++) assert_int_equal(wait_opened(&device[i]), HA_OK);
    expect_pinned(x);
    for (size_t i = 0; i < 2; i++) finish(&device[i]);
    drop(x);
}

/* The same for one that opens several at once. */
TEST(many_exchanged_by_another_one_that_waited) {
    harray_double x = pageable(N);
    opener reader, device;
    ha_access all[2];
    ha_request requests[] = {
        {.access = &all[0], .array = x.array, .context = C, .how = HA_READ, .last = 10},
        {.access = &all[1], .array = x.array, .context = H, .how = HA_READ, .last = 10},
    };
    release r = {&reader, ha_test_sleeps_() + 2};
    pthread_t thread;
    start_open(&reader, x.array, H, HA_READ, 500, 501);
    assert_int_equal(wait_opened(&reader), HA_OK);
    start_open(&device, x.array, C, HA_WRITE, 100, 150);
    until_asleep(r.sleeps - 1);
    assert_int_equal(pthread_create(&thread, NULL, close_when_asleep, &r), 0);
    SUCCEEDS(ha_open_many(requests, 2));
    assert_true(private_is_pinned(all[0].data));
    assert_int_equal(wait_opened(&device), HA_OK);
    for (size_t i = 0; i < 2; i++) SUCCEEDS(ha_close(&all[i]));
    assert_int_equal(pthread_join(thread, NULL), 0);
    finish(&reader);
    finish(&device);
    drop(x);
}

/* Each of two threads reads one array on the host, and wants the other one at the device. */
typedef struct crossing {
    harray_double x, y;
    atomic_int reads_y;
    ha_status status;
} crossing;

static void *read_y_open_x(void *argument) {
    crossing *c = (crossing *)argument;
    HA_READING(v, c->y, H) {
        atomic_store(&c->reads_y, 1);
        ha_access w;
        c->status = ha_open(&w, c->x.array, C, HA_READ, 0, HA_END);
        if (c->status == HA_OK) HA_IGNORE(ha_close(&w));
    }
    return NULL;
}

TEST(waiting_in_a_circle) {
    crossing c = {.x = pageable(N), .y = pageable(N)};
    pthread_t thread;
    ha_access w;
    HA_READING(v, c.x, H) {
        const uint64_t sleeps = ha_test_sleeps_();
        assert_int_equal(pthread_create(&thread, NULL, read_y_open_x, &c), 0);
        while (!atomic_load(&c.reads_y)) sched_yield();
        until_asleep(sleeps + 1);
        REFUSED(HA_ERR_DEADLOCK, ha_open(&w, c.y.array, C, HA_READ, 0, HA_END));
    }
    else fail();
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(c.status, HA_OK);
    expect_pinned(c.x);
    expect_pinned(c.y);
    drop(c.x);
    drop(c.y);
}

TEST(many_at_once) {
    harray_double x = pageable(N);
    ha_access on_host, here, written;
    ha_request all[] = {
        {.access = &on_host, .array = x.array, .context = H, .how = HA_READ, .last = HA_END},
        {.access = &here, .array = x.array, .context = C, .how = HA_READ, .last = HA_END},
    };
    SUCCEEDS(ha_open_many(all, 2)); /* neither has a pointer yet when the block goes */
    assert_true(private_is_pinned(here.data));
    assert_true(((const double *)on_host.data)[9] == 9);
    SUCCEEDS(ha_close(&on_host));
    SUCCEEDS(ha_close(&here));
    drop(x);

    x = pageable(N);
    harray_double y = pageable(N);
    ha_request more[] = {
        {.access = &here, .array = x.array, .context = C, .how = HA_READ, .last = HA_END},
        {.access = &written, .array = y.array, .context = C, .how = HA_WRITE, .last = HA_END},
        {.access = &on_host, .array = x.array, .context = H, .how = HA_READ, .last = HA_END},
    };
    HA_READING(v, x, H) {
        REFUSED(HA_ERR_CONFLICT, ha_open_many(more, 3));
        assert_true(v.data[9] == 9);
    }
    else fail();
    opener reader;
    start_open(&reader, x.array, H, HA_READ, 0, 10);
    assert_int_equal(wait_opened(&reader), HA_OK);
    more[0].how |= HA_TRY;
    REFUSED(HA_ERR_BUSY, ha_open_many(more, 3));
    finish(&reader);
    SUCCEEDS(ha_open_many(more, 3));
    assert_true(private_is_pinned(here.data) && private_is_pinned(written.data));
    assert_true(((const double *)on_host.data)[9] == 9);
    SUCCEEDS(ha_close(&on_host));
    SUCCEEDS(ha_close(&here));
    SUCCEEDS(ha_close(&written));
    drop(x);
    drop(y);
}

/* They wait for the reader, and then do not hinder each other. */
TEST(many_wait) {
    harray_double x = pageable(N);
    ha_access on_host, here;
    ha_request all[] = {
        {.access = &here, .array = x.array, .context = C, .how = HA_READ, .last = HA_END},
        {.access = &on_host, .array = x.array, .context = H, .how = HA_READ, .last = HA_END},
    };
    for (int swapped = 0; swapped < 2; swapped++) {
        opener reader;
        release r = {&reader, ha_test_sleeps_() + 1};
        pthread_t thread;
        start_open(&reader, x.array, H, HA_READ, 0, 10);
        assert_int_equal(wait_opened(&reader), HA_OK);
        assert_int_equal(pthread_create(&thread, NULL, close_when_asleep, &r), 0);
        SUCCEEDS(ha_open_many(all, 2));
        assert_true(private_is_pinned(here.data));
        assert_true(((const double *)on_host.data)[9] == 9);
        SUCCEEDS(ha_close(&on_host));
        SUCCEEDS(ha_close(&here));
        assert_int_equal(pthread_join(thread, NULL), 0);
        finish(&reader);
        drop(x);
        x = pageable(N);
        const ha_request first = all[0];
        all[0] = all[1];
        all[1] = first;
        all[0].array = all[1].array = x.array;
    }
    drop(x);
}

TEST(a_token_keeps_the_block) {
    harray_double x = pageable(N);
    ha_token token = {0};
    HA_READING(v, x, H) SUCCEEDS(ha_detach(&token, &v));
    else fail();
    HA_READING(v, x, C) fail();
    assert_int_equal(ha_take_error().status, HA_ERR_CONFLICT);
    SUCCEEDS(ha_token_finish(&token));
    expect_pinned(x);
    drop(x);
}

/* ---- CUDA ------------------------------------------------------------------------------------- */

/* A GPU works on what its driver has pinned; on a pageable block only where the system shares that. */
TEST(on_cuda) {
    static double u[N];
    if (!ha_context_count("cuda")) skip();
    HA_CHECK(cuda_use(HA_CUDA_DEVICE, NULL));
    setenv("HARRAY_ZERO_COPY", "1", 1);
    ha_context *gpu = require_context("cuda:0");
    unsetenv("HARRAY_ZERO_COPY");
    if (!ha_context_is_zero_copy(gpu)) skip();
    harray_double x = ramp(N), wrapped = keep(harray_double_wrap(u, N));
    HA_WRITING(v, x, gpu) {
        if (cuda_fake()) assert_int_equal(ha_pointer_kind(v.data, NULL), HA_MEMORY_PINNED);
    }
    else fail();
    assert_true(sum_range(x, ha_host(), 0, HA_END) == N * (N - 1) / 2.);
    if (cuda_fake()) {
        HA_READING(v, wrapped, gpu) fail();
        assert_int_equal(ha_take_error().status, HA_ERR_UNSUPPORTED);
    }
    drop(x);
    drop(wrapped);
    SUCCEEDS(ha_shutdown());
}

int main(void) {
    const struct CMUnitTest closed[] = {CASE(on_cuda)};
    const struct CMUnitTest tests[] = {
        MAPPING(exchanged_when_opened),
        MAPPING(each_way_to_open),
        MAPPING(what_is_mapped_stays),
        MAPPING(another_devices_pinned_memory),
        MAPPING(valid_ranges_stay_valid),
        MAPPING(accesses_without_elements),
        MAPPING(what_comes_from_elsewhere),
        MAPPING(behind_work_on_the_old_block),
        MAPPING(the_host_takes_a_new_block),
        MAPPING(growing_there),
        MAPPING(created_there),
        MAPPING(forks_ask_too),
        MAPPING(prefetched),
        MAPPING(pinned_memory_is_full),
        MAPPING(each_allocation_fails),
        MAPPING(pinned_memory_is_waited_for),
        MAPPING(wrapped_memory),
        MAPPING(letting_the_context_copy),
        MAPPING(open_on_the_host_in_this_thread),
        MAPPING(open_on_the_host_in_another_thread),
        MAPPING(exchanged_by_another_one_that_waited),
        MAPPING(many_exchanged_by_another_one_that_waited),
        MAPPING(waiting_in_a_circle),
        MAPPING(many_at_once),
        MAPPING(many_wait),
        MAPPING(a_token_keeps_the_block),
    };
    const matrix_row row = {"mapping:0", "sim:0", "private:0"};
    HA_CHECK(ha_backend_register(&private_mapping_backend));
    enter_row(&row);
    int failed = cmocka_run_group_tests_name("mapping:0", tests, NULL, NULL);
    failed += leave_row();
    return failed + cmocka_run_group_tests_name("cuda", closed, NULL, NULL);
}
