/* Cases of test_record_array.c: memory of the caller's that no text describes, records of unusual
 * sizes, and what of them is refused. */
#ifndef HARRAY_TESTS_RECORDS_RECORDS_BY_HAND_H
#define HARRAY_TESTS_RECORDS_RECORDS_BY_HAND_H

/* ---- pictures: rows of one plane, then of the next one, with padding behind them --------------- */

enum { WIDE = 3, HIGH = 5, PITCH = 32, PICTURE = HIGH * PITCH };

static const ha_field picture_field[] = {{.path = "x", .type = HA_DTYPE_double, .offset = 0},
                                         {.path = "f", .type = HA_DTYPE_uint16_t, .offset = 8}};
static const ha_record picture_record = {"pixel", 16, 8, 2, picture_field};

/* Each plane has index numbers of its own, in units of its values. */
static const ha_linearizer picture_index[] = {
    {.rank = 2, .stride = {PITCH / 8, 1}, .dimension = {0, 1}, .pad = 1, .count = HIGH * PITCH / 8},
    {.rank = 2,
     .stride = {PITCH / 2, 1},
     .dimension = {0, 1},
     .pad = 1,
     .count = HIGH * PITCH / 2}};
static const ha_row picture_row[] = {
    {.block_stride = 8, .lanes = 1, .section = -1, .type = HA_DTYPE_double},
    {.linearizer = 1,
     .base = 8 * WIDE,
     .block_stride = 2,
     .lanes = 1,
     .section = -1,
     .type = HA_DTYPE_uint16_t}};
static const ha_blob picture_blob[] = {{PICTURE, 8}, {0, 1}};

static ha_mapping picture_mapping(void) {
    return (ha_mapping){.record = &picture_record,
                        .rank = 2,
                        .blobs = 1,
                        .linearizers = 2,
                        .extent = {HIGH, WIDE, 1, 1},
                        .rows = 2,
                        .row = picture_row,
                        .linearizer = picture_index,
                        .blob = picture_blob};
}

typedef struct picture_job {
    char *at;
    int *wrong;
    double add;
} picture_job;

/* What is between the values was there before, and stays. */
static void paint(const ha_queue *here, void *argument) {
    const picture_job *j = argument;
    memset(HA_HERE(here, void, j->at), 0x5A, PICTURE);
}

static void look_at_picture(const ha_queue *here, void *argument) {
    const picture_job *j = argument;
    char *at = HA_HERE(here, char, j->at);
    for (int row = 0; row < HIGH; row++) {
        for (int col = 0; col < WIDE; col++) {
            double x;
            uint16_t f;
            memcpy(&x, at + row * PITCH + col * 8, sizeof x);
            memcpy(&f, at + row * PITCH + 8 * WIDE + col * 2, sizeof f);
            *j->wrong += x != row * 10 + col + 0.5 || f != row * 100 + col;
            x += j->add;
            memcpy(at + row * PITCH + col * 8, &x, sizeof x);
        }
        *j->wrong += at[row * PITCH + 10 * WIDE] != 0x5A || at[row * PITCH + PITCH - 1] != 0x5A;
    }
}

static void pixels(const ha_mapped *m, double add, int *wrong) {
    int64_t at[4] = {0};
    for (at[0] = 0; at[0] < HIGH; at[0]++)
        for (at[1] = 0; at[1] < WIDE; at[1]++) {
            double x = (double)(at[0] * 10 + at[1]) + 0.5;
            uint16_t f = (uint16_t)(at[0] * 100 + at[1]);
            double got = 0;
            uint16_t flag = 0;
            if (!wrong) {
                ha_mapped_set(m, 0, at, &x);
                ha_mapped_set(m, 1, at, &f);
                continue;
            }
            ha_mapped_get(m, 0, at, &got);
            ha_mapped_get(m, 1, at, &flag);
            *wrong += got != x + add || flag != f;
        }
}

