/* Record arrays against an oracle: one copy of the values, and for each field of each record a bit
 * for every memory where it is valid. Random fields, ranges, contexts, layouts and extents; one
 * thread.
 *
 * Behind support/matrix.h and records_atom.h. A failure prints the seed and the last steps. */
#ifndef HARRAY_TESTS_RECORDS_RECORDS_MODEL_H
#define HARRAY_TESTS_RECORDS_RECORDS_MODEL_H

#include "../support/matrix.h"
#include "records_atom.h"

enum {
    ROWS = 12,
    INNER = 4,
    CELLS = ROWS * INNER,
    PLACES = 4, /* H, C, M1, M2 */
    OPENED = 4,
    KEPT_MAPPINGS = 4096
};
typedef enum cell_state { CELL_NEVER, CELL_UNDEFINED, CELL_KNOWN } cell_state;

typedef struct cell {
    cell_state state;
    double value;
    char valid[PLACES]; /* by memory: of contexts that share one, the first */
} cell;

typedef struct opened {
    ha_records_access access;
    int open, place;
    ha_region box;
    int mode[LEAVES]; /* 0: not opened; else 1 + how */
} opened;

/* What a function on a queue is to find, and to leave. */
typedef struct work {
    struct work *next;
    const ha_mapping *mapping;
    void *blob[64];
    int rank;
    int64_t extent[3];
    ha_region box;
    int checks[LEAVES][CELLS], writes[LEAVES];
    double before[LEAVES][CELLS], after[LEAVES][CELLS];
} work;

static struct {
    uint64_t random, seed;
    ha_context *context[PLACES];
    int memory[PLACES];
    ha_records *r;
    int rank;
    int64_t extent[3], rows, inner;
    cell cell[LEAVES][CELLS];
    opened opened[OPENED];
    uint32_t counter, steps, done;
    uint64_t bytes; /* that have to be moved */
    ha_mapping *wrapped;
    void *memory_of[64]; /* its blobs */
    int wrapped_place;
    work *works;
    ha_mapping *kept[KEPT_MAPPINGS];
    int mappings;
    char log[8192];
    size_t logged;
} world;

/* What a function on a queue found wrong first. */
static struct {
    atomic_int seen;
    int leaf, cell;
    double expected, found;
} wrong;

__attribute__((format(printf, 1, 2))) static void world_note(const char *format, ...) {
    va_list args;
    if (world.logged > sizeof world.log / 2) {
        const size_t half = world.logged / 2;
        memmove(world.log, world.log + half, world.logged - half);
        world.logged -= half;
    }
    va_start(args, format);
    const int n = vsnprintf(world.log + world.logged, 400, format, args);
    va_end(args);
    if (n > 0) world.logged += n < 400 ? (size_t)n : 399;
}

__attribute__((format(printf, 1, 2))) static void world_fail(const char *format, ...) {
    char text[2000] = "";
    va_list args;
    fprintf(stderr, "seed %llu, step %u:%s\n    ", (unsigned long long)world.seed, world.steps,
            world.log);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    (void)ha_records_describe(world.r, text, sizeof text);
    fprintf(stderr, "\n%s\n", text);
    fail();
}

#define WORLD(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) world_fail(__VA_ARGS__);                                                 \
    } while (0)

static uint32_t pick(uint32_t n) {
    world.random ^= world.random >> 12;
    world.random ^= world.random << 25;
    world.random ^= world.random >> 27;
    return (uint32_t)((world.random * UINT64_C(2685821657736338717) >> 32) * n >> 32);
}

static void expect_status(ha_status got, ha_status wanted, const char *what) {
    const ha_error e = ha_take_error();
    WORLD(got == wanted, "%s gives %s, not %s: %s", what, ha_status_name(got),
          ha_status_name(wanted), e.text);
    WORLD(e.status == got, "%s: recorded %s", what, ha_status_name(e.status));
}

/* ---- what should be -------------------------------------------------------------------------- */

static int is_valid_somewhere(const cell *c) {
    int valid = 0;
    for (int m = 0; m < PLACES; m++) valid |= c->valid[m];
    return valid;
}

/* Makes a cell valid in a memory, which no other device reaches. */
static void bring(int leaf, cell *c, int memory) {
    if (c->valid[memory] || !is_valid_somewhere(c)) return;
    world.bytes += leaf_bytes[leaf] * (memory == 0 || c->valid[0] ? 1 : 2);
    c->valid[0] = 1;
    if (memory == 0) return;
    c->valid[memory] = 1;
}

static void claim(cell *c, int memory) {
    memset(c->valid, 0, sizeof c->valid);
    c->valid[memory] = 1;
    if (c->state == CELL_NEVER) c->state = CELL_UNDEFINED;
}

static cell *cell_at(int leaf, int64_t row, int64_t k) {
    return &world.cell[leaf][row * INNER + k];
}

#define EACH_CELL(c, leaf, first_row, last_row)                                                    \
    for (int64_t row_ = (first_row); row_ < (last_row); row_++)                                    \
        for (int64_t k_ = 0; k_ < world.inner; k_++)                                               \
            for (cell *c = cell_at(leaf, row_, k_); c; c = NULL)

