/* Record arrays: what harray/records.h and harray/records_typed.h promise, on the contexts of
 * support/matrix.h; and random work against an oracle (records_steps.h).
 *
 *     cases_records NAME    tests whose names match
 *     HARRAY_FUZZ_OPS=n     n / 40 steps on each row, instead of 1000 (HARRAY_TEST_LONG=1: 300000)
 *     HARRAY_SEED=n         the first world */
#define _GNU_SOURCE 1
#include <pthread.h>

/* What happens when somebody comes to this lock for reading, and when they have it: once. */
static struct {
    pthread_rwlock_t *at; /* NULL: nothing is to happen */
    void (*before)(void), (*meanwhile)(void);
} met;

static int met_rdlock(pthread_rwlock_t *lock) {
    void (*before)(void) = met.at == lock ? met.before : NULL;
    void (*meanwhile)(void) = met.at == lock ? met.meanwhile : NULL;
    if (met.at == lock) met.at = NULL;
    if (before) before();
    const int failed = pthread_rwlock_rdlock(lock);
    if (meanwhile) meanwhile();
    return failed;
}

#define pthread_rwlock_rdlock(lock) met_rdlock(lock)
#include "../support/own_calls.h"
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#define HA_LAYOUT_TESTING
#include "../../harray_records.h"
#include "../support/matrix.h"
#include "../support/share.h"
#include "records_steps.h"
#include "../support/threads.h"

HA_VIEW(ranks, atom, 1, HA_AOS)
HA_RECORDS(array_atoms, ranks);
HA_VIEW(fields, atom, 1, HA_SOA)
HA_RECORDS(field_atoms, fields);
HA_VIEW(vectors, atom, 1, HA_SOA_FIELDS)
HA_RECORDS(vector_atoms, vectors);
HA_VIEW(either, atom, 1, HA_ANY_OF(HA_SOA, HA_AOSOA(8)))
HA_RECORDS(either_atoms, either);
HA_VIEW(packed, atom, 1, HA_AOS_PACKED)
HA_RECORDS(packed_atoms, packed);
HA_VIEW(plane, atom, 2, HA_ANY)
HA_RECORDS(plane_atoms, plane);
HA_VIEW(blocks, atom, 2, HA_AOSOA(8, HA_ROWS))
HA_RECORDS(block_atoms, blocks);
typedef struct couple {
    double a, b;
} couple;
#define couple_FIELDS (double, a), (double, b)
HA_RECORD(couple)
HA_VIEW(pairs, couple, 1, HA_ANY)
HA_RECORDS(couples, pairs);

enum { N = 20 };

/* ---- helpers --------------------------------------------------------------------------------- */

static atom atom_of(int64_t i) {
    const double d = (double)i;
    atom a;
    memset(&a, 0, sizeof a);
    a.pos.x = d;
    a.pos.y = d + 0.5;
    a.pos.z = -d;
    a.vel.x = (float)i * 2;
    a.vel.y = (float)i * 4;
    a.mass = d + 1000;
    for (int k = 0; k < 3; k++) a.tag[k] = (uint16_t)(10 * i + k);
    a.id = (int32_t)(7 * i);
    a.flag = (uint8_t)i;
    return a;
}

HA_FN void store_all(cloud v) { HA_EACH(cloud, v, at) cloud_store(v, at, atom_of(ha_index(at))); }
HA_QUEUED(store_all, cloud);

HA_FN void move_all(cloud v, double dt) {
    HA_EACH(cloud, v, at) * cloud_pos_x(v, at) += dt * (double)*cloud_vel_x(v, at);
}
HA_QUEUED(move_all, cloud, double);

HA_FN void sum_x(cloud v, double *sum) {
    *sum = 0;
    for (ptrdiff_t i = 0; i < v.count; i++) *sum += *cloud_pos_x(v, cloud_at(v, i));
}
HA_QUEUED(sum_x, cloud, double *);

static atoms made_at(ha_context *context) {
    atoms r = atoms_new(N);
    assert_non_null(r.records);
    ha_records_set_name(r.records, "atoms");
    HA_USING(v, r, context, "overwrite") SUCCEEDS(HA_RUN_VIEW(store_all, v));
    else fail();
    return r;
}

