/* Cases of cases_records.c: several threads. */
#ifndef HARRAY_TESTS_RECORDS_RECORDS_SHARED_H
#define HARRAY_TESTS_RECORDS_RECORDS_SHARED_H

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

static void *change_layout(void *argument) {
    visitor *o = (visitor *)argument;
    o->status = ha_records_layout(o->r, o->context, o->what);
    o->error = ha_take_error();
    return NULL;
}

/* Somebody who wants to write them comes while they are brought to the host, to be laid out anew: that
 * is refused, and says why. Both threads wait until the array is no longer busy, then for the list of those
 * who wait; whoever is first then, the writer comes before what is brought. */
TEST(another_layout_while_somebody_writes) {
    atoms r = made_at(H);
    visitor writer, changer = {.r = r.records, .context = M1, .what = "aosoa(4)"};
    SUCCEEDS(ha_records_layout(r.records, M1, "soa"));
    SUCCEEDS(
        try_open(r.records, M1, "write pos", 0, HA_END)); /* valid there, and not on the host */
    const uint64_t sleeps = ha_test_sleeps_();
    (void)ha_busy_begin(r.records->array, 0, NULL);
    visit(&writer, r.records, M2, "write mass");
    until_asleep(sleeps + 1);
    assert_int_equal(pthread_create(&changer.thread, NULL, change_layout, &changer), 0);
    until_quiet();
    pthread_mutex_lock(&ha_slow.lock);
    ha_busy_end(r.records->array);
    until_quiet();
    pthread_mutex_unlock(&ha_slow.lock);
    assert_int_equal(pthread_join(changer.thread, NULL), 0);
    assert_int_equal(changer.status, HA_ERR_CONFLICT);
    assert_non_null(strstr(changer.error.text, "there are open accesses"));
    await_flag(&writer.opened);
    assert_int_equal(writer.status, HA_OK);
    leave(&writer);
    SUCCEEDS(ha_records_layout(r.records, M1, "aosoa(4)"));
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
    SUCCEEDS(ha_records_layout(r.records, C, "soa"));
    SUCCEEDS(ha_records_layout(r.records, M1, "aosoa(8)"));
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
            const ha_cursor at = cloud_const_at(v, i);
            assert_true(*cloud_const_mass(v, at) == 1000.0 + (double)i + ROUNDS);
            assert_true(*cloud_const_pos_x(v, at) == (double)i + ROUNDS);
            assert_int_equal(*cloud_const_id(v, at), 7 * i + ROUNDS);
        }
    }
    else fail();
    free_atoms(&r);
}

/* Records of which the host has several fields at work: what comes to one of them from elsewhere,
 * in large parts, leaves the bytes of the others alone; and those who convert share the few chunks
 * that there are. */
enum { MANY = 6000 };

static int passes(void) { return 1 + share_of(5); }

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
    for (int i = 0; i < 2 * passes(); i++) {
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
        SUCCEEDS(ha_records_layout(r[k].records, M1, "soa"));
        SUCCEEDS(ha_records_layout(r[k].records, M2, "aosoa(8)"));
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
                const double more = 2 * passes();
                differs |= is.pos.x != was.pos.x + more || is.pos.z != was.pos.z + more;
                differs |= is.pos.y != was.pos.y || is.vel.x != was.vel.x || is.flag != was.flag;
                differs |= is.mass != was.mass + more || is.id != was.id + 2 * passes();
            }
        }
        else fail();
        assert_int_equal(differs, 0);
        free_atoms(&r[k]);
    }
}

static void *free_records(void *argument) {
    visitor *o = (visitor *)argument;
    o->status = ha_records_free(o->r);
    o->error = ha_take_error();
    return NULL;
}