static void index_of(int64_t row, int64_t k, int64_t *index) {
    index[0] = row;
    index[1] = world.rank > 2 ? k / world.extent[2] : k;
    index[2] = world.rank > 2 ? k % world.extent[2] : 0;
    index[3] = 0;
}

static int is_inside(const ha_region *box, const int64_t *index) {
    int inside = 1;
    for (int d = 0; d < 4; d++) inside &= index[d] >= box->first[d] && index[d] < box->last[d];
    return inside;
}

static int is_meant(const opened *o, int64_t row, int64_t k) {
    int64_t index[HA_MAPPING_RANK];
    index_of(row, k, index);
    return is_inside(&o->box, index);
}

#define EACH_OPENED(c, leaf, o)                                                                    \
    EACH_CELL(c, leaf, (o)->box.first[0], (o)->box.last[0]) if (is_meant(o, row_, k_))

static ha_region rows_of(int64_t first, int64_t last) {
    const ptrdiff_t inner = world.rank > 1 ? (ptrdiff_t)world.extent[1] : 1;
    return ha_box3((ptrdiff_t)first, (ptrdiff_t)last, 0, inner, 0,
                   world.rank > 2 ? (ptrdiff_t)world.extent[2] : 1);
}

static void apply_opening(const opened *o) {
    const int memory = world.memory[o->place];
    for (int l = 0; l < LEAVES; l++) EACH_OPENED(c, l, o) {
            if (o->mode[l] == 1 + HA_READ || o->mode[l] == 1 + HA_WRITE) bring(l, c, memory);
            if (o->mode[l] > 1 + HA_READ) claim(c, memory);
            if (o->mode[l] == 1 + HA_OVERWRITE) c->state = CELL_UNDEFINED;
        }
}

/* An array without records is opened as a whole, in the way that excludes most. */
static int conflicts_as_whole(const opened *a, const opened *b) {
    int had = 0, asked = 0;
    for (int l = 0; l < LEAVES; l++) {
        if (a->mode[l] > had) had = a->mode[l];
        if (b->mode[l] > asked) asked = b->mode[l];
    }
    if (!had || !asked || (had == 1 + HA_READ && asked == 1 + HA_READ)) return 0;
    return had != 1 + HA_READ || world.context[a->place] != world.context[b->place];
}

static int conflicts(const opened *a, const opened *b) {
    if (world.rows == 0) return conflicts_as_whole(a, b);
    for (int d = 0; d < 4; d++)
        if (a->box.first[d] >= b->box.last[d] || b->box.first[d] >= a->box.last[d]) return 0;
    for (int l = 0; l < LEAVES; l++) {
        const int had = a->mode[l], asked = b->mode[l];
        if (!had || !asked || (had == 1 + HA_READ && asked == 1 + HA_READ)) continue;
        if (had != 1 + HA_READ || world.context[a->place] != world.context[b->place]) return 1;
    }
    return 0;
}

/* Which errors opening may give: bits. */
static unsigned expected_of(const opened *o) {
    unsigned may = 0;
    for (int i = 0; i < OPENED; i++)
        if (world.opened[i].open && conflicts(&world.opened[i], o)) may |= 1u << HA_ERR_CONFLICT;
    for (int l = 0; l < LEAVES; l++)
        if (o->mode[l] == 1 + HA_READ) EACH_OPENED(c, l, o)
    if (c->state == CELL_NEVER) may |= 1u << HA_ERR_STATE;
    return may ? may : 1u << HA_OK;
}

/* ---- what is --------------------------------------------------------------------------------- */

static const char *leaf_name(int leaf) {
    static char name[LEAVES][16];
    (void)ha_record_leaf_name(&atom_record, leaf, name[leaf], sizeof name[leaf]);
    return name[leaf];
}

static int is_valid_row(int leaf, int64_t row, int place) {
    return ha_records_valid(world.r, world.context[place], leaf_name(leaf), (size_t)row,
                            (size_t)row + 1) != 0;
}

static int should_be_valid(int leaf, int64_t row, int place) {
    int all = world.inner > 0;
    EACH_CELL(c, leaf, row, row + 1) all &= c->valid[world.memory[place]];
    return all;
}

/* Of one value, which only the engine knows. */
static int is_valid_cell(int leaf, int64_t row, int64_t k, int place) {
    ha_array *a = world.r->array;
    const ha_incarnation *in = ha_incarnation_find(a, world.context[place]->memory);
    int64_t index[HA_MAPPING_RANK];
    ha_field_box b = {.leaf = leaf, .end = leaf + 1};
    index_of(row, k, index);
    for (int d = 0; d < HA_MAPPING_RANK; d++) {
        b.first[d] = d < world.rank ? index[d] : 0;
        b.last[d] = b.first[d] + 1;
    }
    return in && ha_set_contains(&in->valid, ha_field_box_range(a, &b));
}

