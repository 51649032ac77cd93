/* All kernels of the program, compiled before they are launched. */
#include "../support/compiling_engine.h"

HA_KERNEL(first, ((inout, int, x)), i, { x[i] += 1; });
HA_KERNEL(second, ((value, float, a), (in, float, x), (out, float, y)), i, { y[i] = a * x[i]; });
HA_KERNEL(third, ((inout, array_float_2, x)), (j, i), { HA_AT(x, j, i) = (float)(j + i); });
typedef struct atom {
    int x, y;
} atom;
#define atom_FIELDS (int, x), (int, y)
HA_RECORD(atom)
HA_VIEW(lump, atom, 1, HA_ANY)
HA_RECORDS(atoms, lump);
HA_KERNEL_EACH(fourth, (atoms, p, "overwrite"), (), at, { lump_x_set(p, at, 1); });
/* A kernel that nobody calls is in the list only where the compiler keeps it. */
static const ha_kernel *const kept __attribute__((__used__)) = &fourth_kernel;
#define TEXTS                                                                                      \
    (2 * 3 + 1) /* each for arguments that are apart or not, which is the same for records */

KNOWN_KERNEL(first)
KNOWN_KERNEL(second)
KNOWN_KERNEL(third)

/* One that is made while the program runs: its section is no other. */
static const ha_kernel_parameter_ wrong_parameters[] = {
    {.mode = HA_KERNEL_INOUT_, .bytes = 4, .type = "int", .name = "x"}};
static ha_kernel wrong = {.name = "wrong",
                          .text = "{ x[i] = MISTAKE; }",
                          .indices = "i",
                          .site = "/nowhere/file.c:5",
                          .rank = 1,
                          .parameters = 1,
                          .parameter = wrong_parameters};

static char target[60];

static int begin_test(HA_UNUSED void **state) {
    static const known_kernel *const known[] = {&first_known, &second_known, &third_known};
    begin_compiling(known, sizeof known / sizeof *known);
    return 0;
}

static int end_test(HA_UNUSED void **state) { return end_compiling(0); }

static void launch_all(ha_context *c) {
    harray_int x = harray_int_filled(10, 1);
    harray_float y = harray_float_filled(10, 1);
    array_float_2 z = array_float_2_zeros(HA_DIM(3, 4), c);
    HA_CHECK(first(c, HA_ALL_LANES, x));
    HA_CHECK(second(c, HA_ALL_LANES, 2, y, y));
    HA_CHECK(third(c, HA_DIM(3, 4), z));
    HA_READING(v, x, ha_host()) assert_int_equal(v.data[9], 2);
    HA_READING(v, y, ha_host()) assert_true(v.data[9] == 2);
    HA_READING(v, z, ha_host()) assert_true(HA_AT(v.span, 2, 3) == 5);
    HA_IGNORE(harray_int_free(&x));
    HA_IGNORE(harray_float_free(&y));
    HA_IGNORE(array_float_2_free(&z));
}

/* Without a device; then a device of that kind has nothing to compile. */
TEST(for_an_architecture) {
    assert_int_equal(ha_kernels_precompile("made_up_1", directory), HA_OK);
    assert_int_equal(compiling.compiled, TEXTS);
    assert_int_equal(ha_kernels_precompile("made_up_1", directory), HA_OK);
    assert_int_equal(compiling.compiled, TEXTS);
    snprintf(ha_kernels_set.settings.more_caches, HA_SETTING_BYTES, "%s", directory);
    launch_all(ha_context_find("compiling:0"));
    assert_int_equal(compiling.compiled, TEXTS);
    assert_int_equal(compiling.loaded, 3);
}

TEST(for_devices_that_are_here) {
    assert_int_equal(ha_kernels_precompile("compiling:1,made_up_2", directory), HA_OK);
    assert_int_equal(compiling.compiled, 2 * TEXTS);
    assert_int_equal(compiling.discarded, TEXTS);
    assert_int_equal(ha_kernels_precompile("compiling", directory), HA_OK); /* the same target */
    assert_int_equal(compiling.compiled, 2 * TEXTS);
}

TEST(into_the_cache) {
    snprintf(ha_kernels_set.settings.cache, HA_SETTING_BYTES, "%s", directory);
    assert_int_equal(ha_kernels_precompile("made_up_1", NULL), HA_OK);
    launch_all(ha_context_find("compiling:0"));
    assert_int_equal(compiling.compiled, TEXTS);
}

