/* Halos: making a plan, which all ranks do together, or none. */
#ifndef HARRAY_IMPL_MPI_HALO_NEW_H
#define HARRAY_IMPL_MPI_HALO_NEW_H

#include "halo_fields.h"

/* In a message: the cells of all views of one type, or of one field of records. */
typedef struct ha_mpi_segment {
    size_t like;       /* the first of these fields */
    int64_t at, bytes; /* in the message */
    darray out, in;    /* buffers of one dimension: of elements, or of bytes */
} ha_mpi_segment;

/* What goes to a neighbour, and what comes from there. */
typedef struct ha_mpi_ghosts {
    int peer, tag_out, tag_in;
    ha_mpi_offset offset;
    ha_mpi_segment *segment;
    /* What is sent, and behind it what is received; NULL: MPI gets the buffers of the only segment. */
    char *joined;
    ha_mpi_count count;
    int64_t bytes;
    uint64_t moved; /* bytes between memories, so far */
    ha_token out_token, in_token;
    MPI_Request sending, receiving;
    uint64_t sent, expected; /* when MPI got them; 0: nobody listens */
    int is_expected;
} ha_mpi_ghosts;

typedef struct ha_mpi_round {
    size_t first, end; /* of the messages */
    ha_copy_plan *pack, *unpack;
} ha_mpi_round;

struct ha_mpi_halo {
    ha_mpi_call call; /* with a communicator of its own */
    ha_mpi_grid grid;
    ha_context *context;
    ha_context *memory; /* that of the buffers which MPI gets: the context's, or the host's */
    size_t fields, arrays, messages;
    size_t segments; /* of each message */
    ha_mpi_field *field;
    size_t *array_of;      /* the number of a view's array */
    ha_array **of, **by;   /* those arrays, and what is in their places now */
    ha_mpi_ghosts *ghosts; /* round by round */
    ha_mpi_round round[HA_MOST_RANK];
    char *spare; /* for a message that cannot be received otherwise */
    int is_started;
    ha_status failed;
    ha_fence *packed,
        *unpacked; /* in the context's queue behind what start and finish enqueued last; or NULL */
};

/* ---- fields ------------------------------------------------------------------------------------ */

/* Whether a segment begins with it. */
HA_IN_ int ha_mpi_is_first_of_kind(const ha_mpi_halo *halo, size_t i) {
    size_t k = 0;
    while (k < i && !ha_mpi_fields_are_alike(&halo->field[k], &halo->field[i])) k++;
    return k == i;
}

HA_IN_ void ha_mpi_list_array(ha_mpi_halo *halo, size_t i) {
    ha_array *const array = halo->field[i].part.view.array;
    size_t k = 0;
    if (halo->field[i].part.records) return;
    while (k < halo->arrays && halo->of[k] != array) k++;
    halo->array_of[i] = k;
    if (k < halo->arrays) return;
    halo->of[k] = ha_array_retain(array);
    halo->by[k] = ha_array_retain(array);
    halo->arrays++;
}

HA_IN_ ha_status ha_mpi_check_field(ha_mpi_halo *halo, const ha_mpi_list *list, size_t i) {
    const ha_mpi_part part = ha_mpi_listed(list, i);
    ha_status s = ha_mpi_field_of(&halo->field[i], &part, &halo->call);
    return s ? s : ha_mpi_check_block(&halo->grid, &halo->field[i], i, &halo->call);
}

HA_IN_ ha_status ha_mpi_check_fields(ha_mpi_halo *halo, const ha_mpi_list *list) {
    ha_status s = HA_OK;
    if (!list->first && halo->fields) return ha_mpi_fail(HA_ERR_ARGUMENT, &halo->call, "no fields");
    if (halo->grid.width < 1 || halo->grid.kind < HA_MPI_CORNERS ||
        halo->grid.kind > HA_MPI_AT_ONCE)
        return ha_mpi_fail(HA_ERR_ARGUMENT, &halo->call,
                           "a width of %lld and the kind %d make no sense",
                           (long long)halo->grid.width, halo->grid.kind);
    for (size_t i = 0; i < halo->fields && !s; i++) s = ha_mpi_check_field(halo, list, i);
    for (size_t i = 0; i < halo->fields && !s; i++) {
        ha_mpi_list_array(halo, i);
        halo->segments += (size_t)ha_mpi_is_first_of_kind(halo, i);
    }
    return s;
}

