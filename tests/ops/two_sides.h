/* Two record arrays of which one is computed with the other one, or with arrays, and what is expected of them: the same
 * arithmetic with arrays of structs here. Include behind known_apply.h. */
#ifndef HARRAY_TESTS_OPS_TWO_SIDES_H
#define HARRAY_TESTS_OPS_TWO_SIDES_H

enum { TYPES = 15, MOST_BYTES = 1 << 17 };
static const char *const layouts[] = {"aos",      "soa",           "aosoa(8)",      "aos(packed)",
                                      "soa@col",  "soa(fields)",   "byteswap(aos)", "soa(single)",
                                      "aosoa(4)", "bytesplit(soa)"};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* One side: records, and what is expected of them. */
typedef struct side {
    ha_record *record;
    ha_records *records;
    ha_mapping *known;
    void *blob[1];
    char *values;
} side;

static side left, right;
static uint64_t random_state;

static uint64_t random_bits(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static int random_below(int n) { return (int)(random_bits() >> 33) % n; }

static ha_mapped model_of(const side *s) {
    return (ha_mapped){s->known, (void **)(uintptr_t)s->blob};
}

static void make_side(side *s, const char *fields, int rank, const int64_t *extent) {
    ha_error error;
    s->record = ha_record_parse(fields, &error);
    if (!s->record) fail_msg("%s: %s", fields, error.text);
    s->known = ha_mapping_parse(s->record, "aos", rank, extent, &error);
    assert_non_null(s->known);
    assert_true(s->known->blob[0].bytes <= MOST_BYTES);
    s->values = (char *)calloc(1, MOST_BYTES);
    s->blob[0] = s->values;
    s->records = ha_records_new(s->record, rank, extent, NULL);
    assert_non_null(s->records);
}

static void end_side(side *s) {
    HA_CHECK(ha_context_finish(C)); /* what is known of the last call is not needed any more */
    if (s->records) HA_CHECK(ha_records_free(s->records));
    ha_mapping_free(s->known);
    ha_record_free(s->record);
    free(s->values);
    memset(s, 0, sizeof *s);
}

static void make_sides(const char *lefts, const char *rights, int rank, const int64_t *extent) {
    make_side(&left, lefts, rank, extent);
    make_side(&right, rights, rank, extent);
}

static void end_sides(void) {
    end_side(&left);
    end_side(&right);
}

static int begin_records(void **state) {
    random_state = 88172645463325252u;
    begin_case(state);
    return 0;
}

static int end_records(void **state) {
    end_sides(); /* of a test that was skipped */
    return end_case(state);
}
#define RECORDS(name) cmocka_unit_test_setup_teardown(name, begin_records, end_records)

/* ---- values -------------------------------------------------------------------------------------- */

static double random_real(void) {
    static const double some[] = {0,     -0.0,  1,    -1,    2.5,  3.5,      -0.5,      100,
                                  -128,  127.5, 1e-3, 65504, 1e9,  -7,       0x1p63,    -0x1p63,
                                  1e300, 5e-8,  6e-5, 1e-40, 3e38, INFINITY, -INFINITY, NAN};
    const int k = random_below(36);
    if (k < 24) return some[k];
    return ((double)(random_bits() >> 11) * 0x1p-52 - 1) * (k < 30 ? 10 : 1e5);
}

/* Of integers all bits, and small ones; the parts of complex numbers each by itself. */
static void random_value(ha_dtype type, void *value) {
    const uint64_t integer = random_bits() >> random_below(64);
    const uint64_t with_sign = random_below(2) ? integer : 0 - integer;
    const double x = random_real();
    const float single = (float)x;
    const ha_half half = ha_half_of_double(x);
    const ha_bfloat16 brain = ha_bfloat16_of_double(x);
    if (type == HA_DTYPE_c64 || type == HA_DTYPE_c128) {
        const ha_dtype part = type == HA_DTYPE_c64 ? HA_DTYPE_float : HA_DTYPE_double;
        random_value(part, value);
        random_value(part, (char *)value + ha_dtype_size(part));
    } else if (type == HA_DTYPE_bool) {
        *(uint8_t *)value = integer & 1;
    } else {
        memcpy(value,
               type == HA_DTYPE_double     ? (const void *)&x
               : type == HA_DTYPE_float    ? (const void *)&single
               : type == HA_DTYPE_half     ? (const void *)&half
               : type == HA_DTYPE_bfloat16 ? (const void *)&brain
                                           : (const void *)&with_sign,
               ha_dtype_size(type));
    }
}

/* All indices, the last one innermost; 0: there are no more. */
static int next_index(const ha_mapping *m, int64_t *index) {
    for (int d = m->rank - 1; d >= 0; d--) {
        if (++index[d] < m->extent[d]) return 1;
        index[d] = 0;
    }
    return 0;
}

static int has_records(const side *s) { return ha_records_size(s->records) > 0; }

static void fill_side(side *s) {
    const ha_mapped model = model_of(s);
    ha_records_access x = {.records = NULL};
    assert_int_equal(ha_records_open(&x, s->records, H, "overwrite", 0, HA_END), HA_OK);
    const ha_mapped here = {x.mapping, x.blob};
    int64_t index[HA_MAPPING_RANK] = {0};
    for (int more = has_records(s); more; more = next_index(s->known, index))
        for (int64_t leaf = 0; leaf < s->known->rows; leaf++) {
            _Alignas(16) char value[16];
            random_value((ha_dtype)s->known->row[leaf].type, value);
            ha_mapped_set(&model, leaf, index, value);
            ha_mapped_set(&here, leaf, index, value);
        }
    HA_CHECK(ha_records_close(&x));
}

/* As a number, of whatever floating type; of integers 0. */
static double part_of(ha_dtype type, const char *value) {
    float single;
    double x;
    memcpy(&single, value, sizeof single);
    memcpy(&x, value, sizeof x);
    return type == HA_DTYPE_half ? ha_half_to_double(*(const ha_half *)(const void *)value)
           : type == HA_DTYPE_bfloat16
               ? ha_bfloat16_to_double(*(const ha_bfloat16 *)(const void *)value)
           : type == HA_DTYPE_float  ? (double)single
           : type == HA_DTYPE_double ? x
                                     : 0;
}

/* By bits; NaN is as good as another NaN. */
static int is_same(ha_dtype type, const char *got, const char *wanted) {
    if (type == HA_DTYPE_c64)
        return is_same(HA_DTYPE_float, got, wanted) && is_same(HA_DTYPE_float, got + 4, wanted + 4);
    if (type == HA_DTYPE_c128)
        return is_same(HA_DTYPE_double, got, wanted) &&
               is_same(HA_DTYPE_double, got + 8, wanted + 8);
    if (!memcmp(got, wanted, ha_dtype_size(type))) return 1;
    return isnan(part_of(type, got)) && isnan(part_of(type, wanted));
}

static void is_expected_of(const side *s, const char *what) {
    const ha_mapped model = model_of(s);
    ha_records_access x = {.records = NULL};
    assert_int_equal(ha_records_open(&x, s->records, H, "read", 0, HA_END), HA_OK);
    const ha_mapped here = {x.mapping, x.blob};
    int64_t index[HA_MAPPING_RANK] = {0};
    for (int more = has_records(s); more; more = next_index(s->known, index))
        for (int64_t leaf = 0; leaf < s->known->rows; leaf++) {
            const ha_dtype type = (ha_dtype)s->known->row[leaf].type;
            _Alignas(16) char got[16] = {0}, wanted[16] = {0};
            char name[40];
            ha_mapped_get(&here, leaf, index, got);
            ha_mapped_get(&model, leaf, index, wanted);
            (void)ha_record_leaf_name(s->record, leaf, name, sizeof name);
            if (!is_same(type, got, wanted))
                fail_msg("%s: %s of %s at %d: %.17g instead of %.17g, %016llx %016llx", what, name,
                         ha_dtype_name(type), (int)index[0], part_of(type, got),
                         part_of(type, wanted), *(unsigned long long *)(void *)got,
                         *(unsigned long long *)(void *)wanted);
        }
    HA_CHECK(ha_records_close(&x));
}

/* Are few of all kernels tried, as each is to be compiled? */
static int has_few_kernels(void) {
    return ha_way_of(C) == HA_WAY_COMPILED && !getenv("HARRAY_TEST_LONG");
}

static const char *const types[TYPES] = {"f32", "f64", "f16", "bf16", "i8",   "i16", "i32", "i64",
                                         "u8",  "u16", "u32", "u64",  "bool", "c64", "c128"};

static void is_refused(ha_status s, ha_status as, const char *why) {
    const ha_error error = ha_take_error();
    if (s != as || !strstr(error.text, why)) fail_msg("%d: %s", s, error.text);
}

#endif