static void expect_atom(const atom *a, const atom *b) {
    assert_true(a->pos.x == b->pos.x && a->pos.y == b->pos.y && a->pos.z == b->pos.z);
    assert_true(a->vel.x == b->vel.x && a->vel.y == b->vel.y && a->mass == b->mass);
    assert_memory_equal(a->tag, b->tag, sizeof a->tag);
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->flag, b->flag);
}

static void expect_atoms(atoms r, double moved) {
    int ran = 0;
    HA_READING_RECORDS(v, r, H, "") {
        for (int64_t i = 0; i < N; i++) {
            const atom a = cloud_const_load(v, cloud_const_at(v, i));
            atom b = atom_of(i);
            b.pos.x += moved * (double)b.vel.x;
            expect_atom(&a, &b);
        }
        ran = 1;
    }
    assert_int_equal(ran, 1);
}

static void free_atoms(atoms *r) {
    SUCCEEDS(atoms_free(r));
    assert_null(r->records);
}

static int valid(atoms r, ha_context *c, const char *paths) {
    return ha_records_valid(r.records, c, paths, 0, HA_END) != 0;
}

static uint64_t moved(ha_records *r) { return ha_records_statistics(r).bytes; }

/* The status of the opening, which changes nothing when it fails. */
static ha_status try_open(ha_records *r, ha_context *c, const char *what, size_t first,
                          size_t last) {
    ha_records_access a;
    const ha_status s = ha_records_open(&a, r, c, what, first, last);
    assert_int_equal(a.status, s);
    if (s == HA_OK) assert_int_equal(ha_records_close(&a), HA_OK);
    return s;
}

#define REFUSED_SAYING(expected, words, expr)                                                      \
    do {                                                                                           \
        assert_int_equal(expr, expected);                                                          \
        const ha_error e_ = ha_take_error();                                                       \
        assert_int_equal(e_.status, expected);                                                     \
        if (!strstr(e_.text, words)) fail_msg("no '%s' in: %s", words, e_.text);                   \
        step();                                                                                    \
    } while (0)

/* ---- what moves ------------------------------------------------------------------------------ */

TEST(only_fields_that_are_read_move) {
    atoms r = made_at(H);
    const uint64_t own = !shares_memory(C);
    assert_int_equal(moved(r.records), 0);
    SUCCEEDS(ha_records_layout(r.records, C, own ? "soa" : "aos"));
    HA_USING(v, r, C, "read pos") SUCCEEDS(ha_context_finish(C));
    else fail();
    assert_int_equal(moved(r.records), own * N * POS_BYTES);
    assert_true(valid(r, C, "pos") && valid(r, H, "pos"));
    assert_int_equal(valid(r, C, "vel"), !own);
    assert_int_equal(valid(r, C, "pos.y+mass"), !own);
    HA_USING(v, r, C, "read pos+mass") {}
    else fail();
    assert_int_equal(moved(r.records), own * N * (POS_BYTES + MASS_BYTES));
    HA_USING_PART(v, r, C, "read pos+vel", 5, 9) {
        assert_true(HA_USED(v).first == 5 && HA_USED(v).last == 9 && v.count == N);
    }
    else fail();
    assert_int_equal(moved(r.records), own * (N * (POS_BYTES + MASS_BYTES) + 4 * VEL_BYTES));
    assert_true(ha_records_valid(r.records, C, "vel", 5, 9));
    assert_int_equal(ha_records_valid(r.records, C, "vel", 4, 9), !own);
    expect_atoms(r, 0);
    free_atoms(&r);
}

TEST(what_is_written_elsewhere_comes_back_alone) {
    atoms r = made_at(H);
    SUCCEEDS(ha_records_layout(r.records, M1, "soa"));
    HA_USING(v, r, M1, "read vel, write pos.x") SUCCEEDS(HA_RUN_VIEW(move_all, v, 0.5));
    else fail();
    assert_false(valid(r, H, "pos.x"));
    assert_true(valid(r, H, "pos.y+pos.z+vel+mass+tag+id+flag"));
    const uint64_t there = moved(r.records);
    assert_int_equal(there, N * (8 + VEL_BYTES));
    expect_atoms(r, 0.5);
    assert_int_equal(moved(r.records), there + N * 8);
    free_atoms(&r);
}

