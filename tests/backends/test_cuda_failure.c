/* CUDA devices that fail for good, at every call of the driver. In round n the n-th call in a device's
 * context gives CUDA_ERROR_ILLEGAL_ADDRESS, and so does every later call there, the ones that give back,
 * too; what that device has not begun never happens. Then
 *   - what the device alone had, or another one whose queue waited for it, is HA_ERR_LOST, unless it
 *     has come out of it before: never another value
 *   - everything else stays right, and can be used at all other places
 *   - overwriting on the host heals
 *   - everything is given back, and the device is as new after ha_shutdown.
 * The rounds end with the first one that meets no failure. For errors after which a device goes on see
 * failure/test_failure.c. A name as argument plays the chapters that match it. */
#include "../support/faulty_backend.h"
#define HARRAY_IMPLEMENTATION
#include "../../harray.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include "../support/cuda_launch.h"
#include "../support/share.h"
#include "cuda_failure_steps.h"

typedef struct chapter {
    const char *name;
    void (*play)(void);
    size_t unit;
    ha_cuda_memory memory;
    int zero_copy; /* A works on the host's memory */
    int columns;   /* of tables, through views: their elements are not one behind the other */
} chapter;

/* ---- chapters ------------------------------------------------------------------------------- */

/* From place to place, in parts. Small pageable sources, or both lanes, by the size of a block. */
static void play_copies(void) {
    model *x = &models[0];
    begin(x, 8, 3, H);
    change(x, A, 0, 6, 2, 1);
    change(x, B, 4, 8, 1, 2);
    sum(x, A_fork, 0, 8);
    change(x, A_fork, 2, 5, 1, 5);
    read_back(x, 1, 3);
    change(x, B, 0, 3, 2, 0);
    finish(B);
    sum(x, A, 0, 8);
    change(x, H, 3, 5, 1, 1);
    sum(x, B, 0, 8);
    finish(A);
    finish(B);
    read_blocks(x);
}

/* First touched at a device, so that the host's memory is pinned; in one call where peers copy, too. */
static void play_columns(void) {
    model *x = &models[0];
    begin(x, 9, 3, A);
    change(x, B, 2, 7, 2, 1);
    change(x, H, 0, 3, 1, 1);
    change(x, A_fork, 1, 8, 1, 5);
    sum(x, B, 0, 9);
    read_back(x, 3, 5);
    change(x, A, 8, 9, 0, 4);
    finish(B);
    read_blocks(x);
}

/* First touched at devices, so that the host's incarnations are pinned. */
static void play_pinned(void) {
    model *x = &models[0], *y = &models[1];
    begin_filled(x, 8, 5, A);
    begin_filled(y, 6, 0, B);
    change(x, H, 0, 3, 1, 1);
    change(x, A, 0, 8, 3, 0);
    change(y, A, 0, 6, 1, 2);
    change(y, B, 2, 4, 0, 9);
    run.together = 1;
    if (ENDED(is_hit(risk_of(x, 0, 8) | BOTH),
              status_of(models[2].array = ha_array_copy(x->array)))) {
        ha_array *copy = models[2].array;
        models[2] = *x;
        models[2].array = copy;
        for (size_t i = 0; i < 8; i++) models[2].risk[i] |= BOTH;
        change(&models[2], B, 0, 8, 1, 1);
        read_blocks(&models[2]);
    }
    read_back(x, 0, 8);
    sum(y, A_fork, 0, 6);
    read_blocks(y);
    finish(A_fork);
}

static void resize(model *m, size_t n, ha_context *c) {
    const size_t old = m->size;
    if (!ENDED(run.failed >= 0, ha_array_resize(m->array, n * run.unit))) return;
    m->size = n;
    for (size_t i = old; i < n; i++) m->doubt[i] = 1, m->value[i] = 0, m->risk[i] = 0;
    if (n > old) change(m, c, old, n, 0, 4);
}

