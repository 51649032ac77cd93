/* Accesses to record arrays: which fields, opened how; all of them at once. */
#ifndef HA_IMPL_RECORD_ARRAY_OPEN_H
#define HA_IMPL_RECORD_ARRAY_OPEN_H

#include "record_array_move.h"

/* ---- what is to be opened -------------------------------------------------------------------- */

/* Neighbouring leaves that are opened alike. */
typedef struct ha_field_run {
    int32_t leaf, end;
    unsigned mode;
} ha_field_run;

/* "read pos+mass, write vel", understood. */
typedef struct ha_wanted {
    struct ha_wanted *next;
    const char *text;
    int trying, kept;
    int32_t runs;
    ha_field_run run[];
} ha_wanted;

enum { HA_WANTED_KEPT = 32 }; /* texts that an array remembers */

struct ha_records {
    ha_array *array;       /* another one when the extents change */
    pthread_rwlock_t lock; /* of `array`: to be read while it is looked at, or opened */
    uint32_t wanted_lock;
    int32_t wanted_count;
    ha_wanted *wanted;
#ifdef HARRAY_DEBUG
    int freed;
    ha_label label; /* of the array that it was */
#endif
};

/* Whether it was freed, which is known with HARRAY_DEBUG only; tells it. */
static int ha_records_freed(const ha_records *r, const char *operation) {
#ifdef HARRAY_DEBUG
    if (r && __atomic_load_n(&r->freed, __ATOMIC_ACQUIRE)) {
        ha_fail(HA_ERR_STATE, operation, "records %s were freed", r->label.text);
        return 1;
    }
#endif
    (void)r, (void)operation;
    return 0;
}

/* ---- reading the text ------------------------------------------------------------------------ */

enum { HA_UNWANTED = 255, HA_FIELD_PATH = 512 };

typedef struct ha_what_text {
    const ha_record *record;
    const char *at;
    uint8_t *mode; /* of each leaf */
    int64_t leaves;
    char path[HA_FIELD_PATH]; /* the word that was read last */
    const char *why;          /* it is not understood */
} ha_what_text;

static void ha_what_blanks(ha_what_text *w) {
    while (*w->at == ' ' || *w->at == '\t' || *w->at == '\n') w->at++;
}

/* A word: up to a blank or a sign between words. */
static void ha_what_word(ha_what_text *w) {
    size_t n = 0;
    ha_what_blanks(w);
    while (*w->at && !strchr(" \t\n,+", *w->at) && n + 1 < sizeof w->path) w->path[n++] = *w->at++;
    w->path[n] = 0;
    ha_what_blanks(w);
}

static unsigned ha_what_mode(const char *word) {
    return !strcmp(word, "read")        ? HA_READ
           : !strcmp(word, "write")     ? HA_WRITE
           : !strcmp(word, "overwrite") ? HA_OVERWRITE
                                        : HA_UNWANTED;
}

/* All leaves below the path get the mode; an empty one: all leaves. */
static const char *ha_what_mark(ha_what_text *w, unsigned mode) {
    int64_t from = 0, leaf;
    while (from < w->leaves) {
        if (!*w->path)
            leaf = from;
        else if (ha_record_find(w->record, w->path, from, &leaf))
            break;
        if (w->mode[leaf] != HA_UNWANTED) return "has fields that come twice";
        w->mode[leaf] = (uint8_t)mode;
        from = leaf + 1;
    }
    return from ? NULL : "is no field of it";
}

/* "pos+mass"; empty: all leaves. */
static const char *ha_what_paths(ha_what_text *w, unsigned mode) {
    ha_what_word(w);
    if (!*w->path && *w->at == '+') return "is no field: '+' has to be between two";
    if ((w->why = ha_what_mark(w, mode))) return w->why;
    while (*w->at == '+') {
        w->at++;
        ha_what_word(w);
        if (!*w->path) return "is no field: '+' has to be between two";
        if ((w->why = ha_what_mark(w, mode))) return w->why;
    }
    return NULL;
}

