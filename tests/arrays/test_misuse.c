/* Calls that make no sense, and corners of the interface: every function with no array, accesses
 * that were closed or moved, odd names, a backend with and without its optional slots. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/private_backend.h"
#include "../support/refusals.h"
#include <signal.h>

TEST(no_array) {
    harray_double x = three();
    double d = 0;
    ha_access v;
    REFUSED(HA_ERR_ARGUMENT, ha_open(&v, NULL, NULL, HA_READ, 0, HA_END));
    REFUSED(HA_ERR_ARGUMENT, ha_overwrite(&v, NULL, NULL, 1, HA_WAIT));
    REFUSED(HA_ERR_ARGUMENT, ha_array_get(NULL, 0, &d));
    REFUSED(HA_ERR_ARGUMENT, ha_array_set(NULL, 0, &d));
    REFUSED(HA_ERR_ARGUMENT, ha_array_get(x.array, 0, NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_array_resize(NULL, 1));
    REFUSED(HA_ERR_ARGUMENT, ha_array_reserve(NULL, NULL, 1));
    REFUSED(HA_ERR_ARGUMENT, ha_array_clear(NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_array_purge(NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_array_swap(NULL, x.array));
    REFUSED(HA_ERR_ARGUMENT, ha_array_swap(x.array, NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_array_swap(NULL, NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_array_take(NULL, NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_array_assign(NULL, NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_array_assign_at(NULL, x.array, NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_array_prefetch(NULL, NULL, 0, HA_END));
    NONE(HA_ERR_ARGUMENT, ha_array_copy(NULL));
    NONE(HA_ERR_ARGUMENT, ha_array_like(NULL));
    assert_int_equal(harray_double_free(&x), HA_OK);
}

TEST(asking_no_array) {
    char text[20];
    assert_null(ha_array_retain(NULL));
    assert_int_equal(ha_array_free(NULL), HA_OK);
    assert_int_equal(ha_array_type(NULL).size, 0);
    assert_int_equal(ha_array_size(NULL), 0);
    assert_int_equal(ha_array_version(NULL), 0);
    assert_int_equal(ha_array_statistics(NULL).bytes, 0);
    assert_int_equal(ha_array_capacity(NULL, NULL), 0);
    assert_int_equal(ha_array_valid(NULL, NULL, 0, HA_END), 0);
    assert_int_equal(ha_array_valid_ranges(NULL, NULL, NULL, 0), 0);
    assert_ptr_equal(ha_array_valid_context(NULL), ha_host());
    assert_ptr_equal(ha_array_first_touch(NULL), ha_host());
    assert_string_equal(ha_array_name(NULL), "");
    ha_array_set_name(NULL, "nobody");
    assert_int_equal(ha_describe(NULL, text, sizeof text), strlen("no array\n"));
    assert_string_equal(text, "no array\n");
    assert_int_equal(ha_context_count(NULL), 0);
    assert_int_equal(ha_take_error().status, HA_OK);
}

TEST(types_without_name) {
    const ha_type nameless = {NULL, 4}, nothing = {NULL, 0};
    NONE(HA_ERR_ARGUMENT, ha_array_new(nothing, 1, NULL));
    NONE(HA_ERR_MEMORY, ha_array_new(nameless, SIZE_MAX / 2, NULL));
    ha_array *x = ha_array_new(nameless, 1, NULL);
    assert_non_null(x);
    assert_string_equal(ha_array_type(x).name, "?");
    ha_array_set_name(x, NULL);
    assert_string_equal(ha_array_name(x), "");
    assert_int_equal(ha_array_free(x), HA_OK);
}

/* Copies of an access that was closed or moved name a ticket that nobody holds. */
TEST(stale_accesses) {
    harray_double x = three();
    ha_write_double v, copy, to;
    ha_read_double r, first;
    assert_int_equal(ha_open(&v, x.array, NULL, HA_WRITE, 0, HA_END), HA_OK);
    copy = v;
    assert_int_equal(ha_move(&to, &v), HA_OK);
    assert_int_equal(ha_access_capacity(&to), 3);
    assert_int_equal(ha_close(&to), HA_OK);
    assert_int_equal(ha_access_capacity(&to), 0);
    REFUSED(HA_ERR_STATE, ha_close(&copy));
    REFUSED(HA_ERR_STATE, ha_move(&to, &copy));
    REFUSED(HA_ERR_STATE, ha_move(&to, &v));
    REFUSED(HA_ERR_ARGUMENT, ha_move(&to, &to));
    REFUSED(HA_ERR_STATE, ha_access_resize(&copy, 5));
    REFUSED(HA_ERR_STATE, ha_access_resize(&v, 5));
    REFUSED(HA_ERR_STATE, HA_RUN(NULL, v));
    assert_int_equal(ha_open(&r, x.array, NULL, HA_READ, 0, HA_END), HA_OK);
    assert_int_equal(ha_open(&first, x.array, NULL, HA_READ, 1, HA_END), HA_OK);
    REFUSED(HA_ERR_ARGUMENT, HA_RUN(NULL, r));
    assert_int_equal(ha_close(&r), HA_OK); /* not the last one opened */
    assert_int_equal(first.size, 2);
    assert_int_equal(ha_close(&first), HA_OK);
    assert_int_equal(harray_double_free(&x), HA_OK);
}

