/* The registry: backends, memories and contexts of the process. Opened when first asked for, never
 * closed until ha_shutdown. The lists only grow in between, so that they can be walked unlocked. */
#ifndef HARRAY_IMPL_DEVICE_REGISTRY_H
#define HARRAY_IMPL_DEVICE_REGISTRY_H

#include "budget.h"
#include "tier.h"

ha_context *ha_host(void) { return &ha_host_context; }

ha_context *ha_context_current(void) { return ha_self.current; }

const char *ha_context_name(const ha_context *c) { return ha_resolve_const(c)->name; }
const char *ha_context_kind(const ha_context *c) { return ha_resolve_const(c)->backend->kind; }
int ha_context_number(const ha_context *c) { return ha_resolve_const(c)->number; }

void *ha_context_stream(const ha_context *c) {
    c = ha_resolve_const(c);
    if (!c->ops || c->ended) return NULL;
    return HA_HAS_(c->ops, ha_queue_ops, native) ? c->ops->native(c->queue) : NULL;
}

/* ---- backends ----------------------------------------------------------------------------- */

/* Whether a table reaches up to its last required slot; later slots are optional. */
#define HA_REACHES_(table, type, slot)                                                             \
    ((table)->bytes >= offsetof(type, slot) + sizeof((table)->slot))

HA_IN_ int ha_can_allocate(const ha_memory_ops *m) {
    return m->version == HA_BACKEND_VERSION && HA_REACHES_(m, ha_memory_ops, release) &&
           m->allocate && m->release;
}

HA_IN_ const char *ha_backend_lacks(const ha_backend *b) {
    const ha_memory_ops *m;
    const ha_queue_ops *q;
    if (!b) return "no backend";
    if (b->version != HA_BACKEND_VERSION || !HA_REACHES_(b, ha_backend, queue))
        return "unknown version or size";
    if (!b->kind || !ha_is_kind(b->kind) || !strcmp(b->kind, "best"))
        return "the kind must be 1 to 23 letters, digits or '_', and not 'best'";
    if (!b->count || !b->open) return "count or open is missing";
    if (!(m = b->memory) || m->version != HA_BACKEND_VERSION ||
        !HA_REACHES_(m, ha_memory_ops, reaches))
        return "no memory table of a known version and size";
    if (!m->allocate || !m->release || !m->reaches)
        return "allocate, release or reaches is missing";
    if (!(q = b->queue) || q->version != HA_BACKEND_VERSION || !HA_REACHES_(q, ha_queue_ops, drain))
        return "no queue table of a known version and size";
    if (!q->create || !q->destroy || !q->copy || !q->call || !q->record || !q->await ||
        !q->finish || !q->done || !q->drain)
        return "a required slot of the queue table is missing";
    if (HA_HAS_(b, ha_backend, pinned) && !ha_can_allocate(b->pinned))
        return "the table of pinned memory lacks allocate or release, or is of no known version";
    if (HA_HAS_(b, ha_backend, managed) && !ha_can_allocate(b->managed))
        return "the table of managed memory lacks allocate or release, or is of no known version";
    return NULL;
}

ha_status ha_backend_register(const ha_backend *b) {
    const char *why = ha_backend_lacks(b);
    ha_status s = ha_enter("ha_backend_register");
    if (s) return s;
    if (why) return ha_fail(HA_ERR_ARGUMENT, "ha_backend_register", "%s", why);
    ha_kind *k = (ha_kind *)HARRAY_MALLOC(sizeof *k);
    if (!k)
        return ha_fail(HA_ERR_MEMORY, "ha_backend_register", "no memory for kind '%s'", b->kind);
    pthread_mutex_lock(&ha_registry.lock);
    const ha_backend *same = ha_backend_find(b->kind);
    if (!same) {
        *k = (ha_kind){ha_registry.kinds, b};
        ha_registry.kinds = k;
    }
    pthread_mutex_unlock(&ha_registry.lock);
    if (same) HARRAY_FREE(k);
    if (same && same != b)
        return ha_fail(HA_ERR_ARGUMENT, "ha_backend_register", "kind '%s' is taken", b->kind);
    return HA_OK;
}

