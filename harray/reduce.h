/* Reductions: one number from all lanes, on the host and on devices.
 *
 *     HA_REDUCE(dot, ((in, double, x), (in, double, y)), i, double, HA_SUM, x[i] * y[i]);
 *     …
 *     double d;
 *     HA_CHECK(dot(gpu, HA_ALL_LANES, x, y, &d));        // waits for it
 *     HA_CHECK(dot_into(gpu, HA_ALL_LANES, x, y, r, 0)); // element 0 of r, a harray_double: does not wait
 *
 * joins the value of the expression in every lane. Parameters, indices and lanes are those of HA_KERNEL
 * (kernel.h), of up to eleven parameters; its `inout` and `out` make no sense here. dot_in(gpu, box, …, &d) and
 * dot_in_into(gpu, box, …, r, 0) are of the lanes of a box. T is the type in which is computed: int32_t, uint32_t,
 * int64_t, uint64_t, float or double. The operation is one of those below.
 *
 * The result of HA_MIN_AT and HA_MAX_AT is a struct dot_result of the least (the greatest) `value` and of `at`, the first
 * index that has it; of kernels with several indices the number of its lane, counted as the elements of an array
 * of those extents are. Its array is a harray_dot_result.
 *
 * Lanes are joined in an order of their own, the same on every context and for any number of threads, so the
 * results have the same bits wherever + - * / have (kernel.h): parts of 1,024 lanes; in a part 16 sums, of every
 * 16th lane, first to last; the first 8 of these with the last 8, the first 4 of those with the last 4, and so on;
 * then the parts likewise, until there is one. Lanes of several indices are counted with the last one innermost.
 * On a device that takes as much memory as one number for 1,024 lanes.
 *
 * Of no lanes the result is 0; of HA_PRODUCT 1, of HA_AND all bits. What a comparison with NaN gives, the least and the
 * greatest do.
 *
 * ---- errors beside those of HA_KERNEL
 *   HA_ERR_ARGUMENT   no place for the result, or no such element; the least or the greatest of no lanes
 *   HA_ERR_LOST       dot: the device failed before there was a result */
#ifndef HARRAY_REDUCE_H
#define HARRAY_REDUCE_H

#include "team.h"

typedef enum ha_reduction {
    HA_SUM = 256,
    HA_PRODUCT,
    HA_MIN,
    HA_MAX,
    HA_AND,
    HA_OR,
    HA_XOR,
    HA_SUM_EXACT, /* what rounding takes away is summed, too: so the error does not grow with the lanes.
                     Not with -ffast-math */
    HA_MIN_AT,
    HA_MAX_AT
} ha_reduction;

