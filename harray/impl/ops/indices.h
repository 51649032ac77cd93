/* Operations by index: what they are given, whether all indices are within an extent, and where blocks begin that were counted. */
#ifndef HARRAY_IMPL_OPS_INDICES_H
#define HARRAY_IMPL_OPS_INDICES_H

#include "../../gather.h"
#include "reduce.h"

/* ---- names of types of views, which kernels keep -------------------------------------------------- */

enum { HA_INDEX_RANK = 2 * HA_MAPPING_RANK };

#define HA_VIEW_NAMES_(T)                                                                          \
    {                                                                                              \
        HA_DTYPE_##T, {                                                                            \
            "array_" #T "_1", "array_" #T "_2", "array_" #T "_3", "array_" #T "_4",                \
                "array_" #T "_5", "array_" #T "_6", "array_" #T "_7", "array_" #T "_8"             \
        }                                                                                          \
    }
static const struct {
    ha_dtype type;
    const char *name[HA_INDEX_RANK];
} ha_view_names[] = {HA_VIEW_NAMES_(uint8_t),  HA_VIEW_NAMES_(uint16_t), HA_VIEW_NAMES_(uint32_t),
                     HA_VIEW_NAMES_(uint64_t), HA_VIEW_NAMES_(int8_t),   HA_VIEW_NAMES_(int16_t),
                     HA_VIEW_NAMES_(int32_t),  HA_VIEW_NAMES_(int64_t),  HA_VIEW_NAMES_(float),
                     HA_VIEW_NAMES_(double),   HA_VIEW_NAMES_(c64),      HA_VIEW_NAMES_(c128),
                     HA_VIEW_NAMES_(half),     HA_VIEW_NAMES_(bfloat16)};

HA_IN_ const char *ha_index_view_name(ha_dtype type, int rank) {
    size_t i = 0;
    while (ha_view_names[i].type != type) i++;
    return ha_view_names[i].name[rank - 1];
}

/* Adds a view to the parameters of a kernel, of which the caller may say more. */
HA_IN_ ha_kernel_parameter_ *ha_index_add_view(ha_op_kernel *k, ha_kernel_mode_ mode,
                                               const char *name, ha_dtype type, int rank) {
    ha_kernel_parameter_ *p = ha_op_add_parameter(k, mode, name, ha_index_view_name(type, rank));
    p->rank = rank;
    p->bytes = ha_dtype_size(type);
    return p;
}

/* Adds a whole array. */
HA_IN_ void ha_index_add_array(ha_op_kernel *k, ha_kernel_mode_ mode, const char *name,
                               ha_dtype type) {
    ha_op_add_parameter(k, mode, name, ha_dtype_name(type))->bytes = ha_dtype_size(type);
}

/* Indices are looked at as numbers without a sign: checked ones have none. */
HA_IN_ ha_dtype ha_index_bits(size_t bytes) {
    return bytes == sizeof(uint32_t) ? HA_DTYPE_uint32_t : HA_DTYPE_uint64_t;
}

/* Elements that are moved are bytes. NULL: of no such size. */
HA_IN_ const ha_op_type *ha_index_moved(size_t bytes) {
    static const ha_dtype types[] = {HA_DTYPE_uint8_t, HA_DTYPE_uint16_t, HA_DTYPE_uint32_t,
                                     HA_DTYPE_uint64_t, HA_DTYPE_c128};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (ha_dtype_size(types[i]) == bytes) return ha_op_type_of(types[i]);
    return NULL;
}

/* So they are read and written here, as structs in the caller's memory may be aligned for no such number. */
#define HA_LOOSE_(T) typedef T ha_loose_##T __attribute__((__aligned__(1), __may_alias__));
HA_LOOSE_(uint8_t)
HA_LOOSE_(uint16_t)
HA_LOOSE_(uint32_t)
HA_LOOSE_(uint64_t)
typedef struct __attribute__((__packed__, __may_alias__)) ha_loose_ha_c128 {
    uint64_t part[2];
} ha_loose_ha_c128;

