/* Exchange with others on CUDA devices, over the fake driver: whose stream waits for whose, and for
 * how long. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/held.h"

#include <pthread.h>
#include <stdatomic.h>

enum { BYTES = 64 }; /* of every array here: 8 doubles */
#define STREAM(context) ((ha_cu_stream)ha_context_stream(context))

static unsigned char *seen; /* pinned: what a stream has copied from a device */
static ha_cu_stream mine;   /* of C's device, not harray's */

/* Each test has devices of its own: C and M1 on two devices, M2 another queue of C's. */
static int begin_devices(HA_UNUSED void **state) {
    HA_CHECK(cuda_use(HA_CUDA_DEVICE, ""));
    H = ha_host();
    C = ha_context_get("cuda", 0);
    M1 = ha_context_get("cuda", 1);
    M2 = ha_context_fork(C);
    if (begin_case(NULL) || !C || !M1 || !M2) return -1;
    void *pinned = NULL;
    const ha_cu_context context = ((ha_cuda_device *)C->device)->context;
    if (ha_cu.CtxPushCurrent(context) || ha_cu.MemHostAlloc(&pinned, BYTES, 0)) return -1;
    seen = (unsigned char *)pinned;
    memset(seen, 0, BYTES);
    return ha_cu.StreamCreate(&mine, HA_CU_STREAM_NON_BLOCKING) ? -1 : 0;
}

static int end_devices(void **state) {
    ha_cu_context popped;
    int failed = end_case(state);
    if (mine) failed |= ha_cu.StreamDestroy(mine) != HA_CU_SUCCESS;
    failed |= ha_cu.MemFreeHost(seen) != HA_CU_SUCCESS;
    failed |= ha_cu.CtxPopCurrent(&popped) != HA_CU_SUCCESS;
    if (ha_shutdown() != HA_OK) return -1;
    HA_CHECK(cuda_use(HA_CUDA_DEVICE, ""));
    return failed || !cuda_fake_is_empty() ? -1 : 0;
}

static darray zeros(void) {
    const int64_t extent[] = {2, 4};
    darray x = darray_zeros(HA_DTYPE_double, 2, extent, C);
    keep_array(x.array);
    SUCCEEDS(ha_context_finish(C));
    return x;
}

/* Bytes of a device become `value`, and are copied to `seen`, when the stream comes to it. */
static void set(void *data, unsigned char value, ha_cu_stream stream) {
    assert_int_equal(ha_cu.MemsetD8Async((ha_cu_pointer)data, value, BYTES, stream), HA_CU_SUCCESS);
}
static void look(void *data, ha_cu_stream stream) {
    assert_int_equal(ha_cu.MemcpyDtoHAsync(seen, (ha_cu_pointer)data, BYTES, stream),
                     HA_CU_SUCCESS);
}
static void expect_seen(unsigned char value) {
    for (int i = 0; i < BYTES; i++) assert_int_equal(seen[i], value);
}
static void expect_seen_after(ha_cu_stream stream, unsigned char value) {
    assert_int_equal(ha_cu.StreamSynchronize(stream), HA_CU_SUCCESS);
    expect_seen(value);
}
static void stop(ha_cu_stream stream) { cuda_fake()->hold(stream); }
static void go(ha_cu_stream stream) { cuda_fake()->step(stream, -1); }

/* A write access on a context, which does it there when its queue comes to that. */
static void set_at(darray x, ha_context *context, unsigned char value) {
    ha_access v;
    SUCCEEDS(ha_open(&v, x.array, context, HA_WRITE, 0, HA_END));
    set(v.data, value, STREAM(context));
    SUCCEEDS(ha_close(&v));
}

/* A read access on a context, which copies to `seen` when its queue comes to that. */
static void look_at(darray x, ha_context *context) {
    ha_access v;
    SUCCEEDS(ha_open(&v, x.array, context, HA_READ, 0, HA_END));
    look(v.data, STREAM(context));
    SUCCEEDS(ha_close(&v));
}

/* What C's queue waits for has not happened while `held` is; then it has. */
static void expect_c_behind(darray x, ha_cu_stream held, unsigned char value) {
    look_at(x, C);
    until_quiet();
    expect_seen(0);
    go(held);
    expect_seen_after(STREAM(C), value);
}

