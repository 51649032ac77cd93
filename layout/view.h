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
 *           HA_ANY                 known at run time only: any.h
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
 *     size_t sky_bytes(extents…, blob)     bytes of a blob
 *     size_t sky_room(extents…)            bytes of memory for sky_in; HA_ROOM(sky, count) as a constant
 *     sky sky_new(extents…)                memory of its own; all zero bytes; sky_null(v) if there is
 *     void sky_free(v)                     none, freed by this
 *     sky_const sky_reading(v)             the same to read only: sky_const_pos_x and so on, which give
 *                                          const float *; use sky_const in HA_EACH, too
 *
 * Nothing here is checked at run time: extents are not negative, cursors inside them, blobs aligned to
 * the record's alignment and of sky_bytes. Any number of threads may use a view; races are about the
 * elements. */
#ifndef HARRAY_LAYOUT_VIEW_H
#define HARRAY_LAYOUT_VIEW_H

#include "blob.h"
#include "each.h"
#include "fields.h"

/* ---- layouts: (kind, lanes, flags) ----------------------------------------------------------- */

enum {
    HA_ANY_ = -1,
    HA_AOS_ = 0,
    HA_PACKED_ = 1,
    HA_SOA_ = 2, /* a single blob, too: where each leaf begins is found when the view is made */
    HA_AOSOA_ = 3,
    HA_ONE_ = 4,
    HA_STRIDED_ =
        5 /* at run time only: a step from lane to lane and from block to block, by leaf */
};
enum { HA_ROWS = 1, HA_SINGLE_ = 2, HA_ALIGNED_ = 4 };

#define HA_AOS (HA_AOS_, 0, 0)
#define HA_AOS_PACKED (HA_PACKED_, 0, 0)
#define HA_SOA (HA_SOA_, 0, 0)
#define HA_SOA_SINGLE (HA_SOA_, 0, HA_SINGLE_)
#define HA_SOA_SINGLE_ALIGNED (HA_SOA_, 0, HA_SINGLE_ | HA_ALIGNED_)
#define HA_AOSOA(...) HA_AOSOA_FLAGS_(__VA_ARGS__, 0, )
#define HA_AOSOA_FLAGS_(L, flags, ...) ((L) > 1 ? HA_AOSOA_ : HA_PACKED_, (L) > 1 ? (L) : 0, flags)
#define HA_ONE (HA_ONE_, 0, 0)
#define HA_ANY (HA_ANY_, 0, 0)
#define HA_KIND_OF_(k, l, f) (k)
#define HA_LANES_OF_(k, l, f) (l)
#define HA_FLAGS_OF_(k, l, f) (f)

/* ---- addresses ------------------------------------------------------------------------------- */

/* Of the leaf number `leaf` (of `size` bytes, `offset` in the packed record of `packed` bytes), in the
 * kinds in which it is not a member of the user's struct. The stride is for HA_STRIDED_ alone. */
HA_FN char *ha_address_(char *const *blob, const ptrdiff_t *stride, int kind, ptrdiff_t lanes,
                        ptrdiff_t packed, ptrdiff_t offset, ptrdiff_t leaf, ptrdiff_t size,
                        ha_spot_ at) {
    if (kind == HA_SOA_) return blob[leaf] + (at.block + at.lane) * size;
    if (kind == HA_PACKED_) return blob[0] + (at.block + at.lane) * packed + offset;
    if (kind == HA_AOSOA_)
        return blob[0] + at.block * (packed * lanes) + offset * lanes + at.lane * size;
    return blob[leaf] + at.block * stride[2 * leaf] + at.lane * stride[2 * leaf + 1];
}

/* May the layout put the leaf at an address that its alignment does not divide? */
#define HA_MAY_MISALIGN_(kind, lanes, flags, packed, offset, align)                                \
    ((kind) == HA_PACKED_ ? (offset) % (align) != 0 || (packed) % (align) != 0                     \
     : (kind) == HA_AOSOA_                                                                         \
         ? (offset) * (lanes) % (align) != 0 || (packed) * (lanes) % (align) != 0                  \
         : ((flags) & (HA_SINGLE_ | HA_ALIGNED_)) == HA_SINGLE_ && (offset) % (align) != 0)