/* ---- messages ---------------------------------------------------------------------------------- */

/* How many cells of a field a message has. */
HA_IN_ int64_t ha_mpi_cells_sent(const ha_mpi_halo *halo, const ha_mpi_ghosts *g, size_t i) {
    const ha_mpi_block cells = ha_mpi_field_cells(&halo->grid, &halo->field[i], &g->offset, 0);
    return ha_mpi_block_size(&cells);
}

HA_IN_ ha_status ha_mpi_buffers_make(const ha_mpi_halo *halo, ha_mpi_segment *x, int64_t cells) {
    const ha_mpi_part *like = &halo->field[x->like].part;
    const ha_dtype number = like->records ? HA_DTYPE_uint8_t : like->view.type;
    const ha_type type = like->records ? ha_dtype_to_type(number) : ha_array_type(like->view.array);
    x->out = darray_new_(HA_ROW_MAJOR, type, 1, &cells, halo->context);
    x->in = darray_new_(HA_ROW_MAJOR, type, 1, &cells, halo->context);
    if (!x->out.array || !x->in.array) return ha_latest_status;
    x->out.type = x->in.type = number;
    ha_array_set_name(x->out.array, "halo, sent");
    ha_array_set_name(x->in.array, "halo, received");
    return HA_OK;
}

/* The segment that begins with field `like`, behind those before. */
HA_IN_ ha_status ha_mpi_segment_make(ha_mpi_halo *halo, ha_mpi_ghosts *g, ha_mpi_segment *x,
                                     size_t like) {
    const ha_mpi_field *first = &halo->field[like];
    int64_t cells = 0;
    for (size_t i = like; i < halo->fields; i++)
        if (ha_mpi_fields_are_alike(first, &halo->field[i])) cells += ha_mpi_cells_sent(halo, g, i);
    x->like = like;
    x->at = g->bytes;
    x->bytes = cells * first->each;
    g->bytes += x->bytes;
    return ha_mpi_buffers_make(halo, x, first->part.records ? x->bytes : cells);
}

/* MPI gets a buffer, or bytes on the host that have all segments. */
HA_IN_ ha_status ha_mpi_ghosts_join(const ha_mpi_halo *halo, ha_mpi_ghosts *g) {
    const ha_mpi_segment *only = halo->segments == 1 ? g->segment : NULL;
    if (only) {
        const MPI_Datatype base = ha_mpi_type_of(only->out.type);
        const int64_t units = base == MPI_BYTE ? g->bytes : darray_size(only->out);
        return ha_mpi_count_of(&g->count, units, base, &halo->call);
    }
    g->joined = (char *)HARRAY_MALLOC(2 * (size_t)g->bytes);
    if (!g->joined)
        return ha_mpi_fail(HA_ERR_MEMORY, &halo->call, "no memory for %lld bytes",
                           (long long)g->bytes);
    return ha_mpi_count_of(&g->count, g->bytes, MPI_BYTE, &halo->call);
}

HA_IN_ ha_status ha_mpi_ghosts_make(ha_mpi_halo *halo, ha_mpi_ghosts *g) {
    ha_status s = HA_OK;
    ha_mpi_segment *next = g->segment;
    for (size_t i = 0; i < halo->fields && !s; i++)
        if (ha_mpi_is_first_of_kind(halo, i)) s = ha_mpi_segment_make(halo, g, next++, i);
    return s ? s : ha_mpi_ghosts_join(halo, g);
}

