/* Fills, copies and conversions of views: the same elements on every context, and where a device compiles kernels what is
 * valid there is not moved to the host for it. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"
#include "../support/share.h"

/* Elements that are no numbers: of single bytes, of words of four, and of those of eight. */
typedef struct color {
    uint8_t part[3];
} color;
HARRAY(color);
typedef struct triangle {
    float corner[3];
} triangle;
HARRAY(triangle);
typedef struct orbit {
    double part[9];
} orbit;
HARRAY(orbit);

#include "some_views.h"
#include "known_operations.h"

static const ha_dtype all_types[] = {
    HA_DTYPE_bool,     HA_DTYPE_int8_t,   HA_DTYPE_uint8_t, HA_DTYPE_int16_t,  HA_DTYPE_uint16_t,
    HA_DTYPE_int32_t,  HA_DTYPE_uint32_t, HA_DTYPE_int64_t, HA_DTYPE_uint64_t, HA_DTYPE_half,
    HA_DTYPE_bfloat16, HA_DTYPE_float,    HA_DTYPE_double,  HA_DTYPE_c64,      HA_DTYPE_c128};
enum { ALL_TYPES = sizeof all_types / sizeof *all_types };

/* ---- copies -------------------------------------------------------------------------------------- */

static ha_dvalue a_number(ha_dtype type) {
    return type == HA_DTYPE_bool ? ha_dvalue_of_bool(draw(2) != 0) : some_number(type);
}

static void set_numbers(darray x) {
    int64_t index[HA_MOST_RANK] = {0};
    if (darray_size(x) == 0) return;
    int d;
    do {
        assert_int_equal(darray_set(x, x.rank, index, a_number(x.type)), HA_OK);
        d = x.rank - 1;
        while (d >= 0 && ++index[d] == x.extent[d]) index[d--] = 0;
    } while (d >= 0);
    step(); /* once: setting any of them is the same step */
}

/* One of bool has its bytes from some_view, which are not all 0 or 1. */
static darray numbers_view(ha_dtype type, int rank, const int64_t *extent) {
    const darray x = some_view(type == HA_DTYPE_bool ? HA_DTYPE_uint8_t : type, rank, extent, 0);
    if (type != HA_DTYPE_bool) return x;
    drop_array(x.array);
    const darray y = darray_new(HA_DTYPE_bool, rank, extent, H);
    keep_array(y.array);
    set_numbers(y);
    return rank > 1 ? darray_flip(y, rank - 1) : y;
}

static values of_x, of_y;

/* What is expected of a conversion of x: how many elements have no place there. Nonzero mend: those become 1. */
static int convert_all(darray x, ha_dtype to, int mend) {
    int misfits = 0;
    read_values(x, &of_x);
    of_y.n = of_x.n;
    for (int i = 0; i < of_x.n; i++)
        if (ha_dvalue_convert(of_x.at[i], to, &of_y.at[i])) {
            assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
            misfits++;
        }
    if (!misfits || !mend) return misfits;
    int64_t index[HA_MOST_RANK] = {0};
    for (int i = 0; i < of_x.n; i++) {
        ha_dvalue one;
        if (ha_dvalue_convert(of_x.at[i], to, &one)) {
            assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
            SUCCEEDS(darray_set(x, x.rank, index, ha_dvalue_of_int32_t(1)));
        }
        for (int d = x.rank - 1; d >= 0 && ++index[d] == x.extent[d]; d--) index[d] = 0;
    }
    return convert_all(x, to, 0);
}

/* What the host says of it, and whether y is then what it was before. */
static ha_error refused(darray y, darray x, ha_context *c) {
    static values before;
    read_values(y, &before);
    assert_int_equal(darray_copy(y, x, c), HA_ERR_ARGUMENT);
    const ha_error error = ha_take_error();
    expect_elements(y, &before, EXACT, "refused copy to", (int)x.type);
    return error;
}

static uint64_t bytes_moved(darray x, darray y) {
    return ha_array_statistics(x.array).bytes + ha_array_statistics(y.array).bytes;
}

