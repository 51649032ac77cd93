/* What is done at random to a record array and to its oracle (records_model.h). */
#ifndef HARRAY_TESTS_RECORDS_RECORDS_STEPS_H
#define HARRAY_TESTS_RECORDS_RECORDS_STEPS_H

#include "records_model.h"

/* Fields by groups: a path, and which leaves are below it. */
typedef struct group {
    const char *path;
    int first, count;
} group;

static const group groups[] = {
    {"pos", POS, 3},       {"pos.x", POS, 1}, {"pos.y", POS + 1, 1}, {"vel", VEL, 2},
    {"vel.y", VEL + 1, 1}, {"mass", MASS, 1}, {"tag", TAG, 3},       {"tag[1]", TAG + 1, 1},
    {"id", ID, 1},         {"flag", FLAG, 1},
};
enum { GROUPS = sizeof groups / sizeof *groups };

/* Writes which fields are opened how, and says it in the words of ha_records_open. */
static void pick_fields(opened *o, char *text, size_t room) {
    static const char *const words[] = {"read", "write", "overwrite"};
    size_t n = 0;
    if (!pick(5)) {
        const int how = (int)pick(3);
        for (int l = 0; l < LEAVES; l++) o->mode[l] = 1 + how;
        snprintf(text, room, "%s", words[how]);
        return;
    }
    const uint32_t shift = pick(3);
    for (uint32_t k = 0; k < 3; k++) {
        const int how = (int)((k + shift) % 3);
        int any = 0;
        for (int tries = 0; tries < 3; tries++) {
            const group *g = &groups[pick(GROUPS)];
            int taken = 0;
            for (int l = g->first; l < g->first + g->count; l++) taken |= o->mode[l];
            if (taken || (k > 0 && pick(2))) continue;
            for (int l = g->first; l < g->first + g->count; l++) o->mode[l] = 1 + how;
            n += (size_t)snprintf(text + n, room - n, "%s%s%s%s",
                                  any ? "+"
                                  : n ? ", "
                                      : "",
                                  any ? "" : words[how], any ? "" : " ", g->path);
            any = 1;
        }
    }
}

static void pick_rows(opened *o) {
    o->box = rows_of(0, world.rows);
    if (world.rows == 0 || pick(2)) return;
    o->box.first[0] = (ptrdiff_t)pick((uint32_t)world.rows);
    o->box.last[0] = o->box.first[0] + 1 +
                     (ptrdiff_t)pick((uint32_t)(world.rows - o->box.first[0]));
}

/* Some of the other indices, too. */
static void pick_box(opened *o) {
    pick_rows(o);
    for (int d = 1; d < world.rank && pick(4); d++) {
        o->box.first[d] = (ptrdiff_t)pick((uint32_t)world.extent[d]);
        o->box.last[d] = o->box.first[d] + 1 +
                         (ptrdiff_t)pick((uint32_t)(world.extent[d] - o->box.first[d]));
    }
}

static ha_status open_it(opened *o, const char *what, int boxed) {
    ha_context *c = world.context[o->place];
    const ptrdiff_t first = o->box.first[0], last = o->box.last[0];
    if (boxed) return ha_records_open_box(&o->access, world.r, c, what, o->box);
    return ha_records_open(&o->access, world.r, c, what, (size_t)first,
                           last == world.rows && pick(2) ? HA_END : (size_t)last);
}

