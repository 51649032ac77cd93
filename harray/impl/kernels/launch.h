/* Launching a kernel: it is compiled, if the device does that; then all that it is given is opened, or
 * nothing; its lanes run, or are enqueued; then all is closed. Nothing waits in between. */
#ifndef HARRAY_IMPL_KERNELS_LAUNCH_H
#define HARRAY_IMPL_KERNELS_LAUNCH_H

#include "doubles.h"
#include "easy.h"
#include "on_device.h"
#include "on_host.h"
#include "place.h"
#include "reduce.h"

HA_IN_ int ha_box_is_empty(const ha_launching *l) {
    for (int d = 0; d < l->kernel->rank; d++)
        if (l->box.first[d] == l->box.last[d]) return 1;
    return 0;
}

HA_IN_ ha_status ha_launch_compiled(ha_launching *l) {
    ha_work w = {l->kernel->name, ha_from(l->kernel->site), 0};
    ha_work_begin(&w, l->context);
    const ha_status s = l->kernel->reduction ? ha_reduce_on_device(l, l->compiled)
                                             : ha_launch_on_device(l, l->compiled);
    ha_work_end(&w, l->context, s);
    return s;
}

/* What a device has taken cannot be taken back: so all is opened and closed for that, and then told. */
HA_IN_ ha_status ha_launch_cut_short(ha_launching *l, ha_status s) {
    l->late = s;
    l->note = ha_backend_note;
    return HA_OK;
}

HA_IN_ ha_status ha_launch_tell_cut(const ha_launching *l) {
    if (!l->late) return HA_OK;
    ha_backend_note = l->note;
    return ha_fail(
        l->late, l->kernel->name,
        "%s: %s took a part of the kernel, and not the rest: what it writes is undefined",
        ha_kernel_site(l->kernel), l->context->name);
}

/* All is open, or on a device about to be: nothing has been overwritten when that does not take the kernel. */
HA_IN_ ha_status ha_launch_run(void *launching) {
    ha_launching *l = (ha_launching *)launching;
    ha_status s = ha_launch_point(l);
    if (s) return s;
    if (ha_box_is_empty(l) && !l->kernel->reduction) return HA_OK;
    if (l->compiled)
        s = ha_launch_compiled(l);
    else if (ha_is_host(l->context))
        ha_launch_here(l);
    else
        s = ha_launch_queued(l);
    if (!s) return HA_OK;
    if (l->launched) return ha_launch_cut_short(l, s);
    return ha_fail(s, l->kernel->name, "%s: %s did not take the kernel", ha_kernel_site(l->kernel),
                   l->context->name);
}

/* On the host where the device cannot, unless that is forbidden. */
HA_IN_ ha_status ha_launch_elsewhere(ha_launching *l, ha_kernel_way way) {
    const ha_kernel *k = l->kernel;
    if (way == HA_WAY_UNKNOWN)
        return ha_fail(HA_ERR_MEMORY, k->name, "%s: no memory", ha_kernel_site(k));
    if (ha_kernel_settings_get()->strict)
        return ha_fail(HA_ERR_UNSUPPORTED, k->name,
                       "%s: %s does not compile kernels, and HARRAY_KERNELS=strict: %s",
                       ha_kernel_site(k), l->context->name, l->context->primary->programs->why);
    if (way == HA_WAY_FUNCTION) return HA_OK;
    l->context = ha_host();
    for (size_t i = 0; i < l->requests; i++) l->request[i].context = l->context;
    return HA_OK;
}

/* The mappings of all records there: they stay until ha_layouts_leave. */
HA_IN_ ha_status ha_layouts_enter(const ha_launching *l, ha_kernel_variant *v) {
    for (; v->records < l->records; v->records++) {
        const ha_used_records *u = &l->used[v->records];
        ha_placement *p;
        ha_array *a;
        ha_status s = ha_records_begin_at(u->given.records, l->kernel->name, &a);
        if (s) return s;
        s = ha_placement_get(a, l->context->memory, &p);
        if (s) {
            ha_records_leave(u->given.records);
            return ha_fail(s, l->kernel->name, "%s: no memory for a mapping", u->parameter->site);
        }
        v->mapping[v->records] = p->mapping;
    }
    return HA_OK;
}

