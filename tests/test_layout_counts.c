/* Accesses counted: of views of every layout against what mappings say where each value lies, of
 * mappings at run time, from several threads; as a table, as JSON and back, as a picture. */
#include "layout_memory.h"

/* Memory of views, which fails on demand, too. */
static int no_blob;
static void *tested_aligned_alloc(size_t alignment, size_t size) {
    return no_blob ? NULL : aligned_alloc(alignment, size);
}
#define aligned_alloc tested_aligned_alloc
#include "../layout.h"
#undef aligned_alloc

#include <pthread.h>
#include <setjmp.h>
#include <cmocka.h>

typedef struct particle {
    struct {
        double x, y;
    } pos;
    float mass;
    bool flags[3];
} particle;
#define particle_FIELDS (double, pos, x), (double, pos, y), (float, mass), (bool, flags, (3))
HA_RECORD(particle)

enum { LEAVES = 6, MOST_BYTES = 4096, MOST_BLOBS = 8 };

/* ---- what should be counted ------------------------------------------------------------------ */

/* Counted here by the mapping's addresses, byte by byte. */
typedef struct expectation {
    const ha_mapping *mapping;
    ha_tally leaf[LEAVES];
    uint64_t byte[MOST_BLOBS][MOST_BYTES]; /* granules of it, by their first byte */
    int64_t granularity;
} expectation;

static void expect(expectation *e, int64_t leaf, const int64_t *index, int what) {
    static const int64_t size[LEAVES] = {8, 8, 4, 1, 1, 1};
    uint64_t *const of[4] = {NULL, &e->leaf[leaf].reads, &e->leaf[leaf].writes,
                             &e->leaf[leaf].pointers};
    const int64_t first = ha_mapping_offset(e->mapping, leaf, index), g = e->granularity;
    ++*of[what];
    for (int64_t b = 0; b < size[leaf]; b++) /* once for each granule */
        if (b == 0 || (first + b) % g == 0)
            e->byte[e->mapping->row[leaf].blob][(first + b) / g * g]++;
}

static void assert_counted(const ha_counts *c, const expectation *e) {
    assert_non_null(c);
    assert_int_equal(c->leaves, LEAVES);
    assert_int_equal(c->granularity, e->granularity);
    assert_int_equal(c->blobs, e->mapping->blobs);
    for (int k = 0; k < LEAVES; k++)
        assert_memory_equal(&c->leaf[k], &e->leaf[k], sizeof c->leaf[k]);
    for (int64_t b = 0; b < c->blobs; b++) {
        const int64_t bytes = e->mapping->blob[b].bytes, g = e->granularity;
        assert_int_equal(c->blob[b].granules, (bytes + g - 1) / g);
        for (int64_t k = 0; k < c->blob[b].granules; k++)
            if (c->blob[b].touched[k] != e->byte[b][k * g])
                fail_msg("blob %d, granule %d: %d, not %d", (int)b, (int)k,
                         (int)c->blob[b].touched[k], (int)e->byte[b][k * g]);
    }
}

static ha_mapping *mapping(const char *layout, int rank, const int64_t *extent) {
    ha_error e;
    ha_mapping *m = ha_mapping_parse(&particle_record, layout, rank, extent, &e);
    if (!m) fail_msg("%s: %s", layout, e.text);
    return m;
}

/* The granularity of a view's heatmap, or none. */
static expectation expecting(const ha_mapping *m, int64_t granularity) {
    expectation e = {.mapping = m, .granularity = granularity};
    for (int b = 0; b < m->blobs; b++) assert_true(m->blob[b].bytes <= MOST_BYTES);
    assert_true(m->blobs <= MOST_BLOBS);
    return e;
}

/* ---- views of every layout ------------------------------------------------------------------- */