static void step_open(void) {
    opened *o = NULL, asked = {.place = (int)pick(PLACES)};
    char what[200] = "read";
    for (int i = 0; i < OPENED; i++)
        if (!world.opened[i].open) o = &world.opened[i];
    if (!o) return;
    pick_fields(&asked, what, sizeof what);
    const int boxed = world.rank > 1 && pick(2);
    if (boxed)
        pick_box(&asked);
    else
        pick_rows(&asked);
    const ha_region *box = &asked.box;
    world_note("\n  at %s: %s, [%td, %td)", ha_context_name(world.context[asked.place]), what,
               box->first[0], box->last[0]);
    if (boxed)
        world_note(" x [%td, %td) x [%td, %td)", box->first[1], box->last[1], box->first[2],
                   box->last[2]);
    const unsigned may = expected_of(&asked);
    const uint64_t before = ha_records_statistics(world.r).bytes;
    world.bytes = 0;
    const ha_status got = open_it(&asked, what, boxed);
    const ha_error e = ha_take_error();
    WORLD(may >> got & 1, "%s: %s", ha_status_name(got), e.text);
    WORLD(asked.access.status == got, "the access has another status");
    WORLD(e.status == got, "recorded %s", ha_status_name(e.status));
    if (got) {
        world_note(": %s", ha_status_name(got));
        WORLD(!asked.access.records && !asked.access.blob && !asked.access.mapping,
              "a failed opening leaves something in the access");
        adopt_validity(0);
        return;
    }
    asked.open = 1;
    apply_opening(&asked);
    check_bytes(before);
    *o = asked;
    use(o);
    world.done++;
}

static opened *pick_opened(void) {
    const uint32_t first = pick(OPENED);
    for (uint32_t i = 0; i < OPENED; i++)
        if (world.opened[(first + i) % OPENED].open) return &world.opened[(first + i) % OPENED];
    return NULL;
}

static int is_any_open(void) { return pick_opened() != NULL; }

static void step_use(void) {
    opened *o = pick_opened();
    if (!o) return;
    world_note("\n ");
    if (!pick(4)) expect_status(ha_records_wait(&o->access), HA_OK, "wait");
    use(o);
}

static void step_close(void) {
    opened *o = pick_opened();
    if (!o) return;
    world_note("\n  close at %s", ha_context_name(world.context[o->place]));
    expect_status(ha_records_close(&o->access), HA_OK, "close");
    WORLD(!o->access.records, "closed, but open");
    o->open = 0;
    if (!pick(8)) expect_status(ha_records_close(&o->access), HA_ERR_STATE, "close again");
}

static void step_prefetch(void) {
    const group *g = &groups[pick(GROUPS)];
    opened all = {.place = (int)pick(PLACES)};
    for (int l = g->first; l < g->first + g->count; l++) all.mode[l] = 1 + HA_READ;
    pick_rows(&all);
    int busy = 0;
    for (int i = 0; i < OPENED; i++) {
        opened other = world.opened[i];
        for (int l = 0; l < LEAVES; l++) other.mode[l] = other.mode[l] > 1 ? other.mode[l] : 0;
        busy |= other.open && world.rows > 0 && conflicts(&other, &all);
    }
    world_note("\n  prefetch %s [%lld, %lld) to %s", g->path, (long long)all.box.first[0],
               (long long)all.box.last[0], ha_context_name(world.context[all.place]));
    const uint64_t before = ha_records_statistics(world.r).bytes;
    world.bytes = 0;
    expect_status(ha_records_prefetch(world.r, world.context[all.place], g->path,
                                      (size_t)all.box.first[0], (size_t)all.box.last[0]),
                  busy ? HA_ERR_CONFLICT : HA_OK, "prefetch");
    if (!busy) apply_opening(&all);
    check_bytes(before);
}

/* ---- single records ------------------------------------------------------------------------- */

static void pick_index(int64_t *index) {
    for (int d = 0; d < world.rank; d++) index[d] = pick((uint32_t)world.extent[d]);
}

static int64_t inner_of(const int64_t *index) {
    return world.rank == 1 ? 0 : world.rank == 2 ? index[1] : index[1] * world.extent[2] + index[2];
}

/* Which errors an access of this record on the host may give. */
static unsigned expected_of_record(const int64_t *index, int how) {
    opened one = {.place = 0};
    one.box = rows_of(index[0], index[0] + 1);
    for (int d = 1; d < world.rank; d++) {
        one.box.first[d] = (ptrdiff_t)index[d];
        one.box.last[d] = one.box.first[d] + 1;
    }
    unsigned may = 0;
    for (int l = 0; l < LEAVES; l++) one.mode[l] = 1 + how;
    for (int i = 0; i < OPENED; i++)
        if (world.opened[i].open && conflicts(&world.opened[i], &one)) may |= 1u << HA_ERR_CONFLICT;
    for (int l = 0; l < LEAVES; l++)
        if (how == HA_READ && cell_at(l, index[0], inner_of(index))->state == CELL_NEVER)
            may |= 1u << HA_ERR_STATE;
    return may ? may : 1u << HA_OK;
}

