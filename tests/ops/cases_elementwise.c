/* Operations element by element, on every context: against what is computed one element at a time, over views of all
 * kinds, and what is refused. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"
#include "../support/share.h"

#include "naive.h"

HA_ARRAY(double, 2);

/* ---- on the fake driver: any operation ----------------------------------------------------------- */

/* The operation that is next, by the rank of its views. */
static const ha_kernel *launched[HA_MAPPING_RANK + 1];

#define RUN_LAUNCHED(rank)                                                                         \
    static void run_launched_##rank(void **given, const fake_cuda_launch *launch) {                \
        run_known_kernel(launched[rank], given, launch);                                           \
    }
RUN_LAUNCHED(0)
RUN_LAUNCHED(1)
RUN_LAUNCHED(2)
RUN_LAUNCHED(3)
RUN_LAUNCHED(4)
static const fake_cuda_body run_launched[] = {run_launched_0, run_launched_1, run_launched_2,
                                              run_launched_3, run_launched_4};

/* Makes the driver know the operation, whatever its views come to. */
static void know_operation(ha_dtype type, int place, int by_number) {
    if (!is_fake(C)) return;
    SUCCEEDS(ha_context_finish(C));
    const ha_op_type *of = ha_op_type_of(type);
    if (!of->line[place].text) return;
    for (int rank = 0; rank <= HA_MAPPING_RANK; rank++) {
        const ha_op_key key = {of, &of->line[place], rank, by_number};
        launched[rank] = ha_op_kernel_of(&key);
        assert_non_null(launched[rank]);
        know_kernel(&(const known_kernel){launched[rank], run_launched[rank]});
    }
}

/* Compiling takes long: there a few of the operations, others for each type. */
static int is_tried_here(int round, int type, int op) {
    const int compiles = is_fake(C) || !strcmp(ha_context_kind(C), "opencl");
    return !compiles || getenv("HARRAY_TEST_LONG") || (round == 0 && (op + 3 * type) % 8 == 0);
}

/* ---- random views -------------------------------------------------------------------------------- */

static uint64_t random_numbers = 1;
static uint32_t draw(uint32_t n) {
    random_numbers = random_numbers * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_numbers >> 32) % n);
}

static const ha_dtype types[] = {
    HA_DTYPE_int32_t, HA_DTYPE_int64_t, HA_DTYPE_uint32_t, HA_DTYPE_uint64_t, HA_DTYPE_float,
    HA_DTYPE_double,  HA_DTYPE_c64,     HA_DTYPE_c128,     HA_DTYPE_half,     HA_DTYPE_bfloat16,
    HA_DTYPE_int8_t,  HA_DTYPE_int16_t, HA_DTYPE_uint8_t,  HA_DTYPE_uint16_t};
enum { TYPES = sizeof types / sizeof *types, COMPUTED = TYPES - 4 };

