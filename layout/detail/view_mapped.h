/* Views as records described at run time (mapped.h), for copies (copy.h) and arithmetic (arithmetic.h)
 * with whatever else is one. Every view has
 *
 *     ha_mapped *sky_mapped(sky v, ha_error *error)
 *     const ha_mapped *sky_const_mapped(sky_const v, ha_error *error)       to read only
 *
 *     ha_mapped *a = sky_mapped(v, &error);
 *     const ha_mapped *b = ground_const_mapped(ground_reading(w), &error);
 *     if (a == NULL || b == NULL || ha_mapped_copy(a, b, NULL, &error)) puts(error.text);
 *     ha_mapped_free(a);
 *     ha_mapped_free(b);
 *
 * (They need the run-time part, HA_LAYOUT_IMPLEMENTATION.) The result is the caller's, to be freed by
 * ha_mapped_free, and has its mapping and its list of blobs with it: the memory of the values is that of
 * the view, which has to live as long. Its mapping is what the layout's text makes of the record; its
 * text is NULL for what has none, as views with strides made by sky_from. The record is the view's; of
 * HA_VIEW_SPLIT one with the fields of both lists, made as ha_record_parse does. What is done with
 * it counts as the view does (counts.h).
 * NULL on failure, with why in *error (NULL: nobody wants to know):
 *     HA_ERR_ARGUMENT  the view is null, or the type of a field is none of dtype.h
 *     HA_ERR_MEMORY    there is no memory
 * From any thread.
 *
 * For short, with the status and errors of ha_mapped_apply_number (arithmetic.h):
 *
 *     sky_apply(v, "pos+mass", HA_MULTIPLY, 5, &error)     these fields of all records *= 5
 *     sky_apply(v, "", HA_ASSIGN, 0, &error)               "": all fields */
#ifndef HARRAY_LAYOUT_DETAIL_VIEW_MAPPED_H
#define HARRAY_LAYOUT_DETAIL_VIEW_MAPPED_H

#include "../arithmetic.h"
#include "../counts.h"
#include "cursor.h"
#include "../mapped.h"

/* What a view, or each part of a split one, says of itself. */
typedef struct ha_view_part_ {
    ha_shape_ shape;
    int kind, flags; /* those of layouts.h */
    ptrdiff_t leaves;
    char *const *blob; /* of the layout */
    char *const
        *leaf; /* of a view known at run time only: where each leaf begins, and its strides */
    const ptrdiff_t *stride;
    ha_counts *counts; /* of the whole view, in its first part; NULL: none */
} ha_view_part_;

/* A field by its path and type. */
typedef struct ha_typed_path_ {
    const char *path;
    ha_dtype type;
} ha_typed_path_;

HA_API HA_MUST_CHECK ha_mapped *ha_view_mapped_(const ha_view_part_ *view, const ha_record *record,
                                                ha_error *error);

/* Does that with a view that was made, and frees it; of none says why it was not. */
HA_API HA_MUST_CHECK ha_status ha_view_apply_(const ha_mapped *view, const char *paths,
                                              ha_operator operation, double number,
                                              const ha_error *why_not, ha_error *error);

/* Of two parts, whose fields are those of `path`, one part's after the other's. */
HA_API HA_MUST_CHECK ha_mapped *ha_view_split_mapped_(const ha_view_part_ *part,
                                                      const ha_typed_path_ *path, ptrdiff_t paths,
                                                      ha_error *error);

/* clang-format off */
#define HA_VIEW_PART_(V, v, counts) \
    {V##_shape_(v), HA_CHOICE_(V, V##_kind_, (v).kind), V##_flags_, V##_leaves_, \
     (v).blob + (HA_CHOICE_(V, -1, (v).kind) == HA_AOS_ || HA_CHOICE_(V, -1, (v).kind) == HA_ONE_ ? V##_struct_ + 0 : 0), \
     (v).blob, (v).stride, counts}

#define HA_VIEW_APPLY_(V) \
    HA_HOST_FN_ HA_MUST_CHECK ha_status V##_apply(V ha_v, const char *ha_paths, ha_operator ha_op, double ha_x, ha_error *ha_e) { \
        ha_error ha_why; \
        const ha_mapped *const ha_m = V##_mapped(ha_v, &ha_why); \
        return ha_view_apply_(ha_m, ha_paths, ha_op, ha_x, &ha_why, ha_e); \
    }

#define HA_VIEW_MAPPED_(V, R) \
    HA_HOST_FN_ ha_mapped *V##_mapped(V ha_v, ha_error *ha_e) { \
        const ha_view_part_ ha_p = HA_VIEW_PART_(V, ha_v, V##_counts_(ha_v)); \
        return ha_view_mapped_(&ha_p, &R##_record, ha_e); \
    } \
    HA_VIEW_APPLY_(V) \
    HA_HOST_FN_ const ha_mapped *V##_const_mapped(V##_const ha_w, ha_error *ha_e) { return V##_mapped(ha_w.view, ha_e); }

#define HA_TYPED_PATH_FIELD_(C, T, ...) {HA_PATH_TEXT_(__VA_ARGS__), HA_DTYPE_OF(T)},
#define HA_VIEW_SPLIT_MAPPED_(V, S1, S2) \
    static const ha_typed_path_ V##_paths_[] HA_UNUSED = { \
        HA_FOR_FIELDS_(HA_TYPED_PATH_FIELD_, V, S1##_FIELDS) HA_FOR_FIELDS_(HA_TYPED_PATH_FIELD_, V, S2##_FIELDS)}; \
    HA_HOST_FN_ ha_mapped *V##_mapped(V ha_v, ha_error *ha_e) { \
        const ha_view_part_ ha_p[2] = {HA_VIEW_PART_(V##_first_, ha_v.first, V##_counts_(ha_v)), HA_VIEW_PART_(V##_second_, ha_v.second, HA_NULL_)}; \
        return ha_view_split_mapped_(ha_p, V##_paths_, sizeof V##_paths_ / sizeof V##_paths_[0], ha_e); \
    } \
    HA_VIEW_APPLY_(V) \
    HA_HOST_FN_ const ha_mapped *V##_const_mapped(V##_const ha_w, ha_error *ha_e) { return V##_mapped(ha_w.view, ha_e); }
/* clang-format on */

#endif
