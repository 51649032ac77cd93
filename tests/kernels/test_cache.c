/* Compiled kernels on disk: whatever is wrong with a file, a directory or another process, a kernel is compiled,
 * or comes from the cache as it was written. And what the environment says of kernels. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <errno.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

/* The calls by which a file is written: each is a point at which a test can end the process. */
static long calls_to_live = -1; /* that are still to happen; negative: all */
static void killed_at_last(void);
static int interruptions; /* of the next calls, each by a signal */
static int reads_to_live =
    -1; /* before files seem to have been cut off; negative: they never are */
static int is_interrupted(void) {
    if (!interruptions) return 0;
    interruptions--;
    errno = EINTR;
    return 1;
}
static ssize_t read_or_not(int file, void *to, size_t bytes) {
    if (is_interrupted()) return -1;
    if (reads_to_live == 0) return 0;
    if (reads_to_live > 0) reads_to_live--;
    return (read)(file, to, bytes);
}
static ssize_t write_or_die(int file, const void *from, size_t bytes) {
    if (is_interrupted()) return -1;
    killed_at_last();
    if (calls_to_live == 0 && bytes > 1) /* in the middle of it */
        (void)!(write)(file, from, bytes / 2);
    killed_at_last();
    return (write)(file, from, bytes);
}
static int rename_or_die(const char *from, const char *to) {
    killed_at_last();
    const int result = (rename)(from, to);
    killed_at_last();
    return result;
}

#define read(file, to, bytes) read_or_not(file, to, bytes)
#define write(file, from, bytes) write_or_die(file, from, bytes)
#define rename(from, to) rename_or_die(from, to)
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_kernels.h"
#undef read
#undef write
#undef rename
#include "../support/matrix.h"
#include "../support/temporary_directory.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void killed_at_last(void) {
    if (calls_to_live == 0) kill(getpid(), SIGKILL);
    if (calls_to_live > 0) calls_to_live--;
}

/* ---- digests ------------------------------------------------------------------------------------- */

static void expect_digest(ha_digest digest, const char *expected) {
    char hex[65];
    for (int i = 0; i < 32; i++) snprintf(hex + 2 * i, 3, "%02x", digest.byte[i]);
    assert_string_equal(hex, expected);
}

