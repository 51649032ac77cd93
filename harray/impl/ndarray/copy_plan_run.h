/* Carrying out a plan of copies: everything is opened, copied, closed.
 *
 *     easily     when all is valid already, with nobody in the way, as the fast path of a single access
 *                (access/open.h): each array is locked once. What the host copies of an array is one
 *                access around all of it, if that is easy, too: then whoever wants what lies between
 *                waits for the end of the copying. Else each view is one.
 *     otherwise  as ha_open_many
 *
 * What a device copies is one command, if it has one for many copies. */
#ifndef HARRAY_IMPL_NDARRAY_COPY_PLAN_RUN_H
#define HARRAY_IMPL_NDARRAY_COPY_PLAN_RUN_H

#include "copy_plan.h"

/* A pair that is open. */
typedef struct ha_pair_run {
    ha_context *context; /* NULL: there is nothing more to copy */
    char *to;            /* index 0, 0, … */
    const char *from;
} ha_pair_run;

/* An array that is opened easily. */
typedef struct ha_plan_held {
    const ha_plan_use *use; /* n accesses */
    size_t n;
    uint64_t ticket; /* of the first; the others follow */
} ha_plan_held;

typedef struct ha_plan_run {
    const ha_copy_plan *plan;
    const char *site;
    ha_array **array; /* the plan's, or those in their places */
    ha_plan_held *held;
    ha_pair_run *pair;
    ha_strided_copy *table; /* for a command */
} ha_plan_run;

/* ---- opening easily ------------------------------------------------------------------------- */

/* Whether all n are easy, of which each might leave an operation. */
HA_IN_ int ha_uses_are_easy(ha_array *a, const ha_plan_use *use, size_t n) HA_REQUIRES_(a->lock) {
    ha_incarnation *in;
    if (n > a->holders_easy || a->holders > a->holders_easy - n) return 0;
    for (size_t i = 0; i < n; i++) {
        ha_context *c = use[i].context;
        const ha_range r = use[i].range;
        if (!ha_is_easy(a, c, r, r, use[i].writes > 0, 1, &in)) return 0;
        if (c->ops && !ha_ops_has_room(&in->ops, (uint32_t)n)) return 0;
    }
    return 1;
}

HA_IN_ void ha_uses_hold(ha_array *a, ha_plan_held *held, const char *site) HA_REQUIRES_(a->lock) {
    held->ticket = a->tickets + 1;
    for (size_t i = 0; i < held->n; i++) {
        const ha_plan_use *use = &held->use[i];
        ha_access x;
        ha_hold_easily(&x, a, ha_incarnation_find(a, use->context->memory), use->context,
                       use->writes > 0, use->range, use->range, site);
    }
}

/* They are held, so the blocks stay. */
HA_IN_ void ha_uses_addresses(const ha_plan_run *run, const ha_plan_array *of, ha_array *a)
    HA_REQUIRES_(a->lock) {
    const ha_incarnation *in = a->recent;
    for (const ha_plan_use *use = &run->plan->use[of->first], *end = &run->plan->use[of->end];
         use < end; use++) {
        ha_pair_run *pair = &run->pair[use->pair];
        if (in->memory != use->context->memory) in = ha_incarnation_find(a, use->context->memory);
        pair->context = use->context;
        if (use->writes)
            pair->to = in->data + use->at;
        else
            pair->from = in->data + use->at;
    }
}

HA_IN_ int ha_plan_hold(const ha_plan_run *run, size_t i) {
    const ha_plan_array *of = &run->plan->array[i];
    ha_array *a = run->array[i];
    ha_plan_held *held = &run->held[i];
    *held = (ha_plan_held){.use = &of->all, .n = of->end > of->first};
    if (!held->n) return 1;
    ha_lock(a);
    int easy = !of->all.context->ops && ha_uses_are_easy(a, held->use, 1);
    if (!easy) {
        held->use = &run->plan->use[of->first];
        held->n = of->end - of->first;
        easy = ha_uses_are_easy(a, held->use, held->n);
    }
    if (easy) {
        ha_uses_hold(a, held, run->site);
        ha_uses_addresses(run, of, a);
    }
    ha_unlock(a);
    return easy;
}

/* done: written, too. The version changes only then: nothing is to be seen of what is then opened
 * otherwise. */
