/* The steps of test_cuda_failure.c: a model with one copy of each array, which knows whose failure
 * may have cost an element, and calls of which each may meet the failure. */
#ifndef HARRAY_TESTS_BACKENDS_CUDA_FAILURE_STEPS_H
#define HARRAY_TESTS_BACKENDS_CUDA_FAILURE_STEPS_H

#include "../support/invariants.h"

enum { BLOCKS = 24, ARRAYS = 4, MOST_SUMS = 64, MOST_UNIT = 16384, BOTH = 3 };

/* A block is `unit` elements with one value: one behind the other, or a column of an array that has
 * `unit` rows. */
typedef struct model {
    ha_array *array; /* NULL: none */
    darray table;    /* where blocks are columns: all of it */
    size_t size;     /* in blocks, as all that follows */
    double value[BLOCKS];
    unsigned risk[BLOCKS];    /* 1 << device: when that one fails, the block may be lost */
    unsigned copies[BLOCKS];  /* 1 << device: it has them, too, so they may be taken from there */
    ha_context *last[BLOCKS]; /* whose write was the last one */
    int doubt[BLOCKS]; /* it was to be overwritten there, and was not: lost, or never written */
} model;

typedef struct sum_result {
    double sum, expected;
    unsigned risk;
    ha_context *at; /* NULL: checked, or not to be expected any more */
} sum_result;

static ha_context *H, *A, *A_fork, *B; /* the host; two devices; another queue of the first one */

static struct {
    const char *chapter, *step;
    ha_status status;
    long point;
    int failed;   /* device; -1: none has */
    int together; /* a device may have waited for another one */
    size_t unit;
    int columns; /* blocks are columns */
    sum_result sums[MOST_SUMS];
    size_t summed;
} run;

static model models[ARRAYS];
static const ha_type real = {"double", sizeof(double)};