/* The messages of NIST's "Descriptions of SHA-256" for FIPS 180-4, and of its short-message vectors. */
TEST(digests_of_the_standard) {
    static char million[1000000];
    memset(million, 'a', sizeof million);
    expect_digest(ha_digest_of("abc", 3),
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect_digest(ha_digest_of("", 0),
                  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect_digest(ha_digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56),
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    expect_digest(ha_digest_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                               "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                               112),
                  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    expect_digest(ha_digest_of("\xbd", 1),
                  "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
    expect_digest(ha_digest_of(million, sizeof million),
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* In pieces of any length, around the ends of blocks. */
TEST(digests_in_pieces) {
    char text[200];
    memset(text, 'x', sizeof text);
    for (size_t n = 0; n < sizeof text; n++) {
        const ha_digest whole = ha_digest_of(text, n);
        for (size_t piece = 1; piece < 70; piece += 23) {
            ha_sha256 h = ha_sha256_begin();
            for (size_t at = 0; at < n; at += piece)
                ha_sha256_add(&h, text + at, at + piece < n ? piece : n - at);
            const ha_digest d = ha_sha256_end(&h);
            assert_memory_equal(&d, &whole, sizeof d);
        }
    }
}

static ha_digest key_of(const char *a, const char *b) {
    ha_sha256 h = ha_sha256_begin();
    ha_sha256_field(&h, a, strlen(a));
    ha_sha256_field(&h, b, strlen(b));
    return ha_sha256_end(&h);
}

TEST(fields_are_not_run_together) {
    const ha_digest one = key_of("ab", "c"), other = key_of("a", "bc");
    assert_memory_not_equal(&one, &other, sizeof one);
}

/* ---- a directory of the test's own ------------------------------------------------------------------ */

static ha_kernel_settings *settings; /* that the cache reads */

static int begin_cache(void **state) {
    (void)ha_kernel_settings_get();
    settings = &ha_kernels_set.settings;
    memset(settings, 0, sizeof *settings);
    make_directory();
    snprintf(settings->cache, sizeof settings->cache, "%s", directory);
    ha_cache_trimmed = 0;
    calls_to_live = reads_to_live = -1;
    interruptions = 0;
    return begin_case(state);
}

static int end_cache(void **state) {
    memset(settings, 0, sizeof *settings);
    delete_directory();
    return end_case(state);
}
#define CACHED(name) cmocka_unit_test_setup_teardown(name, begin_cache, end_cache)

enum { LENGTH = 300 };
static char image[LENGTH];

static ha_binary image_number(int number) {
    for (int i = 0; i < LENGTH; i++) image[i] = (char)(i * 7 + number);
    return (ha_binary){image, LENGTH};
}

static ha_digest key_number(int number) { return ha_digest_of(&number, sizeof number); }

static void put(int number) {
    const ha_digest key = key_number(number);
    const ha_binary binary = image_number(number);
    ha_cache_write(&key, &binary);
}

/* 1: it is there as it was written; 0: it is not there. */
static int get(int number) {
    const ha_digest key = key_number(number);
    ha_binary found = {NULL, 0};
    if (!ha_cache_read(&key, &found)) return 0;
    image_number(number);
    const int same = found.bytes == LENGTH && !memcmp(found.data, image, LENGTH);
    HARRAY_FREE(found.data);
    assert_true(same);
    return 1;
}

static const char *path_of(int number) {
    static char path[HA_CACHE_PATH];
    const ha_digest key = key_number(number);
    assert_true(ha_cache_path(path, directory, strlen(directory), &key));
    return path;
}

/* Files of the cache's directories. */
static int count_files(void) {
    int n = 0;
    for (int i = 0; i < 256; i++) {
        char path[100];
        const struct dirent *entry;
        snprintf(path, sizeof path, "%s/%02x", directory, (unsigned)i);
        DIR *d = opendir(path);
        while (d && (entry = readdir(d))) n += entry->d_name[0] != '.';
        if (d) closedir(d);
    }
    return n;
}

TEST(what_is_written_is_found) {
    assert_false(get(1));
    put(1);
    assert_true(get(1));
    assert_false(get(2));
    put(2);
    assert_true(get(1) && get(2));
    assert_int_equal(count_files(), 2);
}

static void write_file(const char *path, const void *bytes, size_t n) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static size_t read_file(const char *path, char *bytes, size_t most) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, most, file);
    fclose(file);
    return n;
}

/* Cut off at every byte, with one more, and with any byte changed: it is not there, and written anew. */
TEST(files_that_are_damaged) {
    char whole[sizeof(ha_cache_head) + LENGTH + 1] = "";
    put(1);
    const size_t n = read_file(path_of(1), whole, sizeof whole);
    assert_int_equal(n, sizeof whole - 1);
    for (size_t length = 0; length < n; length++) {
        write_file(path_of(1), whole, length);
        assert_false(get(1));
    }
    write_file(path_of(1), whole, n + 1);
    assert_false(get(1));
    for (size_t at = 0; at < n; at++) {
        whole[at] ^= 0x10;
        write_file(path_of(1), whole, n);
        assert_false(get(1));
        whole[at] ^= 0x10;
    }
    put(1);
    assert_true(get(1));
}

/* A file under the name of another one. */
TEST(files_that_are_mixed_up) {
    char whole[sizeof(ha_cache_head) + LENGTH];
    put(1);
    put(2);
    const size_t n = read_file(path_of(1), whole, sizeof whole);
    write_file(path_of(2), whole, n);
    assert_true(get(1));
    assert_false(get(2));
}

/* A signal is no failure; a file that gets shorter while it is read is none. */
TEST(calls_that_do_not_finish) {
    interruptions = 3;
    put(1);
    assert_int_equal(interruptions, 0);
    interruptions = 3;
    assert_true(get(1));
    assert_int_equal(interruptions, 0);
    for (int n = 0; n < 2; n++) { /* the head, the binary */
        reads_to_live = n;
        assert_false(get(1));
    }
    reads_to_live = -1;
    assert_true(get(1));
}

/* Something else has the file's name, that cannot be read, nor replaced: nothing is left of what was written. */
TEST(a_directory_in_its_place) {
    put(1);
    assert_int_equal(unlink(path_of(1)), 0);
    assert_int_equal(mkdir(path_of(1), 0777), 0);
    assert_false(get(1));
    put(1);
    assert_false(get(1));
    assert_int_equal(count_files(), 1);
    assert_int_equal(rmdir(path_of(1)), 0);
    put(1);
    assert_true(get(1));
}

/* Nobody writes to it: whoever waited for that would not end. */
TEST(a_pipe_in_its_place) {
    put(1);
    assert_int_equal(unlink(path_of(1)), 0);
    assert_int_equal(mkfifo(path_of(1), 0666), 0);
    assert_false(get(1));
    put(1);
    assert_true(get(1));
}

TEST(paths_that_are_too_long) {
    static char longest[HA_CACHE_PATH], path[HA_CACHE_PATH];
    const ha_digest key = key_number(1);
    const ha_binary binary = image_number(1);
    memset(longest, 'a', sizeof longest - 1);
    longest[0] = '/';
    for (size_t n = sizeof longest - 1; n > sizeof longest - 81; n--)
        assert_false(ha_cache_path(path, longest, n, &key));
    assert_true(ha_cache_path(path, longest, sizeof longest - 81, &key));
    assert_int_equal(strlen(path), sizeof longest - 80 + 65);
    assert_false(ha_cache_write_to(longest, &key, &binary));
}

/* ---- other processes ---------------------------------------------------------------------------- */

static int status_of_child(pid_t child) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* Each writes and reads a few of the same kernels, all from the same moment on. */
static void take_part(int begin) {
    char c;
    int good = read(begin, &c, 1) == 0;
    for (int i = 0; i < 8 && good; i++) {
        if (!get(i)) put(i);
        good = get(i);
    }
    _exit(good ? 0 : 1);
}

TEST(sixty_four_processes_at_once) {
    pid_t child[64];
    int begin[2];
    assert_int_equal(pipe(begin), 0);
    for (int i = 0; i < 64; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i]) continue;
        close(begin[1]);
        take_part(begin[0]);
    }
    close(begin[0]);
    close(begin[1]);
    for (int i = 0; i < 64; i++) assert_int_equal(status_of_child(child[i]), 0);
    for (int i = 0; i < 8; i++) assert_true(get(i));
    assert_int_equal(count_files(), 8);
}

/* Killed at each point of writing: what is there afterwards is all of it, or nothing. */
TEST(killed_while_writing) {
    int killed = 0;
    for (int point = 0;; point++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            calls_to_live = point;
            put(1);
            _exit(0);
        }
        const int status = status_of_child(child);
        if (WIFEXITED(status)) break;
        assert_int_equal(WTERMSIG(status), SIGKILL);
        killed++;
        if (get(1)) unlink(path_of(1)); /* it was renamed already */
    }
    assert_true(killed >= 4);
    assert_true(get(1));
    ha_cache_trim(directory, ha_cache_most, time(NULL)); /* others may be writing these just now */
    assert_true(count_files() > 1);
    ha_cache_trim(directory, ha_cache_most, time(NULL) + 2 * HA_CACHE_HALF_DONE);
    assert_int_equal(count_files(), 1);
    assert_true(get(1));
}

/* ---- nowhere to write --------------------------------------------------------------------------- */

TEST(switched_off) {
    settings->cache[0] = 0;
    put(1);
    assert_false(get(1));
    assert_int_equal(count_files(), 0);
}

/* Nobody may write there; root, who may, becomes nobody for that. */
TEST(a_directory_that_is_only_read) {
    put(1);
    assert_int_equal(chmod(directory, 0555), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
        for (int i = 2; i < 20; i++) put(i);
        _exit(get(1) && !get(2) && !get(3) ? 0 : 1);
    }
    assert_int_equal(status_of_child(child), 0);
    assert_int_equal(chmod(directory, 0755), 0);
    snprintf(settings->cache, sizeof settings->cache, "%s", path_of(1)); /* no directory at all */
    put(2);
    assert_false(get(2));
}

static void put_where_files_have(rlim_t bytes) {
    const struct rlimit small = {bytes, RLIM_INFINITY}, any = {RLIM_INFINITY, RLIM_INFINITY};
    sigset_t blocked;
    if (setrlimit(RLIMIT_FSIZE, &small)) _exit(2);
    put(1);
    if (setrlimit(RLIMIT_FSIZE, &any)) _exit(2); /* counters of coverage are files, too */
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    _exit(get(1) || sigismember(&blocked, SIGXFSZ) ? 1 : 0);
}

/* A limit on files stands for a disk that is full, in the head or behind it: no file is left, and the process
 * goes on. */
TEST(a_disk_that_is_full) {
    const rlim_t bytes[] = {sizeof(ha_cache_head) / 2, sizeof(ha_cache_head) + LENGTH / 2};
    for (int i = 0; i < 2; i++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (!child) put_where_files_have(bytes[i]);
        assert_int_equal(status_of_child(child), 0);
        assert_int_equal(count_files(), 0);
    }
}

/* ---- how large ---------------------------------------------------------------------------------- */

static void used_at(int number, time_t when) {
    const struct timespec times[2] = {{when, 0}, {when, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path_of(number), times, 0), 0);
}

/* What was used longest ago goes; reading is using. */
TEST(at_most_so_many_bytes) {
    const uint64_t one = sizeof(ha_cache_head) + LENGTH;
    char foreign[200];
    for (int i = 0; i < 10; i++) put(i);
    for (int i = 0; i < 10; i++) used_at(i, 1000 + i);
    snprintf(foreign, sizeof foreign, "%.*s.txt", (int)(strrchr(path_of(0), '/') - path_of(0)) + 2,
             path_of(0));
    write_file(foreign, image, LENGTH);
    ha_cache_trim(directory, 10 * one, 2000);
    assert_int_equal(count_files(), 11);
    assert_true(get(0)); /* used now */
    ha_cache_trim(directory, 4 * one, 2000);
    for (int i = 0; i < 10; i++) assert_int_equal(get(i), i == 0 || i > 6);
    assert_int_equal(count_files(), 5);
    assert_int_equal(access(foreign, F_OK), 0);
    ha_cache_trim(directory, 0, 2000);
    assert_int_equal(count_files(), 1);
}

static void put_beside(int number, const char *behind) {
    char path[300];
    snprintf(path, sizeof path, "%s%s", path_of(number), behind);
    write_file(path, image, LENGTH);
}

/* Of the names that are not the cache's, whatever they begin with; and of what is no file. */
TEST(others_files_stay) {
    char longest[200] = ".", path[300];
    memset(longest + 1, '1', 100);
    put(1);
    put_beside(1, ".12.3"); /* half done, and long ago */
    put_beside(1, ".12.3x");
    put_beside(1, "0");
    put_beside(1, "x");
    put_beside(1, longest);
    snprintf(path, sizeof path, "%.*s0", (int)strlen(path_of(1)) - 1, path_of(1));
    if (!strcmp(path, path_of(1))) path[strlen(path) - 1] = '1';
    assert_int_equal(symlink("/nowhere", path), 0);
    snprintf(path, sizeof path, "%s.4.5", path_of(1));
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/%02x", directory, key_number(1).byte[0] ^ 1u);
    write_file(path, image, LENGTH); /* no directory */
    ha_cache_trim(directory, 0, time(NULL) + 2 * HA_CACHE_HALF_DONE);
    assert_int_equal(count_files(), 6);
    assert_false(get(1));
    assert_int_equal(access(path, F_OK), 0);
    ha_cache_trim("/nowhere", 0, 0); /* no error */
}

/* More than there is room for at first; of the same second, and of the same moment, too. */
TEST(many_files) {
    const uint64_t one = sizeof(ha_cache_head) + LENGTH;
    for (int i = 0; i < 150; i++) {
        const struct timespec when = {1000, i < 50 ? 70 - i : 500};
        put(i);
        assert_int_equal(utimensat(AT_FDCWD, path_of(i), (const struct timespec[2]){when, when}, 0),
                         0);
    }
    ha_cache_trim(directory, 120 * one, 2000);
    assert_int_equal(count_files(), 120);
    for (int i = 0; i < 50; i++) {
        const int is_there = access(path_of(i), F_OK) == 0;
        assert_int_equal(is_there, i < 20);
    }
    ha_cache_trim(directory, 10 * one, 2000);
    assert_int_equal(count_files(), 10);
}

/* Looked at when a process writes for the first time, and not again. */
TEST(looked_at_once_a_process) {
    put(1);
    assert_int_equal(truncate(path_of(1), (off_t)ha_cache_most), 0); /* takes no room on the disk */
    used_at(1, 1000);
    put(2);
    assert_int_equal(count_files(), 2);
    ha_cache_trimmed = 0;
    put(3);
    assert_int_equal(count_files(), 2);
    assert_true(get(2) && get(3));
}

/* ---- more directories --------------------------------------------------------------------------- */

TEST(others_are_read_and_not_written) {
    put(1);
    snprintf(settings->more_caches, sizeof settings->more_caches, "/nowhere:%s::/nor/here",
             directory);
    settings->cache[0] = 0;
    assert_true(get(1));
    put(2);
    assert_false(get(2));
    snprintf(settings->cache, sizeof settings->cache, "/nowhere");
    assert_true(get(1));
}

/* ---- the environment ---------------------------------------------------------------------------- */

static ha_kernel_settings settings_of(const char *text) {
    ha_kernel_settings s;
    ha_kernel_settings_read(&s, text);
    return s;
}

TEST(what_the_environment_says) {
    ha_kernel_settings s = settings_of("strict,dump=/a b,cache=/c:/d,contract");
    assert_true(s.strict && s.contract && !*s.wrong);
    assert_string_equal(s.dump, "/a b");
    assert_string_equal(s.more_caches, "/c:/d");
    s = settings_of(NULL);
    assert_true(!s.strict && !s.contract && !*s.wrong && !*s.dump && !*s.more_caches);
    assert_string_equal(settings_of("").wrong, "");
}

TEST(what_it_says_that_nobody_knows) {
    static const char *const texts[][2] = {
        {"strikt", "strikt"},          {"strict,dump=", "dump="}, {"contract=1", "contract=1"},
        {"cache=", "cache="},          {",strict", ","},          {"a,b", "a"},
        {"strict ,dump=x", "strict "}, {"contrakt", "contrakt"},  {"dumb=/a,b", "dumb=/a"},
        {"cachet=/a", "cachet=/a"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(settings_of(texts[i][0]).wrong, texts[i][1]);
}

/* Names that there is no room for are not known either: half a name would be another directory. */
TEST(names_that_are_too_long) {
    static const char *const words[] = {"dump=", "cache="};
    static char text[HA_SETTING_BYTES + 10];
    for (int i = 0; i < 2; i++) {
        memset(text, 'a', sizeof text - 1);
        memcpy(text, words[i], strlen(words[i]));
        const ha_kernel_settings s = settings_of(text);
        assert_true(!*s.dump && !*s.more_caches);
        assert_int_equal(strncmp(s.wrong, words[i], strlen(words[i])), 0);
        text[HA_SETTING_BYTES - 1] = 0;
        assert_string_equal(settings_of(text).wrong, "");
    }
}

static void expect_directory(const char *harray, const char *xdg, const char *home,
                             const char *expected) {
    const char *names[] = {"HARRAY_CACHE", "XDG_CACHE_HOME", "HOME"},
               *values[] = {harray, xdg, home};
    char found[HA_SETTING_BYTES];
    for (int i = 0; i < 3; i++) values[i] ? setenv(names[i], values[i], 1) : unsetenv(names[i]);
    ha_cache_directory(found);
    assert_string_equal(found, expected);
}

TEST(where_the_cache_is) {
    expect_directory("/a", "/x", "/h", "/a");
    expect_directory(NULL, "/x", "/h", "/x/harray");
    expect_directory("", "/x", "/h", "/x/harray");
    expect_directory(NULL, NULL, "/h", "/h/.cache/harray");
    expect_directory(NULL, NULL, NULL, "");
    expect_directory("off", "/x", "/h", "");
    expect_directory(NULL, "x", "/h", "/h/.cache/harray"); /* not where the program happens to be */
    static char longest[HA_SETTING_BYTES];
    memset(longest, 'a', sizeof longest - 1);
    *longest = '/';
    expect_directory(longest, NULL, NULL, longest);
    expect_directory(NULL, longest, "/h", ""); /* half a name would be another directory */
}

/* ---- launches ----------------------------------------------------------------------------------- */

HA_KERNEL(doubled, ((inout, int, x)), i, { x[i] *= 2; });

/* Refused on devices, where it would matter; the host compiles nothing. */
TEST(launches_tell_it) {
    harray_int x = harray_int_filled(10, 1);
    snprintf(settings->wrong, sizeof settings->wrong, "strikt");
    C = ha_context_find("sim:0");
    assert_int_equal(doubled(C, HA_ALL_LANES, x), HA_ERR_ARGUMENT);
    const ha_error e = ha_take_error();
    assert_non_null(strstr(e.text, "'strikt'"));
    assert_non_null(strstr(e.text, "HARRAY_KERNELS"));
    assert_int_equal(doubled(ha_host(), HA_ALL_LANES, x), HA_OK);
    HA_READING(v, x, ha_host()) assert_int_equal(v.data[9], 2);
    settings->wrong[0] = 0;
    settings->strict = 1;
    assert_int_equal(doubled(C, HA_ALL_LANES, x), HA_ERR_UNSUPPORTED);
    assert_non_null(strstr(ha_take_error().text, "HARRAY_KERNELS=strict"));
    HA_READING(v, x, ha_host()) assert_int_equal(v.data[9], 2);
    assert_int_equal(harray_int_free(&x), HA_OK);
    assert_int_equal(ha_shutdown(), HA_OK);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_of_the_standard),
        cmocka_unit_test(digests_in_pieces),
        cmocka_unit_test(fields_are_not_run_together),
        CACHED(what_is_written_is_found),
        CACHED(files_that_are_damaged),
        CACHED(files_that_are_mixed_up),
        CACHED(calls_that_do_not_finish),
        CACHED(a_directory_in_its_place),
        CACHED(a_pipe_in_its_place),
        CACHED(paths_that_are_too_long),
        CACHED(sixty_four_processes_at_once),
        CACHED(killed_while_writing),
        CACHED(switched_off),
        CACHED(a_directory_that_is_only_read),
        CACHED(a_disk_that_is_full),
        CACHED(at_most_so_many_bytes),
        CACHED(others_files_stay),
        CACHED(many_files),
        CACHED(looked_at_once_a_process),
        CACHED(others_are_read_and_not_written),
        CACHED(what_the_environment_says),
        CACHED(what_it_says_that_nobody_knows),
        CACHED(names_that_are_too_long),
        CACHED(where_the_cache_is),
        CACHED(launches_tell_it),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
