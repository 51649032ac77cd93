/* DLPack on the host: what tensors say, what they lock, and how long; tensors of others. */
#include <stddef.h>
void *failing_malloc(size_t size);
void *failing_realloc(void *old, size_t size);
void failing_free(void *memory);
#define HARRAY_MALLOC(size) failing_malloc(size)
#define HARRAY_REALLOC(pointer, size) failing_realloc(pointer, size)
#define HARRAY_FREE(pointer) failing_free(pointer)

#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../support/own_memory.h"
#include "../../harray.h"
#include "../support/refusals.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_long failing; /* the allocation that fails: 1: the next one; 0: none */

static int fails(void) { return atomic_load(&failing) > 0 && !(atomic_fetch_sub(&failing, 1) - 1); }

void *failing_malloc(size_t size) { return fails() ? NULL : malloc(size); }
void *failing_realloc(void *old, size_t size) { return fails() ? NULL : realloc(old, size); }
void failing_free(void *memory) { free(memory); }

/* Against the specification's own header, where that is installed. */
#if defined __has_include
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#define SAME(ours, theirs, member)                                                                 \
    _Static_assert(offsetof(ours, member) == offsetof(theirs, member), "DLPack's layout")
_Static_assert(sizeof(ha_dl_tensor) == sizeof(DLTensor), "DLPack's layout");
SAME(ha_dl_tensor, DLTensor, device);
SAME(ha_dl_tensor, DLTensor, ndim);
SAME(ha_dl_tensor, DLTensor, dtype);
SAME(ha_dl_tensor, DLTensor, shape);
SAME(ha_dl_tensor, DLTensor, strides);
SAME(ha_dl_tensor, DLTensor, byte_offset);
SAME(ha_dl_managed_tensor, DLManagedTensor, manager_ctx);
SAME(ha_dl_managed_tensor, DLManagedTensor, deleter);
_Static_assert((int)HA_DL_CUDA_MANAGED == (int)kDLCUDAManaged, "DLPack's numbers");
_Static_assert((int)HA_DL_BFLOAT == (int)kDLBfloat, "DLPack's numbers");
#ifdef DLPACK_FLAG_BITMASK_READ_ONLY
SAME(ha_dl_managed_tensor_versioned, DLManagedTensorVersioned, version);
SAME(ha_dl_managed_tensor_versioned, DLManagedTensorVersioned, manager_ctx);
SAME(ha_dl_managed_tensor_versioned, DLManagedTensorVersioned, deleter);
SAME(ha_dl_managed_tensor_versioned, DLManagedTensorVersioned, flags);
SAME(ha_dl_managed_tensor_versioned, DLManagedTensorVersioned, dl_tensor);
_Static_assert(HA_DL_READ_ONLY == DLPACK_FLAG_BITMASK_READ_ONLY, "DLPack's numbers");
_Static_assert((int)HA_DL_ONE_API == (int)kDLOneAPI, "DLPack's numbers");
_Static_assert((int)HA_DL_BOOL == (int)kDLBool, "DLPack's numbers");
#endif
#endif
#endif

/* What the specification says, as numbers: 64-bit machines have but this one layout. */
_Static_assert(offsetof(ha_dl_tensor, device) == 8 && offsetof(ha_dl_tensor, ndim) == 16 &&
                   offsetof(ha_dl_tensor, dtype) == 20 && offsetof(ha_dl_tensor, shape) == 24 &&
                   offsetof(ha_dl_tensor, strides) == 32 &&
                   offsetof(ha_dl_tensor, byte_offset) == 40,
               "DLTensor");
_Static_assert(offsetof(ha_dl_managed_tensor, manager_ctx) == 48 &&
                   offsetof(ha_dl_managed_tensor, deleter) == 56,
               "DLManagedTensor");
_Static_assert(offsetof(ha_dl_managed_tensor_versioned, manager_ctx) == 8 &&
                   offsetof(ha_dl_managed_tensor_versioned, deleter) == 16 &&
                   offsetof(ha_dl_managed_tensor_versioned, flags) == 24 &&
                   offsetof(ha_dl_managed_tensor_versioned, dl_tensor) == 32,
               "DLManagedTensorVersioned");

#define H ha_host()
#define NUMBERS(actual, ...)                                                                       \
    do {                                                                                           \
        const int64_t expected_[] = {__VA_ARGS__};                                                 \
        assert_memory_equal(actual, expected_, sizeof expected_);                                  \
    } while (0)

