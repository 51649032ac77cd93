/* Failure loop (see failure/test_failure.c) of record arrays: every allocation and every call of a
 * backend fails in turn, and then with all behind it. When a call fails, what can be seen of the
 * array must be as before, but for values that came to the host on their way, or on which nothing
 * was asked but to be there; then it is repeated, and must succeed; at the end all values are
 * there, and everything has been given back. */
#include "../support/failure_engine.h"
#include "../../harray_records.h"

#include "../support/invariants.h"
#include "../support/share.h"
#include "../support/small_pages.h"
#include "records_atom.h"

enum { N = 6, MOST = 12, CONTEXTS = 4, ARRAYS = 2 };

typedef struct cells {
    int known[LEAVES][MOST];
    double value[LEAVES][MOST];
} cells;

/* A record array and what it should have. */
typedef struct thing {
    atoms r;
    const char *name;
    cells is;
} thing;

/* What can be seen of one. */
typedef struct array_snapshot {
    int64_t size;
    uint64_t version;
    char layout[CONTEXTS][48];
    char valid[CONTEXTS][LEAVES][MOST];
} array_snapshot;

static ha_context *context[CONTEXTS]; /* host, sim, private, CUDA */
static int contexts;
static thing things[ARRAYS];
static struct {
    const char *step;
    long point;
    int sticky, spent, unified, strides;
    array_snapshot before[ARRAYS];
} round_;
static uint32_t counter;

__attribute__((format(printf, 1, 2))) static void report(const char *format, ...) {
    va_list args;
    const char *last = faulty_last();
    faulty_disarm();
    fprintf(stderr, "point %ld%s%s%s, last failure %s, step %s\n    ", round_.point,
            round_.sticky ? " and all behind it" : "", round_.unified ? ", unified" : "",
            round_.strides ? ", strides" : "", last ? last : "none", round_.step);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    fail();
}

#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition)) report(__VA_ARGS__);                                                     \
    } while (0)

#include "../failure/failure_gone.h"

/* ---- looking --------------------------------------------------------------------------------- */

static const char *leaf_name(int leaf) {
    static char name[16];
    (void)ha_record_leaf_name(&atom_record, leaf, name, sizeof name);
    return name;
}

static int is_valid(const ha_records *r, int c, int leaf, int64_t i) {
    ha_array *a = r->array;
    const ha_incarnation *in = ha_incarnation_find(a, context[c]->memory);
    const ha_field_box b = {leaf, leaf + 1, {i, 0, 0, 0}, {i + 1, 1, 1, 1}};
    return in && ha_set_contains(&in->valid, ha_field_box_range(a, &b));
}

static void look(const thing *t, array_snapshot *s) {
    memset(s, 0, sizeof *s);
    s->size = ha_records_size(t->r.records);
    s->version = ha_records_version(t->r.records);
    for (int c = 0; c < contexts; c++) {
        const ha_records_state *f = ha_records_state_of(t->r.records->array);
        const ha_placement *there = ha_placement_find(f, context[c]->memory);
        snprintf(s->layout[c], sizeof s->layout[c], "%s", there ? there->mapping->text : "");
        for (int l = 0; l < LEAVES; l++)
            for (int64_t i = 0; i < s->size; i++)
                s->valid[c][l][i] = (char)is_valid(t->r.records, c, l, i);
    }
}

static void look_at_all(array_snapshot *s) {
    const long points = faulty_points(), first = faulty_pause();
    for (int k = 0; k < ARRAYS; k++)
        if (things[k].r.records) look(&things[k], &s[k]);
    faulty_resume(first, points);
}

/* More may be valid than before: copies of what is valid; and a layout may be known where it was
 * not asked for before. Nothing else is different. */