/* Does a context's memory have them so? */
HA_IN_ int ha_index_is_loose(const darray *x, const ha_context *c) {
    ha_array *a = x->array;
    const size_t most = _Alignof(uint64_t), unit = a->element < most ? a->element : most;
    if (x->type || !a->wrapped) return 0;
    ha_lock(a);
    const ha_incarnation *in = ha_incarnation_find(a, c->memory);
    const int is = in && in->wrapped && (uintptr_t)in->data % unit;
    ha_unlock(a);
    return is;
}

/* Where elements of x are moved to y: what a device's compiler has made would not be able to read these, but loops are. */
HA_IN_ ha_context *ha_index_mover(const darray *y, const darray *x, ha_context *context) {
    ha_context *c = ha_resolve(context);
    if (!ha_index_is_loose(y, c) && !ha_index_is_loose(x, c)) return context;
    return ha_way_of(c) == HA_WAY_COMPILED ? ha_host() : context;
}

/* ---- what is refused ----------------------------------------------------------------------------- */

HA_IN_ int ha_is_index_type(ha_dtype t) {
    return t == HA_DTYPE_int32_t || t == HA_DTYPE_uint32_t || t == HA_DTYPE_int64_t ||
           t == HA_DTYPE_uint64_t;
}

HA_IN_ ha_status ha_index_check_type(ha_named_view at, const char *operation) {
    ha_status s = ha_named_view_check(at, operation);
    if (s || ha_is_index_type(at.view->type)) return s;
    return ha_named_view_fail(HA_ERR_ARGUMENT, operation, at,
                              "an index is of int32_t, uint32_t, int64_t or uint64_t");
}

/* Two arrays of the same elements, which can be moved. */
HA_IN_ ha_status ha_index_check_elements(ha_named_view result, ha_named_view argument,
                                         const char *operation) {
    const darray *y = result.view, *x = argument.view;
    ha_status s = ha_named_view_check(result, operation);
    if (!s) s = ha_named_view_check(argument, operation);
    if (s) return s;
    if (y->type != x->type || !ha_views_match(y, x))
        return ha_pair_refuse(result, argument, "the types are not the same", operation);
    if (ha_index_moved(y->array->element)) return HA_OK;
    return ha_named_view_fail(
        HA_ERR_UNSUPPORTED, operation, result,
        "elements of %zu bytes: those of 1, 2, 4, 8 and 16 bytes can be moved", y->array->element);
}

/* The array that is written, and the one that is read. */
HA_IN_ ha_status ha_index_check_apart(ha_named_view y, ha_named_view x, const char *operation) {
    if (!ha_op_may_meet(y.view, x.view)) return HA_OK;
    return ha_pair_refuse(y, x, "the result has, or may have, elements of an argument", operation);
}

HA_IN_ ha_status ha_index_check_row(ha_named_view x, const char *operation) {
    if (x.view->rank == 1) return HA_OK;
    return ha_named_view_fail(HA_ERR_ARGUMENT, operation, x, "it has one dimension here");
}

HA_IN_ ha_status ha_index_check_mask(ha_named_view mask, const char *operation) {
    ha_status s = ha_named_view_check(mask, operation);
    if (s || mask.view->type == HA_DTYPE_uint8_t || mask.view->type == HA_DTYPE_bool) return s;
    return ha_named_view_fail(HA_ERR_ARGUMENT, operation, mask, "a mask is of uint8_t or bool");
}

HA_IN_ ha_status ha_index_check_rank(ha_named_view x, int rank, int most, const char *operation) {
    if (rank <= most) return HA_OK;
    return ha_named_view_fail(HA_ERR_UNSUPPORTED, operation, x,
                              "more than %d dimensions that do not follow each other in memory",
                              most);
}