HA_IN_ void ha_layouts_leave(const ha_launching *l, int records) {
    for (int i = 0; i < records; i++) ha_records_leave(l->used[i].given.records);
}

/* The text for the layouts that there are; NULL in *text: it has been compiled for these. */
HA_IN_ ha_status ha_launch_text(const ha_launching *l, ha_programs *all, ha_kernel_variant *v,
                                char **text, const ha_compiled **compiled) {
    const ha_kernel *k = v->kernel;
    const ha_context *c = l->context;
    int unfit = 0;
    ha_status s = ha_device_check(l, v);
    if (s) return s;
    if (l->records && !(v->layouts = ha_layouts_of(v)))
        return ha_fail(HA_ERR_MEMORY, k->name, "%s: no memory to compile it", ha_kernel_site(k));
    if ((*compiled = ha_program_find(all, v))) return HA_OK;
    if ((s = ha_device_serves(c->backend, c->device, c->name, v))) return s;
    if ((*text = ha_kernel_text(v, ha_language_of(c), 0, &unfit))) return HA_OK;
    return ha_text_fail(v, unfit, c->name);
}

/* Looks it up, or compiles it. Layouts may change meanwhile. */
HA_IN_ ha_status ha_launch_compile(ha_launching *l) {
    ha_programs *all = ha_programs_of(l->context->primary);
    ha_kernel_variant v = {.kernel = l->kernel, .apart = ha_launch_is_apart(l)};
    char *text = NULL;
    if (!all)
        return ha_fail(HA_ERR_MEMORY, l->kernel->name, "%s: no memory to compile it",
                       ha_kernel_site(l->kernel));
    ha_status s = ha_layouts_enter(l, &v);
    if (!s) s = ha_launch_text(l, all, &v, &text, &l->compiled);
    ha_layouts_leave(l, v.records);
    if (text)
        s = ha_compile_once(all, &v, l->context, text, (char *)(uintptr_t)v.layouts, &l->compiled);
    else
        HARRAY_FREE((char *)(uintptr_t)v.layouts);
    HARRAY_FREE(text);
    if (s) return s;
    const char *layout = l->compiled->layouts;
    for (int i = 0; i < l->records; i++, layout = ha_next_layout(layout))
        l->used[i].layout = layout;
    return HA_OK;
}

/* Whether views of its type can show each record array there. */
HA_IN_ ha_status ha_launch_fit(ha_launching *l) {
    ha_status s = HA_OK;
    for (int i = 0; i < l->records && !s; i++) {
        const ha_used_records *u = &l->used[i];
        s = ha_records_fit(u->given.records, u->parameter->records, l->context, u->given.view,
                           u->parameter->site);
    }
    return s;
}

/* Opens all, and runs it. */
HA_IN_ ha_status ha_launch_open(ha_launching *l) {
    ha_open_work use = {ha_launch_run, l, HA_OK};
    for (int i = 0; i < l->records; i++) l->used[i].fitting.misfit = 0;
    if (!ha_is_host(l->context))
        return l->records ? ha_open_together_to_use(l->request, l->requests, l->fitting, &use,
                                                    l->context, l->kernel->site)
                          : ha_open_to_use(l->request, l->requests, "ha_open_many", &use,
                                           l->context, l->kernel->site);
    ha_status s = l->records ? ha_launch_open_together(l)
                             : ha_open_many_(l->request, l->requests, l->kernel->site);
    if (s) return s;
    if ((s = ha_launch_run(l))) (void)ha_close_many(l->request, l->requests);
    return s;
}

/* Again when records were laid out otherwise between looking and opening. */
HA_IN_ ha_status ha_launch_begin(ha_launching *l, ha_kernel_way way) {
    ha_status s;
    do {
        s = ha_launch_fit(l);
        if (!s && way == HA_WAY_COMPILED) s = ha_launch_compile(l);
        if (s) return s;
        s = ha_launch_open(l);
    } while (s && ha_launch_misfits(l));
    return s;
}