TEST(overwriting_moves_nothing) {
    atoms r = made_at(M1);
    HA_USING(v, r, C, "overwrite pos, overwrite id") {}
    else fail();
    assert_int_equal(moved(r.records), 0);
    assert_true(valid(r, C, "pos+id") && !valid(r, M1, "pos") && !valid(r, M1, "id"));
    assert_true(valid(r, M1, "vel+mass+tag+flag"));
    HA_USING_PART(v, r, M2, "overwrite mass", 3, 4) {}
    else fail();
    assert_true(ha_records_valid(r.records, M2, "mass", 3, 4));
    assert_true(ha_records_valid(r.records, M1, "mass", 0, 3));
    assert_false(ha_records_valid(r.records, M1, "mass", 3, 4));
    free_atoms(&r);
}

TEST(elsewhere_by_the_host) {
    atoms r = made_at(M1);
    SUCCEEDS(ha_records_layout(r.records, M2, "aosoa(8)"));
    HA_USING(v, r, M2, "read pos.x+vel") {
        double sum = 0;
        SUCCEEDS(HA_RUN_VIEW(sum_x, v, &sum));
        SUCCEEDS(ha_context_finish(M2));
        assert_true(sum == N * (N - 1) / 2);
    }
    else fail();
    assert_true(valid(r, H, "pos.x+vel") && !valid(r, H, "pos.y"));
    assert_int_equal(moved(r.records), 2 * N * (8 + VEL_BYTES));
    free_atoms(&r);
}

/* ---- layouts --------------------------------------------------------------------------------- */

/* Between any two layouts, there and back. */
TEST(all_pairs_of_layouts) {
    for (size_t i = 0; i < ATOM_LAYOUTS; i++)
        for (size_t k = 0; k < ATOM_LAYOUTS; k++) {
            int64_t n = N;
            if (!is_tried((int)i, (int)k)) continue;
            ha_records *r = ha_records_new(&atom_record, 1, &n, atom_layouts[i]);
            assert_non_null(r);
            SUCCEEDS(ha_records_layout(r, M1, atom_layouts[k]));
            assert_string_equal(ha_records_mapping(r, M1)->text, atom_layouts[k]);
            assert_string_equal(ha_records_mapping(r, H)->text, atom_layouts[i]);
            for (int64_t j = 0; j < N; j++) {
                const atom a = atom_of(j);
                SUCCEEDS(ha_records_set(r, &j, &a));
            }
            SUCCEEDS(try_open(r, M1, "write", 0, HA_END));
            assert_false(ha_records_valid(r, H, "flag", 0, 1));
            for (int64_t j = 0; j < N; j++) {
                const atom b = atom_of(j);
                atom a;
                SUCCEEDS(ha_records_get(r, &j, &a));
                expect_atom(&a, &b);
            }
            assert_int_equal(moved(r), 2 * N * ATOM_BYTES);
            SUCCEEDS(ha_records_free(r));
        }
}

TEST(layouts_change_while_values_stay) {
    atoms r = made_at(C);
    HA_USING(v, r, M1, "write vel") {}
    else fail();
    for (size_t i = 0; i < ATOM_LAYOUTS; i++) {
        SUCCEEDS(ha_records_layout(r.records, C, atom_layouts[i]));
        assert_string_equal(ha_records_mapping(r.records, C)->text, atom_layouts[i]);
        SUCCEEDS(ha_records_layout(r.records, H, atom_layouts[(i + 3) % ATOM_LAYOUTS]));
        for (int64_t j = 0; j < N; j += 7) {
            const atom b = atom_of(j);
            atom a;
            SUCCEEDS(atoms_get(r, j, &a));
            expect_atom(&a, &b);
        }
    }
    SUCCEEDS(ha_records_layout(r.records, H, "soa"));
    expect_atoms(r, 0);
    free_atoms(&r);
}

TEST(layouts_that_do_not_do) {
    static const char *const bad[] = {"null", "one", "nosuch",
                                      "soa(", "",    "split(nosuch: aos, soa)"};
    atoms r = made_at(H);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        REFUSED(HA_ERR_ARGUMENT, ha_records_layout(r.records, M1, bad[i]));
    REFUSED(HA_ERR_ARGUMENT, ha_records_layout(r.records, M1, NULL));
    REFUSED_SAYING(HA_ERR_ARGUMENT, "pos.x", ha_records_layout(r.records, M1, "null"));
    HA_USING(v, r, M1, "read") REFUSED(HA_ERR_CONFLICT, ha_records_layout(r.records, M1, "soa"));
    else fail();
    assert_string_equal(ha_records_mapping(r.records, M1)->text, "aos");
    expect_atoms(r, 0);
    free_atoms(&r);
    REFUSED(HA_ERR_ARGUMENT, ha_records_layout(r.records, M1, "soa"));
}

