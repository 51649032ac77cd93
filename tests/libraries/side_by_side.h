/* Libraries with harray inside, in one process: what one does must be nothing to the other. */
#ifndef SIDE_BY_SIDE_H
#define SIDE_BY_SIDE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "library.h"

/* Both have started with different options, and work is outstanding in both. `a` ends. */
static inline void work_side_by_side(const library *a, const library *b) {
    assert_ptr_not_equal(a->host(), b->host());
    assert_int_equal(a->start(3), 0); /* refused if a device were open already */
    assert_int_equal(b->start(5), 0);
    assert_int_equal(a->enqueue(), 0);
    assert_int_equal(b->enqueue(), 0);
    assert_int_equal(a->finish(), 0); /* while the device of b stands still */
    a->cause_error();
    assert_false(b->has_failed());
    assert_true(a->has_failed());
    assert_int_equal(a->enqueue(), 0);
    assert_int_equal(b->finish(), 0);
    assert_int_equal(b->enqueue(), 0);
    assert_int_equal(a->finish(), 0);
    assert_int_equal(a->end(), 0);
}

/* What is left to do for `b`: work is outstanding. */
static inline void go_on_alone(const library *b) {
    assert_int_equal(b->finish(), 0);
    assert_int_equal(b->enqueue(), 0);
    assert_int_equal(b->finish(), 0);
    assert_int_equal(b->end(), 0);
}

#endif
