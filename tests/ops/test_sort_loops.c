/* Sorting on the host, by digits, and by buckets as if caches held a few hundred bytes: keys of all kinds, from all in one bucket to one
 * bucket for each, in rows with gaps and backwards, against a sort by comparing that keeps the order of equals. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { MOST = 3 * HA_SORT_MANY, STEPS = 2, BEHIND = 4096 }; /* bytes behind the room, which stay */

static uint64_t random_numbers = 1;
static uint64_t draw_bits(void) {
    uint64_t high = random_numbers = random_numbers * 6364136223846793005u + 1442695040888963407u;
    random_numbers = random_numbers * 6364136223846793005u + 1442695040888963407u;
    return (high >> 32 << 32) | random_numbers >> 32;
}
static uint32_t draw(uint32_t n) { return (uint32_t)((draw_bits() >> 32) % n); }

/* ---- keys ---------------------------------------------------------------------------------------- */

static const ha_dtype types[] = {HA_DTYPE_int32_t, HA_DTYPE_uint32_t, HA_DTYPE_float,
                                 HA_DTYPE_int64_t, HA_DTYPE_uint64_t, HA_DTYPE_double};
enum { TYPES = sizeof types / sizeof *types };

/* What keys of a row have in common. */
enum {
    ANY,
    IN_ONE_HALF,
    LOW_BITS,
    HIGH_BITS,
    IN_THE_MIDDLE,
    ONE_FAR_AWAY,
    SOME_FAR_AWAY,
    CLUSTERS,       /* of about 50 that differ in the lowest bits */
    SMALL_CLUSTERS, /* of about 2 */
    ALL_THE_SAME,
    SPECIAL,
    SOME_NANS, /* all elements have a sign in common */
    FEW_PATTERNS, /* at most three, of zeros, infinities and NaNs, of either sign, and what is beside them */
    RARE_PATTERNS, /* one of them, and two that are hardly ever there */
    KINDS
};

/* The same for the same number, of so many bits. */
static uint64_t scattered(uint32_t number, int bits) {
    return (number + 1) * 0x9e3779b97f4a7c15u >> (64 - bits);
}
static int row_length, is_descending; /* of the row that is made */
static uint64_t of_cluster(int kind, int bits, int low) {
    const uint32_t clusters = (uint32_t)row_length / (kind == CLUSTERS ? 50 : 2) + 1;
    return scattered(draw(clusters), bits - low) << low | draw(1u << low);
}

static double some_real(int kind, int i, int bits) {
    static const double special[] = {
        0.0, -0.0, (double)NAN, -(double)NAN, (double)INFINITY, -(double)INFINITY, 1};
    const double unit = (double)(draw_bits() >> 11) / 9007199254740992.0;
    switch (kind) {
    case ANY:
        return ldexp(unit - 0.5, (int)draw(100) - 50);
    case IN_ONE_HALF:
        return unit;
    case LOW_BITS:
        return 1 + ldexp(draw(1000), -22);
    case HIGH_BITS:
        return ldexp(draw(2) ? 1 : -1, (int)draw(120) - 60);
    case IN_THE_MIDDLE:
        return 1 + ldexp(draw(64), -10);
    case ONE_FAR_AWAY:
        return i ? unit / 1024 + 1 : -1e30;
    case SOME_FAR_AWAY: /* at each digit */
        return 1 + (i < 20 ? ldexp(1, 3 * i - 50) : draw(100) / 4503599627370496.0);
    case CLUSTERS:
    case SMALL_CLUSTERS: /* as many bits as there are behind the point */
        return 1 + ldexp((double)of_cluster(kind, bits, 5), -bits);
    case ALL_THE_SAME:
        return 0.5;
    case SOME_NANS:
        return copysign(draw(200) ? 1 + unit / 16 : (double)NAN, is_descending ? 1 : -1);
    default:
        return draw(3) ? special[draw(7)] : unit;
    }
}

