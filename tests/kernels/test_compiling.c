/* Compiling, loading and launching kernels: once, and when something of it fails. On a device with a compiler of
 * the test's own; cases_kernels.c has the real ones. */
#include "../support/compiling_engine.h"
#include "../support/invariants.h"

#define MISTAKE 1
HA_KERNEL(axpy, ((value, double, a), (in, double, x), (inout, double, y)), i,
          { y[i] += a * x[i]; });
HA_KERNEL(counted, ((out, int, x)), i, { x[i] = (int)i; });

HA_KERNEL(layer, ((inout, array_float_3, x)), (k, j, i), { HA_AT(x, k, j, i) += (float)k + 1; });
HA_REDUCE(total, ((in, int, x)), i, int64_t, HA_SUM, x[i]);

typedef struct atom {
    int x, y;
} atom;
#define atom_FIELDS (int, x), (int, y)
HA_RECORD(atom)
HA_VIEW(lump, atom, 1, HA_ANY)
HA_RECORDS(atoms, lump);
HA_KERNEL_EACH(numbered, (atoms, p, "overwrite"), (), at, {
    lump_x_set(p, at, (int)ha_index(at));
    lump_y_set(p, at, 1);
});
HA_KERNEL_EACH(wrong_records, (atoms, p, "overwrite"), (), at, { lump_x_set(p, at, MISTAKE); });

/* So many leaves that their places are more text than a kernel may have, where they do not lie at equal distances. */
typedef struct crowd {
    float position_of_each_neighbour_that_is_known_by_its_number[1000];
} crowd;
#define crowd_FIELDS (float, position_of_each_neighbour_that_is_known_by_its_number, (1000))
HA_RECORD(crowd)
HA_VIEW(mass, crowd, 1, HA_ANY)
HA_RECORDS(crowds, mass);
HA_KERNEL_EACH(crowded, (crowds, p, "overwrite"), (), at,
               { mass_position_of_each_neighbour_that_is_known_by_its_number_set(p, at, 7, 1); });

/* Of lines of a file: what stands in them is looked for by number. */
enum { BEFORE_WRONG = __LINE__ };
HA_KERNEL(wrong, ((inout, int, x)), i, {
    /* MISTAKE: a comment,
       and its second line */
    const char *s = "// no { comment \" \\";
    if (s[0] == '/') x[i] += 'a' - '\'';
    x[i] += MISTAKE;
});
enum { BEFORE_HELPER = __LINE__ };
HA_DEVICE_CODE(
    helper,

    HA_FN int helped(int x) { return x + MISTAKE; });
HA_KERNEL(with_helper, ((uses, helper), (inout, int, x)), i, { x[i] = helped(x[i]); });
HA_KERNEL(a_copy, ((inout, int, x)), i, { x[i] = MISTAKE; });
enum { BEFORE_SECOND = __LINE__ };
HA_KERNEL(a_second, ((inout, int, x)), i, { x[i] = MISTAKE; });

KNOWN_KERNEL(axpy)
KNOWN_KERNEL(counted)
KNOWN_KERNEL(layer)
KNOWN_KERNEL(total)
KNOWN_KERNEL(numbered)
KNOWN_KERNEL(wrong)
KNOWN_KERNEL(with_helper)

static int begin_test(HA_UNUSED void **state) {
    static const known_kernel *const known[] = {&axpy_known,       &counted_known,  &layer_known,
                                                &total_known,      &numbered_known, &wrong_known,
                                                &with_helper_known};
    begin_compiling(known, sizeof known / sizeof *known);
    snprintf(ha_kernels_set.settings.cache, HA_SETTING_BYTES, "%s", directory);
    return 0;
}

static int end_test(HA_UNUSED void **state) { return end_compiling(0); }

/* The error says all of these. */
static void told(ha_status got, ha_status status, const char *one, const char *two) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, status);
    assert_int_equal(e.status, status);
    if (!strstr(e.text, one) || !strstr(e.text, two) || !strstr(e.text, "test_compiling.c:"))
        fail_msg("'%s' lacks '%s' or '%s'", e.text, one, two);
}

static harray_int ints(size_t n, int value) { return harray_int_filled(n, value); }

static void expect_int(harray_int x, size_t i, int value) {
    HA_READING(v, x, H) assert_int_equal(v.data[i], value);
    else fail();
    check_quiet(x.array);
}

/* ---- once ---------------------------------------------------------------------------------------- */

static void launch_axpy(ha_context *c) {
    harray_double x = harray_double_filled(10, 1), y = harray_double_filled(10, 1);
    assert_int_equal(axpy(c, HA_ALL_LANES, 2, x, y), HA_OK);
    HA_READING(v, y, H) assert_true(v.data[9] == 3);
    else fail();
    HA_IGNORE(harray_double_free(&x));
    HA_IGNORE(harray_double_free(&y));
}

TEST(compiled_once_a_device) {
    launch_axpy(C);
    launch_axpy(C);
    launch_axpy(ha_context_fork(C));
    assert_int_equal(compiling.compiled, 1);
    assert_int_equal(compiling.launched, 3);
    launch_axpy(ha_context_find("compiling:1")); /* another device: what it makes is the same */
    assert_int_equal(compiling.compiled, 1);
    assert_int_equal(compiling.loaded, 1);
    assert_int_equal(ha_shutdown(), HA_OK);
    assert_int_equal(compiling.discarded, 2);
    open_device();
    launch_axpy(C);
    assert_int_equal(compiling.compiled, 1);
    assert_int_equal(compiling.loaded, 2);
}