struct ha_may_misalign_so_use_get_and_set;
#ifdef __cplusplus
extern "C++" {
template <bool misaligns, class T> struct ha_pointee_ { typedef T type; };
template <class T> struct ha_pointee_<true, T> {
    typedef struct ha_may_misalign_so_use_get_and_set type;
};
}
#define HA_POINTEE_(misaligns, T) ha_pointee_<(misaligns), T>::type
#else
#define HA_POINTEE_(misaligns, T)                                                                  \
    __typeof__(*_Generic((char(*)[1 + (misaligns)])0, char(*)[1]                                   \
                         : (T *)0, char(*)[2]                                                      \
                         : (struct ha_may_misalign_so_use_get_and_set *)0))
#endif

/* ---- blobs ----------------------------------------------------------------------------------- */

/* What a view's memory is counted by, all known at compile time but the number of places. */
typedef struct ha_plan_ {
    int kind, flags;
    ptrdiff_t lanes, record, packed; /* bytes of the struct and of the packed record */
    ptrdiff_t fields;
    const ha_sizes_ *size;
} ha_plan_;

/* a * b, or SIZE_MAX where that or one of them is too much. */
HA_HOST_FN_ size_t ha_times_(size_t a, size_t b) {
    size_t product;
    return a == SIZE_MAX || b == SIZE_MAX || __builtin_mul_overflow(a, b, &product) ? SIZE_MAX
                                                                                    : product;
}
HA_HOST_FN_ size_t ha_plus_(size_t a, size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }

/* Where each leaf begins in a single blob of the field's parts, and where the last one ends. */
HA_HOST_FN_ size_t ha_single_(ha_plan_ p, size_t places, char *first, char **leaf) {
    size_t end = 0;
    for (ptrdiff_t f = 0, l = 0; f < p.fields; f++)
        for (ptrdiff_t e = 0; e < p.size[f].elements; e++, l++) {
            const size_t align = HA_TO_(size_t, p.size[f].align);
            if (p.flags & HA_ALIGNED_) end = ha_plus_(end, (align - end % align) % align);
            if (leaf != HA_NULL_) leaf[l] = first + end;
            end = ha_plus_(end, ha_times_(places, HA_TO_(size_t, p.size[f].size)));
        }
    return end;
}

/* Bytes of a blob; SIZE_MAX: more than can be. */
HA_HOST_FN_ size_t ha_blob_bytes_(ha_plan_ p, size_t places, int blob) {
    size_t end = 0;
    if (p.kind == HA_AOS_) return ha_times_(places, HA_TO_(size_t, p.record));
    if (p.kind == HA_PACKED_) return ha_times_(places, HA_TO_(size_t, p.packed));
    if (p.kind == HA_AOSOA_) {
        const size_t lanes = HA_TO_(size_t, p.lanes);
        const size_t blocks = places / lanes + (places % lanes != 0);
        return ha_times_(blocks, ha_times_(lanes, HA_TO_(size_t, p.packed)));
    }
    if (p.flags & HA_SINGLE_) return ha_single_(p, places, HA_NULL_, HA_NULL_);
    for (ptrdiff_t f = 0, l = 0; f < p.fields; l += p.size[f].elements, f++) {
        if (p.kind == HA_SOA_ && blob >= l && blob < l + p.size[f].elements)
            return ha_times_(places, HA_TO_(size_t, p.size[f].size));
        if (p.kind == HA_ONE_ && end < HA_TO_(size_t, p.size[f].end))
            end = HA_TO_(size_t, p.size[f].end);
    }
    return end;
}

