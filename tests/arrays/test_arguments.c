/* What the headers promise about nothing: no array, no context, no elements, no memory, objects
 * that are not in use; and about calls from where none is allowed. Of memory.h, wrap.h, token.h,
 * instruments.h, and the newer part of access.h, context.h and sim.h; test_misuse has the rest. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/refusals.h"
#include <errno.h>
#include <sys/mman.h>

static ha_context *sim(void) {
    ha_context *c = ha_context_find("sim");
    assert_non_null(c);
    return c;
}

/* ---- wrap.h -------------------------------------------------------------------------------- */

TEST(wrapping_nothing) {
    double d[3] = {1, 2, 3};
    const ha_type type = harray_double_type(), no_type = {"nothing", 0};
    const ha_wrapped good = {d, NULL, 0}, null = {NULL, NULL, 0}, odd = {d, NULL, 64};
    const ha_wrapped twice[] = {{d, NULL, 0}, {d + 1, ha_host(), 0}};
    NONE(HA_ERR_ARGUMENT, ha_array_wrap(type, 3, NULL, 1));
    NONE(HA_ERR_ARGUMENT, ha_array_wrap(type, 3, NULL, 0));
    NONE(HA_ERR_ARGUMENT, ha_array_wrap(type, 3, &good, 0));
    NONE(HA_ERR_ARGUMENT, ha_array_wrap(type, 3, &null, 1));
    NONE(HA_ERR_ARGUMENT, ha_array_wrap(type, 3, &odd, 1));
    NONE(HA_ERR_ARGUMENT, ha_array_wrap(type, 1, twice, 2));
    NONE(HA_ERR_ARGUMENT, ha_array_wrap(no_type, 3, &good, 1));
    NONE(HA_ERR_MEMORY, ha_array_wrap(type, SIZE_MAX, &good, 1));
    NONE(HA_ERR_MEMORY, ha_array_wrap(type, SIZE_MAX / 2, &good, 1));
    ha_array *x = ha_array_wrap(type, 3, &good, 1); /* nothing of that owns it */
    assert_non_null(x);
    FINE(ha_unwrap(x));
}

/* "With n = 0 it is an ordinary empty array", whatever the pointer. */
TEST(wrapping_no_elements) {
    double d = 5;
    double *const pointers[] = {NULL, &d};
    for (int i = 0; i < 2; i++) {
        harray_double x = harray_double_wrap(pointers[i], 0);
        harray_double same = harray_double_wrap(&d, 1); /* an empty array owns nothing */
        assert_non_null(x.array);
        assert_non_null(same.array);
        FINE(harray_double_sync(x));
        FINE(harray_double_resize(x, 100)); /* it has memory of its own then */
        HA_OVERWRITING(v, x, sim(), 100) assert_int_equal(v.size, 100);
        else fail();
        FINE(harray_double_resize(x, 0));
        FINE(harray_double_free(&x));
        FINE(harray_double_unwrap(&same));
    }
    assert_true(d == 5);
}

TEST(no_wrapped_array) {
    harray_double x = three(), none = {NULL};
    REFUSED(HA_ERR_ARGUMENT, ha_sync(NULL));
    FINE(ha_unwrap(NULL));
    FINE(harray_double_unwrap(&none));
    FINE(harray_double_sync(x)); /* wraps nothing: nothing to do */
    REFUSED(HA_ERR_STATE, harray_double_unwrap(&x));
    assert_int_equal(harray_double_size(x), 3);
    FINE(harray_double_free(&x));
}

/* A NULL context is the current one. */
TEST(wrapping_at_the_current_context) {
    double d[3] = {1, 2, 3};
    HA_ON(sim()) {
        harray_double x = harray_double_wrap(d, 3); /* says host, whatever the current context */
        assert_non_null(x.array);
        assert_true(ha_array_valid(x.array, ha_host(), 0, HA_END));
        FINE(harray_double_unwrap(&x));
        const ha_wrapped piece = {d, NULL, HA_WRAP_UNWRITTEN};
        ha_array *y = ha_array_wrap(harray_double_type(), 3, &piece, 1);
        if (y) { /* only the device knows whether it could use such a pointer */
            assert_ptr_equal(ha_array_first_touch(y), sim());
            FINE(ha_unwrap(y));
        } else {
            assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
        }
    }
}

