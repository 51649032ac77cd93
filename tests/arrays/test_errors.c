/* Errors: what is kept, what the texts say, the handler, HA_CHECK, sizes that overflow; and that a
 * call that fails changes nothing. On the contexts of support/matrix.h. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"
#include "../support/threads.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what is kept --------------------------------------------------------------------------- */

TEST(the_first_is_kept) {
    double element;
    harray_double x = list_at(C);
    assert_int_equal(ha_take_error().status, HA_OK);
    assert_int_equal(harray_double_get(x, 77, &element), HA_ERR_ARGUMENT);
    assert_null(ha_context_find("nonsense"));
    HA_READING_RANGE(v, x, C, 3, 2) fail();
    touch(x, C); /* success does not clear it */
    const ha_error error = ha_take_error();
    assert_int_equal(error.status, HA_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "77"));
    assert_non_null(error.operation);
    const ha_error none = ha_take_error();
    assert_int_equal(none.status, HA_OK);
    assert_string_equal(none.text, "");
    assert_int_equal(none.code, 0);
    drop(x);
}

static void *fail_elsewhere(void *argument) {
    ha_status *seen = (ha_status *)argument;
    seen[0] = ha_take_error().status;
    (void)ha_context_find("nonsense");
    seen[1] = ha_take_error().status;
    return NULL;
}

TEST(errors_are_per_thread) {
    ha_status seen[2] = {HA_ERR_BACKEND, HA_OK};
    pthread_t thread;
    assert_null(ha_context_find(""));
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, seen), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(seen[0], HA_OK);
    assert_int_equal(seen[1], HA_ERR_NOT_FOUND);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
}

