/* Copies that are refused, and unusual ones. Included by test_layout_copy.c. */
#ifndef HARRAY_TESTS_LAYOUT_COPY_REFUSALS_H
#define HARRAY_TESTS_LAYOUT_COPY_REFUSALS_H

static void check_refused(const ha_mapped *to, const ha_mapped *from, const ha_copying *how,
                          const char *text) {
    ha_error e;
    assert_int_equal(ha_mapped_copy(to, from, how, &e), HA_ERR_ARGUMENT);
    assert_string_equal(e.text, text);
    assert_int_equal(ha_mapped_copy(to, from, how, NULL), HA_ERR_ARGUMENT);
}

static void test_refusals(void **state) {
    (void)state;
    static const int64_t extent[] = {4, 5}, less[] = {4, 4};
    ha_record *r = ha_record_parse(records[0], NULL), *strange = ha_record_parse("q:f32", NULL);
    memory aos, soa, smaller, line, one, foreign;
    make_memory(&aos, r, "aos", 2, extent);
    make_memory(&soa, r, "soa", 2, extent);
    make_memory(&smaller, r, "aos", 2, less);
    make_memory(&line, r, "aos", 1, extent);
    make_memory(&one, r, "one", 2, extent);
    make_memory(&foreign, strange, "aos", 2, extent);
    check_refused(NULL, &soa.mapped, NULL, "the target is NULL");
    check_refused(&aos.mapped, NULL, NULL, "the source is NULL");
    check_refused(&aos.mapped, &(ha_mapped){0}, NULL, "the source is NULL");
    check_refused(&aos.mapped, &(ha_mapped){soa.mapping, NULL}, NULL,
                  "the source has no table of blobs");
    check_refused(&aos.mapped, &line.mapped, NULL, "the target has rank 2, the source 1");
    check_refused(&aos.mapped, &smaller.mapped, NULL,
                  "extent 1 of the target is 5, of the source 4");
    check_refused(&aos.mapped, &soa.mapped, &(ha_copying){.last = (int64_t[]){4, 6}},
                  "the region from 0 to 6 is not inside extent 1, which is 5");
    check_refused(&aos.mapped, &soa.mapped, &(ha_copying){.first = (int64_t[]){-1, 0}},
                  "the region from -1 to 4 is not inside extent 0, which is 4");
    check_refused(&aos.mapped, &soa.mapped,
                  &(ha_copying){.first = (int64_t[]){3, 0}, .last = (int64_t[]){2, 5}},
                  "the region from 3 to 2 is not inside extent 0, which is 4");
    check_refused(&aos.mapped, &soa.mapped, &(ha_copying){.paths = "pos+ma"},
                  "paths: at character 4: there is no field \"ma\" in both records");
    check_refused(&aos.mapped, &soa.mapped, &(ha_copying){.paths = ""},
                  "paths: at character 0: there is no field \"\" in both records");
    check_refused(&aos.mapped, &soa.mapped, &(ha_copying){.paths = "pos mass"},
                  "paths: at character 4: expected '+' or the end");
    check_refused(&aos.mapped, &foreign.mapped, NULL, "the two records have no field in common");
    check_refused(&one.mapped, &aos.mapped, NULL,
                  "pos.x: the target has one place for the values of all records");
    check_refused(&aos.mapped, &aos.mapped, NULL,
                  "blob 0 of the target and blob 0 of the source overlap");
    void *const behind = soa.blob[2];
    soa.blob[2] = (char *)aos.blob[0] + aos.mapping->blob[0].bytes - 1;
    check_refused(&soa.mapped, &aos.mapped, NULL,
                  "blob 2 of the target and blob 0 of the source overlap");
    soa.blob[2] = NULL;
    check_refused(&soa.mapped, &aos.mapped, NULL, "pos.z: its blob in the target is NULL");
    check_refused(&aos.mapped, &soa.mapped, NULL, "pos.z: its blob in the source is NULL");
    assert_int_equal(ha_mapped_copy(&aos.mapped, &soa.mapped, &(ha_copying){.paths = "vel"}, NULL),
                     HA_OK);
    soa.blob[2] = behind;
    /* a single record has one place, too */
    assert_int_equal(
        ha_mapped_copy(&one.mapped, &aos.mapped,
                       &(ha_copying){.first = (int64_t[]){2, 3}, .last = (int64_t[]){3, 4}}, NULL),
        HA_OK);
    assert_memory_equal(one.blob[0], (char *)aos.blob[0] + 13 * 64, 24);
    free_memory(&aos);
    free_memory(&soa);
    free_memory(&smaller);
    free_memory(&line);
    free_memory(&one);
    free_memory(&foreign);
    ha_record_free(r);
    ha_record_free(strange);
}

