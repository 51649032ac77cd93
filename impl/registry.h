/* The registry: backends, memories and contexts of the process. Opened when first asked for, never
 * closed until ha_shutdown. The lists only grow in between, so that they can be walked unlocked. */
#ifndef HA_IMPL_REGISTRY_H
#define HA_IMPL_REGISTRY_H

#include "thread.h"

#ifndef HARRAY_HOST_BACKEND /* tests put a fault injecting one in its place */
#define HARRAY_HOST_BACKEND ha_backend_host
#endif

struct ha_block;
struct ha_mark;

/* Where bytes live, and the account of them. */
typedef struct ha_memory {
    struct ha_memory *next;
    const ha_backend *backend;
    void *handle;             /* the backend's own object */
    ha_context *primary;      /* the queue for transfers that have no other; NULL on the host */
    uint64_t handed_out;      /* ledger: bytes that the backend has given us and not got back */
    uint64_t sweeping, swept; /* blocks.h: sweeps under way, and ended */
    pthread_mutex_t lock;     /* guards those below */
    struct ha_block *retired, *youngest; /* freed, but a queue may still use them; oldest first */
    uint64_t retired_bytes;              /* of these; may be read without the lock */
} ha_memory;

struct ha_context {
    struct ha_context *next;
    const ha_queue_ops *ops; /* NULL: the host */
    void *queue, *device;
    ha_memory *memory;
    const ha_backend *backend;
    struct ha_context *primary; /* the context that this one was forked from, or itself */
    int number, forks;
    struct ha_context *unused; /* given back: the next one; of a primary: the first one */
    int given_back;
    char name[48];
    uint64_t issued;                  /* order.h: the number of the next event */
    uint64_t done;                    /* order.h: everything up to this number has happened */
    pthread_mutex_t lock;             /* guards the two below */
    struct ha_mark *latest, *watched; /* order.h: the newest event; an older one that is polled */
};

typedef struct ha_kind {
    struct ha_kind *next;
    const ha_backend *backend;
} ha_kind;

static struct {
    pthread_mutex_t lock;
    ha_kind *kinds; /* registered by users */
    ha_memory *memories;
    ha_context *contexts;
    uint64_t arrays; /* living ones */
} ha_registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The host is not opened: its memory object is NULL, and it has no queue. */
static ha_context ha_host_context;
static ha_memory ha_host_memory = {.backend = &HARRAY_HOST_BACKEND,
                                   .lock = PTHREAD_MUTEX_INITIALIZER};
static ha_context ha_host_context = {.name = "host",
                                     .memory = &ha_host_memory,
                                     .backend = &HARRAY_HOST_BACKEND,
                                     .primary = &ha_host_context,
                                     .lock = PTHREAD_MUTEX_INITIALIZER};
static const ha_backend *const ha_built_in[] = {
#define HA_LISTED(backend) &backend,
    HA_BACKENDS(HA_LISTED)
#undef HA_LISTED
};
enum { HA_BUILT_IN = sizeof ha_built_in / sizeof *ha_built_in };

/* Whether an optional slot of a versioned table is there. */
#define HA_HAS(table, type, slot)                                                                  \
    ((table)->bytes >= offsetof(type, slot) + sizeof((table)->slot) && (table)->slot)

static inline int ha_is_host(const ha_context *c) { return c->ops == NULL; }

ha_context *ha_host(void) { return &ha_host_context; }

ha_context *ha_context_current(void) { return ha_self.current; }

/* NULL means the current context, else the host. */
static inline ha_context *ha_resolve(ha_context *c) {
    if (c) return c;
    return ha_self.current ? ha_self.current : &ha_host_context;
}

static inline const ha_context *ha_resolve_const(const ha_context *c) {
    if (c) return c;
    return ha_self.current ? ha_self.current : &ha_host_context;
}

const char *ha_context_name(const ha_context *c) { return ha_resolve_const(c)->name; }
const char *ha_context_kind(const ha_context *c) { return ha_resolve_const(c)->backend->kind; }
int ha_context_number(const ha_context *c) { return ha_resolve_const(c)->number; }

void *ha_context_stream(const ha_context *c) {
    c = ha_resolve_const(c);
    return c->ops && HA_HAS(c->ops, ha_queue_ops, native) ? c->ops->native(c->queue) : NULL;
}

/* ---- backends ----------------------------------------------------------------------------- */

static int ha_is_kind_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static int ha_is_kind(const char *text) {
    size_t n = 0;
    while (ha_is_kind_char(text[n])) n++;
    return n > 0 && n < 24 && !text[n];
}

/* With the registry's lock held. NULL when unknown. */
static const ha_backend *ha_backend_find(const char *kind) {
    for (int i = 0; i < HA_BUILT_IN; i++)
        if (!strcmp(ha_built_in[i]->kind, kind)) return ha_built_in[i];
    for (ha_kind *k = ha_registry.kinds; k; k = k->next)
        if (!strcmp(k->backend->kind, kind)) return k->backend;
    return NULL;
}

