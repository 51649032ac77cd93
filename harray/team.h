/* Kernels whose lanes work together: teams with memory of their own, barriers and atomics.
 *
 *     HA_TEAM_KERNEL(scan64, 64, g, ((value, int64_t, n), (in, float, x), (out, float, y)), {
 *         HA_LOCAL(float, a, HA_TEAM);                   // one for the team
 *         HA_LOCAL(float, b, HA_TEAM);
 *         HA_LANES(l) a[l] = g * HA_TEAM + l < n ? x[g * HA_TEAM + l] : 0;
 *         for (int d = 1; d < HA_TEAM; d *= 2) {
 *             HA_LANES(l) b[l] = l >= d ? a[l] + a[l - d] : a[l];
 *             HA_LANES(l) a[l] = b[l];
 *         }
 *         HA_LANES_ALONE(l) if (g * HA_TEAM + l < n) y[g * HA_TEAM + l] = a[l];
 *     });
 *     …
 *     HA_CHECK(scan64(gpu, HA_TEAMS(64, n), n, x, y));
 *
 * makes the function  ha_status scan64(ha_context *, int64_t teams, int64_t n, harray_float x,
 * harray_float y), which runs the body once for each team, g = 0, 1, …; parameters, errors and threads are
 * those of HA_KERNEL (kernel.h). A team has as many lanes as the second argument says, a constant from 1 to
 * 1,024, which is HA_TEAM in the body. On devices the lanes of a team run at once; on the host they are
 * loops, one for each HA_LANES, which compilers make vectors of.
 *
 * In two and three dimensions both are lists: HA_TEAM_KERNEL(turn, (16, 16), (gy, gx), …, { HA_LANES(ly, lx) …
 * }), launched with HA_DIM(teams_y, teams_x); the last one is the innermost. HA_TEAM_X, HA_TEAM_Y and HA_TEAM_Z are
 * how many lanes there are in each, HA_TEAM is their product. scan64_in(gpu, ha_box1(…), …) runs the teams
 * of a box.
 *
 * ---- the body. Outside of HA_LANES all is uniform: it is the same for all lanes of the team, and may depend on
 * g, on values, extents, local memory that a barrier has been behind, but on no lane.
 *
 *     HA_LANES(l) statement         runs it for each lane l = 0 … HA_TEAM - 1. Behind it is a barrier: what it
 *                                   has written, to local memory and to arrays, the team's lanes see from there on
 *     HA_LANES_ALONE(l) statement   the same without the barrier: for what no other lane reads before the next one
 *     HA_LOCAL(T, name, n)          an array of n elements that the team shares; n is a constant. It has no
 *                                   values at first
 *     HA_PRIVATE(T, name)           a variable of each lane that outlives HA_LANES, …
 *     HA_MINE(name, l)              … and how lane l reaches its own
 *     HA_BARRIER()                  a barrier for local memory and arrays; HA_BARRIER_LOCAL() for local memory alone
 *     HA_SHARE(i, l, first, last) statement   within HA_LANES: runs it for the indices i of [first, last) that are
 *                                   lane l's: each is one lane's. Side by side on devices, in pieces on the host
 *     HA_FENCE_LOCAL(), HA_FENCE_GLOBAL()     what a lane wrote before it is seen before what it writes behind it
 *
 * HA_LOCAL and HA_PRIVATE stand at the top of the body, not in a block of it. Within HA_LANES neither another HA_LANES
 * nor a barrier may stand, nor `return`, nor a `break` that would leave it; `continue` ends the lane's part of
 * it, and a `return` outside of HA_LANES, which is uniform, the team. What breaks these rules is refused at the
 * first launch, on every context (HA_ERR_COMPILE). A body declares no name of its parameters anew.
 *
 * No team may read what another one writes, but by atomics. Of `out` nothing is moved when there are exactly as
 * many teams as are needed for a lane to each element, HA_TEAMS(lanes, elements).
 *
 * ---- atomics, on what p points to in local memory (ha_local_…) or in an array (ha_global_…). They return
 * the value before, and order nothing else.
 *
 *     add(p, v)  sub(p, v)  min(p, v)  max(p, v)  exchange(p, v)      of int32_t, uint32_t, int64_t, uint64_t,
 *     load(p)    store(p, v), which returns nothing                   float and double
 *     and(p, v)  or(p, v)   xor(p, v)                                 of the integers
 *     compare_exchange(p, expected, v)   writes v if there is what is expected
 *
 * The order in which lanes get there is not the same everywhere: sums of integers are, those of
 * floating-point numbers need not be. A sum that is too large is undefined for signed integers.
 *
 * ---- errors beside those of HA_KERNEL
 *   HA_ERR_ARGUMENT     the device has not so many lanes in a team, or not so much local memory; on any context
 *                       more than 1 MiB of that (48 KiB are what most GPUs have); HA_ALL_LANES
 *   HA_ERR_COMPILE      the body breaks a rule from above
 *   HA_ERR_UNSUPPORTED  the device has no atomics of 64 bits, and the body has, on an argument or local memory */
