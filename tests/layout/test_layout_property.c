/* All layouts, for ranks from 1 to 3, odd extents and all orders, against a model that knows nothing of
 * tables: it counts records one by one, and adds up sizes by the rules. Nothing overlaps, everything is
 * inside the blobs, and runs are what single addresses say. */
#define HA_LAYOUT_IMPLEMENTATION
#include "../../layout.h"

#include <setjmp.h>
#include <cmocka.h>

/* ---- the model ------------------------------------------------------------------------------- */

enum { MOST = 16, KINDS = 16 };

/* A record as a list of sizes and alignments, which are the same for all these types. */
typedef struct model_record {
    const char *text;
    int leaves;
    int64_t size[MOST];
    int first[MOST]; /* which leaf its field begins with */
} model_record;

static const model_record records[] = {
    {"pos.x:f64 pos.y:f64 pos.z:f64 mass:f32 vel.x:f64 vel.y:f64 vel.z:f64 flags[4]:bool",
     11,
     {8, 8, 8, 4, 8, 8, 8, 1, 1, 1, 1},
     {0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7}},
    {"a:u8 b:i64 c[2].d:f16 e:u32", 5, {1, 8, 2, 2, 4}, {0, 1, 2, 2, 4}},
    {"only:f32", 1, {4}, {0}},
};

typedef enum model_kind { AOS, SOA, FIELDS, AOSOA, ONE } model_kind;

static const struct leaf_layout {
    const char *text;
    model_kind kind;
    int aligned, sorted, single, rows;
    int64_t lanes;
} layouts[KINDS] = {
    {"aos", AOS, 1, 0, 0, 0, 1},
    {"aos(packed)", AOS, 0, 0, 0, 0, 1},
    {"aos(minalign)", AOS, 1, 1, 0, 0, 1},
    {"soa", SOA, 1, 0, 0, 0, 1},
    {"soa(fields)", FIELDS, 1, 0, 0, 0, 1},
    {"soa(single)", SOA, 0, 0, 1, 0, 1},
    {"soa(single,aligned)", SOA, 1, 0, 1, 0, 1},
    {"aosoa(1)", AOSOA, 0, 0, 0, 0, 1},
    {"aosoa(4)", AOSOA, 0, 0, 0, 0, 4},
    {"aosoa(3,aligned)", AOSOA, 1, 0, 0, 0, 3},
    {"aosoa(64)", AOSOA, 0, 0, 0, 0, 64},
    {"aosoa(4,rows)", AOSOA, 0, 0, 0, 1, 4},
    {"aosoa(5,aligned,rows)", AOSOA, 1, 0, 0, 1, 5},
    {"one", ONE, 1, 0, 0, 0, 1},
    {"one(packed)", ONE, 0, 0, 0, 0, 1},
    {"one(minalign)", ONE, 1, 1, 0, 0, 1},
};

