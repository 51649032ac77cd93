/* Kernels on accesses, as users launch them, in all kinds of memory: random work on GPUs, their forks,
 * the host and the simulated device, compared with plain copies on the host; parts of arrays of three
 * dimensions; and many threads on one array. Kernels take their time, so that a missing wait shows.
 *
 * On the GPUs of this machine, or over the fake driver where HARRAY_CUDA names that; skipped (77) where
 * there are none. HARRAY_SEED, HARRAY_TEST_LONG as elsewhere. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "../support/cuda_launch.h"

enum { ARRAYS = 3, N = 5000, MOST_GPUS = 4, MOST_PLACES = 2 * MOST_GPUS + 2 };

/* ---- the kernel ------------------------------------------------------------------------------- */

/* After so many nanoseconds, adds to each of n elements, or sets them. */
static const char kernel_text[] = ".version 6.3\n"
                                  ".target sm_75\n"
                                  ".address_size 64\n"
                                  ".visible .entry work(.param .u64 data, .param .u64 n,\n"
                                  "    .param .f64 amount, .param .u64 sets, .param .u64 ns)\n"
                                  "{\n"
                                  "    .reg .pred %p, %s;\n"
                                  "    .reg .u32 %t;\n"
                                  "    .reg .u64 %data, %n, %sets, %ns, %begin, %now, %i, %step;\n"
                                  "    .reg .u64 %at;\n"
                                  "    .reg .f64 %amount, %x;\n"
                                  "    ld.param.u64 %data, [data];\n"
                                  "    ld.param.u64 %n, [n];\n"
                                  "    ld.param.f64 %amount, [amount];\n"
                                  "    ld.param.u64 %sets, [sets];\n"
                                  "    ld.param.u64 %ns, [ns];\n"
                                  "    mov.u64 %begin, %globaltimer;\n"
                                  "wait:\n"
                                  "    mov.u64 %now, %globaltimer;\n"
                                  "    sub.u64 %now, %now, %begin;\n"
                                  "    setp.lt.u64 %p, %now, %ns;\n"
                                  "    @%p bra wait;\n"
                                  "    mov.u32 %t, %tid.x;\n"
                                  "    cvt.u64.u32 %i, %t;\n"
                                  "    mov.u32 %t, %ntid.x;\n"
                                  "    cvt.u64.u32 %step, %t;\n"
                                  "    setp.ne.u64 %s, %sets, 0;\n"
                                  "next:\n"
                                  "    setp.ge.u64 %p, %i, %n;\n"
                                  "    @%p bra done;\n"
                                  "    shl.b64 %at, %i, 3;\n"
                                  "    add.u64 %at, %at, %data;\n"
                                  "    mov.f64 %x, %amount;\n"
                                  "    @%s bra store;\n"
                                  "    ld.f64 %x, [%at];\n"
                                  "    add.rn.f64 %x, %x, %amount;\n"
                                  "store:\n"
                                  "    st.f64 [%at], %x;\n"
                                  "    add.u64 %i, %i, %step;\n"
                                  "    bra next;\n"
                                  "done:\n"
                                  "    ret;\n"
                                  "}\n";

typedef struct job {
    double *data;
    uint64_t n;
    double amount;
    uint64_t sets, ns;
} job;

static void do_job(double *data, const job *j) {
    for (size_t i = 0; i < j->n; i++) data[i] = j->sets ? j->amount : data[i] + j->amount;
}

/* On the host and the simulated device. */
static void job_function(const ha_queue *queue, void *argument) {
    const job *j = (const job *)argument;
    do_job(HA_HERE(queue, double, j->data), j);
}

/* By the fake driver. */
static void job_body(void **parameters, const fake_cuda_launch *launch) {
    job j;
    memcpy(&j.data, parameters[0], sizeof j.data);
    memcpy(&j.n, parameters[1], sizeof j.n);
    memcpy(&j.amount, parameters[2], sizeof j.amount);
    memcpy(&j.sets, parameters[3], sizeof j.sets);
    do_job((double *)fake_cuda_here(launch, j.data), &j);
}

/* ---- the places ------------------------------------------------------------------------------- */

static struct {
    ha_context *place[MOST_PLACES];
    size_t places;
    int gpus;
    ha_cu_module module[MOST_GPUS];
    ha_cu_function kernel[MOST_GPUS];
} world;

