/* The layout "tree": expected offsets and trees as literals, which are those of LLAMA's own tests
 * of its tree mapping; random functors for odd extents against a model that follows the rules index
 * by index; what is refused, and where; tables by hand. */
#define HA_LAYOUT_TESTING
#include "../support/layout_memory.h"
#include "../../layout.h"

#include "../support/layout_record.h"
#include <setjmp.h>
#include <cmocka.h>

static ha_mapping *parsed(const ha_record *r, const char *layout, int rank, const int64_t *extent) {
    ha_error error;
    ha_mapping *m = ha_mapping_parse(r, layout, rank, extent, &error);
    if (!m) fail_msg("%s: %s", layout, error.text);
    return m;
}

static int next_index(const ha_mapping *m, int64_t *index) {
    for (int d = m->rank; d-- > 0;) {
        if (++index[d] < m->extent[d]) return 1;
        index[d] = 0;
    }
    return 0;
}

static void check_tree_text(const ha_mapping *m, int32_t number, const char *expect) {
    char text[4000];
    const int64_t length = ha_mapping_tree_text(m, number, text, sizeof text);
    assert_string_equal(text, expect);
    assert_int_equal(length, strlen(expect));
    assert_int_equal(ha_mapping_tree_text(m, number, text, 6), length);
    assert_int_equal(strlen(text), 5);
    assert_int_equal(ha_mapping_tree_text(m, number, NULL, 0), length);
}

/* ---- tables ------------------------------------------------------------------------------------ */

/* For extents 16x16: 14336 bytes each. */
static const struct expected {
    const char *layout, *tree;
    int leaves; /* how many are said */
    int64_t offset[3][PARTICLE_LEAVES];
} tables[] = {
    {"tree()",
     "16[16[1 pos[1 x, 1 y, 1 z], 1 mass, 1 vel[1 x, 1 y, 1 z], 1 flags[1, 1, 1, 1]]]",
     11,
     {{0, 8, 16, 24, 28, 36, 44, 52, 53, 54, 55},
      {56, 64, 72, 80, 84, 92, 100, 108, 109, 110, 111},
      {896, 904, 912, 920, 924, 932, 940, 948, 949, 950, 951}}},
    {"tree(idem)",
     "16[16[1 pos[1 x, 1 y, 1 z], 1 mass, 1 vel[1 x, 1 y, 1 z], 1 flags[1, 1, 1, 1]]]",
     11,
     {{0, 8, 16, 24, 28, 36, 44, 52, 53, 54, 55},
      {56, 64, 72, 80, 84, 92, 100, 108, 109, 110, 111},
      {896, 904, 912, 920, 924, 932, 940, 948, 949, 950, 951}}},
    {"tree(leafonly)",
     "1[1[1 pos[256 x, 256 y, 256 z], 256 mass, 1 vel[256 x, 256 y, 256 z], "
     "1 flags[256, 256, 256, 256]]]",
     11,
     {{0, 2048, 4096, 6144, 7168, 9216, 11264, 13312, 13568, 13824, 14080},
      {8, 2056, 4104, 6148, 7176, 9224, 11272, 13313, 13569, 13825, 14081},
      {128, 2176, 4224, 6208, 7296, 9344, 11392, 13328, 13584, 13840, 14096}}},
    {"tree(movedown(0;4))",
     "16[4[4 pos[1 x, 1 y, 1 z], 4 mass, 4 vel[1 x, 1 y, 1 z], 4 flags[1, 1, 1, 1]]]",
     7,
     {{0, 8, 16, 96, 112, 120, 128},
      {24, 32, 40, 100, 136, 144, 152},
      {896, 904, 912, 992, 1008, 1016, 1024}}},
    {"tree(movedown(0;8), movedown(0/0;8), movedown(0/2;8))",
     "16[2[1 pos[8 x, 8 y, 8 z], 8 mass, 1 vel[8 x, 8 y, 8 z], 8 flags[1, 1, 1, 1]]]",
     7,
     {{0, 64, 128, 192, 224, 288, 352},
      {8, 72, 136, 196, 232, 296, 360},
      {896, 960, 1024, 1088, 1120, 1184, 1248}}},
};

static void test_tables(void **state) {
    (void)state;
    static const int64_t extent[] = {16, 16}, index[3][2] = {{0, 0}, {0, 1}, {1, 0}};
    ha_record *r = ha_record_parse(PARTICLE, NULL);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        ha_mapping *m = parsed(r, tables[t].layout, 2, extent);
        assert_string_equal(m->text, tables[t].layout);
        assert_int_equal(m->blobs, 1);
        assert_int_equal(m->blob->bytes, 14336);
        assert_int_equal(m->trees, 1);
        check_tree_text(m, 0, tables[t].tree);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < tables[t].leaves; k++)
                assert_int_equal(ha_mapping_offset(m, k, index[i]), tables[t].offset[i][k]);
        ha_mapping_free(m);
    }
    ha_record_free(r);
}

