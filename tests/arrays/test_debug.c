/* What HARRAY_DEBUG finds. Each mistake is made in a child, and what that prints and how it ends is
 * compared with what it announced itself. The program itself never calls harray, so that a child is
 * not one that was forked from a user of it. */
#define _GNU_SOURCE 1
#include <sys/mman.h>

/* Two calls of the system can be made to fail. */
static int mappings_left = 1 << 30, files_left = 1 << 30;

static int failing_mprotect(void *address, size_t bytes, int protection) {
    if (protection != (PROT_READ | PROT_WRITE) && mappings_left-- <= 0) return -1;
    return mprotect(address, bytes, protection);
}

static int failing_memfd_create(const char *name, unsigned flags) {
    return files_left-- > 0 ? memfd_create(name, flags) : -1;
}

#define mprotect failing_mprotect
#define memfd_create failing_memfd_create
#define HARRAY_DEBUG
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#undef mprotect
#undef memfd_create

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "../support/mistakes.h"

static void plain(int signal) { _exit(signal == SIGSEGV ? 7 : 8); }

/* ---- on the host ---------------------------------------------------------------------------- */

CRASHES(write_through_a_read) {
    harray_double u = named("u", 1000);
    HA_READING(v, u, ha_host()) {
        expect("a write through a read access of array 'u' (double[1000]), opened at %s:%d",
               __FILE__, __LINE__ - 2);
        CHECK(peek(v.data + 999) == 0);
        poke(v.data + 999);
    }
}

static const double *stale;

CRASHES(stale_read) {
    harray_double u = named("u", 1000);
    HA_WRITING(v, u, ha_host()) stale = v.data;
    expect("array 'u' (double[1000]) was touched without an open access; the last one was opened "
           "at %s:%d and closed",
           __FILE__, __LINE__ - 3);
    peek(stale + 500);
}

/* The last one is the last one at this place. */
CRASHES(stale_write) {
    harray_double u = named("u", 100000);
    double value;
    HA_READING(v, u, ha_host()) stale = v.data;
    expect("array 'u' (double[100000]) was touched without an open access; the last one was opened "
           "at %s:%d and closed",
           __FILE__, __LINE__ - 3);
    HA_WRITING_RANGE(v, u, ha_host(), 0, 5) CHECK(v.data == stale);
    CHECK(harray_double_get(u, 7, &value) == HA_OK);
    poke(stale + 99999);
}

CRASHES(behind_the_end) {
    harray_double u = named("u", 1000);
    HA_WRITING(v, u, ha_host()) {
        expect("touched behind the end of array 'u' (double[1000]), opened at %s:%d", __FILE__,
               __LINE__ - 2);
        poke(v.data + 999);
        poke(v.data + 1000);
    }
}

CRASHES(before_the_beginning) {
    harray_double u = named("u", 1000);
    HA_READING(v, u, ha_host()) {
        expect("touched before the beginning of array 'u' (double[1000]), opened at %s:%d",
               __FILE__, __LINE__ - 2);
        peek(v.data - 1024);
    }
}

CRASHES(outside_a_range) {
    harray_double u = named("u", 100000);
    HA_WRITING_RANGE(v, u, ha_host(), 1000, 2000) {
        expect("array 'u' (double[100000]) was touched outside of what is open: [1000, 2000), "
               "opened at %s:%d",
               __FILE__, __LINE__ - 3);
        poke(v.data);
        poke(v.data + 999);
        poke(v.data + 9000);
    }
}

/* The page is open for reading, as another access needs it. */
CRASHES(of_two_the_one_that_reads) {
    harray_double u = named("u", 100000);
    HA_WRITING_RANGE(w, u, ha_host(), 50000, 100000)
    HA_READING_RANGE(v, u, ha_host(), 0, 50000) {
        expect("a write through a read access of array 'u' (double[100000]), opened at %s:%d",
               __FILE__, __LINE__ - 2);
        poke(w.data + 1000);
        poke(v.data + 1000);
    }
}

/* Behind what is reserved for it. */
CRASHES(far_behind_the_end) {
    harray_double v = named("v", 1000);
    HA_READING(r, v, ha_host()) {
        expect("touched behind the end of array 'v' (double[1000]), opened at %s:%d", __FILE__,
               __LINE__ - 2);
        peek(r.data + 20000);
    }
}