HA_IN_ void ha_plan_let_go(const ha_plan_run *run, size_t number, int done) {
    const ha_plan_held *held = &run->held[number];
    ha_array *a = run->array[number];
    if (!held->n) return;
    ha_lock(a);
    for (size_t i = held->n; i-- > 0;) { /* usually they are the last in the table */
        ha_holder *h = ha_holder_find(a, held->ticket + i);
        if (h->context->ops) ha_note_access(a, h);
        if (done) a->version += held->use[i].writes;
        ha_holder_take_out(a, h);
    }
    const uint32_t waiters = a->waiters & HA_WAITING;
    ha_unlock(a);
    if (waiters) ha_wake(a);
}

HA_IN_ void ha_plan_let_all_go(const ha_plan_run *run, size_t n, int done) {
    for (size_t i = 0; i < n; i++) ha_plan_let_go(run, i, done);
}

/* All or nothing; 0: nothing. */
HA_IN_ int ha_plan_open_easily(const ha_plan_run *run) {
    size_t n = 0;
    while (n < run->plan->arrays && ha_plan_hold(run, n)) n++;
    const int all = n == run->plan->arrays;
    if (!all) ha_plan_let_all_go(run, n, 0);
    return all;
}

/* ---- copying -------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_pair_fail(const ha_plan_run *run, size_t i, const ha_context *c, ha_status s) {
    return ha_view_fail(s, ha_plan_name, &run->plan->pair[i].pair.to,
                        "%s: copying pair %zu at %s failed", run->site, i, c->name);
}

HA_IN_ ha_strided_copy ha_pair_pieces(const ha_planned *p, const ha_pair_run *pair) {
    ha_strided_copy pieces = p->pieces;
    pieces.to = pair->to + p->rows.to;
    pieces.from = pair->from + p->rows.from;
    return pieces;
}

/* The same copy of elements instead of runs of them, as devices take many. 0: it has too many levels, or
 * too large elements. */
HA_IN_ int ha_pieces_scatter(ha_strided_copy *copy, size_t element) {
    const size_t n = copy->bytes / element;
    if (n > 1) {
        if (copy->levels >= HA_SCATTER_LEVELS) return 0;
        for (int k = copy->levels++; k > 0; k--) {
            copy->count[k] = copy->count[k - 1];
            copy->to_step[k] = copy->to_step[k - 1];
            copy->from_step[k] = copy->from_step[k - 1];
        }
        copy->count[0] = n;
        copy->to_step[0] = copy->from_step[0] = copy->bytes = element;
    }
    return ha_strided_is_scatter(copy);
}

/* The pairs of one queue from the first on, as a table for one command. *n: how many there are. 0: there
 * is no such command for them. */
HA_IN_ int ha_plan_table(const ha_plan_run *run, size_t first, size_t *n) {
    const ha_context *c = run->pair[first].context;
    int fits = c->memory != &ha_host_memory && HA_HAS_(c->ops, ha_queue_ops, copy_strided);
    *n = 0;
    for (size_t i = first; i < run->plan->count && fits; i++) {
        const ha_planned *p = &run->plan->pair[i];
        if (run->pair[i].context != c) continue;
        run->table[*n] = ha_pair_pieces(p, &run->pair[i]);
        fits = ha_pieces_scatter(&run->table[(*n)++], p->pair.to.array->element);
    }
    return fits;
}

/* HA_ERR_UNSUPPORTED: not by one command. */
HA_IN_ ha_status ha_plan_command(const ha_plan_run *run, size_t first) {
    ha_context *c = run->pair[first].context;
    size_t n;
    if (!ha_plan_table(run, first, &n) || n < 2) return HA_ERR_UNSUPPORTED;
    ha_status s = ha_queue_status(c, c->ops->copy_strided(c->queue, NULL, 0));
    if (!s) s = ha_queue_status(c, c->ops->copy_strided(c->queue, run->table, n));
    if (s == HA_ERR_UNSUPPORTED) ha_forget_note();
    return s;
}

/* All pairs of one queue from the first on. */
HA_IN_ ha_status ha_plan_copy_there(const ha_plan_run *run, size_t first) {
    ha_context *c = run->pair[first].context;
    ha_status s = ha_plan_command(run, first);
    const int at_once = s != HA_ERR_UNSUPPORTED;
    if (at_once && s) return ha_pair_fail(run, first, c, s);
    for (size_t i = first; i < run->plan->count; i++) {
        if (run->pair[i].context != c) continue;
        const ha_strided_copy pieces = ha_pair_pieces(&run->plan->pair[i], &run->pair[i]);
        int some;
        if (!at_once && (s = ha_move_copy(c, &pieces, &some))) return ha_pair_fail(run, i, c, s);
        run->pair[i].context = NULL;
    }
    return HA_OK;
}

