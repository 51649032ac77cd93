/* Collectives of views: each opens what it has, as for a message, and calls MPI's. */
#ifndef HARRAY_IMPL_MPI_COLLECTIVE_H
#define HARRAY_IMPL_MPI_COLLECTIVE_H

#include "agree.h"
#include "traced.h"

/* A call, and this rank's place in it. */
typedef struct ha_mpi_meeting {
    ha_mpi_call call;
    int rank, ranks, root; /* root -1: there is none */
    ha_mpi_signature sign;
    char *result;   /* of a reduction on its root */
    uint64_t begun; /* 0: nobody listens */
    int64_t bytes;  /* of this rank's part */
} ha_mpi_meeting;

HA_IN_ ha_status ha_mpi_meet(ha_mpi_meeting *meeting, const char *operation, const char *site,
                             MPI_Comm comm, int root) {
    *meeting = (ha_mpi_meeting){
        .call = {operation, site, comm}, .root = root, .begun = ha_mpi_moment()};
    ha_status s = ha_mpi_enter(&meeting->call);
    if (!s) s = ha_mpi_told(&meeting->call, MPI_Comm_size(comm, &meeting->ranks), "MPI_Comm_size");
    if (!s) s = ha_mpi_told(&meeting->call, MPI_Comm_rank(comm, &meeting->rank), "MPI_Comm_rank");
    if (root == HA_MPI_NO_ROOT_) meeting->root = -1;
    if (s || root == HA_MPI_NO_ROOT_ || (root >= 0 && root < meeting->ranks)) return s;
    return ha_mpi_fail(HA_ERR_ARGUMENT, &meeting->call, "there is no rank %d among %d", root,
                       meeting->ranks);
}

HA_IN_ int ha_mpi_is_root(const ha_mpi_meeting *meeting) {
    return meeting->root < 0 || meeting->root == meeting->rank;
}

/* It is over: s is how it went, and returned. */
HA_IN_ ha_status ha_mpi_adjourn(const ha_mpi_meeting *meeting, ha_status s) {
    if (!s) ha_mpi_note_collective(&meeting->call, meeting->bytes, meeting->begun);
    return s;
}

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