TEST(without_a_cache) {
    ha_kernels_set.settings.cache[0] = 0;
    launch_axpy(C);
    assert_int_equal(ha_shutdown(), HA_OK);
    open_device();
    launch_axpy(C);
    assert_int_equal(compiling.compiled, 2);
    assert_int_equal(compiling.loaded, 0);
}

/* Compiled anew for another device, driver or option; what was kept before stays. */
TEST(kept_for_what_it_was_made_for) {
    launch_axpy(C);
    assert_int_equal(ha_shutdown(), HA_OK);
    compiling.target = "target 2";
    open_device();
    launch_axpy(C);
    assert_int_equal(compiling.compiled, 2);
    assert_int_equal(ha_shutdown(), HA_OK);
    compiling.target = "target 1";
    open_device();
    launch_axpy(C);
    assert_int_equal(compiling.compiled, 2);
    assert_non_null(strstr(compiling.text, "FP_CONTRACT OFF"));
    ha_kernels_set.settings.contract = 1;
    assert_int_equal(ha_shutdown(), HA_OK);
    open_device();
    launch_axpy(C);
    assert_int_equal(compiling.compiled, 3);
    assert_non_null(strstr(compiling.text, "FP_CONTRACT ON"));
}

/* Two versions of one kernel: each gets its own. */
TEST(two_versions_of_a_text) {
    harray_int x = ints(5, 0);
    ha_kernel other = counted_kernel;
    const void *given[] = {&x};
    const ha_region box = ha_box1(0, 5);
    other.text = "{ x[i] = (int)(i + 0); }";
    assert_int_equal(counted(C, 5, x), HA_OK);
    assert_int_equal(ha_kernel_launch_(&other, C, &box, given), HA_OK);
    assert_int_equal(compiling.compiled, 2);
    assert_int_equal(ha_context_finish(C), HA_OK);
    HA_IGNORE(harray_int_free(&x));
    assert_int_equal(ha_shutdown(), HA_OK);
    open_device();
    x = ints(5, 0);
    assert_int_equal(ha_kernel_launch_(&other, C, &box, given), HA_OK);
    assert_int_equal(counted(C, 5, x), HA_OK);
    assert_int_equal(compiling.compiled, 2);
    assert_int_equal(compiling.loaded, 2);
    expect_int(x, 4, 4);
    HA_IGNORE(harray_int_free(&x));
}

/* The device does not take what another program has kept under that key: it is compiled, and kept. */
TEST(a_binary_that_the_device_refuses) {
    launch_axpy(C);
    assert_int_equal(ha_shutdown(), HA_OK);
    open_device();
    compiling.fails.slot = "build";
    compiling.fails.status = HA_ERR_BACKEND;
    launch_axpy(C);
    assert_int_equal(compiling.compiled, 2);
    assert_int_equal(ha_shutdown(), HA_OK);
    open_device();
    launch_axpy(C);
    assert_int_equal(compiling.compiled, 2);
}

static struct {
    int compiles, cached, refused;
    char name[48], at[48];
} heard;
static void hear(const ha_event_info *e, HA_UNUSED void *user) {
    if (e->kind != HA_EVENT_COMPILE) return;
    heard.compiles++;
    heard.cached += e->cached;
    heard.refused += e->status == HA_ERR_COMPILE;
    assert_true(e->end >= e->start && e->start > 0);
    snprintf(heard.name, sizeof heard.name, "%s", e->name);
    snprintf(heard.at, sizeof heard.at, "%s", e->at);
}

/* Each with its name, once; and whether it was compiled, or had been. */
TEST(compiling_is_told) {
    harray_int x = ints(10, 7);
    memset(&heard, 0, sizeof heard);
    ha_set_event_handler(hear, NULL);
    launch_axpy(C);
    launch_axpy(C);
    assert_true(heard.compiles == 1 && heard.cached == 0);
    assert_string_equal(heard.name, "axpy");
    assert_string_equal(heard.at, "compiling:0");
    launch_axpy(ha_context_find("compiling:1"));
    assert_true(heard.compiles == 2 && heard.cached == 1);
    assert_int_equal(wrong(C, HA_ALL_LANES, x), HA_ERR_COMPILE);
    assert_int_equal(wrong(C, HA_ALL_LANES, x), HA_ERR_COMPILE);
    assert_true(heard.compiles == 3 && heard.refused == 1);
    HA_IGNORE(ha_take_error().status);
    ha_set_event_handler(NULL, NULL);
    HA_IGNORE(harray_int_free(&x));
}

/* ---- what the compiler refuses ------------------------------------------------------------------- */

static const char *log_of(const ha_kernel *k) {
    static char text[HA_LOG_BYTES];
    const size_t n = ha_kernel_log(k, C, text, sizeof text);
    assert_int_equal(n, strlen(text));
    assert_int_equal(ha_kernel_log(k, C, NULL, 0), n);
    return text;
}

/* With the user's line, once; the array is as it was. */
TEST(refused_by_the_compiler) {
    harray_int x = ints(10, 7);
    const uint64_t version = ha_array_version(x.array);
    char line[60];
    snprintf(line, sizeof line, "test_compiling.c:%d: error: MISTAKE", BEFORE_WRONG + 6);
    assert_string_equal(log_of(&wrong_kernel), "");
    told(wrong(C, HA_ALL_LANES, x), HA_ERR_COMPILE, line, "compiling:0");
    const int compiled = compiling.compiled;
    assert_non_null(strstr(log_of(&wrong_kernel), line));
    assert_non_null(strstr(log_of(&wrong_kernel), "and one behind"));
    told(wrong(C, HA_ALL_LANES, x), HA_ERR_COMPILE, line, "compiling:0");
    assert_int_equal(compiling.compiled, compiled);
    assert_int_equal(ha_array_version(x.array), version);
    assert_string_equal(log_of(&axpy_kernel), "");
    assert_int_equal(counted(C, HA_ALL_LANES, x), HA_OK);
    expect_int(x, 9, 9);
    assert_int_equal(wrong(H, HA_ALL_LANES, x), HA_OK);
    assert_int_equal(ha_kernel_log(NULL, C, NULL, 0), 0);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    HA_IGNORE(harray_int_free(&x));
}

