/* Sparse vectors, on every context: against a merge by hand, of all types of indices; and what is refused, which changes nothing. */
#include "sparing.h"
#include "some_views.h"
#include "known_operations.h"

static const ha_dtype index_types[] = {HA_DTYPE_int32_t, HA_DTYPE_uint32_t, HA_DTYPE_int64_t,
                                       HA_DTYPE_uint64_t};

enum { FEW_INDICES = 60, MANY_INDICES = 1000 };

/* The same vector twice: as arrays, and dense with the indices that it has. */
typedef struct vector {
    darray at, values;
    int64_t n;
    int indices;
    int has[MANY_INDICES];
    ha_dvalue dense[MANY_INDICES];
} vector;

static ha_dvalue zero_of(ha_dtype type) {
    ha_dvalue x;
    SUCCEEDS(ha_dvalue_convert(ha_dvalue_of_int32_t(0), type, &x));
    return x;
}

static void put(darray x, int64_t i, ha_dvalue value) {
    const int64_t at = x.origin[0] + i;
    SUCCEEDS(darray_set(x, 1, &at, value));
}

static ha_dvalue got(darray x, int64_t i) {
    const int64_t at = x.origin[0] + i;
    ha_dvalue value;
    SUCCEEDS(darray_get(x, 1, &at, &value));
    return value;
}

/* Each index with a probability of some eighths; of many with one half. */
static vector some_vector(ha_dtype index, ha_dtype type, int indices) {
    const uint32_t part = indices == MANY_INDICES ? 4 : draw(9);
    vector v = {.indices = indices};
    for (int i = 0; i < indices; i++) {
        v.has[i] = draw(8) < part;
        v.dense[i] = v.has[i] ? some_number(type) : zero_of(type);
        v.n += v.has[i];
    }
    v.at = some_view(index, 1, &v.n, 0);
    v.values = some_view(type, 1, &v.n, 0);
    for (int64_t i = 0, n = 0; i < indices; i++) {
        if (!v.has[i]) continue;
        put(v.at, n, wrapped(index, i));
        put(v.values, n++, v.dense[i]);
    }
    return v;
}

static void drop_vector(vector *v) { drop_array(v->at.array), drop_array(v->values.array); }

static ha_dtype type_of_combine(ha_dtype type, int op) {
    if (op == HA_COMPLEX) return type == HA_DTYPE_double ? HA_DTYPE_c128 : HA_DTYPE_c64;
    return op >= HA_IS_EQUAL ? HA_DTYPE_uint8_t : type;
}

static void expect_union(const vector *x, const vector *y, int op, darray at, darray z, int count) {
    const int exact = op == HA_MINIMUM || op == HA_MAXIMUM ? EITHER_ZERO : EXACT;
    int n = 0;
    for (int i = 0; i < x->indices; i++) {
        if (!x->has[i] && !y->has[i]) continue;
        const ha_dvalue there = got(z, n);
        const ha_dvalue expected = naive(op, x->dense[i], y->dense[i], zero_of(x->values.type),
                                         zero_of(x->values.type));
        assert_true(wide_of(got(at, n)) == i);
        if (!is_near(there, expected, exact))
            fail_msg("%s, operation %d: the value of index %d is another one",
                     ha_dtype_name(x->values.type), op, i);
        n++;
    }
    assert_int_equal(count, n);
}

static void combine_some(ha_dtype index, ha_dtype type, int op, int indices) {
    vector x = some_vector(index, type, indices), y = some_vector(index, type, indices);
    const int64_t room = x.n + y.n + (int64_t)draw(3);
    const darray at = some_view(index, 1, &room, 0);
    const darray z = some_view(type_of_combine(type, op), 1, &room, 0);
    const int has_more = room > x.n + y.n;
    const ha_dvalue behind = has_more ? got(z, room - 1) : zero_of(type);
    int count = -1;
    SUCCEEDS(ha_sparse_combine(op, at, z, x.at, x.values, y.at, y.values, &count, C));
    expect_union(&x, &y, op, at, z, count);
    if (has_more) assert_memory_equal(got(z, room - 1).bytes, behind.bytes, ha_dtype_size(z.type));
    drop_vector(&x), drop_vector(&y);
    drop_array(at.array), drop_array(z.array);
}

TEST(combined) {
    static const int ops[] = {HA_ADD, HA_SUBTRACT, HA_MULTIPLY, HA_IS_NOT_EQUAL};
    /* Where they are compiled a dozen operations, each for seconds. */
    const int rounds = compiles() && !getenv("HARRAY_TEST_LONG") ? 0 : share_of(20);
    for (int i = 0; i < 3; i++)
        combine_some(HA_DTYPE_int32_t, HA_DTYPE_double, HA_ADD, FEW_INDICES);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < COMPUTED; t++)
            combine_some(index_types[draw(4)], types[t], ops[draw(4)], FEW_INDICES);
}

