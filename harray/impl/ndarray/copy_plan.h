/* Many copies between views at once: what is known when the plan is made. What depends on nothing but
 * the views is checked then, and how the elements lie is computed; where each copy runs is decided
 * when it runs (copy_plan_run.h). */
#ifndef HARRAY_IMPL_NDARRAY_COPY_PLAN_H
#define HARRAY_IMPL_NDARRAY_COPY_PLAN_H

#include "darray_copy.h"

typedef struct ha_planned {
    ha_copy_pair pair;
    size_t to, from;        /* the numbers of their arrays in the plan */
    ha_context *context;    /* where it may run by one command; else the host */
    ha_strided_copy pieces; /* there; without addresses */
    ha_strided_rows rows;   /* on the host */
    int converts;           /* on the host, element by element */
} ha_planned;

/* What a pair does with one of its arrays, if it has elements. */
typedef struct ha_plan_use {
    size_t array, pair; /* their numbers */
    int64_t at;         /* bytes up to index 0, 0, … */
    ha_range range;
    ha_context *context; /* the pair's */
    size_t writes;       /* 1 or 0; of several together: how many do */
} ha_plan_use;

typedef struct ha_plan_array {
    ha_array *array;
    size_t first, end; /* its uses */
    ha_plan_use all; /* of them together: around all their ranges. On a device, if any of them is */
} ha_plan_array;

struct ha_copy_plan {
    size_t count, uses, arrays;
    ha_planned *pair;
    ha_plan_use *use;      /* of an array one after the other, by where they begin */
    ha_plan_array array[]; /* in order of their addresses */
};

static const char ha_plan_name[] = "ha_copy_plan";

/* ---- a pair --------------------------------------------------------------------------------- */

HA_IN_ ha_status ha_pair_check(const ha_copy_pair *pair, size_t i) {
    char names[2][40];
    snprintf(names[0], sizeof names[0], "to of pair %zu", i);
    snprintf(names[1], sizeof names[1], "from of pair %zu", i);
    const ha_named_view to = {names[0], &pair->to}, from = {names[1], &pair->from};
    ha_status s = ha_copy_check(to, from, ha_plan_name);
    if (s || !ha_scalars_may_misfit(pair->from.type, pair->to.type)) return s;
    return ha_pair_refuse(to, from, "some values cannot be converted: that is for darray_copy",
                          ha_plan_name);
}

HA_IN_ void ha_pair_plan(ha_planned *p, const ha_copy_pair *pair) {
    const darray *to = &pair->to, *from = &pair->from;
    p->pair = *pair;
    p->pair.context = p->context = ha_resolve(pair->context);
    p->converts = to->type != from->type;
    if (!p->context->ops || p->converts || !ha_pieces_between(to, NULL, from, NULL, &p->pieces))
        p->context = ha_host();
    ha_strided_prepare(&p->rows, to->rank, to->extent, to->stride, from->stride,
                       to->array->element);
}

/* ---- what is done with an array --------------------------------------------------------------- */

/* Of two pointers to arrays, or of what begins with one. */
HA_IN_ int ha_array_compare(const void *first, const void *second) {
    ha_array *x, *y;
    memcpy(&x, first, sizeof x);
    memcpy(&y, second, sizeof y);
    return (uintptr_t)x < (uintptr_t)y ? -1 : (uintptr_t)x > (uintptr_t)y;
}

HA_IN_ int ha_use_compare(const void *first, const void *second) {
    const ha_plan_use *x = (const ha_plan_use *)first, *y = (const ha_plan_use *)second;
    if (x->array != y->array) return x->array < y->array ? -1 : 1;
    if (x->range.first != y->range.first) return x->range.first < y->range.first ? -1 : 1;
    return x->pair < y->pair ? -1 : x->pair > y->pair;
}

/* The number of an array in the plan; as many as there are: it has no such array. */
HA_IN_ size_t ha_plan_find(const ha_copy_plan *plan, const ha_array *a) {
    const ha_plan_array *found = (const ha_plan_array *)bsearch(
        &a, plan->array, plan->arrays, sizeof *plan->array, ha_array_compare);
    return found ? (size_t)(found - plan->array) : plan->arrays;
}

/* The pairs are there. */
HA_IN_ void ha_plan_arrays(ha_copy_plan *plan) {
    const size_t n = 2 * plan->count;
    for (size_t i = 0; i < n; i++) {
        const ha_copy_pair *pair = &plan->pair[i / 2].pair;
        plan->array[i] = (ha_plan_array){.array = i % 2 ? pair->from.array : pair->to.array};
    }
    if (n) qsort(plan->array, n, sizeof *plan->array, ha_array_compare);
    for (size_t i = 0; i < n; i++)
        if (!i || plan->array[i].array != plan->array[plan->arrays - 1].array)
            plan->array[plan->arrays++] = plan->array[i];
}

