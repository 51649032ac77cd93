/* Collectives of views: each opens what it has, as for a message, and calls MPI's, which has done it when it returns,
 * or gives requests for it. */
#ifndef HARRAY_IMPL_MPI_COLLECTIVE_H
#define HARRAY_IMPL_MPI_COLLECTIVE_H

#include "agree.h"
#include "traced.h"

/* A call, this rank's place in it, and what it has opened for it. */
typedef struct ha_mpi_meeting {
    ha_mpi_call call;
    int rank, ranks, root; /* root -1: there is none */
    int waits;             /* 0: it returns when it has begun */
    ha_mpi_signature sign;
    uint64_t begun;       /* 0: nobody listens */
    int64_t bytes;        /* of this rank's part */
    int has_all;          /* it has the elements of all */
    int *number, *at;     /* how many units are whose, and where; one allocation */
    MPI_Op op;            /* of a reduction */
    int op_is_made;       /* it is to be freed */
    char *result;         /* of a reduction on its root */
    MPI_Request *request; /* those of MPI's calls that have begun */
    int requests;
    ha_array *kept[2];     /* what will be unpacked into: the meeting is one more owner */
    ha_mpi_side part, all; /* those of this rank, and of all; undefined before they are set */
} ha_mpi_meeting;

/* What the user gives for it. */
typedef struct ha_mpi_agenda {
    const ha_mpi_part *part, *all;
    unsigned how; /* what is done with `all` */
    const int64_t *counts;
    MPI_Op op;
} ha_mpi_agenda;

/* A kind of it. */
typedef struct ha_mpi_collective {
    ha_status (*open)(ha_mpi_meeting *meeting, const ha_mpi_agenda *agenda); /* all or nothing */
    int (*run)(ha_mpi_meeting *meeting); /* returns MPI's code */
    const char *what;
} ha_mpi_collective;

HA_IN_ ha_status ha_mpi_meet(ha_mpi_meeting *meeting, const ha_mpi_call *call, int root,
                             int waits) {
    memset(meeting, 0, offsetof(ha_mpi_meeting, part));
    meeting->call = *call;
    meeting->root = root;
    meeting->waits = waits;
    meeting->begun = ha_mpi_moment();
    ha_status s = ha_mpi_enter(call);
    if (!s) s = ha_mpi_told(call, MPI_Comm_size(call->comm, &meeting->ranks), "MPI_Comm_size");
    if (!s) s = ha_mpi_told(call, MPI_Comm_rank(call->comm, &meeting->rank), "MPI_Comm_rank");
    if (root == HA_MPI_NO_ROOT_) meeting->root = -1;
    if (s || root == HA_MPI_NO_ROOT_ || (root >= 0 && root < meeting->ranks)) return s;
    return ha_mpi_fail(HA_ERR_ARGUMENT, call, "there is no rank %d among %d", root, meeting->ranks);
}

HA_IN_ int ha_mpi_is_root(const ha_mpi_meeting *meeting) {
    return meeting->root < 0 || meeting->root == meeting->rank;
}

/* ---- opening ---------------------------------------------------------------------------------- */

/* Signs for a side, which may not be sound: s. shapes: those of all ranks are to be the same. */
HA_IN_ void ha_mpi_sign_meeting(ha_mpi_meeting *meeting, const ha_mpi_side *side, int shapes,
                                ha_status s) {
    ha_mpi_signature *sign = &meeting->sign;
    ha_mpi_sign(sign, s ? NULL : side, &meeting->call);
    sign->root = meeting->root;
    meeting->bytes = s ? 0 : side->size;
    if (shapes) sign->share = sign->count;
    if (shapes) return;
    sign->rank = 0;
    memset(sign->extent, 0, sizeof sign->extent);
}

/* For as many calls of MPI's as a side may need. */
HA_IN_ ha_status ha_mpi_room_for_requests(ha_mpi_meeting *meeting, const ha_mpi_side *side) {
    const size_t most = (size_t)(side->units / HA_MPI_MOST_COUNT_) + 1;
    if (meeting->waits) return HA_OK;
    meeting->request = (MPI_Request *)HARRAY_MALLOC(most * sizeof(MPI_Request));
    if (meeting->request) return HA_OK;
    return ha_mpi_fail(HA_ERR_MEMORY, &meeting->call, "no memory for requests");
}

