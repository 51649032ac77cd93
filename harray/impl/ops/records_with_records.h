/* ha_records_apply_records: arithmetic with the fields of two record arrays. Here it is that of layout/arithmetic.h; where
 * a device compiles kernels, it is one over the records on the left. */
#ifndef HARRAY_IMPL_OPS_RECORDS_WITH_RECORDS_H
#define HARRAY_IMPL_OPS_RECORDS_WITH_RECORDS_H

#include "records_apply.h"
#include "records_pairs.h"

static const char ha_join_name[] = "ha_records_apply_records";

/* A call. Where both sides are the same records there is no other one, and what is said of the left is of both. Where the
 * right side is one record it meets all: shifted they meet it, too. */
typedef struct ha_join_call {
    ha_records *left, *right;
    ha_operator operation;
    const ha_applying *how;
    ha_context *context;
    const char *site;
    ha_pairing pairing;
    char *write, *read;       /* how they are opened */
    ha_region box, right_box; /* the records that meet */
    int is_self, is_one, is_shifted, is_empty, as_kernel;
} ha_join_call;

/* ---- as a kernel --------------------------------------------------------------------------------- */

static const char *const ha_join_shifts[] = {"s0", "s1", "s2", "s3"};

HA_IN_ void ha_join_put_body(ha_text *t, const ha_join_call *c, ha_value_needs *needs) {
    ha_print(t, "{ ");
    if (c->is_shifted || c->is_one) ha_print(t, "ha_cursor there = at; ");
    for (int d = 0; d < HA_MAPPING_RANK && c->is_one; d++) ha_print(t, "there.i[%d] = 0; ", d);
    for (int d = 0; d < ha_records_rank(c->left) && c->is_shifted; d++)
        ha_print(t, "there.i[%d] += %s; ", d, ha_join_shifts[d]);
    ha_pairing_put_body(t, &c->pairing, needs);
    ha_print(t, "}");
}

/* What the kernel is found by. It gives all that it opens to assign a value, or is not run at all. */
HA_IN_ void ha_join_put(ha_text *t, int which, const void *call) {
    const ha_join_call *c = (const ha_join_call *)call;
    ha_value_needs needs;
    if (which == HA_MADE_WHAT)
        ha_print(t, "%s%s", c->operation == HA_ASSIGN && !c->is_self ? "over" : "", c->write);
    if (which == HA_MADE_BODY) ha_join_put_body(t, c, &needs);
    if (which == HA_MADE_RECORD) ha_made_put_record(t, c->pairing.left);
    if (which == HA_MADE_OTHER_WHAT && !c->is_self) ha_print(t, "%s", c->read);
    if (which == HA_MADE_OTHER_RECORD && !c->is_self) {
        ha_print(t, "%d: ", ha_records_rank(c->right));
        ha_made_put_record(t, c->pairing.right);
    }
}

HA_IN_ void ha_join_describe(const ha_join_call *c, ha_made_kernel *made) {
    ha_value_needs needs = {0, 0, 0};
    ha_text nowhere = ha_text_into(NULL, 0);
    ha_join_put_body(&nowhere, c, &needs);
    if (!c->is_self) ha_made_add_records(made, 1, ha_records_rank(c->right), "q", "ha_those");
    for (int d = 0; d < ha_records_rank(c->left) && c->is_shifted; d++)
        ha_made_add(made, HA_KERNEL_VALUE_, ha_join_shifts[d], "int64_t")->bytes = sizeof(int64_t);
    ha_pairing_add_uses(made, &needs);
}

HA_IN_ ha_status ha_join_launch(const ha_join_call *c) {
    const ha_kernel_use_ left = {c->left, NULL, NULL}, right = {c->right, NULL, &c->right_box};
    const void *given[HA_MADE_PARAMETERS] = {&left, &right};
    ha_made_kernel *fresh = ha_made_new(ha_join_name, ha_records_rank(c->left), ha_join_put, c);
    if (!fresh) return ha_fail(HA_ERR_MEMORY, ha_join_name, "no memory for its kernel");
    fresh->parameter[0].updates = c->operation != HA_ASSIGN;
    ha_join_describe(c, fresh);
    const ha_made_kernel *made = ha_made_keep(fresh);
    for (int d = 0; d < HA_MAPPING_RANK && c->is_shifted; d++) given[2 + d] = &c->how->shift[d];
    return ha_kernel_launch_(&made->kernel, c->context, &c->box, given);
}

