/* Operations whose result is a number, on every context: against what is joined one element after the other, over views of
 * all kinds; the same bits as on the host, and as reductions that are written as such; and what is refused. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"
#include "../support/share.h"

HA_ARRAY(int64_t, 1);
HA_ARRAY(int64_t, 2);
HA_OPS(double);
HA_OPS(int8_t);

#include "some_views.h"
#include "known_keys.h"

HA_REDUCE(sum_by_hand, ((in, double, x)), i, double, HA_SUM, x[i]);
HA_REDUCE(dot_by_hand, ((in, float, x), (in, float, y)), i, float, HA_SUM, x[i] * y[i]);

static values of_x, of_y;

/* ---- joined one after the other ------------------------------------------------------------------ */

static int is_whole(ha_dtype type) {
    const ha_number_kind kind = ha_dtype_kind(type);
    return kind != HA_KIND_REAL && kind != HA_KIND_COMPLEX;
}

static wide joined_integers(ha_reduction op, const values *v) {
    wide a = op == HA_PRODUCT ? 1 : op == HA_AND ? -1 : 0;
    int at = 0;
    for (int i = 0; i < v->n; i++) {
        const wide x = v->at[i].type == HA_DTYPE_bool ? v->at[i].bytes[0] : wide_of(v->at[i]);
        const wide best = at < v->n ? wide_of(v->at[at]) : 0;
        if (op == HA_SUM) a += x;
        if (op == HA_PRODUCT) a = (wide)(int64_t)(uint64_t)wide_product(a, x);
        if (op == HA_AND) a &= x;
        if (op == HA_OR) a |= x;
        if (op == HA_XOR) a ^= x;
        if ((op == HA_MIN || op == HA_MIN_AT) && x < best) at = i;
        if ((op == HA_MAX || op == HA_MAX_AT) && x > best) at = i;
    }
    if (op == HA_MIN || op == HA_MAX) return wide_of(v->at[at]);
    return op >= HA_MIN_AT ? at : a;
}

/* *size: of what is summed, which errors are measured by. */
static double joined_reals(ha_reduction op, const values *v, double *size) {
    long double a = op == HA_PRODUCT ? 1 : 0;
    int at = 0;
    *size = 0;
    for (int i = 0; i < v->n; i++) {
        const double x = real_of(v->at[i]), best = real_of(v->at[at]);
        *size += fabs(x);
        if (op == HA_SUM || op == HA_SUM_EXACT) a += (long double)x;
        if (op == HA_PRODUCT) a *= (long double)x;
        if (isnan(best)) continue;
        if ((op == HA_MIN || op == HA_MIN_AT) && (x < best || isnan(x))) at = i;
        if ((op == HA_MAX || op == HA_MAX_AT) && (x > best || isnan(x))) at = i;
    }
    if (op == HA_PRODUCT) *size = fabs((double)a);
    if (op == HA_MIN || op == HA_MAX) return real_of(v->at[at]);
    return op >= HA_MIN_AT ? at : (double)a;
}

static double unit_of(ha_dtype type) {
    return type == HA_DTYPE_double || type == HA_DTYPE_c128 ? DBL_EPSILON : (double)FLT_EPSILON;
}

static void expect_near(double got, double expected, double error, const char *what,
                        ha_dtype type) {
    if (isnan(got) && isnan(expected)) return;
    if (got == expected) return;
    if (!(fabs(got - expected) <= error))
        fail_msg("%s of %s: %.17g instead of %.17g", what, ha_dtype_name(type), got, expected);
}

/* ---- views of numbers whose sums and products are none that overflow ----------------------------- */