/* All accessors, at all indices, some more often than others. P(…) where there are pointers. */
#define TESTED(V, M, O, G, P, words)                                                               \
    HA_VIEW(V, particle, 2, HA_COUNTED(HA_HEATMAP(M, G)), O)                                       \
    static void V##_touch(V v, expectation *e) {                                                   \
        const V##_const w = V##_reading(v);                                                        \
        for (int64_t i[2] = {0}; i[0] < 5; i[0]++)                                                 \
            for (i[1] = 0; i[1] < 7; i[1]++) {                                                     \
                const ha_at at = V##_at(v, i[0], i[1]);                                            \
                const particle p = {{1, 2}, 3, {true, false, true}};                               \
                V##_pos_x_set(v, at, 1);                                                           \
                expect(e, 0, i, HA_WRITE_);                                                        \
                assert_true(V##_pos_x_get(v, at) == 1);                                            \
                expect(e, 0, i, HA_READ_);                                                         \
                (void)V##_const_mass_get(w, at);                                                   \
                expect(e, 2, i, HA_READ_);                                                         \
                for (int k = 0; k < i[1] % 4 && k < 3; k++) {                                      \
                    (void)V##_flags_get(v, at, k);                                                 \
                    expect(e, 3 + k, i, HA_READ_);                                                 \
                    *V##_flags(v, at, k) = true;                                                   \
                    expect(e, 3 + k, i, HA_POINTER_TO_);                                           \
                    assert_true(*V##_const_flags(w, at, k));                                       \
                    expect(e, 3 + k, i, HA_READ_);                                                 \
                }                                                                                  \
                P(V, v, w, at, e, i)                                                               \
                if (i[0] != 3) continue;                                                           \
                V##_store(v, at, p);                                                               \
                (void)V##_load(v, at);                                                             \
                (void)V##_const_load(w, at);                                                       \
                for (int k = 0; k < LEAVES; k++) {                                                 \
                    expect(e, k, i, HA_WRITE_);                                                    \
                    expect(e, k, i, HA_READ_);                                                     \
                    expect(e, k, i, HA_READ_);                                                     \
                }                                                                                  \
            }                                                                                      \
        HA_EACH(V, v, at) {                                                                        \
            const int64_t i[2] = {HA_X(at, 0), HA_X(at, 1)};                                       \
            V##_pos_y_set(v, at, V##_pos_x_get(v, at));                                            \
            expect(e, 0, i, HA_READ_);                                                             \
            expect(e, 1, i, HA_WRITE_);                                                            \
        }                                                                                          \
    }                                                                                              \
    static void V##_test(void) {                                                                   \
        const int64_t extent[] = {5, 7};                                                           \
        ha_mapping *m = mapping(words, 2, extent);                                                 \
        expectation e = expecting(m, G);                                                           \
        V v = V##_new(5, 7);                                                                       \
        V##_touch(v, &e);                                                                          \
        assert_counted(HA_COUNTS(V, v), &e);                                                       \
        ha_counts_reset(HA_COUNTS(V, v));                                                          \
        e = expecting(m, G);                                                                       \
        assert_counted(HA_COUNTS(V, v), &e);                                                       \
        void *blob[MOST_BLOBS] = {0};                                                              \
        for (int b = 0; b < V##_blobs; b++) blob[b] = ha_blob_new(V##_bytes(b, 5, 7));             \
        V mine = V##_on(blob, 5, 7);                                                               \
        assert_null(HA_COUNTS(V, mine));                                                           \
        V##_pos_x_set(mine, V##_at(mine, 1, 1), 2);                                                \
        mine = HA_COUNTING(V, mine);                                                               \
        V##_touch(mine, &e);                                                                       \
        assert_counted(HA_COUNTS(V, mine), &e);                                                    \
        ha_counts_free(HA_COUNTS(V, mine));                                                        \
        for (int b = 0; b < V##_blobs; b++) ha_blob_free(blob[b]);                                 \
        V##_free(v);                                                                               \
        ha_mapping_free(m);                                                                        \
    }
#define NO_POINTERS(V, v, w, at, e, i)
#define POINTERS(V, v, w, at, e, i)                                                                \
    *V##_mass(v, at) += *V##_const_mass(w, at);                                                    \
    expect(e, 2, i, HA_POINTER_TO_);                                                               \
    expect(e, 2, i, HA_READ_);

TESTED(aos, HA_AOS, HA_ROW, 1, POINTERS, "aos")
TESTED(col, HA_AOS, HA_COL, 64, POINTERS, "aos@col")
TESTED(packed, HA_AOS_PACKED, HA_ROW, 1, NO_POINTERS, "aos(packed)")
TESTED(soa, HA_SOA, HA_ROW, 16, POINTERS, "soa")
TESTED(morton, HA_SOA, HA_MORTON, 4, POINTERS, "soa@morton")
TESTED(single, HA_SOA_SINGLE, HA_ROW, 3, NO_POINTERS, "soa(single)")
TESTED(aligned, HA_SOA_SINGLE_ALIGNED, HA_COL, 64, POINTERS, "soa(single,aligned)@col")
TESTED(blocks, HA_AOSOA(8), HA_ROW, 64, POINTERS, "aosoa(8)")
TESTED(rows, HA_AOSOA(4, HA_ROWS), HA_ROW, 1, NO_POINTERS, "aosoa(4,rows)")
TESTED(one, HA_ONE, HA_ROW, 2, POINTERS, "one")

static void test_views(void **state) {
    (void)state;
    aos_test();
    col_test();
    packed_test();
    soa_test();
    morton_test();
    single_test();
    aligned_test();
    blocks_test();
    rows_test();
    one_test();
}

/* ---- one instrument alone, or none ----------------------------------------------------------- */

HA_VIEW(sky, particle, 1, HA_AOSOA(16))
HA_VIEW(tallied, particle, 1, HA_COUNTED(HA_AOSOA(16)))
HA_VIEW(heated, particle, 1, HA_HEATMAP(HA_COUNTED(HA_AOS)))
HA_VIEW(lines, particle, 1, HA_HEATMAP(HA_HEATMAP(HA_SOA, 1)))

static void test_alone(void **state) {
    (void)state;
    sky plain = HA_COUNTING(sky, sky_new(40));
    assert_null(HA_COUNTS(sky, plain));
    assert_true(sizeof(sky) == sizeof(tallied) - sizeof(char *));
    sky_free(plain);
    tallied c = tallied_new(40);
    HA_EACH(tallied, c, at) * tallied_pos_x(c, at) = 1;
    assert_int_equal(HA_COUNTS(tallied, c)->leaf[0].pointers, 40);
    assert_int_equal(HA_COUNTS(tallied, c)->granularity, 0);
    assert_int_equal(HA_COUNTS(tallied, c)->blobs, 0);
    tallied_free(c);
    heated h = heated_new(40);
    assert_int_equal(HA_COUNTS(heated, h)->granularity, 64);
    assert_int_equal(HA_COUNTS(heated, h)->leaves, LEAVES);
    heated_free(h);
    lines l = lines_new(40); /* the outermost word wins */
    lines_mass_set(l, lines_at(l, 39), 1);
    assert_int_equal(HA_COUNTS(lines, l)->granularity, 64);
    assert_int_equal(HA_COUNTS(lines, l)->leaves, 0);
    assert_int_equal(HA_COUNTS(lines, l)->blob[2].granules, 3);
    assert_int_equal(HA_COUNTS(lines, l)->blob[2].touched[2], 1);
    lines_free(l);
    ha_counts_reset(NULL);
    ha_counts_free(NULL);
}

static void test_array_of_structs(void **state) {
    (void)state;
    particle all[4];
    memset(all, 0, sizeof all);
    heated v = HA_COUNTING(heated, heated_of(all, 4));
    HA_EACH(heated, v, at) heated_mass_set(v, at, 5);
    assert_true(all[3].mass == 5);
    assert_int_equal(HA_COUNTS(heated, v)->leaf[2].writes, 4);
    ha_counts_free(HA_COUNTS(heated, v));
}

static void test_no_memory_for_views(void **state) {
    (void)state;
    particle all[4];
    memset(all, 0, sizeof all);
    no_blob = 1;
    heated v = HA_COUNTING(heated, heated_of(all, 4));
    assert_null(HA_COUNTS(heated, v));
    heated_mass_set(v, heated_at(v, 1), 5); /* not counted, but done */
    assert_true(all[1].mass == 5);
    assert_true(heated_null(heated_new(4)));
    no_blob = 0;
    assert_true(heated_null(heated_new(PTRDIFF_MAX / 2)));
    assert_int_equal(ha_counts_bytes_((ha_counts_plan_){.granules = SIZE_MAX / 8}), SIZE_MAX);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 200 };

static void *touch_all(void *view) {
    const heated v = *(const heated *)view;
    for (int k = 0; k < ROUNDS; k++) HA_EACH(heated, v, at)(void) heated_pos_y_get(v, at);
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    static const int in_line[] = {3, 2, 3}; /* pos.y of 8 records of 24 bytes */
    heated v = heated_new(8);
    pthread_t thread[THREADS];
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, touch_all, &v), 0);
    for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_join(thread[k], NULL), 0);
    assert_int_equal(HA_COUNTS(heated, v)->leaf[1].reads, THREADS * ROUNDS * 8);
    for (int g = 0; g < 3; g++)
        assert_int_equal(HA_COUNTS(heated, v)->blob[0].touched[g], THREADS * ROUNDS * in_line[g]);
    heated_free(v);
}