/* Are the extents of `all` those of `at`, and behind these the others of x? */
HA_IN_ ha_status ha_index_check_extents(ha_named_view moved, ha_named_view indices,
                                        ha_named_view indexed, const char *operation) {
    const darray *all = moved.view, *at = indices.view, *x = indexed.view;
    const ha_named_view arguments[] = {moved, indices, indexed};
    if (x->rank < 1)
        return ha_named_view_fail(HA_ERR_ARGUMENT, operation, indexed,
                                  "it has no dimension to be indexed");
    if (all->rank == at->rank + x->rank - 1 &&
        !memcmp(all->extent, at->extent, (size_t)at->rank * sizeof *at->extent) &&
        !memcmp(all->extent + at->rank, x->extent + 1, (size_t)(x->rank - 1) * sizeof *at->extent))
        return HA_OK;
    return ha_arguments_refuse(
        arguments, 3,
        "the extents are not those of the indices and then the others of what is indexed",
        operation);
}

/* ---- views --------------------------------------------------------------------------------------- */

/* A view of some dimensions, and others behind them. */
HA_IN_ ha_typed ha_index_typed(ha_array *array, int64_t offset, int first_rank,
                               const int64_t *first_extent, const int64_t *first_stride, int rank,
                               const int64_t *extent, const int64_t *stride) {
    ha_typed t; /* what is behind its rank is left as it is */
    const int all = first_rank + rank;
    t.array = array;
    t.offset = offset;
    for (int d = 0; d < all; d++) {
        const int is_first = d < first_rank;
        const int64_t step = is_first ? first_stride[d] : stride[d - first_rank];
        t.numbers[d] = is_first ? first_extent[d] : extent[d - first_rank];
        t.numbers[all + d] = step;
        t.numbers[2 * all + d] = 0; /* the origin */
    }
    return t;
}

/* The n-th element of a view, in the order of its indices: how far it is from the first one. */
HA_IN_ int64_t ha_index_place(const ha_kernel_slot_ *slot, int rank, int64_t n) {
    const int64_t *extent = ((const ha_kernel_span *)slot->span)->numbers;
    return ha_strided_place_(extent, extent + rank, rank, n);
}

/* The n-th of indices that have been checked, in the same order; each of them has so many bytes. */
HA_IN_ int64_t ha_index_at(const ha_kernel_slot_ *slot, int rank, int bytes, int64_t n) {
    const int64_t place = ha_index_place(slot, rank, n);
    return bytes == sizeof(uint32_t) ? (int64_t)((const uint32_t *)slot->pointer)[place]
                                     : (int64_t)((const uint64_t *)slot->pointer)[place];
}

/* The same place as text, without the last bracket: HA_AT(x, n / x.extent[1], n % x.extent[1] */
HA_IN_ void ha_index_put_place(ha_text *t, const char *name, int rank) {
    ha_print(t, "HA_AT(%s", name);
    for (int d = 0; d < rank; d++) {
        ha_print(t, ", n");
        for (int e = rank - 1; e > d; e--) ha_print(t, " / %s.extent[%d]", name, e);
        if (d) ha_print(t, " %% %s.extent[%d]", name, d);
    }
}

/* All elements of it in the order of its indices, of which none is 0. */
HA_IN_ void ha_index_in_order(ha_op_boxes *b, const darray *x, const darray *y) {
    const darray *const views[] = {x, y};
    ha_op_boxes_of(b, views, y ? 2 : 1, 1);
}

/* ---- counts of blocks ---------------------------------------------------------------------------- */

/* Counts become where each block begins: behind those before it. *most: the greatest sum of `each` counts in a row. */
static ha_status ha_index_sum(ha_array *counts, int64_t each, int64_t *most) {
    ha_access a;
    const ha_status s = ha_open_(&a, counts, ha_host(), HA_WRITE, 0, HA_END, "the counts");
    if (s) return s;
    int64_t *begin = (int64_t *)(uintptr_t)a.data, *const end = begin + a.size, sum = 0;
    *most = 0;
    while (begin < end) {
        const int64_t before = sum;
        for (int64_t i = 0; i < each; i++, begin++) {
            const int64_t count = *begin;
            *begin = sum;
            sum += count;
        }
        if (sum - before > *most) *most = sum - before;
    }
    return ha_close(&a);
}