/* Also those at the ends of a type. */
static ha_dvalue some_number(ha_dtype type) {
    static const double reals[] = {0.0, -0.0, 1, -1, 0.5, 3.25, -7, 1e-3, 100, 1e30, -2.5, 0.1};
    const ha_number_kind kind = ha_dtype_kind(type);
    ha_dvalue x;
    if (kind == HA_KIND_SIGNED || kind == HA_KIND_UNSIGNED) {
        static const int64_t ends[] = {0, 1, -1, INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX};
        return wrapped(type, draw(3) ? (wide)draw(200) - 100 : (wide)ends[draw(7)]);
    }
    if (kind == HA_KIND_COMPLEX)
        return of_complex(type, complex_from((double)draw(20) - 10 + 0.5, (double)draw(20) - 10));
    const double special[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    const double number = draw(10) ? reals[draw(12)] : special[draw(3)];
    assert_int_equal(ha_dvalue_convert(ha_dvalue_of_double(number), type, &x), HA_OK);
    return x;
}

/* An array in which a view of these extents has room, and the view: with steps, backwards, dimensions in any order,
 * repeated. */
static darray some_view(ha_dtype type, int rank, const int64_t *extent, int may_repeat) {
    int64_t order[HA_MOST_RANK], room[HA_MOST_RANK], first[HA_MOST_RANK], step[HA_MOST_RANK];
    int64_t back[HA_MOST_RANK], wanted[HA_MOST_RANK];
    const int plain = draw(3) == 0;
    for (int d = 0; d < rank; d++) order[d] = d;
    for (int d = rank - 1; d > 0 && !plain; d--) {
        const int e = (int)draw((uint32_t)d + 1);
        const int64_t swapped = order[d];
        order[d] = order[e];
        order[e] = swapped;
    }
    for (int d = 0; d < rank; d++) {
        wanted[d] = may_repeat && !plain && draw(4) == 0 ? 1 : extent[d];
        step[d] = plain || draw(2) ? 1 : (int64_t)draw(2) + 1;
        first[d] = plain ? 0 : (int64_t)draw(2);
        room[order[d]] = first[d] + (wanted[d] - 1) * step[d] + 1 + (plain ? 0 : (int64_t)draw(2));
        if (wanted[d] == 0) room[order[d]] = first[d];
        back[d] = order[d];
    }
    darray x = darray_new(type, rank, room, draw(2) ? C : H);
    keep_array(x.array);
    HA_WRITING(v, x, H) for (size_t i = 0; i < v.size; i++) {
        const ha_dvalue number = some_number(type);
        memcpy((char *)v.data + i * ha_dtype_size(type), number.bytes, ha_dtype_size(type));
    }
    x = darray_permute(x, back);
    for (int d = 0; d < rank; d++) {
        x = darray_slice(x, d, first[d], first[d] + (wanted[d] ? (wanted[d] - 1) * step[d] + 1 : 0),
                         step[d]);
        if (!plain && draw(3) == 0) x = darray_flip(x, d);
    }
    return darray_broadcast(x, rank, extent);
}

enum { MOST_VALUES = 6 * 6 * 6 * 6 };
typedef struct values {
    int n;
    ha_dvalue at[MOST_VALUES];
} values;

static void read_values(darray x, values *v) {
    int64_t index[HA_MOST_RANK] = {0};
    v->n = 0;
    if (darray_size(x) == 0) return;
    for (;;) {
        SUCCEEDS(darray_get(x, x.rank, index, &v->at[v->n++]));
        int d = x.rank - 1;
        while (d >= 0 && ++index[d] == x.extent[d]) index[d--] = 0;
        if (d < 0) return;
    }
}

/* ---- comparing ----------------------------------------------------------------------------------- */

/* Functions of mathematical libraries differ in their last bits, where they are not those of this program. */
static int is_exact(ha_dtype type, int place) {
    const int is_map = place < HA_OP_OF_COMBINES, op = is_map ? place : place - HA_OP_OF_COMBINES;
    const ha_number_kind kind = ha_dtype_kind(type);
    if (kind == HA_KIND_COMPLEX) return is_map || op == HA_ADD || op == HA_SUBTRACT;
    if (kind != HA_KIND_REAL || strcmp(ha_context_kind(C), "opencl") != 0) return 1;
    if (is_map) return op <= HA_SQRT || op >= HA_FLOOR;
    return op < HA_MODULO || op == HA_COPYSIGN || place >= HA_OP_OF_SPECIALS;
}

static void part_of(ha_dvalue x, double *parts) {
    if (ha_dtype_kind(x.type) == HA_KIND_COMPLEX) {
        parts[0] = creal(complex_of(x));
        parts[1] = cimag(complex_of(x));
    } else {
        parts[0] = real_of(x);
        parts[1] = 0;
    }
}

static int is_near(ha_dvalue x, ha_dvalue y, int exact) {
    const size_t bytes = ha_dtype_size(x.type);
    double a[2], b[2],
        allowed = x.type == HA_DTYPE_bfloat16                            ? 1e-2
                  : bytes <= 2                                           ? 1e-3
                  : x.type == HA_DTYPE_double || x.type == HA_DTYPE_c128 ? 1e-13
                                                                         : 1e-5;
    if (memcmp(x.bytes, y.bytes, bytes) == 0) return 1;
    const ha_number_kind kind = ha_dtype_kind(x.type);
    if (kind == HA_KIND_SIGNED || kind == HA_KIND_UNSIGNED) return 0;
    part_of(x, a);
    part_of(y, b);
    const double size = fabs(b[0]) + fabs(b[1]);
    for (int i = 0; i < 2; i++) {
        if (isnan(a[i]) && isnan(b[i])) continue;
        if (a[i] == b[i]) continue; /* zeros of both signs, of fmin */
        if (exact || !(fabs(a[i] - b[i]) <= allowed * (size + 1e-30))) return 0;
    }
    return 1;
}

static void expect_elements(darray z, const values *expected, int exact, const char *what, int op) {
    static values now;
    read_values(z, &now);
    assert_int_equal(now.n, expected->n);
    for (int i = 0; i < now.n; i++) {
        char here[100], there[100];
        if (is_near(now.at[i], expected->at[i], exact)) continue;
        ha_dvalue_print(now.at[i], here, sizeof here);
        ha_dvalue_print(expected->at[i], there, sizeof there);
        fail_msg("%s %d of %s, rank %d, element %d: %s instead of %s", what, op,
                 ha_dtype_name(z.type), z.rank, i, here, there);
    }
}

/* ---- the operations ------------------------------------------------------------------------------ */

static values of_x, of_y, of_z;

static int some_extents(int64_t *extent) {
    const int rank = 1 + (int)draw(4);
    for (int d = 0; d < rank; d++) extent[d] = draw(12) ? 1 + (int64_t)draw(5) : draw(7) ? 1 : 0;
    return rank;
}

static int has_map(ha_dtype type, int op) {
    return ha_op_type_of(type)->line[HA_OP_OF_MAPS + op].text != NULL;
}

static int has_combine(ha_dtype type, int op) {
    return op > HA_ASSIGN && ha_op_type_of(type)->line[HA_OP_OF_COMBINES + op].text != NULL;
}

/* Also of the result itself. */
static void map_some(ha_dtype type, ha_map_operation op) {
    int64_t extent[HA_MOST_RANK];
    const int rank = some_extents(extent), in_place = draw(4) == 0;
    const darray y = some_view(type, rank, extent, 0);
    const darray x = in_place ? y : some_view(type, rank, extent, 1);
    read_values(x, &of_x);
    of_z.n = of_x.n;
    for (int i = 0; i < of_x.n; i++) of_z.at[i] = naive_map(op, of_x.at[i]);
    know_operation(type, HA_OP_OF_MAPS + (int)op, 0);
    SUCCEEDS(ha_map(op, y, x, C));
    expect_elements(y, &of_z, is_exact(type, HA_OP_OF_MAPS + (int)op), "map", (int)op);
    if (!in_place) {
        expect_elements(x, &of_x, 1, "argument of map", (int)op);
        drop_array(x.array);
    }
    drop_array(y.array);
}

TEST(of_one_argument) {
    const int rounds = (int)share_of(6);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++)
            for (int op = 0; op < HA_MAPS_; op++)
                if (has_map(types[t], op) && is_tried_here(round, t, op))
                    map_some(types[t], (ha_map_operation)op);
}