/* Whoever comes while they are being freed waits for the handle, and is told. */
TEST(opened_while_they_are_freed) {
    atoms r = made_at(H);
    ha_array *a = r.records->array;
    visitor frees = {.r = r.records}, opens;
    SUCCEEDS(try_open(r.records, H, "write pos", 0, HA_END));
    (void)ha_busy_begin(a, 0, NULL); /* so that it takes some time */
    assert_int_equal(pthread_create(&frees.thread, NULL, free_records, &frees), 0);
    until_quiet();
    visit(&opens, r.records, H, "write pos");
    until_quiet();
    ha_busy_end(a);
    assert_int_equal(pthread_join(frees.thread, NULL), 0);
    assert_int_equal(frees.status, HA_OK);
    await_flag(&opens.opened);
    assert_int_equal(opens.status, HA_ERR_STATE);
    assert_non_null(strstr(opens.error.text, "were freed"));
    leave(&opens);
    assert_int_equal(pthread_rwlock_trywrlock(&r.records->lock), 0); /* nobody has it any more */
    pthread_rwlock_unlock(&r.records->lock);
}

/* What they were called stands in the handle, which may be used again and freed again just then. */
TEST(told_of_those_that_were_freed_last) {
    atoms r = made_at(H);
    ha_records *freed = r.records;
    visitor opens;
    free_atoms(&r);
    pthread_rwlock_wrlock(&freed->asking);
    visit(&opens, freed, H, "read pos");
    until_quiet();
    assert_false(atomic_load(&opens.opened));
    (void)snprintf(freed->label.text, sizeof freed->label.text, "'those'");
    pthread_rwlock_unlock(&freed->asking);
    await_flag(&opens.opened);
    assert_int_equal(opens.status, HA_ERR_STATE);
    assert_string_equal(opens.error.text, "records 'those' were freed");
    leave(&opens);
}

/* A handle that comes again is as new. */
TEST(handles_come_again) {
    atoms r = made_at(H);
    const ha_records *freed = r.records;
    ha_records_set_name(r.records, "before");
    SUCCEEDS(try_open(r.records, H, "write pos", 0, HA_END));
    free_atoms(&r);
    r = atoms_new(0);
    for (size_t left = HA_KEPT + ha_freed_handles.n + 2; left && r.records != freed; left--) {
        free_atoms(&r);
        r = atoms_new(0);
    }
    assert_ptr_equal(r.records, freed);
    assert_string_not_equal(ha_records_name(r.records), "before");
    assert_null(ha_access_spec_find(r.records, "write pos"));
    free_atoms(&r);
}

/* The record of an array is taken for another one when somebody has just come to lock it. */
TEST(arrays_that_come_again_locked) {
    ha_array *a = ha_array_new(ha_type_of_("double", sizeof(double)), 0, H), *next = NULL;
    SUCCEEDS(ha_array_free(a));
    ha_lock(a);
    for (size_t left = HA_KEPT + ha_freed_arrays.n + 2; left && next != a; left--) {
        SUCCEEDS(ha_array_free(next));
        next = ha_array_new(ha_type_of_("double", sizeof(double)), 0, H);
    }
    assert_ptr_equal(next, a);
    assert_int_equal(__atomic_load_n(&a->lock, __ATOMIC_RELAXED), 1);
    ha_unlock(a);
    SUCCEEDS(ha_array_free(next));
}

/* Somebody has just looked where the records are, and comes to lock that when it has become another one's. */
TEST(arrays_that_come_again) {
    const ha_region all = ha_records_rows_(0, HA_END);
    atoms r = made_at(H), other = made_at(H);
    ha_array *before = r.records->array;
    ha_records_opening opening = {.array = before, .context = H, .site = HA_SITE};
    ha_records_access x;
    SUCCEEDS(try_open(r.records, H, "write pos", 0, HA_END));
    SUCCEEDS(atoms_resize(r, N + 1));
    for (size_t left = HA_KEPT + ha_freed_arrays.n + 2; left; left--) {
        free_atoms(&other);
        other = made_at(H);
        if (other.records->array == before) break;
    }
    assert_ptr_equal(other.records->array, before);
    SUCCEEDS(try_open(other.records, H, "write pos", 0, HA_END));
    ha_lock(before);
    assert_false(ha_records_hold_again(before, &opening, &x, r.records, "write pos", &all));
    const int held = ha_records_hold_again(before, &opening, &x, other.records, "write pos", &all);
    ha_unlock(before);
    assert_true(held || HA_DEBUGGING_);
    if (held) SUCCEEDS(ha_close(&x.part_[0]));
    free_atoms(&other);
    free_atoms(&r);
}

