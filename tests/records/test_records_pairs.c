/* Record arrays between two memories, over random pairs of all layouts that keep every value: of all
 * orders, splits, ranks and ways of storing, and of tables that no text describes, between the host and
 * devices and between devices. What each memory has is compared value by value with a naive model,
 * and of memory of the caller's every byte that belongs to no value has to stay as it was.
 *
 * Every array takes its seed from its number: a failure prints that, and HARRAY_PAIR=number runs it alone. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#define HA_RECORDS_PART_BYTES_ (3 << 10) /* so that there are several parts */
#define HA_RECORDS_LARGE_ (6 << 10)      /* written past the caches */
#include "../support/own_calls.h"

#include "../../harray_records.h"

#include "../support/matrix.h"
#include "pairs_layouts.h"

enum { ARRAYS_EACH = 200, STEPS = 6, MARGIN = 64, GUARD = 0x5A };

/* ---- the model ------------------------------------------------------------------------------- */

typedef struct place { /* one of the two memories */
    ha_context *context;
    ha_mapping *mapping;      /* as it should be there */
    int callers;              /* the memory is the caller's */
    char *memory[MOST_BLOBS]; /* of those, with a margin in front and behind */
    void *blob[MOST_BLOBS];
    unsigned char *is_value[MOST_BLOBS]; /* which bytes of the caller's belong to values */
} place;

static struct {
    uint64_t number;
    const ha_record *record;
    int rank;
    int64_t extent[HA_MAPPING_RANK];
    int64_t cells, leaves;
    ha_records *r;
    place place[2];
    uint32_t value[MOST_LEAVES][MOST_CELLS]; /* which number a value is */
    uint32_t written;
    char log[4000];
} model;

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
    const size_t n = strlen(model.log);
    va_list args;
    va_start(args, format);
    vsnprintf(model.log + n, sizeof model.log - n, format, args);
    va_end(args);
}

__attribute__((format(printf, 1, 2))) static void wrong(const char *format, ...) {
    va_list args;
    fprintf(stderr, "HARRAY_PAIR=%llu:%s\n    ", (unsigned long long)model.number, model.log);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    fail();
}

static void fine(ha_status s) {
    if (s) wrong("%s", ha_take_error().text);
}

static ha_dtype type_of(int64_t leaf) {
    ha_leaf described = {.type = HA_DTYPE_NONE};
    assert_int_equal(ha_record_leaf(model.record, leaf, &described), HA_OK);
    return described.type;
}

static void index_of(int64_t cell, int64_t *index) {
    for (int d = HA_MAPPING_RANK; d-- > 0; cell /= model.extent[d])
        index[d] = cell % model.extent[d];
}

/* ---- work where the records are --------------------------------------------------------------- */

typedef struct work {
    const place *place;
    void *blob[MOST_BLOBS]; /* where the records are */
    int64_t first[HA_MAPPING_RANK], last[HA_MAPPING_RANK];
    unsigned char leaf[MOST_LEAVES];             /* which are looked at, or written */
    unsigned char cell[MOST_LEAVES][MOST_CELLS]; /* if not NULL, which cells of them */
    int by_cell;
    int64_t wrong_leaf, wrong_cell;
    int64_t wrong_blob, wrong_byte;
} work;

static int is_meant(const work *j, int64_t leaf, int64_t cell, int64_t *index) {
    int inside = j->leaf[leaf];
    index_of(cell, index);
    if (j->by_cell) return j->cell[leaf][cell];
    for (int d = 0; d < model.rank; d++)
        inside = inside && index[d] >= j->first[d] && index[d] < j->last[d];
    return inside;
}

static ha_mapped mapped_here(const work *j, const ha_queue *queue, void **blob) {
    for (int32_t b = 0; b < j->place->mapping->blobs; b++)
        blob[b] = HA_HERE(queue, void, j->blob[b]);
    return (ha_mapped){j->place->mapping, blob};
}

static void put_values(const ha_queue *queue, void *argument) {
    const work *j = *(work **)argument;
    void *blob[MOST_BLOBS];
    const ha_mapped here = mapped_here(j, queue, blob);
    int64_t index[HA_MAPPING_RANK];
    for (int64_t leaf = 0; leaf < model.leaves; leaf++)
        for (int64_t cell = 0; cell < model.cells; cell++) {
            char value[16];
            if (!is_meant(j, leaf, cell, index)) continue;
            set_value(type_of(leaf), model.value[leaf][cell], value);
            ha_mapped_set(&here, leaf, index, value);
        }
}

