/* ha_histogram: in an array of its own, which has one place more, for what is outside. On a device the lanes of a team count in
 * memory of their own first, where that has room for all parts. */
#ifndef HARRAY_IMPL_OPS_HISTOGRAM_H
#define HARRAY_IMPL_OPS_HISTOGRAM_H

#include "split.h"

/* Lanes of a team, and how many elements each of them counts; places that teams have, with the one for what is outside. */
enum { HA_HISTOGRAM_TEAM = 256, HA_HISTOGRAM_EACH = 16, HA_HISTOGRAM_OWN = 4096 };

/* The part of a number v, here and on devices. */
#define HA_PART_OF_                                                                                \
    (!(v >= low && v < high)                ? parts                                                \
     : (int64_t)((v - low) * scale) < parts ? (int64_t)((v - low) * scale)                         \
                                            : parts - 1)

/* ---- on the host --------------------------------------------------------------------------------- */

typedef struct ha_histogram_walk {
    int64_t parts;
    const void *low, *high, *scale; /* of what is computed with */
} ha_histogram_walk;

/* n elements, `step` apart; R is what is computed with, U the counts' type. */
#define HA_HISTOGRAM_ROW_(T, R, U)                                                                 \
    HA_CONTRACTED_0_ HA_IN_ void ha_histogram_##T##_##U(                                           \
        const ha_histogram_walk *w, void *counts, const void *values, int64_t n, int64_t step) {   \
        const R low = *(const R *)w->low, high = *(const R *)w->high,                              \
                scale = *(const R *)w->scale;                                                      \
        const int64_t parts = w->parts;                                                            \
        const T *x = (const T *)values;                                                            \
        U *count = (U *)counts;                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const R v = (R)x[i * step];                                                            \
            count[HA_PART_OF_]++;                                                                  \
        }                                                                                          \
    }
#define HA_HISTOGRAM_ROWS_(T, R)                                                                   \
    HA_HISTOGRAM_ROW_(T, R, uint32_t)                                                              \
    HA_HISTOGRAM_ROW_(T, R, uint64_t)
HA_CONTRACTION_0_
HA_HISTOGRAM_ROWS_(int8_t, double)
HA_HISTOGRAM_ROWS_(int16_t, double)
HA_HISTOGRAM_ROWS_(int32_t, double)
HA_HISTOGRAM_ROWS_(int64_t, double)
HA_HISTOGRAM_ROWS_(uint8_t, double)
HA_HISTOGRAM_ROWS_(uint16_t, double)
HA_HISTOGRAM_ROWS_(uint32_t, double)
HA_HISTOGRAM_ROWS_(uint64_t, double)
HA_HISTOGRAM_ROWS_(float, float)
HA_HISTOGRAM_ROWS_(double, double)
HA_CONTRACTION_END_

typedef void (*ha_histogram_row)(const ha_histogram_walk *w, void *counts, const void *values,
                                 int64_t n, int64_t step);
#define HA_HISTOGRAM_OF_(T)                                                                        \
    {                                                                                              \
        HA_DTYPE_##T, { ha_histogram_##T##_uint32_t, ha_histogram_##T##_uint64_t }                 \
    }
static const struct {
    ha_dtype number;
    ha_histogram_row row[2]; /* by the counts' type */
} ha_histogram_rows[] = {HA_HISTOGRAM_OF_(int8_t),   HA_HISTOGRAM_OF_(int16_t),
                         HA_HISTOGRAM_OF_(int32_t),  HA_HISTOGRAM_OF_(int64_t),
                         HA_HISTOGRAM_OF_(uint8_t),  HA_HISTOGRAM_OF_(uint16_t),
                         HA_HISTOGRAM_OF_(uint32_t), HA_HISTOGRAM_OF_(uint64_t),
                         HA_HISTOGRAM_OF_(float),    HA_HISTOGRAM_OF_(double)};

HA_IN_ ha_histogram_row ha_histogram_row_of(ha_dtype number, int is_wide) {
    size_t i = 0;
    while (ha_histogram_rows[i].number != number) i++;
    return ha_histogram_rows[i].row[is_wide];
}

/* Elements [first, last), row by row. */
HA_IN_ void ha_histogram_count(const ha_op_key *key, const ha_kernel_slot_ *slot,
                               const ha_histogram_walk *w, int64_t first, int64_t last,
                               void *counts) {
    const int64_t *x = ((const ha_kernel_span *)slot[1].span)->numbers;
    const ha_op_type *type = key->type;
    const int64_t bytes = (int64_t)ha_dtype_size(type->type), step = x[2 * key->rank - 1];
    const ha_histogram_row row = ha_histogram_row_of(type->number, key->of[0] == sizeof(uint64_t));
    float number[HA_OP_CHUNK];
    for (int64_t n, place; first < last; first += n) {
        n = ha_split_piece(x, x + key->rank, key->rank, first, last - first, &place);
        const char *from = (const char *)slot[1].pointer + place * bytes;
        if (type->type == type->number) {
            row(w, counts, from, n, step);
            continue;
        }
        n = HA_LESS(n, HA_OP_CHUNK);
        ha_op_load(type->type, number, from, n, step);
        row(w, counts, number, n, 1);
    }
}

