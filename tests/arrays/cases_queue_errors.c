/* Calls that fail inside functions on queues: told by ha_context_finish, and by the next opening of what
 * the function was to write. On the contexts of support/matrix.h. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"
#include <stdatomic.h>

static const char *own_line(int back, int line) {
    static char text[2][300];
    static int next;
    char *at = text[next++ % 2];
    snprintf(at, sizeof text[0], "%s:%d", __FILE__, line - back);
    return at;
}
#define LINES_AGO(n) own_line(n, __LINE__)

/* Closes what is not open; adds, too. */
static void fail_job(const ha_queue *queue, void *argument) {
    ha_access closed = {NULL, 0, 0, NULL, NULL, 0, HA_OK};
    if (argument) add_job(queue, argument);
    HA_IGNORE(ha_close(&closed));
}

static void take_job(const ha_queue *queue, void *argument) {
    fail_job(queue, argument);
    (void)ha_take_error();
}

static void run(const ha_write_double *v, ha_function f) {
    const job j = {v->data, v->size, 1};
    SUCCEEDS(ha_enqueue(v->context, f, &j, sizeof j));
}

static void write_by(harray_double x, ha_function f) {
    HA_WRITING(v, x, C) run(&v, f);
    else fail();
}

/* On the host functions fail in the calling thread. */
static void forget_own(void) {
    if (C == H) assert_int_equal(ha_take_error().status, HA_ERR_STATE);
}

/* Where a function has failed before anything else can be enqueued. */
static int fails_before_others(void) { return C != H && runs_at_once(C); }

#define REFUSED_AT(expr, ...)                                                                      \
    do {                                                                                           \
        const char *const parts_[] = {__VA_ARGS__};                                                \
        if (C == H) {                                                                              \
            SUCCEEDS(expr);                                                                        \
            break;                                                                                 \
        }                                                                                          \
        assert_int_equal(expr, HA_ERR_STATE);                                                      \
        const ha_error e_ = ha_take_error();                                                       \
        assert_int_equal(e_.status, HA_ERR_STATE);                                                 \
        for (size_t i_ = 0; i_ < sizeof parts_ / sizeof *parts_; i_++)                             \
            if (!strstr(e_.text, parts_[i_])) fail_msg("no %s in: %s", parts_[i_], e_.text);       \
        step();                                                                                    \
    } while (0)

static ha_status open_once(harray_double x, ha_context *context, unsigned how, size_t first,
                           size_t last) {
    ha_access a;
    const ha_status s = ha_open(&a, x.array, context, how, first, last);
    if (!s) SUCCEEDS(ha_close(&a));
    return s;
}

TEST(finishing_tells_it_once) {
    SUCCEEDS(ha_enqueue(C, fail_job, NULL, 0));
    const char *const site = LINES_AGO(1);
    forget_own();
    REFUSED_AT(ha_context_finish(C), C->name, site,
               "ha_close failed: ", ": called from a function");
    SUCCEEDS(ha_context_finish(C));
}

TEST(finishing_tells_several_at_once) {
    if (fails_before_others()) skip();
    for (int i = 0; i < 9; i++) SUCCEEDS(ha_enqueue(C, fail_job, NULL, 0));
    const char *const site = LINES_AGO(1);
    forget_own();
    REFUSED_AT(ha_context_finish(C), site, "; and in others");
    SUCCEEDS(ha_context_finish(C));
}

/* Also when there are more than openings are told one by one, each with the place where it was enqueued. */
TEST(finishing_tells_each_one) {
    for (int i = 0; i < HA_QUEUE_ERRORS + 2; i++) {
        SUCCEEDS(ha_enqueue(C, fail_job, NULL, 0));
        const char *const one = LINES_AGO(1);
        forget_own();
        REFUSED_AT(ha_context_finish(C), one, "ha_close failed: ", ": called from a function");
        SUCCEEDS(ha_enqueue(C, fail_job, NULL, 0));
        const char *const another = LINES_AGO(1);
        forget_own();
        REFUSED_AT(ha_context_finish(C), another, "ha_close failed: ", ": called from a function");
        SUCCEEDS(ha_context_finish(C));
    }
}

TEST(opening_tells_it_once) {
    harray_double x = list_at(C);
    harray_double_set_name(x, "x");
    HA_WRITING(v, x, C) {
        run(&v, take_job);
        HA_RUN(fail_job, v);
    }
    const char *const site = LINES_AGO(2);
    forget_own();
    REFUSED_AT(open_once(x, H, HA_READ, 1, 4),
               "array 'x' (double[5]): elements [1, 4) may be wrong", C->name, site,
               "ha_close failed: ", ": called from a function");
    SUCCEEDS(open_once(x, H, HA_READ, 0, HA_END));
    drop(x);
}

TEST(values_are_as_they_were_left) {
    harray_double x = list_at(C);
    write_by(x, fail_job);
    forget_own();
    REFUSED_AT(open_once(x, H, HA_WRITE, 0, HA_END), "may be wrong");
    VALUES(x, 6, 7, 3, 4, -4);
    drop(x);
}

TEST(what_the_function_takes_is_its_own) {
    harray_double x = list_at(C);
    write_by(x, take_job);
    VALUES(x, 6, 7, 3, 4, -4);
    SUCCEEDS(ha_context_finish(C));
    drop(x);
}

