/* The conflict table: what may be open at the same time, by one thread and by two.
 * On the contexts of support/matrix.h. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"
#include "../support/threads.h"

/* ---- the table ------------------------------------------------------------------------------ */

enum { N = 10 };
enum { SAME, OTHER }; /* context of the second access */
enum { OVERLAP, APART };

typedef struct verdict {
    unsigned first, second;
    int context, ranges;
    ha_status same_thread;
    ha_status other_thread; /* with HA_TRY; HA_ERR_BUSY means that HA_WAIT waits */
} verdict;

static const verdict table[] = {
    {HA_READ, HA_READ, SAME, OVERLAP, HA_OK, HA_OK},
    {HA_READ, HA_READ, SAME, APART, HA_OK, HA_OK},
    {HA_READ, HA_READ, OTHER, OVERLAP, HA_OK, HA_OK},
    {HA_READ, HA_READ, OTHER, APART, HA_OK, HA_OK},
    {HA_READ, HA_WRITE, SAME, OVERLAP, HA_OK, HA_ERR_BUSY},
    {HA_READ, HA_WRITE, SAME, APART, HA_OK, HA_OK},
    {HA_READ, HA_WRITE, OTHER, OVERLAP, HA_ERR_CONFLICT, HA_ERR_BUSY},
    {HA_READ, HA_WRITE, OTHER, APART, HA_OK, HA_OK},
    {HA_READ, HA_OVERWRITE, SAME, OVERLAP, HA_OK, HA_ERR_BUSY},
    {HA_READ, HA_OVERWRITE, SAME, APART, HA_OK, HA_OK},
    {HA_READ, HA_OVERWRITE, OTHER, OVERLAP, HA_ERR_CONFLICT, HA_ERR_BUSY},
    {HA_READ, HA_OVERWRITE, OTHER, APART, HA_OK, HA_OK},
    {HA_WRITE, HA_READ, SAME, OVERLAP, HA_ERR_CONFLICT, HA_ERR_BUSY},
    {HA_WRITE, HA_READ, SAME, APART, HA_OK, HA_OK},
    {HA_WRITE, HA_READ, OTHER, OVERLAP, HA_ERR_CONFLICT, HA_ERR_BUSY},
    {HA_WRITE, HA_READ, OTHER, APART, HA_OK, HA_OK},
    {HA_WRITE, HA_WRITE, SAME, OVERLAP, HA_ERR_CONFLICT, HA_ERR_BUSY},
    {HA_WRITE, HA_WRITE, SAME, APART, HA_OK, HA_OK},
    {HA_WRITE, HA_WRITE, OTHER, OVERLAP, HA_ERR_CONFLICT, HA_ERR_BUSY},
    {HA_WRITE, HA_WRITE, OTHER, APART, HA_OK, HA_OK},
    {HA_WRITE, HA_OVERWRITE, SAME, OVERLAP, HA_ERR_CONFLICT, HA_ERR_BUSY},
    {HA_WRITE, HA_OVERWRITE, SAME, APART, HA_OK, HA_OK},
    {HA_WRITE, HA_OVERWRITE, OTHER, OVERLAP, HA_ERR_CONFLICT, HA_ERR_BUSY},
    {HA_WRITE, HA_OVERWRITE, OTHER, APART, HA_OK, HA_OK},
    {HA_OVERWRITE, HA_READ, SAME, OVERLAP, HA_ERR_CONFLICT, HA_ERR_BUSY},
    {HA_OVERWRITE, HA_READ, SAME, APART, HA_OK, HA_OK},
    {HA_OVERWRITE, HA_READ, OTHER, OVERLAP, HA_ERR_CONFLICT, HA_ERR_BUSY},
    {HA_OVERWRITE, HA_READ, OTHER, APART, HA_OK, HA_OK},
    {HA_OVERWRITE, HA_WRITE, SAME, OVERLAP, HA_ERR_CONFLICT, HA_ERR_BUSY},
    {HA_OVERWRITE, HA_WRITE, SAME, APART, HA_OK, HA_OK},
    {HA_OVERWRITE, HA_WRITE, OTHER, OVERLAP, HA_ERR_CONFLICT, HA_ERR_BUSY},
    {HA_OVERWRITE, HA_WRITE, OTHER, APART, HA_OK, HA_OK},
    {HA_OVERWRITE, HA_OVERWRITE, SAME, OVERLAP, HA_ERR_CONFLICT, HA_ERR_BUSY},
    {HA_OVERWRITE, HA_OVERWRITE, SAME, APART, HA_OK, HA_OK},
    {HA_OVERWRITE, HA_OVERWRITE, OTHER, OVERLAP, HA_ERR_CONFLICT, HA_ERR_BUSY},
    {HA_OVERWRITE, HA_OVERWRITE, OTHER, APART, HA_OK, HA_OK},
};
enum { VERDICTS = sizeof table / sizeof *table };

