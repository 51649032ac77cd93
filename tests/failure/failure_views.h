/* Failure loop (test_failure.c) with views: accesses to them, and what they do to the model. */
#ifndef HARRAY_TESTS_FAILURE_FAILURE_VIEWS_H
#define HARRAY_TESTS_FAILURE_FAILURE_VIEWS_H

#pragma GCC diagnostic ignored "-Wunused-function" /* steps that other programs take */
#include "failure_run.h"

/* ---- work on views -------------------------------------------------------------------------- */

/* factor * x + amount, and the sum of what comes of it; *result stays when that is NULL. */
typedef struct view_job {
    double *data;
    darray view; /* its extents and strides */
    double factor, amount;
    sum_result *result;
} view_job;

static double work_along(const darray *view, int d, double *data, const view_job *j) {
    double sum = 0;
    if (d < view->rank) {
        for (int64_t i = 0; i < view->extent[d]; i++)
            sum += work_along(view, d + 1, data + i * view->stride[d], j);
        return sum;
    }
    if (!j->result) *data = (j->factor != 0 ? j->factor * *data : 0) + j->amount;
    return *data;
}

static void run_view_job(const ha_queue *queue, void *argument) {
    const view_job *j = (const view_job *)argument;
    const double sum = work_along(&j->view, 0, HA_HERE(queue, double, j->data), j);
    if (j->result) j->result->sum = sum;
}

static void work_on(const ha_access *v, const darray *view, double factor, double amount,
                    sum_result *result) {
    const view_job j = {(double *)v->data, *view, factor, amount, result};
    STEP(NULL, NULL, ha_enqueue(v->context, run_view_job, &j, sizeof j));
}

/* The same in the model. */
static void compute_view(model *m, const ha_access *v, const darray *view, double factor,
                         double amount) {
    const view_job j = {m->value, *view, factor, amount, NULL};
    work_on(v, view, factor, amount, NULL);
    (void)work_along(view, 0, m->value + view->offset, &j);
    for (size_t i = 0; i < m->size && factor == 0; i++)
        if (ha_view_hits(NULL, view, (ha_range){i, i + 1})) m->state[i] = KNOWN;
}

static void sum_of_view(model *m, const ha_access *v, const darray *view) {
    sum_result *result = &sums[sums_begun];
    EXPECT(sums_begun < MOST_SUMS, "too many sums");
    work_on(v, view, 0, 0, result);
    const view_job j = {m->value, *view, 0, 0, result};
    result->expected = work_along(view, 0, m->value + view->offset, &j);
    sums_begun++;
}

static ha_status opens_view(ha_access *v, const darray *view, ha_context *c, unsigned how) {
    memset(v, 0xAA, sizeof *v);
    ha_status s = ha_open_darray(v, view, c, how, "a view", HA_SITE);
    EXPECT(v->status == s, "the access has another status");
    EXPECT(!s || (!v->data && !v->size && !v->first && !v->array && !v->context && !v->ticket),
           "a failed opening leaves something in the access");
    return s;
}

static void open_view(ha_access *v, model *m, const darray *view, ha_context *c, unsigned how) {
    ha_range r;
    const int exact = ha_view_cover(m->array->grid, view, &r);
    STEP(m, c, opens_view(v, view, c, how));
    for (size_t i = 0; i < m->size; i++)
        if (is_in(m->array->grid, r, i) &&
            ((how == HA_OVERWRITE && exact) || (how != HA_READ && m->state[i] == NEVER)))
            m->state[i] = UNDEFINED;
}

static void change_view(model *m, darray view, ha_context *c, double factor, double amount) {
    ha_access v;
    open_view(&v, m, &view, c, HA_WRITE);
    compute_view(m, &v, &view, factor, amount);
    close_step(&v);
}

static void fill_view(model *m, darray view, ha_context *c, double value) {
    ha_access v;
    open_view(&v, m, &view, c, HA_OVERWRITE);
    compute_view(m, &v, &view, 0, value);
    close_step(&v);
}

static void sum_view(model *m, darray view, ha_context *c) {
    ha_access v;
    open_view(&v, m, &view, c, HA_READ);
    sum_of_view(m, &v, &view);
    close_step(&v);
}

static void prefetch_view(model *m, darray view, ha_context *c) {
    STEP(m, c, ha_prefetch_darray(&view, c, HA_SITE));
}

/* ---- arrays --------------------------------------------------------------------------------- */

/* With values 100, 101, … */
static darray begin_table(model *m, int rank, const int64_t *extent, ha_context *c) {
    double values[MOST_ELEMENTS];
    darray d;
    size_t n = 1;
    for (int k = 0; k < rank; k++) n *= (size_t)extent[k];
    for (size_t i = 0; i < n; i++) values[i] = 100 + (double)i;
    STEP(NULL, NULL, made(m, (d = darray_of(HA_DTYPE_double, rank, extent, values, c)).array));
    has(m, n, KNOWN, 100, 1);
    return d;
}

static darray row_of(darray d, int64_t i) { return darray_slice(d, 0, i, i + 1, 1); }
static darray column_of(darray d, int64_t j) { return darray_slice(d, d.rank - 1, j, j + 1, 1); }

#endif
