/* Uses every public macro, in the subset that C11, C++17 and CUDA share. */
#include "user.h"

typedef struct point {
    double x, y;
} point;
HARRAY(point);
HARRAY(double); /* ready-made: making it again is harmless, also twice */
HARRAY(double);
HARRAY(int32_t);
HARRAY(half);
HARRAY(c64);

struct cell {
    int32_t level;
};
HARRAY_NAMED(cell, struct cell);

/* Each element + 1, on a queue. */
static void add_one(const ha_queue *queue, void *argument) {
    ha_write_double v = *(const ha_write_double *)argument;
    double *data = HA_HERE(queue, double, v.data);
    for (size_t i = 0; i < v.size; i++) data[i] += 1;
}

static int value_is(harray_double x, size_t index, double expected) {
    double value = 0;
    return harray_double_get(x, index, &value) == HA_OK && value >= expected && value <= expected;
}

static double first_of(harray_double x) {
    HA_READING(v, x, ha_host()) return v.data[0]; /* leaves the scope, which closes it */
    else return -1;
    return -2;
}

/* Loop scopes: left by the end, break and return; with and without else; nested. */
static int use_scopes(harray_double x, ha_context *context) {
    int failed = 0;
    HA_WRITING(v, x, context) HA_RUN(add_one, v);
    HA_WRITING_RANGE(v, x, context, 2, 4) { HA_RUN(add_one, v); }
    HA_READING(v, x, ha_host()) {
        HA_READING_RANGE(w, x, ha_host(), 2, HA_END)
        failed += w.first != 2 || w.data[0] < v.data[0];
        if (v.size == 10) break;
        failed++;
    }
    else failed++;
    HA_TRY_READING(v, x, context) failed += v.size != 10;
    else failed++;
    HA_TRY_WRITING(v, x, context) {
        HA_READING(w, x, context) failed++; /* written first: refused */
        else failed += w.status != HA_ERR_CONFLICT;
    }
    failed += ha_take_error().status != HA_ERR_CONFLICT;
    HA_OVERWRITING_RANGE(v, x, ha_host(), 0, 1) v.data[0] = 7;
    failed += first_of(x) < 7 || !value_is(x, 2, 2);
    HA_OVERWRITING_ALL(v, x, ha_host()) for (size_t i = 0; i < v.size; i++) v.data[i] = 0;
    HA_OVERWRITING(v, x, ha_host(), 5) for (size_t i = 0; i < v.size; i++) v.data[i] = (double)i;
    HA_TRY_OVERWRITING(v, x, context, 5) HA_RUN(add_one, v);
    return failed;
}

static int use_declarations(harray_double x) {
    int failed = 0;
    HA_ON(ha_host()) {
        HA_SCOPED_OVERWRITE(v, x, NULL, 8);
        failed += v.status != HA_OK || ha_access_capacity(&v) < 8;
        for (size_t i = 0; i < v.size; i++) v.data[i] = 1;
        failed += ha_access_reserve(&v, 16) != HA_OK || ha_access_resize(&v, 6) != HA_OK;
    }
    else failed++;
    {
        HA_SCOPED_WRITE(v, x, ha_host());
        failed += v.status != HA_OK || v.size != 6;
    }
    HA_SCOPED_READ(v, x, ha_host());
    return failed + (v.status != HA_OK || v.data[5] < 1);
}

static int use_functions(harray_double x, ha_context *context) {
    int failed = 0;
    ha_read_double v, w;
    ha_range range;
    failed += ha_array_prefetch(x.array, context, 0, HA_END) != HA_OK;
    failed += ha_open(&v, x.array, context, HA_READ, 1, 3) != HA_OK;
    failed += ha_move(&w, &v) != HA_OK || ha_close(&w) != HA_OK;
    failed += ha_overwrite(&v, x.array, context, 4, HA_WAIT) != HA_OK || ha_close(&v) != HA_OK;
    failed += ha_array_valid_ranges(x.array, context, &range, 1) != 1 || range.last != 4;
    HA_IGNORE(harray_double_set(x, 99, 0.0));
    failed += ha_take_error().status != HA_ERR_ARGUMENT;
    HA_CHECK(ha_context_finish(context));
    return failed;
}

/* Element types of the user's own, and one that comes ready-made. */
static int use_types(ha_context *context) {
    int failed = 0;
    point p = {1, 2};
    struct cell c = {3};
    harray_point points = harray_point_filled_at(3, p, context);
    harray_cell cells = harray_cell_of(1, &c);
    harray_half halves = harray_half_zeros(2);
    HA_READING(v, points, ha_host()) failed += v.data[2].y < 2;
    else failed++;
    HA_READING(v, cells, ha_host()) failed += v.data[0].level != 3;
    else failed++;
    HA_READING(v, halves, ha_host()) failed += v.data[1].bits != 0;
    else failed++;
    failed += harray_point_free(&points) != HA_OK || points.array;
    failed += harray_cell_free(&cells) != HA_OK;
    return failed + (harray_half_free(&halves) != HA_OK);
}

int use_everything(ha_context *context) {
    harray_double x = harray_double_zeros(10);
    int failed = use_scopes(x, context);
    failed += use_declarations(x);
    failed += use_functions(x, context);
    failed += use_types(context);
    return failed + (harray_double_free(&x) != HA_OK);
}
