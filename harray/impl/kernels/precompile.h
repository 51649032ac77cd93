/* Compiling all kernels of a program into a cache, before they are launched: for devices that are here, and for
 * architectures of devices that are not.
 *
 * A module's kernels lie in one section of it; the linker says where that begins and ends. */
#ifndef HARRAY_IMPL_KERNELS_PRECOMPILE_H
#define HARRAY_IMPL_KERNELS_PRECOMPILE_H

#include "programs.h"

typedef struct ha_precompiling {
    const ha_kernel *first, *last;
    const char *directory; /* "": the cache */
    const char *site;
    ha_status status; /* the first failure */
} ha_precompiling;

HA_IN_ void ha_precompile_note(ha_precompiling *p, ha_status s) {
    if (!p->status) p->status = s;
}

/* ---- kernels ------------------------------------------------------------------------------------- */

HA_IN_ int ha_precompile_is_there(const ha_precompiling *p, const ha_digest *key) {
    char path[HA_CACHE_PATH];
    ha_binary binary = {NULL, 0};
    const int there = ha_cache_path(path, p->directory, strlen(p->directory), key) &&
                      ha_cache_read_file(path, key, &binary);
    HARRAY_FREE(binary.data);
    return there;
}

/* The compiler has made it, or has not. */
HA_IN_ ha_status ha_precompile_keep(const ha_precompiling *p, const ha_kernel *k,
                                    const ha_compiler *x, const ha_digest *key,
                                    const ha_binary *made) {
    if (!made->bytes)
        return ha_fail(HA_ERR_UNSUPPORTED, k->name, "%s: %s gives no binaries to keep", k->site,
                       x->name);
    if (ha_cache_write_to(p->directory, key, made)) return HA_OK;
    return ha_fail(HA_ERR_BACKEND, "ha_kernels_precompile", "%s: '%.200s' cannot be written to",
                   p->site, p->directory);
}

HA_IN_ ha_status ha_precompile_text(const ha_precompiling *p, const ha_kernel_variant *v,
                                    const ha_compiler *x, const char *text, char *log) {
    const ha_kernel *k = v->kernel;
    const ha_program_source source = {.text = text,
                                      .options = ha_compiler_options(k, x->language),
                                      .log = log,
                                      .log_bytes = HA_LOG_BYTES};
    const ha_digest key = ha_program_key(x, &source);
    void *program = NULL;
    ha_binary made = {NULL, 0};
    if (ha_precompile_is_there(p, &key)) return HA_OK;
    *log = 0;
    ha_dump(k->name, text, x->language, NULL);
    ha_status s = ha_compiler_build(x, &source, &program, &made);
    if (s == HA_ERR_COMPILE) ha_explain(v, x, log);
    s = s ? ha_compile_fail(k, x->name, s, log) : ha_precompile_keep(p, k, x, &key, &made);
    if (program) x->backend->discard(x->device, program);
    HARRAY_FREE(made.data);
    return s;
}

HA_IN_ ha_status ha_precompile_variant(const ha_precompiling *p, const ha_kernel_variant *v,
                                       const ha_compiler *x) {
    int unfit = 0;
    ha_status s = x->is_device ? ha_device_serves(x->backend, x->device, x->name, v) : HA_OK;
    if (s) return s;
    char *text = ha_kernel_text(v, x->language, 0, &unfit);
    char *log = (char *)HARRAY_MALLOC(HA_LOG_BYTES);
    s = text && log ? ha_precompile_text(p, v, x, text, log) : ha_text_fail(v, unfit, x->name);
    HARRAY_FREE(log);
    HARRAY_FREE(text);
    return s;
}

/* Both texts of a kernel: for arguments that are apart, and for others. */
HA_IN_ ha_status ha_precompile_kernel(const ha_precompiling *p, const ha_kernel *k,
                                      const ha_compiler *x) {
    ha_status s = k->team ? ha_team_check(k) : HA_OK;
    if (s) return s;
    char *layouts = ha_layouts_usual(k);
    ha_kernel_variant v = {.kernel = k, .layouts = layouts};
    if (!layouts || !ha_layouts_parse(&v))
        s = ha_fail(HA_ERR_MEMORY, k->name, "%s: no memory to compile it", k->site);
    for (v.apart = 1; v.apart >= 0 && !s; v.apart--) s = ha_precompile_variant(p, &v, x);
    ha_layouts_forget(&v);
    HARRAY_FREE(layouts);
    return s;
}

/* The first kernel from `at` on, NULL: there is none. What a linker puts between two is 0. */
HA_IN_ const ha_kernel *ha_kernel_listed(const ha_kernel *at, const ha_kernel *end) {
    for (const char *word = (const char *)at; word < (const char *)end; word += sizeof at->name) {
        const ha_kernel *k = (const ha_kernel *)(const void *)word;
        if (k->name) return k;
    }
    return NULL;
}

HA_IN_ void ha_precompile_all(ha_precompiling *p, const ha_compiler *x) {
    const ha_kernel *k = p->first;
    while ((k = ha_kernel_listed(k, p->last)))
        ha_precompile_note(p, ha_precompile_kernel(p, k++, x));
}