HA_IN_ ha_status ha_pair_copy(const ha_planned *p, const ha_pair_run *pair) {
    ha_misfit misfit;
    if (p->converts)
        return ha_copy_opened(&p->pair.to, pair->to, &p->pair.from, pair->from, &misfit);
    ha_strided_carry_out(&p->rows, pair->to, pair->from);
    return HA_OK;
}

/* The devices first: they work while the host copies. */
HA_IN_ ha_status ha_plan_copy(const ha_plan_run *run) {
    ha_status s = HA_OK;
    for (size_t i = 0; i < run->plan->count && !s; i++)
        if (run->pair[i].context && run->pair[i].context->ops) s = ha_plan_copy_there(run, i);
    for (size_t i = 0; i < run->plan->count && !s; i++) {
        if (!run->pair[i].context) continue;
        s = ha_pair_copy(&run->plan->pair[i], &run->pair[i]);
        if (s) return ha_pair_fail(run, i, ha_host(), s);
    }
    return s;
}

/* ---- opening otherwise ------------------------------------------------------------------------ */

/* A pair that is opened like any other views. */
typedef struct ha_pair_open {
    darray to, from; /* of the arrays that are copied now */
    ha_access write, read;
} ha_pair_open;

HA_IN_ void ha_plan_requests(const ha_plan_run *run, ha_pair_open *open, ha_request *requests) {
    memset(requests, 0, 2 * run->plan->count * sizeof *requests);
    for (size_t i = 0; i < run->plan->count; i++, open++, requests += 2) {
        const ha_planned *p = &run->plan->pair[i];
        open->to = p->pair.to;
        open->from = p->pair.from;
        open->to.array = run->array[p->to];
        open->from.array = run->array[p->from];
        const int there = ha_copy_fits_device(&open->to, &open->from, p->context);
        ha_context *c = there ? p->context : ha_host();
        requests[0] = (ha_request){
            .access = &open->read, .context = c, .how = HA_READ, .view = &open->from};
        requests[1] = (ha_request){
            .access = &open->write, .context = c, .how = HA_OVERWRITE, .view = &open->to};
    }
}

HA_IN_ ha_status ha_plan_copy_opened(const ha_plan_run *run, ha_pair_open *open) {
    for (size_t i = 0; i < run->plan->count; i++) {
        const ha_pair_open *o = &open[i];
        run->pair[i] = (ha_pair_run){o->write.size ? o->write.context : NULL, (char *)o->write.data,
                                     (const char *)o->read.data};
    }
    ha_tell_later();
    ha_status s = ha_plan_copy(run);
    for (size_t i = 0; i < run->plan->count; i++) {
        HA_IGNORE_(ha_close_(&open[i].read));
        HA_IGNORE_(ha_close_(&open[i].write));
    }
    ha_tell_now();
    return s;
}

HA_IN_ ha_status ha_plan_no_memory(const ha_plan_run *run) {
    const ha_copy_plan *plan = run->plan;
    return ha_fail(HA_ERR_MEMORY, ha_plan_name, "%s: no memory to open %zu pairs, array %s first",
                   run->site, plan->count, ha_label_of(plan->pair[0].pair.to.array).text);
}

HA_IN_ ha_status ha_plan_run_slowly(const ha_plan_run *run) {
    const size_t count = run->plan->count;
    ha_open_set t = {.operation = ha_plan_name, .views_checked = 1};
    ha_pair_open *open = (ha_pair_open *)HARRAY_MALLOC(count *
                                                       (sizeof *open + 2 * sizeof(ha_request)));
    if (!open) return ha_plan_no_memory(run);
    ha_request *requests = (ha_request *)(void *)(open + count);
    ha_plan_requests(run, open, requests);
    ha_status s = ha_open_all(&t, requests, 2 * count, run->site);
    if (!s) s = ha_plan_copy_opened(run, open);
    HARRAY_FREE(open);
    return s;
}

/* ---- other arrays ----------------------------------------------------------------------------- */

HA_IN_ ha_status ha_plan_refuse_array(const ha_plan_run *run, size_t i, ha_array *a,
                                      const char *reason) {
    return ha_fail(HA_ERR_ARGUMENT, ha_plan_name, "%s: array %zu, %s: %s", run->site, i,
                   ha_label_of(a).text, reason);
}

