/* Halos of fields of records, alone and beside arrays, against the cells of the one grid: any layout on each rank, of
 * which only the fields that are named have ghost cells, and only those of a box. */
#ifndef HARRAY_TESTS_MPI_RECORD_HALOS_H
#define HARRAY_TESTS_MPI_RECORD_HALOS_H

#include "failures.h"
#include "some_messages.h"

enum { OUTSIDE = -9, LEAVES = 4, MOST_RECORDS = 2 };

/* Two of them take turns: of other layouts, each with a box somewhere else. */
typedef struct record_field {
    const char *paths;
    unsigned named; /* a bit for each leaf */
    ha_records *turn[2];
    ha_region box[2];
} record_field;

static const struct {
    const char *paths;
    unsigned named;
} some_paths[] = {{NULL, 15}, {"pos", 3}, {"mass + pos", 11}, {"kind", 4}, {" pos.y+kind", 6}};

static ha_mpi_part part_of(const record_field *r, int turn) {
    return HA_MPI_FIELDS(r->turn[turn], r->paths, r->box[turn]);
}

static ha_records *some_records(const halo_case *h, ha_region *box) {
    static const char *const layouts[] = {"aos", "soa", "aosoa(4)", "aos@morton", "byteswap(soa)"};
    const int rank = h->dimensions + h->more;
    int64_t extent[4];
    *box = ha_box4(0, 1, 0, 1, 0, 1, 0, 1);
    for (int d = 0; d < rank; d++) {
        box->first[d] = draw(2);
        box->last[d] = box->first[d] +
                       (d < h->dimensions ? h->interior[d] + 2 * h->width : h->last);
        extent[d] = box->last[d] + draw(2);
    }
    ha_records *r = ha_records_new(&particle_record, rank, extent, layouts[draw(3)]);
    SUCCEEDS(ha_records_layout(r, places[1], layouts[draw(5)]));
    SUCCEEDS(ha_records_layout(r, places[2], layouts[draw(5)]));
    return r;
}

/* ---- what they have to have -------------------------------------------------------------------- */

/* A leaf of the record at an index of all records; is_done: ghost cells have been exchanged. */
static double expected_leaf(const halo_case *h, const record_field *r, int turn,
                            const int64_t *index, int leaf, int step, int is_done) {
    int64_t of_block[4];
    for (int d = 0; d < h->dimensions + h->more; d++) {
        of_block[d] = index[d] - r->box[turn].first[d];
        if (of_block[d] < 0 || index[d] >= r->box[turn].last[d]) return OUTSIDE;
    }
    return expected_cell(h, of_block, (size_t)leaf, step, is_done && (r->named >> leaf & 1));
}

static particle expected_particle(const halo_case *h, const record_field *r, int turn,
                                  const int64_t *index, int step, int is_done) {
    double leaf[LEAVES];
    for (int l = 0; l < LEAVES; l++) leaf[l] = expected_leaf(h, r, turn, index, l, step, is_done);
    return (particle){{leaf[0], leaf[1]}, (int32_t)leaf[2], (float)leaf[3]};
}

static int next_record(const ha_records *r, int64_t *index) {
    int d = ha_records_rank(r) - 1;
    while (d >= 0 && ++index[d] == ha_records_extent(r, d)) index[d--] = 0;
    return d >= 0;
}

/* Then they are brought somewhere, or are valid nowhere else. */
static void write_records(const halo_case *h, const record_field *r, int turn, int step) {
    ha_records *const records = r->turn[turn];
    ha_context *const c = places[draw(PLACES)];
    ha_records_access v;
    int64_t index[4] = {0};
    do {
        const particle p = expected_particle(h, r, turn, index, step, 0);
        SUCCEEDS(ha_records_set(records, index, &p));
    } while (next_record(records, index));
    SUCCEEDS(ha_records_prefetch(records, c, NULL, 0, HA_END));
    if (draw(2)) return;
    memset(&v, 0, sizeof v);
    SUCCEEDS(ha_records_open(&v, records, c, "write", 0, HA_END));
    SUCCEEDS(ha_records_close(&v));
}

