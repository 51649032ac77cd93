/* Records of C structs: what HA_RECORD makes of lists of fields, and views of records with arrays,
 * with fields left out, with many fields, and with types that are no scalars. */
#define HA_LAYOUT_IMPLEMENTATION
#include "../support/layout_particle.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* ---- arrays inside arrays -------------------------------------------------------------------- */

typedef struct site {
    struct {
        struct {
            double re, im;
        } e[3][3];
        int owner;
    } link[4];
    short tag;
} site;
#define site_FIELDS                                                                                \
    (double, link, (4), e, (3, 3), re), (double, link, (4), e, (3, 3), im), (short, tag),          \
        (int, link, (4), owner)
HA_RECORD(site)
HA_VIEW(in_soa, site, 1, HA_SOA)
HA_VIEW(in_aos, site, 1, HA_AOS)
HA_VIEW(in_blocks, site, 1, HA_AOSOA(4))
HA_VIEW(in_packed, site, 1, HA_AOS_PACKED)

static void test_descriptor(void **state) {
    (void)state;
    ha_error error;
    assert_int_equal(ha_record_check(&site_record, &error), HA_OK);
    assert_string_equal(site_record.name, "site");
    assert_int_equal(site_record.size, sizeof(site));
    assert_int_equal(site_record.alignment, _Alignof(site));
    assert_int_equal(site_record.fields, 4);
    assert_string_equal(site_record.field[1].path, "link[4].e[3][3].im");
    assert_string_equal(site_record.field[2].path, "tag");
    assert_string_equal(site_record.field[3].path, "link[4].owner");
    assert_int_equal(site_record.field[0].type, HA_DTYPE_double);
    assert_int_equal(site_record.field[2].type, HA_DTYPE_int16_t);
    assert_int_equal(site_record.field[1].offset, 8);
    assert_int_equal(site_record.field[1].stride[0], 9 * 16 + 8);
    assert_int_equal(site_record.field[1].stride[1], 3 * 16);
    assert_int_equal(site_record.field[1].stride[2], 16);
    assert_int_equal(ha_record_leaves(&site_record), 36 + 36 + 1 + 4);
    char name[40];
    assert_int_equal(ha_record_leaf_name(&site_record, 36 + 9 + 3 + 1, name, sizeof name), 18);
    assert_string_equal(name, "link[1].e[1][1].im");
}

static void test_subscripts(void **state) {
    (void)state;
    static site array[3];
    const in_aos a = in_aos_of(array, 3);
    const in_soa s = in_soa_new(3);
    const in_blocks b = in_blocks_new(3);
    const in_packed p = in_packed_new(3);
    assert_int_equal(in_soa_blobs, 77);
    assert_ptr_equal(in_aos_link_e_im(a, in_aos_at(a, 2), 3, 1, 2), &array[2].link[3].e[1][2].im);
    assert_ptr_equal(in_soa_link_e_im(s, in_soa_at(s, 2), 3, 1, 2),
                     s.blob[36 + 3 * 9 + 1 * 3 + 2] + 2 * sizeof(double));
    assert_ptr_equal(in_blocks_link_e_re(b, in_blocks_at(b, 1), 1, 2, 0),
                     b.blob[0] + (9 + 6) * 4 * 8 + 8);
    HA_EACH(in_aos, a, at) {
        site r;
        memset(&r, 0, sizeof r);
        r.tag = (short)(5 + ha_index(at));
        for (int l = 0; l < 4; l++) {
            r.link[l].owner = l;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) r.link[l].e[i][j].im = l * 100 + i * 10 + j;
        }
        in_aos_store(a, at, r);
        in_soa_store(s, at, r);
        in_blocks_store(b, at, in_soa_load(s, at));
        in_packed_store(p, at, in_blocks_load(b, at));
    }
    for (int k = 0; k < 3; k++) {
        const site found = in_packed_load(p, in_packed_at(p, k));
        assert_memory_equal(&found, &array[k], sizeof found);
        assert_int_equal(in_packed_link_owner_get(p, in_packed_at(p, k), 3), 3);
    }
    in_soa_free(s);
    in_blocks_free(b);
    in_packed_free(p);
}

/* As many subscripts as a field can have. */
typedef struct lattice {
    struct {
        struct {
            float re;
        } b[2][3][2];
    } a[2][2][3];
} lattice;
#define lattice_FIELDS (float, a, (2, 2, 3), b, (2, 3, 2), re)
HA_RECORD(lattice)
HA_VIEW(links, lattice, 1, HA_AOSOA(4))

