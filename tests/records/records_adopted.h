/* Cases of cases_records.c: existing memory, sizes, and what is said of records. */
#ifndef HARRAY_TESTS_RECORDS_RECORDS_ADOPTED_H
#define HARRAY_TESTS_RECORDS_RECORDS_ADOPTED_H

#include <sys/wait.h>
#include <unistd.h>

/* ---- existing memory ------------------------------------------------------------------------- */

TEST(array_of_structs_adopted) {
    static atom mine[N];
    for (int64_t i = 0; i < N; i++) mine[i] = atom_of(i);
    atoms r = atoms_of(mine, N);
    assert_non_null(r.records);
    assert_true(valid(r, H, NULL));
    HA_USING(v, r, H, "read pos") assert_ptr_equal(cloud_pos_x(v, cloud_at(v, 3)), &mine[3].pos.x);
    else fail();
    SUCCEEDS(ha_records_layout(r.records, M1, "soa"));
    HA_USING(v, r, M1, "read vel, write pos.x") SUCCEEDS(HA_RUN_VIEW(move_all, v, 2.0));
    else fail();
    REFUSED(HA_ERR_STATE, ha_records_layout(r.records, H, "soa"));
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
    field_atoms r = field_atoms_on(mine, LEAVES, N);
    assert_non_null(r.records);
    HA_USING(v, r, H, "read id+pos.z") {
        assert_ptr_equal(fields_id(v, fields_at(v, 0)), id);
        assert_ptr_equal(fields_pos_z(v, fields_at(v, 2)), &pos[2][2]);
    }
    else fail();
    SUCCEEDS(ha_records_layout(r.records, M1, "aos"));
    HA_USING(v, r, M1, "write mass") fail(); /* which are views of arrays */
    else REFUSED(HA_ERR_ARGUMENT, HA_USED(v).status);
    SUCCEEDS(try_open(r.records, M1, "write", 0, HA_END));
    assert_int_equal(moved(r.records), N * ATOM_BYTES);
    SUCCEEDS(field_atoms_set(r, 4, atom_of(4)));
    SUCCEEDS(field_atoms_unwrap(&r));
    assert_true(pos[1][4] == 4.5 && id[4] == 28 && id[5] == 5 && tag[2][4] == 42);
}

HA_FN void count_tags(vectors v) {
    const uint16_t more[] = {1, 2, 3};
    HA_EACH(vectors, v, at) vectors_tag_add(v, at, more);
}
HA_QUEUED(count_tags, vectors);

/* One array for each field, whose elements lie side by side. */
TEST(arrays_of_fields_adopted) {
    static double pos[3][N], mass[N];
    static float vel[2][N];
    static uint16_t tag[N][3];
    static int32_t id[N];
    static uint8_t flag[N];
    void *const mine[] = {pos[0], pos[1], pos[2], vel[0], vel[1], mass, tag, id, flag};
    memset(tag, 0, sizeof tag);
    vector_atoms r = vector_atoms_on(mine, 9, N);
    assert_non_null(r.records);
    assert_string_equal(ha_records_mapping(r.records, H)->text, "soa(fields)");
    SUCCEEDS(ha_records_layout(r.records, M1, "soa(fields)"));
    HA_USING(v, r, M1, "write tag") SUCCEEDS(HA_RUN_VIEW(count_tags, v));
    else fail();
    HA_USING(v, r, H, "write tag") {
        assert_ptr_equal(vectors_tag(v, vectors_at(v, 2), 1), &tag[2][1]);
        count_tags(v);
    }
    else fail();
    SUCCEEDS(vector_atoms_unwrap(&r));
    for (int i = 0; i < N; i++) assert_true(tag[i][0] == 2 && tag[i][1] == 4 && tag[i][2] == 6);
    atoms any = atoms_on(mine, 9, N); /* whose view says nothing: so many are those of fields */
    assert_string_equal(ha_records_mapping(any.records, H)->text, "soa(fields)");
    HA_USING(v, any, H, "read tag") assert_true(*cloud_tag(v, cloud_at(v, 3), 2) == 6);
    else fail();
    SUCCEEDS(atoms_unwrap(&any));
    assert_null(atoms_on(mine, 8, N).records);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
}

HA_FN void double_mass(either v) { HA_EACH(either, v, at) * either_mass(v, at) *= 2; }
HA_QUEUED(double_mass, either);