/* For each layout once; the records are as they were. */
TEST(records_refused_by_the_compiler) {
    static const char *const layouts[] = {"soa", "aos"};
    atoms r[2];
    for (int i = 0; i < 2; i++) {
        r[i] = atoms_new(10);
        assert_int_equal(ha_records_layout(r[i].records, C, layouts[i]), HA_OK);
    }
    for (int i = 0; i < 6; i++) {
        const uint64_t version = ha_records_version(r[i % 2].records);
        told(wrong_records(C, r[i % 2]), HA_ERR_COMPILE, "MISTAKE is not known", "compiling:0");
        assert_int_equal(compiling.compiled, i ? 4 : 2); /* again with lines */
        assert_int_equal(ha_records_version(r[i % 2].records), version);
    }
    assert_non_null(strstr(log_of(&wrong_records_kernel), "MISTAKE is not known"));
    for (int i = 0; i < 2; i++) HA_IGNORE(atoms_free(&r[i]));
}

TEST(names_that_are_too_long) {
    static char name[300];
    harray_int x = ints(10, 7);
    ha_kernel k = counted_kernel;
    const void *given[] = {&x};
    const ha_region box = ha_box1(0, 5);
    memset(name, 'a', sizeof name - 1);
    k.name = name;
    told(ha_kernel_launch_(&k, C, &box, given), HA_ERR_ARGUMENT, "the name is too long", "");
    assert_int_equal(compiling.compiled, 0);
    expect_int(x, 4, 7);
    HA_IGNORE(harray_int_free(&x));
}

/* What is compiled is the same wherever it stands: only what the compiler says has lines. */
TEST(lines_are_no_part_of_the_text) {
    launch_axpy(C);
    assert_null(strstr(compiling.text, "#line"));
    assert_null(strstr(compiling.text, "test_compiling.c"));
}

static void expect_line(ha_status got, const ha_kernel *k, int number) {
    char line[60];
    snprintf(line, sizeof line, "test_compiling.c:%d: error", number);
    assert_int_equal(got, HA_ERR_COMPILE);
    if (!strstr(ha_take_error().text, line)) fail_msg("%s: %s lacks %s", k->name, log_of(k), line);
}

TEST(lines_of_helpers_and_of_what_stands_there_twice) {
    harray_int x = ints(10, 7);
    expect_line(with_helper(C, HA_ALL_LANES, x), &with_helper_kernel, BEFORE_HELPER + 4);
    expect_line(a_copy(C, HA_ALL_LANES, x), &a_copy_kernel, BEFORE_SECOND - 1);
    expect_line(a_second(C, HA_ALL_LANES, x), &a_second_kernel, BEFORE_SECOND + 1);
    HA_IGNORE(harray_int_free(&x));
}

/* Without the source the line is that of the kernel. */
TEST(lines_without_the_source) {
    harray_int x = ints(10, 7);
    ha_kernel k = a_copy_kernel;
    const void *given[] = {&x};
    const ha_region box = ha_box1(0, 5);
    k.site = "/nowhere/test_compiling.c:17";
    told(ha_kernel_launch_(&k, C, &box, given), HA_ERR_COMPILE,
         "/nowhere/test_compiling.c:17: error: MISTAKE", "");
    HA_IGNORE(harray_int_free(&x));
}

TEST(a_device_without_double) {
    harray_double x = harray_double_filled(10, 1), y = harray_double_filled(10, 1);
    harray_int z = ints(10, 0);
    compiling.no_double = 1;
    for (int i = 0; i < 2; i++)
        told(axpy(C, HA_ALL_LANES, 2, x, y), HA_ERR_UNSUPPORTED,
             "compiling:0 does not compute with double", "a ");
    assert_int_equal(counted(C, HA_ALL_LANES, z), HA_OK);
    expect_int(z, 9, 9);
    HA_IGNORE(harray_double_free(&x));
    HA_IGNORE(harray_double_free(&y));
    HA_IGNORE(harray_int_free(&z));
}

HA_BUNDLE(counters, (in, int64_t, key), (inout, int64_t, total), (inout, int32_t, count));
HARRAY(int64_t);
HARRAY(int32_t);
HA_ARRAY(int64_t, 1);
HA_ARRAY(int64_t, 2);
HA_ARRAY(int32_t, 1);
HA_ARRAY(int32_t, 2);
HA_TEAM_KERNEL(count_short, 4, g, ((bundle, counters, s), (inout, array_int32_t_2, u)), {
    HA_LOCAL(int, h, 4);
    HA_LANES(l) h[l] = 0;
    HA_LANES(l) ha_local_add(&h[s.key[l]], (int)s.total[l]);
    HA_LANES_ALONE(l) {
        if (h[l]) ha_global_add(s.count + s.key[l], h[l]);
        ha_global_max(&HA_AT(u, 0, s.key[l]), 1);
    }
});
HA_TEAM_KERNEL(count_long, 4, g, ((bundle, counters, s)), {
    HA_LANES_ALONE(l) ha_global_add(&s.total[l], s.count[l]);
});
HA_TEAM_KERNEL(count_in_view, 4, g, ((inout, array_int64_t_2, u)), {
    HA_LANES_ALONE(l) ha_global_max(&HA_AT(u, g, l), 1);
});
HA_TEAM_KERNEL(count_locally, 4, g, ((inout, int32_t, x)), {
    HA_LOCAL(int32_t, short_ones, 4);
    HA_LOCAL(unsigned long, h, 4);
    HA_LANES(l) h[l] = 0;
    HA_LANES(l)(void) ha_local_xor(&h[l], 1);
    HA_LANES_ALONE(l) x[l] = (int32_t)h[short_ones[l] = l];
});
KNOWN_KERNEL(count_short)
KNOWN_KERNEL(count_long)

