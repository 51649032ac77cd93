/* Record arrays: records that live on host and device at once, laid out for each as suits it.
 *
 *     HA_VIEW(sky, body, 1, HA_ANY)          // layout.h: the fields of your struct, and loops over them
 *     HA_RECORDS(bodies, sky)                // bodies: an array of body, seen through views sky
 *
 *     HA_FN void drift(sky v, double dt) { HA_EACH(sky, v, at) *sky_pos_x(v, at) += dt * …; }
 *     HA_QUEUED(drift, sky, double)          // drift can be run on a device's queue
 *     …
 *     bodies r = bodies_new(n);              // an array of body on every memory, unless
 *     HA_CHECK(ha_records_layout(r.records, gpu, "soa")); // it is to be something else there
 *     HA_USING(v, r, ha_host(), "overwrite") fill(v);
 *     HA_USING(v, r, gpu, "read vel, write pos") HA_RUN_VIEW(drift, v, 0.1);
 *     HA_USING(v, r, ha_host(), "read pos") print(v);
 *     bodies_free(&r);
 *
 * It is an array as any of harray's: opening an access makes valid what is missing there, and moves
 * nothing else; conflicts wait or are refused; work on devices is ordered by itself (access.h). What is
 * its own:
 *   - validity, conflicts and moving go by field. Reading pos on a device does not move vel; one thread
 *     writes pos while another one writes vel.
 *   - each memory has a layout of its own, and what moves is converted on the way.
 *
 * What to do is a text: a mode, then the fields that it is for, for each mode in turn:
 *     "read pos+mass, write vel, overwrite acc"      pos: all fields below it
 *     "overwrite"                                    a mode without fields: all of them
 * Fields that are not named must not be touched through the view: they may have any value, and may be
 * another thread's. On a strict device (sim.h) they have none; with HARRAY_DEBUG and a layout that counts
 * (counts.h) on the host, closing is an error that names them.
 *
 * ---- what HA_RECORDS(bodies, sky) makes. n: of rank 1 a number, else HA_DIM(n, m, …); i likewise
 *
 *     bodies                                    the handle, a small struct. bodies r = {0} is none
 *     bodies bodies_new(n)                      r.records is NULL, and ha_take_error() says why, when it
 *                                               failed. The layout everywhere: the view's own, of HA_ANY
 *                                               "aos". Nothing has values yet
 *     bodies bodies_of(body *records, n)        lives on the host in this existing array of structs
 *     bodies bodies_of_const(const body *, n)   whose values are never written
 *     bodies bodies_on(void *const *arrays, count, n)  in so many existing arrays, in the order of the
 *                                               list: one for each field, which for an array field has
 *                                               its elements side by side (HA_SOA_FIELDS, or HA_ANY), or
 *                                               one for each element of it, too (HA_SOA, or HA_ANY)
 *     ha_status bodies_sync(r)                  brings all values into memory that was adopted
 *     ha_status bodies_unwrap(&r)               the same, and lets go of it: r.records is NULL then
 *     ha_status bodies_free(&r)
 *     ha_status bodies_get(r, i, body *)        one record, from wherever its fields are valid. What is
 *                                               not in the list of fields is left alone
 *     ha_status bodies_set(r, i, body)          and to there
 *     ha_status bodies_resize(r, n)             values at indices that stay are kept
 *     sky bodies_here(queue, v)                 in a function on a queue: the view that it was given, as
 *                                               it is to be used there
 *
 * All other functions (records.h) take r.records. Errors as there.
 *
 * ---- layouts. A view HA_ANY has whatever layout the memory has, if it is one for views (any.h). A
 * view with a layout, HA_SOA say, can be opened only where the memory has the same: else
 * HA_ERR_ARGUMENT, which names both, and nothing has changed. Views of HA_VIEW_SPLIT make no record
 * arrays: take HA_ANY, and "split(separate; pos: soa, aos)".
 *
 * ---- scopes, as those of access.h: the block runs once, and what was opened is closed however it is
 * left; `else` behind it runs when opening failed. v is a variable of type sky, HA_USED(v) the access
 * that belongs to it: HA_USED(v).status, .context, .first, .last, … */
