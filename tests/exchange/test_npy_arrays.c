/* Arrays of n dimensions as .npy files: written, read and mapped; and files that are none. */
#include <stddef.h>

static void *allocate(size_t bytes);
static void *reallocate(void *block, size_t bytes);
static void give_back(void *block);
#define _GNU_SOURCE 1
#define HARRAY_MALLOC(bytes) allocate(bytes)
#define HARRAY_REALLOC(block, bytes) reallocate(block, bytes)
#define HARRAY_FREE(block) give_back(block)
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../support/own_memory.h"
#include "../../harray.h"
#include "../support/matrix.h"

#include <dirent.h>

#define EXTENT(...)                                                                                \
    (const int64_t[]) { __VA_ARGS__ }

/* ---- memory that runs out ------------------------------------------------------------------- */

/* Allocations until one fails; < 0: none does. Queues have threads that allocate, too. */
static int left = -1;

static int runs_out(void) {
    int n = __atomic_load_n(&left, __ATOMIC_RELAXED);
    return n >= 0 && !__atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED);
}

static void *allocate(size_t bytes) { return runs_out() ? NULL : malloc(bytes); }
static void *reallocate(void *block, size_t bytes) {
    return runs_out() ? NULL : realloc(block, bytes);
}
static void give_back(void *block) { free(block); }

/* ---- a folder for files --------------------------------------------------------------------- */

static char folder[] = "/tmp/harray-npy-XXXXXX", path[sizeof folder + 40];