static const struct shape {
    int rank;
    int64_t extent[3];
} shapes[] = {{1, {1}},       {1, {13}},    {1, {64}},      {2, {5, 7}},
              {2, {1, 9}},    {2, {11, 1}}, {3, {3, 5, 7}}, {3, {1, 1, 6}},
              {3, {2, 1, 3}}, {2, {4, 4}},  {3, {5, 2, 1}}, {2, {0, 3}}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const char *const orders[] = {"", "@col", "@morton"};

static int64_t up(int64_t n, int64_t to) {
    while (n % to != 0) n++;
    return n;
}

/* How many indices the order has before this one, counted one by one; and how many there are. */
static int64_t position(const struct shape *s, int order, int64_t pad, const int64_t *index,
                        int64_t *count) {
    int64_t box[3] = {1, 1, 1}, at[3] = {0}, before = 0, side = 1, found = -1;
    const int fastest = order == 1 ? 0 : s->rank - 1;
    for (int d = 0; d < s->rank; d++) box[d] = s->extent[d];
    box[fastest] = up(box[fastest], pad);
    for (int d = 0; d < s->rank; d++)
        while (order == 2 && side < s->extent[d]) side *= 2;
    for (int d = 0; d < s->rank && order == 2; d++) box[d] = side;
    *count = box[0] * box[1] * box[2];
    for (int d = 0; d < s->rank; d++)
        if (s->extent[d] == 0) *count = 0;
    for (int64_t n = 0; n < *count; n++, before++) {
        if (order == 2) { /* the bits of n by turns, the lowest to the last dimension */
            for (int d = 0; d < s->rank; d++) at[d] = 0;
            for (int b = 0; b < 20; b++)
                at[s->rank - 1 - b % s->rank] |= (n >> b & 1) << b / s->rank;
        }
        if (!memcmp(at, index, (size_t)s->rank * sizeof *at)) found = before;
        for (int k = 0; k < s->rank && order != 2; k++) {
            const int d = order == 1 ? k : s->rank - 1 - k;
            if (++at[d] < box[d]) break;
            at[d] = 0;
        }
    }
    return found;
}

/* Offsets in a struct of all leaves; gives its size. */
static int64_t struct_offsets(const model_record *r, int aligned, int sorted, int tail,
                              int64_t *offset) {
    int64_t end = 0, most = 1;
    for (int64_t size = 1; size <= 8; size *= 2)
        for (int k = 0; k < r->leaves; k++) {
            if (sorted ? r->size[k] != size : size != 1) continue;
            offset[k] = aligned ? up(end, r->size[k]) : end;
            end = offset[k] + r->size[k];
            most = r->size[k] > most ? r->size[k] : most;
        }
    return aligned && tail ? up(end, most) : end;
}

typedef struct place {
    int blob;
    int64_t offset;
} place;

/* How many fields there are before that of a leaf; and how many leaves that has. */
static int fields_before(const model_record *r, int leaf) {
    int fields = 0;
    for (int k = 0; k < r->first[leaf]; k++) fields += r->first[k] == k;
    return fields;
}

static int64_t elements_of(const model_record *r, int leaf) {
    int64_t elements = 0;
    for (int k = 0; k < r->leaves; k++) elements += r->first[k] == r->first[leaf];
    return elements;
}

/* Where a leaf is by the rules; `linear` of `count`. */
static place model_place(const model_record *r, const struct leaf_layout *l, int leaf,
                         int64_t linear, int64_t count) {
    int64_t offset[MOST], start = 0;
    const int64_t size = struct_offsets(r, l->aligned, l->sorted, l->kind != ONE, offset);
    const int64_t lanes = l->lanes, width = r->size[leaf];
    switch (l->kind) {
    case AOS:
        return (place){0, linear * size + offset[leaf]};
    case ONE:
        return (place){0, offset[leaf]};
    case FIELDS:
        return (place){fields_before(r, leaf),
                       (linear * elements_of(r, leaf) + leaf - r->first[leaf]) * width};
    case AOSOA:
        return (place){0, size * lanes * (linear / lanes) + offset[leaf] * lanes +
                              width * (linear % lanes)};
    default:
        break;
    }
    if (!l->single) return (place){leaf, linear * width};
    for (int k = 0; k < leaf; k++) {
        if (l->aligned) start = up(start, r->size[k]);
        start += count * r->size[k];
    }
    if (l->aligned) start = up(start, width);
    return (place){0, start + linear * width};
}

/* ---- walking --------------------------------------------------------------------------------- */

static int next_index(const ha_mapping *m, int64_t *index) {
    for (int d = m->rank; d-- > 0;) {
        if (++index[d] < m->extent[d]) return 1;
        index[d] = 0;
    }
    return 0;
}

static int has_records(const ha_mapping *m) {
    for (int d = 0; d < m->rank; d++)
        if (m->extent[d] == 0) return 0;
    return 1;
}

static ha_mapping *parsed(const ha_record *r, const char *text, int rank, const int64_t *extent) {
    ha_error error;
    ha_mapping *m = ha_mapping_parse(r, text, rank, extent, &error);
    if (!m) fail_msg("%s: %s", text, error.text);
    return m;
}

/* Marks every byte of every value: inside the blob, and nothing there but itself. */
static int bytes_are_free(const ha_mapping *m, const ha_record *r) {
    int64_t index[4] = {0}, total = 0;
    int good = 1;
    for (int b = 0; b < m->blobs; b++) total += m->blob[b].bytes;
    char *taken = (char *)calloc((size_t)total + 1, 1);
    do
        for (int64_t k = 0; k < m->rows; k++) {
            ha_leaf leaf;
            int64_t at = ha_mapping_offset(m, k, index);
            if (m->row[k].blob < 0) continue;
            assert_int_equal(ha_record_leaf(r, k, &leaf), HA_OK);
            assert_true(at >= 0 &&
                        at + (int64_t)ha_dtype_size(leaf.type) <= m->blob[m->row[k].blob].bytes);
            if (!m->row[k].packed) assert_int_equal(at % (int64_t)ha_dtype_alignment(leaf.type), 0);
            for (int b = 0; b < m->row[k].blob; b++) at += m->blob[b].bytes;
            for (int64_t i = 0; i < (int64_t)ha_dtype_size(leaf.type); i++)
                good &= taken[at + i]++ == 0;
        }
    while (next_index(m, index));
    free(taken);
    return good;
}

/* Runs are what single addresses say, and no shorter than need be. */
static void check_runs(const ha_mapping *m) {
    int64_t index[4] = {0};
    do
        for (int64_t k = 0; k < m->rows; k++) {
            ha_run_of_values run;
            int64_t at[4];
            assert_int_equal(ha_mapping_run_of_values(m, k, index, &run), HA_OK);
            assert_int_equal(run.blob, m->row[k].blob);
            if (run.blob < 0) continue;
            memcpy(at, index, sizeof at);
            for (int64_t i = 0; i < run.count; i++, at[run.dimension]++) {
                assert_true(at[run.dimension] < m->extent[run.dimension]);
                assert_int_equal(ha_mapping_offset(m, k, at), run.offset + i * run.stride);
            }
            if (m->row[k].lanes == 1 && !m->linearizer[m->row[k].linearizer].morton)
                assert_int_equal(at[run.dimension], m->extent[run.dimension]);
        }
    while (next_index(m, index));
}

static void check_table(const ha_mapping *m, const ha_record *r, int shared) {
    if (!has_records(m)) {
        assert_int_equal(ha_mapping_check(m, NULL), HA_OK);
        return;
    }
    const int disjoint = bytes_are_free(m, r);
    int64_t records_ = 1;
    for (int d = 0; d < m->rank; d++) records_ *= m->extent[d];
    if (disjoint != (!shared || records_ == 1)) fail_msg("%s overlaps: %d", m->text, !disjoint);
    assert_int_equal(ha_mapping_check(m, NULL), disjoint ? HA_OK : HA_ERR_ARGUMENT);
    check_runs(m);
}

/* ---- leaf layouts ---------------------------------------------------------------------------- */

static void check_places(const ha_mapping *m, const model_record *model,
                         const struct leaf_layout *l, const struct shape *s, int order) {
    int64_t index[4] = {0};
    if (!has_records(m)) return;
    do {
        int64_t count;
        const int64_t linear = position(s, order, l->rows ? l->lanes : 1, index, &count);
        for (int k = 0; k < model->leaves; k++) {
            const place expect = model_place(model, l, k, linear, count);
            assert_int_equal(m->row[k].blob, expect.blob);
            assert_int_equal(ha_mapping_offset(m, k, index), expect.offset);
        }
    } while (next_index(m, index));
}

/* The blob ends with its last value, but for padding to whole structs and blocks. */
static void check_bytes(const ha_mapping *m, const model_record *model, const struct leaf_layout *l,
                        const struct shape *s, int order) {
    int64_t count, offset[MOST];
    const int64_t zeros[3] = {0};
    const int64_t size = struct_offsets(model, l->aligned, l->sorted, l->kind != ONE, offset);
    const int last = model->leaves - 1;
    (void)position(s, order, l->rows ? l->lanes : 1, zeros, &count);
    assert_int_equal(m->blobs, l->kind == FIELDS              ? fields_before(model, last) + 1
                               : l->kind == SOA && !l->single ? model->leaves
                                                              : 1);
    switch (l->kind) {
    case AOS:
        assert_int_equal(m->blob->bytes, count * size);
        break;
    case ONE:
        assert_int_equal(m->blob->bytes, size);
        break;
    case FIELDS:
        for (int k = 0; k <= last; k++)
            assert_int_equal(m->blob[fields_before(model, k)].bytes,
                             count * elements_of(model, k) * model->size[k]);
        break;
    case AOSOA:
        assert_int_equal(m->blob->bytes, up(count, l->lanes) * size);
        break;
    default:
        if (l->single)
            assert_int_equal(m->blob->bytes, model_place(model, l, last, count, count).offset);
        else
            for (int k = 0; k <= last; k++)
                assert_int_equal(m->blob[k].bytes, count * model->size[k]);
        break;
    }
}

static void check_leaf_layout(const model_record *model, const struct leaf_layout *l, int order) {
    ha_record *r = ha_record_parse(model->text, NULL);
    char text[64];
    snprintf(text, sizeof text, "%s%s", l->text, orders[order]);
    assert_int_equal(ha_record_leaves(r), model->leaves);
    for (int k = 0; k < SHAPES; k++) {
        const struct shape *s = &shapes[k];
        ha_mapping *m = parsed(r, text, s->rank, s->extent);
        assert_string_equal(m->text, text);
        check_places(m, model, l, s, order);
        check_bytes(m, model, l, s, order);
        check_table(m, r, l->kind == ONE);
        ha_mapping_free(m);
    }
    ha_record_free(r);
}

static void test_leaf_layouts(void **state) {
    (void)state;
    for (size_t r = 0; r < sizeof records / sizeof *records; r++)
        for (int l = 0; l < KINDS; l++)
            for (int order = 0; order < 3; order++)
                if (!layouts[l].rows || order != 2)
                    check_leaf_layout(&records[r], &layouts[l], order);
}

/* ---- split and permute ----------------------------------------------------------------------- */

/* The two parts of a split, each as a record of its own. */
static const char *const whole = "pos.x:f64 tag:u8 pos.y:f32 mass:f32 pos.z:f64 flags[3]:bool";
static const char *const chosen = "pos.x:f64 pos.y:f32 pos.z:f64 flags[3]:bool";
static const char *const rest = "tag:u8 mass:f32";
static const int chosen_leaf[] = {0, 2, 4, 5, 6, 7}, rest_leaf[] = {1, 3};

static void check_part(const ha_mapping *m, const ha_mapping *part, const int *leaf,
                       int32_t first_blob, int64_t start) {
    int64_t index[4] = {0};
    if (!has_records(m)) return;
    do
        for (int64_t k = 0; k < part->rows; k++) {
            assert_int_equal(m->row[leaf[k]].blob, part->row[k].blob + first_blob);
            assert_int_equal(ha_mapping_offset(m, leaf[k], index),
                             ha_mapping_offset(part, k, index) + start);
        }
    while (next_index(m, index));
}

static void check_split(const struct leaf_layout *a, const struct leaf_layout *b, int order,
                        const struct shape *s, int separate) {
    ha_record *all = ha_record_parse(whole, NULL);
    ha_record *one = ha_record_parse(chosen, NULL), *two = ha_record_parse(rest, NULL);
    char text[200], first[64], second[64];
    snprintf(first, sizeof first, "%s%s", a->text, orders[order]);
    snprintf(second, sizeof second, "%s%s", b->text, orders[(order + 1) % 2]);
    snprintf(text, sizeof text, "split(%spos+flags: %s, %s)", separate ? "separate; " : "", first,
             second);
    ha_mapping *m = parsed(all, text, s->rank, s->extent);
    ha_mapping *x = parsed(one, first, s->rank, s->extent);
    ha_mapping *y = parsed(two, second, s->rank, s->extent);
    const int packed = !b->aligned;
    const int64_t start = separate ? 0 : packed ? x->blob->bytes : up(x->blob->bytes, 4);
    assert_string_equal(m->text, text);
    check_part(m, x, chosen_leaf, 0, 0);
    check_part(m, y, rest_leaf, separate ? x->blobs : 0, start);
    assert_int_equal(m->blobs, separate ? x->blobs + y->blobs : 1);
    if (!separate) assert_int_equal(m->blob->bytes, start + y->blob->bytes);
    check_table(m, all, a->kind == ONE || b->kind == ONE);
    ha_mapping_free(m);
    ha_mapping_free(x);
    ha_mapping_free(y);
    ha_record_free(all);
    ha_record_free(one);
    ha_record_free(two);
}

static void test_splits(void **state) {
    (void)state;
    for (int a = 0; a < KINDS; a++)
        for (int b = 0; b < KINDS; b++)
            for (int separate = 0; separate < 2; separate++) {
                const struct leaf_layout *x = &layouts[a], *y = &layouts[b];
                const int several = x->kind == FIELDS || y->kind == FIELDS ||
                                    (x->kind == SOA && !x->single) ||
                                    (y->kind == SOA && !y->single);
                const int order = x->rows ? 1 : (a + b) % 3;
                if (several && !separate) continue;
                check_split(x, y, order, &shapes[(a * 7 + b) % SHAPES], separate);
            }
}

static void check_permute(const struct leaf_layout *l, int order, const int *p,
                          const struct shape *s) {
    ha_record *r = ha_record_parse(records[1].text, NULL);
    char text[100], inner[64];
    int64_t extent[3], index[4] = {0}, at[3];
    snprintf(inner, sizeof inner, "%s%s", l->text, orders[order]);
    snprintf(text, sizeof text, "permute(%d,%d,%d, %s)", p[0], p[1], p[2], inner);
    for (int d = 0; d < 3; d++) extent[d] = s->extent[p[d]];
    ha_mapping *m = parsed(r, text, 3, s->extent), *x = parsed(r, inner, 3, extent);
    assert_string_equal(m->text, text);
    assert_int_equal(m->blob->bytes, x->blob->bytes);
    do {
        for (int d = 0; d < 3; d++) at[d] = index[p[d]];
        for (int64_t k = 0; k < m->rows; k++)
            assert_int_equal(ha_mapping_offset(m, k, index), ha_mapping_offset(x, k, at));
    } while (next_index(m, index));
    check_table(m, r, l->kind == ONE);
    ha_mapping_free(m);
    ha_mapping_free(x);
    ha_record_free(r);
}

static void test_permutations(void **state) {
    (void)state;
    static const int permutations[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                           {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const struct shape box = {3, {3, 5, 2}};
    for (int l = 0; l < KINDS; l++)
        for (int p = 0; p < 6; p++)
            check_permute(&layouts[l], layouts[l].rows ? p % 2 : p % 3, permutations[p], &box);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaf_layouts),
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_permutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