/* ---- the first index that is not within an extent ------------------------------------------------- */

/* Where the greatest index has no highest bit, that bit of  at | greatest - at  says whether one is beyond. So many vectors of
 * 16 bytes at once, that no one waits for the one before; compilers that are not asked for it do not make them. Memory is asked
 * for a page ahead: one row alone is read at less than its speed. */
enum { HA_BEYOND_VECTORS = 4, HA_BEYOND_AHEAD = 4096 };
#define HA_FIRST_BEYOND_(U)                                                                        \
    typedef U ha_indices_##U __attribute__((vector_size(16)));                                     \
    HA_IN_ int64_t ha_none_beyond_##U(const U *at, int64_t n, U last) {                            \
        enum { LANES = (int)(16 / sizeof(U)), STEP = LANES * HA_BEYOND_VECTORS };                  \
        ha_indices_##U bits[HA_BEYOND_VECTORS] = {{0}};                                            \
        ha_indices_##U greatest = {0};                                                             \
        U any = 0;                                                                                 \
        for (int k = 0; k < LANES; k++) greatest[k] = last;                                        \
        for (int64_t i = 0; i + STEP <= n; i += STEP) {                                            \
            __builtin_prefetch((const void *)((uintptr_t)(at + i) + HA_BEYOND_AHEAD));             \
            HA_UNROLL_ for (int k = 0; k < HA_BEYOND_VECTORS; k++) {                               \
                ha_indices_##U v;                                                                  \
                memcpy(&v, at + i + k * LANES, sizeof v);                                          \
                bits[k] |= v | (greatest - v);                                                     \
            }                                                                                      \
        }                                                                                          \
        for (int k = 0; k < STEP; k++) any |= bits[k / LANES][k % LANES];                          \
        return any >> (sizeof(U) * 8 - 1) ? 0 : n - n % STEP;                                      \
    }                                                                                              \
    HA_IN_ int64_t ha_first_beyond_##U(const void *values, int64_t step, int64_t n,                \
                                       uint64_t greatest) {                                        \
        const U *at = (const U *)values, last = (U)greatest;                                       \
        const int is_low = !(last >> (sizeof(U) * 8 - 1));                                         \
        int64_t i = step == 1 && is_low ? ha_none_beyond_##U(at, n, last) : 0;                     \
        while (i < n && at[i * step] <= last) i++;                                                 \
        return i;                                                                                  \
    }
HA_FIRST_BEYOND_(uint32_t)
HA_FIRST_BEYOND_(uint64_t)

/* Lanes [first, last): the number of the first one that is beyond; INT64_MAX: none is. */
HA_IN_ int64_t ha_index_first_beyond(const ha_kernel_slot_ *slot, int rank, size_t bytes,
                                     uint64_t greatest, int64_t first, int64_t last) {
    const int64_t *extent = ((const ha_kernel_span *)slot->span)->numbers;
    const int64_t width = extent[rank - 1], step = extent[2 * rank - 1];
    while (first < last) {
        const int64_t left = rank > 1 ? width - first % width : last - first;
        const int64_t n = left < last - first ? left : last - first;
        const char *at = (const char *)slot->pointer +
                         ha_index_place(slot, rank, first) * (int64_t)bytes;
        const int64_t good = bytes == sizeof(uint32_t)
                                 ? ha_first_beyond_uint32_t(at, step, n, greatest)
                                 : ha_first_beyond_uint64_t(at, step, n, greatest);
        if (good < n) return first + good;
        first += n;
    }
    return INT64_MAX;
}