/* Blocks grow and shrink, and memory comes and goes. */
static void play_growth(void) {
    model *x = &models[0];
    begin(x, 3, 1, A);
    change(x, A, 0, 3, 1, 1);
    resize(x, 9, A);
    change(x, B, 0, 2, 2, 0);
    read_back(x, 0, 2);
    resize(x, 20, B);
    (void)ha_memory_trim(A, 0);
    change(x, A_fork, 0, x->size, 1, 1);
    begin(&models[1], 20, 2, B);
    drop(&models[1]);
    (void)ha_memory_trim(B, 0);
    (void)ha_memory_trim(H, 0);
    read_blocks(x);
    resize(x, 5, H);
    sum(x, B, 0, x->size);
    finish(B);
    read_blocks(x);
}

/* Queues that come and go; the caller's own one. */
static void play_queues(void) {
    model *x = &models[0];
    ha_context *fork, *adopted;
    begin(x, 6, 1, A);
    if (ENDED(is_hit(1), status_of(fork = ha_context_fork(A)))) {
        change(x, fork, 0, 4, 2, 1);
        SURELY(ha_context_unfork(fork));
    }
    if (ENDED(is_hit(1), status_of(adopted = ha_context_adopt(A, NULL)))) {
        change(x, adopted, 1, 6, 1, 3);
        sum(x, B, 0, 6);
        change(x, adopted, 0, 2, 3, 0);
        SURELY(ha_context_unfork(adopted));
    }
    for (size_t i = 0; i < 6; i++)
        if (x->last[i] != A && x->last[i] != A_fork && x->last[i] != B) x->last[i] = NULL;
    change(x, A_fork, 3, 5, 1, 1);
    read_blocks(x);
    finish(B);
}

static void token_step(model *m, ha_context *c, ha_context *end) {
    ha_token token = {NULL, NULL, 0};
    ha_access v;
    run.together |= end && bit_of(end) != bit_of(c);
    if (!opens(&v, m, c, HA_WRITE, 0, m->size)) return;
    compute(m, &v, 1, 1);
    SURELY(ha_detach(&token, &v));
    if (!end)
        (void)ENDED(is_hit(bit_of(c)), ha_token_wait(&token));
    else if (!ENDED(is_hit(bit_of(end)), ha_token_end_at(&token, end)))
        SURELY(ha_token_finish(&token));
    EXPECT(!token.array, "the token has something left");
    for (size_t i = 0; i < m->size && end; i++) m->risk[i] |= bit_of(end); /* it may write there */
}

/* Tokens, reading ahead, many at once, waiting. */
static void play_accesses(void) {
    model *x = &models[0], *y = &models[1];
    ha_access v[2];
    begin(x, 4, 1, H);
    begin(y, 4, 2, B);
    token_step(x, A, NULL);
    token_step(x, A, A_fork);
    token_step(y, B, A);
    meets(y, A);
    if (ENDED(is_hit(risk_of(y, 0, 4) | 1), ha_array_prefetch(y->array, A, 0, 2 * run.unit)))
        comes_to(y, A, 0, 2);
    (void)ENDED(is_hit(risk_of(x, 0, 4)), ha_array_prefetch(x->array, H, 0, HA_END));
    meets(x, A);
    meets(y, A);
    const unsigned risk = risk_of(x, 0, 4) | risk_of(y, 0, 4);
    ha_request both[] = {
        {.access = &v[0], .array = x->array, .context = A, .how = HA_WRITE, .last = HA_END},
        {.access = &v[1], .array = y->array, .context = A, .how = HA_WRITE, .last = HA_END}};
    if (ENDED(is_hit(risk | 1), ha_open_many(both, 2))) {
        comes_to(x, A, 0, 4);
        comes_to(y, A, 0, 4);
        compute(x, &v[0], 2, 0);
        compute(y, &v[1], 3, 0);
        (void)ENDED(is_hit(risk | 1), ha_wait(&v[1]));
        SURELY(ha_close(&v[0]));
        SURELY(ha_close(&v[1]));
    }
    read_blocks(x);
    read_blocks(y);
}