static const char *ha_backend_lacks(const ha_backend *b) {
    const ha_memory_ops *m;
    const ha_queue_ops *q;
    if (!b) return "no backend";
    if (b->version != HA_BACKEND_VERSION || b->bytes < sizeof *b) return "unknown version or size";
    if (!b->kind || !ha_is_kind(b->kind) || !strcmp(b->kind, "best"))
        return "the kind must be 1 to 23 letters, digits or '_', and not 'best'";
    if (!b->count || !b->open) return "count or open is missing";
    if (!(m = b->memory) || m->version != HA_BACKEND_VERSION || m->bytes < sizeof *m)
        return "no memory table of a known version and size";
    if (!m->allocate || !m->release || !m->reaches)
        return "allocate, release or reaches is missing";
    if (!(q = b->queue) || q->version != HA_BACKEND_VERSION || q->bytes < sizeof *q)
        return "no queue table of a known version and size";
    if (!q->create || !q->destroy || !q->copy || !q->call || !q->record || !q->await ||
        !q->finish || !q->done || !q->drain)
        return "a required slot of the queue table is missing";
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
    int n = b ? b->count() : 0;
    pthread_mutex_unlock(&ha_registry.lock);
    return n;
}

/* ---- contexts ----------------------------------------------------------------------------- */

/* The text of a failure inside the lock, to be told outside. */
typedef struct ha_failure {
    ha_status status;
    const char *why;
} ha_failure;

/* Lock held. Adds a context with a queue of its own. */
static ha_context *ha_context_add(ha_context like, ha_failure *failure) {
    ha_context *c = (ha_context *)HARRAY_MALLOC(sizeof *c);
    if (!c) {
        *failure = (ha_failure){HA_ERR_MEMORY, "no memory for a context"};
        return NULL;
    }
    *c = like;
    ha_status s = c->ops->create(c->device, &c->queue);
    if (s) {
        *failure = (ha_failure){s, "cannot create a queue"};
        HARRAY_FREE(c);
        return NULL;
    }
    if (!c->primary) c->primary = c;
    c->issued = 1;
    pthread_mutex_init(&c->lock, NULL);
    c->next = ha_registry.contexts;
    __atomic_store_n(&ha_registry.contexts, c, __ATOMIC_RELEASE);
    return c;
}

/* Lock held. Opens a device: its memory and first queue. */
static ha_context *ha_device_open(const ha_backend *b, int number, ha_failure *failure) {
    ha_memory *m = (ha_memory *)HARRAY_MALLOC(sizeof *m);
    void *device = NULL, *handle = NULL;
    *failure = (ha_failure){HA_ERR_MEMORY, "no memory for a device"};
    if (!m) return NULL;
    ha_status s = b->open(number, &device, &handle);
    if (s) {
        *failure = (ha_failure){s, "cannot open the device"};
        HARRAY_FREE(m);
        return NULL;
    }
    *m = (ha_memory){.backend = b, .handle = handle};
    ha_context like = {
        .ops = b->queue, .device = device, .memory = m, .backend = b, .number = number};
    snprintf(like.name, sizeof like.name, "%.23s:%d", b->kind, number);
    ha_context *c = ha_context_add(like, failure);
    if (!c) {
        if (HA_HAS(b, ha_backend, close)) b->close(device);
        HARRAY_FREE(m);
        return NULL;
    }
    pthread_mutex_init(&m->lock, NULL);
    m->primary = c;
    m->next = ha_registry.memories;
    __atomic_store_n(&ha_registry.memories, m, __ATOMIC_RELEASE);
    return c;
}

/* from: where the name comes from, for messages. */
static ha_context *ha_context_open(const char *kind, int number, const char *operation,
                                   const char *from) {
    ha_failure failure = {HA_OK, NULL};
    int devices = 0;
    pthread_mutex_lock(&ha_registry.lock);
    const ha_backend *b = ha_backend_find(kind);
    ha_context *c = ha_registry.contexts;
    while (c && (c->backend != b || c->number != number || c->primary != c)) c = c->next;
    if (!c && b) {
        devices = b->count();
        if (number < devices) c = ha_device_open(b, number, &failure);
    }
    pthread_mutex_unlock(&ha_registry.lock);
    if (c) return c;
    if (failure.why)
        ha_fail(failure.status, operation, "%s'%s:%d': %s", from, kind, number, failure.why);
    else if (!b)
        ha_fail(HA_ERR_NOT_FOUND, operation, "%sno kind of context is called '%s'", from, kind);
    else
        ha_fail(HA_ERR_NOT_FOUND, operation,
                "%sno context '%s:%d': there are %d devices of that kind", from, kind, number,
                devices);
    return NULL;
}

