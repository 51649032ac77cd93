/* Views in every layout, rank and order: what is stored is found again, each value lies where the
 * mapping of the same name at run time says, and nowhere else is anything written. Blobs have exactly
 * the bytes that they need, for sanitizers to see. */
#include "../support/layout_memory.h"
#include "../support/layout_particle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* clang-format off */
/* X(name, layout, its text) */
#define LAYOUTS(X, D, o, order, at) \
    X(aos_##D##o, D, HA_AOS, order, "aos" at) \
    X(packed_##D##o, D, HA_AOS_PACKED, order, "aos(packed)" at) \
    X(soa_##D##o, D, HA_SOA, order, "soa" at) \
    X(fields_##D##o, D, HA_SOA_FIELDS, order, "soa(fields)" at) \
    X(single_##D##o, D, HA_SOA_SINGLE, order, "soa(single)" at) \
    X(aligned_##D##o, D, HA_SOA_SINGLE_ALIGNED, order, "soa(single,aligned)" at) \
    X(b1_##D##o, D, HA_AOSOA(1), order, "aosoa(1)" at) \
    X(b4_##D##o, D, HA_AOSOA(4), order, "aosoa(4)" at) \
    X(b5_##D##o, D, HA_AOSOA(5), order, "aosoa(5)" at)
#define ROWS(X, D, o, order, at) X(r4_##D##o, D, HA_AOSOA(4, HA_ROWS), order, "aosoa(4,rows)" at)
#define VIEWS(X) \
    LAYOUTS(X, 1, r, HA_ROW, "@row") ROWS(X, 1, r, HA_ROW, "@row") \
    LAYOUTS(X, 2, r, HA_ROW, "@row") ROWS(X, 2, r, HA_ROW, "@row") \
    LAYOUTS(X, 2, c, HA_COL, "@col") ROWS(X, 2, c, HA_COL, "@col") \
    LAYOUTS(X, 2, m, HA_MORTON, "@morton") \
    LAYOUTS(X, 3, r, HA_ROW, "@row") ROWS(X, 3, r, HA_ROW, "@row") \
    LAYOUTS(X, 3, c, HA_COL, "@col") ROWS(X, 3, c, HA_COL, "@col") \
    LAYOUTS(X, 3, m, HA_MORTON, "@morton") \
    LAYOUTS(X, 4, r, HA_ROW, "@row") ROWS(X, 4, c, HA_COL, "@col")

#define INDEX_1(i) i[0]
#define INDEX_2(i) i[0], i[1]
#define INDEX_3(i) i[0], i[1], i[2]
#define INDEX_4(i) i[0], i[1], i[2], i[3]
/* clang-format on */

static const ptrdiff_t extents[][4] = {{5, 3, 2, 3}, {1, 7, 3, 1}, {13, 1, 4, 2}, {4, 4, 1, 1}};

/* The index behind i, in row-major order; false behind the last. */
static bool next_index(int rank, const int64_t *extent, int64_t *i) {
    for (int d = rank - 1; d >= 0; d--) {
        if (++i[d] < extent[d]) return true;
        i[d] = 0;
    }
    return false;
}

/* Blobs of exactly the mapping's sizes, of bytes that no value has. */
static void blobs_of(const ha_mapping *m, void **blob) {
    for (int b = 0; b < m->blobs; b++) {
        blob[b] = malloc((size_t)m->blob[b].bytes);
        assert_non_null(blob[b]);
        memset(blob[b], 0xa5, (size_t)m->blob[b].bytes);
    }
}

/* Does the memory have this record where the mapping says? */
static void assert_in_memory(const ha_mapping *m, void *const *blob, const int64_t *index,
                             const particle *p) {
    for (int64_t l = 0; l < m->rows; l++) {
        ha_leaf leaf;
        assert_int_equal(ha_record_leaf(&particle_record, l, &leaf), HA_OK);
        const char *found = (char *)blob[m->row[l].blob] + ha_mapping_offset(m, l, index);
        assert_memory_equal(found, (const char *)p + leaf.offset, ha_dtype_size(leaf.type));
    }
}

/* Are values where this mapping has them in these blobs? */
static void assert_mapped_as(const ha_mapped *found, const ha_mapping *m, void *const *blob) {
    int64_t i[4] = {0};
    assert_non_null(found);
    assert_int_equal(found->mapping->rows, m->rows);
    assert_memory_equal(found->mapping->extent, m->extent, sizeof m->extent);
    do {
        for (int64_t l = 0; l < m->rows; l++) {
            const ha_mapping *f = found->mapping;
            assert_ptr_equal((char *)found->blob[f->row[l].blob] + ha_mapping_offset(f, l, i),
                             (char *)blob[m->row[l].blob] + ha_mapping_offset(m, l, i));
        }
    } while (next_index(m->rank, m->extent, i));
    ha_mapped_free(found);
}

static ha_mapping *mapping_of(const char *text, int rank, const ptrdiff_t *n) {
    ha_error error;
    const int64_t extent[4] = {n[0], n[1], n[2], n[3]};
    ha_mapping *m = ha_mapping_parse(&particle_record, text, rank, extent, &error);
    if (m == NULL) fail_msg("%s: %s", text, error.text);
    return m;
}

/* A test of one view: random access, the bytes of blobs, loops, values one by one, the const twin. */
#define DEFINE(V, D, M, O, words)                                                                  \
    HA_VIEW(V, particle, D, M, O)                                                                  \
    static uint64_t V##_seed(const int64_t *i, const int64_t *n) {                                 \
        return (uint64_t)(((i[0] * n[1] + i[1]) * n[2] + i[2]) * n[3] + i[3]);                     \
    }                                                                                              \
    static void V##_each(V v, const int64_t *n) {                                                  \
        ptrdiff_t visits = 0, last = -1;                                                           \
        HA_EACH(V, v, at) {                                                                        \
            int64_t i[4] = {0};                                                                    \
            for (int d = 0; d < D; d++) i[d] = ha_coordinate(at, d);                               \
            const particle p = V##_const_load(V##_reading(v), at);                                 \
            const particle want = particle_of(V##_seed(i, n));                                     \
            assert_memory_equal(&p, &want, sizeof p);                                              \
            assert_int_equal(ha_index(at), last + 1);                                              \
            last = ha_index(at);                                                                   \
            visits++;                                                                              \
        }                                                                                          \
        assert_int_equal(visits, v.count);                                                         \
    }                                                                                              \
    static void V##_test(const ptrdiff_t *extent) {                                                \
        ha_mapping *m = mapping_of(words, D, extent);                                              \
        const int64_t *n = m->extent;                                                              \
        void *blob[16];                                                                            \
        int64_t i[4] = {0};                                                                        \
        ha_error error;                                                                            \
        assert_int_equal(m->blobs, V##_blobs);                                                     \
        for (int b = 0; b < m->blobs; b++)                                                         \
            assert_int_equal(V##_bytes(b, INDEX_##D(n)), m->blob[b].bytes);                        \
        blobs_of(m, blob);                                                                         \
        const V v = V##_on(blob, INDEX_##D(n));                                                    \
        do {                                                                                       \
            V##_store(v, V##_at(v, INDEX_##D(i)), particle_of(V##_seed(i, n)));                    \
        } while (next_index(D, n, i));                                                             \
        do {                                                                                       \
            const particle p = particle_of(V##_seed(i, n));                                        \
            const ha_cursor at = V##_at(v, INDEX_##D(i));                                          \
            assert_in_memory(m, blob, i, &p);                                                      \
            assert_true(V##_vel_y_get(v, at) == p.vel.y);                                          \
            assert_true(V##_const_flags_get(V##_reading(v), at, 2) == p.flags[2]);                 \
            V##_mass_set(v, at, 1);                                                                \
            assert_true(V##_load(v, at).mass == 1 && V##_load(v, at).vel.x == p.vel.x);            \
            V##_mass_set(v, at, p.mass);                                                           \
        } while (next_index(D, n, i));                                                             \
        V##_each(v, n);                                                                            \
        const V same = V##_from(m, blob, &error);                                                  \
        if (!V##_null(same))                                                                       \
            V##_each(same, n);                                                                     \
        else if (!strstr(error.text, "misaligned"))                                                \
            fail_msg("%s: %s", words, error.text);                                                 \
        ha_mapped *mapped = V##_mapped(v, &error);                                                 \
        if (strncmp(words, "aosoa(1)", 8) != 0)                                                    \
            assert_string_equal(mapped->mapping->text, m->text);                                   \
        assert_mapped_as(mapped, m, blob);                                                         \
        assert_mapped_as(V##_const_mapped(V##_reading(v), NULL), m, blob);                         \
        for (int b = 0; b < m->blobs; b++) free(blob[b]);                                          \
        ha_mapping_free(m);                                                                        \
    }
VIEWS(DEFINE)

static void test_every_view(void **state) {
    (void)state;
    for (size_t e = 0; e < sizeof extents / sizeof extents[0]; e++) {
#define RUN(V, D, M, O, words) V##_test(extents[e]);
        VIEWS(RUN)
#undef RUN
    }
}

/* ---- one record for all ---------------------------------------------------------------------- */

HA_VIEW(one, particle, 2, HA_ONE)

static void test_one_record(void **state) {
    (void)state;
    assert_int_equal(one_bytes(0, 9, 9), 60);
    one v = one_new(9, 9);
    one_store(v, one_at(v, 8, 3), particle_of(5));
    const particle p = one_load(v, one_at(v, 0, 0)), want = particle_of(5);
    assert_memory_equal(&p, &want, sizeof p);
    const ptrdiff_t n[] = {9, 9, 1, 1};
    void *blob[] = {v.blob[0]};
    ha_mapping *m = mapping_of("one", 2, n);
    assert_mapped_as(one_mapped(v, NULL), m, blob);
    ha_mapping_free(m);
    one_free(v);
}

/* ---- split ----------------------------------------------------------------------------------- */

HA_VIEW_SPLIT(sp, 1, HOT, HA_AOSOA(8), COLD, HA_AOS)
HA_VIEW_SPLIT(sq, particle, 2, HOT, HA_SOA, COLD, HA_AOSOA(4), HA_COL)

static void test_split_of_the_sample(void **state) {
    (void)state;
    const sp v = sp_new(30);
    HA_EACH(sp, v, at) {
        sp_record r = {.pos_y = (double)ha_index(at), .mass = 2};
        r.flags[3] = true;
        sp_store(v, at, r);
        *sp_vel_z(v, at) = 4;
    }
    const ha_cursor at = sp_at(v, 9);
    assert_int_equal((char *)sp_pos_y(v, at) - v.first.blob[0], 264);
    assert_int_equal((char *)sp_mass(v, at) - v.second.blob[0], 360);
    for (ptrdiff_t i = 0; i < 30; i++) {
        const sp_record r = sp_const_load(sp_reading(v), sp_at(v, i));
        assert_true(r.pos_y == (double)i && r.pos_x == 0 && r.mass == 2 && r.vel_z == 4);
        assert_true(r.flags[3] && !r.flags[0]);
    }
    sp_free(v);
}

static void test_split_like_its_mapping(void **state) {
    (void)state;
    const ptrdiff_t n[] = {5, 7, 1, 1};
    ha_mapping *m = mapping_of("split(separate; pos: soa@col, aosoa(4)@col)", 2, n);
    void *blob[16];
    int64_t i[4] = {0};
    assert_int_equal(m->blobs, sq_blobs);
    for (int b = 0; b < m->blobs; b++) assert_int_equal(sq_bytes(b, 5, 7), m->blob[b].bytes);
    blobs_of(m, blob);
    const sq v = sq_on(blob, 5, 7);
    HA_EACH(sq, v, at)
    sq_store(v, at, particle_of((uint64_t)(ha_coordinate(at, 0) * 7 + ha_coordinate(at, 1))));
    do {
        const particle p = particle_of((uint64_t)(i[0] * 7 + i[1]));
        const particle found = sq_load(v, sq_at(v, i[0], i[1]));
        assert_in_memory(m, blob, i, &p);
        assert_memory_equal(&found, &p, sizeof p);
    } while (next_index(2, m->extent, i));
    assert_mapped_as(sq_mapped(v, NULL), m, blob);
    assert_mapped_as(sq_const_mapped(sq_reading(v), NULL), m, blob);
    for (int b = 0; b < m->blobs; b++) free(blob[b]);
    ha_mapping_free(m);
}

/* HA_WITH is for every view. */
HA_FN void weigh(sp v, float mass) { HA_EACH(sp, v, at) * sp_mass(v, at) = mass; }

static void test_split_in_with(void **state) {
    (void)state;
    sp v = sp_new(11);
    HA_WITH(v, weigh(v, 6));
    assert_true(*sp_mass(v, sp_at(v, 10)) == 6);
    sp_free(v);
}

/* ---- layouts known at run time --------------------------------------------------------------- */

HA_VIEW(any, particle, 3, HA_ANY)
HA_VIEW(fixed, particle, 3, HA_SOA)

typedef struct body {
    float x, y;
    int tag[2];
} body;
#define body_FIELDS (float, x), (float, y), (int, tag, (2))
HA_RECORD(body)
HA_VIEW(bodies, body, 2, HA_ANY)

HA_FN void add_number(bodies v, float step) {
    HA_EACH(bodies, v, at) {
        *bodies_x(v, at) += step * (float)ha_index(at);
        *bodies_tag(v, at, 1) = (int)(10 * ha_coordinate(at, 0) + ha_coordinate(at, 1));
    }
}

static const char *const any_texts[] = {"aos",
                                        "aos(packed)",
                                        "aos(minalign)",
                                        "aos@col",
                                        "soa",
                                        "soa(fields)",
                                        "soa(fields)@col",
                                        "soa(fields)@morton",
                                        "soa(single)",
                                        "soa(single)@col",
                                        "soa@morton",
                                        "aosoa(3)",
                                        "aosoa(4)",
                                        "aosoa(8)",
                                        "aosoa(16)",
                                        "aosoa(32)",
                                        "aosoa(64)",
                                        "aosoa(8)@col",
                                        "aosoa(4,rows)",
                                        "aosoa(4,rows)@col",
                                        "aosoa(8,aligned)",
                                        "aosoa(4)@morton",
                                        "split(x: aosoa(4), aos)",
                                        "split(separate; tag: soa, aosoa(8))",
                                        "permute(1,0,soa)",
                                        "split(x: soa@col, aos@col)",
                                        "split(x: aos@morton, aos@morton)"};

static void test_any_layout(void **state) {
    (void)state;
    const int64_t n[] = {5, 7};
    for (size_t t = 0; t < sizeof any_texts / sizeof any_texts[0]; t++) {
        ha_error error;
        ha_mapping *m = ha_mapping_parse(&body_record, any_texts[t], 2, n, &error);
        assert_non_null(m);
        bodies v = bodies_new_from(m, &error);
        if (bodies_null(v)) fail_msg("%s: %s", any_texts[t], error.text);
        HA_WITH(v, add_number(v, 2));
        add_number(v, 1);
        ha_mapped *mapped = bodies_mapped(v, &error);
        assert_non_null(mapped);
        assert_int_equal(ha_mapping_check(mapped->mapping, NULL), HA_OK);
        for (int64_t i = 0; i < 5; i++)
            for (int64_t j = 0; j < 7; j++) {
                const body b = bodies_load(v, bodies_at(v, i, j));
                const int64_t number = v.order == HA_COL ? j * 5 + i : i * 7 + j, at[] = {i, j};
                assert_true(b.x == 3 * (float)number && b.y == 0);
                assert_int_equal(b.tag[1], 10 * i + j);
                const char *const field[] = {(char *)bodies_x(v, bodies_at(v, i, j)),
                                             (char *)bodies_y(v, bodies_at(v, i, j)),
                                             (char *)bodies_tag(v, bodies_at(v, i, j), 0),
                                             (char *)bodies_tag(v, bodies_at(v, i, j), 1)};
                for (int l = 0; l < 4; l++)
                    assert_ptr_equal((char *)mapped->blob[mapped->mapping->row[l].blob] +
                                         ha_mapping_offset(mapped->mapping, l, at),
                                     field[l]);
                if (m->blobs == 1)
                    assert_ptr_equal(bodies_tag(v, bodies_at(v, i, j), 1),
                                     (char *)v.memory + ha_mapping_offset(m, 3, at));
            }
        ha_mapped_free(mapped);
        bodies_free(v);
        ha_mapping_free(m);
    }
}

/* Each text, and what the refusal says. */
static const char *const refused_texts[][2] = {
    {"null", "pos.x is not stored"},
    {"split(flags: null, aos)", "flags[0] is not stored"},
    {"aos(packed)", "vel.x may be misaligned"},
    {"split(separate; pos: aosoa(4), aosoa(8))", "mass has other lanes"},
    {"split(separate; pos: soa, soa@col)", "mass has another order"},
    {"permute(1,0,2,soa)", "permutes"}};

static void test_any_refused(void **state) {
    (void)state;
    const ptrdiff_t n[] = {3, 4, 5, 1};
    ha_error error;
    for (size_t t = 0; t < sizeof refused_texts / sizeof refused_texts[0]; t++) {
        ha_mapping *m = mapping_of(refused_texts[t][0], 3, n);
        const any v = any_new_from(m, &error);
        assert_true(any_null(v));
        assert_null(v.memory);
        assert_int_equal(error.status, HA_ERR_ARGUMENT);
        if (strstr(error.text, refused_texts[t][1]) == NULL)
            fail_msg("%s: %s", refused_texts[t][0], error.text);
        ha_mapping_free(m);
    }
    ha_mapping *m = mapping_of("aos", 3, n);
    assert_true(fixed_null(fixed_new_from(m, &error)));
    assert_string_equal(error.text, "aos is not the layout of the view fixed");
    assert_true(fixed_null(fixed_new_from(m, NULL)));
    ha_mapping_free(m);
    m = mapping_of("aos", 2, n);
    assert_true(any_null(any_new_from(m, &error)));
    assert_string_equal(error.text, "the mapping has rank 2, the view 3");
    ha_mapping_free(m);
}

/* What ha_mapping_parse gives for a text that is none. */
static void test_any_of_no_mapping(void **state) {
    (void)state;
    const int64_t n[] = {3, 4, 5};
    void *blob[1] = {NULL};
    ha_error error;
    ha_mapping *m = ha_mapping_parse(&particle_record, "no layout", 3, n, NULL);
    assert_null(m);
    assert_true(any_null(any_new_from(m, &error)));
    assert_int_equal(error.status, HA_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "NULL"));
    assert_true(any_null(any_new_from(m, NULL)));
    assert_true(fixed_null(fixed_new_from(m, NULL)));
    memset(&error, 0, sizeof error);
    assert_true(any_null(any_from(m, blob, &error)));
    assert_int_equal(error.status, HA_ERR_ARGUMENT);
    assert_null(ha_mapping_memory(m, blob, &error));
}

/* With more blobs than a view of this record can have: nothing is written behind the room for them. */
static void test_any_of_a_larger_record(void **state) {
    (void)state;
    char text[2000] = "";
    const int64_t n[] = {3, 4};
    ha_error error;
    for (int k = 0; k < 200; k++) snprintf(text + strlen(text), 10, "%sf%d:f32", k ? " " : "", k);
    ha_record *large = ha_record_parse(text, &error);
    assert_non_null(large);
    ha_mapping *m = ha_mapping_parse(large, "soa", 2, n, &error);
    if (!m) fail_msg("%s", error.text);
    assert_true(m->blobs == 200);
    assert_true(bodies_null(bodies_new_from(m, &error)));
    assert_int_equal(error.status, HA_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "another record"));
    ha_mapping_free(m);
    ha_record_free(large);
}

static void test_any_of_another_record(void **state) {
    (void)state;
    const int64_t n[] = {3, 4};
    const char *const texts[] = {"x:f32 y:f32 tag[2]:i32", "x:f32 y:f32", "x:f32 y:f32 tag[2]:u32",
                                 "x:f32 z:f32 tag[2]:i32"};
    const char *const says[] = {NULL, "2 leaves, the view of 4", "tag[0] is another field",
                                "y is another field"};
    for (int t = 0; t < 4; t++) {
        ha_error error;
        ha_record *record = ha_record_parse(texts[t], &error);
        ha_mapping *m = ha_mapping_parse(record, "soa", 2, n, &error);
        bodies v = bodies_new_from(m, &error);
        assert_int_equal(bodies_null(v), says[t] != NULL);
        if (says[t] != NULL) assert_non_null(strstr(error.text, says[t]));
        bodies_free(v);
        ha_mapping_free(m);
        ha_record_free(record);
    }
}

/* ---- mappings by hand ------------------------------------------------------------------------ */

typedef struct atom {
    double x, y, z;
    float mass;
} atom;
#define atom_FIELDS (double, x), (double, y), (double, z), (float, mass)
HA_RECORD(atom)
HA_VIEW(atoms, atom, 1, HA_ANY)
HA_VIEW(atoms_aos, atom, 1, HA_AOS)

enum { ATOMS = 7 };
typedef struct by_hand {
    ha_row row[4];
    ha_linearizer linearizer[2];
    ha_blob blob[2];
    ha_mapping mapping;
    double xyz[ATOMS][3];
    float mass[ATOMS];
    void *blobs[2];
} by_hand;

/* double (*)[3] beside float *, as codes have it. The fourth field has a linearizer of its own. */
static void make_by_hand(by_hand *h) {
    memset(h, 0, sizeof *h);
    for (int l = 0; l < 4; l++) {
        h->row[l].blob = l == 3;
        h->row[l].linearizer = l == 3;
        h->row[l].base = l == 3 ? 0 : 8 * l;
        h->row[l].lanes = 1;
        h->row[l].block_stride = l == 3 ? (int64_t)sizeof(float) : 3 * (int64_t)sizeof(double);
        h->row[l].section = -1;
    }
    for (int l = 0; l < 2; l++) {
        h->linearizer[l].rank = 1;
        h->linearizer[l].stride[0] = 1;
        h->linearizer[l].pad = 1;
        h->linearizer[l].count = ATOMS;
    }
    h->blob[0].bytes = sizeof h->xyz;
    h->blob[1].bytes = sizeof h->mass;
    h->mapping.record = &atom_record;
    h->mapping.rank = 1;
    h->mapping.blobs = h->mapping.linearizers = 2;
    h->mapping.extent[0] = ATOMS;
    h->mapping.extent[1] = h->mapping.extent[2] = h->mapping.extent[3] = 1;
    h->mapping.rows = 4;
    h->mapping.row = h->row;
    h->mapping.linearizer = h->linearizer;
    h->mapping.blob = h->blob;
    h->blobs[0] = h->xyz;
    h->blobs[1] = h->mass;
}

static void test_by_hand(void **state) {
    (void)state;
    by_hand h;
    ha_error error;
    make_by_hand(&h);
    atoms v = atoms_from(&h.mapping, h.blobs, &error);
    assert_false(atoms_null(v));
    HA_WITH(
        v, HA_EACH(atoms, v, at) {
            *atoms_y(v, at) = (double)ha_index(at);
            *atoms_mass(v, at) = 2 * (float)ha_index(at);
        });
    for (int k = 0; k < ATOMS; k++) assert_true(h.xyz[k][1] == k && h.mass[k] == 2 * (float)k);
    assert_true(atoms_load(v, atoms_at(v, 3)).y == 3);
    assert_mapped_as(atoms_mapped(v, &error), &h.mapping, h.blobs);
    assert_true(atoms_aos_null(atoms_aos_from(&h.mapping, h.blobs, &error)));
    assert_string_equal(error.text, "the mapping is not the layout of the view atoms_aos");
}

/* One mistake at a time. */
static void refused_by_hand(by_hand *h, const char *why) {
    ha_error error;
    assert_true(atoms_null(atoms_from(&h->mapping, h->blobs, &error)));
    if (strstr(error.text, why) == NULL) fail_msg("%s, not %s", error.text, why);
    make_by_hand(h);
}

static void test_by_hand_refused(void **state) {
    (void)state;
    by_hand h;
    make_by_hand(&h);
    h.row[3].block_stride = 6;
    refused_by_hand(&h, "mass may be misaligned");
    h.row[2].base = 20;
    refused_by_hand(&h, "z may be misaligned");
    h.row[1].lanes = 2;
    h.row[1].lane_stride = 12;
    h.row[1].block_stride = 48;
    refused_by_hand(&h, "y may be misaligned");
    h.linearizer[1].stride[0] = 2;
    refused_by_hand(&h, "mass has another order");
    h.linearizer[1].dimension[0] = 1;
    refused_by_hand(&h, "mass has another order");
    h.linearizer[1].pad = 4;
    refused_by_hand(&h, "mass has another order");
    h.linearizer[1].morton = 1;
    refused_by_hand(&h, "mass has another order");
    h.linearizer[1].rank = 2;
    refused_by_hand(&h, "mass has another order");
    h.linearizer[0].stride[0] = h.linearizer[1].stride[0] = 2;
    refused_by_hand(&h, "permutes");
    h.mapping.rank = 2;
    refused_by_hand(&h, "rank 2");
    h.mapping.rows = 5;
    refused_by_hand(&h, "5 rows for 4 leaves");
    h.mapping.rows = 3;
    refused_by_hand(&h, "3 rows for 4 leaves");
}

/* Rows as those of a layout with one blob, but in two. */
static void test_by_hand_apart(void **state) {
    (void)state;
    by_hand h;
    ha_error error;
    make_by_hand(&h);
    atom array[ATOMS], other[ATOMS];
    void *const blobs[] = {array, other};
    for (int l = 0; l < 4; l++) {
        h.row[l].base = atom_record.field[l].offset;
        h.row[l].block_stride = sizeof(atom);
    }
    const atoms v = atoms_from(&h.mapping, blobs, &error);
    assert_ptr_equal(atoms_z(v, atoms_at(v, 6)), &array[6].z);
    assert_ptr_equal(atoms_mass(v, atoms_at(v, 6)), &other[6].mass);
    assert_mapped_as(atoms_mapped(v, &error), &h.mapping, blobs);
}

/* Kinds of layouts with rows that no text pads. */
static void test_by_hand_padded(void **state) {
    (void)state;
    const char *const texts[] = {"aos", "soa", "aos(packed)", "aosoa(4)"};
    const int64_t n[] = {3, 5};
    for (int t = 0; t < 4; t++) {
        ha_error error;
        ha_mapping *plain = ha_mapping_parse(&body_record, texts[t], 2, n, &error);
        ha_mapping padded = *plain;
        ha_linearizer linearizer = *plain->linearizer;
        static char memory[8][8 * 3 * sizeof(body)];
        void *blobs[] = {memory[0], memory[1], memory[2], memory[3]};
        linearizer.stride[0] = linearizer.pad = 8;
        padded.linearizer = &linearizer;
        const bodies v = bodies_from(&padded, blobs, &error);
        if (bodies_null(v)) fail_msg("%s: %s", texts[t], error.text);
        ha_mapped *mapped = bodies_mapped(v, &error);
        assert_null(mapped->mapping->text);
        assert_mapped_as(mapped, &padded, blobs);
        ha_mapping_free(plain);
    }
}

/* Steps backwards. */
static void test_by_hand_backwards(void **state) {
    (void)state;
    by_hand h;
    ha_error error;
    make_by_hand(&h);
    h.row[3].base = (ATOMS - 1) * (int64_t)sizeof(float);
    h.row[3].block_stride = -(int64_t)sizeof(float);
    const atoms v = atoms_from(&h.mapping, h.blobs, &error);
    assert_ptr_equal(atoms_mass(v, atoms_at(v, 1)), &h.mass[ATOMS - 2]);
    ha_mapped *mapped = atoms_mapped(v, &error);
    assert_int_equal(ha_mapping_check(mapped->mapping, &error), HA_OK);
    assert_mapped_as(mapped, &h.mapping, h.blobs);
}

/* Views without memory, or without room for saying what they are. */
static void test_not_mapped(void **state) {
    (void)state;
    ha_error error;
    const int64_t n[] = {3, 4};
    const sp none = sp_on((void *[sp_blobs]){NULL}, 4), split = sp_new(4);
    ha_mapping *m = ha_mapping_parse(&body_record, "split(x: aosoa(4), aos)", 2, n, &error);
    bodies any_view = bodies_new_from(m, &error);
    const one view = one_new(2, 2);
    assert_null(sp_mapped(none, &error));
    assert_string_equal(error.text, "the view is null");
    assert_null(bodies_mapped(bodies_on((void *[bodies_blobs]){NULL}, 1, 1), &error));
    assert_string_equal(error.text, "the view is null");
    ha_mapped_free(bodies_mapped(bodies_on((void *[bodies_blobs]){NULL}, 1, 0), NULL));
    for (long steps = 0, done = 0; done < 3; steps++) {
        const long before = allocated;
        ha_mapped *mapped[3];
        done = 0;
        for (int k = 0; k < 3; k++) {
            until_failure = steps;
            mapped[k] = k == 0   ? sp_mapped(split, &error)
                        : k == 1 ? bodies_mapped(any_view, &error)
                                 : one_mapped(view, &error);
            if (mapped[k])
                done++;
            else
                assert_int_equal(error.status, HA_ERR_MEMORY);
            until_failure = -1;
            ha_mapped_free(mapped[k]);
        }
        assert_int_equal(allocated, before);
    }
    sp_free(split);
    bodies_free(any_view);
    one_free(view);
    ha_mapping_free(m);
}

static void test_any_that_is_one(void **state) {
    (void)state;
    ha_error error;
    const int64_t extent[] = {5};
    ha_mapping *m = ha_mapping_parse(&atom_record, "one", 1, extent, &error);
    atoms v = atoms_new_from(m, &error);
    *atoms_mass(v, atoms_at(v, 4)) = 3;
    assert_true(*atoms_mass(v, atoms_at(v, 0)) == 3);
    assert_ptr_equal(atoms_mass(v, atoms_at(v, 2)), (char *)v.memory + 24);
    atoms_free(v);
    ha_mapping_free(m);
}

static void test_no_memory(void **state) {
    (void)state;

    ha_error error;
    const int64_t extent[] = {INT64_MAX / 8}; /* of which three are too much */
    ha_mapping *m = ha_mapping_parse(&atom_record, "soa", 1, extent, &error);
    assert_non_null(m);
    assert_true(atoms_null(atoms_new_from(m, &error)));
    assert_int_equal(error.status, HA_ERR_MEMORY);
    ha_mapping_free(m);
}

/* ---- memory from anywhere -------------------------------------------------------------------- */

HA_VIEW(plain, particle, 1, HA_AOS)
HA_VIEW(blocks, particle, 1, HA_AOSOA(16))
HA_VIEW(parts, particle, 1, HA_SOA)

static void test_existing_structs(void **state) {
    (void)state;
    particle array[5];
    for (int k = 0; k < 5; k++) array[k] = particle_of((uint64_t)k);
    const plain v = plain_of(array, 5);
    HA_EACH(plain, v, at) {
        assert_ptr_equal(plain_vel_y(v, at), &array[ha_index(at)].vel.y);
        assert_ptr_equal(plain_const_flags(plain_reading(v), at, 3), &array[ha_index(at)].flags[3]);
    }
    plain_free(v); /* nothing of its own */
    assert_true(array[4].pos.x == particle_of(4).pos.x);
}

static void test_existing_arrays(void **state) {
    (void)state;
    double d[6][9] = {{0}};
    float mass[9] = {0};
    bool flags[4][9] = {{false}};
    const void *const blob[] = {d[0], d[1],     d[2],     mass,     d[3],    d[4],
                                d[5], flags[0], flags[1], flags[2], flags[3]};
    d[4][7] = 12;
    flags[2][8] = true;
    const parts_const c = parts_const_on(blob, 9);
    assert_true(*parts_const_vel_y(c, parts_const_at(c, 7)) == 12);
    assert_ptr_equal(parts_const_flags(c, parts_const_at(c, 8), 2), &flags[2][8]);
    assert_true(parts_const_load(c, parts_const_at(c, 8)).flags[2]);
}

static void test_memory_of_the_stack(void **state) {
    (void)state;
    char memory[HA_ROOM(blocks, 37)], other[HA_ROOM(parts, 37)];
    assert_true(sizeof memory >= blocks_room(37) && sizeof other >= parts_room(37));
    const blocks v = blocks_in(memory + 1, 36);
    const parts w = parts_in(other + 1, 36);
    assert_int_equal((uintptr_t)v.blob[0] % HA_BLOB_ALIGN, 0);
    HA_EACH(blocks, v, at) {
        blocks_store(v, at, particle_of((uint64_t)ha_index(at)));
        parts_store(w, at,
                    particle_of((uint64_t)ha_index(at))); /* a cursor fits all of these extents */
    }
    for (ptrdiff_t i = 0; i < 36; i++) {
        const particle p = parts_load(w, parts_at(w, i)), q = blocks_load(v, blocks_at(v, i));
        assert_memory_equal(&p, &q, sizeof p);
    }
}

/* HA_ROOM is a constant for all of these layouts, and not less than what it stands for. */
HA_VIEW_SPLIT(narrow_wide, particle, 1, HOT, HA_AOSOA(2), COLD, HA_AOSOA(64))
HA_VIEW_SPLIT(wide_narrow, 1, HOT, HA_AOSOA(32), COLD, HA_SOA)
typedef struct spectrum {
    double line[40];
} spectrum;
#define spectrum_FIELDS (double, line, (40))
HA_RECORD(spectrum)
HA_VIEW(one_spectrum, spectrum, 1, HA_ONE)
#define ROOMS(X) LAYOUTS(X, 1, r, HA_ROW, ) X(narrow_wide, ) X(wide_narrow, ) X(one_spectrum, )

static void test_room_is_enough(void **state) {
    (void)state;
    for (ptrdiff_t n = 0; n < 140; n++) {
#define ENOUGH(V, ...)                                                                             \
    if (HA_ROOM(V, n) < V##_room(n))                                                               \
        fail_msg("%s of %d: %d, not %d", #V, (int)n, (int)HA_ROOM(V, n), (int)V##_room(n));
        ROOMS(ENOUGH)
#undef ENOUGH
    }
}

static void test_memory_of_its_own(void **state) {
    (void)state;
    const parts small = parts_new(0);
    assert_false(parts_null(small));
    HA_EACH(parts, small, at) fail_msg("nothing is there");
    parts_free(small);
    const r4_2r rows = r4_2r_new(PTRDIFF_MAX, 0); /* without an element in any */
    assert_false(r4_2r_null(rows));
    HA_EACH(r4_2r, rows, at) fail_msg("nothing is there");
    r4_2r_free(rows);
    const blocks large = blocks_new(60000); /* more than a huge page */
    assert_false(blocks_null(large));
    assert_int_equal((uintptr_t)large.blob[0] % (2 * 1024 * 1024), 0);
    assert_true(*blocks_vel_x(large, blocks_at(large, 59999)) == 0);
    blocks_free(large);
    assert_true(blocks_null(blocks_new(PTRDIFF_MAX / 4)));
    assert_true(parts_null(parts_new(PTRDIFF_MAX / 4)));
    assert_int_equal(blocks_bytes(0, PTRDIFF_MAX), SIZE_MAX);
    assert_true(r4_2r_null(r4_2r_new(PTRDIFF_MAX, PTRDIFF_MAX)));
    assert_true(b4_4r_null(b4_4r_new(1, PTRDIFF_MAX / 2, 2, PTRDIFF_MAX)));
    assert_true(b4_4r_null(b4_4r_new(1, 1, PTRDIFF_MAX, 2)));
    assert_true(soa_2m_null(soa_2m_new(PTRDIFF_MAX, 1)));
    /* extents below 0 are as those that are too much, and no loop without end */
    assert_true(parts_null(parts_new(-1)) && r4_2r_null(r4_2r_new(3, -1)));
    assert_true(soa_2m_null(soa_2m_new(-1, 5)) && b4_4r_null(b4_4r_new(-1, 1, 1, -1)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_view),
        cmocka_unit_test(test_one_record),
        cmocka_unit_test(test_split_of_the_sample),
        cmocka_unit_test(test_split_like_its_mapping),
        cmocka_unit_test(test_split_in_with),
        cmocka_unit_test(test_any_layout),
        cmocka_unit_test(test_any_refused),
        cmocka_unit_test(test_any_of_no_mapping),
        cmocka_unit_test(test_any_of_a_larger_record),
        cmocka_unit_test(test_any_of_another_record),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_by_hand_refused),
        cmocka_unit_test(test_by_hand_apart),
        cmocka_unit_test(test_by_hand_padded),
        cmocka_unit_test(test_by_hand_backwards),
        cmocka_unit_test(test_not_mapped),
        cmocka_unit_test(test_any_that_is_one),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_existing_structs),
        cmocka_unit_test(test_existing_arrays),
        cmocka_unit_test(test_memory_of_the_stack),
        cmocka_unit_test(test_room_is_enough),
        cmocka_unit_test(test_memory_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
