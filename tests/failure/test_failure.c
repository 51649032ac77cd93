/* Failure loop: chapters that together use the whole API are played again and again. In round n
 * the n-th allocation or backend call fails, and then also all behind it, until a round meets no
 * failure.
 *
 * A step is one call that can fail. When it does, everything that can be seen of every array must
 * be as it was; then nothing fails any more, the step is repeated, and must succeed. So each
 * chapter goes to its end, where all values are compared with a model that has one copy of each
 * array. What cannot fail (closing, freeing, shutting down) goes on while failures are armed.
 *
 * What a failed call may leave behind, and nothing else:
 *   - no capacity where an array had no value, as that is asked for when there is no memory
 *   - more capacity where the array already had some, or where a staging copy stays
 *   - on the way to a device: one more valid copy on the host, of what another device has
 *   - ha_array_assign_at: one more valid copy of the source, at the context
 *
 * Memories cache nothing, so that every allocation reaches its backend; one pass is with caches.
 * The rounds in which one point fails look at the values at once; those in which all points behind
 * it fail, too, only at the end, so that the queues are full until then. All of it on a device with
 * a memory of its own, the former on one that works on the host's and on CUDA over the fake driver,
 * too; there it is also the driver's own calls that fail (failure_driver.h). HARRAY_TEST_LONG=1: both
 * in both, and on further kinds of devices. A name as argument plays
 * the chapters that match it. */
#include "../support/failure_engine.h"
#include "failure_library.h"
#include "failure_run.h"

/* ---- chapters: contexts --------------------------------------------------------------------- */

typedef struct big_argument {
    int *count;
    char text[600];
} big_argument;

static void run_count(HA_UNUSED const ha_queue *queue, void *argument) {
    const big_argument *big = (const big_argument *)argument;
    ++*big->count;
}

/* Enqueues a function with an argument that is too large for a buffer on the stack; it runs
 * once. */
static void enqueue_big(ha_context *c) {
    int count = 0;
    const big_argument big = {&count, ""};
    STEP(NULL, NULL, ha_enqueue(c, run_count, &big, sizeof big));
    STEP(NULL, NULL, ha_context_finish(c));
    EXPECT(count == 1, "a function was run %d times", count);
}

static void play_contexts(void) {
    set_options();
    STEP(NULL, NULL, ha_backend_register(&faulty_sim));
    STEP(NULL, NULL, ha_backend_register(&faulty_private));
    STEP(NULL, NULL, ha_backend_register(&faulty_launch));
    STEP(NULL, NULL, ha_backend_register(&faulty_opencl));
    STEP(NULL, NULL, ha_backend_register(&faulty_sim));
    look_up_contexts();
    SURELY(status_of(ha_context_fork(H)));
    EXPECT(!strcmp(ha_context_name(N1_fork) + strlen(ha_context_name(N1)), "/1"),
           "the first fork is called %s", ha_context_name(N1_fork));
    const long points = faulty_points(), first = faulty_pause();
    EXPECT(ha_context_count(run.cast->near) == 2, "another number of devices");
    faulty_resume(first, points);
    enqueue_big(H);
    enqueue_big(N1);
    enqueue_big(N1_fork);
    enqueue_big(F1);
}

/* A queue of the caller's, which the engine uses for a while. Giving it back cannot fail. */
static void play_adopting(void) {
    model *x = &models[0];
    ha_context *device = strcmp(run.cast->near, "faulty_private") ? F1 : N1, *mine;
    const long points = faulty_points(), first = faulty_pause();
    void *queue = private_own_queue(0);
    faulty_resume(first, points);
    STEP(NULL, NULL, status_of(mine = ha_context_adopt(device, queue)));
    begin(x, 8, mine);
    change(x, mine, 0, HA_END, 2, 1);
    change(x, N1_fork, 2, 5, 1, 3);
    change(x, mine, 1, 4, 1, 1);
    change(x, H, 3, 6, 1, 1);
    change(x, mine, 0, HA_END, 3, 0);
    SURELY(ha_context_unfork(mine));
    STEP(NULL, NULL, status_of(mine = ha_context_adopt(device, queue)));
    change(x, mine, 0, HA_END, 1, 2);
    SURELY(ha_context_unfork(mine));
    private_destroy(queue);
    change(x, device, 0, HA_END, 1, 2);
    read_back(x);
    drop(x);
}

