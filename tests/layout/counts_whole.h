/* Counts of copies and of operations with whole views. Included by test_layout_counts.c. */
#ifndef HARRAY_TESTS_LAYOUT_COUNTS_WHOLE_H
#define HARRAY_TESTS_LAYOUT_COUNTS_WHOLE_H

/* Leaves from `leaf` to before `end`, each value of a region once. */
static void expect_all(expectation *e, int64_t leaf, int64_t end, const int64_t *first,
                       const int64_t *last, int what) {
    const int rank = e->mapping->rank;
    for (; leaf < end; leaf++) {
        int64_t i[HA_MAPPING_RANK] = {0};
        for (int d = 0; d < rank; d++) i[d] = first[d];
        for (int d = 0; d >= 0;) {
            expect(e, leaf, i, what);
            for (d = rank - 1; d >= 0 && ++i[d] == last[d]; d--) i[d] = first[d];
        }
    }
}

/* Is it counted, by what it was made of, as one by one with the mapping that has these counters? */
static void operate(const ha_mapped *records, const ha_counts *counts, expectation *e) {
    static const int64_t zeros[2], first[2] = {1, 2}, last[2] = {4, 6};
    ha_error error;
    const ha_mapping *m = e->mapping;
    void *blob[MOST_BLOBS];
    ha_mapping *plain = mapping("aos", m->rank, m->extent);
    void *memory = ha_mapping_memory(plain, blob, NULL);
    const ha_mapped other = {plain, blob};
    const ha_applying how = {.paths = "pos", .first = first, .last = last};
    assert_int_equal(ha_mapped_copy(records, &other, NULL, &error), HA_OK);
    expect_all(e, 0, LEAVES, zeros, m->extent, HA_WRITE_);
    assert_int_equal(ha_mapped_copy(&other, records, &(ha_copying){.paths = "mass"}, &error),
                     HA_OK);
    expect_all(e, 2, 3, zeros, m->extent, HA_READ_);
    assert_int_equal(ha_mapped_apply_number(records, HA_MULTIPLY, 3, &how, &error), HA_OK);
    expect_all(e, 0, 2, first, last, HA_READ_);
    expect_all(e, 0, 2, first, last, HA_WRITE_);
    assert_int_equal(ha_mapped_apply_number(records, HA_ASSIGN, 1, NULL, &error), HA_OK);
    expect_all(e, 0, LEAVES, zeros, m->extent, HA_WRITE_);
    assert_int_equal(ha_mapped_apply_number(records, HA_ADD, 1, NULL, &error), HA_ERR_ARGUMENT);
    assert_counted(counts, e); /* what is refused is not counted: no bool can be added to */
    ha_blob_free(memory);
    ha_mapping_free(plain);
}

#define OPERATE(V, v, m, granularity)                                                              \
    do {                                                                                           \
        expectation e = expecting(m, granularity);                                                 \
        const ha_mapped *records = V##_mapped(v, NULL);                                            \
        assert_non_null(records);                                                                  \
        operate(records, HA_COUNTS(V, v), &e);                                                     \
        ha_mapped_free(records);                                                                   \
        V##_free(v);                                                                               \
        ha_mapping_free(m);                                                                        \
    } while (0)
#define OPERATE_NEW(V, layout, granularity)                                                        \
    do {                                                                                           \
        ha_mapping *m = mapping(layout, 2, extent);                                                \
        V v = V##_new(5, 7);                                                                       \
        OPERATE(V, v, m, granularity);                                                             \
    } while (0)