static ha_dl_managed_tensor_versioned *exported(darray x, unsigned how, const void *stream) {
    ha_dl_managed_tensor_versioned *t = NULL;
    SUCCEEDS(darray_to_dlpack(x, C, how, stream, &t));
    return t;
}

/* ---- handing out ---------------------------------------------------------------------------- */

TEST(fields) {
    darray x = zeros();
    ha_dl_managed_tensor_versioned *t;
    SUCCEEDS(darray_to_dlpack(darray_fix(x, 0, 1), M1, HA_READ, HA_DL_STREAM_NONE, &t));
    assert_int_equal(t->dl_tensor.device.device_type, HA_DL_CUDA);
    assert_int_equal(t->dl_tensor.device.device_id, 1);
    ha_context *owner;
    assert_int_equal(ha_pointer_kind(t->dl_tensor.data, &owner), HA_MEMORY_DEVICE);
    assert_ptr_equal(owner, M1);
    t->deleter(t);
    assert_int_equal(ha_context_dl_device(M2).device_type, HA_DL_CUDA);
    assert_int_equal(ha_context_dl_device(M2).device_id, 0);
    drop_array(x.array);
}

/* The stream may be gone before the deleter runs. */
TEST(a_stream_is_made_to_wait) {
    darray x = zeros();
    stop(STREAM(C));
    set_at(x, C, 1);
    ha_dl_managed_tensor_versioned *t = exported(x, HA_READ, mine);
    look(t->dl_tensor.data, mine);
    until_quiet();
    expect_seen(0);
    go(STREAM(C));
    expect_seen_after(mine, 1);
    assert_int_equal(ha_cu.StreamDestroy(mine), HA_CU_SUCCESS);
    mine = NULL;
    t->deleter(t);
    drop_array(x.array);
}

TEST(a_stream_that_orders_itself) {
    darray x = zeros();
    stop(STREAM(C));
    set_at(x, C, 1);
    ha_dl_managed_tensor_versioned *t = exported(x, HA_READ, HA_DL_STREAM_UNORDERED);
    look(t->dl_tensor.data, mine);
    expect_seen_after(mine, 0);
    go(STREAM(C));
    t->deleter(t);
    drop_array(x.array);
}

typedef struct exporter {
    darray x;
    const void *stream;
    ha_dl_managed_tensor_versioned *t;
    ha_status status;
    atomic_int done;
} exporter;

static void *export_it(void *argument) {
    exporter *e = (exporter *)argument;
    e->status = darray_to_dlpack(e->x, C, HA_READ, e->stream, &e->t);
    atomic_store(&e->done, 1);
    return NULL;
}

/* With no stream, or one that is another in each thread, the values are there on return. */
TEST(no_stream) {
    const void *streams[] = {HA_DL_STREAM_NONE, HA_DL_STREAM_PER_THREAD};
    for (size_t i = 0; i < 2; i++) {
        exporter e = {.x = zeros(), .stream = streams[i]};
        pthread_t thread;
        stop(STREAM(C));
        set_at(e.x, C, 3);
        assert_int_equal(pthread_create(&thread, NULL, export_it, &e), 0);
        until_quiet();
        assert_false(atomic_load(&e.done));
        go(STREAM(C));
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(e.status, HA_OK);
        look(e.t->dl_tensor.data, mine);
        expect_seen_after(mine, 3);
        e.t->deleter(e.t);
        drop_array(e.x.array);
        memset(seen, 0, BYTES);
    }
}

/* What the consumer has enqueued when it calls the deleter is waited for, not by the deleter. */
TEST(the_default_stream_is_waited_for) {
    enum {
        NAMED,
        ADOPTED,
        NONE,
        WAYS
    }; /* also when it was a context's for a while, or no stream is named */
    for (int way = 0; way < WAYS; way++) {
        darray x = zeros();
        ha_context *q = way == ADOPTED ? ha_context_adopt(C, NULL) : NULL;
        ha_dl_managed_tensor_versioned *t = exported(
            x, HA_WRITE, way == NONE ? HA_DL_STREAM_NONE : HA_DL_STREAM_LEGACY);
        if (q) SUCCEEDS(ha_context_unfork(q));
        stop(HA_CU_STREAM_LEGACY_);
        set(t->dl_tensor.data, 4, HA_CU_STREAM_LEGACY_);
        t->deleter(t);
        expect_c_behind(x, HA_CU_STREAM_LEGACY_, 4);
        drop_array(x.array);
        memset(seen, 0, BYTES);
    }
}

