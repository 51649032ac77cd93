/* Coherent arrays: one logical array, with an incarnation in every memory where it is used.
 *
 *     harray_double x = harray_double_new(1000);
 *     HA_OVERWRITING(v, x, ha_host(), 1000) for (size_t i = 0; i < v.size; i++) v.data[i] = i;
 *     HA_WRITING(v, x, device) HA_RUN(twice, v);
 *     harray_double_free(&x);
 *
 * A typed array (harray_double) is one word and is passed by value; copies of it are the same
 * array. HARRAY(T) makes the typed array of any type T. Each typed function is one line around an
 * untyped one below; what has no typed form is called with x.array.
 *
 * Every function may be called from any thread at any time. Those that change an array as a whole
 * (resize, reserve, clear, purge, swap, assign, take, the last free) are refused with
 * HA_ERR_CONFLICT while any access of it is open. A call that fails changes nothing (but see
 * ha_array_assign_at).
 * An element that was never written has no value: reading it is HA_ERR_STATE. */
#ifndef HARRAY_ARRAY_H
#define HARRAY_ARRAY_H

#include "access.h"
#include "type.h"
#include "wrap.h"

/* ---- making and freeing ------------------------------------------------------------------- */

/* `first_touch` decides where an array starts: memory for n elements is taken there at once.
 * All return NULL on failure: HA_ERR_ARGUMENT (element size 0, no values), HA_ERR_MEMORY (also when
 * n times the element size overflows), HA_ERR_BACKEND. The caller owns one reference. */
HA_API ha_array *ha_array_new(ha_type type, size_t n, ha_context *first_touch);   /* no values */
HA_API ha_array *ha_array_zeros(ha_type type, size_t n, ha_context *first_touch); /* all bits 0 */
HA_API ha_array *ha_array_filled(ha_type type, size_t n, const void *value,
                                 ha_context *first_touch);
HA_API ha_array *ha_array_of(ha_type type, size_t n, const void *values, ha_context *first_touch);
HA_API ha_array *ha_array_like(const ha_array *array); /* empty, same type and first touch */
HA_API ha_array *ha_array_copy(ha_array *array);       /* same values, valid in the same places */
/* Copying reads the array: it waits for writers of other threads, and may be HA_ERR_DEADLOCK or
 * HA_ERR_CONFLICT as any read. The copy has no name. */

/* One more owner. Returns its argument. */
HA_API ha_array *ha_array_retain(ha_array *array);

/* One owner less; the last one's call frees the array, after work still enqueued on it (without
 * waiting for that). NULL is fine. HA_ERR_CONFLICT while accesses are open: the array stays. Of an
 * array that wraps the caller's memory the last one's call is as ha_unwrap, and may fail as
 * that. Whoever comes with another copy of the handle afterwards gets HA_ERR_STATE; a new array takes its
 * place only when 256 others have been freed after it. */
HA_API ha_status ha_array_free(ha_array *array);

/* A number for an array, for those who do not keep it alive, and by which events name it (instruments.h): never given to
 * another one. 0: `array` is NULL or was freed. Copies of a handle have the same, a copy of the array another one. */
HA_API uint64_t ha_array_id(const ha_array *array);

/* One more owner of the array that has this id; NULL, without an error: it has gone, or belongs to a record array. */
HA_API ha_array *ha_array_by_id(uint64_t id);

/* ---- asking ------------------------------------------------------------------------------- */

HA_API ha_type ha_array_type(const ha_array *array);
HA_API size_t ha_array_size(const ha_array *array);      /* elements */
HA_API uint64_t ha_array_version(const ha_array *array); /* raised by every write and resize */

/* A name for messages; at most 47 bytes are kept. Copies it. */
HA_API void ha_array_set_name(ha_array *array, const char *name);
HA_API const char *ha_array_name(const ha_array *array); /* "": none. Valid until set anew */

/* Elements that fit into the incarnation at a context; 0 when there is none. */
HA_API size_t ha_array_capacity(const ha_array *array, const ha_context *context);

