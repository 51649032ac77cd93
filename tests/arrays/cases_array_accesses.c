/* Accesses to views of arrays of n dimensions, with scopes and without. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"
#include "numbers_of_arrays.h"

typedef struct point {
    double x, y;
} point;
HARRAY(point);
HA_ARRAY(point, 1);
HA_ARRAY(point, 2);

/* ---- accesses to views ---------------------------------------------------------------------- */

TEST(views_are_written_where_they_are) {
    array_double_2 x = numbered(3, 4, C);
    add_1000(array_double_2_slice(x, 1, HA_ALL, HA_ALL, -2), M1);
    NUMBERS(x, 0, 1001, 2, 1003, 100, 1101, 102, 1103, 200, 1201, 202, 1203);
    HA_OVERWRITING_ALL(v, array_double_2_transpose(array_double_2_slice(x, 0, 1, 2, 1)), M1)
    SUCCEEDS(HA_RUN(number_job, v));
    else fail();
    NUMBERS(x, 0, 1001, 2, 1003, 0, 100, 200, 300, 200, 1201, 202, 1203);
    add_1000(array_double_2_flip(array_double_2_part(x, HA_DIM(0, 0), HA_DIM(1, 2)), 1), C);
    NUMBERS(x, 1000, 2001, 2, 1003, 0, 100, 200, 300, 200, 1201, 202, 1203);
    drop_array(x.array);
}

TEST(a_box_moves_and_nothing_else) {
    array_double_2 x = numbered(6, 8, H);
    array_double_2 box = array_double_2_part(x, HA_DIM(1, 2), HA_DIM(4, 7));
    HA_READING(v, box, C) assert_int_equal(v.size, 15);
    else fail();
    assert_int_equal(ha_array_statistics(x.array).bytes, same_memory(H, C) ? 0 : 15 * 8);
    HA_OVERWRITING_ALL(v, array_double_2_slice(x, 0, 5, 6, 1), C) SUCCEEDS(HA_RUN(number_job, v));
    else fail();
    assert_int_equal(ha_array_statistics(x.array).bytes, same_memory(H, C) ? 0 : 15 * 8);
    HA_READING(v, array_double_2_fix(x, 0, 5), H) assert_true(HA_AT(v.span, 7) == 7);
    else fail();
    assert_int_equal(ha_array_statistics(x.array).bytes, same_memory(H, C) ? 0 : (15 + 8) * 8);
    drop_array(x.array);
}

/* Boxes beside each other, by one thread at two places; boxes that overlap, not. */
TEST(boxes_lock_what_they_cover) {
    array_double_2 x = numbered(4, 4, H);
    HA_WRITING(v, array_double_2_slice(x, 1, 0, 2, 1), H) {
        HA_WRITING(w, array_double_2_slice(x, 1, 2, 4, 1), C) step();
        else fail();
        HA_TRY_WRITING(w, array_double_2_slice(x, 1, 1, 3, 1), C) fail();
        else assert_int_equal(w.status, HA_ERR_CONFLICT);
        assert_int_equal(ha_take_error().status, HA_ERR_CONFLICT);
    }
    else fail();
    drop_array(x.array);
}

TEST(repeated_elements_are_for_reading) {
    const double values[] = {1, 2, 3};
    array_double_1 x = array_double_1_of(HA_DIM(3), values, C);
    const darray d = keep_darray(array_double_1_to_darray(x));
    const array_double_2 wide = array_double_2_broadcast(d, HA_DIM(2, 3));
    NUMBERS(wide, 1, 2, 3, 1, 2, 3);
    HA_WRITING(v, wide, C) fail();
    else {
        const ha_error e = ha_take_error();
        const ha_write_double_2 closed = {.status = HA_ERR_ARGUMENT};
        assert_int_equal(v.status, HA_ERR_ARGUMENT);
        assert_null(v.array);
        assert_null(v.span.data);
        assert_int_equal(v.span.extent[0], closed.span.extent[0]);
        assert_non_null(strstr(e.text, "can only be read"));
        assert_non_null(strstr(e.text, "double (2, 3)"));
        assert_non_null(strstr(e.text, "cases_array_accesses.c:"));
    }
    HA_OVERWRITING_ALL(v, darray_broadcast(d, 1, (int64_t[]){3}), H) assert_int_equal(v.size, 3);
    else fail();
    HA_TRY_OVERWRITING_ALL(v, wide, H) fail();
    else assert_int_equal(v.status, HA_ERR_ARGUMENT);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    drop_array(x.array);
}

