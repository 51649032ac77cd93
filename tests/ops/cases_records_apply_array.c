/* Fields of record arrays with the elements of arrays, on every context and in many layouts, against the same arithmetic with
 * arrays of structs here. */
#include "sparing.h"
#include "known_apply.h"
#include "two_sides.h"

static void apply_elements(ha_operator op, darray x, const ha_applying *how) {
    know_elements(left.records, op, x, how);
    assert_int_equal(ha_records_apply_array(left.records, op, x, how, C), HA_OK);
}

/* ---- what is computed ---------------------------------------------------------------------------- */

/* A record's fields of one type with the same value in all of them, which is that of an element, too. */
static darray elements_of_right(darray all, ha_dtype type) {
    const int64_t size = (int64_t)ha_dtype_size(type), columns = right.known->extent[1];
    const ha_mapped model = model_of(&right);
    ha_write_darray v;
    memset(&v, 0, sizeof v);
    int64_t index[HA_MAPPING_RANK] = {0};
    assert_int_equal(ha_open_view(&v, all, H, HA_OVERWRITE), HA_OK);
    do {
        _Alignas(16) char value[16];
        ha_mapped_get(&model, 0, index, value);
        for (int64_t leaf = 1; leaf < right.known->rows; leaf++)
            ha_mapped_set(&model, leaf, index, value);
        memcpy((char *)v.data + ((index[0] * columns + index[1]) * 2 + 1) * size, value,
               (size_t)size);
    } while (next_index(right.known, index));
    HA_CHECK(ha_close(&v));
    return darray_slice(all, 1, 1, 2 * columns, 2);
}

/* Each record with an element, of every type, of a view with steps, all and in parts. */
static void try_elements(int k) {
    static const int64_t extent[] = {3, 300}, twice[] = {3, 600}, first[] = {1, 7},
                         last[] = {9, 299};
    char fields[200], what[60];
    const char *t = types[k];
    snprintf(fields, sizeof fields, "a:%s m[2]:%s n:%s u:%s z:%s flag:%s", t, t, t, t, t, t);
    make_sides("a:f32 m[2]:f16 n:i16 u:u64 z:c64 flag:bool", fields, 2, extent);
    darray all = darray_new(right.record->field[0].type, 2, twice, H);
    HA_CHECK(ha_records_layout(left.records, C, layouts[k % LAYOUTS]));
    fill_side(&left);
    fill_side(&right);
    const darray x = elements_of_right(all, all.type);
    for (int op = HA_ASSIGN; op <= HA_DIVIDE; op++) {
        const ha_applying how = {.paths = k >= 13 ? "z"
                                          : op    ? "a+m+n+u+z"
                                                  : NULL,
                                 .first = op % 2 ? first : NULL,
                                 .last = op % 2 ? last : NULL};
        const ha_mapped to = model_of(&left), from = model_of(&right);
        if (C != H && (k + k / 12 + op) % stride_up_to(3)) continue;
        HA_CHECK(ha_mapped_apply_view(&to, (ha_operator)op, &from, &how, NULL));
        apply_elements((ha_operator)op, x, &how);
        snprintf(what, sizeof what, "elements of %s, operation %d", t, op);
        is_expected_of(&left, what);
    }
    HA_CHECK(darray_free(&all));
    end_sides();
}

TEST(computes_with_elements) {
    if (is_not_for_it()) skip();
    for (int k = 0; k < TYPES; k++)
        if (!has_few_kernels() || k % 12 == 0) try_elements(k);
}

/* One value for all records: a view that repeats it. */
TEST(computes_with_one_value) {
    static const int64_t extent[] = {3, 70}, one[] = {1};
    if (is_not_for_it()) skip();
    make_side(&left, "a:f32 n:i16 u:u64 z:c64", 2, extent);
    HA_CHECK(ha_records_layout(left.records, C, "soa"));
    fill_side(&left);
    const int64_t value = -3;
    darray all = darray_filled(HA_DTYPE_int64_t, 1, one, HA_DVALUE(value), H);
    const darray x = darray_broadcast(all, 2, extent);
    for (int op = HA_ASSIGN; op <= HA_DIVIDE; op++) {
        const ha_applying how = {.paths = op % 2 ? "a+u" : "n+a+z"};
        if (is_fake(C) && op > HA_ADD) continue;
        const ha_mapped model = model_of(&left);
        HA_CHECK(
            ha_mapped_apply_scalar(&model, (ha_operator)op, HA_DTYPE_int64_t, &value, &how, NULL));
        apply_elements((ha_operator)op, x, &how);
        is_expected_of(&left, "one value");
    }
    HA_CHECK(darray_free(&all));
}

/* ---- what is refused, and what goes by the host -------------------------------------------------- */

