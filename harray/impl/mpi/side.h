/* One side of a message: a view, or fields, as elements without gaps in memory of the host, or of a device whose memory
 * MPI takes. In place where they lie so, or in long rows; else in a buffer. */
#ifndef HARRAY_IMPL_MPI_SIDE_H
#define HARRAY_IMPL_MPI_SIDE_H

#include "records.h"
#include "rows.h"

typedef struct ha_mpi_side {
    ha_mpi_part part;
    unsigned how;        /* HA_READ, HA_WRITE (read and written) or HA_OVERWRITE */
    ha_type type;        /* of an element; of fields: a byte */
    ha_dtype number;     /* HA_DTYPE_NONE: it is none */
    uint64_t digest;     /* of the types of fields, in order */
    int64_t count, size; /* elements, and bytes */
    MPI_Datatype base;   /* MPI has `units` of these */
    int64_t units;
    int in_place;
    int is_in_rows;      /* opened in place, and has gaps */
    int is_reduced;      /* MPI computes with them, on the host */
    ha_context *context; /* where it is packed */
    ha_context *memory;  /* whose memory MPI gets; NULL: the host's */
    darray buffer;       /* its array is NULL: there is none */
    int is_brief;     /* the call ends it, and opens nothing else meanwhile: no token is needed */
    ha_access access; /* of the view or of the buffer, if it is brief */
    ha_token token;   /* else */
    char *data;       /* NULL without elements */
} ha_mpi_side;

/* ---- what it is -------------------------------------------------------------------------------- */

HA_IN_ ha_context *ha_mpi_place(const darray *view) {
    ha_context *c = ha_context_current();
    if (c) return c;
    if (ha_view_is_valid_at(view, ha_host())) return ha_host();
    return ha_array_valid_context(view->array);
}

/* Of a view in place: where its values are, rather the host; or where they are to come to. */
HA_IN_ ha_context *ha_mpi_place_of_values(const darray *view, unsigned how) {
    ha_context *c = ha_context_current();
    if (c && (how == HA_OVERWRITE || ha_view_is_valid_at(view, c))) return c;
    if (ha_view_is_valid_at(view, ha_host())) return ha_host();
    c = ha_array_valid_context(view->array);
    return how == HA_OVERWRITE || ha_view_is_valid_at(view, c) ? c : ha_host();
}

/* Whose memory MPI gets of what is at c. */
HA_IN_ ha_context *ha_mpi_memory_at(const ha_mpi_side *side, ha_context *c) {
    return !side->is_reduced && ha_mpi_takes(c) ? c : NULL;
}

HA_IN_ ha_status ha_mpi_side_of_fields(ha_mpi_side *side, const ha_mpi_call *call) {
    ha_mpi_leaves leaves;
    ha_status s = ha_mpi_leaves_of(&leaves, &side->part, call);
    const int64_t n = s ? -1 : ha_mpi_box_size(&side->part, call);
    if (n < 0) return HA_ERR_ARGUMENT;
    side->type = (ha_type){"fields", 1};
    side->digest = leaves.digest;
    side->count = side->size = side->units = n * leaves.bytes;
    side->base = MPI_BYTE;
    return HA_OK;
}

HA_IN_ ha_status ha_mpi_side_of_view(ha_mpi_side *side, const ha_mpi_call *call) {
    const darray *view = &side->part.view;
    ha_status s = ha_view_check_opened(view, side->how, call->operation, call->site);
    if (s) return s;
    side->type = ha_array_type(view->array);
    side->number = view->type;
    side->count = darray_size(*view);
    side->size = side->count * (int64_t)side->type.size;
    side->base = ha_mpi_type_of(view->type);
    side->units = side->base == MPI_BYTE ? side->size : side->count;
    side->in_place = darray_is_contiguous(*view, HA_ROW_MAJOR);
    return HA_OK;
}

/* Nothing is opened yet. */
HA_IN_ ha_status ha_mpi_side_of(ha_mpi_side *side, const ha_mpi_part *part, unsigned how,
                                const ha_mpi_call *call) {
    memset(side, 0, sizeof *side);
    side->part = *part;
    side->how = how;
    side->base = MPI_BYTE;
    return part->records ? ha_mpi_side_of_fields(side, call) : ha_mpi_side_of_view(side, call);
}

/* ---- opening ----------------------------------------------------------------------------------- */

/* The bytes that transfers of an array have moved so far. */
HA_IN_ uint64_t ha_mpi_bytes_of(const darray *x) {
    return __atomic_load_n(&x->array->statistics.bytes, __ATOMIC_RELAXED);
}

/* The view or the buffer, where MPI gets it. A device has done then all that comes before, as MPI knows nothing of its
 * queues. */
HA_IN_ ha_status ha_mpi_side_hold(ha_mpi_side *side, const darray *x, unsigned how) {
    ha_access v; /* without a span */
    const uint64_t before = ha_mpi_bytes_of(x);
    memset(&v, 0, sizeof v);
    ha_status s = ha_open_darray(&v, x, side->memory ? side->memory : ha_host(), how, "ha_open",
                                 HA_SITE); /* what it covers has been checked */
    if (s) return s;
    if (side->memory) s = ha_wait(&v);
    HA_MPI_MOVED_(staged_bytes, ha_mpi_bytes_of(x) - before);
    side->data = (char *)v.data;
    if (!s && side->is_brief) {
        side->access = v;
        return HA_OK;
    }
    if (!s) s = ha_detach(&side->token, &v);
    if (s) HA_IGNORE(ha_close(&v));
    return s;
}

