/* Views: the records of a struct in a memory layout that is chosen by one word.
 *
 *     HA_VIEW(sky, body, 1, HA_AOSOA(16))       name, record, rank 1-4, layout[, order]
 *
 * Layouts:  HA_AOS                 the struct itself, one after the other: an existing array of it
 *           HA_AOS_PACKED          its listed fields without gaps
 *           HA_SOA                 a blob for each field (of an array: for each element)
 *           HA_SOA_SINGLE          the same in one blob without gaps
 *           HA_SOA_SINGLE_ALIGNED  each field's part begins at a multiple of its alignment
 *           HA_AOSOA(L)            blocks of L records, in each L of one field side by side
 *           HA_AOSOA(L, HA_ROWS)   rows padded to whole blocks, so that neighbours in other rows have
 *                                  the same lane
 *           HA_ONE                 one record that all indices share
 *           HA_ANY                 known at run time only: any.h; sky_new and so on make it HA_SOA
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
 *     ha_at sky_at(v, i…)                  the cursor of an index
 *     body sky_load(v, at)                 the whole record; what is not in the list is zero
 *     void sky_store(v, at, record)        what is not in the list is left out
 *     ha_region sky_region(v)              all indices
 *     sky sky_on(blobs, extents…)          a view on your memory: void *blobs[sky_blobs]
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
 *
 * So no field at the top of a record can have one of these names: at, blobs, bytes, const, free, from, in,
 * load, new, new_from, null, of, on, reading, region, room, store.
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
#include "layouts.h"

/* ---- what a view is made of ------------------------------------------------------------------ */

/* clang-format off */
#define HA_INDICES_1(i) ptrdiff_t i##0
#define HA_INDICES_2(i) ptrdiff_t i##0, ptrdiff_t i##1
#define HA_INDICES_3(i) ptrdiff_t i##0, ptrdiff_t i##1, ptrdiff_t i##2
#define HA_INDICES_4(i) ptrdiff_t i##0, ptrdiff_t i##1, ptrdiff_t i##2, ptrdiff_t i##3
#define HA_GIVEN_1(i) i##0
#define HA_GIVEN_2(i) i##0, i##1
#define HA_GIVEN_3(i) i##0, i##1, i##2
#define HA_GIVEN_4(i) i##0, i##1, i##2, i##3
#define HA_ALL_FOUR_1(i, rest) i##0, rest, rest, rest
#define HA_ALL_FOUR_2(i, rest) i##0, i##1, rest, rest
#define HA_ALL_FOUR_3(i, rest) i##0, i##1, i##2, rest
#define HA_ALL_FOUR_4(i, rest) i##0, i##1, i##2, i##3

#define HA_VIEW(...) HA_VIEW_5_(__VA_ARGS__, HA_ROW, )
#define HA_VIEW_5_(V, R, D, M, O, ...) HA_VIEW_7_(V, R, D, HA_KIND_OF_ M, HA_LANES_OF_ M, HA_FLAGS_OF_ M, O)
#define HA_VIEW_7_(V, R, D, K, L, F, O) \
    HA_VIEW_TYPE_(V, R, K, L, F) \
    HA_VIEW_SHAPE_(V, D, O) \
    HA_VIEW_FIELDS_(V, R) \
    HA_VIEW_PLAN_(V, R, D, O) \
    HA_VIEW_MAKERS_(V, D) \
    HA_VIEW_OF_RECORDS_(V, R, D) \
    HA_VIEW_FROM_(V, R, D)

