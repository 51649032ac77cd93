/* Views whose fields lie in two layouts: those of one list as one says, those of another as the other.
 *
 *     #define body_FIELDS HOT_FIELDS, COLD_FIELDS
 *     HA_VIEW_SPLIT(sp, 1, HOT, HA_AOSOA(8), COLD, HA_AOS)               sp_load gives an sp_record
 *     HA_VIEW_SPLIT(sp, body, 1, HOT, HA_AOSOA(8), COLD, HA_AOS)         sp_load gives a body
 *
 * Name, struct (optional), rank, then for each of the two lists its name (of the macro, without
 * _FIELDS) and layout, then the order (optional). sp is used like any other view (view.h), and has the
 * same functions but sp_of. Its blobs are those of the first list, then those of the second. HA_AOS
 * means a struct of the list's own fields here. Loops go by the blocks of the first layout that has
 * them. HA_COUNTED and HA_HEATMAP of one of the layouts count in both. Without a struct, sp_record has
 * a member for each field under its name, pos_x, arrays with the extents of the path one behind the
 * other. */
#ifndef HARRAY_LAYOUT_SPLIT_H
#define HARRAY_LAYOUT_SPLIT_H

#include "view.h"

/* What counters of both parts are made for. */
typedef struct ha_split_counts_ {
    ha_plan_ plan[2];
    size_t places[2], leaves, blobs; /* of the first */
    ha_counts_plan_ both;
} ha_split_counts_;

HA_HOST_FN_ ha_split_counts_ ha_split_counts_of_(ha_plan_ first, size_t first_places,
                                                 ha_plan_ second, size_t second_places) {
    const ha_counts_plan_ one = ha_view_counts_(first, first_places);
    const ha_counts_plan_ two = ha_view_counts_(second, second_places);
    ha_split_counts_ s = {{first, second}, {first_places, second_places}, 0, 0, one};
    s.leaves = one.leaves;
    s.blobs = one.blobs;
    s.both.leaves += two.leaves;
    s.both.blobs += two.blobs;
    s.both.granules = ha_plus_(one.granules, two.granules);
    return s;
}

/* Makes them in a memory of that size and that of one more ha_counts, which is the second part's. */
HA_HOST_FN_ ha_counts *ha_split_counted_(void *memory, const ha_record *record,
                                         ha_split_counts_ s) {
    ha_counts *const all = ha_counts_in_(memory, record, s.both);
    ha_counts *const second = HA_CAST_(ha_counts *,
                                       HA_CAST_(char *, memory) + ha_counts_bytes_(s.both));
    ha_view_counted_(all, s.plan[0], s.places[0], 0, 0);
    ha_view_counted_(all, s.plan[1], s.places[1], s.leaves, s.blobs);
    *second = *all;
    second->leaf += s.leaves;
    second->place += s.leaves;
    second->blob += s.blobs;
    return second;
}

/* clang-format off */
/* The flat struct of a list, and its member. */
#define HA_EXTENT_1_(p, a) [a]
#define HA_EXTENT_2_(p, a, b) [a][b]
#define HA_EXTENT_3_(p, a, b, c) [a][b][c]
#define HA_FLAT_FIELD_(R, T, ...) T HA_NAME_OF_(__VA_ARGS__) HA_PATH_(HA_NONE_, HA_NONE_, HA_EXTENT_, __VA_ARGS__);
#define HA_FLAT_MEMBER_(...) HA_NAME_OF_(__VA_ARGS__) HA_PATH_(HA_NONE_, HA_NONE_, HA_SUBSCRIPT_, __VA_ARGS__)
#define HA_FLAT_LAST_(...) HA_NAME_OF_(__VA_ARGS__) HA_PATH_(HA_NONE_, HA_NONE_, HA_LAST_, __VA_ARGS__)
#define HA_FLAT_SIZES_(R, T, ...) {sizeof(T), HA_ALIGNOF_(T), HA_ELEMENTS_(__VA_ARGS__), offsetof(R, HA_FLAT_LAST_(__VA_ARGS__)) + sizeof(T)},

