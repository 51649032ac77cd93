/* Record arrays: what harray/records.h and harray/records_typed.h promise, on the contexts of matrix.h; and
 * random work against an oracle (records_steps.h).
 *
 *     cases_records NAME    tests whose names match
 *     HARRAY_FUZZ_OPS=n     steps on each row, instead of 1000 (HARRAY_TEST_LONG=1: 300000)
 *     HARRAY_SEED=n         the first world */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../records.h"
#include "matrix.h"
#include "records_steps.h"
#include "threads.h"

HA_VIEW(ranks, atom, 1, HA_AOS)
HA_RECORDS(array_atoms, ranks);
HA_VIEW(fields, atom, 1, HA_SOA)
HA_RECORDS(field_atoms, fields);
HA_VIEW(packed, atom, 1, HA_AOS_PACKED)
HA_RECORDS(packed_atoms, packed);
HA_VIEW(plane, atom, 2, HA_ANY)
HA_RECORDS(plane_atoms, plane);
HA_VIEW(blocks, atom, 2, HA_AOSOA(8, HA_ROWS))
HA_RECORDS(block_atoms, blocks);

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

HA_FN void store_all(cloud v) { HA_EACH(cloud, v, at) cloud_store(v, at, atom_of(HA_I(at))); }
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
    SUCCEEDS(ha_records_layout(&r, C, own ? "soa" : "aos"));
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
    SUCCEEDS(ha_records_layout(&r, M1, "soa"));
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
    SUCCEEDS(ha_records_layout(&r, M2, "aosoa(8)"));
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
            ha_records *r = ha_records_new(&atom_record, 1, &n, atom_layouts[i]);
            assert_non_null(r);
            SUCCEEDS(ha_records_layout_(r, M1, atom_layouts[k], HA_SITE));
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
        SUCCEEDS(ha_records_layout(&r, C, atom_layouts[i]));
        assert_string_equal(ha_records_mapping(r.records, C)->text, atom_layouts[i]);
        SUCCEEDS(ha_records_layout(&r, H, atom_layouts[(i + 3) % ATOM_LAYOUTS]));
        for (int64_t j = 0; j < N; j += 7) {
            const atom b = atom_of(j);
            atom a;
            SUCCEEDS(atoms_get(r, j, &a));
            expect_atom(&a, &b);
        }
    }
    SUCCEEDS(ha_records_layout(&r, H, "soa"));
    expect_atoms(r, 0);
    free_atoms(&r);
}

TEST(layouts_that_do_not_do) {
    static const char *const bad[] = {"null", "one", "nosuch",
                                      "soa(", "",    "split(nosuch: aos, soa)"};
    atoms r = made_at(H);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        REFUSED(HA_ERR_ARGUMENT, ha_records_layout(&r, M1, bad[i]));
    REFUSED(HA_ERR_ARGUMENT, ha_records_layout(&r, M1, NULL));
    REFUSED_SAYING(HA_ERR_ARGUMENT, "pos.x", ha_records_layout(&r, M1, "null"));
    HA_USING(v, r, M1, "read") REFUSED(HA_ERR_CONFLICT, ha_records_layout(&r, M1, "soa"));
    else fail();
    assert_string_equal(ha_records_mapping(r.records, M1)->text, "aos");
    expect_atoms(r, 0);
    free_atoms(&r);
    REFUSED(HA_ERR_ARGUMENT, ha_records_layout(&r, M1, "soa"));
}

/* ---- views ----------------------------------------------------------------------------------- */

TEST(views_with_a_layout) {
    field_atoms f = field_atoms_new(N);
    assert_string_equal(ha_records_mapping(f.records, H)->text, "soa");
    assert_string_equal(ha_records_mapping(f.records, M1)->text, "soa");
    HA_USING(v, f, H, "overwrite")
    for (int64_t i = 0; i < N; i++) fields_store(v, fields_at(v, i), atom_of(i));
    else fail();
    SUCCEEDS(ha_records_layout(&f, M1, "aosoa(8)"));
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
    SUCCEEDS(ha_records_layout(&r, H, "aos(packed)"));
    HA_USING(v, r, H, "overwrite") fail();
    else REFUSED(HA_ERR_ARGUMENT, HA_USED(v).status);
    assert_true(valid(r, H, NULL));
    free_atoms(&r);
}

HA_FN void number(plane v) {
    HA_EACH(plane, v, at) plane_store(v, at, atom_of(10 * HA_X(at, 0) + HA_X(at, 1)));
}
HA_QUEUED(number, plane);