static ha_dvalue mild_number(ha_dtype type, ha_reduction op) {
    static const double numbers[] = {1, -1, 0.5, 2, -0.75, 1.25, 3, 0};
    static const double powers[] = {1, -1, 0.5, 2}, turns[][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    const uint32_t turn = draw(4);
    const ha_number_kind kind = ha_dtype_kind(type);
    if (is_whole(type))
        return wrapped(type == HA_DTYPE_bool ? HA_DTYPE_uint8_t : type,
                       (wide)draw(100) - (kind == HA_KIND_SIGNED ? 50 : 0));
    if (kind == HA_KIND_COMPLEX && op == HA_PRODUCT)
        return of_complex(type, complex_from(turns[turn][0], turns[turn][1]));
    if (kind == HA_KIND_COMPLEX)
        return of_complex(type, complex_from(numbers[draw(8)], numbers[draw(8)]));
    ha_dvalue x = {.type = type};
    const double number = op == HA_PRODUCT ? powers[turn] : numbers[draw(8)];
    SUCCEEDS(ha_dvalue_convert(ha_dvalue_of_double(number), type, &x));
    return x;
}

static darray mild_view(ha_dtype type, int rank, const int64_t *extent, ha_reduction op) {
    const darray x = some_view(type, rank, extent, op != HA_PRODUCT);
    ha_access v; /* of all its storage */
    SUCCEEDS(ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    for (size_t i = 0; i < v.size; i++) {
        const ha_dvalue number = mild_number(type, op);
        memcpy((char *)(uintptr_t)v.data + i * ha_dtype_size(type), number.bytes,
               ha_dtype_size(type));
    }
    SUCCEEDS(ha_close(&v));
    return x;
}

/* Also such that a row has more elements than are joined at once. */
static int some_long_extents(int64_t *extent) {
    const int rank = some_extents(extent);
    if (rank == 2 && draw(2)) extent[draw(2)] += 60;
    if (rank == 2 && !draw(6)) extent[1] = 1000 + draw(200);
    if (rank == 2 && extent[0] > 6) extent[1] %= 60;
    return rank;
}

/* ---- reductions ---------------------------------------------------------------------------------- */

static ha_dtype result_type(ha_dtype type) {
    return is_whole(type)                           ? HA_DTYPE_int64_t
           : ha_dtype_kind(type) == HA_KIND_COMPLEX ? HA_DTYPE_c128
                                                    : HA_DTYPE_double;
}

static void know_lanes(ha_dtype type, int lane, ha_reduction op) {
    const ha_op_line *line = line_of(type, lane);
    if (line->text && ha_op_tree_of(line->gives, op))
        know_reduction(type, table_of(lane), lane, 0, ha_op_tree_of(line->gives, op));
}

/* The norm of squares may need the greatest element, too: which is known where it is by itself, as a kernel that was
 * loaded stays what it was known as. */
static void know_norm_2(ha_dtype type, int square, int size) {
    if (!is_fake(C)) return;
    know_lanes(type, size, HA_MAX);
    for (int rank = 0; rank <= HA_MAPPING_RANK; rank++) {
        const ha_op_line *line = line_of(type, square);
        know_key(rank, &(const ha_op_key){.type = ha_op_type_of(type),
                                          .line = line,
                                          .rank = rank,
                                          .tree = ha_op_tree_of(line->gives, HA_SUM),
                                          .make = ha_op_make_reduction});
    }
}

static void know_norm(ha_dtype type, ha_norm_kind kind, int of_difference) {
    const int size = of_difference ? HA_LANE_ABS_DIFFERENCE_ : HA_LANE_ABS_;
    if (kind == HA_NORM_2)
        know_norm_2(type, of_difference ? HA_LANE_SQUARE_OF_DIFFERENCE_ : HA_LANE_SQUARE_, size);
    else
        know_lanes(type, size, kind == HA_NORM_MAX ? HA_MAX : HA_SUM);
}

/* On the context, and on the host with the same bits. */
static void reduce_here_and_there(ha_reduction op, darray x, ha_dtype type, void *result) {
    char here[16] = {0};
    memset(result, 0, sizeof here);
    know_lanes(x.type, HA_LANE_VALUE_, op);
    SUCCEEDS(ha_reduce_(op, x, type, result, C, HA_SITE));
    SUCCEEDS(ha_reduce_(op, x, type, here, H, HA_SITE));
    assert_memory_equal(here, result, sizeof here);
}

static void reduce_some(ha_dtype type, ha_reduction op) {
    int64_t extent[HA_MOST_RANK], place;
    double size, parts[2], number;
    const int rank = some_long_extents(extent), whole = is_whole(type);
    const int is_mild = !whole &&
                        (op == HA_PRODUCT || ha_dtype_kind(type) == HA_KIND_COMPLEX || draw(2));
    darray x = is_mild ? mild_view(type, rank, extent, op) : some_view(type, rank, extent, 1);
    read_values(x, &of_x);
    if (!of_x.n && (op == HA_MIN || op == HA_MAX || op >= HA_MIN_AT)) {
        drop_array(x.array);
        return;
    }
    char result[16];
    if (type == HA_DTYPE_bool || ha_dtype_kind(type) == HA_KIND_UNSIGNED) { /* beyond int64_t */
        uint64_t bits;
        reduce_here_and_there(op, x, HA_DTYPE_uint64_t, result);
        memcpy(&bits, result, sizeof bits);
        assert_true(bits == (uint64_t)joined_integers(op, &of_x));
    } else if (whole || op >= HA_MIN_AT) {
        reduce_here_and_there(op, x, HA_DTYPE_int64_t, result);
        memcpy(&place, result, sizeof place);
        const int64_t expected = whole ? (int64_t)(uint64_t)joined_integers(op, &of_x)
                                       : (int64_t)joined_reals(op, &of_x, &size);
        if (place != expected)
            fail_msg("reduction %d of %s: %lld instead of %lld", (int)op, ha_dtype_name(type),
                     (long long)place, (long long)expected);
    } else if (ha_dtype_kind(type) == HA_KIND_REAL) {
        reduce_here_and_there(op, x, result_type(type), result);
        memcpy(&number, result, sizeof number);
        const double expected = joined_reals(op, &of_x, &size);
        expect_near(number, expected, 64 * unit_of(type) * size, "reduction", type);
    } else {
        double _Complex expected = op == HA_PRODUCT ? 1 : 0;
        size = 0;
        reduce_here_and_there(op, x, result_type(type), result);
        memcpy(parts, result, sizeof parts);
        for (int i = 0; i < of_x.n; i++) {
            const double _Complex u = complex_of(of_x.at[i]);
            expected = op == HA_PRODUCT ? expected * u : expected + u;
            size += cabs(u);
        }
        if (op == HA_PRODUCT) size = cabs(expected);
        expect_near(parts[0], creal(expected), 500 * unit_of(type) * size, "real part", type);
        expect_near(parts[1], cimag(expected), 500 * unit_of(type) * size, "imaginary part", type);
    }
    drop_array(x.array);
}

TEST(joined) {
    const int rounds = share_of(8);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++)
            for (int op = HA_SUM; op <= HA_MAX_AT; op++)
                if (ha_op_tree_of(line_of(types[t], HA_LANE_VALUE_)->gives, (ha_reduction)op) &&
                    is_tried_here(round, t, op))
                    reduce_some(types[t], (ha_reduction)op);
}

/* Ones beside a number whose neighbours are 16 or 64 away: a plain sum loses them. More than 1,024 elements are summed in parts, and
 * what each part has lost is to be joined, too. (Of a dimension sums have the bits of each row's, cases_along.c.) */
static void sum_exactly(ha_dtype type, double large, int64_t n) {
    const darray x = darray_new(type, 1, &n, H);
    char result[16];
    double sum;
    (void)keep_array(x.array);
    SUCCEEDS(darray_fill(x, ha_dvalue_of_double(1), H));
    SUCCEEDS(darray_set(x, 1, (int64_t[]){1}, ha_dvalue_of_double(large)));
    SUCCEEDS(darray_set(x, 1, (int64_t[]){n - 1}, ha_dvalue_of_double(-large)));
    put_there(x);
    reduce_here_and_there(HA_SUM_EXACT, x, HA_DTYPE_double, result);
    memcpy(&sum, result, sizeof sum);
    assert_true(sum == (double)(n - 2));
    drop_array(x.array);
}

/* The interior of a grid whose rows are longer than the lanes that are joined at once (1,024): parts begin in one row and end in
 * another. Of all elements the one that is `at` is greatest. */
static void join_long_rows(ha_dtype type, int64_t width, int64_t at) {
    enum { ROWS = 3 };
    const int64_t extent[] = {ROWS + 2, width + 2}, low[] = {1, 1}, high[] = {ROWS + 1, width + 1};
    const int is_complex = ha_dtype_kind(type) == HA_KIND_COMPLEX;
    darray all = darray_filled(type, 2, extent, HA_DVALUE(1000), H),
           x = darray_part(all, low, high);
    int64_t sum = 0, place = -1;
    double number = 0, exact = 0;
    keep_array(all.array);
    HA_WRITING(v, x, H)
    for (int64_t k = 0; k < ROWS * width; k++) {
        const int64_t element = k == at ? 100 : k * 7 % 13;
        ha_dvalue given = {.type = type};
        SUCCEEDS(ha_dvalue_convert(ha_dvalue_of_int64_t(element), type, &given));
        memcpy((char *)v.data +
                   (k / width * (width + 2) + k % width) * (int64_t)ha_dtype_size(type),
               given.bytes, ha_dtype_size(type));
        sum += element;
    }
    know_lanes(type, HA_LANE_VALUE_, HA_SUM);
    SUCCEEDS(ha_reduce(HA_SUM, x, &number, C));
    assert_true(number == (double)sum);
    know_lanes(type, HA_LANE_VALUE_, HA_MAX_AT);
    if (!is_complex) SUCCEEDS(ha_reduce(HA_MAX_AT, x, &place, C));
    assert_true(is_complex || place == at);
    if (!is_complex && !is_whole(type) && C == H) {
        SUCCEEDS(ha_reduce(HA_SUM_EXACT, x, &exact, C));
        assert_true(exact == (double)sum);
    }
    drop_array(all.array);
}

TEST(joined_in_long_rows) {
    static const ha_dtype all[] = {HA_DTYPE_double,   HA_DTYPE_float, HA_DTYPE_int64_t,
                                   HA_DTYPE_uint64_t, HA_DTYPE_half,  HA_DTYPE_c64,
                                   HA_DTYPE_c128};
    static const int64_t widths[] = {1023, 1025, 1500, 2047, 2049};
    const int types_here = ha_way_of(C) == HA_WAY_COMPILED ? 1 : sizeof all / sizeof *all;
    for (int t = 0; t < types_here; t++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            for (int64_t row = 1; row < 3; row++)
                for (int64_t beside = -2; beside < 2; beside++)
                    join_long_rows(all[t], widths[w], row * widths[w] + beside);
}

TEST(compensated) {
    sum_exactly(HA_DTYPE_double, 1e17, 999);
    sum_exactly(HA_DTYPE_float, 1e9, 999);
    sum_exactly(HA_DTYPE_double, 1e17, 40);
    sum_exactly(HA_DTYPE_double, 1e17, 5000);
    sum_exactly(HA_DTYPE_float, 1e9, 5000);
}

/* What is true or false is added as 1 or 0. */
TEST(joined_truths) {
    const int64_t n = 300;
    const darray x = darray_zeros(HA_DTYPE_bool, 1, &n, H);
    char result[16];
    int64_t sum;
    (void)keep_array(x.array);
    for (int round = 0; round < 3; round++) {
        const int64_t each = round == 0 ? 1 : round == 1 ? 7 : n;
        SUCCEEDS(darray_fill(x, ha_dvalue_of_bool(0), H));
        SUCCEEDS(darray_fill(darray_slice(x, 0, 0, n, each), ha_dvalue_of_bool(1), H));
        put_there(x);
        reduce_here_and_there(HA_SUM, x, HA_DTYPE_int64_t, result);
        memcpy(&sum, result, sizeof sum);
        assert_int_equal(sum, (n + each - 1) / each);
        reduce_here_and_there(HA_MIN, x, HA_DTYPE_int64_t, result);
        memcpy(&sum, result, sizeof sum);
        assert_int_equal(sum, each == 1);
        reduce_here_and_there(HA_MAX, x, HA_DTYPE_int64_t, result);
        memcpy(&sum, result, sizeof sum);
        assert_int_equal(sum, 1);
    }
    drop_array(x.array);
}

/* ---- dot, norms, counts -------------------------------------------------------------------------- */

static double _Complex any_number(ha_dvalue x) {
    if (ha_dtype_kind(x.type) == HA_KIND_COMPLEX) return complex_of(x);
    return is_whole(x.type) ? (double)wide_of(x) : real_of(x);
}

static double naive_norm(ha_norm_kind kind, const values *x, const values *y) {
    double sum = 0, greatest = 0;
    for (int i = 0; i < x->n; i++) {
        const double _Complex u = any_number(x->at[i]), v = y ? any_number(y->at[i]) : 0;
        const double size = cabs(u - v);
        sum += kind == HA_NORM_2 ? size * size : size;
        if (size > greatest) greatest = size;
    }
    return kind == HA_NORM_MAX ? greatest : kind == HA_NORM_2 ? sqrt(sum) : sum;
}

static int has_lanes(ha_dtype type, int lane) { return line_of(type, lane)->text != NULL; }

static void norms_of_some(ha_dtype type) {
    int64_t extent[HA_MOST_RANK], count, expected = 0;
    const int rank = some_long_extents(extent);
    const darray x = mild_view(type, rank, extent, HA_SUM),
                 y = mild_view(type, rank, extent, HA_SUM);
    read_values(x, &of_x), read_values(y, &of_y);
    for (int i = 0; i < of_x.n; i++) expected += any_number(of_x.at[i]) != 0;
    know_lanes(type, HA_LANE_IS_THERE_, HA_SUM);
    SUCCEEDS(ha_count(x, &count, C));
    assert_true(count == expected);
    for (int k = HA_NORM_1; k <= HA_NORM_MAX && ha_dtype_size(type) > 1; k++) {
        const ha_norm_kind kind = (ha_norm_kind)k;
        const double error = 64 * (is_whole(type) ? DBL_EPSILON : unit_of(type));
        double norm, wanted = naive_norm(kind, &of_x, NULL);
        if (!has_lanes(type, HA_LANE_ABS_)) break;
        if (is_fake(C) && kind == HA_NORM_2) continue; /* below */
        know_norm(type, kind, 0);
        SUCCEEDS(ha_norm(kind, x, &norm, C));
        expect_near(norm, wanted, error * wanted, "norm", type);
        wanted = naive_norm(kind, &of_x, &of_y);
        know_norm(type, kind, 1);
        SUCCEEDS(ha_difference(kind, x, y, &norm, C));
        expect_near(norm, wanted, error * wanted, "norm of the difference", type);
    }
    drop_array(x.array), drop_array(y.array);
}

static void dot_of_some(ha_dtype type) {
    int64_t extent[HA_MOST_RANK];
    const int rank = some_long_extents(extent);
    const darray x = mild_view(type, rank, extent, HA_SUM),
                 y = mild_view(type, rank, extent, HA_SUM);
    double _Complex expected = 0;
    double size = 0, parts[2] = {0, 0};
    wide sum = 0;
    read_values(x, &of_x), read_values(y, &of_y);
    know_lanes(type, HA_LANE_PRODUCT_, HA_SUM);
    for (int i = 0; i < of_x.n; i++) {
        if (is_whole(type))
            sum = (wide)(uint64_t)((unsigned_wide)sum +
                                   (unsigned_wide)wide_product(wide_of(of_x.at[i]),
                                                               wide_of(of_y.at[i])));
        expected += conj(any_number(of_x.at[i])) * any_number(of_y.at[i]);
        size += cabs(any_number(of_x.at[i])) * cabs(any_number(of_y.at[i]));
    }
    put_there(x);
    if (is_whole(type)) {
        uint64_t bits;
        const ha_dtype to = ha_dtype_kind(type) == HA_KIND_SIGNED ? HA_DTYPE_int64_t
                                                                  : HA_DTYPE_uint64_t;
        SUCCEEDS(ha_dot_(x, y, to, &bits, C, HA_SITE));
        assert_true(bits == (uint64_t)sum);
    } else {
        SUCCEEDS(ha_dot_(x, y, result_type(type), parts, C, HA_SITE));
        expect_near(parts[0], creal(expected), 64 * unit_of(type) * size, "dot", type);
        expect_near(parts[1], cimag(expected), 64 * unit_of(type) * size, "dot", type);
    }
    expect_there(x);
    drop_array(x.array), drop_array(y.array);
}

TEST(dots_norms_and_counts) {
    const int rounds = share_of(30);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < TYPES; t++) {
            if (is_turn_here(round / 8, t, round, 5)) norms_of_some(types[t]);
            if (is_turn_here(round / 8, t, round, 1) && has_lanes(types[t], HA_LANE_PRODUCT_))
                dot_of_some(types[t]);
        }
}

/* All reductions of a type, of rows of which those of these places have gaps. */
static void run_all_loops(int t, unsigned gaps) {
    for (int op = HA_SUM; op <= HA_MAX_AT; op++) {
        rows_with_gaps = gaps;
        if (ha_op_tree_of(line_of(types[t], HA_LANE_VALUE_)->gives, (ha_reduction)op))
            reduce_some(types[t], (ha_reduction)op);
    }
    rows_with_gaps = gaps, norms_of_some(types[t]);
    if (has_lanes(types[t], HA_LANE_PRODUCT_)) rows_with_gaps = gaps, dot_of_some(types[t]);
}

/* Over elements one after the other, all with gaps, and one of two arrays with gaps. */
TEST(every_loop_of_the_host) {
    static const unsigned gaps[] = {0, ~0u, 1, 2};
    if (C != H) return;
    only_rows = 1;
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        for (int t = 0; t < TYPES; t++) run_all_loops(t, gaps[i]);
    only_rows = 0;
    rows_with_gaps = 0;
}

/* Squares that are too great, or too small, for the type. */
TEST(norms_that_do_not_overflow) {
    static const double sizes[] = {1e30, 1e-30, 3e38, 1e-44, 0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const float size = (float)sizes[i];
        harray_float x = harray_float_filled(16, size);
        double norm, scaled = 1 + (double)size;
        keep_array(x.array);
        know_norm(HA_DTYPE_float, HA_NORM_2, 0);
        SUCCEEDS(ha_norm(HA_NORM_2, x, &norm, C));
        know_norm(HA_DTYPE_float, HA_NORM_2, 1);
        SUCCEEDS(ha_difference(HA_NORM_2, x, x, &scaled, C));
        if (is_fake(C) || ha_context_is_exact(C) == 1 || size > 1e-37f ||
            size == 0) /* has denormal numbers */
            expect_near(norm, 4 * (double)size, 1e-6 * (double)size, "norm", HA_DTYPE_float);
        assert_true(scaled == 0);
        drop_array(x.array);
    }
    harray_c128 z = harray_c128_filled(4, ha_c128_make(3e200, -4e200));
    keep_array(z.array);
    double norm;
    know_norm(HA_DTYPE_c128, HA_NORM_2, 0);
    SUCCEEDS(ha_norm(HA_NORM_2, z, &norm, C));
    expect_near(norm, 1e201, 1e187, "norm", HA_DTYPE_c128);
    drop_array(z.array);
}

static void expect_norm(ha_norm_kind kind, darray x, const darray *y, double wanted) {
    double norm = -1;
    know_norm(x.type, kind, y != NULL);
    if (y)
        SUCCEEDS(ha_difference(kind, x, *y, &norm, C));
    else
        SUCCEEDS(ha_norm(kind, x, &norm, C));
    if (wanted <= DBL_MAX)
        expect_near(norm, wanted, 1e-6 * wanted, "norm", x.type);
    else
        assert_true(norm == wanted);
}

/* Norms are doubles: what a sum, a difference or the size of a complex number is may be beyond floats. */
TEST(norms_beyond_floats) {
    harray_float x = harray_float_filled(40, 3e38f), y = harray_float_filled(40, -3e38f);
    harray_c64 z = harray_c64_filled(3, ha_c64_make(3e38f, 3e38f)),
               w = harray_c64_filled(3, ha_c64_make(-3e38f, 3e38f));
    const darray view_of_y = HA_DARRAY(y), view_of_w = HA_DARRAY(w);
    const double size = (double)3e38f, size_of_z = sqrt(2) * size;
    keep_array(x.array), keep_array(y.array), keep_array(z.array), keep_array(w.array);
    expect_norm(HA_NORM_1, HA_DARRAY(x), NULL, 40 * size);
    expect_norm(HA_NORM_MAX, HA_DARRAY(x), &view_of_y, 2 * size);
    expect_norm(HA_NORM_2, HA_DARRAY(x), &view_of_y, sqrt(40) * 2 * size);
    expect_norm(HA_NORM_1, HA_DARRAY(x), &view_of_y, 80 * size);
    expect_norm(HA_NORM_MAX, HA_DARRAY(z), NULL, size_of_z);
    expect_norm(HA_NORM_2, HA_DARRAY(z), NULL, sqrt(3) * size_of_z);
    expect_norm(HA_NORM_1, HA_DARRAY(z), NULL, 3 * size_of_z);
    expect_norm(HA_NORM_MAX, HA_DARRAY(z), &view_of_w, 2 * size);
    expect_norm(HA_NORM_2, HA_DARRAY(z), &view_of_w, sqrt(3) * 2 * size);
    HA_WRITING(v, x, H) v.data[39] = -(float)INFINITY;
    expect_norm(HA_NORM_1, HA_DARRAY(x), NULL, INFINITY);
    expect_norm(HA_NORM_MAX, HA_DARRAY(x), NULL, INFINITY);
    expect_norm(HA_NORM_2, HA_DARRAY(x), &view_of_y, INFINITY);
    drop_array(x.array), drop_array(y.array), drop_array(z.array), drop_array(w.array);
}

/* Of integers beyond 2^53 that are near to each other. */
TEST(differences_of_large_integers) {
    const uint64_t large = (uint64_t)1 << 63;
    harray_uint64_t x = harray_uint64_t_filled(4, large + 1), y = harray_uint64_t_filled(4, large);
    double norm = 0;
    keep_array(x.array), keep_array(y.array);
    for (int swapped = 0; swapped < 2; swapped++) {
        know_norm(HA_DTYPE_uint64_t, HA_NORM_2, 1);
        SUCCEEDS(ha_difference(HA_NORM_2, swapped ? y : x, swapped ? x : y, &norm, C));
        assert_true(norm == 2);
    }
    drop_array(x.array), drop_array(y.array);
}

/* ---- long ones, and none ------------------------------------------------------------------------- */

/* The order of the sums is that of HA_REDUCE: over whole arrays and over views. */
TEST(the_bits_of_reductions) {
    enum { N = 100003 };
    harray_double x = harray_double_new(N);
    harray_float u = harray_float_new(N), v = harray_float_new(N);
    keep_array(x.array), keep_array(u.array), keep_array(v.array);
    HA_WRITING(a, x, H) for (int i = 0; i < N; i++) a.data[i] = 1.0 / (i + 3);
    HA_WRITING(a, u, H) for (int i = 0; i < N; i++) a.data[i] = 1.0f / (float)(i % 1000 + 3);
    HA_WRITING(a, v, H) for (int i = 0; i < N; i++) a.data[i] = 0.1f * (float)(i % 77 - 30);
    double sum, by_hand;
    float dot, dot_by_hand_;
    know_lanes(HA_DTYPE_double, HA_LANE_VALUE_, HA_SUM);
    SUCCEEDS(ha_reduce(HA_SUM, x, &sum, C));
    SUCCEEDS(sum_by_hand(H, HA_ALL_LANES, x, &by_hand));
    assert_true(sum == by_hand);
    know_lanes(HA_DTYPE_float, HA_LANE_PRODUCT_, HA_SUM);
    SUCCEEDS(ha_dot(u, v, &dot, C));
    SUCCEEDS(dot_by_hand(H, HA_ALL_LANES, u, v, &dot_by_hand_));
    assert_true(dot == dot_by_hand_);
    /* Parts that begin and end within rows. */
    array_int64_t_2 grid = array_int64_t_2_filled(HA_DIM(60, 50), 100, H);
    const array_int64_t_2 part = array_int64_t_2_part(grid, HA_DIM(0, 2), HA_DIM(60, 47));
    keep_array(grid.array);
    HA_WRITING(g, part, H)
    for (int j = 0; j < 60; j++)
        for (int i = 0; i < 45; i++) HA_AT(g.span, j, i) = j * 1000 + i;
    int64_t all, expected = 0;
    for (int j = 0; j < 60; j++)
        for (int i = 0; i < 45; i++) expected += j * 1000 + i;
    know_lanes(HA_DTYPE_int64_t, HA_LANE_VALUE_, HA_SUM);
    SUCCEEDS(ha_reduce(HA_SUM, part, &all, C));
    assert_true(all == expected);
    drop_array(grid.array);
    darray backwards = darray_flip(HA_DARRAY(x), 0);
    know_lanes(HA_DTYPE_double, HA_LANE_VALUE_, HA_SUM);
    SUCCEEDS(ha_reduce(HA_SUM, backwards, &sum, C));
    double again;
    SUCCEEDS(ha_reduce(HA_SUM, backwards, &again, H));
    assert_true(sum == again);
    expect_near(sum, by_hand, 1e-12, "backwards", HA_DTYPE_double);
    drop_array(v.array), drop_array(u.array), drop_array(x.array);
}

TEST(of_no_elements) {
    harray_float x = harray_float_new(0);
    harray_uint32_t bits = harray_uint32_t_new(0);
    keep_array(x.array), keep_array(bits.array);
    float number = 7;
    uint64_t all = 0;
    SUCCEEDS(ha_reduce(HA_SUM, x, &number, C));
    assert_true(number == 0);
    SUCCEEDS(ha_reduce(HA_PRODUCT, x, &number, C));
    assert_true(number == 1);
    SUCCEEDS(ha_norm(HA_NORM_2, x, &number, C));
    assert_true(number == 0);
    SUCCEEDS(ha_norm(HA_NORM_MAX, x, &number, C));
    assert_true(number == 0);
    SUCCEEDS(ha_reduce(HA_AND, bits, &all, C));
    assert_true(all == UINT64_MAX);
    drop_array(x.array), drop_array(bits.array);
}

/* ---- what is refused ----------------------------------------------------------------------------- */

static void refused(ha_status expected, ha_status got, const char *part, const char *second) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, expected);
    assert_int_equal(e.status, expected);
    if (!strstr(e.text, part) || !strstr(e.text, second))
        fail_msg("\"%s\" does not say \"%s\", \"%s\"", e.text, part, second);
}

