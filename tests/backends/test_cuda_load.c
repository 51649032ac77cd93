/* The CUDA backend: its options, and finding the driver: what is said when there is none, or one that
 * cannot be used. */
#include "../support/cuda_alone.h"

/* ---- options -------------------------------------------------------------------------------- */

TEST(options_as_text) {
    ha_cuda_settings s;
    ha_option_text wrong = {""};
    assert_true(ha_cuda_settings_from(NULL, &s, &wrong));
    assert_int_equal(s.memory, HA_CUDA_DEVICE);
    assert_int_equal(s.slab, 32 * MI);
    assert_string_equal(s.library, "libcuda.so.1");
    assert_int_equal(s.copy_threads, 0);
    assert_true(ha_cuda_settings_from("memory=managed,slab=64M,copy_threads=3,library=/a/b.so", &s,
                                      &wrong));
    assert_int_equal(s.memory, HA_CUDA_MANAGED);
    assert_int_equal(s.slab, 64 * MI);
    assert_string_equal(s.library, "/a/b.so");
    assert_int_equal(s.copy_threads, 3);
    assert_true(ha_cuda_settings_from("memory=device,memory=async,slab=0,", &s, &wrong));
    assert_int_equal(s.memory, HA_CUDA_ASYNC);
    assert_int_equal(s.slab, 32 * MI);
}

TEST(wrong_options_as_text) {
    static const char *const texts[][2] = {
        {"memory=fast", "HARRAY_CUDA: \"memory=fast\": memory is device, managed or async"},
        {"memory", "\"memory\": memory is device"},
        {"slab=1023K", "slab is bytes, or a number with K, M or G; 1M to 16G"},
        {"slab=17G", "slab is"},
        {"slab=2T", "slab is"},
        {"copy_threads=65", "copy_threads is a number up to 64"},
        {"copy_threads=all", "copy_threads is"},
        {"library=", "library is a name of up to 200 characters"},
        {"devices=2", "\"devices=2\": unknown key; there are memory, slab, library, copy_threads"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ha_cuda_settings s;
        ha_option_text wrong = {""};
        assert_false(ha_cuda_settings_from(texts[i][0], &s, &wrong));
        assert_non_null(strstr(wrong.text, texts[i][1]));
    }
}

TEST(options_by_call) {
    char name[300];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    FAILS(HA_ERR_ARGUMENT, ha_cuda_set_options(&(ha_cuda_options){.slab = MI - 1}));
    TELLS("cuda: slab is");
    FAILS(HA_ERR_ARGUMENT, ha_cuda_set_options(&(ha_cuda_options){.copy_threads = 65}));
    FAILS(HA_ERR_ARGUMENT, ha_cuda_set_options(&(ha_cuda_options){.copy_threads = -1}));
    TELLS("cuda: copy_threads is");
    FAILS(HA_ERR_ARGUMENT, ha_cuda_set_options(&(ha_cuda_options){.slab = 17 * KI * MI}));
    FAILS(HA_ERR_ARGUMENT, ha_cuda_set_options(&(ha_cuda_options){.memory = (ha_cuda_memory)3}));
    TELLS("cuda: memory is");
    FAILS(HA_ERR_ARGUMENT, ha_cuda_set_options(&(ha_cuda_options){.library = name}));
    FAILS(HA_ERR_ARGUMENT, ha_cuda_set_options(&(ha_cuda_options){.library = ""}));
    TELLS("cuda: library is");
    name[200] = '\0';
    SUCCEEDS(ha_cuda_set_options(&(ha_cuda_options){.library = name}));
    assert_string_equal(ha_cuda_shared.settings.library, name);
    use("", HA_CUDA_DEVICE, 0);
    open_devices();
    FAILS(HA_ERR_STATE, ha_cuda_set_options(NULL));
    TELLS("open already");
}

TEST(a_wrong_variable_is_told) {
    void *memory;
    ha_cuda_shared.known = 0;
    setenv("HARRAY_CUDA", "slap=3", 1);
    assert_int_equal(ha_cuda_count(), -1);
    assert_non_null(strstr(ha_cuda_missing(), "HARRAY_CUDA: \"slap=3\": unknown key"));
    FAILS(HA_ERR_BACKEND, ha_cuda_open(0, &device, &memory));
    TELLS("unknown key");
    assert_null(device);
}

/* ---- finding the driver --------------------------------------------------------------------- */

static void expect_no_driver(const char *why) {
    void *memory;
    assert_int_equal(ha_cuda_count(), 0);
    assert_non_null(strstr(ha_cuda_missing(), why));
    FAILS(HA_ERR_BACKEND, ha_cuda_open(0, &device, &memory));
    TELLS(why);
}

TEST(there_is_no_library) {
    hooks.error = "no library for you";
    expect_no_driver("no library for you");
    assert_int_equal(hooks.opened, 1); /* looked for once */
    hooks.error = NULL;
    SUCCEEDS(ha_cuda_set_options(&(ha_cuda_options){.library = "no such driver.so"}));
    expect_no_driver("no such driver.so");
    use("devices=3", HA_CUDA_DEVICE, 0); /* another name: tried again */
    assert_int_equal(ha_cuda_count(), 3);
    assert_string_equal(ha_cuda_missing(), "");
}

TEST(the_same_library_is_not_loaded_again) {
    assert_int_equal(ha_cuda_count(), 2);
    SUCCEEDS(ha_cuda_set_options(&(ha_cuda_options){.slab = MI, .library = named.library}));
    assert_int_equal(ha_cuda_count(), 2);
    assert_int_equal(hooks.opened, 1);
}

TEST(the_driver_is_a_stub) { expect_no_driver("the CUDA toolkit's stub"); }

TEST(the_driver_is_too_old) { expect_no_driver("for CUDA 10.2, harray needs 11.0 or later"); }

/* Also when it lacks what a newer one has. */
TEST(the_old_driver_lacks_functions) {
    hooks.lacks = "cuDevicePrimaryCtxRelease_v2";
    expect_no_driver("for CUDA 10.2");
}

TEST(required_functions) {
    static const char *const required[] = {
#define REQUIRED(field, symbol, parameters, needed, since, hip) (needed) ? #symbol : NULL,
        HA_CUDA_FUNCTIONS_(REQUIRED)
#undef REQUIRED
    };
    char text[60];
    for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
        if (!required[i]) continue;
        hooks.lacks = required[i];
        ha_cuda_shared.tried = 0;
        snprintf(text, sizeof text, "no function %s", required[i]);
        expect_no_driver(text);
    }
}

