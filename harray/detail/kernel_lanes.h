/* Lanes of a kernel: how many, their indices, and the loops over them on the host. A part of kernel.h. */
#ifndef HARRAY_DETAIL_KERNEL_LANES_H
#define HARRAY_DETAIL_KERNEL_LANES_H

#include "../kernel.h"

/* The lanes of a launch as a box. */
HA_TYPED_ ha_region ha_lanes_1_(int64_t n) { return ha_box1(0, n); }
HA_TYPED_ ha_region ha_lanes_2_(ha_dim2 n) { return ha_box2(0, n.at[0], 0, n.at[1]); }
HA_TYPED_ ha_region ha_lanes_3_(ha_dim3 n) { return ha_box3(0, n.at[0], 0, n.at[1], 0, n.at[2]); }
#define HA_LANES_OF_1_ int64_t
#define HA_LANES_OF_2_ ha_dim2
#define HA_LANES_OF_3_ ha_dim3
#define HA_IS_ALL_1_(n) ((n) == HA_ALL_LANES)
#define HA_IS_ALL_2_(n) 0
#define HA_IS_ALL_3_(n) 0

/* (i) of i, and of (j, i) itself. */
#define HA_KERNEL_INDICES_(indices) HA_VARIANT_(HA_KERNEL_INDICES_, HA_IS_PAREN_(indices))(indices)
#define HA_KERNEL_INDICES_0_(i) (i)
#define HA_KERNEL_INDICES_1_(ji) ji
#define HA_INDEX_PARAMETERS_1_(i) HA_UNUSED const ptrdiff_t i
#define HA_INDEX_PARAMETERS_2_(j, i) HA_UNUSED const ptrdiff_t j, HA_UNUSED const ptrdiff_t i
#define HA_INDEX_PARAMETERS_3_(k, j, i)                                                            \
    HA_UNUSED const ptrdiff_t k, HA_UNUSED const ptrdiff_t j, HA_UNUSED const ptrdiff_t i

#if defined __clang__ && !defined __CUDACC__
/* Two vectors at a time: clang takes the indices of views for a part of the work, and the loop for too long. */
#define HA_LANES_LOOP_ _Pragma("clang loop vectorize(assume_safety) interleave_count(2)")
#else
#define HA_LANES_LOOP_ HA_INDEPENDENT_
#endif
#define HA_INDEX_LOOPS_1_(i)                                                                       \
    HA_LANES_LOOP_ for (ptrdiff_t i = ha_box_.first[0]; i < ha_box_.last[0]; i++)
#define HA_INDEX_LOOPS_2_(j, i)                                                                    \
    for (ptrdiff_t j = ha_box_.first[0]; j < ha_box_.last[0]; j++)                                 \
    HA_LANES_LOOP_ for (ptrdiff_t i = ha_box_.first[1]; i < ha_box_.last[1]; i++)
#define HA_INDEX_LOOPS_3_(k, j, i)                                                                 \
    for (ptrdiff_t k = ha_box_.first[0]; k < ha_box_.last[0]; k++)                                 \
        for (ptrdiff_t j = ha_box_.first[1]; j < ha_box_.last[1]; j++)                             \
    HA_LANES_LOOP_ for (ptrdiff_t i = ha_box_.first[2]; i < ha_box_.last[2]; i++)

#endif