typedef enum kind { BY_ARRAY, BY_NUMBER, AXPBY, CLIP } kind;

static ha_status call(kind how, int op, darray z, darray x, darray y, ha_dvalue a, ha_dvalue b) {
    switch (how) {
    case BY_ARRAY:
        return ha_combine(op, z, x, y, C);
    case BY_NUMBER:
        return ha_combine_number_(op, z, x, a, C, HA_SITE);
    case AXPBY:
        return ha_axpby_(z, a, x, b, y, C, HA_SITE);
    default:
        return ha_clip_(z, x, a, b, C, HA_SITE);
    }
}

static ha_dtype mask_type(void) { return draw(2) ? HA_DTYPE_uint8_t : HA_DTYPE_bool; }

static void combine_some(ha_dtype type, kind how, int op) {
    int64_t extent[HA_MOST_RANK];
    const int rank = some_extents(extent);
    const int place = how == AXPBY  ? HA_OP_OF_SPECIALS + HA_AXPBY_
                      : how == CLIP ? HA_OP_OF_SPECIALS + HA_CLIP_
                                    : HA_OP_OF_COMBINES + op;
    const int compares = how <= BY_NUMBER && op >= HA_IS_EQUAL, own = compares || draw(4);
    const darray z = some_view(compares ? mask_type() : type, rank, extent, 0);
    const darray x = own ? some_view(type, rank, extent, 1) : z;
    const darray y = !compares && draw(4) == 0 ? z
                     : draw(4) == 0            ? x
                                               : some_view(type, rank, extent, 1);
    ha_dvalue a = some_number(type), b = some_number(type);
    if (how == CLIP && ha_dvalue_compare(a, b) == HA_GREATER) {
        const ha_dvalue lower = b;
        b = a;
        a = lower;
    }
    if (how == CLIP && ha_dvalue_compare(a, b) == HA_UNORDERED) a = b = wrapped(type, 0);
    read_values(x, &of_x);
    read_values(y, &of_y);
    of_z.n = of_x.n;
    for (int i = 0; i < of_x.n; i++)
        of_z.at[i] = naive(how == AXPBY  ? NAIVE_AXPBY
                           : how == CLIP ? NAIVE_CLIP
                                         : op,
                           of_x.at[i], how == BY_NUMBER ? a : of_y.at[i], a, b);
    know_operation(type, place, how == BY_NUMBER);
    SUCCEEDS(call(how, op, z, x, y, a, b));
    expect_elements(z, &of_z, compares || is_exact(type, place), "combine", op + 100 * (int)how);
    if (y.array != z.array && y.array != x.array) drop_array(y.array);
    if (x.array != z.array) drop_array(x.array);
    drop_array(z.array);
}

