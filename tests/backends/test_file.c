/* The file as a memory: its directory, its disk, its queues, and what becomes of arrays when one of these fails.
 * What every backend must do is in test_backend.c, and the arrays' tests run on it, too (support/disk_backend.h).
 *
 * Calls of the system fail on demand, one by one: reading, writing, reserving, growing. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_long points, fail_at = -1; /* calls since arm(); the one that fails */
static atomic_int fail_with;             /* its error; 0: allocations only */
static atomic_int writes_fail;           /* their error; 0: they do not */
static atomic_int no_fallocate;          /* the file system has none */
static atomic_long most_bytes, calls_past_cache, wants_aligned;
static atomic_int reads_held;  /* until it is 0 */
static atomic_int interrupted; /* every second transfer */

static int fails(void) { return atomic_fetch_add(&points, 1) == atomic_load(&fail_at); }

static int fails_here(void) {
    if (!fails()) return 0;
    errno = atomic_load(&fail_with);
    return 1;
}

static void *failing_realloc(void *memory, size_t bytes) {
    return fails() ? NULL : realloc(memory, bytes);
}

/* Whether a transfer fails or is interrupted; what it may move. */
static int disturbs(int file, const void *memory, size_t *bytes) {
    const size_t most = (size_t)atomic_load(&most_bytes),
                 aligned = (size_t)atomic_load(&wants_aligned);
    const int past_cache = fcntl(file, F_GETFL) & O_DIRECT;
    if (past_cache) atomic_fetch_add(&calls_past_cache, 1);
    if (past_cache && aligned && (uintptr_t)memory % aligned) return errno = EINVAL, 1;
    if (most && *bytes > most) *bytes = most;
    if (!atomic_load(&interrupted)) return fails_here();
    errno = EINTR;
    return atomic_fetch_xor(&interrupted, 2) & 2;
}

static ssize_t disturbed_pread(int file, void *to, size_t bytes, off_t offset) {
    while (atomic_load(&reads_held)) usleep(100);
    return disturbs(file, to, &bytes) ? -1 : pread(file, to, bytes, offset);
}

static ssize_t disturbed_pwrite(int file, const void *from, size_t bytes, off_t offset) {
    const int error = atomic_load(&writes_fail);
    if (error) return errno = error, -1;
    return disturbs(file, from, &bytes) ? -1 : pwrite(file, from, bytes, offset);
}

static int disturbed_fallocate(int file, int mode, off_t first, off_t bytes) {
    if (mode == 0 && atomic_load(&no_fallocate)) return errno = EOPNOTSUPP, -1;
    return mode == 0 && fails_here() ? -1 : fallocate(file, mode, first, bytes);
}

#define HARRAY_MALLOC(bytes) failing_realloc(NULL, bytes)
#define HARRAY_REALLOC failing_realloc
#define HARRAY_FREE free
#define pread disturbed_pread
#define pwrite disturbed_pwrite
#define fallocate disturbed_fallocate
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../support/own_memory.h"
#include "../../harray.h"
#undef pread
#undef pwrite
#undef fallocate

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../support/temporary_directory.h"

#define TEST(name) static void name(HA_UNUSED void **state)
#define SUCCEEDS(expr) assert_int_equal(expr, HA_OK)

/* From now on call number n fails, with that error of the system. */
static void arm(long n, int error) {
    atomic_store(&points, 0);
    atomic_store(&fail_with, error);
    atomic_store(&fail_at, n);
}

static ha_context *disk;

static void open_disk(uint64_t capacity, int buffered) {
    const ha_file_options options = {directory, capacity, buffered};
    SUCCEEDS(ha_file_configure(&options));
    disk = ha_context_find("file:0");
    assert_non_null(disk);
}

static int begin(HA_UNUSED void **state) {
    arm(-1, EIO);
    atomic_store(&no_fallocate, 0);
    atomic_store(&most_bytes, 0);
    atomic_store(&interrupted, 0);
    atomic_store(&calls_past_cache, 0);
    make_directory();
    return 0;
}

/* The directory must be empty: it is removed as such. */
static int end(HA_UNUSED void **state) {
    int failed = ha_shutdown() != HA_OK;
    failed |= ha_file_configure(NULL) != HA_OK || rmdir(directory) != 0;
    if (failed) delete_directory();
    return failed || ha_take_error().status;
}