static uint64_t some_integer(int kind, int i, int bits) {
    switch (kind) {
    case ANY:
        return draw_bits() >> (64 - bits);
    case IN_ONE_HALF:
        return draw_bits() >> (65 - bits);
    case LOW_BITS:
        return draw(1000);
    case HIGH_BITS:
        return (uint64_t)draw(256) << (bits - 8);
    case IN_THE_MIDDLE:
        return (uint64_t)draw(64) << bits / 2;
    case ONE_FAR_AWAY:
        return i ? draw(1u << 20) : (uint64_t)1 << (bits - 1);
    case SOME_FAR_AWAY:
        return i < bits ? (uint64_t)1 << i : draw(8);
    case CLUSTERS:
    case SMALL_CLUSTERS:
        return of_cluster(kind, bits, 8);
    case ALL_THE_SAME:
        return 77;
    default:
        return draw(2) ? draw(3) : 0 - (uint64_t)draw(3);
    }
}

/* As reals: 0, the least number, the greatest one, infinity, two NaNs; and all of them with the other sign. */
static uint64_t pattern(uint32_t number, int bits) {
    const uint64_t top = (uint64_t)1 << (bits - 1);
    const uint64_t infinite = ha_sort_infinity(bits == 32 ? HA_DTYPE_float : HA_DTYPE_double);
    const uint64_t of[] = {0, 1, infinite - 1, infinite, infinite + 1, top - 1};
    return of[number % 6] | (number < 6 ? 0 : top);
}
static uint64_t some_pattern(int kind, int i, int bits) {
    static uint32_t number[3];
    for (int k = 0; k < 3 && i == 0; k++) number[k] = draw(12);
    return pattern(number[kind == FEW_PATTERNS || draw(40) == 0 ? draw(3) : 0], bits);
}

static void put_some(ha_dtype type, int kind, int i, char *to) {
    const double real = some_real(kind, i, type == HA_DTYPE_float ? 23 : 52);
    const float single = (float)real;
    const size_t bytes = ha_dtype_size(type);
    const int bits = (int)(8 * bytes), are_patterns = kind == FEW_PATTERNS || kind == RARE_PATTERNS;
    const uint64_t integer = are_patterns ? some_pattern(kind, i, bits)
                                          : some_integer(kind, i, bits);
    if (are_patterns)
        memcpy(to, &integer, bytes);
    else if (type == HA_DTYPE_double)
        memcpy(to, &real, bytes);
    else if (type == HA_DTYPE_float)
        memcpy(to, &single, bytes);
    else
        memcpy(to, &integer, bytes);
}

/* Below zero: p before q. NaN is last in any order, and -0.0 is 0.0. */
#define COMPARED(x, y) (((x) > (y)) - ((x) < (y)))
static int compare(ha_dtype type, const char *p, const char *q) {
#define COMPARE(T)                                                                                 \
    if (type == HA_DTYPE_##T) {                                                                    \
        T x, y;                                                                                    \
        memcpy(&x, p, sizeof x), memcpy(&y, q, sizeof y);                                          \
        return COMPARED(x, y);                                                                     \
    }
    COMPARE(int32_t)
    COMPARE(uint32_t)
    COMPARE(float)
    COMPARE(int64_t)
    COMPARE(uint64_t)
    COMPARE(double)
    abort();
}

static int is_nan(ha_dtype type, const char *p) {
    double x = 0;
    float single = 0;
    if (type == HA_DTYPE_double) memcpy(&x, p, sizeof x);
    if (type == HA_DTYPE_float) memcpy(&single, p, sizeof single);
    return isnan(x) || isnan(single);
}

/* ---- one row ------------------------------------------------------------------------------------- */

static char keys[MOST * 8];
static int places[MOST];
static ha_dtype type_now;

static int compare_places(const void *p, const void *q) {
    const int i = *(const int *)p, k = *(const int *)q;
    const char *x = keys + 8 * i, *y = keys + 8 * k;
    const int nans = is_nan(type_now, x) - is_nan(type_now, y);
    const int order = compare(type_now, x, y) * (is_descending ? -1 : 1);
    if (nans) return nans;
    return order ? order : COMPARED(i, k);
}