/* ---- access.h ------------------------------------------------------------------------------ */

TEST(opening_many_of_nothing) {
    harray_double x = three();
    ha_read_double v = {.status = HA_ERR_BUSY};
    ha_write_double w = {.status = HA_OK};
    ha_request r[] = {{.access = HA_ACCESS(&v), .array = x.array, .how = HA_READ, .last = HA_END},
                      {.access = HA_ACCESS(&w), .how = HA_WRITE, .last = HA_END}};
    FINE(ha_open_many(NULL, 0));
    FINE(ha_open_many(r, 0));
    assert_int_equal(v.status, HA_ERR_BUSY); /* not looked at */
    REFUSED(HA_ERR_ARGUMENT, ha_open_many(NULL, 1));
    REFUSED(HA_ERR_ARGUMENT, ha_open_many(r, 2));
    assert_null(v.array);
    assert_null(w.array);
    assert_int_equal(w.status, HA_ERR_ARGUMENT); /* the one that cannot be had */
    r[1] = (ha_request){.array = x.array, .how = HA_READ, .last = HA_END};
    REFUSED(HA_ERR_ARGUMENT, ha_open_many(r, 2));
    r[1] = (ha_request){.access = HA_ACCESS(&w), .array = x.array, .how = 99, .last = HA_END};
    REFUSED(HA_ERR_ARGUMENT, ha_open_many(r, 2));
    r[1] = (ha_request){
        .access = HA_ACCESS(&w), .array = x.array, .how = HA_READ, .first = 2, .last = 9};
    REFUSED(HA_ERR_ARGUMENT, ha_open_many(r, 2));
    assert_null(v.array);
    FINE(harray_double_resize(x, 5)); /* nobody holds it */
    FINE(harray_double_free(&x));
}

TEST(opening_many_without_elements) {
    harray_double x = harray_double_new(0), y = three();
    ha_access v[3];
    const ha_request r[] = {
        {.access = &v[0], .array = x.array, .how = HA_READ, .last = HA_END},
        {.access = &v[1],
         .array = y.array,
         .context = sim(),
         .how = HA_READ,
         .first = 1,
         .last = 1},
        {.access = &v[2], .array = y.array, .how = HA_OVERWRITE, .last = HA_END, .sets_size = 1}};
    ha_request used[3];
    memcpy(used, r, sizeof r);
    FINE(ha_open_many(used, 2));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(v[i].size, 0);
        FINE(ha_close(&v[i]));
    }
    FINE(ha_open_many(&used[2], 1)); /* its size becomes 0 */
    assert_int_equal(v[2].size, 0);
    FINE(ha_close(&v[2]));
    assert_int_equal(harray_double_size(y), 0);
    FINE(harray_double_free(&x));
    FINE(harray_double_free(&y));
}

TEST(waiting_for_nothing) {
    harray_double x = three();
    ha_read_double v = {0};
    REFUSED(HA_ERR_STATE, ha_wait(&v));
    FINE(ha_open(&v, x.array, NULL, HA_READ, 0, HA_END));
    const ha_read_double copy = v;
    FINE(ha_wait(&v));
    FINE(ha_wait(&v));
    FINE(ha_close(&v));
    REFUSED(HA_ERR_STATE, ha_wait(&v));
    v = copy;
    REFUSED(HA_ERR_STATE, ha_wait(&v));
    FINE(harray_double_free(&x));
}