static int is_gpu(const ha_context *c) { return !strcmp(ha_context_kind(c), "cuda"); }

static const ha_cuda_device *device_of(const ha_context *c) {
    return (const ha_cuda_device *)c->device;
}

static void load_kernel(int gpu) {
    int pushed;
    ha_context *c = ha_context_get("cuda", gpu);
    assert_non_null(c);
    world.place[world.places++] = c;
    world.place[world.places++] = ha_context_fork(c);
    ha_cuda_enter_quietly(device_of(c), &pushed);
    assert_int_equal(ha_cu.ModuleLoadData(&world.module[gpu], kernel_text), HA_CU_SUCCESS);
    assert_int_equal(ha_cu.ModuleGetFunction(&world.kernel[gpu], world.module[gpu], "work"),
                     HA_CU_SUCCESS);
    ha_cuda_leave(pushed);
}

static void enter(ha_cuda_memory memory) {
    static const size_t sizes[] = {8, 8, 8, 8, 8};
    HA_CHECK(cuda_use(memory, "devices=2,delay=20us"));
    memset(&world, 0, sizeof world);
    world.gpus = ha_context_count("cuda");
    if (world.gpus > MOST_GPUS) world.gpus = MOST_GPUS;
    if (cuda_fake()) cuda_fake()->register_kernel("work", job_body, 5, sizes);
    world.place[world.places++] = ha_host();
    world.place[world.places++] = ha_context_find("sim");
    for (int i = 0; i < world.gpus; i++) load_kernel(i);
}

