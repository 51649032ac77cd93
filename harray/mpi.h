/* Arrays and MPI: any view, and the fields of records, to any rank, wherever the values are.
 *
 *     ha_mpi_request r[2] = {{0}};
 *     HA_CHECK(ha_mpi_isend(&r[0], array_double_3_fix(x, 2, n - 1), right, 7, comm));
 *     HA_CHECK(ha_mpi_irecv(&r[1], array_double_3_fix(x, 2, 0), left, 7, comm));
 *     HA_CHECK(ha_mpi_wait_all(r, 2));
 *     HA_CHECK(ha_mpi_allreduce(total, MPI_SUM, comm));
 *
 * `x` in these calls is a harray_T, an array_T_D, a darray, or HA_MPI_FIELDS of records. What travels are its
 * elements, in the order of its indices (the last one fastest) and without gaps: so the other side may have other
 * strides, another order or another layout, or may be a program that gives the same elements to MPI by itself. On both
 * sides the types have to be the same, and the numbers of elements.
 *
 * MPI gets memory of the host, or of a device of which it is known to take pointers (ha_mpi_describe). A view whose
 * elements lie without gaps, in this order, is given to MPI in place: where its values are, or on the host, to which they
 * are brought if MPI does not take them where they are; and so is one of long rows on the host, as a type of MPI's, by
 * ha_mpi_send and ha_mpi_recv. Any other is packed into a buffer, by darray_copy: on the device where it is valid, if
 * that can do it by one command; then only the buffer is moved, or MPI gets it on the device.
 * Before MPI gets memory of a device, that has done what was enqueued for these elements.
 * Where to pack and unpack: in HA_ON(context) { … } at that context, else where the values are. What is moved is
 * counted and traced at the line of the call, as all transfers are (instruments.h), and ha_mpi_traffic_so_far says
 * what was packed and staged. Each message and each collective that succeeds is an event (HA_EVENT_MESSAGE).
 *
 * All calls are refused with HA_ERR_STATE before MPI_Init and after MPI_Finalize, and on threads on which MPI
 * was not initialised to be called (MPI_THREAD_SINGLE and _FUNNELED: all but the main one). HA_ERR_ARGUMENT:
 * MPI_COMM_NULL; a rank or tag that is none; a view to receive into that repeats elements. Other errors are those
 * of ha_open. An error of MPI's is HA_ERR_BACKEND with its text, where the communicator returns errors
 * (MPI_ERRORS_RETURN); else MPI aborts, as it always does. */
#ifndef HARRAY_MPI_H
#define HARRAY_MPI_H

#include "darray.h"
#include "records.h"
#include <mpi.h>

/* ---- what travels --------------------------------------------------------------------------- */

/* A view, or fields of records. Not to be looked into. */
typedef struct ha_mpi_part {
    darray view;
    union {
        ha_records *records; /* NULL: it is a view */
        ha_write_darray *write_;
    };
    const char *paths;
    ha_region box;
} ha_mpi_part;

/* Fields of a box of records: HA_MPI_FIELDS(r.records, "pos+vel", ha_box1(0, n)). NULL as the paths: all fields.
 * Values go field by field, in the order in which the record has them, each in the order of the indices: whatever the
 * layouts on both sides. Where a device puts values into their places itself, as in halos below, and has these, or the
 * context of HA_ON is such a one, it packs and unpacks them; else the host does. The text has to live until the message has been waited for. */
#define HA_MPI_FIELDS(records, paths, box) ha_mpi_fields_(records, paths, box)
HA_API ha_mpi_part ha_mpi_fields_(ha_records *records, const char *paths, ha_region box);

/* An array as such a part, for a list of both. */
#define HA_MPI_PART(x) HA_MPI_TARGET_(x)

/* ---- from one rank to another --------------------------------------------------------------- */

