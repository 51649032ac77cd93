/* Views whose layout is known at run time only, and the cases that code is compiled for: each layout has
 * its own, what is in no list is refused or said, and without HA_WITH all layouts work, too. */
#define HA_LAYOUT_IMPLEMENTATION
#include "../../layout.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct star {
    short tag; /* not in the list: so the first field does not lie where the struct begins */
    double r[3];
    float mass;
    int link[2][3];
} star;
#define star_FIELDS (double, r, (3)), (float, mass), (int, link, (2, 3))
HA_RECORD(star)

HA_VIEW(any, star, 2, HA_ANY)
HA_VIEW(few, star, 2, HA_ANY_OF(HA_AOS, HA_SOA_FIELDS, HA_AOSOA(8)))
HA_VIEW(fixed, star, 2, HA_AOS)
HA_VIEW(fields, star, 2, HA_SOA_FIELDS)

static const int64_t extent[] = {5, 7};

static const char *const layouts[] = {
    "aos",
    "aos@col",
    "aos(minalign)",
    "soa",
    "soa(fields)",
    "soa@morton",
    "soa(fields)@col",
    "aosoa(8,aligned)",
    "aosoa(4,aligned,rows)",
    "aosoa(8)",
    "aosoa(12,aligned)",
    "aos@morton",
    "split(separate; r: soa(fields), soa(single,aligned))",
    "count(aos)",
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static ha_mapping *mapping(const char *text) {
    ha_error error;
    ha_mapping *m = ha_mapping_parse(&star_record, text, 2, extent, &error);
    if (m == NULL) fail_msg("%s: %s", text, error.text);
    return m;
}

/* ---- each layout by the case that it has, and by none ---------------------------------------- */

HA_FN void set_all(any v, double step) {
    HA_EACH(any, v, at) {
        const ptrdiff_t n = ha_coordinate(at, 0) * 7 + ha_coordinate(at, 1);
        for (int d = 0; d < 3; d++) *any_r(v, at, d) = step * (double)(10 * n + d);
        *any_mass(v, at) = (float)step;
        for (int k = 0; k < 6; k++) *any_link(v, at, k / 3, k % 3) = k;
    }
}

/* Does memory have what set_all stores, where the mapping says? */
static void assert_set(const ha_mapping *m, const any *v, const char *text, double step) {
    ha_error error;
    ha_mapped *mapped = any_mapped(*v, &error);
    if (mapped == NULL) fail_msg("%s: %s", text, error.text);
    for (int64_t i = 0; i < 5; i++)
        for (int64_t j = 0; j < 7; j++) {
            const int64_t at[] = {i, j};
            const star s = any_load(*v, any_at(*v, i, j));
            for (int d = 0; d < 3; d++) {
                double found;
                ha_mapped_get(mapped, d, at, &found);
                if (!(found == step * (double)(10 * (i * 7 + j) + d)))
                    fail_msg("%s: r[%d] of %d, %d is %g", text, d, (int)i, (int)j, found);
                assert_true(s.r[d] == found);
            }
            assert_true(s.mass == (float)step && s.tag == 0);
            for (int k = 0; k < 6; k++) assert_int_equal(s.link[k / 3][k % 3], k);
        }
    assert_ptr_equal(mapped->mapping->record, m->record);
    ha_mapped_free(mapped);
}

static void test_every_case(void **state) {
    (void)state;
    for (int t = 0; t < LAYOUTS; t++) {
        ha_error error;
        ha_mapping *m = mapping(layouts[t]);
        any v = any_new_from(m, &error);
        if (any_null(v)) fail_msg("%s: %s", layouts[t], error.text);
        const int order = v.order;
        set_all(v, 2);
        assert_set(m, &v, layouts[t], 2);
        HA_WITH(v, set_all(v, 3));
        assert_set(m, &v, layouts[t], 3);
        assert_int_equal(v.order, order);
        HA_WITH(v, set_all(v, 4)); /* v is as before */
        assert_set(m, &v, layouts[t], 4);
        if (strcmp(layouts[t], "count(aos)") == 0)
            assert_true(m->counts->leaf[3].pointers == 3 * 35 && m->counts->leaf[3].reads > 0);
        any_free(v);
        ha_mapping_free(m);
    }
}

/* Padding that no layout by text has beside single values: not one of the cases. */
static void test_padded_rows(void **state) {
    (void)state;
    ha_error error;
    ha_mapping *m = mapping("soa");
    ha_linearizer padded = m->linearizer[0];
    padded.pad = 4;
    padded.stride[0] = 8;
    padded.count = 40;
    ha_mapping by_hand = *m;
    by_hand.linearizer = &padded;
    by_hand.text = NULL;
    double r[3][40];
    float mass[40];
    int link[6][40];
    void *blob[10] = {r[0], r[1], r[2], mass, link[0], link[1], link[2], link[3], link[4], link[5]};
    any v = any_from(&by_hand, blob, &error);
    if (any_null(v)) fail_msg("%s", error.text);
    HA_WITH(v, set_all(v, 5));
    assert_true(r[2][8 * 4 + 6] == 5. * (10 * 34 + 2));
    assert_set(&by_hand, &v, "padded", 5);
    ha_mapping_free(m);
}

/* Elements side by side, but in another order. */
static void test_swapped_elements(void **state) {
    (void)state;
    ha_error error;
    ha_mapping *m = mapping("soa(fields)");
    ha_row row[10];
    memcpy(row, m->row, sizeof row);
    row[0].base = 8;
    row[1].base = 0;
    ha_mapping by_hand = *m;
    by_hand.row = row;
    double r[35][3];
    float mass[35];
    int link[35][6];
    void *blob[] = {r, mass, link};
    any v = any_from(&by_hand, blob, &error);
    if (any_null(v)) fail_msg("%s", error.text);
    HA_WITH(v, set_all(v, 5));
    assert_true(r[34][1] == 5. * 340 && r[34][0] == 5. * 341);
    ha_mapped *mapped = any_mapped(v, NULL);
    assert_null(mapped->mapping->text);
    ha_mapped_free(mapped);
    ha_mapping_free(m);
}

/* What makes memory of its own for HA_ANY makes arrays. */
static void test_new(void **state) {
    (void)state;
    any v = any_new(5, 7);
    ha_mapping *m = mapping("soa");
    set_all(v, 2);
    assert_set(m, &v, "new", 2);
    HA_WITH_ONLY(v, (HA_SOA), set_all(v, 3));
    assert_set(m, &v, "new", 3);
    any_free(v);
    ha_mapping_free(m);
}

/* ---- fewer cases ----------------------------------------------------------------------------- */

HA_FN void add_few(few v, double step) { HA_EACH(few, v, at) * few_r(v, at, 1) += step; }

static void test_few(void **state) {
    (void)state;
    static const char *const good[] = {"aos", "aos@col", "soa(fields)", "aosoa(8)"};
    static const char *const bad[] = {"soa",       "aosoa(8,aligned)",
                                      "aosoa(16)", "aos@morton",
                                      "one",       "split(separate; r: soa, aos)"};
    ha_error error;
    for (size_t t = 0; t < sizeof good / sizeof *good; t++) {
        ha_mapping *m = mapping(good[t]);
        few v = few_new_from(m, &error);
        if (few_null(v)) fail_msg("%s: %s", good[t], error.text);
        HA_WITH(v, add_few(v, 2));
        HA_WITH_ONLY(v, (HA_AOS, HA_SOA_FIELDS, HA_AOSOA(8)), add_few(v, 3));
        add_few(v, 4);
        assert_true(*few_r(v, few_at(v, 4, 6), 1) == 9 && *few_r(v, few_at(v, 4, 6), 0) == 0);
        few_free(v);
        ha_mapping_free(m);
    }
    for (size_t t = 0; t < sizeof bad / sizeof *bad; t++) {
        char text[200];
        ha_mapping *m = mapping(bad[t]);
        assert_true(few_null(few_new_from(m, &error)));
        snprintf(text, sizeof text,
                 "%s is not one of the layouts of the view few: aos, soa(fields), aosoa(8)",
                 m->text);
        assert_string_equal(error.text, text);
        assert_int_equal(error.status, HA_ERR_ARGUMENT);
        ha_mapping_free(m);
    }
}

/* What aborts says why before. */
static void assert_aborts(void (*f)(void), const char *words) {
    int ends[2];
    char text[500] = "";
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], 2);
        f();
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t n = 1; n > 0 && length < sizeof text - 1; length += (size_t)(n > 0 ? n : 0))
        n = read(ends[0], text + length, sizeof text - 1 - length);
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    if (strstr(text, words) == NULL) fail_msg("%s", text);
}