int ha_context_count(const char *kind) {
    if (!kind || ha_enter("ha_context_count")) return 0;
    pthread_mutex_lock(&ha_registry.lock);
    const ha_backend *b = ha_backend_find(kind);
    const int n = b ? b->count() : 0;
    pthread_mutex_unlock(&ha_registry.lock);
    return n < 0 ? 0 : n;
}

/* ---- contexts ----------------------------------------------------------------------------- */

/* The text of a failure inside the lock, to be told outside. */
typedef struct ha_failure {
    ha_status status;
    const char *why;
} ha_failure;

/* One more context of c's device, to be named and added. */
HA_IN_ ha_context ha_context_like(const ha_context *c) {
    return (ha_context){.ops = c->ops,
                        .device = c->device,
                        .memory = c->memory,
                        .home = c->home,
                        .backend = c->backend,
                        .number = c->number,
                        .primary = c->primary};
}

/* A queue of its own, or around the caller's. */
HA_IN_ ha_status ha_context_queue(ha_context *c) HA_REQUIRES_(ha_registry.lock) {
    if (c->adopted) return c->ops->adopt(c->device, c->native, &c->queue);
    return c->ops->create(c->device, &c->queue);
}

/* Adds a context with a queue. */
HA_IN_ ha_context *ha_context_add(ha_context like, ha_failure *failure)
    HA_REQUIRES_(ha_registry.lock) {
    ha_context *c = (ha_context *)HARRAY_MALLOC(sizeof *c);
    if (!c) {
        *failure = (ha_failure){HA_ERR_MEMORY, "no memory for a context"};
        return NULL;
    }
    *c = like;
    ha_status s = ha_context_queue(c);
    if (s) {
        *failure = (ha_failure){s, c->adopted ? "cannot adopt the queue" : "cannot create a queue"};
        HARRAY_FREE(c);
        return NULL;
    }
    if (!c->primary) c->primary = c;
    c->strict = HA_HAS_(c->backend, ha_backend, strict) ? c->backend->strict(c->device) : 0;
    if (c->strict) __atomic_store_n(&ha_strict_contexts, 1, __ATOMIC_RELAXED);
    c->easy = ha_easy_memory(c);
    c->issued = 1;
    pthread_mutex_init(&c->lock, NULL);
    c->next = ha_registry.contexts;
    __atomic_store_n(&ha_registry.contexts, c, __ATOMIC_RELEASE);
    return c;
}

HA_IN_ ha_memory *ha_memory_make(const ha_backend *b, const ha_memory_ops *ops) {
    ha_memory *m = (ha_memory *)HARRAY_MALLOC(sizeof *m);
    if (m) *m = (ha_memory){.backend = b, .ops = ops, .pool = {.most = UINT64_MAX}};
    return m;
}

/* From now on it is known. NULL: nothing to add. */
HA_IN_ void ha_memory_list(ha_memory *m, void *handle) HA_REQUIRES_(ha_registry.lock) {
    if (!m) return;
    m->handle = handle;
    pthread_mutex_init(&m->lock, NULL);
    m->next = ha_registry.memories;
    __atomic_store_n(&ha_registry.memories, m, __ATOMIC_RELEASE);
}

/* What HARRAY_ZERO_COPY says: 0 or 1, -1: nothing. */
HA_IN_ ha_status ha_zero_copy_option(int *option) {
    const char *text = getenv("HARRAY_ZERO_COPY");
    char why[100];
    *option = -1;
    if (!text || !*text) return HA_OK;
    *option = *text - '0';
    if ((*option == 0 || *option == 1) && !text[1]) return HA_OK;
    snprintf(why, sizeof why, "HARRAY_ZERO_COPY is 0 or 1, not \"%.40s\"", text);
    ha_backend_report(0, why);
    return HA_ERR_BACKEND;
}