/* The first access is on [2,6); these are the second's, with a range of size 0 and a touching one
 * among those that lie apart. */
static const ha_range overlapping[] = {{2, 6}, {0, 3}, {5, N}, {3, 4}, {0, HA_END}, {5, HA_END}};
static const ha_range apart[] = {{6, N}, {0, 2}, {6, HA_END}, {4, 4}, {9, N}};

typedef struct range_list {
    const ha_range *ranges;
    size_t count;
} range_list;

static range_list ranges_of(const verdict *v) {
    if (v->ranges == OVERLAP)
        return (range_list){overlapping, sizeof overlapping / sizeof(ha_range)};
    return (range_list){apart, sizeof apart / sizeof(ha_range)};
}

static ha_context *context_of(const verdict *v) { return v->context == SAME ? C : M1; }

static void judge(ha_status expected, ha_status actual, const verdict *v, ha_range range) {
    if (actual != expected)
        print_error("row %d, second range [%zu,%zu): %s\n", (int)(v - table), range.first,
                    range.last, ha_status_name(actual));
    assert_int_equal(actual, expected);
    assert_int_equal(ha_take_error().status, expected == HA_ERR_BUSY ? HA_OK : expected);
}

static void try_here(harray_double x, const verdict *v, ha_range range, unsigned extra) {
    ha_access a, b;
    const void *block;
    SUCCEEDS(ha_open(&a, x.array, C, v->first, 2, 6));
    block = a.data;
    judge(v->same_thread,
          ha_open(&b, x.array, context_of(v), v->second | extra, range.first, range.last), v,
          range);
    step();
    assert_ptr_equal(a.data, block);
    if (b.status == HA_OK) SUCCEEDS(ha_close(&b));
    SUCCEEDS(ha_close(&a));
}

TEST(one_thread) {
    harray_double x = ramp(N);
    for (const verdict *v = table; v < table + VERDICTS; v++) {
        const range_list list = ranges_of(v);
        for (size_t i = 0; i < list.count; i++) {
            try_here(x, v, list.ranges[i], HA_WAIT); /* never waits for itself */
            try_here(x, v, list.ranges[i], HA_TRY);
        }
    }
    drop(x);
}

TEST(two_threads_try) {
    harray_double x = ramp(N);
    for (const verdict *v = table; v < table + VERDICTS; v++) {
        const range_list list = ranges_of(v);
        for (size_t i = 0; i < list.count; i++) {
            ha_access a;
            SUCCEEDS(ha_open(&a, x.array, C, v->first, 2, 6));
            judge(v->other_thread,
                  open_elsewhere(x.array, context_of(v), v->second | HA_TRY, list.ranges[i].first,
                                 list.ranges[i].last),
                  v, list.ranges[i]);
            SUCCEEDS(ha_close(&a));
        }
    }
    drop(x);
}

