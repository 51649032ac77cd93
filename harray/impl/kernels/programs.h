/* What has been compiled for a device: each kernel when it is first launched there, once. */
#ifndef HARRAY_IMPL_KERNELS_PROGRAMS_H
#define HARRAY_IMPL_KERNELS_PROGRAMS_H

#include "compiler.h"
#include "dump.h"

typedef struct ha_compiled {
    struct ha_compiled *next; /* in its bucket */
    const ha_kernel *kernel;
    int apart;
    char *layouts;         /* as those of a variant; to be freed */
    int cached;            /* it was in the cache */
    void *program, *entry; /* of the backend */
    ha_kernel_limits limits;
} ha_compiled;

/* A kernel that the compiler has refused, and what it said. It would say that again. */
typedef struct ha_refused {
    struct ha_refused *next;
    const ha_kernel *kernel;
    int apart;
    const char *layouts; /* as those of a variant; behind the log */
    char log[];
} ha_refused;

/* How kernels run for a context: place.h. */
typedef enum ha_kernel_way {
    HA_WAY_UNKNOWN = 0,
    HA_WAY_HOST,
    HA_WAY_FUNCTION,
    HA_WAY_COMPILED
} ha_kernel_way;

enum { HA_PROGRAM_BUCKETS = 64 };
typedef struct ha_programs {
    pthread_mutex_t lock;      /* guards the lists */
    pthread_mutex_t compiling; /* one thread at a time compiles for a device */
    ha_compiled *bucket[HA_PROGRAM_BUCKETS];
    ha_refused *refused;
    int way;            /* a ha_kernel_way; set once */
    int runs_functions; /* its queues run the host's: 0 is not known, -1 not */
    char why[240];      /* it does not compile */
} ha_programs;

/* ---- the list ---------------------------------------------------------------------------------- */

HA_IN_ void ha_programs_end(ha_context *primary) {
    ha_programs *all = primary->programs;
    for (int i = 0; i < HA_PROGRAM_BUCKETS; i++)
        while (all->bucket[i]) {
            ha_compiled *x = all->bucket[i];
            all->bucket[i] = x->next;
            primary->backend->discard(primary->device, x->program);
            HARRAY_FREE(x->layouts);
            HARRAY_FREE(x);
        }
    while (all->refused) {
        ha_refused *r = all->refused;
        all->refused = r->next;
        HARRAY_FREE(r);
    }
    pthread_mutex_destroy(&all->lock);
    pthread_mutex_destroy(&all->compiling);
    HARRAY_FREE(all);
    primary->programs = NULL;
}