HA_IN_ void ha_index_parts(const ha_kernel *kernel, const ha_region *box, int64_t first,
                           int64_t last, int apart, const ha_kernel_slot_ *slot, void *partials) {
    const ha_op_key *key = &ha_op_of(kernel)->key;
    const ha_region all = {{0}, {(last - first + HA_PART_LANES_ - 1) / HA_PART_LANES_}};
    uint64_t greatest;
    memcpy(&greatest, slot[1].pointer, sizeof greatest);
    (void)box, (void)apart;
    HA_AMONG_THREADS_(
        &all, 1, HA_PART_LANES_, const ha_region own = HA_SHARE_(&all, 0);
        for (ptrdiff_t p = own.first[0]; p < own.last[0]; p++) {
            const int64_t from = first + p * HA_PART_LANES_, to = from + HA_PART_LANES_;
            ((int64_t *)partials)[p] = ha_index_first_beyond(
                &slot[0], key->rank, (size_t)key->of[0], greatest, from, to < last ? to : last);
        })
}

/* The least place, of parts that are computed by a function of its own. */
#define HA_FIRST_PLACE_(parts)                                                                     \
    {                                                                                              \
        HA_MIN, sizeof(int64_t), sizeof(int64_t), "int64_t",                                       \
            HA_TEXT_OF_(HA_BY_MIN_(HA_BODY_, int64_t, ha_partial_, ha_outcome_, ha_begin_,         \
                                   ha_merge_, ha_none_, ha_finish_)),                              \
            parts, ha_add_min_int64_t, ha_join_min_int64_t, ha_end_min_int64_t                     \
    }
static const ha_reduction_ ha_index_first = HA_FIRST_PLACE_(ha_index_parts);

HA_IN_ void ha_index_reduces(ha_op_kernel *k, const ha_reduction_ *reduction) {
    ha_op_add_parameter(k, HA_KERNEL_RESULT_, "the result", "int64_t")->bytes = sizeof(int64_t);
    k->op.kernel.rank = 1;
    k->op.kernel.loops = ha_op_reduce_loops;
    k->op.kernel.reduction = reduction;
}

/* of: the bytes of an index */
HA_IN_ void ha_index_make_check(ha_op_kernel *k, const ha_op_key *key) {
    const ha_dtype bits = ha_index_bits((size_t)key->of[0]);
    ha_text t = ha_text_into(k->text, sizeof k->text);
    snprintf(k->name, sizeof k->name, "ha_check_%s_%d", ha_dtype_name(bits), key->rank);
    ha_index_add_view(k, HA_KERNEL_IN_, "at", bits, key->rank);
    ha_op_add_number(k, "greatest", HA_DTYPE_uint64_t, "uint64_t");
    ha_index_reduces(k, &ha_index_first);
    ha_print(&t, "{ const int64_t n = i; return (uint64_t)");
    ha_index_put_place(&t, "at", key->rank);
    ha_print(&t, ") > greatest ? n : 9223372036854775807; }");
}

/* Launches the kernel of a key. */
HA_IN_ ha_status ha_index_launch(const ha_op_key *key, const char *operation, ha_context *context,
                                 const ha_region *box, const void *const *given) {
    const ha_kernel *kernel = ha_op_kernel_of(key);
    if (!kernel) return ha_fail(HA_ERR_MEMORY, operation, "no memory for its kernel");
    const ha_status s = ha_kernel_launch_(kernel, context, box, given);
    if (s && ha_first_error.operation == kernel->name) ha_first_error.operation = operation;
    return s;
}

