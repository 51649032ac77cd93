/* Moving a box of a record array from one memory to another one.
 *
 * Where its values lie in pieces of good length in both, and in the same order, the queue copies them.
 * Where that is true of the far memory's alone, they travel as they are there, and the device puts them into
 * place (record_array_spread.h). Else the host converts, in parts that fit into a staging chunk: to a device
 * it gathers a part into a chunk, as the device will have it, and while that travels the next one; from a
 * device it scatters a part while the next one comes. A part is valid as soon as it is enqueued, or
 * scattered: so whoever has to wait drops everything, and begins again with what is then missing. Between
 * two devices without a direct path, or whose layouts differ so that neither puts the values into place,
 * all goes through the host's incarnation.
 *
 * Nothing but values of the box is written at the target, and padding that is nobody's. */
#ifndef HA_IMPL_RECORD_ARRAY_MOVE_H
#define HA_IMPL_RECORD_ARRAY_MOVE_H

#include "record_array_spread.h"

/* Parts of this size stay in a cache between conversion and copy. */
#ifndef HA_RECORDS_PART_BYTES
#define HA_RECORDS_PART_BYTES (2 << 20) /* at most a chunk */
#endif
enum { HA_CARRY_PENDING = 192 }; /* a box is cut in halves 63 times at most */

/* How a part is moved. */
typedef enum ha_way {
    HA_WAY_PIECES,  /* copied by the queue */
    HA_WAY_SPREAD,  /* and put into place by the device */
    HA_WAY_CONVERTS /* by the host */
} ha_way;

typedef struct ha_carry {
    ha_array *array;
    ha_incarnation *from, *to;
    ha_context *context;
    ha_set *brought;
    ha_attempt *attempt;
    int here_is_to; /* `here`, whose layout says what the pieces are, is the target */
    int converts;   /* the layouts may differ */
    int detours;    /* `there` is another device: what the host would convert goes through it */
    int loose;      /* padding may be copied */
    ha_mapped here, there;
    ha_strand *strand;
    int64_t strands;
    ha_bundle *bundle;
    int64_t bundles;
    size_t bytes; /* in a chunk */
    ha_way way;   /* HA_WAY_PIECES: the bundles are pairs */
    ha_spread spread;
    int asked; /* whether the device can that */
    ha_staged_tables chunk, host;
    ha_field_box pending[HA_CARRY_PENDING];
    int n;
} ha_carry;

/* ---- parts ----------------------------------------------------------------------------------- */

/* Lattices of all strands. 0: cut the box. *pair: they are alike in both memories. */
static int ha_carry_lattices(ha_carry *c, const ha_field_box *b, int *pair, ha_cut *cut) {
    const ha_record_form *f = ha_records_form(c->array);
    ha_cut unused;
    c->strands = 0;
    *pair = 1;
    for (int64_t leaf = b->leaf; leaf < b->end; leaf++)
        c->strands += ha_strands_of(f, c->here.mapping, c->there.mapping, leaf,
                                    &c->strand[c->strands]);
    for (int64_t i = 0; i < c->strands; i++) {
        ha_strand *s = &c->strand[i];
        if (!ha_lattice_of(&c->here, s->here, b, &s->lattice, cut)) return 0;
        *pair = *pair && s->there && ha_lattice_of(&c->there, s->there, b, &s->other, &unused) &&
                ha_lattices_alike(&s->lattice, &s->other);
    }
    qsort(c->strand, (size_t)c->strands, sizeof *c->strand, ha_strand_compare);
    return 1;
}