/* What a thread has counted; others do the same. */
HA_IN_ void ha_histogram_add(const ha_kernel_slot_ *counts, size_t bytes, const void *own,
                             int64_t places) {
    for (int64_t p = 0; p < places; p++)
        if (bytes == sizeof(uint32_t))
            __atomic_fetch_add((uint32_t *)counts->pointer + p, ((const uint32_t *)own)[p],
                               __ATOMIC_RELAXED);
        else
            __atomic_fetch_add((uint64_t *)counts->pointer + p, ((const uint64_t *)own)[p],
                               __ATOMIC_RELAXED);
}

/* Counts for which a thread has no memory of its own are one thread's after the other's. */
HA_STATE_ pthread_mutex_t ha_histogram_turn = PTHREAD_MUTEX_INITIALIZER;

HA_IN_ void ha_histogram_part(const ha_op_key *key, const ha_kernel_slot_ *slot, int64_t first,
                              int64_t last) {
    uint64_t own[HA_HISTOGRAM_OWN];
    ha_histogram_walk w = {
        .low = slot[2].pointer, .high = slot[3].pointer, .scale = slot[4].pointer};
    const size_t bytes = (size_t)key->of[0];
    memcpy(&w.parts, slot[5].pointer, sizeof w.parts);
    if (first >= last) return;
    if (w.parts < HA_HISTOGRAM_OWN) {
        memset(own, 0, (size_t)(w.parts + 1) * bytes);
        ha_histogram_count(key, slot, &w, first, last, own);
        ha_histogram_add(&slot[0], bytes, own, w.parts + 1);
        return;
    }
    pthread_mutex_lock(&ha_histogram_turn);
    ha_histogram_count(key, slot, &w, first, last, slot[0].pointer);
    pthread_mutex_unlock(&ha_histogram_turn);
}

/* The box is of teams. Slots: counts, x, low, high, scale, parts, elements. */
HA_IN_ void ha_histogram_loops(const ha_kernel *kernel, const ha_region *box, int apart,
                               const ha_kernel_slot_ *slot) {
    const int64_t each = HA_HISTOGRAM_TEAM * HA_HISTOGRAM_EACH;
    int64_t all;
    memcpy(&all, slot[6].pointer, sizeof all);
    (void)apart;
    HA_AMONG_THREADS_(box, 1, (double)each, const ha_region own = HA_SHARE_(box, 0);
                      ha_histogram_part(&ha_op_of(kernel)->key, slot, own.first[0] * each,
                                        HA_LESS(own.last[0] * each, all));)
}

/* ---- as a kernel --------------------------------------------------------------------------------- */

HA_IN_ void ha_histogram_put_text(ha_text *t, const ha_op_key *key) {
    const int own = key->of[1];
    const char *number = ha_op_scale_text(key->type);
    ha_print(t, "{ ");
    if (own)
        ha_print(t,
                 "HA_LOCAL(uint32_t, own, %d); "
                 "HA_LANES(l) for (int p = l; p < %d; p += %d) own[p] = 0; ",
                 own, own, HA_HISTOGRAM_TEAM);
    ha_print(t,
             "HA_LANES(l) for (int e = 0; e < %d; e++) { "
             "const int64_t k = ((int64_t)i * %d + e) * %d + l; if (k < all) { ",
             HA_HISTOGRAM_EACH, HA_HISTOGRAM_EACH, HA_HISTOGRAM_TEAM);
    ha_split_put_variable(t, key->type, "w", "x", key->rank, 0);
    ha_print(t, "const %s v = (%s)w; const int64_t to = %s; %s } } ", number, number,
             HA_TEXT_OF_(HA_PART_OF_),
             own ? "ha_local_add(&own[to], 1u);" : "ha_global_add(&counts[to], 1u);");
    if (own)
        ha_print(t,
                 "HA_LANES_ALONE(l) for (int p = l; p <= (int)parts; p += %d) "
                 "if (own[p]) ha_global_add(&counts[p], own[p]); ",
                 HA_HISTOGRAM_TEAM);
    ha_print(t, "}");
}

