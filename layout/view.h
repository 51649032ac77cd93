/* Views: the records of a struct in a memory layout that is chosen by one word.
 *
 *     HA_VIEW(sky, body, 1, HA_AOSOA(16))       name, record, rank 1-4, layout[, order]
 *
 * Layouts:  HA_AOS                 the struct itself, one after the other: an existing array of it
 *           HA_AOS_PACKED          its listed fields without gaps
 *           HA_SOA                 a blob for each field (of an array: for each element)
 *           HA_SOA_FIELDS          a blob for each field, the elements of an array field side by side:
 *                                  double r[n][3], m[n]
 *           HA_SOA_SINGLE          as HA_SOA, in one blob without gaps
 *           HA_SOA_SINGLE_ALIGNED  each field's part begins at a multiple of its alignment
 *           HA_AOSOA(L)            blocks of L records, in each L of one field side by side
 *           HA_AOSOA(L, HA_ROWS)   rows padded to whole blocks, so that neighbours in other rows have
 *                                  the same lane
 *           HA_ONE                 one record that all indices share
 *           HA_ANY                 known at run time only: any.h; sky_new and so on make it HA_SOA
 *           HA_ANY_OF(layouts)     the same, and it is one of these
 *           HA_COUNTED(layout), HA_HEATMAP(layout)  the same, and what is accessed is counted: counts.h
 * Orders:   HA_ROW (default), HA_COL, HA_MORTON (not for loops that should be fast)
 *
 * What it makes, for `sky` and a field pos.x:
 *
 *     sky                                  the view: a small struct of pointers and extents, passed by
 *                                          value, also to kernels; the memory is not its own
 *     float *sky_pos_x(v, at)              where the field is, at a cursor; for an array field with
 *                                          its subscripts, sky_link_e_re(v, at, i, j, k)
 *     float sky_pos_x_get(v, at)           its value, and
 *     void sky_pos_x_set(v, at, value)     storing it: also where the layout may misalign the field;
 *                                          there is no pointer then: it is of an unusable type, that is
 *                                          named after its reason
 *     void sky_vel_load(v, at, float *all) all elements of an array field, say (float, vel, (3)), in
 *     void sky_vel_store(v, at, all)       list order: into an array of yours, from it, and
 *     void sky_vel_add(v, at, all)         adding it. Loops over elements, which cost nothing here
 *     ha_cursor sky_at(v, i…)                  the cursor of an index
 *     body sky_load(v, at)                 the whole record; what is not in the list is zero
 *     void sky_store(v, at, record)        what is not in the list is left out
 *                                          (of a shorter list, say what is open: HA_VIEW_LIST below)
 *     ha_region sky_region(v)              all indices
 *     sky sky_on(blobs, extents…)          a view on your memory: void *blobs[sky_blobs]; compilers of C
 *                                          warn where an array of fewer is given
 *     sky sky_in(memory, extents…)         the same, blobs one after the other in one memory, each at
 *                                          a multiple of HA_BLOB_ALIGN
 *     size_t sky_bytes(blob, extents…)     bytes of a blob; SIZE_MAX: more than can be, or an
 *                                          extent is negative
 *     size_t sky_room(extents…)            bytes of memory for sky_in; HA_ROOM(sky, count) as a constant
 *     sky sky_new(extents…)                memory of its own; all zero bytes; sky_null(v) if there is
 *     void sky_free(v)                     none, freed by this
 *     sky_const sky_reading(v)             the same to read only: sky_const_pos_x and so on, which give
 *                                          const float *; use sky_const in HA_EACH, too
 *
 *     sky_of(body *records, extents…)      HA_AOS only: a view on an existing array of the struct
 *     sky_from, sky_new_from               views of mappings at run time: any.h
 *     sky_mapped                           the view as a mapping with blobs, for copies between views and
 *                                          arithmetic with them: detail/view_mapped.h
 *
 *     sky_apply                            += and the like for some fields of all records, there, too
 *
 * In kernels of CUDA, sky_in, sky_on, sky_of, sky_bytes and sky_room are device functions as well (a number
 * of bytes that overflows is not told there). So what a block shares can be a view in any layout:
 *
 *     __shared__ char memory[HA_ROOM(sky, 64)];    or extern, of the sky_room(n) bytes of the launch
 *     const sky tile = sky_in(memory, 64);         each thread makes it for itself; it is in registers
 *     sky_store(tile, sky_at(tile, threadIdx.x), sky_load(v, at));
 *     __syncthreads();
 *
 * The memory may be aligned to anything, holds what it held before, and is freed by nobody.
 *
 * So no field at the top of a record can have one of these names: apply, at, blobs, bytes, const,
 * free, from, in, load, mapped, new, new_from, null, of, on, reading, region, room, store.
 *
 * A view given by value to a function that is not inlined costs clang what it knows of the aliases
 * of a second one, and so half the width of its vectors: declare such functions HA_FN, or give
 * them pointers to views.
 *
 * HA_ONE: all cursors give the same place, so loops over it may only read. Cursors of one view fit any
 * other view of the same extents, at lane speed if both have the same lanes and order.
 *
 * Nothing here is checked at run time: cursors are inside the extents, blobs aligned to the record's
 * alignment and of sky_bytes. Any number of threads may use a view; races are about the
 * elements. */