/* NULL, or why not, of the word in w->path. */
static const char *ha_what_read(ha_what_text *w, int *trying) {
    const char *why, *other = "is not read, write or overwrite";
    ha_what_word(w);
    if ((*trying = !strcmp(w->path, "try"))) ha_what_word(w);
    for (;;) {
        const unsigned mode = ha_what_mode(w->path);
        if (mode == HA_UNWANTED) return other;
        if ((why = ha_what_paths(w, mode))) return why;
        if (!*w->at) return NULL;
        if (*w->at != ',') {
            ha_what_word(w);
            return "is not expected: ',' or '+' would be";
        }
        w->at++;
        other = "is not read, write or overwrite, and fields have '+' between them";
        ha_what_word(w);
    }
}

/* Runs of leaves with the same mode: their number; written when `run` is given. */
static int32_t ha_what_runs(const ha_what_text *w, ha_field_run *run) {
    int32_t n = 0;
    for (int64_t leaf = 0; leaf < w->leaves; leaf++) {
        const uint8_t mode = w->mode[leaf];
        if (mode == HA_UNWANTED) continue;
        const int goes_on = leaf && w->mode[leaf - 1] == mode;
        if (!goes_on && run) run[n] = (ha_field_run){(int32_t)leaf, (int32_t)leaf, mode};
        n += !goes_on;
        if (run) run[n - 1].end = (int32_t)leaf + 1;
    }
    return n;
}

static ha_wanted *ha_wanted_make(const ha_what_text *w, const char *text, int trying) {
    const int32_t n = ha_what_runs(w, NULL);
    const size_t runs = (size_t)n * sizeof(ha_field_run), length = strlen(text) + 1;
    ha_wanted *wanted = (ha_wanted *)HARRAY_MALLOC(sizeof *wanted + runs + length);
    if (!wanted) return NULL;
    *wanted = (ha_wanted){.trying = trying, .runs = n};
    wanted->text = (char *)wanted->run + runs;
    memcpy((char *)wanted->run + runs, text, length);
    (void)ha_what_runs(w, wanted->run);
    return wanted;
}

/* ---- texts that are known -------------------------------------------------------------------- */

static ha_wanted *ha_wanted_find(ha_records *r, const char *text) {
    ha_spin_lock(&r->wanted_lock);
    ha_wanted *w = r->wanted;
    while (w && w->text != text && strcmp(w->text, text)) w = w->next;
    ha_spin_unlock(&r->wanted_lock);
    return w;
}

/* Another thread may have the same one: both may stay. */
static void ha_wanted_keep(ha_records *r, ha_wanted *w) {
    ha_spin_lock(&r->wanted_lock);
    if ((w->kept = r->wanted_count < HA_WANTED_KEPT)) {
        w->next = r->wanted;
        r->wanted = w;
        r->wanted_count++;
    }
    ha_spin_unlock(&r->wanted_lock);
}

static void ha_wanted_end(ha_wanted *w) {
    if (w && !w->kept) HARRAY_FREE(w);
}