static void compare_records(const halo_case *h, const record_field *r, int turn, int step,
                            int is_done) {
    int64_t index[4] = {0}, wrong = 0;
    do {
        const particle should = expected_particle(h, r, turn, index, step, is_done);
        particle p;
        SUCCEEDS(ha_records_get(r->turn[turn], index, &p));
        wrong += p.pos.x != should.pos.x || p.pos.y != should.pos.y || p.kind != should.kind ||
                 p.mass != should.mass;
    } while (next_record(r->turn[turn], index));
    if (wrong)
        complain(__LINE__, "\"%s\", step %d: %lld records are wrong", r->paths ? r->paths : "",
                 step, (long long)wrong);
}

/* ---- random ones ------------------------------------------------------------------------------- */

typedef struct mixed_case {
    halo_case h;
    size_t records;
    record_field record[MOST_RECORDS];
    int before; /* records come before the arrays */
} mixed_case;

/* What all ranks have to have alike is drawn first. */
static mixed_case some_mixed(int kind) {
    mixed_case x = {.records = 1 + (size_t)draw(MOST_RECORDS), .before = (int)draw(2)};
    for (size_t i = 0; i < x.records; i++) {
        const int64_t which = draw(sizeof some_paths / sizeof *some_paths);
        x.record[i].paths = some_paths[which].paths;
        x.record[i].named = some_paths[which].named;
    }
    const int are_alone = (int)draw(2);
    x.h = some_halo(kind);
    for (size_t f = 0; are_alone && f < x.h.fields; f++) SUCCEEDS(darray_free(&x.h.field[f]));
    if (are_alone) x.h.fields = 0;
    for (size_t i = 0; i < x.records; i++)
        for (int t = 0; t < 2; t++) x.record[i].turn[t] = some_records(&x.h, &x.record[i].box[t]);
    return x;
}

/* Returns how many there are. */
static size_t list_parts(const mixed_case *x, int turn, ha_mpi_part *part) {
    size_t n = 0;
    for (size_t i = 0; i < x->records && x->before; i++) part[n++] = part_of(&x->record[i], turn);
    for (size_t f = 0; f < x->h.fields; f++) part[n++] = HA_MPI_PART(x->h.field[f]);
    for (size_t i = 0; i < x->records && !x->before; i++) part[n++] = part_of(&x->record[i], turn);
    return n;
}

static void write_all(const mixed_case *x, int turn, int step) {
    for (size_t f = 0; f < x->h.fields; f++) write_cells(&x->h, f, step);
    for (size_t f = 0; f < x->h.fields; f++)
        SUCCEEDS(darray_prefetch(x->h.field[f], places[draw(PLACES)]));
    for (size_t i = 0; i < x->records; i++) write_records(&x->h, &x->record[i], turn, step);
}

static void compare_all(const mixed_case *x, int turn, int step) {
    for (size_t f = 0; f < x->h.fields; f++) compare_cells(&x->h, f, step);
    for (size_t i = 0; i < x->records; i++) compare_records(&x->h, &x->record[i], turn, step, 1);
}

static void free_mixed(mixed_case *x) {
    for (size_t f = 0; f < x->h.fields; f++) SUCCEEDS(darray_free(&x->h.field[f]));
    for (size_t i = 0; i < x->records; i++)
        for (int t = 0; t < 2; t++) SUCCEEDS(ha_records_free(x->record[i].turn[t]));
    MPI_Comm_free(&x->h.cart);
}

