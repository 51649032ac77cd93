/* What the macros of harray/records_typed.h call. */
#ifndef HARRAY_IMPL_RECORDS_TYPED_H
#define HARRAY_IMPL_RECORDS_TYPED_H

#include "open.h"
#include "wrap.h"
#include "../../records_typed.h"

/* Of a view known at run time only: the layout that its arrays begin with, one of its own. */
HA_IN_ const char *ha_first_layout(const ha_records_type_ *type) {
    static const char *const layouts[] = HA_CASE_NAMES_;
    const unsigned cases = type->kind < HA_ANY_ ? (unsigned)(HA_ANY_ - type->kind) : HA_ALL_CASES_;
    return layouts[__builtin_ctz(cases)];
}

/* The view's own layout, as ha_mapping has it as text; NULL: it has none. */
HA_IN_ const char *ha_own_layout(const ha_records_type_ *type, char *text, size_t bytes) {
    static const char *const orders[] = {"", "@col", "@morton"};
    const char *name = "aos", *order = orders[type->order];
    if (type->kind == HA_PACKED_) name = "aos(packed)";
    if (type->kind == HA_ONE_) name = "one";
    if (type->kind == HA_SOA_)
        name = type->flags & HA_ALIGNED_  ? "soa(single,aligned)"
               : type->flags & HA_SINGLE_ ? "soa(single)"
                                          : "soa";
    if (type->kind == HA_FIELDS_) name = "soa(fields)";
    if (type->kind == HA_AOSOA_)
        (void)snprintf(text, bytes, "aosoa(%td%s)%s", type->lanes,
                       type->flags & HA_ROWS ? ",rows" : "", order);
    else
        (void)snprintf(text, bytes, "%s%s", name, order);
    return type->kind < 0 ? NULL : text;
}

/* Makes the view, or says why not: one that has a layout is of that, or of one that comes to the same. */
HA_IN_ ha_status ha_make_view(const ha_records_type_ *type, const ha_mapping *m, void *const *blob,
                              void *view, ha_error *error) {
    char text[64];
    const char *layout = ha_own_layout(type, text, sizeof text);
    error->status = HA_OK;
    return type->make(m, blob, layout && !strcmp(m->text, layout), view, error);
}

/* Whether views fit a placement: where the caller's blobs are, or wherever a block is, as that is aligned
 * for every layout. */
HA_IN_ ha_status ha_try_view(const ha_records_type_ *type, const ha_placement *p, void *view,
                             ha_error *error) {
    const ha_mapping *m = p->mapping;
    if (p->caller) return ha_make_view(type, m, p->caller, view, error);
    void *few[64] = {NULL};
    const size_t blobs = (size_t)m->blobs;
    void **somewhere = blobs <= 64 ? few : (void **)HARRAY_MALLOC(blobs * sizeof *somewhere);
    if (!somewhere) {
        (void)snprintf(error->text, sizeof error->text, "there is no memory to look at it");
        return error->status = HA_ERR_MEMORY;
    }
    for (size_t b = 0; b < blobs; b++) somewhere[b] = HA_ADDRESS_((uintptr_t)1 << 20);
    const ha_status s = ha_make_view(type, m, somewhere, view, error);
    if (somewhere != few) HARRAY_FREE(somewhere);
    return s;
}

/* Why there is no view, of records that are laid out as `there`. */
HA_IN_ ha_status ha_view_refused(ha_records *r, const ha_records_type_ *type, const ha_context *c,
                                 const char *there, const ha_error *error, const char *site) {
    static const char operation[] = "ha_records_open";
    char text[64];
    const char *layout = ha_own_layout(type, text, sizeof text);
    if (error->status != HA_ERR_ARGUMENT || !layout)
        return ha_fail(error->status, operation, "%s: records %s at %s, %.60s: no view %s: %s",
                       site, ha_records_label(r).text, c->name, there, type->view, error->text);
    return ha_fail(HA_ERR_ARGUMENT, operation,
                   "%s: records %s at %s are %.60s, and the view %s is %s: make them alike "
                   "(ha_records_layout), or the view HA_ANY",
                   site, ha_records_label(r).text, c->name, there, type->view, layout);
}

/* Before anything is opened; layouts do not change while it looks. */
HA_IN_ ha_status ha_records_fit(ha_records *r, const ha_records_type_ *type, ha_context *c,
                                void *view, const char *site) {
    ha_error error = {0};
    char there[64] = "of no layout";
    ha_placement *p = NULL;
    ha_array *a;
    ha_status s = ha_records_begin_at(r, "ha_records_open", &a);
    if (s) return s;
    s = ha_placement_get(a, c->memory, &p);
    if (s) {
        error.status = s;
        (void)snprintf(error.text, sizeof error.text, "there is no memory for its mapping");
    } else {
        ha_lock(a);
        p = ha_placement_find(ha_records_state_of(a), c->memory);
        s = ha_try_view(type, p, view, &error);
        (void)snprintf(there, sizeof there, "%s", p->mapping->text);
        ha_unlock(a);
    }
    ha_records_leave(r);
    return s ? ha_view_refused(r, type, c, there, &error, site) : HA_OK;
}