static void copy_there(darray y, darray x, int misfits) {
    ha_error at_host, there;
    if (misfits) at_host = refused(y, x, H);
    move_to(x.array, C), move_to(y.array, C);
    const uint64_t before = bytes_moved(x, y);
    if (misfits)
        there = refused(y, x, C);
    else
        SUCCEEDS(darray_copy(y, x, C));
    if (compiles() && of_x.n) assert_int_equal(bytes_moved(x, y), before);
    if (misfits) assert_string_equal(there.text, at_host.text);
    if (!misfits) expect_elements(y, &of_y, EXACT, "copy to", (int)x.type);
}

static void copy_some(ha_dtype to, ha_dtype from) {
    int64_t extent[HA_MOST_RANK];
    const int rank = some_extents(extent);
    const darray x = numbers_view(from, rank, extent), y = numbers_view(to, rank, extent);
    copy_there(y, x, convert_all(x, to, draw(2) != 0));
    drop_array(y.array), drop_array(x.array);
}

/* Of any type to any other one; compiled ones in turn. */
TEST(copies_of_views) {
    const int rounds = share_of(8);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < ALL_TYPES; t++)
            for (int f = 0; f < ALL_TYPES; f++)
                if (is_tried_here(round, t, f)) copy_some(all_types[t], all_types[f]);
}

/* A number among others, of which each type has one. */
static void copy_one(ha_dtype to, ha_dvalue number) {
    const int64_t n = 5, place = 3;
    const darray x = darray_new(number.type, 1, &n, H), y = darray_new(to, 1, &n, H);
    keep_array(x.array), keep_array(y.array);
    SUCCEEDS(ha_fill(x, (int8_t)1, H));
    SUCCEEDS(ha_fill(y, (int8_t)0, H));
    SUCCEEDS(darray_set(x, 1, &place, number));
    copy_there(y, x, convert_all(x, to, 0));
    drop_array(y.array), drop_array(x.array);
}

/* The last numbers that fit, and the first ones that do not. */
TEST(at_the_ends_of_types) {
    static const double reals[] = {127.4,
                                   127.5,
                                   -128.5,
                                   -128.6,
                                   255.5,
                                   -0.5,
                                   -0.6,
                                   -0.0,
                                   NAN,
                                   0x1p63,
                                   -0x1p63,
                                   0x1p64,
                                   0x1.8p63,
                                   INFINITY,
                                   0x1.fffffffffffffp62,
                                   -0x1.0000000000001p63,
                                   0x1.fffffffffffffp63,
                                   254.5};
    static const ha_dtype integers[] = {HA_DTYPE_int8_t, HA_DTYPE_uint8_t, HA_DTYPE_int64_t,
                                        HA_DTYPE_uint64_t};
    static const int64_t whole[] = {127, 128, -128, -129, 255, 256, -1, INT64_MIN, INT64_MAX};
    for (int t = 0; t < 4; t++) {
        for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
            copy_one(integers[t], ha_dvalue_of_double(reals[i]));
            copy_one(integers[t], ha_dvalue_of_c64(ha_c64_make((float)reals[i], 0)));
        }
        for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
            copy_one(integers[t], ha_dvalue_of_int64_t(whole[i]));
            copy_one(integers[t], ha_dvalue_of_uint64_t((uint64_t)whole[i]));
        }
    }
    copy_one(HA_DTYPE_half, ha_dvalue_of_c128(ha_c128_make(1 + 0x1p-11 + 0x1p-40, -0.0)));
    copy_one(HA_DTYPE_half, ha_dvalue_of_c128(ha_c128_make(1, 1e-300)));
    copy_one(HA_DTYPE_int8_t, ha_dvalue_of_c128(ha_c128_make(1, (double)NAN)));
    copy_one(HA_DTYPE_bool, ha_dvalue_of_c128(ha_c128_make((double)NAN, 0)));
    copy_one(HA_DTYPE_bool, ha_dvalue_of_c128(ha_c128_make(0, 1e-300)));
}