/* Nonzero when every element of [first, last) is valid at the context, so that reading there moves
 * nothing. HA_END: the array's end. 0 when that is no element at all. */
HA_API int ha_array_valid(const ha_array *array, const ha_context *context, size_t first,
                          size_t last);

/* The valid ranges at a context, ascending, disjoint, not touching. (Of the storage of an array of n
 * dimensions: from the first to behind the last element of each valid box; boxes do not overlap, but
 * lie between each other.) Writes at most `most` of them
 * to `ranges` (NULL when most is 0) and returns how many there are. */
HA_API size_t ha_array_valid_ranges(const ha_array *array, const ha_context *context,
                                    ha_range *ranges, size_t most);

/* Where it was first touched: the context given when it was made; its device's first context when
 * that was an adopted one. */
HA_API ha_context *ha_array_first_touch(const ha_array *array);

/* A context where something of the array is valid; the first-touch context when nothing is. */
HA_API ha_context *ha_array_valid_context(const ha_array *array);

/* What transfers between memories this array has caused: for accesses and prefetches. Single
 * elements (get, set) and the values an array is made with do not count. */
typedef struct ha_statistics {
    uint64_t transfers; /* copies enqueued: a staged transfer is two */
    uint64_t bytes;     /* moved by them */
} ha_statistics;
HA_API ha_statistics ha_array_statistics(const ha_array *array);

/* What an array has in one memory. */
typedef struct ha_residency {
    ha_context *context; /* of the memory: of several, the device's first */
    uint64_t bytes;      /* of its block there */
    size_t capacity;     /* elements that fit into it */
    size_t valid;        /* elements that are valid there */
    int is_callers;      /* 1: the block is memory that was wrapped */
} ha_residency;

/* Where an array has memory, in the order in which it came to be: writes at most `most` of them to
 * `list` (NULL when most is 0), and returns how many there are. */
HA_API size_t ha_array_residency(const ha_array *array, ha_residency *list, size_t most);

/* The state as text, one line for the array and one for each incarnation that has memory, in the
 * order in which they came to be: memory, capacity, valid ranges. As snprintf: at most `bytes` with
 * the final zero, returns the length it would need. */
HA_API size_t ha_describe(const ha_array *array, char *text, size_t bytes);

/* ---- changing ----------------------------------------------------------------------------- */

/* The storage of an array of n dimensions (darray.h) keeps its size: resizing it is HA_ERR_STATE,
 * clearing and purging only give up its values, and what exchanges or assigns takes two that lie on
 * the same grid, else HA_ERR_ARGUMENT. */

/* One element, wherever it is, without an access; index checked. Moves at most this element and
 * blocks until it has. They open an access for the moment: its conflicts apply. */
HA_API HA_MUST_CHECK ha_status ha_array_get(ha_array *array, size_t index, void *value);
HA_API HA_MUST_CHECK ha_status ha_array_set(ha_array *array, size_t index, const void *value);

/* New size. Values are kept; elements that are added were never written. Takes no memory: blocks
 * grow when next opened, and do not shrink; where there is no memory for that, what was there before can
 * still be opened. HA_ERR_MEMORY when the size overflows. */
HA_API HA_MUST_CHECK ha_status ha_array_resize(ha_array *array, size_t n);

/* Makes room for n elements at a context; size and values stay. An array that was never written keeps it;
 * where it had values that are now elsewhere, another array may get the memory when there is no other. */
HA_API HA_MUST_CHECK ha_status ha_array_reserve(ha_array *array, ha_context *context, size_t n);

/* From now on the array's memory on the host is pinned (page-locked) for a context's device, where that has
 * such memory: transfers are faster then, and pass through nothing. What is there moves over, and blocks
 * that come later are pinned, too. Elsewhere, and when there is no pinned memory left, it stays pageable. (An
 * array that was first touched on the device is pinned without asking.) HA_ERR_STATE: its memory is the
 * caller's; HA_ERR_MEMORY. */