static void look_at_values(const ha_queue *queue, void *argument) {
    work *j = *(work **)argument;
    void *blob[MOST_BLOBS];
    const ha_mapped here = mapped_here(j, queue, blob);
    int64_t index[HA_MAPPING_RANK];
    for (int64_t leaf = 0; leaf < model.leaves && j->wrong_leaf < 0; leaf++)
        for (int64_t cell = 0; cell < model.cells; cell++) {
            const ha_dtype type = type_of(leaf);
            char value[16], should[16];
            if (!is_meant(j, leaf, cell, index)) continue;
            set_value(type, model.value[leaf][cell], should);
            ha_mapped_get(&here, leaf, index, value);
            if (!memcmp(value, should, ha_dtype_size(type))) continue;
            j->wrong_leaf = leaf;
            j->wrong_cell = cell;
            return;
        }
}

static void look_at_guards(const ha_queue *queue, void *argument) {
    work *j = *(work **)argument;
    const place *p = j->place;
    for (int32_t b = 0; b < p->mapping->blobs; b++) {
        const unsigned char *at = HA_HERE(queue, unsigned char, p->memory[b]);
        const int64_t bytes = p->mapping->blob[b].bytes;
        for (int64_t i = -MARGIN; i < bytes + MARGIN; i++) {
            const int is_value = i >= 0 && i < bytes && p->is_value[b][i];
            if (is_value || at[MARGIN + i] == GUARD || j->wrong_blob >= 0) continue;
            j->wrong_blob = b;
            j->wrong_byte = i;
        }
    }
}

static void put_guards(const ha_queue *queue, void *argument) {
    const work *j = *(work **)argument;
    for (int32_t b = 0; b < j->place->mapping->blobs; b++)
        memset(HA_HERE(queue, void, j->place->memory[b]), GUARD,
               (size_t)j->place->mapping->blob[b].bytes + 2 * MARGIN);
}

static void do_at(ha_context *c, ha_function f, work *j) {
    fine(ha_enqueue(c, f, &j, sizeof j));
    fine(ha_context_finish(c));
}

static work some_work(const place *p) {
    return (work){.place = p, .wrong_leaf = -1, .wrong_blob = -1};
}

static void expect_right(const work *j, const char *when) {
    char name[80] = "";
    int64_t i[HA_MAPPING_RANK];
    if (j->wrong_leaf < 0) return;
    (void)ha_record_leaf_name(model.record, j->wrong_leaf, name, sizeof name);
    index_of(j->wrong_cell, i);
    wrong("%s: %s of record (%lld, %lld, %lld, %lld) is wrong at %s", when, name, (long long)i[0],
          (long long)i[1], (long long)i[2], (long long)i[3], ha_context_name(j->place->context));
}

/* ---- what is ---------------------------------------------------------------------------------- */

static int is_valid_at(const ha_incarnation *in, int64_t leaf, int64_t cell) {
    ha_field_box b = {.leaf = leaf, .end = leaf + 1};
    index_of(cell, b.first);
    for (int d = 0; d < HA_MAPPING_RANK; d++) b.last[d] = b.first[d] + 1;
    return ha_set_contains(&in->valid, ha_field_box_range(model.r->array, &b));
}

/* All that is valid in a memory is right there, and of the caller's memory nothing else was written. */
static void check_place(place *p) {
    static work j;
    const ha_incarnation *in = ha_incarnation_find(model.r->array, p->context->memory);
    j = some_work(p);
    j.by_cell = 1;
    for (int i = 0; i < 2; i++)
        fine(ha_context_finish(model.place[i].context)); /* it has arrived */
    if (!in || !in->block) return;
    for (int64_t leaf = 0; leaf < model.leaves; leaf++)
        for (int64_t cell = 0; cell < model.cells; cell++)
            j.cell[leaf][cell] = is_valid_at(in, leaf, cell) != 0;
    const ha_mapped records = ha_records_at(model.r->array, in);
    memcpy(j.blob, records.blob, (size_t)p->mapping->blobs * sizeof *j.blob);
    do_at(p->context, look_at_values, &j);
    expect_right(&j, "behind it");
    if (!p->callers) return;
    do_at(p->context, look_at_guards, &j);
    if (j.wrong_blob >= 0)
        wrong("byte %lld of %lld of the caller's blob %lld was written at %s",
              (long long)j.wrong_byte, (long long)p->mapping->blob[j.wrong_blob].bytes,
              (long long)j.wrong_blob, ha_context_name(p->context));
}

/* ---- memory of the caller's ------------------------------------------------------------------- */