/* Of more dimensions than lanes have; and what is wrong is told with the indices that the view has. */
TEST(where_it_does_not_fit) {
    const int64_t extent[] = {2, 3, 4, 5, 6}, origin[] = {-1, 10, 0, 0, 7};
    const int64_t at[] = {0, 12, 3, 1, 9};
    const darray y = darray_zeros(HA_DTYPE_int16_t, 5, extent, H);
    darray x = darray_zeros(HA_DTYPE_double, 5, extent, H);
    keep_array(y.array), keep_array(x.array);
    x = darray_with_origin(x, origin);
    SUCCEEDS(darray_set(x, 5, at, ha_dvalue_of_double(32767.5)));
    ha_error error = refused(y, x, C);
    assert_non_null(strstr(error.text, "32767.5 at index (0, 12, 3, 1, 9) as int16_t"));
    x = darray_permute(x, (const int64_t[]){4, 2, 0, 1, 3});
    const darray z = darray_permute(y, (const int64_t[]){4, 2, 0, 1, 3});
    move_to(x.array, C);
    const uint64_t before = ha_array_statistics(x.array).bytes;
    error = refused(z, x, C);
    if (compiles()) assert_int_equal(ha_array_statistics(x.array).bytes, before);
    assert_non_null(strstr(error.text, "32767.5 at index (9, 3, 0, 12, 1) as int16_t"));
    drop_array(x.array), drop_array(y.array);
}

/* What is read is what is written, elsewhere: a square turned around its diagonal, and a row moved by one. */
TEST(in_one_storage) {
    enum { N = 6 };
    const int64_t extent[] = {N, N};
    const darray x = darray_new(HA_DTYPE_double, 2, extent, H);
    keep_array(x.array);
    HA_WRITING(v, x, H) for (int i = 0; i < N * N; i++)((double *)v.data)[i] = i;
    move_to(x.array, C);
    const uint64_t before = bytes_moved(x, x);
    SUCCEEDS(darray_copy(x, darray_transpose(x), C));
    const darray row = darray_fix(x, 0, 2);
    SUCCEEDS(darray_copy(darray_slice(row, 0, 1, N, 1), darray_slice(row, 0, 0, N - 1, 1), C));
    if (compiles()) assert_int_equal(bytes_moved(x, x), before);
    HA_READING(v, x, H)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const int from = i == 2 && j ? j - 1 : j;
            assert_true(((const double *)v.data)[i * N + j] == from * N + i);
        }
    drop_array(x.array);
}

/* Truth values become 1 and 0. */
TEST(truth_as_numbers) {
    const int64_t n = 10;
    darray x = darray_new(HA_DTYPE_bool, 1, &n, H);
    harray_double y = harray_double_filled(10, 5);
    keep_array(x.array), keep_array(y.array);
    SUCCEEDS(ha_fill(x, (uint8_t)1, H));
    move_to(x.array, C);
    SUCCEEDS(darray_copy(HA_DARRAY(y), x, C));
    if (compiles()) assert_false(ha_array_valid(x.array, H, 0, HA_END));
    HA_READING(v, y, H) for (int i = 0; i < 10; i++) assert_true(v.data[i] == 1);
    drop_array(y.array), drop_array(x.array);
}

/* What float does not have exactly is rounded once to half, whatever is copied where. */
TEST(rounded_once) {
    const double number = 1 + 0x1p-11 +
                          0x1p-40; /* float has no 2^-40: by float it would become 1 */
    harray_double x = harray_double_filled(10, number);
    harray_half y = harray_half_new(10);
    keep_array(x.array), keep_array(y.array);
    move_to(x.array, C);
    SUCCEEDS(darray_copy(HA_DARRAY(y), HA_DARRAY(x), C));
    HA_READING(v, y, H) assert_true(ha_half_to_float(v.data[9]) == 1 + 0x1p-10f);
    drop_array(y.array), drop_array(x.array);
}

/* Where the device does not take the kernel the copy is made all the same, and without a word. */
TEST(when_a_kernel_is_not_taken) {
    harray_float x = harray_float_filled(12, 3);
    harray_double y = harray_double_filled(12, 1);
    keep_array(x.array), keep_array(y.array);
    move_to(x.array, C);
    const darray to = darray_slice(HA_DARRAY(y), 0, 1, 12, 2);
    const darray from = darray_slice(HA_DARRAY(x), 0, 0, 11, 2);
    if (is_fake(C)) cuda_fake()->fail_call("cuLaunchKernel", 1, 1, 0);
    SUCCEEDS(darray_copy(to, from, C));
    if (is_fake(C)) cuda_fake()->fail_never();
    HA_READING(v, y, H) for (int i = 0; i < 12; i++) assert_true(v.data[i] == (i % 2 ? 3 : 1));
    drop_array(y.array), drop_array(x.array);
}

