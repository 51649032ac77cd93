/* The steps of the failure loop (test_failure.c): a model with one copy of each array, what can be
 * seen of an array's state, and steps, each one call that may fail: then nothing may have changed,
 * and the step is repeated without failures. */
#ifndef HARRAY_TESTS_FAILURE_FAILURE_STEPS_H
#define HARRAY_TESTS_FAILURE_FAILURE_STEPS_H

#include "../support/invariants.h"

/* What plays the devices: two of a kind `near`, and two of a kind `far` that these cannot reach. */
typedef struct cast {
    const char *title, *near, *far;
    ha_sim_options sim;
} cast;

static const cast casts[] = {
    {"sim, private", "faulty_sim", "faulty_private", {.capacity = 1 << 20}},
    {"unified sim, private", "faulty_sim", "faulty_private", {.capacity = 1 << 20, .unified = 1}},
    {"private, sim", "faulty_private", "faulty_sim", {.capacity = 1 << 20}},
    {"sim with peers, private", "faulty_sim", "faulty_private", {.capacity = 1 << 20, .peers = 1}},
    {"slow sim, private",
     "faulty_sim",
     "faulty_private",
     {.capacity = 1 << 20, .delay_ns = 20000, .seed = 5}},
    {"sim that puts values, private",
     "faulty_sim",
     "faulty_private",
     {.capacity = 1 << 20, .strides = 1}},
    {"CUDA, private", "faulty_launch", "faulty_private", {.capacity = 1 << 20}},
    {"OpenCL, private", "faulty_opencl", "faulty_private", {.capacity = 1 << 20}},
};
enum {
    CASTS = sizeof casts / sizeof *casts,
    OPENCL_CAST = CASTS - 1,
    CUDA_CAST = CASTS - 2,
    VALUES_CAST = CASTS - 3
};

/* The host; two devices and another queue of the first; two devices of the other kind and another
 * queue of the first. */
static ha_context *H, *N1, *N1_fork, *N2, *F1, *F1_fork, *F2;

/* ---- the model: one copy of each array ------------------------------------------------------ */

enum { MOST_ELEMENTS = 64, CANARY = 6, ARRAYS = 7, MEMORIES = 5, MOST_SUMS = 200 };

typedef enum element_state {
    NEVER,     /* never written: valid nowhere */
    UNDEFINED, /* valid, but nobody knows the value */
    KNOWN
} element_state;

typedef struct model {
    ha_array *array; /* NULL: none */
    size_t size;
    element_state state[MOST_ELEMENTS];
    double value[MOST_ELEMENTS];
} model;

/* A sum that some queue computes. */
typedef struct sum_result {
    double sum, expected;
} sum_result;

/* What can be seen of an array. */
typedef struct array_snapshot {
    const ha_grid *grid;
    size_t size;
    uint64_t version;
    uint32_t holders;
    ha_holder holder[16];
    struct {
        size_t capacity, ranges;
        ha_range valid[MOST_ELEMENTS];
    } at[MEMORIES];
} array_snapshot;

typedef struct chapter {
    const char *name;
    void (*play)(void);
    int opens_contexts; /* by itself */
} chapter;

/* Those of a driver's calls that are points. */
typedef enum driver_calls {
    WORKING,
    ENTERING,   /* the device's context, before each other one */
    GIVING_BACK /* cannot report that they failed */
} driver_calls;

/* The running round. */
static struct {
    const chapter *chapter;
    const cast *cast;
    long point;
    int sticky, looks; /* looks at the values at once */
    int caches;        /* memories keep what is given back */
    int driver;        /* the code of the driver's calls, which are the points; 0: they are not */
    driver_calls calls;
    ha_cuda_memory memory; /* of CUDA devices */
    int spent;             /* the failure has been met: nothing fails any more */
    int vague;             /* it is one of several reasons: not what the message is about */
    const char *step;
    const model *about[2]; /* one of them belongs into the message */
    const ha_context *where;
    const model *source;  /* what may have become valid at `where`, also when the call failed */
    const model *lets_go; /* whose access ends, also when the call fails */
    int pressed; /* memories are short: what is valid where, and has memory, is not promised */
    int told;    /* errors that the handler was told of */
    array_snapshot before[ARRAYS];
} run;

