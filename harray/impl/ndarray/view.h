/* Views: which elements of a storage, in which order. Arithmetic on extents and strides alone; of the
 * storage only the size is looked at. What comes in is checked to be inside it; then nothing that
 * is computed here overflows, and what comes out is inside, too. */
#ifndef HARRAY_IMPL_NDARRAY_VIEW_H
#define HARRAY_IMPL_NDARRAY_VIEW_H

#include "../../darray.h"
#include "../elements/all.h"
#include "../state/all.h"

/* ---- what is refused ------------------------------------------------------------------------ */

HA_IN_ const char *ha_view_type_name(const darray *x) {
    return x->type || !x->array ? ha_dtype_name(x->type) : x->array->type;
}

size_t darray_print_shape(darray x, char *text, size_t bytes) {
    ha_text t = ha_text_into(text, bytes);
    ha_print(&t, "%.32s (%s)", ha_view_type_name(&x), ha_show(x.rank, x.extent).text);
    return t.length;
}

/* An array, and what the call names it; NULL: nothing, as it is the only one. */
typedef struct ha_named_view {
    const char *name;
    const darray *view;
} ha_named_view;
#define HA_ARGUMENT_(x) ((ha_named_view){#x, x})

/* With its name in the call, and the array's shape and name in front. */
__attribute__((format(printf, 4, 5))) HA_IN_ ha_status ha_named_view_fail(ha_status s,
                                                                          const char *operation,
                                                                          ha_named_view x,
                                                                          const char *format, ...) {
    char shape[256], reason[256];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    darray_print_shape(*x.view, shape, sizeof shape);
    return ha_fail(s, operation, "%s%s%.160s of array %s: %s", x.name ? x.name : "",
                   x.name ? ", " : "", shape, ha_label_of(x.view->array).text, reason);
}
#define ha_view_fail(s, operation, x, ...)                                                         \
    ha_named_view_fail(s, operation, (ha_named_view){NULL, x}, __VA_ARGS__)

/* "y, double (12) of array 'velocity'" */
HA_IN_ void ha_argument_print(const ha_named_view *a, ha_text *t) {
    char shape[96];
    const ha_name name = ha_name_of(a->view->array);
    darray_print_shape(*a->view, shape, sizeof shape);
    ha_print(t, "%s, %s", a->name, shape);
    if (*name.text) ha_print(t, " of array '%s'", name.text);
}

/* Arrays that do not fit to each other: each with its name among the arguments. */
HA_IN_ ha_status ha_arguments_refuse(const ha_named_view *argument, int n, const char *why,
                                     const char *operation) {
    char text[224]; /* of the longest names and shapes a part, as the reason is behind them */
    ha_text t = ha_text_into(text, sizeof text);
    for (int i = 0; i < n; i++) {
        if (i) ha_print(&t, "%s", i < n - 1 ? ", " : ", and ");
        ha_argument_print(&argument[i], &t);
    }
    return ha_fail(HA_ERR_ARGUMENT, operation, "%s: %s", text, why);
}

HA_IN_ ha_status ha_pair_refuse(ha_named_view x, ha_named_view y, const char *why,
                                const char *operation) {
    const ha_named_view both[] = {x, y};
    return ha_arguments_refuse(both, 2, why, operation);
}

/* A number for elements of a view. */
HA_IN_ ha_status ha_view_convert(ha_named_view x, const ha_dvalue *value, ha_dtype type,
                                 ha_dvalue *result, const char *operation) {
    const char *objection = ha_convert_or_object(value, type, result);
    if (!objection) return HA_OK;
    return ha_named_view_fail(HA_ERR_ARGUMENT, operation, x, "%s: %s",
                              ha_show_unconverted(value, type).text, objection);
}

#define HA_REFUSED(...) (ha_view_fail(HA_ERR_ARGUMENT, __VA_ARGS__), (darray){.rank = 0})

HA_IN_ int ha_view_is_empty(const darray *x) { return ha_any_zero(x->rank, x->extent); }

/* Elements of its storage. If that has a grid, the size stays, and nothing is locked to see it. */
HA_IN_ int64_t ha_view_room(const darray *x) {
    const ha_grid *g = x->array->grid;
    return (int64_t)(g ? g->size : ha_array_size(x->array));
}

/* Whether it has elements, and nothing is wrong with any of its numbers: all at once, without a
 * branch, for each opening asks. 0: ha_named_view_numbers knows what is. */