static void mark_values(place *p, const ha_row *row, int64_t size, int64_t bits) {
    int64_t index[HA_MAPPING_RANK];
    for (int64_t cell = 0; cell < model.cells; cell++) {
        index_of(cell, index);
        const int64_t at = ha_row_at(p->mapping, row, index), first = bits ? at / 8 : at;
        const int64_t end = bits ? (at + bits + 7) / 8 : at + size;
        memset(p->is_value[row->blob] + first, 1, (size_t)(end - first));
    }
}

static void find_values(place *p) {
    const ha_mapping *m = p->mapping;
    for (int32_t b = 0; b < m->blobs; b++)
        p->is_value[b] = (unsigned char *)calloc((size_t)m->blob[b].bytes + 1, 1);
    for (int64_t leaf = 0; leaf < m->rows; leaf++) {
        const ha_coding *c = ha_row_coding(m, &m->row[leaf]);
        if (c && c->bytes)
            for (int b = 0; b < c->bytes; b++) mark_values(p, &m->byte_row[c->byte_row + b], 1, 0);
        else
            mark_values(p, &m->row[leaf], (int64_t)ha_dtype_size(c ? c->stored : type_of(leaf)),
                        c ? c->bits : 0);
    }
}

static void take_memory(place *p) {
    static work j;
    for (int32_t b = 0; b < p->mapping->blobs; b++) {
        const size_t bytes = (size_t)p->mapping->blob[b].bytes + 2 * MARGIN;
        p->memory[b] = p->context == H ? (char *)aligned_alloc(64, (bytes + 63) / 64 * 64)
                                       : (char *)ha_memory_allocate(p->context, bytes);
        assert_non_null(p->memory[b]);
        p->blob[b] = p->memory[b] + MARGIN;
    }
    find_values(p);
    j = some_work(p);
    do_at(p->context, put_guards, &j);
}

static void give_memory_back(place *p) {
    for (int32_t b = 0; p->callers && b < p->mapping->blobs; b++) {
        free(p->is_value[b]);
        if (p->context == H)
            free(p->memory[b]);
        else
            fine(ha_memory_release(p->context, p->memory[b]));
    }
    if (p->callers)
        HARRAY_FREE(p->mapping);
    else
        ha_mapping_free(p->mapping);
}

/* ---- what is done ------------------------------------------------------------------------------ */

/* Some leaves as text, or all of them. */
static void some_leaves(work *j, char *paths, size_t size) {
    const int all = pick(2) != 0;
    *paths = 0;
    for (int64_t leaf = 0; leaf < model.leaves; leaf++) {
        const size_t n = strlen(paths);
        char name[80] = "";
        j->leaf[leaf] = all || pick(2);
        if (all || !j->leaf[leaf]) continue;
        (void)ha_record_leaf_name(model.record, leaf, name, sizeof name);
        snprintf(paths + n, size - n, "%s%s", n ? "+" : "", name);
    }
    if (all || *paths) return;
    memset(j->leaf, 1, sizeof j->leaf); /* no text: all of them */
}

static void some_records(work *j) {
    const int64_t n = model.extent[0], all = pick(2);
    memcpy(j->last, model.extent, sizeof j->last);
    if (all) return;
    j->first[0] = (int64_t)pick((uint32_t)n);
    j->last[0] = j->first[0] + 1 + (int64_t)pick((uint32_t)(n - j->first[0]));
}

static void write_anew(const work *j) {
    int64_t index[HA_MAPPING_RANK];
    for (int64_t leaf = 0; leaf < model.leaves; leaf++)
        for (int64_t cell = 0; cell < model.cells; cell++)
            if (is_meant(j, leaf, cell, index)) model.value[leaf][cell] = ++model.written;
}

/* Opens some of it, looks at what is not overwritten, and writes what may be written. */
static void use_some(place *p, const char *mode, int everything) {
    static work j;
    char what[1200], paths[1000];
    ha_records_access v;
    work *const given = &j;
    j = some_work(p);
    some_leaves(&j, paths, sizeof paths);
    some_records(&j);
    if (everything) {
        *paths = 0;
        memset(j.leaf, 1, sizeof j.leaf);
        memset(j.first, 0, sizeof j.first);
        memcpy(j.last, model.extent, sizeof j.last);
    }
    snprintf(what, sizeof what, "%s %s", mode, paths);
    note("\n    %s: %s [%lld, %lld)", ha_context_name(p->context), what, (long long)j.first[0],
         (long long)j.last[0]);
    fine(ha_records_open(&v, model.r, p->context, what, (size_t)j.first[0], (size_t)j.last[0]));
    memcpy(j.blob, v.blob, (size_t)p->mapping->blobs * sizeof *j.blob);
    if (*mode != 'o') {
        fine(ha_records_run(look_at_values, &v, &given, sizeof given));
        fine(ha_records_wait(&v));
        fine(ha_context_finish(p->context));
        expect_right(&j, "there");
    }
    if (*mode != 'r') {
        write_anew(&j);
        fine(ha_records_run(put_values, &v, &given, sizeof given));
        fine(ha_context_finish(p->context));
    }
    fine(ha_records_close(&v));
}