/* ---- views ----------------------------------------------------------------------------------- */

TEST(views_with_a_layout) {
    field_atoms f = field_atoms_new(N);
    assert_string_equal(ha_records_mapping(f.records, H)->text, "soa");
    assert_string_equal(ha_records_mapping(f.records, M1)->text, "soa");
    HA_USING(v, f, H, "overwrite")
    for (int64_t i = 0; i < N; i++) fields_store(v, fields_at(v, i), atom_of(i));
    else fail();
    SUCCEEDS(ha_records_layout(f.records, M1, "aosoa(8)"));
    const uint64_t version = ha_records_version(f.records);
    HA_USING(v, f, M1, "overwrite") fail();
    else {
        const ha_error e = ha_take_error();
        assert_int_equal(HA_USED(v).status, HA_ERR_ARGUMENT);
        assert_int_equal(e.status, HA_ERR_ARGUMENT);
        assert_non_null(strstr(e.text, "records (atom[20]) at "));
        assert_non_null(strstr(e.text, "aosoa(8)"));
        assert_non_null(strstr(e.text, "soa:"));
        assert_non_null(strstr(e.text, "fields"));
        assert_null(v.blob[0]);
    }
    assert_int_equal(ha_records_version(f.records), version);
    assert_true(ha_records_valid(f.records, H, NULL, 0, HA_END));
    SUCCEEDS(field_atoms_free(&f));
}

/* A view that may be misaligned has to know its layout when it is compiled. */
TEST(views_of_packed_records) {
    packed_atoms p = packed_atoms_new(N);
    assert_string_equal(ha_records_mapping(p.records, C)->text, "aos(packed)");
    HA_USING(v, p, H, "overwrite")
    for (int64_t i = 0; i < N; i++) packed_store(v, packed_at(v, i), atom_of(i));
    else fail();
    atom a;
    SUCCEEDS(packed_atoms_get(p, 7, &a));
    const atom b = atom_of(7);
    expect_atom(&a, &b);
    SUCCEEDS(packed_atoms_free(&p));
    atoms r = made_at(H);
    SUCCEEDS(ha_records_layout(r.records, H, "aos(packed)"));
    HA_USING(v, r, H, "overwrite") fail();
    else REFUSED(HA_ERR_ARGUMENT, HA_USED(v).status);
    assert_true(valid(r, H, NULL));
    free_atoms(&r);
}

HA_FN void number(plane v) {
    HA_EACH(plane, v, at)
    plane_store(v, at, atom_of(10 * ha_coordinate(at, 0) + ha_coordinate(at, 1)));
}
HA_QUEUED(number, plane);

HA_FN void add_to_part(plane v, int64_t first, int64_t last) {
    HA_EACH_IN(plane, v, at, ha_box2(first, last, 0, v.extent[1])) * plane_mass(v, at) += 1;
}
HA_QUEUED(add_to_part, plane, int64_t, int64_t);

/* ---- many fields ------------------------------------------------------------------------------ */

/* Makes an array of records of so many fields, of one type or in one array field, and opens every other
 * one; gives the steps that looking for them takes. */
static uint64_t steps_of_fields(int n, int in_one) {
    char *text = (char *)malloc(32 * (size_t)n + 32), *what = (char *)malloc(32 * (size_t)n + 32);
    int64_t extent = 2;
    assert_true(text && what);
    int t = in_one ? sprintf(text, "f[%d]:f32", n) : 0, w = sprintf(what, "overwrite");
    for (int i = 0; i < n; i++) {
        const int k = i * 7919 % n; /* in some other order */
        if (!in_one) t += sprintf(text + t, "f%d:f32 ", k);
        if (i % 2) w += sprintf(what + w, in_one ? "%sf[%d]" : "%sf%d", i > 1 ? "+" : " ", k);
    }
    ha_record *record = ha_record_parse(text, NULL);
    assert_non_null(record);
    const uint64_t before = ha_layout_steps_;
    ha_records *r = ha_records_new(record, 1, &extent, "soa(single)");
    assert_non_null(r);
    SUCCEEDS(try_open(r, H, what, 0, HA_END));
    const uint64_t steps = ha_layout_steps_ - before;
    SUCCEEDS(ha_records_free(r));
    ha_record_free(record);
    free(text);
    free(what);
    return steps;
}