static void expect_error(ha_status status, int64_t code, const char *text) {
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, status);
    assert_int_equal(e.code, code);
    if (!strstr(e.text, text)) fail_msg("'%s' is not in '%s'", text, e.text);
}

static harray_double ramp(size_t n) {
    harray_double x = harray_double_new(n);
    HA_OVERWRITING(v, x, ha_host(), n) for (size_t i = 0; i < n; i++) v.data[i] = (double)i;
    return x;
}

static void expect_ramp(harray_double x, size_t n) {
    size_t right = 0;
    HA_READING(v, x, ha_host()) for (size_t i = 0; i < n; i++) right += v.data[i] == (double)i;
    assert_int_equal(right, n);
}

/* The array's values are in the file alone. */
static void send_away(harray_double x) {
    HA_WRITING(v, x, disk) {}
    SUCCEEDS(ha_context_finish(disk));
    assert_false(ha_array_valid(x.array, ha_host(), 0, HA_END));
}

static const ha_file_device *opened_device(void) {
    return (const ha_file_device *)disk->memory->handle;
}

/* ---- the directory -------------------------------------------------------------------------- */

TEST(there_is_none_until_it_is_configured) {
    assert_int_equal(ha_context_count("file"), 0);
    assert_null(ha_context_find("file:0"));
    expect_error(HA_ERR_NOT_FOUND, 0, "HARRAY_FILE");
    open_disk(1 << 20, 0);
    assert_int_equal(ha_context_count("file"), 1);
    assert_null(ha_context_find("file:1"));
    expect_error(HA_ERR_NOT_FOUND, 0, "no context 'file:1': there is 1 device of that kind");
    assert_string_not_equal(ha_context_kind(ha_context_best()), "file");
}

TEST(a_directory_that_cannot_be_used_is_told_at_once) {
    char name[sizeof directory + 8], longest[1100];
    ha_file_options options = {.directory = name};
    snprintf(name, sizeof name, "%s/gone", directory);
    assert_int_equal(ha_file_configure(&options), HA_ERR_BACKEND);
    expect_error(HA_ERR_BACKEND, ENOENT, name);
    options.directory = "/dev/null";
    assert_int_equal(ha_file_configure(&options), HA_ERR_BACKEND);
    expect_error(HA_ERR_BACKEND, ENOTDIR, "/dev/null");
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    options.directory = longest;
    assert_int_equal(ha_file_configure(&options), HA_ERR_ARGUMENT);
    expect_error(HA_ERR_ARGUMENT, 0, "dir is the name of a directory");
    options = (ha_file_options){.directory = directory, .capacity = UINT64_MAX};
    assert_int_equal(ha_file_configure(&options), HA_ERR_ARGUMENT);
    expect_error(HA_ERR_ARGUMENT, 0, "capacity is bytes");
    assert_int_equal(ha_context_count("file"), 0); /* nothing was changed */
    open_disk(1 << 20, 0);
    assert_int_equal(ha_file_configure(NULL), HA_ERR_STATE);
    expect_error(HA_ERR_STATE, 0, "is open already");
}

/* As a program finds it that has set nothing itself. */
static void use_environment(const char *text) {
    setenv("HARRAY_FILE", text, 1);
    ha_file_shared.known = 0;
    ha_file_shared.settings.directory[0] = '\0';
    ha_file_shared.wrong.text[0] = '\0';
}

TEST(the_environment_configures_it) {
    char text[sizeof directory + 40];
    static const char *const wrong[] = {"dir=", "dir", "capacity=1X", "folder=/tmp", "buffered=2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        use_environment(wrong[i]);
        assert_null(ha_context_find("file:0"));
        expect_error(HA_ERR_BACKEND, EINVAL, "HARRAY_FILE: \"");
    }
    use_environment("dir=/nowhere/at/all");
    assert_null(ha_context_find("file:0"));
    expect_error(HA_ERR_BACKEND, ENOENT, "/nowhere/at/all");
    snprintf(text, sizeof text, "dir=%s,capacity=3M,buffered=1", directory);
    use_environment(text);
    disk = ha_context_find("file:0");
    assert_non_null(disk);
    assert_int_equal(opened_device()->bytes, 3 << 20);
    assert_string_equal(opened_device()->directory, directory);
    assert_int_equal(opened_device()->storage.opened, -1);
    unsetenv("HARRAY_FILE");
}