/* The places of a shape, or SIZE_MAX. */
HA_HOST_FN_ size_t ha_places_checked_(ha_shape_ s) {
    size_t places = 1, longest = 1;
    for (int q = 0; q < s.rank; q++) {
        size_t n = HA_TO_(size_t, ha_extent_(s, s.order, q));
        if (n > longest) longest = n;
        if (q == 0) n = HA_TO_(size_t, ha_up_(HA_TO_(ptrdiff_t, n), s.multiple));
        places = ha_times_(places, n);
    }
    if (s.order != HA_MORTON || places == 0) return places;
    size_t side = 1;
    while (side < longest) side *= 2;
    places = 1;
    for (int q = 0; q < s.rank; q++) places = ha_times_(places, side);
    return places;
}

/* Blobs one after the other in one memory, each at a multiple of HA_BLOB_ALIGN. */
HA_HOST_FN_ size_t ha_room_(ha_plan_ p, size_t places, int blobs) {
    size_t room = 0;
    for (int b = 0; b < blobs; b++) {
        const size_t bytes = ha_plus_(ha_blob_bytes_(p, places, b), HA_BLOB_ALIGN - 1);
        room = ha_plus_(room, bytes / HA_BLOB_ALIGN * HA_BLOB_ALIGN);
        if (bytes == SIZE_MAX) return SIZE_MAX;
    }
    return room;
}

HA_HOST_FN_ void ha_part_memory_(ha_plan_ p, size_t places, void *memory, void **blob, int blobs) {
    char *next = HA_POINTER_(char, memory);
    for (int b = 0; b < blobs; b++) {
        blob[b] = next;
        next += (ha_blob_bytes_(p, places, b) + HA_BLOB_ALIGN - 1) / HA_BLOB_ALIGN * HA_BLOB_ALIGN;
    }
}

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
    } V; \
    HA_VIEW_SHAPE_(V, D, O) \
    HA_VIEW_FIELDS_(V, R, R) \
    HA_VIEW_PLAN_(V, R) \
    HA_VIEW_MAKERS_(V, R, D)

