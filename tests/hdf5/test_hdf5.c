/* harray_hdf5.h by one process: views against a naive model of files, every error, and each allocation and each call of
 * HDF5's failing once. */
#define _GNU_SOURCE 1
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "sparing.h"
#define HARRAY_IMPLEMENTATION
#include "watch_hdf5.h"
#include "../../harray_hdf5.h"
#include "hdf5_as_it_is.h"
#include "../support/temporary_directory.h"
#include "views.h"

#define TEST(name) static void name(HA_UNUSED void **state)
#define EXTENT(...)                                                                                \
    (const int64_t[]) { __VA_ARGS__ }

/* Sizes that no memory has are asked for: these tools would end the program. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

/* ---- what every test checks -------------------------------------------------------------------- */

static char path[sizeof directory + 40];
static const char *file_named(const char *name) {
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static int is_there(const char *name) { return access(file_named(name), F_OK) == 0; }

#define SUCCEEDS(call)                                                                             \
    do {                                                                                           \
        const ha_status status_ = (call);                                                          \
        if (status_) print_error("%s: %s\n", #call, ha_take_error().text);                         \
        assert_int_equal(status_, HA_OK);                                                          \
    } while (0)

/* The error has all of these words. */
static void is_told(ha_status status, const char *const *words, size_t n) {
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, status);
    for (size_t i = 0; i < n; i++)
        if (!strstr(e.text, words[i])) fail_msg("no \"%s\" in: %s", words[i], e.text);
}
#define FAILS(status, call, ...)                                                                   \
    do {                                                                                           \
        const char *const words_[] = {__VA_ARGS__};                                                \
        assert_int_equal(call, status);                                                            \
        is_told(status, words_, sizeof words_ / sizeof *words_);                                   \
    } while (0)
#define LOAD_FAILS(status, call, ...)                                                              \
    do {                                                                                           \
        const char *const words_[] = {__VA_ARGS__};                                                \
        assert_null((call).array);                                                                 \
        is_told(status, words_, sizeof words_ / sizeof *words_);                                   \
    } while (0)

static int begin_case(HA_UNUSED void **state) {
    make_directory();
    return 0;
}

static int end_case(HA_UNUSED void **state) {
    const ha_error e = ha_take_error();
    delete_directory();
    until_failure = hdf5_fails_at = -1;
    if (e.status) print_error("an error is left: %s\n", e.text);
    if (hdf5_open) print_error("%d handles are left\n", hdf5_open);
    return e.status || hdf5_open ? -1 : 0;
}

static hid_t new_file(const char *name) {
    const hid_t file = H5Fcreate(file_named(name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    return file;
}

static int dataset_is(hid_t dataset, const expected *e) {
    expected found = content_of(dataset, &e->shape);
    const int same = same_elements(&found, e);
    free(found.bytes);
    return same;
}

/* ---- types ------------------------------------------------------------------------------------- */

TEST(types_are_those_of_h5py) {
    static const struct {
        ha_dtype type;
        hid_t *is;
    } plain[] = {{HA_DTYPE_int8_t, &H5T_STD_I8LE_g},    {HA_DTYPE_int16_t, &H5T_STD_I16LE_g},
                 {HA_DTYPE_int32_t, &H5T_STD_I32LE_g},  {HA_DTYPE_int64_t, &H5T_STD_I64LE_g},
                 {HA_DTYPE_uint8_t, &H5T_STD_U8LE_g},   {HA_DTYPE_uint16_t, &H5T_STD_U16LE_g},
                 {HA_DTYPE_uint32_t, &H5T_STD_U32LE_g}, {HA_DTYPE_uint64_t, &H5T_STD_U64LE_g},
                 {HA_DTYPE_float, &H5T_IEEE_F32LE_g},   {HA_DTYPE_double, &H5T_IEEE_F64LE_g}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        const hid_t type = type_of(plain[i].type);
        assert_true(H5Tequal(type, *plain[i].is) > 0);
        H5Tclose(type);
    }
    for (int t = 1; t <= TYPES; t++) {
        const hid_t type = type_of((ha_dtype)t);
        assert_true(type >= 0);
        assert_int_equal(H5Tget_size(type), ha_dtype_size((ha_dtype)t));
        assert_int_equal(ha_hdf5_dtype_of(type), t);
        H5Tclose(type);
    }
}

/* By HDF5's own conversion, so both know what the bits mean. */
TEST(small_floats_are_numbers_to_hdf5) {
    const float numbers[] = {1, -2.5f, 0.15625f, 384, 0};
    for (int i = 0; i < 2; i++) {
        const ha_dtype type = i ? HA_DTYPE_bfloat16 : HA_DTYPE_half;
        union {
            float wide[5];
            uint16_t small[10];
        } of;
        const hid_t t = type_of(type);
        memcpy(of.wide, numbers, sizeof numbers);
        assert_true(H5Tconvert(H5T_NATIVE_FLOAT, t, 5, of.wide, NULL, H5P_DEFAULT) >= 0);
        for (int k = 0; k < 5; k++) {
            ha_dvalue as_double;
            SUCCEEDS(
                ha_dvalue_convert(ha_dvalue_load(type, &of.small[k]), HA_DTYPE_double, &as_double));
            assert_true(as_double.as_double == (double)numbers[k]);
        }
        H5Tclose(t);
    }
}

TEST(no_type) {
    assert_true(type_of(HA_DTYPE_NONE) == H5I_INVALID_HID);
    FAILS(HA_ERR_ARGUMENT, HA_ERR_ARGUMENT, "0 is no type");
    assert_true(type_of((ha_dtype)99) == H5I_INVALID_HID);
    FAILS(HA_ERR_ARGUMENT, HA_ERR_ARGUMENT, "99 is no type");
}

/* ---- round trips ------------------------------------------------------------------------------- */

/* The elements that it is to have, as a dataset. */
static expected expect_view(const sample *s) {
    block_shape its = {.type = s->view.type, .rank = s->view.rank};
    const int64_t zero[MOST] = {0};
    memcpy(its.extent, s->view.extent, sizeof its.extent);
    expected e = expect(&its, 0);
    move_in_model(&e, zero, s, 1);
    return e;
}

TEST(views_are_saved_and_loaded) {
    for (int round = 0; round < 200; round++) {
        char name[40];
        const block_shape of = some_shape(0);
        sample s = some_sample(&of, places[draw(PLACES)]);
        expected e = expect_view(&s);
        snprintf(name, sizeof name, round % 3 ? "deep/group%d/%d" : "%d%d", round % 5, round);
        SUCCEEDS(darray_save_hdf5(s.view, file_named("all.h5"), name));
        assert_true(storage_is_model(&s));
        const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
        assert_true(dataset_is(dataset, &e));
        H5Dclose(dataset);
        H5Fclose(file);
        darray loaded = darray_load_hdf5(path, name, places[draw(PLACES)]);
        assert_non_null(loaded.array);
        assert_int_equal(loaded.type, of.type);
        assert_true(ha_extents_equal(of.rank, of.extent, loaded.rank, loaded.extent));
        assert_true(darray_is_contiguous(loaded, HA_ROW_MAJOR));
        HA_READING(v, loaded, ha_host())
        assert_memory_equal(v.data, e.bytes, (size_t)shape_size(&of) * e.element);
        else fail();
        SUCCEEDS(darray_free(&loaded));
        free(e.bytes);
        free_sample(&s);
    }
}

/* A dataset in which the shape has room, at a random offset. */
static expected some_dataset(const block_shape *block, int64_t *offset) {
    block_shape all = *block;
    for (int d = 0; d < all.rank; d++) {
        offset[d] = draw(3);
        all.extent[d] += offset[d] + draw(3);
    }
    return expect(&all, (uint64_t)draw(1000));
}

/* Chunks, or none, and compressed, or not. */
static hid_t some_storage(const expected *e) {
    hsize_t chunk[MOST];
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    if (!e->shape.rank || draw(2)) return how;
    for (int d = 0; d < e->shape.rank; d++) chunk[d] = 1 + (hsize_t)draw(e->shape.extent[d]);
    H5Pset_chunk(how, e->shape.rank, chunk);
    if (draw(2) && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) H5Pset_deflate(how, 1);
    return how;
}

TEST(blocks_are_written_and_read) {
    for (int round = 0; round < 300; round++) {
        const hid_t file = new_file("blocks.h5");
        int64_t offset[MOST] = {0};
        const block_shape of = some_shape(0);
        expected e = some_dataset(&of, offset);
        const hid_t how = some_storage(&e);
        const hid_t dataset = make_dataset(file, "u", &e, how, 1);
        const int by_name = (int)draw(2);
        sample s = some_sample(&of, places[draw(PLACES)]),
               t = some_sample(&of, places[draw(PLACES)]);
        SUCCEEDS(darray_write_hdf5(s.view, by_name ? file : dataset, by_name ? "u" : NULL, offset));
        move_in_model(&e, offset, &s, 1);
        assert_true(storage_is_model(&s));
        assert_true(dataset_is(dataset, &e));
        SUCCEEDS(darray_read_hdf5(t.view, by_name ? file : dataset, by_name ? "/u" : NULL, offset));
        move_in_model(&e, offset, &t, 0);
        assert_true(storage_is_model(&t));
        assert_true(dataset_is(dataset, &e));
        free_sample(&s);
        free_sample(&t);
        free(e.bytes);
        H5Pclose(how);
        H5Dclose(dataset);
        H5Fclose(file);
    }
}

TEST(without_elements) {
    const hid_t file = new_file("none.h5");
    expected e = expect(&(block_shape){.type = HA_DTYPE_float, .rank = 2, .extent = {3, 4}}, 1);
    const hid_t dataset = make_dataset(file, "u", &e, H5P_DEFAULT, 1);
    darray x = darray_new(HA_DTYPE_float, 2, EXTENT(0, 4), ha_host());
    SUCCEEDS(darray_write_hdf5(x, dataset, NULL, EXTENT(3, 0)));
    SUCCEEDS(darray_read_hdf5(x, dataset, NULL, NULL));
    FAILS(HA_ERR_ARGUMENT, darray_read_hdf5(x, dataset, NULL, EXTENT(4, 0)), "(4, 0)");
    assert_true(dataset_is(dataset, &e));
    H5Dclose(dataset);
    H5Fclose(file);
    SUCCEEDS(darray_save_hdf5(x, path, "empty"));
    darray y = darray_load_hdf5(path, "empty", places[1]);
    assert_true(ha_extents_equal(2, x.extent, y.rank, y.extent));
    SUCCEEDS(darray_free(&x));
    SUCCEEDS(darray_free(&y));
    free(e.bytes);
}

/* Views that repeat elements can be written to files. */
TEST(repeated_elements) {
    darray x = darray_of(HA_DTYPE_int32_t, 1, EXTENT(3), (const int32_t[]){1, 2, 3}, places[1]);
    const darray twice = darray_broadcast(x, 2, EXTENT(2, 3));
    SUCCEEDS(darray_save_hdf5(twice, file_named("twice.h5"), "u"));
    darray y = darray_load_hdf5(path, "u", NULL);
    HA_READING(v, y, ha_host())
    assert_memory_equal(v.data, ((const int32_t[]){1, 2, 3, 1, 2, 3}), 24);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    FAILS(HA_ERR_ARGUMENT, darray_read_hdf5(twice, file, "u", NULL), "repeats elements");
    H5Fclose(file);
    SUCCEEDS(darray_free(&x));
    SUCCEEDS(darray_free(&y));
}

/* Numbers with their bytes in the other order, and floats of every type. */
TEST(the_other_order_of_bytes) {
    const hid_t file = new_file("big.h5");
    for (int t = 1; t <= TYPES; t++) {
        const ha_dtype type = (ha_dtype)t;
        if (type == HA_DTYPE_bool || ha_dtype_kind(type) == HA_KIND_COMPLEX) continue;
        expected e = expect(&(block_shape){.type = type, .rank = 1, .extent = {7}}, 5);
        const hid_t ours = type_of(type), theirs = type_of(type);
        H5Tset_order(theirs, H5T_ORDER_BE);
        const hid_t space = H5Screate_simple(1, (const hsize_t[]){7}, NULL);
        const hid_t made = H5Dcreate2(file, ha_dtype_name(type), theirs, space, H5P_DEFAULT,
                                      H5P_DEFAULT, H5P_DEFAULT);
        assert_true(H5Dwrite(made, ours, H5S_ALL, H5S_ALL, H5P_DEFAULT, e.bytes) >= 0);
        darray x = darray_new(type, 1, EXTENT(7), places[1]);
        SUCCEEDS(darray_read_hdf5(x, made, NULL, NULL));
        HA_READING(v, x, ha_host()) assert_memory_equal(v.data, e.bytes, 7 * e.element);
        else fail();
        SUCCEEDS(darray_free(&x));
        H5Dclose(made);
        H5Sclose(space);
        H5Tclose(ours);
        H5Tclose(theirs);
        free(e.bytes);
    }
    H5Fclose(file);
}

/* What others have written into a bool becomes true. */
TEST(truth_is_one) {
    const unsigned char written[] = {0, 1, 2, 255};
    const hid_t file = new_file("truth.h5"), type = type_of(HA_DTYPE_bool);
    expected e = expect(&(block_shape){.type = HA_DTYPE_bool, .rank = 1, .extent = {4}}, 5);
    const hid_t dataset = make_dataset(file, "u", &e, H5P_DEFAULT, 0);
    assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, written) >= 0);
    H5Tclose(type);
    H5Dclose(dataset);
    H5Fclose(file);
    darray x = darray_load_hdf5(path, "u", NULL);
    HA_READING(v, x, ha_host())
    assert_memory_equal(v.data, ((const unsigned char[]){0, 1, 1, 1}), 4);
    else fail();
    SUCCEEDS(darray_free(&x));
    free(e.bytes);
}

/* Of an array at a device the row that is written moves, and nothing else; reading moves nothing. */
TEST(what_is_moved) {
    const hid_t file = new_file("moved.h5");
    expected e = expect(&(block_shape){.type = HA_DTYPE_double, .rank = 1, .extent = {100}}, 1);
    const hid_t dataset = make_dataset(file, "u", &e, H5P_DEFAULT, 1);
    darray x = darray_filled(HA_DTYPE_double, 2, EXTENT(50, 100), ha_dvalue_of_double(3),
                             places[1]);
    SUCCEEDS(darray_write_hdf5(darray_fix(x, 0, 7), dataset, NULL, NULL));
    assert_int_equal(ha_array_statistics(x.array).bytes, 800);
    SUCCEEDS(darray_read_hdf5(darray_fix(x, 0, 9), dataset, NULL, NULL));
    assert_int_equal(ha_array_statistics(x.array).bytes, 800);
    SUCCEEDS(darray_free(&x));
    H5Dclose(dataset);
    H5Fclose(file);
    free(e.bytes);
}

/* ---- what is refused --------------------------------------------------------------------------- */

static darray named(ha_dtype type, int rank, const int64_t *extent, const char *name) {
    const darray x = darray_zeros(type, rank, extent, ha_host());
    assert_non_null(x.array);
    ha_array_set_name(x.array, name);
    return x;
}

TEST(files_that_are_none) {
    darray x = named(HA_DTYPE_float, 1, EXTENT(3), "rain");
    char text[] = "no HDF5";
    LOAD_FAILS(HA_ERR_NOT_FOUND, darray_load_hdf5(file_named("gone.h5"), "u", NULL), "'u'",
               "gone.h5", "No such file");
    assert_false(is_there("gone.h5"));
    FAILS(HA_ERR_BACKEND, darray_save_hdf5(x, file_named("no/folder.h5"), "u"), "'u'", "folder.h5",
          "'rain'", "No such file");
    FILE *f = fopen(file_named("text"), "w");
    assert_true(f && fwrite(text, 1, sizeof text, f) == sizeof text && !fclose(f));
    LOAD_FAILS(HA_ERR_ARGUMENT, darray_load_hdf5(path, "u", NULL), "no HDF5 file", "text");
    FAILS(HA_ERR_ARGUMENT, darray_save_hdf5(x, path, "u"), "no HDF5 file", "text", "'rain'");
    f = fopen(path, "r");
    char after[sizeof text + 1];
    assert_true(f && fread(after, 1, sizeof after, f) == sizeof text && !fclose(f));
    assert_string_equal(after, text);
    SUCCEEDS(darray_free(&x));
}

TEST(names_that_are_none) {
    darray x = named(HA_DTYPE_float, 1, EXTENT(3), "rain");
    FAILS(HA_ERR_ARGUMENT, darray_save_hdf5(x, NULL, "u"), "path is NULL");
    FAILS(HA_ERR_ARGUMENT, darray_save_hdf5(x, file_named("x.h5"), NULL), "dataset is NULL");
    FAILS(HA_ERR_ARGUMENT, darray_save_hdf5(x, path, ""), "no name", "'rain'");
    assert_false(is_there("x.h5"));
    LOAD_FAILS(HA_ERR_ARGUMENT, darray_load_hdf5(NULL, "u", NULL), "path is NULL");
    LOAD_FAILS(HA_ERR_ARGUMENT, darray_load_hdf5(path, NULL, NULL), "dataset is NULL");
    char long_name[2000];
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    FAILS(HA_ERR_ARGUMENT, darray_save_hdf5(x, path, long_name), "more than 1023 bytes");
    SUCCEEDS(darray_free(&x));
}

TEST(datasets_that_are_there_and_not) {
    darray x = named(HA_DTYPE_float, 1, EXTENT(3), "rain"),
           y = named(HA_DTYPE_float, 1, EXTENT(3), "y");
    SUCCEEDS(darray_fill(x, ha_dvalue_of_double(4), ha_host()));
    SUCCEEDS(darray_save_hdf5(x, file_named("there.h5"), "a/u"));
    FAILS(HA_ERR_ARGUMENT, darray_save_hdf5(y, path, "a/u"), "'a/u'", "there.h5", "'y'", "already");
    FAILS(HA_ERR_ARGUMENT, darray_save_hdf5(y, path, "a"), "'a'", "already");
    FAILS(HA_ERR_BACKEND, darray_save_hdf5(y, path, "a/u/v"), "'a/u/v'");
    LOAD_FAILS(HA_ERR_NOT_FOUND, darray_load_hdf5(path, "a/v", NULL), "'a/v'", "no such dataset");
    LOAD_FAILS(HA_ERR_NOT_FOUND, darray_load_hdf5(path, "b/v/w", NULL), "'b/v/w'");
    LOAD_FAILS(HA_ERR_ARGUMENT, darray_load_hdf5(path, "a", NULL), "'a'", "no dataset");
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    FAILS(HA_ERR_NOT_FOUND, darray_write_hdf5(y, file, "v", NULL), "'v'", "there.h5");
    FAILS(HA_ERR_ARGUMENT, darray_read_hdf5(y, file, NULL, NULL), "no name is given", "there.h5");
    FAILS(HA_ERR_ARGUMENT, darray_read_hdf5(y, file, "a", NULL), "no dataset");
    H5Fclose(file);
    FAILS(HA_ERR_BACKEND, darray_write_hdf5(y, file, "a/u", NULL), "'a/u'",
          "finding the file failed: ");
    FAILS(HA_ERR_BACKEND, darray_read_hdf5(y, H5I_INVALID_HID, NULL, NULL), "finding the file");
    const hid_t constant = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    FAILS(HA_ERR_BACKEND, darray_write_hdf5(y, constant, "a/u", NULL), "'a/u'", "there.h5", "'y'",
          "writing failed: ");
    H5Fclose(constant);
    darray again = darray_load_hdf5(path, "a/u", NULL); /* as it was */
    int same = 0;
    SUCCEEDS(darray_equal(again, x, &same));
    assert_true(same);
    SUCCEEDS(darray_free(&again));
    SUCCEEDS(darray_free(&x));
    SUCCEEDS(darray_free(&y));
}

TEST(blocks_that_do_not_fit) {
    const hid_t file = new_file("fit.h5");
    expected e = expect(&(block_shape){.type = HA_DTYPE_float, .rank = 2, .extent = {3, 4}}, 1);
    const hid_t dataset = make_dataset(file, "snow", &e, H5P_DEFAULT, 1);
    darray x = named(HA_DTYPE_float, 2, EXTENT(2, 3), "rain"),
           other[] = {named(HA_DTYPE_double, 2, EXTENT(2, 3), "rain"),
                      named(HA_DTYPE_int32_t, 2, EXTENT(2, 3), "rain"),
                      named(HA_DTYPE_float, 1, EXTENT(3), "rain"),
                      named(HA_DTYPE_float, 2, EXTENT(4, 3), "rain")};
    static const char *const reasons[] = {"type double", "type int32_t", "2 dimensions", "(4, 3)"};
    for (int i = 0; i < 4; i++) {
        FAILS(HA_ERR_ARGUMENT, darray_write_hdf5(other[i], file, "snow", NULL), "'snow'", "fit.h5",
              "'rain'", reasons[i]);
        FAILS(HA_ERR_ARGUMENT, darray_read_hdf5(other[i], dataset, NULL, NULL), "'/snow'", "fit.h5",
              "'rain'", reasons[i]);
        SUCCEEDS(darray_free(&other[i]));
    }
    FAILS(HA_ERR_ARGUMENT, darray_write_hdf5(x, file, "snow", EXTENT(2, 0)), "(2, 0)", "(3, 4)");
    FAILS(HA_ERR_ARGUMENT, darray_write_hdf5(x, file, "snow", EXTENT(0, -1)), "(0, -1)");
    FAILS(HA_ERR_ARGUMENT, darray_read_hdf5(x, file, "snow", EXTENT(INT64_MAX, 0)), "'snow'");
    SUCCEEDS(darray_write_hdf5(x, file, "snow", EXTENT(1, 1)));
    SUCCEEDS(darray_free(&x));
    FAILS(HA_ERR_ARGUMENT, darray_write_hdf5(x, file, "snow", NULL), "no array");
    FAILS(HA_ERR_ARGUMENT, darray_save_hdf5(x, file_named("new.h5"), "snow"), "no array");
    assert_false(is_there("new.h5"));
    H5Dclose(dataset);
    H5Fclose(file);
    free(e.bytes);
}

/* Types, spaces and ranks that the other side does not have. */
TEST(what_the_other_side_does_not_have) {
    const hid_t file = new_file("other.h5");
    const hsize_t one[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const hid_t space = H5Screate_simple(9, one, NULL), null = H5Screate(H5S_NULL);
    const hid_t text = H5Tcopy(H5T_C_S1), pair = H5Tcreate(H5T_COMPOUND, 8),
                bits = H5Tcopy(H5T_NATIVE_INT);
    H5Tinsert(pair, "x", 0, H5T_NATIVE_FLOAT);
    H5Tinsert(pair, "i", 4, H5T_NATIVE_FLOAT);
    H5Tset_precision(bits, 20);
    const struct {
        const char *name;
        hid_t type, space;
    } sets[] = {{"text", text, space},
                {"pair", pair, space},
                {"bits", bits, space},
                {"deep", H5T_NATIVE_FLOAT, space},
                {"null", H5T_NATIVE_FLOAT, null}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        H5Dclose(H5Dcreate2(file, sets[i].name, sets[i].type, sets[i].space, H5P_DEFAULT,
                            H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(file);
    LOAD_FAILS(HA_ERR_UNSUPPORTED, darray_load_hdf5(path, "text", NULL), "'text'", "its type");
    LOAD_FAILS(HA_ERR_UNSUPPORTED, darray_load_hdf5(path, "pair", NULL), "'pair'", "its type");
    LOAD_FAILS(HA_ERR_UNSUPPORTED, darray_load_hdf5(path, "bits", NULL), "'bits'", "its type");
    LOAD_FAILS(HA_ERR_UNSUPPORTED, darray_load_hdf5(path, "deep", NULL), "'deep'", "9 dimensions");
    LOAD_FAILS(HA_ERR_UNSUPPORTED, darray_load_hdf5(path, "null", NULL), "'null'", "neither");
    H5Sclose(space);
    H5Sclose(null);
    H5Tclose(text);
    H5Tclose(pair);
    H5Tclose(bits);
    const ha_shape odd = {.rank = 1, .extent = {2}};
    darray x = darray_make_of(ha_type_of_("odd", 12), &odd, ha_host());
    FAILS(HA_ERR_UNSUPPORTED, darray_save_hdf5(x, file_named("odd.h5"), "u"), "odd", "own type");
    assert_false(is_there("odd.h5"));
    SUCCEEDS(darray_free(&x));
}

/* More than any memory has: the dataset has no elements yet, so it can be as large. */
TEST(datasets_without_memory) {
    const hid_t file = new_file("large.h5"), how = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t large[] = {(hsize_t)1 << 58}, chunk[] = {1};
    const hid_t space = H5Screate_simple(1, large, NULL);
    H5Pset_chunk(how, 1, chunk);
    H5Dclose(H5Dcreate2(file, "u", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT));
    H5Pclose(how);
    H5Sclose(space);
    H5Fclose(file);
    LOAD_FAILS(HA_ERR_MEMORY, darray_load_hdf5(path, "u", NULL), "'u'", "large.h5");
}

/* What this thread has open is refused, and nothing changes. */
TEST(arrays_in_use) {
    darray x = named(HA_DTYPE_float, 1, EXTENT(3), "rain");
    SUCCEEDS(darray_save_hdf5(x, file_named("use.h5"), "u"));
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    HA_WRITING(v, x, ha_host()) {
        FAILS(HA_ERR_CONFLICT, darray_write_hdf5(x, file, "u", NULL), "'rain'");
        FAILS(HA_ERR_CONFLICT, darray_read_hdf5(x, file, "u", NULL), "'rain'");
        FAILS(HA_ERR_CONFLICT, darray_save_hdf5(x, file_named("new.h5"), "u"), "'rain'");
    }
    else fail();
    assert_false(is_there("new.h5"));
    H5Fclose(file);
    darray y = darray_new(HA_DTYPE_float, 1, EXTENT(3), ha_host());
    FAILS(HA_ERR_STATE, darray_save_hdf5(y, file_named("new.h5"), "u"), "never written");
    SUCCEEDS(darray_free(&y));
    SUCCEEDS(darray_free(&x));
}

/* HDF5's errors are printed by whoever has asked for that, and never by these calls. */
static int printed;
static herr_t count_printed(HA_UNUSED hid_t stack, HA_UNUSED void *user) { return printed++ * 0; }

TEST(hdf5_prints_nothing) {
    H5E_auto2_t before, after;
    void *user, *user_after;
    assert_true(H5Eget_auto2(H5E_DEFAULT, &before, &user) >= 0);
    assert_true(H5Eset_auto2(H5E_DEFAULT, count_printed, &printed) >= 0);
    printed = 0;
    LOAD_FAILS(HA_ERR_NOT_FOUND, darray_load_hdf5(file_named("gone.h5"), "u", NULL), "gone.h5");
    darray x = named(HA_DTYPE_float, 1, EXTENT(3), "rain");
    FAILS(HA_ERR_BACKEND, darray_save_hdf5(x, file_named("no/folder.h5"), "u"),
          "unable to open file");
    SUCCEEDS(darray_free(&x));
    assert_int_equal(printed, 0);
    assert_true(H5Eget_auto2(H5E_DEFAULT, &after, &user_after) >= 0);
    assert_true(after == count_printed && user_after == &printed);
    assert_true(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) < 0);
    assert_int_equal(printed, 1);
    assert_true(H5Eset_auto2(H5E_DEFAULT, before, user) >= 0);
}

/* A handler may call these functions again. */
static int handled;
static void load_again(HA_UNUSED const ha_error *error, HA_UNUSED void *user) {
    if (handled++ == 0) assert_null(darray_load_hdf5("/nowhere/at/all.h5", "u", NULL).array);
}

TEST(handlers_may_call) {
    handled = 0;
    ha_set_error_handler(load_again, NULL);
    LOAD_FAILS(HA_ERR_NOT_FOUND, darray_load_hdf5(file_named("gone.h5"), "u", NULL), "gone.h5");
    ha_set_error_handler(NULL, NULL);
    assert_int_equal(handled, 2);
}

/* Also when a transfer has failed: nothing is locked any more. */
static darray filled_by_handler;
static void fill_it(const ha_error *error, HA_UNUSED void *user) {
    handled++;
    if (strcmp(error->operation, "darray_read_hdf5") == 0)
        HA_CHECK(darray_fill(filled_by_handler, ha_dvalue_of_double(5), ha_host()));
}

TEST(handlers_may_open_what_was_to_be_read) {
    const hid_t file = new_file("handler.h5");
    expected e = expect(&(block_shape){.type = HA_DTYPE_float, .rank = 2, .extent = {3, 4}}, 1);
    const hid_t dataset = make_dataset(file, "u", &e, H5P_DEFAULT, 1);
    darray x = named(HA_DTYPE_float, 2, EXTENT(4, 3), "rain");
    for (int turned = 0; turned < 2; turned++) {
        filled_by_handler = turned ? darray_transpose(x) : darray_reshape(x, 2, EXTENT(3, 4));
        for (int after = 0;; after++) {
            handled = 0;
            ha_set_error_handler(fill_it, NULL);
            hdf5_arm(after);
            const ha_status s = darray_read_hdf5(filled_by_handler, dataset, NULL, NULL);
            const int failed = hdf5_has_failed;
            hdf5_fails_at = -1;
            ha_set_error_handler(NULL, NULL);
            (void)ha_take_error();
            assert_int_equal(handled, s != HA_OK);
            if (!failed) break;
        }
    }
    SUCCEEDS(darray_free(&x));
    H5Dclose(dataset);
    H5Fclose(file);
    free(e.bytes);
}

/* ---- whatever fails ---------------------------------------------------------------------------- */

typedef struct whatever {
    expected before, after; /* of the dataset in the file */
    sample from, to;
    int64_t offset[MOST];
    hid_t file, dataset;
} whatever;

static whatever some_world(ha_context *c) {
    whatever w = {.file = new_file("world.h5")};
    block_shape of = some_shape(1);
    w.before = some_dataset(&of, w.offset);
    w.dataset = make_dataset(w.file, "u", &w.before, H5P_DEFAULT, 1);
    w.after = w.before;
    const size_t bytes = (size_t)shape_size(&w.before.shape) * w.before.element;
    w.after.bytes = memcpy(malloc(bytes + 1), w.before.bytes, bytes);
    w.from = some_sample(&of, c);
    w.to = some_sample(&of, c);
    move_in_model(&w.after, w.offset, &w.from, 1);
    return w;
}

static void end_world(whatever *w) {
    H5Dclose(w->dataset);
    H5Fclose(w->file);
    free_sample(&w->from);
    free_sample(&w->to);
    free(w->before.bytes);
    free(w->after.bytes);
}

enum { SAVE, LOAD, WRITE, READ, WAYS };

/* Once, with something that fails at the call number `after`. Returns whether that came so far. */
static int one_failure(int way, int after, int is_memory, ha_context *c) {
    whatever w = some_world(c);
    darray loaded = {.rank = 0};
    char other[sizeof path];
    ha_status s = HA_OK;
    snprintf(other, sizeof other, "%s", file_named("other.h5"));
    if (draw(2)) H5Fclose(H5Fcreate(other, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    const int was_there = is_there("other.h5");
    if (way == LOAD) SUCCEEDS(darray_save_hdf5(w.from.view, other, "a/b/u"));
    if (is_memory)
        __atomic_store_n(&until_failure, after, __ATOMIC_RELAXED);
    else
        hdf5_arm(after);
    if (way == SAVE) s = darray_save_hdf5(w.from.view, other, "a/b/u");
    if (way == LOAD) {
        loaded = darray_load_hdf5(other, "a/b/u", c);
        s = loaded.array ? HA_OK : ha_first_error.status;
    }
    if (way == WRITE) s = darray_write_hdf5(w.from.view, w.file, "u", w.offset);
    if (way == READ) s = darray_read_hdf5(w.to.view, w.file, "u", w.offset);
    assert_int_equal(hdf5_open, 0);
    const int hit = is_memory ? __atomic_exchange_n(&until_failure, -1, __ATOMIC_RELAXED) < 0
                              : hdf5_has_failed;
    hdf5_fails_at = -1;
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, s);
    /* Of the caller's file only one more handle is closed. */
    if (!is_memory && hit && !(hdf5_closing_failed && way >= WRITE))
        assert_int_equal(s, HA_ERR_BACKEND);
    if (s && is_memory) assert_int_equal(s, HA_ERR_MEMORY);
    if (!hit) assert_int_equal(s, HA_OK);
    if (s && !is_memory && !strstr(e.text, "u'")) fail_msg("no dataset in: %s", e.text);
    assert_true(dataset_is(w.dataset, !s && way == WRITE ? &w.after : &w.before));
    assert_true(storage_is_model(&w.from)); /* nothing is locked, either */
    if (way == READ && !s) move_in_model(&w.before, w.offset, &w.to, 0);
    const int is_partly_read = way == READ && s == HA_ERR_BACKEND &&
                               strstr(e.text, "reading failed") &&
                               darray_is_contiguous(w.to.view, HA_ROW_MAJOR);
    if (!is_partly_read) assert_true(storage_is_model(&w.to));
    if (way == SAVE && s && !strstr(e.text, "closing")) {
        assert_int_equal(is_there("other.h5"), was_there);
        if (was_there) LOAD_FAILS(HA_ERR_NOT_FOUND, darray_load_hdf5(other, "a", NULL), "'a'");
    }
    if ((way == SAVE || way == LOAD) && !s) {
        darray again = way == LOAD ? loaded : darray_load_hdf5(other, "a/b/u", NULL);
        int same = 0;
        SUCCEEDS(darray_equal(again, w.from.view, &same));
        assert_true(same);
        SUCCEEDS(darray_free(&again));
    }
    unlink(other);
    end_world(&w);
    return hit;
}

static void fail_everywhere(int way, int is_memory) {
    for (int round = 0; round < 4; round++)
        for (int after = 0; one_failure(way, after, is_memory, places[round % PLACES]); after++)
            continue;
}

/* What is read through a buffer leaves values at a device as they are, when HDF5 fails; the host has other bytes. */
TEST(failed_reading_leaves_values_at_a_device) {
    const hid_t file = new_file("left.h5");
    expected e = expect(&(block_shape){.type = HA_DTYPE_double, .rank = 2, .extent = {4, 3}}, 1);
    const hid_t dataset = make_dataset(file, "u", &e, H5P_DEFAULT, 1);
    int hit = 1;
    for (int after = 0; hit; after++) {
        darray x = darray_filled(HA_DTYPE_double, 2, EXTENT(3, 4), ha_dvalue_of_double(1),
                                 ha_host());
        SUCCEEDS(darray_fill(x, ha_dvalue_of_double(3), places[1]));
        assert_false(ha_array_valid(x.array, ha_host(), 0, HA_END));
        hdf5_arm(after);
        const ha_status s = darray_read_hdf5(darray_transpose(x), dataset, NULL, NULL);
        hit = hdf5_has_failed;
        hdf5_fails_at = -1;
        assert_int_equal(ha_take_error().status, s);
        if (s) HA_READING(v, x, ha_host())
        for (int i = 0; i < 12; i++) assert_true(((const double *)v.data)[i] == 3);
        SUCCEEDS(darray_free(&x));
    }
    H5Dclose(dataset);
    H5Fclose(file);
    free(e.bytes);
}

TEST(saving_without_memory) { fail_everywhere(SAVE, 1); }
TEST(loading_without_memory) { fail_everywhere(LOAD, 1); }
TEST(writing_without_memory) { fail_everywhere(WRITE, 1); }
TEST(reading_without_memory) { fail_everywhere(READ, 1); }
TEST(saving_without_hdf5) { fail_everywhere(SAVE, 0); }
TEST(loading_without_hdf5) { fail_everywhere(LOAD, 0); }
TEST(writing_without_hdf5) { fail_everywhere(WRITE, 0); }
TEST(reading_without_hdf5) { fail_everywhere(READ, 0); }

TEST(types_without_hdf5) {
    for (int t = 1; t <= TYPES; t++)
        for (int after = 0;; after++) {
            hdf5_arm(after);
            const hid_t type = type_of((ha_dtype)t);
            hdf5_fails_at = -1;
            assert_int_equal(type < 0, hdf5_has_failed);
            if (type >= 0) break;
            FAILS(HA_ERR_BACKEND, HA_ERR_BACKEND, "making a type failed");
        }
}

/* ---- threads ----------------------------------------------------------------------------------- */

enum { THREADS = 4, DATASETS = 20 };

/* A file of its own; the library need not know threads. */
static void *save_and_load(void *number) {
    char name[40], file[sizeof directory + 40];
    const int me = *(int *)number;
    snprintf(file, sizeof file, "%s/thread%d.h5", directory, me);
    for (int i = 0; i < DATASETS; i++) {
        int same = 0;
        darray x = darray_filled(HA_DTYPE_int32_t, 2, EXTENT(5, 6),
                                 ha_dvalue_of_int32_t(me * 100 + i), places[i % PLACES]);
        snprintf(name, sizeof name, "group/%d", i);
        HA_CHECK(darray_save_hdf5(darray_transpose(x), file, name));
        darray y = darray_load_hdf5(file, name, places[i % PLACES]);
        HA_CHECK(darray_equal(darray_transpose(x), y, &same));
        if (!same) abort();
        HA_CHECK(darray_free(&x));
        HA_CHECK(darray_free(&y));
    }
    return NULL;
}

TEST(threads_save_and_load) {
    pthread_t thread[THREADS];
    int number[THREADS];
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&thread[i], NULL, save_and_load, &number[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin_case, end_case)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(types_are_those_of_h5py),
        CASE(small_floats_are_numbers_to_hdf5),
        CASE(no_type),
        CASE(views_are_saved_and_loaded),
        CASE(blocks_are_written_and_read),
        CASE(without_elements),
        CASE(repeated_elements),
        CASE(the_other_order_of_bytes),
        CASE(truth_is_one),
        CASE(what_is_moved),
        CASE(files_that_are_none),
        CASE(names_that_are_none),
        CASE(datasets_that_are_there_and_not),
        CASE(blocks_that_do_not_fit),
        CASE(what_the_other_side_does_not_have),
        CASE(datasets_without_memory),
        CASE(arrays_in_use),
        CASE(hdf5_prints_nothing),
        CASE(handlers_may_call),
        CASE(handlers_may_open_what_was_to_be_read),
        CASE(saving_without_memory),
        CASE(loading_without_memory),
        CASE(writing_without_memory),
        CASE(reading_without_memory),
        CASE(saving_without_hdf5),
        CASE(loading_without_hdf5),
        CASE(writing_without_hdf5),
        CASE(reading_without_hdf5),
        CASE(failed_reading_leaves_values_at_a_device),
        CASE(types_without_hdf5),
        CASE(threads_save_and_load),
    };
    H5open();
    places[0] = ha_host();
    places[1] = ha_context_find("sim:0");
    const int failed = cmocka_run_group_tests_name("hdf5", tests, NULL, NULL);
    return failed + (ha_shutdown() != HA_OK);
}