/* The memory that the queues of a device work on. Who cannot is not asked to share the host's. */
HA_IN_ ha_memory *ha_device_memory(const ha_backend *b, void *device, ha_memory *own, int option) {
    int can = HA_HAS_(b, ha_backend, zero_copy) ? b->zero_copy(device) : 0;
    int shares = option >= 0 ? option && can : can == 2;
    return shares ? &ha_host_memory : own;
}

/* Opens a device: its handle and first queue. */
HA_IN_ ha_context *ha_device_start(const ha_backend *b, int number, ha_memory *m, void **handle,
                                   ha_failure *failure) HA_REQUIRES_(ha_registry.lock) {
    void *device = NULL;
    int option;
    char name[48];
    uint64_t budget = 0;
    ha_status s = ha_zero_copy_option(&option);
    snprintf(name, sizeof name, "%.23s:%d", b->kind, number);
    if (!s) s = ha_budget_option(name, &budget);
    if (!s) s = b->open(number, &device, handle);
    if (s) {
        *failure = (ha_failure){s, "cannot open the device"};
        return NULL;
    }
    ha_context like = {.ops = b->queue,
                       .device = device,
                       .memory = ha_device_memory(b, device, m, option),
                       .home = m,
                       .backend = b,
                       .number = number};
    memcpy(like.name, name, sizeof like.name);
    m->pool.budget = budget;
    ha_context *c = ha_context_add(like, failure);
    if (!c && b->close) b->close(device);
    return c;
}

HA_IN_ void ha_memories_free(ha_memory *m) {
    if (!m) return;
    HARRAY_FREE(m->managed);
    HARRAY_FREE(m->pinned);
    HARRAY_FREE(m);
}

/* A device's memory, with what belongs to it; NULL: there is no memory for that. */
HA_IN_ ha_memory *ha_memories_make(const ha_backend *b) {
    const ha_memory_ops *pinned = HA_HAS_(b, ha_backend, pinned) ? b->pinned : NULL;
    const ha_memory_ops *managed = HA_HAS_(b, ha_backend, managed) ? b->managed : NULL;
    ha_memory *m = ha_memory_make(b, NULL);
    if (m && pinned) m->pinned = ha_memory_make(b, pinned);
    if (m && managed) m->managed = ha_memory_make(b, managed);
    if (m && !pinned == !m->pinned && !managed == !m->managed) return m;
    ha_memories_free(m);
    return NULL;
}

/* Opens a device with all that belongs to it. */
HA_IN_ ha_context *ha_device_open(const ha_backend *b, int number, ha_failure *failure)
    HA_REQUIRES_(ha_registry.lock) {
    ha_memory *m = ha_memories_make(b);
    ha_context *c = NULL;
    void *handle = NULL;
    *failure = (ha_failure){HA_ERR_MEMORY, "no memory for a device"};
    if (m) c = ha_device_start(b, number, m, &handle, failure);
    if (!c) {
        ha_memories_free(m);
        return NULL;
    }
    if (m->pinned) (void)ha_budget_option("pinned", &m->pinned->pool.budget); /* read just before */
    m->primary = c;
    ha_memory_list(m->managed, handle);
    ha_memory_list(m->pinned, handle);
    ha_memory_list(m, handle);
    return c;
}

/* Tells why there is no device of a kind, if its backend says so: 1. */
HA_IN_ int ha_note_missing(const ha_backend *b) HA_REQUIRES_(ha_registry.lock) {
    const char *why = HA_HAS_(b, ha_backend, missing) ? b->missing() : NULL;
    if (!why || !*why) return 0;
    ha_backend_report(0, why);
    return 1;
}

typedef struct ha_kinds {
    char text[200];
} ha_kinds;

/* Those that there are, for messages. */
HA_IN_ ha_kinds ha_kinds_known(void) {
    ha_kinds kinds;
    ha_text t = ha_text_into(kinds.text, sizeof kinds.text);
    pthread_mutex_lock(&ha_registry.lock);
    for (int i = 0; i < HA_BUILT_IN; i++) ha_print(&t, "%s%s", i ? ", " : "", ha_built_in[i]->kind);
    for (const ha_kind *k = ha_registry.kinds; k; k = k->next)
        ha_print(&t, ", %s", k->backend->kind);
    pthread_mutex_unlock(&ha_registry.lock);
    return kinds;
}