TEST(ghost_cells) {
    const ha_shape shape = {
        .rank = 2, .extent = {2, 2}, .ghost_low = {1, 1}, .ghost_high = {1, 1}, .padding = {1, 3}};
    array_double_2 x = keep_2(array_double_2_make(&shape, C));
    HA_OVERWRITING_ALL(v, x, C) SUCCEEDS(HA_RUN(number_job, v));
    else fail();
    NUMBERS(x, -101, -100, -99, -98, -1, 0, 1, 2, 99, 100, 101, 102, 199, 200, 201, 202);
    NUMBERS(array_double_2_interior(x), 0, 1, 100, 101);
    add_1000(array_double_2_interior(x), M1);
    NUMBERS(x, -101, -100, -99, -98, -1, 1000, 1001, 2, 99, 1100, 1101, 102, 199, 200, 201, 202);
    HA_READING(v, array_double_2_fix(x, 1, -1), H) {
        assert_int_equal(v.span.origin[0], -1);
        assert_true(HA_AT(v.span, -1) == -101 && HA_AT(v.span, 2) == 199 && v.data[0] == -101);
    }
    else fail();
    drop_array(x.array);
}

TEST(every_way_to_open) {
    array_double_2 x = numbered(2, 3, H);
    const darray d = array_double_2_to_darray(x);
    HA_TRY_READING(v, array_double_2_fix(x, 1, 1), C) assert_int_equal(v.size, 2);
    else fail();
    HA_TRY_WRITING(v, array_double_2_fix(x, 1, 1), C) assert_int_equal(v.size, 2);
    else fail();
    HA_READING_ANYWHERE(v, array_double_2_transpose(x)) {
        assert_int_equal(v.size, 6);
        assert_int_equal(v.span.extent[0], 3);
    }
    else fail();
    HA_READING_ANYWHERE(v, (array_double_2_slice(x, 0, 0, 9, 1))) fail();
    else assert_int_equal(v.status, HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "0 to before 9"));
    {
        HA_SCOPED_READ(v, darray_fix(d, 0, 1), C);
        assert_int_equal(v.status, HA_OK);
        assert_int_equal(v.span.type, HA_DTYPE_double);
        assert_int_equal(v.span.rank, 1);
        assert_int_equal(v.first, 3);
    }
    {
        HA_SCOPED_OVERWRITE_ALL(v, d, C);
        HA_SCOPED_WRITE(w, d, C);
        assert_int_equal(v.status, HA_OK);
        assert_int_equal(w.status, HA_ERR_CONFLICT);
        assert_int_equal(ha_take_error().status, HA_ERR_CONFLICT);
    }
    HA_WRITING(v, (array_double_2_fix(x, 0, 5)), C) fail();
    else assert_int_equal(v.status, HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "5 in dimension 0"));
    drop_array(x.array);
}

TEST(opened_together) {
    array_double_2 x = numbered(2, 3, H), y = numbered(2, 3, H), part;
    ha_read_double_2 v = {.status = HA_OK};
    ha_write_double_2 w = {.status = HA_OK};
    const darray a = array_double_2_to_darray(x);
    part = array_double_2_slice(y, 1, 1, 3, 1);
    const darray b = array_double_2_to_darray(part);
    ha_request requests[] = {{.access = HA_ACCESS(&v), .context = C, .how = HA_READ, .view = &a},
                             {.access = HA_ACCESS(&w), .context = C, .how = HA_WRITE, .view = &b}};
    SUCCEEDS(ha_open_many(requests, 2));
    SUCCEEDS(ha_span_of(&v, x));
    SUCCEEDS(ha_span_of(&w, part));
    assert_ptr_equal(w.span.data, w.data);
    assert_int_equal(w.span.stride[0], 3);
    REFUSED(HA_ERR_ARGUMENT, ha_span_of(&w, x));
    REFUSED(HA_ERR_ARGUMENT, ha_span_of(&v, y));
    part = array_double_2_slice(y, 1, 0, 2, 1);
    REFUSED(HA_ERR_ARGUMENT, ha_span_of(&w, part));
    SUCCEEDS(ha_close(&v));
    SUCCEEDS(ha_close(&w));
    REFUSED(HA_ERR_ARGUMENT, ha_span_of(&v, x));
    drop_array(x.array);
    drop_array(y.array);
}