/* What is not in those tables: an extent that blocks do not divide, one dimension, the root. */
static void test_ragged(void **state) {
    (void)state;
    static const int64_t extent[] = {10};
    ha_record *r = ha_record_parse("a:f64 b:u8", NULL);
    ha_mapping *m = parsed(r, "tree(movedown(;4))", 1, extent);
    check_tree_text(m, 0, "3[4 a, 4 b]"); /* as aosoa(4) */
    assert_int_equal(m->blob->bytes, 3 * 36);
    assert_int_equal(ha_mapping_offset(m, 1, (const int64_t[]){9}), 2 * 36 + 32 + 1);
    ha_mapping_free(m);
    m = parsed(r, "tree( leafonly ,\tmovedown( ; 3 ) )", 1, extent); /* room, and no more */
    assert_string_equal(m->text, "tree(leafonly, movedown(;3))");
    check_tree_text(m, 0, "1[30 a, 30 b]");
    assert_int_equal(ha_mapping_offset(m, 1, (const int64_t[]){9}), 249);
    ha_mapping_free(m);
    m = parsed(r, "tree", 1, extent);
    assert_string_equal(m->text, "tree()");
    ha_mapping_free(m);
    ha_record_free(r);
}

/* ---- the model --------------------------------------------------------------------------------- */

enum { MOST_NODES = 40, MOST_LEAVES = 16, MOST_FUNCTORS = 6, MOST_DEPTH = 10, VALUES = 20000 };

/* A record, and what lies below the last dimension: sizes of leaves, with "(" and ")" around children.
 * Leaves are there in the order of `leaf`. */
