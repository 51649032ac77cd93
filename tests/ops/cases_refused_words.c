/* Words of another function than that which is called, and numbers that are no words, on every context: they are refused by name and
 * with the caller's line, where another word says it that one is told, and nothing is changed. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"
#include "../support/share.h"
#include "some_views.h"
#include "known_operations.h"

enum { LONG = 4 };
static darray x, y, z, at, to;
static double number;

typedef ha_status (*called)(int word);
static ha_status map(int word) { return ha_map((ha_map_operation)word, z, x, C); }
static ha_status combine(int word) { return ha_combine(word, z, x, y, C); }
static ha_status combine_number(int word) { return ha_combine_number(word, z, x, 3, C); }
static ha_status scatter(int word) { return ha_scatter(word, z, at, x, C); }
static ha_status sparse(int word) {
    return ha_sparse_combine(word, to, z, at, x, at, y, &number, C);
}
static ha_status reduce(int word) { return ha_reduce((ha_reduction)word, x, &number, C); }
static ha_status along(int word) { return ha_reduce_along((ha_reduction)word, z, x, 0, C); }
static ha_status scan(int word) { return ha_scan((ha_reduction)word, z, x, HA_INCLUSIVE, C); }
static ha_status scan_along(int word) {
    return ha_scan_along((ha_reduction)word, z, x, 0, HA_INCLUSIVE, C);
}
static ha_status kind(int word) { return ha_scan(HA_SUM, z, x, (ha_scan_kind)word, C); }
static ha_status norm(int word) { return ha_norm((ha_norm_kind)word, x, &number, C); }
static ha_status difference(int word) {
    return ha_difference((ha_norm_kind)word, x, y, &number, C);
}
static ha_status sort(int word) { return ha_sort(z, (ha_sort_order)word, C); }
static ha_status sorting(int word) { return ha_sorting(to, x, (ha_sort_order)word, C); }
static ha_status by_key(int word) { return ha_sort_by_key(to, z, (ha_sort_order)word, C); }

typedef struct wrong {
    const char *operation;
    called call;
    int word;
    const char *why; /* all that is behind the caller's line */
} wrong;