/* Waits to be killed. Nothing here may end the test: that is the parent's. */
static void use_disk_as_child(int told) {
    const ha_file_options options = {directory, 1 << 20, 0};
    if (ha_file_configure(&options) != HA_OK) _exit(1);
    disk = ha_context_find("file:0");
    if (disk == NULL) _exit(2);
    harray_double x = harray_double_filled(1000, 1.0);
    if (ha_array_prefetch(x.array, disk, 0, HA_END) != HA_OK) _exit(3);
    if (ha_context_finish(disk) != HA_OK || write(told, "x", 1) != 1) _exit(4);
    for (;;) pause();
}

/* Comes first: a process that has used harray cannot go on with it in a child. */
TEST(nothing_is_left_when_the_program_is_killed) {
    int ends[2], status;
    char byte;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) use_disk_as_child(ends[1]);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    close(ends[0]); /* end() removes the directory, which is empty */
}

TEST(a_file_that_needs_a_name_loses_it) {
    int file;
    struct stat is;
    assert_int_equal(ha_file_make_named(directory, &file), 0);
    assert_int_equal(fstat(file, &is), 0);
    assert_int_equal(is.st_nlink, 0);
    close(file);
    assert_int_equal(ha_file_make_named("/nowhere/at/all", &file), ENOENT);
}

/* ---- the disk ------------------------------------------------------------------------------- */

static int64_t blocks_on_disk(void) {
    struct stat is;
    assert_int_equal(fstat(opened_device()->storage.file, &is), 0);
    return is.st_blocks;
}

TEST(what_is_released_goes_back_to_the_disk) {
    const size_t bytes = (size_t)1 << 20;
    void *before, *block;
    open_disk(4 << 20, 0);
    const ha_memory_ops *m = &ha_file_memory_ops;
    SUCCEEDS(m->allocate(disk->memory->handle, 1, &before));
    const int64_t least = blocks_on_disk();
    SUCCEEDS(m->allocate(disk->memory->handle, bytes, &block));
    assert_true(blocks_on_disk() >= least + (int64_t)(bytes / 512)); /* it is reserved */
    m->release(disk->memory->handle, block, bytes);
    assert_int_equal(blocks_on_disk(), least);
    m->release(disk->memory->handle, before, 1);
}

TEST(a_full_disk_is_told_where_memory_is_asked_for) {
    static const int full[] = {ENOSPC, EDQUOT, EFBIG};
    harray_double x = ramp(5000);
    open_disk(1 << 20, 0);
    for (size_t i = 0; i < 3; i++) {
        void *block = &block;
        arm(0, full[i]);
        assert_int_equal(ha_file_memory_ops.allocate(disk->memory->handle, 100, &block),
                         HA_ERR_MEMORY);
        assert_ptr_equal(block, &block);
    }
    arm(0, EIO);
    void *block;
    assert_int_equal(ha_file_memory_ops.allocate(disk->memory->handle, 100, &block),
                     HA_ERR_BACKEND);
    ha_forget_note();
    arm(-1, 0);
    SUCCEEDS(ha_file_memory_ops.allocate(disk->memory->handle, 1 << 20, &block)); /* all is there */
    ha_file_memory_ops.release(disk->memory->handle, block, 1 << 20);
    send_away(x);
    expect_ramp(x, 5000);
    harray_double_free(&x);
}