#ifndef HARRAY_RECORDS_TYPED_H
#define HARRAY_RECORDS_TYPED_H

#include "../layout/view.h"
#include "extents.h"
#include "records.h"
#include "wrap.h"

/* ---- scopes ---------------------------------------------------------------------------------- */

#define HA_USING(v, r, ctx, what) HA_USING_(v, r, view_, ctx, what, ha_records_rows_(0, HA_END))

/* Records [first, last) of the slowest index only. The view has all indices all the same: loops go over
 * what is open. */
#define HA_USING_PART(v, r, ctx, what, first, last)                                                \
    HA_USING_(v, r, view_, ctx, what, ha_records_rows_(first, last))

/* Records of a box of indices only (layout/each.h). Of cells with room for more records than they have, or
 * with others around them, that is what is there: HA_USING_BOX(v, r, ctx, "read pos", ha_box2(1, n - 1, 0, 20)).
 * Errors as ha_records_open_box. */
#define HA_USING_BOX(v, r, ctx, what, box) HA_USING_(v, r, view_, ctx, what, ha_records_box_(box))

/* The indices that a scope has opened, for loops: HA_EACH_IN(sky, v, at, HA_USED_REGION(sky, v)). */
#define HA_USED_REGION(V, v) (HA_USED(v).box)

/* To read only: v is a sky_const. `paths` is a text in quotes: "pos+mass", or "" for all. */
#define HA_READING_RECORDS(v, r, ctx, paths)                                                       \
    HA_USING_(v, r, const_, ctx, "read " paths, ha_records_rows_(0, HA_END))

