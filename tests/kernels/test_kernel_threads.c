/* Kernels that several threads launch for the first time at once: each is compiled once, or refused by the compiler
 * once; all launches see the same. On a device with a compiler of the test's own. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_kernels.h"
#include "../support/private_backend.h"
#define COMPILING_BASE private_backend
#include "../support/compiling_backend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "../support/invariants.h"

#define TEST(name) static void name(HA_UNUSED void **state)

enum { THREADS = 6, ROUNDS = 12, N = 700 };

HA_KERNEL(axpy, ((value, double, a), (in, double, x), (inout, double, y)), i,
          { y[i] += a * x[i]; });
HA_KERNEL(numbered, ((out, int, x)), i, { x[i] = (int)i; });
#define MISTAKE 1 /* a word that the device's compiler does not know */
HA_KERNEL(wrong, ((inout, int, x)), i, { x[i] += MISTAKE; });
HA_REDUCE(total, ((in, double, x)), i, double, HA_SUM, x[i]);
HA_TEAM_KERNEL(doubled, 16, g, ((in, double, x), (out, double, y)), {
    HA_LANES(l)
    HA_SHARE(i, l, g * HA_TEAM, HA_LESS((g + 1) * HA_TEAM, HA_SIZE(x)))
    y[i] = 2 * x[i];
});

KNOWN_KERNEL(axpy)
KNOWN_KERNEL(numbered)
KNOWN_KERNEL(total)

static ha_context *H, *C;
static harray_double shared; /* all threads read it */

/* What a thread does; nonzero when something of it went wrong. */
typedef int (*work)(void);

static struct {
    work work;
    pthread_barrier_t start;
    int wrong;
} together;

static void *thread_main(void *unused) {
    (void)unused;
    (void)pthread_barrier_wait(&together.start);
    const int wrong = together.work() || ha_take_error().status;
    __atomic_fetch_add(&together.wrong, wrong, __ATOMIC_RELAXED);
    return NULL;
}

/* All threads begin it at once. */
static void in_all_threads(work w) {
    pthread_t thread[THREADS];
    together.work = w;
    together.wrong = 0;
    assert_int_equal(pthread_barrier_init(&together.start, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, thread_main, NULL), 0);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(pthread_barrier_destroy(&together.start), 0);
    assert_int_equal(together.wrong, 0);
}

/* A device that has compiled nothing. */
static void begin_round(void) {
    compiling.compiled = compiling.launched = compiling.discarded = 0;
    assert_int_equal(ha_backend_register(compiling_backend_make()), HA_OK);
    H = ha_host();
    C = ha_context_find("compiling:0");
    assert_non_null(C);
    shared = harray_double_filled(N, 3);
}

static void end_round(void) {
    check_quiet(shared.array);
    assert_int_equal(harray_double_free(&shared), HA_OK);
    assert_int_equal(ha_shutdown(), HA_OK);
    assert_int_equal(ha_take_error().status, HA_OK);
}

static int begin_test(void **state) {
    (void)state;
    (void)ha_kernel_settings_get();
    memset(&ha_kernels_set.settings, 0, sizeof ha_kernels_set.settings);
    know_compiled(&axpy_known);
    know_compiled(&numbered_known);
    know_compiled(&total_known);
    return 0;
}

/* ---- what threads do ----------------------------------------------------------------------------- */

static int launches_axpy(void) {
    harray_double y = harray_double_filled(N, 1);
    double got = 0;
    int failed = axpy(C, HA_ALL_LANES, 2, shared, y) != HA_OK;
    failed |= harray_double_get(y, N - 1, &got) != HA_OK || got != 7;
    failed |= harray_double_free(&y) != HA_OK;
    return failed;
}

/* On queues of their own. */
static int launches_several(void) {
    ha_context *own = ha_context_fork(C);
    harray_int y = harray_int_new(N);
    double sum = 0;
    int32_t got = 0;
    int failed = !own || numbered(own, HA_ALL_LANES, y) != HA_OK;
    failed |= total(own, HA_ALL_LANES, shared, &sum) != HA_OK || sum != 3.0 * N;
    failed |= harray_int_get(y, N - 1, &got) != HA_OK || got != N - 1;
    failed |= harray_int_free(&y) != HA_OK;
    return failed | launches_axpy();
}