/* ---- two layouts in one view ----------------------------------------------------------------- */

#define HOT_FIELDS (double, pos, x), (double, pos, y)
#define COLD_FIELDS (float, mass), (bool, flags, (3))
HA_VIEW_SPLIT(two, particle, 1, HOT, HA_COUNTED(HA_AOSOA(4)), COLD, HA_HEATMAP(HA_SOA, 16))
HA_VIEW_SPLIT(neither, 1, HOT, HA_AOSOA(4), COLD, HA_SOA)

static void test_split(void **state) {
    (void)state;
    char text[1000];
    two v = two_new(10);
    HA_EACH(two, v, at) {
        *two_pos_y(v, at) = 1;
        two_flags_set(v, at, 2, true);
    }
    (void)two_load(v, two_at(v, 9));
    const ha_counts *c = HA_COUNTS(two, v);
    const int64_t length = ha_counts_text(c, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_string_equal(text, "field        reads    writes  pointers\n"
                              "pos.x            1         0         0\n"
                              "pos.y            1         0        10\n"
                              "mass             1         0         0\n"
                              "flags[0]         1         0         0\n"
                              "flags[1]         1         0         0\n"
                              "flags[2]         1        10         0\n"
                              "blob  granules  touched  most often (granules of 16 bytes)\n"
                              "   0        12        6  3 times at byte 160\n"
                              "   1         3        1  1 times at byte 32\n"
                              "   2         1        1  1 times at byte 0\n"
                              "   3         1        1  1 times at byte 0\n"
                              "   4         1        1  11 times at byte 0\n");
    two_free(v);
    neither n = HA_COUNTING(neither, neither_new(10));
    assert_null(HA_COUNTS(neither, n));
    neither_free(n);
}

/* ---- mappings -------------------------------------------------------------------------------- */

static void touch_mapped(const ha_mapping *m, expectation *e) {
    void *blob[MOST_BLOBS];
    void *memory = ha_mapping_memory(m, blob, NULL);
    const ha_mapped records = {m, blob};
    double x[7] = {0};
    assert_non_null(memory);
    for (int64_t i[2] = {0}; i[0] < 5; i[0]++)
        for (i[1] = 0; i[1] < 7; i[1]++)
            for (int k = 0; k < LEAVES; k += 2) {
                ha_mapped_get(&records, k, i, x);
                expect(e, k, i, HA_READ_);
                if (i[0] % 2) continue;
                ha_mapped_set(&records, k, i, x);
                expect(e, k, i, HA_WRITE_);
            }
    const int64_t row[2] = {3, 1}, column[2] = {1, 2};
    ha_mapped_get_run(&records, 1, row, 1, 6, x);
    for (int64_t i[2] = {3, 1}; i[1] < 7; i[1]++) expect(e, 1, i, HA_READ_);
    ha_mapped_set_run(&records, 0, column, 0, 4, x);
    for (int64_t i[2] = {1, 2}; i[0] < 5; i[0]++) expect(e, 0, i, HA_WRITE_);
    ha_mapped_get_run(&records, 0, column, 0, 0, x);
    ha_blob_free(memory);
}

static void test_mapped(void **state) {
    (void)state;
    static const char *const layouts[] = {"aos",
                                          "soa(single)",
                                          "aosoa(4,rows)",
                                          "soa@morton",
                                          "split(pos: aosoa(4), aos@col)",
                                          "permute(1,0, aos)"};
    const int64_t extent[] = {5, 7};
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
        char text[100];
        snprintf(text, sizeof text, "count(heatmap(%d; %s))", k % 2 ? 1 : 16, layouts[k]);
        ha_mapping *m = mapping(text, 2, extent);
        assert_string_equal(m->text, text);
        expectation e = expecting(m, k % 2 ? 1 : 16);
        touch_mapped(m, &e);
        assert_counted(m->counts, &e);
        ha_mapping_free(m);
    }
    ha_mapping *m = mapping("count(split(mass: null, aos))", 2, extent);
    const int64_t at[] = {1, 1};
    float x = 1;
    void *nothing[1] = {NULL};
    ha_mapped_get(&(ha_mapped){m, nothing}, 2, at, &x); /* not stored, but counted */
    assert_true(x == 0 && m->counts->leaf[2].reads == 1);
    ha_mapping_free(m);
    m = mapping("heatmap(split(mass: null, aos))", 2, extent);
    ha_mapped_get(&(ha_mapped){m, nothing}, 2, at, &x);
    assert_int_equal(m->counts->leaves, 0);
    for (int64_t g = 0; g < m->counts->blob[0].granules; g++)
        assert_int_equal(m->counts->blob[0].touched[g], 0);
    ha_mapping_free(m);
}