/* The handles of the simulated device, which the wrapped one does not have. */
static void play_hold_and_step(void) {
    model *x = &models[0];
    ha_context *sim;
    SURELY(ha_sim_configure(&run.cast->sim));
    STEP(NULL, NULL, status_of(sim = ha_context_find("sim")));
    begin(x, 8, H);
    STEP(NULL, NULL, ha_sim_hold(sim));
    STEP(x, sim, ha_array_prefetch(x->array, sim, 0, HA_END));
    STEP(NULL, NULL, ha_sim_step(sim, 1));
    STEP(NULL, NULL, ha_sim_step(sim, -1));
    change(x, sim, 0, HA_END, 2, 1);
    read_back(x);
    drop(x);
}

/* ---- chapters: arrays ----------------------------------------------------------------------- */

static void create_at(ha_context *c) {
    const double value = 2.5;
    STEP(NULL, NULL, made(&models[0], ha_array_new(real, 5, c)));
    has(&models[0], 5, NEVER, 0, 0);
    STEP(NULL, NULL, made(&models[1], ha_array_zeros(real, 6, c)));
    has(&models[1], 6, KNOWN, 0, 0);
    STEP(NULL, NULL, made(&models[2], ha_array_filled(real, 7, &value, c)));
    has(&models[2], 7, KNOWN, value, 0);
    begin(&models[3], 8, c);
    STEP(NULL, NULL, made(&models[4], ha_array_zeros(real, 0, c)));
    has(&models[4], 0, NEVER, 0, 0);
    STEP(&models[3], NULL, made(&models[5], ha_array_copy(models[3].array)));
    copies(&models[5], &models[3]);
    change(&models[1], c, 0, HA_END, 1, 3);
    for (size_t k = 0; k < CANARY; k++) read_back(&models[k]);
    for (size_t k = 0; k < CANARY; k++) drop(&models[k]);
}

static void play_creation(void) {
    create_at(H);
    create_at(N1);
    create_at(F1);
}

static ha_status typed(model *m, harray_double x) { return made(m, x.array); }

static ha_status set_in_scope(harray_double x, ha_context *c, size_t i, double value) {
    ha_status s = HA_ERR_STATE;
    HA_WRITING_RANGE(v, x, c, i, i + 1) {
        v.data[0] = value;
        s = HA_OK;
    }
    else s = v.status;
    return s;
}

static void play_typed(void) {
    const double values[] = {3, 4, 5, 6};
    double value = 0;
    STEP(NULL, NULL, typed(&models[0], harray_double_of_at(4, values, N1)));
    has(&models[0], 4, KNOWN, 3, 1);
    harray_double x = harray_double_from(ha_array_retain(models[0].array));
    STEP(&models[0], NULL, made(&models[1], ha_array_like(x.array)));
    has(&models[1], 0, NEVER, 0, 0);
    STEP(&models[0], NULL, typed(&models[2], harray_double_copy(x)));
    copies(&models[2], &models[0]);
    STEP(NULL, NULL, typed(&models[3], harray_double_filled(3, 9)));
    has(&models[3], 3, KNOWN, 9, 0);
    STEP(NULL, NULL, typed(&models[4], harray_double_new_at(6, F1)));
    has(&models[4], 6, NEVER, 0, 0);
    STEP(&models[0], H, set_in_scope(x, H, 1, 40));
    models[0].value[1] = 40;
    STEP(&models[0], H, harray_double_get(x, 1, &value));
    EXPECT(value == 40, "the typed get gives %g", value);
    STEP_OF_TWO(&models[0], NULL, NULL,
                harray_double_assign(harray_double_from(models[1].array), x));
    copies(&models[1], &models[0]);
    for (size_t k = 0; k < 4; k++) read_back(&models[k]);
    SURELY(harray_double_free(&x));
}

/* ---- chapters: accesses --------------------------------------------------------------------- */

/* From place to place, with all sizes of overwriting. */
static void play_whole(void) {
    model *x = &models[0];
    begin(x, 20, H);
    sum(x, N1, 0, HA_END);
    change(x, N1, 0, HA_END, 2, 1);
    sum(x, N1_fork, 0, HA_END);
    change(x, N1_fork, 0, HA_END, 1, 2);
    sum(x, N2, 0, HA_END); /* staged, or by peers */
    change(x, N2, 0, HA_END, 1, 3);
    change(x, F1, 0, HA_END, 2, 4);
    sum(x, F2, 0, HA_END);
    change(x, F1_fork, 0, HA_END, 1, 5);
    change(x, H, 0, HA_END, 1, 6);
    refill(x, N1, 40, 50); /* grows */
    refill(x, F1, 10, 60); /* shrinks */
    change(x, N2, 0, HA_END, 1, 7);
    refill(x, N1, 60, 70);
    refill(x, N1, 5, 80);
    refill(x, H, 30, 90);
    refill(x, F1, 0, 0);
    refill(x, F1, 30, 10);
    sum(x, N1, 0, HA_END);
    read_back(x);
}