/* Told before the compiler would, with what is meant; what has 32 bits runs there. */
TEST(a_device_without_long_atomics) {
    int64_t keys[] = {0, 0, 1, 3};
    counters s = {harray_int64_t_wrap(keys, 4), harray_int64_t_filled(4, 5),
                  harray_int32_t_zeros(4)};
    array_int32_t_2 u = array_int32_t_2_zeros(HA_DIM(1, 4), H);
    array_int64_t_2 w = array_int64_t_2_zeros(HA_DIM(1, 4), H);
    know_compiled(&count_short_known);
    know_compiled(&count_long_known);
    compiling.no_long_atomics = 1;
    told(count_long(C, 1, s), HA_ERR_UNSUPPORTED, "count_long: compiling:0 has no atomics of 64",
         "ha_global_add");
    told(count_in_view(C, 1, w), HA_ERR_UNSUPPORTED, "count_in_view: compiling:0", "ha_global_max");
    told(count_locally(C, 1, s.count), HA_ERR_UNSUPPORTED, "compiling:0", "ha_local_xor");
    assert_int_equal(compiling.compiled, 0);
    assert_int_equal(count_short(C, 1, s, u), HA_OK);
    assert_int_equal(compiling.compiled, 1);
    compiling.no_long_atomics = 0;
    assert_int_equal(count_long(C, 1, s), HA_OK);
    HA_READING(v, s.total, H) assert_int_equal(v.data[0], 20);
    else fail();
    HA_IGNORE(harray_int64_t_free(&s.key));
    HA_IGNORE(harray_int64_t_free(&s.total));
    HA_IGNORE(harray_int32_t_free(&s.count));
    HA_IGNORE(array_int32_t_2_free(&u));
    HA_IGNORE(array_int64_t_2_free(&w));
}

static int files_written, logs_written;
static int count_file(const char *path, const struct stat *is, int type, struct FTW *where) {
    (void)where;
    if (type != FTW_F || !is->st_size) return 0;
    files_written += strstr(path, "-") && !strcmp(path + strlen(path) - 3, ".cl");
    logs_written += !strcmp(path + strlen(path) - 4, ".log");
    return 0;
}

/* Every text, and what was said of those that were refused. */
TEST(texts_are_written) {
    harray_int x = ints(10, 7);
    snprintf(ha_kernels_set.settings.dump, HA_SETTING_BYTES, "%s/texts/of mine", directory);
    launch_axpy(C);
    assert_int_equal(wrong(C, HA_ALL_LANES, x), HA_ERR_COMPILE);
    HA_IGNORE(ha_take_error().status);
    files_written = logs_written = 0;
    (void)nftw(ha_kernels_set.settings.dump, count_file, 16, FTW_PHYS);
    assert_int_equal(files_written, 2);
    assert_int_equal(logs_written, 1);
    HA_IGNORE(harray_int_free(&x));
}

/* ---- what the driver refuses ---------------------------------------------------------------------- */

static void fails_next(const char *slot, ha_status status) {
    compiling.fails.slot = slot;
    compiling.fails.status = status;
    compiling.fails.after = 0;
}

/* With its text; nothing has changed, and the next launch succeeds. */
TEST(refused_by_the_driver) {
    static const struct {
        const char *slot, *text;
        ha_status status;
    } failures[] = {{"build", "cannot be compiled for compiling:0", HA_ERR_BACKEND},
                    {"build", "cannot be compiled for compiling:0", HA_ERR_MEMORY},
                    {"kernel", "does not find it", HA_ERR_NOT_FOUND},
                    {"kernel", "does not find it", HA_ERR_BACKEND},
                    {"launch", "did not take the kernel", HA_ERR_BACKEND},
                    {"launch", "did not take the kernel", HA_ERR_MEMORY}};
    ha_kernels_set.settings.cache[0] = 0;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        harray_int x = ints(10, 7);
        const uint64_t version = ha_array_version(x.array);
        fails_next(failures[i].slot, failures[i].status);
        told(counted(C, HA_ALL_LANES, x), failures[i].status, failures[i].text,
             "the driver said so");
        assert_int_equal(ha_array_version(x.array), version);
        check_quiet(x.array);
        expect_int(x, 9, 7);
        assert_int_equal(counted(C, HA_ALL_LANES, x), HA_OK);
        expect_int(x, 9, 9);
        HA_IGNORE(harray_int_free(&x));
        assert_int_equal(ha_shutdown(), HA_OK);
        open_device();
    }
    assert_int_equal(compiling.compiled, compiling.discarded);
}