/* Where HA_TRY finds it busy, HA_WAIT waits, and gets it when the first access closes. */
TEST(two_threads_wait) {
    harray_double x = ramp(N);
    for (const verdict *v = table; v < table + VERDICTS; v++) {
        const ha_range range = *ranges_of(v).ranges;
        const uint64_t sleeps = ha_test_sleeps_();
        ha_access a;
        opener o;
        SUCCEEDS(ha_open(&a, x.array, C, v->first, 2, 6));
        start_open(&o, x.array, context_of(v), v->second | HA_WAIT, range.first, range.last);
        if (v->other_thread == HA_ERR_BUSY) {
            until_asleep(sleeps + 1);
            assert_false(has_opened(&o));
            step();
        } else {
            judge(HA_OK, wait_opened(&o), v, range);
        }
        SUCCEEDS(ha_close(&a));
        judge(HA_OK, wait_opened(&o), v, range);
        finish(&o);
    }
    drop(x);
}

/* ---- D. one thread -------------------------------------------------------------------------- */

TEST(readers_everywhere) {
    ha_context *places[] = {H, C, M1, M2};
    harray_double x = list_at(C);
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 4; k++) {
            HA_READING(v, x, places[i]) {
                HA_READING(w, x, places[k])
                assert_int_equal(v.data == w.data, same_address(places[i], places[k]));
                else fail();
                step();
            }
            else fail();
        }
    }
    drop(x);
}

TEST(reading_and_writing_on_one_context) {
    harray_double x = list_at(C);
    HA_READING(v, x, C) {
        HA_WRITING(w, x, C) {
            assert_ptr_equal(v.data, w.data);
            add(&w, 1);
        }
        else fail();
        HA_OVERWRITING_ALL(w, x, C) assert_ptr_equal(v.data, w.data);
        else fail();
    }
    else fail();
    drop(x);
}

/* The values that the reader reads stay where they are, and the writer writes there. */
TEST(writing_in_place_of_what_is_read) {
    harray_double x = ramp(4);
    HA_READING(v, x, H) {
        HA_WRITING(w, x, H) for (size_t i = 0; i < 4; i++) w.data[i] = 2 * v.data[i];
        else fail();
    }
    else fail();
    VALUES(x, 0, 2, 4, 6);
    drop(x);
}

TEST(writing_elsewhere_than_reading) {
    harray_double x = list_at(C);
    HA_READING(v, x, C) {
        HA_WRITING(w, x, M1) fail();
        else REFUSED(HA_ERR_CONFLICT, w.status);
        HA_OVERWRITING(w, x, M1, 5) fail();
        else REFUSED(HA_ERR_CONFLICT, w.status);
    }
    else fail();
    assert_false(VALID(x, M1));
    VALUES(x, 5, 6, 2, 3, -5);
    drop(x);
}

TEST(nobody_beside_a_writer) {
    ha_context *places[] = {C, H, M1};
    harray_double x = list_at(C);
    HA_WRITING(v, x, C) {
        for (size_t i = 0; i < 3; i++) {
            HA_READING(w, x, places[i]) fail();
            else REFUSED(HA_ERR_CONFLICT, w.status);
            HA_WRITING(w, x, places[i]) fail();
            else REFUSED(HA_ERR_CONFLICT, w.status);
        }
        add(&v, 1); /* the access is as good as before */
    }
    else fail();
    VALUES(x, 6, 7, 3, 4, -4);
    drop(x);
}

TEST(no_resizing_under_a_reader) {
    harray_double x = list_at(C);
    HA_READING(v, x, C) {
        const double *block = v.data;
        HA_WRITING(w, x, C) {
            REFUSED(HA_ERR_CONFLICT, ha_access_resize(&w, 50));
            REFUSED(HA_ERR_CONFLICT, ha_access_resize(&w, 2));
            REFUSED(HA_ERR_CONFLICT, ha_access_reserve(&w, 50));
            REFUSED(HA_ERR_CONFLICT, ha_array_clear(x.array));
            assert_int_equal(w.size, 5);
            assert_ptr_equal(w.data, block);
        }
        else fail();
        HA_OVERWRITING(w, x, C, 6) fail(); /* would change the size */
        else REFUSED(HA_ERR_CONFLICT, w.status);
        HA_OVERWRITING(w, x, C, 5) assert_ptr_equal(w.data, block);
        else fail();
    }
    else fail();
    assert_int_equal(harray_double_size(x), 5);
    assert_int_equal(CAPACITY(x, C), 5);
    drop(x);
}