TEST(a_contexts_stream_is_waited_for) {
    ha_context *adopted = ha_context_adopt(C, mine), *queues[] = {M2, adopted, C};
    assert_non_null(adopted);
    for (size_t i = 0; i < 3; i++) {
        darray x = zeros();
        ha_dl_managed_tensor_versioned *t = exported(x, HA_WRITE, STREAM(queues[i]));
        stop(STREAM(queues[i]));
        set(t->dl_tensor.data, 5, STREAM(queues[i]));
        t->deleter(t);
        expect_c_behind(x, STREAM(queues[i]), 5);
        drop_array(x.array);
        memset(seen, 0, BYTES);
    }
    SUCCEEDS(ha_context_unfork(adopted));
}

/* A program's own tensor of what it has open: both sides of the consumer's use, on each kind of stream. */
static void use_between(darray x, ha_cu_stream stream, const void *number) {
    ha_access v;
    SUCCEEDS(ha_open(&v, x.array, C, HA_WRITE, 0, HA_END));
    stop(STREAM(C));
    set(v.data, 8, STREAM(C));
    SUCCEEDS(ha_dl_before_(C, number));
    look(v.data, stream);
    until_quiet();
    expect_seen(0);
    go(STREAM(C));
    expect_seen_after(stream, 8);
    memset(seen, 0, BYTES);
    if (stream != STREAM(C)) stop(stream);
    set(v.data, 9, stream);
    ha_dl_after_(C, number);
    SUCCEEDS(ha_close(&v));
    expect_c_behind(x, stream, 9);
    memset(seen, 0, BYTES);
}

TEST(what_is_open_is_used_on_streams) {
    ha_context *adopted = ha_context_adopt(C, mine);
    darray x = zeros();
    use_between(x, STREAM(M2), STREAM(M2));
    use_between(x, mine, mine);
    use_between(x, HA_CU_STREAM_LEGACY_, HA_DL_STREAM_LEGACY);
    SUCCEEDS(ha_context_unfork(adopted));
    SUCCEEDS(
        ha_dl_before_(C, mine)); /* a stream of nobody's is made to wait, and is not waited for */
    ha_dl_after_(C, mine);
    REFUSED(HA_ERR_ARGUMENT, ha_dl_before_(C, STREAM(M1)));
    SUCCEEDS(ha_dl_before_(C, HA_DL_STREAM_UNORDERED));
    ha_dl_after_(C, HA_DL_STREAM_UNORDERED);
    SUCCEEDS(ha_dl_before_(H, HA_DL_STREAM_LEGACY));
    ha_dl_after_(H, HA_DL_STREAM_LEGACY);
    SUCCEEDS(ha_dl_before_(C, HA_DL_STREAM_PER_THREAD));
    ha_dl_after_(C, HA_DL_STREAM_PER_THREAD);
    drop_array(x.array);
}

typedef struct ending {
    const void *stream;
    atomic_int done;
} ending;

static void *end_use(void *argument) {
    ending *e = (ending *)argument;
    ha_dl_after_(C, e->stream);
    atomic_store(&e->done, 1);
    return NULL;
}

/* When the order cannot be had, the end of the use waits itself. */
TEST(an_end_of_use_that_has_to_wait) {
    const ha_cu_stream streams[] = {HA_CU_STREAM_LEGACY_, STREAM(M2)};
    for (size_t i = 0; i < 2; i++) {
        ending e = {.stream = i ? (void *)STREAM(M2) : HA_DL_STREAM_NONE};
        pthread_t thread;
        darray x = zeros();
        stop(streams[i]);
        ha_access v;
        SUCCEEDS(ha_open(&v, x.array, C, HA_WRITE, 0, HA_END));
        set(v.data, 1, streams[i]);
        const uint64_t before = cuda_fake()->calls("cuStreamWaitEvent");
        cuda_fake()->fail_call("cuStreamWaitEvent", 1, 2, 1);
        assert_int_equal(pthread_create(&thread, NULL, end_use, &e), 0);
        while (cuda_fake()->calls("cuStreamWaitEvent") == before) sched_yield();
        until_quiet();
        assert_false(atomic_load(&e.done));
        cuda_fake()->fail_never();
        go(streams[i]);
        assert_int_equal(pthread_join(thread, NULL), 0);
        SUCCEEDS(ha_close(&v));
        look_at(x, C);
        expect_seen_after(STREAM(C), 1);
        memset(seen, 0, BYTES);
        drop_array(x.array);
    }
}