TEST(every_operation) {
    for (int t = 0; t < TYPES && C == H; t++)
        for (int op = HA_ADD; op < HA_COMBINES_; op++)
            if (ha_dtype_kind(types[t]) != HA_KIND_COMPLEX && has_combine(types[t], op))
                combine_some(index_types[(t + op) % 4], types[t], op, FEW_INDICES);
}

/* Of some 500 values. */
TEST(long_ones) {
    static const int ops[] = {HA_SUBTRACT, HA_MULTIPLY, HA_MAXIMUM, HA_IS_LESS};
    for (int t = 0; t < TYPES && C == H; t++)
        if (ha_dtype_kind(types[t]) != HA_KIND_COMPLEX && has_combine(types[t], ops[t % 4]))
            combine_some(index_types[t / 4 % 4], types[t], ops[t % 4], MANY_INDICES);
}

/* The result may be where an argument is. */
TEST(in_place) {
    enum { N = 6 };
    static const int32_t first[] = {1, 4, 5}, second[] = {0, 4, 9, 11};
    static const double expected[N] = {2, 1, 12, 3, 20, 30}, ones[] = {1, 2, 3};
    static const double tens[] = {2, 10, 20, 30};
    static const int32_t all[N] = {0, 1, 4, 5, 9, 11};
    harray_int32_t at = harray_int32_t_filled(N, 99), other = harray_int32_t_of(4, second);
    harray_double x = keep(harray_double_filled(N, 77)), y = keep(harray_double_of(4, tens));
    uint8_t count = 0;
    keep_array(at.array), keep_array(other.array);
    HA_WRITING(v, at, H) memcpy(v.data, first, sizeof first);
    HA_WRITING(v, x, H) memcpy(v.data, ones, sizeof ones);
    const darray some = darray_slice(HA_DARRAY(at), 0, 0, 3, 1);
    const darray few = darray_slice(HA_DARRAY(x), 0, 0, 3, 1);
    SUCCEEDS(ha_sparse_combine(HA_ADD, at, x, some, few, other, y, &count, C));
    assert_int_equal(count, N);
    HA_READING(v, at, H) assert_memory_equal(v.data, all, sizeof all);
    HA_READING(v, x, H) for (int i = 0; i < N; i++) assert_true(v.data[i] == expected[i]);
    drop(x), drop(y);
    drop_array(at.array), drop_array(other.array);
}

/* ---- what is refused ----------------------------------------------------------------------------- */

static void refused(ha_status got_status, const char *part, const char *second) {
    const ha_error e = ha_take_error();
    assert_int_equal(got_status, HA_ERR_ARGUMENT);
    assert_string_equal(e.operation, "ha_sparse_combine");
    if (!strstr(e.text, part) || !strstr(e.text, second))
        fail_msg("\"%s\" does not say \"%s\", \"%s\"", e.text, part, second);
}

