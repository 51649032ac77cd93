/* What a program has its say in when a memory is full (harray/controller.h). Nothing is busy or locked here. */
#ifndef HARRAY_IMPL_ACCESS_CONTROLLER_H
#define HARRAY_IMPL_ACCESS_CONTROLLER_H

#include "victims.h"
#include "../../controller.h"

HA_STATE_ ha_controller ha_controlling; /* no functions: none */

enum { HA_PRESSURE_CALLS = 100 }; /* for one opening */

void ha_set_controller(const ha_controller *controller) {
    ha_controlling = controller ? *controller : (ha_controller){0};
}

/* What the thread had to say about its own opening is not for the controller, and the other way round. To such a thread
 * the opening is an access: it does not wait for memory as long as it has that. */
HA_IN_ ha_note ha_controller_enter(void) {
    const ha_note note = ha_backend_note;
    ha_forget_note();
    ha_self.in_controller = 1;
    ha_self.held++;
    return note;
}

HA_IN_ void ha_controller_leave(ha_note note) {
    ha_self.held--;
    ha_self.in_controller = 0;
    ha_backend_note = note;
}

/* Whether something was freed. attempt: how often this was asked before. */
HA_IN_ int ha_controller_frees(ha_memory *m, uint64_t need, int attempt) {
    if (!ha_controlling.pressure || ha_self.in_controller || attempt >= HA_PRESSURE_CALLS) return 0;
    const ha_note note = ha_controller_enter();
    const int freed = ha_controlling.pressure(ha_controlling.user, ha_memory_context(m), need,
                                              attempt + 1);
    ha_controller_leave(note);
    return freed;
}

/* A victim as the controller sees it. 0: it is none any more. */
HA_IN_ int ha_victim_describe(ha_memory *m, const ha_victim *v, ha_candidate *c, char name[48]) {
    ha_spin_lock(&m->pool.lock);
    const int there = ha_victim_block(m, v) != NULL;
    if (there) {
        ha_lock(v->array);
        memcpy(name, v->array->name, sizeof v->array->name);
        ha_unlock(v->array);
    }
    ha_spin_unlock(&m->pool.lock);
    *c = (ha_candidate){0, name, v->bytes, v->priority, !v->stamp};
    return there && (c->id = ha_id_of(v->array));
}

/* The one that was chosen is the first. */
HA_IN_ void ha_controller_choose(ha_memory *m, ha_victims *v, uint64_t need) {
    ha_candidate list[HA_VICTIMS];
    size_t victim[HA_VICTIMS], n = 0;
    char name[HA_VICTIMS][48];
    if (!ha_controlling.choose || ha_self.in_controller) return;
    for (size_t i = 0; i < v->n; i++)
        if (ha_victim_describe(m, &v->list[i], &list[n], name[n])) victim[n++] = i;
    if (!n) return;
    const ha_note note = ha_controller_enter();
    const ptrdiff_t chosen = ha_controlling.choose(ha_controlling.user, ha_memory_context(m), list,
                                                   n, need);
    ha_controller_leave(note);
    if (chosen < 0 || (size_t)chosen >= n) return;
    const ha_victim first = v->list[victim[chosen]];
    memmove(&v->list[1], &v->list[0], victim[chosen] * sizeof first);
    v->list[0] = first;
    v->is_chosen = 1;
}

#endif
