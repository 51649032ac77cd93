/* What concerns the process as a whole: options of sim, shutdown, backends handed in, fork, and the
 * environment. On the contexts of support/matrix.h, and with none open. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"
#include <sys/wait.h>
#include <unistd.h>

static void do_nothing(HA_UNUSED const ha_queue *queue, HA_UNUSED void *argument) {}

/* ---- sim options ---------------------------------------------------------------------------- */

TEST(options_of_open_devices) {
    const ha_sim_options options = {.devices = 3};
    (void)require_context("sim:0");
    REFUSED(HA_ERR_STATE, ha_sim_configure(&options));
    REFUSED(HA_ERR_STATE, ha_sim_configure(NULL));
}

TEST(options) {
    const ha_sim_options many = {.devices = 5, .capacity = 1 << 20};
    const ha_sim_options bad = {.devices = -1};
    SUCCEEDS(ha_sim_configure(&many));
    assert_int_equal(ha_context_count("sim"), 5);
    REFUSED(HA_ERR_ARGUMENT, ha_sim_configure(&bad));
    assert_int_equal(ha_context_count("sim"), 5);
    H = ha_host();
    C = require_context("sim:4");
    harray_double x = keep(harray_double_zeros_at(1000, C));
    REFUSED_NULL(HA_ERR_MEMORY, ha_array_new(harray_double_type(), 1 << 18, C));
    add_at(x, C, 1);
    assert_true(sum_at(x, H) == 1000);
    drop(x);
    assert_int_equal(ha_shutdown(), HA_OK);
    SUCCEEDS(ha_sim_configure(NULL));
    assert_int_equal(ha_context_count("sim"), 2);
    REFUSED_NULL(HA_ERR_NOT_FOUND, ha_context_find("sim:4"));
}

/* ---- shutdown ------------------------------------------------------------------------------- */

TEST(shutdown_and_again) {
    H = ha_host();
    for (int round = 0; round < 3; round++) {
        C = require_context("sim:0");
        harray_double x = list_at(C), host = list_at(H);
        add_at(x, C, 1);
        REFUSED(HA_ERR_STATE, ha_shutdown());
        VALUES(x, 6, 7, 3, 4, -4);
        drop(x);
        REFUSED(HA_ERR_STATE, ha_shutdown()); /* arrays on the host count, too */
        drop(host);
        SUCCEEDS(ha_shutdown());
        SUCCEEDS(ha_shutdown());
        assert_ptr_equal(ha_host(), H);
    }
}

/* Work that nobody waits for any more. */
TEST(shutdown_drains) {
    C = require_context("sim:0");
    harray_double x = keep(harray_double_zeros_at(100000, C));
    for (int i = 0; i < 20; i++) add_at(x, C, 1);
    drop(x);
    SUCCEEDS(ha_shutdown());
}

/* ---- backends handed in --------------------------------------------------------------------- */

static ha_backend backend_copy;
static ha_memory_ops memory_copy;
static ha_queue_ops queue_copy;

static const ha_backend *fresh_copy(void) {
    backend_copy = private_backend;
    memory_copy = *private_backend.memory;
    queue_copy = *private_backend.queue;
    backend_copy.memory = &memory_copy;
    backend_copy.queue = &queue_copy;
    backend_copy.kind = "copied";
    return &backend_copy;
}

static void without(void *table, size_t offset) {
    memset((char *)table + offset, 0, sizeof(void (*)(void)));
    REFUSED(HA_ERR_ARGUMENT, ha_backend_register(&backend_copy));
    (void)fresh_copy();
}