/* NULL as a place: they are only counted. */
HA_IN_ size_t ha_mpi_list_round(const ha_mpi_halo *halo, int round, ha_mpi_ghosts *place) {
    const int offsets = ha_mpi_offsets(&halo->grid);
    size_t count = 0;
    for (int number = 0; number < offsets; number++) {
        const ha_mpi_offset offset = ha_mpi_offset_of(&halo->grid, number);
        if (!ha_mpi_is_sent(&halo->grid, &offset, round)) continue;
        const int peer = ha_mpi_neighbour(&halo->grid, &offset, halo->call.comm);
        if (peer == MPI_PROC_NULL) continue;
        if (place)
            place[count] = (ha_mpi_ghosts){.peer = peer,
                                           .tag_out = number,
                                           .tag_in = offsets - 1 - number,
                                           .offset = offset,
                                           .count = {.type = MPI_BYTE},
                                           .sending = MPI_REQUEST_NULL,
                                           .receiving = MPI_REQUEST_NULL};
        count++;
    }
    return count;
}

/* Room for n messages with their segments. */
HA_IN_ ha_status ha_mpi_messages_room(ha_mpi_halo *halo, size_t n) {
    const size_t each = sizeof *halo->ghosts + halo->segments * sizeof(ha_mpi_segment);
    halo->ghosts = (ha_mpi_ghosts *)HARRAY_MALLOC((n + 1) * each);
    if (!halo->ghosts)
        return ha_mpi_fail(HA_ERR_MEMORY, &halo->call, "no memory for %zu messages", n);
    memset(halo->ghosts, 0, (n + 1) * each);
    return HA_OK;
}

/* Without fields there is none. */
HA_IN_ ha_status ha_mpi_list_messages(ha_mpi_halo *halo) {
    const int rounds = halo->fields ? ha_mpi_rounds(&halo->grid) : 0;
    size_t all = 0;
    for (int r = 0; r < rounds; r++) all += ha_mpi_list_round(halo, r, NULL);
    ha_status s = ha_mpi_messages_room(halo, all);
    if (s) return s;
    ha_mpi_segment *segment = (ha_mpi_segment *)(void *)(halo->ghosts + all);
    for (int r = 0; r < rounds; r++) {
        halo->round[r].first = halo->messages;
        halo->messages += ha_mpi_list_round(halo, r, &halo->ghosts[halo->messages]);
        halo->round[r].end = halo->messages;
    }
    for (size_t i = 0; i < all; i++) halo->ghosts[i].segment = segment + i * halo->segments;
    return HA_OK;
}

HA_IN_ ha_status ha_mpi_list_all(ha_mpi_halo *halo) {
    size_t most = 1;
    ha_status s = ha_mpi_list_messages(halo);
    for (size_t i = 0; i < halo->messages && !s; i++) {
        s = ha_mpi_ghosts_make(halo, &halo->ghosts[i]);
        if ((size_t)halo->ghosts[i].bytes > most) most = (size_t)halo->ghosts[i].bytes;
    }
    if (s) return s;
    halo->spare = (char *)HARRAY_MALLOC(most);
    return halo->spare ? HA_OK
                       : ha_mpi_fail(HA_ERR_MEMORY, &halo->call, "no memory for %zu bytes", most);
}

/* ---- plans of copies ---------------------------------------------------------------------------- */

/* The part of a buffer that has these cells, from *at on, which goes behind it. */
HA_IN_ darray ha_mpi_buffer_part(darray buffer, const darray *cells, int64_t *at) {
    const int64_t first = *at;
    *at += darray_size(*cells);
    return darray_reshape_in_(HA_ROW_MAJOR, darray_slice_(buffer, 0, first, *at, 1, NULL),
                              cells->rank, cells->extent, NULL);
}