/* A context's stream waits, too, and may be the caller's alone again before the deleter runs. */
TEST(a_contexts_stream_is_made_to_wait) {
    ha_context *adopted = ha_context_adopt(C, mine);
    darray x = zeros();
    stop(STREAM(C));
    set_at(x, C, 6);
    ha_dl_managed_tensor_versioned *t = exported(x, HA_READ, mine);
    look(t->dl_tensor.data, mine);
    until_quiet();
    expect_seen(0);
    go(STREAM(C));
    expect_seen_after(mine, 6);
    SUCCEEDS(ha_context_unfork(adopted));
    t->deleter(t);
    drop_array(x.array);
}

typedef struct deletion {
    ha_dl_managed_tensor_versioned *t;
    ha_status status;
    atomic_int done;
} deletion;

static void *delete_it(void *argument) {
    deletion *d = (deletion *)argument;
    d->t->deleter(d->t);
    d->status = ha_take_error().status;
    atomic_store(&d->done, 1);
    return NULL;
}

/* When its event cannot be had, the deleter waits itself. */
TEST(a_deleter_that_has_to_wait) {
    darray x = zeros();
    const char *const calls[] = {"cuEventRecord", "cuStreamWaitEvent"};
    for (size_t i = 0; i < 2; i++) {
        deletion d = {.t = exported(x, HA_WRITE, HA_DL_STREAM_LEGACY)};
        pthread_t thread;
        stop(HA_CU_STREAM_LEGACY_);
        set(d.t->dl_tensor.data, 7, HA_CU_STREAM_LEGACY_);
        const uint64_t before = cuda_fake()->calls(calls[i]);
        cuda_fake()->fail_call(calls[i], 1, 2, 0);
        assert_int_equal(pthread_create(&thread, NULL, delete_it, &d), 0);
        while (cuda_fake()->calls(calls[i]) == before) sched_yield();
        until_quiet();
        assert_false(atomic_load(&d.done));
        cuda_fake()->fail_never();
        go(HA_CU_STREAM_LEGACY_);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(d.status, i ? HA_ERR_MEMORY : HA_OK); /* of what was tried first */
        look_at(x, C);
        expect_seen_after(STREAM(C), 7);
        memset(seen, 0, BYTES);
    }
    drop_array(x.array);
}

TEST(no_such_stream) {
    darray x = zeros();
    ha_dl_managed_tensor_versioned *t;
    REFUSED(HA_ERR_ARGUMENT, darray_to_dlpack(x, C, HA_WRITE, STREAM(M1), &t));
    assert_null(t);
    cuda_fake()->fail_call("cuStreamWaitEvent", 1, 2, 0);
    REFUSED(HA_ERR_MEMORY, darray_to_dlpack(x, C, HA_WRITE, mine, &t));
    cuda_fake()->fail_never();
    set_at(x, C, 1); /* it is not locked */
    drop_array(x.array);
}

/* Whichever call of the driver fails, nobody has the array then. */
TEST(every_call_fails) {
    const void *streams[] = {HA_DL_STREAM_NONE, mine, STREAM(M2)};
    darray x = zeros();
    for (size_t i = 0; i < 3; i++) {
        ha_dl_managed_tensor_versioned *t = NULL;
        uint64_t n = 0;
        do {
            set_at(x, C, 1);
            cuda_fake()->fail_call(NULL, ++n, 2, 0);
            const ha_status s = darray_to_dlpack(x, C, HA_WRITE, streams[i], &t);
            cuda_fake()->fail_never();
            if (!s) break;
            assert_null(t);
            assert_int_equal(ha_take_error().status, s);
        } while (n < 100);
        assert_non_null(t);
        t->deleter(t);
    }
    drop_array(x.array);
}

/* While somebody captures a stream, nothing is done that would break that. */
TEST(captures_go_on) {
    darray x = zeros();
    cuda_fake()->capture(1);
    ha_dl_managed_tensor_versioned *t = exported(x, HA_READ, HA_DL_STREAM_NONE);
    t->deleter(t);
    t = exported(x, HA_READ, mine);
    t->deleter(t);
    assert_true(cuda_fake()->capture(0));
    drop_array(x.array);
}

/* ---- taking --------------------------------------------------------------------------------- */

