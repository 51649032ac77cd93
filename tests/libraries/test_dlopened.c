/* usage: test_dlopened FILE FILE [PREFIX PREFIX]
 *
 * Loads two libraries with harray inside, which export it with a prefix, or not at all. */
#define _GNU_SOURCE 1 /* glibc's limits.h says that it is glibc only then */
#include "side_by_side.h"

#include <dlfcn.h>
#include <stdio.h>

enum { ONE, TWO };
static const char *const getters[] = {"one_library", "two_library"};
static char **file, **prefix; /* prefix: NULL when there is none */

static void *load(int which, int how) {
    void *handle = dlopen(file[which], RTLD_NOW | how);
    if (!handle) print_error("%s\n", dlerror());
    assert_non_null(handle);
    return handle;
}

static const library *get(void *handle, int which) {
    library_get *getter;
    void *symbol = dlsym(handle, getters[which]);
    assert_non_null(symbol);
    *(void **)&getter = symbol; /* as POSIX has it: ISO C cannot cast */
    return getter();
}

static void unload(void *handle, int which) {
    assert_int_equal(dlclose(handle), 0);
#ifdef __GLIBC__ /* others never unload */
    assert_null(dlopen(file[which], RTLD_NOW | RTLD_NOLOAD));
#else
    (void)which;
#endif
}

/* One is unloaded while the other has work outstanding, and loaded again. */
static void run(int how) {
    void *one = load(ONE, how), *two = load(TWO, how);
    const library *second = get(two, TWO);
    work_side_by_side(get(one, ONE), second);
    unload(one, ONE);
    go_on_alone(second);
    one = load(ONE, how);
    work_side_by_side(second, get(one, ONE));
    unload(two, TWO);
    go_on_alone(get(one, ONE));
    unload(one, ONE);
}

static void local(void **state) {
    (void)state;
    run(RTLD_LOCAL);
}

static void global(void **state) {
    (void)state;
    run(RTLD_GLOBAL);
}

static void *find(void *handle, const char *front, const char *name) {
    char text[100];
    (void)snprintf(text, sizeof text, "%s%s", front, name);
    return dlsym(handle, text);
}

static void names(void **state) {
    (void)state;
    for (int which = ONE; which <= TWO; which++) {
        void *handle = load(which, RTLD_LOCAL);
        assert_null(find(handle, "", "ha_host"));
        assert_null(find(handle, "", "ha_open_"));
        if (prefix) {
            assert_non_null(find(handle, prefix[which], "ha_host"));
            assert_non_null(find(handle, prefix[which], "ha_open_"));
            assert_null(find(handle, prefix[!which], "ha_host"));
        }
        unload(handle, which);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local),
        cmocka_unit_test(global),
        cmocka_unit_test(names),
    };
    if (argc < 3) return 2;
    file = argv + 1;
    prefix = argc > 4 ? argv + 3 : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