/* Hears the others, and opens the part, and those of all. s: whether they are sound. On failure nothing is open. */
HA_IN_ ha_status ha_mpi_open_agreed(ha_mpi_meeting *meeting, const int64_t *counts, ha_status s) {
    const ha_mpi_call *call = &meeting->call;
    ha_mpi_side *side = &meeting->part, *other = meeting->has_all ? &meeting->all : NULL;
    if (!s) s = ha_mpi_room_for_requests(meeting, side);
    s = ha_mpi_agree(call, &meeting->sign, counts, s);
    if (s) return s;
    s = ha_mpi_side_open(side, call);
    const int is_open = !s;
    if (!s && other) s = ha_mpi_side_open(other, call);
    const int other_is_open = !s && other;
    s = ha_mpi_agree_on_opened(call, s);
    if (s && is_open) HA_IGNORE(ha_mpi_side_close(side, 0, call));
    if (s && other_is_open) HA_IGNORE(ha_mpi_side_close(other, 0, call));
    return s;
}

/* ---- what MPI has begun ----------------------------------------------------------------------- */

/* For its next request; NULL: it is called to wait. */
HA_IN_ MPI_Request *ha_mpi_next_request(const ha_mpi_meeting *meeting) {
    return meeting->waits ? NULL : &meeting->request[meeting->requests];
}

/* Counts it, if it was made. Returns the code. */
HA_IN_ int ha_mpi_called(ha_mpi_meeting *meeting, int code) {
    if (!code && !meeting->waits) meeting->requests++;
    return code;
}

/* ---- broadcast -------------------------------------------------------------------------------- */

HA_IN_ int ha_mpi_bcast_part(ha_mpi_meeting *meeting, char *data, int n) {
    const MPI_Datatype type = meeting->part.base;
    const MPI_Comm comm = meeting->call.comm;
    MPI_Request *request = ha_mpi_next_request(meeting);
    return ha_mpi_called(meeting, request ? MPI_Ibcast(data, n, type, meeting->root, comm, request)
                                          : MPI_Bcast(data, n, type, meeting->root, comm));
}

/* As many calls as its numbers need. */
HA_IN_ int ha_mpi_bcast_run(ha_mpi_meeting *meeting) {
    const ha_mpi_side *side = &meeting->part;
    const int64_t most = HA_MPI_MOST_COUNT_;
    int code = MPI_SUCCESS, bytes = 1;
    (void)MPI_Type_size(side->base, &bytes);
    for (int64_t at = 0; at < side->units && !code; at += most) {
        const int64_t n = side->units - at < most ? side->units - at : most;
        code = ha_mpi_bcast_part(meeting, side->data + at * bytes, (int)n);
    }
    return code;
}

HA_IN_ ha_status ha_mpi_bcast_open(ha_mpi_meeting *meeting, const ha_mpi_agenda *agenda) {
    ha_status s = ha_mpi_side_of(&meeting->part, agenda->part,
                                 ha_mpi_is_root(meeting) ? HA_READ : HA_OVERWRITE, &meeting->call);
    ha_mpi_sign_meeting(meeting, &meeting->part, 1, s);
    return ha_mpi_open_agreed(meeting, NULL, s);
}

static const ha_mpi_collective ha_mpi_broadcast = {ha_mpi_bcast_open, ha_mpi_bcast_run,
                                                   "broadcasting"};

/* ---- reductions ------------------------------------------------------------------------------- */

/* Units of the result that are kept until they are copied to their place. */
HA_IN_ int64_t ha_mpi_result_units(const ha_mpi_meeting *meeting) {
    const int64_t n = meeting->part.units;
    return meeting->waits && n > HA_MPI_MOST_COUNT_ ? HA_MPI_MOST_COUNT_ : n;
}

/* Room for them. */
HA_IN_ ha_status ha_mpi_reduce_room(ha_mpi_meeting *meeting) {
    const size_t bytes = (size_t)ha_mpi_result_units(meeting) * meeting->part.type.size;
    if (meeting->root < 0 || meeting->root != meeting->rank) return HA_OK;
    meeting->result = (char *)HARRAY_MALLOC(bytes + 1);
    if (meeting->result) return HA_OK;
    return ha_mpi_fail(HA_ERR_MEMORY, &meeting->call, "no memory for the result");
}

HA_IN_ int ha_mpi_reduce_to_all(ha_mpi_meeting *meeting, char *data, int n) {
    const MPI_Datatype type = meeting->part.base;
    const MPI_Comm comm = meeting->call.comm;
    MPI_Request *request = ha_mpi_next_request(meeting);
    return request ? MPI_Iallreduce(MPI_IN_PLACE, data, n, type, meeting->op, comm, request)
                   : MPI_Allreduce(MPI_IN_PLACE, data, n, type, meeting->op, comm);
}