/* Hears the others, and opens a side and perhaps another one. s: whether they are sound. On failure nothing is open. */
HA_IN_ ha_status ha_mpi_open_agreed(ha_mpi_meeting *meeting, ha_mpi_side *side, ha_mpi_side *other,
                                    const int64_t *counts, ha_status s) {
    const ha_mpi_call *call = &meeting->call;
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

/* ---- broadcast -------------------------------------------------------------------------------- */

HA_IN_ int ha_mpi_bcast_all(const ha_mpi_meeting *meeting, const ha_mpi_side *side) {
    const int64_t most = HA_MPI_MOST_COUNT_;
    int code = MPI_SUCCESS, bytes = 1;
    (void)MPI_Type_size(side->base, &bytes);
    for (int64_t at = 0; at < side->units && !code; at += most) {
        const int64_t n = side->units - at < most ? side->units - at : most;
        code = MPI_Bcast(side->data + at * bytes, (int)n, side->base, meeting->root,
                         meeting->call.comm);
    }
    return code;
}

HA_IN_ ha_status ha_mpi_bcast_view(ha_mpi_meeting *meeting, const ha_mpi_part *x) {
    ha_mpi_side side;
    ha_status s = ha_mpi_side_of(&side, x, ha_mpi_is_root(meeting) ? HA_READ : HA_OVERWRITE,
                                 &meeting->call);
    ha_mpi_sign_meeting(meeting, &side, 1, s);
    s = ha_mpi_open_agreed(meeting, &side, NULL, NULL, s);
    if (s) return s;
    s = ha_mpi_told(&meeting->call, ha_mpi_bcast_all(meeting, &side), "MPI_Bcast");
    ha_status closed = ha_mpi_side_close(&side, !s, &meeting->call);
    return ha_mpi_adjourn(meeting, s ? s : closed);
}

ha_status ha_mpi_bcast_(ha_mpi_part x, int root, MPI_Comm comm, const char *site) {
    HA_TELLS_EVENTS_;
    ha_mpi_meeting meeting;
    site = ha_from(site);
    ha_status s = ha_mpi_meet(&meeting, "ha_mpi_bcast", site, comm, root);
    HA_FROM(site) if (!s) s = ha_mpi_bcast_view(&meeting, &x);
    return s;
}

/* ---- reductions ------------------------------------------------------------------------------- */

/* The root's result goes elsewhere first: MPICH 4.0 takes MPI_IN_PLACE for an address where the root is not rank 0. */
HA_IN_ int ha_mpi_reduce_on_root(const ha_mpi_meeting *meeting, char *data, int n,
                                 MPI_Datatype type, MPI_Op op) {
    int size = 1;
    (void)MPI_Type_size(type, &size);
    const int code = MPI_Reduce(data, meeting->result, n, type, op, meeting->root,
                                meeting->call.comm);
    if (!code) memcpy(data, meeting->result, (size_t)n * (size_t)size);
    return code;
}

/* Room for the result of a part. */
HA_IN_ ha_status ha_mpi_reduce_room(ha_mpi_meeting *meeting, const ha_mpi_side *side) {
    const int64_t n = side->units < HA_MPI_MOST_COUNT_ ? side->units : HA_MPI_MOST_COUNT_;
    if (meeting->root < 0 || meeting->root != meeting->rank) return HA_OK;
    meeting->result = (char *)HARRAY_MALLOC((size_t)n * side->type.size + 1);
    if (meeting->result) return HA_OK;
    return ha_mpi_fail(HA_ERR_MEMORY, &meeting->call, "no memory for the result");
}

HA_IN_ int ha_mpi_reduce_part(const ha_mpi_meeting *meeting, char *data, int n, MPI_Datatype type,
                              MPI_Op op) {
    const MPI_Comm comm = meeting->call.comm;
    if (meeting->root < 0) return MPI_Allreduce(MPI_IN_PLACE, data, n, type, op, comm);
    if (meeting->root == meeting->rank) return ha_mpi_reduce_on_root(meeting, data, n, type, op);
    return MPI_Reduce(data, NULL, n, type, op, meeting->root, comm);
}

HA_IN_ int ha_mpi_reduce_all(const ha_mpi_meeting *meeting, const ha_mpi_side *side, MPI_Op op) {
    const int64_t most = HA_MPI_MOST_COUNT_;
    int code = MPI_SUCCESS;
    for (int64_t at = 0; at < side->units && !code; at += most) {
        const int64_t n = side->units - at < most ? side->units - at : most;
        code = ha_mpi_reduce_part(meeting, side->data + (size_t)at * side->type.size, (int)n,
                                  side->base, op);
    }
    return code;
}

/* half and bfloat16 get an operation of their own. */
HA_IN_ int ha_mpi_reduce_known(const ha_mpi_meeting *meeting, const ha_mpi_side *side, MPI_Op op) {
    MPI_Op own;
    if (!ha_mpi_is_small_float(side->number)) return ha_mpi_reduce_all(meeting, side, op);
    int code = MPI_Op_create(ha_mpi_small_function(side->number, op), 1, &own);
    if (code) return code;
    code = ha_mpi_reduce_all(meeting, side, own);
    (void)MPI_Op_free(&own);
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

HA_IN_ ha_status ha_mpi_reduce_view(ha_mpi_meeting *meeting, const ha_mpi_part *x, MPI_Op op) {
    ha_mpi_side side;
    ha_status s = ha_mpi_side_of(&side, x, ha_mpi_is_root(meeting) ? HA_WRITE : HA_READ,
                                 &meeting->call);
    side.is_reduced = 1;
    if (!s) s = ha_mpi_check_op(&side, op, &meeting->call);
    if (!s) s = ha_mpi_reduce_room(meeting, &side);
    ha_mpi_sign_meeting(meeting, &side, 1, s);
    snprintf(meeting->sign.detail, sizeof meeting->sign.detail, "%s", ha_mpi_op_name(op));
    s = ha_mpi_open_agreed(meeting, &side, NULL, NULL, s);
    if (s) return s;
    s = ha_mpi_told(&meeting->call, ha_mpi_reduce_known(meeting, &side, op), "reducing");
    ha_status closed = ha_mpi_side_close(&side, !s, &meeting->call);
    return ha_mpi_adjourn(meeting, s ? s : closed);
}

ha_status ha_mpi_reduce_(ha_mpi_part x, MPI_Op op, int root, MPI_Comm comm, const char *site) {
    HA_TELLS_EVENTS_;
    ha_mpi_meeting meeting;
    site = ha_from(site);
    ha_status s = ha_mpi_meet(
        &meeting, root == HA_MPI_NO_ROOT_ ? "ha_mpi_allreduce" : "ha_mpi_reduce", site, comm, root);
    HA_FROM(site) if (!s) s = ha_mpi_reduce_view(&meeting, &x, op);
    HARRAY_FREE(meeting.result);
    return s;
}

/* ---- gathering and scattering ----------------------------------------------------------------- */

/* The elements of all ranks, and those of this one; how many units are whose, and where. */
typedef struct ha_mpi_sharing {
    ha_mpi_side all, part;
    int has_all;
    int *number, *at; /* one allocation */
} ha_mpi_sharing;

/* How many units of MPI's type an element is. */
HA_IN_ int64_t ha_mpi_units_each(const ha_mpi_side *side) {
    return side->base == MPI_BYTE ? (int64_t)side->type.size : 1;
}

HA_IN_ ha_status ha_mpi_share(ha_mpi_sharing *sharing, const ha_mpi_meeting *meeting,
                              const int64_t *counts) {
    const int64_t total = sharing->all.count, n = meeting->ranks;
    const int64_t each = ha_mpi_units_each(&sharing->all);
    int64_t sum = 0;
    for (int r = 0; r < n; r++) {
        const int64_t count = counts ? counts[r] : total / n;
        if (count < 0 || count > total - sum)
            return ha_mpi_fail(HA_ERR_ARGUMENT, &meeting->call,
                               "the counts do not come to the %lld elements of all ranks",
                               (long long)total);
        sharing->number[r] = (int)(count * each);
        sharing->at[r] = (int)(sum * each);
        sum += count;
    }
    if (sum == total) return HA_OK;
    return ha_mpi_fail(HA_ERR_ARGUMENT, &meeting->call,
                       "the counts of %lld ranks do not come to the %lld elements of all ranks",
                       (long long)n, (long long)total);
}

/* The part is that of this rank. */
HA_IN_ ha_status ha_mpi_check_part(const ha_mpi_sharing *sharing, const ha_mpi_meeting *meeting) {
    const ha_mpi_side *all = &sharing->all, *part = &sharing->part;
    if (all->type.size != part->type.size || strcmp(all->type.name, part->type.name))
        return ha_mpi_fail(HA_ERR_ARGUMENT, &meeting->call,
                           "the part has elements of %s, the whole of %s", part->type.name,
                           all->type.name);
    if (sharing->number[meeting->rank] == part->units) return HA_OK;
    return ha_mpi_fail(
        HA_ERR_ARGUMENT, &meeting->call,
        "the part of rank %d has %lld elements, of %lld of all ranks that is another share",
        meeting->rank, (long long)part->count, (long long)all->count);
}

HA_IN_ ha_status ha_mpi_sharing_of_all(ha_mpi_sharing *sharing, const ha_mpi_meeting *meeting,
                                       const ha_mpi_part *all, unsigned how,
                                       const int64_t *counts) {
    ha_status s = ha_mpi_side_of(&sharing->all, all, how, &meeting->call);
    if (s) return s;
    if (sharing->all.units > HA_MPI_MOST_COUNT_)
        return ha_mpi_fail(HA_ERR_UNSUPPORTED, &meeting->call,
                           "MPI counts in ints here, and %lld elements are more",
                           (long long)sharing->all.count);
    sharing->number = (int *)HARRAY_MALLOC(2 * (size_t)meeting->ranks * sizeof(int));
    if (!sharing->number) return ha_mpi_fail(HA_ERR_MEMORY, &meeting->call, "no memory for counts");
    sharing->at = sharing->number + meeting->ranks;
    s = ha_mpi_share(sharing, meeting, counts);
    return s ? s : ha_mpi_check_part(sharing, meeting);
}

HA_IN_ ha_status ha_mpi_sharing_of(ha_mpi_sharing *sharing, const ha_mpi_meeting *meeting,
                                   const ha_mpi_part *all, unsigned how, const ha_mpi_part *part,
                                   const int64_t *counts) {
    memset(sharing, 0, sizeof *sharing);
    sharing->has_all = ha_mpi_is_root(meeting);
    ha_status s = ha_mpi_side_of(&sharing->part, part, how == HA_READ ? HA_OVERWRITE : HA_READ,
                                 &meeting->call);
    if (!s && sharing->part.units > HA_MPI_MOST_COUNT_)
        s = ha_mpi_fail(HA_ERR_UNSUPPORTED, &meeting->call,
                        "MPI counts in ints here, and %lld elements are more",
                        (long long)sharing->part.count);
    if (s || !sharing->has_all) return s;
    return ha_mpi_sharing_of_all(sharing, meeting, all, how, counts);
}

HA_IN_ ha_status ha_mpi_sharing_open(ha_mpi_sharing *sharing, ha_mpi_meeting *meeting,
                                     const int64_t *counts, ha_status s) {
    ha_mpi_sign_meeting(meeting, &sharing->part, 0, s); /* parts may have any extents */
    if (sharing->has_all && !s && !counts)
        meeting->sign.share = sharing->all.count / meeting->ranks;
    return ha_mpi_open_agreed(meeting, &sharing->part, sharing->has_all ? &sharing->all : NULL,
                              sharing->has_all ? counts : NULL, s);
}

HA_IN_ ha_status ha_mpi_sharing_close(ha_mpi_sharing *sharing, const ha_mpi_meeting *meeting,
                                      ha_status s) {
    ha_status part = ha_mpi_side_close(&sharing->part, !s, &meeting->call), all = HA_OK;
    if (sharing->has_all) all = ha_mpi_side_close(&sharing->all, !s, &meeting->call);
    if (s) return s;
    return part ? part : all;
}

HA_IN_ int ha_mpi_gather_all(const ha_mpi_sharing *sharing, const ha_mpi_meeting *meeting) {
    const ha_mpi_side *part = &sharing->part;
    const MPI_Comm comm = meeting->call.comm;
    if (meeting->root < 0)
        return MPI_Allgatherv(part->data, (int)part->units, part->base, sharing->all.data,
                              sharing->number, sharing->at, part->base, comm);
    return MPI_Gatherv(part->data, (int)part->units, part->base, sharing->all.data, sharing->number,
                       sharing->at, part->base, meeting->root, comm);
}

HA_IN_ int ha_mpi_scatter_all(const ha_mpi_sharing *sharing, const ha_mpi_meeting *meeting) {
    const ha_mpi_side *part = &sharing->part;
    return MPI_Scatterv(sharing->all.data, sharing->number, sharing->at, part->base, part->data,
                        (int)part->units, part->base, meeting->root, meeting->call.comm);
}

/* how: what is done with `all`. */
HA_IN_ ha_status ha_mpi_gather_or_scatter(ha_mpi_meeting *meeting, const ha_mpi_part *all,
                                          unsigned how, const ha_mpi_part *part,
                                          const int64_t *counts) {
    ha_mpi_sharing sharing;
    ha_status s = ha_mpi_sharing_of(&sharing, meeting, all, how, part, counts);
    s = ha_mpi_sharing_open(&sharing, meeting, counts, s);
    if (!s) {
        const int code = how == HA_READ ? ha_mpi_scatter_all(&sharing, meeting)
                                        : ha_mpi_gather_all(&sharing, meeting);
        s = ha_mpi_told(&meeting->call, code, how == HA_READ ? "scattering" : "gathering");
        s = ha_mpi_adjourn(meeting, ha_mpi_sharing_close(&sharing, meeting, s));
    }
    HARRAY_FREE(sharing.number);
    return s;
}

ha_status ha_mpi_gather_(ha_mpi_part all, ha_mpi_part part, const int64_t *counts, int root,
                         MPI_Comm comm, const char *site) {
    HA_TELLS_EVENTS_;
    ha_mpi_meeting meeting;
    site = ha_from(site);
    ha_status s = ha_mpi_meet(
        &meeting, root == HA_MPI_NO_ROOT_ ? "ha_mpi_allgather" : "ha_mpi_gather", site, comm, root);
    HA_FROM(site) if (!s) s = ha_mpi_gather_or_scatter(&meeting, &all, HA_OVERWRITE, &part, counts);
    return s;
}

ha_status ha_mpi_scatter_(ha_mpi_part part, ha_mpi_part all, const int64_t *counts, int root,
                          MPI_Comm comm, const char *site) {
    HA_TELLS_EVENTS_;
    ha_mpi_meeting meeting;
    site = ha_from(site);
    ha_status s = ha_mpi_meet(&meeting, "ha_mpi_scatter", site, comm, root);
    HA_FROM(site) if (!s) s = ha_mpi_gather_or_scatter(&meeting, &all, HA_READ, &part, counts);
    return s;
}

/* ---- everything to everybody ------------------------------------------------------------------ */

HA_IN_ ha_status ha_mpi_alltoall_sides(ha_mpi_sharing *sharing, const ha_mpi_meeting *meeting,
                                       const ha_mpi_part *to, const ha_mpi_part *from) {
    memset(sharing, 0, sizeof *sharing);
    sharing->has_all = 1;
    ha_status s = ha_mpi_side_of(&sharing->part, from, HA_READ, &meeting->call);
    if (!s) s = ha_mpi_side_of(&sharing->all, to, HA_OVERWRITE, &meeting->call);
    if (s) return s;
    const ha_mpi_side *x = &sharing->part, *y = &sharing->all;
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

HA_IN_ ha_status ha_mpi_alltoall_views(ha_mpi_meeting *meeting, const ha_mpi_part *to,
                                       const ha_mpi_part *from) {
    ha_mpi_sharing sharing;
    ha_status s = ha_mpi_alltoall_sides(&sharing, meeting, to, from);
    ha_mpi_sign_meeting(meeting, &sharing.part, 0, s);
    meeting->sign.share = meeting->sign.count;
    s = ha_mpi_open_agreed(meeting, &sharing.part, &sharing.all, NULL, s);
    if (s) return s;
    const int n = (int)(sharing.part.units / meeting->ranks);
    s = ha_mpi_told(&meeting->call,
                    MPI_Alltoall(sharing.part.data, n, sharing.part.base, sharing.all.data, n,
                                 sharing.all.base, meeting->call.comm),
                    "MPI_Alltoall");
    return ha_mpi_adjourn(meeting, ha_mpi_sharing_close(&sharing, meeting, s));
}

ha_status ha_mpi_alltoall_(ha_mpi_part to, ha_mpi_part from, MPI_Comm comm, const char *site) {
    HA_TELLS_EVENTS_;
    ha_mpi_meeting meeting;
    site = ha_from(site);
    ha_status s = ha_mpi_meet(&meeting, "ha_mpi_alltoall", site, comm, HA_MPI_NO_ROOT_);
    HA_FROM(site) if (!s) s = ha_mpi_alltoall_views(&meeting, &to, &from);
    return s;
}

#endif