static const struct model_record {
    const char *text, *tree;
    int leaf[MOST_LEAVES];
} records[] = {
    {PARTICLE, "(8 8 8) 4 (8 8 8) (1 1 1 1)", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
    {"only:f32", "4", {0}},
    {"a[2].x:u8 b:f32 a[2].y[2].q:i16 c.d.e:f64 a[2].z:c64 c.g:u8 c.d.f:u16",
     "((1 ((2) (2)) 8) (1 ((2) (2)) 8)) 4 ((8 2) 1)",
     {0, 3, 4, 8, 1, 5, 6, 9, 2, 7, 11, 10}},
};

typedef struct model_node {
    int parent, child, children, leaf; /* number among its siblings; leaf < 0: none */
    int64_t size;
} model_node;

typedef struct model_functor {
    int node; /* -1: leafonly, -2: idem */
    int64_t k;
} model_functor;

/* copies[f] are those before functor number f. */
typedef struct model_tree {
    model_node node[MOST_NODES];
    int nodes, rank, functors;
    model_functor functor[MOST_FUNCTORS];
    int64_t copies[MOST_FUNCTORS + 1][MOST_NODES];
} model_tree;

static int add_node(model_tree *t, int parent) {
    t->node[t->nodes] = (model_node){.parent = parent, .leaf = -1};
    if (parent >= 0) t->node[t->nodes].child = t->node[parent].children++;
    t->copies[0][t->nodes] = 1;
    return t->nodes++;
}

static model_tree make_tree(const struct model_record *r, int rank, const int64_t *extent) {
    model_tree t = {.rank = rank};
    int above = -1, leaf = 0;
    for (int d = 0; d < rank; d++) {
        above = add_node(&t, above);
        t.copies[0][above] = extent[d];
    }
    for (const char *p = r->tree; *p; p++)
        if (*p == '(') {
            above = add_node(&t, above);
        } else if (*p == ')') {
            above = t.node[above].parent;
        } else if (*p != ' ') {
            const int n = add_node(&t, above);
            t.node[n].size = *p - '0';
            t.node[n].leaf = r->leaf[leaf++];
        }
    return t;
}

/* The rules of trees, functor by functor. */
static void change_tree(model_tree *t, model_functor f) {
    const int64_t *old = t->copies[t->functors];
    int64_t *new = t->copies[t->functors + 1];
    for (int n = 0; n < t->nodes; n++) {
        new[n] = old[n];
        if (f.node == -1) {
            new[n] = 1;
            for (int above = n; t->node[n].leaf >= 0 && above >= 0; above = t->node[above].parent)
                new[n] *= old[above];
        } else if (n == f.node) {
            new[n] = (old[n] + f.k - 1) / f.k;
        } else if (f.node >= 0 && t->node[n].parent == f.node) {
            new[n] = old[n] * f.k;
        }
    }
    t->functor[t->functors++] = f;
}

/* The rules of coordinates: of the nodes from the root to a leaf, of which there are `depth`. */
static void change_index(const model_tree *t, int f, const int *path, int depth, int64_t *index) {
    const int64_t *copies = t->copies[f], k = t->functor[f].k;
    for (int d = 0; d + 1 < depth && t->functor[f].node >= 0; d++)
        if (path[d] == t->functor[f].node) {
            index[d + 1] += index[d] % k * copies[path[d + 1]];
            index[d] /= k;
        }
    if (t->functor[f].node == -1) {
        int64_t fold = 0;
        for (int d = 0; d < depth; d++) {
            fold = fold * copies[path[d]] + index[d];
            index[d] = 0;
        }
        index[depth - 1] = fold;
    }
}

/* Bytes of one copy of a node. */
static int64_t model_bytes(const model_tree *t, int node) {
    int64_t bytes = t->node[node].size;
    for (int n = node + 1; n < t->nodes; n++)
        if (t->node[n].parent == node) bytes += t->copies[t->functors][n] * model_bytes(t, n);
    return bytes;
}

static int64_t model_offset(const model_tree *t, int leaf, const int64_t *at) {
    int path[MOST_DEPTH], depth = 0, node = 0;
    int64_t index[MOST_DEPTH] = {0}, offset = 0;
    while (t->node[node].leaf != leaf) node++;
    for (int n = node; n >= 0; n = t->node[n].parent) depth++;
    for (int d = depth; d-- > 0; node = t->node[node].parent) path[d] = node;
    for (int d = 0; d < t->rank; d++) index[d] = at[d];
    for (int f = 0; f < t->functors; f++) change_index(t, f, path, depth, index);
    for (int d = 0; d < depth; d++) {
        offset += index[d] * model_bytes(t, path[d]);
        for (int n = 0; n < path[d] && d > 0; n++)
            if (t->node[n].parent == path[d - 1])
                offset += t->copies[t->functors][n] * model_bytes(t, n);
    }
    return offset;
}

/* "movedown(0/1;8)" */
static void write_functor(const model_tree *t, model_functor f, char *text, size_t size) {
    char path[100] = "", longer[120];
    for (int n = f.node; n > 0; n = t->node[n].parent) {
        snprintf(longer, sizeof longer, "%d%s%s", t->node[n].child, *path ? "/" : "", path);
        memcpy(path, longer, sizeof path);
    }
    snprintf(text, size,
             f.node == -2   ? "idem"
             : f.node == -1 ? "leafonly"
                            : "movedown(%s;%d)",
             path, (int)f.k);
}

static uint32_t random_state = 1;
static int random_below(int n) {
    random_state = random_state * 1664525u + 1013904223u;
    return (int)((random_state >> 8) % (uint32_t)n);
}

/* Applies random functors, as long as the values have room in the test. */
static void random_functors(model_tree *t, char *layout, size_t size) {
    const int functors = random_below(MOST_FUNCTORS + 1);
    snprintf(layout, size, "tree(");
    for (int k = 0; k < functors; k++) {
        const size_t length = strlen(layout);
        model_functor f = {random_below(t->nodes + 2) - 2, 1 + random_below(5)};
        char text[120];
        if (f.node >= 0 && t->node[f.node].leaf >= 0) f.node = t->node[f.node].parent;
        change_tree(t, f);
        if (t->copies[t->functors][0] * model_bytes(t, 0) > VALUES) {
            t->functors--;
            break;
        }
        write_functor(t, f, text, sizeof text);
        snprintf(layout + length, size - length, "%s%s", k ? ", " : "", text);
    }
    snprintf(layout + strlen(layout), size - strlen(layout), ")");
}

/* Every value is where the model has it, and alone there; runs are what single offsets say. */
static void check_mapping(const ha_mapping *m, const model_tree *t) {
    static char taken[VALUES];
    int64_t index[4] = {0};
    memset(taken, 0, sizeof taken);
    do
        for (int64_t k = 0; k < m->rows; k++) {
            ha_leaf leaf;
            ha_run_of_values run;
            const int64_t at = ha_mapping_offset(m, k, index);
            if (at != model_offset(t, (int)k, index))
                fail_msg("%s, leaf %d: %d instead of %d", m->text, (int)k, (int)at,
                         (int)model_offset(t, (int)k, index));
            assert_int_equal(ha_record_leaf(m->record, k, &leaf), HA_OK);
            for (int64_t b = 0; b < (int64_t)ha_dtype_size(leaf.type); b++) {
                assert_true(at >= 0 && at + b < m->blob->bytes);
                assert_int_equal(taken[at + b]++, 0);
            }
            if (!m->row[k].packed) assert_int_equal(at % (int64_t)ha_dtype_alignment(leaf.type), 0);
            assert_int_equal(ha_mapping_run_of_values(m, k, index, &run), HA_OK);
            assert_int_equal(run.offset, at);
            assert_int_equal(run.dimension, m->rank - 1);
            assert_true(run.count >= 1 &&
                        run.count <= m->extent[run.dimension] - index[run.dimension]);
            int64_t other[4] = {index[0], index[1], index[2], index[3]};
            for (int64_t i = 0; i < run.count; i++, other[run.dimension]++)
                assert_int_equal(ha_mapping_offset(m, k, other), at + i * run.stride);
        }
    while (next_index(m, index));
}

static void test_random_functors(void **state) {
    (void)state;
    static const struct {
        int rank;
        int64_t extent[4];
    } shapes[] = {{1, {1}}, {1, {13}}, {2, {5, 7}}, {2, {1, 6}}, {3, {3, 2, 5}}, {4, {2, 1, 3, 2}}};
    for (int round = 0; round < 240; round++) {
        const struct model_record *r = &records[round % 3];
        const int shape = round / 3 % 6;
        model_tree t = make_tree(r, shapes[shape].rank, shapes[shape].extent);
        ha_record *record = ha_record_parse(r->text, NULL);
        char layout[400];
        ha_error error;
        random_functors(&t, layout, sizeof layout);
        ha_mapping *m = parsed(record, layout, t.rank, shapes[shape].extent);
        assert_string_equal(m->text, layout);
        assert_int_equal(m->blob->bytes, t.copies[t.functors][0] * model_bytes(&t, 0));
        check_mapping(m, &t);
        if (ha_mapping_check(m, &error)) fail_msg("%s: %s", layout, error.text);
        ha_mapping_free(m);
        ha_record_free(record);
    }
}

/* ---- runs -------------------------------------------------------------------------------------- */

static void check_run(const char *layout, int rank, const int64_t *extent, int64_t leaf,
                      const int64_t *index, int64_t count, int64_t stride) {
    ha_record *r = ha_record_parse("a:f64 b:u8", NULL);
    ha_mapping *m = parsed(r, layout, rank, extent);
    ha_run_of_values run;
    assert_int_equal(ha_mapping_run_of_values(m, leaf, index, &run), HA_OK);
    assert_int_equal(run.count, count);
    assert_int_equal(run.stride, stride);
    ha_mapping_free(m);
    ha_record_free(r);
}

static void test_runs(void **state) {
    (void)state;
    static const int64_t line[] = {23}, box[] = {4, 6};
    check_run("tree()", 1, line, 0, (const int64_t[]){3}, 20, 9);
    check_run("tree(leafonly)", 2, box, 1, (const int64_t[]){1, 2}, 4, 1);
    check_run("tree(movedown(;8))", 1, line, 0, (const int64_t[]){2}, 6, 8);
    check_run("tree(movedown(;8))", 1, line, 0, (const int64_t[]){7}, 1, 0); /* then a new block */
    check_run("tree(movedown(;8))", 1, line, 1, (const int64_t[]){16}, 7, 1);
    /* what is divided, and moved to where it lay */
    check_run("tree(movedown(;2))", 2, box, 0, (const int64_t[]){1, 1}, 5, 9);
    check_run("permute(1,0, tree(movedown(;2)))", 2, box, 0, (const int64_t[]){1, 2}, 3, 9);
    check_run("permute(1,0, tree(movedown(0;2), movedown(;3)))", 2, box, 1, (const int64_t[]){1, 0},
              1, 0);
}

/* Steps that a run from each index on takes, on the way through all values. */
static uint64_t steps_of_runs(const char *layout, int64_t n, int64_t *runs) {
    ha_record *r = ha_record_parse("a:f64 b.c:u8 b.d:f32", NULL);
    ha_mapping *m = parsed(r, layout, 1, &n);
    const uint64_t before = ha_layout_steps_;
    for (int64_t leaf = 0; leaf < m->rows; leaf++)
        for (int64_t i = 0; i < n; i++, ++*runs) {
            ha_run_of_values run;
            assert_int_equal(ha_mapping_run_of_values(m, leaf, &i, &run), HA_OK);
        }
    ha_mapping_free(m);
    ha_record_free(r);
    return ha_layout_steps_ - before;
}

/* However long a run is, that lies in many pieces of the tree. */
static void test_runs_are_found_at_once(void **state) {
    (void)state;
    static const char *const layouts[] = {"tree()",
                                          "tree(movedown(;2))",
                                          "tree(movedown(;8))",
                                          "tree(leafonly)",
                                          "tree(movedown(;2), movedown(1;2))",
                                          "tree(movedown(1;2), leafonly)",
                                          "tree(movedown(;4), movedown(1;2), leafonly)",
                                          "tree(movedown(;1), movedown(1;3))"};
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++)
        for (int64_t n = 100; n <= 1600; n *= 4) {
            int64_t runs = 0;
            const uint64_t steps = steps_of_runs(layouts[k], n, &runs);
            if (steps < (uint64_t)runs / 2 || steps > 2 * (uint64_t)runs)
                fail_msg("%s of %d: %d steps for %d runs", layouts[k], (int)n, (int)steps,
                         (int)runs);
        }
}

