/* Behind what a test program puts in the place of sched_yield, pthread_rwlock_rdlock and of the sizes of record
 * arrays, and before harray.h: an implementation that is linked (linked.h) has it from there, too. */
#ifndef HARRAY_TESTS_SUPPORT_OWN_CALLS_H
#define HARRAY_TESTS_SUPPORT_OWN_CALLS_H

#ifdef HA_INSIDE_IS_LINKED_

#ifdef sched_yield
int tested_yield(void);
int tested_yield(void) { return sched_yield(); }
#undef sched_yield
#define sched_yield tested_yield
#endif

#ifdef pthread_rwlock_rdlock
int tested_rdlock(pthread_rwlock_t *lock);
int tested_rdlock(pthread_rwlock_t *lock) { return pthread_rwlock_rdlock(lock); }
#undef pthread_rwlock_rdlock
#define pthread_rwlock_rdlock tested_rdlock
#endif

#ifdef HA_RECORDS_PART_BYTES_
int tested_part_bytes = HA_RECORDS_PART_BYTES_;
#endif

#ifdef HA_RECORDS_LARGE_
int tested_large_bytes = HA_RECORDS_LARGE_;
#endif

#endif

#endif
