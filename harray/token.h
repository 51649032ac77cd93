/* Tokens: an access that outlives the place where it was opened.
 *
 *     HA_WRITING(v, x, ctx) {
 *         HA_CHECK(ha_wait(&v));                // MPI knows nothing of queues
 *         MPI_Irecv(v.data, …, &request);
 *         HA_CHECK(ha_detach(&token, &v));      // v is closed; x stays locked
 *     }
 *     …                                         // later, on any thread:
 *     MPI_Wait(&request, …);
 *     HA_CHECK(ha_token_finish(&token));
 *
 * A token keeps the array locked as its access did, until it is ended in one of four ways:
 *
 *   ha_token_finish(&t)           now. Work enqueued on the access's context is ordered as always
 *   ha_token_wait(&t)             when everything enqueued on the access's context has happened:
 *                                 waits for it
 *   ha_token_end_at(&t, ctx)      when ctx has come to where it is now: does not wait. For work
 *                                 that was enqueued on another context than the access's
 *   ha_token_end_after(&t, ctx, event)   when a driver's event of ctx has happened (a CUevent of
 *                                 the caller): does not wait
 *
 * The last two end the lock at once, and whoever opens the array next is ordered behind that point,
 * on the device where possible. A token may be handled by any thread, one at a time. An open of the
 * thread that detached it, which conflicts with it, is refused; other threads wait for its end.
 * As anybody may end it, waiting for a token is never refused as a deadlock. */
#ifndef HARRAY_TOKEN_H
#define HARRAY_TOKEN_H

#include "access.h"

/* Zero: nothing detached. Members are for reading only. */
typedef struct ha_token {
    ha_array *array;
    ha_context *context;
    uint64_t ticket;
} ha_token;

/* Moves an open access of this thread into *token, which must be ended or zero. The access is
 * closed without unlocking: its data is still there for whoever has the pointer. HA_ERR_STATE when
 * the access is not open or another thread's, or the token is in use; then nothing changes. */
#define ha_detach(token, access) ha_detach_(token, HA_ACCESS_(access), HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_detach_(ha_token *token, ha_access *access, const char *site);

/* Each ends the token and zeroes it. (What ends a token of ha_copy_start is told there.) HA_ERR_STATE without effect when it is not in use. */
HA_API HA_MUST_CHECK ha_status ha_token_finish(ha_token *token);

/* HA_ERR_LOST, HA_ERR_MEMORY, HA_ERR_BACKEND when waiting failed: the token has ended all the
 * same. */
HA_API HA_MUST_CHECK ha_status ha_token_wait(ha_token *token);

/* On failure (HA_ERR_MEMORY; HA_ERR_UNSUPPORTED: the context knows no such events;
 * HA_ERR_ARGUMENT: no event; HA_ERR_BACKEND) the token stays. With the host as context: as
 * ha_token_finish. The event may be reused when ha_token_end_after has returned. */
HA_API HA_MUST_CHECK ha_status ha_token_end_at(ha_token *token, ha_context *context);
HA_API HA_MUST_CHECK ha_status ha_token_end_after(ha_token *token, ha_context *context,
                                                  void *event);

/* HA_SCOPED_TOKEN(t); declares a token that is waited for when the enclosing block is left. */
#define HA_SCOPED_TOKEN(t)                                                                         \
    ha_token t __attribute__((__cleanup__(ha_token_close_scope_))) = {HA_NULL_, HA_NULL_, 0}
HA_API void ha_token_close_scope_(ha_token *token);

#endif