/* ---- arrays that were freed ------------------------------------------------------------------ */

/* Whoever comes with another copy of the handle is told, also long after. */
static void expect_freed(ha_array *x) {
    double d = 0;
    ha_access v;
    ha_request request = {.access = &v, .array = x, .last = HA_END};
    REFUSED(HA_ERR_STATE, ha_open(&v, x, NULL, HA_READ, 0, HA_END));
    REFUSED(HA_ERR_STATE, ha_open(&v, x, NULL, HA_WRITE | HA_TRY, 0, 1));
    REFUSED(HA_ERR_STATE, ha_overwrite(&v, x, NULL, 3, HA_WAIT));
    REFUSED(HA_ERR_STATE, ha_read_anywhere(&v, x, NULL, 0, HA_END));
    REFUSED(HA_ERR_STATE, ha_open_many(&request, 1));
    REFUSED(HA_ERR_STATE, ha_array_prefetch(x, NULL, 0, 1));
    REFUSED(HA_ERR_STATE, ha_array_get(x, 0, &d));
    REFUSED(HA_ERR_STATE, ha_array_set(x, 0, &d));
    REFUSED(HA_ERR_STATE, ha_array_resize(x, 4));
    REFUSED(HA_ERR_STATE, ha_array_purge(x));
    REFUSED(HA_ERR_STATE, ha_sync(x));
    REFUSED(HA_ERR_STATE, ha_unwrap(x));
    assert_int_equal(ha_array_size(x), 0);
    assert_int_equal(ha_take_error().status, HA_ERR_STATE);
    assert_int_equal(ha_array_free(x), HA_ERR_STATE);
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, HA_ERR_STATE);
    assert_string_equal(e.text, "array 'u' (double[3]) was freed");
}

