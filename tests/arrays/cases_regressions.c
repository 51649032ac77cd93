/* Defects that were found once, each with the rule that it broke; those of waiting and memory are
 * in cases_liveness.c. And giving contexts back, and where arrays were first touched. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/threads.h"
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

typedef char *string;
HARRAY(bool);
HARRAY_NAMED(text, char *);
HARRAY(string);

/* ---- on every row --------------------------------------------------------------------------- */

/* Assigning at a context changes the array as a whole: not while any access is open. */
TEST(assign_at_under_an_access) {
    harray_double x = keep(harray_double_filled_at(3, 1, C));
    harray_double y = keep(harray_double_filled(3, 2));
    opener o;
    HA_READING(v, x, C) REFUSED(HA_ERR_CONFLICT, ha_array_assign_at(x.array, y.array, C));
    else fail();
    HA_READING_RANGE(v, x, H, 1, 2)
    REFUSED(HA_ERR_CONFLICT, ha_array_assign_at(x.array, y.array, C));
    else fail();
    HA_READING_RANGE(v, x, C, 1, 1)
    REFUSED(HA_ERR_CONFLICT, ha_array_assign_at(x.array, y.array, C));
    else fail();
    start_open(&o, x.array, C, HA_READ, 0, HA_END);
    assert_int_equal(wait_opened(&o), HA_OK);
    REFUSED(HA_ERR_CONFLICT, ha_array_assign_at(x.array, y.array, C));
    finish(&o);
    VALUES(x, 1, 1, 1);
    SUCCEEDS(ha_array_assign_at(x.array, y.array, C));
    VALUES(x, 2, 2, 2);
    drop(x);
    drop(y);
}

static atomic_int arguments, missing;

static void note_argument(HA_UNUSED const ha_queue *queue, void *argument) {
    atomic_fetch_add(argument ? &arguments : &missing, 1);
}

TEST(an_argument_of_no_bytes) {
    int something = 0;
    atomic_store(&arguments, 0);
    atomic_store(&missing, 0);
    SUCCEEDS(ha_enqueue(C, note_argument, NULL, 0));
    SUCCEEDS(ha_enqueue(C, note_argument, &something, 0));
    SUCCEEDS(ha_enqueue(C, note_argument, &something, sizeof something));
    SUCCEEDS(ha_context_finish(C));
    assert_int_equal(atomic_load(&missing), 2);
    assert_int_equal(atomic_load(&arguments), 1);
}

static atomic_int refusals;

/* Inside a queued function everything is refused for what it is, sizes that overflow, too. */
static void resize_job(HA_UNUSED const ha_queue *queue, void *argument) {
    ha_array *array = NULL;
    memcpy(&array, argument, sizeof array);
    atomic_fetch_add(&refusals, ha_array_resize(array, SIZE_MAX) == HA_ERR_STATE);
    atomic_fetch_add(&refusals, ha_take_error().status == HA_ERR_STATE);
}

TEST(overflow_inside_a_queued_function) {
    harray_double x = list_at(C);
    atomic_store(&refusals, 0);
    SUCCEEDS(ha_enqueue(C, resize_job, &x.array, sizeof x.array));
    SUCCEEDS(ha_context_finish(C));
    assert_int_equal(atomic_load(&refusals), 2);
    drop(x);
}

/* A macro in C, but its arrays are called harray_bool. */
TEST(arrays_of_bool) {
    harray_bool x = harray_bool_filled_at(3, true, C);
    bool element = false;
    (void)keep_array(x.array);
    assert_string_equal(harray_bool_type().name, "bool");
    assert_int_equal(harray_bool_type().size, sizeof(bool));
    SUCCEEDS(harray_bool_set(x, 1, false));
    SUCCEEDS(harray_bool_get(x, 2, &element));
    assert_true(element);
    HA_READING(v, x, H) {
        assert_true(_Generic(v.data, const bool * : 1, default : 0));
        assert_true(v.data[0] && !v.data[1] && v.data[2]);
    }
    else fail();
    drop_array(x.array);
}