/* The n-th element, in the order of the indices, is the first one beyond the extent. */
HA_IN_ ha_status ha_index_refuse(ha_named_view indices, int64_t n, int64_t extent,
                                 const char *operation) {
    const darray *const at = indices.view;
    int64_t index[HA_MOST_RANK];
    char number[80];
    ha_dvalue value;
    for (int d = at->rank - 1; d >= 0; d--) {
        index[d] = n % at->extent[d];
        n /= at->extent[d];
    }
    darray from_0 = *at;
    memset(from_0.origin, 0, sizeof from_0.origin);
    const ha_status s = darray_get_(from_0, at->rank, index, &value, NULL);
    if (s) return s;
    (void)ha_dvalue_print(value, number, sizeof number);
    for (int d = 0; d < at->rank; d++) index[d] += at->origin[d];
    if (extent == INT64_MAX && number[0] == '-') /* of what has no extent */
        return ha_named_view_fail(HA_ERR_ARGUMENT, operation, indices,
                                  "at (%s) there is %s: an index is not below zero",
                                  ha_show(at->rank, index).text, number);
    return ha_named_view_fail(HA_ERR_ARGUMENT, operation, indices,
                              "at (%s) there is %s, which is no index of an extent of %lld",
                              ha_show(at->rank, index).text, number, (long long)extent);
}

/* Whether somebody is writing: some openings tell the version only when they have ended. */
HA_IN_ int ha_index_is_written(const ha_array *a) HA_REQUIRES_(a->lock) {
    for (uint32_t i = 0; i < a->holders; i++)
        if (a->holder[i].writes) return 1;
    return 0;
}

/* Indices stay what they are as long as nobody has opened them to write: so they are looked at once, and a device is not
 * waited for again. But the caller's memory, and fields of records, are looked at each time. k gets the version of these,
 * or 0: nothing is to be known of them. */
HA_IN_ int ha_index_is_known(ha_array *a, int rank, ha_known_indices *k) {
    const ha_known_indices *have = &a->indices;
    ha_lock(a);
    const int is_to_be = rank == 1 && !a->wrapped && !a->ops && !ha_index_is_written(a);
    k->version = is_to_be ? a->version + 1 : 0;
    const int is = k->version && have->version == k->version && have->greatest <= k->greatest &&
                   have->offset == k->offset && have->n == k->n && have->step == k->step;
    ha_unlock(a);
    return is;
}

/* They have been looked at since, unless another thread has opened them to write meanwhile. */
HA_IN_ void ha_index_note(ha_array *a, const ha_known_indices *k) {
    ha_lock(a);
    if (k->version == a->version + 1) a->indices = *k;
    ha_unlock(a);
}

/* Are all indices, of which there are some, in [0, extent)? What has a sign is beyond as well. */
HA_IN_ ha_status ha_index_check(ha_named_view indices, int64_t extent, const char *operation,
                                ha_context *context) {
    const darray *const at = indices.view;
    const size_t bytes = ha_dtype_size(at->type);
    ha_op_boxes b;
    ha_index_in_order(&b, at, NULL);
    const ha_op_key key = {.rank = b.rank, .make = ha_index_make_check, .of = {(int)bytes, 0}};
    const uint64_t most = at->type == HA_DTYPE_int32_t    ? INT32_MAX
                          : at->type == HA_DTYPE_uint32_t ? UINT32_MAX
                                                          : INT64_MAX;
    const uint64_t greatest = (uint64_t)extent - 1 < most ? (uint64_t)extent - 1 : most;
    _Alignas(16) int64_t first[2] = {INT64_MAX, 0};
    const ha_kernel_result_ into = {NULL, 0, first};
    if (!extent) return ha_index_refuse(indices, 0, extent, operation);
    ha_known_indices known = {.greatest = greatest,
                              .offset = b.of[0].offset,
                              .n = b.extent[0],
                              .step = b.of[0].stride[0]};
    if (ha_index_is_known(at->array, b.rank, &known)) return HA_OK;
    const ha_typed typed = ha_op_typed(&b, 0, at->array);
    const void *const given[] = {&typed, &greatest, &into};
    const ha_region box = ha_box1(0, darray_size(*at));
    const ha_status s = ha_index_launch(&key, operation, context, &box, given);
    if (!s && first[0] == INT64_MAX) ha_index_note(at->array, &known);
    if (s || first[0] == INT64_MAX) return s;
    return ha_index_refuse(indices, first[0], extent, operation);
}

#endif