/* Values in pieces at many places, so that sets and plans get long. */
static void play_ranges(void) {
    model *x = &models[0];
    STEP(NULL, NULL, made(x, ha_array_new(real, 48, N1)));
    has(x, 48, NEVER, 0, 0);
    for (size_t i = 0; i < 48; i += 3) fill(x, N1, i, i + 2, 10 + (double)i);
    for (size_t i = 0; i < 48; i += 6) fill(x, F1, i + 1, i + 3, 200 + (double)i);
    change(x, N2, 5, 30, 1, 1);
    sum(x, F2, 3, 5);
    sum(x, H, 6, 9);
    fill(x, H, 5, 6, 1);
    for (size_t i = 2; i < 48; i += 3) fill(x, i % 2 ? H : N1_fork, i, i + 1, 300 + (double)i);
    sum(x, F1, 0, HA_END);
    change(x, N1, 20, 40, 2, 3);
    sum(x, N2, 10, 46);
    read_back(x);
}

/* More operations than are kept apart, on several queues. */
static void play_operations(void) {
    model *x = &models[0];
    begin(x, 40, F1);
    for (size_t i = 0; i < 36; i += 2) sum(x, i % 4 ? F1 : F1_fork, i, i + 2);
    for (size_t i = 1; i < 30; i += 3) change(x, i % 2 ? F1 : F1_fork, i, i + 1, 1, 1);
    sum(x, F1_fork, 0, HA_END);
    for (size_t i = 0; i < 20; i += 2) sum(x, i % 4 ? F1 : F1_fork, i, i + 3);
    change(x, F1, 0, HA_END, 2, 1);
    begin(&models[1], 40, N1);
    for (size_t i = 0; i < 36; i += 2) sum(&models[1], i % 4 ? N1 : N1_fork, i, i + 2);
    for (size_t i = 1; i < 30; i += 3) change(&models[1], i % 2 ? N1 : N1_fork, i, i + 1, 1, 1);
    change(&models[1], N1_fork, 0, HA_END, 2, 1);
    read_back(x);
    read_back(&models[1]);
}

/* Many accesses at once, so that tables grow; closed in another order. */
static void play_holders(void) {
    model *x = &models[0];
    ha_access v[12], w, moved;
    ha_context *const places[] = {H, N1, N1_fork, F1};
    begin(x, 24, H);
    for (size_t i = 0; i < 2; i++) open_step(&v[i], x, H, HA_READ, 0, HA_END);
    STEP(x, NULL, made(&models[1], ha_array_copy(x->array)));
    copies(&models[1], x);
    for (size_t i = 0; i < 2; i++) close_step(&v[i]);
    for (size_t i = 0; i < 12; i++)
        open_step(&v[i], x, places[i % 4], HA_READ, i % 3, i < 9 ? i + 6 : HA_END);
    for (size_t i = 0; i < 12; i += 2) compute_sum(x, &v[i]);
    for (size_t i = 0; i < 12; i++) close_step(&v[(i * 5) % 12]);
    open_step(&v[0], x, N1, HA_READ, 0, HA_END); /* y = f(y) */
    open_step(&v[1], x, N1, HA_WRITE, 0, HA_END);
    compute(x, &v[1], 2, 1, 0);
    SURELY(ha_move(&moved, &v[1]));
    close_step(&v[0]);
    compute(x, &moved, 1, 1, 0);
    close_step(&moved);
    for (size_t i = 0; i < 8; i++) open_step(&v[i], x, F1, HA_WRITE, 3 * i, 3 * i + 3);
    open_step(&w, &models[CANARY], H, HA_READ, 0, HA_END);
    for (size_t i = 8; i > 0; i--) {
        compute(x, &v[i - 1], 1, (double)i, 0);
        close_step(&v[i - 1]);
    }
    close_step(&w);
    read_back(x);
}

/* A function that gets the access as its argument. */
static void run_doubling(const ha_queue *queue, void *argument) {
    const ha_access *v = (const ha_access *)argument;
    double *data = HA_HERE(queue, double, v->data);
    for (size_t i = 0; i < v->size; i++) data[i] *= 2;
}

static ha_status doubles(ha_access *v) {
    ha_status s = HA_RUN(run_doubling, *v);
    EXPECT(!s || v->status == s, "the access does not tell");
    return s;
}

