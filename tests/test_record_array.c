/* Record arrays: what is moved, and that it arrives, between layouts of all kinds, on the host and on
 * simulated devices; chunks, ranges, other extents, the caller's memory. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#define HA_RECORDS_PART_BYTES 4096 /* so that there are many parts */
#include "../records.h"

#include <setjmp.h>
#include <cmocka.h>

#include "invariants.h"

enum { N = 1000, LEAVES = 7, BYTES = 3 * 8 + 2 * 4 + 2 + 4 };

static ha_record *record;

static const char *const layouts[] = {
    "aos",
    "soa",
    "aosoa(8)",
    "aosoa(32)",
    "soa(single)",
    "aos(packed)",
    "aos@col",
    "split(separate; pos: soa, aos)",
    "aosoa(16)@col",
    "bytesplit(soa)",
    "byteswap(aos)",
    "soa@morton",
    "tree(movedown(0;4))",
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static int make(void **state) {
    (void)state;
    record = ha_record_parse("pos.x:f64 pos.y:f64 mass:f32 flag:u16 vel.x:f64 vel.y:f32 id:i32",
                             NULL);
    return !record;
}

static int end(void **state) {
    (void)state;
    ha_record_free(record);
    return ha_shutdown();
}

static void fine(ha_status s) {
    if (!s) return;
    fprintf(stderr, "%s\n", ha_take_error().text);
    fail();
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The value of a leaf of a record, in a round: any of them differs from all others, as far as the type
 * has that many. */
static void set_value(const ha_mapped *m, int64_t leaf, const int64_t *index, int round) {
    const double number = (double)(leaf * 9000 + index[0] * 100 + index[1] % 100 + round * 7);
    const float narrow = (float)number;
    const int32_t whole = (int32_t)number;
    const uint16_t small = (uint16_t)number;
    const void *const values[LEAVES] = {&number, &number, &narrow, &small,
                                        &number, &narrow, &whole};
    ha_mapped_set(m, leaf, index, values[leaf]);
}

static int is_value(const ha_mapped *m, int64_t leaf, const int64_t *index, int round) {
    char expected[8] = {0}, found[8] = {0};
    void *blob = expected;
    const ha_row row = {.lanes = 1, .section = -1};
    const ha_linearizer z = {.rank = 1, .pad = 1};
    ha_row rows[LEAVES];
    for (int i = 0; i < LEAVES; i++) rows[i] = row;
    for (int i = 0; i < LEAVES; i++) rows[i].scalar = (int32_t)m->mapping->row[i].scalar;
    const ha_mapping one = {.record = record,
                            .rank = m->mapping->rank,
                            .extent = {1, 1, 1, 1},
                            .blobs = 1,
                            .rows = LEAVES,
                            .row = rows,
                            .linearizer = &z};
    const ha_mapped place = {&one, &blob};
    set_value(&place, leaf, index, round);
    ha_mapped_get(m, leaf, index, found);
    return !memcmp(expected, found, sizeof found);
}

/* A function on a queue: sets or looks at leaves of the records [first, last). */
typedef struct job {
    const ha_mapping *mapping;
    void *blob[40];
    int64_t first, last;
    unsigned leaves;
    int round, writes;
    int *wrong;
} job;

static void work(const ha_queue *here, void *argument) {
    const job *j = argument;
    void *blob[40];
    const ha_mapped m = {j->mapping, blob};
    (void)here;
    for (int b = 0; b < j->mapping->blobs; b++) blob[b] = HA_HERE(here, void, j->blob[b]);
    int64_t at[4] = {0};
    for (at[0] = j->first; at[0] < j->last; at[0]++)
        for (at[1] = 0; at[1] < j->mapping->extent[1]; at[1]++)
            for (int64_t leaf = 0; leaf < LEAVES; leaf++) {
                if (!(j->leaves >> leaf & 1)) continue;
                if (j->writes)
                    set_value(&m, leaf, at, j->round);
                else
                    *j->wrong += !is_value(&m, leaf, at, j->round);
            }
}

static int run(ha_records *r, ha_context *c, const char *what, unsigned leaves, int64_t first,
               int64_t last, int round) {
    ha_records_access v;
    static int wrong;
    wrong = 0;
    fine(ha_records_open(&v, r, c, what, (size_t)first, (size_t)last));
    check_invariants(r->array);
    job j = {.mapping = v.mapping,
             .first = first,
             .last = last,
             .leaves = leaves,
             .round = round,
             .writes = !strstr(what, "read"),
             .wrong = &wrong};
    assert_true(v.mapping->blobs <= 40);
    memcpy(j.blob, v.blob, (size_t)v.mapping->blobs * sizeof *v.blob);
    fine(ha_records_run_(work, &v, &j, sizeof j));
    fine(ha_records_close(&v));
    fine(ha_context_finish(c));
    check_invariants(r->array);
    return wrong;
}

/* ---- there and back -------------------------------------------------------------------------- */

static void there_and_back(const char *host, const char *device, int rank, const int64_t *extent) {
    ha_context *sim = ha_context_find("sim:0");
    ha_records *r = ha_records_new(record, rank, extent, host);
    const int64_t n = extent[0], records = rank > 1 ? n * extent[1] : n;
    assert_non_null(r);
    fine(ha_records_layout_(r, sim, device, "test"));
    run(r, ha_host(), "overwrite", 127, 0, n, 1);
    assert_int_equal(0, run(r, sim, "read pos+mass", 7, 0, n, 1));
    assert_true(ha_records_statistics(r).bytes == (uint64_t)records * 20);
    assert_true(ha_records_valid(r, sim, "pos+mass", 0, HA_END));
    assert_false(ha_records_valid(r, sim, "flag", 0, HA_END));
    /* written on the device, in part; the rest is the host's */
    run(r, sim, "overwrite vel, write id", 16 + 32 + 64, n / 3, n - n / 4, 2);
    assert_int_equal(0, run(r, ha_host(), "read", 127, 0, n / 3, 1));
    assert_int_equal(0, run(r, ha_host(), "read", 112, n / 3, n - n / 4, 2));
    assert_int_equal(0, run(r, ha_host(), "read", 15, 0, n, 1));
    assert_int_equal(0, run(r, ha_host(), "read", 127, n - n / 4, n, 1));
    assert_int_equal(0, run(r, sim, "read", 112, n / 3, n - n / 4, 2));
    assert_int_equal(0, run(r, sim, "read", 15, 0, n, 1));
    fine(ha_records_free(r));
}

static void every_pair_of_layouts(void **state) {
    (void)state;
    const int64_t line[] = {333}, plane[] = {19, 13};
    for (int i = 0; i < LAYOUTS; i++)
        for (int j = 0; j < LAYOUTS; j++) {
            if (!strstr(layouts[i], "tree") && !strstr(layouts[j], "tree"))
                there_and_back(layouts[i], layouts[j], 1, line);
            there_and_back(layouts[i], layouts[j], 2, plane);
        }
}

/* ---- two devices ----------------------------------------------------------------------------- */

static void between_devices(void **state) {
    (void)state;
    const int64_t n[] = {N};
    ha_context *one = ha_context_find("sim:0"), *two = ha_context_find("sim:1");
    ha_records *r = ha_records_new(record, 1, n, NULL);
    fine(ha_records_layout_(r, one, "soa", "test"));
    fine(ha_records_layout_(r, two, "aosoa(16)", "test"));
    run(r, one, "overwrite", 127, 0, N, 3);
    assert_int_equal(0, run(r, two, "read vel", 48, 10, 500, 3));
    assert_true(ha_records_valid(r, ha_host(), "vel", 10, 500)); /* by way of the host */
    assert_false(ha_records_valid(r, ha_host(), "pos", 10, 500));
    run(r, two, "write vel.x", 16, 0, 100, 4);
    assert_int_equal(0, run(r, one, "read vel.x", 16, 0, 100, 4));
    assert_int_equal(0, run(r, one, "read", 111, 0, N, 3));
    fine(ha_records_layout_(r, one, "aos", "test"));
    assert_int_equal(0, run(r, one, "read", 111, 0, N, 3));
    fine(ha_records_free(r));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(between_devices),
        cmocka_unit_test(every_pair_of_layouts),
    };
    return cmocka_run_group_tests(tests, make, end);
}
