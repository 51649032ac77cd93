/* Extents, strides and indices. */
#ifndef HARRAY_IMPL_ELEMENTS_EXTENTS_H
#define HARRAY_IMPL_ELEMENTS_EXTENTS_H

#include "../base/all.h"

/* ---- what is refused ------------------------------------------------------------------------ */

HA_IN_ int ha_rank_is_valid(int rank) { return rank >= 0 && rank <= HA_MOST_RANK; }

size_t ha_extents_print(int rank, const int64_t *numbers, char *text, size_t bytes) {
    ha_text t = ha_text_into(text, bytes);
    for (int d = 0; ha_rank_is_valid(rank) && numbers && d < rank; d++)
        ha_print(&t, "%s%lld", d ? ", " : "", (long long)numbers[d]);
    return t.length;
}

/* The numbers for a message, whose full expression they live in. */
typedef struct ha_numbers_shown {
    char text[HA_MOST_RANK * sizeof ", -9223372036854775808"];
} ha_numbers_shown;

HA_IN_ ha_numbers_shown ha_show(int rank, const int64_t *numbers) {
    ha_numbers_shown shown;
    ha_extents_print(rank, numbers, shown.text, sizeof shown.text);
    return shown;
}

/* `missing`: a pointer is NULL that may not be. */
HA_IN_ ha_status ha_extents_valid(int rank, int missing, const char *operation) {
    if (!ha_rank_is_valid(rank))
        return ha_fail(HA_ERR_ARGUMENT, operation, "a rank of %d is not in 0 ... %d", rank,
                       HA_MOST_RANK);
    if (missing) return ha_fail(HA_ERR_ARGUMENT, operation, "a pointer is NULL (rank %d)", rank);
    return HA_OK;
}

HA_IN_ int ha_any_negative(int rank, const int64_t *extent) {
    for (int d = 0; d < rank; d++)
        if (extent[d] < 0) return 1;
    return 0;
}

/* With extents that are not negative. */
HA_IN_ ha_status ha_extents_sizes(int rank, const int64_t *extent, int missing,
                                  const char *operation) {
    ha_status s = ha_extents_valid(rank, missing || (rank && !extent), operation);
    if (s) return s;
    if (ha_any_negative(rank, extent))
        return ha_fail(HA_ERR_ARGUMENT, operation, "an extent is negative in (%s)",
                       ha_show(rank, extent).text);
    return HA_OK;
}

HA_IN_ ha_status ha_order_valid(ha_order order, const char *operation) {
    if (order == HA_ROW_MAJOR || order == HA_COLUMN_MAJOR) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, operation, "%d is neither row- nor column-major", (int)order);
}

/* ---- extents -------------------------------------------------------------------------------- */

HA_IN_ int ha_any_zero(int rank, const int64_t *extent) {
    for (int d = 0; d < rank; d++)
        if (!extent[d]) return 1;
    return 0;
}

/* Extents of 0 count as 1. Returns whether it fits. */
HA_IN_ int ha_product_above_0(int rank, const int64_t *extent, int64_t *count) {
    *count = 1;
    for (int d = 0; d < rank; d++)
        if (extent[d] && __builtin_mul_overflow(*count, extent[d], count)) return 0;
    return 1;
}

HA_IN_ ha_status ha_product_fail(int rank, const int64_t *extent, const char *operation) {
    return ha_fail(HA_ERR_MEMORY, operation, "the number of elements of (%s) overflows 64 bits",
                   ha_show(rank, extent).text);
}

/* Checks everything of extents that are to be counted. */
HA_IN_ ha_status ha_extents_count(int rank, const int64_t *extent, int missing, int64_t *count,
                                  const char *operation) {
    ha_status s = ha_extents_sizes(rank, extent, missing, operation);
    if (s) return s;
    *count = 0;
    if (ha_any_zero(rank, extent) || ha_product_above_0(rank, extent, count)) return HA_OK;
    return ha_product_fail(rank, extent, operation);
}

ha_status ha_extents_product(int rank, const int64_t *extent, int64_t *count) {
    int64_t n;
    ha_status s = ha_extents_count(rank, extent, !count, &n, "ha_extents_product");
    if (!s) *count = n;
    return s;
}

/* The dimension that is the nth fastest in memory. */
HA_IN_ int ha_nth_fastest(int n, int rank, ha_order order) {
    return order == HA_ROW_MAJOR ? rank - 1 - n : n;
}

ha_status ha_extents_strides(int rank, const int64_t *extent, ha_order order, int64_t *stride) {
    const char *const operation = "ha_extents_strides";
    int64_t count, next = 1;
    ha_status s = ha_extents_sizes(rank, extent, rank && !stride, operation);
    if (!s) s = ha_order_valid(order, operation);
    if (s) return s;
    if (!ha_product_above_0(rank, extent, &count)) return ha_product_fail(rank, extent, operation);
    for (int n = 0; n < rank; n++) {
        int d = ha_nth_fastest(n, rank, order);
        int64_t here = extent[d] ? extent[d] : 1;
        stride[d] = next;
        next *= here;
    }
    return HA_OK;
}

