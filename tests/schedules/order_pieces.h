/* Chunks, and copies in pieces of which one fails: those before it are under way all the same. On the
 * device that copies no pieces in one go, and checked as in order_cases.h. */
#ifndef HARRAY_TESTS_SCHEDULES_ORDER_PIECES_H
#define HARRAY_TESTS_SCHEDULES_ORDER_PIECES_H

#include "order_cases.h"

static int copy_calls; /* before and after each copy */

static void fail_the_third_copy(const char *slot) {
    if (strcmp(slot, "copy") != 0 || ++copy_calls < 5) return;
    order_disturb = NULL;
    order_fail_in = 1;
}

/* Nothing is on its way, so nothing but these copies keeps what they use. */
static void begin_failing(void) {
    copy_calls = 0;
    HA_CHECK(ha_context_finish(context_at(D)));
    order_disturb = fail_the_third_copy;
}

static void expect_failure(ha_status status) {
    if (status != HA_ERR_BACKEND || ha_take_error().status != status)
        model_fail("%s instead of HA_ERR_BACKEND", ha_status_name(status));
    if (order_disturb != NULL) model_fail("there were no three copies");
}

static ha_status open_column(ha_access *v, ha_array *array, int context, unsigned how) {
    darray x = {.array = array, .type = HA_DTYPE_uint32_t, .rank = 2};
    x.extent[0] = 6;
    x.extent[1] = 1;
    x.stride[0] = 8;
    x.stride[1] = 1;
    return ha_open_darray(v, &x, context_at(context), how | HA_TRY, "a column", HA_SITE);
}

/* A table whose first column has values, at D alone. */
static ha_array *table_at_d(void) {
    ha_access v;
    const ha_shape shape = {.rank = 2, .extent = {6, 8}};
    ha_array *array = darray_make(HA_DTYPE_uint32_t, &shape, context_at(D)).array;
    HA_CHECK(open_column(&v, array, D, HA_OVERWRITE));
    HA_CHECK(ha_close(&v));
    return array;
}

static void fail_to_read_at(int context) {
    ha_access v;
    array_x = table_at_d();
    begin_failing();
    expect_failure(open_column(&v, array_x, context, HA_READ));
}

/* The block does not go back before. */
static int case_half_a_copy(void) {
    case_begin();
    forbid_caches();
    fail_to_read_at(HOST);
    HA_CHECK(ha_array_free(array_x));
    return case_end();
}

static void use_chunks(void) {
    case_begin();
    forbid_caches();
    order_least_host = HA_CHUNK_BYTES;
}

static int case_half_a_chunk(void) {
    use_chunks();
    fail_to_read_at(A);
    HA_CHECK(ha_array_free(array_x));
    return case_end();
}

/* Nobody else uses the chunk before. */
static int case_half_a_chunk_is_in_use(void) {
    use_chunks();
    fail_to_read_at(A);
    array_y = empty_at(B);
    write_range(array_y, B, 0, 10);
    read_all(array_y, A);
    HA_CHECK(ha_array_free(array_y));
    HA_CHECK(ha_array_free(array_x));
    return case_end();
}

/* There is one: it is filled when both writers are done, copied on when it is filled, and filled again
 * when it has been copied on. */
static int case_chunks_in_turn(void) {
    use_chunks();
    array_x = empty_at(B);
    array_y = empty_at(B);
    write_range(array_x, B, 0, 5);
    write_range(array_x, B_FORK, 5, 10);
    write_range(array_y, B, 0, 10);
    read_all(array_x, A);
    order_least_host = SIZE_MAX;
    read_all(array_y, A);
    HA_CHECK(ha_array_free(array_y));
    HA_CHECK(ha_array_free(array_x));
    return case_end();
}

/* What comes out of it overwrites what another queue may still read. */
static int case_chunks_over_readers(void) {
    use_chunks();
    array_x = empty_at(B);
    write_range(array_x, B, 0, 10);
    read_all(array_x, A);
    read_all(array_x, A_FORK);
    write_range(array_x, B, 0, 10);
    read_all(array_x, A);
    HA_CHECK(ha_array_free(array_x));
    return case_end();
}

/* The new block does not go back before. */
static int case_half_a_copied_block(void) {
    case_begin();
    forbid_caches();
    array_x = table_at_d();
    begin_failing();
    array_y = ha_array_copy(array_x);
    if (array_y != NULL) model_fail("a copy all the same");
    expect_failure(HA_ERR_BACKEND);
    HA_CHECK(ha_array_free(array_x));
    return case_end();
}

#endif