HA_IN_ ha_status ha_mpi_side_hold_view(ha_mpi_side *side) {
    const darray *view = &side->part.view;
    if (ha_mpi_may_take())
        side->memory = ha_mpi_memory_at(side, ha_mpi_place_of_values(view, side->how));
    return ha_mpi_side_hold(side, view, side->how);
}

/* Of a message that is sent or received at once, without signatures, whose rows are on the host. */
HA_IN_ int ha_mpi_goes_in_rows(const ha_mpi_side *side) {
    const darray *view = &side->part.view;
    return side->is_brief && !ha_mpi_seconds() && ha_mpi_has_rows(view, (int64_t)side->type.size) &&
           ha_mpi_place(view) == ha_host();
}

HA_IN_ ha_status ha_mpi_side_pack(ha_mpi_side *side) {
    const darray *view = &side->part.view;
    side->context = ha_mpi_place(view);
    side->memory = ha_mpi_memory_at(side, side->context);
    if (side->how == HA_OVERWRITE) {
        side->buffer = darray_new_(HA_ROW_MAJOR, side->type, view->rank, view->extent,
                                   side->context);
        side->buffer.type = side->buffer.array ? view->type : HA_DTYPE_NONE;
    } else {
        const uint64_t before = ha_mpi_bytes_of(view);
        side->buffer = darray_contiguous_(*view, HA_ROW_MAJOR, side->context, NULL);
        HA_MPI_MOVED_(staged_bytes, ha_mpi_bytes_of(view) - before);
        HA_MPI_MOVED_(packed_bytes, side->size);
    }
    if (!side->buffer.array) return ha_latest_status;
    ha_array_set_name(side->buffer.array, "MPI buffer");
    return ha_mpi_side_hold(side, &side->buffer, side->how);
}

/* Where a device has fields that it packs, or is to get them; else the host. */
HA_IN_ ha_context *ha_mpi_place_of_fields(const ha_mpi_side *side) {
    const ha_mpi_part *part = &side->part;
    ha_context *c = ha_context_current();
    if (!c && ha_records_box_is_valid(part->records, ha_host(), part->paths, &part->box))
        return ha_host();
    ha_array *a = c ? NULL : ha_records_ask(part->records, "HA_MPI_FIELDS");
    if (a) {
        c = ha_array_valid_context(a);
        ha_records_asked(part->records);
    }
    return c && ha_mpi_records_are_for(part, c, side->how != HA_OVERWRITE) ? c : ha_host();
}

HA_IN_ ha_status ha_mpi_side_gather(ha_mpi_side *side, const ha_mpi_call *call) {
    side->context = ha_mpi_place_of_fields(side);
    side->memory = ha_mpi_memory_at(side, side->context);
    side->buffer = darray_new(HA_DTYPE_uint8_t, 1, &side->size, side->context);
    if (!side->buffer.array) return ha_latest_status;
    ha_array_set_name(side->buffer.array, "MPI buffer");
    if (side->how != HA_OVERWRITE) {
        const uint64_t before = ha_records_statistics(side->part.records).bytes;
        ha_status s = ha_mpi_records_move(&side->part, &side->buffer, side->context, 1, call);
        if (s) return s;
        HA_MPI_MOVED_(packed_bytes, side->size);
        HA_MPI_MOVED_(staged_bytes, ha_records_statistics(side->part.records).bytes - before);
    }
    return ha_mpi_side_hold(side, &side->buffer, side->how);
}

/* ---- closing ----------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_mpi_side_unpack(ha_mpi_side *side, const ha_mpi_call *call) {
    HA_MPI_MOVED_(packed_bytes, side->size);
    if (side->context->ops && !side->memory) {
        const uint64_t before = ha_mpi_bytes_of(&side->buffer);
        ha_status s = darray_prefetch(side->buffer, side->context);
        if (s) return s;
        HA_MPI_MOVED_(staged_bytes, ha_mpi_bytes_of(&side->buffer) - before);
    }
    if (side->part.records)
        return ha_mpi_records_move(&side->part, &side->buffer, side->context, 0, call);
    return darray_copy(side->part.view, side->buffer, side->context);
}

/* good: the elements are to be the view's, if it is written. */
HA_IN_ ha_status ha_mpi_side_close(ha_mpi_side *side, int good, const ha_mpi_call *call) {
    ha_status s = HA_OK;
    if (side->access.array) s = ha_close(&side->access);
    if (side->token.array) s = ha_token_finish(&side->token);
    if (!s && good && side->how != HA_READ && side->buffer.array)
        s = ha_mpi_side_unpack(side, call);
    if (side->buffer.array) HA_IGNORE(darray_free(&side->buffer));
    side->data = NULL;
    return s;
}

/* All or nothing. */
HA_IN_ ha_status ha_mpi_side_open(ha_mpi_side *side, const ha_mpi_call *call) {
    ha_status s;
    if (!side->count) return HA_OK;
    if (side->part.records)
        s = ha_mpi_side_gather(side, call);
    else if (side->in_place)
        s = ha_mpi_side_hold_view(side);
    else if ((side->is_in_rows = ha_mpi_goes_in_rows(side)))
        s = ha_mpi_side_hold(side, &side->part.view, side->how);
    else
        s = ha_mpi_side_pack(side);
    if (s) HA_IGNORE(ha_mpi_side_close(side, 0, call));
    return s;
}

#endif
