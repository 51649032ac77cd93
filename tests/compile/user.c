/* Uses every public macro, in the subset that C11, C++17 and CUDA share. */
#include "user.h"

#include "numbers.h"

typedef struct point {
    double x, y;
} point;
HARRAY(point);
HARRAY(double); /* ready-made: making it again is harmless, also twice */
HARRAY(double);
HARRAY(int32_t);
HARRAY(half);
HARRAY(bfloat16);
HARRAY(c64);

HA_ARRAY(point, 1);
HA_ARRAY(point, 2);
HA_ARRAY(double, 2); /* ready-made, too */
HA_ARRAY(double, 5);
HA_ARRAY(c64, 1);

struct cell {
    int32_t level;
};
HARRAY_NAMED(cell, struct cell);
HA_ARRAY_NAMED(cell, struct cell, 1);

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
    HA_FROM(HA_SITE) HA_IGNORE(harray_double_set(x, 99, 0.0));
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

/* Numbers only: of any rank, and of a fixed one. */
static int use_extents(void) {
    const int64_t extent[] = {3, 4};
    int64_t stride[2], index[2], linear = 0;
    ha_dim2 d = ha_dim2_of(3, 4), natural;
    int failed = ha_extents_strides(2, extent, HA_ROW_MAJOR, stride) != HA_OK;
    failed += ha_index_of_linear(2, 7, extent, HA_ROW_MAJOR, index) != HA_OK;
    failed += !ha_contained(2, index, extent) || ha_offset(2, index, stride) != 7;
    failed += ha_dim2_strides(d, HA_COLUMN_MAJOR, &natural) != HA_OK;
    failed += !ha_dim2_equal(natural, ha_dim2_of(1, 3));
    failed += ha_dim2_linear(ha_dim2_of(2, 3), d, HA_COLUMN_MAJOR, &linear) != HA_OK;
    failed += linear != 11 || ha_dim2_offset(ha_dim2_of(2, 3), natural) != 11;
    return failed + (ha_dim4_contained(ha_dim4_all(1), ha_dim4_of(2, 2, 2, 1)) != 0);
}

/* Values whose type is known at run time. */
static int use_values(void) {
    ha_dvalue x = ha_dvalue_of_double(2.5), y;
    ha_dtype type = HA_DTYPE_NONE;
    int failed = ha_dvalue_convert(x, HA_DTYPE_half, &y) != HA_OK || !ha_dvalue_equal(x, y);
    failed += ha_dvalue_store(y, HA_DTYPE_float, &x.as_float) != HA_OK || x.as_float < 2.5f;
    ha_npy_header header = {HA_DTYPE_half, 0, HA_ROW_MAJOR, 1, {3}, 0}, parsed;
    char text[HA_NPY_MOST_BYTES];
    failed += ha_npy_print(&header, text, sizeof text) != HA_OK;
    failed += ha_npy_parse(text, header.bytes, &parsed) != HA_OK || parsed.extent[0] != 3;
    failed += ha_dtype_find("c64", &type) != HA_OK || ha_dtype_kind(type) != HA_KIND_COMPLEX;
    return failed + ha_dvalue_less(ha_dvalue_of_bool(1), ha_dvalue_of_uint8_t(1));
}

#define FLOATS(X, ...) X(float, 1, __VA_ARGS__) X(float, 2, __VA_ARGS__)

/* Arrays whose type and rank are known at run time. */
static int use_visit(void) {
    const int64_t extent[] = {2, 3};
    darray x = darray_zeros(HA_DTYPE_float, 2, extent, ha_host());
    darray y = darray_fix(x, 0, 1);
    int bodies = 0;
    DARRAY_VISIT(x, a, DARRAY_STANDARD, {
        const size_t element = sizeof(a_type), other = sizeof(float);
        DARRAY_VISIT(y, b, FLOATS, { bodies += element == other && a.array == b.array; })
        else bodies = 9;
    })
    else {
        bodies = 9;
    }
    return (bodies != 1) + (darray_free(&x) != HA_OK);
}

/* An array handed out, and taken again. */
static int use_exchange(ha_context *context) {
    const int64_t extent[] = {2, 3};
    int failed = 0;
    ha_dl_managed_tensor_versioned *tensor;
    ha_dl_managed_tensor *older;
    darray x = darray_zeros(HA_DTYPE_float, 2, extent, context), y;
    failed += darray_to_dlpack(x, ha_host(), HA_READ, HA_DL_STREAM_LEGACY, &tensor) != HA_OK;
    failed += tensor->flags != HA_DL_READ_ONLY || tensor->dl_tensor.dtype.code != HA_DL_FLOAT;
    y = darray_from_dlpack(tensor, HA_NULL_);
    failed += darray_free(&y) != HA_OK;
    failed += darray_to_dlpack_legacy(x, ha_host(), HA_WRITE, HA_DL_STREAM_NONE, &older) != HA_OK;
    older->deleter(older);
    HA_WRITING(v, x, ha_host()) {
        ha_array_interface i;
        ha_cuda_array_interface j;
        ha_sycl_usm_array_interface k;
        failed += darray_to_array_interface(x, &v, &i) != HA_OK || i.strides[0] != 12;
        failed += darray_to_cuda_array_interface(x, &v, &j) != HA_ERR_ARGUMENT;
        failed += darray_to_sycl_usm_array_interface(x, &v, &k) != HA_OK || k.strides[0] != 3;
        y = darray_from_array_interface(&i);
    }
    failed += ha_take_error().status != HA_ERR_ARGUMENT;
    failed += darray_free(&y) != HA_OK;
    return failed + (darray_free(&x) != HA_OK);
}