HA_API HA_MUST_CHECK ha_status ha_array_pin(ha_array *array, ha_context *context);

HA_API HA_MUST_CHECK ha_status ha_array_clear(ha_array *array); /* size 0, memory kept */
HA_API HA_MUST_CHECK ha_status ha_array_purge(ha_array *array); /* size 0, memory given back */

/* Gives back the array's memory at a context, without losing a value: what is valid nowhere else is
 * copied to the memory's next tier first (memory.h; of a device the host), and waited for; what is valid elsewhere, or
 * nowhere, costs nothing. Size, values and version stay; the next access there takes memory again. It counts as an
 * eviction (ha_memory_pressure, HA_EVENT_EVICT). Without memory there: nothing happens. Any thread may call it.
 *   HA_ERR_CONFLICT  an access is open in that memory, or what has to be copied is open for writing by
 *                    this thread
 *   HA_ERR_STATE     the memory is the caller's; or it has no next tier, as at first the host, or that takes no more,
 *                    and elements are valid nowhere else
 *   HA_ERR_MEMORY, HA_ERR_BACKEND, HA_ERR_LOST, HA_ERR_TRANSFER   as reading it in the next tier */
#define ha_array_evict(array, context) ha_array_evict_(array, context, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_array_evict_(ha_array *array, ha_context *context,
                                               const char *site);

/* Hints for when a memory is full (memory.h). They change nothing else, and any thread may give them.
 *
 * The array is not needed at a context for now: there it gives way first, until it is opened or prefetched there
 * again. Of several such, what was done with first goes first. */
HA_API void ha_array_done(ha_array *array, ha_context *context);

/* Arrays of a lower priority give way before others: -2 to 2, 0 at first. HA_KEEP: it never does, though ha_array_evict
 * takes it. HA_ERR_ARGUMENT: the priority is none; HA_ERR_STATE: the array was freed. */
enum { HA_KEEP = 100 };
HA_API HA_MUST_CHECK ha_status ha_array_set_priority(ha_array *array, int priority);

/* Exchanges sizes, values and memory; names and owners stay. Nothing is moved. HA_ERR_ARGUMENT
 * when the element sizes differ. */
HA_API HA_MUST_CHECK ha_status ha_array_swap(ha_array *a, ha_array *b);

/* `to` becomes a copy of `from`: size, values, and where they are valid. The old values stay until
 * the new ones are enqueued, so both need memory for a moment. HA_ERR_ARGUMENT when the element
 * sizes differ. To itself: nothing happens. */
HA_API HA_MUST_CHECK ha_status ha_array_assign(ha_array *to, ha_array *from);

/* The same at one context only: `from` becomes valid there, `to` is valid there and nowhere else,
 * and its memory is used again. `from` must be written everywhere. To itself: it becomes valid
 * there too. When it fails at `to`, `from` may have become valid there all the same. */
HA_API HA_MUST_CHECK ha_status ha_array_assign_at(ha_array *to, ha_array *from,
                                                  ha_context *context);

/* `to` takes size, values and memory of `from`, which is then empty; what `to` had is freed. */
HA_API HA_MUST_CHECK ha_status ha_array_take(ha_array *to, ha_array *from);

/* Starts moving what is missing of [first, last) to a context, and returns: the next access there
 * finds it valid or on its way. Elements that were never written are left out. Several may be in
 * flight. Nothing else has to be brought away for it: where the memory is full of what nobody else has, or of
 * what else was prefetched and not opened yet, it does nothing. HA_ERR_CONFLICT (own thread) or HA_ERR_BUSY (another)
 * while an access that overlaps is open for writing, or a thread waits for one. */
