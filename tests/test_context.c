/* Case J and everything about contexts: looking them up, the current one, forks, functions on their
 * queues. On the contexts of matrix.h. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../harray.h"
#include "matrix.h"
#include <pthread.h>

/* ---- J. on every row ------------------------------------------------------------------------ */

TEST(case_97) {
    assert_non_null(ha_host());
    assert_ptr_equal(ha_host(), ha_host());
    assert_ptr_equal(ha_context_find("host"), ha_host());
    assert_ptr_equal(ha_context_find("host:0"), ha_host());
    assert_ptr_equal(ha_context_get("host", 0), ha_host());
    assert_string_equal(ha_context_name(H), "host");
    assert_string_equal(ha_context_kind(H), "host");
    assert_int_equal(ha_context_number(H), 0);
    assert_int_equal(ha_context_count("host"), 1);
    assert_null(ha_context_stream(H));
}

TEST(case_98) {
    ha_context *best = ha_context_best();
    assert_non_null(best);
    const char *kind = ha_context_kind(best);
    const int number = ha_context_number(best);
    assert_true(ha_context_count(kind) > number);
    assert_ptr_equal(ha_context_get(kind, number), best);
    assert_ptr_equal(ha_context_find("best"), best);
}

TEST(case_99_100) {
    assert_null(ha_context_current());
    HA_ON(C) {
        assert_ptr_equal(ha_context_current(), C);
        HA_ON(M1) {
            assert_ptr_equal(ha_context_current(), M1);
            HA_ON(H) assert_ptr_equal(ha_context_current(), H);
            else fail();
            assert_ptr_equal(ha_context_current(), M1);
            break;
        }
        else fail();
        assert_ptr_equal(ha_context_current(), C);
    }
    else fail();
    assert_null(ha_context_current());
}

static ha_context *leave_scopes_by_return(void) {
    HA_ON(M1) {
        assert_ptr_equal(ha_context_current(), M1);
        HA_ON(C) return ha_context_current();
    }
    return NULL;
}

TEST(ways_out_of_scopes) {
    int ran = 0;
    HA_ON(M1) HA_ON(C) ran++; /* both on one line */
    assert_int_equal(ran--, 1);
    assert_ptr_equal(leave_scopes_by_return(), C);
    assert_null(ha_context_current());
    for (int i = 0; i < 2; i++) {
        HA_ON(C) continue;
        ran++;
    }
    assert_int_equal(ran, 2);
    HA_ON(C) goto out;
out:
    assert_null(ha_context_current());
}

/* No context: the else branch, and nothing else changes. */
TEST(scopes_of_nothing) {
    int other = 0;
    HA_ON(NULL) fail();
    else other++;
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    HA_ON(C) {
        HA_ON(ha_context_find("sim:99")) fail();
        else {
            other++;
            assert_ptr_equal(ha_context_current(), C);
        }
    }
    else fail();
    assert_int_equal(ha_take_error().status,
                     HA_ERR_NOT_FOUND); /* the first thing that went wrong */
    assert_int_equal(other, 2);
    assert_null(ha_context_current());
}

/* NULL as a context is the current one, everywhere. */
TEST(null_contexts) {
    harray_double x = list_at(NULL);
    assert_ptr_equal(ha_array_valid_context(x.array), H);
    assert_int_equal(CAPACITY(x, NULL), 5);
    drop(x);
    HA_ON(C) {
        x = list_at(NULL);
        assert_ptr_equal(ha_array_valid_context(x.array), C);
        assert_true(VALID(x, NULL));
        assert_int_equal(CAPACITY(x, NULL), 5);
        HA_WRITING(v, x, NULL) {
            assert_ptr_equal(v.context, C);
            add(&v, 1);
        }
        else fail();
        SUCCEEDS(ha_context_finish(NULL));
        SUCCEEDS(ha_array_prefetch(x.array, NULL, 0, HA_END));
        SUCCEEDS(ha_array_reserve(x.array, NULL, 9));
        assert_int_equal(CAPACITY(x, C), 9);
        assert_string_equal(ha_context_name(NULL), ha_context_name(C));
        drop(x);
        x = keep(harray_double_zeros(3));
        assert_ptr_equal(ha_array_valid_context(x.array), C);
        drop(x);
    }
    else fail();
}

static void *see_current(void *argument) {
    ha_context **seen = (ha_context **)argument;
    seen[0] = ha_context_current();
    HA_ON(M1) seen[1] = ha_context_current();
    return NULL;
}

