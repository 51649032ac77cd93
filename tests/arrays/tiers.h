/* Tests of tiers: what a memory has no room for goes to its next one, from a device to the host and from there to
 * file:0. Each begins with memories that nobody has used, and a file in a directory of its own. */
#ifndef HARRAY_TESTS_ARRAYS_TIERS_H
#define HARRAY_TESTS_ARRAYS_TIERS_H

#include "../support/least_blocks.h"
#include "../support/temporary_directory.h"

static ha_context *disk;

static inline void use_file(uint64_t capacity) {
    HA_CHECK(ha_file_configure(&(ha_file_options){.directory = directory, .capacity = capacity}));
    disk = require_context("file:0");
}

static inline int begin_tiers(void **state) {
    const int failed = begin_fresh(state);
    make_directory();
    use_file(64 * BYTES);
    HA_CHECK(ha_memory_set_tier(H, disk));
    return failed;
}

/* The directory must be empty: it is removed as such. */
static inline int end_tiers(void **state) {
    int failed = end_case(state) || ha_shutdown() != HA_OK;
    failed |= ha_file_configure(NULL) != HA_OK || rmdir(directory) != 0;
    if (failed) delete_directory();
    return failed;
}

#define TIERS(name) cmocka_unit_test_setup_teardown(name, begin_tiers, end_tiers)

/* Runs an array of such tests on every row but that of the file, and gives the number of failures. */
#define RUN_TIERS(tests)                                                                           \
    __extension__({                                                                                \
        int failed_tests_ = 0;                                                                     \
        for (size_t row_ = 0; row_ < MATRIX_ROWS; row_++) {                                        \
            row = &matrix[row_];                                                                   \
            if (!row_has(row, "disk:")) RUN_ON_ROW(failed_tests_, row, tests);                     \
        }                                                                                          \
        failed_tests_;                                                                             \
    })

static inline void budget_for(ha_context *c, size_t n) {
    SUCCEEDS(ha_memory_set_budget(c, room_for(n)));
}

/* Its memory on the host is the host's own, and not what a device pins: it is touched there first. */
static inline harray_double filled_at(double value, ha_context *c) {
    harray_double x = keep(harray_double_new_at(0, H));
    HA_OVERWRITING(v, x, c, N) fill(&v, value);
    else fail();
    return x;
}

static inline int is_at(harray_double x, ha_context *c) { return CAPACITY(x, c) > 0; }

static inline void expect_pressure(ha_context *c, uint64_t evictions, uint64_t written_back,
                                   uint64_t restored) {
    const ha_pressure p = ha_memory_pressure(c);
    assert_int_equal(p.evictions, evictions);
    assert_int_equal(p.evicted, evictions * BYTES);
    assert_int_equal(p.written_back, written_back * BYTES);
    assert_int_equal(p.restored, restored * BYTES);
}

static inline void expect_error(ha_status status, const char *text) {
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, status);
    if (!strstr(e.text, text)) fail_msg("'%s' is not in '%s'", text, e.text);
}

#endif