/* Its numbers are those of another view, with as many elements from the same one on. */
TEST(no_span_beyond_the_storage) {
    array_double_2 x = numbered(2, 3, H),
                   corner = array_double_2_part(x, HA_DIM(1, 1), HA_DIM(2, 3));
    ha_read_double_2 v = {.status = HA_OK};
    const darray view = array_double_2_to_darray(corner);
    ha_request request = {.access = HA_ACCESS(&v), .context = C, .how = HA_READ, .view = &view};
    SUCCEEDS(ha_open_many(&request, 1));
    SUCCEEDS(ha_span_of(&v, corner));
    corner.extent[0] = 2;
    corner.extent[1] = 1;
    REFUSED(HA_ERR_ARGUMENT, ha_span_of(&v, corner));
    assert_int_equal(v.span.extent[1], 2);
    SUCCEEDS(ha_close(&v));
    drop_array(x.array);
}

TEST(prefetched) {
    array_double_2 x = numbered(4, 4, H);
    const darray part = darray_slice(array_double_2_to_darray(x), 1, 1, 3, 1);
    SUCCEEDS(darray_prefetch(part, C));
    const uint64_t bytes = ha_array_statistics(x.array).bytes;
    assert_int_equal(bytes, same_memory(H, C) ? 0 : 64);
    HA_READING(v, part, C) assert_int_equal(ha_array_statistics(x.array).bytes, bytes);
    else fail();
    REFUSED(HA_ERR_ARGUMENT, darray_prefetch((darray){.rank = 0}, C));
    drop_array(x.array);
}

TEST(of_ones_own_type) {
    const point p = {1, 2};
    array_point_2 x = array_point_2_filled(HA_DIM(2, 2), p, C);
    keep_array(x.array);
    HA_WRITING(v, array_point_2_fix(x, 1, 0), H) HA_AT(v.span, 1).y = 5;
    else fail();
    HA_READING(v, x, H) assert_true(HA_AT(v.span, 1, 0).y == 5 && HA_AT(v.span, 1, 1).y == 2);
    else fail();
    HA_READING(v, array_point_2_to_darray(x), H) {
        assert_int_equal(v.span.type, HA_DTYPE_NONE);
        assert_true(((const point *)v.data)[2].y == 5);
    }
    else fail();
    drop_array(x.array);
}

/* ---- accesses without a scope ---------------------------------------------------------------- */

TEST(opened_without_a_scope) {
    array_double_2 x = keep_2(array_double_2_zeros(HA_DIM(3, 4), H));
    const array_double_2 part = array_double_2_part(x, HA_DIM(1, 1), HA_DIM(3, 3));
    const harray_double list = array_double_2_array(x);
    ha_write_double_2 w, moved;
    ha_read_darray r;
    ha_read_double all;
    SUCCEEDS(ha_open_view(&w, part, H, HA_WRITE));
    HA_AT(w.span, 1, 1) = 7;
    SUCCEEDS(ha_move(&moved, &w)); /* with its span */
    assert_null(w.span.data);
    HA_AT(moved.span, 0, 1) = 6;
    assert_int_equal(moved.span.extent[1], 2);
    REFUSED(HA_ERR_CONFLICT, ha_open_view(&r, array_double_2_to_darray(x), H, HA_READ));
    SUCCEEDS(ha_close(&moved));
    SUCCEEDS(ha_open_view(&r, array_double_2_to_darray(part), H, HA_READ));
    assert_int_equal(r.span.rank, 2);
    assert_int_equal(r.span.stride[0], 4);
    SUCCEEDS(ha_close(&r));
    SUCCEEDS(ha_open_view(&all, list, H, HA_READ));
    assert_int_equal(all.size, 12);
    assert_true(all.data[6] == 6 && all.data[10] == 7);
    SUCCEEDS(ha_close(&all));
    REFUSED(HA_ERR_ARGUMENT, ha_open_view(&w, array_double_2_flip(x, 2), H, HA_WRITE));
    drop_array(x.array);
}

/* The text of the error of the read that failed, and nothing has values now. */
static void is_missing(darray x, const char *part) {
    ha_read_darray v;
    char expected[80];
    snprintf(expected, sizeof expected, "elements %s were never written", part);
    assert_int_equal(ha_open_view(&v, x, C, HA_READ), HA_ERR_STATE);
    const ha_error e = ha_take_error();
    if (!strstr(e.text, expected)) fail_msg("%s: %s", expected, e.text);
}