HA_FN void add_to_part(plane v, int64_t first, int64_t last) {
    HA_EACH_IN(plane, v, at, ha_box2(first, last, 0, v.extent[1])) * plane_mass(v, at) += 1;
}
HA_QUEUED(add_to_part, plane, int64_t, int64_t);

TEST(of_two_dimensions) {
    plane_atoms r = plane_atoms_new(HA_DIM(4, 5));
    SUCCEEDS(ha_records_layout(&r, M1, "aosoa(8)@col"));
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
    HA_USING(v, q, H, "overwrite") HA_EACH(blocks, v, at) blocks_store(v, at, atom_of(HA_X(at, 1)));
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

/* ---- conflicts ------------------------------------------------------------------------------- */

TEST(conflicts_go_by_field_and_range) {
    atoms r = made_at(H);
    SUCCEEDS(ha_records_layout(&r, M1, "soa"));
    HA_USING(v, r, H, "write pos, read mass") {
        HA_USING(w, r, M1, "write vel, read mass+id") { /* another field, at another place */
            REFUSED_SAYING(HA_ERR_CONFLICT, "vel", try_open(r.records, H, "read vel", 0, HA_END));
            REFUSED(HA_ERR_CONFLICT, try_open(r.records, M2, "write mass", 0, HA_END));
            SUCCEEDS(try_open(r.records, M2, "read mass", 0, HA_END));
            SUCCEEDS(try_open(r.records, M2, "write tag", 0, HA_END));
            REFUSED(HA_ERR_CONFLICT, try_open(r.records, H, "read tag+pos.z", 0, HA_END));
            REFUSED(HA_ERR_CONFLICT, atoms_resize(r, N + 1));
            REFUSED(HA_ERR_CONFLICT, ha_records_layout(&r, M2, "soa"));
            REFUSED(HA_ERR_CONFLICT, atoms_free(&r));
            atom a;
            REFUSED(HA_ERR_CONFLICT, atoms_get(r, 0, &a));
        }
        else fail();
    }
    else fail();
    HA_USING_PART(v, r, H, "write pos", 0, 5) {
        HA_USING_PART(w, r, M1, "write pos", 5, 9) {
            REFUSED(HA_ERR_CONFLICT, try_open(r.records, M2, "read pos", 4, 5));
            REFUSED(HA_ERR_CONFLICT, try_open(r.records, M2, "read pos", 8, 10));
            SUCCEEDS(try_open(r.records, M2, "read pos", 9, HA_END));
        }
        else fail();
    }
    else fail();
    HA_USING(v, r, H, "read pos") {
        HA_USING(w, r, H, "write pos.x") {} /* y = f(y) */
        else fail();
        REFUSED(HA_ERR_CONFLICT, try_open(r.records, M1, "write pos.x", 0, HA_END));
    }
    else fail();
    free_atoms(&r);
}

TEST(texts_that_open_nothing) {
    static const char *const texts[] = {"",
                                        "reads",
                                        "read nosuch",
                                        "read pos+",
                                        "read +pos",
                                        "read pos, write pos.x",
                                        "read pos+pos.y",
                                        "write, read",
                                        "read tag[3]",
                                        "read,",
                                        "try",
                                        "read pos write vel",
                                        "read pos,",
                                        "try try read",
                                        "tryread",
                                        "read pos.",
                                        "pos"};
    atoms r = made_at(H);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        REFUSED(HA_ERR_ARGUMENT, try_open(r.records, M1, texts[i], 0, HA_END));
    REFUSED(HA_ERR_ARGUMENT, try_open(r.records, M1, NULL, 0, HA_END));
    REFUSED_SAYING(HA_ERR_ARGUMENT, "nosuch", try_open(r.records, H, "read nosuch", 0, HA_END));
    REFUSED_SAYING(HA_ERR_ARGUMENT, "'vel' is not read, write or overwrite, and fields have '+'",
                   try_open(r.records, H, "read pos, vel", 0, HA_END));
    REFUSED_SAYING(HA_ERR_ARGUMENT, "pos.x",
                   try_open(r.records, H, "read pos, write pos.x", 0, HA_END));
    REFUSED(HA_ERR_ARGUMENT, try_open(r.records, H, "read", 0, N + 1));
    REFUSED(HA_ERR_ARGUMENT, try_open(r.records, H, "read", 3, 2));
    REFUSED(HA_ERR_ARGUMENT, try_open(NULL, H, "read", 0, HA_END));
    SUCCEEDS(try_open(r.records, M1, "  read  pos + mass ,write vel", 0, HA_END));
    SUCCEEDS(
        try_open(r.records, M1, "try read pos.x+pos.z+tag[0]+tag[2]+flag, write id", 0, HA_END));
    assert_int_equal(ha_records_valid(r.records, H, "nosuch", 0, HA_END), 0);
    assert_int_equal(ha_records_valid(r.records, H, "mass", 3, 3), 0);
    expect_atoms(r, 0);
    free_atoms(&r);
}

TEST(never_written) {
    double sum;
    atoms r = atoms_new(N);
    ha_records_set_name(r.records, "fresh");
    HA_USING(v, r, H, "read pos") fail();
    else {
        assert_null(v.blob[0]);
        REFUSED_SAYING(HA_ERR_STATE, "pos", HA_USED(v).status);
    }
    HA_USING(v, r, C, "write pos") {
        cloud w = v;
        SUCCEEDS(HA_RUN_VIEW(sum_x, v, &sum));
        assert_ptr_equal(w.blob[0], v.blob[0]);
        SUCCEEDS(ha_context_finish(C));
    }
    else fail();
    SUCCEEDS(try_open(r.records, M1, "read pos", 0, HA_END));
    REFUSED_SAYING(HA_ERR_STATE, "fresh", try_open(r.records, M1, "read pos+id", 0, HA_END));
    REFUSED(HA_ERR_STATE, try_open(r.records, M1, "write mass, read id", 0, HA_END));
    assert_false(valid(r, M1, "mass")); /* none or all */
    SUCCEEDS(try_open(r.records, M1, "overwrite id", 3, 5));
    SUCCEEDS(try_open(r.records, M2, "read id", 3, 5));
    REFUSED(HA_ERR_STATE, try_open(r.records, M2, "read id", 3, 6));
    SUCCEEDS(ha_records_prefetch(r.records, M1, NULL, 0, HA_END)); /* what there is */
    free_atoms(&r);
}

/* What was in the view before, or was tried, does not stay in it. */
TEST(never_a_view_of_what_is_refused) {
    static const char zeros[sizeof(fields)];
    field_atoms fresh = field_atoms_new(N), other = field_atoms_new(N);
    SUCCEEDS(ha_records_layout(&other, M1, "aosoa(8)"));
    const struct {
        ha_records *records;
        ha_context *at;
        const char *what;
        ha_status status;
    } refused[] = {{NULL, H, "read", HA_ERR_ARGUMENT},
                   {fresh.records, H, "reads", HA_ERR_ARGUMENT},
                   {fresh.records, H, "read", HA_ERR_STATE},
                   {fresh.records, M1, "read pos, write vel", HA_ERR_STATE},
                   {other.records, M1, "overwrite", HA_ERR_ARGUMENT}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        fields v;
        ha_records_access a;
        memset(&v, 0xFF, sizeof v);
        memset(&a, 0xFF, sizeof a);
        REFUSED(refused[i].status,
                ha_records_use_(&a, refused[i].records, fresh.type_, &v, sizeof v, refused[i].at,
                                refused[i].what, 0, HA_END, HA_SITE));
        assert_memory_equal(&v, zeros, sizeof v);
        assert_int_equal(a.status, refused[i].status);
        assert_true(!a.records && !a.context && !a.mapping && !a.blob && !a.last);
    }
    SUCCEEDS(field_atoms_free(&fresh));
    SUCCEEDS(field_atoms_free(&other));
}

/* Nothing moves for an opening that is refused. */
TEST(never_written_moves_nothing) {
    atoms r = atoms_new(N);
    SUCCEEDS(try_open(r.records, H, "overwrite pos+mass", 0, HA_END));
    REFUSED(HA_ERR_STATE, try_open(r.records, M1, "read pos, write mass, read id", 0, HA_END));
    REFUSED(HA_ERR_STATE, try_open(r.records, M1, "read pos+mass+id", 0, HA_END));
    assert_int_equal(moved(r.records), 0);
    assert_false(valid(r, M1, "pos") || valid(r, M1, "mass"));
    SUCCEEDS(try_open(r.records, M1, "read pos, write id", 0, HA_END)); /* that may be unwritten */
    assert_int_equal(moved(r.records), N * POS_BYTES);
    free_atoms(&r);
}

static int fits_never(ha_fitting *f, const ha_mapping *mapping) {
    assert_non_null(mapping);
    (void)f;
    return 0;
}

/* Another thread has changed the layout since it was looked at. */
TEST(an_overwrite_that_does_not_fit_any_more) {
    atoms r = made_at(H);
    ha_records_access a;
    ha_fitting fitting = {.fits = fits_never};
    assert_int_equal(
        ha_records_open_if(&a, r.records, M1, "overwrite", 0, HA_END, "here", &fitting),
        HA_ERR_UNSUPPORTED);
    assert_true(fitting.misfit && !a.records);
    assert_int_equal(ha_take_error().status, HA_OK); /* whoever asks, tells it */
    assert_true(valid(r, H, NULL) && !valid(r, M1, "id"));
    expect_atoms(r, 0);
    free_atoms(&r);
}

/* What was converted from there keeps nothing of it. */
TEST(the_queue_of_the_caller_goes) {
    ha_context *device = require_context("private:0");
    void *queue = private_own_queue(0);
    ha_context *mine = ha_context_adopt(device, queue);
    assert_non_null(mine);
    atoms r = made_at(H);
    SUCCEEDS(ha_records_layout(&r, device, "soa"));
    for (int i = 0; i < 3; i++) {
        HA_USING(v, r, mine, "write") SUCCEEDS(HA_RUN_VIEW(move_all, v, 1.0));
        else fail();
        expect_atoms(r, i + 1);
    }
    SUCCEEDS(ha_context_unfork(mine));
    private_destroy(queue);
    HA_USING(v, r, device, "write") SUCCEEDS(HA_RUN_VIEW(move_all, v, 1.0));
    else fail();
    expect_atoms(r, 4);
    free_atoms(&r);
}

/* A range without records is in nobody's way, but what was opened stays where it is. */
TEST(no_records_of_some) {
    atoms r = made_at(H);
    ha_records_access a;
    SUCCEEDS(ha_records_open(&a, r.records, C, "write pos, read id", 4, 4));
    assert_true(a.records && a.mapping && a.first == 4 && a.last == 4);
    SUCCEEDS(try_open(r.records, M1, "write", 0, HA_END));
    REFUSED(HA_ERR_CONFLICT, ha_records_layout(&r, C, "soa"));
    REFUSED(HA_ERR_CONFLICT, atoms_resize(r, N + 1));
    assert_int_equal(a.mapping->rows, LEAVES);
    SUCCEEDS(ha_records_close(&a));
    SUCCEEDS(atoms_resize(r, N + 1));
    SUCCEEDS(atoms_resize(r, N));
    expect_atoms(r, 0);
    free_atoms(&r);
}

TEST(copies_that_are_forbidden) {
    atoms r = made_at(H);
    SUCCEEDS(try_open(r.records, M1, "read pos", 0, HA_END));
    const uint64_t before = moved(r.records);
    HA_NO_TRANSFERS {
        SUCCEEDS(try_open(r.records, M1, "read pos", 0, HA_END));
        REFUSED_SAYING(HA_ERR_TRANSFER, "vel", try_open(r.records, M1, "read pos+vel", 0, HA_END));
        SUCCEEDS(try_open(r.records, M1, "overwrite vel", 0, HA_END));
    }
    assert_int_equal(moved(r.records), before);
    free_atoms(&r);
}

/* ---- existing memory ------------------------------------------------------------------------- */

TEST(array_of_structs_adopted) {
    static atom mine[N];
    for (int64_t i = 0; i < N; i++) mine[i] = atom_of(i);
    atoms r = atoms_of(mine, N);
    assert_non_null(r.records);
    assert_true(valid(r, H, NULL));
    HA_USING(v, r, H, "read pos") assert_ptr_equal(cloud_pos_x(v, cloud_at(v, 3)), &mine[3].pos.x);
    else fail();
    SUCCEEDS(ha_records_layout(&r, M1, "soa"));
    HA_USING(v, r, M1, "read vel, write pos.x") SUCCEEDS(HA_RUN_VIEW(move_all, v, 2.0));
    else fail();
    REFUSED(HA_ERR_STATE, ha_records_layout(&r, H, "soa"));
    REFUSED(HA_ERR_STATE, atoms_resize(r, N + 1));
    const uint64_t there = moved(r.records);
    SUCCEEDS(atoms_sync(r));
    assert_int_equal(moved(r.records), there + N * 8);
    for (int64_t i = 0; i < N; i++) assert_true(mine[i].pos.x == 5.0 * (double)i);
    HA_USING(v, r, M1, "read vel, write pos.x") SUCCEEDS(HA_RUN_VIEW(move_all, v, -2.0));
    else fail();
    SUCCEEDS(atoms_unwrap(&r));
    assert_null(r.records);
    for (int64_t i = 0; i < N; i++) {
        const atom b = atom_of(i);
        expect_atom(&mine[i], &b);
    }
}

TEST(arrays_adopted) {
    static double pos[3][N], mass[N];
    static float vel[2][N];
    static uint16_t tag[3][N];
    static int32_t id[N];
    static uint8_t flag[N];
    void *const mine[] = {pos[0], pos[1], pos[2], vel[0], vel[1], mass,
                          tag[0], tag[1], tag[2], id,     flag};
    for (int i = 0; i < N; i++) {
        pos[0][i] = pos[1][i] = pos[2][i] = vel[0][i] = vel[1][i] = (float)i;
        id[i] = i;
    }
    field_atoms r = field_atoms_on(mine, N);
    assert_non_null(r.records);
    HA_USING(v, r, H, "read id+pos.z") {
        assert_ptr_equal(fields_id(v, fields_at(v, 0)), id);
        assert_ptr_equal(fields_pos_z(v, fields_at(v, 2)), &pos[2][2]);
    }
    else fail();
    SUCCEEDS(ha_records_layout(&r, M1, "aos"));
    HA_USING(v, r, M1, "write mass") fail(); /* which are views of arrays */
    else REFUSED(HA_ERR_ARGUMENT, HA_USED(v).status);
    SUCCEEDS(try_open(r.records, M1, "write", 0, HA_END));
    assert_int_equal(moved(r.records), N * ATOM_BYTES);
    SUCCEEDS(field_atoms_set(r, 4, atom_of(4)));
    SUCCEEDS(field_atoms_unwrap(&r));
    assert_true(pos[1][4] == 4.5 && id[4] == 28 && id[5] == 5 && tag[2][4] == 42);
}

TEST(constant_memory) {
    static atom mine[N];
    for (int64_t i = 0; i < N; i++) mine[i] = atom_of(i);
    array_atoms r = array_atoms_of_const(mine, N);
    SUCCEEDS(try_open(r.records, M1, "read pos", 0, HA_END));
    REFUSED(HA_ERR_STATE, try_open(r.records, M1, "write pos", 0, HA_END));
    REFUSED(HA_ERR_STATE, try_open(r.records, H, "read pos, overwrite id", 0, HA_END));
    REFUSED(HA_ERR_STATE, array_atoms_set(r, 0, mine[1]));
    atom a;
    SUCCEEDS(array_atoms_get(r, 5, &a));
    expect_atom(&a, &mine[5]);
    SUCCEEDS(array_atoms_unwrap(&r));
    array_atoms none = array_atoms_of(NULL, N);
    assert_null(none.records);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
}

TEST(memory_of_one_array_at_a_time) {
    static atom mine[N];
    array_atoms r = array_atoms_of(mine, N);
    array_atoms other = array_atoms_of(mine + 3, 2);
    assert_null(other.records);
    assert_int_equal(ha_take_error().status, HA_ERR_STATE);
    SUCCEEDS(array_atoms_free(&r));
    other = array_atoms_of(mine + 3, 2);
    assert_non_null(other.records);
    SUCCEEDS(array_atoms_free(&other));
}

/* ---- sizes ----------------------------------------------------------------------------------- */

TEST(resizing_keeps_values) {
    atoms r = made_at(C);
    HA_USING(v, r, M1, "write vel") {}
    else fail();
    SUCCEEDS(ha_records_layout(&r, M1, "aosoa(8)"));
    SUCCEEDS(atoms_resize(r, 3 * N));
    assert_int_equal(ha_records_size(r.records), 3 * N);
    for (int64_t i = 0; i < N; i++) {
        const atom b = atom_of(i);
        atom a;
        SUCCEEDS(atoms_get(r, i, &a));
        expect_atom(&a, &b);
    }
    REFUSED(HA_ERR_STATE, try_open(r.records, H, "read pos", 0, N + 1));
    SUCCEEDS(try_open(r.records, M1, "overwrite", N, HA_END));
    SUCCEEDS(atoms_resize(r, N));
    expect_atoms(r, 0);
    REFUSED(HA_ERR_ARGUMENT, atoms_resize(r, -1));
    REFUSED(HA_ERR_MEMORY, atoms_resize(r, INT64_MAX / 2));
    expect_atoms(r, 0);
    free_atoms(&r);
}

#ifdef HARRAY_DEBUG
static void expect_freed(const char *operation) {
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, HA_ERR_STATE);
    assert_string_equal(e.operation, operation);
    assert_string_equal(e.text, "records 'u' (atom[20]) were freed");
}

