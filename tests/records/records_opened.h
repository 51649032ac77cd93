/* Cases of cases_records.c: conflicts, what cannot be opened, and by whom. */
#ifndef HARRAY_TESTS_RECORDS_RECORDS_OPENED_H
#define HARRAY_TESTS_RECORDS_RECORDS_OPENED_H

/* ---- conflicts ------------------------------------------------------------------------------- */

TEST(conflicts_go_by_field_and_range) {
    atoms r = made_at(H);
    SUCCEEDS(ha_records_layout(r.records, M1, "soa"));
    HA_USING(v, r, H, "write pos, read mass") {
        HA_USING(w, r, M1, "write vel, read mass+id") { /* another field, at another place */
            REFUSED_SAYING(HA_ERR_CONFLICT, "vel", try_open(r.records, H, "read vel", 0, HA_END));
            REFUSED(HA_ERR_CONFLICT, try_open(r.records, M2, "write mass", 0, HA_END));
            SUCCEEDS(try_open(r.records, M2, "read mass", 0, HA_END));
            SUCCEEDS(try_open(r.records, M2, "write tag", 0, HA_END));
            REFUSED(HA_ERR_CONFLICT, try_open(r.records, H, "read tag+pos.z", 0, HA_END));
            REFUSED(HA_ERR_CONFLICT, atoms_resize(r, N + 1));
            REFUSED(HA_ERR_CONFLICT, ha_records_layout(r.records, M2, "soa"));
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
    SUCCEEDS(ha_records_layout(other.records, M1, "aosoa(8)"));
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
                                refused[i].what, ha_records_rows_(0, HA_END), HA_SITE));
        assert_memory_equal(&v, zeros, sizeof v);
        assert_int_equal(a.status, refused[i].status);
        assert_true(!a.records && !a.context && !a.mapping && !a.blob && !a.last);
    }
    SUCCEEDS(field_atoms_free(&fresh));
    SUCCEEDS(field_atoms_free(&other));
}

/* ---- views that were made before --------------------------------------------------------------- */

static const ha_kept_view *kept_view(atoms r, const ha_records_type_ *type) {
    ha_array *a = r.records->array;
    ha_lock(a);
    ha_placement *p = ha_placement_find(ha_records_state_of(a), &ha_host_memory);
    const ha_kept_view *kept = ha_placement_view(p, type, p->blob);
    ha_unlock(a);
    return kept;
}

/* A view of structs, smaller than the one that was made before, with room behind it. */
static void open_as_structs(array_atoms r) {
    union {
        ranks v;
        char room[sizeof(cloud) + sizeof(ranks)];
    } u;
    ha_records_access a;
    memset(&u, 0x5A, sizeof u);
    SUCCEEDS(ha_records_use_(&a, r.records, r.type_, &u.v, sizeof u.v, H, "read",
                             ha_records_rows_(0, HA_END), HA_SITE));
    assert_int_equal(u.v.count, N);
    for (size_t i = sizeof u.v; i < sizeof u; i++) assert_int_equal(u.room[i], 0x5A);
    SUCCEEDS(ha_records_close(&a));
}

/* Through handles of several types, and in another layout. */
TEST(again_as_another_view) {
    atoms r = made_at(H);
    array_atoms structs = array_atoms_from_(r.records);
    expect_atoms(r, 0);
    open_as_structs(structs);
    open_as_structs(structs);
    for (int i = 0; i < 3; i++) {
        void *x = NULL;
        HA_USING(v, r, H, "read pos") x = cloud_pos_x(v, cloud_at(v, 2));
        else fail();
        HA_USING(v, structs, H, "read pos") {
            assert_ptr_equal(ranks_pos_x(v, ranks_at(v, 2)), x);
            assert_int_equal(v.count, N);
        }
        else fail();
        HA_READING_RECORDS(v, r, H, "pos") {
            assert_ptr_equal(cloud_const_pos_x(v, cloud_const_at(v, 2)), x);
            assert_int_equal(v.view.count, N);
        }
        else fail();
    }
    assert_true(HA_DEBUGGING_ || kept_view(r, r.type_));
    SUCCEEDS(ha_records_layout(r.records, H, "soa"));
    HA_USING(v, structs, H, "read pos") fail();
    else REFUSED(HA_ERR_ARGUMENT, HA_USED(v).status);
    expect_atoms(r, 0);
    expect_atoms(r, 0);
    free_atoms(&r);
}