/* Moves any box of any leaves. */
static void fetch_some(place *p) {
    ha_field_box b = {.leaf = (int64_t)pick((uint32_t)model.leaves)};
    b.end = b.leaf + 1 + (int64_t)pick((uint32_t)(model.leaves - b.leaf));
    if (pick(2)) b.leaf = 0, b.end = model.leaves;
    for (int d = 0; d < HA_MAPPING_RANK; d++) {
        const uint32_t n = (uint32_t)model.extent[d];
        b.first[d] = (int64_t)pick(n);
        b.last[d] = b.first[d] + 1 + (int64_t)pick(n - (uint32_t)b.first[d]);
    }
    note("\n    %s: fetch leaves %lld to %lld, from (%lld, %lld, %lld, %lld) to (%lld, %lld, %lld, "
         "%lld)",
         ha_context_name(p->context), (long long)b.leaf, (long long)b.end, (long long)b.first[0],
         (long long)b.first[1], (long long)b.first[2], (long long)b.first[3], (long long)b.last[0],
         (long long)b.last[1], (long long)b.last[2], (long long)b.last[3]);
    fine(ha_records_fetch(model.r->array, p->context, ha_field_box_range(model.r->array, &b),
                          "test", "test"));
}

/* ---- arrays ------------------------------------------------------------------------------------ */

/* An array of the model's record and extents, in these two layouts. */
static void make_array(ha_mapping *one, ha_mapping *other) {
    place *const p = model.place;
    p[0].mapping = one;
    p[1].mapping = other;
    for (int i = 0; i < 2; i++)
        note("\n    %s: %s%s", ha_context_name(p[i].context), p[i].mapping->text,
             p[i].callers ? ", the caller's" : "");
    note(", %s, extents %lld, %lld, %lld, %lld", model.record->name, (long long)model.extent[0],
         (long long)model.extent[1], (long long)model.extent[2], (long long)model.extent[3]);
    if (p[0].callers) {
        const ha_mapped memory = {one, p[0].blob};
        take_memory(&p[0]);
        model.r = ha_records_wrap(&memory, p[0].context, HA_WRAP_UNWRITTEN);
    } else {
        model.r = ha_records_new(model.record, model.rank, model.extent, one->text);
    }
    if (!model.r) wrong("%s", ha_take_error().text);
    fine(ha_records_layout(model.r, p[1].context, other->text));
}

static void use_array(void) {
    place *const p = model.place;
    use_some(&p[pick(2)], "overwrite", 1);
    for (int i = 0; i < STEPS; i++) {
        static const char *const modes[] = {"overwrite", "write", "write", "read", "read"};
        const uint32_t how = pick(7), where = pick(2);
        if (how < 5)
            use_some(&p[where], modes[how], 0);
        else
            fetch_some(&p[where]);
        check_place(&p[0]);
        check_place(&p[1]);
        check_invariants(model.r->array);
    }
    for (int i = 0; i < 2; i++) use_some(&p[i], "read", 1);
    for (int i = 0; i < 2; i++) check_place(&p[i]);
}

static void free_array(void) {
    if (model.place[0].callers) {
        fine(ha_records_unwrap(model.r));
        fine(ha_context_finish(model.place[0].context));
    } else {
        fine(ha_records_free(model.r));
    }
    give_memory_back(&model.place[0]);
    give_memory_back(&model.place[1]);
}

static void begin_model(ha_context *one, ha_context *other, const ha_record *record, int callers) {
    memset(&model, 0, sizeof model);
    model.number = pair_number;
    model.record = record;
    model.leaves = ha_record_leaves(record);
    model.place[0].context = one;
    model.place[1].context = other;
    model.place[0].callers = callers;
}

static void one_array(ha_context *one, ha_context *other) {
    const int turned = pick(2) != 0;
    begin_model(turned ? other : one, turned ? one : other, any_record(), pick(3) == 0);
    model.cells = any_extents(&model.rank, model.extent);
    ha_mapping *const first = any_mapping(model.record, model.rank, model.extent,
                                          model.place[0].callers, model.place[0].context != H);
    make_array(first, any_mapping(model.record, model.rank, model.extent, 0, 0));
    use_array();
    free_array();
}

