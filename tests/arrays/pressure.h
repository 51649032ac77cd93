/* Memories that are too small for what a program has, by an allocator that gives no more or by a budget. */
#ifndef HARRAY_TESTS_ARRAYS_PRESSURE_H
#define HARRAY_TESTS_ARRAYS_PRESSURE_H

#include "../support/least_blocks.h"
#include "../support/threads.h"

/* A pool for so many arrays, and half of one. */
static inline void use_room_for(size_t n) {
    if (shares_memory(C)) skip();
    use_pool(room_for(n));
}

static inline void drop_all(void) {
    drop_arrays();
    leave_pool();
}

static inline harray_double filled_at(double value, ha_context *c) {
    harray_double x = keep(harray_double_new_at(0, c));
    HA_OVERWRITING(v, x, c, N) fill(&v, value);
    else fail();
    return x;
}

static inline int is_there(harray_double x) { return CAPACITY(x, C) > 0; }

static inline uint64_t drops(void) { return ha_memory_pressure(C).evictions; }
static inline uint64_t written_back(void) { return ha_memory_pressure(C).written_back; }

/* Opens x for reading at C, for which there is no memory. The text of the error. */
static inline ha_error refused_at(harray_double x) {
    ha_read_double v;
    assert_int_equal(ha_open(&v, x.array, C, HA_READ, 0, HA_END), HA_ERR_MEMORY);
    const ha_error error = ha_take_error();
    assert_int_equal(error.status, HA_ERR_MEMORY);
    step();
    return error;
}

/* A budget for so many arrays, and half of one. */
static inline void budget_for(size_t n) {
    if (shares_memory(C)) skip();
    SUCCEEDS(ha_memory_set_budget(C, room_for(n)));
}

static inline void drop_all_of_budget(void) {
    assert_true(ha_context_memory(C).high_water >= ha_context_memory(C).handed_out);
    drop_arrays();
    SUCCEEDS(ha_memory_set_budget(C, 0));
}

#endif