int ha_extents_contiguous(int rank, const int64_t *extent, const int64_t *stride, ha_order order) {
    int64_t next = 1;
    int fits = 1;
    if (!ha_rank_is_valid(rank) || (rank && (!extent || !stride))) return 0;
    if (ha_any_negative(rank, extent) || (order != HA_ROW_MAJOR && order != HA_COLUMN_MAJOR))
        return 0;
    if (ha_any_zero(rank, extent)) return 1;
    for (int n = 0; n < rank; n++) {
        int d = ha_nth_fastest(n, rank, order);
        if (extent[d] == 1) continue;
        if (!fits || stride[d] != next) return 0;
        fits = !__builtin_mul_overflow(next, extent[d], &next);
    }
    return 1;
}

/* Adds factor * stride to what it belongs to, lowest or highest. Returns whether it fits. */
HA_IN_ int ha_reach_add(int64_t factor, int64_t stride, int64_t *lowest, int64_t *highest) {
    int64_t part, *sum = stride < 0 ? lowest : highest;
    return !__builtin_mul_overflow(factor, stride, &part) &&
           !__builtin_add_overflow(*sum, part, sum);
}

/* Of extents that were checked. */
HA_IN_ int ha_reach_fits(int rank, const int64_t *extent, const int64_t *stride, int64_t *lowest,
                         int64_t *highest) {
    *lowest = 0;
    *highest = -1;
    if (ha_any_zero(rank, extent)) return 1;
    *highest = 0;
    for (int d = 0; d < rank; d++)
        if (!ha_reach_add(extent[d] - 1, stride[d], lowest, highest)) return 0;
    return 1;
}

HA_IN_ ha_status ha_reach_of(int rank, const int64_t *extent, const int64_t *stride, int missing,
                             int64_t *lowest, int64_t *highest, const char *operation) {
    ha_status s = ha_extents_sizes(rank, extent, missing || (rank && !stride), operation);
    if (s || ha_reach_fits(rank, extent, stride, lowest, highest)) return s;
    return ha_fail(HA_ERR_MEMORY, operation, "(%s) with strides (%s) reaches farther than 64 bits",
                   ha_show(rank, extent).text, ha_show(rank, stride).text);
}

ha_status ha_extents_reach(int rank, const int64_t *extent, const int64_t *stride, int64_t *lowest,
                           int64_t *highest) {
    int64_t low, high;
    ha_status s = ha_reach_of(rank, extent, stride, !lowest || !highest, &low, &high,
                              "ha_extents_reach");
    if (s) return s;
    *lowest = low;
    *highest = high;
    return HA_OK;
}

ha_status ha_extents_inside(int rank, const int64_t *extent, const int64_t *stride, int64_t offset,
                            int64_t size) {
    const char *const operation = "ha_extents_inside";
    int64_t low, high, first, last;
    ha_status s = ha_reach_of(rank, extent, stride, 0, &low, &high, operation);
    if (s || high < 0) return s;
    if (__builtin_add_overflow(offset, low, &first) || __builtin_add_overflow(offset, high, &last))
        return ha_fail(HA_ERR_MEMORY, operation,
                       "(%s) with strides (%s) at offset %lld reaches farther than 64 bits",
                       ha_show(rank, extent).text, ha_show(rank, stride).text, (long long)offset);
    if (first >= 0 && last < size) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, operation,
                   "elements %lld to %lld are not all in a storage of %lld: (%s), strides (%s)",
                   (long long)first, (long long)last, (long long)size, ha_show(rank, extent).text,
                   ha_show(rank, stride).text);
}

int ha_extents_equal(int rank, const int64_t *a, int other_rank, const int64_t *b) {
    if (rank != other_rank || !ha_rank_is_valid(rank) || (rank && (!a || !b))) return 0;
    for (int d = 0; d < rank; d++)
        if (a[d] != b[d]) return 0;
    return 1;
}

/* ---- dimension by dimension ----------------------------------------------------------------- */

HA_IN_ ha_status ha_elementwise_fail(int rank, const int64_t *a, const char *sign, const int64_t *b,
                                     const char *operation) {
    return ha_fail(HA_ERR_MEMORY, operation, "(%s) %s (%s) overflows 64 bits",
                   ha_show(rank, a).text, sign, ha_show(rank, b).text);
}

