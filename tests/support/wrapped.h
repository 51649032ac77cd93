/* For tests of arrays over the caller's memory: some of that, on the host and on devices. */
#ifndef HARRAY_TESTS_SUPPORT_WRAPPED_H
#define HARRAY_TESTS_SUPPORT_WRAPPED_H

#include "matrix.h"

enum { N = 10 };

static double buffer[N];                            /* the caller's, on the host */
static const double constants[] = {5, 6, 2, 3, -5}; /* where writing crashes */

/* buffer = 0, 1, 2, … */
static inline void fill_buffer(void) {
    for (size_t i = 0; i < N; i++) buffer[i] = (double)i;
}

static inline harray_double wrapped(void) {
    fill_buffer();
    return keep(harray_double_wrap(buffer, N));
}

/* Element i of the caller's memory is now first + i * slope. Looks past the library. */
static inline void memory_is(const double *data, size_t n, double first, double slope) {
    for (size_t i = 0; i < n; i++) assert_true(data[i] == first + (double)i * slope);
}

#define BUFFER(first, slope) memory_is(buffer, N, first, slope)

/* No command of the second device that is still stored uses the caller's memory, or this ends the
 * program. (On `sim` nobody can tell.) */
static inline void expect_unused(const void *data, size_t bytes) {
    for (int i = 0; i < PRIVATE_DEVICES; i++)
        private_expect_unused(&private_devices[i], data, bytes);
}

/* Hands the memory back, and the test has one array less. */
static inline ha_status part(harray_double *x) {
    ha_array *array = x->array;
    const ha_status s = harray_double_unwrap(x);
    for (size_t i = 0; i < MOST_ARRAYS && !s; i++)
        if (arrays[i] == array) arrays[i] = NULL;
    step();
    check_ledger(arrays, MOST_ARRAYS);
    return s;
}

/* The error's text contains all of these. */
static inline void expect_text(ha_status s, const char *operation, const char *a, const char *b) {
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, s);
    assert_string_equal(e.operation, operation);
    if (!strstr(e.text, a) || !strstr(e.text, b)) fail_msg("%s", e.text);
    step();
}

/* ---- the caller's memory on a device -------------------------------------------------------- */

static inline void count_by_hand(const ha_memory *m, size_t bytes) {
    if (m->backend == &private_backend) ((private_device *)m->handle)->by_hand += bytes;
}

/* As the driver gives it, not the library. */
static inline double *device_memory(ha_context *c, size_t n) {
    void *data = NULL;
    const ha_memory *m = c->memory;
    assert_int_equal(m->backend->memory->allocate(m->handle, n * sizeof(double), &data), HA_OK);
    count_by_hand(m, n * sizeof(double));
    return (double *)data;
}

static inline void device_release(ha_context *c, double *data, size_t n) {
    const ha_memory *m = c->memory;
    count_by_hand(m, 0 - n * sizeof(double));
    m->backend->memory->release(m->handle, data, n * sizeof(double));
}

static inline void tell_here(const ha_queue *here, void *argument) {
    double **data = *(double ***)argument;
    *data = HA_HERE(here, double, *data);
}

/* As a function on a queue of its own sees it, which nobody else uses. */
static inline double *seen_by_function(const ha_context *c, double *data) {
    double **told = &data;
    void *queue;
    if (!c->ops) return data;
    assert_int_equal(c->ops->create(c->device, &queue), HA_OK);
    assert_int_equal(c->ops->call(queue, tell_here, &told, sizeof told), HA_OK);
    c->ops->drain(queue);
    c->ops->destroy(queue);
    return data;
}

/* Where device memory can be looked at without asking its queue. */
static inline double *seen_from_here(const ha_context *c, double *data) {
    const ha_memory *m = c->memory;
    if (m->backend == &ha_backend_sim)
        return HA_HERE(&((ha_sim_device *)m->handle)->here, double, data);
    if (m->backend == &private_backend)
        return HA_HERE(&((private_device *)m->handle)->device.here, double, data);
    if (m->backend == &launch_backend) return (double *)cuda_fake()->look(data);
    return seen_by_function(c, data);
}

#endif