/* 0, 1, 2, … */
static darray ramp(int rank, const int64_t *extent) {
    double values[100];
    for (int i = 0; i < 100; i++) values[i] = i;
    darray x = darray_of(HA_DTYPE_double, rank, extent, values, H);
    assert_non_null(x.array);
    return x;
}

static darray ramp_2(int64_t n, int64_t m) { return ramp(2, (const int64_t[]){n, m}); }

/* Nobody has anything left. */
static int end(void **state HA_UNUSED) {
    const ha_error error = ha_take_error();
    const ha_status s = ha_shutdown();
    if (error.status) print_error("an error was left behind: %s\n", error.text);
    if (s) print_error("left behind: %s\n", ha_take_error().text);
    return error.status || s ? -1 : 0;
}

static ha_dl_managed_tensor_versioned *exported(darray x, unsigned how) {
    ha_dl_managed_tensor_versioned *t;
    FINE(darray_to_dlpack(x, H, how, HA_DL_STREAM_NONE, &t));
    return t;
}

/* ---- what tensors say ------------------------------------------------------------------------ */

TEST(every_field) {
    darray x = ramp_2(3, 4), part = darray_slice(darray_transpose(x), 0, 3, HA_ALL, -2);
    ha_dl_managed_tensor_versioned *t = exported(part, HA_READ);
    assert_int_equal(t->version.major, 1);
    assert_int_equal(t->version.minor, HA_DL_MINOR);
    assert_int_equal(t->flags, HA_DL_READ_ONLY);
    assert_int_equal(t->dl_tensor.device.device_type, HA_DL_CPU);
    assert_int_equal(t->dl_tensor.device.device_id, 0);
    assert_int_equal(t->dl_tensor.ndim, 2);
    assert_int_equal(t->dl_tensor.dtype.code, HA_DL_FLOAT);
    assert_int_equal(t->dl_tensor.dtype.bits, 64);
    assert_int_equal(t->dl_tensor.dtype.lanes, 1);
    assert_int_equal(t->dl_tensor.byte_offset, 0);
    NUMBERS(t->dl_tensor.shape, 2, 3);
    NUMBERS(t->dl_tensor.strides, -2, 4);
    const double *data = (const double *)t->dl_tensor.data;
    assert_true(data[0] == 3 && data[4] == 7 && data[-2] == 1);
    t->deleter(t);
    FINE(darray_free(&x));
}

/* The first index is 0 for everybody else. */
TEST(origins_are_not_told) {
    darray x = ramp_2(3, 4), y = darray_with_origin(x, (const int64_t[]){-1, -1});
    ha_dl_managed_tensor_versioned *t = exported(
        darray_part(y, (const int64_t[]){0, 0}, (const int64_t[]){2, 3}), HA_READ);
    NUMBERS(t->dl_tensor.shape, 2, 3);
    assert_true(((const double *)t->dl_tensor.data)[0] == 5);
    t->deleter(t);
    t = exported(y, HA_READ);
    assert_true(((const double *)t->dl_tensor.data)[0] == 0);
    t->deleter(t);
    FINE(darray_free(&x));
}

/* Only what is handed out is locked. */
TEST(parts_are_locked_apart) {
    darray x = ramp_2(4, 4);
    ha_dl_managed_tensor_versioned *t = exported(darray_slice(x, 1, 0, 2, 1), HA_WRITE);
    ha_dl_managed_tensor_versioned *u = exported(darray_slice(x, 1, 2, 4, 1), HA_WRITE), *v;
    REFUSED(HA_ERR_CONFLICT,
            darray_to_dlpack(darray_fix(x, 0, 1), H, HA_READ, HA_DL_STREAM_NONE, &v));
    t->deleter(t);
    u->deleter(u);
    FINE(darray_free(&x));
}

TEST(the_older_kind) {
    darray x = ramp_2(3, 4);
    ha_dl_managed_tensor *t;
    FINE(darray_to_dlpack_legacy(darray_fix(x, 0, 1), H, HA_WRITE, HA_DL_STREAM_NONE, &t));
    assert_int_equal(t->dl_tensor.ndim, 1);
    NUMBERS(t->dl_tensor.shape, 4);
    NUMBERS(t->dl_tensor.strides, 1);
    ((double *)t->dl_tensor.data)[3] = 50;
    t->deleter(t);
    ha_dl_managed_tensor_versioned *v = exported(x, HA_READ);
    assert_true(((const double *)v->dl_tensor.data)[7] == 50);
    v->deleter(v);
    REFUSED(HA_ERR_UNSUPPORTED, darray_to_dlpack_legacy(x, H, HA_READ, HA_DL_STREAM_NONE, &t));
    assert_null(t);
    REFUSED(HA_ERR_UNSUPPORTED,
            darray_to_dlpack_legacy(x, H, HA_READ | HA_TRY, HA_DL_STREAM_NONE, &t));
    FINE(darray_free(&x));
}