static void refused(ha_status got, ha_status status, const char *part) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, status);
    assert_int_equal(e.status, status);
    if (!strstr(e.text, part)) fail_msg("'%s' lacks '%s'", e.text, part);
}

TEST(targets_that_nobody_knows) {
    refused(ha_kernels_precompile("made_up_1,sm_9x", directory), HA_ERR_ARGUMENT, "'sm_9x'");
    static char longest[100];
    memset(longest, 'a', sizeof longest - 1);
    refused(ha_kernels_precompile(longest, directory), HA_ERR_ARGUMENT, "'aaaa");
    refused(ha_kernels_precompile("made_up_1,,opencl", directory), HA_ERR_ARGUMENT, "''");
    refused(ha_kernels_precompile("", directory), HA_ERR_ARGUMENT, "''");
    refused(ha_kernels_precompile(NULL, directory), HA_ERR_ARGUMENT, "no targets");
    refused(ha_kernels_precompile("made_up_1", NULL), HA_ERR_ARGUMENT, "HARRAY_CACHE=off");
    refused(ha_kernels_precompile("made_up_1", ""), HA_ERR_ARGUMENT, "no directory");
    refused(ha_kernels_precompile("sim:0", directory), HA_ERR_UNSUPPORTED, "does not compile");
    refused(ha_kernels_precompile("compiling:17", directory), HA_ERR_NOT_FOUND, "compiling:17");
    assert_int_equal(compiling.compiled, 0);
}

TEST(a_directory_that_cannot_be_written) {
    char file[100];
    snprintf(file, sizeof file, "%s/file", directory);
    FILE *made = fopen(file, "w");
    assert_non_null(made);
    fclose(made);
    refused(ha_kernels_precompile("made_up_1", file), HA_ERR_BACKEND, file);
    static char longest[HA_CACHE_PATH];
    memset(longest, 'a', sizeof longest - 1);
    refused(ha_kernels_precompile("made_up_1", longest), HA_ERR_BACKEND, "cannot be written");
}

/* One is refused, with its line; the others are there. */
TEST(kernels_that_are_refused) {
    refused(ha_kernels_precompile_("made_up_1", directory, &wrong, &wrong + 1, "here:1"),
            HA_ERR_COMPILE, "file.c:5: error: MISTAKE");
    compiling.fails.slot = "compile";
    compiling.fails.status = HA_ERR_MEMORY;
    refused(ha_kernels_precompile("made_up_1", directory), HA_ERR_MEMORY, "the driver said so");
    const int compiled = compiling.compiled;
    const int texts = HA_JOIN_(__start_, HA_KERNEL_LIST_)->each ? 1
                                                                : 2; /* of the first in the list */
    assert_int_equal(ha_kernels_precompile("made_up_1", directory), HA_OK);
    assert_int_equal(compiling.compiled - compiled, texts);
}

/* Nothing is left behind, whatever fails. */
TEST(every_point) {
    for (long n = 0;; n++) {
        faulty_arm(n, 0);
        const ha_status s = ha_kernels_precompile("made_up_1,compiling:0", directory);
        const long met = faulty_disarm();
        assert_int_equal(ha_take_error().status, s);
        assert_int_equal(ha_shutdown(), HA_OK);
        open_device();
        delete_directory();
        assert_true(n < 1000);
        if (!met) break;
    }
}

/* NVIDIA's compiler, where it is: no GPU is needed. */
TEST(for_real_architectures) {
    const ha_status s = ha_kernels_precompile("sm_80,sm_90", directory);
    const ha_error e = ha_take_error();
    if (s == HA_ERR_ARGUMENT && strstr(e.text, "libnvrtc")) skip();
    if (s) fail_msg("%s", e.text);
    const ha_kernel exact[] = {ha_exact_kernel_float, ha_exact_kernel_double}; /* harray's own */
    if (ha_kernels_precompile_("sm_80", directory, exact, exact + 2, HA_SITE))
        fail_msg("%s", ha_take_error().text);
    snprintf(target, sizeof target, "sm_1");
    refused(ha_kernels_precompile(target, directory), HA_ERR_ARGUMENT, "does not compile for sm_1");
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        COMPILED(for_an_architecture),
        COMPILED(for_devices_that_are_here),
        COMPILED(into_the_cache),
        COMPILED(targets_that_nobody_knows),
        COMPILED(a_directory_that_cannot_be_written),
        COMPILED(kernels_that_are_refused),
        COMPILED(every_point),
        COMPILED(for_real_architectures),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