static const char *file_named(const char *name) {
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static size_t files_in_folder(void) {
    size_t count = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return count;
}

/* The path of a file with these bytes. */
static const char *file_of(const void *bytes, size_t count) {
    FILE *file = fopen(file_named("made.npy"), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
    return path;
}

static size_t read_file(const char *name, void *bytes, size_t most) {
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    size_t count = fread(bytes, 1, most, file);
    fclose(file);
    return count;
}

/* A header of version 1 to 3, of a length that is a multiple of 16, and elements. */
static const char *npy_of(int version, const char *dictionary, const void *elements, size_t count) {
    static unsigned char all[1 << 16];
    const size_t head = version == 1 ? 10 : 12, n = strlen(dictionary);
    const size_t length = (head + n + 1 + 15) / 16 * 16;
    assert_true(length + count <= sizeof all);
    memset(all, ' ', length);
    memcpy(all, "\x93NUMPY", 6);
    all[6] = (unsigned char)version;
    all[7] = 0;
    for (size_t i = 8; i < head; i++) all[i] = (unsigned char)((length - head) >> 8 * (i - 8));
    memcpy(all + head, dictionary, n);
    all[length - 1] = '\n';
    if (count) memcpy(all + length, elements, count);
    return file_of(all, length + count);
}

/* ---- arrays --------------------------------------------------------------------------------- */

static darray kept(darray x) {
    keep_array(x.array);
    return x;
}

static darray counting(ha_dtype type, int rank, const int64_t *extent, ha_order order) {
    darray x = kept(darray_new_in(order, type, rank, extent, C));
    ha_access v;
    memset(&v, 0, sizeof v);
    SUCCEEDS(ha_open(&v, x.array, ha_host(), HA_OVERWRITE, 0, HA_END));
    ha_status s = HA_OK;
    for (size_t i = 0; i < v.size && !s; i++)
        s = ha_dvalue_store(ha_dvalue_of_int64_t((int64_t)i % 100), type,
                            (char *)v.data + i * ha_dtype_size(type));
    SUCCEEDS(s);
    ha_close(&v);
    SUCCEEDS(ha_array_prefetch(x.array, C, 0, HA_END));
    return x;
}

static char text_a[1 << 16], text_b[1 << 16];

/* The same type, extents and elements. */
static void expect_same(darray a, darray b) {
    int equal = 0;
    assert_int_equal(a.type, b.type);
    assert_int_equal(a.rank, b.rank);
    SUCCEEDS(darray_equal(a, b, &equal));
    assert_true(equal);
}

/* Saves, loads, maps and compares; in this order the file is to be. */
static void round_trip(darray x, ha_order order) {
    SUCCEEDS(darray_save_npy(x, file_named("x.npy")));
    assert_int_equal(files_in_folder(), 1);
    darray loaded = kept(darray_load_npy(path, C));
    darray mapped = kept(darray_map_npy(path, HA_MAP_CONST));
    assert_true(darray_is_contiguous(loaded, order));
    assert_true(darray_is_contiguous(mapped, order));
    expect_same(x, loaded);
    expect_same(x, mapped);
    if (x.rank > 1 && darray_size(x) > 1)
        assert_false(
            darray_is_contiguous(loaded, order == HA_ROW_MAJOR ? HA_COLUMN_MAJOR : HA_ROW_MAJOR));
    drop_array(loaded.array);
    drop_array(mapped.array);
    assert_int_equal(unlink(path), 0);
}

/* ---- round trips ---------------------------------------------------------------------------- */

TEST(every_type_there_and_back) {
    for (int type = 1; type <= HA_DTYPE_c128; type++) {
        if (type == HA_DTYPE_bfloat16) continue;
        darray x = counting((ha_dtype)type, 2, EXTENT(3, 4), HA_ROW_MAJOR);
        round_trip(x, HA_ROW_MAJOR);
        drop_array(x.array);
    }
}

TEST(every_rank_there_and_back) {
    const int64_t extent[] = {2, 3, 1, 2, 3, 2, 1, 2};
    for (int rank = 1; rank <= HA_MOST_RANK; rank++) {
        darray x = counting(HA_DTYPE_int16_t, rank, extent, HA_ROW_MAJOR);
        round_trip(x, HA_ROW_MAJOR);
        if (rank == 1) round_trip(darray_fix(x, 0, 1), HA_ROW_MAJOR);
        drop_array(x.array);
    }
}

TEST(columns_stay_columns) {
    darray x = counting(HA_DTYPE_float, 3, EXTENT(2, 3, 4), HA_COLUMN_MAJOR);
    round_trip(x, HA_COLUMN_MAJOR);
    round_trip(darray_transpose(x), HA_ROW_MAJOR);
    round_trip(darray_slice(x, 0, 0, 1, 1), HA_COLUMN_MAJOR);
    drop_array(x.array);
}

TEST(views_with_gaps_are_written_without) {
    darray x = counting(HA_DTYPE_int64_t, 3, EXTENT(5, 6, 7), HA_ROW_MAJOR);
    round_trip(darray_slice(x, 1, 1, 5, 2), HA_ROW_MAJOR);
    round_trip(darray_slice(x, 2, 5, HA_ALL, -2), HA_ROW_MAJOR);
    round_trip(darray_flip(x, 0), HA_ROW_MAJOR);
    round_trip(darray_permute(x, EXTENT(1, 2, 0)), HA_ROW_MAJOR);
    round_trip(darray_transpose(darray_slice(x, 2, 1, 6, 1)), HA_COLUMN_MAJOR);
    round_trip(darray_diagonal(x, 0, 2, 1), HA_COLUMN_MAJOR);
    round_trip(darray_broadcast(darray_fix(x, 0, 1), 3, EXTENT(2, 6, 7)), HA_ROW_MAJOR);
    drop_array(x.array);
}

TEST(rows_longer_than_the_buffer) {
    enum { N = HA_NPY_BUFFER + 7 };
    darray x = counting(HA_DTYPE_int8_t, 2, EXTENT(2, 2 * N), HA_ROW_MAJOR);
    darray odd = darray_slice(x, 1, 1, 2 * N, 2);
    SUCCEEDS(darray_save_npy(odd, file_named("x.npy")));
    darray y = kept(darray_load_npy(path, C));
    HA_READING(v, harray_int8_t_from(y.array), ha_host()) {
        assert_int_equal(v.size, 2 * N);
        size_t wrong = 0;
        for (size_t i = 0; i < v.size; i++)
            wrong += (size_t)v.data[i] != (2 * N * (i / N) + 2 * (i % N) + 1) % 100;
        assert_int_equal(wrong, 0);
    }
    else fail();
    drop_array(y.array);
    drop_array(x.array);
    unlink(path);
}

TEST(blocks_of_any_length) {
    for (int64_t block = 1; block < 40; block++) {
        darray x = counting(HA_DTYPE_int8_t, 3, EXTENT(3, 4, 40), HA_ROW_MAJOR);
        round_trip(darray_slice(x, 2, 0, block, 1), HA_ROW_MAJOR);
        drop_array(x.array);
    }
    darray x = counting(HA_DTYPE_double, 2, EXTENT(3, 1000), HA_ROW_MAJOR);
    round_trip(darray_slice(x, 1, 10, 990, 1), HA_ROW_MAJOR); /* directly */
    drop_array(x.array);
}

TEST(without_elements) {
    darray x = counting(HA_DTYPE_double, 2, EXTENT(0, 3), HA_ROW_MAJOR);
    SUCCEEDS(darray_save_npy(x, file_named("x.npy")));
    darray loaded = kept(darray_load_npy(path, C)), mapped = kept(darray_map_npy(path, 0));
    assert_true(ha_extents_equal(2, loaded.extent, 2, EXTENT(0, 3)));
    assert_true(ha_extents_equal(2, mapped.extent, 2, EXTENT(0, 3)));
    drop_array(loaded.array);
    drop_array(mapped.array);
    drop_array(x.array);
    unlink(path);
}

/* ---- one file, several arrays --------------------------------------------------------------- */

TEST(arrays_follow_each_other_in_a_file) {
    darray x = counting(HA_DTYPE_double, 2, EXTENT(2, 3), HA_ROW_MAJOR);
    darray y = counting(HA_DTYPE_c64, 1, EXTENT(5), HA_ROW_MAJOR);
    FILE *file = tmpfile();
    assert_non_null(file);
    SUCCEEDS(darray_write_npy(x, file));
    SUCCEEDS(darray_write_npy(y, file));
    rewind(file);
    darray x2 = kept(darray_read_npy(file, C)), y2 = kept(darray_read_npy(file, C));
    expect_same(x, x2);
    expect_same(y, y2);
    REFUSED_NULL(HA_ERR_ARGUMENT, darray_read_npy(file, C).array); /* nothing more */
    fclose(file);
    REFUSED(HA_ERR_ARGUMENT, darray_write_npy(x, NULL));
    REFUSED_NULL(HA_ERR_ARGUMENT, darray_read_npy(NULL, C).array);
    drop_array(x.array);
    drop_array(y.array);
    drop_array(x2.array);
    drop_array(y2.array);
}

TEST(through_a_pipe) {
    int ends[2];
    char name[40];
    darray x = counting(HA_DTYPE_double, 1, EXTENT(6), HA_ROW_MAJOR);
    for (int cut = 0; cut <= 2; cut++) {
        assert_int_equal(pipe(ends), 0);
        FILE *to = fdopen(ends[1], "w");
        assert_non_null(to);
        if (cut < 2) SUCCEEDS(darray_write_npy(x, to));
        if (cut == 1) fputc('#', to);
        if (cut == 2) fputs("\x93NUMPY", to);
        fclose(to);
        snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
        if (cut) {
            REFUSED_NULL(HA_ERR_ARGUMENT, darray_load_npy(name, C).array);
        } else {
            REFUSED_NULL(HA_ERR_UNSUPPORTED, darray_map_npy(name, 0).array);
            darray y = kept(darray_load_npy(name, C));
            expect_same(x, y);
            drop_array(y.array);
        }
        close(ends[0]);
    }
    drop_array(x.array);
}

/* ---- what others write ---------------------------------------------------------------------- */

TEST(the_other_order_of_bytes_is_converted) {
    const unsigned char shorts[] = {1, 2, 3, 4};
    const unsigned char complex_[] = {0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0}; /* 1 - 2i */
    for (int version = 1; version <= 3; version++) {
        npy_of(version, "{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }", shorts, 4);
        darray x = kept(darray_load_npy(path, C));
        darray_print(x, text_a, sizeof text_a);
        assert_string_equal(text_a, "[258 772]\n");
        drop_array(x.array);
        REFUSED_NULL(HA_ERR_UNSUPPORTED, darray_map_npy(path, 0).array);
    }
    const unsigned char floats[] = {0x3f, 0xc0, 0, 0}, double_[] = {0xbf, 0xf8, 0, 0, 0, 0, 0, 0};
    npy_of(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (), }", floats, 4);
    darray f = kept(darray_load_npy(path, C));
    npy_of(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (), }", double_, 8);
    darray d = kept(darray_load_npy(path, C));
    darray_print(f, text_a, sizeof text_a);
    darray_print(d, text_b, sizeof text_b);
    assert_string_equal(text_a, "1.5\n");
    assert_string_equal(text_b, "-1.5\n");
    drop_array(f.array);
    drop_array(d.array);
    npy_of(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (0, 3), }", "", 0);
    darray none = kept(darray_load_npy(path, C));
    assert_int_equal(darray_size(none), 0);
    drop_array(none.array);
    npy_of(1, "{'descr': '>c8', 'fortran_order': False, 'shape': (1,), }", complex_, 8);
    darray x = kept(darray_load_npy(path, C));
    darray_print(x, text_a, sizeof text_a);
    assert_string_equal(text_a, "[1-2i]\n");
    drop_array(x.array);
    unlink(path);
}

/* NumPy takes all but 0 for true, and writes what it has. */
TEST(truth_of_other_numbers) {
    npy_of(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }", "\2\0\1\377", 4);
    const darray x = kept(darray_load_npy(path, C));
    HA_READING(v, x, ha_host()) assert_memory_equal(v.data, "\1\0\1\1", 4);
    drop_array(x.array);
    unlink(path);
}

static void refuse_file(ha_status expected) {
    REFUSED_NULL(expected, darray_load_npy(path, C).array);
    REFUSED_NULL(expected, darray_map_npy(path, 0).array);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    REFUSED_NULL(expected, darray_read_npy(file, C).array);
    fclose(file);
}

TEST(files_that_are_not_whole) {
    const double values[] = {1, 2, 3};
    unsigned char all[200];
    npy_of(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", values, sizeof values);
    const size_t count = read_file(path, all, sizeof all);
    for (size_t n = 0; n < count; n++) {
        file_of(all, n);
        refuse_file(HA_ERR_ARGUMENT);
    }
    all[count] = 0;
    file_of(all, count + 1);
    REFUSED_NULL(HA_ERR_ARGUMENT, darray_load_npy(path, C).array);
    REFUSED_NULL(HA_ERR_ARGUMENT, darray_map_npy(path, 0).array);
    unlink(path);
}

TEST(files_with_what_is_no_array_here) {
    npy_of(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "",
           0);
    refuse_file(HA_ERR_MEMORY);
    npy_of(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }", "", 0);
    refuse_file(HA_ERR_ARGUMENT); /* cut: before memory is asked for */
    npy_of(1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "12345678", 8);
    refuse_file(HA_ERR_UNSUPPORTED);
    npy_of(1, "{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,), }", "12345678", 8);
    refuse_file(HA_ERR_UNSUPPORTED);
    file_of("\x93NUMPY\1\0\0\0{}", 12); /* no header, and not even that long */
    refuse_file(HA_ERR_ARGUMENT);
    file_of("no file of numbers at all", 25);
    refuse_file(HA_ERR_ARGUMENT);
    unlink(path);
}

TEST(what_is_wrong_is_told_with_the_file) {
    npy_of(1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "12345678", 8);
    assert_null(darray_load_npy(path, C).array);
    ha_error e = ha_take_error();
    assert_string_equal(e.operation, "darray_load_npy");
    assert_non_null(strstr(e.text, path));
    assert_non_null(strstr(e.text, "'|O'"));
    unlink(path);
    assert_null(darray_load_npy(path, C).array);
    e = ha_take_error();
    assert_int_equal(e.status, HA_ERR_NOT_FOUND);
    assert_int_equal(e.code, ENOENT);
    assert_non_null(strstr(e.text, path));
    REFUSED_NULL(HA_ERR_NOT_FOUND, darray_map_npy(path, 0).array);
    REFUSED_NULL(HA_ERR_ARGUMENT, darray_load_npy(NULL, C).array);
    REFUSED_NULL(HA_ERR_ARGUMENT, darray_map_npy(NULL, 0).array);
    REFUSED_NULL(HA_ERR_BACKEND,
                 darray_load_npy(folder, C).array); /* it opens, and cannot be read */
    REFUSED_NULL(HA_ERR_UNSUPPORTED, darray_map_npy(folder, 0).array);
}

/* ---- maps ----------------------------------------------------------------------------------- */

static int is_mapped(const char *name) {
    char line[500];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) found |= strstr(line, name) != NULL;
    if (maps) fclose(maps);
    return found;
}

TEST(const_maps_are_not_written) {
    darray x = counting(HA_DTYPE_double, 2, EXTENT(3, 4), HA_COLUMN_MAJOR);
    SUCCEEDS(darray_save_npy(x, file_named("x.npy")));
    darray y = kept(darray_map_npy(path, HA_MAP_CONST)), part = darray_share(darray_fix(y, 0, 1));
    ha_access v;
    memset(&v, 0, sizeof v);
    assert_true(is_mapped(path));
    REFUSED(HA_ERR_STATE, ha_open(&v, y.array, C, HA_WRITE, 0, HA_END));
    expect_same(x, y);
    HA_IGNORE(darray_free(&part)); /* the last owner's is the map */
    assert_true(is_mapped(path));
    drop_array(y.array);
    assert_false(is_mapped(path));
    drop_array(x.array);
    unlink(path);
}

/* What a view of a file covers is a box, as of all that is made with extents. */
TEST(columns_of_a_map_move_alone) {
    darray x = counting(HA_DTYPE_double, 2, EXTENT(30, 40), HA_ROW_MAJOR);
    SUCCEEDS(darray_save_npy(x, file_named("x.npy")));
    darray y = kept(darray_map_npy(path, HA_MAP_CONST)), column = darray_fix(y, 1, 7);
    ha_access v;
    SUCCEEDS(ha_open_darray(&v, &column, C, HA_READ, "test", "test"));
    SUCCEEDS(ha_close(&v));
    const uint64_t moved = C->memory == ha_host()->memory ? 0 : 30 * sizeof(double);
    assert_int_equal(ha_array_statistics(y.array).bytes, moved);
    drop_array(y.array);
    drop_array(x.array);
    unlink(path);
}

TEST(private_maps_leave_the_file_as_it_is) {
    unsigned char before[400], after[400];
    darray x = counting(HA_DTYPE_double, 2, EXTENT(3, 4), HA_ROW_MAJOR);
    SUCCEEDS(darray_save_npy(x, file_named("x.npy")));
    const size_t count = read_file(path, before, sizeof before);
    darray y = kept(darray_map_npy(path, HA_MAP_COPY_ON_WRITE));
    HA_WRITING(v, harray_double_from(y.array), C) add(&v, 1);
    else fail();
    HA_READING(v, harray_double_from(y.array), ha_host()) assert_true(v.data[11] == 12);
    else fail();
    drop_array(y.array);
    assert_false(is_mapped(path));
    assert_int_equal(read_file(path, after, sizeof after), count);
    assert_memory_equal(before, after, count);
    REFUSED_NULL(HA_ERR_ARGUMENT, darray_map_npy(path, 2).array);
    drop_array(x.array);
    unlink(path);
}

TEST(what_is_not_aligned_is_loaded) {
    const double values[] = {1, 2, 3};
    unsigned char all[200];
    npy_of(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", values, sizeof values);
    const size_t count = read_file(path, all, sizeof all), head = count - sizeof values;
    memmove(all + head - 1, all + head, sizeof values); /* a header that is one byte shorter */
    all[8]--;
    all[head - 2] = '\n';
    file_of(all, count - 1);
    REFUSED_NULL(HA_ERR_UNSUPPORTED, darray_map_npy(path, 0).array);
    darray x = kept(darray_load_npy(path, C));
    darray_print(x, text_a, sizeof text_a);
    assert_string_equal(text_a, "[1 2 3]\n");
    drop_array(x.array);
    unlink(path);
}

/* ---- what is there when it fails ------------------------------------------------------------ */

TEST(a_failure_leaves_the_older_file) {
    unsigned char bytes[4];
    darray x = kept(darray_new(HA_DTYPE_double, 1, EXTENT(3), C)); /* never written */
    file_named("made.npy");
    file_of("old", 3);
    REFUSED(HA_ERR_STATE, darray_save_npy(x, path));
    assert_int_equal(read_file(path, bytes, sizeof bytes), 3);
    assert_int_equal(files_in_folder(), 1);
    unlink(path);
    REFUSED(HA_ERR_STATE, darray_save_npy(x, path));
    assert_int_equal(files_in_folder(), 0);
    drop_array(x.array);
}

TEST(what_cannot_be_written) {
    const darray none = {.rank = 1};
    darray x = counting(HA_DTYPE_double, 2, EXTENT(100, 100), HA_ROW_MAJOR);
    darray b = counting(HA_DTYPE_bfloat16, 1, EXTENT(3), HA_ROW_MAJOR);
    char longer[5000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    REFUSED(HA_ERR_ARGUMENT, darray_save_npy(none, file_named("x.npy")));
    REFUSED(HA_ERR_UNSUPPORTED, darray_save_npy(b, path));
    REFUSED(HA_ERR_UNSUPPORTED, darray_write_npy(b, stderr));
    REFUSED(HA_ERR_ARGUMENT, darray_save_npy(x, NULL));
    REFUSED(HA_ERR_ARGUMENT, darray_save_npy(x, longer));
    REFUSED(HA_ERR_ARGUMENT, darray_save_npy(x, file_named("no folder/x.npy")));
    REFUSED(HA_ERR_ARGUMENT, darray_save_npy(x, folder));
    memset(longer, '/', 4090); /* there is room for this name, not for the one beside it */
    longer[4090] = 0;
    memcpy(longer, "/no", 3);
    REFUSED(HA_ERR_ARGUMENT, darray_save_npy(x, longer));
    assert_int_equal(files_in_folder(), 0);
    drop_array(x.array);
    drop_array(b.array);
}

/* At the first byte, in the middle of it, and at the end. */
TEST(devices_that_are_full) {
    darray x = counting(HA_DTYPE_double, 2, EXTENT(100, 1000), HA_ROW_MAJOR);
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        REFUSED(HA_ERR_BACKEND, darray_save_npy(darray_slice(x, 1, 0, 10, 1), "/dev/full"));
        REFUSED(HA_ERR_BACKEND, darray_save_npy(darray_slice(x, 1, 0, 999, 1), "/dev/full"));
        REFUSED(HA_ERR_BACKEND, darray_save_npy(darray_slice(x, 1, 0, HA_ALL, 2), "/dev/full"));
        REFUSED(HA_ERR_BACKEND, darray_save_npy(darray_fix(x, 0, 3), "/dev/full"));
        REFUSED(HA_ERR_BACKEND, darray_save_npy(darray_slice(x, 0, 0, 0, 1), "/dev/full"));
        setvbuf(full, NULL, _IONBF, 0);
        REFUSED(HA_ERR_BACKEND, darray_write_npy(x, full));
        fclose(full);
    }
    drop_array(x.array);
}

TEST(names_that_are_taken) {
    char taken[sizeof path];
    darray x = counting(HA_DTYPE_double, 1, EXTENT(3), HA_ROW_MAJOR);
    char *here = getcwd(NULL, 0);
    assert_non_null(here);
    snprintf(taken, sizeof taken, "%s/.harray-%ld-%u.npy", folder, (long)getpid(),
             ha_npy_new_files + 1);
    fclose(fopen(taken, "w"));
    assert_int_equal(chdir(folder), 0);
    SUCCEEDS(darray_save_npy(x, "x.npy")); /* without a folder in its name */
    assert_int_equal(chdir(here), 0);
    assert_int_equal(files_in_folder(), 2);
    unlink(taken);
    darray y = kept(darray_load_npy(file_named("x.npy"), C));
    expect_same(x, y);
    unlink(path);
    free(here);
    drop_array(y.array);
    drop_array(x.array);
}

TEST(what_is_no_file_of_the_system) {
    char *text = NULL;
    size_t length = 0;
    darray x = counting(HA_DTYPE_double, 1, EXTENT(3), HA_ROW_MAJOR);
    FILE *file = open_memstream(&text, &length);
    assert_non_null(file);
    SUCCEEDS(darray_write_npy(x, file));
    fclose(file);
    for (size_t cut = 0; cut < 2; cut++) {
        assert_non_null(file = fmemopen(text, length - cut, "r"));
        darray y = darray_read_npy(file, C);
        if (cut) {
            assert_null(y.array);
            assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
        } else {
            expect_same(x, kept(y));
            drop_array(y.array);
        }
        fclose(file);
    }
    free(text);
    drop_array(x.array);
}

TEST(files_are_replaced_behind_links) {
    char target[sizeof path], link[sizeof path];
    struct stat s;
    darray x = counting(HA_DTYPE_double, 1, EXTENT(3), HA_ROW_MAJOR);
    memcpy(target, file_of("old", 3), sizeof target);
    assert_int_equal(chmod(target, 0640), 0);
    memcpy(link, file_named("link.npy"), sizeof link);
    assert_int_equal(symlink(target, link), 0);
    SUCCEEDS(darray_save_npy(x, link));
    assert_int_equal(lstat(link, &s), 0);
    assert_true(S_ISLNK(s.st_mode));
    assert_int_equal(lstat(target, &s), 0);
    assert_int_equal(s.st_mode & 07777, 0640);
    darray y = kept(darray_load_npy(target, C));
    expect_same(x, y);
    assert_int_equal(files_in_folder(), 2);
    drop_array(y.array);
    drop_array(x.array);
    unlink(link);
    unlink(target);
}

/* A link to where nothing is yet, by way of another folder and another link. */
TEST(links_that_lead_to_nothing_yet) {
    char inner[sizeof folder + 10], second[sizeof folder + 30], link[sizeof path],
        target[sizeof path];
    struct stat s;
    darray x = counting(HA_DTYPE_double, 1, EXTENT(3), HA_ROW_MAJOR);
    memcpy(target, file_named("new.npy"), sizeof target);
    memcpy(link, file_named("link.npy"), sizeof link);
    snprintf(inner, sizeof inner, "%s/inner", folder);
    snprintf(second, sizeof second, "%s/second.npy", inner);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(symlink("inner/second.npy", link), 0);
    assert_int_equal(symlink("../new.npy", second), 0);
    SUCCEEDS(darray_save_npy(x, link));
    assert_int_equal(lstat(link, &s), 0);
    assert_true(S_ISLNK(s.st_mode));
    assert_int_equal(lstat(second, &s), 0);
    assert_true(S_ISLNK(s.st_mode));
    assert_int_equal(lstat(target, &s), 0);
    assert_true(S_ISREG(s.st_mode));
    darray y = kept(darray_load_npy(link, C));
    expect_same(x, y);
    drop_array(y.array);
    unlink(target);
    unlink(second);
    assert_int_equal(symlink("../link.npy", second), 0); /* they lead to each other */
    assert_int_equal(darray_save_npy(x, link), HA_ERR_ARGUMENT);
    assert_int_equal(ha_take_error().code, ELOOP);
    unlink(second);
    assert_int_equal(rmdir(inner), 0);
    unlink(link);
    char far_away
        [PATH_MAX]; /* as long as can be: where it leads has no room behind a folder's name */
    memset(far_away, 'x', sizeof far_away);
    far_away[sizeof far_away - 1] = 0;
    assert_int_equal(symlink(far_away, link), 0);
    assert_int_equal(darray_save_npy(x, link), HA_ERR_ARGUMENT);
    assert_int_equal(ha_take_error().code, ENAMETOOLONG);
    unlink(link);
    assert_int_equal(files_in_folder(), 0);
    drop_array(x.array);
}

/* Each allocation fails in turn: nothing is left behind, then it works. */
#define AT_EACH_ALLOCATION(call, works, leaves)                                                    \
    for (int n_ = 0, done_ = 0; !done_; n_++) {                                                    \
        assert_true(n_ < 1000);                                                                    \
        __atomic_store_n(&left, n_, __ATOMIC_RELAXED);                                             \
        call;                                                                                      \
        done_ = __atomic_exchange_n(&left, -1, __ATOMIC_RELAXED) >= 0; /* nothing failed */        \
        if (!(works)) assert_int_equal(ha_take_error().status, HA_ERR_MEMORY);                     \
        assert_true(!done_ || (works));                                                            \
        assert_true((works) || (leaves));                                                          \
        if (works) SUCCEEDS(ha_take_error().status);                                               \
        if ((works) && !done_) undo();                                                             \
    }

static darray made; /* by the call */

static void undo(void) {
    if (made.array) SUCCEEDS(darray_free(&made));
}

TEST(when_memory_runs_out) {
    ha_status s = HA_OK;
    size_t length = 0;
    darray x = counting(HA_DTYPE_double, 2, EXTENT(30, 20), HA_ROW_MAJOR);
    memset(&made, 0, sizeof made);
    HA_WRITING(v, harray_double_from(x.array), C) {}
    darray half = darray_slice(x, 1, 0, HA_ALL, 2);
    file_named("x.npy");
    AT_EACH_ALLOCATION((unlink(path), s = darray_save_npy(half, path)), !s, files_in_folder() == 0)
    AT_EACH_ALLOCATION(made = darray_load_npy(path, C), made.array, files_in_folder() == 1)
    undo();
    AT_EACH_ALLOCATION(made = darray_map_npy(path, 0), made.array, !is_mapped(path))
    undo();
    HA_WRITING(v, harray_double_from(x.array), C) {}
    AT_EACH_ALLOCATION(length = darray_print(x, text_a, sizeof text_a), length, !*text_a)
    drop_array(x.array);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(every_type_there_and_back),
        CASE(every_rank_there_and_back),
        CASE(columns_stay_columns),
        CASE(views_with_gaps_are_written_without),
        CASE(rows_longer_than_the_buffer),
        CASE(blocks_of_any_length),
        CASE(without_elements),
        CASE(arrays_follow_each_other_in_a_file),
        CASE(through_a_pipe),
        CASE(the_other_order_of_bytes_is_converted),
        CASE(truth_of_other_numbers),
        CASE(files_that_are_not_whole),
        CASE(files_with_what_is_no_array_here),
        CASE(what_is_wrong_is_told_with_the_file),
        CASE(const_maps_are_not_written),
        CASE(columns_of_a_map_move_alone),
        CASE(private_maps_leave_the_file_as_it_is),
        CASE(what_is_not_aligned_is_loaded),
        CASE(a_failure_leaves_the_older_file),
        CASE(what_cannot_be_written),
        CASE(devices_that_are_full),
        CASE(names_that_are_taken),
        CASE(what_is_no_file_of_the_system),
        CASE(files_are_replaced_behind_links),
        CASE(links_that_lead_to_nothing_yet),
        CASE(when_memory_runs_out),
    };
    int failed = 0;
    if (!mkdtemp(folder)) return 1;
    RUN_ON_MATRIX(failed, tests);
    return failed + (rmdir(folder) != 0);
}
