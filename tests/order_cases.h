/* Orders that random schedules meet only now and then, each made on purpose on the order backend.
 * What another thread does in the middle of a call stands in the function that is order_disturb. */
#ifndef ORDER_CASES_H
#define ORDER_CASES_H

#include "model_run.h"

/* Indices of order_world. */
enum { HOST, A, A_FORK, A_OTHER, B, B_FORK, D };

static ha_array *array_x, *array_y;
static ha_access access_x, access_y; /* of the second thread */

static ha_context *context_at(int index) { return model.context[index].context; }

static void case_begin(void) {
    script_begin(0, NULL, 0);
    world_begin(0, 0);
    model.peers = order_peers = 0;
}

static int case_end(void) {
    order_disturb = NULL;
    order_records_fail = order_fail_in = 0;
    if (!model.failed) world_end();
    if (model.failed) fprintf(stderr, "FAILED: %s\n", model.failure);
    return model.failed;
}

static ha_array *zeros_at(int context) {
    return ha_array_zeros(model_type, 10, context_at(context));
}

/* A function that writes what an access covers. */
static void write_all(const ha_access *v, int context) {
    kernel k = {.n = (uint32_t)v->size, .to = (uint32_t *)v->data};
    kernel_touch(&k, v->data, 1);
    HA_CHECK(kernel_enqueue(&k, context));
}

static void write_range(ha_array *array, int context, size_t first, size_t last) {
    ha_access v;
    HA_CHECK(ha_open(&v, array, context_at(context), HA_WRITE | HA_TRY, first, last));
    write_all(&v, context);
    HA_CHECK(ha_close(&v));
}

static void open_close(ha_array *array, int context, unsigned how, size_t first, size_t last) {
    ha_access v;
    HA_CHECK(ha_open(&v, array, context_at(context), how | HA_TRY, first, last));
    HA_CHECK(ha_close(&v));
}

/* ---- work behind the end of an array that was made smaller --------------------------------- */

static int case_work_behind_the_end(void) {
    case_begin();
    array_x = zeros_at(A);
    open_close(array_x, A_OTHER, HA_READ, 5, 10); /* one more operation makes the list grow */
    write_range(array_x, A_FORK, 5, 10);
    HA_CHECK(ha_array_resize(array_x, 5));
    open_close(array_x, A, HA_WRITE, 0, HA_END); /* on the fast path: there is room in the list */
    HA_CHECK(ha_array_resize(array_x, 10));
    write_range(array_x, A, 5, 10);
    HA_CHECK(ha_array_free(array_x));
    return case_end();
}

/* ---- accesses to what lies behind the last element ----------------------------------------- */

/* They lock a range, and closing them notes it, so the larger block needs room for that. */
static int case_behind_the_last_element(void) {
    ha_access v, w;
    case_begin();
    array_x = ha_array_zeros(model_type, 3, context_at(A));
    HA_CHECK(ha_array_resize(array_x, 7));
    HA_CHECK(ha_open(&v, array_x, context_at(A), HA_READ, 7, HA_END));
    HA_CHECK(ha_open(&w, array_x, context_at(A_FORK), HA_READ, 7, HA_END));
    HA_CHECK(ha_array_prefetch(array_x, context_at(A), 0, 7));
    const char *broken = broken_array(array_x, 1);
    if (broken != NULL) model_fail("%s", broken);
    if (model.failed) return case_end(); /* closing would write somewhere */
    HA_CHECK(ha_close(&v));
    HA_CHECK(ha_close(&w));
    HA_CHECK(ha_array_free(array_x));
    return case_end();
}

/* ---- two events of one queue at once ------------------------------------------------------- */

/* While an event is recorded, y is used, closed and freed, which records a later one. */
static void free_y_meanwhile(const char *slot) {
    if (strcmp(slot, "record") != 0) return;
    order_disturb = NULL;
    model_become(1);
    write_all(&access_y, A);
    HA_CHECK(ha_close(&access_y));
    HA_CHECK(ha_array_free(array_y));
    model_become(0);
}