static ha_status resizes(ha_access *v, size_t n) {
    const ha_access was = *v;
    ha_status s = ha_access_resize(v, n);
    EXPECT(!s || !memcmp(&was, v, sizeof was), "failing has changed the access");
    return s;
}

static ha_status reserves(ha_access *v, size_t n) {
    const ha_access was = *v;
    ha_status s = ha_access_reserve(v, n);
    EXPECT(!s || !memcmp(&was, v, sizeof was), "failing has changed the access");
    return s;
}

/* Sizes change inside and outside of accesses. */
static void resize_at(ha_context *c, ha_context *elsewhere) {
    model *x = &models[0];
    ha_access v;
    begin(x, 10, c);
    open_step(&v, x, c, HA_WRITE, 0, HA_END);
    compute(x, &v, 1, 1, 0);
    STEP(x, NULL, doubles(&v));
    for (size_t i = 0; i < 10; i++) x->value[i] *= 2;
    STEP(x, NULL, resizes(&v, 30));
    is_resized(x, 30, UNDEFINED);
    STEP(x, NULL, reserves(&v, 50));
    EXPECT(ha_access_capacity(&v) >= 50, "nothing was reserved");
    STEP(x, NULL, resizes(&v, 16));
    is_resized(x, 16, UNDEFINED);
    close_step(&v);
    fill(x, c, 10, 16, 70);
    resize(x, 60);
    sum(x, c, 0, 16);
    fill(x, elsewhere, 40, 60, 5);
    STEP(x, NULL, ha_array_reserve(x->array, elsewhere, 64));
    sum(x, elsewhere, 2, 9);
    resize(x, 12);
    change(x, c, 0, HA_END, 1, 1);
    read_back(x);
    STEP(x, NULL, ha_array_clear(x->array));
    is_resized(x, 0, NEVER);
    refill(x, c, 20, 3);
    change(x, elsewhere, 0, HA_END, 1, 1);
    STEP(x, NULL, ha_array_purge(x->array));
    is_resized(x, 0, NEVER);
    STEP(x, NULL, ha_array_reserve(x->array, c, 9));
    refill(x, elsewhere, 20, 3);
    read_back(x);
    drop(x);
}

static void play_resizing(void) {
    resize_at(H, N1);
    resize_at(N1, F1);
    resize_at(F1, N2);
}

/* ---- chapters: two arrays, single elements, prefetching ------------------------------------- */

/* What is copied is valid there, too, even when copying it then fails. */
static void assign_at(model *to, model *from, ha_context *c) {
    run.source = from;
    STEP_OF_TWO(to, from, c, ha_array_assign_at(to->array, from->array, c));
    run.source = NULL;
    if (to != from) copies(to, from);
}

/* Values of both in pieces at several places. */
static void begin_two(model *x, model *y) {
    begin(x, 24, N1);
    change(x, F1, 4, 9, 1, 1);
    change(x, H, 12, 15, 1, 2);
    sum(x, N2, 20, 24);
    begin(y, 10, F1);
    resize(y, 14);
    change(y, N1, 2, 5, 1, 1);
}

static void play_exchange(void) {
    model *x = &models[0], *y = &models[1], *z = &models[2], kept;
    begin_two(x, y);
    STEP_OF_TWO(x, y, NULL, ha_array_swap(x->array, y->array));
    kept = *x;
    copies(x, y);
    copies(y, &kept);
    STEP(x, NULL, made(z, ha_array_copy(x->array)));
    copies(z, x);
    change(x, N1, 0, 5, 1, 1);
    STEP(x, NULL, ha_array_assign(y->array, x->array));
    copies(y, x);
    fill(y, F1, 10, 14, 2);
    STEP_OF_TWO(z, y, NULL, ha_array_take(z->array, y->array));
    copies(z, y);
    has(y, 0, NEVER, 0, 0);
    STEP(z, NULL, ha_array_assign(y->array, z->array));
    copies(y, z);
    for (size_t k = 0; k < 3; k++) read_back(&models[k]);
}

static void play_assigning(void) {
    model *x = &models[0], *y = &models[1];
    begin(x, 24, N1);
    change(x, F1, 4, 9, 1, 1);
    begin(y, 10, H);
    assign_at(y, x, H);
    change(x, N1, 0, HA_END, 1, 1);
    assign_at(y, x, F2);
    assign_at(y, y, N2);
    change(y, N2, 3, 20, 1, 1);
    assign_at(x, y, N1);
    resize(y, 3);
    assign_at(y, x, N1_fork);
    read_back(x);
    read_back(y);
}