/* As a declaration: open to the end of the enclosing block. Look at HA_USED(v).status. */
#define HA_SCOPED_USE(v, r, ctx, what)                                                             \
    ha_records_access HA_USED_(v)                                                                  \
        __attribute__((__cleanup__(ha_records_close_scope_))) = HA_CLOSED_;                        \
    __typeof__(*(r).view_) v##_made_;                                                              \
    __typeof__(*(r).view_) v HA_UNUSED =                                                           \
        (HA_OPEN_RECORDS_(v, r, ctx, what, ha_records_rows_(0, HA_END)), v##_made_)

/* The access of a view that one of these has declared: a ha_records_access. */
#define HA_USED(v) HA_USED_(v)
#define HA_USED_(v) v##_used_

/* The view is a copy, whose address nobody else has: compilers know then that loops do not change it. */
#define HA_USING_(v, r, kind, ctx, what, box)                                                      \
    for (ha_records_access HA_USED_(v) __attribute__((__cleanup__(ha_records_close_scope_))),      \
         *v##_once_ = ha_records_not_used_(&HA_USED_(v));                                          \
         v##_once_; v##_once_ = HA_NULL_)                                                          \
        for (__typeof__(*(r).kind) v##_made_; v##_once_; v##_once_ = HA_NULL_)                     \
            for (__typeof__(*(r).kind) v HA_UNUSED =                                               \
                     (HA_OPEN_RECORDS_(v, r, ctx, what, box), v##_made_);                          \
                 v##_once_; v##_once_ = HA_NULL_)                                                  \
                if (HA_USED_(v).status == HA_OK)

/* Makes v_made_. */
#define HA_OPEN_RECORDS_(v, r, ctx, what, box)                                                     \
    __extension__({                                                                                \
        const __typeof__(r) ha_r_ = (r);                                                           \
        HA_IGNORE_(ha_records_use_(&HA_USED_(v), ha_r_.records, ha_r_.type_, &v##_made_,           \
                                   sizeof v##_made_, ctx, what, box, HA_SITE));                    \
    })

/* For scopes: an access that is not open, and sets the rest when it is opened. */
HA_TYPED_ ha_records_access *ha_records_not_used_(ha_records_access *access) {
    access->records = HA_NULL_;
    return access;
}

/* ---- functions on a queue -------------------------------------------------------------------- */

/* HA_QUEUED(f, sky, T…): the function f(sky, T…), which is HA_FN or may be inlined, and returns
 * nothing (else a compile error), can be enqueued. The types of up to six arguments behind the view, each one word or a pointer. Arguments
 * are copied when it is enqueued; what pointers point at has to be there when it runs, and where.
 * Inside, f knows the layout as behind HA_WITH.
 *
 * HA_RUN_VIEW(f, v, arguments…) enqueues f on the context of the scope that has declared v, and
 * returns. The status may be ignored: a failure also stands in HA_USED(v).status and in
 * ha_take_error(). For GPUs, launch a kernel instead, which is given v: kernel<<<…,
 * (cudaStream_t)ha_context_stream(gpu)>>>(v, …). */
#define HA_QUEUED(f, ...) HA_VARIANT_(HA_QUEUED_, HA_COUNT_OF_(__VA_ARGS__))(f, __VA_ARGS__)
#define HA_RUN_VIEW(f, ...) f##_run_(HA_SITE, HA_RUN_USED_(__VA_ARGS__, ~), __VA_ARGS__)
#define HA_RUN_USED_(v, ...) &HA_USED(v)

/* clang-format off */
#define HA_QUEUED_1_(f, V) HA_QUEUED_OF_(f, V, (), (), (), ())
#define HA_QUEUED_2_(f, V, A) HA_QUEUED_OF_(f, V, (A ha_a;), (, A ha_a), (, ha_a), (, ha_g->ha_a))
#define HA_QUEUED_3_(f, V, A, B) HA_QUEUED_OF_(f, V, (A ha_a; B ha_b;), (, A ha_a, B ha_b), (, ha_a, ha_b), (, ha_g->ha_a, ha_g->ha_b))
#define HA_QUEUED_4_(f, V, A, B, C) HA_QUEUED_OF_(f, V, (A ha_a; B ha_b; C ha_c;), (, A ha_a, B ha_b, C ha_c), (, ha_a, ha_b, ha_c), (, ha_g->ha_a, ha_g->ha_b, ha_g->ha_c))
#define HA_QUEUED_5_(f, V, A, B, C, D) HA_QUEUED_OF_(f, V, (A ha_a; B ha_b; C ha_c; D ha_d;), (, A ha_a, B ha_b, C ha_c, D ha_d), (, ha_a, ha_b, ha_c, ha_d), (, ha_g->ha_a, ha_g->ha_b, ha_g->ha_c, ha_g->ha_d))
#define HA_QUEUED_6_(f, V, A, B, C, D, E) HA_QUEUED_OF_(f, V, (A ha_a; B ha_b; C ha_c; D ha_d; E ha_e;), (, A ha_a, B ha_b, C ha_c, D ha_d, E ha_e), (, ha_a, ha_b, ha_c, ha_d, ha_e), (, ha_g->ha_a, ha_g->ha_b, ha_g->ha_c, ha_g->ha_d, ha_g->ha_e))
#define HA_QUEUED_7_(f, V, A, B, C, D, E, F) HA_QUEUED_OF_(f, V, (A ha_a; B ha_b; C ha_c; D ha_d; E ha_e; F ha_f;), (, A ha_a, B ha_b, C ha_c, D ha_d, E ha_e, F ha_f), (, ha_a, ha_b, ha_c, ha_d, ha_e, ha_f), (, ha_g->ha_a, ha_g->ha_b, ha_g->ha_c, ha_g->ha_d, ha_g->ha_e, ha_g->ha_f))
/* clang-format on */

/* For functions that need more than one view (ha_run_with, access.h), among their uses: the member of the struct is a
 * view of r's type, sky or sky_const, and gets what HA_USING(v, r, context, what) would. Where the function runs it
 * is as it can be used there, without bodies_here; HA_WITH(t->v, …) makes the layout known.
 *
 *     struct pull { sky v; const float *field; };
 *     …
 *     HA_CHECK(ha_run_with(gpu, pull_there, p, HA_USE_RECORDS(v, r, "read mass, write vel"),
 *                          HA_USE(field, x, HA_READ))); */
#define HA_USE_RECORDS(member, r, what)                                                            \
    {                                                                                              \
        (HA_REQUIRE_(HA_IS_OF_(__typeof__(ha_given_->member), __typeof__(*(r).view_)) ||           \
                         HA_IS_OF_(__typeof__(ha_given_->member), __typeof__(*(r).const_)),        \
                     "HA_USE_RECORDS: the member is no view of the records' type"),                \
         (r).records),                                                                             \
            0, HA_READ, __builtin_offsetof(__typeof__(*ha_given_), member),                        \
            sizeof(ha_given_->member), #member, (r).type_, what                                    \
    }

/* Nobody would get what a function returns. */
#ifdef __cplusplus
extern "C++" {
template <typename T> struct ha_is_void_ { static constexpr bool value = false; };
template <> struct ha_is_void_<void> { static constexpr bool value = true; };
}
#define HA_GIVES_NOTHING_(call) ha_is_void_<decltype(call)>::value
#else
#define HA_GIVES_NOTHING_(call) __builtin_types_compatible_p(__typeof__(call), void)
#endif

/* What is enqueued begins with the view. */
#define HA_QUEUED_OF_(f, V, members, parameters, given, stored)                                    \
    typedef struct f##_given_ {                                                                    \
        V ha_view;                                                                                 \
        HA_BARE_ members                                                                           \
    } f##_given_;                                                                                  \
    HA_UNUSED static void f##_queued_(const ha_queue *ha_q, void *ha_argument) {                   \
        const f##_given_ *ha_g = HA_CAST_(const f##_given_ *, ha_argument);                        \
        V ha_v = V##_shifted_(ha_g->ha_view, ha_q->first, ha_q->bytes, ha_q->shift);               \
        HA_STATIC_ASSERT_(HA_GIVES_NOTHING_(f(ha_v HA_BARE_ stored)),                              \
                          "HA_QUEUED: a function on a queue returns nothing, for it runs later: "  \
                          "give it a pointer to where its result is to be");                       \
        HA_WITH(ha_v, f(ha_v HA_BARE_ stored));                                                    \
    }                                                                                              \
    HA_HOST_FN_ ha_status f##_run_(const char *ha_site, ha_records_access *ha_x,                   \
                                   V ha_v HA_BARE_ parameters) {                                   \
        const f##_given_ ha_g = {ha_v HA_BARE_ given};                                             \
        return ha_records_run_(f##_queued_, ha_x, &ha_g, sizeof ha_g, #f, ha_site);                \
    }                                                                                              \
    struct ha_semicolon_

/* ---- what the macros are made of -------------------------------------------------------------- */

/* Of a type of record arrays: how its views are laid out, and made of what is open. The kinds,
 * flags and orders are those of layout/detail/layouts.h. */
typedef struct ha_records_type_ {
    const char *view; /* its name */
    int rank, kind, flags, order;
    ptrdiff_t lanes;
    const ha_record *(*record)(void); /* NULL: it is known at run time only, and no struct of C */
    /* A view on blobs of a mapping; `own`: it has the view's own layout. */
    ha_status (*make)(const ha_mapping *mapping, void *const *blob, int own, void *view,
                      ha_error *error);
    void (*here)(const ha_queue *queue, void *view); /* as it is to be used in a function there */
} ha_records_type_;

/* The functions of HA_RECORDS; errors as those of records.h. site: their names. */
HA_API ha_records *ha_records_typed_new_(const ha_records_type_ *type, const int64_t *extent,
                                         const char *site);
HA_API ha_records *ha_records_typed_wrap_(const ha_records_type_ *type, const int64_t *extent,
                                          const char *layout, void *const *blob, size_t blobs,
                                          unsigned flags, const char *site);

/* Opens, and makes the view, which is all zeros when that fails. */
HA_API ha_status ha_records_use_(ha_records_access *access, ha_records *records,
                                 const ha_records_type_ *type, void *view, size_t view_bytes,
                                 ha_context *context, const char *what, ha_region box,
                                 const char *site);
HA_API void ha_records_close_scope_(void *access); /* closes it if it is open */

/* Extents and indices: a number, or of more dimensions a ha_dim. */
#ifdef __cplusplus
extern "C++" {
template <int rank> struct ha_numbers_ { typedef int64_t type; };
template <> struct ha_numbers_<2> { typedef ha_dim2 type; };
template <> struct ha_numbers_<3> { typedef ha_dim3 type; };
template <> struct ha_numbers_<4> { typedef ha_dim4 type; };
}
#define HA_NUMBERS_(rank) ha_numbers_<rank>::type
#else
#define HA_NUMBERS_(rank)                                                                          \
    __typeof__(*_Generic((char(*)[rank])0, char(*)[1]                                              \
                         : (int64_t *)0, char(*)[2]                                                \
                         : (ha_dim2 *)0, char(*)[3]                                                \
                         : (ha_dim3 *)0, char(*)[4]                                                \
                         : (ha_dim4 *)0))
#endif

#define HA_RECORDS(name, V)                                                                        \
    HA_RECORDS_TYPE_(name, V)                                                                      \
    HA_RECORDS_MAKERS_(name, V)                                                                    \
    HA_RECORDS_WHOLE_(name, V)                                                                     \
    HA_RECORDS_SINGLE_(name, V)                                                                    \
    struct ha_semicolon_

#define HA_RECORDS_TYPE_(name, V)                                                                  \
    HA_TYPED_ ha_status name##_make_(const ha_mapping *ha_m, void *const *ha_b, int ha_own,        \
                                     void *ha_view, ha_error *ha_e) {                              \
        const V ha_v = ha_own ? V##_placed_(V##_empty_(ha_m->extent[0], ha_m->extent[1],           \
                                                       ha_m->extent[2], ha_m->extent[3]),          \
                                            ha_b)                                                  \
                              : V##_from(ha_m, ha_b, ha_e);                                        \
        memcpy(ha_view, &ha_v, sizeof ha_v);                                                       \
        return ha_e->status;                                                                       \
    }                                                                                              \
    HA_TYPED_ void name##_here_(const ha_queue *ha_q, void *ha_view) {                             \
        V *const ha_v = HA_CAST_(V *, ha_view);                                                    \
        *ha_v = V##_shifted_(*ha_v, ha_q->first, ha_q->bytes, ha_q->shift);                        \
    }                                                                                              \
    static const ha_records_type_ name##_type_ = {                                                 \
        #V,         V##_rank_,      V##_kind_,    V##_flags_,  V##_order_,                         \
        V##_lanes_, V##_described_, name##_make_, name##_here_};                                   \
    /* as a parameter of a kernel (kernel.h): what its body sees, and loops over that */           \
    typedef V ha_seen_##name;                                                                      \
    enum { ha_seen_##name##_rank_ = V##_rank_ };                                                   \
    HA_FN ha_walk_ ha_seen_##name##_walk_(V ha_v, ha_region ha_r) {                                \
        return V##_walk_(ha_v, ha_r);                                                              \
    }                                                                                              \
    typedef HA_NUMBERS_(V##_rank_) name##_numbers_;                                                \
    /* view_ and const_ are never followed: they tell the scopes the types of their views */       \
    typedef struct name {                                                                          \
        ha_records *records;                                                                       \
        union {                                                                                    \
            const ha_records_type_ *type_;                                                         \
            V *view_;                                                                              \
            V##_const *const_;                                                                     \
        };                                                                                         \
    } name;                                                                                        \
    HA_TYPED_ name name##_from_(ha_records *ha_r) {                                                \
        name ha_x;                                                                                 \
        ha_x.records = ha_r;                                                                       \
        ha_x.type_ = &name##_type_;                                                                \
        return ha_x;                                                                               \
    }                                                                                              \
    typedef name ha_given_##name;

#define HA_RECORDS_MAKERS_(name, V)                                                                \
    HA_TYPED_ name name##_wrap_(name##_numbers_ ha_n, const char *ha_t, void *const *ha_b,         \
                                size_t ha_bs, unsigned ha_flags, const char *ha_s) {               \
        int64_t ha_e[4];                                                                           \
        memcpy(ha_e, &ha_n, sizeof ha_n);                                                          \
        return name##_from_(                                                                       \
            ha_records_typed_wrap_(&name##_type_, ha_e, ha_t, ha_b, ha_bs, ha_flags, ha_s));       \
    }                                                                                              \
    HA_TYPED_ name name##_new(name##_numbers_ ha_n) {                                              \
        int64_t ha_e[4];                                                                           \
        memcpy(ha_e, &ha_n, sizeof ha_n);                                                          \
        return name##_from_(ha_records_typed_new_(&name##_type_, ha_e, #name "_new"));             \
    }                                                                                              \
    HA_TYPED_ name name##_of(V##_value_ *ha_rs, name##_numbers_ ha_n) {                            \
        void *const ha_b = ha_rs;                                                                  \
        return name##_wrap_(ha_n, "aos", &ha_b, 1, 0, #name "_of");                                \
    }                                                                                              \
    HA_TYPED_ name name##_of_const(const V##_value_ *ha_rs, name##_numbers_ ha_n) {                \
        void *const ha_b = HA_ADDRESS_(HA_NUMBER_(ha_rs));                                         \
        return name##_wrap_(ha_n, "aos", &ha_b, 1, HA_WRAP_CONST, #name "_of_const");              \
    }                                                                                              \
    HA_TYPED_ name name##_on(void *const *ha_arrays, size_t ha_count, name##_numbers_ ha_n) {      \
        return name##_wrap_(ha_n, "soa", ha_arrays, ha_count, 0, #name "_on");                     \
    }