/* Only what was open for writing then. */
TEST(others_are_not_told) {
    harray_double x = list_at(C), before = list_at(C), read = list_at(C), behind = list_at(C);
    add_at(before, C, 1);
    HA_READING(r, read, C)
    HA_WRITING_RANGE(v, x, C, 0, 2) run(&v, fail_job);
    forget_own();
    add_at(behind, C, 1);
    VALUES(before, 6, 7, 3, 4, -4);
    VALUES(behind, 6, 7, 3, 4, -4);
    VALUES(read, 5, 6, 2, 3, -5);
    SUCCEEDS(open_once(x, H, HA_READ, 2, HA_END));
    REFUSED_AT(open_once(x, H, HA_READ, 0, 3), "elements [0, 2) may be wrong");
    drop(x);
    drop(before);
    drop(read);
    drop(behind);
}

TEST(overwriting_is_not_told) {
    harray_double x = list_at(C);
    write_by(x, fail_job);
    forget_own();
    SUCCEEDS(open_once(x, H, HA_OVERWRITE, 0, HA_END));
    SUCCEEDS(open_once(x, H, HA_READ, 0, HA_END));
    drop(x);
}

/* What has happened is forgotten, but not that. */
TEST(overwriting_a_part_leaves_the_rest) {
    harray_double x = list_at(C);
    write_by(x, fail_job);
    forget_own();
    REFUSED_AT(ha_context_finish(C), C->name);
    SUCCEEDS(open_once(x, C, HA_OVERWRITE, 0, 1));
    REFUSED_AT(open_once(x, H, HA_READ, 0, HA_END), "may be wrong");
    SUCCEEDS(open_once(x, H, HA_READ, 0, HA_END));
    drop(x);
}

static atomic_int may_fail;

static void fail_late_job(const ha_queue *queue, void *argument) {
    while (!atomic_load(&may_fail)) sched_yield();
    fail_job(queue, argument);
}

/* A later write keeps what was wrong, though it is not known yet. */
TEST(later_writes_pass_it_on) {
    if (fails_before_others()) skip();
    harray_double x = list_at(C);
    atomic_store(&may_fail, C == H);
    write_by(x, fail_late_job);
    forget_own();
    for (int i = 0; i < 3; i++) write_by(x, add_job);
    atomic_store(&may_fail, 1);
    REFUSED_AT(open_once(x, H, HA_READ, 0, HA_END), "may be wrong");
    VALUES(x, 9, 10, 6, 7, -1);
    drop(x);
}

/* Once it is known, on the device, too; also where everything is valid, and nobody is in the way. */
TEST(the_device_tells_it_when_it_is_known) {
    harray_double x = list_at(C);
    write_by(x, fail_job);
    forget_own();
    REFUSED_AT(ha_context_finish(C), C->name);
    REFUSED_AT(open_once(x, C, HA_READ, 0, HA_END), "may be wrong");
    SUCCEEDS(open_once(x, C, HA_READ, 0, HA_END));
    VALUES(x, 6, 7, 3, 4, -4);
    drop(x);
}

TEST(what_waits_tells_it) {
    harray_double x = list_at(C);
    ha_access a;
    double value;
    write_by(x, fail_job);
    forget_own();
    REFUSED_AT(ha_read_anywhere(&a, x.array, H, 0, HA_END), "elements [0, 5) may be wrong");
    if (C == H) SUCCEEDS(ha_close(&a));
    write_by(x, fail_job);
    forget_own();
    REFUSED_AT(harray_double_get(x, 3, &value), "elements [3, 4) may be wrong");
    SUCCEEDS(harray_double_get(x, 3, &value));
    drop(x);
}

/* A token is an access, too. */
TEST(tokens_tell_it) {
    harray_double x = list_at(C);
    ha_write_double v;
    ha_token token = {0};
    SUCCEEDS(ha_open(&v, x.array, C, HA_WRITE, 0, HA_END));
    run(&v, fail_job);
    forget_own();
    SUCCEEDS(ha_detach(&token, &v));
    SUCCEEDS(ha_token_finish(&token));
    REFUSED_AT(open_once(x, M1, HA_READ, 0, HA_END) || open_once(x, H, HA_READ, 0, HA_END)
                   ? HA_ERR_STATE
                   : HA_OK,
               "may be wrong");
    drop(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(finishing_tells_it_once),
        CASE(opening_tells_it_once),
        CASE(values_are_as_they_were_left),
        CASE(what_the_function_takes_is_its_own),
        CASE(others_are_not_told),
        CASE(overwriting_is_not_told),
        CASE(overwriting_a_part_leaves_the_rest),
        CASE(later_writes_pass_it_on),
        CASE(the_device_tells_it_when_it_is_known),
        CASE(what_waits_tells_it),
        CASE(tokens_tell_it),
        CASE(finishing_tells_several_at_once),
        CASE(finishing_tells_each_one),
    };
    int failed = 0;
    /* Each begins with a queue that has not met any error yet. */
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        const struct CMUnitTest one[] = {tests[i]};
        RUN_ON_MATRIX(failed, one);
    }
    return failed;
}