static void play_elements(void) {
    ha_context *const places[] = {H, N1, F1};
    for (size_t k = 0; k < 3; k++) {
        model *x = &models[k];
        begin(x, 9, places[k]);
        get(x, 3);
        set(x, 4, -1);
        change(x, places[2 - k], 0, 5, 1, 1);
        get(x, 1);
        set(x, 7, -2);
        set(x, 2, -3);
        resize(x, 30);
        set(x, 20, -4);
        get(x, 20);
        sum(x, N2, 0, 9);
        read_back(x);
    }
}

static void prefetch(model *m, ha_context *c, size_t first, size_t last) {
    STEP(m, c, ha_array_prefetch(m->array, c, first, last));
}

/* Several transfers of one array on their way. */
static void play_prefetching(void) {
    model *x = &models[0], *y = &models[1];
    begin(x, 32, N1);
    for (size_t i = 0; i < 32; i += 8) prefetch(x, i % 16 ? F1 : H, i, i + 8);
    for (size_t i = 0; i < 32; i += 8) prefetch(x, i % 16 ? N2 : F2, i, i + 8);
    change(x, N2, 0, HA_END, 1, 1);
    prefetch(x, F1_fork, 0, HA_END);
    STEP(x, H, ha_array_evict(x->array, F1));
    prefetch(x, F1, 4, 6);
    sum(x, F1, 0, HA_END);
    change(x, F1, 5, 9, 1, 1);
    prefetch(x, N1_fork, 0, HA_END);
    change(x, N1, 3, 7, 1, 1);
    STEP(NULL, NULL, made(y, ha_array_new(real, 40, F1)));
    has(y, 40, NEVER, 0, 0);
    prefetch(y, N1, 0, HA_END);
    for (size_t i = 0; i < 40; i += 10) fill(y, i % 20 ? F1 : N1, i, i + 5, (double)i);
    prefetch(y, N2, 3, HA_END);
    prefetch(y, F2, 0, HA_END);
    resize(y, 50);
    prefetch(y, H, 0, HA_END);
    read_back(x);
    read_back(y);
}

/* ---- chapters: the caller's memory ---------------------------------------------------------- */

static double callers[2][MOST_ELEMENTS]; /* on the host */

/* n elements; the first piece, if it is on the host: 0, 1, 2, … */
static void wrap(model *m, size_t n, const ha_wrapped *pieces, size_t count) {
    for (size_t i = 0; i < n && pieces->context == H; i++) ((double *)pieces->data)[i] = (double)i;
    STEP(NULL, NULL, made(m, ha_array_wrap(real, n, pieces, count)));
    has(m, n, pieces->flags & HA_WRAP_UNWRITTEN ? NEVER : KNOWN, 0, 1);
}

/* The caller's memory has what the array has, and elsewhere what it had. */
static void check_callers(const model *m, const double *memory) {
    for (size_t i = 0; i < m->size; i++) {
        const double value = m->state[i] == KNOWN ? m->value[i] : (double)i;
        EXPECT(memory[i] == value, "the caller's element %zu is %g, not %g", i, memory[i], value);
    }
}

/* A piece that is up to date when another one fails stays so. */
static void sync_callers(model *m, ha_context *where, const double *memory) {
    run.source = m;
    STEP(m, where, ha_sync(m->array));
    run.source = NULL;
    check_callers(m, memory);
}

static ha_status ends(model *m, ha_status s) {
    if (s == HA_OK) m->array = NULL;
    return s;
}

/* Hands the memory back in one of two ways. */
static void unwrap(model *m, int frees, ha_context *where, const double *memory) {
    run.source = m;
    if (frees)
        STEP(m, where, ends(m, ha_array_free(m->array)));
    else
        STEP(m, where, ends(m, ha_unwrap(m->array)));
    run.source = NULL;
    check_callers(m, memory);
}