#define FREED(operation, expr)                                                                     \
    do {                                                                                           \
        assert_false((expr) == HA_OK);                                                             \
        expect_freed(operation);                                                                   \
    } while (0)
#define FREED_0(operation, expr)                                                                   \
    do {                                                                                           \
        assert_true((expr) == 0);                                                                  \
        expect_freed(operation);                                                                   \
    } while (0)

/* Whoever comes with a copy of the handle is told. */
TEST(freed) {
    atoms r = atoms_new(N), u = r;
    atom a = atom_of(1);
    char text[50];
    ha_records_set_name(r.records, "u");
    SUCCEEDS(atoms_free(&r));
    int elsewhere = 0;
    HA_USING(v, u, H, "overwrite") fail();
    else elsewhere = HA_USED(v).status == HA_ERR_STATE;
    assert_true(elsewhere);
    expect_freed("ha_records_open");
    FREED("ha_records_free", atoms_free(&u));
    FREED("ha_records_unwrap", atoms_unwrap(&u));
    FREED("ha_records_sync", atoms_sync(u));
    FREED("ha_records_get", atoms_get(u, 0, &a));
    FREED("ha_records_resize", atoms_resize(u, 3));
    FREED("ha_records_layout", ha_records_layout(&u, M1, "soa"));
    FREED("ha_records_prefetch", ha_records_prefetch(u.records, M1, NULL, 0, HA_END));
    FREED_0("ha_records_size", ha_records_size(u.records));
    FREED_0("ha_records_rank", ha_records_rank(u.records));
    FREED_0("ha_records_extent", ha_records_extent(u.records, 0));
    FREED_0("ha_records_version", ha_records_version(u.records));
    FREED_0("ha_records_record", ha_records_record(u.records));
    FREED_0("ha_records_statistics", ha_records_statistics(u.records).bytes);
    FREED_0("ha_records_valid", ha_records_valid(u.records, H, NULL, 0, HA_END));
    FREED_0("ha_records_name", *ha_records_name(u.records));
    ha_records_set_name(u.records, "v");
    expect_freed("ha_records_set_name");
    (void)ha_records_describe(u.records, text, sizeof text);
    expect_freed("ha_records_describe");
}
#endif