/* What a text says; to be ended. paths: it is "pos+mass", without a mode. */
static ha_status ha_wanted_get(ha_records *r, const char *text, int paths, const char *operation,
                               const char *site, ha_wanted **out) {
    const ha_record_form *f = ha_records_form(r->array);
    ha_what_text w = {.record = f->record, .at = text, .leaves = f->leaves};
    int trying = 0;
    if (!paths && (*out = ha_wanted_find(r, text))) return HA_OK;
    *out = NULL;
    if (!(w.mode = (uint8_t *)HARRAY_MALLOC((size_t)f->leaves)))
        return ha_fail(HA_ERR_MEMORY, operation, "%s: records %s: no memory to read \"%.60s\"",
                       site, ha_label_of(r->array).text, text);
    memset(w.mode, HA_UNWANTED, (size_t)f->leaves);
    const char *why = paths ? ha_what_paths(&w, HA_READ) : ha_what_read(&w, &trying);
    if (!why && *w.at) why = "is not all of it";
    if (!why) *out = ha_wanted_make(&w, text, trying);
    HARRAY_FREE(w.mode);
    if (why)
        return ha_fail(HA_ERR_ARGUMENT, operation, "%s: records %s: \"%.100s\": '%.60s' %s", site,
                       ha_label_of(r->array).text, text, w.path, why);
    if (!*out)
        return ha_fail(HA_ERR_MEMORY, operation, "%s: records %s: no memory to read \"%.60s\"",
                       site, ha_label_of(r->array).text, text);
    if (!paths) ha_wanted_keep(r, *out);
    return HA_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The array stays the same one until the end. */
static ha_array *ha_records_begin(ha_records *r) {
    pthread_rwlock_rdlock(&r->lock);
    return r->array;
}

static void ha_records_leave(ha_records *r) { pthread_rwlock_unlock(&r->lock); }

static ha_access *ha_records_parts(ha_records_access *x) { return x->more_ ? x->more_ : x->part_; }

/* The box of a run and a range of the slowest index, neither empty. */
static ha_range ha_records_range(const ha_array *a, const ha_field_run *run, int64_t first,
                                 int64_t last) {
    const ha_record_form *f = ha_records_form(a);
    ha_field_box b = {.leaf = run->leaf, .end = run->end};
    for (int d = 0; d < f->rank; d++) b.last[d] = f->extent[d];
    b.first[0] = first;
    b.last[0] = last;
    return ha_field_box_range(a, &b);
}

/* What has to be so of the layout, or nothing is opened. */
typedef struct ha_fitting ha_fitting;
struct ha_fitting {
    int (*fits)(ha_fitting *f, const ha_mapping *mapping);
    const void *type;
    void *view;
    ha_error error; /* why it does not */
    int misfit;     /* that is why nothing was opened; it was not told */
};

/* Which boxes are opened, and how. */
typedef struct ha_records_wish {
    ha_array *array;
    ha_context *context;
    const ha_range *range;
    const unsigned *mode;
    size_t n;
    int trying;
    const char *operation, *site;
    ha_fitting *fitting; /* NULL: any layout will do */
} ha_records_wish;

/* All of them when all are easy, or nothing. */
static int ha_records_open_fast(const ha_records_wish *w, ha_access *part) {
    ha_array *a = w->array;
    ha_incarnation *in = NULL;
    size_t n = 0;
    int writes = 0;
    if (!ha_self.id || !a->grid) return 0;
    ha_lock(a);
    for (; n < w->n; n++) {
        const int write = w->mode[n] != HA_READ;
        if (!ha_is_easy(a, w->context, w->range[n], w->range[n], write, 1, &in)) break;
        ha_hold_easily(&part[n], a, in, w->context, write, w->range[n], w->range[n], w->site);
        writes |= write;
    }
    const int all = n == w->n;
    if (all) {
        a->recent = in;
        a->version += (uint64_t)writes;
    } else { /* nobody has seen them */
        a->holders -= (uint32_t)n;
        if (n && w->context->ops)
            ha_incarnation_find(a, w->context->memory)->ops.promised -= (uint32_t)n;
    }
    ha_unlock(a);
    if (all) ha_self.held += n;
    return all;
}

/* All are prepared, and busy: the layout stays from now on, and what is overwritten is still there. */
static ha_status ha_records_still_fit(ha_together *t, void *argument) {
    const ha_records_wish *w = (const ha_records_wish *)argument;
    ha_array *a = w->array;
    (void)t;
    ha_lock(a);
    const ha_mapping *m = ha_lodging_find(ha_records_form(a), w->context->memory)->mapping;
    ha_unlock(a);
    w->fitting->misfit = !w->fitting->fits(w->fitting, m);
    return w->fitting->misfit ? HA_ERR_UNSUPPORTED : HA_OK;
}

/* One access for each box, all or none. `q` has room for the requests. */
static ha_status ha_records_open_slow(const ha_records_wish *w, ha_access *part, ha_request *q) {
    ha_together t = {.operation = w->operation,
                     .work = w->fitting ? ha_records_still_fit : NULL,
                     .argument = (void *)(uintptr_t)w};
    for (size_t i = 0; i < w->n; i++)
        q[i] = (ha_request){.access = &part[i],
                            .array = w->array,
                            .context = w->context,
                            .how = w->mode[i],
                            .last = HA_END};
    ha_status s = ha_requests_clear(q, w->n, w->operation, w->site);
    if (!s) s = ha_together_make(&t, q, w->n, w->site);
    if (s) return s;
    for (size_t i = 0; i < w->n; i++) {
        ha_opening *o = &t.part[i].opening;
        o->range = w->range[t.part[i].place];
        if (!w->array->grid) continue;
        o->aimed = 1;
        o->count = ha_elements(w->array->grid, o->range);
    }
    s = ha_together_open(&t, w->trying);
    HARRAY_FREE(t.part);
    return s;
}

/* Ranges, modes and requests for more parts than usual. */
typedef struct ha_records_room {
    ha_range range[4];
    unsigned mode[4];
    ha_request request[4];
    void *heap;
} ha_records_room;

/* The boxes of what is wanted: w->range, w->mode, w->n; *room is to be freed. An array without records has
 * no boxes: it is opened as a whole, in the way that excludes most. A range without records is opened, too,
 * so that the layout stays; it is in nobody's way. */
static ha_status ha_records_aim(ha_records_wish *w, const ha_wanted *wanted, int64_t first,
                                int64_t last, ha_records_room *room, ha_request **q) {
    const size_t n = (size_t)wanted->runs;
    ha_range *range = room->range;
    unsigned *mode = room->mode;
    *q = room->request;
    room->heap = NULL;
    if (n > 4) {
        room->heap = HARRAY_MALLOC(n * (sizeof **q + sizeof *range + sizeof *mode));
        if (!room->heap)
            return ha_fail(HA_ERR_MEMORY, w->operation, "%s: records %s: no memory to open them",
                           w->site, ha_label_of(w->array).text);
        *q = (ha_request *)room->heap;
        range = (ha_range *)(void *)(*q + n);
        mode = (unsigned *)(void *)(range + n);
    }
    w->range = range;
    w->mode = mode;
    const int boxes = w->array->grid && first < last;
    w->n = boxes ? n : 1;
    range[0] = w->array->grid ? (ha_range){0, 0} : HA_WHOLE;
    mode[0] = HA_READ;
    for (size_t i = 0; i < n; i++) {
        const unsigned how = wanted->run[i].mode;
        if (boxes) {
            range[i] = ha_records_range(w->array, &wanted->run[i], first, last);
            mode[i] = how;
        } else if (!w->array->grid && how > mode[0])
            mode[0] = how;
    }
    return HA_OK;
}

/* Where the blobs are, for the user. */
static void ha_records_show(ha_records_access *x, ha_array *a) {
    const ha_memory *m = x->context->memory;
    ha_lock(a);
    ha_lodging *l = ha_lodging_find(ha_records_form(a), m);
    const ha_incarnation *in = ha_incarnation_find(a, m);
    const char *data = x->parts_ ? (const char *)ha_records_parts(x)[0].data : NULL;
    x->mapping = l->mapping;
    x->blob = l->caller ? l->caller : l->blob;
    if (data && in && !l->caller)
        x->blob = ha_lodging_shown(l, in->data, (uintptr_t)data - (uintptr_t)in->data);
    ha_unlock(a);
}

/* Opens what is aimed at, and fills *x. */
static ha_status ha_records_grant(ha_records_access *x, ha_records *r, const ha_records_wish *w,
                                  ha_request *q) {
    ha_status s = HA_OK;
    if (w->n > sizeof x->part_ / sizeof *x->part_ &&
        !(x->more_ = (ha_access *)HARRAY_MALLOC(w->n * sizeof *x->more_)))
        return ha_fail(HA_ERR_MEMORY, w->operation, "%s: records %s: no memory to open them",
                       w->site, ha_label_of(w->array).text);
    ha_access *part = ha_records_parts(x);
    if (w->n && !ha_records_open_fast(w, part)) s = ha_records_open_slow(w, part, q);
    if (s) {
        HARRAY_FREE(x->more_);
        return s;
    }
    x->records = r;
    x->context = w->context;
    x->parts_ = (int)w->n;
    ha_records_show(x, w->array);
    return HA_OK;
}

/* The range, with an end; 0: it is not inside. */
static int ha_records_inside(const ha_array *a, size_t *first, size_t *last) {
    const size_t n = (size_t)ha_records_form(a)->extent[0];
    if (*last == HA_END) *last = n;
    return *first <= *last && *last <= n;
}

/* What is said of records before anything is done there: the lodging is there then. */
static ha_status ha_records_ready(ha_array *a, ha_context *c, size_t *first, size_t *last,
                                  const char *operation, const char *site) {
    ha_lodging *l;
    const size_t from = *first, to = *last;
    if (!ha_records_inside(a, first, last))
        return ha_fail(HA_ERR_ARGUMENT, operation, "%s: records %s: no range [%zu, %zu) in %lld",
                       site, ha_label_of(a).text, from, to,
                       (long long)ha_records_form(a)->extent[0]);
    ha_status s = ha_lodging_get(a, c->memory, &l);
    if (!s) return HA_OK;
    return ha_fail(s, operation, "%s: records %s at %s: the layout \"%.80s\" cannot be had there",
                   site, ha_label_of(a).text, c->name, ha_records_form(a)->layout);
}

static ha_status ha_records_enter(const ha_records *r, const char *operation, const char *site) {
    ha_status s = ha_enter(operation);
    if (s) return s;
    if (!r) return ha_fail(HA_ERR_ARGUMENT, operation, "%s: no records", site);
    return ha_records_freed(r, operation) ? HA_ERR_STATE : HA_OK;
}

/* The array is r's for now. */
static ha_status ha_records_open_wanted(ha_records_access *x, ha_records *r,
                                        const ha_wanted *wanted, ha_records_wish *w, size_t first,
                                        size_t last) {
    ha_records_room room;
    ha_request *q;
    ha_status s = ha_records_ready(w->array, w->context, &first, &last, w->operation, w->site);
    if (s) return s;
    x->first = (int64_t)first;
    x->last = (int64_t)last;
    s = ha_records_aim(w, wanted, (int64_t)first, (int64_t)last, &room, &q);
    if (!s) s = ha_records_grant(x, r, w, q);
    HARRAY_FREE(room.heap);
    return s;
}

/* fitting: NULL, or what is asked unless all is valid there: then nothing is lost either. */
static ha_status ha_records_open_if(ha_records_access *x, ha_records *r, ha_context *c,
                                    const char *what, size_t first, size_t last, const char *site,
                                    ha_fitting *fitting) {
    static const char operation[] = "ha_records_open";
    ha_wanted *wanted = NULL;
    if (!x) return ha_no_access(operation);
    memset(x, 0, sizeof *x);
    ha_status s = ha_records_enter(r, operation, site);
    if (!s && !what) s = ha_fail(HA_ERR_ARGUMENT, operation, "%s: nothing to open", site);
    if (s) return x->status = s;
    ha_records_wish w = {.array = ha_records_begin(r),
                         .context = ha_resolve(c),
                         .operation = operation,
                         .site = site,
                         .fitting = fitting};
    s = ha_wanted_get(r, what, 0, operation, site, &wanted);
    if (!s) w.trying = wanted->trying;
    if (!s) s = ha_records_open_wanted(x, r, wanted, &w, first, last);
    ha_wanted_end(wanted);
    ha_records_leave(r);
    if (s) memset(x, 0, sizeof *x);
    return x->status = s;
}

ha_status ha_records_open_(ha_records_access *x, ha_records *r, ha_context *c, const char *what,
                           size_t first, size_t last, const char *site) {
    HA_TELLS_EVENTS;
    return ha_records_open_if(x, r, c, what, first, last, site, NULL);
}

/* ---- open accesses --------------------------------------------------------------------------- */

static ha_status ha_records_not_open(const ha_records_access *x, const char *operation) {
    if (!x) return ha_no_access(operation);
    return x->records ? HA_OK : ha_fail_closed(operation, NULL, 0);
}

ha_status ha_records_close_(ha_records_access *x) {
    HA_TELLS_EVENTS;
    ha_status s = ha_enter("ha_records_close");
    if (!s) s = ha_records_not_open(x, "ha_records_close");
    if (s) return s;
    ha_access *part = ha_records_parts(x);
    for (int i = 0; i < x->parts_ && !s; i++) s = ha_close_(&part[i]); /* all are one thread's */
    if (s) return s;
    HARRAY_FREE(x->more_);
    memset(x, 0, sizeof *x);
    return HA_OK;
}

ha_status ha_records_run_(ha_function f, ha_records_access *x, const void *argument, size_t bytes) {
    HA_TELLS_EVENTS;
    ha_status s = ha_enter("ha_records_run");
    if (!s) s = ha_records_not_open(x, "ha_records_run");
    if (!x) return s;
    if (s) return x->status = s;
    s = f && (argument || !bytes) ? ha_enqueue_quietly(x->context, f, argument, bytes)
                                  : HA_ERR_ARGUMENT;
    if (!s) return HA_OK;
    ha_array *a = ha_records_begin(x->records);
    s = ha_fail(s, "ha_records_run", "records %s at %s: %s", ha_label_of(a).text, x->context->name,
                f ? "the context did not take the function" : "no function");
    ha_records_leave(x->records);
    return x->status = s;
}

ha_status ha_records_wait_(ha_records_access *x, const char *site) {
    HA_TELLS_EVENTS;
    ha_status s = ha_enter("ha_records_wait");
    if (!s) s = ha_records_not_open(x, "ha_records_wait");
    for (int i = 0; !s && i < x->parts_; i++) s = ha_wait_(&ha_records_parts(x)[i], site);
    return s;
}

/* ---- without an access ----------------------------------------------------------------------- */

/* Moves what there is of a box to a context. */
static ha_status ha_records_fetch(ha_array *a, ha_context *c, ha_range range, const char *operation,
                                  const char *site) {
    ha_opening o = {.array = a,
                    .context = c,
                    .operation = operation,
                    .site = site,
                    .mode = HA_READ,
                    .range = range,
                    .aimed = 1,
                    .count = ha_elements(a->grid, range)};
    return ha_opening_prefetch(&o);
}

ha_status ha_records_prefetch_(ha_records *r, ha_context *c, const char *paths, size_t first,
                               size_t last, const char *site) {
    HA_TELLS_EVENTS;
    static const char operation[] = "ha_records_prefetch";
    ha_wanted *wanted = NULL;
    ha_status s = ha_records_enter(r, operation, site);
    if (s) return s;
    ha_array *a = ha_records_begin(r);
    c = ha_resolve(c);
    s = ha_wanted_get(r, paths ? paths : "", 1, operation, site, &wanted);
    if (!s) s = ha_records_ready(a, c, &first, &last, operation, site);
    for (int32_t i = 0; !s && a->grid && first < last && i < wanted->runs; i++)
        s = ha_records_fetch(a, c,
                             ha_records_range(a, &wanted->run[i], (int64_t)first, (int64_t)last),
                             operation, site);
    ha_wanted_end(wanted);
    ha_records_leave(r);
    return s;
}

int ha_records_valid(const ha_records *r, const ha_context *c, const char *paths, size_t first,
                     size_t last) {
    ha_records *m = (ha_records *)(uintptr_t)r;
    ha_wanted *wanted = NULL;
    if (!r || ha_forked || ha_records_freed(r, "ha_records_valid")) return 0;
    ha_array *a = ha_records_begin(m);
    ha_tell_later(); /* what is no path is just not valid */
    int valid = ha_records_inside(a, &first, &last) && first < last && a->grid &&
                !ha_wanted_get(m, paths ? paths : "", 1, "ha_records_valid", "", &wanted);
    ha_later_error.error.status = HA_OK;
    ha_tell_now();
    ha_lock(a);
    const ha_incarnation *in = ha_incarnation_find(a, ha_resolve_const(c)->memory);
    for (int32_t i = 0; valid && i < wanted->runs; i++)
        valid = in && ha_set_contains(&in->valid, ha_records_range(a, &wanted->run[i],
                                                                   (int64_t)first, (int64_t)last));
    ha_unlock(a);
    ha_wanted_end(wanted);
    ha_records_leave(m);
    return valid;
}

#endif