/* Records of one size of leaves, large and small, by vectors of every processor. */
static void test_ways(void **state) {
    (void)state;
    static const char *const of[] = {"a[6]:f32", "a[5]:f64", "a[9]:u16 b:f16", "a[21]:u8",
                                     "a[3]:bool b[2]:c128"};
    static const char *const all[] = {"aos(packed)", "soa(single)", "aosoa(8)", "aosoa(64)"};
    static const int64_t extent[] = {2100}, first[HA_MAPPING_RANK] = {5};
    static const int64_t last[HA_MAPPING_RANK] = {2099};
    const ha_interleavers *const best = ha_best_interleavers();
    for (int way = 0; way < 3; way++)
        for (int k = 0; k < 5 && way_of(way); k++) {
            ha_record *r = ha_record_parse(of[k], NULL);
            atomic_store(&ha_chosen_interleavers, way_of(way));
            for (int pair = 0; pair < 16; pair++) {
                memory to, from;
                make_memory(&to, r, all[pair / 4], 1, extent);
                make_memory(&from, r, all[pair % 4], 1, extent);
                check_copy(&to, &from,
                           &(ha_copying){.first = pair % 3 ? NULL : first, .last = last}, 0,
                           to.mapping->rows, "ways");
                free_memory(&to);
                free_memory(&from);
            }
            ha_record_free(r);
        }
    atomic_store(&ha_chosen_interleavers, best);
}

/* What tiles have no room for: many leaves, long ones, sizes by turns, blocks that are longer than
 * tiles and end nowhere together; several orders at once. */