static const int64_t *atom_offsets(void) {
    static int64_t offset[LEAVES];
    ha_leaf leaf;
    for (int l = 0; l < LEAVES; l++) {
        assert_int_equal(ha_record_leaf(&atom_record, l, &leaf), HA_OK);
        offset[l] = leaf.offset;
    }
    return offset;
}

static void step_get(void) {
    int64_t index[3] = {0};
    atom a;
    if (!world.rows || !world.inner) return;
    pick_index(index);
    const unsigned may = expected_of_record(index, HA_READ);
    world_note("\n  get %lld", (long long)index[0]);
    const ha_status got = ha_records_get(world.r, index, &a);
    const ha_error e = ha_take_error();
    WORLD(may >> got & 1, "%s: %s", ha_status_name(got), e.text);
    if (got) return;
    for (int l = 0; l < LEAVES; l++) {
        cell *c = cell_at(l, index[0], inner_of(index));
        const double found = leaf_number(l, (const char *)&a + atom_offsets()[l]);
        WORLD(c->state != CELL_KNOWN || found == c->value, "%s is %g, not %g", leaf_name(l), found,
              c->value);
        bring(l, c, 0);
    }
}

static void step_set(void) {
    int64_t index[3] = {0};
    atom a;
    if (!world.rows || !world.inner) return;
    pick_index(index);
    memset(&a, 0, sizeof a);
    for (int l = 0; l < LEAVES; l++)
        leaf_set_number(l, atom_number(l, world.counter + (uint32_t)l),
                        (char *)&a + atom_offsets()[l]);
    const unsigned may = expected_of_record(index, HA_OVERWRITE);
    world_note("\n  set %lld, %lld", (long long)index[0], (long long)inner_of(index));
    const ha_status got = ha_records_set(world.r, index, &a);
    const ha_error e = ha_take_error();
    WORLD(may >> got & 1, "%s: %s", ha_status_name(got), e.text);
    for (int l = 0; l < LEAVES && !got; l++) {
        cell *c = cell_at(l, index[0], inner_of(index));
        claim(c, 0);
        c->state = CELL_KNOWN;
        c->value = atom_number(l, world.counter + (uint32_t)l);
    }
    world.counter += LEAVES;
}

/* ---- layouts and extents --------------------------------------------------------------------- */

static void step_layout(void) {
    const int p = (int)pick(PLACES);
    const char *layout = atom_layouts[pick(ATOM_LAYOUTS)];
    const int same = !strcmp(ha_records_mapping(world.r, world.context[p])->text, layout);
    const int callers = world.wrapped && world.memory[p] == world.memory[world.wrapped_place];
    ha_status wanted = same            ? HA_OK
                       : callers       ? HA_ERR_STATE
                       : is_any_open() ? HA_ERR_CONFLICT
                                       : HA_OK;
    world_note("\n  %s at %s", layout, ha_context_name(world.context[p]));
    const ha_status got = ha_records_layout(world.r, world.context[p], layout);
    if (callers && got == HA_ERR_CONFLICT && is_any_open()) wanted = got;
    expect_status(got, wanted, "layout");
    if (got) return;
    adopt_validity(1);
    WORLD(!strcmp(ha_records_mapping(world.r, world.context[p])->text, layout), "it is %s",
          ha_records_mapping(world.r, world.context[p])->text);
    world.done++;
}

static void set_extent(const int64_t *extent) {
    memcpy(world.extent, extent, sizeof world.extent);
    world.rows = extent[0];
    world.inner = world.rank == 1 ? 1 : world.rank == 2 ? extent[1] : extent[1] * extent[2];
}