/* Where a launch on a device runs, and what it needs there. */
HA_IN_ ha_status ha_launch_place(ha_launching *l, ha_kernel_way *way) {
    const ha_status s = ha_kernel_settings_check(l->kernel->name, l->kernel->site);
    if (s) return s;
    *way = ha_way_of(l->context);
    if (*way != HA_WAY_COMPILED) return ha_launch_elsewhere(l, *way);
    return l->kernel->reduction ? ha_reduce_room(l) : HA_OK;
}

/* What is wrong is found before anything is opened. */
HA_IN_ ha_status ha_launch_check(ha_launching *l, const ha_region *box, const void *const *given) {
    const ha_kernel *k = l->kernel;
    ha_status s = k->team ? ha_team_check(k) : HA_OK;
    if (!s) s = ha_launch_take_all(l, given);
    if (!s && box) l->box = k->each ? ha_records_box_(*box) : *box;
    if (!s && !box && k->each) ha_lanes_from_records(l);
    if (!s && !box && !k->each) s = ha_lanes_from_sizes(l);
    if (!s) s = ha_box_check(l);
    return s || !k->reduction ? s : ha_reduce_check(l);
}

/* On its own, so that easy launches need no room for all of it. */
HA_NOINLINE_ HA_IN_ ha_status ha_launch_with_care(const ha_kernel *k, ha_context *context,
                                                  const ha_region *box, const void *const *given) {
    HA_TELLS_EVENTS_;
    ha_kernel_way way = HA_WAY_HOST;
    ha_launching l;
    l.kernel = k;
    l.context = context;
    l.compiled = NULL;
    l.requests = 0;
    l.room = NULL;
    l.launched = 0;
    l.late = HA_OK;
    ha_status s = ha_launch_check(&l, box, given);
    if (s) return s;
    ha_launch_request(&l);
    if (!ha_is_host(l.context)) s = ha_launch_place(&l, &way);
    if (!s) s = ha_launch_begin(&l, way);
    if (!s) s = ha_close_many(l.request, l.requests);
    if (!s) s = ha_launch_tell_cut(&l);
    if (l.room && ha_memory_release(context, l.room) && !s) s = HA_ERR_BACKEND;
    return s;
}

/* A reduction whose result is wanted on the host: by way of an array of one element, unless it runs there. */
HA_IN_ ha_status ha_launch_for_value(const ha_kernel *k, ha_context *context, const ha_region *box,
                                     const void *const *given, const ha_kernel_result_ *result) {
    const void *list[HA_MOST_PARAMETERS_];
    const ha_type type = {k->reduction->type, k->reduction->result_bytes};
    ha_kernel_result_ there = {ha_array_new(type, 1, context), 0, NULL};
    if (!there.array) return HA_ERR_MEMORY;
    for (int i = 0; i < k->parameters; i++) list[i] = given[i];
    list[k->parameters - 1] = &there;
    ha_status s = ha_launch_with_care(k, context, box, list);
    if (!s) s = ha_array_get(there.array, 0, result->value);
    const ha_status freed = ha_array_free(there.array);
    return s ? s : freed;
}

HA_NOINLINE_ HA_IN_ ha_status ha_launch_reduction(const ha_kernel *k, ha_context *context,
                                                  const ha_region *box, const void *const *given) {
    const ha_kernel_result_ *r = (const ha_kernel_result_ *)given[k->parameters - 1];
    return r->value && ha_way_of(context) != HA_WAY_HOST
               ? ha_launch_for_value(k, context, box, given, r)
               : ha_launch_with_care(k, context, box, given);
}

ha_status ha_kernel_launch_(const ha_kernel *k, ha_context *context, const ha_region *box,
                            const void *const *given) {
    ha_status s;
    context = ha_resolve(context);
    if (ha_launch_easily(k, context, box, given, &s)) return s;
    /* A kernel knows its own line, and a check around the call that of the call. */
    HA_FROM(ha_self.checked)
    s = k->reduction ? ha_launch_reduction(k, context, box, given)
                     : ha_launch_with_care(k, context, box, given);
    return s;
}

#endif