/* ---- inside others ----------------------------------------------------------------------------- */

static void test_inside(void **state) {
    (void)state;
    static const int64_t extent[] = {5, 3}, turned[] = {3, 5}, index[] = {4, 1}, other[] = {1, 4};
    ha_record *r = ha_record_parse(PARTICLE, NULL);
    ha_record *positions = ha_record_parse("pos.x:f64 pos.y:f64 pos.z:f64", NULL);
    ha_mapping *m = parsed(r,
                           "split(separate; pos: permute(1,0, tree(movedown(0;2))), "
                           "split(mass: tree(leafonly), aos))",
                           2, extent);
    ha_mapping *alone = parsed(positions, "tree(movedown(0;2))", 2, turned);
    assert_int_equal(m->trees, 2);
    assert_int_equal(m->blobs, 2);
    check_tree_text(m, 0, "3[3[2 pos[1 x, 1 y, 1 z]]]");
    check_tree_text(m, 1, "1[1[15 mass]]");
    assert_int_equal(m->blob[0].bytes, alone->blob->bytes);
    for (int k = 0; k < 3; k++)
        assert_int_equal(ha_mapping_offset(m, k, index), ha_mapping_offset(alone, k, other));
    assert_int_equal(ha_mapping_offset(m, 3, index), (4 * 3 + 1) * 4);
    assert_int_equal(ha_mapping_offset(m, 4, index), 64 + (4 * 3 + 1) * 32); /* 60, aligned */
    assert_int_equal(ha_mapping_check(m, NULL), HA_OK);
    assert_int_equal(ha_mapping_tree_text(m, 2, NULL, 0), -1);
    assert_int_equal(ha_mapping_tree_text(m, -1, NULL, 0), -1);
    ha_mapping_free(alone);
    ha_mapping_free(m);
    ha_record_free(positions);
    ha_record_free(r);
}