/* The first context of a device that is open; NULL: it is not. */
HA_IN_ ha_context *ha_device_find(const ha_backend *b, int number) HA_REQUIRES_(ha_registry.lock) {
    ha_context *c = ha_registry.contexts;
    while (c && (c->backend != b || c->number != number || c->primary != c)) c = c->next;
    return c;
}

/* ---- the host ------------------------------------------------------------------------------ */

HA_STATE_ int ha_host_options_known;

/* The file that HARRAY_MEMORY has a place for, as the host's next tier. */
HA_IN_ ha_status ha_host_file_open(void) HA_REQUIRES_(ha_registry.lock) {
    const ha_backend *b = &ha_backend_file;
    ha_failure failure = {HA_ERR_BACKEND, NULL};
    char why[sizeof ha_backend_note.text];
    size_t length;
    if (!ha_file_place_in(getenv("HARRAY_MEMORY"), &length)) return HA_OK;
    ha_context *c = ha_device_find(b, 0);
    if (!c && b->count() > 0) c = ha_device_open(b, 0, &failure);
    if (c) {
        __atomic_store_n(&ha_host_memory.tier, c->home, __ATOMIC_RELEASE);
        return HA_OK;
    }
    if (!failure.why) ha_backend_report(0, "ha_file_configure has said that there is no file");
    snprintf(why, sizeof why, "HARRAY_MEMORY: %.200s", ha_backend_note.text);
    ha_backend_report(ha_backend_note.code, why);
    return failure.status;
}

/* The host is not opened: before its memory is asked for the first time, its budget and its next tier are what
 * HARRAY_MEMORY says. As ha_budget_option. */
