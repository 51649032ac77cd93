/* Arrays of n dimensions whose type and rank are known at run time, and views of them.
 *
 *     const int64_t extent[] = {3, 4};
 *     darray a = darray_new(HA_DTYPE_float, 2, extent, ha_host());          // owns its storage
 *     darray row = darray_fix(a, 0, 2), part = darray_slice(a, 1, 0, HA_ALL, 2); // share it
 *     HA_WRITING(v, row, gpu) …                                 // v.span: its extents and strides
 *     HA_IGNORE(darray_free(&a));
 *
 * A darray is a value: it says which elements of a coherent array (its storage) it is made of.
 * What creates one hands over an owner, to be given back by darray_free. Views are made of darrays
 * by functions that copy nothing, lock nothing and cannot wait; they need no freeing, and are good
 * as long as the storage. darray_share makes one more owner, for whom the storage stays. Names,
 * syncing, versions, where it is valid: those of the storage, by the functions of array.h and wrap.h
 * with a.array.
 *
 * All functions may be called from any thread at any time, those of ndarray.h, npy.h and print.h,
 * too.
 *
 * Every element of a view is inside the storage, or the view is refused: then its `array` is NULL,
 * and ha_take_error() tells what was asked for and why that is impossible. A view of a view that
 * was refused is refused, too, and the first error is the one that is kept: so a chain of views is
 * checked once, at its end.
 *
 * Indices and extents are in the order in which they are written, a(i, j, k). The lowest index of a
 * dimension is its origin: 0, unless there are ghost cells or darray_with_origin said otherwise.
 * Where this text does not say what a view's origin is, dimensions that stay as they are keep
 * theirs, and those that are made or cut get 0.
 *
 * What an access to a view locks and moves is a box of the storage. Slices with step 1, single indices,
 * transposed, flipped and broadcast views are boxes. Other views (steps, diagonals, some that were
 * reshaped) take the smallest box around them: reading needs values only where the view has
 * elements; writing counts for all of the box, so what lies between counts as written, too; and
 * overwriting moves what writing would, for what lies between is kept. */
#ifndef HARRAY_DARRAY_H
#define HARRAY_DARRAY_H

#include "access.h"
#include "array.h"
#include "dtype.h"
#include "extents.h"
#include "wrap.h"

/* ---- spans and accesses --------------------------------------------------------------------- */

/* The elements of an open access, for loops. `data` is the address of index 0, 0, … also where the
 * lowest indices are others; NULL without elements. Strides count elements. */
typedef struct dspan {
    void *data;
    ha_dtype type;
    int rank;
    int64_t extent[HA_MOST_RANK], stride[HA_MOST_RANK], origin[HA_MOST_RANK];
} dspan;
typedef struct cdspan {
    const void *data;
    ha_dtype type;
    int rank;
    int64_t extent[HA_MOST_RANK], stride[HA_MOST_RANK], origin[HA_MOST_RANK];
} cdspan;

/* Accesses to darrays. They begin as ha_access; `data` is the first element (whose index is the
 * origin), `first` its place in the storage, `size` the number of elements. */
typedef struct ha_read_darray {
    HA_ACCESS_MEMBERS_(const void);
    cdspan span;
} ha_read_darray;
typedef struct ha_write_darray {
    HA_ACCESS_MEMBERS_(void);
    dspan span;
} ha_write_darray;

/* ---- the array ------------------------------------------------------------------------------ */

typedef struct darray {
    union {
        ha_array *array;       /* the storage; NULL: none, what should have made it was refused */
        ha_read_darray *read_; /* never followed: they tell the scopes the types of accesses */
        ha_write_darray *write_;
    };
    ha_dtype type;                /* HA_DTYPE_NONE: elements of the user's own type */
    int rank;                     /* 0 … HA_MOST_RANK; rank 0 is one element */
    int64_t offset;               /* of the first element (index origin[]), in the storage */
    int64_t extent[HA_MOST_RANK]; /* behind the rank: 0 */
    int64_t stride[HA_MOST_RANK]; /* in elements; may be negative or 0 */
    int64_t origin[HA_MOST_RANK]; /* the lowest index in each dimension */
} darray;