static int asks_where(void) {
    char text[200];
    return ha_kernel_place(&axpy_kernel, C, text, sizeof text) == 0 || !strstr(text, "compiled");
}

static int is_refused(void) {
    char log[400];
    harray_int y = harray_int_filled(N, 1);
    int32_t got = 0;
    int failed = wrong(C, HA_ALL_LANES, y) != HA_ERR_COMPILE;
    const ha_error e = ha_take_error();
    failed |= !strstr(e.text, "MISTAKE is not known");
    failed |= ha_kernel_log(&wrong_kernel, C, log, sizeof log) == 0 || !strstr(log, "MISTAKE");
    failed |= harray_int_get(y, 0, &got) != HA_OK || got != 1;
    return failed | (harray_int_free(&y) != HA_OK);
}

static int launches_here(void) {
    harray_double y = harray_double_new(N);
    double got = 0, sum = 0;
    int failed = doubled(H, HA_TEAMS(16, N), shared, y) != HA_OK;
    failed |= harray_double_get(y, N - 1, &got) != HA_OK || got != 6;
    failed |= total(H, HA_ALL_LANES, shared, &sum) != HA_OK || sum != 3.0 * N;
    return failed | (harray_double_free(&y) != HA_OK);
}

/* The same kernels at contexts of several kinds: each thread has another one than the next. */
static ha_context *kinds[3];
static int threads_so_far;
static int launches_at_a_kind(void) {
    const int thread = __atomic_fetch_add(&threads_so_far, 1, __ATOMIC_RELAXED);
    ha_context *at = kinds[thread % 3];
    harray_double y = harray_double_filled(N, 1);
    double got = 0, sum = 0;
    int failed = axpy(at, HA_ALL_LANES, 2, shared, y) != HA_OK;
    failed |= total(at, HA_ALL_LANES, y, &sum) != HA_OK || sum != 7.0 * N;
    failed |= harray_double_get(y, N - 1, &got) != HA_OK || got != 7;
    return failed | (harray_double_free(&y) != HA_OK);
}

/* ---- cases --------------------------------------------------------------------------------------- */

TEST(compiled_once) {
    for (int i = 0; i < ROUNDS; i++) {
        begin_round();
        in_all_threads(launches_axpy);
        assert_int_equal(compiling.compiled, 1);
        assert_int_equal(compiling.launched, THREADS);
        end_round();
        assert_int_equal(compiling.discarded, 1);
    }
}

TEST(several_kernels_on_several_queues) {
    for (int i = 0; i < ROUNDS; i++) {
        begin_round();
        in_all_threads(launches_several);
        assert_int_equal(compiling.compiled, 3);
        end_round();
        assert_int_equal(compiling.discarded, 3);
    }
}

TEST(the_place_is_found_once) {
    for (int i = 0; i < ROUNDS; i++) {
        begin_round();
        in_all_threads(asks_where);
        end_round();
    }
}

/* Once, and once more for the lines of what the compiler says. */
TEST(refused_once) {
    for (int i = 0; i < ROUNDS; i++) {
        begin_round();
        in_all_threads(is_refused);
        assert_int_equal(compiling.compiled, 2);
        end_round();
        assert_int_equal(compiling.discarded, 0);
    }
}

TEST(on_the_host) {
    begin_round();
    in_all_threads(launches_here);
    end_round();
}

TEST(at_contexts_of_several_kinds) {
    for (int i = 0; i < ROUNDS; i++) {
        begin_round();
        kinds[0] = C;
        kinds[1] = ha_context_find("sim:0");
        kinds[2] = H;
        assert_non_null(kinds[1]);
        in_all_threads(launches_at_a_kind);
        assert_int_equal(compiling.compiled, 2);
        end_round();
    }
}

#define THREADED(name) cmocka_unit_test_setup(name, begin_test)

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        THREADED(compiled_once),
        THREADED(several_kernels_on_several_queues),
        THREADED(the_place_is_found_once),
        THREADED(refused_once),
        THREADED(on_the_host),
        THREADED(at_contexts_of_several_kinds),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
