/* harray/impl/elements/strided.h: copies between boxes with any strides give what a copy of single
 * elements gives, and touch nothing else; so do conversions and comparisons. Sizes that matter are
 * made small here, so that every path is taken. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#define HA_PAST_CACHES_ 65536
#include "../../harray.h"
#include "../support/share.h"
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fenv.h>
#include <math.h>

#define TEST(name) static void name(HA_UNUSED void **state)

static uint64_t random_state = 1;
static uint64_t random_below(uint64_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % n;
}

/* ---- boxes ---------------------------------------------------------------------------------- */

typedef struct box {
    int64_t stride[HA_MOST_RANK];
    int64_t first, size; /* of the element at index 0, 0, …; elements of the memory around it */
} box;

/* The next index, last dimension fastest; 0 behind the last. */
static int next_index(int rank, const int64_t *extent, int64_t *index) {
    for (int d = rank; d-- > 0; index[d] = 0)
        if (++index[d] < extent[d]) return 1;
    return 0;
}

/* Dimensions in random order, gaps here and there, some backwards, some repeated where allowed. */
static box random_box(int rank, const int64_t *extent, int may_repeat) {
    int order[HA_MOST_RANK];
    box b;
    int64_t next = 1, lowest = 0, highest = 0;
    for (int d = 0; d < rank; d++) order[d] = d;
    for (int d = rank; d-- > 1;) {
        int other = (int)random_below((uint64_t)d + 1), kept = order[d];
        order[d] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i < rank; i++) {
        int d = order[i];
        if (random_below(6) == 0) next *= 1 + (int64_t)random_below(3);
        if (random_below(6) == 0) next += (int64_t)random_below(5);
        b.stride[d] = random_below(4) ? next : -next;
        if (may_repeat && random_below(6) == 0) {
            b.stride[d] = 0;
            continue;
        }
        int64_t reach = b.stride[d] * (extent[d] - 1);
        *(reach < 0 ? &lowest : &highest) += reach;
        next *= extent[d];
    }
    int64_t before = (int64_t)random_below(20);
    b.first = before - lowest;
    b.size = b.first + highest + 1 + (int64_t)random_below(20);
    return b;
}

static int random_extents(int64_t *extent) {
    static const int64_t most[] = {1, 40000, 260, 40, 14, 9};
    int rank = (int)random_below(6);
    for (int d = 0; d < rank; d++)
        extent[d] = 1 + (int64_t)random_below((uint64_t)(random_below(4) ? most[rank] : 4));
    return rank;
}

/* Memory of a box, and where its index 0, 0, … is. */
typedef struct elements {
    box box;
    size_t size; /* of an element */
    unsigned char *memory, *first, *kept;
} elements;

/* The address is a byte off where `off` is 1. */
static elements elements_of(box b, size_t size, size_t off) {
    elements e = {b, size, NULL, NULL, NULL};
    const size_t bytes = (size_t)b.size * size;
    e.memory = (unsigned char *)malloc(bytes + off + 1);
    e.kept = (unsigned char *)malloc(bytes + off + 1);
    assert_non_null(e.memory);
    assert_non_null(e.kept);
    for (size_t i = 0; i < bytes + off + 1; i++) e.memory[i] = (unsigned char)random_below(256);
    e.first = e.memory + off + (size_t)b.first * size;
    memcpy(e.kept, e.memory, bytes + off + 1);
    return e;
}

static void elements_free(elements *e) {
    free(e->memory);
    free(e->kept);
}

static unsigned char *element_at(const elements *e, int rank, const int64_t *index) {
    return e->first + ha_offset(rank, index, e->box.stride) * (int64_t)e->size;
}

/* Where it was kept. */
static unsigned char *kept_at(const elements *e, int rank, const int64_t *index) {
    return e->kept + (element_at(e, rank, index) - e->memory);
}

static void expect_kept(const elements *e) {
    assert_memory_equal(e->memory, e->kept, (size_t)e->box.size * e->size);
}

/* ---- copies --------------------------------------------------------------------------------- */