static model models[ARRAYS];
static sum_result sums[MOST_SUMS];
static size_t sums_begun;
static int broken; /* a chapter was left half-way */

static const ha_type real = {"double", sizeof(double)};

__attribute__((format(printf, 1, 2))) static void report(const char *format, ...) {
    va_list args;
    const char *last = faulty_last();
    faulty_disarm();
    fprintf(stderr, "%s (%s%s), point %ld%s, last failure %s, step %s\n    ", run.chapter->name,
            run.cast->title, run.caches ? ", cached" : "", run.point,
            run.sticky ? " and all behind it" : "", last ? last : "none", run.step);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    fail();
}

#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition)) report(__VA_ARGS__);                                                     \
    } while (0)

/* ---- looking at values without changing anything -------------------------------------------- */

/* Everything enqueued happens; the engine does not notice. */
static void drain_queues(void) {
    const long points = faulty_points(), first = faulty_pause();
    for (ha_context *c = ha_registry.contexts; c; c = c->next)
        if (c->queue) c->ops->drain(c->queue);
    faulty_resume(first, points);
}

/* Where data in a memory really are. */
static const double *really(const ha_memory *m, const void *data) {
    if (m->backend == &faulty_sim || m->backend == &ha_backend_sim)
        return HA_HERE(&((ha_sim_device *)m->handle)->here, const double, data);
    if (m->backend == &faulty_launch) return (const double *)cuda_fake()->look(data);
    if (m->backend == &faulty_opencl)
        return HA_HERE(&((ha_opencl_device *)m->handle)->here, const double, data);
    if (m->backend == &faulty_private)
        return HA_HERE(&((private_device *)m->handle)->device.here, const double, data);
    return (const double *)data;
}

static double element_of(const ha_incarnation *in, size_t i) {
    return really(in->memory, in->data)[i];
}

/* Where there is a grid, a range is a box of it. */
static int is_in(const ha_grid *g, ha_range r, size_t i) {
    if (g && !ha_is_on_grid(g, i)) return 0;
    return ha_overlap(g, r, (ha_range){i, i + 1});
}

/* Every copy that is valid somewhere has the model's value. `places`: counts the copies. */
static void check_copies(const model *m, const ha_incarnation *in, int *places) {
    const ha_range *v = ha_set_ranges(&in->valid);
    for (uint32_t r = 0; r < in->valid.n; r++)
        for (size_t i = v[r].first; i < v[r].last; i++) {
            if (!is_in(in->valid.grid, v[r], i)) continue;
            places[i]++;
            if (m->state[i] != KNOWN) continue;
            EXPECT(element_of(in, i) == m->value[i], "array '%s': element %zu at %s is %g, not %g",
                   m->array->name, i, ha_memory_context(in->memory)->name, element_of(in, i),
                   m->value[i]);
        }
}

static void check_values(void) {
    drain_queues();
    for (size_t k = 0; k < ARRAYS; k++) {
        const model *m = &models[k];
        int places[MOST_ELEMENTS] = {0};
        if (!m->array) continue;
        EXPECT(ha_array_size(m->array) == m->size, "array '%s' has %zu elements, not %zu",
               m->array->name, ha_array_size(m->array), m->size);
        for (const ha_incarnation *in = &m->array->first; in; in = in->next)
            check_copies(m, in, places);
        for (size_t i = 0; i < m->size; i++)
            EXPECT((m->state[i] == NEVER) == (places[i] == 0),
                   "array '%s': element %zu is valid at %d places", m->array->name, i, places[i]);
    }
    for (size_t i = 0; i < sums_begun; i++)
        EXPECT(sums[i].sum == sums[i].expected, "sum %zu is %g, not %g", i, sums[i].sum,
               sums[i].expected);
}

/* ---- looking at states ---------------------------------------------------------------------- */

/* One context for each memory; NULL when the chapter has not opened it yet. */
static const ha_context *place(size_t i) {
    const ha_context *const all[MEMORIES] = {H, N1, N2, F1, F2};
    return all[i];
}