/* A finite sum is not given as an infinite one, nor a place as another place. */
TEST(results_that_do_not_fit) {
    harray_double x = harray_double_filled(2100, 0);
    keep_array(x.array);
    HA_WRITING(v, x, H) v.data[2049] = 1e300;
    float sum = 3;
    ha_half place = ha_half_of_float(3);
    int32_t at = 0;
    know_lanes(HA_DTYPE_double, HA_LANE_VALUE_, HA_SUM);
    refused(HA_ERR_ARGUMENT, ha_reduce(HA_SUM, x, &sum, C), "double (2100)",
            "1e+300, as float: does not fit");
    know_lanes(HA_DTYPE_double, HA_LANE_VALUE_, HA_MAX_AT);
    refused(HA_ERR_ARGUMENT, ha_reduce(HA_MAX_AT, x, &place, C), "double (2100)",
            "the place, 2049, would be another one as half");
    SUCCEEDS(ha_reduce(HA_MAX_AT, x, &at, C));
    assert_true(at == 2049 && sum == 3 && ha_half_to_float(place) == 3);
    harray_double y = harray_double_filled(70000, 0); /* more than the greatest half */
    keep_array(y.array);
    HA_WRITING(v, y, H) v.data[69999] = 1;
    know_lanes(HA_DTYPE_double, HA_LANE_VALUE_, HA_MAX_AT);
    refused(HA_ERR_ARGUMENT, ha_reduce(HA_MAX_AT, y, &place, C), "double (70000)",
            "the place, 69999, would be another one as half");
    drop_array(y.array);
    HA_WRITING(v, x, H) v.data[2049] = INFINITY;
    know_lanes(HA_DTYPE_double, HA_LANE_VALUE_, HA_SUM);
    SUCCEEDS(ha_reduce(HA_SUM, x, &sum, C));
    assert_true(isinf(sum));
    drop_array(x.array);
}

