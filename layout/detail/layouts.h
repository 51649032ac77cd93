/* The layouts that HA_VIEW can be told: each a constant tuple (kind, lanes, flags). Here is all that
 * they make different: addresses, what may be misaligned, and how large blobs are. */
#ifndef HARRAY_LAYOUT_DETAIL_LAYOUTS_H
#define HARRAY_LAYOUT_DETAIL_LAYOUTS_H

#include "blob.h"
#include "../counts.h"
#include "cursor.h"
#include "../fields.h"

/* ---- layouts: (kind, lanes, flags) ----------------------------------------------------------- */

enum {
    HA_ANY_ = -1,
    HA_AOS_ = 0,
    HA_PACKED_ = 1,
    HA_SOA_ = 2, /* a single blob, too: where each leaf begins is found when the view is made */
    HA_AOSOA_ = 3,
    HA_ONE_ = 4,
    HA_STRIDED_ = 5, /* at run time only: steps from lane to lane and block to block, by leaf */
    HA_FIELDS_ = 6   /* as HA_SOA_, with the elements of an array field side by side */
};
enum {
    HA_ROWS = 1,
    HA_SINGLE_ = 2,
    HA_ALIGNED_ = 4,
    HA_COUNTED_ = 8,
    HA_GRANULE_ = 16, /* times the bytes of one */
    HA_MOST_GRANULE_ = 1048576
};

#define HA_AOS (HA_AOS_, 0, 0)
#define HA_AOS_PACKED (HA_PACKED_, 0, 0)
#define HA_SOA (HA_SOA_, 0, 0)
#define HA_SOA_SINGLE (HA_SOA_, 0, HA_SINGLE_)
#define HA_SOA_SINGLE_ALIGNED (HA_SOA_, 0, HA_SINGLE_ | HA_ALIGNED_)
#define HA_AOSOA(...) HA_AOSOA_FLAGS_(__VA_ARGS__, 0, )
#define HA_AOSOA_FLAGS_(L, flags, ...) ((L) > 1 ? HA_AOSOA_ : HA_PACKED_, (L) > 1 ? (L) : 0, flags)
#define HA_SOA_FIELDS (HA_FIELDS_, 0, 0)
#define HA_ONE (HA_ONE_, 0, 0)
#define HA_ANY (HA_ANY_, 0, 0)
#define HA_COUNTED(M) (HA_KIND_OF_ M, HA_LANES_OF_ M, (HA_FLAGS_OF_ M) | HA_COUNTED_)
#define HA_HEATMAP(...) HA_HEATMAP_OF_(__VA_ARGS__, 64, )
#define HA_HEATMAP_OF_(M, bytes, ...)                                                              \
    (HA_KIND_OF_ M, HA_LANES_OF_ M,                                                                \
     (HA_FLAGS_OF_ M) % HA_GRANULE_ +                                                              \
         HA_GRANULE_ *                                                                             \
             ((bytes) < 1 || (bytes) > HA_MOST_GRANULE_ ? HA_MOST_GRANULE_ + 1 : (bytes)))
/* HA_ANY_OF is HA_ANY with fewer cases: the kind also says which. */
#define HA_ANY_OF(...) (HA_ANY_ + 0 - HA_CASES_OF_(__VA_ARGS__), 0, 0)
#define HA_CASES_OF_(...) (0 HA_FOR_FIELDS_(HA_OR_CASE_, , __VA_ARGS__))
#define HA_OR_CASE_(C, k, l, f) | ((f) < HA_COUNTED_ ? HA_CASE_(k, l) : HA_NO_CASE_ + 0)

#define HA_KIND_OF_(k, l, f) (k)
#define HA_LANES_OF_(k, l, f) (l)
#define HA_FLAGS_OF_(k, l, f) (f)