/* One message to each neighbour, whatever there is in it. */
static void some_record_halos(int kind, int rounds) {
    for (int r = 0; r < rounds; r++) {
        mixed_case x = some_mixed(kind);
        ha_mpi_part part[MOST_FIELDS + MOST_RECORDS];
        size_t n = list_parts(&x, 0, part);
        ha_mpi_halo *halo = ha_mpi_halo_new(x.h.cart, places[draw(PLACES)], x.h.width, part, n,
                                            kind);
        IS_TRUE(halo);
        for (int step = 0; step < 3 && halo; step++) {
            const int turn = step % 2;
            n = list_parts(&x, turn, part);
            SUCCEEDS(ha_mpi_halo_rebind(halo, part, n));
            write_all(&x, turn, step);
            const ha_mpi_traffic before = ha_mpi_traffic_so_far();
            SUCCEEDS(ha_mpi_halo_start(halo));
            SUCCEEDS(ha_mpi_halo_finish(halo));
            IS_TRUE(ha_mpi_traffic_so_far().messages_sent - before.messages_sent == halo->messages);
            compare_all(&x, turn, step);
        }
        ha_mpi_halo_free(halo);
        free_mixed(&x);
        draw_together();
    }
    end_case(kind == HA_MPI_CORNERS ? "halos of records with corners"
             : kind == HA_MPI_FACES ? "halos of faces of records"
                                    : "halos of records at once");
}

/* ---- what is moved ------------------------------------------------------------------------------ */

/* A ring of blocks of 6 x 5 records, `paths` of them, and arrays of doubles and of floats. */
enum { PARTS = 3, ARRAYS_FACE = 5 * (8 + 4) };
typedef struct ring_case {
    MPI_Comm ring;
    ha_records *records;
    darray array, floats;
    ha_mpi_part part[PARTS];
} ring_case;

static void fill_ring(ring_case *x, ha_context *c, int value) {
    ha_records_access v;
    int64_t index[4] = {0};
    do {
        const particle p = {{value, value + 1}, value + 2, (float)value + 3};
        SUCCEEDS(ha_records_set(x->records, index, &p));
    } while (next_record(x->records, index));
    memset(&v, 0, sizeof v);
    SUCCEEDS(ha_records_open(&v, x->records, c, "write", 0, HA_END)); /* valid there alone */
    SUCCEEDS(ha_records_close(&v));
    SUCCEEDS(darray_fill(x->array, ha_dvalue_of_double(value), c));
    SUCCEEDS(darray_fill(x->floats, ha_dvalue_of_double(value + 1), c));
}

static ring_case make_ring(const char *paths, ha_context *c) {
    int size[1] = {ranks}, is_periodic[1] = {1};
    ring_case x;
    MPI_Cart_create(WORLD, 1, size, is_periodic, 0, &x.ring);
    x.records = ha_records_new(&particle_record, 2, (int64_t[]){6, 5}, me % 2 ? "soa" : "aos");
    x.array = darray_zeros(HA_DTYPE_double, 2, (int64_t[]){6, 5}, c);
    x.part[0] = HA_MPI_FIELDS(x.records, paths, ha_box2(0, 6, 0, 5));
    x.floats = darray_zeros(HA_DTYPE_float, 2, (int64_t[]){6, 5}, c);
    x.part[1] = HA_MPI_PART(x.array);
    x.part[2] = HA_MPI_PART(x.floats);
    fill_ring(&x, c, me);
    return x;
}

/* Whether ghost cells are those of the neighbours, which were filled with their ranks and more. */
static void compare_ring(const ring_case *x, int more) {
    const int low = (me + ranks - 1) % ranks + more, high = (me + 1) % ranks + more;
    for (int64_t j = 0; j < 5; j++) {
        particle first, last;
        ha_dvalue value;
        SUCCEEDS(ha_records_get(x->records, (int64_t[]){0, j}, &first));
        SUCCEEDS(ha_records_get(x->records, (int64_t[]){5, j}, &last));
        IS_TRUE(first.pos.x == low && first.kind == low + 2 &&
                first.mass == (float)(me + more + 3));
        IS_TRUE(last.pos.x == high && last.kind == high + 2 && last.mass == (float)(me + more + 3));
        SUCCEEDS(darray_get(x->array, 2, (int64_t[]){5, j}, &value));
        IS_TRUE(value.as_double == high);
        SUCCEEDS(darray_get(x->floats, 2, (int64_t[]){0, j}, &value));
        IS_TRUE(ha_dvalue_equal(value, ha_dvalue_of_double(low + 1)));
    }
}

