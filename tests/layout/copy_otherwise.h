/* Copies of what is not stored as it is, and to records of other types. Included by test_layout_copy.c. */
#ifndef HARRAY_TESTS_LAYOUT_COPY_OTHERWISE_H
#define HARRAY_TESTS_LAYOUT_COPY_OTHERWISE_H

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
    switch (m->mapping->row[leaf].type) {
    case HA_DTYPE_int32_t:
        ha_mapped_set(&m->mapped, leaf, index, &(int32_t){-number});
        break;
    case HA_DTYPE_uint16_t:
        ha_mapped_set(&m->mapped, leaf, index, &(uint16_t){(uint16_t)number});
        break;
    case HA_DTYPE_float:
        ha_mapped_set(&m->mapped, leaf, index, &(float){(float)number / 4});
        break;
    case HA_DTYPE_double:
        ha_mapped_set(&m->mapped, leaf, index, &(double){-number / 8.0});
        break;
    case HA_DTYPE_c64:
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

static double number_of(const char *value, ha_dtype scalar) {
    switch (scalar) {
    case HA_DTYPE_int32_t:
        return *(const int32_t *)(const void *)value;
    case HA_DTYPE_int64_t:
        return (double)*(const int64_t *)(const void *)value;
    case HA_DTYPE_uint16_t:
        return *(const uint16_t *)(const void *)value;
    case HA_DTYPE_float:
        return (double)*(const float *)(const void *)value;
    case HA_DTYPE_double:
        return *(const double *)(const void *)value;
    case HA_DTYPE_c64:
        return (double)((const float *)(const void *)value)[1];
    case HA_DTYPE_c128:
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
    return number_of(value, (ha_dtype)m->mapping->row[number].type);
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

#endif