/* of: the bytes of a count, places that a team has */
HA_IN_ void ha_histogram_make(ha_op_kernel *k, const ha_op_key *key) {
    static int is_checked;
    static const ha_team_ team = {{HA_HISTOGRAM_TEAM, 1, 1}, &is_checked};
    const ha_dtype number = ha_op_scale(key->type);
    const char *name = ha_op_scale_text(key->type);
    ha_text t = ha_text_into(k->text, sizeof k->text);
    snprintf(k->name, sizeof k->name, "ha_histogram_%s_%d_%d_%d", key->type->element, key->rank,
             key->of[0] * 8, key->of[1]);
    ha_index_add_array(k, HA_KERNEL_INOUT_, "counts", ha_index_bits((size_t)key->of[0]));
    ha_index_add_view(k, HA_KERNEL_IN_, "x", key->type->type, key->rank);
    ha_op_add_number(k, "low", number, name);
    ha_op_add_number(k, "high", number, name);
    ha_op_add_number(k, "scale", number, name);
    ha_op_add_number(k, "parts", HA_DTYPE_int64_t, "int64_t");
    ha_op_add_number(k, "all", HA_DTYPE_int64_t, "int64_t");
    ha_op_add_parameter(k, HA_KERNEL_USES_, "ha_strided_place", ha_uses_ha_strided_place);
    k->op.kernel.rank = 1;
    k->op.kernel.team = &team;
    k->op.kernel.loops = ha_histogram_loops;
    ha_histogram_put_text(&t, key);
}

/* ---- the call ------------------------------------------------------------------------------------ */

typedef struct ha_histogram {
    ha_context *context;
    darray counts, x;
    const ha_op_type *type;
    ha_dvalue low, high, scale; /* of what is computed with */
    int64_t parts, all;
} ha_histogram;

HA_IN_ uint64_t ha_histogram_most(ha_dtype type) {
    const size_t bits = 8 * ha_dtype_size(type);
    return UINT64_MAX >> (64 - bits) >> (ha_dtype_kind(type) == HA_KIND_SIGNED);
}

HA_IN_ ha_status ha_histogram_check_counts(const ha_histogram *h) {
    const char *operation = "ha_histogram";
    const ha_named_view counts = {"counts", &h->counts}, x = {"x", &h->x};
    ha_status s = ha_named_view_check(counts, operation);
    if (!s) s = ha_index_check_row(counts, operation);
    if (s) return s;
    const ha_number_kind kind = ha_dtype_kind(h->counts.type);
    if ((kind != HA_KIND_SIGNED && kind != HA_KIND_UNSIGNED) || h->counts.type == HA_DTYPE_bool)
        return ha_named_view_fail(HA_ERR_ARGUMENT, operation, counts, "a count is an integer");
    if (!h->parts)
        return ha_named_view_fail(HA_ERR_ARGUMENT, operation, counts, "there are no parts");
    s = ha_op_check_written(counts, operation);
    return s || ha_view_is_empty(&h->x) ? s : ha_index_check_apart(counts, x, operation);
}

/* As what is computed with. */
HA_IN_ ha_status ha_histogram_check_bounds(ha_histogram *h, double low, double high) {
    const double scale = (double)h->parts / (high - low);
    const int is_float = ha_op_scale(h->type) == HA_DTYPE_float;
    h->low = ha_dvalue_of_double(low);
    h->high = ha_dvalue_of_double(high);
    h->scale = ha_dvalue_of_double(scale);
    if (is_float) {
        const float from = (float)low, to = (float)high, by = (float)h->parts / (to - from);
        low = (double)from, high = (double)to;
        h->low = ha_dvalue_of_float(from);
        h->high = ha_dvalue_of_float(to);
        h->scale = ha_dvalue_of_float(by);
    }
    const double by = is_float ? (double)h->scale.as_float : scale;
    if (low < high && high - low <= DBL_MAX && by > 0 && by <= DBL_MAX) return HA_OK;
    return ha_named_view_fail(HA_ERR_ARGUMENT, "ha_histogram", (ha_named_view){"x", &h->x},
                              "from %.17g to %.17g there are no %lld parts", low, high,
                              (long long)h->parts);
}

HA_IN_ ha_status ha_histogram_check(ha_histogram *h, double low, double high) {
    const ha_named_view x = {"x", &h->x};
    ha_status s = ha_named_view_check(x, "ha_histogram");
    if (s) return s;
    h->type = ha_op_type_of(h->x.type);
    if (!h->type || ha_dtype_kind(h->x.type) == HA_KIND_COMPLEX)
        return ha_named_view_fail(HA_ERR_ARGUMENT, "ha_histogram", x,
                                  "there is no histogram of these elements");
    h->parts = h->counts.array ? h->counts.extent[0] : 0;
    h->all = darray_size(h->x);
    s = ha_histogram_check_counts(h);
    return s ? s : ha_histogram_check_bounds(h, low, high);
}

