/* Launches on an OpenCL device when something of them fails. In round n the n-th allocation or call of OpenCL
 * fails, which says nothing of the device: the launch is refused, with all as it was, and works the next time. Or
 * all calls from the n-th on fail, as those of a device that is gone do: what it alone had is lost, the rest is
 * not, and overwriting heals. The rounds end with the first one that meets no failure. Skipped where there is no
 * OpenCL; an argument says which of the tests. */
#include "../support/faulty_backend.h"
#include "../../backends/host/host.h"
#include "../../backends/opencl/opencl.h"
FAULTY_HOST(faulty_host, ha_backend_host)
#define HARRAY_HOST_BACKEND faulty_host
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include "../support/invariants.h"
#include "../support/opencl_calls.h"
#include "../support/share.h"
#include "../support/temporary_directory.h"

enum { LANES = 2500, OLD = 7, SKIPPED = 77 };

/* ---- a launch of each form ----------------------------------------------------------------------- */

typedef struct atom {
    int x, y;
} atom;
#define atom_FIELDS (int, x), (int, y)
HA_RECORD(atom)
HA_VIEW(lump, atom, 1, HA_ANY)
HA_RECORDS(atoms, lump);

HA_KERNEL(raised, ((value, int, by), (in, int, x), (inout, int, y)), i, { y[i] += by * x[i]; });
HA_TEAM_KERNEL(turned, 4, g, ((in, int, x), (inout, int, y)), {
    HA_LOCAL(int, a, HA_TEAM);
    HA_LANES(l) a[l] = x[g * HA_TEAM + l];
    HA_LANES_ALONE(l) y[g * HA_TEAM + l] += 3 * a[HA_TEAM - 1 - l];
});
HA_REDUCE(total, ((in, int, x)), i, int, HA_SUM, x[i]);
HA_KERNEL_EACH(counted, (atoms, p, "write x"), (), at, { *lump_x(p, at) += 4; });

static ha_context *H, *C;
static harray_int source, target; /* of ones; of OLD */
static atoms records;             /* OLD in x */

static ha_status launch_lanes(ha_context *c) { return raised(c, HA_ALL_LANES, 2, source, target); }
static ha_status launch_teams(ha_context *c) {
    return turned(c, HA_TEAMS(4, LANES), source, target);
}
static ha_status launch_sum(ha_context *c) {
    return total_into(c, HA_ALL_LANES, source, target, LANES - 1);
}
static ha_status launch_records(ha_context *c) { return counted(c, records); }

/* In one step, and in two. */
static ha_status launch_short_sum(ha_context *c) {
    return total_in_into(c, ha_box1(0, 1000), source, target, LANES - 1);
}

typedef struct form {
    const char *name;
    ha_status (*launch)(ha_context *c);
    int new_value; /* of the last element, or record */
    int of_records;
    int in_steps; /* a device may take the first one alone */
} form;
static const form forms[] = {{"lanes", launch_lanes, OLD + 2, 0, 0},
                             {"teams", launch_teams, OLD + 3, 0, 0},
                             {"a reduction", launch_short_sum, 1000, 0, 0},
                             {"a reduction in steps", launch_sum, LANES, 0, 1},
                             {"records", launch_records, OLD + 4, 1, 0}};
enum { FORMS = sizeof forms / sizeof *forms };

/* ---- failures ------------------------------------------------------------------------------------ */

static ha_cl_code failing;
static int is_gone; /* of the device nothing works any more */

/* What has been enqueued ends before the device is gone: afterwards nothing could wait for it. */
static void device_goes(void) {
    for (const ha_context *c = ha_registry.contexts; c; c = c->next)
        if (c->queue && c->ops == ha_backend_opencl.queue)
            (void)opencl_calls.real.Finish(((ha_opencl_queue *)c->queue)->queue);
    is_gone = 1;
}