/* Nothing has been opened or compiled, here or ahead of launches. */
TEST(texts_that_are_too_long) {
    enum { LONG = 1 << 20 };
    static char body[LONG + 8], wanted[40];
    memset(body, 'x', LONG);
    memcpy(body, "{\"", 2);
    memcpy(body + LONG, "\"; }", 5);
    const ha_kernel_parameter_ parameters[] = {
        {.mode = HA_KERNEL_INOUT_, .bytes = 4, .type = "int", .name = "x"}};
    const ha_kernel endless = {.name = "endless",
                               .text = body,
                               .indices = "i",
                               .site = "test_compiling.c:1",
                               .rank = 1,
                               .parameters = 1,
                               .parameter = parameters};
    harray_int x = ints(10, 7);
    crowds r = crowds_new(2);
    snprintf(wanted, sizeof wanted, "longer than %d bytes", LONG);
    const void *const given[] = {&x};
    const uint64_t version = ha_array_version(x.array);
    told(ha_kernel_launch_(&endless, C, NULL, given), HA_ERR_UNSUPPORTED, wanted, "compiling:0");
    assert_int_equal(ha_records_layout(r.records, C, "soa(single,aligned)"), HA_OK);
    told(crowded(C, r), HA_ERR_UNSUPPORTED, "the layout \"soa(single,aligned)", "compiling:0");
    told(ha_kernels_precompile_("made_up_1", directory, &endless, &endless + 1, "here:1"),
         HA_ERR_UNSUPPORTED, wanted, "made_up_1");
    assert_int_equal(compiling.compiled, 0);
    assert_int_equal(ha_array_version(x.array), version);
    expect_int(x, 9, 7);
    assert_int_equal(ha_records_layout(r.records, C, "aos"), HA_OK);
    told(crowded(C, r), HA_ERR_NOT_FOUND, "does not find it", "compiling:0"); /* nobody knows it */
    assert_int_equal(compiling.compiled, 1);
    HA_IGNORE(crowds_free(&r));
    HA_IGNORE(harray_int_free(&x));
}

/* What was refused is no call. */
TEST(refused_launches_are_not_counted) {
    harray_int x = ints(10, 7);
    ha_watch(HA_WATCH_ACCESSES);
    fails_next("launch", HA_ERR_BACKEND);
    told(counted(C, HA_ALL_LANES, x), HA_ERR_BACKEND, "did not take", "");
    assert_int_equal(ha_works(NULL, 0), 0);
    assert_int_equal(counted(C, HA_ALL_LANES, x), HA_OK);
    assert_int_equal(ha_works(NULL, 0), 1);
    ha_watch(0);
    expect_int(x, 9, 9);
    HA_IGNORE(harray_int_free(&x));
}

/* What of a launch a device has taken: its lanes, and where of one dimension it would go on. */
static struct {
    int rank;
    int64_t lanes, next;
} taken;

static void take_piece(const ha_launch *launch) {
    int64_t lanes = 1, items = 1, first = 0, last = 0;
    for (int d = 0; d < taken.rank; d++) {
        memcpy(&first, launch->argument[2 * d].value, sizeof first);
        memcpy(&last, launch->argument[2 * d + 1].value, sizeof last);
        const int up = taken.rank - 1 - d;
        const size_t room = launch->teams[up] * launch->lanes[up];
        assert_true(last > first && room >= (size_t)(last - first));
        assert_true(!up || launch->teams[up] <= HA_MOST_TEAMS_UP);
        lanes *= last - first;
        items *= (int64_t)room;
    }
    assert_true(items <= ha_most_items);
    assert_true(taken.rank > 1 || first == taken.next);
    taken.next = last;
    taken.lanes += lanes;
}

/* Devices count lanes in 32 bits: of more of them, each is in one piece. */
TEST(more_lanes_than_a_device_counts) {
    const int64_t boxes[][2] = {{0, INT64_C(1) << 30},
                                {-3, (INT64_C(1) << 30) - 2},
                                {0, (INT64_C(1) << 31) + 5},
                                {INT64_MAX - (INT64_C(5) << 30), INT64_MAX}};
    harray_int x = ints(10, 7);
    array_float_3 u = array_float_3_zeros(HA_DIM(1, 1, 1), H);
    compiling.takes = take_piece;
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        taken.rank = 1, taken.lanes = 0, taken.next = boxes[i][0];
        assert_int_equal(counted_in(C, ha_box1(boxes[i][0], boxes[i][1]), x), HA_OK);
        assert_int_equal(taken.lanes, boxes[i][1] - boxes[i][0]);
        assert_int_equal(taken.next, boxes[i][1]);
    }
    taken.rank = 3, taken.lanes = 0;
    assert_int_equal(layer_in(C, ha_box3(0, 2, 0, 70000, -5, (INT64_C(1) << 31)), u), HA_OK);
    assert_int_equal(taken.lanes, INT64_C(140000) * ((INT64_C(1) << 31) + 5));
    taken.lanes = 0;
    assert_int_equal(layer_in(C, ha_box3(0, INT64_C(1) << 40, 0, 0, 0, 1), u), HA_OK);
    assert_int_equal(taken.lanes, 0);
    compiling.takes = NULL;
    HA_IGNORE(harray_int_free(&x));
    HA_IGNORE(array_float_3_free(&u));
}

HA_KERNEL(plane_on_gpu, ((inout, array_float_2, x)), (j, i), { HA_AT(x, j, i) += 1; });
HA_KERNEL(plane_on_cpu, ((inout, array_float_2, x)), (j, i), { HA_AT(x, j, i) += 1; });
HA_KERNEL(plane_by_blocks, ((inout, array_float_2, x), (option, block, 128)), (j, i),
          { HA_AT(x, j, i) += 1; });
KNOWN_KERNEL(plane_on_gpu)
KNOWN_KERNEL(plane_on_cpu)
KNOWN_KERNEL(plane_by_blocks)

static size_t team[3];

static void take_team(const ha_launch *launch) { memcpy(team, launch->lanes, sizeof team); }

static void check_team(ha_status launched, size_t along, size_t across) {
    assert_int_equal(launched, HA_OK);
    assert_int_equal(team[0], along);
    assert_int_equal(team[1], across);
    assert_int_equal(team[2], 1);
}

