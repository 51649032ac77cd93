/* Record arrays in layouts of few bits, where values share their bytes with neighbours: these are locked and
 * moved together, and no value of theirs changes. Random layouts of that kind are in test_records_pairs.c. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#define HA_RECORDS_PART_BYTES_ 4096 /* so that there are several parts */
#include "../support/own_calls.h"

#include "../../harray_records.h"

#include <setjmp.h>
#include <cmocka.h>

#include "../support/invariants.h"
#include "../support/threads.h"

enum { N = 64 };
typedef struct hit {
    uint16_t charge, time;
    uint8_t good;
    double energy;
} hit;
static const ha_field hit_field[] = {
    {.path = "charge", .type = HA_DTYPE_uint16_t, .offset = offsetof(hit, charge)},
    {.path = "time", .type = HA_DTYPE_uint16_t, .offset = offsetof(hit, time)},
    {.path = "good", .type = HA_DTYPE_bool, .offset = offsetof(hit, good)},
    {.path = "energy", .type = HA_DTYPE_double, .offset = offsetof(hit, energy)}};
static const ha_record hits = {"hit", sizeof(hit), _Alignof(hit), 4, hit_field};

/* Every field in an array of its own, or the integers of a record one behind the other, 37 bits of it. */
static const char apart[] = "split(separate; charge+time: bitint(12; soa), split(separate; good: "
                            "bitint(1; soa), soa))";
static const char together[] = "split(separate; charge+time+good: bitint(12; aos), soa)";

static void fine(ha_status s) {
    if (!s) return;
    fprintf(stderr, "%s\n", ha_take_error().text);
    fail();
}

static void fails(ha_status expected, ha_status s, const char *text) {
    assert_int_equal(s, expected);
    const ha_error e = ha_take_error();
    if (!strstr(e.text, text)) fprintf(stderr, "not \"%s\" but \"%s\"\n", text, e.text);
    assert_non_null(strstr(e.text, text));
}

static hit hit_of(int64_t i, int k) {
    return (hit){(uint16_t)((i * 37 + k) % 4096), (uint16_t)((i * 101 + 7 * k) % 4096),
                 (uint8_t)((i + k) % 3 == 0), (double)i + k};
}

typedef struct work {
    const ha_mapping *mapping;
    void *blob[8];
    int64_t first, last;
    int leaves[4], number;
    int64_t *wrong; /* values */
} work;

static void put(const ha_queue *queue, void *argument) {
    work *w = (work *)argument;
    for (int32_t b = 0; b < w->mapping->blobs; b++) w->blob[b] = HA_HERE(queue, void, w->blob[b]);
    const ha_mapped m = {w->mapping, w->blob};
    for (int64_t i = w->first; i < w->last; i++) {
        const hit h = hit_of(i, w->number);
        for (int64_t leaf = 0; leaf < 4; leaf++)
            if (w->leaves[leaf])
                ha_mapped_set(&m, leaf, &i, (const char *)&h + hit_field[leaf].offset);
    }
}

static void look(const ha_queue *queue, void *argument) {
    work *w = (work *)argument;
    for (int32_t b = 0; b < w->mapping->blobs; b++) w->blob[b] = HA_HERE(queue, void, w->blob[b]);
    const ha_mapped m = {w->mapping, w->blob};
    for (int64_t i = w->first; i < w->last; i++) {
        const hit should = hit_of(i, w->number);
        hit h = {0};
        for (int64_t leaf = 0; leaf < 4; leaf++) {
            char *at = (char *)&h + hit_field[leaf].offset;
            if (!w->leaves[leaf]) continue;
            ha_mapped_get(&m, leaf, &i, at);
            *w->wrong += memcmp(at, (const char *)&should + hit_field[leaf].offset,
                                ha_dtype_size(hit_field[leaf].type)) != 0;
        }
    }
}

/* Opens [first, last) as a text says, and puts the numbers of some fields there, or compares them: how many
 * are wrong. */
static int64_t run(ha_records *r, ha_context *c, const char *what, const char *fields,
                   int64_t first, int64_t last, int number) {
    ha_records_access v;
    static int64_t wrong;
    wrong = 0;
    fine(ha_records_open(&v, r, c, what, (size_t)first, (size_t)last));
    work w = {v.mapping, {0}, first, last, {0}, number, &wrong};
    for (int leaf = 0; leaf < 4; leaf++) w.leaves[leaf] = strchr(fields, "ctge"[leaf]) != NULL;
    memcpy(w.blob, v.blob, (size_t)v.mapping->blobs * sizeof *w.blob);
    fine(ha_records_run_(strstr(what, "write") ? put : look, &v, &w, sizeof w, "", "test"));
    fine(ha_context_finish(c));
    fine(ha_records_close(&v));
    return wrong;
}