/* A part that is small enough: across the slowest index, where blocks of lanes begin. */
static int ha_carry_is_small(const ha_carry *c, const ha_field_box *b, ha_cut *cut) {
    int k = 0;
    if (c->bytes <= HA_RECORDS_PART_BYTES || ha_field_box_records(b) == 1) return 1;
    const ha_linearizer *z = &c->here.mapping->linearizer[c->strand[0].here->linearizer];
    while (ha_box_extent(b, z->dimension[k]) == 1) k++;
    const int d = z->dimension[k];
    const int64_t each = (int64_t)c->bytes / ha_box_extent(b, d) + 1;
    int64_t index = b->first[d] + HA_RECORDS_PART_BYTES / each;
    if (index / 64 * 64 > b->first[d]) index = index / 64 * 64;
    if (index <= b->first[d]) index = b->first[d] + 1;
    *cut = (ha_cut){d, index}; /* before the last one: all of them are more than a part */
    return 0;
}

/* What a device that puts values into place costs. It is asked when that is first looked at. */
static uint64_t ha_carry_spread_cost(ha_carry *c, const ha_field_box *b, uint64_t values,
                                     int loose) {
    const ha_record_form *f = ha_records_form(c->array);
    if (!c->asked && !c->attempt->no_spread)
        ha_spread_make(&c->spread, (c->here_is_to ? c->to : c->from)->memory,
                       ha_strands_count(c->here.mapping, 0, f->leaves));
    c->asked = 1;
    return ha_spread_shape(&c->spread, c->strand, c->strands, &c->there, c->here.mapping, b, values,
                           loose, c->loose);
}

/* To or from a chunk that the host converts. */
static void ha_carry_stage(ha_carry *c, int loose) {
    c->bundles = ha_bundles_make(c->strand, c->strands, 0, loose, c->bundle);
    c->bytes = ha_bundles_pack(c->bundle, c->bundles);
    c->way = HA_WAY_CONVERTS;
}

/* Whichever way is the cheapest. plain: what it costs to copy the pieces; UINT64_MAX: it cannot be. */
static void ha_carry_choose(ha_carry *c, const ha_field_box *b, const ha_context *queue,
                            uint64_t plain, int loose) {
    const uint64_t values = (uint64_t)ha_field_box_bytes(ha_records_form(c->array), b);
    ha_carry_stage(c, loose);
    uint64_t least = ha_bundles_cost(c->bundle, c->bundles, queue) + values / 1024 * HA_CONVERT_NS;
    if (c->detours) least *= 3; /* once more, and by one link more */
    if (plain <= least) {
        c->way = HA_WAY_PIECES;
        least = plain;
    }
    if (least <= 2 * (uint64_t)HA_CALL_NS) return;
    if (ha_carry_spread_cost(c, b, values, loose) >= least) return;
    c->way = HA_WAY_SPREAD;
    c->bytes = c->spread.bytes;
}

/* Whether padding is copied with a box, where there is any. */
static int ha_carry_is_loose(const ha_carry *c, const ha_field_box *b) {
    return c->loose && b->leaf == 0 && b->end == ha_records_form(c->array)->leaves;
}

/* Decides how a box is moved. 0: cut it first. */
static int ha_carry_shape(ha_carry *c, const ha_field_box *b, ha_cut *cut) {
    const ha_context *queue = c->context;
    const int loose = ha_carry_is_loose(c, b);
    uint64_t plain = UINT64_MAX;
    int pair;
    if (!ha_carry_lattices(c, b, &pair, cut)) return 0;
    if (!queue->ops || queue->memory == &ha_host_memory)
        queue = ha_memory_context(c->from->memory); /* to a device it is always of that */
    c->way = HA_WAY_PIECES;
    if (pair) {
        c->bundles = ha_bundles_make(c->strand, c->strands, 1, loose, c->bundle);
        if (!c->converts) return 1;
        plain = ha_bundles_cost(c->bundle, c->bundles, queue);
        if (plain <= 2 * (uint64_t)HA_CALL_NS) return 1;
    }
    ha_carry_choose(c, b, queue, plain, loose);
    if (c->way != HA_WAY_PIECES) return ha_carry_is_small(c, b, cut);
    c->bundles = ha_bundles_make(c->strand, c->strands, 1, loose, c->bundle);
    return 1;
}

