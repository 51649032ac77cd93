/* The caller's memory as an array, without a copy.
 *
 *     double *u = malloc(n * sizeof *u);                     // an existing code's array
 *     harray_double x = harray_double_wrap(u, n);            // u now belongs to x
 *     HA_WRITING(v, x, device) HA_RUN(step, v);
 *     HA_CHECK(harray_double_sync(x));                       // u has the values
 *     HA_CHECK(harray_double_unwrap(&x));                    // u is the caller's again
 *
 * The memory serves as the array's incarnation where it is: never reallocated, never freed. While
 * it is wrapped, touch it through accesses only (after ha_sync it may be read until the next
 * write access). It must stay until the array is unwrapped or freed. Freeing brings the values back, too;
 * where nobody wants them any more, as at the end of a program, ha_discard(&x) does not.
 *
 * What would reallocate it or hand it to another array is refused (HA_ERR_STATE): growing beyond
 * n, purge, swap, take. Assigning to the array copies into its memory (ha_array_assign as
 * ha_array_assign_at where it was first touched). Copies of the array have memory of their own.
 *
 * Several allocations are one array as fields of records: ha_records_wrap (records.h).
 *
 * All functions may be called from any thread. */
#ifndef HARRAY_WRAP_H
#define HARRAY_WRAP_H

#include "token.h"
#include "type.h"

enum ha_wrap_flags {
    HA_WRAP_CONST = 1,    /* never written: whatever changes the array is HA_ERR_STATE (but
                               ha_array_clear gives up values that are lost) */
    HA_WRAP_UNWRITTEN = 2 /* it has no values yet, or old ones */
};

/* One piece of memory that the caller owns. */
typedef struct ha_wrapped {
    void *data;          /* n elements, aligned for their type; of const memory: cast */
    ha_context *context; /* where it is; NULL as usual */
    unsigned flags;
} ha_wrapped;

/* An array of n elements over the caller's memory: one piece, or one for each of several memories
 * (a host and a device buffer, say). Pieces without HA_WRAP_UNWRITTEN hold the same values. The
 * first piece's context is where the array was first touched. With n = 0 it is an ordinary empty
 * array, of which ha_unwrap hands back nothing. NULL on failure:
 *   HA_ERR_ARGUMENT  a NULL pointer, no piece, two pieces in one memory or overlapping, bad flags,
 *                    no element size, memory that is known to be of another kind than the context's,
 *                    or not aligned for a type of HA_PREMADE_TYPES
 *   HA_ERR_STATE     another array owns some of it, wrapped or its own: the message says which
 *   HA_ERR_MEMORY    also when n times the element size overflows */
HA_API ha_array *ha_array_wrap(ha_type type, size_t n, const ha_wrapped *pieces, size_t count);

/* For memory that somebody else is to free, or to take back: release(user) is called once, when the
 * array is gone and no queue uses its memory any more, by the call that ends it (ha_unwrap, or the
 * last owner's ha_array_free) on that thread, with nothing locked. It may call harray. An array has
 * one at most: HA_ERR_STATE; HA_ERR_ARGUMENT: no array, no function. (Also for other arrays; what is
 * queued on their memory may then still be under way.) */
HA_API HA_MUST_CHECK ha_status ha_array_set_release(ha_array *array, void (*release)(void *user),
                                                    void *user);

/* Brings all of the caller's memory up to date: returns when the values are there. The array goes
 * on to own it. Const memory always is. Elements that were never written are left as they are.
 * Opens a read for the moment: its conflicts and errors apply, HA_ERR_LOST above all. For an array
 * that wraps nothing: does nothing. */
#define ha_sync(array) ha_sync_(array, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_sync_(ha_array *array, const char *site);

/* Syncs, frees the array, and hands the memory back: no queue uses it any more when this returns.
 * HA_ERR_CONFLICT while accesses are open or another thread waits for one, HA_ERR_STATE while the
 * array has other owners, or has elements but wraps nothing; and as ha_sync. When it fails the
 * array stays, as it is after a sync that failed. If its values cannot be had any more
 * (HA_ERR_LOST, or HA_ERR_BACKEND for memory on a device that has failed), ha_array_clear gives
 * them up: then it succeeds. NULL is fine. (ha_array_free of a wrapped array does the same, but
 * only the last owner's call does it.) */
#define ha_unwrap(array) ha_unwrap_(array, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_unwrap_(ha_array *array, const char *site);

/* ha_discard(&x): frees an array (a harray_T, array_T_D or darray) as its own _free does, without its
 * values: nothing is moved, lost ones do not matter, and memory that was wrapped has whatever it has. It is the
 * caller's again when this returns, and no queue uses it any more: that is waited for. On success
 * x.array is NULL. HA_ERR_CONFLICT, HA_ERR_STATE as ha_array_free. */
#define ha_discard(x) ha_discard_(&(x)->array, HA_SITE)
HA_API ha_status ha_discard_(ha_array **array, const char *site);

/* Copies bytes between pieces of the caller's memory, each at a context, on the way that values of an
 * array take: directly, by way of the host, in chunks. Comes after what was enqueued on both
 * contexts, and returns when the bytes are there. For data of an array there are accesses, and
 * ha_array_assign or darray_copy. HA_ERR_ARGUMENT: a NULL pointer, or memory of another kind than its
 * context's; HA_ERR_STATE: an array has some of it, or another copy, unless both only read it (when both
 * overlap, the source has some of the target); and as ha_unwrap. The target's bytes are undefined then. 0 bytes: nothing. */
#define ha_copy(to, to_context, from, from_context, bytes)                                         \
    ha_copy_(to, to_context, from, from_context, bytes, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_copy_(void *to, ha_context *to_context, const void *from,
                                        ha_context *from_context, size_t bytes, const char *site);

/* Starts what ha_copy does: waits neither for what was enqueued on the contexts nor for the bytes, except
 * where they pass through memory of the host on their way, or queues of two backends are to be ordered;
 * inside the host's memory they are there at once.
 * Until *token is ended, which must be ended or zero before, both pieces are the copy's, as those of an
 * array that wraps them are. ha_token_wait and ha_token_finish, on any thread, end it when the bytes are
 * there, or tell why they cannot be: HA_ERR_LOST, HA_ERR_MEMORY, HA_ERR_BACKEND; the token has ended all the
 * same. ha_token_end_at and ha_token_end_after do not: HA_ERR_UNSUPPORTED. Errors as ha_copy, and
 * HA_ERR_ARGUMENT without a token, HA_ERR_STATE for one that is in use; nothing has begun then. */
#define ha_copy_start(token, to, to_context, from, from_context, bytes)                            \
    ha_copy_start_(token, to, to_context, from, from_context, bytes, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_copy_start_(ha_token *token, void *to, ha_context *to_context,
                                              const void *from, ha_context *from_context,
                                              size_t bytes, const char *site);

/* For bindings, which look at what they have exported: `bytes` of the memory of a context, whoever they belong
 * to, come to memory of the host that no array has. After what was enqueued on the context; they are there when
 * this returns. HA_ERR_ARGUMENT: NULL; HA_ERR_LOST: its device failed; HA_ERR_BACKEND, HA_ERR_UNSUPPORTED: it cannot. */
HA_API HA_MUST_CHECK ha_status ha_copy_out_(void *to, ha_context *context, const void *from,
                                            size_t bytes, const char *site);

#endif