/* ---- by the mappings' own loops ------------------------------------------------------------------ */

typedef struct ha_join_work {
    ha_records_loop loop; /* its blobs are those of both sides */
    const ha_join_call *call;
    ha_records_access left, right;
} ha_join_work;

/* Each record on the left with its own one, or with the only one. */
HA_IN_ ha_status ha_join_apply(const ha_join_call *c, const ha_mapped *left, const ha_mapped *right,
                               const ha_applying *how, ha_error *error) {
    const ha_asked asked = ha_ask(ha_join_name, error);
    const ha_apply_right side = {.kind = c->is_one ? HA_RIGHT_ONE : HA_RIGHT_VIEW, .view = right};
    return ha_apply(&asked, left, c->operation, &side, how);
}

HA_IN_ const ha_records_access *ha_join_right(const ha_join_work *w) {
    return w->call->is_self ? &w->left : &w->right;
}

HA_IN_ void ha_join_loops(ha_join_work *w, void *const *left_blob, void *const *right_blob) {
    const ha_join_call *c = w->call;
    const ha_mapped left = {w->left.mapping, left_blob};
    const ha_mapped right = {ha_join_right(w)->mapping, right_blob};
    int64_t first[HA_MAPPING_RANK], last[HA_MAPPING_RANK];
    ha_applying how = *c->how;
    for (int d = 0; d < HA_MAPPING_RANK; d++) {
        first[d] = c->box.first[d];
        last[d] = c->box.last[d];
    }
    how.first = first;
    how.last = last;
    w->loop.status = ha_join_apply(c, &left, &right, &how, &w->loop.error);
}

/* On a queue, while its caller waits. */
HA_IN_ void ha_join_queued(const ha_queue *queue, void *argument) {
    ha_join_work *w = (ha_join_work *)*(ha_records_loop **)argument;
    void **right = ha_blobs_on_queue(queue, &w->left, w->loop.blob);
    (void)ha_blobs_on_queue(queue, ha_join_right(w), right);
    ha_join_loops(w, w->loop.blob, right);
}

HA_IN_ ha_status ha_join_on_queue(ha_join_work *w, ha_context *context) {
    const size_t blobs = (size_t)w->left.mapping->blobs + (size_t)ha_join_right(w)->mapping->blobs;
    return ha_loop_on_queue(&w->loop, blobs, ha_join_queued, &w->left, context, ha_join_name,
                            w->call->site);
}

/* Values that are to be replaced are kept until they are: so nothing is lost when there is no memory. */
HA_IN_ ha_status ha_join_here(const ha_join_call *c, ha_context *context) {
    ha_join_work w = {.call = c};
    ha_request both[] = {{.opened = &w.left,
                          .records = c->left,
                          .context = context,
                          .what = c->write,
                          .box = &c->box,
                          .updates_ = c->operation != HA_ASSIGN},
                         {.opened = &w.right,
                          .records = c->right,
                          .context = context,
                          .what = c->read,
                          .box = &c->right_box}};
    const size_t opened = c->is_self ? 1 : 2;
    ha_status s = ha_open_many_(both, opened, c->site);
    if (s) return s;
    if (ha_is_host(context))
        ha_join_loops(&w, w.left.blob, ha_join_right(&w)->blob);
    else
        s = ha_join_on_queue(&w, context);
    const ha_status closed = ha_close_many(both, opened);
    if (s || closed) return s ? s : closed;
    if (!w.loop.status) return HA_OK;
    return ha_fail(w.loop.status, ha_join_name, "%s: records %s and %s at %s: %s", c->site,
                   ha_records_label(c->left).text, ha_records_label(c->right).text, context->name,
                   w.loop.error.text);
}

/* ---- what is asked ------------------------------------------------------------------------------- */