/* Each element of a view + 1, on a queue. */
static void add_one_to_view(const ha_queue *queue, void *argument) {
    ha_write_double_2 v = *(const ha_write_double_2 *)argument;
    const span_double_2 s = span_double_2_here(queue, v.span);
    for (int64_t i = 0; i < s.extent[0]; i++)
        for (int64_t j = 0; j < s.extent[1]; j++) HA_AT(s, i, j) += 1;
}

/* The accesses of arrays of n dimensions: scopes, and declarations. */
static int use_view_accesses(array_double_2 a, ha_context *context) {
    int failed = 0;
    ha_read_double_2 read;
    failed += ha_open_view(&read, a, ha_host(), HA_READ) != HA_OK || HA_AT(read.span, 0, 0) > 0;
    failed += ha_span_of(&read, a) != HA_OK || ha_close(&read) != HA_OK;
    darray d = array_double_2_to_darray(a);
    HA_READING(v, HA_DARRAY(a), ha_host()) failed += v.size != 12;
    else failed++;
    HA_OVERWRITING_ALL(v, a, ha_host()) {
        for (int i = 0; i < 3; i++)
            for (size_t j = 0; j < 4; j++) HA_AT(v.span, i, j) = 10 * i + (double)j;
    }
    else failed++;
    HA_WRITING(v, array_double_2_slice(a, 1, HA_ALL, HA_ALL, -2), context)
    HA_RUN(add_one_to_view, v);
    HA_READING(v, array_double_2_fix(a, 0, 2), ha_host()) {
        failed += v.size != 4 || HA_AT(v.span, 3) < 24 || HA_AT(v.span, 2) > 22;
    }
    else failed++;
    HA_TRY_READING(v, darray_transpose(d), ha_host())
    failed += v.span.rank != 2 || v.span.extent[0] != 4 || v.span.type != HA_DTYPE_double;
    else failed++;
    HA_TRY_WRITING(v, d, context) failed += v.span.data == HA_NULL_;
    HA_TRY_OVERWRITING_ALL(v, darray_fix(d, 0, 0), context) failed += v.size != 4;
    {
        HA_SCOPED_OVERWRITE_ALL(v, a, ha_host());
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++) HA_AT(v.span, i, j) = 1;
    }
    HA_SCOPED_WRITE(w, a, ha_host());
    failed += w.status != HA_OK || w.size != 12;
    failed += ha_close(&w) != HA_OK;
    HA_SCOPED_READ(v, a, ha_host());
    cspan_double_2 s = v.span;
    return failed + (HA_AT(s, 2, 3) < 1 || HA_AT(s, 2, 3) > 1);
}

static int use_arrays(ha_context *context) {
    const double values[] = {1, 2, 3, 4, 5, 6};
    const point p = {1, 2};
    array_double_2 a = array_double_2_zeros(HA_DIM(3, 4), context);
    array_double_1 line = array_double_1_of(HA_DIM(6), values, context);
    array_double_3 folded = array_double_3_reshape(array_double_1_to_darray(line), HA_DIM(1, 2, 3));
    array_double_5 five = array_double_5_new(HA_DIM(1, 2, 3, 4, 5), context);
    array_point_2 points = array_point_2_filled(HA_DIM(2, 2), p, context);
    int failed = use_view_accesses(a, context);
    HA_READING(v, folded, ha_host()) failed += HA_AT(v.span, 0, 1, 2) < 6;
    else failed++;
    HA_READING(v, array_double_2_broadcast(array_double_1_to_darray(line), HA_DIM(9, 6)), context)
    failed += v.size != 54;
    else failed++;
    HA_OVERWRITING_ALL(v, five, ha_host()) HA_AT(v.span, 0, 1, 2, 3, 4) = 1;
#ifndef __cplusplus
    HA_READING(v, folded, ha_host()) {
        HA_NATIVE_3(b, v);
        failed += !b || b[0][1][2] < 6;
    }
    else failed++;
#endif
    HA_READING_ANYWHERE(v, folded) failed += v.size != 6;
    else failed++;
    failed += darray_prefetch(array_double_3_to_darray(folded), context) != HA_OK;
    HA_READING(v, points, ha_host()) failed += HA_AT(v.span, 1, 1).y < 2;
    else failed++;
    failed += array_double_2_from_darray(array_double_5_to_darray(five)).array != HA_NULL_;
    failed += ha_take_error().status != HA_ERR_ARGUMENT;
    failed += array_double_2_free(&a) != HA_OK || array_double_1_free(&line) != HA_OK;
    return failed + (array_double_5_free(&five) != HA_OK) + (array_point_2_free(&points) != HA_OK);
}

#ifdef __CUDACC__ /* compiled for the device, too */
__global__ void use_numbers_there(int *failed);
__global__ void use_numbers_there(int *failed) {
    *failed = use_half() + use_bfloat16() + use_complex();
    *failed += ha_dim2_offset(ha_dim2_of(2, 3), ha_dim2_all(4)) != 20;
}
__global__ void add_there(cspan_float_3 x, span_float_2 y);
__global__ void add_there(cspan_float_3 x, span_float_2 y) {
    HA_AT(y, threadIdx.x, 1) += HA_AT(x, threadIdx.x, 2, 3);
}
#endif

int use_everything(ha_context *context) {
    harray_double x = harray_double_zeros(10);
    int failed = use_scopes(x, context);
    failed += use_declarations(x);
    failed += use_functions(x, context);
    failed += use_types(context) + use_arrays(context) + use_extents() + use_values();
    failed += use_visit() + use_exchange(context);
    failed += use_half() + use_bfloat16() + use_complex();
    return failed + (harray_double_free(&x) != HA_OK);
}