/* By the indices of what was opened: a ghost's are below 0. */
TEST(missing_elements_by_their_indices) {
    const ha_shape shape = {
        .rank = 2, .extent = {2, 3}, .ghost_low = {1, 1}, .ghost_high = {1, 1}, .alignment = 64};
    darray x = darray_make(HA_DTYPE_double, &shape, H), flat;
    keep_array(x.array);
    HA_OVERWRITING_ALL(v, darray_slice(x, 0, 0, 3, 1), C) {} /* all but row -1 */
    is_missing(x, "[-1, 0) x [-1, 4)");
    is_missing(darray_transpose(x), "[-1, 4) x [-1, 0)");
    is_missing(darray_flip(x, 0), "[3, 4) x [-1, 4)");
    is_missing(darray_flip(x, 1), "[-1, 0) x [0, 5)");
    is_missing(darray_fix(x, 0, -1), "[-1, 4)");
    is_missing(darray_with_origin(x, (const int64_t[]){10, 20}), "[10, 11) x [20, 25)");
    is_missing(darray_slice(darray_fix(x, 1, 2), 0, -1, 2, 1), "[0, 1)");
    drop_array(x.array);
    harray_double list = harray_double_new(6);
    keep_array(list.array);
    flat = darray_from(list.array, 1, (const int64_t[]){6});
    HA_OVERWRITING_RANGE(v, list, H, 0, 4) {}
    is_missing(flat, "[4, 6)");
    is_missing(darray_flip(flat, 0), "[0, 2)");
    is_missing(darray_slice(flat, 0, 2, 6, 1), "[2, 4)");
    SUCCEEDS(darray_free(&flat));
    drop_array(list.array);
}

/* Nothing behind an access is written, whatever it is opened for. */
#define BEHIND(access)                                                                             \
    struct {                                                                                       \
        access v;                                                                                  \
        unsigned char behind[256];                                                                 \
    }
static void is_untouched(const unsigned char *behind) {
    for (int i = 0; i < 256; i++) assert_int_equal(behind[i], 0xA5);
}

TEST(opened_without_a_span) {
    array_double_2 x = keep_2(array_double_2_zeros(HA_DIM(3, 4), H));
    BEHIND(ha_access) plain;
    memset(&plain, 0xA5, sizeof plain);
    SUCCEEDS(ha_open_view(&plain.v, x, H, HA_WRITE));
    assert_int_equal(plain.v.size, 12);
    REFUSED(HA_ERR_ARGUMENT, ha_span_of_(&plain.v, sizeof plain.v, &x, sizeof x));
    assert_int_equal(plain.v.size, 12); /* still open */
    SUCCEEDS(ha_close(&plain.v));
    SUCCEEDS(ha_open_view(&plain.v, array_double_2_to_darray(x), C, HA_READ));
    SUCCEEDS(ha_close(&plain.v));
    SUCCEEDS(ha_open_view(&plain.v, array_double_2_array(x), C, HA_READ));
    SUCCEEDS(ha_close(&plain.v));
    is_untouched(plain.behind);
    drop_array(x.array);
}

/* The compiler refuses them (test_access_errors), unless a pointer was cast. */
TEST(opened_by_another_type) {
    array_double_2 x = keep_2(array_double_2_zeros(HA_DIM(3, 4), H));
    const darray d = array_double_2_to_darray(x);
    BEHIND(ha_write_double_1) small;
    BEHIND(ha_write_double_2) fitting;
    memset(&small, 0xA5, sizeof small);
    REFUSED(HA_ERR_ARGUMENT,
            ha_open_any_(HA_ACCESS(&small.v), sizeof small.v, &x, sizeof x, H, HA_READ, "here"));
    assert_null(small.v.array);
    assert_int_equal(small.v.status, HA_ERR_ARGUMENT);
    REFUSED(HA_ERR_ARGUMENT,
            ha_open_any_(HA_ACCESS(&small.v), sizeof small.v, &d, sizeof d, H, HA_READ, "here"));
    REFUSED(HA_ERR_ARGUMENT,
            ha_read_anywhere_any_(HA_ACCESS(&small.v), sizeof small.v, &x, sizeof x, "here"));
    is_untouched(small.behind);
    memset(&fitting, 0xA5, sizeof fitting);
    SUCCEEDS(ha_open_view(&fitting.v, x, H, HA_WRITE)); /* nobody else has it */
    REFUSED(HA_ERR_ARGUMENT, ha_span_of_(HA_ACCESS(&fitting.v), sizeof fitting.v, &d, sizeof d));
    SUCCEEDS(ha_close(&fitting.v));
    is_untouched(fitting.behind);
    drop_array(x.array);
}