static void try_copy(int rank, const int64_t *extent, box to_box, box from_box, size_t element) {
    int64_t index[HA_MOST_RANK] = {0};
    elements to = elements_of(to_box, element, random_below(4) == 0);
    elements from = elements_of(from_box, element, random_below(4) == 0);
    do {
        memcpy(kept_at(&to, rank, index), element_at(&from, rank, index), element);
    } while (next_index(rank, extent, index));
    ha_copy_strided(rank, extent, to.first, to_box.stride, from.first, from_box.stride, element);
    expect_kept(&to);
    elements_free(&to);
    elements_free(&from);
}

TEST(copies) {
    static const size_t sizes[] = {1, 2, 3, 4, 8, 12, 16, 24};
    int64_t extent[HA_MOST_RANK];
    for (int i = 0; i < share_of(3000); i++) {
        const int rank = random_extents(extent);
        const box to = random_box(rank, extent, 0), from = random_box(rank, extent, 1);
        try_copy(rank, extent, to, from, sizes[random_below(8)]);
    }
}

/* Whole lines of 64 bytes on the way past the caches, and rows that begin anywhere. */
TEST(transpositions) {
    for (int i = 0; i < share_of(300); i++) {
        const int64_t m = 1 + (int64_t)random_below(300), n = 1 + (int64_t)random_below(300);
        const int64_t gap = (int64_t)random_below(3), extent[] = {m, n};
        const int backwards = random_below(4) == 0;
        box to = {.stride = {1, m + gap}}, from = {.stride = {backwards ? -n : n, 1}};
        if (random_below(2)) to.stride[1] = (to.stride[1] + 63) / 64 * 64;
        from.first = backwards ? (m - 1) * n : 0;
        to.size = (n - 1) * to.stride[1] + m;
        from.size = m * n;
        try_copy(2, extent, to, from, (size_t)1 << random_below(5));
    }
}

TEST(nothing) {
    const int64_t extent[] = {3, 0, 5}, stride[] = {5, 5, 1};
    ha_misfit misfit;
    ha_copy_strided(3, extent, NULL, stride, NULL, stride, 8);
    ha_strided_fill(3, extent, NULL, stride, "x", 1);
    assert_int_equal(ha_strided_convert(3, extent, NULL, stride, HA_DTYPE_int8_t, NULL, stride,
                                        HA_DTYPE_float, &misfit),
                     HA_OK);
    assert_true(ha_strided_equal(3, extent, NULL, stride, HA_DTYPE_float, NULL, stride,
                                 HA_DTYPE_int8_t, 0));
}

/* Of so many bytes that they overflow: nobody goes along them. */
TEST(nothing_with_long_strides) {
    const int64_t extent[] = {2, (int64_t)1 << 61, 0}, stride[] = {(int64_t)1 << 61, 1, 1};
    ha_copy_strided(3, extent, NULL, stride, NULL, stride, 8);
    ha_strided_fill(3, extent, NULL, stride, "12345678", 8);
}

TEST(fills) {
    static const size_t sizes[] = {1, 2, 3, 4, 8, 16, 40};
    int64_t extent[HA_MOST_RANK], index[HA_MOST_RANK] = {0};
    unsigned char value[40];
    for (int i = 0; i < share_of(500); i++) {
        const int rank = random_extents(extent);
        elements to = elements_of(random_box(rank, extent, 0), sizes[random_below(7)], 0);
        for (size_t k = 0; k < sizeof value; k++) value[k] = (unsigned char)random_below(256);
        do {
            memcpy(kept_at(&to, rank, index), value, to.size);
        } while (next_index(rank, extent, index));
        ha_strided_fill(rank, extent, to.first, to.box.stride, value, to.size);
        expect_kept(&to);
        elements_free(&to);
    }
}

/* ---- numbers -------------------------------------------------------------------------------- */

static const ha_dtype types[] = {
#define TYPE(name, T, kind, text) HA_DTYPE_##name,
    HA_DTYPES(TYPE)
#undef TYPE
};
enum { TYPES = sizeof types / sizeof *types };