/* Leaves as they are stored: of another type; as one more node, whose children are the bytes. */
static void test_computed(void **state) {
    (void)state;
    static const int64_t extent[] = {3}, index[] = {1};
    ha_record *r = ha_record_parse("a.b:i16 c:u8 d:f64", NULL);
    ha_mapping *m = parsed(r, "changetype(d:f32; tree(leafonly))", 1, extent);
    check_tree_text(m, 0, "1[1 a[3 b], 3 c, 3 d]");
    assert_int_equal(m->blob->bytes, 3 * 7);
    assert_int_equal(ha_mapping_offset(m, 2, index), 9 + 4);
    assert_int_equal(ha_mapping_check(m, NULL), HA_OK);
    ha_mapping_free(m);
    m = parsed(r, "bytesplit(tree(movedown(;2), movedown(0;2), movedown(0/0;2)))", 1, extent);
    check_tree_text(m, 0, "2[1 a[1 b[2, 2]], 2 c, 2 d[1, 1, 1, 1, 1, 1, 1, 1]]");
    assert_int_equal(m->blob->bytes, 2 * 22);
    assert_int_equal(ha_mapping_offset(m, 0, index), 1);
    assert_int_equal(ha_row_at(m, &m->byte_row[1], index), 3);
    assert_int_equal(ha_mapping_offset(m, 1, index), 5);
    assert_int_equal(ha_mapping_offset(m, 2, index), 6 + 8);
    assert_int_equal(ha_row_at(m, &m->byte_row[9], index), 6 + 8 + 7);
    assert_int_equal(ha_mapping_check(m, NULL), HA_OK);
    ha_mapping_free(m);
    ha_record_free(r);
}

/* Aligned for these extents, but not for others. */
static void test_behind(void **state) {
    (void)state;
    static const int64_t extent[] = {8};
    ha_record *r = ha_record_parse("a:u8 b:f64", NULL);
    ha_mapping *m = parsed(r, "split(a: tree(), soa(single))", 1, extent);
    assert_int_equal(m->row[1].base, 8);
    assert_int_equal(m->row[1].packed, 1);
    ha_mapping_free(m);
    m = parsed(r, "tree(leafonly)", 1, extent);
    assert_int_equal(m->row[1].packed, 0); /* whoever writes text for other extents knows better */
    ha_mapping_free(m);
    ha_record_free(r);
}

/* For other extents; what no functor names is a unit. What it computes is tested where there is OpenCL. */
static void test_device_text(void **state) {
    (void)state;
    static const int64_t extent[] = {8, 3};
    static const char *const lines[] = {
        "sky_node_0_1(int copies, sky_int n0, sky_int n1) {", /* the second extent */
        "    c[0] = n0, g[0] = 1;\n    c[1] = n1, g[1] = 1;\n",
        "    g[1] *= 4;\n    c[1] = c[1] / 4 + (c[1] % 4 != 0);\n",
        "    return (copies ? c[1] : 1) * (g[1] * 13);\n",
        "    a1 += a0 % 2 * c[1];\n    a0 /= 2;\n    c[1] *= 2;\n",
        "    u += a1 % 4 * g[1];\n    a1 /= 4;\n",
        "    a1 += a0 * c[1];\n    a0 = 0;\n    u += a1 * g[1];\n    a1 = 0;\n",
        "a1 * sky_node_0_1(0, n0, n1) + g[1] * 4 + 1 * w + u * 8;\n", /* b.d in its unit */
        "    return sky_start_0(n0, n1) + sky_leaf_2(i0, i1, n0, n1);\n",
        "    return sky_start_0(n0, n1) + sky_node_0_0(1, n0, n1);\n",
    };
    static char text[30000];
    ha_record *r = ha_record_parse("a:f32 b.c:u8 b.d:f64", NULL);
    ha_mapping *m = parsed(r, "tree(movedown(0;4), movedown(;2), leafonly)", 2, extent);
    assert_in_range(ha_mapping_device_text(m, "sky", text, sizeof text), 1, sizeof text - 1);
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
        if (!strstr(text, lines[k])) fail_msg("\"%s\" is not in: %s", lines[k], text);
    ha_mapping_free(m);
    m = parsed(r, "permute(1,0, tree(movedown(0/1;2)))", 2, extent);
    assert_in_range(ha_mapping_device_text(m, "sky", text, sizeof text), 1, sizeof text - 1);
    assert_non_null(strstr(text, "    c[0] = n1, g[0] = 1;\n    c[1] = n0, g[1] = 1;\n"
                                 "    c[2] = 1, g[2] = 1;\n"));
    assert_non_null(strstr(text, "    sky_int a1 = i0;\n"));
    assert_non_null(strstr(text, "a2 * sky_node_0_3(0, n0, n1) + g[2] * 1 + 0 * w + u * 8;\n"));
    ha_mapping_free(m);
    ha_record_free(r);
}