static void free_ring(ring_case *x) {
    SUCCEEDS(ha_records_free(x->records));
    SUCCEEDS(darray_free(&x->array));
    SUCCEEDS(darray_free(&x->floats));
    MPI_Comm_free(&x->ring);
}

/* From a device and back come the fields' cells of the faces alone, and they are there again then; by buffers of the
 * device's, where it packs them itself. */
static void moved_by_record_halos(void) {
    enum { FACE = 5 * (2 * 8 + 4) }; /* of "pos+kind" */
    for (int p = 0; p < 2; p++) {
        ring_case x = make_ring("pos+kind", places[p]);
        ha_mpi_halo *halo = ha_mpi_halo_new(x.ring, places[p], 1, x.part, PARTS, HA_MPI_FACES);
        for (int step = 0; step < 3; step++) {
            fill_ring(&x, places[p], me + step);
            const ha_mpi_traffic before = ha_mpi_traffic_so_far();
            const ha_statistics was = ha_records_statistics(x.records);
            SUCCEEDS(ha_mpi_halo_start(halo));
            SUCCEEDS(ha_mpi_halo_finish(halo));
            const ha_mpi_traffic after = ha_mpi_traffic_so_far();
            const uint64_t moved = ha_records_statistics(x.records).bytes - was.bytes;
            IS_TRUE(moved == (p && !puts_values ? 4 * FACE : 0));
            IS_TRUE(ha_records_valid(x.records, places[p], "pos+kind", 0, HA_END));
            IS_TRUE(after.staged_bytes - before.staged_bytes == (p ? 4 * (FACE + ARRAYS_FACE) : 0));
            IS_TRUE(after.packed_bytes - before.packed_bytes == 4 * (FACE + ARRAYS_FACE));
            IS_TRUE(after.bytes_sent - before.bytes_sent == 2 * (FACE + ARRAYS_FACE));
            IS_TRUE(after.messages_sent - before.messages_sent == 2);
            compare_ring(&x, step);
        }
        fill_ring(&x, ha_host(), me); /* where the host has them, it gathers them */
        const uint64_t was = ha_records_statistics(x.records).bytes;
        SUCCEEDS(ha_mpi_halo_start(halo));
        IS_TRUE(ha_records_statistics(x.records).bytes == was);
        SUCCEEDS(ha_mpi_halo_finish(halo));
        compare_ring(&x, 0);
        ha_mpi_halo_free(halo);
        free_ring(&x);
    }
    end_case("what halos of records move");
}

/* A device packs and unpacks them itself, so nobody waits for it longer than for the cells. */
static void record_halos_that_do_not_wait(void) {
    ring_case x = make_ring("pos+kind", places[1]);
    SUCCEEDS(
        ha_records_layout(x.records, places[1], "aosoa(2)")); /* rows of 5 end within a block */
    for (size_t parts = 1; parts <= PARTS; parts += PARTS - 1) {
        ha_mpi_halo *halo = ha_mpi_halo_new(x.ring, places[1], 1, x.part, parts, HA_MPI_FACES);
        for (int step = 0; step < 3; step++) {
            fill_ring(&x, places[1], me + step);
            const uint64_t staged = ha_mpi_traffic_so_far().staged_bytes;
            begin_lingering();
            SUCCEEDS(ha_mpi_halo_start(halo));
            end_lingering();
            begin_lingering();
            SUCCEEDS(ha_mpi_halo_finish(halo));
            end_lingering();
            /* of fields of one record array MPI gets the buffers, on a device that it takes */
            IS_TRUE((ha_mpi_traffic_so_far().staged_bytes == staged) == (is_aware && parts == 1));
            if (parts == PARTS) compare_ring(&x, step);
        }
        ha_mpi_halo_free(halo);
    }
    free_ring(&x);
    end_case("halos of records that do not wait for what is none of theirs");
}