static void play_wrapping_host(int frees) {
    const ha_wrapped mine = {callers[0], H, 0}, new = {callers[1], H, HA_WRAP_UNWRITTEN};
    model *x = &models[0], *y = &models[1], *z = &models[2];
    wrap(x, 20, &mine, 1);
    change(x, N1, 0, HA_END, 2, 1);
    change(x, F1, 3, 9, 1, 1);
    sync_callers(x, NULL, callers[0]);
    change(x, N2, 5, 12, 1, 1);
    sum(x, F2, 0, HA_END);
    change(x, F1_fork, 0, 4, 1, 1);
    wrap(y, 12, &new, 1);
    fill(y, N1, 2, 5, 50);
    fill(y, F1, 8, 9, 60);
    sync_callers(y, NULL, callers[1]);
    STEP(x, NULL, made(z, ha_array_copy(x->array)));
    copies(z, x);
    resize(z, 7);
    run.source = z;
    STEP_OF_TWO(y, z, H, ha_array_assign(y->array, z->array));
    run.source = NULL;
    copies(y, z);
    change(y, F1, 0, HA_END, 1, 1);
    prefetch(x, N1_fork, 0, HA_END);
    unwrap(x, frees, NULL, callers[0]);
    unwrap(y, !frees, NULL, callers[1]);
    read_back(z);
    drop(z);
}

/* Memory of the caller's on a device. */
static double *device_memory(ha_context *c, size_t n) {
    void *data = NULL;
    STEP(NULL, NULL, status_of(data = ha_memory_allocate(c, n * sizeof(double))));
    return (double *)data;
}

static void play_wrapping_device(ha_context *c, ha_context *elsewhere) {
    double *data = device_memory(c, 16);
    const double *there = really(c->memory, data);
    const ha_wrapped alone = {data, c, HA_WRAP_UNWRITTEN};
    const ha_wrapped both[] = {{callers[0], H, 0}, alone};
    const ha_wrapped constant[] = {alone, {callers[0], H, HA_WRAP_CONST}};
    model *x = &models[0];
    wrap(x, 16, &alone, 1);
    fill(x, H, 0, HA_END, 5);
    change(x, elsewhere, 3, 6, 2, 1);
    sync_callers(x, c, there);
    change(x, c, 0, HA_END, 1, 1);
    change(x, H, 7, 9, 1, 1);
    unwrap(x, 0, c, there);
    wrap(x, 16, both, 2);
    change(x, elsewhere, 1, 15, 2, 1);
    sync_callers(x, c, there);
    check_callers(x, callers[0]);
    change(x, c, 4, 12, 2, 1);
    change(x, elsewhere, 10, 14, 2, 1);
    unwrap(x, 1, c, there);
    check_callers(x, callers[0]);
    for (size_t i = 0; i < 16; i++) callers[0][i] = 1 + (double)i;
    wrap(x, 16, constant, 2);
    has(x, 16, KNOWN, 1, 1);
    sum(x, elsewhere, 2, HA_END);
    unwrap(x, 0, c, there);
    SURELY(ha_memory_release(c, data));
}

/* Bytes by pointers: started, and ended by the token. */
static ha_status copied(void *to, ha_context *to_context, const void *from,
                        ha_context *from_context) {
    ha_token token = {NULL, NULL, 0};
    ha_status s = ha_copy_start(&token, to, to_context, from, from_context, 16 * sizeof(double));
    EXPECT(!token.array == (s != HA_OK), "a token of what was not started");
    if (!s) s = ha_token_wait(&token);
    EXPECT(!token.array, "the token has something left");
    return s;
}

static void play_bytes(ha_context *c, ha_context *elsewhere) {
    double *data = device_memory(c, 32), *far = device_memory(elsewhere, 16);
    for (size_t i = 0; i < 16; i++) callers[0][i] = (double)i;
    memset(callers[1], 0, sizeof callers[1]);
    STEP(NULL, c, copied(data, c, callers[0], H));
    STEP(NULL, c, copied(data + 16, c, data, c));
    STEP(NULL, elsewhere, copied(far, elsewhere, data + 16, c));
    STEP(NULL, NULL, copied(callers[1], H, far, elsewhere));
    for (size_t i = 0; i < 16; i++)
        EXPECT(callers[1][i] == (double)i, "byte by byte, value %zu differs", i);
    SURELY(ha_memory_release(c, data));
    SURELY(ha_memory_release(elsewhere, far));
}

static void play_wrapping(void) {
    play_bytes(F1, N2);
    play_wrapping_host(0);
    play_wrapping_host(1);
    if (!ha_context_is_zero_copy(N1))
        play_wrapping_device(N1, F2); /* it has no memory of its own */
    play_wrapping_device(F1, N2);
}

/* ---- chapters: work that is still enqueued -------------------------------------------------- */

