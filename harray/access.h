/* Accesses: the scoped right to use an array somewhere. Holding one is the lock.
 *
 *     HA_READING(v, x, gpu) { … v.data[0 … v.size-1] … } else { … it failed, see v.status … }
 *
 * says "I am going to read all of x on gpu". Opening makes the elements valid there, moving what is
 * missing and nothing else; on a device it only enqueues that and returns. The data pointer may be
 * used by work enqueued on that context until the access is closed; no synchronisation is needed
 * before closing. On the host, opening returns when the bytes are there.
 *
 * read       values become valid here and stay valid elsewhere
 * write      values become valid here and invalid elsewhere: read, change, or both
 * overwrite  nothing is moved: the values are undefined until written; invalid elsewhere
 *
 * Conflicts are judged by overlapping range; two accesses conflict when at least one writes.
 *   same thread, same context    read, then write: allowed, both see one block (y = f(y))
 *                                write, then read or write: HA_ERR_CONFLICT
 *   same thread, other context   HA_ERR_CONFLICT
 *   other thread                 waits (or HA_ERR_BUSY with HA_TRY); HA_ERR_DEADLOCK to exactly one
 *                                of the threads when waiting could never end
 * An access belongs to the thread that opened it, until it is moved: only that thread closes it.
 * Any thread may use its data meanwhile (an OpenMP loop inside a scope); threads that each want to
 * open their own part open ranges, and nobody the whole.
 *
 * The storage of an array of n dimensions (darray.h) knows boxes: views lock and move the box that
 * they cover. Opened here by its elements, a range of it is the smallest box around them. */
#ifndef HARRAY_ACCESS_H
#define HARRAY_ACCESS_H

#include "../layout/detail/assert.h"
#include "context.h"

typedef struct ha_array ha_array;

/* Half-open, in elements: [first, last). */
typedef struct ha_range {
    size_t first, last;
} ha_range;

#define HA_END SIZE_MAX /* as `last`: up to the end, wherever it is */

/* How to open: one of the first three, | HA_TRY to get HA_ERR_BUSY instead of waiting for another
 * thread. (Waiting for data to arrive, or for another thread to finish opening, is not refused.) */
enum ha_how { HA_READ = 0, HA_WRITE = 1, HA_OVERWRITE = 2, HA_WAIT = 0, HA_TRY = 4 };

/* An open access, untyped; the typed ones (ha_read_double, ha_write_double, …) have the same
 * members with a typed `data`, and every function here takes either. Members are for reading only.
 * When opening failed, all but `status` are zero. */
typedef struct __attribute__((__may_alias__)) ha_access {
    void *data;          /* element `first`, in the context's memory; NULL when size is 0 */
    size_t size;         /* elements */
    size_t first;        /* index in the array of data[0] */
    ha_array *array;     /* NULL: not open */
    ha_context *context; /* never NULL while open */
    uint64_t ticket;     /* names this access among those of the array */
    ha_status status;    /* of the opening */
} ha_access;

/* The same members, with elements of type T, for accesses that know it: they are read as an ha_access is. */
#define HA_ACCESS_MEMBERS_(T)                                                                      \
    T *data;                                                                                       \
    size_t size, first;                                                                            \
    ha_array *array;                                                                               \
    ha_context *context;                                                                           \
    uint64_t ticket;                                                                               \
    ha_status status

/* The size of the elements that an access points to; 0: of any, or more than 65,535 bytes. */
enum { HA_BYTES_SHIFT_ = 16 };
#ifdef __cplusplus
extern "C++" {
constexpr unsigned ha_bytes_of_(const void *) { return 0; }
template <class T> constexpr unsigned ha_bytes_of_(const T *) {
    return sizeof(T) < 65536 ? (unsigned)sizeof(T) : 0;
}
}
#define HA_BYTES_OF_(v) (ha_bytes_of_((v).data))
#else
#define HA_POINTED_AT_(p) *_Generic(p, void * : "", const void * : "", default : p)
#define HA_BYTES_OF_(v)                                                                            \
    _Generic((v).data, void * : 0u, const void * : 0u, default                                     \
             : sizeof(HA_POINTED_AT_((v).data)) < 65536                                            \
                   ? (unsigned)sizeof(HA_POINTED_AT_((v).data))                                    \
                   : 0u)
#endif