TEST(status_names) {
    assert_string_equal(ha_status_name(HA_OK), "HA_OK");
    assert_string_equal(ha_status_name(HA_ERR_ARGUMENT), "HA_ERR_ARGUMENT");
    assert_string_equal(ha_status_name(HA_ERR_MEMORY), "HA_ERR_MEMORY");
    assert_string_equal(ha_status_name(HA_ERR_STATE), "HA_ERR_STATE");
    assert_string_equal(ha_status_name(HA_ERR_CONFLICT), "HA_ERR_CONFLICT");
    assert_string_equal(ha_status_name(HA_ERR_DEADLOCK), "HA_ERR_DEADLOCK");
    assert_string_equal(ha_status_name(HA_ERR_BUSY), "HA_ERR_BUSY");
    assert_string_equal(ha_status_name(HA_ERR_LOST), "HA_ERR_LOST");
    assert_string_equal(ha_status_name(HA_ERR_BACKEND), "HA_ERR_BACKEND");
    assert_string_equal(ha_status_name(HA_ERR_UNSUPPORTED), "HA_ERR_UNSUPPORTED");
    assert_string_equal(ha_status_name(HA_ERR_NOT_FOUND), "HA_ERR_NOT_FOUND");
    assert_string_equal(ha_status_name(HA_ERR_TRANSFER), "HA_ERR_TRANSFER");
    assert_string_equal(ha_status_name(HA_ERR_COMPILE), "HA_ERR_COMPILE");
    assert_string_equal(ha_status_name((ha_status)(HA_ERR_COMPILE + 1)), "unknown status");
    assert_string_equal(ha_status_name((ha_status)1000), "unknown status");
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* Takes the error; its text must have all of these words. */
static void expect_words(ha_status status, const char *operation, const char *const *words,
                         size_t count) {
    const ha_error error = ha_take_error();
    assert_int_equal(error.status, status);
    if (operation) assert_string_equal(error.operation, operation);
    assert_null(strchr(error.text, '\n'));
    for (size_t i = 0; i < count; i++) {
        if (!strstr(error.text, words[i]))
            print_error("\"%s\" does not say \"%s\"\n", error.text, words[i]);
        assert_non_null(strstr(error.text, words[i]));
    }
}
#define WORDS(status, operation, ...)                                                              \
    expect_words(status, operation, (const char *const[]){__VA_ARGS__},                            \
                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static harray_double named_list(void) {
    harray_double x = list_at(C);
    harray_double_set_name(x, "pressure");
    return x;
}

/* The line of the caller, from inside the macros. */
TEST(texts_of_openings) {
    char site[2][100];
    harray_double x = named_list(), none = keep(harray_double_new_at(3, C));
    ha_access a;
    assert_int_equal(ha_open(&a, x.array, C, HA_READ, 2, 8), HA_ERR_ARGUMENT);
    snprintf(site[0], sizeof site[0], "%s:%d", __FILE__, __LINE__ - 1);
    WORDS(HA_ERR_ARGUMENT, "ha_open", "pressure", "double", "5", "2", "8", ha_context_name(C),
          site[0]);

    HA_READING(v, none, M1) fail();
    snprintf(site[0], sizeof site[0], "%s:%d", __FILE__, __LINE__ - 1);
    WORDS(HA_ERR_STATE, "ha_open", "double", "3", "never written", ha_context_name(M1), site[0]);

    HA_WRITING(v, x, C) {
        snprintf(site[1], sizeof site[1], "%s:%d", __FILE__, __LINE__ - 1);
        HA_READING_RANGE(w, x, M1, 1, 3) fail();
        snprintf(site[0], sizeof site[0], "%s:%d", __FILE__, __LINE__ - 1);
        WORDS(HA_ERR_CONFLICT, "ha_open", "pressure", "double", ha_context_name(C),
              ha_context_name(M1), site[0], site[1],
              C == M1 ? "open the read before the write" : "close that one first");
        assert_int_equal(ha_array_clear(x.array), HA_ERR_CONFLICT);
        WORDS(HA_ERR_CONFLICT, NULL, "pressure", ha_context_name(C), site[1]);
        assert_int_equal(ha_array_prefetch(x.array, M1, 0, HA_END), HA_ERR_CONFLICT);
        snprintf(site[0], sizeof site[0], "%s:%d", __FILE__, __LINE__ - 1);
        WORDS(HA_ERR_CONFLICT, "ha_array_prefetch", "pressure", ha_context_name(M1), site[0],
              site[1]);
    }
    else fail();
    HA_OVERWRITING(v, x, C, SIZE_MAX / 16) fail();
    snprintf(site[0], sizeof site[0], "%s:%d", __FILE__, __LINE__ - 1);
    WORDS(HA_ERR_MEMORY, "ha_overwrite", "pressure", "double", ha_context_name(C), site[0],
          "1152921504606846975");
    drop(x);
    drop(none);
}

TEST(texts_of_other_calls) {
    char site[100];
    const ha_type odd = {"odd", 0};
    double element;
    harray_double x = named_list();
    harray_float y = harray_float_from(keep_array(harray_float_zeros_at(2, C).array));
    assert_int_equal(harray_double_get(x, 5, &element), HA_ERR_ARGUMENT);
    WORDS(HA_ERR_ARGUMENT, NULL, "pressure", "double", "5");
    assert_int_equal(ha_array_swap(x.array, y.array), HA_ERR_ARGUMENT);
    WORDS(HA_ERR_ARGUMENT, NULL, "pressure", "double", "float", "8", "4");
    assert_int_equal(harray_double_resize(x, SIZE_MAX), HA_ERR_MEMORY);
    WORDS(HA_ERR_MEMORY, NULL, "pressure", "double", "18446744073709551615", "8");
    assert_int_equal(ha_array_reserve(x.array, C, SIZE_MAX / 32), HA_ERR_MEMORY);
    WORDS(HA_ERR_MEMORY, NULL, "pressure", "double", ha_context_name(C), "576460752303423487");
    assert_null(ha_array_new(odd, 3, C));
    WORDS(HA_ERR_ARGUMENT, NULL, "odd");
    assert_null(harray_double_new_at(SIZE_MAX / 16, C).array);
    WORDS(HA_ERR_MEMORY, NULL, "double", ha_context_name(C), "1152921504606846975");
    HA_WRITING(v, x, C) {
        assert_int_equal(ha_access_resize(&v, SIZE_MAX / 16), HA_ERR_MEMORY);
        snprintf(site, sizeof site, "%s:%d", __FILE__, __LINE__ - 1);
        WORDS(HA_ERR_MEMORY, NULL, "pressure", ha_context_name(C), site, "1152921504606846975");
    }
    else fail();
    ha_access closed = {0};
    assert_int_equal(ha_close(&closed), HA_ERR_STATE);
    WORDS(HA_ERR_STATE, "ha_close", "not open");
    drop(x);
    drop_array(y.array);
}

static void *wait_for_x(void *argument) {
    harray_double *two = (harray_double *)argument;
    HA_WRITING(v, two[1], C) { HA_WRITING(w, two[0], C) HA_IGNORE(ha_close(&w)); }
    return NULL;
}

/* Of a deadlock: what this thread asked for, and the access that stands in the way. */
TEST(text_of_a_deadlock) {
    char site[100];
    const uint64_t sleeps = ha_test_sleeps_();
    harray_double two[2] = {list_at(C), named_list()};
    pthread_t thread;
    HA_READING(v, two[0], C) {
        assert_int_equal(pthread_create(&thread, NULL, wait_for_x, two), 0);
        until_asleep(sleeps + 1);
        HA_READING(w, two[1], M1) fail();
        snprintf(site, sizeof site, "%s:%d", __FILE__, __LINE__ - 1);
        WORDS(HA_ERR_DEADLOCK, "ha_open", "pressure", "double", site, ha_context_name(C), __FILE__);
    }
    else fail();
    assert_int_equal(pthread_join(thread, NULL), 0);
    drop(two[0]);
    drop(two[1]);
}

/* Long names are cut, and the text stays one line that fits. */
TEST(long_texts) {
    char name[48];
    harray_double x = list_at(C);
    memset(name, 'n', sizeof name - 1);
    name[47] = 0;
    harray_double_set_name(x, name);
    const char *site = "a/rather/long/path/to/a/source/file/whose/name/is/long/as/well/"
                       "and/so/on/and/so/on/and/so/on/and/so/on/and/so/on/and/so/on/and/"
                       "so/on/and/so/on/and/so/on/and/so/on/and/so/on/and/so/on/and/so/on/"
                       "and/so/on/and/so/on/and/so/on/and/so/on/and/so/on/and/so/on/and/"
                       "so/on/and/so/on/and/so/on/and/so/on/and/so/on/and/so/on/and/so/on/"
                       "and/so/on/and/so/on/and/so/on/and/so/on/and/so/on/and/so/on.c:1";
    ha_access a;
    assert_int_equal(ha_open_(&a, x.array, C, HA_READ, 2, 8, site), HA_ERR_ARGUMENT);
    const ha_error error = ha_take_error();
    assert_int_equal(error.status, HA_ERR_ARGUMENT);
    assert_true(strlen(error.text) < sizeof error.text);
    drop(x);
}

/* ---- the handler ---------------------------------------------------------------------------- */

typedef struct heard {
    ha_array *array;
    int calls;
    ha_status status;
    char text[400];
    char described[200];
    double first;
} heard;

/* May call anything: no lock is held. */
static void handle(const ha_error *error, void *user) {
    heard *h = (heard *)user;
    h->calls++;
    h->status = error->status;
    snprintf(h->text, sizeof h->text, "%s", error->text);
    (void)ha_describe(h->array, h->described, sizeof h->described);
    if (ha_array_get(h->array, 0, &h->first) != HA_OK) h->first = -1;
    if (h->calls < 3) assert_int_equal(ha_array_size(h->array), 5);
}

TEST(handler) {
    double element;
    harray_double x = named_list();
    heard h = {.array = x.array};
    ha_access a;
    ha_set_error_handler(handle, &h);
    assert_int_equal(ha_open(&a, x.array, C, HA_READ, 2, 8), HA_ERR_ARGUMENT);
    assert_int_equal(h.calls, 1);
    assert_int_equal(h.status, HA_ERR_ARGUMENT);
    assert_true(h.first == 5);
    assert_non_null(strstr(h.described, "pressure"));
    assert_string_equal(h.text, ha_take_error().text);

    assert_int_equal(harray_double_get(x, 9, &element), HA_ERR_ARGUMENT);
    assert_int_equal(h.calls, 2);
    HA_READING(v, x, C) {
        HA_WRITING(w, x, M1) fail(); /* the handler's own call is fine: it reads */
    }
    else fail();
    assert_int_equal(h.calls, 3);
    assert_int_equal(h.status, HA_ERR_CONFLICT);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT); /* the first one, not the last */

    REFUSED(HA_ERR_ARGUMENT, harray_double_resize(harray_double_from(NULL), 1));
    assert_int_equal(h.calls, 4);
    ha_set_error_handler(NULL, NULL);
    REFUSED(HA_ERR_ARGUMENT, harray_double_get(x, 9, &element));
    assert_int_equal(h.calls, 4);
    drop(x);
}

/* Busy is an answer, no error. */
TEST(busy_is_not_recorded) {
    harray_double x = named_list();
    heard h = {.array = x.array};
    opener o;
    start_open(&o, x.array, C, HA_WRITE, 0, HA_END);
    assert_int_equal(wait_opened(&o), HA_OK);
    ha_set_error_handler(handle, &h);
    HA_TRY_READING(v, x, C) fail();
    else assert_int_equal(v.status, HA_ERR_BUSY);
    assert_int_equal(ha_array_prefetch(x.array, M1, 0, HA_END), HA_ERR_BUSY);
    ha_set_error_handler(NULL, NULL);
    assert_int_equal(h.calls, 0);
    assert_int_equal(ha_take_error().status, HA_OK);
    finish(&o);
    drop(x);
}

/* ---- failing changes nothing ---------------------------------------------------------------- */

TEST(overflowing_sizes) {
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 8 + 1, SIZE_MAX / 8, SIZE_MAX / 16};
    harray_double x = named_list();
    const snapshot before = snapshot_of(x);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t n = sizes[i];
        ha_access a;
        REFUSED_NULL(HA_ERR_MEMORY, harray_double_new_at(n, C).array);
        REFUSED_NULL(HA_ERR_MEMORY, harray_double_zeros_at(n, C).array);
        REFUSED_NULL(HA_ERR_MEMORY, harray_double_filled_at(n, 1, C).array);
        REFUSED(HA_ERR_MEMORY, ha_array_reserve(x.array, C, n));
        REFUSED(HA_ERR_MEMORY, ha_array_reserve(x.array, M1, n));
        expect_unchanged(x, &before);
        REFUSED(HA_ERR_MEMORY, ha_overwrite(&a, x.array, C, n, HA_WAIT));
        assert_int_equal(a.status, HA_ERR_MEMORY);
        assert_null(a.array);
        expect_unchanged(x, &before);
    }
    for (size_t i = 0; i < 3; i++) { /* these overflow as such */
        REFUSED(HA_ERR_MEMORY, harray_double_resize(x, sizes[i]));
        expect_unchanged(x, &before);
    }
    VALUES(x, 5, 6, 2, 3, -5);
    drop(x);
}