#define ha_array_prefetch(array, context, first, last)                                             \
    ha_array_prefetch_(array, context, first, last, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_array_prefetch_(ha_array *array, ha_context *context,
                                                  size_t first, size_t last, const char *site);

/* ---- typed arrays ------------------------------------------------------------------------- */

/* For functions that only read what they are given: harray_T_const has scopes and ha_open_view to read, and
 * none that compile to write. harray_T_reading(x) is x as that, at no cost and for the same owner. (What
 * takes x.array is not kept from anything.)
 *
 *     double sum(harray_double_const x) { HA_READING(v, x, ha_host()) … }
 *     … sum(harray_double_reading(x)) … */

/* HARRAY(T); makes harray_T, ha_read_T and ha_write_T for a type named by one identifier (typedef
 * others). What has no typed form (clear, purge, reserve, prefetch, describe, statistics, …) takes
 * x.array. Elements are no arrays (typedef double real3[3] does not compile), but structs may have
 * some. Once per program part: for a type that several headers share, use
 *     #ifndef HA_HAS_point
 *     #define HA_HAS_point
 *     HARRAY(point);
 *     #endif
 * For the ready-made types of HA_PREMADE_TYPES it may be written again and does nothing. */
#define HARRAY(T) HA_VARIANT_(HA_HARRAY_, HA_SECOND_(HA_PREMADE_##T##_))(T)

/* The same under another name: HARRAY_NAMED(cell, struct cell); makes harray_cell. */
#define HARRAY_NAMED(name, T)                                                                      \
    HA_STATIC_ASSERT_(!HA_IS_ARRAY_(T),                                                            \
                      "HARRAY: " #T " is an array, which C cannot pass by value: "                 \
                      "make it a member of a struct");                                             \
    typedef struct ha_read_##name {                                                                \
        HA_ACCESS_MEMBERS_(T const);                                                               \
    } ha_read_##name;                                                                              \
    typedef struct ha_write_##name {                                                               \
        HA_ACCESS_MEMBERS_(T);                                                                     \
    } ha_write_##name;                                                                             \
    /* read_ and write_ are never followed: they tell the scopes the types of their accesses */    \
    typedef union harray_##name {                                                                  \
        ha_array *array;                                                                           \
        ha_read_##name *read_;                                                                     \
        ha_write_##name *write_;                                                                   \
    } harray_##name;                                                                               \
    typedef union harray_##name##_const {                                                          \
        ha_array *array;                                                                           \
        ha_read_##name *read_;                                                                     \
        ha_write_nothing_ *write_;                                                                 \
    } harray_##name##_const;                                                                       \
    HA_TYPED_ harray_##name##_const harray_##name##_reading(harray_##name x) {                     \
        harray_##name##_const c;                                                                   \
        c.array = x.array;                                                                         \
        return c;                                                                                  \
    }                                                                                              \
    HA_TYPED_ harray_##name harray_##name##_from(ha_array *array) {                                \
        harray_##name x;                                                                           \
        x.array = array;                                                                           \
        return x;                                                                                  \
    }                                                                                              \
    HA_TYPED_ ha_type harray_##name##_type(void) { return ha_type_of_(#name, sizeof(T)); }         \
    HA_TYPED_ harray_##name harray_##name##_new_at(size_t n, ha_context *first_touch) {            \
        return harray_##name##_from(ha_array_new(harray_##name##_type(), n, first_touch));         \
    }                                                                                              \
    HA_TYPED_ harray_##name harray_##name##_zeros_at(size_t n, ha_context *first_touch) {          \
        return harray_##name##_from(ha_array_zeros(harray_##name##_type(), n, first_touch));       \
    }                                                                                              \
    HA_TYPED_ harray_##name harray_##name##_filled_at(size_t n, T value,                           \
                                                      ha_context *first_touch) {                   \
        return harray_##name##_from(                                                               \
            ha_array_filled(harray_##name##_type(), n, &value, first_touch));                      \
    }                                                                                              \
    HA_TYPED_ harray_##name harray_##name##_of_at(size_t n, T const *values,                       \
                                                  ha_context *first_touch) {                       \
        return harray_##name##_from(ha_array_of(harray_##name##_type(), n, values, first_touch));  \
    }                                                                                              \
    HA_TYPED_ harray_##name harray_##name##_new(size_t n) {                                        \
        return harray_##name##_new_at(n, HA_NULL_);                                                \
    }                                                                                              \
    HA_TYPED_ harray_##name harray_##name##_zeros(size_t n) {                                      \
        return harray_##name##_zeros_at(n, HA_NULL_);                                              \
    }                                                                                              \
    HA_TYPED_ harray_##name harray_##name##_filled(size_t n, T value) {                            \
        return harray_##name##_filled_at(n, value, HA_NULL_);                                      \
    }                                                                                              \
    HA_TYPED_ harray_##name harray_##name##_of(size_t n, T const *values) {                        \
        return harray_##name##_of_at(n, values, HA_NULL_);                                         \
    }                                                                                              \
    HA_TYPED_ harray_##name harray_##name##_copy(harray_##name x) {                                \
        return harray_##name##_from(ha_array_copy(x.array));                                       \
    }                                                                                              \
    HA_TYPED_ harray_##name harray_##name##_retain(harray_##name x) {                              \
        return harray_##name##_from(ha_array_retain(x.array));                                     \
    }                                                                                              \
    HA_TYPED_ harray_##name harray_##name##_wrap(T *data, size_t n) { /* on the host */            \
        ha_wrapped piece = {data, ha_host(), 0};                                                   \
        return harray_##name##_from(ha_array_wrap(harray_##name##_type(), n, &piece, 1));          \
    }                                                                                              \
    HA_TYPED_ harray_##name harray_##name##_wrap_const(T const *data, size_t n) {                  \
        ha_wrapped piece = {HA_ADDRESS_(HA_NUMBER_(data)), ha_host(), HA_WRAP_CONST};              \
        return harray_##name##_from(ha_array_wrap(harray_##name##_type(), n, &piece, 1));          \
    }                                                                                              \
    HA_TYPED_ harray_##name harray_##name##_wrap_at(T *data, size_t n, ha_context *context) {      \
        ha_wrapped piece = {data, context, 0};                                                     \
        return harray_##name##_from(ha_array_wrap(harray_##name##_type(), n, &piece, 1));          \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_sync(harray_##name x) {                      \
        return ha_sync_(x.array, "harray_" #name "_sync");                                         \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_unwrap(harray_##name *x) {                   \
        ha_status s = ha_unwrap_(x ? x->array : HA_NULL_, "harray_" #name "_unwrap");              \
        if (x && s == HA_OK) x->array = HA_NULL_; /* otherwise it is as before */                  \
        return s;                                                                                  \
    }                                                                                              \
    HA_TYPED_ ha_status harray_##name##_free(harray_##name *x) { /* and x->array = NULL */         \
        ha_status status = ha_array_free(x ? x->array : HA_NULL_);                                 \
        if (x && status == HA_OK) x->array = HA_NULL_;                                             \
        return status;                                                                             \
    }                                                                                              \
    HA_TYPED_ void harray_##name##_set_name(harray_##name x, const char *text) {                   \
        ha_array_set_name(x.array, text);                                                          \
    }                                                                                              \
    HA_TYPED_ size_t harray_##name##_size(harray_##name x) { return ha_array_size(x.array); }      \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_get(harray_##name x, size_t i, T *value) {   \
        return ha_array_get(x.array, i, value);                                                    \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_set(harray_##name x, size_t i, T value) {    \
        return ha_array_set(x.array, i, &value);                                                   \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_resize(harray_##name x, size_t n) {          \
        return ha_array_resize(x.array, n);                                                        \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_swap(harray_##name x, harray_##name y) {     \
        return ha_array_swap(x.array, y.array);                                                    \
    }                                                                                              \
    HA_TYPED_ HA_MUST_CHECK ha_status harray_##name##_assign(harray_##name to,                     \
                                                             harray_##name from) {                 \
        return ha_array_assign(to.array, from.array);                                              \
    }                                                                                              \
    /* as a parameter of a kernel (kernel.h): what is given, and what its body sees */             \
    typedef harray_##name ha_given_##name;                                                         \
    typedef __typeof__(T) ha_element_##name, *ha_out_##name;                                       \
    typedef T const *ha_in_##name;                                                                 \
    HA_FN ha_in_##name ha_in_##name##_(T const *first, void *span, int unit) {                     \
        return (void)span, (void)unit, first;                                                      \
    }                                                                                              \
    HA_FN ha_out_##name ha_out_##name##_(T *first, void *span, int unit) {                         \
        return (void)span, (void)unit, first;                                                      \
    }                                                                                              \
    struct ha_semicolon_