/* Of both sides the mappings at the context, while they stay. */
typedef struct ha_join_mappings {
    const ha_mapping *left, *right;
} ha_join_mappings;

HA_IN_ ha_status ha_join_refuse(const ha_join_call *c, ha_status s, const char *why) {
    return ha_fail(s, ha_join_name, "%s: records %s and %s: %s", c->site,
                   ha_records_label(c->left).text, ha_records_label(c->right).text, why);
}

HA_IN_ char *ha_join_what(const ha_pairing *p, const char *mode, int right) {
    ha_text t = ha_text_into(NULL, 0);
    ha_pairing_put_what(&t, p, mode, right);
    const size_t bytes = t.length + 1;
    char *what = (char *)HARRAY_MALLOC(bytes);
    if (!what) return NULL;
    t = ha_text_into(what, bytes);
    ha_pairing_put_what(&t, p, mode, right);
    return what;
}

HA_IN_ int ha_join_has_bits(const ha_join_call *c, const ha_join_mappings *m) {
    int has = 0;
    for (int64_t k = 0; k < c->pairing.pairs; k++) {
        const ha_leaf_pair *pair = &c->pairing.pair[k];
        has |= ha_row_has_bits(m->left, &m->left->row[pair->to_number]) ||
               ha_row_has_bits(m->right, &m->right->row[pair->from_number]);
    }
    return has;
}

/* The fields that meet, and whether a kernel can do it in the layouts that there are. */
HA_IN_ ha_status ha_join_pair(ha_join_call *c, const ha_join_mappings *m) {
    ha_pairing *p = &c->pairing;
    *p = (ha_pairing){.left = m->left->record,
                      .right = m->right->record,
                      .operation = c->operation,
                      .of = c->is_self ? "ha_these_" : "ha_those_",
                      .from = c->is_self ? "p" : "q",
                      .at = c->is_shifted || c->is_one ? "there" : "at"};
    if (ha_pairing_make(p, m->left->rows, m->right->rows, c->how->paths)) return HA_ERR_MEMORY;
    c->write = ha_join_what(p, "write ", 0);
    c->read = ha_join_what(p, "read ", 1);
    if (!c->write || !c->read) return HA_ERR_MEMORY;
    const size_t bytes = ha_made_bytes(m->left) + (c->is_self ? 0 : ha_made_bytes(m->right));
    c->as_kernel = bytes + HA_MAPPING_RANK * sizeof(int64_t) <= HA_ARGUMENT_BYTES &&
                   ha_pairing_has_text(p) && !ha_join_has_bits(c, m);
    return HA_OK;
}

/* What is asked, with no record at all: so that what is wrong is told before anything is opened. */
HA_IN_ ha_status ha_join_try(const ha_join_call *c, const ha_join_mappings *m, ha_error *error) {
    static const int64_t none[HA_MAPPING_RANK];
    const ha_applying nowhere = {.paths = c->how->paths, .first = none, .last = none};
    const size_t lefts = (size_t)m->left->blobs, blobs = lefts + (size_t)m->right->blobs;
    void **blob = (void **)HARRAY_MALLOC((blobs + 1) * sizeof *blob);
    if (!blob) return HA_ERR_MEMORY;
    for (size_t b = 0; b < blobs; b++) blob[b] = NULL;
    const ha_mapped left = {m->left, blob}, right = {m->right, blob + lefts};
    const ha_status s = ha_join_apply(c, &left, &right, &nowhere, error);
    HARRAY_FREE(blob);
    return s;
}

HA_IN_ ha_status ha_join_mappings_of(const ha_join_call *c, ha_array *left, ha_array *right,
                                     ha_join_mappings *m) {
    ha_placement *p, *q;
    ha_status s = ha_placement_get(left, c->context->memory, &p);
    if (!s) s = ha_placement_get(right, c->context->memory, &q);
    if (!s) *m = (ha_join_mappings){p->mapping, q->mapping};
    return s;
}