static void pictures_on_a_device(void **state) {
    (void)state;
    ha_context *sim = ha_context_find("sim:0");
    const ha_mapping m = picture_mapping();
    void *blob = ha_memory_allocate(sim, PICTURE);
    const ha_mapped picture = {&m, &blob};
    static int wrong;
    const picture_job painting = {blob, &wrong, 1000};
    ha_records_access v;
    char text[300];
    ha_records *r = ha_records_wrap(&picture, sim, HA_WRAP_UNWRITTEN);
    assert_non_null(r);
    fine(ha_enqueue(sim, paint, &painting, sizeof painting));
    fine(ha_records_open(&v, r, NULL, "overwrite", 0, HA_END));
    pixels(&(ha_mapped){v.mapping, v.blob}, 0, NULL);
    fine(ha_records_close(&v));
    fine(ha_records_open(&v, r, sim, "write", 0, HA_END)); /* both at once */
    fine(ha_records_run(look_at_picture, &v, &painting, sizeof painting));
    fine(ha_records_close(&v));
    fine(ha_records_open(&v, r, NULL, "read", 0, HA_END));
    assert_int_equal(0, wrong);
    pixels(&(ha_mapped){v.mapping, v.blob}, 1000, &wrong);
    assert_int_equal(0, wrong);
    fine(ha_records_close(&v));
    (void)ha_records_describe(r, text, sizeof text);
    assert_non_null(strstr(text, "pixel[5, 3]"));
    assert_non_null(strstr(text, "the caller's, "));
    fine(ha_records_unwrap(r));
    fine(ha_memory_release(sim, blob));
}

/* Of an array of structs with a hole in each, and padding behind each row. A blob of no bytes is no
 * memory. */
static void rows_with_a_pitch(void **state) {
    (void)state;
    enum { ROW = WIDE * 16 + 16 };
    static char mine[HIGH * ROW];
    const ha_record half = {"half", 16, 8, 1, picture_field};
    const ha_linearizer z = {.rank = 2,
                             .stride = {ROW / 16, 1},
                             .dimension = {0, 1},
                             .pad = 1,
                             .count = HIGH * ROW / 16};
    const ha_row row = {
        .blob = 1, .block_stride = 16, .lanes = 1, .section = -1, .type = HA_DTYPE_double};
    const ha_blob bytes[] = {{0, 1}, {sizeof mine, 8}};
    ha_mapping m = picture_mapping();
    m.record = &half;
    m.blobs = 2;
    m.linearizers = 1;
    m.rows = 1;
    m.row = &row;
    m.linearizer = &z;
    m.blob = bytes;
    void *blob[] = {NULL, mine};
    const ha_mapped memory = {&m, blob};
    ha_context *sim = ha_context_find("sim:0");
    ha_records_access v;
    memset(mine, 0x5A, sizeof mine);
    for (int i = 0; i < HIGH * WIDE; i++)
        memcpy(mine + i / WIDE * ROW + i % WIDE * 16, &(double){i}, 8);
    ha_records *r = ha_records_wrap(&memory, NULL, 0);
    assert_non_null(r);
    fine(ha_records_open(&v, r, sim, "write", 0, HA_END));
    fine(ha_records_close(&v));
    fine(ha_context_finish(sim));
    memset(mine, 0x33, sizeof mine);
    assert_null(ha_records_wrap(&memory, NULL, 0)); /* also of some of its blobs */
    says(HA_ERR_STATE, HA_ERR_STATE, "records (half[5, 3]) owns some of blob 1");
    fine(ha_records_unwrap(r));
    for (int i = 0; i < HIGH * WIDE; i++) {
        double x;
        memcpy(&x, mine + i / WIDE * ROW + i % WIDE * 16, sizeof x);
        assert_true(x == i);
        assert_int_equal(0x33, mine[i / WIDE * ROW + i % WIDE * 16 + 8]);
    }
    /* all or none: the second blob is the first one, and what was taken is given back */
    const ha_blob twice[] = {{64, 8}, {sizeof mine, 8}};
    m.blob = twice;
    blob[0] = mine;
    assert_null(ha_records_wrap(&memory, NULL, 0));
    says(HA_ERR_ARGUMENT, HA_ERR_ARGUMENT, "two blobs overlap");
    m.blob = bytes;
    r = ha_records_wrap(&memory, NULL, 0);
    fine(ha_records_free(r));
}

