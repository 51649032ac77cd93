/* Copies that write whole lines of memory, in every way that a processor may have. Included by
 * test_layout_copy.c. */
#ifndef HARRAY_TESTS_LAYOUT_COPY_BY_LINES_H
#define HARRAY_TESTS_LAYOUT_COPY_BY_LINES_H

static void check_lines(const ha_record *r, const char *to_layout, const char *from_layout,
                        const int64_t *first, int64_t skew) {
    static const int64_t extent[] = {3, 1500};
    const int64_t last[HA_MAPPING_RANK] = {3, 1500 - first[1] / 2};
    memory to, from;
    char *to_room[MOST_BLOBS], *from_room[MOST_BLOBS];
    make_lines(&to, to_room, r, to_layout, 2, extent, skew);
    make_lines(&from, from_room, r, from_layout, 2, extent, skew * 5 % 64);
    check_copy(&to, &from,
               &(ha_copying){.first = first, .last = last, .threads = 1 + (int)first[1] % 3}, 0,
               to.mapping->rows, "lines");
    free_lines(&to, to_room);
    free_lines(&from, from_room);
}

static const ha_interleavers *way_of(int number) {
#if defined __x86_64__ && !defined HARRAY_NO_SIMD
    if (number == 1 && ha_interleave_avx2()) return &ha_interleavers_avx2;
    if (number == 2 && ha_interleave_avx512()) return &ha_interleavers_avx512;
#endif
    return number == 0 ? &ha_interleavers_portable : NULL;
}

/* Lanes that fill lines, parts of lines and several of them; records of whole lines and others;
 * from the first record, the middle of a block, the middle of a line. */
static void test_lines(void **state) {
    (void)state;
    static const char *const all[] = {"soa",       "aosoa(8)",         "aosoa(32)",
                                      "aosoa(24)", "aosoa(8,aligned)", "aosoa(16,rows)"};
    static const char *const of[] = {"a:f64 b[2]:f32 c:i64 d[4]:u8 e:f64",
                                     "a:u8 b:f16 c:c128 d:f32"};
    static const int64_t first[][HA_MAPPING_RANK] = {{0, 0}, {1, 8}, {2, 5}};
    const ha_interleavers *const best = ha_best_interleavers();
    for (int way = 0; way < 3; way++)
        for (int k = 0; k < 2 && way_of(way); k++) {
            ha_record *r = ha_record_parse(of[k], NULL);
            atomic_store(&ha_chosen_interleavers, way_of(way));
            for (int t = 0; t < 6; t++)
                for (int f = 0; f < 6; f++)
                    for (int n = 0; n < 3 && t != f; n++)
                        if (is_tried(t + n, f + k))
                            check_lines(r, all[t], all[f], first[n], n == 1 && t % 2 ? 16 : 0);
            ha_record_free(r);
        }
    atomic_store(&ha_chosen_interleavers, best);
}

/* Each field fills lines; one between others is not copied, and stays as it is. */
/* Lines of fields of 8, 16 and 32 bytes in each order, of arrays, and of blocks that are read from
 * one end to the other. */
static void test_mixed_lines(void **state) {
    (void)state;
    static const char *const of[] = {"a:u8 b:u8 c:u16 d:f32",
                                     "a:u16 b:u8 c:u8 d:f32",
                                     "a:f32 b:u8 c:u8 d:u16",
                                     "a:f32 b:u16 c:u8 d:u8",
                                     "a[4]:u8 b:f32",
                                     "a:f32 b[4]:u8",
                                     "a[4]:u16",
                                     "a[8]:u8"};
    static const int64_t first[HA_MAPPING_RANK] = {0, 0};
    const ha_interleavers *const best = ha_best_interleavers();
    for (int way = 0; way < 3; way++)
        for (int k = 0; k < 8 && way_of(way); k++) {
            ha_record *r = ha_record_parse(of[k], NULL);
            atomic_store(&ha_chosen_interleavers, way_of(way));
            check_lines(r, "aosoa(8)", "soa", first, 0);
            check_lines(r, "aosoa(8)", "aosoa(16)", first, 0);
            check_lines(r, "aosoa(16)", "aosoa(8)", first, 0);
            ha_record_free(r);
        }
    atomic_store(&ha_chosen_interleavers, best);
}

static void test_lines_with_gaps(void **state) {
    (void)state;
    static const int64_t extent[] = {1000}, zero[HA_MAPPING_RANK] = {0};
    static const char *const all[] = {"aosoa(8)", "aosoa(32)", "soa"};
    ha_record *r = ha_record_parse("a:f64 b:f32 c:f32 d:f64 e:f32 f:f32", NULL);
    for (int k = 0; k < 4; k++) {
        memory to, from, expected;
        char *to_room[MOST_BLOBS], *from_room[MOST_BLOBS];
        make_lines(&to, to_room, r, all[k / 2], 1, extent, 0);
        make_lines(&from, from_room, r, all[k % 2 ? 2 : !(k / 2)], 1, extent, 0);
        same_memory(&expected, &to);
        model_copy(&expected, &from, zero, extent, 0, 2);
        model_copy(&expected, &from, zero, extent, 4, 5);
        assert_int_equal(
            ha_mapped_copy(&to.mapped, &from.mapped, &(ha_copying){.paths = "a+b+e"}, NULL), HA_OK);
        check_equal(&to, &expected, &from, "gaps");
        for (int b = 0; b < to.mapping->blobs; b++) free(expected.blob[b]);
        free_lines(&to, to_room);
        free_lines(&from, from_room);
    }
    ha_record_free(r);
}

#endif