TEST(required_slots) {
    (void)fresh_copy();
    without(&backend_copy, offsetof(ha_backend, count));
    without(&backend_copy, offsetof(ha_backend, open));
    without(&backend_copy, offsetof(ha_backend, kind));
    without(&backend_copy, offsetof(ha_backend, memory));
    without(&backend_copy, offsetof(ha_backend, queue));
    without(&memory_copy, offsetof(ha_memory_ops, allocate));
    without(&memory_copy, offsetof(ha_memory_ops, release));
    without(&memory_copy, offsetof(ha_memory_ops, reaches));
    without(&queue_copy, offsetof(ha_queue_ops, create));
    without(&queue_copy, offsetof(ha_queue_ops, destroy));
    without(&queue_copy, offsetof(ha_queue_ops, copy));
    without(&queue_copy, offsetof(ha_queue_ops, call));
    without(&queue_copy, offsetof(ha_queue_ops, record));
    without(&queue_copy, offsetof(ha_queue_ops, await));
    without(&queue_copy, offsetof(ha_queue_ops, finish));
    without(&queue_copy, offsetof(ha_queue_ops, done));
    without(&queue_copy, offsetof(ha_queue_ops, drain));
    assert_int_equal(ha_context_count("copied"), 0);
}

TEST(sizes_versions_and_kinds) {
    const char *bad[] = {"", "a b", "a:0", "sim", "host", "best", "private/x", "caf\xc3\xa9"};
    REFUSED(HA_ERR_ARGUMENT, ha_backend_register(NULL));
#define REFUSED_WITH(change)                                                                       \
    do {                                                                                           \
        (void)fresh_copy();                                                                        \
        change;                                                                                    \
        REFUSED(HA_ERR_ARGUMENT, ha_backend_register(&backend_copy));                              \
    } while (0)
    REFUSED_WITH(backend_copy.bytes = 0);
    REFUSED_WITH(backend_copy.version = 0);
    REFUSED_WITH(backend_copy.version = HA_BACKEND_VERSION + 1);
    REFUSED_WITH(memory_copy.bytes = 0);
    REFUSED_WITH(memory_copy.version = HA_BACKEND_VERSION + 1);
    REFUSED_WITH(queue_copy.bytes = 0);
    REFUSED_WITH(queue_copy.version = 0);
    static ha_memory_ops pinned;
    const ha_memory_ops usual = memory_copy;
#define PINNED_WITH(change) REFUSED_WITH((pinned = usual, change, backend_copy.pinned = &pinned))
    PINNED_WITH(pinned.allocate = NULL);
    PINNED_WITH(pinned.release = NULL);
    PINNED_WITH(pinned.version = 0);
    PINNED_WITH(pinned.bytes = offsetof(ha_memory_ops, release));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) REFUSED_WITH(backend_copy.kind = bad[i]);
    assert_int_equal(ha_context_count("copied"), 0);
}

/* A later engine's table may be longer; optional slots may be missing; the same one may come
 * again; another one of the same kind may not. */
TEST(registering) {
    static ha_backend twin;
    (void)fresh_copy();
    backend_copy.bytes += 64;
    backend_copy.close = NULL;
    memory_copy.cost = NULL;
    queue_copy.fill = NULL;
    queue_copy.forget = NULL;
    queue_copy.native = NULL;
    SUCCEEDS(ha_backend_register(&backend_copy));
    SUCCEEDS(ha_backend_register(&backend_copy));
    twin = backend_copy;
    REFUSED(HA_ERR_ARGUMENT, ha_backend_register(&twin));
    assert_int_equal(ha_context_count("copied"), 2);
    ha_context *context = ha_context_find("copied:1");
    assert_non_null(context);
    assert_string_equal(ha_context_kind(context), "copied");
    H = ha_host();
    harray_double x = list_at(context);
    add_at(x, context, 1);
    VALUES(x, 6, 7, 3, 4, -4);
    drop(x);
    SUCCEEDS(ha_shutdown());
    assert_int_equal(ha_context_count("copied"), 0); /* forgotten */
}

/* A device that cannot be opened. */
static ha_status no_device(HA_UNUSED int number, HA_UNUSED void **device, HA_UNUSED void **memory) {
    ha_backend_report(4711, "out of order");
    return HA_ERR_BACKEND;
}

TEST(devices_that_cannot_be_opened) {
    (void)fresh_copy();
    backend_copy.open = no_device;
    SUCCEEDS(ha_backend_register(&backend_copy));
    assert_null(ha_context_find("copied:0"));
    const ha_error error = ha_take_error();
    assert_int_equal(error.status, HA_ERR_BACKEND);
    assert_int_equal(error.code, 4711);
    assert_non_null(strstr(error.text, "copied:0"));
    assert_non_null(strstr(error.text, "out of order"));
    SUCCEEDS(ha_shutdown());
}