/* Somebody waits for it, and so has it in a way. */
TEST(no_resize_while_somebody_is_about_to_open) {
    atoms r = made_at(H);
    visitor a;
    HA_USING(v, r, C, "read pos") {
        const uint64_t sleeps = ha_test_sleeps_();
        visit(&a, r.records, M1, "write pos");
        until_asleep(sleeps + 1);
        REFUSED_SAYING(HA_ERR_CONFLICT, "another thread is about to", atoms_resize(r, N + 1));
    }
    else fail();
    await_flag(&a.opened);
    assert_int_equal(a.status, HA_OK);
    leave(&a);
    free_atoms(&r);
}

/* A resize puts another array behind the handle; whoever opens has the old one for the moment. */
TEST(no_end_while_somebody_uses_the_handle) {
    static atom mine[N];
    atoms made = made_at(H), wrapped = atoms_of(mine, N);
    ha_records *const r[] = {made.records, wrapped.records};
    for (int writes = 0; writes < 2; writes++)
        for (int k = 0; k < 2; k++) {
            (void)!(writes ? pthread_rwlock_wrlock(&r[k]->lock)
                           : pthread_rwlock_rdlock(&r[k]->lock));
            REFUSED_SAYING(HA_ERR_CONFLICT, "another thread is about to", ha_records_free(r[k]));
            REFUSED_SAYING(HA_ERR_CONFLICT, "another thread is about to", ha_records_unwrap(r[k]));
            pthread_rwlock_unlock(&r[k]->lock);
        }
    expect_atoms(made, 0);
    SUCCEEDS(try_open(wrapped.records, M1, "write", 0, HA_END));
    SUCCEEDS(atoms_unwrap(&wrapped));
    free_atoms(&made);
}

typedef struct told {
    ha_records *records;
    int times, free; /* nobody had the handle */
} told;

static void use_when_told(const ha_error *error, void *user) {
    told *t = (told *)user;
    (void)error;
    t->times++;
    if (pthread_rwlock_trywrlock(&t->records->lock)) return;
    t->free++;
    pthread_rwlock_unlock(&t->records->lock);
}

/* A handler of errors may use the records. */
TEST(told_when_the_handle_is_free_again) {
    atoms r = made_at(H);
    told t = {.records = r.records};
    ha_set_error_handler(use_when_told, &t);
    REFUSED(HA_ERR_STATE, atoms_unwrap(&r));
    HA_USING(v, r, H, "read") REFUSED(HA_ERR_CONFLICT, atoms_free(&r));
    else fail();
    atom one;
    ha_records_access x;
    REFUSED(HA_ERR_ARGUMENT, ha_records_layout(r.records, H, "nonsense"));
    REFUSED(HA_ERR_ARGUMENT, ha_records_open(&x, r.records, H, "read nothing", 0, HA_END));
    REFUSED(HA_ERR_ARGUMENT, ha_records_get(r.records, (const int64_t[]){N}, &one));
    REFUSED(HA_ERR_ARGUMENT, ha_records_prefetch(r.records, H, "nothing", 0, HA_END));
    ha_set_error_handler(NULL, NULL);
    if (t.times != 6 || t.free != 6) fail_msg("%d, %d", t.times, t.free);
    free_atoms(&r);
}

static int ended, ended_busy;

static void note_end(ha_array *a) {
    ended++;
    ended_busy += a->busy != 0;
    ha_records_end(a);
}

/* Its blocks are given back without its lock: whoever needs room must not take them as unused ones. */
TEST(arrays_end_while_nobody_takes_their_blocks) {
    atoms r = made_at(M1);
    ended = ended_busy = 0;
    ha_records_state_of(r.records->array)->ops.end = note_end;
    SUCCEEDS(atoms_resize(r, N + 1));
    assert_true(ended == 1 && ended_busy == 1);
    SUCCEEDS(atoms_resize(r, N));
    expect_atoms(r, 0);
    ha_records_state_of(r.records->array)->ops.end = note_end;
    free_atoms(&r);
    assert_true(ended == 2 && ended_busy == 2);
}

#endif