/* Who cannot have trees says so; who shows mappings shows them. */
static void test_users(void **state) {
    (void)state;
    static const int64_t extent[] = {8};
    ha_record *r = ha_record_parse("a:f32 b:f32", NULL);
    ha_mapping *m = parsed(r, "tree(movedown(;4))", 1, extent);
    char text[20000];
    void *blob[] = {text};
    char *leaf[2];
    ptrdiff_t stride[4];
    ha_matched_ matched;
    ha_error error;
    assert_int_equal(ha_view_match_(m, blob, r, 1, -1, &matched, leaf, stride, &error),
                     HA_ERR_ARGUMENT);
    assert_string_equal(error.text, "a is in a tree: no view is one");
    assert_true(ha_mapping_json(m, NULL, text, sizeof text) > 0);
    assert_non_null(strstr(text, "\"blobs\": [64], \"trees\": [\"2[4 a, 4 b]\"], \"fields\": [{"));
    assert_true(ha_mapping_svg(m, text, sizeof text) > 0);
    assert_non_null(strstr(text, ">b<"));
    assert_null(strstr(text, ">all<"));
    ha_mapping_free(m);
    ha_record_free(r);
}

/* ---- refusals ---------------------------------------------------------------------------------- */

static const struct refusal {
    const char *text;
    int64_t position;
    const char *why;
} refusals[] = {
    {"tree(", 5, "expected ')' or ',', found the end"},
    {"tree(leafonly", 13, "expected ')' or ',', found the end"},
    {"tree(leafonly,)", 14, "expected idem, leafonly or movedown, found ')'"},
    {"tree(leafonly idem)", 14, "expected ')' or ',', found 'i'"},
    {"tree(leaf)", 5, "expected idem, leafonly or movedown, found 'l'"},
    {"tree()@col", 6, "expected the end"},
    {"tree(movedown)", 13, "expected '(', found ')'"},
    {"tree(movedown())", 14, "expected the number of a child, or ';', found ')'"},
    {"tree(movedown(;))", 15, "expected how many copies become one, found ')'"},
    {"tree(movedown(;0))", 15, "how many copies become one, from 1 to"},
    {"tree(movedown(;99999999999999999999))", 15, "this number is too large"},
    {"tree(movedown(0/;2))", 16, "expected the number of a child, found ';'"},
    {"tree(movedown(0,1;2))", 15, "expected ';' or '/', found ','"},
    {"tree(movedown(0;2)", 18, "expected ')' or ',', found the end"},
    {"tree(movedown(0;2", 17, "expected ')', found the end"},
    {"tree(movedown(0/0/0/0/0/0/0/0/0/0/0/0/0/0;2))", 40, "no more numbers than 13"},
    {"tree(movedown(1;2))", 14, "there is no such child"},
    {"tree(idem, movedown( 0 / 4 ;2))", 25, "there is no such child"},
    {"tree(movedown(0/1/0;2))", 18, "there is no such child"},
    {"tree(leafonly, movedown(0/1;2))", 15, "this is a value: nothing is below it"},
    {"split(pos: tree(movedown(0/1;2)), aos)", 27, "there is no such child"},
    {"bytesplit(tree(movedown(0/3/0;2)))", 15, "this is a value"}, /* a byte is one */
};

static void test_refusals(void **state) {
    (void)state;
    static const int64_t extent[] = {16, 16};
    ha_record *r = ha_record_parse(PARTICLE, NULL);
    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
        ha_error e;
        assert_null(ha_mapping_parse(r, refusals[k].text, 2, extent, &e));
        if (e.code != refusals[k].position || !strstr(e.text, refusals[k].why))
            fail_msg("\"%s\": %lld, %s", refusals[k].text, (long long)e.code, e.text);
        assert_int_equal(e.status, HA_ERR_ARGUMENT);
        assert_int_equal(allocated, 1);
    }
    ha_record_free(r);
}

/* As many functors as there may be; one more. */
static void test_many_functors(void **state) {
    (void)state;
    static const int64_t extent[] = {7};
    ha_record *r = ha_record_parse("a:f64 b:u8", NULL);
    char text[1000] = "tree(movedown(;1)";
    ha_error e;
    for (int k = 1; k < HA_TREE_FUNCTORS; k++) strcat(text, ", movedown(;1)");
    strcat(text, ")");
    ha_mapping *m = parsed(r, text, 1, extent);
    assert_int_equal(ha_mapping_offset(m, 1, (const int64_t[]){6}), 6 * 9 + 8);
    assert_int_equal(ha_mapping_check(m, NULL), HA_OK);
    ha_mapping_free(m);
    text[strlen(text) - 1] = 0;
    strcat(text, ", idem)");
    assert_null(ha_mapping_parse(r, text, 1, extent, &e));
    assert_non_null(strstr(e.text, "no more functors than 64"));
    assert_int_equal(e.code, strlen(text) - strlen("idem)"));
    ha_record_free(r);
}