static ha_records *records_in(const char *layout, ha_context *c) {
    const int64_t n = N;
    ha_records *r = ha_records_new(&hits, 1, &n, NULL);
    assert_non_null(r);
    fine(ha_records_layout(r, c, layout));
    assert_string_equal(ha_records_mapping(r, c)->text, layout);
    return r;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void parts_written_by_turns(ha_context *here, ha_context *there, const char *layout) {
    ha_records *r = records_in(layout, there);
    run(r, here, "overwrite", "ctge", 0, N, 0);
    for (int64_t first = 0; first + 7 < N; first += 3) {
        run(r, there, "overwrite charge+time", "ct", first, first + 2, 1);
        run(r, here, "overwrite charge+good", "cg", first + 1, first + 2, 2);
        assert_int_equal(0, run(r, there, "read charge+good", "cg", first + 1, first + 2, 2));
        assert_int_equal(0, run(r, there, "read time", "t", first, first + 2, 1));
        assert_int_equal(0, run(r, here, "read charge", "c", first, first + 1, 1));
        assert_int_equal(0, run(r, here, "read", "ctge", first + 3, N, 0));
        check_invariants(r->array);
    }
    assert_int_equal(0, run(r, there, "read energy", "e", 0, N, 0));
    fine(ha_records_free(r));
}

/* At last on strict devices: functions reach the bytes of the access, and what is written anew beside
 * values of others poisons none of them. */
TEST(parts_are_written_by_turns) {
    ha_context *sim = ha_context_find("sim:0");
    for (int k = 0; k < 4; k++) {
        const char *layout = k % 2 ? together : apart;
        if (k == 2) {
            fine(ha_shutdown());
            fine(ha_sim_configure(&(ha_sim_options){.strict = 1}));
            sim = ha_context_find("sim:0");
        }
        parts_written_by_turns(ha_host(), sim, layout);
        parts_written_by_turns(sim, ha_host(), layout);
        parts_written_by_turns(sim, ha_context_find("sim:1"), layout);
    }
    fine(ha_shutdown());
    fine(ha_sim_configure(&(ha_sim_options){.strict = 0}));
}

TEST(more_than_one_part) {
    const int64_t n[] = {301, 97}; /* rows of 97 bits: eight of them end at a byte */
    ha_record *flags = ha_record_parse("a:bool b:u8", NULL);
    ha_records *r = ha_records_new(flags, 2, n, NULL);
    ha_context *sim = ha_context_find("sim:0");
    ha_records_access v;
    int64_t at[2];
    fine(ha_records_layout(r, sim, "bitint(1; soa)"));
    for (at[0] = 0; at[0] < n[0]; at[0]++)
        for (at[1] = 0; at[1] < n[1]; at[1]++) {
            const uint8_t pair[] = {(uint8_t)(at[0] * at[1] % 3 == 0), (uint8_t)(at[1] % 2)};
            fine(ha_records_set(r, at, pair));
        }
    fine(ha_records_open(&v, r, sim, "write a", 150, 151));
    fine(ha_records_close(&v));
    fine(ha_records_open(&v, r, sim, "write", 0, HA_END));
    fine(ha_records_close(&v));
    for (at[0] = 0; at[0] < n[0]; at[0] += 7)
        for (at[1] = 0; at[1] < n[1]; at[1]++) {
            uint8_t pair[2];
            fine(ha_records_get(r, at, pair));
            assert_int_equal(pair[0], at[0] * at[1] % 3 == 0);
            assert_int_equal(pair[1], at[1] % 2);
        }
    fine(ha_records_free(r));
    ha_record_free(flags);
}

TEST(other_extents_and_single_records) {
    ha_records *r = records_in(apart, ha_host());
    const int64_t more = N + 5;
    hit h;
    run(r, ha_host(), "overwrite", "ctge", 0, N, 3);
    fine(ha_records_resize(r, &more));
    assert_int_equal(0, run(r, ha_host(), "read", "ctge", 0, N, 3));
    for (int64_t i = 20; i < 24; i++) fine(ha_records_set(r, &i, &(hit){1, 2, 1, 3}));
    for (int64_t i = 20; i < 24; i++) {
        fine(ha_records_get(r, &i, &h));
        assert_true(h.charge == 1 && h.time == 2 && h.good == 1 && h.energy == 3);
    }
    assert_int_equal(0, run(r, ha_host(), "read", "ctge", 0, 20, 3));
    assert_int_equal(0, run(r, ha_host(), "read", "ctge", 24, N, 3));
    fine(ha_records_layout(r, NULL, "soa"));
    assert_int_equal(0, run(r, ha_host(), "read", "ctge", 24, N, 3));
    fine(ha_records_layout(r, NULL, together));
    assert_int_equal(0, run(r, ha_host(), "read", "ctge", 24, N, 3));
    fine(ha_records_free(r));
}

/* ---- what is locked -------------------------------------------------------------------------- */

/* Whether two parts can be written at once. */
static int both(ha_records *r, ha_context *c, const char *one, int64_t first, int64_t last,
                const char *other, int64_t from, int64_t to) {
    ha_records_access x, y;
    fine(ha_records_open(&x, r, c, one, (size_t)first, (size_t)last));
    const ha_status s = ha_records_open(&y, r, c, other, (size_t)from, (size_t)to);
    if (!s) fine(ha_records_close(&y));
    if (s) fails(HA_ERR_CONFLICT, s, "this thread already writes it");
    fine(ha_records_close(&x));
    return !s;
}

TEST(whole_bytes_are_locked) {
    ha_context *sim = ha_context_find("sim:0");
    for (int k = 0; k < 2; k++) {
        ha_context *c = k ? sim : ha_host();
        ha_records *r = records_in(apart, c);
        run(r, c, "overwrite", "ctge", 0, N, 0);
        assert_true(both(r, c, "write charge", 0, 8, "write charge", 8, N));
        assert_false(both(r, c, "write charge", 0, 7, "write charge", 7, 8));
        assert_false(both(r, c, "overwrite good", 0, 1, "read good", 7, 8));
        assert_true(both(r, c, "write charge", 0, N, "write time+good", 0, N));
        assert_true(both(r, c, "write energy", 0, 7, "write energy", 7, N)); /* shares none */
        fine(ha_records_layout(r, c, together));
        assert_false(both(r, c, "write charge", 0, 8, "write time", 0, 8));
        assert_true(both(r, c, "write charge", 0, N, "write energy", 0, N));
        fine(ha_records_layout(r, c, "soa"));
        assert_true(both(r, c, "write charge", 0, 7, "write charge", 7, 8));
        fine(ha_records_free(r));
    }
}

/* One text may read one field and write another one of the same bytes. */
TEST(fields_of_the_same_bytes) {
    ha_records *r = records_in(together, ha_host());
    run(r, ha_host(), "overwrite", "ctge", 0, N, 0);
    run(r, ha_host(), "read charge+good, write time", "t", 0, N, 1);
    assert_int_equal(0, run(r, ha_host(), "read", "cge", 0, N, 0));
    assert_int_equal(0, run(r, ha_host(), "read", "t", 0, N, 1));
    fine(ha_records_free(r));
}

typedef struct writer {
    ha_records *records;
    int64_t first;
} writer;

/* Every other record, again and again. */
static void *write_some(void *argument) {
    const writer *w = (const writer *)argument;
    for (int64_t k = 0; k < 200; k++)
        for (int64_t i = w->first; i < N; i += 2) {
            const hit h = hit_of(i, (int)k);
            fine(ha_records_set(w->records, &i, &h));
        }
    return NULL;
}

TEST(threads_that_write_neighbours) {
    for (int k = 0; k < 2; k++) {
        ha_records *r = records_in(k ? together : apart, ha_host());
        writer w[] = {{r, 0}, {r, 1}};
        pthread_t thread[2];
        run(r, ha_host(), "overwrite", "ctge", 0, N, 0);
        for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, write_some, &w[i]);
        for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
        assert_int_equal(0, run(r, ha_host(), "read", "ctge", 0, N, 199));
        fine(ha_records_free(r));
    }
}