static void test_six_subscripts(void **state) {
    (void)state;
    static lattice one;
    const links v = links_new(5);
    assert_int_equal(ha_record_leaves(&lattice_record), 144);
    assert_int_equal(lattice_record.field[0].stride[0], 6 * 12 * sizeof(float));
    assert_int_equal(lattice_record.field[0].stride[5], sizeof(float));
    one.a[1][0][2].b[0][2][1].re = 7;
    links_store(v, links_at(v, 4), one);
    assert_true(*links_a_b_re(v, links_at(v, 4), 1, 0, 2, 0, 2, 1) == 7);
    links_free(v);
}

/* ---- lists in parts, and with fields left out ------------------------------------------------ */

#define EMPTY_FIELDS
#ifdef NOT_DEFINED
#define MORE_FIELDS , (bool, flags, (4))
#else
#define MORE_FIELDS
#endif
typedef particle some;
#define some_FIELDS EMPTY_FIELDS, (double, vel, y), (double, pos, x)MORE_FIELDS, EMPTY_FIELDS
HA_RECORD(some)
HA_VIEW(partly, some, 1, HA_AOS)
HA_VIEW(partly_soa, some, 1, HA_SOA)

static void test_fields_left_out(void **state) {
    (void)state;
    particle array[2] = {particle_of(1), particle_of(2)};
    const particle before = array[1];
    const partly v = partly_of(array, 2);
    assert_int_equal(some_record.fields, 2);
    assert_string_equal(some_record.field[0].path, "vel.y");
    assert_int_equal(partly_soa_blobs, 2);
    particle found = partly_load(v, partly_at(v, 1));
    assert_true(found.vel.y == before.vel.y && found.pos.x == before.pos.x);
    assert_true(found.mass == 0 && found.pos.y == 0);
    found.vel.y = 3;
    partly_store(v, partly_at(v, 1), found);
    assert_true(array[1].vel.y == 3 && array[1].mass == before.mass);
    assert_memory_equal(&array[1].pos, &before.pos, sizeof before.pos);
}

/* ---- pointers only where none is misaligned -------------------------------------------------- */

HA_VIEW(packed, particle, 1, HA_AOS_PACKED)
HA_VIEW(blocks, particle, 1, HA_AOSOA(4))
HA_VIEW(odd, particle, 1, HA_AOSOA(3))
#define HAS_POINTER(V, field, T) _Generic((V##_##field##_type_ *)0, T * : 1, default : 0)

static void test_pointers(void **state) {
    (void)state;
    assert_int_equal(HAS_POINTER(packed, pos_x, double), 1 - (56 % 8 != 0));
    assert_int_equal(HAS_POINTER(packed, vel_x, double), 0);
    assert_int_equal(HAS_POINTER(packed, flags, bool), 1);
    assert_int_equal(HAS_POINTER(packed, mass, float), 1);
    assert_int_equal(HAS_POINTER(blocks, vel_x, double), 1);
    assert_int_equal(HAS_POINTER(odd, vel_x, double), 0);
    assert_int_equal(HAS_POINTER(odd, pos_y, double), 1);
}

/* ---- types ----------------------------------------------------------------------------------- */

typedef enum { RED, GREEN } color;
typedef struct mixed {
    color c;
    ha_half h;
    ha_c64 z;
    unsigned char u;
} mixed;
#define mixed_FIELDS (color, c), (ha_half, h), (ha_c64, z), (unsigned char, u)
HA_RECORD(mixed)
HA_VIEW(mix, mixed, 2, HA_AOSOA(8))

static void test_other_types(void **state) {
    (void)state;
    const mix v = mix_new(3, 5);
    HA_EACH(mix, v, at) {
        mixed m;
        memset(&m, 0, sizeof m);
        m.c = GREEN;
        m.h.bits = 7;
        m.z.im = 9;
        m.u = 255;
        mix_store(v, at, m);
    }
    const mixed m = mix_load(v, mix_at(v, 2, 4));
    assert_true(m.c == GREEN && m.h.bits == 7 && m.z.im == 9 && m.u == 255);
    assert_int_equal(mixed_record.field[0].type, HA_DTYPE_OF(unsigned));
    assert_int_equal(mixed_record.field[1].type, HA_DTYPE_half);
    assert_int_equal(mixed_record.field[2].type, HA_DTYPE_c64);
    mix_free(v);
}

/* ---- sixty-four fields ----------------------------------------------------------------------- */