/* Nothing else would tell when y's block can go. */
static int case_later_event_first(void) {
    case_begin();
    array_x = zeros_at(A);
    array_y = zeros_at(A);
    write_range(array_x, A, 0, 10);
    model_become(1);
    HA_CHECK(ha_open(&access_y, array_y, context_at(A), HA_WRITE, 0, HA_END));
    model_become(0);
    order_disturb = free_y_meanwhile;
    open_close(array_x, A_FORK, HA_READ, 0, HA_END);
    world_idle();
    HA_CHECK(ha_array_free(array_x));
    return case_end();
}

/* ---- while a queue drains ------------------------------------------------------------------ */

static void use_y_meanwhile(const char *slot) {
    if (strcmp(slot, "drain") != 0) return;
    order_disturb = NULL;
    model_become(1);
    write_all(&access_y, A);
    HA_CHECK(ha_close(&access_y));
    model_become(0);
}

/* What was enqueued meanwhile is not done. */
static int case_work_while_draining(void) {
    case_begin();
    array_x = zeros_at(A);
    array_y = zeros_at(A);
    write_range(array_x, A, 0, 10);
    model_become(1);
    HA_CHECK(ha_open(&access_y, array_y, context_at(A), HA_WRITE, 0, HA_END));
    model_become(0);
    order_records_fail = 1;
    order_disturb = use_y_meanwhile;
    HA_CHECK(ha_array_free(array_x));
    order_records_fail = 0;
    write_range(array_y, A_FORK, 0, 10);
    HA_CHECK(ha_array_free(array_y));
    return case_end();
}

/* ---- a memory that is full ----------------------------------------------------------------- */

static ha_array *empty_at(int context) {
    ha_array *array = ha_array_new(model_type, 10, context_at(context));
    if (array == NULL) model_fail("no array: %s", ha_take_error().text);
    return array;
}

/* Of two blocks on their way back the one that comes first is waited for, not the other one. */
static int case_waiting_for_the_oldest(void) {
    case_begin();
    order_capacity = 3;
    array_x = empty_at(A);
    array_y = empty_at(A);
    ha_array *z = empty_at(A);
    write_range(array_x, A, 0, 10);
    HA_CHECK(ha_array_free(array_x));
    write_range(array_y, A, 0, 10);
    HA_CHECK(ha_array_free(array_y));
    array_x = empty_at(A);
    if (order_devices[0].blocks != 3 && !model.failed) model_fail("it waited for both blocks");
    if (array_x != NULL) HA_CHECK(ha_array_free(array_x));
    HA_CHECK(ha_array_free(z));
    return case_end();
}

/* ---- an opening that fails when others use what it brought --------------------------------- */

/* x is on its way to the host: another thread reads it there. Then the wait fails. */
static void read_x_meanwhile(const char *slot) {
    if (strcmp(slot, "record") != 0) return;
    order_disturb = NULL;
    model_become(1);
    HA_CHECK(ha_open(&access_x, array_x, ha_host(), HA_READ, 0, HA_END));
    model_become(0);
    order_fail_in = 1;
}

static int case_failing_with_others(void) {
    ha_access v;
    case_begin();
    array_x = zeros_at(A);
    order_disturb = read_x_meanwhile;
    const ha_status status = ha_open(&v, array_x, ha_host(), HA_READ, 0, HA_END);
    if (status != HA_ERR_BACKEND || ha_take_error().status != status)
        model_fail("%s instead of HA_ERR_BACKEND", ha_status_name(status));
    if (!ha_array_valid(array_x, ha_host(), 0, HA_END)) model_fail("an open access lost its data");
    model_become(1);
    HA_CHECK(ha_close(&access_x));
    model_become(0);
    HA_CHECK(ha_array_free(array_x));
    return case_end();
}

#endif