static void look(const ha_array *a, array_snapshot *s) {
    s->grid = a->grid;
    s->size = ha_array_size(a);
    s->version = ha_array_version(a);
    s->holders = a->holders;
    EXPECT(s->holders <= sizeof s->holder / sizeof *s->holder, "more accesses than can be seen");
    memcpy(s->holder, a->holder, s->holders * sizeof *s->holder);
    for (size_t i = 0; i < MEMORIES && place(i); i++) {
        const ha_context *c = place(i);
        s->at[i].capacity = ha_array_capacity(a, c);
        s->at[i].ranges = ha_array_valid_ranges(a, c, s->at[i].valid, MOST_ELEMENTS);
    }
}

/* Whether element i was valid at one of the memories [first, last). */
static int was_valid(const array_snapshot *s, size_t i, size_t first, size_t last) {
    for (size_t k = first; k < last; k++)
        for (size_t r = 0; r < s->at[k].ranges; r++)
            if (is_in(s->grid, s->at[k].valid[r], i)) return 1;
    return 0;
}

/* How many elements became valid at memory k, as copies of what was valid somewhere. -1 when
 * anything else has changed. */
static int gained(const array_snapshot *before, const array_snapshot *now, size_t k) {
    int more = 0;
    for (size_t i = 0; i < MOST_ELEMENTS; i++) {
        int was = was_valid(before, i, k, k + 1), is = was_valid(now, i, k, k + 1);
        if (was && !is) return -1;
        if (!was && is && !was_valid(before, i, 0, MEMORIES)) return -1;
        more += is && !was;
    }
    return more;
}

static void check_memory_unchanged(const model *m, const array_snapshot *before,
                                   const array_snapshot *now, size_t k) {
    const ha_context *c = place(k), *where = run.where;
    if (run.pressed) return; /* that no value is lost, check_values() sees */
    size_t was = before->at[k].capacity, is = now->at[k].capacity;
    int more = gained(before, now, k);
    int there = where && c->memory == where->memory;
    int staging = where && !there && c->memory == H->memory;
    int may_gain = staging || (there && m == run.source);
    int may_grow = (there || staging) && (was || more > 0);
    EXPECT(more == 0 || (more > 0 && may_gain), "array '%s': what is valid at %s has changed",
           m->array->name, c->name);
    int gave_way = is == 0 && before->at[k].ranges == 0; /* to another array, before that failed */
    EXPECT(is == was || (is > was && may_grow) || gave_way,
           "array '%s': the capacity at %s was %zu, is %zu", m->array->name, c->name, was, is);
}

static void check_unchanged(const model *m, const array_snapshot *before) {
    array_snapshot now = {0};
    look(m->array, &now);
    const char *name = m->array->name;
    EXPECT(now.size == before->size, "array '%s': the size has changed", name);
    EXPECT(now.version == before->version, "array '%s': the version has changed", name);
    EXPECT(now.holders == before->holders - (run.lets_go == m),
           "array '%s': %u accesses, %u before", name, now.holders, before->holders);
    for (uint32_t i = 0; i < now.holders; i++)
        EXPECT(now.holder[i].ticket == before->holder[i].ticket &&
                   now.holder[i].thread == before->holder[i].thread,
               "array '%s': another access", name);
    for (size_t k = 0; k < MEMORIES && place(k); k++) check_memory_unchanged(m, before, &now, k);
}

static void check_inside(void) {
    ha_array *living[ARRAYS];
    for (size_t k = 0; k < ARRAYS; k++) {
        living[k] = models[k].array;
        if (living[k]) check_quiet(living[k]);
    }
    check_ledger(living, ARRAYS);
    check_handed_out(&faulty_host_ledger);
    check_handed_out(&faulty_sim_ledger);
    check_handed_out(&faulty_private_ledger);
    check_handed_out(&faulty_launch_ledger);
    check_handed_out(&faulty_opencl_ledger);
    EXPECT(!ha_backend_note.code && !*ha_backend_note.text,
           "a backend's message was left for the next error: %s", ha_backend_note.text);
}

/* ---- errors --------------------------------------------------------------------------------- */

/* Called for each error. No lock may be held: so nothing is different from before the call, and
 * harray can be used. */