/* Both have the same extents meanwhile, and the mappings are kept. */
HA_IN_ ha_status ha_join_look(ha_join_call *c) {
    ha_error error = {0};
    ha_join_mappings m;
    ha_array *left, *right;
    ha_status s = ha_records_begin_at(c->left, ha_join_name, &left);
    if (s) return s;
    if ((s = ha_records_begin_at(c->right, ha_join_name, &right))) {
        ha_records_leave(c->left);
        return s;
    }
    s = ha_join_mappings_of(c, left, right, &m);
    if (!s) s = ha_join_try(c, &m, &error);
    if (!s) s = ha_join_pair(c, &m);
    if (s) s = ha_join_refuse(c, s, *error.text ? error.text : "there is no memory");
    ha_records_leave(c->right);
    ha_records_leave(c->left);
    return s;
}

/* ---- where --------------------------------------------------------------------------------------- */

/* The indices of a dimension that are inside of both. Shifted that far, they are inside of nothing. One record is met by
 * as many as there are. */
HA_IN_ void ha_join_clip(ha_join_call *c, int d) {
    const int64_t extent = ha_records_extent(c->left, d);
    const int64_t other = c->is_one ? extent : ha_records_extent(c->right, d);
    const int64_t shift = c->is_shifted ? c->how->shift[d] : 0;
    int64_t first = c->how->first && c->how->first[d] > 0 ? c->how->first[d] : 0;
    int64_t last = c->how->last ? ha_least(c->how->last[d], extent) : extent;
    if (shift < 0) first = shift < -extent ? extent : first > -shift ? first : -shift;
    if (shift > 0)
        last = ha_least(last, shift > other ? 0 : other - shift);
    else if (shift > -extent)
        last = ha_least(last, other - shift);
    if (first >= last) c->is_empty = 1;
    if (c->is_empty) return;
    c->box.first[d] = (ptrdiff_t)first;
    c->box.last[d] = (ptrdiff_t)last;
    if (c->is_one) return;
    c->right_box.first[d] = (ptrdiff_t)(first + shift);
    c->right_box.last[d] = (ptrdiff_t)(last + shift);
}

HA_IN_ ha_status ha_join_choose(ha_join_call *c) {
    ha_status s = ha_join_look(c);
    if (s) return s;
    if (c->is_self && c->is_shifted)
        return ha_join_refuse(c, HA_ERR_ARGUMENT,
                              "shifted, a record would meet another one of its own array");
    c->box = c->right_box = ha_box1(0, 1);
    for (int d = 0; d < ha_records_rank(c->left); d++) ha_join_clip(c, d);
    if (c->is_empty) return HA_OK;
    if (ha_is_host(c->context)) return ha_join_here(c, c->context);
    const ha_kernel_way way = ha_way_of(c->context);
    if (way == HA_WAY_UNKNOWN) return ha_join_refuse(c, HA_ERR_MEMORY, "there is no memory");
    if (way == HA_WAY_COMPILED && c->as_kernel) return ha_join_launch(c);
    return ha_join_here(c, way == HA_WAY_FUNCTION ? c->context : ha_host());
}

ha_status ha_records_apply_records_(ha_records *left, ha_operator op, ha_records *right,
                                    const ha_applying *how, ha_context *context, const char *site) {
    static const ha_applying everything;
    HA_TELLS_EVENTS_;
    ha_status s = ha_records_enter(left, ha_join_name, site);
    if (!s) s = ha_records_enter(right, ha_join_name, site);
    if (s) return s;
    ha_join_call c = {.left = left,
                      .right = right,
                      .operation = op,
                      .how = how ? how : &everything,
                      .context = ha_resolve(context),
                      .site = ha_from(site),
                      .is_self = left == right,
                      .is_one = left != right && ha_records_size(right) == 1};
    for (int d = 0; d < ha_records_rank(left) && c.how->shift && !c.is_one; d++)
        c.is_shifted |= c.how->shift[d] != 0;
    HA_FROM(c.site) {
        s = ha_op_check_word(&ha_op_apply_words, ha_join_name, (int)op);
        if (!s) s = ha_join_choose(&c);
    }
    HARRAY_FREE(c.pairing.pair);
    HARRAY_FREE(c.write);
    HARRAY_FREE(c.read);
    return s;
}

#endif