/* Values that are not stored as they are: bits, and bytes here and there. */
static void test_computed(void **state) {
    (void)state;
    const int64_t n = 20, at = 3;
    ha_error e;
    ha_record *r = ha_record_parse("a:i32 b:f64", &e);
    ha_mapping *m = ha_mapping_parse(r, "heatmap(1; split(a: bitint(12; soa), null))", 1, &n, &e);
    if (!m) fail_msg("%s", e.text);
    void *blob[16];
    void *memory = ha_mapping_memory(m, blob, &e);
    int32_t x = 5;
    ha_mapped_set(&(ha_mapped){m, blob}, 0, &at, &x); /* bits 36 to 47 */
    for (int64_t b = 0; b < m->counts->blob[0].granules; b++)
        assert_int_equal(m->counts->blob[0].touched[b], b == 4 || b == 5);
    ha_blob_free(memory);
    ha_mapping_free(m);
    m = ha_mapping_parse(r, "heatmap(1; bytesplit(soa))", 1, &n, &e);
    if (!m) fail_msg("%s", e.text);
    memory = ha_mapping_memory(m, blob, &e);
    double y = 7;
    ha_mapped_set(&(ha_mapped){m, blob}, 1, &at, &y);
    for (int64_t b = 0; b < m->blobs; b++)
        for (int64_t g = 0; g < 20; g++)
            assert_int_equal(m->counts->blob[b].touched[g], b >= 4 && g == 3);
    ha_blob_free(memory);
    ha_mapping_free(m);
    m = ha_mapping_parse(r, "heatmap(1; changetype(f64:f32; aos))", 1, &n, &e);
    if (!m) fail_msg("%s", e.text);
    memory = ha_mapping_memory(m, blob, &e);
    ha_mapped_set(&(ha_mapped){m, blob}, 1, &at, &y);
    for (int64_t g = 0; g < 20 * 8; g++)
        assert_int_equal(m->counts->blob[0].touched[g], g >= 28 && g < 32);
    ha_blob_free(memory);
    ha_mapping_free(m);
    ha_record_free(r);
}

/* ---- views of mappings ----------------------------------------------------------------------- */

HA_VIEW(any, particle, 2, HA_ANY)

static void any_touch(any v, expectation *e) {
    HA_WITH(
        v, HA_EACH(any, v, at) {
            const int64_t i[2] = {HA_X(at, 0), HA_X(at, 1)};
            *any_pos_y(v, at) += *any_const_pos_x(any_reading(v), at);
            expect(e, 0, i, HA_READ_);
            expect(e, 1, i, HA_POINTER_TO_);
            any_flags_set(v, at, 1, true);
            expect(e, 4, i, HA_WRITE_);
        });
}

static void test_any(void **state) {
    (void)state;
    static const char *const layouts[] = {"aos", "soa(single,aligned)", "aosoa(8)", "soa@morton",
                                          "split(pos: aosoa(8), aosoa(8,aligned))"};
    const int64_t extent[] = {5, 7};
    ha_error error;
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
        char text[100];
        snprintf(text, sizeof text, "heatmap(16; count(%s))", layouts[k]);
        ha_mapping *m = mapping(text, 2, extent), *quiet = mapping(layouts[k], 2, extent);
        expectation e = expecting(m, 16), ignored = expecting(m, 16);
        any v = any_new_from(m, &error), w = any_new_from(quiet, &error);
        assert_false(any_null(v) || any_null(w));
        any_touch(v, &e);
        assert_ptr_equal(HA_COUNTS(any, v), m->counts);
        assert_counted(m->counts, &e);
        any_touch(w, &ignored); /* the same, uncounted */
        assert_null(HA_COUNTS(any, w));
        assert_true(*any_pos_y(w, any_at(w, 4, 6)) == *any_pos_y(v, any_at(v, 4, 6)));
        any_free(v);
        any_free(w);
        ha_mapping_free(m);
        ha_mapping_free(quiet);
    }
    any own = any_new(5, 7);
    assert_null(HA_COUNTS(any, own));
    any_free(own);
}

/* ---- copies and operations with whole views -------------------------------------------------- */

/* Leaves from `leaf` to before `end`, each value of a region once. */
static void expect_all(expectation *e, int64_t leaf, int64_t end, const int64_t *first,
                       const int64_t *last, int what) {
    const int rank = e->mapping->rank;
    for (; leaf < end; leaf++) {
        int64_t i[HA_MAPPING_RANK] = {0};
        for (int d = 0; d < rank; d++) i[d] = first[d];
        for (int d = 0; d >= 0;) {
            expect(e, leaf, i, what);
            for (d = rank - 1; d >= 0 && ++i[d] == last[d]; d--) i[d] = first[d];
        }
    }
}