/* As MPI_Send, MPI_Recv and MPI_Sendrecv. `from` may be MPI_ANY_SOURCE, the tag of a receive MPI_ANY_TAG; with
 * MPI_PROC_NULL nothing happens. A message with another number of elements than the view is HA_ERR_ARGUMENT when it is
 * shorter; of a longer one MPI says that it is truncated. Then, and after other errors of MPI's, what a view has that is
 * received in place, or in rows of 256 bytes and more, is undefined; any other is unchanged. */
#define ha_mpi_send(x, to, tag, comm) ha_mpi_send_(HA_MPI_PART_(x), to, tag, comm, HA_SITE)
#define ha_mpi_recv(x, from, tag, comm) ha_mpi_recv_(HA_MPI_TARGET_(x), from, tag, comm, HA_SITE)
#define ha_mpi_exchange(out, to, in, from, tag, comm)                                              \
    ha_mpi_exchange_(HA_MPI_PART_(out), to, HA_MPI_TARGET_(in), from, tag, comm, HA_SITE)

/* A message, or a collective, under way; zero: none. It is waited for once, by any thread that may call MPI. */
typedef struct ha_mpi_request {
    struct ha_mpi_message_ *message;
} ha_mpi_request;

/* As MPI_Isend: what is sent is read now, which waits for the values. A view that is sent in place stays open for
 * reading until the message has been waited for (a token, token.h); one that was packed may be changed at once.
 * HA_ERR_STATE when the request is in use, HA_ERR_MEMORY; then nothing is sent. */
#define ha_mpi_isend(request, x, to, tag, comm)                                                    \
    ha_mpi_isend_(request, HA_MPI_PART_(x), to, tag, comm, HA_SITE)

/* As MPI_Irecv. A view that is received in place is open for overwriting until it has been waited for; any other one
 * is opened when it is waited for, and may be freed before (records may not). */
#define ha_mpi_irecv(request, x, from, tag, comm)                                                  \
    ha_mpi_irecv_(request, HA_MPI_TARGET_(x), from, tag, comm, HA_SITE)

/* Waits for it, and unpacks what has come. The request is zero afterwards, whether that succeeds or not; but
 * HA_ERR_STATE of HARRAY_MPI_CHECK, below, leaves it as it is. Of a zero one: HA_OK. wait_all waits for all of them,
 * and returns the first error. */
#define ha_mpi_wait(request) ha_mpi_wait_all(request, 1)
#define ha_mpi_wait_all(requests, count) ha_mpi_wait_all_(requests, count, HA_SITE)

/* *done = whether it has arrived, or was sent; then it has been waited for. */
#define ha_mpi_test(request, done) ha_mpi_test_(request, done, HA_SITE)

HA_API HA_MUST_CHECK ha_status ha_mpi_send_(ha_mpi_part x, int to, int tag, MPI_Comm comm,
                                            const char *site);
HA_API HA_MUST_CHECK ha_status ha_mpi_recv_(ha_mpi_part x, int from, int tag, MPI_Comm comm,
                                            const char *site);
HA_API HA_MUST_CHECK ha_status ha_mpi_exchange_(ha_mpi_part out, int to, ha_mpi_part in, int from,
                                                int tag, MPI_Comm comm, const char *site);
HA_API HA_MUST_CHECK ha_status ha_mpi_isend_(ha_mpi_request *request, ha_mpi_part x, int to,
                                             int tag, MPI_Comm comm, const char *site);
HA_API HA_MUST_CHECK ha_status ha_mpi_irecv_(ha_mpi_request *request, ha_mpi_part x, int from,
                                             int tag, MPI_Comm comm, const char *site);
HA_API HA_MUST_CHECK ha_status ha_mpi_wait_all_(ha_mpi_request *requests, size_t count,
                                                const char *site);
HA_API HA_MUST_CHECK ha_status ha_mpi_test_(ha_mpi_request *request, int *done, const char *site);

/* ---- collectives ---------------------------------------------------------------------------- */