static void test_unusual(void **state) {
    (void)state;
    static const struct {
        const char *record, *to, *from;
        int rank;
        int64_t extent[2];
    } cases[] = {
        {"a[70]:f32", "aos", "soa(single)", 1, {300}},
        {"a[70]:f32", "soa(single)", "aosoa(16)", 1, {300}},
        {"a[700]:f64", "soa(single)", "aos", 1, {70}},
        {"a[700]:f64", "aos", "aosoa(8)", 1, {70}},
        {"a:u8 b:u16 c:u32 d:u64 e:u8 f:u16 g:u32 h:u64", "aos", "soa(single)", 1, {500}},
        {"a:u8 b:u16 c:u32 d:u64 e:u8 f:u16 g:u32 h:u64",
         "split(a+c+e: soa(single), aos)",
         "aos(minalign)",
         1,
         {500}},
        {"a:u8 b:u16", "aosoa(5000)", "aosoa(3000)", 1, {20000}},
        {"a:u8 b:u16", "aosoa(3000)", "aosoa(5000)", 1, {20000}},
        {"a:u8 b:u16", "aosoa(5000)", "aos", 1, {20000}},
        {"a:f32 b:f32 c:f32",
         "split(separate; a: soa, soa@col)",
         "split(separate; b: aos@col, aosoa(4))",
         2,
         {30, 21}},
        {"a:f32 b:f32 c:f32",
         "split(separate; a: aos@morton, aos)",
         "split(separate; b: soa@col, soa@morton)",
         2,
         {9, 21}},
        {"a:f32 b:f32 c:f32",
         "split(separate; c: aos, aosoa(4,rows))",
         "split(separate; c: aos, aos)",
         2,
         {9, 21}},
        {"a:f32 b:f32 c:f32", "aos(packed)", "split(a+b: aosoa(8), aosoa(16))", 1, {999}},
        {"a:f32 b:f64 c:f32", "aosoa(32)", "split(b: aosoa(8), aosoa(16))", 1, {999}},
        {"a:f32 b:f64 c:f32", "split(b: aosoa(8), aosoa(16))", "soa(single)", 1, {999}},
        {"a:f32 b:f64 c:f32", "aosoa(32)", "split(b: aos, soa(single))", 1, {999}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ha_record *r = ha_record_parse(cases[k].record, NULL);
        for (int threads = 1; threads < 3; threads++) {
            memory to, from;
            make_memory(&to, r, cases[k].to, cases[k].rank, cases[k].extent);
            make_memory(&from, r, cases[k].from, cases[k].rank, cases[k].extent);
            check_copy(&to, &from, &(ha_copying){.threads = threads}, 0, to.mapping->rows,
                       cases[k].record);
            free_memory(&to);
            free_memory(&from);
        }
        ha_record_free(r);
    }
}

/* Blobs of one side may lie in each other; what a long one reaches over counts, too. */
static void test_nested_blobs(void **state) {
    (void)state;
    char room[400] = {0};
    void *to[] = {room, room + 8}, *from[] = {room + 200, room + 32};
    const int64_t n = 8;
    ha_record *r = ha_record_parse("a:f64 b:u8", NULL);
    ha_mapping *m = ha_mapping_parse(r, "soa", 1, &n, NULL);
    const ha_mapped target = {m, to}, source = {m, from};
    check_refused(&target, &source, NULL, "blob 0 of the target and blob 1 of the source overlap");
    check_refused(&source, &target, NULL, "blob 1 of the target and blob 0 of the source overlap");
    to[1] = room; /* as the other one of this side */
    check_refused(&target, &source, NULL, "blob 0 of the target and blob 1 of the source overlap");
    from[1] = room;
    check_refused(&target, &source, NULL, "blob 0 of the target and blob 1 of the source overlap");
    from[1] = room + 64;
    assert_int_equal(ha_mapped_copy(&target, &source, NULL, NULL), HA_OK);
    ha_mapping_free(m);
    ha_record_free(r);
}

/* More records than numbers count, of which nothing is stored; lanes that no memory has. */
static void test_no_end(void **state) {
    (void)state;
    static const int64_t far[] = {INT64_MAX / 4, 1 << 20}, four[] = {4};
    ha_record *r = ha_record_parse("a:f32", NULL);
    ha_mapping *m = ha_mapping_parse(r, "null", 2, far, NULL),
               *line = ha_mapping_parse(r, "soa", 1, four, NULL);
    assert_non_null(m);
    const ha_mapped nothing = {m, NULL};
    assert_int_equal(ha_mapped_copy(&nothing, &nothing, NULL, NULL), HA_OK);
    float to[8] = {0}, from[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    void *to_blob[] = {to}, *from_blob[] = {from};
    ha_row row = line->row[0];
    ha_mapping by_hand = *line;
    by_hand.row = &row;
    row.lanes = INT64_MAX;
    row.lane_stride = 4;
    row.block_stride = 0;
    assert_int_equal(
        ha_mapped_copy(&(ha_mapped){line, to_blob}, &(ha_mapped){&by_hand, from_blob}, NULL, NULL),
        HA_OK);
    assert_memory_equal(to, from, 16);
    row.lanes = 2; /* two records in one place, and two in another */
    row.lane_stride = 0;
    row.block_stride = 8;
    assert_int_equal(
        ha_mapped_copy(&(ha_mapped){line, to_blob}, &(ha_mapped){&by_hand, from_blob}, NULL, NULL),
        HA_OK);
    assert_true(to[0] == 1 && to[1] == 1 && to[2] == 3 && to[3] == 3);
    row.block_stride = 0;
    check_refused(&(ha_mapped){&by_hand, from_blob}, &(ha_mapped){line, to_blob}, NULL,
                  "a: the target has one place for the values of all records");
    ha_mapping_free(m);
    ha_mapping_free(line);
    ha_record_free(r);
}

/* Thousands of blobs on both sides, by turns, of which one reaches into the next; and no memory to
 * find it. */
static void test_many_blobs(void **state) {
    (void)state;
    enum { LEAVES = 4000, EACH = 8 };
    static char room[2 * LEAVES * EACH];
    static void *to[LEAVES], *from[LEAVES];
    const int64_t n = EACH;
    ha_error e;
    ha_record *r = ha_record_parse("a[4000]:u8", NULL);
    ha_mapping *m = ha_mapping_parse(r, "soa", 1, &n, NULL);
    const ha_mapped target = {m, to}, source = {m, from};
    for (int k = 0; k < LEAVES; k++) {
        to[LEAVES - 1 - k] = room + 2 * k * EACH; /* in another order than their numbers */
        from[k] = room + (2 * k + 1) * EACH;
        memset(from[k], k, EACH);
    }
    assert_int_equal(ha_mapped_copy(&target, &source, NULL, &e), HA_OK);
    for (int k = 0; k < LEAVES; k++) assert_memory_equal(to[k], from[k], EACH);
    from[3000] = (char *)from[3000] + 1;
    until_failure = 0;
    assert_int_equal(ha_mapped_copy(&target, &source, NULL, &e), HA_ERR_MEMORY);
    until_failure = -1;
    check_refused(&target, &source, NULL,
                  "blob 998 of the target and blob 3000 of the source overlap");
    from[3000] = NULL;
    from[0] = room; /* the same one */
    check_refused(&target, &source, NULL,
                  "blob 3999 of the target and blob 0 of the source overlap");
    ha_mapping_free(m);
    ha_record_free(r);
}

static void test_without_memory(void **state) {
    (void)state;
    static const int64_t extent[] = {4, 5};
    ha_record *r = ha_record_parse(records[0], NULL);
    memory to, from, before;
    ha_status s = HA_ERR_MEMORY;
    make_memory(&to, r, "aos", 2, extent);
    make_memory(&from, r, "soa", 2, extent);
    same_memory(&before, &to);
    const long used = allocated;
    for (long k = 0; s; k++) {
        ha_error e;
        until_failure = k;
        s = ha_mapped_copy(&to.mapped, &from.mapped, NULL, &e);
        until_failure = -1;
        assert_int_equal(allocated, used);
        if (!s) break;
        assert_int_equal(s, HA_ERR_MEMORY);
        assert_non_null(strstr(e.text, "there is no memory for "));
        check_equal(&to, &before, &from, "without memory");
        assert_true(k < 10);
    }
    free_blobs(&before);
    free_memory(&to);
    free_memory(&from);
    ha_record_free(r);
}

#endif
