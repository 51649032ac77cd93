/* Code for arrays of any of several types and ranks. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/refusals.h"

#include <stdbool.h>

HARRAY(bool);

HA_ARRAY(int32_t, 1);
HA_ARRAY(int32_t, 2);
HA_ARRAY(bool, 1);

/* clang-format off */
#define MINE(X, ...) DARRAY_STANDARD(X, __VA_ARGS__) X(int32_t, 2, __VA_ARGS__) X(bool, 1, __VA_ARGS__)
/* clang-format on */
#define ONE_ENTRY(X, ...) X(float, 2, __VA_ARGS__)
#define NO_ENTRY(X, ...)

static darray of_ones(ha_dtype type, int rank) {
    const int64_t extent[] = {2, 3, 4, 5, 6};
    darray x = darray_filled(type, rank, extent, ha_dvalue_of_double(1), ha_host());
    assert_non_null(x.array);
    return x;
}

static void drop(darray x) {
    assert_int_equal(darray_free(&x), HA_OK);
    assert_int_equal(ha_take_error().status, HA_OK);
}

/* Which body ran: bytes of an element, rank and extents; 0: none of them. */
static int visited(darray x) {
    int found = 0;
    DARRAY_VISIT(x, a, MINE, {
        const size_t dimensions[] = {sizeof a.extent / sizeof a.extent[0], sizeof(a_type)};
        found = (int)(100 * dimensions[1] + 10 * dimensions[0]);
        if (a.array == x.array && a.extent[0] == x.extent[0] && a.offset == x.offset) found++;
    })
    else {
        found = -1;
    }
    return found;
}

TEST(the_body_of_its_type_and_rank_runs) {
    static const struct {
        ha_dtype type;
        int rank, expected;
    } cases[] = {{HA_DTYPE_half, 1, 211},   {HA_DTYPE_half, 2, 221},    {HA_DTYPE_half, 3, 231},
                 {HA_DTYPE_half, 4, 241},   {HA_DTYPE_float, 1, 411},   {HA_DTYPE_float, 2, 421},
                 {HA_DTYPE_float, 3, 431},  {HA_DTYPE_float, 4, 441},   {HA_DTYPE_double, 1, 811},
                 {HA_DTYPE_double, 2, 821}, {HA_DTYPE_double, 3, 831},  {HA_DTYPE_double, 4, 841},
                 {HA_DTYPE_half, 0, -1},    {HA_DTYPE_double, 5, -1},   {HA_DTYPE_bfloat16, 1, -1},
                 {HA_DTYPE_int32_t, 1, -1}, {HA_DTYPE_int32_t, 2, 421}, {HA_DTYPE_bool, 1, 111}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        darray x = of_ones(cases[i].type, cases[i].rank);
        assert_int_equal(visited(x), cases[i].expected);
        drop(x);
    }
}

TEST(what_is_no_array_is_none_of_them) {
    const darray none = {.type = HA_DTYPE_double, .rank = 2};
    assert_int_equal(visited(none), -1);
    assert_int_equal(ha_take_error().status, HA_OK);
}

TEST(views_are_visited_as_they_are) {
    darray x = of_ones(HA_DTYPE_float, 2);
    int visits = 0;
    DARRAY_VISIT(darray_slice(x, 1, 2, HA_ALL, -2), a, ONE_ENTRY, {
        visits++;
        assert_int_equal(a.stride[1], -2);
        assert_int_equal(a.extent[1], 2);
    })
    assert_int_equal(visits, 1);
    drop(x);
}

static int calls;

static darray counted(darray x) {
    calls++;
    return x;
}

TEST(it_is_evaluated_once) {
    darray x = of_ones(HA_DTYPE_double, 1);
    calls = 0;
    DARRAY_VISIT(counted(x), a, MINE, { assert_int_equal(a.extent[0], 2); })
    else fail();
    assert_int_equal(calls, 1);
    drop(x);
}

TEST(elements_have_their_type) {
    darray x = of_ones(HA_DTYPE_float, 2);
    double sum = 0;
    DARRAY_VISIT(x, a, ONE_ENTRY, {
        HA_READING(v, darray_slice(x, 1, 1, HA_ALL, 1), ha_host()) sum += (double)v.size;
        HA_WRITING(v, a, ha_host()) {
            for (int64_t i = 0, j = 1; i < v.span.extent[0]; i++) HA_AT(v.span, i, j) = (a_type){7};
        }
        HA_READING(v, a, ha_host()) for (size_t i = 0; i < v.size; i++) sum += (double)v.data[i];
    })
    else {
        fail();
    }
    assert_true(sum == 4 + 4 + 14);
    drop(x);
}

static int leaves_by_return(darray x) {
    DARRAY_VISIT(x, a, DARRAY_STANDARD, { return (int)a.extent[0]; })
    else return -1;
    return -2;
}

TEST(left_by_break_continue_and_return) {
    darray x = of_ones(HA_DTYPE_half, 3), y = of_ones(HA_DTYPE_int8_t, 1);
    int rounds = 0, after = 0;
    for (int i = 0; i < 3; i++) {
        DARRAY_VISIT(x, a, DARRAY_STANDARD, {
            rounds++;
            if (i == 0) break;
            if (i == 1) continue;
            after++;
        })
        rounds += 10;
    }
    assert_int_equal(rounds, 33);
    assert_int_equal(after, 1);
    assert_int_equal(leaves_by_return(x), 2);
    assert_int_equal(leaves_by_return(y), -1);
    drop(x);
    drop(y);
}

TEST(visits_of_two_arrays) {
    darray x = of_ones(HA_DTYPE_double, 2), y = of_ones(HA_DTYPE_half, 1);
    size_t sizes = 0;
    DARRAY_VISIT(x, a, MINE, {
        DARRAY_VISIT(y, b, MINE, { sizes = 10 * sizeof(a_type) + sizeof(b_type); })
        else fail();
    })
    else fail();
    assert_int_equal(sizes, 82);
    drop(x);
    drop(y);
}

TEST(without_else_the_rest_does_nothing) {
    darray x = of_ones(HA_DTYPE_int32_t, 1);
    DARRAY_VISIT(x, a, DARRAY_STANDARD, { fail_msg("%d", (int)a.extent[0]); })
    DARRAY_VISIT(x, a, NO_ENTRY, { fail(); })
    else calls = 0;
    drop(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_body_of_its_type_and_rank_runs),
        cmocka_unit_test(what_is_no_array_is_none_of_them),
        cmocka_unit_test(views_are_visited_as_they_are),
        cmocka_unit_test(it_is_evaluated_once),
        cmocka_unit_test(elements_have_their_type),
        cmocka_unit_test(left_by_break_continue_and_return),
        cmocka_unit_test(visits_of_two_arrays),
        cmocka_unit_test(without_else_the_rest_does_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
