/* Waiting of threads where two orders of events are possible: each test tries many times, and the
 * rule must hold whichever comes about. */
#include "../support/order_backend.h"
#define HARRAY_HOST_BACKEND order_host
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/quiet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdatomic.h>
#include <cmocka.h>

enum { ROUNDS = 60, SIZE = 10 };

static ha_array *zeros(void) {
    ha_array *array = ha_array_zeros(ha_type_of_("uint32_t", 4), SIZE, ha_host());
    assert_non_null(array);
    return array;
}

/* Waits until so many threads are listed as waiting for an array. */
static void until_listed(const ha_array *array, unsigned count) {
    for (unsigned listed = 0; listed < count; sched_yield()) {
        listed = 0;
        pthread_mutex_lock(&ha_slow.lock);
        for (const ha_waiter *w = ha_slow.first; w != NULL; w = w->next)
            listed += w->array == array;
        pthread_mutex_unlock(&ha_slow.lock);
    }
}

/* ---- readers among writers ----------------------------------------------------------------- */

/* Opens an array in the way it is told, and closes it when it may. */
typedef struct opener {
    pthread_t thread;
    ha_array *array;
    unsigned how;
    atomic_int opened, may_close;
} opener;

static void *open_and_close(void *argument) {
    opener *o = (opener *)argument;
    ha_access v;
    HA_CHECK(ha_open(&v, o->array, ha_host(), o->how, 0, HA_END));
    atomic_store(&o->opened, 1);
    await_flag(&o->may_close);
    HA_CHECK(ha_close(&v));
    return NULL;
}

static void start(opener *o, ha_array *array, unsigned how) {
    o->array = array;
    o->how = how;
    atomic_store(&o->opened, 0);
    atomic_store(&o->may_close, 0);
    assert_int_equal(pthread_create(&o->thread, NULL, open_and_close, o), 0);
}

static void end(opener *o) {
    raise_flag(&o->may_close);
    assert_int_equal(pthread_join(o->thread, NULL), 0);
}

static void until_one_is_open(opener *a, opener *b) {
    while (!atomic_load(&a->opened) && !atomic_load(&b->opened)) sched_yield();
}

/* Writers take turns, and one always waits. A reader that waits, too, has its turn some time. */
static void readers_have_their_turn(HA_UNUSED void **state) {
    static opener reader, writers[2];
    ha_array *array = zeros();
    start(&writers[0], array, HA_WRITE);
    while (!atomic_load(&writers[0].opened)) sched_yield();
    start(&reader, array, HA_READ);
    until_listed(array, 1);
    int round = 0;
    for (; round < ROUNDS; round++) {
        opener *holds = &writers[round % 2], *next = &writers[(round + 1) % 2];
        start(next, array, HA_WRITE);
        until_listed(array, 2);
        end(holds);
        until_one_is_open(&reader, next);
        if (atomic_load(&reader.opened)) break;
    }
    assert_true(round < ROUNDS);
    end(&reader);
    end(&writers[(round + 1) % 2]);
    HA_CHECK(ha_array_free(array));
    HA_CHECK(ha_shutdown()); /* no block stays behind that the next test does not know */
}

/* ---- a thread that only tries -------------------------------------------------------------- */

static ha_array *held, *busy;
static atomic_int has_begun;

/* Holds one array, and tries to get the other one, which is busy. Then it gives up. */
static void *hold_and_try(void *argument) {
    ha_access x, a;
    (void)argument;
    HA_CHECK(ha_open(&x, held, ha_host(), HA_WRITE, 0, HA_END));
    atomic_store(&has_begun, 1);
    while (atomic_load(&has_begun) != 2) sched_yield();
    if (ha_open(&a, busy, ha_host(), HA_READ | HA_TRY, SIZE / 2, SIZE) == HA_OK)
        HA_CHECK(ha_close(&a));
    HA_CHECK(ha_close(&x));
    return NULL;
}

/* The array stays busy until the other thread sleeps. */
static void until_the_other_sleeps(const char *slot) {
    if (strcmp(slot, "copy") != 0) return;
    order_disturb = NULL;
    atomic_store(&has_begun, 2);
    until_listed(busy, 1);
}

static void try_round(ha_context *device) {
    pthread_t other;
    ha_access first, second, x;
    held = zeros();
    busy = zeros();
    atomic_store(&has_begun, 0);
    assert_int_equal(pthread_create(&other, NULL, hold_and_try, NULL), 0);
    while (!atomic_load(&has_begun)) sched_yield();
    order_disturb = until_the_other_sleeps;
    HA_CHECK(ha_open(&first, busy, device, HA_WRITE, 0, SIZE / 2));
    const ha_status got = ha_open(&second, busy, ha_host(), HA_WRITE | HA_TRY, SIZE / 2, SIZE);
    HA_CHECK(ha_open(&x, held, ha_host(), HA_WRITE, 0, HA_END)); /* no deadlock */
    HA_CHECK(ha_close(&x));
    if (got == HA_OK) HA_CHECK(ha_close(&second));
    HA_CHECK(ha_close(&first));
    assert_int_equal(pthread_join(other, NULL), 0);
    HA_CHECK(ha_array_free(held));
    HA_CHECK(ha_array_free(busy));
}

static void trying_is_not_waiting(HA_UNUSED void **state) {
    order_reset();
    HA_CHECK(ha_backend_register(&order_backend));
    for (int round = 0; round < ROUNDS; round++) try_round(ha_context_find("order:0"));
    HA_CHECK(ha_shutdown());
    assert_string_equal(hb.complaint, "");
}

int main(void) {
    order_reset();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_have_their_turn),
        cmocka_unit_test(trying_is_not_waiting),
    };
    return cmocka_run_group_tests_name("waiting", tests, NULL, NULL);
}