TEST(reading_nothing_anywhere) {
    harray_double x = three(), none = harray_double_new(0), unwritten = harray_double_new(2);
    ha_access v;
    REFUSED(HA_ERR_ARGUMENT, ha_read_anywhere(&v, NULL, NULL, 0, HA_END));
    assert_null(v.array);
    REFUSED(HA_ERR_ARGUMENT, ha_read_anywhere(&v, x.array, NULL, 2, 4));
    REFUSED(HA_ERR_ARGUMENT, ha_read_anywhere(&v, x.array, NULL, 2, 1));
    REFUSED(HA_ERR_STATE, ha_read_anywhere(&v, unwritten.array, NULL, 0, HA_END));
    assert_int_equal(v.status, HA_ERR_STATE);
    FINE(ha_read_anywhere(&v, none.array, NULL, 0, HA_END));
    assert_int_equal(v.size, 0);
    assert_null(v.data);
    FINE(ha_close(&v));
    FINE(ha_read_anywhere(&v, x.array, NULL, 1, 1));
    assert_int_equal(v.size, 0);
    FINE(ha_close(&v));
    HA_READING_ANYWHERE(a, x) assert_int_equal(a.size, 3);
    else fail();
    FINE(harray_double_free(&x));
    FINE(harray_double_free(&none));
    FINE(harray_double_free(&unwritten));
}

/* ---- token.h ------------------------------------------------------------------------------- */

TEST(tokens_of_nothing) {
    harray_double x = three();
    ha_token t = {0}, other = {0};
    ha_read_double v = {0};
    int event = 0;
    REFUSED(HA_ERR_STATE, ha_token_finish(&t));
    REFUSED(HA_ERR_STATE, ha_token_wait(&t));
    REFUSED(HA_ERR_STATE, ha_token_end_at(&t, NULL));
    REFUSED(HA_ERR_STATE, ha_token_end_at(&t, sim()));
    REFUSED(HA_ERR_STATE, ha_token_end_after(&t, NULL, &event));
    REFUSED(HA_ERR_STATE, ha_token_end_after(&t, sim(), NULL));
    REFUSED(HA_ERR_STATE, ha_detach(&t, &v)); /* never opened */
    FINE(ha_open(&v, x.array, NULL, HA_READ, 0, HA_END));
    FINE(ha_detach(&t, &v));
    REFUSED(HA_ERR_STATE, ha_detach(&other, &v)); /* closed */
    FINE(ha_open(&v, x.array, NULL, HA_READ, 0, HA_END));
    REFUSED(HA_ERR_STATE, ha_detach(&t, &v)); /* in use */
    assert_ptr_equal(t.array, x.array);
    FINE(ha_close(&v));
    ha_token copy = t;
    FINE(ha_token_end_at(&t, NULL));
    assert_null(t.array);
    REFUSED(HA_ERR_STATE, ha_token_finish(&copy)); /* ended by the other */
    {
        HA_SCOPED_TOKEN(never_used);
        assert_null(never_used.array);
    }
    assert_int_equal(ha_take_error().status, HA_OK);
    FINE(harray_double_resize(x, 5)); /* nobody holds it */
    FINE(harray_double_free(&x));
}

/* An access to no elements can be detached as any. */
TEST(tokens_without_elements) {
    harray_double x = harray_double_new(0);
    ha_write_double v;
    ha_token t = {0};
    FINE(ha_open(&v, x.array, sim(), HA_WRITE, 0, HA_END));
    FINE(ha_detach(&t, &v));
    REFUSED(HA_ERR_CONFLICT, harray_double_resize(x, 1));
    FINE(ha_token_wait(&t));
    FINE(harray_double_resize(x, 1));
    FINE(harray_double_free(&x));
}

/* ---- memory.h ------------------------------------------------------------------------------ */