static int ha_is_ahead(const struct ha_ahead *at, const ha_carry *c, ha_range r) {
    return at->chunk && at->from == c->from && at->range.first == r.first &&
           at->range.last == r.last;
}

/* The place of a part that is on its way; r NULL: one that is free. NULL: there is none. */
static struct ha_ahead *ha_carry_place(ha_carry *c, const ha_range *r) {
    struct ha_ahead *at = c->attempt->ahead;
    for (int i = 0; i < HA_AHEAD; i++)
        if (r ? ha_is_ahead(&at[i], c, *r) : !at[i].chunk) return &at[i];
    return NULL;
}

/* A part that is on its way stays one that is converted, whatever else there may be by now. */
static int ha_carry_is_coming(ha_carry *c, const ha_field_box *b) {
    const ha_range r = ha_field_box_range(c->array, b);
    ha_cut unused;
    int pair;
    if (!ha_carry_place(c, &r)) return 0;
    (void)ha_carry_lattices(c, b, &pair, &unused);
    ha_carry_stage(c, ha_carry_is_loose(c, b));
    return 1;
}

/* The next part; 0: there is none. */
static int ha_carry_next(ha_carry *c, ha_field_box *b) {
    ha_cut cut;
    if (!c->n) return 0;
    *b = c->pending[--c->n];
    if (ha_carry_is_coming(c, b)) return 1;
    while (!ha_carry_shape(c, b, &cut)) {
        ha_field_box rest = *b;
        rest.first[cut.dimension] = b->last[cut.dimension] = cut.index;
        c->pending[c->n++] = rest;
    }
    return 1;
}

/* ---- by the queue ---------------------------------------------------------------------------- */

/* Enqueues n bundles; chunk NULL: between the two memories. here_is_to: to where they are bundles.
 * *some: set when any were enqueued, also when it fails. */
static ha_status ha_carry_some(ha_carry *c, ha_context *queue, const ha_bundle *b, int64_t n,
                               char *chunk, int here_is_to, int *some) {
    ha_status s = HA_OK;
    ha_transfer_begins(queue);
    for (; n > 0 && !s; n--, b++) {
        char *there = chunk ? chunk + b->packed : b->there;
        ha_rows rows = b->rows;
        int moved = 0;
        if (!here_is_to)
            for (int k = 0; k < rows.levels; k++) {
                rows.to[k] = b->rows.from[k];
                rows.from[k] = b->rows.to[k];
            }
        s = ha_move_pieces(queue, here_is_to ? b->here : there, here_is_to ? there : b->here, &rows,
                           &moved, c->attempt);
        *some |= moved;
    }
    return s;
}

static ha_status ha_carry_bundles(ha_carry *c, ha_context *queue, char *chunk, int *some) {
    return ha_carry_some(c, queue, c->bundle, c->bundles, chunk, c->here_is_to, some);
}

/* The queue of the transfer; NULL: its device has failed, and the attempt has to begin again. */
static ha_context *ha_carry_queue(ha_carry *c, ha_range r) {
    ha_context *queue = ha_transfer_queue(c->array, c->from, c->to, r, c->context);
    const ha_memory *dead = ha_is_dead(c->from->memory) ? c->from->memory : c->to->memory;
    if (!queue) c->attempt->point = (ha_point){ha_memory_context(dead), 0};
    return queue;
}

static void ha_carry_arrived(ha_carry *c, ha_context *queue, ha_range r) {
    ha_transfer_note(c->array, c->to, r);
    ha_transferred(c->array, c->from->memory, c->to->memory, queue, r, c->attempt->site);
    if (c->brought) ha_set_add(c->brought, r);
}