HA_IN_ int ha_view_is_sound(const darray *x) {
    int64_t low = x->offset, high = low, count = 1, way, end;
    int wrong = 0;
    if (!ha_rank_is_valid(x->rank)) return 0;
    for (int d = 0; d < x->rank; d++) {
        const int64_t extent = x->extent[d];
        wrong |= extent < 1 || x->origin[d] <= HA_ALL;
        wrong |= __builtin_add_overflow(x->origin[d], extent, &end);
        wrong |= __builtin_mul_overflow(count, extent, &count);
        wrong |= __builtin_mul_overflow((int64_t)((uint64_t)extent - 1), x->stride[d], &way);
        wrong |= __builtin_add_overflow(low, way < 0 ? way : 0, &low);
        wrong |= __builtin_add_overflow(high, way < 0 ? 0 : way, &high);
    }
    return !wrong && low >= 0 && high < ha_view_room(x);
}

/* Whether nothing is wrong with it, but perhaps with its numbers; without a word when there is. */
HA_IN_ int ha_view_may_be_sound(const darray *x) {
    if (!x->array || ha_is_freed(x->array) || !ha_rank_is_valid(x->rank)) return 0;
    return !x->type || ha_dtype_size(x->type) == x->array->element;
}

/* HA_OK: all that is computed with its numbers fits 64 bits. */
HA_IN_ ha_status ha_named_view_numbers(ha_named_view named, const char *operation) {
    const darray *const x = named.view;
    int64_t low, high, first, last, end, count;
    if (!ha_rank_is_valid(x->rank))
        return ha_fail(HA_ERR_ARGUMENT, operation, "a rank of %d is not in 0 ... %d", x->rank,
                       HA_MOST_RANK);
    if (ha_any_negative(x->rank, x->extent))
        return ha_named_view_fail(HA_ERR_ARGUMENT, operation, named, "an extent is negative");
    for (int d = 0; d < x->rank; d++)
        if (x->origin[d] <= HA_ALL || __builtin_add_overflow(x->origin[d], x->extent[d], &end))
            return ha_named_view_fail(HA_ERR_ARGUMENT, operation, named,
                                      "an index does not fit 64 bits");
    if (ha_view_is_empty(x)) return HA_OK;
    if (!ha_product_above_0(x->rank, x->extent, &count) ||
        !ha_reach_fits(x->rank, x->extent, x->stride, &low, &high) ||
        __builtin_add_overflow(x->offset, low, &first) ||
        __builtin_add_overflow(x->offset, high, &last))
        return ha_named_view_fail(HA_ERR_ARGUMENT, operation, named, "it reaches beyond 64 bits");
    const int64_t size = ha_view_room(x);
    if (first >= 0 && last < size) return HA_OK;
    return ha_named_view_fail(HA_ERR_ARGUMENT, operation, named,
                              "elements %lld to %lld are not all in its storage, which has %lld",
                              (long long)first, (long long)last, (long long)size);
}

/* Can it be made a view of? */
HA_IN_ ha_status ha_named_view_check(ha_named_view named, const char *operation) {
    const darray *const x = named.view;
    ha_status s = ha_enter_briefly(operation);
    if (s) return s;
    if (!x->array)
        return ha_fail(HA_ERR_ARGUMENT, operation,
                       "%s: %s%sno array: it was freed, or refused (an earlier error says why)",
                       operation, named.name ? named.name : "", named.name ? ": " : "");
    if (ha_was_freed(x->array, operation)) return HA_ERR_STATE;
    if (!ha_view_is_sound(x)) s = ha_named_view_numbers(named, operation);
    if (s || !x->type || ha_dtype_size(x->type) == x->array->element) return s;
    return ha_named_view_fail(HA_ERR_ARGUMENT, operation, named,
                              "its storage has elements of %zu bytes", x->array->element);
}

HA_IN_ ha_status ha_view_check(const darray *x, const char *operation) {
    return ha_named_view_check((ha_named_view){NULL, x}, operation);
}

