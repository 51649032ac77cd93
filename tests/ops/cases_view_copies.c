/* Fills, copies and conversions of views: the same elements on every context, and where a device compiles kernels what is
 * valid there is not moved to the host for it. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"
#include "../support/share.h"

typedef struct color {
    uint8_t part[3];
} color;
HARRAY(color);

#include "some_views.h"

static const ha_dtype all_types[] = {
    HA_DTYPE_bool,     HA_DTYPE_int8_t,   HA_DTYPE_uint8_t, HA_DTYPE_int16_t,  HA_DTYPE_uint16_t,
    HA_DTYPE_int32_t,  HA_DTYPE_uint32_t, HA_DTYPE_int64_t, HA_DTYPE_uint64_t, HA_DTYPE_half,
    HA_DTYPE_bfloat16, HA_DTYPE_float,    HA_DTYPE_double,  HA_DTYPE_c64,      HA_DTYPE_c128};
enum { ALL_TYPES = sizeof all_types / sizeof *all_types };

/* ---- on the fake driver -------------------------------------------------------------------------- */

static void know_key(ha_op_key key) {
    if (!is_fake(C)) return;
    SUCCEEDS(ha_context_finish(C));
    for (key.rank = 1; key.rank <= HA_MAPPING_RANK; key.rank++) {
        launched[key.rank] = ha_op_kernel_of(&key);
        assert_non_null(launched[key.rank]);
        know_kernel(&(const known_kernel){launched[key.rank], run_launched[key.rank]});
    }
}

static void know_copy(darray to, darray from) {
    const int as_bytes = to.type == from.type;
    const ha_dtype bytes = ha_op_type_of_bytes(to.array->element);
    const ha_op_type *type = ha_op_type_of(as_bytes ? bytes : to.type);
    if (type)
        know_key((ha_op_key){.type = type,
                             .line = &ha_op_copy_line,
                             .make = ha_op_make_copy,
                             .of = {(int)(as_bytes ? bytes : from.type)}});
}

static void know_fill(size_t bytes) {
    const ha_op_type *type = ha_op_type_of(ha_op_type_of_bytes(bytes));
    know_key((ha_op_key){.type = type, .line = &type->line[HA_OP_OF_PLACES + HA_FILL_]});
}

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

static void copy_some(ha_dtype to, ha_dtype from) {
    int64_t extent[HA_MOST_RANK];
    const int rank = some_extents(extent);
    const darray x = numbers_view(from, rank, extent), y = numbers_view(to, rank, extent);
    read_values(x, &of_x);
    of_y.n = of_x.n;
    for (int i = 0; i < of_x.n; i++) SUCCEEDS(ha_dvalue_convert(of_x.at[i], to, &of_y.at[i]));
    move_to(x.array, C);
    know_copy(y, x);
    SUCCEEDS(darray_copy(y, x, C));
    if (compiles() && of_x.n && (to == from || ha_op_converts(from, to)))
        assert_false(ha_array_valid(x.array, H, 0, HA_END));
    expect_elements(y, &of_y, 1, "copy to", (int)from);
    drop_array(y.array), drop_array(x.array);
}

/* Those in which nothing can be refused; compiled ones in turn. */
TEST(copies_of_views) {
    const int rounds = share_of(8);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < ALL_TYPES; t++)
            for (int f = 0; f < ALL_TYPES; f++)
                if (!ha_scalars_may_misfit(all_types[f], all_types[t]) &&
                    is_tried_here(round, t, f))
                    copy_some(all_types[t], all_types[f]);
}

/* Truth values become 1 and 0. */
TEST(truth_as_numbers) {
    const int64_t n = 10;
    darray x = darray_new(HA_DTYPE_bool, 1, &n, H);
    harray_double y = harray_double_filled(10, 5);
    keep_array(x.array), keep_array(y.array);
    SUCCEEDS(darray_fill(x, HA_DVALUE((uint8_t)1), H));
    move_to(x.array, C);
    know_copy(HA_DARRAY(y), x);
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
    know_copy(to, from);
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
    know_fill(ha_dtype_size(type));
    SUCCEEDS(darray_fill_(x, number, C, HA_SITE));
    if (compiles()) assert_false(ha_array_valid(x.array, H, 0, HA_END));
    expect_elements(x, &of_y, 1, "fill", 0);
    drop_array(x.array);
}