/* Nothing is read of the caller's values before the size is known to be good. */
TEST(overflowing_values) {
    const double value = 1;
    const ha_type big = {"big", SIZE_MAX};
    REFUSED_NULL(HA_ERR_MEMORY, harray_double_of_at(SIZE_MAX / 8 + 1, &value, C).array);
    REFUSED_NULL(HA_ERR_MEMORY, ha_array_new(big, 2, C));
    REFUSED_NULL(HA_ERR_MEMORY, ha_array_new(big, SIZE_MAX, C));
    REFUSED_NULL(HA_ERR_MEMORY, ha_array_new(big, 1, C));
    ha_array *empty = keep_array(ha_array_new(big, 0, C));
    REFUSED(HA_ERR_MEMORY, ha_array_resize(empty, 2));
    REFUSED(HA_ERR_MEMORY, ha_array_reserve(empty, C, 3));
    assert_int_equal(ha_array_size(empty), 0);
    drop_array(empty);
}

TEST(overflowing_accesses) {
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 8 + 1, SIZE_MAX / 8, SIZE_MAX / 16};
    harray_double x = named_list();
    HA_WRITING(v, x, C) {
        const ha_write_double before = v;
        const uint64_t version = ha_array_version(x.array);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            REFUSED(HA_ERR_MEMORY, ha_access_resize(&v, sizes[i]));
            REFUSED(HA_ERR_MEMORY, ha_access_reserve(&v, sizes[i]));
            assert_memory_equal(&v, &before, offsetof(ha_write_double, status));
            assert_int_equal(ha_access_capacity(&v), 5);
            assert_int_equal(harray_double_size(x), 5);
        }
        assert_int_equal(ha_array_version(x.array), version);
    }
    else fail();
    VALUES(x, 5, 6, 2, 3, -5);
    drop(x);
}