/* How to open an access by elements: the size of those that it points to is compared with the array's. */
#define HA_HOW_OF_(access, how) ((how) | HA_BYTES_OF_(*(access)) << HA_BYTES_SHIFT_)

/* Any access, as ha_access *: a compile error for a pointer to something else. */
#define HA_ACCESS_(access) ((void)sizeof((access)->ticket), HA_CAST_(ha_access *, access))

/* Opens elements [first, last) of an array on a context. *access must not be open already. first =
 * 0 and last = HA_END: all of it, whatever its size, which also excludes every other writer and
 * resizing. The status is returned and stands in access->status. Failing changes nothing: no lock
 * is held, sizes, version and values are as before.
 *   HA_ERR_ARGUMENT  no array, or the range is not inside it; the access is of a type (ha_read_T, ha_write_T) whose
 *                    elements are longer or shorter than the array's
 *   HA_ERR_STATE     a read of elements that were never written; an array that was freed; a call from
 *                    a queued function or a forked process
 *   HA_ERR_CONFLICT, HA_ERR_DEADLOCK, HA_ERR_BUSY   see above
 *   HA_ERR_MEMORY    no room at the context (or on the host, to pass through). Of an array that has grown,
 *                    the old block serves what lies inside of it where there is no room for all; as long as
 *                    it does it stays, so that what needs a longer one is in conflict with that
 *   HA_ERR_BACKEND   the device refused a transfer or a wait
 *   HA_ERR_LOST      a device failed before it had written these elements: the message says which
 *                    and what wrote them. Until they are overwritten
 *   HA_ERR_TRANSFER  a copy was needed inside HA_NO_TRANSFERS */
#define ha_open(access, array, context, how, first, last)                                          \
    ha_open_(HA_ACCESS_(access), array, context, HA_HOW_OF_(access, how), first, last, HA_SITE)
HA_API ha_status ha_open_(ha_access *access, ha_array *array, ha_context *context, unsigned how,
                          size_t first, size_t last, const char *site);

/* Opens what a view x covers (an array_T_D or a darray; of a harray_T all), as a scope does, and fills
 * the span: for accesses that are closed somewhere else, by ha_close. *access is of a type of x's own:
 * ha_read_T_D, to read only, or ha_write_T_D (ha_read_darray, ha_write_darray; ha_read_T,
 * ha_write_T), or a ha_access, which gets no span; another one is an error at compile time. So is
 * opening one to read for writing; HA_ERR_ARGUMENT where `how` is known at run time only. (By
 * ha_open an access gets elements, and no span.) Errors as ha_open; HA_ERR_ARGUMENT, too, when x was
 * refused, or repeats elements and is not to be read. */
#define ha_open_view(access, x, context, how) HA_OPEN_(*(access), x, context, how)

/* Opens the whole array for overwriting; its size becomes n. Nothing is moved. `how`: HA_WAIT or
 * HA_TRY. Refused while the same thread reads the array, unless it does so at the same context and
 * n is the size. */
#define ha_overwrite(access, array, context, n, how)                                               \
    ha_overwrite_(HA_ACCESS_(access), array, context, n, HA_HOW_OF_(access, how), HA_SITE)
HA_API ha_status ha_overwrite_(ha_access *access, ha_array *array, ha_context *context, size_t n,
                               unsigned how, const char *site);

/* Ends an access and zeroes its array, data and size. Work enqueued on its context before this call
 * may still be running: whoever opens the array next is ordered behind it. HA_ERR_STATE without
 * effect when it is not open (closed or moved before; zeroed and never opened) or another thread
 * holds it. */
#define ha_close(access) ha_close_(HA_ACCESS_(access))
HA_API ha_status ha_close_(ha_access *access);

/* Moves an access: *to is what *from was, *from is closed without unlocking, and the calling thread
 * holds it from now on. So a thread can be handed an access: it calls this. *to must not be
 * open. Both are of one type, and then the span of an access to a view moves with it; or one of them is a
 * ha_access, and *to has no span (see ha_span_of). HA_ERR_STATE when *from is not open, HA_ERR_ARGUMENT when both are the same,
 * HA_ERR_CONFLICT when the other thread reads and writes the same elements, and so would go on using
 * what this one gets; then nothing changes. */