static void has_nothing(model *m, size_t n) {
    has(m, n, 0, H);
    for (size_t i = 0; i < n; i++) m->doubt[i] = 1;
}

static ha_status unwraps(model *m) {
    const ha_status s = ha_unwrap(m->array);
    if (s == HA_OK) m->array = NULL;
    return s;
}

/* The caller's memory, on the host and on a device. */
static void play_wrapping(void) {
    static double mine[BLOCKS];
    model *x = &models[0], *y = &models[1];
    const ha_wrapped here = {mine, H, HA_WRAP_UNWRITTEN};
    void *block = NULL;
    SURELY(status_of(x->array = ha_array_wrap(real, 8, &here, 1)));
    has_nothing(x, 8);
    change(x, A, 0, 8, 0, 2);
    change(x, B, 0, 4, 2, 1);
    if (ENDED(is_hit(risk_of(x, 0, 8)), ha_sync(x->array)))
        for (size_t i = 0; i < 8; i++)
            EXPECT(x->doubt[i] || mine[i] == x->value[i], "the caller's element is %g", mine[i]);
    if (ENDED(is_hit(1), status_of(block = ha_memory_allocate(A, 8 * sizeof(double))))) {
        const ha_wrapped there = {block, A, HA_WRAP_UNWRITTEN};
        if (ENDED(is_hit(1), status_of(y->array = ha_array_wrap(real, 8, &there, 1)))) {
            has_nothing(y, 8);
            change(y, B, 0, 8, 0, 4);
            change(y, A, 0, 4, 1, 1);
            read_blocks(y);
            if (!ENDED(run.failed >= 0, unwraps(y))) {
                SURELY(ha_array_clear(y->array));
                SURELY(unwraps(y));
            }
        }
        SURELY(ha_memory_release(A, block));
    }
    for (size_t i = 0; i < 8; i++) change(x, H, i, i + 1, 0, 1);
    change(x, B, 2, 3, 0, 6);
    read_blocks(x);
    change(x, H, 2, 3, 0, 6);
    SURELY(unwraps(x));
    for (size_t i = 0; i < 8; i++) EXPECT(mine[i] == x->value[i], "handed back: %g", mine[i]);
}

/* A device that works on the host's memory. */
static void play_zero_copy(void) {
    model *x = &models[0];
    begin(x, 6, 3, A);
    change(x, A, 0, 6, 2, 1);
    change(x, B, 3, 6, 1, 1);
    change(x, A_fork, 1, 4, 1, 1);
    read_back(x, 0, 2);
    change(x, A, 0, 6, 1, 1);
    begin(&models[1], 6, 3, H);
    change(&models[1], A, 2, 6, 1, 1);
    sum(&models[1], B, 0, 6);
    finish(A);
    read_blocks(x);
    read_blocks(&models[1]);
    finish(B);
}

static const chapter chapters[] = {
    {"small copies", play_copies, 1, HA_CUDA_DEVICE, 0, 0},
    {"large copies", play_copies, MOST_UNIT, HA_CUDA_DEVICE, 0, 0},
    {"managed copies", play_copies, 1, HA_CUDA_MANAGED, 0, 0},
    {"small columns", play_copies, 3, HA_CUDA_DEVICE, 0, 1},
    {"large columns", play_copies, MOST_UNIT, HA_CUDA_DEVICE, 0, 1},
    {"pinned columns", play_columns, 100, HA_CUDA_DEVICE, 0, 1},
    {"pinned", play_pinned, 1, HA_CUDA_DEVICE, 0, 0},
    {"growth", play_growth, 300, HA_CUDA_DEVICE, 0, 0},
    {"growth, async", play_growth, 300, HA_CUDA_ASYNC, 0, 0},
    {"queues", play_queues, 1, HA_CUDA_DEVICE, 0, 0},
    {"accesses", play_accesses, 1, HA_CUDA_DEVICE, 0, 0},
    {"wrapping", play_wrapping, 1, HA_CUDA_DEVICE, 0, 0},
    {"zero-copy", play_zero_copy, 1, HA_CUDA_DEVICE, 1, 0},
};
enum { CHAPTERS = sizeof chapters / sizeof *chapters };

