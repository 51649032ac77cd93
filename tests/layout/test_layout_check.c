/* Tables that were written by hand, for memory that is laid out by somebody else: what overlaps, lies
 * outside or makes no sense is told; runs in them. */
#include "../support/layout_memory.h"
#include "../../layout.h"

#include <setjmp.h>
#include <cmocka.h>

/* A table that tests change: 5 x 4 records {a: f64, b: f32} in row order. */
typedef struct table {
    ha_mapping m;
    ha_row row[2];
    ha_linearizer linearizer[2];
    ha_blob blob[2];
} table;

static ha_record *record;

static table structs(void) {
    table t = {.row = {{.block_stride = 16, .lane_stride = 16, .lanes = 1, .section = -1},
                       {.base = 8, .block_stride = 16, .lanes = 1, .section = -1}},
               .linearizer = {{.rank = 2, .stride = {4, 1}, .dimension = {0, 1}, .pad = 1},
                              {.rank = 2, .stride = {1, 5}, .dimension = {1, 0}, .pad = 1}},
               .blob = {{320, 8}, {320, 8}}};
    t.m = (ha_mapping){.record = record,
                       .text = "by hand",
                       .rank = 2,
                       .blobs = 2,
                       .linearizers = 2,
                       .extent = {5, 4, 1, 1},
                       .rows = 2};
    return t;
}

static ha_status check(table *t, ha_error *e) {
    t->m.row = t->row;
    t->m.linearizer = t->linearizer;
    t->m.blob = t->blob;
    assert_int_equal(ha_mapping_check(&t->m, NULL), ha_mapping_check(&t->m, e));
    assert_int_equal(allocated, 1); /* the record */
    return e->status;
}

static void good(table *t) {
    ha_error e;
    if (check(t, &e) != HA_OK) fail_msg("%s", e.text);
}

static void bad(table *t, const char *why) {
    ha_error e;
    assert_int_equal(check(t, &e), HA_ERR_ARGUMENT);
    if (!strstr(e.text, why)) fail_msg("\"%s\" instead of \"%s\"", e.text, why);
    assert_string_equal(e.operation, "ha_mapping_check");
}

static void test_apart(void **state) {
    (void)state;
    table t = structs();
    good(&t);
    t.row[0].blob = 1; /* each in its own */
    t.row[1].base = 0;
    t.row[1].block_stride = 4;
    good(&t);
    t.row[1].blob = -1;
    good(&t);
    t = structs();
    t.row[1].linearizer = 1; /* one by rows, one by columns: never the same bytes of a struct */
    good(&t);
    t = structs();
    t.row[0].block_stride = 24; /* backwards through a blob, interleaved */
    t.row[0].base = 0;
    t.row[1].block_stride = -24;
    t.row[1].base = 19 * 24 + 8;
    t.blob[0].bytes = 480;
    good(&t);
    t = structs();
    t.m.extent[0] = 0;
    t.blob[0].bytes = 0;
    good(&t);
}

/* Values of one row that mingle with another's at different distances are looked at one by one. */
static void test_mingling(void **state) {
    (void)state;
    table t = structs();
    t.row[1].base = 12;
    t.row[1].block_stride = 32; /* 12, 44, … 620 between 0 … 312 */
    t.blob[0].bytes = 624;
    good(&t);
    t.row[1].base = 4;
    bad(&t, "values of a and of b overlap at byte 4");
    t.row[1].base = 8;
    t.row[1].block_stride = 20;
    bad(&t, "overlap at byte 48");
    t.row[1].block_stride = 16;
    t.row[1].base = 6;
    bad(&t, "overlap at byte 6");
    t.row[1].base = 8 + 160; /* on the circle at the same place as before */
    t.blob[0].bytes = 480;
    good(&t);
    t.row[1].base = 14; /* reaches into the next struct, so on the circle over its end */
    bad(&t, "overlap at byte 16");
}

