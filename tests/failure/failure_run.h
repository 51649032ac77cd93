/* Rounds of the failure loop (test_failure.c): the contexts, the beginning and the end of a round, and
 * which points are played. */
#ifndef HARRAY_TESTS_FAILURE_FAILURE_RUN_H
#define HARRAY_TESTS_FAILURE_FAILURE_RUN_H

#include "failure_driver.h"
#include "failure_gone.h"
#include "../support/share.h"
#include "../support/small_pages.h"

static ha_status find_and_enter(const char *name) {
    ha_status s = HA_ERR_STATE;
    HA_ON(ha_context_find(name)) s = strcmp(ha_context_name(NULL), name) ? HA_ERR_STATE : HA_OK;
    else s = ha_first_error.status;
    return s;
}

/* The options of the cast's devices. */
static void set_options(void) {
    SURELY(ha_sim_configure(&run.cast->sim));
    if (run.cast == &casts[CUDA_CAST]) SURELY(cuda_use(run.memory, "capacity=1M,peers=0"));
    (void)launch_backend_make();
    arm_driver();
}

static void look_up_contexts(void) {
    char name[40];
    STEP(NULL, NULL, status_of(N1 = ha_context_get(run.cast->near, 0)));
    snprintf(name, sizeof name, "%s:0", run.cast->far);
    STEP(NULL, NULL, status_of(F1 = ha_context_find(name)));
    snprintf(name, sizeof name, "%s:1", run.cast->near);
    STEP(NULL, NULL, find_and_enter(name));
    SURELY(status_of(N2 = ha_context_get(run.cast->near, 1)));
    snprintf(name, sizeof name, "%s:1", run.cast->far);
    setenv("HARRAY_DEVICE", name, 1);
    STEP(NULL, NULL, status_of(F2 = ha_context_best()));
    unsetenv("HARRAY_DEVICE");
    STEP(NULL, NULL, status_of(N1_fork = ha_context_fork(N1)));
    STEP(NULL, NULL, status_of(F1_fork = ha_context_fork(F1)));
}

/* Without a cache every allocation reaches the backend, so each of them can fail. */
static ha_status may_cache(ha_context *c) { return run.caches ? HA_OK : ha_memory_set_cache(c, 0); }

/* With nothing failing: the canary, and the contexts unless the chapter opens them. */
static void set_up(void) {
    const double value = 7;
    memset(models, 0, sizeof models);
    memset(sums, 0, sizeof sums);
    sums_begun = 0;
    private_capacity = (size_t)1 << 20;
    ha_set_error_handler(on_error, NULL);
    H = ha_host();
    N1 = N1_fork = N2 = F1 = F1_fork = F2 = NULL;
    run.spent = 1;
    SURELY(may_cache(H));
    SURELY(made(&models[CANARY], ha_array_filled(real, 1, &value, H)));
    has(&models[CANARY], 1, KNOWN, value, 0);
    if (run.chapter->opens_contexts) return;
    set_options();
    SURELY(ha_backend_register(&faulty_sim));
    SURELY(ha_backend_register(&faulty_private));
    SURELY(ha_backend_register(&faulty_launch));
    SURELY(ha_backend_register(&faulty_opencl));
    look_up_contexts();
    for (size_t i = 1; i < MEMORIES; i++) SURELY(may_cache((ha_context *)(uintptr_t)place(i)));
}

/* What is left is freed while failures are still armed. */
static void tear_down(void) {
    check_values();
    for (size_t k = 0; k < ARRAYS; k++)
        if (models[k].array) drop(&models[k]);
    run.step = "ha_shutdown";
    EXPECT(ha_shutdown() == HA_OK, "shutting down failed: %s", ha_take_error().text);
    check_all_gone();
    EXPECT(!cuda_fake() || run.calls == GIVING_BACK || cuda_fake_is_empty(),
           "the CUDA driver has not got everything back");
    EXPECT(faulty_records() == 0, "%ld records were leaked", faulty_records());
    EXPECT(ha_self.held == 0, "the thread still counts %llu accesses",
           (unsigned long long)ha_self.held);
}

/* Plays the chapter with point n failing. Returns whether there was such a point. */
static int play(long n) {
    run.point = n;
    set_up();
    run.spent = 0;
    faulty_arm(n, run.sticky);
    run.chapter->play();
    tear_down();
    return faulty_disarm() > 0 || run.spent;
}