/* Neighbours that have no value yet are locked, but not asked for. */
TEST(neighbours_without_values) {
    ha_context *sim = ha_context_find("sim:0");
    ha_records *r = records_in(apart, sim);
    ha_records_access v;
    run(r, ha_host(), "overwrite", "ctge", 0, 3, 0);
    assert_int_equal(0, run(r, sim, "read", "ctge", 0, 3, 0));
    fails(HA_ERR_STATE, ha_records_open(&v, r, sim, "read charge", 3, 4), "were never written");
    assert_false(ha_records_valid(r, sim, "charge", 3, 4));
    run(r, ha_host(), "overwrite", "ctge", 3, 5, 0);
    assert_int_equal(0, run(r, sim, "read", "ctge", 0, 5, 0));
    fine(ha_records_free(r));
}

/* ---- what is adopted, and what is refused ----------------------------------------------------- */

TEST(memory_of_the_callers) {
    const int64_t n = N;
    ha_error e;
    ha_mapping *m = ha_mapping_parse(&hits, together, 1, &n, &e);
    unsigned char *memory[8];
    assert_non_null(m);
    for (int32_t b = 0; b < m->blobs; b++)
        memory[b] = (unsigned char *)calloc(1, (size_t)m->blob[b].bytes);
    const ha_mapped mine = {m, (void **)memory};
    for (int64_t i = 0; i < n; i++) {
        const hit h = hit_of(i, 5);
        for (int64_t leaf = 0; leaf < 4; leaf++)
            ha_mapped_set(&mine, leaf, &i, (const char *)&h + hit_field[leaf].offset);
    }
    ha_records *r = ha_records_wrap(&mine, NULL, 0);
    assert_non_null(r);
    assert_int_equal(0, run(r, ha_context_find("sim:0"), "read", "ctge", 0, N, 5));
    run(r, ha_context_find("sim:0"), "write charge", "c", 7, 9, 6);
    fine(ha_records_unwrap(r));
    for (int64_t i = 0; i < n; i++) {
        const hit h = hit_of(i, 5), other = hit_of(i, 6);
        uint16_t charge, time;
        ha_mapped_get(&mine, 0, &i, &charge);
        ha_mapped_get(&mine, 1, &i, &time);
        assert_int_equal(charge, i == 7 || i == 8 ? other.charge : h.charge);
        assert_int_equal(time, h.time);
    }
    ha_context *sim = ha_context_find("sim:0");
    void *there[8];
    for (int32_t b = 0; b < m->blobs; b++)
        there[b] = ha_memory_allocate(sim, (size_t)m->blob[b].bytes);
    assert_null(ha_records_wrap(&(ha_mapped){m, there}, sim, 0));
    fails(HA_ERR_ARGUMENT, HA_ERR_ARGUMENT, "values of bits share bytes in it");
    for (int32_t b = 0; b < m->blobs; b++) {
        fine(ha_memory_release(sim, there[b]));
        free(memory[b]);
    }
    ha_mapping_free(m);
}