static void leave(void) {
    for (int i = 0; i < world.gpus; i++) {
        int pushed;
        ha_cuda_enter_quietly(device_of(ha_context_get("cuda", i)), &pushed);
        (void)ha_cu.ModuleUnload(world.module[i]);
        ha_cuda_leave(pushed);
    }
    assert_int_equal(ha_shutdown(), HA_OK);
    assert_int_equal(ha_take_error().status, HA_OK);
    if (cuda_fake()) assert_true(cuda_fake_is_empty());
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static size_t below(uint64_t *state, size_t n) { return (size_t)(next_random(state) % n); }

static void enqueue(const ha_access *v, double amount, int sets, uint64_t ns) {
    job j = {(double *)v->data, v->size, amount, (uint64_t)sets, ns};
    void *parameters[] = {&j.data, &j.n, &j.amount, &j.sets, &j.ns};
    const int gpu = ha_context_number(v->context);
    int pushed;
    if (!is_gpu(v->context)) {
        HA_CHECK(ha_enqueue(v->context, job_function, &j, sizeof j));
        return;
    }
    ha_cuda_enter_quietly(device_of(v->context), &pushed);
    const ha_cu_result code = ha_cu.LaunchKernel(world.kernel[gpu], 1, 1, 1, 256, 1, 1, 0,
                                                 HA_STREAM(*v), parameters, NULL);
    ha_cuda_leave(pushed);
    if (code != HA_CU_SUCCESS) HA_CHECK(HA_ERR_BACKEND);
}

/* ---- random work ------------------------------------------------------------------------------ */

typedef struct model {
    harray_double x[ARRAYS];
    double expected[ARRAYS][N];
} model;

static void check_range(model *m, size_t k, size_t first, size_t last) {
    HA_READING_RANGE(v, m->x[k], ha_host(), first, last)
    assert_memory_equal(v.data, m->expected[k] + first, v.size * sizeof(double));
    else fail();
}

/* Adds to a range, or overwrites it, somewhere. */
static void work_on(model *m, uint64_t *random, size_t k, size_t first, size_t last) {
    const int sets = below(random, 3) == 0;
    const double amount = (double)below(random, 100);
    ha_context *place = world.place[below(random, world.places)];
    ha_access v;
    assert_int_equal(ha_open(&v, m->x[k].array, place, sets ? HA_OVERWRITE : HA_WRITE, first, last),
                     HA_OK);
    enqueue(&v, amount, sets, below(random, 4) ? 0 : below(random, 200000));
    assert_int_equal(ha_close(&v), HA_OK);
    const job j = {NULL, last - first, amount, (uint64_t)sets, 0};
    do_job(m->expected[k] + first, &j);
}

static void exchange(model *m, size_t k, size_t l) {
    static double kept[N];
    if (k == l) return;
    assert_int_equal(harray_double_swap(m->x[k], m->x[l]), HA_OK);
    memcpy(kept, m->expected[k], sizeof kept);
    memcpy(m->expected[k], m->expected[l], sizeof kept);
    memcpy(m->expected[l], kept, sizeof kept);
}

static void duplicate(model *m, size_t k, size_t l) {
    if (k == l) return;
    assert_int_equal(harray_double_assign(m->x[l], m->x[k]), HA_OK);
    memcpy(m->expected[l], m->expected[k], sizeof m->expected[l]);
}

static void one_step(model *m, uint64_t *random) {
    const size_t k = below(random, ARRAYS), l = below(random, ARRAYS);
    size_t first = below(random, N), last = below(random, N + 1);
    if (first > last) {
        const size_t other = first;
        first = last;
        last = other;
    }
    if (!below(random, 3)) first = 0, last = N;
    switch (below(random, 12)) {
    case 0:
        exchange(m, k, l);
        break;
    case 1:
        duplicate(m, k, l);
        break;
    case 2:
        check_range(m, k, first, last);
        break;
    case 3:
        assert_int_equal(
            ha_array_prefetch(m->x[k].array, world.place[below(random, world.places)], first, last),
            HA_OK);
        break;
    case 4: /* its block is left under work */
        assert_int_equal(harray_double_free(&m->x[k]), HA_OK);
        m->x[k] = harray_double_zeros_at(N, world.place[below(random, world.places)]);
        memset(m->expected[k], 0, sizeof m->expected[k]);
        break;
    default:
        work_on(m, random, k, first, last);
    }
}

static void run_random(ha_cuda_memory memory) {
    static model m;
    const char *seed = getenv("HARRAY_SEED");
    const int steps = getenv("HARRAY_TEST_LONG") ? 20000 : 1500;
    uint64_t random = seed ? strtoull(seed, NULL, 0) | 1 : 88172645463325252u;
    enter(memory);
    memset(&m, 0, sizeof m);
    for (size_t k = 0; k < ARRAYS; k++)
        m.x[k] = harray_double_zeros_at(N, world.place[k % world.places]);
    for (int i = 0; i < steps; i++) one_step(&m, &random);
    for (size_t k = 0; k < ARRAYS; k++) check_range(&m, k, 0, N);
    for (size_t k = 0; k < ARRAYS; k++) assert_int_equal(harray_double_free(&m.x[k]), HA_OK);
    leave();
}

static void random_in_device_memory(HA_UNUSED void **state) { run_random(HA_CUDA_DEVICE); }
static void random_in_managed_memory(HA_UNUSED void **state) { run_random(HA_CUDA_MANAGED); }
static void random_in_async_memory(HA_UNUSED void **state) { run_random(HA_CUDA_ASYNC); }

/* ---- threads ---------------------------------------------------------------------------------- */

enum { THREADS = 4, TURNS = 150 };

typedef struct worker {
    harray_double x;
    uint64_t random;
    pthread_t thread;
} worker;

/* Each adds 1 to everything, wherever chance has it. */
static void *add_ones(void *argument) {
    worker *w = (worker *)argument;
    for (int i = 0; i < TURNS; i++) {
        ha_access v;
        ha_context *place = world.place[below(&w->random, world.places)];
        HA_CHECK(ha_open(&v, w->x.array, place, HA_WRITE, 0, HA_END));
        enqueue(&v, 1, 0, below(&w->random, 20000));
        HA_CHECK(ha_close(&v));
    }
    return NULL;
}

static void threads_on_one_array(HA_UNUSED void **state) {
    worker w[THREADS];
    enter(HA_CUDA_DEVICE);
    harray_double x = harray_double_zeros(N);
    for (size_t i = 0; i < THREADS; i++) {
        w[i] = (worker){.x = x, .random = 7919 * (i + 1)};
        assert_int_equal(pthread_create(&w[i].thread, NULL, add_ones, &w[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) assert_int_equal(pthread_join(w[i].thread, NULL), 0);
    HA_READING(v, x, ha_host()) {
        for (size_t i = 0; i < v.size; i++) assert_true(v.data[i] == THREADS * TURNS);
    }
    else fail();
    assert_int_equal(harray_double_free(&x), HA_OK);
    leave();
}

/* ---- parts of an array of three dimensions ---------------------------------------------------- */

enum { D0 = 24, D1 = 150, D2 = 200 }; /* enough for batches of pageable memory, and for a team */

typedef struct plate {
    array_double_3 x;
    double *is;
    int64_t low[3], high[3]; /* the part */
} plate;

static void choose_part(plate *p, uint64_t *random) {
    static const size_t extent[] = {D0, D1, D2};
    for (int d = 0; d < 3; d++) {
        const size_t low = below(random, extent[d]), most = extent[d] - low;
        const int all = below(random, 3) == 0, one = below(random, 4) == 0;
        p->low[d] = all ? 0 : (int64_t)low;
        p->high[d] = all ? (int64_t)extent[d]
                         : (int64_t)(low + 1 + (one ? 0 : below(random, most)));
    }
}

static array_double_3 part_of(const plate *p) {
    return array_double_3_part(p->x, HA_DIM(p->low[0], p->low[1], p->low[2]),
                               HA_DIM(p->high[0], p->high[1], p->high[2]));
}

/* On the host; adds to the part if it is to be written, and compares it. */
static void look_at_part(plate *p, span_double_3 s, double amount) {
    size_t wrong = 0;
    for (int64_t i = 0; i < s.extent[0]; i++)
        for (int64_t j = 0; j < s.extent[1]; j++)
            for (int64_t k = 0; k < s.extent[2]; k++) {
                double *is = &p->is[((i + p->low[0]) * D1 + j + p->low[1]) * D2 + k + p->low[2]];
                wrong += HA_AT(s, i, j, k) != *is;
                if (amount != 0) HA_AT(s, i, j, k) = *is += amount;
            }
    assert_int_equal(wrong, 0);
}

static void step_on_parts(plate *p, uint64_t *random) {
    ha_context *place = world.place[below(random, world.places)];
    const double amount = (double)(1 + below(random, 100));
    const size_t what = below(random, 5);
    choose_part(p, random);
    if (what == 0) { /* all of it */
        HA_WRITING(v, p->x, place) enqueue(HA_ACCESS(&v), amount, 0, below(random, 100000));
        for (size_t i = 0; i < D0 * D1 * D2; i++) p->is[i] += amount;
    } else if (what == 1) {
        HA_WRITING(v, part_of(p), ha_host()) look_at_part(p, v.span, amount);
    } else if (what == 2) { /* whole planes are contiguous */
        array_double_3 planes = array_double_3_slice(p->x, 0, p->low[0], p->high[0], 1);
        HA_OVERWRITING_ALL(v, planes, place) enqueue(HA_ACCESS(&v), amount, 1, 1000);
        for (int64_t i = p->low[0] * D1 * D2; i < p->high[0] * D1 * D2; i++) p->is[i] = amount;
    } else {
        HA_READING(v, part_of(p), place)(void) v.data; /* it is brought there */
        HA_READING(v, part_of(p), ha_host()) {
            span_double_3 s;
            memcpy(&s, &v.span, sizeof s);
            look_at_part(p, s, 0);
        }
    }
}

static void parts_of_arrays(HA_UNUSED void **state) {
    const char *seed = getenv("HARRAY_SEED");
    uint64_t random = seed ? strtoull(seed, NULL, 0) | 1 : 88172645463325252u;
    const int steps = getenv("HARRAY_TEST_LONG") ? 2000 : 60;
    for (int pinned = 0; pinned < 2; pinned++) {
        enter(HA_CUDA_DEVICE);
        plate p = {.x = array_double_3_zeros(HA_DIM(D0, D1, D2),
                                             pinned ? ha_context_get("cuda", 0) : ha_host()),
                   .is = (double *)calloc(D0 * D1 * D2, sizeof(double))};
        assert_non_null(p.is);
        for (int i = 0; i < steps; i++) step_on_parts(&p, &random);
        assert_int_equal(ha_take_error().status, HA_OK);
        assert_int_equal(array_double_3_free(&p.x), HA_OK);
        free(p.is);
        leave();
    }
}

/* ---- what only a GPU can show ----------------------------------------------------------------- */

/* Functions of the driver that harray does not need. */
static struct {
    int (*begin)(ha_cu_stream stream, int mode);
    int (*end)(ha_cu_stream stream, void **graph);
    int (*destroy)(void *graph);
} graphs;

static int find_graphs(void) {
    void *library = dlopen(ha_cuda_shared.settings.library, RTLD_NOW | RTLD_NOLOAD);
    void *begin = library ? dlsym(library, "cuStreamBeginCapture_v2") : NULL;
    void *end = library ? dlsym(library, "cuStreamEndCapture") : NULL;
    void *destroy = library ? dlsym(library, "cuGraphDestroy") : NULL;
    memcpy(&graphs.begin, &begin, sizeof begin);
    memcpy(&graphs.end, &end, sizeof end);
    memcpy(&graphs.destroy, &destroy, sizeof destroy);
    return begin && end && destroy;
}

/* Allocations, copies, waiting, giving back. */
static void *use_everything(HA_UNUSED void *argument) {
    ha_context *gpu = ha_context_get("cuda", 0);
    for (int i = 0; i < 20; i++) {
        harray_double x = harray_double_zeros_at((size_t)300000 * (size_t)(i + 1), gpu);
        HA_WRITING(v, x, ha_host()) v.data[7] = 1;
        else HA_CHECK(HA_ERR_BACKEND);
        HA_READING(v, x, gpu)(void) v.data;
        else HA_CHECK(HA_ERR_BACKEND);
        HA_CHECK(ha_context_finish(gpu));
        HA_CHECK(harray_double_free(&x));
        (void)ha_memory_trim(gpu, 0);
    }
    return NULL;
}

/* By this thread and by another one, while this one captures a stream of its own. */
static void captures_stay(HA_UNUSED void **state) {
    pthread_t thread;
    ha_cu_stream stream;
    ha_cu_context popped;
    void *graph = NULL;
    enter(HA_CUDA_DEVICE);
    if (!find_graphs()) {
        leave();
        skip();
    }
    assert_int_equal(ha_cu.CtxPushCurrent(device_of(ha_context_get("cuda", 0))->context), 0);
    assert_int_equal(ha_cu.StreamCreate(&stream, HA_CU_STREAM_NON_BLOCKING), 0);
    assert_int_equal(graphs.begin(stream, 0), 0); /* in the global mode */
    assert_int_equal(pthread_create(&thread, NULL, use_everything, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    use_everything(NULL);
    assert_int_equal(graphs.end(stream, &graph), 0);
    assert_int_equal(graphs.destroy(graph), 0);
    assert_int_equal(ha_cu.StreamDestroy(stream), 0);
    assert_int_equal(ha_cu.CtxPopCurrent(&popped), 0);
    leave();
}

/* The last one: a driver need not recover from it. cases_cuda has it for the fake one. */
static void a_kernel_fails(HA_UNUSED void **state) {
    ha_access v, nowhere = {.size = 1};
    if (cuda_fake()) skip();
    enter(HA_CUDA_DEVICE);
    ha_context *gpu = ha_context_get("cuda", 0), *fork = ha_context_fork(gpu);
    harray_double x = harray_double_zeros_at(N, gpu);
    HA_CHECK(ha_context_finish(gpu));
    assert_int_equal(ha_open(&v, x.array, gpu, HA_WRITE, 0, HA_END), HA_OK);
    nowhere.context = gpu;
    nowhere.data = (void *)(uintptr_t)64;
    enqueue(&nowhere, 1, 1, 0);
    assert_int_equal(ha_close(&v), HA_OK);
    assert_int_equal(ha_context_finish(gpu), HA_ERR_LOST);
    assert_int_equal(ha_context_finish(fork), HA_ERR_LOST);
    assert_true(ha_open(&v, x.array, ha_host(), HA_READ, 0, HA_END) == HA_ERR_LOST);
    assert_int_equal(harray_double_free(&x), HA_OK);
    (void)ha_take_error();
    assert_int_equal(ha_shutdown(), HA_OK);
}

/* With an argument no kernel fails: compute-sanitizer would report it. */
int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_in_device_memory), cmocka_unit_test(random_in_managed_memory),
        cmocka_unit_test(random_in_async_memory),  cmocka_unit_test(threads_on_one_array),
        cmocka_unit_test(parts_of_arrays),         cmocka_unit_test(captures_stay),
    };
    const struct CMUnitTest last[] = {cmocka_unit_test(a_kernel_fails)};
    int failed;
    (void)argv;
    if (!ha_context_count("cuda")) {
        printf("no CUDA device\n");
        return 77;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (argc == 1) failed += cmocka_run_group_tests(last, NULL, NULL);
    return failed;
}