static void on_error(HA_UNUSED const ha_error *error, HA_UNUSED void *user) {
    double value = 0;
    run.told++;
    for (size_t k = 0; k < ARRAYS; k++) {
        ha_array *a = models[k].array;
        if (!a || run.spent) continue;
        EXPECT(!a->lock && !a->busy, "array '%s' is locked while its error is told", a->name);
        EXPECT(a->holders == run.before[k].holders - (run.lets_go == &models[k]),
               "array '%s' has an access of the failed call while its error is told", a->name);
    }
    EXPECT(ha_array_get(models[CANARY].array, 0, &value) == HA_OK && value == 7,
           "the handler cannot use harray");
}

/* The status that an injected failure must lead to, when it is the only one. */
static ha_status expected_status(void) {
    if (run.driver == HA_CU_OUT_OF_MEMORY || run.driver == HA_CL_OUT_OF_RESOURCES)
        return HA_ERR_MEMORY;
    if (run.driver) return HA_ERR_BACKEND;
    const char *slot = faulty_last(), *dot = strchr(slot, '.');
    int memory = !dot || !strcmp(dot, ".allocate") || !strcmp(dot, ".pin");
    return memory ? HA_ERR_MEMORY : HA_ERR_BACKEND;
}

/* A driver that cannot count its devices has none, and one may not know an attribute. */
static int is_no_device(ha_status s) {
    if (!run.driver) return 0;
    if (!strcmp(faulty_last(), "cuDeviceGetCount"))
        return s == HA_ERR_NOT_FOUND || s == HA_ERR_BACKEND;
    return !strcmp(faulty_last(), "cuDeviceGetAttribute") && run.driver == HA_CU_INVALID_VALUE &&
           s == HA_ERR_UNSUPPORTED;
}

static int names(const ha_error *e, const model *m) {
    return strstr(e->text, ha_array_name(m->array)) != NULL;
}