TEST(refused_reductions) {
    harray_double x = harray_double_filled(10, 1e10), y = harray_double_filled(11, 1);
    harray_double none = harray_double_new(0), never = harray_double_new(10);
    harray_c64 z = harray_c64_filled(10, ha_c64_make(1, 1));
    keep_array(x.array), keep_array(y.array), keep_array(none.array), keep_array(z.array);
    keep_array(never.array);
    ha_array_set_name(x.array, "density");
    double number = 3;
    int32_t small = 3, *nowhere = NULL;
    know_lanes(HA_DTYPE_double, HA_LANE_VALUE_, HA_SUM);
    refused(HA_ERR_ARGUMENT, ha_reduce(HA_SUM, x, &small, C), "density",
            "as int32_t: does not fit");
    assert_int_equal(small, 3);
    struct {
        double sum;
    } record = {3};
    refused(HA_ERR_ARGUMENT, ha_reduce(HA_SUM, x, nowhere, C),
            "cases_numbers.c:", "the pointer to the result is NULL");
    refused(HA_ERR_ARGUMENT, ha_reduce_(HA_SUM, HA_DARRAY(x), HA_DTYPE_NONE, &record, C, HA_SITE),
            "cases_numbers.c:",
            "the pointer to the result is to no number: that is an integer, bool, float, double,");
    refused(HA_ERR_ARGUMENT, ha_norm_(HA_NORM_2, HA_DARRAY(x), HA_DTYPE_NONE, &record, C, HA_SITE),
            "the result is to no number", "");
    refused(HA_ERR_ARGUMENT, ha_count_elements_(HA_DARRAY(x), HA_DTYPE_NONE, &record, C, HA_SITE),
            "the result is to no number", "");
    assert_true(record.sum == 3);
    refused(HA_ERR_ARGUMENT, ha_reduce(HA_AND, x, &number, C), "density",
            "there is no HA_AND of double");
    refused(HA_ERR_ARGUMENT, ha_reduce(HA_MIN, z, &number, C), "c64 (10)",
            "there is no HA_MIN of c64");
    refused(HA_ERR_ARGUMENT, ha_reduce(HA_MIN, none, &number, C), "double (0)", "no elements");
    refused(HA_ERR_ARGUMENT, ha_reduce(HA_MAX_AT, none, &number, C), "double (0)", "no elements");
    refused(HA_ERR_ARGUMENT, ha_dot(x, y, &number, C), "density", "extents are not the same");
    refused(HA_ERR_ARGUMENT, ha_dot(x, z, &number, C), "density", "types are not the same");
    refused(HA_ERR_STATE, ha_reduce(HA_SUM, never, &number, C),
            "cases_numbers.c:", "never written");
    assert_true(number == 3);
    drop_array(never.array), drop_array(z.array), drop_array(none.array), drop_array(y.array);
    drop_array(x.array);
}