/* ---- what is wrong ------------------------------------------------------------------------------ */

static void refused(const ring_case *x, ha_mpi_part part, const char *words) {
    IS_TRUE(!ha_mpi_halo_new(x->ring, NULL, 1, &part, 1, HA_MPI_FACES));
    FAILS(HA_ERR_ARGUMENT, words, HA_ERR_ARGUMENT);
}

static void records_that_do_not_fit(void) {
    ring_case x = make_ring("pos+kind", ha_host());
    const int odd_one = me == ranks - 1;
    const ha_region all = ha_box2(0, 6, 0, 5);
    ha_records *line = ha_records_new(&particle_record, 1, (int64_t[]){6}, NULL);
    refused(&x, HA_MPI_FIELDS(x.records, "pos+speed", all), "no field 'speed'");
    refused(&x, HA_MPI_FIELDS(x.records, "pos", ha_box2(0, 7, 0, 5)), "[0, 7) of dimension 0");
    refused(&x, HA_MPI_FIELDS(x.records, "pos", ha_box2(2, 4, 0, 5)), "an extent of 2");
    refused(&x, HA_MPI_FIELDS(x.records, "pos", ha_box2(0, 6, 3, 3)), "no elements");
    refused(&x, HA_MPI_FIELDS(x.records, odd_one ? "mass" : "kind", all), "");
    refused(&x, HA_MPI_FIELDS(x.records, "kind", odd_one ? ha_box2(0, 6, 0, 4) : all), "");
    const ha_mpi_part mass = HA_MPI_FIELDS(x.records, "mass", all);
    refused(&x, odd_one ? mass : x.part[2], ""); /* as many bytes, but no array */
    ha_mpi_halo *halo = ha_mpi_halo_new(x.ring, NULL, 1, x.part, PARTS, HA_MPI_FACES);
    const ha_mpi_part wrong[] = {HA_MPI_FIELDS(x.records, "pos+mass", all),
                                 HA_MPI_FIELDS(x.records, "pos", all),
                                 HA_MPI_FIELDS(x.records, "pos+kind", ha_box2(0, 5, 0, 5)),
                                 HA_MPI_FIELDS(line, "pos+kind", ha_box1(0, 6)), x.part[1]};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const ha_mpi_part part[] = {wrong[i], x.part[1], x.part[2]};
        FAILS(HA_ERR_ARGUMENT, "field 0 has not the types", ha_mpi_halo_rebind(halo, part, PARTS));
    }
    const ha_mpi_part turned[] = {x.part[0], x.part[0], x.part[2]};
    FAILS(HA_ERR_ARGUMENT, "field 1 has not the type,", ha_mpi_halo_rebind(halo, turned, PARTS));
    const ha_mpi_part unknown[] = {HA_MPI_FIELDS(x.records, "speed", all), x.part[1], x.part[2]};
    FAILS(HA_ERR_ARGUMENT, "no field 'speed'", ha_mpi_halo_rebind(halo, unknown, PARTS));
    SUCCEEDS(ha_mpi_halo_start(halo)); /* all are as before */
    SUCCEEDS(ha_mpi_halo_finish(halo));
    compare_ring(&x, 0);
    ha_mpi_halo_free(halo);
    SUCCEEDS(ha_records_free(line));
    free_ring(&x);
    end_case("halos of records that do not fit");
}