/* The others are missed when they are asked for. */
TEST(optional_functions) {
    void *memory;
    uint64_t total, unused;
    hooks.lacks = "cuMemGetInfo_v2";
    assert_int_equal(ha_cuda_count(), 2);
    open_devices();
    SUCCEEDS(ha_cuda_memory_ops.capacity(device, &total, &unused));
    assert_true(total > 0 && unused == UINT64_MAX);
    ops->destroy(queue);
    ha_cuda_close(device);
    device = queue = NULL;
    ha_cuda_shared.tried = 0;
    hooks.lacks = "cuMemAllocAsync";
    assert_int_equal(ha_cuda_count(), 2);
    open_devices();
    ops->destroy(queue);
    ha_cuda_close(device);
    device = queue = NULL;
    SUCCEEDS(
        ha_cuda_set_options(&(ha_cuda_options){.memory = HA_CUDA_ASYNC, .library = named.library}));
    FAILS(HA_ERR_UNSUPPORTED, ha_cuda_open(0, &device, &memory));
    TELLS("memory=async needs a driver for CUDA 11.2");
}

static int no_device(HA_UNUSED int *value) { return HA_CU_NO_DEVICE; }

TEST(initialising_fails) {
    hooks.replaced = "cuInit";
    hooks.by = (void (*)(void))no_device;
    expect_no_driver("cuInit: CUDA_ERROR_NO_DEVICE");
}

TEST(counting_fails) {
    hooks.replaced = "cuDeviceGetCount";
    hooks.by = (void (*)(void))no_device;
    expect_no_driver("cuDeviceGetCount: CUDA_ERROR_NO_DEVICE");
}

static int none(int *value) {
    *value = 0;
    return HA_CU_SUCCESS;
}

TEST(there_are_no_devices) {
    hooks.replaced = "cuDeviceGetCount";
    hooks.by = (void (*)(void))none;
    expect_no_driver("the driver sees no device");
}