/* The same for every layout. */
#define HA_VIEW_SHAPE_(V, D, O) \
    typedef struct V##_const { V view; } V##_const; \
    HA_FN ha_shape_ V##_shape_(V v) { \
        ha_shape_ s = {D, HA_CHOICE_(V, O, v.order), HA_CHOICE_(V, V##_lanes_, v.lanes), HA_CHOICE_(V, V##_multiple_, v.multiple), {v.extent[0], v.extent[1], v.extent[2], v.extent[3]}}; \
        return s; \
    } \
    HA_FN V##_const V##_reading(V v) { V##_const c = {v}; return c; } \
    HA_FN ha_at V##_at(V v, HA_INDICES_##D(i)) { return ha_at_of_(V##_shape_(v), HA_ALL_FOUR_##D(i, 0)); } \
    HA_FN ha_at V##_const_at(V##_const c, HA_INDICES_##D(i)) { return V##_at(c.view, HA_GIVEN_##D(i)); } \
    HA_FN ha_region V##_region(V v) { return ha_box4(0, v.extent[0], 0, v.extent[1], 0, v.extent[2], 0, v.extent[3]); } \
    HA_FN ha_region V##_const_region(V##_const c) { return V##_region(c.view); } \
    HA_FN ha_walk_ V##_walk_(V v, ha_region box) { return ha_walk_of_(V##_shape_(v), box); } \
    HA_FN ha_walk_ V##_const_walk_(V##_const c, ha_region box) { return V##_walk_(c.view, box); } \
    HA_FN bool V##_null(V v) { return v.blob[0] == HA_NULL_; }

/* What is known at compile time, or what the view says. */
#define HA_CHOICE_(V, known, said) (HA_TO_(int, V##_kind_) >= 0 ? (known) + 0 : (said))

#define HA_VIEW_PLAN_(V, R) \
    HA_HOST_FN_ ha_plan_ V##_plan_(void) { \
        ha_plan_ p = {V##_kind_, V##_flags_, V##_lanes_, sizeof(R), sizeof(R##_packed_), \
                      sizeof R##_sizes_ / sizeof R##_sizes_[0], R##_sizes_}; \
        return p; \
    } \
    HA_HOST_FN_ void V##_part_(V *v, ha_plan_ p, size_t places) { \
        if (p.flags & HA_SINGLE_) ha_single_(p, places, v->blob[0], v->blob); \
    } \
    enum { V##_each_ = sizeof(R) > sizeof(R##_packed_) ? sizeof(R) : sizeof(R##_packed_) };

#define HA_VIEW_MAKERS_(V, R, D) \
    HA_HOST_FN_ V V##_of_extents_(HA_INDICES_##D(n)) { \
        V v; \
        const ptrdiff_t extent[HA_MOST_DIMENSIONS_] = {HA_ALL_FOUR_##D(n, 1)}; \
        memset(&v, 0, sizeof v); \
        memcpy(v.extent, extent, sizeof extent); \
        v.count = extent[0] * extent[1] * extent[2] * extent[3]; \
        v.kind = V##_kind_; \
        v.lanes = V##_lanes_; \
        v.multiple = V##_multiple_; \
        return v; \
    } \
    HA_HOST_FN_ size_t V##_places_(HA_INDICES_##D(n)) { \
        return ha_places_checked_(V##_shape_(V##_of_extents_(HA_GIVEN_##D(n)))); \
    } \
    HA_HOST_FN_ size_t V##_bytes(int blob, HA_INDICES_##D(n)) { \
        return ha_blob_bytes_(V##_plan_(), V##_places_(HA_GIVEN_##D(n)), blob); \
    } \
    HA_HOST_FN_ V V##_on(void *const *blobs, HA_INDICES_##D(n)) { \
        V v = V##_of_extents_(HA_GIVEN_##D(n)); \
        for (int b = 0; b < HA_TO_(int, V##_blobs); b++) v.blob[b] = HA_POINTER_(char, blobs[b]); \
        V##_part_(&v, V##_plan_(), V##_places_(HA_GIVEN_##D(n))); \
        return v; \
    } \
    HA_HOST_FN_ V##_const V##_const_on(const void *const *blobs, HA_INDICES_##D(n)) { \
        void *blob[V##_blobs]; \
        memcpy(blob, blobs, sizeof blob); \
        return V##_reading(V##_on(blob, HA_GIVEN_##D(n))); \
    } \
    HA_HOST_FN_ V V##_of(HA_POINTEE_(HA_TO_(int, V##_kind_) != HA_AOS_, R) *records, HA_INDICES_##D(n)) { \
        void *blob[V##_blobs] = {records}; \
        return V##_on(blob, HA_GIVEN_##D(n)); \
    } \
    HA_HOST_FN_ size_t V##_room(HA_INDICES_##D(n)) { \
        return ha_room_(V##_plan_(), V##_places_(HA_GIVEN_##D(n)), V##_blobs); \
    } \
    HA_HOST_FN_ V V##_in(void *memory, HA_INDICES_##D(n)) { \
        void *blob[V##_blobs]; \
        ha_part_memory_(V##_plan_(), V##_places_(HA_GIVEN_##D(n)), memory, blob, V##_blobs); \
        return V##_on(blob, HA_GIVEN_##D(n)); \
    } \
    HA_HOST_FN_ V V##_new(HA_INDICES_##D(n)) { \
        void *const memory = ha_blob_new(V##_room(HA_GIVEN_##D(n))); \
        if (memory == HA_NULL_) return V##_of_extents_(HA_GIVEN_##D(n)); \
        return V##_in(memory, HA_GIVEN_##D(n)); \
    } \
    HA_HOST_FN_ void V##_free(V v) { ha_blob_free(v.blob[0]); }

/* Bytes for `count` indices in any layout but with HA_ROWS and in HA_MORTON's order, as a constant if
 * count is one: _Alignas(HA_BLOB_ALIGN) char memory[HA_ROOM(sky, 100)]; */
#define HA_ROOM(V, count) \
    ((HA_TO_(size_t, count) + V##_lanes_) * V##_each_ + (V##_pointers_ + HA_TO_(size_t, 1)) * HA_BLOB_ALIGN)

/* One field: A is (V, R). */
#define HA_VIEW_FIELD_(A, T, ...) HA_VIEW_FIELD_1_(HA_BARE_ A, T, HA_NAME_OF_(__VA_ARGS__), __VA_ARGS__)
#define HA_VIEW_FIELD_1_(...) HA_VIEW_FIELD_2_(__VA_ARGS__)
#define HA_VIEW_FIELD_2_(V, R, T, name, ...) \
    HA_FN char *V##_##name##_spot_(V v, ha_at at HA_PARAMETERS_(__VA_ARGS__)) { \
        const ha_spot_ spot = ha_spot_of_(V##_shape_(v), at); \
        ptrdiff_t ha_k = 0; \
        if (HA_CHOICE_(V, V##_kind_, v.kind) == HA_AOS_ || HA_CHOICE_(V, V##_kind_, v.kind) == HA_ONE_) \
            return HA_BYTES_(&HA_POINTER_(R, v.blob[0])[HA_CHOICE_(V, V##_kind_, v.kind) == HA_ONE_ ? 0 : spot.block + spot.lane].HA_MEMBER_(__VA_ARGS__)); \
        HA_ELEMENT_NUMBER_(__VA_ARGS__) \
        return ha_address_(v.blob, v.stride, HA_CHOICE_(V, V##_kind_, v.kind), HA_CHOICE_(V, V##_lanes_, v.lanes), sizeof(R##_packed_), \
                           HA_OFFSET_(R##_packed_, name) + ha_k * HA_SIZE_(T), HA_OFFSET_(R##_leaf_, name) + ha_k, sizeof(T), spot); \
    } \
    HA_FIELD_FUNCTIONS_(V, HA_MAY_MISALIGN_(HA_TO_(int, V##_kind_), HA_TO_(int, V##_lanes_), HA_TO_(int, V##_flags_), sizeof(R##_packed_), offsetof(R##_packed_, name), HA_ALIGNOF_(T)), T, name, (HA_PARAMETERS_(__VA_ARGS__)), (HA_ARGUMENTS_(__VA_ARGS__)))

#define HA_FIELD_FUNCTIONS_(...) HA_FIELD_FUNCTIONS_1_(__VA_ARGS__)
#define HA_FIELD_FUNCTIONS_1_(V, misaligns, T, name, parameters, arguments) \
    typedef HA_POINTEE_(misaligns, T) V##_##name##_type_; \
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
#define HA_VIEW_LOAD_(V, T, ...) \
    HA_ELEMENT_LOOPS_(__VA_ARGS__) \
    memcpy(&record.HA_MEMBER_(__VA_ARGS__), HA_FIELD_SPOT_(V, HA_NAME_OF_(__VA_ARGS__))(v, at HA_ARGUMENTS_(__VA_ARGS__)), sizeof(T));
#define HA_VIEW_STORE_(V, T, ...) \
    HA_ELEMENT_LOOPS_(__VA_ARGS__) \
    memcpy(HA_FIELD_SPOT_(V, HA_NAME_OF_(__VA_ARGS__))(v, at HA_ARGUMENTS_(__VA_ARGS__)), &record.HA_MEMBER_(__VA_ARGS__), sizeof(T));
#define HA_FIELD_SPOT_(V, name) HA_FIELD_SPOT_1_(V, name)
#define HA_FIELD_SPOT_1_(V, name) V##_##name##_spot_

#define HA_VIEW_FIELDS_(V, R, S) \
    HA_FOR_FIELDS_(HA_VIEW_FIELD_, (V, R), S##_FIELDS) \
    HA_FN R V##_load(V v, ha_at at) { \
        R record; \
        memset(&record, 0, sizeof record); \
        HA_FOR_FIELDS_(HA_VIEW_LOAD_, V, S##_FIELDS) \
        return record; \
    } \
    HA_FN void V##_store(V v, ha_at at, R record) { HA_FOR_FIELDS_(HA_VIEW_STORE_, V, S##_FIELDS) } \
    HA_FN R V##_const_load(V##_const c, ha_at at) { return V##_load(c.view, at); }
/* clang-format on */

#endif