#define ha_move(to, from)                                                                          \
    (HA_REQUIRE_(HA_IS_OF_(__typeof__(*(to)), __typeof__(*(from))) ||                              \
                     HA_IS_OF_(__typeof__(*(to)), ha_access) ||                                    \
                     HA_IS_OF_(__typeof__(*(from)), ha_access),                                    \
                 "ha_move: the accesses are of different types, and none is a ha_access"),         \
     ha_move_(HA_ACCESS_(to), sizeof *(to), HA_ACCESS_(from), sizeof *(from)))
HA_API HA_MUST_CHECK ha_status ha_move_(ha_access *to, size_t to_bytes, ha_access *from,
                                        size_t from_bytes);

/* Changes the size of the array through a write access on all of it. Values up to the smaller size
 * are kept; further ones are undefined until written. `data` and `size` are updated; the block may
 * move. HA_ERR_CONFLICT when any other access of the array is open, HA_ERR_STATE when this one is
 * not open, HA_ERR_ARGUMENT when it reads or covers a part only, HA_ERR_MEMORY. */
#define ha_access_resize(access, n) ha_access_resize_(HA_ACCESS_(access), n, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_access_resize_(ha_access *access, size_t n, const char *site);

/* Makes room for n elements without changing the size; otherwise as ha_access_resize. */
#define ha_access_reserve(access, n) ha_access_reserve_(HA_ACCESS_(access), n, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_access_reserve_(ha_access *access, size_t n, const char *site);

/* Elements that fit into the block of an open access; 0 when it is not open. */
#define ha_access_capacity(access) ha_access_capacity_(HA_ACCESS_(access))
HA_API size_t ha_access_capacity_(const ha_access *access);

/* ---- many at once -------------------------------------------------------------------------- */

/* What one of several accesses is to be; zero where it does not matter. */
typedef struct ha_request {
    ha_access *access; /* HA_ACCESS(&v) of a typed one; not open */
    ha_array *array;
    ha_context *context;
    unsigned how;       /* HA_READ, HA_WRITE or HA_OVERWRITE, | HA_TRY in the first: for all */
    size_t first, last; /* last: HA_END for all; 0 is no element */
    int sets_size;      /* with HA_OVERWRITE of the whole: as ha_overwrite with size n */
    size_t n;
    const struct darray *view; /* not NULL: what it covers, instead of array, first and last. The
                                  access's span is not filled: see ha_span_of */
    /* With harray_records.h. `opened` is not NULL: it is an access to records, and of what stands above only
     * context, first and last matter, which are those of ha_records_open. */
    struct ha_records_access *opened;
    struct ha_records *records;
    const char *what;            /* which of their fields, and how: "read pos, write vel" */
    const struct ha_region *box; /* not NULL: instead of first and last */
    int reads_all_;              /* of what is only read all is opened, whatever the box */
    int updates_;                /* HA_WRITE refuses what was never written, as HA_READ does */
    const char *site_;           /* of this one, in messages; NULL: that of the call */
} ha_request;

/* Any access, as ha_access *: for ha_request. */
#define HA_ACCESS(access) HA_ACCESS_(access)

/* Opens all of them or none: when one cannot be had, nothing has changed, and the status is also
 * in that access's `status`; the others' is HA_ERR_STATE then. Threads that open their arrays in
 * one call never deadlock each other, whatever the order in the list. The same array may be in
 * the list several times, as far as its accesses could be opened one after the other, reads
 * first. Errors as ha_open. Close each by ha_close, or all by ha_close_many. count = 0: HA_OK. */
#define ha_open_many(requests, count) ha_open_many_(requests, count, HA_SITE)
HA_API ha_status ha_open_many_(ha_request *requests, size_t count, const char *site);

/* ha_close for the access of each request, or what was opened of its records; nothing else is looked at. All
 * are closed that can be; the first failure is returned. */
HA_API ha_status ha_close_many(const ha_request *requests, size_t count);

/* Fills the span of an open access to a view x, a variable of type array_T_D or darray: for those
 * that ha_open_many opened. *access is of a type of x's own, as for ha_open_view, with a span.
 * HA_ERR_ARGUMENT when it is not open, or on something else. */
#define ha_span_of(access, x)                                                                      \
    (HA_REQUIRE_(HA_READS_(*(access), x) || HA_WRITES_(*(access), x),                              \
                 "ha_span_of: the access is of no type of the view, ha_read_T_D or "               \
                 "ha_write_T_D of an array_T_D, ha_read_darray or ha_write_darray of a darray"),   \
     ha_span_of_(HA_ACCESS_(access), sizeof *(access), &(x), sizeof(x)))