#ifndef HARRAY_TEAM_H
#define HARRAY_TEAM_H

#include "kernel.h"

/* How many teams of `lanes` lanes n lanes need. What is below zero stays that, and is refused by the launch. */
#define HA_TEAMS(lanes, n) ha_teams_(lanes, n)

#define HA_TEAM_KERNEL(name, lanes, teams, parameters, ...)                                        \
    HA_TEAM_TEXT_(name, HA_KERNEL_INDICES_(lanes), HA_KERNEL_INDICES_(teams), #teams, parameters,  \
                  #__VA_ARGS__, __VA_ARGS__)

/* In a file: see HA_KERNEL_FILE (kernel.h). */
#define HA_TEAM_KERNEL_IN(tag, name, lanes, teams, parameters)                                     \
    HA_TEAM_FILED_(tag, name, HA_KERNEL_INDICES_(lanes), HA_KERNEL_INDICES_(teams), #teams,        \
                   parameters)

/* In bodies: see above. */
#define HA_TEAM HA_TO_(int, sizeof *HA_TEAM_)
#define HA_TEAM_X HA_TO_(int, sizeof *HA_TEAM_X_)
#define HA_TEAM_Y HA_TO_(int, sizeof *HA_TEAM_Y_)
#define HA_TEAM_Z HA_TO_(int, sizeof *HA_TEAM_Z_)
#define HA_LANES(...) HA_VARIANT_(HA_LANES_, HA_COUNT_OF_(__VA_ARGS__))(__VA_ARGS__)
#define HA_LANES_ALONE(...) HA_LANES(__VA_ARGS__)
#define HA_LOCAL(T, name, n) __attribute__((__aligned__(64))) T name[(n) + 0 * HA_TEAM]
#define HA_PRIVATE(T, name) __attribute__((__aligned__(64))) T name[HA_TEAM]
#define HA_MINE(name, ...)                                                                         \
    (name)[HA_VARIANT_(HA_LANE_NUMBER_, HA_COUNT_OF_(__VA_ARGS__))(__VA_ARGS__)]
#define HA_BARRIER() ((void)HA_TEAM)
#define HA_BARRIER_LOCAL() ((void)HA_TEAM)
#define HA_FENCE_LOCAL() ((void)HA_TEAM)
#define HA_FENCE_GLOBAL() ((void)HA_TEAM)
#define HA_SHARE(i, l, first, last)                                                                \
    for (ptrdiff_t i = ha_team_share_(first, last, l, HA_TEAM),                                    \
                   i##_end_ = ha_team_share_(first, last, (l) + 1, HA_TEAM);                       \
         i < i##_end_; i++)

/* The smaller and the greater of two numbers, in every language. */
#define HA_LESS(a, b) ((a) < (b) ? (a) : (b))
#define HA_GREATER(a, b) ((a) > (b) ? (a) : (b))

/* Atomics: see above. */
#define ha_local_add(p, v) HA_LOCALLY_(p, v, HA_CHANGE_ADD_)
#define ha_local_sub(p, v) HA_LOCALLY_(p, v, HA_CHANGE_SUB_)
#define ha_local_min(p, v) HA_LOCALLY_(p, v, HA_CHANGE_MIN_)
#define ha_local_max(p, v) HA_LOCALLY_(p, v, HA_CHANGE_MAX_)
#define ha_local_and(p, v) HA_LOCALLY_(p, v, HA_CHANGE_AND_)
#define ha_local_or(p, v) HA_LOCALLY_(p, v, HA_CHANGE_OR_)
#define ha_local_xor(p, v) HA_LOCALLY_(p, v, HA_CHANGE_XOR_)
#define ha_local_exchange(p, v) HA_LOCALLY_(p, v, HA_CHANGE_EXCHANGE_)
#define ha_local_compare_exchange(p, expected, v) HA_COMPARE_LOCALLY_(p, expected, v)
#define ha_local_load(p) HA_LOAD_(p)
#define ha_local_store(p, v) HA_STORE_(p, v)
#define ha_global_add(p, v) HA_GLOBALLY_(p, v, HA_CHANGE_ADD_)
#define ha_global_sub(p, v) HA_GLOBALLY_(p, v, HA_CHANGE_SUB_)
#define ha_global_min(p, v) HA_GLOBALLY_(p, v, HA_CHANGE_MIN_)
#define ha_global_max(p, v) HA_GLOBALLY_(p, v, HA_CHANGE_MAX_)
#define ha_global_and(p, v) HA_GLOBALLY_(p, v, HA_CHANGE_AND_)
#define ha_global_or(p, v) HA_GLOBALLY_(p, v, HA_CHANGE_OR_)
#define ha_global_xor(p, v) HA_GLOBALLY_(p, v, HA_CHANGE_XOR_)
#define ha_global_exchange(p, v) HA_GLOBALLY_(p, v, HA_CHANGE_EXCHANGE_)
#define ha_global_compare_exchange(p, expected, v) HA_COMPARE_GLOBALLY_(p, expected, v)
#define ha_global_load(p) HA_LOAD_(p)
#define ha_global_store(p, v) HA_STORE_(p, v)

/* ---- what it is made of ------------------------------------------------------------------------ */

typedef struct ha_team_ {
    int lanes[3]; /* the innermost first */
    int *checked; /* the body has been looked at */
} ha_team_;

HA_TYPED_ int64_t ha_teams_(int64_t lanes, int64_t n) {
    if (lanes < 1) return -1;
    return n < 0 ? n : n / lanes + (n % lanes > 0);
}

/* Where lane l of a team begins in [first, last): the first lanes have one index more where that does
 * not come out even. */
HA_FN ptrdiff_t ha_team_share_(ptrdiff_t first, ptrdiff_t last, ptrdiff_t l, ptrdiff_t team) {
    const ptrdiff_t n = last > first ? last - first : 0;
    return first + n / team * l + HA_LESS(l, n % team);
}

#define HA_LANES_1_(l) HA_INDEPENDENT_ for (int l = 0; l < HA_TEAM_X; l++)
#define HA_LANES_2_(m, l)                                                                          \
    for (int m = 0; m < HA_TEAM_Y; m++) HA_INDEPENDENT_ for (int l = 0; l < HA_TEAM_X; l++)
#define HA_LANES_3_(n, m, l)                                                                       \
    for (int n = 0; n < HA_TEAM_Z; n++)                                                            \
        for (int m = 0; m < HA_TEAM_Y; m++) HA_INDEPENDENT_ for (int l = 0; l < HA_TEAM_X; l++)
#define HA_LANE_NUMBER_1_(l) l
#define HA_LANE_NUMBER_2_(m, l) (m) * HA_TEAM_X + (l)
#define HA_LANE_NUMBER_3_(n, m, l) ((n)*HA_TEAM_Y + (m)) * HA_TEAM_X + (l)

/* Parameters of a body whose types are its constants: what they point to has so many bytes. A body in a file begins
 * with a brace of the user's, behind which no macro could declare them. */
#define HA_TEAM_PARAMETERS_(x, y, z)                                                               \
    HA_UNUSED const char(*const HA_TEAM_X_)[x], HA_UNUSED const char(*const HA_TEAM_Y_)[y],        \
        HA_UNUSED const char(*const HA_TEAM_Z_)[z],                                                \
        HA_UNUSED const char(*const HA_TEAM_)[(x) * (y) * (z)]
#define HA_TEAM_HEAD_(name, shape, parameters, D, indices)                                         \
    HA_BODY_FN_ void name##_of_team_(                                                              \
        HA_TEAM_PARAMETERS_ shape,                                                                 \
        HA_INDEX_PARAMETERS_##D##_ indices HA_FOR_FIELDS_(HA_MODE_SEEN_, ~, HA_BARE_ parameters))

/* The innermost first. */
#define HA_TEAM_SHAPE_1_(x) (x, 1, 1)
#define HA_TEAM_SHAPE_2_(y, x) (x, y, 1)
#define HA_TEAM_SHAPE_3_(z, y, x) (x, y, z)
#define HA_TEAM_LANES_(x, y, z) ((x) * (y) * (z))
#define HA_TEAM_FITS_(x, y, z)                                                                     \
    ((x) >= 1 && (y) >= 1 && (z) >= 1 && (x) <= 1024 && (y) <= 1024 && (z) <= 64 &&                \
     (x) * (y) * (z) <= 1024)

#define HA_TEAM_TEXT_(name, lanes, indices, ...)                                                   \
    HA_TEAM_RANK_(name, HA_VARIANT_(HA_TEAM_SHAPE_, HA_COUNT_OF_ lanes) lanes, HA_COUNT_OF_ lanes, \
                  HA_COUNT_OF_ indices, indices, __VA_ARGS__)
#define HA_TEAM_RANK_(name, shape, ...) HA_TEAM_MADE_(name, shape, __VA_ARGS__)
#define HA_TEAM_CHECK_(name, shape, L, D, parameters)                                              \
    HA_STATIC_ASSERT_(L == D,                                                                      \
                      "HA_TEAM_KERNEL: " #name " has other dimensions of lanes than of teams");    \
    HA_STATIC_ASSERT_(HA_TEAM_FITS_ shape,                                                         \
                      "HA_TEAM_KERNEL: " #name ": a team has 1 to 1,024 lanes");                   \
    HA_PARAMETERS_CHECK_(name, parameters, HA_MOST_PARAMETERS_, "twelve")
#define HA_TEAM_MADE_(name, shape, L, D, indices, indices_text, parameters, text, ...)             \
    HA_TEAM_CHECK_(name, shape, L, D, parameters)                                                  \
    HA_CONTRACTION_(parameters)                                                                    \
    HA_TEAM_HEAD_(name, shape, parameters, D, indices){__VA_ARGS__} HA_TEAM_OF_BODY_(              \
        name, shape, parameters, D, indices, indices_text, text, HA_NULL_)                         \
        HA_CONTRACTION_END_ struct ha_semicolon_

/* In a file: the body comes behind all that calls it. */
#define HA_TEAM_FILED_(tag, name, lanes, indices, ...)                                             \
    HA_TEAM_FILED_RANK_(tag, name, HA_VARIANT_(HA_TEAM_SHAPE_, HA_COUNT_OF_ lanes) lanes,          \
                        HA_COUNT_OF_ lanes, HA_COUNT_OF_ indices, indices, __VA_ARGS__)
#define HA_TEAM_FILED_RANK_(tag, name, shape, ...)                                                 \
    HA_TEAM_FILED_MADE_(tag, name, shape, __VA_ARGS__)
#define HA_TEAM_FILED_MADE_(tag, name, shape, L, D, indices, indices_text, parameters)             \
    HA_TEAM_CHECK_(name, shape, L, D, parameters)                                                  \
    HA_CONTRACTION_FROM_HERE_(parameters)                                                          \
    HA_TEAM_HEAD_(name, shape, parameters, D, indices);                                            \
    HA_TEAM_OF_BODY_(name, shape, parameters, D, indices, indices_text, HA_KERNEL_TEXT(tag), #tag) \
    HA_TEAM_HEAD_(name, shape, parameters, D, indices)

#define HA_TEAM_OF_BODY_(name, shape, parameters, D, indices, indices_text, text, file)            \
    HA_KERNEL_HEAD_(name, parameters, D, indices) {                                                \
        name##_of_team_(HA_NULL_, HA_NULL_, HA_NULL_, HA_NULL_,                                    \
                        HA_BARE_ indices HA_FOR_FIELDS_(HA_MODE_NAMED_, ~, HA_BARE_ parameters));  \
    }                                                                                              \
    static int name##_checked_;                                                                    \
    static const ha_team_ name##_team_ = {{HA_BARE_ shape}, &name##_checked_};                     \
    HA_KERNEL_OF_BODY_(name, parameters, D, indices, indices_text, text, &name##_team_,            \
                       HA_TEAM_LANES_ shape, file)

#define HA_CHANGE_ADD_(old, v) (old) + (v)
#define HA_CHANGE_SUB_(old, v) (old) - (v)
#define HA_CHANGE_MIN_(old, v) (v) < (old) ? (v) : (old)
#define HA_CHANGE_MAX_(old, v) (v) > (old) ? (v) : (old)
#define HA_CHANGE_AND_(old, v) (old) & (v)
#define HA_CHANGE_OR_(old, v) (old) | (v)
#define HA_CHANGE_XOR_(old, v) (old) ^ (v)
#define HA_CHANGE_EXCHANGE_(old, v) (v)

/* The variables of each have names of their own, for it may be in the operands of another one. */
#define HA_ATOMIC_(macro, ...) macro(__VA_ARGS__)
#define HA_LOCALLY_(p, v, CHANGE) HA_ATOMIC_(HA_LOCALLY_OF_, __COUNTER__, p, v, CHANGE)
#define HA_GLOBALLY_(p, v, CHANGE) HA_ATOMIC_(HA_GLOBALLY_OF_, __COUNTER__, p, v, CHANGE)
#define HA_COMPARE_LOCALLY_(p, expected, v)                                                        \
    HA_ATOMIC_(HA_COMPARE_LOCALLY_OF_, __COUNTER__, p, expected, v)
#define HA_COMPARE_GLOBALLY_(p, expected, v)                                                       \
    HA_ATOMIC_(HA_COMPARE_GLOBALLY_OF_, __COUNTER__, p, expected, v)
#define HA_LOAD_(p) HA_ATOMIC_(HA_LOAD_OF_, __COUNTER__, p)
#define HA_STORE_(p, v) HA_ATOMIC_(HA_STORE_OF_, __COUNTER__, p, v)

/* A pointer and a value of its type, evaluated once. */
#define HA_ATOMIC_OPERANDS_(n, p, v)                                                               \
    HA_STATIC_ASSERT_(sizeof(*(p)) == 4 || sizeof(*(p)) == 8,                                      \
                      "atomics are of int32_t, uint32_t, int64_t, uint64_t, float and double");    \
    HA_TYPEOF_(&*(p)) const ha_p_##n = (p);                                                        \
    HA_TYPEOF_(*(p) + 0) ha_v_##n = (v), ha_old_##n;                                               \
    HA_UNUSED HA_TYPEOF_(*(p) + 0)                                                                 \
        ha_before_##n; /* assigned last: who does not use it is not warned */                      \
    __atomic_load(ha_p_##n, &ha_old_##n, __ATOMIC_RELAXED)

/* A team is one thread here, so two steps do; they are of atomics, as loops over lanes are made vectors of
 * where nothing says that lanes may meet. */
#define HA_LOCALLY_OF_(n, p, v, CHANGE)                                                            \
    __extension__({                                                                                \
        HA_ATOMIC_OPERANDS_(n, p, v);                                                              \
        HA_TYPEOF_(ha_old_##n) ha_new_##n = CHANGE(ha_old_##n, ha_v_##n);                          \
        __atomic_store(ha_p_##n, &ha_new_##n, __ATOMIC_RELAXED);                                   \
        ha_before_##n = ha_old_##n;                                                                \
    })
#define HA_GLOBALLY_OF_(n, p, v, CHANGE)                                                           \
    __extension__({                                                                                \
        HA_ATOMIC_OPERANDS_(n, p, v);                                                              \
        HA_TYPEOF_(ha_old_##n) ha_new_##n;                                                         \
        do {                                                                                       \
            ha_new_##n = CHANGE(ha_old_##n, ha_v_##n);                                             \
        } while (!__atomic_compare_exchange(ha_p_##n, &ha_old_##n, &ha_new_##n, 1,                 \
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED));                  \
        ha_before_##n = ha_old_##n;                                                                \
    })
#define HA_COMPARE_LOCALLY_OF_(n, p, expected, v)                                                  \
    __extension__({                                                                                \
        HA_ATOMIC_OPERANDS_(n, p, v);                                                              \
        (void)sizeof(ha_old_##n % 2); /* of integers */                                            \
        if (ha_old_##n == (expected)) __atomic_store(ha_p_##n, &ha_v_##n, __ATOMIC_RELAXED);       \
        ha_before_##n = ha_old_##n;                                                                \
    })
#define HA_COMPARE_GLOBALLY_OF_(n, p, expected, v)                                                 \
    __extension__({                                                                                \
        HA_ATOMIC_OPERANDS_(n, p, v);                                                              \
        (void)sizeof(ha_old_##n % 2);                                                              \
        ha_old_##n = (expected);                                                                   \
        (void)__atomic_compare_exchange_n(ha_p_##n, &ha_old_##n, ha_v_##n, 0, __ATOMIC_RELAXED,    \
                                          __ATOMIC_RELAXED);                                       \
        ha_before_##n = ha_old_##n;                                                                \
    })
#define HA_LOAD_OF_(n, p)                                                                          \
    __extension__({                                                                                \
        HA_UNUSED HA_TYPEOF_(*(p) + 0) ha_old_##n, ha_before_##n;                                  \
        __atomic_load(p, &ha_old_##n, __ATOMIC_RELAXED);                                           \
        ha_before_##n = ha_old_##n;                                                                \
    })
#define HA_STORE_OF_(n, p, v)                                                                      \
    __extension__({                                                                                \
        HA_TYPEOF_(*(p) + 0) ha_new_##n = (v);                                                     \
        __atomic_store(p, &ha_new_##n, __ATOMIC_RELAXED);                                          \
    })

#endif