/* The layouts that code is compiled for where a view's is known at run time only, as sets of bits: */
enum {
    HA_CASE_OTHERS_ = 512, /* all but these, by strides */
    HA_NO_CASE_ = 1024,
    HA_ALL_CASES_ = 1023
};
#define HA_CASE_(kind, lanes)                                                                      \
    ((kind) == HA_AOS_      ? 1                                                                    \
     : (kind) == HA_PACKED_ ? 2                                                                    \
     : (kind) == HA_SOA_    ? 4                                                                    \
     : (kind) == HA_FIELDS_ ? 8                                                                    \
     : (kind) != HA_AOSOA_  ? HA_NO_CASE_ + 0                                                      \
     : (lanes) == 4         ? 16                                                                   \
     : (lanes) == 8         ? 32                                                                   \
     : (lanes) == 16        ? 64                                                                   \
     : (lanes) == 32        ? 128                                                                  \
     : (lanes) == 64        ? 256                                                                  \
                            : HA_NO_CASE_ + 0)

/* As texts of mappings, from the lowest bit on. */
#define HA_CASE_NAMES_                                                                             \
    {                                                                                              \
        "aos", "aos(packed)", "soa", "soa(fields)", "aosoa(4)", "aosoa(8)", "aosoa(16)",           \
            "aosoa(32)", "aosoa(64)"                                                               \
    }

#define HA_CASES_TEXT_                                                                             \
    "one of HA_AOS, HA_AOS_PACKED, HA_SOA, HA_SOA_FIELDS, HA_AOSOA of 4, 8, 16, 32 or 64"