#define OPERATE_FROM(V, layout, granularity)                                                       \
    do {                                                                                           \
        ha_mapping *m = mapping(layout, 2, extent);                                                \
        V v = V##_new_from(m, NULL);                                                               \
        assert_false(V##_null(v));                                                                 \
        OPERATE(V, v, m, granularity);                                                             \
    } while (0)

static void test_operations(void **state) {
    (void)state;
    const int64_t extent[] = {5, 7}, n[] = {10};
    OPERATE_NEW(aos, "aos", 1);
    OPERATE_NEW(packed, "aos(packed)", 1);
    OPERATE_NEW(soa, "soa", 16);
    OPERATE_NEW(morton, "soa@morton", 4);
    OPERATE_NEW(single, "soa(single)", 3);
    OPERATE_NEW(blocks, "aosoa(8)", 64);
    OPERATE_NEW(rows, "aosoa(4,rows)", 1);
    OPERATE_FROM(soa, "heatmap(16; count(soa(single,aligned)))", 16); /* its blobs are that one's */
    OPERATE_FROM(any, "heatmap(16; count(split(pos: aosoa(8), aosoa(8,aligned))))", 16);
    ha_mapping *m = mapping("split(separate; pos: aosoa(4), soa)", 1, n);
    two v = two_new(10);
    OPERATE(two, v, m, 16);
}

/* Both sides of an operation between two, one of them shifted. */
static void test_both_sides(void **state) {
    (void)state;
    static const int64_t extent[] = {5, 7}, shift[] = {1, -2}, zeros[2];
    static const int64_t met[] = {0, 2}, end[] = {4, 7}, from[] = {1, 0}, until[] = {5, 5};
    ha_error error;
    ha_mapping *m[2] = {mapping("count(heatmap(1; aosoa(4)))", 2, extent),
                        mapping("heatmap(8; count(split(flags: null, soa)))", 2, extent)};
    expectation e[2] = {expecting(m[0], 1), expecting(m[1], 8)};
    void *blob[2][MOST_BLOBS], *memory[2];
    for (int k = 0; k < 2; k++) memory[k] = ha_mapping_memory(m[k], blob[k], NULL);
    const ha_mapped left = {m[0], blob[0]}, right = {m[1], blob[1]};
    const ha_applying how = {.paths = "pos", .shift = shift};
    assert_int_equal(ha_mapped_apply_view(&left, HA_SUBTRACT, &right, &how, &error), HA_OK);
    expect_all(&e[0], 0, 2, met, end, HA_READ_);
    expect_all(&e[0], 0, 2, met, end, HA_WRITE_);
    expect_all(&e[1], 0, 2, from, until, HA_READ_);
    assert_int_equal(ha_mapped_apply_view(&right, HA_ASSIGN, &left, NULL, &error), HA_OK);
    expect_all(&e[1], 0, 3, zeros, extent, HA_WRITE_); /* what is not stored is left out */
    expect_all(&e[0], 0, 3, zeros, extent, HA_READ_);
    assert_int_equal(
        ha_mapped_apply_view(&right, HA_ASSIGN, &left, &(ha_applying){.shift = extent}, &error),
        HA_OK); /* beside each other */
    for (int k = 0; k < 2; k++) {
        assert_counted(m[k]->counts, &e[k]);
        ha_blob_free(memory[k]);
        ha_mapping_free(m[k]);
    }
}

/* Views that know their layout take the mapping's counters, if they count at all. */
static void test_known(void **state) {
    (void)state;
    const int64_t extent[] = {5, 7}, n = 40;
    ha_error error;
    ha_mapping *m = mapping("count(heatmap(1; aos))", 2, extent);
    expectation e = expecting(m, 1);
    aos v = aos_new_from(m, &error);
    assert_false(aos_null(v));
    aos_touch(v, &e);
    assert_counted(m->counts, &e);
    aos_free(v);
    ha_mapping_free(m);
    m = mapping("count(heatmap(3; soa(single)))", 2, extent);
    e = expecting(m, 3);
    single s = single_new_from(m, &error);
    assert_false(single_null(s));
    single_touch(s, &e);
    assert_counted(m->counts, &e);
    single_free(s);
    ha_mapping_free(m);
    m = mapping("aos", 2, extent);
    v = aos_new_from(m, &error); /* no counters, no counting */
    assert_false(aos_null(v));
    assert_null(HA_COUNTS(aos, v));
    aos_free(v);
    ha_mapping_free(m);
    m = mapping("count(aosoa(16))", 1, &n);
    assert_true(sky_null(sky_new_from(m, &error)));
    assert_non_null(strstr(error.text, "count(aosoa(16)) is not the layout of the view sky"));
    ha_mapping_free(m);
}

#endif