/* Computed: bytes apart, and in the other order. */
static void computed_memory_of_the_callers(void **state) {
    (void)state;
    static const char *const computed[] = {"bytesplit(soa)", "byteswap(aos)",
                                           "changetype(f32:f64; soa)"};
    const int64_t n = 40;
    ha_context *sim = ha_context_find("sim:0");
    for (int k = 0; k < 3; k++) {
        ha_mapping *m = ha_mapping_parse(record, computed[k], 1, &n, NULL);
        void *blob[40];
        assert_true(m && m->blobs <= 40);
        for (int b = 0; b < m->blobs; b++) blob[b] = calloc(1, (size_t)m->blob[b].bytes);
        const ha_mapped memory = {m, blob};
        ha_records *r = ha_records_wrap(&memory, NULL, 0);
        assert_non_null(r);
        run(r, sim, "overwrite", 127, 0, n, 1);
        assert_int_equal(0, run(r, ha_host(), "read", 127, 0, n, 1));
        fine(ha_records_unwrap(r));
        for (int64_t at[4] = {0}; at[0] < n; at[0]++)
            for (int leaf = 0; leaf < LEAVES; leaf++) assert_true(is_value(&memory, leaf, at, 1));
        for (int b = 0; b < m->blobs; b++) free(blob[b]);
        ha_mapping_free(m);
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void no_wrap(const ha_mapping *m, const char *words) {
    static double some[64];
    void *blob[] = {some, some};
    const ha_mapped memory = {m, blob};
    assert_null(ha_records_wrap(&memory, NULL, 0));
    says(HA_ERR_ARGUMENT, HA_ERR_ARGUMENT, words);
}

static void mappings_that_do_not_do(void **state) {
    (void)state;
    ha_row row[2] = {picture_row[0], picture_row[1]};
    ha_mapping m = picture_mapping();
    m.record = NULL;
    no_wrap(&m, "no mapping");
    m = picture_mapping();
    m.rank = 0;
    no_wrap(&m, "without rank");
    m.rank = HA_MAPPING_RANK + 1;
    no_wrap(&m, "without rank");
    m = picture_mapping();
    m.rows = 1;
    no_wrap(&m, "not the leaves");
    m = picture_mapping();
    m.extent[1] = -1;
    no_wrap(&m, "extent");
    m = picture_mapping();
    m.row = row;
    row[1].block_stride = 0;
    no_wrap(&m, "field f cannot be kept in it: several records share one value");
    row[1].lanes = 8; /* several blocks at one place */
    row[1].lane_stride = 2;
    no_wrap(&m, "several records share one value");
    row[1].lane_stride = 0; /* all lanes at one place */
    row[1].block_stride = 2;
    no_wrap(&m, "several records share one value");
    row[1] = picture_row[1];
    row[1].coding = 1;
    const ha_coding complex = {.stored = HA_DTYPE_c64};
    m.codings = 1;
    m.coding = &complex;
    no_wrap(&m, "not every value");
}

/* A few lanes are one block, whatever the distance to the next one would be. */
static void one_block_of_lanes(void **state) {
    (void)state;
    static double mine[4];
    const int64_t n = 4;
    const ha_record half = {"", 16, 8, 1, picture_field};
    const ha_linearizer z = {.rank = 1, .stride = {1}, .dimension = {0}, .pad = 1, .count = 4};
    const ha_row row = {.lane_stride = 8, .lanes = 4, .section = -1, .type = HA_DTYPE_double};
    const ha_blob bytes = {sizeof mine, 8};
    const ha_mapping m = {.record = &half,
                          .rank = 1,
                          .blobs = 1,
                          .linearizers = 1,
                          .extent = {n, 1, 1, 1},
                          .rows = 1,
                          .row = &row,
                          .linearizer = &z,
                          .blob = &bytes};
    void *blob = mine;
    char text[200];
    ha_records *r = ha_records_wrap(&(ha_mapped){&m, &blob}, NULL, HA_WRAP_CONST);
    assert_non_null(r);
    (void)ha_records_describe(r, text, sizeof text);
    assert_non_null(strstr(text, "record[4]")); /* a record without a name */
    assert_non_null(strstr(text, "the caller's, const, "));
    fine(ha_records_prefetch(r, ha_context_find("sim:0"), NULL, 1, 3));
    fine(ha_records_unwrap(r));
}

/* Together more than can be counted, though each of the arrays can. */
static void more_than_there_can_be(void **state) {
    (void)state;
    const int64_t n = INT64_C(1) << 59;
    assert_null(ha_records_new(record, 1, &n, "soa"));
    says(HA_ERR_MEMORY, HA_ERR_MEMORY, "there is no memory for it");
}

/* ---- records of unusual sizes ---------------------------------------------------------------- */

/* There and back as f64 numbers, whichever fields there are. */
static void numbers_there_and_back(const ha_record *which, int rank, const int64_t *extent,
                                   const char *host, const char *device) {
    ha_context *sim = ha_context_find("sim:0");
    ha_records *r = ha_records_new(which, rank, extent, host);
    const int64_t leaves = ha_record_leaves(which), columns = rank > 1 ? extent[1] : 1;
    ha_records_access v;
    int64_t at[4] = {0};
    assert_non_null(r);
    fine(ha_records_layout_(r, sim, device, "test"));
    for (int round = 0; round < 2; round++) {
        fine(ha_records_open(&v, r, NULL, round ? "read" : "overwrite", 0, HA_END));
        const ha_mapped here = {v.mapping, v.blob};
        for (at[0] = 0; at[0] < extent[0]; at[0]++)
            for (at[1] = 0; at[1] < columns; at[1]++)
                for (int64_t leaf = 0; leaf < leaves; leaf++) {
                    const double is = (double)(leaf * 10000 + at[0] * columns + at[1]);
                    double found;
                    if (!round)
                        ha_mapped_set(&here, leaf, at, &is);
                    else {
                        ha_mapped_get(&here, leaf, at, &found);
                        assert_true(found == is);
                    }
                }
        fine(ha_records_close(&v));
        if (round) continue;
        fine(ha_records_open(&v, r, sim, "write", 0, HA_END));
        fine(ha_records_close(&v));
        assert_false(ha_records_valid(r, NULL, NULL, 0, HA_END));
    }
    fine(ha_records_free(r));
}

/* One record is more than a part; a row of them is; and one with nothing behind its last field. */
static void records_larger_than_parts(void **state) {
    (void)state;
    const int64_t few = 3, rows[] = {6, 400}, line = 300;
    ha_record *large = ha_record_parse("x[600]:f64", NULL);
    ha_record *pair = ha_record_parse("x:f64 y:f64", NULL);
    assert_true(large && pair);
    numbers_there_and_back(large, 1, &few, "aos", "soa");
    numbers_there_and_back(large, 1, &few, "aos", "byteswap(soa)");
    numbers_there_and_back(pair, 2, rows, "aos", "soa");
    numbers_there_and_back(pair, 2, rows, "soa", "aosoa(8)");
    numbers_there_and_back(pair, 1, &line, "aos(packed)", "aos");
    ha_record_free(large);
    ha_record_free(pair);
}

/* Arrays of structs that differ in what is behind the last field: values alone are copied. */
static void padding_at_the_end(void **state) {
    (void)state;
    const ha_field x = {.path = "x", .type = HA_DTYPE_double, .offset = 0};
    const ha_record padded = {NULL, 24, 8, 1, &x};
    const int64_t line = 700;
    numbers_there_and_back(&padded, 1, &line, "aos", "aos(packed)");
    numbers_there_and_back(&padded, 1, &line, "aos(packed)", "aos");
    numbers_there_and_back(&padded, 1, &line, "aos", "aos");
}

/* Some columns of all rows have values: what comes from there are whole records, but not whole rows. */
static void columns_that_have_values(void **state) {
    (void)state;
    ha_context *sim = ha_context_find("sim:0");
    ha_record *pair = ha_record_parse("x:f64 y:f64", NULL);
    for (int64_t before = 1; before < 4; before += 2) {
        ha_records *r = ha_records_new(pair, 2, (int64_t[]){10, before}, NULL);
        double value[2];
        for (int64_t i = 0; i < 10 * before; i++) {
            const int64_t at[] = {i / before, i % before};
            fine(ha_records_set(r, at, (double[]){(double)at[0], (double)at[1]}));
        }
        fine(ha_records_resize(r, ((int64_t[]){10, 5})));
        ha_records_access v;
        fine(ha_records_open(&v, r, sim, "write", 0, HA_END));
        fine(ha_records_close(&v));
        for (int64_t i = 0; i < 50; i++) {
            const int64_t at[] = {i / 5, i % 5};
            if (at[1] >= before) continue;
            fine(ha_records_get(r, at, value));
            assert_true(value[0] == (double)at[0] && value[1] == (double)at[1]);
        }
        fine(ha_records_free(r));
    }
    ha_record_free(pair);
}

/* Accesses of a program are counted; what the engine moves is not. */
static void counted_layouts(void **state) {
    (void)state;
    const int64_t n = 200;
    ha_context *sim = ha_context_find("sim:0");
    ha_records *r = ha_records_new(record, 1, &n, "count(aos)");
    ha_records_access v;
    assert_non_null(r);
    fine(ha_records_layout_(r, sim, "soa", "test"));
    run(r, ha_host(), "overwrite", 127, 0, n, 1);
    assert_int_equal(0, run(r, sim, "read", 127, 0, n, 1));
    run(r, sim, "overwrite", 127, 0, n, 2);
    fine(ha_records_open(&v, r, NULL, "read", 0, HA_END));
    const ha_tally *first = &v.mapping->counts->leaf[0];
    assert_true(first->writes == (uint64_t)n && first->reads == 0);
    fine(ha_records_close(&v));
    fine(ha_records_free(r));
}

#endif