/* Rank 1 has no values to send; or its records are open when ghost cells come. */
static void records_that_fail(void) {
    ring_case x = make_ring("pos+kind", places[1]);
    ha_mpi_halo *halo = ha_mpi_halo_new(x.ring, places[1], 1, x.part, PARTS, HA_MPI_FACES);
    const int neighbours = me == 1 || (me + 1) % ranks == 1 || (me + ranks - 1) % ranks == 1;
    ha_records *nothing = ha_records_new(&particle_record, 2, (int64_t[]){6, 5}, NULL);
    const ha_mpi_part empty[] = {HA_MPI_FIELDS(nothing, "pos+kind", ha_box2(0, 6, 0, 5)), x.part[1],
                                 x.part[2]};
    ha_records_access v;
    if (me == 1) SUCCEEDS(ha_mpi_halo_rebind(halo, empty, PARTS));
    SUCCEEDS(ha_mpi_halo_start(halo));
    if (neighbours)
        FAILS(me == 1 ? HA_ERR_STATE : HA_ERR_LOST, me == 1 ? "never written" : "rank 1 has failed",
              ha_mpi_halo_finish(halo));
    else
        SUCCEEDS(ha_mpi_halo_finish(halo));
    SUCCEEDS(ha_mpi_halo_rebind(halo, x.part, PARTS));
    SUCCEEDS(ha_mpi_halo_start(halo));
    memset(&v, 0, sizeof v);
    ha_context *const elsewhere = puts_values ? ha_host()
                                              : places[1]; /* than where they are unpacked */
    if (me == 1) SUCCEEDS(ha_records_open(&v, x.records, elsewhere, "read pos", 0, HA_END));
    if (me == 1)
        FAILS(HA_ERR_CONFLICT, "", ha_mpi_halo_finish(halo));
    else
        SUCCEEDS(ha_mpi_halo_finish(halo));
    if (me == 1) SUCCEEDS(ha_records_close(&v));
    fill_ring(&x, places[1], me + 10);
    SUCCEEDS(ha_mpi_halo_start(halo)); /* all is well again */
    SUCCEEDS(ha_mpi_halo_finish(halo));
    compare_ring(&x, 10);
    ha_mpi_halo_free(halo);
    SUCCEEDS(ha_records_free(nothing));
    free_ring(&x);
    end_case("halos of records that fail");
}

/* ---- each allocation, and each call of MPI ------------------------------------------------------ */

/* What fails once on rank 1, in an exchange: nobody waits, and the next exchange is right. Returns whether it did. */
static int exchanged_with_failure(ring_case *x, ha_mpi_halo *halo, ha_context *c, int after,
                                  int of_mpi) {
    int hit = 0;
    fill_ring(x, c, me + after);
    if (of_mpi)
        mpi_arm(me == 1 ? after : -1);
    else
        arm(me == 1 ? after : -1);
    IS_TRUE(!ha_mpi_halo_start(halo));
    const ha_status s = ha_mpi_halo_finish(halo);
    arm_at = mpi_fails_at = -1;
    const int mine = me == 1 && (of_mpi ? mpi_has_failed : was_hit);
    IS_TRUE(!s || s == HA_ERR_LOST || (mine && s == (of_mpi ? HA_ERR_BACKEND : HA_ERR_MEMORY)));
    (void)ha_take_error();
    MPI_Allreduce(&mine, &hit, 1, MPI_INT, MPI_MAX, WORLD);
    fill_ring(x, c, me + after);
    SUCCEEDS(ha_mpi_halo_start(halo));
    SUCCEEDS(ha_mpi_halo_finish(halo));
    compare_ring(x, after);
    return hit;
}

static void record_halos_with_failures(ha_context *c) {
    ring_case x = make_ring("pos+kind", c);
    for (int after = 0, hit = 1; hit; after++) { /* making */
        arm(me == 1 ? after : -1);
        hit = all_or_none(ha_mpi_halo_new(x.ring, c, 1, x.part, PARTS, HA_MPI_FACES));
    }
    ha_mpi_halo *halo = ha_mpi_halo_new(x.ring, c, 1, x.part, PARTS, HA_MPI_FACES);
    for (int after = 0; exchanged_with_failure(&x, halo, c, after, 0); after++) {}
    for (int after = 0; exchanged_with_failure(&x, halo, c, after, 1); after++) {}
    ha_mpi_halo_free(halo);
    free_ring(&x);
    end_case(c == ha_host() ? "halos of records with failures on the host"
                            : "halos of records with failures on a device");
}

#endif