TEST(kinds_of_pointers) {
    static const char *const names[] = {"host", "pinned", "device", "managed", "unknown"};
    static int in_the_program;
    ha_context *c = NULL;
    void *p = malloc(1);
    for (int i = 0; i < 5; i++)
        assert_string_equal(ha_memory_kind_name((ha_memory_kind)i), names[i]);
    assert_non_null(ha_memory_kind_name((ha_memory_kind)99));
    const void *const pointers[] = {&c, &in_the_program, p, names};
    for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
        c = NULL;
        assert_int_equal(ha_pointer_kind(pointers[i], &c), HA_MEMORY_HOST);
        assert_ptr_equal(c, ha_host());
        assert_int_equal(ha_pointer_kind(pointers[i], NULL), HA_MEMORY_HOST);
    }
    free(p);
    p = mmap(NULL, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(ha_pointer_kind(p, NULL), HA_MEMORY_HOST); /* whoever may touch it */
    munmap(p, 1 << 16);
    const void *const nowhere[] = {NULL, (char *)p + 1, (void *)1, (void *)UINTPTR_MAX};
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        c = ha_host();
        errno = EDOM;
        assert_int_equal(ha_pointer_kind(nowhere[i], &c), HA_MEMORY_UNKNOWN);
        assert_null(c);
        assert_int_equal(errno, EDOM);
        assert_int_equal(ha_pointer_kind(nowhere[i], NULL), HA_MEMORY_UNKNOWN);
    }
    assert_int_equal(ha_take_error().status, HA_OK);
}

static void assert_adds_up(ha_memory_usage u) {
    assert_int_equal(u.handed_out, u.live + u.cached + u.retired + u.staging);
    assert_true(u.high_water >= u.handed_out);
}

TEST(memory_of_no_context) {
    const ha_memory_usage host = ha_context_memory(ha_host());
    assert_adds_up(host);
    ha_memory_usage null = ha_context_memory(NULL);
    assert_memory_equal(&host, &null, sizeof host);
    const ha_memory_usage nothing = {0}, pinned = ha_context_pinned_memory(NULL);
    assert_memory_equal(&pinned, &nothing, sizeof nothing);
    HA_ON(sim()) { /* NULL: the current one */
        void *p = ha_memory_allocate(NULL, 1);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        assert_true(ha_context_memory(NULL).live > 0);
        assert_true(ha_context_memory(sim()).live == ha_context_memory(NULL).live);
        assert_adds_up(ha_context_memory(NULL));
        REFUSED(HA_ERR_ARGUMENT, ha_memory_release(ha_host(), p));
        FINE(ha_memory_release(NULL, p));
        REFUSED(HA_ERR_ARGUMENT, ha_memory_release(NULL, p));
        FINE(ha_context_finish(NULL));
        (void)ha_memory_trim(NULL, 0);
        assert_int_equal(ha_context_memory(NULL).handed_out, 0);
    }
}

TEST(no_bytes) {
    double d = 0;
    harray_double x = three();
    assert_null(ha_memory_allocate(NULL, 0));
    assert_null(ha_memory_allocate(sim(), 0));
    assert_int_equal(ha_take_error().status, HA_OK);
    FINE(ha_memory_release(NULL, NULL));
    FINE(ha_memory_release(sim(), NULL));
    NONE(HA_ERR_MEMORY, ha_memory_allocate(NULL, SIZE_MAX));
    NONE(HA_ERR_MEMORY, ha_memory_allocate(sim(), SIZE_MAX));
    NONE(HA_ERR_MEMORY, ha_memory_allocate(sim(), SIZE_MAX - 100));
    REFUSED(HA_ERR_ARGUMENT, ha_memory_release(NULL, &d));
    HA_READING(v, x, NULL) { /* an array's block is not for that */
        const double *data = v.data;
        REFUSED(HA_ERR_ARGUMENT, ha_memory_release(NULL, (void *)(uintptr_t)data));
    }
    (void)ha_memory_trim(NULL, 0);
    assert_int_equal(ha_memory_trim(NULL, 0), 0);
    assert_int_equal(ha_memory_trim(NULL, SIZE_MAX), 0);
    FINE(harray_double_free(&x));
}