#ifndef HARRAY_LAYOUT_VIEW_H
#define HARRAY_LAYOUT_VIEW_H

#include "any.h"
#include "each.h"
#include "detail/layouts.h"
#include "detail/vectors.h"
#include "detail/view_mapped.h"

/* Names of parameters and variables begin with ha_ wherever a name of the user's follows: a record or a
 * type of a field may be called v, or at. */

/* ---- what a view is made of ------------------------------------------------------------------ */

/* clang-format off */
#define HA_INDICES_1_(i) ptrdiff_t i##0
#define HA_INDICES_2_(i) ptrdiff_t i##0, ptrdiff_t i##1
#define HA_INDICES_3_(i) ptrdiff_t i##0, ptrdiff_t i##1, ptrdiff_t i##2
#define HA_INDICES_4_(i) ptrdiff_t i##0, ptrdiff_t i##1, ptrdiff_t i##2, ptrdiff_t i##3
#define HA_GIVEN_1_(i) i##0
#define HA_GIVEN_2_(i) i##0, i##1
#define HA_GIVEN_3_(i) i##0, i##1, i##2
#define HA_GIVEN_4_(i) i##0, i##1, i##2, i##3
#define HA_ALL_FOUR_1_(i, rest) i##0, rest, rest, rest
#define HA_ALL_FOUR_2_(i, rest) i##0, i##1, rest, rest
#define HA_ALL_FOUR_3_(i, rest) i##0, i##1, i##2, rest
#define HA_ALL_FOUR_4_(i, rest) i##0, i##1, i##2, i##3

#define HA_VIEW(...) HA_VIEW_5_(__VA_ARGS__, HA_ROW, )
#define HA_VIEW_5_(V, R, D, M, O, ...) HA_VIEW_7_(V, R, D, HA_KIND_OF_ M, HA_LANES_OF_ M, HA_FLAGS_OF_ M, O)
#define HA_VIEW_7_(V, R, D, K, L, F, O) \
    HA_VIEW_TYPE_(V, R, D, K, L, F) \
    HA_VIEW_SHAPE_(V, D, O) \
    HA_VIEW_FIELDS_(V, R) \
    HA_VIEW_PLAN_(V, R, D, O) \
    HA_VIEW_COUNTS_(V, R) \
    HA_VIEW_MAKERS_(V, D) \
    HA_VIEW_OF_RECORDS_(V, R, D) \
    HA_VIEW_FROM_(V, R, D, O) \
    HA_VIEW_MAPPED_(V, R)