/* What a read access may not change is the pointer, not what it points to. */
TEST(arrays_of_pointers) {
    char word[] = "word";
    harray_text x = harray_text_filled_at(2, word, C);
    (void)keep_array(x.array);
    assert_string_equal(harray_text_type().name, "text");
    HA_READING(v, x, H) {
        assert_true(_Generic(&v.data, char *const ** : 1, default : 0));
        v.data[1][0] = 'l';
    }
    else fail();
    assert_string_equal(word, "lord");
    drop_array(x.array);

    char *words[] = {word};
    harray_string y = harray_string_of(1, words);
    (void)keep_array(y.array);
    HA_READING(v, y, H) assert_ptr_equal(v.data[0], word);
    else fail();
    drop_array(y.array);
}

static int64_t credit(const ha_context *context) {
    ha_sim_queue *queue = (ha_sim_queue *)context->queue;
    pthread_mutex_lock(&queue->lock);
    const int64_t commands = queue->credit;
    pthread_mutex_unlock(&queue->lock);
    return commands;
}

TEST(a_step_of_nothing) {
    ha_context *sim = require_context("sim:0");
    SUCCEEDS(ha_context_finish(sim));
    SUCCEEDS(ha_sim_step(sim, 0));
    const int64_t when_free = credit(sim);
    SUCCEEDS(ha_sim_hold(sim));
    SUCCEEDS(ha_sim_step(sim, 0));
    const int64_t when_held = credit(sim);
    SUCCEEDS(ha_sim_step(sim, 3));
    SUCCEEDS(ha_sim_step(sim, 0));
    const int64_t when_stepped = credit(sim);
    SUCCEEDS(ha_sim_step(sim, -1)); /* a queue that stays held would hang what follows */
    assert_int_equal(when_free, -1);
    assert_int_equal(when_held, 0);
    assert_int_equal(when_stepped, 3);
    REFUSED(HA_ERR_ARGUMENT, ha_sim_step(H, 0));
    REFUSED(HA_ERR_ARGUMENT, ha_sim_hold(H));
    REFUSED(HA_ERR_ARGUMENT, ha_sim_step(require_context("private:1"), 0));
}

/* ---- contexts given back -------------------------------------------------------------------- */

TEST(forks_are_used_again) {
    ha_context *device = C == H ? M1 : C;
    ha_context *first = ha_context_fork(device), *second = ha_context_fork(first);
    assert_true(first && second && first != second);
    SUCCEEDS(ha_context_unfork(second));
    assert_ptr_equal(ha_context_fork(device), second);
    SUCCEEDS(ha_context_unfork(first));
    SUCCEEDS(ha_context_unfork(second));
    ha_context *again = ha_context_fork(device), *too = ha_context_fork(device);
    assert_true((again == first && too == second) || (again == second && too == first));
    ha_context *third = ha_context_fork(device);
    assert_true(third && third != first && third != second);
    assert_string_not_equal(ha_context_name(third), ha_context_name(first));
    assert_string_not_equal(ha_context_name(third), ha_context_name(second));
    SUCCEEDS(ha_context_unfork(first));
    SUCCEEDS(ha_context_unfork(second));
    SUCCEEDS(ha_context_unfork(third));
}