/* A path of 13 numbers, and a leaf that only leafonly gives an index. */
static void test_deep(void **state) {
    (void)state;
    static const int64_t extent[] = {5};
    ha_record *r = ha_record_parse("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p:u16 a.b.q:u8", NULL);
    ha_mapping *m = parsed(r, "tree(movedown(;2), movedown(0/0/0/0/0/0/0/0/0/0/0/0/0;2), leafonly)",
                           1, extent);
    for (int64_t i = 0; i < 5; i++) {
        assert_int_equal(ha_mapping_offset(m, 0, &i), i * 4); /* of m there is half a copy */
        assert_int_equal(ha_mapping_offset(m, 1, &i), m->blob->bytes - 6 + i);
    }
    assert_int_equal(m->blob->bytes, 24 + 6);
    assert_int_equal(ha_mapping_check(m, NULL), HA_OK);
    ha_mapping_free(m);
    ha_record_free(r);
}

static void test_sizes(void **state) {
    (void)state;
    static const int64_t huge[] = {INT64_MAX, INT64_MAX}, large[] = {4294967296, 2147483648};
    static const int64_t none[] = {0, INT64_MAX}, one[] = {1, 1};
    static const struct {
        const char *layout;
        const int64_t *extent;
    } refused[] = {
        {"tree()", huge},
        {"tree()", large},
        {"tree(leafonly)", large},
        {"tree(movedown(;3))", huge},
        {"tree(movedown(0/0;9223372036854775807), movedown(0/0;9223372036854775807))", none},
        {"tree(movedown(0;9223372036854775807), leafonly, movedown(0;2))", one},
        {"tree(movedown(0/0;4611686018427387904), movedown(0;4), leafonly)", one},
    };
    ha_record *r = ha_record_parse("a.b:f64 c:u8", NULL);
    ha_error e;
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        ha_mapping *m = ha_mapping_parse(r, refused[k].layout, 2, refused[k].extent, &e);
        if (m) fail_msg("%s", m->text);
        assert_int_equal(e.status, HA_ERR_MEMORY);
        assert_string_equal(e.text, "more than 2^63 - 1 bytes");
    }
    ha_mapping *m = parsed(r, "tree(movedown(;3), leafonly)", 2, none); /* nothing is as large */
    assert_int_equal(m->blob->bytes, 0);
    assert_int_equal(ha_mapping_check(m, NULL), HA_OK);
    ha_mapping_free(m);
    ha_record_free(r);
}

static void test_functions(void **state) {
    (void)state;
    static const int64_t extent[] = {16, 16};
    ha_record *r = ha_record_parse(PARTICLE, NULL);
    ha_layout tree = {.kind = HA_LAYOUT_TREE};
    ha_error e;
    ha_mapping *m = ha_mapping_new(r, &tree, 2, extent, &e);
    assert_string_equal(m->text, "tree()");
    ha_mapping_free(m);
    tree.functors = " movedown(0 ; 4),leafonly ";
    const ha_layout turned = {.kind = HA_LAYOUT_PERMUTE, .dimension = {1, 0}, .first = &tree};
    m = ha_mapping_new(r, &turned, 2, extent, &e);
    assert_string_equal(m->text, "permute(1,0, tree(movedown(0;4), leafonly))");
    ha_mapping_free(m);
    tree.functors = "movedown(0;4)) ";
    assert_null(ha_mapping_new(r, &tree, 2, extent, &e));
    assert_string_equal(e.text, "at character 13: expected ',' or the end, found ')'");
    tree.functors = "idem, movedown(0/7;4)";
    assert_null(ha_mapping_new(r, &tree, 2, extent, &e));
    assert_string_equal(e.text, "at character 17: there is no such child");
    assert_int_equal(e.code, 17);
    tree.functors = "nothing";
    assert_null(ha_mapping_new(r, &tree, 2, extent, &e));
    assert_int_equal(e.code, 0);
    tree.kind = HA_LAYOUT_AOS;
    assert_null(ha_mapping_new(r, &tree, 2, extent, &e));
    assert_non_null(strstr(e.text, "functors do not fit"));
    ha_record_free(r);
}

/* ---- tables by hand ---------------------------------------------------------------------------- */

enum { ROWS = 2, STEPS = 8 };

/* A mapping of which everything may be changed. */
typedef struct table {
    ha_mapping m;
    ha_row row[ROWS];
    ha_branch branch[ROWS];
    ha_tree_step step[STEPS];
    ha_tree tree[1];
    ha_blob blob[2];
} table;

static table copied(const ha_mapping *m) {
    table t = {.m = *m};
    memcpy(t.row, m->row, sizeof t.row);
    memcpy(t.branch, m->branch, (size_t)m->branches * sizeof *t.branch);
    memcpy(t.step, m->tree_step, sizeof t.step);
    t.tree[0] = m->tree[0];
    t.blob[0] = t.blob[1] = m->blob[0];
    return t;
}

static void check_table(table t, const char *why) {
    ha_error e;
    t.m.row = t.row;
    t.m.branch = t.branch;
    t.m.tree_step = t.step;
    t.m.tree = t.tree;
    t.m.blob = t.blob;
    const ha_status s = ha_mapping_check(&t.m, &e);
    if (why ? !s || !strstr(e.text, why) : s) fail_msg("\"%s\" instead of \"%s\"", e.text, why);
}

