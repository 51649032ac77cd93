/* LIBRARY: the name of the one function that others see. */
#include "../../harray.h"

#include "library.h"

enum { SIZE = 1000 };

static harray_double x;
static ha_context *device;
static double expected;

static int start(int devices) {
    ha_sim_options options = {.devices = devices};
    int failed = ha_sim_configure(&options) != HA_OK;
    device = ha_context_find("sim");
    expected = devices;
    x = harray_double_filled(SIZE, expected);
    return failed + (!device || !x.array || ha_context_count("sim") != devices);
}

static void add_one(const ha_queue *queue, void *argument) {
    ha_write_double *v = (ha_write_double *)argument;
    double *p = HA_HERE(queue, double, v->data);
    for (size_t i = 0; i < v->size; i++) p[i] += 1;
}

static int enqueue(void) {
    int failed = ha_sim_hold(device) != HA_OK;
    HA_WRITING(v, x, device) failed += HA_RUN(add_one, v) != HA_OK;
    else failed++;
    expected += 1;
    return failed;
}

static int finish(void) {
    int failed = ha_sim_step(device, -1) != HA_OK;
    HA_READING(v, x, ha_host()) {
        for (size_t i = 0; i < v.size; i++) failed += v.data[i] < expected || v.data[i] > expected;
    }
    else failed++;
    return failed;
}

static void cause_error(void) { HA_IGNORE(harray_double_set(x, SIZE, 0)); }

static int has_failed(void) { return ha_take_error().status != HA_OK; }

static const void *host(void) { return ha_host(); }

static int end(void) {
    int failed = harray_double_free(&x) != HA_OK;
    return failed + (ha_shutdown() != HA_OK) + has_failed();
}

const library *LIBRARY(void) {
    static const library this = {start, enqueue, finish, cause_error, has_failed, host, end};
    return &this;
}
