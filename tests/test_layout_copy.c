/* Copies between layouts, all pairs of them, against a model that moves value by value to where
 * ha_mapping_offset says: every byte of the target is as it has to be, and those of no copied value are
 * as they were. */
#include "layout_memory.h"
#include "layout_particle.h"

#include <setjmp.h>
#include <cmocka.h>

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

enum { MOST_BLOBS = 32 };

typedef struct memory {
    ha_mapping *mapping;
    void *blob[MOST_BLOBS];
    ha_mapped mapped;
} memory;

static uint64_t seed;

static unsigned char next_byte(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned char)(seed >> 56);
}

/* Blobs begin at multiples of 8 only when they have to. */
static void make_memory(memory *m, const ha_record *r, const char *layout, int rank,
                        const int64_t *extent) {
    ha_error error;
    m->mapping = ha_mapping_parse(r, layout, rank, extent, &error);
    if (!m->mapping) fail_msg("%s: %s", layout, error.text);
    assert_true(m->mapping->blobs <= MOST_BLOBS);
    for (int b = 0; b < m->mapping->blobs; b++) {
        const size_t bytes = (size_t)m->mapping->blob[b].bytes;
        unsigned char *memory = (unsigned char *)malloc(bytes + 1);
        for (size_t k = 0; k < bytes; k++) memory[k] = next_byte();
        m->blob[b] = memory;
    }
    m->mapped = (ha_mapped){m->mapping, m->blob};
}

static void free_memory(memory *m) {
    for (int b = 0; b < m->mapping->blobs; b++) free(m->blob[b]);
    ha_mapping_free(m->mapping);
}

static void same_memory(memory *m, const memory *other) {
    *m = *other;
    for (int b = 0; b < m->mapping->blobs; b++) {
        const size_t bytes = (size_t)m->mapping->blob[b].bytes;
        m->blob[b] = malloc(bytes + 1);
        memcpy(m->blob[b], other->blob[b], bytes);
    }
    m->mapped.blob = m->blob;
}

static int next_index(const int64_t *first, const int64_t *last, int rank, int64_t *index) {
    for (int d = rank; d-- > 0;) {
        if (++index[d] < last[d]) return 1;
        index[d] = first[d];
    }
    return 0;
}

/* ---- the model ------------------------------------------------------------------------------- */

static int64_t size_of_leaf(const ha_mapping *m, int64_t k) {
    ha_leaf leaf;
    assert_int_equal(ha_record_leaf(m->record, k, &leaf), HA_OK);
    return ha_scalar_size(leaf.scalar);
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
    for (int b = 0; b < expected.mapping->blobs; b++) free(expected.blob[b]);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