static void test_itself(void **state) {
    (void)state;
    table t = structs();
    t.row[0].block_stride = 0;
    bad(&t, "values of a and of a overlap at byte 0");
    t.m.extent[0] = t.m.extent[1] = 1;
    good(&t);
    t = structs();
    t.row[0].block_stride = 7;
    bad(&t, "values of a and of a overlap at byte 7");
    t = structs();
    t.linearizer[0].stride[0] = 3; /* (0, 3) is (1, 0) */
    bad(&t, "overlap");
    t.linearizer[0].stride[0] = 5; /* a padded row */
    t.blob[0].bytes = 16 * 24;
    good(&t);
    t.linearizer[0].stride[0] = 2; /* 0 … 3 and 0, 2, … */
    bad(&t, "overlap");
    t = structs(); /* not nested, but all different: 0, 3, 6, … and 0, 5, 10, 15, with 3 x 2 records */
    t.m.extent[0] = 3;
    t.m.extent[1] = 2;
    t.linearizer[0].stride[0] = 3;
    t.linearizer[0].stride[1] = 5;
    good(&t);
    t.linearizer[0].stride[1] = 6;
    bad(&t, "overlap");
}

static void test_lanes(void **state) {
    (void)state;
    table t = structs();
    t.row[0].lanes = t.row[1].lanes = 4;
    t.row[0].block_stride = t.row[1].block_stride = 48;
    t.row[0].lane_stride = 8;
    t.row[1].lane_stride = 4;
    t.row[1].base = 32;
    t.blob[0].bytes = 240;
    good(&t);
    t.blob[0].bytes = 239;
    bad(&t, "b takes bytes from 32 to 240 of blob 0, which has 239");
    t.blob[0].bytes = 240;
    t.row[1].base = 28;
    bad(&t, "overlap at byte 28");
    t.row[1].base = 32;
    t.row[0].lane_stride = 4;
    bad(&t, "values of a and of a overlap at byte 4");
    t.row[0].lane_stride = 12; /* with b in the gaps */
    t.row[1].lane_stride = 12;
    t.row[1].base = 8;
    good(&t);
    t.row[0].lane_stride = -12;
    t.row[0].base = 36;
    good(&t);
    t.row[0].base = 24;
    bad(&t, "a takes bytes from -12 to");
}

static void test_outside(void **state) {
    (void)state;
    table t = structs();
    t.blob[0].bytes = 315;
    bad(&t, "b takes bytes from 8 to 316 of blob 0, which has 315");
    t.blob[0].bytes = 316;
    good(&t);
    t.row[0].base = -1;
    bad(&t, "a takes bytes from -1 to 311");
    t.row[0].base = INT64_MAX - 4;
    bad(&t, "the addresses of a overflow");
    t.row[0].base = 0;
    t.row[0].block_stride = INT64_MAX / 4;
    bad(&t, "the addresses of a overflow");
    t = structs();
    t.linearizer[0].stride[0] = INT64_MAX / 2;
    bad(&t, "the addresses of a overflow");
    t = structs();
    t.linearizer[0].morton = 1;
    t.linearizer[0].stride[0] = 0;
    t.m.extent[1] = INT64_MAX;
    bad(&t, "the addresses of a overflow");
}

static void test_morton(void **state) {
    (void)state;
    table t = structs();
    t.linearizer[0] = (ha_linearizer){
        .morton = 1, .rank = 2, .stride = {1, 0}, .dimension = {0, 1}, .pad = 1};
    t.blob[0].bytes = (34 + 1) * 16; /* (4, 0) is 32, (4, 3) is 37, (3, 3) is 15 */
    bad(&t, "which has 560");
    t.blob[0].bytes = 38 * 16;
    good(&t);
    t.linearizer[0].stride[0] = 0;
    bad(&t, "a stride is there twice");
    t.linearizer[0].stride[0] = 2;
    bad(&t, "a stride makes no sense");
}