TEST(case_100_per_thread) {
    ha_context *seen[2] = {H, H};
    pthread_t thread;
    HA_ON(C) {
        assert_int_equal(pthread_create(&thread, NULL, see_current, seen), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_ptr_equal(ha_context_current(), C);
    }
    else fail();
    assert_null(seen[0]);
    assert_ptr_equal(seen[1], M1);
}

TEST(case_101) {
    assert_ptr_not_equal(M1, H);
    assert_ptr_not_equal(M1, M2);
    assert_ptr_not_equal(C, M1);
    assert_ptr_not_equal(C, M2);
}

/* Memory of a context is usable there, and that of the host on the host. */
TEST(case_102_105) {
    const uint8_t bytes[13] = "twelve bytes";
    uint8_t back[10];
    harray_uint8_t x = harray_uint8_t_from(keep_array(harray_uint8_t_of(13, bytes).array));
    HA_WRITING_RANGE(v, x, C, 0, 10) assert_int_equal(v.size, 10);
    else fail();
    assert_int_equal(ha_array_valid(x.array, H, 0, 10), C == H);
    HA_READING_RANGE(v, x, H, 0, 10) memcpy(back, v.data, sizeof back);
    else fail();
    assert_memory_equal(back, bytes, sizeof back);
    if (C != H) assert_int_equal(ha_array_statistics(x.array).bytes, 10 + 10);
    drop_array(x.array);
    harray_double y = keep(harray_double_zeros_at(1000, C));
    add_at(y, C, 2);
    assert_true(sum_at(y, H) == 2000);
    drop(y);
}

TEST(case_104) {
    const ha_type byte = {"byte", 1};
    REFUSED_NULL(HA_ERR_MEMORY, ha_array_new(byte, SIZE_MAX, C));
    REFUSED_NULL(HA_ERR_MEMORY, ha_array_new(byte, SIZE_MAX - 64, C));
    REFUSED_NULL(HA_ERR_MEMORY, ha_array_zeros(byte, SIZE_MAX / 2, C));
    REFUSED_NULL(HA_ERR_MEMORY, ha_array_new(byte, SIZE_MAX, H));
    harray_double x = list_at(C); /* the context is as good as before */
    add_at(x, C, 1);
    drop(x);
}

TEST(case_107) {
    assert_ptr_equal(ha_context_find("sim"), ha_context_find("sim:0"));
    assert_ptr_equal(ha_context_get("sim", 0), ha_context_find("sim:0"));
    assert_ptr_equal(ha_context_get("private", 1), ha_context_find("private:1"));
    assert_ptr_not_equal(ha_context_find("sim:0"), ha_context_find("sim:1"));
    assert_ptr_equal(ha_context_find(ha_context_name(C)), C);
    harray_double x = list_at(C);
    REFUSED(HA_ERR_STATE, ha_shutdown()); /* contexts live while an array does */
    assert_ptr_equal(ha_context_find(ha_context_name(C)), C);
    add_at(x, C, 1);
    VALUES(x, 6, 7, 3, 4, -4);
    drop(x);
}

/* ---- names ---------------------------------------------------------------------------------- */

TEST(names) {
    ha_context *context = ha_context_find("sim:1");
    assert_string_equal(ha_context_name(context), "sim:1");
    assert_string_equal(ha_context_kind(context), "sim");
    assert_int_equal(ha_context_number(context), 1);
    assert_null(ha_context_stream(context));
    assert_int_equal(ha_context_count("sim"), 2);
    assert_int_equal(ha_context_count("private"), 2);
    assert_int_equal(ha_context_count("nonsense"), 0);
    assert_int_equal(ha_context_count(""), 0);
}

/* The text is refused, and the error names it. */
static void expect_no_context(const char *text, ha_status expected) {
    assert_null(ha_context_find(text));
    const ha_error error = ha_take_error();
    assert_int_equal(error.status, expected);
    char kind[40];
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(text, ":"), text);
    assert_non_null(strstr(error.text, kind));
}

TEST(bad_names) {
    const char *no_names[] = {"",       " ",      "sim:",   "sim:x",  "sim:-1",
                              " sim",   "sim ",   "sim:0 ", "sim:+1", "sim:0/1",
                              "sim:0x", "sim::0", ":0",     "sim-0",  "host:"};
    const char *no_devices[] = {"sim:99", "sim:2", "nonsense", "nonsense:0",
                                "host:1", "SIM",   "private:2"};
    for (size_t i = 0; i < sizeof no_names / sizeof *no_names; i++)
        expect_no_context(no_names[i], HA_ERR_ARGUMENT);
    for (size_t i = 0; i < sizeof no_devices / sizeof *no_devices; i++)
        expect_no_context(no_devices[i], HA_ERR_NOT_FOUND);
    assert_null(ha_context_find("sim:99999999999999999999")); /* no number, or no device */
    assert_int_not_equal(ha_take_error().status, HA_OK);
    REFUSED_NULL(HA_ERR_ARGUMENT, ha_context_find(NULL));
    REFUSED_NULL(HA_ERR_ARGUMENT, ha_context_get(NULL, 0));
    REFUSED_NULL(HA_ERR_ARGUMENT, ha_context_get("sim", -1));
    REFUSED_NULL(HA_ERR_NOT_FOUND, ha_context_get("sim", 99));
    REFUSED_NULL(HA_ERR_NOT_FOUND, ha_context_get("host", 1));
    REFUSED_NULL(HA_ERR_NOT_FOUND, ha_context_get("nonsense", 0));
}

/* ---- forks ---------------------------------------------------------------------------------- */