/* Returns how many. */
HA_IN_ size_t ha_mpi_pair_segment(const ha_mpi_halo *halo, const ha_mpi_ghosts *g,
                                  const ha_mpi_segment *x, ha_copy_pair *pack,
                                  ha_copy_pair *unpack) {
    int64_t sent = 0, received = 0;
    size_t n = 0;
    if (halo->field[x->like].part.records) return 0; /* no plan has these */
    for (size_t i = x->like; i < halo->fields; i++) {
        const ha_mpi_field *field = &halo->field[i];
        if (!ha_mpi_fields_are_alike(field, &halo->field[x->like])) continue;
        const ha_mpi_block here = ha_mpi_field_cells(&halo->grid, field, &g->offset, 0);
        const ha_mpi_block there = ha_mpi_field_cells(&halo->grid, field, &g->offset, 1);
        const darray cells = ha_mpi_view_of_cells(field, &here);
        const darray ghosts = ha_mpi_view_of_cells(field, &there);
        pack[n] = (ha_copy_pair){ha_mpi_buffer_part(x->out, &cells, &sent), cells, halo->context};
        unpack[n] = (ha_copy_pair){ghosts, ha_mpi_buffer_part(x->in, &ghosts, &received),
                                   halo->context};
        n++;
    }
    return n;
}

HA_IN_ ha_status ha_mpi_plan_round(ha_mpi_halo *halo, ha_mpi_round *round) {
    const size_t most = (round->end - round->first) * halo->fields;
    ha_copy_pair *pack = (ha_copy_pair *)HARRAY_MALLOC((2 * most + 1) * sizeof *pack);
    size_t n = 0;
    if (!pack) return ha_mpi_fail(HA_ERR_MEMORY, &halo->call, "no memory for a plan");
    ha_copy_pair *unpack = pack + most;
    for (size_t i = round->first; i < round->end; i++) {
        const ha_mpi_ghosts *g = &halo->ghosts[i];
        for (size_t k = 0; k < halo->segments; k++)
            n += ha_mpi_pair_segment(halo, g, &g->segment[k], &pack[n], &unpack[n]);
    }
    round->pack = ha_copy_plan_new(pack, n);
    if (round->pack) round->unpack = ha_copy_plan_new(unpack, n);
    HARRAY_FREE(pack);
    return round->unpack ? HA_OK : ha_latest_status;
}

/* ---- agreement ---------------------------------------------------------------------------------- */

/* Of the types and cells of all fields in a message. */
HA_IN_ int64_t ha_mpi_cells_digest(const ha_mpi_halo *halo, const ha_mpi_ghosts *g) {
    uint64_t digest = 14695981039346656037u;
    for (size_t i = 0; i < halo->fields; i++) {
        const ha_mpi_field *field = &halo->field[i];
        const ha_mpi_block cells = ha_mpi_field_cells(&halo->grid, field, &g->offset, 0);
        digest = ha_mpi_mix(digest, field->part.records != NULL);
        digest = ha_mpi_mix(digest, field->digest);
        for (int d = 0; d < cells.rank; d++)
            digest = ha_mpi_mix(digest, (uint64_t)(cells.last[d] - cells.first[d]));
    }
    return (int64_t)(digest >> 1);
}

HA_IN_ void ha_mpi_sign_ghosts(ha_mpi_signature *sign, const ha_mpi_halo *halo,
                               const ha_mpi_ghosts *g) {
    const darray *buffer = &g->segment->out;
    ha_mpi_sign(sign, NULL, &halo->call);
    snprintf(sign->type, sizeof sign->type, "%s",
             g->joined                     ? "several types"
             : halo->field[0].part.records ? "fields"
                                           : ha_array_type(buffer->array).name);
    for (size_t i = 0; i < halo->fields; i++) {
        sign->element += (uint64_t)halo->field[i].each;
        sign->count += ha_mpi_cells_sent(halo, g, i);
    }
    sign->share = ha_mpi_cells_digest(halo, g);
}