/* A chain over many queues; arrays vanish while it is on its way. */
static void play_pending(void) {
    model *x = &models[0], *y = &models[1];
    ha_context *const places[] = {N1, N1_fork, F1, N1, N2, F1_fork, F2, F1};
    begin(x, 30, N1);
    begin(y, 30, F1);
    for (size_t i = 0; i < 8; i++) {
        change(x, places[i], i, 30 - i, 1, (double)i);
        sum(x, places[7 - i], 0, 5 + i);
        STEP_OF_TWO(NULL, NULL, NULL, made(&models[2 + i % 2], ha_array_copy(x->array)));
        copies(&models[2 + i % 2], x);
        change(&models[2 + i % 2], places[i], 0, HA_END, 2, 1);
        sum(&models[2 + i % 2], places[7 - i], 0, HA_END);
        if (i % 2) drop(&models[2]);
        if (i % 2) drop(&models[3]);
        assign_at(y, x, places[i]);
    }
    STEP(x, NULL, ha_array_purge(x->array));
    is_resized(x, 0, NEVER);
    refill(x, F1, 30, 1);
    change(x, N1, 0, HA_END, 3, 1);
    STEP(NULL, NULL, ha_context_finish(N1));
    STEP(NULL, NULL, ha_context_finish(F1_fork));
    refill(x, F1, 50, 1);
    read_back(x);
    read_back(y);
}

/* A memory that is full of what is still in use: whoever needs it waits. */
static void fill_memory_at(ha_context *c) {
    model *x = &models[0], *y = &models[1], *z = &models[2];
    begin(x, 60, c);
    change(x, c, 0, HA_END, 2, 1);
    drop(x);
    begin(x, 55, c);
    change(x, c, 0, HA_END, 2, 1);
    begin(y, 30, H);
    drop(x);
    sum(y, c, 0, HA_END);
    refill(y, c, 8, 3);
    STEP(y, NULL, ha_array_reserve(y->array, c, 50));
    change(y, c, 0, HA_END, 3, 1);
    STEP(y, NULL, ha_array_purge(y->array));
    is_resized(y, 0, NEVER);
    begin(x, 40, c);
    change(x, c, 0, HA_END, 2, 1);
    STEP(x, NULL, made(z, ha_array_copy(x->array)));
    copies(z, x);
    change(z, c, 0, HA_END, 1, 1);
    drop(x);
    prefetch(z, H, 0, HA_END);
    STEP(z, NULL, made(x, ha_array_copy(z->array)));
    copies(x, z);
    read_back(x);
    read_back(z);
    for (size_t k = 0; k < 3; k++) drop(&models[k]);
}

static void play_full_memory(void) {
    private_capacity = 90 * sizeof(double);
    fill_memory_at(F1);
    fill_memory_at(N1);
}

/* ---- chapters: arrays that give way ---------------------------------------------------------- */

enum { PRESSED = 40, PRESSED_BYTES = PRESSED * (int)sizeof(double) };

/* Of three arrays two fit, then one. */
static void press_at(ha_context *c) {
    model *m = models;
    if (ha_context_is_zero_copy(c)) return;
    SURELY(ha_memory_set_budget(c, 5 * PRESSED_BYTES / 2));
    for (size_t k = 0; k < 3; k++) begin(&m[k], PRESSED, c);
    change(&m[0], c, 0, HA_END, 1, 1);
    change(&m[1], c, 3, 20, 2, 1);
    sum(&m[2], c, 0, HA_END);
    change(&m[0], H, 5, 9, 1, 1);
    change(&m[0], c, 0, 7, 1, 1);
    prefetch(&m[1], c, 0, HA_END);
    STEP(NULL, NULL, ha_memory_set_budget(c, 3 * PRESSED_BYTES / 2));
    for (size_t k = 0; k < 3; k++) change(&m[k], c, 1, 30, 3, 1);
    STEP(&m[1], NULL, made(&m[3], ha_array_copy(m[1].array)));
    copies(&m[3], &m[1]);
    sum(&m[3], c, 0, HA_END);
    (void)ha_memory_make_room(c, PRESSED_BYTES);
    for (size_t k = 0; k < 4; k++) read_back(&m[k]);
    for (size_t k = 0; k < 4; k++) drop(&m[k]);
    SURELY(ha_memory_set_budget(c, 0));
}

static void play_pressure(void) {
    const size_t least = ha_resident_least;
    ha_resident_least = 1;
    run.pressed = run.vague = 1; /* what fails on the way of a victim leaves no memory */
    press_at(N1);
    press_at(F1);
    run.pressed = run.vague = 0;
    ha_resident_least = least;
}

/* ---- chapters: memory without an array ------------------------------------------------------ */

static ha_status allocates(void **block, ha_context *c, size_t bytes) {
    *block = ha_memory_allocate(c, bytes);
    return status_of(*block);
}

