/* Which locks a function of the implementation needs: annotations that clang checks, with
 * -Wthread-safety and HA_CHECK_LOCKS_ (tools/compile-matrix); otherwise they are nothing.
 *
 *     HA_REQUIRES_(lock)   the caller holds it, and still does afterwards
 *     HA_ACQUIRE_(lock)    holds it afterwards
 *     HA_RELEASE_(lock)    the caller holds it, and does not afterwards
 *     HA_UNCHECKED_        locks in a manner that is not understood */
#ifndef HARRAY_DETAIL_LOCKS_H
#define HARRAY_DETAIL_LOCKS_H

#ifdef HA_CHECK_LOCKS_
#include <pthread.h>
#define HA_REQUIRES_(lock) __attribute__((requires_capability(lock)))
#define HA_ACQUIRE_(lock) __attribute__((acquire_capability(lock)))
#define HA_RELEASE_(lock) __attribute__((release_capability(lock)))
#define HA_UNCHECKED_ __attribute__((no_thread_safety_analysis))
int pthread_mutex_lock(pthread_mutex_t *mutex) HA_ACQUIRE_(mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex) HA_RELEASE_(mutex);
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) HA_REQUIRES_(mutex);
#else
#define HA_REQUIRES_(lock)
#define HA_ACQUIRE_(lock)
#define HA_RELEASE_(lock)
#define HA_UNCHECKED_
#endif

#endif
