/* Sorts of several blocks, on every context: of all types, with infinities, NaNs of all bits and zeros of both signs, in both
 * orders; with what belongs to the keys, and as numbers. Each element has the bits and the place that a stable sort gives it. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_ops.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"
#include "../support/share.h"
#include "some_views.h"
#include "known_operations.h"
#include "many_keys.h"

/* Those that the tests of sorting leave to this one come first: of these some at least are compiled for each device. */
static const ha_dtype block_types[] = {HA_DTYPE_double,   HA_DTYPE_bool,     HA_DTYPE_half,
                                       HA_DTYPE_int64_t,  HA_DTYPE_float,    HA_DTYPE_uint8_t,
                                       HA_DTYPE_int8_t,   HA_DTYPE_bfloat16, HA_DTYPE_int16_t,
                                       HA_DTYPE_uint64_t, HA_DTYPE_int32_t,  HA_DTYPE_uint16_t};
enum { BLOCK_TYPES = sizeof block_types / sizeof *block_types, KINDS = 4, ALWAYS = 5 };

/* Which of all are tried: where each is to be compiled a few, in one order each; and a few where the host's loop is enqueued, which
 * is tried there with each type. */
static int is_sorted_here(int t, int order, int kind) {
    if (getenv("HARRAY_TEST_LONG")) return 1;
    if (compiles())
        return t < ALWAYS && t % stride_up_to(2) == 0 && order == t % 2 && kind == 3 - t % 2;
    return (C == H || t < 2) && (t + kind) % KINDS == 0 && order == (t + kind) / KINDS % 2;
}

TEST(several_blocks) {
    for (int t = 0; t < BLOCK_TYPES; t++)
        for (int order = 0; order < 2; order++)
            for (int kind = 0; kind < KINDS; kind++)
                if (is_sorted_here(t, order, kind))
                    sort_many(block_types[t], order ? HA_DESCENDING : HA_ASCENDING,
                              2 * HA_SORT_BLOCK + 1 + (int64_t)draw(100), kind);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {OPERATIONS(several_blocks)};
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