static struct {
    ha_dl_managed_tensor_versioned tensor;
    ha_cu_pointer memory;
    int64_t shape[1];
    int deleted;
} foreign;

static void foreign_delete(ha_dl_managed_tensor_versioned *t) {
    assert_ptr_equal(t, &foreign.tensor);
    foreign.deleted++;
}

static ha_dl_managed_tensor_versioned *foreign_make(void) {
    memset(&foreign, 0, sizeof foreign);
    assert_int_equal(ha_cu.MemAlloc(&foreign.memory, BYTES), HA_CU_SUCCESS);
    assert_int_equal(ha_cu.MemsetD8Async(foreign.memory, 0, BYTES, mine), HA_CU_SUCCESS);
    assert_int_equal(ha_cu.StreamSynchronize(mine), HA_CU_SUCCESS);
    foreign.shape[0] = 8;
    foreign.tensor.version.major = 1;
    foreign.tensor.deleter = foreign_delete;
    foreign.tensor.dl_tensor = (ha_dl_tensor){
        (void *)foreign.memory, {HA_DL_CUDA, 0}, 1, {HA_DL_FLOAT, 64, 1}, foreign.shape, NULL, 0};
    return &foreign.tensor;
}

static void foreign_free(void) { assert_int_equal(ha_cu.MemFree(foreign.memory), HA_CU_SUCCESS); }

/* Of an array over foreign memory, which then goes. */
static void part(darray *x) {
    for (size_t i = 0; i < MOST_ARRAYS; i++)
        if (arrays[i] == x->array) arrays[i] = NULL;
    SUCCEEDS(darray_free(x));
}

/* All queues come after what the producer has enqueued on the one that it was told. */
TEST(a_tensor_whose_values_are_on_their_way) {
    ha_dl_managed_tensor_versioned *t = foreign_make();
    stop(STREAM(M2));
    set((void *)foreign.memory, 8, STREAM(M2));
    darray x = darray_from_dlpack(t, M2);
    keep_array(x.array);
    expect_c_behind(x, STREAM(M2), 8);
    part(&x);
    assert_int_equal(foreign.deleted, 1);
    foreign_free();
}

/* The deleter is called when no queue uses the memory any more. */
TEST(a_tensor_in_use) {
    darray x = darray_from_dlpack(foreign_make(), NULL);
    keep_array(x.array);
    set_at(x, M2, 9);
    look_at(x, C);
    part(&x);
    expect_seen(9); /* nothing has waited but that */
    assert_int_equal(foreign.deleted, 1);
    foreign_free();
}

TEST(a_tensor_of_another_device) {
    ha_dl_managed_tensor_versioned *t = foreign_make();
    assert_null(darray_from_dlpack(t, M1).array);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    assert_int_equal(foreign.deleted, 1);
    t->dl_tensor.device.device_id = 1;
    assert_null(darray_from_dlpack(t, NULL).array);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    assert_int_equal(foreign.deleted, 2);
    t->dl_tensor.device.device_id = 2;
    assert_null(darray_from_dlpack(t, NULL).array);
    assert_int_equal(ha_take_error().status, HA_ERR_NOT_FOUND);
    assert_int_equal(foreign.deleted, 3);
    foreign_free();
}

/* ---- __cuda_array_interface__ --------------------------------------------------------------- */

TEST(interface_of_an_access) {
    darray x = zeros();
    ha_cuda_array_interface i;
    ha_context *adopted = ha_context_adopt(C, NULL), *places[] = {C, M2, adopted};
    for (size_t k = 0; k < 3; k++) {
        ha_access v;
        SUCCEEDS(ha_open(&v, x.array, places[k], HA_READ, 0, HA_END));
        SUCCEEDS(darray_to_cuda_array_interface(darray_fix(x, 1, 2), &v, &i));
        assert_string_equal(i.typestr, "<f8");
        assert_int_equal(i.version, 3);
        assert_int_equal(i.rank, 1);
        assert_int_equal(i.shape[0], 2);
        assert_int_equal(i.has_strides, 1);
        assert_int_equal(i.strides[0], 32);
        assert_ptr_equal(i.data, (char *)v.data + 16);
        assert_int_equal(i.read_only, 1);
        assert_int_equal(i.has_stream, 1);
        assert_int_equal(i.stream, (uintptr_t)ha_context_stream(places[k]));
        assert_int_equal(i.stream == 1, places[k] == adopted);
        SUCCEEDS(darray_to_cuda_array_interface(darray_slice(x, 1, 1, 1, 1), &v, &i));
        assert_null(i.data);
        assert_int_equal(i.has_stream, 0);
        SUCCEEDS(ha_close(&v));
    }
    SUCCEEDS(ha_context_unfork(adopted));
    drop_array(x.array);
}