/* NULL: there is no memory. */
HA_IN_ ha_programs *ha_programs_of(ha_context *primary) {
    ha_programs *all = __atomic_load_n(&primary->programs, __ATOMIC_ACQUIRE), *none = NULL;
    if (all) return all;
    all = (ha_programs *)HARRAY_MALLOC(sizeof *all);
    if (!all) return NULL;
    memset(all, 0, sizeof *all);
    pthread_mutex_init(&all->lock, NULL);
    pthread_mutex_init(&all->compiling, NULL);
    __atomic_store_n(&primary->programs_end, ha_programs_end,
                     __ATOMIC_RELAXED); /* others do, too */
    if (__atomic_compare_exchange_n(&primary->programs, &none, all, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return all;
    pthread_mutex_destroy(&all->lock);
    pthread_mutex_destroy(&all->compiling);
    HARRAY_FREE(all);
    return none; /* another thread's */
}

HA_IN_ ha_compiled **ha_program_bucket(ha_programs *all, const ha_kernel *k) {
    return &all->bucket[(HA_NUMBER_(k) >> 4) * 0x9e3779b97f4a7c15u >> 58];
}

HA_IN_ const ha_compiled *ha_program_find(ha_programs *all, const ha_kernel_variant *v) {
    pthread_mutex_lock(&all->lock);
    const ha_compiled *x = *ha_program_bucket(all, v->kernel);
    while (x && (x->kernel != v->kernel || x->apart != v->apart || !ha_is_laid_out(x->layouts, v)))
        x = x->next;
    pthread_mutex_unlock(&all->lock);
    return x;
}

HA_IN_ void ha_program_add(ha_programs *all, ha_compiled *x) {
    pthread_mutex_lock(&all->lock);
    ha_compiled **bucket = ha_program_bucket(all, x->kernel);
    x->next = *bucket;
    *bucket = x;
    pthread_mutex_unlock(&all->lock);
}

/* What the compiler said of it; it stays. NULL: it has not refused it. */
HA_IN_ const char *ha_refused_find(ha_programs *all, const ha_kernel_variant *v) {
    pthread_mutex_lock(&all->lock);
    const ha_refused *r = all->refused;
    while (r && (r->kernel != v->kernel || r->apart != v->apart || !ha_is_laid_out(r->layouts, v)))
        r = r->next;
    pthread_mutex_unlock(&all->lock);
    return r ? r->log : NULL;
}

/* The latest of what it said of any of the kernel's texts. */
HA_IN_ const char *ha_refused_any(ha_programs *all, const ha_kernel *k) {
    pthread_mutex_lock(&all->lock);
    const ha_refused *r = all->refused;
    while (r && r->kernel != k) r = r->next;
    pthread_mutex_unlock(&all->lock);
    return r ? r->log : NULL;
}

/* Without memory for it the next launch compiles again. */
HA_IN_ void ha_refused_add(ha_programs *all, const ha_kernel_variant *v, const char *log) {
    const size_t bytes = strlen(log) + 1, more = ha_layouts_bytes(v->layouts, v->records);
    ha_refused *r = (ha_refused *)HARRAY_MALLOC(sizeof *r + bytes + more);
    if (!r) return;
    *r = (ha_refused){.kernel = v->kernel, .apart = v->apart};
    r->layouts = r->log + bytes;
    memcpy(r->log, log, bytes);
    if (more) memcpy(r->log + bytes, v->layouts, more);
    pthread_mutex_lock(&all->lock);
    r->next = all->refused;
    all->refused = r;
    pthread_mutex_unlock(&all->lock);
}

size_t ha_kernel_log(const ha_kernel *k, ha_context *context, char *text, size_t bytes) {
    ha_text t = ha_text_into(text, bytes);
    if (ha_enter_briefly("ha_kernel_log")) return 0;
    const ha_context *c = ha_resolve(context)->primary;
    ha_programs *all = __atomic_load_n(&c->programs, __ATOMIC_ACQUIRE);
    const char *log = all && k ? ha_refused_any(all, k) : NULL;
    if (!k) ha_fail(HA_ERR_ARGUMENT, "ha_kernel_log", "no kernel");
    ha_print(&t, "%s", log ? log : "");
    return t.length;
}

/* ---- compiling --------------------------------------------------------------------------------- */

/* From the cache; where that has none that the device takes, from its text. */
HA_IN_ ha_status ha_program_make(const ha_compiler *x, const ha_program_source *source,
                                 ha_compiled *made) {
    const ha_digest key = ha_program_key(x, source);
    ha_binary binary = {NULL, 0};
    if (ha_cache_read(&key, &binary)) {
        ha_program_source again = {
            .binary = binary.data, .binary_bytes = binary.bytes, .options = source->options};
        const ha_status s = ha_compiler_build(x, &again, &made->program, NULL);
        HARRAY_FREE(binary.data);
        made->cached = s == HA_OK;
        if (!s) return s;
        ha_forget_note();
    }
    binary = (ha_binary){NULL, 0};
    const ha_status s = ha_compiler_build(x, source, &made->program, &binary);
    if (!s && binary.bytes) ha_cache_write(&key, &binary);
    HARRAY_FREE(binary.data);
    return s;
}

HA_IN_ ha_status ha_compile_with(const ha_kernel_variant *v, const ha_compiler *x, const char *text,
                                 ha_compiled *made, char *log) {
    const ha_kernel *k = v->kernel;
    const ha_program_source source = {.text = text,
                                      .options = ha_compiler_options(k, x->language),
                                      .log = log,
                                      .log_bytes = HA_LOG_BYTES};
    char entry[300];
    if (snprintf(entry, sizeof entry, "ha_entry_%s", k->name) >= (int)sizeof entry)
        return ha_fail(HA_ERR_ARGUMENT, "HA_KERNEL", "%s: the name is too long", k->site);
    ha_dump(k->name, text, x->language, NULL);
    ha_status s = ha_program_make(x, &source, made);
    if (s == HA_ERR_COMPILE) {
        ha_explain(v, x, log);
        ha_dump(k->name, text, x->language, log);
    }
    if (s) return ha_compile_fail(k, x->name, s, log);
    s = x->backend->kernel(made->program, entry, &made->limits, &made->entry);
    if (!s) s = ha_team_lanes_fit(k, x->name, &made->limits);
    if (!s) return s;
    x->backend->discard(x->device, made->program);
    if (s == HA_ERR_ARGUMENT) return s;
    return ha_fail(s, k->name, "%s: %s has compiled it, and does not find it", k->site, x->name);
}

HA_IN_ void ha_on_compile(const ha_kernel *k, const ha_context *c, uint64_t start, int cached,
                          ha_status s) {
    ha_event_record *r = ha_record_add(HA_EVENT_COMPILE, k->site, c->name);
    if (!r) return;
    ha_text_copy(r->name, sizeof r->name, k->name);
    r->info.start = start;
    r->info.cached = cached;
    r->info.status = s;
}

/* `layouts` is the program's from now on, or freed. */
HA_IN_ ha_status ha_compile(ha_programs *all, const ha_kernel_variant *v, const ha_context *c,
                            const char *text, char *layouts, const ha_compiled **compiled) {
    const ha_kernel *k = v->kernel;
    const ha_compiler x = ha_compiler_of(c);
    ha_compiled *made = (ha_compiled *)HARRAY_MALLOC(sizeof *made);
    char *log = (char *)HARRAY_MALLOC(HA_LOG_BYTES);
    ha_status s = HA_ERR_MEMORY;
    const uint64_t start = ha_now();
    if (made && log) {
        *made = (ha_compiled){.kernel = k, .apart = v->apart, .layouts = layouts};
        *log = 0;
        s = ha_compile_with(v, &x, text, made, log);
        ha_on_compile(k, c, start, made->cached, s);
        if (s == HA_ERR_COMPILE) ha_refused_add(all, v, log);
    } else
        ha_fail(s, k->name, "%s: no memory to compile it", k->site);
    HARRAY_FREE(log);
    if (s) {
        HARRAY_FREE(layouts);
        HARRAY_FREE(made);
        return s;
    }
    ha_program_add(all, made);
    *compiled = made;
    return s;
}

/* What was refused once is, again. */
HA_IN_ ha_status ha_compile_first(ha_programs *all, const ha_kernel_variant *v, const ha_context *c,
                                  const char *text, char *layouts, const ha_compiled **compiled) {
    const char *log = ha_refused_find(all, v);
    if (!log) return ha_compile(all, v, c, text, layouts, compiled);
    HARRAY_FREE(layouts);
    return ha_compile_fail(v->kernel, c->name, HA_ERR_COMPILE, log);
}

/* Compiles it, unless another thread has done so meanwhile. What goes wrong is told when others may compile again, for the
 * handler may launch kernels. */
HA_IN_ ha_status ha_compile_once(ha_programs *all, const ha_kernel_variant *v, const ha_context *c,
                                 const char *text, char *layouts, const ha_compiled **compiled) {
    HA_UNCANCELLED_;
    ha_status s = HA_OK;
    ha_tell_later();
    pthread_mutex_lock(&all->compiling);
    *compiled = ha_program_find(all, v);
    if (*compiled)
        HARRAY_FREE(layouts);
    else
        s = ha_compile_first(all, v, c, text, layouts, compiled);
    pthread_mutex_unlock(&all->compiling);
    ha_tell_now();
    return s;
}

#endif