static void combine_all(kind how, int rounds) {
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++)
            for (int op = 1; op < HA_COMBINES_; op++)
                if (has_combine(types[t], op) && is_tried_here(round, t, op))
                    combine_some(types[t], how, op);
}

TEST(of_two_arguments) { combine_all(BY_ARRAY, (int)share_of(6)); }
TEST(with_a_number) { combine_all(BY_NUMBER, (int)share_of(6)); }

TEST(with_two_numbers) {
    const int rounds = (int)share_of(40);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < COMPUTED; t++) {
            if (is_tried_here(round / 8, t, round)) combine_some(types[t], AXPBY, 0);
            if (ha_dtype_kind(types[t]) != HA_KIND_COMPLEX && is_tried_here(round / 8, t, round))
                combine_some(types[t], CLIP, 0);
        }
}

static void where_some(ha_dtype type) {
    int64_t extent[HA_MOST_RANK];
    static values of_mask;
    const int rank = some_extents(extent), in_place = draw(4) == 0;
    const darray z = some_view(type, rank, extent, 0);
    const darray mask = some_view(mask_type(), rank, extent, 1);
    const darray x = some_view(type, rank, extent, 1);
    const darray y = in_place ? z : some_view(type, rank, extent, 1);
    read_values(mask, &of_mask), read_values(x, &of_x), read_values(y, &of_y);
    of_z.n = of_x.n;
    for (int i = 0; i < of_x.n; i++)
        of_z.at[i] = of_mask.at[i].as_uint8_t ? of_x.at[i] : of_y.at[i];
    know_operation(type, HA_OP_OF_CHOICE, 0);
    SUCCEEDS(ha_where(z, mask, x, y, C));
    expect_elements(z, &of_z, 1, "where", 0);
    if (!in_place) drop_array(y.array);
    drop_array(x.array), drop_array(mask.array), drop_array(z.array);
}

TEST(chosen_by_a_mask) {
    const int rounds = (int)share_of(40);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++)
            if (is_tried_here(round / 8, t, round)) where_some(types[t]);
}

/* Elements by their numbers in views whose memory is in another order. */
static void sequence_some(ha_dtype type) {
    int64_t extent[HA_MOST_RANK];
    const int rank = some_extents(extent);
    const darray x = some_view(type, rank, extent, 0);
    const ha_dvalue a = some_number(type), b = some_number(type);
    of_z.n = (int)darray_size(x);
    for (int i = 0; i < of_z.n; i++) of_z.at[i] = naive_in_sequence(a, b, i);
    know_operation(type, HA_OP_OF_PLACES + HA_SEQUENCE_, 0);
    SUCCEEDS(ha_sequence_(x, a, b, C, HA_SITE));
    expect_elements(x, &of_z, ha_dtype_kind(type) != HA_KIND_COMPLEX, "sequence", 0);
    drop_array(x.array);
}