/* By reserving, and where that cannot be, by growing. */
TEST(a_limit_of_files_is_an_error_and_no_signal) {
    const size_t n = (size_t)1 << 18;
    struct rlimit before, small;
    sigset_t pending;
    harray_double x = ramp(n);
    open_disk(8 << 20, 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1 << 20;
    for (int i = 0; i < 2; i++) {
        ha_access v;
        atomic_store(&no_fallocate, i);
        setrlimit(RLIMIT_FSIZE, &small);
        const ha_status status = ha_open(&v, x.array, disk, HA_WRITE, 0, HA_END);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(status, HA_ERR_MEMORY);
        expect_error(HA_ERR_MEMORY, EFBIG, "file:0");
        expect_ramp(x, n);
    }
    assert_int_equal(sigpending(&pending), 0);
    assert_false(sigismember(&pending, SIGXFSZ));
    send_away(x);
    expect_ramp(x, n);
    harray_double_free(&x);
}

/* No byte of these 6 GiB is on the disk but for two pages. */
TEST(places_beyond_4_GiB) {
    const size_t bytes = (size_t)6 << 30, place = ((size_t)5 << 30) + 7;
    char text[] = "far away", back[sizeof text] = "";
    void *block, *queue;
    atomic_store(&no_fallocate, 1);
    open_disk((uint64_t)8 << 30, 0);
    SUCCEEDS(ha_file_memory_ops.allocate(disk->memory->handle, bytes, &block));
    SUCCEEDS(ha_file_queue_ops.create(disk->device, &queue));
    void *there = (void *)((uintptr_t)block + place);
    SUCCEEDS(ha_file_queue_ops.copy(queue, there, text, sizeof text));
    SUCCEEDS(ha_file_queue_ops.copy(queue, back, there, sizeof text));
    ha_file_queue_ops.drain(queue);
    assert_string_equal(back, text);
    assert_int_equal(pread(opened_device()->storage.file, back, sizeof text, (off_t)place),
                     sizeof text);
    assert_string_equal(back, text);
    assert_true(blocks_on_disk() < 1000);
    ha_file_queue_ops.destroy(queue);
    ha_file_memory_ops.release(disk->memory->handle, block, bytes);
}

/* ---- transfers ------------------------------------------------------------------------------ */

enum { ROOM = 3 << 20 };

static uint32_t seed;
static size_t pick(size_t n) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

/* Ranges of any size and place go there and come back, beside a copy of what must be there. */
static void move_at_random(int rounds) {
    const ha_queue_ops *ops = &ha_file_queue_ops;
    char *memory = (char *)aligned_alloc(HA_FILE_UNIT_, ROOM), *should = (char *)malloc(ROOM);
    void *block, *queue;
    SUCCEEDS(ha_file_memory_ops.allocate(disk->memory->handle, ROOM, &block));
    SUCCEEDS(ops->create(disk->device, &queue));
    memset(should, 0, ROOM);
    SUCCEEDS(ops->fill(queue, block, "\0\0", 3, ROOM / 3));
    seed = 5;
    for (int i = 0; i < rounds; i++) {
        const size_t unit = i % 2 ? HA_FILE_UNIT_ : 1;
        size_t first = pick(ROOM / unit) * unit, bytes = 1 + pick(ROOM - first);
        size_t shift = i % 4 == 3   ? 1
                       : i % 8 == 5 ? HA_FILE_SECTOR_
                                    : 0; /* memory aligned otherwise */
        if (shift >= bytes) shift = 0;
        for (size_t k = 0; k < bytes; k++) memory[k] = (char)(k * 7 + (size_t)i);
        bytes -= shift;
        memcpy(should + first, memory + shift, bytes);
        SUCCEEDS(ops->copy(queue, (char *)((uintptr_t)block + first), memory + shift, bytes));
        ops->drain(queue);
        memset(memory, 1, ROOM);
        SUCCEEDS(ops->copy(queue, memory, block, ROOM));
        ops->drain(queue);
        assert_memory_equal(memory, should, ROOM);
    }
    ops->destroy(queue);
    ha_file_memory_ops.release(disk->memory->handle, block, ROOM);
    free(memory);
    free(should);
}

TEST(large_aligned_transfers_go_past_the_cache) {
    open_disk(4 << 20, 0);
    move_at_random(24);
    if (opened_device()->storage.opened >= 0) assert_true(atomic_load(&calls_past_cache) > 0);
    assert_int_equal(opened_device()->storage.direct, opened_device()->storage.opened);
}

/* Disks whose system wants memory aligned to more than a sector: to a page, which is learned, or to more, which is
 * given up. */
TEST(memory_is_aligned_as_the_system_wants) {
    for (int i = 0; i < 2; i++) {
        open_disk(4 << 20, 0);
        atomic_store(&wants_aligned, i ? 1 << 24 : (long)HA_FILE_UNIT_);
        move_at_random(24);
        atomic_store(&wants_aligned, 0);
        const ha_file_storage *storage = &opened_device()->storage;
        if (storage->opened >= 0 && !i) assert_int_equal(storage->sector, HA_FILE_UNIT_);
        if (storage->opened >= 0) assert_int_equal(storage->direct, i ? -1 : storage->opened);
        SUCCEEDS(ha_shutdown());
    }
}

/* The host's blocks are not aligned to pages. */
TEST(arrays_go_past_the_cache) {
    const size_t n = (size_t)1 << 17;
    harray_double x = ramp(n);
    open_disk(4 << 20, 0);
    send_away(x);
    const long written = atomic_load(&calls_past_cache);
    expect_ramp(x, n);
    if (opened_device()->storage.opened >= 0)
        assert_true(written > 0 && atomic_load(&calls_past_cache) > written);
    harray_double_free(&x);
}

TEST(no_transfer_does_where_that_is_not_wanted) {
    open_disk(4 << 20, 1);
    move_at_random(8);
    assert_int_equal(atomic_load(&calls_past_cache), 0);
}

/* Past the cache less than a unit cannot be moved: that is then given up. */
TEST(transfers_may_be_short_or_interrupted) {
    static const long most[] = {4 * HA_FILE_UNIT_, 100001};
    for (int i = 0; i < 4; i++) {
        open_disk(4 << 20, i == 1);
        atomic_store(&most_bytes, most[i / 2]);
        atomic_store(&interrupted, 1);
        move_at_random(4);
        atomic_store(&interrupted, 0);
        SUCCEEDS(ha_shutdown());
    }
}

TEST(rows_and_what_lies_between) {
    enum { ROWS = 50, ROW = 37, PITCH = 64, BYTES = ROWS * PITCH };
    char from[BYTES], to[BYTES], back[BYTES];
    void *block, *other, *queue;
    open_disk(1 << 20, 0);
    const ha_queue_ops *ops = &ha_file_queue_ops;
    SUCCEEDS(ha_file_memory_ops.allocate(disk->memory->handle, BYTES, &block));
    SUCCEEDS(ha_file_memory_ops.allocate(disk->memory->handle, BYTES, &other));
    SUCCEEDS(ops->create(disk->device, &queue));
    for (int i = 0; i < BYTES; i++) from[i] = (char)i, to[i] = 'x';
    ha_strided_copy rows = {block, from, ROW, 1, {ROWS}, {PITCH}, {PITCH}};
    SUCCEEDS(ops->fill(queue, block, "x", 1, BYTES));
    SUCCEEDS(ops->copy_strided(queue, &rows, 1));
    SUCCEEDS(ops->fill(queue, other, "x", 1, BYTES));
    rows.to = other, rows.from = block;
    SUCCEEDS(ops->copy_strided(queue, &rows, 1));
    SUCCEEDS(ops->copy(queue, back, other, BYTES));
    ops->drain(queue);
    for (int r = 0; r < ROWS; r++) memcpy(to + r * PITCH, from + r * PITCH, ROW);
    assert_memory_equal(back, to, BYTES);
    assert_int_equal(ops->copy_strided(queue, &rows, 2), HA_ERR_UNSUPPORTED);
    ops->destroy(queue);
    ha_file_memory_ops.release(disk->memory->handle, block, BYTES);
    ha_file_memory_ops.release(disk->memory->handle, other, BYTES);
}

/* ---- what fails ----------------------------------------------------------------------------- */

/* The queue is lost, the array is not. */
TEST(a_write_that_fails_loses_nothing) {
    static const int errors[] = {EIO, ENOSPC, EDQUOT, 0};
    for (size_t i = 0; i < 4; i++) {
        ha_access v;
        harray_double x = ramp(5000);
        open_disk(1 << 20, 0);
        atomic_store(&writes_fail, errors[i]);
        SUCCEEDS(ha_array_prefetch(x.array, disk, 0, HA_END)); /* is enqueued */
        assert_int_equal(ha_context_finish(disk), errors[i] ? HA_ERR_LOST : HA_OK);
        atomic_store(&writes_fail, 0);
        if (errors[i]) {
            expect_error(HA_ERR_LOST, errors[i], strerror(errors[i]));
            assert_int_equal(ha_open(&v, x.array, disk, HA_READ, 0, HA_END), HA_ERR_BACKEND);
            expect_error(HA_ERR_BACKEND, 0, "its queue has failed; ha_shutdown ends that");
        }
        expect_ramp(x, 5000);
        harray_double_free(&x);
        SUCCEEDS(ha_shutdown());
    }
}

/* A reader gets the system's error; so does a queue that waits for what never happens. */
TEST(a_file_that_was_cut_is_an_error) {
    void *block, *queue, *other;
    ha_event event, later;
    char byte = 0;
    open_disk(1 << 20, 0);
    const ha_queue_ops *ops = &ha_file_queue_ops;
    SUCCEEDS(ha_file_memory_ops.allocate(disk->memory->handle, 100, &block));
    SUCCEEDS(ops->create(disk->device, &queue));
    SUCCEEDS(ops->create(disk->device, &other));
    assert_int_equal(ftruncate(opened_device()->storage.file, 0), 0);
    atomic_store(&reads_held, 1); /* the queue does not fail before all is enqueued */
    SUCCEEDS(ops->copy(queue, &byte, block, 1));
    SUCCEEDS(ops->record(queue, &event));
    SUCCEEDS(ops->await(other, &event));
    SUCCEEDS(ops->record(other, &later));
    atomic_store(&reads_held, 0);
    assert_int_equal(ops->finish(&later), HA_ERR_LOST);
    assert_non_null(strstr(ha_backend_note.text, "never happens"));
    assert_int_equal(ops->done(&later), -1);
    assert_int_equal(ops->copy(other, &byte, block, 1), HA_ERR_LOST);
    assert_int_equal(ops->finish(&event), HA_ERR_LOST);
    ops->drain(queue);
    assert_int_equal(ops->record(queue, &event), HA_ERR_LOST);
    assert_int_equal(ha_backend_note.code, EIO);
    ha_forget_note();
    ops->destroy(queue);
    ops->destroy(other);
    ha_file_memory_ops.release(disk->memory->handle, block, 100);
}

static void do_nothing(HA_UNUSED const ha_queue *queue, HA_UNUSED void *argument) {}

TEST(functions_are_refused) {
    harray_double x = ramp(10);
    open_disk(1 << 20, 0);
    HA_WRITING(v, x, disk) {
        assert_int_equal(ha_enqueue(disk, do_nothing, NULL, 0), HA_ERR_UNSUPPORTED);
    }
    expect_error(HA_ERR_UNSUPPORTED, 0, "file:0 has no processor");
    expect_ramp(x, 10);
    harray_double_free(&x);
}

/* Opening the file, going there and coming back, with each call failing in turn: the values are right all the
 * same, at the host or, after a shutdown that gives the failed queue up, nowhere else. */
TEST(each_call_that_fails_leaves_the_values) {
    const ha_file_options options = {directory, 1 << 20, 0};
    const size_t n = 3000;
    int failed = 1;
    for (long point = 0; failed; point++) {
        harray_double x = ramp(n);
        SUCCEEDS(ha_file_configure(&options));
        arm(point, EIO);
        ha_context *found = ha_context_find("file:0");
        if (found) {
            HA_IGNORE(ha_array_prefetch(x.array, found, 0, HA_END));
            HA_IGNORE(ha_context_finish(found));
            HA_READING_RANGE(v, x, found, 10, 20) {}
            HA_IGNORE(ha_array_evict(x.array, found));
        }
        failed = atomic_load(&points) > point;
        arm(-1, 0);
        assert_true(failed || point > 10);
        expect_ramp(x, n);
        harray_double_free(&x);
        SUCCEEDS(ha_shutdown());
        (void)ha_take_error();
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(nothing_is_left_when_the_program_is_killed),
        CASE(there_is_none_until_it_is_configured),
        CASE(a_directory_that_cannot_be_used_is_told_at_once),
        CASE(the_environment_configures_it),
        CASE(a_file_that_needs_a_name_loses_it),
        CASE(what_is_released_goes_back_to_the_disk),
        CASE(a_full_disk_is_told_where_memory_is_asked_for),
        CASE(a_limit_of_files_is_an_error_and_no_signal),
        CASE(places_beyond_4_GiB),
        CASE(large_aligned_transfers_go_past_the_cache),
        CASE(memory_is_aligned_as_the_system_wants),
        CASE(arrays_go_past_the_cache),
        CASE(no_transfer_does_where_that_is_not_wanted),
        CASE(transfers_may_be_short_or_interrupted),
        CASE(rows_and_what_lies_between),
        CASE(a_write_that_fails_loses_nothing),
        CASE(a_file_that_was_cut_is_an_error),
        CASE(functions_are_refused),
        CASE(each_call_that_fails_leaves_the_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