#define HA_VIEW_TYPE_(V, R, K, L, F) \
    enum { \
        V##_kind_ = K, V##_lanes_ = L, V##_flags_ = F, \
        V##_leaves_ = sizeof(R##_leaf_), \
        V##_multiple_ = ((F) & HA_ROWS) != 0 && (L) > 0 ? (L) : 1, \
        V##_pointers_ = (K) == HA_SOA_ || (K) < 0 ? sizeof(R##_leaf_) : 1, \
        V##_strides_ = (K) < 0 ? 2 * sizeof(R##_leaf_) : 1, \
        V##_blobs = (K) < 0 || ((K) == HA_SOA_ && ((F) & HA_SINGLE_) == 0) ? sizeof(R##_leaf_) : 1 \
    }; \
    typedef struct V { \
        char *blob[V##_pointers_]; \
        ptrdiff_t extent[HA_MOST_DIMENSIONS_]; \
        ptrdiff_t count;                        /* of indices */ \
        int kind, order;                        /* the rest is for HA_ANY, and its choice of layout */ \
        ptrdiff_t lanes, multiple; \
        ptrdiff_t stride[V##_strides_]; \
        void *memory;                           /* what V_free frees */ \
    } V;

/* The same for every layout. */
#define HA_VIEW_SHAPE_(V, D, O) \
    HA_VIEW_SHAPE_OF_(V, D, HA_CHOICE_(V, O, v.order), HA_CHOICE_(V, V##_lanes_, v.lanes), HA_CHOICE_(V, V##_multiple_, v.multiple))
#define HA_VIEW_SHAPE_FIXED_(V, D, O) HA_VIEW_SHAPE_OF_(V, D, O, V##_lanes_, V##_multiple_)
#define HA_VIEW_SHAPE_OF_(V, D, order, lanes, multiple) \
    typedef struct V##_const { V view; } V##_const; \
    HA_FN ha_shape_ V##_shape_(V v) { \
        const ha_shape_ s = {D, order, lanes, multiple, {v.extent[0], v.extent[1], v.extent[2], v.extent[3]}}; \
        return s; \
    } \
    HA_FN V##_const V##_reading(V v) { V##_const c = {v}; return c; } \
    HA_FN ha_at V##_at(V v, HA_INDICES_##D(i)) { return ha_at_of_(V##_shape_(v), HA_ALL_FOUR_##D(i, 0)); } \
    HA_FN ha_at V##_const_at(V##_const c, HA_INDICES_##D(i)) { return V##_at(c.view, HA_GIVEN_##D(i)); } \
    HA_FN ha_region V##_region(V v) { return ha_box4(0, v.extent[0], 0, v.extent[1], 0, v.extent[2], 0, v.extent[3]); } \
    HA_FN ha_region V##_const_region(V##_const c) { return V##_region(c.view); } \
    HA_FN ha_walk_ V##_walk_(V v, ha_region box) { return ha_walk_of_(V##_shape_(v), box); } \
    HA_FN ha_walk_ V##_const_walk_(V##_const c, ha_region box) { return V##_walk_(c.view, box); }

/* What is known at compile time, or what the view says. */
#define HA_CHOICE_(V, known, said) (HA_TO_(int, V##_kind_) >= 0 ? (known) + 0 : (said))

/* A view that is all zeros but for its extents, the bytes of a blob, and a view on blobs, for any rank:
 * what views differ in on the host. */
#define HA_VIEW_PLAN_(V, R, D, O) \
    HA_HOST_FN_ ha_plan_ V##_plan_(void) { \
        const ha_plan_ ha_p = {HA_TO_(int, V##_kind_) < 0 ? HA_SOA_ + 0 : V##_kind_ + 0, V##_flags_, V##_lanes_, sizeof(R), sizeof(R##_packed_), \
                            sizeof R##_sizes_ / sizeof R##_sizes_[0], R##_sizes_}; \
        return ha_p; \
    } \
    HA_HOST_FN_ V V##_empty_(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, ptrdiff_t n3) { \
        V v; \
        memset(&v, 0, sizeof v); \
        v.extent[0] = n0; \
        v.extent[1] = n1; \
        v.extent[2] = n2; \
        v.extent[3] = n3; \
        v.count = ha_count_(n0, n1, n2, n3); \
        v.kind = HA_TO_(int, V##_kind_) < 0 ? HA_SOA_ + 0 : V##_kind_ + 0; \
        v.order = O; \
        v.lanes = V##_lanes_; \
        v.multiple = V##_multiple_; \
        return v; \
    } \
    HA_HOST_FN_ size_t V##_blob_bytes_(V v, int blob) { \
        return ha_blob_bytes_(V##_plan_(), ha_places_checked_(V##_shape_(v)), blob); \
    } \
    HA_HOST_FN_ V V##_placed_(V v, void *const *blobs) { \
        for (int b = 0; b < HA_TO_(int, V##_blobs); b++) v.blob[b] = HA_POINTER_(char, blobs[b]); \
        if (HA_TO_(int, V##_flags_) & HA_SINGLE_) \
            ha_single_(V##_plan_(), ha_places_checked_(V##_shape_(v)), v.blob[0], v.blob); \
        return v; \
    } \
    enum { V##_each_ = sizeof(R) > sizeof(R##_packed_) ? sizeof(R) : sizeof(R##_packed_) };

/* What users call, of V_empty_, V_blob_bytes_ and V_placed_. */
#define HA_VIEW_MAKERS_(V, D) \
    HA_HOST_FN_ size_t V##_bytes(int blob, HA_INDICES_##D(n)) { \
        return V##_blob_bytes_(V##_empty_(HA_ALL_FOUR_##D(n, 1)), blob); \
    } \
    HA_HOST_FN_ V V##_on(void *const *blobs, HA_INDICES_##D(n)) { \
        return V##_placed_(V##_empty_(HA_ALL_FOUR_##D(n, 1)), blobs); \
    } \
    HA_HOST_FN_ V##_const V##_const_on(const void *const *blobs, HA_INDICES_##D(n)) { \
        void *blob[V##_blobs]; \
        memcpy(blob, blobs, sizeof blob); \
        return V##_reading(V##_on(blob, HA_GIVEN_##D(n))); \
    } \
    HA_HOST_FN_ size_t V##_room(HA_INDICES_##D(n)) { \
        size_t room = HA_BLOB_ALIGN; \
        for (int b = 0; b < HA_TO_(int, V##_blobs); b++) \
            room = ha_plus_(room, ha_whole_lines_(V##_bytes(b, HA_GIVEN_##D(n)))); \
        return room; \
    } \
    HA_HOST_FN_ V V##_in(void *memory, HA_INDICES_##D(n)) { \
        void *blob[V##_blobs]; \
        char *next = ha_next_line_(HA_POINTER_(char, memory)); \
        for (int b = 0; b < HA_TO_(int, V##_blobs); b++) { \
            blob[b] = next; \
            next += ha_whole_lines_(V##_bytes(b, HA_GIVEN_##D(n))); \
        } \
        return V##_on(blob, HA_GIVEN_##D(n)); \
    } \
    HA_HOST_FN_ V V##_new(HA_INDICES_##D(n)) { \
        void *const memory = ha_blob_new(V##_room(HA_GIVEN_##D(n))); \
        V v = V##_empty_(HA_ALL_FOUR_##D(n, 1)); \
        if (memory != HA_NULL_) v = V##_in(memory, HA_GIVEN_##D(n)); \
        v.memory = memory; \
        return v; \
    }

/* An existing array of structs; in other layouts its parameter fits nothing. */
#define HA_VIEW_OF_RECORDS_(V, R, D) \
    HA_HOST_FN_ V V##_of(HA_POINTEE_(HA_TO_(int, V##_kind_) != HA_AOS_, ha_only_an_aos_view_is_of_records, R) *records, HA_INDICES_##D(n)) { \
        void *blob[V##_blobs] = {records}; \
        return V##_on(blob, HA_GIVEN_##D(n)); \
    } \
    HA_HOST_FN_ void V##_free(V v) { ha_blob_free(v.memory); } \
    HA_FN bool V##_null(V v) { return v.blob[0] == HA_NULL_; }

/* Bytes for `count` indices in any layout but with HA_ROWS and in HA_MORTON's order, as a constant if
 * count is one: _Alignas(HA_BLOB_ALIGN) char memory[HA_ROOM(sky, 100)]; */
#define HA_ROOM(V, count) \
    ((HA_TO_(size_t, count) + V##_lanes_) * V##_each_ + (V##_pointers_ + HA_TO_(size_t, 1)) * HA_BLOB_ALIGN)

/* One field: A is (V, R, M), M making the member of the struct from the path. */
#define HA_VIEW_FIELD_(A, T, ...) HA_VIEW_FIELD_1_(HA_BARE_ A, T, HA_NAME_OF_(__VA_ARGS__), __VA_ARGS__)
#define HA_VIEW_FIELD_1_(...) HA_VIEW_FIELD_2_(__VA_ARGS__)
#define HA_VIEW_FIELD_2_(V, R, M, T, name, ...) \
    HA_FN char *V##_##name##_spot_(V v, ha_at at HA_PARAMETERS_(__VA_ARGS__)) { \
        const ha_spot_ ha_spot = ha_spot_of_(V##_shape_(v), at); \
        ptrdiff_t ha_k = 0; \
        if (HA_CHOICE_(V, V##_kind_, v.kind) == HA_AOS_ || HA_CHOICE_(V, V##_kind_, v.kind) == HA_ONE_) \
            return HA_BYTES_(&HA_POINTER_(R, v.blob[0])[HA_CHOICE_(V, V##_kind_, v.kind) == HA_ONE_ ? 0 : ha_spot.block + ha_spot.lane].M(__VA_ARGS__)); \
        HA_ELEMENT_NUMBER_(__VA_ARGS__) \
        return ha_address_(v.blob, v.stride, HA_CHOICE_(V, V##_kind_, v.kind), HA_CHOICE_(V, V##_lanes_, v.lanes), sizeof(R##_packed_), \
                           HA_OFFSET_(R##_packed_, name) + ha_k * HA_SIZE_(T), HA_OFFSET_(R##_leaf_, name) + ha_k, sizeof(T), ha_spot); \
    } \
    HA_FIELD_FUNCTIONS_(V, HA_MAY_MISALIGN_(HA_TO_(int, V##_kind_), HA_TO_(int, V##_lanes_), HA_TO_(int, V##_flags_), sizeof(R##_packed_), offsetof(R##_packed_, name), HA_ALIGNOF_(T)), T, name, (HA_PARAMETERS_(__VA_ARGS__)), (HA_ARGUMENTS_(__VA_ARGS__)))

#define HA_FIELD_FUNCTIONS_(...) HA_FIELD_FUNCTIONS_1_(__VA_ARGS__)
#define HA_FIELD_FUNCTIONS_1_(V, misaligns, T, name, parameters, arguments) \
    typedef HA_POINTEE_(misaligns, ha_may_misalign_so_use_get_and_set, T) V##_##name##_type_; \
    HA_FIELD_ACCESS_(V, T, name, parameters, arguments)

/* What users call, of V_name_spot_ and V_name_type_. */
#define HA_FIELD_ACCESS_(V, T, name, parameters, arguments) \
    HA_FN V##_##name##_type_ *V##_##name(V v, ha_at at HA_BARE_ parameters) { \
        return HA_POINTER_(V##_##name##_type_, V##_##name##_spot_(v, at HA_BARE_ arguments)); \
    } \
    HA_FN const V##_##name##_type_ *V##_const_##name(V##_const c, ha_at at HA_BARE_ parameters) { \
        return HA_POINTER_(V##_##name##_type_, V##_##name##_spot_(c.view, at HA_BARE_ arguments)); \
    } \
    HA_FN T V##_##name##_get(V v, ha_at at HA_BARE_ parameters) { \
        T value; \
        memcpy(&value, V##_##name##_spot_(v, at HA_BARE_ arguments), sizeof value); \
        return value; \
    } \
    HA_FN void V##_##name##_set(V v, ha_at at HA_BARE_ parameters, T value) { \
        memcpy(V##_##name##_spot_(v, at HA_BARE_ arguments), &value, sizeof value); \
    } \
    HA_FN T V##_const_##name##_get(V##_const c, ha_at at HA_BARE_ parameters) { \
        return V##_##name##_get(c.view, at HA_BARE_ arguments); \
    }

/* The whole record, field by field, so that it may be a part of one. */
#define HA_VIEW_LOAD_(A, T, ...) HA_VIEW_LOAD_1_(HA_BARE_ A, T, __VA_ARGS__)
#define HA_VIEW_LOAD_1_(...) HA_VIEW_LOAD_2_(__VA_ARGS__)
#define HA_VIEW_LOAD_2_(V, M, T, ...) \
    HA_ELEMENT_LOOPS_(__VA_ARGS__) \
    memcpy(&record.M(__VA_ARGS__), HA_FIELD_SPOT_(V, HA_NAME_OF_(__VA_ARGS__))(v, at HA_ARGUMENTS_(__VA_ARGS__)), sizeof(T));
#define HA_VIEW_STORE_(A, T, ...) HA_VIEW_STORE_1_(HA_BARE_ A, T, __VA_ARGS__)
#define HA_VIEW_STORE_1_(...) HA_VIEW_STORE_2_(__VA_ARGS__)
#define HA_VIEW_STORE_2_(V, M, T, ...) \
    HA_ELEMENT_LOOPS_(__VA_ARGS__) \
    memcpy(HA_FIELD_SPOT_(V, HA_NAME_OF_(__VA_ARGS__))(v, at HA_ARGUMENTS_(__VA_ARGS__)), &record.M(__VA_ARGS__), sizeof(T));
#define HA_FIELD_SPOT_(V, name) HA_FIELD_SPOT_1_(V, name)
#define HA_FIELD_SPOT_1_(V, name) V##_##name##_spot_

#define HA_VIEW_FIELDS_(V, R) \
    HA_FOR_FIELDS_(HA_VIEW_FIELD_, (V, R, HA_MEMBER_), R##_FIELDS) \
    HA_FN R V##_load(V v, ha_at at) { \
        R record; \
        memset(&record, 0, sizeof record); \
        HA_FOR_FIELDS_(HA_VIEW_LOAD_, (V, HA_MEMBER_), R##_FIELDS) \
        return record; \
    } \
    HA_FN void V##_store(V v, ha_at at, R record) { HA_FOR_FIELDS_(HA_VIEW_STORE_, (V, HA_MEMBER_), R##_FIELDS) } \
    HA_FN R V##_const_load(V##_const c, ha_at at) { return V##_load(c.view, at); }
/* clang-format on */

#endif