/* Each call that opening makes. */
TEST(opening_fails) {
    void *memory;
    assert_int_equal(ha_cuda_count(), 2);
    for (uint64_t n = 1;; n++) {
        device = NULL;
        fake->fail_call(NULL, n, HA_CU_INVALID_VALUE, 0);
        const ha_status status = ha_cuda_open(0, &device, &memory);
        fake->fail_never();
        if (status == HA_OK) ha_cuda_close(device);
        device = NULL;
        assert_int_equal(faulty_records(), 0);
        assert_true(is_empty());
        if (status == HA_OK && n > 12) break;
    }
    FAILS(HA_ERR_BACKEND, ha_cuda_open(2, &device, &memory));
}

/* ---- the compiler --------------------------------------------------------------------------- */

/* Another name is looked for, also when the one before was not found. */
TEST(another_compiler_is_looked_for) {
    static const char *const names[] = {"/nowhere/one.so", "/nowhere/two.so", "/nowhere/one.so"};
    for (int i = 0; i < 3; i++) {
        ha_cuda_settings s = {.library = ""};
        snprintf(s.nvrtc, sizeof s.nvrtc, "%s", names[i]);
        assert_false(ha_nvrtc_is_loaded(&s));
        TELLS(names[i]);
    }
}

/* A compiler of the test's own, that knows so many architectures. */
static int known_architectures;
static int nvrtc_version(int *major, int *minor) {
    *major = 13;
    *minor = 1;
    return HA_NVRTC_SUCCESS;
}
static int nvrtc_count(int *count) {
    *count = known_architectures;
    return HA_NVRTC_SUCCESS;
}
static int nvrtc_all(int *all) {
    for (int i = 0; i < known_architectures; i++) all[i] = 75 + i;
    return HA_NVRTC_SUCCESS;
}
static void nvrtc_other(void) {}
static void (*nvrtc_function(const char *symbol))(void) {
    if (!strcmp(symbol, "nvrtcVersion")) return (void (*)(void))nvrtc_version;
    if (!strcmp(symbol, "nvrtcGetNumSupportedArchs")) return (void (*)(void))nvrtc_count;
    if (!strcmp(symbol, "nvrtcGetSupportedArchs")) return (void (*)(void))nvrtc_all;
    return nvrtc_other;
}

static int is_found(int architectures) {
    ha_cuda_settings s = {.library = ""};
    memcpy(s.nvrtc, named.library, sizeof s.nvrtc);
    ha_nvrtc.tried = ha_nvrtc.loaded = ha_nvrtc.architectures = 0;
    known_architectures = architectures;
    return ha_nvrtc_is_loaded(&s);
}

/* What it knows needs no memory, as nobody would ask again. */
TEST(architectures_of_a_compiler) {
    hooks.more = nvrtc_function;
    faulty_arm(0, 1);
    const int found = is_found(HA_NVRTC_ARCHITECTURES);
    faulty_disarm();
    assert_true(found);
    assert_int_equal(ha_nvrtc_architecture_for(90), 90);
    assert_int_equal(ha_nvrtc_architecture_for(1000), 75 + HA_NVRTC_ARCHITECTURES - 1);
    assert_int_equal(ha_nvrtc_architecture_for(74), 0);
    assert_false(is_found(HA_NVRTC_ARCHITECTURES + 1));
    TELLS("does not say what it is");
    assert_false(is_found(0));
    TELLS("does not say what it is");
    hooks.lacks = "nvrtcGetPTX";
    assert_false(is_found(3));
    TELLS("no function nvrtcGetPTX");
    ha_nvrtc.tried = 0;
}

/* ---- all of it ------------------------------------------------------------------------------ */

int main(void) {
    const struct CMUnitTest tests[] = {
        CLOSED("", options_as_text),
        CLOSED("", wrong_options_as_text),
        CLOSED("", options_by_call),
        CLOSED("", a_wrong_variable_is_told),
        CLOSED("", there_is_no_library),
        CLOSED("", the_same_library_is_not_loaded_again),
        CLOSED("stub=1", the_driver_is_a_stub),
        CLOSED("version=10020", the_driver_is_too_old),
        CLOSED("version=10020", the_old_driver_lacks_functions),
        CLOSED("", required_functions),
        CLOSED("", optional_functions),
        CLOSED("", initialising_fails),
        CLOSED("", counting_fails),
        CLOSED("", there_are_no_devices),
        CLOSED("", opening_fails),
        CLOSED("async", opening_fails),
        CLOSED("", another_compiler_is_looked_for),
        CLOSED("", architectures_of_a_compiler),
    };
    return find_fake() ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}