/* As many types as are remembered, and more. */
TEST(again_as_many_views) {
    enum { TYPES = HA_VIEWS_KEPT + 2 };
    ha_records_type_ type[TYPES];
    atoms r = made_at(H);
    for (int i = 0; i < 2 * TYPES; i++) {
        ha_records_access a;
        cloud v;
        type[i % TYPES] = *r.type_;
        memset(&v, 0xFF, sizeof v);
        SUCCEEDS(ha_records_use_(&a, r.records, &type[i % TYPES], &v, sizeof v, H, "write id",
                                 ha_records_rows_(0, HA_END), HA_SITE));
        assert_int_equal(*cloud_id(v, cloud_at(v, 3)), 21);
        SUCCEEDS(ha_records_close(&a));
    }
    free_atoms(&r);
}

/* When the blobs are somewhere else, so is the view. */
TEST(again_where_the_blobs_have_moved) {
    atoms r = made_at(H);
    expect_atoms(r, 0);
    if (!HA_DEBUGGING_) {
        ha_array *a = r.records->array;
        assert_non_null(kept_view(r, r.type_));
        ha_lock(a);
        ha_placement *p = ha_placement_find(ha_records_state_of(a), &ha_host_memory);
        const char *data = p->data;
        (void)ha_placement_blobs(p, data + 64);
        (void)ha_placement_blobs(p, data);
        ha_unlock(a);
        assert_null(kept_view(r, r.type_));
    }
    expect_atoms(r, 0);
    free_atoms(&r);
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

static int fits_never(ha_fitting *f, const ha_placement *p) {
    assert_non_null(p);
    (void)f;
    return 0;
}

/* Another thread has changed the layout since it was looked at. */
TEST(an_overwrite_that_does_not_fit_any_more) {
    atoms r = made_at(H);
    ha_records_access a;
    ha_fitting fitting = {.fits = fits_never};
    const ha_region all = ha_records_rows_(0, HA_END);
    assert_int_equal(ha_records_open_if(&a, r.records, M1, "overwrite", &all, 0, "here", &fitting),
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
    SUCCEEDS(ha_records_layout(r.records, device, "soa"));
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
    REFUSED(HA_ERR_CONFLICT, ha_records_layout(r.records, C, "soa"));
    REFUSED(HA_ERR_CONFLICT, atoms_resize(r, N + 1));
    assert_int_equal(a.mapping->rows, LEAVES);
    SUCCEEDS(ha_records_close(&a));
    SUCCEEDS(atoms_resize(r, N + 1));
    SUCCEEDS(atoms_resize(r, N));
    expect_atoms(r, 0);
    free_atoms(&r);
}

/* Of such numbers one is, as an index, what stands for the end. */
TEST(ranges_beyond_all_indices) {
    static const size_t far[] = {(size_t)1 << 63, ((size_t)1 << 63) - 1, ((size_t)1 << 63) + 1,
                                 SIZE_MAX - 1};
    atoms r = made_at(H);
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        REFUSED_SAYING(HA_ERR_ARGUMENT, "no range [0, 9223372036854775807) in 20",
                       try_open(r.records, M1, "read pos", 0, far[i]));
        REFUSED(HA_ERR_ARGUMENT, try_open(r.records, M1, "read pos", far[i], HA_END));
        REFUSED(HA_ERR_ARGUMENT, ha_records_prefetch(r.records, M1, "pos", 0, far[i]));
        assert_false(ha_records_valid(r.records, H, "pos", 0, far[i]));
    }
    ha_records_access a;
    REFUSED(HA_ERR_ARGUMENT,
            ha_records_open_box(&a, r.records, M1, "read", ha_box1(0, PTRDIFF_MIN)));
    HA_USING_BOX(v, r, M1, "read", ha_box1(0, PTRDIFF_MIN)) fail();
    else REFUSED(HA_ERR_ARGUMENT, HA_USED(v).status);
    assert_int_equal(moved(r.records), 0);
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

/* ---- by whom --------------------------------------------------------------------------------- */

typedef struct closer {
    ha_records_access *access;
    ha_status status, waits;
} closer;

static void *closer_main(void *argument) {
    closer *o = (closer *)argument;
    o->status = ha_records_close(o->access);
    (void)ha_take_error();
    return NULL;
}

/* Closed by the thread that has opened it, all parts or none. */
TEST(nobody_else_closes_it) {
    atoms r = made_at(H);
    ha_records_access a;
    pthread_t thread;
    SUCCEEDS(ha_records_open(&a, r.records, M1, "read pos, write mass, read flag", 0, HA_END));
    closer o = {&a, HA_OK, HA_OK};
    assert_int_equal(pthread_create(&thread, NULL, closer_main, &o), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(o.status, HA_ERR_STATE);
    assert_ptr_equal(a.records, r.records);
    REFUSED(HA_ERR_CONFLICT, atoms_resize(r, N + 1));
    SUCCEEDS(ha_records_close(&a));
    free_atoms(&r);
}

/* What a function on a queue was told: opening is done before it is enqueued. */
enum { CALLS = 13 };
typedef struct caller {
    atoms r;
    ha_records_access *access;
    ha_status status[CALLS];
    ha_error error[CALLS];
    atomic_int done;
} caller;

static void call_all(const ha_queue *queue, void *argument) {
    caller *o = *(caller *const *)argument;
    ha_records *r = o->r.records;
    static atom a;
    const int64_t one = 1;
    void *const blob = &a;
    const ha_mapping m = {.rank = 0};
    const ha_mapped memory = {&m, &blob};
    ha_records_access x;
    (void)queue;
    for (int i = 0; i < CALLS; i++) {
        ha_status s = HA_OK;
        if (i == 0) s = ha_records_open(&x, r, H, "read", 0, HA_END);
        if (i == 1) s = ha_records_close(o->access);
        if (i == 2) s = ha_records_wait(o->access);
        if (i == 3) s = ha_records_get(r, &one, &a);
        if (i == 4) s = ha_records_layout(r, H, "soa");
        if (i == 5) s = ha_records_resize(r, &one);
        if (i == 6) s = ha_records_sync(r);
        if (i == 7) s = ha_records_prefetch(r, H, NULL, 0, HA_END);
        if (i == 8) s = ha_records_free(r);
        if (i == 9) s = ha_records_mapping(r, H) ? HA_OK : HA_ERR_STATE;
        if (i == 10) s = ha_records_new(&atom_record, 1, &one, NULL) ? HA_OK : HA_ERR_STATE;
        if (i == 11) s = ha_records_wrap(&memory, H, 0) ? HA_OK : HA_ERR_STATE;
        if (i == 12) s = ha_records_run(call_all, o->access, argument, sizeof o);
        o->status[i] = s;
        o->error[i] = ha_take_error();
    }
    raise_flag(&o->done);
}

TEST(functions_on_queues_open_nothing) {
    atoms r = made_at(H);
    static caller o;
    caller *const at = &o;
    ha_context *device = require_context("sim:0"); /* which has a thread */
    ha_records_access a;
    memset(&o, 0, sizeof o);
    o.r = r;
    o.access = &a;
    SUCCEEDS(ha_records_open(&a, r.records, device, "read", 0, HA_END));
    SUCCEEDS(ha_records_run(call_all, &a, &at, sizeof at));
    await_flag(&o.done);
    for (int i = 0; i < CALLS; i++) {
        assert_int_equal(o.status[i], HA_ERR_STATE);
        assert_int_equal(o.error[i].status, HA_ERR_STATE);
        assert_non_null(strstr(o.error[i].text, "a function that runs on a queue"));
    }
    SUCCEEDS(ha_records_close(&a));
    expect_atoms(r, 0);
    free_atoms(&r);
}

/* What is asked while another thread resizes, which waits for whoever asks. */
typedef struct asker {
    ha_records *r;
    ha_context *device;
    int64_t size, extent, described;
    uint64_t version;
    int rank, valid;
    char name[48];
    const ha_record *record;
    atomic_int done;
} asker;

static void ask_all(const ha_queue *queue, void *argument) {
    asker *o = *(asker *const *)argument;
    (void)queue;
    while (!pthread_rwlock_tryrdlock(&o->r->lock)) { /* nobody resizes yet */
        pthread_rwlock_unlock(&o->r->lock);
        sched_yield();
    }
    o->size = ha_records_size(o->r);
    o->extent = ha_records_extent(o->r, 0);
    o->rank = ha_records_rank(o->r);
    o->record = ha_records_record(o->r);
    o->version = ha_records_version(o->r);
    o->valid = ha_records_valid(o->r, o->device, "vel", 0, HA_END);
    o->described = (int64_t)ha_records_describe(o->r, NULL, 0);
    ha_records_set_name(o->r, "asked");
    snprintf(o->name, sizeof o->name, "%s", ha_records_name(o->r));
    raise_flag(&o->done);
}

TEST(functions_on_queues_may_ask) {
    atoms r = made_at(H);
    static asker o;
    asker *const at = &o;
    ha_records_access a;
    ha_status s;
    memset(&o, 0, sizeof o);
    o.r = r.records;
    o.device = require_context("sim:0"); /* which has a thread */
    SUCCEEDS(ha_records_open(&a, r.records, o.device, "write vel", 0, HA_END));
    SUCCEEDS(ha_records_run(ask_all, &a, &at, sizeof at));
    SUCCEEDS(ha_records_close(&a));
    const uint64_t version = ha_records_version(r.records);
    while ((s = atoms_resize(r, N + 1)) == HA_ERR_CONFLICT) (void)ha_take_error(); /* it looks */
    assert_int_equal(s, HA_OK);
    await_flag(&o.done);
    assert_true(o.size == N && o.extent == N && o.rank == 1 && o.record == &atom_record);
    assert_true(o.version == version && o.valid && o.described > 20);
    assert_string_equal(o.name, "asked");
    assert_string_equal(ha_records_name(r.records), "asked");
    assert_int_equal(ha_records_size(r.records), N + 1);
    free_atoms(&r);
}

/* A layout that has changed since it was looked at: once before anything is opened, once before the
 * view is made. Whoever makes views is asked a few times, and then says no. */
static int fitting_views;
static ha_status fits_for_a_while(const ha_mapping *m, void *const *blob, int own, void *view,
                                  ha_error *error) {
    if (fitting_views-- > 0) return array_atoms_make_(m, blob, own, view, error);
    memset(view, 0xFF, sizeof(ranks));
    (void)snprintf(error->text, sizeof error->text, "it is another one now");
    return error->status = HA_ERR_ARGUMENT;
}

TEST(never_a_view_of_another_layout) {
    static const char zeros[sizeof(ranks)];
    array_atoms r = array_atoms_new(N);
    SUCCEEDS(try_open(r.records, H, "overwrite", 0, HA_END));
    ha_records_type_ type = *r.type_;
    type.make = fits_for_a_while;
    const struct {
        int times;
        ha_context *at; /* M1: nothing is valid there, so it has to be opened slowly */
    } when[] = {{0, H}, {1, H}, {1, M1}};
    for (size_t i = 0; i < 6; i++) {
        ha_records_access a;
        ranks v;
        type.kind = i < 3 ? r.type_->kind : -1;
        fitting_views = when[i % 3].times;
        memset(&v, 0xFF, sizeof v);
        REFUSED_SAYING(HA_ERR_ARGUMENT, i < 3 ? "make them alike" : "another one now",
                       ha_records_use_(&a, r.records, &type, &v, sizeof v, when[i % 3].at, "read",
                                       ha_records_rows_(0, HA_END), HA_SITE));
        assert_memory_equal(&v, zeros, sizeof v);
        assert_null(a.records);
        SUCCEEDS(try_open(r.records, H, "write", 0, HA_END));
    }
    SUCCEEDS(array_atoms_free(&r));
}

#endif