/* What gives something back is left to the driver. */
static ha_cl_code ask(const char *function) {
    if (atomic_load(&faulty.first) < 0 || !strncmp(function, "clRelease", 9)) return HA_CL_SUCCESS;
    if (is_gone) return failing;
    return faulty_pass(function) ? failing : HA_CL_SUCCESS;
}

static ha_cl_code ask_until_gone(const char *function) {
    if (atomic_load(&faulty.first) < 0 || !strncmp(function, "clRelease", 9)) return HA_CL_SUCCESS;
    if (!is_gone && faulty_pass(function)) device_goes();
    return is_gone ? failing : HA_CL_SUCCESS;
}

/* ---- a round ------------------------------------------------------------------------------------- */

/* there: the device alone has what is to be written. */
static void begin_round(const form *f, int there) {
    H = ha_host();
    C = ha_context_get("opencl", 0);
    assert_non_null(C);
    is_gone = 0;
    source = harray_int_filled(LANES, 1);
    target = harray_int_filled(LANES, OLD);
    harray_int_set_name(target, "target");
    records = atoms_new(LANES);
    ha_records_set_name(records.records, "target");
    assert_int_equal(ha_records_layout(records.records, C, "soa"), HA_OK);
    HA_USING(v, records, H, "overwrite") HA_EACH(lump, v, at) lump_store(v, at, (atom){OLD, 1});
    if (!there) return;
    if (f->of_records) {
        HA_USING(v, records, C, "write") {}
    } else {
        HA_WRITING(v, target, C) {}
    }
    HA_READING(v, source, C) {}
    assert_int_equal(ha_context_finish(C), HA_OK);
}

static uint64_t version_of(const form *f) {
    return f->of_records ? ha_records_version(records.records) : ha_array_version(target.array);
}

/* The last element at the host, or what hinders from reading it. */
static ha_status read_last(const form *f, int *value) {
    if (f->of_records) {
        HA_USING(v, records, H, "read x") *value = *lump_x(v, lump_at(v, LANES - 1));
        else return ha_first_error.status;
    } else {
        HA_READING(v, target, H) *value = v.data[LANES - 1];
        else return ha_first_error.status;
    }
    return HA_OK;
}

static void expect_last(const form *f, int expected) {
    int value = -1;
    if (read_last(f, &value)) fail_msg("%s: %s", f->name, ha_take_error().text);
    assert_int_equal(value, expected);
}

static void check_unlocked(void) {
    check_quiet(source.array);
    check_quiet(target.array);
    assert_int_equal(ha_self.held, 0);
}

static void end_round(void) {
    HA_IGNORE(harray_int_free(&source));
    HA_IGNORE(harray_int_free(&target));
    HA_IGNORE(atoms_free(&records));
    if (ha_shutdown()) fail_msg("left behind: %s", ha_take_error().text);
    assert_int_equal(faulty_records(), 0);
}

/* Told with the kernel's line, and what has failed. Returns whether the device has taken a part of it. */
static int check_told(ha_status s) {
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, s);
    if (s && !strstr(e.text, "test_opencl_failure.c:")) fail_msg("no line: %s", e.text);
    if (s == HA_ERR_BACKEND && !strstr(e.text, "cl")) fail_msg("no call: %s", e.text);
    return s && strstr(e.text, "took a part of the kernel") != NULL;
}

/* ---- one failure --------------------------------------------------------------------------------- */

/* Returns whether there was a point n. */
static int fail_once(const form *f, int there, long n) {
    begin_round(f, there);
    const uint64_t version = version_of(f);
    opencl_calls.ask = ask;
    faulty_arm(n, 0);
    const ha_status s = f->launch(C);
    const long met = faulty_disarm();
    opencl_calls.ask = NULL;
    const int partly = check_told(s);
    assert_true(!partly || f->in_steps);
    check_unlocked();
    if (s) {
        assert_true(met);
        if (!partly) assert_int_equal(version_of(f), version);
        if (!partly) expect_last(f, OLD);
        assert_int_equal(f->launch(C), HA_OK);
    }
    expect_last(f, f->new_value);
    end_round();
    return met != 0;
}