TEST(described) {
    atoms r = made_at(H);
    char text[2000], few[10];
    SUCCEEDS(ha_records_layout(&r, M1, "aosoa(4)"));
    SUCCEEDS(try_open(r.records, M1, "read pos.y", 2, 7));
    const size_t n = ha_records_describe(r.records, text, sizeof text);
    assert_int_equal(n, strlen(text));
    assert_int_equal(ha_records_describe(r.records, few, sizeof few), n);
    assert_int_equal(strlen(few), sizeof few - 1);
    assert_non_null(strstr(text, "atoms"));
    assert_non_null(strstr(text, "aosoa(4)"));
    assert_non_null(strstr(text, "pos.y"));
    assert_string_equal(ha_records_name(r.records), "atoms");
    assert_int_equal(ha_records_rank(r.records), 1);
    assert_int_equal(ha_records_extent(r.records, 0), N);
    assert_int_equal(ha_records_extent(r.records, 1), 0);
    assert_ptr_equal(ha_records_record(r.records), &atom_record);
    const uint64_t version = ha_records_version(r.records);
    SUCCEEDS(try_open(r.records, H, "read", 0, HA_END));
    assert_int_equal(ha_records_version(r.records), version);
    SUCCEEDS(try_open(r.records, H, "write id", 0, HA_END));
    assert_true(ha_records_version(r.records) > version);
    free_atoms(&r);
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct visitor {
    ha_records *r;
    ha_context *context;
    const char *what;
    size_t first, last;
    pthread_t thread;
    atomic_int opened, may_close;
    ha_status status, closed;
    ha_error error;
} visitor;

static void *visitor_main(void *argument) {
    visitor *o = (visitor *)argument;
    ha_records_access a;
    o->status = ha_records_open(&a, o->r, o->context, o->what, o->first, o->last);
    o->error = ha_take_error();
    raise_flag(&o->opened);
    await_flag(&o->may_close);
    o->closed = o->status == HA_OK ? ha_records_close(&a) : HA_OK;
    return NULL;
}

static void visit(visitor *o, ha_records *r, ha_context *c, const char *what) {
    memset(o, 0, sizeof *o);
    o->r = r;
    o->context = c;
    o->what = what;
    o->last = HA_END;
    assert_int_equal(pthread_create(&o->thread, NULL, visitor_main, o), 0);
}

static void leave(visitor *o) {
    raise_flag(&o->may_close);
    assert_int_equal(pthread_join(o->thread, NULL), 0);
    assert_int_equal(o->closed, HA_OK);
}

TEST(threads_on_other_fields_do_not_wait) {
    atoms r = made_at(H);
    visitor a, b, c;
    visit(&a, r.records, H, "write pos, read id");
    await_flag(&a.opened);
    visit(&b, r.records, M1, "write vel, read id");
    await_flag(&b.opened);
    assert_true(a.status == HA_OK && b.status == HA_OK);
    visit(&c, r.records, M2, "try read pos.y");
    await_flag(&c.opened);
    assert_int_equal(c.status, HA_ERR_BUSY);
    leave(&c);
    HA_USING(v, r, M2, "try write tag, read id+mass") {}
    else fail();
    HA_USING(v, r, M2, "try read vel.x") fail();
    else assert_int_equal(HA_USED(v).status, HA_ERR_BUSY);
    assert_int_equal(ha_take_error().status, HA_OK);
    leave(&a);
    leave(&b);
    expect_atoms(r, 0);
    free_atoms(&r);
}

TEST(writers_wait_for_readers_of_their_fields) {
    atoms r = made_at(H);
    visitor a;
    HA_USING(v, r, C, "read pos") {
        const uint64_t sleeps = ha_test_sleeps_();
        visit(&a, r.records, M1, "write pos.x, write mass");
        until_asleep(sleeps + 1);
        assert_false(atomic_load(&a.opened));
    }
    else fail();
    await_flag(&a.opened);
    assert_int_equal(a.status, HA_OK);
    REFUSED(HA_ERR_BUSY, try_open(r.records, H, "try read mass", 0, HA_END));
    leave(&a);
    SUCCEEDS(try_open(r.records, H, "try read mass", 0, HA_END));
    expect_atoms(r, 0);
    free_atoms(&r);
}

/* Each adds to a field of its own, at a place of its own, again and again. */
enum { ROUNDS = 40 };
typedef struct adder {
    atoms r;
    ha_context *context;
    int leaf;
    pthread_t thread;
    int failed;
} adder;

HA_FN void add_one(cloud v, int leaf) {
    HA_EACH(cloud, v, at) {
        if (leaf == MASS)
            *cloud_mass(v, at) += 1;
        else if (leaf == ID)
            *cloud_id(v, at) += 1;
        else
            *cloud_pos_x(v, at) += 1;
    }
}
HA_QUEUED(add_one, cloud, int);

static void *adder_main(void *argument) {
    adder *a = (adder *)argument;
    ha_context *const places[] = {a->context, H};
    const char *what = a->leaf == MASS ? "write mass" : a->leaf == ID ? "write id" : "write pos.x";
    for (int i = 0; i < ROUNDS; i++) {
        HA_USING(v, a->r, places[i % 2], what) a->failed |= HA_RUN_VIEW(add_one, v, a->leaf) != 0;
        else a->failed = 1;
    }
    return NULL;
}

TEST(threads_with_a_field_each) {
    atoms r = made_at(H);
    ha_context *const places[] = {C, M1, M2};
    const int leaves[] = {MASS, ID, POS};
    adder a[3];
    SUCCEEDS(ha_records_layout(&r, C, "soa"));
    SUCCEEDS(ha_records_layout(&r, M1, "aosoa(8)"));
    for (int i = 0; i < 3; i++) {
        a[i] = (adder){.r = r, .context = places[i], .leaf = leaves[i]};
        assert_int_equal(pthread_create(&a[i].thread, NULL, adder_main, &a[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(a[i].thread, NULL), 0);
        assert_int_equal(a[i].failed, 0);
    }
    HA_READING_RECORDS(v, r, H, "pos.x+mass+id+vel") {
        for (int64_t i = 0; i < N; i++) {
            const ha_at at = cloud_const_at(v, i);
            assert_true(*cloud_const_mass(v, at) == 1000.0 + (double)i + ROUNDS);
            assert_true(*cloud_const_pos_x(v, at) == (double)i + ROUNDS);
            assert_int_equal(*cloud_const_id(v, at), 7 * i + ROUNDS);
        }
    }
    else fail();
    free_atoms(&r);
}

/* Records of which the host has several fields at work: what comes to one of them from elsewhere, in large
 * parts, leaves the bytes of the others alone; and those who convert share the few chunks that there are. */
enum { MANY = 6000, PASSES = 6 };

HA_FN void add_id(cloud v, int32_t n) { HA_EACH(cloud, v, at) * cloud_id(v, at) += n; }
HA_FN void add_pos(cloud v, double d) {
    HA_EACH(cloud, v, at) {
        *cloud_pos_x(v, at) += d;
        *cloud_pos_z(v, at) += d;
    }
}
HA_QUEUED(add_id, cloud, int32_t);
HA_QUEUED(add_pos, cloud, double);

static void *neighbour_main(void *argument) {
    adder *a = (adder *)argument;
    ha_context *const places[] = {a->context, H};
    for (int i = 0; i < 2 * PASSES; i++) {
        ha_context *c = a->leaf == ID ? H : places[i % 2];
        if (a->leaf == ID) {
            HA_USING(v, a->r, c, "write id") add_id(v, 1);
            else a->failed = 1;
        } else if (a->leaf == POS) {
            HA_USING(v, a->r, c, "write pos.x+pos.z")
            a->failed |= HA_RUN_VIEW(add_pos, v, 1.0) != 0;
            else a->failed = 1;
        } else {
            HA_USING(v, a->r, c, "write mass") a->failed |= HA_RUN_VIEW(add_one, v, MASS) != 0;
            else a->failed = 1;
        }
    }
    return NULL;
}

TEST(neighbours_in_a_record_are_left_alone) {
    ha_context *const places[] = {M1, M2, H};
    const int leaves[] = {POS, MASS, ID};
    adder a[6];
    atoms r[2];
    for (int k = 0; k < 2; k++) {
        r[k] = atoms_new(MANY);
        assert_non_null(r[k].records);
        HA_USING(v, r[k], H, "overwrite") store_all(v);
        else fail();
        SUCCEEDS(ha_records_layout(&r[k], M1, "soa"));
        SUCCEEDS(ha_records_layout(&r[k], M2, "aosoa(8)"));
    }
    for (int i = 0; i < 6; i++) {
        a[i] = (adder){.r = r[i / 3], .context = places[i % 3], .leaf = leaves[i % 3]};
        assert_int_equal(pthread_create(&a[i].thread, NULL, neighbour_main, &a[i]), 0);
    }
    for (int i = 0; i < 6; i++) {
        assert_int_equal(pthread_join(a[i].thread, NULL), 0);
        assert_int_equal(a[i].failed, 0);
    }
    for (int k = 0; k < 2; k++) {
        int differs = 0;
        HA_READING_RECORDS(v, r[k], H, "") {
            for (int64_t i = 0; i < MANY; i++) {
                const atom is = cloud_const_load(v, cloud_const_at(v, i)), was = atom_of(i);
                const double more = 2 * PASSES;
                differs |= is.pos.x != was.pos.x + more || is.pos.z != was.pos.z + more;
                differs |= is.pos.y != was.pos.y || is.vel.x != was.vel.x || is.flag != was.flag;
                differs |= is.mass != was.mass + more || is.id != was.id + 2 * PASSES;
            }
        }
        else fail();
        assert_int_equal(differs, 0);
        free_atoms(&r[k]);
    }
}

/* ---- the oracle ------------------------------------------------------------------------------ */

TEST(oracle) {
    const char *ops = getenv("HARRAY_FUZZ_OPS"), *first = getenv("HARRAY_SEED");
    const uint32_t steps = ops                          ? (uint32_t)strtoul(ops, NULL, 10) / 10
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
        CASE(of_two_dimensions),
        CASE(scopes_close_however_they_are_left),
        CASE(no_array_no_view),
        CASE(without_a_record),
        CASE(conflicts_go_by_field_and_range),
        CASE(texts_that_open_nothing),
        CASE(never_written),
        CASE(never_a_view_of_what_is_refused),
        CASE(never_written_moves_nothing),
        CASE(an_overwrite_that_does_not_fit_any_more),
        CASE(no_records_of_some),
        CASE(the_queue_of_the_caller_goes),
        CASE(copies_that_are_forbidden),
        CASE(array_of_structs_adopted),
        CASE(arrays_adopted),
        CASE(constant_memory),
        CASE(memory_of_one_array_at_a_time),
        CASE(resizing_keeps_values),
#ifdef HARRAY_DEBUG
        CASE(freed),
#endif
        CASE(described),
        CASE(threads_on_other_fields_do_not_wait),
        CASE(writers_wait_for_readers_of_their_fields),
        CASE(threads_with_a_field_each),
        CASE(neighbours_in_a_record_are_left_alone),
        CASE(oracle),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