static void test_by_hand(void **state) {
    (void)state;
    static const int64_t extent[] = {5, 6};
    static const char not_there[] = "a row is not where the tree has it";
    ha_record *r = ha_record_parse("a:f64 b.c:u8", NULL);
    ha_mapping *m = parsed(r, "tree(movedown(0;2), movedown(0/1;2), movedown(;2), movedown(;1))", 2,
                           extent);
    table t = copied(m);
    assert_int_equal(m->branches, 2);
    check_table(t, NULL);
    t.blob[0].bytes--;
    check_table(t, "of blob 0, which has");
#define CHANGED(change, why)                                                                       \
    t = copied(m);                                                                                 \
    change;                                                                                        \
    check_table(t, why)
    CHANGED(t.blob[0].bytes += t.row[0].base = t.row[1].base = 64;
            t.row[1].base += m->row[1].base, NULL);
    CHANGED(t.row[0].base = -8; t.row[1].base -= 8, "a takes bytes from -8");
    CHANGED(t.row[0].base = t.row[1].base = INT64_MAX - 8; t.row[1].base += 8, not_there);
    CHANGED(t.row[1].base++, not_there);
    CHANGED(t.row[1].blob = 1; t.m.blobs = 2, not_there);
    CHANGED(t.branch[0].stride[1]++, not_there);
    CHANGED(t.branch[0].nodes--, not_there);
    CHANGED(t.branch[1].steps--, not_there);
    CHANGED(t.step[0].from = 0, not_there);
    CHANGED(t.step[0].to++, not_there);
    CHANGED(t.step[1].copies++, not_there);
    CHANGED(t.step[1].every++, not_there);
    CHANGED(t.row[1].linearizer = -1, not_there);
    CHANGED(t.row[1].linearizer = -9, "a branch that does not exist");
    CHANGED(t.row[0].lane_stride = 4, "");
    CHANGED(t.branch[1].tree = 1, "a tree that does not exist");
    CHANGED(t.branch[1].tree = -1, "a tree that does not exist");
    CHANGED(t.tree[0].functors = NULL, "a tree has no functors");
    CHANGED(t.tree[0].functors = "movedown(0;3)", not_there);
    CHANGED(t.tree[0].functors = "movedown(4;3)", "there is no such child");
    CHANGED(t.tree[0].dimension[0] = 1, "a dimension of a tree is there twice");
    CHANGED(t.tree[0].dimension[1] = 2, "no such dimension");
    CHANGED(t.tree[0].dimension[1] = -1, "no such dimension");
    CHANGED(t.row[1].blob = -1, "there is no such child"); /* the tree is another one without it */
    CHANGED(t.m.trees = 0, "a linearizer that does not exist");
    ha_mapping_free(m);
    ha_record_free(r);
}

/* A row beside a tree, and between its values. */
static void test_beside(void **state) {
    (void)state;
    static const int64_t extent[] = {5};
    ha_record *r = ha_record_parse("a:u8 b:u8", NULL), *part = ha_record_parse("a:u8", NULL);
    ha_mapping *m = parsed(r, "split(a: tree(movedown(;2)), aos)", 1, extent);
    ha_row row[2] = {m->row[0], m->row[1]};
    ha_mapping other = *m;
    ha_error e;
    other.row = row;
    assert_int_equal(m->row[1].base, 6);
    row[1].base = 5; /* where a value would be, if there were more of them */
    row[1].block_stride = 4;
    ((ha_blob *)m->blob)->bytes = 100;
    assert_int_equal(ha_mapping_check(&other, &e), HA_OK);
    row[1].base = 4;
    assert_int_equal(ha_mapping_check(&other, &e), HA_ERR_ARGUMENT);
    assert_string_equal(e.text, "values of a and of b overlap at byte 4");
    ha_mapping_free(m);
    ha_record_free(part);
    ha_record_free(r);
}

/* ---- no memory --------------------------------------------------------------------------------- */

static void test_no_memory(void **state) {
    (void)state;
    static const int64_t extent[] = {5, 6};
    ha_record *r = ha_record_parse(PARTICLE, NULL);
    ha_mapping *m = NULL;
    const long before = allocated;
    char text[100];
    ha_error e;
    for (long k = 0; !m; k++) {
        until_failure = k;
        m = ha_mapping_parse(r, "split(pos: tree(movedown(;2)), tree(leafonly))", 2, extent, &e);
        if (m) break;
        assert_int_equal(e.status, HA_ERR_MEMORY);
        assert_int_equal(allocated, before);
    }
    until_failure = 0;
    assert_int_equal(ha_mapping_tree_text(m, 1, text, sizeof text), -1);
    assert_int_equal(ha_mapping_json(m, NULL, text, sizeof text), -1);
    assert_int_equal(ha_mapping_device_text(m, "sky", text, sizeof text), -1);
    for (long k = 0; k < 3; k++) {
        until_failure = k;
        assert_int_equal(ha_mapping_check(m, &e), HA_ERR_MEMORY);
    }
    until_failure = -1;
    assert_int_equal(ha_mapping_check(m, &e), HA_OK);
    ha_mapping_free(m);
    ha_record_free(r);
    assert_int_equal(allocated, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_ragged),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_runs_are_found_at_once),
        cmocka_unit_test(test_random_functors),
        cmocka_unit_test(test_inside),
        cmocka_unit_test(test_computed),
        cmocka_unit_test(test_users),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_many_functors),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_beside),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_behind),
        cmocka_unit_test(test_device_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