TEST(forks) {
    ha_context *fork = ha_context_fork(C), *second = ha_context_fork(fork);
    assert_non_null(fork);
    if (C == H) {
        assert_ptr_equal(fork, H);
        assert_ptr_equal(second, H);
        return;
    }
    char name[64];
    snprintf(name, sizeof name, "%s/1", ha_context_name(C));
    assert_string_equal(ha_context_name(fork), name);
    assert_ptr_not_equal(fork, C);
    assert_ptr_not_equal(second, fork);
    assert_string_not_equal(ha_context_name(second), name);
    assert_string_equal(ha_context_kind(fork), ha_context_kind(C));
    assert_int_equal(ha_context_number(fork), ha_context_number(C));

    harray_double x = list_at(C);
    const ha_statistics before = ha_array_statistics(x.array);
    assert_true(VALID(x, fork)); /* one memory */
    add_at(x, fork, 1);
    assert_true(VALID(x, C));
    add_at(x, C, 1);
    add_at(x, second, 1);
    MOVED(x, before.transfers, before.bytes);
    VALUES(x, 8, 9, 5, 6, -2);
    HA_READING(v, x, C) {
        HA_WRITING(w, x, fork) fail(); /* another context, all the same */
        else REFUSED(HA_ERR_CONFLICT, w.status);
    }
    else fail();
    drop(x);
}

/* ---- functions on a queue ------------------------------------------------------------------- */

typedef struct noted {
    int *order;
    int *next;
    int number;
} noted;

static void note_order(HA_UNUSED const ha_queue *queue, void *argument) {
    const noted *n = (const noted *)argument;
    n->order[(*n->next)++] = n->number;
}

/* In order, and with a copy of the argument as it was. */
TEST(enqueueing) {
    int order[5] = {-1, -1, -1, -1, -1}, next = 0;
    noted n = {order, &next, 0};
    for (; n.number < 5; n.number++) SUCCEEDS(ha_enqueue(C, note_order, &n, sizeof n));
    if (C == H) assert_int_equal(next, 5); /* at once */
    SUCCEEDS(ha_context_finish(C));
    assert_int_equal(next, 5);
    for (int i = 0; i < 5; i++) assert_int_equal(order[i], i);
}

static void check_large(HA_UNUSED const ha_queue *queue, void *argument) {
    unsigned char *bytes = (unsigned char *)argument;
    int *result;
    memcpy(&result, bytes, sizeof result);
    *result = bytes[sizeof result] == 7 && bytes[4999] == 9;
    bytes[4999] = 1; /* its own copy */
}

static void check_none(HA_UNUSED const ha_queue *queue, HA_UNUSED void *argument) {}

TEST(arguments_are_copied) {
    static unsigned char large[5000];
    int result = 0, *where = &result;
    memcpy(large, &where, sizeof where);
    large[sizeof where] = 7;
    large[4999] = 9;
    SUCCEEDS(ha_enqueue(C, check_large, large, sizeof large));
    assert_int_equal(large[4999], 9);
    memset(large + sizeof where, 0, sizeof large - sizeof where);
    SUCCEEDS(ha_context_finish(C));
    assert_int_equal(result, 1);

    SUCCEEDS(ha_enqueue(C, check_none, NULL, 0));
    REFUSED(HA_ERR_ARGUMENT, ha_enqueue(C, NULL, NULL, 0));
    REFUSED(HA_ERR_ARGUMENT, ha_enqueue(C, check_none, NULL, 8));
    SUCCEEDS(ha_context_finish(C));
}

typedef struct inside {
    harray_double x;
    ha_context *context;
    ha_status open, enqueue, error, run;
    int ran;
} inside;

static void call_inside(HA_UNUSED const ha_queue *queue, void *argument) {
    inside *i = *(inside **)argument;
    ha_access a;
    i->open = ha_open(&a, i->x.array, i->context, HA_READ, 0, HA_END);
    i->error = ha_take_error().status;
    i->enqueue = ha_enqueue(i->context, check_none, NULL, 0);
    (void)ha_take_error();
    double element;
    i->run = harray_double_get(i->x, 0, &element);
    (void)ha_take_error();
    i->ran = 1;
}

/* A function on a queue may not open accesses: it would wait for itself. */
TEST(no_accesses_on_queues) {
    inside i = {.x = list_at(H), .context = C}, *pointer = &i;
    SUCCEEDS(ha_enqueue(C, call_inside, &pointer, sizeof pointer));
    SUCCEEDS(ha_context_finish(C));
    assert_int_equal(i.ran, 1);
    assert_int_equal(i.open, HA_ERR_STATE);
    assert_int_equal(i.error, HA_ERR_STATE);
    assert_int_equal(i.run, HA_ERR_STATE);
    VALUES(i.x, 5, 6, 2, 3, -5); /* and afterwards all is as before */
    drop(i.x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(case_97),
        CASE(case_98),
        CASE(case_99_100),
        CASE(ways_out_of_scopes),
        CASE(scopes_of_nothing),
        CASE(null_contexts),
        CASE(case_100_per_thread),
        CASE(case_101),
        CASE(case_102_105),
        CASE(case_104),
        CASE(case_107),
        CASE(names),
        CASE(bad_names),
        CASE(forks),
        CASE(enqueueing),
        CASE(arguments_are_copied),
        CASE(no_accesses_on_queues),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