/* More than lanes have: the bits are those of the same elements without gaps. */
TEST(eight_dimensions) {
    const darray x = eight_dimensions_of(HA_DTYPE_float);
    const ha_op_type *of = ha_op_type_of(HA_DTYPE_float);
    const ha_op_line *line = line_of(HA_DTYPE_float, HA_LANE_VALUE_);
    ha_access v;
    SUCCEEDS(ha_open(&v, x.array, H, HA_WRITE, 0, HA_END));
    for (size_t i = 0; i < v.size; i++) ((float *)(uintptr_t)v.data)[i] = 1 / (1 + (float)i);
    SUCCEEDS(ha_close(&v));
    const darray dense = darray_contiguous(x, HA_ROW_MAJOR, H);
    float got = 0, expected = 1;
    keep_array(dense.array);
    if (is_fake(C))
        know_key(0, &(const ha_op_key){.type = of,
                                       .line = line,
                                       .rank = 8,
                                       .tree = ha_op_tree_of(line->gives, HA_SUM),
                                       .make = ha_op_make_reduction});
    SUCCEEDS(ha_reduce(HA_SUM, x, &got, C));
    SUCCEEDS(ha_reduce(HA_SUM, dense, &expected, H));
    assert_memory_equal(&got, &expected, sizeof got);
    drop_array(dense.array), drop_array(x.array);
}