static ha_context *ha_context_at(const char *kind, int number, const char *operation,
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

/* "kind" or "kind:number". Returns 0 when the text is neither. */
static int ha_parse_context(const char *text, char kind[24], int *number) {
    size_t n = 0;
    while (n < 23 && ha_is_kind_char(text[n])) n++;
    memcpy(kind, text, n);
    kind[n] = 0;
    *number = 0;
    if (!n) return 0;
    if (!text[n]) return 1;
    if (text[n++] != ':' || !text[n]) return 0;
    for (; text[n] >= '0' && text[n] <= '9'; n++) {
        if (*number > 99999) return 0;
        *number = *number * 10 + (text[n] - '0');
    }
    return !text[n];
}

static ha_context *ha_context_named(const char *text, const char *operation, const char *from) {
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

/* The first kind that has a device and may be taken unasked. */
static const char *ha_best_kind(void) {
    const char *kind = NULL;
    pthread_mutex_lock(&ha_registry.lock);
    for (int i = 0; i < HA_BUILT_IN && !kind; i++) {
        const ha_backend *b = ha_built_in[i];
        if (b->queue && !b->only_if_named && b->count() > 0) kind = b->kind;
    }
    for (ha_kind *k = ha_registry.kinds; k && !kind; k = k->next)
        if (!k->backend->only_if_named && k->backend->count() > 0) kind = k->backend->kind;
    pthread_mutex_unlock(&ha_registry.lock);
    return kind;
}

ha_context *ha_context_best(void) {
    const char *wanted = getenv("HARRAY_DEVICE");
    if (ha_enter("ha_context_best")) return NULL;
    if (wanted && *wanted && strcmp(wanted, "best") != 0)
        return ha_context_named(wanted, "ha_context_best", "HARRAY_DEVICE: ");
    const char *kind = ha_best_kind();
    return kind ? ha_context_at(kind, 0, "ha_context_best", "") : ha_host();
}

ha_context *ha_context_fork(ha_context *c) {
    ha_failure failure = {HA_OK, NULL};
    c = ha_resolve(c);
    if (ha_enter("ha_context_fork")) return NULL;
    if (ha_is_host(c)) return c;
    pthread_mutex_lock(&ha_registry.lock);
    ha_context *primary = c->primary, *fork = primary->unused;
    ha_context like = {.ops = c->ops,
                       .device = c->device,
                       .memory = c->memory,
                       .backend = c->backend,
                       .number = c->number,
                       .primary = primary};
    snprintf(like.name, sizeof like.name, "%.30s/%d", primary->name, primary->forks + 1);
    if (fork) {
        primary->unused = fork->unused;
        fork->given_back = 0;
    } else if ((fork = ha_context_add(like, &failure)))
        primary->forks++;
    pthread_mutex_unlock(&ha_registry.lock);
    if (!fork) ha_fail(failure.status, "ha_context_fork", "%s: %s", c->name, failure.why);
    return fork;
}

ha_status ha_context_unfork(ha_context *c) {
    ha_status s = ha_enter("ha_context_unfork");
    if (s) return s;
    if (!c || c->primary == c)
        return ha_fail(HA_ERR_ARGUMENT, "ha_context_unfork", "%s is no fork of a context",
                       c ? c->name : "NULL");
    pthread_mutex_lock(&ha_registry.lock);
    int again = c->given_back;
    if (!again) {
        c->given_back = 1;
        c->unused = c->primary->unused;
        c->primary->unused = c;
    }
    pthread_mutex_unlock(&ha_registry.lock);
    if (!again) return HA_OK;
    return ha_fail(HA_ERR_STATE, "ha_context_unfork", "%s was given back already", c->name);
}

/* ---- scopes and functions ------------------------------------------------------------------ */

ha_scope_ ha_on_begin_(ha_context *c) {
    ha_scope_ s = {ha_self.current, 1, c != NULL};
    if (c)
        ha_self.current = c;
    else if (ha_first_error.status == HA_OK)
        ha_fail(HA_ERR_ARGUMENT, "HA_ON", "no context");
    return s;
}

void ha_on_end_(ha_scope_ *s) { ha_self.current = s->outer; }

/* On the host: at once, with a copy of the argument as everywhere. */
static ha_status ha_call_here(ha_function f, const void *argument, size_t bytes) {
    static const ha_queue nowhere = {0, 0, 0};
    _Alignas(max_align_t) char small[256];
    void *copy = small;
    if (bytes > sizeof small && !(copy = HARRAY_MALLOC(bytes))) return HA_ERR_MEMORY;
    if (bytes) memcpy(copy, argument, bytes);
    ha_queue_run(f, &nowhere, bytes ? copy : NULL);
    if (copy != small) HARRAY_FREE(copy);
    return HA_OK;
}

/* Tells nothing: the caller knows more. */
static ha_status ha_enqueue_quietly(ha_context *c, ha_function f, const void *argument,
                                    size_t bytes) {
    if (ha_is_host(c)) return ha_call_here(f, argument, bytes);
    return c->ops->call(c->queue, f, argument, bytes);
}

ha_status ha_enqueue(ha_context *c, ha_function f, const void *argument, size_t bytes) {
    ha_status s = ha_enter("ha_enqueue");
    if (s) return s;
    c = ha_resolve(c);
    if (!f || (bytes && !argument))
        return ha_fail(HA_ERR_ARGUMENT, "ha_enqueue", "%s: no %s", c->name,
                       f ? "argument" : "function");
    if ((s = ha_enqueue_quietly(c, f, argument, bytes)))
        return ha_fail(s, "ha_enqueue", "%s did not take a function with %zu bytes of argument",
                       c->name, bytes);
    return HA_OK;
}

#endif