static const wrong wrongs[] = {
    {"ha_combine", combine, HA_SUM, "HA_SUM is a reduction; of two arguments it is HA_ADD"},
    {"ha_combine", combine, HA_PRODUCT,
     "HA_PRODUCT is a reduction; of two arguments it is HA_MULTIPLY"},
    {"ha_combine", combine, HA_MIN, "HA_MIN is a reduction; of two arguments it is HA_MINIMUM"},
    {"ha_combine", combine, HA_MAX, "HA_MAX is a reduction; of two arguments it is HA_MAXIMUM"},
    {"ha_combine", combine, HA_XOR, "HA_XOR is a reduction: ha_reduce"},
    {"ha_combine", combine, HA_SQRT, "HA_SQRT is of one argument: ha_map"},
    {"ha_combine", combine, HA_NORM_2, "HA_NORM_2 is a norm: ha_norm"},
    {"ha_combine", combine, HA_NORM_MAX,
     "HA_NORM_MAX is a norm; of two arguments it is HA_ABS_MAXIMUM"},
    {"ha_combine", combine, HA_LESS,
     "HA_LESS is the order of two numbers; of two arguments it is HA_IS_LESS"},
    {"ha_combine", combine, HA_GREATER,
     "HA_GREATER is the order of two numbers; of two arguments it is HA_IS_GREATER"},
    {"ha_combine", combine, HA_UNORDERED,
     "HA_UNORDERED is the order of two numbers: ha_dvalue_compare"},
    {"ha_combine", combine, HA_DESCENDING, "HA_DESCENDING is an order of sorting: ha_sort"},
    {"ha_combine", combine, HA_INCLUSIVE, "HA_INCLUSIVE is a kind of scans: ha_scan"},
    {"ha_combine", combine, HA_ASSIGN,
     "HA_ASSIGN is none of ha_combine's: HA_ADD to HA_IS_GREATER_EQUAL"},
    {"ha_combine", combine, HA_COMBINES_,
     "operation 23 is none of ha_combine's: HA_ADD to HA_IS_GREATER_EQUAL"},
    {"ha_combine_number", combine_number, HA_MAX,
     "HA_MAX is a reduction; of two arguments it is HA_MAXIMUM"},
    {"ha_combine_number", combine_number, HA_FLOOR, "HA_FLOOR is of one argument: ha_map"},
    {"ha_combine_number", combine_number, -2,
     "operation -2 is none of ha_combine_number's: HA_ADD to HA_IS_GREATER_EQUAL"},
    {"ha_sparse_combine", sparse, HA_SUM, "HA_SUM is a reduction; of two arguments it is HA_ADD"},
    {"ha_sparse_combine", sparse, HA_NEGATE, "HA_NEGATE is of one argument: ha_map"},
    {"ha_sparse_combine", sparse, HA_ASSIGN,
     "HA_ASSIGN is none of ha_sparse_combine's: HA_ADD to HA_IS_GREATER_EQUAL"},
    {"ha_scatter", scatter, HA_SUM, "HA_SUM is a reduction; of two arguments it is HA_ADD"},
    {"ha_scatter", scatter, HA_MAX, "HA_MAX is a reduction; of two arguments it is HA_MAXIMUM"},
    {"ha_scatter", scatter, HA_OR, "HA_OR is a reduction: ha_reduce"},
    {"ha_scatter", scatter, HA_NORM_MAX, "HA_NORM_MAX is a norm: ha_norm"},
    {"ha_scatter", scatter, HA_EXP, "HA_EXP is of one argument: ha_map"},
    {"ha_scatter", scatter, HA_DIVIDE,
     "HA_DIVIDE is none of ha_scatter's: HA_ASSIGN, HA_ADD, HA_MULTIPLY, HA_MINIMUM, HA_MAXIMUM"},
    {"ha_scatter", scatter, 99,
     "operation 99 is none of ha_scatter's: HA_ASSIGN, HA_ADD, HA_MULTIPLY, HA_MINIMUM, "
     "HA_MAXIMUM"},
    {"ha_map", map, HA_ADD, "HA_ADD is of two arguments: ha_combine"},
    {"ha_map", map, HA_IS_GREATER_EQUAL, "HA_IS_GREATER_EQUAL is of two arguments: ha_combine"},
    {"ha_map", map, HA_SUM, "HA_SUM is a reduction: ha_reduce"},
    {"ha_map", map, HA_NORM_1, "HA_NORM_1 is a norm: ha_norm"},
    {"ha_map", map, 0, "operation 0 is none of ha_map's: HA_NEGATE to HA_IS_FINITE"},
    {"ha_map", map, 99, "operation 99 is none of ha_map's: HA_NEGATE to HA_IS_FINITE"},
    {"ha_map", map, HA_MAPS_, "operation 543 is none of ha_map's: HA_NEGATE to HA_IS_FINITE"},
    {"ha_map", map, INT32_MAX,
     "operation 2147483647 is none of ha_map's: HA_NEGATE to HA_IS_FINITE"},
    {"ha_reduce", reduce, HA_ADD, "HA_ADD is of two arguments; as a reduction it is HA_SUM"},
    {"ha_reduce", reduce, HA_MULTIPLY,
     "HA_MULTIPLY is of two arguments; as a reduction it is HA_PRODUCT"},
    {"ha_reduce", reduce, HA_MINIMUM,
     "HA_MINIMUM is of two arguments; as a reduction it is HA_MIN"},
    {"ha_reduce", reduce, HA_MAXIMUM,
     "HA_MAXIMUM is of two arguments; as a reduction it is HA_MAX"},
    {"ha_reduce", reduce, HA_HYPOT, "HA_HYPOT is of two arguments: ha_combine"},
    {"ha_reduce", reduce, HA_ABS, "HA_ABS is of one argument: ha_map"},
    {"ha_reduce", reduce, HA_NORM_2, "HA_NORM_2 is a norm: ha_norm"},
    {"ha_reduce", reduce, HA_MAX_AT + 1,
     "reduction 266 is none of ha_reduce's: HA_SUM to HA_MAX_AT"},
    {"ha_reduce_along", along, HA_MAXIMUM,
     "HA_MAXIMUM is of two arguments; as a reduction it is HA_MAX"},
    {"ha_reduce_along", along, HA_ABS, "HA_ABS is of one argument: ha_map"},
    {"ha_reduce_along", along, 77,
     "reduction 77 is none of ha_reduce_along's: HA_SUM to HA_MAX_AT"},
    {"ha_scan", scan, HA_ADD, "HA_ADD is of two arguments; as a reduction it is HA_SUM"},
    {"ha_scan", scan, HA_DIVIDE, "HA_DIVIDE is of two arguments: ha_combine"},
    {"ha_scan", scan, HA_XOR, "HA_XOR is none of ha_scan's: HA_SUM, HA_PRODUCT, HA_MIN, HA_MAX"},
    {"ha_scan", scan, -5, "reduction -5 is none of ha_scan's: HA_SUM, HA_PRODUCT, HA_MIN, HA_MAX"},
    {"ha_scan_along", scan_along, HA_MINIMUM,
     "HA_MINIMUM is of two arguments; as a reduction it is HA_MIN"},
    {"ha_scan_along", scan_along, HA_EXCLUSIVE, "HA_EXCLUSIVE is a kind of scans: ha_scan"},
    {"ha_scan", kind, HA_ASCENDING,
     "HA_ASCENDING is an order of sorting; ha_scan takes HA_INCLUSIVE, HA_EXCLUSIVE"},
    {"ha_scan", kind, 0, "kind 0 is none of ha_scan's: HA_INCLUSIVE, HA_EXCLUSIVE"},
    {"ha_scan", kind, 55, "kind 55 is none of ha_scan's: HA_INCLUSIVE, HA_EXCLUSIVE"},
    {"ha_norm", norm, HA_MAX,
     "HA_MAX is a reduction; ha_norm takes HA_NORM_1, HA_NORM_2, HA_NORM_MAX"},
    {"ha_norm", norm, HA_ABS_MAXIMUM,
     "HA_ABS_MAXIMUM is of two arguments; as a norm it is HA_NORM_MAX"},
    {"ha_norm", norm, HA_NORM_MAX + 1,
     "norm 771 is none of ha_norm's: HA_NORM_1, HA_NORM_2, HA_NORM_MAX"},
    {"ha_difference", difference, HA_SUM,
     "HA_SUM is a reduction; ha_difference takes HA_NORM_1, HA_NORM_2, HA_NORM_MAX"},
    {"ha_difference", difference, 99,
     "norm 99 is none of ha_difference's: HA_NORM_1, HA_NORM_2, HA_NORM_MAX"},
    {"ha_sort", sort, HA_MIN, "HA_MIN is a reduction; ha_sort takes HA_ASCENDING, HA_DESCENDING"},
    {"ha_sort", sort, HA_LESS, "order -1 is none of ha_sort's: HA_ASCENDING, HA_DESCENDING"},
    {"ha_sort", sort, HA_INCLUSIVE,
     "HA_INCLUSIVE is a kind of scans; ha_sort takes HA_ASCENDING, HA_DESCENDING"},
    {"ha_sort", sort, 1, "HA_ADD is of two arguments; ha_sort takes HA_ASCENDING, HA_DESCENDING"},
    {"ha_sort", sort, 44, "order 44 is none of ha_sort's: HA_ASCENDING, HA_DESCENDING"},
    {"ha_sorting", sorting, HA_IS_GREATER,
     "HA_IS_GREATER is of two arguments; ha_sorting takes HA_ASCENDING, HA_DESCENDING"},
    {"ha_sorting", sorting, 44, "order 44 is none of ha_sorting's: HA_ASCENDING, HA_DESCENDING"},
    {"ha_sort_by_key", by_key, HA_MAX,
     "HA_MAX is a reduction; ha_sort_by_key takes HA_ASCENDING, HA_DESCENDING"},
    {"ha_sort_by_key", by_key, 44,
     "order 44 is none of ha_sort_by_key's: HA_ASCENDING, HA_DESCENDING"},
};