/* By elements a typed access is opened, too: to what is as long. */
TEST(accesses_of_another_type) {
    harray_double x = three();
    ha_read_float narrow;
    ha_write_float narrow_to_write;
    ha_write_double fits;
    ha_access any;
    harray_double_set_name(x, "u");
    assert_int_equal(ha_open(&narrow, x.array, NULL, HA_READ, 0, HA_END), HA_ERR_ARGUMENT);
    const ha_error told = ha_take_error();
    assert_non_null(strstr(told.text, "array 'u' (double[3]): its elements have 8 bytes, those "
                                      "of the access 4"));
    assert_null(narrow.data);
    REFUSED(HA_ERR_ARGUMENT, ha_open(&narrow, x.array, NULL, HA_READ | HA_TRY, 1, 2));
    REFUSED(HA_ERR_ARGUMENT, ha_overwrite(&narrow_to_write, x.array, NULL, 3, HA_WAIT));
    REFUSED(HA_ERR_ARGUMENT, ha_overwrite(&narrow_to_write, x.array, NULL, 3, HA_TRY));
    REFUSED(HA_ERR_ARGUMENT, ha_read_anywhere(&narrow, x.array, NULL, 0, HA_END));
    assert_int_equal(ha_overwrite(&fits, x.array, NULL, 3, HA_TRY), HA_OK);
    assert_int_equal(ha_close(&fits), HA_OK);
    assert_int_equal(ha_open(&fits, x.array, NULL, HA_OVERWRITE | HA_TRY, 0, HA_END), HA_OK);
    for (int i = 0; i < 3; i++) fits.data[i] = i;
    assert_int_equal(ha_close(&fits), HA_OK);
    assert_int_equal(ha_open(&any, x.array, NULL, HA_READ, 0, HA_END), HA_OK);
    assert_int_equal(ha_close(&any), HA_OK);
    assert_int_equal(harray_double_free(&x), HA_OK);
}

/* An array with nothing but its block is freed in one step, which looks for open accesses, too. */
TEST(freed_while_it_is_open) {
    harray_double x = harray_double_new(3);
    ha_access v;
    for (unsigned how = HA_READ; how <= HA_OVERWRITE; how++) {
        assert_int_equal(ha_open(&v, x.array, NULL, HA_OVERWRITE, 0, HA_END), HA_OK);
        for (int i = 0; i < 3; i++) ((double *)v.data)[i] = i;
        assert_int_equal(ha_close(&v), HA_OK);
        assert_int_equal(ha_open(&v, x.array, NULL, how, 0, HA_END), HA_OK);
        REFUSED(HA_ERR_CONFLICT, ha_array_free(x.array));
        assert_int_equal(ha_array_size(x.array), 3);
        for (int i = 0; i < 3 && how == HA_OVERWRITE; i++) ((double *)v.data)[i] = i;
        assert_int_equal(ha_close(&v), HA_OK);
    }
    assert_int_equal(harray_double_free(&x), HA_OK);
}

TEST(freed_arrays) {
    harray_double x = three(), copy = x;
    ha_access v, stale;
    harray_double_set_name(x, "u");
    assert_int_equal(ha_open(&v, x.array, NULL, HA_WRITE, 0, HA_END), HA_OK);
    stale = v;
    assert_int_equal(ha_close(&v), HA_OK);
    assert_int_equal(harray_double_free(&x), HA_OK);
    expect_freed(copy.array);
    for (int i = 1; i < HA_KEPT; i++) {
        harray_double other = three();
        assert_ptr_not_equal(other.array, copy.array);
        assert_int_equal(harray_double_free(&other), HA_OK);
    }
    expect_freed(copy.array);
    v = stale;
    REFUSED(HA_ERR_STATE, ha_close(&v));
}

/* In the end the record is another array's. Accesses of the old one are none of it. */
TEST(freed_long_ago) {
    enum { MANY = 3 * HA_KEPT };
    harray_double x = three();
    ha_array *const before = x.array;
    ha_access v;
    assert_int_equal(ha_open(&v, x.array, NULL, HA_WRITE, 0, HA_END), HA_OK);
    ha_access stale = v;
    assert_int_equal(ha_close(&v), HA_OK);
    assert_int_equal(harray_double_free(&x), HA_OK);
    int round = 0;
    for (; round < MANY && !x.array; round++) {
        harray_double other = three();
        if (other.array == before)
            x = other;
        else
            assert_int_equal(harray_double_free(&other), HA_OK);
    }
    assert_true(round >= HA_KEPT && x.array);
    assert_int_equal(ha_open(&v, x.array, NULL, HA_WRITE, 0, HA_END), HA_OK);
    REFUSED(HA_ERR_STATE, ha_close(&stale));
    assert_int_equal(ha_close(&v), HA_OK);
    assert_int_equal(harray_double_free(&x), HA_OK);
}