/* The i-th element of a row. */
static char *at_row(char *row, size_t bytes, int64_t step, int64_t n, int64_t i) {
    return row + (size_t)(step < 0 ? (i - n + 1) * step : i * step) * bytes;
}

static void expect_row(const ha_sort_job *j, char *x, char *q, int kind) {
    for (int64_t i = 0; i < j->n; i++) {
        const int from = places[i];
        const char *key = at_row(x, j->bytes, j->x_step, j->n, i);
        const char *expected = keys + 8 * (j->what == HA_SORT_NUMBERS ? i : from);
        uint64_t along = 0;
        if (j->carried) memcpy(&along, at_row(q, j->carried, j->q_step, j->n, i), j->carried);
        if (memcmp(key, expected, j->bytes) || (j->carried && along != (uint64_t)from))
            fail_msg("%s, kind %d, %d of %d, what %d: another one", ha_dtype_name(type_now), kind,
                     (int)i, (int)j->n, j->what);
    }
}

/* Values are the numbers of elements, too. bucket: bytes; 0: caches hold all. */
static void try_row(int what, int64_t n, int kind, size_t bucket) {
    static _Alignas(8) char x[MOST * STEPS * 8], q[MOST * STEPS * 8];
    const int64_t steps[] = {1, 1, 2, -1, -2};
    ha_sort_job j = {.what = what,
                     .is_real = ha_dtype_kind(type_now) == HA_KIND_REAL,
                     .bytes = ha_dtype_size(type_now),
                     .carried = what == HA_SORT_ELEMENTS ? 0
                                : draw(2)                ? 4
                                                         : 8,
                     .form = ha_sort_form_of(type_now, is_descending),
                     .n = n,
                     .x_step = steps[draw(5)],
                     .q_step = steps[draw(5)]};
    j.x = at_row(x, j.bytes, j.x_step, n, 0);
    j.q = j.carried ? at_row(q, j.carried, j.q_step, n, 0) : NULL;
    row_length = (int)n;
    memset(x, 0, sizeof x), memset(q, 0xff, sizeof q);
    for (int i = 0; i < (int)n; i++) {
        const uint64_t number = (uint64_t)i;
        put_some(type_now, kind, i, keys + 8 * i);
        memcpy(at_row(x, j.bytes, j.x_step, n, i), keys + 8 * i, j.bytes);
        if (what == HA_SORT_VALUES)
            memcpy(at_row(q, j.carried, j.q_step, n, i), &number, j.carried);
        places[i] = i;
    }
    qsort(places, (size_t)n, sizeof *places, compare_places);
    const ha_sort_layout layout = ha_sort_layout_for(&j, bucket ? 64 : SIZE_MAX, bucket);
    assert_true((layout.longest > 0) == (bucket > 0));
    char *room = (char *)malloc(layout.all + BEHIND);
    assert_non_null(room);
    memset(room, 0x5a, layout.all + BEHIND);
    (bucket ? ha_sort_by_buckets : ha_sort_in_caches)(&j, &layout, room);
    for (size_t i = 0; i < BEHIND; i++) assert_true(room[layout.all + i] == 0x5a);
    free(room);
    expect_row(&j, x, q, kind);
}

static void rows(HA_UNUSED void **state) {
    static const int64_t lengths[] = {65, 66, 300, 1000, 3000};
    static const size_t buckets[] = {0, 0, 100, 700, 2000, 1 << 20};
    for (int t = 0; t < TYPES; t++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int i = 0; i < 3 * 2 * 5 * (kind < FEW_PATTERNS ? 1 : 20); i++) {
                type_now = types[t];
                is_descending = i / 3 % 2;
                try_row(i % 3, lengths[i / 6 % 5], kind, buckets[draw(6)]);
            }
}

