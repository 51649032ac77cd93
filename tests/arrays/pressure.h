/* Memories that are too small for what a program has, by an allocator that gives no more or by a budget.
 *
 * What other libraries' users have reported, and the tests that it does not happen here:
 *   1  under the limit each new buffer evicts another one     under_the_limit_nothing_gives_way, below_the_watermark
 *   2  a callback frees into the pool whose lock is held      controller_frees, controller_that_does_much, events
 *   3  restoring runs out of memory and enters itself         controller_that_does_much, not_under_an_access
 *   4  no buffers are left for evicting                       no_room_for_making_room
 *   5  a block is used again while a queue still reads it     not_under_a_queue
 *   6  freeing and changing state are apart                   found_and_freed_at_once, test_fuzz_threads
 *   7  two owners of one pointer                              memory_of_another_array (cases_wrap)
 *   8  less is evicted than is needed                         a_larger_one_takes_the_room_of_several, threads_take_turns
 *   9  evicting raises the peak                               budget, not_before_it_has_arrived
 *  10  the limit leaves out what is reserved                  budget: all that is handed out counts
 *  11  what never fits is tried for ever                      larger_than_all, too_many_at_once
 *  12  what was exposed once can never be evicted             not_under_a_token, holders_of_a_memory
 *  13  much is deferred, and then needed at once              too_many_at_once, threads_take_turns */
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