HA_IN_ ha_status ha_view_dimension(const darray *x, int dimension, const char *operation) {
    if (dimension >= 0 && dimension < x->rank) return HA_OK;
    return ha_view_fail(HA_ERR_ARGUMENT, operation, x, "there is no dimension %d", dimension);
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* offset + count * stride, which fits where there are elements; elsewhere it does not matter. */
HA_IN_ int64_t ha_go(int64_t offset, int64_t count, int64_t stride) {
    return (int64_t)((uint64_t)offset + (uint64_t)count * (uint64_t)stride);
}

/* What no view looks at is always the same. */
HA_IN_ darray ha_view_done(darray x) {
    for (int d = x.rank; d < HA_MOST_RANK; d++) x.extent[d] = x.stride[d] = x.origin[d] = 0;
    if (ha_view_is_empty(&x)) x.offset = 0;
    return x;
}

HA_IN_ void ha_view_remove(darray *x, int dimension) {
    x->rank--;
    for (int d = dimension; d < x->rank; d++) {
        x->extent[d] = x->extent[d + 1];
        x->stride[d] = x->stride[d + 1];
        x->origin[d] = x->origin[d + 1];
    }
}

int64_t darray_size(darray x) {
    int64_t count = 0;
    if (!x.array || !ha_rank_is_valid(x.rank) || ha_any_negative(x.rank, x.extent)) return 0;
    if (ha_view_is_empty(&x) || !ha_product_above_0(x.rank, x.extent, &count)) return 0;
    return count;
}

int darray_is_contiguous(darray x, ha_order order) {
    return x.array && ha_extents_contiguous(x.rank, x.extent, x.stride, order);
}

int darray_is_same(darray a, darray b) {
    int same = a.offset == b.offset;
    if (!a.array || a.array != b.array || !ha_rank_is_valid(a.rank)) return 0;
    if (!ha_extents_equal(a.rank, a.extent, b.rank, b.extent)) return 0;
    for (int d = 0; d < a.rank; d++) same &= a.extent[d] == 1 || a.stride[d] == b.stride[d];
    return same || ha_view_is_empty(&a);
}

/* Whether each stride goes beyond all that the later ones reach, as in C's order. */
HA_IN_ int ha_strides_descend(int rank, const int64_t *extent, const int64_t *stride) {
    uint64_t reach = 0;
    for (int d = rank; d-- > 0;) {
        const uint64_t size = ha_stride_size(stride[d]);
        if (extent[d] == 1) continue;
        if (size <= reach) return 0;
        reach += (uint64_t)(extent[d] - 1) * size;
    }
    return 1;
}

/* Strides that grow beyond all that the smaller ones reach never meet. Views of arrays without
 * repetition have no others; of what else there is, nobody is told that it repeats nothing. */
HA_IN_ int ha_strides_repeat(int rank, const int64_t *extent, const int64_t *stride) {
    uint64_t reach = 0;
    unsigned done = 0;
    if (ha_any_zero(rank, extent) || ha_strides_descend(rank, extent, stride)) return 0;
    for (;;) {
        int smallest = -1;
        uint64_t least = UINT64_MAX;
        for (int d = 0; d < rank; d++) {
            uint64_t size = ha_stride_size(stride[d]);
            if (done >> d & 1 || extent[d] == 1 || size >= least) continue;
            smallest = d;
            least = size;
        }
        if (smallest < 0) return 0;
        if (least <= reach) return 1;
        reach += (uint64_t)(extent[smallest] - 1) * least;
        done |= 1u << smallest;
    }
}

/* Can it be written? */
HA_IN_ ha_status ha_view_check_repeats(const darray *x, const char *operation) {
    if (!ha_strides_repeat(x->rank, x->extent, x->stride)) return HA_OK;
    return ha_view_fail(HA_ERR_ARGUMENT, operation, x,
                        "it repeats elements (strides %s), and can only be read",
                        ha_show(x->rank, x->stride).text);
}

/* Can it be opened? Only for reading, where it repeats elements. */
HA_IN_ ha_status ha_view_check_opened(const darray *x, unsigned how, const char *operation,
                                      const char *site) {
    HA_CALLED_FROM_(site);
    const ha_status s = ha_view_check(x, operation);
    return s || (how & ~(unsigned)HA_TRY) == HA_READ ? s : ha_view_check_repeats(x, operation);
}

/* Whether its elements are all that lies between the first and the last of them in memory. Its numbers may be made up:
 * it is asked by who describes a view, too. */
HA_IN_ int ha_view_has_no_gaps(const darray *x) {
    int64_t low, high;
    if (ha_view_is_empty(x)) return 1;
    return !ha_any_negative(x->rank, x->extent) &&
           ha_reach_fits(x->rank, x->extent, x->stride, &low, &high) &&
           (uint64_t)high - (uint64_t)low == (uint64_t)darray_size(*x) - 1 &&
           !ha_strides_repeat(x->rank, x->extent, x->stride);
}

int darray_repeats(darray x) {
    int64_t low, high;
    if (!x.array || !ha_rank_is_valid(x.rank) || ha_any_negative(x.rank, x.extent)) return 0;
    return ha_reach_fits(x.rank, x.extent, x.stride, &low, &high) &&
           ha_strides_repeat(x.rank, x.extent, x.stride);
}

/* ---- one dimension -------------------------------------------------------------------------- */

/* An index that was given for a dimension, counted as the dimension's own are: HA_LAST - 1 is the last
 * but one. What a dimension that is farther than that from 0 calls its own is not counted otherwise. */
HA_IN_ int64_t ha_index_in(const darray *x, int d, int64_t index) {
    const int64_t last = x->origin[d] + (x->extent[d] - 1);
    const int from_last = index >= HA_LAST / 2 && index <= HA_LAST + HA_LAST / 2;
    if (!from_last || last >= HA_LAST / 2) return index;
    return ha_go(last, 1, index - HA_LAST);
}

/* Relative to the origin, in the extent of a dimension. */
typedef struct ha_steps {
    int64_t start, step, count;
} ha_steps;

HA_IN_ ha_status ha_steps_of(const darray *x, int d, int64_t start, int64_t stop, int64_t step,
                             ha_steps *steps, const char *operation) {
    const int64_t lowest = x->origin[d], end = lowest + x->extent[d];
    const int down = step < 0;
    const int64_t from = start != HA_ALL ? ha_index_in(x, d, start) : down ? end - 1 : lowest;
    const int64_t to = stop != HA_ALL ? ha_index_in(x, d, stop) : down ? lowest - 1 : end;
    const uint64_t width = down ? -(uint64_t)step : (uint64_t)step;
    if (!step) return ha_view_fail(HA_ERR_ARGUMENT, operation, x, "steps of 0 lead nowhere");
    if (down ? from > end - 1 || to < lowest - 1 : from < lowest || to > end)
        return ha_view_fail(HA_ERR_ARGUMENT, operation, x,
                            "from %lld to before %lld of dimension %d: its indices are %lld to "
                            "%lld",
                            (long long)from, (long long)to, d, (long long)lowest,
                            (long long)end - 1);
    if (down ? from < to : from > to)
        return ha_view_fail(HA_ERR_ARGUMENT, operation, x,
                            "no step of %lld leads from %lld to %lld in dimension %d",
                            (long long)step, (long long)from, (long long)to, d);
    const uint64_t distance = (uint64_t)(down ? from - to : to - from);
    *steps = (ha_steps){from - lowest, step, distance ? (int64_t)((distance - 1) / width) + 1 : 0};
    return HA_OK;
}

HA_IN_ void ha_view_take(darray *x, int d, ha_steps steps) {
    x->offset = ha_go(x->offset, steps.start, x->stride[d]);
    if (steps.count > 1) x->stride[d] = ha_go(0, steps.step, x->stride[d]);
    x->extent[d] = steps.count;
    x->origin[d] = 0;
}

darray darray_slice_(darray x, int dimension, int64_t start, int64_t stop, int64_t step,
                     const char *site) {
    HA_CALLED_FROM_(site);
    const char *const operation = "darray_slice";
    ha_steps steps = {0, 1, 0};
    if (ha_view_check(&x, operation) || ha_view_dimension(&x, dimension, operation) ||
        ha_steps_of(&x, dimension, start, stop, step, &steps, operation))
        return (darray){.rank = 0};
    ha_view_take(&x, dimension, steps);
    return ha_view_done(x);
}

/* Of each dimension the steps of a box with these corners. */
HA_IN_ ha_status ha_box_steps(const darray *x, const int64_t *low, const int64_t *high,
                              ha_steps *steps, const char *operation) {
    ha_status s = ha_view_check(x, operation);
    if (!s && x->rank && (!low || !high))
        return ha_view_fail(HA_ERR_ARGUMENT, operation, x, "a pointer is NULL");
    for (int d = 0; !s && d < x->rank; d++)
        s = ha_steps_of(x, d, low[d], high[d], 1, &steps[d], operation);
    return s;
}

darray darray_part_(darray x, const int64_t *low, const int64_t *high, const char *site) {
    HA_CALLED_FROM_(site);
    ha_steps steps[HA_MOST_RANK];
    if (ha_box_steps(&x, low, high, steps, "darray_part")) return (darray){.rank = 0};
    for (int d = 0; d < x.rank; d++)
        if (low[d] != HA_ALL || high[d] != HA_ALL) ha_view_take(&x, d, steps[d]);
    return ha_view_done(x);
}

/* So many indices of a dimension, from the one that is `first` behind its lowest, and called as before. */
HA_IN_ darray ha_view_keep(darray x, int d, int64_t first, int64_t count) {
    const int64_t lowest = x.origin[d];
    ha_view_take(&x, d, (ha_steps){first, 1, count});
    x.origin[d] = lowest + first;
    return x;
}

ha_status darray_shell_(darray x, const int64_t *low, const int64_t *high, darray *side,
                        const char *site) {
    HA_CALLED_FROM_(site);
    const char *const operation = "darray_shell";
    ha_steps steps[HA_MOST_RANK];
    ha_status s = ha_box_steps(&x, low, high, steps, operation);
    if (!s && x.rank && !side)
        return ha_view_fail(HA_ERR_ARGUMENT, operation, &x, "no place for the sides");
    for (int d = 0; side && ha_rank_is_valid(x.rank) && d < x.rank; d++) {
        side[2 * d] = side[2 * d + 1] = (darray){.rank = 0};
        if (s) continue; /* and there are no steps */
        const int64_t end = steps[d].start + steps[d].count;
        side[2 * d] = ha_view_done(ha_view_keep(x, d, 0, steps[d].start));
        side[2 * d + 1] = ha_view_done(ha_view_keep(x, d, end, x.extent[d] - end));
        x = ha_view_keep(x, d, steps[d].start, steps[d].count);
    }
    return s;
}

darray darray_fix_(darray x, int dimension, int64_t index, const char *site) {
    HA_CALLED_FROM_(site);
    const char *const operation = "darray_fix";
    if (ha_view_check(&x, operation) || ha_view_dimension(&x, dimension, operation))
        return (darray){.rank = 0};
    const int64_t lowest = x.origin[dimension], end = lowest + x.extent[dimension];
    index = ha_index_in(&x, dimension, index);
    if (index < lowest || index >= end)
        return HA_REFUSED(operation, &x, "%lld in dimension %d: its indices are %lld to %lld",
                          (long long)index, dimension, (long long)lowest, (long long)end - 1);
    x.offset = ha_go(x.offset, index - lowest, x.stride[dimension]);
    ha_view_remove(&x, dimension);
    return ha_view_done(x);
}

darray darray_flip_(darray x, int dimension, const char *site) {
    HA_CALLED_FROM_(site);
    const char *const operation = "darray_flip";
    if (ha_view_check(&x, operation) || ha_view_dimension(&x, dimension, operation))
        return (darray){.rank = 0};
    const int64_t n = x.extent[dimension];
    ha_view_take(&x, dimension, (ha_steps){n - 1, -1, n});
    return ha_view_done(x);
}

darray darray_expand_(darray x, int dimension, const char *site) {
    HA_CALLED_FROM_(site);
    const char *const operation = "darray_expand";
    if (ha_view_check(&x, operation)) return (darray){.rank = 0};
    if (dimension < 0 || dimension > x.rank)
        return HA_REFUSED(operation, &x, "there is no place %d for a dimension", dimension);
    if (x.rank == HA_MOST_RANK)
        return HA_REFUSED(operation, &x, "it has %d dimensions, which is the most", HA_MOST_RANK);
    for (int d = x.rank++; d > dimension; d--) {
        x.extent[d] = x.extent[d - 1];
        x.stride[d] = x.stride[d - 1];
        x.origin[d] = x.origin[d - 1];
    }
    const int last = dimension == x.rank - 1;
    x.stride[dimension] = last ? 1 : ha_go(0, x.extent[dimension + 1], x.stride[dimension + 1]);
    x.extent[dimension] = 1;
    x.origin[dimension] = 0;
    return ha_view_done(x);
}

/* ---- all dimensions ------------------------------------------------------------------------- */

darray darray_permute_(darray x, const int64_t *order, const char *site) {
    HA_CALLED_FROM_(site);
    const char *const operation = "darray_permute";
    darray permuted = x;
    unsigned seen = 0;
    if (ha_view_check(&x, operation)) return (darray){.rank = 0};
    if (x.rank && !order) return HA_REFUSED(operation, &x, "a pointer is NULL");
    for (int d = 0; d < x.rank; d++) {
        if (order[d] < 0 || order[d] >= x.rank || seen >> order[d] & 1)
            return HA_REFUSED(operation, &x, "(%s) is no order of its dimensions",
                              ha_show(x.rank, order).text);
        seen |= 1u << order[d];
        permuted.extent[d] = x.extent[order[d]];
        permuted.stride[d] = x.stride[order[d]];
        permuted.origin[d] = x.origin[order[d]];
    }
    return ha_view_done(permuted);
}

darray darray_transpose_(darray x, const char *site) {
    HA_CALLED_FROM_(site);
    int64_t order[HA_MOST_RANK];
    for (int d = 0; d < HA_MOST_RANK; d++) order[d] = (int64_t)x.rank - 1 - d;
    return darray_permute_(x, order, site);
}

darray darray_diagonal_(darray x, int first, int second, int64_t shift, const char *site) {
    HA_CALLED_FROM_(site);
    const char *const operation = "darray_diagonal";
    if (ha_view_check(&x, operation) || ha_view_dimension(&x, first, operation) ||
        ha_view_dimension(&x, second, operation))
        return (darray){.rank = 0};
    if (first == second) return HA_REFUSED(operation, &x, "two dimensions have a diagonal");
    int64_t n = x.extent[first], other = x.extent[second], stride = x.stride[first];
    if (shift > other || shift < -n)
        return HA_REFUSED(operation, &x, "there is no diagonal %lld of dimensions %d and %d",
                          (long long)shift, first, second);
    if (shift >= 0) {
        x.offset = ha_go(x.offset, shift, x.stride[second]);
        other -= shift;
    } else {
        x.offset = ha_go(x.offset, -shift, stride);
        n += shift;
    }
    n = n < other ? n : other;
    if (n > 1) stride = ha_go(x.stride[first], 1, x.stride[second]);
    ha_view_remove(&x, first > second ? first : second);
    ha_view_remove(&x, first > second ? second : first);
    x.extent[x.rank] = n;
    x.stride[x.rank] = stride;
    x.origin[x.rank++] = 0;
    return ha_view_done(x);
}

/* Whether loops can compute how far it is, in bytes, from index 0, 0, … to all others. */
HA_IN_ int ha_view_indices_fit(const darray *x) {
    int64_t reach = 0, way; /* below 0: so all strides have an opposite */
    for (int d = 0; d < x->rank && !ha_view_is_empty(x); d++) {
        const int64_t low = x->origin[d], high = low + (x->extent[d] - 1), stride = x->stride[d];
        const int64_t farthest = -low > high ? -low : high;
        if (__builtin_mul_overflow(farthest, stride < 0 ? stride : -stride, &way) ||
            __builtin_add_overflow(reach, way, &reach))
            return 0;
    }
    return !__builtin_mul_overflow(reach, (int64_t)x->array->element, &reach);
}

HA_IN_ darray ha_view_with_origin(darray x, const int64_t *origin, const char *operation) {
    for (int d = 0; d < x.rank; d++) x.origin[d] = origin[d];
    if (ha_named_view_numbers((ha_named_view){NULL, &x}, operation)) return (darray){.rank = 0};
    if (ha_view_indices_fit(&x)) return ha_view_done(x);
    return HA_REFUSED(operation, &x, "lowest indices (%s) are too far from 0 for strides (%s)",
                      ha_show(x.rank, x.origin).text, ha_show(x.rank, x.stride).text);
}

darray darray_with_origin_(darray x, const int64_t *origin, const char *site) {
    HA_CALLED_FROM_(site);
    const char *const operation = "darray_with_origin";
    if (ha_view_check(&x, operation)) return (darray){.rank = 0};
    if (x.rank && !origin) return HA_REFUSED(operation, &x, "a pointer is NULL");
    return ha_view_with_origin(x, origin, operation);
}

darray darray_interior_(darray x, const char *site) {
    HA_CALLED_FROM_(site);
    const char *const operation = "darray_interior";
    if (ha_view_check(&x, operation)) return (darray){.rank = 0};
    darray interior = x;
    if (x.array->uneven)
        return HA_REFUSED(operation, &x,
                          "its ghost cells are not as many at both ends, and a view knows "
                          "only those below index 0; darray_part takes what you say");
    for (int d = 0; d < x.rank; d++) {
        const int64_t ghosts = -x.origin[d];
        if (ghosts <= 0) continue;
        if (ghosts > x.extent[d] / 2)
            return HA_REFUSED(operation, &x, "dimension %d has no room for twice %lld ghost cells",
                              d, (long long)ghosts);
        ha_view_take(&interior, d, (ha_steps){ghosts, 1, x.extent[d] - 2 * ghosts});
    }
    return ha_view_done(interior);
}

#endif