TEST(many_fields_are_found_among_many) {
    for (int in_one = 0; in_one <= 1; in_one++) {
        const int n = 100 / stride_up_to(4);
        const uint64_t few = steps_of_fields(n, in_one), many = steps_of_fields(8 * n, in_one);
        assert_true(few > (uint64_t)n / 2);
        if (many >= 8 * few * 2) fail_msg("%d steps, then %d", (int)few, (int)many);
    }
}

/* ---- boxes ------------------------------------------------------------------------------------ */

/* Cells with room for more records than they have, and a row of ghost cells at each side. */
enum { CELL_ROWS = 6, CELL_ROOM = 8, OCCUPIED = 3 };

HA_FN void drift_in(plane v, ha_region box, double dt) {
    HA_EACH_IN(plane, v, at, box) * plane_pos_x(v, at) += dt * (double)*plane_vel_x(v, at);
}
HA_QUEUED(drift_in, plane, ha_region, double);

static ha_region occupied(void) { return ha_box2(1, CELL_ROWS - 1, 0, OCCUPIED); }

static int is_occupied(int64_t i, int64_t j) { return i >= 1 && i < CELL_ROWS - 1 && j < OCCUPIED; }

static plane_atoms padded_cells(const char *layout) {
    plane_atoms r = plane_atoms_new(HA_DIM(CELL_ROWS, CELL_ROOM));
    SUCCEEDS(ha_records_layout(r.records, C, layout));
    HA_USING_BOX(v, r, H, "overwrite", occupied()) {
        HA_EACH_IN(plane, v, at, HA_USED_REGION(plane, v))
        plane_store(v, at, atom_of(10 * ha_coordinate(at, 0) + ha_coordinate(at, 1)));
    }
    else fail();
    return r;
}

static void expect_padded_cells(plane_atoms r, double moved) {
    for (int64_t i = 0; i < CELL_ROWS; i++)
        for (int64_t j = 0; j < CELL_ROOM; j++) {
            atom a, b = atom_of(10 * i + j);
            const ha_status s = plane_atoms_get(r, HA_DIM(i, j), &a);
            b.pos.x += moved * (double)b.vel.x;
            if (is_occupied(i, j)) {
                SUCCEEDS(s);
                expect_atom(&a, &b);
            } else {
                REFUSED(HA_ERR_STATE, s); /* never written */
            }
        }
}

TEST(boxes_move_only_what_is_occupied) {
    static const char *const layouts[] = {"aos", "soa", "aosoa(8)", "aosoa(8,rows)", "soa@col"};
    const uint64_t cells = shares_memory(C) ? 0 : (CELL_ROWS - 2) * OCCUPIED;
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
        plane_atoms r = padded_cells(layouts[k]);
        HA_USING_BOX(v, r, C, "read vel, write pos", occupied()) {
            assert_true(HA_USED(v).first == 1 && HA_USED(v).last == CELL_ROWS - 1);
            assert_int_equal(HA_USED_REGION(plane, v).last[1], OCCUPIED);
            SUCCEEDS(HA_RUN_VIEW(drift_in, v, HA_USED_REGION(plane, v), 0.5));
        }
        else fail();
        assert_int_equal(moved(r.records), cells * (POS_BYTES + VEL_BYTES));
        HA_USING_BOX(v, r, H, "read pos", occupied()) {}
        else fail();
        assert_int_equal(moved(r.records), cells * (2 * POS_BYTES + VEL_BYTES));
        expect_padded_cells(r, 0.5);
        SUCCEEDS(plane_atoms_free(&r));
    }
}

static ha_status try_box(ha_records *r, ha_context *c, const char *what, ha_region box) {
    ha_records_access a;
    const ha_status s = ha_records_open_box(&a, r, c, what, box);
    assert_int_equal(a.status, s);
    if (s == HA_OK) assert_int_equal(ha_records_close(&a), HA_OK);
    return s;
}

