/* Copies between layouts, all pairs of them, against a model that moves value by value to where
 * ha_mapping_offset says: every byte of the target is as it has to be, and those of no copied value are
 * as they were. */
#define HA_COPY_LARGE 3000
#include "layout_memory.h"
#include "../layout.h"
#include "layout_blobs.h"

/* ---- what is copied -------------------------------------------------------------------------- */

static const char *const layouts[] = {
    "aos",
    "aos(packed)",
    "aos(minalign)",
    "aos(packed)@col",
    "aos@morton",
    "soa",
    "soa@col",
    "soa(single)",
    "soa(single)@morton",
    "soa(single,aligned)",
    "soa(single,aligned)@col",
    "aosoa(1)",
    "aosoa(2)",
    "aosoa(4)@col",
    "aosoa(8)",
    "aosoa(32)",
    "aosoa(3,aligned)",
    "aosoa(8,aligned)@col",
    "aosoa(4)@morton",
    "aosoa(4,rows)",
    "aosoa(8,rows)@col",
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static const char *const records[] = {
    "pos.x:f64 pos.y:f64 pos.z:f64 mass:f32 vel.x:f64 vel.y:f64 vel.z:f64 flags[4]:bool",
    "a:u8 b:i64 c[2].d:f16 e:u32 z:c128 w:c64",
    "only:f32",
};
enum { RECORDS = sizeof records / sizeof *records };

static const struct shape {
    int rank;
    int64_t extent[HA_MAPPING_RANK];
} shapes[] = {{1, {1}},       {1, {77}},         {2, {5, 7}},   {2, {1, 9}}, {3, {3, 5, 7}},
              {3, {2, 1, 3}}, {4, {2, 3, 1, 5}}, {2, {37, 35}}, {1, {2100}}, {2, {0, 3}}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* ---- records in memory ----------------------------------------------------------------------- */

static uint64_t seed;

static unsigned char next_byte(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned char)(seed >> 56);
}

/* Blobs begin anywhere; those of one dimension on lines, so that whole lines of rows may be written. */
static void make_memory(memory *m, const ha_record *r, const char *layout, int rank,
                        const int64_t *extent) {
    new_memory(m, r, layout, rank, extent, rank == 1 ? 64 : 0, 0);
    for (int b = 0; b < m->mapping->blobs; b++) {
        unsigned char *blob = (unsigned char *)m->blob[b];
        for (int64_t k = 0; k < m->mapping->blob[b].bytes; k++) blob[k] = next_byte();
    }
}

static void same_memory(memory *m, const memory *other) {
    copy_memory(m, other, other->mapping->rank == 1 ? 64 : 0);
}

/* ---- the model ------------------------------------------------------------------------------- */

static int64_t size_of_leaf(const ha_mapping *m, int64_t k) {
    return ha_scalar_size((ha_scalar)m->row[k].scalar);
}

static char *place_of(const memory *m, int64_t leaf, const int64_t *index) {
    const int32_t blob = m->mapping->row[leaf].blob;
    return blob < 0 ? NULL : (char *)m->blob[blob] + ha_mapping_offset(m->mapping, leaf, index);
}

/* Leaves from `first_leaf` to before `last_leaf`, of one record. */
static void model_copy(memory *to, const memory *from, const int64_t *first, const int64_t *last,
                       int64_t first_leaf, int64_t last_leaf) {
    int64_t index[HA_MAPPING_RANK];
    memcpy(index, first, sizeof index);
    for (int d = 0; d < to->mapping->rank; d++)
        if (first[d] == last[d]) return;
    do
        for (int64_t k = first_leaf; k < last_leaf; k++) {
            char *target = place_of(to, k, index);
            const char *source = place_of(from, k, index);
            const size_t size = (size_t)size_of_leaf(to->mapping, k);
            if (target && source) memcpy(target, source, size);
            if (target && !source) memset(target, 0, size);
        }
    while (next_index(first, last, to->mapping->rank, index));
}

static void check_equal(const memory *m, const memory *expected, const memory *from,
                        const char *what) {
    for (int b = 0; b < m->mapping->blobs; b++) {
        const size_t bytes = (size_t)m->mapping->blob[b].bytes;
        const unsigned char *x = (unsigned char *)m->blob[b];
        const unsigned char *y = (unsigned char *)expected->blob[b];
        if (!memcmp(x, y, bytes)) continue;
        for (size_t k = 0; k < bytes; k++)
            if (x[k] != y[k])
                fail_msg("%s: %s from %s, rank %d of %lld: byte %zu of blob %d", what,
                         m->mapping->text, from->mapping->text, m->mapping->rank,
                         (long long)m->mapping->extent[0], k, b);
    }
}

static void check_copy(memory *to, const memory *from, const ha_copying *how, int64_t first_leaf,
                       int64_t last_leaf, const char *what) {
    static const int64_t zeros[HA_MAPPING_RANK];
    ha_error error;
    memory expected;
    same_memory(&expected, to);
    model_copy(&expected, from, how && how->first ? how->first : zeros,
               how && how->last ? how->last : to->mapping->extent, first_leaf, last_leaf);
    if (ha_mapped_copy(&to->mapped, &from->mapped, how, &error)) fail_msg("%s", error.text);
    check_equal(to, &expected, from, what);
    free_blobs(&expected);
}

/* ---- all pairs ------------------------------------------------------------------------------- */

static void check_pair(const ha_record *r, const char *to_layout, const char *from_layout,
                       const struct shape *s) {
    memory to, from;
    int64_t first[HA_MAPPING_RANK] = {0}, last[HA_MAPPING_RANK] = {1, 1, 1, 1};
    make_memory(&to, r, to_layout, s->rank, s->extent);
    make_memory(&from, r, from_layout, s->rank, s->extent);
    check_copy(&to, &from, NULL, 0, to.mapping->rows, "all");
    free_memory(&to);
    make_memory(&to, r, to_layout, s->rank, s->extent);
    for (int d = 0; d < s->rank; d++) {
        first[d] = s->extent[d] > 0 ? next_byte() % s->extent[d] : 0;
        last[d] = first[d] + next_byte() % (s->extent[d] - first[d] + 1);
        if (last[d] == first[d] && last[d] < s->extent[d]) last[d]++;
    }
    check_copy(&to, &from, &(ha_copying){.first = first, .last = last, .threads = 3}, 0,
               to.mapping->rows, "region");
    free_memory(&to);
    free_memory(&from);
}

static void test_all_pairs(void **state) {
    (void)state;
    for (int r = 0; r < RECORDS; r++) {
        ha_record *record = ha_record_parse(records[r], NULL);
        for (int t = 0; t < LAYOUTS; t++)
            for (int f = 0; f < LAYOUTS; f++)
                for (int s = 0; s < SHAPES; s++) {
                    const int is_long = shapes[s].extent[0] > 30;
                    if (is_long && (t + f + s + r) % 4 != 0) continue;
                    check_pair(record, layouts[t], layouts[f], &shapes[s]);
                }
        ha_record_free(record);
    }
}

/* ---- what is not stored as it is ------------------------------------------------------------- */

static const char *const mixed = "i:i32 x:f64 j:u16 y:f32 on:bool z:c64";
static const char *const stored_otherwise[] = {
    "aos",
    "soa@col",
    "aosoa(4)",
    "changetype(f64:f32, i:i64; soa)",
    "changetype(f64:f32, i:i64; aosoa(4))",
    "byteswap(aos)",
    "byteswap(soa)",
    "bytesplit(soa)",
    "bytesplit(aosoa(4)@col)",
    "split(separate; x+y: bitfloat(8,20; soa), split(separate; z: aos, bitint(12; aos)))",
    "split(separate; x+y: bitfloat(8,20; aos@col), split(separate; z: soa@morton, bitint(9; soa)))",
    "tree(leafonly)",
    "tree(movedown(0;2))",
    "split(x+j+z: aos, null)",
    "count(aosoa(2))",
};
enum { OTHERWISE = sizeof stored_otherwise / sizeof *stored_otherwise };

/* Small numbers, which every layout above keeps. */
static void set_value(const memory *m, int64_t leaf, const int64_t *index, int number) {
    switch (m->mapping->row[leaf].scalar) {
    case HA_I32:
        ha_mapped_set(&m->mapped, leaf, index, &(int32_t){-number});
        break;
    case HA_U16:
        ha_mapped_set(&m->mapped, leaf, index, &(uint16_t){(uint16_t)number});
        break;
    case HA_F32:
        ha_mapped_set(&m->mapped, leaf, index, &(float){(float)number / 4});
        break;
    case HA_F64:
        ha_mapped_set(&m->mapped, leaf, index, &(double){-number / 8.0});
        break;
    case HA_C64:
        ha_mapped_set(&m->mapped, leaf, index, &(ha_c64){(float)number, (float)-number});
        break;
    default:
        ha_mapped_set(&m->mapped, leaf, index, &(bool){number % 3 == 0});
    }
}

static void set_values(const memory *m) {
    static const int64_t zeros[HA_MAPPING_RANK];
    int64_t index[HA_MAPPING_RANK] = {0};
    int number = 0;
    do
        for (int64_t k = 0; k < m->mapping->rows; k++) set_value(m, k, index, number++ * 7 % 2000);
    while (next_index(zeros, m->mapping->extent, m->mapping->rank, index));
}

/* As the values are got and set one by one. */
static void check_by_values(memory *to, const memory *from, const ha_copying *how) {
    int64_t index[HA_MAPPING_RANK];
    memory expected;
    ha_error error;
    same_memory(&expected, to);
    memcpy(index, how->first, sizeof index);
    do
        for (int64_t k = 0; k < to->mapping->rows; k++) {
            char value[16];
            ha_mapped_get(&from->mapped, k, index, value);
            ha_mapped_set(&expected.mapped, k, index, value);
        }
    while (next_index(how->first, how->last, to->mapping->rank, index));
    if (ha_mapped_copy(&to->mapped, &from->mapped, how, &error)) fail_msg("%s", error.text);
    check_equal(to, &expected, from, "by values");
    free_blobs(&expected);
}

static void test_stored_otherwise(void **state) {
    (void)state;
    static const int64_t extent[] = {19, 33}, first[HA_MAPPING_RANK] = {2, 1}, last[] = {19, 32};
    ha_record *r = ha_record_parse(mixed, NULL);
    for (int t = 0; t < OTHERWISE; t++)
        for (int f = 0; f < OTHERWISE; f++) {
            memory to, from;
            make_memory(&to, r, stored_otherwise[t], 2, extent);
            make_memory(&from, r, stored_otherwise[f], 2, extent);
            set_values(&from);
            check_by_values(&to, &from, &(ha_copying){.first = first, .last = last, .threads = 2});
            free_memory(&to);
            free_memory(&from);
        }
    ha_record_free(r);
}

/* What a copy reads and writes is counted once, whatever way it goes. */
static void test_counted(void **state) {
    (void)state;
    static const int64_t extent[] = {50};
    ha_record *r = ha_record_parse(mixed, NULL);
    memory to, from;
    make_memory(&to, r, "count(aosoa(8))", 1, extent);
    make_memory(&from, r, "count(soa)", 1, extent);
    set_values(&from);
    assert_int_equal(ha_mapped_copy(&to.mapped, &from.mapped,
                                    &(ha_copying){.paths = "x", .first = (int64_t[]){10}}, NULL),
                     HA_OK);
    assert_int_equal(to.mapping->counts->leaf[1].writes, 40);
    assert_int_equal(to.mapping->counts->leaf[0].writes, 0);
    assert_int_equal(from.mapping->counts->leaf[1].reads, 40);
    free_memory(&to);
    free_memory(&from);
    ha_record_free(r);
}

/* ---- other records --------------------------------------------------------------------------- */

/* The same names as in `mixed`, but for one each, in another order and of other types. */
static const char *const other = "z:c128 on:u8 extra:f64 j:i64 y:f64 x:f32 i:f64";

static double number_of(const char *value, ha_scalar scalar) {
    switch (scalar) {
    case HA_I32:
        return *(const int32_t *)(const void *)value;
    case HA_I64:
        return (double)*(const int64_t *)(const void *)value;
    case HA_U16:
        return *(const uint16_t *)(const void *)value;
    case HA_F32:
        return (double)*(const float *)(const void *)value;
    case HA_F64:
        return *(const double *)(const void *)value;
    case HA_C64:
        return (double)((const float *)(const void *)value)[1];
    case HA_C128:
        return ((const double *)(const void *)value)[1];
    default:
        return *(const uint8_t *)value;
    }
}

static double get_number(const memory *m, const char *name, const int64_t *index) {
    _Alignas(16) char value[16];
    int64_t number;
    assert_int_equal(ha_record_find(m->mapping->record, name, 0, &number), HA_OK);
    ha_mapped_get(&m->mapped, number, index, value);
    return number_of(value, (ha_scalar)m->mapping->row[number].scalar);
}

static void check_converted(const char *to_layout, const char *from_layout, int threads) {
    static const int64_t extent[] = {9, 61}, zeros[HA_MAPPING_RANK];
    static const char *const names[] = {"i", "x", "j", "y", "on", "z"};
    int64_t index[HA_MAPPING_RANK] = {0};
    memory to, from, back;
    ha_record *first = ha_record_parse(mixed, NULL), *second = ha_record_parse(other, NULL);
    ha_error e;
    make_memory(&from, first, from_layout, 2, extent);
    make_memory(&to, second, to_layout, 2, extent);
    make_memory(&back, first, from_layout, 2, extent);
    set_values(&from);
    const double extra = get_number(&to, "extra", (int64_t[]){3, 4});
    const ha_copying how = {.threads = threads};
    if (ha_mapped_copy(&to.mapped, &from.mapped, &how, &e)) fail_msg("%s", e.text);
    if (ha_mapped_copy(&back.mapped, &to.mapped, &how, &e)) fail_msg("%s", e.text);
    do
        for (int k = 0; k < 6; k++) {
            const double x = get_number(&from, names[k], index);
            if (get_number(&to, names[k], index) != x || get_number(&back, names[k], index) != x)
                fail_msg("%s: %s from %s at %lld, %lld", names[k], to_layout, from_layout,
                         (long long)index[0], (long long)index[1]);
        }
    while (next_index(zeros, extent, 2, index));
    const double now = get_number(&to, "extra", (int64_t[]){3, 4});
    assert_memory_equal(&extra, &now, sizeof now);
    free_memory(&to);
    free_memory(&from);
    free_memory(&back);
    ha_record_free(first);
    ha_record_free(second);
}

static void test_conversions(void **state) {
    (void)state;
    static const char *const both[] = {
        "aos",           "soa",           "soa@col", "aosoa(8)", "aos(packed)@morton",
        "byteswap(soa)", "bytesplit(aos)"};
    for (int t = 0; t < 7; t++)
        for (int f = 0; f < 7; f++) check_converted(both[t], both[f], 1 + (t + f) % 3);
}

/* Blobs begin with a line, or `skew` bytes behind its beginning. */
static void make_lines(memory *m, char **room, const ha_record *r, const char *layout, int rank,
                       const int64_t *extent, int64_t skew) {
    make_memory(m, r, layout, rank, extent);
    for (int b = 0; b < m->mapping->blobs; b++) {
        const size_t bytes = (size_t)m->mapping->blob[b].bytes;
        room[b] = (char *)malloc(bytes + 128);
        assert_non_null(room[b]);
        char *const place = room[b] + (64 - (uintptr_t)room[b] % 64) + skew;
        memcpy(place, m->blob[b], bytes);
        free(m->blob[b]);
        m->blob[b] = place;
    }
}

static void free_lines(memory *m, char **room) {
    for (int b = 0; b < m->mapping->blobs; b++) m->blob[b] = room[b];
    free_memory(m);
}

/* ---- conversions, byte by byte ----------------------------------------------------------------- */

/* All types, as others and back. */
static const char *const types[][2] = {
    {"a:f64 b[3]:f64 c:f32 d:i32 e:u8 f:bool g:f16 h:bf16 i:c64 j:i64 k[2]:i16 l:u32 m:f64",
     "a:f32 b[3]:f32 c:f64 d:i64 e:i16 f:u8 g:f32 h:f64 i:c128 j:i32 k[2]:f32 l:f16 m:f64"},
    {"a:i8 b[2]:u16 c[5]:f32 d:u64 e:i16 f[3]:f64 g:c128 h:f32",
     "a:bf16 b[2]:u8 c[5]:f16 d:f64 e:bool f[3]:u32 g:c64 h:bf16"},
};

static const char *const converting[] = {
    "aos",
    "aos@col",
    "aos(packed)",
    "soa",
    "soa@col",
    "soa(single,aligned)",
    "soa(single)@morton",
    "aosoa(2)",
    "aosoa(8)",
    "aosoa(8,aligned)@col",
    "aosoa(32)",
    "aosoa(7)",
    "aosoa(100)",
    "aosoa(4,rows)",
    "changetype(f64:f32, f32:f16, i64:i16; aos)",
    "changetype(f64:bf16, f32:f64, u8:i32; soa)",
    "changetype(f32:f16; byteswap(aosoa(8)))",
    "byteswap(aos)",
    "byteswap(soa)",
};
enum { CONVERTING = sizeof converting / sizeof *converting };

static int is_real(ha_scalar s) { return s >= HA_F16 && s <= HA_F64; }

/* Any bits where real numbers stay such, else small numbers, which every type holds. */
static void any_value(ha_scalar type, ha_scalar partner, void *value) {
    const int number = next_byte() % 100;
    const double x = type == HA_BOOL || partner == HA_BOOL ? number % 2 : number;
    unsigned char any[16];
    for (int k = 0; k < 16; k++) any[k] = next_byte();
    if (is_real(type) && (is_real(partner) || partner == HA_C64))
        memcpy(value, any, (size_t)ha_scalar_size(type));
    else
        assert_true(ha_convert_scalars(value, type, &x, HA_F64, 1));
}

enum { MOST_LEAVES = 320 };

/* Types of the leaves of a record. */
static int64_t types_of(const ha_record *r, ha_scalar *type) {
    int64_t n = 0;
    ha_leaf leaf;
    for (; ha_record_leaf(r, n, &leaf) == HA_OK; n++) {
        assert_true(n < MOST_LEAVES);
        type[n] = leaf.scalar;
    }
    return n;
}

static void fill_values(const memory *m, const ha_record *partner) {
    static const int64_t zeros[HA_MAPPING_RANK];
    ha_scalar mine[MOST_LEAVES], its[MOST_LEAVES];
    int64_t index[HA_MAPPING_RANK] = {0};
    const int64_t leaves = types_of(m->mapping->record, mine);
    assert_int_equal(types_of(partner, its), leaves);
    do
        for (int64_t k = 0; k < leaves; k++) {
            _Alignas(16) char value[16];
            any_value(mine[k], its[k], value);
            ha_mapped_set(&m->mapped, k, index, value);
        }
    while (next_index(zeros, m->mapping->extent, m->mapping->rank, index));
}

/* Each value got, converted and set by itself. */
static void convert_each(memory *to, const memory *from, const int64_t *first,
                         const int64_t *last) {
    ha_scalar mine[MOST_LEAVES], its[MOST_LEAVES];
    const int64_t leaves = types_of(to->mapping->record, mine);
    int64_t index[HA_MAPPING_RANK];
    assert_int_equal(types_of(from->mapping->record, its), leaves);
    memcpy(index, first, sizeof index);
    do
        for (int64_t k = 0; k < leaves; k++) {
            _Alignas(16) char value[16], converted[16];
            ha_mapped_get(&from->mapped, k, index, value);
            assert_true(ha_convert_scalars(converted, mine[k], value, its[k], 1));
            ha_mapped_set(&to->mapped, k, index, converted);
        }
    while (next_index(first, last, to->mapping->rank, index));
}

static void check_conversion(const ha_record *to_record, const char *to_layout,
                             const ha_record *from_record, const char *from_layout,
                             const struct shape *s, int number) {
    static const int64_t skews[] = {0, 1, 4, 0, 8};
    const int64_t skew = skews[number % 5];
    int64_t first[HA_MAPPING_RANK] = {0}, last[HA_MAPPING_RANK] = {1, 1, 1, 1};
    memory to, from, expected;
    char *to_room[MOST_BLOBS], *from_room[MOST_BLOBS];
    make_lines(&to, to_room, to_record, to_layout, s->rank, s->extent, skew);
    make_lines(&from, from_room, from_record, from_layout, s->rank, s->extent, skew * 3);
    fill_values(&from, to_record);
    same_memory(&expected, &to);
    for (int d = 0; d < s->rank; d++) {
        first[d] = number % 3 * (s->extent[d] / 5);
        last[d] = s->extent[d] - number % 2 * (s->extent[d] / 9);
    }
    const ha_copying how = {.first = first, .last = last, .threads = 1 + number / 3 % 3};
    ha_error e;
    convert_each(&expected, &from, first, last);
    if (ha_mapped_copy(&to.mapped, &from.mapped, &how, &e)) fail_msg("%s", e.text);
    check_equal(&to, &expected, &from, "converted");
    free_blobs(&expected);
    free_lines(&to, to_room);
    free_lines(&from, from_room);
}

/* All ways and types, from the middle of blocks on, with ends anywhere, at any alignment. */
static void test_all_conversions(void **state) {
    (void)state;
    static const struct shape few[] = {{1, {1}},     {1, {77}},       {2, {5, 7}},
                                       {2, {6, 35}}, {3, {2, 3, 30}}, {1, {2100}}};
    int number = 0;
    for (int r = 0; r < 4; r++) {
        ha_record *to = ha_record_parse(types[r / 2][r % 2], NULL);
        ha_record *from = ha_record_parse(types[r / 2][1 - r % 2], NULL);
        for (int t = 0; t < CONVERTING; t++)
            for (int f = 0; f < CONVERTING; f++, number++) {
                check_conversion(to, converting[t], from, converting[f], &few[number % 5], number);
                if (number % 13 == r)
                    check_conversion(to, converting[t], from, converting[f], &few[5], number);
            }
        ha_record_free(to);
        ha_record_free(from);
    }
}

/* More leaves than are converted before anything is moved. */
static void test_many_conversions(void **state) {
    (void)state;
    static const char *const all[] = {"aos", "soa(single)", "aosoa(8)"};
    static const struct shape shape = {1, {150}};
    ha_record *to = ha_record_parse("c:f64 m[300]:f64", NULL);
    ha_record *from = ha_record_parse("c:f64 m[300]:f32", NULL);
    for (int k = 0; k < 9; k++) check_conversion(to, all[k / 3], from, all[k % 3], &shape, k);
    ha_record_free(to);
    ha_record_free(from);
}

/* What does not fit is told, and nothing is written. */
static void test_misfits(void **state) {
    (void)state;
    static const int64_t extent[] = {7, 100};
    ha_record *first = ha_record_parse("n:i32 a.b[2]:f64 c:c64", NULL);
    ha_record *second = ha_record_parse("c:f32 a.b[2]:u8 n:i32", NULL);
    static const char *const layouts_of[] = {"aos", "soa@col", "byteswap(aosoa(4))"};
    for (int k = 0; k < 3; k++) {
        memory to, from, before;
        ha_error e;
        make_memory(&to, second, layouts_of[k], 2, extent);
        make_memory(&from, first, layouts_of[2 - k], 2, extent);
        for (int b = 0; b < from.mapping->blobs; b++)
            memset(from.blob[b], 0, (size_t)from.mapping->blob[b].bytes);
        assert_int_equal(ha_mapped_copy(&to.mapped, &from.mapped, NULL, &e), HA_OK);
        same_memory(&before, &to);
        ha_mapped_set(&from.mapped, 2, (int64_t[]){5, 77}, &(double){255.5});
        ha_mapped_set(&from.mapped, 0, (int64_t[]){5, 77}, &(int32_t){1});
        assert_int_equal(ha_mapped_copy(&to.mapped, &from.mapped, NULL, &e), HA_ERR_ARGUMENT);
        assert_string_equal(e.text, "a.b[1]: the f64 of record (5, 77) cannot be converted to u8");
        assert_string_equal(e.operation, "ha_mapped_copy");
        check_equal(&to, &before, &from, "refused");
        ha_mapped_set(&from.mapped, 2, (int64_t[]){5, 77}, &(double){255.4});
        ha_mapped_set(&from.mapped, 3, (int64_t[]){0, 1}, &(ha_c64){1, 2});
        assert_int_equal(ha_mapped_copy(&to.mapped, &from.mapped, NULL, &e), HA_ERR_ARGUMENT);
        assert_string_equal(e.text, "c: the c64 of record (0, 1) cannot be converted to f32");
        assert_int_equal(
            ha_mapped_copy(&to.mapped, &from.mapped, &(ha_copying){.paths = " a + n "}, &e), HA_OK);
        assert_true(get_number(&to, "a.b[1]", (int64_t[]){5, 77}) == 255);
        assert_true(get_number(&to, "n", (int64_t[]){5, 77}) == 1);
        free_blobs(&before);
        free_memory(&to);
        free_memory(&from);
    }
    ha_record_free(first);
    ha_record_free(second);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void test_paths(void **state) {
    (void)state;
    static const int64_t extent[] = {41};
    static const struct {
        const char *paths;
        int64_t first, last; /* leaves */
    } parts[] = {{"pos", 0, 3},
                 {"mass", 3, 4},
                 {"pos.y+pos.z + mass", 1, 4},
                 {"flags[2]", 9, 10},
                 {"vel+flags", 4, 11}};
    ha_record *r = ha_record_parse(records[0], NULL);
    for (int p = 0; p < 5; p++)
        for (int t = 0; t < LAYOUTS; t++)
            for (int f = 0; f < LAYOUTS; f++) {
                memory to, from;
                make_memory(&to, r, layouts[t], 1, extent);
                make_memory(&from, r, layouts[f], 1, extent);
                check_copy(&to, &from, &(ha_copying){.paths = parts[p].paths}, parts[p].first,
                           parts[p].last, parts[p].paths);
                free_memory(&to);
                free_memory(&from);
            }
    ha_record_free(r);
}

/* From one place for all records, and from none. */
static void test_one_and_null(void **state) {
    (void)state;
    static const int64_t extent[] = {5, 40};
    ha_record *r = ha_record_parse(records[0], NULL);
    for (int t = 0; t < LAYOUTS; t++)
        for (int f = 0; f < 3; f++) {
            static const char *const from_layouts[] = {"one", "split(vel: one, null)", "null"};
            memory to, from;
            make_memory(&to, r, layouts[t], 2, extent);
            make_memory(&from, r, from_layouts[f], 2, extent);
            check_copy(&to, &from, NULL, 0, to.mapping->rows, "one");
            assert_int_equal(ha_mapped_copy(&from.mapped, &to.mapped, NULL, NULL),
                             f == 2 ? HA_OK : HA_ERR_ARGUMENT);
            free_memory(&to);
            free_memory(&from);
        }
    ha_record_free(r);
}

/* Large enough for tiles to be written as a whole, with ends in the middle of blocks. */
static void check_large(const ha_record *r, const char *to_layout, const char *from_layout,
                        int threads) {
    static const int64_t extent[] = {1 << 19}, first[] = {3}, last[] = {(1 << 19) - 2};
    memory to, from;
    make_memory(&to, r, to_layout, 1, extent);
    make_memory(&from, r, from_layout, 1, extent);
    const int has_gaps = !strcmp(to_layout, "aos"); /* of 4 bytes behind b, in structs of 40 */
    if (has_gaps) memset(to.blob[0], 0x5a, (size_t)to.mapping->blob[0].bytes);
    const ha_copying how = {.first = first, .last = last, .threads = threads};
    assert_int_equal(ha_mapped_copy(&to.mapped, &from.mapped, &how, NULL), HA_OK);
    for (int64_t n = 0; n<*extent; n += n> 70000 && n < *extent - 70000 ? 211 : 1)
        for (int64_t k = 0; k < to.mapping->rows; k++) {
            const size_t size = (size_t)size_of_leaf(to.mapping, k);
            const int copied = n >= *first && n < *last;
            if (copied != !memcmp(place_of(&to, k, &n), place_of(&from, k, &n), size) &&
                (copied || size > 2))
                fail_msg("%s from %s: leaf %d of record %d", to_layout, from_layout, (int)k,
                         (int)n);
        }
    for (int64_t n = 0; n < *extent && has_gaps; n++)
        assert_memory_equal((char *)to.blob[0] + 40 * n + 12, "\x5a\x5a\x5a\x5a", 4);
    free_memory(&to);
    free_memory(&from);
}

static void test_large(void **state) {
    (void)state;
    ha_record *r = ha_record_parse("a:f64 b:f32 c:i64 d:u32 f:f32 e:f64", NULL);
    static const char *const all[] = {"aos", "aos(packed)", "soa", "aosoa(8)", "aosoa(32)"};
    for (int t = 0; t < 5; t++)
        for (int f = 0; f < 5; f++)
            if ((t + f) % 2 == 0) check_large(r, all[t], all[f], 1 + f % 2);
    ha_record_free(r);
}

/* ---- by lines -------------------------------------------------------------------------------- */

static void check_lines(const ha_record *r, const char *to_layout, const char *from_layout,
                        const int64_t *first, int64_t skew) {
    static const int64_t extent[] = {3, 1500};
    const int64_t last[HA_MAPPING_RANK] = {3, 1500 - first[1] / 2};
    memory to, from;
    char *to_room[MOST_BLOBS], *from_room[MOST_BLOBS];
    make_lines(&to, to_room, r, to_layout, 2, extent, skew);
    make_lines(&from, from_room, r, from_layout, 2, extent, skew * 5 % 64);
    check_copy(&to, &from,
               &(ha_copying){.first = first, .last = last, .threads = 1 + (int)first[1] % 3}, 0,
               to.mapping->rows, "lines");
    free_lines(&to, to_room);
    free_lines(&from, from_room);
}

static const ha_weavers *way_of(int number) {
#if defined __x86_64__ && !defined HARRAY_NO_SIMD
    if (number == 1 && ha_weaves_avx2()) return &ha_weavers_avx2;
    if (number == 2 && ha_weaves_avx512()) return &ha_weavers_avx512;
#endif
    return number == 0 ? &ha_weavers_portable : NULL;
}

/* Lanes that fill lines, parts of lines and several of them; records of whole lines and others; from the
 * first record, the middle of a block, the middle of a line. */
static void test_lines(void **state) {
    (void)state;
    static const char *const all[] = {"soa",       "aosoa(8)",         "aosoa(32)",
                                      "aosoa(24)", "aosoa(8,aligned)", "aosoa(16,rows)"};
    static const char *const of[] = {"a:f64 b[2]:f32 c:i64 d[4]:u8 e:f64",
                                     "a:u8 b:f16 c:c128 d:f32"};
    static const int64_t first[][HA_MAPPING_RANK] = {{0, 0}, {1, 8}, {2, 5}};
    const ha_weavers *const best = ha_best_weavers();
    for (int way = 0; way < 3; way++)
        for (int k = 0; k < 2 && way_of(way); k++) {
            ha_record *r = ha_record_parse(of[k], NULL);
            atomic_store(&ha_chosen_weavers, way_of(way));
            for (int t = 0; t < 6; t++)
                for (int f = 0; f < 6; f++)
                    for (int n = 0; n < 3 && t != f; n++)
                        check_lines(r, all[t], all[f], first[n], n == 1 && t % 2 ? 16 : 0);
            ha_record_free(r);
        }
    atomic_store(&ha_chosen_weavers, best);
}

/* Each field fills lines; one between others is not copied, and stays as it is. */
/* Lines of fields of 8, 16 and 32 bytes in each order, of arrays, and of blocks that are read from one end to the
 * other. */
static void test_mixed_lines(void **state) {
    (void)state;
    static const char *const of[] = {"a:u8 b:u8 c:u16 d:f32",
                                     "a:u16 b:u8 c:u8 d:f32",
                                     "a:f32 b:u8 c:u8 d:u16",
                                     "a:f32 b:u16 c:u8 d:u8",
                                     "a[4]:u8 b:f32",
                                     "a:f32 b[4]:u8",
                                     "a[4]:u16",
                                     "a[8]:u8"};
    static const int64_t first[HA_MAPPING_RANK] = {0, 0};
    const ha_weavers *const best = ha_best_weavers();
    for (int way = 0; way < 3; way++)
        for (int k = 0; k < 8 && way_of(way); k++) {
            ha_record *r = ha_record_parse(of[k], NULL);
            atomic_store(&ha_chosen_weavers, way_of(way));
            check_lines(r, "aosoa(8)", "soa", first, 0);
            check_lines(r, "aosoa(8)", "aosoa(16)", first, 0);
            check_lines(r, "aosoa(16)", "aosoa(8)", first, 0);
            ha_record_free(r);
        }
    atomic_store(&ha_chosen_weavers, best);
}

static void test_lines_with_gaps(void **state) {
    (void)state;
    static const int64_t extent[] = {1000}, zero[HA_MAPPING_RANK] = {0};
    static const char *const all[] = {"aosoa(8)", "aosoa(32)", "soa"};
    ha_record *r = ha_record_parse("a:f64 b:f32 c:f32 d:f64 e:f32 f:f32", NULL);
    for (int k = 0; k < 4; k++) {
        memory to, from, expected;
        char *to_room[MOST_BLOBS], *from_room[MOST_BLOBS];
        make_lines(&to, to_room, r, all[k / 2], 1, extent, 0);
        make_lines(&from, from_room, r, all[k % 2 ? 2 : !(k / 2)], 1, extent, 0);
        same_memory(&expected, &to);
        model_copy(&expected, &from, zero, extent, 0, 2);
        model_copy(&expected, &from, zero, extent, 4, 5);
        assert_int_equal(
            ha_mapped_copy(&to.mapped, &from.mapped, &(ha_copying){.paths = "a+b+e"}, NULL), HA_OK);
        check_equal(&to, &expected, &from, "gaps");
        for (int b = 0; b < to.mapping->blobs; b++) free(expected.blob[b]);
        free_lines(&to, to_room);
        free_lines(&from, from_room);
    }
    ha_record_free(r);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void check_refused(const ha_mapped *to, const ha_mapped *from, const ha_copying *how,
                          const char *text) {
    ha_error e;
    assert_int_equal(ha_mapped_copy(to, from, how, &e), HA_ERR_ARGUMENT);
    assert_string_equal(e.text, text);
    assert_int_equal(ha_mapped_copy(to, from, how, NULL), HA_ERR_ARGUMENT);
}

static void test_refusals(void **state) {
    (void)state;
    static const int64_t extent[] = {4, 5}, less[] = {4, 4};
    ha_record *r = ha_record_parse(records[0], NULL), *strange = ha_record_parse("q:f32", NULL);
    memory aos, soa, smaller, line, one, foreign;
    make_memory(&aos, r, "aos", 2, extent);
    make_memory(&soa, r, "soa", 2, extent);
    make_memory(&smaller, r, "aos", 2, less);
    make_memory(&line, r, "aos", 1, extent);
    make_memory(&one, r, "one", 2, extent);
    make_memory(&foreign, strange, "aos", 2, extent);
    check_refused(&aos.mapped, &line.mapped, NULL, "the target has rank 2, the source 1");
    check_refused(&aos.mapped, &smaller.mapped, NULL,
                  "extent 1 of the target is 5, of the source 4");
    check_refused(&aos.mapped, &soa.mapped, &(ha_copying){.last = (int64_t[]){4, 6}},
                  "the region from 0 to 6 is not inside extent 1, which is 5");
    check_refused(&aos.mapped, &soa.mapped, &(ha_copying){.first = (int64_t[]){-1, 0}},
                  "the region from -1 to 4 is not inside extent 0, which is 4");
    check_refused(&aos.mapped, &soa.mapped,
                  &(ha_copying){.first = (int64_t[]){3, 0}, .last = (int64_t[]){2, 5}},
                  "the region from 3 to 2 is not inside extent 0, which is 4");
    check_refused(&aos.mapped, &soa.mapped, &(ha_copying){.paths = "pos+ma"},
                  "paths: at character 4: there is no field \"ma\" in both records");
    check_refused(&aos.mapped, &soa.mapped, &(ha_copying){.paths = ""},
                  "paths: at character 0: there is no field \"\" in both records");
    check_refused(&aos.mapped, &soa.mapped, &(ha_copying){.paths = "pos mass"},
                  "paths: at character 4: expected '+' or the end");
    check_refused(&aos.mapped, &foreign.mapped, NULL, "the two records have no field in common");
    check_refused(&one.mapped, &aos.mapped, NULL,
                  "pos.x: the target has one place for the values of all records");
    check_refused(&aos.mapped, &aos.mapped, NULL,
                  "blob 0 of the target and blob 0 of the source overlap");
    void *const behind = soa.blob[2];
    soa.blob[2] = (char *)aos.blob[0] + aos.mapping->blob[0].bytes - 1;
    check_refused(&soa.mapped, &aos.mapped, NULL,
                  "blob 2 of the target and blob 0 of the source overlap");
    soa.blob[2] = NULL;
    check_refused(&soa.mapped, &aos.mapped, NULL, "pos.z: its blob in the target is NULL");
    check_refused(&aos.mapped, &soa.mapped, NULL, "pos.z: its blob in the source is NULL");
    assert_int_equal(ha_mapped_copy(&aos.mapped, &soa.mapped, &(ha_copying){.paths = "vel"}, NULL),
                     HA_OK);
    soa.blob[2] = behind;
    /* a single record has one place, too */
    assert_int_equal(
        ha_mapped_copy(&one.mapped, &aos.mapped,
                       &(ha_copying){.first = (int64_t[]){2, 3}, .last = (int64_t[]){3, 4}}, NULL),
        HA_OK);
    assert_memory_equal(one.blob[0], (char *)aos.blob[0] + 13 * 64, 24);
    free_memory(&aos);
    free_memory(&soa);
    free_memory(&smaller);
    free_memory(&line);
    free_memory(&one);
    free_memory(&foreign);
    ha_record_free(r);
    ha_record_free(strange);
}

/* Records of one size of leaves, large and small, by vectors of every processor. */
static void test_ways(void **state) {
    (void)state;
    static const char *const of[] = {"a[6]:f32", "a[5]:f64", "a[9]:u16 b:f16", "a[21]:u8",
                                     "a[3]:bool b[2]:c128"};
    static const char *const all[] = {"aos(packed)", "soa(single)", "aosoa(8)", "aosoa(64)"};
    static const int64_t extent[] = {2100}, first[HA_MAPPING_RANK] = {5};
    static const int64_t last[HA_MAPPING_RANK] = {2099};
    const ha_weavers *const best = ha_best_weavers();
    for (int way = 0; way < 3; way++)
        for (int k = 0; k < 5 && way_of(way); k++) {
            ha_record *r = ha_record_parse(of[k], NULL);
            atomic_store(&ha_chosen_weavers, way_of(way));
            for (int pair = 0; pair < 16; pair++) {
                memory to, from;
                make_memory(&to, r, all[pair / 4], 1, extent);
                make_memory(&from, r, all[pair % 4], 1, extent);
                check_copy(&to, &from,
                           &(ha_copying){.first = pair % 3 ? NULL : first, .last = last}, 0,
                           to.mapping->rows, "ways");
                free_memory(&to);
                free_memory(&from);
            }
            ha_record_free(r);
        }
    atomic_store(&ha_chosen_weavers, best);
}

/* What tiles have no room for: many leaves, long ones, sizes by turns, blocks that are longer than tiles and
 * end nowhere together; several orders at once. */
static void test_unusual(void **state) {
    (void)state;
    static const struct {
        const char *record, *to, *from;
        int rank;
        int64_t extent[2];
    } cases[] = {
        {"a[70]:f32", "aos", "soa(single)", 1, {300}},
        {"a[70]:f32", "soa(single)", "aosoa(16)", 1, {300}},
        {"a[700]:f64", "soa(single)", "aos", 1, {70}},
        {"a[700]:f64", "aos", "aosoa(8)", 1, {70}},
        {"a:u8 b:u16 c:u32 d:u64 e:u8 f:u16 g:u32 h:u64", "aos", "soa(single)", 1, {500}},
        {"a:u8 b:u16 c:u32 d:u64 e:u8 f:u16 g:u32 h:u64",
         "split(a+c+e: soa(single), aos)",
         "aos(minalign)",
         1,
         {500}},
        {"a:u8 b:u16", "aosoa(5000)", "aosoa(3000)", 1, {20000}},
        {"a:u8 b:u16", "aosoa(3000)", "aosoa(5000)", 1, {20000}},
        {"a:u8 b:u16", "aosoa(5000)", "aos", 1, {20000}},
        {"a:f32 b:f32 c:f32",
         "split(separate; a: soa, soa@col)",
         "split(separate; b: aos@col, aosoa(4))",
         2,
         {30, 21}},
        {"a:f32 b:f32 c:f32",
         "split(separate; a: aos@morton, aos)",
         "split(separate; b: soa@col, soa@morton)",
         2,
         {9, 21}},
        {"a:f32 b:f32 c:f32",
         "split(separate; c: aos, aosoa(4,rows))",
         "split(separate; c: aos, aos)",
         2,
         {9, 21}},
        {"a:f32 b:f32 c:f32", "aos(packed)", "split(a+b: aosoa(8), aosoa(16))", 1, {999}},
        {"a:f32 b:f64 c:f32", "aosoa(32)", "split(b: aosoa(8), aosoa(16))", 1, {999}},
        {"a:f32 b:f64 c:f32", "split(b: aosoa(8), aosoa(16))", "soa(single)", 1, {999}},
        {"a:f32 b:f64 c:f32", "aosoa(32)", "split(b: aos, soa(single))", 1, {999}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ha_record *r = ha_record_parse(cases[k].record, NULL);
        for (int threads = 1; threads < 3; threads++) {
            memory to, from;
            make_memory(&to, r, cases[k].to, cases[k].rank, cases[k].extent);
            make_memory(&from, r, cases[k].from, cases[k].rank, cases[k].extent);
            check_copy(&to, &from, &(ha_copying){.threads = threads}, 0, to.mapping->rows,
                       cases[k].record);
            free_memory(&to);
            free_memory(&from);
        }
        ha_record_free(r);
    }
}

/* Blobs of one side may lie in each other; what a long one reaches over counts, too. */
static void test_nested_blobs(void **state) {
    (void)state;
    char room[400] = {0};
    void *to[] = {room, room + 8}, *from[] = {room + 200, room + 32};
    const int64_t n = 8;
    ha_record *r = ha_record_parse("a:f64 b:u8", NULL);
    ha_mapping *m = ha_mapping_parse(r, "soa", 1, &n, NULL);
    const ha_mapped target = {m, to}, source = {m, from};
    check_refused(&target, &source, NULL, "blob 0 of the target and blob 1 of the source overlap");
    check_refused(&source, &target, NULL, "blob 1 of the target and blob 0 of the source overlap");
    to[1] = room; /* as the other one of this side */
    check_refused(&target, &source, NULL, "blob 0 of the target and blob 1 of the source overlap");
    from[1] = room;
    check_refused(&target, &source, NULL, "blob 0 of the target and blob 1 of the source overlap");
    from[1] = room + 64;
    assert_int_equal(ha_mapped_copy(&target, &source, NULL, NULL), HA_OK);
    ha_mapping_free(m);
    ha_record_free(r);
}

/* More records than numbers count, of which nothing is stored; lanes that no memory has. */
static void test_no_end(void **state) {
    (void)state;
    static const int64_t far[] = {INT64_MAX / 4, 1 << 20}, four[] = {4};
    ha_record *r = ha_record_parse("a:f32", NULL);
    ha_mapping *m = ha_mapping_parse(r, "null", 2, far, NULL),
               *line = ha_mapping_parse(r, "soa", 1, four, NULL);
    assert_non_null(m);
    const ha_mapped nothing = {m, NULL};
    assert_int_equal(ha_mapped_copy(&nothing, &nothing, NULL, NULL), HA_OK);
    float to[8] = {0}, from[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    void *to_blob[] = {to}, *from_blob[] = {from};
    ha_row row = line->row[0];
    ha_mapping by_hand = *line;
    by_hand.row = &row;
    row.lanes = INT64_MAX;
    row.lane_stride = 4;
    row.block_stride = 0;
    assert_int_equal(
        ha_mapped_copy(&(ha_mapped){line, to_blob}, &(ha_mapped){&by_hand, from_blob}, NULL, NULL),
        HA_OK);
    assert_memory_equal(to, from, 16);
    row.lanes = 2; /* two records in one place, and two in another */
    row.lane_stride = 0;
    row.block_stride = 8;
    assert_int_equal(
        ha_mapped_copy(&(ha_mapped){line, to_blob}, &(ha_mapped){&by_hand, from_blob}, NULL, NULL),
        HA_OK);
    assert_true(to[0] == 1 && to[1] == 1 && to[2] == 3 && to[3] == 3);
    row.block_stride = 0;
    check_refused(&(ha_mapped){&by_hand, from_blob}, &(ha_mapped){line, to_blob}, NULL,
                  "a: the target has one place for the values of all records");
    ha_mapping_free(m);
    ha_mapping_free(line);
    ha_record_free(r);
}

/* Thousands of blobs on both sides, by turns, of which one reaches into the next; and no memory to find it. */
static void test_many_blobs(void **state) {
    (void)state;
    enum { LEAVES = 4000, EACH = 8 };
    static char room[2 * LEAVES * EACH];
    static void *to[LEAVES], *from[LEAVES];
    const int64_t n = EACH;
    ha_error e;
    ha_record *r = ha_record_parse("a[4000]:u8", NULL);
    ha_mapping *m = ha_mapping_parse(r, "soa", 1, &n, NULL);
    const ha_mapped target = {m, to}, source = {m, from};
    for (int k = 0; k < LEAVES; k++) {
        to[LEAVES - 1 - k] = room + 2 * k * EACH; /* in another order than their numbers */
        from[k] = room + (2 * k + 1) * EACH;
        memset(from[k], k, EACH);
    }
    assert_int_equal(ha_mapped_copy(&target, &source, NULL, &e), HA_OK);
    for (int k = 0; k < LEAVES; k++) assert_memory_equal(to[k], from[k], EACH);
    from[3000] = (char *)from[3000] + 1;
    until_failure = 0;
    assert_int_equal(ha_mapped_copy(&target, &source, NULL, &e), HA_ERR_MEMORY);
    until_failure = -1;
    check_refused(&target, &source, NULL,
                  "blob 998 of the target and blob 3000 of the source overlap");
    from[3000] = NULL;
    from[0] = room; /* the same one */
    check_refused(&target, &source, NULL,
                  "blob 3999 of the target and blob 0 of the source overlap");
    ha_mapping_free(m);
    ha_record_free(r);
}

static void test_without_memory(void **state) {
    (void)state;
    static const int64_t extent[] = {4, 5};
    ha_record *r = ha_record_parse(records[0], NULL);
    memory to, from, before;
    ha_status s = HA_ERR_MEMORY;
    make_memory(&to, r, "aos", 2, extent);
    make_memory(&from, r, "soa", 2, extent);
    same_memory(&before, &to);
    const long used = allocated;
    for (long k = 0; s; k++) {
        ha_error e;
        until_failure = k;
        s = ha_mapped_copy(&to.mapped, &from.mapped, NULL, &e);
        until_failure = -1;
        assert_int_equal(allocated, used);
        if (!s) break;
        assert_int_equal(s, HA_ERR_MEMORY);
        assert_non_null(strstr(e.text, "there is no memory for "));
        check_equal(&to, &before, &from, "without memory");
        assert_true(k < 10);
    }
    free_blobs(&before);
    free_memory(&to);
    free_memory(&from);
    ha_record_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs),       cmocka_unit_test(test_stored_otherwise),
        cmocka_unit_test(test_counted),         cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_misfits),         cmocka_unit_test(test_paths),
        cmocka_unit_test(test_one_and_null),    cmocka_unit_test(test_large),
        cmocka_unit_test(test_refusals),        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_lines),           cmocka_unit_test(test_lines_with_gaps),
        cmocka_unit_test(test_all_conversions), cmocka_unit_test(test_many_conversions),
        cmocka_unit_test(test_many_blobs),      cmocka_unit_test(test_ways),
        cmocka_unit_test(test_mixed_lines),     cmocka_unit_test(test_unusual),
        cmocka_unit_test(test_no_end),          cmocka_unit_test(test_nested_blobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