static void pick_extent(int64_t *extent) {
    static const int64_t sides[] = {1, 2, 2, 1};
    extent[0] = pick(10) ? 1 + pick(ROWS) : 0;
    extent[1] = world.rank == 2 ? 1 + pick(INNER) : sides[pick(4)];
    extent[2] = world.rank == 3 ? sides[pick(4)] : 1;
}

/* The cells as they are with other extents. */
static void resize_cells(const int64_t *extent) {
    static cell old[LEAVES][CELLS];
    int64_t was[3];
    memcpy(old, world.cell, sizeof old);
    memcpy(was, world.extent, sizeof was);
    set_extent(extent);
    memset(world.cell, 0, sizeof world.cell);
    for (int l = 0; l < LEAVES; l++)
        for (int64_t i = 0; i < was[0] && i < extent[0]; i++)
            for (int64_t j = 0; j < (world.rank > 1 ? was[1] : 1); j++)
                for (int64_t k = 0; k < (world.rank > 2 ? was[2] : 1); k++) {
                    if ((world.rank > 1 && j >= extent[1]) || (world.rank > 2 && k >= extent[2]))
                        continue;
                    const int64_t from = world.rank > 2 ? j * was[2] + k : j;
                    const int64_t to = world.rank > 2 ? j * extent[2] + k : j;
                    *cell_at(l, i, to) = old[l][i * INNER + from];
                }
}

static void step_resize(void) {
    int64_t extent[3];
    pick_extent(extent);
    if (pick(3)) memcpy(extent + 1, world.extent + 1, 2 * sizeof *extent);
    ha_status wanted = is_any_open() ? HA_ERR_CONFLICT : HA_OK;
    if (!memcmp(extent, world.extent, (size_t)world.rank * sizeof *extent)) wanted = HA_OK;
    if (world.wrapped) wanted = wanted ? wanted : HA_ERR_STATE;
    world_note("\n  resize to %lld, %lld, %lld", (long long)extent[0], (long long)extent[1],
               (long long)extent[2]);
    const ha_status got = ha_records_resize(world.r, extent);
    if (wanted == HA_ERR_CONFLICT && got == HA_ERR_STATE && world.wrapped) wanted = got;
    expect_status(got, wanted, "resize");
    if (got) return;
    resize_cells(extent);
    WORLD(ha_records_extent(world.r, 0) == extent[0], "another extent");
    WORLD(ha_records_size(world.r) == world.rows * world.inner, "another size");
    adopt_validity(1);
}

/* What is no text for opening, and changes nothing. */
static void step_nonsense(void) {
    static const char *const texts[] = {"",
                                        "reads",
                                        "read nosuch",
                                        "read pos+",
                                        "read pos, write pos.x",
                                        "read pos+pos.y",
                                        "write, read",
                                        "read tag[3]",
                                        "read ,",
                                        "try",
                                        "read pos write vel"};
    ha_records_access a;
    const char *what = texts[pick(sizeof texts / sizeof *texts)];
    world_note("\n  '%s'", what);
    expect_status(ha_records_open(&a, world.r, world.context[pick(PLACES)], what, 0, HA_END),
                  HA_ERR_ARGUMENT, "nonsense");
    WORLD(a.status == HA_ERR_ARGUMENT && !a.records, "open all the same");
    expect_status(ha_records_open(&a, world.r, H, "read", (size_t)world.rows + 1, HA_END),
                  HA_ERR_ARGUMENT, "behind the end");
    expect_status(ha_records_layout(world.r, world.context[pick(PLACES)], "null"), HA_ERR_ARGUMENT,
                  "null");
}

/* ---- worlds ---------------------------------------------------------------------------------- */

