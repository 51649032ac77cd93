/* What has been compiled for a device: each kernel when it is first launched there, once. */
#ifndef HARRAY_IMPL_KERNELS_PROGRAMS_H
#define HARRAY_IMPL_KERNELS_PROGRAMS_H

#include "cache.h"
#include "device_text.h"
#include "dump.h"

typedef struct ha_compiled {
    struct ha_compiled *next; /* in its bucket */
    const ha_kernel *kernel;
    int apart;
    void *program, *entry; /* of the backend */
    ha_kernel_limits limits;
} ha_compiled;

/* How kernels run for a context: place.h. */
typedef enum ha_kernel_way {
    HA_WAY_UNKNOWN = 0,
    HA_WAY_HOST,
    HA_WAY_FUNCTION,
    HA_WAY_COMPILED
} ha_kernel_way;

enum { HA_PROGRAM_BUCKETS = 64, HA_LOG_BYTES = 1 << 16 };
typedef struct ha_programs {
    pthread_mutex_t lock;      /* guards the lists */
    pthread_mutex_t compiling; /* one thread at a time compiles for a device */
    ha_compiled *bucket[HA_PROGRAM_BUCKETS];
    int way;            /* a ha_kernel_way; set once */
    int runs_functions; /* its queues run the host's: 0 is not known, -1 not */
    char why[240];      /* it does not compile */
} ha_programs;

/* Does the device of a context compile kernels? */
HA_IN_ ha_language ha_language_of(const ha_context *c) {
    const ha_backend *b = c->backend;
    if (ha_is_host(c) || !HA_HAS_(b, ha_backend, kernel) || !HA_HAS_(c->ops, ha_queue_ops, launch))
        return HA_LANGUAGE_NONE;
    return b->language(c->device);
}

/* ---- the list ---------------------------------------------------------------------------------- */

