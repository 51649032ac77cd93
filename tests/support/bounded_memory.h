/* Memories that are full: an allocator that gives no more than it is told to, and tests that each begin with
 * memories that nobody has used. */
#ifndef HARRAY_TESTS_SUPPORT_BOUNDED_MEMORY_H
#define HARRAY_TESTS_SUPPORT_BOUNDED_MEMORY_H

#include "matrix.h"
#include <pthread.h>

static const matrix_row *row; /* the one that tests run on */

static inline int begin_fresh(void **state) {
    HA_CHECK(ha_shutdown());
    enter_row(row);
    return begin_case(state);
}
#define FRESH(name) cmocka_unit_test_setup_teardown(name, begin_fresh, end_case)

/* Runs an array of such tests on every row, and adds the failures to `failed`. */
#define RUN_FRESH_ON_MATRIX(failed, tests)                                                         \
    for (size_t row_ = 0; row_ < MATRIX_ROWS; row_++) {                                            \
        row = &matrix[row_];                                                                       \
        RUN_ON_ROW(failed, row, tests);                                                            \
    }

static ha_context *pool_of; /* NULL: C */

static inline ha_memory *pool_memory(void) { return (pool_of ? pool_of : C)->memory; }

/* What the context's memory has, but no more than `most` bytes of it. */
typedef struct bounded {
    size_t most, used, blocks, calls;
    size_t failures;      /* so many calls from now on fail */
    int misaligned, lies; /* gives a block that is not aligned; NULL without an error */
    ha_status fails;
    void (*refused)(void); /* called when there is no room */
} bounded;

static pthread_mutex_t of_bounded = PTHREAD_MUTEX_INITIALIZER;

static inline ha_status bounded_make(bounded *b, size_t bytes, void **block) {
    const ha_memory *m = pool_memory();
    if (b->failures && b->failures--) return HA_ERR_MEMORY;
    ha_status s = ha_memory_table(m)->allocate(m->handle, bytes + 64, block);
    if (s) return s;
    if (b->misaligned) *block = (char *)*block + 1;
    b->used += bytes;
    b->blocks++;
    return HA_OK;
}

static inline ha_status bounded_allocate(void *user, size_t bytes, void **block) {
    bounded *b = (bounded *)user;
    pthread_mutex_lock(&of_bounded);
    b->calls++;
    const int full = bytes > b->most || b->used > b->most - bytes;
    ha_status s = b->fails;
    if (!s && !b->lies) s = full ? HA_ERR_MEMORY : bounded_make(b, bytes, block);
    pthread_mutex_unlock(&of_bounded);
    if (full && !b->fails && !b->lies && b->refused) b->refused();
    return s;
}

static inline void bounded_release(void *user, void *block, size_t bytes) {
    bounded *b = (bounded *)user;
    const ha_memory *m = pool_memory();
    pthread_mutex_lock(&of_bounded);
    b->used -= bytes;
    b->blocks--;
    pthread_mutex_unlock(&of_bounded);
    ha_memory_table(m)->release(m->handle, (char *)block - b->misaligned, bytes + 64);
}

static bounded pool;
static const ha_allocator bounded_allocator = {bounded_allocate, bounded_release, &pool};

static inline void use_pool(size_t most) {
    if (in_unified_row) skip(); /* it would serve the host, not what the device takes first */
    pool = (bounded){.most = most};
    SUCCEEDS(ha_memory_set_allocator(C, &bounded_allocator));
}

static inline void leave_pool(void) {
    SUCCEEDS(ha_context_finish(C)); /* else blocks that its queue may use are handed out still */
    SUCCEEDS(ha_memory_set_allocator(C, NULL));
    assert_int_equal(pool.blocks, 0);
    assert_int_equal(pool.used, 0);
}

#endif