/* Is it counted, by what it was made of, as one by one with the mapping that has these counters? */
static void operate(const ha_mapped *records, const ha_counts *counts, expectation *e) {
    static const int64_t zeros[2], first[2] = {1, 2}, last[2] = {4, 6};
    ha_error error;
    const ha_mapping *m = e->mapping;
    void *blob[MOST_BLOBS];
    ha_mapping *plain = mapping("aos", m->rank, m->extent);
    void *memory = ha_mapping_memory(plain, blob, NULL);
    const ha_mapped other = {plain, blob};
    const ha_applying how = {.paths = "pos", .first = first, .last = last};
    assert_int_equal(ha_mapped_copy(records, &other, NULL, &error), HA_OK);
    expect_all(e, 0, LEAVES, zeros, m->extent, HA_WRITE_);
    assert_int_equal(ha_mapped_copy(&other, records, &(ha_copying){.paths = "mass"}, &error),
                     HA_OK);
    expect_all(e, 2, 3, zeros, m->extent, HA_READ_);
    assert_int_equal(ha_mapped_apply_number(records, HA_MULTIPLY, 3, &how, &error), HA_OK);
    expect_all(e, 0, 2, first, last, HA_READ_);
    expect_all(e, 0, 2, first, last, HA_WRITE_);
    assert_int_equal(ha_mapped_apply_number(records, HA_ASSIGN, 1, NULL, &error), HA_OK);
    expect_all(e, 0, LEAVES, zeros, m->extent, HA_WRITE_);
    assert_int_equal(ha_mapped_apply_number(records, HA_ADD, 1, NULL, &error), HA_ERR_ARGUMENT);
    assert_counted(counts, e); /* what is refused is not counted: no bool can be added to */
    ha_blob_free(memory);
    ha_mapping_free(plain);
}

#define OPERATE(V, v, m, granularity)                                                              \
    do {                                                                                           \
        expectation e = expecting(m, granularity);                                                 \
        const ha_mapped *records = V##_mapped(v, NULL);                                            \
        assert_non_null(records);                                                                  \
        operate(records, HA_COUNTS(V, v), &e);                                                     \
        ha_mapped_free(records);                                                                   \
        V##_free(v);                                                                               \
        ha_mapping_free(m);                                                                        \
    } while (0)
#define OPERATE_NEW(V, layout, granularity)                                                        \
    do {                                                                                           \
        ha_mapping *m = mapping(layout, 2, extent);                                                \
        V v = V##_new(5, 7);                                                                       \
        OPERATE(V, v, m, granularity);                                                             \
    } while (0)
#define OPERATE_FROM(V, layout, granularity)                                                       \
    do {                                                                                           \
        ha_mapping *m = mapping(layout, 2, extent);                                                \
        V v = V##_new_from(m, NULL);                                                               \
        assert_false(V##_null(v));                                                                 \
        OPERATE(V, v, m, granularity);                                                             \
    } while (0)

static void test_operations(void **state) {
    (void)state;
    const int64_t extent[] = {5, 7}, n[] = {10};
    OPERATE_NEW(aos, "aos", 1);
    OPERATE_NEW(packed, "aos(packed)", 1);
    OPERATE_NEW(soa, "soa", 16);
    OPERATE_NEW(morton, "soa@morton", 4);
    OPERATE_NEW(single, "soa(single)", 3);
    OPERATE_NEW(blocks, "aosoa(8)", 64);
    OPERATE_NEW(rows, "aosoa(4,rows)", 1);
    OPERATE_FROM(soa, "heatmap(16; count(soa(single,aligned)))", 16); /* its blobs are that one's */
    OPERATE_FROM(any, "heatmap(16; count(split(pos: aosoa(8), aosoa(8,aligned))))", 16);
    ha_mapping *m = mapping("split(separate; pos: aosoa(4), soa)", 1, n);
    two v = two_new(10);
    OPERATE(two, v, m, 16);
}

/* Both sides of an operation between two, one of them shifted. */
static void test_both_sides(void **state) {
    (void)state;
    static const int64_t extent[] = {5, 7}, shift[] = {1, -2}, zeros[2];
    static const int64_t met[] = {0, 2}, end[] = {4, 7}, from[] = {1, 0}, until[] = {5, 5};
    ha_error error;
    ha_mapping *m[2] = {mapping("count(heatmap(1; aosoa(4)))", 2, extent),
                        mapping("heatmap(8; count(split(flags: null, soa)))", 2, extent)};
    expectation e[2] = {expecting(m[0], 1), expecting(m[1], 8)};
    void *blob[2][MOST_BLOBS], *memory[2];
    for (int k = 0; k < 2; k++) memory[k] = ha_mapping_memory(m[k], blob[k], NULL);
    const ha_mapped left = {m[0], blob[0]}, right = {m[1], blob[1]};
    const ha_applying how = {.paths = "pos", .shift = shift};
    assert_int_equal(ha_mapped_apply_view(&left, HA_SUBTRACT, &right, &how, &error), HA_OK);
    expect_all(&e[0], 0, 2, met, end, HA_READ_);
    expect_all(&e[0], 0, 2, met, end, HA_WRITE_);
    expect_all(&e[1], 0, 2, from, until, HA_READ_);
    assert_int_equal(ha_mapped_apply_view(&right, HA_ASSIGN, &left, NULL, &error), HA_OK);
    expect_all(&e[1], 0, 3, zeros, extent, HA_WRITE_); /* what is not stored is left out */
    expect_all(&e[0], 0, 3, zeros, extent, HA_READ_);
    assert_int_equal(
        ha_mapped_apply_view(&right, HA_ASSIGN, &left, &(ha_applying){.shift = extent}, &error),
        HA_OK); /* beside each other */
    for (int k = 0; k < 2; k++) {
        assert_counted(m[k]->counts, &e[k]);
        ha_blob_free(memory[k]);
        ha_mapping_free(m[k]);
    }
}

/* Views that know their layout take the mapping's counters, if they count at all. */
static void test_known(void **state) {
    (void)state;
    const int64_t extent[] = {5, 7}, n = 40;
    ha_error error;
    ha_mapping *m = mapping("count(heatmap(1; aos))", 2, extent);
    expectation e = expecting(m, 1);
    aos v = aos_new_from(m, &error);
    assert_false(aos_null(v));
    aos_touch(v, &e);
    assert_counted(m->counts, &e);
    aos_free(v);
    ha_mapping_free(m);
    m = mapping("count(heatmap(3; soa(single)))", 2, extent);
    e = expecting(m, 3);
    single s = single_new_from(m, &error);
    assert_false(single_null(s));
    single_touch(s, &e);
    assert_counted(m->counts, &e);
    single_free(s);
    ha_mapping_free(m);
    m = mapping("aos", 2, extent);
    v = aos_new_from(m, &error); /* no counters, no counting */
    assert_false(aos_null(v));
    assert_null(HA_COUNTS(aos, v));
    aos_free(v);
    ha_mapping_free(m);
    m = mapping("count(aosoa(16))", 1, &n);
    assert_true(sky_null(sky_new_from(m, &error)));
    assert_non_null(strstr(error.text, "count(aosoa(16)) is not the layout of the view sky"));
    ha_mapping_free(m);
}

/* ---- layouts as text and by functions -------------------------------------------------------- */

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t position;
        const char *why;
    } wrong[] = {
        {"count", 5, "expected '('"},
        {"count(aos", 9, "expected ')'"},
        {"count()", 6, "expected a layout"},
        {"count(64; aos)", 6, "expected a layout"},
        {"heatmap(0; aos)", 8, "from 1 to 1048576"},
        {"heatmap(1048577; aos)", 8, "from 1 to 1048576"},
        {"heatmap(64, aos)", 10, "expected ';'"},
        {"count(count(aos))", 6, "it is there already"},
        {"heatmap(count(heatmap(1; aos)))", 14, "it is there already"},
        {"split(pos: count(aos), aos)", 11, "outside of other layouts"},
        {"count(permute(0,1, heatmap(aos)))", 19, "outside of other layouts"},
    };
    const int64_t extent[] = {5, 7};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        ha_error e;
        if (ha_mapping_parse(&particle_record, wrong[k].text, 2, extent, &e))
            fail_msg("accepted: %s", wrong[k].text);
        if (e.code != wrong[k].position || !strstr(e.text, wrong[k].why))
            fail_msg("%s: %d, %s", wrong[k].text, (int)e.code, e.text);
    }
}