TEST(boxes_lock_nothing_else) {
    plane_atoms r = padded_cells("soa");
    HA_USING_BOX(v, r, H, "write pos", ha_box2(2, 4, 1, 3)) {
        SUCCEEDS(try_box(r.records, M1, "write pos", ha_box2(2, 4, 0, 1)));
        SUCCEEDS(try_box(r.records, M1, "write pos", ha_box2(4, 5, 0, 3)));
        SUCCEEDS(try_box(r.records, M1, "overwrite pos", ha_box2(2, 4, 3, CELL_ROOM)));
        SUCCEEDS(try_box(r.records, M1, "write vel", ha_box2(2, 4, 1, 3)));
        SUCCEEDS(try_box(r.records, M1, "read pos", ha_box2(2, 2, 1, 3))); /* nothing */
        REFUSED_SAYING(HA_ERR_CONFLICT, "[3, 4) x [2, 8)",
                       try_box(r.records, M1, "overwrite pos", ha_box2(3, 4, 2, CELL_ROOM)));
    }
    else fail();
    SUCCEEDS(plane_atoms_free(&r));
}

TEST(boxes_that_are_not_inside) {
    const ha_region bad[] = {ha_box2(0, CELL_ROWS + 1, 0, 1),
                             ha_box2(0, 1, 0, CELL_ROOM + 1),
                             ha_box2(-1, 1, 0, 1),
                             ha_box2(0, 1, 3, 2),
                             ha_box3(0, 1, 0, 1, 0, 2),
                             ha_box4(0, 1, 0, 1, 0, 1, 1, 2)};
    plane_atoms r = padded_cells("soa");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        REFUSED(HA_ERR_ARGUMENT, try_box(r.records, M1, "read pos", bad[i]));
    REFUSED_SAYING(HA_ERR_ARGUMENT, "no range [0, 1) x [0, 9) in 6, 8",
                   try_box(r.records, H, "read pos", bad[1]));
    REFUSED_SAYING(HA_ERR_ARGUMENT, "no range [0, 1) x [0, 1) x [0, 2) in 6, 8",
                   try_box(r.records, H, "read pos", bad[4]));
    expect_padded_cells(r, 0);
    SUCCEEDS(plane_atoms_free(&r));
}

TEST(of_two_dimensions) {
    plane_atoms r = plane_atoms_new(HA_DIM(4, 5));
    SUCCEEDS(ha_records_layout(r.records, M1, "aosoa(8)@col"));
    HA_USING(v, r, M1, "overwrite") SUCCEEDS(HA_RUN_VIEW(number, v));
    else fail();
    HA_USING_PART(v, r, M1, "write mass", 1, 3) {
        const ha_region part = HA_USED_REGION(plane, v);
        assert_true(part.first[0] == 1 && part.last[0] == 3 && part.last[1] == 5);
        SUCCEEDS(HA_RUN_VIEW(add_to_part, v, HA_USED(v).first, HA_USED(v).last));
    }
    else fail();
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 5; j++) {
            atom a, b = atom_of(10 * i + j);
            b.mass += i == 1 || i == 2;
            SUCCEEDS(plane_atoms_get(r, HA_DIM(i, j), &a));
            expect_atom(&a, &b);
        }
    SUCCEEDS(plane_atoms_set(r, HA_DIM(3, 4), atom_of(99)));
    SUCCEEDS(plane_atoms_resize(r, HA_DIM(5, 6)));
    atom a;
    const atom b = atom_of(99), c = atom_of(23);
    SUCCEEDS(plane_atoms_get(r, HA_DIM(3, 4), &a));
    expect_atom(&a, &b);
    SUCCEEDS(plane_atoms_get(r, HA_DIM(2, 3), &a));
    a.mass -= 1;
    expect_atom(&a, &c);
    REFUSED(HA_ERR_STATE, plane_atoms_get(r, HA_DIM(4, 0), &a));
    REFUSED(HA_ERR_STATE, plane_atoms_get(r, HA_DIM(0, 5), &a));
    REFUSED(HA_ERR_ARGUMENT, plane_atoms_get(r, HA_DIM(0, 6), &a));
    REFUSED(HA_ERR_ARGUMENT, plane_atoms_set(r, HA_DIM(-1, 0), b));
    REFUSED_SAYING(HA_ERR_ARGUMENT, "there is no index (2, -7)",
                   plane_atoms_set(r, HA_DIM(2, -7), b));
    SUCCEEDS(plane_atoms_free(&r));

    block_atoms q = block_atoms_new(HA_DIM(3, 5));
    assert_string_equal(ha_records_mapping(q.records, H)->text, "aosoa(8,rows)");
    HA_USING(v, q, H, "overwrite")
    HA_EACH(blocks, v, at) blocks_store(v, at, atom_of(ha_coordinate(at, 1)));
    else fail();
    SUCCEEDS(block_atoms_get(q, HA_DIM(2, 4), &a));
    assert_int_equal(a.id, 28);
    SUCCEEDS(block_atoms_free(&q));
}

