/* Which memory is the next tier of which: as calls say, and as HARRAY_MEMORY does. On the contexts of cases_tiers.c. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "tiers.h"

/* ---- which tier ---------------------------------------------------------------------------------- */

TEST(other_tiers) {
    if (shares_memory(C)) skip();
    budget_for(C, 1);
    assert_ptr_equal(ha_memory_pressure(C).tier, H);
    SUCCEEDS(ha_memory_set_tier(C, disk)); /* past the host */
    harray_double x = filled_at(3, C), y = filled_at(4, C);
    assert_true(VALID(x, disk) && !is_at(x, C));
    SUCCEEDS(ha_memory_set_tier(C, M1)); /* another device, which no queue reaches directly */
    touch(x, C);
    assert_true(VALID(y, M1) && !is_at(y, disk));
    SUCCEEDS(ha_memory_set_tier(C, NULL));
    SUCCEEDS(ha_memory_set_tier(H, M2)); /* a device behind the host: it has none itself */
    assert_ptr_equal(ha_memory_pressure(H).tier, M2);
    assert_null(ha_memory_pressure(M2).tier);
    assert_ptr_equal(ha_memory_pressure(disk).tier, H);
    harray_double z = filled_at(5, H);
    SUCCEEDS(ha_array_evict(z.array, H));
    assert_true(VALID(z, M2) && !is_at(z, H));
    assert_true(sum_at(x, H) == 3. * N && sum_at(y, H) == 4. * N && sum_at(z, H) == 5. * N);
    SUCCEEDS(ha_memory_set_tier(H, NULL));
    assert_null(ha_memory_pressure(H).tier);
    drop_arrays();
}

static int reaches_nothing(HA_UNUSED void *memory, HA_UNUSED const ha_place *other) { return 0; }

TEST(tiers_that_cannot_be) {
    static ha_memory_ops island_memory;
    static ha_backend island;
    struct {
        ha_context *of, *next;
        const char *text;
    } wrong[] = {
        {H, H, "host: its next tier cannot be host: values would come back from there"},
        {disk, H, "file:0: its next tier cannot be host: values would come back from there"},
        {disk, disk, "file:0: its next tier cannot be file:0: values would come back"},
        {M2, M1, "private:1: its next tier cannot be private:0: values would come back"},
        {H, NULL, "host: its next tier cannot be sim:9: nothing can be copied there"},
    };
    if (in_unified_row || strcmp(ha_context_name(M1), "private:0") != 0) skip();
    SUCCEEDS(ha_memory_set_tier(M1, M2));
    for (size_t i = 0; i < 4; i++) {
        const ha_context *before = ha_memory_pressure(wrong[i].of).tier;
        assert_int_equal(ha_memory_set_tier(wrong[i].of, wrong[i].next), HA_ERR_ARGUMENT);
        expect_error(HA_ERR_ARGUMENT, wrong[i].text);
        assert_ptr_equal(ha_memory_pressure(wrong[i].of).tier, before);
    }
    island_memory = *ha_backend_sim.memory;
    island_memory.reaches = reaches_nothing;
    island = ha_backend_sim;
    island.kind = "island";
    island.memory = &island_memory;
    HA_CHECK(ha_backend_register(&island));
    ha_context *far = require_context("island:0");
    assert_int_equal(ha_memory_set_tier(H, far), HA_ERR_ARGUMENT);
    expect_error(HA_ERR_ARGUMENT, "host: its next tier cannot be island:0: nothing can be copied");
    assert_int_equal(ha_memory_set_tier(far, disk), HA_ERR_ARGUMENT);
    expect_error(HA_ERR_ARGUMENT,
                 "island:0: its next tier cannot be file:0: nothing can be copied");
}

/* ---- HARRAY_MEMORY ----------------------------------------------------------------------------------- */

/* As a program finds it that has set nothing itself. */
static void use_environment(const char *text) {
    HA_CHECK(ha_shutdown());
    setenv("HARRAY_MEMORY", text, 1);
    ha_file_shared.known = 0;
    ha_file_shared.settings.directory[0] = '\0';
    ha_file_shared.wrong.text[0] = '\0';
}