TEST(fills_of_views) {
    const int rounds = share_of(40);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < ALL_TYPES; t++)
            if (is_tried_here(round / 8, t, round)) fill_some(all_types[t]);
}

/* ---- comparisons --------------------------------------------------------------------------------- */

static int are_equal(ha_dvalue x, ha_dvalue y) {
    double a[2], b[2];
    if (x.type == HA_DTYPE_bool) return x.bytes[0] == y.bytes[0];
    if (ha_dtype_kind(x.type) == HA_KIND_SIGNED || ha_dtype_kind(x.type) == HA_KIND_UNSIGNED)
        return memcmp(x.bytes, y.bytes, ha_dtype_size(x.type)) == 0;
    part_of(x, a), part_of(y, b);
    return a[0] == b[0] && a[1] == b[1];
}

static void compare_some(ha_dtype type) {
    int64_t extent[HA_MOST_RANK];
    int equal, expected = 1;
    const int rank = some_extents(extent);
    const darray x = numbers_view(type, rank, extent), y = numbers_view(type, rank, extent);
    SUCCEEDS(darray_copy(y, x, H));
    read_values(x, &of_x);
    if (of_x.n && draw(2)) { /* the last one differs, as a rule */
        int64_t last[HA_MOST_RANK];
        for (int d = 0; d < rank; d++) last[d] = extent[d] - 1;
        SUCCEEDS(darray_set(y, rank, last, wrapped(type, 1)));
    }
    read_values(y, &of_y);
    for (int i = 0; i < of_x.n; i++) expected &= are_equal(of_x.at[i], of_y.at[i]);
    move_to(x.array, C), move_to(y.array, C);
    know_reduction(type, HA_OP_OF_LANES + HA_LANE_DIFFERS_, 0,
                   ha_op_tree_of(HA_DTYPE_int64_t, HA_SUM));
    SUCCEEDS(darray_equal(x, y, &equal));
    assert_int_equal(equal, expected);
    if (compiles() && of_x.n && type != HA_DTYPE_bool)
        assert_false(ha_array_valid(x.array, H, 0, HA_END));
    drop_array(y.array), drop_array(x.array);
}

TEST(comparisons_of_views) {
    const int rounds = share_of(40);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < ALL_TYPES; t++)
            if (is_tried_here(round / 8, t, round)) compare_some(all_types[t]);
}

/* ---- what no kernel can do ----------------------------------------------------------------------- */

/* Elements of three bytes, and five dimensions with gaps. */
TEST(by_the_host_if_need_be) {
    const color red = {{255, 0, 1}}, blue = {{0, 0, 255}};
    harray_color x = harray_color_filled(9, red);
    keep_array(x.array);
    move_to(x.array, C);
    SUCCEEDS(darray_fill_element_(darray_slice(HA_DARRAY(x), 0, 0, 9, 2), &blue, C, HA_SITE));
    HA_READING(v, x, H)
    for (int i = 0; i < 9; i++) assert_memory_equal(&v.data[i], i % 2 ? &red : &blue, sizeof red);
    drop_array(x.array);

    const int64_t extent[] = {4, 4, 4, 4, 4};
    darray all = darray_new(HA_DTYPE_int32_t, 5, extent, C);
    keep_array(all.array);
    SUCCEEDS(darray_fill(all, HA_DVALUE((int32_t)1), C));
    darray part = all;
    for (int d = 0; d < 5; d++) part = darray_slice(part, d, 0, 4, 2);
    SUCCEEDS(darray_fill(part, HA_DVALUE((int32_t)2), C));
    int twos = 0;
    HA_READING(v, all, H)
    for (size_t i = 0; i < v.size; i++) twos += ((const int32_t *)v.data)[i] == 2;
    assert_int_equal(twos, 32);
    drop_array(all.array);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        CASE(copies_of_views),        CASE(truth_as_numbers),
        CASE(rounded_once),           CASE(when_a_kernel_is_not_taken),
        CASE(fills_of_views),         CASE(comparisons_of_views),
        CASE(by_the_host_if_need_be),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
