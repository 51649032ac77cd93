/* Expected offsets, as literal numbers, of the layouts of layout/mapping.h; of linearizers, structs and
 * blobs. The numbers are those of LLAMA's own tests (0.6). */
#define HA_LAYOUT_IMPLEMENTATION
#include "../../layout.h"

#include "../support/layout_record.h"
#include <setjmp.h>
#include <cmocka.h>

/* ---- offsets of the particle ----------------------------------------------------------------- */

typedef struct expected {
    int64_t index[2];
    int32_t blob[PARTICLE_LEAVES];
    int64_t offset[PARTICLE_LEAVES];
} expected;

typedef struct table {
    const char *layout;
    int rank;
    int64_t extent[2];
    int blobs;
    int64_t bytes[PARTICLE_LEAVES];
    int rows;
    expected row[3];
} table;

/* clang-format off */
static const table tables[] = {
    {"aos(packed)",
     2, {16, 16}, 1, {14336}, 3,
     {{{0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 8, 16, 24, 28, 36, 44, 52, 53, 54, 55}},
      {{0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {56, 64, 72, 80, 84, 92, 100, 108, 109, 110, 111}},
      {{1, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {896, 904, 912, 920, 924, 932, 940, 948, 949, 950, 951}}}},
    {"aos(packed)@col",
     2, {16, 16}, 1, {14336}, 3,
     {{{0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 8, 16, 24, 28, 36, 44, 52, 53, 54, 55}},
      {{0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {896, 904, 912, 920, 924, 932, 940, 948, 949, 950, 951}},
      {{1, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {56, 64, 72, 80, 84, 92, 100, 108, 109, 110, 111}}}},
    {"aos(packed)@morton",
     2, {16, 16}, 1, {14336}, 3,
     {{{0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 8, 16, 24, 28, 36, 44, 52, 53, 54, 55}},
      {{0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {56, 64, 72, 80, 84, 92, 100, 108, 109, 110, 111}},
      {{1, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {112, 120, 128, 136, 140, 148, 156, 164, 165, 166, 167}}}},
    {"aos",
     2, {16, 16}, 1, {16384}, 3,
     {{{0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 8, 16, 24, 32, 40, 48, 56, 57, 58, 59}},
      {{0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {64, 72, 80, 88, 96, 104, 112, 120, 121, 122, 123}},
      {{1, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {1024, 1032, 1040, 1048, 1056, 1064, 1072, 1080, 1081, 1082, 1083}}}},
    {"aos(minalign)",
     2, {16, 16}, 1, {14336}, 3,
     {{{0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {8, 16, 24, 4, 32, 40, 48, 0, 1, 2, 3}},
      {{0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {64, 72, 80, 60, 88, 96, 104, 56, 57, 58, 59}},
      {{1, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {904, 912, 920, 900, 928, 936, 944, 896, 897, 898, 899}}}},
    {"aosoa(4)",
     2, {16, 16}, 1, {14336}, 3,
     {{{0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 32, 64, 96, 112, 144, 176, 208, 212, 216, 220}},
      {{0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {8, 40, 72, 100, 120, 152, 184, 209, 213, 217, 221}},
      {{1, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {896, 928, 960, 992, 1008, 1040, 1072, 1104, 1108, 1112, 1116}}}},
    {"aosoa(4,aligned)",
     2, {16, 16}, 1, {16384}, 3,
     {{{0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 32, 64, 96, 128, 160, 192, 224, 228, 232, 236}},
      {{0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {8, 40, 72, 100, 136, 168, 200, 225, 229, 233, 237}},
      {{1, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {1024, 1056, 1088, 1120, 1152, 1184, 1216, 1248, 1252, 1256, 1260}}}},
    {"soa(single)",
     2, {11, 17}, 1, {10472}, 3,
     {{{0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 1496, 2992, 4488, 5236, 6732, 8228, 9724, 9911, 10098, 10285}},
      {{0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {8, 1504, 3000, 4492, 5244, 6740, 8236, 9725, 9912, 10099, 10286}},
      {{1, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {136, 1632, 3128, 4556, 5372, 6868, 8364, 9741, 9928, 10115, 10302}}}},
    {"soa(single)@col",
     2, {11, 17}, 1, {10472}, 3,
     {{{0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 1496, 2992, 4488, 5236, 6732, 8228, 9724, 9911, 10098, 10285}},
      {{0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {88, 1584, 3080, 4532, 5324, 6820, 8316, 9735, 9922, 10109, 10296}},
      {{1, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {8, 1504, 3000, 4492, 5244, 6740, 8236, 9725, 9912, 10099, 10286}}}},
    {"soa(single)@morton",
     2, {11, 17}, 1, {57344}, 3,
     {{{0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 8192, 16384, 24576, 28672, 36864, 45056, 53248, 54272, 55296, 56320}},
      {{0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {8, 8200, 16392, 24580, 28680, 36872, 45064, 53249, 54273, 55297, 56321}},
      {{1, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {16, 8208, 16400, 24584, 28688, 36880, 45072, 53250, 54274, 55298, 56322}}}},
    {"soa(single,aligned)",
     2, {11, 17}, 1, {10476}, 3,
     {{{0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 1496, 2992, 4488, 5240, 6736, 8232, 9728, 9915, 10102, 10289}},
      {{0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {8, 1504, 3000, 4492, 5248, 6744, 8240, 9729, 9916, 10103, 10290}},
      {{1, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {136, 1632, 3128, 4556, 5376, 6872, 8368, 9745, 9932, 10119, 10306}}}},
    {"soa(single,aligned)@col",
     2, {11, 17}, 1, {10476}, 3,
     {{{0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 1496, 2992, 4488, 5240, 6736, 8232, 9728, 9915, 10102, 10289}},
      {{0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {88, 1584, 3080, 4532, 5328, 6824, 8320, 9739, 9926, 10113, 10300}},
      {{1, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {8, 1504, 3000, 4492, 5248, 6744, 8240, 9729, 9916, 10103, 10290}}}},
    {"soa(single,aligned)@morton",
     2, {11, 17}, 1, {57344}, 3,
     {{{0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 8192, 16384, 24576, 28672, 36864, 45056, 53248, 54272, 55296, 56320}},
      {{0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {8, 8200, 16392, 24580, 28680, 36872, 45064, 53249, 54273, 55297, 56321}},
      {{1, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {16, 8208, 16400, 24584, 28688, 36880, 45072, 53250, 54274, 55298, 56322}}}},
    {"soa(fields)",
     2, {16, 16}, 8, {2048, 2048, 2048, 1024, 2048, 2048, 2048, 1024}, 3,
     {{{0, 0}, {0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7}, {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3}},
      {{0, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7}, {8, 8, 8, 4, 8, 8, 8, 4, 5, 6, 7}},
      {{1, 0}, {0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7}, {128, 128, 128, 64, 128, 128, 128, 64, 65, 66, 67}}}},
    {"soa",
     2, {16, 16}, 11, {2048, 2048, 2048, 1024, 2048, 2048, 2048, 256, 256, 256, 256}, 3,
     {{{0, 0}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
      {{0, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {8, 8, 8, 4, 8, 8, 8, 1, 1, 1, 1}},
      {{1, 0}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {128, 128, 128, 64, 128, 128, 128, 16, 16, 16, 16}}}},
    {"one(packed)",
     2, {16, 16}, 1, {56}, 3,
     {{{0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 8, 16, 24, 28, 36, 44, 52, 53, 54, 55}},
      {{7, 9}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 8, 16, 24, 28, 36, 44, 52, 53, 54, 55}},
      {{15, 15}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 8, 16, 24, 28, 36, 44, 52, 53, 54, 55}}}},
    {"one",
     2, {16, 16}, 1, {60}, 3,
     {{{0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 8, 16, 24, 32, 40, 48, 56, 57, 58, 59}},
      {{7, 9}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 8, 16, 24, 32, 40, 48, 56, 57, 58, 59}},
      {{15, 15}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 8, 16, 24, 32, 40, 48, 56, 57, 58, 59}}}},
    {"one(minalign)",
     2, {16, 16}, 1, {56}, 3,
     {{{0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {8, 16, 24, 4, 32, 40, 48, 0, 1, 2, 3}},
      {{7, 9}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {8, 16, 24, 4, 32, 40, 48, 0, 1, 2, 3}},
      {{15, 15}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {8, 16, 24, 4, 32, 40, 48, 0, 1, 2, 3}}}},
    {"split(pos: soa(single), aos(packed))",
     2, {16, 16}, 1, {14336}, 1,
     {{{0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 2048, 4096, 6144, 6148, 6156, 6164, 6172, 6173, 6174, 6175}}}},
    {"split(separate; vel: aosoa(8), split(separate; mass: one(packed), split(separate; pos: aos(packed), soa(single))))",
     1, {32}, 4, {768, 4, 768, 128}, 2,
     {{{0}, {2, 2, 2, 1, 0, 0, 0, 3, 3, 3, 3}, {0, 8, 16, 0, 0, 64, 128, 0, 32, 64, 96}},
      {{31}, {2, 2, 2, 1, 0, 0, 0, 3, 3, 3, 3}, {744, 752, 760, 0, 632, 696, 760, 31, 63, 95, 127}}}},
    {"split(separate; pos+vel: soa, one)",
     1, {32}, 7, {256, 256, 256, 256, 256, 256, 8}, 2,
     {{{0}, {0, 1, 2, 6, 3, 4, 5, 6, 6, 6, 6}, {0, 0, 0, 0, 0, 0, 0, 4, 5, 6, 7}},
      {{31}, {0, 1, 2, 6, 3, 4, 5, 6, 6, 6, 6}, {248, 248, 248, 0, 248, 248, 248, 4, 5, 6, 7}}}},
};
/* clang-format on */

static ha_record *particle(void) {
    ha_record *r = ha_record_parse(PARTICLE, NULL);
    assert_non_null(r);
    assert_int_equal(ha_record_leaves(r), PARTICLE_LEAVES);
    return r;
}

static ha_mapping *parsed(const ha_record *r, const char *layout, int rank, const int64_t *extent) {
    ha_error error;
    ha_mapping *m = ha_mapping_parse(r, layout, rank, extent, &error);
    if (!m) fail_msg("%s: %s", layout, error.text);
    return m;
}

static void check_row(const ha_mapping *m, const expected *row) {
    for (int64_t k = 0; k < PARTICLE_LEAVES; k++) {
        assert_int_equal(m->row[k].blob, row->blob[k]);
        if (ha_mapping_offset(m, k, row->index) != row->offset[k])
            fail_msg("%s, leaf %lld at (%lld,%lld): %lld instead of %lld", m->text, (long long)k,
                     (long long)row->index[0], (long long)row->index[1],
                     (long long)ha_mapping_offset(m, k, row->index), (long long)row->offset[k]);
    }
}

static void test_tables(void **state) {
    (void)state;
    ha_record *r = particle();
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        const table *expect = &tables[t];
        ha_mapping *m = parsed(r, expect->layout, expect->rank, expect->extent);
        assert_string_equal(m->text, expect->layout);
        assert_int_equal(m->blobs, expect->blobs);
        for (int b = 0; b < m->blobs; b++) assert_int_equal(m->blob[b].bytes, expect->bytes[b]);
        for (int k = 0; k < expect->rows; k++) check_row(m, &expect->row[k]);
        ha_mapping_free(m);
    }
    ha_record_free(r);
}

/* ---- linearizers ----------------------------------------------------------------------------- */

static void check_linear(const char *layout, const int64_t expect[4][4]) {
    const int64_t extent[] = {4, 4};
    ha_record *r = particle();
    ha_mapping *m = parsed(r, layout, 2, extent);
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 4; j++) {
            const int64_t at[] = {i, j};
            assert_int_equal(ha_linear(m->linearizer, at), expect[i][j]);
        }
    assert_int_equal(m->linearizers, 1);
    assert_int_equal(m->linearizer->count, 16);
    ha_mapping_free(m);
    ha_record_free(r);
}

static void test_linearizers(void **state) {
    (void)state;
    static const int64_t row[4][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}};
    static const int64_t column[4][4] = {
        {0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}};
    static const int64_t morton[4][4] = {
        {0, 1, 4, 5}, {2, 3, 6, 7}, {8, 9, 12, 13}, {10, 11, 14, 15}};
    check_linear("aos@row", row);
    check_linear("soa@col", column);
    check_linear("aosoa(4)@morton", morton);
    check_linear("permute(1,0, aos@col)", row);
    check_linear("permute(1,0, aos)", column);
}

static void test_morton_sizes(void **state) {
    (void)state;
    static const struct {
        int64_t extent[2], count;
    } expect[] = {{{2, 3}, 16}, {{2, 4}, 16}, {{2, 5}, 64}, {{8, 8}, 64}, {{1, 1}, 1}, {{0, 5}, 0}};
    ha_record *r = particle();
    for (size_t k = 0; k < sizeof expect / sizeof *expect; k++) {
        ha_mapping *m = parsed(r, "aos@morton", 2, expect[k].extent);
        assert_int_equal(m->linearizer->count, expect[k].count);
        assert_int_equal(m->blob->bytes, expect[k].count * 64);
        ha_mapping_free(m);
    }
    ha_record_free(r);
}

/* Inner index = (a[2], a[0], a[1]): the layout's extents are 6, 4, 5. */
static void test_permute(void **state) {
    (void)state;
    const int64_t extent[] = {4, 5, 6}, at[] = {1, 2, 3};
    ha_record *r = ha_record_parse("x:i32 y:i32 z:i32", NULL);
    ha_mapping *m = parsed(r, "permute(2,0,1, aos)", 3, extent);
    assert_int_equal(ha_mapping_offset(m, 1, at), ((3 * 4 + 1) * 5 + 2) * 12 + 4);
    assert_string_equal(m->text, "permute(2,0,1, aos)");
    ha_mapping_free(m);
    /* twice: c = (b[2], b[0], b[1]) of b = (a[2], a[0], a[1]) */
    m = parsed(r, "permute(2,0,1,permute(2,0,1,soa(single)@col))", 3, extent);
    assert_int_equal(ha_mapping_offset(m, 0, at), ((1 * 6 + 3) * 5 + 2) * 4);
    ha_mapping_free(m);
    /* two that do not commute: c = (b[1], b[0], b[2]) = (a[0], a[2], a[1]) */
    m = parsed(r, "permute(2,0,1, permute(1,0,2, soa(single)))", 3, extent);
    assert_int_equal(ha_mapping_offset(m, 0, at), ((1 * 6 + 3) * 5 + 2) * 4);
    ha_mapping_free(m);
    ha_record_free(r);
}

/* ---- structs, blobs -------------------------------------------------------------------------- */

static void check_struct(const char *record, const char *layout, const int64_t *offset,
                         int64_t size) {
    const int64_t extent[] = {1}, at[] = {0};
    ha_record *r = ha_record_parse(record, NULL);
    ha_mapping *m = parsed(r, layout, 1, extent);
    for (int64_t k = 0; k < m->rows; k++) assert_int_equal(ha_mapping_offset(m, k, at), offset[k]);
    assert_int_equal(m->blob->bytes, size);
    ha_mapping_free(m);
    ha_record_free(r);
}

static void test_structs(void **state) {
    (void)state;
    static const int64_t packed[] = {0, 4, 12, 13}, aligned[] = {0, 8, 16, 18};
    static const int64_t minimal[] = {4, 8, 0, 2};
    check_struct("a:f32 b:f64 c:bool d:i16", "aos(packed)", packed, 15);
    check_struct("a:f32 b:f64 c:bool d:i16", "aos", aligned, 24);
    check_struct("a:f32 b:f64 c:bool d:i16", "one", aligned, 20);
    check_struct("a:f32 b:f64 c:bool d:i16", "aos(minalign)", minimal, 16);
    check_struct("a:c128 b:c64 c:u16", "aos(minalign)", (const int64_t[]){16, 4, 0}, 32);
    check_struct("b:f64 a:c128 c:f16", "aos", (const int64_t[]){0, 8, 24}, 32);
    check_struct("a:c128 b:u64 c:bf16", "soa(single)", (const int64_t[]){0, 16, 24}, 26);
}

static void test_blocks(void **state) {
    (void)state;
    static const int64_t blocks[] = {0, 4, 4, 4, 4, 8, 8, 8, 8, 12};
    ha_record *r = particle();
    for (int64_t n = 0; n < 10; n++) {
        ha_mapping *m = parsed(r, "aosoa(4,aligned)", 1, &n);
        assert_int_equal(m->blob->bytes, blocks[n] * 64);
        ha_mapping_free(m);
    }
    ha_record_free(r);
}

static void test_lanes(void **state) {
    (void)state;
    ha_record *r = particle(), *f = ha_record_parse("x:f32", NULL);
    for (int64_t bits = 128; bits <= 512; bits *= 2) {
        assert_int_equal(ha_record_lanes(r, bits / 8), bits / 64);
        assert_int_equal(ha_record_lanes(f, bits / 8), bits / 32);
    }
    ha_record_free(f);
    ha_record_free(r);
}

static void test_null(void **state) {
    (void)state;
    const int64_t extent[] = {128};
    ha_record *r = particle();
    ha_mapping *m = parsed(r, "null", 1, extent);
    assert_int_equal(m->blobs, 0);
    for (int64_t k = 0; k < PARTICLE_LEAVES; k++) assert_true(m->row[k].blob < 0);
    ha_mapping_free(m);
    m = parsed(r, "split(mass: null, split(flags: aos, null))", 1, extent);
    assert_int_equal(m->blobs, 1);
    assert_int_equal(m->blob->bytes, 512);
    ha_mapping_free(m);
    ha_record_free(r);
}

/* Each row begins a block: 5 records of a row take 2 blocks of 4. */
static void test_rows(void **state) {
    (void)state;
    const int64_t extent[] = {3, 5}, at[] = {2, 4};
    ha_record *r = ha_record_parse("a:f64 b:f32", NULL);
    ha_mapping *m = parsed(r, "aosoa(4,rows)", 2, extent);
    assert_int_equal(m->blob->bytes, 3 * 2 * 48);
    assert_int_equal(ha_mapping_offset(m, 0, at), (2 * 2 + 1) * 48);
    assert_int_equal(ha_mapping_offset(m, 1, at), (2 * 2 + 1) * 48 + 32);
    ha_mapping_free(m);
    m = parsed(r, "aosoa(4,rows)@col", 2, extent);
    assert_int_equal(m->blob->bytes, 5 * 48);
    assert_int_equal(ha_mapping_offset(m, 1, at), 4 * 48 + 32 + 2 * 4);
    ha_mapping_free(m);
    ha_record_free(r);
}

/* The struct of the program stays the truth: gaps, order and what is not listed. */
static void test_own_struct(void **state) {
    (void)state;
    typedef struct own {
        char unlisted[40];
        struct {
            float weight;
            double e[2];
        } link[3];
        int8_t tag;
    } own;
    static const ha_field fields[] = {
        {"tag", HA_DTYPE_int8_t, offsetof(own, tag), {0}},
        {"link[3].e[2]",
         HA_DTYPE_double,
         offsetof(own, link[0].e[0]),
         {sizeof(((own *)0)->link[0]), 8}},
    };
    const ha_record r = {"own", sizeof(own), _Alignof(own), 2, fields};
    const int64_t extent[] = {10}, at[] = {7};
    ha_mapping *m = parsed(&r, "aos", 1, extent);
    assert_int_equal(m->rows, 7);
    assert_int_equal(m->blob->bytes, 10 * sizeof(own));
    assert_int_equal(m->blob->alignment, _Alignof(own));
    for (size_t k = 0; k < 6; k++)
        assert_int_equal(ha_mapping_offset(m, (int64_t)k + 1, at),
                         7 * sizeof(own) + offsetof(own, link[k / 2].e[k % 2]));
    ha_mapping_free(m);
    m = parsed(&r, "one", 1, extent);
    assert_int_equal(m->blob->bytes, offsetof(own, tag) + 1); /* but for its end */
    assert_int_equal(ha_mapping_offset(m, 4, at), offsetof(own, link[1].e[1]));
    ha_mapping_free(m);
    m = parsed(&r, "aos(packed)", 1, extent);
    assert_int_equal(m->blob->bytes, 10 * 49);
    ha_mapping_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),       cmocka_unit_test(test_linearizers),
        cmocka_unit_test(test_morton_sizes), cmocka_unit_test(test_permute),
        cmocka_unit_test(test_structs),      cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_null),         cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_rows),         cmocka_unit_test(test_own_struct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
