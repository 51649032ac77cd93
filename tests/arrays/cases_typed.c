/* Typed arrays: HARRAY on ready-made and user types, all typed functions, and the ways out of
 * scopes. On the contexts of support/matrix.h. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"
#include "../support/threads.h"

typedef struct point {
    double x, y, z;
    int tag;
} point;
HARRAY(point);

struct cell {
    char bytes[3];
};
HARRAY_NAMED(cell, struct cell);

typedef double *pointer;
HARRAY(pointer);

/* On a ready-made type it does nothing, however often. */
HARRAY(double);
HARRAY(double);
HARRAY(half);
HARRAY(int);

/* As a header would do it whose type others share. */
#ifndef HA_HAS_point
#define HA_HAS_point
#else
#error "HA_HAS_point is the user's"
#endif

/* ---- element types -------------------------------------------------------------------------- */

static void shift_points(const ha_queue *queue, void *argument) {
    const ha_write_point *v = (const ha_write_point *)argument;
    point *data = HA_HERE(queue, point, v->data);
    for (size_t i = 0; i < v->size; i++) data[i].x += (double)(v->first + i);
}

TEST(user_struct) {
    const point one = {1, 2, 3, 4};
    harray_point x = harray_point_from(keep_array(harray_point_filled_at(5, one, C).array));
    assert_string_equal(ha_array_type(x.array).name, "point");
    assert_int_equal(ha_array_type(x.array).size, sizeof(point));
    HA_WRITING_RANGE(v, x, C, 1, 3) SUCCEEDS(HA_RUN(shift_points, v));
    else fail();
    HA_READING(v, x, H) {
        assert_int_equal(v.size, 5);
        assert_true(v.data[0].x == 1 && v.data[1].x == 2 && v.data[2].x == 3 && v.data[3].x == 1);
        assert_true(v.data[4].y == 2 && v.data[4].z == 3);
        assert_int_equal(v.data[2].tag, 4);
    }
    else fail();
    drop_array(x.array);
}

TEST(named_type) {
    const struct cell cells[] = {{"ab"}, {"cd"}, {"ef"}};
    struct cell got;
    harray_cell x = harray_cell_from(keep_array(harray_cell_of_at(3, cells, C).array));
    assert_string_equal(ha_array_type(x.array).name, "cell");
    assert_int_equal(ha_array_type(x.array).size, 3);
    SUCCEEDS(harray_cell_get(x, 1, &got));
    assert_string_equal(got.bytes, "cd");
    SUCCEEDS(harray_cell_set(x, 2, got));
    HA_READING(v, x, H) assert_string_equal(v.data[2].bytes, "cd");
    else fail();
    assert_int_equal(CAPACITY(x, C), 3);
    drop_array(x.array);
}

TEST(pointers_as_elements) {
    double target = 3;
    harray_pointer x = harray_pointer_from(
        keep_array(harray_pointer_filled_at(2, &target, C).array));
    HA_READING(v, x, H) assert_true(*v.data[1] == 3);
    else fail();
    drop_array(x.array);
}

TEST(half_and_complex) {
    const ha_half one = {0x3c00};
    const ha_c64 i = {0, 1};
    const ha_c128 z[] = {{1, 2}, {3, 4}};
    ha_half h;
    ha_c64 c;
    harray_half x = harray_half_from(keep_array(harray_half_filled_at(3, one, C).array));
    harray_c64 y = harray_c64_from(keep_array(harray_c64_filled_at(3, i, C).array));
    harray_c128 w = harray_c128_from(keep_array(harray_c128_of_at(2, z, C).array));
    assert_string_equal(ha_array_type(x.array).name, "half");
    assert_int_equal(ha_array_type(x.array).size, 2);
    assert_int_equal(ha_array_type(y.array).size, 8);
    assert_int_equal(ha_array_type(w.array).size, 16);
    SUCCEEDS(harray_half_get(x, 2, &h));
    assert_int_equal(h.bits, 0x3c00);
    SUCCEEDS(harray_c64_get(y, 1, &c));
    assert_true(c.re == 0 && c.im == 1);
    HA_READING(v, w, H) assert_true(v.data[1].re == 3 && v.data[1].im == 4);
    else fail();
    drop_array(x.array);
    drop_array(y.array);
    drop_array(w.array);
}

