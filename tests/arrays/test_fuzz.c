/* A million random operations against a naive model, in long scripts, on the order backend: what
 * only shows when much has piled up. schedules/test_schedules.c says what is compared.
 *
 *     HARRAY_FUZZ_OPS=n      operations, instead of a million (HARRAY_TEST_LONG=1: ten million)
 *     HARRAY_SEED=n          the first seed; a failure prints its own */
#include "../schedules/model_memory.h"
#include "../support/order_backend.h"
#define HARRAY_HOST_BACKEND order_host
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"

#include "../schedules/model_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { STEPS = 2000 };

static void million_operations(HA_UNUSED void **state) {
    const uint64_t usual = number_from("HARRAY_TEST_LONG", 0) ? 10000000 : 1000000;
    const uint64_t wanted = number_from("HARRAY_FUZZ_OPS", usual);
    uint64_t seed = number_from("HARRAY_SEED", 1);
    for (uint64_t done = 0; done < wanted; done += model.operations, seed++) {
        const script_options options = {.seed = seed, .steps = STEPS};
        if (!run_script(&options)) continue;
        print_script(&options);
        fail_msg("seed %llu", (unsigned long long)seed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(million_operations)};
    return cmocka_run_group_tests_name("fuzz", tests, NULL, NULL);
}