/* ---- process fork --------------------------------------------------------------------------- */

/* What went wrong in the child, as a number; 0: every call failed cleanly. */
static int calls_in_child(harray_double x, harray_double y) {
    ha_access a;
    double element;
    int step_number = 1;
#define CHILD(expr)                                                                                \
    do {                                                                                           \
        if (!(expr)) return step_number;                                                           \
        step_number++;                                                                             \
        (void)ha_take_error();                                                                     \
    } while (0)
    CHILD(ha_open(&a, x.array, H, HA_READ, 0, HA_END) == HA_ERR_STATE);
    CHILD(ha_open(&a, x.array, C, HA_WRITE, 0, HA_END) == HA_ERR_STATE);
    CHILD(ha_overwrite(&a, x.array, C, 3, HA_WAIT) == HA_ERR_STATE);
    CHILD(ha_enqueue(C, do_nothing, NULL, 0) == HA_ERR_STATE);
    CHILD(ha_context_finish(C) == HA_ERR_STATE);
    CHILD(ha_context_find("sim:1") == NULL);
    CHILD(ha_context_fork(C) == NULL);
    CHILD(harray_double_get(x, 0, &element) == HA_ERR_STATE);
    CHILD(harray_double_set(x, 0, 1) == HA_ERR_STATE);
    CHILD(harray_double_resize(x, 9) == HA_ERR_STATE);
    CHILD(ha_array_reserve(x.array, C, 9) == HA_ERR_STATE);
    CHILD(ha_array_clear(x.array) == HA_ERR_STATE);
    CHILD(ha_array_purge(x.array) == HA_ERR_STATE);
    CHILD(ha_array_evict(x.array, C) == HA_ERR_STATE);
    CHILD(ha_array_prefetch(x.array, C, 0, HA_END) == HA_ERR_STATE);
    CHILD(harray_double_zeros(3).array == NULL);
    CHILD(ha_array_copy(x.array) == NULL);
    CHILD(ha_array_like(x.array) == NULL);
    CHILD(harray_double_swap(x, y) == HA_ERR_STATE);
    CHILD(harray_double_assign(x, y) == HA_ERR_STATE);
    CHILD(ha_array_assign_at(x.array, y.array, C) == HA_ERR_STATE);
    CHILD(ha_array_take(x.array, y.array) == HA_ERR_STATE);
    CHILD(ha_array_free(x.array) == HA_ERR_STATE);
    CHILD(ha_sim_configure(NULL) == HA_ERR_STATE);
    CHILD(ha_backend_register(&private_backend) == HA_ERR_STATE);
    CHILD(ha_memory_allocate(C, 10) == NULL);
    CHILD(ha_memory_release(C, &a) == HA_ERR_STATE);
    CHILD(ha_memory_trim(C, 0) == 0);
    CHILD(ha_memory_set_cache(C, 0) == HA_ERR_STATE);
    CHILD(ha_memory_set_allocator(C, NULL) == HA_ERR_STATE);
    CHILD(ha_context_memory(C).handed_out == 0);
    CHILD(ha_shutdown() == HA_ERR_STATE);
    CHILD(harray_double_size(x) < 100); /* what only looks does not hang */
    HA_READING(v, x, H) return step_number;
    return ha_take_error().status == HA_ERR_STATE ? 0 : step_number;
}