/* Each tells its neighbours what it would send. What MPI does not do leaves a signature of zeros, which fits nowhere. */
HA_IN_ void ha_mpi_tell_ghosts(ha_mpi_halo *halo, ha_mpi_ghosts *g, ha_mpi_signature *theirs,
                               ha_mpi_signature *ours) {
    const int bytes = (int)sizeof *ours;
    const MPI_Comm comm = halo->call.comm;
    ha_mpi_sign_ghosts(ours, halo, g);
    memset(theirs, 0, sizeof *theirs);
    if (MPI_Irecv(theirs, bytes, MPI_BYTE, g->peer, g->tag_in, comm, &g->receiving))
        g->receiving = MPI_REQUEST_NULL;
    if (MPI_Isend(ours, bytes, MPI_BYTE, g->peer, g->tag_out, comm, &g->sending))
        g->sending = MPI_REQUEST_NULL;
}

/* 1 + the rank of a neighbour with other cells; 0: there is none. `theirs` and `ours`: of all messages. */
HA_IN_ int ha_mpi_compare_ghosts(ha_mpi_halo *halo, ha_mpi_signature *theirs,
                                 ha_mpi_signature *ours) {
    int against = 0;
    for (size_t i = 0; i < halo->messages; i++)
        ha_mpi_tell_ghosts(halo, &halo->ghosts[i], &theirs[i], &ours[i]);
    for (size_t i = 0; i < halo->messages; i++) {
        ha_mpi_ghosts *g = &halo->ghosts[i];
        if (MPI_Wait(&g->receiving, MPI_STATUS_IGNORE)) theirs[i].element = 0;
        if (MPI_Wait(&g->sending, MPI_STATUS_IGNORE)) theirs[i].element = 0;
        ha_mpi_make_sound(&theirs[i]);
        if (ha_mpi_shapes_agree(&theirs[i], &ours[i]) && theirs[i].share == ours[i].share) continue;
        if (!against)
            HA_IGNORE(ha_mpi_fail(HA_ERR_ARGUMENT, &halo->call,
                                  "rank %d has %lld cells of %s at this face, or other extents or "
                                  "fields; here there are %lld of %s",
                                  g->peer, (long long)theirs[i].count, theirs[i].type,
                                  (long long)ours[i].count, ours[i].type));
        against = g->peer + 1;
    }
    return against;
}

/* 1 + the rank that does not fit, on all ranks; 0: all do. */
HA_IN_ int ha_mpi_tell_all(const ha_mpi_halo *halo, int against) {
    int first = 1; /* MPI failed: nothing fits */
    (void)MPI_Allreduce(&against, &first, 1, MPI_INT, MPI_MAX, halo->call.comm);
    if (first && !against)
        HA_IGNORE(ha_mpi_fail(HA_ERR_ARGUMENT, &halo->call,
                              "another rank says that rank %d does not fit", first - 1));
    return first;
}

/* What all ranks have to have alike, as numbers of which the largest and the smallest are compared. */
HA_IN_ int ha_mpi_compare_numbers(const ha_mpi_halo *halo) {
    int64_t of[6] = {(int64_t)halo->fields, halo->grid.width, halo->grid.kind}, most[6] = {0};
    for (int i = 0; i < 3; i++) of[i + 3] = -of[i];
    if (MPI_Allreduce(of, most, 6, MPI_INT64_T, MPI_MAX, halo->call.comm)) return 0;
    if (most[0] == -most[3] && most[1] == -most[4] && most[2] == -most[5]) return 1;
    HA_IGNORE(
        ha_mpi_fail(HA_ERR_ARGUMENT, &halo->call,
                    "ranks differ: %lld to %lld fields, %lld to %lld ghost cells, kinds %lld to "
                    "%lld",
                    (long long)-most[3], (long long)most[0], (long long)-most[4],
                    (long long)most[1], (long long)-most[5], (long long)most[2]));
    return 0;
}