/* ---- fills --------------------------------------------------------------------------------------- */

static void fill_some(ha_dtype type) {
    int64_t extent[HA_MOST_RANK];
    const int rank = some_extents(extent);
    const darray x = numbers_view(type, rank, extent);
    const ha_dvalue number = a_number(type);
    of_y.n = (int)darray_size(x);
    for (int i = 0; i < of_y.n; i++) of_y.at[i] = number;
    move_to(x.array, C);
    SUCCEEDS(darray_fill_(x, number, C, HA_SITE));
    if (compiles()) assert_false(ha_array_valid(x.array, H, 0, HA_END));
    expect_elements(x, &of_y, 1, "fill", 0);
    drop_array(x.array);
}

TEST(fills_of_views) {
    const int rounds = share_of(40);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < ALL_TYPES; t++)
            if (is_turn_here(round / 8, t, round, 5)) fill_some(all_types[t]);
}

/* ---- comparisons --------------------------------------------------------------------------------- */

/* Both are at C, and stay there alone. */
static void compare_there(darray x, darray y, int expected) {
    int equal;
    move_to(x.array, C), move_to(y.array, C);
    const uint64_t before = bytes_moved(x, y);
    SUCCEEDS(darray_equal(x, y, &equal));
    if (equal != expected)
        fail_msg("%s and %s: %d", ha_dtype_name(x.type), ha_dtype_name(y.type), equal);
    if (compiles() && darray_size(x)) assert_int_equal(bytes_moved(x, y), before);
}

/* y is x converted, as far as its type has a place; or one element, as a rule, differs. */
static void compare_some(ha_dtype type, ha_dtype other) {
    int64_t extent[HA_MOST_RANK];
    int expected = 1;
    const int rank = some_extents(extent);
    const darray x = numbers_view(type, rank, extent), y = numbers_view(other, rank, extent);
    if (!convert_all(x, other, 1)) SUCCEEDS(darray_copy(y, x, H));
    if (of_x.n && draw(2)) {
        int64_t last[HA_MOST_RANK];
        for (int d = 0; d < rank; d++) last[d] = extent[d] - 1;
        SUCCEEDS(darray_set(y, rank, last,
                            other == HA_DTYPE_bool ? ha_dvalue_of_bool(1) : wrapped(other, 1)));
    }
    read_values(x, &of_x), read_values(y, &of_y);
    for (int i = 0; i < of_x.n; i++) expected &= ha_dvalue_equal(of_x.at[i], of_y.at[i]);
    compare_there(x, y, expected);
    drop_array(y.array), drop_array(x.array);
}

/* PoCL takes longest to compile reductions: a third of the pairs are enough of them. */
static int is_compared_here(int round, int t, int f) {
    const int opencl = !strcmp(ha_context_kind(C), "opencl") && !getenv("HARRAY_TEST_LONG");
    return is_tried_here(round, t, f) && (!opencl || (t + f) % 3 == 0);
}

/* Of all types with all, in either order. */
TEST(comparisons_of_views) {
    const int rounds = share_of(8);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < ALL_TYPES; t++)
            for (int f = 0; f < ALL_TYPES; f++)
                if (is_compared_here(round, t, f)) compare_some(all_types[t], all_types[f]);
}

/* Two numbers among others that are equal. */
static void compare_two(ha_dvalue a, ha_dvalue b) {
    const int64_t n = 5, place = 3;
    const darray x = darray_new(a.type, 1, &n, H), y = darray_new(b.type, 1, &n, H);
    keep_array(x.array), keep_array(y.array);
    SUCCEEDS(ha_fill(x, (int8_t)1, H));
    SUCCEEDS(ha_fill(y, (int8_t)1, H));
    SUCCEEDS(darray_set(x, 1, &place, a));
    SUCCEEDS(darray_set(y, 1, &place, b));
    int at_host;
    SUCCEEDS(darray_equal(x, y, &at_host));
    compare_there(x, y, at_host);
    compare_there(y, x, at_host);
    assert_int_equal(at_host, ha_dvalue_equal(a, b));
    drop_array(y.array), drop_array(x.array);
}

