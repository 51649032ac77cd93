/* Views whose layout is known at run time only, from a mapping (mapping.h), and code that is compiled
 * for each layout all the same.
 *
 *     HA_VIEW(sky, body, 1, HA_ANY)
 *     HA_FN void drift(sky v, float dt) { HA_EACH(sky, v, at) *sky_pos_x(v, at) += dt * …; }
 *     …
 *     ha_mapping *m = ha_mapping_parse(&body_record, "aosoa(16)", 1, &n, &error);
 *     sky v = sky_new_from(m, &error);       // or sky_from(m, blobs, &error), on memory of yours
 *     HA_WITH(v, drift(v, 0.1f));
 *     sky_free(v);
 *
 * Every view has these functions (they need the run-time part, HA_LAYOUT_IMPLEMENTATION):
 *
 *     sky sky_from(const ha_mapping *mapping, void *const *blobs, ha_error *error)
 *     sky sky_new_from(const ha_mapping *mapping, ha_error *error)
 *
 * They need the mapping no more when they are back, unless it counts (counts.h). sky_null(v) on failure, with why in *error (NULL:
 * nobody wants to know):
 *     HA_ERR_ARGUMENT  the mapping is NULL, or of another record or rank; a field is not stored, may be
 *                      misaligned, or has other lanes or another order than the rest; the dimensions
 *                      are permuted; or the view's own layout, if it is not HA_ANY, is another one
 *     HA_ERR_MEMORY    there is no memory
 * From any thread.
 *
 * Where the program knows of which layouts a view may be, it says so, and no more is compiled:
 *
 *     HA_VIEW(sky, body, 1, HA_ANY_OF(HA_AOS, HA_SOA_FIELDS))            or, at one place,
 *     HA_WITH_ONLY(v, (HA_AOS, HA_SOA_FIELDS), drift(v, 0.1f));
 *
 * They may be HA_AOS, HA_AOS_PACKED, HA_SOA, HA_SOA_FIELDS, and HA_AOSOA of 4, 8, 16, 32 and 64 lanes, rows
 * padded or not. sky_from refuses other mappings then.
 *
 * What HA_WITH has no case for (splits, strides, other lanes) takes the time of single values at strides: it
 * is in no vectors, and its subscripts of array fields should be constants, or all elements accessed
 * at once (sky_vel_load). So is all that is done outside of HA_WITH with a view HA_ANY: with
 * HARRAY_NO_BARE_VIEWS defined, and where the compiler optimises, loops there are errors. */
#ifndef HARRAY_LAYOUT_ANY_H
#define HARRAY_LAYOUT_ANY_H

#include "detail/cursor.h"
#include "mapping.h"

/* What a mapping is as a view; the kinds are those of detail/layouts.h. */
typedef struct ha_matched_ {
    int kind, order;
    ptrdiff_t lanes, multiple;
    char *structs; /* where the first C struct begins, of kinds that have these */
} ha_matched_;

/* Finds it, of a view of `rank` and `record`; `kind`, if not negative, is tried first. For each leaf it
 * gives where it begins, and its strides from block to block and from lane to lane. */
HA_API HA_MUST_CHECK ha_status ha_view_match_(const ha_mapping *mapping, void *const *blobs,
                                              const ha_record *record, int rank, int kind,
                                              ha_matched_ *matched, char **leaf, ptrdiff_t *stride,
                                              ha_error *error);

/* Memory for all blobs of a mapping, each at a multiple of HA_BLOB_ALIGN, and where they are; NULL when
 * there is none, or no mapping. Freed by ha_blob_free. */
HA_API HA_MUST_CHECK void *ha_mapping_memory(const ha_mapping *mapping, void **blob,
                                             ha_error *error);

/* The same for a view: a mapping with more blobs than `most` is not of its record. */
HA_API HA_MUST_CHECK void *ha_view_memory_(const ha_mapping *mapping, void **blob, int32_t most,
                                           ha_error *error);

/* Says that the mapping is none of the view's own layouts, and lists these; cases = 0: not its only one. */
HA_API ha_status ha_view_differs_(const ha_mapping *mapping, const char *view, int cases,
                                  ha_error *error);

/* In functions for devices and the host. */
#ifdef __CUDA_ARCH__
#define HA_NO_CASE_HERE_(...) __trap()
#else
#define HA_NO_CASE_HERE_(...) ha_no_case_(__VA_ARGS__)
#endif