/* Sums that are no number any more, one after the other. */
static void test_overflow(void **state) {
    (void)state;
    static const char *const why = "the addresses of a overflow";
    const int64_t far = INT64_MAX / 4;
    table t = structs();
    t.m.extent[0] = 3;
    t.linearizer[0].stride[0] = far; /* 2 * far + 3 … */
    t.linearizer[0].stride[1] = far;
    bad(&t, why);
    t = structs();
    t.row[0].lanes = 20;
    t.row[0].lane_stride = far;
    bad(&t, why);
    t.row[0].lanes = 4;
    t.row[0].lane_stride = INT64_MAX / 3;
    t.row[0].block_stride = far;
    bad(&t, why);
    t.row[0].block_stride = INT64_MAX / 8; /* the lanes of the last block but one */
    t.row[0].lane_stride = INT64_MAX / 5;
    bad(&t, why);
    t = structs();
    t.row[0].base = INT64_MAX - 100;
    bad(&t, why);
    t = structs();
    t.linearizer[0].morton = -1;
    bad(&t, "a linearizer makes no sense");
    t = structs();
    t.row[0].lanes = INT64_MAX / 4; /* more values of a block than there are */
    t.row[0].lane_stride = 16;
    good(&t);
    t.row[1].block_stride = 32; /* mingles */
    t.blob[0].bytes = 1000;
    good(&t);
    t.row[1].base = 4;
    bad(&t, "values of a and of b overlap at byte 4");
}

static void test_nonsense(void **state) {
    (void)state;
    table t = structs();
    t.m.rows = 1;
    bad(&t, "not a row for each leaf");
    t = structs();
    t.m.rank = 5;
    bad(&t, "rank 5");
    t = structs();
    t.m.extent[1] = -1;
    bad(&t, "extent 1 is -1");
    t = structs();
    t.row[1].blob = 2;
    bad(&t, "in a blob that does not exist");
    t = structs();
    t.row[1].linearizer = 2;
    bad(&t, "a linearizer that does not exist");
    t.row[1].linearizer = -1;
    bad(&t, "a linearizer that does not exist");
    t = structs();
    t.row[1].lanes = 0;
    bad(&t, "no lanes");
    t = structs();
    t.linearizer[1].rank = 1;
    bad(&t, "a linearizer makes no sense");
    t = structs();
    t.linearizer[1].morton = 2;
    bad(&t, "a linearizer makes no sense");
    t = structs();
    t.linearizer[1].stride[1] = -1;
    bad(&t, "a stride makes no sense");
    t = structs();
    t.linearizer[1].dimension[0] = 0;
    bad(&t, "a dimension is there twice");
    t = structs();
    t.linearizer[1].dimension[0] = 2;
    bad(&t, "no such dimension");
    t.linearizer[1].dimension[0] = -1;
    bad(&t, "no such dimension");
    t = structs();
    t.m.record = NULL;
    bad(&t, "no fields");
}