TEST(refused_arguments) {
    static const int32_t good[] = {1, 4, 5}, twice[] = {1, 4, 4}, below[] = {-1, 4, 5};
    harray_int32_t at = harray_int32_t_of(3, good), z_at = harray_int32_t_filled(6, 8);
    harray_int32_t same = harray_int32_t_of(3, twice), negative = harray_int32_t_of(3, below);
    harray_int64_t wide_at = harray_int64_t_filled(3, 1);
    harray_double x = keep(harray_double_filled(3, 1)), z = keep(harray_double_filled(6, 2));
    harray_float f = harray_float_filled(3, 1);
    int count = 7;
    int8_t small = 7;
    keep_array(at.array), keep_array(z_at.array), keep_array(same.array);
    keep_array(negative.array), keep_array(wide_at.array), keep_array(f.array);
    ha_array_set_name(same.array, "twice");
    ha_array_set_name(z_at.array, "places");
    const darray short_at = darray_slice(HA_DARRAY(z_at), 0, 0, 2, 1);
    const darray short_z = darray_slice(HA_DARRAY(z), 0, 0, 2, 1);
    const darray grid = darray_reshape(HA_DARRAY(z), 2, (int64_t[]){2, 3});
    const darray repeated = darray_broadcast(darray_slice(HA_DARRAY(z), 0, 0, 1, 1), 1,
                                             (int64_t[]){6});
    const darray all_at = HA_DARRAY(z_at);
#define NO(part, second, ...) refused(ha_sparse_combine(HA_ADD, __VA_ARGS__, C), part, second)
    NO("there is -1: an index is not below zero", "at (0)", z_at, z, negative, x, at, x, &count);
    NO("an index is of", "double", x, z, at, x, at, x, &count);
    NO("an index is of", "double", z_at, z, x, x, at, x, &count);
    NO("types are not the same", "z_at, int32_t (6) of array 'places', and x_at, int64_t (3)", z_at,
       z, wide_at, x, at, x, &count);
    NO("not as many values", "x_at, int32_t (3), and x, double (6)", z_at, z, at, z, at, x, &count);
    NO("one dimension", "double", z_at, grid, at, x, at, x, &count);
    NO("repeats elements", "double", z_at, repeated, at, x, at, x, &count);
    NO("elements of an argument", "and z, int32_t (6) of array 'places'", z_at, all_at, at, x, at,
       x, &count);
    NO("not as many values", "y_at, int32_t (3), and y, double (6)", z_at, z, at, x, at, z, &count);
    NO("the pointer to the count is NULL", "", z_at, z, at, x, at, x, (int *)NULL);
    NO("", "float", z_at, z, at, x, at, f, &count);
    refused(ha_sparse_combine(99, z_at, z, at, x, at, x, &count, C), "99", "");
    NO("the index at (2) is not greater", "twice", z_at, z, same, x, at, x, &count);
    NO("the index at (2) is not greater", "twice", z_at, z, at, x, same, x, &count);
    NO("-1", "int32_t", z_at, z, at, x, negative, x, &count);
    NO("no room for 3", "places", short_at, z, at, x, at, x, &count);
    NO("no room for 3", "double", z_at, short_z, at, x, at, x, &count);
    if (C == H) { /* more than the count's type has */
        harray_int32_t many = harray_int32_t_new(200), room = harray_int32_t_new(200);
        harray_double ones = keep(harray_double_filled(200, 1)),
                      sums = keep(harray_double_filled(200, 2));
        keep_array(many.array), keep_array(room.array);
        SUCCEEDS(ha_sequence(many, 0, 1, C));
        NO("the result, 200, as int8_t", "int32_t", room, sums, many, ones, many, ones, &small);
        HA_READING(v, sums, H) for (int i = 0; i < 200; i++) assert_true(v.data[i] == 2);
        drop(ones), drop(sums), drop_array(many.array), drop_array(room.array);
    }
#undef NO
    assert_int_equal(count, 7);
    assert_int_equal(small, 7);
    HA_READING(v, z_at, H) for (int i = 0; i < 6; i++) assert_int_equal(v.data[i], 8);
    HA_READING(v, z, H) for (int i = 0; i < 6; i++) assert_true(v.data[i] == 2);
    drop(x), drop(z), drop_array(f.array);
    drop_array(at.array), drop_array(z_at.array), drop_array(same.array);
    drop_array(negative.array), drop_array(wide_at.array);
}

/* Each allocation in turn; afterwards all is as it was, and the same call succeeds. */
TEST(without_memory) {
    static const int32_t first[] = {1, 4}, second[] = {2, 4};
    static const double ones[] = {1, 2};
    int failures = 0;
    for (int n = 0; C == H; n++) {
        harray_int32_t x_at = harray_int32_t_of(2, first), y_at = harray_int32_t_of(2, second);
        harray_int32_t at = harray_int32_t_filled(3, 9);
        harray_double x = harray_double_of(2, ones), z = harray_double_filled(3, 9);
        int count = 7;
        ha_op_kernels_end(); /* they are made again */
        until_failure = n;
        const ha_status s = ha_sparse_combine(HA_ADD, at, z, x_at, x, y_at, x, &count, C);
        const int all = until_failure >= 0;
        until_failure = -1;
        failures += s != HA_OK;
        if (s) {
            assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);
            assert_int_equal(count, 7);
            HA_READING(v, at, H) for (int i = 0; i < 3; i++) assert_int_equal(v.data[i], 9);
            HA_READING(v, z, H) for (int i = 0; i < 3; i++) assert_true(v.data[i] == 9);
        }
        SUCCEEDS(harray_int32_t_free(&x_at));
        SUCCEEDS(harray_int32_t_free(&y_at));
        SUCCEEDS(harray_int32_t_free(&at));
        SUCCEEDS(harray_double_free(&x));
        SUCCEEDS(harray_double_free(&z));
        if (!s && all) break;
    }
    assert_true(C != H || failures > 20);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        OPERATIONS(combined), OPERATIONS(every_operation),   OPERATIONS(long_ones),
        OPERATIONS(in_place), OPERATIONS(refused_arguments), OPERATIONS(without_memory),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