static void leave_environment(void) {
    unsetenv("HARRAY_MEMORY");
    unsetenv("HARRAY_FILE");
}

TEST(the_environment_names_the_file) {
    char text[200];
    setenv("HARRAY_FILE", "dir=/nowhere/at/all", 1); /* is not asked */
    snprintf(text, sizeof text, "file=/nowhere, host=160K,file=%s:3M", directory);
    use_environment(text);
    harray_double x[6];
    for (int i = 0; i < 6; i++) x[i] = filled_at(i, H);
    disk = require_context("file:0");
    assert_ptr_equal(ha_memory_pressure(NULL).tier, disk);
    const ha_file_device *device = (const ha_file_device *)disk->memory->handle;
    assert_int_equal(device->bytes, 3 << 20);
    assert_string_equal(device->directory, directory);
    for (int i = 0; i < 4; i++) assert_true(!is_at(x[i], H) && VALID(x[i], disk));
    for (int i = 0; i < 6; i++) assert_true(sum_at(x[i], H) == (double)i * N);
    drop_arrays();
    snprintf(text, sizeof text, "file=%s", directory); /* as much as there is */
    use_environment(text);
    assert_int_equal(ha_memory_budget(H), 0);
    assert_ptr_equal(ha_memory_pressure(H).tier, require_context("file:0"));
    use_environment("file=/nowhere:1G");
    use_file(2 << 20); /* a call that says otherwise */
    (void)filled_at(1, H);
    assert_ptr_equal(ha_memory_pressure(H).tier, disk);
    assert_int_equal(((const ha_file_device *)disk->memory->handle)->bytes, 2 << 20);
    drop_arrays();
    leave_environment();
}

TEST(mistakes_in_the_environment) {
    static const char *const texts[][2] = {
        {"file",
         "\"file\" needs a directory and how much may be there, as in file=/scratch/me:500G"},
        {"host=1G, file=", "\"file=\" needs a directory"},
        {"file=500G", "\"file=500G\" needs a directory"},
        {"file=/tmp:", "\"file=/tmp:\" needs a directory"},
        {"file=/tmp:5T", "\"file=/tmp:5T\" needs a directory"},
        {"file=/tmp:99999999G", "needs a directory"},
        {"file=/nowhere/at/all:1G", "no file can be made in '/nowhere/at/all': No such file"},
        {"file=/nowhere/at/all", "no file can be made in '/nowhere/at/all': No such file"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        use_environment(texts[i][0]);
        assert_null(ha_context_best());
        expect_error(HA_ERR_BACKEND, "HARRAY_MEMORY: ");
        assert_null(harray_double_zeros(5).array);
        expect_error(HA_ERR_BACKEND, texts[i][1]);
        assert_int_equal(ha_memory_set_tier(H, NULL), HA_ERR_BACKEND);
        expect_error(HA_ERR_BACKEND, texts[i][1]);
        assert_null(ha_context_find("file:0"));
        expect_error(i ? HA_ERR_BACKEND : HA_ERR_NOT_FOUND, i ? texts[i][1] : "no context");
    }
    leave_environment();
    ha_file_shared.known = 0;
    ha_file_shared.wrong.text[0] = '\0';
    HA_CHECK(ha_shutdown());
    HA_CHECK(ha_file_configure(NULL));
    setenv("HARRAY_MEMORY", "file=/tmp", 1);
    assert_null(harray_double_zeros(5).array);
    expect_error(HA_ERR_BACKEND, "ha_file_configure has said that there is no file");
    leave_environment();
}

int main(void) {
    cmocka_set_test_filter(getenv("ONLY"));
    const struct CMUnitTest tests[] = {
        TIERS(other_tiers),
        TIERS(tiers_that_cannot_be),
        TIERS(the_environment_names_the_file),
        TIERS(mistakes_in_the_environment),
    };
    return RUN_TIERS(tests);
}