HA_IN_ int ha_arrays_are_alike(ha_array *x, ha_array *y) {
    return x->element == y->element && !strcmp(x->type, y->type) && !x->ops &&
           ha_grids_equal(x->grid, y->grid) && (x->grid || ha_array_size(x) == ha_array_size(y));
}

HA_IN_ ha_status ha_plan_replace(const ha_plan_run *run, size_t i, ha_array *of, ha_array *by) {
    const ha_copy_plan *plan = run->plan;
    if (!of || !by)
        return ha_fail(HA_ERR_ARGUMENT, ha_plan_name, "%s: array %zu is NULL", run->site, i);
    if (ha_was_freed(by, ha_plan_name)) return HA_ERR_STATE;
    const size_t number = ha_plan_find(plan, of);
    if (number == plan->arrays)
        return ha_plan_refuse_array(run, i, of, "the plan was not made with it");
    if (run->array[number] != of) return ha_plan_refuse_array(run, i, of, "it is listed twice");
    if (!ha_arrays_are_alike(of, by))
        return ha_plan_refuse_array(run, i, by,
                                    "it has not the type and shape of the array in whose place it "
                                    "would be");
    run->array[number] = by;
    return HA_OK;
}

/* run->table is free for it. */
HA_IN_ ha_status ha_plan_replace_all(const ha_plan_run *run, ha_array *const *of,
                                     ha_array *const *by, size_t count) {
    const size_t n = run->plan->arrays;
    ha_array **sorted = (ha_array **)(void *)run->table;
    ha_status s = HA_OK;
    int twice = 0;
    for (size_t i = 0; i < count && !s; i++) s = ha_plan_replace(run, i, of[i], by[i]);
    if (s || !count) return s;
    memcpy(sorted, run->array, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ha_array_compare);
    for (size_t i = 1; i < n; i++) twice |= sorted[i] == sorted[i - 1];
    if (!twice) return HA_OK;
    return ha_fail(HA_ERR_ARGUMENT, ha_plan_name, "%s: an array would be in the place of two",
                   run->site);
}

/* ---- running ---------------------------------------------------------------------------------- */

/* HA_ERR_MEMORY: there is none; else run->table is to be freed. */
HA_IN_ ha_status ha_plan_run_make(ha_plan_run *run) {
    const ha_copy_plan *plan = run->plan;
    const size_t bytes = plan->count * (sizeof *run->pair + sizeof *run->table) +
                         plan->arrays * (sizeof *run->held + sizeof *run->array);
    run->table = (ha_strided_copy *)HARRAY_MALLOC(bytes);
    if (!run->table) return ha_plan_no_memory(run);
    run->pair = (ha_pair_run *)(void *)(run->table + plan->count);
    run->held = (ha_plan_held *)(void *)(run->pair + plan->count);
    run->array = (ha_array **)(void *)(run->held + plan->arrays);
    for (size_t i = 0; i < plan->arrays; i++) run->array[i] = plan->array[i].array;
    memset(run->pair, 0, plan->count * sizeof *run->pair);
    return HA_OK;
}

HA_IN_ ha_status ha_plan_carry_out(const ha_plan_run *run) {
    if (!ha_plan_open_easily(run)) return ha_plan_run_slowly(run);
    ha_tell_later();
    ha_status s = ha_plan_copy(run);
    ha_plan_let_all_go(run, run->plan->arrays, 1);
    ha_tell_now();
    return s;
}

ha_status ha_copy_plan_run_on_(const ha_copy_plan *plan, ha_array *const *of, ha_array *const *by,
                               size_t count, const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    ha_plan_run run = {.plan = plan, .site = site};
    ha_status s = ha_enter(ha_plan_name);
    if (s) return s;
    if (!plan) return ha_fail(HA_ERR_ARGUMENT, ha_plan_name, "%s: no plan", site);
    if (count && (!of || !by)) return ha_fail(HA_ERR_ARGUMENT, ha_plan_name, "%s: no arrays", site);
    if (!plan->count && count)
        return ha_fail(HA_ERR_ARGUMENT, ha_plan_name,
                       "%s: array 0: the plan was not made with it, nor with any other", site);
    if (!plan->count) return HA_OK;
    s = ha_plan_run_make(&run);
    if (s) return s;
    s = ha_plan_replace_all(&run, of, by, count);
    if (!s) s = ha_plan_carry_out(&run);
    HARRAY_FREE(run.table);
    return s;
}

#endif