static void refuse_layout(const ha_layout *layout, const char *why) {
    const int64_t extent[] = {5, 7};
    ha_error e;
    assert_null(ha_mapping_new(&particle_record, layout, 2, extent, &e));
    if (!strstr(e.text, why)) fail_msg("%s, not: %s", e.text, why);
}

static void test_functions(void **state) {
    (void)state;
    const int64_t extent[] = {5, 7};
    const ha_layout plain = {.kind = HA_LAYOUT_AOS};
    ha_layout count = {.kind = HA_LAYOUT_COUNT, .first = &plain};
    ha_layout heat = {.kind = HA_LAYOUT_HEATMAP, .first = &count, .lanes = 8}, twice = count;
    ha_layout permute = {.kind = HA_LAYOUT_PERMUTE, .first = &count, .dimension = {1, 0}};
    ha_mapping *m = ha_mapping_new(&particle_record, &heat, 2, extent, NULL);
    assert_string_equal(m->text, "heatmap(8; count(aos))");
    assert_int_equal(m->counts->granularity, 8);
    ha_mapping_free(m);
    heat.lanes = 0;
    m = ha_mapping_new(&particle_record, &heat, 2, extent, NULL);
    assert_string_equal(m->text, "heatmap(count(aos))");
    assert_int_equal(m->counts->granularity, 64);
    ha_mapping_free(m);
    refuse_layout(&permute, "outside of other layouts");
    permute = (ha_layout){.kind = HA_LAYOUT_SPLIT, .paths = "pos", .first = &plain};
    permute.second = &count;
    refuse_layout(&permute, "outside of other layouts");
    heat.lanes = -1;
    refuse_layout(&heat, "lanes");
    heat.lanes = 1048577;
    refuse_layout(&heat, "lanes");
    heat.lanes = 0;
    twice.first = &count;
    refuse_layout(&twice, "there twice");
    twice.first = &heat;
    refuse_layout(&twice, "there twice");
    count.first = NULL;
    refuse_layout(&count, "a layout inside is missing");
    count.first = &plain;
    count.lanes = 4;
    refuse_layout(&count, "lanes");
}

/* ---- as text --------------------------------------------------------------------------------- */

typedef int64_t (*writer)(const ha_counts *c, char *buffer, size_t size);

/* The whole text, to be freed; a cut one is its beginning. */
static char *whole(writer write, const ha_counts *c) {
    const int64_t length = write(c, NULL, 0);
    char *text = (char *)malloc((size_t)length + 1);
    assert_int_equal(write(c, text, (size_t)length / 2 + 1), length);
    assert_int_equal(strlen(text), length / 2);
    assert_int_equal(write(c, text, (size_t)length + 1), length);
    assert_int_equal(strlen(text), length);
    return text;
}

static void assert_text(writer write, const ha_counts *c, const char *expected) {
    char *text = whole(write, c);
    assert_string_equal(text, expected);
    free(text);
}

/* Two leaves in 40 bytes: counts that anybody can count. */
static ha_record *pair_record;
static ha_mapping *pair(const char *layout) {
    const int64_t n = 3;
    int64_t at = 0;
    ha_error e;
    if (!pair_record) pair_record = ha_record_parse("long.name:f64 b:f32", &e);
    ha_mapping *m = ha_mapping_parse(pair_record, layout, 1, &n, &e);
    if (!m) fail_msg("%s: %s", layout, e.text);
    void *blob[2];
    void *memory = ha_mapping_memory(m, blob, &e);
    const ha_mapped records = {m, blob};
    double x = 0;
    for (int k = 0; k < 1234; k++) ha_mapped_get(&records, 0, &at, &x);
    for (; at < 3; at++) ha_mapped_set(&records, 1, &at, &x);
    ha_blob_free(memory);
    return m;
}

