/* Record arrays: what is moved, and that it arrives, between layouts of all kinds, on the host and on
 * simulated devices; chunks, ranges, other extents, the caller's memory. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>

static _Thread_local long until_allocation; /* n > 0: the n-th one from now on meets this */
static void (*at_allocation)(void);         /* is called first; NULL: it fails */

static void *counted_realloc(void *memory, size_t bytes) {
    if (until_allocation > 0 && --until_allocation == 0) {
        if (!at_allocation) return NULL;
        at_allocation();
    }
    return realloc(memory, bytes);
}

static _Thread_local void (*at_free)(void), (*at_yield)(void); /* NULL: nothing */

static void noted_free(void *memory) {
    if (at_free) at_free();
    free(memory);
}

/* Whoever finds a spin lock taken calls it now and then. */
static int noted_yield(void) {
    if (at_yield) at_yield();
    return sched_yield();
}

#define sched_yield noted_yield
#define HARRAY_MALLOC(bytes) counted_realloc(NULL, bytes)
#define HARRAY_REALLOC counted_realloc
#define HARRAY_FREE noted_free
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#define HA_RECORDS_PART_BYTES_ 4096 /* so that there are many parts */
#include "../support/own_calls.h"
#include "../support/own_memory.h"

#include "../../harray_records.h"

#include <setjmp.h>
#include <cmocka.h>

#include "../support/invariants.h"
#include "../support/share.h"

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
    return ha_shutdown() != HA_OK;
}

static void fine(ha_status s) {
    if (!s) return;
    fprintf(stderr, "%s\n", ha_take_error().text);
    fail();
}