/* Nothing is known of the address, but what is near. */
CRASHES(near_no_array) {
    harray_double v = named("v", 1000);
    const size_t far = (size_t)64 << 20;
    char *alone = (char *)mmap(NULL, 2 * far, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    HA_READING(r, v, ha_host()) {
        char *address = alone + far;
        const char *data = (const char *)r.data;
        const int behind = address > data;
        expect("touched what is %zu bytes %s of the nearest array, 'v' (double[1000]), opened at "
               "%s:%d",
               behind ? (size_t)(address - data) - 8000 : (size_t)(data - address),
               behind ? "behind the end" : "before the beginning", __FILE__, __LINE__ - 7);
        peek((const double *)(const void *)address);
    }
}

/* More accesses than are remembered. */
CRASHES(many_accesses) {
    harray_double u = named("u", 1000);
    ha_read_double v[20];
    for (int i = 0; i < 20; i++) CHECK(ha_open(&v[i], u.array, NULL, HA_READ, 0, HA_END) == HA_OK);
    expect("a write through a read access of array 'u' (double[1000]), opened at %s:%d", __FILE__,
           __LINE__ - 2);
    poke(v[0].data);
}

CRASHES(after_freeing) {
    harray_double u = named("u", 1000);
    HA_WRITING(v, u, ha_host()) stale = v.data;
    expect("array 'u' (double[1000]) was touched where its memory was: it was given back since, by "
           "freeing, growing or the like; it was last opened at %s:%d",
           __FILE__, __LINE__ - 3);
    CHECK(harray_double_free(&u) == HA_OK);
    peek(stale);
}

CRASHES(after_growing) {
    harray_double u = named("u", 1000);
    HA_WRITING(v, u, ha_host()) {
        stale = v.data;
        expect("array 'u' (double[1000]) was touched where its memory was: it was given back "
               "since, by freeing, growing or the like; it was last opened at %s:%d",
               __FILE__, __LINE__ - 4);
        CHECK(ha_access_resize(&v, 2000) == HA_OK);
        poke(v.data + 1999);
        poke(stale);
    }
}

/* Inside the library, with whatever it may hold. */
CRASHES(inside_the_library) {
    harray_double u = named("u", 1000);
    HA_READING(v, u, ha_host()) stale = v.data;
    expect("array 'u' (double[1000]) was touched without an open access; the last one was opened "
           "at %s:%d and closed",
           __FILE__, __LINE__ - 3);
    (void)harray_double_of(1000, stale);
}

/* ---- beside the pages ----------------------------------------------------------------------- */

GOES_ON(written_behind_the_end) {
    harray_double u = named("u", 1001);
    HA_WRITING(v, u, ha_host()) {
        expect("wrote behind the end of array 'u' (double[1001]), opened at %s:%d", __FILE__,
               __LINE__ - 2);
        poke(v.data + 1001);
    }
    HA_WRITING(v, u, ha_host()) poke(v.data + 1000);
    CHECK(harray_double_free(&u) == HA_OK);
}

GOES_ON(written_before_the_beginning) {
    harray_double u = named("u", 1001);
    HA_WRITING(v, u, ha_host()) {
        expect("wrote before the beginning of array 'u' (double[1001]), opened at %s:%d", __FILE__,
               __LINE__ - 2);
        poke(v.data - 1);
    }
}

/* The block goes before the access is closed. */
GOES_ON(found_when_the_block_goes) {
    harray_double u = named("u", 1001);
    HA_WRITING(v, u, ha_host()) {
        expect("wrote behind the end of array 'u' (double[1001]), last opened for writing at %s:%d",
               __FILE__, __LINE__ - 2);
        poke(v.data + 1001);
        CHECK(ha_access_resize(&v, 100000) == HA_OK);
    }
}

/* ---- on a device ---------------------------------------------------------------------------- */

CRASHES(device_memory) {
    harray_double u = named("u", 1000);
    HA_READING(v, u, ha_context_find("sim:0")) {
        expect("address %p is device memory of sim:0 (array 'u' (double[1000]), opened at %s:%d): "
               "touch it on its queue, in a kernel or through HA_HERE, or open the access on the "
               "host",
               (const void *)(v.data + 5), __FILE__, __LINE__ - 4);
        peek(v.data + 5);
    }
}

static void forgets_here(HA_UNUSED const ha_queue *queue, void *argument) {
    poke(((ha_write_double *)argument)->data);
}

CRASHES(on_a_queue_without_here) {
    ha_context *sim = ha_context_find("sim:1");
    harray_double u = named("u", 1000);
    HA_WRITING(v, u, sim) {
        expect("address %p is device memory of sim:1 (array 'u' (double[1000]), opened at %s:%d): "
               "touch it on its queue, in a kernel or through HA_HERE, or open the access on the "
               "host",
               (const void *)v.data, __FILE__, __LINE__ - 4);
        HA_RUN(forgets_here, v);
    }
    CHECK(ha_context_finish(sim) == HA_OK);
}

/* ---- arrays that were freed ----------------------------------------------------------------- */

static void check_freed(const char *operation) {
    const ha_error e = ha_take_error();
    /* Behind the line, or a text that has none. */
    const char *text = strncmp(e.text, __FILE__ ":", sizeof __FILE__) ? e.text
                                                                      : strstr(e.text, ": ");
    if (text != e.text) text += text ? 2 : 0;
    if (e.status == HA_ERR_STATE && !strcmp(e.operation, operation) && text &&
        !strcmp(text, "array 'u' (double[10]) was freed"))
        return;
    fprintf(stderr, "not told: %s (%s: %s)\n", operation, e.operation ? e.operation : "", e.text);
    _exit(3);
}

#define FREED(operation, expr)                                                                     \
    do {                                                                                           \
        CHECK((expr) == HA_ERR_STATE);                                                             \
        check_freed(operation);                                                                    \
    } while (0)
#define FREED_0(operation, expr)                                                                   \
    do {                                                                                           \
        CHECK(!(expr));                                                                            \
        check_freed(operation);                                                                    \
    } while (0)

GOES_ON(opening_a_freed_array) {
    harray_double u = named("u", 10), x = u;
    ha_access v;
    CHECK(harray_double_free(&u) == HA_OK);
    FREED("ha_open", ha_open(&v, x.array, NULL, HA_READ, 0, HA_END));
    FREED("ha_open", ha_open(&v, x.array, NULL, HA_WRITE | HA_TRY, 0, 1));
    FREED("ha_overwrite", ha_overwrite(&v, x.array, NULL, 5, HA_WAIT));
    FREED("ha_array_prefetch", ha_array_prefetch(x.array, NULL, 0, 1));
    FREED("ha_read_anywhere", ha_read_anywhere(&v, x.array, NULL, 0, HA_END));
    ha_request request = {.access = &v, .array = x.array, .last = HA_END};
    FREED("ha_open_many", ha_open_many(&request, 1));
    FREED("ha_sync", ha_sync(x.array));
    FREED("ha_unwrap", ha_unwrap(x.array));
}

GOES_ON(changing_a_freed_array) {
    harray_double u = named("u", 10), x = u, y = named("y", 10);
    double value = 0;
    CHECK(harray_double_free(&u) == HA_OK);
    FREED("ha_array_free", ha_array_free(x.array));
    FREED("ha_array_resize", ha_array_resize(x.array, 3));
    FREED("ha_array_resize", ha_array_clear(x.array));
    FREED("ha_array_purge", ha_array_purge(x.array));
    FREED("ha_array_reserve", ha_array_reserve(x.array, NULL, 3));
    FREED("ha_array_swap", ha_array_swap(x.array, y.array));
    FREED("ha_array_swap", ha_array_swap(y.array, x.array));
    FREED("ha_array_take", ha_array_take(y.array, x.array));
    FREED("ha_array_assign", ha_array_assign(y.array, x.array));
    FREED("ha_array_assign_at", ha_array_assign_at(x.array, y.array, NULL));
    FREED("ha_array_get", ha_array_get(x.array, 0, &value));
    FREED("ha_array_set", ha_array_set(x.array, 0, &value));
    CHECK(harray_double_free(&y) == HA_OK);
}

GOES_ON(asking_a_freed_array) {
    harray_double u = named("u", 10), x = u;
    char text[30];
    CHECK(harray_double_free(&u) == HA_OK);
    FREED_0("ha_array_like", ha_array_like(x.array));
    FREED_0("ha_array_copy", ha_array_copy(x.array));
    FREED_0("ha_array_size", ha_array_size(x.array));
    FREED_0("ha_array_version", ha_array_version(x.array));
    FREED_0("ha_array_capacity", ha_array_capacity(x.array, NULL));
    FREED_0("ha_array_valid", ha_array_valid(x.array, NULL, 0, 1));
    FREED_0("ha_array_valid_ranges", ha_array_valid_ranges(x.array, NULL, NULL, 0));
    FREED_0("ha_array_statistics", ha_array_statistics(x.array).bytes);
    CHECK(ha_array_retain(x.array) == x.array);
    check_freed("ha_array_retain");
    ha_array_set_name(x.array, "other");
    check_freed("ha_array_set_name");
    CHECK(ha_describe(x.array, text, sizeof text) > 0 && !strcmp(text, "no array\n"));
    check_freed("ha_describe");
    CHECK(ha_array_valid_context(x.array) == ha_host());
    check_freed("ha_array_valid_context");
}

/* For so many further ones nobody takes another array for it. */
GOES_ON(many_freed_arrays) {
    harray_double u = named("u", 10), x = u;
    CHECK(harray_double_free(&u) == HA_OK);
    for (int i = 1; i < HA_KEPT; i++)
        CHECK(ha_array_free(ha_array_new(harray_double_type(), 0, NULL)) == HA_OK);
    FREED("ha_array_free", ha_array_free(x.array));
}

/* Neither are the addresses of all blocks. */
GOES_ON(many_freed_blocks) {
    for (int i = 0; i < HA_GUARDS_RELEASED + 500; i++) {
        harray_double x = harray_double_zeros(10);
        CHECK(x.array && harray_double_free(&x) == HA_OK);
        CHECK(ha_guards.count <= HA_GUARDS_RELEASED && ha_faults.gone <= HA_KNOWN_GONE_KEPT + 1);
    }
    CHECK(ha_guards.count == HA_GUARDS_RELEASED && ha_faults.gone == HA_KNOWN_GONE_KEPT + 1);
    for (int i = 0; i < 3; i++) {
        harray_double big = harray_double_new(HA_GUARDS_RELEASED_BYTES_ / 32);
        CHECK(big.array && harray_double_free(&big) == HA_OK);
    }
    CHECK(ha_guards.bytes <= HA_GUARDS_RELEASED_BYTES_ && ha_guards.count < HA_GUARDS_RELEASED);
}

/* ---- the caller's memory -------------------------------------------------------------------- */

enum { WRAPPED = 5000 };

static double *own_memory(void) {
    double *p = (double *)mmap(NULL, WRAPPED * sizeof *p, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);
    for (size_t i = 0; i < WRAPPED; i++) p[i] = (double)i;
    return p;
}

CRASHES(wrapped_memory_without_an_access) {
    double *own = own_memory();
    harray_double x = harray_double_wrap(own, WRAPPED);
    harray_double_set_name(x, "x");
    HA_WRITING(v, x, ha_host()) CHECK(v.data == own && peek(own + 2000) == 2000);
    expect("array 'x' (double[5000]) was touched without an open access; the last one was opened "
           "at %s:%d and closed",
           __FILE__, __LINE__ - 3);
    peek(own + 2000);
}

CRASHES(wrapped_memory_that_was_never_opened) {
    double *own = own_memory();
    harray_double x = harray_double_wrap(own, WRAPPED);
    expect("array (double[5000]) was touched without an open access; none was opened on the host "
           "yet");
    CHECK(x.array);
    poke(own + 2000);
}

CRASHES(a_write_through_a_read_of_wrapped_memory) {
    double *own = own_memory();
    harray_double x = harray_double_wrap(own, WRAPPED);
    HA_READING(v, x, ha_host()) {
        expect("a write through a read access of array (double[5000]), opened at %s:%d", __FILE__,
               __LINE__ - 2);
        CHECK(peek(own + 2000) == 2000);
        poke(v.data + 2000);
    }
}

CRASHES(wrapped_memory_that_a_device_writes) {
    double *own = own_memory();
    harray_double x = harray_double_wrap(own, WRAPPED);
    CHECK(harray_double_sync(x) == HA_OK && peek(own + 2000) == 2000); /* it may be read */
    HA_WRITING(v, x, ha_context_find("sim:0")) {
        expect("array (double[5000]) was touched without an open access; none was opened on the "
               "host yet");
        CHECK(ha_wait(&v) == HA_OK);
    }
    HA_WRITING(v, x, ha_context_find("sim:0")) CHECK(v.data); /* by now the copy has happened */
    peek(own + 2000);
}

/* The engine reaches it, a sync and the end open it, and its neighbours were never closed. */
GOES_ON(wrapped_memory_is_used) {
    double *own = own_memory(), value;
    harray_double x = harray_double_wrap(own + 3, WRAPPED - 6);
    ha_context *sim = ha_context_find("sim:0");
    CHECK(peek(own + 2) == 2 && peek(own + WRAPPED - 3) == WRAPPED - 3);
    for (int i = 0; i < 3; i++) {
        HA_WRITING(v, x, sim) CHECK(v.size == WRAPPED - 6);
        HA_WRITING_RANGE(v, x, ha_host(), 1000, 3000) poke(v.data + 1000);
        CHECK(harray_double_get(x, 4000, &value) == HA_OK && value == 4003);
        CHECK(harray_double_set(x, 4000, 4003) == HA_OK);
        harray_double y = harray_double_copy(x);
        CHECK(harray_double_free(&y) == HA_OK);
    }
    CHECK(harray_double_sync(x) == HA_OK && peek(own + 2003) == 1);
    HA_WRITING(v, x, sim) CHECK(v.data);
    CHECK(harray_double_unwrap(&x) == HA_OK);
    poke(own + 2500);
    harray_double z = harray_double_wrap_const(own, WRAPPED);
    CHECK(peek(own + 2500) == 1);
    CHECK(harray_double_unwrap(&z) == HA_OK && ha_shutdown() == HA_OK);
    poke(own + 2500);
}

/* ---- fork ----------------------------------------------------------------------------------- */

/* A child has a copy, in which it may touch what is open, and nothing else. */
GOES_ON(a_child_has_its_own_bytes) {
    int status = 0;
    double *own = own_memory();
    harray_double u = named("u", 5000), x = harray_double_wrap(own, WRAPPED);
    HA_WRITING(v, u, ha_host()) {
        v.data[17] = 4;
        const pid_t child = fork();
        if (child == 0) {
            const int same = v.data[17] == 4 && v.data[4999] == 0 && peek(own + 2000) == 2000;
            v.data[17] = v.data[4000] = 5;
            poke(own + 2000);
            _exit(same && v.data[17] == 5 ? 6 : 1);
        }
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 6);
        CHECK(v.data[17] == 4 && v.data[4000] == 0);
    }
    HA_READING(v, x, ha_host()) CHECK(v.data[2000] == 2000);
    HA_READING(v, u, ha_host()) {
        const pid_t child = fork();
        if (child == 0) {
            signal(SIGSEGV, plain);
            poke(v.data + 17);
            _exit(1);
        }
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    CHECK(harray_double_unwrap(&x) == HA_OK && harray_double_free(&u) == HA_OK);
}

/* ---- what is not to be told ----------------------------------------------------------------- */

/* The caller's own memory is the caller's to touch. */
GOES_ON(wrapped_memory) {
    double mine[100] = {1};
    harray_double x = harray_double_wrap(mine, 100);
    HA_WRITING(v, x, ha_host()) CHECK(v.data == mine);
    mine[5] = 2;
    HA_READING(v, x, ha_host()) mine[6] = v.data[5];
    CHECK(harray_double_unwrap(&x) == HA_OK);
}

static void add_one(const ha_queue *queue, void *argument) {
    const ha_write_double *v = (const ha_write_double *)argument;
    double *p = HA_HERE(queue, double, v->data);
    for (size_t i = 0; i < v->size; i++) p[i] += 1;
}

/* Queues go on with the bytes when no access is open on the host any more. */
GOES_ON(work_behind_closed_accesses) {
    ha_context *sim = ha_context_find("sim:0");
    harray_double x = named("x", 5000);
    CHECK(sim && ha_sim_hold(sim) == HA_OK);
    HA_WRITING(v, x, ha_host()) v.data[4999] = 7;
    HA_WRITING(v, x, sim) HA_RUN(add_one, v);
    CHECK(ha_array_prefetch(x.array, ha_host(), 0, HA_END) == HA_OK);
    CHECK(ha_sim_step(sim, -1) == HA_OK);
    HA_READING(v, x, ha_host()) CHECK(v.data[4999] == 8 && v.data[0] == 1);
    CHECK(harray_double_free(&x) == HA_OK && ha_shutdown() == HA_OK);
}

/* A zero-copy queue works on the same bytes, through addresses that stay open. */
CRASHES(zero_copy) {
    const ha_sim_options unified = {.unified = 1};
    CHECK(ha_sim_configure(&unified) == HA_OK);
    ha_context *sim = ha_context_find("sim:0");
    CHECK(sim && ha_context_is_zero_copy(sim) && ha_sim_hold(sim) == HA_OK);
    harray_double u = named("u", 5000);
    HA_WRITING(v, u, ha_host()) {
        stale = v.data;
        expect("array 'u' (double[5000]) was touched without an open access; the last one was "
               "opened at %s:%d and closed",
               __FILE__, __LINE__ + 4);
    }
    HA_WRITING(v, u, sim) HA_RUN(add_one, v);
    CHECK(ha_sim_step(sim, -1) == HA_OK);
    HA_READING(v, u, ha_host()) CHECK(v.data == stale && v.data[4999] == 1);
    poke(stale);
}

/* What a resized access covers is open, and is closed with it. */
GOES_ON(resized_accesses) {
    harray_double x = named("x", 10000);
    HA_WRITING(v, x, ha_host()) {
        for (size_t n = 20000; n > 100; n -= 1990) {
            CHECK(ha_access_resize(&v, n) == HA_OK && v.size == n);
            for (size_t i = 0; i < n; i++) v.data[i] = (double)i;
        }
        CHECK(ha_access_reserve(&v, 50000) == HA_OK && ha_access_resize(&v, 0) == HA_OK);
        CHECK(!v.data && ha_access_resize(&v, 40000) == HA_OK);
        poke(v.data + 39999);
    }
    const ha_guarded *g = ha_guarded_find(x.array->first.block->data);
    CHECK(g);
    for (size_t i = 0; i < g->pages; i++) CHECK(!g->page[i].writers && !g->page[i].readers);
}

CRASHES(tokens) {
    harray_double u = named("u", 1000);
    ha_token t = {0};
    HA_WRITING(v, u, ha_host()) {
        expect("array 'u' (double[1000]) was touched without an open access; the last one was "
               "opened at %s:%d and closed",
               __FILE__, __LINE__ - 3);
        stale = v.data;
        CHECK(ha_detach(&t, &v) == HA_OK);
    }
    poke(stale + 999);
    CHECK(ha_token_finish(&t) == HA_OK);
    poke(stale + 999);
}

static void add_to_host(HA_UNUSED const ha_queue *queue, void *argument) {
    poke(*(double **)argument);
}

/* Until the queue is there; closed by the next one who opens it. */
CRASHES(tokens_behind_a_queue) {
    ha_context *sim = ha_context_find("sim:0");
    harray_double u = named("u", 1000);
    ha_token t = {0};
    CHECK(sim && ha_sim_hold(sim) == HA_OK);
    HA_WRITING(v, u, ha_host()) {
        stale = v.data;
        CHECK(ha_enqueue(sim, add_to_host, &stale, sizeof stale) == HA_OK);
        CHECK(ha_detach(&t, &v) == HA_OK && ha_token_end_at(&t, sim) == HA_OK);
    }
    CHECK(ha_sim_step(sim, -1) == HA_OK);
    HA_READING(v, u, ha_host()) CHECK(v.data[0] == 1);
    expect("array 'u' (double[1000]) was touched without an open access; the last one was opened "
           "at %s:%d and closed",
           __FILE__, __LINE__ - 3);
    poke(stale);
}

static void copy_next(const ha_queue *queue, void *argument) {
    const ha_write_double *v = (const ha_write_double *)argument;
    double *p = HA_HERE(queue, double, v->data);
    p[0] = p[v->size];
}

/* The simulated device is strict without being told. */
GOES_ON(beside_an_access_on_a_queue) {
    ha_context *sim = ha_context_find("sim:0");
    harray_double u = named("u", 1000);
    double first = 0, next = 1;
    CHECK(sim);
    HA_READING(v, u, sim) {} /* all of it has values there */
    HA_WRITING_RANGE(v, u, sim, 0, 10) HA_RUN(copy_next, v);
    CHECK(harray_double_get(u, 0, &first) == HA_OK && isnan(first));
    CHECK(harray_double_get(u, 10, &next) == HA_OK && next == 0);
    CHECK(harray_double_free(&u) == HA_OK);
}

/* ---- elements without a value --------------------------------------------------------------- */

/* Whoever adds to what is overwritten, or to what was never written, gets no number, also on the host. */
GOES_ON(what_has_no_value_is_poisoned) {
    const uint64_t poison = 0x7FF4DEAD7FF4DEAD;
    harray_double u = named("u", 1000);
    HA_WRITING(v, u, ha_host()) memset(v.data, 0, v.size * sizeof *v.data);
    HA_OVERWRITING_RANGE(v, u, ha_host(), 100, 300)
    for (size_t i = 0; i < v.size; i++) CHECK(memcmp(&v.data[i], &poison, sizeof poison) == 0);
    HA_READING(v, u, ha_host()) {
        CHECK(v.data[99] == 0 && v.data[300] == 0);
        CHECK(isnan(v.data[100]) && isnan(v.data[299]));
    }
    harray_double fresh = harray_double_new(10);
    HA_WRITING(v, fresh, ha_host())
    for (size_t i = 0; i < v.size; i++) CHECK(memcmp(&v.data[i], &poison, sizeof poison) == 0);
    CHECK(harray_double_free(&u) == HA_OK && harray_double_free(&fresh) == HA_OK);
}

/* ---- threads -------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 1500, PART = 700 }; /* parts share pages, and begin inside them */

static harray_double shared;
static uint64_t total;

/* Writes its own part, and reads a part of what nobody writes. */
static void *open_and_close(void *argument) {
    size_t part = *(const size_t *)argument, first = part * PART;
    double sum = 0;
    for (size_t round = 0; round < ROUNDS; round++) {
        size_t from = THREADS * PART + (round * 37 + part * 11) % 900;
        HA_WRITING_RANGE(v, shared, ha_host(), first, first + PART) {
            HA_READING_RANGE(r, shared, ha_host(), from, from + 1 + round % 600)
            for (size_t i = 0; i < r.size; i++) sum += r.data[i];
            for (size_t i = 0; i < PART; i += 50) v.data[i] += 1;
        }
    }
    __atomic_fetch_add(&total, (uint64_t)sum, __ATOMIC_RELAXED);
    return NULL;
}

GOES_ON(ranges_of_many_threads) {
    pthread_t thread[THREADS];
    size_t part[THREADS];
    shared = named("shared", THREADS * PART + 1500);
    for (size_t i = 0; i < THREADS; i++) {
        part[i] = i;
        CHECK(pthread_create(&thread[i], NULL, open_and_close, &part[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    for (size_t i = 0; i < THREADS * PART; i += 50) {
        double value;
        CHECK(harray_double_get(shared, i, &value) == HA_OK && value == ROUNDS);
    }
    const ha_guarded *g = ha_guarded_find(shared.array->first.block->data);
    CHECK(g && total == 0);
    for (size_t i = 0; i < g->pages; i++) CHECK(!g->page[i].writers && !g->page[i].readers);
    CHECK(harray_double_free(&shared) == HA_OK && ha_shutdown() == HA_OK);
}

static pthread_barrier_t together;

static void *touch_together(void *argument) {
    pthread_barrier_wait(&together);
    poke((const double *)argument);
    return NULL;
}

/* Each may be told, or the program be gone before; none hangs. */
static void many_threads_fault(void) {
    pthread_t thread[THREADS];
    harray_double u = named("u", 1000);
    HA_WRITING(v, u, ha_host()) stale = v.data;
    pthread_barrier_init(&together, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, touch_together, (void *)(uintptr_t)(stale + i));
    for (size_t i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
}

static void many_threads(HA_UNUSED void **state) {
    const outcome o = run_child(many_threads_fault);
    assert_true(WIFSIGNALED(o.status) && WTERMSIG(o.status) == SIGSEGV);
    size_t lines = lines_with(o.text, "harray: array 'u' (double[1000]) was touched without");
    assert_true(lines >= 1 && lines <= THREADS);
    assert_int_equal(lines_with(o.text, "harray: "), lines);
}

/* ---- other handlers ------------------------------------------------------------------------- */

static sigjmp_buf back;
static const void *told_address;

static void informed(int signal, siginfo_t *info, HA_UNUSED void *context) {
    told_address = info->si_addr;
    siglongjmp(back, signal);
}

/* It is called, and the program goes on as it likes. */
GOES_ON(a_handler_that_comes_back) {
    struct sigaction action = {.sa_sigaction = informed, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    harray_double u = named("u", 1000);
    HA_WRITING(v, u, ha_host()) stale = v.data;
    expect("array 'u' (double[1000]) was touched without an open access; the last one was opened "
           "at %s:%d and closed",
           __FILE__, __LINE__ - 3);
    if (!sigsetjmp(back, 1)) poke(stale + 3);
    CHECK(told_address == stale + 3);
    HA_WRITING(v, u, ha_host()) poke(stale + 3);
    CHECK(harray_double_free(&u) == HA_OK);
}

GOES_ON_TO(7, a_plain_handler) {
    signal(SIGSEGV, plain);
    harray_double u = named("u", 1000);
    HA_READING(v, u, ha_host()) {
        expect("a write through a read access of array 'u' (double[1000]), opened at %s:%d",
               __FILE__, __LINE__ - 2);
        poke(v.data);
    }
}

static void *no_memory; /* so that the compiler does not know */

static void another_fault_child(void) {
    (void)named("u", 1000);
    poke((const double *)no_memory);
}

static void a_sent_signal_child(void) {
    (void)named("u", 1000);
    raise(SIGSEGV);
}

static void other_faults(HA_UNUSED void **state) {
    void (*const children[])(void) = {another_fault_child, a_sent_signal_child};
    for (size_t i = 0; i < 2; i++) {
        const outcome o = run_child(children[i]);
        assert_true(WIFSIGNALED(o.status) && WTERMSIG(o.status) == SIGSEGV);
        assert_int_equal(check_lines(&o), 0);
    }
}

GOES_ON(an_ignored_signal) {
    signal(SIGSEGV, SIG_IGN);
    (void)named("u", 1000);
    raise(SIGSEGV);
    raise(SIGSEGV);
}

/* ha_shutdown puts back what was there, unless somebody came on top; then all begins again. */
GOES_ON(shutdown_ends_it) {
    struct sigaction now;
    for (int i = 0; i < 3; i++) {
        signal(SIGSEGV, plain);
        harray_double u = named("u", 1000);
        sigaction(SIGSEGV, NULL, &now);
        CHECK(now.sa_sigaction == ha_fault_handler);
        CHECK(harray_double_free(&u) == HA_OK && ha_shutdown() == HA_OK);
        sigaction(SIGSEGV, NULL, &now);
        CHECK(now.sa_handler == plain);
    }
    harray_double u = named("u", 1000);
    signal(SIGSEGV, SIG_DFL);
    CHECK(harray_double_free(&u) == HA_OK && ha_shutdown() == HA_OK);
    sigaction(SIGSEGV, NULL, &now);
    CHECK(now.sa_handler == SIG_DFL);
    u = named("u", 1000);
    CHECK(harray_double_free(&u) == HA_OK && ha_shutdown() == HA_OK);
}

/* ---- a system that has no more -------------------------------------------------------------- */

/* Without room for more mappings a block is not protected; nothing else changes. */
GOES_ON(no_more_mappings) {
    harray_double u = named("u", 100000);
    mappings_left = 0;
    for (int i = 0; i < 3; i++) {
        HA_READING_RANGE(v, u, ha_host(), 2000, 3000) stale = v.data;
        HA_WRITING(v, u, ha_host()) poke(v.data + 99999);
    }
    CHECK(ha_guarded_find(u.array->first.block->data)->given_up);
    poke(stale);
    CHECK(harray_double_free(&u) == HA_OK);
}

GOES_ON(no_more_files) {
    files_left = 0;
    CHECK(!harray_double_new(1000).array);
    const ha_error e = ha_take_error();
    CHECK(e.status == HA_ERR_MEMORY && strstr(e.text, "HARRAY_DEBUG"));
    files_left = 1;
    (void)named("u", 1000);
    CHECK(!ha_array_new(harray_double_type(), (size_t)1 << 50, NULL));
    CHECK(!ha_array_new(harray_double_type(), SIZE_MAX / 8, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_through_a_read),
        cmocka_unit_test(stale_read),
        cmocka_unit_test(stale_write),
        cmocka_unit_test(behind_the_end),
        cmocka_unit_test(before_the_beginning),
        cmocka_unit_test(outside_a_range),
        cmocka_unit_test(far_behind_the_end),
        cmocka_unit_test(near_no_array),
        cmocka_unit_test(wrapped_memory_without_an_access),
        cmocka_unit_test(wrapped_memory_that_was_never_opened),
        cmocka_unit_test(a_write_through_a_read_of_wrapped_memory),
        cmocka_unit_test(wrapped_memory_that_a_device_writes),
        cmocka_unit_test(wrapped_memory_is_used),
        cmocka_unit_test(a_child_has_its_own_bytes),
        cmocka_unit_test(of_two_the_one_that_reads),
        cmocka_unit_test(many_accesses),
        cmocka_unit_test(after_freeing),
        cmocka_unit_test(after_growing),
        cmocka_unit_test(inside_the_library),
        cmocka_unit_test(written_behind_the_end),
        cmocka_unit_test(written_before_the_beginning),
        cmocka_unit_test(found_when_the_block_goes),
        cmocka_unit_test(device_memory),
        cmocka_unit_test(on_a_queue_without_here),
        cmocka_unit_test(opening_a_freed_array),
        cmocka_unit_test(changing_a_freed_array),
        cmocka_unit_test(asking_a_freed_array),
        cmocka_unit_test(many_freed_arrays),
        cmocka_unit_test(many_freed_blocks),
        cmocka_unit_test(wrapped_memory),
        cmocka_unit_test(work_behind_closed_accesses),
        cmocka_unit_test(zero_copy),
        cmocka_unit_test(resized_accesses),
        cmocka_unit_test(tokens),
        cmocka_unit_test(tokens_behind_a_queue),
        cmocka_unit_test(beside_an_access_on_a_queue),
        cmocka_unit_test(what_has_no_value_is_poisoned),
        cmocka_unit_test(ranges_of_many_threads),
        cmocka_unit_test(many_threads),
        cmocka_unit_test(a_handler_that_comes_back),
        cmocka_unit_test(a_plain_handler),
        cmocka_unit_test(other_faults),
        cmocka_unit_test(an_ignored_signal),
        cmocka_unit_test(shutdown_ends_it),
        cmocka_unit_test(no_more_mappings),
        cmocka_unit_test(no_more_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