/* As MPI's, of any views. All ranks of the communicator have to call them; one that is refused, or has no memory, takes
 * no part, and others may wait for it, as with MPI (HARRAY_MPI_CHECK, below, tells them). Reductions are in place: of x on every
 * rank, or on the root; types are those that MPI can reduce, and half and bfloat16, whose MPI_SUM, MPI_PROD,
 * MPI_MIN and MPI_MAX are computed in float. Records, and elements of the user's own type, cannot be reduced.
 *
 * all: elements of all ranks, those of rank 0 first. counts[r]: how many are rank r's; NULL: as many of each.
 * Of gather and scatter only the root looks at `all` and `counts`, the others may give any view. alltoall has as many
 * elements for each rank. HA_ERR_ARGUMENT when these numbers do not come to the size of `all`. */
#define ha_mpi_bcast(x, root, comm) ha_mpi_bcast_(NULL, 1, HA_MPI_TARGET_(x), root, comm, HA_SITE)
#define ha_mpi_reduce(x, op, root, comm)                                                           \
    ha_mpi_reduce_(NULL, 1, HA_MPI_TARGET_(x), op, root, comm, HA_SITE)
#define ha_mpi_allreduce(x, op, comm)                                                              \
    ha_mpi_reduce_(NULL, 1, HA_MPI_TARGET_(x), op, HA_MPI_NO_ROOT_, comm, HA_SITE)
#define ha_mpi_gather(all, part, counts, root, comm)                                               \
    ha_mpi_gather_(NULL, 1, HA_MPI_TARGET_(all), HA_MPI_PART_(part), counts, root, comm, HA_SITE)
#define ha_mpi_allgather(all, part, counts, comm)                                                  \
    ha_mpi_gather_(NULL, 1, HA_MPI_TARGET_(all), HA_MPI_PART_(part), counts, HA_MPI_NO_ROOT_,      \
                   comm, HA_SITE)
#define ha_mpi_scatter(part, all, counts, root, comm)                                              \
    ha_mpi_scatter_(NULL, 1, HA_MPI_TARGET_(part), HA_MPI_PART_(all), counts, root, comm, HA_SITE)
#define ha_mpi_alltoall(to, from, comm)                                                            \
    ha_mpi_alltoall_(NULL, 1, HA_MPI_TARGET_(to), HA_MPI_PART_(from), comm, HA_SITE)

/* The same without waiting, by requests as those of ha_mpi_isend: each rank waits for its own, and ranks begin the
 * collectives of a communicator in the same order. What is sent is read now, and `counts`, too. A view that is sent,
 * received or reduced in place stays open until it has been waited for. Any other one may be changed at once when it
 * was sent, is opened when it has been waited for when something comes, and may be freed before (records may not).
 * MPI gets no device's memory for reductions, as ever. When the beginning fails nothing stays open, and the request
 * is zero. With HARRAY_MPI_CHECK each waits for the others to begin. */
#define ha_mpi_ibcast(request, x, root, comm)                                                      \
    ha_mpi_bcast_(request, 0, HA_MPI_TARGET_(x), root, comm, HA_SITE)
#define ha_mpi_ireduce(request, x, op, root, comm)                                                 \
    ha_mpi_reduce_(request, 0, HA_MPI_TARGET_(x), op, root, comm, HA_SITE)
#define ha_mpi_iallreduce(request, x, op, comm)                                                    \
    ha_mpi_reduce_(request, 0, HA_MPI_TARGET_(x), op, HA_MPI_NO_ROOT_, comm, HA_SITE)
#define ha_mpi_igather(request, all, part, counts, root, comm)                                     \
    ha_mpi_gather_(request, 0, HA_MPI_TARGET_(all), HA_MPI_PART_(part), counts, root, comm, HA_SITE)