/* Of a view with elements. Returns the number of its array. */
HA_IN_ size_t ha_plan_add_use(ha_copy_plan *plan, size_t pair, const darray *view, int writes) {
    const size_t number = ha_plan_find(plan, view->array);
    ha_plan_use *use = &plan->use[plan->uses];
    if (ha_view_is_empty(view)) return number;
    *use = (ha_plan_use){.array = number,
                         .pair = pair,
                         .at = view->offset * (int64_t)view->array->element,
                         .context = plan->pair[pair].context,
                         .writes = (size_t)writes};
    (void)ha_view_cover(view->array->grid, view, &use->range);
    plan->uses++;
    return number;
}

/* The uses are sorted. */
HA_IN_ void ha_plan_join_uses(ha_copy_plan *plan) {
    for (size_t i = 0; i < plan->uses; i++) {
        const ha_plan_use *use = &plan->use[i];
        ha_plan_array *a = &plan->array[use->array];
        const ha_grid *g = a->array->grid;
        const int first = !a->end;
        if (first) a->first = i;
        a->end = i + 1;
        a->all.range = first ? use->range : ha_around(g, a->all.range, use->range);
        a->all.writes += use->writes;
        a->all.array = use->array;
        if (first || use->context->ops) a->all.context = use->context;
    }
}

HA_IN_ void ha_plan_uses(ha_copy_plan *plan) {
    for (size_t i = 0; i < plan->count; i++) {
        ha_planned *p = &plan->pair[i];
        p->to = ha_plan_add_use(plan, i, &p->pair.to, 1);
        p->from = ha_plan_add_use(plan, i, &p->pair.from, 0);
    }
    if (plan->uses) qsort(plan->use, plan->uses, sizeof *plan->use, ha_use_compare);
    ha_plan_join_uses(plan);
}

HA_IN_ ha_status ha_uses_refuse(const ha_copy_plan *plan, const ha_plan_use *x,
                                const ha_plan_use *y) {
    const int second = !x->writes || (y->writes && y->pair < x->pair);
    const ha_plan_use *target = second ? y : x, *other = second ? x : y;
    return ha_view_fail(HA_ERR_ARGUMENT, ha_plan_name, &plan->pair[target->pair].pair.to,
                        "the target of pair %zu overlaps the %s of pair %zu", target->pair,
                        other->writes ? "target" : "source", other->pair);
}

/* No two targets meet, nor a target and a source. */
HA_IN_ ha_status ha_uses_check(const ha_copy_plan *plan) {
    const ha_plan_use *end = plan->use + plan->uses;
    for (const ha_plan_use *x = plan->use; x < end; x++)
        for (const ha_plan_use *y = x + 1;
             y < end && y->array == x->array && y->range.first < x->range.last; y++)
            if ((x->writes | y->writes) &&
                ha_overlap(plan->array[x->array].array->grid, x->range, y->range))
                return ha_uses_refuse(plan, x, y);
    return HA_OK;
}

/* ---- making --------------------------------------------------------------------------------- */

/* NULL: no memory. */
HA_IN_ ha_copy_plan *ha_copy_plan_make(const ha_copy_pair *pairs, size_t count) {
    const size_t each = sizeof(ha_planned) + 2 * (sizeof(ha_plan_use) + sizeof(ha_plan_array));
    size_t bytes;
    if (__builtin_mul_overflow(count, each, &bytes) || bytes > PTRDIFF_MAX / 2) return NULL;
    ha_copy_plan *plan = (ha_copy_plan *)HARRAY_MALLOC(sizeof *plan + bytes);
    if (!plan) return NULL;
    *plan = (ha_copy_plan){.count = count};
    plan->pair = (ha_planned *)(void *)(plan->array + 2 * count);
    plan->use = (ha_plan_use *)(void *)(plan->pair + count);
    for (size_t i = 0; i < count; i++) ha_pair_plan(&plan->pair[i], &pairs[i]);
    ha_plan_arrays(plan);
    ha_plan_uses(plan);
    return plan;
}

ha_copy_plan *ha_copy_plan_new(const ha_copy_pair *pairs, size_t count) {
    ha_status s = ha_enter(ha_plan_name);
    if (!s && count && !pairs) s = ha_fail(HA_ERR_ARGUMENT, ha_plan_name, "no pairs");
    for (size_t i = 0; i < count && !s; i++) s = ha_pair_check(&pairs[i], i);
    if (s) return NULL;
    ha_copy_plan *plan = ha_copy_plan_make(pairs, count);
    if (!plan) {
        ha_fail(HA_ERR_MEMORY, ha_plan_name, "no memory for %zu pairs", count);
        return NULL;
    }
    if (ha_uses_check(plan)) {
        HARRAY_FREE(plan);
        return NULL;
    }
    for (size_t i = 0; i < plan->arrays; i++) (void)ha_array_retain(plan->array[i].array);
    return plan;
}

void ha_copy_plan_free(ha_copy_plan *plan) {
    for (size_t i = 0; plan && i < plan->arrays; i++)
        HA_IGNORE_(ha_array_free(plan->array[i].array));
    HARRAY_FREE(plan);
}

#endif