HA_API HA_MUST_CHECK ha_status ha_span_of_(ha_access *access, size_t access_bytes,
                                           const void *array, size_t array_bytes);

/* ---- for libraries that know nothing of queues --------------------------------------------- */

/* Blocks until everything that the open access depends on has happened, so that its data can be
 * given to a library that ignores queues (GPU-aware MPI, I/O). Other work may go on. What was
 * enqueued through the open access itself is not waited for: call it before, or
 * ha_context_finish after. On the host there is nothing to wait for. HA_ERR_STATE when it is not
 * open, HA_ERR_LOST when what it waited for failed, HA_ERR_MEMORY, HA_ERR_BACKEND; the access stays
 * open. */
#define ha_wait(access) ha_wait_(HA_ACCESS_(access), HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_wait_(ha_access *access, const char *site);

/* Opens elements [first, last) for reading where they are valid already, and waits as ha_wait does:
 * a valid pointer without a copy, for whoever takes any kind of memory. access->context says where:
 * the host if it is valid there; ha_pointer_kind(access->data) what it is. Where it is nowhere
 * valid as a whole, it is brought to `otherwise` (NULL as usual). Errors as ha_open and ha_wait; on
 * failure it is not open. */
#define ha_read_anywhere(access, array, otherwise, first, last)                                    \
    ha_read_anywhere_(HA_ACCESS_(access), array, otherwise, HA_HOW_OF_(access, HA_READ), first,    \
                      last, HA_SITE)
HA_API ha_status ha_read_anywhere_(ha_access *access, ha_array *array, ha_context *otherwise,
                                   unsigned how, size_t first, size_t last, const char *site);

/* ---- scopes ------------------------------------------------------------------------------- */

/* A scope opens an access called v on a typed array x, runs the block once, and closes v however
 * the block is left: `break` and `continue` leave the block (not a loop around it), `return` and
 * `goto` what they always leave. With `else` behind the block, that runs when opening failed;
 * v.status and ha_take_error() tell why. Scopes stack: HA_READING(v, x, c) HA_WRITING(w, y, c)
 * { … }; an `else` would belong to the last of them, so give each its own braces then, as with
 * `if`. Closing v by hand inside is allowed. Opening for writing counts as writing: what is not
 * written then is undefined.
 *
 * x is a harray_T, or an array_T_D or a darray, also one that a function just returned: of those
 * what the view covers is locked and moved, v.data is its first element, and v.span its extents and
 * strides. A view that repeats elements can only be read. */
#define HA_READING(v, x, ctx) HA_SCOPE_(v, x, read_, HA_OPEN_(v, x, ctx, HA_READ))
#define HA_WRITING(v, x, ctx) HA_SCOPE_(v, x, write_, HA_OPEN_(v, x, ctx, HA_WRITE))
#define HA_OVERWRITING_ALL(v, x, ctx) /* size kept */                                              \
    HA_SCOPE_(v, x, write_, HA_OPEN_(v, x, ctx, HA_OVERWRITE))

/* The same without waiting for other threads: else with v.status == HA_ERR_BUSY. */
#define HA_TRY_READING(v, x, ctx) HA_SCOPE_(v, x, read_, HA_OPEN_(v, x, ctx, HA_READ | HA_TRY))
#define HA_TRY_WRITING(v, x, ctx) HA_SCOPE_(v, x, write_, HA_OPEN_(v, x, ctx, HA_WRITE | HA_TRY))
#define HA_TRY_OVERWRITING_ALL(v, x, ctx)                                                          \
    HA_SCOPE_(v, x, write_, HA_OPEN_(v, x, ctx, HA_OVERWRITE | HA_TRY))

/* Reads x wherever it is valid, ready for a library that ignores queues. */
#define HA_READING_ANYWHERE(v, x) HA_SCOPE_(v, x, read_, HA_OPEN_ANYWHERE_(v, x))

/* As declarations: v is open until the end of the enclosing block. Look at v.status. */
#define HA_SCOPED_READ(v, x, ctx)                                                                  \
    HA_SCOPED_(v, x, read_);                                                                       \
    HA_IGNORE_(HA_OPEN_(v, x, ctx, HA_READ))