HA_HOST_FN_ bool ha_is_one_of_(int cases, int kind, ptrdiff_t lanes, int order) {
    return order != HA_MORTON && (cases & HA_CASE_(kind, lanes)) != 0;
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* Of an element of a field whose first leaf is number `leaf` and lies at `offset` in the packed record
 * of `packed` bytes, each element having `size` bytes; in the kinds in which it is not a member of the
 * user's struct. The stride is for HA_STRIDED_ alone. */
HA_FN char *ha_address_(char *const *blob, const ptrdiff_t *stride, int kind, ptrdiff_t lanes,
                        ptrdiff_t packed, ptrdiff_t offset, ptrdiff_t leaf, ptrdiff_t element,
                        ptrdiff_t elements, ptrdiff_t size, ha_spot_ at) {
    if (kind == HA_FIELDS_) return blob[leaf] + ((at.block + at.lane) * elements + element) * size;
    leaf += element;
    offset += element * size;
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

/* An address of that alignment: CUDA's compiler has to be told, or copies values byte by byte. */
#ifdef __CUDA_ARCH__
#define HA_ALIGNED_TO_(align, p) HA_CAST_(char *, __builtin_assume_aligned(p, align))
#else
#define HA_ALIGNED_TO_(align, p) (p)
#endif

/* T, or where there is a reason against it, a type that fits nothing and is named after the reason. */
struct ha_may_misalign_so_use_get_and_set_;
struct ha_only_an_aos_view_is_of_records_;
#ifdef __cplusplus
extern "C++" {
template <bool no, class Reason, class T> struct ha_pointee_ { typedef T type; };
template <class Reason, class T> struct ha_pointee_<true, Reason, T> { typedef Reason type; };
}
#define HA_POINTEE_(no, reason, T) ha_pointee_<(no), struct reason, T>::type
#else
/* clang-format off */
#define HA_POINTEE_(no, reason, T) \
    __typeof__(*_Generic((char(*)[1 + (no)])0, char(*)[1] : (T *)0, char(*)[2] : (struct reason *)0))
/* clang-format on */
#endif

/* ---- blobs ----------------------------------------------------------------------------------- */

/* What a view's memory is counted by, all known at compile time but the number of places. */
typedef struct ha_plan_ {
    int kind, flags;
    ptrdiff_t lanes, record, packed; /* bytes of the struct and of the packed record */
    ptrdiff_t fields;
    const ha_sizes_ *size;
} ha_plan_;

/* *c = a * b; is that too much? A device has no such memory, nor a function that would say so. */
#ifdef __CUDA_ARCH__
#define HA_TIMES_OVERFLOWS_(a, b, c) (*(c) = (a) * (b), false)
#else
#define HA_TIMES_OVERFLOWS_(a, b, c) __builtin_mul_overflow(a, b, c)
#endif

/* a * b, or SIZE_MAX where that or one of them is too much. */
HA_ONCE_FN_ size_t ha_times_(size_t a, size_t b) {
    size_t product;
    return a == SIZE_MAX || b == SIZE_MAX || HA_TIMES_OVERFLOWS_(a, b, &product) ? SIZE_MAX
                                                                                 : product;
}
HA_ONCE_FN_ size_t ha_plus_(size_t a, size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }

/* Where each leaf begins in a single blob of the field's parts, and where the last one ends. */
HA_ONCE_FN_ size_t ha_single_(ha_plan_ p, size_t places, char *first, char **leaf) {
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
HA_ONCE_FN_ size_t ha_blob_bytes_(ha_plan_ p, size_t places, int blob) {
    size_t end = 0;
    if (p.kind == HA_AOS_) return ha_times_(places, HA_TO_(size_t, p.record));
    if (p.kind == HA_PACKED_) return ha_times_(places, HA_TO_(size_t, p.packed));
    if (p.kind == HA_AOSOA_) {
        const size_t lanes = HA_TO_(size_t, p.lanes);
        const size_t blocks = places / lanes + (places % lanes != 0);
        return ha_times_(blocks, ha_times_(lanes, HA_TO_(size_t, p.packed)));
    }
    if (p.flags & HA_SINGLE_) return ha_single_(p, places, HA_NULL_, HA_NULL_);
    if (p.kind == HA_FIELDS_ && blob < p.fields)
        return ha_times_(places, HA_TO_(size_t, p.size[blob].size * p.size[blob].elements));
    for (ptrdiff_t f = 0, l = 0; f < p.fields; l += p.size[f].elements, f++) {
        if (p.kind == HA_SOA_ && blob >= l && blob < l + p.size[f].elements)
            return ha_times_(places, HA_TO_(size_t, p.size[f].size));
        if (p.kind == HA_ONE_ && end < HA_TO_(size_t, p.size[f].end))
            end = HA_TO_(size_t, p.size[f].end);
    }
    return end;
}

/* How many indices there are; 0 where that is more than fit, as no memory is either. */
HA_ONCE_FN_ ptrdiff_t ha_count_(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, ptrdiff_t n3) {
    ptrdiff_t a, b, count;
    return HA_TIMES_OVERFLOWS_(n0, n1, &a) || HA_TIMES_OVERFLOWS_(n2, n3, &b) ||
                   HA_TIMES_OVERFLOWS_(a, b, &count)
               ? 0
               : count;
}

/* The places of a shape, or SIZE_MAX, also where an extent is negative. */
HA_ONCE_FN_ size_t ha_places_checked_(ha_shape_ s) {
    size_t places = 1, longest = 1;
    for (int q = 0; q < s.rank; q++) {
        size_t n = HA_TO_(size_t, ha_extent_(s, s.order, q));
        if (n > PTRDIFF_MAX) return SIZE_MAX;
        if (n > longest) longest = n;
        if (q == 0)
            n = (n + HA_TO_(size_t, s.multiple) - 1) / HA_TO_(size_t, s.multiple) *
                HA_TO_(size_t, s.multiple);
        places = ha_times_(places, n);
    }
    if (s.order != HA_MORTON || places == 0) return places;
    size_t side = 1;
    while (side < longest) side *= 2;
    places = 1;
    for (int q = 0; q < s.rank; q++) places = ha_times_(places, side);
    return places;
}

/* What counters of a view are made for. */
HA_HOST_FN_ ha_counts_plan_ ha_view_counts_(ha_plan_ p, size_t places) {
    ha_counts_plan_ c;
    memset(&c, 0, sizeof c);
    c.counted = (p.flags & HA_COUNTED_) != 0;
    c.granularity = p.flags / HA_GRANULE_;
    for (ptrdiff_t f = 0; f < p.fields; f++) c.leaves += HA_TO_(size_t, p.size[f].elements);
    if (c.granularity != 0)
        c.blobs = p.kind == HA_FIELDS_                           ? HA_TO_(size_t, p.fields)
                  : p.kind == HA_SOA_ && !(p.flags & HA_SINGLE_) ? c.leaves
                                                                 : 1;
    for (size_t b = 0; b < c.blobs; b++)
        c.granules = ha_plus_(
            c.granules, ha_granules_(ha_blob_bytes_(p, places, HA_TO_(int, b)), c.granularity));
    return c;
}

/* Its blobs and leaves among the counters, from these numbers on. */
HA_HOST_FN_ void ha_view_counted_(ha_counts *c, ha_plan_ p, size_t places, size_t leaf,
                                  size_t blob) {
    const ha_counts_plan_ own = ha_view_counts_(p, places);
    for (size_t b = 0; b < own.blobs; b++)
        ha_counts_blob_(c, HA_TO_(int64_t, blob + b),
                        ha_granules_(ha_blob_bytes_(p, places, HA_TO_(int, b)), c->granularity));
    size_t k = leaf;
    for (ptrdiff_t f = 0; f < p.fields; f++)
        for (ptrdiff_t e = 0; e < p.size[f].elements; e++, k++) {
            const bool is_field = p.kind == HA_FIELDS_;
            c->place[k].blob = is_field ? f : HA_TO_(ptrdiff_t, own.blobs > 1 ? k - leaf : 0);
            if (is_field) c->place[k].base = e * p.size[f].size;
        }
}

/* Blobs one after the other in one memory begin at multiples of HA_BLOB_ALIGN. */
HA_ONCE_FN_ size_t ha_whole_lines_(size_t bytes) {
    const size_t lines = ha_plus_(bytes, HA_BLOB_ALIGN - 1) / HA_BLOB_ALIGN;
    return bytes == SIZE_MAX ? SIZE_MAX : lines * HA_BLOB_ALIGN;
}
HA_ONCE_FN_ char *ha_next_line_(char *p) {
    return p + (HA_BLOB_ALIGN - HA_NUMBER_(p) % HA_BLOB_ALIGN) % HA_BLOB_ALIGN;
}

/* Where each leaf begins in blobs of a field each. */
HA_ONCE_FN_ void ha_field_leaves_(ha_plan_ p, void *const *blob, char **leaf) {
    for (ptrdiff_t f = 0; f < p.fields; f++)
        for (ptrdiff_t e = 0; e < p.size[f].elements; e++)
            *leaf++ = HA_CAST_(
                char *, HA_ADDRESS_(HA_NUMBER_(blob[f]) + HA_TO_(uintptr_t, e * p.size[f].size)));
}

/* The strides of each leaf in arrays of its own. */
HA_ONCE_FN_ void ha_leaf_strides_(ha_plan_ p, ptrdiff_t *stride) {
    for (ptrdiff_t f = 0; f < p.fields; f++)
        for (ptrdiff_t e = 0; e < p.size[f].elements; e++, stride += 2)
            stride[0] = stride[1] = p.size[f].size;
}

/* What is known at compile time, or what the view says. */
#define HA_CHOICE_(V, known, said) (HA_TO_(int, V##_kind_) >= 0 ? (known) + 0 : (said))

/* How accessors find values. HA_ANY: in HA_WITH's cases by their layout, else by strides, which
 * is right for all of them: so no code is made for layouts that are not asked for. */
#define HA_ADDRESSED_(V, v) HA_CHOICE_(V, V##_kind_, HA_KNOWN_((v).as) ? (v).as : HA_STRIDED_ + 0)

#endif