static void test_failing_memory(void **state) {
    (void)state;
    table t = structs();
    ha_error e;
    for (until_failure = 0; until_failure < 2;) {
        const long k = until_failure;
        t.row[1].base = 6; /* both the rows and the values */
        t.m.row = t.row;
        t.m.linearizer = t.linearizer;
        t.m.blob = t.blob;
        assert_int_equal(ha_mapping_check(&t.m, &e), HA_ERR_MEMORY);
        assert_int_equal(allocated, 1);
        until_failure = k + 1;
    }
    until_failure = -1;
    bad(&t, "overlap");
    /* more values than there are bytes */
    t.m.extent[0] = t.m.extent[1] = (int64_t)1 << 31;
    t.linearizer[0].stride[0] = 1;
    t.row[0].block_stride = t.row[1].block_stride = 8;
    t.blob[0].bytes = INT64_MAX;
    assert_int_equal(check(&t, &e), HA_ERR_MEMORY);
    t.m.extent[0] = (int64_t)1 << 40;
    t.m.extent[1] = (int64_t)1 << 40;
    assert_int_equal(check(&t, &e), HA_ERR_MEMORY);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void check_run(table *t, int64_t leaf, int64_t i, int64_t j,
                      const ha_run_of_values *expect) {
    const int64_t at[] = {i, j};
    ha_run_of_values run;
    t->m.row = t->row;
    t->m.linearizer = t->linearizer;
    t->m.blob = t->blob;
    assert_int_equal(ha_mapping_run_of_values(&t->m, leaf, at, &run), HA_OK);
    assert_memory_equal(&run, expect, sizeof run);
}

static void test_runs(void **state) {
    (void)state;
    table t = structs();
    check_run(&t, 1, 2, 1, &(ha_run_of_values){0, 1, 9 * 16 + 8, 16, 3});
    t.row[1].linearizer = 1;
    check_run(&t, 1, 2, 1, &(ha_run_of_values){0, 0, 7 * 16 + 8, 16, 3});
    t.linearizer[1].stride[0] = 2; /* every other struct */
    check_run(&t, 1, 3, 1, &(ha_run_of_values){0, 0, 11 * 16 + 8, 32, 2});
    t.row[1].lanes = 3;
    check_run(&t, 1, 3, 1, &(ha_run_of_values){0, 0, 3 * 16 + 8, 0, 1});
    t = structs();
    t.row[0].lanes = 3;
    t.row[0].lane_stride = 8;
    t.row[0].block_stride = 40;
    check_run(&t, 0, 1, 0, &(ha_run_of_values){0, 1, 48, 8, 2}); /* 4 and 5 of 3, 4, 5 | 6, 7, 8 */
    check_run(&t, 0, 1, 1, &(ha_run_of_values){0, 1, 56, 0, 1});
    check_run(&t, 0, 1, 2, &(ha_run_of_values){0, 1, 80, 8, 2});
    t.row[0].block_stride = 24; /* blocks without gaps are none */
    check_run(&t, 0, 1, 0, &(ha_run_of_values){0, 1, 32, 8, 4});
    t.row[0].blob = -1;
    check_run(&t, 0, 1, 0, &(ha_run_of_values){.blob = -1, .count = 1});
}

static void test_morton_runs(void **state) {
    (void)state;
    table t = structs();
    t.linearizer[0] = (ha_linearizer){
        .morton = 1, .rank = 2, .stride = {1, 0}, .dimension = {0, 1}, .pad = 1};
    check_run(&t, 0, 1, 2, &(ha_run_of_values){0, 1, 6 * 16, 16, 2});
    check_run(&t, 0, 1, 1, &(ha_run_of_values){0, 1, 3 * 16, 0, 1});
    t.m.extent[1] = 3;
    check_run(&t, 0, 1, 2, &(ha_run_of_values){0, 1, 6 * 16, 0, 1});
}

static void test_wrong_runs(void **state) {
    (void)state;
    static const int64_t wrong[][2] = {{5, 0}, {0, 4}, {-1, 0}, {0, -1}};
    const int64_t right[] = {4, 3};
    table t = structs();
    ha_run_of_values run = {.count = 77};
    t.m.row = t.row;
    for (int k = 0; k < 4; k++)
        assert_int_equal(ha_mapping_run_of_values(&t.m, 0, wrong[k], &run), HA_ERR_ARGUMENT);
    assert_int_equal(ha_mapping_run_of_values(&t.m, 2, right, &run), HA_ERR_ARGUMENT);
    assert_int_equal(ha_mapping_run_of_values(&t.m, -1, right, &run), HA_ERR_ARGUMENT);
    assert_int_equal(run.count, 77);
}

static int make_record(void **state) {
    (void)state;
    record = ha_record_parse("a:f64 b:f32", NULL);
    return !record;
}

static int free_record(void **state) {
    (void)state;
    ha_record_free(record);
    return allocated != 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overflow),       cmocka_unit_test(test_apart),
        cmocka_unit_test(test_mingling),       cmocka_unit_test(test_itself),
        cmocka_unit_test(test_lanes),          cmocka_unit_test(test_outside),
        cmocka_unit_test(test_morton),         cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_failing_memory), cmocka_unit_test(test_runs),
        cmocka_unit_test(test_morton_runs),    cmocka_unit_test(test_wrong_runs),
    };
    return cmocka_run_group_tests(tests, make_record, free_record);
}