/* The record was to be a new array's, for which there was no memory. */
TEST(freed_and_nothing_made_of_it) {
    harray_double x = three();
    ha_array *const before = x.array;
    assert_int_equal(harray_double_free(&x), HA_OK);
    while (ha_freed_arrays.first != &before->kept || ha_freed_arrays.n <= HA_KEPT) {
        harray_double other = three();
        assert_int_equal(harray_double_free(&other), HA_OK);
    }
    NONE(HA_ERR_MEMORY, ha_array_new(ha_type_of_("double", 8), SIZE_MAX / 16, NULL));
    assert_ptr_not_equal(ha_freed_arrays.first, &before->kept);
    assert_int_equal(ha_array_size(before), 0);
    assert_int_equal(ha_take_error().status, HA_ERR_STATE);
    REFUSED(HA_ERR_STATE, ha_array_free(before));
}

TEST(ways_to_open) {
    harray_double x = three();
    ha_access v;
    REFUSED(HA_ERR_ARGUMENT, ha_open(&v, x.array, NULL, 3, 0, HA_END));
    REFUSED(HA_ERR_ARGUMENT, ha_open(&v, x.array, NULL, 64, 0, HA_END));
    REFUSED(HA_ERR_ARGUMENT, ha_overwrite(&v, x.array, NULL, 3, 64));
    assert_int_equal(ha_overwrite(&v, x.array, NULL, 3, HA_TRY), HA_OK);
    assert_int_equal(ha_close(&v), HA_OK);
    assert_int_equal(harray_double_free(&x), HA_OK);
}

TEST(odd_names) {
    static const char *const none[] = {
        "", ":", "sim:", "sim:1x", "a b", "A_very_long_name_of_a_kind_00"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        NONE(HA_ERR_ARGUMENT, ha_context_find(none[i]));
    NONE(HA_ERR_ARGUMENT, ha_context_find(NULL));
    NONE(HA_ERR_NOT_FOUND, ha_context_find("Z_9"));
    NONE(HA_ERR_NOT_FOUND, ha_context_find("host:1"));
    NONE(HA_ERR_ARGUMENT, ha_context_get(NULL, 0));
    NONE(HA_ERR_ARGUMENT, ha_context_get("sim", -1));
    NONE(HA_ERR_NOT_FOUND, ha_context_get("sim", 1000));
    assert_ptr_equal(ha_context_find("host:0"), ha_host());
}

/* ---- a backend with other optional slots ---------------------------------------------------- */

static int forgotten;

static void forget(ha_event *event) {
    (void)event;
    forgotten++;
}

static void *native(void *queue) { return queue; }

static uint64_t no_cost(void *memory, const ha_place *other) {
    (void)memory, (void)other;
    return 0;
}

/* Found by ha_context_best, since it may be taken unasked; closed by nobody. */
TEST(optional_slots) {
    static ha_memory_ops memory;
    static ha_queue_ops queue;
    static ha_backend backend;
    memory = *private_backend.memory;
    memory.cost = no_cost;
    queue = *private_backend.queue;
    queue.forget = forget;
    queue.native = native;
    backend = private_backend;
    backend.kind = "Device_9";
    backend.only_if_named = 0;
    backend.memory = &memory;
    backend.queue = &queue;
    unsetenv("HARRAY_DEVICE");
    const ha_cuda_options none = {.library = "no driver"};
    assert_int_equal(ha_cuda_configure(&none), HA_OK);
    assert_ptr_equal(ha_context_best(), ha_host());
    assert_int_equal(ha_backend_register(&backend), HA_OK);
    ha_context *c = ha_context_best();
    assert_string_equal(ha_context_name(c), "Device_9:0");
    assert_non_null(ha_context_stream(c));
    assert_null(ha_context_stream(ha_host()));
    harray_double x = three();
    HA_READING(v, x, c) {}
    HA_WRITING(v, x, ha_host()) v.data[0] = 5;
    HA_READING(v, x, c) {}
    assert_int_equal(ha_context_finish(c), HA_OK);
    assert_int_equal(harray_double_free(&x), HA_OK);
    assert_int_equal(ha_shutdown(), HA_OK);
    assert_true(forgotten > 0);
}

static ha_status opened_nowhere(int number, void **device, void **memory) {
    (void)number;
    *device = *memory = NULL;
    return HA_OK;
}

static ha_status created_nowhere(void *device, void **queue) {
    (void)device, (void)queue;
    ha_backend_report(-7, NULL);
    return HA_ERR_BACKEND;
}

/* A device that opens, without a queue: nothing of it is left, though nobody can close it. */
TEST(no_queue) {
    static ha_queue_ops queue;
    static ha_backend backend;
    queue = *private_backend.queue;
    queue.create = created_nowhere;
    backend = private_backend;
    backend.queue = &queue;
    backend.open = opened_nowhere;
    backend.close = NULL;
    backend.zero_copy = NULL;
    assert_int_equal(ha_backend_register(&backend), HA_OK);
    assert_null(ha_context_find("private"));
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, HA_ERR_BACKEND);
    assert_int_equal(e.code, -7);
    assert_int_equal(ha_shutdown(), HA_OK);
}

