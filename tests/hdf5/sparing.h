/* Memory that runs out, of the programs that test datasets: what they include first. */
#ifndef HARRAY_TESTS_HDF5_SPARING_H
#define HARRAY_TESTS_HDF5_SPARING_H

#include <stdlib.h>

/* Allocations until one fails; < 0: none does. Queues have threads that allocate, too. */
static int until_failure = -1;
static int runs_out(void) {
    const int n = __atomic_load_n(&until_failure, __ATOMIC_RELAXED);
    return n >= 0 && !__atomic_fetch_sub(&until_failure, 1, __ATOMIC_RELAXED);
}
static void *sparing_malloc(size_t bytes) { return runs_out() ? NULL : malloc(bytes); }
static void *sparing_realloc(void *block, size_t bytes) {
    return runs_out() ? NULL : realloc(block, bytes);
}
#define HARRAY_MALLOC sparing_malloc
#define HARRAY_REALLOC sparing_realloc
#define HARRAY_FREE free

#endif