#define HA_TYPED_ HA_UNUSED static inline

/* HARRAY(T) looks at HA_PREMADE_T_: when that is a macro, the type is ready-made. Behind that: the
 * C type, and the element type known at run time. */
#define HA_SECOND_OF_(a, b, ...) b
#define HA_SECOND_(...) HA_SECOND_OF_(__VA_ARGS__, define, ~)
#define HA_HARRAY_define_(T) HARRAY_NAMED(T, T)
#define HA_HARRAY_made_(T) struct ha_semicolon_
#ifdef __cplusplus
#define HA_HARRAY_boolean_(T) HARRAY_NAMED(bool, T)
#else /* kernels get the name with the macro expanded */
#define HA_HARRAY_boolean_(T)                                                                      \
    HARRAY_NAMED(bool, T);                                                                         \
    typedef harray_bool ha_given__Bool;                                                            \
    typedef _Bool ha_element__Bool, *ha_out__Bool;                                                 \
    typedef _Bool const *ha_in__Bool;                                                              \
    HA_FN ha_in__Bool ha_in__Bool_(_Bool const *first, void *span, int unit) {                     \
        return (void)span, (void)unit, first;                                                      \
    }                                                                                              \
    HA_FN ha_out__Bool ha_out__Bool_(_Bool *first, void *span, int unit) {                         \
        return (void)span, (void)unit, first;                                                      \
    }                                                                                              \
    struct ha_semicolon_