static void test_texts(void **state) {
    (void)state;
    ha_mapping *m = pair("count(heatmap(16; soa))");
    m->counts->leaf[1].pointers = 12345678901;
    assert_text(ha_counts_text, m->counts,
                "field            reads       writes     pointers\n"
                "long.name         1234            0            0\n"
                "b                    0            3  12345678901\n"
                "blob  granules  touched  most often (granules of 16 bytes)\n"
                "   0         2        1  1234 times at byte 0\n"
                "   1         1        1  3 times at byte 0\n");
    assert_text(ha_counts_json, m->counts,
                "{\"fields\": [{\"name\": \"long.name\", \"reads\": 1234, \"writes\": 0, "
                "\"pointers\": 0}, {\"name\": \"b\", \"reads\": 0, \"writes\": 3, \"pointers\": "
                "12345678901}], \"granularity\": 16, \"blobs\": [[1234, 0], [3]]}");
    ha_mapping_free(m);
    m = pair("count(aos)");
    assert_text(ha_counts_json, m->counts,
                "{\"fields\": [{\"name\": \"long.name\", \"reads\": 1234, \"writes\": 0, "
                "\"pointers\": 0}, {\"name\": \"b\", \"reads\": 0, \"writes\": 3, \"pointers\": "
                "0}]}");
    ha_mapping_free(m);
    m = pair("heatmap(aos)");
    assert_text(ha_counts_json, m->counts, "{\"granularity\": 64, \"blobs\": [[1237]]}");
    ha_mapping_free(m);
    assert_text(ha_counts_text, NULL, "nothing is counted\n");
    assert_text(ha_counts_json, NULL, "{}");
}

/* ---- JSON read again ------------------------------------------------------------------------- */

static void test_read_again(void **state) {
    (void)state;
    static const char *const layouts[] = {"count(heatmap(16; soa))", "count(soa)", "heatmap(soa)",
                                          "soa"};
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
        ha_mapping *m = pair(layouts[k]);
        ha_error e;
        char *json = whole(ha_counts_json, m->counts);
        ha_counts *c = ha_counts_parse(m, json, &e);
        if (!c) fail_msg("%s", e.text);
        assert_ptr_equal(c->record, m->record);
        assert_text(ha_counts_json, c, json);
        no_blob = 1;
        assert_null(ha_counts_parse(m, json, &e));
        assert_int_equal(e.status, HA_ERR_MEMORY);
        no_blob = 0;
        ha_counts_free(c);
        free(json);
        ha_mapping_free(m);
    }
}

static void test_wrong_json(void **state) {
    (void)state;
#define B ", {\"name\": \"b\", \"reads\": 0, \"writes\": 0, \"pointers\": 0}"
#define A "{\"fields\": [{\"name\": \"long.name\", \"reads\": 1, \"writes\": 0, \"pointers\": 0}"
    static const struct {
        const char *text;
        int64_t position;
        const char *why;
    } wrong[] = {
        {"", 0, "expected '{'"},
        {"{", 1, "expected \"granularity\""},
        {"{\"fields\" 3}", 10, "expected ':'"},
        {"{\"fields\": {}", 11, "expected '['"},
        {"{\"fields\": []}", 12, "expected '{'"},
        {"{\"fields\": [{\"nome\"", 15, "expected \"name\""},
        {"{\"fields\": [{\"name\" \"b\"", 20, "expected ':'"},
        {"{\"fields\": [{\"name\": \"b\"", 22, "expected \"long.name\""},
        {"{\"fields\": [{\"name\": \"long.name\"}", 32, "expected ','"},
        {"{\"fields\": [{\"name\": \"long.name\", \"writes\": 3", 35, "expected \"reads\""},
        {"{\"fields\": [{\"name\": \"long.name\", \"reads\": -3", 43, "expected a number"},
        {"{\"fields\": [{\"name\": \"long.name\", \"reads\" 3", 42, "expected ':'"},
        {A "]}", 73, "the next field"},
        {A B ", {}]}", 128, "there is no further field"},
        {A B "]} x", 131, "expected the end"},
        {A B "], ", 131, "expected \"granularity\""},
        {"{\"granularity\": 0", 16, "from 1 to"},
        {"{\"granularity\" 16", 15, "expected ':'"},
        {"{\"granularity\": 16}", 18, "expected ','"},
        {"{\"granularity\": 16, \"blob\": []", 25, "expected \"blobs\""},
        {"{\"granularity\": 16, \"blobs\" []", 28, "expected ':'"},
        {"{\"granularity\": 16, \"blobs\": {", 29, "expected '['"},
        {"{\"granularity\": 16, \"blobs\": []", 30, "expected '['"},
        {"{\"granularity\": 16, \"blobs\": [[1]", 32, "the next number"},
        {"{\"granularity\": 16, \"blobs\": [[1, x", 34, "expected a number"},
        {"{\"granularity\": 16, \"blobs\": [[1, 2, 3]", 35, "the blob ends here"},
        {"{\"granularity\": 16, \"blobs\": [[1, 2]]", 36, "the next blob"},
        {"{\"granularity\": 16, \"blobs\": [[1, 2], [3], []]", 41, "no further blob"},
        {"{\"granularity\": 16, \"blobs\": [[1, 2], [3]]", 42, "expected '}'"},
    };
    ha_mapping *m = pair("soa");
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        ha_error e;
        if (ha_counts_parse(m, wrong[k].text, &e)) fail_msg("accepted: %s", wrong[k].text);
        assert_int_equal(e.status, HA_ERR_ARGUMENT);
        if (e.code != wrong[k].position || !strstr(e.text, wrong[k].why))
            fail_msg("%s: %d, %s", wrong[k].text, (int)e.code, e.text);
        assert_null(ha_counts_parse(m, wrong[k].text, NULL));
    }
    ha_mapping_free(m);
}

/* ---- pictures -------------------------------------------------------------------------------- */

static char *picture(const ha_mapping *m) {
    const int64_t length = ha_mapping_svg(m, NULL, 0);
    char *text = (char *)malloc((size_t)length + 1);
    assert_int_equal(ha_mapping_svg(m, text, (size_t)length + 1), length);
    return text;
}