#define HA_SCOPED_WRITE(v, x, ctx)                                                                 \
    HA_SCOPED_(v, x, write_);                                                                      \
    HA_IGNORE_(HA_OPEN_(v, x, ctx, HA_WRITE))
#define HA_SCOPED_OVERWRITE_ALL(v, x, ctx)                                                         \
    HA_SCOPED_(v, x, write_);                                                                      \
    HA_IGNORE_(HA_OPEN_(v, x, ctx, HA_OVERWRITE))

/* Of a harray_T only: it is overwritten, and its size becomes n. */
#define HA_OVERWRITING(v, x, ctx, n)                                                               \
    HA_SCOPE_(v, x, write_, ha_overwrite(&v, HA_WRITTEN_(x), ctx, n, HA_WAIT))
#define HA_TRY_OVERWRITING(v, x, ctx, n)                                                           \
    HA_SCOPE_(v, x, write_, ha_overwrite(&v, HA_WRITTEN_(x), ctx, n, HA_TRY))
#define HA_SCOPED_OVERWRITE(v, x, ctx, n)                                                          \
    HA_SCOPED_(v, x, write_);                                                                      \
    HA_IGNORE_(ha_overwrite(&v, HA_WRITTEN_(x), ctx, n, HA_WAIT))

/* Of a harray_T only: elements [first, last). */
#define HA_READING_RANGE(v, x, ctx, first, last)                                                   \
    HA_SCOPE_(v, x, read_, ha_open(&v, HA_PLAIN_(x), ctx, HA_READ, first, last))
#define HA_WRITING_RANGE(v, x, ctx, first, last)                                                   \
    HA_SCOPE_(v, x, write_, ha_open(&v, HA_WRITTEN_(x), ctx, HA_WRITE, first, last))
#define HA_OVERWRITING_RANGE(v, x, ctx, first, last)                                               \
    HA_SCOPE_(v, x, write_, ha_open(&v, HA_WRITTEN_(x), ctx, HA_OVERWRITE, first, last))

/* Enqueues f on the access's own context; f gets a copy of the access as its argument, with its
 * span if it has one. The status may be ignored: a failure also stands in v.status and in
 * ha_take_error(). What fails inside f is told later: see ha_enqueue. */
#define HA_RUN(f, v) ha_run_(f, HA_ACCESS_(&(v)), sizeof(v), #f, HA_SITE)
HA_API ha_status ha_run_(ha_function f, ha_access *access, size_t bytes, const char *name,
                         const char *site);

/* ---- functions with all that they need ------------------------------------------------------- */

/* Opens arrays on a context, puts pointers to them into a struct, enqueues a function with a copy of it, and
 * closes them: what a loop needs that an existing code keeps, and that takes many arrays.
 *
 *     struct triad { double *x; const double *y; cspan_double_2 m; double a; size_t n; };
 *     static void triad_there(const ha_queue *queue, void *argument) { const struct triad *t = …; … }
 *     …
 *     struct triad t = {.a = 2, .n = n};
 *     HA_CHECK(ha_run_with(gpu, triad_there, t, HA_USE(x, x, HA_OVERWRITE), HA_USE(y, y, HA_READ),
 *                          HA_USE(m, m, HA_READ)));
 *
 * HA_USE(member, x, how): the member of the struct is a pointer, and gets the address of the first element of x, a
 * variable of type harray_T, array_T_D or darray; or, of the latter two, it is a span_T_D, cspan_T_D or dspan, and
 * is filled. Where the function runs they are as they can be used there, so without HA_HERE. The struct itself, a
 * variable that is not const, is not changed. On the host the function has run when this returns.
 * HA_USE_RECORDS(member, r, what), with harray_records.h: the member is a view of records, as HA_USING opens it.
 *
 * All are opened or none: with an error nothing has been changed, locked or enqueued. (On strict devices and with
 * HARRAY_DEBUG what was to be overwritten has no values when the context does not take the function.)
 *   HA_ERR_ARGUMENT     no function; a use whose member is no pointer or span for its array; views that cannot
 *                       have the layout of the records there
 *   as ha_open_many, and as ha_enqueue, also what is said there of errors in the function */