/* Lanes that run one after the other go along a row, if it is long enough. */
TEST(shapes_of_teams) {
    array_float_2 x = array_float_2_zeros(HA_DIM(300, 300), H);
    know_compiled(&plane_on_gpu_known);
    know_compiled(&plane_on_cpu_known);
    know_compiled(&plane_by_blocks_known);
    compiling.takes = take_team;
    compiling.multiple = 32;
    check_team(plane_on_gpu_in(C, ha_box2(0, 300, 0, 300), x), 64, 4);
    check_team(plane_on_gpu_in(C, ha_box2(0, 300, 0, 5), x), 8, 32);
    compiling.multiple = 1;
    check_team(plane_on_cpu_in(C, ha_box2(0, 300, 0, 300), x), 64, 1);
    check_team(plane_on_cpu_in(C, ha_box2(0, 300, 0, 5), x), 8, 8);
    check_team(plane_by_blocks_in(C, ha_box2(0, 300, 0, 300), x), 128, 1);
    compiling.takes = NULL;
    HA_IGNORE(array_float_2_free(&x));
}

static ha_status fails_second(ha_status status) {
    fails_next("launch", status);
    compiling.fails.after = 1;
    return status;
}

/* A launch in pieces, of which the device takes the first: what that writes is there for everybody, as it cannot be
 * taken back. */
TEST(a_part_of_a_launch) {
    const int64_t planes = HA_MOST_TEAMS_UP + 2;
    array_float_3 x = array_float_3_new((ha_dim3){{planes, 1, 1}}, C);
    assert_int_equal(array_float_3_fill(x, 0, H), HA_OK);
    HA_READING(v, x, C) {}
    const uint64_t version = ha_array_version(x.array);
    const ha_status s = fails_second(HA_ERR_MEMORY);
    told(layer_in(C, ha_box3(0, planes, 0, 1, 0, 1), x), s, "a part of the kernel",
         "the driver said so");
    assert_int_equal(compiling.launched, 1);
    assert_true(ha_array_version(x.array) > version);
    check_quiet(x.array);
    HA_READING(v, x, H) assert_true(HA_AT(v.span, HA_MOST_TEAMS_UP - 1, 0, 0) == HA_MOST_TEAMS_UP);
    else fail();
    assert_int_equal(layer_in(C, ha_box3(0, planes, 0, 1, 0, 1), x), HA_OK);
    HA_READING(v, x, H) assert_true(HA_AT(v.span, planes - 1, 0, 0) == (float)planes);
    else fail();
    HA_IGNORE(array_float_3_free(&x));
}

/* The first step of a reduction reads, whatever becomes of the others: so its array is not free for others. */
TEST(a_part_of_a_reduction) {
    harray_int x = ints(HA_PART_LANES_ + 1, 2);
    int64_t sum = -1;
    HA_READING(v, x, C) {}
    const ha_status s = fails_second(HA_ERR_BACKEND);
    told(total(C, HA_ALL_LANES, x, &sum), s, "a part of the kernel", "the driver said so");
    assert_int_equal(compiling.launched, 1);
    assert_int_equal(sum, -1);
    check_quiet(x.array);
    assert_int_equal(total(C, HA_ALL_LANES, x, &sum), HA_OK);
    assert_int_equal(sum, 2 * (HA_PART_LANES_ + 1));
    HA_IGNORE(harray_int_free(&x));
}

/* A device that fails when it has taken the kernel: what that was to write is lost, and the text says which. */
TEST(late_failures) {
    harray_int x = ints(10, 7);
    ha_context *sim = ha_context_find("sim:0");
    assert_int_equal(ha_sim_hold(sim), HA_OK);
    assert_int_equal(counted(sim, HA_ALL_LANES, x), HA_OK);
    assert_int_equal(ha_sim_fail(sim), HA_OK);
    HA_READING(v, x, H) fail();
    else {
        const ha_error e = ha_take_error();
        assert_int_equal(e.status, HA_ERR_LOST);
        if (!strstr(e.text, "test_compiling.c:")) fail_msg("%s", e.text);
    }
    harray_int_set_name(x, "survivors");
    told(a_copy(H, HA_ALL_LANES, x), HA_ERR_LOST, ": x: ", "survivors"); /* it would be read */
    assert_int_equal(counted(H, HA_ALL_LANES, x), HA_OK);
    expect_int(x, 9, 9);
    HA_IGNORE(harray_int_free(&x));
}

static harray_int asked;
static int answers;
static void ask(HA_UNUSED const ha_error *e, HA_UNUSED void *user) {
    HA_WRITING(v, asked, H) answers += v.data[3] == 7;
}

/* The handler hears of it when nothing is held any more: also where the accesses were opened easily. */
TEST(handlers_may_use_the_arrays) {
    asked = ints(10, 7);
    answers = 0;
    ha_set_error_handler(ask, NULL);
    for (int i = 0; i < 2; i++) {
        HA_WRITING(v, asked, i ? C : H) {}
        fails_next("launch", HA_ERR_BACKEND);
        told(counted(C, HA_ALL_LANES, asked), HA_ERR_BACKEND, "did not take", "");
    }
    assert_int_equal(answers, 2);
    ha_set_error_handler(NULL, NULL);
    HA_IGNORE(harray_int_free(&asked));
}

static ha_status launched;
static void launch(HA_UNUSED const ha_error *e, HA_UNUSED void *user) {
    launched = counted(C, HA_ALL_LANES, asked);
}

/* So another kernel may be compiled then, and records be resized. */
TEST(handlers_may_launch_kernels) {
    asked = ints(10, 7);
    launched = HA_ERR_BACKEND;
    ha_set_error_handler(launch, NULL);
    told(wrong(C, HA_ALL_LANES, asked), HA_ERR_COMPILE, "MISTAKE", "compiling:0");
    assert_int_equal(launched, HA_OK);
    ha_set_error_handler(NULL, NULL);
    expect_int(asked, 9, 9);
    HA_IGNORE(harray_int_free(&asked));
}