/* Any array as a darray: an array_T_D of any type and rank, a harray_T (all of it, in one dimension), a
 * darray; also those for reading only, which the darray does not know any more. Nothing else compiles. For functions that
 * have no typed form: darray_fprint(HA_DARRAY(a), stdout). */
#define HA_DARRAY(x) HA_DARRAY_(x, 0)
HA_API darray darray_of_any_(size_t bytes, const void *array);

/* The same of what is written: no handle for reading only. */
#define HA_RESULT_(x) HA_DARRAY_(x, 1)

#define HA_NO_ARRAY_                                                                               \
    "this takes an array: a harray_T, an array_T_D or a darray; "                                  \
    "and no number, no pointer to an array and no access"
#ifdef __cplusplus
extern "C++" {
/* Is it no array, one for reading only, or any other? */
template <class T> constexpr int ha_array_kind_(...) { return 0; }
template <class T> constexpr int ha_array_kind_(decltype(T::read_) *) {
    return HA_IS_OF_(decltype(T::write_), ha_write_nothing_ *) ? 1 : 2;
}
template <int writes, class T> static inline darray ha_darray_of_(const T &x) {
    HA_STATIC_ASSERT_(ha_array_kind_<T>(HA_NULL_) != 0, HA_NO_ARRAY_);
    HA_STATIC_ASSERT_(!writes || ha_array_kind_<T>(HA_NULL_) != 1, HA_FOR_READING_ONLY_);
    return darray_of_any_(sizeof x, &x);
}
}
#define HA_DARRAY_(x, writes) ha_darray_of_<writes>(x)
#else
/* The variable of each has a name of its own, for it may be in the x of another one. */
#define HA_DARRAY_(x, writes) HA_DARRAY_BY_(HA_DARRAY_OF_, __COUNTER__, x, writes)
#define HA_DARRAY_BY_(macro, ...) macro(__VA_ARGS__)
#define HA_DARRAY_OF_(n, x, writes)                                                                \
    __extension__({                                                                                \
        __typeof__(((void)0, (x))) ha_any_##n = (x);                                               \
        darray_of_any_(HA_ARRAY_BYTES_(n, ha_any_##n, writes), &ha_any_##n);                       \
    })
#define HA_ARRAY_BYTES_(n, x, writes)                                                              \
    __extension__({                                                                                \
        HA_STATIC_ASSERT_(HA_IS_STRUCT_(x), HA_NO_ARRAY_);                                         \
        __typeof__(__builtin_choose_expr(HA_IS_STRUCT_(x), x, darray_of_any_(0, &x))) *ha_of_##n;  \
        HA_STATIC_ASSERT_(__builtin_offsetof(__typeof__(*ha_of_##n), array) == 0, HA_NO_ARRAY_);   \
        HA_STATIC_ASSERT_(sizeof ha_of_##n->read_ != 0, HA_NO_ARRAY_);                             \
        HA_STATIC_ASSERT_(!(writes) || HA_WRITABLE_(*ha_of_##n), HA_FOR_READING_ONLY_);            \
        sizeof *ha_of_##n;                                                                         \
    })
/* Of gcc's classes of types 12 are structs and 13 unions. */
#define HA_IS_STRUCT_(x) (__builtin_classify_type(x) == 12 || __builtin_classify_type(x) == 13)
#endif

/* How many elements; 0 for what was refused. */
HA_API int64_t darray_size(darray x);

/* Do the elements lie without gaps in this order? Strides of extents of 1 do not matter. */
HA_API int darray_is_contiguous(darray x, ha_order order);

/* Are they the same elements of the same array in the same order: the same extents, and each index, counted
 * from the origin, the same element? However the views were made; two without elements need the same
 * extents. So what writes one of them writes the other. 0 for what was refused. */
HA_API int darray_is_same(darray a, darray b);

/* May two indices mean the same element, as after darray_broadcast? Such a view is for reading. */
HA_API int darray_repeats(darray x);

/* "double (3, 4)": type and extents, as snprintf. */
HA_API size_t darray_print_shape(darray x, char *text, size_t bytes);

/* ---- making --------------------------------------------------------------------------------- */

/* All are refused with HA_ERR_ARGUMENT for a type, rank or extent that makes no sense, HA_ERR_MEMORY
 * where there is no memory at the context or the size overflows, HA_ERR_BACKEND as ha_array_new.
 * `context` is where the elements are first (first touch), NULL as usual. Row-major unless an order
 * is asked for. */

HA_API darray darray_new(ha_dtype type, int rank, const int64_t *extent, ha_context *context);
HA_API darray darray_new_in(ha_order order, ha_dtype type, int rank, const int64_t *extent,
                            ha_context *context); /* no values yet */
HA_API darray darray_zeros(ha_dtype type, int rank, const int64_t *extent, ha_context *context);
HA_API darray darray_filled(ha_dtype type, int rank, const int64_t *extent, ha_dvalue value,
                            ha_context *context); /* value: converted */
HA_API darray darray_of(ha_dtype type, int rank, const int64_t *extent, const void *values,
                        ha_context *context); /* values: in C's order */

/* Extents, and how the elements lie in memory; zero means plain. The extents are those of the
 * interior: ghost cells come on top, so that indices run from -ghost_low to extent + ghost_high
 * (excluded). They are elements as all others, corners too: until they are written, reading the whole
 * array is HA_ERR_STATE. */
typedef struct ha_shape {
    int rank;
    int64_t extent[HA_MOST_RANK];
    int64_t ghost_low[HA_MOST_RANK], ghost_high[HA_MOST_RANK];
    int64_t padding[HA_MOST_RANK]; /* elements of each dimension left free behind its last, before
                                      the next index of the slower one; the slowest has none */
    int64_t stride[HA_MOST_RANK]; /* elements from one index to the next, of one's own: all above 0,
                                      so that no two elements meet; instead of order and padding.
                                      All 0: as these say */
    size_t alignment;             /* bytes, a power of 2 up to 64; 0: no matter. The first interior
                         element of each row has such an address: for that the distance from row to row
                         is rounded up, and nothing else. Strides of one's own have to be such distances.
                         (A row runs along the dimension that is fastest in memory.) */
    ha_order order;
} ha_shape;

/* No values yet. `darray_make_of`: of any type, also the user's own. */
HA_API darray darray_make(ha_dtype type, const ha_shape *shape, ha_context *context);
HA_API darray darray_make_of(ha_type type, const ha_shape *shape, ha_context *context);

/* All elements of a coherent array as an array of n dimensions, one more owner of it: row-major,
 * refused unless the number of elements is its size. Its type is the array's. The array can still
 * be used as what it was; when it becomes smaller than its views, these cannot be opened. As it may
 * be resized, it is no grid: what accesses to views lock and move are not boxes but ranges, from the
 * first element to the last (a column: all rows but for the ends). What was made with its extents
 * has boxes. */
HA_API darray darray_from(ha_array *array, int rank, const int64_t *extent);

/* The caller's memory as an array, without a copy: see harray/wrap.h, whose rules and errors hold.
 * `data` is the address of index 0, 0, …; strides count elements and may be negative, and what lies
 * between the elements is never touched. NULL: row-major without gaps. Refused: elements that
 * overlap, or do not lie on a grid (each stride goes beyond what all smaller ones reach). What lies
 * between is this array's in that no other can wrap it. flags: HA_WRAP_CONST (const memory: cast),
 * HA_WRAP_UNWRITTEN. A matrix of Fortran's has the strides {1, leading dimension}. ha_sync(x.array)
 * brings the values back, darray_free does and gives the memory back. */
HA_API darray darray_wrap(ha_dtype type, int rank, const int64_t *extent, const int64_t *stride,
                          void *data, ha_context *context, unsigned flags);

/* One more owner of the storage; and one less, who then has none. Freeing is as ha_array_free. */
HA_API darray darray_share(darray x);
HA_API ha_status darray_free(darray *x);

/* ---- views ---------------------------------------------------------------------------------- */

/* Macros, so that errors have the line of the call; the function behind each shows its arguments, and is what other languages call:
 * the last one is that line, or NULL. */

/* As start or stop: from the beginning, or to the end, in the direction of the step. */
#define HA_ALL INT64_MIN

/* As an index: the last one of the dimension. HA_LAST - 1 is the one before, HA_LAST + 1 where a stop is at
 * the end; negative numbers are ghost cells. Wherever a function takes an index of a dimension: slice,
 * part, shell, fix, get, set. (Not HA_AT, which is for loops.) What is less than 2^61 from HA_LAST is counted
 * so, but where a dimension itself goes that far. */
#define HA_LAST (INT64_MAX / 2)

/* Of one dimension: indices start, start + step, … before stop; with a negative step downwards,
 * above stop. They are the array's own indices, or count from HA_LAST. Start and stop must be inside,
 * stop at most one step of 1 outside. start = stop: no element. */
#define darray_slice(...) darray_slice_(__VA_ARGS__, HA_SITE)
HA_API darray darray_slice_(darray x, int dimension, int64_t start, int64_t stop, int64_t step,
                            const char *site);

/* Indices low[d] … high[d] - 1 of each dimension. HA_ALL as in darray_slice; both: that dimension
 * stays as it is. */
#define darray_part(...) darray_part_(__VA_ARGS__, HA_SITE)
HA_API darray darray_part_(darray x, const int64_t *low, const int64_t *high, const char *site);

/* All elements but those of a part, given as for darray_part: what is around it, as 2 * rank views
 * without a common element, some perhaps empty. side[2 * d] has the indices below low[d] in dimension d,
 * side[2 * d + 1] those from high[d] on; of dimensions before d they have the part's, of later ones all
 * (so corners belong to the first dimension). Their indices are those that they have in x. Each is a
 * box, where x is one: ghost cells can be written while others use the interior. Refused as darray_part;
 * HA_ERR_ARGUMENT, too, when side is NULL. */
#define darray_shell(...) darray_shell_(__VA_ARGS__, HA_SITE)
HA_API HA_MUST_CHECK ha_status darray_shell_(darray x, const int64_t *low, const int64_t *high,
                                             darray *side, const char *site);

/* One index of one dimension, which is gone then. */
#define darray_fix(...) darray_fix_(__VA_ARGS__, HA_SITE)
HA_API darray darray_fix_(darray x, int dimension, int64_t index, const char *site);

/* Dimension d of the result is dimension order[d] of x. Transposing reverses the dimensions. */
#define darray_permute(...) darray_permute_(__VA_ARGS__, HA_SITE)
HA_API darray darray_permute_(darray x, const int64_t *order, const char *site);
#define darray_transpose(...) darray_transpose_(__VA_ARGS__, HA_SITE)
HA_API darray darray_transpose_(darray x, const char *site);

/* Backwards in one dimension. */
#define darray_flip(...) darray_flip_(__VA_ARGS__, HA_SITE)
HA_API darray darray_flip_(darray x, int dimension, const char *site);

/* Other extents with the same number of elements, which keep their sequence: counted row-major, or
 * in the order given. Refused where no strides give that without a copy. */
#define darray_reshape(...) darray_reshape_in(HA_ROW_MAJOR, __VA_ARGS__)
#define darray_reshape_in(...) darray_reshape_in_(__VA_ARGS__, HA_SITE)
HA_API darray darray_reshape_in_(ha_order order, darray x, int rank, const int64_t *extent,
                                 const char *site);

/* All elements in one dimension, in that sequence. */
#define darray_flatten(...) darray_flatten_in(HA_ROW_MAJOR, __VA_ARGS__)
#define darray_flatten_in(...) darray_flatten_in_(__VA_ARGS__, HA_SITE)
HA_API darray darray_flatten_in_(ha_order order, darray x, const char *site);

/* Repeats elements: x's dimensions are the last ones of the result; where x has extent 1, or no
 * dimension, any extent is possible. For reading only. */
#define darray_broadcast(...) darray_broadcast_(__VA_ARGS__, HA_SITE)
HA_API darray darray_broadcast_(darray x, int rank, const int64_t *extent, const char *site);

/* The elements whose index in dimension `second` is that in `first` plus `shift`, both counted from
 * the origin. These two dimensions are gone; the diagonal is the last dimension of the result. */
#define darray_diagonal(...) darray_diagonal_(__VA_ARGS__, HA_SITE)
HA_API darray darray_diagonal_(darray x, int first, int second, int64_t shift, const char *site);

/* A dimension with extent 1, before dimension `dimension` (or behind the last: the rank). */
#define darray_expand(...) darray_expand_(__VA_ARGS__, HA_SITE)
HA_API darray darray_expand_(darray x, int dimension, const char *site);

/* The same elements, whose lowest indices are these. Refused where the bytes from index 0, 0, … to an
 * element do not fit 64 bits: loops count from there. */
#define darray_with_origin(...) darray_with_origin_(__VA_ARGS__, HA_SITE)
HA_API darray darray_with_origin_(darray x, const int64_t *origin, const char *site);

/* Without ghost cells: as many as there are below index 0 are left out at both ends of each
 * dimension. Refused where darray_make was asked for others at the high ends: there it is
 * darray_part. */
#define darray_interior(...) darray_interior_(__VA_ARGS__, HA_SITE)
HA_API darray darray_interior_(darray x, const char *site);

/* Starts moving what is missing of a view to a context, as ha_array_prefetch. */
#define darray_prefetch(x, context) darray_prefetch_(x, context, HA_SITE)
HA_API HA_MUST_CHECK ha_status darray_prefetch_(darray x, ha_context *context, const char *site);

/* ---- contents ------------------------------------------------------------------------------- */

/* Work on the elements of views, wherever their values are and however they lie. It opens accesses
 * and gives their errors; what else is refused is told with types and extents: HA_ERR_ARGUMENT. On
 * failure nothing has changed: a number that cannot be converted is found before anything is
 * written. A `context` says where to do it, NULL as usual; what no device can do with one command
 * is done on the host, and moves when it is used. With harray_ops.h a device that compiles kernels (kernel.h)
 * does it by kernels, for all elements, numbers or not, in any dimensions. What it does not take is left to the host all the
 * same. */

/* The elements of `from`, in their order, become those of `to`, which has the same extents (origins do
 * not matter): converted as ha_dvalue_convert does it if they are of another type. Both may be views
 * of one storage: it is as if all were read before the first is written. At a device, where `from`
 * is valid there, of the same type, and both consist of equally spaced pieces; by kernels, too, where that is
 * not so. A conversion that may be refused looks at all numbers first, and waits for that; one storage is copied through
 * memory in between, of the same device. Refused: other extents, a `to` that repeats elements, types of the user's own that are not the same. */
#define darray_copy(to, from, context) darray_copy_(to, from, context, HA_SITE)
HA_API HA_MUST_CHECK ha_status darray_copy_(darray to, darray from, ha_context *context,
                                            const char *site);

/* Every element becomes the value, converted. At a device, where the elements lie without gaps, or by a kernel. */
#define darray_fill(x, value, context) darray_fill_(x, value, context, HA_SITE)
HA_API HA_MUST_CHECK ha_status darray_fill_(darray x, ha_dvalue value, ha_context *context,
                                            const char *site);

/* *equal = whether extents and all elements are the same: numbers by value, exactly and whatever
 * their types (-0 is 0, a NaN equals nothing), those of a user's own type by their bytes. Refused:
 * comparing the user's own with something else. On the host; by a kernel where both are valid at a device, and not
 * here. */
#define darray_equal(a, b, equal) darray_equal_(a, b, equal, HA_SITE)
HA_API HA_MUST_CHECK ha_status darray_equal_(darray a, darray b, int *equal, const char *site);

/* One element at index[rank], wherever it is valid: nothing else is moved. As ha_array_get and
 * ha_array_set; the value is converted. HA_ERR_ARGUMENT: `rank`, how many numbers the index has, is
 * not x's, there is no such element, or the type is the user's own (typed arrays have functions for
 * that). */
#define darray_get(...) darray_get_(__VA_ARGS__, HA_SITE)
HA_API HA_MUST_CHECK ha_status darray_get_(darray x, int rank, const int64_t *index,
                                           ha_dvalue *value, const char *site);
#define darray_set(...) darray_set_(__VA_ARGS__, HA_SITE)
HA_API HA_MUST_CHECK ha_status darray_set_(darray x, int rank, const int64_t *index,
                                           ha_dvalue value, const char *site);

/* A new array with the elements, extents and origin of x, without gaps in this order. */
#define darray_contiguous(...) darray_contiguous_(__VA_ARGS__, HA_SITE)
HA_API darray darray_contiguous_(darray x, ha_order order, ha_context *context, const char *site);

/* The same, row-major, with elements of another type. */
#define darray_convert(...) darray_convert_(__VA_ARGS__, HA_SITE)
HA_API darray darray_convert_(darray x, ha_dtype type, ha_context *context, const char *site);

/* Many copies that are made together again and again, as the halos of blocks. Making a plan checks
 * and keeps what can be known in advance; it is one more owner of the arrays. Refused is also what
 * could fail or depends on the order: a conversion that some values do not survive, a `to` that
 * overlaps another `to`, or any `from` (as boxes of the storage). NULL: refused, or no memory. */
typedef struct ha_copy_pair {
    darray to, from;
    ha_context *context;
} ha_copy_pair;
typedef struct ha_copy_plan ha_copy_plan;
HA_API ha_copy_plan *ha_copy_plan_new(const ha_copy_pair *pairs, size_t count);

/* All of them, as darray_copy: opens everything or nothing, as ha_open_many, and copies. Any number of
 * threads may. When a device refuses its part (HA_ERR_BACKEND, HA_ERR_LOST), the values of the
 * targets are undefined. */
#define ha_copy_plan_run(plan) ha_copy_plan_run_on(plan, NULL, NULL, 0)

/* The same with other arrays, as where two sets of blocks take turns: by[i] in the place of of[i], one
 * of the arrays that the plan was made with (the `array` of a view); those that are not listed stay. Each has
 * the type of the one in whose place it is, and as many elements in the same places of its storage
 * (extents, order, ghost cells, alignment), or that is HA_ERR_ARGUMENT, as is one array in the places of
 * two. The plan does not own them. */
#define ha_copy_plan_run_on(plan, of, by, count) ha_copy_plan_run_on_(plan, of, by, count, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_copy_plan_run_on_(const ha_copy_plan *plan, ha_array *const *of,
                                                    ha_array *const *by, size_t count,
                                                    const char *site);
HA_API void ha_copy_plan_free(ha_copy_plan *plan); /* NULL: nothing */

/* ---- for ndarray.h -------------------------------------------------------------------------- */

HA_API darray darray_filled_(ha_type type, int rank, const int64_t *extent, const void *value,
                             ha_context *context);
HA_API darray darray_zeros_(ha_type type, int rank, const int64_t *extent, ha_context *context);
HA_API darray darray_of_(ha_type type, int rank, const int64_t *extent, const void *values,
                         ha_context *context);
HA_API darray darray_make_(ha_type type, int rank, const ha_shape *shape, ha_context *context);
HA_API darray darray_wrap_(ha_type type, int rank, const int64_t *extent, const int64_t *stride,
                           void *data, ha_context *context, unsigned flags);
HA_API darray darray_new_(ha_order order, ha_type type, int rank, const int64_t *extent,
                          ha_context *context);
/* typed: an array_T_D, which is {array, offset, extent[D], stride[D], origin[D]}. To: all zero when
 * x was refused, or is of another type or rank, which is refused. */
HA_API darray darray_of_typed_(const void *typed, ha_dtype dtype, int rank);
HA_API void darray_to_typed_(darray x, ha_type type, ha_dtype dtype, int rank, void *typed);
/* value: an element */
HA_API HA_MUST_CHECK ha_status darray_fill_element_(darray x, const void *value,
                                                    ha_context *context, const char *site);
HA_API HA_MUST_CHECK ha_status darray_get_element_(darray x, const int64_t *index, void *value);
HA_API HA_MUST_CHECK ha_status darray_set_element_(darray x, const int64_t *index,
                                                   const void *value);

#endif