static void fail_each(ha_cl_code code) {
    failing = code;
    for (int k = 0; k < 2 * FORMS; k++) {
        long n = 0;
        while (fail_once(&forms[k / 2], k % 2, n)) n += test_stride();
        printf("# %s%s: %ld points\n", forms[k / 2].name, k % 2 ? ", there" : "", n);
        assert_true(n > 10);
    }
}

static void each_point_fails(void **state) {
    (void)state;
    fail_each(HA_CL_INVALID_VALUE);
}

static void each_point_is_short_of_something(void **state) {
    (void)state;
    fail_each(HA_CL_OUT_OF_RESOURCES);
}

/* ---- a device that is gone ----------------------------------------------------------------------- */

static int go_at(const form *f, int there, long n) {
    int value = 0;
    begin_round(f, there);
    const uint64_t version = version_of(f);
    opencl_calls.ask = ask_until_gone;
    faulty.elsewhere = 1;
    faulty_arm(n, 0);
    const ha_status launched = f->launch(C);
    const int partly = check_told(launched);
    assert_true(!partly || f->in_steps);
    check_unlocked();
    if (launched && !partly) assert_int_equal(version_of(f), version);
    const ha_status s = read_last(f, &value);
    const ha_error e = ha_take_error();
    if (s != HA_OK && s != HA_ERR_LOST) fail_msg("%s, point %ld: %s", f->name, n, e.text);
    if (s == HA_OK) assert_int_equal(value, launched ? OLD : f->new_value);
    if (s) {
        assert_true(there || !launched || partly); /* else the host has it */
        assert_non_null(strstr(e.text, "target"));
    }
    HA_READING(v, source, H) assert_int_equal(v.data[0], 1);
    else fail();
    if (is_gone) assert_int_not_equal(f->launch(C), HA_OK);
    HA_IGNORE(ha_take_error().status);
    HA_OVERWRITING_ALL(v, target, H) for (size_t i = 0; i < LANES; i++) v.data[i] = OLD;
    else fail();
    HA_USING(v, records, H, "overwrite") HA_EACH(lump, v, at) lump_store(v, at, (atom){OLD, 1});
    else fail();
    assert_int_equal(f->launch(H), HA_OK);
    expect_last(f, f->new_value);
    check_unlocked();
    end_round();
    faulty.elsewhere = 0;
    opencl_calls.ask = NULL;
    return faulty_disarm() > 0;
}

static void go_at_each(ha_cl_code code) {
    failing = code;
    for (int k = 0; k < 2 * FORMS; k++) {
        long n = 0;
        while (go_at(&forms[k / 2], k % 2, n)) n += test_stride();
        printf("# gone, %s%s: %ld points\n", forms[k / 2].name, k % 2 ? ", there" : "", n);
        assert_true(n > 5);
    }
}

/* Not with memory=usm: there a device that only seems to have gone goes on with what it was given, in memory that has been
 * given back since; a driver keeps buffers until then. */
static void skip_with_usm(void) {
    const char *said = getenv("HARRAY_OPENCL");
    if (said && strstr(said, "memory=usm")) skip();
}

static void the_device_goes(void **state) {
    (void)state;
    skip_with_usm();
    go_at_each(HA_CL_OUT_OF_RESOURCES);
}

static void the_device_goes_in_its_own_way(void **state) {
    (void)state;
    skip_with_usm();
    go_at_each(-9999);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_point_fails), cmocka_unit_test(each_point_is_short_of_something),
        cmocka_unit_test(the_device_goes), cmocka_unit_test(the_device_goes_in_its_own_way)};
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    if (opencl_begin_asking() < 1) {
        puts("skipped: there is no OpenCL device");
        return SKIPPED;
    }
    make_directory();
    (void)ha_kernel_settings_get();
    snprintf(ha_kernels_set.settings.cache, HA_SETTING_BYTES, "%s", directory);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    delete_directory();
    return failed;
}