/* Its tables end where optional slots begin, as they did when it was compiled. What would stand
 * there is not looked at. */
static void make_old(ha_memory_ops *memory, ha_queue_ops *queue, ha_backend *backend) {
    const ha_memory_ops new_memory = *private_backend.memory;
    const ha_queue_ops new_queue = *private_backend.queue;
    memset(memory, 0xEE, sizeof *memory);
    memset(queue, 0xEE, sizeof *queue);
    memset(backend, 0xEE, sizeof *backend);
    memcpy(memory, &new_memory, offsetof(ha_memory_ops, cost));
    memcpy(queue, &new_queue, offsetof(ha_queue_ops, fill));
    memcpy(backend, &private_backend, offsetof(ha_backend, pinned));
    memory->bytes = offsetof(ha_memory_ops, cost);
    queue->bytes = offsetof(ha_queue_ops, fill);
    backend->bytes = offsetof(ha_backend, pinned);
    backend->memory = memory;
    backend->queue = queue;
}

static void ask_old(ha_context *c) {
    static ha_event event;
    harray_double x = three();
    ha_context *owner;
    ha_access v;
    ha_token token = {NULL, NULL, 0};
    assert_null(ha_context_stream(c));
    assert_int_equal(ha_pointer_kind(&event, &owner), HA_MEMORY_HOST);
    assert_ptr_equal(owner, ha_host());
    NONE(HA_ERR_UNSUPPORTED, ha_context_adopt(c, &event));
    REFUSED(HA_ERR_UNSUPPORTED, ha_context_set_zero_copy(c, 1));
    assert_int_equal(ha_open(&v, x.array, c, HA_READ, 0, HA_END), HA_OK);
    assert_int_equal(ha_detach(&token, &v), HA_OK);
    REFUSED(HA_ERR_UNSUPPORTED, ha_token_end_after(&token, c, &event));
    assert_int_equal(ha_token_finish(&token), HA_OK);
    assert_int_equal(harray_double_free(&x), HA_OK);
}

TEST(an_older_backend) {
    static ha_memory_ops memory;
    static ha_queue_ops queue;
    static ha_backend backend;
    make_old(&memory, &queue, &backend);
    assert_int_equal(ha_backend_register(&backend), HA_OK);
    assert_int_equal(ha_trace_begin("/dev/null"), HA_OK);
    ha_context *c = ha_context_find("private");
    assert_non_null(c);
    ask_old(c);
    harray_double x = {ha_array_zeros(harray_double_type(), 3, c)};
    double value = 1;
    assert_int_equal(harray_double_get(x, 2, &value), HA_OK);
    assert_true(value == 0);
    HA_READING(v, x, ha_context_find("private:1")) {}
    else fail();
    HA_OVERWRITING_ALL(v, x, ha_host()) for (size_t i = 0; i < v.size; i++) v.data[i] = 4;
    HA_READING(v, x, c) {}
    else fail();
    assert_int_equal(harray_double_free(&x), HA_OK);
    assert_int_equal(ha_trace_end(), HA_OK);
    assert_int_equal(ha_shutdown(), HA_OK);
}