static void says(ha_status status, ha_status s, const char *words) {
    const ha_error error = ha_take_error();
    if (s != status || !strstr(error.text, words)) fail_msg("%d: %s", s, error.text);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The value of a leaf of a record, in a round: any of them differs from all others, as far as the type
 * has that many. */
static void set_value(const ha_mapped *m, int64_t leaf, const int64_t *index, int round) {
    const double number = (double)(leaf * 9000 + index[0] * 100 + index[1] % 100 + index[2] * 13 +
                                   round * 7);
    const float narrow = (float)number;
    const int32_t whole = (int32_t)number;
    const uint16_t small = (uint16_t)whole;
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
    for (int i = 0; i < LEAVES; i++) rows[i].type = (int32_t)m->mapping->row[i].type;
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
            for (at[2] = 0; at[2] < j->mapping->extent[2]; at[2]++)
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
    fine(ha_records_run(work, &v, &j, sizeof j));
    fine(ha_records_close(&v));
    fine(ha_context_finish(c));
    check_invariants(r->array);
    return wrong;
}

/* ---- there and back -------------------------------------------------------------------------- */

static void there_and_back(const char *host, const char *device, int rank, const int64_t *extent) {
    ha_context *sim = ha_context_find("sim:0");
    ha_records *r = ha_records_new(record, rank, extent, host);
    const int64_t n = extent[0],
                  records = n * (rank > 1 ? extent[1] : 1) * (rank > 2 ? extent[2] : 1);
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
    /* all fields of some records */
    run(r, sim, "overwrite", 127, n / 4, n / 2, 3);
    assert_int_equal(0, run(r, ha_host(), "read", 127, n / 4, n / 2, 3));
    run(r, ha_host(), "overwrite", 127, n / 5, n / 2 + 1, 4);
    assert_int_equal(0, run(r, sim, "read", 127, n / 5, n / 2 + 1, 4));
    fine(ha_records_free(r));
}

static void every_pair_of_layouts(void **state) {
    (void)state;
    const int64_t line[] = {333}, plane[] = {19, 13};
    for (int i = 0; i < LAYOUTS; i++)
        for (int j = 0; j < LAYOUTS; j++) {
            if (!is_tried(i, j)) continue;
            if (!strstr(layouts[i], "tree") && !strstr(layouts[j], "tree"))
                there_and_back(layouts[i], layouts[j], 1, line);
            there_and_back(layouts[i], layouts[j], 2, plane);
        }
}

/* As many rows as columns, by rows here and by columns there; and boxes that are cut in several ways. */
static void squares_and_cubes(void **state) {
    (void)state;
    static const char *const some[] = {"aos",
                                       "soa",
                                       "soa@col",
                                       "aosoa(8)",
                                       "soa@morton",
                                       "aosoa(16)@col",
                                       "aosoa(8,rows)",
                                       "permute(1,0, soa)",
                                       "split(separate; pos: soa@col, aosoa(8))"};
    enum { SOME = sizeof some / sizeof *some };
    for (int i = 0; i < SOME; i++)
        for (int j = 0; j < SOME; j++) {
            if (!is_tried(i, j)) continue;
            there_and_back(some[i], some[j], 2, (int64_t[]){16, 16});
            if (!strstr(some[i], "permute") && !strstr(some[j], "permute"))
                there_and_back(some[i], some[j], 3, (int64_t[]){5, 6, 7});
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

/* ---- the caller's memory --------------------------------------------------------------------- */

static void several_arrays_are_one_record_array(void **state) {
    (void)state;
    const int64_t n = N;
    ha_context *sim = ha_context_find("sim:0");
    ha_mapping *m = ha_mapping_parse(record, "soa", 1, &n, NULL);
    void *blob[LEAVES];
    int64_t at[4] = {0};
    for (int b = 0; b < LEAVES; b++) assert_non_null(blob[b] = malloc((size_t)m->blob[b].bytes));
    const ha_mapped arrays = {m, blob};
    for (at[0] = 0; at[0] < N; at[0]++)
        for (int64_t leaf = 0; leaf < LEAVES; leaf++) set_value(&arrays, leaf, at, 1);
    ha_records *r = ha_records_wrap(&arrays, NULL, 0);
    assert_non_null(r);
    assert_null(ha_records_wrap(&arrays, NULL, 0)); /* they have an owner */
    assert_int_equal(HA_ERR_STATE, ha_take_error().status);
    assert_int_equal(HA_ERR_STATE, ha_records_resize(r, &(int64_t){N + 1}));
    assert_int_equal(HA_ERR_STATE, ha_records_layout_(r, NULL, "aos", "test"));
    (void)ha_take_error();
    fine(ha_records_layout_(r, sim, "aosoa(4)", "test"));
    assert_int_equal(0, run(r, sim, "read", 127, 0, N, 1));
    run(r, sim, "write mass+vel", 4 + 48, 5, 77, 2);
    fine(ha_records_sync(r));
    for (at[0] = 0; at[0] < N; at[0]++)
        for (int64_t leaf = 0; leaf < LEAVES; leaf++) {
            const int changed = (52 >> leaf & 1) && at[0] >= 5 && at[0] < 77;
            assert_true(is_value(&arrays, leaf, at, 1 + changed));
        }
    run(r, sim, "write", 127, 0, N, 3);
    fine(ha_records_unwrap(r));
    for (at[0] = 0; at[0] < N; at[0]++)
        for (int64_t leaf = 0; leaf < LEAVES; leaf++) assert_true(is_value(&arrays, leaf, at, 3));
    ha_records *c = ha_records_wrap(&arrays, NULL, HA_WRAP_CONST);
    ha_records_access v;
    assert_non_null(c);
    assert_int_equal(HA_ERR_STATE, ha_records_open(&v, c, NULL, "write mass", 0, HA_END));
    (void)ha_take_error();
    assert_int_equal(0, run(c, sim, "read id", 64, 3, 9, 3));
    fine(ha_records_unwrap(c));
    free(blob[3]);
    blob[3] = blob[2];
    assert_null(ha_records_wrap(&arrays, NULL, 0)); /* two fields in one memory */
    assert_int_equal(HA_ERR_ARGUMENT, ha_take_error().status);
    blob[3] = NULL;
    assert_null(ha_records_wrap(&arrays, NULL, 0));
    assert_int_equal(HA_ERR_ARGUMENT, ha_take_error().status);
    for (int b = 0; b < LEAVES; b++)
        if (b != 3) free(blob[b]);
    ha_mapping_free(m);
}

/* A struct of which the record knows not all: what it does not know is never written. */
static void what_lies_between_fields_stays(void **state) {
    (void)state;
    typedef struct cell {
        double a;
        int32_t unknown, b;
    } cell;
    enum { CELLS = 100 };
    static cell cells[CELLS];
    const ha_field field[] = {{.path = "a", .type = HA_DTYPE_double, .offset = 0},
                              {.path = "b", .type = HA_DTYPE_int32_t, .offset = 12}};
    const ha_record described = {"cell", sizeof(cell), _Alignof(cell), 2, field};
    const ha_linearizer z = {.rank = 1, .stride = {1}, .dimension = {0}, .pad = 1, .count = CELLS};
    const ha_row row[] = {{.block_stride = sizeof(cell), .lanes = 1, .type = HA_DTYPE_double},
                          {.base = 12,
                           .offset = 12,
                           .block_stride = sizeof(cell),
                           .lanes = 1,
                           .type = HA_DTYPE_int32_t}};
    const ha_blob bytes = {sizeof cells, 8};
    const ha_mapping m = {.record = &described,
                          .rank = 1,
                          .blobs = 1,
                          .linearizers = 1,
                          .extent = {CELLS, 1, 1, 1},
                          .rows = 2,
                          .row = row,
                          .linearizer = &z,
                          .blob = &bytes};
    void *blob = cells;
    const ha_mapped memory = {&m, &blob};
    ha_context *sim = ha_context_find("sim:0");
    ha_records *r = ha_records_wrap(&memory, NULL, 0);
    ha_records_access v;
    assert_non_null(r);
    for (int i = 0; i < CELLS; i++) cells[i] = (cell){i, 7, -i};
    fine(ha_records_open(&v, r, sim, "write", 0, HA_END));
    fine(ha_records_close(&v));
    fine(ha_context_finish(sim));
    for (int i = 0; i < CELLS; i++) cells[i] = (cell){0, 8, 0};
    fine(ha_records_unwrap(r));
    for (int64_t i = 0; i < CELLS; i++)
        assert_true(cells[i].a == (double)i && cells[i].unknown == 8 && cells[i].b == -i);
}

/* ---- changes --------------------------------------------------------------------------------- */

static ha_array *looked_at; /* the array to be, locked by whoever looks for unused blocks */
static uint64_t looked_version;
static uint32_t looked_ranges;

/* It has the values, and is going to take the place of the one before. */
static void look_at_the_next(void) {
    ha_array *a = ha_array_of_alive(ha_host_memory.pool.alive);
    if (!a->first.block || a->version) return;
    at_free = NULL;
    looked_at = a;
    ha_lock(a);
}

/* Somebody waits for the lock. */
static void end_looking(void) {
    ha_array *a = looked_at;
    if (!a) return;
    looked_at = NULL;
    looked_version = a->version;
    looked_ranges = a->first.valid.n;
    ha_unlock(a);
}

/* All that says that there are values is changed under the lock, at once. */
static void locked_when_it_gets_its_values(void **state) {
    (void)state;
    ha_records *r = ha_records_new(record, 1, (int64_t[]){10}, NULL);
    run(r, ha_host(), "overwrite", 127, 0, 10, 1);
    looked_version = looked_ranges = 1;
    at_free = look_at_the_next;
    at_yield = end_looking;
    fine(ha_records_resize(r, (int64_t[]){8}));
    at_free = at_yield = NULL;
    assert_null(looked_at);
    assert_int_equal(looked_version, 0);
    assert_int_equal(looked_ranges, 0);
    assert_int_equal(0, run(r, ha_host(), "read", 127, 0, 8, 1));
    fine(ha_records_free(r));
}

static void other_extents_keep_values(void **state) {
    (void)state;
    ha_context *sim = ha_context_find("sim:0");
    ha_records *r = ha_records_new(record, 2, (int64_t[]){10, 8}, NULL);
    ha_records_set_name(r, "grid");
    fine(ha_records_layout_(r, sim, "soa", "test"));
    run(r, ha_host(), "overwrite pos", 3, 0, 10, 1);
    run(r, sim, "overwrite vel", 48, 2, 7, 2);
    const uint64_t version = ha_records_version(r);
    fine(ha_records_resize(r, ((int64_t[]){12, 5})));
    assert_true(ha_records_version(r) > version);
    assert_string_equal("grid", ha_records_name(r));
    assert_int_equal(60, ha_records_size(r));
    assert_int_equal(0, run(r, ha_host(), "read pos", 3, 0, 10, 1));
    assert_int_equal(0, run(r, sim, "read vel", 48, 2, 7, 2));
    ha_records_access v;
    assert_int_equal(HA_ERR_STATE, ha_records_open(&v, r, sim, "read pos.x", 9, 11));
    assert_non_null(strstr(ha_take_error().text, "pos.x[10, 11) x [0, 5) were never written"));
    fine(ha_records_open(&v, r, sim, "read pos", 0, 3));
    assert_int_equal(HA_ERR_CONFLICT, ha_records_resize(r, ((int64_t[]){1, 1})));
    (void)ha_take_error();
    fine(ha_records_close(&v));
    fine(ha_records_resize(r, ((int64_t[]){0, 5})));
    assert_int_equal(0, ha_records_size(r));
    fine(ha_records_open(&v, r, sim, "write vel, read pos", 0, HA_END));
    assert_int_equal(HA_ERR_CONFLICT, ha_records_resize(r, ((int64_t[]){1, 1})));
    (void)ha_take_error();
    fine(ha_records_close(&v));
    fine(ha_records_resize(r, ((int64_t[]){3, 3})));
    run(r, sim, "overwrite", 127, 0, 3, 5);
    assert_int_equal(0, run(r, ha_host(), "read", 127, 0, 3, 5));
    assert_int_equal(HA_ERR_ARGUMENT, ha_records_resize(r, ((int64_t[]){-1, 1})));
    assert_int_equal(HA_ERR_MEMORY, ha_records_resize(r, ((int64_t[]){INT64_MAX, INT64_MAX})));
    (void)ha_take_error();
    assert_int_equal(0, run(r, ha_host(), "read", 127, 0, 3, 5));
    fine(ha_records_free(r));
}

static void another_layout_keeps_values(void **state) {
    (void)state;
    const int64_t n[] = {N};
    ha_context *sim = ha_context_find("sim:0");
    ha_records *r = ha_records_new(record, 1, n, "soa");
    run(r, ha_host(), "overwrite pos", 3, 100, 900, 1);
    run(r, sim, "overwrite vel+id", 112, 0, 500, 2);
    for (int i = 0; i < LAYOUTS; i++) {
        if (strstr(layouts[i], "tree")) continue;
        fine(ha_records_layout_(r, NULL, layouts[i], "test"));
        fine(ha_records_layout_(r, sim, layouts[LAYOUTS - 2 - i], "test"));
        assert_string_equal(ha_records_mapping(r, NULL)->text, layouts[i]);
        assert_int_equal(0, run(r, i % 2 ? sim : ha_host(), "read pos", 3, 100, 900, 1));
        assert_int_equal(0, run(r, i % 2 ? ha_host() : sim, "read vel+id", 112, 0, 500, 2));
    }
    static const struct {
        const char *layout;
        ha_status status;
    } refused[] = {{"null", HA_ERR_ARGUMENT},
                   {"one", HA_ERR_ARGUMENT},
                   {"nothing", HA_ERR_ARGUMENT},
                   {"bitint(3; soa)", HA_ERR_ARGUMENT},
                   {"split(pos: aos, null)", HA_ERR_ARGUMENT},
                   {"changetype(f64:f32; soa)", HA_ERR_ARGUMENT}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_int_equal(refused[i].status, ha_records_layout_(r, sim, refused[i].layout, "test"));
        (void)ha_take_error();
    }
    fine(ha_records_layout_(r, sim, "changetype(f32:f64, u16:i32; soa)", "test"));
    run(r, ha_host(), "overwrite", 127, 0, N, 4);
    assert_int_equal(0, run(r, sim, "read", 127, 0, N, 4));
    ha_records_access v;
    fine(ha_records_open(&v, r, sim, "read", 0, 1));
    assert_int_equal(HA_ERR_CONFLICT, ha_records_layout_(r, sim, "soa", "test"));
    (void)ha_take_error();
    fine(ha_records_close(&v));
    fine(ha_records_free(r));
}

/* ---- accesses -------------------------------------------------------------------------------- */

static void what_is_asked_for(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "",          "reed",          "read pos,",        "read pos+",      "read +pos",
        "read none", "read pos mass", "read pos, write",  "read pos+pos.x", "write vel,read vel.x",
        "try",       "read pos.",     "read pos, tr mass"};
    const int64_t n[] = {N};
    ha_records *r = ha_records_new(record, 1, n, NULL);
    ha_records_access v, w;
    run(r, ha_host(), "overwrite", 127, 0, N, 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(HA_ERR_ARGUMENT, ha_records_open(&v, r, NULL, wrong[i], 0, HA_END));
        assert_int_equal(HA_ERR_ARGUMENT, v.status);
        assert_null(v.records);
        (void)ha_take_error();
    }
    assert_int_equal(HA_ERR_ARGUMENT, ha_records_open(&v, r, NULL, "read", 3, 2));
    assert_int_equal(HA_ERR_ARGUMENT, ha_records_open(&v, r, NULL, "read", 0, N + 1));
    assert_int_equal(HA_ERR_ARGUMENT, ha_records_open(&v, r, NULL, NULL, 0, HA_END));
    assert_int_equal(HA_ERR_ARGUMENT, ha_records_open(&v, NULL, NULL, "read", 0, HA_END));
    (void)ha_take_error();
    /* other fields, and other records, are in nobody's way */
    fine(ha_records_open(&v, r, NULL, " read pos + mass,write vel ", 0, 500));
    fine(ha_records_open(&w, r, NULL, "try write flag", 0, HA_END));
    fine(ha_records_close(&w));
    fine(ha_records_open(&w, r, NULL, "overwrite", 500, N));
    fine(ha_records_close(&w));
    assert_int_equal(HA_ERR_CONFLICT, ha_records_open(&w, r, NULL, "read vel.y", 0, HA_END));
    assert_non_null(strstr(ha_take_error().text, "vel.y[0, 1000)"));
    assert_int_equal(HA_ERR_CONFLICT, ha_records_free(r));
    (void)ha_take_error();
    fine(ha_records_wait(&v));
    fine(ha_records_close(&v));
    assert_int_equal(HA_ERR_STATE, ha_records_close(&v));
    assert_int_equal(HA_ERR_STATE, ha_records_wait(&v));
    (void)ha_take_error();
    /* more parts than the access itself has room for */
    fine(ha_records_open(&v, r, NULL, "read pos.x+mass+vel.x+id, write pos.y+flag+vel.y", 1, 2));
    assert_int_equal(LEAVES, v.parts_);
    fine(ha_records_close(&v));
    fine(ha_records_free(r));
}

static void single_records(void **state) {
    (void)state;
    struct body {
        double x, y;
        float mass;
        uint16_t flag;
        double vx;
        float vy;
        int32_t id;
    } b = {1, 2, 3, 4, 5, 6, 7}, c;
    ha_records *r = ha_records_new(record, 2, (int64_t[]){4, 5}, NULL);
    ha_context *sim = ha_context_find("sim:0");
    memset(&c, 0, sizeof c);
    assert_int_equal(sizeof b, record->size);
    assert_int_equal(HA_ERR_STATE, ha_records_get(r, (int64_t[]){3, 4}, &c));
    assert_int_equal(HA_ERR_ARGUMENT, ha_records_get(r, (int64_t[]){3, 5}, &c));
    assert_int_equal(HA_ERR_ARGUMENT, ha_records_set(r, (int64_t[]){-1, 0}, &b));
    assert_int_equal(HA_ERR_ARGUMENT, ha_records_set(r, (int64_t[]){0, 0}, NULL));
    (void)ha_take_error();
    fine(ha_records_set(r, (int64_t[]){3, 4}, &b));
    fine(ha_records_prefetch(r, sim, "pos", 3, 4));
    fine(ha_records_get(r, (int64_t[]){3, 4}, &c));
    assert_true(c.x == 1 && c.y == 2 && c.mass == 3 && c.flag == 4 && c.vx == 5 && c.vy == 6 &&
                c.id == 7);
    char text[400];
    assert_true(ha_records_describe(r, text, sizeof text) < sizeof text);
    assert_non_null(strstr(text, "record[4, 5], version 1"));
    assert_non_null(strstr(text, "aos, valid pos.x … id[3, 4) x [4, 5)"));
    fine(ha_records_free(r));
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void no_function(const ha_queue *here, void *argument) { (void)here, (void)argument; }

static void of_no_records_at_all(void **state) {
    (void)state;
    ha_records_access v;
    ha_records *volatile nothing = NULL; /* gcc warns of what it copies where it sees that */
    char text[40];
    assert_null(ha_records_record(NULL));
    assert_int_equal(0, ha_records_rank(NULL));
    assert_int_equal(0, ha_records_extent(NULL, 0));
    assert_int_equal(0, ha_records_size(NULL));
    assert_int_equal(0, ha_records_version(NULL));
    assert_int_equal(0, ha_records_statistics(NULL).transfers);
    ha_records_set_name(nothing, "nothing");
    assert_string_equal("", ha_records_name(NULL));
    assert_int_equal(0, ha_records_valid(NULL, NULL, NULL, 0, HA_END));
    assert_int_equal(strlen("no records\n"), ha_records_describe(NULL, text, sizeof text));
    assert_string_equal("no records\n", text);
    fine(ha_records_free(NULL));
    fine(ha_records_unwrap(NULL));
    assert_null(ha_records_mapping(NULL, NULL));
    says(HA_ERR_ARGUMENT, HA_ERR_ARGUMENT, "");
    says(HA_ERR_ARGUMENT, ha_records_sync(NULL), "");
    says(HA_ERR_ARGUMENT, ha_records_resize(NULL, (int64_t[]){1}), "");
    says(HA_ERR_ARGUMENT, ha_records_layout_(NULL, NULL, "aos", "test"), "");
    says(HA_ERR_ARGUMENT, ha_records_get(NULL, (int64_t[]){0}, text), "");
    says(HA_ERR_ARGUMENT, ha_records_prefetch(NULL, NULL, NULL, 0, HA_END), "");
    says(HA_ERR_ARGUMENT, ha_records_open(NULL, NULL, NULL, "read", 0, HA_END), "");
    says(HA_ERR_ARGUMENT, ha_records_close(NULL), "");
    says(HA_ERR_ARGUMENT, ha_records_wait(NULL), "");
    says(HA_ERR_ARGUMENT, ha_records_run(no_function, NULL, NULL, 0), "");
    memset(&v, 0, sizeof v);
    says(HA_ERR_STATE, ha_records_run(no_function, &v, NULL, 0), "");
    assert_int_equal(HA_ERR_STATE, v.status);
}

static void wrong_arguments(void **state) {
    (void)state;
    ha_records *r = ha_records_new(record, 2, (int64_t[]){4, 5}, NULL);
    ha_records_access v;
    char value[64], text[700];
    assert_int_equal(4, ha_records_extent(r, 0));
    assert_int_equal(0, ha_records_extent(r, 2));
    assert_int_equal(0, ha_records_extent(r, -1));
    says(HA_ERR_ARGUMENT, ha_records_get(r, NULL, value), "no index");
    says(HA_ERR_ARGUMENT, ha_records_resize(r, NULL), "no extents");
    says(HA_ERR_ARGUMENT, ha_records_prefetch(r, NULL, "nosuch", 0, HA_END), "nosuch");
    says(HA_ERR_ARGUMENT, ha_records_prefetch(r, NULL, "pos mass", 0, HA_END), "is not all of it");
    says(HA_ERR_ARGUMENT, ha_records_prefetch(r, NULL, NULL, 3, 9), "");
    assert_int_equal(0, ha_records_valid(r, NULL, "nosuch", 0, HA_END));
    assert_int_equal(0, ha_records_valid(r, NULL, NULL, 0, 9));
    assert_int_equal(0, ha_records_valid(r, NULL, NULL, 0, HA_END));
    memset(text, 'x', sizeof text - 1); /* a word longer than any path */
    memcpy(text, "read ", 5);
    text[sizeof text - 1] = 0;
    says(HA_ERR_ARGUMENT, ha_records_open(&v, r, NULL, text, 0, HA_END), "");
    fine(ha_records_open(&v, r, NULL, "\ttry\noverwrite\tpos\t+\nmass ", 0, HA_END));
    assert_int_equal(1, v.parts_);
    says(HA_ERR_ARGUMENT, ha_records_run(NULL, &v, NULL, 0), "no function");
    says(HA_ERR_ARGUMENT, ha_records_run(no_function, &v, NULL, 8), "did not take");
    fine(ha_records_run(no_function, &v, NULL, 0));
    fine(ha_records_close(&v));
    ha_records_set_name(r, "grid");
    assert_int_equal(1, ha_records_valid(r, NULL, "pos+mass", 0, HA_END));
    fine(ha_records_prefetch(r, NULL, NULL, 2, 2));
    (void)ha_records_describe(r, text, sizeof text);
    assert_non_null(strstr(text, "grid: record[4, 5]"));
    fine(ha_records_free(r));
}

static void memory_that_cannot_be_adopted(void **state) {
    (void)state;
    const int64_t n = 8, none = 0;
    ha_mapping *m = ha_mapping_parse(record, "split(separate; pos: soa, aos)", 1, &n, NULL);
    ha_mapping *empty = ha_mapping_parse(record, "soa", 1, &none, NULL);
    ha_mapping *tree = ha_mapping_parse(record, "tree(movedown(0;4))", 2, (int64_t[]){8, 8}, NULL);
    void *nowhere[LEAVES] = {NULL}, *blob[LEAVES] = {NULL};
    for (int b = 0; b < m->blobs; b++)
        assert_non_null(blob[b] = calloc(1, (size_t)m->blob[b].bytes));
    const ha_mapped no_mapping = {NULL, blob}, no_blobs = {m, NULL}, a_tree = {tree, blob};
    const ha_mapped good = {m, blob}, nothing = {empty, nowhere};
    assert_null(ha_records_wrap(NULL, NULL, 0));
    says(HA_ERR_ARGUMENT, HA_ERR_ARGUMENT, "no mapping");
    assert_null(ha_records_wrap(&no_mapping, NULL, 0));
    says(HA_ERR_ARGUMENT, HA_ERR_ARGUMENT, "no mapping");
    assert_null(ha_records_wrap(&no_blobs, NULL, 0));
    says(HA_ERR_ARGUMENT, HA_ERR_ARGUMENT, "no blobs");
    assert_null(ha_records_wrap(&a_tree, NULL, 0));
    says(HA_ERR_ARGUMENT, HA_ERR_ARGUMENT, "tree");
    assert_null(ha_records_wrap(&good, NULL, 1u << 20));
    says(HA_ERR_ARGUMENT, HA_ERR_ARGUMENT, "unknown flags");
    assert_null(ha_records_wrap(&good, NULL, HA_WRAP_CONST | HA_WRAP_UNWRITTEN));
    says(HA_ERR_ARGUMENT, HA_ERR_ARGUMENT, "never gets any");
    void *last = blob[1];
    blob[1] = (void *)(UINTPTR_MAX - 15); /* NOLINT: no memory is there */
    assert_null(ha_records_wrap(&good, NULL, 0));
    says(HA_ERR_ARGUMENT, HA_ERR_ARGUMENT, "beyond the last address");
    blob[1] = last;
    ha_records *r = ha_records_wrap(&good, NULL, HA_WRAP_UNWRITTEN); /* all of it was given back */
    ha_records_access v;
    assert_non_null(r);
    says(HA_ERR_STATE, ha_records_open(&v, r, NULL, "read", 0, HA_END), "never written");
    run(r, ha_host(), "overwrite", 127, 0, n, 2);
    fine(ha_records_unwrap(r));
    r = ha_records_wrap(&nothing, NULL, 0);
    assert_non_null(r);
    assert_int_equal(0, ha_records_size(r));
    fine(ha_records_prefetch(r, ha_context_find("sim:0"), NULL, 0, HA_END));
    fine(ha_records_open(&v, r, NULL, "read", 0, HA_END));
    fine(ha_records_close(&v));
    fine(ha_records_sync(r));
    fine(ha_records_unwrap(r));
    for (int b = 0; b < m->blobs; b++) free(blob[b]);
    ha_mapping_free(m);
    ha_mapping_free(empty);
    ha_mapping_free(tree);
}

/* A type is good enough when it has every value of the field's. */
static void types_that_hold_others(void **state) {
    (void)state;
    static const char *const names[] = {"bool", "i8",  "i16",  "i32", "i64", "u8",  "u16", "u32",
                                        "u64",  "f16", "bf16", "f32", "f64", "c64", "c128"};
    static const char *const held[] = {/* by any, in this order */
                                       "bool",
                                       "bool i8",
                                       "bool i8 i16 u8",
                                       "bool i8 i16 i32 u8 u16",
                                       "bool i8 i16 i32 i64 u8 u16 u32",
                                       "bool u8",
                                       "bool u8 u16",
                                       "bool u8 u16 u32",
                                       "bool u8 u16 u32 u64",
                                       "bool i8 u8 f16",
                                       "bool i8 u8 bf16",
                                       "bool i8 i16 u8 u16 f16 bf16 f32",
                                       "bool i8 i16 i32 u8 u16 u32 f16 bf16 f32 f64",
                                       "c64",
                                       "c64 c128"};
    for (int wide = 0; wide < 15; wide++)
        for (int narrow = 0; narrow < 15; narrow++) {
            char fields[16], layout[64], list[80], word[16];
            const int64_t n = 3;
            (void)snprintf(fields, sizeof fields, "a:%s", names[narrow]);
            (void)snprintf(layout, sizeof layout, "changetype(%s:%s; soa)", names[narrow],
                           names[wide]);
            (void)snprintf(list, sizeof list, " %s ", held[wide]);
            (void)snprintf(word, sizeof word, " %s ", names[narrow]);
            if (wide == narrow) continue; /* no change */
            ha_record *one = ha_record_parse(fields, NULL);
            ha_records *r = ha_records_new(one, 1, &n, layout);
            if (!!r != !!strstr(list, word)) fail_msg("%s: %s", layout, r ? "made" : "refused");
            if (!r) assert_int_equal(HA_ERR_ARGUMENT, ha_take_error().status);
            fine(ha_records_free(r));
            ha_record_free(one);
        }
}

#include "records_by_hand.h"
#include "records_held.h"

/* ---- typed ----------------------------------------------------------------------------------- */

typedef struct wide {
    float x[70];
} wide;
#define wide_FIELDS (float, x, (70))
HA_RECORD(wide)
HA_VIEW(some, wide, 1, HA_ANY)
HA_RECORDS(some_wide, some);
HA_VIEW(aligned, wide, 1, HA_SOA_SINGLE_ALIGNED)
HA_RECORDS(aligned_wide, aligned);
HA_VIEW(single, wide, 1, HA_SOA_SINGLE)
HA_RECORDS(single_wide, single);
HA_VIEW(in_blocks, wide, 1, HA_AOSOA(4))
HA_RECORDS(blocks_wide, in_blocks);
HA_VIEW(only, wide, 1, HA_ONE)
HA_RECORDS(only_wide, only);

static void views_of_many_blobs(void **state) {
    (void)state;
    wide one, found;
    some_wide r = some_wide_new(3);
    assert_non_null(r.records);
    fine(ha_records_layout(r.records, NULL, "soa"));
    assert_int_equal(70, ha_records_mapping(r.records, NULL)->blobs);
    for (int k = 0; k < 70; k++) one.x[k] = (float)k;
    HA_USING(v, r, ha_host(), "overwrite") HA_EACH(some, v, at) some_store(v, at, one);
    else fail();
    fine(some_wide_get(r, 2, &found));
    assert_memory_equal(&one, &found, sizeof one);
    fine(some_wide_free(&r));
}

static void layouts_of_views(void **state) {
    (void)state;
    aligned_wide a = aligned_wide_new(3);
    single_wide s = single_wide_new(3);
    blocks_wide b = blocks_wide_new(3);
    only_wide o = only_wide_new(1);
    assert_string_equal("soa(single)", ha_records_mapping(s.records, NULL)->text);
    assert_string_equal("aosoa(4)", ha_records_mapping(b.records, NULL)->text);
    fine(single_wide_free(&s));
    fine(blocks_wide_free(&b));
    assert_string_equal("soa(single,aligned)", ha_records_mapping(a.records, NULL)->text);
    assert_string_equal("one", ha_records_mapping(o.records, NULL)->text);
    fine(aligned_wide_free(&a));
    fine(only_wide_free(&o));
    o = only_wide_new(2); /* of which there is one place */
    assert_null(o.records);
    assert_int_equal(HA_ERR_ARGUMENT, ha_take_error().status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(between_devices),
        cmocka_unit_test(every_pair_of_layouts),
        cmocka_unit_test(squares_and_cubes),
        cmocka_unit_test(several_arrays_are_one_record_array),
        cmocka_unit_test(what_lies_between_fields_stays),
        cmocka_unit_test(locked_when_it_gets_its_values),
        cmocka_unit_test(other_extents_keep_values),
        cmocka_unit_test(another_layout_keeps_values),
        cmocka_unit_test(what_is_asked_for),
        cmocka_unit_test(single_records),
        cmocka_unit_test(of_no_records_at_all),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(memory_that_cannot_be_adopted),
        cmocka_unit_test(types_that_hold_others),
        cmocka_unit_test(pictures_on_a_device),
        cmocka_unit_test(rows_with_a_pitch),
        cmocka_unit_test(computed_memory_of_the_callers),
        cmocka_unit_test(mappings_that_do_not_do),
        cmocka_unit_test(one_block_of_lanes),
        cmocka_unit_test(more_than_there_can_be),
        cmocka_unit_test(records_larger_than_parts),
        cmocka_unit_test(padding_at_the_end),
        cmocka_unit_test(columns_that_have_values),
        cmocka_unit_test(counted_layouts),
        cmocka_unit_test(views_of_many_blobs),
        cmocka_unit_test(layouts_of_views),
    };
    const struct CMUnitTest devices[] = {
        DEVICES(from_device_to_device_without_memory),
        DEVICES(what_is_on_its_way_comes_once),
        DEVICES(from_device_to_device),
        DEVICES(layout_of_what_the_host_has_not),
        DEVICES(work_that_is_lost),
        DEVICES(another_device_has_them),
        DEVICES(nobody_else_has_them),
        DEVICES(they_never_get_there),
        DEVICES(all_chunks_are_taken),
        DEVICES(a_device_dies_at_any_time),
        DEVICES(memory_that_is_still_in_use),
    };
    const int failed = cmocka_run_group_tests(tests, make, end);
    return failed + cmocka_run_group_tests(devices, make, end);
}