/* Of longer digits, as those of long buckets are. */
static void long_rows(HA_UNUSED void **state) {
    for (int t = 0; t < TYPES; t++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int what = HA_SORT_ELEMENTS; what <= HA_SORT_VALUES; what++) {
                type_now = types[t];
                is_descending = (int)draw(2);
                try_row(what, MOST, kind, 0);
                try_row(what, MOST, kind, (size_t)(1 + draw(3)) << 15);
            }
}

/* Keys without a sign of 64 bits: by how many digits they are sorted at first, and which bits are below these. */
static int sorted_by(int kind, int64_t n, int by_all, int *below) {
    uint64_t x[4000];
    uint32_t counts[HA_SORT_DIGITS << 8];
    const ha_sort_job j = {.what = HA_SORT_ELEMENTS,
                           .bytes = sizeof *x,
                           .form = ha_sort_form_of(HA_DTYPE_uint64_t, 0)};
    ha_sort_part p = {.n = n, .from = {x, NULL}, .differ = UINT64_MAX, .may_do = 32};
    row_length = (int)n;
    for (int i = 0; i < (int)n; i++) x[i] = some_integer(kind, i, 64);
    ha_sort_look(&j, &p);
    const ha_sort_digits_of d = ha_sort_choose(&j, &p, by_all, counts);
    assert_true(!by_all || d.is_all);
    *below = d.n ? d.shift[d.n - 1] : 64;
    return d.n;
}

/* By as many of the highest digits as tell most keys apart, from the highest bit on that differs; by all, when some that are looked at
 * have these in common. */
static void highest_digits(HA_UNUSED void **state) {
    int below;
    assert_true(sorted_by(ANY, 4000, 0, &below) == 3 && below == 40);
    assert_true(sorted_by(ANY, 1000, 0, &below) == 2 && below == 48);
    assert_true(sorted_by(ANY, 1000, 1, &below) == 8 && below == 0);
    assert_true(sorted_by(LOW_BITS, 4000, 0, &below) == 2 && below == 0);
    assert_true(sorted_by(HIGH_BITS, 4000, 0, &below) == 1 && below == 56);
    assert_true(sorted_by(IN_THE_MIDDLE, 4000, 0, &below) == 1 && below == 32);
    assert_true(sorted_by(ONE_FAR_AWAY, 1000, 0, &below) == 4 && below == 0);
    assert_true(sorted_by(CLUSTERS, 4000, 0, &below) == 8 && below == 0);
    assert_true(sorted_by(ALL_THE_SAME, 4000, 0, &below) == 0);
}

/* Those that are looked at have no bits in common, but all others have, in pairs of the wrong order: by the highest digits, too many are
 * out of order then to be mended, and they are sorted by all. */
static void too_many_to_mend(HA_UNUSED void **state) {
    enum { ALL = 31 * HA_SORT_LOOKED_AT };
    static uint64_t x[ALL], q[ALL];
    ha_sort_job j = {.what = HA_SORT_VALUES,
                     .bytes = sizeof *x,
                     .carried = sizeof *q,
                     .form = ha_sort_form_of(HA_DTYPE_uint64_t, 0),
                     .n = ALL,
                     .x = x,
                     .q = q,
                     .x_step = 1,
                     .q_step = 1};
    uint32_t counts[HA_SORT_DIGITS << 8];
    ha_sort_part p = {.n = ALL, .from = {x, NULL}, .differ = UINT64_MAX, .may_do = 32};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ALL; i++) {
        x[i] = i % 31 ? scattered(i % (ALL / 2), 32) << 32 | (ALL - i) : draw_bits();
        q[i] = 3 * x[i];
        sum += x[i];
    }
    const ha_sort_digits_of d = ha_sort_choose(&j, &p, 0, counts);
    assert_true(!d.is_all && d.n == 3);
    const ha_sort_layout layout = ha_sort_layout_of(&j);
    char *room = (char *)malloc(layout.all);
    assert_non_null(room);
    ha_sort_in_caches(&j, &layout, room);
    free(room);
    for (int i = 0; i < ALL; i++) {
        assert_true(q[i] == 3 * x[i] && (i == 0 || x[i - 1] <= x[i]));
        sum -= x[i];
    }
    assert_true(sum == 0);
}

