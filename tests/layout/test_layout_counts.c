/* Accesses counted: of views of every layout against what mappings say where each value lies, of
 * mappings at run time, from several threads; as a table, as JSON and back, as a picture. */
#include "../support/layout_memory.h"

/* Memory of views, which fails on demand, too. */
static int no_blob;
static void *tested_aligned_alloc(size_t alignment, size_t size) {
    return no_blob ? NULL : aligned_alloc(alignment, size);
}
#define aligned_alloc tested_aligned_alloc
#include "../../layout.h"
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
                const ha_cursor at = V##_at(v, i[0], i[1]);                                        \
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
            const int64_t i[2] = {ha_coordinate(at, 0), ha_coordinate(at, 1)};                     \
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
        for (int b = 0; b < V##_blobs; b++) blob[b] = ha_blob_new_(V##_bytes(b, 5, 7));            \
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
TESTED(fields, HA_SOA_FIELDS, HA_ROW, 16, POINTERS, "soa(fields)")
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
    fields_test();
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
                                          "soa(fields)",
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
            const int64_t i[2] = {ha_coordinate(at, 0), ha_coordinate(at, 1)};
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

#include "counts_whole.h"
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

#include "counts_shown.h"
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