/* s: how it went on this rank. Whether all fit together. */
HA_IN_ int ha_mpi_halo_agree(ha_mpi_halo *halo, ha_status s) {
    int rank = 0, against;
    (void)MPI_Comm_rank(halo->call.comm, &rank);
    const size_t n = halo->messages + 1;
    ha_mpi_signature *signs = (ha_mpi_signature *)HARRAY_MALLOC(2 * n * sizeof *signs);
    if (!signs && !s) s = ha_mpi_fail(HA_ERR_MEMORY, &halo->call, "no memory to compare");
    int fits = ha_mpi_compare_numbers(halo) && !ha_mpi_tell_all(halo, s ? rank + 1 : 0);
    if (fits) {
        against = ha_mpi_compare_ghosts(halo, signs, signs + n);
        fits = !ha_mpi_tell_all(halo, against);
    }
    HARRAY_FREE(signs);
    return fits;
}

/* ---- making and freeing ------------------------------------------------------------------------- */

/* What was begun and not finished, as MPI was ended meanwhile, is open no longer. */
HA_IN_ void ha_mpi_ghosts_free(const ha_mpi_halo *halo, ha_mpi_ghosts *g) {
    if (g->out_token.array) HA_IGNORE(ha_token_finish(&g->out_token));
    if (g->in_token.array) HA_IGNORE(ha_token_finish(&g->in_token));
    for (size_t k = 0; k < halo->segments; k++) {
        HA_IGNORE(darray_free(&g->segment[k].out));
        HA_IGNORE(darray_free(&g->segment[k].in));
    }
    HARRAY_FREE(g->joined);
    ha_mpi_count_end(&g->count);
}

HA_IN_ void ha_mpi_halo_dispose(ha_mpi_halo *halo) {
    for (int r = 0; r < HA_MOST_RANK; r++) {
        ha_copy_plan_free(halo->round[r].pack);
        ha_copy_plan_free(halo->round[r].unpack);
    }
    const int there = ha_mpi_is_there() && ha_mpi_may_call();
    ha_fence_release(halo->context, halo->packed);
    ha_fence_release(halo->context, halo->unpacked);
    for (size_t i = 0; i < halo->messages; i++) {
        if (!there) halo->ghosts[i].count.is_made = 0;
        ha_mpi_ghosts_free(halo, &halo->ghosts[i]);
    }
    for (size_t k = 0; k < halo->arrays; k++) {
        HA_IGNORE(ha_array_free(halo->of[k]));
        HA_IGNORE(ha_array_free(halo->by[k]));
    }
    if (there && halo->call.comm != MPI_COMM_NULL) (void)MPI_Comm_free(&halo->call.comm);
    HARRAY_FREE(halo->ghosts);
    HARRAY_FREE(halo->spare);
    HARRAY_FREE(halo);
}

HA_IN_ ha_status ha_mpi_grid_of(ha_mpi_grid *grid, const ha_mpi_call *call) {
    int topology = MPI_UNDEFINED;
    ha_status s = ha_mpi_told(call, MPI_Topo_test(call->comm, &topology), "MPI_Topo_test");
    if (!s && topology == MPI_CART)
        s = ha_mpi_told(call, MPI_Cartdim_get(call->comm, &grid->dimensions), "MPI_Cartdim_get");
    if (s) return s;
    if (topology != MPI_CART || grid->dimensions < 1 || grid->dimensions > HA_MOST_RANK)
        return ha_mpi_fail(HA_ERR_ARGUMENT, call,
                           "the communicator is none of MPI_Cart_create with 1 to %d dimensions",
                           HA_MOST_RANK);
    return ha_mpi_told(
        call, MPI_Cart_get(call->comm, HA_MOST_RANK, grid->size, grid->is_periodic, grid->at),
        "MPI_Cart_get");
}