/* ---- targets ------------------------------------------------------------------------------------- */

typedef struct ha_target_name {
    char text[64];
} ha_target_name;

/* The next one of a list "sm_80,opencl"; "": there is none. */
HA_IN_ ha_target_name ha_target_next(const char **list) {
    ha_target_name name = {""};
    const size_t length = strcspn(*list, ",");
    snprintf(name.text, sizeof name.text, "%.*s", (int)(length < 64 ? length : 63), *list);
    *list += length + ((*list)[length] == ',');
    return name;
}

/* Nonzero: the backend has a compiler for the architecture. */
HA_IN_ int ha_compiler_try(ha_compiler *x, const ha_backend *b) {
    if (!HA_HAS_(b, ha_backend, compile)) return 0;
    x->backend = b;
    x->language = b->compiles_for(x->name, x->target, sizeof x->target);
    return x->language != HA_LANGUAGE_NONE;
}

/* The compiler for an architecture; without a language there is none. */
HA_IN_ ha_compiler ha_compiler_for(const char *name) {
    ha_compiler x = {.name = name};
    pthread_mutex_lock(&ha_registry.lock);
    const ha_kind *kind = ha_registry.kinds; /* the list only grows */
    pthread_mutex_unlock(&ha_registry.lock);
    for (size_t i = 0; i < sizeof ha_built_in / sizeof *ha_built_in; i++)
        if (ha_compiler_try(&x, ha_built_in[i])) return x;
    while (kind && !ha_compiler_try(&x, kind->backend)) kind = kind->next;
    return x;
}

/* Is it the name of a context, "opencl" for all of a kind or "opencl:1"? */
HA_IN_ int ha_is_context(const char *name) {
    char kind[24];
    int number;
    if (!ha_parse_context(name, kind, &number)) return 0;
    pthread_mutex_lock(&ha_registry.lock);
    const ha_backend *b = ha_backend_find(kind);
    pthread_mutex_unlock(&ha_registry.lock);
    return b != NULL;
}

HA_IN_ ha_status ha_target_unknown(const ha_precompiling *p, const char *name) {
    return ha_fail(HA_ERR_ARGUMENT, "ha_kernels_precompile",
                   "%s: '%s' is neither a context nor an architecture that is compiled for",
                   p->site, name);
}

/* The status of a look-up that has told why it failed. */
HA_IN_ ha_status ha_context_look_up(const char *kind, int number, ha_context **c) {
    const ha_error before = ha_take_error();
    *c = number < 0 ? ha_context_find(kind) : ha_context_get(kind, number);
    const ha_status s = *c ? HA_OK : ha_first_error.status;
    if (before.status) ha_first_error = before;
    return s;
}

/* number: negative where the name has one itself. */
HA_IN_ ha_status ha_precompile_context(ha_precompiling *p, const char *name, int number) {
    ha_context *c;
    const ha_status s = ha_context_look_up(name, number, &c);
    if (s) return s;
    const ha_compiler x = ha_compiler_of(c);
    if (!x.language)
        return ha_fail(HA_ERR_UNSUPPORTED, "ha_kernels_precompile",
                       "%s: %s does not compile kernels", p->site, c->name);
    ha_precompile_all(p, &x);
    return HA_OK;
}

HA_IN_ void ha_precompile_for(ha_precompiling *p, const char *name) {
    const ha_compiler x = ha_compiler_for(name);
    if (x.language) {
        ha_precompile_all(p, &x);
        return;
    }
    const int count = strchr(name, ':') ? 1 : ha_context_count(name);
    ha_precompile_note(p, ha_precompile_context(p, name, -1));
    for (int i = 1; i < count; i++) ha_precompile_note(p, ha_precompile_context(p, name, i));
}

/* All targets are known before anything is compiled. */
HA_IN_ ha_status ha_targets_check(const ha_precompiling *p, const char *targets) {
    if (!*targets) return ha_target_unknown(p, "");
    while (*targets) {
        const ha_target_name name = ha_target_next(&targets);
        if (!ha_is_context(name.text) && !ha_compiler_for(name.text).language)
            return ha_target_unknown(p, name.text);
    }
    return HA_OK;
}

ha_status ha_kernels_precompile_(const char *targets, const char *directory, const ha_kernel *first,
                                 const ha_kernel *last, const char *site) {
    ha_precompiling p = {first, last, directory ? directory : "", site, HA_OK};
    ha_status s = ha_enter("ha_kernels_precompile");
    if (!s) s = ha_kernel_settings_check("ha_kernels_precompile", site);
    if (s) return s;
    if (!directory) p.directory = ha_kernel_settings_get()->cache;
    if (!targets || !*p.directory)
        return ha_fail(HA_ERR_ARGUMENT, "ha_kernels_precompile", "%s: no %s", site,
                       targets ? "directory, and HARRAY_CACHE=off" : "targets");
    s = ha_targets_check(&p, targets);
    while (!s && *targets) {
        const ha_target_name name = ha_target_next(&targets);
        ha_precompile_for(&p, name.text);
    }
    return s ? s : p.status;
}

#endif