#endif
#define HA_PREMADE_float_ ~, made, float, HA_DTYPE_float
#define HA_PREMADE_double_ ~, made, double, HA_DTYPE_double
#define HA_PREMADE_half_ ~, made, ha_half, HA_DTYPE_half
#define HA_PREMADE_bfloat16_ ~, made, ha_bfloat16, HA_DTYPE_bfloat16
#define HA_PREMADE_int_ ~, made, int, HA_DTYPE_int32_t
#define HA_PREMADE_int8_t_ ~, made, int8_t, HA_DTYPE_int8_t
#define HA_PREMADE_int16_t_ ~, made, int16_t, HA_DTYPE_int16_t
#define HA_PREMADE_int32_t_ ~, made, int32_t, HA_DTYPE_int32_t
#define HA_PREMADE_int64_t_ ~, made, int64_t, HA_DTYPE_int64_t
#define HA_PREMADE_uint8_t_ ~, made, uint8_t, HA_DTYPE_uint8_t
#define HA_PREMADE_uint16_t_ ~, made, uint16_t, HA_DTYPE_uint16_t
#define HA_PREMADE_uint32_t_ ~, made, uint32_t, HA_DTYPE_uint32_t
#define HA_PREMADE_uint64_t_ ~, made, uint64_t, HA_DTYPE_uint64_t
#define HA_PREMADE_c64_ ~, made, ha_c64, HA_DTYPE_c64
#define HA_PREMADE_c128_ ~, made, ha_c128, HA_DTYPE_c128
/* bool is in C a macro itself, which would name it harray__Bool */
#define HA_PREMADE_bool_ ~, boolean, bool, HA_DTYPE_bool
#define HA_DEFINE_PREMADE_(name, T) HARRAY_NAMED(name, T);
HA_PREMADE_TYPES(HA_DEFINE_PREMADE_)

#endif