/* ---- scopes ---------------------------------------------------------------------------------- */

static int leave_by_return(atoms r) {
    HA_USING(v, r, H, "write") return 1;
    return 0;
}

TEST(scopes_close_however_they_are_left) {
    atoms r = made_at(H);
    int ran = 0;
    assert_int_equal(leave_by_return(r), 1);
    for (int i = 0; i < 2; i++) HA_USING(v, r, C, "write pos") {
            ran++;
            if (ran) break;
        }
    assert_int_equal(ran, 2);
    for (int i = 0; i < 2; i++) {
        HA_USING(v, r, C, "write pos") {
            if (i == 0) continue;
            ran++;
        }
    }
    assert_int_equal(ran, 3);
    HA_USING(v, r, H, "write pos") goto out;
out:
    HA_USING(v, r, H, "write pos") {
        SUCCEEDS(ha_records_close(&HA_USED(v)));
        HA_USING(w, r, M1, "write pos") ran++;
        else fail();
    }
    else fail();
    assert_int_equal(ran, 4);
    {
        HA_SCOPED_USE(v, r, H, "write pos");
        assert_int_equal(HA_USED(v).status, HA_OK);
        assert_ptr_equal(HA_USED(v).context, H);
        assert_non_null(v.blob[0]);
        REFUSED(HA_ERR_CONFLICT, try_open(r.records, M1, "read pos", 0, HA_END));
    }
    HA_ON(M1) HA_USING(v, r, NULL, "read pos") assert_ptr_equal(HA_USED(v).context, M1);
    SUCCEEDS(try_open(r.records, M1, "write", 0, HA_END));
    free_atoms(&r);
}

TEST(no_array_no_view) {
    atoms none = {0};
    HA_USING(v, none, C, "read") fail();
    else {
        assert_null(v.blob[0]);
        REFUSED(HA_ERR_ARGUMENT, HA_USED(v).status);
    }
    SUCCEEDS(atoms_free(&none));
    SUCCEEDS(atoms_unwrap(&none));
    atoms r = atoms_new(-1);
    assert_null(r.records);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
}

TEST(without_a_record) {
    atoms r = atoms_new(0);
    assert_non_null(r.records);
    HA_USING(v, r, M1, "write") {
        assert_int_equal(v.count, 0);
        SUCCEEDS(HA_RUN_VIEW(store_all, v));
    }
    else fail();
    SUCCEEDS(atoms_resize(r, 3));
    SUCCEEDS(atoms_set(r, 2, atom_of(2)));
    atom a;
    REFUSED(HA_ERR_STATE, atoms_get(r, 1, &a));
    SUCCEEDS(atoms_get(r, 2, &a));
    assert_int_equal(a.id, 14);
    SUCCEEDS(atoms_resize(r, 0));
    free_atoms(&r);
}

#include "records_opened.h"
#include "records_adopted.h"
#include "records_shared.h"
#include "records_pieces.h"

/* ---- the oracle ------------------------------------------------------------------------------ */