TEST(resizing_while_writing) {
    harray_double x = list_at(C);
    HA_WRITING(v, x, C) {
        SUCCEEDS(ha_access_resize(&v, 10));
        add(&v, 1);
    }
    else fail();
    HA_READING(v, x, H) {
        assert_int_equal(v.size, 10);
        assert_true(v.data[0] == 6 && v.data[3] == 4 && v.data[4] == -4);
    }
    else fail();
    drop(x);
}

TEST(nobody_beside_an_overwriter) {
    harray_double x = list_at(C);
    HA_OVERWRITING(v, x, C, 10) {
        HA_READING(w, x, C) fail();
        else REFUSED(HA_ERR_CONFLICT, w.status);
        HA_OVERWRITING(w, x, C, 10) fail();
        else REFUSED(HA_ERR_CONFLICT, w.status);
        fill(&v, 1);
    }
    else fail();
    assert_true(sum_at(x, H) == 10);
    drop(x);
}

TEST(writing_after_an_early_close) {
    harray_double x = keep(harray_double_new_at(0, C));
    HA_READING(v, x, C) {
        SUCCEEDS(ha_close(&v));
        HA_WRITING(w, x, C) {
            SUCCEEDS(ha_access_resize(&w, 10));
            fill(&w, 3);
        }
        else fail();
    }
    else fail();
    assert_true(sum_at(x, H) == 30);
    drop(x);
}

TEST(moving_after_an_early_close) {
    harray_double x = list_at(C);
    HA_READING(v, x, C) {
        SUCCEEDS(ha_close(&v));
        add_at(x, M1, 1);
    }
    else fail();
    VALUES(x, 6, 7, 3, 4, -4);
    drop(x);
}

/* An open that failed holds nothing. */
TEST(failed_open_holds_nothing) {
    harray_double x = keep(harray_double_new_at(3, C));
    HA_READING(v, x, C) fail();
    else REFUSED(HA_ERR_STATE, v.status);
    HA_OVERWRITING(v, x, C, SIZE_MAX / 16) fail();
    else REFUSED(HA_ERR_MEMORY, v.status);
    assert_int_equal(harray_double_size(x), 3);
    HA_READING_RANGE(v, x, C, 2, 9) fail();
    else REFUSED(HA_ERR_ARGUMENT, v.status);
    SUCCEEDS(harray_double_resize(x, 4));
    HA_OVERWRITING(v, x, M1, 2) fill(&v, 2);
    else fail();
    VALUES(x, 2, 2);
    drop(x);
}

/* A whole access excludes everything, also at size 0; an empty range excludes nothing. */
TEST(whole_accesses_of_nothing) {
    harray_double x = keep(harray_double_new_at(0, C));
    HA_WRITING(v, x, C) {
        HA_WRITING(w, x, C) fail();
        else REFUSED(HA_ERR_CONFLICT, w.status);
        HA_READING(w, x, M1) fail();
        else REFUSED(HA_ERR_CONFLICT, w.status);
        REFUSED(HA_ERR_BUSY, open_elsewhere(x.array, C, HA_READ | HA_TRY, 0, HA_END));
    }
    else fail();
    HA_WRITING_RANGE(v, x, C, 0, 0) {
        HA_WRITING_RANGE(w, x, M1, 0, 0) assert_int_equal(w.size, 0);
        else fail();
    }
    else fail();
    drop(x);
}