/* ---- playing -------------------------------------------------------------------------------- */

/* Peers, as between devices of kind "cuda". */
static ha_place as_cuda(const ha_place *other) {
    ha_place place = *other;
    if (place.backend == &launch_backend) place.backend = &ha_backend_cuda;
    return place;
}

static int peer_reaches(void *memory, const ha_place *other) {
    const ha_place place = as_cuda(other);
    return ha_cuda_reaches(memory, &place);
}

static uint64_t peer_cost(void *memory, const ha_place *other) {
    const ha_place place = as_cuda(other);
    return ha_cuda_cost(memory, &place);
}

/* Not those of the test itself, nor those that depend on no device. */
static int fails_for_good(HA_UNUSED void *user, const char *function, int device) {
    static const char *const never[] = {"cuThreadExchangeStreamCaptureMode", "cuCtxGetCurrent",
                                        "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"};
    if (atomic_load(&faulty.first) < 0 || device < 0 || !strncmp(function, "cuModule", 8) ||
        !strncmp(function, "cuGetError", 10))
        return 0;
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (!strcmp(function, never[i])) return 0;
    if (!faulty_pass(function)) return 0;
    run.failed = device;
    return HA_CU_ILLEGAL_ADDRESS;
}

static void set_up(const chapter *c) {
    static ha_memory_ops peers;
    memset(models, 0, sizeof models);
    run.chapter = c->name;
    run.unit = c->unit;
    run.columns = c->columns;
    run.summed = 0;
    run.failed = -1;
    run.together = 0;
    SURELY(cuda_use(c->memory, "capacity=64M"));
    (void)launch_backend_make();
    peers = ha_cuda_memory_ops;
    peers.reaches = peer_reaches;
    peers.cost = peer_cost;
    launch_backend.memory = &peers;
    SURELY(ha_backend_register(&launch_backend));
    H = ha_host();
    SURELY(status_of(A = ha_context_get("launch", 0)));
    SURELY(status_of(B = ha_context_get("launch", 1)));
    if (c->zero_copy) SURELY(ha_context_set_zero_copy(A, 1));
    SURELY(status_of(A_fork = ha_context_fork(A)));
    atomic_store(&faulty.elsewhere, 1);
    cuda_fake()->ask(fails_for_good, NULL);
}

/* Returns whether there was a point n. The calls of giving back are points, too. */
static int play(const chapter *c, long n) {
    run.point = n;
    set_up(c);
    faulty_arm(n, 0);
    c->play();
    for (size_t k = 0; k < ARRAYS; k++)
        if (models[k].array) heal(&models[k]);
    for (size_t k = 0; k < ARRAYS; k++)
        if (models[k].array) drop(&models[k]);
    SURELY(ha_shutdown());
    EXPECT(cuda_fake_is_empty(), "the driver has not got everything back");
    EXPECT(faulty_records() == 0, "%ld records were leaked", faulty_records());
    EXPECT(ha_self.held == 0, "the thread still counts accesses");
    return faulty_disarm() > 0;
}

static int broken; /* a chapter was left half-way */

static void play_all_points(void **state) {
    const chapter *c = (const chapter *)*state;
    const long step = test_stride();
    long n = 0;
    if (broken || !cuda_fake()) skip();
    broken = 1;
    while (play(c, n)) n += step;
    printf("# %s: %ld points\n", c->name, n);
    broken = 0;
}

int main(int argc, char **argv) {
    struct CMUnitTest tests[CHAPTERS];
    for (size_t i = 0; i < CHAPTERS; i++)
        tests[i] = (struct CMUnitTest){chapters[i].name, play_all_points, NULL, NULL,
                                       (void *)(uintptr_t)&chapters[i]};
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("CUDA failures", tests, NULL, NULL);
}