#define HA_VIEW_TYPE_(V, R, D, K, L, F) \
    enum { \
        V##_kind_ = K, V##_lanes_ = L, V##_flags_ = F, \
        V##_cases_ = (K) >= 0 ? 0 : (K) == HA_ANY_ ? HA_TO_(int, HA_ALL_CASES_) : HA_TO_(int, HA_ANY_) - HA_TO_(int, K), \
        V##_leaves_ = sizeof(R##_leaf_), \
        V##_struct_ = (K) < 0 ? sizeof(R##_leaf_) : 0, /* which pointer is to C structs */ \
        V##_counting_ = (K) < 0 || (F) / HA_COUNTED_ != 0 ? 1 : 0, \
        V##_multiple_ = ((F) & HA_ROWS) != 0 && (L) > 0 ? (L) : 1, \
        V##_pointers_ = (K) < 0 ? sizeof(R##_leaf_) + 1 : (K) == HA_SOA_ || (K) == HA_FIELDS_ ? sizeof(R##_leaf_) : 1, \
        V##_last_ = V##_pointers_ + V##_counting_ - 1, \
        V##_strides_ = (K) < 0 ? 2 * sizeof(R##_leaf_) : 1, \
        V##_blobs = (K) < 0 || ((K) == HA_SOA_ && ((F) & HA_SINGLE_) == 0) ? sizeof(R##_leaf_) \
                    : (K) == HA_FIELDS_ ? sizeof R##_sizes_ / sizeof R##_sizes_[0] : 1 \
    }; \
    HA_STATIC_ASSERT_(HA_TO_(int, K) + HA_TO_(int, HA_ALL_CASES_) >= HA_TO_(int, HA_ANY_), "HA_ANY_OF: " HA_CASES_TEXT_); \
    HA_STATIC_ASSERT_((K) >= 0 || HA_TO_(int, V##_flags_) == 0, "HA_ANY: what is counted is said by the mapping, as count(aos)"); \
    HA_STATIC_ASSERT_(HA_TO_(int, V##_flags_) >= 0 && HA_TO_(int, V##_flags_) / HA_GRANULE_ <= HA_MOST_GRANULE_, "HA_HEATMAP: 1 to 1048576 bytes"); \
    typedef struct V { \
        char *blob[V##_pointers_ + V##_counting_]; /* the last one is for the counters */ \
        ptrdiff_t extent[HA_MOST_DIMENSIONS_]; \
        ptrdiff_t count;                        /* of indices */ \
        int kind, order;                        /* the rest is for HA_ANY, and its choice of layout */ \
        ptrdiff_t lanes, multiple; \
        ptrdiff_t stride[V##_strides_]; \
        int as;                                 /* the kind by which values are found: a constant in HA_WITH */ \
        union { \
            void *memory;                       /* what V_free frees */ \
            char (*cases)[V##_cases_ + 1];      /* never followed: its type says what HA_WITH compiles */ \
            char (*rank)[D];                    /* and this one's what rank the view has */ \
        }; \
    } V;

/* The same for every layout. */
#define HA_VIEW_SHAPE_(V, D, O) \
    HA_VIEW_SHAPE_OF_(V, D, HA_CHOICE_(V, O, D == 1 ? HA_ROW + 0 : ha_v.order), HA_CHOICE_(V, V##_lanes_, ha_v.lanes), HA_CHOICE_(V, V##_multiple_, ha_v.multiple))
#define HA_VIEW_SHAPE_FIXED_(V, D, O) HA_VIEW_SHAPE_OF_(V, D, O, V##_lanes_, V##_multiple_)
#define HA_VIEW_SHAPE_OF_(V, D, order, lanes, multiple) \
    typedef struct V##_const { V view; } V##_const; \
    HA_FN ha_shape_ V##_shape_(V ha_v) { \
        const ha_shape_ ha_s = {D, order, lanes, multiple, {ha_v.extent[0], ha_v.extent[1], ha_v.extent[2], ha_v.extent[3]}}; \
        return ha_s; \
    } \
    HA_FN V##_const V##_reading(V ha_v) { V##_const ha_w = {ha_v}; return ha_w; } \
    HA_FN ha_cursor V##_at(V ha_v, HA_INDICES_##D##_(ha_i)) { return ha_cursor_of_(V##_shape_(ha_v), HA_ALL_FOUR_##D##_(ha_i, 0)); } \
    HA_FN ha_cursor V##_const_at(V##_const ha_w, HA_INDICES_##D##_(ha_i)) { return V##_at(ha_w.view, HA_GIVEN_##D##_(ha_i)); } \
    HA_FN ha_region V##_region(V ha_v) { return ha_box4(0, ha_v.extent[0], 0, ha_v.extent[1], 0, ha_v.extent[2], 0, ha_v.extent[3]); } \
    HA_FN ha_region V##_const_region(V##_const ha_w) { return V##_region(ha_w.view); } \
    HA_FN ha_walk_ V##_walk_(V ha_v, ha_region ha_r) { HA_NO_BARE_VIEW_(V, ha_v); return ha_walk_of_(V##_shape_(ha_v), ha_r); } \
    HA_FN ha_walk_ V##_const_walk_(V##_const ha_w, ha_region ha_r) { return V##_walk_(ha_w.view, ha_r); }

/* A view that is all zeros but for its extents, the bytes of a blob, and a view on blobs, for any rank:
 * what the making of views differs in. */
#define HA_VIEW_PLAN_(V, R, D, O) \
    HA_ONCE_FN_ ha_plan_ V##_plan_(void) { \
        const ha_plan_ ha_p = {HA_TO_(int, V##_kind_) < 0 ? HA_SOA_ + 0 : V##_kind_ + 0, V##_flags_, V##_lanes_, sizeof(R), sizeof(R##_packed_), \
                            sizeof R##_sizes_ / sizeof R##_sizes_[0], HA_SIZES_OF_(R)}; \
        return ha_p; \
    } \
    HA_ONCE_FN_ V V##_empty_(ptrdiff_t ha_n0, ptrdiff_t ha_n1, ptrdiff_t ha_n2, ptrdiff_t ha_n3) { \
        V ha_v; \
        memset(&ha_v, 0, sizeof ha_v); \
        ha_v.extent[0] = ha_n0; \
        ha_v.extent[1] = ha_n1; \
        ha_v.extent[2] = ha_n2; \
        ha_v.extent[3] = ha_n3; \
        ha_v.count = ha_count_(ha_n0, ha_n1, ha_n2, ha_n3); \
        ha_v.kind = HA_TO_(int, V##_kind_) < 0 ? HA_SOA_ + 0 : V##_kind_ + 0; \
        ha_v.order = O; \
        ha_v.lanes = V##_lanes_; \
        ha_v.multiple = V##_multiple_; \
        ha_v.as = HA_STRIDED_; \
        return ha_v; \
    } \
    HA_ONCE_FN_ size_t V##_blob_bytes_(V ha_v, int ha_b) { \
        return ha_blob_bytes_(V##_plan_(), ha_places_checked_(V##_shape_(ha_v)), ha_b); \
    } \
    HA_ONCE_FN_ V V##_placed_(V ha_v, void *const *ha_bs) { \
        if (HA_TO_(int, V##_kind_) == HA_FIELDS_) \
            ha_field_leaves_(V##_plan_(), ha_bs, ha_v.blob); \
        else \
            for (int ha_j = 0; ha_j < HA_TO_(int, V##_blobs); ha_j++) ha_v.blob[ha_j] = HA_CAST_(char *, ha_bs[ha_j]); \
        if (HA_TO_(int, V##_flags_) & HA_SINGLE_) \
            ha_single_(V##_plan_(), ha_places_checked_(V##_shape_(ha_v)), ha_v.blob[0], ha_v.blob); \
        if (HA_TO_(int, V##_kind_) < 0) ha_leaf_strides_(V##_plan_(), ha_v.stride); \
        return ha_v; \
    } \
    enum { \
        V##_each_ = sizeof(R) > sizeof(R##_packed_) ? sizeof(R) : sizeof(R##_packed_), \
        V##_more_ = HA_TO_(int, V##_kind_) == HA_ONE_ ? 1 : V##_lanes_ + 0 \
    };

/* Counters of a view: bytes of them, 0 if it counts nothing; the view with its counters in a
 * memory, which is all zeros; and these. */
#define HA_VIEW_COUNTS_(V, R) \
    HA_HOST_FN_ size_t V##_counts_bytes_(V ha_v) { \
        if (HA_TO_(int, V##_flags_) < HA_COUNTED_) return 0; \
        return ha_counts_bytes_(ha_view_counts_(V##_plan_(), ha_places_checked_(V##_shape_(ha_v)))); \
    } \
    HA_HOST_FN_ V V##_counting_in_(V ha_v, void *ha_m) { \
        const size_t ha_places = ha_places_checked_(V##_shape_(ha_v)); \
        if (HA_TO_(int, V##_flags_) < HA_COUNTED_ || ha_m == HA_NULL_) return ha_v; \
        ha_view_counted_(ha_counts_in_(ha_m, &R##_record, ha_view_counts_(V##_plan_(), ha_places)), V##_plan_(), ha_places, 0, 0); \
        ha_v.blob[V##_last_] = HA_CAST_(char *, ha_m); \
        return ha_v; \
    } \
    HA_HOST_FN_ ha_counts *V##_counts_(V ha_v) { \
        return HA_TO_(int, V##_counting_) ? HA_CAST_(ha_counts *, ha_v.blob[V##_last_]) : HA_NULL_; \
    }

/* What users call, of V_empty_, V_blob_bytes_ and V_placed_. */
#define HA_VIEW_MAKERS_(V, D) \
    HA_HOST_FN_ V V##_with_counts_(V ha_v) { \
        return V##_counting_in_(ha_v, ha_counts_memory_(V##_counts_bytes_(ha_v))); \
    } \
    HA_ONCE_FN_ size_t V##_bytes(int ha_b, HA_INDICES_##D##_(ha_n)) { \
        return V##_blob_bytes_(V##_empty_(HA_ALL_FOUR_##D##_(ha_n, 1)), ha_b); \
    } \
    HA_ONCE_FN_ V V##_on(void *const ha_bs[HA_AT_LEAST_(V##_blobs)], HA_INDICES_##D##_(ha_n)) { \
        return V##_placed_(V##_empty_(HA_ALL_FOUR_##D##_(ha_n, 1)), ha_bs); \
    } \
    HA_ONCE_FN_ V##_const V##_const_on(const void *const ha_bs[HA_AT_LEAST_(V##_blobs)], HA_INDICES_##D##_(ha_n)) { \
        void *ha_b[V##_blobs]; \
        memcpy(ha_b, ha_bs, sizeof ha_b); \
        return V##_reading(V##_on(ha_b, HA_GIVEN_##D##_(ha_n))); \
    } \
    HA_ONCE_FN_ size_t V##_room(HA_INDICES_##D##_(ha_n)) { \
        size_t ha_sum = HA_BLOB_ALIGN; \
        for (int ha_j = 0; ha_j < HA_TO_(int, V##_blobs); ha_j++) \
            ha_sum = ha_plus_(ha_sum, ha_whole_lines_(V##_bytes(ha_j, HA_GIVEN_##D##_(ha_n)))); \
        return ha_sum; \
    } \
    HA_ONCE_FN_ V V##_in(void *ha_m, HA_INDICES_##D##_(ha_n)) { \
        void *ha_b[V##_blobs]; \
        char *ha_next = ha_next_line_(HA_CAST_(char *, ha_m)); \
        for (int ha_j = 0; ha_j < HA_TO_(int, V##_blobs); ha_j++) { \
            ha_b[ha_j] = ha_next; \
            ha_next += ha_whole_lines_(V##_bytes(ha_j, HA_GIVEN_##D##_(ha_n))); \
        } \
        return V##_on(ha_b, HA_GIVEN_##D##_(ha_n)); \
    } \
    HA_HOST_FN_ V V##_new(HA_INDICES_##D##_(ha_n)) { \
        V ha_v = V##_empty_(HA_ALL_FOUR_##D##_(ha_n, 1)); \
        const size_t ha_room = V##_room(HA_GIVEN_##D##_(ha_n)), ha_more = V##_counts_bytes_(ha_v); \
        char *const ha_m = HA_CAST_(char *, ha_blob_new_(ha_plus_(ha_room, ha_more))); \
        if (ha_m != HA_NULL_) \
            ha_v = V##_counting_in_(V##_in(ha_m, HA_GIVEN_##D##_(ha_n)), ha_more ? ha_m + ha_room : HA_NULL_); \
        ha_v.memory = ha_m; \
        return ha_v; \
    }

/* An existing array of structs; in other layouts its parameter fits nothing. */
#define HA_VIEW_OF_RECORDS_(V, R, D) \
    HA_ONCE_FN_ V V##_of(HA_POINTEE_(HA_TO_(int, V##_kind_) != HA_AOS_, ha_only_an_aos_view_is_of_records_, R) *ha_rs, HA_INDICES_##D##_(ha_n)) { \
        void *ha_b[V##_blobs] = {ha_rs}; \
        return V##_on(ha_b, HA_GIVEN_##D##_(ha_n)); \
    } \
    HA_HOST_FN_ void V##_free(V ha_v) { ha_blob_free(ha_v.memory); } \
    HA_FN bool V##_null(V ha_v) { return ha_v.blob[0] == HA_NULL_; }

/* Bytes for sky_in, wherever they begin, of `count` indices in any layout but with HA_ROWS and in
 * HA_MORTON's order; a constant if count is one: char memory[HA_ROOM(sky, 100)]. Also in kernels. */
#define HA_ROOM(V, count) \
    ((HA_TO_(size_t, count) + V##_more_) * V##_each_ + (V##_pointers_ + HA_TO_(size_t, 1)) * HA_BLOB_ALIGN)

/* One field: A is (V, R, M, L), M making the member of the struct from the path, and L that of its last
 * elements. */
#define HA_VIEW_FIELD_(A, T, ...) HA_VIEW_FIELD_1_(HA_BARE_ A, T, HA_NAME_OF_(__VA_ARGS__), __VA_ARGS__)
#define HA_VIEW_FIELD_1_(...) HA_VIEW_FIELD_2_(__VA_ARGS__)
#define HA_VIEW_FIELD_2_(V, R, M, L, T, name, ...) \
    HA_FN char *V##_##name##_spot_(V ha_v, int ha_what, ha_cursor ha_c HA_PARAMETERS_(__VA_ARGS__)) { \
        const ha_spot_ ha_spot = ha_spot_of_(V##_shape_(ha_v), ha_c); \
        const int ha_as = HA_ADDRESSED_(V, ha_v); \
        char *ha_p; \
        ptrdiff_t ha_k = 0; \
        HA_ELEMENT_NUMBER_(__VA_ARGS__) \
        if (ha_as == HA_AOS_ || ha_as == HA_ONE_) \
            ha_p = HA_BYTES_(&HA_CAST_(R *, ha_v.blob[V##_struct_])[ha_as == HA_ONE_ ? 0 : ha_spot.block + ha_spot.lane].M(__VA_ARGS__)); \
        else \
            ha_p = ha_address_(ha_v.blob, ha_v.stride, ha_as, HA_CHOICE_(V, V##_lanes_, ha_v.lanes), sizeof(R##_packed_), \
                           HA_OFFSET_(R##_packed_, name), HA_OFFSET_(R##_leaf_, name), ha_k, HA_ELEMENTS_(__VA_ARGS__), sizeof(T), ha_spot); \
        HA_TALLY_(V, HA_OFFSET_(R##_leaf_, name) + ha_k, sizeof(T)) \
        return HA_ALIGNED_TO_(HA_FIELD_MISALIGNS_(V, R, T, name) || HA_MEMBER_MISALIGNS_(V, R, T, L(__VA_ARGS__)) ? 1 : HA_ALIGNOF_(T), ha_p); \
    } \
    HA_VECTOR_(V, T, name, __VA_ARGS__) \
    HA_FIELD_FUNCTIONS_(V, HA_FIELD_MISALIGNS_(V, R, T, name), T, name, (HA_PARAMETERS_(__VA_ARGS__)), (HA_ARGUMENTS_(__VA_ARGS__)))

#define HA_FIELD_MISALIGNS_(V, R, T, name) \
    HA_MAY_MISALIGN_(HA_TO_(int, V##_kind_), HA_TO_(int, V##_lanes_), HA_TO_(int, V##_flags_), sizeof(R##_packed_), offsetof(R##_packed_, name), HA_ALIGNOF_(T))

/* Of structs that are packed. */
#define HA_MEMBER_MISALIGNS_(V, R, T, member) \
    ((HA_TO_(int, V##_kind_) == HA_AOS_ || HA_TO_(int, V##_kind_) == HA_ONE_) && \
     (HA_ALIGNOF_(R) % HA_ALIGNOF_(T) != 0 || offsetof(R, member) % HA_ALIGNOF_(T) != 0))

/* Counts, if that is what the layout is for; of HA_ANY, it is HA_STRIDED_ then. */
#define HA_TALLY_(V, leaf, size) \
    if (HA_TO_(int, V##_counting_) && HA_CHOICE_(V, HA_STRIDED_, ha_as) == HA_STRIDED_ && __builtin_expect(ha_v.blob[V##_last_] != HA_NULL_, V##_kind_ >= 0)) \
        HA_TALLY_ONE_(HA_TO_(int, V##_kind_) < 0, (ha_v.blob[V##_last_], leaf, ha_what, HA_BY_LEAF_(V), ha_p - ha_v.blob[HA_BY_LEAF_(V) ? leaf : 0], size))
#define HA_TALLY_ONE_(apart, arguments) \
    { \
        if (apart) ha_tally_apart_ arguments; \
        else ha_tally_ arguments; \
    }
#define HA_BY_LEAF_(V) \
    ((HA_TO_(int, V##_kind_) == HA_SOA_ || HA_TO_(int, V##_kind_) == HA_FIELDS_ || HA_TO_(int, V##_kind_) < 0) && !(HA_TO_(int, V##_flags_) & HA_SINGLE_))

#define HA_FIELD_FUNCTIONS_(...) HA_FIELD_FUNCTIONS_1_(__VA_ARGS__)
#define HA_FIELD_FUNCTIONS_1_(V, misaligns, T, name, parameters, arguments) \
    typedef HA_POINTEE_(misaligns, ha_may_misalign_so_use_get_and_set_, T) V##_##name##_type_; \
    HA_FIELD_ACCESS_(V, T, name, parameters, arguments)

/* What users call, of V_name_spot_ and V_name_type_. */
#define HA_FIELD_ACCESS_(V, T, name, parameters, arguments) \
    HA_FN V##_##name##_type_ *V##_##name(V ha_v, ha_cursor ha_c HA_BARE_ parameters) { \
        return HA_CAST_(V##_##name##_type_ *, V##_##name##_spot_(ha_v, HA_POINTER_TO_, ha_c HA_BARE_ arguments)); \
    } \
    HA_FN const V##_##name##_type_ *V##_const_##name(V##_const ha_w, ha_cursor ha_c HA_BARE_ parameters) { \
        return HA_CAST_(V##_##name##_type_ *, V##_##name##_spot_(ha_w.view, HA_READ_, ha_c HA_BARE_ arguments)); \
    } \
    HA_FN T V##_##name##_get(V ha_v, ha_cursor ha_c HA_BARE_ parameters) { \
        T ha_x; \
        memcpy(&ha_x, V##_##name##_spot_(ha_v, HA_READ_, ha_c HA_BARE_ arguments), sizeof ha_x); \
        return ha_x; \
    } \
    HA_FN void V##_##name##_set(V ha_v, ha_cursor ha_c HA_BARE_ parameters, T ha_x) { \
        memcpy(V##_##name##_spot_(ha_v, HA_WRITE_, ha_c HA_BARE_ arguments), &ha_x, sizeof ha_x); \
    } \
    HA_FN T V##_const_##name##_get(V##_const ha_w, ha_cursor ha_c HA_BARE_ parameters) { \
        return V##_##name##_get(ha_w.view, ha_c HA_BARE_ arguments); \
    }

/* The whole record, field by field, so that it may be a part of one. */
#define HA_VIEW_LOAD_(A, T, ...) HA_VIEW_LOAD_1_(HA_BARE_ A, T, __VA_ARGS__)
#define HA_VIEW_LOAD_1_(...) HA_VIEW_LOAD_2_(__VA_ARGS__)
#define HA_VIEW_LOAD_2_(V, M, T, ...) \
    HA_ELEMENT_LOOPS_(__VA_ARGS__) \
    memcpy(&ha_r.M(__VA_ARGS__), HA_FIELD_SPOT_(V, HA_NAME_OF_(__VA_ARGS__))(ha_v, HA_READ_, ha_c HA_ARGUMENTS_(__VA_ARGS__)), sizeof(T));
#define HA_VIEW_STORE_(A, T, ...) HA_VIEW_STORE_1_(HA_BARE_ A, T, __VA_ARGS__)
#define HA_VIEW_STORE_1_(...) HA_VIEW_STORE_2_(__VA_ARGS__)
#define HA_VIEW_STORE_2_(V, M, T, ...) \
    HA_ELEMENT_LOOPS_(__VA_ARGS__) \
    memcpy(HA_FIELD_SPOT_(V, HA_NAME_OF_(__VA_ARGS__))(ha_v, HA_WRITE_, ha_c HA_ARGUMENTS_(__VA_ARGS__)), &ha_r.M(__VA_ARGS__), sizeof(T));
#define HA_FIELD_SPOT_(V, name) HA_FIELD_SPOT_1_(V, name)
#define HA_FIELD_SPOT_1_(V, name) V##_##name##_spot_

#define HA_VIEW_FIELDS_(V, R) \
    HA_FOR_FIELDS_(HA_VIEW_FIELD_, (V, R, HA_MEMBER_, HA_LAST_MEMBER_), R##_FIELDS) \
    HA_FN R V##_load(V ha_v, ha_cursor ha_c) { \
        R ha_r; \
        memset(&ha_r, 0, sizeof ha_r); \
        HA_FOR_FIELDS_(HA_VIEW_LOAD_, (V, HA_MEMBER_), R##_FIELDS) \
        return ha_r; \
    } \
    HA_FN void V##_store(V ha_v, ha_cursor ha_c, R ha_r) { HA_FOR_FIELDS_(HA_VIEW_STORE_, (V, HA_MEMBER_), R##_FIELDS) } \
    HA_FN R V##_const_load(V##_const ha_w, ha_cursor ha_c) { return V##_load(ha_w.view, ha_c); }

/* A list of some fields, motion_FIELDS, of the view's record: makes sky_motion_load and
 * sky_motion_store, which are sky_load and sky_store of these fields alone. At file scope. */
#define HA_VIEW_LIST(V, list) \
    HA_FN V##_value_ V##_##list##_load(V ha_v, ha_cursor ha_c) { \
        V##_value_ ha_r; \
        memset(&ha_r, 0, sizeof ha_r); \
        HA_FOR_FIELDS_(HA_VIEW_LOAD_, (V, HA_MEMBER_), list##_FIELDS) \
        return ha_r; \
    } \
    HA_FN void V##_##list##_store(V ha_v, ha_cursor ha_c, V##_value_ ha_r) { HA_FOR_FIELDS_(HA_VIEW_STORE_, (V, HA_MEMBER_), list##_FIELDS) } \
    HA_FN V##_value_ V##_const_##list##_load(V##_const ha_w, ha_cursor ha_c) { return V##_##list##_load(ha_w.view, ha_c); }

/* For debuggers, in one file, at file scope: the view's functions and those of the record's fields are
 * there to be called, also where compilers have put all of them into loops. */
#define HA_VIEW_DEBUG(V, R) \
    static void (*const V##_debug_[])(void) __attribute__((__used__)) = { \
        HA_KEPT_FUNCTION_(V##_at), HA_KEPT_FUNCTION_(V##_load), HA_KEPT_FUNCTION_(V##_store) \
        HA_FOR_FIELDS_(HA_KEPT_FIELD_, V, R##_FIELDS)};
#define HA_KEPT_FIELD_(V, T, ...) HA_KEPT_FIELD_1_(V, HA_NAME_OF_(__VA_ARGS__))
#define HA_KEPT_FIELD_1_(V, name) HA_KEPT_FIELD_2_(V, name)
#define HA_KEPT_FIELD_2_(V, name) \
    , HA_KEPT_FUNCTION_(V##_##name), HA_KEPT_FUNCTION_(V##_##name##_get), HA_KEPT_FUNCTION_(V##_##name##_set)
#ifdef __cplusplus
#define HA_KEPT_FUNCTION_(f) reinterpret_cast<void (*)(void)>(f)
#else
#define HA_KEPT_FUNCTION_(f) (void (*)(void))f
#endif
/* clang-format on */

#endif