TEST(only_forks_are_given_back) {
    ha_context *fork = ha_context_fork(C == H ? M1 : C);
    REFUSED(HA_ERR_ARGUMENT, ha_context_unfork(NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_context_unfork(M1));
    if (C != H) REFUSED(HA_ERR_ARGUMENT, ha_context_unfork(C));
    SUCCEEDS(ha_context_unfork(H));
    HA_ON(fork) REFUSED(HA_ERR_ARGUMENT, ha_context_unfork(NULL));
    else fail();
    SUCCEEDS(ha_context_unfork(fork));
    REFUSED(HA_ERR_STATE, ha_context_unfork(fork));
}

/* What was enqueued still happens, and others still come after it. */
TEST(work_of_a_fork_given_back) {
    harray_double x = list_at(C);
    ha_context *fork = ha_context_fork(C);
    add_at(x, fork, 1);
    if (C != H) SUCCEEDS(ha_context_unfork(fork));
    add_at(x, C, 1);
    VALUES(x, 7, 8, 4, 5, -3);
    drop(x);
}

TEST(first_touch) {
    ha_context *fork = ha_context_fork(C);
    harray_double x = list_at(C), y = list_at(fork), z = list_at(M1);
    assert_ptr_equal(ha_array_first_touch(x.array), C);
    assert_ptr_equal(ha_array_first_touch(y.array), fork);
    assert_ptr_equal(ha_array_first_touch(NULL), H);
    touch(x, H);
    add_at(x, M2, 1);
    SUCCEEDS(harray_double_swap(x, z));
    SUCCEEDS(ha_array_purge(z.array));
    assert_ptr_equal(ha_array_first_touch(x.array), C);
    assert_ptr_equal(ha_array_first_touch(z.array), M1);
    SUCCEEDS(ha_array_take(z.array, x.array));
    assert_ptr_equal(ha_array_first_touch(z.array), M1);

    harray_double like = harray_double_from(keep_array(ha_array_like(y.array)));
    harray_double copy = keep(harray_double_copy(y));
    assert_ptr_equal(ha_array_first_touch(like.array), fork);
    assert_ptr_equal(ha_array_first_touch(copy.array), fork);
    HA_ON(C) {
        harray_double here = keep(harray_double_new(3));
        assert_ptr_equal(ha_array_first_touch(here.array), C);
        drop(here);
    }
    else fail();
    drop(x);
    drop(y);
    drop(z);
    drop(like);
    drop(copy);
    if (C != H) SUCCEEDS(ha_context_unfork(fork));
}

/* ---- devices that cannot, or can no more ---------------------------------------------------- */

static ha_memory_ops memory;
static ha_queue_ops queue;
static ha_backend backend;

static void derive(const char *kind) {
    memory = private_memory_ops;
    queue = private_queue_ops;
    backend = private_backend;
    backend.kind = kind;
    backend.memory = &memory;
    backend.queue = &queue;
    H = ha_host();
}

static int dead, records_nothing;

static ha_status dying_copy(void *handle, void *to, const void *from, size_t bytes) {
    return dead ? HA_OK : private_copy(handle, to, from, bytes); /* lost */
}

static ha_status dying_record(void *handle, ha_event *event) {
    return records_nothing ? HA_ERR_BACKEND : example_record(handle, event);
}

static ha_status dying_finish(const ha_event *event) {
    return dead ? HA_ERR_LOST : example_finish(event);
}

static int dying_done(const ha_event *event) { return dead ? -1 : example_done(event); }

/* Freeing and reading other arrays does not make the dead device's work done. */
TEST(dead_devices_stay_dead) {
    ha_access v;
    double element;
    derive("dying");
    queue.copy = dying_copy;
    queue.record = dying_record;
    queue.finish = dying_finish;
    queue.done = dying_done;
    SUCCEEDS(ha_backend_register(&backend));
    C = M1 = M2 = require_context("dying:0");
    harray_double x = list_at(C), y = list_at(C);
    SUCCEEDS(ha_context_finish(C));
    dead = 1;
    SUCCEEDS(ha_array_prefetch(x.array, H, 0, HA_END));
    REFUSED(HA_ERR_LOST, ha_open(&v, x.array, H, HA_READ, 0, HA_END));
    REFUSED(HA_ERR_LOST, harray_double_get(y, 0, &element));
    REFUSED(HA_ERR_LOST, ha_open(&v, x.array, H, HA_READ, 0, HA_END));
    records_nothing = 1;
    drop(y);
    REFUSED(HA_ERR_LOST, ha_open(&v, x.array, H, HA_READ, 0, HA_END));
    dead = records_nothing = 0;
    drop(x);
    SUCCEEDS(ha_shutdown());
}

static int reaches_nothing(HA_UNUSED void *handle, HA_UNUSED const ha_place *other) { return 0; }

/* A device that the host cannot be copied to and from: single elements neither. */
TEST(a_device_out_of_reach) {
    double element = 3;
    derive("remote");
    memory.reaches = reaches_nothing;
    SUCCEEDS(ha_backend_register(&backend));
    C = M1 = M2 = require_context("remote:0");
    harray_double x = keep(harray_double_new_at(5, C));
    HA_OVERWRITING(v, x, C, 5) fill(&v, 1);
    else fail();
    const snapshot before = snapshot_of(x);
    REFUSED(HA_ERR_UNSUPPORTED, harray_double_get(x, 2, &element));
    expect_unchanged(x, &before);
    assert_true(element == 3);
    assert_true(sum_at(x, C) == 5);
    REFUSED(HA_ERR_UNSUPPORTED, harray_double_set(x, 2, 7));
    expect_unchanged(x, &before);
    assert_true(sum_at(x, C) == 5);
    drop(x);
    SUCCEEDS(ha_shutdown());
}

/* ---- in a process of its own ---------------------------------------------------------------- */

static pid_t child_of(int pipe_ends[2]) {
    assert_int_equal(pipe(pipe_ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    return child;
}

static int status_of(pid_t child) {
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static ha_status an_answer(void) { return HA_ERR_BUSY; }

/* What HA_CHECK prints of a status that is an answer, not an error. */
static void check_fails(char *text, size_t bytes) {
    int ends[2];
    size_t n = 0;
    const pid_t child = child_of(ends);
    if (child == 0) {
        if (dup2(ends[1], 2) < 0) _exit(1);
        HA_CHECK(an_answer());
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got = 1; got > 0 && n < bytes - 1; n += (size_t)got) {
        got = read(ends[0], text + n, bytes - 1 - n);
        if (got < 0) got = 0;
    }
    close(ends[0]);
    text[n] = '\0';
    const int status = status_of(child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

TEST(checks_tell_the_status_that_failed) {
    char text[2000];
    check_fails(text, sizeof text);
    assert_non_null(strstr(text, "an_answer() failed: HA_ERR_BUSY"));
    assert_null(strstr(text, "HA_OK"));
    assert_null(ha_context_find("nonsense")); /* an older error, not looked at */
    check_fails(text, sizeof text);
    assert_non_null(strstr(text, "an_answer() failed: HA_ERR_BUSY"));
    assert_int_equal(ha_take_error().status, HA_ERR_NOT_FOUND);
}

/* A forked child may find the array's lock taken for ever: it is refused before it looks. */
static int resize_in_child(ha_array *array) {
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX / sizeof(double), (size_t)PTRDIFF_MAX, 3, 0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (ha_array_resize(array, sizes[i]) != HA_ERR_STATE) return (int)(2 * i + 1);
        if (ha_take_error().status != HA_ERR_STATE) return (int)(2 * i + 2);
    }
    return 0;
}

static int resize_in_fork(ha_array *array) {
    const pid_t child = fork();
    if (child == 0) _exit(resize_in_child(array));
    const int status = status_of(child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(overflow_in_a_forked_child) {
    H = C = M1 = M2 = ha_host();
    harray_double x = list_at(H);
    assert_int_equal(resize_in_fork(x.array), 0);
    ha_lock(x.array); /* as another thread may have, when the process forks */
    const int failed = resize_in_fork(x.array);
    ha_unlock(x.array);
    assert_int_equal(failed, 0);
    drop(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(assign_at_under_an_access),
        CASE(an_argument_of_no_bytes),
        CASE(overflow_inside_a_queued_function),
        CASE(arrays_of_bool),
        CASE(arrays_of_pointers),
        CASE(a_step_of_nothing),
        CASE(forks_are_used_again),
        CASE(only_forks_are_given_back),
        CASE(work_of_a_fork_given_back),
        CASE(first_touch),
    };
    const struct CMUnitTest afresh[] = {
        CASE(checks_tell_the_status_that_failed),
        CASE(overflow_in_a_forked_child),
        CASE(dead_devices_stay_dead),
        CASE(a_device_out_of_reach),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    failed += cmocka_run_group_tests_name("no contexts open", afresh, NULL, NULL);
    return failed + leave_row();
}
