/* Queues of SYCL's in contexts that are none of dpctl's own, as contexts of harray: their devices, arrays that move there,
 * what is refused. Over the library that HARRAY_SYCL names; skipped where it has no device. */
#define _GNU_SOURCE
#define HARRAY_WITH_SYCL
#include <stdlib.h>
static int fails; /* the n-th allocation from now on; 0: none */
static void *failing_malloc(size_t bytes) { return fails && !--fails ? NULL : malloc(bytes); }
#define HARRAY_MALLOC failing_malloc
#define HARRAY_REALLOC realloc
#define HARRAY_FREE free
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"

enum { SKIPPED = 77, N = 1000, OUT_OF_ORDER = 0 };

static void *device, *context;
static char added[16]; /* the context that a new device gets */

static int begin(void **state) {
    void *(*create)(void *, void (*)(int), int);
    *(void **)&create = dlsym(ha_sycl.library, "DPCTLContext_Create");
    H = ha_host();
    C = ha_context_get("sycl", 0);
    M1 = M2 = H;
    if (begin_case(state) || !C) return -1;
    device = ha_sycl.Queue_GetDevice(ha_context_stream(C));
    context = create(device, NULL, 0);
    snprintf(added, sizeof added, "sycl:%d", ha_context_count("sycl"));
    return !device || !context;
}

static int end(void **state) {
    const int failed = end_case(state);
    ha_sycl.Context_Delete(context);
    ha_sycl.Device_Delete(device);
    if (ha_shutdown() == HA_OK && !ha_sycl_first_added) return failed;
    print_error("left behind: %s\n", ha_take_error().text);
    return -1;
}

static void *new_queue(int properties) {
    void *queue = ha_sycl.Queue_Create(context, device, NULL, properties);
    assert_non_null(queue);
    return queue;
}

static void expect_text(ha_status status, const char *operation, const char *part) {
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, status);
    assert_string_equal(e.operation, operation);
    if (!strstr(e.text, part)) fail_msg("\"%s\" lacks \"%s\"", e.text, part);
}

/* Elements that are valid in a context's memory. */
static size_t valid_at(harray_double x, const ha_context *where) {
    ha_residency list[8];
    const size_t n = ha_array_residency(x.array, list, 8);
    for (size_t i = 0; i < n; i++)
        if (list[i].context == where->primary) return list[i].valid;
    return 0;
}

TEST(a_device_for_each_context) {
    void *queue = new_queue(HA_SYCL_IN_ORDER), *another = new_queue(HA_SYCL_IN_ORDER);
    const int count = ha_context_count("sycl");
    ha_context *a = ha_sycl_adopt(queue), *b = ha_sycl_adopt(another);
    assert_true(a && b && a != b);
    assert_int_equal(ha_context_count("sycl"), count + 1);
    assert_int_equal(ha_context_number(a), count);
    assert_int_equal(ha_context_number(b), count);
    assert_true(ha_context_find(added) == a->primary && b->primary == a->primary);
    SUCCEEDS(ha_context_unfork(a));
    SUCCEEDS(ha_context_unfork(b));
    ha_sycl.Queue_Delete(queue);
    ha_sycl.Queue_Delete(another);
}

TEST(a_queue_of_a_context_that_is_known) {
    void *own = ha_sycl.Queue_GetContext(ha_context_stream(C));
    void *queue = ha_sycl.Queue_Create(own, device, NULL, HA_SYCL_IN_ORDER);
    const int count = ha_context_count("sycl");
    ha_context *a = ha_sycl_adopt(queue);
    assert_true(a && a->primary == C->primary);
    assert_int_equal(ha_context_count("sycl"), count);
    REFUSED(HA_ERR_STATE, ha_sycl_adopt(queue) ? HA_OK : HA_ERR_STATE);
    SUCCEEDS(ha_context_unfork(a));
    ha_sycl.Queue_Delete(queue);
    ha_sycl.Context_Delete(own);
}