static ha_status give_nothing(void *user, size_t bytes, void **block) {
    (void)user, (void)bytes, (void)block;
    return HA_ERR_MEMORY;
}

static void take(void *user, void *block, size_t bytes) { (void)user, (void)block, (void)bytes; }

TEST(allocators_of_nothing) {
    const ha_allocator no_allocate = {NULL, take, NULL}, no_release = {give_nothing, NULL, NULL};
    const ha_allocator good = {give_nothing, take, NULL};
    (void)ha_memory_trim(NULL, 0);
    FINE(ha_memory_set_allocator(NULL, NULL)); /* as it is */
    REFUSED(HA_ERR_ARGUMENT, ha_memory_set_allocator(NULL, &no_allocate));
    REFUSED(HA_ERR_ARGUMENT, ha_memory_set_allocator(NULL, &no_release));
    harray_double x = three();
    REFUSED(HA_ERR_STATE, ha_memory_set_allocator(NULL, &good));
    FINE(harray_double_free(&x));
    FINE(ha_memory_set_allocator(NULL, &good));
    NONE(HA_ERR_MEMORY, three().array);
    FINE(ha_memory_set_allocator(NULL, NULL));
    x = three();
    assert_non_null(x.array);
    FINE(harray_double_free(&x));
    FINE(ha_memory_set_cache(NULL, 0));
    assert_int_equal(ha_context_memory(NULL).cached, 0);
    FINE(ha_memory_set_cache(NULL, UINT64_MAX));
    FINE(ha_memory_set_cache(sim(), 0));
    FINE(ha_memory_set_cache(sim(), UINT64_MAX));
}

/* ---- instruments.h ------------------------------------------------------------------------- */

TEST(names_of_events) {
    for (int i = 0; i < HA_EVENT_KINDS; i++) {
        assert_true(strlen(ha_event_kind_name((ha_event_kind)i)) > 2);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(ha_event_kind_name((ha_event_kind)i),
                                    ha_event_kind_name((ha_event_kind)j));
    }
    assert_non_null(ha_event_kind_name(HA_EVENT_KINDS));
    assert_non_null(ha_event_kind_name((ha_event_kind)1000));
}

/* What has been transferred by this program so far counts from 0 again. */
TEST(reports_of_nothing) {
    ha_site_statistics site = {0};
    ha_report_reset();
    assert_int_equal(ha_context_memory(NULL).transfers_in, 0);
    assert_int_equal(ha_context_memory(sim()).bytes_in, 0);
    size_t before = ha_sites(NULL, 0);
    assert_int_equal(ha_sites(&site, 1), before);
    assert_int_equal(site.bytes, 0);
    harray_double x = three();
    HA_READING(v, x, sim()) assert_int_equal(v.size, 3);
    else fail();
    assert_true(ha_sites(NULL, 0) > 0);
    assert_true(ha_sites(&site, 1) > 0);
    assert_int_equal(site.bytes, 3 * sizeof(double));
    assert_non_null(strstr(site.site, "test_arguments.c:"));
    FINE(harray_double_free(&x));
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    ha_report(file);
    ha_report_json(file);
    assert_int_equal(fclose(file), 0);
    assert_non_null(strstr(text, "test_arguments.c:"));
    free(text);
    assert_int_equal(ha_take_error().status, HA_OK);
}