static int times(const char *text, const char *what) {
    int n = 0;
    while ((text = strstr(text, what))) n++, text++;
    return n;
}

static void test_picture_of_bytes(void **state) {
    (void)state;
    ha_mapping *m = pair("heatmap(1; aos)");
    char *text = picture(m);
    assert_int_equal(times(text, ">accesses to each byte:<"), 1);
    assert_int_equal(times(text, ">1 \xe2\x80\x93 246<"), 1); /* legend: fifths of 1234 */
    assert_int_equal(times(text, ">988 \xe2\x80\x93 1234<"), 1);
    assert_int_equal(times(text, "fill=\"#dc6b45\""), 1 + 8);     /* and the hot value's bytes */
    assert_int_equal(times(text, "fill=\"#fdf0d5\""), 1 + 3 * 4); /* and the lukewarm ones' */
    assert_int_equal(times(text, ">1234<"), 1);
    assert_int_equal(times(text, ">1<"), 3 + 2); /* three values, and index 1 of both leaves */
    assert_int_equal(times(text, "accesses to each field"), 0);
    free(text);
    ha_mapping_free(m);
}

static void test_picture_of_lines(void **state) {
    (void)state;
    ha_mapping *m = pair("count(heatmap(soa(single)))");
    m->counts->blob[0].touched[0] = 12345678; /* too long for the margin */
    m->counts->leaf[1].pointers = 617;
    char *text = picture(m);
    assert_int_equal(times(text, ">accesses to each 64 bytes:<"), 1);
    assert_int_equal(times(text, "font-weight=\"bold\">12M<"), 1);
    assert_int_equal(times(text, "fill=\"#dc6b45\""), 2); /* legend, and the only line */
    assert_int_equal(times(text, ">accesses to each field<"), 1);
    assert_int_equal(times(text, ">long.name<"), 3 + 1);
    assert_int_equal(times(text, "width=\"420\" height=\"12\" fill=\"#9cc7e8\""), 1);
    assert_int_equal(times(text, "width=\"1\" height=\"12\" fill=\"#f0a9a0\""), 1);
    assert_int_equal(times(text, "width=\"210\" height=\"12\" fill=\"#e3e3e3\""), 1);
    free(text);
    m->counts->blob[0].touched[0] = 2; /* fewer numbers than shades */
    text = picture(m);
    assert_int_equal(times(text, "\xe2\x80\x93"), 0);
    free(text);
    ha_mapping_free(m);
}

static void test_pictures_without(void **state) {
    (void)state;
    const int64_t n = 300;
    ha_mapping *m = pair("count(aos)"), *plain = pair("aos"), *empty;
    char *text = picture(m), *other = picture(plain);
    assert_int_equal(times(text, "fill=\"#ffd9a0\""), 3); /* as without counters, but for bars */
    assert_int_equal(times(text, "accesses to each"), 1);
    assert_int_equal(times(other, "accesses to each"), 0);
    free(text);
    free(other);
    ha_mapping_free(m);
    ha_mapping_free(plain);
    ha_error e;
    ha_record *many = ha_record_parse("x[300]:u8", &e);
    empty = ha_mapping_parse(many, "heatmap(8; count(soa(single)))", 1, &n, &e);
    text = picture(empty); /* nothing was touched */
    assert_int_equal(times(text, ">and 44 more<"), 1);
    assert_int_equal(times(text, "fill=\"#dc6b45\""), 0);
    free(text);
    ha_mapping_free(empty);
    ha_record_free(many);
}

static void test_short_numbers(void **state) {
    (void)state;
    static const struct {
        uint64_t n;
        int room;
        const char *text;
    } numbers[] = {{0, 0, "0"},           {999, 0, "999"},         {1000, 0, "1.0k"},
                   {9999, 0, "9.9k"},     {10000, 0, "10k"},       {999999, 0, "999k"},
                   {1950000, 0, "1.9M"},  {1950000, 1, "1950000"}, {12345678, 1, "12M"},
                   {UINT64_MAX, 0, "18E"}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        char text[24];
        ha_writer w = ha_writer_to(text, sizeof text);
        ha_put_short_number(&w, numbers[k].n, numbers[k].room);
        assert_string_equal(text, numbers[k].text);
    }
}

/* ---- no memory ------------------------------------------------------------------------------- */

static void test_failing_memory(void **state) {
    (void)state;
    const int64_t extent[] = {5, 7}, huge[] = {(int64_t)1 << 58, 1};
    const long before = allocated;
    for (long k = 0;; k++) {
        ha_error e;
        until_failure = k;
        ha_mapping *m = ha_mapping_parse(&particle_record, "count(heatmap(1; aos))", 2, extent, &e);
        until_failure = -1;
        ha_mapping_free(m);
        assert_int_equal(allocated, before);
        if (m) break;
        assert_int_equal(e.status, HA_ERR_MEMORY);
        assert_true(k < 10);
    }
    ha_error e;
    assert_null(ha_mapping_parse(&particle_record, "heatmap(1; aos)", 2, huge, &e));
    assert_int_equal(e.status, HA_ERR_MEMORY);
    assert_int_equal(allocated, before);
}

static int free_pair(void **state) {
    (void)state;
    ha_record_free(pair_record);
    return allocated != 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_array_of_structs),
        cmocka_unit_test(test_no_memory_for_views),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_mapped),
        cmocka_unit_test(test_computed),
        cmocka_unit_test(test_any),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_both_sides),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_read_again),
        cmocka_unit_test(test_wrong_json),
        cmocka_unit_test(test_picture_of_bytes),
        cmocka_unit_test(test_picture_of_lines),
        cmocka_unit_test(test_pictures_without),
        cmocka_unit_test(test_short_numbers),
        cmocka_unit_test(test_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, free_pair);
}