static void with_others(const char *text) {
    ha_mapping *m = mapping(text);
    any v = any_new_from(m, NULL);
    HA_WITH_ONLY(v, (HA_AOS, HA_AOSOA(8)), set_all(v, 1));
}
static void with_soa(void) { with_others("soa@col"); }
static void with_blocks(void) { with_others("split(separate; r: soa, aos)"); }
static void with_new(void) {
    few v = few_new(5, 7); /* which makes it HA_SOA */
    HA_WITH(v, add_few(v, 1));
}

static void test_no_case(void **state) {
    (void)state;
    assert_aborts(with_soa,
                  "HA_WITH_ONLY(v, (HA_AOS, HA_AOSOA(8))): the view's layout is soa@col\n");
    assert_aborts(with_blocks, "the view's layout is none but by strides\n");
    assert_aborts(with_new, "HA_WITH(v): the view's layout is soa\n");
}

/* Of views whose layout is known, the statements as they are. */
static void test_fixed(void **state) {
    (void)state;
    star memory[35];
    memset(memory, 0, sizeof memory);
    fixed v = fixed_of(memory, 5, 7);
    HA_WITH(v, *fixed_mass(v, fixed_at(v, 1, 0)) += 1);
    HA_WITH_ONLY(v, (HA_SOA), *fixed_mass(v, fixed_at(v, 1, 0)) += 1);
    assert_true(memory[7].mass == 2);
}