/* Functions of one type do what the words do. */
TEST(functions_of_a_type) {
    harray_double x = harray_double_filled(50, 3), y = harray_double_filled(50, 2);
    harray_int8_t small = harray_int8_t_filled(50, 3);
    keep_array(x.array), keep_array(y.array), keep_array(small.array);
    HA_WRITING(v, x, H) v.data[8] = -4, v.data[9] = 5;
    double got;
    int8_t sum = 1;
    know_lanes(HA_DTYPE_double, HA_LANE_VALUE_, HA_SUM);
    SUCCEEDS(harray_double_sum(x, &got, C));
    assert_true(got == 145);
    know_lanes(HA_DTYPE_double, HA_LANE_VALUE_, HA_MIN);
    SUCCEEDS(harray_double_min(x, &got, C));
    assert_true(got == -4);
    know_lanes(HA_DTYPE_double, HA_LANE_VALUE_, HA_MAX);
    SUCCEEDS(harray_double_max(x, &got, C));
    assert_true(got == 5);
    know_lanes(HA_DTYPE_double, HA_LANE_VALUE_, HA_MIN_AT);
    SUCCEEDS(harray_double_reduce(HA_MIN_AT, x, &got, C));
    assert_true(got == 8);
    know_lanes(HA_DTYPE_double, HA_LANE_PRODUCT_, HA_SUM);
    SUCCEEDS(harray_double_dot(x, y, &got, C));
    assert_true(got == 290);
    know_lanes(HA_DTYPE_double, HA_LANE_ABS_, HA_SUM);
    SUCCEEDS(harray_double_norm(HA_NORM_1, x, &got, C));
    assert_true(got == 153);
    know_lanes(HA_DTYPE_double, HA_LANE_ABS_DIFFERENCE_, HA_SUM);
    SUCCEEDS(harray_double_difference(HA_NORM_1, x, y, &got, C));
    assert_true(got == 48 + 6 + 3);
    know_lanes(HA_DTYPE_int8_t, HA_LANE_VALUE_, HA_SUM);
    refused(HA_ERR_ARGUMENT, harray_int8_t_sum(small, &sum, C), "150", "int8_t");
    assert_int_equal(sum, 1);
    drop_array(small.array), drop_array(y.array), drop_array(x.array);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        CASE(eight_dimensions),        CASE(joined),
        CASE(joined_in_long_rows),     CASE(compensated),
        CASE(joined_truths),           CASE(dots_norms_and_counts),
        CASE(every_loop_of_the_host),  CASE(norms_that_do_not_overflow),
        CASE(norms_beyond_floats),     CASE(differences_of_large_integers),
        CASE(the_bits_of_reductions),  CASE(of_no_elements),
        CASE(results_that_do_not_fit), CASE(refused_reductions),
        CASE(functions_of_a_type),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