/* Pairs that were wrong once; the first one is the host's. */
static void known_pairs(ha_context *other) {
    static const struct {
        const char *record, *one, *other;
        int rank, callers;
        int64_t extent[HA_MAPPING_RANK];
    } known[] = {
        {"x:f32 y:f64", "aosoa(4)", "aosoa(4)@col", 2, 0, {8, 12, 1, 1}},
        {"x:f32 y:f64", "aosoa(4)", "permute(1,0,aosoa(4))", 2, 0, {8, 12, 1, 1}},
        {"a:f32 id:u32 m:f64", "aos", "split(separate; id: soa, aos)", 1, 0, {40, 1, 1, 1}},
        {"a:f32 m:f64", "split(a: aos, aos)", "aos", 1, 0, {2, 1, 1, 1}},
        {"x:f32 y:f64", "aosoa(4)", "aosoa(4)", 1, 1, {6, 1, 1, 1}},
        {"x:f32 y:f64", "aosoa(4)", "aosoa(4)", 2, 1, {5, 7, 1, 1}},
        {"x:f32 y:f64", "bytesplit(aosoa(4))", "bytesplit(aosoa(4))", 1, 1, {6, 1, 1, 1}},
    };
    for (size_t i = 0; i < 5 * sizeof known / sizeof *known; i++) {
        const size_t k = i % (sizeof known / sizeof *known);
        ha_record *record = ha_record_parse(known[k].record, NULL);
        start_pair(i);
        begin_model(H, other, record, known[k].callers);
        model.rank = known[k].rank;
        memcpy(model.extent, known[k].extent, sizeof model.extent);
        model.cells = model.extent[0] * model.extent[1];
        ha_mapping *one = ha_mapping_parse(record, known[k].one, model.rank, model.extent, NULL);
        ha_mapping *two = ha_mapping_parse(record, known[k].other, model.rank, model.extent, NULL);
        assert_true(one && two);
        if (known[k].callers) {
            ha_mapping *copy = ha_mapping_duplicated(one);
            ha_mapping_free(one);
            one = copy;
        }
        make_array(one, two);
        use_array();
        free_array();
        ha_record_free(record);
    }
}

/* Many of them, or the one that is asked for. */
static void many_arrays(ha_context *one, ha_context *other, uint64_t group) {
    const char *only = getenv("HARRAY_PAIR"), *operations = getenv("HARRAY_FUZZ_OPS");
    const uint64_t n = operations ? strtoull(operations, NULL, 10) / 200 : ARRAYS_EACH;
    for (uint64_t i = 0; i < n; i++) {
        start_pair(group * 1000000 + i);
        if (only && strtoull(only, NULL, 10) != pair_number) continue;
        one_array(one, other);
    }
}

/* ---- pairs of memories ------------------------------------------------------------------------- */

static void on_sim(const ha_sim_options *options, uint64_t group) {
    fine(ha_sim_configure(options));
    H = ha_host();
    many_arrays(H, ha_context_find("sim:0"), group);
    fine(ha_shutdown());
}

TEST(host_and_sim_known) {
    fine(ha_sim_configure(&(ha_sim_options){.strides = 0}));
    H = ha_host();
    known_pairs(ha_context_find("sim:0"));
    fine(ha_shutdown());
}

TEST(host_and_sim) { on_sim(&(ha_sim_options){.strides = 0}, 1); }
TEST(host_and_sim_with_strides) { on_sim(&(ha_sim_options){.strides = 1}, 2); }

static void between_sims(const ha_sim_options *options, uint64_t group) {
    fine(ha_sim_configure(options));
    H = ha_host();
    many_arrays(ha_context_find("sim:0"), ha_context_find("sim:1"), group);
    fine(ha_shutdown());
}

TEST(sims_that_reach_each_other) {
    between_sims(&(ha_sim_options){.strides = 1, .peers = 1}, 3);
    between_sims(&(ha_sim_options){.peers = 1}, 4);
}
TEST(sims_by_way_of_the_host) { between_sims(&(ha_sim_options){.strides = 1}, 5); }

TEST(host_and_cuda) {
    if (!cuda_fake()) skip();
    fine(cuda_use(HA_CUDA_DEVICE, "peers=0"));
    fine(ha_backend_register(launch_backend_make()));
    H = ha_host();
    many_arrays(H, ha_context_find("launch:0"), 6);
    fine(ha_shutdown());
    assert_true(cuda_fake_is_empty());
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_and_sim_known),        cmocka_unit_test(host_and_sim),
        cmocka_unit_test(host_and_sim_with_strides), cmocka_unit_test(sims_that_reach_each_other),
        cmocka_unit_test(sims_by_way_of_the_host),   cmocka_unit_test(host_and_cuda),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