static void random_some(ha_dtype type) {
    int64_t extent[HA_MOST_RANK];
    const int rank = some_extents(extent);
    const uint64_t seed = (uint64_t)draw(1u << 31) << 33 | draw(1u << 31);
    const darray x = some_view(type, rank, extent, 0);
    of_z.n = (int)darray_size(x);
    for (int i = 0; i < of_z.n; i++) of_z.at[i] = naive_random(type, i, seed);
    know_operation(type, HA_OP_OF_RANDOM, 0);
    SUCCEEDS(ha_random(x, seed, C));
    expect_elements(x, &of_z, 1, "random", 0);
    drop_array(x.array);
}

TEST(by_their_places) {
    const int rounds = (int)share_of(40);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++) {
            if (is_tried_here(round / 8, t, round)) sequence_some(types[t]);
            if (is_tried_here(round / 8, t, round + 4)) random_some(types[t]);
        }
}

/* What Random123 (Salmon et al.) states of philox4x32-10. */
TEST(random_numbers_known_elsewhere) {
    const uint32_t nothing[4] = {0}, first[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    const uint32_t ends[] = {~0u, ~0u, ~0u, ~0u};
    const uint32_t last[] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
    uint32_t out[4];
    naive_philox(nothing, nothing, out);
    assert_memory_equal(out, first, sizeof out);
    naive_philox(ends, ends, out);
    assert_memory_equal(out, last, sizeof out);
}

/* Typed arrays, numbers of C, and whole arrays that are long enough for every kind of loop. */
TEST(typed_arrays) {
    harray_float x = harray_float_filled(5000, 3), y = harray_float_filled(5000, 1);
    array_double_2 u = array_double_2_filled(HA_DIM(30, 40), 2, NULL);
    keep_array(x.array);
    keep_array(y.array);
    keep_array(u.array);
    const int one = 1;
    know_operation(HA_DTYPE_float, HA_OP_OF_SPECIALS + HA_AXPBY_, 0);
    SUCCEEDS(ha_axpy(y, 2.0, x, C));
    know_operation(HA_DTYPE_float, HA_OP_OF_COMBINES + HA_ADD, 1);
    SUCCEEDS(ha_combine_number(HA_ADD, y, y, one, C));
    HA_READING(v, y, H) for (int i = 0; i < 5000; i++) assert_true(v.data[i] == 8);
    know_operation(HA_DTYPE_double, HA_OP_OF_MAPS + HA_SQRT, 0);
    SUCCEEDS(ha_map(HA_SQRT, array_double_2_part(u, HA_DIM(1, 1), HA_DIM(29, 39)),
                    array_double_2_part(u, HA_DIM(1, 1), HA_DIM(29, 39)), C));
    HA_READING(v, u, H) for (int i = 0; i < 1200; i++) {
        const int inside = i / 40 > 0 && i / 40 < 29 && i % 40 > 0 && i % 40 < 39;
        assert_true(v.data[i] == (inside ? sqrt(2.0) : 2.0));
    }
    drop_array(u.array);
    drop_array(y.array);
    drop_array(x.array);
}

/* ---- what is refused ----------------------------------------------------------------------------- */

static void refused(ha_status expected, ha_status got, const char *part, const char *second,
                    const char *third) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, expected);
    assert_int_equal(e.status, expected);
    if (!strstr(e.text, part) || !strstr(e.text, second) || !strstr(e.text, third))
        fail_msg("\"%s\" does not say \"%s\", \"%s\", \"%s\"", e.text, part, second, third);
}