/* Overwriting with a new size concerns the whole array. */
TEST(overwrite_conflicts) {
    harray_double x = list_at(C);
    ha_access a;
    HA_READING_RANGE(v, x, C, 1, 2) {
        HA_OVERWRITING(w, x, C, 6) fail();
        else REFUSED(HA_ERR_CONFLICT, w.status);
    }
    else fail();
    HA_WRITING_RANGE(v, x, C, 1, 2) {
        REFUSED(HA_ERR_CONFLICT, ha_overwrite(&a, x.array, C, 6, HA_WAIT));
        REFUSED(HA_ERR_CONFLICT, ha_overwrite(&a, x.array, C, 5, HA_TRY));
    }
    else fail();
    VALUES(x, 5, 6, 2, 3, -5);
    drop(x);
}

/* Elements read or set without an access meet the accesses that are open. */
TEST(elements_meet_accesses) {
    double element = 0;
    harray_double x = list_at(C);
    HA_WRITING_RANGE(v, x, C, 1, 3) {
        REFUSED(HA_ERR_CONFLICT, harray_double_get(x, 1, &element));
        REFUSED(HA_ERR_CONFLICT, harray_double_set(x, 2, 9));
        SUCCEEDS(harray_double_get(x, 0, &element));
        SUCCEEDS(harray_double_set(x, 4, 9));
    }
    else fail();
    HA_READING(v, x, C) SUCCEEDS(harray_double_get(x, 4, &element));
    else fail();
    assert_true(element == 9);
    drop(x);
}

TEST(scopes_that_try) {
    harray_double x = list_at(C);
    opener o;
    start_open(&o, x.array, C, HA_WRITE, 0, HA_END);
    assert_int_equal(wait_opened(&o), HA_OK);
    HA_TRY_READING(v, x, C) fail();
    else REFUSED(HA_ERR_BUSY, v.status);
    HA_TRY_WRITING(v, x, C) fail();
    else REFUSED(HA_ERR_BUSY, v.status);
    HA_TRY_OVERWRITING(v, x, C, 5) fail();
    else REFUSED(HA_ERR_BUSY, v.status);
    finish(&o);
    HA_TRY_READING(v, x, C) step();
    else fail();
    HA_TRY_WRITING(v, x, C) add(&v, 1);
    else fail();
    HA_TRY_OVERWRITING(v, x, C, 2) fill(&v, 1);
    else fail();
    VALUES(x, 1, 1);
    drop(x);
}

TEST(bad_modes) {
    const unsigned bad[] = {3, 3 | HA_TRY, 8, 0x80000000u};
    harray_double x = list_at(C);
    ha_access a;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        REFUSED(HA_ERR_ARGUMENT, ha_open(&a, x.array, C, bad[i], 0, HA_END));
    REFUSED(HA_ERR_ARGUMENT, ha_open(&a, NULL, C, HA_READ, 0, HA_END));
    REFUSED(HA_ERR_ARGUMENT, ha_overwrite(&a, NULL, C, 3, HA_WAIT));
    const harray_double none = {0};
    HA_WRITING(v, none, C) fail();
    else REFUSED(HA_ERR_ARGUMENT, v.status);
    VALUES(x, 5, 6, 2, 3, -5);
    drop(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(one_thread),
        CASE(two_threads_try),
        CASE(two_threads_wait),
        CASE(readers_everywhere),
        CASE(reading_and_writing_on_one_context),
        CASE(writing_in_place_of_what_is_read),
        CASE(writing_elsewhere_than_reading),
        CASE(nobody_beside_a_writer),
        CASE(no_resizing_under_a_reader),
        CASE(resizing_while_writing),
        CASE(nobody_beside_an_overwriter),
        CASE(writing_after_an_early_close),
        CASE(moving_after_an_early_close),
        CASE(failed_open_holds_nothing),
        CASE(whole_accesses_of_nothing),
        CASE(overwrite_conflicts),
        CASE(elements_meet_accesses),
        CASE(scopes_that_try),
        CASE(bad_modes),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
