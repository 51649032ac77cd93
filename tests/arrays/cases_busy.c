/* While one thread prepares an array, nobody else comes between, and whoever waited for that is
 * told when it is over. The other thread begins in the middle of a transfer. On the contexts of
 * support/matrix.h. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/matrix.h"
#include "../support/threads.h"

enum { N = 1000 };

/* ---- in the middle of a transfer ------------------------------------------------------------ */

static struct {
    ha_queue_ops ops;
    const ha_queue_ops *real;
    void (*meanwhile)(void); /* during the next copy */
} watched;

static ha_status watched_copy(void *queue, void *to, const void *from, size_t bytes) {
    void (*meanwhile)(void) = watched.meanwhile;
    watched.meanwhile = NULL;
    if (meanwhile) meanwhile();
    return watched.real->copy(queue, to, from, bytes);
}

/* x comes to M1, which always has a memory of its own, and is open there when afterwards() is called. */
static void read_at_m1(harray_double x, void (*meanwhile)(void), void (*afterwards)(void)) {
    watched.real = M1->ops;
    watched.ops = *M1->ops;
    watched.ops.copy = watched_copy;
    watched.meanwhile = meanwhile;
    M1->ops = &watched.ops;
    HA_READING(v, x, M1) afterwards();
    else fail();
    M1->ops = watched.real;
    assert_null(watched.meanwhile);
}

/* ---- who comes between ---------------------------------------------------------------------- */

/* Another thread, which is known to the engine: it has had an access before. */
static struct {
    ha_array *prepared, *other;
    pthread_t thread;
    atomic_int returned;
    ha_status status;
    int waited;
} late;

static void begin_late(void *(*run)(void *)) {
    atomic_store(&late.returned, 0);
    assert_int_equal(pthread_create(&late.thread, NULL, run, NULL), 0);
    until_quiet();
    late.waited = !atomic_load(&late.returned);
}

static void end_late(void) {
    assert_int_equal(pthread_join(late.thread, NULL), 0);
    step();
}

/* It reads what is valid where it reads: nothing else would keep it waiting. */
static void *open_late(HA_UNUSED void *argument) {
    ha_access a;
    HA_CHECK(ha_open(&a, late.other, H, HA_READ, 0, HA_END));
    HA_CHECK(ha_close(&a));
    late.status = ha_open(&a, late.prepared, H, HA_READ, 0, HA_END);
    atomic_store(&late.returned, 1);
    if (late.status == HA_OK) HA_CHECK(ha_close(&a));
    return NULL;
}

static void begin_to_open(void) { begin_late(open_late); }

TEST(opening_waits) {
    harray_double x = ramp(N), y = ramp(N);
    late.prepared = x.array;
    late.other = y.array;
    read_at_m1(x, begin_to_open, end_late);
    assert_int_equal(late.status, HA_OK);
    assert_true(late.waited);
    drop(x);
    drop(y);
}

static void *resize_late(HA_UNUSED void *argument) {
    late.status = ha_array_resize(late.prepared, N / 2);
    atomic_store(&late.returned, 1);
    (void)ha_take_error();
    return NULL;
}

static void begin_to_resize(void) { begin_late(resize_late); }

/* And is refused: the access is open then. */
TEST(resizing_waits) {
    harray_double x = ramp(N);
    late.prepared = x.array;
    read_at_m1(x, begin_to_resize, end_late);
    assert_int_equal(late.status, HA_ERR_CONFLICT);
    assert_true(late.waited);
    drop(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {CASE(opening_waits), CASE(resizing_waits)};
    int failed = 0;
    RUN_ON_MATRIX(failed, tests);
    return failed;
}