/* What rounding, signs and NaN would hide. */
TEST(nearly_equal) {
    static const int64_t whole[] = {0,         -1,        INT64_C(1) << 53, (INT64_C(1) << 53) + 1,
                                    INT64_MAX, INT64_MIN, INT64_MAX - 511};
    static const double reals[] = {0,      -0.0,    0.5,    -1,  0x1p53,
                                   0x1p63, -0x1p63, 0x1p64, NAN, INFINITY};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        for (size_t j = 0; j < sizeof reals / sizeof *reals; j++) {
            compare_two(ha_dvalue_of_int64_t(whole[i]), ha_dvalue_of_double(reals[j]));
            compare_two(ha_dvalue_of_uint64_t((uint64_t)whole[i]), ha_dvalue_of_double(reals[j]));
        }
        for (size_t j = 0; j < sizeof whole / sizeof *whole; j++)
            compare_two(ha_dvalue_of_int64_t(whole[i]), ha_dvalue_of_uint64_t((uint64_t)whole[j]));
    }
    for (size_t j = 0; j < sizeof reals / sizeof *reals; j++) {
        compare_two(ha_dvalue_of_double(reals[j]), ha_dvalue_of_double(-reals[j]));
        compare_two(ha_dvalue_of_c128(ha_c128_make(1, reals[j])), ha_dvalue_of_double(1));
        compare_two(ha_dvalue_of_c128(ha_c128_make(reals[j], -0.0)), ha_dvalue_of_double(reals[j]));
    }
    compare_two(ha_dvalue_of_float(0.1f), ha_dvalue_of_double(0.1));
    compare_two(ha_dvalue_of_int32_t(16777217), ha_dvalue_of_float(16777216));
    compare_two(ha_dvalue_of_half(ha_half_of_double(0.1)), ha_dvalue_of_float(0.1f));
    compare_two(ha_dvalue_of_bfloat16(ha_bfloat16_of_double(0.5)),
                ha_dvalue_of_half(ha_half_of_double(0.5)));
}

/* ---- elements that are no numbers ---------------------------------------------------------------- */

enum { MANY = 40, MOST_BYTES = 72 };