static void check_error(ha_status s, const ha_error *e) {
    int by_backend = run.driver || strchr(faulty_last(), '.') != NULL;
    const int64_t code = run.driver ? run.driver : FAULTY_CODE;
    EXPECT(e->status == s, "returned %s, recorded %s", ha_status_name(s),
           ha_status_name(e->status));
    EXPECT(run.told == 1, "%d errors were told", run.told);
    EXPECT(e->operation && *e->operation && *e->text, "an error without operation or text");
    EXPECT(!run.about[0] || names(e, run.about[0]) || (run.about[1] && names(e, run.about[1])),
           "the message does not name the array: %s", e->text);
    if (run.sticky) {
        EXPECT(s == HA_ERR_MEMORY || s == HA_ERR_BACKEND, "%s", ha_status_name(s));
        return;
    }
    if (is_no_device(s) || run.vague) return;
    EXPECT(s == expected_status(), "%s: %s", ha_status_name(s), e->text);
    EXPECT(e->code == (by_backend ? code : 0), "code %lld: %s", (long long)e->code, e->text);
    EXPECT(!by_backend || strstr(e->text, faulty_last()), "the backend's message is missing: %s",
           e->text);
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* about, also: a message must name one of them. where: the context whose memory may have grown when
 * the call has failed; NULL: nowhere. */
static void begin_step(const char *text, const model *about, const model *also,
                       const ha_context *where) {
    run.step = text;
    run.about[0] = about;
    run.about[1] = also;
    run.where = where;
    run.told = 0;
    if (run.spent) return;
    for (size_t k = 0; k < ARRAYS; k++)
        if (models[k].array) look(models[k].array, &run.before[k]);
}

/* Returns whether the step has to be repeated. */
static int end_step(ha_status s) {
    const ha_error e = ha_take_error();
    if (s == HA_OK) {
        EXPECT(!e.status && !run.told, "it succeeded with an error: %s", e.text);
        check_inside();
        return 0;
    }
    EXPECT(faulty_disarm() > 0, "%s, but nothing was made to fail: %s", ha_status_name(s), e.text);
    check_error(s, &e);
    for (size_t k = 0; k < ARRAYS; k++)
        if (models[k].array) check_unchanged(&models[k], &run.before[k]);
    check_inside();
    if (run.looks) check_values();
    run.spent = 1;
    run.told = 0;
    return 1;
}

#define STEP_OF_TWO(about, also, where, ...)                                                       \
    do {                                                                                           \
        begin_step(HA_SITE ": " #__VA_ARGS__, about, also, where);                                 \
        if (end_step(__VA_ARGS__)) (void)end_step(__VA_ARGS__);                                    \
    } while (0)
#define STEP(about, where, ...) STEP_OF_TWO(about, NULL, where, __VA_ARGS__)

/* A call that cannot fail. */
#define SURELY(...)                                                                                \
    do {                                                                                           \
        begin_step(HA_SITE ": " #__VA_ARGS__, NULL, NULL, NULL);                                   \
        ha_status surely_ = (__VA_ARGS__);                                                         \
        EXPECT(surely_ == HA_OK, "it cannot fail: %s", ha_take_error().text);                      \
        (void)end_step(surely_);                                                                   \
    } while (0)

/* For calls that return a pointer: the status of the error that they have recorded. */
static ha_status status_of(const void *pointer) { return pointer ? HA_OK : ha_first_error.status; }

/* ---- arrays and their models ---------------------------------------------------------------- */

/* Takes a new array, if there is one. */
static ha_status made(model *m, ha_array *array) {
    static const char *const names[ARRAYS] = {"anne", "bill",  "carl",  "dora",
                                              "emil", "frida", "canary"};
    m->array = array;
    if (array) ha_array_set_name(array, names[m - models]);
    return status_of(array);
}

/* n elements, all in one state: element i is first + i * slope where that is KNOWN. */
static void has(model *m, size_t n, element_state state, double first, double slope) {
    m->size = n;
    for (size_t i = 0; i < MOST_ELEMENTS; i++) {
        m->state[i] = i < n ? state : NEVER;
        m->value[i] = first + (double)i * slope;
    }
}

static void copies(model *to, const model *from) {
    ha_array *array = to->array;
    *to = *from;
    to->array = array;
}

/* Behind the new end there is nothing, and what is added was never written. */
static void is_resized(model *m, size_t n, element_state added) {
    for (size_t i = 0; i < MOST_ELEMENTS; i++) {
        if (i >= n) m->state[i] = NEVER;
        if (i >= m->size && i < n) m->state[i] = added;
    }
    m->size = n;
}

static void drop(model *m) {
    ha_array *array = m->array;
    m->array = NULL;
    SURELY(ha_array_free(array));
}

/* n values from the host. */
static void begin(model *m, size_t n, ha_context *first_touch) {
    double values[MOST_ELEMENTS];
    for (size_t i = 0; i < n; i++) values[i] = 100 + (double)i;
    STEP(NULL, NULL, made(m, ha_array_of(real, n, values, first_touch)));
    has(m, n, KNOWN, 100, 1);
}

/* ---- accesses ------------------------------------------------------------------------------- */

static ha_status opens(ha_access *v, const model *m, ha_context *c, unsigned how, size_t first,
                       size_t last) {
    memset(v, 0xAA, sizeof *v);
    ha_status s = ha_open(v, m->array, c, how, first, last);
    EXPECT(v->status == s, "the access has another status");
    EXPECT(!s || (!v->data && !v->size && !v->first && !v->array && !v->context && !v->ticket),
           "a failed opening leaves something in the access");
    return s;
}

static void open_step(ha_access *v, model *m, ha_context *c, unsigned how, size_t first,
                      size_t last) {
    STEP(m, c, opens(v, m, c, how, first, last));
    for (size_t i = v->first; i < v->first + v->size; i++)
        if (how == HA_OVERWRITE || (how == HA_WRITE && m->state[i] == NEVER))
            m->state[i] = UNDEFINED;
}

static void close_step(ha_access *v) {
    SURELY(ha_close(v));
    EXPECT(!v->array && !v->data && !v->size, "a closed access has something left");
}

typedef struct job {
    double *data;
    size_t size;
    double factor, amount, slope;
} job;

/* data[i] = factor * data[i] + amount + i * slope */
static void run_job(const ha_queue *queue, void *argument) {
    const job *j = (const job *)argument;
    double *data = HA_HERE(queue, double, j->data);
    for (size_t i = 0; i < j->size; i++)
        data[i] = (j->factor != 0 ? j->factor * data[i] : 0) + j->amount + (double)i * j->slope;
}

/* On an open access. */
static void compute(model *m, const ha_access *v, double factor, double amount, double slope) {
    const job j = {(double *)v->data, v->size, factor, amount, slope};
    STEP(NULL, NULL, ha_enqueue(v->context, run_job, &j, sizeof j));
    for (size_t i = 0; i < v->size; i++) {
        double *value = &m->value[v->first + i];
        element_state *state = &m->state[v->first + i];
        *value = (factor != 0 ? factor * *value : 0) + amount + (double)i * slope;
        if (factor == 0) *state = KNOWN;
    }
}

typedef struct sum_job {
    const double *data;
    size_t size;
    sum_result *result;
} sum_job;

static void run_sum(const ha_queue *queue, void *argument) {
    const sum_job *j = (const sum_job *)argument;
    const double *data = HA_HERE(queue, double, j->data);
    double sum = 0;
    for (size_t i = 0; i < j->size; i++) sum += data[i];
    j->result->sum = sum;
}

static void compute_sum(const model *m, const ha_access *v) {
    sum_result *result = &sums[sums_begun];
    const sum_job j = {(const double *)v->data, v->size, result};
    EXPECT(sums_begun < MOST_SUMS, "too many sums");
    STEP(NULL, NULL, ha_enqueue(v->context, run_sum, &j, sizeof j));
    result->expected = 0;
    for (size_t i = 0; i < v->size; i++) result->expected += m->value[v->first + i];
    sums_begun++;
}

/* Multiplies and adds on a context. */
static void change(model *m, ha_context *c, size_t first, size_t last, double factor,
                   double amount) {
    ha_access v;
    open_step(&v, m, c, HA_WRITE, first, last);
    compute(m, &v, factor, amount, 0);
    close_step(&v);
}

/* Overwrites a range. */
static void fill(model *m, ha_context *c, size_t first, size_t last, double value) {
    ha_access v;
    open_step(&v, m, c, HA_OVERWRITE, first, last);
    compute(m, &v, 0, value, 1);
    close_step(&v);
}

/* Overwrites all, with a new size. */
static void refill(model *m, ha_context *c, size_t n, double value) {
    ha_access v;
    STEP(m, c, ha_overwrite(&v, m->array, c, n, HA_WAIT));
    has(m, n, UNDEFINED, 0, 0);
    compute(m, &v, 0, value, 1);
    close_step(&v);
}

static void sum(model *m, ha_context *c, size_t first, size_t last) {
    ha_access v;
    open_step(&v, m, c, HA_READ, first, last);
    compute_sum(m, &v);
    close_step(&v);
}

/* After a failure nothing is written to *value any more. */
static ha_status gets_element(const model *m, size_t i, double *value) {
    double fresh = 0;
    ha_status s = ha_array_get(m->array, i, &fresh);
    if (s && run.looks) {
        fresh = -1;
        drain_queues();
        EXPECT(fresh == -1, "a failed call writes the value later");
    }
    *value = fresh;
    return s;
}

static void get(const model *m, size_t i) {
    double value = -1;
    STEP(m, ha_element_context(m->array, i), gets_element(m, i, &value));
    EXPECT(value == m->value[i], "element %zu is %g, not %g", i, value, m->value[i]);
}

static void set(model *m, size_t i, double value) {
    STEP(m, ha_element_context(m->array, i), ha_array_set(m->array, i, &value));
    m->value[i] = value;
    m->state[i] = KNOWN;
}

static void resize(model *m, size_t n) {
    STEP(m, NULL, ha_array_resize(m->array, n));
    is_resized(m, n, NEVER);
}

/* Reads on the host whatever has a value. */
static void read_back(model *m) {
    for (size_t last, first = 0; first < m->size; first = last + 1) {
        ha_access v;
        for (last = first; last < m->size && m->state[last] == KNOWN;) last++;
        if (first == last) continue;
        open_step(&v, m, H, HA_READ, first, last);
        for (size_t i = 0; i < v.size; i++)
            EXPECT(((const double *)v.data)[i] == m->value[first + i],
                   "array '%s' on the host: element %zu is %g, not %g", ha_array_name(m->array),
                   first + i, ((const double *)v.data)[i], m->value[first + i]);
        close_step(&v);
    }
}

#endif