ha_status ha_extents_add(int rank, const int64_t *a, const int64_t *b, int64_t *sum) {
    const char *const operation = "ha_extents_add";
    int64_t result[HA_MOST_RANK];
    ha_status s = ha_extents_valid(rank, rank && (!a || !b || !sum), operation);
    if (s) return s;
    for (int d = 0; d < rank; d++)
        if (__builtin_add_overflow(a[d], b[d], &result[d]))
            return ha_elementwise_fail(rank, a, "+", b, operation);
    if (rank) memcpy(sum, result, (size_t)rank * sizeof *sum);
    return HA_OK;
}

ha_status ha_extents_multiply(int rank, const int64_t *a, const int64_t *b, int64_t *product) {
    const char *const operation = "ha_extents_multiply";
    int64_t result[HA_MOST_RANK];
    ha_status s = ha_extents_valid(rank, rank && (!a || !b || !product), operation);
    if (s) return s;
    for (int d = 0; d < rank; d++)
        if (__builtin_mul_overflow(a[d], b[d], &result[d]))
            return ha_elementwise_fail(rank, a, "*", b, operation);
    if (rank) memcpy(product, result, (size_t)rank * sizeof *product);
    return HA_OK;
}

HA_IN_ int ha_dimension_exists(int rank, int dimension) {
    return ha_rank_is_valid(rank) && dimension >= 0 && dimension < rank;
}

HA_IN_ ha_status ha_dimension_fail(int rank, int dimension, int missing, const char *operation) {
    ha_status s = ha_extents_valid(rank, missing, operation);
    return s ? s
             : ha_fail(HA_ERR_ARGUMENT, operation, "there is no dimension %d, the rank is %d",
                       dimension, rank);
}

ha_status ha_extents_get(int rank, const int64_t *numbers, int dimension, int64_t *value) {
    if (!numbers || !value || !ha_dimension_exists(rank, dimension))
        return ha_dimension_fail(rank, dimension, !value || (rank && !numbers), "ha_extents_get");
    *value = numbers[dimension];
    return HA_OK;
}

ha_status ha_extents_set(int rank, int64_t *numbers, int dimension, int64_t value) {
    if (!numbers || !ha_dimension_exists(rank, dimension))
        return ha_dimension_fail(rank, dimension, rank && !numbers, "ha_extents_set");
    numbers[dimension] = value;
    return HA_OK;
}

/* ---- indices -------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_index_valid(int rank, const int64_t *index, const int64_t *extent,
                                const char *operation) {
    if (ha_contained(rank, index, extent)) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, operation, "there is no index (%s), the extents are (%s)",
                   ha_show(rank, index).text, ha_show(rank, extent).text);
}

ha_status ha_offset_checked(int rank, const int64_t *index, const int64_t *extent,
                            const int64_t *stride, int64_t *offset) {
    const char *const operation = "ha_offset_checked";
    int64_t low = 0, high = 0;
    ha_status s = ha_extents_sizes(rank, extent, !offset || (rank && (!index || !stride)),
                                   operation);
    if (!s) s = ha_index_valid(rank, index, extent, operation);
    if (s) return s;
    for (int d = 0; d < rank; d++)
        if (!ha_reach_add(index[d], stride[d], &low, &high))
            return ha_fail(HA_ERR_MEMORY, operation,
                           "the offset of (%s) with strides (%s) overflows 64 bits",
                           ha_show(rank, index).text, ha_show(rank, stride).text);
    *offset = low + high;
    return HA_OK;
}

ha_status ha_linear_of_index(int rank, const int64_t *index, const int64_t *extent, ha_order order,
                             int64_t *linear) {
    const char *const operation = "ha_linear_of_index";
    int64_t count, result = 0;
    ha_status s = ha_extents_count(rank, extent, !linear || (rank && !index), &count, operation);
    if (!s) s = ha_order_valid(order, operation);
    if (!s) s = ha_index_valid(rank, index, extent, operation);
    if (s) return s;
    for (int n = rank; n-- > 0;) {
        int d = ha_nth_fastest(n, rank, order);
        result = result * extent[d] + index[d];
    }
    *linear = result;
    return HA_OK;
}

ha_status ha_index_of_linear(int rank, int64_t linear, const int64_t *extent, ha_order order,
                             int64_t *index) {
    const char *const operation = "ha_index_of_linear";
    int64_t count, left = linear;
    ha_status s = ha_extents_count(rank, extent, rank && !index, &count, operation);
    if (!s) s = ha_order_valid(order, operation);
    if (s) return s;
    if (linear < 0 || linear >= count)
        return ha_fail(HA_ERR_ARGUMENT, operation, "there is no element %lld, the extents are (%s)",
                       (long long)linear, ha_show(rank, extent).text);
    for (int n = 0; n < rank; n++) {
        int d = ha_nth_fastest(n, rank, order);
        int64_t here = extent[d];
        index[d] = left % here;
        left /= here;
    }
    return HA_OK;
}

#endif