typedef struct ha_use {
    const void *array; /* a harray_T, an array_T_D or a darray, of so many bytes; records, of 0 */
    size_t array_bytes;
    unsigned how;         /* HA_READ, HA_WRITE or HA_OVERWRITE, | HA_TRY in the first: for all */
    size_t offset, bytes; /* of the member in the struct */
    const char *member;   /* its name */
    const struct ha_records_type_ *records_type; /* of records */
    const char *what;                            /* which of their fields, and how */
} ha_use;

#define ha_run_with(context, f, argument, ...)                                                     \
    __extension__({                                                                                \
        __typeof__(argument) *const ha_given_ = &(argument);                                       \
        const ha_use ha_use_[] = {__VA_ARGS__};                                                    \
        ha_run_with_(context, f, ha_given_, sizeof *ha_given_, ha_use_,                            \
                     sizeof ha_use_ / sizeof *ha_use_, #f, HA_SITE);                               \
    })
#define HA_USE(member, x, how)                                                                     \
    {                                                                                              \
        (HA_REQUIRE_(HA_MAY_POINT_(ha_given_->member, x),                                          \
                     "HA_USE: the member is no pointer to elements of the array, and no span"),    \
         HA_REQUIRE_(HA_WRITABLE_(x) || (HA_IF_CONSTANT_(how) & 3) == HA_READ,                     \
                     HA_FOR_READING_ONLY_),                                                        \
         &(x)),                                                                                    \
            sizeof(x), HA_WRITABLE_(x) || ((how)&3u) == HA_READ ? (how) : (how) | HA_READS_ONLY_,  \
            __builtin_offsetof(__typeof__(*ha_given_), member), sizeof(ha_given_->member),         \
            #member, HA_NULL_, HA_NULL_                                                            \
    }
HA_API ha_status ha_run_with_(ha_context *context, ha_function f, const void *argument,
                              size_t bytes, const ha_use *uses, size_t count, const char *name,
                              const char *site);

/* Spans are told by their size, when it runs; what a darray has is known then, too. */
#define HA_MAY_POINT_(member, x)                                                                   \
    (sizeof(member) > sizeof(void *) || HA_IS_OF_(__typeof__((x).read_->data), const void *) ||    \
     HA_IS_OF_(__typeof__(member), __typeof__((x).read_->data)) ||                                 \
     HA_IS_OF_(__typeof__(member), __typeof__((x).write_->data)))

/* Is v an access of x's own type, to read or to write? x: a harray_T, an array_T_D or a darray. */
#define HA_READS_(v, x) HA_IS_OF_(__typeof__(v), __typeof__(*(x).read_))
#define HA_WRITES_(v, x) HA_IS_OF_(__typeof__(v), __typeof__(*(x).write_))

/* What a handle for reading only has in place of an access to write: it is never opened. */
typedef struct ha_write_nothing_ {
    HA_ACCESS_MEMBERS_(const void);
} ha_write_nothing_;
#define HA_WRITABLE_(x) (!HA_IS_OF_(__typeof__(*(x).write_), ha_write_nothing_))
#define HA_FOR_READING_ONLY_ "the array is for reading only: a harray_T_const or an array_T_D_const"

/* Opens all of x: what it is is known from its size, to the compiler, too. */
#define HA_OPEN_(v, x, ctx, how)                                                                   \
    __extension__({                                                                                \
        __typeof__(x) ha_x_ = (x);                                                                 \
        const unsigned ha_how_ = (how);                                                            \
        HA_STATIC_ASSERT_(HA_WRITABLE_(ha_x_) || (HA_IF_CONSTANT_(how) & 3) == HA_READ,            \
                          HA_FOR_READING_ONLY_);                                                   \
        HA_STATIC_ASSERT_(HA_READS_(v, ha_x_) || HA_WRITES_(v, ha_x_) ||                           \
                              HA_IS_OF_(__typeof__(v), ha_access),                                 \
                          "the access is of no type of the array: ha_read_T or ha_write_T of "     \
                          "a harray_T, ha_read_T_D or ha_write_T_D of an array_T_D, "              \
                          "ha_read_darray or ha_write_darray of a darray; or a ha_access, "        \
                          "without a span");                                                       \
        HA_STATIC_ASSERT_(!HA_READS_(v, ha_x_) || (HA_IF_CONSTANT_(how) & 3) == HA_READ,           \
                          "an access to read (ha_read_...) is opened for writing");                \
        sizeof ha_x_ == sizeof(void *)                                                             \
            ? ha_open_(HA_ACCESS_(&v), ha_x_.array, ctx, HA_HOW_(ha_how_, v, ha_x_), 0, HA_END,    \
                       HA_SITE)                                                                    \
            : ha_open_any_(HA_ACCESS_(&v), sizeof v, &ha_x_, sizeof ha_x_, ctx,                    \
                           HA_HOW_(ha_how_, v, ha_x_), HA_SITE);                                   \
    })
/* What is no way to open is refused, with its reason; but HA_TRY stays as it is. */
#define HA_HOW_(how, v, x)                                                                         \
    ((HA_READS_(v, x) || !HA_WRITABLE_(x)) && ((how)&3u) != HA_READ ? (how) | HA_READS_ONLY_       \
                                                                    : (how))
enum { HA_READS_ONLY_ = 1 << 8 };
HA_API ha_status ha_open_any_(ha_access *access, size_t access_bytes, const void *array,
                              size_t array_bytes, ha_context *context, unsigned how,
                              const char *site);

#define HA_OPEN_ANYWHERE_(v, x)                                                                    \
    __extension__({                                                                                \
        __typeof__(x) ha_x_ = (x);                                                                 \
        sizeof ha_x_ == sizeof(void *)                                                             \
            ? ha_read_anywhere_(HA_ACCESS_(&v), ha_x_.array, HA_NULL_, HA_READ, 0, HA_END,         \
                                HA_SITE)                                                           \
            : ha_read_anywhere_any_(HA_ACCESS_(&v), sizeof v, &ha_x_, sizeof ha_x_, HA_SITE);      \
    })
HA_API ha_status ha_read_anywhere_any_(ha_access *access, size_t access_bytes, const void *array,
                                       size_t array_bytes, const char *site);

#define HA_PLAIN_(x)                                                                               \
    (HA_REQUIRE_(                                                                                  \
         sizeof(x) == sizeof(void *),                                                              \
         "of a harray_T only: an array_T_D or a darray keeps its size. HA_OVERWRITING_ALL "        \
         "overwrites it, and of a part of it make a view"),                                        \
     (x).array)

#define HA_WRITTEN_(x) (HA_REQUIRE_(HA_WRITABLE_(x), HA_FOR_READING_ONLY_), HA_PLAIN_(x))

/* Is x the untyped array in a handle? No argument of a template has a statement expression in it, as x may. */
#ifdef __cplusplus
extern "C++" {
template <class T> char (&ha_untyped_(const T &))[HA_IS_OF_(T, ha_array *) ? 2 : 1];
}
#define HA_IS_UNTYPED_(x) (sizeof(ha_untyped_(x)) == 2)
#else
#define HA_IS_UNTYPED_(x) HA_IS_OF_(__typeof__(x) const, ha_array *const)
#endif

/* The type of an access to x. What is wrong with x.array in its place is said before all that follows. */
#define HA_TYPE_OF_ACCESS_(x, kind)                                                                \
    __typeof__(*(HA_REQUIRE_(!HA_IS_UNTYPED_(x),                                                   \
                             "this takes the array itself, x, as its type is needed; "             \
                             "not x.array, which has none"),                                       \
                 (x))                                                                              \
                    .kind)

/* Opening sets all of v; until then it is closed, for an exception may leave the scope. Zeroing all of
 * an access with a span would take as long as opening it. */
#define HA_SCOPED_(v, x, kind)                                                                     \
    HA_TYPE_OF_ACCESS_(x, kind) v __attribute__((__cleanup__(ha_close_scope_)));                   \
    (v).array = HA_NULL_
#define HA_SCOPE_(v, x, kind, opening)                                                             \
    for (HA_TYPE_OF_ACCESS_(x, kind) v __attribute__((__cleanup__(ha_close_scope_))),              \
         *v##_once_ = ((v).array = HA_NULL_, (void)(opening), &v);                                 \
         v##_once_; v##_once_ = HA_NULL_)                                                          \
        if (v.status == HA_OK)
#ifdef __cplusplus
#define HA_CLOSED_                                                                                 \
    {}
#else
#define HA_CLOSED_                                                                                 \
    { 0 }
#endif
HA_API void ha_close_scope_(void *access); /* closes it if it is open */

#endif
