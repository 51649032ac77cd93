/* The engine, whose every allocation and call of a backend can fail, with a device that has a compiler of the
 * test's own (compiling_backend.h), and a directory for what is compiled. Include once, first. */
#ifndef HARRAY_TESTS_SUPPORT_COMPILING_ENGINE_H
#define HARRAY_TESTS_SUPPORT_COMPILING_ENGINE_H

#include "faulty_backend.h"
#include "../../backends/host/host.h"
#include "private_backend.h"
FAULTY_HOST(faulty_host, ha_backend_host)
FAULTY_BACKEND(faulty_private, private_backend, "faulty_private", NULL, NULL)
#define HARRAY_HOST_BACKEND faulty_host
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_kernels.h"
#define COMPILING_BASE faulty_private
#include "compiling_backend.h"
#include "temporary_directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define TEST(name) static void name(HA_UNUSED void **state)

static ha_context *H, *C; /* the host and the device */

static void open_device(void) {
    assert_int_equal(ha_backend_register(compiling_backend_make()), HA_OK);
    H = ha_host();
    C = ha_context_find("compiling:0");
    assert_non_null(C);
}

/* A device that knows these kernels, and nothing has happened to; the environment says nothing of kernels. */
static void begin_compiling(const known_kernel *const *known, size_t n) {
    (void)ha_kernel_settings_get();
    memset(&ha_kernels_set.settings, 0, sizeof ha_kernels_set.settings);
    make_directory();
    compiling.target = "target 1";
    compiling.no_double = compiling.no_long_atomics = compiling.no_compiler = 0;
    compiling.no_functions = 0;
    compiling.compiled = compiling.loaded = compiling.discarded = compiling.launched = 0;
    compiling.fails.slot = NULL;
    for (size_t i = 0; i < n; i++) know_compiled(known[i]);
    open_device();
}

/* Of what the backends have handed out `kept` stays. What is left behind otherwise is a failure. */
static int end_compiling(long kept) {
    const ha_error e = ha_take_error();
    if (e.status) print_error("left behind: %s\n", e.text);
    if (ha_shutdown()) print_error("left behind: %s\n", ha_take_error().text);
    delete_directory();
    const long left = faulty_records() - kept;
    if (left) print_error("%ld records\n", left);
    return e.status || left;
}
#define COMPILED(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

#endif