static ha_status ha_carry_plain(ha_carry *c, ha_range r) {
    ha_array *a = c->array;
    ha_context *queue = ha_carry_queue(c, r);
    int some = 0;
    if (!queue) return HA_LATER;
    ha_status s = ha_transfer_reserve(a, c->from, c->to, r, c->brought);
    if (!s) s = ha_come_after(a, c->from, r, 0, queue, c->attempt);
    if (!s) s = ha_come_after(a, c->to, r, 1, queue, c->attempt);
    if (!s) s = ha_carry_bundles(c, queue, NULL, &some);
    if (some) ha_transfer_outstanding(a, c->from, c->to, queue, r, c->attempt->site);
    if (!s) ha_carry_arrived(c, queue, r);
    return s;
}

/* ---- put into place by the device ------------------------------------------------------------- */

/* Enqueues both ways through a chunk of the device. HA_ERR_UNSUPPORTED: the device cannot, for now. */
static ha_status ha_carry_through(ha_carry *c, ha_context *queue, char *chunk, int *some) {
    const int out = !c->here_is_to;
    ha_spread *x = &c->spread;
    ha_status s = HA_OK;
    if (!out) s = ha_carry_some(c, queue, x->bundle, x->bundles, chunk, 0, some);
    if (s) return s;
    s = ha_spread_enqueue(x, queue, chunk, out);
    *some |= !s;
    if (s == HA_ERR_LOST) c->attempt->point = (ha_point){queue, 0};
    if (s == HA_ERR_LOST || s == HA_ERR_UNSUPPORTED || s == HA_ERR_MEMORY) ha_forget_note();
    if (s) return s == HA_ERR_LOST ? HA_LATER : s == HA_ERR_MEMORY ? HA_ERR_UNSUPPORTED : s;
    return out ? ha_carry_some(c, queue, x->bundle, x->bundles, chunk, 1, some) : s;
}

/* The same with a chunk that queues used before. */
static ha_status ha_carry_in_chunk(ha_carry *c, ha_context *queue, ha_chunk *chunk, ha_range r) {
    const ha_point last = chunk->last;
    ha_status s = HA_OK;
    int some = 0;
    if (last.queue && last.queue != queue && !ha_passed(last.queue, last.seq))
        s = ha_come_after_point(queue, last, c->attempt);
    if (!s) s = ha_carry_through(c, queue, (char *)chunk->block->data, &some);
    if (!some) return s;
    ha_transfer_outstanding(c->array, c->from, c->to, queue, r, c->attempt->site);
    ha_chunk_use(chunk, (ha_point){queue, ha_sequence(queue)});
    return s;
}