#define ha_mpi_iallgather(request, all, part, counts, comm)                                        \
    ha_mpi_gather_(request, 0, HA_MPI_TARGET_(all), HA_MPI_PART_(part), counts, HA_MPI_NO_ROOT_,   \
                   comm, HA_SITE)
#define ha_mpi_iscatter(request, part, all, counts, root, comm)                                    \
    ha_mpi_scatter_(request, 0, HA_MPI_TARGET_(part), HA_MPI_PART_(all), counts, root, comm,       \
                    HA_SITE)
#define ha_mpi_ialltoall(request, to, from, comm)                                                  \
    ha_mpi_alltoall_(request, 0, HA_MPI_TARGET_(to), HA_MPI_PART_(from), comm, HA_SITE)

HA_API HA_MUST_CHECK ha_status ha_mpi_bcast_(ha_mpi_request *request, int waits, ha_mpi_part x,
                                             int root, MPI_Comm comm, const char *site);
HA_API HA_MUST_CHECK ha_status ha_mpi_reduce_(ha_mpi_request *request, int waits, ha_mpi_part x,
                                              MPI_Op op, int root, MPI_Comm comm, const char *site);
HA_API HA_MUST_CHECK ha_status ha_mpi_gather_(ha_mpi_request *request, int waits, ha_mpi_part all,
                                              ha_mpi_part part, const int64_t *counts, int root,
                                              MPI_Comm comm, const char *site);
HA_API HA_MUST_CHECK ha_status ha_mpi_scatter_(ha_mpi_request *request, int waits, ha_mpi_part part,
                                               ha_mpi_part all, const int64_t *counts, int root,
                                               MPI_Comm comm, const char *site);
HA_API HA_MUST_CHECK ha_status ha_mpi_alltoall_(ha_mpi_request *request, int waits, ha_mpi_part to,
                                                ha_mpi_part from, MPI_Comm comm, const char *site);

/* ---- halos ---------------------------------------------------------------------------------- */

/* The exchange of ghost cells with the neighbours in a communicator of MPI_Cart_create, again and again:
 *
 *     const ha_mpi_part fields[] = {HA_MPI_PART(u), HA_MPI_FIELDS(r.records, "pos+vel", ha_box2(0, n, 0, m))};
 *     ha_mpi_halo *halo = ha_mpi_halo_new(cart, gpu, 1, fields, 2, HA_MPI_CORNERS);
 *     for (…) {
 *         HA_CHECK(ha_mpi_halo_start(halo));  // packs on the device, and does not wait
 *         …                                   // what needs no ghost cells
 *         HA_CHECK(ha_mpi_halo_finish(halo)); // sends, receives, unpacks on the device
 *         …                                   // what needs them
 *     }
 *     ha_mpi_halo_free(halo);
 *
 * Dimension d of the fields is dimension d of the communicator, in which they have `width` ghost cells at each end (so
 * the first `width` and the last `width` indices of a field; whatever is called 0). Further dimensions are taken
 * whole. Ghost cells at the end of a dimension that is not periodic are left alone. Fields may be of any types, and
 * lie in memory in any way, another one on each rank. `fields` is an array of whatever a message takes, of one kind:
 * array_T_D, darray or ha_mpi_part. Of records the box has the ghost cells, too.
 *
 * A plan has buffers of its own, and its own communicator: between start and finish the fields are free, and several
 * plans may be under way. Packing and unpacking happens at `context`. Fields of records a device packs that puts values
 * into their places itself (by one command: CUDA, and simulated devices with strides=1), where it has the cells, and where its layout
 * stores them as they are, without Morton order; it unpacks them, too. Others are gathered on the host, to which only their
 * cells are moved, for which start waits, and ghost cells are brought to `context` then. All
 * fields travel in one message to each neighbour, which is put together on the host when they have several types. */