/* One that most types can hold; or one that is hard. */
static ha_dvalue random_value(ha_dtype type, int hard) {
    static const double reals[] = {0.0,     -0.0,         -1,
                                   0.5,     1.5,          2.5,
                                   -0.5,    126.5,        127.5,
                                   -128.5,  255.5,        65504,
                                   65520,   32767.5,      0x1p31,
                                   0x1p63,  -0x1p63,      0x1p64,
                                   0x1p53,  1e300,        -1e300,
                                   0x1p-24, 0x1p-149,     0.1,
                                   -1.5,    0x1.000001p0, 0x1.0000010000001p0};
    static const int64_t integers[] = {INT64_MIN, INT64_MAX,
                                       -1,        0x20000000000001,
                                       0x1000001, 0x100000080000001,
                                       2049,      0x7fffffff,
                                       -129,      255,
                                       65535};
    const size_t which = random_below(5);
    ha_dvalue v = ha_dvalue_of_int64_t((int64_t)random_below(128)), made;
    if (hard && which == 0) v = ha_dvalue_of_double(__builtin_nan(""));
    if (hard && which == 1) v = ha_dvalue_of_double(random_below(2) ? HUGE_VAL : -HUGE_VAL);
    if (hard && which == 2) v = ha_dvalue_of_double(reals[random_below(27)]);
    if (hard && which == 3) v = ha_dvalue_of_int64_t(integers[random_below(11)]);
    if (hard && which == 4) v = ha_dvalue_of_c128(ha_c128_make(1, 2));
    if (type == HA_DTYPE_uint64_t && hard && random_below(2))
        v = ha_dvalue_of_uint64_t(UINT64_MAX - random_below(5000));
    if (ha_dvalue_convert(v, type, &made) != HA_OK) {
        ha_take_error();
        made = ha_dvalue_load(type, "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    }
    return made;
}

static void put_values(elements *e, int rank, const int64_t *extent, ha_dtype type, int hard) {
    int64_t index[HA_MOST_RANK] = {0};
    do {
        const int now = hard && random_below((uint64_t)hard) == 0;
        memcpy(element_at(e, rank, index), random_value(type, now).bytes, e->size);
    } while (next_index(rank, extent, index));
}

static int is_nan(ha_dvalue v) { return ha_dvalue_compare(v, v) == HA_UNORDERED; }

/* ---- conversions ---------------------------------------------------------------------------- */

/* One by one, into what is kept; returns whether all can, and the index of the first that cannot. */
static int convert_each(elements *to, ha_dtype to_type, const elements *from, ha_dtype from_type,
                        int rank, const int64_t *extent, int64_t *index) {
    ha_dvalue v;
    memset(index, 0, HA_MOST_RANK * sizeof *index);
    do {
        v = ha_dvalue_load(from_type, element_at(from, rank, index));
        if (ha_dvalue_convert(v, to_type, &v) != HA_OK) {
            ha_take_error();
            return 0;
        }
        memcpy(kept_at(to, rank, index), v.bytes, to->size);
    } while (next_index(rank, extent, index));
    return 1;
}

/* NaNs may have other bits. */
static void expect_converted(elements *to, ha_dtype type, int rank, const int64_t *extent) {
    int64_t index[HA_MOST_RANK] = {0};
    do {
        unsigned char *at = element_at(to, rank, index);
        const ha_dvalue expected = ha_dvalue_load(type, kept_at(to, rank, index));
        if (is_nan(expected) && is_nan(ha_dvalue_load(type, at)))
            memcpy(at, expected.bytes, to->size);
    } while (next_index(rank, extent, index));
    expect_kept(to);
}

static int try_convert(ha_dtype to_type, ha_dtype from_type, int hard) {
    int64_t extent[HA_MOST_RANK], index[HA_MOST_RANK];
    const int rank = random_extents(extent);
    elements to = elements_of(random_box(rank, extent, 0), ha_dtype_size(to_type), 0);
    elements from = elements_of(random_box(rank, extent, 1), ha_dtype_size(from_type), 0);
    ha_misfit misfit;
    put_values(&from, rank, extent, from_type, hard);
    const int works = convert_each(&to, to_type, &from, from_type, rank, extent, index);
    if (!works) memcpy(to.kept, to.memory, (size_t)to.box.size * to.size);
    const ha_status s = ha_strided_convert(rank, extent, to.first, to.box.stride, to_type,
                                           from.first, from.box.stride, from_type, &misfit);
    assert_int_equal(s, works ? HA_OK : HA_ERR_ARGUMENT);
    if (works) {
        expect_converted(&to, to_type, rank, extent);
    } else {
        expect_kept(&to);
        assert_memory_equal(misfit.index, index, (size_t)rank * sizeof *index);
        assert_non_null(misfit.objection);
        assert_int_equal(misfit.value.type, from_type);
        assert_true(ha_scalars_may_misfit(from_type, to_type));
    }
    elements_free(&to);
    elements_free(&from);
    return works;
}

/* Each pair of types: with numbers that all can hold, and with hard ones among them. */
TEST(conversions) {
    for (size_t i = 0; i < TYPES; i++)
        for (size_t j = 0; j < TYPES; j++) {
            if (!is_tried((int)i, (int)j)) continue;
            assert_true(try_convert(types[i], types[j], 0));
            for (int hard = 0; hard < 3; hard++) (void)try_convert(types[i], types[j], 500);
            for (int hard = 0; hard < 3; hard++) (void)try_convert(types[i], types[j], 1);
        }
}

/* What is at the limits of integer types and just beside them, among numbers that fit: in blocks, and in
 * what is left over behind them. As one by one, and nothing is written when one does not fit. */
static void try_edge(ha_dtype to_type, ha_dtype from_type, ha_dvalue edge) {
    enum { count = 131, most = 16 };
    static const size_t places[] = {0, 1, 63, 64, 127, 128, 130};
    const int64_t extent = count, stride = 1;
    const size_t size = ha_dtype_size(to_type), from_size = ha_dtype_size(from_type);
    _Alignas(16) char from[count * most] = {0}, to[count * most], expected[count * most];
    ha_misfit misfit;
    ha_dvalue made;
    const size_t place = places[random_below(sizeof places / sizeof *places)];
    char *at = from + place * from_size;
    memcpy(at, edge.bytes, from_size);
    memset(to, 7, sizeof to);
    memset(expected, 7, sizeof expected);
    const int fits = ha_dvalue_convert(edge, to_type, &made) == HA_OK;
    (void)ha_take_error();
    if (fits) {
        memset(expected, 0, count * size);
        memcpy(expected + place * size, made.bytes, size);
    }
    const ha_status s = ha_strided_convert(1, &extent, to, &stride, to_type, from, &stride,
                                           from_type, &misfit);
    assert_int_equal(s, fits ? HA_OK : HA_ERR_ARGUMENT);
    assert_memory_equal(to, expected, sizeof to);
    if (!fits) assert_int_equal(misfit.index[0], place);
    assert_int_equal(ha_convert_scalars(to, to_type, from, from_type, count), fits);
    if (fits) assert_memory_equal(to, expected, sizeof to);
}

static void try_beside(ha_dtype to_type, ha_dtype from_type, double limit) {
    static const double beside[] = {0, 0.5, 1, -0.5, -1};
    for (size_t k = 0; k < 15; k++) {
        const double x = limit + beside[k / 3];
        const double near[] = {x, nextafter(x, INFINITY), nextafter(x, -INFINITY)};
        ha_dvalue v;
        if (!ha_dvalue_convert(ha_dvalue_of_double(near[k % 3]), from_type, &v))
            try_edge(to_type, from_type, v);
        (void)ha_take_error();
    }
}

TEST(edges) {
    static const int bits[] = {7, 8, 15, 16, 31, 32, 63, 64};
    for (size_t i = 0; i < TYPES; i++)
        for (size_t j = 0; j < TYPES; j++) {
            if (!ha_is_integer(types[i]) || ha_dtype_kind(types[j]) == HA_KIND_COMPLEX) continue;
            try_beside(types[i], types[j], 0);
            for (size_t k = 0; k < sizeof bits / sizeof *bits; k++) {
                try_beside(types[i], types[j], ldexp(1, bits[k]));
                try_beside(types[i], types[j], -ldexp(1, bits[k]));
            }
        }
}

/* Limits that double has no place for, and what is no number. */
TEST(edges_of_wide_integers) {
    static const uint64_t integers[] = {UINT64_MAX,    UINT64_MAX - 1,    INT64_MAX,
                                        INT64_MAX - 1, UINT64_C(1) << 63, (UINT64_C(1) << 53) + 1};
    for (size_t i = 0; i < TYPES; i++) {
        for (size_t m = 0; m < 8 * (sizeof integers / sizeof *integers); m++) {
            const size_t k = m / 8;
            try_edge(types[i], HA_DTYPE_uint64_t, ha_dvalue_of_uint64_t(integers[k]));
            try_edge(types[i], HA_DTYPE_int64_t, ha_dvalue_of_int64_t((int64_t)integers[k]));
        }
        for (size_t m = 0; m < 8 && ha_is_integer(types[i]); m++) {
            try_edge(types[i], HA_DTYPE_double, ha_dvalue_of_double(NAN));
            try_edge(types[i], HA_DTYPE_double, ha_dvalue_of_double(-NAN));
            try_edge(types[i], HA_DTYPE_double, ha_dvalue_of_double(INFINITY));
            try_edge(types[i], HA_DTYPE_float, ha_dvalue_of_float(-INFINITY));
            try_edge(types[i], HA_DTYPE_float, ha_dvalue_of_float(NAN));
        }
    }
}

/* Integers are the nearest ones however the processor rounds. */
TEST(rounding_modes) {
    static const double values[] = {0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 127.25, 3.75, -3.75, -128.5};
    static const int8_t expected[] = {0, 2, 2, 0, -2, 126, 127, 4, -4, -128};
    static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (size_t i = 0; i < 4; i++) {
        int8_t bytes[10];
        int64_t words[10];
        uint64_t large;
        assert_int_equal(fesetround(roundings[i]), 0);
        const int all = ha_convert_scalars(bytes, HA_DTYPE_int8_t, values, HA_DTYPE_double, 10) &
                        ha_convert_scalars(words, HA_DTYPE_int64_t, values, HA_DTYPE_double, 10);
        const int upper = ha_convert_scalars(&large, HA_DTYPE_uint64_t, &(double){0x1.8p63},
                                             HA_DTYPE_double, 1);
        fesetround(FE_TONEAREST);
        assert_true(all && upper && large == UINT64_C(3) << 62);
        assert_memory_equal(bytes, expected, sizeof bytes);
        for (size_t k = 0; k < 10; k++) assert_int_equal(words[k], expected[k]);
    }
}

/* Just above the middle of two floats, by what double has no room for. */
TEST(rounded_once) {
    const int64_t odd[] = {0x4000004000000001, -0x4000004000000001};
    const uint64_t unsigned_odd = 0x8000008000000001;
    float floats[2];
    assert_true(ha_convert_scalars(floats, HA_DTYPE_float, odd, HA_DTYPE_int64_t, 2));
    assert_true(floats[0] == 0x1.000002p62f && floats[1] == -0x1.000002p62f);
    assert_true(ha_convert_scalars(floats, HA_DTYPE_float, &unsigned_odd, HA_DTYPE_uint64_t, 1));
    assert_true(floats[0] == 0x1.000002p63f);
}

/* ---- comparisons ---------------------------------------------------------------------------- */

static int equal_each(const elements *a, ha_dtype a_type, const elements *b, ha_dtype b_type,
                      int rank, const int64_t *extent) {
    int64_t index[HA_MOST_RANK] = {0};
    do {
        if (!ha_dvalue_equal(ha_dvalue_load(a_type, element_at(a, rank, index)),
                             ha_dvalue_load(b_type, element_at(b, rank, index))))
            return 0;
    } while (next_index(rank, extent, index));
    return 1;
}

static void expect_equality(const elements *a, ha_dtype a_type, const elements *b, ha_dtype b_type,
                            int rank, const int64_t *extent) {
    assert_int_equal(ha_strided_equal(rank, extent, a->first, a->box.stride, a_type, b->first,
                                      b->box.stride, b_type, 0),
                     equal_each(a, a_type, b, b_type, rank, extent));
}

/* The same numbers, then one of them another, hard one. */
static void try_equal(ha_dtype a_type, ha_dtype b_type) {
    int64_t extent[HA_MOST_RANK], index[HA_MOST_RANK] = {0};
    const int rank = random_extents(extent);
    elements a = elements_of(random_box(rank, extent, 0), ha_dtype_size(a_type), 0);
    elements b = elements_of(random_box(rank, extent, 0), ha_dtype_size(b_type), 0);
    do {
        ha_dvalue v = random_value(b_type == HA_DTYPE_bool ? b_type : a_type, 0);
        assert_int_equal(ha_dvalue_store(v, a_type, element_at(&a, rank, index)), HA_OK);
        assert_int_equal(ha_dvalue_store(v, b_type, element_at(&b, rank, index)), HA_OK);
    } while (next_index(rank, extent, index));
    expect_equality(&a, a_type, &b, b_type, rank, extent);
    for (int i = 0; i < 8; i++) {
        for (int d = 0; d < rank; d++) index[d] = (int64_t)random_below((uint64_t)extent[d]);
        const ha_dvalue hard = random_value(random_below(2) ? a_type : b_type, 1);
        if (ha_dvalue_store(hard, a_type, element_at(&a, rank, index)) != HA_OK ||
            ha_dvalue_store(hard, b_type, element_at(&b, rank, index)) != HA_OK)
            ha_take_error();
        expect_equality(&a, a_type, &b, b_type, rank, extent);
    }
    elements_free(&a);
    elements_free(&b);
}

TEST(equality) {
    for (size_t i = 0; i < TYPES; i++)
        for (size_t j = 0; j < TYPES; j++)
            for (int k = 0; k < 2 && is_tried((int)i, (int)j); k++) try_equal(types[i], types[j]);
}

/* Elements of a user's own type: bytes; also such that are larger than the buffers. */
TEST(equality_of_bytes) {
    static const size_t sizes[] = {1, 3, 24, 8192, 8193, 20000};
    for (size_t i = 0; i < 6; i++) {
        const int64_t extent[] = {3, 4}, rows[] = {4, 1}, columns[] = {1, 3};
        int64_t index[] = {2, 1};
        elements a = elements_of((box){{4, 1}, 0, 12}, sizes[i], 0);
        elements b = elements_of((box){{1, 3}, 0, 12}, sizes[i], 0);
        ha_copy_strided(2, extent, b.first, columns, a.first, rows, sizes[i]);
        assert_true(ha_strided_equal(2, extent, a.first, rows, HA_DTYPE_NONE, b.first, columns,
                                     HA_DTYPE_NONE, sizes[i]));
        element_at(&b, 2, index)[sizes[i] - 1] ^= 1;
        assert_false(ha_strided_equal(2, extent, a.first, rows, HA_DTYPE_NONE, b.first, columns,
                                      HA_DTYPE_NONE, sizes[i]));
        elements_free(&a);
        elements_free(&b);
    }
}

/* Values of all sizes, at any address, around the numbers of bytes from which on they are stored otherwise; nothing beside
 * them is touched. */
static void try_repeat(size_t bytes, size_t count, size_t off) {
    static unsigned char value[200], memory[64 + 12000 + 64];
    const size_t all = bytes * count, first = 64 + off;
    assert_true(first + all + 32 <= sizeof memory);
    for (size_t i = 0; i < bytes; i++) value[i] = (unsigned char)(1 + random_below(255));
    memset(memory, 0, sizeof memory);
    ha_repeat((char *)memory + first, value, bytes, count);
    for (size_t i = 0; i < sizeof memory; i++) {
        const size_t at = i - first;
        assert_int_equal(memory[i], i >= first && at < all ? value[at % bytes] : 0);
    }
}

TEST(repeated) {
    static const size_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 64, 72, 128, 200};
    static const size_t around[] = {0, 64, 128, 1024, 2048, 4096, 11000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof around / sizeof *around; k++)
            for (size_t more = 0; more < 4; more++) {
                const size_t count = around[k] / sizes[i] + more;
                try_repeat(sizes[i], count, random_below(32));
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies),         cmocka_unit_test(transpositions),
        cmocka_unit_test(nothing),        cmocka_unit_test(nothing_with_long_strides),
        cmocka_unit_test(fills),          cmocka_unit_test(conversions),
        cmocka_unit_test(edges),          cmocka_unit_test(edges_of_wide_integers),
        cmocka_unit_test(rounding_modes), cmocka_unit_test(rounded_once),
        cmocka_unit_test(equality),       cmocka_unit_test(equality_of_bytes),
        cmocka_unit_test(repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