static void play_points_by(int step, int sticky, int looks, int caches) {
    long n = 0;
    run.sticky = sticky;
    run.looks = looks;
    run.caches = caches;
    while (play(n)) n += step;
    printf("# %s (%s%s%s): %ld points%s\n", run.chapter->name, run.cast->title,
           caches ? ", cached" : "", title_of_driver(), n,
           sticky ? ", each with all behind it" : "");
}

static void play_points(int sticky, int looks, int caches) {
    play_points_by(test_stride(), sticky, looks, caches);
}

/* The points are calls of the CUDA driver, each `stride`th of them. */
static void play_driver_points(int code, driver_calls calls, ha_cuda_memory memory, int stride) {
    run.driver = code;
    run.calls = calls;
    run.memory = memory;
    atomic_store(&faulty.elsewhere, 1);
    play_points_by(stride, 0, 1, 0);
    atomic_store(&faulty.elsewhere, 0);
    run.driver = 0;
    run.calls = WORKING;
    run.memory = HA_CUDA_DEVICE;
}

static void play_all_driver_points(int everything) {
    const int all = test_stride(), some = everything ? 1 : 3 * all, few = everything ? 1 : 7 * all;
    play_driver_points(HA_CU_INVALID_VALUE, WORKING, HA_CUDA_DEVICE, all);
    play_driver_points(HA_CU_INVALID_VALUE, ENTERING, HA_CUDA_DEVICE, few);
    play_driver_points(HA_CU_INVALID_VALUE, GIVING_BACK, HA_CUDA_DEVICE, some);
    play_driver_points(HA_CU_OUT_OF_MEMORY, WORKING, HA_CUDA_ASYNC, all);
    if (!everything) return;
    play_driver_points(HA_CU_OUT_OF_MEMORY, WORKING, HA_CUDA_DEVICE, all);
    play_driver_points(HA_CU_INVALID_VALUE, WORKING, HA_CUDA_ASYNC, all);
    play_driver_points(HA_CU_INVALID_VALUE, GIVING_BACK, HA_CUDA_ASYNC, all);
    play_driver_points(HA_CU_INVALID_VALUE, WORKING, HA_CUDA_MANAGED, all);
    play_driver_points(HA_CU_OUT_OF_MEMORY, WORKING, HA_CUDA_MANAGED, all);
}

static void play_opencl_points(int everything) {
    run.cast = &casts[OPENCL_CAST];
    if (everything) play_points(0, 1, 0);
    play_driver_points(HA_CL_INVALID_VALUE, WORKING, HA_CUDA_DEVICE, test_stride());
    if (everything) play_driver_points(HA_CL_OUT_OF_RESOURCES, WORKING, HA_CUDA_DEVICE, 1);
}

static void play_all_points(void **state) {
    const int everything = getenv("HARRAY_TEST_LONG") != NULL;
    run.chapter = (const chapter *)*state;
    if (broken) skip();
    broken = 1;
    if (cuda_fake()) {
        run.cast = &casts[CUDA_CAST];
        play_points(0, 1, 0);
        play_all_driver_points(everything);
    }
    if (opencl_begin_asking() > 1) play_opencl_points(everything);
    for (size_t k = 0; k < (everything ? CUDA_CAST : 2); k++) {
        run.cast = &casts[k];
        for (int sticky = 0; sticky < 2; sticky++)
            for (int looks = 0; looks < 2; looks++)
                if (everything || (looks != sticky && !(k && sticky)))
                    play_points(sticky, looks, 0);
        if (everything || k == 0) play_points(0, 1, 1);
        if (everything) play_points(1, 0, 1);
    }
    run.cast = &casts[VALUES_CAST];
    if (!strcmp(run.chapter->name, "plans there") && !everything)
        play_points(0, 1, 0); /* one command */
    broken = 0;
}

/* For main: each chapter is a test; an argument says which ones. */
static int run_chapters(const char *name, const chapter *chapters, size_t n, int argc,
                        char **argv) {
    struct CMUnitTest tests[n];
    for (size_t i = 0; i < n; i++)
        tests[i] = (struct CMUnitTest){chapters[i].name, play_all_points, NULL, NULL,
                                       (void *)(uintptr_t)&chapters[i]};
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    use_small_pages();
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

#endif