/* Keys differ in these bits, and in no others: what is known of them covers that, whichever keys are looked at. */
static void bits_that_differ(HA_UNUSED void **state) {
    enum { ALL = 500 };
    uint64_t x[ALL];
    const ha_sort_job j = {.bytes = sizeof *x, .form = ha_sort_form_of(HA_DTYPE_uint64_t, 0)};
    for (int low = 0; low < 64; low += 5)
        for (int high = low; high < 64; high++)
            for (int often = 1; often < ALL; often *= 7) {
                ha_sort_part p = {.n = ALL, .from = {x, NULL}, .differ = UINT64_MAX};
                for (int i = 0; i < ALL; i++)
                    x[i] = (uint64_t)(i % often == 3 % often ? i % 2 : 0) << high |
                           (uint64_t)(i / 2 % 2) << low | (low ? 1 : 0);
                uint64_t differ = 0;
                for (int i = 0; i < ALL; i++) differ |= x[i] ^ x[0];
                ha_sort_look(&j, &p);
                assert_true((differ & ~p.differ) == 0);
                assert_true(p.differ == differ || ha_sort_span(differ) >= 62);
            }
}

/* Digits are no longer than there are bits, and as few as they can be: 8 bits, and 11 where that saves some. */
static void bits_of_digits(HA_UNUSED void **state) {
    for (int span = 0; span <= 64; span++) {
        const int few = ha_sort_bits_of_digit(HA_SORT_MANY - 1, span);
        const int many = ha_sort_bits_of_digit(HA_SORT_MANY, span);
        assert_int_equal(few, span < 8 ? span : 8);
        assert_true(many == few ||
                    (many == (span < 11 ? span : 11) && (span + 10) / 11 < (span + 7) / 8));
        assert_true(many != few || span <= 8 || (span + 10) / 11 >= (span + 7) / 8);
    }
}

/* Digits fill what a bucket's may have: 22 or 55 bits are left of 32 and 64. */
static void widths(HA_UNUSED void **state) {
    assert_int_equal(ha_sort_split_width(0), 0);
    assert_int_equal(ha_sort_split_width(64), 9);
    assert_int_equal(ha_sort_split_width(32), 10);
    for (int bits = 1; bits <= 64; bits++) {
        const int width = ha_sort_split_width(bits);
        assert_true(1 <= width && width <= HA_SORT_SPLIT_MOST && width <= bits);
        assert_true(width >= HA_SORT_SPLIT_LEAST || width == bits);
    }
}

/* What the caches do not hold is sorted that way by calls of users, too. */
static void called(HA_UNUSED void **state) {
    const int64_t n = HA_SORT_CACHED / (int64_t)sizeof(double) + 1;
    const ha_sort_job j = {.what = HA_SORT_ELEMENTS, .bytes = sizeof(double), .n = n, .x_step = 1};
    assert_true(ha_sort_layout_of(&j).longest == HA_SORT_BUCKET / (int64_t)sizeof(double));
    harray_double x = harray_double_new((size_t)n);
    double sum = 0;
    HA_OVERWRITING_ALL(v, x, NULL)
    for (int64_t i = 0; i < n; i++) sum += v.data[i] = (double)draw(1u << 20) / 1024 - 512;
    assert_int_equal(ha_sort(x, HA_DESCENDING, NULL), HA_OK);
    HA_READING(v, x, NULL)
    for (int64_t i = 0; i < n; i++) {
        sum -= v.data[i];
        assert_true(i == 0 || v.data[i - 1] >= v.data[i]);
    }
    assert_true(sum == 0);
    assert_int_equal(harray_double_free(&x), HA_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(long_rows),
        cmocka_unit_test(highest_digits),
        cmocka_unit_test(too_many_to_mend),
        cmocka_unit_test(bits_that_differ),
        cmocka_unit_test(bits_of_digits),
        cmocka_unit_test(widths),
        cmocka_unit_test(called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