__attribute__((format(printf, 1, 2))) static void report(const char *format, ...) {
    va_list args;
    fprintf(stderr, "%s, point %ld, device %d failed at %s, step %s\n    ", run.chapter, run.point,
            run.failed, run.failed < 0 ? "no call" : faulty_last(), run.step);
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

static unsigned bit_of(const ha_context *c) { return c == H ? 0 : 1u << ha_context_number(c); }

/* Whether what carries this risk may be lost. A device whose queue waits for one that fails is lost
 * with it (backends/cuda/peers.h). */
static int is_hit(unsigned risk) {
    return run.failed >= 0 && ((risk >> run.failed & 1) || (run.together && risk));
}

/* ---- calls ---------------------------------------------------------------------------------- */

static void check_inside(void) {
    ha_array *living[ARRAYS];
    for (size_t k = 0; k < ARRAYS; k++) {
        living[k] = models[k].array;
        if (living[k]) check_quiet(living[k]);
    }
    check_ledger(living, ARRAYS);
}

/* may: it is no surprise when this fails. Returns whether it has succeeded. */
static int ended(ha_status s, const char *text, int may) {
    const ha_error e = ha_take_error();
    run.step = text;
    EXPECT(e.status == s, "%s, but told %s: %s", ha_status_name(s), ha_status_name(e.status),
           e.text);
    EXPECT(s == HA_OK || may, "%s: %s", ha_status_name(s), e.text);
    EXPECT(s == HA_OK || s == HA_ERR_LOST || s == HA_ERR_BACKEND || s == HA_ERR_STATE, "%s: %s",
           ha_status_name(s), e.text);
    check_inside();
    return s == HA_OK;
}

#define ENDED(may, ...)                                                                            \
    (run.step = HA_SITE ": " #__VA_ARGS__, run.status = (__VA_ARGS__),                             \
     ended(run.status, run.step, may))
#define SURELY(...) (void)ENDED(0, __VA_ARGS__)

static ha_status status_of(const void *pointer) { return pointer ? HA_OK : ha_first_error.status; }

/* ---- arrays --------------------------------------------------------------------------------- */

static unsigned risk_of(const model *m, size_t first, size_t last) {
    unsigned risk = 0;
    for (size_t i = first; i < last; i++) risk |= m->doubt[i] ? BOTH : m->risk[i];
    return risk;
}

/* Blocks [first, last) are known to be the model's, and who has them. */
static void is_written(model *m, size_t first, size_t last, ha_context *c, unsigned risk) {
    for (size_t i = first; i < last; i++) {
        m->risk[i] = risk;
        m->copies[i] = bit_of(c);
        m->last[i] = c;
        m->doubt[i] = 0;
    }
}

static void has(model *m, size_t n, double value, ha_context *c) {
    m->size = n;
    for (size_t i = 0; i < n; i++) m->value[i] = value;
    is_written(m, 0, n, c, bit_of(c));
}

static ha_array *array_of(model *m, size_t n, const double *values, ha_context *c) {
    const int64_t extent[] = {(int64_t)run.unit, (int64_t)n};
    if (!run.columns) return ha_array_of(real, n * run.unit, values, c);
    m->table = darray_of(HA_DTYPE_double, 2, extent, values, c);
    return m->table.array;
}

/* Filled where it is first touched, if it can be. */
static void begin(model *m, size_t n, double value, ha_context *c) {
    static double values[BLOCKS * MOST_UNIT];
    for (size_t i = 0; i < n * run.unit; i++) values[i] = value;
    if (!ENDED(is_hit(bit_of(c)), status_of(m->array = array_of(m, n, values, c))))
        SURELY(status_of(m->array = array_of(m, n, values, H)));
    has(m, n, value, c);
}

static void begin_filled(model *m, size_t n, double value, ha_context *c) {
    if (!ENDED(is_hit(bit_of(c)),
               status_of(m->array = ha_array_filled(real, n * run.unit, &value, c))))
        SURELY(status_of(m->array = ha_array_filled(real, n * run.unit, &value, H)));
    has(m, n, value, c);
}

static void drop(model *m) {
    ha_array *array = m->array;
    m->array = NULL;
    SURELY(ha_array_free(array));
}

/* ---- accesses ------------------------------------------------------------------------------- */

/* Before the blocks are used there. What one device has, or still reads, another one waits for. */
static void meets(const model *m, const ha_context *c) {
    for (size_t i = 0; i < m->size && c != H; i++)
        run.together |= ((m->risk[i] | m->copies[i]) & ~bit_of(c)) != 0;
}

/* They came there: so they may be taken from there. */
static void comes_to(model *m, const ha_context *c, size_t first, size_t last) {
    for (size_t i = first; i < last; i++) m->copies[i] |= bit_of(c);
}

static ha_status open_blocks(ha_access *v, const model *m, ha_context *c, unsigned how,
                             size_t first, size_t last) {
    if (!run.columns) return ha_open(v, m->array, c, how, first * run.unit, last * run.unit);
    const darray part = darray_slice(m->table, 1, (int64_t)first, (int64_t)last, 1);
    return ha_open_darray(v, &part, c, how, "ha_open_darray", HA_SITE);
}

/* Where the elements of an access are, and which blocks that is. */
typedef struct rows {
    double *data;
    size_t rows, size, apart; /* elements of a row, and from one row to the next */
    size_t first, last;
} rows;

static rows rows_of(const model *m, const ha_access *v) {
    const size_t n = v->size / run.unit;
    const size_t first = run.columns ? v->first : v->first / run.unit;
    if (run.columns) return (rows){(double *)v->data, run.unit, n, m->size, first, first + n};
    return (rows){(double *)v->data, 1, v->size, 0, first, first + n};
}

/* Nonzero: it is open. */
static int opens(ha_access *v, model *m, ha_context *c, unsigned how, size_t first, size_t last) {
    const unsigned risk = how == HA_OVERWRITE ? 0 : risk_of(m, first, last);
    meets(m, c);
    if (!ENDED(is_hit(risk | bit_of(c)), open_blocks(v, m, c, how, first, last))) return 0;
    if (how != HA_OVERWRITE) comes_to(m, c, first, last);
    if (ha_context_is_zero_copy(c)) /* its queue may have moved all of it to pinned memory */
        for (size_t i = 0; i < m->size; i++) m->risk[i] |= bit_of(c);
    return 1;
}

typedef struct job {
    rows of;
    double factor, amount;
} job;

static void run_job(const ha_queue *queue, void *argument) {
    const job *j = (const job *)argument;
    for (size_t k = 0; k < j->of.rows; k++) {
        double *data = HA_HERE(queue, double, j->of.data) + k * j->of.apart;
        for (size_t i = 0; i < j->of.size; i++)
            data[i] = (j->factor != 0 ? j->factor * data[i] : 0) + j->amount;
    }
}

/* What comes to a device may be on its way from another one, whose failure then matters, too. */
static void compute(model *m, const ha_access *v, double factor, double amount) {
    const job j = {rows_of(m, v), factor, amount};
    const int runs = ENDED(is_hit(bit_of(v->context)),
                           ha_enqueue(v->context, run_job, &j, sizeof j));
    for (size_t i = j.of.first; i < j.of.last; i++) {
        if (runs) m->value[i] = factor * m->value[i] + amount;
        if (factor == 0) m->doubt[i] = !runs;
        if (factor == 0 || v->context == H) m->risk[i] = 0;
        m->risk[i] |= bit_of(v->context);
        m->copies[i] = bit_of(v->context);
        m->last[i] = v->context;
    }
}

static void change(model *m, ha_context *c, size_t first, size_t last, double factor,
                   double amount) {
    ha_access v;
    if (!opens(&v, m, c, factor == 0 ? HA_OVERWRITE : HA_WRITE, first, last)) return;
    compute(m, &v, factor, amount);
    SURELY(ha_close(&v));
}

/* ---- reading -------------------------------------------------------------------------------- */

/* What could be read on the host is there, for good. */
static void read_back(model *m, size_t first, size_t last) {
    ha_access v;
    if (!opens(&v, m, H, HA_READ, first, last)) return;
    const rows r = rows_of(m, &v);
    for (size_t k = 0; k < r.rows; k++)
        for (size_t i = 0; i < r.size; i++) {
            const size_t block = first + (run.columns ? i : i / run.unit);
            const double is = r.data[k * r.apart + i];
            EXPECT(m->doubt[block] || is == m->value[block],
                   "block %zu, element %zu of row %zu is %g, not %g", block, i, k, is,
                   m->value[block]);
        }
    SURELY(ha_close(&v));
    for (size_t i = first; i < last; i++) m->risk[i] = 0;
}

/* Each on its own: what is not lost is there. */
static void read_blocks(model *m) {
    for (size_t i = 0; i < m->size; i++) read_back(m, i, i + 1);
}

typedef struct sum_job {
    rows of;
    sum_result *result;
} sum_job;

static void run_sum(const ha_queue *queue, void *argument) {
    const sum_job *j = (const sum_job *)argument;
    const double *data = HA_HERE(queue, const double, j->of.data);
    double sum = 0;
    for (size_t k = 0; k < j->of.rows; k++)
        for (size_t i = 0; i < j->of.size; i++) sum += data[k * j->of.apart + i];
    j->result->sum = sum;
}

static void sum(model *m, ha_context *c, size_t first, size_t last) {
    ha_access v;
    sum_result *result = &run.sums[run.summed];
    if (!opens(&v, m, c, HA_READ, first, last)) return;
    const sum_job j = {rows_of(m, &v), result};
    EXPECT(run.summed < MOST_SUMS, "too many sums");
    *result = (sum_result){.at = c, .risk = risk_of(m, first, last) | bit_of(c)};
    for (size_t i = first; i < last; i++) result->expected += m->value[i] * (double)run.unit;
    run.summed += (size_t)ENDED(is_hit(bit_of(c)), ha_enqueue(c, run_sum, &j, sizeof j));
    SURELY(ha_close(&v));
}

/* ---- all that is enqueued ------------------------------------------------------------------- */

/* What has been done there cannot be lost by what it came from any more. */
static void finish(ha_context *c) {
    if (!ENDED(is_hit(bit_of(c)), ha_context_finish(c))) return;
    for (size_t i = 0; i < run.summed; i++) {
        const sum_result *s = &run.sums[i];
        if (s->at != c || is_hit(s->risk)) continue;
        EXPECT(s->sum == s->expected, "sum %zu at %s is %g, not %g", i, c->name, s->sum,
               s->expected);
    }
    for (size_t k = 0; k < ARRAYS && run.failed < 0; k++)
        for (size_t i = 0; i < models[k].size; i++)
            if (models[k].last[i] == c && !models[k].doubt[i] && !run.together)
                models[k].risk[i] = bit_of(c);
}

/* ---- the end -------------------------------------------------------------------------------- */

/* Overwriting on the host heals; then all is as ever where the device has not failed. */
static void heal(model *m) {
    for (size_t i = 0; i < m->size; i++) change(m, H, i, i + 1, 0, 7 + (double)i);
    read_back(m, 0, m->size);
    change(m, run.failed == 0 ? B : A, 0, m->size, 2, 1);
    read_back(m, 0, m->size);
}

#endif