/* The same, while it is being opened. */
HA_IN_ int ha_view_fits(ha_fitting *f, const ha_placement *p) {
    return ha_try_view((const ha_records_type_ *)f->type, p, f->view, f->error) == HA_OK;
}

/* Keeps the view for the next access, as long as the blobs are where they are. Without memory for it that
 * makes it anew. */
HA_IN_ void ha_records_keep_view(const ha_records_access *x, const ha_fitting *fitting) {
    ha_array *a = ha_records_parts((ha_records_access *)(uintptr_t)x)->array;
    ha_kept_view *fresh = (ha_kept_view *)HARRAY_MALLOC(sizeof *fresh + fitting->bytes);
    ha_lock(a);
    ha_placement *p = ha_placement_find(ha_records_state_of(a), x->context->memory);
    fresh = ha_placement_keep(p, fresh, fitting->type, x->blob, fitting->view, fitting->bytes);
    ha_unlock(a);
    HARRAY_FREE(fresh);
}

HA_NOINLINE_ HA_IN_ ha_status ha_records_use_first(ha_records_access *access, ha_records *records,
                                                   ha_fitting *fitting, ha_context *context,
                                                   const char *what, const ha_region *box,
                                                   const char *site) {
    HA_TELLS_EVENTS_;
    const ha_records_type_ *type = (const ha_records_type_ *)fitting->type;
    void *view = fitting->view;
    ha_error error = {0};
    fitting->error = &error;
    memset(access, 0, sizeof *access);
    ha_status s = ha_records_enter(records, "ha_records_open", site);
    if (!s) s = ha_records_fit(records, type, context, view, site);
    memset(view, 0, fitting->bytes);
    if (s) return access->status = s;
    s = ha_records_open_if(access, records, context, what, box, 0, site, fitting);
    if (!s) s = ha_make_view(type, access->mapping, access->blob, view, &error);
    if (!s) {
        if (!HA_DEBUGGING_) ha_records_keep_view(access, fitting);
        return HA_OK;
    }
    memset(view, 0, fitting->bytes);
    if (!fitting->misfit && !access->records) return s;
    if (access->records) (void)ha_records_close_(access); /* the layout has changed in between */
    return access->status = ha_view_refused(records, type, context, "changing", &error, site);
}

ha_status ha_records_use_(ha_records_access *access, ha_records *records,
                          const ha_records_type_ *type, void *view, size_t view_bytes,
                          ha_context *context, const char *what, ha_region box, const char *site) {
    ha_fitting fitting = {.fits = ha_view_fits, .type = type, .view = view, .bytes = view_bytes};
    site = ha_from(site);
    context = ha_resolve(context);
    if (ha_records_open_again(access, records, context, what, &box, site, &fitting)) return HA_OK;
    return ha_records_use_first(access, records, &fitting, context, what, &box, site);
}

void ha_records_close_scope_(void *access) {
    ha_records_access *a = (ha_records_access *)access;
    if (a->records) (void)ha_records_close_(a);
}

ha_records *ha_records_typed_new_(const ha_records_type_ *type, const int64_t *extent,
                                  const char *site) {
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    char text[64];
    const char *own = ha_own_layout(type, text, sizeof text);
    return ha_records_new_at(type->record(), type->rank, extent, own ? own : ha_first_layout(type),
                             site);
}

/* What so many arrays are, where the view does not say it. */
HA_IN_ const char *ha_layout_of_arrays(const ha_records_type_ *type, size_t arrays) {
    const ha_record *r = type->record();
    const bool of_fields = arrays == (size_t)r->fields && r->fields != ha_record_leaves(r);
    return type->kind == HA_FIELDS_ || (type->kind < 0 && of_fields) ? "soa(fields)" : "soa";
}

/* As many arrays as the layout has, or none is read. */
HA_IN_ ha_status ha_count_blobs(const ha_mapping *m, size_t blobs, ha_error *error) {
    if (blobs == (size_t)m->blobs) return HA_OK;
    (void)snprintf(error->text, sizeof error->text,
                   "%zu arrays for the %d of %s: one for each field, of an array field for each "
                   "element",
                   blobs, (int)m->blobs, m->record->name);
    return error->status = HA_ERR_ARGUMENT;
}

ha_records *ha_records_typed_wrap_(const ha_records_type_ *type, const int64_t *extent,
                                   const char *layout, void *const *blob, size_t blobs,
                                   unsigned flags, const char *site) {
    static const char operation[] = "ha_records_wrap";
    site = ha_from(site);
    HA_TELLS_EVENTS_;
    ha_error error;
    if (!strcmp(layout, "soa")) layout = ha_layout_of_arrays(type, blobs);
    ha_mapping *m = ha_mapping_parse(type->record(), layout, type->rank, extent, &error);
    if (!m) return ha_records_refused(operation, site, &error);
    const ha_mapped memory = {m, blob};
    ha_records *r = ha_count_blobs(m, blobs, &error)
                        ? ha_records_refused(operation, site, &error)
                        : ha_records_wrap_at(&memory, ha_host(), flags, site);
    ha_mapping_free(m);
    return r;
}

#endif