TEST(every_type) {
    const struct {
        ha_dtype type;
        uint8_t code, bits;
    } expected[] = {
        {HA_DTYPE_half, 2, 16},     {HA_DTYPE_bfloat16, 4, 16}, {HA_DTYPE_float, 2, 32},
        {HA_DTYPE_double, 2, 64},   {HA_DTYPE_int8_t, 0, 8},    {HA_DTYPE_int16_t, 0, 16},
        {HA_DTYPE_int32_t, 0, 32},  {HA_DTYPE_int64_t, 0, 64},  {HA_DTYPE_uint8_t, 1, 8},
        {HA_DTYPE_uint16_t, 1, 16}, {HA_DTYPE_uint32_t, 1, 32}, {HA_DTYPE_uint64_t, 1, 64},
        {HA_DTYPE_c64, 5, 64},      {HA_DTYPE_c128, 5, 128},    {HA_DTYPE_bool, 6, 8},
    };
    const int64_t extent[] = {2};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        darray x = darray_zeros(expected[i].type, 1, extent, H);
        ha_dl_managed_tensor_versioned *t = exported(x, HA_WRITE);
        assert_int_equal(t->flags, 0);
        assert_int_equal(t->dl_tensor.dtype.code, expected[i].code);
        assert_int_equal(t->dl_tensor.dtype.bits, expected[i].bits);
        assert_int_equal(t->dl_tensor.dtype.lanes, 1);
        /* The export goes into the import, and ends there. */
        darray y = darray_from_dlpack(t, NULL);
        assert_int_equal(y.type, expected[i].type);
        assert_ptr_not_equal(y.array, x.array);
        FINE(darray_free(&y));
        FINE(darray_free(&x));
    }
}

TEST(no_elements_and_one) {
    const int64_t extent[] = {3, 0, 2};
    darray x = darray_zeros(HA_DTYPE_float, 3, extent, H), one = ramp(0, NULL);
    ha_dl_managed_tensor_versioned *t = exported(x, HA_READ), *u = exported(one, HA_READ);
    assert_null(t->dl_tensor.data);
    NUMBERS(t->dl_tensor.shape, 3, 0, 2);
    assert_non_null(t->dl_tensor.strides);
    darray y = darray_from_dlpack(t, NULL);
    assert_int_equal(darray_size(y), 0);
    assert_int_equal(y.rank, 3);
    NUMBERS(y.extent, 3, 0, 2);
    FINE(darray_free(&y));
    assert_int_equal(u->dl_tensor.ndim, 0);
    assert_true(*(const double *)u->dl_tensor.data == 0);
    y = darray_from_dlpack(u, NULL);
    assert_int_equal(darray_size(y), 1);
    FINE(darray_free(&y));
    FINE(darray_free(&x));
    FINE(darray_free(&one));
}

typedef struct pair {
    int a, b;
} pair;
HARRAY(pair);

TEST(what_cannot_be_told) {
    harray_pair p = harray_pair_zeros(4);
    const int64_t extent[] = {4};
    darray x = darray_from(p.array, 1, extent), y = ramp(1, extent);
    ha_dl_managed_tensor_versioned *t = (ha_dl_managed_tensor_versioned *)&x;
    REFUSED(HA_ERR_UNSUPPORTED, darray_to_dlpack(x, H, HA_READ, HA_DL_STREAM_NONE, &t));
    assert_null(t);
    REFUSED(HA_ERR_UNSUPPORTED,
            darray_to_dlpack(y, ha_context_find("sim:0"), HA_READ, HA_DL_STREAM_NONE, &t));
    REFUSED(HA_ERR_ARGUMENT,
            darray_to_dlpack((darray){.rank = 0}, H, HA_READ, HA_DL_STREAM_NONE, &t));
    REFUSED(HA_ERR_ARGUMENT, darray_to_dlpack(y, H, 3, HA_DL_STREAM_NONE, &t));
    darray repeated = darray_broadcast(y, 2, (const int64_t[]){3, 4});
    REFUSED(HA_ERR_ARGUMENT, darray_to_dlpack(repeated, H, HA_WRITE, HA_DL_STREAM_NONE, &t));
    assert_null(t);
    assert_int_equal(ha_context_dl_device(H).device_type, HA_DL_CPU);
    assert_int_equal(ha_context_dl_device(ha_context_find("sim:0")).device_type, 0);
    assert_int_equal(ha_take_error().status, HA_ERR_UNSUPPORTED);
    FINE(darray_free(&x));
    FINE(harray_pair_free(&p));
    FINE(darray_free(&y));
}

