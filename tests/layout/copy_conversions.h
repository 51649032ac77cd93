/* Copies that convert, byte by byte. Included by test_layout_copy.c. */
#ifndef HARRAY_TESTS_LAYOUT_COPY_CONVERSIONS_H
#define HARRAY_TESTS_LAYOUT_COPY_CONVERSIONS_H

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

static int is_real(ha_dtype s) { return s >= HA_DTYPE_half && s <= HA_DTYPE_double; }

/* Any bits where real numbers stay such, else small numbers, which every type holds. */
static void any_value(ha_dtype type, ha_dtype partner, void *value) {
    const int number = next_byte() % 100;
    const double x = type == HA_DTYPE_bool || partner == HA_DTYPE_bool ? number % 2 : number;
    unsigned char any[16];
    for (int k = 0; k < 16; k++) any[k] = next_byte();
    if (is_real(type) && (is_real(partner) || partner == HA_DTYPE_c64))
        memcpy(value, any, ha_dtype_size(type));
    else
        assert_true(ha_convert_scalars(value, type, &x, HA_DTYPE_double, 1));
}

enum { MOST_LEAVES = 320 };

/* Types of the leaves of a record. */
static int64_t types_of(const ha_record *r, ha_dtype *type) {
    int64_t n = 0;
    ha_leaf leaf;
    for (; ha_record_leaf(r, n, &leaf) == HA_OK; n++) {
        assert_true(n < MOST_LEAVES);
        type[n] = leaf.type;
    }
    return n;
}

static void fill_values(const memory *m, const ha_record *partner) {
    static const int64_t zeros[HA_MAPPING_RANK];
    ha_dtype mine[MOST_LEAVES], its[MOST_LEAVES];
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
    ha_dtype mine[MOST_LEAVES], its[MOST_LEAVES];
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
                if (!is_tried(t, f)) continue;
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

#endif