#define HA_REDUCE(name, parameters, indices, T, operation, ...)                                    \
    HA_REDUCE_TEXT_(name, parameters, HA_KERNEL_INDICES_(indices), #indices, T, operation,         \
                    "{ return " #__VA_ARGS__ "; }", __VA_ARGS__)

/* In a file (HA_KERNEL_FILE, kernel.h), where the value is what its body returns. */
#define HA_REDUCE_IN(tag, name, parameters, indices, T, operation)                                 \
    HA_REDUCE_FILED_(tag, name, parameters, HA_KERNEL_INDICES_(indices), #indices, T, operation)

/* ---- what it is made of ------------------------------------------------------------------------ */

/* Sums of a part: the 16 of the order above. A partial result is of 16 bytes at most. */
enum { HA_SUMS_ = 16, HA_PART_LANES_ = 1024, HA_PARTIAL_BYTES_ = 16 };

typedef struct ha_reduction_ {
    ha_reduction operation;
    size_t partial_bytes, result_bytes;
    const char *type, *functions; /* as text for devices */
    /* lanes [first, last) of a box, by number, to a partial result for each part */
    void (*parts)(const ha_kernel *kernel, const ha_region *box, int64_t first, int64_t last,
                  int apart, const ha_kernel_slot_ *slot, void *partials);
    void (*add)(void *sums, int64_t n, const void *partial); /* the n-th one */
    void (*join)(void *sums, int64_t n, void *partial);      /* of all, when n have been added */
    void (*end)(const void *partial, void *result);          /* NULL: of no lanes */
} ha_reduction_;

/* Where a result goes: an element of an array; or, without an array, to the host. */
typedef struct ha_kernel_result_ {
    ha_array *array;
    size_t index;
    void *value;
} ha_kernel_result_;

/* Runs all of it here. */
HA_API void ha_reduce_lanes_(const ha_kernel *kernel, const ha_region *box, int apart,
                             const ha_kernel_slot_ *slot, void *result);

/* The functions of an operation, here and, as text, on devices: P is a partial result, R the result. */
#define HA_SUM_OF_(a, b) a + b
#define HA_PRODUCT_OF_(a, b) a *b
#define HA_MIN_OF_(a, b) b < a ? b : a
#define HA_MAX_OF_(a, b) a < b ? b : a
#define HA_AND_OF_(a, b) a &b
#define HA_OR_OF_(a, b) a | b
#define HA_XOR_OF_(a, b) a ^ b
#define HA_LESS_OF_(a, b) a < b
#define HA_GREATER_OF_(a, b) b < a
#define HA_NOTHING_(zero) zero
#define HA_ONE_(zero) zero + 1
#define HA_ALL_BITS_(zero) ~zero

#define HA_REDUCE_PLAINLY_(FN, T, P, R, begin, merge, none, finish, OF, NONE)                      \
    typedef T P;                                                                                   \
    typedef T R;                                                                                   \
    FN P begin(T v, int64_t at) {                                                                  \
        (void)at;                                                                                  \
        return v;                                                                                  \
    }                                                                                              \
    FN P merge(P a, P b) { return OF(a, b); }                                                      \
    FN P none(void) {                                                                              \
        const T zero = 0;                                                                          \
        return NONE(zero);                                                                         \
    }                                                                                              \
    FN R finish(P a) { return a; }

/* The rest of an infinite sum is no number. */
#define HA_REDUCE_EXACTLY_(FN, T, P, R, begin, merge, none, finish, OF, NONE)                      \
    typedef struct P {                                                                             \
        T sum, rest;                                                                               \
    } P;                                                                                           \
    typedef T R;                                                                                   \
    FN P begin(T v, int64_t at) {                                                                  \
        P p;                                                                                       \
        (void)at;                                                                                  \
        p.sum = v;                                                                                 \
        p.rest = 0;                                                                                \
        return p;                                                                                  \
    }                                                                                              \
    FN P merge(P a, P b) {                                                                         \
        P p;                                                                                       \
        p.sum = a.sum + b.sum;                                                                     \
        const T of_b = p.sum - a.sum, of_a = p.sum - of_b;                                         \
        p.rest = a.rest + b.rest + ((a.sum - of_a) + (b.sum - of_b));                              \
        return p;                                                                                  \
    }                                                                                              \
    FN P none(void) { return begin(0, 0); }                                                        \
    FN R finish(P a) { return a.rest == a.rest ? a.sum + a.rest : a.sum; }

#define HA_REDUCE_WITH_PLACE_(FN, T, P, R, begin, merge, none, finish, OF, NONE)                   \
    typedef struct R {                                                                             \
        T value;                                                                                   \
        int64_t at;                                                                                \
    } R;                                                                                           \
    typedef R P;                                                                                   \
    FN P begin(T v, int64_t at) {                                                                  \
        P p;                                                                                       \
        p.value = v;                                                                               \
        p.at = at;                                                                                 \
        return p;                                                                                  \
    }                                                                                              \
    FN P merge(P a, P b) {                                                                         \
        if (OF(a.value, b.value)) return a;                                                        \
        if (OF(b.value, a.value)) return b;                                                        \
        return a.at < b.at ? a : b;                                                                \
    }                                                                                              \
    FN P none(void) { return begin(0, 0); }                                                        \
    FN R finish(P a) { return a; }

/* For each operation: its functions, with what they are made of; and the type of an array of results. */
#define HA_REDUCE_BY_HA_SUM_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_SUM_OF_, HA_NOTHING_)
#define HA_REDUCE_BY_HA_PRODUCT_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_PRODUCT_OF_, HA_ONE_)
#define HA_REDUCE_BY_HA_MIN_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_MIN_OF_, HA_NOTHING_)
#define HA_REDUCE_BY_HA_MAX_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_MAX_OF_, HA_NOTHING_)
#define HA_REDUCE_BY_HA_AND_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_AND_OF_, HA_ALL_BITS_)
#define HA_REDUCE_BY_HA_OR_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_OR_OF_, HA_NOTHING_)
#define HA_REDUCE_BY_HA_XOR_(...) HA_REDUCE_PLAINLY_(__VA_ARGS__, HA_XOR_OF_, HA_NOTHING_)
#define HA_REDUCE_BY_HA_SUM_EXACT_(...) HA_REDUCE_EXACTLY_(__VA_ARGS__, ~, ~)
#define HA_REDUCE_BY_HA_MIN_AT_(...) HA_REDUCE_WITH_PLACE_(__VA_ARGS__, HA_LESS_OF_, ~)
#define HA_REDUCE_BY_HA_MAX_AT_(...) HA_REDUCE_WITH_PLACE_(__VA_ARGS__, HA_GREATER_OF_, ~)
#define HA_RESULTS_OF_HA_SUM_(name, T) typedef ha_given_##T ha_results_##name;
#define HA_RESULTS_OF_HA_PRODUCT_(name, T) HA_RESULTS_OF_HA_SUM_(name, T)
#define HA_RESULTS_OF_HA_MIN_(name, T) HA_RESULTS_OF_HA_SUM_(name, T)
#define HA_RESULTS_OF_HA_MAX_(name, T) HA_RESULTS_OF_HA_SUM_(name, T)
#define HA_RESULTS_OF_HA_AND_(name, T) HA_RESULTS_OF_HA_SUM_(name, T)
#define HA_RESULTS_OF_HA_OR_(name, T) HA_RESULTS_OF_HA_SUM_(name, T)
#define HA_RESULTS_OF_HA_XOR_(name, T) HA_RESULTS_OF_HA_SUM_(name, T)
#define HA_RESULTS_OF_HA_SUM_EXACT_(name, T) HA_RESULTS_OF_HA_SUM_(name, T)
#define HA_RESULTS_OF_HA_MIN_AT_(name, T)                                                          \
    HARRAY_NAMED(name##_result, name##_result);                                                    \
    typedef harray_##name##_result ha_results_##name;
#define HA_RESULTS_OF_HA_MAX_AT_(name, T) HA_RESULTS_OF_HA_MIN_AT_(name, T)

/* Text of what a macro makes. */
#define HA_TEXT_OF_(...) HA_TEXT_OF_ALL_(__VA_ARGS__)
#define HA_TEXT_OF_ALL_(...) #__VA_ARGS__

/* The indices of the n-th lane of a box; and those of the l-th lane behind it in its row. */
#define HA_LANE_AT_1_(box, n) const ptrdiff_t ha_i_ = (box).first[0] + (n);
#define HA_LANE_AT_2_(box, n)                                                                      \
    const int64_t ha_width_ = (box).last[1] - (box).first[1];                                      \
    const ptrdiff_t ha_j_ = (box).first[0] + (n) / ha_width_;                                      \
    const ptrdiff_t ha_i_ = (box).first[1] + (n) % ha_width_;
#define HA_LANE_AT_3_(box, n)                                                                      \
    const int64_t ha_width_ = (box).last[2] - (box).first[2];                                      \
    const int64_t ha_height_ = (box).last[1] - (box).first[1];                                     \
    const ptrdiff_t ha_k_ = (box).first[0] + (n) / ha_width_ / ha_height_;                         \
    const ptrdiff_t ha_j_ = (box).first[1] + (n) / ha_width_ % ha_height_;                         \
    const ptrdiff_t ha_i_ = (box).first[2] + (n) % ha_width_;
#define HA_LANE_BEHIND_1_(l) ha_i_ + (l)
#define HA_LANE_BEHIND_2_(l) ha_j_, ha_i_ + (l)
#define HA_LANE_BEHIND_3_(l) ha_k_, ha_j_, ha_i_ + (l)

#define HA_REDUCE_TEXT_(name, parameters, indices, ...)                                            \
    HA_REDUCE_RANK_(name, parameters, HA_COUNT_OF_ indices, indices, __VA_ARGS__)
#define HA_REDUCE_RANK_(name, parameters, D, ...) HA_REDUCE_MADE_(name, parameters, D, __VA_ARGS__)
#define HA_REDUCE_MADE_(name, parameters, D, indices, indices_text, T, operation, text, ...)       \
    HA_REDUCE_CHECK_(name, parameters, T, operation)                                               \
    HA_CONTRACTION_(parameters)                                                                    \
    HA_REDUCE_HEAD_(name, parameters, D, indices, T) { return __VA_ARGS__; }                       \
    HA_REDUCE_OF_BODY_(name, parameters, D, indices_text, T, operation, text, HA_NULL_)            \
    HA_CONTRACTION_END_                                                                            \
    struct ha_semicolon_

/* In a file: the body comes behind all that calls it. */
#define HA_REDUCE_FILED_(tag, name, parameters, indices, ...)                                      \
    HA_REDUCE_FILED_RANK_(tag, name, parameters, HA_COUNT_OF_ indices, indices, __VA_ARGS__)
#define HA_REDUCE_FILED_RANK_(tag, name, parameters, D, ...)                                       \
    HA_REDUCE_FILED_MADE_(tag, name, parameters, D, __VA_ARGS__)
#define HA_REDUCE_FILED_MADE_(tag, name, parameters, D, indices, indices_text, T, operation)       \
    HA_REDUCE_CHECK_(name, parameters, T, operation)                                               \
    HA_CONTRACTION_FROM_HERE_(parameters)                                                          \
    HA_REDUCE_HEAD_(name, parameters, D, indices, T);                                              \
    HA_REDUCE_OF_BODY_(name, parameters, D, indices_text, T, operation, HA_KERNEL_TEXT(tag), #tag) \
    HA_REDUCE_HEAD_(name, parameters, D, indices, T)

#define HA_REDUCE_CHECK_(name, parameters, T, operation)                                           \
    HA_STATIC_ASSERT_(operation >= HA_SUM, "HA_REDUCE: an operation of ha_reduction");             \
    HA_STATIC_ASSERT_(sizeof(T) == 4 || sizeof(T) == 8,                                            \
                      "HA_REDUCE: " #name " is of no int32_t, uint32_t, int64_t, uint64_t, float " \
                      "or double");                                                                \
    HA_PARAMETERS_CHECK_(name, parameters, HA_MOST_PARAMETERS_ - 1, "eleven")
#define HA_REDUCE_HEAD_(name, parameters, D, indices, T)                                           \
    HA_BODY_FN_ T name##_body_(                                                                    \
        HA_INDEX_PARAMETERS_##D##_ indices HA_FOR_FIELDS_(HA_MODE_SEEN_, ~, HA_BARE_ parameters))
#define HA_REDUCE_OF_BODY_(name, parameters, D, indices_text, T, operation, text, file)            \
    HA_REDUCE_BY_##operation##_(HA_FN, T, ha_partial_##name, name##_result, name##_begin_,         \
                                name##_merge_, name##_none_, name##_finish_)                       \
        HA_RESULTS_OF_##operation##_(name, T) HA_BODY_FN_ ha_partial_##name name##_lane_(          \
            const ha_region ha_box_,                                                               \
            const int64_t ha_n_ HA_FOR_FIELDS_(HA_MODE_SEEN_, ~, HA_BARE_ parameters)) {           \
        HA_LANE_AT_##D##_(ha_box_, ha_n_) return name##_begin_(                                    \
            name##_body_(HA_LANE_BEHIND_##D##_(0)                                                  \
                             HA_FOR_FIELDS_(HA_MODE_NAMED_, ~, HA_BARE_ parameters)),              \
            D == 1 ? ha_i_ : ha_n_);                                                               \
    }                                                                                              \
    /* the first half with the last one, until one is left */                                      \
    static __attribute__((__noinline__)) void name##_join_(void *ha_sums_, int64_t ha_n_,          \
                                                           void *ha_to_) {                         \
        ha_partial_##name *const ha_sum_ = HA_TO_(ha_partial_##name *, ha_sums_);                  \
        if (ha_n_ >= HA_SUMS_)                                                                     \
            for (int ha_d_ = HA_SUMS_ / 2; ha_d_ > 0; ha_d_ /= 2)                                  \
                for (int ha_l_ = 0; ha_l_ < ha_d_; ha_l_++)                                        \
                    ha_sum_[ha_l_] = name##_merge_(ha_sum_[ha_l_], ha_sum_[ha_l_ + ha_d_]);        \
        else                                                                                       \
            for (int ha_d_ = HA_SUMS_ / 2; ha_d_ > 0; ha_d_ /= 2)                                  \
                for (int ha_l_ = 0; ha_l_ < ha_d_ && ha_l_ + ha_d_ < ha_n_; ha_l_++)               \
                    ha_sum_[ha_l_] = name##_merge_(ha_sum_[ha_l_], ha_sum_[ha_l_ + ha_d_]);        \
        *HA_TO_(ha_partial_##name *, ha_to_) = ha_sum_[0];                                         \
    }                                                                                              \
    HA_REDUCE_LANES_(name, parameters, D, operation)                                               \
    HA_REDUCE_LOOP_(name, HA_CONTRACTS_(parameters), apart, __restrict__, 1, parameters)           \
    HA_REDUCE_LOOP_(name, HA_CONTRACTS_(parameters), any, , 0, parameters)                         \
    HA_REDUCE_FUNCTIONS_(name, parameters, D)                                                      \
    static const ha_reduction_ name##_reduction_ = {                                               \
        operation,                                                                                 \
        sizeof(ha_partial_##name),                                                                 \
        sizeof(name##_result),                                                                     \
        #T,                                                                                        \
        HA_TEXT_OF_(HA_REDUCE_BY_##operation##_(HA_BODY_, T, ha_partial_, ha_outcome_, ha_begin_,  \
                                                ha_merge_, ha_none_, ha_finish_)),                 \
        name##_parts_,                                                                             \
        name##_add_,                                                                               \
        name##_join_,                                                                              \
        name##_end_};                                                                              \
    static void name##_loops_(const ha_kernel *ha_kernel_, const ha_region *ha_box_,               \
                              int ha_apart_, const ha_kernel_slot_ *ha_slot_) {                    \
        ha_reduce_lanes_(ha_kernel_, ha_box_, ha_apart_, ha_slot_,                                 \
                         ha_slot_[HA_SLOTS_(parameters)].pointer);                                 \
    }                                                                                              \
    HA_KERNEL_DESCRIBED_(name, parameters, (HA_REDUCE_ROW_(name, T)), D, indices_text, text, 0,    \
                         HA_NULL_, &name##_reduction_, file)                                       \
    HA_REDUCE_CALLS_(name, , HA_NULL_, 0, ha_result_, name##_result *ha_result_, parameters, D)    \
    HA_REDUCE_CALLS_(name, _into, ha_results_.array, ha_index_, HA_NULL_,                          \
                     HA_BARE_(ha_results_##name ha_results_, size_t ha_index_), parameters, D)

/* What it writes, as a parameter. */
#define HA_REDUCE_ROW_(name, T)                                                                    \
    {                                                                                              \
        HA_KERNEL_RESULT_, 0, sizeof(name##_result), #T, "the result", HA_SITE ": the result", 0,  \
            HA_NULL_, HA_NULL_, HA_NULL_, HA_NULL_, 0                                              \
    }

/* A loop over the 16 sums of a part. Where joining is one instruction it is unrolled before anything else is done with
 * it: so they become variables, and these vectors in registers. Else it is made vectors of as any other loop. */
#if defined __CUDACC__ /* which takes neither */
#define HA_SUMS_LOOP_
#elif defined __clang__
#define HA_SUMS_LOOP_ _Pragma("clang loop unroll(full)")
#else
#define HA_SUMS_LOOP_ _Pragma("GCC unroll 16")
#endif
#define HA_LOOP_OF_HA_SUM_ HA_SUMS_LOOP_
#define HA_LOOP_OF_HA_PRODUCT_ HA_SUMS_LOOP_
#define HA_LOOP_OF_HA_MIN_ HA_INDEPENDENT_
#define HA_LOOP_OF_HA_MAX_ HA_INDEPENDENT_
#define HA_LOOP_OF_HA_AND_ HA_SUMS_LOOP_
#define HA_LOOP_OF_HA_OR_ HA_SUMS_LOOP_
#define HA_LOOP_OF_HA_XOR_ HA_SUMS_LOOP_
#define HA_LOOP_OF_HA_SUM_EXACT_ HA_INDEPENDENT_
#define HA_LOOP_OF_HA_MIN_AT_ HA_INDEPENDENT_
#define HA_LOOP_OF_HA_MAX_AT_ HA_INDEPENDENT_
#define HA_SUMS_FOR_(operation)                                                                    \
    HA_LOOP_OF_##operation##_ for (int ha_l_ = 0; ha_l_ < HA_SUMS_; ha_l_++)

/* Not unrolled where records have more than one index: 16 bodies for each layout are compiled for 20 s. */
#define HA_REDUCE_FOR_(operation, D, records) HA_REDUCE_FOR_##records##_(operation, D)
#define HA_REDUCE_FOR_0_(operation, D) HA_SUMS_FOR_(operation)
#define HA_REDUCE_FOR_1_(operation, D) HA_REDUCE_RECORDS_FOR_##D##_(operation)
#define HA_REDUCE_RECORDS_FOR_1_(operation) HA_SUMS_FOR_(operation)
#define HA_REDUCE_RECORDS_FOR_2_(operation)                                                        \
    HA_INDEPENDENT_ for (int ha_l_ = 0; ha_l_ < HA_SUMS_; ha_l_++)
#define HA_REDUCE_RECORDS_FOR_3_(operation) HA_REDUCE_RECORDS_FOR_2_(operation)

/* Lanes by their number, 16 at once where they are in one row. */
#define HA_REDUCE_LOOP_(...) HA_REDUCE_LOOP_1_(__VA_ARGS__)
#define HA_REDUCE_LOOP_1_(name, contracts, how, restricted, unit, parameters)                      \
    HA_CONTRACTED_##contracts##_ static __attribute__((__noinline__))                              \
    ha_partial_##name name##_part_##how##_(                                                        \
        const ha_region ha_box_, const int64_t ha_first_,                                          \
        const int64_t ha_last_ HA_FOR_FIELDS_(HA_MODE_LOOPED_, restricted, HA_BARE_ parameters)) { \
        HA_FOR_FIELDS_(HA_MODE_VARIABLE_, unit, HA_BARE_ parameters)                               \
        ha_partial_##name ha_partial_;                                                             \
        HA_FITTED_(parameters,                                                                     \
                   ha_partial_ = name##_lanes_(                                                    \
                       ha_box_, ha_first_,                                                         \
                       ha_last_ HA_FOR_FIELDS_(HA_MODE_NAMED_, ~, HA_BARE_ parameters)));          \
        return ha_partial_;                                                                        \
    }

/* The body stands here as few times as can be, for all of it is compiled for each layout of records: for the first 16
 * lanes, where it is short; in the loop; and for lanes at the end of a row and of all, one after the other. */
#define HA_REDUCE_LANES_(name, parameters, D, operation)                                           \
    HA_REDUCE_LANES_1_(name, parameters, D, operation, HA_HAS_RECORDS_(parameters))
#define HA_REDUCE_LANES_1_(name, parameters, D, operation, records)                                \
    HA_BODY_FN_ ha_partial_##name name##_lanes_(                                                   \
        const ha_region ha_box_, const int64_t ha_first_,                                          \
        const int64_t ha_last_ HA_FOR_FIELDS_(HA_MODE_SEEN_, ~, HA_BARE_ parameters)) {            \
        ha_partial_##name ha_sum_[HA_SUMS_];                                                       \
        const int64_t ha_lanes_ = ha_last_ - ha_first_;                                            \
        for (int64_t ha_n_ = ha_first_; ha_n_ < ha_last_;) {                                       \
            HA_LANE_AT_##D##_(ha_box_, ha_n_) const int64_t ha_row_ =                              \
                D == 1 ? ha_last_ : HA_LESS(ha_last_, ha_n_ + ha_box_.last[D - 1] - ha_i_);        \
            const int ha_begins_ = ha_n_ == ha_first_;                                             \
            ptrdiff_t ha_m_ = 0;                                                                   \
            if (ha_n_ + HA_SUMS_ > ha_row_ || (records && ha_begins_)) {                           \
                for (int ha_l_ = 0; ha_l_ < HA_SUMS_ && ha_n_ + ha_l_ < ha_last_; ha_l_++) {       \
                    const ha_partial_##name ha_one_ = name##_lane_(                                \
                        ha_box_,                                                                   \
                        ha_n_ + ha_l_ HA_FOR_FIELDS_(HA_MODE_NAMED_, ~, HA_BARE_ parameters));     \
                    ha_sum_[ha_l_] = ha_begins_ ? ha_one_                                          \
                                                : name##_merge_(ha_sum_[ha_l_], ha_one_);          \
                }                                                                                  \
                ha_n_ += HA_SUMS_;                                                                 \
                continue;                                                                          \
            }                                                                                      \
            if (!records && ha_begins_) {                                                          \
                HA_REDUCE_FOR_(operation, D, records)                                              \
                ha_sum_[ha_l_] = name##_begin_(                                                    \
                    name##_body_(HA_LANE_BEHIND_##D##_(ha_l_)                                      \
                                     HA_FOR_FIELDS_(HA_MODE_NAMED_, ~, HA_BARE_ parameters)),      \
                    (D == 1 ? ha_i_ : ha_n_) + ha_l_);                                             \
                ha_m_ = HA_SUMS_;                                                                  \
                ha_n_ += HA_SUMS_;                                                                 \
            }                                                                                      \
            ha_partial_##name ha_now_[HA_SUMS_]; /* its address is given to no function */         \
            HA_REDUCE_FOR_(operation, D, records) ha_now_[ha_l_] = ha_sum_[ha_l_];                 \
            for (; ha_n_ + HA_SUMS_ <= ha_row_; ha_n_ += HA_SUMS_, ha_m_ += HA_SUMS_)              \
                HA_REDUCE_FOR_(operation, D, records)                                              \
            ha_now_[ha_l_] = name##_merge_(                                                        \
                ha_now_[ha_l_],                                                                    \
                name##_begin_(name##_body_(HA_LANE_BEHIND_##D##_(ha_m_ + ha_l_) HA_FOR_FIELDS_(    \
                                  HA_MODE_NAMED_, ~, HA_BARE_ parameters)),                        \
                              D == 1 ? ha_i_ + ha_m_ + ha_l_ : ha_n_ + ha_l_));                    \
            HA_REDUCE_FOR_(operation, D, records) ha_sum_[ha_l_] = ha_now_[ha_l_];                 \
        }                                                                                          \
        name##_join_(ha_sum_, ha_lanes_, ha_sum_);                                                 \
        return ha_sum_[0];                                                                         \
    }