TEST(refused_arrays) {
    harray_double x = harray_double_filled(10, 1), y = harray_double_filled(10, 1);
    harray_float f = harray_float_filled(10, 1);
    harray_uint8_t small = harray_uint8_t_filled(10, 1);
    harray_double longer = harray_double_filled(11, 1), none = {0};
    keep_array(x.array), keep_array(y.array), keep_array(f.array), keep_array(small.array);
    keep_array(longer.array);
    ha_array_set_name(x.array, "density");
    const uint64_t version = ha_array_version(x.array);
    refused(HA_ERR_ARGUMENT, ha_map(HA_SQRT, x, f, C), "density", "float (10)",
            "types are not the same");
    refused(HA_ERR_ARGUMENT, ha_map(HA_SQRT, x, longer, C), "density", "double (11)",
            "extents are not the same");
    refused(HA_ERR_ARGUMENT, ha_map(HA_SQRT, x, none, C), "ha_map", "no array", "");
    refused(HA_ERR_ARGUMENT, ha_map(HA_CONJUGATE, x, y, C), "density", "no such operation", "");
    refused(HA_ERR_ARGUMENT, ha_map(HA_NEGATE, small, small, C), "uint8_t (10)",
            "no such operation", "");
    refused(HA_ERR_ARGUMENT, ha_combine(HA_IS_LESS, x, x, y, C), "density", "a mask is of", "");
    refused(HA_ERR_ARGUMENT, ha_combine(HA_IS_LESS, small, x, longer, C), "double (11)",
            "extents are not the same", "");
    refused(HA_ERR_ARGUMENT, ha_where(x, f, x, y, C), "float (10)", "a mask is of", "");
    refused(HA_ERR_ARGUMENT, ha_where(x, small, x, f, C), "float (10)", "types are not the same",
            "");
    refused(HA_ERR_ARGUMENT, ha_sequence(small, 1, 256, C), "256", "uint8_t", "");
    refused(HA_ERR_ARGUMENT, ha_map(HA_MAPS_, x, y, C), "no operation 26", "", "");
    refused(HA_ERR_ARGUMENT, ha_combine(HA_ASSIGN, x, y, y, C), "no operation 0", "", "");
    refused(HA_ERR_ARGUMENT, ha_clip(x, y, 2, 1, C), "lower bound", "", "");
    darray part = darray_slice(HA_DARRAY(x), 0, 0, 9, 1),
           next = darray_slice(HA_DARRAY(x), 0, 1, 10, 1);
    refused(HA_ERR_ARGUMENT, ha_map(HA_SQRT, next, part, C), "density", "in other places", "");
    const int64_t three[] = {3, 10};
    darray repeated = darray_broadcast(HA_DARRAY(x), 2, three);
    refused(HA_ERR_ARGUMENT, ha_map(HA_SQRT, repeated, repeated, C), "density", "repeats elements",
            "");
    assert_int_equal(ha_array_version(x.array), version);
    drop_array(longer.array), drop_array(small.array), drop_array(f.array), drop_array(y.array);
    drop_array(x.array);
}

TEST(numbers_that_do_not_fit) {
    harray_int32_t x = harray_int32_t_filled(10, 1);
    keep_array(x.array);
    const uint64_t version = ha_array_version(x.array);
    refused(HA_ERR_ARGUMENT, ha_combine_number(HA_ADD, x, x, 3e9, C), "3e+09", "int32_t", "");
    refused(HA_ERR_ARGUMENT, ha_axpby(x, 1, x, NAN, x, C), "nan", "int32_t", "");
    assert_int_equal(ha_array_version(x.array), version);
    drop_array(x.array);
}

/* Refused as every access: the caller's line in front. */
TEST(conflicts_and_what_was_never_written) {
    harray_double x = harray_double_filled(10, 1), y = harray_double_new(10);
    ha_access v;
    keep_array(x.array), keep_array(y.array);
    know_operation(HA_DTYPE_double, HA_OP_OF_MAPS + HA_SQRT, 0);
    SUCCEEDS(ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    refused(HA_ERR_CONFLICT, ha_map(HA_SQRT, y, x, C == H ? M1 : C), "cases_elementwise.c:", "",
            "");
    SUCCEEDS(ha_close(&v));
    refused(HA_ERR_STATE, ha_map(HA_SQRT, x, y, C), "cases_elementwise.c:", "", "");
    drop_array(y.array), drop_array(x.array);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        CASE(of_one_argument),
        CASE(of_two_arguments),
        CASE(with_a_number),
        CASE(with_two_numbers),
        CASE(chosen_by_a_mask),
        CASE(by_their_places),
        CASE(random_numbers_known_elsewhere),
        CASE(typed_arrays),
        CASE(refused_arrays),
        CASE(numbers_that_do_not_fit),
        CASE(conflicts_and_what_was_never_written),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