/* ---- what they lock, and how long ------------------------------------------------------------ */

TEST(a_reader_keeps_writers_out) {
    darray x = ramp_2(3, 4);
    ha_dl_managed_tensor_versioned *t = exported(x, HA_READ), *u = exported(x, HA_READ);
    ha_access v;
    REFUSED(HA_ERR_CONFLICT, ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    FINE(ha_open(&v, x.array, H, HA_READ, 0, HA_END));
    FINE(ha_close(&v));
    t->deleter(t);
    REFUSED(HA_ERR_CONFLICT, ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    u->deleter(u);
    FINE(ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    FINE(ha_close(&v));
    FINE(darray_free(&x));
}

TEST(a_writer_keeps_all_out) {
    darray x = ramp_2(3, 4);
    ha_dl_managed_tensor_versioned *t = exported(x, HA_WRITE), *u;
    ha_access v;
    REFUSED(HA_ERR_CONFLICT, ha_open(&v, x.array, H, HA_READ, 0, HA_END));
    REFUSED(HA_ERR_CONFLICT, darray_to_dlpack(x, H, HA_READ, HA_DL_STREAM_NONE, &u));
    assert_null(u);
    t->deleter(t);
    t = exported(x, HA_OVERWRITE);
    assert_int_equal(t->flags, 0);
    t->deleter(t);
    FINE(darray_free(&x));
}

/* The tensor is an owner: the memory stays until its deleter has run, on whatever thread. */
static void *delete_it(void *tensor) {
    ha_dl_managed_tensor_versioned *t = (ha_dl_managed_tensor_versioned *)tensor;
    t->deleter(t);
    return (void *)(uintptr_t)ha_take_error().status;
}

static void delete_elsewhere(ha_dl_managed_tensor_versioned *t) {
    pthread_t thread;
    void *status;
    assert_int_equal(pthread_create(&thread, NULL, delete_it, t), 0);
    assert_int_equal(pthread_join(thread, &status), 0);
    assert_null(status);
}

TEST(a_deleter_on_another_thread_frees_what_nobody_else_owns) {
    darray x = ramp_2(3, 4);
    ha_dl_managed_tensor_versioned *t = exported(x, HA_READ);
    FINE(darray_free(&x));
    assert_true(((const double *)t->dl_tensor.data)[11] == 11);
    REFUSED(HA_ERR_STATE, ha_shutdown());
    delete_elsewhere(t);
    FINE(ha_shutdown());
}

typedef struct waiting {
    darray x;
    atomic_int done;
    ha_status status;
} waiting;

static void *write_it(void *argument) {
    waiting *w = (waiting *)argument;
    ha_access v;
    w->status = ha_open(&v, w->x.array, H, HA_WRITE, 0, HA_END);
    atomic_store(&w->done, 1);
    if (!w->status) HA_IGNORE(ha_close(&v));
    return NULL;
}

TEST(other_threads_wait_for_the_deleter) {
    waiting w = {.x = ramp_2(3, 4)};
    ha_dl_managed_tensor_versioned *t = exported(w.x, HA_READ);
    const uint64_t sleeps = ha_test_sleeps_() + 1;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, write_it, &w), 0);
    while (ha_test_sleeps_() < sleeps) sched_yield();
    assert_false(atomic_load(&w.done));
    t->deleter(t);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(w.status, HA_OK);
    FINE(darray_free(&w.x));
}

/* What a device wrote is there; and the device gets what the consumer writes. */
TEST(what_is_elsewhere_is_brought) {
    darray x = ramp_2(3, 4);
    ha_context *device = ha_context_find("sim:0");
    double twelve[12] = {0};
    ha_access v;
    FINE(ha_open(&v, x.array, device, HA_WRITE, 0, HA_END));
    FINE(ha_close(&v));
    assert_false(ha_array_valid(x.array, H, 0, HA_END));
    ha_dl_managed_tensor_versioned *t = exported(x, HA_WRITE);
    assert_true(((double *)t->dl_tensor.data)[5] == 5);
    ((double *)t->dl_tensor.data)[5] = -5;
    t->deleter(t);
    assert_false(ha_array_valid(x.array, device, 5, 6));
    FINE(ha_open(&v, x.array, H, HA_READ, 0, HA_END));
    memcpy(twelve, v.data, sizeof twelve);
    FINE(ha_close(&v));
    assert_true(twelve[5] == -5 && twelve[6] == 6);
    FINE(darray_free(&x));
}

static void delete_on_a_queue(const ha_queue *queue HA_UNUSED, void *argument) {
    ha_dl_managed_tensor_versioned *t;
    memcpy(&t, argument, sizeof t);
    t->deleter(t);
}

TEST(a_deleter_on_a_queue_does_nothing) {
    darray x = ramp_2(3, 4);
    ha_dl_managed_tensor_versioned *t = exported(x, HA_READ);
    ha_access v;
    assert_int_equal(ha_enqueue(H, delete_on_a_queue, &t, sizeof t), HA_OK);
    assert_int_equal(ha_take_error().status, HA_ERR_STATE);
    REFUSED(HA_ERR_CONFLICT, ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    t->deleter(t);
    FINE(darray_free(&x));
}

/* ---- tensors of others ----------------------------------------------------------------------- */

static struct {
    ha_dl_managed_tensor_versioned tensor;
    ha_dl_managed_tensor legacy;
    int64_t shape[9], strides[9];
    double values[24];
    int deleted; /* how often */
} foreign;

static void foreign_delete(ha_dl_managed_tensor_versioned *t) {
    assert_ptr_equal(t, &foreign.tensor);
    foreign.deleted++;
}

static void foreign_delete_legacy(ha_dl_managed_tensor *t) {
    assert_ptr_equal(t, &foreign.legacy);
    foreign.deleted++;
}

/* A new one: of values 0, 1, 2, … as 4 by 6. */
static ha_dl_managed_tensor_versioned *foreign_make(void) {
    memset(&foreign, 0, sizeof foreign);
    for (int i = 0; i < 24; i++) foreign.values[i] = i;
    foreign.shape[0] = 4;
    foreign.shape[1] = 6;
    foreign.strides[0] = 6;
    foreign.strides[1] = 1;
    const ha_dl_tensor t = {foreign.values, {HA_DL_CPU, 0},  2, {HA_DL_FLOAT, 64, 1},
                            foreign.shape,  foreign.strides, 0};
    foreign.tensor.version = (ha_dl_version){1, 3};
    foreign.tensor.deleter = foreign_delete;
    foreign.tensor.dl_tensor = foreign.legacy.dl_tensor = t;
    foreign.legacy.deleter = foreign_delete_legacy;
    return &foreign.tensor;
}

/* Element i, j through an access. */
static double at(darray x, int64_t i, int64_t j) {
    ha_access v;
    double value;
    FINE(ha_open(&v, x.array, H, HA_READ, 0, HA_END));
    value = ((const double *)v.data)[x.offset + i * x.stride[0] + j * x.stride[1]];
    FINE(ha_close(&v));
    return value;
}

static void shift_job(const ha_queue *queue, void *argument) {
    double *data;
    memcpy(&data, argument, sizeof data);
    data = HA_HERE(queue, double, data);
    for (int i = 0; i < 24; i++) data[i] += 100;
}

TEST(a_tensor_as_an_array) {
    darray x = darray_from_dlpack(foreign_make(), NULL);
    ha_access v;
    assert_non_null(x.array);
    assert_int_equal(x.type, HA_DTYPE_double);
    assert_int_equal(x.rank, 2);
    assert_int_equal(x.offset, 0);
    NUMBERS(x.extent, 4, 6, 0);
    NUMBERS(x.stride, 6, 1, 0);
    NUMBERS(x.origin, 0, 0);
    assert_true(at(x, 3, 2) == 20);
    FINE(ha_open(&v, x.array, ha_context_find("sim:0"), HA_WRITE, 0, HA_END));
    FINE(ha_enqueue(v.context, shift_job, &v.data, sizeof v.data));
    FINE(ha_close(&v));
    assert_int_equal(foreign.deleted, 0);
    FINE(darray_free(&x));
    assert_int_equal(foreign.deleted, 1);
    assert_true(foreign.values[0] == 100 && foreign.values[23] == 123);
}

TEST(offset_and_strides) {
    ha_dl_managed_tensor_versioned *t = foreign_make();
    t->dl_tensor.byte_offset = 22 * sizeof(double);
    foreign.shape[1] = 3;
    foreign.strides[0] = -6;
    foreign.strides[1] = -2;
    darray x = darray_from_dlpack(t, NULL);
    assert_int_equal(x.offset, 22);
    assert_int_equal(ha_array_size(x.array), 23);
    NUMBERS(x.extent, 4, 3);
    NUMBERS(x.stride, -6, -2);
    assert_true(at(x, 0, 0) == 22 && at(x, 3, 2) == 0 && at(x, 1, 1) == 14);
    FINE(darray_free(&x));
    assert_int_equal(foreign.deleted, 1);
}

TEST(strides_of_null_are_c_order) {
    ha_dl_managed_tensor_versioned *t = foreign_make();
    t->dl_tensor.strides = NULL;
    darray x = darray_from_dlpack(t, NULL);
    NUMBERS(x.stride, 6, 1);
    FINE(darray_free(&x));
    assert_int_equal(foreign.deleted, 1);
    (void)foreign_make();
    foreign.legacy.dl_tensor.strides = NULL;
    x = darray_from_dlpack_legacy(&foreign.legacy, NULL);
    NUMBERS(x.stride, 6, 1);
    FINE(darray_free(&x));
    assert_int_equal(foreign.deleted, 1);
}

TEST(repeated_elements) {
    ha_dl_managed_tensor_versioned *t = foreign_make();
    foreign.strides[0] = 0;
    darray x = darray_from_dlpack(t, NULL);
    assert_int_equal(ha_array_size(x.array), 6);
    assert_true(at(x, 3, 5) == 5);
    FINE(darray_free(&x));
}

TEST(read_only_stays_so) {
    ha_dl_managed_tensor_versioned *t = foreign_make();
    ha_access v;
    t->flags = HA_DL_READ_ONLY | HA_DL_IS_COPIED;
    darray x = darray_from_dlpack(t, NULL);
    assert_true(at(x, 1, 0) == 6);
    REFUSED(HA_ERR_STATE, ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    ha_dl_managed_tensor_versioned *u;
    REFUSED(HA_ERR_STATE, darray_to_dlpack(x, H, HA_WRITE, HA_DL_STREAM_NONE, &u));
    u = exported(x, HA_READ);
    assert_ptr_equal(u->dl_tensor.data, foreign.values);
    u->deleter(u);
    FINE(darray_free(&x));
    assert_int_equal(foreign.deleted, 1);
}

/* An array that was freed, and whose memory an export keeps: that is the last owner. */
TEST(the_last_owner_calls_the_deleter) {
    darray x = darray_from_dlpack(foreign_make(), NULL), y = darray_share(x);
    ha_dl_managed_tensor_versioned *t = exported(x, HA_WRITE);
    FINE(darray_free(&x));
    FINE(darray_free(&y));
    assert_int_equal(foreign.deleted, 0);
    delete_elsewhere(t);
    assert_int_equal(foreign.deleted, 1);
}

TEST(a_tensor_without_a_deleter) {
    ha_dl_managed_tensor_versioned *t = foreign_make();
    t->deleter = NULL;
    foreign.legacy.deleter = NULL;
    darray x = darray_from_dlpack(t, NULL);
    FINE(darray_free(&x));
    x = darray_from_dlpack_legacy(&foreign.legacy, NULL);
    FINE(darray_free(&x));
    t->version.major = 2;
    assert_null(darray_from_dlpack(t, NULL).array);
    assert_int_equal(ha_take_error().status, HA_ERR_UNSUPPORTED);
}

/* ---- tensors that are refused ---------------------------------------------------------------- */

/* The tensor is no longer ours, and its deleter has been called. */
static void refuse(ha_status expected, const char *part) {
    assert_null(darray_from_dlpack(&foreign.tensor, NULL).array);
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, expected);
    if (!strstr(e.text, part)) fail_msg("%s", e.text);
    assert_int_equal(foreign.deleted, 1);
    const int versioned = foreign.tensor.version.major != 1 || foreign.tensor.flags;
    foreign.legacy.dl_tensor = foreign.tensor.dl_tensor;
    foreign.deleted = 0;
    if (versioned) return;
    assert_null(darray_from_dlpack_legacy(&foreign.legacy, NULL).array);
    assert_int_equal(ha_take_error().status, expected);
    assert_int_equal(foreign.deleted, 1);
}

TEST(another_version) {
    (void)foreign_make();
    foreign.tensor.version = (ha_dl_version){2, 0};
    foreign.tensor.dl_tensor.shape = (int64_t *)8; /* nobody looks at it */
    refuse(HA_ERR_UNSUPPORTED, "2.0");
}

TEST(no_such_elements) {
    const ha_dl_data_type types[] = {{HA_DL_FLOAT, 64, 2}, {HA_DL_FLOAT, 64, 0},
                                     {HA_DL_FLOAT, 8, 1},  {HA_DL_OPAQUE_HANDLE, 64, 1},
                                     {HA_DL_BOOL, 1, 1},   {HA_DL_COMPLEX, 32, 1},
                                     {HA_DL_BFLOAT, 8, 1}, {10, 8, 1},
                                     {HA_DL_INT, 4, 1},    {HA_DL_FLOAT, 80, 1}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        foreign_make()->dl_tensor.dtype = types[i];
        refuse(HA_ERR_UNSUPPORTED, "no element type");
    }
}

TEST(no_such_device) {
    foreign_make()->dl_tensor.device.device_type = HA_DL_ROCM;
    refuse(HA_ERR_UNSUPPORTED, "kind 10");
    foreign_make()->dl_tensor.device.device_type = 0;
    refuse(HA_ERR_UNSUPPORTED, "kind 0");
    foreign_make()->dl_tensor.device = (ha_dl_device){HA_DL_CUDA, 77};
    refuse(HA_ERR_NOT_FOUND, "cuda:77");
    foreign_make()->dl_tensor.device = (ha_dl_device){HA_DL_CUDA, -1};
    refuse(HA_ERR_ARGUMENT, "not negative");
    foreign_make()->dl_tensor.device.device_type = HA_DL_CUDA_HOST; /* which is the host's */
    darray x = darray_from_dlpack(&foreign.tensor, NULL);
    FINE(darray_free(&x));
}

TEST(no_such_extents) {
    ha_dl_managed_tensor_versioned *t = foreign_make();
    t->dl_tensor.ndim = -1;
    refuse(HA_ERR_ARGUMENT, "negative");
    t = foreign_make();
    for (int d = 0; d < 9; d++) foreign.shape[d] = 1;
    t->dl_tensor.ndim = 9;
    refuse(HA_ERR_UNSUPPORTED, "9 dimensions");
    t = foreign_make();
    t->dl_tensor.ndim = INT32_MAX; /* nobody looks at that many */
    refuse(HA_ERR_UNSUPPORTED, "2147483647 dimensions");
    foreign_make()->dl_tensor.shape = NULL;
    refuse(HA_ERR_ARGUMENT, "no shape");
    (void)foreign_make();
    foreign.shape[1] = -6;
    refuse(HA_ERR_ARGUMENT, "extent is negative");
    (void)foreign_make();
    foreign.shape[0] = foreign.shape[1] = INT64_C(1) << 40;
    refuse(HA_ERR_MEMORY, "overflows");
    (void)foreign_make();
    foreign.strides[0] = INT64_MAX / 2;
    refuse(HA_ERR_MEMORY, "overflows 64 bits");
    (void)foreign_make();
    foreign.strides[0] = INT64_MAX / 4;
    foreign.strides[1] = INT64_MIN / 8;
    refuse(HA_ERR_MEMORY, "overflows 64 bits");
    (void)foreign_make();
    foreign.strides[0] = -(INT64_C(1) << 60);
    refuse(HA_ERR_MEMORY, "bytes overflow");
}

TEST(no_such_data) {
    foreign_make()->dl_tensor.data = NULL;
    refuse(HA_ERR_ARGUMENT, "NULL");
    foreign_make()->dl_tensor.data = NULL;
    foreign.tensor.dl_tensor.byte_offset = 64; /* still nowhere */
    refuse(HA_ERR_ARGUMENT, "NULL");
    foreign_make()->dl_tensor.byte_offset = 4;
    refuse(HA_ERR_ARGUMENT, "aligned");
    foreign_make()->dl_tensor.byte_offset = UINT64_MAX - 7;
    refuse(HA_ERR_ARGUMENT, "byte offset");
    assert_null(darray_from_dlpack(NULL, NULL).array);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    assert_null(darray_from_dlpack_legacy(NULL, NULL).array);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
}

TEST(memory_that_an_array_has_already) {
    darray x = darray_from_dlpack(foreign_make(), NULL);
    refuse(HA_ERR_STATE, "owns");
    foreign.deleted = 0;
    FINE(darray_free(&x));
    assert_int_equal(foreign.deleted, 1);
}

/* ---- no memory ------------------------------------------------------------------------------ */

TEST(no_memory_to_hand_out) {
    darray x = ramp_2(3, 4);
    ha_dl_managed_tensor_versioned *t = NULL;
    ha_access v;
    long n = 0;
    do {
        atomic_store(&failing, ++n);
        if (!darray_to_dlpack(x, H, HA_READ, HA_DL_STREAM_NONE, &t)) break;
        assert_null(t);
        assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
        FINE(ha_open(&v, x.array, H, HA_WRITE, 0, HA_END)); /* nobody has it */
        FINE(ha_close(&v));
    } while (1);
    assert_true(n > 1 && atomic_load(&failing) > 0);
    atomic_store(&failing, 0);
    t->deleter(t);
    FINE(darray_free(&x));
}

TEST(no_memory_to_take) {
    darray x;
    long n = 0;
    do {
        (void)foreign_make();
        foreign.strides[1] = 2;
        foreign.shape[1] = 3; /* so that it needs a grid */
        atomic_store(&failing, ++n);
        x = darray_from_dlpack(&foreign.tensor, NULL);
        if (x.array) break;
        assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
        assert_int_equal(foreign.deleted, 1);
    } while (1);
    assert_true(n > 3 && atomic_load(&failing) > 0);
    atomic_store(&failing, 0);
    FINE(darray_free(&x));
    assert_int_equal(foreign.deleted, 1);
}

/* ---- the end of wrapped memory --------------------------------------------------------------- */

static void count_release(void *user) {
    ++*(int *)user;
    harray_double y = three(); /* may call harray */
    HA_IGNORE(harray_double_free(&y));
}

TEST(a_release_is_called_once) {
    double values[3] = {1, 2, 3};
    int released = 0, other = 0;
    harray_double x = harray_double_wrap(values, 3), y = harray_double_retain(x);
    REFUSED(HA_ERR_ARGUMENT, ha_array_set_release(NULL, count_release, &released));
    REFUSED(HA_ERR_ARGUMENT, ha_array_set_release(x.array, NULL, &released));
    FINE(ha_array_set_release(x.array, count_release, &released));
    REFUSED(HA_ERR_STATE, ha_array_set_release(x.array, count_release, &other));
    FINE(harray_double_free(&y));
    ha_access v;
    FINE(ha_open(&v, x.array, H, HA_READ, 0, HA_END));
    REFUSED(HA_ERR_CONFLICT, harray_double_unwrap(&x));
    FINE(ha_close(&v));
    assert_int_equal(released, 0);
    FINE(harray_double_unwrap(&x));
    assert_int_equal(released, 1);
    assert_int_equal(other, 0);
    x = harray_double_zeros(3);
    FINE(ha_array_set_release(x.array, count_release, &released));
    FINE(harray_double_free(&x));
    assert_int_equal(released, 2);
}

#define CASE(name) cmocka_unit_test_teardown(name, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(every_field),
        CASE(origins_are_not_told),
        CASE(parts_are_locked_apart),
        CASE(the_older_kind),
        CASE(every_type),
        CASE(no_elements_and_one),
        CASE(what_cannot_be_told),
        CASE(a_reader_keeps_writers_out),
        CASE(a_writer_keeps_all_out),
        CASE(a_deleter_on_another_thread_frees_what_nobody_else_owns),
        CASE(other_threads_wait_for_the_deleter),
        CASE(what_is_elsewhere_is_brought),
        CASE(a_deleter_on_a_queue_does_nothing),
        CASE(a_tensor_as_an_array),
        CASE(offset_and_strides),
        CASE(strides_of_null_are_c_order),
        CASE(repeated_elements),
        CASE(read_only_stays_so),
        CASE(the_last_owner_calls_the_deleter),
        CASE(a_tensor_without_a_deleter),
        CASE(another_version),
        CASE(no_such_elements),
        CASE(no_such_device),
        CASE(no_such_extents),
        CASE(no_such_data),
        CASE(memory_that_an_array_has_already),
        CASE(no_memory_to_hand_out),
        CASE(no_memory_to_take),
        CASE(a_release_is_called_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