TEST(layouts_that_are_refused) {
    ha_record *flags = ha_record_parse("a:bool b:bool c:bool", NULL);
    const int64_t n[] = {9, (1 << 23) + 1}, few = 8;
    assert_null(ha_records_new(flags, 2, n, "bitint(1; soa)"));
    fails(HA_ERR_ARGUMENT, HA_ERR_ARGUMENT,
          "field a cannot be kept in it: too many values of bits share bytes");
    assert_null(ha_records_new(flags, 1, &few, "split(separate; a+c: bitint(1; aos), soa)"));
    fails(
        HA_ERR_ARGUMENT, HA_ERR_ARGUMENT,
        "field a cannot be kept in it: values of bits share bytes with fields that are not beside "
        "it");
    ha_record_free(flags);
}

static int end(void **state) {
    (void)state;
    (void)!ha_shutdown();
    return 0;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(parts_are_written_by_turns, end),
        cmocka_unit_test_teardown(more_than_one_part, end),
        cmocka_unit_test_teardown(other_extents_and_single_records, end),
        cmocka_unit_test_teardown(whole_bytes_are_locked, end),
        cmocka_unit_test_teardown(fields_of_the_same_bytes, end),
        cmocka_unit_test_teardown(threads_that_write_neighbours, end),
        cmocka_unit_test_teardown(neighbours_without_values, end),
        cmocka_unit_test_teardown(memory_of_the_callers, end),
        cmocka_unit_test_teardown(layouts_that_are_refused, end),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