/* Bytes of any values. */
static void set_bytes(darray x) {
    ha_access v;
    SUCCEEDS(ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    char *byte = (char *)(uintptr_t)v.data;
    for (size_t i = 0; i < v.size * v.array->element; i++) byte[i] = (char)draw(256);
    SUCCEEDS(ha_close(&v));
}

/* Are elements of y those of x, and all others in the array what they were? */
static void expect_bytes(darray y, const char *before, darray x) {
    const int64_t n = y.extent[0];
    const size_t size = y.array->element;
    ha_access v, w;
    SUCCEEDS(ha_open(&v, y.array, H, HA_READ, 0, HA_END));
    SUCCEEDS(ha_open(&w, x.array, H, HA_READ, 0, HA_END));
    char expected[MANY * MOST_BYTES];
    memcpy(expected, before, MANY * size);
    for (int64_t i = 0; i < n; i++)
        memcpy(expected + (size_t)(y.offset + i * y.stride[0]) * size,
               (const char *)w.data + (size_t)(x.offset + i * x.stride[0]) * size, size);
    assert_memory_equal(v.data, expected, MANY * size);
    SUCCEEDS(ha_close(&w));
    SUCCEEDS(ha_close(&v));
}

static void bytes_of_all(darray x, char *bytes) {
    ha_access v;
    SUCCEEDS(ha_open(&v, x.array, H, HA_READ, 0, HA_END));
    memcpy(bytes, v.data, v.size * v.array->element);
    SUCCEEDS(ha_close(&v));
}

static void copy_structs(darray x, darray y, const void *value) {
    char before[MANY * MOST_BYTES];
    int equal;
    keep_array(x.array), keep_array(y.array);
    set_bytes(x), set_bytes(y);
    bytes_of_all(y, before);
    const darray from = darray_flip(darray_slice(x, 0, 1, MANY, 3), 0);
    const darray to = darray_slice(y, 0, 0, 37, 3);
    move_to(x.array, C), move_to(y.array, C);
    uint64_t moved = bytes_moved(x, y);
    SUCCEEDS(darray_copy(to, from, C));
    if (compiles()) assert_int_equal(bytes_moved(x, y), moved);
    expect_bytes(to, before, from);

    for (int differs = 0; differs < 2; differs++) {
        if (differs) SUCCEEDS(darray_set_element_(to, (const int64_t[]){11}, value));
        move_to(x.array, C), move_to(y.array, C);
        moved = bytes_moved(x, y);
        SUCCEEDS(darray_equal(to, from, &equal));
        if (compiles()) assert_int_equal(bytes_moved(x, y), moved);
        assert_int_equal(equal, !differs);
    }

    darray one = darray_slice(x, 0, 5, 6, 1);
    SUCCEEDS(darray_set_element_(one, (const int64_t[]){0}, value));
    one = darray_broadcast(one, 1, to.extent);
    bytes_of_all(y, before);
    move_to(y.array, C);
    moved = bytes_moved(y, y);
    SUCCEEDS(darray_fill_element_(to, value, C, HA_SITE));
    if (compiles()) assert_int_equal(bytes_moved(y, y), moved);
    expect_bytes(to, before, one);
    drop_array(y.array), drop_array(x.array);
}

#define STRUCTS(T) HA_DARRAY(harray_##T##_zeros(MANY))
TEST(structs) {
    const color red = {{255, 0, 1}};
    const triangle flat = {{1, -0.0f, 2}};
    const orbit round = {{0, 1, 2, 3, 4, 5, 6, 7, 8}};
    copy_structs(STRUCTS(color), STRUCTS(color), &red);
    copy_structs(STRUCTS(triangle), STRUCTS(triangle), &flat);
    copy_structs(STRUCTS(orbit), STRUCTS(orbit), &round);
}

/* The caller's memory may begin anywhere: what is there has no alignment but that of its type. */
TEST(structs_of_the_caller) {
    static _Alignas(64) char memory[2 * MOST_BYTES * MANY];
    const color red = {{255, 0, 1}};
    const harray_color wrapped = harray_color_wrap((color *)(void *)(memory + 1), MANY);
    const darray x = HA_DARRAY(wrapped);
    copy_structs(x, STRUCTS(color), &red);
}

/* ---- more dimensions than lanes have ------------------------------------------------------------- */

TEST(dimensions_by_number) {
    const int64_t room[] = {4, 4, 4, 4, 4};
    const darray all = darray_zeros(HA_DTYPE_int32_t, 5, room, C);
    const darray other = darray_zeros(HA_DTYPE_double, 5, room, C);
    keep_array(all.array), keep_array(other.array);
    darray part = all, apart = other;
    for (int d = 0; d < 5; d++) part = darray_slice(part, d, 0, 4, 2);
    for (int d = 0; d < 5; d++) apart = darray_slice(apart, d, 1, 4, 2);
    move_to(all.array, C), move_to(other.array, C);
    const uint64_t moved = bytes_moved(all, other);
    int equal;
    SUCCEEDS(ha_fill(part, (int32_t)-7, C));
    SUCCEEDS(darray_copy(apart, part, C));
    SUCCEEDS(darray_equal(apart, part, &equal));
    assert_true(equal);
    SUCCEEDS(darray_copy(part, apart, C)); /* looks at all first */
    if (compiles()) assert_int_equal(bytes_moved(all, other), moved);
    int sevens = 0;
    HA_READING(v, all, H)
    for (size_t i = 0; i < v.size; i++) sevens += ((const int32_t *)v.data)[i] == -7;
    HA_READING(v, other, H)
    for (size_t i = 0; i < v.size; i++) sevens += ((const double *)v.data)[i] == -7;
    assert_int_equal(sevens, 64);
    drop_array(other.array), drop_array(all.array);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        OPERATIONS(copies_of_views),
        OPERATIONS(at_the_ends_of_types),
        OPERATIONS(where_it_does_not_fit),
        OPERATIONS(in_one_storage),
        OPERATIONS(truth_as_numbers),
        OPERATIONS(rounded_once),
        OPERATIONS(when_a_kernel_is_not_taken),
        OPERATIONS(fills_of_views),
        OPERATIONS(comparisons_of_views),
        OPERATIONS(nearly_equal),
        OPERATIONS(structs),
        OPERATIONS(structs_of_the_caller),
        OPERATIONS(dimensions_by_number),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
