/* The implementation, compiled once for all test programs that link it (linked.h). */
#include "tested.h"

/* Programs may have their own (own_calls.h). */
#include <limits.h>
#include <pthread.h>
#include <sched.h>

int tested_yield(void);
int tested_rdlock(pthread_rwlock_t *lock);
extern int tested_part_bytes, tested_large_bytes;

__attribute__((__weak__)) int tested_yield(void) { return sched_yield(); }
__attribute__((__weak__)) int tested_rdlock(pthread_rwlock_t *lock) {
    return pthread_rwlock_rdlock(lock);
}
__attribute__((__weak__)) int tested_part_bytes = 2 << 20, tested_large_bytes = 16 << 20;

#define sched_yield tested_yield
#define pthread_rwlock_rdlock tested_rdlock
/* Not negative, as the constants are known to be. */
#define HA_RECORDS_PART_BYTES_ (tested_part_bytes & INT_MAX)
#define HA_RECORDS_LARGE_ (tested_large_bytes & INT_MAX)
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#define HA_LAYOUT_TESTING
#include "../../harray_ops.h"
#include "../../harray_records.h"
/* For the tests alone (usm_backend.h): it is not in the list of backends. */
#include "../../backends/sycl/sycl.h"