/* ---- in a forked child, and aborting --------------------------------------------------------- */

/* Nonzero when a question in the child gets an answer that is not empty. */
static int ask_in_child(ha_array *x) {
    char text[20];
    ha_access v = {0};
    size_t answers = ha_array_size(x) + ha_array_version(x) + ha_array_statistics(x).transfers +
                     ha_array_capacity(x, NULL) + (size_t)ha_array_valid(x, NULL, 0, HA_END) +
                     ha_array_valid_ranges(x, NULL, NULL, 0);
    ha_array_set_name(x, "renamed");
    ha_describe(x, text, sizeof text);
    v.array = x;
    return answers != 0 || strcmp(text, "no array\n") != 0 || *ha_array_name(x) ||
           ha_array_valid_context(x) != ha_host() || ha_context_count("sim") != 0 ||
           ha_context_get("sim", 0) || ha_context_best() || ha_context_fork(ha_host()) ||
           ha_context_unfork(NULL) != HA_ERR_STATE || ha_move(&v, &v) != HA_ERR_STATE ||
           ha_access_resize(&v, 1) != HA_ERR_STATE || ha_access_capacity(&v) != 0 ||
           ha_sim_step(NULL, 1) != HA_ERR_STATE || HA_RUN(NULL, v) != HA_ERR_STATE;
}

TEST(in_a_forked_child) {
    harray_double x = three();
    int status;
    pid_t child = fork();
    if (child == 0) _exit(ask_in_child(x.array));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(harray_double_free(&x), HA_OK);
}

static void check_other_status(void) {
    (void)ha_context_find("nowhere");
    HA_CHECK(HA_ERR_BUSY);
}

static void check_status_alone(void) { HA_CHECK(HA_ERR_BUSY); }

static void check_errors(void) {
    HA_CHECK_ERRORS(); /* nothing yet */
    (void)ha_context_find("nowhere");
    HA_CHECK_ERRORS();
}

/* What `f` prints before it aborts. */
static void output_of(void (*f)(void), char *text, size_t bytes) {
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        ha_forked = 0; /* as if this were a process of its own */
        ha_self.id = 1;
        dup2(ends[1], 2);
        signal(SIGABRT, SIG_DFL);
        f();
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t n; (n = read(ends[0], text + length, bytes - 1 - length)) > 0;)
        length += (size_t)n;
    text[length] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

TEST(checks_abort_with_the_right_error) {
    char text[1000];
    output_of(check_other_status, text, sizeof text);
    assert_non_null(strstr(text, "failed: HA_ERR_BUSY; the first error was HA_ERR_NOT_FOUND"));
    assert_non_null(strstr(text, "'nowhere'"));
    output_of(check_status_alone, text, sizeof text);
    assert_non_null(strstr(text, "failed: HA_ERR_BUSY\n"));
    output_of(check_errors, text, sizeof text);
    assert_non_null(strstr(text, "ha_context_find failed: HA_ERR_NOT_FOUND"));
    assert_non_null(strstr(text, "'nowhere'"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_array),
        cmocka_unit_test(asking_no_array),
        cmocka_unit_test(types_without_name),
        cmocka_unit_test(stale_accesses),
        cmocka_unit_test(accesses_of_another_type),
        cmocka_unit_test(freed_while_it_is_open),
        cmocka_unit_test(freed_arrays),
        cmocka_unit_test(freed_long_ago),
        cmocka_unit_test(freed_and_nothing_made_of_it),
        cmocka_unit_test(ways_to_open),
        cmocka_unit_test(odd_names),
        cmocka_unit_test(optional_slots),
        cmocka_unit_test(no_queue),
        cmocka_unit_test(an_older_backend),
        cmocka_unit_test(in_a_forked_child),
        cmocka_unit_test(checks_abort_with_the_right_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