/* HA_ERR_UNSUPPORTED: nothing has changed; there is no chunk, or the device cannot. */
static ha_status ha_carry_spread(ha_carry *c, ha_range r) {
    ha_array *a = c->array;
    ha_memory *near = c->here_is_to ? c->to->memory : c->from->memory;
    ha_context *queue = ha_carry_queue(c, r);
    if (!queue) return HA_LATER;
    ha_status s = ha_transfer_reserve(a, c->from, c->to, r, c->brought);
    if (!s) s = ha_come_after(a, c->from, r, 0, queue, c->attempt);
    if (!s) s = ha_come_after(a, c->to, r, 1, queue, c->attempt);
    if (s) return s;
    ha_chunk *chunk = queue->memory == near ? ha_near_take(near, c->bytes, c->attempt->site) : NULL;
    if (!chunk) return HA_ERR_UNSUPPORTED;
    s = ha_carry_in_chunk(c, queue, chunk, r);
    ha_chunk_give(chunk);
    if (!s) ha_carry_arrived(c, queue, r);
    return s;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* Copies between a chunk and the host's records. */
static ha_status ha_carry_convert(ha_carry *c, ha_chunk *chunk, const ha_field_box *b) {
    const ha_record_form *f = ha_records_form(c->array);
    const ha_copying how = {.first = b->first, .last = b->last};
    void *const blob = chunk->block->data;
    ha_tables_take(&c->host, c->there.mapping, b->leaf, b->end);
    ha_chunk_map(&c->chunk, c->bytes, c->strand, c->strands, c->bundle, c->here.mapping, b);
    const ha_mapped staged = {&c->chunk.mapping, &blob};
    const ha_mapped host = {f->leaves == b->end - b->leaf && !c->there.mapping->counts
                                ? c->there.mapping
                                : &c->host.mapping,
                            c->there.blob};
    return ha_mapped_copy(c->here_is_to ? &staged : &host, c->here_is_to ? &host : &staged, &how,
                          NULL);
}

/* Whether the queue is done with a chunk. If not, the attempt knows what to wait for. */
static int ha_chunk_is_idle(ha_chunk *chunk, ha_attempt *attempt) {
    ha_context *c = chunk->last.queue;
    if (!c || ha_passed(c, chunk->last.seq)) return 1;
    if (chunk->mark && ha_guest_begin(c)) {
        const int done = c->ops->done(&chunk->mark->event);
        ha_guest_end(c);
        if (done < 0) ha_context_fail(c);
        if (done == 1) ha_mark_done(c, chunk->mark->covers);
        if (done) return 1;
    }
    attempt->point = chunk->last;
    if (chunk->mark) {
        pthread_mutex_lock(&c->lock);
        chunk->mark->users++;
        pthread_mutex_unlock(&c->lock);
        attempt->mark = chunk->mark;
    }
    return 0;
}

/* What was enqueued with a chunk is followed by an event, so that its end is known before that of what
 * comes later. Without one it is found out by what comes later. The caller's queue may go before the
 * chunk is used again, and its events with it. */
static void ha_chunk_follow(ha_chunk *chunk, ha_context *queue) {
    const ha_note note = ha_backend_note;
    ha_chunk_use(chunk, (ha_point){queue, ha_sequence(queue)});
    if (queue->adopted) return;
    if (ha_cover(queue, chunk->last.seq, &chunk->mark)) {
        chunk->mark = NULL;
        ha_backend_note = note;
    }
}

/* The queue works on a part of the device's memory, and on a chunk. */
static void ha_carry_follow(ha_carry *c, ha_chunk *chunk, ha_context *queue, ha_range r) {
    ha_incarnation *device = c->here_is_to ? c->to : c->from;
    ha_lock(c->array);
    ha_note_operation(&device->ops, queue, r, c->here_is_to, c->attempt->site);
    ha_unlock(c->array);
    ha_chunk_follow(chunk, queue);
}

/* ---- to a device ----------------------------------------------------------------------------- */

/* A chunk for the host to write. */
static ha_status ha_carry_idle_chunk(ha_carry *c, ha_context *queue, ha_chunk **chunk) {
    ha_status s = ha_chunk_take(queue->home->pinned, c->bytes, c->attempt, chunk);
    if (s == HA_LATER && c->attempt->for_chunk) ha_attempt_end(c->attempt);
    if (s || ha_chunk_is_idle(*chunk, c->attempt)) return s;
    ha_chunk_give(*chunk);
    return HA_LATER;
}

static ha_status ha_carry_up(ha_carry *c, const ha_field_box *b, ha_range r) {
    ha_array *a = c->array;
    ha_context *queue = ha_carry_queue(c, r);
    ha_chunk *chunk;
    int some = 0;
    if (!queue) return HA_LATER;
    ha_status s = ha_transfer_reserve(a, c->from, c->to, r, c->brought);
    if (!s) s = ha_come_after(a, c->from, r, 0, ha_host(), c->attempt);
    if (!s) s = ha_come_after(a, c->to, r, 1, queue, c->attempt);
    if (!s) s = ha_carry_idle_chunk(c, queue, &chunk);
    if (s) return s;
    s = ha_carry_convert(c, chunk, b);
    if (!s) s = ha_carry_bundles(c, queue, (char *)chunk->block->data, &some);
    if (some) ha_carry_follow(c, chunk, queue, r);
    ha_chunk_give(chunk);
    if (!s) ha_carry_arrived(c, queue, r);
    return s;
}

/* ---- from a device --------------------------------------------------------------------------- */

/* They stay in the order in which they were fetched. */
static void ha_ahead_end(ha_attempt *attempt, struct ha_ahead *at) {
    ha_chunk_give(at->chunk);
    for (; at + 1 < attempt->ahead + HA_AHEAD; at++) at[0] = at[1];
    at->chunk = NULL;
}

/* Enqueues what is in `here` on its way into a chunk. */
static ha_status ha_carry_fetch(ha_carry *c, struct ha_ahead *at, ha_range r) {
    ha_array *a = c->array;
    ha_context *queue = ha_carry_queue(c, r);
    ha_chunk *chunk;
    int some = 0;
    if (!queue) return HA_LATER;
    ha_status s = ha_ops_reserve(a, &c->from->ops, 1);
    if (!s) s = ha_come_after(a, c->from, r, 0, queue, c->attempt);
    if (!s) s = ha_chunk_take(queue->home->pinned, c->bytes, c->attempt, &chunk);
    if (s) return s;
    const ha_point last = chunk->last;
    if (last.queue && last.queue != queue && !ha_passed(last.queue, last.seq))
        s = ha_come_after_point(queue, last, c->attempt);
    if (!s) s = ha_carry_bundles(c, queue, (char *)chunk->block->data, &some);
    if (some) ha_carry_follow(c, chunk, queue, r);
    if (s) {
        ha_chunk_give(chunk);
        return s;
    }
    ha_lock(a);
    a->statistics.transfers++;
    a->statistics.bytes += ha_value_bytes(a, r);
    ha_unlock(a);
    ha_transferred(a, c->from->memory, c->to->memory, queue, r, c->attempt->site);
    *at = (struct ha_ahead){chunk, c->from, r};
    return HA_OK;
}

/* While a part comes, the next one is enqueued, if that needs no waiting. What fails here is found out
 * when that part is asked for. */
static void ha_carry_look_ahead(ha_carry *c) {
    ha_field_box b[HA_AHEAD];
    int n = 0, more = 1;
    while (more && n < HA_AHEAD && ha_carry_next(c, &b[n])) {
        const ha_range r = ha_field_box_range(c->array, &b[n++]);
        struct ha_ahead *at = ha_carry_place(c, NULL);
        if (c->way != HA_WAY_CONVERTS || ha_carry_place(c, &r)) continue;
        more = at && ha_carry_fetch(c, at, r) == HA_OK;
    }
    ha_forget_note();
    c->attempt->for_chunk = 0;
    while (n) c->pending[c->n++] = b[--n]; /* to be asked for one after the other */
}

/* Fetches a part that is not on its way. Others that are, from elsewhere, make room; nobody waits for a
 * chunk while holding one. */
static ha_status ha_carry_begin(ha_carry *c, struct ha_ahead **at, ha_range r) {
    while (!(*at = ha_carry_place(c, NULL))) ha_ahead_end(c->attempt, c->attempt->ahead);
    ha_status s = ha_carry_fetch(c, *at, r);
    if (s == HA_LATER && c->attempt->for_chunk) ha_attempt_end(c->attempt);
    return s;
}

static ha_status ha_carry_down(ha_carry *c, const ha_field_box *b, ha_range r) {
    ha_array *a = c->array;
    struct ha_ahead *at = ha_carry_place(c, &r);
    ha_status s = ha_transfer_reserve(a, c->from, c->to, r, c->brought);
    if (!s) s = ha_come_after(a, c->to, r, 1, ha_host(), c->attempt);
    if (!s && !at) s = ha_carry_begin(c, &at, r);
    if (s) return s;
    ha_carry_look_ahead(c);
    if (!ha_chunk_is_idle(at->chunk, c->attempt)) return HA_LATER;
    if (ha_is_lost(at->chunk->last)) {
        c->attempt->point = at->chunk->last;
        ha_ahead_end(c->attempt, at);
        return HA_LATER;
    }
    (void)ha_carry_is_coming(c, b); /* of this part again */
    if ((s = ha_carry_convert(c, at->chunk, b))) return s;
    ha_ahead_end(c->attempt, at);
    ha_lock(a);
    ha_set_add(&c->to->valid, r);
    ha_unlock(a);
    if (c->brought) ha_set_add(c->brought, r);
    return HA_OK;
}

/* ---- a whole box ----------------------------------------------------------------------------- */

static int ha_is_on_host(const ha_incarnation *in) { return in->memory == &ha_host_memory; }

static ha_status ha_carry_make(ha_carry *c) {
    const ha_record_form *f = ha_records_form(c->array);
    const ha_mapping *m = c->here.mapping;
    const size_t strands = (size_t)ha_strands_count(m, 0, f->leaves), rows = (size_t)f->leaves;
    const size_t byte_rows = (size_t)m->byte_rows;
    char *memory = (char *)HARRAY_MALLOC(
        strands * (sizeof *c->strand + sizeof *c->bundle + sizeof(ha_linearizer)) +
        (2 * rows + byte_rows) * sizeof(ha_row));
    if (!memory) return HA_ERR_MEMORY;
    c->strand = (ha_strand *)(void *)memory;
    c->bundle = (ha_bundle *)(void *)(c->strand + strands);
    c->chunk.linearizer = (ha_linearizer *)(void *)(c->bundle + strands);
    c->chunk.row = (ha_row *)(void *)(c->chunk.linearizer + strands);
    c->chunk.byte_row = c->chunk.row + rows;
    c->host.row = c->chunk.byte_row + byte_rows;
    return HA_OK;
}

static void ha_carry_end(ha_carry *c) {
    HARRAY_FREE(c->spread.strand);
    HARRAY_FREE(c->strand);
    c->strand = NULL;
    c->spread = (ha_spread){.queue = NULL};
    c->asked = 0;
}

static ha_status ha_records_detour(ha_array *a, ha_incarnation *from, ha_incarnation *to,
                                   ha_range r, ha_context *c, ha_set *brought, ha_attempt *attempt);

/* A part for which it has been decided how. */
static ha_status ha_carry_part(ha_carry *c, const ha_field_box *b) {
    const ha_range r = ha_field_box_range(c->array, b);
    ha_status s;
    switch (c->way) {
    case HA_WAY_PIECES:
        return ha_carry_plain(c, r);
    case HA_WAY_SPREAD:
        s = ha_carry_spread(c, r);
        if (s != HA_ERR_UNSUPPORTED) return s;
        c->attempt->no_spread = 1;
        c->spread.queue = NULL; /* another way is looked for */
        c->pending[c->n++] = *b;
        return HA_OK;
    case HA_WAY_CONVERTS:
        break;
    }
    if (c->detours)
        return ha_records_detour(c->array, c->from, c->to, r, c->context, c->brought, c->attempt);
    return c->here_is_to ? ha_carry_up(c, b, r) : ha_carry_down(c, b, r);
}

/* Whether a part is on its way to the host, where it is still missing: somebody else may have been faster. */
static int ha_carry_awaits(const ha_carry *c, const struct ha_ahead *at) {
    return at->chunk && at->from == c->from && !ha_set_overlaps(&c->to->valid, at->range);
}

/* What is still to be moved of r: the parts that are pending, and *rest. What is on its way to the host
 * comes first, also where it is not in r: the attempt before this one may have found the same missing, cut
 * in other pieces. So nothing is fetched twice. */
static ha_status ha_carry_rest(ha_carry *c, ha_range r, ha_set *rest) {
    const struct ha_ahead *at = c->attempt->ahead;
    rest->grid = c->array->grid;
    if (!ha_is_on_host(c->to)) return ha_set_put(rest, r);
    ha_status s = ha_set_missing(&c->to->valid, r, rest);
    for (int i = 0; i < HA_AHEAD && !s; i++)
        if (ha_carry_awaits(c, &at[i])) s = ha_set_drop(rest, at[i].range);
    if (s) return s;
    if (rest->n) c->pending[c->n++] = ha_field_box_of(c->array, ha_set_ranges(rest)[--rest->n]);
    for (int i = HA_AHEAD; i-- > 0;)
        if (ha_carry_awaits(c, &at[i])) c->pending[c->n++] = ha_field_box_of(c->array, at[i].range);
    return HA_OK;
}

static ha_status ha_carry_out(ha_carry *c, ha_range r) {
    ha_set rest = {.n = 0};
    ha_field_box b;
    ha_status s = ha_carry_make(c);
    if (!s) s = ha_carry_rest(c, r, &rest);
    while (!s && (c->n || rest.n)) {
        if (!c->n) c->pending[c->n++] = ha_field_box_of(c->array, ha_set_ranges(&rest)[--rest.n]);
        if (ha_carry_next(c, &b)) s = ha_carry_part(c, &b);
    }
    ha_set_free(&rest);
    ha_carry_end(c);
    return s;
}

static ha_status ha_records_move(ha_array *a, ha_incarnation *from, ha_incarnation *to, ha_range r,
                                 ha_context *context, ha_set *brought, ha_attempt *attempt);

/* By way of the host's incarnation. */
static ha_status ha_records_detour(ha_array *a, ha_incarnation *from, ha_incarnation *to,
                                   ha_range r, ha_context *c, ha_set *brought,
                                   ha_attempt *attempt) {
    ha_incarnation *host;
    ha_set missing = {.n = 0};
    ha_status s = ha_staging_host(a, c, &host, attempt);
    if (s || !host) return s ? s : HA_ERR_MEMORY;
    s = ha_set_missing(&host->valid, r, &missing);
    for (uint32_t i = 0; i < missing.n && !s; i++)
        s = ha_records_move(a, from, host, ha_set_ranges(&missing)[i], c, NULL, attempt);
    ha_set_free(&missing);
    return s ? s : ha_records_move(a, host, to, r, c, brought, attempt);
}

/* Whether one of two devices puts a whole box into place that the other one has. */
static int ha_carry_is_direct(ha_carry *c, ha_range r) {
    const ha_field_box b = ha_field_box_of(c->array, r);
    ha_cut cut;
    int pair;
    if (ha_carry_make(c)) return 0;
    int direct = ha_carry_lattices(c, &b, &pair, &cut);
    if (direct) (void)ha_carry_shape(c, &b, &cut);
    direct = direct && c->way != HA_WAY_CONVERTS;
    ha_carry_end(c);
    return direct;
}

static ha_status ha_records_move(ha_array *a, ha_incarnation *from, ha_incarnation *to, ha_range r,
                                 ha_context *context, ha_set *brought, ha_attempt *attempt) {
    const ha_mapped source = ha_records_at(a, from), target = ha_records_at(a, to);
    const int devices = !ha_is_on_host(from) && !ha_is_on_host(to);
    const int differ = strcmp(source.mapping->text, target.mapping->text) != 0;
    const ha_memory *link = devices ? ha_link_device(from->memory, to->memory) : NULL;
    ha_carry c = {.array = a,
                  .from = from,
                  .to = to,
                  .context = context,
                  .brought = brought,
                  .attempt = attempt,
                  .converts = !devices || differ,
                  .detours = devices,
                  .here_is_to = devices && differ ? link == to->memory : !ha_is_on_host(to),
                  .loose = !from->wrapped && !to->wrapped};
    c.here = c.here_is_to ? target : source;
    c.there = c.here_is_to ? source : target;
    if (devices && (!link || (differ && !ha_carry_is_direct(&c, r))))
        return ha_records_detour(a, from, to, r, context, brought, attempt);
    return ha_carry_out(&c, r);
}

#endif