/* A record of a list alone, R, as HA_RECORD makes it of a struct. */
#define HA_FLAT_RECORD_(R, S) \
    HA_FOR_FIELDS_(HA_SCALAR_FIELD_, R, S##_FIELDS) \
    typedef struct { HA_FOR_FIELDS_(HA_FLAT_FIELD_, R, S##_FIELDS) } R; \
    typedef struct { HA_FOR_FIELDS_(HA_PACKED_FIELD_, R, S##_FIELDS) } R##_packed_; \
    typedef struct { HA_FOR_FIELDS_(HA_LEAF_FIELD_, R, S##_FIELDS) } R##_leaf_; \
    HA_TABLE_OF_SIZES_(R, HA_FOR_FIELDS_(HA_FLAT_SIZES_, R, S##_FIELDS))

/* A view of it, V, without what only users need. */
#define HA_FLAT_VIEW_(V, R, S, D, M, O) HA_FLAT_VIEW_1_(V, R, S, D, HA_KIND_OF_ M, HA_LANES_OF_ M, HA_FLAGS_OF_ M, O)
#define HA_FLAT_VIEW_1_(...) HA_FLAT_VIEW_2_(__VA_ARGS__)
#define HA_FLAT_VIEW_2_(V, R, S, D, K, L, F, O) \
    HA_STATIC_ASSERT_((K) >= 0, "HA_VIEW_SPLIT: HA_ANY is no layout of a part"); \
    HA_FLAT_RECORD_(R, S) \
    HA_VIEW_TYPE_(V, R, D, K, L, F) \
    HA_VIEW_SHAPE_(V, D, O) \
    HA_FOR_FIELDS_(HA_VIEW_FIELD_, (V, R, HA_FLAT_MEMBER_, HA_FLAT_LAST_), S##_FIELDS) \
    HA_VIEW_PLAN_(V, R, D, O)

/* A field of the split view is one of its part P. */
#define HA_SPLIT_FIELD_(A, T, ...) HA_SPLIT_FIELD_1_(HA_BARE_ A, T, HA_NAME_OF_(__VA_ARGS__), (HA_PARAMETERS_(__VA_ARGS__)), (HA_ARGUMENTS_(__VA_ARGS__)), __VA_ARGS__)
#define HA_SPLIT_FIELD_1_(...) HA_SPLIT_FIELD_2_(__VA_ARGS__)
#define HA_SPLIT_FIELD_2_(V, P, part, T, name, parameters, arguments, ...) \
    typedef P##_##name##_type_ V##_##name##_type_; \
    HA_FN char *V##_##name##_spot_(V ha_v, int ha_what, ha_cursor ha_c HA_BARE_ parameters) { \
        return P##_##name##_spot_(ha_v.part, ha_what, ha_c HA_BARE_ arguments); \
    } \
    HA_VECTOR_(V, T, name, __VA_ARGS__) \
    HA_FIELD_ACCESS_(V, T, name, parameters, arguments)

/* The layout M, counting also what N does. */
#define HA_COUNTED_AS_(M, N) (HA_KIND_OF_ M, HA_LANES_OF_ M, HA_COUNTED_FLAGS_(HA_FLAGS_OF_ M, HA_FLAGS_OF_ N))
#define HA_COUNTED_FLAGS_(f, g) \
    ((f) % HA_GRANULE_ + ((g) & ~(f) & HA_COUNTED_) + ((f) / HA_GRANULE_ > (g) / HA_GRANULE_ ? (f) / HA_GRANULE_ : (g) / HA_GRANULE_) * HA_GRANULE_)

/* Counters of both parts: those of the first are also those of all, and those of the second begin
 * behind them. The record is for the names of the leaves only. */
#define HA_NAMED_FIELD_(C, T, ...) {HA_PATH_TEXT_(__VA_ARGS__), HA_DTYPE_OF(T), 0, {0}},
#define HA_SPLIT_COUNTS_(V, S1, S2) \
    static const ha_field V##_field_[] HA_UNUSED = { \
        HA_FOR_FIELDS_(HA_NAMED_FIELD_, V, S1##_FIELDS) HA_FOR_FIELDS_(HA_NAMED_FIELD_, V, S2##_FIELDS)}; \
    static const ha_record V##_named_ HA_UNUSED = {#V, 0, 1, sizeof V##_field_ / sizeof V##_field_[0], V##_field_}; \
    HA_HOST_FN_ ha_split_counts_ V##_split_counts_(V ha_v) { \
        return ha_split_counts_of_(V##_first__plan_(), ha_places_checked_(V##_first__shape_(ha_v.first)), \
                                   V##_second__plan_(), ha_places_checked_(V##_second__shape_(ha_v.second))); \
    } \
    HA_HOST_FN_ size_t V##_counts_bytes_(V ha_v) { \
        if (HA_TO_(int, V##_first__flags_) < HA_COUNTED_) return 0; \
        return ha_plus_(ha_counts_bytes_(V##_split_counts_(ha_v).both), sizeof(ha_counts)); \
    } \
    HA_HOST_FN_ V V##_counting_in_(V ha_v, void *ha_m) { \
        if (HA_TO_(int, V##_first__flags_) < HA_COUNTED_ || ha_m == HA_NULL_) return ha_v; \
        ha_v.first.blob[V##_first__last_] = HA_CAST_(char *, ha_m); \
        ha_v.second.blob[V##_second__last_] = HA_CAST_(char *, ha_split_counted_(ha_m, &V##_named_, V##_split_counts_(ha_v))); \
        return ha_v; \
    } \
    HA_HOST_FN_ ha_counts *V##_counts_(V ha_v) { \
        return HA_TO_(int, V##_first__counting_) ? HA_CAST_(ha_counts *, ha_v.first.blob[V##_first__last_]) : HA_NULL_; \
    }

#define HA_IS_RANK_(x) HA_IS_PAREN_2_2_(HA_VARIANT_(HA_RANK_, x), 0)
#define HA_IS_PAREN_2_2_(...) HA_IS_PAREN_2_(__VA_ARGS__, 0)
#define HA_RANK_1_ ~, 1
#define HA_RANK_2_ ~, 1
#define HA_RANK_3_ ~, 1
#define HA_RANK_4_ ~, 1
#define HA_VIEW_SPLIT(V, R, ...) HA_VIEW_SPLIT_1_(HA_IS_RANK_(R), V, R, __VA_ARGS__)
#define HA_VIEW_SPLIT_1_(n, ...) HA_VARIANT_(HA_VIEW_SPLIT_OF_, n)(__VA_ARGS__)
#define HA_VIEW_SPLIT_OF_0_(V, R, D, ...) HA_VIEW_SPLIT_ORDER_(V, R, D, __VA_ARGS__, HA_ROW, ) HA_SPLIT_RECORD_(V, R, HA_MEMBER_, __VA_ARGS__, )
#define HA_VIEW_SPLIT_OF_1_(V, D, ...) HA_VIEW_SPLIT_ORDER_(V, V##_record, D, __VA_ARGS__, HA_ROW, ) \
    HA_SPLIT_VALUES_(V, __VA_ARGS__, ) HA_SPLIT_RECORD_(V, V##_record, HA_FLAT_MEMBER_, __VA_ARGS__, )
#define HA_SPLIT_VALUES_(V, S1, M1, S2, ...) \
    typedef struct V##_record { \
        HA_FOR_FIELDS_(HA_FLAT_FIELD_, V, S1##_FIELDS) \
        HA_FOR_FIELDS_(HA_FLAT_FIELD_, V, S2##_FIELDS) \
    } V##_record;

#define HA_VIEW_SPLIT_ORDER_(V, R, D, S1, M1, S2, M2, O, ...) \
    HA_FLAT_VIEW_(V##_first_, V##_first_record_, S1, D, HA_COUNTED_AS_(M1, M2), O) \
    HA_FLAT_VIEW_(V##_second_, V##_second_record_, S2, D, HA_COUNTED_AS_(M2, M1), O) \
    enum { \
        V##_kind_ = 0, V##_blobs = HA_TO_(int, V##_first__blobs) + HA_TO_(int, V##_second__blobs), \
        V##_by_first_ = HA_TO_(int, V##_first__lanes_) != 0, \
        V##_lanes_ = HA_TO_(int, V##_first__lanes_) != 0 ? HA_TO_(int, V##_first__lanes_) : HA_TO_(int, V##_second__lanes_), \
        V##_multiple_ = HA_TO_(int, V##_first__lanes_) != 0 ? HA_TO_(int, V##_first__multiple_) : HA_TO_(int, V##_second__multiple_), \
        V##_each_ = HA_TO_(int, V##_first__each_) + HA_TO_(int, V##_second__each_), \
        V##_more_ = HA_TO_(int, V##_first__more_) > HA_TO_(int, V##_second__more_) ? HA_TO_(int, V##_first__more_) : HA_TO_(int, V##_second__more_), \
        V##_pointers_ = HA_TO_(int, V##_first__pointers_) + HA_TO_(int, V##_second__pointers_) + 1 \
    }; \
    typedef struct V { V##_first_ first; V##_second_ second; ptrdiff_t extent[HA_MOST_DIMENSIONS_], count; void *memory; \
        int kind, order, as; ptrdiff_t lanes, multiple; char (*cases)[1], (*rank)[D]; /* what HA_WITH looks at */ } V; \
    HA_VIEW_SHAPE_FIXED_(V, D, O) \
    HA_FOR_FIELDS_(HA_SPLIT_FIELD_, (V, V##_first_, first), S1##_FIELDS) \
    HA_FOR_FIELDS_(HA_SPLIT_FIELD_, (V, V##_second_, second), S2##_FIELDS) \
    HA_ONCE_FN_ V V##_empty_(ptrdiff_t ha_n0, ptrdiff_t ha_n1, ptrdiff_t ha_n2, ptrdiff_t ha_n3) { \
        V ha_v; \
        memset(&ha_v, 0, sizeof ha_v); \
        ha_v.first = V##_first__empty_(ha_n0, ha_n1, ha_n2, ha_n3); \
        ha_v.second = V##_second__empty_(ha_n0, ha_n1, ha_n2, ha_n3); \
        memcpy(ha_v.extent, ha_v.first.extent, sizeof ha_v.extent); \
        ha_v.count = ha_v.first.count; \
        return ha_v; \
    } \
    HA_ONCE_FN_ size_t V##_blob_bytes_(V ha_v, int ha_b) { \
        return ha_b < HA_TO_(int, V##_first__blobs) ? V##_first__blob_bytes_(ha_v.first, ha_b) \
                                                    : V##_second__blob_bytes_(ha_v.second, ha_b - HA_TO_(int, V##_first__blobs)); \
    } \
    HA_ONCE_FN_ V V##_placed_(V ha_v, void *const *ha_bs) { \
        ha_v.first = V##_first__placed_(ha_v.first, ha_bs); \
        ha_v.second = V##_second__placed_(ha_v.second, ha_bs + HA_TO_(int, V##_first__blobs)); \
        return ha_v; \
    } \
    HA_SPLIT_COUNTS_(V, S1, S2) \
    HA_VIEW_MAKERS_(V, D) \
    HA_HOST_FN_ void V##_free(V ha_v) { ha_blob_free(ha_v.memory); } \
    HA_FN bool V##_null(V ha_v) { return ha_v.first.blob[0] == HA_NULL_; } \
    HA_VIEW_SPLIT_MAPPED_(V, S1, S2)

#define HA_SPLIT_RECORD_(V, R, M, S1, M1, S2, ...) \
    HA_FN R V##_load(V ha_v, ha_cursor ha_c) { \
        R ha_r; \
        memset(&ha_r, 0, sizeof ha_r); \
        HA_FOR_FIELDS_(HA_VIEW_LOAD_, (V, M), S1##_FIELDS) \
        HA_FOR_FIELDS_(HA_VIEW_LOAD_, (V, M), S2##_FIELDS) \
        return ha_r; \
    } \
    HA_FN void V##_store(V ha_v, ha_cursor ha_c, R ha_r) { \
        HA_FOR_FIELDS_(HA_VIEW_STORE_, (V, M), S1##_FIELDS) \
        HA_FOR_FIELDS_(HA_VIEW_STORE_, (V, M), S2##_FIELDS) \
    } \
    HA_FN R V##_const_load(V##_const ha_w, ha_cursor ha_c) { return V##_load(ha_w.view, ha_c); }
/* clang-format on */

#endif