static void check_unchanged(const array_snapshot *before, const array_snapshot *now,
                            const char *name) {
    EXPECT(now->size == before->size, "%s has another size", name);
    EXPECT(now->version == before->version, "%s has another version", name);
    for (int c = 0; c < contexts; c++) {
        EXPECT(!*before->layout[c] || !strcmp(before->layout[c], now->layout[c]),
               "%s at %s is %s, was %s", name, ha_context_name(context[c]), now->layout[c],
               before->layout[c]);
        for (int l = 0; l < LEAVES; l++)
            for (int64_t i = 0; i < now->size; i++) {
                int somewhere = 0;
                for (int k = 0; k < contexts; k++) somewhere |= before->valid[k][l][i];
                EXPECT(now->valid[c][l][i] >= before->valid[c][l][i],
                       "%s: %s of record %lld is no longer valid at %s", name, leaf_name(l),
                       (long long)i, ha_context_name(context[c]));
                EXPECT(somewhere || !now->valid[c][l][i], "%s: %s of record %lld appears at %s",
                       name, leaf_name(l), (long long)i, ha_context_name(context[c]));
                EXPECT(c == 0 || ha_context_is_zero_copy(context[c]) ||
                           now->valid[c][l][i] == before->valid[c][l][i],
                       "%s: %s of record %lld has come to %s", name, leaf_name(l), (long long)i,
                       ha_context_name(context[c]));
            }
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

static ha_status expected_status(void) {
    const char *slot = faulty_last(), *dot = strchr(slot, '.');
    const int memory = !dot || !strcmp(dot, ".allocate") || !strcmp(dot, ".pin");
    return memory ? HA_ERR_MEMORY : HA_ERR_BACKEND;
}

/* Whether the step has to be repeated. */
static int end_step(ha_status s, const char *name) {
    const ha_error e = ha_take_error();
    static array_snapshot now[ARRAYS];
    if (s == HA_OK) {
        EXPECT(!e.status, "it succeeded with an error: %s", e.text);
        return 0;
    }
    EXPECT(faulty_disarm() > 0, "%s, but nothing was made to fail: %s", ha_status_name(s), e.text);
    EXPECT(e.status == s, "returned %s, recorded %s", ha_status_name(s), ha_status_name(e.status));
    EXPECT(round_.sticky ? s == HA_ERR_MEMORY || s == HA_ERR_BACKEND : s == expected_status(),
           "%s: %s", ha_status_name(s), e.text);
    EXPECT(!name || strstr(e.text, name), "it does not say which: %s", e.text);
    look_at_all(now);
    for (int k = 0; k < ARRAYS; k++)
        if (things[k].r.records) check_unchanged(&round_.before[k], &now[k], things[k].name);
    round_.spent = 1;
    return 1;
}

#define STEP(name, ...)                                                                            \
    do {                                                                                           \
        round_.step = HA_SITE ": " #__VA_ARGS__;                                                   \
        if (!round_.spent) look_at_all(round_.before);                                             \
        if (end_step(__VA_ARGS__, name)) (void)end_step(__VA_ARGS__, name);                        \
    } while (0)
#define SURELY(...)                                                                                \
    do {                                                                                           \
        round_.step = HA_SITE ": " #__VA_ARGS__;                                                   \
        const ha_status surely_ = (__VA_ARGS__);                                                   \
        EXPECT(surely_ == HA_OK, "it cannot fail: %s", ha_take_error().text);                      \
    } while (0)

/* ---- work on queues -------------------------------------------------------------------------- */

typedef struct work {
    const ha_mapping *mapping;
    void *const *blob;
    void *at[LEAVES + 4];
    int64_t first, last;
    int check[LEAVES], set[LEAVES];
    const cells *before;
    double add;
} work;

static atomic_int wrong;

static void run_work(const ha_queue *queue, void *argument) {
    const work *w = (const work *)argument;
    void *blob[LEAVES + 4];
    for (int b = 0; b < w->mapping->blobs; b++) blob[b] = HA_HERE(queue, void, w->at[b]);
    const ha_mapped here = {w->mapping, blob};
    for (int l = 0; l < LEAVES; l++)
        for (int64_t i = w->first; i < w->last; i++) {
            char value[8];
            ha_mapped_get(&here, l, &i, value);
            if (w->check[l] && w->before->known[l][i] &&
                leaf_number(l, value) != w->before->value[l][i])
                atomic_store(&wrong, 1 + l);
            if (!w->set[l]) continue;
            leaf_set_number(l, w->add + (double)i, value);
            ha_mapped_set(&here, l, &i, value);
        }
}

/* The cells as they are now live as long as the queue may need them. */
enum { SNAPSHOTS = 64 };
static cells snapshot[SNAPSHOTS];
static int snapshots;

static ha_status opens(ha_records_access *a, thing *t, ha_context *c, const char *what,
                       size_t first, size_t last) {
    memset(a, 0xAA, sizeof *a);
    const ha_status s = ha_records_open(a, t->r.records, c, what, first, last);
    EXPECT(a->status == s, "the access has another status");
    EXPECT(!s || (!a->records && !a->context && !a->mapping && !a->blob),
           "a failed opening leaves something in the access");
    return s;
}

/* Opens, looks at the leaves that are read, sets those [set, set + count), and closes. */
static void change(thing *t, ha_context *c, const char *what, size_t first, size_t last, int set,
                   int count, const char *reads) {
    ha_records_access a;
    STEP(t->name, opens(&a, t, c, what, first, last));
    work w = {.mapping = a.mapping, .first = a.first, .last = a.last};
    EXPECT(snapshots < SNAPSHOTS && a.mapping->blobs <= LEAVES + 4, "more than there is room for");
    snapshot[snapshots] = t->is;
    w.before = &snapshot[snapshots++];
    memcpy(w.at, a.blob, (size_t)a.mapping->blobs * sizeof *w.at);
    for (const char *p = reads; *p; p++) w.check[*p - 'a'] = 1;
    w.add = (double)(++counter % 20);
    for (int l = set; l < set + count; l++) {
        w.set[l] = 1;
        for (int64_t i = a.first; i < a.last; i++) {
            t->is.known[l][i] = 1;
            t->is.value[l][i] = w.add + (double)i;
        }
    }
    STEP(t->name, ha_records_run(run_work, &a, &w, sizeof w));
    SURELY(ha_records_close(&a));
}

static ha_status makes(thing *t, atoms r) {
    t->r = r;
    if (r.records) ha_records_set_name(r.records, t->name);
    return r.records ? HA_OK : ha_first_error.status;
}

static void lays_out(thing *t, ha_context *c, const char *layout) {
    STEP(t->name, ha_records_layout(t->r.records, c, layout));
    EXPECT(!strcmp(ha_records_mapping(t->r.records, c)->text, layout), "another layout");
}

static ha_status maps(const thing *t, ha_context *c) {
    return ha_records_mapping(t->r.records, c) ? HA_OK : ha_first_error.status;
}

static void gets(thing *t, int64_t i) {
    atom a;
    memset(&a, 0, sizeof a);
    STEP(t->name, atoms_get(t->r, i, &a));
    EXPECT(!t->is.known[POS][i] || a.pos.x == t->is.value[POS][i], "record %lld has another pos.x",
           (long long)i);
}

static void sets(thing *t, int64_t i) {
    atom a;
    memset(&a, 0, sizeof a);
    STEP(t->name, atoms_set(t->r, i, a));
    for (int l = 0; l < LEAVES; l++) {
        t->is.known[l][i] = 1;
        t->is.value[l][i] = 0;
    }
}

/* What is added was never written. */
static void resizes(thing *t, int64_t n) {
    STEP(t->name, atoms_resize(t->r, n));
    for (int l = 0; l < LEAVES; l++)
        for (int64_t i = n; i < MOST; i++) t->is.known[l][i] = 0;
}

static void reads_back(thing *t) {
    ha_records_access a;
    STEP(t->name, opens(&a, t, context[0], "read", 0, HA_END));
    const ha_mapped here = {a.mapping, a.blob};
    for (int l = 0; l < LEAVES; l++)
        for (int64_t i = 0; i < a.last; i++) {
            char value[8];
            ha_mapped_get(&here, l, &i, value);
            EXPECT(!t->is.known[l][i] || leaf_number(l, value) == t->is.value[l][i],
                   "%s of record %lld is %g, not %g", leaf_name(l), (long long)i,
                   leaf_number(l, value), t->is.value[l][i]);
        }
    SURELY(ha_records_close(&a));
}

HA_FN void age(cloud v, int32_t by) { HA_EACH(cloud, v, at) * cloud_id(v, at) += by; }
HA_QUEUED(age, cloud, int32_t);

/* By a scope, which is tried again when it cannot be had. */
static void ages(thing *t, ha_context *c) {
    for (int tries = 0; tries < 2; tries++) {
        round_.step = HA_SITE ": HA_USING";
        if (!round_.spent) look_at_all(round_.before);
        HA_USING(v, t->r, c, "write id") {
            STEP(t->name, HA_RUN_VIEW(age, v, 1));
            for (int64_t i = 0; i < v.count; i++) t->is.value[ID][i] += 1;
            return;
        }
        else(void) end_step(HA_USED(v).status, t->name);
    }
    EXPECT(0, "no access at the second time");
}

/* ---- what is played -------------------------------------------------------------------------- */

/* From place to place. */
static void play_moving(void) {
    thing *t = &things[0];
    ha_context *h = context[0], *n = context[1], *f = context[contexts - 1];
    STEP(NULL, makes(t, atoms_new(N)));
    lays_out(t, n, "soa");
    change(t, h, "overwrite", 0, HA_END, 0, LEAVES, "");
    change(t, n, "read pos+mass, write vel", 0, HA_END, VEL, 2, "abcf");
    lays_out(t, f, "aosoa(4)");
    change(t, f, "read vel, write pos.y+mass", 1, 5, MASS, 1, "de");
    change(t, n, "read pos.x+pos.z+mass+tag[1]+flag, overwrite id", 0, HA_END, ID, 1, "acfhk");
    STEP(t->name, ha_records_prefetch(t->r.records, f, "tag", 0, HA_END));
    change(t, f, "write tag", 2, 4, TAG, 3, "ghi");
    gets(t, 3);
    sets(t, 2);
    change(t, context[1 % contexts], "write", 0, HA_END, FLAG, 1, "abcdefghijk");
    reads_back(t);
    SURELY(atoms_free(&t->r));
}

/* Layouts and extents while there are values in several places. */
static void play_changing(void) {
    thing *t = &things[0];
    ha_context *h = context[0], *n = context[1], *f = context[contexts - 1];
    STEP(NULL, makes(t, atoms_new(N)));
    change(t, h, "overwrite", 0, HA_END, 0, LEAVES, "");
    change(t, n, "write pos", 0, HA_END, POS, 3, "");
    change(t, f, "write vel", 0, 3, VEL, 2, "");
    lays_out(t, n, "split(separate; pos: soa, aos)");
    lays_out(t, h, "aosoa(8)");
    resizes(t, MOST);
    change(t, f, "overwrite", N, HA_END, 0, LEAVES, "");
    lays_out(t, f, "soa(single)");
    resizes(t, N - 1);
    change(t, n, "read", 0, HA_END, 0, 0, "abcdefghijk");
    ages(t, n);
    reads_back(t);
    SURELY(atoms_free(&t->r));
}

/* Memory of the caller's: an array of structs, and arrays. */
static void play_adopting(void) {
    static atom mine[N];
    static double numbers[4][N];
    static float vel[2][N];
    static uint16_t tag[3][N];
    static int32_t id[N];
    static uint8_t flag[N];
    void *const arrays[] = {numbers[0], numbers[1], numbers[2], vel[0], vel[1], numbers[3],
                            tag[0],     tag[1],     tag[2],     id,     flag};
    thing *t = &things[0], *u = &things[1];
    ha_context *n = context[1], *f = context[contexts - 1];
    STEP(NULL, makes(t, atoms_of(mine, N)));
    STEP(NULL, makes(u, atoms_on(arrays, LEAVES, N)));
    if (!round_.unified) lays_out(t, n, "soa");
    change(t, n, "write pos+id", 0, HA_END, POS, 3, "");
    change(u, f, "overwrite tag", 0, HA_END, TAG, 3, "");
    change(u, n, "write id", 1, 3, ID, 1, "");
    STEP(t->name, atoms_sync(t->r));
    EXPECT(mine[2].pos.x == t->is.value[POS][2], "the caller's value was not brought");
    change(t, f, "write mass", 0, HA_END, MASS, 1, "");
    STEP(t->name, atoms_unwrap(&t->r));
    STEP(u->name, atoms_unwrap(&u->r));
    for (int i = 0; i < N; i++) {
        EXPECT(mine[i].mass == t->is.value[MASS][i], "a mass is lost");
        EXPECT(tag[1][i] == u->is.value[TAG + 1][i], "a tag is lost");
        EXPECT(i < 1 || i > 2 || id[i] == (int32_t)u->is.value[ID][i], "an id is lost");
    }
}

/* The same on the host and one device, in a few steps of which each point is played: what takes
 * memory for itself, and goes on with several ranges. */
static void play_shortly(void) {
    thing *t = &things[0];
    ha_context *h = context[0], *n = context[1];
    STEP(NULL, makes(t, atoms_new(N)));
    STEP(t->name, maps(t, n));
    change(t, h, "overwrite pos.x+vel.x+tag[0]+id, overwrite pos.z, overwrite mass", 0, HA_END, 0,
           0, "");
    change(t, h, "overwrite", 0, 2, 0, LEAVES, "");
    change(t, n, "overwrite", 3, 5, 0, LEAVES, "");
    STEP(t->name, ha_records_prefetch(t->r.records, h, NULL, 0, HA_END));
    lays_out(t, h, "aosoa(4)");
    lays_out(t, n, "soa");
    STEP(t->name, ha_records_prefetch(t->r.records, n, "pos", 0, HA_END));
    resizes(t, N - 2);
    change(t, n, "read pos.x, write vel.y+tag[1]", 0, 2, VEL + 1, 1, "a");
    gets(t, 1);
    SURELY(atoms_free(&t->r));
}

/* Memory of the caller's on a device: nothing of the host's is there until it is asked for. */
static void play_elsewhere(void) {
    thing *t = &things[0];
    ha_context *h = context[0], *n = context[1], *f = context[2];
    const int64_t size = N;
    const long points = faulty_points(), first = faulty_pause();
    ha_mapping *m = ha_mapping_parse(&atom_record, "soa", 1, &size, NULL);
    void *blob[LEAVES];
    faulty_resume(first, points);
    EXPECT(m && m->blobs == LEAVES, "no mapping");
    for (int b = 0; b < LEAVES; b++)
        STEP(NULL, (blob[b] = ha_memory_allocate(n, 64)) ? HA_OK : ha_first_error.status);
    const ha_mapped memory = {m, blob};
    for (int k = 0; k < 2; k++) {
        STEP(NULL, makes(t, atoms_from_(ha_records_wrap(&memory, n, HA_WRAP_UNWRITTEN))));
        change(t, n, "overwrite", 0, HA_END, 0, LEAVES, "");
        if (k)
            gets(t, 1);
        else
            change(t, f, "read pos", 0, HA_END, 0, 0, "abc");
        change(t, h, "write tag", 0, HA_END, TAG, 3, "");
        STEP(NULL, ha_context_finish(f)); /* what runs there uses the mapping */
        STEP(t->name, atoms_unwrap(&t->r));
    }
    for (int b = 0; b < LEAVES; b++) SURELY(ha_memory_release(n, blob[b]));
    ha_mapping_free(m);
}

/* More blobs than most have. */
typedef struct wide {
    float x[70];
} wide;
#define wide_FIELDS (float, x, (70))
HA_RECORD(wide)
HA_VIEW(some, wide, 1, HA_ANY)
HA_RECORDS(some_wide, some);

static ha_status uses(some_wide r, ha_context *c) {
    ha_status s = HA_ERR_STATE;
    HA_USING(v, r, c, "overwrite") s = v.blob[69] ? HA_OK : HA_ERR_STATE;
    else s = HA_USED(v).status;
    return s;
}

static void play_widely(void) {
    some_wide r = {0};
    static float mine[70][N];
    void *arrays[70];
    for (int i = 0; i < 70; i++) arrays[i] = mine[i];
    STEP("wide_new", (r = some_wide_new(N)).records ? HA_OK : ha_first_error.status);
    STEP("(wide[6])", uses(r, context[2]));
    STEP("(wide[6])", ha_records_layout(r.records, context[1], "soa"));
    STEP("(wide[6])", uses(r, context[1]));
    SURELY(some_wide_free(&r));
    STEP("wide_on", (r = some_wide_on(arrays, 70, N)).records ? HA_OK : ha_first_error.status);
    STEP("(wide[6])", uses(r, context[0]));
    STEP("(wide[6])", some_wide_unwrap(&r));
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void set_up(void) {
    memset(things, 0, sizeof things);
    things[0].name = "anne";
    things[1].name = "bill";
    snapshots = 0;
    counter = 0;
    round_.spent = 1;
    const ha_sim_options options = {
        .capacity = 1 << 20, .unified = round_.unified, .strides = round_.strides};
    SURELY(ha_sim_configure(&options));
    SURELY(ha_backend_register(&faulty_sim));
    SURELY(ha_backend_register(&faulty_private));
    context[0] = ha_host();
    context[1] = ha_context_find("faulty_sim:0");
    context[2] = ha_context_find("faulty_private:0");
    contexts = 3;
    if (cuda_fake()) {
        SURELY(cuda_use(HA_CUDA_DEVICE, "capacity=1M,peers=0"));
        (void)launch_backend_make();
        SURELY(ha_backend_register(&faulty_launch));
        context[contexts++] = ha_context_find("faulty_launch:0");
    }
    for (int c = 0; c < contexts; c++) {
        EXPECT(context[c] != NULL, "%s", ha_take_error().text);
        SURELY(ha_memory_set_cache(context[c], 0)); /* so that each allocation can fail */
    }
}

static void tear_down(void) {
    round_.step = "the end";
    EXPECT(ha_shutdown() == HA_OK, "shutting down failed: %s", ha_take_error().text);
    EXPECT(!atomic_load(&wrong), "a function on a queue found a wrong %s",
           leaf_name(atomic_load(&wrong) - 1));
    check_all_gone();
    EXPECT(!cuda_fake() || cuda_fake_is_empty(), "the CUDA driver has not got everything back");
    EXPECT(faulty_records() == 0, "%ld blocks of memory were leaked", faulty_records());
}

/* Whether there was such a point. */
static int play(void (*chapter)(void), long n) {
    round_.point = n;
    set_up();
    round_.spent = 0;
    faulty_arm(n, round_.sticky);
    chapter();
    const int there = faulty_disarm() > 0 || round_.spent;
    tear_down();
    return there;
}

typedef struct chapter {
    void (*play)(void);
    int all; /* points: there are few */
} chapter;

static void play_all(void **state) {
    const chapter *what = (const chapter *)*state;
    const long each = what->all ? 1 : test_stride();
    static const struct {
        int sticky, unified, strides, step;
    } rounds[] = {{0, 0, 0, 1}, {1, 0, 0, 2}, {0, 1, 0, 2}, {0, 0, 1, 1}, {1, 0, 1, 3}};
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        long n = 0;
        round_.sticky = rounds[i].sticky;
        round_.unified = rounds[i].unified;
        round_.strides = rounds[i].strides;
        while (play(what->play, n)) n += rounds[i].step * each;
        printf("# %ld points%s%s%s\n", n, round_.sticky ? ", each with all behind it" : "",
               round_.unified ? ", unified" : "", round_.strides ? ", strides" : "");
    }
}

int main(int argc, char **argv) {
    static chapter chapters[] = {{play_moving, 0},  {play_changing, 0}, {play_adopting, 0},
                                 {play_shortly, 1}, {play_widely, 1},   {play_elsewhere, 1}};
    const struct CMUnitTest tests[] = {
        {"moving", play_all, NULL, NULL, &chapters[0]},
        {"changing", play_all, NULL, NULL, &chapters[1]},
        {"adopting", play_all, NULL, NULL, &chapters[2]},
        {"shortly", play_all, NULL, NULL, &chapters[3]},
        {"widely", play_all, NULL, NULL, &chapters[4]},
        {"elsewhere", play_all, NULL, NULL, &chapters[5]},
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    use_small_pages();
    return cmocka_run_group_tests_name("failure loop of record arrays", tests, NULL, NULL);
}