/* ---- fields that are arrays ------------------------------------------------------------------ */

static void test_own_arrays(void **state) {
    (void)state;
    double r[35][3] = {{0}};
    float mass[35] = {0};
    int link[35][2][3] = {{{0}}};
    void *blob[] = {r, mass, link};
    assert_int_equal(fields_blobs, 3);
    assert_int_equal(fields_bytes(2, 5, 7), sizeof link);
    const fields v = fields_on(blob, 5, 7);
    HA_EACH(fields, v, at) {
        const double p[] = {1, 2, (double)ha_index(at)};
        fields_r_store(v, at, p);
        fields_mass_set(v, at, 6);
        *fields_link(v, at, 1, 2) = 7;
    }
    for (int k = 0; k < 35; k++)
        assert_true(r[k][1] == 2 && r[k][2] == k && mass[k] == 6 && link[k][1][2] == 7);
    const star s = fields_load(v, fields_at(v, 1, 3));
    assert_true(s.r[2] == 10 && s.link[1][2] == 7 && s.link[0][2] == 0);
}

#define VECTORS(V)                                                                                 \
    {                                                                                              \
        const ha_cursor at = V##_at(v, 2, 3);                                                      \
        const double r[] = {1, 2, 3}, more[] = {10, 20, 30};                                       \
        const int links[] = {1, 2, 3, 4, 5, 6};                                                    \
        double found[3];                                                                           \
        int all[6];                                                                                \
        V##_r_store(v, at, r);                                                                     \
        V##_r_add(v, at, more);                                                                    \
        V##_r_load(v, at, found);                                                                  \
        assert_true(found[0] == 11 && found[1] == 22 && found[2] == 33);                           \
        assert_true(*V##_r(v, at, 2) == 33 && *V##_r(v, V##_at(v, 2, 4), 0) == 0);                 \
        V##_link_store(v, at, links);                                                              \
        V##_link_add(v, at, links);                                                                \
        V##_const_link_load(V##_reading(v), at, all);                                              \
        for (int k = 0; k < 6; k++) assert_int_equal(all[k], 2 * (k + 1));                         \
        assert_int_equal(*V##_link(v, at, 1, 0), 8);                                               \
        V##_link_store(v, at, (const int[6]){0});                                                  \
        V##_r_store(v, at, (const double[3]){0});                                                  \
    }
HA_FN void vectors(any v) { VECTORS(any) }

static void test_vectors(void **state) {
    (void)state;
    for (int t = 0; t < LAYOUTS; t++) {
        ha_mapping *m = mapping(layouts[t]);
        any v = any_new_from(m, NULL);
        vectors(v);
        HA_WITH(v, vectors(v));
        any_free(v);
        ha_mapping_free(m);
    }
    const fields v = fields_new(5, 7);
    VECTORS(fields)
    fields_free(v);
}

/* ---- arithmetic with all records ------------------------------------------------------------- */

static void test_apply(void **state) {
    (void)state;
    ha_error error;
    const fields v = fields_new(5, 7);
    assert_int_equal(fields_apply(v, "", HA_ASSIGN, 3, &error), HA_OK);
    assert_int_equal(fields_apply(v, "mass+r[1]", HA_MULTIPLY, 5, NULL), HA_OK);
    const star s = fields_load(v, fields_at(v, 4, 6));
    assert_true(s.mass == 15 && s.r[1] == 15 && s.r[0] == 3 && s.link[1][2] == 3);
    assert_int_equal(fields_apply(v, "speed", HA_ADD, 1, &error), HA_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "speed"));
    fields none = v;
    none.blob[0] = NULL;
    assert_int_equal(fields_apply(none, "", HA_ADD, 1, &error), HA_ERR_ARGUMENT);
    assert_string_equal(error.text, "the view is null");
    fields_free(v);
}

/* ---- lists of some fields -------------------------------------------------------------------- */

#define weight_FIELDS (float, mass), (int, link, (2, 3))
HA_VIEW_LIST(any, weight)
HA_VIEW_LIST(fields, weight)

/* The others are not looked at: their counters stay at 0. */
static void test_list(void **state) {
    (void)state;
    ha_mapping *m = mapping("count(soa)");
    const any v = any_new_from(m, NULL);
    const star s = {.tag = 1, .r = {1, 2, 3}, .mass = 4, .link = {{5}, {0, 0, 6}}};
    const fields w = fields_new(5, 7);
    any_weight_store(v, any_at(v, 1, 2), s);
    fields_weight_store(w, fields_at(w, 1, 2),
                        any_const_weight_load(any_reading(v), any_at(v, 1, 2)));
    const star found = fields_weight_load(w, fields_at(w, 1, 2));
    assert_true(found.mass == 4 && found.link[0][0] == 5 && found.link[1][2] == 6);
    assert_true(found.tag == 0 && found.r[0] == 0 && found.r[2] == 0);
    for (int l = 0; l < 10; l++) {
        assert_int_equal(m->counts->leaf[l].writes, l >= 3);
        assert_int_equal(m->counts->leaf[l].reads, l >= 3);
    }
    fields_free(w);
    any_free(v);
    ha_mapping_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_case),
        cmocka_unit_test(test_padded_rows),
        cmocka_unit_test(test_swapped_elements),
        cmocka_unit_test(test_new),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_no_case),
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_own_arrays),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_apply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
