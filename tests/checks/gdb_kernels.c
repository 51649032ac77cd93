/* What tests/checks/test_gdb.py steps through. */
#define HARRAY_IMPLEMENTATION
#include "harray_kernels.h"

typedef struct pair {
    int a, b;
} pair;
#define pair_FIELDS (int, a), (int, b)
HA_RECORD(pair)
HA_VIEW(list, pair, 1, HA_AOS)
HA_RECORDS(pairs, list);
HA_KERNEL_FILE(stepped, "tests/checks/gdb_kernels_file.h");
#include "gdb_kernels_file.h"

int main(void) {
    const pair one = {10, 20};
    int total;
    harray_int x = harray_int_filled(2, 10);
    pairs r = pairs_new(1);
    HA_CHECK(pairs_set(r, 0, one));
    HA_CHECK(lanes(ha_host(), 1, x));
    HA_CHECK(records(ha_host(), r));
    HA_CHECK(teams(ha_host(), 1, x));
    HA_CHECK(sum(ha_host(), HA_ALL_LANES, x, &total));
    HA_IGNORE(harray_int_free(&x));
    HA_IGNORE(pairs_free(&r));
    return 0;
}