TEST(oracle) {
    const char *ops = getenv("HARRAY_FUZZ_OPS"), *first = getenv("HARRAY_SEED");
    const uint32_t steps = ops                          ? (uint32_t)strtoul(ops, NULL, 10) / 40
                           : getenv("HARRAY_TEST_LONG") ? 300000
                                                        : 1000;
    uint64_t seed = first ? strtoull(first, NULL, 10) : 0;
    for (uint32_t done = 0; done < steps; done += 100, seed++) {
        begin_world(seed);
        for (int i = 0; i < 100; i++) step_world();
        end_world();
        step();
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        CASE(only_fields_that_are_read_move),
        CASE(what_is_written_elsewhere_comes_back_alone),
        CASE(overwriting_moves_nothing),
        CASE(elsewhere_by_the_host),
        CASE(all_pairs_of_layouts),
        CASE(layouts_change_while_values_stay),
        CASE(layouts_that_do_not_do),
        CASE(views_with_a_layout),
        CASE(views_of_packed_records),
        CASE(many_fields_are_found_among_many),
        CASE(boxes_move_only_what_is_occupied),
        CASE(boxes_lock_nothing_else),
        CASE(boxes_that_are_not_inside),
        CASE(of_two_dimensions),
        CASE(scopes_close_however_they_are_left),
        CASE(no_array_no_view),
        CASE(without_a_record),
        CASE(conflicts_go_by_field_and_range),
        CASE(texts_that_open_nothing),
        CASE(never_written),
        CASE(never_a_view_of_what_is_refused),
        CASE(again_as_another_view),
        CASE(again_as_many_views),
        CASE(again_where_the_blobs_have_moved),
        CASE(never_a_view_of_another_layout),
        CASE(never_written_moves_nothing),
        CASE(an_overwrite_that_does_not_fit_any_more),
        CASE(no_records_of_some),
        CASE(the_queue_of_the_caller_goes),
        CASE(ranges_beyond_all_indices),
        CASE(copies_that_are_forbidden),
        CASE(nobody_else_closes_it),
        CASE(functions_on_queues_open_nothing),
        CASE(functions_on_queues_may_ask),
        CASE(array_of_structs_adopted),
        CASE(arrays_adopted),
        CASE(arrays_of_fields_adopted),
        CASE(views_of_some_layouts),
        CASE(constant_memory),
        CASE(adopted_memory_used_elsewhere),
        CASE(misaligned_memory_loses_nothing),
        CASE(memory_of_one_array_at_a_time),
        CASE(resizing_keeps_values),
        CASE(freed),
        CASE(freed_before_they_are_asked),
        CASE(freed_while_they_are_asked),
        CASE(described),
        CASE(described_wherever_they_are),
        CASE(messages),
        CASE(ranges_without_records),
        CASE(their_arrays_are_told_of),
        CASE(no_records_beside_a_first_opening),
        CASE(extents_beyond_counting),
        CASE(another_layout_while_somebody_writes),
        CASE(threads_on_other_fields_do_not_wait),
        CASE(writers_wait_for_readers_of_their_fields),
        CASE(no_resize_while_somebody_is_about_to_open),
        CASE(no_end_while_somebody_uses_the_handle),
        CASE(told_when_the_handle_is_free_again),
        CASE(arrays_end_while_nobody_takes_their_blocks),
        CASE(opened_while_they_are_freed),
        CASE(threads_with_a_field_each),
        CASE(neighbours_in_a_record_are_left_alone),
        CASE(pieces_are_where_they_were),
        CASE(pieces_without_gaps),
        CASE(pieces_move_that_are_missing),
        CASE(pieces_conflict_by_piece),
        CASE(pieces_are_the_callers),
        CASE(pieces_that_do_not_do),
        CASE(pieces_in_another_order),
        CASE(pieces_at_random),
        CASE(oracle),
    };
    const struct CMUnitTest of_the_host[] = {
        CASE(after_a_fork),
        CASE(handles_come_again),
        CASE(told_of_those_that_were_freed_last),
        CASE(arrays_that_come_again_locked),
        CASE(arrays_that_come_again),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests);
    RUN_ON_ROW(failed, (&matrix[0]), of_the_host);
    const struct CMUnitTest mapped[] = {CASE(the_callers_memory_is_not_mapped)};
    const matrix_row row = {"mapping:0", "sim:0", "private:0"};
    HA_CHECK(ha_backend_register(&private_mapping_backend));
    enter_row(&row);
    failed += cmocka_run_group_tests_name("mapping:0", mapped, NULL, NULL);
    failed += leave_row();
    RUN_ON_ROW(failed, (&(const matrix_row){"sim:0 strides", "sim:1", "private:0"}), tests);
    return failed;
}