typedef struct ha_mpi_halo ha_mpi_halo;
enum ha_mpi_halo_kind {
    HA_MPI_CORNERS, /* ghost cells along edges and corners, too: dimension after dimension, by two messages each */
    HA_MPI_FACES,  /* those of the faces only, all at once */
    HA_MPI_AT_ONCE /* all of them, at once, by a message to each of up to 3^n - 1 neighbours */
};

/* Collective: all ranks of `cart` get a plan, or none does, and NULL. HA_ERR_ARGUMENT, with a text that names the
 * rank: it is no communicator of MPI_Cart_create; a field has fewer dimensions, repeats elements, or has fewer
 * interior cells than `width` in one of them; records do not have the fields or the box; fields of neighbours differ in
 * type or number, or their faces in extents; HA_ERR_MEMORY. The plan is one more owner of the arrays, and of those of
 * ha_mpi_halo_rebind. Records, and the texts of their fields, have to live as long as it has them. */
#define ha_mpi_halo_new(cart, context, width, fields, count, kind)                                 \
    ha_mpi_halo_new_(cart, context, width, HA_MPI_LIST_(fields), count, kind, HA_SITE)
HA_API ha_mpi_halo *ha_mpi_halo_new_(MPI_Comm cart, ha_context *context, int64_t width,
                                     const void *fields, size_t each, size_t count, int kind,
                                     const char *site);

/* start reads the cells that are sent (of HA_MPI_CORNERS: of the first dimension), and on the host sends them. finish
 * waits for the cells on their way from the device, but for nothing that was enqueued behind start, sends them, and returns
 * when all ghost cells have been written, or are about to be by what it has enqueued at the device. HA_ERR_STATE: it was
 * started already, or was not. When anything else fails, as for want of memory, finish returns the first error, and ghost
 * cells may be as they were; no other rank is kept waiting: those that miss values by it get HA_ERR_LOST, which names the
 * rank. */
#define ha_mpi_halo_start(halo) ha_mpi_halo_start_(halo, HA_SITE)
#define ha_mpi_halo_finish(halo) ha_mpi_halo_finish_(halo, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_mpi_halo_start_(ha_mpi_halo *halo, const char *site);
HA_API HA_MUST_CHECK ha_status ha_mpi_halo_finish_(ha_mpi_halo *halo, const char *site);

/* Other fields from now on, as many and with the same types, extents and storage (as ha_copy_plan_run_on; of records
 * types and extents): for arrays that take turns. No communication. HA_ERR_STATE between start and finish;
 * HA_ERR_ARGUMENT, and all are as before. */