static darray filled(ha_dtype type, int with) {
    const int64_t n = LONG;
    const darray of = darray_new(type, 1, &n, C);
    keep_array(of.array);
    SUCCEEDS(darray_fill(of, HA_DVALUE(with), C));
    return of;
}

/* Its text is that of the caller's line, and this. */
static void expect_refused(const wrong *w) {
    static const char file[] = __FILE__ ":";
    const ha_status got = w->call(w->word);
    const ha_error e = ha_take_error();
    assert_int_equal(got, HA_ERR_ARGUMENT);
    assert_string_equal(e.operation, w->operation);
    const char *behind = strstr(e.text, ": ");
    if (strncmp(e.text, file, sizeof file - 1) != 0 || !behind || strcmp(behind + 2, w->why) != 0)
        fail_msg("%s: \"%s\" instead of \"%s\"", w->operation, e.text, w->why);
}

static void expect_all(darray of, int with) {
    static values now;
    read_values(of, &now);
    for (int i = 0; i < now.n; i++) assert_true(real_of(now.at[i]) == with);
}

TEST(of_another_function) {
    x = filled(HA_DTYPE_double, 3), y = filled(HA_DTYPE_double, 2), z = filled(HA_DTYPE_double, 7);
    at = filled(HA_DTYPE_int32_t, 1), to = filled(HA_DTYPE_int32_t, 9);
    const uint64_t version = ha_array_version(z.array), of_to = ha_array_version(to.array);
    number = 5;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) expect_refused(&wrongs[i]);
    assert_int_equal(ha_array_version(z.array), version);
    assert_int_equal(ha_array_version(to.array), of_to);
    assert_true(number == 5);
    expect_all(z, 7), expect_all(to, 9);
    drop_arrays();
}

/* Each word is of one function, whatever is called. */
TEST(each_word) {
    static const struct {
        int first, last;
        called takes;
    } words[] = {{HA_ADD, HA_COPYSIGN, combine},
                 {HA_SUM, HA_MAX, reduce},
                 {HA_SUM_EXACT, HA_MAX_AT, reduce},
                 {HA_NORM_1, HA_NORM_MAX, norm},
                 {HA_ASCENDING, HA_DESCENDING, sort}};
    static const called calls[] = {combine, map, reduce, norm, kind, sort};
    if (is_fake(C)) return; /* it knows kernels that it has been told of */
    x = filled(HA_DTYPE_double, 3), y = filled(HA_DTYPE_double, 2), z = filled(HA_DTYPE_double, 7);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (int word = words[i].first; word <= words[i].last; word++)
            for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
                const ha_status s = calls[k](word);
                assert_int_equal(s, calls[k] == words[i].takes ? HA_OK : HA_ERR_ARGUMENT);
                if (s) (void)ha_take_error();
            }
    drop_arrays();
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {OPERATIONS(of_another_function), OPERATIONS(each_word)};
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