/* Devices of one platform have one context: memory and queues are of one of them all the same. */
TEST(devices_that_share_a_context) {
    const char *library = getenv("HARRAY_SYCL");
    if (!library || !strstr(library, "libfake_sycl.so")) skip();
    setenv("HARRAY_FAKE_SYCL", "shared", 1);
    ha_context *other = ha_context_get("sycl", 1);
    assert_non_null(other);
    void *own = ha_context_stream(C), *queue = ha_sycl.Queue_Copy(ha_context_stream(other));
    void *block = ha_sycl.aligned_alloc_device(64, N * sizeof(double), own);
    const ha_wrapped right = {block, C, 0}, wrong = {block, other, 0};
    ha_array *x = ha_array_wrap(harray_double_type(), N, &right, 1);
    assert_non_null(x);
    ha_array_free(x);
    assert_null(ha_array_wrap(harray_double_type(), N, &wrong, 1));
    expect_text(HA_ERR_ARGUMENT, "ha_array_wrap", "memory of another device");
    ha_sycl.free_with_queue(block, own);
    assert_null(ha_context_adopt(C, queue));
    expect_text(HA_ERR_ARGUMENT, "ha_context_adopt", "another device or context");
    ha_context *adopted = ha_sycl_adopt(queue);
    assert_true(adopted && adopted->primary == other->primary);
    SUCCEEDS(ha_context_unfork(adopted));
    ha_sycl.Queue_Delete(queue);
    unsetenv("HARRAY_FAKE_SYCL");
}

TEST(arrays_move_between_contexts) {
    void *queue = new_queue(HA_SYCL_IN_ORDER);
    ha_context *a = ha_sycl_adopt(queue);
    harray_double x = keep(harray_double_new(N));
    HA_OVERWRITING(v, x, H, N) for (int i = 0; i < N; i++) v.data[i] = i;
    else fail();
    for (int i = 0; i < 3; i++) {
        touch(x, a);
        HA_WRITING(v, x, C) {} /* what was there is stale, although its device is the same */
        else fail();
        assert_true(valid_at(x, C) == N && valid_at(x, a) == 0);
    }
    SUCCEEDS(ha_context_unfork(a));
    HA_READING(v, x, H) for (int i = 0; i < N; i++) assert_true(v.data[i] == i);
    else fail();
    drop(x);
    ha_sycl.Queue_Delete(queue);
}

/* Nothing is opened then. */
TEST(queues_that_are_refused) {
    void *queue = new_queue(OUT_OF_ORDER);
    const int count = ha_context_count("sycl");
    assert_null(ha_sycl_adopt(NULL));
    expect_text(HA_ERR_ARGUMENT, "ha_sycl_adopt", "no queue");
    assert_null(ha_sycl_adopt(queue));
    expect_text(HA_ERR_ARGUMENT, "ha_sycl_adopt", "the queue is out of order");
    assert_null(ha_context_adopt(C, queue));
    expect_text(HA_ERR_ARGUMENT, "ha_context_adopt", "ha_sycl_adopt takes it");
    assert_int_equal(ha_context_count("sycl"), count);
    ha_sycl.Queue_Delete(queue);
}

static bool no_memory_of_its_own(void *of, int aspect) {
    (void)of, (void)aspect;
    return false;
}

TEST(a_device_without_memory_of_its_own) {
    void *queue = new_queue(HA_SYCL_IN_ORDER);
    bool (*const has)(void *, int) = ha_sycl.Device_HasAspect;
    ha_sycl.Device_HasAspect = no_memory_of_its_own;
    assert_null(ha_sycl_adopt(queue));
    ha_sycl.Device_HasAspect = has;
    expect_text(HA_ERR_UNSUPPORTED, "ha_sycl_adopt", "usm_device_allocations");
    ha_sycl.Queue_Delete(queue);
}