/* A view of some layouts begins with one of them, and takes no other. */
TEST(views_of_some_layouts) {
    either_atoms r = either_atoms_new(N);
    assert_string_equal(ha_records_mapping(r.records, H)->text, "soa");
    HA_USING(v, r, H, "overwrite mass")
    HA_EACH(either, v, at) * either_mass(v, at) = (double)ha_index(at);
    else fail();
    SUCCEEDS(ha_records_layout(r.records, M1, "aosoa(8)"));
    HA_USING(v, r, M1, "write mass") SUCCEEDS(HA_RUN_VIEW(double_mass, v));
    else fail();
    HA_USING(v, r, H, "read mass") assert_true(*either_mass(v, either_at(v, N - 1)) == 2 * (N - 1));
    else fail();
    SUCCEEDS(ha_records_layout(r.records, M1, "aos"));
    HA_USING(v, r, M1, "write mass") fail();
    else REFUSED_SAYING(HA_ERR_ARGUMENT,
                        "aos is not one of the layouts of the view either: ", HA_USED(v).status);
    SUCCEEDS(either_atoms_free(&r));
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

/* A table that was written by hand need not say how blobs are aligned: that a view cannot have them there is
 * found out before anything is opened, and the values elsewhere are what they were. */
TEST(misaligned_memory_loses_nothing) {
    static _Alignas(8) char memory[N * sizeof(couple) + 16];
    const int64_t extent[] = {N};
    ha_mapping *aos = ha_mapping_parse(&couple_record, "aos", 1, extent, NULL);
    assert_non_null(aos);
    for (int64_t base = 0; base < 8; base += 4)
        for (int64_t shift = 0; shift < 8; shift += 4) {
            const int fits = (base + shift) % 8 == 0;
            void *const mine = memory + shift;
            const ha_blob blob = {.bytes = base + (int64_t)(N * sizeof(couple))};
            ha_row rows[] = {aos->row[0], aos->row[1]};
            for (int i = 0; i < 2; i++) rows[i].base += base;
            ha_mapping by_hand = *aos;
            by_hand.blob = &blob;
            by_hand.row = rows;
            couples r = couples_new(N);
            SUCCEEDS(couples_free(&r));
            r.records = ha_records_wrap(&(ha_mapped){&by_hand, &mine}, H, 0);
            assert_non_null(r.records);
            SUCCEEDS(try_open(r.records, M1, "write a", 0, HA_END));
            const uint64_t version = ha_records_version(r.records);
            HA_USING(v, r, H, "overwrite a") assert_true(fits);
            else REFUSED_SAYING(HA_ERR_ARGUMENT, "may be misaligned", HA_USED(v).status);
            assert_int_equal(ha_records_version(r.records), version + (uint64_t)fits);
            assert_int_equal(ha_records_valid(r.records, M1, "a", 0, HA_END) != 0, !fits);
            SUCCEEDS(couples_unwrap(&r));
        }
    ha_mapping_free(aos);
    void *const apart[] = {memory + 4, memory + 8 * N}; /* of layouts it is known */
    const couples none = couples_on(apart, 2, N / 2);
    assert_null(none.records);
    REFUSED_SAYING(HA_ERR_ARGUMENT, "not aligned", HA_ERR_ARGUMENT);
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
    SUCCEEDS(ha_records_layout(r.records, M1, "aosoa(8)"));
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
    const size_t frees = ha_freed_arrays.n, handles = ha_freed_handles.n;
    SUCCEEDS(atoms_free(&r));
    assert_int_equal(ha_freed_arrays.n, frees + 1); /* one place of each */
    assert_int_equal(ha_freed_handles.n, handles + 1);
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
    FREED("ha_records_layout", ha_records_layout(u.records, M1, "soa"));
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
    assert_string_equal(ha_records_label(u.records).text, "'u' (atom[20])");
}

static atoms about_to_go;

static void free_now(void) { SUCCEEDS(atoms_free(&about_to_go)); }

/* They are, when somebody has just come to ask something. */
#define FREED_BEFORE(operation, question)                                                          \
    do {                                                                                           \
        ha_records *const r = (about_to_go = atoms_new(N)).records;                                \
        ha_records_set_name(r, "u");                                                               \
        met.before = free_now;                                                                     \
        met.at = &r->asking;                                                                       \
        assert_false(question);                                                                    \
        assert_null(about_to_go.records);                                                          \
        met.before = NULL;                                                                         \
        expect_freed(operation);                                                                   \
    } while (0)

TEST(freed_before_they_are_asked) {
    char text[50];
    FREED_BEFORE("ha_records_record", ha_records_record(r));
    FREED_BEFORE("ha_records_rank", ha_records_rank(r));
    FREED_BEFORE("ha_records_extent", ha_records_extent(r, 0));
    FREED_BEFORE("ha_records_size", ha_records_size(r));
    FREED_BEFORE("ha_records_version", ha_records_version(r));
    FREED_BEFORE("ha_records_statistics", ha_records_statistics(r).bytes);
    FREED_BEFORE("ha_records_set_name", (ha_records_set_name(r, "v"), 0));
    FREED_BEFORE("ha_records_mapping", ha_records_mapping(r, H));
    FREED_BEFORE("ha_records_valid", ha_records_valid(r, H, NULL, 0, HA_END));
    FREED_BEFORE("ha_records_describe",
                 strcmp((ha_records_describe(r, text, sizeof text), text), "no records\n"));
}

/* Another thread frees them. */
static struct {
    ha_records *records;
    pthread_t thread;
    atomic_int ended;
    ha_status status;
} going;

static void *free_going(void *unwrap) {
    going.status = unwrap ? ha_records_unwrap(going.records) : ha_records_free(going.records);
    atomic_store(&going.ended, 1);
    return NULL;
}

static void expect_kept(void) {
    until_quiet();
    assert_false(atomic_load(&going.ended));
}

static void free_meanwhile(void) {
    assert_int_equal(pthread_create(&going.thread, NULL, free_going, NULL), 0);
    expect_kept();
}

static void unwrap_meanwhile(void) {
    assert_int_equal(pthread_create(&going.thread, NULL, free_going, &going), 0);
    expect_kept();
}

/* Whoever asks is answered before they go. */
TEST(freed_while_they_are_asked) {
    static void (*const ways[])(void) = {free_meanwhile, unwrap_meanwhile};
    static atom mine[N];
    for (size_t i = 0; i < 3; i++) {
        atoms r = i ? atoms_of(mine, N) : made_at(H);
        going.records = r.records;
        atomic_store(&going.ended, 0);
        met.meanwhile = ways[i / 2];
        met.at = &r.records->asking;
        assert_int_equal(ha_records_size(r.records), N);
        met.meanwhile = NULL;
        assert_int_equal(pthread_join(going.thread, NULL), 0);
        assert_int_equal(going.status, HA_OK);
        step();
    }
}

TEST(described) {
    atoms r = made_at(H);
    char text[2000], few[10];
    SUCCEEDS(ha_records_layout(r.records, M1, "aosoa(4)"));
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

/* Where the queue that asks works on the host's memory it may be the caller's, too. */
TEST(adopted_memory_used_elsewhere) {
    static atom mine[N];
    static double values[LEAVES][N];
    void *field_of[LEAVES];
    for (int l = 0; l < LEAVES; l++) field_of[l] = values[l];
    for (int64_t i = 0; i < N; i++) mine[i] = atom_of(i);
    atoms r = atoms_of(mine, N);
    field_atoms f = field_atoms_on(field_of, LEAVES, N);
    HA_USING(v, r, C, "read vel, write pos.x") SUCCEEDS(HA_RUN_VIEW(move_all, v, 3.0));
    else fail();
    SUCCEEDS(ha_records_layout(f.records, M1, "aos"));
    SUCCEEDS(try_open(f.records, C, "write", 0, HA_END));
    SUCCEEDS(try_open(f.records, M1, "write pos", 0, HA_END));
    SUCCEEDS(atoms_unwrap(&r));
    SUCCEEDS(field_atoms_unwrap(&f));
    for (int64_t i = 0; i < N; i++) assert_true(mine[i].pos.x == 7.0 * (double)i);
}

/* Where the queue cannot work on it, or on some of it, nothing is opened. */
TEST(the_callers_memory_is_not_mapped) {
    static atom mine[N];
    static double values[LEAVES][N];
    void *field_of[LEAVES];
    for (int l = 0; l < LEAVES; l++) field_of[l] = values[l];
    private_map(NULL, 0);
    atoms r = atoms_of(mine, N);
    field_atoms f = field_atoms_on(field_of, LEAVES, N);
    REFUSED_SAYING(HA_ERR_UNSUPPORTED, "records (atom[20])",
                   try_open(r.records, C, "write id", 0, HA_END));
    private_map(mine, sizeof mine);
    SUCCEEDS(try_open(r.records, C, "write id", 0, HA_END));
    private_map(values[1], sizeof values - sizeof values[0]);
    REFUSED(HA_ERR_UNSUPPORTED, try_open(f.records, C, "write id", 0, HA_END));
    private_map(values, sizeof values);
    SUCCEEDS(try_open(f.records, C, "write id", 0, HA_END));
    private_map(NULL, 0);
    SUCCEEDS(atoms_unwrap(&r));
    SUCCEEDS(field_atoms_unwrap(&f));
}

/* ---- what is said ---------------------------------------------------------------------------- */

static void expect_told(ha_status status, const char *operation, const char *words) {
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, status);
    assert_string_equal(e.operation, operation);
    if (!strstr(e.text, words)) fail_msg("no '%s' in: %s", words, e.text);
}

/* The function that was called, the records, and all of what was expected. */
TEST(messages) {
    static atom mine[N];
    void *const none[LEAVES] = {NULL};
    assert_null(array_atoms_new(-1).records);
    expect_told(HA_ERR_ARGUMENT, "ha_records_new", "array_atoms_new: ");
    assert_null(array_atoms_of(NULL, N).records);
    expect_told(HA_ERR_ARGUMENT, "ha_records_wrap", "array_atoms_of: a blob at NULL");
    assert_null(array_atoms_of_const(NULL, N).records);
    expect_told(HA_ERR_ARGUMENT, "ha_records_wrap", "array_atoms_of_const: a blob at NULL");
    assert_null(field_atoms_on(none, LEAVES, N).records);
    expect_told(HA_ERR_ARGUMENT, "ha_records_wrap", "field_atoms_on: a blob at NULL");
    assert_null(field_atoms_on(none, LEAVES - 1, N).records); /* which does not read behind them */
    expect_told(HA_ERR_ARGUMENT, "ha_records_wrap", "field_atoms_on: 10 arrays for the 11 of atom");
    assert_null(field_atoms_on(none, LEAVES, -1).records);
    expect_told(HA_ERR_ARGUMENT, "ha_records_wrap", "field_atoms_on: ");
    atoms r = atoms_of(mine, N);
    ha_records_set_name(r.records, "mine");
    REFUSED_SAYING(HA_ERR_STATE, "records 'mine' (atom[20]): their memory is the caller's",
                   atoms_resize(r, N + 1));
    REFUSED_SAYING(HA_ERR_ARGUMENT, "count, heatmap), found 'n'",
                   ha_records_layout(r.records, M1, "nosuch"));
    HA_USING(v, r, M1, "read")
    REFUSED_SAYING(HA_ERR_CONFLICT, "records 'mine' (atom[20])",
                   ha_records_layout(r.records, M2, "soa"));
    else fail();
    SUCCEEDS(atoms_unwrap(&r));
    r = made_at(H);
    assert_int_equal(atoms_unwrap(&r), HA_ERR_STATE);
    expect_told(HA_ERR_STATE, "ha_records_unwrap", "records 'atoms' (atom[20]) have no memory of");
    assert_non_null(r.records);
    HA_USING(v, r, H, "read") REFUSED_SAYING(HA_ERR_CONFLICT, "records 'atoms'", atoms_free(&r));
    else fail();
    free_atoms(&r);
}

/* A child knows nothing of them. */
/* Nobody knows what locks other threads of the parent had. */
TEST(after_a_fork) {
    atoms r = made_at(H);
    pthread_rwlock_wrlock(&r.records->asking);
    const pid_t child = fork();
    if (!child) {
        char text[40];
        const int knows = valid(r, H, "pos") || ha_records_size(r.records) ||
                          ha_records_rank(r.records) || ha_records_extent(r.records, 0) ||
                          ha_records_version(r.records) || ha_records_record(r.records) ||
                          ha_records_statistics(r.records).bytes ||
                          ha_records_describe(r.records, text, sizeof text) != strlen(text) ||
                          strcmp(text, "no records\n") != 0;
        ha_records_set_name(r.records, "child");
        _exit(knows);
    }
    pthread_rwlock_unlock(&r.records->asking);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(valid(r, H, "pos"));
    free_atoms(&r);
}

/* Two rows of nothing are no records, but there is a range of them. Whoever listens is told of both. */
static int events_told;
static void count_event(const ha_event_info *event, void *user) {
    (void)user;
    events_told += event->kind != HA_EVENT_NEW && event->kind != HA_EVENT_GONE;
}

TEST(ranges_without_records) {
    events_told = 0;
    ha_set_event_handler(count_event, NULL);
    ha_watch(HA_WATCH_ACCESSES);
    plane_atoms r = plane_atoms_new(HA_DIM(2, 0));
    assert_non_null(r.records);
    SUCCEEDS(try_open(r.records, M1, "write pos", 0, 2));
    assert_int_equal(events_told, 2); /* opened, and closed */
    assert_false(ha_records_valid(r.records, M1, "pos", 0, 2));
    SUCCEEDS(ha_records_prefetch(r.records, M1, NULL, 0, 2));
    assert_int_equal(ha_records_size(r.records), 0);
    SUCCEEDS(plane_atoms_resize(r, HA_DIM(2, 3)));
    SUCCEEDS(try_open(r.records, M1, "overwrite pos", 1, 1));
    assert_int_equal(events_told, 4);
    ha_watch(0);
    ha_set_event_handler(NULL, NULL);
    SUCCEEDS(plane_atoms_free(&r));
}

/* Who listens hears of each of their arrays when the call that makes or frees them returns. */
static int came, went;
static void count_arrays(const ha_event_info *event, void *user) {
    (void)user;
    came += event->kind == HA_EVENT_NEW;
    went += event->kind == HA_EVENT_GONE;
}

TEST(their_arrays_are_told_of) {
    came = went = 0;
    ha_set_event_handler(count_arrays, NULL);
    atoms r = atoms_new(N);
    assert_true(came > 0);
    SUCCEEDS(atoms_free(&r));
    assert_int_equal(went, came);
    ha_set_event_handler(NULL, NULL);
}

/* Of a range without records nobody is told where blobs are: another thread may be about to find out. */
TEST(no_records_beside_a_first_opening) {
    atoms r = made_at(C);
    HA_USING_PART(v, r, M1, "read pos", 3, 3) {
        const ha_records_access *x = &HA_USED(v);
        void *const *const blob = x->blob;
        assert_null(blob[0]);
        SUCCEEDS(try_open(r.records, M1, "read pos", 0, HA_END));
        assert_ptr_equal(x->blob, blob);
        assert_null(blob[0]);
    }
    else fail();
    free_atoms(&r);
}

/* No records, whatever the other extents come to. */
TEST(extents_beyond_counting) {
    static const int64_t extent[] = {(int64_t)1 << 40, (int64_t)1 << 40, 0};
    ha_records *r = ha_records_new(&atom_record, 3, extent, "aos");
    assert_non_null(r);
    assert_int_equal(ha_records_size(r), 0);
    SUCCEEDS(try_open(r, M1, "overwrite", 0, 5));
    SUCCEEDS(ha_records_free(r));
}

/* In each memory that has a block. */
TEST(described_wherever_they_are) {
    static const char *const places[] = {"host ", "private:0 "};
    char text[2000];
    atoms r = made_at(C);
    SUCCEEDS(try_open(r.records, H, "read pos+mass", 0, HA_END));
    SUCCEEDS(try_open(r.records, M1, "read pos.x+flag", 3, 9));
    SUCCEEDS(try_open(r.records, H, "write", 0, HA_END));
    (void)ha_records_describe(r.records, text, sizeof text);
    assert_non_null(strstr(text, places[0]));
    assert_non_null(strstr(text, "aos, valid nothing")); /* M1's copy is out of date */
    assert_true(!shares_memory(C) || C == H || strstr(text, "pinned, ") || in_cuda_row ||
                HA_DEBUGGING_);
    SUCCEEDS(try_open(r.records, M1, "read pos.x+flag", 3, 9));
    (void)ha_records_describe(r.records, text, sizeof text);
    assert_true(strstr(text, "pos.x[3, 9)") && strstr(text, "flag[3, 9)") && strstr(text, "), "));
    SUCCEEDS(ha_records_layout(r.records, M1, "soa")); /* which takes the block away */
    (void)ha_records_describe(r.records, text, sizeof text);
    assert_null(strstr(text, "soa"));
    free_atoms(&r);
}

#endif