/* The root's result goes elsewhere first: MPICH 4.0 takes MPI_IN_PLACE for an address where the root is not rank 0. */
HA_IN_ int ha_mpi_reduce_to_root(ha_mpi_meeting *meeting, int64_t at, char *data, int n) {
    const size_t size = meeting->part.type.size;
    const MPI_Datatype type = meeting->part.base;
    const MPI_Comm comm = meeting->call.comm;
    MPI_Request *request = ha_mpi_next_request(meeting);
    char *result = meeting->result;
    if (request) {
        if (result) result += (size_t)at * size;
        return MPI_Ireduce(data, result, n, type, meeting->op, meeting->root, comm, request);
    }
    const int code = MPI_Reduce(data, result, n, type, meeting->op, meeting->root, comm);
    if (!code && result) memcpy(data, result, (size_t)n * size);
    return code;
}

/* half and bfloat16 get an operation of their own. */
HA_IN_ int ha_mpi_reduce_known(ha_mpi_meeting *meeting) {
    const ha_dtype type = meeting->part.number;
    MPI_Op own;
    if (!ha_mpi_is_small_float(type)) return MPI_SUCCESS;
    const int code = MPI_Op_create(ha_mpi_small_function(type, meeting->op), 1, &own);
    if (code) return code;
    meeting->op = own;
    meeting->op_is_made = 1;
    return MPI_SUCCESS;
}

HA_IN_ int ha_mpi_reduce_run(ha_mpi_meeting *meeting) {
    const ha_mpi_side *side = &meeting->part;
    const int64_t most = HA_MPI_MOST_COUNT_;
    int code = ha_mpi_reduce_known(meeting);
    for (int64_t at = 0; at < side->units && !code; at += most) {
        const int n = (int)(side->units - at < most ? side->units - at : most);
        char *const data = side->data + (size_t)at * side->type.size;
        code = ha_mpi_called(meeting, meeting->root < 0
                                          ? ha_mpi_reduce_to_all(meeting, data, n)
                                          : ha_mpi_reduce_to_root(meeting, at, data, n));
    }
    return code;
}

HA_IN_ ha_status ha_mpi_check_op(const ha_mpi_side *side, MPI_Op op, const ha_mpi_call *call) {
    if (op == MPI_OP_NULL) return ha_mpi_fail(HA_ERR_ARGUMENT, call, "no operation");
    if (side->base == MPI_BYTE)
        return ha_mpi_fail(HA_ERR_ARGUMENT, call, "elements of %s cannot be reduced",
                           side->type.name);
    if (!ha_mpi_is_small_float(side->number) || ha_mpi_small_function(side->number, op))
        return HA_OK;
    return ha_mpi_fail(HA_ERR_ARGUMENT, call,
                       "of %s there are MPI_SUM, MPI_PROD, MPI_MIN and MPI_MAX only",
                       side->type.name);
}