/* The caller's own pool: in truth the backend's memory, so that the ledgers say the same. */
static ha_status pool_allocate(void *user, size_t bytes, void **block) {
    const ha_memory *m = (const ha_memory *)user;
    return ha_memory_table(m)->allocate(m->handle, bytes, block);
}

static void pool_release(void *user, void *block, size_t bytes) {
    const ha_memory *m = (const ha_memory *)user;
    ha_memory_table(m)->release(m->handle, block, bytes);
}

static void memory_at(ha_context *c) {
    model *x = &models[0];
    void *blocks[3];
    begin(x, 20, c);
    for (size_t i = 0; i < 3; i++) STEP(NULL, NULL, allocates(&blocks[i], c, 100 * (i + 1)));
    change(x, c, 0, HA_END, 1, 1);
    SURELY(ha_memory_release(c, blocks[1]));
    drop(x);
    begin(x, 20, c);
    (void)ha_memory_trim(c, 200);
    SURELY(ha_memory_release(c, blocks[0]));
    STEP(NULL, NULL, allocates(&blocks[0], c, 90));
    sum(x, c, 0, HA_END);
    SURELY(ha_memory_release(c, blocks[0]));
    SURELY(ha_memory_release(c, blocks[2]));
    read_back(x);
    drop(x);
    STEP(NULL, NULL, ha_context_finish(c));
}

static void play_memory(void) {
    memory_at(H);
    memory_at(N1);
    memory_at(F1);
    ha_context *c = ha_context_is_zero_copy(N2) ? F2 : N2; /* one with a memory of its own */
    const ha_allocator pool = {pool_allocate, pool_release, c->memory};
    SURELY(ha_memory_set_allocator(c, &pool));
    memory_at(c);
    SURELY(ha_memory_set_allocator(c, NULL));
}

/* ---- chapters: instruments ------------------------------------------------------------------ */

/* Called for each event: nothing is locked, and harray can be used. */
static void on_event(const ha_event_info *event, HA_UNUSED void *user) {
    double value = 0;
    for (size_t k = 0; k < ARRAYS; k++) {
        const ha_array *a = models[k].array;
        EXPECT(!a || (!a->lock && !a->busy), "array '%s' is locked while an event is told: %s",
               a->name, ha_event_kind_name(event->kind));
    }
    EXPECT(ha_array_get(models[CANARY].array, 0, &value) == HA_OK && value == 7,
           "the event handler cannot use harray");
}

/* What cannot be noted for lack of memory is dropped: no call fails for it. */
static void play_instruments(void) {
    model *x = &models[0], *y = &models[1];
    STEP(NULL, NULL, ha_trace_begin("/dev/null"));
    ha_set_event_handler(on_event, NULL);
    ha_watch(HA_WATCH_ACCESSES);
    begin(x, 24, N1);
    change(x, F1, 4, 9, 1, 1);
    sum(x, N2, 0, HA_END);
    begin(y, 10, H);
    change(y, N1, 2, 5, 1, 1);
    STEP_OF_TWO(x, y, NULL, ha_array_swap(x->array, y->array));
    model kept = *x;
    copies(x, y);
    copies(y, &kept);
    ha_report_reset();
    get(x, 3);
    set(y, 4, -1);
    drop(x);
    ha_watch(0);
    ha_set_event_handler(NULL, NULL);
    STEP(NULL, NULL, ha_trace_end());
    read_back(y);
}

/* ---- playing -------------------------------------------------------------------------------- */

static const chapter chapters[] = {
    {"contexts", play_contexts, 1},       {"hold and step", play_hold_and_step, 1},
    {"adopting", play_adopting, 0},       {"creation", play_creation, 0},
    {"typed arrays", play_typed, 0},      {"whole accesses", play_whole, 0},
    {"ranges", play_ranges, 0},           {"operations", play_operations, 0},
    {"many accesses", play_holders, 0},   {"resizing", play_resizing, 0},
    {"exchanging", play_exchange, 0},     {"assigning", play_assigning, 0},
    {"elements", play_elements, 0},       {"prefetching", play_prefetching, 0},
    {"wrapping", play_wrapping, 0},       {"pending work", play_pending, 0},
    {"full memory", play_full_memory, 0}, {"tokens", play_tokens, 0},
    {"many at once", play_many, 0},       {"ready accesses", play_ready, 0},
    {"memory", play_memory, 0},           {"instruments", play_instruments, 0},
    {"pressure", play_pressure, 0},
};

int main(int argc, char **argv) {
    return run_chapters("failure loop", chapters, sizeof chapters / sizeof *chapters, argc, argv);
}
