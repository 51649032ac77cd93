/* Copies between layouts: what is copied, and a model that moves value by value to where
 * ha_mapping_offset says. Included by test_layout_copy.c. */
#ifndef HARRAY_TESTS_LAYOUT_COPY_MODEL_H
#define HARRAY_TESTS_LAYOUT_COPY_MODEL_H

/* ---- what is copied -------------------------------------------------------------------------- */

static const char *const layouts[] = {
    "aos",
    "aos(packed)",
    "aos(minalign)",
    "aos(packed)@col",
    "aos@morton",
    "soa",
    "soa@col",
    "soa(fields)",
    "soa(fields)@col",
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
    return (int64_t)ha_dtype_size((ha_dtype)m->row[k].type);
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

#endif