/* Says which layout the statements of `with` at `site` are not compiled for, and aborts. */
HA_API void ha_no_case_(const char *with, int kind, ptrdiff_t lanes, int order, const char *site)
    __attribute__((__noreturn__, __cold__));

/* HA_WITH(v, statements): the statements, compiled for each layout that the view v may have, in which that
 * is a constant, and where the rank is above 1 for each order, HA_ROW and HA_COL. v is a variable of this function, of a
 * view's type; functions it is given to have to be HA_FN. Of a view HA_ANY_OF these are its layouts; of HA_ANY those
 * above, and once more for all others. Of a view that is neither: the statements as they are.
 *
 * HA_WITH_ONLY(v, (HA_AOS, HA_AOSOA(8)), statements): for these alone. When v has another layout, the
 * program is aborted with a message that says which. */
#define HA_WITH(v, ...) HA_WITH_CASES_(v, HA_ALL_CASES_, "HA_WITH(" #v ")", __VA_ARGS__)
#define HA_WITH_ONLY(v, layouts, ...)                                                              \
    HA_WITH_CASES_(v, HA_CASES_OF_ layouts, "HA_WITH_ONLY(" #v ", " #layouts ")", __VA_ARGS__)

/* clang-format off */
#define HA_WITH_CASES_(v, cases_, with, ...) \
    do { \
        HA_STATIC_ASSERT_((cases_) < HA_NO_CASE_, "HA_WITH_ONLY: " HA_CASES_TEXT_); \
        if (HA_CASES_OF_VIEW_(v) == 0) { \
            __VA_ARGS__; \
        } \
        HA_WITH_CASE_(v, cases_, HA_AOS_, 0, __VA_ARGS__) \
        HA_WITH_CASE_(v, cases_, HA_PACKED_, 0, __VA_ARGS__) \
        HA_WITH_CASE_(v, cases_, HA_SOA_, 0, __VA_ARGS__) \
        HA_WITH_CASE_(v, cases_, HA_FIELDS_, 0, __VA_ARGS__) \
        HA_WITH_CASE_(v, cases_, HA_AOSOA_, 4, __VA_ARGS__) \
        HA_WITH_CASE_(v, cases_, HA_AOSOA_, 8, __VA_ARGS__) \
        HA_WITH_CASE_(v, cases_, HA_AOSOA_, 16, __VA_ARGS__) \
        HA_WITH_CASE_(v, cases_, HA_AOSOA_, 32, __VA_ARGS__) \
        HA_WITH_CASE_(v, cases_, HA_AOSOA_, 64, __VA_ARGS__) \
        else if (((cases_) & HA_CASES_OF_VIEW_(v) & HA_CASE_OTHERS_) != 0) { \
            (v).as = HA_STRIDED_; \
            __VA_ARGS__; \
        } \
        else HA_NO_CASE_HERE_(with, (v).kind, (v).lanes, (v).order, HA_SITE); \
    } while (0)
#define HA_WITH_CASE_(v, cases_, known, known_lanes, ...) \
    else if (((cases_) & HA_CASES_OF_VIEW_(v) & HA_CASE_(known, known_lanes)) != 0 && \
             HA_IS_CASE_(v, known, known_lanes)) { \
        (v).as = (known); \
        (v).lanes = (known_lanes); \
        if ((known_lanes) == 0) (v).multiple = 1; \
        if (HA_RANK_OF_VIEW_(v) > 1 && (v).order == HA_COL) { \
            (v).order = HA_COL; \
            __VA_ARGS__; \
        } else { \
            (v).order = HA_ROW; \
            __VA_ARGS__; \
        } \
    }
#define HA_IS_CASE_(v, known, known_lanes) \
    ((v).kind == (known) && (v).lanes == (known_lanes) && (v).order != HA_MORTON && \
     ((known_lanes) != 0 || (v).multiple == 1))
#define HA_RANK_OF_VIEW_(v) HA_TO_(int, sizeof(*(v).rank))
#define HA_CASES_OF_VIEW_(v) (HA_TO_(int, sizeof(*(v).cases)) - 1)
/* clang-format on */

/* What a view has of it; and what it is, for arrays of its records. */
#define HA_VIEW_FROM_(V, R, D, O)                                                                  \
    typedef R V##_value_;                                                                          \
    enum { V##_rank_ = D, V##_order_ = O };                                                        \
    HA_HOST_FN_ const ha_record *V##_described_(void) { return &R##_record; }                      \
    HA_HOST_FN_ V V##_shifted_(V ha_v, uintptr_t ha_first, uintptr_t ha_bytes,                     \
                               uintptr_t ha_shift) {                                               \
        for (int ha_j = 0; ha_j < HA_TO_(int, V##_pointers_); ha_j++) {                            \
            const uintptr_t ha_p = HA_NUMBER_(ha_v.blob[ha_j]);                                    \
            if (ha_p - ha_first < ha_bytes)                                                        \
                ha_v.blob[ha_j] = HA_CAST_(char *, HA_ADDRESS_(ha_p + ha_shift));                  \
        }                                                                                          \
        return ha_v;                                                                               \
    }                                                                                              \
    HA_HOST_FN_ V V##_from(const ha_mapping *ha_m, void *const *ha_bs, ha_error *ha_e) {           \
        const V ha_none = V##_empty_(0, 0, 0, 0);                                                  \
        V ha_v;                                                                                    \
        char *ha_leaf_at[V##_leaves_];                                                             \
        ptrdiff_t ha_stride[2 * V##_leaves_];                                                      \
        ha_matched_ ha_found = {0, 0, 0, 0, HA_NULL_};                                             \
        if (ha_view_match_(ha_m, ha_bs, &R##_record, D, V##_kind_, &ha_found, ha_leaf_at,          \
                           ha_stride, ha_e) != HA_OK)                                              \
            return ha_none;                                                                        \
        ha_v = V##_empty_(ha_m->extent[0], ha_m->extent[1], ha_m->extent[2], ha_m->extent[3]);     \
        if (HA_TO_(int, V##_kind_) >= 0 &&                                                         \
            (ha_found.kind != ha_v.kind || ha_found.lanes != ha_v.lanes ||                         \
             (D > 1 && ha_found.order != ha_v.order) || ha_found.multiple != ha_v.multiple ||      \
             (ha_m->counts != HA_NULL_ && !HA_TO_(int, V##_counting_)))) {                         \
            (void)ha_view_differs_(ha_m, #V, 0, ha_e);                                             \
            return ha_none;                                                                        \
        }                                                                                          \
        if (HA_TO_(int, V##_kind_) < HA_ANY_ &&                                                    \
            !ha_is_one_of_(V##_cases_, ha_found.kind, ha_found.lanes, ha_found.order)) {           \
            (void)ha_view_differs_(ha_m, #V, V##_cases_, ha_e);                                    \
            return ha_none;                                                                        \
        }                                                                                          \
        ha_v.kind = ha_found.kind;                                                                 \
        ha_v.order = ha_found.order;                                                               \
        ha_v.lanes = ha_found.lanes;                                                               \
        ha_v.multiple = ha_found.multiple;                                                         \
        for (int ha_j = 0; ha_j < HA_TO_(int, V##_pointers_) && ha_j < HA_TO_(int, V##_leaves_);   \
             ha_j++)                                                                               \
            ha_v.blob[ha_j] = ha_leaf_at[ha_j];                                                    \
        if (ha_found.structs != HA_NULL_) ha_v.blob[V##_struct_] = ha_found.structs;               \
        if (HA_TO_(int, V##_counting_)) ha_v.blob[V##_last_] = HA_CAST_(char *, ha_m->counts);     \
        if (HA_TO_(int, V##_kind_) < 0) memcpy(ha_v.stride, ha_stride, sizeof ha_v.stride);        \
        return ha_v;                                                                               \
    }                                                                                              \
    HA_HOST_FN_ V V##_new_from(const ha_mapping *ha_m, ha_error *ha_e) {                           \
        void *ha_b[2 * V##_leaves_ + 1];                                                           \
        V ha_v = V##_empty_(0, 0, 0, 0);                                                           \
        void *const ha_mem = ha_view_memory_(ha_m, ha_b, 2 * V##_leaves_ + 1, ha_e);               \
        if (ha_mem == HA_NULL_) return ha_v;                                                       \
        ha_v = V##_from(ha_m, ha_b, ha_e);                                                         \
        if (V##_null(ha_v))                                                                        \
            ha_blob_free(ha_mem);                                                                  \
        else                                                                                       \
            ha_v.memory = ha_mem;                                                                  \
        return ha_v;                                                                               \
    }

#endif
