/* Orders that random schedules meet only now and then, each made on purpose on the order backend.
 * What another thread does in the middle of a call stands in the function that is order_disturb. */
#ifndef HARRAY_TESTS_SCHEDULES_ORDER_CASES_H
#define HARRAY_TESTS_SCHEDULES_ORDER_CASES_H

#include "model_run.h"

/* Indices of order_world. */
enum { HOST, A, A_FORK, A_OTHER, B, B_FORK, D };

static ha_array *array_x, *array_y;
static ha_access access_x, access_y; /* of the second thread */

static ha_context *context_at(int index) { return model.context[index].context; }

/* shared: the devices that work on the host's memory, as order_shared. */
static void case_begin_shared(int shared) {
    script_begin(0, NULL, 0);
    world_begin(0, 0, shared);
    model.peers = order_peers = 0;
}

static void case_begin(void) { case_begin_shared(0); }

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

static void read_range(ha_array *array, int context, size_t first, size_t last) {
    ha_access v;
    HA_CHECK(ha_open(&v, array, context_at(context), HA_READ | HA_TRY, first, last));
    kernel k = {.n = (uint32_t)v.size, .from = (uint32_t *)v.data};
    kernel_touch(&k, v.data, 0);
    HA_CHECK(kernel_enqueue(&k, context));
    HA_CHECK(ha_close(&v));
}

static void write_range(ha_array *array, int context, size_t first, size_t last) {
    ha_access v;
    HA_CHECK(ha_open(&v, array, context_at(context), HA_WRITE | HA_TRY, first, last));
    write_all(&v, context);
    HA_CHECK(ha_close(&v));
}

/* A function that reads what an access covers. */
static void read_all(ha_array *array, int context) {
    ha_access v;
    HA_CHECK(ha_open(&v, array, context_at(context), HA_READ | HA_TRY, 0, HA_END));
    kernel k = {.n = (uint32_t)v.size, .from = (const uint32_t *)v.data};
    kernel_touch(&k, v.data, 0);
    HA_CHECK(kernel_enqueue(&k, context));
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

/* A block that an access needs to grow: there is one when the freed array's write is over. */
static int case_growing_when_full(void) {
    ha_access v;
    case_begin();
    forbid_caches();
    order_capacity = 2;
    array_x = empty_at(A);
    array_y = empty_at(A);
    write_range(array_y, A_OTHER, 0, 10);
    HA_CHECK(ha_open(&v, array_x, context_at(A), HA_OVERWRITE, 0, HA_END));
    HA_CHECK(ha_array_free(array_y));
    HA_CHECK(ha_access_resize(&v, 0)); /* nothing has to be copied */
    HA_CHECK(ha_access_resize(&v, 20));
    write_all(&v, A);
    HA_CHECK(ha_close(&v));
    HA_CHECK(ha_array_free(array_x));
    return case_end();
}

/* ---- a long list of operations -------------------------------------------------------------- */

enum { LONG = 40 };

/* Element k of those that are used one after the other, upwards or downwards. */
static size_t element_at(size_t k, int down) { return 2 * (down ? LONG - 1 - k : k); }

static void use_element(int context, size_t k, int down) {
    const size_t i = element_at(k, down);
    write_range(array_x, context, i, i + 1);
    read_range(array_x, context, i, i + 1);
}

/* The operations of a queue become one, which covers all of them: in range, in time, as a write. */
static void merge_operations(int down) {
    array_x = ha_array_new(model_type, (size_t)2 * LONG, context_at(A));
    for (size_t k = 0; k < LONG; k++) {
        use_element(A, k, down);
        if (k == 2) read_range(array_x, A_FORK, element_at(0, down), element_at(0, down) + 1);
    }
    read_range(array_x, A_FORK, element_at(8, down), element_at(8, down) + 1);
    write_range(array_x, A, element_at(0, down), element_at(0, down) + 1);
    HA_CHECK(ha_array_free(array_x));
}

static int case_merged_operations(void) {
    case_begin();
    merge_operations(0);
    merge_operations(1);
    return case_end();
}

/* ---- an open access to an array that is to grow ---------------------------------------------- */

/* The block grows before the access is open, as it must not move then. */
static int case_growing_before_opening(void) {
    ha_access v;
    case_begin();
    array_x = ha_array_zeros(model_type, 3, context_at(A));
    HA_CHECK(ha_array_resize(array_x, 7));
    HA_CHECK(ha_open(&v, array_x, context_at(A), HA_READ, 0, 3));
    HA_CHECK(ha_array_prefetch(array_x, context_at(A), 0, 7));
    if (ha_incarnation_find(array_x, v.context->memory)->data != v.data)
        model_fail("the block of an open access has moved");
    HA_CHECK(ha_close(&v));
    HA_CHECK(ha_array_free(array_x));
    return case_end();
}

/* ---- memory that is handed back ------------------------------------------------------------- */

/* A queue that cannot tell how far it is may still read it. */
static int case_unwrapping_without_events(void) {
    case_begin_shared(1);
    const ha_wrapped piece = {model_callers[0], ha_host(), 0};
    array_x = ha_array_wrap(model_type, 10, &piece, 1);
    read_range(array_x, A, 0, 10);
    order_records_fail = 1;
    HA_CHECK(ha_unwrap(array_x));
    order_records_fail = 0;
    hb_touch(HB_HOST, model_callers[0], 10 * sizeof(uint32_t), 1, "the caller's use");
    return case_end();
}

/* ---- work in an access that moves the block ------------------------------------------------ */

/* Made empty in between, the array has no values that would be copied, so nothing but the work that
 * was enqueued in the access keeps the old block. */
static int case_work_before_resizing(void) {
    ha_access v;
    case_begin();
    forbid_caches();
    array_x = empty_at(A);
    HA_CHECK(ha_open(&v, array_x, context_at(A), HA_OVERWRITE, 0, HA_END));
    write_all(&v, A);
    HA_CHECK(ha_access_resize(&v, 0));
    HA_CHECK(ha_access_resize(&v, 20));
    write_all(&v, A);
    HA_CHECK(ha_close(&v));
    HA_CHECK(ha_array_free(array_x));
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

/* ---- a token that is waited for while others read ------------------------------------------- */

/* Behind the position that the token has taken. */
static void use_x_meanwhile(const char *slot) {
    if (strcmp(slot, "finish") != 0) return;
    order_disturb = NULL;
    model_become(1);
    read_all(array_x, A);
    model_become(0);
}

/* The token's read is noted when the wait is over, with its own position: it must not take the
 * place of the read behind it, which nobody has waited for. */
static int case_reading_while_a_token_is_waited_for(void) {
    ha_access v;
    ha_token token = {NULL, NULL, 0};
    case_begin();
    array_x = zeros_at(A);
    HA_CHECK(ha_open(&v, array_x, context_at(A), HA_READ, 0, HA_END));
    HA_CHECK(ha_detach(&token, &v));
    order_disturb = use_x_meanwhile;
    HA_CHECK(ha_token_wait(&token));
    if (order_disturb != NULL) model_fail("nothing was waited for");
    write_range(array_x, A_FORK, 0, 10);
    HA_CHECK(ha_array_free(array_x));
    return case_end();
}

#endif