HA_IN_ ha_status ha_host_options_read(void) {
    uint64_t budget;
    if (__atomic_load_n(&ha_host_options_known, __ATOMIC_ACQUIRE)) return HA_OK;
    pthread_mutex_lock(&ha_registry.lock);
    ha_status s = ha_budget_option("host", &budget);
    if (!s && !ha_host_options_known && !(s = ha_host_file_open())) {
        ha_spin_lock(&ha_host_memory.pool.lock);
        ha_host_memory.pool.budget = budget;
        ha_spin_unlock(&ha_host_memory.pool.lock);
        __atomic_store_n(&ha_host_options_known, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&ha_registry.lock);
    return s;
}

/* ---- contexts by name ---------------------------------------------------------------------- */

/* from: where the name comes from, for messages. */
HA_IN_ ha_context *ha_context_open(const char *kind, int number, const char *operation,
                                   const char *from) {
    ha_failure failure = {HA_OK, NULL};
    int devices = 0, told = 0;
    pthread_mutex_lock(&ha_registry.lock);
    const ha_backend *b = ha_backend_find(kind);
    ha_context *c = ha_device_find(b, number);
    if (!c && b) {
        devices = b->count();
        if (number < devices) c = ha_device_open(b, number, &failure);
        if (devices < 0) devices = 0;
        told = !devices && ha_note_missing(b);
    }
    pthread_mutex_unlock(&ha_registry.lock);
    if (c) return c;
    if (failure.why)
        ha_fail(failure.status, operation, "%s'%s:%d': %s", from, kind, number, failure.why);
    else if (!b)
        ha_fail(HA_ERR_NOT_FOUND, operation, "%sno kind of context is called '%s': there are %s",
                from, kind, ha_kinds_known().text);
    else if (told)
        ha_fail(HA_ERR_NOT_FOUND, operation, "%sno context '%s:%d'", from, kind, number);
    else
        ha_fail(HA_ERR_NOT_FOUND, operation,
                devices == 1 ? "%sno context '%s:%d': there is %d device of that kind"
                             : "%sno context '%s:%d': there are %d devices of that kind",
                from, kind, number, devices);
    return NULL;
}

HA_IN_ ha_context *ha_context_at(const char *kind, int number, const char *operation,
                                 const char *from) {
    if (strcmp(kind, "host") != 0) return ha_context_open(kind, number, operation, from);
    if (number == 0) return ha_host();
    ha_fail(HA_ERR_NOT_FOUND, operation, "%sno context 'host:%d': there is one host", from, number);
    return NULL;
}

ha_context *ha_context_get(const char *kind, int number) {
    if (ha_enter("ha_context_get")) return NULL;
    if (kind && number >= 0) return ha_context_at(kind, number, "ha_context_get", "");
    ha_fail(HA_ERR_ARGUMENT, "ha_context_get", "%s",
            kind ? "the number of a device is not negative" : "no kind");
    return NULL;
}

HA_IN_ ha_context *ha_context_named(const char *text, const char *operation, const char *from) {
    char kind[24];
    int number;
    if (text && ha_parse_context(text, kind, &number))
        return ha_context_at(kind, number, operation, from);
    ha_fail(HA_ERR_ARGUMENT, operation,
            "%s'%.40s' is no name of a context: write host, best, or kind:number as in sim:0", from,
            text ? text : "(null)");
    return NULL;
}

ha_context *ha_context_find(const char *text) {
    if (ha_enter("ha_context_find")) return NULL;
    if (text && !strcmp(text, "best")) return ha_context_best();
    return ha_context_named(text, "ha_context_find", "");
}

/* Whether a kind may be taken unasked, and has a device *number for that, or would have one if the user's
 * options for it were right: to be told, not to be passed over. */
HA_IN_ int ha_may_be_best(const ha_backend *b, int *number) HA_REQUIRES_(ha_registry.lock) {
    const int count = b->queue && !b->only_if_named ? b->count() : 0;
    *number = count > 0 && HA_HAS_(b, ha_backend, best) ? b->best() : 0;
    return count < 0 || (count > 0 && *number >= 0);
}

/* The kind of the best device; NULL: there is none. */
HA_IN_ const char *ha_best_kind(int *number) {
    const char *kind = NULL;
    pthread_mutex_lock(&ha_registry.lock);
    for (int i = 0; i < HA_BUILT_IN && !kind; i++)
        if (ha_may_be_best(ha_built_in[i], number)) kind = ha_built_in[i]->kind;
    for (ha_kind *k = ha_registry.kinds; k && !kind; k = k->next)
        if (ha_may_be_best(k->backend, number)) kind = k->backend->kind;
    pthread_mutex_unlock(&ha_registry.lock);
    return kind;
}

ha_context *ha_context_best(void) {
    const char *wanted = getenv("HARRAY_DEVICE");
    int number;
    if (ha_enter("ha_context_best")) return NULL;
    if (ha_host_options_read()) {
        ha_fail(HA_ERR_BACKEND, "ha_context_best", "the memories cannot be used");
        return NULL;
    }
    if (wanted && *wanted && strcmp(wanted, "best") != 0)
        return ha_context_named(wanted, "ha_context_best", "HARRAY_DEVICE: ");
    const char *kind = ha_best_kind(&number);
    return kind ? ha_context_at(kind, number, "ha_context_best", "") : ha_host();
}

/* ---- scopes -------------------------------------------------------------------------------- */

ha_scope_ ha_on_begin_(ha_context *c) {
    ha_scope_ s = {ha_self.current, 1, c != NULL};
    if (c)
        ha_self.current = c;
    else if (ha_first_error.status == HA_OK)
        ha_fail(HA_ERR_ARGUMENT, "HA_ON", "no context");
    return s;
}

void ha_on_end_(ha_scope_ *s) { ha_self.current = s->outer; }

/* The memory that was opened next after m; NULL as m: the host's. */
HA_IN_ ha_memory *ha_next_memory(const ha_memory *m) {
    if (!m) return &ha_host_memory;
    ha_memory *next = __atomic_load_n(&ha_registry.memories, __ATOMIC_ACQUIRE), *last = NULL;
    for (; next && next != m; next = next->next) last = next; /* the newest is the first */
    return last;
}

#endif