/* Memory of the caller's on the host, with values. */
static void wrap_world(const char *layout) {
    world.wrapped = ha_mapping_parse(&atom_record, layout, world.rank, world.extent, NULL);
    assert_non_null(world.wrapped);
    const ha_mapped mine = {world.wrapped, world.memory_of};
    for (int b = 0; b < world.wrapped->blobs; b++) {
        const size_t bytes = (size_t)world.wrapped->blob[b].bytes;
        world.memory_of[b] = aligned_alloc(64, (bytes + 64) / 64 * 64);
        assert_non_null(world.memory_of[b]);
        memset(world.memory_of[b], 0x5A, (bytes + 64) / 64 * 64);
    }
    for (int l = 0; l < LEAVES; l++) EACH_CELL(c, l, 0, world.rows) {
            int64_t index[HA_MAPPING_RANK];
            index_of(row_, k_, index);
            char value[8];
            c->value = atom_number(l, ++world.counter);
            c->state = CELL_KNOWN;
            c->valid[0] = 1;
            leaf_set_number(l, c->value, value);
            ha_mapped_set(&mine, l, index, value);
        }
    world.r = ha_records_wrap(&mine, H, 0);
}

static void begin_world(uint64_t seed) {
    ha_context *const all[] = {H, C, M1, M2};
    int64_t extent[3];
    memset(&world, 0, sizeof world);
    world.seed = seed;
    world.random = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
    for (int p = 0; p < PLACES; p++) {
        world.context[p] = all[p];
        world.memory[p] = shares_memory(all[p]) ? 0 : p;
    }
    world.rank = 1 + (int)pick(3);
    pick_extent(extent);
    set_extent(extent);
    const char *layout = atom_layouts[pick(ATOM_LAYOUTS)];
    const int wraps = !pick(4) && world.rows > 0;
    world_note(" %s as %s", wraps ? "wrapped" : "new", layout);
    if (wraps)
        wrap_world(layout);
    else
        world.r = ha_records_new(&atom_record, world.rank, extent, layout);
    WORLD(world.r != NULL, "no record array: %s", ha_take_error().text);
    ha_records_set_name(world.r, "atoms");
}

/* All that is known is there. */
static void read_all(void) {
    opened o = {.open = 1, .box = rows_of(0, world.rows)};
    for (int l = 0; l < LEAVES; l++) o.mode[l] = 1 + HA_READ;
    if (expected_of(&o) != 1u << HA_OK) return;
    expect_status(ha_records_open(&o.access, world.r, H, "read", 0, HA_END), HA_OK, "read all");
    use(&o);
    expect_status(ha_records_close(&o.access), HA_OK, "close");
}

static void unwrap_world(void) {
    const ha_mapped mine = {world.wrapped, world.memory_of};
    world_note("\n  unwrap");
    expect_status(ha_records_unwrap(world.r), HA_OK, "unwrap");
    world.r = NULL;
    for (int l = 0; l < LEAVES; l++) EACH_CELL(c, l, 0, world.rows) {
            int64_t index[HA_MAPPING_RANK];
            index_of(row_, k_, index);
            char value[8];
            ha_mapped_get(&mine, l, index, value);
            assert_true(c->state != CELL_KNOWN || leaf_number(l, value) == c->value);
        }
    for (int b = 0; b < world.wrapped->blobs; b++) free(world.memory_of[b]);
    ha_mapping_free(world.wrapped);
}

static void end_world(void) {
    for (int i = 0; i < OPENED; i++)
        if (world.opened[i].open)
            expect_status(ha_records_close(&world.opened[i].access), HA_OK, "close");
    memset(world.opened, 0, sizeof world.opened);
    read_all();
    for (int p = 0; p < PLACES; p++) expect_status(ha_context_finish(world.context[p]), HA_OK, "");
    check_work();
    if (world.wrapped)
        unwrap_world();
    else
        expect_status(ha_records_free(world.r), HA_OK, "free");
    for (work *w = world.works, *next; w; w = next) {
        next = w->next;
        free(w);
    }
    for (int i = 0; i < world.mappings; i++) ha_mapping_free(world.kept[i]);
}

static void step_world(void) {
    static void (*const steps[])(void) = {step_open,   step_open,     step_open,    step_open,
                                          step_use,    step_close,    step_close,   step_close,
                                          step_get,    step_set,      step_layout,  step_resize,
                                          step_layout, step_prefetch, step_nonsense};
    world.steps++;
    steps[pick(sizeof steps / sizeof *steps)]();
    check_validity();
    check_work();
}

#endif