HA_IN_ void ha_programs_end(ha_context *primary) {
    ha_programs *all = primary->programs;
    for (int i = 0; i < HA_PROGRAM_BUCKETS; i++)
        while (all->bucket[i]) {
            ha_compiled *x = all->bucket[i];
            all->bucket[i] = x->next;
            primary->backend->discard(primary->device, x->program);
            HARRAY_FREE(x);
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
    primary->programs_end = ha_programs_end;
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

HA_IN_ const ha_compiled *ha_program_find(ha_programs *all, const ha_kernel *k, int apart) {
    pthread_mutex_lock(&all->lock);
    const ha_compiled *x = *ha_program_bucket(all, k);
    while (x && (x->kernel != k || x->apart != apart)) x = x->next;
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

/* ---- compiling --------------------------------------------------------------------------------- */

#define HA_OPENCL_OPTIONS_ "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"

HA_IN_ const char *ha_compiler_options(ha_language language) {
    const int contract = ha_kernel_settings_get()->contract;
    if (language == HA_LANGUAGE_CUDA) return contract ? "--fmad=true" : "--fmad=false";
    return contract ? HA_OPENCL_OPTIONS_ " -DHA_CONTRACT_" : HA_OPENCL_OPTIONS_;
}

/* The first line that says "error", else the first one. */
HA_IN_ const char *ha_log_error(const char *log, int *length) {
    const char *line = strstr(log, "error");
    if (!line) line = log;
    while (line > log && line[-1] != '\n') line--;
    *length = (int)strcspn(line, "\n");
    return line;
}

HA_IN_ ha_status ha_compile_fail(const ha_kernel *k, const ha_context *c, ha_status s,
                                 const char *log) {
    int length;
    const char *line = ha_log_error(log, &length);
    if (s != HA_ERR_COMPILE)
        return ha_fail(s, k->name, "%s: it cannot be compiled for %s", k->site, c->name);
    ha_forget_note(); /* the log says more */
    return ha_fail(s, k->name, "%s: the compiler of %s refuses the kernel: %.*s", k->site, c->name,
                   length < 250 ? length : 250, line);
}

/* Of all that a binary is made from. */
HA_IN_ ha_digest ha_program_key(const ha_context *c, const ha_program_source *source) {
    ha_sha256 h = ha_sha256_begin();
    char target[1024];
    c->backend->target(c->device, target, sizeof target);
    ha_sha256_field(&h, HARRAY_VERSION, strlen(HARRAY_VERSION));
    ha_sha256_field(&h, source->text, strlen(source->text));
    ha_sha256_field(&h, source->options, strlen(source->options));
    ha_sha256_field(&h, target, strlen(target));
    return ha_sha256_end(&h);
}

/* From the cache; where that has none that the device takes, from its text. */
HA_IN_ ha_status ha_program_make(const ha_context *c, const ha_program_source *source,
                                 void **program) {
    const ha_backend *b = c->backend;
    const ha_digest key = ha_program_key(c, source);
    ha_binary binary = {NULL, 0};
    if (ha_cache_read(&key, &binary)) {
        ha_program_source again = {
            .binary = binary.data, .binary_bytes = binary.bytes, .options = source->options};
        const ha_status s = b->build(c->device, &again, program, NULL);
        HARRAY_FREE(binary.data);
        if (!s) return s;
        ha_forget_note();
    }
    binary = (ha_binary){NULL, 0};
    const ha_status s = b->build(c->device, source, program, &binary);
    if (!s && binary.bytes) ha_cache_write(&key, &binary);
    HARRAY_FREE(binary.data);
    return s;
}

HA_IN_ ha_status ha_compile_with(const ha_kernel *k, const ha_context *c, const char *text,
                                 ha_compiled *made, char *log) {
    const ha_backend *b = c->backend;
    const ha_program_source source = {.text = text,
                                      .options = ha_compiler_options(ha_language_of(c)),
                                      .log = log,
                                      .log_bytes = HA_LOG_BYTES};
    char entry[300];
    if (snprintf(entry, sizeof entry, "ha_entry_%s", k->name) >= (int)sizeof entry)
        return ha_fail(HA_ERR_ARGUMENT, "HA_KERNEL", "%s: the name is too long", k->site);
    ha_dump(k->name, text, ha_language_of(c), NULL);
    ha_status s = ha_program_make(c, &source, &made->program);
    if (s == HA_ERR_COMPILE) ha_dump(k->name, text, ha_language_of(c), log);
    if (s) return ha_compile_fail(k, c, s, log);
    s = b->kernel(made->program, entry, &made->limits, &made->entry);
    if (!s) return s;
    b->discard(c->device, made->program);
    return ha_fail(s, k->name, "%s: %s has compiled it, and does not find it", k->site, c->name);
}

HA_IN_ ha_status ha_compile(ha_programs *all, const ha_kernel *k, int apart, const ha_context *c,
                            const ha_compiled **compiled) {
    ha_compiled *made = (ha_compiled *)HARRAY_MALLOC(sizeof *made);
    char *text = ha_kernel_text(k, ha_language_of(c), apart);
    char *log = (char *)HARRAY_MALLOC(HA_LOG_BYTES);
    ha_status s = HA_ERR_MEMORY;
    if (made && text && log) {
        *made = (ha_compiled){.kernel = k, .apart = apart};
        *log = 0;
        s = ha_compile_with(k, c, text, made, log);
    } else
        ha_fail(s, k->name, "%s: no memory to compile it", k->site);
    HARRAY_FREE(log);
    HARRAY_FREE(text);
    if (s) {
        HARRAY_FREE(made);
        return s;
    }
    ha_program_add(all, made);
    *compiled = made;
    return s;
}

/* Looks it up, or compiles it. */
HA_IN_ ha_status ha_compiled_of(const ha_kernel *k, int apart, const ha_context *c,
                                const ha_compiled **compiled) {
    ha_programs *all = ha_programs_of(c->primary);
    ha_status s = HA_OK;
    if (!all) return ha_fail(HA_ERR_MEMORY, k->name, "%s: no memory to compile it", k->site);
    if ((*compiled = ha_program_find(all, k, apart))) return HA_OK;
    pthread_mutex_lock(&all->compiling);
    *compiled = ha_program_find(all, k, apart); /* by another thread, meanwhile */
    if (!*compiled) s = ha_compile(all, k, apart, c, compiled);
    pthread_mutex_unlock(&all->compiling);
    return s;
}

#endif