/* Those that are called by pointers. */
#define HA_REDUCE_FUNCTIONS_(name, parameters, D)                                                  \
    static void name##_parts_(const ha_kernel *ha_kernel_, const ha_region *ha_box_,               \
                              int64_t ha_first_, int64_t ha_last_, int ha_apart_,                  \
                              const ha_kernel_slot_ *ha_slot_, void *ha_to_) {                     \
        (void)ha_kernel_;                                                                          \
        HA_FOR_FIELDS_(HA_MODE_SLOT_, ~, HA_BARE_ parameters)                                      \
        ha_partial_##name *const ha_partial_ = HA_TO_(ha_partial_##name *, ha_to_);                \
        const ha_region ha_parts_ = {                                                              \
            {0}, {(ha_last_ - ha_first_ + HA_PART_LANES_ - 1) / HA_PART_LANES_}};                  \
        HA_AMONG_THREADS_(                                                                         \
            &ha_parts_, 1, HA_PART_LANES_ *(HA_GRAIN_(parameters)),                                \
            const ha_region ha_own_ = HA_SHARE_(&ha_parts_, 0);                                    \
            for (ptrdiff_t ha_p_ = ha_own_.first[0]; ha_p_ < ha_own_.last[0]; ha_p_++) {           \
                const int64_t ha_from_ = ha_first_ + ha_p_ * HA_PART_LANES_;                       \
                const int64_t ha_end_ = HA_LESS(ha_from_ + HA_PART_LANES_, ha_last_);              \
                ha_partial_[ha_p_] =                                                               \
                    !HA_HAS_RECORDS_(parameters) && ha_apart_                                      \
                        ? name##_part_apart_(                                                      \
                              *ha_box_, ha_from_,                                                  \
                              ha_end_ HA_FOR_FIELDS_(HA_MODE_PASSED_, ~, HA_BARE_ parameters))     \
                        : name##_part_any_(                                                        \
                              *ha_box_, ha_from_,                                                  \
                              ha_end_ HA_FOR_FIELDS_(HA_MODE_PASSED_, ~, HA_BARE_ parameters));    \
            })                                                                                     \
    }                                                                                              \
    static void name##_add_(void *ha_sums_, int64_t ha_n_, const void *ha_partial_) {              \
        const ha_partial_##name ha_p_ = *HA_TO_(const ha_partial_##name *, ha_partial_);           \
        ha_partial_##name *const ha_sum_ = HA_TO_(ha_partial_##name *, ha_sums_) +                 \
                                           ha_n_ % HA_SUMS_;                                       \
        *ha_sum_ = ha_n_ < HA_SUMS_ ? ha_p_ : name##_merge_(*ha_sum_, ha_p_);                      \
    }                                                                                              \
    static void name##_end_(const void *ha_partial_, void *ha_result_) {                           \
        *HA_TO_(name##_result *, ha_result_) =                                                     \
            ha_partial_ ? name##_finish_(*HA_TO_(const ha_partial_##name *, ha_partial_))          \
                        : name##_finish_(name##_none_());                                          \
    }

