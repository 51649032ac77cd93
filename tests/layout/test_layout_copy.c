/* Copies between layouts, all pairs of them, against a model that moves value by value to where
 * ha_mapping_offset says: every byte of the target is as it has to be, and those of no copied value are
 * as they were. */
#define HA_COPY_LARGE_ 3000
#include "../support/layout_memory.h"
#include "../../layout.h"
#include "../support/layout_blobs.h"
#include "../support/share.h"

#include "copy_model.h"
/* ---- all pairs ------------------------------------------------------------------------------- */

static void check_pair(const ha_record *r, const char *to_layout, const char *from_layout,
                       const struct shape *s) {
    memory to, from;
    int64_t first[HA_MAPPING_RANK] = {0}, last[HA_MAPPING_RANK] = {1, 1, 1, 1};
    make_memory(&to, r, to_layout, s->rank, s->extent);
    make_memory(&from, r, from_layout, s->rank, s->extent);
    check_copy(&to, &from, NULL, 0, to.mapping->rows, "all");
    free_memory(&to);
    make_memory(&to, r, to_layout, s->rank, s->extent);
    for (int d = 0; d < s->rank; d++) {
        first[d] = s->extent[d] > 0 ? next_byte() % s->extent[d] : 0;
        last[d] = first[d] + next_byte() % (s->extent[d] - first[d] + 1);
        if (last[d] == first[d] && last[d] < s->extent[d]) last[d]++;
    }
    check_copy(&to, &from, &(ha_copying){.first = first, .last = last, .threads = 3}, 0,
               to.mapping->rows, "region");
    free_memory(&to);
    free_memory(&from);
}

static void test_all_pairs(void **state) {
    (void)state;
    for (int r = 0; r < RECORDS; r++) {
        ha_record *record = ha_record_parse(records[r], NULL);
        for (int t = 0; t < LAYOUTS; t++)
            for (int f = 0; f < LAYOUTS; f++)
                for (int s = 0; s < SHAPES; s++) {
                    const int is_long = shapes[s].extent[0] > 30;
                    if (!is_tried(t, f) || (is_long && (t + f + s + r) % 4 != 0)) continue;
                    check_pair(record, layouts[t], layouts[f], &shapes[s]);
                }
        ha_record_free(record);
    }
}

#include "copy_otherwise.h"
#include "copy_conversions.h"
/* ---- parts ----------------------------------------------------------------------------------- */

static void test_paths(void **state) {
    (void)state;
    static const int64_t extent[] = {41};
    static const struct {
        const char *paths;
        int64_t first, last; /* leaves */
    } parts[] = {{"pos", 0, 3},
                 {"mass", 3, 4},
                 {"pos.y+pos.z + mass", 1, 4},
                 {"flags[2]", 9, 10},
                 {"vel+flags", 4, 11}};
    ha_record *r = ha_record_parse(records[0], NULL);
    for (int p = 0; p < 5; p++)
        for (int t = 0; t < LAYOUTS; t++)
            for (int f = 0; f < LAYOUTS; f++) {
                memory to, from;
                make_memory(&to, r, layouts[t], 1, extent);
                make_memory(&from, r, layouts[f], 1, extent);
                check_copy(&to, &from, &(ha_copying){.paths = parts[p].paths}, parts[p].first,
                           parts[p].last, parts[p].paths);
                free_memory(&to);
                free_memory(&from);
            }
    ha_record_free(r);
}

/* From one place for all records, and from none. */
static void test_one_and_null(void **state) {
    (void)state;
    static const int64_t extent[] = {5, 40};
    ha_record *r = ha_record_parse(records[0], NULL);
    for (int t = 0; t < LAYOUTS; t++)
        for (int f = 0; f < 3; f++) {
            static const char *const from_layouts[] = {"one", "split(vel: one, null)", "null"};
            memory to, from;
            make_memory(&to, r, layouts[t], 2, extent);
            make_memory(&from, r, from_layouts[f], 2, extent);
            check_copy(&to, &from, NULL, 0, to.mapping->rows, "one");
            assert_int_equal(ha_mapped_copy(&from.mapped, &to.mapped, NULL, NULL),
                             f == 2 ? HA_OK : HA_ERR_ARGUMENT);
            free_memory(&to);
            free_memory(&from);
        }
    ha_record_free(r);
}

/* Large enough for tiles to be written as a whole, with ends in the middle of blocks. */
static void check_large(const ha_record *r, const char *to_layout, const char *from_layout,
                        int threads) {
    static const int64_t extent[] = {1 << 19}, first[] = {3}, last[] = {(1 << 19) - 2};
    memory to, from;
    make_memory(&to, r, to_layout, 1, extent);
    make_memory(&from, r, from_layout, 1, extent);
    const int has_gaps = !strcmp(to_layout, "aos"); /* of 4 bytes behind b, in structs of 40 */
    if (has_gaps) memset(to.blob[0], 0x5a, (size_t)to.mapping->blob[0].bytes);
    const ha_copying how = {.first = first, .last = last, .threads = threads};
    assert_int_equal(ha_mapped_copy(&to.mapped, &from.mapped, &how, NULL), HA_OK);
    for (int64_t n = 0; n<*extent; n += n> 70000 && n < *extent - 70000 ? 211 : 1)
        for (int64_t k = 0; k < to.mapping->rows; k++) {
            const size_t size = (size_t)size_of_leaf(to.mapping, k);
            const int copied = n >= *first && n < *last;
            if (copied != !memcmp(place_of(&to, k, &n), place_of(&from, k, &n), size) &&
                (copied || size > 2))
                fail_msg("%s from %s: leaf %d of record %d", to_layout, from_layout, (int)k,
                         (int)n);
        }
    for (int64_t n = 0; n < *extent && has_gaps; n++)
        assert_memory_equal((char *)to.blob[0] + 40 * n + 12, "\x5a\x5a\x5a\x5a", 4);
    free_memory(&to);
    free_memory(&from);
}

static void test_large(void **state) {
    (void)state;
    ha_record *r = ha_record_parse("a:f64 b:f32 c:i64 d:u32 f:f32 e:f64", NULL);
    static const char *const all[] = {"aos", "aos(packed)", "soa", "aosoa(8)", "aosoa(32)"};
    for (int t = 0; t < 5; t++)
        for (int f = 0; f < 5; f++)
            if ((t + f) % 2 == 0 && is_tried(t, f)) check_large(r, all[t], all[f], 1 + f % 2);
    ha_record_free(r);
}

#include "copy_by_lines.h"
#include "copy_refusals.h"
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs),       cmocka_unit_test(test_stored_otherwise),
        cmocka_unit_test(test_counted),         cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_misfits),         cmocka_unit_test(test_paths),
        cmocka_unit_test(test_one_and_null),    cmocka_unit_test(test_large),
        cmocka_unit_test(test_refusals),        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_lines),           cmocka_unit_test(test_lines_with_gaps),
        cmocka_unit_test(test_all_conversions), cmocka_unit_test(test_many_conversions),
        cmocka_unit_test(test_many_blobs),      cmocka_unit_test(test_ways),
        cmocka_unit_test(test_mixed_lines),     cmocka_unit_test(test_unusual),
        cmocka_unit_test(test_no_end),          cmocka_unit_test(test_nested_blobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