/* What is counted in: as wide as is needed, and of the type of the counts where these can be copied as they are. */
HA_IN_ ha_dtype ha_histogram_type(const ha_histogram *h) {
    if (h->counts.array->element >= sizeof(uint32_t) &&
        (uint64_t)h->all <= ha_histogram_most(h->counts.type))
        return h->counts.type;
    return h->all <= (int64_t)UINT32_MAX ? HA_DTYPE_uint32_t : HA_DTYPE_uint64_t;
}

HA_IN_ ha_status ha_histogram_launch(const ha_histogram *h, const darray *to) {
    const darray *const views[] = {&h->x};
    ha_op_boxes b;
    ha_op_boxes_of(&b, views, 1, 0);
    const int64_t each = HA_HISTOGRAM_TEAM * HA_HISTOGRAM_EACH;
    const int own = h->parts < HA_HISTOGRAM_TEAM  ? HA_HISTOGRAM_TEAM
                    : h->parts < HA_HISTOGRAM_OWN ? HA_HISTOGRAM_OWN
                                                  : 0;
    const ha_op_key key = {.type = h->type,
                           .rank = b.rank,
                           .make = ha_histogram_make,
                           .of = {(int)to->array->element, own}};
    const ha_typed x = ha_op_typed(&b, 0, h->x.array);
    const void *const given[] = {&to->array,     &x,        h->low.bytes, h->high.bytes,
                                 h->scale.bytes, &h->parts, &h->all,      NULL};
    const ha_region box = ha_box1(0, (h->all + each - 1) / each);
    return ha_index_launch(&key, "ha_histogram", h->context, &box, given);
}

/* Do all counts fit their type? They do, unless there are more elements than that. */
HA_IN_ ha_status ha_histogram_check_most(const ha_histogram *h, const darray *counted) {
    ha_op_reduction r = {{.operation = "ha_histogram",
                          .context = h->context,
                          .arrays = 1,
                          .view = {counted},
                          .name = {"counts"}},
                         &ha_op_lanes_of_value,
                         HA_LANE_VALUE_,
                         HA_MAX};
    ha_dvalue most;
    if ((uint64_t)h->all <= ha_histogram_most(h->counts.type)) return HA_OK;
    const ha_status s = ha_op_reduce(&r, 1, &most);
    if (s || most.as_uint64_t <= ha_histogram_most(h->counts.type)) return s;
    return ha_named_view_fail(
        HA_ERR_ARGUMENT, "ha_histogram", (ha_named_view){"counts", &h->counts},
        "a count of %llu does not fit its type", (unsigned long long)most.as_uint64_t);
}

/* Counted; then nothing more is refused. */
HA_IN_ ha_status ha_histogram_end(const ha_histogram *h, const darray *to, ha_dtype type,
                                  void *outside) {
    const ha_named_view x = {"x", &h->x};
    _Alignas(16) char given[16];
    ha_dvalue number;
    darray counted = *to, from_0 = h->counts;
    counted.extent[0]--;
    from_0.origin[0] = 0;
    ha_status s = darray_get_(*to, 1, &h->parts, &number, NULL);
    if (!s) s = ha_op_give("ha_histogram", x, number, type, given);
    if (!s) s = ha_histogram_check_most(h, &counted);
    if (!s) s = darray_copy_(from_0, counted, h->context, "ha_histogram");
    if (!s) memcpy(outside, given, ha_dtype_size(type));
    return s;
}

HA_IN_ ha_status ha_histogram_run(ha_histogram *h, double low, double high, ha_dtype type,
                                  void *outside) {
    ha_status s = ha_histogram_check(h, low, high);
    if (!s) s = ha_op_check_result("ha_histogram", "what is outside", type, outside);
    if (s) return s;
    const int64_t places = h->parts + 1;
    const darray to = darray_zeros(ha_histogram_type(h), 1, &places, h->context);
    if (!to.array) return ha_status_of_nothing();
    if (h->all) s = ha_histogram_launch(h, &to);
    if (!s) s = ha_histogram_end(h, &to, type, outside);
    const ha_status freed = ha_array_free(to.array);
    return s ? s : freed;
}

ha_status ha_histogram_(darray counts, darray x, double low, double high, ha_dtype type,
                        void *outside, ha_context *context, const char *site) {
    ha_histogram h = {.context = context, .counts = counts, .x = x};
    ha_status s = HA_OK;
    HA_FROM(site) s = ha_histogram_run(&h, low, high, type, outside);
    return s;
}

#endif