/* name<into> and name_in<into>, which are given the arguments, and then this. */
#define HA_REDUCE_CALLS_(name, into, array, index, value, last, parameters, D)                     \
    HA_TYPED_ HA_MUST_CHECK ha_status name##_in##into(                                             \
        ha_context *ha_context_,                                                                   \
        ha_region ha_box_ HA_FOR_FIELDS_(HA_MODE_GIVEN_, ~, HA_BARE_ parameters), last) {          \
        const ha_kernel_result_ ha_into_ = {array, index, value};                                  \
        HA_FOR_FIELDS_(HA_MODE_STORED_, ~, HA_BARE_ parameters)                                    \
        const void *const ha_given_[] = {                                                          \
            HA_NULL_ HA_FOR_FIELDS_(HA_MODE_ADDRESS_, ~, HA_BARE_ parameters), &ha_into_};         \
        return ha_kernel_launch_(&name##_kernel, ha_context_, &ha_box_, ha_given_ + 1);            \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status name##into(                                                  \
        ha_context *ha_context_,                                                                   \
        HA_LANES_OF_##D##_ ha_lanes_ HA_FOR_FIELDS_(HA_MODE_GIVEN_, ~, HA_BARE_ parameters),       \
        last) {                                                                                    \
        const ha_kernel_result_ ha_into_ = {array, index, value};                                  \
        HA_FOR_FIELDS_(HA_MODE_STORED_, ~, HA_BARE_ parameters)                                    \
        const void *const ha_given_[] = {                                                          \
            HA_NULL_ HA_FOR_FIELDS_(HA_MODE_ADDRESS_, ~, HA_BARE_ parameters), &ha_into_};         \
        const ha_region ha_box_ = ha_lanes_##D##_(ha_lanes_);                                      \
        return ha_kernel_launch_(&name##_kernel, ha_context_,                                      \
                                 HA_IS_ALL_##D##_(ha_lanes_) ? HA_NULL_ : &ha_box_,                \
                                 ha_given_ + 1);                                                   \
    }

#endif