/* The same text on all ranks. */
HA_IN_ const char *ha_mpi_op_name(MPI_Op op) {
    const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_LAND,
                          MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
    static const char *const names[] = {"MPI_SUM", "MPI_PROD", "MPI_MIN",  "MPI_MAX", "MPI_LAND",
                                        "MPI_LOR", "MPI_LXOR", "MPI_BAND", "MPI_BOR", "MPI_BXOR"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (op == ops[i]) return names[i];
    return "another";
}

HA_IN_ ha_status ha_mpi_reduce_open(ha_mpi_meeting *meeting, const ha_mpi_agenda *agenda) {
    ha_mpi_side *side = &meeting->part;
    ha_status s = ha_mpi_side_of(side, agenda->part, ha_mpi_is_root(meeting) ? HA_WRITE : HA_READ,
                                 &meeting->call);
    side->is_reduced = 1;
    meeting->op = agenda->op;
    if (!s) s = ha_mpi_check_op(side, agenda->op, &meeting->call);
    if (!s) s = ha_mpi_reduce_room(meeting);
    ha_mpi_sign_meeting(meeting, side, 1, s);
    snprintf(meeting->sign.detail, sizeof meeting->sign.detail, "%s", ha_mpi_op_name(agenda->op));
    return ha_mpi_open_agreed(meeting, NULL, s);
}

static const ha_mpi_collective ha_mpi_reduction = {ha_mpi_reduce_open, ha_mpi_reduce_run,
                                                   "reducing"};

/* ---- gathering and scattering ----------------------------------------------------------------- */

/* How many units of MPI's type an element is. */
HA_IN_ int64_t ha_mpi_units_each(const ha_mpi_side *side) {
    return side->base == MPI_BYTE ? (int64_t)side->type.size : 1;
}

HA_IN_ ha_status ha_mpi_share(ha_mpi_meeting *meeting, const int64_t *counts) {
    const int64_t total = meeting->all.count, n = meeting->ranks;
    const int64_t each = ha_mpi_units_each(&meeting->all);
    int64_t sum = 0;
    for (int r = 0; r < n; r++) {
        const int64_t count = counts ? counts[r] : total / n;
        if (count < 0 || count > total - sum)
            return ha_mpi_fail(HA_ERR_ARGUMENT, &meeting->call,
                               "the counts do not come to the %lld elements of all ranks",
                               (long long)total);
        meeting->number[r] = (int)(count * each);
        meeting->at[r] = (int)(sum * each);
        sum += count;
    }
    if (sum == total) return HA_OK;
    return ha_mpi_fail(HA_ERR_ARGUMENT, &meeting->call,
                       "the counts of %lld ranks do not come to the %lld elements of all ranks",
                       (long long)n, (long long)total);
}

/* The part is that of this rank. */
HA_IN_ ha_status ha_mpi_check_part(const ha_mpi_meeting *meeting) {
    const ha_mpi_side *all = &meeting->all, *part = &meeting->part;
    if (all->type.size != part->type.size || strcmp(all->type.name, part->type.name))
        return ha_mpi_fail(HA_ERR_ARGUMENT, &meeting->call,
                           "the part has elements of %s, the whole of %s", part->type.name,
                           all->type.name);
    if (meeting->number[meeting->rank] == part->units) return HA_OK;
    return ha_mpi_fail(
        HA_ERR_ARGUMENT, &meeting->call,
        "the part of rank %d has %lld elements, of %lld of all ranks that is another share",
        meeting->rank, (long long)part->count, (long long)all->count);
}

HA_IN_ ha_status ha_mpi_parts_of_all(ha_mpi_meeting *meeting, const ha_mpi_agenda *agenda) {
    ha_status s = ha_mpi_side_of(&meeting->all, agenda->all, agenda->how, &meeting->call);
    if (s) return s;
    if (meeting->all.units > HA_MPI_MOST_COUNT_)
        return ha_mpi_fail(HA_ERR_UNSUPPORTED, &meeting->call,
                           "MPI counts in ints here, and %lld elements are more",
                           (long long)meeting->all.count);
    meeting->number = (int *)HARRAY_MALLOC(2 * (size_t)meeting->ranks * sizeof(int));
    if (!meeting->number) return ha_mpi_fail(HA_ERR_MEMORY, &meeting->call, "no memory for counts");
    meeting->at = meeting->number + meeting->ranks;
    s = ha_mpi_share(meeting, agenda->counts);
    return s ? s : ha_mpi_check_part(meeting);
}

/* How it stands with the part, and on the root with all. */
HA_IN_ ha_status ha_mpi_parts_of(ha_mpi_meeting *meeting, const ha_mpi_agenda *agenda) {
    ha_mpi_side *part = &meeting->part;
    meeting->has_all = ha_mpi_is_root(meeting);
    ha_status s = ha_mpi_side_of(part, agenda->part,
                                 agenda->how == HA_READ ? HA_OVERWRITE : HA_READ, &meeting->call);
    if (!s && part->units > HA_MPI_MOST_COUNT_)
        s = ha_mpi_fail(HA_ERR_UNSUPPORTED, &meeting->call,
                        "MPI counts in ints here, and %lld elements are more",
                        (long long)part->count);
    return s || !meeting->has_all ? s : ha_mpi_parts_of_all(meeting, agenda);
}

HA_IN_ ha_status ha_mpi_parts_open(ha_mpi_meeting *meeting, const ha_mpi_agenda *agenda) {
    ha_status s = ha_mpi_parts_of(meeting, agenda);
    ha_mpi_sign_meeting(meeting, &meeting->part, 0, s); /* parts may have any extents */
    if (meeting->has_all && !s && !agenda->counts)
        meeting->sign.share = meeting->all.count / meeting->ranks;
    return ha_mpi_open_agreed(meeting, meeting->has_all ? agenda->counts : NULL, s);
}

HA_IN_ int ha_mpi_gather_to_all(ha_mpi_meeting *m) {
    const ha_mpi_side *part = &m->part;
    const int n = (int)part->units;
    const MPI_Datatype type = part->base;
    MPI_Request *request = ha_mpi_next_request(m);
    return request ? MPI_Iallgatherv(part->data, n, type, m->all.data, m->number, m->at, type,
                                     m->call.comm, request)
                   : MPI_Allgatherv(part->data, n, type, m->all.data, m->number, m->at, type,
                                    m->call.comm);
}

HA_IN_ int ha_mpi_gather_to_root(ha_mpi_meeting *m) {
    const ha_mpi_side *part = &m->part;
    const int n = (int)part->units;
    const MPI_Datatype type = part->base;
    MPI_Request *request = ha_mpi_next_request(m);
    return request ? MPI_Igatherv(part->data, n, type, m->all.data, m->number, m->at, type, m->root,
                                  m->call.comm, request)
                   : MPI_Gatherv(part->data, n, type, m->all.data, m->number, m->at, type, m->root,
                                 m->call.comm);
}

HA_IN_ int ha_mpi_gather_run(ha_mpi_meeting *meeting) {
    return ha_mpi_called(meeting, meeting->root < 0 ? ha_mpi_gather_to_all(meeting)
                                                    : ha_mpi_gather_to_root(meeting));
}

HA_IN_ int ha_mpi_scatter_run(ha_mpi_meeting *m) {
    const ha_mpi_side *part = &m->part;
    const int n = (int)part->units;
    const MPI_Datatype type = part->base;
    MPI_Request *request = ha_mpi_next_request(m);
    return ha_mpi_called(m, request ? MPI_Iscatterv(m->all.data, m->number, m->at, type, part->data,
                                                    n, type, m->root, m->call.comm, request)
                                    : MPI_Scatterv(m->all.data, m->number, m->at, type, part->data,
                                                   n, type, m->root, m->call.comm));
}

static const ha_mpi_collective ha_mpi_gathering = {ha_mpi_parts_open, ha_mpi_gather_run,
                                                   "gathering"};
static const ha_mpi_collective ha_mpi_scattering = {ha_mpi_parts_open, ha_mpi_scatter_run,
                                                    "scattering"};

/* ---- everything to everybody ------------------------------------------------------------------ */

HA_IN_ ha_status ha_mpi_alltoall_sides(ha_mpi_meeting *meeting, const ha_mpi_agenda *agenda) {
    const ha_mpi_side *x = &meeting->part, *y = &meeting->all;
    meeting->has_all = 1;
    ha_status s = ha_mpi_side_of(&meeting->part, agenda->part, HA_READ, &meeting->call);
    if (!s) s = ha_mpi_side_of(&meeting->all, agenda->all, HA_OVERWRITE, &meeting->call);
    if (s) return s;
    if (x->type.size == y->type.size && !strcmp(x->type.name, y->type.name) &&
        x->count == y->count && x->count % meeting->ranks == 0 &&
        x->units / meeting->ranks <= HA_MPI_MOST_COUNT_)
        return HA_OK;
    return ha_mpi_fail(
        HA_ERR_ARGUMENT, &meeting->call,
        "%lld elements of %s cannot become %lld of %s, the same number from each of %d "
        "ranks",
        (long long)x->count, x->type.name, (long long)y->count, y->type.name, meeting->ranks);
}

HA_IN_ ha_status ha_mpi_alltoall_open(ha_mpi_meeting *meeting, const ha_mpi_agenda *agenda) {
    ha_status s = ha_mpi_alltoall_sides(meeting, agenda);
    ha_mpi_sign_meeting(meeting, &meeting->part, 0, s);
    meeting->sign.share = meeting->sign.count;
    return ha_mpi_open_agreed(meeting, NULL, s);
}

HA_IN_ int ha_mpi_alltoall_run(ha_mpi_meeting *m) {
    const int n = (int)(m->part.units / m->ranks);
    const MPI_Datatype type = m->part.base;
    MPI_Request *request = ha_mpi_next_request(m);
    return ha_mpi_called(
        m, request
               ? MPI_Ialltoall(m->part.data, n, type, m->all.data, n, type, m->call.comm, request)
               : MPI_Alltoall(m->part.data, n, type, m->all.data, n, type, m->call.comm));
}

static const ha_mpi_collective ha_mpi_exchanging = {ha_mpi_alltoall_open, ha_mpi_alltoall_run,
                                                    "exchanging"};

#endif