static void check_validity(void) {
    for (int l = 0; l < LEAVES; l++)
        for (int64_t row = 0; row < world.rows; row++)
            for (int p = 0; p < PLACES; p++) {
                WORLD(world.steps % 8 || is_valid_row(l, row, p) == should_be_valid(l, row, p),
                      "%s of row %lld at %s is %svalid", leaf_name(l), (long long)row,
                      ha_context_name(world.context[p]), is_valid_row(l, row, p) ? "" : "not ");
                EACH_CELL(c, l, row, row + 1)
                WORLD(is_valid_cell(l, row_, k_, p) == c->valid[world.memory[p]],
                      "%s of record %lld, %lld at %s is %svalid", leaf_name(l), (long long)row,
                      (long long)k_, ha_context_name(world.context[p]),
                      is_valid_cell(l, row_, k_, p) ? "" : "not ");
            }
}

/* The host may have got copies on the way, and, when it may lose, a memory what the host has now. */
static void adopt_validity(int may_lose) {
    for (int l = 0; l < LEAVES; l++) EACH_CELL(c, l, 0, world.rows) {
            const int somewhere = is_valid_somewhere(c);
            if (somewhere && is_valid_cell(l, row_, k_, 0)) c->valid[0] = 1;
            for (int p = 1; p < PLACES && may_lose; p++) {
                const int m = world.memory[p];
                if (m != 0 && c->valid[0] && !is_valid_cell(l, row_, k_, p)) c->valid[m] = 0;
            }
        }
}

static void check_bytes(uint64_t before) {
    const uint64_t moved = ha_records_statistics(world.r).bytes - before;
    WORLD(moved == world.bytes, "moved %llu bytes, not %llu", (unsigned long long)moved,
          (unsigned long long)world.bytes);
}

/* ---- work on queues -------------------------------------------------------------------------- */

static void run_work(const ha_queue *queue, void *argument) {
    const work *w = *(work *const *)argument;
    void *blob[64];
    for (int b = 0; b < w->mapping->blobs; b++) blob[b] = HA_HERE(queue, void, w->blob[b]);
    const ha_mapped here = {w->mapping, blob};
    const int64_t inner = w->rank > 1 ? w->extent[1] * (w->rank > 2 ? w->extent[2] : 1) : 1;
    for (int l = 0; l < LEAVES; l++)
        for (int64_t row = w->box.first[0]; row < w->box.last[0]; row++)
            for (int64_t k = 0; k < inner; k++) {
                const int64_t index[] = {row, w->rank > 2 ? k / w->extent[2] : k,
                                         w->rank > 2 ? k % w->extent[2] : 0, 0};
                const int64_t at = row * INNER + k;
                char value[8];
                if (!is_inside(&w->box, index)) continue;
                if (w->checks[l][at]) {
                    ha_mapped_get(&here, l, index, value);
                    const double found = leaf_number(l, value);
                    if (found != w->before[l][at] && !atomic_exchange(&wrong.seen, 1)) {
                        wrong.leaf = l;
                        wrong.cell = (int)at;
                        wrong.expected = w->before[l][at];
                        wrong.found = found;
                    }
                }
                if (!w->writes[l]) continue;
                leaf_set_number(l, w->after[l][at], value);
                ha_mapped_set(&here, l, index, value);
            }
}

static void check_work(void) {
    if (!atomic_load(&wrong.seen)) return;
    world_fail("%s of record %d was %g, not %g", leaf_name(wrong.leaf), wrong.cell, wrong.found,
               wrong.expected);
}

/* The same mapping, which lives to the end. */
static const ha_mapping *kept_mapping(const char *text) {
    for (int i = 0; i < world.mappings; i++) {
        const ha_mapping *m = world.kept[i];
        if (!strcmp(m->text, text) && m->rank == world.rank &&
            !memcmp(m->extent, world.extent, (size_t)world.rank * sizeof *m->extent))
            return m;
    }
    assert_true(world.mappings < KEPT_MAPPINGS);
    ha_mapping *m = ha_mapping_parse(&atom_record, text, world.rank, world.extent, NULL);
    assert_non_null(m);
    return world.kept[world.mappings++] = m;
}

/* Looks at all that is open, and writes some of what is open for that. */
static void use(opened *o) {
    work *w = (work *)calloc(1, sizeof *w);
    assert_non_null(w);
    w->next = world.works;
    world.works = w;
    w->mapping = kept_mapping(o->access.mapping->text);
    memcpy(w->blob, o->access.blob, (size_t)w->mapping->blobs * sizeof *w->blob);
    w->rank = world.rank;
    memcpy(w->extent, world.extent, sizeof w->extent);
    w->box = o->box;
    for (int l = 0; l < LEAVES; l++) {
        if (!o->mode[l]) continue;
        w->writes[l] = o->mode[l] > 1 + HA_READ && pick(4);
        EACH_OPENED(c, l, o) {
            const int64_t at = row_ * INNER + k_;
            w->checks[l][at] = c->state == CELL_KNOWN;
            w->before[l][at] = c->value;
            if (!w->writes[l]) continue;
            c->value = w->after[l][at] = atom_number(l, ++world.counter);
            c->state = CELL_KNOWN;
        }
    }
    world_note(" use");
    expect_status(ha_records_run(run_work, &o->access, &w, sizeof w), HA_OK, "run");
}

#endif