/* With room for the fields behind it. */
HA_IN_ ha_mpi_halo *ha_mpi_halo_room(const ha_mpi_call *call, size_t count) {
    const size_t each = sizeof(ha_mpi_field) + sizeof(size_t) + 2 * sizeof(ha_array *);
    size_t bytes;
    if (__builtin_mul_overflow(count, each, &bytes) || bytes > PTRDIFF_MAX / 2) return NULL;
    ha_mpi_halo *halo = (ha_mpi_halo *)HARRAY_MALLOC(sizeof *halo + bytes);
    if (!halo) return NULL;
    memset(halo, 0, sizeof *halo);
    halo->call = *call;
    halo->call.comm = MPI_COMM_NULL;
    halo->fields = count;
    halo->field = (ha_mpi_field *)(void *)(halo + 1);
    halo->of = (ha_array **)(void *)(halo->field + count);
    halo->by = halo->of + count;
    halo->array_of = (size_t *)(void *)(halo->by + count);
    return halo;
}

HA_IN_ ha_status ha_mpi_halo_build(ha_mpi_halo *halo, const ha_mpi_list *list) {
    ha_status s = ha_mpi_check_fields(halo, list);
    if (!s) s = ha_mpi_list_all(halo);
    for (int r = 0; r < ha_mpi_rounds(&halo->grid) && !s; r++)
        s = ha_mpi_plan_round(halo, &halo->round[r]);
    return s;
}

/* A communicator of its own, whose errors are returned. */
HA_IN_ ha_status ha_mpi_halo_connect(ha_mpi_halo *halo, MPI_Comm cart) {
    ha_status s = ha_mpi_told(&halo->call, MPI_Comm_dup(cart, &halo->call.comm), "MPI_Comm_dup");
    if (s) return s;
    (void)MPI_Comm_set_errhandler(halo->call.comm, MPI_ERRORS_RETURN);
    return HA_OK;
}

/* Whether all ranks have memory for it: those that have none cannot take part in anything else. */
HA_IN_ int ha_mpi_all_have(const ha_mpi_halo *halo, const ha_mpi_call *call) {
    int mine = halo == NULL, any = 1;
    if (mine) HA_IGNORE(ha_mpi_fail(HA_ERR_MEMORY, call, "no memory for a plan"));
    (void)MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, call->comm);
    if (any && !mine)
        HA_IGNORE(ha_mpi_fail(HA_ERR_MEMORY, call, "another rank has no memory for a plan"));
    return !any;
}

HA_IN_ ha_mpi_halo *ha_mpi_halo_make(const ha_mpi_call *call, const ha_mpi_grid *grid,
                                     ha_context *context, const ha_mpi_list *list) {
    ha_mpi_halo *halo = ha_mpi_halo_room(call, list->count);
    if (!ha_mpi_all_have(halo, call)) {
        HARRAY_FREE(halo);
        return NULL;
    }
    halo->grid = *grid;
    halo->context = ha_resolve(context);
    halo->memory = ha_mpi_takes(halo->context) ? halo->context : ha_host();
    if (!ha_mpi_halo_connect(halo, call->comm) &&
        ha_mpi_halo_agree(halo, ha_mpi_halo_build(halo, list)))
        return halo;
    ha_mpi_halo_dispose(halo);
    return NULL;
}

ha_mpi_halo *ha_mpi_halo_new_(MPI_Comm cart, ha_context *context, int64_t width, const void *fields,
                              size_t each, size_t count, int kind, const char *site) {
    HA_TELLS_EVENTS_;
    const ha_mpi_call call = {"ha_mpi_halo_new", ha_from(site), cart};
    ha_mpi_grid grid = {.width = width, .kind = kind};
    const ha_mpi_list list = {fields, each, count};
    ha_mpi_halo *halo = NULL;
    HA_FROM(call.site)
    if (!ha_mpi_enter(&call) && !ha_mpi_grid_of(&grid, &call))
        halo = ha_mpi_halo_make(&call, &grid, context, &list);
    return halo;
}

#endif