/* While an access is open, and a queue at work. */
TEST(process_fork) {
    harray_double x = list_at(C), y = list_at(C);
    HA_WRITING(v, x, C) {
        add(&v, 1);
        const pid_t child = fork();
        if (child == 0) _exit(calls_in_child(x, y));
        int status = -1;
        assert_true(child > 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        add(&v, 1);
    }
    else fail();
    VALUES(x, 7, 8, 4, 5, -3); /* the parent does not notice */
    drop(x);
    drop(y);
}

/* ---- the environment ------------------------------------------------------------------------ */

static const char *program; /* this one */

/* Runs this program again with a task, and gives its exit status. */
static int run_again(const char *task, const char *device, const char *sim) {
    const pid_t child = fork();
    int status = -1;
    if (child == 0) {
        if (device)
            setenv("HARRAY_DEVICE", device, 1);
        else
            unsetenv("HARRAY_DEVICE");
        if (sim) setenv("HARRAY_SIM", sim, 1);
        execlp(program, program, task, (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Exit status 0 when the best context has the name given, or is refused with the status given. */
static int expect_best(const char *expected) {
    const ha_context *best = ha_context_best();
    const char *got = best ? ha_context_name(best) : ha_status_name(ha_take_error().status);
    return strcmp(got, expected) != 0;
}

static int count_devices(const char *kind) { return ha_context_count(kind); }

static void count_event(HA_UNUSED const ha_event_info *e, void *count) { ++*(int *)count; }

/* Exit status 0 when a child may call, and is told what happens, if its parent has only set a handler. */
static int fork_first(void) {
    int told = 0, status = -1;
    ha_set_event_handler(count_event, &told);
    const pid_t child = fork();
    if (child == 0) {
        harray_double x = harray_double_zeros(1000);
        _exit(harray_double_free(&x) != HA_OK || told == 0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) return 1;
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

TEST(fork_before_the_first_call) { assert_int_equal(run_again("fork", NULL, NULL), 0); }

/* Without the fake CUDA driver that Meson names; */
TEST(chosen_by_the_environment) {
    const char *given = getenv("HARRAY_CUDA");
    char cuda[300] = "";
    if (given) snprintf(cuda, sizeof cuda, "%s", given);
    if (cuda_fake()) assert_int_equal(run_again("cuda:0", NULL, NULL), 0);
    setenv("HARRAY_CUDA", "library=no such driver", 1);
    assert_int_equal(run_again("host", NULL, NULL), 0); /* a simulated device only when asked for */
    assert_int_equal(run_again("host", "", NULL), 0);
    assert_int_equal(run_again("host", "host", NULL), 0);
    assert_int_equal(run_again("host", "best", NULL), 0);
    assert_int_equal(run_again("sim:0", "sim", NULL), 0);
    assert_int_equal(run_again("sim:1", "sim:1", NULL), 0);
    assert_int_equal(run_again("HA_ERR_NOT_FOUND", "cuda:77", NULL), 0);
    assert_int_equal(run_again("HA_ERR_ARGUMENT", "sim:", NULL), 0);
    assert_int_equal(run_again("devices", NULL, "devices=4,capacity=1M"), 4);
    assert_int_equal(run_again("sim:3", "sim:3", "devices=4"), 0);
    setenv("HARRAY_CUDA", "memory=fast", 1); /* a mistake does not go unnoticed on the host */
    assert_int_equal(run_again("HA_ERR_NOT_FOUND", NULL, NULL), 0);
    assert_int_equal(run_again("host", "host", NULL), 0);
    assert_int_equal(run_again("GPUs", NULL, NULL), 0);
    if (given)
        setenv("HARRAY_CUDA", cuda, 1);
    else
        unsetenv("HARRAY_CUDA");
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        CASE(options_of_open_devices),
        CASE(process_fork),
    };
    const struct CMUnitTest afresh[] = {
        CASE(options),
        CASE(shutdown_and_again),
        CASE(shutdown_drains),
        CASE(required_slots),
        CASE(sizes_versions_and_kinds),
        CASE(registering),
        CASE(devices_that_cannot_be_opened),
        CASE(chosen_by_the_environment),
        CASE(fork_before_the_first_call),
    };
    int failed = 0;
    program = argv[0];
    if (argc > 1 && !strcmp(argv[1], "fork")) return fork_first();
    if (argc > 1 && !strcmp(argv[1], "devices")) return count_devices("sim");
    if (argc > 1 && !strcmp(argv[1], "GPUs")) return count_devices("cuda");
    if (argc > 1) return expect_best(argv[1]);
    RUN_ON_MATRIX(failed, tests);
    failed += cmocka_run_group_tests_name("no contexts open", afresh, NULL, NULL);
    return failed + leave_row();
}