static atoms resized;
static void resize(HA_UNUSED const ha_error *e, HA_UNUSED void *user) {
    launched = atoms_resize(resized, 20);
}

TEST(handlers_may_resize_records) {
    resized = atoms_new(10);
    launched = HA_ERR_BACKEND;
    ha_set_error_handler(resize, NULL);
    told(wrong_records(C, resized), HA_ERR_COMPILE, "MISTAKE", "compiling:0");
    assert_int_equal(launched, HA_OK);
    ha_set_error_handler(NULL, NULL);
    HA_IGNORE(atoms_free(&resized));
}

static void *launch_cancelled(void *x) {
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    HA_IGNORE(counted(C, HA_ALL_LANES, *(harray_int *)x));
    pthread_testcancel();
    return NULL;
}

/* It goes when its kernel is compiled (compiling_backend.h has a place where threads are cancelled), and others can
 * compile theirs. */
TEST(a_thread_that_is_cancelled) {
    harray_int x = ints(10, 7);
    pthread_t thread;
    void *result;
    assert_int_equal(pthread_create(&thread, NULL, launch_cancelled, &x), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    launch_axpy(C);
    expect_int(x, 9, 9);
    HA_IGNORE(harray_int_free(&x));
}

/* An array that has grown gets another block at the device: that one is the kernel's. */
TEST(arrays_that_have_grown) {
    harray_int x = ints(10, 7);
    assert_int_equal(counted(C, HA_ALL_LANES, x), HA_OK);
    HA_WRITING(v, x, H) assert_int_equal(ha_access_resize(&v, 5000), HA_OK);
    assert_int_equal(counted(C, HA_ALL_LANES, x), HA_OK);
    expect_int(x, 4999, 4999);
    HA_IGNORE(harray_int_free(&x));
}

/* ---- every point --------------------------------------------------------------------------------- */

/* One that changes something must not be without: all as it was, nothing locked, and again. */
static int launch_failing(harray_double x, harray_double y, harray_int z, int c) {
    const uint64_t versions[] = {ha_array_version(x.array), ha_array_version(y.array),
                                 ha_array_version(z.array)};
    const ha_status s = c ? counted(C, HA_ALL_LANES, z) : axpy(C, HA_ALL_LANES, 2, x, y);
    const long points = faulty_points(), first = faulty_pause();
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, s);
    check_quiet(x.array), check_quiet(y.array), check_quiet(z.array);
    if (s) {
        assert_int_equal(ha_array_version(x.array), versions[0]);
        assert_int_equal(ha_array_version(y.array), versions[1]);
        assert_int_equal(ha_array_version(z.array), versions[2]);
        HA_READING(v, z, H) assert_int_equal(v.data[3], 7);
        else fail();
        HA_READING(v, y, H) assert_true(v.data[3] == 1);
        else fail();
        assert_int_equal(c ? counted(C, HA_ALL_LANES, z) : axpy(C, HA_ALL_LANES, 2, x, y), HA_OK);
    }
    faulty_resume(first, points);
    return s != HA_OK;
}

/* From the first launch on, and when everything is there already. */
static void every_point_of(int c, int there, int sticky) {
    for (long n = 0;; n++) {
        harray_double x = harray_double_filled(10, 1), y = harray_double_filled(10, 1);
        harray_int z = ints(10, 7);
        if (there) {
            assert_int_equal(axpy(C, HA_ALL_LANES, 0, x, y), HA_OK);
            assert_int_equal(counted(C, 0, z), HA_OK);
            HA_WRITING(v, z, C) {}
            assert_int_equal(ha_context_finish(C), HA_OK);
        }
        faulty_arm(n, sticky);
        const int failed = launch_failing(x, y, z, c);
        const long met = faulty_disarm();
        HA_READING(v, z, H) assert_int_equal(v.data[3], c ? 3 : 7);
        else fail();
        HA_READING(v, y, H) assert_true(v.data[3] == (c ? 1 : 3));
        else fail();
        HA_IGNORE(harray_double_free(&x));
        HA_IGNORE(harray_double_free(&y));
        HA_IGNORE(harray_int_free(&z));
        assert_int_equal(ha_shutdown(), HA_OK);
        open_device();
        assert_true(n < 300);
        if (!met && !failed) break;
    }
}

TEST(every_point_of_a_launch) {
    for (int i = 0; i < 8; i++) every_point_of(i & 1, i & 2, (i & 4) != 0);
}

static void expect_atoms(atoms r, int x, int y) {
    HA_USING(v, r, H, "read") {
        assert_int_equal(lump_x_get(v, lump_at(v, 9)), x);
        assert_int_equal(lump_y_get(v, lump_at(v, 9)), y);
    }
    else fail_msg("%s", ha_take_error().text);
}

/* Values that a kernel would have overwritten are there when it is refused: also where they are valid nowhere
 * else, and where the lanes are a function on the queue. */
static void every_point_of_records(int there, int sticky) {
    for (long n = 0, met = 1; met; n++) {
        atoms r = atoms_new(10);
        assert_int_equal(ha_records_layout(r.records, C, "soa"), HA_OK);
        HA_USING(v, r, H, "overwrite") HA_EACH(lump, v, at) lump_store(v, at, (atom){7, 8});
        HA_USING(v, r, C, "read") known_mapping = HA_USED(v).mapping;
        HA_USING(v, r, there ? C : H, "write") {}
        assert_int_equal(ha_context_finish(C), HA_OK);
        const uint64_t version = ha_records_version(r.records);
        faulty_arm(n, sticky);
        const ha_status s = numbered(C, r);
        met = faulty_disarm();
        assert_int_equal(ha_take_error().status, s);
        if (s) {
            assert_int_equal(ha_records_version(r.records), version);
            expect_atoms(r, 7, 8);
            assert_int_equal(numbered(C, r), HA_OK);
        }
        expect_atoms(r, 9, 1);
        HA_IGNORE(atoms_free(&r));
        assert_int_equal(ha_shutdown(), HA_OK);
        open_device();
        assert_true(n < 300);
    }
}