#define ha_mpi_halo_rebind(halo, fields, count)                                                    \
    ha_mpi_halo_rebind_(halo, HA_MPI_LIST_(fields), count, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_mpi_halo_rebind_(ha_mpi_halo *halo, const void *fields,
                                                   size_t each, size_t count, const char *site);

/* Collective, unless MPI_Finalize was called before. One that was started is finished first. NULL: nothing. */
HA_API void ha_mpi_halo_free(ha_mpi_halo *halo);

/* ---- files ---------------------------------------------------------------------------------- */

/* One .npy file of the blocks of all ranks: as of one array that has them all, for NumPy and darray_load_npy. Collective,
 * each rank with the same path and its own block, which is a view; one that has none gives a view without elements. Ghost
 * cells are elements as all others: their interior is another view (array_T_D_interior).
 *
 * `offset`: where the block begins in the whole, an index for each dimension, as of darray_write_hdf5; origins do not
 * matter. NULL, of a communicator of MPI_Cart_create: blocks lie as the ranks do, dimension d of the views along
 * dimension d of the communicator.
 *
 * save: each element of the whole, which ends where the last block does, is in one of the blocks. The file is in the order
 * in which rank 0 has its elements, as darray_save_npy says, and is there when it is complete. load: the block is
 * any part of the file, and others may have the same elements; with NULL they are all of it together. Types
 * are the same in the file and in memory.
 *
 * What fails on one rank has changed nothing on any, neither the views nor an older file: there the error is that of
 * darray_save_npy, of darray_load_npy or ha_open, HA_ERR_ARGUMENT for blocks that do not fit together or with the
 * file, or HA_ERR_UNSUPPORTED for fields of records; others get that, too, or HA_ERR_LOST, which names the rank. Only
 * MPI_COMM_NULL and MPI that may not be called are refused at once. Elements are transferred from and to the host's
 * memory: collectively, but with Open MPI, whose collective transfers lose elements before 5.0.6, by each rank's own calls. */
#define ha_mpi_save(x, path, offset, comm)                                                         \
    ha_mpi_save_(HA_MPI_PART_(x), path, offset, comm, HA_SITE)
#define ha_mpi_load(x, path, offset, comm)                                                         \
    ha_mpi_load_(HA_MPI_TARGET_(x), path, offset, comm, HA_SITE)
HA_API HA_MUST_CHECK ha_status ha_mpi_save_(ha_mpi_part x, const char *path, const int64_t *offset,
                                            MPI_Comm comm, const char *site);
HA_API HA_MUST_CHECK ha_status ha_mpi_load_(ha_mpi_part x, const char *path, const int64_t *offset,
                                            MPI_Comm comm, const char *site);

/* ---- what was moved ------------------------------------------------------------------------- */

/* All of this process so far; `packed` counts what went through a buffer in either direction, `staged` what had to
 * be copied between the memory of a device and the host for MPI's sake. */
typedef struct ha_mpi_traffic {
    uint64_t messages_sent, messages_received, bytes_sent, bytes_received;
    uint64_t packed_bytes, staged_bytes;
} ha_mpi_traffic;
HA_API ha_mpi_traffic ha_mpi_traffic_so_far(void);

/* What happens to elements that are at a context, and why: "direct: …", where MPI gets its memory, or "staged: …", by
 * way of the host. HARRAY_MPI_GPU=yes or no in the environment of all ranks decides for all devices but OpenCL's (and files).
 * Without it MPI gets CUDA's memory where it says that it takes that (MPIX_Query_cuda_support,
 * MPIX_GPU_query_support), and of no other device. Reductions, fields of records in messages, files and what
 * HARRAY_MPI_CHECK checks are staged always. A wrong yes is a crash in MPI; another word is as no. */
HA_API const char *ha_mpi_describe(ha_context *context);

/* ---- checking ------------------------------------------------------------------------------- */

/* With HARRAY_MPI_CHECK=SECONDS in the environment of all ranks, each message says what it is, and collectives compare
 * first what they were asked to do, on all ranks. HA_ERR_ARGUMENT where types, extents (those of 1 do not count),
 * counts, roots, operations or the order of calls differ, with both sides and their lines, also where MPI itself would
 * abort, or say nothing. Whoever waits for longer than that is told what for, by HA_ERR_STATE. Messages are copied then,
 * and cannot be received by another program's MPI_Recv. (Halos need no checking: ha_mpi_halo_new has compared.) */

/* ---- for these macros ------------------------------------------------------------------------ */

#define HA_MPI_PART_(x)                                                                            \
    __extension__({                                                                                \
        __typeof__(x) ha_given_ = (x);                                                             \
        (void)sizeof ha_given_.write_; /* arrays and parts have it, and nothing else */            \
        ha_mpi_part_(&ha_given_, sizeof ha_given_);                                                \
    })
#define HA_MPI_TARGET_(x) (HA_REQUIRE_(HA_WRITABLE_(x), HA_FOR_READING_ONLY_), HA_MPI_PART_(x))
#define HA_MPI_LIST_(fields)                                                                       \
    (HA_REQUIRE_(HA_WRITABLE_(*(fields)), HA_FOR_READING_ONLY_), (fields)), sizeof *(fields)
#define HA_MPI_NO_ROOT_ INT32_MIN
HA_API ha_mpi_part ha_mpi_part_(const void *x, size_t bytes);

#endif