/* A size that no memory has, but that does not overflow: resizing takes no memory. */
TEST(resized_beyond_memory) {
    harray_double x = named_list();
    SUCCEEDS(harray_double_resize(x, SIZE_MAX / 64));
    const snapshot before = snapshot_of(x);
    HA_WRITING(v, x, C) fail();
    else REFUSED(HA_ERR_MEMORY, v.status);
    expect_unchanged(x, &before);
    HA_OVERWRITING_RANGE(v, x, M1, 5, 6) fail(); /* a range allocates the whole array */
    else REFUSED(HA_ERR_MEMORY, v.status);
    SUCCEEDS(harray_double_resize(x, 5));
    VALUES(x, 5, 6, 2, 3, -5);
    drop(x);
}

TEST(no_arguments) {
    const ha_type none = {"none", 0}, byte = {"byte", 1};
    double element = 3;
    harray_double x = named_list();
    REFUSED_NULL(HA_ERR_ARGUMENT, ha_array_new(none, 0, C));
    REFUSED_NULL(HA_ERR_ARGUMENT, ha_array_zeros(none, 3, C));
    REFUSED_NULL(HA_ERR_ARGUMENT, ha_array_filled(byte, 3, NULL, C));
    REFUSED_NULL(HA_ERR_ARGUMENT, ha_array_of(byte, 3, NULL, C));
    REFUSED_NULL(HA_ERR_ARGUMENT, ha_array_copy(NULL));
    REFUSED_NULL(HA_ERR_ARGUMENT, ha_array_like(NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_array_get(NULL, 0, &element));
    REFUSED(HA_ERR_ARGUMENT, ha_array_set(NULL, 0, &element));
    REFUSED(HA_ERR_ARGUMENT, ha_array_get(x.array, 0, NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_array_set(x.array, 0, NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_array_resize(NULL, 1));
    REFUSED(HA_ERR_ARGUMENT, ha_array_reserve(NULL, C, 1));
    REFUSED(HA_ERR_ARGUMENT, ha_array_clear(NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_array_purge(NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_array_swap(x.array, NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_array_assign(NULL, x.array));
    REFUSED(HA_ERR_ARGUMENT, ha_array_assign_at(x.array, NULL, C));
    REFUSED(HA_ERR_ARGUMENT, ha_array_take(NULL, x.array));
    REFUSED(HA_ERR_ARGUMENT, ha_array_prefetch(NULL, C, 0, HA_END));
    VALUES(x, 5, 6, 2, 3, -5);
    drop(x);
}

/* A device that is full: no lock is held, nothing has changed, and it can be used again. */
TEST(full_memory) {
    const ha_sim_options small = {.capacity = 1 << 16};
    SUCCEEDS(ha_sim_configure(&small));
    H = ha_host();
    C = require_context("sim:0");
    M1 = M2 = require_context("sim:1");
    harray_double x = ramp(1000), big = keep(harray_double_zeros(7000)),
                  y = keep(harray_double_zeros(5000));
    touch(big, C);
    const snapshot before = snapshot_of(y);
    HA_WRITING(v, y, C) fail();
    else REFUSED(HA_ERR_MEMORY, v.status);
    expect_unchanged(y, &before);
    REFUSED(HA_ERR_MEMORY, ha_array_prefetch(y.array, C, 0, HA_END));
    REFUSED(HA_ERR_MEMORY, ha_array_reserve(y.array, C, 5000));
    REFUSED_NULL(HA_ERR_MEMORY, harray_double_filled_at(5000, 1, C).array);
    expect_unchanged(y, &before);
    add_at(x, C, 1); /* fits */
    add_at(y, M1, 1);
    SUCCEEDS(ha_array_purge(big.array));
    add_at(y, C, 1);
    assert_true(sum_at(y, H) == 2 * 5000);
    assert_true(sum_at(x, H) == 1000 * 999 / 2 + 1000);
    drop(x);
    drop(y);
    drop(big);
    SUCCEEDS(ha_shutdown());
    SUCCEEDS(ha_sim_configure(NULL));
}

/* ---- what is printed ------------------------------------------------------------------------ */

typedef struct outcome {
    int status;
    char text[2000]; /* what it wrote to stdout and stderr */
} outcome;

static const char *program; /* this one */

/* Runs this program again with a task. */
static outcome run_again(const char *task, const char *verbose) {
    outcome o = {-1, ""};
    int ends[2];
    size_t length = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        setenv("HARRAY_VERBOSE", verbose, 1);
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        execlp(program, program, task, (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], o.text + length, sizeof o.text - 1 - length)) > 0;)
        length += (size_t)n;
    close(ends[0]);
    assert_int_equal(waitpid(child, &o.status, 0), child);
    return o;
}

static void fail_a_check(void) { HA_CHECK(ha_context_find("nonsense") ? HA_OK : HA_ERR_NOT_FOUND); }

static void fail_quietly(void) {
    (void)ha_context_find("nonsense");
    HA_CHECK(HA_OK);
}

TEST(printing) {
    char site[100];
    const outcome quiet = run_again("quietly", "0"), empty = run_again("quietly", "");
    assert_true(WIFEXITED(quiet.status));
    assert_int_equal(WEXITSTATUS(quiet.status), 0);
    assert_string_equal(quiet.text, "");
    assert_string_equal(empty.text, "");
    const outcome verbose = run_again("quietly", "1");
    assert_int_equal(WEXITSTATUS(verbose.status), 0);
    assert_non_null(strstr(verbose.text, "HA_ERR_NOT_FOUND"));
    assert_non_null(strstr(verbose.text, "nonsense"));
    assert_ptr_equal(strchr(verbose.text, '\n'), verbose.text + strlen(verbose.text) - 1);

    const outcome check = run_again("check", "0");
    assert_true(WIFSIGNALED(check.status));
    assert_int_equal(WTERMSIG(check.status), SIGABRT);
    snprintf(site, sizeof site, "%s:", __FILE__);
    assert_non_null(strstr(check.text, site));
    assert_non_null(strstr(check.text, "ha_context_find(\"nonsense\")"));
    assert_non_null(strstr(check.text, "HA_ERR_NOT_FOUND"));
    assert_non_null(strstr(check.text, "no kind of context"));
}

/* ---- in the place of others ------------------------------------------------------------------ */

/* As a library would do it: its own lines are no news for who calls it. */
static ha_status grow(harray_double x, const char *site) {
    ha_status s = HA_OK;
    HA_FROM(site) s = harray_double_resize(x, 9);
    return s;
}

static void begins_with(const char *site) {
    const ha_error e = ha_take_error();
    if (strncmp(e.text, site, strlen(site)) != 0 || strncmp(e.text + strlen(site), ": ", 2) != 0)
        fail_msg("not from %s: %s", site, e.text);
    if (strstr(e.text + strlen(site), site)) fail_msg("twice: %s", e.text);
}

TEST(errors_from_another_place) {
    harray_double x = named_list();
    double value;
    ha_access a, b;
    HA_READING(v, x, C) {
        assert_int_equal(grow(x, "main.c:7"), HA_ERR_CONFLICT);
        begins_with("main.c:7");
        HA_FROM("main.c:8") {
            assert_int_equal(harray_double_get(x, 99, &value), HA_ERR_ARGUMENT);
            begins_with("main.c:8");
            assert_int_equal(ha_open(&a, x.array, C, HA_READ, 2, 99), HA_ERR_ARGUMENT);
            begins_with("main.c:8");
            assert_int_equal(grow(x, "library.c:1"), HA_ERR_CONFLICT); /* which calls another one */
            begins_with("main.c:8");
            break;
        }
    }
    else fail();
    assert_int_equal(ha_open(&a, x.array, C, HA_READ, 2, 99), HA_ERR_ARGUMENT);
    assert_null(strstr(ha_take_error().text, "main.c"));
    HA_FROM("main.c:9") SUCCEEDS(ha_open(&a, x.array, C, HA_WRITE, 0, HA_END));
    assert_int_equal(ha_open(&b, x.array, C, HA_WRITE, 0, HA_END), HA_ERR_CONFLICT);
    assert_non_null(strstr(ha_take_error().text, "opened at main.c:9"));
    SUCCEEDS(ha_close(&a));
    HA_FROM(NULL) {
        assert_int_equal(ha_array_resize(NULL, 3), HA_ERR_ARGUMENT);
        assert_string_equal(ha_take_error().text, "ha_array_resize: no array");
    }
    drop(x);
}

/* Functions that are no macros name the line of the check around them. */
TEST(errors_of_what_is_checked) {
    harray_double x = named_list(), y = list_at(H);
    harray_double freed = {NULL};
    double value;
    char site[300];
    int line;
#define NAMES_ITS_LINE(call)                                                                       \
    line = __LINE__, HA_IGNORE(call), snprintf(site, sizeof site, "%s:%d", __FILE__, line),        \
    begins_with(site)
    HA_READING(v, x, C) {
        NAMES_ITS_LINE(harray_double_resize(x, 9));
        NAMES_ITS_LINE(harray_double_get(x, 99, &value));
        NAMES_ITS_LINE(harray_double_set(x, 99, 1));
        NAMES_ITS_LINE(harray_double_swap(x, y));
        NAMES_ITS_LINE(harray_double_assign(x, y));
        NAMES_ITS_LINE(harray_double_free(&x));
        NAMES_ITS_LINE(ha_array_purge(x.array));
        NAMES_ITS_LINE(harray_double_get(freed, 0, &value));
    }
    else fail();
    array_double_1 few = array_double_1_from(x, HA_DIM(5)), none = {.array = NULL};
    NAMES_ITS_LINE(array_double_1_copy(few, none, H));
    NAMES_ITS_LINE(array_double_1_get(few, HA_DIM(9), &value));
    ha_access a;
    HA_IGNORE(ha_open_(&a, x.array, C, HA_READ, 2, 99, "main.c:10")); /* that one knows better */
    begins_with("main.c:10");
    assert_int_equal(harray_double_get(x, 99, &value), HA_ERR_ARGUMENT);
    assert_null(strstr(ha_take_error().text, __FILE__));
    HA_FROM("main.c:11") HA_IGNORE(harray_double_get(x, 99, &value));
    begins_with("main.c:11");
    ha_status (*const by_address)(harray_double, size_t) = harray_double_resize;
    HA_CHECK(by_address(y, 4));
    SUCCEEDS(array_double_1_free(&few));
    drop(x);
    drop(y);
}

/* What is asked for without a line moves bytes on behalf of one. */
TEST(sites_from_another_place) {
    ha_site_statistics sites[64];
    harray_double x = list_at(C), y = list_at(H);
    array_double_1 from = array_double_1_from(x, HA_DIM(5)), to = array_double_1_from(y, HA_DIM(5));
    char checked[300];
    int copied = 0, read = 0, moved = 0;
    ha_report_reset();
    HA_FROM("main.c:21") SUCCEEDS(array_double_1_copy(to, from, H));
    HA_WRITING(v, x, C) {}
    HA_FROM("main.c:22") HA_READING(v, x, H) {}
    HA_WRITING(v, x, C) {}
    snprintf(checked, sizeof checked, "%s:%d", __FILE__, __LINE__ + 1);
    HA_CHECK(array_double_1_copy(to, from, H));
    const size_t n = ha_sites(sites, 64);
    for (size_t i = 0; i < n && i < 64; i++) {
        copied |= !strcmp(sites[i].site, "main.c:21");
        moved |= !strcmp(sites[i].site, checked);
        read |= !strcmp(sites[i].site, "main.c:22");
        assert_null(strstr(sites[i].site, "array_double"));
    }
    if (!shares_memory(C)) assert_true(copied && read && moved);
    SUCCEEDS(array_double_1_free(&from));
    SUCCEEDS(array_double_1_free(&to));
    drop(x);
    drop(y);
}

TEST(who_has_no_array) {
    ha_access a = {0};
    ha_token t = {0};
    assert_int_equal(ha_close(&a), HA_ERR_STATE);
    assert_string_equal(ha_take_error().text, "ha_close: the access is not open");
    assert_int_equal(ha_access_resize(&a, 1), HA_ERR_STATE);
    assert_string_equal(ha_take_error().text, "ha_access_resize: the access is not open");
    assert_int_equal(ha_array_purge(NULL), HA_ERR_ARGUMENT);
    assert_string_equal(ha_take_error().text, "ha_array_purge: no array");
    assert_int_equal(ha_array_swap(NULL, NULL), HA_ERR_ARGUMENT);
    assert_string_equal(ha_take_error().text, "ha_array_swap: no array");
    assert_int_equal(ha_token_finish(&t), HA_ERR_STATE);
    assert_string_equal(ha_take_error().text, "ha_token_finish: the token is not in use");
}

TEST(living_arrays_are_named) {
    harray_double x = named_list(), more[4];
    assert_int_equal(ha_shutdown(), HA_ERR_STATE);
    assert_non_null(strstr(ha_take_error().text, "'pressure' (double[5])"));
    for (int i = 0; i < 4; i++) more[i] = harray_double_new_at((size_t)i, C);
    assert_int_equal(ha_shutdown(), HA_ERR_STATE);
    const ha_error e = ha_take_error(); /* some of them */
    assert_non_null(strstr(e.text, "(double["));
    assert_non_null(strstr(e.text, ", ..."));
    for (int i = 0; i < 4; i++) SUCCEEDS(harray_double_free(&more[i]));
    drop(x);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        CASE(the_first_is_kept),
        CASE(errors_are_per_thread),
        CASE(texts_of_openings),
        CASE(texts_of_other_calls),
        CASE(text_of_a_deadlock),
        CASE(long_texts),
        CASE(handler),
        CASE(busy_is_not_recorded),
        CASE(overflowing_sizes),
        CASE(overflowing_values),
        CASE(overflowing_accesses),
        CASE(resized_beyond_memory),
        CASE(no_arguments),
        CASE(errors_from_another_place),
        CASE(errors_of_what_is_checked),
        CASE(sites_from_another_place),
        CASE(who_has_no_array),
        CASE(living_arrays_are_named),
    };
    const struct CMUnitTest once[] = {CASE(status_names), CASE(full_memory), CASE(printing)};
    int failed = 0;
    program = argv[0];
    if (argc > 1 && !strcmp(argv[1], "check")) fail_a_check();
    if (argc > 1) return fail_quietly(), 0;
    RUN_ON_MATRIX(failed, tests);
    failed += cmocka_run_group_tests_name("no contexts open", once, NULL, NULL);
    return failed + leave_row();
}