/* With elements: what is refused, what stays where it is, and each allocation that fails. */
TEST(refuses_elements_and_changes_nothing) {
    static const int64_t extent[] = {4, 3}, other[] = {3, 4};
    if (is_not_for_it()) skip();
    make_sides("a:f32 n:i32 flag:bool", "a:f64 n:f64 flag:f64", 2, extent);
    darray x = darray_new(HA_DTYPE_double, 2, extent, H),
           y = darray_new(HA_DTYPE_c64, 2, extent, H);
    darray z = darray_new(HA_DTYPE_double, 2, other, H), none = {.array = NULL};
    const ha_applying how = {.paths = "a+n"};
    fill_side(&left);
    HA_CHECK(ha_fill(x, 2.0, H));
#define REFUSES_ELEMENTS(as, why, op, x)                                                           \
    is_refused(ha_records_apply_array(left.records, op, x, &how, C), as, why)
    REFUSES_ELEMENTS(HA_ERR_ARGUMENT, "a complex number makes no real one", HA_ADD, y);
    ha_array_set_name(z.array, "turned");
    REFUSES_ELEMENTS(HA_ERR_ARGUMENT, ": x, double (3, 4) of array 'turned', and records ", HA_ADD,
                     z);
    REFUSES_ELEMENTS(HA_ERR_ARGUMENT, "[4, 3]): the extents are not the same", HA_ADD, z);
    REFUSES_ELEMENTS(HA_ERR_ARGUMENT, "HA_ABS_MAXIMUM is none of ha_records_apply_array's",
                     (ha_operator)9, x);
    is_refused(ha_records_apply_array(left.records, HA_ADD, none, &how, C), HA_ERR_ARGUMENT, "");
    is_refused(ha_records_apply_array(NULL, HA_ADD, x, &how, C), HA_ERR_ARGUMENT, "no records");
    is_refused(ha_records_apply_array(left.records, HA_ADD, x, NULL, C), HA_ERR_ARGUMENT,
               "a bool can be assigned only");
    is_expected_of(&left, "refused");
    const ha_mapped model = model_of(&left);
    ha_status s = HA_ERR_MEMORY;
    know_elements(left.records, HA_MULTIPLY, x, &how);
    for (int n = 0; s; n++) {
        until_failure = n;
        s = ha_records_apply_array(left.records, HA_MULTIPLY, x, &how, C);
        until_failure = -1;
        const ha_error error = ha_take_error();
        if (s && (!error.status || n > 10000)) fail_msg("%d: %d: %s", n, s, error.text);
        if (s) is_expected_of(&left, "without memory");
    }
    HA_CHECK(ha_mapped_apply_number(&model, HA_MULTIPLY, 2, &how, NULL));
    const uint64_t moved = ha_records_statistics(left.records).transfers;
    apply_elements(HA_ADD, x, &how);
    if (ha_way_of(C) != HA_WAY_HOST)
        assert_int_equal(ha_records_statistics(left.records).transfers, moved);
    HA_CHECK(ha_mapped_apply_number(&model, HA_ADD, 2, &how, NULL));
    is_expected_of(&left, "with memory");
    HA_CHECK(darray_free(&x));
    HA_CHECK(darray_free(&y));
    HA_CHECK(darray_free(&z));
}

/* Elements of one value, so that the number says what is expected. */
static darray all_of(ha_dtype type, int rank, const int64_t *extent) {
    darray x = darray_new(type, rank, extent, H);
    assert_non_null(x.array);
    HA_CHECK(ha_fill(x, 2, H));
    return x;
}

static void apply_two(ha_operator op, const char *paths, darray x, const char *what) {
    const ha_applying how = {.paths = paths};
    const ha_mapped model = model_of(&left);
    HA_CHECK(ha_mapped_apply_number(&model, op, 2, &how, NULL));
    apply_elements(op, x, &how);
    is_expected_of(&left, what);
}

/* With elements, what a kernel cannot do: values that share bytes, quotients of complex numbers, and more blobs than it
 * has arguments for; and what needs none, as no record is asked for. */
TEST(elements_go_by_way_of_the_host) {
    static const int64_t extent[] = {30}, nothing[] = {5};
    if (is_not_for_it()) skip();
    darray x = all_of(HA_DTYPE_double, 1, extent), z = all_of(HA_DTYPE_c128, 1, extent);
    make_sides("x:u8 z:c128", "x:u8", 1, extent);
    HA_CHECK(ha_records_layout(left.records, C, "split(x: bitint(8; soa), aos)"));
    fill_side(&left);
    apply_two(HA_ADD, "x", x, "bits");
    const ha_applying none = {.paths = "z", .first = nothing, .last = nothing};
    apply_elements(HA_ADD, x, &none);
    is_expected_of(&left, "no records");
    HA_CHECK(ha_mapped_apply_number(&(ha_mapped){left.known, left.blob}, HA_ASSIGN, 3,
                                    &(ha_applying){.paths = "z"}, NULL));
    know_number(left.records, HA_ASSIGN, 3, &(ha_applying){.paths = "z"});
    HA_CHECK(ha_records_apply_number(left.records, HA_ASSIGN, 3, &(ha_applying){.paths = "z"}, C));
    apply_two(HA_DIVIDE, "z", z, "quotients");
    end_sides();
    make_sides("x[70]:i16", "x:u8", 1, extent);
    HA_CHECK(ha_records_layout(left.records, C, "soa"));
    fill_side(&left);
    apply_two(HA_SUBTRACT, NULL, x, "many blobs");
    ha_records *gone = left.records;
    HA_CHECK(ha_records_free(gone));
    left.records = NULL;
    is_refused(ha_records_apply_array(gone, HA_ADD, x, NULL, C), HA_ERR_STATE, "freed");
    end_sides();
    make_sides("x:u8", "x:u8", 1, extent);
    darray pairs = darray_new_(HA_ROW_MAJOR, (ha_type){"pair", 8}, 1, extent, H);
    is_refused(ha_records_apply_array(left.records, HA_ADD, pairs, NULL, C), HA_ERR_ARGUMENT,
               "its elements are no numbers");
    HA_CHECK(darray_free(&pairs));
    HA_CHECK(darray_free(&x));
    HA_CHECK(darray_free(&z));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RECORDS(computes_with_elements),
        RECORDS(computes_with_one_value),
        RECORDS(refuses_elements_and_changes_nothing),
        RECORDS(elements_go_by_way_of_the_host),
    };
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