TEST(every_point_of_a_launch_with_records) {
    for (int i = 0; i < 8; i++) {
        compiling.no_compiler = i & 4;
        every_point_of_records(i & 1, i & 2);
    }
}

/* What the compiler refuses, while something else fails: it is refused, and nothing has changed. */
TEST(every_point_of_a_refusal) {
    for (long n = 0, met = 1; met; n++) {
        harray_int x = ints(10, 7);
        const uint64_t version = ha_array_version(x.array);
        faulty_arm(n, 0);
        const ha_status s = wrong(C, HA_ALL_LANES, x);
        met = faulty_disarm();
        assert_int_equal(ha_take_error().status, s);
        assert_true(met ? s != HA_OK : s == HA_ERR_COMPILE);
        assert_int_equal(ha_array_version(x.array), version);
        told(wrong(C, HA_ALL_LANES, x), HA_ERR_COMPILE, "MISTAKE", "compiling:0");
        expect_int(x, 9, 7);
        HA_IGNORE(harray_int_free(&x));
        assert_int_equal(ha_shutdown(), HA_OK);
        open_device();
        assert_true(n < 300);
    }
}

static void expect_place(ha_context *c, const char *expected) {
    char text[300];
    const size_t n = ha_kernel_place(&axpy_kernel, c, text, sizeof text);
    assert_int_equal(n, strlen(text));
    if (strncmp(text, expected, strlen(expected)) != 0) fail_msg("%s: %s", text, expected);
}

/* Why there; without memory to remember it, nowhere, and then there. */
TEST(every_point_of_a_place) {
    expect_place(H, "host: as loops compiled here");
    expect_place(C, "compiling:0: compiled for it: ");
    expect_place(ha_context_find("sim:0"), "sim:0: on its queue, as loops compiled here: ");
    assert_int_equal(ha_kernel_place(NULL, C, NULL, 0), 0);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    for (long n = 0, met = 1; met; n++) {
        assert_int_equal(ha_shutdown(), HA_OK);
        compiling.no_compiler = 1;
        open_device();
        faulty_arm(n, 0);
        const size_t length = ha_kernel_place(&axpy_kernel, C, NULL, 0);
        met = faulty_disarm();
        assert_int_equal(ha_take_error().status, length ? HA_OK : HA_ERR_MEMORY);
        assert_true(length || met);
        expect_place(C, "compiling:0: on its queue, as loops compiled here: its backend has no");
        assert_true(n < 100);
    }
}

/* What failed before, and was told or did not matter, is not why. */
TEST(a_place_behind_another_failure) {
    compiling.no_compiler = 1;
    ha_backend_report(7, "something else");
    expect_place(C, "compiling:0: on its queue, as loops compiled here: its backend has no");
}

/* Whether a queue runs functions is asked again when it could not be asked. */
TEST(a_place_that_could_not_be_asked_for) {
    harray_int x = ints(10, 7);
    compiling.no_compiler = compiling.no_functions = 1;
    fails_next("functions", HA_ERR_MEMORY);
    assert_int_not_equal(counted(C, HA_ALL_LANES, x), HA_OK);
    assert_int_not_equal(ha_take_error().status, HA_OK);
    expect_int(x, 9, 7);
    assert_int_equal(counted(C, HA_ALL_LANES, x), HA_OK);
    expect_int(x, 9, 9);
    expect_place(C, "compiling:0: on the host: its backend has no compiler");
    HA_IGNORE(harray_int_free(&x));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        COMPILED(compiled_once_a_device),
        COMPILED(without_a_cache),
        COMPILED(kept_for_what_it_was_made_for),
        COMPILED(two_versions_of_a_text),
        COMPILED(a_binary_that_the_device_refuses),
        COMPILED(compiling_is_told),
        COMPILED(refused_by_the_compiler),
        COMPILED(records_refused_by_the_compiler),
        COMPILED(names_that_are_too_long),
        COMPILED(lines_are_no_part_of_the_text),
        COMPILED(lines_of_helpers_and_of_what_stands_there_twice),
        COMPILED(lines_without_the_source),
        COMPILED(a_device_without_double),
        COMPILED(a_device_without_long_atomics),
        COMPILED(texts_are_written),
        COMPILED(refused_by_the_driver),
        COMPILED(refused_launches_are_not_counted),
        COMPILED(texts_that_are_too_long),
        COMPILED(more_lanes_than_a_device_counts),
        COMPILED(shapes_of_teams),
        COMPILED(a_part_of_a_launch),
        COMPILED(a_part_of_a_reduction),
        COMPILED(a_place_behind_another_failure),
        COMPILED(a_place_that_could_not_be_asked_for),
        COMPILED(late_failures),
        COMPILED(handlers_may_use_the_arrays),
        COMPILED(handlers_may_launch_kernels),
        COMPILED(handlers_may_resize_records),
        COMPILED(a_thread_that_is_cancelled),
        COMPILED(arrays_that_have_grown),
        COMPILED(every_point_of_a_launch),
        COMPILED(every_point_of_a_launch_with_records),
        COMPILED(every_point_of_a_refusal),
        COMPILED(every_point_of_a_place),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