/* clang-format off */
#define EIGHT(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define MEMBER(n) int f##n;
#define LIST(n) (int, f##n##0), (int, f##n##1), (int, f##n##2), (int, f##n##3), \
                (int, f##n##4), (int, f##n##5), (int, f##n##6), (int, f##n##7)
typedef struct wide {
    EIGHT(MEMBER, 0) EIGHT(MEMBER, 1) EIGHT(MEMBER, 2) EIGHT(MEMBER, 3)
    EIGHT(MEMBER, 4) EIGHT(MEMBER, 5) EIGHT(MEMBER, 6) EIGHT(MEMBER, 7)
} wide;
#define wide_FIELDS LIST(0), LIST(1), LIST(2), LIST(3), LIST(4), LIST(5), LIST(6), LIST(7)
/* clang-format on */
HA_RECORD(wide)
HA_VIEW(wides, wide, 1, HA_SOA_SINGLE)

static void test_sixty_four_fields(void **state) {
    (void)state;
    const wides v = wides_new(3);
    assert_int_equal(wide_record.fields, 64);
    *wides_f77(v, wides_at(v, 2)) = 5;
    assert_ptr_equal(wides_f77(v, wides_at(v, 2)), v.blob[0] + (63 * 3 + 2) * sizeof(int));
    assert_int_equal(wides_load(v, wides_at(v, 2)).f77, 5);
    wides_free(v);
}

static char names[64][40];
static int64_t named;

/* The first leaf of this name, or below it, at or behind `from`; by their names alone. */
static int64_t found_by_name(const char *path, int64_t from) {
    const size_t n = strlen(path);
    for (int64_t leaf = from; leaf < named; leaf++) {
        const char *name = names[leaf];
        if (n && !strncmp(name, path, n) && (!name[n] || name[n] == '.' || name[n] == '['))
            return leaf;
    }
    return -1;
}

static void find_alike(const ha_record *r, const char *path) {
    ha_sorted_field_ sorted[HA_MOST_LEAVES];
    int64_t at = -1, first, end, leaf, found = 0, all = 0;
    for (int64_t from = 0; from <= named; from++) {
        const int64_t expect = found_by_name(path, from);
        all += expect == from && from < named;
        if (from % 7 && expect >= 0) continue;
        leaf = -1;
        const ha_status s = ha_record_find(r, path, from, &leaf);
        if (leaf != expect || (s == HA_OK) != (expect >= 0))
            fail_msg("'%s' from %d: %d, not %d", path, (int)from, (int)leaf, (int)expect);
    }
    if (!*path) return;
    ha_record_sort_(r, sorted);
    while (ha_record_below_(r, sorted, path, &at, &first, &end))
        for (leaf = first; leaf < end; leaf++, found++)
            assert_int_equal(found_by_name(path, leaf), leaf);
    if (found != all) fail_msg("'%s': %d leaves, not %d", path, (int)found, (int)all);
}

/* Whatever part of a name the path is, whatever stands behind it. */
static void test_paths(void **state) {
    (void)state;
    static const char *const records[] = {
        "pos.x:f32 mass:f32 pos2:u8 pos.yy:f32 po.s:f64 posx.x:f32 pos_[3]:u8 pos.y:f32 P:i8 p:i8",
        "a[2].b[2][3].c:f32 ab[2].c:f32 a[2].b[2][3].d:u8 a1[2]:f32 a_.b:f32 b[11]:u8 a0:u8"};
    static const char *const behind[] = {"",    "x",    "0",    "[", "[0", "[0]",
                                         "[1]", "[00]", "[12]", ".", ".b", "]"};
    for (size_t k = 0; k < 2; k++) {
        ha_record *r = ha_record_parse(records[k], NULL);
        assert_non_null(r);
        named = ha_record_leaves(r);
        assert_in_range(named, 1, 64);
        for (int64_t leaf = 0; leaf < named; leaf++)
            (void)ha_record_leaf_name(r, leaf, names[leaf], sizeof names[leaf]);
        for (int64_t leaf = 0; leaf < named; leaf += 1 + leaf / 9) {
            char path[60];
            for (int n = 0; n <= (int)strlen(names[leaf]); n++)
                for (size_t b = 0; b < sizeof behind / sizeof *behind; b++) {
                    snprintf(path, sizeof path, "%.*s%s", n, names[leaf], behind[b]);
                    find_alike(r, path);
                }
        }
        ha_record_free(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),           cmocka_unit_test(test_descriptor),
        cmocka_unit_test(test_subscripts),      cmocka_unit_test(test_six_subscripts),
        cmocka_unit_test(test_fields_left_out), cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_other_types),     cmocka_unit_test(test_sixty_four_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