TEST(traces_of_nothing) {
    REFUSED(HA_ERR_STATE, ha_trace_end());
    REFUSED(HA_ERR_ARGUMENT, ha_trace_begin(NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_trace_begin(""));
    REFUSED(HA_ERR_ARGUMENT, ha_trace_begin("/"));
    REFUSED(HA_ERR_ARGUMENT, ha_trace_begin("/no/such/directory/trace.json"));
    REFUSED(HA_ERR_STATE, ha_trace_end());
    FINE(ha_trace_begin("/dev/null"));
    REFUSED(HA_ERR_STATE, ha_trace_begin("/dev/null"));
    FINE(ha_trace_end());
    REFUSED(HA_ERR_STATE, ha_trace_end());
    ha_watch(0);
    ha_watch(HA_WATCH_ACCESSES);
    ha_watch(0);
    ha_set_event_handler(NULL, NULL);
}

TEST(no_transfers_of_nothing) {
    harray_double none = harray_double_new(0), x = three();
    HA_NO_TRANSFERS {
        HA_NO_TRANSFERS assert_true(1);
        HA_READING(v, none, sim()) assert_int_equal(v.size, 0);
        else fail();
        HA_READING_RANGE(v, x, sim(), 1, 1) assert_int_equal(v.size, 0);
        else fail();
        FINE(ha_array_prefetch(x.array, sim(), 3, 3));
        REFUSED(HA_ERR_TRANSFER, ha_array_prefetch(x.array, sim(), 0, 1));
        break;
    }
    FINE(ha_array_prefetch(x.array, sim(), 0, 1));
    FINE(harray_double_free(&none));
    FINE(harray_double_free(&x));
}

/* ---- context.h and sim.h ------------------------------------------------------------------- */

TEST(no_context) {
    int stream = 0;
    NONE(HA_ERR_UNSUPPORTED, ha_context_adopt(NULL, &stream));
    NONE(HA_ERR_UNSUPPORTED, ha_context_adopt(ha_host(), NULL));
    assert_int_equal(ha_link_cost(NULL, NULL), 0);
    assert_int_equal(ha_link_cost(NULL, ha_host()), 0);
    assert_true(ha_link_cost(NULL, sim()) > 0);
    FINE(ha_context_measure(NULL));
    FINE(ha_context_measure(sim()));
    assert_true(ha_link_cost(NULL, sim()) > 0);
    REFUSED(HA_ERR_ARGUMENT, ha_sim_fail(NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_sim_fail(ha_host()));
}

TEST(zero_copy_of_no_context) {
    (void)ha_context_is_zero_copy(NULL);
    assert_int_equal(ha_context_is_zero_copy(NULL), ha_context_is_zero_copy(ha_host()));
    for (int on = 0; on < 2; on++) { /* the host shares memory with itself, whatever is asked for */
        ha_status s = ha_context_set_zero_copy(NULL, on);
        assert_int_equal(ha_take_error().status, s);
        assert_true(s == HA_OK || s == HA_ERR_UNSUPPORTED);
    }
}

/* ---- where no call is allowed -------------------------------------------------------------- */

/* How many of the calls were not refused. */
static int calls(ha_array *x, ha_token *token, ha_access *open) {
    double d[3] = {0};
    const ha_wrapped piece = {d, NULL, 0};
    ha_token t = {0};
    ha_access v = {0};
    ha_request r = {.access = &v, .array = x, .how = HA_READ, .last = HA_END};
    int good = 0;
    good += ha_array_wrap(harray_double_type(), 3, &piece, 1) != NULL;
    good += ha_sync(x) == HA_OK;
    good += ha_unwrap(x) == HA_OK;
    good += ha_open_many(&r, 1) == HA_OK;
    good += ha_read_anywhere(&v, x, NULL, 0, HA_END) == HA_OK;
    good += ha_wait(open) == HA_OK;
    good += ha_detach(&t, open) == HA_OK;
    good += ha_token_finish(token) == HA_OK;
    good += ha_token_wait(token) == HA_OK;
    good += ha_token_end_at(token, NULL) == HA_OK;
    good += ha_token_end_after(token, ha_host(), d) == HA_OK;
    good += ha_memory_allocate(NULL, 100) != NULL;
    good += ha_memory_set_allocator(NULL, NULL) == HA_OK;
    good += ha_memory_set_cache(NULL, 0) == HA_OK;
    good += ha_trace_begin("/dev/null") == HA_OK;
    good += ha_trace_end() == HA_OK;
    good += ha_context_adopt(NULL, d) != NULL;
    good += ha_context_set_zero_copy(NULL, 1) == HA_OK;
    good += ha_context_measure(NULL) == HA_OK;
    good += ha_sim_fail(ha_context_find("sim")) == HA_OK;
    return good;
}

static harray_double its_array;
static ha_token its_token;
static ha_write_double its_access;
static int its_calls;

static void call_on_queue(const ha_queue *queue, void *argument) {
    (void)queue, (void)argument;
    its_calls = calls(its_array.array, &its_token, HA_ACCESS(&its_access));
}

static void hold(void) {
    its_array = three();
    FINE(ha_open(&its_access, its_array.array, NULL, HA_WRITE, 0, 1));
    FINE(ha_detach(&its_token, &its_access));
    FINE(ha_open(&its_access, its_array.array, NULL, HA_WRITE, 1, 2));
}

static void let_go(void) {
    FINE(ha_token_finish(&its_token));
    FINE(ha_close(&its_access));
    FINE(harray_double_free(&its_array));
}

TEST(on_a_queue) {
    ha_context *const contexts[] = {ha_host(), sim()};
    for (int i = 0; i < 2; i++) {
        hold();
        its_calls = -1;
        assert_int_equal(ha_enqueue(contexts[i], call_on_queue, NULL, 0), HA_OK);
        assert_int_equal(ha_context_finish(contexts[i]), i ? HA_ERR_STATE : HA_OK);
        (void)ha_take_error();
        assert_int_equal(its_calls, 0);
        let_go();
    }
}

/* Asking is answered with nothing, and does not hang. */
static int ask(void) {
    ha_site_statistics s;
    ha_memory_usage u = ha_context_memory(NULL), p = ha_context_pinned_memory(NULL);
    FILE *nowhere = fopen("/dev/null", "w");
    ha_report(nowhere);
    ha_report_json(nowhere);
    ha_report_reset();
    ha_watch(1);
    ha_set_event_handler(NULL, NULL);
    (void)ha_sites(&s, 1);
    (void)ha_memory_trim(NULL, 0);
    (void)ha_memory_release(NULL, &s);
    (void)ha_link_cost(NULL, NULL);
    (void)ha_context_is_zero_copy(NULL);
    (void)u, (void)p, (void)fclose(nowhere);
    ha_context *c = NULL;
    HA_NO_TRANSFERS return ha_pointer_kind(&s, &c) != HA_MEMORY_HOST;
    return 1;
}

TEST(in_a_forked_child) {
    int status;
    hold();
    pid_t child = fork();
    if (child == 0) _exit(calls(its_array.array, &its_token, HA_ACCESS(&its_access)) + ask());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    let_go();
}

static int shut_down(void **state) {
    (void)state;
    return ha_shutdown() != HA_OK;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrapping_nothing),
        cmocka_unit_test(wrapping_no_elements),
        cmocka_unit_test(no_wrapped_array),
        cmocka_unit_test(wrapping_at_the_current_context),
        cmocka_unit_test(opening_many_of_nothing),
        cmocka_unit_test(opening_many_without_elements),
        cmocka_unit_test(waiting_for_nothing),
        cmocka_unit_test(reading_nothing_anywhere),
        cmocka_unit_test(tokens_of_nothing),
        cmocka_unit_test(tokens_without_elements),
        cmocka_unit_test(kinds_of_pointers),
        cmocka_unit_test(memory_of_no_context),
        cmocka_unit_test(no_bytes),
        cmocka_unit_test(allocators_of_nothing),
        cmocka_unit_test(names_of_events),
        cmocka_unit_test(reports_of_nothing),
        cmocka_unit_test(traces_of_nothing),
        cmocka_unit_test(no_transfers_of_nothing),
        cmocka_unit_test(no_context),
        cmocka_unit_test(zero_copy_of_no_context),
        cmocka_unit_test(on_a_queue),
        cmocka_unit_test(in_a_forked_child),
    };
    return cmocka_run_group_tests(tests, NULL, shut_down);
}