/* Also where the compiler does not know what it is opened for. */
TEST(opened_to_read_for_writing) {
    array_double_2 x = keep_2(array_double_2_zeros(HA_DIM(3, 4), H));
    const harray_double list = array_double_2_array(x);
    static volatile unsigned write = HA_WRITE, overwrite_at_once = HA_OVERWRITE | HA_TRY;
    ha_read_double_2 v;
    ha_read_double of_list;
    const uint64_t version = ha_array_version(x.array);
    REFUSED(HA_ERR_ARGUMENT, ha_open_view(&v, x, H, write));
    REFUSED(HA_ERR_ARGUMENT, ha_open_view(&v, x, H, overwrite_at_once));
    assert_null(v.array);
    assert_int_equal(ha_open_view(&of_list, list, H, write), HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "of a type to read"));
    assert_true(ha_array_version(x.array) == version);
    write = HA_READ | HA_TRY;
    SUCCEEDS(ha_open_view(&v, x, H, write));
    SUCCEEDS(ha_close(&v));
    write = HA_WRITE;
    drop_array(x.array);
}

TEST(moved_without_its_span) {
    array_double_2 x = keep_2(array_double_2_zeros(HA_DIM(3, 4), H));
    ha_access plain;
    ha_write_double_2 v, w;
    SUCCEEDS(ha_open_view(&v, x, H, HA_WRITE));
    SUCCEEDS(ha_move(&plain, &v)); /* there is no room for it */
    assert_null(v.span.data);
    w.span.data = plain.data;
    SUCCEEDS(ha_move(&w, &plain));
    assert_null(w.span.data); /* not what was there before */
    SUCCEEDS(ha_span_of(&w, x));
    assert_ptr_equal(w.span.data, w.data);
    SUCCEEDS(ha_close(&w));
    drop_array(x.array);
}

/* What a typed function does is told under its name: it has no line of its own. */
TEST(names_of_typed_functions) {
    array_double_2 x = keep_2(array_double_2_zeros(HA_DIM(3, 4), H));
    int equal;
    array_double_2_set_name(x, "x");
    assert_string_equal(ha_array_name(x.array), "x");
    HA_WRITING(v, x, H) {
        (void)v;
        assert_int_equal(array_double_2_copy(x, x, H), HA_ERR_CONFLICT);
        assert_non_null(strstr(ha_take_error().text, "array_double_2_copy: array 'x'"));
        assert_int_equal(array_double_2_fill(x, 1, H), HA_ERR_CONFLICT);
        assert_non_null(strstr(ha_take_error().text, "array_double_2_fill: array 'x'"));
        assert_int_equal(array_double_2_equal(x, x, &equal), HA_ERR_CONFLICT);
        assert_non_null(strstr(ha_take_error().text, "array_double_2_equal: array 'x'"));
    }
    else fail();
    drop_array(x.array);
}

TEST(wrapped_and_handed_back) {
    double memory[6] = {1, 2, 3, 4, 5, 6};
    array_double_2 x = array_double_2_wrap(memory, HA_DIM(2, 3), H);
    add_1000(x, C);
    SUCCEEDS(array_double_2_sync(x));
    assert_true(memory[5] == 1006);
    add_1000(x, C);
    HA_READING(v, x, H) {
        (void)v;
        assert_int_equal(array_double_2_unwrap(&x), HA_ERR_CONFLICT);
        assert_int_equal(ha_take_error().status, HA_ERR_CONFLICT);
    }
    else fail();
    assert_non_null(x.array);
    SUCCEEDS(array_double_2_unwrap(&x));
    assert_null(x.array);
    assert_true(memory[0] == 2001);
    HA_READING(v, x, H) fail();
    else assert_int_equal(v.status, HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "no array: it was freed, or refused"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(views_are_written_where_they_are),
        CASE(a_box_moves_and_nothing_else),
        CASE(boxes_lock_what_they_cover),
        CASE(repeated_elements_are_for_reading),
        CASE(ghost_cells),
        CASE(every_way_to_open),
        CASE(opened_together),
        CASE(no_span_beyond_the_storage),
        CASE(prefetched),
        CASE(of_ones_own_type),
        CASE(opened_without_a_scope),
        CASE(missing_elements_by_their_indices),
        CASE(opened_without_a_span),
        CASE(opened_by_another_type),
        CASE(opened_to_read_for_writing),
        CASE(moved_without_its_span),
        CASE(names_of_typed_functions),
        CASE(wrapped_and_handed_back),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