static ha_cuda_array_interface interface_of_foreign(ha_cu_stream stream) {
    return (ha_cuda_array_interface){.typestr = "<f8",
                                     .version = 3,
                                     .rank = 1,
                                     .shape = {8},
                                     .data = (void *)foreign.memory,
                                     .has_stream = 1,
                                     .stream = (uintptr_t)stream};
}

/* By its own stream, which may be a context's, or nobody's. */
TEST(interface_of_others) {
    (void)foreign_make();
    ha_cu_stream streams[] = {mine, STREAM(M2), HA_CU_STREAM_LEGACY_};
    for (size_t k = 0; k < 3; k++) {
        const ha_cuda_array_interface i = interface_of_foreign(streams[k]);
        stop(streams[k]);
        set((void *)foreign.memory, 10, streams[k]);
        darray x = darray_from_cuda_array_interface(&i, C);
        keep_array(x.array);
        look_at(x, C);
        until_quiet();
        expect_seen(0);
        go(streams[k]);
        expect_seen_after(STREAM(C), 10);
        part(&x);
        set((void *)foreign.memory, 0, mine);
        memset(seen, 0, BYTES);
        assert_int_equal(ha_cu.StreamSynchronize(mine), HA_CU_SUCCESS);
    }
    foreign_free();
}

TEST(every_call_fails_of_an_interface) {
    (void)foreign_make();
    const ha_cuda_array_interface i = interface_of_foreign(mine);
    darray x = {.rank = 0};
    for (uint64_t n = 1; !x.array && n < 100; n++) {
        cuda_fake()->fail_call(NULL, n, 2, 0);
        x = darray_from_cuda_array_interface(&i, C);
        cuda_fake()->fail_never();
        if (!x.array) assert_int_not_equal(ha_take_error().status, HA_OK);
    }
    keep_array(x.array);
    part(&x);
    foreign_free();
}

TEST(streams_that_are_none) {
    (void)foreign_make();
    ha_cuda_array_interface i = interface_of_foreign(NULL);
    assert_null(darray_from_cuda_array_interface(&i, C).array);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    i.stream = 2;
    assert_null(darray_from_cuda_array_interface(&i, C).array);
    assert_int_equal(ha_take_error().status, HA_ERR_UNSUPPORTED);
    i.stream = (uintptr_t)STREAM(M1);
    assert_null(darray_from_cuda_array_interface(&i, C).array);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    i.has_stream = 0;
    darray x = darray_from_cuda_array_interface(&i, C);
    keep_array(x.array);
    part(&x);
    foreign_free();
}

#define ON_DEVICES(name) cmocka_unit_test_setup_teardown(name, begin_devices, end_devices)

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_DEVICES(fields),
        ON_DEVICES(a_stream_is_made_to_wait),
        ON_DEVICES(a_stream_that_orders_itself),
        ON_DEVICES(no_stream),
        ON_DEVICES(the_default_stream_is_waited_for),
        ON_DEVICES(a_contexts_stream_is_waited_for),
        ON_DEVICES(what_is_open_is_used_on_streams),
        ON_DEVICES(an_end_of_use_that_has_to_wait),
        ON_DEVICES(a_contexts_stream_is_made_to_wait),
        ON_DEVICES(a_deleter_that_has_to_wait),
        ON_DEVICES(no_such_stream),
        ON_DEVICES(every_call_fails),
        ON_DEVICES(captures_go_on),
        ON_DEVICES(a_tensor_whose_values_are_on_their_way),
        ON_DEVICES(a_tensor_in_use),
        ON_DEVICES(a_tensor_of_another_device),
        ON_DEVICES(interface_of_an_access),
        ON_DEVICES(interface_of_others),
        ON_DEVICES(every_call_fails_of_an_interface),
        ON_DEVICES(streams_that_are_none),
    };
    if (cuda_fake()) return cmocka_run_group_tests(tests, NULL, NULL);
    printf("HARRAY_CUDA does not name the fake driver\n");
    return 77;
}