/* A number is that of one device as long as there is another one behind it. */
TEST(numbers_stay) {
    void *queue[3];
    ha_context *a[3];
    const int count = ha_context_count("sycl");
    void *const first = context;
    void *(*create)(void *, void (*)(int), int);
    *(void **)&create = dlsym(ha_sycl.library, "DPCTLContext_Create");
    for (int i = 0; i < 3; i++) {
        if (i) context = create(device, NULL, 0);
        queue[i] = new_queue(HA_SYCL_IN_ORDER);
        a[i] = ha_sycl_adopt(queue[i]);
        assert_non_null(a[i]);
        assert_int_equal(ha_context_number(a[i]), count + i);
        SUCCEEDS(ha_context_unfork(a[i]));
        if (i) ha_sycl.Context_Delete(context);
    }
    context = first;
    const ha_sycl_place last = {ha_sycl.Queue_GetDevice(queue[2]),
                                ha_sycl.Queue_GetContext(queue[2])};
    ha_sycl_take_away(count + 1);
    assert_int_equal(ha_context_count("sycl"), count + 3);
    assert_int_equal(ha_sycl_number_of(&last), count + 2);
    ha_sycl_place gap = ha_sycl_place_at(count + 1), again = ha_sycl_place_at(count + 2);
    assert_true(gap.context == NULL && gap.device == NULL && ha_sycl_place_is(&again, &last));
    ha_sycl_place_end(&again);
    int number;
    SUCCEEDS(ha_sycl_number_of_queue(queue[1], &number));
    assert_int_equal(number, count + 1);
    ha_sycl_take_away(count + 1);
    ha_sycl_take_away(count + 2);
    assert_int_equal(ha_context_count("sycl"), count + 1);
    ha_sycl_place_end(&last);
    for (int i = 0; i < 3; i++) ha_sycl.Queue_Delete(queue[i]);
}

static void *no_queue(void *in, void *of, void (*told)(int), int properties) {
    (void)in, (void)of, (void)told, (void)properties;
    return NULL;
}

/* The device is not there afterwards. */
TEST(a_device_that_cannot_be_opened) {
    void *queue = new_queue(HA_SYCL_IN_ORDER);
    void *(*const create)(void *, void *, void (*)(int), int) = ha_sycl.Queue_Create;
    const int count = ha_context_count("sycl");
    ha_sycl.Queue_Create = no_queue;
    assert_null(ha_sycl_adopt(queue));
    ha_sycl.Queue_Create = create;
    expect_text(HA_ERR_BACKEND, "ha_sycl_adopt", "DPCTLQueue_Create failed");
    assert_int_equal(ha_context_count("sycl"), count);
    ha_sycl.Queue_Delete(queue);
}

static int is_open(int number) {
    pthread_mutex_lock(&ha_registry.lock);
    const ha_context *found = ha_device_find(&ha_backend_sycl, number);
    pthread_mutex_unlock(&ha_registry.lock);
    return found != NULL;
}

/* Each allocation fails in turn: the device is there only if it has been opened, for the next call. */
TEST(no_memory) {
    void *queue = new_queue(HA_SYCL_IN_ORDER);
    const int count = ha_context_count("sycl");
    ha_context *a = NULL;
    int refused = 0;
    while (!a) {
        fails = ++refused;
        a = ha_sycl_adopt(queue);
        fails = 0;
        const ha_error error = ha_take_error();
        assert_int_equal(error.status, a ? HA_OK : HA_ERR_MEMORY);
        assert_int_equal(ha_context_count("sycl"), count + is_open(count));
    }
    assert_true(refused > 3);
    SUCCEEDS(ha_context_unfork(a));
    ha_sycl.Queue_Delete(queue);
}

int main(void) {
#define OPEN(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        OPEN(a_device_for_each_context),
        OPEN(a_queue_of_a_context_that_is_known),
        OPEN(arrays_move_between_contexts),
        OPEN(devices_that_share_a_context),
        OPEN(queues_that_are_refused),
        OPEN(numbers_stay),
        OPEN(a_device_without_memory_of_its_own),
        OPEN(a_device_that_cannot_be_opened),
        OPEN(no_memory),
    };
    if (ha_context_count("sycl") > 0) return cmocka_run_group_tests(tests, NULL, NULL);
    (void)ha_context_find("sycl:0");
    printf("skipped: %s\n", ha_take_error().text);
    return SKIPPED;
}