/* Every function of every ready-made type: bytes go round by the context. */
#define ROUND_TRIP(id, T)                                                                          \
    static void round_trip_##id(void) {                                                            \
        T values[2], got;                                                                          \
        memset(values, 0x41, sizeof values);                                                       \
        memset(&values[1], 0x42, sizeof *values);                                                  \
        assert_string_equal(harray_##id##_type().name, #id);                                       \
        assert_int_equal(harray_##id##_type().size, sizeof(T));                                    \
                                                                                                   \
        harray_##id x = harray_##id##_new(0), y = harray_##id##_new_at(1, C);                      \
        harray_##id z = harray_##id##_zeros(2), f = harray_##id##_filled(2, values[1]);            \
        harray_##id o = harray_##id##_of(2, values), a = harray_##id##_of_at(2, values, C);        \
        SUCCEEDS(harray_##id##_assign(x, a));                                                      \
        assert_int_equal(harray_##id##_size(x), 2);                                                \
        SUCCEEDS(harray_##id##_get(x, 1, &got));                                                   \
        assert_memory_equal(&got, &values[1], sizeof got);                                         \
        SUCCEEDS(harray_##id##_set(z, 0, values[0]));                                              \
        SUCCEEDS(harray_##id##_swap(z, f));                                                        \
        SUCCEEDS(harray_##id##_get(f, 0, &got));                                                   \
        assert_memory_equal(&got, &values[0], sizeof got);                                         \
        SUCCEEDS(harray_##id##_resize(y, 7));                                                      \
        assert_int_equal(harray_##id##_size(y), 7);                                                \
        harray_##id c = harray_##id##_copy(o), r = harray_##id##_retain(o);                        \
        harray_##id##_set_name(r, "r");                                                            \
        assert_string_equal(ha_array_name(o.array), "r");                                          \
        HA_WRITING(v, c, C) assert_int_equal(v.size, 2);                                           \
        HA_READING(v, c, H) assert_memory_equal(v.data, values, sizeof values);                    \
        harray_##id##_free(&o);                                                                    \
        assert_null(o.array);                                                                      \
        SUCCEEDS(harray_##id##_get(r, 0, &got));                                                   \
        harray_##id *all[] = {&x, &y, &z, &f, &a, &c, &r};                                         \
        for (size_t i = 0; i < 7; i++) assert_int_equal(harray_##id##_free(all[i]), HA_OK);        \
    }
HA_PREMADE_TYPES(ROUND_TRIP)

#define CALL_ROUND_TRIP(name, T) round_trip_##name();
TEST(every_ready_made_type) { HA_PREMADE_TYPES(CALL_ROUND_TRIP) }

/* A type whose size is known at run time only. */
static double added_up(harray_double_const x, ha_context *c) {
    double sum = -1;
    HA_READING(v, x, c) SUCCEEDS(ha_wait(&v));
    else fail();
    HA_READING(v, x, H) {
        sum = 0;
        for (size_t i = 0; i < v.size; i++) sum += v.data[i];
    }
    return sum;
}

/* Test_access_errors has what does not compile. */
TEST(for_reading_only) {
    const double values[] = {1, 2, 3, 4, 5, 6};
    harray_double x = keep(harray_double_of_at(6, values, M1));
    const harray_double_const kept = harray_double_reading(x);
    assert_true(added_up(kept, C) == 21);
    assert_ptr_equal(kept.array, x.array);
    HA_READING_RANGE(v, kept, C, 2, 4) assert_int_equal(v.size, 2);
    else fail();
    HA_READING_ANYWHERE(v, kept) assert_int_equal(v.size, 6);
    else fail();
    array_double_2 table = array_double_2_from(x, HA_DIM(2, 3));
    const array_double_2_const part = array_double_2_reading(
        array_double_2_part(table, HA_DIM(0, 1), HA_DIM(2, 3)));
    ha_read_double_2 r;
    SUCCEEDS(ha_open_view(&r, part, C, HA_READ));
    assert_int_equal(r.size, 4);
    SUCCEEDS(ha_close(&r));
    HA_READING(v, part, H) assert_true(HA_AT(v.span, 0, 1) == 3 && HA_AT(v.span, 1, 0) == 5);
    else fail();
    ha_access plain;
    unsigned how = HA_WRITE; /* which the compiler need not know */
    __asm__("" : "+r"(how));
    REFUSED(HA_ERR_ARGUMENT, ha_open_view(&plain, part, C, how));
    REFUSED(HA_ERR_ARGUMENT, ha_open_view(&plain, kept, C, how));
    SUCCEEDS(array_double_2_free(&table));
    drop(x);
}

TEST(untyped) {
    unsigned char value[7] = "abcdef", got[7] = {0};
    const ha_type type = {"seven bytes", 7};
    ha_array *x = keep_array(ha_array_filled(type, 9, value, C));
    value[0] = 'X';
    SUCCEEDS(ha_array_set(x, 8, value));
    SUCCEEDS(ha_array_get(x, 8, got));
    assert_string_equal((char *)got, "Xbcdef");
    SUCCEEDS(ha_array_get(x, 7, got));
    assert_string_equal((char *)got, "abcdef");
    ha_access a;
    SUCCEEDS(ha_open(&a, x, C, HA_WRITE, 2, 4));
    assert_int_equal(a.size, 2);
    assert_int_equal(ha_access_capacity(&a), 9);
    SUCCEEDS(ha_close(&a));
    drop_array(x);
}

/* ---- scopes --------------------------------------------------------------------------------- */

/* Nothing of the array is held. */
static void expect_free(harray_double x) {
    assert_int_equal(open_elsewhere(x.array, C, HA_WRITE | HA_TRY, 0, HA_END), HA_OK);
    step();
}

static int leave_by_return(harray_double x) {
    HA_READING(v, x, C) { HA_WRITING(w, x, C) return (int)(v.size + w.size); }
    return -1;
}

static int leave_by_goto(harray_double x) {
    int n = 0;
again:
    HA_WRITING(v, x, C) {
        if (n++ < 3) goto again;
        goto out;
    }
    return -1;
out:
    return n;
}

TEST(ways_out_of_scopes) {
    int ran = 0;
    harray_double x = list_at(C);
    HA_WRITING(v, x, C) {
        ran++;
        if (v.size == 5) break;
        fail();
    }
    else fail();
    expect_free(x);
    for (int i = 0; i < 3; i++) {
        HA_WRITING(v, x, C) {
            ran++;
            if (v.size == 5) continue; /* leaves the scope, not the loop's round */
            fail();
        }
        else fail();
        ran++;
        HA_READING(v, x, C) break; /* leaves the scope only */
    }
    assert_int_equal(ran, 1 + 3 * 2);
    expect_free(x);
    assert_int_equal(leave_by_return(x), 10);
    expect_free(x);
    assert_int_equal(leave_by_goto(x), 4);
    expect_free(x);
    drop(x);
}

TEST(nested_scopes) {
    harray_double x = list_at(C), y = list_at(M1);
    int ran = 0;
    HA_READING(a, x, C)
    HA_WRITING(b, y, C)
    HA_READING_RANGE(c, x, H, 0, 2)
    HA_READING(d, x, M1) {
        ran++;
        assert_int_equal(a.size + b.size + c.size + d.size, 17);
    }
    assert_int_equal(ran, 1);
    expect_free(x);
    expect_free(y);
    drop(x);
    drop(y);
}

/* The else branch runs when opening failed, and only then. */
TEST(else_branches) {
    int body = 0, other = 0;
    harray_double x = keep(harray_double_new_at(5, C));
    HA_READING(v, x, C) body++;
    else {
        other++;
        REFUSED(HA_ERR_STATE, v.status);
        assert_null(v.data);
        assert_null(v.array);
        assert_int_equal(v.size, 0);
    }
    HA_OVERWRITING(v, x, C, 5) {
        body++;
        fill(&v, 1);
    }
    else other++;
    HA_READING(v, x, C) {
        HA_WRITING(w, x, M1) body++;
        else REFUSED(HA_ERR_CONFLICT, w.status);
    }
    else other++;
    assert_int_equal(body, 1);
    assert_int_equal(other, 1);
    expect_free(x);
    drop(x);
}

TEST(closing_inside_a_scope) {
    harray_double x = list_at(C);
    HA_WRITING(v, x, C) {
        SUCCEEDS(ha_close(&v));
        expect_free(x);
        HA_READING(w, x, M1) step();
        else fail();
    }
    else fail();
    HA_READING(v, x, C) { /* moved out of the scope: stays open */
        ha_read_double w;
        SUCCEEDS(ha_move(&w, &v));
        REFUSED(HA_ERR_BUSY, open_elsewhere(x.array, C, HA_WRITE | HA_TRY, 0, HA_END));
        SUCCEEDS(ha_close(&w));
    }
    else fail();
    expect_free(x);
    drop(x);
}

static size_t read_to_the_end(harray_double x) {
    HA_SCOPED_READ(v, x, C);
    assert_int_equal(v.status, HA_OK);
    REFUSED(HA_ERR_BUSY, open_elsewhere(x.array, C, HA_WRITE | HA_TRY, 0, HA_END));
    return v.size;
}

TEST(declared_scopes) {
    harray_double x = list_at(C), none = keep(harray_double_new_at(3, C));
    assert_int_equal(read_to_the_end(x), 5);
    expect_free(x);
    {
        HA_SCOPED_WRITE(v, x, C);
        assert_int_equal(v.status, HA_OK);
        add(&v, 1);
        HA_SCOPED_READ(w, x, C);
        REFUSED(HA_ERR_CONFLICT, w.status);
    }
    expect_free(x);
    {
        HA_SCOPED_OVERWRITE(v, x, C, 2);
        assert_int_equal(v.status, HA_OK);
        fill(&v, 4);
    }
    expect_free(x);
    VALUES(x, 4, 4);
    {
        HA_SCOPED_READ(v, none, C);
        REFUSED(HA_ERR_STATE, v.status);
        assert_null(v.data);
    }
    expect_free(none);
    drop(x);
    drop(none);
}

/* HA_RUN's function gets a copy of the access, whatever becomes of the access. */
static void add_one(const ha_queue *queue, void *argument) {
    const ha_write_double *v = (const ha_write_double *)argument;
    double *data = HA_HERE(queue, double, v->data);
    for (size_t i = 0; i < v->size; i++) data[i] += 1;
}

TEST(run) {
    harray_double x = list_at(C);
    HA_WRITING(v, x, C) {
        SUCCEEDS(HA_RUN(add_one, v));
        SUCCEEDS(HA_RUN(add_one, v));
        assert_int_equal(v.status, HA_OK);
    }
    else fail();
    VALUES(x, 7, 8, 4, 5, -3);
    ha_write_double closed = {0};
    REFUSED(HA_ERR_STATE, HA_RUN(add_one, closed));
    assert_int_equal(closed.status, HA_ERR_STATE);
    drop(x);
}

/* ---- what an array says of itself ----------------------------------------------------------- */

static void expect_text(ha_array *array, const char *expected) {
    char text[1000], cut[10];
    const size_t length = ha_describe(array, text, sizeof text);
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(expected));
    assert_int_equal(ha_describe(array, NULL, 0), length);
    assert_int_equal(ha_describe(array, cut, sizeof cut), length);
    assert_memory_equal(cut, expected, sizeof cut - 1);
    assert_int_equal(cut[sizeof cut - 1], 0);
}

/* On a unified device the host's incarnation is the only one of both. */
static void expect_unified_described(harray_double x, ha_context *private) {
    expect_text(x.array, "double[6], version 1\n"
                         "  host       pinned, capacity 6, valid [0, 6)\n");
    harray_double_set_name(x, "speed");
    HA_WRITING_RANGE(v, x, private, 1, 2) step();
    else fail();
    SUCCEEDS(harray_double_resize(x, 20));
    SUCCEEDS(ha_array_reserve(x.array, H, 30));
    expect_text(x.array, "speed: double[20], version 3\n"
                         "  host       pinned, capacity 30, valid [0, 1) [2, 6)\n"
                         "  private:0  capacity 6, valid [1, 2)\n");
    drop(x);
}

/* The first incarnation, then the others, newest first. */
TEST(described) {
    ha_context *sim = require_context("sim:0"), *private = require_context("private:0");
    harray_double x = keep(harray_double_zeros_at(6, sim));
    if (shares_memory(sim)) {
        expect_unified_described(x, private);
        return;
    }
    expect_text(x.array, "double[6], version 1\n"
                         "  sim:0      capacity 6, valid [0, 6)\n");
    harray_double_set_name(x, "speed");
    (void)sum_range(x, H, 0, 2);
    expect_text(x.array, "speed: double[6], version 1\n"
                         "  sim:0      capacity 6, valid [0, 6)\n"
                         "  host       pinned, capacity 6, valid [0, 2)\n");
    HA_WRITING_RANGE(v, x, private, 1, 2) step();
    else fail();
    expect_text(x.array, "speed: double[6], version 2\n"
                         "  sim:0      capacity 6, valid [0, 1) [2, 6)\n"
                         "  host       pinned, capacity 6, valid [0, 1)\n"
                         "  private:0  capacity 6, valid [1, 2)\n");
    SUCCEEDS(harray_double_resize(x, 20));
    SUCCEEDS(ha_array_reserve(x.array, H, 30));
    expect_text(x.array, "speed: double[20], version 3\n"
                         "  sim:0      capacity 6, valid [0, 1) [2, 6)\n"
                         "  host       pinned, capacity 30, valid [0, 1)\n"
                         "  private:0  capacity 6, valid [1, 2)\n");
    SUCCEEDS(ha_array_clear(x.array));
    expect_text(x.array, "speed: double[0], version 4\n"
                         "  sim:0      capacity 6, valid nothing\n"
                         "  host       pinned, capacity 30, valid nothing\n"
                         "  private:0  capacity 6, valid nothing\n");
    drop(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(user_struct),
        CASE(named_type),
        CASE(pointers_as_elements),
        CASE(half_and_complex),
        CASE(every_ready_made_type),
        CASE(for_reading_only),
        CASE(untyped),
        CASE(ways_out_of_scopes),
        CASE(nested_scopes),
        CASE(else_branches),
        CASE(closing_inside_a_scope),
        CASE(declared_scopes),
        CASE(run),
        CASE(described),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
