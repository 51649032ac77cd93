/* Threads of OpenMP that share a kernel's loops. A part of kernel.h. */
#ifndef HARRAY_DETAIL_KERNEL_THREADS_H
#define HARRAY_DETAIL_KERNEL_THREADS_H

#include "../kernel.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* With OpenMP: a statement is run by all threads of a region, if the box has lanes enough for that, and HA_SHARE_ is
 * what each has of the box, of one dimension a part. Else no region is opened: one of a single thread costs more than
 * a launch. weight: a lane counts as so many. */
HA_API int ha_is_in_part_(void); /* of ha_set_parallel */
#ifdef _OPENMP
HA_HOST_FN_ int ha_is_worth_threads_(const ha_region *box, int rank, double weight) {
    double lanes = weight;
    for (int d = 0; d < rank; d++) lanes *= HA_TO_(double, box->last[d] - box->first[d]);
    return lanes >= 8192 && !omp_in_parallel() && !ha_is_in_part_();
}
HA_HOST_FN_ ha_region ha_share_(const ha_region *box, int dimension) {
    ha_region share = *box;
    const ptrdiff_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const ptrdiff_t n = box->last[dimension] - box->first[dimension];
    const ptrdiff_t each = n / threads, more = n % threads;
    share.first[dimension] += thread * each + (thread < more ? thread : more);
    share.last[dimension] = share.first[dimension] + each + (thread < more);
    return share;
}
#define HA_AMONG_THREADS_(box, rank, weight, ...)                                                  \
    const int ha_shared_ = ha_is_worth_threads_(box, rank, weight);                                \
    if (ha_shared_) {                                                                              \
        _Pragma("omp parallel") { __VA_ARGS__ }                                                    \
    } else {                                                                                       \
        __VA_ARGS__                                                                                \
    }
#define HA_SHARE_(box, dimension) (ha_shared_ ? ha_share_(box, dimension) : *(box))
/* Of records whose first index is the fastest, the last one. */
#define HA_OUTERMOST_(R, p)                                                                        \
    (HA_CAST_(const ha_seen_##R *, p##_slot_->pointer)->order == HA_COL ? ha_seen_##R##_rank_ - 1  \
                                                                        : 0)
#else
#define HA_AMONG_THREADS_(box, rank, weight, ...) __VA_ARGS__
#define HA_SHARE_(box, dimension) *(box)
#endif
#define HA_GRAIN_(parameters)                                                                      \
    HA_CALL_(HA_SECOND_OF_, ~HA_FOR_FIELDS_(HA_MODE_GRAIN_, ~, HA_BARE_ parameters), 1, ~)
#define HA_MODE_GRAIN_(C, mode, ...) HA_MODE_GRAIN_##mode##_(__VA_ARGS__)
#define HA_MODE_GRAIN_uses_(tag)
#define HA_MODE_GRAIN_option_(name, value) HA_GRAIN_##name##_(value)
#define HA_MODE_GRAIN_use_(R, n, what)
#define HA_MODE_GRAIN_value_(T, n)
#define HA_MODE_GRAIN_bundle_(B, n)
#define HA_MODE_GRAIN_constant_(T, n)
#define HA_MODE_GRAIN_in_(T, n)
#define HA_MODE_GRAIN_inout_(T, n)
#define HA_MODE_GRAIN_out_(T, n)
#define HA_GRAIN_block_(value)
#define HA_GRAIN_contract_(value)
#define HA_GRAIN_grain_(value) , value

#endif