#define HA_RECORDS_WHOLE_(name, V)                                                                 \
    HA_TYPED_ HA_MUST_CHECK ha_status name##_sync(name ha_r) {                                     \
        return ha_records_sync_(ha_r.records, #name "_sync");                                      \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status name##_unwrap(name *ha_r) {                                  \
        const ha_status ha_s = ha_records_unwrap_(ha_r ? ha_r->records : HA_NULL_,                 \
                                                  #name "_unwrap");                                \
        if (ha_r && ha_s == HA_OK) ha_r->records = HA_NULL_; /* otherwise it is as before */       \
        return ha_s;                                                                               \
    }                                                                                              \
    HA_TYPED_ ha_status name##_free(name *ha_r) {                                                  \
        const ha_status ha_s = ha_records_free(ha_r ? ha_r->records : HA_NULL_);                   \
        if (ha_r && ha_s == HA_OK) ha_r->records = HA_NULL_;                                       \
        return ha_s;                                                                               \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status name##_resize(name ha_r, name##_numbers_ ha_n) {             \
        int64_t ha_e[4];                                                                           \
        memcpy(ha_e, &ha_n, sizeof ha_n);                                                          \
        return ha_records_resize_(ha_r.records, ha_e, #name "_resize");                            \
    }

#define HA_RECORDS_SINGLE_(name, V)                                                                \
    HA_TYPED_ HA_MUST_CHECK ha_status name##_get(name ha_r, name##_numbers_ ha_i,                  \
                                                 V##_value_ *ha_value) {                           \
        int64_t ha_e[4];                                                                           \
        memcpy(ha_e, &ha_i, sizeof ha_i);                                                          \
        return ha_records_get(ha_r.records, ha_e, ha_value);                                       \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status name##_set(name ha_r, name##_numbers_ ha_i,                  \
                                                 V##_value_ ha_value) {                            \
        int64_t ha_e[4];                                                                           \
        memcpy(ha_e, &ha_i, sizeof ha_i);                                                          \
        return ha_records_set(ha_r.records, ha_e, &ha_value);                                      \
    }                                                                                              \
    HA_TYPED_ V name##_here(const ha_queue *ha_q, V ha_v) {                                        \
        return V##_shifted_(ha_v, ha_q->first, ha_q->bytes, ha_q->shift);                          \
    }

#endif
